"""Records that several features read: games as the journal tells them, and what an earlier journal knew."""
