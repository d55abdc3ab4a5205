"""The rules of a tournament on the machine: read from the state folder, checked against the machine, installed."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Final

from egm.errors import InvariantError, OperatorError
from egm.features.tournament.entries import RULES_INSTALLED, RULES_REMOVED, RulesInstalled, RulesRemoved
from egm.features.tournament.keys import TournamentKey
from egm.features.tournament.records import InstalledRules, TournamentMode
from egm.features.tournament.rules import (
    ListedMachine,
    Tournament,
    find_listed_machine,
    list_violations,
    parse_rules,
)
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import refusal_code
from egm.progressive.pools import ProgressivePools
from egm.staff.form import list_event_persons
from paytables import Game, PaytableError, load_game
from paytables.source import read_contents

#: The name of the rules file in the state folder, from which staff install it.
RULES_FILE_NAME: Final = "tournament.toml"


@dataclass(slots=True)
class RulesFile:
    """The path of the rules file of the next tournament, or None if the machine has no state folder."""

    path: Path | None = None
    accepted_text: str = ""
    """The text that the installation form has checked.

    It is installed even if the file has changed since then.
    """

    def read(self) -> str | None:
        """Return the text of the rules file, or None if it does not exist or cannot be read."""
        try:
            return None if self.path is None else read_contents(self.path).decode()
        except (OSError, UnicodeDecodeError):
            return None


def read_installed_rules(machine: PositionMachine) -> Tournament | None:
    """Return the rules that are installed on this machine.

    None if no rules are installed, or this version of the software does not accept them.
    """
    installed_rules = machine.memory.read(InstalledRules, TournamentKey.INSTALLED_RULES)
    return None if installed_rules is None else parse_rules_or_none(installed_rules.text)


@lru_cache(maxsize=4)
def parse_rules_or_none(text: str) -> Tournament | None:
    """Return the rules from the text that was installed.

    None if this version of the software does not accept them, because it checks more or lacks the game.
    """
    try:
        return parse_rules(text)
    except OperatorError:
        return None


def read_installed_digest(machine: PositionMachine) -> str:
    """Return the SHA-256 of the installed rules file. Raises InvariantError if no rules are installed."""
    return machine.memory.require(InstalledRules, TournamentKey.INSTALLED_RULES).digest


def require_installed_rules(machine: PositionMachine) -> tuple[str, Tournament]:
    """Return the SHA-256 of the installed rules file, and the rules.

    Raises InvariantError if no rules are installed, or this version of the software does not accept them.
    """
    rules = read_installed_rules(machine)
    if rules is None:
        raise InvariantError("no tournament rules are installed that this version of the software can read")
    return read_installed_digest(machine), rules


def is_in_tournament(machine: PositionMachine) -> bool:
    """Return whether staff have put the machine into a tournament."""
    return machine.memory.get(TournamentKey.TOURNAMENT_MODE) is not None


def read_local_time(machine: PositionMachine) -> datetime:
    """Return the present date and time at the venue, without a time zone, as dates in the rules are written."""
    return machine.timekeeper.now().astimezone(machine.identity.venue.zone).replace(tzinfo=None)


def convert_venue_time_to_utc(machine: PositionMachine, local_time: datetime) -> datetime:
    """Return, in UTC, a date and time at the venue that the rules state.

    Compare only the results, not local times: on the night on which summer time ends, an hour occurs twice. The first
    of the two is meant. A local time that is skipped when summer time begins is taken as one hour later.
    """
    return local_time.replace(tzinfo=machine.identity.venue.zone).astimezone(UTC)


def has_tournament_started(machine: PositionMachine, rules: Tournament) -> bool:
    """Return whether the start of a tournament, as its rules state it, has passed."""
    return machine.timekeeper.now() >= convert_venue_time_to_utc(machine, rules.starts_at)


def find_future_start(machine: PositionMachine) -> datetime | None:
    """Return the start of the tournament, with its time zone.

    None if there are no installed rules that this version of the software accepts, or the tournament has started.
    """
    rules = read_installed_rules(machine)
    if rules is None or has_tournament_started(machine, rules):
        return None
    return rules.starts_at.replace(tzinfo=machine.identity.venue.zone)


def has_tournament_ended(machine: PositionMachine, rules: Tournament) -> bool:
    """Return whether the duration that the rules state has passed since the start of the tournament."""
    end = convert_venue_time_to_utc(machine, rules.starts_at) + timedelta(minutes=rules.duration_minutes)
    return machine.timekeeper.now() >= end


def find_machine_in_rules(machine: PositionMachine, rules: Tournament) -> tuple[ListedMachine, Game] | None:
    """Return what the rules' list of machines states for this machine, and the game that it plays.

    None if the rules do not list the machine, or it does not offer the game.
    """
    listed_machine = find_listed_machine(rules, machine.identity.operator_number)
    game = None if listed_machine is None else machine.games.get(listed_machine.game or rules.game)
    return None if listed_machine is None or game is None else (listed_machine, game)


def find_reason_machine_is_unsuitable(machine: PositionMachine, rules: Tournament) -> str | None:
    """Return why this machine may not be used for a tournament with these rules, or None if it may.

    The rules must list the machine with a game, a denomination and a wager that the machine offers. The game must be
    the library's version, and must not have a linked progressive level.
    """
    number = machine.identity.operator_number
    listed_machine = find_listed_machine(rules, number)
    if listed_machine is None:
        return f"machine {number} is not listed in the rules"
    game_id = listed_machine.game or rules.game
    game = machine.games.get(game_id)
    if game is None:
        return f"{game_id} is not offered on this machine"
    try:
        if load_game(game_id).digest != game.digest:
            return f"{game_id} on this machine is another version than in the library"
    except PaytableError as error:
        return str(error)
    if listed_machine.denomination_cents not in machine.denominations_cents[game_id]:
        return f"{game_id} is not offered at {listed_machine.denomination_cents} minor units a credit on this machine"
    return _find_reason_wager_is_not_allowed(machine, listed_machine, game_id)


def _find_reason_wager_is_not_allowed(
    machine: PositionMachine, listed_machine: ListedMachine, game_id: str
) -> str | None:
    """Return why the tournament's game or wager is not permitted on this machine, or None.

    The wager must be within the machine's limits, and the game must not have a linked progressive level.
    """
    bet_cents, play_terms = listed_machine.bet * listed_machine.denomination_cents, machine.profile.play
    if not play_terms.bet_min_cents <= bet_cents <= play_terms.bet_max_cents:
        return f"a wager of {bet_cents} is outside the limits of this machine"
    if any(pool.game_id == game_id for pool in machine.component(ProgressivePools).pool_by_id.values()):
        return f"{game_id} is linked to a progressive level"
    return None


@lru_cache(maxsize=4)
def list_rules_file_errors(text: str, today: date) -> tuple[str, ...]:
    """Return all reasons why a rules file with this text may not be installed.

    Reasons are errors in the form of the file, violations of the by-law, and a publication day that is missing or too
    late.
    """
    try:
        rules = parse_rules(text)
    except OperatorError as error:
        return tuple(str(error).splitlines())
    errors = [str(mistake) for mistake in list_violations(rules, today)]
    if rules.publication_date is None and not errors:
        errors.append("published: the day of publication must be given (s. 125)")
    return tuple(errors)


# ---------------------------------------------------------------------------------------------- guards
@refusal_code("rules_file_is_there")
def rules_file_is_readable(machine: PositionMachine, _: Event) -> bool:
    """Return whether the state folder has a readable rules file."""
    return machine.component(RulesFile).read() is not None


def rules_are_lawful(machine: PositionMachine, _: Event) -> bool:
    """Return whether the rules file is complete, published in time, and complies with the by-law."""
    text = machine.component(RulesFile).read()
    return text is not None and not list_rules_file_errors(text, machine.local_date)


@refusal_code("rules_describe_the_machine")
def rules_file_describes_machine(machine: PositionMachine, _: Event) -> bool:
    """Return whether this machine may be used for the tournament of the rules file.

    If the file has no errors, its text is stored as the text to be installed, even if the machine is unsuitable
    (:func:`find_reason_machine_is_unsuitable`).
    """
    file = machine.component(RulesFile)
    text = file.read()
    if text is None or list_rules_file_errors(text, machine.local_date):
        return False
    file.accepted_text = text
    return find_reason_machine_is_unsuitable(machine, parse_rules(text)) is None


def rules_are_installed(machine: PositionMachine, _: Event) -> bool:
    """Return whether the rules of a tournament are installed."""
    return machine.memory.get(TournamentKey.INSTALLED_RULES) is not None


def tournament_is_on(machine: PositionMachine, _: Event) -> bool:
    """Return whether staff have put the machine into a tournament."""
    return is_in_tournament(machine)


def tournament_is_off(machine: PositionMachine, _: Event) -> bool:
    """Return whether the machine is in no tournament, so that it is played with credits."""
    return not is_in_tournament(machine)


# ---------------------------------------------------------------------------------------------- effects
def install_rules(machine: PositionMachine, event: Event) -> None:
    """Install the rules file that the form has checked, and record this in the journal.

    Players can then read the rules.
    """
    text = machine.component(RulesFile).accepted_text
    digest = hashlib.sha256(text.encode()).hexdigest()
    machine.post(
        RULES_INSTALLED,
        RulesInstalled(
            digest=digest,
            text=text,
            machine=machine.identity.serial,
            number=machine.identity.operator_number,
            persons=tuple(list_event_persons(machine, event)),
        ),
        state={TournamentKey.INSTALLED_RULES: InstalledRules(digest=digest, text=text)},
    )


def remove_rules(machine: PositionMachine, event: Event) -> None:
    """Remove the installed rules, and record this in the journal. The machine then does not show them any more."""
    installed_rules = machine.memory.require(InstalledRules, TournamentKey.INSTALLED_RULES)
    record = RulesRemoved(digest=installed_rules.digest, persons=tuple(list_event_persons(machine, event)))
    machine.post(RULES_REMOVED, record, state={TournamentKey.INSTALLED_RULES: None})


def build_tournament_mode(machine: PositionMachine) -> TournamentMode:
    """Return the record, to be stored, that puts the machine into the tournament of the installed rules now."""
    installed_rules = machine.memory.require(InstalledRules, TournamentKey.INSTALLED_RULES)
    return TournamentMode(
        digest=installed_rules.digest, entered_at=machine.timekeeper.now().isoformat(timespec="seconds")
    )
