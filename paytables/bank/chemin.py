"""Chemin de fer (Monaco, arrêté 88-384, art. 11): the players hold the bank in turn, and bet against each other.

A seat offers to hold the bank by a bet on it. The first seat in turn that offers holds the bank, and keeps it
in later rounds until the bank loses, or until its offer ends or is less than the bank must be (art. 11.4,
11.8). The other seats stake against the bank, or offer to cover it alone: *banco* (art. 11.4). When betting
closes, a *banco* that covers half of the bank or more is accepted first: that of the player who may follow
from the round before, then the first in turn. After it the stakes are accepted in turn. Stakes that the bank
does not cover, and the part of the bank that no stake covers, are returned before a card is dealt. The bank
is paid its win less the levy, which the house keeps (art. 11.7), and the players are paid their wins. The
state of the table names the seat whose turn the bank is, so that a seat must be the same player position in
every round.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from paytables.analysis import BetAnalysis, Depth
from paytables.bank.baccarat import BANK_DRAWS, NATURAL, POINTS, compute_coup_chances, count_points
from paytables.bank.dealing import ShoeRules, build_table_after_round, open_shoe, read_shoe
from paytables.bank.held_hands import DRAW, STAND, HeldHands
from paytables.bank.rules import BANK as BANK_NAMES
from paytables.bank.rules import BankRules, Hands, build_bank_family
from paytables.bank.schema import BankBet, BankDefinition
from paytables.cards.card import rank_of
from paytables.contract import Bet, Decision, Draw, Outcome, Play, Settlement, Wager
from paytables.definition import PositiveInt
from paytables.errors import RefusedRoundError
from paytables.layout import Case, compute_mean_return, push_bet, settle_bet
from paytables.seating import SeatedRules, ask_whether_all_staked, may_see

#: The id of the bet to hold the bank, and of the bank's hand.
BANK: Final = "bank"
#: The id of the bet that covers the bank alone.
BANCO: Final = "banco"
#: The id of the bet against the bank.
STAKE: Final = "stake"
#: The id of the hand against the bank.
HAND: Final = "player"
#: The name of that hand, by language.
PUNTER: Final[Mapping[str, str]] = {"en": "Punter", "fr": "Ponte"}
#: Players without whom no round is played (art. 11.1).
SEATS_MIN: Final = 4
#: The points at which the holder of the hand chooses to draw or stand.
_FREE: Final = 5
#: The result of a stake that is returned because the bank does not cover it.
NOT_COVERED: Final = "not covered"


class CheminShoe(ShoeRules):
    """The shoe of chemin de fer (``[shoe]``): six or seven cards lie behind the stop card (art. 11.2)."""

    decks: Annotated[int, Field(strict=True, ge=1, le=8)] = 6
    stop: Literal[6, 7] = Field(default=7, description="cards behind the stop card")
    rounds: Literal[1] = 1


class HeldBank(BankBet):
    """The bank that a player holds, as a bet that covers the other players' bets.

    The house takes a levy on its win (art. 11.7).
    """

    percent: PositiveInt = Field(default=5, le=100, description="the levy on what the bank wins")

    def compute_commission(self, credits_: int) -> int:
        """Return the levy, in whole credits rounded down, on a bank that wins ``credits_``."""
        return credits_ * self.percent // 100

    def describe_pay(self) -> Mapping[str, str]:
        """Return, by language, the text that says what the bank wins after the levy."""
        return {
            "en": f"{self.pays.text}, less {self.percent}% of what it wins",
            "fr": f"{self.pays.text}, moins {self.percent} % de ce qu'elle gagne",
        }


class CheminDefinition(BankDefinition):
    """The definition of a game of chemin de fer."""

    shoe: CheminShoe = CheminShoe()
    bank: HeldBank
    """The bet of the player who holds the bank."""
    banco: BankBet
    """The bet of a player who covers the whole bank alone."""
    stake: BankBet
    """The bet of a player who covers a part of the bank."""

    @model_validator(mode="after")
    def _check_bets_and_seats(self) -> Self:
        """Refuse too few seats, several denominations, and a bet with a wrong id or odds other than even money."""
        if self.table.seats < SEATS_MIN:
            raise ValueError(f"table.seats: {SEATS_MIN} or more, not {self.table.seats}")
        if len(self.game.denominations_cents) > 1:
            raise ValueError(
                "game.denominations_cents: only one is allowed, because the players' credits cover each other"
            )
        for name in (BANK, BANCO, STAKE):
            bet: BankBet = getattr(self, name)
            if bet.id != name or bet.pays.net != 1:
                raise ValueError(f"{name}: its id is {name!r}, and it pays even money")
        return self

    def format_pay_table_rows(self) -> Mapping[str, Sequence[str]]:
        """Return what each bet pays and the number of decks, as text by language."""
        bets = (self.bank, self.banco, self.stake)
        return {
            code: [
                *(
                    f"{getattr(bet.name, code)} - {(bet.describe_pay() or {}).get(code, bet.pays.text)}"
                    for bet in bets
                ),
                self.shoe.format_deck_line(code),
            ]
            for code in ("en", "fr")
        }


@dataclass(frozen=True, slots=True)
class Turn:
    """Whose turn it is to hold the bank, stored in the table state between rounds.

    ``seat`` may hold it next.
    """

    seat: int = 0
    least: int = 0
    """Credits that the bank must be if ``seat`` holds it again (art. 11.8); 0 if this seat did not hold it before."""
    follower: int | None = None
    """The seat that may cover the whole bank first, because its *banco* lost the last round (art. 11.4)."""

    def to_json(self) -> dict[str, object]:
        """Return the turn as the table state stores it."""
        follower = {} if self.follower is None else {"follower": self.follower}
        return {"seat": self.seat, **({"least": self.least} if self.least else {}), **follower}

    @classmethod
    def from_json(cls, data: object, seats: int, most: int) -> Self:
        """Return the turn stored in a table state. Raises ValueError for a state that no round can leave.

        ``seats`` is the number of seats, and ``most`` the highest permitted bank in credits.
        """
        if not isinstance(data, Mapping) or "seat" not in data or set(data) - {"seat", "least", "follower"}:
            raise ValueError(f"no round leaves the bank as {data!r}")
        seat, least, follower = data["seat"], data.get("least", 0), data.get("follower")
        known = [number for number in (seat, follower) if number is not None]
        if not all(type(number) is int and number in range(seats) for number in known) or seat is None:
            raise ValueError(f"the bank: there is no such seat in {data!r}")
        if type(least) is not int or not 0 <= least <= most or (follower is not None and not least):
            raise ValueError(f"no round leaves the bank as {data!r}")
        if follower == seat:
            raise ValueError(f"seat {seat} cannot follow its own bank")
        return cls(seat, least, follower)


@dataclass(frozen=True, slots=True)
class Coup:
    """One round of chemin de fer after betting closes: who plays, which bets are covered, and what is returned."""

    banker: int
    """The seat that holds the bank."""
    banco: int
    """The part of the bank, in credits, that the other players' bets cover."""
    holder: int
    """The seat that holds the hand against the bank (art. 11.5)."""
    caller: int | None
    """The seat whose offer to cover the bank alone (*banco*) was accepted; None if none was."""
    played: tuple[Bet, ...]
    """The bets against the bank, each reduced to the part that the bank covers."""
    returned: tuple[Settlement, ...]
    """The settlements that return the bets, or parts of bets, that the bank does not cover."""


@dataclass(frozen=True)
class CheminRules(SeatedRules, BankRules[CheminDefinition]):
    """The rules of a playable game of chemin de fer; ``turn`` says which seat may hold the bank next."""

    turn: Turn = Turn()
    hands: ClassVar[Hands] = ((BANK, BANK_NAMES, 3), (HAND, PUNTER, 3))

    @property
    def seats_min(self) -> int:
        """Return the smallest number of players with which a round is played (art. 11.1)."""
        return SEATS_MIN

    @property
    def has_fixed_seats(self) -> bool:
        """Return True: the bank goes round, so a seat must be the same player position in every round."""
        return True

    @property
    def levy(self) -> Fraction:
        """Return the share of a winning bank that the house levies (art. 11.7)."""
        return Fraction(self.definition.bank.percent, 100)

    def list_bets(self) -> tuple[BankBet, ...]:
        """Return the bets of chemin de fer: hold the bank, cover the whole bank (*banco*), stake against the bank."""
        return (self.definition.bank, self.definition.banco, self.definition.stake)

    def describe_hands(self) -> list[dict[str, object]]:
        """Return, for the screen, the bank's hand and the hand against it; each is held by a seat."""
        return [{**hand, "held": True} for hand in super().describe_hands()]

    # ------------------------------------------------------------------ what lasts
    @property
    def shared_table_keys(self) -> frozenset[str]:
        """Return the table-state keys that all players share: the shoe, and the turn to hold the bank."""
        return frozenset({"shoe", BANK})

    def for_table(self, table: object) -> Self:
        """Return the rules with the shoe and the bank's turn from a stored table state.

        Raises ValueError for a state that no round can leave.
        """
        if table is None:
            return replace(self, table=None, turn=Turn())
        if not isinstance(table, dict) or not table or set(table) - {"shoe", BANK}:
            raise ValueError(f"no round of this table leaves {table!r}")
        shoe = {"shoe": table["shoe"]} if "shoe" in table else None
        if shoe is not None:
            read_shoe(self.definition.shoe, shoe)
        seats, most = self.definition.table.seats, self.definition.bank.limits.most
        turn = Turn.from_json(table[BANK], seats, most) if BANK in table else Turn()
        return replace(self, table=shoe, turn=turn)

    def build_current_view(self) -> Mapping[str, object]:
        """Return the seat that may hold the bank next and the least credits the bank must be, for the screen."""
        return {"bank": self.turn.seat, "banco": self.turn.least}

    # ------------------------------------------------------------------ as betting closes
    def combine_seat_wagers(self, wager: Wager, seat: int, others: Mapping[int, Wager]) -> Wager:
        """Return one seat's wager combined with the other seats' wagers for one round.

        Raises WagerError if no round can be played with these bets.
        """
        combined = super().combine_seat_wagers(wager, seat, others)
        if others:
            self.arrange((*combined.bets, *combined.others))
        return combined

    def arrange(self, bets: Sequence[Bet]) -> Coup:
        """Return which seats hold the bank and the hand against it, and the parts of the bets that are covered.

        Raises WagerError if no round can be played with these bets.
        """
        players = len({bet.seat for bet in bets})
        if players < SEATS_MIN:
            raise RefusedRoundError(
                "too_few_players",
                f"bets: chemin de fer is played by {SEATS_MIN} seats or more; {players} have bets",
                count=SEATS_MIN,
            )
        laid = {(bet.seat, bet.spot): bet.credits for bet in bets}
        banker, left_ = self._find_bank(laid)
        order = self._list_seats_from(banker + 1)[:-1]
        caller = self._find_caller(laid, banker, left_, order)
        covered = {(banker, BANK): 0}
        for where in ([] if caller is None else [(caller, BANCO)]) + [(seat, STAKE) for seat in order]:
            part = min(laid.get(where, 0), left_)
            covered[where] = part
            left_ -= part
        banco = sum(covered.values())
        if not banco:
            raise RefusedRoundError("bank_not_covered", "bets: nobody bets against the bank")
        covered[banker, BANK] = banco
        played = tuple(
            Bet(spot, credits_, seat)
            for (seat, spot), credits_ in covered.items()
            if credits_ and spot != BANK
        )
        largest = max(played, key=lambda bet: bet.credits)
        returned = tuple(
            Settlement(NOT_COVERED, rest, spot=spot, staked=rest, seat=seat)
            for (seat, spot), credits_ in laid.items()
            if (rest := credits_ - covered.get((seat, spot), 0))
        )
        return Coup(banker, banco, largest.seat if caller is None else caller, caller, played, returned)

    def _list_seats_from(self, first: int) -> list[int]:
        """Return every seat of the table in turn, starting with ``first``."""
        seats = self.definition.table.seats
        return [(first + n) % seats for n in range(seats)]

    def _find_bank(self, laid: Mapping[tuple[int, str], int]) -> tuple[int, int]:
        """Return the seat that holds the bank, and the bank in credits. Raises WagerError if no seat offers it."""
        for seat in self._list_seats_from(self.turn.seat):
            offered = laid.get((seat, BANK), 0)
            holds_again = seat == self.turn.seat and self.turn.least > 0
            if holds_again and offered >= self.turn.least:
                return seat, self.turn.least
            if offered and not holds_again:
                return seat, offered
        raise RefusedRoundError("no_bank", "bets: no seat holds the bank")

    def _find_caller(
        self, laid: Mapping[tuple[int, str], int], banker: int, bank: int, order: Sequence[int]
    ) -> int | None:
        """Return the seat that covers the bank alone (*banco*), or None; its offer must be half the bank or more.

        The seat that may follow from the last round comes first, then the seats in turn (``order``).
        """
        follows = self.turn.follower if banker == self.turn.seat else None
        in_turn = sorted(order, key=lambda seat: seat != follows)
        return next((seat for seat in in_turn if 2 * laid.get((seat, BANCO), 0) >= bank), None)

    # ------------------------------------------------------------------ a round
    def play_seats(self, bets: Sequence[Bet], draw: Draw, viewer: int | None) -> Play:
        """Play a round: return what is not covered, deal both hands, draw third cards, and settle.

        Raises WagerError if no round can be played with these bets.
        """
        coup, rules = self.arrange(bets), self.definition.shoe
        felt = HeldHands({BANK: coup.banker, HAND: coup.holder}, viewer, count_points, face_down=2)
        if not (yield from ask_whether_all_staked(felt.to_json(), viewer)):
            yield from (push_bet(bet, NOT_COVERED) for bet in bets)
            shoe_before = self.table if isinstance(self.table, Mapping) else {}
            return Outcome(display=felt.to_json(), table={**shoe_before, BANK: self.turn.to_json()})
        shoe, cues = open_shoe(rules, self.table, draw)
        yield from cues
        yield from coup.returned
        for name in (HAND, BANK, HAND, BANK):
            yield felt.deal(name, shoe, draw)
        points, banks = felt.count_points(HAND), felt.count_points(BANK)
        is_over, third = max(points, banks) >= NATURAL, None
        if points == _FREE and not is_over:
            prompt = felt.to_json() | {"hand": HAND}
            if may_see(coup.holder, viewer):
                prompt["advice"] = self._find_best_answer()
            decision = Decision("chemin-de-fer", (DRAW, STAND), prompt, seat=coup.holder)
            is_drawing = decision.check((yield decision)) == DRAW
        else:
            is_drawing = points < _FREE and not is_over
        yield from felt.turn(BANK, HAND)
        if is_drawing:
            yield felt.deal(HAND, shoe, draw)
            third = POINTS[rank_of(felt.cards[HAND][2])]
        if not is_over and third in BANK_DRAWS[banks]:
            yield felt.deal(BANK, shoe, draw)
        result = felt.compare(HAND, BANK)
        for bet in (Bet(BANK, coup.banco, coup.banker), *coup.played):
            yield self._settle(bet, result)
        display = felt.to_json() | {"result": {1: HAND, 0: "tie", -1: BANK}[result]}
        shoe_after = build_table_after_round(rules, shoe, self.table) or {}
        return Outcome(
            display=display, table={**shoe_after, BANK: self._find_turn_after(coup, result).to_json()}
        )

    def _settle(self, bet: Bet, result: int) -> Settlement:
        """Return the settlement of a bet; ``result`` is 1 if the hand beats the bank, 0 if they tie, -1 if it loses."""
        if not result:
            return push_bet(bet)
        if bet.spot != BANK:
            return settle_bet(bet, self.definition.stake.pays if result > 0 else None)
        if result > 0:
            return settle_bet(bet, None)
        levy = self.definition.bank.compute_commission(bet.credits)
        won = settle_bet(bet, self.definition.bank.pays)
        return replace(won, credits=won.credits - levy, detail={"levy": levy} if levy else {})

    def _find_turn_after(self, coup: Coup, result: int) -> Turn:
        """Return which seat may hold the bank after a round, and how large its bank must be.

        The same seat keeps the bank until it loses. After a win its bank doubles, less the levy.
        """
        if result > 0:
            return Turn((coup.banker + 1) % self.definition.table.seats)
        bank, limits = self.definition.bank, self.definition.bank.limits
        least = 2 * coup.banco - bank.compute_commission(coup.banco) if result else coup.banco
        least = min(max(least, limits.least), limits.most)
        return Turn(coup.banker, least, coup.caller if result else None)

    # ------------------------------------------------------------------ figures
    def iter_cases(self, wager: Wager) -> Iterable[Case]:
        """Return every possible result of a wager that is fully covered, from a fresh shoe."""
        stakes = {bet.spot: bet.credits for bet in wager.bets}
        return self._iter_cases(stakes, self._find_best_answer())

    def find_highest_round_return(self, wager: Wager) -> int:
        """Return the most credits that a round can return to one seat, whether it holds the bank or bets against it.

        A banco is taken of at most twice its amount as the bank, so that the same amount of the stake is
        covered. If it is not taken, it is returned, and all of the stake may be covered.
        """
        stakes = {bet.spot: bet.credits for bet in wager.bets}
        bank, banco, stake = (stakes.get(name, 0) for name in (BANK, BANCO, STAKE))
        as_bank = bank - self.definition.bank.compute_commission(bank)
        return wager.credits + max(as_bank, stake, banco + min(banco, stake))

    def _iter_cases(self, stakes: Mapping[str, int], answer: str) -> Iterator[Case]:
        """Yield one weighted case for a win, a tie and a loss; ``answer`` is ``draw`` or ``stand`` on five points.

        A seat with a bet on the bank holds it, and its other bets are returned.
        """
        main = BANK if BANK in stakes else BANCO if BANCO in stakes else STAKE
        for result, chance in _compute_result_chances(self.definition.shoe.decks)[answer].items():
            bets = [Bet(spot, credits_) for spot, credits_ in stakes.items()]
            yield Case(
                chance,
                [
                    self._settle(bet, result) if bet.spot == main else push_bet(bet, NOT_COVERED)
                    for bet in bets
                ],
            )

    def _find_best_answer(self) -> str:
        """Return whether drawing or standing on five points wins more against the bank, from a fresh shoe."""
        chances = _compute_result_chances(self.definition.shoe.decks)
        return max((DRAW, STAND), key=lambda answer: chances[answer][1] - chances[answer][-1])

    def analyse_stakes(self, name: str, stakes: Mapping[str, int], depth: Depth) -> BetAnalysis:
        """Return the figures of a fully covered bet for the best, the simplest and the worst play of five points.

        The bank has no choice: its figures are those against the best play. The options are those of a round
        with the least number of seats, in which the bet is covered.
        """
        wager = Wager(sum(stakes.values()), {"bets": dict(stakes)})
        found = super().analyse_stakes(name, stakes, depth)
        seats = self._build_sample_seats(stakes)
        own = 0 if BANK in stakes else 1
        options = {"bets": dict(stakes), "seat": own, "others": {str(n): bets for n, bets in seats.items()}}
        found = replace(found, options=options, table={BANK: Turn().to_json()}, is_covered_by_players=True)
        if BANK in stakes:
            return found
        returns = {
            answer: compute_mean_return(wager, self._iter_cases(stakes, answer)) for answer in (DRAW, STAND)
        }
        return replace(
            found,
            strategy=f"{self._find_best_answer()} at five",
            simplest_strategy="draw at five",
            simplest_rtp=returns[DRAW],
            worst_rtp=min(returns.values()),
        )

    def _build_sample_seats(self, stakes: Mapping[str, int]) -> dict[int, dict[str, int]]:
        """Return example bets of other seats, by seat and spot, with which these stakes are fully covered."""
        bank, stake = self.definition.bank.limits, self.definition.stake.limits
        least = {STAKE: stake.least}
        if BANK in stakes:
            return {1: {BANCO: stakes[BANK]}, 2: least, 3: least}
        held = max(stakes.get(BANCO, stakes.get(STAKE, 0)), bank.least)
        return {0: {BANK: held}, 2: least, 3: least}


# ---------------------------------------------------------------------------------- exact, of a fresh shoe
@cache
def _compute_result_chances(decks: int) -> Mapping[str, Mapping[int, Fraction]]:
    """Return the chances that the hand beats the bank (1), ties (0) or loses (-1), if it draws or stands on five.

    The outer key is the play of five points: ``draw`` or ``stand``.
    """
    found: dict[str, dict[int, Fraction]] = {}
    for answer, least_standing_points in ((DRAW, _FREE + 1), (STAND, _FREE)):
        chances = dict.fromkeys((1, 0, -1), Fraction(0))
        for coup, chance in compute_coup_chances(decks, least_standing_points).items():
            chances[{"player": 1, "tie": 0, "bank": -1}[coup.winner]] += chance
        found[answer] = chances
    return found


FAMILY = build_bank_family(CheminDefinition, CheminRules)
