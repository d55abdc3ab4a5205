"""A demonstration cabinet with a single game, for game developers."""

import json
import re
from pathlib import Path
from typing import Final

from egm.config.cabinet_file import DEFAULT_CABINET, StateFolder, load_cabinet
from egm.errors import OperatorError
from egm.play.installed_games import admit_games
from egm.profiles import load_profile
from paytables import DefinitionError, Game, load_game
from tools.lab.argument_names import format_definition_error, parse_path_or_id

#: Matches the tables of games and progressive levels in the demonstration's cabinet file.
_GAME_TABLES_PATTERN: Final = re.compile(r"^\[\[(?:games|progressives)\]\]\n(?:(?!\[).*\n)*", re.MULTILINE)
#: Name of the written cabinet file.
_CABINET_FILE_NAME: Final = "cabinet.toml"


def write_one_game_cabinet(name: str, folder: StateFolder) -> Path:
    """Write a cabinet file with only this game into a state folder, and return the file's path.

    Raises OperatorError if the game is not valid (file, line, key and reason) or would not be offered.
    """
    try:
        game = load_game(parse_path_or_id(name))
    except DefinitionError as error:
        raise OperatorError(format_definition_error(error)) from None
    game_reference = game.id if game.source is None or not name.endswith(".toml") else str(game.source.path)
    cabinet_path = folder.root / _CABINET_FILE_NAME
    cabinet_path.write_text(_format_cabinet_file(game, game_reference), encoding="utf-8")
    cabinet = load_cabinet(cabinet_path)
    _, refused_games = admit_games(cabinet.games, load_profile(cabinet.machine.profile), cabinet.progressives)
    if refused_games:
        raise OperatorError(f"the machine would not offer {name}: {refused_games[0].reason}")
    return cabinet_path


def _format_cabinet_file(game: Game, game_name: str) -> str:
    """Return the text of the demonstration's cabinet file with only this game, and stand-alone levels.

    Its metrics use any free port, so that it can run at the same time as the demonstration cabinet.
    """
    levels = dict.fromkeys(play.level for play in game.list_every_level())
    tables = [f"[[games]]\ngame = {json.dumps(game_name)}\n"]
    tables += [
        f"[[progressives]]\ngame = {json.dumps(game.id)}\nlevel = {json.dumps(level)}\n" for level in levels
    ]
    return (
        _GAME_TABLES_PATTERN.sub("", DEFAULT_CABINET.read_text(encoding="utf-8"))
        + "\n[metrics]\nport = 0\n\n"
        + "\n".join(tables)
    )
