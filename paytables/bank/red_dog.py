"""Red dog (Québec by-law, ss. 63-67): two cards, and a third that must fall between them.

If the first two cards are neighbours in rank, the bet is a push. If they are equal, it wins if the third card is
equal too, and is otherwise a push. In all other cases the player may raise by up to the stake before the third card
is dealt; the bet wins if the third card lies strictly between the first two.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, ClassVar, Final

from pydantic import Field

from paytables.analysis import AnalysisDepth, BetAnalysis
from paytables.bank.dealing import build_table_after_round, open_shoe
from paytables.bank.rules import BANK_NAMES, BankRules, HandDescriptions, build_added_spot, build_bank_family
from paytables.bank.schema import BankBet, BankDefinition
from paytables.cards.card import Card, format_card, get_rank
from paytables.contract import Bet, Cue, Decision, DrawSource, Outcome, RoundEvents, Settlement, Spot, Wager
from paytables.layout import Odds, WeightedResult, WrittenOdds, compute_mean_return, settle_bet, settle_push
from paytables.seating import SeatedRules, can_see_seat_cards

#: Ranks of a pack.
_RANK_COUNT: Final = 13
#: The option that raises, and the id of its spot.
RAISE_SPOT: Final = "raise"


class RedDogBet(BankBet):
    """The only bet of red dog.

    The key ``spreads`` has the odds for the spreads that it lists, ``pays`` the odds for every other spread.
    """

    odds_by_spread: dict[Annotated[int, Field(ge=1, le=_RANK_COUNT - 2)], WrittenOdds] = Field(
        alias="spreads"
    )
    """The odds for spreads that do not pay ``pays``, by spread (in Québec one to three)."""
    triple_odds: WrittenOdds = Field(alias="triple")
    """The odds if all three cards have the same rank."""

    def list_every_pay(self) -> tuple[Odds, ...]:
        """Return all the odds that the red dog bet may pay: for each spread, and for three of a rank."""
        return (self.odds, self.triple_odds, *self.odds_by_spread.values())

    def find_odds(self, spread: int) -> Odds:
        """Return the odds that the bet pays if the first two cards have this spread."""
        return self.odds_by_spread.get(spread, self.odds)

    def format_pay_texts(self) -> Mapping[str, Sequence[str]]:
        """Return, by language, one line per spread of the cards with what it pays."""
        spread_text = {"en": "spread {0}: {1}", "fr": "écart de {0} : {1}"}
        more_text = {"en": "more: {0}", "fr": "davantage : {0}"}
        triple_text = {"en": "three of a rank: {0}", "fr": "trois cartes d'un rang : {0}"}
        return {
            language: [
                *(
                    spread_text[language].format(n, odds.text)
                    for n, odds in sorted(self.odds_by_spread.items())
                ),
                more_text[language].format(self.odds.text),
                triple_text[language].format(self.triple_odds.text),
            ]
            for language in ("en", "fr")
        }

    def describe_pay(self) -> Mapping[str, str]:
        """Return, by language, what each spread of the cards pays, as one line."""
        return {language: ", ".join(lines) for language, lines in self.format_pay_texts().items()}


class RedDogDefinition(BankDefinition):
    """A red dog game as its definition file describes it; its only bet is the ante."""

    ante: RedDogBet
    """The only bet of the game."""

    def format_pay_table_rows(self) -> Mapping[str, Sequence[str]]:
        """Return what each spread of the cards pays and the number of decks, as text by language."""
        return {
            language: [*lines, self.shoe.format_deck_line(language)]
            for language, lines in self.ante.format_pay_texts().items()
        }


class RedDogRules(SeatedRules, BankRules[RedDogDefinition]):
    """The rules of a playable game of red dog."""

    hands: ClassVar[HandDescriptions] = (("board", BANK_NAMES, 3),)

    def list_bets(self) -> tuple[RedDogBet, ...]:
        """Return the only bet of the game, the ante."""
        return (self.definition.ante,)

    def list_added_spots(self) -> tuple[Spot, ...]:
        """Return the spot for the player's raise, the only spot that is bet on during the round."""
        return (build_added_spot(self.definition.ante, RAISE_SPOT, {"en": "Raise", "fr": "Relance"}),)

    def find_added_stake_factor(self, bet: BankBet) -> int:  # noqa: ARG002
        """Return 1: a player may raise at most by the amount of the bet."""
        return 1

    def play_seats(self, bets: Sequence[Bet], draw: DrawSource, viewer: int | None) -> RoundEvents:
        """Play a round: deal two cards, let the seats raise if there is a spread, and settle.

        A third card is dealt before the settlement unless the first two are in sequence.
        """
        shoe_rules, bet_terms = self.definition.shoe, self.definition.ante
        shoe, cues = open_shoe(shoe_rules, self.table_state, draw)
        yield from cues
        cards = [shoe.deal(draw, "card 1"), shoe.deal(draw, "card 2")]
        for card in cards:
            yield Cue("deal", {"hand": "board", "card": format_card(card)})
        spread = abs(get_rank(cards[0]) - get_rank(cards[1])) - 1
        placed_bets = list(bets)
        if spread > 0:
            for bet in bets:
                raise_bet = Bet(RAISE_SPOT, bet.credits, bet.seat)
                prompt = _build_display(cards, spread)
                # The cards are open to all, but another seat's decision is shown without advice.
                if can_see_seat_cards(bet.seat, viewer):
                    prompt["advice"] = self._find_advice(spread)
                decision = Decision("red-dog", ("stand", "raise"), prompt, {"raise": raise_bet}, bet.seat)
                if decision.get_chosen_option((yield decision)) == "raise":
                    placed_bets.append(raise_bet)
        if spread:
            third_card = shoe.deal(draw, "card 3")
            cards.append(third_card)
            yield Cue("deal", {"hand": "board", "card": format_card(third_card)})
        for bet in placed_bets:
            yield _settle_by_ranks(bet, bet_terms, [get_rank(card) for card in cards])
        return Outcome(
            display=_build_display(cards, spread),
            table_state=build_table_after_round(shoe_rules, shoe, self.table_state),
        )

    def _find_advice(self, spread: int) -> str:
        """Return the better decision, to raise or not, at this spread of the cards."""
        return "raise" if spread in self.raised_spreads else "stand"

    @cached_property
    def raised_spreads(self) -> frozenset[int]:
        """Return the spreads for which a raise has a positive expectation, if the shoe is fresh."""
        deck_count, bet_terms = self.definition.shoe.deck_count, self.definition.ante
        win_probability_by_spread = {
            n: Fraction(4 * deck_count * n, 52 * deck_count - 2) for n in range(1, _RANK_COUNT - 1)
        }
        return frozenset(
            n
            for n, probability in win_probability_by_spread.items()
            if probability * (1 + bet_terms.find_odds(n).net) > 1
        )

    def iter_cases(self, wager: Wager) -> Iterable[WeightedResult]:
        """Return every case of a red dog round in which the player raises at the spreads where a raise is best."""
        return self._iter_cases(wager, self.raised_spreads)

    def iter_every_case(self, wager: Wager) -> Iterable[WeightedResult]:
        """Return the cases of a red dog round with a raise wherever it is possible, then those without any raise."""
        all_spreads = frozenset(range(1, _RANK_COUNT - 1))
        return (*self._iter_cases(wager, all_spreads), *self._iter_cases(wager, frozenset()))

    def _iter_cases(self, wager: Wager, raised_spreads: frozenset[int]) -> Iterable[WeightedResult]:
        """Yield each combination of ranks of the two first cards and the third, with the wager's settlements.

        The player raises at the spreads in ``raised_spreads``.
        """
        deck_count, bet_terms = self.definition.shoe.deck_count, self.definition.ante
        (bet,) = wager.bets
        for first_rank in range(_RANK_COUNT):
            for second_rank in range(_RANK_COUNT):
                counts = [4 * deck_count] * _RANK_COUNT
                ways = counts[first_rank]
                counts[first_rank] -= 1
                ways *= counts[second_rank]
                counts[second_rank] -= 1
                spread = abs(first_rank - second_rank) - 1
                bets = [bet, Bet(RAISE_SPOT, bet.credits)] if spread in raised_spreads else [bet]
                for third_rank, n in enumerate(counts):
                    if ways * n:
                        ranks = (
                            [first_rank, second_rank]
                            if spread == 0
                            else [first_rank, second_rank, third_rank]
                        )
                        settlements = [_settle_by_ranks(placed_bet, bet_terms, ranks) for placed_bet in bets]
                        yield WeightedResult(
                            ways * n,
                            settlements,
                            added_credits=sum(placed_bet.credits for placed_bet in bets[1:]),
                        )

    def analyse_stakes(self, bet_name: str, stakes: Mapping[str, int], depth: AnalysisDepth) -> BetAnalysis:
        """Return a bet's figures with the best strategy, and its returns with the worst one and without raises."""
        figures = super().analyse_stakes(bet_name, stakes, depth)
        wager = Wager(sum(stakes.values()), {"bets": dict(stakes)})
        all_spreads = frozenset(range(1, _RANK_COUNT - 1))
        never_raise_rtp = compute_mean_return(wager, self._iter_cases(wager, frozenset()))
        worst_rtp = compute_mean_return(wager, self._iter_cases(wager, all_spreads - self.raised_spreads))
        lowest_spread = min(self.raised_spreads, default=0)
        return replace(
            figures,
            strategy=f"raise at a spread of {lowest_spread} or more" if lowest_spread else "never raise",
            simplest_strategy="never raise",
            simplest_rtp=never_raise_rtp,
            worst_rtp=worst_rtp,
        )


def _settle_by_ranks(bet: Bet, bet_terms: RedDogBet, ranks: Sequence[int]) -> Settlement:
    """Return the settlement of a red dog bet by the ranks of the cards.

    ``ranks`` has only two cards if these are in sequence, because that is a push.
    """
    low_rank, high_rank = sorted(ranks[:2])
    if high_rank == low_rank + 1:
        return settle_push(bet)
    third_rank = ranks[2]
    if low_rank == high_rank:
        return (
            settle_bet(bet, bet_terms.triple_odds, "three of a rank")
            if third_rank == low_rank
            else settle_push(bet)
        )
    return settle_bet(
        bet, bet_terms.find_odds(high_rank - low_rank - 1) if low_rank < third_rank < high_rank else None
    )


def _build_display(cards: Sequence[Card], spread: int) -> dict[str, object]:
    """Return the red dog cards and their spread as the data that the screen displays."""
    return {
        "kind": "table",
        "felt": "cards",
        "result": str(max(spread, 0)),
        "hands": [{"id": "board", "cards": [format_card(card) for card in cards]}],
    }


#: The game family. Help texts may state 11 to 14, the values of jack to ace, although no definition contains them.
FAMILY = build_bank_family(RedDogDefinition, RedDogRules, frozenset(range(11, 15)))
