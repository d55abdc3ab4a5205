"""The actual return of each game in operation, compared with the exact return for the wagers played.

All wagers are recorded, so the expected win and its variance are sums of exact figures. The z-score is the
difference between actual and expected win divided by the standard deviation, as in ``egm simulate``.
Progressive levels and prizes in kind are left out, as in the exact return of a game.
"""

import math
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, NamedTuple

from egm.play.definitions import decode_definition
from egm.play.entries import GAME_CHOICE, GAME_DOUBLE_UP, GAME_END, GAME_START, GAME_VOID
from egm.play.keys import PlayKey
from meters import JournalView
from paytables import (
    AnalysisDepth,
    AnalysisError,
    BetAnalysis,
    Game,
    PaytableError,
    Wager,
    analyse,
    build_game_from_json,
)

#: The z-score up to which chance explains a return: 99.9 % of the returns of a correct game deviate no more than this.
EXPLAINED_Z_SCORE_MAX: Final = 3.290527
#: The meters that sum up to a game's payments, each with its sign: paid by the machine, by hand, and what a double-up
#: added or took.
_SIGNED_PAYMENT_METERS: Final = (
    ("coin_out", 1),
    ("att_jackpot", 1),
    ("double_up_won", 1),
    ("double_up_bet", -1),
)


class GameVersion(NamedTuple):
    """One version of a game, identified by the digest of its definition, at one denomination."""

    game_id: str
    version: str
    digest: str
    denomination_cents: int


@dataclass(slots=True)
class _GameSums:
    """Sums over all ended games of one :class:`GameVersion`: stakes, wins, and how often each wager was made."""

    game_count: int = 0
    staked_cents: int = 0
    won_cents: int = 0
    has_double_up: bool = False
    """Whether any player doubled up (staked a win again), which changes the variance of the wins."""
    has_standing_bets: bool = False
    """Whether bets stayed on the table from one game to the next."""
    wager_counts: Counter[tuple[int, str]] = field(default_factory=Counter)
    """How often each wager was made, by (cost in credits, options as text)."""
    wager_by_key: dict[tuple[int, str], Wager] = field(default_factory=dict)
    """A wager object for each key of ``wager_counts``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameReturn:
    """The actual return of one game at one denomination, compared with its exact figures.

    The return is a share of the initial stakes. Stakes added by later choices are subtracted from the win, and
    returned stakes (pushes) are added to it.
    """

    game_version: GameVersion
    """The game, its version and the denomination."""
    game_count: int
    staked_cents: int
    """The initial stakes of all ended games."""
    won_cents: int
    """The wins and returned stakes (pushes) of all ended games, less the stakes added by later choices."""
    coin_in_cents: int
    """The coin-in meter of the game, which also counts open and void games."""
    paid_cents: int
    """The sum of the game's meters of wins, which also count open and void games."""
    lowest_return: Fraction | None = None
    """The exact return, as a share of the stakes, if players always decide worst; None if unknown."""
    highest_return: Fraction | None = None
    """The exact return, as a share of the stakes, with the strategy that the game's figures assume; None if unknown."""
    standard_deviation_cents: float | None = None
    """The standard deviation of the sum of all wins; None if unknown."""
    z_score: float | None = None
    """The deviation of the wins from the exact return, in standard deviations; None if unknown.

    If the exact return depends on the player's decisions, wins between the lowest and the highest exact return
    have no deviation; other wins deviate from the nearer of the two.
    """
    unknown_reason: str = ""
    """The reason why the verdict is ``unknown``, or ""."""

    @property
    def verdict(self) -> str:
        """Return ``explained``, ``investigate`` or ``unknown``.

        ``explained``: chance explains the deviation at this number of games; ``investigate``: it does not;
        ``unknown``: there is no exact return to compare with.
        """
        if self.z_score is None:
            return "unknown"
        return "explained" if abs(self.z_score) <= EXPLAINED_Z_SCORE_MAX else "investigate"

    def to_json(self) -> dict[str, Any]:
        """Return the comparison of returns as JSON; returns are shares of the stakes."""
        return {
            "game": self.game_version.game_id,
            "version": self.game_version.version,
            "digest": self.game_version.digest,
            "denomination_cents": self.game_version.denomination_cents,
            "games": self.game_count,
            "coin_in_cents": self.coin_in_cents,
            "coin_out_cents": self.paid_cents,
            "staked_cents": self.staked_cents,
            "won_cents": self.won_cents,
            "return": self.won_cents / self.staked_cents,
            "theoretical": None if self.highest_return is None else float(self.highest_return),
            "theoretical_least": None if self.lowest_return is None else float(self.lowest_return),
            "sigma_cents": self.standard_deviation_cents,
            "z": self.z_score,
            "verdict": self.verdict,
            "why": self.unknown_reason,
        }


def iter_returns(view: JournalView) -> Iterator[GameReturn]:
    """Yield for each game version with an ended game its actual return, compared with the exact one.

    ``view`` is a journal open for reading. The order is by game, version and denomination. Games played only without
    a stake are left out.
    """
    reading = view.meters()
    for version, sums in sorted(_sum_ended_games(view).items()):
        if not sums.staked_cents:  # only games without a stake, on standing bets of an earlier journal
            continue
        version_reading = reading.select(
            paytable=f"{version.game_id}@{version.version}", denomination_cents=version.denomination_cents
        )
        actual_fields: dict[str, Any] = {
            "game_version": version,
            "game_count": sums.game_count,
            "staked_cents": sums.staked_cents,
            "won_cents": sums.won_cents,
            "coin_in_cents": version_reading.get_value("coin_in"),
            "paid_cents": sum(
                sign * version_reading.get_value(name) for name, sign in _SIGNED_PAYMENT_METERS
            ),
        }
        try:
            yield _compare_return(sums, version, _load_game(view, version), actual_fields)
        except (PaytableError, AnalysisError, LookupError) as error:
            yield GameReturn(**actual_fields, unknown_reason=str(error))


def _sum_ended_games(view: JournalView) -> dict[GameVersion, _GameSums]:
    """Return the sums of the ended games of each version and denomination; open and void games are left out."""
    sums_by_version: dict[GameVersion, _GameSums] = {}
    start_record_by_play_id: dict[str, Mapping[str, Any]] = {}
    doubled_up_play_ids: set[str] = set()
    raised_credits_by_play_id: Counter[str] = Counter()
    entry_declarations = (GAME_START, GAME_CHOICE, GAME_DOUBLE_UP, GAME_END, GAME_VOID)
    for entry in view.entries(tuple(declaration.kind for declaration in entry_declarations)):
        record: Any = entry.record
        play_id = record["play_id"]
        if entry.kind == GAME_START.kind:
            start_record_by_play_id[play_id] = record
            continue
        if entry.kind == GAME_CHOICE.kind:
            raised_credits_by_play_id[play_id] += record.get("staked_credits", 0)
            continue
        if entry.kind == GAME_DOUBLE_UP.kind:
            doubled_up_play_ids.add(play_id)
            continue
        start_record = start_record_by_play_id.pop(play_id, None)
        # a game that started before a clear is in another journal
        if start_record is None or entry.kind == GAME_VOID.kind:
            continue
        game, denomination_cents = start_record["game"], start_record["denomination_cents"]
        sums = sums_by_version.setdefault(
            GameVersion(game["id"], game["version"], game["digest"], denomination_cents), _GameSums()
        )
        wager = Wager.from_json(start_record["wager"])
        wager_key = (wager.credits, repr(sorted(wager.options.items())))
        sums.game_count += 1
        sums.staked_cents += wager.credits * denomination_cents
        sums.won_cents += (
            record["win_cents"]
            + record.get("push_cents", 0)
            - raised_credits_by_play_id.pop(play_id, 0) * denomination_cents
        )
        sums.has_standing_bets = (
            sums.has_standing_bets
            or "table" in start_record
            or any(storage_key.startswith("table:") for storage_key in entry.state)
        )
        sums.has_double_up = sums.has_double_up or play_id in doubled_up_play_ids
        sums.wager_counts[wager_key] += 1
        sums.wager_by_key[wager_key] = wager
    return sums_by_version


def _load_game(view: JournalView, version: GameVersion) -> Game:
    """Return the definition of a game version from the journal.

    Raises LookupError if the journal does not contain it.
    """
    stored_text = view.states(PlayKey.GAME_DEFINITION).get(f"{PlayKey.GAME_DEFINITION}{version.digest}")
    if stored_text is None:
        raise LookupError(f"the journal does not contain the definition with digest {version.digest[:12]}")
    try:
        return build_game_from_json(decode_definition(str(stored_text)), "the journal")
    except (ValueError, zlib.error) as error:
        raise LookupError(
            f"the definition with digest {version.digest[:12]} cannot be read: {error}"
        ) from error


def _compare_return(
    sums: _GameSums, version: GameVersion, game: Game, actual_fields: Mapping[str, Any]
) -> GameReturn:
    """Return the actual return of a game version, compared with the mean and variance of all its wagers."""
    if sums.has_standing_bets:
        raise LookupError(
            "bets stand from one game to the next, so the return of a single game is not defined"
        )
    highest_return_credits = lowest_return_credits = variance = Fraction(0)
    for wager_key, wager_count in sums.wager_counts.items():
        bet_analysis = game.rules.analyse_wager(sums.wager_by_key[wager_key])
        wager_variance = (
            _compute_largest_variance(game, bet_analysis) if sums.has_double_up else bet_analysis.variance
        )
        if wager_variance is None:
            raise LookupError(f"a wager of {bet_analysis.cost_credits} credits has no exact variance")
        worst_rtp = bet_analysis.rtp if bet_analysis.worst_rtp is None else bet_analysis.worst_rtp
        highest_return_credits += bet_analysis.rtp * bet_analysis.cost_credits * wager_count
        lowest_return_credits += worst_rtp * bet_analysis.cost_credits * wager_count
        variance += wager_variance * wager_count
    denomination_cents = version.denomination_cents
    won_credits, staked_credits = (
        Fraction(sums.won_cents, denomination_cents),
        Fraction(sums.staked_cents, denomination_cents),
    )
    deviation = (
        won_credits - highest_return_credits
        if won_credits > highest_return_credits
        else min(won_credits - lowest_return_credits, Fraction(0))
    )
    standard_deviation = math.sqrt(variance)
    z_score = (
        float(deviation) / standard_deviation
        if standard_deviation
        else math.copysign(math.inf, deviation)
        if deviation
        else 0.0
    )
    return GameReturn(
        **actual_fields,
        lowest_return=lowest_return_credits / staked_credits,
        highest_return=highest_return_credits / staked_credits,
        standard_deviation_cents=standard_deviation * denomination_cents,
        z_score=z_score,
    )


def _compute_largest_variance(game: Game, bet_analysis: BetAnalysis) -> Fraction | None:
    """Return the variance of a wager if the player doubles up every win as often as the game allows.

    No other use of the double-up gives a larger variance. Return None if it is not known.
    """
    for unit_bet in analyse(game, AnalysisDepth.FULL).bets:
        double_up = unit_bet.double_up
        if (
            unit_bet.options.items() <= bet_analysis.options.items()
            and double_up
            and double_up.variance is not None
        ):
            return double_up.variance * (bet_analysis.cost_credits // unit_bet.cost_credits) ** 2
    return None
