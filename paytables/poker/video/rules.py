"""The rules of one video poker game: a deal, a hold, a draw for each hand, and what each hand pays."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis
from paytables.cards import Shoe, format_card, get_rank
from paytables.cards.card import JOKER
from paytables.cards.ranking import JOKER_RANK, HandRanking, find_category_of_strength
from paytables.contract import (
    Cue,
    Decision,
    DefinitionRemark,
    DrawSource,
    LevelParticipation,
    Outcome,
    RoundEvents,
    Settlement,
    Wager,
)
from paytables.errors import WagerError
from paytables.poker.pays import CATEGORY_NAMES, find_pay_row
from paytables.poker.policy import POLICY_HAND_CARD_COUNT, look_up_hold, unpack_policy
from paytables.poker.proof import check_stored_proof
from paytables.poker.video import figures
from paytables.poker.video.schema import ProvedFiguresByBet, VideoPokerDefinition, VideoPokerPayRow
from paytables.tableless import TablelessRules
from paytables.wording import format_count


@dataclass(frozen=True)
class VideoPokerRules(TablelessRules):
    """The rules of a playable video poker game."""

    definition: VideoPokerDefinition

    @cached_property
    def bet_options(self) -> tuple[int, ...]:
        """Return the total cost of a game for every number of credits and every number of hands, ascending."""
        bets = self.definition.bets
        return tuple(
            sorted(
                {
                    credits_ * hand_count
                    for credits_ in bets.credits_options
                    for hand_count in bets.hand_counts
                }
            )
        )

    def build_wager(self, credits_: int, **options: object) -> Wager:
        """Return the wager of ``credits_`` in total, spread evenly over ``hands`` hands.

        Without the option ``hands``, it is the smallest number of hands that gives this total. Raises
        :class:`WagerError`.
        """
        bets = self.definition.bets
        if set(options) - {"hands"}:
            raise WagerError(
                f"a bet of video poker only has the option hands, not {', '.join(sorted(options))}"
            )
        for hand_count in bets.hand_counts:
            credits_per_hand, remainder = divmod(credits_, hand_count)
            if (
                options.get("hands", hand_count) == hand_count
                and not remainder
                and credits_per_hand in bets.credits_options
            ):
                return Wager(credits_, {"hands": hand_count})
        hands_text = f" on {options['hands']!r} hands" if options else ""
        raise WagerError(
            f"no bet of {format_count(credits_, 'credit')}{hands_text}; "
            f"expected {list(bets.hand_counts)} hands, each staked with one of {list(bets.credits_options)}"
        )

    @cached_property
    def _ranking(self) -> HandRanking:
        """Return the ranking of poker hands in this game's deck, built once."""
        return HandRanking(self.definition.deck.ranking_rules)

    def find_pay_row(self, cards: list[int]) -> VideoPokerPayRow | None:
        """Return the row of the pay table that a final hand of five cards wins; None: it wins nothing."""
        ranking_rules = self._ranking.rules
        wild_count = sum(
            (JOKER_RANK if card == JOKER else get_rank(card)) in ranking_rules.wild_ranks for card in cards
        )
        row_index = find_pay_row(
            self.definition.pay_rows, self._ranking.compute_strength(cards), wild_count, ranking_rules
        )
        return None if row_index is None else self.definition.pay_rows[row_index]

    def build_advice(self, dealt_cards: list[int], credits_: int) -> dict[str, int]:
        """Return which dealt cards the best strategy holds, as bits of indices; empty if no strategy is stored."""
        figures_by_bet = self.definition.proved
        if figures_by_bet is None:
            return {}
        exact_figures = figures_by_bet.find_figures(is_highest_bet=credits_ == self.definition.max_credits)
        return {
            "advice": look_up_hold(
                unpack_policy(exact_figures.policy), dealt_cards, 53 if self.definition.deck.has_joker else 52
            )
        }

    def _describe_hand(self, cards: list[int]) -> dict[str, str]:
        """Return the text of a five-card hand for the player, by language."""
        pay_row = self.find_pay_row(cards)
        if pay_row is not None:
            return pay_row.title
        english, french = CATEGORY_NAMES[
            find_category_of_strength(self._ranking.compute_strength(cards), self._ranking.rules)
        ]
        return {"en": english, "fr": french}

    def play(self, wager: Wager, draw: DrawSource) -> RoundEvents:
        """Play a game: deal five cards, ask which to hold, then complete each hand from a deck of its own."""
        hand_count = self.build_wager(wager.credits, **wager.options).options["hands"]
        credits_per_hand = wager.credits // hand_count
        shoe = Shoe.from_decks(joker=self.definition.deck.has_joker)
        dealt_cards = [shoe.deal(draw, f"deal {n + 1}") for n in range(POLICY_HAND_CARD_COUNT)]
        for card in dealt_cards:
            yield Cue("deal", {"hand": "player", "card": format_card(card)})

        def build_more_prompt() -> dict[str, object]:
            """Return the dealt hand, what it would win, and the advised hold, for the screen."""
            row = self.find_pay_row(dealt_cards)
            return {
                **self._build_felt([dealt_cards]),
                "won": None if row is None else row.id,
                "result": self._describe_hand(dealt_cards),
                **self.build_advice(dealt_cards, credits_per_hand),
            }

        decision = Decision(
            "hold", tuple(range(1 << POLICY_HAND_CARD_COUNT)), build_more_prompt=build_more_prompt
        )
        held_mask = decision.get_chosen_option((yield decision))
        discarded_indexes = [index for index in range(POLICY_HAND_CARD_COUNT) if not held_mask >> index & 1]
        yield from (Cue("discard", {"hand": "player", "index": index}) for index in discarded_indexes)
        level = self.definition.find_level(credits_per_hand, hand_count)
        final_hands: list[list[int]] = []
        pays_and_rows_won: list[tuple[int, str]] = []
        levels_won: list[str] = []
        pay_by_row_id = dict(
            zip(
                (pay_row.id for pay_row in self.definition.pay_rows),
                self.definition.list_pays(credits_per_hand),
                strict=True,
            )
        )
        for hand_number in range(1, hand_count + 1):
            cards, deck = list(dealt_cards), Shoe(list(shoe.counts))
            for index in discarded_indexes:
                cards[index] = deck.deal(draw, f"hand {hand_number} card {index + 1}")
                cue_data = {
                    "hand": _format_hand_id(hand_number),
                    "index": index,
                    "card": format_card(cards[index]),
                }
                yield Cue("draw", cue_data)
            final_hands.append(cards)
            pay_row = self.find_pay_row(cards)
            if pay_row is None:
                yield Settlement("lost", 0, {"hand": hand_number}, staked_credits=credits_per_hand)
                continue
            pays_and_rows_won.append((pay_by_row_id[pay_row.id], pay_row.id))
            if level is not None and pay_row.id == level.pay_row_id:
                levels_won.append(level.id)
            credits_ = 0 if levels_won else pay_by_row_id[pay_row.id]
            yield Settlement(
                pay_row.id,
                credits_,
                {"hand": hand_number},
                staked_credits=credits_per_hand,
                is_pay_table_prize=True,
            )
        best_row_won = max(pays_and_rows_won)[1] if pays_and_rows_won else None
        display = {**self._build_felt(final_hands), "held": held_mask, "won": best_row_won}
        return Outcome(progressives=tuple(levels_won), display=display)

    def list_levels(self, wager: Wager) -> tuple[LevelParticipation, ...]:
        """Return the progressive level if the wager plays for it: one hand at the maximum credits."""
        hand_count = wager.options["hands"]
        level = self.definition.find_level(wager.credits // hand_count, hand_count)
        if level is None:
            return ()
        rate = figures.analyse_bet(self.definition, wager.credits, 1).progressives[0].rate
        return (
            LevelParticipation(
                level=level.id,
                names=level.name.model_dump(),
                stake_credits=wager.credits,
                hit_rate=rate,
                increment=Fraction(level.increment),
                reset_credits=level.reset_credits,
            ),
        )

    def list_every_level(self) -> tuple[LevelParticipation, ...]:
        """Return the progressive level, with the only wager that plays for it."""
        return self.list_levels(self.build_wager(self.definition.max_credits, hands=1))

    def _build_felt(self, hands: list[list[int]]) -> dict[str, object]:
        """Return the hands for the screen, each with what it wins."""
        shown_hands = []
        for n, cards in enumerate(hands, 1):
            pay_row = self.find_pay_row(cards)
            hand: dict[str, object] = {
                "id": _format_hand_id(n),
                "cards": list(map(format_card, cards)),
                "says": self._describe_hand(cards),
            }
            shown_hands.append(hand if pay_row is None else {**hand, "won": pay_row.id})
        return {"kind": "table", "felt": "cards", "hands": shown_hands}

    def build_presentation(self) -> dict[str, object]:
        """Return what a screen needs: the pay table per credit and the bets (:file:`paytables/FELTS.md`)."""
        bets = self.definition.bets
        pays_by_credits = {credits_: self.definition.list_pays(credits_) for credits_ in bets.credits_options}
        return {
            "kind": "table",
            "felt": "cards",
            "hold": True,
            "spots": [],
            "hands": [
                {"id": "player", "names": {"en": "Player", "fr": "Joueur"}, "cards": POLICY_HAND_CARD_COUNT}
            ],
            "pays": [
                {
                    "name": pay_row.id,
                    "names": pay_row.title,
                    "credits": pay_row.pay_per_credit,
                    "by_credits": {str(credits_): pays[n] for credits_, pays in pays_by_credits.items()},
                }
                for n, pay_row in enumerate(self.definition.pay_rows)
            ],
            "bets": bets.model_dump(mode="json", by_alias=True),
        }

    def explain_pays(self) -> tuple[str, ...]:
        """Return one sentence for what each row of the pay table pays, in English."""
        max_credits = self.definition.bets.credits_options[-1]
        return tuple(
            f"{pay.id} pays {pay.pay_per_credit:,} for each credit"
            + (
                f", {pay.max_bet_pay_per_credit:,} if {max_credits} credits are bet on the hand"
                if pay.max_bet_pay_per_credit
                else ""
            )
            for pay in self.definition.pay_rows
        )

    def list_remarks(self) -> tuple[DefinitionRemark, ...]:
        """Return remarks on a legal pay table that may surprise because a row pays less than the row below it."""
        pays = [pay.pay_per_credit for pay in self.definition.pay_rows]
        return tuple(
            DefinitionRemark(
                f"pay.{n}.pays", f"pays more than {self.definition.pay_rows[n - 1].id}, which goes before it"
            )
            for n in range(1, len(pays))
            if pays[n] > pays[n - 1]
        )

    def prove(self, *_: object) -> ProvedFiguresByBet:
        """Compute the exact figures that the definition stores. It needs the laboratory packages."""
        return figures.prove(self.definition)

    def verify(self) -> None:
        """Recompute the figures and compare them with the stored ones. Raises :class:`AnalysisError` if they differ."""
        check_stored_proof(self.definition.game.id, self.definition.proved, self.prove)

    def analyse(self, depth: AnalysisDepth) -> Analysis:  # noqa: ARG002 (the result is the same at every depth)
        """Return the exact figures of the game; see :mod:`paytables.poker.video.figures`."""
        return figures.analyse(self.definition)

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the exact figures of one wager: its credits on its number of hands."""
        hand_count = self.build_wager(wager.credits, **wager.options).options["hands"]
        return figures.analyse_bet(self.definition, wager.credits // hand_count, hand_count)


def _format_hand_id(hand: int) -> str:
    """Return the id of a hand on the felt.

    The first hand, which is dealt and held, has the player's id; the others are numbered.
    """
    return "player" if hand == 1 else f"player-{hand}"
