"""Pages of the service menu that need no open door: meters, logs, software, clock, memory (D-16, J-12).

Each page is created from the machine's memory when it is shown; none of them changes anything.
"""

import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any, Final

from egm.integrity.keys import IntegrityKey
from egm.kernel import logs
from egm.kernel.games import InstalledGames
from egm.kernel.machine import Machine
from egm.kernel.service_pages import PageAction, PageRow, PageTable, PageText, ServicePage
from egm.people import Permission
from egm.staff.desk import MenuEntry, MenuPage, Move, ServiceDesk, StayOnPage, refuse
from egm.staff.inventory import read_technical_sheet
from egm.staff.words import (
    BACK,
    METER_GROUPS,
    build_column_titles,
    build_pair_table,
    say,
    say_authors,
    say_code,
    say_local,
    say_meter_name,
    say_meter_value,
    say_money,
    say_number,
    say_plain,
    say_prize_names,
    say_regulation_meter_name,
    say_time,
)
from meters import recall
from meters.entry import StoredEntry
from meters.names import NAMES, read_jurisdiction_meters
from meters.reading import MeterReading
from meters.table import METER_BY_NAME

#: The dimensions by which a meter may be split.
_METER_SPLIT_DIMENSIONS: Final = ("game", "denomination_cents", "paytable", "bill_cents", "position")
#: Number of past clock corrections that are shown.
_CLOCK_CHANGES: Final = 10


@dataclass(slots=True)
class MetersPage(MenuPage):
    """Page of the service menu with every meter, by the jurisdiction's names and by the machine's own names.

    It shows totals, or a split by game or another dimension.
    """

    dimension: str = ""

    def build_page(self, machine: Machine) -> ServicePage:
        """Return the meters' page: the jurisdiction's names first, then every meter that is not zero."""
        reading = machine.journal.meters()
        if self.dimension:
            tables = self._build_split_tables(machine)
        else:
            names = machine.profile.staff.meter_names
            rows: Iterable[tuple[str | PageText, PageText]] = (
                (say_regulation_meter_name(name, names), _format_local_value(machine, name, value))
                for name, value in read_jurisdiction_meters(reading, names).items()
            )
            tables = (build_pair_table(rows, say("service.meters.named")), *_iter_meter_tables(reading))
        actions = [
            PageAction(id=split, label=say(f"service.meters.by.{split}"), enabled=split != self.dimension)
            for split in ("", *_METER_SPLIT_DIMENSIONS)
        ]
        actions[0] = PageAction(id="whole", label=say("service.meters.whole"), enabled=bool(self.dimension))
        return ServicePage(id="", title=say("service.menu.meters"), tables=tables, actions=(BACK, *actions))

    def answer(self, machine: Machine, action: str, text: str) -> Move:  # noqa: ARG002 (signature of a menu page)
        """Split the meters by the touched dimension, or show their totals."""
        if action not in ("whole", *_METER_SPLIT_DIMENSIONS):
            return refuse("not_offered")
        self.dimension = "" if action == "whole" else action
        return StayOnPage()

    def _build_split_tables(self, machine: Machine) -> tuple[PageTable, ...]:
        """Return one table for each meter, split by the chosen dimension."""
        reading = machine.journal.meters()
        tables = []
        for name in reading.values:
            meter = METER_BY_NAME.get(name)
            can_be_split = ".since_" not in name and (meter is None or not meter.is_level)
            parts = reading.split_by(name, self.dimension) if can_be_split else {}
            if any(value for part, value in parts.items() if part):
                rows = (
                    (self._format_dimension_value(machine, part), say_meter_value(name, value))
                    for part, value in sorted(parts.items())
                )
                tables.append(build_pair_table(rows, say_meter_name(name)))
        return tuple(tables)

    def _format_dimension_value(self, machine: Machine, part: str) -> PageText:
        """Return the text of a meter dimension's value: a bill or denomination as money, a game by its title."""
        if not part:
            return say("service.meters.no_part")
        if self.dimension.endswith("_cents") and part.isdecimal():
            return say_money(int(part))
        installed_game = (
            machine.component(InstalledGames).games.get(part) if self.dimension == "game" else None
        )
        return say_plain(part) if installed_game is None else say_local(installed_game.title)


def _iter_meter_tables(reading: MeterReading) -> Iterable[PageTable]:
    """Yield tables of the meters that are not zero.

    There is one each for money and counts, faults, doors, and meters that count since power-up or since a
    door.
    """
    tables: dict[str, list[tuple[str | PageText, PageText]]] = {"all": []}
    for name, value in reading.values.items():
        base, _, mark = name.partition(".since_")
        group = next((group for start, group, _ in METER_GROUPS if name.startswith(start)), "all")
        if value:
            table = tables.setdefault(f"since_{mark}" if mark else group, [])
            table.append((say_meter_name(base), say_meter_value(name, value)))
    for group, rows in tables.items():
        if rows:
            yield build_pair_table(rows, say(f"service.meters.{group}", sequence=reading.sequence))


def _format_local_value(machine: Machine, name: str, value: int) -> PageText:
    """Return a meter's value in the unit in which the jurisdiction counts that meter."""
    return say_meter_value(NAMES[machine.profile.staff.meter_names][name][0], value)


@dataclass(slots=True)
class LogPage(MenuPage):
    """Page of the service menu with one log of the journal, newest entry first.

    It shows as many entries as the log's rule requires.
    """

    log: logs.Log

    def build_page(self, machine: Machine) -> ServicePage:
        """Return a page with one line per journal entry of the log: when, what, how much, who."""
        entries = machine.entries.read_log(machine.journal, self.log)
        position_column = ("position",) if machine.position.count > 1 else ()
        table = PageTable(
            columns=build_column_titles("time", *position_column, "event", "amount", "detail", "person"),
            rows=tuple(_build_entry_row(machine, entry) for entry in entries),
        )
        return ServicePage(id="", title=say(f"service.menu.log.{self.log}"), tables=(table,), actions=(BACK,))

    def answer(self, machine: Machine, action: str, text: str) -> Move:  # noqa: ARG002 (signature of a menu page)
        """Refuse any action: the page only offers the way back."""
        return refuse("not_offered")


def _build_entry_row(machine: Machine, entry: StoredEntry) -> PageRow:
    """Return the line of a log about a journal entry: time, position if there are several, event and so on."""
    record = recall.read_details(entry)
    cents = record.get("amount_cents")
    significance = machine.entries.find_significance(entry)
    position = say_number(recall.read_position(entry))
    return PageRow(
        cells=(
            say_time(entry.time_utc.isoformat()),
            *((position,) if machine.position.count > 1 else ()),
            say_code("entry", entry.kind),
            say_money(cents) if isinstance(cents, int) else say_plain(""),
            _format_entry_subject(record),
            say_authors(machine.entries.list_authors(entry)),
        ),
        icon="" if significance is None or significance.effect in {"log", "lamp"} else "warning",
    )


def _format_entry_subject(record: Mapping[str, Any]) -> PageText:
    """Return what a journal entry concerns as text; empty if nothing.

    That is, for example, a door, a fault, a reason code or a progressive level.
    """
    prizes = record.get("prizes")
    if prizes:  # a clear names prizes by their ids; the highest win of an examined game is in credits
        named_prizes = [prize for prize in prizes if isinstance(prize, Mapping)]
        return say_prize_names(named_prizes) if named_prizes else say_plain(str(record.get("game", "")))
    for name, section in (("door", "door"), ("code", "tilt.text"), ("why", "why"), ("key", "input.key")):
        if isinstance(record.get(name), str) and record[name]:
            return say_code(section, record[name])
    names = ("number", "reason", "detail", "whom", "pool")
    detail = next((record[name] for name in names if record.get(name)), "")
    return say_plain(str(detail)[:60])


@dataclass(frozen=True, slots=True)
class TablesPage(MenuPage):
    """Page of the service menu that consists of tables only.

    ``title`` is the key of the page's title; ``tables`` is the function that creates the tables.
    """

    title: str
    tables: Callable[[Machine], tuple[PageTable, ...]]

    def build_page(self, machine: Machine) -> ServicePage:
        """Return the page with its tables; without any, an empty table, which the screen states."""
        tables = self.tables(machine) or (PageTable(),)
        return ServicePage(id="", title=say(f"service.menu.{self.title}"), tables=tables, actions=(BACK,))

    def answer(self, machine: Machine, action: str, text: str) -> Move:  # noqa: ARG002 (signature of a menu page)
        """Refuse any action: the page only offers the way back."""
        return refuse("not_offered")


def _build_software_tables(machine: Machine) -> tuple[PageTable, ...]:
    """Return the tables of the running software, each game's digest and each device's identification (J-12, A-19)."""
    profile, bench = machine.profile, machine.component(ServiceDesk).bench
    installed = machine.memory.get(IntegrityKey.SOFTWARE)
    signed = (
        (("software.signed", say("service.software.unsigned")),)
        if installed is None
        else (
            ("software.signed", say_plain(installed["signer"])),
            ("software.release", say_plain(installed["version"])),
        )
    )
    return (
        build_pair_table(
            (
                ("software.program", say_plain(f"open-egm {version('open-egm')}")),
                *signed,
                (
                    "software.python",
                    say_plain(f"{platform.python_implementation()} {platform.python_version()}"),
                ),
                ("software.profile", say_plain(f"{profile.id}: {profile.source}")),
                ("software.key", say_plain(machine.journal.fingerprint)),
                ("software.head", say_plain(f"{machine.journal.sequence}: {machine.journal.head_hash[:32]}")),
            )
        ),
        build_pair_table(
            (
                (say_plain(f"{game.id} {game.version}"), say_plain(game.digest[:32]))
                for game in machine.games.values()
            ),
            say("service.software.games"),
        ),
        build_pair_table(
            ((say_plain(game), say_plain(reason)) for game, reason in bench.refused_games),
            say("service.software.refused"),
        ),
        build_pair_table(
            (
                (say_plain(name), say_plain(digest[:32]))
                for name, digest in ({} if installed is None else installed["components"]).items()
            ),
            say("service.software.components"),
        ),
        build_pair_table(
            (
                (say_code("device", kind), say_plain(f"{name}  {bench.identities.get(name, '')}"))
                for name, kind in bench.kind_by_device_name.items()
            ),
            say("service.software.devices"),
        ),
    )


def _build_clock_tables(machine: Machine) -> tuple[PageTable, ...]:
    """Return the tables of the time and of past clock corrections. The operating system keeps the time."""
    changes = machine.journal.entries("clock.changed", limit=_CLOCK_CHANGES, newest_first=True)
    rows = tuple(
        PageRow(cells=(say_time(change["last_entry"]), say_time(change["now"])), icon="warning")
        for change in map(recall.read_details, changes)
    )
    return (
        build_pair_table(
            (
                ("clock.now", say_time(machine.clock.now().isoformat())),
                ("clock.zone", say_plain(machine.identity.venue.time_zone)),
            )
        ),
        PageTable(
            title=say("service.clock.changes"), columns=build_column_titles("before", "after"), rows=rows
        ),
    )


def _build_inventory_tables(machine: Machine) -> tuple[PageTable, ...]:
    """Return the tables of the machine's technical sheet (Monaco art. 19.4)."""
    return read_technical_sheet(machine.journal).tables()


def _build_memory_tables(machine: Machine) -> tuple[PageTable, ...]:
    """Return the tables of the memory's state, and of the procedure of a memory clear.

    The memory cannot be cleared from this page, and never without two people (A-20, A-21).
    """
    journal = machine.journal
    mended = journal.entries("event", limit=_CLOCK_CHANGES, newest_first=True)
    cleared = recall.read_details(next(journal.entries("machine.genesis", limit=1))).get("cleared")
    origin = (
        say_plain("-")
        if not isinstance(cleared, dict)
        else say_plain(f"{cleared['person']}: {cleared['reason']}")
    )
    return (
        build_pair_table(
            (
                ("memory.entries", say_number(journal.sequence)),
                ("software.head", say_plain(journal.head_hash[:32])),
                ("memory.cleared", origin),
                ("memory.how", say("service.memory.how_to")),
            )
        ),
        build_pair_table(
            (
                (say_time(e.time_utc.isoformat()), say_plain(str(recall.read_details(e).get("where", ""))))
                for e in mended
            ),
            say("service.memory.mended"),
        ),
    )


#: The main menu section of each log.
_LOGS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("bills", "vouchers", "transfers", "handpays"), "money"),
    **dict.fromkeys(("disputes", "complements", "orphans", "forfeits", "protection"), "players"),
    **dict.fromkeys(("access", "events"), "staff"),
    "progressives": "games",
    "software": "machine",
}

PAGES: Final = (
    MenuEntry("meters", "money", Permission.READ_METERS, MetersPage),
    *(MenuEntry(f"log.{log}", _LOGS[log], Permission.READ_LOGS, partial(LogPage, log)) for log in logs.Log),
    MenuEntry(
        "software",
        "machine",
        Permission.READ_SOFTWARE,
        partial(TablesPage, "software", _build_software_tables),
    ),
    MenuEntry(
        "inventory",
        "machine",
        Permission.READ_INVENTORY,
        partial(TablesPage, "inventory", _build_inventory_tables),
    ),
    MenuEntry(
        "memory", "machine", Permission.READ_SOFTWARE, partial(TablesPage, "memory", _build_memory_tables)
    ),
    MenuEntry(
        "clock", "machine", Permission.READ_SOFTWARE, partial(TablesPage, "clock", _build_clock_tables)
    ),
)
