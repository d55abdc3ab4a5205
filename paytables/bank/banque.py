"""Banque à tout va (Monaco, arrêté 88-384, art. 12): a banker's hand against two hands, each called a tableau.

The machine is the banker. Players bet on either tableau, or *à cheval* on both. The hand of a tableau is held by
the first seat, by its number, that bets on it alone, otherwise by the first that bets à cheval; at five points
that seat decides whether a third card is drawn, for everyone who bets on the tableau. Points count as in baccarat.

Where the order leaves a choice, this implementation does the following: a hand that nobody holds is dealt and
draws at five; the banker draws by the definition's table (art. 12.84 leaves it to the banker), and a banker's eight
or nine does not stop the third cards of the hands that must draw or have asked for one (art. 12.83, 12.84).
"""

from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations_with_replacement, product
from math import perm
from typing import Annotated, ClassVar, Final, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from paytables.analysis import AnalysisDepth, BetAnalysis
from paytables.bank.baccarat import CARD_POINTS_BY_RANK, NATURAL_POINTS_MIN, count_points
from paytables.bank.dealing import ShoeRules, build_table_after_round, open_shoe
from paytables.bank.rules import BANK_NAMES, BankRules, HandDescriptions, build_bank_family
from paytables.bank.schema import BankBet, BankDefinition
from paytables.bank.seat_hands import DRAW_OPTION, STAND_OPTION, RoundHands
from paytables.cards.card import get_rank
from paytables.contract import Bet, Choice, Cue, Decision, DrawSource, Outcome, RoundEvents, Settlement, Wager
from paytables.definition import StrictTable
from paytables.layout import Odds, WeightedResult, compute_mean_return, settle_bet, settle_push
from paytables.seating import SeatedRules, can_see_seat_cards

#: The ids of the bets and hands of the two tableaux.
TABLEAU_IDS: Final = ("tableau-1", "tableau-2")
#: The id of the bet on both tableaux.
BOTH_TABLEAUX_BET_ID: Final = "both"
#: The id of the banker's hand.
_BANKER_HAND_ID: Final = "bank"
#: The most cards of a round: three hands of three. The last round of a shoe needs as many (art. 12.10).
ROUND_CARDS_MAX: Final = 9
#: The points at which the holder of a tableau's hand chooses to draw or stand.
_FREE_CHOICE_POINTS: Final = 5
#: The sign of a hand that stood, among the third cards in a banker's drawing table.
_NO_THIRD_CARD: Final = "-"
#: The signs of all third cards in a banker's drawing table.
_THIRD_CARD_SIGNS: Final = _NO_THIRD_CARD + "0123456789"

#: The choices to draw or stand at five points, one for each tableau.
DrawChoices: TypeAlias = tuple[str, str]
#: Every combination of these choices.
ALL_DRAW_CHOICES: Final[tuple[DrawChoices, ...]] = (
    (DRAW_OPTION, DRAW_OPTION),
    (DRAW_OPTION, STAND_OPTION),
    (STAND_OPTION, DRAW_OPTION),
    (STAND_OPTION, STAND_OPTION),
)
#: The points of the two tableaux.
_TableauPoints: TypeAlias = tuple[int, int]
#: How the tableaux compare with the banker: 1 wins, 0 ties, -1 loses.
TableauResults: TypeAlias = tuple[int, int]
#: The third cards, by points, against which a banker draws, for each number of points.
BankerDrawTable: TypeAlias = tuple[str, ...]


class BanqueShoe(ShoeRules):
    """The shoe of banque à tout va (``[shoe]``): nine or ten cards lie behind the stop card (art. 12.5).

    If the stop card has appeared and nine cards or more are left, one last round is dealt (art. 12.10).
    """

    deck_count: Annotated[int, Field(strict=True, ge=1, le=8)] = Field(default=6, alias="decks")
    """The number of decks in the shoe."""
    cards_behind_stop_card: Literal[9, 10] = Field(
        default=10, description="cards behind the stop card", alias="stop"
    )
    """The number of cards behind the stop card."""
    rounds_per_shuffle: Literal[1] = Field(default=1, alias="rounds")

    @property
    def cards_left_min(self) -> int:
        """Return how many cards must be left in the shoe for another round: as many as the longest round needs."""
        return ROUND_CARDS_MAX


class BankerRules(StrictTable):
    """The banker's drawing table (``[banker]``), which art. 12.84 leaves to the banker.

    The banker has one hand against two tableaux.
    """

    deciding_cards_by_points: dict[
        Annotated[int, Field(ge=0, le=9)], Annotated[str, Field(pattern=r"^[-0-9]*$")]
    ] = Field(alias="draws")
    """The third cards of a tableau against which the banker draws, by the banker's points; ``-``: no third card."""
    required_tableaux: Literal["either", "both"] = Field(default="either", alias="against")
    """``either``: one tableau with such a third card makes the banker draw; ``both``: both must have one."""

    @property
    def draw_table(self) -> BankerDrawTable:
        """Return, by the banker's points (0 to 9), the third cards of a tableau against which the banker draws."""
        return tuple(self.deciding_cards_by_points.get(points, "") for points in range(10))

    def should_draw(self, points: int, third_cards: Iterable[int | None]) -> bool:
        """Return whether the banker, with ``points``, draws a third card.

        ``third_cards`` are the points of the two tableaux' third cards, None for a tableau that stood.
        """
        return _should_banker_draw(self.draw_table[points], self.required_tableaux, third_cards)

    def format_drawing_rules(self, language: str) -> list[str]:
        """Return the help text's lines on when the banker draws a third card, in one language."""
        lines: list[str] = []
        texts = _BANKER_TEXTS[language]
        for cards in dict.fromkeys(self.draw_table):
            points = [n for n in range(10) if self.draw_table[n] == cards]
            key = "always" if set(cards) == set(_THIRD_CARD_SIGNS) else "some" if cards else "never"
            card_ranges = _format_ranges(cards)
            card_texts = [texts["stood"]] * (_NO_THIRD_CARD in cards) + [
                texts["third"].format(card_ranges)
            ] * bool(card_ranges)
            lines.append(
                texts[key].format(_format_ranges("".join(map(str, points))), texts["or"].join(card_texts))
            )
        return [*lines, texts[self.required_tableaux]]


def _should_banker_draw(
    deciding_cards: str, required_tableaux: str, third_cards: Iterable[int | None]
) -> bool:
    """Return whether the tableaux' third cards make the banker draw.

    ``deciding_cards`` are the third cards against which the banker draws, for the banker's present points. With
    ``required_tableaux`` = ``either`` one tableau with such a card is enough; otherwise both tableaux must have one.
    """
    tableau_calls_for_card = [
        (_NO_THIRD_CARD if third is None else str(third)) in deciding_cards for third in third_cards
    ]
    return any(tableau_calls_for_card) if required_tableaux == "either" else all(tableau_calls_for_card)


#: The texts of the banker's rule, by language.
_BANKER_TEXTS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "always": "Banker with {0}: draws",
        "some": "Banker with {0}: draws against {1}",
        "never": "Banker with {0}: stands",
        "stood": "no third card",
        "third": "a third card of {0}",
        "or": " or ",
        "either": "It is enough that the table says so against one of the tableaux.",
        "both": "The table must say so against both tableaux.",
    },
    "fr": {
        "always": "Banquier à {0} : tire",
        "some": "Banquier à {0} : tire contre {1}",
        "never": "Banquier à {0} : reste",
        "stood": "aucune troisième carte",
        "third": "une troisième carte de {0}",
        "or": " ou ",
        "either": "Il suffit que le tableau de tirage le dise contre l'un des deux tableaux.",
        "both": "Le tableau de tirage doit le dire contre les deux tableaux.",
    },
}


def _format_ranges(digits: str) -> str:
    """Return digits as text, with a dash for three or more in sequence: ``0-7, 9``."""
    digit_groups: list[list[int]] = []
    for n in sorted(int(digit) for digit in digits if digit != _NO_THIRD_CARD):
        if digit_groups and n == digit_groups[-1][-1] + 1:
            digit_groups[-1].append(n)
        else:
            digit_groups.append([n])
    parts = [
        f"{digit_group[0]}-{digit_group[-1]}" if len(digit_group) > 2 else ", ".join(map(str, digit_group))
        for digit_group in digit_groups
    ]
    return ", ".join(parts)


class BanqueBet(BankBet):
    """A bet on one tableau, or *à cheval* on both (art. 12.7): half of the stake is decided by each (art. 12.9)."""

    tableau: Literal["tableau-1", "tableau-2", "both"] = Field(alias="on")
    """The tableau (one of the two player hands) that the bet is on, or ``both``."""

    def list_every_pay(self) -> tuple[Odds, ...]:
        """Return all the odds that this bet may pay; a bet à cheval may also be paid on half of its stake."""
        half = (Odds(self.odds.text, self.odds.net / 2), Odds(self.odds.text, Fraction(1, 2)))
        return (self.odds, *half) if self.tableau == BOTH_TABLEAUX_BET_ID else (self.odds,)

    def describe_pay(self) -> Mapping[str, str] | None:
        """Return, by language, what a bet à cheval pays and loses; None for a bet on one tableau."""
        if self.tableau != BOTH_TABLEAUX_BET_ID:
            return None
        return {language: text.format(self.odds.text) for language, text in _BOTH_TABLEAUX_PAY_TEXTS.items()}


#: The text of what the bet on both tableaux pays, by language.
_BOTH_TABLEAUX_PAY_TEXTS: Final = {
    "en": (
        "half on each tableau: {0} if both win, half of that if one wins and the other ties; half is lost if one "
        "loses and the other ties; one won and one lost: returned"
    ),
    "fr": (
        "moitié sur chaque tableau : {0} si les deux gagnent, la moitié si l'un gagne et l'autre fait égalité ; "
        "moitié perdue si l'un perd et l'autre fait égalité ; un gagné, un perdu : rendue"
    ),
}


class BanqueDefinition(BankDefinition):
    """The definition of a game of banque à tout va."""

    shoe: BanqueShoe = BanqueShoe()
    banker_rules: BankerRules = Field(alias="banker")
    """The banker's drawing table."""
    bets: Annotated[tuple[BanqueBet, ...], Field(min_length=1)] = Field(alias="bet")
    """The bets that the game offers."""

    @model_validator(mode="after")
    def _check_one_bet_each(self) -> Self:
        """Refuse two bets on the same tableau, and two bets à cheval."""
        bet_tableaux = [bet.tableau for bet in self.bets]
        if len(set(bet_tableaux)) < len(bet_tableaux):
            raise ValueError("bet: only one bet may be on each tableau, and only one on both")
        return self

    def format_pay_table_rows(self) -> Mapping[str, Sequence[str]]:
        """Return what each bet pays, the banker's table and the number of decks, as text by language."""
        return {
            language: [
                *(
                    f"{getattr(bet.name, language)} - {(bet.describe_pay() or {}).get(language, bet.odds.text)}"
                    for bet in self.bets
                ),
                *self.banker_rules.format_drawing_rules(language),
                self.shoe.format_deck_line(language),
            ]
            for language in ("en", "fr")
        }


def settle_banque_bet(bet: Bet, bet_terms: BanqueBet, results: TableauResults) -> Settlement:
    """Return the settlement of a bet by each tableau's result against the banker (art. 12.9).

    ``results`` has 1 for a tableau that beats the banker, 0 for a tie and -1 for one that loses.
    """
    if bet_terms.tableau != BOTH_TABLEAUX_BET_ID:
        result = results[TABLEAU_IDS.index(bet_terms.tableau)]
        return settle_bet(bet, bet_terms.odds if result > 0 else None) if result else settle_push(bet)
    half_bet = replace(bet, credits=bet.credits // 2)
    returned_by_result = {
        1: bet_terms.odds.compute_total_return(half_bet.credits),
        0: half_bet.credits,
        -1: 0,
    }
    name = {2: "won", 1: "half won", 0: "push", -1: "half", -2: "lost"}[sum(results)]
    return Settlement(
        name,
        sum(returned_by_result[result] for result in results),
        spot=bet.spot,
        staked_credits=bet.credits,
        seat=bet.seat,
    )


class BanqueRules(SeatedRules, BankRules[BanqueDefinition]):
    """The rules of a playable game of banque à tout va."""

    hands: ClassVar[HandDescriptions] = (
        (_BANKER_HAND_ID, BANK_NAMES, 3),
        *((name, {"en": f"Tableau {n}", "fr": f"Tableau {n}"}, 3) for n, name in enumerate(TABLEAU_IDS, 1)),
    )

    def list_bets(self) -> tuple[BanqueBet, ...]:
        """Return every bet that this game offers."""
        return self.definition.bets

    @cached_property
    def _bet_by_id(self) -> dict[str, BanqueBet]:
        """Return the bets that the game offers, by their ids."""
        return {bet.id: bet for bet in self.definition.bets}

    def describe_hands(self) -> list[dict[str, object]]:
        """Return, for the screen, the banker's hand and the tableaux' hands, which seats may hold."""
        return [
            {**hand, "held": True} if hand["id"] in TABLEAU_IDS else hand for hand in super().describe_hands()
        ]

    # ------------------------------------------------------------------ one round
    def find_hand_holder(self, tableau: str, bets: Sequence[Bet]) -> int | None:
        """Return the seat that holds a tableau's hand, or None if no seat bets on the tableau.

        It is the first seat that bets on this tableau alone or, if there is none, the first that bets à cheval.
        """
        for tableau_name in (tableau, BOTH_TABLEAUX_BET_ID):
            seats = [bet.seat for bet in bets if self._bet_by_id[bet.spot].tableau == tableau_name]
            if seats:
                return min(seats)
        return None

    def play_seats(self, bets: Sequence[Bet], draw: DrawSource, viewer: int | None) -> RoundEvents:
        """Play a round: deal six cards, let the tableaux draw, turn and complete the banker's hand, and settle."""
        shoe_rules = self.definition.shoe
        shoe, cues = open_shoe(shoe_rules, self.table_state, draw)
        yield from cues
        holder_by_hand_id = {
            _BANKER_HAND_ID: None,
            **{name: self.find_hand_holder(name, bets) for name in TABLEAU_IDS},
        }
        round_hands = RoundHands(holder_by_hand_id, viewer, count_points, face_down_card_count=2)
        for name in (*TABLEAU_IDS, _BANKER_HAND_ID) * 2:
            yield round_hands.deal_card(name, shoe, draw)
        does_draw_by_tableau = {}
        for name in TABLEAU_IDS:
            does_draw_by_tableau[name] = yield from self._decide_draw(round_hands, name, bets)
        yield from round_hands.turn_face_up(_BANKER_HAND_ID)
        third_cards: list[int | None] = []
        for name in TABLEAU_IDS:
            if does_draw_by_tableau[name]:
                yield round_hands.deal_card(name, shoe, draw)
            third_cards.append(
                CARD_POINTS_BY_RANK[get_rank(round_hands.cards_by_hand_id[name][2])]
                if does_draw_by_tableau[name]
                else None
            )
        if self.definition.banker_rules.should_draw(round_hands.count_points(_BANKER_HAND_ID), third_cards):
            yield round_hands.deal_card(_BANKER_HAND_ID, shoe, draw)
        yield from round_hands.turn_face_up(*TABLEAU_IDS)
        results = (
            round_hands.compare_points(TABLEAU_IDS[0], _BANKER_HAND_ID),
            round_hands.compare_points(TABLEAU_IDS[1], _BANKER_HAND_ID),
        )
        for bet in bets:
            yield settle_banque_bet(bet, self._bet_by_id[bet.spot], results)
        display = round_hands.to_json() | {
            "result": "-".join(
                str(round_hands.count_points(name)) for name in (*TABLEAU_IDS, _BANKER_HAND_ID)
            )
        }
        if shoe_rules.cards_left_min <= shoe.cards_left <= shoe_rules.cards_behind_stop_card:
            display["last_of_shoe"] = True
        return Outcome(
            display=display, table_state=build_table_after_round(shoe_rules, shoe, self.table_state)
        )

    def _decide_draw(
        self, round_hands: RoundHands, tableau: str, bets: Sequence[Bet]
    ) -> Generator[Decision | Cue, Choice | None, bool]:
        """Return whether a tableau draws a third card; at five points, ask the seat that holds the tableau's hand.

        A hand of eight or nine points is turned face up first. A hand that no seat holds draws at five.
        """
        points, holder = round_hands.count_points(tableau), round_hands.holder_by_hand_id[tableau]
        if points >= NATURAL_POINTS_MIN:
            yield from round_hands.turn_face_up(tableau)
        if points != _FREE_CHOICE_POINTS or holder is None:
            return points <= _FREE_CHOICE_POINTS
        prompt = round_hands.to_json() | {"hand": tableau}
        if can_see_seat_cards(holder, round_hands.viewer):
            stakes = {bet.spot: bet.credits for bet in bets if bet.seat == holder}
            held_tableaux = [
                tableau_id
                for tableau_id in TABLEAU_IDS
                if round_hands.holder_by_hand_id[tableau_id] == holder
            ]
            prompt["advice"] = self.find_best_draw_choices(stakes, held_tableaux)[TABLEAU_IDS.index(tableau)]
        decision = Decision("banque", (DRAW_OPTION, STAND_OPTION), prompt, seat=holder)
        return bool(decision.get_chosen_option((yield decision)) == DRAW_OPTION)

    # ------------------------------------------------------------------ figures
    def iter_cases(self, wager: Wager) -> Iterable[WeightedResult]:
        """Return every possible result of a wager from a fresh shoe if the player decides best with five points."""
        stakes = {bet.spot: bet.credits for bet in wager.bets}
        return self._iter_cases(
            wager, self.find_best_draw_choices(stakes, self._list_staked_tableaux(stakes))
        )

    def iter_every_case(self, wager: Wager) -> Iterable[WeightedResult]:
        """Return every possible result of a wager, for each combination of drawing and standing on five points."""
        for draw_choices in ALL_DRAW_CHOICES:
            yield from self._iter_cases(wager, draw_choices)

    def _iter_cases(self, wager: Wager, draw_choices: DrawChoices) -> Iterator[WeightedResult]:
        """Yield one weighted case for each combination of the two tableaux' results against the banker.

        ``draw_choices`` are the choices to draw or stand on five points, one for each tableau.
        """
        banker, deck_count = self.definition.banker_rules, self.definition.shoe.deck_count
        for results, chance in _compute_result_chances(
            deck_count, banker.draw_table, banker.required_tableaux
        )[draw_choices].items():
            settlements = [settle_banque_bet(bet, self._bet_by_id[bet.spot], results) for bet in wager.bets]
            yield WeightedResult(chance, settlements)

    def _list_staked_tableaux(self, stakes: Collection[str]) -> list[str]:
        """Return the tableaux on which the seat has a bet, alone or à cheval; ``stakes`` are keyed by spot."""
        staked_tableaux = {self._bet_by_id[spot].tableau for spot in stakes}
        return [name for name in TABLEAU_IDS if staked_tableaux & {name, BOTH_TABLEAUX_BET_ID}]

    def _compute_returns_by_draw_choices(
        self, stakes: Mapping[str, int], held_tableaux: Collection[str]
    ) -> dict[DrawChoices, Fraction]:
        """Return a seat's mean return for each choice to draw or stand on five points at the tableaux that it holds.

        A tableau that is not in ``held_tableaux`` always draws at five.
        """
        wager = Wager(sum(stakes.values()), {"bets": dict(stakes)})
        return {
            draw_choices: compute_mean_return(wager, self._iter_cases(wager, draw_choices))
            for draw_choices in ALL_DRAW_CHOICES
            if all(
                choice == DRAW_OPTION or name in held_tableaux
                for name, choice in zip(TABLEAU_IDS, draw_choices, strict=True)
            )
        }

    def find_best_draw_choices(
        self, stakes: Mapping[str, int], held_tableaux: Collection[str]
    ) -> DrawChoices:
        """Return, for each tableau, whether to draw or stand on five points for the highest mean return of the stakes.

        ``stakes`` are one seat's credits by spot, and ``held_tableaux`` are the tableaux whose hands this seat holds.
        Any other tableau draws at five. The shoe is fresh.
        """
        return_by_choices = self._compute_returns_by_draw_choices(stakes, held_tableaux)
        return max(return_by_choices, key=lambda draw_choices: return_by_choices[draw_choices])

    def analyse_stakes(self, bet_name: str, stakes: Mapping[str, int], depth: AnalysisDepth) -> BetAnalysis:
        """Return a bet's figures for three ways to decide at five points: the best, the worst, and always to draw.

        A tableau without a stake draws at five, and so does one whose holder is absent or does not choose.
        """
        figures = super().analyse_stakes(bet_name, stakes, depth)
        return_by_choices = self._compute_returns_by_draw_choices(stakes, self._list_staked_tableaux(stakes))
        best_choices = max(return_by_choices, key=lambda draw_choices: return_by_choices[draw_choices])
        strategy = (
            best_choices[0]
            if len(set(best_choices)) == 1
            else f"{best_choices[0]} on tableau 1 and {best_choices[1]} on tableau 2"
        )
        return replace(
            figures,
            strategy=f"{strategy} at five",
            simplest_strategy="draw at five",
            simplest_rtp=return_by_choices[DRAW_OPTION, DRAW_OPTION],
            worst_rtp=min(return_by_choices.values()),
        )


# ---------------------------------------------------------------------------------- exact figures, from a fresh shoe
#: Bits for one count in a packed integer: no sum of the orders of nine cards needs more.
_PACKED_COUNT_BITS: Final = 96
#: Bits of a packed row of ten counts.
_PACKED_ROW_BITS: Final = 10 * _PACKED_COUNT_BITS
#: For first cards with the same totals: the number of their orders, and these times the remaining cards of each
#: point value, of each two and of each three values (packed).
_OrderSums: TypeAlias = tuple[int, int, int, int]


@cache
def _compute_result_chances(
    deck_count: int, draw_table: BankerDrawTable, required_tableaux: str
) -> Mapping[DrawChoices, Mapping[TableauResults, Fraction]]:
    """Return the probability of each pair of tableau results, by the choices to draw or stand on five points.

    A result is 1, 0 or -1 if the tableau beats, ties or loses to the banker. The shoe is fresh.
    """
    counts_by_choices: dict[DrawChoices, Counter[TableauResults]] = {
        draw_choices: Counter() for draw_choices in ALL_DRAW_CHOICES
    }
    cards_left = 52 * deck_count - 6
    for (tableau_points, bank_points), order_sums in _sum_first_card_orders(deck_count).items():
        counts_by_drawing: dict[tuple[bool, ...], Counter[TableauResults]] = {}
        for draw_choices, counts_by_results in counts_by_choices.items():
            tableau_draws = tuple(
                points < _FREE_CHOICE_POINTS or (points == _FREE_CHOICE_POINTS and choice == DRAW_OPTION)
                for points, choice in zip(tableau_points, draw_choices, strict=True)
            )
            if tableau_draws not in counts_by_drawing:
                counts_by_drawing[tableau_draws] = _count_results(
                    tableau_points,
                    bank_points,
                    tableau_draws,
                    order_sums,
                    draw_table[bank_points],
                    required_tableaux,
                    cards_left,
                )
            counts_by_results.update(counts_by_drawing[tableau_draws])
            if tableau_points[0] < tableau_points[1]:  # add the case with the tableaux exchanged
                mirrored = {
                    (second, first): ways
                    for (first, second), ways in counts_by_drawing[tableau_draws].items()
                }
                counts_by_choices[draw_choices[1], draw_choices[0]].update(mirrored)
    order_count = perm(52 * deck_count, ROUND_CARDS_MAX)
    return {
        draw_choices: {
            results: Fraction(ways, order_count) for results, ways in sorted(counts_by_results.items())
        }
        for draw_choices, counts_by_results in counts_by_choices.items()
    }


@cache
def _sum_first_card_orders(deck_count: int) -> Mapping[tuple[_TableauPoints, int], _OrderSums]:
    """Return the counts of orders of the first six cards, by the points of both tableaux and of the banker.

    The tableaux are alike, so only cases in which the first tableau has at most the points of the second are counted.
    """
    counts = [16 * deck_count, *([4 * deck_count] * 9)]
    # two cards: their points together, how many cards of each point value they are (three bits each), and their orders
    two_cards = [
        ((a + b) % 10, (1 << 3 * a) + (1 << 3 * b), 1 + (a != b))
        for a, b in combinations_with_replacement(range(10), 2)
    ]
    orders_by_packed_cards: dict[int, _OrderSums] = {}
    sums: dict[tuple[_TableauPoints, int], list[int]] = {}
    for (points_1, cards_1, orders_1), (points_2, cards_2, orders_2) in product(two_cards, two_cards):
        if points_1 > points_2:
            continue
        drawn_count_max = 1 + (points_1 <= _FREE_CHOICE_POINTS) + (points_2 <= _FREE_CHOICE_POINTS)
        for bank_points, bank_cards, bank_orders in two_cards:
            packed_cards = cards_1 + cards_2 + bank_cards
            if packed_cards not in orders_by_packed_cards:
                orders_by_packed_cards[packed_cards] = _count_first_card_orders(counts, packed_cards)
            order_sums = sums.setdefault(((points_1, points_2), bank_points), [0, 0, 0, 0])
            for drawn_count in range(drawn_count_max + 1):
                order_sums[drawn_count] += (
                    orders_1 * orders_2 * bank_orders * orders_by_packed_cards[packed_cards][drawn_count]
                )
    return {key: (a, b, c, d) for key, (a, b, c, d) in sums.items()}


def _count_first_card_orders(counts: Sequence[int], packed_cards: int) -> _OrderSums:
    """Return the number of ways to deal six given cards, and the ways to deal one, two or three cards after them.

    ``counts`` has the number of cards in the shoe by point value, ``packed_cards`` the number of given cards by point
    value (three bits each). The first result is a number. The other three are packed integers with a field for each
    point value, pair and triple of point values of the further cards, as if each further card were drawn from the same
    cards: equal values are corrected by :func:`_count_orders`.
    """
    ways, counts_left = 1, list(counts)
    for points, count in enumerate(counts):
        taken_count = packed_cards >> 3 * points & 7
        ways *= perm(count, taken_count)
        counts_left[points] -= taken_count
    # the fields a, 10 * b and 100 * c: the field a + 10 * b + 100 * c of the product is for cards of a, b and c points
    row, tens, hundreds = (
        sum(n << step * points for points, n in enumerate(counts_left))
        for step in (_PACKED_COUNT_BITS, _PACKED_ROW_BITS, 10 * _PACKED_ROW_BITS)
    )
    return ways, ways * row, ways * row * tens, ways * row * tens * hundreds


def _unpack_counts(packed: int, count: int) -> list[int]:
    """Return the ``count`` counts that are packed into one integer."""
    size = _PACKED_COUNT_BITS // 8
    data = packed.to_bytes(count * size, "little")
    return [int.from_bytes(data[n : n + size], "little") for n in range(0, count * size, size)]


def _count_results(
    tableau_points: _TableauPoints,
    bank_points: int,
    tableau_draws: tuple[bool, ...],
    sums: _OrderSums,
    deciding_cards: str,
    required_tableaux: str,
    cards_left: int,
) -> Counter[TableauResults]:
    """Return the number of nine-card orders for each pair of tableau results, given the points of two cards each.

    ``tableau_draws`` says whether each tableau draws. ``deciding_cards`` are the third cards against which the banker
    draws, and ``cards_left`` is the number of cards after the first six. Cards that no hand takes complete the order.
    """
    orders_by_results = Counter[TableauResults]()
    drawn_count = sum(tableau_draws)
    orders_if_banker_stands = perm(cards_left - drawn_count, 3 - drawn_count)
    orders_if_banker_draws = perm(cards_left - drawn_count - 1, 2 - drawn_count)
    order_counts = [_unpack_counts(packed, 10**n) for n, packed in enumerate(sums[: drawn_count + 2])]
    for third_cards in product(range(10), repeat=drawn_count):
        third_card_points = iter(third_cards)
        seen_points = [next(third_card_points) if draws else None for draws in tableau_draws]
        final_points = [
            (points + (third or 0)) % 10 for points, third in zip(tableau_points, seen_points, strict=True)
        ]
        if not _should_banker_draw(deciding_cards, required_tableaux, seen_points):
            ways = orders_if_banker_stands * _count_orders(order_counts, third_cards)
            orders_by_results[_compare_with_bank(final_points, bank_points)] += ways
            continue
        for card_points in range(10):
            ways = orders_if_banker_draws * _count_orders(order_counts, (*third_cards, card_points))
            orders_by_results[_compare_with_bank(final_points, (bank_points + card_points) % 10)] += ways
    return orders_by_results


def _compare_with_bank(final_points: Sequence[int], bank_points: int) -> TableauResults:
    """Return 1, 0 or -1 for each tableau: its final points are more than, equal to or less than the banker's."""
    first_points, second_points = final_points
    return (
        (first_points > bank_points) - (first_points < bank_points),
        (second_points > bank_points) - (second_points < bank_points),
    )


def _count_orders(order_counts: Sequence[Sequence[int]], dealt_points: tuple[int, ...]) -> int:
    """Return the number of ways to deal the first six cards, then up to three cards with the points ``dealt_points``.

    ``order_counts`` holds the unpacked results of :func:`_count_first_card_orders`, which count every further card
    as drawn from the same cards. If further cards have equal points, the number is corrected: each has one card
    fewer to choose from. Example: with n cards of the points left, two of them come in n * (n - 1) = n**2 - n ways, and
    three in n**3 - 3 * n**2 + 2 * n.
    """
    if not dealt_points:
        return order_counts[0][0]
    if len(dealt_points) == 1:
        return order_counts[1][dealt_points[0]]
    if len(dealt_points) == 2:
        first_points, second_points = dealt_points
        ways = order_counts[2][10 * first_points + second_points]
        return ways - order_counts[1][first_points] if first_points == second_points else ways
    first_points, second_points, third_points = dealt_points
    ways = order_counts[3][100 * first_points + 10 * second_points + third_points]
    repeat_count = (first_points == third_points) + (second_points == third_points)
    if first_points == second_points:
        ways -= (
            order_counts[2][10 * first_points + third_points] - repeat_count * order_counts[1][first_points]
        )
    return ways - repeat_count * order_counts[2][10 * first_points + second_points]


FAMILY = build_bank_family(BanqueDefinition, BanqueRules)
