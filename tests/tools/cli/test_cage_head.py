"""An older ticket ledger cannot hide payments of the cage, because both media store the head of the ledger."""

import os
import shutil
from pathlib import Path

import pytest

from egm.errors import OperatorError
from egm.testing.machine import MachineRig
from egm.tickets.cage import TicketCage
from egm.tickets.copies import TICKET_DATABASE_FILE_NAME
from egm.tickets.ledger_access import open_machine_ledger, read_machine_key
from egm.tickets.model import TicketState
from egm.tickets.move_log import EMPTY_LEDGER_END
from egm.tickets.move_log import MOVE_LOG_FILE_NAME as LOG_NAME
from egm.tickets.redemption import TicketRefusal
from egm.tickets.restoration import restore_ticket_ledger
from egm.tickets.store import (
    LEDGER_HEAD_FILE_NAME,
    LEDGER_HEAD_MAC_PURPOSE,
    TicketStore,
    encode_head,
    read_ledger_head,
)
from meters import open_view
from meters.storage import DiskStorage
from tools.audit.tickets import find_ticket_ledger_error
from tools.cli.cage import open_cage


@pytest.fixture
def paid(tmp_path):
    """The number of a ticket that the cage has paid, and the ledger files from before the payment."""
    rig = MachineRig(tmp_path, devices=("printer",)).boot().insert(2000)
    number = rig.cash_out_ticket()
    rig.close()
    files = (tmp_path / TICKET_DATABASE_FILE_NAME, tmp_path / "second" / LOG_NAME)
    before = {path: path.read_bytes() for path in files}
    with open_machine_ledger(tmp_path, read_only=False) as store:
        assert not isinstance(TicketCage(store, rig.clock, "Luc").pay_ticket(number), TicketRefusal)
        store.merge_write_ahead_log()
    return number, before, rig


def put_back(before):
    for path, data in before.items():
        path.write_bytes(data)


@pytest.mark.requirement("H-07", "A-05")
@pytest.mark.parametrize("lost", [None, LEDGER_HEAD_FILE_NAME, f"second/{LEDGER_HEAD_FILE_NAME}"])
def test_an_older_ledger_without_the_cages_payment_is_rejected_by_machine_and_cage(
    paid, tmp_path, monkeypatch, lost
):
    number, before, rig = paid
    put_back(before)
    if lost is not None:
        (tmp_path / lost).unlink()
    monkeypatch.setattr("tools.cli.cage.load_roster", lambda *_: None)
    monkeypatch.setattr("tools.cli.cage.authenticate_for", lambda *_: None)
    with (
        pytest.raises(
            OperatorError, match="it was replaced by an older ledger or by that of another machine"
        ),
        open_cage(tmp_path, None, "Luc", "", rig.clock) as cage,
    ):
        cage.pay_ticket(number)
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert (
        "it was replaced by an older ledger or by that of another machine"
        in restarted.machine.active_faults["ticket_ledger"]["detail"]
    )
    restarted.offer_ticket(number)
    assert (restarted.hands.orders[-1][0], restarted.credit_cents) == ("return", 0)


@pytest.mark.requirement("A-05")
@pytest.mark.parametrize("medium", ["first", "second"])
def test_an_older_or_lost_ledger_on_one_medium_loses_no_payment(paid, tmp_path, medium):
    number, before, _ = paid
    [path] = [path for path in before if (path.parent.name == "second") == (medium == "second")]
    path.write_bytes(before[path])
    (path.parent / LEDGER_HEAD_FILE_NAME).unlink()
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert restarted.machine.active_faults == {}
    assert restarted.ticket_store.require_ticket(number).state is TicketState.REDEEMED
    assert (path.parent / LEDGER_HEAD_FILE_NAME).exists()


HEADS = (LEDGER_HEAD_FILE_NAME, f"second/{LEDGER_HEAD_FILE_NAME}")


@pytest.mark.requirement("H-07", "A-05")
def test_a_ledger_without_its_head_on_both_media_needs_a_restore_by_two_persons(paid, tmp_path, monkeypatch):
    """Only ledger and head record payments of the cage; with old copies of both, no ticket may be paid again."""
    number, before, rig = paid
    for path in [*tmp_path.glob(f"{TICKET_DATABASE_FILE_NAME}*"), *(tmp_path / name for name in HEADS)]:
        path.unlink()
    put_back(before)
    monkeypatch.setattr("tools.cli.cage.load_roster", lambda *_: None)
    monkeypatch.setattr("tools.cli.cage.authenticate_for", lambda *_: None)
    for _ in range(2):  # a refusal writes no head
        with (
            pytest.raises(OperatorError, match=r"missing on both media \(tickets.head\).*egm ticket restore"),
            open_cage(tmp_path, None, "Luc", "", rig.clock) as cage,
        ):
            cage.pay_ticket(number)
    assert "tickets.head" in find_ticket_ledger_error(tmp_path, tmp_path / "second")
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert "egm ticket restore" in restarted.machine.active_faults["ticket_ledger"]["detail"]
    assert not any((tmp_path / name).exists() for name in HEADS)
    restarted.offer_ticket(number)
    assert (restarted.hands.orders[-1][0], restarted.credit_cents) == ("return", 0)
    key = restarted.journal.derive_key(LEDGER_HEAD_MAC_PURPOSE)
    restarted.close()
    second = tmp_path / "second"
    restore_ticket_ledger(
        tmp_path,
        second,
        key,
        persons=("1", "2"),
        reason="seen",
        action_time=rig.clock.wall,
        find_redemption=lambda _: None,
    )
    last = MachineRig(tmp_path, devices=("printer",)).boot()
    assert last.machine.active_faults == {}
    assert all((tmp_path / name).exists() for name in HEADS)
    last.close()
    assert find_ticket_ledger_error(tmp_path, second) == ""


@pytest.mark.requirement("A-05")
def test_the_head_is_written_with_the_ledger_and_a_lost_copy_is_written_again(tmp_path):
    rig = MachineRig(tmp_path, devices=("printer",)).boot()
    assert all((tmp_path / name).exists() for name in HEADS)
    rig.insert(2000).cash_out_ticket()
    rig.close()
    for lost in HEADS:
        (tmp_path / lost).unlink()
        restarted = MachineRig(tmp_path, devices=("printer",)).boot()
        assert restarted.machine.active_faults == {}
        restarted.close()
        assert (tmp_path / lost).read_bytes() == (tmp_path / LEDGER_HEAD_FILE_NAME).read_bytes()
        assert find_ticket_ledger_error(tmp_path, tmp_path / "second") == ""


def test_after_the_next_start_the_journal_also_records_what_the_cage_paid(paid, tmp_path):
    """Ledger and heads are old copies that match; the journal has the newer head since the machine's last start."""
    _, before, _ = paid
    MachineRig(tmp_path, devices=("printer",)).boot().close()
    for path in [*tmp_path.glob(f"{TICKET_DATABASE_FILE_NAME}*"), *(tmp_path / name for name in HEADS)]:
        path.unlink()
    put_back(before)
    key = read_machine_key(tmp_path).derive_key(LEDGER_HEAD_MAC_PURPOSE)
    read_ledger_head(DiskStorage(), tmp_path, tmp_path / "second", key).write(encode_head(EMPTY_LEDGER_END))
    assert "it was replaced by an older ledger or by that of another machine" in find_ticket_ledger_error(
        tmp_path, tmp_path / "second"
    )
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert (
        "it was replaced by an older ledger or by that of another machine"
        in restarted.machine.active_faults["ticket_ledger"]["detail"]
    )
    restarted.close()


def test_a_lost_ledger_with_its_head_present_is_not_treated_as_a_first_start(paid, tmp_path):
    for path in (tmp_path / TICKET_DATABASE_FILE_NAME, tmp_path / "second" / LOG_NAME):
        path.unlink()
    with open_view(tmp_path), pytest.raises(OperatorError, match="no ticket ledger"):
        TicketStore.open(tmp_path, key=b"x" * 32, second_folder=tmp_path / "second")


def test_a_damaged_head_stops_tickets_until_the_ledger_is_restored(paid, tmp_path):
    number, _, rig = paid
    for folder in (tmp_path, tmp_path / "second"):
        data = (folder / LEDGER_HEAD_FILE_NAME).read_bytes()
        (folder / LEDGER_HEAD_FILE_NAME).write_bytes(data[:-3] + b"x" + data[-2:])
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert "cannot be read" in restarted.machine.active_faults["ticket_ledger"]["detail"]
    key = restarted.journal.derive_key(LEDGER_HEAD_MAC_PURPOSE)
    restarted.close()
    second = tmp_path / "second"
    restore_ticket_ledger(
        tmp_path,
        second,
        key,
        persons=("1", "2"),
        reason="seen",
        action_time=rig.clock.wall,
        find_redemption=lambda _: None,
    )
    last = MachineRig(tmp_path, devices=("printer",)).boot()
    assert last.machine.active_faults == {}
    assert last.ticket_store.require_ticket(number).state is TicketState.REDEEMED
    last.close()


class PowerCutError(Exception):
    """The power fails here."""


def fail_after(monkeypatch, operation_count):
    """Let the power fail after this number of operations that change the names of files."""
    done = [0]

    def cut_after(operation):
        def run(*arguments, **options):
            result = operation(*arguments, **options)
            done[0] += 1
            if done[0] == operation_count:
                raise PowerCutError
            return result

        return run

    for owner, name in (
        (Path, "replace"),
        (Path, "unlink"),
        (Path, "rename"),
        (os, "link"),
        (shutil, "copyfile"),
    ):
        monkeypatch.setattr(owner, name, cut_after(getattr(owner, name)))


@pytest.mark.requirement("H-07", "A-05")
def test_a_restoration_that_a_power_cut_interrupts_can_be_repeated_without_losing_a_payment(
    paid, tmp_path, monkeypatch
):
    number, _, rig = paid
    key = read_machine_key(tmp_path, tmp_path / "second").derive_key(LEDGER_HEAD_MAC_PURPOSE)

    def restore(folder):
        restore_ticket_ledger(
            folder,
            folder / "second",
            key,
            persons=("1", "2"),
            reason="seen",
            action_time=rig.clock.wall,
            find_redemption=lambda _: None,
        )

    for operation_count in range(1, 100):
        folder = tmp_path.with_name(f"{tmp_path.name}-cut-{operation_count}")
        shutil.copytree(tmp_path, folder)
        with monkeypatch.context() as cut:
            fail_after(cut, operation_count)
            try:
                restore(folder)
            except PowerCutError:
                was_cut = True
            else:
                was_cut = False
        restore(folder)
        with open_machine_ledger(folder) as store:
            assert store.require_ticket(number).state is TicketState.REDEEMED, operation_count
        if not was_cut:
            break
    assert operation_count > 3
