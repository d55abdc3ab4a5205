"""The result of a table round, created once, when the machine reports the end of the round.

The status line, the WIN meter and the text for screen readers use the same object, so they cannot disagree.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from egm.kernel.messages import GameOutcome, GameView, Snapshot
from egm.screen.table import is_table_game


@dataclass(frozen=True, slots=True)
class TableRoundResult:
    """The result of a table round: the total stake and return of the bets that it decided, and how it ended."""

    staked_cents: int
    """The total stake of the bets that the round decided, in minor units."""
    returned_cents: int
    """What the bets that the round decided have returned, in minor units.

    It includes the stakes that came back, except if ``is_pay_table_game``.
    """
    is_push: bool
    """Whether at least one bet was decided, each returned exactly its stake, and no pay table paid."""
    is_pay_table_game: bool
    """Whether the game pays by a pay table, as reels do (for example, video poker)."""
    display: Mapping[str, Any]
    """The published state of the table at the end of the round, as JSON: ``result``, and the game's own details."""
    point_before: int | None
    """At craps, the point before the throw; None on a come-out roll, and in other games."""

    @property
    def is_loss(self) -> bool:
        """Return whether bets were decided and nothing was returned.

        In a pay-table game, a hand without a prize does not count as lost.
        """
        return self.staked_cents > 0 and not self.returned_cents and not self.is_pay_table_game


def build_round_result(
    outcome: GameOutcome, game: GameView | None, snapshot: Snapshot | None
) -> TableRoundResult | None:
    """Return the result of a table round that has ended; None if the game has no table, or without a snapshot.

    ``snapshot`` is the machine's last snapshot before the end, which has the state of the table during the round.
    """
    if game is None or snapshot is None or not is_table_game(game):
        return None
    unit_cents, settlements = snapshot.denomination_cents, outcome.settlements
    staked_credits, returned_credits = (
        sum(int(settlement.get(key, 0)) for settlement in settlements) for key in ("staked", "credits")
    )
    has_pay_table_prize = any(settlement.get("pays") for settlement in settlements)
    are_stakes_returned = all(
        int(settlement["credits"]) == int(settlement.get("staked", 0)) for settlement in settlements
    )
    return TableRoundResult(
        staked_cents=staked_credits * unit_cents,
        returned_cents=returned_credits * unit_cents,
        is_push=staked_credits > 0 and are_stakes_returned and not has_pay_table_prize,
        is_pay_table_game=bool(game.presentation.get("hold")),
        display=outcome.display,
        point_before=None if outcome.display.get("come_out", True) else snapshot.felt_state.point,
    )
