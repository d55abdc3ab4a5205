"""Work on the cabinet file of a simulated machine that is off: updates of its games, a signature, its loss.

The file is edited as text, so that one written by a first start and one that a house wrote are treated alike.
"""

import re
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Final

from egm.integrity.keys import IntegrityKey
from egm.integrity.signed_file import FILE_NAME, KIND, Signature, digest_of
from meters import open_view
from paytables.definition import LIBRARY
from tools.dev.simulation.house import REELS

_GAME: Final = re.compile(r'\[\[games\]\]\ngame = "([^"]+)"\n+')
_VERSION: Final = re.compile(r'^version = "(\d+)\.(\d+)\.(\d+)"$', re.MULTILINE)
_DENOMINATIONS: Final = re.compile(r"^denominations_cents = \[([^\]]+)\]$", re.MULTILINE)
_SIGNERS: Final = ("1001", "1002")


def sign(state: Path, text: str, at: datetime) -> None:
    """Leave the signature of two persons under a cabinet file for the machine."""
    signature = Signature(digest_of(text), _SIGNERS, "it is installed", at.isoformat(timespec="seconds"))
    signature.write(state / FILE_NAME)


def is_signed(state: Path) -> bool:
    """Whether a cabinet file of this machine was signed, so that no other is played under."""
    with open_view(state) as view:
        return view.state(IntegrityKey.CABINET) is not None


def can_be_put_back(state: Path) -> bool:
    """Whether the journal has the text of the cabinet file that was signed last."""
    with open_view(state) as view:
        return any(True for _ in view.entries(KIND, limit=1))


def update(cabinet: Path, dice: Random) -> None:
    """Install another version of a game, take a game out of the cabinet file or put one in."""
    text = cabinet.read_text(encoding="utf-8")
    games = _GAME.findall(text)
    levels = set(re.findall(r'\[\[progressives\]\]\ngame = "([^"]+)"', text))
    free = [game for game in games if game not in levels and not game.startswith("./")]
    new = [game for game in REELS if not any(game in each for each in games)]
    way = dice.choice(("version", "version", "version", "remove", "add"))
    if way == "remove" and len(games) > 1 and free:
        text = _replaced(text, dice.choice(free), "")
    elif way == "add" and new:
        text = text.replace("[[games]]", f'[[games]]\ngame = "{dice.choice(new)}"\n\n[[games]]', 1)
    else:
        game = dice.choice(games)
        path = _next_version(cabinet.parent, game, dice)
        text = _replaced(text, game, f'[[games]]\ngame = "./{path.name}"\n\n')
    cabinet.write_text(text, encoding="utf-8")


def _replaced(text: str, game: str, table: str) -> str:
    return _GAME.sub(lambda found: table if found[1] == game else found[0], text)


def _next_version(folder: Path, game: str, dice: Random) -> Path:
    """Write the next version of a definition beside the cabinet file; it may offer fewer denominations."""
    path = Path(game) if game.startswith("/") else folder / game
    source = path if path.suffix else next(LIBRARY.rglob(f"{game}.toml"))
    text = source.read_text(encoding="utf-8")
    version = [int(part) for part in _VERSION.findall(text)[0]]
    version[2] += 1
    text = _VERSION.sub(f'version = "{".".join(map(str, version))}"', text, count=1)
    if offered := _DENOMINATIONS.search(text):
        cents = offered[1].split(",")
        kept = cents[: dice.randint(1, len(cents))]
        text = text.replace(offered[0], f"denominations_cents = [{','.join(kept)}]", 1)
    target = folder / f"{source.stem.partition('@')[0]}@{version[2]}.toml"
    target.write_text(text, encoding="utf-8")
    return target
