"""Commands for developers, in the shape of those of ``egm``."""
