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
from paytables.side_bets import OddsOrLevelShare, SideBetProgressiveLevel
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
#: How the player's hand compares with the bank's; ``unqualified``: the bank does not qualify (does not open).
HandComparison = Literal["unqualified", "better", "equal", "worse"]
#: Every value of :data:`HandComparison`.
HAND_COMPARISONS: Final[tuple[HandComparison, ...]] = ("unqualified", "better", "equal", "worse")
#: Cards of a deck.
DECK_CARD_COUNT: Final = 52
#: A multiple of another bet's stake: ``1/2``, ``3``.
StakeMultiple = Annotated[str, StringConstraints(pattern=r"^[1-9]\d*(/[1-9]\d*)?$")]


def _check_cards_text(cards: str | None) -> None:
    """Raise ValueError if ``cards`` is a text that does not name cards; None is accepted."""
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
    is_raise_only: bool = Field(default=False, alias="raised")
    """Whether the bet can only be made by an option of a decision during the round."""
    base_spot: Identifier | None = Field(default=None, alias="of")
    """The id of the bet that must be made too and whose stake determines this bet's stake; None: no such bet."""
    base_stake_multiple: StakeMultiple = Field(default="1", alias="times")
    """The stake of this bet as a multiple of the stake of the bet ``base_spot``."""
    required_spot: Identifier | None = Field(default=None, alias="needs")
    """The id of a bet that must be placed with this one; None: no other bet is needed."""
    ranking_name: RankingName = Field(default="five", alias="order")
    """The name of the ranking order that ranks the bet's hands."""
    player_card_count: PositiveInt | None = Field(default=None, alias="player")
    """How many of the player's cards, in the order dealt, count for the bet; None: all of them."""
    board_card_count: NaturalInt | None = Field(default=None, alias="board")
    """The number of shared cards that count for the bet; None: all of them."""
    result_if_unqualified: BetResultName = Field(default="push", alias="closed")
    """The result of the bet if the bank does not qualify."""
    result_if_better: BetResultName | None = Field(default=None, alias="better")
    """The result of the bet if the player's hand beats the bank's; None: the bank's cards do not decide the bet."""
    result_if_equal: BetResultName = Field(default="push", alias="equal")
    """The result of the bet if both hands are equal."""
    result_if_worse: BetResultName = Field(default="lose", alias="worse")
    """The result of the bet if the bank's hand beats the player's."""
    result_without_row: BetResultName = Field(default="push", alias="otherwise")
    """The result of a bet decided by its pay table if the hand fits no row."""
    pay_rows: tuple[PayRow, ...] = Field(default=(), alias="pay")
    """The pay table of a bet that the player's cards alone decide."""
    overriding_rows: tuple[PayRow, ...] = Field(default=(), alias="first")
    """Pay-table rows that decide the bet whatever hand the bank has. If no row fits, the other rules decide it."""
    bonus_rows: tuple[PayRow, ...] = Field(default=(), alias="bonus")
    """Pay-table rows that are paid in addition to the bet's result."""

    @property
    def is_independent_of_bank(self) -> bool:
        """Return whether the bet does not depend on the bank's cards."""
        return self.result_if_better is None

    @model_validator(mode="after")
    def _check_consistency(self) -> "BetSpot":
        """Refuse a bet with neither pay rows nor a result for a better hand, or a stake multiple that is not whole."""
        if self.is_independent_of_bank and not self.pay_rows:
            raise ValueError(f"{self.id}: has neither pay rows nor a result for a better hand")
        if self.base_spot is not None and not self.base_stake_multiple.isdecimal():
            raise ValueError(
                f"{self.id}: {self.base_stake_multiple} times {self.base_spot!r}: must be a whole number of times"
            )
        return self

    def find_result(self, comparison: HandComparison) -> BetResultName:
        """Return the bet's result, from the comparison of the player's hand with the bank's."""
        results = {
            "unqualified": self.result_if_unqualified,
            "better": self.result_if_better,
            "equal": self.result_if_equal,
            "worse": self.result_if_worse,
        }
        return results[comparison] or "pays"


class DecisionOption(StrictTable):
    """An option of a player decision: it stakes on a spot, withdraws part of a bet, folds, or does nothing."""

    id: Identifier
    spot: Identifier | None = None
    """The id of the spot on which the option adds a stake, or from which it withdraws one; None: neither."""
    stake_multiple: StakeMultiple = Field(default="1", alias="times")
    """The amount that the option stakes, as a multiple of the ante."""
    is_fold: bool = Field(default=False, alias="fold")
    """Whether the option folds."""
    returned_share: StakeMultiple | None = Field(default=None, alias="back")
    """The part of the bet on ``spot`` that the option withdraws; None: it withdraws nothing."""
    lowest_hand: str | None = Field(default=None, alias="least")
    """The lowest hand of the player's own cards with which the option may be chosen, as cards; None: any."""

    @model_validator(mode="after")
    def _check_cards(self) -> "DecisionOption":
        """Refuse an option with a lowest hand that does not name cards."""
        _check_cards_text(self.lowest_hand)
        return self

    @property
    def added_stake_factor(self) -> Fraction:
        """Return the credits that the option stakes for each credit of the ante."""
        return (
            Fraction(self.stake_multiple)
            if self.spot is not None and self.returned_share is None
            else Fraction(0)
        )


class StepDeal(StrictTable):
    """The numbers of cards dealt in a step: to the player, to the bank (face up), to the shared board."""

    player_card_count: NaturalInt = Field(default=0, alias="player")
    """The number of cards dealt to the player."""
    bank_card_count: NaturalInt = Field(default=0, alias="bank")
    """The number of cards dealt face up to the bank."""
    board_card_count: NaturalInt = Field(default=0, alias="board")
    """The number of cards dealt to the shared board."""


class RoundStep(StrictTable):
    """A step of a poker round, which either deals cards or asks the player for a decision.

    A step has either ``deal`` or ``ask`` with ``option``; ``skipped_with_bets`` and ``asked_with_bets`` can skip a
    decision.
    """

    deal: StepDeal | None = None
    """The cards that the step deals; None: it asks for a decision instead."""
    decision_name: Identifier | None = Field(default=None, alias="ask")
    """The id of the decision that the step asks for; None: it deals cards instead."""
    options: tuple[DecisionOption, ...] = Field(default=(), alias="option")
    """The options of the decision."""
    skipped_with_bets: tuple[Identifier, ...] = Field(default=(), alias="unless")
    """Ids of bets. The decision is skipped if any of them has been made."""
    asked_with_bets: tuple[Identifier, ...] = Field(default=(), alias="only")
    """Ids of bets. The decision is asked for only if one of them has been made; empty: it is always asked for."""

    @model_validator(mode="after")
    def _check_deals_or_asks(self) -> "RoundStep":
        """Refuse a step that both deals and asks, does neither, or asks without an option that costs nothing."""
        if (self.deal is None) == (self.decision_name is None):
            raise ValueError("a step must have either `deal` or `ask`")
        if self.decision_name is not None and not any(
            not option.added_stake_factor for option in self.options
        ):
            raise ValueError(f"{self.decision_name}: at least one option must add no stake")
        return self


class HandComparisonRules(StrictTable):
    """The comparison of the player's hand with the bank's.

    Bank cards that the steps of the round do not deal are dealt at the end. If there is a board, both the player and
    the bank use it.
    """

    ranking_name: RankingName = Field(default="five", alias="order")
    """The name of the ranking order for both hands."""
    bank_card_count: PositiveInt = Field(alias="bank")
    """The number of cards dealt to the bank."""
    lowest_qualifying_hand: str | None = Field(default=None, alias="opens")
    """The lowest hand with which the bank qualifies (opens), as cards; None: any hand."""

    @model_validator(mode="after")
    def _check_cards(self) -> "HandComparisonRules":
        """Refuse a lowest opening hand that does not name cards."""
        _check_cards_text(self.lowest_qualifying_hand)
        return self

    @property
    def lowest_qualifying_strength(self) -> int:
        """Return the strength of the lowest hand with which the bank qualifies (opens); 0 if every hand does."""
        return (
            0
            if self.lowest_qualifying_hand is None
            else HandRanking(RANKING_RULES_BY_NAME[self.ranking_name]).compute_strength(
                parse_cards(self.lowest_qualifying_hand)
            )
        )


class AdviceLine(StrictTable):
    """A line of a poker strategy: an option, and the lowest hand with which to choose it.

    The last line of a strategy applies to any hand.
    """

    option_id: Identifier = Field(alias="option")
    """The id of the option to choose."""
    lowest_hand: str | None = Field(default=None, alias="least")
    """The lowest hand, as cards, for which the line applies; None: any hand."""

    @model_validator(mode="after")
    def _check_cards(self) -> "AdviceLine":
        """Refuse a strategy line with a lowest hand that does not name cards."""
        _check_cards_text(self.lowest_hand)
        return self


class BetPaymentRate(StrictTable):
    """How often one bet is paid in one way: by a row of its pay table, or as ``won``, ``push`` or ``withdrawn``."""

    spot: Identifier
    """The id of the bet."""
    prize_name: Identifier = Field(alias="prize")
    """The pay-table row that pays, or ``won``, ``push`` or ``withdrawn``."""
    returned_antes: FractionText = Field(alias="back")
    """The total returned for the bet, stake included, as a multiple of the ante; 0 for a share of a level."""
    rate: FractionText
    """The probability that the bet is paid in this way."""


class ProvedFigures(StrictTable):
    """Exact figures of the best strategy for a game's bets, as stored in its definition.

    Amounts are multiples of the ante or, for a bet that does not depend on the bank's cards, of that bet.
    """

    net_probabilities: dict[str, FractionText] = Field(alias="law")
    """The probability of each net result of the best strategy; a win of a progressive level counts as a lost stake."""
    mean_stake: FractionText = Field(alias="staked")
    """The mean total stake of the best strategy, in antes."""
    worst_mean: FractionText = Field(alias="worst")
    """The mean net result of the worst strategy, in antes."""
    simplest_mean: FractionText | None = Field(default=None, alias="simplest")
    """The mean net result of the simplest published strategy, in antes; None: no such strategy is stated."""
    policy: PackedPolicy | None = None
    """The index of the best option in each class of hands, as packed data; None if it would be too long.

    The cards that the player sees decide the class (:mod:`paytables.poker.policy`). If the bank shows a card,
    there is an index for each such card.
    """
    level_row_probabilities: dict[Identifier, FractionText] = Field({}, alias="levels")
    """The probability of each pay-table row that pays a share of a progressive level, by row id."""
    payment_rates: tuple[BetPaymentRate, ...] = Field(default=(), alias="won")
    """How often each bet is paid in each way, also by rows that no hand wins; empty in older definitions."""


class PokerDefinition(TableDefinition):
    """The definition of a poker game against the bank. The first spot is the ante, the unit of raises."""

    duel: HandComparisonRules | None = None
    """The comparison with the bank's hand; None: the bank has no hand."""
    bet_spots: Annotated[tuple[BetSpot, ...], Field(min_length=1)] = Field(alias="spot")
    """The betting spots; the first is the ante."""
    steps: Annotated[tuple[RoundStep, ...], Field(min_length=1)] = Field(alias="step")
    """The steps of a round: deals and decisions, in order."""
    progressive_levels: tuple[SideBetProgressiveLevel, ...] = Field(default=(), alias="progressive")
    """The progressive levels for which side bets play."""
    strategy: Text | None = Field(None, description="not used: the text is generated from `best`")
    """Not used: the text of the best strategy is generated from ``best_strategy``."""
    simplest: Text | None = Field(None, description="not used: the text is generated from `simple`")
    """Not used: the text of the simplest strategy is generated from ``simplest_strategy``."""
    best_strategy: tuple[AdviceLine, ...] = Field(
        (),
        description="the best strategy, if lines can state it: the first line that fits applies",
        alias="best",
    )
    """The best strategy as lines, if lines can state it. The first line that fits the hand applies."""
    simplest_strategy: tuple[AdviceLine, ...] = Field(
        (), description="the simplest published strategy: the first line that fits applies", alias="simple"
    )
    """The simplest published strategy, as lines. The first line that fits the hand applies."""
    proved: dict[Identifier, ProvedFigures] = Field({}, description="written by `python -m tools.dev prove`")
    """The stored exact figures, by the id of the bet."""

    @property
    def spot_by_id(self) -> dict[str, BetSpot]:
        """Return the bets of the definition by id."""
        return {spot.id: spot for spot in self.bet_spots}

    @property
    def ante(self) -> BetSpot:
        """Return the ante, the bet that is the unit of raises."""
        return self.bet_spots[0]

    def format_pay_table_rows(self) -> dict[str, list[str]]:
        """Return what each row of each spot's pay table pays, as text by language."""
        lines_by_language: dict[str, list[str]] = {"en": [], "fr": []}
        for spot in self.bet_spots:
            for rows in filter(None, (spot.overriding_rows, spot.bonus_rows, spot.pay_rows)):
                for language, colon in (("en", ":"), ("fr", " :")):
                    pays = "; ".join(
                        f"{row.title[language].lower()} {row.pays.format(language)}" for row in rows
                    )
                    lines_by_language[language].append(f"{spot.name.model_dump()[language]}{colon} {pays}.")
        return lines_by_language

    @property
    def hand_size(self) -> int:
        """Return the number of cards in a hand that is ranked."""
        return RANKING_RULES_BY_NAME[
            self.ante.ranking_name if self.duel is None else self.duel.ranking_name
        ].hand_size

    @property
    def can_have_strategy_lines(self) -> bool:
        """Return whether the best strategy can be stated as lines (an option, and the lowest hand for it).

        It can if the game has one decision, a comparison with the bank, and no board.
        """
        has_board = any(step.deal is not None and step.deal.board_card_count for step in self.steps)
        return (
            self.duel is not None
            and not has_board
            and sum(step.decision_name is not None for step in self.steps) == 1
        )

    @model_validator(mode="after")
    def _check_strategy_lines(self) -> "PokerDefinition":
        """Refuse strategy lines in a game where they cannot be checked against the best strategy.

        The machine advises the player by these lines, so they must be checked.
        """
        if self.best_strategy and not self.can_have_strategy_lines:
            raise ValueError("best: lines are only valid with one question against the bank and no board")
        if self.best_strategy and self.best_strategy[-1].lowest_hand is not None:
            raise ValueError(
                "best: the last line must not have `least`: it is for the hands that fit no other line"
            )
        return self

    @model_validator(mode="after")
    def _check_card_counts(self) -> "PokerDefinition":
        """Refuse hands with too few cards for their ranking order, and rounds that need more cards than a deck has."""
        deals = [step.deal for step in self.steps if step.deal is not None]
        player_card_count, board_card_count = (
            sum(deal.player_card_count for deal in deals),
            sum(deal.board_card_count for deal in deals),
        )
        bank_card_count = max(
            sum(deal.bank_card_count for deal in deals), 0 if self.duel is None else self.duel.bank_card_count
        )
        if (
            dealt_card_count := player_card_count * self.table.seat_count + board_card_count + bank_card_count
        ) > DECK_CARD_COUNT:
            raise ValueError(f"step: {dealt_card_count} cards are dealt, but the deck has {DECK_CARD_COUNT}")
        if self.duel is not None and bank_card_count > self.duel.bank_card_count:
            raise ValueError(
                f"duel.bank: is {self.duel.bank_card_count}, but the steps deal the bank {bank_card_count} cards"
            )
        if (
            self.duel is not None
            and min(player_card_count, bank_card_count) + board_card_count < self.hand_size
        ):
            raise ValueError(
                f"duel: {min(player_card_count, bank_card_count) + board_card_count} cards make no hand of "
                f"{self.hand_size}"
            )
        for n, spot in enumerate(self.bet_spots):
            own_card_count, shared_card_count = (
                spot.player_card_count or player_card_count,
                board_card_count if spot.board_card_count is None else spot.board_card_count,
            )
            if own_card_count > player_card_count or shared_card_count > board_card_count:
                raise ValueError(
                    f"spot.{n}: uses {own_card_count} cards of the player and {shared_card_count} of "
                    f"the board, but {player_card_count} and {board_card_count} are dealt"
                )
            if own_card_count + shared_card_count < (
                hand_size := RANKING_RULES_BY_NAME[spot.ranking_name].hand_size
            ):
                raise ValueError(
                    f"spot.{n}: {own_card_count + shared_card_count} cards make no hand of {hand_size}"
                )
        return self

    @model_validator(mode="after")
    def _check_hand_texts(self) -> "PokerDefinition":
        """Check that every text in the definition that must name a hand of cards does so."""
        self._check_hand_text("duel.opens", None if self.duel is None else self.duel.lowest_qualifying_hand)
        for n, step in enumerate(self.steps):
            for m, option in enumerate(step.options):
                self._check_hand_text(f"step.{n}.option.{m}.least", option.lowest_hand)
        for name, lines in (("best", self.best_strategy), ("simple", self.simplest_strategy)):
            for n, line in enumerate(lines):
                self._check_hand_text(f"{name}.{n}.least", line.lowest_hand)
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
        ids = [spot.id for spot in self.bet_spots]
        if len(set(ids)) != len(ids):
            raise ValueError("spot: two have the same id")
        for n, spot in enumerate(self.bet_spots):
            if spot.base_spot is not None and spot.base_spot not in ids:
                raise ValueError(
                    f"spot.{n}.of: there is no spot {spot.base_spot!r}; {format_known_names(spot.base_spot, ids)}"
                )
            if spot.required_spot is not None and spot.required_spot not in ids:
                raise ValueError(
                    f"spot.{n}.needs: there is no spot {spot.required_spot!r}; "
                    f"{format_known_names(spot.required_spot, ids)}"
                )
            if not spot.is_independent_of_bank and self.duel is None:
                raise ValueError(f"spot.{n}.better: is only valid in a game with a duel against the bank")
            rows = (
                *spot.overriding_rows,
                *spot.bonus_rows,
                *(() if spot.is_independent_of_bank else spot.pay_rows),
            )
            if any(row.pays.level_share for row in rows):
                raise ValueError(
                    f"spot.{n}: only a bet on the player's cards alone may pay a share of a level"
                )
        for n, step in enumerate(self.steps):
            staked_spots = [option.spot for option in step.options if option.spot is not None]
            for name in (*staked_spots, *step.skipped_with_bets, *step.asked_with_bets):
                if name not in ids:
                    raise ValueError(f"step.{n}: there is no spot {name!r}; {format_known_names(name, ids)}")
        return self
