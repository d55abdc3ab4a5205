"""The bets of a table with one draw: the spots, the permitted wagers, and the effect of a result on each bet.

A bet may outlast its draw: a bet on the same number several times in a row, and a stake that its player left
"in prison" at zero. Those are the table's state, ``{"held": [{"spot", "credits", "count", "seat"?}]}``. ``count``
(:attr:`~paytables.prison.ImprisonedBet.times_held_over`) is the number of completed spins of a repeat, or of zeros
since the stake was bet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal, Self

from paytables.contract import (
    Bet,
    Json,
    Settlement,
    Spot,
    Wager,
)
from paytables.definition import GameHeader
from paytables.layout import Odds, PresetBet, TableLayout, TableLimits, TableRules, settle_bet
from paytables.prison import (
    BetResult,
    HeldBet,
    held_bets_from_json,
    held_bets_to_json,
    list_bets_on_table,
    settle_imprisoned_stake,
    settle_partial_return,
)


@dataclass(frozen=True, slots=True)
class SpotRules:
    """The rules of one betting spot of a table with one draw: the odds it pays on each result, and its options."""

    spot: Spot
    """The betting spot to which these rules apply."""
    odds_by_result: Mapping[str, Odds]
    """The odds that the spot pays, by the result that wins."""
    consecutive_spins: int = 1
    """The number of spins in a row that must all end on the bet's result."""
    on_zero: Literal["lost", "half", "choice"] = "lost"
    """What happens to the stake at a zero: ``lost``; ``half`` is returned; or the player's ``choice``."""


@dataclass(frozen=True)
class OneDrawBets(TableRules):
    """The bets of a table where one draw decides, such as roulette or sic bo.

    The family of games defines how likely each result is (:attr:`case_count_by_result`).
    """

    header: GameHeader
    """The id, version and texts of the game's definition."""
    spot_rules: tuple[SpotRules, ...]
    """The rules of each betting spot."""
    table_limits: TableLimits
    """The number of seats, and what one seat may stake and win."""
    preset_bets: tuple[PresetBet, ...]
    """The wagers that the table offers by name (preset bets)."""
    felt_kind: Literal["roulette", "wheel", "dice"]
    """The kind of table layout that the screen draws."""
    zero_results: frozenset[str] = frozenset()
    """The results that count as a zero."""
    held_bets: tuple[HeldBet, ...] = ()
    """The bets of earlier spins that stay on the table: in prison, or on several spins in a row."""
    enforces_win_limit: ClassVar[bool] = True

    @property
    def case_count_by_result(self) -> Mapping[str, int]:
        """Return how many of the equally likely cases of a draw give each result."""
        raise NotImplementedError

    @cached_property
    def rules_by_spot(self) -> dict[str, SpotRules]:
        """Return the rules of the bet on each spot, by the spot's id."""
        return {rules.spot.id: rules for rules in self.spot_rules}

    @cached_property
    def table_layout(self) -> TableLayout:
        """Return the layout of betting spots.

        Bets that stay for another spin cannot be changed any more, and the limit of the total stake does not count
        them.
        """
        return TableLayout(
            tuple(rules.spot for rules in self.spot_rules), self.table_limits, self.preset_bets
        )

    def build_wager(self, credits_: int, **options: Json) -> Wager:
        """Check the bets of a wager that costs ``credits_``, and return the wager. Raises :class:`WagerError`.

        If bets of earlier spins are still on the table (:attr:`held_bets`), a wager without new bets is allowed. The
        win limit of the table counts those bets.
        """
        if self.held_bets and credits_ == 0 and options in ({}, {"bets": {}}):
            return Wager(0, {"bets": {}})
        wager = self.table_layout.build_wager(credits_, **options)
        if self.table_limits.win_max_credits is not None:
            self.table_layout.check_highest_win(self.find_highest_returns(wager))
        return wager

    def find_highest_returns(self, wager: Wager) -> dict[int, int]:
        """Return the most credits that any single result may return, by seat.

        A bet that needs several results in a row is counted as won with this one. At a zero, a part of a stake that the
        player may leave in prison is counted as taken back.
        """
        return_by_seat: dict[int, int] = {}
        for result in self.case_count_by_result:
            credits_by_seat: dict[int, int] = {}
            for bet in list_bets_on_table(self.held_bets, wager, self.table_layout.spots):
                settlement, _ = self.decide_bet(bet, result)
                if settlement is None:  # a bet on several spins, after one that it needs
                    settlement = settle_bet(bet, self.rules_by_spot[bet.spot].odds_by_result[result])
                credits_by_seat[bet.seat] = credits_by_seat.get(bet.seat, 0) + settlement.credits
            for seat, credits_ in credits_by_seat.items():
                return_by_seat[seat] = max(return_by_seat.get(seat, 0), credits_)
        return return_by_seat

    def with_table_state(self, table_state: object) -> Self:
        """Return the rules with the bets of a stored table state. Raises ValueError if no round can end in it."""
        held_bets = () if table_state is None else self._read_held_bets(table_state)
        return self if held_bets == self.held_bets else self.with_table_fields(held_bets=held_bets)

    def _read_held_bets(self, table_state: object) -> tuple[HeldBet, ...]:
        """Return the bets that a stored table state holds. Raises ValueError if no round can end with these bets."""
        if not isinstance(table_state, Mapping) or set(table_state) != {"held"} or not table_state["held"]:
            raise ValueError(f"{table_state!r} is not a table state that a round of this game can leave")
        held_bets = held_bets_from_json(table_state["held"], self.rules_by_spot, self.table_limits.seat_count)
        results = set(self.case_count_by_result)
        for bet in held_bets:
            rules = self.rules_by_spot[bet.spot]
            bet_min, bet_max, bet_step = rules.spot.bet_min, rules.spot.bet_max, rules.spot.bet_step
            if (
                not bet_min <= bet.credits <= bet_max
                or bet.credits % bet_step
                or not self._can_stay_between_spins(rules, bet)
            ):
                raise ValueError(
                    f"{bet.to_json()} with count {bet.times_held_over} is not a stake"
                    " that can be in prison at this table"
                )
            results &= set(rules.odds_by_result) if rules.consecutive_spins > 1 else self.zero_results
        if not results:
            raise ValueError("the standing bets belong to different results of the wheel")
        return held_bets

    @staticmethod
    def _can_stay_between_spins(rules: SpotRules, bet: HeldBet) -> bool:
        """Return whether a stored bet can stay on its spot between two spins."""
        if rules.consecutive_spins > 1:
            return bet.times_held_over < rules.consecutive_spins
        return rules.on_zero == "choice" and bet.can_stay

    def list_standing_bets(self) -> tuple[Bet, ...]:
        """Return the bets that stay for the next draw: unfinished bets on several spins, and stakes in prison."""
        return tuple(Bet(bet.spot, bet.credits, bet.seat) for bet in self.held_bets)

    def take_down_standing_bets(self) -> tuple[tuple[Settlement, ...], object]:
        """Return the payment for each stake in prison to a player who leaves, and the table state without these stakes.

        The payment is the part of the stake that the player could have taken back at the last zero; for a
        leaving player, that spin was the last (Monaco, art. 8.2). A bet on several spins cannot be taken
        down.
        """
        imprisoned_bets = [
            bet for bet in self.held_bets if self.rules_by_spot[bet.spot].consecutive_spins == 1
        ]
        remaining_bets = tuple(bet for bet in self.held_bets if bet not in imprisoned_bets)
        return (
            tuple(settle_partial_return(bet) for bet in imprisoned_bets),
            build_table_state(remaining_bets),
        )

    def decide_bet(self, bet: HeldBet, result: str) -> BetResult:
        """Return the effect of a result on a bet: its settlement, or the bet that stays on the table.

        If the rules let the player choose between a settlement and prison, both are returned.
        """
        rules = self.rules_by_spot[bet.spot]
        if rules.consecutive_spins > 1:
            if result in rules.odds_by_result and bet.times_held_over + 1 < rules.consecutive_spins:
                return None, replace(bet, times_held_over=bet.times_held_over + 1)
            return settle_bet(bet, rules.odds_by_result.get(result)), None
        if result in self.zero_results and rules.on_zero != "lost" and result not in rules.odds_by_result:
            bet_after_zero = replace(bet, times_held_over=bet.times_held_over + 1)
            can_stay = self._can_stay_between_spins(rules, bet_after_zero)
            return settle_partial_return(bet_after_zero), bet_after_zero if can_stay else None
        if bet.times_held_over:
            return settle_imprisoned_stake(bet, is_won=result in rules.odds_by_result), None
        return settle_bet(bet, rules.odds_by_result.get(result)), None

    def list_rules_by_group(self) -> dict[str, list[SpotRules]]:
        """Return the rules of the spots of each group (spots with the same kind of bet and odds), in layout order."""
        rules_by_group: dict[str, list[SpotRules]] = {}
        for rules in self.spot_rules:
            rules_by_group.setdefault(rules.spot.group, []).append(rules)
        return rules_by_group


def build_table_state(held_bets: Sequence[HeldBet]) -> object:
    """Return the table state to store for these bets that stay on the table, or None if none exist."""
    if not held_bets:
        return None
    return {"held": held_bets_to_json(held_bets)}
