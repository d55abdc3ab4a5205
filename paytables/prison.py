"""Stakes "in prison" (Monaco, arrêté 88-384, art. 8.2), and other bets that last longer than one round.

At zero (roulette), or at a refait (trente et quarante), a player takes back half of the stake or leaves the whole
stake in prison. Each further zero or refait halves the amount that the player can take back.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias

from paytables.analysis import BetAnalysis
from paytables.contract import Bet, Choice, Decision, Settlement, Spot, Wager
from paytables.layout import bets_from_json

#: The option that takes back half of the stake's present value.
HALF_OPTION: Final = "half"
#: The option that leaves the stake for the next spin, instead of taking half of it back.
PRISON_OPTION: Final = "prison"


@dataclass(frozen=True, slots=True)
class HeldBet(Bet):
    """A bet of a round that may be held over to the next one, such as a stake in prison.

    For a bet on several spins in a row, ``times_held_over`` is the number of spins that it has survived.
    """

    times_held_over: int = 0
    """How many rounds held the bet over: for a stake in prison, the zeros (or refaits) so far; 0 for a new bet."""

    @property
    def stake_credits(self) -> int:
        """Return the credits that the player gets back when a stake in prison is freed.

        After one zero that is the full stake; each further zero halves it.
        """
        return self.credits >> max(0, self.times_held_over - 1)

    @property
    def returnable_credits(self) -> int:
        """Return the credits that the player may take back after the last zero: a half of the stake, a quarter, ..."""
        return self.credits >> self.times_held_over

    @property
    def can_stay(self) -> bool:
        """Return whether the stake may stay in prison: only if the next part to be taken back is whole credits."""
        return (
            self.times_held_over < self.credits.bit_length()
            and self.credits % (2 << self.times_held_over) == 0
        )


#: The result of a bet: a settlement, or the bet that stays. If both are given, the player chooses.
BetResult: TypeAlias = tuple[Settlement | None, HeldBet | None]


def list_bets_on_table(
    held_bets: Iterable[HeldBet], wager: Wager, spots: Iterable[Spot]
) -> tuple[HeldBet, ...]:
    """Return every bet of a round, those held from earlier rounds included, in settlement order.

    The order is by seat, then by the order of the spots.
    """
    order = {spot.id: n for n, spot in enumerate(spots)}
    new_bets = [HeldBet(bet.spot, bet.credits, bet.seat) for bet in wager.bets]
    return tuple(
        sorted((*held_bets, *new_bets), key=lambda bet: (bet.seat, order[bet.spot], -bet.times_held_over))
    )


def settle_or_hold_over(
    bets: Iterable[HeldBet],
    decide_bet: Callable[[HeldBet], BetResult],
    displayed_result: Mapping[str, object],
    decision_kind: str,
) -> Generator[Settlement | Decision, Choice | None, list[HeldBet]]:
    """Settle every bet of a round, and return the bets that stay on the table.

    If ``decide_bet`` returns both a settlement and a held bet, the player chooses to take a part back or to leave the
    stake in prison. ``displayed_result`` is the table as the screen shows it with that decision; ``decision_kind`` is
    the kind of the decision.
    """
    held_bets: list[HeldBet] = []
    for bet in bets:
        settlement, held_bet = decide_bet(bet)
        if settlement is not None and held_bet is not None:
            decision_data = {
                "spot": bet.spot,
                "staked": bet.credits,
                "credits": held_bet.returnable_credits,
                "advice": HALF_OPTION,
            }
            choice = yield Decision(
                decision_kind,
                (HALF_OPTION, PRISON_OPTION),
                {**displayed_result, **decision_data},
                seat=bet.seat,
            )
            takes_half = choice is None or choice.value == HALF_OPTION
            settlement, held_bet = (settlement, None) if takes_half else (None, held_bet)
        if settlement is not None:
            yield settlement
        elif held_bet is not None:
            held_bets.append(held_bet)
    return held_bets


def settle_partial_return(bet: HeldBet) -> Settlement:
    """Return the settlement of a stake if the player takes a part back instead of leaving all of it in prison."""
    detail = {"part": f"1/{1 << bet.times_held_over}"}
    return Settlement(
        "half", bet.returnable_credits, detail, spot=bet.spot, staked_credits=bet.credits, seat=bet.seat
    )


def settle_imprisoned_stake(bet: HeldBet, *, is_won: bool) -> Settlement:
    """Return the settlement of an imprisoned stake whose bet is decided: freed, or lost."""
    name, credits_ = ("freed", bet.stake_credits) if is_won else ("lost", 0)
    return Settlement(name, credits_, spot=bet.spot, staked_credits=bet.credits, seat=bet.seat)


def held_bets_to_json(held_bets: Iterable[HeldBet]) -> list[dict[str, object]]:
    """Return held bets in the form that a table state stores; :func:`held_bets_from_json` is the inverse."""
    return [{**bet.to_json(), "count": bet.times_held_over} for bet in held_bets]


def held_bets_from_json(
    stored_bets: Sequence[Mapping[str, object]], spots: Mapping[str, object], seat_count: int
) -> tuple[HeldBet, ...]:
    """Return the held bets of a stored table state. Raises ValueError for a state in which no round can end."""
    if not isinstance(stored_bets, list) or not stored_bets:
        raise ValueError(f"the stored record is not a list of standing bets: {stored_bets!r}")
    held_bets = []
    for bet, stored_bet in zip(bets_from_json(stored_bets, spots, seat_count), stored_bets, strict=True):
        count = stored_bet.get("count")
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(f"a stored standing bet has no count above 0: {stored_bets!r}")
        held_bets.append(HeldBet(bet.spot, bet.credits, bet.seat, count))
    if len({(bet.seat, bet.spot, bet.times_held_over) for bet in held_bets}) != len(held_bets):
        raise ValueError("a standing bet is listed twice")
    return tuple(held_bets)


def with_prison_choice(figures: BetAnalysis, strategy: str, worst_rtp: Fraction, note: str) -> BetAnalysis:
    """Return a bet's figures for a player who always takes a part back and never leaves the stake in prison.

    ``worst_rtp`` is the return for a player who always leaves the stake in prison.
    """
    return replace(
        figures,
        strategy=strategy,
        worst_rtp=worst_rtp,
        simplest_strategy=strategy,
        simplest_rtp=figures.rtp,
        notes=(*figures.notes, note),
    )
