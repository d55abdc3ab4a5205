"""Money over SAS between two ledgers, the machine killed in between: neither loses nor doubles a cent."""

import signal

import pytest
from sas_cabin import Cabin

from egm.tickets.numbers import create_secure_enhanced_number
from meters import open_view
from tools.dev.host.store import Amounts, Store, TicketState, TransferState
from tools.dev.host.transfers import IN_HOUSE_TO_HOST, IN_HOUSE_TO_MACHINE

SYSTEM = '[host]\ntickets = "system"\ntransfers = true\nasset_number = 100\n'
AGES = 60.0


@pytest.fixture
def cabin(tmp_path):
    with Cabin(tmp_path, {"main": {}}, SYSTEM) as cabin:
        yield cabin


def agree(cabin):
    """Machine and host have the same tickets and transfers in their books; return the machine's meters."""
    with open_view(cabin.folder.root) as view:
        meters = view.meters().values
    with Store.open(cabin.root / "host-main.sqlite") as store:
        tickets, transfers = store.tickets(), store.transfers()
    out = [t for t in tickets if t.state in (TicketState.ISSUED, TicketState.REDEEMED)]
    back = [t for t in tickets if t.state is TicketState.REDEEMED]
    done = [t for t in transfers if t.state is TransferState.DONE]
    assert not [t for t in tickets if t.state is TicketState.REDEEMING]
    assert not [t for t in transfers if t.state is TransferState.OFFERED]
    assert meters["ticket_out.cashable.value"] == sum(t.amount_cents for t in out)
    assert meters["ticket_out.cashable.count"] == len(out)
    assert meters["ticket_in.cashable.value"] == sum(t.amount_cents for t in back)
    assert meters["aft_in.cashable.value"] == sum(t.amounts.total_cents for t in done if t.to_machine)
    assert meters["aft_out.cashable.value"] == sum(t.amounts.total_cents for t in done if not t.to_machine)
    return meters


def until(host, what):
    assert host.run_until(what, AGES), list(host.reports)


def transferred_cents(host, type_, cents):
    """Order a transfer and follow it to its end; return the cents that it moved."""
    order = host.transfers.order(type_, Amounts(cashable_cents=cents))
    until(host, lambda: not host.store.open_transfers("SAS-1"))
    (ended,) = [transfer for transfer in host.store.transfers() if transfer.id == order.id]
    assert ended.state is TransferState.DONE
    return ended.amounts.total_cents


def sees(cabin, host, **facts):
    """Keep polling until the player sees this."""
    until(
        host, lambda: (now := cabin.player.snapshot) and all(getattr(now, k) == v for k, v in facts.items())
    )


def dies(cabin):
    """Cut its power, and switch it on again."""
    cabin.stop(signal.SIGKILL)
    cabin.start()


@pytest.mark.requirement("K-09")
@pytest.mark.sas(polls="4D 57 58 70 71", exceptions="3D 57 67 68")
def test_a_ticket_goes_out_and_comes_back(cabin):
    cabin.puts_in(1000)
    with cabin.host() as host:
        cabin.player.wish("cash_out")
        sees(cabin, host, credit_cents=0, state="idle")
        until(host, lambda: [t.state for t in host.store.tickets()] == [TicketState.ISSUED])
        (ticket,) = host.store.tickets()
        assert cabin.tickets() == [ticket.number]
        assert (ticket.amount_cents, ticket.number[:2]) == (1000, "01")
        comes_back(cabin, host, ticket.number)
        sees(cabin, host, credit_cents=1000)
        until(host, lambda: host.conversation.idle)

        def refused():
            cabin.does("bill", "insert_ticket", barcode=ticket.number)  # a copy of it
            return any("refused (84)" in report for report in host.reports)

        until(host, refused)
        until(host, lambda: host.conversation.idle)
    meters = agree(cabin)
    assert meters["ticket_in.cashable.value"] == meters["ticket_out.cashable.value"] == 1000


@pytest.mark.requirement("K-09")
@pytest.mark.sas(polls="72 73 74", exceptions="69")
def test_money_is_transferred_in_played_and_transferred_out(cabin):
    with cabin.host() as host:
        until(host, lambda: host.transfers.is_registered)
        assert transferred_cents(host, IN_HOUSE_TO_MACHINE, 500) == 500
        sees(cabin, host, credit_cents=500)
        cabin.player.plays(3)
        left = cabin.player.sees(state="idle").credit_cents
        assert transferred_cents(host, IN_HOUSE_TO_HOST, left) == left
        sees(cabin, host, credit_cents=0)
        until(host, lambda: host.conversation.idle)
    meters = agree(cabin)
    assert meters["aft_in.cashable.value"] == 500
    assert meters["credits"] == 0


@pytest.mark.requirement("K-09")
@pytest.mark.parametrize(
    "deaths", [(0, 3), pytest.param(range(14), marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_a_machine_killed_under_a_transfer_owes_nobody_anything(cabin, deaths):
    """Kill it right after each order went out, and some steps later; ask afterwards what became of it."""
    cabin.puts_in(2000)
    for steps in deaths:
        with cabin.host() as host:
            until(host, lambda: host.transfers.is_registered)
            type_ = IN_HOUSE_TO_MACHINE if steps % 2 == 0 else IN_HOUSE_TO_HOST
            host.transfers.order(type_, Amounts(cashable_cents=100))
            for _ in range(steps):
                host.step()
            dies(cabin)
        with cabin.host() as host:  # the host, too, has come back
            until(host, lambda: not host.store.open_transfers("SAS-1"))
            until(host, lambda: host.conversation.idle)
        agree(cabin)


def cashes_out(cabin, host):
    """Until nothing is left: pressed again where the machine died under the wish."""

    def empty():
        now = cabin.player.snapshot
        if now and now.state == "idle" and now.credit_cents:
            cabin.player.wish("cash_out")
        if now and now.state == "handpay":  # the host was away too long
            cabin.turns_key()
        return now and now.state == "idle" and not now.credit_cents

    until(host, empty)


def comes_back(cabin, host, number):
    """Until the ticket is in: put in again as often as it is given back, as a player would.

    A machine that died while it asked knows nothing of the ticket; the host holds it until it lies there again.
    """

    def taken():
        now = cabin.player.snapshot
        if now and now.state == "idle" and not now.credit_cents and host.conversation.idle:
            cabin.does("bill", "insert_ticket", barcode=number)
        return host.store.ticket(number).state is TicketState.REDEEMED

    until(host, taken)


@pytest.mark.requirement("K-09")
@pytest.mark.parametrize(
    "steps", [8, *(pytest.param(n, marks=pytest.mark.slow) for n in (0, 1, 2, 3, 4, 5, 6, 12))]
)
def test_a_machine_killed_under_a_ticket_owes_nobody_anything(cabin, steps):
    """Kill it while a ticket goes out, and again while it comes back."""
    cabin.puts_in(2000)
    with cabin.host() as host:
        cabin.player.wish("cash_out")
        for _ in range(steps):
            host.step()
        dies(cabin)
    with cabin.host() as host:
        cashes_out(cabin, host)
        (number,) = cabin.tickets()
        until(host, lambda: (known := host.store.ticket(number)) and known.state is TicketState.ISSUED)
        until(host, lambda: host.conversation.idle)
        cabin.insists("bill", "insert_ticket", barcode=number)
        for _ in range(steps):
            host.step()
        dies(cabin)
    with cabin.host() as host:
        comes_back(cabin, host, number)
        sees(cabin, host, credit_cents=2000)
        until(host, lambda: host.conversation.idle)
    meters = agree(cabin)
    assert meters["ticket_out.cashable.value"] == meters["ticket_in.cashable.value"] == 2000


@pytest.mark.requirement("H-09")
@pytest.mark.sas(polls="4C 4D", exceptions="3F")
def test_a_machine_numbers_its_own_tickets_from_what_the_host_gave_it(tmp_path):
    """Secure enhanced validation: the host's identifier, the machine's sequence, both ledgers one number."""
    with Cabin(tmp_path, {"main": {}}, SYSTEM.replace("system", "secure_enhanced")) as cabin:
        with cabin.host() as host:
            until(host, lambda: "3F validation ID not configured" in host.reports)
            until(host, lambda: host.conversation.idle)
            enrolled = host.answer_to(0x4C, {"validation_id": 0, "sequence": 0}).values
            cabin.puts_in(1000)
            cabin.player.wish("cash_out")
            sees(cabin, host, credit_cents=0, state="idle")
            until(host, lambda: [t.state for t in host.store.tickets()] == [TicketState.ISSUED])
            (ticket,) = host.store.tickets()
            assert cabin.tickets() == [ticket.number]
            assert ticket.number == create_secure_enhanced_number(
                enrolled["validation_id"], enrolled["sequence"] + 1
            )
            cabin.insists("bill", "insert_ticket", barcode=ticket.number)
            sees(cabin, host, credit_cents=1000)
            until(host, lambda: host.store.ticket(ticket.number).state is TicketState.REDEEMED)
            until(host, lambda: host.conversation.idle)
        agree(cabin)
