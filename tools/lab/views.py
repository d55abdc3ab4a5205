"""Screen messages for a game without a running machine, for previews and design sheets.

They equal the messages of a machine that offers the game.
"""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from egm.app import view as machine_view
from egm.kernel.messages import (
    GameView,
    Hello,
    ProgressiveView,
    Snapshot,
)
from egm.play.award_chances import list_bet_chances, list_long_odds
from egm.play.installed_games import InstalledGame, list_return_percents
from egm.progressive.pools import ProgressivePools
from egm.screen.message_reducer import apply_message
from egm.screen.view import View
from paytables import Analysis, AnalysisDepth, Game, analyse
from paytables.odds import DEFAULT_ODDS_LIMITS

#: The value of a credit in every picture.
UNIT_CENTS: Final = 25
#: The time of day in every picture.
PICTURE_TIME_UTC: Final = "2026-11-21T17:05:00+00:00"
#: The inputs that the shown machine accepts.
_ALL_INPUTS: Final = ("play", "bet", "game", "denomination", "cash_out", "language", "service")


def build_game_view(game: Game, analysis: Analysis | None = None) -> GameView:
    """Return the message with which a machine describes a game to its screen.

    ``analysis`` must be at least :attr:`AnalysisDepth.PRIZES` deep.
    """
    bets = (analysis or analyse(game, AnalysisDepth.PRIZES)).bets
    lowest_return = min(bet.rtp for bet in bets)
    installed_game = InstalledGame(
        game,
        tuple(game.denominations_cents),
        lowest_return,
        ProgressivePools(),
        long_odds=list_long_odds(bets, DEFAULT_ODDS_LIMITS),
        bet_chances=list_bet_chances(bets),
        return_percent_by_spot_group=list_return_percents(game, bets),
    )
    return machine_view.build_game_view(installed_game)


def build_level_views(game_view: GameView, status: str = "up") -> tuple[ProgressiveView, ...]:
    """Return a game's progressive levels as the screen shows them, with amounts somewhat above the reset values."""
    return tuple(
        ProgressiveView.model_validate(
            {
                "id": f"{game_view.id}.{level['id']}",
                "level": str(level["id"]),
                "names": level["name"],
                "amount_cents": int(level["reset_credits"]) * UNIT_CENTS * 13 // 11 + 4711,
                "status": status,
            }
        )
        for level in game_view.presentation.get("progressives", ())
    )


def build_snapshot(game_view: GameView, language: str, **changes: Any) -> Snapshot:
    """Return the machine state message of an idle machine with this game and some credit.

    ``changes`` overrides fields of the message.
    """
    fields: dict[str, Any] = {
        "journal_sequence": 1,
        "state": "idle",
        "time_utc": PICTURE_TIME_UTC,
        "site": "Demonstration",
        "serial": "EGM-0000001",
        "operator_number": "1",
        "currency": "CAD",
        "language": language,
        "languages": ("en", "fr"),
        "game_id": game_view.id,
        "denomination_cents": UNIT_CENTS,
        "bet_credits": 0 if game_view.presentation.get("spots") else max(game_view.bet_options),
        "credit_cents": 123450,
        "paid_cents": 0,
        "last_display": None,
        "accepted_inputs": _ALL_INPUTS,
        "progressives": build_level_views(game_view),
        "closed_spots": tuple(
            spot["id"] for spot in game_view.presentation.get("spots", ()) if not spot["open"]
        ),
    }
    return Snapshot(**(fields | changes))


def build_idle_view(games: tuple[GameView, ...], game_view: GameView, language: str, **changes: Any) -> View:
    """Return the screen's view after it has received the games and the state of an idle machine."""
    view = _build_offer_view(_OfferedGames(games, tuple(map(id, games))))
    return replace(
        apply_message(view, build_snapshot(game_view, language, **changes)),
        scene_began_at=0.0,
        notice_received_at=100.0,
    )


@dataclass(frozen=True, slots=True)
class _OfferedGames:
    """A set of offered games, usable as a cache key: two sets are equal if they hold the same game objects."""

    games: tuple[GameView, ...] = field(compare=False)
    game_object_ids: tuple[int, ...]


@lru_cache(maxsize=8)
def _build_offer_view(offer: _OfferedGames) -> View:
    """Return the screen's view after it has received the messages about the offered games.

    The result is cached, because loading presentations is slow.
    """
    return apply_message(
        View(now=100.0, last_activity_at=100.0, has_device_drawer=False), Hello(games=offer.games)
    )
