"""The scenes: each draws one part of the picture from the view, and changes nothing."""
