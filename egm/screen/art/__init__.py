"""Art drawn by code: paths, paints, ornaments and the symbols of the games. No picture files."""
