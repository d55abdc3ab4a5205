"""Edit, sign and check the cabinet file of a simulated machine that is off.

The file is edited as text, so that it does not matter whether a first start or the simulation wrote it.
"""

import re
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Final

from egm.integrity.entries import CABINET_FILE_SIGNED
from egm.integrity.keys import IntegrityKey
from egm.integrity.signed_file import (
    SIGNATURE_FILE_NAME,
    CabinetFileSignature,
    compute_cabinet_file_digest,
)
from meters import open_view
from paytables.definition import LIBRARY_FOLDER
from tools.dev.simulation.cabinet_setup import REEL_GAMES

_GAME_TABLE_PATTERN: Final = re.compile(r'\[\[games\]\]\ngame = "([^"]+)"\n+')
_VERSION_PATTERN: Final = re.compile(r'^version = "(\d+)\.(\d+)\.(\d+)"$', re.MULTILINE)
_DENOMINATIONS_PATTERN: Final = re.compile(r"^denominations_cents = \[([^\]]+)\]$", re.MULTILINE)
_SIGNER_STAFF_NUMBERS: Final = ("1001", "1002")


def sign_cabinet_file(state: Path, text: str, signed_at: datetime) -> None:
    """Store the signature of two people for the cabinet file with this text."""
    signature = CabinetFileSignature(
        compute_cabinet_file_digest(text),
        _SIGNER_STAFF_NUMBERS,
        "it is installed",
        signed_at.isoformat(timespec="seconds"),
    )
    signature.write(state / SIGNATURE_FILE_NAME)


def is_signed(state: Path) -> bool:
    """Return whether the machine has a signed cabinet file, so that it accepts no other file."""
    with open_view(state) as view:
        return view.state(IntegrityKey.SIGNED_CABINET_FILE) is not None


def can_restore_file(state: Path) -> bool:
    """Return whether the journal contains the text of the cabinet file that was signed last."""
    with open_view(state) as view:
        return any(True for _ in view.entries(CABINET_FILE_SIGNED.kind, limit=1))


def update_games(cabinet_path: Path, random_source: Random) -> None:
    """Install another version of a game, remove a game from the cabinet file, or add one to it."""
    text = cabinet_path.read_text(encoding="utf-8")
    games = _GAME_TABLE_PATTERN.findall(text)
    games_with_levels = set(re.findall(r'\[\[progressives\]\]\ngame = "([^"]+)"', text))
    removable_games = [game for game in games if game not in games_with_levels and not game.startswith("./")]
    addable_games = [
        game for game in REEL_GAMES if not any(game in installed_game for installed_game in games)
    ]
    change = random_source.choice(("version", "version", "version", "remove", "add"))
    if change == "remove" and len(games) > 1 and removable_games:
        text = _replace_game_table(text, random_source.choice(removable_games), "")
    elif change == "add" and addable_games:
        text = text.replace(
            "[[games]]", f'[[games]]\ngame = "{random_source.choice(addable_games)}"\n\n[[games]]', 1
        )
    else:
        game = random_source.choice(games)
        path = _write_next_version(cabinet_path.parent, game, random_source)
        text = _replace_game_table(text, game, f'[[games]]\ngame = "./{path.name}"\n\n')
    cabinet_path.write_text(text, encoding="utf-8")


def _replace_game_table(text: str, game: str, new_table: str) -> str:
    return _GAME_TABLE_PATTERN.sub(lambda match: new_table if match[1] == game else match[0], text)


def _write_next_version(folder: Path, game: str, random_source: Random) -> Path:
    """Write the next version of a definition into the cabinet's folder; it may offer fewer denominations."""
    path = Path(game) if game.startswith("/") else folder / game
    source_path = path if path.suffix else next(LIBRARY_FOLDER.rglob(f"{game}.toml"))
    text = source_path.read_text(encoding="utf-8")
    version = [int(part) for part in _VERSION_PATTERN.findall(text)[0]]
    version[2] += 1
    text = _VERSION_PATTERN.sub(f'version = "{".".join(map(str, version))}"', text, count=1)
    if offered_match := _DENOMINATIONS_PATTERN.search(text):
        all_cents = offered_match[1].split(",")
        offered_cents = all_cents[: random_source.randint(1, len(all_cents))]
        text = text.replace(offered_match[0], f"denominations_cents = [{','.join(offered_cents)}]", 1)
    target_path = folder / f"{source_path.stem.partition('@')[0]}@{version[2]}.toml"
    target_path.write_text(text, encoding="utf-8")
    return target_path
