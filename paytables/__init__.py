"""Games: declarative definitions, play, evaluation and exact analysis.

Everything here counts in credits (int) and exact fractions. It knows nothing of cents, meters or cabinets,
and takes its chance from whoever plays it: any object with ``below(bound, purpose)``.
"""

from paytables.analysis import Analysis, BetAnalysis, Depth, Law, MerchandiseShare, mystery_rate
from paytables.contract import (
    Choice,
    Decision,
    Draw,
    LevelPlay,
    Outcome,
    Play,
    RecordingDraw,
    ReplayDraw,
    Wager,
    Win,
    drive,
)
from paytables.definition import Definition, library
from paytables.errors import (
    AnalysisError,
    BeyondReach,
    ChoiceError,
    DefinitionError,
    PaytableError,
    ReplayError,
    WagerError,
)
from paytables.game import FAMILIES, Family, Game, Rules, analyse, family, game_from, load_game, play_through

__all__ = [
    "FAMILIES",
    "Analysis",
    "AnalysisError",
    "BetAnalysis",
    "BeyondReach",
    "Choice",
    "ChoiceError",
    "Decision",
    "Definition",
    "DefinitionError",
    "Depth",
    "Draw",
    "Family",
    "Game",
    "Law",
    "LevelPlay",
    "MerchandiseShare",
    "Outcome",
    "PaytableError",
    "Play",
    "RecordingDraw",
    "ReplayDraw",
    "ReplayError",
    "Rules",
    "Wager",
    "WagerError",
    "Win",
    "analyse",
    "drive",
    "family",
    "game_from",
    "library",
    "load_game",
    "mystery_rate",
    "play_through",
]
