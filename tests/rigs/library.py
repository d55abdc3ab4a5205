"""The definition files of the library's games, so that tests can list their cases without building every game."""

from paytables import list_non_table_games
from paytables.definition import parse, read_source

#: Content of each game's file, by game id.
FILES = {name: parse(read_source(name)) for name in list_non_table_games()}
REELS = tuple(name for name, file in FILES.items() if file["game"]["family"] == "reels")
#: The games without progressive levels.
LEVELLESS = tuple(name for name, file in FILES.items() if "progressive" not in file)
