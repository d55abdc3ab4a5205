"""Significant events carry effect, person and who may clear; plays and rings are views of the journal."""

from datetime import UTC, datetime

import pytest

from meters import Journal, Phase, Transaction, Transfer, events, recall
from meters.events import EVENTS, Clear, Effect, find_significant_event, find_subject
from meters.recall import LOGS, UnknownLog, log, mask_validation_number, plays

CREDIT = "credit:1:cashable"


def clock():
    return datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def journal(tmp_path):
    with Journal.open(tmp_path, now=clock) as opened:
        yield opened


def say(journal, kind, **record):
    journal.append(Transaction(id=f"e{journal.sequence}", kind=kind, record=record or None))
    return next(journal.entries(newest_first=True, limit=1))


@pytest.mark.requirement("E-08", "E-14", "K-12")
@pytest.mark.parametrize(
    ("kind", "record", "effect", "clear", "sas"),
    [
        ("door.opened", {"door": "main"}, Effect.STOP, Clear.ITSELF, 0x11),
        ("door.closed", {"door": "main"}, Effect.LOG, Clear.NOTHING, 0x12),
        ("door.opened", {"door": "logic"}, Effect.HARD_STOP, Clear.TECHNICIAN, 0x15),
        ("fault.raised", {"code": "bill_acceptor.stacker_jam"}, Effect.ACCEPTOR_OFF, Clear.ITSELF, 0x28),
        ("fault.raised", {"code": "ticket_printer.paper_out"}, Effect.PAYOUT_OFF, Clear.ITSELF, 0x61),
        ("fault.raised", {"code": "something.unheard_of"}, Effect.STOP, Clear.ATTENDANT, 0x20),
        ("fault.cleared", {"code": "ticket_printer.paper_out"}, Effect.LOG, Clear.NOTHING, None),
        ("bill.in", {"amount_cents": 2000}, Effect.LOG, Clear.NOTHING, 0x4A),
        ("bill.in", {"amount_cents": 777}, Effect.LOG, Clear.NOTHING, 0x4F),
        ("handpay.pending", {"amount_cents": 5}, Effect.LOCK, Clear.ATTENDANT, 0x51),
        ("service.call", {"on": True}, Effect.LAMP, Clear.ATTENDANT, 0x71),
        ("service.call", {"on": False}, Effect.LOG, Clear.NOTHING, 0x72),
        ("event", {"code": "memory.repaired"}, Effect.LOG, Clear.NOTHING, 0x31),
    ],
)
def test_each_significant_event_has_its_effect_and_who_may_clear(journal, kind, record, effect, clear, sas):
    entry = say(journal, kind, **record)
    found = find_significant_event(entry)
    assert (found.effect, found.clear, found.sas) == (effect, clear, sas)


def test_the_table_has_no_line_an_earlier_one_hides():
    from fnmatch import fnmatchcase

    for n, line in enumerate(EVENTS):
        hidden = [e.pattern for e in EVENTS[:n] if fnmatchcase(line.pattern, e.pattern)]
        assert not hidden, f"{line.pattern} is hidden by {hidden}"


@pytest.mark.requirement("E-12", "D-19")
def test_the_person_is_kept_with_the_event(journal):
    assert (
        events.find_author(say(journal, "tilt.cleared", person="A. Tremblay", codes=["x"])) == "A. Tremblay"
    )
    assert events.find_author(say(journal, "door.opened", door="main")) == ""
    assert find_subject(say(journal, "power.up")) == "power.up"


def play(journal, number, steps=0):
    play_id = f"p{number}"
    record = {"play_id": play_id, "credit_before_cents": 100, "outcome": {"display": {"stops": [number]}}}
    journal.append(
        Transaction(
            id=f"{play_id}.start",
            kind="game.start",
            transfers=(Transfer(CREDIT, "house:wager", 5),),
            record=record,
        )
    )
    for step in range(steps):
        record = {"play_id": play_id, "choice": step, "outcome": {"display": {"step": step}}}
        journal.append(Transaction(id=f"{play_id}.{step}", kind="game.choice", record=record))
    journal.append(
        Transaction(
            id=f"{play_id}.end",
            kind="game.end",
            transfers=(Transfer("house:win", CREDIT, 10),),
            record={"play_id": play_id, "win_cents": 10},
        )
    )


@pytest.mark.requirement("E-01", "E-02", "E-04")
def test_plays_come_back_whole_with_what_was_added_before(journal):
    def bring(tx_id, source, cents):
        journal.append(Transaction(id=tx_id, kind="in", transfers=(Transfer(source, CREDIT, cents),)))

    bring("b1", "world:bill", 500)
    play(journal, 1)
    escrow = Transfer("world:bill", CREDIT, 2000)
    journal.append(Transaction(id="b2", kind="bill.escrow", phase=Phase.RESERVE, transfers=(escrow,)))
    journal.append(Transaction(id="b2.in", kind="bill.in", phase=Phase.SETTLE, ref="b2"))
    bring("v1", "world:voucher_in:cashable", 300)
    play(journal, 2, steps=60)
    journal.append(
        Transaction(
            id="p3.start",
            kind="game.start",
            transfers=(Transfer(CREDIT, "house:wager", 5),),
            record={"play_id": "p3"},
        )
    )
    third, second, first = plays(journal)
    assert (third.play_id, third.end, third.win_cents) == ("p3", None, None)
    assert second.added_cents == {"world:bill": 2000, "world:voucher_in:cashable": 300}
    assert (second.bet_cents, second.win_cents, second.credit_before_cents) == (5, 10, 100)
    assert len(second.steps) == 60
    assert len(second.shown_steps) == 50
    assert second.outcome == {"display": {"step": 59}}
    assert first.added_cents == {"world:bill": 500}
    assert first.outcome == {"display": {"stops": [1]}}
    assert [p.play_id for p in plays(journal, 2)] == ["p3", "p2"]


@pytest.mark.requirement("E-05", "E-06", "E-07", "D-18", "A-16")
def test_every_ring_is_as_long_as_the_rules_ask(journal):
    least = {"events": 100, "bills": 5, "vouchers": 35, "transfers": 35, "progressives": 25, "software": 10}
    assert {name: LOGS[name].size >= size for name, size in least.items()} == dict.fromkeys(least, True)
    assert recall.PLAYS_SHOWN >= 10
    for n in range(40):
        say(journal, "voucher.out", n=n)
        say(journal, "aft.complete", n=n)
        say(journal, "selection", n=n)
    assert [e.record["n"] for e in log(journal, "vouchers")] == list(range(39, 4, -1))
    assert [e.record["n"] for e in log(journal, "transfers", 2)] == [39, 38]
    assert {e.kind for e in log(journal, "events")} == {"voucher.out", "aft.complete"}
    assert list(log(journal, "software")) == []
    with pytest.raises(UnknownLog, match="there are: events"):
        log(journal, "nonsense")


@pytest.mark.requirement("E-06")
def test_a_validation_number_is_never_shown_whole():
    assert mask_validation_number("001234567890123456") == "**************3456"
    assert mask_validation_number("12") == "12"
