"""What devices, hosts and verifiers leave in the journal passes the audit: every ruling, refusal and return."""

import pytest

from egm.config.cabinet_file import Gat, StateFolder, load_cabinet
from egm.devices.interface import PrintState
from egm.devices.ledgers import DisputedCoins, PayoutRecord
from egm.kernel.events import EventType
from egm.kernel.services import MachineContext
from egm.links.gat.codec import Command, Packet
from egm.links.gat.port import create_gat_port
from egm.money.disputed import list_disputed_amounts
from egm.money.host_money import HostMoney
from egm.people import Role
from egm.profiles import profile as profiles
from egm.testing.machine import MachineRig
from egm.testing.sas import Bench
from egm.testing.service_menu import Menu
from meters import open_view
from tools.audit.games import Shelf
from tools.audit.verify import Auditor


@pytest.fixture
def audited(tmp_path):
    """Makes rooms on one folder; their journal is audited when the test is over."""
    folder, rooms = tmp_path / "state", []

    def make(**options) -> MachineRig:
        if rooms:
            rooms[-1].close()
        rooms.append(MachineRig(folder, **options))
        return rooms[-1]

    yield make
    rooms[-1].close()
    with open_view(folder) as view:
        report = Auditor(Shelf()).run(view.iter_bodies())
    assert report.findings == []


def rule(room, amount_cents):
    """A manager decides the first open dispute."""
    [disputed, *_] = list_disputed_amounts(room.machine)
    menu = Menu(room)
    menu.sign_in(Role.MANAGER).touch("disputed").touch(f"disputed:{disputed}")
    menu.complete(str(amount_cents), "looked at the recording")
    menu.home().touch("leave")


def test_disputed_bills_and_tickets(audited):
    room = audited(devices=("printer",)).boot()
    room.offer(2000)
    room.ledger.record_direction(outward=True)
    room.ledger.record_direction(outward=False)
    room.ledger.dispute_lost_paper("the acceptor is idle")
    rule(room, 1500)
    room.ledger.dispute_unordered_stacking("stacked and never ordered", 10000)
    rule(room, 0)
    for decided in (1000, 0):
        room.insert(1000)
        room.engine.handle(EventType.CASH_OUT)
        for state in (PrintState.PRINTING, PrintState.BARCODE_DONE, PrintState.TAKEN):
            room.report_print_state(state)
        room.offer_ticket(room.hands.jobs[-1].barcode)
        room.ledger.dispute_lost_paper("the acceptor is idle")
        rule(room, decided)


def test_disputed_coins(audited, tmp_path):
    profile = tmp_path / "coins.toml"
    text = (profiles._FOLDER / "generic.toml").read_text()
    profile.write_text(text.replace('order = ["ticket", "coins"]', 'order = ["coins", "ticket"]'))
    room = audited(profile=profile, devices=("hopper",)).boot()
    for seen, decided in ((3, 100), (0, 500), (5, None)):
        room.insert(500)
        room.engine.handle(EventType.CASH_OUT)
        payout_id, coins = room.hands.payouts[-1]
        payout = PayoutRecord(payout_id=payout_id, coins=coins, events_before=0, count_before=0)
        room.ledgers.payouts.open_payout(payout)
        if seen:
            room.ledgers.payouts.record_coins_paid(payout_id, seen)
        room.ledgers.payouts.close_payout(payout_id, seen, "" if decided is None else "its count fell")
        if decided is not None:
            rule(room, decided)
    room.ledgers.payouts.record_strayed_coins(4, "4 coins left")
    rule(room, 0)
    room.ledgers.coins.credit_coins_in(
        ((100, True),), 7, DisputedCoins(why="2 coins", least_cents=50, most_cents=400)
    )
    rule(room, 225)


def test_what_came_back_and_a_port_that_was_taken(audited):
    room = audited(devices=("printer",)).boot()
    room.engine.handle(EventType.BILL_RETURNED, reason="device")
    room.engine.handle(EventType.BILL_RETURNED, reason="device", ticket=True)
    room.engine.handle(EventType.FAULT_RAISED, code="monitoring.port_taken", detail="port 9477")
    room.engine.handle(EventType.FAULT_CLEARED, code="monitoring.port_taken")


def test_what_a_verifier_asked_and_was_refused(audited, tmp_path):
    room = audited().boot()
    file = load_cabinet().model_copy(update={"gat": Gat()})
    [port] = create_gat_port(
        MachineContext(room.engine, file, StateFolder(tmp_path), room.clock, room.happen)
    )
    for words in (b"Component\tchance", b"Component\tnosuch", b"Get Special Functions"):
        port._service.answer(Packet(Command.INITIATE, b"\xba\x00" + words))
        if words.endswith(b"chance"):
            port._service.store_result({"chance": "ab" * 20})


def test_transfers_of_nothing_and_orders_refused_by_their_form(audited, tmp_path):
    host = HostMoney(transfers=True, bonuses=True, asset_number=0x01020304, line="main")
    bench = Bench(tmp_path / "state", audited(host=host))
    bench.exceptions()
    amounts = "0000000000" * 3

    def order(name, code="00", kind="00", sums=amounts, flags="03"):
        text = name.encode().hex()
        body = f"{code}00{kind}{sums}{flags}04030201{'00' * 20}{len(name):02x}{text}00000000000000"
        answer = bench.long(0x72, f"{len(body) // 2:02x}{body}")
        bench.sync()
        bench.long(0x72, "02ff00")
        bench.sync()
        return answer[4:6]

    assert order("Z1") == order("Z2", kind="80") == "40"
    assert order("R1", code="02") == "82"
    assert order("R2", kind="40") == "c1"
    assert order("R3", flags="80") == "90"
    assert order("R4", sums="000000000a" + amounts[10:]) == "83"
    assert order("bad\x01") == "95"
