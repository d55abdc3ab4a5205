"""The view of a tournament for the screen: its rules, and the round played at this position."""

from datetime import UTC, datetime
from functools import lru_cache

from egm.features.tournament.installed import find_future_start, is_in_tournament, parse_rules_or_none
from egm.features.tournament.keys import TournamentKey
from egm.features.tournament.notice import NOTICE_LANGUAGES, list_sections
from egm.features.tournament.records import InstalledRules
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import TournamentView
from egm.play.records.game_record import GameRecord, LastGame
from egm.play.records.games import read_cached_game
from egm.play.records.tournament_round import TournamentRound, find_last_round, read_playable_points


def build_tournament_view(machine: PositionMachine) -> TournamentView | None:
    """Return the view, for the screen, of the tournament that is announced or in progress.

    None if no rules are installed. If this version of the software cannot read the rules, the view has no text of them
    while the machine is in the tournament; otherwise the result is None.
    """
    installed_rules = machine.memory.read(InstalledRules, TournamentKey.INSTALLED_RULES)
    if installed_rules is None:
        return None
    view = _build_rules_view(installed_rules.text)
    if not is_in_tournament(machine):
        return view if any(view.rules.values()) else None
    tournament_round = find_last_round(machine)
    if tournament_round is None:
        return view.model_copy(update={"is_on": True})
    start_time = find_future_start(machine)
    return view.model_copy(
        update={
            "is_on": True,
            "entry": tournament_round.entry_number,
            "round": tournament_round.round_number,
            "points": read_playable_points(machine),
            "won_points": tournament_round.won_points,
            "games_left": max(0, tournament_round.games_max - tournament_round.games_played)
            if tournament_round.games_max
            else None,
            "minutes_left": _compute_minutes_left(machine, tournament_round)
            if tournament_round.round_minutes
            else None,
            "starts_utc": "" if start_time is None else start_time.astimezone(UTC).isoformat(),
            "is_round_over": bool(tournament_round.ending),
        }
    )


@lru_cache(maxsize=2)
def _build_rules_view(text: str) -> TournamentView:
    """Return the view, for the screen, of the rules of an announced tournament.

    The result is cached, because every update of the screen contains it.
    """
    rules = parse_rules_or_none(text)
    if rules is None:
        return TournamentView(name={"en": ""}, rules=dict.fromkeys(NOTICE_LANGUAGES, ()), is_on=False)
    return TournamentView(
        name={"en": rules.name.en, "fr": rules.name.fr},
        rules={language: list_sections(rules, language) for language in NOTICE_LANGUAGES},
        is_on=False,
    )


def _compute_minutes_left(machine: PositionMachine, tournament_round: TournamentRound) -> int:
    """Return the minutes until the round at this position reaches its time limit, rounded up."""
    if not tournament_round.round_end:
        return tournament_round.round_minutes
    time_left = datetime.fromisoformat(tournament_round.round_end) - machine.timekeeper.read_steady_time()
    return max(0, -(-int(time_left.total_seconds()) // 60))


def find_last_purse_game(machine: PositionMachine) -> tuple[GameRecord, LastGame] | None:
    """Return the last game played with tournament points at this position, and its result; None without one."""
    tournament_round = find_last_round(machine)
    last_game = None if tournament_round is None else tournament_round.last_game
    return None if last_game is None else (read_cached_game(machine, last_game.play_id), last_game)
