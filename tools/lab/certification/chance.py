"""Certification rules about chance: chance decides the result, displayed odds are real, every prize can be won."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from paytables import BetAnalysis, Choice, Decision, RecordingDrawSource, play_with_answers
from paytables.blackjack.rules import BlackjackRules
from paytables.blackjack.schema import INSURANCE_SPOT, MAIN_SPOT
from paytables.reels.rules import ReelRules
from paytables.wording import format_count
from tools.lab.certification.depicted import OPTION_CHOOSER_BY_POLICY, build_wager, check_depicted_odds
from tools.lab.certification.finding import (
    CertificationCase,
    CertificationRule,
    Finding,
    FindingStatus,
    status_from_check,
)
from tools.lab.parsheet import format_percent
from tools.lab.simulation import choose_as_player

#: Games played per bet and decision policy, to see what is drawn on the way.
_GAMES_PER_POLICY: Final = 50
#: The most games played to find a win, for a bet whose prizes and distribution are both unknown.
_GAMES_TO_WIN_MAX: Final = 400
#: Words that the game's rules use for holding reels, by language.
_HOLD_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "en": ("hold", "held"),
    "fr": ("garde", "conserv", "bloqu", "reten"),
}


def check_chance_decides(case: CertificationCase) -> Iterator[Finding]:
    """Check that chance decides every bet (QC s.88): a bet must not win the same amount in every game."""
    for bet in case.analysis.bets:
        if bet.variance is None:
            evidence = f"bet {bet.bet}: not checked, because its variance cannot be computed exactly"
            yield Finding("chance-decides", ("B-01",), FindingStatus.NOTED, evidence)
        else:
            first_results_text = "" if bet.cycle is None else f"{bet.cycle:,} equally likely first results; "
            evidence = (
                f"sigma {bet.standard_deviation:.3f} bets"
                if bet.variance
                else "every game wins the same amount"
            )
            yield Finding(
                "chance-decides",
                ("B-01",),
                status_from_check(ok=bet.variance > 0),
                f"bet {bet.bet}: {first_results_text}{evidence}",
            )


def check_draw_on_every_path(case: CertificationCase) -> Iterator[Finding]:
    """Check that every game draws a random number before its result, whatever the player decides."""
    bets = [bet for bet in case.analysis.bets if bet.options]
    for policy_name, choose_option in OPTION_CHOOSER_BY_POLICY.items() if bets else ():
        decision_total = 0
        for bet in bets:
            for _ in range(_GAMES_PER_POLICY):
                decision_count, has_real_draw = _play_game(case, bet, choose_option, decision_total)
                decision_total += decision_count
                if not has_real_draw:
                    yield Finding(
                        "draw-on-every-path",
                        ("B-01",),
                        FindingStatus.FAIL,
                        f"bet {bet.bet}, {policy_name}: no random number was drawn",
                    )
                    return
        games_text = format_count(_GAMES_PER_POLICY * len(bets), "game")
        evidence = f"{policy_name}: {games_text}, {format_count(decision_total, 'decision')}"
        yield Finding("draw-on-every-path", ("B-01",), FindingStatus.PASS, evidence)
        if not decision_total:
            return


def _play_game(
    case: CertificationCase,
    bet: BetAnalysis,
    choose_option: Callable[[int, int], int],
    earlier_decisions: int,
) -> tuple[int, bool]:
    """Play a game in which each decision takes the option that ``choose_option`` selects.

    ``choose_option`` is called with the number of decisions made so far, to which ``earlier_decisions`` (made in other
    games) is added, and with the number of options. Return the number of decisions in this game, and whether any
    of its draws could have had more than one result.
    """
    draw = RecordingDrawSource(case.draw_source)
    game, decision_count = case.game.with_table_state(bet.table), 0
    wager = build_wager(game, bet)

    def take_tested_option(decision: Decision) -> Choice:
        """Return the option that ``choose_option`` selects for the decision, and count the decision."""
        nonlocal decision_count
        decision_count += 1
        return Choice(
            decision.options[choose_option(earlier_decisions + decision_count - 1, len(decision.options))]
        )

    play_with_answers(game.play(wager, draw), wager, take_tested_option)
    return decision_count, any(bound > 1 for bound, _, _ in draw.records)


def check_strategy(case: CertificationCase) -> Iterator[Finding]:
    """Check that the returns of the best and worst decisions are stated for every game with decisions (QC s.88).

    If the return depends on which cards or reels are held, the game's rules must say so.
    """
    rules = case.game.rules
    holds_reels = isinstance(rules, ReelRules) and any(
        getattr(stage, "can_player_hold", False) for stage in rules.definition.stages.values()
    )
    for language in case.profile.languages if holds_reels else ():
        if not any(word in case.game.help.get(language, "").lower() for word in _HOLD_WORDS[language]):
            reason = f"the rules in {language} do not say that reels may be held"
            yield Finding("strategy", ("P-10", "C-10"), FindingStatus.FAIL, reason)
    for bet in case.analysis.bets:
        if bet.worst_rtp is not None:
            worst_text = format_percent(bet.worst_rtp)
            range_text = (
                "however the player decides"
                if bet.worst_rtp == bet.rtp
                else f"at best, {worst_text} at worst"
            )
            yield Finding(
                "strategy",
                ("P-10", "C-10"),
                status_from_check(ok=bet.strategy is not None and bet.worst_rtp <= bet.rtp),
                f"bet {bet.bet}: {format_percent(bet.rtp)} {range_text}: {bet.strategy}",
            )
    worst_return, best_return = case.analysis.worst_rtp, case.analysis.maximum_rtp
    bets_text = format_count(len(case.analysis.bets), "bet")
    evidence = (
        f"{format_percent(best_return)} for the best of {bets_text}, "
        f"{format_percent(worst_return)} for the worst"
    )
    yield Finding("strategy", ("P-10",), FindingStatus.PASS, f"{evidence}, decisions of the player included")


def check_prizes_at_every_bet(case: CertificationCase) -> Iterator[Finding]:
    """Check that each bet can win, and can win every prize of the pay table that the bet covers.

    A displayed pay table without known frequencies fails. If the analysis has neither frequencies nor a
    distribution of wins for a bet, games are played until one wins.
    """
    requirements = ("B-12", "B-17", "C-22")
    unavailable_prizes_by_bet = case.analysis.list_prizes_unavailable_by_bet()
    for bet in case.analysis.bets:
        prizes_never_won = ", ".join(f"{prize.stage_or_spot} {prize.name}" for prize in bet.prizes_never_won)
        evidence, status = f"{format_count(len(bet.prizes), 'prize')}", status_from_check(ok=bet.rtp > 0)
        if not bet.prizes:
            profitable_wins = sorted(
                win
                for win in (bet.distribution.case_count_by_win if bet.distribution else ())
                if win > bet.cost_credits
            )
            evidence = f"no pay table; it returns {format_percent(bet.rtp)}"
            if profitable_wins:
                wins_text = format_count(len(profitable_wins), "win")
                evidence += f", {wins_text} of {profitable_wins[0]:,} to {profitable_wins[-1]:,}"
            else:
                games_to_win = _count_games_to_win(case, bet)
                evidence += (
                    f"; game {games_to_win} was the first to win"
                    if games_to_win
                    else f"; none of {format_count(_GAMES_TO_WIN_MAX, 'game')} won"
                )
            status = status_from_check(ok=bet.rtp > 0 and bool(profitable_wins or games_to_win))
        if prizes_never_won:
            evidence, status = f"no result wins {prizes_never_won}", FindingStatus.FAIL
        elif bet.bet in unavailable_prizes_by_bet:
            evidence += f"; only other bets win {', '.join(unavailable_prizes_by_bet[bet.bet])}"
            status = (
                FindingStatus.FAIL
                if case.profile.awards.requires_every_prize_at_every_bet
                else FindingStatus.NOTED
            )
        yield Finding("prizes-at-every-bet", requirements, status, f"bet {bet.bet}: {evidence}")


def _count_games_to_win(case: CertificationCase, bet: BetAnalysis) -> int:
    """Play games of a bet until one wins more than its stakes; return the number played, or 0 if none won."""
    game = case.game.with_table_state(bet.table)
    for game_number in range(1, _GAMES_TO_WIN_MAX + 1):
        wager = build_wager(game, bet)
        outcome = play_with_answers(
            game.play(wager, case.draw_source),
            wager,
            lambda decision: choose_as_player(decision, case.draw_source),
        )
        if any(
            settlement.credits > settlement.staked_credits
            and settlement.spot in bet.options.get("bets", {settlement.spot})
            for settlement in outcome.settlements
        ):
            return game_number
    return 0


def check_pay_tables(case: CertificationCase) -> Iterator[Finding]:
    """Check that the game's exact figures state the odds of every row of a displayed pay table (B-12)."""
    rows_with_odds = {(prize.name, prize.stage_or_spot) for bet in case.analysis.bets for prize in bet.prizes}
    rows_with_odds |= {(prize.name, "") for bet in case.analysis.bets for prize in bet.prizes}
    play_spots = {MAIN_SPOT, INSURANCE_SPOT} if isinstance(case.game.rules, BlackjackRules) else set()
    rows = case.game.build_presentation().get("pays")
    displayed_rows = (
        [(row["name"], row.get("spot", "")) for row in rows if "name" in row]
        if isinstance(rows, list)
        else []
    )
    rows_without_odds = [
        (f"{spot} {name}".strip(), spot)
        for name, spot in displayed_rows
        if (name, spot) not in rows_with_odds
    ]
    if displayed_rows:
        missing_rows = [row_text for row_text, spot in rows_without_odds if spot not in play_spots]
        evidence = f"{format_count(len(displayed_rows) - len(rows_without_odds), 'row')} with their odds"
        evidence += f"; displayed without known odds: {', '.join(missing_rows)}" if missing_rows else ""
        yield Finding("pay-tables", ("B-12", "C-22"), status_from_check(ok=not missing_rows), evidence)
    if rows_of_play := [row_text for row_text, spot in rows_without_odds if spot in play_spots]:
        evidence = f"{', '.join(rows_of_play)}: depends on the play of the hand, so its odds are not stated separately"
        yield Finding("pay-tables", ("B-12", "C-22"), FindingStatus.NOTED, evidence)


def check_stages_played(case: CertificationCase) -> Iterator[Finding]:
    """Check that every stage whose prizes are displayed can be reached with some bet."""
    rules = case.game.rules
    if isinstance(rules, ReelRules):
        played_stages = {mode_stages.mode.first_stage for mode_stages in rules.stages.values()}
        played_stages |= {feature.feature for bet in case.analysis.bets for feature in bet.features}
        unreachable_stages = sorted(set(rules.definition.stages) - played_stages)
        evidence = (
            f"{', '.join(unreachable_stages)}: no bet leads to this stage"
            if unreachable_stages
            else f"{format_count(len(played_stages), 'stage')}"
        )
        yield Finding(
            "stages-played", ("B-12", "B-17"), status_from_check(ok=not unreachable_stages), evidence
        )


#: The rules of this module.
CHANCE_RULES: Final[tuple[CertificationRule, ...]] = (
    check_chance_decides,
    check_draw_on_every_path,
    check_strategy,
    check_depicted_odds,
    check_prizes_at_every_bet,
    check_pay_tables,
    check_stages_played,
)
