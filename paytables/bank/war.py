"""War (Québec by-law, ss. 67.33-67.40): one card each, the higher wins; equal cards go to war.

On equal cards the player surrenders half of the stake, or adds the same amount: each side gets another card, each time
after three burned cards, and the higher wins (the first stake is paid and the added one returned); if they are
equal again both stakes are paid. A bet on the tie is separate.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Final

from pydantic import Field

from paytables.analysis import AnalysisDepth, BetAnalysis
from paytables.bank.dealing import build_table_after_round, open_shoe
from paytables.bank.rules import (
    BANK_NAMES,
    FRESH_SHOE_DEALS,
    PLAYER_NAMES,
    HandDescriptions,
    SeatedBankRules,
    build_added_spot,
    check_bets,
)
from paytables.bank.schema import BankBet, BankDefinition
from paytables.cards.card import SHOE_SIZES, Card, format_card, get_rank
from paytables.contract import Bet, Cue, Decision, DrawSource, Outcome, RoundEvents, Settlement, Spot, Wager
from paytables.errors import DefinitionError
from paytables.game import GameFamily
from paytables.layout import WeightedResult, compute_mean_return, settle_bet, settle_push
from paytables.seating import can_see_seat_cards, describe_owner, format_hand_id

#: Cards burned before each second card.
_BURNED_CARD_COUNT_BEFORE_WAR: Final = 3
#: The id of the bet on the higher card.
MAIN_SPOT: Final = "main"
#: The id of the bet on a tie.
TIE_SPOT: Final = "tie"
#: The id of the stake that is added to go to war.
WAR_SPOT: Final = "war"
#: The bank's key among the hands of a round, whose other keys are seats.
_BANK_HAND_KEY: Final = -1


class WarDefinition(BankDefinition):
    """The definition of a war game: the bet on the higher card, and an optional bet on the tie."""

    main_bet: BankBet = Field(alias="main")
    """The bet on the higher card."""
    tie_bet: BankBet | None = Field(default=None, alias="tie")
    """The optional bet on a tie of the first two cards."""

    def format_pay_table_rows(self) -> Mapping[str, Sequence[str]]:
        """Return what each bet pays and the number of decks, as text by language."""
        bets = [self.main_bet, *([] if self.tie_bet is None else [self.tie_bet])]
        return {
            language: [
                *(f"{getattr(bet.name, language)} - {bet.odds.text}" for bet in bets),
                self.shoe.format_deck_line(language),
            ]
            for language in ("en", "fr")
        }


class WarRules(SeatedBankRules[WarDefinition]):
    """The rules of a playable game of war. Each seat has one card, and all play against the bank's one card."""

    hands: ClassVar[HandDescriptions] = (("bank", BANK_NAMES, 2), ("player", PLAYER_NAMES, 2))

    @property
    def cards_needed_for_round(self) -> int:
        """Return the most cards that a round deals and burns, which is when every seat goes to war."""
        war_cards = 2 * (_BURNED_CARD_COUNT_BEFORE_WAR + 1)  # the seat's and the bank's second card
        return 1 + self.definition.table.seat_count * (1 + war_cards)

    def list_bets(self) -> tuple[BankBet, ...]:
        """Return the bets that this war game offers: the main bet, and the bet on a tie if there is one."""
        return (
            self.definition.main_bet,
            *(() if self.definition.tie_bet is None else (self.definition.tie_bet,)),
        )

    def list_added_spots(self) -> tuple[Spot, ...]:
        """Return the spot of the stake that a player adds to go to war."""
        return (build_added_spot(self.definition.main_bet, WAR_SPOT, {"en": "War", "fr": "Bataille"}),)

    def find_added_stake_factor(self, bet: BankBet) -> int:
        """Return the stake that a player adds to go to war, as a multiple of ``bet``: 1 for the main bet, else 0."""
        return int(bet.id == MAIN_SPOT)

    def play_seats(self, bets: Sequence[Bet], draw: DrawSource, viewer: int | None) -> RoundEvents:
        """Play a round: deal a card to each seat and the bank, settle, and go to war for seats that choose it."""
        shoe_rules = self.definition.shoe
        shoe, cues = open_shoe(shoe_rules, self.table_state, draw)
        yield from cues
        seats = sorted({bet.seat for bet in bets})
        hands: dict[int, list[Card]] = {}
        for seat in seats:
            hands[seat] = [shoe.deal(draw, f"seat {seat}")]
            yield _build_deal_cue(hands, seat)
        hands[_BANK_HAND_KEY] = [shoe.deal(draw, "bank")]
        yield _build_deal_cue(hands, _BANK_HAND_KEY)
        for seat in seats:
            seat_bets = {bet.spot: bet for bet in bets if bet.seat == seat}
            comparison = _compare_ranks(hands[seat][0], hands[_BANK_HAND_KEY][0])
            if TIE_SPOT in seat_bets:
                yield self._settle_tie_bet(seat_bets[TIE_SPOT], comparison)
            if MAIN_SPOT not in seat_bets:
                continue
            if comparison:
                yield _settle_main_bet(seat_bets[MAIN_SPOT], self.definition.main_bet, comparison)
                continue
            war_bet = Bet(WAR_SPOT, seat_bets[MAIN_SPOT].credits, seat)
            # All cards are open, but another seat's decision is shown without advice.
            prompt = _build_display(hands, viewer) | (
                {"advice": "war"} if can_see_seat_cards(seat, viewer) else {}
            )
            decision = Decision("war", ("surrender", "war"), prompt, {"war": war_bet}, seat)
            if decision.get_chosen_option((yield decision)) == "surrender":
                yield _settle_surrender(seat_bets[MAIN_SPOT])
                continue
            for hand_key in (seat, _BANK_HAND_KEY):
                for n in range(_BURNED_CARD_COUNT_BEFORE_WAR):
                    shoe.deal(draw, f"burned {n + 1}")
                hands[hand_key] = [hands[hand_key][0], shoe.deal(draw, f"war {_format_hand_id(hand_key)}")]
                yield _build_deal_cue(hands, hand_key)
            second_comparison = _compare_ranks(hands[seat][1], hands[_BANK_HAND_KEY][1])
            yield from _settle_war(seat_bets[MAIN_SPOT], war_bet, self.definition.main_bet, second_comparison)
        return Outcome(
            display=_build_display(hands, viewer),
            table_state=build_table_after_round(shoe_rules, shoe, self.table_state),
        )

    def _settle_tie_bet(self, bet: Bet, comparison: int) -> Settlement:
        """Return the settlement of the bet on a tie; ``comparison`` is 0 if the first cards have equal ranks."""
        tie_bet = self.definition.tie_bet
        return settle_bet(bet, tie_bet.odds if tie_bet is not None and comparison == 0 else None)

    def iter_cases(self, wager: Wager) -> Iterable[WeightedResult]:
        """Return every possible result of a war wager if the player always goes to war on a tie."""
        return self._iter_cases(wager, surrenders=False)

    def iter_every_case(self, wager: Wager) -> Iterable[WeightedResult]:
        """Return every case of a war round, for both decisions at a tie: going to war and surrendering."""
        return (*self._iter_cases(wager, surrenders=False), *self._iter_cases(wager, surrenders=True))

    def _iter_cases(self, wager: Wager, *, surrenders: bool) -> Iterator[WeightedResult]:
        """Yield one case for each way in which the first cards, and after a tie the second, may compare.

        With ``surrenders`` the round ends at the tie. Burned cards are left out, because they have no effect
        on the probabilities: any two of the remaining cards are equally likely.
        """
        deck_count = self.definition.shoe.deck_count
        card_count, cards_per_rank = 52 * deck_count, 4 * deck_count
        bets = {bet.spot: bet for bet in wager.bets}
        tie_probability = Fraction(cards_per_rank - 1, card_count - 1)
        for comparison in (1, -1):
            settlements = [self._settle_first_cards(bet, comparison) for bet in bets.values()]
            yield WeightedResult((1 - tie_probability) / 2, settlements)
        if MAIN_SPOT not in bets or surrenders:
            settlements = [
                _settle_surrender(bet) if bet.spot == MAIN_SPOT else self._settle_first_cards(bet, 0)
                for bet in bets.values()
            ]
            yield WeightedResult(tie_probability, settlements)
            return
        # the two second cards are equal: both of one of the 12 other ranks, or of the rank of the first cards
        cards_left = card_count - 2
        second_tie_probability = Fraction(
            12 * cards_per_rank * (cards_per_rank - 1) + (cards_per_rank - 2) * (cards_per_rank - 3),
            cards_left * (cards_left - 1),
        )
        second_win_probability = (1 - second_tie_probability) / 2
        tie_settlements = [self._settle_first_cards(bets[TIE_SPOT], 0)] if TIE_SPOT in bets else []
        war_bet = Bet(WAR_SPOT, bets[MAIN_SPOT].credits)
        for comparison, probability in (
            (1, second_win_probability),
            (-1, second_win_probability),
            (0, second_tie_probability),
        ):
            settlements = [
                *tie_settlements,
                *_settle_war(bets[MAIN_SPOT], war_bet, self.definition.main_bet, comparison),
            ]
            yield WeightedResult(tie_probability * probability, settlements, added_credits=war_bet.credits)

    def _settle_first_cards(self, bet: Bet, comparison: int) -> Settlement:
        """Return the settlement of the main bet, or of the bet on the tie, by the first cards.

        ``comparison`` is 1 if the player's card is higher, 0 if equal, -1 if lower.
        """
        return (
            self._settle_tie_bet(bet, comparison)
            if bet.spot == TIE_SPOT
            else _settle_main_bet(bet, self.definition.main_bet, comparison)
        )

    def analyse_stakes(self, bet_name: str, stakes: Mapping[str, int], depth: AnalysisDepth) -> BetAnalysis:
        """Return the figures of always going to war, and of always surrendering half the stake at a tie."""
        base_figures = super().analyse_stakes(bet_name, stakes, depth)
        if MAIN_SPOT not in stakes:
            return base_figures
        wager = Wager(sum(stakes.values()), {"bets": dict(stakes)})
        surrender_rtp = compute_mean_return(wager, self._iter_cases(wager, surrenders=True))
        return replace(
            base_figures,
            strategy="always go to war",
            simplest_strategy="always go to war",
            simplest_rtp=base_figures.rtp,
            worst_rtp=min(surrender_rtp, base_figures.rtp),
        )


def _compare_ranks(player_card: Card, bank_card: Card) -> int:
    """Return 1, 0 or -1 if the player's card is higher than, equal to or lower than the bank's."""
    return (get_rank(player_card) > get_rank(bank_card)) - (get_rank(player_card) < get_rank(bank_card))


def _settle_main_bet(bet: Bet, bet_terms: BankBet, comparison: int) -> Settlement:
    """Return the settlement of the main bet by first cards that differ.

    ``comparison`` is 1 if the player's card is higher, or -1 if it is lower.
    """
    return settle_bet(bet, bet_terms.odds if comparison > 0 else None)


def _settle_surrender(bet: Bet) -> Settlement:
    """Return the settlement of a bet whose player surrenders half of it instead of going to war."""
    return Settlement(
        "surrendered", bet.credits // 2, spot=bet.spot, staked_credits=bet.credits, seat=bet.seat
    )


def _settle_war(bet: Bet, war_bet: Bet, bet_terms: BankBet, comparison: int) -> list[Settlement]:
    """Return the settlements of the main bet and of the stake added for the war.

    ``comparison`` is 1, 0 or -1 if the player's second card is higher than, equal to or lower than the bank's.
    """
    if comparison < 0:
        return [settle_bet(bet, None), settle_bet(war_bet, None)]
    return [
        settle_bet(bet, bet_terms.odds),
        settle_bet(war_bet, bet_terms.odds) if comparison == 0 else settle_push(war_bet),
    ]


def _format_hand_id(hand_key: int) -> str:
    """Return the id of a seat's hand, or of the bank's, on the felt."""
    return "bank" if hand_key == _BANK_HAND_KEY else format_hand_id(hand_key)


def _build_deal_cue(hands: Mapping[int, Sequence[Card]], hand_key: int) -> Cue:
    """Return the cue that deals the last card of a seat's hand, or of the bank's."""
    return Cue("deal", {"hand": _format_hand_id(hand_key), "card": format_card(hands[hand_key][-1])})


def _build_display(hands: Mapping[int, Sequence[Card]], viewer: int | None) -> dict[str, object]:
    """Return all hands for the screen of the seat ``viewer``; all cards are dealt face up."""
    return {
        "kind": "table",
        "felt": "cards",
        "result": format_card(hands[_BANK_HAND_KEY][-1]),
        "hands": [
            {
                "id": _format_hand_id(hand_key),
                "cards": [format_card(card) for card in cards],
                **({} if hand_key == _BANK_HAND_KEY else describe_owner(hand_key, viewer)),
            }
            for hand_key, cards in hands.items()
        ],
    }


def _build_rules(definition: WarDefinition, file: str) -> WarRules:
    """Build the rules of war after checking the bets. Raises :class:`DefinitionError`."""
    if definition.main_bet.limits.bet_step % 2:
        reason = (
            f"{definition.main_bet.limits.bet_step} is not even,"
            " but a player who does not go to war loses half of the stake"
        )
        raise DefinitionError(file, "main.limits.step", reason)
    rules = WarRules(definition)
    check_bets(rules, file)
    return rules


FAMILY = GameFamily(WarDefinition, _build_rules, help_figures=SHOE_SIZES, counted_cases=FRESH_SHOE_DEALS)
