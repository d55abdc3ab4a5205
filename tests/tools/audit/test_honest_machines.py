"""Unusual but correct sequences of an honest machine cause no finding.

Goal: a finding can be believed, because no correct journal has one. Each of these sequences once caused a false
finding.
"""

from datetime import timedelta
from pathlib import Path

import pytest

import egm.profiles
from egm.config.cabinet_file import TicketValidator
from egm.host.ticket_interface import HostTicketInterface
from egm.host.transfer_interface import HostTransferInterface
from egm.kernel.credits import CreditKind
from egm.kernel.events import EventType, State
from egm.money.host_money import HostMoney, TransferOrder
from egm.money.records.host import TransferKind
from egm.testing.clearing import clear_with_decisions
from egm.testing.machine import MachineRig
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.dev.liars import run_falsifications

SOLD = Path(egm.profiles.__file__).with_name("generic.toml").read_text()


def honest(rig):
    bodies = list(rig.journal.iter_bodies())
    assert Auditor(GameFiles()).audit_entries(bodies).findings == []
    return bodies


def with_host(folder, ticket_validator=TicketValidator.STAND_ALONE, **options):
    host = HostMoney(
        ticket_validator=ticket_validator,
        can_transfer=True,
        asset_number=7,
        money_line_name="main",
        is_online=True,
    )
    return MachineRig(folder / "state", devices=("printer",), host=host, **options).boot()


@pytest.mark.requirement("E-13", "H-08")
@pytest.mark.parametrize("stacked", [True, False])
def test_a_ticket_that_a_host_authorised_passes_the_audit(tmp_path, stacked):
    rig = with_host(tmp_path, ticket_validator=TicketValidator.SYSTEM)
    tickets = HostTicketInterface(rig.engine, rig.submit_event)
    rig.offer_ticket(number := "071111222233334444")
    tickets.authorise_redemption(number, CreditKind.CASHABLE, 1234)
    if stacked:
        rig.escrow_ledger.credit_stacked_paper()
        rig.escrow_ledger.close_confirmed_paper()
    else:
        rig.escrow_ledger.void_unstacked_paper("it jams")
    tickets.acknowledge_result()
    assert rig.credit_cents == (1234 if stacked else 0)
    bodies = honest(rig)
    rig.close()
    assert run_falsifications([bodies], GameFiles(), lies=60, seed=3).undetected == []


@pytest.mark.requirement("E-13", "N-02")
def test_a_session_with_the_players_own_limit_passes_the_audit(tmp_path):
    profile_file = tmp_path / "place.toml"
    profile_file.write_text(f"{SOLD}\n[protection]\nown_limits = true\n")
    rig = MachineRig(tmp_path / "state", profile=profile_file, devices=("printer",)).boot().insert(500)
    rig.engine.handle(EventType.SET_OWN_LIMIT, value=30, options={"of": "minutes"})
    rig.cash_out_ticket()
    rig.engine.handle(EventType.PLAYER_SESSION_OVER)
    assert len(list(rig.journal.entries("protection.session_ended"))) == 1
    honest(rig)
    rig.close()


@pytest.mark.requirement("E-13", "F-01")
def test_a_bill_after_expired_promotional_credit_passes_the_audit(tmp_path):
    rig = with_host(tmp_path)
    transfers = HostTransferInterface(rig.engine, rig.submit_event)
    cents, day = {CreditKind.RESTRICTED: 5}, rig.machine.local_date
    order = TransferOrder(
        identifier="T1", kind=TransferKind.IN, cents_by_credit_kind=cents, expiry_date=day, restricted_pool=1
    )
    transfers.execute_or_refuse_order(order, asset_number=7)
    transfers.acknowledge_result()
    rig.play()
    rig.report_shown()
    assert rig.machine.read_credit_cents(CreditKind.RESTRICTED) == 0
    rig.clock.wall += timedelta(days=3)
    rig.clock.ns += 3 * 86_400 * 10**9
    rig.insert(500)
    honest(rig)
    rig.close()


@pytest.mark.requirement("E-13", "A-05", "F-09")
def test_a_hand_pay_carried_over_by_two_memory_clears_passes_the_audit(tmp_path):
    """A memory clear carries the hand-pay over under the id of the same cash-out."""
    rig = MachineRig(tmp_path / "state").boot().insert(500)
    rig.engine.handle(EventType.CASH_OUT)
    for _ in range(2):
        assert rig.state is State.HANDPAY
        rig.close()
        clear_with_decisions(tmp_path / "state")
        rig = MachineRig(tmp_path / "state").boot()
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (rig.state, rig.records("handpay.paid")[0]["amount_cents"]) == (State.IDLE, 500)
    honest(rig)
    rig.close()
