"""The rules that a game is checked against, each a function that yields its findings with evidence.

A finding passes, fails, or is noted: a laboratory must read a note, but this profile does not forbid its
subject. A rule that does not concern a game reports that it is not applicable, rather than passing.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from unicodedata import combining, normalize

from egm.config.levels import ProgressiveLevelTable
from egm.errors import OperatorError
from egm.play.prize_limits import compute_largest_win_cents
from egm.progressive.pools import create_pools, list_available_bets, meets_prescribed_amounts
from paytables import (
    BetAnalysis,
    Choice,
    Decision,
    Game,
    RecordingDrawSource,
    ReplayDrawSource,
    Wager,
    load_game,
    play_with_answers,
    play_with_choices,
)
from paytables.odds import DisclosedAward, list_awards, list_awards_to_disclose
from paytables.reels.rules import ReelRules
from paytables.wording import format_count
from tools.lab.certification import chance
from tools.lab.certification.finding import (
    CertificationCase,
    CertificationRule,
    Finding,
    FindingStatus,
    status_from_check,
)
from tools.lab.parsheet import format_one_in, format_percent
from tools.lab.simulation import (
    INTERVAL_Z_SCORE,
    ReturnVerdict,
    choose_as_player,
    compute_chi_square_z,
    judge_return,
    play_batch,
)

#: A simulation this many standard errors away fails; between this and its interval it is noted, because sums
#: of few games with rare high prizes are not normally distributed yet.
FAILING_Z_SCORE = 6
#: All bets of a game together are closer to normal than each alone, and fail at fewer standard errors.
FAILING_JOINT_Z_SCORE = 5
#: The fewest games of a bet without an exact distribution that are compared with its return.
_SIMULATED_GAMES_MIN = 100
#: Words that the game's rules use for a double-up, by language.
_DOUBLE_UP_WORDS = {"en": ("doubl", "red or black"), "fr": ("doubl", "rouge ou noir")}
#: The bets to which a profile's minimum return applies, as text.
_MINIMUM_RETURN_SCOPE_TEXT_BY_UNIT = {
    "bet": "of each bet",
    "game": "of the game's best bet",
    "nothing": "that no bet must reach",
}
#: The largest value of a ten-digit meter, in minor units.
METER_CENTS_MAX = 9_999_999_999


def check_return_floor(case: CertificationCase) -> Iterator[Finding]:
    """Check every bet against the minimum return for the game's family, excluding merchandise.

    The profile says which part of the progressive levels counts: nothing, the reset values, or also the
    contributions. If the profile requires the minimum only of some bets, a lower return of another bet is
    noted.
    """
    floor = case.profile.returns.find_minimum(case.game.family)
    counted_part = case.profile.progressives.part_counted_in_return
    bet_below_floor = floor.find_bet_below(
        {
            bet.bet: bet.compute_rtp_including_levels(counted_part)
            for bet in case.analysis.bets
            if not bet.is_covered_by_players
        }
    )
    for bet in case.analysis.bets:
        rtp = bet.compute_rtp_including_levels(counted_part)
        counted_text = f" ({counted_part} of its progressives counted)" if bet.progressives else ""
        yield Finding(
            "return-floor",
            ("C-05", "C-06", "R-09"),
            FindingStatus.PASS
            if rtp >= floor.required_return
            else FindingStatus.FAIL
            if bet_below_floor
            else FindingStatus.NOTED,
            f"bet {bet.bet}: {format_percent(rtp)} = {_format_short_fraction(rtp)}{counted_text}; "
            f"the minimum return {_MINIMUM_RETURN_SCOPE_TEXT_BY_UNIT[floor.applies_to]} "
            f"is {format_percent(floor.required_return)}",
        )


def check_commission(case: CertificationCase) -> Iterator[Finding]:
    """State the levy (the venue's share) of a game in which players play against each other (Monaco art. 19.3)."""
    commission_rate = case.game.rules.commission_rate
    if commission_rate is not None:
        introduction = "players play against each other: the certified figure is the levy of"
        yield Finding(
            "levy",
            ("O-02",),
            FindingStatus.NOTED,
            f"{introduction} {format_percent(commission_rate)} = {_format_short_fraction(commission_rate)}",
        )


def check_return_ceiling(case: CertificationCase) -> Iterator[Finding]:
    """Check that no bet returns more than the jurisdiction allows.

    If the jurisdiction has no maximum, note each bet that returns 100 % of the wager or more.
    """
    ceiling = case.profile.returns.find_maximum(case.game.family)
    for bet in case.analysis.bets:
        rtp = bet.rtp_with_progressives
        is_too_high = rtp >= 1 if ceiling is None else rtp > ceiling
        status = (
            (FindingStatus.NOTED if ceiling is None else FindingStatus.FAIL)
            if is_too_high
            else FindingStatus.PASS
        )
        ceiling_text = (
            "the maximum is " + format_percent(ceiling)
            if ceiling is not None
            else "the jurisdiction has no maximum"
        )
        long_run_text = (
            ": the player wins in the long run"
            if rtp > 1
            else ": all wagers are returned in the long run"
            if rtp == 1
            else ""
        )
        yield Finding(
            "return-ceiling",
            ("C-07",),
            status,
            f"bet {bet.bet}: {format_percent(rtp)}{long_run_text}; {ceiling_text}",
        )


def check_largest_win(case: CertificationCase) -> Iterator[Finding]:
    """Check that the largest win of any bet, after doubling up, fits a meter and the jurisdiction's limit.

    At a denomination where a win could exceed the limit, the machine does not offer the game or, at a game with
    betting spots, refuses such wagers. The game fails if it cannot be offered at any denomination, if a win could
    be more than a meter can count, or if there is a limit and the largest win has no exact figure.
    """
    rules = case.profile.play
    limit_cents = rules.win_max_cents
    max_win_and_cost_by_bet = tuple((bet.max_win_credits, bet.cost_credits) for bet in case.analysis.bets)
    offered_denominations = []
    for cents in case.game.denominations_cents:
        if min(map(case.game.compute_round_cost, case.game.bet_options)) * cents > rules.bet_max_cents:
            continue  # reported by the rule of bets
        largest_cents = compute_largest_win_cents(
            case.game, cents, rules.bet_max_cents, max_win_and_cost_by_bet
        )
        if largest_cents is None:
            evidence = "the largest win has no exact figure"
            status = FindingStatus.NOTED if limit_cents is None else FindingStatus.FAIL
        elif largest_cents > METER_CENTS_MAX:
            status = FindingStatus.FAIL
            evidence = f"{format_count(largest_cents, 'cent')}: more than a meter of ten digits can count"
        elif limit_cents is not None and largest_cents > limit_cents and case.game.rules.list_spots():
            reason = f"wagers that could win more than {limit_cents:,} are refused"
            evidence = f"{format_count(largest_cents, 'cent')}: {reason}"
            status = FindingStatus.NOTED
            offered_denominations.append(cents)
        elif limit_cents is not None and largest_cents > limit_cents:
            status = FindingStatus.NOTED
            reason = f"denomination not offered, because the limit is {limit_cents:,}"
            evidence = f"{format_count(largest_cents, 'cent')}: {reason}"
        else:
            status, evidence = FindingStatus.PASS, f"{format_count(largest_cents, 'cent')} at most"
            offered_denominations.append(cents)
        yield Finding(
            "largest-win",
            ("C-07", "F-05", "F-11"),
            status,
            f"{format_count(cents, 'cent')} a credit: {evidence}",
        )
    if limit_cents is not None and not offered_denominations:
        evidence = f"at no denomination is the largest win within {format_count(limit_cents, 'cent')}"
        yield Finding("largest-win", ("C-07", "F-05", "F-11"), FindingStatus.FAIL, evidence)


def _format_short_fraction(value: Fraction) -> str:
    """Return an exact fraction as text, or only its number of digits if it is very long."""
    return str(value) if value.denominator < 10**15 else f"a fraction of {len(str(value.denominator))} digits"


def check_progressive_levels(case: CertificationCase) -> Iterator[Finding]:
    """State every level's odds and returns, and check that bets of one stake have equal chances (s.92).

    A level fails if the game is profitable for the player while the level is at its reset value.
    """
    for bet in case.analysis.bets:
        for figures in bet.progressives:
            break_even_credits = figures.break_even_credits
            partial_rates_text = "".join(
                f", {format_percent(level_share)} of it {format_one_in(rate)}"
                for level_share, rate in figures.partial_hit_rates.items()
            )
            yield Finding(
                "progressive-levels",
                ("I-01", "I-03", "R-09"),
                status_from_check(
                    ok=break_even_credits is None or break_even_credits >= figures.reset_credits
                ),
                f"bet {bet.bet}, {figures.level}: {format_one_in(figures.rate)}{partial_rates_text}; "
                f"{format_percent(figures.rtp_at_reset)} at its reset of "
                f"{format_count(figures.reset_credits, 'credit')}, "
                f"{format_percent(figures.increment)} increment, "
                + (
                    "no break-even"
                    if break_even_credits is None
                    else f"break-even at {float(break_even_credits):,.1f} credits"
                ),
            )
    levels = dict.fromkeys(participation.level for participation in case.game.list_every_level())
    level_tables = [ProgressiveLevelTable(game=case.game.id, level=level) for level in levels]
    if level_tables:
        try:
            pools = create_pools(case.game, case.game.denominations_cents, level_tables)
            is_equal = all(
                set(list_available_bets(pools, case.game, cents))
                == set(_iter_bets_of_prescribed_amounts(case.game, cents))
                for cents in case.game.denominations_cents
            )
            evidence = (
                f"{format_count(len(pools.pool_by_id), 'amount')}, one for each level and stake, each "
                "with one chance"
            )
        except OperatorError as error:
            is_equal, evidence = False, str(error)
        unequal_chance_error = _find_unequal_chance_error(case)
        yield Finding(
            "progressive-stakes",
            ("I-03",),
            status_from_check(ok=is_equal and not unequal_chance_error),
            unequal_chance_error or evidence,
        )


def _iter_bets_of_prescribed_amounts(game: Game, cents: int) -> Iterator[int]:
    """Yield the game's total bets, in credits, whose single bets have the amounts that its rules prescribe.

    ``cents`` is the denomination, in minor units.
    """
    return (
        bet_credits
        for bet_credits in game.bet_options
        if meets_prescribed_amounts(game, game.build_wager(bet_credits), cents)
    )


def _find_unequal_chance_error(case: CertificationCase) -> str:
    """Return a text on a progressive level whose chance differs between two bets of equal stake, or ""."""
    bet_and_rate_by_level_and_stake: dict[tuple[str, int], tuple[str, Fraction]] = {}
    for bet in case.analysis.bets:
        for figures in bet.progressives:
            other_bet, rate = bet_and_rate_by_level_and_stake.setdefault(
                (figures.level, bet.cost_credits), (bet.bet, figures.rate)
            )
            if rate != figures.rate:
                return (
                    f"{figures.level}: {format_one_in(rate)} on bet {other_bet} and {format_one_in(figures.rate)}"
                    f" on bet {bet.bet}, both of {format_count(bet.cost_credits, 'credit')}"
                )
    return ""


def check_prizes_in_kind(case: CertificationCase) -> Iterator[Finding]:
    """Check that prizes in kind are allowed, described in each language, and stated separately (s.90; NJ-A(e))."""
    is_allowed = case.profile.handpay.prizes_in_kind != "refused"
    for prize in case.game.list_prizes_in_kind():
        languages_without_description = [
            language for language in case.profile.languages if not prize.description.get(language)
        ]
        figures = [
            (bet, merchandise_figures)
            for bet in case.analysis.bets
            for merchandise_figures in bet.merchandise
            if merchandise_figures.prize == prize.id
        ]
        separate_returns = "; ".join(
            f"bet {bet.bet}: {format_one_in(merchandise_figures.rate)}, "
            + ", ".join(
                f"{format_percent(merchandise_figures.compute_rtp_at(cents, bet.cost_credits), 6)} at {cents}"
                for cents in case.game.denominations_cents
            )
            for bet, merchandise_figures in figures
        )
        evidence = (
            "described"
            if not languages_without_description
            else f"no description in {', '.join(languages_without_description)}"
        )
        yield Finding(
            "prizes-in-kind",
            ("C-03", "C-09"),
            status_from_check(ok=is_allowed and not languages_without_description),
            f"{prize.id}: {evidence if is_allowed else 'the jurisdiction allows only prizes in money'}; worth "
            f"{prize.value_cents:,} minor units, not included in the return: {separate_returns}",
        )


def check_languages(case: CertificationCase) -> Iterator[Finding]:
    """Check that the game's title and rules exist in every language of the profile, with different texts."""
    for language in case.profile.languages:
        missing_texts = [name for name in ("title", "help") if not getattr(case.game, name).get(language)]
        help_text = case.game.help.get(language, "")
        languages_with_same_text = [
            other_language
            for other_language, text in case.game.help.items()
            if other_language != language and text.split() == help_text.split()
        ]
        evidence = f"title and {len(help_text.split())} words of rules"
        if missing_texts:
            evidence = f"no {', '.join(missing_texts)}"
        elif languages_with_same_text:
            evidence = f"the rules are those in {', '.join(languages_with_same_text)}, word for word"
        ok = not missing_texts and not languages_with_same_text
        yield Finding("languages", ("C-02", "C-18"), status_from_check(ok=ok), f"{language}: {evidence}")


def check_void_rule(case: CertificationCase) -> Iterator[Finding]:
    """Check that a game's help states no malfunction rule: the screen displays the jurisdiction's rule."""
    malfunction_words = {"en": "malfunction", "fr": "défectuosité"}
    for language in case.profile.languages:
        if language not in malfunction_words:
            yield Finding(
                "void-rule",
                ("C-25",),
                FindingStatus.NOTED,
                f"{language}: not checked, because the word for a malfunction in this language is unknown",
            )
            continue
        help_text = _remove_case_and_accents(case.game.help.get(language, ""))
        word = next(
            (word for word in malfunction_words.values() if _remove_case_and_accents(word) in help_text), None
        )
        evidence = (
            "only the jurisdiction's own rule is displayed"
            if word is None
            else f'the help says "{word}"; the jurisdiction\'s own rule is displayed too'
        )
        yield Finding("void-rule", ("C-25",), status_from_check(ok=word is None), f"{language}: {evidence}")


def _remove_case_and_accents(text: str) -> str:
    """Return a text in lower case and without accents."""
    return "".join(char for char in normalize("NFKD", text.casefold()) if not combining(char))


def check_longest_odds(case: CertificationCase) -> Iterator[Finding]:
    """Check that no award is rarer than the profile allows."""
    limit = case.profile.awards.longest_odds_one_in
    limit_text = "the jurisdiction has no limit" if limit is None else f"at most 1 in {limit:,}"
    for bet in case.analysis.bets:
        awards = list_awards(bet)
        if not awards:
            yield Finding("longest-odds", ("B-12",), FindingStatus.NOT_APPLICABLE, _format_no_award(bet))
            continue
        rarest_award = awards[0]
        yield Finding(
            "longest-odds",
            ("B-12",),
            status_from_check(ok=limit is None or rarest_award.rate * limit >= 1),
            f"bet {bet.bet}: {_format_award(rarest_award)}; {limit_text}",
        )


def check_long_odds(case: CertificationCase) -> Iterator[Finding]:
    """State the very long odds that must be disclosed to the player; the help pages show the same list."""
    odds_limits = case.profile.awards.odds_limits
    for bet in case.analysis.bets:
        awards = list_awards(bet)
        long_odds = list_awards_to_disclose(awards, odds_limits)
        if not awards:
            yield Finding("long-odds", ("C-23",), FindingStatus.NOT_APPLICABLE, _format_no_award(bet))
            continue
        if long_odds:
            evidence = "shown to the player: " + ", ".join(_format_award(award) for award in long_odds)
        else:
            evidence = "no award has odds so long that they must be shown to the player"
        status = FindingStatus.NOTED if long_odds else FindingStatus.PASS
        yield Finding("long-odds", ("C-23",), status, f"bet {bet.bet}: {evidence}")


def _format_no_award(bet: BetAnalysis) -> str:
    """Return the text that says that a bet has no award of a pay table."""
    return f"bet {bet.bet}: has no awards of a pay table"


def _format_award(award: DisclosedAward) -> str:
    """Return a rare award as text: its stage, its name and its odds."""
    top_text = "top award " if award.is_top else ""
    return f"{top_text}{award.stage_or_spot} {award.name} {format_one_in(award.rate)}".replace(
        "  ", " "
    ).strip()


def check_return_by_stake(case: CertificationCase) -> Iterator[Finding]:
    """Note each bet whose return is over 0.01 percentage points lower than that of the next smaller bet."""
    bets = sorted(case.analysis.bets, key=lambda larger_bet: larger_bet.cost_credits)
    lower_returns = [
        f"{larger_bet.bet} {format_percent(larger_bet.rtp)} after {smaller_bet.bet} {format_percent(smaller_bet.rtp)}"
        for smaller_bet, larger_bet in pairwise(bets)
        if larger_bet.cost_credits > smaller_bet.cost_credits
        and larger_bet.rtp < smaller_bet.rtp - Fraction(1, 10_000)
    ]
    evidence = (
        "; ".join(lower_returns)
        or f"{format_count(len(bets), 'way')} to bet, no return is lower than at the next smaller bet"
    )
    status = FindingStatus.NOTED if lower_returns else FindingStatus.PASS
    if len({bet.cost_credits for bet in bets}) == 1:
        status = FindingStatus.NOT_APPLICABLE
        evidence = f"{format_count(len(bets), 'way')} to bet, all with the same stake"
    yield Finding("return-by-stake", ("C-08",), status, evidence)


def check_bet_limit(case: CertificationCase) -> Iterator[Finding]:
    """Check that at every denomination some bet, including all raises, is within the jurisdiction's limit.

    If the limit reduces the highest bet of a betting spot, this is noted.
    """
    limit_cents, spots = case.profile.play.bet_max_cents, case.game.rules.list_spots()
    for cents in case.game.denominations_cents:
        allowed_bets = [
            bet_credits
            for bet_credits in case.game.bet_options
            if case.game.compute_round_cost(bet_credits) * cents <= limit_cents
        ]
        every_bet = format_count(len(case.game.bet_options), "bet")
        allowed_bets_text = f"{len(allowed_bets)} of {every_bet} within {format_count(limit_cents, 'cent')}"
        yield Finding(
            "bet-limit",
            ("C-04",),
            status_from_check(ok=bool(allowed_bets)),
            f"{format_count(cents, 'cent')} a credit: {allowed_bets_text}",
        )
        highest_bet_by_spot = case.game.rules.find_highest_bet(limit_cents // cents)
        for spot in spots:
            highest_bet = highest_bet_by_spot.get(spot.id)
            if highest_bet is not None and highest_bet < min(spot.bet_max, limit_cents // cents):
                evidence = (
                    f"{format_count(cents, 'cent')} a credit: at most {highest_bet:,} of {spot.bet_max:,} on {spot.id}:"
                    f" the limit of {format_count(limit_cents, 'cent')} covers all stakes of the round"
                )
                yield Finding(
                    "bet-limit",
                    ("C-04",),
                    FindingStatus.NOTED if highest_bet else FindingStatus.FAIL,
                    evidence,
                )


def check_double_up(case: CertificationCase) -> Iterator[Finding]:
    """Check that a double-up is offered only if it can increase a win, and that the rules mention it."""
    rules = case.game.rules
    if not isinstance(rules, ReelRules) or rules.definition.double_up is None:
        return
    double_up = rules.definition.double_up
    errors = []
    smallest_prize_credits = min(
        (prize.credits for bet in case.analysis.bets for prize in bet.prizes if prize.credits), default=0
    )
    if 2 * smallest_prize_credits > double_up.win_max_credits:
        errors.append(
            f"never offered: the smallest prize is {format_count(smallest_prize_credits, 'credit')}"
        )
    languages_without_rule = [
        language
        for language in case.profile.languages
        if not any(
            word in case.game.help.get(language, "").lower() for word in _DOUBLE_UP_WORDS.get(language, ())
        )
    ]
    errors += [f"the rules in {language} do not mention the double-up" for language in languages_without_rule]
    limits_text = (
        f"{format_count(double_up.rounds_max, 'round')}, {format_count(double_up.win_max_credits, 'credit')}"
    )
    evidence = f"fair odds, optional; at most {limits_text}"
    yield Finding("double-up", ("C-20",), status_from_check(ok=not errors), "; ".join(errors) or evidence)


def check_simulation(case: CertificationCase) -> Iterator[Finding]:
    """Check that games played with the production code return the exact figures, within the interval.

    A z-score is only meaningful if no single win dominates it. So, if the exact distribution is known, higher
    wins count only as the largest win that is expected ten times in this number of games, both in the
    simulation and in the exact figures. The bets are judged singly and together. If the games are too few to
    show anything about any bet, the check fails.
    """
    verdicts: list[ReturnVerdict] = []
    untestable_count = 0
    for bet in case.analysis.bets:
        if bet.variance is None:
            evidence = f"bet {bet.bet}: not simulated, because its variance cannot be computed exactly"
            yield Finding("simulation", ("R-10", "B-08"), FindingStatus.NOTED, evidence)
            continue
        rtp, variance, win_cap, win_cap_text = bet.rtp, bet.variance, None, ""
        is_testable = case.games_per_bet >= _SIMULATED_GAMES_MIN
        if bet.distribution is not None:
            win_cap = bet.distribution.find_highest_win_reached_on_average(10, case.games_per_bet)
            is_testable = win_cap > 0
            capped_distribution = bet.distribution.cap_wins(win_cap)
            rtp, variance = (
                capped_distribution.compute_moment(1) / bet.cost_credits,
                capped_distribution.compute_variance(),
            )
            win_cap_text = (
                f" (in both, each win counts as {format_count(win_cap, 'credit')} at most, because larger wins are"
                f" too rare for this number of games; the exact return with all wins is {format_percent(bet.rtp)})"
                if win_cap < max(bet.distribution.case_count_by_win)
                else ""
            )
        if not is_testable:
            untestable_count += 1
            evidence = f"bet {bet.bet}: {format_count(case.games_per_bet, 'game')} are too few to test it"
            if bet.distribution is not None:
                evidence += ", because every win is rarer"
            yield Finding("simulation", ("R-10", "B-08"), FindingStatus.NOT_APPLICABLE, evidence)
            continue
        tally = play_batch(
            case.game,
            bet.cost_credits,
            bet.options,
            case.games_per_bet,
            case.draw_source,
            win_cap,
            bet.table,
            bet.required_bets,
        )
        verdict = judge_return(tally, bet.cost_credits, rtp, variance)
        verdicts.append(verdict)
        yield Finding(
            "simulation",
            ("R-10", "B-08"),
            FindingStatus.FAIL
            if abs(verdict.z_score) > FAILING_Z_SCORE
            else FindingStatus.NOTED
            if abs(verdict.z_score) > INTERVAL_Z_SCORE
            else FindingStatus.PASS,
            f"bet {bet.bet}: {format_count(verdict.game_count, 'game')}, {100 * verdict.rtp:.3f} %, exact"
            f" {format_percent(verdict.exact_return)}, z {verdict.z_score:+.2f}{win_cap_text}",
        )
    if len(verdicts) > 1:
        yield _judge_bets_together(verdicts)
    elif untestable_count and not verdicts:
        evidence = f"{format_count(case.games_per_bet, 'game')} of each bet are too few to judge any bet: simulate more"
        yield Finding("simulation", ("R-10", "B-08"), FindingStatus.FAIL, evidence)


def _judge_bets_together(verdicts: Sequence[ReturnVerdict]) -> Finding:
    """Judge the simulations of all bets of a game together: too far in one direction, or varying too much, fails."""
    bet_count = len(verdicts)
    sum_z = sum(verdict.z_score for verdict in verdicts) / math.sqrt(bet_count)
    squares_z = compute_chi_square_z(sum(verdict.z_score**2 for verdict in verdicts), bet_count)
    worst_z = max(abs(sum_z), squares_z)
    return Finding(
        "simulation",
        ("R-10", "B-08"),
        FindingStatus.FAIL
        if worst_z > FAILING_JOINT_Z_SCORE
        else FindingStatus.NOTED
        if worst_z > INTERVAL_Z_SCORE
        else FindingStatus.PASS,
        f"{format_count(bet_count, 'bet')} together: z {sum_z:+.2f} of the sum, {squares_z:+.2f} of the sum of squares",
    )


def _choose_replayed_wager(case: CertificationCase, wager_index: int) -> tuple[Game, Wager]:
    """Return the game and the wager for the replay check number ``wager_index``; the bets are used in turn."""
    game, bets = case.game, case.analysis.bets
    if game.rules.seats_min == 1:
        return game, game.build_wager(game.bet_options[wager_index % len(game.bet_options)])
    bet = bets[wager_index % len(bets)]
    return game.with_table_state(bet.table), game.with_table_state(bet.table).build_wager(
        bet.cost_credits, **bet.options
    )


def check_replay(case: CertificationCase) -> Iterator[Finding]:
    """Check that replaying the recorded draws and choices of a game gives the same outcome, win and display."""
    game_count = min(case.games_per_bet, 200)
    if not game_count:
        return
    for game_index in range(game_count):
        game, wager = _choose_replayed_wager(case, game_index)
        draw = RecordingDrawSource(case.draw_source)
        choices: list[Choice] = []

        def record_choice(decision: Decision, recorded_choices: list[Choice] = choices) -> Choice:
            """Take the option that a player would take, and record the choice for a replay."""
            recorded_choices.append(choose_as_player(decision, case.draw_source))
            return recorded_choices[-1]

        outcome = play_with_answers(game.play(wager, draw), wager, record_choice)
        replayed = play_with_choices(game.play(wager, ReplayDrawSource(draw.records)), wager, choices)
        if replayed.to_json() != outcome.to_json():
            yield Finding(
                "replay",
                ("B-08", "B-11"),
                FindingStatus.FAIL,
                f"game {game_index + 1} of {game_count} differs",
            )
            return
    yield Finding(
        "replay",
        ("B-08", "B-11"),
        FindingStatus.PASS,
        f"{format_count(game_count, 'game')} replayed from their records, with the same outcomes",
    )


def check_same_file(case: CertificationCase) -> Iterator[Finding]:
    """Check that the definition file on disk still has the content that was analysed."""
    is_same = load_game(case.id_or_path).digest == case.game.digest
    yield Finding(
        "same-file", ("C-26", "R-05"), status_from_check(ok=is_same), f"definition SHA-256 {case.game.digest}"
    )


#: Every rule, in the order of the findings.
CERTIFICATION_RULES: tuple[CertificationRule, ...] = (
    check_return_floor,
    check_commission,
    check_return_ceiling,
    check_largest_win,
    check_progressive_levels,
    check_prizes_in_kind,
    check_languages,
    check_void_rule,
    *chance.CHANCE_RULES,
    check_longest_odds,
    check_long_odds,
    check_return_by_stake,
    check_bet_limit,
    check_double_up,
    check_simulation,
    check_replay,
    check_same_file,
)


#: Why a rule does not apply to a game, by the name of the rule; the other rules have a common text.
_NOT_APPLICABLE_TEXT_BY_RULE = {
    "double_up": "the game has no double-up",
    "draw_on_every_path": "the game has no bet that can be played alone",
    "levy": "the players do not play against each other",
    "longest_odds": "no bet has awards of a pay table",
    "pay_tables": "the screen displays no pay table in rows",
    "prizes_in_kind": "the game gives no prize in kind",
    "progressive_levels": "the game has no progressive level",
    "stages_played": "the game has no stages",
}


def check_every_rule(case: CertificationCase) -> list[Finding]:
    """Return the findings of every certification rule.

    A rule that yields no finding does not apply to the game, and a finding that says so is added.
    """
    return [
        finding
        for rule in CERTIFICATION_RULES
        for finding in tuple(rule(case)) or (_build_not_applicable(rule),)
    ]


def _build_not_applicable(rule: CertificationRule) -> Finding:
    """Return the finding that a certification rule does not apply to the game."""
    rule_name = rule.__name__.removeprefix("check_")
    reason = _NOT_APPLICABLE_TEXT_BY_RULE.get(rule_name, "the game has nothing that this rule covers")
    return Finding(rule_name.replace("_", "-"), (), FindingStatus.NOT_APPLICABLE, f"not applicable: {reason}")
