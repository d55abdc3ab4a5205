"""Money over SAS between two ledgers while the machine is killed: neither ledger loses or doubles a cent."""

import signal

import pytest
from sas_cabin import Cabin

from egm.tickets.numbers import create_secure_enhanced_number
from meters import open_view

SYSTEM = '[host]\ntickets = "system"\ntransfers = true\nasset_number = 100\n'
AGES = 60.0


@pytest.fixture
def cabin(tmp_path):
    with Cabin(tmp_path, {"main": {}}, SYSTEM) as cabin:
        yield cabin


def check_books_agree(cabin, host):
    """Check that machine and host have recorded the same tickets and transfers; return the machine's meters."""
    with open_view(cabin.folder.root) as view:
        meters = view.meters().values
    vouchers, movements = host.tickets.values(), host.transfers.values()
    issued = [voucher for voucher in vouchers if voucher.was_printed]
    back = [voucher for voucher in vouchers if voucher.state == "redeemed"]
    assert not [voucher for voucher in vouchers if voucher.state == "pending"]
    assert not [movement for movement in movements if movement.state == "ordered"]
    assert meters["ticket_out.cashable.value"] == sum(voucher.cents for voucher in issued)
    assert meters["ticket_out.cashable.count"] == len(issued)
    assert meters["ticket_in.cashable.value"] == sum(voucher.cents for voucher in back)
    assert meters["aft_in.cashable.value"] == host.sum_moved_cents("in")
    assert meters["aft_out.cashable.value"] == host.sum_moved_cents("out")
    return meters


def until(host, condition):
    assert host.run_until(condition, AGES), list(host.received)


def transferred_cents(host, way, cents):
    """Order a transfer and follow it to its end; return the transferred cents."""
    movement = host.transfers[host.order_transfer(way, cents)]
    until(host, lambda: movement.state == "done")
    return movement.moved_cents


def poll_until_shown(cabin, host, **facts):
    """Poll until the player's screen shows these values."""
    until(
        host, lambda: (now := cabin.player.snapshot) and all(getattr(now, k) == v for k, v in facts.items())
    )


def kill_and_restart(cabin):
    """Kill the machine and start it again."""
    cabin.stop(signal.SIGKILL)
    cabin.start()


@pytest.mark.requirement("K-09")
@pytest.mark.sas(polls="4D 57 58 70 71", exceptions="3D 57 67 68")
def test_a_ticket_is_issued_and_redeemed_with_the_host(cabin):
    cabin.insert_bill(1000)
    with cabin.host() as host:
        cabin.player.send_intent("cash_out")
        poll_until_shown(cabin, host, credit_cents=0, state="idle")
        until(host, lambda: [v.state for v in host.tickets.values()] == ["issued"])
        ((number, voucher),) = host.tickets.items()
        assert cabin.tickets() == [number]
        assert voucher.cents == 1000
        insert_until_redeemed(cabin, host, number)
        poll_until_shown(cabin, host, credit_cents=1000)

        def is_refused():
            cabin.operate("bill", "insert_ticket", barcode=number)  # a copy of it
            return host.ticket_replies[-1] == (number, 0x82)

        until(host, is_refused)
    meters = check_books_agree(cabin, host)
    assert meters["ticket_in.cashable.value"] == meters["ticket_out.cashable.value"] == 1000


@pytest.mark.requirement("K-09")
@pytest.mark.sas(polls="72 73 74", exceptions="69")
def test_money_is_transferred_in_played_and_transferred_out(cabin):
    with cabin.host() as host:
        host.register()
        lock = host.read_values(0x74, {"code": 0xFF, "condition": 0, "timeout": 0})
        assert (lock["asset"], lock["lock_status"]) == (100, 0xFF)
        assert transferred_cents(host, "in", 500) == 500
        poll_until_shown(cabin, host, credit_cents=500)
        cabin.player.play_games(3)
        credit_cents = cabin.player.wait_until_shown(state="idle").credit_cents
        assert transferred_cents(host, "out", credit_cents) == credit_cents
        poll_until_shown(cabin, host, credit_cents=0)
    meters = check_books_agree(cabin, host)
    assert meters["aft_in.cashable.value"] == 500
    assert meters["credits"] == 0


@pytest.mark.requirement("K-09")
@pytest.mark.parametrize(
    "deaths", [(0, 3), pytest.param(range(8), marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_a_machine_killed_during_a_transfer_neither_loses_nor_doubles_money(cabin, deaths):
    """Kill the machine before each order is sent and some messages later, then query the result."""
    cabin.insert_bill(2000)
    for messages in deaths:
        with cabin.host() as host:
            host.register()
            way = "in" if messages % 2 == 0 else "out"
            host.drain()
            host.stop_after(messages, lambda host=host, way=way: host.order_transfer(way, 100))
            kill_and_restart(cabin)
        with cabin.host() as host:  # the host has restarted too
            until(host, lambda host=host: not host.has_open_items)
        check_books_agree(cabin, host)


def cash_out_completely(cabin, host):
    """Cash out until no credit is left; repeat the request if the machine was killed during it."""

    def empty():
        now = cabin.player.snapshot
        if now and now.state == "idle" and now.credit_cents:
            cabin.player.send_intent("cash_out")
        if now and now.state == "handpay":  # the host was away too long
            cabin.turn_attendant_key()
        return now and now.state == "idle" and not now.credit_cents

    until(host, empty)


def insert_until_redeemed(cabin, host, number):
    """Insert the ticket repeatedly, as a player would, until it is credited.

    A machine that was killed during the query has no record of the ticket; the host holds it until it is inserted
    again.
    """

    def taken():
        now = cabin.player.snapshot
        if now and now.state == "idle" and not now.credit_cents:
            cabin.operate("bill", "insert_ticket", barcode=number)
        return host.tickets[number].state == "redeemed"

    until(host, taken)


@pytest.mark.requirement("K-09")
@pytest.mark.parametrize(
    "messages", [pytest.param(n, marks=pytest.mark.slow) for n in (0, 1, 2, 3, 5, 6, 7, 8)]
)
def test_a_machine_killed_during_a_ticket_neither_loses_nor_doubles_money(cabin, messages):
    """The machine is killed while a ticket is printed, and again while it is redeemed.

    It is not killed after the fourth message, which has the number: staff might have to decide on a ticket in the
    printer.
    """
    cabin.insert_bill(2000)
    with cabin.host() as host:
        host.drain()
        cabin.player.send_intent("cash_out")
        host.stop_after(messages)
        kill_and_restart(cabin)
    with cabin.host() as host:
        cash_out_completely(cabin, host)
        (number,) = cabin.tickets()
        until(host, lambda: host.tickets[number].state == "issued")
        host.drain()
        cabin.operate_until_accepted("bill", "insert_ticket", barcode=number)
        host.stop_after(messages)
        kill_and_restart(cabin)
    with cabin.host() as host:
        insert_until_redeemed(cabin, host, number)
        poll_until_shown(cabin, host, credit_cents=2000)
    meters = check_books_agree(cabin, host)
    assert meters["ticket_out.cashable.value"] == meters["ticket_in.cashable.value"] == 2000


@pytest.mark.requirement("H-09")
@pytest.mark.sas(polls="4C 4D", exceptions="3F")
def test_a_machine_numbers_its_tickets_with_the_hosts_validation_id(tmp_path):
    """Secure enhanced validation: the host's identifier and the machine's sequence give one number in both ledgers."""
    with Cabin(tmp_path, {"main": {}}, SYSTEM.replace("system", "secure_enhanced")) as cabin:
        with cabin.host() as host:
            host.issues_validation_numbers = False
            until(host, lambda: 0x3F in [answer.code for answer in host.received])
            enrolled = host.read_values(0x4C, {"validation_id": 123_456, "sequence": 0})
            assert host.read_values(0x4C, {"validation_id": 0, "sequence": 0}) == enrolled
            cabin.insert_bill(1000)
            cabin.player.send_intent("cash_out")
            poll_until_shown(cabin, host, credit_cents=0, state="idle")
            until(host, lambda: [v.state for v in host.tickets.values()] == ["issued"])
            (number,) = host.tickets
            assert cabin.tickets() == [number]
            assert number == create_secure_enhanced_number(
                enrolled["validation_id"], enrolled["sequence"] + 1
            )
            insert_until_redeemed(cabin, host, number)
            poll_until_shown(cabin, host, credit_cents=1000)
        check_books_agree(cabin, host)
