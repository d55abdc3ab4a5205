"""Default rules for games with a single bet per wager and no state between rounds."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Protocol, Self

from paytables.analysis import BetAnalysis
from paytables.contract import (
    Bet,
    LevelParticipation,
    PrizeInKind,
    Settlement,
    Spot,
    TimeCharge,
    TimeToAct,
    Wager,
)


class _RulesWithAnalysis(Protocol):
    """Interface to the rules of a game that can compute the exact figures of one wager."""

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the exact figures of a wager."""
        ...


class _RulesWithBetOptions(Protocol):
    """Interface to the rules of a game that can list the possible total bets."""

    @property
    def bet_options(self) -> tuple[int, ...]:
        """Return every possible total bet, in credits."""
        ...


class TablelessRules:
    """Base class of the rules of games without spots, standing bets or levels; families override its defaults."""

    def list_spots(self) -> tuple[Spot, ...]:
        """Return no spots: a wager on such a game is a single bet, not a set of bets on spots."""
        return ()

    is_decided_by_wheel: bool = False
    """Whether a real wheel decides a round instead of the random number generator."""

    @property
    def seats_min(self) -> int:
        """Return 1: a round is played by one seat alone."""
        return 1

    def count_seats_needed(self, wager: Wager) -> int:  # noqa: ARG002 (signature of the contract)
        """Return the number of seats that a round of the wager needs; it is the same for every wager of the game."""
        return self.seats_min

    @property
    def has_fixed_seats(self) -> bool:
        """Return False: nothing is kept for a seat between rounds, so another player position may take it next time."""
        return False

    @property
    def commission_rate(self) -> Fraction | None:
        """Return None: the players play against the house, so the game is certified by its return."""
        return None

    @property
    def time_charge(self) -> TimeCharge | None:
        """Return None: nothing is paid for the time played."""
        return None

    @property
    def time_to_act(self) -> TimeToAct:
        """Return the usual time for a decision, without a time bank."""
        return TimeToAct()

    @property
    def betting_seconds(self) -> int | None:
        """Return None: each seat plays separate rounds, so seats never share a time for placing bets."""
        return None

    @property
    def shared_state_fields(self) -> frozenset[str]:
        """Return no fields: the game has no table state that players could share."""
        return frozenset()

    @property
    def standing_bet_state_fields(self) -> frozenset[str]:
        """Return no fields: the game has no bets that stand from one round to the next."""
        return frozenset()

    def combine_seat_wagers(self, wager: Wager, seat: int, other_wagers: Mapping[int, Wager]) -> Wager:  # noqa: ARG002 (signature of the contract)
        """Return the wager unchanged: other seats' bets have no effect on a round without decisions."""
        return wager

    def with_table_state(self, table_state: object) -> Self:
        """Return these rules unchanged: the game has no table state. Raises ValueError if a state is given."""
        if table_state is not None:
            raise ValueError(
                f"this game has no table state between rounds, but one is given: {table_state!r}"
            )
        return self

    def list_standing_bets(self) -> tuple[Bet, ...]:
        """Return no bets: no bet of this game outlasts its round."""
        return ()

    def build_current_view(self) -> Mapping[str, object]:
        """Return an empty mapping: between rounds the screen needs only the data of :meth:`build_presentation`."""
        return {}

    def take_down_standing_bets(self) -> tuple[tuple[Settlement, ...], object]:
        """Return no settlements and no table state: a player who leaves has no standing bets."""
        return (), None

    def find_highest_round_return(self: "_RulesWithAnalysis", wager: Wager) -> int | None:
        """Return the highest win of the wager, which is the most that its round can return.

        None if decisions may add to the stake, because ``max_win_credits`` is then net of the added stake.
        """
        figures = self.analyse_wager(wager)
        return figures.max_win_credits if figures.mean_staked_credits is None else None

    def check_installation(self, file: str) -> None:
        """Accept the definition; families override this to refuse errors that earlier versions accepted."""

    def compute_raise_reserve(self, wager: Wager) -> int:  # noqa: ARG002 (signature of the contract)
        """Return 0: no decision during a round adds to the stake."""
        return 0

    def find_highest_bet(self, credits_: int) -> Mapping[str, int]:  # noqa: ARG002 (signature of the contract)
        """Return an empty mapping: the game has no spots to bet on."""
        return {}

    def find_highest_stake(self: "_RulesWithBetOptions", credits_: int) -> int:
        """Return the highest total bet of the game that is at most ``credits_``, or 0 if every bet costs more."""
        return max((bet for bet in self.bet_options if bet <= credits_), default=0)

    def find_highest_win_after_double_up(self, win_credits: int) -> int:
        """Return the win itself: the game has no double-up."""
        return win_credits

    def list_levels(self, wager: Wager) -> tuple[LevelParticipation, ...]:  # noqa: ARG002 (signature of the contract)
        """Return no levels: the game has no progressives."""
        return ()

    def list_every_level(self) -> tuple[LevelParticipation, ...]:
        """Return no levels: the game has no progressives."""
        return ()

    def list_prizes_in_kind(self) -> tuple[PrizeInKind, ...]:
        """Return no prizes: the game pays credits only."""
        return ()
