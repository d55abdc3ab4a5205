"""Table games in which each seat has its own hand or makes its own decisions, and all seats play one round.

Every seat's game contains the whole round, because the decisions and cards of one seat change what the others
are dealt. A game moves only the money of its own seat. It shows the other seats' hands as a player at the table sees
them.
"""

from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence

from paytables.contract import (
    ALL_STAKED_OPTION,
    NO_SEAT,
    SEATS_DECISION_KIND,
    STAKES_RETURNED_OPTION,
    Bet,
    Choice,
    Decision,
    DrawSource,
    RoundEvent,
    RoundEvents,
    Wager,
    filter_events_for_seat,
)
from paytables.layout import TableRules

#: A card that lies face down.
FACE_DOWN_CARD_TEXT = "??"


class SeatedRules(TableRules):
    """Base class of the rules of games in which each seat has its own hand: one round, and each seat's view of it."""

    @abstractmethod
    def play_seats(self, bets: Sequence[Bet], draw: DrawSource, viewer: int | None) -> RoundEvents:
        """Play a round with the bets of every seat, as the seat ``viewer`` sees it.

        Cards that only other seats may see are face down in its cues, prompts and display. With ``viewer`` None, one
        player plays all seats and sees everything.
        """

    def play(self, wager: Wager, draw: DrawSource) -> RoundEvents:
        """Play a round: alone, or as one seat of several."""
        accepted_wager = self.build_wager(wager.credits, **wager.options)
        bets, seat = (*accepted_wager.bets, *accepted_wager.bets_of_other_seats), accepted_wager.seat
        played_round = self.play_seats(sorted(bets, key=_get_seat), draw, seat)
        return played_round if seat is None else filter_events_for_seat(played_round, seat)

    def build_wager(self, credits_: int, **options: object) -> Wager:
        """Return the wager of ``credits_`` after checking its bets. Raises WagerError if a bet is not offered.

        In a shared round, the option ``seat`` is the seat of this wager, and ``others`` has the bets of the other
        seats.
        """
        seat, other_bets = options.pop("seat", None), options.pop("others", {})
        accepted_wager = super().build_wager(credits_, **options)
        return (
            accepted_wager
            if seat is None and not other_bets
            else self.table_layout.with_other_seats(accepted_wager, seat, other_bets)
        )

    def combine_seat_wagers(self, wager: Wager, seat: int, other_wagers: Mapping[int, Wager]) -> Wager:
        """Return one seat's wager for a round with the other seats' wagers.

        Raises WagerError if these wagers cannot be played together.
        """
        other_bets = {
            str(other_seat): other_wager.options["bets"]
            for other_seat, other_wager in other_wagers.items()
            if other_seat != seat
        }
        return self.build_wager(wager.credits, **{**wager.options, "seat": seat, "others": other_bets})


def _get_seat(bet: Bet) -> int:
    return bet.seat


def format_hand_id(seat: int) -> str:
    """Return the id of a seat's hand on the felt, if each seat has one."""
    return "player" if seat == 0 else f"player-{seat + 1}"


def list_seat_hands(seat_count: int, **fields: object) -> list[dict[str, object]]:
    """Return the hands of all seats for a table's presentation; other seats' hands appear once they are dealt.

    ``fields`` are added to each hand: the number of its cards, for example.
    """
    first_hand = {"id": format_hand_id(0), "names": {"en": "Player", "fr": "Joueur"}, **fields}
    other_hands = (
        {"id": format_hand_id(seat), "names": {"en": name, "fr": f"Joueur {seat + 1}"}, **fields, "with": []}
        for seat, name in ((seat, f"Player {seat + 1}") for seat in range(1, seat_count))
    )
    return [first_hand, *other_hands]


def describe_owner(seat: int, viewer: int | None) -> dict[str, object]:
    """Return the screen data that say which seat owns a hand; empty if one player plays alone."""
    if viewer is None:
        return {}
    return {"seat": seat, "own": True} if seat == viewer else {"seat": seat}


def can_see_seat_cards(seat: int, viewer: int | None) -> bool:
    """Return whether the viewer of a round may see the cards that are dealt face down to a seat."""
    return viewer is None or seat == viewer


def ask_whether_all_staked(
    display: Mapping[str, object], viewer: int | None
) -> Generator[RoundEvent, Choice | None, bool]:
    """Ask the program that plays the round whether every seat's stake is recorded; return the answer.

    The question comes before anything is drawn. The players win each other's stakes, so the round is played only if
    all stakes are recorded. If the power fails while the games of a round start, some stakes may be missing; the
    recorded ones are then returned. If one player plays all seats, nothing is asked, and the result is True.
    """
    if viewer is None:
        return True
    decision = Decision(
        SEATS_DECISION_KIND, (ALL_STAKED_OPTION, STAKES_RETURNED_OPTION), display, seat=NO_SEAT
    )
    return bool(decision.get_chosen_option((yield decision)) == ALL_STAKED_OPTION)
