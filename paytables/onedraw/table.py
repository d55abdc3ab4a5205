"""A playable table with one draw: bets on spots, one result, and its effect on every bet."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple

from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis
from paytables.contract import (
    Choice,
    Cue,
    Decision,
    DefinitionRemark,
    DrawSource,
    Outcome,
    RoundEvents,
    Wager,
)
from paytables.onedraw import figures
from paytables.onedraw.bets import OneDrawBets, build_table_state
from paytables.prison import (
    list_bets_on_table,
    settle_or_hold_over,
)
from paytables.wording import format_count


class DrawnResult(NamedTuple):
    """The result of a table's draw: its key in :attr:`~OneDrawBets.case_count_by_result`, and what the screen shows."""

    key: str
    cue: Cue
    display: dict[str, object]


@dataclass(frozen=True)
class OneDrawTable(OneDrawBets):
    """The rules of a playable table where one draw decides; the family defines the draw (:meth:`draw_result`)."""

    def draw_result(self, draw: DrawSource) -> DrawnResult:
        """Draw the round's result."""
        raise NotImplementedError

    def obtain_result(self, draw: DrawSource) -> Generator[Decision, Choice | None, DrawnResult]:
        """Return the round's result as :meth:`draw_result` does. A family with a real wheel asks the wheel instead."""
        yield from ()
        return self.draw_result(draw)

    def build_display_data(self) -> dict[str, object]:
        """Return the data that the screen needs in addition to the layout; each family implements it."""
        raise NotImplementedError

    def play(self, wager: Wager, draw: DrawSource) -> RoundEvents:
        """Play a round: draw once, and settle every bet that the result decides.

        At zero, players of even-money bets may have to choose between half of the stake and prison.
        """
        bets = list_bets_on_table(
            self.held_bets, self.build_wager(wager.credits, **wager.options), self.table_layout.spots
        )
        result, cue, draw_display = yield from self.obtain_result(draw)
        yield cue
        display = {"kind": "table", "felt": self.felt_kind, **draw_display}
        standing_bets = yield from settle_or_hold_over(
            bets, lambda bet: self.decide_bet(bet, result), display, "zero"
        )
        return Outcome(display=display, table_state=build_table_state(standing_bets))

    def build_presentation(self) -> dict[str, object]:
        """Return what a screen needs to draw the table: the layout, and the family's own display data."""
        return {
            "kind": "table",
            "felt": self.felt_kind,
            **self.build_display_data(),
            **self.table_layout.to_json(),
        }

    def explain_pays(self) -> tuple[str, ...]:
        """Return one text for each kind of bet: its odds, its number of spots, and in how many of all cases it wins."""
        total = sum(self.case_count_by_result.values())
        return tuple(
            f"{group}: {spot_rules[0].spot.odds}"
            f" on {sum(self.case_count_by_result[result] for result in spot_rules[0].odds_by_result):,} of {total:,}"
            + (
                f", {spot_rules[0].consecutive_spins} times in a row"
                if spot_rules[0].consecutive_spins > 1
                else ""
            )
            + f"; {format_count(len(spot_rules), 'spot')}"
            for group, spot_rules in self.list_rules_by_group().items()
        )

    def list_remarks(self) -> tuple[DefinitionRemark, ...]:
        """Return an empty tuple: tables of one draw have no remarks."""
        return ()

    def analyse(self, depth: AnalysisDepth) -> Analysis:
        """Return the exact figures of the table; see :func:`paytables.onedraw.figures.analyse`."""
        return figures.analyse(self, depth)

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the exact figures of any combination of bets at the table, each followed to its end."""
        return figures.analyse_bets(self, self.build_wager(wager.credits, **wager.options), "bets")
