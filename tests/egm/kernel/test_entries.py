"""For every declared entry, a valid one is accepted, and any part that differs from the declaration is refused."""

import dataclasses
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from types import NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

import pytest

from egm import record_fields
from egm.app.features import FEATURES
from egm.errors import InvariantError
from egm.kernel.entries import EntryDeclaration, EntryDeclarations, EntryError, PermittedTransfer
from egm.money.entries import TICKET_REFUSED, PaperNotAcceptedReason
from egm.progressive.level import Level, LevelTerms
from egm.record_codec import get_stored_key, is_record, to_json
from egm.staff.entries import MENU_OPENER
from egm.testing.machine import MachineRig
from meters import Phase, Transaction, Transfer
from meters.transaction import JSON
from paytables import Outcome, Wager

#: A value that fulfils each condition, and one of the same type that does not.
CONDITIONS = {
    record_fields.POSITIVE_AMOUNT_CONDITION: (5, 0),
    record_fields.POSITIVE_NUMBER_CONDITION: (5, 0),
    record_fields.NON_NEGATIVE_CONDITION: (0, -1),
    record_fields.NON_BLANK_TEXT_CONDITION: ("words", " "),
    record_fields.ISO_TIME_CONDITION: ("2026-01-01T00:00:00+00:00", "noon"),
    record_fields.SHA256_DIGEST_CONDITION: ("0" * 64, "0" * 63),
    record_fields.MASKED_TICKET_NUMBER_CONDITION: ("••••1234", "001234567890123456"),
    record_fields.STAFF_NUMBER_CONDITION: ("1001", ""),
    record_fields.ACTOR_ID_CONDITION: ("1001", ""),
    record_fields.KEY_SWITCH_NAME_CONDITION: ("attendant", ""),
    record_fields.STAFF_NUMBERS_CONDITION: (("1001", "1002"), ("1001", "1001")),
    record_fields.MACHINE_SERIAL_NUMBER_CONDITION: ("EGM-1", ""),
    MENU_OPENER: ("attendant", "nobody"),
}
#: Values of classes that do not take just any.
_TERMS = LevelTerms(base_cents=100, increment=Fraction(1, 4), ceiling_cents=200)
OWN: dict[type, object] = {
    LevelTerms: _TERMS,
    Level: Level.open(_TERMS),
    Outcome: Outcome(display={}),
    Wager: Wager(1, {}),
}
ALL = list(FEATURES.entry_declarations)


def sample(hint):  # noqa: PLR0911 (one line for each type of field)
    """Return a valid value of a field's type."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return CONDITIONS[inner[1]][0]
    if hint in (int, str, bool):
        return {int: 1, str: "text", bool: True}[hint]
    if hint == JSON or hint is object:
        return {"any": 1}
    if origin in (Union, UnionType):
        return sample(next(member for member in inner if member is not NoneType))
    if origin is tuple:
        return (sample(inner[0]),) if inner[1:] == (Ellipsis,) else tuple(map(sample, inner))
    if origin is Literal:
        return inner[0]
    if origin is not None and issubclass(origin, Mapping):
        return {sample(inner[0]): sample(inner[1])}
    if hint in OWN:
        return OWN[hint]
    if issubclass(hint, StrEnum):
        return next(iter(hint))
    if hint is Fraction:
        return Fraction(1, 4)
    return hint(**{field.name: sample(field.type) for field in dataclasses.fields(hint)})


def as_json(value):
    if is_record(value):
        return to_json(value)
    if isinstance(value, tuple):
        return [as_json(item) for item in value]
    if isinstance(value, Mapping):
        return {key: as_json(item) for key, item in value.items()}
    return str(value) if isinstance(value, StrEnum | Fraction) else value


def value_of(key):
    return as_json(sample(FEATURES.storage_keys._value_types.get(key, object)))


def build(entry: EntryDeclaration) -> Transaction:
    """Return a transaction that fulfils a declaration and has every part that the declaration permits."""
    settles = entry.phase in {Phase.SETTLE, Phase.VOID}
    moves = (
        ()
        if settles
        else tuple(
            Transfer(m.source.replace("*", "1"), m.target.replace("*", "2"), 5)
            for m in entry.permitted_transfers
        )
    )
    return Transaction(
        id="entry-1",
        kind=entry.kind,
        phase=entry.phase,
        ref="reservation-1" if settles else None,
        transfers=moves,
        counts={name.replace("*", "x"): by or 1 for name, by in entry.counts.items()},
        marks=entry.marks,
        state={
            f"{key}x" if key.endswith(":") else str(key): value_of(key)
            for key in (*entry.written_keys, *entry.optional_keys)
        },
        record=as_json(None if entry.record is NoneType else sample(entry.record)),
    )


def required_fields(record):
    """Return the required fields of a record type."""
    missing = dataclasses.MISSING
    return [f for f in dataclasses.fields(record) if f.default is missing and f.default_factory is missing]


def refuse(entry: EntryDeclaration, transaction: Transaction, reason: str) -> None:
    with pytest.raises(EntryError) as raised:
        entry.check_transaction(transaction, FEATURES.storage_keys)
    assert reason in str(raised.value), str(raised.value)
    assert str(raised.value).startswith(entry.kind)


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.kind)
def test_a_valid_entry_is_accepted_with_its_meaning(entry):
    entry.check_transaction(build(entry), FEATURES.storage_keys)
    assert entry.meaning[0].isupper()
    assert entry.meaning.endswith(".")


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.kind)
def test_a_record_that_differs_in_any_field_is_refused(entry):
    valid = build(entry)
    refuse(entry, replace(valid, record=[[[1]]]), "record")
    record = entry.record
    if not dataclasses.is_dataclass(record):
        return
    refuse(entry, replace(valid, record={**valid.record, "surplus": 1}), "surplus")
    if required_fields(record):
        refuse(entry, replace(valid, record=None), "record")
    for field in dataclasses.fields(record):
        name = get_stored_key(field)
        if name not in valid.record:  # a nested record's field is merged into this one
            continue
        if field in required_fields(record):
            less = {key: value for key, value in valid.record.items() if key != name}
            refuse(entry, replace(valid, record=less), name)
        if field.type not in (JSON, object):
            refuse(entry, replace(valid, record={**valid.record, name: [[["nested"]]]}), name)
        if get_origin(field.type) is Annotated:
            wrong = as_json(CONDITIONS[get_args(field.type)[1]][1])
            refuse(entry, replace(valid, record={**valid.record, name: wrong}), name)


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.kind)
def test_another_phase_mark_count_key_or_account_is_refused(entry):
    valid = build(entry)
    if entry.phase is Phase.POST:
        moved = Transfer("world:bill", "credit:1:cashable", 5)
        refuse(
            entry,
            replace(valid, phase=Phase.RESERVE, transfers=(moved,)),
            "phase: expected post, found reserve",
        )
        refuse(entry, replace(valid, transfers=(Transfer("house:x", "house:y", 5),)), "house:x")
    else:
        refuse(entry, replace(valid, phase=Phase.POST, ref=None), "phase: expected")
    refuse(entry, replace(valid, counts={**valid.counts, "surplus": 1}), "surplus")
    refuse(entry, replace(valid, dims={"surplus": 1}), "surplus")
    for name, by in entry.counts.items():
        if by is not None:
            counted = name.replace("*", "x")
            other_counts = {key: value for key, value in valid.counts.items() if key != counted}
            refuse(entry, replace(valid, counts=other_counts), name)
            refuse(entry, replace(valid, counts={**other_counts, counted: by + 1}), counted)
    other = next(
        key for key in FEATURES.storage_keys if key not in {*entry.written_keys, *entry.optional_keys}
    )
    name = f"{other}x" if other.endswith(":") else str(other)
    refuse(entry, replace(valid, state={**valid.state, name: value_of(other)}), name)
    refuse(entry, replace(valid, state={**valid.state, "nobody": 1}), "nobody")
    for key in entry.written_keys:
        less = {name: value for name, value in valid.state.items() if not name.startswith(key)}
        if less != valid.state and not any(name.startswith(key) for name in less):
            refuse(entry, replace(valid, state=less), str(key))


def test_the_machine_refuses_a_wrong_entry_before_it_is_durable(tmp_path):
    rig = MachineRig(tmp_path).boot()
    before = rig.journal.sequence
    with pytest.raises(EntryError, match=r"voucher\.refused: record: reason is 7"):
        rig.machine.post(TICKET_REFUSED, PaperNotAcceptedReason(reason=7))
    with pytest.raises(EntryError, match="no feature declares the entry song"):
        rig.machine.post(EntryDeclaration(kind="song", record=NoneType, description="A song."))
    assert rig.journal.sequence == before
    rig.machine.post(TICKET_REFUSED, PaperNotAcceptedReason(reason="unknown"))
    assert rig.journal.meters().values["vouchers_refused"] == 1
    rig.close()


def test_a_declaration_that_contradicts_itself_is_refused():
    with pytest.raises(InvariantError, match="does not say what it means"):
        EntryDeclaration(kind="song", record=NoneType)
    with pytest.raises(InvariantError, match="`closed_reservations` belongs to entries that settle or void"):
        EntryDeclaration(kind="song", record=NoneType, description="A song.", phase=Phase.VOID)
    song = EntryDeclaration(
        kind="song",
        record=NoneType,
        description="A song.",
        permitted_transfers=(PermittedTransfer("house:a", "house:b"),),
    )
    with pytest.raises(InvariantError, match="the entry song is declared twice"):
        EntryDeclarations((song, song))
