"""The games of the library by what their files say: tests name their cases without building every game."""

from paytables import list_library_games
from paytables.definition import parse, read_source

#: What each game's file says, by its id.
FILES = {name: parse(read_source(name)) for name in list_library_games()}
REELS = tuple(name for name, file in FILES.items() if file["game"]["family"] == "reels")
#: The games without progressive levels.
LEVELLESS = tuple(name for name, file in FILES.items() if "progressive" not in file)
