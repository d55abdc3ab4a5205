"""Pages of the service menu that only show data: meters, logs, software, inventory, clock, memory (D-16, J-12).

Each page is built from the machine's state when it is shown. No page changes the machine, and none needs an open door.
"""

import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any, Final

from egm.integrity.keys import IntegrityKey
from egm.integrity.records import InstalledSoftware
from egm.kernel import logs
from egm.kernel.games import InstalledGames
from egm.kernel.machine import PositionMachine
from egm.kernel.service_pages import PageAction, PageRow, PageTable, PageText, ServicePage
from egm.people import Permission
from egm.staff.desk import MenuItem, MenuPage, PageResult, ServiceDesk, StayOnPage, build_refusal
from egm.staff.inventory import read_technical_sheet
from egm.staff.page_texts import (
    BACK_ACTION,
    METER_GROUPS,
    build_actors_text,
    build_code_text,
    build_column_titles,
    build_meter_name_text,
    build_meter_value_text,
    build_money_text,
    build_multilingual_text,
    build_name_list_text,
    build_number_text,
    build_plain_text,
    build_regulation_meter_name_text,
    build_text,
    build_time_text,
    build_two_column_table,
)
from meters import recall
from meters.entry import StoredEntry
from meters.names import METER_NAMES_BY_JURISDICTION, read_jurisdiction_meters
from meters.reading import MeterReading
from meters.table import METER_BY_NAME

#: The dimensions by which a meter may be split.
_METER_SPLIT_DIMENSIONS: Final = ("game", "denomination_cents", "paytable", "bill_cents", "position")
#: The maximum number of past clock corrections, and of repairs of the memory, that are shown.
_EVENTS_SHOWN_MAX: Final = 10


@dataclass(slots=True)
class MetersPage(MenuPage):
    """Page of the service menu with the meters, under the jurisdiction's names and under the machine's own names.

    It shows totals, or a split by game or another dimension.
    """

    split_dimension: str = ""

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return the page of the meters: their totals or, once a dimension was touched, their values split by it.

        The totals are the jurisdiction's meters, then all meters that are not zero.
        """
        reading = machine.journal.meters()
        if self.split_dimension:
            tables = self._build_split_tables(machine)
        else:
            jurisdiction = machine.profile.staff.meter_naming
            rows: Iterable[tuple[str | PageText, PageText]] = (
                (
                    build_regulation_meter_name_text(name, jurisdiction),
                    _format_value_in_jurisdiction_unit(machine, name, value),
                )
                for name, value in read_jurisdiction_meters(reading, jurisdiction).items()
            )
            tables = (
                build_two_column_table(rows, build_text("service.meters.named")),
                *_iter_meter_tables(reading),
            )
        totals_action = PageAction(
            id="whole", label=build_text("service.meters.whole"), enabled=bool(self.split_dimension)
        )
        split_actions = [
            PageAction(
                id=dimension,
                label=build_text(f"service.meters.by.{dimension}"),
                enabled=dimension != self.split_dimension,
            )
            for dimension in _METER_SPLIT_DIMENSIONS
        ]
        return ServicePage(
            id="",
            title=build_text("service.menu.meters"),
            tables=tables,
            actions=(BACK_ACTION, totals_action, *split_actions),
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Split the meters by the touched dimension, or show their totals."""
        if action not in ("whole", *_METER_SPLIT_DIMENSIONS):
            return build_refusal("not_offered")
        self.split_dimension = "" if action == "whole" else action
        return StayOnPage()

    def _build_split_tables(self, machine: PositionMachine) -> tuple[PageTable, ...]:
        """Return a table for each meter that has a value under the chosen dimension (such as game), one row per value.

        Meters that can decrease, or that count only since power-up or a door's closing, are not split.
        """
        reading = machine.journal.meters()
        tables = []
        for name in reading.values:
            meter = METER_BY_NAME.get(name)
            can_be_split = ".since_" not in name and (meter is None or not meter.can_decrease)
            value_by_dimension_value = reading.split_by(name, self.split_dimension) if can_be_split else {}
            if any(value for dimension_value, value in value_by_dimension_value.items() if dimension_value):
                rows = (
                    (
                        self._format_dimension_value(machine, dimension_value),
                        build_meter_value_text(name, value),
                    )
                    for dimension_value, value in sorted(value_by_dimension_value.items())
                )
                tables.append(build_two_column_table(rows, build_meter_name_text(name)))
        return tuple(tables)

    def _format_dimension_value(self, machine: PositionMachine, dimension_value: str) -> PageText:
        """Return the value of a dimension as text: a bill or denomination as money, a game by its title."""
        if not dimension_value:
            return build_text("service.meters.no_part")
        if self.split_dimension.endswith("_cents") and dimension_value.isdecimal():
            return build_money_text(int(dimension_value))
        installed_game = (
            machine.component(InstalledGames).game_by_id.get(dimension_value)
            if self.split_dimension == "game"
            else None
        )
        return (
            build_plain_text(dimension_value)
            if installed_game is None
            else build_multilingual_text(installed_game.title)
        )


def _iter_meter_tables(reading: MeterReading) -> Iterable[PageTable]:
    """Yield tables of the meters that are not zero, by group.

    The groups are money and counts, faults, doors, and meters that count only since power-up or since a door
    was closed.
    """
    rows_by_table: dict[str, list[tuple[str | PageText, PageText]]] = {"all": []}
    for name, value in reading.values.items():
        base_name, _, start_event = name.partition(".since_")
        table_name = next(
            (group.table_name for group in METER_GROUPS if name.startswith(group.name_prefix)), "all"
        )
        if value:
            rows = rows_by_table.setdefault(f"since_{start_event}" if start_event else table_name, [])
            rows.append((build_meter_name_text(base_name), build_meter_value_text(name, value)))
    for table_name, rows in rows_by_table.items():
        if rows:
            yield build_two_column_table(
                rows, build_text(f"service.meters.{table_name}", sequence=reading.sequence)
            )


def _format_value_in_jurisdiction_unit(
    machine: PositionMachine, meter_name: str, meter_value: int
) -> PageText:
    """Return a meter's value in the unit in which the jurisdiction counts that meter."""
    first_own_name, *_ = METER_NAMES_BY_JURISDICTION[machine.profile.staff.meter_naming][meter_name]
    return build_meter_value_text(first_own_name, meter_value)


@dataclass(slots=True)
class LogPage(MenuPage):
    """Page of the service menu with one log of the journal, newest entry first.

    It shows as many entries as the regulation requires for this log.
    """

    log: logs.Log

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return a page with one line per journal entry of the log: when, what, how much, who."""
        entries = machine.entry_declarations.read_log(machine.journal, self.log)
        position_column = ("position",) if machine.position.position_count > 1 else ()
        table = PageTable(
            columns=build_column_titles("time", *position_column, "event", "amount", "detail", "person"),
            rows=tuple(_build_entry_row(machine, entry) for entry in entries),
        )
        return ServicePage(
            id="", title=build_text(f"service.menu.log.{self.log}"), tables=(table,), actions=(BACK_ACTION,)
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Refuse any action: the page only offers the way back."""
        return build_refusal("not_offered")


def _build_entry_row(machine: PositionMachine, entry: StoredEntry) -> PageRow:
    """Return the line of a log about a journal entry: time, position if there are several, event and so on."""
    record = recall.read_details(entry)
    amount_cents = record.get("amount_cents")
    significance = machine.entry_declarations.find_significance(entry)
    position_text = build_number_text(recall.read_position(entry))
    return PageRow(
        cells=(
            build_time_text(entry.time_utc.isoformat()),
            *((position_text,) if machine.position.position_count > 1 else ()),
            build_code_text("entry", entry.kind),
            build_money_text(amount_cents) if isinstance(amount_cents, int) else build_plain_text(""),
            _format_entry_subject(record),
            build_actors_text(machine.entry_declarations.list_actors(entry)),
        ),
        icon="" if significance is None or significance.effect in {"log", "lamp"} else "warning",
    )


def _format_entry_subject(record: Mapping[str, Any]) -> PageText:
    """Return as text what a journal entry is about, such as a door, a fault or a level; empty if nothing."""
    prizes = record.get("prizes")
    # Prizes won in kind are mappings with names. Claims of a memory clear have ids instead, and the entry of an
    # examined game has numbers: for these, the game is shown.
    if prizes:
        named_prizes = [prize for prize in prizes if isinstance(prize, Mapping)]
        return (
            build_name_list_text(named_prizes)
            if named_prizes
            else build_plain_text(str(record.get("game", "")))
        )
    for name, section in (("door", "door"), ("code", "tilt.text"), ("why", "why"), ("key", "input.key")):
        if isinstance(record.get(name), str) and record[name]:
            return build_code_text(section, record[name])
    field_names = ("number", "reason", "detail", "whom", "pool")
    detail = next((record[name] for name in field_names if record.get(name)), "")
    return build_plain_text(str(detail)[:60])


@dataclass(frozen=True, slots=True)
class TablesPage(MenuPage):
    """Page of the service menu that consists of tables only."""

    title: str
    """The catalogue key of the page's title."""
    build_tables: Callable[[PositionMachine], tuple[PageTable, ...]]
    """The function that builds the tables from the machine."""

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return the page with its tables; without any, an empty table, for which the screen shows a text."""
        tables = self.build_tables(machine) or (PageTable(),)
        return ServicePage(
            id="", title=build_text(f"service.menu.{self.title}"), tables=tables, actions=(BACK_ACTION,)
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Refuse any action: the page only offers the way back."""
        return build_refusal("not_offered")


def _build_software_tables(machine: PositionMachine) -> tuple[PageTable, ...]:
    """Return the tables of the running software, each game's digest and each device's identification (J-12, A-19)."""
    profile, page_data = machine.profile, machine.component(ServiceDesk).device_page_data
    installed_software = machine.memory.read(InstalledSoftware, IntegrityKey.INSTALLED_SOFTWARE)
    signed_rows = (
        (("software.signed", build_text("service.software.unsigned")),)
        if installed_software is None
        else (
            ("software.signed", build_plain_text(installed_software.signer)),
            ("software.release", build_plain_text(installed_software.version)),
        )
    )
    return (
        build_two_column_table(
            (
                ("software.program", build_plain_text(f"open-egm {version('open-egm')}")),
                *signed_rows,
                (
                    "software.python",
                    build_plain_text(f"{platform.python_implementation()} {platform.python_version()}"),
                ),
                ("software.profile", build_plain_text(f"{profile.id}: {profile.regulations}")),
                ("software.key", build_plain_text(machine.journal.fingerprint)),
                (
                    "software.head",
                    build_plain_text(f"{machine.journal.sequence}: {machine.journal.head_hash[:32]}"),
                ),
            )
        ),
        build_two_column_table(
            (
                (build_plain_text(f"{game.id} {game.version}"), build_plain_text(game.digest[:32]))
                for game in machine.games.values()
            ),
            build_text("service.software.games"),
        ),
        build_two_column_table(
            (
                (build_plain_text(game_id), build_plain_text(reason))
                for game_id, reason in page_data.refused_games
            ),
            build_text("service.software.refused"),
        ),
        build_two_column_table(
            (
                (build_plain_text(name), build_plain_text(digest[:32]))
                for name, digest in (
                    {} if installed_software is None else installed_software.components
                ).items()
            ),
            build_text("service.software.components"),
        ),
        build_two_column_table(
            (
                (
                    build_code_text("device", kind),
                    build_plain_text(f"{name}  {page_data.identity_by_device_name.get(name, '')}"),
                )
                for name, kind in page_data.kind_by_device_name.items()
            ),
            build_text("service.software.devices"),
        ),
    )


def _build_clock_tables(machine: PositionMachine) -> tuple[PageTable, ...]:
    """Return the tables of the time and of past clock corrections; only the operating system can correct the time."""
    changes = machine.journal.entries("clock.changed", limit=_EVENTS_SHOWN_MAX, newest_first=True)
    rows = tuple(
        PageRow(cells=(build_time_text(change["last_entry"]), build_time_text(change["now"])), icon="warning")
        for change in map(recall.read_details, changes)
    )
    return (
        build_two_column_table(
            (
                ("clock.now", build_time_text(machine.clock.now().isoformat())),
                ("clock.zone", build_plain_text(machine.identity.venue.time_zone)),
            )
        ),
        PageTable(
            title=build_text("service.clock.changes"),
            columns=build_column_titles("before", "after"),
            rows=rows,
        ),
    )


def _build_inventory_tables(machine: PositionMachine) -> tuple[PageTable, ...]:
    """Return the tables of the machine's technical sheet (Monaco art. 19.4)."""
    return read_technical_sheet(machine.journal).build_tables()


def _build_memory_tables(machine: PositionMachine) -> tuple[PageTable, ...]:
    """Return the tables of the memory's state, and of the procedure of a memory clear.

    The memory cannot be cleared from this page, and never without two people (A-20, A-21).
    """
    journal = machine.journal
    # the kind of the entries about the memory (egm/integrity/journal_entries.py)
    repairs = journal.entries("event", limit=_EVENTS_SHOWN_MAX, newest_first=True)
    clearance = recall.read_details(next(journal.entries("machine.genesis", limit=1))).get("cleared")
    clearance_text = (
        build_plain_text("-")
        if not isinstance(clearance, dict)
        else build_plain_text(f"{clearance['person']}: {clearance['reason']}")
    )
    return (
        build_two_column_table(
            (
                ("memory.entries", build_number_text(journal.sequence)),
                ("software.head", build_plain_text(journal.head_hash[:32])),
                ("memory.cleared", clearance_text),
                ("memory.how", build_text("service.memory.how_to")),
            )
        ),
        build_two_column_table(
            (
                (
                    build_time_text(entry.time_utc.isoformat()),
                    build_plain_text(str(recall.read_details(entry).get("where", ""))),
                )
                for entry in repairs
            ),
            build_text("service.memory.mended"),
        ),
    )


#: The main menu section of each log.
_MENU_SECTION_BY_LOG: Final[Mapping[str, str]] = {
    **dict.fromkeys(("bills", "vouchers", "transfers", "handpays"), "money"),
    **dict.fromkeys(("disputes", "complements", "orphans", "forfeits", "protection"), "players"),
    **dict.fromkeys(("access", "events"), "staff"),
    "progressives": "games",
    "software": "machine",
}

MENU_ITEMS: Final = (
    MenuItem("meters", "money", Permission.READ_METERS, MetersPage),
    *(
        MenuItem(f"log.{log}", _MENU_SECTION_BY_LOG[log], Permission.READ_LOGS, partial(LogPage, log))
        for log in logs.Log
    ),
    MenuItem(
        "software",
        "machine",
        Permission.READ_SOFTWARE,
        partial(TablesPage, "software", _build_software_tables),
    ),
    MenuItem(
        "inventory",
        "machine",
        Permission.READ_INVENTORY,
        partial(TablesPage, "inventory", _build_inventory_tables),
    ),
    MenuItem(
        "memory", "machine", Permission.READ_SOFTWARE, partial(TablesPage, "memory", _build_memory_tables)
    ),
    MenuItem("clock", "machine", Permission.READ_SOFTWARE, partial(TablesPage, "clock", _build_clock_tables)),
)
