"""The feature sheets of a game, by the family of its rules."""

from importlib import import_module
from typing import Final

from paytables import Analysis, Game
from tools.lab.parsheet.sheet_data import SheetData

#: The families with feature sheets. Each has a module of its name here, imported only for its games.
_GAME_FAMILIES_WITH_FEATURE_SHEETS: Final = frozenset({"blackjack", "keno", "reels", "wheel"})


def build_feature_sheets(game: Game, analysis: Analysis) -> list[SheetData]:
    """Return one sheet per feature of the game, in the PAR sheet's order; empty for a family without such sheets."""
    if game.family not in _GAME_FAMILIES_WITH_FEATURE_SHEETS:
        return []
    module = import_module(f"{__package__}.{game.family}")
    sheets: list[SheetData] = module.build_sheets(game.rules, analysis)
    return sheets
