"""Signs that two player positions collude at a table whose players win each other's stakes.

They are computed from the journal's game entries alone. A sign proves nothing: a better player wins from a
weaker one as well. A person judges it (Québec by-law, ss. 67.107 and 67.109).

How often a player folds after a large bet against one opponent is compared with the other pairs of players at the
same game. A fixed limit would not do: some players often fold after a large bet, so almost every honest room of many
rounds would show a sign. Two players who only avoid betting against each other are not detected here.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import NormalDist
from typing import Final, NamedTuple, Self

from egm.play.entries import GAME_CHOICE, GAME_END, GAME_START, GAME_VOID, GameEndWithHandpay
from egm.play.records.game_record import GameChoice, GameRecord
from egm.record_codec import from_json
from meters import StoredEntry
from paytables import ALL_STAKED_OPTION
from tools.audit.statement import iter_with_gaming_days

#: What happened between two positions is a sign of collusion if chance produces it with less than this probability.
SIGNIFICANCE_LEVEL: Final = 0.001
#: The smallest z-score of the money that one position won from another which is a sign of collusion.
SIGNIFICANCE_Z_SCORE: Final = NormalDist().inv_cdf(1 - SIGNIFICANCE_LEVEL / 2)
#: The smallest number of rounds in which one of two positions won from the other for which their z-score counts.
SIGNIFICANT_ROUNDS_MIN: Final = 20
#: The smallest number of folds after a large bet that may be a sign of collusion.
LARGE_BET_FOLDS_MIN: Final = 2
#: A fold is after a large bet if at least this share of the table stakes was lost.
LARGE_BET_SHARE: Final = Fraction(1, 2)
#: Folds and rounds by which the totals of the other pairs are increased before a pair is compared with them: with few
#: rounds, the expected count would otherwise be 0 or mere chance.
_ADDED_FOLD_AND_ROUND_COUNTS: Final = (0.5, 100)
#: The name of the settlement of a stake that a player gave up.
_FOLDED_SETTLEMENT_NAME: Final = "folded"
#: The kinds of entries that are read.
_ENTRY_KINDS_READ: Final = frozenset(
    declaration.kind for declaration in (GAME_START, GAME_CHOICE, GAME_END, GAME_VOID)
)


class PositionPair(NamedTuple):
    """Two player positions at one game on one gaming day; ``winner`` won money from ``loser``.

    The winner won in single rounds or, in a :class:`PairFlow`, over the whole day.
    """

    day: str
    game: str
    loser: int
    winner: int

    def swap_roles(self) -> Self:
        """Return the same two positions with winner and loser swapped."""
        return self._replace(loser=self.winner, winner=self.loser)


@dataclass(frozen=True, slots=True)
class RoundResult:
    """The result of one round: the net win of each position, and which positions folded after a large bet.

    ``net_cents`` maps position numbers to minor units; a loss is negative.
    """

    day: str
    game: str
    net_cents: Mapping[int, int]
    positions_folded_after_large_bet: frozenset[int] = frozenset()
    """The positions that folded after they had bet at least half of their table stakes."""


@dataclass(frozen=True, slots=True)
class LargeBetFolds:
    """The folds of one position after a large bet of its own, in the rounds that one other position won.

    A large bet is at least half of the position's table stakes. ``count`` is the number of such folds;
    ``expected_count`` is the number expected from the other pairs of the same gaming day and game.
    """

    count: int = 0
    expected_count: float = 0.0

    @property
    def is_significant(self) -> bool:
        """Return whether the position folded more often than chance explains (Poisson distribution)."""
        if self.count < LARGE_BET_FOLDS_MIN:
            return False
        logarithms = (
            number * math.log(self.expected_count) - self.expected_count - math.lgamma(number + 1)
            for number in range(self.count)
        )
        return 1 - math.fsum(map(math.exp, logarithms)) < SIGNIFICANCE_LEVEL


@dataclass(frozen=True, slots=True)
class PairFlow:
    """The net amount that ``pair.winner`` won from ``pair.loser``, and how unusual it is."""

    pair: PositionPair
    round_count: int
    """The number of rounds in which one of the two positions won from the other."""
    net_cents: int
    largest_round_cents: int
    """The largest amount that ``pair.winner`` won from ``pair.loser`` in one round, in minor units."""
    loser_large_bet_folds: LargeBetFolds
    """How often ``pair.loser`` folded after a large bet, in rounds that ``pair.winner`` won."""
    winner_large_bet_folds: LargeBetFolds
    """How often ``pair.winner`` folded after a large bet, in rounds that ``pair.loser`` won."""
    z_score: float
    """How many standard deviations the net amount is from 0, if chance decides who wins the amount of each round."""

    @property
    def is_significant(self) -> bool:
        """Return whether the pair is unusual enough for a person to look at it."""
        has_significant_folds = (
            self.loser_large_bet_folds.is_significant or self.winner_large_bet_folds.is_significant
        )
        return has_significant_folds or (
            self.round_count >= SIGNIFICANT_ROUNDS_MIN and self.z_score >= SIGNIFICANCE_Z_SCORE
        )

    def to_json(self) -> dict[str, object]:
        """Return the fields as JSON, with the verdict ``judge`` (a person should look at the pair) or ``usual``."""
        return {
            "verdict": "judge" if self.is_significant else "usual",
            **self.pair._asdict(),
            "rounds": self.round_count,
            "net_cents": self.net_cents,
            "largest_cents": self.largest_round_cents,
            "large_folds": self.loser_large_bet_folds.count,
            "large_folds_back": self.winner_large_bet_folds.count,
            "z": round(self.z_score, 2),
        }


@dataclass(slots=True)
class _Play:
    """One position's game in a shared round, as far as its entries have been read."""

    day: str
    position: int
    start_record: GameRecord
    raised_credits: int = 0
    is_round_between_players: bool = False
    is_folded: bool = False

    def add_choice(self, choice: GameChoice) -> None:
        """Record a choice: the stake that it adds, whether it confirms that all seats have staked, and any fold.

        Only a round whose players win each other's stakes has that confirmation. The game counts as folded if this
        choice ends it and the outcome settles the player's stake as folded.
        """
        self.is_round_between_players = self.is_round_between_players or choice.choice == ALL_STAKED_OPTION
        self.raised_credits += choice.staked_credits
        settlements = () if choice.outcome is None else choice.outcome.settlements
        self.is_folded = any(
            settlement.name == _FOLDED_SETTLEMENT_NAME
            and settlement.seat == (self.start_record.wager.seat or 0)
            for settlement in settlements
        )


@dataclass(slots=True)
class _Round:
    """One shared round: its games that have not ended, and the results of those that have."""

    open_play_ids: set[str] = field(default_factory=set)
    net_cents: dict[int, int] = field(default_factory=dict)
    positions_folded_after_large_bet: set[int] = field(default_factory=set)
    is_excluded: bool = False
    """Whether the results omit the round: a game of it was void, or its players did not win each other's stakes."""

    def add_end(self, play: _Play, end_record: GameEndWithHandpay) -> None:
        """Add the result of the game ``play``, which ended with the record ``end_record``."""
        staked_cents = (
            play.start_record.bet_credits + play.raised_credits
        ) * play.start_record.denomination_cents
        lost_cents = staked_cents - end_record.win_cents - end_record.push_cents
        self.net_cents[play.position] = -lost_cents
        if play.is_folded and lost_cents >= staked_cents * LARGE_BET_SHARE:
            self.positions_folded_after_large_bet.add(play.position)


def compute_pair_flows(results: Iterable[RoundResult]) -> list[PairFlow]:
    """Return, for each pair of positions, which position won from the other and how much.

    Significant pairs come first, then the largest amounts. What a position wins in a round is taken from each
    loser in proportion to the loser's loss.
    """
    won_cents_by_pair: dict[PositionPair, list[int]] = {}
    fold_count_by_pair: Counter[PositionPair] = Counter()
    for result in results:
        lost_cents_by_loser = {position: -cents for position, cents in result.net_cents.items() if cents < 0}
        lost_cents = sum(lost_cents_by_loser.values())
        for winner, won_cents in result.net_cents.items():
            for loser, cents in lost_cents_by_loser.items() if won_cents > 0 else ():
                pair = PositionPair(result.day, result.game, loser, winner)
                won_cents_by_pair.setdefault(pair, []).append(won_cents * cents // lost_cents)
                fold_count_by_pair[pair] += loser in result.positions_folded_after_large_bet
    round_count_by_pair = {pair: len(cents) for pair, cents in won_cents_by_pair.items()}
    folds_by_pair = _compare_large_bet_folds(round_count_by_pair, fold_count_by_pair)
    pair_flows = [
        _compute_pair_flow(pair, cents, won_cents_by_pair.get(pair.swap_roles(), []), folds_by_pair)
        for pair, cents in won_cents_by_pair.items()
        if _is_net_winner(pair, won_cents_by_pair)
    ]
    return sorted(pair_flows, key=lambda flow: (not flow.is_significant, -flow.net_cents, flow.pair))


def _is_net_winner(pair: PositionPair, won_cents_by_pair: Mapping[PositionPair, list[int]]) -> bool:
    """Return whether ``pair.winner`` won more from ``pair.loser`` than it lost to that position.

    If both amounts are equal, the position with the higher number counts as the winner.
    """
    if pair.swap_roles() not in won_cents_by_pair:
        return True
    net_cents = sum(won_cents_by_pair[pair]) - sum(won_cents_by_pair[pair.swap_roles()])
    return net_cents > 0 or (net_cents == 0 and pair.winner > pair.loser)


def _compare_large_bet_folds(
    round_count_by_pair: Mapping[PositionPair, int], fold_count_by_pair: Mapping[PositionPair, int]
) -> dict[PositionPair, LargeBetFolds]:
    """Return the folds after a large bet for each pair, with the number expected from the other pairs.

    The pair is compared with the other pairs of the same gaming day and game.

    Args:
        round_count_by_pair: The number of rounds in which ``winner`` won from ``loser``, by pair.
        fold_count_by_pair: The number of these rounds in which ``loser`` folded after a large bet, by pair.
    """
    round_count_by_game_and_day: Counter[tuple[str, str]] = Counter()
    fold_count_by_game_and_day: Counter[tuple[str, str]] = Counter()
    for pair, count in round_count_by_pair.items():
        round_count_by_game_and_day[pair.day, pair.game] += count
        fold_count_by_game_and_day[pair.day, pair.game] += fold_count_by_pair[pair]
    added_folds, added_rounds = _ADDED_FOLD_AND_ROUND_COUNTS
    folds_by_pair: dict[PositionPair, LargeBetFolds] = {}
    for pair, count in round_count_by_pair.items():
        other_folds = fold_count_by_game_and_day[pair.day, pair.game] - fold_count_by_pair[pair] + added_folds
        other_rounds = round_count_by_game_and_day[pair.day, pair.game] - count + added_rounds
        folds_by_pair[pair] = LargeBetFolds(fold_count_by_pair[pair], count * other_folds / other_rounds)
    return folds_by_pair


def _compute_pair_flow(
    pair: PositionPair,
    won_cents: list[int],
    lost_cents: list[int],
    folds_by_pair: Mapping[PositionPair, LargeBetFolds],
) -> PairFlow:
    """Return the net amount that one position won from another, and how unusual it is.

    Args:
        pair: The positions; the winner won at least as much as it lost.
        won_cents: What ``pair.winner`` won from ``pair.loser`` in each round that it won, in minor units.
        lost_cents: What ``pair.winner`` lost to ``pair.loser`` in each round that it lost, in minor units.
        folds_by_pair: The folds after a large bet of ``pair.loser`` in rounds that ``pair.winner`` won, by pair.
    """
    net_cents = sum(won_cents) - sum(lost_cents)
    standard_deviation_cents = math.sqrt(sum(cents * cents for cents in (*won_cents, *lost_cents)))
    return PairFlow(
        pair,
        len(won_cents) + len(lost_cents),
        net_cents,
        max(won_cents),
        folds_by_pair.get(pair, LargeBetFolds()),
        folds_by_pair.get(pair.swap_roles(), LargeBetFolds()),
        net_cents / standard_deviation_cents if standard_deviation_cents else 0.0,
    )


def iter_round_results(entries: Iterable[StoredEntry]) -> Iterator[RoundResult]:
    """Yield the result of each ended round in which the players won each other's stakes.

    A round in which a game was declared void is left out.
    """
    plays: dict[str, _Play] = {}
    rounds: dict[str, _Round] = {}
    for entry, gaming_day in iter_with_gaming_days(entries):
        record, location = entry.record, f"entry {entry.sequence}, {entry.kind}"
        if entry.kind not in _ENTRY_KINDS_READ or not isinstance(record, Mapping):
            continue
        if entry.kind == GAME_START.kind and record.get("round_id"):
            game_record = from_json(GameRecord, record, location)
            position = int(entry.transaction.dims.get("position", 1))
            day = gaming_day.find_date(entry.time_utc).isoformat()
            plays[game_record.play_id] = _Play(day, position, game_record)
            rounds.setdefault(game_record.round_id, _Round()).open_play_ids.add(game_record.play_id)
        play = plays.get(str(record.get("play_id")))
        if play is None:
            continue
        if entry.kind == GAME_CHOICE.kind:
            play.add_choice(from_json(GameChoice, record, location))
        elif entry.kind in {GAME_END.kind, GAME_VOID.kind}:
            round_ = rounds[play.start_record.round_id]
            if entry.kind == GAME_END.kind:
                round_.add_end(play, from_json(GameEndWithHandpay, record, location))
            round_.is_excluded = (
                round_.is_excluded or entry.kind == GAME_VOID.kind or not play.is_round_between_players
            )
            round_.open_play_ids.discard(play.start_record.play_id)
            del plays[play.start_record.play_id]
            if not round_.open_play_ids:
                del rounds[play.start_record.round_id]
                if not round_.is_excluded:
                    yield RoundResult(
                        play.day,
                        play.start_record.game_reference.id,
                        round_.net_cents,
                        frozenset(round_.positions_folded_after_large_bet),
                    )
