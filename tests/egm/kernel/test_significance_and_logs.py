"""Significant events state their effect, the person and who may clear them; logs are views of the journal."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase

import pytest

from egm.app.features import FEATURES
from egm.kernel.logs import Log
from egm.kernel.significance import ClearCondition, EventEffect
from egm.record_codec import get_stored_key
from meters import Journal, Transaction, recall

ENTRIES = FEATURES.entry_declarations


def clock():
    return datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def journal(tmp_path):
    with Journal.open(tmp_path, now=clock) as opened:
        yield opened


def translate(journal, kind, **record):
    journal.append(Transaction(id=f"e{journal.sequence}", kind=kind, record=record or None))
    return next(journal.entries(newest_first=True, limit=1))


@pytest.mark.requirement("E-08", "E-14", "K-12")
@pytest.mark.parametrize(
    ("kind", "record", "effect", "clear", "sas"),
    [
        ("door.opened", {"door": "main"}, EventEffect.STOP, ClearCondition.ITSELF, 0x11),
        ("door.closed", {"door": "main"}, EventEffect.LOG, ClearCondition.NOTHING, 0x12),
        ("door.opened", {"door": "logic"}, EventEffect.HARD_STOP, ClearCondition.TECHNICIAN, 0x15),
        (
            "fault.raised",
            {"code": "bill_acceptor.stacker_jam"},
            EventEffect.ACCEPTOR_OFF,
            ClearCondition.ITSELF,
            0x28,
        ),
        (
            "fault.raised",
            {"code": "ticket_printer.paper_out"},
            EventEffect.PAYOUT_OFF,
            ClearCondition.ITSELF,
            0x61,
        ),
        ("fault.raised", {"code": "something.unheard_of"}, EventEffect.STOP, ClearCondition.ATTENDANT, 0x20),
        (
            "fault.cleared",
            {"code": "ticket_printer.paper_out"},
            EventEffect.LOG,
            ClearCondition.NOTHING,
            None,
        ),
        ("bill.in", {"amount_cents": 2000}, EventEffect.LOG, ClearCondition.NOTHING, 0x4A),
        ("bill.in", {"amount_cents": 777}, EventEffect.LOG, ClearCondition.NOTHING, 0x4F),
        ("handpay.pending", {"amount_cents": 5}, EventEffect.LOCK, ClearCondition.ATTENDANT, 0x51),
        ("service.call", {"on": True}, EventEffect.LAMP, ClearCondition.ATTENDANT, 0x71),
        ("service.call", {"on": False}, EventEffect.LOG, ClearCondition.NOTHING, 0x72),
        ("event", {"code": "memory.repaired"}, EventEffect.LOG, ClearCondition.NOTHING, 0x31),
    ],
)
def test_each_significant_event_has_its_effect_and_who_may_clear(journal, kind, record, effect, clear, sas):
    entry = translate(journal, kind, **record)
    found = ENTRIES.find_significance(entry)
    assert (found.effect, found.cleared_by, found.sas_exception_code) == (effect, clear, sas)


def test_no_line_of_the_table_is_hidden_by_an_earlier_one():
    for entry in ENTRIES:
        patterns = [*entry.significance] if isinstance(entry.significance, Mapping) else []
        for n, pattern in enumerate(patterns):
            hidden = [code_pattern for code_pattern in patterns[:n] if fnmatchcase(pattern, code_pattern)]
            assert not hidden, f"{entry.kind}: {pattern} is hidden by {hidden}"


@pytest.mark.requirement("E-12", "D-19")
def test_the_person_is_recorded_with_the_event(journal):
    cleared = translate(journal, "tilt.cleared", person="1001", codes=["x"])
    assert ENTRIES.list_actors(cleared) == ("1001",)
    assert ENTRIES.list_actors(translate(journal, "door.opened", door="main")) == ()
    assert ENTRIES.list_actors(translate(journal, "key.turned", key="attendant", on=True)) == ("attendant",)
    assert ENTRIES.list_actors(translate(journal, "menu.asked", by="operator")) == ("operator",)
    assert ENTRIES.format_kind_and_subject(translate(journal, "power.up")) == "power.up"


@pytest.mark.requirement("E-12")
def test_all_signers_are_recorded_and_no_digest_is_taken_for_a_key_switch(
    journal,
):
    decided = translate(journal, "dispute.decided", persons=["1001", "1002"])
    assert ENTRIES.list_actors(decided) == ("1001", "1002")
    assert ENTRIES.list_actors(translate(journal, "link.found", key="ab" * 32)) == ()


@pytest.mark.requirement("J-07", "E-12")
def test_a_sheet_lists_whatever_staff_did_whichever_feature_wrote_it(journal):
    authors = {"persons": ["1001"], "person": "1001"}
    listed, expected = set(), set()
    for kind in {entry.kind for entry in ENTRIES}:
        forms = ENTRIES.list_declarations(kind)
        records = [form.record for form in forms if is_dataclass(form.record)]
        named = authors.keys() & {get_stored_key(member) for record in records for member in fields(record)}
        if ENTRIES.is_on_intervention_sheet(
            translate(journal, kind, **{name: authors[name] for name in named})
        ):
            listed.add(kind)
        if named:
            expected.add(kind)
    assert listed >= expected >= {"hard_meters.exchanged", "machine.checked", "game.void", "touch.calibrated"}
    assert {"door.opened", "fault.raised", "power.up", "inventory.changed"} <= listed - expected
    assert not listed & {"game.start", "bill.in", "checkpoint"}


@pytest.mark.requirement("E-07")
def test_bills_that_the_acceptor_rejects_do_not_push_the_accepted_ones_out_of_their_log(journal):
    translate(journal, "bill.in", amount_cents=2000)
    for _ in range(40):
        translate(journal, "bill.rejected")
        translate(journal, "bill.returned")
    assert [entry.kind for entry in ENTRIES.read_log(journal, Log.BILLS)] == ["bill.in"]


@pytest.mark.requirement("E-05", "E-06", "E-07", "E-08", "E-09", "D-18", "A-16")
def test_every_log_is_as_long_as_the_rules_require(journal):
    least = {"events": 100, "bills": 5, "vouchers": 35, "transfers": 35, "progressives": 25, "software": 10}
    assert [log for log in Log if log.default_entry_count < least.get(log, 0)] == []
    assert recall.RECALLED_PLAYS_MAX >= 10
    for n in range(40):
        translate(journal, "voucher.out", n=n)
        translate(journal, "aft.complete", n=n)
        translate(journal, "selection", n=n)
    assert [e.record["n"] for e in ENTRIES.read_log(journal, Log.TICKETS)] == list(range(39, 4, -1))
    assert [e.record["n"] for e in ENTRIES.read_log(journal, Log.TRANSFERS, 2)] == [39, 38]
    assert {e.kind for e in ENTRIES.read_log(journal, Log.EVENTS)} == {"voucher.out", "aft.complete"}
    assert list(ENTRIES.read_log(journal, Log.SOFTWARE)) == []


@pytest.mark.requirement("A-16", "E-11")
def test_passed_checks_do_not_push_changes_out_of_the_log_of_software(journal):
    for n in range(10):
        translate(journal, "software.changed", n=n)
    translate(journal, "cabinet.signed", n=10)
    for n in range(3):
        translate(journal, "software.verified", n=n)
    assert [e.record["n"] for e in ENTRIES.read_log(journal, Log.SOFTWARE, 11)] == list(range(10, -1, -1))


@pytest.mark.requirement("E-05", "E-06", "E-07", "E-09", "J-18", "A-16", "A-01")
@pytest.mark.parametrize("log", Log)
def test_a_log_includes_events_before_a_restart(tmp_path, log):
    kind = (
        "fault.raised"
        if log is Log.EVENTS
        else next(entry.kind for entry in ENTRIES if ENTRIES.belongs_to_log(entry.kind, log))
    )
    with Journal.open(tmp_path, now=clock) as journal:
        earlier = translate(journal, kind)
    with Journal.open(tmp_path, now=clock) as journal:
        translate(journal, "power.up")
        later = translate(journal, kind)
        shown = [entry.id for entry in ENTRIES.read_log(journal, log) if entry.kind == kind]
        assert shown == [later.id, earlier.id]
