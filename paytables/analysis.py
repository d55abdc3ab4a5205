"""Exact figures of any game: returns, prizes, variance, win distribution and confidence bands.

Everything is ``int`` and ``Fraction``; floats appear only where a square root or printed output needs one.
Amounts are credits; ``variance`` is in squared credits, and :attr:`BetAnalysis.standard_deviation` in units of the bet.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Final, Literal, Self

from paytables.contract import Json

#: Standard normal quantiles a PAR sheet may use, by name: the trade's 1.65 (Harrigan and Dixon 2009), the
#: exact two-sided 90 % and 95 %.
CONFIDENCE_QUANTILES: Final[Mapping[str, str]] = {
    "trade 90 %": "1.65",
    "90 %": "1.644853627",
    "95 %": "1.959963985",
}

#: Numbers of games for which a volatility table prints confidence bands.
CONFIDENCE_BAND_GAME_COUNTS: Final = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)


class AnalysisDepth(StrEnum):
    """How many figures an analysis computes, from the fewest to all.

    The return alone takes milliseconds; prizes and features with their probabilities take somewhat longer; variances
    take at most a second, and highest wins some seconds. The full analysis, which includes distributions, needs the
    laboratory packages.
    """

    RETURN = "return"
    """Only the return, no other figure."""
    PRIZES = "prizes"
    """The return, and the probability of each prize and feature."""
    VOLATILITY = "volatility"
    """The return, the probabilities of prizes and features, and the variance of the win."""
    HIGHEST = "highest"
    """All figures except the win distribution: the highest win and its probability are included."""
    FULL = "full"
    """Every figure, the win distribution included."""


@dataclass(frozen=True, slots=True)
class WinDistribution:
    """The probability distribution of the win of one game, in credits.

    ``case_count_by_win`` may leave out a tail: wins that are larger than the listed ones, or that occur only after more
    than a stated number of features.
    """

    case_count: int
    """The number of equally likely cases."""
    case_count_by_win: Mapping[int, int]
    """The number of cases that win each number of credits."""
    unlisted_probability: Fraction = Fraction(0)
    """The probability of the cases that are left out of ``case_count_by_win``; zero if none is."""

    def __post_init__(self) -> None:
        if Fraction(sum(self.case_count_by_win.values()), self.case_count) + self.unlisted_probability != 1:
            raise ValueError("the cases of a distribution and its tail must add to one")

    def compute_moment(self, power: int) -> Fraction:
        """Return E[win^power] of one game over the listed cases; cases whose win is not listed are left out."""
        return Fraction(
            sum(count * win**power for win, count in self.case_count_by_win.items()), self.case_count
        )

    def compute_variance(self) -> Fraction:
        """Return the variance of the win, in squared credits; cases whose win is not listed are left out."""
        return self.compute_moment(2) - self.compute_moment(1) ** 2

    def cap_wins(self, win_max_credits: int) -> "WinDistribution":
        """Return the distribution with each win limited to ``win_max_credits``.

        The cases whose win is not listed are counted with the win ``win_max_credits``.
        """
        # all counts are multiplied by ``unit``, so that the tail is a whole number of cases
        tail_cases = self.unlisted_probability * self.case_count
        unit = tail_cases.denominator
        counts: dict[int, int] = {win_max_credits: tail_cases.numerator} if tail_cases else {}
        for win, count in self.case_count_by_win.items():
            counts[min(win, win_max_credits)] = counts.get(min(win, win_max_credits), 0) + count * unit
        return WinDistribution(self.case_count * unit, counts)

    def compute_chance_of_at_least(self, win: int) -> Fraction:
        """Return the probability of winning at least ``win`` credits; cases whose win is not listed are included."""
        return (
            Fraction(sum(n for w, n in self.case_count_by_win.items() if w >= win), self.case_count)
            + self.unlisted_probability
        )

    def find_highest_win_reached_on_average(self, reached_count_min: int, game_count: int) -> int:
        """Return the largest win that at least ``reached_count_min`` of ``game_count`` games reach on average.

        0 if there is none.
        """
        missing_cases = (
            Fraction(reached_count_min, game_count) * self.case_count
            - self.unlisted_probability * self.case_count
        )
        for win in sorted(self.case_count_by_win, reverse=True):
            missing_cases -= self.case_count_by_win[win]
            if missing_cases <= 0:
                return max(win, 0)
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizeFigures:
    """One line of a game's PAR sheet: how often a prize is won in one game on average, and what it returns."""

    name: str
    """The name of the prize on the PAR sheet."""
    stage_or_spot: str
    """The stage, betting spot, side bet or pay table in which the prize is won."""
    credits: int
    """The credits that the prize pays."""
    rate: Fraction
    """The mean number of times that one game wins the prize."""
    rtp: Fraction
    """The part of the bet's return that this prize contributes, per credit wagered."""
    win_count: int | None = None
    """How often the prize is won in all cases of the game's cycle together, or None if it cannot be stated.

    A window of reels counts once for each way and line that wins the prize.
    """

    def compute_mean_credits(self, cost_credits: int) -> Fraction | None:
        """Return the average payment when the prize is won, all multipliers included, or None if it is never won.

        The ``credits`` of the prize are its payment without any multiplier.
        """
        return self.rtp * cost_credits / self.rate if self.rate else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressiveFigures:
    """What one progressive level contributes to a bet: hit rate, return at reset, increment, and break-even amount.

    The break-even amount takes into account the other prizes of the stake that plays for the level. Hits that pay
    only a part of the level count towards the break-even amount and the return at a given amount.
    """

    level: str
    """The id of the progressive level."""
    rate: Fraction
    """The mean number of times that one game wins the whole level."""
    reset_credits: int
    """The level's amount after a hit."""
    rtp_at_reset: Fraction
    """The level's part of the bet's return while its amount is the reset value."""
    increment: Fraction
    """The part of each credit wagered that is added to the level's amount."""
    break_even_credits: Fraction | None
    """The level's amount that raises the return of the stake to 100 %, or None if no amount does."""
    ceiling_credits: int | None = None
    """The highest secret amount of a mystery level; its ``rate`` is then the mean over all amounts up to the hit."""
    partial_hit_rates: Mapping[Fraction, Fraction] = field(default_factory=dict)
    """The mean number of hits per game that pay only a part of the level, by that part."""

    def scale_to_wager(self, stake: int, cost_credits: int) -> "ProgressiveFigures":
        """Return this level's figures per credit of a wager.

        The wager costs ``cost_credits``, of which only ``stake`` credits play for the level.
        """
        part = Fraction(stake, cost_credits)
        return replace(self, rtp_at_reset=self.rtp_at_reset * part, increment=self.increment * part)

    @property
    def mean_partial_share(self) -> Fraction:
        """Return the average fraction of the level's amount that one game wins by partial-jackpot hits."""
        return sum((share * rate for share, rate in self.partial_hit_rates.items()), Fraction(0))

    def compute_reset_cost(self, cost_credits: int) -> Fraction:
        """Return the operator's expected cost of resetting this level after wins, per credit wagered.

        Hits that pay only a part of the level reduce this cost.
        """
        return self.rtp_at_reset - self.mean_partial_share * self.reset_credits / cost_credits

    def compute_rate_at(self, level_credits: Fraction | int, cost_credits: int) -> Fraction:
        """Return the probability that the next game hits this level, while its amount is ``level_credits``.

        The secret amount of a mystery level is uniform between the level's amount and its ceiling, so a hit is more
        likely the closer the amount is to the ceiling. For any other level the amount has no effect.
        """
        if self.ceiling_credits is None:
            return self.rate
        credits_to_ceiling = self.ceiling_credits - Fraction(level_credits)
        added_credits = self.increment * cost_credits
        return Fraction(1) if credits_to_ceiling <= added_credits else added_credits / credits_to_ceiling

    def compute_rtp_at(self, level_credits: Fraction | int, cost_credits: int) -> Fraction:
        """Return what this level returns per credit wagered, while its amount is ``level_credits``."""
        return (
            (self.compute_rate_at(level_credits, cost_credits) + self.mean_partial_share)
            * level_credits
            / cost_credits
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MerchandiseFigures:
    """A prize in kind in a bet's figures: how often one game wins it on average, and its stated value.

    The RTP figures do not include it; :meth:`compute_rtp_at` returns its share of the RTP.
    """

    prize: str
    """The id of the prize in kind."""
    rate: Fraction
    """The mean number of times that one game wins the prize."""
    value_cents: int
    """The stated value of the prize, in minor units of the currency."""

    def compute_rtp_at(self, denomination_cents: int, cost_credits: int) -> Fraction:
        """Return the prize's stated value per game divided by the wager of ``cost_credits``, at this denomination."""
        return self.rate * self.value_cents / (cost_credits * denomination_cents)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureFigures:
    """The figures of one feature of a game: how often a paid game starts it, its mean length, and its mean pay."""

    feature: str
    """The id of the feature, such as that of its stage."""
    rate: Fraction
    """The mean number of times that one paid game starts the feature."""
    mean_runs: Fraction
    """The mean number of runs (such as free spins) once the feature is started."""
    mean_credits: Fraction
    """The mean credits that the feature pays once it is started."""
    rtp: Fraction
    """The part of the bet's return that the feature contributes."""
    max_runs: int | None
    """The largest possible number of runs of the feature, or None if it has no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubleUpFigures:
    """The figures of a bet if every win is doubled up as often as allowed: the same return, fewer and larger wins."""

    max_win_credits: int
    """An upper bound on the win after all double-ups."""
    variance: Fraction | None = None
    """The variance of the win, in squared credits; None if not requested or not exact."""
    distribution: WinDistribution | None = None
    """The distribution of the win; None if not requested or not exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BetAnalysis:
    """The exact figures of one way to bet on a game. Figures that were not requested are None or empty.

    The figures exclude bets that already stand in the table state ``table``
    (:meth:`paytables.game.Game.with_table_state`).

    If a round can be raised, each win is reduced by the amount added. Then ``rtp`` is the return per credit
    of the initial stake, and the smallest win of the distribution may be negative; :attr:`rtp_of_all_staked`
    is the return per credit of the total stake, raises included.
    """

    bet: str
    """The name of the bet on the PAR sheet."""
    cost_credits: int
    """The credits that the bet costs."""
    rtp: Fraction
    """The return per credit of the initial stake, excluding progressive levels and merchandise."""
    options: Mapping[str, Json] = field(default_factory=dict)
    """The arguments of ``game.build_wager`` that create this wager, apart from its cost."""
    table: Json = None
    """The table state in which the bet can be placed; None: the state of a newly opened table."""
    cycle: int | None = None
    """The number of equally likely first results; None if it is not stated."""
    prizes: tuple[PrizeFigures, ...] = ()
    """How often each prize is won, and what it returns."""
    features: tuple[FeatureFigures, ...] = ()
    """The figures of each feature that the bet can start."""
    progressives: tuple[ProgressiveFigures, ...] = ()
    """What each progressive level contributes to the bet."""
    merchandise: tuple[MerchandiseFigures, ...] = ()
    """How often the bet wins each prize in kind."""
    variance: Fraction | None = None
    """The variance of the win, in squared credits."""
    hit_probability: Fraction | None = None
    """The probability of a win of at least ``hit_min_credits``."""
    hit_min_credits: int = 1
    """The smallest win that counts as a hit. At a table the win includes the stake, so a hit is more than the stake."""
    win_at_least_bet_probability: Fraction | None = None
    """The probability that the win is at least the bet."""
    distribution: WinDistribution | None = None
    """The probability of each win; None if it was not computed."""
    max_win_credits: int | None = None
    """The highest possible win, in credits; an upper bound if :attr:`notes` say so."""
    max_win_probability: Fraction | None = None
    """The probability of the highest win."""
    double_up: DoubleUpFigures | None = None
    """Figures for a player who doubles every win as often as the game allows; None if there is no double-up."""
    strategy: str | None = None
    """The name of the strategy that these figures assume; None if the player decides nothing."""
    worst_rtp: Fraction | None = None
    """The return with the worst possible decisions; None if the player decides nothing."""
    simplest_strategy: str | None = None
    """The description of the simplest published strategy, or None."""
    simplest_rtp: Fraction | None = None
    """The return of the simplest published strategy, or None."""
    mean_staked_credits: Fraction | None = None
    """The mean total stake of a round, raises included; None if nothing can be raised."""
    notes: tuple[str, ...] = ()
    """Remarks on the figures, as text for the PAR sheet."""
    required_bets: Mapping[str, int] = field(default_factory=dict)
    """Other bets that this bet requires, in credits by spot. They are excluded from these figures."""
    is_covered_by_players: bool = False
    """Whether other players, not the house, pay what this bet wins, so that no minimum return applies to it."""

    def with_distribution(self, distribution: WinDistribution, *, hit_min_credits: int | None = None) -> Self:
        """Return these figures with a complete win distribution added, and the figures that follow from it.

        At a table, the win includes the stake, so a hit is a win above the stake unless ``hit_min_credits``
        sets another limit.
        """
        highest_win, smallest_hit = (
            max(distribution.case_count_by_win),
            hit_min_credits or self.cost_credits + 1,
        )
        return replace(
            self,
            variance=distribution.compute_variance(),
            hit_probability=distribution.compute_chance_of_at_least(smallest_hit),
            hit_min_credits=smallest_hit,
            win_at_least_bet_probability=distribution.compute_chance_of_at_least(self.cost_credits),
            distribution=distribution,
            max_win_credits=highest_win,
            max_win_probability=distribution.compute_chance_of_at_least(highest_win),
        )

    @property
    def profit_probability(self) -> Fraction | None:
        """Return the probability that a game wins more than its cost, or None if it was not computed."""
        return (
            None
            if self.distribution is None
            else self.distribution.compute_chance_of_at_least(self.cost_credits + 1)
        )

    @property
    def mean_credits(self) -> Fraction:
        """Return the expected win of one game, in credits."""
        return self.rtp * self.cost_credits

    @property
    def rtp_of_all_staked(self) -> Fraction:
        """Return the return per credit staked in the round, raises included, under the strategy."""
        staked_credits = self.cost_credits if self.mean_staked_credits is None else self.mean_staked_credits
        return 1 + (self.rtp - 1) * self.cost_credits / staked_credits

    @property
    def max_win_credits_with_double_up(self) -> int | None:
        """Return an upper bound on the win of one game, double-up included; None if it was not computed."""
        highest_win = self.max_win_credits
        return (
            highest_win
            if highest_win is None or self.double_up is None
            else max(highest_win, self.double_up.max_win_credits)
        )

    @property
    def prizes_never_won(self) -> tuple[PrizeFigures, ...]:
        """Return the prizes of the pay table that no result of the game wins."""
        return tuple(prize for prize in self.prizes if not prize.rate)

    @property
    def prizes_with_multipliers(self) -> tuple[PrizeFigures, ...]:
        """Return the prizes whose average payment differs from their own credits because of multipliers."""
        return tuple(
            p for p in self.prizes if p.compute_mean_credits(self.cost_credits) not in {None, p.credits}
        )

    @property
    def mean_raise_credits(self) -> Fraction:
        """Return the mean amount that raises add to the bet, under the strategy."""
        return (self.mean_staked_credits or Fraction(self.cost_credits)) - self.cost_credits

    @property
    def standard_deviation(self) -> float | None:
        """Return the standard deviation of one game's win in units of its bet, or None if it was not requested."""
        return None if self.variance is None else math.sqrt(self.variance / self.cost_credits**2)

    def compute_rtp_including_levels(self, levels: Literal["nothing", "reset", "all"]) -> Fraction:
        """Return the RTP of the bet, with progressive levels included as far as ``levels`` says.

        ``nothing``: no part of a level counts. ``reset``: its reset value counts. ``all``: the cost of its resets and
        its increment count.
        """
        if levels == "nothing":
            return self.rtp
        if levels == "all":
            return self.rtp_with_progressives
        return self.rtp + sum((p.rtp_at_reset for p in self.progressives), Fraction(0))

    @property
    def rtp_with_progressives(self) -> Fraction:
        """Return the long-run RTP: the RTP excluding levels, plus the cost of resets, plus the increments.

        For a level that is won in parts, this is a lower bound: if a partial hit leaves less than the reset value,
        the operator also pays the difference.
        """
        level_rtps = (p.compute_reset_cost(self.cost_credits) + p.increment for p in self.progressives)
        return self.rtp + sum(level_rtps, Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The exact figures of a game: one :class:`BetAnalysis` for each way to bet."""

    game_id: str
    """The id of the game's definition."""
    version: str
    """The version of the game's definition."""
    family: str
    """The game family, such as ``reels`` or ``blackjack``."""
    bets: tuple[BetAnalysis, ...]
    """The figures of each way to bet."""
    is_exact: bool = True
    """Whether all figures are exact."""

    @property
    def minimum_rtp(self) -> Fraction:
        """Return the lowest RTP of all ways to bet on the game, excluding progressive levels and merchandise."""
        return min(bet.rtp for bet in self.bets)

    @property
    def maximum_rtp(self) -> Fraction:
        """Return the highest RTP of all ways to bet on the game, excluding progressive levels and merchandise."""
        return max(bet.rtp for bet in self.bets)

    @property
    def worst_rtp(self) -> Fraction:
        """Return the RTP, excluding progressive levels, of a player who always chooses the worst bet and decisions."""
        return min(bet.rtp if bet.worst_rtp is None else bet.worst_rtp for bet in self.bets)

    def list_prizes_unavailable_by_bet(self) -> dict[str, tuple[str, ...]]:
        """Return, for each bet, the pay-table prizes that it cannot win but another bet can."""
        names_by_stage_or_spot: dict[str, set[str]] = {}
        for bet in self.bets:
            for prize in bet.prizes:
                names_by_stage_or_spot.setdefault(prize.stage_or_spot, set()).add(prize.name)
        missing_prizes = {
            bet.bet: {
                (p.stage_or_spot, name)
                for p in bet.prizes
                for name in names_by_stage_or_spot[p.stage_or_spot]
            }
            - {(p.stage_or_spot, p.name) for p in bet.prizes}
            for bet in self.bets
        }
        return {
            bet: tuple(sorted(name for _, name in names)) for bet, names in missing_prizes.items() if names
        }


def compute_mystery_rate(games_to_ceiling: Fraction) -> Fraction:
    """Return the mean hits per game of a mystery level that rises from reset to ceiling in ``games_to_ceiling`` games.

    ``games_to_ceiling`` is exact and above zero. The secret amount is uniformly distributed between reset and ceiling.
    Each whole game therefore hits with probability 1 / ``games_to_ceiling``, and the last game, which reaches the
    ceiling, with the remaining probability. On a shared level the games of all machines count: all have the
    same stake, and so the same chance (Québec by-law, s.92). Example: with 2.5 games, the first two games hit with
    probability 0.4 each, and the third with 0.2. A hit takes 0.4 + 2 * 0.4 + 3 * 0.2 = 1.8 games on average.
    """
    full_games = games_to_ceiling.numerator // games_to_ceiling.denominator
    mean_games = full_games * (full_games + 1) / (2 * games_to_ceiling) + (
        1 - full_games / games_to_ceiling
    ) * (full_games + 1)
    return 1 / mean_games


def compute_volatility_index(sigma: float, quantile: float = 1.65) -> float:
    """Return a game's volatility index VI = z sigma, with sigma in units of the bet.

    The index is defined in Harrigan and Dixon, *PAR Sheets*, 2009.
    """
    return quantile * sigma


def compute_confidence_band(
    rtp: float, sigma: float, game_count: int, quantile: float = 1.65
) -> tuple[float, float]:
    """Return the confidence interval of a game's return over ``game_count`` games, RTP -+ z sigma / sqrt(n)."""
    half_width = quantile * sigma / math.sqrt(game_count)
    return rtp - half_width, rtp + half_width
