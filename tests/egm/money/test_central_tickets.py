"""If a central system must store tickets, the machine issues none without that system (Monaco, article 19.7)."""

from pathlib import Path

import pytest

import egm.profiles
from egm.config.cabinet_file import TicketValidator
from egm.kernel.events import EventType, State
from egm.money.host_money import HostMoney
from egm.money.value_in import should_accept_tickets
from egm.testing.machine import MachineRig


@pytest.mark.requirement("D-23", "H-01")
def test_standalone_machine_has_no_tickets_where_a_central_system_is_required(tmp_path):
    """Monaco 19.7: without a system that stores tickets, none is printed or accepted; staff pay by hand."""
    alone = MachineRig(tmp_path, profile="monaco", devices=("printer",)).boot().insert(2000)
    assert not should_accept_tickets(alone.machine, State.IDLE)
    alone.engine.handle(EventType.CASH_OUT)
    assert (alone.state, alone.hands.jobs) == (State.HANDPAY, [])
    alone.close()


@pytest.mark.requirement("D-23", "H-01")
def test_with_a_central_system_the_same_profile_prints_and_accepts_tickets(tmp_path):
    enrolled = (
        MachineRig(
            tmp_path,
            profile="monaco",
            devices=("printer",),
            host=HostMoney(ticket_validator=TicketValidator.SYSTEM, is_online=True),
        )
        .boot()
        .insert(2000)
    )
    assert should_accept_tickets(enrolled.machine, State.IDLE)
    enrolled.engine.handle(EventType.CASH_OUT)
    assert enrolled.state is State.PAYING
    enrolled.close()


def test_a_cash_out_waiting_for_a_number_is_paid_by_hand_once_the_central_system_is_removed(tmp_path):
    """Regression: a ticket was printed that neither the machine nor a central system accepted."""
    profile = tmp_path / "place.toml"
    sold = Path(egm.profiles.__file__).with_name("monaco.toml").read_text()
    profile.write_text(f"{sold}\n[host]\noffline_tickets = 3\n")
    host = HostMoney(ticket_validator=TicketValidator.SYSTEM, is_online=True)
    enrolled = MachineRig(tmp_path, profile=profile, devices=("printer",), host=host).boot().insert(2000)
    enrolled.engine.handle(EventType.CASH_OUT)
    enrolled.close()
    alone = MachineRig(tmp_path, profile=profile, devices=("printer",)).boot()
    assert (alone.state, alone.hands.jobs) == (State.HANDPAY, [])
    alone.close()
