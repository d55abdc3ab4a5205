"""The sheet of an intervention (Monaco art. 20.3; Q-15): who, when, which doors, what was done, meters.

It is derived from journal entries alone, so that the machine's page, the command line and an auditor with an
export produce the same sheet.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from egm.kernel.entries import EntryDeclarations
from egm.kernel.service_pages import PageRow, PageTable, PageText
from egm.staff.entries import INTERVENTION_OPENED
from egm.staff.page_texts import (
    build_actors_text,
    build_code_text,
    build_column_titles,
    build_meter_name_text,
    build_meter_value_text,
    build_plain_text,
    build_text,
    build_time_text,
    build_two_column_table,
)
from meters import JournalView
from meters.entry import StoredEntry
from meters.recall import read_details


@dataclass(frozen=True, slots=True)
class SheetLine:
    """One line of an intervention sheet: the time (ISO 8601 UTC), the event, and who caused it."""

    time_utc: str
    event_and_subject: str
    """The entry's kind and what it is about, as ``kind:subject``; without a subject the kind alone."""
    actors: tuple[str, ...]
    """The persons or the key switch that caused the event; empty if the entry names none."""


@dataclass(frozen=True, slots=True)
class InterventionSheet:
    """The sheet of one intervention, that is, of work at the open machine."""

    id: str
    kind: str
    serial: str
    operator_number: str
    person: str
    reason: str
    opened_time: str
    closed_time: str
    """When the intervention ended (ISO 8601 UTC); empty while it is open."""
    closed_by: str
    work: str
    parts: str
    lines: tuple[SheetLine, ...]
    meters_before: Mapping[str, int]
    meters_after: Mapping[str, int]
    proof: str = ""
    """Who closed the intervention, and the number and hash of the journal entry; empty while it is open."""

    @property
    def opened_doors(self) -> tuple[str, ...]:
        """Return the doors that were opened during the intervention, each once, in the order of first opening."""
        opened_doors = (
            line.event_and_subject.partition(":")[2]
            for line in self.lines
            if line.event_and_subject.startswith("door.opened")
        )
        return tuple(dict.fromkeys(opened_doors))

    @property
    def changed_meters(self) -> dict[str, tuple[int, int]]:
        """Return the meters that changed during the intervention, by name, each with its value before and after.

        Empty while the intervention is open.
        """
        meter_names = sorted(self.meters_before.keys() | self.meters_after.keys())
        values_by_name = {
            name: (self.meters_before.get(name, 0), self.meters_after.get(name, 0)) for name in meter_names
        }
        return {
            name: (value_before, value_after)
            for name, (value_before, value_after) in values_by_name.items()
            if self.closed_time and value_before != value_after
        }

    def build_tables(self) -> tuple[PageTable, ...]:
        """Return the tables of the intervention sheet, as shown on the screen and printed."""
        summary_table = build_two_column_table(
            (
                ("sheet.machine", build_plain_text(f"{self.operator_number}  ({self.serial})")),
                ("sheet.kind", build_text(f"form.intervention.kind_{self.kind}")),
                ("sheet.person", build_plain_text(self.person)),
                ("sheet.stopped", build_time_text(self.opened_time)),
                (
                    "sheet.ended",
                    build_time_text(self.closed_time)
                    if self.closed_time
                    else build_text("service.sheet.open"),
                ),
                ("sheet.reason", build_plain_text(self.reason)),
                ("sheet.work", build_plain_text(self.work)),
                ("sheet.parts", build_plain_text(self.parts)),
                *(("sheet.doors", build_code_text("door", door)) for door in self.opened_doors),
                ("sheet.proof", build_plain_text(self.proof)),
                ("sheet.signature", build_plain_text("")),
            )
        )
        event_table = PageTable(
            title=build_text("service.sheet.done"),
            columns=build_column_titles("time", "event", "detail", "person"),
            rows=tuple(
                PageRow(
                    cells=(
                        build_time_text(line.time_utc),
                        *_build_event_and_subject_texts(line.event_and_subject),
                        build_actors_text(line.actors),
                    )
                )
                for line in self.lines
            ),
        )
        meter_names = sorted(self.meters_before.keys() | self.meters_after.keys())
        meter_table = PageTable(
            title=build_text("service.sheet.meters"),
            columns=build_column_titles("meter", "before", "after"),
            rows=tuple(
                PageRow(
                    cells=(
                        build_meter_name_text(name),
                        build_meter_value_text(name, self.meters_before.get(name, 0)),
                        build_meter_value_text(name, self.meters_after.get(name, 0))
                        if self.closed_time
                        else build_plain_text(""),
                    ),
                    icon="warning" if name in self.changed_meters else "",
                )
                for name in meter_names
            ),
        )
        return summary_table, event_table, meter_table


def iter_sheets(
    entries: Iterable[StoredEntry], declarations: EntryDeclarations
) -> Iterator[InterventionSheet]:
    """Yield the sheet of every intervention in a journal's entries, oldest first; the last may still be open.

    ``declarations`` state which entries a sheet lists, and what the subject of each is.
    """
    opening_entry: StoredEntry | None = None
    lines: list[SheetLine] = []
    for entry in entries:
        if entry.kind == INTERVENTION_OPENED.kind:
            if opening_entry is not None:
                yield _build_sheet(opening_entry, lines, None)
            opening_entry, lines = entry, []
        elif opening_entry is not None and entry.id == f"{opening_entry.id}.closed":
            yield _build_sheet(opening_entry, lines, entry)
            opening_entry = None
        elif opening_entry is not None and declarations.is_on_intervention_sheet(entry):
            lines.append(
                SheetLine(
                    entry.time_utc.isoformat(),
                    _format_event_and_subject(entry, declarations),
                    declarations.list_actors(entry),
                )
            )
    if opening_entry is not None:
        yield _build_sheet(opening_entry, lines, None)


def iter_last_sheets(
    view: JournalView, declarations: EntryDeclarations, limit: int
) -> Iterator[InterventionSheet]:
    """Yield the sheets of a journal's last ``limit`` interventions, newest first.

    Entries between two interventions are not read.
    """
    for opening_entry in view.entries(INTERVENTION_OPENED.kind, newest_first=True, limit=limit):
        closing_entry = view.get(f"{opening_entry.id}.closed")
        until_sequence = None if closing_entry is None else closing_entry.sequence + 1
        yield from iter_sheets(
            view.entries(after_sequence=opening_entry.sequence - 1, before_sequence=until_sequence),
            declarations,
        )


def _build_sheet(
    opening_entry: StoredEntry, sheet_lines: Iterable[SheetLine], closing_entry: StoredEntry | None
) -> InterventionSheet:
    """Return the sheet of an intervention from its journal entries.

    ``opening_entry`` and ``closing_entry`` are its first and last entry, ``sheet_lines`` the entries that the sheet
    lists. ``closing_entry``: None while the intervention is open.
    """
    opening_record = read_details(opening_entry)
    closing_record = {} if closing_entry is None else read_details(closing_entry)
    return InterventionSheet(
        id=opening_entry.id,
        kind=str(opening_record["kind"]),
        serial=str(opening_record["serial"]),
        operator_number=str(opening_record["operator_number"]),
        person=str(opening_record["person"]),
        reason=str(opening_record["reason"]),
        opened_time=opening_entry.time_utc.isoformat(),
        closed_time="" if closing_entry is None else closing_entry.time_utc.isoformat(),
        closed_by=str(closing_record.get("person", "")),
        work=str(closing_record.get("work", "")),
        parts=str(closing_record.get("parts", "")),
        lines=tuple(sheet_lines),
        meters_before=_read_meters(opening_record),
        meters_after=_read_meters(closing_record),
        proof=""
        if closing_entry is None
        else f"{closing_record['person']}  {closing_entry.sequence}:{closing_entry.hash_hex[:12]}",
    )


def _format_event_and_subject(entry: StoredEntry, declarations: EntryDeclarations) -> str:
    """Return the event of a sheet's line as ``kind`` or ``kind:subject``; for a test the subject is the device."""
    record = read_details(entry)
    device = record.get("device")
    event_and_subject = declarations.format_kind_and_subject(entry)
    return f"{event_and_subject}:{device}" if isinstance(device, str) else event_and_subject


def _build_event_and_subject_texts(event_and_subject: str) -> tuple[PageText, PageText]:
    """Return two texts for a line of a sheet: the event, and its subject (a door, a fault, a device)."""
    kind, _, subject = event_and_subject.partition(":")
    section_by_kind_prefix = {"door": "door", "fault": "tilt.text", "menu": "menu_kind"}
    return build_code_text("entry", kind), build_code_text(
        section_by_kind_prefix.get(kind.partition(".")[0], ""), subject
    )


def _read_meters(record: Mapping[str, Any]) -> dict[str, int]:
    """Return the meters that an entry which opens or closes an intervention has stored, by name."""
    return {str(name): int(value) for name, value in dict(record.get("meters", {})).items()}
