"""Signs that two player positions play together at a table whose players win each other's stakes.

They are computed from the journal's entries of play alone. A sign proves nothing: a better player wins from a
weaker one as well. A person judges it (Québec by-law, ss. 67.107 and 67.109).

A player's folds after a large bet are compared with those of the other pairs at the same game. A fixed limit
would not do: some players often fold after a large bet, so almost every honest room of many rounds would show
a sign. Two players who only avoid betting against each other are not detected here.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import NormalDist
from typing import Final, NamedTuple

from egm.play.entries import GAME_CHOICE, GAME_END, GAME_START, GAME_VOID, GameEndByHand
from egm.play.records.game_record import GameChoice, GameRecord
from egm.record_codec import from_json
from meters import StoredEntry
from paytables import ALL_STAKED_CUE
from tools.audit.statement import iter_with_gaming_days

#: The probability below which what happens between two positions is a sign.
SIGNIFICANCE_LEVEL: Final = 0.001
#: The z-score from which the flow of money between two positions is a sign, in either direction.
SIGNIFICANCE_Z_SCORE: Final = NormalDist().inv_cdf(1 - SIGNIFICANCE_LEVEL / 2)
#: The number of rounds with a flow between two positions from which their z-score counts.
SIGNIFICANT_ROUNDS_MIN: Final = 20
#: The number of folds after a large bet from which they may be a sign.
LARGE_FOLDS_MIN: Final = 2
#: A fold is after a large bet if at least this share of the table stakes was lost.
LARGE_BET_SHARE: Final = Fraction(1, 2)
#: The folds after a large bet that are assumed beside those of the other pairs, and the rounds in which they happen.
_USUAL_LARGE_FOLDS: Final = (0.5, 100)
#: The name of the settlement of a stake that a player gave up.
_FOLDED_SETTLEMENT_NAME: Final = "folded"
#: The kinds of entries that are read.
_ENTRY_KINDS_READ: Final = frozenset(entry.kind for entry in (GAME_START, GAME_CHOICE, GAME_END, GAME_VOID))


class PositionPair(NamedTuple):
    """Two positions at one game on one gaming day; in sum, ``loser`` lost money to ``winner``."""

    day: str
    game: str
    loser: int
    winner: int


@dataclass(frozen=True, slots=True)
class RoundResult:
    """The result of one round: the minor units won or lost by each position, and who folded after a large bet."""

    day: str
    game: str
    net_cents: Mapping[int, int]
    large_folds: frozenset[int] = frozenset()
    """The positions that folded after they had bet at least half of their table stakes."""


@dataclass(frozen=True, slots=True)
class LargeBetFolds:
    """How often one position folded after a large bet in rounds that another one won, and how often this is usual."""

    count: int = 0
    expected_count: float = 0.0

    @property
    def is_significant(self) -> bool:
        """Return whether there are more folds than chance explains (Poisson distribution)."""
        if self.count < LARGE_FOLDS_MIN:
            return False
        logarithms = (
            number * math.log(self.expected_count) - self.expected_count - math.lgamma(number + 1)
            for number in range(self.count)
        )
        return 1 - math.fsum(map(math.exp, logarithms)) < SIGNIFICANCE_LEVEL


@dataclass(frozen=True, slots=True)
class PairFlow:
    """The money that went from one position to another, and how unusual it is."""

    pair: PositionPair
    round_count: int
    """The number of rounds in which either position won from the other."""
    net_cents: int
    largest_cents: int
    """The most that the winner won from the loser in one round."""
    loser_large_folds: LargeBetFolds
    """How often ``pair.loser`` folded after a large bet, in rounds that ``pair.winner`` won."""
    winner_large_folds: LargeBetFolds
    """How often ``pair.winner`` folded after a large bet, in rounds that ``pair.loser`` won."""
    z_score: float
    """The net flow, in standard deviations of the net flow that two equally strong players would have.

    The amounts won in the single rounds are assumed to be the same.
    """

    @property
    def is_significant(self) -> bool:
        """Return whether a person should look at the pair."""
        has_folds = self.loser_large_folds.is_significant or self.winner_large_folds.is_significant
        return has_folds or (
            self.round_count >= SIGNIFICANT_ROUNDS_MIN and self.z_score >= SIGNIFICANCE_Z_SCORE
        )

    def to_json(self) -> dict[str, object]:
        """Return the flow as JSON, with the verdict."""
        return {
            "verdict": "judge" if self.is_significant else "usual",
            **self.pair._asdict(),
            "rounds": self.round_count,
            "net_cents": self.net_cents,
            "largest_cents": self.largest_cents,
            "large_folds": self.loser_large_folds.count,
            "large_folds_back": self.winner_large_folds.count,
            "z": round(self.z_score, 2),
        }


@dataclass(slots=True)
class _Play:
    """One position's game of a shared round, with what the audit has read of it so far."""

    day: str
    position: int
    start: GameRecord
    raised_credits: int = 0
    is_between_players: bool = False
    is_folded: bool = False

    def add_choice(self, choice: GameChoice) -> None:
        """Add a step: what it adds to the stake, and whether the player has folded at its end."""
        self.is_between_players = self.is_between_players or choice.choice == ALL_STAKED_CUE
        self.raised_credits += choice.staked_credits
        settled = () if choice.outcome is None else choice.outcome.settlements
        self.is_folded = any(
            each.name == _FOLDED_SETTLEMENT_NAME and each.seat == (self.start.wager.seat or 0)
            for each in settled
        )


@dataclass(slots=True)
class _Round:
    """The games of a round that are open, and the results of those that have ended."""

    open_plays: set[str] = field(default_factory=set)
    net_cents: dict[int, int] = field(default_factory=dict)
    large_folds: set[int] = field(default_factory=set)
    is_void: bool = False

    def add_end(self, play: _Play, end: GameEndByHand) -> None:
        """Add the result of a position's game."""
        staked_cents = (play.start.bet_credits + play.raised_credits) * play.start.denomination_cents
        lost_cents = staked_cents - end.win_cents - end.push_cents
        self.net_cents[play.position] = -lost_cents
        if play.is_folded and lost_cents >= staked_cents * LARGE_BET_SHARE:
            self.large_folds.add(play.position)


def compute_pair_flows(results: Iterable[RoundResult]) -> list[PairFlow]:
    """Return the flow of money of each pair of positions, signs first, then by amount.

    What a position wins in a round is taken from each loser in proportion to their loss.
    """
    flows: dict[PositionPair, list[int]] = {}
    rounds: Counter[PositionPair] = Counter()
    folds: Counter[PositionPair] = Counter()
    for result in results:
        losers = {position: -cents for position, cents in result.net_cents.items() if cents < 0}
        lost_cents = sum(losers.values())
        for winner, won_cents in result.net_cents.items():
            for loser, cents in losers.items() if won_cents > 0 else ():
                low, high = sorted((loser, winner))
                pair = PositionPair(result.day, result.game, low, high)
                flow_cents = won_cents * cents // lost_cents
                flows.setdefault(pair, []).append(flow_cents if loser == low else -flow_cents)
                directed = PositionPair(result.day, result.game, loser, winner)
                rounds[directed] += 1
                folds[directed] += loser in result.large_folds
    large_folds = _compare_large_folds(rounds, folds)
    pair_flows = [_compute_pair_flow(pair, cents, large_folds) for pair, cents in flows.items()]
    return sorted(pair_flows, key=lambda flow: (not flow.is_significant, -flow.net_cents, flow.pair))


def _compare_large_folds(
    rounds: Mapping[PositionPair, int], folds: Mapping[PositionPair, int]
) -> dict[PositionPair, LargeBetFolds]:
    """Return the large folds of each pair, with the number expected from the other pairs of its day and game."""
    rounds_in_all: Counter[tuple[str, str]] = Counter()
    folds_in_all: Counter[tuple[str, str]] = Counter()
    for pair, count in rounds.items():
        rounds_in_all[pair.day, pair.game] += count
        folds_in_all[pair.day, pair.game] += folds[pair]
    usual_folds, usual_rounds = _USUAL_LARGE_FOLDS
    large_folds: dict[PositionPair, LargeBetFolds] = {}
    for pair, count in rounds.items():
        other_folds = folds_in_all[pair.day, pair.game] - folds[pair] + usual_folds
        other_rounds = rounds_in_all[pair.day, pair.game] - count + usual_rounds
        large_folds[pair] = LargeBetFolds(folds[pair], count * other_folds / other_rounds)
    return large_folds


def _compute_pair_flow(
    pair: PositionPair, flows_cents: list[int], large_folds: Mapping[PositionPair, LargeBetFolds]
) -> PairFlow:
    """Return the flow of a pair, in the direction in which more money went."""
    if sum(flows_cents) < 0:
        pair = pair._replace(loser=pair.winner, winner=pair.loser)
        flows_cents = [-cents for cents in flows_cents]
    deviation = math.sqrt(sum(cents * cents for cents in flows_cents))
    return PairFlow(
        pair,
        len(flows_cents),
        sum(flows_cents),
        max(0, *flows_cents),
        large_folds.get(pair, LargeBetFolds()),
        large_folds.get(pair._replace(loser=pair.winner, winner=pair.loser), LargeBetFolds()),
        sum(flows_cents) / deviation if deviation else 0.0,
    )


def iter_round_results(entries: Iterable[StoredEntry]) -> Iterator[RoundResult]:
    """Yield the result of each ended round whose players won each other's stakes.

    Rounds with a void game are left out.
    """
    plays: dict[str, _Play] = {}
    rounds: dict[str, _Round] = {}
    for entry, day in iter_with_gaming_days(entries):
        record, where = entry.record, f"entry {entry.sequence}, {entry.kind}"
        if entry.kind not in _ENTRY_KINDS_READ or not isinstance(record, Mapping):
            continue
        if entry.kind == GAME_START.kind and record.get("round_id"):
            game = from_json(GameRecord, record, where)
            position = int(entry.transaction.dims.get("position", 1))
            date = day.find_date(entry.time_utc).isoformat()
            plays[game.play_id] = _Play(date, position, game)
            rounds.setdefault(game.round_id, _Round()).open_plays.add(game.play_id)
        play = plays.get(str(record.get("play_id")))
        if play is None:
            continue
        if entry.kind == GAME_CHOICE.kind:
            play.add_choice(from_json(GameChoice, record, where))
        elif entry.kind in {GAME_END.kind, GAME_VOID.kind}:
            round_ = rounds[play.start.round_id]
            if entry.kind == GAME_END.kind:
                round_.add_end(play, from_json(GameEndByHand, record, where))
            round_.is_void = round_.is_void or entry.kind == GAME_VOID.kind or not play.is_between_players
            round_.open_plays.discard(play.start.play_id)
            del plays[play.start.play_id]
            if not round_.open_plays:
                del rounds[play.start.round_id]
                if not round_.is_void:
                    yield RoundResult(
                        play.day, play.start.game.id, round_.net_cents, frozenset(round_.large_folds)
                    )
