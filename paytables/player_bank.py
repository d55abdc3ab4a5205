"""Games in which a player may be the bank (Québec by-law, ss. 53, 62, 116): the seats are offered it in turn.

A seat offers to be the bank by a bet on the bank spot in addition to its stake. When betting closes, the bank
is the first seat in turn that is allowed to hold it and whose bet covers the stakes of all other seats. Its
own stake, and the part of its bet that is not needed, are returned before anything is dealt. If no seat
qualifies, the machine is the bank, as in the first round. A seat may be the bank if it took part in the last
round in which the machine was the bank, and was not itself the bank in the round before. Winning stakes
always pay the commission; the bank pays and is paid 1:1. The state of the table names seats. Therefore a seat of the
table must be the same player position of the machine in every round.
"""

from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from paytables.contract import Bet, Choice, Outcome, RoundEvent, Settlement, Spot
from paytables.definition import StrictTable, Text
from paytables.layout import BetLimits, settle_push
from paytables.seating import SeatedRules, ask_whether_all_staked

#: The id of the bet to be the bank.
BANK_SPOT: Final = "bank"
#: The id of the spot of the stake against the bank, which every seat of a round has.
STAKE_SPOT: Final = "stake"
#: The name of the settlement of what is returned before the deal.
NOT_COVERED_SETTLEMENT_NAME: Final = "not covered"
#: What the bank is paid, by language.
_BANK_TERMS_TEXTS: Final[Mapping[str, str]] = {
    "en": "1:1 on each stake that loses to it",
    "fr": "1:1 sur chaque mise qui perd contre elle",
}


class PlayerBank(StrictTable):
    """The terms on which a player may be the bank (``[player_bank]``): name, and limits of the covering bet."""

    name: Text
    """The name of the bet with which a seat offers to be the bank."""
    limits: BetLimits
    """The limits of the bank: the bet of the player who covers the others' stakes."""

    def build_spot(self, *, is_open: bool) -> Spot:
        """Return the spot on which a seat bets to offer to be the bank."""
        return Spot(
            id=BANK_SPOT,
            group=BANK_SPOT,
            names=self.name.model_dump(),
            odds="1:1",
            terms=_BANK_TERMS_TEXTS,
            required_spot=STAKE_SPOT,
            accepts_bets=is_open,
            **self.limits.build_spot_fields(),
        )

    def format_row(self, language: str) -> str:
        """Return what a player who is the bank is paid, as a line of the help text in one language."""
        return f"{getattr(self.name, language)} - {_BANK_TERMS_TEXTS[language]}"

    def check_table(self, seat_count: int, stake_limits: BetLimits, denomination_count: int) -> None:
        """Raise ValueError if a player cannot be the bank at this table.

        There must be several seats and one denomination, and the limits must allow any stakes to be covered
        exactly.
        """
        if denomination_count > 1:
            raise ValueError(
                "game.denominations_cents: only one is allowed if a player may be the bank, "
                "because the bank's credits cover the other players' stakes"
            )
        if seat_count == 1:
            raise ValueError("player_bank: a player cannot be the bank at a table of one seat")
        if (
            self.limits.bet_min < stake_limits.bet_min
            or self.limits.bet_min % stake_limits.bet_step
            or self.limits.bet_step % stake_limits.bet_step
        ):
            raise ValueError(
                f"player_bank.limits: they must fit stakes from {stake_limits.bet_min} "
                f"in steps of {stake_limits.bet_step}"
            )


@dataclass(frozen=True, slots=True)
class BankTurn:
    """The turn in which the seats are offered the bank of the next round."""

    seat: int = 0
    """The seat that is offered the bank first."""
    eligible_seats: tuple[int, ...] = ()
    """The seats that bet in the last round in which the machine was the bank; only they may be the bank."""
    last_bank_seat: int | None = None
    """The seat that was the bank in the last round, or None if the machine was."""

    def to_json(self) -> dict[str, object]:
        """Return the turn in which seats are offered the bank, as JSON for the table state."""
        last_bank_seat = {} if self.last_bank_seat is None else {"last": self.last_bank_seat}
        return {"seat": self.seat, "took_part": list(self.eligible_seats), **last_bank_seat}

    @classmethod
    def from_json(cls, data: object, seat_count: int) -> Self:
        """Return the turn to be the bank in a table state. Raises ValueError for a state in which no round can end."""
        if not isinstance(data, Mapping) or not {"seat", "took_part"} <= set(data) <= {
            "seat",
            "took_part",
            "last",
        }:
            raise ValueError(f"{data!r} is not a state of the bank that a round can leave")
        seat, eligible_seats, last_bank_seat = data["seat"], data["took_part"], data.get("last")
        if not isinstance(eligible_seats, list | tuple) or not eligible_seats:
            raise ValueError(f"{data!r} is not a state of the bank that a round can leave")
        seat_numbers = [seat, *eligible_seats, *(() if "last" not in data else (last_bank_seat,))]
        if not all(
            type(seat_number) is int and seat_number in range(seat_count) for seat_number in seat_numbers
        ):
            raise ValueError(f"the bank: {data!r} does not name seats of this table")
        if list(eligible_seats) != sorted(set(eligible_seats)):
            raise ValueError(f"the bank: a seat is listed twice, or out of order, in {data!r}")
        if last_bank_seat is not None and (
            last_bank_seat not in eligible_seats or seat != (last_bank_seat + 1) % seat_count
        ):
            raise ValueError(f"{data!r} is not a state of the bank that a round can leave")
        return cls(seat, tuple(eligible_seats), last_bank_seat)

    def list_candidates(self, seat_count: int) -> list[int]:
        """Return the seats that may be the bank, in the order in which it is offered to them."""
        seats_in_turn = [(self.seat + n) % seat_count for n in range(seat_count)]
        return [seat for seat in seats_in_turn if seat in self.eligible_seats and seat != self.last_bank_seat]


#: The turn before the first round, in which the machine is the bank.
FIRST_BANK_TURN: Final = BankTurn()


@dataclass(frozen=True, slots=True)
class BankedRound:
    """One round after betting closes: the seat that is the bank, the bets played, and those returned unplayed.

    Bets, or parts of bets, are returned if the bank does not cover them or they are the bank's own.
    """

    bank_seat: int | None
    """The seat that is the bank, or None if the machine is."""
    played_bets: tuple[Bet, ...]
    """The bets that are played: the stakes against the bank, and side bets."""
    returned_settlements: tuple[Settlement, ...]
    """The settlements that return bets, or parts of bets, without playing them."""

    def settle_bank(self, stake: Settlement) -> tuple[Settlement, ...]:
        """Return the bank's settlement for one settled stake against it; empty if the machine is the bank.

        The bank wins a stake that is lost or surrendered, and pays one that is won.
        """
        if self.bank_seat is None:
            return ()
        return (mirror_settlement(stake, self.bank_seat),)


def mirror_settlement(stake: Settlement, bank_seat: int = 0) -> Settlement:
    """Return the bank's settlement against one settled stake: the stake's loss is the bank's win and vice versa.

    ``bank_seat`` is the seat that is the bank.
    """
    bet = Bet(BANK_SPOT, stake.staked_credits, bank_seat)
    if stake.name == "push":
        return settle_push(bet)
    is_lost = stake.name == "won"
    returned_credits = 0 if is_lost else 2 * bet.credits
    return Settlement(
        "lost" if is_lost else "won",
        returned_credits,
        spot=BANK_SPOT,
        staked_credits=bet.credits,
        seat=bank_seat,
    )


class PlayerBankRules(SeatedRules):
    """Base class of the rules of games whose bank may be a player, if the definition has ``[player_bank]``."""

    bank_turn: BankTurn
    """The turn in which seats are offered the bank of the next round."""

    @property
    @abstractmethod
    def player_bank(self) -> PlayerBank | None:
        """Return the terms on which a player may be the bank, or None if the machine always is."""

    @property
    def has_fixed_seats(self) -> bool:
        """Return whether a seat must be the same player position in every round: True if players may be the bank."""
        return self.player_bank is not None

    @property
    def shared_state_fields(self) -> frozenset[str]:
        """Return the field of the table state that all players share: the turn to be the bank."""
        return frozenset() if self.player_bank is None else frozenset({BANK_SPOT})

    def with_table_state(self, table_state: object) -> Self:
        """Return the rules with the bank's turn of a stored table state.

        Raises ValueError for a state in which no round can end.
        """
        if table_state is None:
            bank_turn = FIRST_BANK_TURN
        elif self.player_bank is None or not isinstance(table_state, dict) or set(table_state) != {BANK_SPOT}:
            raise ValueError(f"{table_state!r} is not a table state that a round of this game can leave")
        else:
            bank_turn = BankTurn.from_json(table_state[BANK_SPOT], self.table_layout.table.seat_count)
        if bank_turn == self.bank_turn:
            return self
        rules_after = self.with_table_fields(bank_turn=bank_turn)
        vars(rules_after).pop("table_layout", None)  # the layout depends on the turn
        return rules_after

    def build_current_view(self) -> Mapping[str, object]:
        """Return the seat that is offered the bank first, for the screen; empty if no seat may be the bank."""
        candidates = self.bank_turn.list_candidates(self.table_layout.table.seat_count)
        return {"bank": candidates[0]} if candidates else {}

    @property
    def bank_owner_data(self) -> Mapping[str, object]:
        """Return the screen data that say that a player may hold the bank's hand; empty if only the machine may."""
        return {} if self.player_bank is None else {"held": True}

    def list_bank_spots(self, seat_count: int) -> tuple[Spot, ...]:
        """Return the spot on which seats bet to be the bank; empty if the machine always is the bank.

        The spot is open if a seat may be the bank of this round.
        """
        player_bank = self.player_bank
        return (
            ()
            if player_bank is None
            else (player_bank.build_spot(is_open=bool(self.bank_turn.list_candidates(seat_count))),)
        )

    def arrange_bank(self, bets: Sequence[Bet]) -> BankedRound:
        """Return which seat, if any, is the bank of a round with these bets, and which bets are played or returned."""
        stake_by_seat = {bet.seat: bet.credits for bet in bets if bet.spot == STAKE_SPOT}
        offered_credits_by_seat = {bet.seat: bet.credits for bet in bets if bet.spot == BANK_SPOT}
        bank_seat, covered_credits = None, 0
        for seat in self.bank_turn.list_candidates(self.table_layout.table.seat_count):
            opposing_credits = sum(credits_ for other, credits_ in stake_by_seat.items() if other != seat)
            if opposing_credits and offered_credits_by_seat.get(seat, 0) >= opposing_credits:
                bank_seat, covered_credits = seat, opposing_credits
                break
        returned_settlements = []
        for bet in bets:
            unplayed_credits = bet.credits if bet.spot == BANK_SPOT or bet.seat == bank_seat else 0
            unplayed_credits -= covered_credits if (bet.seat, bet.spot) == (bank_seat, BANK_SPOT) else 0
            if unplayed_credits:
                unplayed_bet = replace(bet, credits=unplayed_credits)
                returned_settlements.append(settle_push(unplayed_bet, NOT_COVERED_SETTLEMENT_NAME))
        player_bets = tuple(bet for bet in bets if bet.spot != BANK_SPOT and bet.seat != bank_seat)
        return BankedRound(bank_seat, player_bets, tuple(returned_settlements))

    def ask_whether_bank_covers(
        self, banked_round: BankedRound, display: Mapping[str, object], viewer: int | None
    ) -> Generator[RoundEvent, Choice | None, bool]:
        """If a player is the bank, ask whether the stakes of all seats are recorded; return False if some are missing.

        Then the round is not played, because the player who is the bank pays the others' wins. If the machine is the
        bank, return True without asking.
        """
        if banked_round.bank_seat is None:
            return True
        return (yield from ask_whether_all_staked(display, viewer))

    def return_stakes(
        self, bets: Sequence[Bet], display: Mapping[str, object]
    ) -> Generator[RoundEvent, None, Outcome]:
        """Return every bet of a round that is cancelled because some seat's stake is missing.

        The bank is offered to the same seat again.
        """
        yield from (settle_push(bet, NOT_COVERED_SETTLEMENT_NAME) for bet in bets)
        return Outcome(display=display, table_state={BANK_SPOT: self.bank_turn.to_json()})

    def build_table_after_bank(
        self, banked_round: BankedRound, bets: Sequence[Bet], viewer: int | None
    ) -> dict[str, object] | None:
        """Return the table state after a round: the turn in which seats are offered the bank next.

        It is None if the machine is always the bank, and after a round of one player alone.
        """
        seats = tuple(sorted({bet.seat for bet in bets}))
        if self.player_bank is None or (viewer is None and len(seats) == 1):
            return None
        bank_turn = self.bank_turn
        next_turn = (
            BankTurn(bank_turn.seat, seats)
            if banked_round.bank_seat is None
            else BankTurn(
                (banked_round.bank_seat + 1) % self.table_layout.table.seat_count,
                bank_turn.eligible_seats,
                banked_round.bank_seat,
            )
        )
        return {BANK_SPOT: next_turn.to_json()}
