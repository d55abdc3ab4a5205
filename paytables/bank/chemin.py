"""Chemin de fer (Monaco, arrêté 88-384, art. 11): the players hold the bank in turn, and bet against each other.

A seat offers to hold the bank by a bet on it. The first seat in turn that offers holds the bank. The seat keeps the
bank in later rounds until the bank loses, or until the seat makes no offer or one below the minimum of the bank
(art. 11.4, 11.8). The other seats bet against the bank, or offer to cover it alone: *banco* (art. 11.4). When betting
closes, a *banco* that covers half of the bank or more is accepted first. The seat whose *banco* lost the last round to
the same bank has priority: it may follow its bet (*suivi*; ``follower`` in the table state). The other offers come in
turn. Then the ordinary bets against the bank are accepted in turn. Bets that the bank does not cover, and the part of
the bank that no bet covers, are returned before a card is dealt. The bank is paid its win less the commission (art.
11.7: levy), which the venue keeps, and the players are paid their wins. The state of the table names the seat whose
turn the bank is. Therefore a seat of the table must be the same player position of the machine in every round.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from paytables.analysis import AnalysisDepth, BetAnalysis
from paytables.bank.baccarat import (
    BANK_DRAW_TABLE,
    CARD_POINTS_BY_RANK,
    NATURAL_POINTS_MIN,
    compute_coup_chances,
    count_points,
)
from paytables.bank.dealing import ShoeRules, build_table_after_round, open_shoe, read_shoe
from paytables.bank.rules import BANK_NAMES, FRESH_SHOE_DEALS, BankRules, HandDescriptions, build_bank_family
from paytables.bank.schema import BankBet, BankDefinition
from paytables.bank.seat_hands import DRAW_OPTION, STAND_OPTION, RoundHands
from paytables.cards.card import get_rank
from paytables.contract import Bet, Decision, DrawSource, Outcome, RoundEvents, Settlement, Wager
from paytables.definition import PositiveInt
from paytables.errors import RefusedRoundError
from paytables.layout import WeightedResult, compute_mean_return, settle_bet, settle_push
from paytables.seating import SeatedRules, ask_whether_all_staked, can_see_seat_cards
from paytables.wording import format_count

#: The id of the bet to hold the bank, and of the bank's hand.
BANK_SPOT: Final = "bank"
#: The id of the bet that covers the bank alone.
BANCO_SPOT: Final = "banco"
#: The id of the bet against the bank.
STAKE_SPOT: Final = "stake"
#: The id of the hand against the bank.
PUNTER_HAND_ID: Final = "player"
#: The name of the hand against the bank, by language.
PUNTER_NAMES: Final[Mapping[str, str]] = {"en": "Punter", "fr": "Ponte"}
#: The least number of players of a round (art. 11.1).
PLAYERS_MIN: Final = 4
#: The points at which the holder of the hand chooses to draw or stand.
_FREE_CHOICE_POINTS: Final = 5
#: The result of a bet that is returned because it is not covered.
NOT_COVERED_SETTLEMENT_NAME: Final = "not covered"


class CheminShoe(ShoeRules):
    """The shoe of chemin de fer (``[shoe]``): six or seven cards lie behind the stop card (art. 11.2)."""

    deck_count: Annotated[int, Field(strict=True, ge=1, le=8)] = Field(default=6, alias="decks")
    """The number of decks in the shoe."""
    cards_behind_stop_card: Literal[6, 7] = Field(
        default=7, description="cards behind the stop card", alias="stop"
    )
    """The number of cards behind the stop card."""
    rounds_per_shuffle: Literal[1] = Field(default=1, alias="rounds")


class SeatHeldBank(BankBet):
    """The bank that a player holds, as a bet that covers the other players' bets.

    The venue takes a commission on its win (art. 11.7: levy).
    """

    commission_percent: PositiveInt = Field(
        default=5, le=100, description="the levy on what the bank wins", alias="percent"
    )
    """The commission on the bank's win, in per cent."""

    def compute_commission(self, credits_: int) -> int:
        """Return the commission, in whole credits rounded down, on a bank that wins ``credits_``."""
        return credits_ * self.commission_percent // 100

    def describe_pay(self) -> Mapping[str, str]:
        """Return, by language, the text that says what the bank wins after the commission."""
        return {
            "en": f"{self.odds.text}, less {self.commission_percent}% of what it wins",
            "fr": f"{self.odds.text}, moins {self.commission_percent} % de ce qu'elle gagne",
        }


class CheminDefinition(BankDefinition):
    """A game of chemin de fer as its definition file describes it: the bank's bet, and the bets against it."""

    shoe: CheminShoe = CheminShoe()
    bank: SeatHeldBank
    """The bet of the player who holds the bank."""
    banco: BankBet
    """The bet of a player who covers the whole bank alone."""
    stake: BankBet
    """The bet of a player who covers a part of the bank."""

    @model_validator(mode="after")
    def _check_bets_and_seats(self) -> Self:
        """Refuse too few seats, several denominations, and a bet with a wrong id or odds other than even money."""
        if self.table.seat_count < PLAYERS_MIN:
            raise ValueError(f"table.seats: expected {PLAYERS_MIN} or more, not {self.table.seat_count}")
        if len(self.game.denominations_cents) > 1:
            raise ValueError(
                "game.denominations_cents: only one is allowed, because the players' credits cover each other"
            )
        for name in (BANK_SPOT, BANCO_SPOT, STAKE_SPOT):
            bet: BankBet = getattr(self, name)
            if bet.id != name or bet.odds.net != 1:
                raise ValueError(f"{name}: its id must be {name!r}, and it must pay even money")
        return self

    def format_pay_table_rows(self) -> Mapping[str, Sequence[str]]:
        """Return what each bet pays and the number of decks, as text by language."""
        bets = (self.bank, self.banco, self.stake)
        return {
            language: [
                *(
                    f"{getattr(bet.name, language)} - {(bet.describe_pay() or {}).get(language, bet.odds.text)}"
                    for bet in bets
                ),
                self.shoe.format_deck_line(language),
            ]
            for language in ("en", "fr")
        }


@dataclass(frozen=True, slots=True)
class BankHoldingTurn:
    """Whose turn it is to hold the bank, stored in the table state between rounds."""

    seat: int = 0
    """The seat that may hold the bank next."""
    bank_min: int = 0
    """The minimum of the bank, in credits, which is also its amount, if ``seat`` holds it again (art. 11.8).

    0 if this seat did not hold the bank before.
    """
    banco_priority_seat: int | None = None
    """The seat whose *banco* is accepted before all others, because its *banco* lost the last round (art. 11.4)."""

    def to_json(self) -> dict[str, object]:
        """Return the turn as the table state stores it."""
        bank_min = {"least": self.bank_min} if self.bank_min else {}
        follower = {} if self.banco_priority_seat is None else {"follower": self.banco_priority_seat}
        return {"seat": self.seat, **bank_min, **follower}

    @classmethod
    def from_json(cls, data: object, seat_count: int, bank_max: int) -> Self:
        """Return the turn stored in a table state. Raises ValueError for a state that no round can leave.

        ``seat_count`` is the number of seats, and ``bank_max`` the highest permitted bank in credits.
        """
        if not isinstance(data, Mapping) or "seat" not in data or set(data) - {"seat", "least", "follower"}:
            raise ValueError(f"{data!r} is not a state of the bank that a round can leave")
        seat, bank_min, banco_priority_seat = data["seat"], data.get("least", 0), data.get("follower")
        known_seats = [number for number in (seat, banco_priority_seat) if number is not None]
        if (
            not all(type(number) is int and number in range(seat_count) for number in known_seats)
            or seat is None
        ):
            raise ValueError(f"the bank: {data!r} does not name seats of this table")
        if (
            type(bank_min) is not int
            or not 0 <= bank_min <= bank_max
            or (banco_priority_seat is not None and not bank_min)
        ):
            raise ValueError(f"{data!r} is not a state of the bank that a round can leave")
        if banco_priority_seat == seat:
            raise ValueError(f"seat {seat} holds the bank, so it cannot also have priority for banco")
        return cls(seat, bank_min, banco_priority_seat)


@dataclass(frozen=True, slots=True)
class CheminCoup:
    """One round of chemin de fer after betting closes: who plays, which bets are covered, and what is returned."""

    bank_seat: int
    """The seat that holds the bank."""
    covered_credits: int
    """The part of the bank, in credits, that the other players' bets cover."""
    punter_seat: int
    """The seat that holds the hand against the bank (art. 11.5)."""
    banco_caller_seat: int | None
    """The seat whose offer to cover the bank alone (*banco*) was accepted; None if none was."""
    covered_bets: tuple[Bet, ...]
    """The bets against the bank, each reduced to the part that the bank covers."""
    returned_settlements: tuple[Settlement, ...]
    """The settlements that return the bets, or parts of bets, that the bank does not cover."""


@dataclass(frozen=True)
class CheminRules(SeatedRules, BankRules[CheminDefinition]):
    """The rules of a playable game of chemin de fer; ``bank_turn`` says which seat may hold the bank next."""

    bank_turn: BankHoldingTurn = BankHoldingTurn()
    """Which seat may hold the bank next."""
    hands: ClassVar[HandDescriptions] = ((BANK_SPOT, BANK_NAMES, 3), (PUNTER_HAND_ID, PUNTER_NAMES, 3))

    @property
    def seats_min(self) -> int:
        """Return the least number of players of a round (art. 11.1)."""
        return PLAYERS_MIN

    @property
    def has_fixed_seats(self) -> bool:
        """Return True: the bank goes round, so a seat must be the same player position in every round."""
        return True

    @property
    def commission_rate(self) -> Fraction:
        """Return the share of a bank's win that the venue takes as commission (art. 11.7: levy)."""
        return Fraction(self.definition.bank.commission_percent, 100)

    def list_bets(self) -> tuple[BankBet, ...]:
        """Return the bets of chemin de fer: hold the bank, cover the whole bank (*banco*), stake against the bank."""
        return (self.definition.bank, self.definition.banco, self.definition.stake)

    def describe_hands(self) -> list[dict[str, object]]:
        """Return, for the screen, the bank's hand and the hand against it; each is held by a seat."""
        return [{**hand, "held": True} for hand in super().describe_hands()]

    # ------------------------------------------------------------------ table state between rounds
    @property
    def shared_state_fields(self) -> frozenset[str]:
        """Return the fields of the table state that all players share: the shoe, and the turn to hold the bank."""
        return frozenset({"shoe", BANK_SPOT})

    def with_table_state(self, table_state: object) -> Self:
        """Return the rules with the shoe and the bank's turn from a stored table state.

        Raises ValueError for a state that no round can leave.
        """
        if table_state is None:
            return replace(self, table_state=None, bank_turn=BankHoldingTurn())
        if not isinstance(table_state, dict) or not table_state or set(table_state) - {"shoe", BANK_SPOT}:
            raise ValueError(f"{table_state!r} is not a table state that a round of this game can leave")
        shoe = {"shoe": table_state["shoe"]} if "shoe" in table_state else None
        if shoe is not None:
            read_shoe(self.definition.shoe, shoe)
        seat_count, bank_max = self.definition.table.seat_count, self.definition.bank.limits.bet_max
        bank_turn = (
            BankHoldingTurn.from_json(table_state[BANK_SPOT], seat_count, bank_max)
            if BANK_SPOT in table_state
            else BankHoldingTurn()
        )
        return replace(self, table_state=shoe, bank_turn=bank_turn)

    def build_current_view(self) -> Mapping[str, object]:
        """Return the seat that may hold the bank next and the minimum of the bank in credits, for the screen."""
        return {"bank": self.bank_turn.seat, "banco": self.bank_turn.bank_min}

    # ------------------------------------------------------------------ when betting closes
    def combine_seat_wagers(self, wager: Wager, seat: int, other_wagers: Mapping[int, Wager]) -> Wager:
        """Return one seat's wager combined with the other seats' wagers for one round.

        Raises WagerError if no round can be played with these bets.
        """
        combined = super().combine_seat_wagers(wager, seat, other_wagers)
        if other_wagers:
            self.arrange_bank_and_hands((*combined.bets, *combined.bets_of_other_seats))
        return combined

    def arrange_bank_and_hands(self, bets: Sequence[Bet]) -> CheminCoup:
        """Return which seats hold the bank and the hand against it, and the parts of the bets that are covered.

        Raises WagerError if no round can be played with these bets.
        """
        player_count = len({bet.seat for bet in bets})
        if player_count < PLAYERS_MIN:
            raise RefusedRoundError(
                "too_few_players",
                f"bets: chemin de fer is played by {PLAYERS_MIN} seats or more; {player_count} have bets",
                count=PLAYERS_MIN,
            )
        credits_by_spot = {(bet.seat, bet.spot): bet.credits for bet in bets}
        bank_seat, uncovered_bank = self._find_bank(credits_by_spot)
        seat_order = self._list_seats_from(bank_seat + 1)[:-1]
        banco_caller_seat = self._find_banco_caller(credits_by_spot, bank_seat, uncovered_bank, seat_order)
        covered_by_seat_and_spot = {(bank_seat, BANK_SPOT): 0}
        for seat_and_spot in ([] if banco_caller_seat is None else [(banco_caller_seat, BANCO_SPOT)]) + [
            (seat, STAKE_SPOT) for seat in seat_order
        ]:
            part = min(credits_by_spot.get(seat_and_spot, 0), uncovered_bank)
            covered_by_seat_and_spot[seat_and_spot] = part
            uncovered_bank -= part
        covered_credits = sum(covered_by_seat_and_spot.values())
        if not covered_credits:
            raise RefusedRoundError("bank_not_covered", "bets: nobody bets against the bank")
        covered_by_seat_and_spot[bank_seat, BANK_SPOT] = covered_credits
        played_bets = tuple(
            Bet(spot, credits_, seat)
            for (seat, spot), credits_ in covered_by_seat_and_spot.items()
            if credits_ and spot != BANK_SPOT
        )
        largest_bet = max(played_bets, key=lambda bet: bet.credits)
        returned_settlements = tuple(
            Settlement(
                NOT_COVERED_SETTLEMENT_NAME,
                uncovered_credits,
                spot=spot,
                staked_credits=uncovered_credits,
                seat=seat,
            )
            for (seat, spot), credits_ in credits_by_spot.items()
            if (uncovered_credits := credits_ - covered_by_seat_and_spot.get((seat, spot), 0))
        )
        return CheminCoup(
            bank_seat,
            covered_credits,
            largest_bet.seat if banco_caller_seat is None else banco_caller_seat,
            banco_caller_seat,
            played_bets,
            returned_settlements,
        )

    def _list_seats_from(self, first_seat: int) -> list[int]:
        """Return every seat of the table in turn, starting with ``first_seat``."""
        seat_count = self.definition.table.seat_count
        return [(first_seat + n) % seat_count for n in range(seat_count)]

    def _find_bank(self, credits_by_spot: Mapping[tuple[int, str], int]) -> tuple[int, int]:
        """Return the seat that holds the bank, and the bank in credits.

        Raises WagerError if no seat offers to hold the bank, or if only the last holder of the bank offers, but less
        than its minimum.
        """
        for seat in self._list_seats_from(self.bank_turn.seat):
            offered_credits = credits_by_spot.get((seat, BANK_SPOT), 0)
            holds_again = seat == self.bank_turn.seat and self.bank_turn.bank_min > 0
            if holds_again and offered_credits >= self.bank_turn.bank_min:
                return seat, self.bank_turn.bank_min
            if offered_credits and not holds_again:
                return seat, offered_credits
        if credits_by_spot.get((self.bank_turn.seat, BANK_SPOT), 0):
            raise RefusedRoundError(
                "bank_below_least",
                f"bets: the bank is below its minimum of {format_count(self.bank_turn.bank_min, 'credit')}",
                count=self.bank_turn.bank_min,
            )
        raise RefusedRoundError("no_bank", "bets: no seat holds the bank")

    def _find_banco_caller(
        self,
        credits_by_spot: Mapping[tuple[int, str], int],
        bank_seat: int,
        bank_credits: int,
        seat_order: Sequence[int],
    ) -> int | None:
        """Return the seat whose offer to cover the bank alone (*banco*) is accepted, or None if there is no such offer.

        An offer is accepted only if it covers at least half the bank.

        The seat whose *banco* lost the last round to the same bank has priority; then the seats come in turn
        (``seat_order``).
        """
        priority_seat = self.bank_turn.banco_priority_seat if bank_seat == self.bank_turn.seat else None
        in_turn = sorted(seat_order, key=lambda seat: seat != priority_seat)
        return next(
            (seat for seat in in_turn if 2 * credits_by_spot.get((seat, BANCO_SPOT), 0) >= bank_credits), None
        )

    # ------------------------------------------------------------------ one round
    def play_seats(self, bets: Sequence[Bet], draw: DrawSource, viewer: int | None) -> RoundEvents:
        """Play a round: return what is not covered, deal both hands, draw third cards, and settle.

        Raises WagerError if no round can be played with these bets.
        """
        coup, shoe_rules = self.arrange_bank_and_hands(bets), self.definition.shoe
        round_hands = RoundHands(
            {BANK_SPOT: coup.bank_seat, PUNTER_HAND_ID: coup.punter_seat},
            viewer,
            count_points,
            face_down_card_count=2,
        )
        if not (yield from ask_whether_all_staked(round_hands.to_json(), viewer)):
            yield from (settle_push(bet, NOT_COVERED_SETTLEMENT_NAME) for bet in bets)
            shoe_before = self.table_state if isinstance(self.table_state, Mapping) else {}
            return Outcome(
                display=round_hands.to_json(),
                table_state={**shoe_before, BANK_SPOT: self.bank_turn.to_json()},
            )
        shoe, cues = open_shoe(shoe_rules, self.table_state, draw)
        yield from cues
        yield from coup.returned_settlements
        for name in (PUNTER_HAND_ID, BANK_SPOT, PUNTER_HAND_ID, BANK_SPOT):
            yield round_hands.deal_card(name, shoe, draw)
        punter_points = round_hands.count_points(PUNTER_HAND_ID)
        bank_points = round_hands.count_points(BANK_SPOT)
        is_over = max(punter_points, bank_points) >= NATURAL_POINTS_MIN
        third_card_points = None
        if punter_points == _FREE_CHOICE_POINTS and not is_over:
            prompt = round_hands.to_json() | {"hand": PUNTER_HAND_ID}
            if can_see_seat_cards(coup.punter_seat, viewer):
                prompt["advice"] = self._find_best_option()
            decision = Decision("chemin-de-fer", (DRAW_OPTION, STAND_OPTION), prompt, seat=coup.punter_seat)
            is_drawing = decision.get_chosen_option((yield decision)) == DRAW_OPTION
        else:
            is_drawing = punter_points < _FREE_CHOICE_POINTS and not is_over
        yield from round_hands.turn_face_up(BANK_SPOT, PUNTER_HAND_ID)
        if is_drawing:
            yield round_hands.deal_card(PUNTER_HAND_ID, shoe, draw)
            third_card_points = CARD_POINTS_BY_RANK[get_rank(round_hands.cards_by_hand_id[PUNTER_HAND_ID][2])]
        if not is_over and third_card_points in BANK_DRAW_TABLE[bank_points]:
            yield round_hands.deal_card(BANK_SPOT, shoe, draw)
        result = round_hands.compare_points(PUNTER_HAND_ID, BANK_SPOT)
        for bet in (Bet(BANK_SPOT, coup.covered_credits, coup.bank_seat), *coup.covered_bets):
            yield self._settle(bet, result)
        display = round_hands.to_json() | {"result": {1: PUNTER_HAND_ID, 0: "tie", -1: BANK_SPOT}[result]}
        shoe_after = build_table_after_round(shoe_rules, shoe, self.table_state) or {}
        return Outcome(
            display=display,
            table_state={**shoe_after, BANK_SPOT: self._find_turn_after(coup, result).to_json()},
        )

    def _settle(self, bet: Bet, result: int) -> Settlement:
        """Return the settlement of a bet; ``result`` is 1, 0 or -1 if the bank loses, ties or wins."""
        if not result:
            return settle_push(bet)
        if bet.spot != BANK_SPOT:
            return settle_bet(bet, self.definition.stake.odds if result > 0 else None)
        if result > 0:
            return settle_bet(bet, None)
        commission = self.definition.bank.compute_commission(bet.credits)
        settlement = settle_bet(bet, self.definition.bank.odds)
        detail = {"levy": commission} if commission else {}
        return replace(settlement, credits=settlement.credits - commission, detail=detail)

    def _find_turn_after(self, coup: CheminCoup, result: int) -> BankHoldingTurn:
        """Return which seat may hold the bank after a round, and the minimum of its bank.

        The same seat keeps the bank until it loses. After a win its bank doubles, less the commission.
        """
        if result > 0:
            return BankHoldingTurn((coup.bank_seat + 1) % self.definition.table.seat_count)
        bank, limits = self.definition.bank, self.definition.bank.limits
        bank_min = (
            2 * coup.covered_credits - bank.compute_commission(coup.covered_credits)
            if result
            else coup.covered_credits
        )
        bank_min = min(max(bank_min, limits.bet_min), limits.bet_max)
        return BankHoldingTurn(coup.bank_seat, bank_min, coup.banco_caller_seat if result else None)

    # ------------------------------------------------------------------ figures
    def iter_cases(self, wager: Wager) -> Iterable[WeightedResult]:
        """Return every possible result of a wager that is fully covered, from a fresh shoe."""
        stakes = {bet.spot: bet.credits for bet in wager.bets}
        return self._iter_cases(stakes, self._find_best_option())

    def find_highest_round_return(self, wager: Wager) -> int:
        """Return the most credits that a round can return to one seat, whether it holds the bank or bets against it.

        An offer to cover the bank alone (*banco*) is accepted only if the bank is at most twice its amount. Then
        at most an equal amount of the seat's ordinary bet is covered. If the offer is not accepted, it is returned, and
        the whole ordinary bet may be covered.
        """
        stakes = {bet.spot: bet.credits for bet in wager.bets}
        bank, banco, stake = (stakes.get(name, 0) for name in (BANK_SPOT, BANCO_SPOT, STAKE_SPOT))
        win_as_bank = bank - self.definition.bank.compute_commission(bank)
        return wager.credits + max(win_as_bank, stake, banco + min(banco, stake))

    def _iter_cases(self, stakes: Mapping[str, int], option: str) -> Iterator[WeightedResult]:
        """Yield one weighted case for a win, a tie and a loss; ``option`` is ``draw`` or ``stand`` on five points.

        A seat with a bet on the bank holds it, and its other bets are returned.
        """
        main_spot = BANK_SPOT if BANK_SPOT in stakes else BANCO_SPOT if BANCO_SPOT in stakes else STAKE_SPOT
        for result, chance in _compute_result_chances(self.definition.shoe.deck_count)[option].items():
            bets = [Bet(spot, credits_) for spot, credits_ in stakes.items()]
            yield WeightedResult(
                chance,
                [
                    self._settle(bet, result)
                    if bet.spot == main_spot
                    else settle_push(bet, NOT_COVERED_SETTLEMENT_NAME)
                    for bet in bets
                ],
            )

    def _find_best_option(self) -> str:
        """Return whether drawing or standing on five points wins more against the bank, from a fresh shoe."""
        chances = _compute_result_chances(self.definition.shoe.deck_count)
        return max((DRAW_OPTION, STAND_OPTION), key=lambda option: chances[option][1] - chances[option][-1])

    def analyse_stakes(self, bet_name: str, stakes: Mapping[str, int], depth: AnalysisDepth) -> BetAnalysis:
        """Return the figures of a fully covered bet for the best, the simplest and the worst play with five points.

        The bank has no choice: its figures are those against the best play. The figures name, as ``options``, the
        bets of a sample round that covers the bet with as few seats as possible.
        """
        wager = Wager(sum(stakes.values()), {"bets": dict(stakes)})
        figures = super().analyse_stakes(bet_name, stakes, depth)
        seats = self._build_sample_seats(stakes)
        own_seat = 0 if BANK_SPOT in stakes else 1
        options = {
            "bets": dict(stakes),
            "seat": own_seat,
            "others": {str(n): bets for n, bets in seats.items()},
        }
        figures = replace(
            figures,
            options=options,
            table={BANK_SPOT: BankHoldingTurn().to_json()},
            is_covered_by_players=True,
        )
        if BANK_SPOT in stakes:
            return figures
        return_by_option = {
            option: compute_mean_return(wager, self._iter_cases(stakes, option))
            for option in (DRAW_OPTION, STAND_OPTION)
        }
        return replace(
            figures,
            strategy=f"{self._find_best_option()} at five",
            simplest_strategy="draw at five",
            simplest_rtp=return_by_option[DRAW_OPTION],
            worst_rtp=min(return_by_option.values()),
        )

    def _build_sample_seats(self, stakes: Mapping[str, int]) -> dict[int, dict[str, int]]:
        """Return example bets of other seats, by seat and spot, that fully cover these stakes."""
        bank, stake = self.definition.bank.limits, self.definition.stake.limits
        smallest_bet = {STAKE_SPOT: stake.bet_min}
        if BANK_SPOT in stakes:
            return {1: {BANCO_SPOT: stakes[BANK_SPOT]}, 2: smallest_bet, 3: smallest_bet}
        held_credits = max(stakes.get(BANCO_SPOT, stakes.get(STAKE_SPOT, 0)), bank.bet_min)
        return {0: {BANK_SPOT: held_credits}, 2: smallest_bet, 3: smallest_bet}


# ---------------------------------------------------------------------------------- exact figures, from a fresh shoe
@cache
def _compute_result_chances(deck_count: int) -> Mapping[str, Mapping[int, Fraction]]:
    """Return the chances that the punter's hand beats the bank (1), ties (0) or loses (-1), from a fresh shoe.

    The outer key is what that hand does with five points: ``draw`` or ``stand``.
    """
    chances_by_option: dict[str, dict[int, Fraction]] = {}
    for option, stand_points_min in (
        (DRAW_OPTION, _FREE_CHOICE_POINTS + 1),
        (STAND_OPTION, _FREE_CHOICE_POINTS),
    ):
        chances = dict.fromkeys((1, 0, -1), Fraction(0))
        for coup, chance in compute_coup_chances(deck_count, stand_points_min).items():
            chances[{"player": 1, "tie": 0, "bank": -1}[coup.winner]] += chance
        chances_by_option[option] = chances
    return chances_by_option


FAMILY = build_bank_family(
    CheminDefinition,
    CheminRules,
    counted_cases=f"{FRESH_SHOE_DEALS}, for two players who bet against each other",
)
