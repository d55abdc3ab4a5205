"""Tickets with a wrong clock, a damaged ledger or a payment at the cage: no money is lost, and none is created."""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from egm.devices.interface import PrintState
from egm.errors import OperatorError
from egm.integrity.clock_watch import create_clock_watch
from egm.kernel.events import EventType, State
from egm.kernel.keys import KernelKey
from egm.money.disputed_amounts import read_disputed_amounts_by_id
from egm.money.keys import MoneyKey
from egm.people import Person, Role, Roster
from egm.testing.clearing import clear_with_decisions
from egm.testing.machine import OPENED_RIGS, MachineRig
from egm.tickets.cage import TicketCage
from egm.tickets.copies import TICKET_DATABASE_FILE_NAME
from egm.tickets.desk import TicketDesk
from egm.tickets.model import TicketState
from egm.tickets.move_log import MOVE_LOG_FILE_NAME as LOG_NAME
from egm.tickets.move_log import compute_row_digest
from egm.tickets.proof import NUMBER_COMMITMENT_PURPOSE as NUMBERS
from egm.tickets.proof import combine_proofs, compute_commitment, list_accepted_redemptions, read_proofs
from egm.tickets.record import TicketAction
from egm.tickets.restoration import restore_ticket_ledger
from egm.tickets.store import LEDGER_HEAD_MAC_PURPOSE, TicketStore, encode_head
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli import main

#: Staff numbers of the machine room's supervisor, technician and manager.
SUPERVISOR, TECHNICIAN, MANAGER = "2", "4", "5"


@pytest.fixture
def rig(tmp_path):
    """A machine whose journal the independent audit passes, whatever has happened to its tickets."""
    yield MachineRig(tmp_path, devices=("printer",)).boot()
    for opened_rig in list(OPENED_RIGS):
        opened_rig.close()
    with open_view(tmp_path) as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []


def restart(rig, tmp_path, **changes):
    """Restart the machine on its remaining memory."""
    rig.close()
    return MachineRig(tmp_path, devices=("printer",), **changes).boot()


def watch(rig):
    """Run the clock watch once."""
    (watching,) = create_clock_watch(
        SimpleNamespace(clock=rig.clock, engine=rig.engine, submit_event=rig.submit_event)
    )
    watching.check_clock()


def take(rig, digits):
    rig.offer_ticket(digits)
    assert rig.hands.orders[-1][0] == "stack", rig.notice
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()


# ---------------------------------------------------------------- the clock
@pytest.mark.requirement("H-10", "E-08")
@pytest.mark.parametrize("year", [1970, 2038], ids=["back", "ahead"])
def test_while_the_clock_is_in_doubt_no_ticket_is_issued_or_expired(rig, year):
    number = rig.insert(2000).cash_out_ticket()
    right = rig.clock.wall
    rig.clock.wall = right.replace(year=year)
    watch(rig)
    assert "clock_doubted" in rig.machine.active_faults
    assert not rig.machine.is_tilted  # games go on
    take(rig, number)
    assert rig.credit_cents == 2000
    rig.engine.handle(EventType.CASH_OUT)
    assert (rig.state, len(rig.hands.jobs)) == (State.HANDPAY, 1)  # money by hand, no wrong date on paper
    rig.clock.wall = right + timedelta(minutes=3)
    watch(rig)
    assert "clock_doubted" not in rig.machine.active_faults  # it shows again what has really passed


def test_a_person_confirms_a_set_clock(rig):
    rig.clock.wall += timedelta(days=20)
    watch(rig)
    signed = {"form": "clock", "person": TECHNICIAN, "persons": (TECHNICIAN,)}
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    rig.engine.handle(EventType.CLOCK_CONFIRMED, date="20260101", **signed)
    assert rig.notice == "refused.date_is_the_clocks"
    rig.engine.handle(EventType.CLOCK_CONFIRMED, date="20260121", **signed | {"persons": ("1",)})
    assert rig.notice == "refused.authorised"
    assert "clock_doubted" in rig.machine.active_faults
    rig.engine.handle(EventType.CLOCK_CONFIRMED, date="20260121", **signed)
    (record,) = rig.records("clock.confirmed")
    assert (record["person"], record["why"]) == (TECHNICIAN, "changed")
    assert rig.machine.active_faults.keys().isdisjoint({"clock_doubted"})
    assert rig.machine.timekeeper.is_clock_trusted


def test_a_clock_of_1970_issues_no_ticket_until_it_is_set(tmp_path):
    rig = MachineRig(tmp_path, devices=("printer",)).boot()
    number = rig.insert(2000).cash_out_ticket()
    rig.insert(500)
    good = rig.clock.wall
    rig.close()
    restarted = MachineRig(tmp_path, devices=("printer",), wall_time=datetime(1970, 1, 1, tzinfo=UTC)).boot()
    watch(restarted)
    assert restarted.machine.memory.get(KernelKey.CLOCK_DOUBT)["why"] == "before_made"
    take(restarted, number)
    assert restarted.credit_cents == 2500
    restarted.clock.wall = good + timedelta(minutes=5)  # the first time server
    watch(restarted)
    assert restarted.machine.timekeeper.is_clock_trusted
    number = restarted.cash_out_ticket()
    assert restarted.ticket_store.require_ticket(number).ticket.issued_at == good + timedelta(minutes=5)


# ---------------------------------------------------------------- the cage was quicker
@pytest.mark.requirement("H-07", "H-08", "D-02")
def test_a_ticket_released_and_paid_at_the_cage_is_not_credited_when_it_is_stacked_after_all(rig):
    number = rig.insert(10_000).cash_out_ticket()
    rig.offer_ticket(number)
    cage = TicketCage(rig.ticket_store, rig.clock, "Luc", second_person="Mia")
    cage.release_locked_ticket(number, "the machine is stuck")
    cage.pay_ticket(number)
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()
    assert (rig.credit_cents, rig.state) == (0, State.TILT)
    (disputed,) = read_disputed_amounts_by_id(rig.machine).values()
    assert (disputed.amount_min_cents, disputed.amount_max_cents) == (0, 10_000)
    assert rig.journal.meters().values["vouchers_disputed"] == 1
    ruling = {"form": "disputed", "disputed": disputed.id, "amount_cents": 0, "reason": "paid at the cage"}
    both = {"person": SUPERVISOR, "persons": (SUPERVISOR, MANAGER)}
    rig.engine.handle(EventType.RULE_ON_DISPUTED_AMOUNT, **ruling, **both)
    assert rig.state is State.IDLE
    assert rig.ticket_store.require_ticket(number).moves[-1].actor == "cage:Luc"


def test_a_ticket_credited_and_paid_at_the_cage_is_a_technicians_tilt(rig, tmp_path):
    number = rig.insert(10_000).cash_out_ticket()
    rig.offer_ticket(number)
    rig.machine.find_installed(TicketDesk).commit_redemption = lambda _: (_ for _ in ()).throw(
        OSError("the power is gone")
    )
    with pytest.raises(OSError, match="gone"):
        rig.escrow_ledger.credit_stacked_paper()
    cage = TicketCage(rig.ticket_store, rig.clock, "Luc", second_person="Mia")
    cage.release_locked_ticket(number, "the machine is dead")
    cage.pay_ticket(number)
    rebooted = restart(rig, tmp_path)
    assert rebooted.credit_cents == 10_000
    assert rebooted.machine.active_faults["ticket_contradiction"]["cleared_by"] == "technician"
    assert rebooted.state is State.TILT
    assert len(rebooted.records("tickets.contradicted")) == 1
    assert len(restart(rebooted, tmp_path).records("tickets.contradicted")) == 1
    assert "ticket_ledger" not in rebooted.machine.active_faults


# ---------------------------------------------------------------- the ledger is forged, lost or put back
@pytest.mark.requirement("G-16")
def test_a_forged_ticket_is_not_credited_and_tickets_stop(rig, tmp_path):
    rig.insert(1000).cash_out_ticket()
    rows = [list(row) for row in rig.ticket_store._copies.run_sql("SELECT * FROM moves ORDER BY place")][-2:]
    move_number, before = rig.ticket_store.last_move
    for row in rows:
        move_number += 1
        row[0], row[1] = move_number, "919999999999990001"
        row[8] = json.dumps(json.loads(row[8])).replace("1000", "999999").replace("cashout", "forged")
        row[9] = before = compute_row_digest(b"", before, tuple(row[:9]))
    rig.close()
    with (tmp_path / "second" / LOG_NAME).open("ab") as log:
        log.write(json.dumps(rows).encode() + b"\n")
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert (
        "move 3 was altered after it was written"
        in restarted.machine.active_faults["ticket_ledger"]["detail"]
    )
    assert "egm ticket restore" in restarted.machine.active_faults["ticket_ledger"]["detail"]
    restarted.offer_ticket("919999999999990001")
    assert restarted.hands.orders[-1][0] == "return"
    restarted.insert(2000)
    restarted.engine.handle(EventType.CASH_OUT)
    assert (restarted.state, restarted.hands.jobs) == (State.HANDPAY, [])


@pytest.mark.requirement("G-16")
def test_a_ticket_without_a_journal_entry_is_refused(rig):
    """A program with the key enters a ticket without a cash-out."""
    desk = rig.machine.find_installed(TicketDesk)
    ticket = desk.prepare_ticket("made-up", 5000, denomination_cents=1)
    desk.record_printed(ticket.number)
    rig.offer_ticket(ticket.number)
    assert (rig.hands.orders[-1][0], rig.notice) == ("return", "ticket_refused.not_ours")
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    assert (
        "the journal says 0 cents, the ticket ledger 5000"
        in rig.machine.active_faults["ticket_ledger"]["detail"]
    )


@pytest.mark.requirement("G-16")
def test_no_ticket_is_taken_while_the_ticket_ledger_is_in_fault(rig):
    number = rig.insert(1000).cash_out_ticket()
    rig.engine.handle(EventType.FAULT_RAISED, code="ticket_ledger", detail="planted")
    assert rig.state is State.IDLE
    rig.offer_ticket(number)
    assert (rig.hands.orders[-1][0], rig.notice) == ("return", "ticket_returned")
    assert rig.ticket_store.require_ticket(number).state is TicketState.ISSUED


@pytest.mark.requirement("A-02")
def test_a_lost_ledger_is_not_replaced_and_tickets_are_proved_from_the_journal(rig, tmp_path):
    number = rig.insert(10_000).cash_out_ticket()
    rig.close()
    for path in (*tmp_path.glob("tickets.*"), *(tmp_path / "second").glob("tickets.*")):
        path.unlink()
    for _ in range(2):
        restarted = MachineRig(tmp_path, devices=("printer",)).boot()
        assert "no ticket ledger here" in restarted.machine.active_faults["ticket_ledger"]["detail"]
        assert not list(tmp_path.glob("tickets.sqlite"))
        restarted.offer_ticket(number)
        assert restarted.hands.orders[-1][0] == "return"
        key = restarted.journal.derive_key(NUMBERS)
        proof = combine_proofs(read_proofs(restarted.journal, key, number))
        assert (proof.amount_cents, proof.kind, proof.acceptance_entry_id) == (10_000, "cashable", "")
        assert (
            combine_proofs(read_proofs(restarted.journal, key, number[:-1] + str(9 - int(number[-1]))))
            is None
        )
        restarted.close()


@pytest.mark.parametrize("state", [PrintState.PENDING, PrintState.PRINTING, PrintState.BARCODE_DONE])
def test_a_ledger_lost_with_a_ticket_in_the_printer_pays_the_player_by_hand(rig, tmp_path, state):
    """If the printer was commanded, the player may have the paper, and staff must decide."""
    rig.insert(10_000)
    rig.engine.handle(EventType.CASH_OUT)
    for reported_state in (PrintState.PRINTING, PrintState.BARCODE_DONE):
        if state is not PrintState.PENDING and (
            reported_state is PrintState.PRINTING or state is reported_state
        ):
            rig.report_print_state(reported_state)
    rig.close()
    for path in (*tmp_path.glob("tickets.*"), *(tmp_path / "second").glob("tickets.*")):
        path.unlink()
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert (
        restarted.device_ledgers.print_ledger.find_open() is None
    )  # nor does it fail, at each poll of the driver
    out_cents = restarted.journal.balance_cents("out:voucher:cashable")
    by_hand = restarted.machine.memory.get(MoneyKey.HANDPAY)
    if state is PrintState.BARCODE_DONE:
        assert (out_cents, by_hand, restarted.state) == (10_000, None, State.IDLE)
    elif state is PrintState.PRINTING:
        assert (out_cents, by_hand, restarted.state) == (0, None, State.TILT)
        [disputed] = read_disputed_amounts_by_id(restarted.machine).values()
        assert (disputed.amount_min_cents, disputed.amount_max_cents) == (0, 10_000)
    else:
        assert (out_cents, by_hand["amount_cents"], restarted.state) == (0, 10_000, State.HANDPAY)


def test_a_ticket_ledger_restored_from_an_older_copy_is_detected(rig, tmp_path):
    number = rig.insert(10_000).cash_out_ticket()
    rig.close()
    names = (tmp_path / TICKET_DATABASE_FILE_NAME, tmp_path / "second" / LOG_NAME)
    before = {path: path.read_bytes() for path in names}
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    TicketCage(restarted.ticket_store, restarted.clock, "Luc").pay_ticket(number)
    restarted.engine.handle(EventType.DOOR_OPENED, door="main")
    restarted.engine.handle(EventType.DOOR_CLOSED, door="main")
    restarted.close()
    for path, data in before.items():
        path.write_bytes(data)
    back = MachineRig(tmp_path, devices=("printer",)).boot()
    assert (
        "it was replaced by an older ledger or by that of another machine"
        in back.machine.active_faults["ticket_ledger"]["detail"]
    )
    verified = CliRunner().invoke(main, ["audit", "verify", "--state", str(tmp_path)])
    assert verified.exit_code == 1
    assert "it was replaced by an older ledger or by that of another machine" in " ".join(
        verified.output.split()
    )
    assert back.ticket_store.require_ticket(number).state is TicketState.ISSUED
    back.offer_ticket(number)
    assert back.hands.orders[-1][0] == "return"


def test_the_audit_compares_the_ticket_ledger_with_the_journal(rig, tmp_path):
    rig.insert(2000).cash_out_ticket()
    rig.close()
    verified = CliRunner().invoke(main, ["audit", "verify", "--state", str(tmp_path)])
    assert verified.exit_code == 0, verified.output
    for path in (*tmp_path.glob("tickets.*"), *(tmp_path / "second").glob("tickets.*")):
        path.unlink()
    verified = CliRunner().invoke(main, ["audit", "verify", "--state", str(tmp_path)])
    assert verified.exit_code == 1
    assert "no ticket ledger here" in " ".join(verified.output.split())


# ---------------------------------------------------------------- the witness
def test_a_ticket_states_the_journal_head(rig):
    rig.insert(2000)
    head = (rig.journal.sequence, rig.journal.head_hash[:12])
    rig.cash_out_ticket()
    assert rig.hands.jobs[-1].fields["witness"] == f"JOURNAL {head[0]}:{head[1]}"


# ---------------------------------------------------------------- restored by two people
def restore_ledger(rig, tmp_path, persons=(SUPERVISOR, MANAGER)):
    """Restore the ledger as ``egm ticket restore`` does, with the machine stopped."""
    key, numbers = rig.journal.derive_key(LEDGER_HEAD_MAC_PURPOSE), rig.journal.derive_key(NUMBERS)
    with open_view(tmp_path) as view:
        taken = list_accepted_redemptions((view,))
    return restore_ticket_ledger(
        tmp_path,
        tmp_path / "second",
        key,
        persons=persons,
        reason="looked into",
        action_time=rig.clock.wall,
        find_redemption=lambda number: taken.get(compute_commitment(numbers, number)),
    )


def ledger_files(tmp_path):
    return {
        path: path.read_bytes()
        for path in (tmp_path / TICKET_DATABASE_FILE_NAME, tmp_path / "second" / LOG_NAME)
    }


def put_back(files):
    for path, data in files.items():
        path.write_bytes(data)


@pytest.mark.requirement("H-07")
@pytest.mark.parametrize("came_to", ["reserved", "issued", "pending"])
def test_a_redeemed_ticket_is_worthless_in_a_restored_older_ledger(rig, tmp_path, came_to):
    """After the loss of a disk, the ledger is restored from an old copy; tickets redeemed since are in the box."""
    desk = rig.machine.find_installed(TicketDesk)
    files = {}
    desk_printed = desk.record_printed

    def printed(number):
        files["reserved"] = ledger_files(tmp_path)
        return desk_printed(number)

    desk.record_printed = printed
    number = rig.insert(10_000).cash_out_ticket()
    rig = restart(rig, tmp_path)
    files["issued"] = ledger_files(tmp_path)
    rig.offer_ticket(number)
    files["pending"] = ledger_files(tmp_path)
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()
    rig.close()
    put_back(files[came_to])
    restore_ledger(rig, tmp_path)
    rebooted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert rebooted.machine.active_faults == {}
    assert rebooted.ticket_store.require_ticket(number).state is TicketState.REDEEMED
    rebooted.offer_ticket(number)
    assert (rebooted.hands.orders[-1][0], rebooted.notice) == ("return", "ticket_refused.redeemed")


@pytest.mark.requirement("H-07")
def test_a_ledger_from_before_its_replacement_is_recognised(rig, tmp_path):
    """Restoring old files requires neither the key nor authorised persons."""
    rig.close()
    restore_ledger(rig, tmp_path)
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    number = restarted.insert(2000).cash_out_ticket()
    restarted.close()
    before = ledger_files(tmp_path)
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    take(restarted, number)
    restarted.close()
    restore_ledger(restarted, tmp_path)
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert restarted.machine.active_faults == {}
    restarted.close()
    put_back(before)
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert (
        "it was replaced by an older ledger or by that of another machine"
        in restarted.machine.active_faults["ticket_ledger"]["detail"]
    )
    restarted.offer_ticket(number)
    assert (restarted.hands.orders[-1][0], restarted.credit_cents) == ("return", 2000)


# ---------------------------------------------------------------- the cage holds them together too
PIN = "8053"


def pay_at_the_cage(tmp_path, number, monkeypatch, now):
    monkeypatch.setattr("tools.cli.commands.ticket.SystemClock", lambda: now)
    arguments = ["ticket", "pay", number, "--person", SUPERVISOR, "--state", str(tmp_path)]
    result = CliRunner().invoke(main, arguments, input=f"{PIN}\n")
    return result.exit_code, " ".join(result.output.split())


@pytest.mark.requirement("H-07")
def test_the_cage_releases_no_ticket_that_the_journal_has_credited(rig, tmp_path, monkeypatch):
    """The power fails between the credit and the redemption; the machine stays off, and the player has the credit."""
    roster = Roster.load(tmp_path / "people.json")
    for staff, role in ((MANAGER, Role.MANAGER), (SUPERVISOR, Role.SUPERVISOR)):
        roster = roster.enrol_person(
            Person(staff, f"P{staff}", role), PIN, changed_by="", changed_at=rig.clock.wall
        )
    number = rig.insert(2000).cash_out_ticket()
    rig.offer_ticket(number)
    rig.machine.find_installed(TicketDesk).commit_redemption = lambda _: (_ for _ in ()).throw(
        OSError("the power is gone")
    )
    with pytest.raises(OSError, match="gone"):
        rig.escrow_ledger.credit_stacked_paper()
    rig.close()
    monkeypatch.setattr("tools.cli.commands.ticket.SystemClock", lambda: rig.clock)
    persons = ("--person", SUPERVISOR, "--second", MANAGER)
    arguments = [
        "ticket",
        "release",
        number,
        *persons,
        "--state",
        str(tmp_path),
        "--why",
        "the machine is dead",
    ]
    result = CliRunner().invoke(main, arguments, input=f"{PIN}\n{PIN}\n")
    assert (result.exit_code, "the machine has credited this ticket" in result.output) == (1, True), (
        result.output
    )
    status, output = pay_at_the_cage(tmp_path, number, monkeypatch, rig.clock)
    assert (status, "is being redeemed by a machine" in output) == (1, True), output
    rebooted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert (rebooted.credit_cents, rebooted.machine.active_faults) == (2000, {})
    assert rebooted.ticket_store.require_ticket(number).state is TicketState.REDEEMED


@pytest.mark.requirement("H-07")
def test_the_cage_pays_nothing_from_an_older_ledger(rig, tmp_path, monkeypatch):
    roster = Roster.load(tmp_path / "people.json")
    for staff, role in ((MANAGER, Role.MANAGER), (SUPERVISOR, Role.SUPERVISOR)):
        roster = roster.enrol_person(
            Person(staff, f"P{staff}", role), PIN, changed_by="", changed_at=rig.clock.wall
        )
    number = rig.insert(2000).cash_out_ticket()
    rig.close()
    before = ledger_files(tmp_path)
    rig = MachineRig(tmp_path, devices=("printer",)).boot()
    take(rig, number)
    fresh = rig.cash_out_ticket()
    rig.close()
    after = ledger_files(tmp_path)
    put_back(before)
    status, output = pay_at_the_cage(tmp_path, number, monkeypatch, rig.clock)
    assert (status, "it was replaced by an older ledger or by that of another machine" in output) == (
        1,
        True,
    ), output
    put_back(after)
    status, output = pay_at_the_cage(tmp_path, number, monkeypatch, rig.clock)
    assert (status, "has been redeemed already" in output) == (1, True), output
    assert pay_at_the_cage(tmp_path, fresh, monkeypatch, rig.clock)[0] == 0


def test_the_cage_pays_no_ticket_without_a_journal_entry(rig, tmp_path, monkeypatch):
    """A program with the key enters a ticket; neither the machine nor the cage accepts it."""
    desk = rig.machine.find_installed(TicketDesk)
    roster = Roster.load(tmp_path / "people.json")
    for staff, role in ((MANAGER, Role.MANAGER), (SUPERVISOR, Role.SUPERVISOR)):
        roster = roster.enrol_person(
            Person(staff, f"P{staff}", role), PIN, changed_by="", changed_at=rig.clock.wall
        )
    rig.insert(2000).cash_out_ticket()
    ticket = desk.prepare_ticket("made-up", 5000, denomination_cents=1)
    desk.record_printed(ticket.number)
    status, output = pay_at_the_cage(tmp_path, ticket.number, monkeypatch, rig.clock)
    assert (status, "journal has no such ticket" in output) == (1, True), output


def test_two_persons_restore_a_forged_ledger_and_its_true_tickets_are_good(rig, tmp_path):
    number = rig.insert(10_000).cash_out_ticket()
    with pytest.raises(OperatorError, match="close every program"):
        restore_ledger(rig, tmp_path)
    rig.close()
    with (tmp_path / "second" / LOG_NAME).open("ab") as log:
        log.write(b'[[3,"919999999999990001",1,"reserve"]]\n')
    with pytest.raises(OperatorError, match="two people and a reason"):
        restore_ledger(rig, tmp_path, (MANAGER, MANAGER))
    assert restore_ledger(rig, tmp_path) == (2, "digests with this machine's key")
    rebooted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert "ticket_ledger" not in rebooted.machine.active_faults
    restoration = rebooted.records("tickets.checked")[-1]["begun"]
    assert (restoration["by"], restoration["second"], restoration["why"]) == (
        SUPERVISOR,
        MANAGER,
        "looked into",
    )
    take(rebooted, number)
    assert rebooted.credit_cents == 10_000
    assert restart(rebooted, tmp_path).machine.active_faults == {}


def test_tickets_are_issued_again_once_two_persons_have_started_a_new_ledger(rig, tmp_path):
    rig.insert(10_000).cash_out_ticket()
    rig.close()
    for path in (*tmp_path.glob("tickets.*"), *(tmp_path / "second").glob("tickets.*")):
        path.unlink()
    MachineRig(tmp_path, devices=("printer",)).boot().close()
    assert restore_ledger(rig, tmp_path) == (0, "nothing")
    rebooted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert "ticket_ledger" not in rebooted.machine.active_faults
    take(rebooted, rebooted.insert(500).cash_out_ticket())
    assert restart(rebooted, tmp_path).machine.active_faults == {}


def test_a_ledger_without_seals_is_migrated_with_its_expired_tickets(rig, tmp_path):
    number = rig.insert(10_000).cash_out_ticket()
    rig.ticket_store.record_move(number, TicketAction.EXPIRE, action_time=rig.clock.wall, actor="cage")
    rows, last = [], ""
    for row in rig.ticket_store._copies.run_sql("SELECT * FROM moves ORDER BY place"):
        last = hashlib.sha256(json.dumps([last, *row[:-1]], ensure_ascii=False).encode()).hexdigest()
        rows.append([*row[:-1], last])
    rig.close()
    for path in (*tmp_path.glob("tickets.*"), *(tmp_path / "second").glob("tickets.*")):
        path.unlink()
    (tmp_path / "tickets.log").write_text("".join(f"{json.dumps([row])}\n" for row in rows))
    assert restore_ledger(rig, tmp_path) == (3, "digests of an earlier version, which used no key")
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert restarted.ticket_store.require_ticket(number).state is TicketState.EXPIRED
    TicketCage(restarted.ticket_store, restarted.clock, "Luc", second_person="Mia").revive_expired_ticket(
        number, "the clock was wrong in March"
    )
    take(restarted, number)
    assert restarted.credit_cents == 10_000


@pytest.mark.requirement("H-07")
def test_a_ticket_paid_by_a_ruling_is_proved_to_be_redeemed(rig, tmp_path):
    """The paper is missing and the player was paid by hand; the ticket is never valid again."""
    number = rig.insert(10_000).cash_out_ticket()
    rig = restart(rig, tmp_path)
    before = ledger_files(tmp_path)
    rig.offer_ticket(number)
    rig.escrow_ledger.close_lost_paper_as_disputed("no report explains it")
    (disputed,) = read_disputed_amounts_by_id(rig.machine).values()
    ruling = {"form": "disputed", "disputed": disputed.id, "amount_cents": 10_000, "reason": "in the box"}
    both = {"person": SUPERVISOR, "persons": (SUPERVISOR, MANAGER)}
    rig.engine.handle(EventType.RULE_ON_DISPUTED_AMOUNT, **ruling, **both)
    assert (
        combine_proofs(read_proofs(rig.journal, rig.journal.derive_key(NUMBERS), number)).acceptance_entry_id
        == f"{disputed.id}.in"
    )
    rig.close()
    put_back(before)
    restore_ledger(rig, tmp_path)
    rebooted = MachineRig(tmp_path, devices=("printer",)).boot()
    rebooted.offer_ticket(number)
    assert (rebooted.hands.orders[-1][0], rebooted.notice) == ("return", "ticket_refused.redeemed")


# ---------------------------------------------------------------- the journal is put back, the ledger is not
def journal_files(tmp_path):
    """Return all files on both media except the ticket ledger."""
    files = [path for path in tmp_path.rglob("*") if path.is_file() and not path.name.startswith("tickets.")]
    return {path: path.read_bytes() for path in files}


def put_journal_back(tmp_path, files):
    for path in journal_files(tmp_path):
        path.unlink()
    put_back(files)


@pytest.mark.requirement("A-02", "H-07")
@pytest.mark.parametrize("way", ["ticket", "ticket, no head", "hand"])
def test_with_a_shortened_journal_nothing_is_played_or_paid(tmp_path, way):
    """Both copies are set back to before a payment, with heads that this machine has signed."""
    rig = MachineRig(tmp_path, devices=("printer",) if "ticket" in way else ()).boot().insert(10000)
    rig.close()
    before = journal_files(tmp_path)
    rig = MachineRig(tmp_path, devices=("printer",) if "ticket" in way else ()).boot()
    if way == "hand":
        rig.engine.handle(EventType.CASH_OUT)
        rig.engine.handle(EventType.KEY_TURNED, key="attendant")
        assert rig.records("handpay.paid")
    else:
        number = rig.cash_out_ticket()
    rig.close()
    put_journal_back(tmp_path, before)
    if way == "ticket, no head":  # an old head of the ledger is put back too
        with TicketStore.open(
            tmp_path, key=rig.journal.derive_key(LEDGER_HEAD_MAC_PURPOSE), second_folder=tmp_path / "second"
        ) as store:
            store._head.write(encode_head(store.last_move))
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert restarted.credit_cents == 10000
    detail = restarted.machine.active_faults["journal_short"]["detail"]
    assert ("over 10000 cents" in detail) == (way == "ticket, no head")
    assert restarted.state is State.TILT
    restarted.engine.handle(EventType.PLAY)
    restarted.engine.handle(EventType.CASH_OUT)
    restarted.engine.handle(EventType.KEY_TURNED, key="attendant")
    restarted.engine.handle(EventType.DOOR_OPENED, door="main")
    restarted.engine.handle(EventType.DOOR_CLOSED, door="main")
    assert (restarted.state, restarted.credit_cents, restarted.hands.jobs) == (State.TILT, 10000, [])
    assert not restarted.records("game.start")
    assert not restarted.records("handpay.pending")
    restarted.close()
    clear_with_decisions(tmp_path)
    cleared = MachineRig(tmp_path, devices=("printer",)).boot()
    assert "journal_short" not in cleared.machine.active_faults
    assert cleared.credit_cents == 10000
    if way != "hand":  # the ticket's amount is owed again, and the ticket is no longer valid
        cleared.offer_ticket(number)
        assert (cleared.hands.orders[-1][0], cleared.notice) == ("return", "ticket_refused.not_ours")


@pytest.mark.requirement("A-05", "H-07")
def test_a_ticket_of_a_cleared_journal_remains_good(tmp_path):
    rig = MachineRig(tmp_path, devices=("printer",)).boot().insert(10000)
    number = rig.cash_out_ticket()
    rig.close()
    clear_with_decisions(tmp_path)
    cleared = MachineRig(tmp_path, devices=("printer",)).boot()
    cleared.offer_ticket(number)
    cleared.escrow_ledger.credit_stacked_paper()
    assert cleared.credit_cents == 10000


def test_a_completely_restored_journal_is_accepted(rig, tmp_path):
    rig.insert(1000).cash_out_ticket()
    rig.close()
    files = journal_files(tmp_path)
    put_journal_back(tmp_path, files)
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    assert not {"journal_short", "ticket_ledger"} & restarted.machine.active_faults.keys()
    assert restarted.state is State.IDLE
