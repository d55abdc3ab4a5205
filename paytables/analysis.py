"""The exact figures of a game, whatever its family: returns, prizes, variance, distribution, bands.

Everything is ``int`` and ``Fraction``; a float appears only where a square root or a print needs one. Amounts
are credits; ``variance`` is in squared credits, and :attr:`BetAnalysis.sigma` in units of the bet.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Final, Literal, Self

from paytables.contract import Json

#: Standard normal quantiles a PAR sheet may use, by name: the trade's 1.65 (Harrigan and Dixon 2009), the
#: exact
#: two-sided 90 % and 95 %.
QUANTILES: Final[Mapping[str, str]] = {"trade 90 %": "1.65", "90 %": "1.644853627", "95 %": "1.959963985"}

#: Games after which the bands of a volatility table are printed.
BAND_GAMES: Final = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)


class Depth(StrEnum):
    """How far an analysis goes.

    The return alone takes milliseconds; prizes and features with their odds some more; variances a second at
    most; highest wins some seconds; everything, distributions too, needs laboratory packages.
    """

    RETURN = "return"
    PRIZES = "prizes"
    VOLATILITY = "volatility"
    HIGHEST = "highest"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Law:
    """The distribution of the win of one game: ``counts[credits]`` of ``total`` equally likely cases.

    ``tail`` is the probability left out, zero where the law is complete; what is left out lies above the
    amounts held or beyond a stated number of features, never silently.
    """

    total: int
    counts: Mapping[int, int]
    tail: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if Fraction(sum(self.counts.values()), self.total) + self.tail != 1:
            raise ValueError("a law's cases and its tail must add to one")

    def moment(self, power: int) -> Fraction:
        """Return E[win^power] over the cases held."""
        return Fraction(sum(count * win**power for win, count in self.counts.items()), self.total)

    def variance(self) -> Fraction:
        """Return the variance over the cases held."""
        return self.moment(2) - self.moment(1) ** 2

    def capped(self, most: int) -> "Law":
        """Return the law of the smaller of the win and ``most``; its tail, if any, counts as ``most``."""
        tail = self.tail * self.total
        total, unit = self.total * tail.denominator, tail.denominator
        counts: dict[int, int] = {most: tail.numerator} if tail else {}
        for win, count in self.counts.items():
            counts[min(win, most)] = counts.get(min(win, most), 0) + count * unit
        return Law(total, counts)

    def at_least(self, win: int) -> Fraction:
        """Return the probability of winning at least ``win`` credits (the tail counts as that much)."""
        return Fraction(sum(n for w, n in self.counts.items() if w >= win), self.total) + self.tail

    def largest_win_expected(self, times: int, games: int) -> int:
        """Return the largest win that ``games`` games reach ``times`` times on average; 0 for none."""
        missing = Fraction(times, games) * self.total - self.tail * self.total
        for win in sorted(self.counts, reverse=True):
            missing -= self.counts[win]
            if missing <= 0:
                return max(win, 0)
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prize:
    """One line of a PAR sheet: how often a prize is won in one game on average, and what it returns."""

    name: str
    where: str
    credits: int
    rate: Fraction
    rtp: Fraction
    hits: int | None = None

    def mean_credits(self, cost_credits: int) -> Fraction | None:
        """Return what it pays on average when it is won, all that multiplies it included; None: never won.

        ``credits`` are of a win nothing multiplies.
        """
        return self.rtp * cost_credits / self.rate if self.rate else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressiveShare:
    """What one progressive level adds: its odds, its return at reset, its contribution and its break-even.

    ``increment`` is of each credit wagered. The break-even is where the stake that plays for the level, with
    what it wins besides, returns itself. ``shares`` are the parts of the level that are won besides, with
    the mean hits of each; the break-even and the return at a meter count them.
    """

    level: str
    rate: Fraction
    reset_credits: int
    rtp_at_reset: Fraction
    increment: Fraction
    break_even_credits: Fraction | None
    ceiling_credits: int | None = None
    """A mystery level is hit at a secret amount up to this; ``rate`` is its mean from reset to hit."""
    shares: Mapping[Fraction, Fraction] = field(default_factory=dict)

    def of(self, stake: int, cost_credits: int) -> "ProgressiveShare":
        """Return the same of a wager of ``cost_credits``, of which it was of ``stake``."""
        part = Fraction(stake, cost_credits)
        return replace(self, rtp_at_reset=self.rtp_at_reset * part, increment=self.increment * part)

    @property
    def parts(self) -> Fraction:
        """How many levels one game wins on average by parts of one."""
        return sum((share * rate for share, rate in self.shares.items()), Fraction(0))

    def seeded_at(self, cost_credits: int) -> Fraction:
        """Return what a house puts up for resets of each credit wagered; parts won lower it by as much."""
        return self.rtp_at_reset - self.parts * self.reset_credits / cost_credits

    def rate_at(self, meter_credits: Fraction | int, cost_credits: int) -> Fraction:
        """Return the hits of the next game while the meter stands at ``meter_credits``.

        A mystery's secret amount lies evenly between meter and ceiling: the nearer that is, the likelier.
        """
        if self.ceiling_credits is None:
            return self.rate
        room = self.ceiling_credits - Fraction(meter_credits)
        step = self.increment * cost_credits
        return Fraction(1) if room <= step else step / room

    def rtp_at(self, meter_credits: Fraction | int, cost_credits: int) -> Fraction:
        """Return what the level returns per credit wagered while its meter stands at ``meter_credits``."""
        return (self.rate_at(meter_credits, cost_credits) + self.parts) * meter_credits / cost_credits


@dataclass(frozen=True, slots=True, kw_only=True)
class MerchandiseShare:
    """What one prize in kind adds: how often it is won in one game on average, and its stated value.

    It counts in no return; :meth:`rtp_at` states its part beside it.
    """

    prize: str
    rate: Fraction
    value_cents: int

    def rtp_at(self, denomination_cents: int, cost_credits: int) -> Fraction:
        """Return what the prize returns at its stated value, of a game that costs so many credits."""
        return self.rate * self.value_cents / (cost_credits * denomination_cents)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureFigures:
    """How often a feature starts in one paid game, how long it lasts and what it pays on average."""

    feature: str
    rate: Fraction
    mean_runs: Fraction
    mean_credits: Fraction
    rtp: Fraction
    longest_runs: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubled:
    """What a double-up can make of a game: the return is the same, and the wins are fewer and larger.

    ``most_credits`` is the most that can come of it, never stated too low. ``variance`` is that of a player
    who doubles as often as he may, in credits squared, and ``law`` the distribution of his wins; None where
    they were not asked for or are beyond reach.
    """

    most_credits: int
    variance: Fraction | None = None
    law: Law | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BetAnalysis:
    """The figures of one way to bet. ``rtp`` excludes progressives and merchandise (both are stated apart).

    ``cycle`` is the number of equally likely first results. ``options`` are what a wager of these figures is
    asked with: ``game.wager(cost_credits, **options)``; ``table`` is the one it is asked on
    (:meth:`paytables.game.Game.at`), where a table does not take it as it opens; bets that stand there are in
    no figure. Figures that were not asked for are None. Where the player decides something within the game,
    ``strategy`` says how for these figures, and ``worst_rtp`` is the return of whoever decides worst every
    time; both are None where nothing is decided.
    ``simplest_strategy`` is the simplest published one, in words, and ``simplest_rtp`` its return.

    Where a round may be raised, a win counts less what was added: ``rtp`` is the return of each credit first
    staked, the law's smallest win may be negative, and ``mean_staked_credits`` is what is staked on average,
    raises included; :attr:`rtp_of_all_staked` is the return of each credit so staked.
    """

    bet: str
    cost_credits: int
    rtp: Fraction
    options: Mapping[str, Json] = field(default_factory=dict)
    table: Json = None
    cycle: int | None = None
    prizes: tuple[Prize, ...] = ()
    features: tuple[FeatureFigures, ...] = ()
    progressives: tuple[ProgressiveShare, ...] = ()
    merchandise: tuple[MerchandiseShare, ...] = ()
    variance: Fraction | None = None
    hit_probability: Fraction | None = None
    least_hit_credits: int = 1
    """The least win that is a hit: at a table, where the win has the stake in it, more than the stake."""
    return_bet_probability: Fraction | None = None
    law: Law | None = None
    max_win_credits: int | None = None
    max_win_probability: Fraction | None = None
    doubled: Doubled | None = None
    """Of whoever doubles what he wins as often as the game lets him; None where there is no double-up."""
    strategy: str | None = None
    worst_rtp: Fraction | None = None
    simplest_strategy: str | None = None
    simplest_rtp: Fraction | None = None
    mean_staked_credits: Fraction | None = None
    notes: tuple[str, ...] = ()
    beside: Mapping[str, int] = field(default_factory=dict)
    """Bets in none of these figures without which this one is not taken, in credits by spot."""

    def with_law(self, law: Law, *, least_hit_credits: int | None = None) -> Self:
        """Return these figures with all that the whole distribution of a round's win says.

        At a table a hit is more than the stake, which the win has in it, unless ``least_hit_credits`` says
        from what win on a round is one.
        """
        top, hit = max(law.counts), least_hit_credits or self.cost_credits + 1
        return replace(
            self,
            variance=law.variance(),
            hit_probability=law.at_least(hit),
            least_hit_credits=hit,
            return_bet_probability=law.at_least(self.cost_credits),
            law=law,
            max_win_credits=top,
            max_win_probability=law.at_least(top),
        )

    @property
    def profit_probability(self) -> Fraction | None:
        """How likely a game wins more than it cost."""
        return None if self.law is None else self.law.at_least(self.cost_credits + 1)

    @property
    def mean_credits(self) -> Fraction:
        """The expected win of one game."""
        return self.rtp * self.cost_credits

    @property
    def rtp_of_all_staked(self) -> Fraction:
        """The return of each credit staked in the round, raises included, under the strategy."""
        staked = self.cost_credits if self.mean_staked_credits is None else self.mean_staked_credits
        return 1 + (self.rtp - 1) * self.cost_credits / staked

    @property
    def most_credits(self) -> int | None:
        """The most one game can come to, what a double-up may make of its win included."""
        highest = self.max_win_credits
        return highest if highest is None or self.doubled is None else max(highest, self.doubled.most_credits)

    @property
    def never_won(self) -> tuple[Prize, ...]:
        """Prizes of the pay table that no result wins, among those that were worked out."""
        return tuple(prize for prize in self.prizes if not prize.rate)

    @property
    def multiplied(self) -> tuple[Prize, ...]:
        """Prizes some of whose wins pay other credits than their own: something multiplies those."""
        return tuple(p for p in self.prizes if p.mean_credits(self.cost_credits) not in {None, p.credits})

    @property
    def raised_credits(self) -> Fraction:
        """What a round adds to the bet on average, under the strategy."""
        return (self.mean_staked_credits or Fraction(self.cost_credits)) - self.cost_credits

    @property
    def sigma(self) -> float | None:
        """The standard deviation of one game's win in units of its bet, None where it was not asked for."""
        return None if self.variance is None else math.sqrt(self.variance / self.cost_credits**2)

    def rtp_counting(self, counted: Literal["nothing", "reset", "all"]) -> Fraction:
        """Return the return, counting of the levels nothing, their reset, or what play adds as well."""
        if counted == "nothing":
            return self.rtp
        if counted == "all":
            return self.rtp_with_progressives
        return self.rtp + sum((p.rtp_at_reset for p in self.progressives), Fraction(0))

    @property
    def rtp_with_progressives(self) -> Fraction:
        """The return in the long run: what the house puts up for each reset plus what play adds.

        Of a level won in parts not less than that: the house makes up what a part leaves below the reset.
        """
        levels = (p.seeded_at(self.cost_credits) + p.increment for p in self.progressives)
        return self.rtp + sum(levels, Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The figures of a game, one :class:`BetAnalysis` a way to bet."""

    game_id: str
    version: str
    family: str
    bets: tuple[BetAnalysis, ...]
    exact: bool = True

    @property
    def minimum_rtp(self) -> Fraction:
        """The lowest return over every way to bet: what a floor is held against."""
        return min(bet.rtp for bet in self.bets)

    @property
    def maximum_rtp(self) -> Fraction:
        """The highest return over every way to bet."""
        return max(bet.rtp for bet in self.bets)

    @property
    def worst_rtp(self) -> Fraction:
        """The return of whoever bets and decides worst every time."""
        return min(bet.rtp if bet.worst_rtp is None else bet.worst_rtp for bet in self.bets)

    def not_bought(self) -> dict[str, tuple[str, ...]]:
        """The prizes of a pay table that only some bets on it can win: bet -> those it cannot."""
        tables: dict[str, set[str]] = {}
        for bet in self.bets:
            for prize in bet.prizes:
                tables.setdefault(prize.where, set()).add(prize.name)
        missing = {
            bet.bet: {(p.where, name) for p in bet.prizes for name in tables[p.where]}
            - {(p.where, p.name) for p in bet.prizes}
            for bet in self.bets
        }
        return {bet: tuple(sorted(name for _, name in names)) for bet, names in missing.items() if names}


def mystery_rate(steps: Fraction) -> Fraction:
    """Return hits a game of a meter that takes ``steps`` games (exact, above zero) from reset to ceiling.

    The secret amount is uniform between the two, so each game hits with probability 1 / ``steps`` of the
    whole, and the last, which reaches the ceiling, with what is left. On a shared meter a game is that of
    any machine: all of them have the same stake, and so the same chance (Québec by-law, s.92).
    """
    whole = steps.numerator // steps.denominator
    games = whole * (whole + 1) / (2 * steps) + (1 - whole / steps) * (whole + 1)
    return 1 / games


def volatility_index(sigma: float, quantile: float = 1.65) -> float:
    """Return VI = z sigma, sigma in units of the bet (Harrigan and Dixon, *PAR Sheets*, 2009)."""
    return quantile * sigma


def band(rtp: float, sigma: float, games: int, quantile: float = 1.65) -> tuple[float, float]:
    """Return the interval the return of ``games`` games lies in, RTP -+ z sigma / sqrt(n)."""
    half = quantile * sigma / math.sqrt(games)
    return rtp - half, rtp + half
