"""Pages available with every door closed: meters, logs, software, clock, memory (D-16, J-12).

Each page is created from the machine's memory when it is shown; none of them changes anything.
"""

import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any, Final

from egm.kernel.games import InstalledGames
from egm.kernel.machine import Machine
from egm.kernel.service_pages import Action, Row, ServicePage, Table, Words
from egm.people import Permission
from egm.records.keys import IntegrityKey
from egm.staff.inventory import sheet
from egm.staff.service.desk import Entry, Move, Place, ServiceDesk, Stay, refuse
from egm.staff.service.words import (
    BACK,
    METER_GROUPS,
    coded,
    columns,
    local,
    meter_value,
    meter_words,
    moment,
    money,
    number,
    pairs,
    plain,
    prize_names,
    regulation_meter,
    say,
    who,
)
from meters import recall
from meters.entry import StoredEntry
from meters.events import person, significance
from meters.names import NAMES, named
from meters.reading import MeterReading
from meters.table import BY_NAME

#: The dimensions by which a meter may be split.
_SPLITS: Final = ("game", "denomination_cents", "paytable", "bill_cents", "position")
_CLOCK_CHANGES: Final = 10


@dataclass(slots=True)
class Meters(Place):
    """Page of every meter, under the profile's and the canonical names; in total, or by game and other dimensions."""

    by: str = ""

    def page(self, machine: Machine) -> ServicePage:
        """Return the jurisdiction's names first, then everything that is not zero."""
        reading = machine.journal.meters()
        if self.by:
            tables = self._split(machine)
        else:
            names = machine.profile.staff.meter_names
            rows: Iterable[tuple[str | Words, Words]] = (
                (regulation_meter(name, names), _local_value(machine, name, value))
                for name, value in named(reading, names).items()
            )
            tables = (pairs(rows, say("service.meters.named")), *_groups(reading))
        actions = [
            Action(id=split, label=say(f"service.meters.by.{split}"), enabled=split != self.by)
            for split in ("", *_SPLITS)
        ]
        actions[0] = Action(id="whole", label=say("service.meters.whole"), enabled=bool(self.by))
        return ServicePage(id="", title=say("service.menu.meters"), tables=tables, actions=(BACK, *actions))

    def answer(self, machine: Machine, action: str, text: str) -> Move:  # noqa: ARG002 (a place's)
        """Split by another dimension."""
        if action not in ("whole", *_SPLITS):
            return refuse("not_offered")
        self.by = "" if action == "whole" else action
        return Stay()

    def _split(self, machine: Machine) -> tuple[Table, ...]:
        reading = machine.journal.meters()
        tables = []
        for name in reading.values:
            known = BY_NAME.get(name)
            counts = ".since_" not in name and (known is None or not known.is_level)
            parts = reading.by(name, self.by) if counts else {}
            if any(value for part, value in parts.items() if part):
                rows = (
                    (self._part(machine, part), meter_value(name, value))
                    for part, value in sorted(parts.items())
                )
                tables.append(pairs(rows, meter_words(name)))
        return tuple(tables)

    def _part(self, machine: Machine, part: str) -> Words:
        """Return the text of a dimension's value: a bill or denomination as money, a game by its title."""
        if not part:
            return say("service.meters.no_part")
        if self.by.endswith("_cents") and part.isdigit():
            return money(int(part))
        resident = machine.state(InstalledGames).games.get(part) if self.by == "game" else None
        return plain(part) if resident is None else local(resident.title)


def _groups(reading: MeterReading) -> Iterable[Table]:
    """Yield every meter that is not zero: money and counts, faults, doors, and counts since a mark."""
    tables: dict[str, list[tuple[str | Words, Words]]] = {"all": []}
    for name, value in reading.values.items():
        base, _, mark = name.partition(".since_")
        group = next((group for start, group, _ in METER_GROUPS if name.startswith(start)), "all")
        if value:
            table = tables.setdefault(f"since_{mark}" if mark else group, [])
            table.append((meter_words(base), meter_value(name, value)))
    for group, rows in tables.items():
        if rows:
            yield pairs(rows, say(f"service.meters.{group}", sequence=reading.sequence))


def _local_value(machine: Machine, name: str, value: int) -> Words:
    return meter_value(NAMES[machine.profile.staff.meter_names][name][0], value)


@dataclass(slots=True)
class Log(Place):
    """Page of one log of the journal, newest first, with as many entries as its rule requires."""

    name: str

    def page(self, machine: Machine) -> ServicePage:
        """Return a page with one line per entry: when, what, how much, who."""
        entries = recall.log(machine.journal, self.name)
        table = Table(
            columns=columns("time", "event", "amount", "detail", "person"),
            rows=tuple(_entry(entry) for entry in entries),
        )
        return ServicePage(
            id="", title=say(f"service.menu.log.{self.name}"), tables=(table,), actions=(BACK,)
        )

    def answer(self, machine: Machine, action: str, text: str) -> Move:  # noqa: ARG002 (a place's)
        """Refuse any action: the page only offers the way back."""
        return refuse("not_offered")


def _entry(entry: StoredEntry) -> Row:
    record = recall.details(entry)
    cents = record.get("amount_cents")
    known = significance(entry)
    return Row(
        cells=(
            moment(entry.time_utc.isoformat()),
            coded("entry", entry.kind),
            money(cents) if isinstance(cents, int) else plain(""),
            _detail(record),
            who(person(entry)),
        ),
        mark="" if known is None or known.effect in {"log", "lamp"} else "warning",
    )


def _detail(record: Mapping[str, Any]) -> Words:
    """Return the subject of an entry as text: a door, a fault, or a reason code."""
    prizes = record.get("prizes")
    if prizes:  # a clear names prizes by their ids; the highest win of an examined game is in credits
        things = [each for each in prizes if isinstance(each, Mapping)]
        return prize_names(things) if things else plain(str(record.get("game", "")))
    for name, section in (("door", "door"), ("code", "tilt.text"), ("why", "why"), ("key", "input.key")):
        if isinstance(record.get(name), str) and record[name]:
            return coded(section, record[name])
    detail = next((record[name] for name in ("number", "reason", "detail", "whom") if record.get(name)), "")
    return plain(str(detail)[:60])


@dataclass(frozen=True, slots=True)
class Listing(Place):
    """Page of tables only: the key of its title, and the function that creates its tables."""

    title: str
    tables: Callable[[Machine], tuple[Table, ...]]

    def page(self, machine: Machine) -> ServicePage:
        """Return the tables."""
        return ServicePage(
            id="", title=say(f"service.menu.{self.title}"), tables=self.tables(machine), actions=(BACK,)
        )

    def answer(self, machine: Machine, action: str, text: str) -> Move:  # noqa: ARG002 (a place's)
        """Refuse any action: the page only offers the way back."""
        return refuse("not_offered")


def _software(machine: Machine) -> tuple[Table, ...]:
    """Return the running software, down to each game's digest and each device's own identification (J-12, A-19)."""
    profile, bench = machine.profile, machine.state(ServiceDesk).bench
    installed = machine.memory.get(IntegrityKey.SOFTWARE)
    signed = (
        (("software.signed", say("service.software.unsigned")),)
        if installed is None
        else (
            ("software.signed", plain(installed["signer"])),
            ("software.release", plain(installed["version"])),
        )
    )
    return (
        pairs(
            (
                ("software.program", plain(f"open-egm {version('open-egm')}")),
                *signed,
                ("software.python", plain(f"{platform.python_implementation()} {platform.python_version()}")),
                ("software.profile", plain(f"{profile.id}: {profile.source}")),
                ("software.key", plain(machine.journal.fingerprint)),
                ("software.head", plain(f"{machine.journal.sequence}: {machine.journal.head_hash[:32]}")),
            )
        ),
        pairs(
            (
                (plain(f"{game.id} {game.version}"), plain(game.digest[:32]))
                for game in machine.games.values()
            ),
            say("service.software.games"),
        ),
        pairs(((plain(game), plain(why)) for game, why in bench.refused), say("service.software.refused")),
        pairs(
            (
                (plain(name), plain(digest[:32]))
                for name, digest in ({} if installed is None else installed["components"]).items()
            ),
            say("service.software.components"),
        ),
        pairs(
            (
                (coded("device", kind), plain(f"{name}  {bench.identities.get(name, '')}"))
                for name, kind in bench.kinds.items()
            ),
            say("service.software.devices"),
        ),
    )


def _clock(machine: Machine) -> tuple[Table, ...]:
    """Return the time, and past corrections of the clock, which the operating system owns."""
    changes = machine.journal.entries("clock.changed", limit=_CLOCK_CHANGES, newest_first=True)
    rows = tuple(
        Row(cells=(moment(change["last_entry"]), moment(change["now"])), mark="warning")
        for change in map(recall.details, changes)
    )
    return (
        pairs(
            (
                ("clock.now", moment(machine.clock.now().isoformat())),
                ("clock.zone", plain(machine.identity.house.time_zone)),
            )
        ),
        Table(title=say("service.clock.changes"), columns=columns("before", "after"), rows=rows),
    )


def _inventory(machine: Machine) -> tuple[Table, ...]:
    """Return the technical sheet (Monaco art. 19.4)."""
    return sheet(machine.journal).tables()


def _memory(machine: Machine) -> tuple[Table, ...]:
    """Return the state of the memory, and how it is cleared: never from here, nor without two persons (A-20, A-21)."""
    journal = machine.journal
    mended = journal.entries("event", limit=_CLOCK_CHANGES, newest_first=True)
    cleared = recall.details(next(journal.entries("machine.genesis", limit=1))).get("cleared")
    origin = (
        plain("-") if not isinstance(cleared, dict) else plain(f"{cleared['person']}: {cleared['reason']}")
    )
    return (
        pairs(
            (
                ("memory.entries", number(journal.sequence)),
                ("software.head", plain(journal.head_hash[:32])),
                ("memory.cleared", origin),
                ("memory.how", say("service.memory.how_to")),
            )
        ),
        pairs(
            (
                (moment(e.time_utc.isoformat()), plain(str(recall.details(e).get("where", ""))))
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
    Entry("meters", "money", Permission.READ_METERS, Meters),
    *(Entry(f"log.{name}", _LOGS[name], Permission.READ_LOGS, partial(Log, name)) for name in recall.LOGS),
    Entry("software", "machine", Permission.READ_SOFTWARE, partial(Listing, "software", _software)),
    Entry("inventory", "machine", Permission.READ_INVENTORY, partial(Listing, "inventory", _inventory)),
    Entry("memory", "machine", Permission.READ_SOFTWARE, partial(Listing, "memory", _memory)),
    Entry("clock", "machine", Permission.READ_SOFTWARE, partial(Listing, "clock", _clock)),
)
