"""After an authorised clear, the journal counts from one again; identifiers that others have stored must not recur."""

import pytest

from egm.config.cabinet_file import TicketValidator
from egm.host.ticket_interface import HostTicketInterface
from egm.kernel.events import EventType, State
from egm.money.host_money import HostMoney
from egm.money.keys import MoneyKey
from egm.testing.clearing import build_paid_decision, clear_with_decisions
from egm.testing.machine import MachineRig, write_undeclared_entry
from egm.tickets.copies import TICKET_DATABASE_FILE_NAME
from egm.tickets.desk import TicketDesk
from egm.tickets.model import TicketState
from egm.tickets.move_log import MOVE_LOG_FILE_NAME as LOG_NAME


def clear_and_boot(rig: MachineRig, folder, **options) -> MachineRig:
    """Clear the machine's memory as ``egm audit clear`` does, and start the machine again."""
    credit_cents = rig.credit_cents
    rig.close()
    clear_with_decisions(
        folder, **({"credit_1_cashable": build_paid_decision(credit_cents)} if credit_cents else {})
    )
    return MachineRig(folder, devices=("printer",), **options).boot()


def number_of(entry_id: str) -> int:
    return int(entry_id.split("-")[1])


def advance_journal_to(rig: MachineRig, sequence: int) -> None:
    """Post entries until the next entry has the number ``sequence``."""
    while rig.journal.sequence < sequence - 1:
        write_undeclared_entry(rig.machine, "test.time_passes", details={})
    assert rig.journal.sequence == sequence - 1


@pytest.fixture
def rig(tmp_path):
    return MachineRig(tmp_path, devices=("printer",)).boot()


@pytest.mark.requirement("A-05", "H-05", "H-06")
def test_a_cash_out_never_returns_a_ticket_from_before_a_clear(rig, tmp_path):
    rig.insert(2000)
    advance_journal_to(rig, 30)
    old = rig.cash_out_ticket()
    sequence = number_of(rig.ticket_store.find_ticket(old).issue_id)
    restarted = clear_and_boot(rig, tmp_path).insert(500)
    advance_journal_to(restarted, sequence)
    new = restarted.cash_out_ticket()
    assert new != old
    assert restarted.ticket_store.find_ticket(new).ticket.amount_cents == 500
    assert restarted.ticket_store.find_ticket(old).state is TicketState.ISSUED
    restarted.close()


@pytest.mark.requirement("A-05", "H-07", "H-08")
def test_a_ticket_from_before_a_clear_is_redeemed_once(rig, tmp_path):
    tickets = []
    for cents in (2000, 1000):
        rig.insert(cents)
        tickets.append(rig.cash_out_ticket())
    advance_journal_to(rig, 40)
    rig.offer_ticket(tickets[0])
    sequence = number_of(rig.machine.memory.get(MoneyKey.PAPER_BEING_STACKED)["id"])
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()
    restarted = clear_and_boot(rig, tmp_path)
    advance_journal_to(restarted, sequence)
    restarted.offer_ticket(tickets[1])
    restarted.escrow_ledger.credit_stacked_paper()
    restarted.escrow_ledger.close_confirmed_paper()
    assert restarted.credit_cents == 1000
    restarted.offer_ticket(tickets[1])
    assert restarted.notice == "ticket_refused.redeemed"
    assert restarted.state is State.IDLE
    restarted.close()


def test_ids_differ_after_every_clear(rig, tmp_path):
    ids = []
    for _ in range(3):
        advance_journal_to(rig, 50)
        ids.append(rig.machine.fresh_id("play"))
        rig = clear_and_boot(rig, tmp_path)
    assert all(play_id.startswith("play-50-") for play_id in ids)
    assert len(set(ids)) == 3
    assert {number_of(play_id) for play_id in ids} == {50}


@pytest.mark.requirement("A-05", "H-09")
def test_a_host_can_read_tickets_unread_before_the_clear(tmp_path):
    def host() -> HostMoney:
        return HostMoney(ticket_validator=TicketValidator.SECURE_ENHANCED, is_online=True)

    rig = MachineRig(tmp_path, devices=("printer",), host=host()).boot()
    HostTicketInterface(rig.engine, rig.submit_event).store_enrolment(0xABCDEF, 5)
    numbers = []
    for cents in (2000, 1000, 500):
        rig.insert(cents)
        numbers.append(rig.cash_out_ticket())
    HostTicketInterface(rig.engine, rig.submit_event).mark_ticket_read(numbers[0])
    for _ in range(2):  # a clear, and another
        rig = clear_and_boot(rig, tmp_path, host=host())
        port = HostTicketInterface(rig.engine, rig.submit_event)
        assert port.find_oldest_unread_ticket().ticket.number == numbers[1]
    port.mark_ticket_read(numbers[1])
    assert port.find_oldest_unread_ticket().ticket.number == numbers[2]
    port.mark_ticket_read(numbers[2])
    assert (port.find_oldest_unread_ticket(), rig.machine.component(TicketDesk).list_unread()) == (
        None,
        [],
    )
    rig.close()


def test_games_and_hand_pays_continue_after_a_clear(rig, tmp_path):
    restarted = clear_and_boot(rig, tmp_path).insert(2000)
    restarted.play()
    restarted.report_shown()
    restarted.engine.handle(EventType.CASH_OUT)
    assert restarted.state in {State.PAYING, State.HANDPAY}
    restarted.close()


@pytest.mark.requirement("A-05", "H-07")
def test_an_older_ticket_ledger_is_detected_after_a_clear(rig, tmp_path):
    """Its tickets are already in the box; the new journal must not accept them as money."""
    number = rig.insert(2000).cash_out_ticket()
    rig.close()
    names = (tmp_path / TICKET_DATABASE_FILE_NAME, tmp_path / "second" / LOG_NAME)
    before = {path: path.read_bytes() for path in names}
    restarted = MachineRig(tmp_path, devices=("printer",)).boot()
    restarted.offer_ticket(number)
    restarted.escrow_ledger.credit_stacked_paper()
    restarted.escrow_ledger.close_confirmed_paper()
    restarted.close()
    clear_with_decisions(tmp_path, credit_1_cashable=build_paid_decision(2000))
    for path, data in before.items():
        path.write_bytes(data)
    for _ in range(2):  # a second clear does not forget it either
        restarted = MachineRig(tmp_path, devices=("printer",)).boot()
        assert (
            "it was replaced by an older ledger or by that of another machine"
            in restarted.machine.active_faults["ticket_ledger"]["detail"]
        )
        restarted.offer_ticket(number)
        assert (restarted.hands.orders[-1][0], restarted.credit_cents) == ("return", 0)
        restarted.close()
        clear_with_decisions(tmp_path)
