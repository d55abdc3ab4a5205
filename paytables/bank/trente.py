"""Trente et quarante (Monaco, arrêté 88-384, art. 9): two rows of cards, and the one nearer 30 wins.

The first row is black's, the second red's; each is dealt until it passes 30. Faces count ten, an ace one.
Colour wins if the first card of the first row has the colour of the winning row, inverse if it does not.
Equal rows decide nothing, except 31 and 31, the refait: the player takes half of a stake back or leaves all
of it in prison (art. 8.2); an insured stake is returned in full.

Where the rules leave a choice, this implementation does the following: a coup that decides nothing leaves a
stake in prison unchanged, and returns an insurance with its stake; a stake can be insured if the cost of the
insurance, a percentage of the stake, is whole credits. If the stop card comes before both rows are complete,
every new bet is returned, stakes in prison stay there, and the cards are shuffled.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field

from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis
from paytables.bank.dealing import ShoeRules, build_table_after_round, open_shoe, read_shoe
from paytables.bank.row_chances import compute_equal_row_probabilities
from paytables.bank.rules import FRESH_SHOE_DEALS, BankRules, HandDescriptions, check_bets
from paytables.bank.schema import BankBet, BankDefinition
from paytables.cards.card import SHOE_SIZES, Card, Shoe, format_card, get_rank, is_red
from paytables.contract import Bet, Cue, DrawSource, Outcome, RoundEvents, Settlement, Spot, Wager
from paytables.definition import PositiveInt, StrictTable, Text
from paytables.errors import DefinitionError
from paytables.game import GameFamily
from paytables.layout import TableLayout, WeightedResult, settle_bet, settle_push
from paytables.prison import (
    BetResult,
    HeldBet,
    held_bets_from_json,
    held_bets_to_json,
    list_bets_on_table,
    settle_imprisoned_stake,
    settle_or_hold_over,
    settle_partial_return,
    with_prison_choice,
)
from paytables.wording import format_count, format_percent

#: Points of each card rank, two to ace.
CARD_POINTS_BY_RANK: Final = (2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 1)
#: A row that exceeds this sum of points ends.
_ROW_POINTS_LIMIT: Final = 30
#: The points of both rows at the refait.
_REFAIT_TOTAL: Final = 31
#: The name of the strategy in the figures.
_TAKE_PART_BACK_TEXT: Final = "take your part back at every refait"
#: The usual maximum number of cards in a row of the game; it may have more.
_USUAL_ROW_CARDS_MAX: Final = 8
#: End of the id of a chance's insurance spot.
INSURANCE_SPOT_SUFFIX: Final = "-insured"

#: The row of one colour.
RowColour = Literal["black", "red"]
#: A chance: the row of a colour, or colour or inverse.
SimpleChance = Literal["black", "red", "colour", "inverse"]
#: The rows in the order in which they are dealt.
ROW_NAMES: Final[tuple[RowColour, RowColour]] = ("black", "red")


class TrenteShoeRules(ShoeRules):
    """The shoe of trente et quarante (``[shoe]``): six decks.

    A stop card lies before the last ``cards_behind_stop_card`` cards, or there is none if a shuffling machine deals.
    """

    deck_count: Annotated[int, Field(strict=True, ge=1, le=8)] = Field(default=6, alias="decks")
    """The number of decks in the shoe."""
    cards_behind_stop_card: PositiveInt | None = Field(
        default=None,
        description="cards behind the stop card; none: a fresh shuffle every round",
        alias="stop",
    )
    """The number of cards behind the stop card; None: a shuffling machine deals without one."""


class SimpleChanceBet(BankBet):
    """A bet on one of the four even-money chances of trente et quarante: black, red, colour, inverse."""

    simple_chance: SimpleChance = Field(alias="on")
    """The even-money chance that the bet is on."""


class Insurance(StrictTable):
    """The insurance of a stake against the refait (``[insurance]``)."""

    name: Text = Text(en="Insurance", fr="Assurance")
    """The name of the insurance for the player."""
    cost_percent: PositiveInt = Field(default=1, alias="percent")
    """The cost of the insurance, in per cent of the stake."""
    stake_min_credits: PositiveInt = Field(default=100, alias="least")
    """The smallest stake that can be insured, in credits."""

    @property
    def insured_credits_per_credit(self) -> int:
        """Return how many credits of a stake one credit of insurance covers."""
        return 100 // self.cost_percent


class TrenteDefinition(BankDefinition):
    """The definition of a trente et quarante game; payments are made in the order of the bets."""

    shoe: TrenteShoeRules = TrenteShoeRules()
    bets: tuple[SimpleChanceBet, ...] = Field(min_length=1, alias="bet")
    """The bets on the four chances."""
    insurance: Insurance | None = None
    """The insurance against the refait; None: not offered."""

    def format_pay_table_rows(self) -> Mapping[str, Sequence[str]]:
        """Return what each bet pays, what insurance costs and the number of decks, as text by language."""
        lines = {
            language: [f"{getattr(bet.name, language)} - {bet.odds.text}" for bet in self.bets]
            for language in _INSURANCE_TEXT
        }
        if self.insurance is not None:
            for language, template in _INSURANCE_TEXT.items():
                insured_credits, stake_min = (
                    self.insurance.insured_credits_per_credit,
                    self.insurance.stake_min_credits,
                )
                insurance_text = template.format(self.insurance.cost_percent, insured_credits, stake_min)
                lines[language].append(f"{getattr(self.insurance.name, language)} - {insurance_text}")
        return {
            language: [*pay_lines, self.shoe.format_deck_line(language)]
            for language, pay_lines in lines.items()
        }


#: The text of the insurance's terms, by language.
_INSURANCE_TEXT: Final = {
    "en": "{0} % of the stake, a multiple of {1} credits, {2} or more",
    "fr": "{0} % de la mise, un multiple de {1} crédits, {2} ou plus",
}


@dataclass(frozen=True, slots=True)
class TrenteCoup:
    """The result of a coup of trente et quarante: the points of black's row and of red's."""

    points: tuple[int, int] | None
    """The points of black's and red's row; None if the stop card voids the coup."""
    is_first_card_red: bool = False
    """Whether the first card of the coup is red, which decides colour and inverse."""

    @property
    def winning_chances(self) -> frozenset[str]:
        """Return which of the four chances of trente et quarante win the coup; empty if it decides nothing."""
        if self.points is None or self.points[0] == self.points[1]:
            return frozenset()
        row = ROW_NAMES[self.points[1] < self.points[0]]
        return frozenset({row, "colour" if self.is_first_card_red == (row == "red") else "inverse"})

    @property
    def result(self) -> str:
        """Return the result of the coup: ``black``, ``red``, ``tie``, ``refait`` or ``void``."""
        if self.points is None:
            return "void"
        if self.points[0] == self.points[1]:
            return "refait" if self.points[0] == _REFAIT_TOTAL else "tie"
        return ROW_NAMES[self.points[1] < self.points[0]]


@dataclass(frozen=True)
class TrenteRules(BankRules[TrenteDefinition]):
    """The rules of a playable game of trente et quarante; ``held_bets`` are the stakes in prison."""

    held_bets: tuple[HeldBet, ...] = field(default=(), compare=False)
    """The stakes in prison, from earlier coups."""
    hands: ClassVar[HandDescriptions] = (
        ("black", {"en": "Black", "fr": "Noir"}, _USUAL_ROW_CARDS_MAX),
        ("red", {"en": "Red", "fr": "Rouge"}, _USUAL_ROW_CARDS_MAX),
    )

    @property
    def cards_needed_for_round(self) -> int:
        """Return 1, because a coup need not fit: the stop card ends it early, and a full shoe is enough for any."""
        return 1

    def list_bets(self) -> tuple[SimpleChanceBet, ...]:
        """Return every bet that this trente et quarante game offers."""
        return self.definition.bets

    @cached_property
    def bet_by_id(self) -> dict[str, SimpleChanceBet]:
        """Return the bets on the chances (black, red, colour, inverse), by bet id."""
        return {bet.id: bet for bet in self.definition.bets}

    @cached_property
    def table_layout(self) -> TableLayout:
        """Return the layout of the four chances, each with its insurance.

        A stake in prison does not count in any limit.
        """
        insurance = self.definition.insurance
        spots = (
            [_build_insurance_spot(bet, insurance) for bet in self.list_bets()]
            if insurance is not None
            else []
        )
        return TableLayout(
            (*super().table_layout.spots, *spots), self.definition.table, self.definition.preset_bets
        )

    # ------------------------------------------------------------------ table state between rounds
    def with_table_state(self, table_state: object) -> Self:
        """Return the rules with a stored table's shoe and stakes in prison.

        Raises ValueError for a table state that no round can leave.
        """
        if table_state is None:
            return self.with_table_fields(table_state=None, held_bets=())
        if not isinstance(table_state, dict) or not table_state or set(table_state) - {"shoe", "held"}:
            raise ValueError(f"{table_state!r} is not a table state that a round of this game can leave")
        shoe = {"shoe": table_state["shoe"]} if "shoe" in table_state else None
        if shoe is not None:
            read_shoe(self.definition.shoe, shoe)
        held_bets = self._read_held_bets(table_state["held"]) if "held" in table_state else ()
        return self.with_table_fields(table_state=shoe, held_bets=held_bets)

    def _read_held_bets(self, held_bets_data: object) -> tuple[HeldBet, ...]:
        """Return the stakes in prison in a stored table state. Raises ValueError if no round can leave them."""
        if not isinstance(held_bets_data, list) or not held_bets_data:
            raise ValueError(
                f"{held_bets_data!r} is not a list of stakes in prison that a round of this game can leave"
            )
        held_bets = held_bets_from_json(held_bets_data, self.bet_by_id, self.definition.table.seat_count)
        for bet in held_bets:
            limits = self.bet_by_id[bet.spot].limits
            if (
                not limits.bet_min <= bet.credits <= limits.bet_max
                or bet.credits % limits.bet_step
                or not bet.can_stay
            ):
                raise ValueError(
                    f"{bet.to_json()} with count {bet.times_held_over} is not a stake"
                    " that can be in prison at this table"
                )
        return held_bets

    def list_standing_bets(self) -> tuple[Bet, ...]:
        """Return the stakes in prison, which remain on the table for the next coup."""
        return tuple(Bet(bet.spot, bet.credits, bet.seat) for bet in self.held_bets)

    def take_down_standing_bets(self) -> tuple[tuple[Settlement, ...], object]:
        """Return the payment for each stake in prison to a player who leaves, and the table state without these stakes.

        The payment is the part of the stake that the player could have taken back at the refait.
        """
        return tuple(settle_partial_return(bet) for bet in self.held_bets), self.table_state

    def build_wager(self, credits_: int, **options: object) -> Wager:
        """Return the wager of ``credits_`` credits. It may be 0 while stakes of earlier rounds are still in prison.

        Raises :class:`WagerError`.
        """
        if self.held_bets and credits_ == 0 and options in ({}, {"bets": {}}):
            return Wager(0, {"bets": {}})
        return super().build_wager(credits_, **options)

    # ------------------------------------------------------------------ one coup
    def play(self, wager: Wager, draw: DrawSource) -> RoundEvents:
        """Play a coup: deal both rows and settle every bet; at a refait ask for half or prison."""
        accepted_wager = self.build_wager(wager.credits, **wager.options)
        shoe_rules = self.definition.shoe
        shoe, cues = open_shoe(shoe_rules, self.table_state, draw)
        yield from cues
        rows: dict[str, list[Card]] = {name: [] for name in ROW_NAMES}
        is_complete = True
        for name in ROW_NAMES:
            while is_complete and _count_points(rows[name]) <= _ROW_POINTS_LIMIT:
                is_complete = (
                    shoe_rules.cards_behind_stop_card is None
                    or shoe.cards_left > shoe_rules.cards_behind_stop_card
                )
                yield (
                    _deal_card(rows, name, shoe, draw)
                    if is_complete
                    else Cue("stop", {"cards": shoe.cards_left})
                )
        points = (_count_points(rows["black"]), _count_points(rows["red"])) if is_complete else None
        coup = TrenteCoup(points, is_first_card_red=is_red(rows["black"][0]))
        display = _build_display(rows, coup)
        bets = list_bets_on_table(self.held_bets, accepted_wager, self.table_layout.spots)
        insured_spots = {(bet.seat, bet.spot) for bet in bets if bet.spot.endswith(INSURANCE_SPOT_SUFFIX)}

        def decide_bet(bet: HeldBet) -> BetResult:
            """Return the result of this coup of trente et quarante for a bet."""
            return self.decide_bet(
                bet, coup, is_insured=(bet.seat, bet.spot + INSURANCE_SPOT_SUFFIX) in insured_spots
            )

        held_bets = yield from settle_or_hold_over(bets, decide_bet, display, "refait")
        return Outcome(
            display=display,
            table_state=_build_table_state(
                build_table_after_round(shoe_rules, shoe, self.table_state), held_bets
            ),
        )

    def decide_bet(self, bet: HeldBet, coup: TrenteCoup, *, is_insured: bool) -> BetResult:
        """Return the result of a coup for one bet: its settlement, or the bet in prison that stays on the table.

        If the rules give the choice between both, the result contains both and the player chooses.
        """
        bet_terms, winning_chances = self.bet_by_id.get(bet.spot), coup.winning_chances
        if not winning_chances and coup.result != "refait":
            return (
                (None, bet)
                if bet.times_held_over
                else (settle_push(bet, "void" if coup.points is None else "push"), None)
            )
        if bet_terms is None:
            return settle_bet(bet, None), None
        if not winning_chances and is_insured and not bet.times_held_over:
            return settle_push(bet, "insured"), None
        if not winning_chances:
            bet_after_refait = replace(bet, times_held_over=bet.times_held_over + 1)
            return (
                settle_partial_return(bet_after_refait),
                bet_after_refait if bet_after_refait.can_stay else None,
            )
        if bet.times_held_over:
            return settle_imprisoned_stake(bet, is_won=bet_terms.simple_chance in winning_chances), None
        return settle_bet(bet, bet_terms.odds if bet_terms.simple_chance in winning_chances else None), None

    # ------------------------------------------------------------------ figures
    def _settle_coup(self, bets: Sequence[HeldBet], coup: TrenteCoup) -> list[Settlement]:
        """Return a coup's settlements if every player takes part of the stake back at a refait."""
        insured_spots = {bet.spot for bet in bets if bet.spot.endswith(INSURANCE_SPOT_SUFFIX)}
        results = (
            self.decide_bet(bet, coup, is_insured=bet.spot + INSURANCE_SPOT_SUFFIX in insured_spots)
            for bet in bets
        )
        return [settlement for settlement, _ in results if settlement is not None]

    def iter_cases(self, wager: Wager) -> Iterable[WeightedResult]:
        """Return every kind of coup from a fresh shoe, with the settlements of the wager in that coup.

        Both rows are equally likely to win, and the first card is as likely red as black.
        """
        bets = [HeldBet(bet.spot, bet.credits, bet.seat) for bet in wager.bets]
        equal_rows_probability, refait_probability = compute_equal_row_probabilities(
            self.definition.shoe.deck_count
        )
        for coup in _DISTINCT_COUPS:
            probability = {
                "refait": refait_probability,
                "tie": equal_rows_probability - refait_probability,
            }.get(coup.result, (1 - equal_rows_probability) / 4)
            yield WeightedResult(probability, self._settle_coup(bets, coup))

    def find_highest_round_return(self, wager: Wager) -> int:
        """Return the most credits a coup can return, stakes in prison included."""
        bets = list_bets_on_table(self.held_bets, wager, self.table_layout.spots)
        return max(
            sum(settlement.credits for settlement in self._settle_coup(bets, coup))
            for coup in _DISTINCT_COUPS
        )

    def analyse(self, depth: AnalysisDepth) -> Analysis:
        """Return the exact figures of a bet on each chance at its minimum, with insurance and without."""
        base_analysis, insurance = super().analyse(depth), self.definition.insurance
        if insurance is None:
            return base_analysis
        insured_figures = []
        for bet in self.list_bets():
            insurance_min = self.table_layout.spot_by_id[bet.id + INSURANCE_SPOT_SUFFIX].bet_min
            stakes = {
                bet.id: insurance_min * insurance.insured_credits_per_credit,
                bet.id + INSURANCE_SPOT_SUFFIX: insurance_min,
            }
            insured_figures.append(self.analyse_stakes(bet.id + INSURANCE_SPOT_SUFFIX, stakes, depth))
        return replace(base_analysis, bets=(*base_analysis.bets, *insured_figures))

    def analyse_stakes(self, bet_name: str, stakes: Mapping[str, int], depth: AnalysisDepth) -> BetAnalysis:
        """Return a bet's figures for always taking part of the stake back, and for always leaving it in prison."""
        figures = super().analyse_stakes(bet_name, stakes, depth)
        prison_bets = [
            bet_after_refait
            for spot, credits_ in stakes.items()
            if spot in self.bet_by_id and spot + INSURANCE_SPOT_SUFFIX not in stakes
            for bet_after_refait in [HeldBet(spot, credits_, times_held_over=1)]
            if bet_after_refait.can_stay
        ]
        if not prison_bets:
            return figures
        _, refait_probability = compute_equal_row_probabilities(self.definition.shoe.deck_count)
        prison_difference_credits = sum(
            (
                refait_probability * (self._compute_prison_mean(bet) - bet.returnable_credits)
                for bet in prison_bets
            ),
            Fraction(0),
        )
        worst_rtp = figures.rtp + prison_difference_credits / figures.cost_credits
        prison_note = (
            f"with every stake left in prison {format_percent(worst_rtp)} %, "
            "its later coups counted as of a fresh shoe"
        )
        return with_prison_choice(figures, _TAKE_PART_BACK_TEXT, worst_rtp, prison_note)

    def _compute_prison_mean(self, bet: HeldBet) -> Fraction:
        """Return the mean return of a stake that its player leaves in prison as long as the rules allow."""
        equal_rows_probability, refait_probability = compute_equal_row_probabilities(
            self.definition.shoe.deck_count
        )
        bet_after_refait = replace(bet, times_held_over=bet.times_held_over + 1)
        later_mean = (
            self._compute_prison_mean(bet_after_refait)
            if bet_after_refait.can_stay
            else Fraction(bet_after_refait.returnable_credits)
        )
        # coups with equal rows other than the refait decide nothing, so they do not count
        return ((1 - equal_rows_probability) / 2 * bet.stake_credits + refait_probability * later_mean) / (
            1 - equal_rows_probability + refait_probability
        )


#: One coup of each kind: black or red with colour or inverse, equal rows, the refait.
_DISTINCT_COUPS: Final = (
    TrenteCoup((31, 32)),
    TrenteCoup((31, 32), is_first_card_red=True),
    TrenteCoup((32, 31)),
    TrenteCoup((32, 31), is_first_card_red=True),
    TrenteCoup((32, 32)),
    TrenteCoup((_REFAIT_TOTAL, _REFAIT_TOTAL)),
)


def _build_insurance_spot(bet: SimpleChanceBet, insurance: Insurance) -> Spot:
    """Return the spot on which the insurance of a bet is placed."""
    names = {
        language: f"{getattr(insurance.name, language)} - {getattr(bet.name, language)}"
        for language in _INSURANCE_TEXT
    }
    return Spot(
        id=bet.id + INSURANCE_SPOT_SUFFIX,
        group="insurance",
        names=names,
        odds=f"{insurance.cost_percent} %",
        bet_min=-(
            -max(insurance.stake_min_credits, bet.limits.bet_min) // insurance.insured_credits_per_credit
        ),
        bet_max=bet.limits.bet_max // insurance.insured_credits_per_credit,
        required_spot=bet.id,
        insured_credits_per_credit=insurance.insured_credits_per_credit,
    )


def _count_points(row: Sequence[Card]) -> int:
    """Return the points of a row of trente et quarante."""
    return sum(CARD_POINTS_BY_RANK[get_rank(card)] for card in row)


def _deal_card(rows: Mapping[str, list[Card]], row_name: str, shoe: Shoe, draw: DrawSource) -> Cue:
    """Deal a card to the row of that name; return the animation cue."""
    card = shoe.deal(draw, f"{row_name} card {len(rows[row_name]) + 1}")
    rows[row_name].append(card)
    return Cue("deal", {"hand": row_name, "card": format_card(card)})


def _build_table_state(shoe: Mapping[str, object] | None, held_bets: Sequence[HeldBet]) -> object:
    """Return the table state to store, from the shoe and the stakes in prison; None if there is neither."""
    table = {**(shoe or {}), **({"held": held_bets_to_json(held_bets)} if held_bets else {})}
    return table or None


def _build_display(rows: Mapping[str, Sequence[Card]], coup: TrenteCoup) -> dict[str, object]:
    """Return both rows of cards of trente et quarante and the result of the coup, for the screen."""
    chances = sorted(coup.winning_chances - {coup.result})
    return {
        "kind": "table",
        "felt": "cards",
        "result": coup.result,
        **({"chance": chances[0]} if chances else {}),
        "hands": [
            {"id": name, "cards": [format_card(card) for card in row], "says": str(_count_points(row))}
            for name, row in rows.items()
        ],
    }


def _build_rules(definition: TrenteDefinition, file: str) -> TrenteRules:
    """Build the rules of trente et quarante after checking the bets and the insurance.

    Raises :class:`DefinitionError`.
    """
    insurance = definition.insurance
    if insurance is not None and (
        100 % insurance.cost_percent or insurance.stake_min_credits % insurance.insured_credits_per_credit
    ):
        stake_text = format_count(insurance.stake_min_credits, "credit")
        reason = f"{insurance.cost_percent} % of {stake_text} is not a whole number of credits"
        raise DefinitionError(file, "insurance", reason)
    for n, bet in enumerate(definition.bets):
        if bet.limits.bet_step % 2:
            reason = f"{bet.limits.bet_step} is not even, but half of a stake is returned at a refait"
            raise DefinitionError(file, f"bet.{n}.limits.step", reason)
        if bet.simple_chance in {earlier.simple_chance for earlier in definition.bets[:n]}:
            raise DefinitionError(file, f"bet.{n}.on", f"a bet on {bet.simple_chance} is listed twice")
    rules = TrenteRules(definition)
    check_bets(rules, file)
    return rules


#: The game family. Help texts may state 31, the points of the refait, although no definition contains this number.
FAMILY = GameFamily(
    TrenteDefinition, _build_rules, help_figures=SHOE_SIZES | {31}, counted_cases=FRESH_SHOE_DEALS
)
