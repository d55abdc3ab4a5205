"""The tournament page of the service menu: the installed rules, the rounds played, and errors in the rules file."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from egm.features.tournament.entries import RoundEnded
from egm.features.tournament.installed import (
    RulesFile,
    find_reason_machine_is_unsuitable,
    is_in_tournament,
    list_rules_file_errors,
    read_installed_rules,
)
from egm.features.tournament.keys import TournamentKey
from egm.features.tournament.records import InstalledRules
from egm.features.tournament.rounds import iter_tournament_records, list_open_rounds
from egm.features.tournament.rules import parse_rules
from egm.kernel.machine import PositionMachine
from egm.kernel.service_pages import PageRow, PageTable, PageText, ServicePage
from egm.play.records.tournament_round import find_last_round
from egm.staff.desk import MenuPage, PageResult, build_refusal
from egm.staff.page_texts import (
    BACK_ACTION,
    build_column_titles,
    build_money_text,
    build_multilingual_text,
    build_number_text,
    build_plain_text,
    build_text,
    build_two_column_table,
)


@dataclass(slots=True)
class TournamentPage(MenuPage):
    """The tournament page of the service menu."""

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return the page with the installed rules, the rounds played at this machine, and errors in the rules file."""
        tables = [build_two_column_table(_iter_rows(machine))]
        if standings := _list_round_rows(machine):
            columns = build_column_titles("entry", "participant", "round", "points", "state")
            tables.append(
                PageTable(title=build_text("service.tournament.standings"), columns=columns, rows=standings)
            )
        faults = _list_faults(machine)
        if faults:
            rows = tuple(PageRow(cells=(build_plain_text(fault),), icon="warning") for fault in faults)
            tables.append(PageTable(title=build_text("service.tournament.faults"), rows=rows))
        return ServicePage(
            id="", title=build_text("service.menu.tournament"), tables=tuple(tables), actions=(BACK_ACTION,)
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Refuse every action, because the page offers none."""
        return build_refusal("not_offered")


def _list_round_rows(machine: PositionMachine) -> tuple[PageRow, ...]:
    """Return a table row for each tournament round that was or is played at this machine.

    The latest round number comes first; within a round, entries are sorted by points won.
    """
    if read_installed_rules(machine) is None:
        return ()
    rounds: list[tuple[int, int, int, str, str]] = [
        (ended.round_number, ended.won_points, ended.entry_number, ended.participant_number, ended.status)
        for ended in iter_tournament_records(machine)
        if isinstance(ended, RoundEnded)
    ]
    rounds += [
        (opened.round_number, opened.won_points, opened.entry_number, opened.participant_number, "playing")
        for opened in list_open_rounds(machine)
    ]
    return tuple(
        PageRow(
            cells=(
                build_number_text(entry),
                build_plain_text(participant),
                build_number_text(number),
                build_number_text(points),
                build_text(f"service.tournament.result_{status}"),
            )
        )
        for number, points, entry, participant, status in sorted(
            rounds, key=lambda row: (-row[0], -row[1], row[2])
        )
    )


def _list_faults(machine: PositionMachine) -> tuple[str, ...]:
    """Return why the installed rules cannot be played here, and why the rules file cannot be installed."""
    installed_rules = machine.memory.read(InstalledRules, TournamentKey.INSTALLED_RULES)
    texts = (None if installed_rules is None else installed_rules.text, machine.component(RulesFile).read())
    return tuple(error for text in dict.fromkeys(texts) for error in _list_rules_errors(machine, text))


def _list_rules_errors(machine: PositionMachine, text: str | None) -> tuple[str, ...]:
    """Return the errors in the text of a rules file.

    If the text is valid, return the reason why this machine may not be used with these rules, if any. Empty without a
    text.
    """
    if text is None:
        return ()
    errors = list_rules_file_errors(text, machine.local_date)
    if errors:
        return errors
    reason = find_reason_machine_is_unsuitable(machine, parse_rules(text))
    return () if reason is None else (reason,)


def _iter_rows(machine: PositionMachine) -> Iterator[tuple[str | PageText, PageText]]:
    """Yield table rows (label and value) about the rules file, the installed rules and the last round here."""
    text = machine.component(RulesFile).read()
    digest = "-" if text is None else hashlib.sha256(text.encode()).hexdigest()[:16]
    yield "tournament.file", build_plain_text(digest)
    installed_rules = machine.memory.read(InstalledRules, TournamentKey.INSTALLED_RULES)
    rules = read_installed_rules(machine)
    if installed_rules is None or rules is None:
        return
    yield "tournament.name", build_multilingual_text({"en": rules.name.en, "fr": rules.name.fr})
    yield "tournament.installed", build_plain_text(installed_rules.digest[:16])
    yield "tournament.starts", build_plain_text(f"{rules.starts_at:%Y-%m-%d %H:%M}")
    yield "tournament.fee", build_money_text(rules.entries.fee_cents)
    yield "tournament.mode", build_text(f"service.tournament.{'on' if is_in_tournament(machine) else 'off'}")
    tournament_round = find_last_round(machine)
    if tournament_round is None:
        return
    yield "tournament.entry_number", build_number_text(tournament_round.entry_number)
    yield "tournament.participant", build_plain_text(tournament_round.participant_number)
    yield "tournament.round_number", build_number_text(tournament_round.round_number)
    yield "tournament.games", build_number_text(tournament_round.games_played)
    yield "tournament.won", build_number_text(tournament_round.won_points)
