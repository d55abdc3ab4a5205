"""Registers of the venue, derived from the journal, and the notes that persons add to them.

A register is a query of the journal: entries of some kinds, in named columns. So it cannot differ from what
happened, is exported with the journal, and can be recomputed anywhere. Notes (a dispute decided, an exclusion,
an incident) move no value. An excluded player's name is stored in the register of identities only.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from egm.errors import InvariantError
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.staff.entries import (
    CABINET_BASE_RETURNED,
    CABINET_BASE_WITHDRAWN,
    COLLECTED_BOX_COUNTED,
    DISPUTE_DECIDED,
    EXCLUSION_NOTED,
    HOPPER_FILLED,
    INCIDENT_JUDGED,
    INTERVENTION_CLOSED,
    INTERVENTION_OPENED,
    MENU_ENTERED,
    DisputeDecided,
    ExclusionNoted,
    IncidentJudged,
)
from egm.staff.events import DisputeForm, ExclusionForm, IncidentForm, RegisterNoteForm
from egm.staff.form import list_event_persons
from egm.staff.identities import IdentityRegister
from meters import StoredEntry


# ---------------------------------------------------------------------------------------------- notes
def register_note_is_complete(_: PositionMachine, event: Event) -> bool:
    """Return whether a note for a register is complete (:attr:`egm.staff.events.RegisterNoteForm.is_complete`)."""
    return event.read_payload(RegisterNoteForm).is_complete


def record_dispute(machine: PositionMachine, event: Event) -> None:
    """Record how staff decided a player's dispute."""
    form = event.read_payload(DisputeForm)
    machine.post(
        DISPUTE_DECIDED,
        DisputeDecided(
            machine=machine.identity.serial,
            claim=form.claim.strip(),
            mechanic_statement=form.mechanic_statement.strip(),
            decision=form.decision.strip(),
            play_id=form.play_id,
            persons=tuple(list_event_persons(machine, event)),
        ),
    )
    machine.notice = Notice(code="form_recorded")


def record_exclusion(machine: PositionMachine, event: Event) -> None:
    """Record that staff excluded a player, whose name goes to the register of identities only."""
    identities, form = machine.find_installed(IdentityRegister), event.read_payload(ExclusionForm)
    if identities is None:
        raise InvariantError("an identity must be recorded, but there is no identity register")
    subject = machine.fresh_id(EXCLUSION_NOTED.kind)
    machine.post(
        EXCLUSION_NOTED,
        ExclusionNoted(
            machine=machine.identity.serial,
            reason=form.reason.strip(),
            name_commitment=identities.store_identity(
                subject, {"who": form.player_name.strip()}, machine.clock.now()
            ),
            persons=tuple(list_event_persons(machine, event)),
        ),
    )
    machine.notice = Notice(code="form_recorded")


def record_incident(machine: PositionMachine, event: Event) -> None:
    """Record how the management judged an incident."""
    form = event.read_payload(IncidentForm)
    machine.post(
        INCIDENT_JUDGED,
        IncidentJudged(
            machine=machine.identity.serial,
            incident_description=form.incident_description.strip(),
            judgement=form.judgement.strip(),
            notification_means=form.notification_means,
            officer_and_time=form.officer_and_time.strip(),
            play_id=form.play_id,
            persons=tuple(list_event_persons(machine, event)),
        ),
    )
    machine.notice = Notice(code="form_recorded")


# ---------------------------------------------------------------------------------------------- registers
@dataclass(frozen=True, slots=True, kw_only=True)
class Register:
    """A register of the venue, as a query of the journal: which entries belong to it, and its columns."""

    name: str
    entry_kinds: tuple[str, ...]
    columns: tuple[str, ...]
    """The fields of an entry's record that the register shows, by their names in the journal; ``event`` is the kind."""
    source_clauses: str
    """The requirements and the clauses of laws that call for the register, separated by semicolons."""
    required_value_by_field: Mapping[str, str] | None = None
    """An entry belongs to the register only if its record has these values, by field; None: no such condition."""
    required_field: str = ""
    """An entry belongs to the register only if this field of its record has a value; empty: no such condition."""

    def contains(self, entry: StoredEntry) -> bool:
        """Return whether a journal entry belongs to this register."""
        record = entry.record if isinstance(entry.record, Mapping) else {}
        required_value_by_field = self.required_value_by_field or {}
        return (
            entry.kind in self.entry_kinds
            and all(record.get(field_name) == value for field_name, value in required_value_by_field.items())
            and (not self.required_field or bool(record.get(self.required_field)))
        )


#: The columns of a ruling.
RULING_COLUMNS: Final = ("amount_cents", "machine", "place", "reason", "persons")

#: The registers of the staff's own work; other features declare theirs.
REGISTER_DEFINITIONS: Final = (
    Register(
        name="disputes",
        entry_kinds=(DISPUTE_DECIDED.kind,),
        columns=("play_id", "claim", "mechanic", "decision", "persons"),
        source_clauses="Q-04; MC 21.2",
    ),
    Register(
        name="exclusions",
        entry_kinds=(EXCLUSION_NOTED.kind,),
        columns=("identity", "reason", "persons"),
        source_clauses="Q-07; MC 21.3",
    ),
    Register(
        name="incidents",
        entry_kinds=(INCIDENT_JUDGED.kind,),
        columns=("what", "judgement", "informed", "officer", "persons"),
        source_clauses="Q-13; MC 24",
    ),
    Register(
        name="fills",
        entry_kinds=(HOPPER_FILLED.kind,),
        columns=("amount_cents", "machine", "persons"),
        source_clauses="D-13; NZ NZ3.4",
    ),
    Register(
        name="counts",
        entry_kinds=(COLLECTED_BOX_COUNTED.kind,),
        columns=(
            "collection",
            "box",
            "metered_cents",
            "counted_cents",
            "difference_cents",
            "machine",
            "persons",
        ),
        source_clauses="D-21, G-09; FR69 (d); MC 19.5, 23-1",
    ),
    Register(
        name="bases",
        entry_kinds=(CABINET_BASE_WITHDRAWN.kind, CABINET_BASE_RETURNED.kind),
        columns=("event", "base", "lock", "cashier", "reason", "intervention", "persons"),
        source_clauses="J-05; MC 20.2",
    ),
    Register(
        name="interventions",
        entry_kinds=(INTERVENTION_OPENED.kind, INTERVENTION_CLOSED.kind),
        columns=("event", "serial", "operator_number", "id", "kind", "reason", "work", "persons"),
        source_clauses="Q-15; QC-VLM 39",
    ),
    Register(
        name="parts",
        entry_kinds=(INTERVENTION_CLOSED.kind,),
        columns=("serial", "operator_number", "id", "parts", "persons"),
        source_clauses="Q-15; QC-VLM 39",
        required_field="parts",
    ),
    Register(
        name="visits",
        entry_kinds=(MENU_ENTERED.kind,),
        columns=("person", "role"),
        source_clauses="Q-15; QC-VLM 39",
    ),
)


def iter_register_lines(register: Register, entries: Iterable[StoredEntry]) -> Iterator[dict[str, object]]:
    """Yield the lines of a register in the order of ``entries``, each with its values by column.

    A line has the entry's sequence number, time and player position (None if the machine has only one), then
    the register's columns.
    """
    for entry in entries:
        if register.contains(entry):
            details: Mapping[str, object] = entry.record if isinstance(entry.record, Mapping) else {}
            details = {**details, "event": entry.kind}
            yield {
                "entry": entry.sequence,
                "time_utc": entry.time_utc.isoformat(timespec="seconds"),
                "position": entry.transaction.dims.get("position"),
                **{column: _format_column_value(column, details.get(column)) for column in register.columns},
            }


def _format_column_value(column: str, recorded_value: Any) -> Any:
    """Return the value of a register's column for display: prizes in kind by their names, others unchanged."""
    if column != "prizes" or not recorded_value:
        return recorded_value
    return [" / ".join(dict.fromkeys(prize["names"].values())) for prize in recorded_value]
