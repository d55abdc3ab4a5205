"""The games of the library by what their files say: tests name their cases without building every game."""

from paytables import library
from paytables.definition import parse, source_of

#: What each game's file says, by its id.
FILES = {name: parse(source_of(name)) for name in library()}
REELS = tuple(name for name, file in FILES.items() if file["game"]["family"] == "reels")
#: The games without progressive levels.
LEVELLESS = tuple(name for name, file in FILES.items() if "progressive" not in file)
