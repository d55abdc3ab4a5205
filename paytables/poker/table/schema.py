"""The model of the definition of a poker game against the bank: deals, decisions, and the pays of each bet.

A definition lists the steps of a round; bets are settled at its end as their :class:`BetSpot` defines. So one
family plays all such games of the by-law and of the French order.
"""

from fractions import Fraction
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints, model_validator

from paytables.cards import parse_cards
from paytables.cards.ranking import (
    FIVE_CARD_RANKING,
    FOUR_CARD_RANKING,
    THREE_CARD_RANKING,
    HandRanking,
    RankingRules,
)
from paytables.definition import Identifier, NaturalInt, PositiveInt, StrictTable, Text
from paytables.layout import BetLimits, TableDefinition
from paytables.poker.pays import HandPayRow
from paytables.poker.policy import PackedPolicy
from paytables.poker.proof import FractionText
from paytables.side_bets import OddsOrLevelShare, Progressive
from paytables.wording import format_known_names

#: The orders of hands by the names that definitions use.
RANKING_RULES_BY_NAME: Final[dict[str, RankingRules]] = {
    "three": THREE_CARD_RANKING,
    "four": FOUR_CARD_RANKING,
    "five": FIVE_CARD_RANKING,
}
#: The name of an order of hands.
RankingName = Literal["three", "four", "five"]
#: The result of a bet: ``pays`` is by the rows of its pay table or, if none fits, by ``otherwise``.
BetResultName = Literal["win", "push", "lose", "pays"]
#: How the player's hand compares with the bank's; ``closed``: the bank does not open (does not qualify).
HandComparison = Literal["closed", "better", "equal", "worse"]
#: Every value of :data:`HandComparison`.
HAND_COMPARISONS: Final[tuple[HandComparison, ...]] = ("closed", "better", "equal", "worse")
#: Cards of a deck.
DECK_CARD_COUNT: Final = 52
#: A multiple of another bet's stake: ``1/2``, ``3``.
StakeMultiple = Annotated[str, StringConstraints(pattern=r"^[1-9]\d*(/[1-9]\d*)?$")]


def _check_cards_text(cards: str | None) -> None:
    """Raise ValueError unless ``cards`` is None or text that names cards."""
    if cards is not None:
        parse_cards(cards)


class PayRow(HandPayRow):
    """A row of a poker bet's pay table: what it pays, as odds or as a share of a progressive level."""

    pays: OddsOrLevelShare
    """The odds that the row pays, or its share of the progressive level for which the bet plays."""


class BetSpot(StrictTable):
    """A betting spot of a poker table, and how the bet on it is settled.

    If ``better`` is set, the player's hand is compared with the bank's. Otherwise the player's cards alone decide the
    bet by the rows of ``pay``, and folding does not lose it. Rows of ``first`` and ``bonus`` do not apply after
    folding. The bet's hand is the best of the player's cards and the first ``board`` shared cards.
    """

    id: Identifier
    name: Text
    limits: BetLimits = BetLimits()
    raised: bool = False
    """Whether the bet can only be made by an option of a decision during the round."""
    of: Identifier | None = None
    """The id of the bet whose stake determines this one's stake, and which must be made too; None: no such bet."""
    times: StakeMultiple = "1"
    """The stake of this bet as a multiple of the stake of the bet ``of``."""
    needs: Identifier | None = None
    """The id of a bet that must be placed with this one, or None."""
    order: RankingName = "five"
    """The name of the ranking order that ranks the bet's hands."""
    player: PositiveInt | None = None
    """How many of the player's cards, in the order dealt, count for the bet; None: all of them."""
    board: NaturalInt | None = None
    """The number of shared cards that count for the bet; None: all of them."""
    closed: BetResultName = "push"
    """The result of the bet if the bank does not qualify."""
    better: BetResultName | None = None
    """The result of the bet if the player's hand beats the bank's; None: the bank's cards do not decide the bet."""
    equal: BetResultName = "push"
    """The result of the bet if both hands are equal."""
    worse: BetResultName = "lose"
    """The result of the bet if the bank's hand beats the player's."""
    otherwise: BetResultName = "push"
    """The result of a bet decided by its pay table if the hand fits no row."""
    pay: tuple[PayRow, ...] = ()
    """The pay table of a bet that the player's cards alone decide."""
    first: tuple[PayRow, ...] = ()
    """Pay-table rows that decide the bet whatever hand the bank has; the other rules apply if none fits."""
    bonus: tuple[PayRow, ...] = ()
    """Pay-table rows that are paid in addition to the bet's result."""

    @property
    def is_independent_of_bank(self) -> bool:
        """Return whether the bet does not depend on the bank's cards."""
        return self.better is None

    @model_validator(mode="after")
    def _check_consistency(self) -> "BetSpot":
        """Refuse a poker bet that nothing pays, or a multiple of another bet that is not a whole number."""
        if self.is_independent_of_bank and not self.pay:
            raise ValueError(f"{self.id}: has neither pay rows nor a result for a better hand")
        if self.of is not None and not self.times.isdecimal():
            raise ValueError(f"{self.id}: {self.times} times {self.of!r}: must be a whole number of times")
        return self

    def find_result(self, comparison: HandComparison) -> BetResultName:
        """Return the bet's result, from the comparison of the player's hand with the bank's."""
        results = {"closed": self.closed, "better": self.better, "equal": self.equal, "worse": self.worse}
        return results[comparison] or "pays"


class DecisionOption(StrictTable):
    """An option of a player decision: it stakes on a spot, takes part of a bet back, folds, or does nothing."""

    id: Identifier
    spot: Identifier | None = None
    """The id of the spot that the option adds a stake to or takes it back from; None: neither."""
    times: StakeMultiple = "1"
    """The amount that the option stakes, as a multiple of the ante."""
    fold: bool = False
    """Whether the option folds."""
    back: StakeMultiple | None = None
    """The part of the bet on ``spot`` that the option takes back; None: it takes nothing back."""
    least: str | None = None
    """The lowest hand of the player's own cards with which the option may be chosen, as cards; None: any."""

    @model_validator(mode="after")
    def _check_cards(self) -> "DecisionOption":
        """Refuse an option whose lowest hand is not text that names cards."""
        _check_cards_text(self.least)
        return self

    @property
    def added_stake_factor(self) -> Fraction:
        """Return the credits that the option stakes for each credit of the ante."""
        return Fraction(self.times) if self.spot is not None and self.back is None else Fraction(0)


class StepDeal(StrictTable):
    """The numbers of cards dealt in a step: to the player, to the bank (face up), to the shared board."""

    player: NaturalInt = 0
    """The number of cards dealt to the player."""
    bank: NaturalInt = 0
    """The number of cards dealt face up to the bank."""
    board: NaturalInt = 0
    """The number of cards dealt to the shared board."""


class RoundStep(StrictTable):
    """A step of a poker round, which either deals cards or asks the player for a decision.

    A step has either ``deal`` or ``ask`` with ``option``; ``skipped_with_bets`` and ``asked_with_bets`` can skip a
    decision.
    """

    deal: StepDeal | None = None
    """The cards that the step deals, or None."""
    ask: Identifier | None = None
    """The id of the decision that the step asks for, or None."""
    option: tuple[DecisionOption, ...] = ()
    """The options of the decision."""
    skipped_with_bets: tuple[Identifier, ...] = Field(default=(), alias="unless")
    """Ids of bets. The decision is skipped if any of them has been made."""
    asked_with_bets: tuple[Identifier, ...] = Field(default=(), alias="only")
    """Ids of bets. The decision is skipped unless one of them has been made; empty: it is always asked for."""

    @model_validator(mode="after")
    def _check_deals_or_asks(self) -> "RoundStep":
        """Refuse a step that both deals and asks, does neither, or asks without an option that costs nothing."""
        if (self.deal is None) == (self.ask is None):
            raise ValueError("a step must have either `deal` or `ask`")
        if self.ask is not None and not any(not option.added_stake_factor for option in self.option):
            raise ValueError(f"{self.ask}: at least one option must add no stake")
        return self


class HandComparisonRules(StrictTable):
    """The comparison of the player's hand with the bank's.

    Bank cards that the steps of the round do not deal are dealt at the end. If there is a board, both the player and
    the bank use it.
    """

    order: RankingName = "five"
    """The name of the ranking order for both hands."""
    bank: PositiveInt
    """The number of cards dealt to the bank."""
    opens: str | None = None
    """The lowest hand with which the bank qualifies (opens), as cards; None: any hand."""

    @model_validator(mode="after")
    def _check_cards(self) -> "HandComparisonRules":
        """Refuse a lowest opening hand that is not text that names cards."""
        _check_cards_text(self.opens)
        return self

    @property
    def lowest_qualifying_strength(self) -> int:
        """Return the strength of the lowest hand with which the bank qualifies (opens); 0 if every hand does."""
        return (
            0
            if self.opens is None
            else HandRanking(RANKING_RULES_BY_NAME[self.order]).compute_strength(parse_cards(self.opens))
        )


class AdviceLine(StrictTable):
    """A line of a poker strategy: an option, and the lowest hand with which to choose it.

    The last line of a strategy applies to any hand.
    """

    option: Identifier
    """The id of the option to choose."""
    least: str | None = None
    """The lowest hand, as cards, for which the line applies; None: any hand."""

    @model_validator(mode="after")
    def _check_cards(self) -> "AdviceLine":
        """Refuse a strategy line whose lowest hand is not text that names cards."""
        _check_cards_text(self.least)
        return self


class BetPaymentRate(StrictTable):
    """How often one bet is paid in one way: by a row of its pay table, or as ``won``, ``push`` or ``withdrawn``."""

    spot: Identifier
    """The id of the bet."""
    prize: Identifier
    """The pay-table row that pays, or ``won``, ``push`` or ``withdrawn``."""
    back: FractionText
    """The total returned for the bet, stake included, as a multiple of the ante; 0 for a share of a level."""
    rate: FractionText
    """The probability that the bet is paid in this way."""


class ProvedFigures(StrictTable):
    """Exact figures of the best strategy for a game's bets, as stored in its definition.

    Amounts are multiples of the ante or, for a bet that does not depend on the bank's cards, of that bet.
    """

    law: dict[str, FractionText]
    """The probability of each net result of the best strategy; a win of a progressive level counts as a lost stake."""
    staked: FractionText
    """The mean total stake of the best strategy, in antes."""
    worst: FractionText
    """The mean net result of the worst strategy, in antes."""
    simplest: FractionText | None = None
    """The mean net result of the simplest published strategy, in antes, or None."""
    policy: PackedPolicy | None = None
    """The index of the best option in each class of hands, as packed data; None if it would be too long.

    Classes are those of the cards that the player sees (:mod:`paytables.poker.policy`). If the bank shows a card,
    there is an index for each such card.
    """
    levels: dict[Identifier, FractionText] = Field({})
    """The probability of each pay-table row that pays a share of a progressive level, by row id."""
    won: tuple[BetPaymentRate, ...] = ()
    """How often each bet is paid in each way, also by rows that no hand wins; empty in older definitions."""


class PokerDefinition(TableDefinition):
    """The definition of a poker game against the bank. The first spot is the ante, the unit of raises."""

    duel: HandComparisonRules | None = None
    """The comparison with the bank's hand; None: the bank has no hand."""
    spot: Annotated[tuple[BetSpot, ...], Field(min_length=1)]
    """The betting spots; the first is the ante."""
    step: Annotated[tuple[RoundStep, ...], Field(min_length=1)]
    """The steps of a round: deals and decisions, in order."""
    progressive: tuple[Progressive, ...] = ()
    """The progressive levels for which side bets play."""
    strategy: Text | None = Field(None, description="not used: the text is generated from `best`")
    """Not used: the text of the best strategy is generated from ``best``."""
    simplest: Text | None = Field(None, description="not used: the text is generated from `simple`")
    """Not used: the text of the simplest strategy is generated from ``simple``."""
    best: tuple[AdviceLine, ...] = Field(
        (), description="the best strategy, if lines can state it: the first line that fits applies"
    )
    """The best strategy as lines, if lines can state it. The first line that fits the hand applies."""
    simple: tuple[AdviceLine, ...] = Field(
        (), description="the simplest published strategy: the first line that fits applies"
    )
    """The simplest published strategy, as lines. The first line that fits the hand applies."""
    proved: dict[Identifier, ProvedFigures] = Field({}, description="written by `python -m tools.dev prove`")
    """The stored exact figures, by the id of the bet."""

    @property
    def spots(self) -> dict[str, BetSpot]:
        """Return the bets of the definition by id."""
        return {spot.id: spot for spot in self.spot}

    @property
    def ante(self) -> BetSpot:
        """Return the ante, the bet that is the unit of raises."""
        return self.spot[0]

    def format_pay_table_rows(self) -> dict[str, list[str]]:
        """Return what each row of each spot's pay table pays, as text by language."""
        lines_by_language: dict[str, list[str]] = {"en": [], "fr": []}
        for spot in self.spot:
            for rows in filter(None, (spot.first, spot.bonus, spot.pay)):
                for code, colon in (("en", ":"), ("fr", " :")):
                    pays = "; ".join(f"{row.title[code].lower()} {row.pays.format(code)}" for row in rows)
                    lines_by_language[code].append(f"{spot.name.model_dump()[code]}{colon} {pays}.")
        return lines_by_language

    @property
    def hand_size(self) -> int:
        """Return the number of cards in a hand that is ranked."""
        return RANKING_RULES_BY_NAME[self.ante.order if self.duel is None else self.duel.order].hand_size

    @property
    def can_have_strategy_lines(self) -> bool:
        """Return whether the game's strategy can be stated as lines.

        It can if the game has one decision, a comparison with the bank, and no board.
        """
        boards = any(step.deal is not None and step.deal.board for step in self.step)
        return self.duel is not None and not boards and sum(step.ask is not None for step in self.step) == 1

    @model_validator(mode="after")
    def _check_strategy_lines(self) -> "PokerDefinition":
        """Refuse strategy lines in a game where they cannot be checked against the best strategy.

        The machine advises the player by these lines, so they must be checked.
        """
        if self.best and not self.can_have_strategy_lines:
            raise ValueError("best: lines are only valid with one question against the bank and no board")
        if self.best and self.best[-1].least is not None:
            raise ValueError(
                "best: the last line must not have `least`: it is for the hands that fit no other line"
            )
        return self

    @model_validator(mode="after")
    def _check_card_counts(self) -> "PokerDefinition":
        """Refuse hands with too few cards for their ranking order, and rounds that need more cards than a deck has."""
        deals = [step.deal for step in self.step if step.deal is not None]
        player, board = sum(deal.player for deal in deals), sum(deal.board for deal in deals)
        bank = max(sum(deal.bank for deal in deals), 0 if self.duel is None else self.duel.bank)
        if (dealt_cards := player * self.table.seats + board + bank) > DECK_CARD_COUNT:
            raise ValueError(f"step: {dealt_cards} cards are dealt, but the deck has {DECK_CARD_COUNT}")
        if self.duel is not None and bank > self.duel.bank:
            raise ValueError(f"duel.bank: is {self.duel.bank}, but the steps deal the bank {bank} cards")
        if self.duel is not None and min(player, bank) + board < self.hand_size:
            raise ValueError(f"duel: {min(player, bank) + board} cards make no hand of {self.hand_size}")
        for n, spot in enumerate(self.spot):
            own_cards, shared = spot.player or player, board if spot.board is None else spot.board
            if own_cards > player or shared > board:
                raise ValueError(
                    f"spot.{n}: uses {own_cards} cards of the player and {shared} of "
                    f"the board, but {player} and {board} are dealt"
                )
            if own_cards + shared < (size := RANKING_RULES_BY_NAME[spot.order].hand_size):
                raise ValueError(f"spot.{n}: {own_cards + shared} cards make no hand of {size}")
        return self

    @model_validator(mode="after")
    def _check_hand_texts(self) -> "PokerDefinition":
        """Check that every text in the definition that must name a hand of cards does so."""
        self._check_hand_text("duel.opens", None if self.duel is None else self.duel.opens)
        for n, step in enumerate(self.step):
            for m, option in enumerate(step.option):
                self._check_hand_text(f"step.{n}.option.{m}.least", option.least)
        for name, lines in (("best", self.best), ("simple", self.simple)):
            for n, line in enumerate(lines):
                self._check_hand_text(f"{name}.{n}.least", line.least)
        return self

    def _check_hand_text(self, definition_key: str, cards_text: str | None) -> None:
        """Refuse text in which the number of cards is wrong for one hand, or a card occurs twice.

        ``definition_key`` is the key of the text in the definition.
        """
        names = [] if cards_text is None else cards_text.split()
        if cards_text is not None and len(set(names)) != self.hand_size:
            raise ValueError(f"{definition_key}: {cards_text!r}: expected {self.hand_size} different cards")
        if len(set(names)) != len(names):
            raise ValueError(f"{definition_key}: {cards_text!r}: a card is listed twice")

    @model_validator(mode="after")
    def _check_names(self) -> "PokerDefinition":
        """Refuse duplicate ids and references to bets that do not exist."""
        ids = [spot.id for spot in self.spot]
        if len(set(ids)) != len(ids):
            raise ValueError("spot: two have the same id")
        for n, spot in enumerate(self.spot):
            if spot.of is not None and spot.of not in ids:
                raise ValueError(
                    f"spot.{n}.of: there is no spot {spot.of!r}; {format_known_names(spot.of, ids)}"
                )
            if spot.needs is not None and spot.needs not in ids:
                raise ValueError(
                    f"spot.{n}.needs: there is no spot {spot.needs!r}; {format_known_names(spot.needs, ids)}"
                )
            if not spot.is_independent_of_bank and self.duel is None:
                raise ValueError(f"spot.{n}.better: is only valid in a game with a duel against the bank")
            rows = (*spot.first, *spot.bonus, *(() if spot.is_independent_of_bank else spot.pay))
            if any(row.pays.level_share for row in rows):
                raise ValueError(
                    f"spot.{n}: only a bet on the player's cards alone may pay a share of a level"
                )
        for n, step in enumerate(self.step):
            staked = [option.spot for option in step.option if option.spot is not None]
            for name in (*staked, *step.skipped_with_bets, *step.asked_with_bets):
                if name not in ids:
                    raise ValueError(f"step.{n}: there is no spot {name!r}; {format_known_names(name, ids)}")
        return self
