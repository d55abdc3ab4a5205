"""Art of the screen: a vector canvas with paths and paints, ornaments, and the symbols of the games."""
