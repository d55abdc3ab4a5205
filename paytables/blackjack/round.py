"""One round of blackjack in play: the deal, the decisions of each box, the dealer's hands, every bet.

Amounts added in play (doubled, split) belong to the box's main bet; the settlement of a hand names the hand.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeAlias

from paytables.bank.dealing import build_table_after_round, open_shoe
from paytables.blackjack.advice import HandSituation, PackedStrategy
from paytables.blackjack.definition import BlackjackDefinition
from paytables.blackjack.results import (
    BLACKJACK_RESULT,
    EVEN_MONEY_RESULT,
    SUITED_678_RESULT,
    THREE_SEVENS_RESULT,
)
from paytables.blackjack.schema import (
    ACE_VALUE,
    BACK_SPOT_PREFIX,
    BEST_HAND_TOTAL,
    EVEN_MONEY_ODDS,
    INSURANCE_SPOT,
    MAIN_SPOT,
    SPOTS_BY_DEALER_HAND,
    TEN_VALUE,
    AnalysedHouseRules,
    BlackjackSideBet,
    compute_best_total,
    get_card_value,
    is_blackjack,
)
from paytables.cards.card import Card, Shoe, format_card, get_rank, get_suit
from paytables.contract import (
    Bet,
    Choice,
    Cue,
    Decision,
    DrawSource,
    LevelHit,
    Outcome,
    RoundEvent,
    RoundEvents,
    Settlement,
)
from paytables.layout import Odds, settle_bet, settle_push
from paytables.seating import FACE_DOWN_CARD_TEXT
from paytables.side_bets import build_level_hit

#: The id of the dealer's hand.
DEALER_HAND_ID: Final = "bank"
#: The option that insures a quarter of the stake.
QUARTER_INSURANCE_OPTION: Final = "insurance_quarter"


def format_spot_id(bet_name: str, box_index: int) -> str:
    """Return the id of a spot in a blackjack player's box (0 is the first), such as ``main`` or ``main-2``."""
    return bet_name if not box_index else f"{bet_name}-{box_index + 1}"


def format_back_spot_id(seat: int) -> str:
    """Return the id of the spot for bets on the hand of a seat (0 is the first), such as ``back-1``."""
    return f"{BACK_SPOT_PREFIX}-{seat + 1}"


@dataclass(frozen=True, slots=True)
class HandStake:
    """A part of the stake on a blackjack hand: a bet, or a stake added in play.

    It plays against one of the dealer's hands. A bet of another seat follows the hand, but is never insured,
    doubled or split.
    """

    bet: Bet
    """The spot and the credits of this part of the stake."""
    dealer_hand_index: int
    """The index of the dealer's hand that the bet is against."""
    is_added_in_play: bool = False
    """Whether the stake comes from a double or a split."""
    is_back_bet: bool = False
    """Whether the stake is another seat's bet on this hand (Québec s. 16)."""


@dataclass(slots=True)
class BlackjackHand:
    """A player's blackjack hand in a box, and the stakes on it that are not settled yet."""

    id: str
    cards: list[Card]
    stakes: list[HandStake]
    """The bets on the hand that are not settled yet."""
    is_from_split: bool = False
    """Whether the hand comes from a split pair."""
    is_closed: bool = False
    """Whether the hand takes no more cards, because it was doubled or is one of two split aces."""
    result_names: list[str] = field(default_factory=list)
    """Names of the results of the hand's settled bets, in order."""

    @property
    def values(self) -> list[int]:
        """Return the values of the blackjack hand's cards."""
        return [get_card_value(card) for card in self.cards]

    @property
    def points(self) -> int:
        """Return the best blackjack total of the hand."""
        return compute_best_total(self.values)[0]

    @property
    def is_blackjack(self) -> bool:
        """Return whether the hand is an ace and a ten-value card and does not come from a split."""
        return not self.is_from_split and is_blackjack(self.values)

    @property
    def unsettled_own_stakes(self) -> list[HandStake]:
        """Return the stakes of the hand's own player that are not settled yet."""
        return [stake for stake in self.stakes if not stake.is_back_bet]

    @property
    def staked_credits(self) -> int:
        """Return the credits that the hand's own player has staked on it and that are not settled yet."""
        return sum(stake.bet.credits for stake in self.unsettled_own_stakes)


@dataclass(slots=True)
class BettingBox:
    """A blackjack player's box: its seat, its hands, its side bets, and its cards in the order dealt."""

    seat: int
    """The seat of the player who bets on the box."""
    index_at_seat: int
    """The index of the box among the boxes of its seat."""
    id: str
    hands: list[BlackjackHand]
    side_bets: list[tuple[BlackjackSideBet, Bet]]
    """The side bets of the box that are not settled yet, each with its rules."""
    insurance_bets: dict[int, Bet] = field(default_factory=dict)
    """The insurance stake by index of the dealer's hand that it is against."""
    dealt_cards: list[Card] = field(default_factory=list)
    """All cards dealt to the box, in order; its side bets are decided by the first of them."""


#: A question to a seat in progress, whose result is the chosen option.
SeatQuestion: TypeAlias = Generator[RoundEvent, Choice | None, str]


class BlackjackRound:
    """A blackjack round in progress.

    Without ``seat`` it is one game of all seats that bet. With ``seat`` it is the game of that seat alone: the
    boxes of the other seats are dealt and played too, but their stakes are not settled. ``best_strategy`` is the
    strategy whose advice the prompts show, computed for a fresh shoe; None: no advice.
    """

    def __init__(
        self,
        definition: BlackjackDefinition,
        house: AnalysedHouseRules,
        best_strategy: PackedStrategy | None,
        bets: Sequence[Bet],
        seat: int | None = None,
    ) -> None:
        self.seat = seat
        self.definition, self.house, self.best_strategy = definition, house, best_strategy
        self.boxes = _build_boxes(definition, bets)
        self.dealer_hands: list[list[Card]] = []
        """The cards of each of the dealer's hands on which somebody bets."""
        self._staked_dealer_hands = sorted(
            {stake.dealer_hand_index for box in self.boxes for stake in box.hands[0].stakes}
        )
        """The indices of the dealer's hands on which somebody bets."""
        self._is_second_card_hidden = False
        """Whether the dealer's second card lies face down."""
        self._shoe = Shoe.from_decks()
        self._levels = {level.spot: level for level in definition.progressive_levels}
        """The progressive levels that side bets play for, by spot."""
        self._levels_hit: list[LevelHit] = []
        """The progressive levels hit so far."""

    @property
    def up_card_value(self) -> int:
        """Return the value of the dealer's face-up card, which is the first one dealt to the dealer."""
        return get_card_value(self.dealer_hands[0][0])

    # ------------------------------------------------------------ the round
    def play(self, table_state: object, draw: DrawSource) -> RoundEvents:
        """Play the round: deal, offer insurance, let each box play, play the dealer's hands, settle every bet."""
        rules = self.definition.shoe
        self._shoe, cues = open_shoe(rules, table_state, draw)
        yield from cues
        yield from self._deal_first_cards(draw)
        yield from self._settle_side_bets(2)
        for box in self.boxes:
            yield from self._offer_insurance(box)
        is_over = self.house.has_hole_card and is_blackjack(self._list_dealer_values(0))
        if self.house.has_hole_card and not is_over:
            yield from self._settle_insurance(0, is_won=False)
        for box in self.boxes if not is_over else ():
            yield from self._play_box(box, draw)
        yield from self._settle_side_bets()
        for index, dealer_hand_index in enumerate(self._staked_dealer_hands):
            yield from self._complete_and_settle_dealer_hand(index, dealer_hand_index, draw)
        yield from self._settle_side_bets(hits_levels=True)
        return Outcome(
            progressives=tuple(self._levels_hit),
            display={**self.describe_visible_hands(), "result": self._format_result()},
            table_state=build_table_after_round(rules, self._shoe, table_state),
        )

    def _deal_card(
        self, draw: DrawSource, hand_id: str, cards: list[Card], *, is_hidden: bool = False
    ) -> Iterator[Cue]:
        """Deal a card from the shoe to the hand with the id ``hand_id``; yield the animation cue."""
        cards.append(self._shoe.deal(draw, f"{hand_id} card {len(cards) + 1}"))
        yield Cue(
            "deal", {"hand": hand_id, "card": FACE_DOWN_CARD_TEXT if is_hidden else format_card(cards[-1])}
        )

    def _deal_card_to_box(self, box: BettingBox, hand: BlackjackHand, draw: DrawSource) -> Iterator[Cue]:
        """Deal a card to a hand of a box; yield the animation cue."""
        yield from self._deal_card(draw, hand.id, hand.cards)
        box.dealt_cards.append(hand.cards[-1])

    def _deal_first_cards(self, draw: DrawSource) -> Iterator[Cue]:
        """Deal the first cards; yield the animation cues.

        Each box gets a card, the dealer one, and each box a second. If the rules require it, the dealer then gets a
        hidden second card.
        """
        self.dealer_hands.append([])
        for card_index in range(2):
            for box in self.boxes:
                yield from self._deal_card_to_box(box, box.hands[0], draw)
            if card_index == 0 or self.house.has_hole_card:
                yield from self._deal_card(
                    draw, DEALER_HAND_ID, self.dealer_hands[0], is_hidden=card_index == 1
                )
        self._is_second_card_hidden = self.house.has_hole_card

    def _list_dealer_values(self, hand_index: int) -> list[int]:
        """Return the card values of the dealer's hand number ``hand_index``."""
        return [get_card_value(card) for card in self.dealer_hands[hand_index]]

    # ------------------------------------------------------------ player decisions
    def _ask_for_decision(
        self,
        box: BettingBox,
        hand: BlackjackHand,
        decision_kind: str,
        options: Sequence[str],
        stakes: Mapping[str, Bet],
    ) -> SeatQuestion:
        """Ask a box's seat for its decision on a hand; return the chosen option."""

        def build_more_prompt() -> dict[str, object]:
            """Return the visible hands and, for the seat's own screen, its stake and the advice."""
            prompt: dict[str, object] = {**self.describe_visible_hands(), "hand": hand.id}
            if self._is_own_box(box):
                prompt |= {
                    "spot": format_spot_id(MAIN_SPOT, box.index_at_seat),
                    "staked": hand.staked_credits,
                }
                prompt |= self._find_advice(box, hand, options)
            return prompt

        decision = Decision(
            decision_kind, tuple(options), stakes=stakes, seat=box.seat, build_more_prompt=build_more_prompt
        )
        return str(decision.get_chosen_option((yield decision)))

    def _find_advice(self, box: BettingBox, hand: BlackjackHand, options: Sequence[str]) -> dict[str, str]:
        """Return the best decision for a player's hand, as from a fresh shoe, for the prompt.

        The mapping is empty if the definition stores no strategy.
        """
        best_strategy, values = self.best_strategy, hand.values
        if best_strategy is None:
            return {}
        if "no_insurance" in options:
            takes_even_money = "even_money" in options and best_strategy.should_take_even_money(
                self.up_card_value
            )
            takes_insurance = "insurance" in options and best_strategy.should_insure(values)
            return {
                "advice": "even_money"
                if takes_even_money
                else "insurance"
                if takes_insurance
                else "no_insurance"
            }
        pair_value = values[0] if hand.is_from_split or "split" in options else 0
        up_card, first_card = self.dealer_hands[0][0], hand.cards[0]
        has_pair_rank = (
            self.house.splits_same_rank_only
            and pair_value == TEN_VALUE
            and get_rank(up_card) == get_rank(first_card)
        )
        if "split" in options and best_strategy.count_split_hands(
            self.up_card_value, pair_value, has_pair_rank=has_pair_rank
        ) > len(box.hands):
            return {"advice": "split"}
        situation = HandSituation(self.up_card_value)
        if hand.is_from_split:
            situation = HandSituation(
                self.up_card_value,
                pair_value,
                is_unsplittable_pair=values[1] == pair_value,
                dealer_has_pair_rank=has_pair_rank,
            )
        return {
            "advice": best_strategy.find_option(
                situation, values, is_suited=get_suit(first_card) == get_suit(hand.cards[1])
            )
        }

    def _offer_insurance(self, box: BettingBox) -> Iterator[RoundEvent]:
        """Offer a box insurance and even money, before the first box plays."""
        hand, stakes = box.hands[0], dict[str, Bet]()
        options = ["no_insurance"]
        if self.house.insurance_odds is not None and self.up_card_value == ACE_VALUE:
            spot = format_spot_id(INSURANCE_SPOT, box.index_at_seat)
            stakes["insurance"] = Bet(spot, hand.staked_credits // 2, box.seat)
            offers_quarter = self.definition.house_rules.offers_quarter_insurance
            if offers_quarter and all(stake.bet.credits % 4 == 0 for stake in hand.unsettled_own_stakes):
                stakes[QUARTER_INSURANCE_OPTION] = Bet(spot, hand.staked_credits // 4, box.seat)
            options += stakes
        if hand.is_blackjack and self.up_card_value in self.house.even_money_up_cards:
            options.append("even_money")
        if len(options) == 1:
            return
        chosen_option = yield from self._ask_for_decision(box, hand, "insurance", options, stakes)
        if chosen_option in stakes:
            stake_divisor = 4 if chosen_option == QUARTER_INSURANCE_OPTION else 2
            for stake in hand.unsettled_own_stakes:
                box.insurance_bets[stake.dealer_hand_index] = replace(
                    stakes[chosen_option], credits=stake.bet.credits // stake_divisor
                )
        elif chosen_option == "even_money":
            yield from _settle_stakes(
                hand,
                lambda bet: settle_bet(bet, EVEN_MONEY_ODDS, EVEN_MONEY_RESULT),
                lambda stake: not stake.is_back_bet,
            )

    def _play_box(self, box: BettingBox, draw: DrawSource) -> Iterator[RoundEvent]:
        """Play a box's hands one after another, including those of splits."""
        hand_index = 0
        while hand_index < len(box.hands):
            hand = box.hands[hand_index]
            if len(hand.cards) == 1:
                yield from self._deal_card_to_box(box, hand, draw)
            yield from self._play_hand(box, hand, draw)
            hand_index += 1

    def _play_hand(self, box: BettingBox, hand: BlackjackHand, draw: DrawSource) -> Iterator[RoundEvent]:
        """Ask the player for the decisions on one hand of a box until it stands, busts or is settled.

        Wins that are paid at once, before the dealer plays, such as 6-7-8 in one suit or 7-7-7, are settled too.
        """
        while hand.stakes and not hand.is_blackjack:
            if (immediate_win := self._find_immediate_win(hand)) is not None:
                result_name, odds = immediate_win
                yield from _settle_stakes(hand, partial(settle_bet, odds=odds, settlement_name=result_name))
            elif hand.points > BEST_HAND_TOTAL:
                yield from self._settle_busted_hand(hand)
                return
            options = self._list_options(box, hand)
            if not hand.stakes or len(options) == 1:
                return
            added_bet = Bet(format_spot_id(MAIN_SPOT, box.index_at_seat), hand.staked_credits, box.seat)
            stakes = {name: added_bet for name in options if name in {"double", "split"}}
            chosen_option = yield from self._ask_for_decision(box, hand, "blackjack", options, stakes)
            if chosen_option == "stand":
                return
            if chosen_option == "split":
                yield self._split_hand(box, hand)
            elif chosen_option == "double":
                hand.stakes += _list_added_stakes(box, hand)
                hand.is_closed = True
            yield from self._deal_card_to_box(box, hand, draw)

    def _list_options(self, box: BettingBox, hand: BlackjackHand) -> list[str]:
        """Return the options that the rules permit for a player's hand.

        A hard 21 and a closed hand (a doubled hand, or split aces that get one card each) take no more cards; a pair
        may still be split if the rules permit more hands.
        """
        values, house = hand.values, self.house
        best_total, is_soft = compute_best_total(values)
        is_pair = len(values) == 2 and values[0] == values[1]
        if house.splits_same_rank_only:
            is_pair = is_pair and get_rank(hand.cards[0]) == get_rank(hand.cards[1])
        is_ace_pair = is_pair and values[0] == ACE_VALUE
        options = ["stand"]
        if not hand.is_closed and (best_total < BEST_HAND_TOTAL or is_soft):
            options.append("hit")
            if house.can_double(values, split=hand.is_from_split):
                options.append("double")
        if is_pair and len(box.hands) < (house.ace_hands_max if is_ace_pair else house.hands_max):
            options.append("split")
        return options

    def _split_hand(self, box: BettingBox, hand: BlackjackHand) -> Cue:
        """Split a player's hand in two; return the animation cue.

        The first of the two hands gets its second card next; the second hand gets it when it is played.
        """
        gets_one_card = hand.values[0] == ACE_VALUE and self.house.aces_get_one_card
        second_hand = BlackjackHand(
            f"{box.id}-{len(box.hands) + 1}",
            [hand.cards.pop()],
            _list_added_stakes(box, hand),
            is_from_split=True,
        )
        hand.is_from_split = True
        hand.is_closed = second_hand.is_closed = gets_one_card
        box.hands.insert(box.hands.index(hand) + 1, second_hand)
        return Cue("split", {"hand": hand.id, "to": second_hand.id})

    def _find_immediate_win(self, hand: BlackjackHand) -> tuple[str, Odds] | None:
        """Return the name and the odds of a win that the hand's three cards decide alone, or None without one."""
        rules, values = self.definition.house_rules, sorted(hand.values)
        if rules.three_sevens_odds is not None and values == [7, 7, 7]:
            return THREE_SEVENS_RESULT, rules.three_sevens_odds
        is_suited = len({get_suit(card) for card in hand.cards}) == 1
        if rules.suited_678_odds is not None and values == [6, 7, 8] and is_suited:
            return SUITED_678_RESULT, rules.suited_678_odds
        return None

    def _settle_busted_hand(self, hand: BlackjackHand) -> Iterator[Settlement]:
        """Settle the stakes on a player's bust hand as lost.

        A stake added by a double or split is settled later if the rules return it when the dealer has a
        blackjack.
        """
        returns_added_stakes = self.house.original_bets_only and self.up_card_value in {ACE_VALUE, TEN_VALUE}
        yield from _settle_stakes(
            hand, settle_lost_bet, lambda stake: not (returns_added_stakes and stake.is_added_in_play)
        )

    # ------------------------------------------------------------ the dealer
    def _complete_and_settle_dealer_hand(
        self, hand_index: int, dealer_hand_index: int, draw: DrawSource
    ) -> Iterator[RoundEvent]:
        """Complete a hand of the dealer if undecided bets need it, and settle the bets against it.

        ``dealer_hand_index`` is the index of the hand among all hands of the dealer, as in :class:`HandStake`.
        ``hand_index`` is its index in ``dealer_hands``, which has only the hands on which somebody bets.
        """
        name = DEALER_HAND_ID if hand_index == 0 else f"{DEALER_HAND_ID}-{hand_index + 1}"
        hands = [
            hand for box in self.boxes for hand in box.hands if _has_bets_against(hand, dealer_hand_index)
        ]
        needs_total = any(hand.points <= BEST_HAND_TOTAL and not hand.is_blackjack for hand in hands)
        has_insurance = any(dealer_hand_index in box.insurance_bets for box in self.boxes)
        if hand_index:
            self.dealer_hands.append(self.dealer_hands[0][:1])
            yield Cue("deal", {"hand": name, "card": format_card(self.dealer_hands[0][0])})
        cards = self.dealer_hands[hand_index]
        if self._is_second_card_hidden:
            self._is_second_card_hidden = False
            yield Cue("flip", {"hand": name, "index": 1, "card": format_card(cards[1])})
        elif needs_total or ((hands or has_insurance) and self.up_card_value in {ACE_VALUE, TEN_VALUE}):
            yield from self._deal_card(draw, name, cards)
        while needs_total and self.house.should_dealer_draw(self._list_dealer_values(hand_index)):
            yield from self._deal_card(draw, name, cards)
        yield from self._settle_insurance(
            dealer_hand_index, is_won=is_blackjack(self._list_dealer_values(hand_index))
        )
        for hand in hands:
            yield from self._settle_against_dealer(
                hand, dealer_hand_index, self._list_dealer_values(hand_index)
            )

    def _settle_insurance(self, dealer_hand_index: int, *, is_won: bool) -> Iterator[Settlement]:
        """Settle every insurance against one of the dealer's hands."""
        for box in self.boxes:
            bet = box.insurance_bets.pop(dealer_hand_index, None)
            if bet is not None:
                yield settle_bet(bet, self.definition.house_rules.insurance_odds if is_won else None)

    def _settle_against_dealer(
        self, hand: BlackjackHand, dealer_hand_index: int, values: Sequence[int]
    ) -> Iterator[Settlement]:
        """Settle a player's stakes against one of the dealer's hands, whose cards have ``values``."""
        (dealer_total, _), has_blackjack = compute_best_total(values), is_blackjack(values)

        def is_bet_against(stake: HandStake) -> bool:
            """Return whether a stake plays against the dealer's hand that is being settled."""
            return stake.dealer_hand_index == dealer_hand_index

        if has_blackjack and hand.is_blackjack:
            yield from _settle_stakes(hand, settle_push, is_bet_against)
        elif has_blackjack:
            returns_added_stakes = self.house.original_bets_only
            yield from _settle_stakes(
                hand,
                settle_lost_bet,
                lambda stake: is_bet_against(stake) and not (returns_added_stakes and stake.is_added_in_play),
            )
            yield from _settle_stakes(hand, settle_push, is_bet_against)
        elif hand.is_blackjack:
            odds = self.definition.house_rules.blackjack_odds
            yield from _settle_stakes(
                hand, partial(settle_bet, odds=odds, settlement_name=BLACKJACK_RESULT), is_bet_against
            )
        elif hand.points > BEST_HAND_TOTAL:
            yield from _settle_stakes(hand, settle_lost_bet, is_bet_against)
        elif dealer_total > BEST_HAND_TOTAL or hand.points > dealer_total:
            yield from _settle_stakes(hand, partial(settle_bet, odds=EVEN_MONEY_ODDS), is_bet_against)
        else:
            yield from _settle_stakes(
                hand, settle_push if hand.points == dealer_total else settle_lost_bet, is_bet_against
            )

    # ------------------------------------------------------------ side bets
    def _settle_side_bets(
        self, card_count_max: int = BEST_HAND_TOTAL, *, hits_levels: bool = False
    ) -> Iterator[Settlement]:
        """Settle the side bets that are decided by at most ``card_count_max`` cards of their box.

        Side bets that play for a progressive level are only settled with ``hits_levels``, at the end: a level is
        only won if the round is completed, and if the round becomes void, their stake is returned.
        """
        for box in self.boxes:
            ready_bets = [
                (side, bet)
                for side, bet in box.side_bets
                if side.card_count_max <= card_count_max and (hits_levels or side.id not in self._levels)
            ]
            box.side_bets = [side_bet for side_bet in box.side_bets if side_bet not in ready_bets]
            for side, bet in ready_bets:
                row = side.find_winning_row(box.dealt_cards, self.dealer_hands[0][0])
                if row is not None and row.odds.level_share and self._is_own_box(box):
                    self._levels_hit.append(build_level_hit(self._levels[side.id], row.odds))
                yield settle_lost_bet(bet) if row is None else settle_bet(bet, row.odds, row.id)

    def _is_own_box(self, box: BettingBox) -> bool:
        """Return whether the stakes of a box belong to the seat for which this game is played.

        Always True for a round that is played for all seats.
        """
        return self.seat in {None, box.seat}

    # ------------------------------------------------------------ screen data
    def describe_visible_hands(self) -> dict[str, object]:
        """Return the visible hands for the screen, the dealer's first (:file:`paytables/FELTS.md`)."""
        shown_hands: list[dict[str, object]] = []
        for index, cards in enumerate(self.dealer_hands):
            card_texts = [format_card(card) for card in cards]
            is_hidden = self._is_second_card_hidden and len(cards) > 1
            hand_id = DEALER_HAND_ID if index == 0 else f"{DEALER_HAND_ID}-{index + 1}"
            if is_hidden:
                shown_hands.append({"id": hand_id, "cards": [card_texts[0], FACE_DOWN_CARD_TEXT]})
            else:
                shown_hands.append(
                    {
                        "id": hand_id,
                        "cards": card_texts,
                        "says": describe_hand_value(self._list_dealer_values(index), is_from_split=False),
                    }
                )
        for box in self.boxes:
            for hand in box.hands:
                seat_fields: dict[str, object] = {} if self.seat is None else {"seat": box.seat}
                if self._is_own_box(box):
                    seat_fields |= {} if self.seat is None else {"own": True}
                    seat_fields |= (
                        {"staked": hand.staked_credits}
                        if hand.staked_credits
                        else {"became": list(hand.result_names)}
                    )
                card_texts = [format_card(card) for card in hand.cards]
                value_text = describe_hand_value(hand.values, is_from_split=hand.is_from_split)
                shown_hands.append({"id": hand.id, "cards": card_texts, "says": value_text, **seat_fields})
        return {"kind": "table", "felt": "cards", "hands": shown_hands}

    def _format_result(self) -> str:
        """Return the dealer's totals as text, for the row of recent results."""
        values_of_hands = [self._list_dealer_values(index) for index in range(len(self.dealer_hands))]
        return "-".join(
            "BJ" if is_blackjack(hand_values) else str(compute_best_total(hand_values)[0])
            for hand_values in values_of_hands
        )


def describe_hand_value(values: Sequence[int], *, is_from_split: bool) -> str | dict[str, str]:
    """Return the value of a blackjack hand for display: its total, both totals of a soft hand, or a text."""
    best_total, is_soft = compute_best_total(values)
    if not is_from_split and is_blackjack(values):
        return {"en": "Blackjack", "fr": "Blackjack"}
    if best_total > BEST_HAND_TOTAL:
        return {"en": f"{best_total}, over 21", "fr": f"{best_total}, plus de 21"}
    return f"{best_total - 10}/{best_total}" if is_soft and best_total < BEST_HAND_TOTAL else str(best_total)


def settle_lost_bet(bet: Bet) -> Settlement:
    """Return the settlement of a blackjack bet that loses: nothing is paid for it."""
    return settle_bet(bet, None)


def _has_bets_against(hand: BlackjackHand, dealer_hand_index: int) -> bool:
    """Return whether a player's hand has undecided stakes against one of the dealer's hands."""
    return any(stake.dealer_hand_index == dealer_hand_index for stake in hand.stakes)


def _accept_every_stake(_: HandStake) -> bool:
    """Return True, so that every stake on a blackjack hand is selected for settlement."""
    return True


def _settle_stakes(
    hand: BlackjackHand,
    settle: Callable[[Bet], Settlement],
    is_included: Callable[[HandStake], bool] = _accept_every_stake,
) -> Iterator[Settlement]:
    """Settle the stakes on a blackjack hand that ``is_included`` selects, combining those on the same spot."""
    stakes: dict[tuple[str, int, bool], int] = {}
    for stake in filter(is_included, hand.stakes):
        key = stake.bet.spot, stake.bet.seat, stake.is_back_bet
        stakes[key] = stakes.get(key, 0) + stake.bet.credits
    hand.stakes = [stake for stake in hand.stakes if not is_included(stake)]
    for (spot, seat, is_back_bet), credits_ in stakes.items():
        settlement = replace(settle(Bet(spot, credits_, seat)), detail={"hand": hand.id})
        if not is_back_bet:
            hand.result_names.append(settlement.name)
        yield settlement


def _list_added_stakes(box: BettingBox, hand: BlackjackHand) -> list[HandStake]:
    """Return the stakes that a blackjack double or split adds: each bet on the hand once more, on the same terms."""
    main_spot = format_spot_id(MAIN_SPOT, box.index_at_seat)
    return [
        HandStake(Bet(main_spot, stake.bet.credits, box.seat), stake.dealer_hand_index, is_added_in_play=True)
        for stake in hand.unsettled_own_stakes
    ]


def _build_boxes(definition: BlackjackDefinition, bets: Sequence[Bet]) -> list[BettingBox]:
    """Return the boxes of the table that have bets, in the order of the seats; bets of others on a hand come last."""
    boxes = []
    for seat in sorted({bet.seat for bet in bets}):
        for number in range(definition.box_count):
            bets_by_spot = {bet.spot: bet for bet in bets if bet.seat == seat}
            main_bets = [bets_by_spot.get(format_spot_id(name, number)) for name in SPOTS_BY_DEALER_HAND]
            hand_stakes = [HandStake(bet, n) for n, bet in enumerate(main_bets) if bet is not None]
            sides = [
                (side, bets_by_spot.get(format_spot_id(side.id, number))) for side in definition.side_bets
            ]
            side_bets = [(side, bet) for side, bet in sides if bet is not None]
            if hand_stakes:
                back_spot = format_back_spot_id(seat)
                hand_stakes += [HandStake(bet, 0, is_back_bet=True) for bet in bets if bet.spot == back_spot]
                box_id = f"box-{seat * definition.box_count + number + 1}"
                hand = BlackjackHand(box_id, [], hand_stakes)
                boxes.append(BettingBox(seat, number, box_id, [hand], side_bets))
    return boxes
