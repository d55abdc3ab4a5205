"""The definition of a blackjack table."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field, model_validator

from paytables.bank.dealing import ShoeRules
from paytables.blackjack.results import (
    BLACKJACK_RESULT,
    EVEN_MONEY_RESULT,
    SUITED_678_RESULT,
    THREE_SEVENS_RESULT,
)
from paytables.blackjack.rule_texts import describe_rules, format_pays
from paytables.blackjack.schema import (
    ACE_VALUE,
    BEST_HAND_TOTAL,
    BOXES_MAX,
    EVEN_MONEY_ODDS,
    INSURANCE_SPOT,
    INSURANCE_TEXT,
    MAIN_SPOT,
    TEN_VALUE,
    AnalysedHouseRules,
    BlackjackSideBet,
    HouseRules,
    MainBet,
    NamedPay,
    ProvedFigures,
    sum_lowest_values,
)
from paytables.definition import Identifier, Text
from paytables.layout import TableDefinition
from paytables.side_bets import SideBetProgressiveLevel
from paytables.wording import format_count


class BlackjackDefinition(TableDefinition):
    """A blackjack table as its definition file describes it: shoe, boxes, house rules, side bets, proved figures."""

    shoe: ShoeRules = ShoeRules(decks=6)
    box_count: Annotated[int, Field(ge=1, le=BOXES_MAX)] = Field(default=1, alias="boxes")
    """The number of boxes on which one player may bet."""
    main_bet: MainBet = Field(default=MainBet(), alias="main")
    """The stake on a hand."""
    house_rules: HouseRules = Field(default=HouseRules(), alias="rules")
    """The house rules of the table."""
    side_bets: tuple[BlackjackSideBet, ...] = Field(default=(), alias="side")
    """The side bets of a box."""
    progressive_levels: tuple[SideBetProgressiveLevel, ...] = Field(
        (), description="levels that side bets play for, by their ids", alias="progressive"
    )
    """The progressive levels for which side bets play."""
    proved: dict[Identifier, ProvedFigures] = Field({}, description="written by `python -m tools.dev prove`")
    """The stored exact figures, by name."""

    def list_every_pay(self) -> list[NamedPay]:
        """Return the spot, name, title and odds of every pay of the table.

        The 1:1 of an ordinary win is left out, because it needs no line.
        """
        rules, suited_678_title = self.house_rules, Text(en="6-7-8 of one suit", fr="6-7-8 de même couleur")
        even_money_odds = EVEN_MONEY_ODDS if self.analysed_house_rules.even_money_up_cards else None
        table_pays = [
            (MAIN_SPOT, BLACKJACK_RESULT, Text(en="Blackjack", fr="Blackjack"), rules.blackjack_odds),
            (
                MAIN_SPOT,
                THREE_SEVENS_RESULT,
                Text(en="Three sevens", fr="Trois sept"),
                rules.three_sevens_odds,
            ),
            (MAIN_SPOT, SUITED_678_RESULT, suited_678_title, rules.suited_678_odds),
            (MAIN_SPOT, EVEN_MONEY_RESULT, Text(en="Even money", fr="Mise à égalité"), even_money_odds),
            (INSURANCE_SPOT, INSURANCE_SPOT, INSURANCE_TEXT, rules.insurance_odds),
        ]
        side_bet_pays = [
            (side.id, row.id, row.name, row.odds) for side in self.side_bets for row in side.rows
        ]
        return [
            (spot, name, title, odds) for spot, name, title, odds in table_pays if odds is not None
        ] + side_bet_pays

    def format_pay_table_rows(self) -> Mapping[str, Sequence[str]]:
        """Return the house rules, and the pays of :meth:`list_every_pay`, as text by language."""
        pays = self.list_every_pay()
        return {
            language: [
                *describe_rules(self.shoe, self.main_bet, self.house_rules, pays, language),
                *format_pays(pays, self.side_bets, language),
            ]
            for language in ("en", "fr")
        }

    @property
    def round_card_value_max(self) -> int:
        """Return an upper bound on the sum of all card values dealt in a round, to check that the shoe suffices.

        The worst case: each hand draws a ten at 20, and the dealer one at 16.
        """
        hands = self.box_count * self.table.seat_count * self.house_rules.split_rules.hands_max
        return hands * (BEST_HAND_TOTAL - 1 + TEN_VALUE) + self.main_bet.dealer_hand_count * (16 + TEN_VALUE)

    @property
    def analysed_house_rules(self) -> AnalysedHouseRules:
        """Return the house rules, and the number of decks, in the form that the exact analysis reads."""
        rules = self.house_rules
        even_money_up_cards = {"no": (), "ace": (ACE_VALUE,), "ten": (ACE_VALUE, TEN_VALUE)}[
            rules.even_money_against
        ]
        return AnalysedHouseRules(
            deck_count=self.shoe.deck_count,
            has_hole_card=rules.second_card_time == "hole",
            hits_soft_17=rules.soft_17_action == "hit",
            original_bets_only=rules.original_bets_only,
            blackjack_odds=rules.blackjack_odds.net,
            double_totals=rules.double_rules.permitted_totals,
            double_after_split=rules.double_rules.is_permitted_after_split,
            hands_max=rules.split_rules.hands_max,
            ace_hands_max=rules.split_rules.ace_hands_max,
            aces_get_one_card=rules.split_rules.aces_get_one_card,
            splits_same_rank_only=rules.split_rules.pair_equality == "rank",
            insurance_odds=None if rules.insurance_odds is None else rules.insurance_odds.net,
            even_money_up_cards=frozenset(even_money_up_cards),
            sevens_odds=None if rules.three_sevens_odds is None else rules.three_sevens_odds.net,
            suited_678_odds=None if rules.suited_678_odds is None else rules.suited_678_odds.net,
        )

    @model_validator(mode="after")
    def _check_table(self) -> "BlackjackDefinition":
        """Refuse a table whose rules contradict each other, with duplicate ids, or whose shoe may run out."""
        if self.box_count * self.table.seat_count > BOXES_MAX:
            raise ValueError(
                f"{format_count(self.box_count, 'box', 'boxes')} for each of {self.table.seat_count} seats;"
                f" a table has {BOXES_MAX} boxes at most"
            )
        if self.main_bet.dealer_hand_count > 1 and self.house_rules.second_card_time == "hole":
            raise ValueError(
                'rules.second_card: must not be "hole" if the dealer completes several hands from the same first card'
            )
        if self.house_rules.accepts_back_bets and (
            self.table.seat_count == 1 or self.box_count > 1 or self.main_bet.dealer_hand_count > 1
        ):
            raise ValueError(
                "rules.back_bets: a bet on another's hand needs several seats, each with one box against one hand"
            )
        if (
            self.house_rules.accepts_back_bets
            and self.main_bet.limits.bet_max < 2 * self.main_bet.limits.bet_min
        ):
            raise ValueError(
                "rules.back_bets: the limit of a hand leaves no room for a bet on another's hand"
            )
        ids = [side.id for side in self.side_bets] + [row.id for side in self.side_bets for row in side.rows]
        duplicate = next((bet_id for bet_id in ids if ids.count(bet_id) > 1), None)
        if duplicate is not None:
            raise ValueError(f"side: {duplicate!r} is listed twice")
        self.shoe.check_player_count(self.table.seat_count)
        needed_value = self.round_card_value_max * self.shoe.rounds_per_shuffle
        if sum_lowest_values(self.shoe.deck_count, self.shoe.cards_behind_stop_card) < needed_value:
            rounds = "a round" if self.shoe.rounds_per_shuffle == 1 else "two rounds"
            raise ValueError(
                f"shoe: may run out in {rounds}: it must hold {needed_value} points, an ace as one"
            )
        return self
