"""The rules of pai gow poker: seven cards are set as five and two, and both hands are compared with the bank's."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import ClassVar, Final

from paytables.analysis import Analysis, AnalysisDepth, BetAnalysis, PrizeFigures
from paytables.cards import JOKER, RANK_LETTERS, format_card, get_rank
from paytables.cards.ranking import HandRanking, find_category_of_strength, unpack_ranks
from paytables.contract import Cue, DrawSource, Settlement, Spot, Wager, draw_and_remove_element
from paytables.layout import Odds, build_distribution, check_credit_multiples, settle_bet
from paytables.player_bank import BANK_SPOT
from paytables.poker.paigow.hands import (
    CARDS_PER_HAND,
    HIGH_HAND_RANKING,
    LOW_HAND_RANKING,
    HouseWayRules,
    list_settings,
)
from paytables.poker.paigow.schema import PaiGowPokerDefinition, PositionBet, ProvedFigures, UndealtTotalBets
from paytables.poker.pays import CATEGORY_NAMES
from paytables.poker.two_hands import PLAYER_STAKE_SPOT, HandSetting, SeatRound, TwoHandsRules
from paytables.wording import format_count

#: Number of deal positions: the places that are dealt seven cards, whether or not they have a bet: six players' and the
#: bank's (ss.42, 48.1). They are not player positions of the machine. Seven cards each leave four of the 53.
DEAL_POSITION_COUNT: Final = 7
#: Cards that remain after the deal.
UNDEALT_CARD_COUNT: Final = 4
#: The name of the strategy to which the stated figures belong.
ADVISED_STRATEGY_TEXT: Final = (
    "cards set by the house way, as the machine proposes; the best setting returns more"
)
#: How the figures were computed.
EXACT_METHOD_TEXT: Final = (
    "exact: each of the player's 154,143,080 hands against each of the bank's 53,524,680; hands that differ only in "
    "suits without effect are counted once. `python -m tools.dev prove` computes it again in two and a half minutes "
    "on one core"
)
#: The name of the best strategy.
BEST_STRATEGY_TEXT: Final = "of the ways to set seven cards, always the one with the highest exact mean"
#: The number of ranks needed to describe a hand, by category; for the others the name is enough.
_RANK_COUNT_BY_COMBINATION: Final = {
    "pair": 1,
    "two-pair": 2,
    "three-of-a-kind": 1,
    "full-house": 2,
    "four-of-a-kind": 1,
}


@dataclass(frozen=True)
class PaiGowPokerRules(TwoHandsRules):
    """The rules of a playable pai gow poker game."""

    definition: PaiGowPokerDefinition

    PIECES_PER_HAND: ClassVar[int] = CARDS_PER_HAND
    PIECE_KIND: ClassVar[str] = "card"
    PIECE_NAMES: ClassVar[Sequence[str]] = tuple(format_card(card) for card in range(JOKER + 1))

    @cached_property
    def _house_way_rules(self) -> HouseWayRules:
        """Return the house way: how the bank must divide its seven cards. It is built once."""
        return HouseWayRules(self.definition.house_way_lines)

    def list_settings(self, cards: Sequence[int]) -> tuple[HandSetting, ...]:
        """Return every legal setting of seven cards as two hands, those with the best low hand first."""
        return list_settings(cards)

    def find_house_way_setting(self, cards: Sequence[int]) -> HandSetting:
        """Return the setting that the house way prescribes for these seven cards."""
        return self._house_way_rules.choose_setting(cards)

    def describe_setting(self, setting: HandSetting) -> dict[str, str]:
        """Return the categories of the low and the high hand as text, by language."""
        return {
            language: f"{_describe_hand(setting.low_strength, LOW_HAND_RANKING, n)} / "
            f"{_describe_hand(setting.high_strength, HIGH_HAND_RANKING, n)}"
            for n, language in enumerate(("en", "fr"))
        }

    # ------------------------------------------------------------ side bets
    @cached_property
    def _undealt_total_bets(self) -> dict[str, tuple[Odds, dict[str, str]]]:
        """Return the odds and the name (by language) of each bet on the total of the undealt cards, by spot."""
        return {} if self.definition.undealt_total_bets is None else self.definition.undealt_total_bets.bets

    @cached_property
    def _deal_position_by_spot(self) -> dict[str, int]:
        """Return, by betting spot, the deal position on which that spot bets to be dealt first."""
        numbers = range(1, DEAL_POSITION_COUNT + 1) if self.definition.position_bet else ()
        return {f"position-{n}": n for n in numbers}

    def list_side_bet_spots(self) -> tuple[Spot, ...]:
        """Return the betting spots of the side bets: the undealt cards' total, and the deal position dealt first."""
        side_bets: list[tuple[str, str, dict[str, str], Odds, UndealtTotalBets | PositionBet]] = []
        if (undealt_total_bets := self.definition.undealt_total_bets) is not None:
            side_bets += [
                (id_, "remaining", names, odds, undealt_total_bets)
                for id_, (odds, names) in self._undealt_total_bets.items()
            ]
        if (position_bet := self.definition.position_bet) is not None:
            side_bets += [
                (
                    id_,
                    "position",
                    {"en": f"Position {n}", "fr": f"Emplacement {n}"},
                    position_bet.odds,
                    position_bet,
                )
                for id_, n in self._deal_position_by_spot.items()
            ]
        return tuple(
            Spot(
                id=id_,
                group=f"{group}-{odds.text}",
                names=names,
                odds=odds.text,
                required_spot=bets.required_spot,
                **bets.limits.build_spot_fields(),
            )
            for id_, group, names, odds, bets in side_bets
        )

    def check_definition(self, file: str) -> None:
        """Check that no side bet can leave a fraction of a credit, and that the cards suffice for all seats.

        Raises :class:`DefinitionError`.
        """
        undealt_total_bets, position_bet = self.definition.undealt_total_bets, self.definition.position_bet
        if undealt_total_bets is not None:
            odds = [odds for odds, _ in self._undealt_total_bets.values()]
            check_credit_multiples("remaining.limits", undealt_total_bets.limits, odds, file)
        if position_bet is not None:
            check_credit_multiples("position.limits", position_bet.limits, [position_bet.odds], file)
        super().check_definition(file)

    def find_highest_side_return(self, bets: Mapping[str, int]) -> int:
        """Return the most credits that a seat's side bets can return in a round.

        At most one bet on the total of the undealt cards and one bet on a deal position can win in a round, so the
        result is the sum of the highest return of each kind.
        """
        odds = {spot.id: Odds.parse(spot.odds) for spot in self.list_side_bet_spots()}
        return_by_name = {
            name: odds[name].compute_total_return(credits_)
            for name, credits_ in bets.items()
            if name != PLAYER_STAKE_SPOT
        }
        totals = [returned for name, returned in return_by_name.items() if name in self._undealt_total_bets]
        positions = [
            returned for name, returned in return_by_name.items() if name in self._deal_position_by_spot
        ]
        return max(totals, default=0) + max(positions, default=0)

    def settle_side_bets_before_deal(
        self, seat_rounds: Sequence[SeatRound], draw: DrawSource
    ) -> Iterator[Cue | Settlement]:
        """Draw which deal position gets the first cards, and settle the side bets on it."""
        if self.definition.position_bet is None:
            return
        first_position = 1 + draw.below(DEAL_POSITION_COUNT, "first position")
        yield Cue("position", {"number": first_position})
        for seat_round in seat_rounds:
            for name, number in self._deal_position_by_spot.items():
                if name in seat_round.bets:
                    odds = self.definition.position_bet.odds if number == first_position else None
                    yield settle_bet(seat_round.bets[name], odds)

    def settle_undealt_side_bets(
        self, seat_rounds: Sequence[SeatRound], undealt_pieces: list[int], draw: DrawSource
    ) -> Iterator[Cue | Settlement]:
        """Turn the undealt cards face up and settle the side bets on their total, if a seat has made one."""
        if not any(
            name in seat_round.bets for seat_round in seat_rounds for name in self._undealt_total_bets
        ):
            return
        total = 0
        for n in range(UNDEALT_CARD_COUNT):
            card = draw_and_remove_element(draw, undealt_pieces, f"remaining card {n + 1}")
            total += self.get_undealt_points(card)
            yield Cue("deal", {"hand": "remaining", "card": format_card(card), "total": total})
        winning_spot = self._find_winning_total_spot(total)
        for seat_round in seat_rounds:
            for name, (odds, _) in self._undealt_total_bets.items():
                if name in seat_round.bets:
                    yield settle_bet(seat_round.bets[name], odds if name == winning_spot else None)

    def _find_winning_total_spot(self, total: int) -> str:
        """Return the spot of the side bet that wins with this total of the undealt cards: under, over or exactly."""
        assert self.definition.undealt_total_bets is not None
        compared_total = self.definition.undealt_total_bets.compared_total
        return "under" if total < compared_total else "over" if total > compared_total else "exactly"

    def get_undealt_points(self, card: int) -> int:
        """Return how many points a card adds to the total of the undealt cards."""
        bets = self.definition.undealt_total_bets
        assert bets is not None
        if card == JOKER:
            return bets.joker_points
        name = RANK_LETTERS[get_rank(card)]
        return (
            bets.ace_points
            if name == "A"
            else bets.face_points
            if name in "JQK"
            else RANK_LETTERS.index(name) + 2
        )

    def build_extra_display(self, side_events: Sequence[Cue | Settlement]) -> dict[str, object]:
        """Return, for the screen, which deal position got the first cards; empty if none was drawn.

        ``side_events`` are the cues and settlements of the side bets.
        """
        first_position = [cue.data for cue in side_events if isinstance(cue, Cue) and cue.kind == "position"]
        return {"result": str(first_position[-1]["number"])} if first_position else {}

    def list_undealt_hands(self, side_events: Sequence[Cue | Settlement]) -> list[dict[str, object]]:
        """Return the undealt cards as a hand on the table, with their total.

        ``side_events`` are the cues and settlements of the side bets.
        """
        undealt_hand = [cue.data for cue in side_events if isinstance(cue, Cue) and cue.kind != "position"]
        if not undealt_hand:
            return []
        total_texts = {language: str(undealt_hand[-1]["total"]) for language in ("en", "fr")}
        return [
            {"id": "remaining", "cards": [cue_data["card"] for cue_data in undealt_hand], "says": total_texts}
        ]

    def list_displayed_hands(self) -> list[dict[str, object]]:
        """Return the ids and names of the hands on the felt; the undealt cards come next to the bank's hand."""
        names = {"en": "Remaining cards", "fr": "Cartes restantes"}
        undealt_hand = {
            "id": "remaining",
            "names": names,
            "cards": UNDEALT_CARD_COUNT,
            "with": list(self._undealt_total_bets),
        }
        bank, *other_hands = super().list_displayed_hands()
        return [bank, *([undealt_hand] if self._undealt_total_bets else []), *other_hands]

    # ------------------------------------------------------------ figures
    def prove(self, *solver_options: object) -> ProvedFigures:
        """Compute the exact figures that the definition stores.

        It needs the laboratory packages and takes some minutes. ``solver_options`` are as in
        :func:`paytables.poker.paigow.solve.solve`.
        """
        from paytables.poker.paigow.solve import solve  # noqa: PLC0415 (laboratory packages)

        return solve(self.definition, *solver_options)

    @cached_property
    def _exact_figures(self) -> ProvedFigures:
        """Return the exact figures that the definition stores, or compute them if it stores none."""
        return self.definition.proved or self.prove()

    def analyse(self, depth: AnalysisDepth) -> Analysis:  # noqa: ARG002 (the result is the same at every depth)
        """Return the exact figures of the stake, of the stake of a player who is the bank, and of each side bet.

        The stake has figures for cards set as advised, and for the best settings.
        """
        header, stakes = self.definition.game, self.list_stated_stakes()
        bets = [self._analyse_stake(stake, name) for name, stake in stakes.items()]
        bets += [
            self._analyse_best_settings(stakes[PLAYER_STAKE_SPOT]),
            *self.analyse_bank_at_minimum_bet(self._exact_figures),
        ]
        bets += [
            self.table_layout.with_required_bets(self._analyse_side_bet(spot, spot.bet_min))
            for spot in self.list_side_bet_spots()
        ]
        return Analysis(game_id=header.id, version=header.version, family=header.family, bets=tuple(bets))

    def _analyse_stake(self, stake_credits: int, bet_name: str = PLAYER_STAKE_SPOT) -> BetAnalysis:
        """Return the figures of a stake, with the player's cards set as advised."""
        return self.build_figures(
            self._exact_figures,
            stake_credits,
            bet=bet_name,
            strategy=ADVISED_STRATEGY_TEXT,
            notes=(EXACT_METHOD_TEXT,),
        )

    def _analyse_best_settings(self, stake_credits: int) -> BetAnalysis:
        """Return the figures of a stake if the best setting of each hand is chosen.

        The best settings are not stored in the definition, so this play is not simulated.
        """
        return self.build_figures(
            self._exact_figures.best_setting_chances,
            stake_credits,
            bet=f"{PLAYER_STAKE_SPOT}, set best",
            strategy=BEST_STRATEGY_TEXT,
            notes=(EXACT_METHOD_TEXT,),
            variance=None,
            distribution=None,
        )

    def _analyse_side_bet(self, spot: Spot, stake_credits: int) -> BetAnalysis:
        """Return the figures of a side bet alone."""
        chance, odds = self._find_win_chance(spot.id), Odds.parse(spot.odds)
        returned_credits = odds.compute_total_return(stake_credits)
        distribution = build_distribution({returned_credits: chance, 0: 1 - chance})
        return BetAnalysis(
            bet=spot.id,
            cost_credits=stake_credits,
            options={"bets": {spot.id: stake_credits}},
            rtp=distribution.compute_moment(1) / stake_credits,
            prizes=(
                PrizeFigures(
                    name="won",
                    stage_or_spot=spot.id,
                    credits=returned_credits,
                    rate=chance,
                    rtp=chance * returned_credits / stake_credits,
                ),
            ),
            variance=distribution.compute_variance(),
            hit_probability=chance,
            win_at_least_bet_probability=chance,
            distribution=distribution,
            max_win_credits=returned_credits,
            max_win_probability=chance,
        )

    def _find_win_chance(self, spot: str) -> Fraction:
        """Return the probability that the side bet on ``spot`` wins."""
        if spot in self._deal_position_by_spot:  # every deal position gets cards, even without a bet (s.49)
            return Fraction(1, DEAL_POSITION_COUNT)
        return self._undealt_total_chances[spot]

    @cached_property
    def _undealt_total_chances(self) -> dict[str, Fraction]:
        """Return the probability that the four undealt cards total under, over or exactly the number of the bet."""
        counts = Counter({(0, 0): 1})
        for points in map(self.get_undealt_points, range(JOKER + 1)):
            for (n, total), combination_count in list(counts.items()):
                if n < UNDEALT_CARD_COUNT:
                    counts[n + 1, total + points] += combination_count
        combination_count_by_spot = Counter[str]()
        for (n, total), combination_count in counts.items():
            if n == UNDEALT_CARD_COUNT:
                combination_count_by_spot[self._find_winning_total_spot(total)] += combination_count
        return {
            name: Fraction(combination_count_by_spot[name], comb(JOKER + 1, UNDEALT_CARD_COUNT))
            for name in self._undealt_total_bets
        }

    def analyse_wager(self, wager: Wager) -> BetAnalysis:
        """Return the exact figures of one seat's bets together: their returns are added.

        With more than one bet, no distribution of the wins is stated.
        """
        bets = {bet.spot: bet.credits for bet in self.build_wager(wager.credits, **wager.options).bets}
        if BANK_SPOT in bets:
            return self.analyse_bank(self._exact_figures, bets)
        spots = {spot.id: spot for spot in self.list_side_bet_spots()}
        parts = [
            self._analyse_stake(credits_)
            if name == PLAYER_STAKE_SPOT
            else self._analyse_side_bet(spots[name], credits_)
            for name, credits_ in bets.items()
        ]
        if len(parts) == 1:
            return parts[0]
        cost = sum(part.cost_credits for part in parts)
        worst_return = sum((self._compute_worst_return(part) for part in parts), Fraction(0)) / cost
        return BetAnalysis(
            bet="bets",
            cost_credits=cost,
            options=wager.options,
            rtp=sum((part.mean_credits for part in parts), Fraction(0)) / cost,
            worst_rtp=worst_return if PLAYER_STAKE_SPOT in bets else None,
            strategy=ADVISED_STRATEGY_TEXT if PLAYER_STAKE_SPOT in bets else None,
        )

    @staticmethod
    def _compute_worst_return(bet_figures: BetAnalysis) -> Fraction:
        """Return the mean return of a bet in credits, with the worst decisions if figures for them are stated."""
        return (
            bet_figures.mean_credits
            if bet_figures.worst_rtp is None
            else bet_figures.worst_rtp * bet_figures.cost_credits
        )

    def explain_pays(self) -> tuple[str, ...]:
        """Return English sentences that say what a winning stake pays and what each side bet pays."""
        rows = [f"{spot.names['en'].lower()} pays {spot.odds}" for spot in self.list_side_bet_spots()]
        side_bet_text = f"{format_count(len(rows), 'side bet')}: {', '.join(rows)}"
        return (*super().explain_pays(), *([side_bet_text] if rows else []))


def _describe_hand(strength: int, ranking: HandRanking, language: int) -> str:
    """Return a pai gow poker low or high hand as text.

    The text names the category and its ranks, or the highest cards if there is no category.
    """
    kind, ranks = find_category_of_strength(strength, ranking.rules), unpack_ranks(strength)
    if kind == "high-card":
        return _format_ranks(ranks[:2])
    return f"{CATEGORY_NAMES[kind][language]} {_format_ranks(ranks[: _RANK_COUNT_BY_COMBINATION.get(kind, 0)])}".strip()


def _format_ranks(ranks: Sequence[int]) -> str:
    """Return ranks as text, such as ``A-10``."""
    return "-".join(RANK_LETTERS[rank] for rank in ranks).replace("T", "10")
