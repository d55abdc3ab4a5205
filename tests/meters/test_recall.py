"""The recall of plays is a view of the journal."""

from datetime import UTC, datetime

import pytest

from meters import Journal, Phase, Transaction, Transfer
from meters.recall import iter_recent_plays, mask_validation_number

CREDIT = "credit:1:cashable"


def clock():
    return datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def journal(tmp_path):
    with Journal.open(tmp_path, now=clock) as opened:
        yield opened


def play(journal, number, steps=0, raised_cents=0):
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
        raised = (Transfer(CREDIT, "house:wager", raised_cents),) if raised_cents else ()
        journal.append(
            Transaction(id=f"{play_id}.{step}", kind="game.choice", transfers=raised, record=record)
        )
    journal.append(
        Transaction(
            id=f"{play_id}.end",
            kind="game.end",
            transfers=(Transfer("house:win", CREDIT, 10),),
            record={"play_id": play_id, "win_cents": 10},
        )
    )


@pytest.mark.requirement("E-01", "E-02", "E-04")
def test_plays_are_recalled_with_the_money_added_before_them(journal):
    def bring(tx_id, source, cents):
        journal.append(Transaction(id=tx_id, kind="in", transfers=(Transfer(source, CREDIT, cents),)))

    bring("b1", "world:bill", 500)
    play(journal, 1)
    escrow = Transfer("world:bill", CREDIT, 2000)
    journal.append(Transaction(id="b2", kind="bill.escrow", phase=Phase.RESERVE, transfers=(escrow,)))
    journal.append(Transaction(id="b2.in", kind="bill.in", phase=Phase.SETTLE, ref="b2"))
    bring("b3", "world:bill", 500)
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
    third, second, first = iter_recent_plays(journal)
    assert (third.play_id, third.end_entry, third.payout_cents, third.credit_after_cents) == (
        "p3",
        None,
        None,
        None,
    )
    assert second.added_cents_by_source == {"world:bill": 2500, "world:voucher_in:cashable": 300}
    assert (second.bet_cents, second.payout_cents) == (5, 10)
    assert (second.credit_before_cents, second.credit_after_cents) == (100, 105)
    assert len(second.step_entries) == 60
    assert [step.record["choice"] for step in second.shown_steps] == list(range(10, 60))
    assert second.outcome == {"display": {"step": 59}}
    assert first.added_cents_by_source == {"world:bill": 500}
    assert first.outcome == {"display": {"stops": [1]}}
    assert [p.play_id for p in iter_recent_plays(journal, 2)] == ["p3", "p2"]


@pytest.mark.requirement("E-06")
def test_only_the_last_four_digits_of_a_validation_number_are_shown():
    assert mask_validation_number("001234567890123456") == "**************3456"
    assert mask_validation_number("12") == "12"


@pytest.mark.requirement("E-01")
def test_a_recalled_bet_includes_stakes_added_during_the_play(journal):
    bill = Transfer("world:bill", CREDIT, 100)
    journal.append(Transaction(id="bill", kind="bill.in", transfers=(bill,)))
    play(journal, 1, steps=1, raised_cents=7)
    (recalled,) = iter_recent_plays(journal)
    assert (recalled.bet_cents, recalled.credit_after_cents) == (5 + 7, 100 - 5 - 7 + 10)
