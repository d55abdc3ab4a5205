"""Records that several features read: games as stored in the journal, and facts from an earlier journal."""
