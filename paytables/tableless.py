"""What the rules of a game are whose wager is one whole and of which nothing lasts between rounds."""

from collections.abc import Mapping
from typing import Protocol, Self

from paytables.analysis import BetAnalysis
from paytables.contract import Bet, LevelPlay, PrizeInKind, Settlement, Spot, Wager


class _Analysed(Protocol):
    def analyse_wager(self, wager: Wager) -> BetAnalysis: ...


class _Offering(Protocol):
    @property
    def bet_options(self) -> tuple[int, ...]: ...


class Tableless:
    """A game without spots, standing bets or levels: a family says otherwise where it has some."""

    def layout(self) -> tuple[Spot, ...]:
        """Return none: a wager is one whole."""
        return ()

    by_wheel: bool = False
    """Whether a real wheel decides a round, and not the generator."""

    @property
    def betting_seconds(self) -> int | None:
        """How long several seats place bets on one round; None where each plays by itself."""
        return None

    @property
    def shared_keys(self) -> frozenset[str]:
        """Return none: nothing lasts."""
        return frozenset()

    @property
    def bound_keys(self) -> frozenset[str]:
        """Return none: no bets stand."""
        return frozenset()

    def seated(self, wager: Wager, seat: int, others: Mapping[int, Wager]) -> Wager:  # noqa: ARG002 (the contract's)
        """Return the wager: what lies at other seats changes nothing in a round that only draws."""
        return wager

    def at(self, table: object) -> Self:
        """Return the same rules: nothing lasts. Raises ValueError for a table."""
        if table is not None:
            raise ValueError(f"nothing of this game lasts between rounds, and a table is given: {table!r}")
        return self

    def standing(self) -> tuple[Bet, ...]:
        """Return none: nothing lasts."""
        return ()

    def as_it_stands(self) -> Mapping[str, object]:
        """Return nothing: the spots say all."""
        return {}

    def take_down(self) -> tuple[tuple[Settlement, ...], object]:
        """Return nothing: no bet stands."""
        return (), None

    def most_of_round(self: "_Analysed", wager: Wager) -> int | None:
        """Return the highest win of the wager: nothing else can win in its round.

        None where answers may add to the stake: the figures count a win less what was added.
        """
        found = self.analyse_wager(wager)
        return found.max_win_credits if found.mean_staked_credits is None else None

    def reserve(self, wager: Wager) -> int:  # noqa: ARG002 (the contract's)
        """Return nothing: no answer adds to the stake."""
        return 0

    def most_on(self, credits_: int) -> Mapping[str, int]:  # noqa: ARG002 (the contract's)
        """Return nothing: there are no spots."""
        return {}

    def most_staked(self: "_Offering", credits_: int) -> int:
        """Return the highest bet within so many credits; 0 where none is."""
        return max((bet for bet in self.bet_options if bet <= credits_), default=0)

    def after_double_up(self, win_credits: int) -> int:
        """Return the win itself: nothing is doubled."""
        return win_credits

    def levels(self, wager: Wager) -> tuple[LevelPlay, ...]:  # noqa: ARG002 (the contract's)
        """Return none: there are no progressive levels."""
        return ()

    def every_level(self) -> tuple[LevelPlay, ...]:
        """Return none: there are no progressive levels."""
        return ()

    def prizes_in_kind(self) -> tuple[PrizeInKind, ...]:
        """Return none: it pays credits only."""
        return ()
