"""Entries caused by devices, hosts and verifiers pass the audit: every decision, refusal and return."""

import pytest

from egm.config.cabinet_file import GatTable, StateFolder, load_cabinet
from egm.devices.interface import PrintState
from egm.devices.ledgers import DisputedCoins, PayoutRecord
from egm.kernel.events import EventType
from egm.kernel.services import MachineContext
from egm.links.gat.codec import GatCommand, GatPacket
from egm.links.gat.port import create_gat_port
from egm.money.disputed_amounts import read_disputed_amounts_by_id
from egm.money.host_money import HostMoney
from egm.people import Role
from egm.profiles import profile as profiles
from egm.testing.machine import MachineRig
from egm.testing.sas import SasHostBench
from egm.testing.service_menu import MenuUser
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor


@pytest.fixture
def audited(tmp_path):
    """Yield a function that creates machines on one folder; audit their journal after the test."""
    folder, rigs = tmp_path / "state", []

    def make(**options) -> MachineRig:
        if rigs:
            rigs[-1].close()
        rigs.append(MachineRig(folder, **options))
        return rigs[-1]

    yield make
    rigs[-1].close()
    with open_view(folder) as view:
        report = Auditor(GameFiles()).audit_entries(view.iter_bodies())
    assert report.findings == []


def rule(rig, amount_cents):
    """Decide the first open dispute as a manager."""
    [disputed, *_] = read_disputed_amounts_by_id(rig.machine)
    menu = MenuUser(rig)
    menu.sign_in(Role.MANAGER).touch("disputed").touch(f"disputed:{disputed}")
    menu.fill_open_form(str(amount_cents), "looked at the recording")
    menu.home().touch("leave")


def test_decisions_about_disputed_bills_and_tickets_pass_the_audit(audited):
    rig = audited(devices=("printer",)).boot()
    rig.offer(2000)
    rig.escrow_ledger.record_direction(is_returning=True)
    rig.escrow_ledger.record_direction(is_returning=False)
    rig.escrow_ledger.close_lost_paper_as_disputed("the acceptor is idle")
    rule(rig, 1500)
    rig.escrow_ledger.open_disputed_amount_of_unordered_paper("stacked and never ordered", 10000)
    rule(rig, 0)
    for decided in (1000, 0):
        rig.insert(1000)
        rig.engine.handle(EventType.CASH_OUT)
        for state in (PrintState.PRINTING, PrintState.BARCODE_DONE, PrintState.TAKEN):
            rig.report_print_state(state)
        rig.offer_ticket(rig.hands.jobs[-1].barcode)
        rig.escrow_ledger.close_lost_paper_as_disputed("the acceptor is idle")
        rule(rig, decided)


def test_decisions_about_disputed_coins_pass_the_audit(audited, tmp_path):
    profile = tmp_path / "coins.toml"
    text = (profiles._PROFILES_FOLDER / "generic.toml").read_text()
    profile.write_text(text.replace('order = ["ticket", "coins"]', 'order = ["coins", "ticket"]'))
    rig = audited(profile=profile, devices=("hopper",)).boot()
    for seen, decided in ((3, 100), (0, 500), (5, None)):
        rig.insert(500)
        rig.engine.handle(EventType.CASH_OUT)
        payout_id, coins = rig.hands.payouts[-1]
        payout = PayoutRecord(
            payout_id=payout_id, ordered_coins=coins, order_counter_before=0, lifetime_paid_before=0
        )
        rig.device_ledgers.payout_ledger.open_payout(payout)
        if seen:
            rig.device_ledgers.payout_ledger.record_coins_paid(payout_id, seen)
        rig.device_ledgers.payout_ledger.close_payout(
            payout_id, seen, "" if decided is None else "its count fell"
        )
        if decided is not None:
            rule(rig, decided)
    rig.device_ledgers.payout_ledger.record_unordered_coins(4, "4 coins left")
    rule(rig, 0)
    rig.device_ledgers.coin_ledger.credit_coins_in(
        ((100, True),), 7, DisputedCoins(reason="2 coins", amount_min_cents=50, amount_max_cents=400)
    )
    rule(rig, 225)


def test_returned_bills_and_a_monitoring_port_in_use_pass_the_audit(audited):
    rig = audited(devices=("printer",)).boot()
    rig.engine.handle(EventType.BILL_RETURNED, reason="device")
    rig.engine.handle(EventType.BILL_RETURNED, reason="device", is_ticket=True)
    rig.engine.handle(EventType.FAULT_RAISED, code="monitoring.port_taken", detail="port 9477")
    rig.engine.handle(EventType.FAULT_CLEARED, code="monitoring.port_taken")


def test_queries_of_a_gat_verifier_answered_and_refused_pass_the_audit(audited, tmp_path):
    rig = audited().boot()
    file = load_cabinet().model_copy(update={"gat": GatTable()})
    [port] = create_gat_port(
        MachineContext(rig.engine, file, StateFolder(tmp_path), rig.clock, rig.submit_event)
    )
    for words in (b"Component\tchance", b"Component\tnosuch", b"Get Special Functions"):
        port._service.build_reply(GatPacket(GatCommand.INITIATE_CALCULATION, b"\xba\x00" + words))
        if words.endswith(b"chance"):
            port._service.store_result({"chance": "ab" * 20})


def test_empty_and_malformed_host_transfers_pass_the_audit(audited, tmp_path):
    host = HostMoney(
        can_transfer=True, can_award_bonuses=True, asset_number=0x01020304, money_line_name="main"
    )
    bench = SasHostBench(tmp_path / "state", audited(host=host))
    bench.read_exceptions()
    amounts = "0000000000" * 3

    def order(name, code="00", kind="00", sums=amounts, flags="03"):
        text = name.encode().hex()
        body = f"{code}00{kind}{sums}{flags}04030201{'00' * 20}{len(name):02x}{text}00000000000000"
        answer = bench.send_long_poll(0x72, f"{len(body) // 2:02x}{body}")
        bench.poll_other_address()
        bench.send_long_poll(0x72, "02ff00")
        bench.poll_other_address()
        return answer[4:6]

    assert order("Z1") == order("Z2", kind="80") == "40"
    assert order("R1", code="02") == "82"
    assert order("R2", kind="40") == "c1"
    assert order("R3", flags="80") == "90"
    assert order("R4", sums="000000000a" + amounts[10:]) == "83"
    assert order("bad\x01") == "95"
