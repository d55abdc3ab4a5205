"""Art of the screen: a vector canvas with paths and paints, picture files, and the symbols of the games."""
