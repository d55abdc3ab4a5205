"""The feature sheets of a game, by the family of its rules."""

from collections.abc import Mapping
from importlib import import_module
from typing import Final

from paytables import Analysis, Game
from tools.lab.parsheet.sheet_data import Sheet

#: The module of a family's feature sheets; each is imported only for a game of its family.
_MODULES: Final[Mapping[str, str]] = {
    family: f"tools.lab.parsheet.{family}" for family in ("blackjack", "keno", "reels", "wheel")
}


def build_feature_sheets(game: Game, analysis: Analysis) -> list[Sheet]:
    """Return one sheet per feature of the game, in the usual reading order."""
    if game.family not in _MODULES:
        return []
    sheets: list[Sheet] = import_module(_MODULES[game.family]).build_sheets(game.rules, analysis)
    return sheets
