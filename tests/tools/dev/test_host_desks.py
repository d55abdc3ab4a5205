"""The host's ledger and the desks in front of it: nothing is lost or doubled by what a line can do."""

import pytest

from egm.links.sas.crc import append_crc
from tools.dev.host.desk import TicketDesk
from tools.dev.host.messages import Answer, Outcome, long_poll, parse
from tools.dev.host.store import Amounts, Kind, Store, StoreError, TicketState, TransferState
from tools.dev.host.transfers import IN_HOUSE_TO_HOST, IN_HOUSE_TO_MACHINE, TransferDesk, TransferError

NUMBER = "01" + "0" * 15 + "7"
SILENCE = Answer(Outcome.SILENCE)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "host.sqlite"


@pytest.fixture
def store(path):
    with Store.open(path) as store:
        yield store


class Wire:
    """Takes what a desk asks, and answers when the test says so."""

    def __init__(self):
        self.asked = []
        self.told = []

    def ask(self, code, values, hear):
        self.asked.append((code, dict(values), hear))

    def answers(self, code, text):
        """The next poll asked is ``code``; the answer's body is ``text`` (hexadecimal), or nothing comes."""
        asked, values, hear = self.asked.pop(0)
        assert f"{asked:02X}" == f"{code:02X}"
        request = long_poll(1, asked, values)
        answer = (
            SILENCE if text is None else parse(request, append_crc(bytes.fromhex(f"01 {code:02X} {text}")))
        )
        assert answer.outcome in (Outcome.DATA, Outcome.SILENCE), answer.trouble
        hear(answer)
        return values


@pytest.fixture
def wire():
    return Wire()


@pytest.fixture
def desk(store, wire):
    numbers = iter(range(7, 100))
    desk = TicketDesk(store, wire.ask, wire.told.append, below=lambda _n: next(numbers), system_id=1)
    desk.machine = "EGM-1"
    return desk


def record(number=NUMBER, cents=500, kind="00"):
    return f"{kind} 01 11212026 063000 {number[2:]} {cents:010d} 0100 {number[:2]} 00000000 0000"


NO_RECORD = "00" * 31


# ---------------------------------------------------------------- tickets out
def test_a_ticket_is_good_once_the_machine_has_reported_it(store, desk, wire):
    desk.number_wanted()
    wire.answers(0x57, "00 0000000500")
    assert wire.answers(0x58, "00") == {"system_id": 1, "validation": NUMBER[2:]}
    assert store.ticket(NUMBER).state is TicketState.ASSIGNED
    desk.records_waiting()
    wire.answers(0x4D, record())
    wire.answers(0x4D, NO_RECORD)
    ticket = store.ticket(NUMBER)
    assert (ticket.state, ticket.kind, ticket.amount_cents) == (TicketState.ISSUED, Kind.CASHABLE, 500)
    assert not wire.asked


def test_a_record_reported_twice_is_one_ticket(store, desk, wire):
    desk.records_waiting()
    wire.answers(0x4D, record(kind="01"))
    wire.answers(0x4D, record(kind="01"))
    wire.answers(0x4D, NO_RECORD)
    assert [(t.number, t.kind) for t in store.tickets()] == [(NUMBER, Kind.RESTRICTED)]


def test_a_number_the_machine_did_not_take_is_void_and_one_that_may_be_taken_is_not(store, desk, wire):
    desk.number_wanted()
    wire.answers(0x57, "00 0000000500")
    wire.answers(0x58, "80")
    assert store.ticket(NUMBER).state is TicketState.VOID
    desk.number_wanted()
    wire.answers(0x57, "01 0000000900")
    wire.answers(0x58, None)
    second = store.tickets()[1]
    assert (second.state, second.kind) == (TicketState.ASSIGNED, Kind.RESTRICTED)
    assert second.number != NUMBER


def test_a_machine_that_does_not_wait_gets_no_number(store, desk, wire):
    desk.number_wanted()
    wire.answers(0x57, "80 0000000000")
    assert not store.tickets()
    desk.number_wanted()
    wire.answers(0x57, "33 0000000500")  # no such kind of cash-out: denied
    assert wire.answers(0x58, "00")["system_id"] == 0
    assert not store.tickets()


def test_a_report_that_contradicts_what_was_assigned_is_told_and_changes_nothing(store, desk, wire):
    store.assign(NUMBER, Kind.CASHABLE, 500, "EGM-1")
    desk.records_waiting()
    wire.answers(0x4D, record(cents=50_000))
    wire.answers(0x4D, NO_RECORD)
    assert "assigned were 500 cents" in wire.told[-1]
    assert store.ticket(NUMBER).state is TicketState.ASSIGNED


def test_a_handpay_record_is_kept_and_is_no_ticket(store, desk, wire):
    desk.records_waiting()
    wire.answers(0x4D, record(kind="10"))
    wire.answers(0x4D, NO_RECORD)
    assert not store.tickets()
    assert "type 10" in wire.told[0]


# ---------------------------------------------------------------- tickets in
@pytest.fixture
def issued(store):
    store.issue(NUMBER, Kind.CASHABLE, 500, "EGM-2")


ESCROW = f"10 00 0000000000 00 {NUMBER}"


def outcome(status):
    return f"10 {status} 0000000500 00 {NUMBER}"


def test_a_good_ticket_is_held_credited_and_gone(store, desk, wire, issued):
    desk.ticket_inserted()
    wire.answers(0x70, ESCROW)
    assert store.ticket(NUMBER).state is TicketState.REDEEMING  # before the word is on the line
    order = wire.answers(0x71, outcome("40"))
    assert (order["code"], order["amount_cents"], order["validation_data"]) == (0, 500, NUMBER)
    desk.redemption_ended()
    assert wire.answers(0x71, outcome("00"))["code"] == 0xFF
    ticket = store.ticket(NUMBER)
    assert (ticket.state, ticket.redeemed_by) == (TicketState.REDEEMED, "EGM-1")
    desk.redemption_ended()
    wire.answers(0x71, outcome("00"))  # said twice
    assert store.ticket(NUMBER).state is TicketState.REDEEMED


def test_a_ticket_the_machine_was_never_told_of_is_as_good_as_before(store, desk, wire, issued):
    desk.ticket_inserted()
    wire.answers(0x70, ESCROW)
    wire.answers(0x71, None)  # the machine died before the order reached it, and knows of no ticket at all
    desk.redemption_ended()
    wire.answers(0x71, "01 FF")
    assert store.ticket(NUMBER).state is TicketState.ISSUED


@pytest.mark.parametrize("status", ["80", "84", "87", "88", "8B"])
def test_a_ticket_given_back_is_as_good_as_before(store, desk, wire, issued, status):
    desk.ticket_inserted()
    wire.answers(0x70, ESCROW)
    wire.answers(0x71, outcome("40"))
    desk.redemption_ended()
    wire.answers(0x71, outcome(status))
    assert store.ticket(NUMBER).state is TicketState.ISSUED


@pytest.mark.parametrize("said", [None, outcome("C0"), outcome("FF"), outcome("20")])
def test_a_ticket_without_a_last_word_stays_held_and_is_refused_everywhere(store, desk, wire, issued, said):
    desk.ticket_inserted()
    wire.answers(0x70, ESCROW)
    wire.answers(0x71, None)
    desk.redemption_ended()
    wire.answers(0x71, said)
    assert store.ticket(NUMBER).state is TicketState.REDEEMING
    desk.ticket_inserted()
    wire.answers(0x70, ESCROW)
    assert wire.answers(0x71, outcome("80"))["code"] == 0x83


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (None, 0x82),
        (TicketState.VOID, 0x82),
        (TicketState.ASSIGNED, 0x86),
        (TicketState.REDEEMED, 0x84),
    ],
)
def test_a_ticket_that_is_not_good_is_refused_with_the_reason(store, desk, wire, state, code):
    if state is not None:
        store.assign(NUMBER, Kind.CASHABLE, 500, "EGM-2")
    if state is TicketState.VOID:
        store.void(NUMBER)
    if state is TicketState.REDEEMED:
        store.issue(NUMBER, Kind.CASHABLE, 500, "EGM-2")
        store.begin_redemption(NUMBER, "EGM-2")
        store.redeemed(NUMBER, "EGM-2")
    desk.ticket_inserted()
    wire.answers(0x70, ESCROW)
    assert wire.answers(0x71, outcome("80"))["code"] == code
    assert (store.ticket(NUMBER).state if state else None) == state


def test_a_ticket_read_with_another_amount_is_refused(desk, wire, issued):
    desk.ticket_inserted()
    wire.answers(0x70, f"10 00 0000009999 00 {NUMBER}")
    assert wire.answers(0x71, outcome("80"))["code"] == 0x87


def test_a_host_that_died_asks_what_became_of_the_ticket(path, wire):
    with Store.open(path) as store:
        store.issue(NUMBER, Kind.CASHABLE, 500, "EGM-2")
        store.begin_redemption(NUMBER, "EGM-1")
    with Store.open(path) as store:
        desk = TicketDesk(store, wire.ask, wire.told.append, below=lambda n: 0)
        desk.machine = "EGM-1"
        desk.ask_about_open()
        wire.answers(0x71, outcome("00"))
        wire.answers(0x57, "80 0000000000")
        wire.answers(0x70, "01 FF")
        wire.answers(0x4D, NO_RECORD)
        assert store.ticket(NUMBER).state is TicketState.REDEEMED


def test_a_ticket_is_never_held_for_two_machines(store, issued):
    store.begin_redemption(NUMBER, "EGM-1")
    with pytest.raises(StoreError, match="cannot be redeemed by EGM-3"):
        store.begin_redemption(NUMBER, "EGM-3")
    store.release(NUMBER, "EGM-3")  # not its to give back
    assert store.ticket(NUMBER).state is TicketState.REDEEMING
    with pytest.raises(StoreError, match="EGM-3 credited it"):
        store.redeemed(NUMBER, "EGM-3")


# ---------------------------------------------------------------- transfers
@pytest.fixture
def transfers(store, wire):
    desk = TransferDesk(store, wire.ask, wire.told.append, key="11" * 20)
    desk.machine = "EGM-1"
    desk.read_registration()
    wire.answers(0x73, "1D 80 64000000" + "00" * 24)
    return desk


def moved(id_, status="00", cents=500, position=0):
    tid = id_.encode().hex()
    body = f"{position:02X} {status} FF 00 {cents:010d} 0000000000 0000000000 00 64000000 {len(id_):02X} {tid} 11212026 063000 00000000 0000 00 00 00"
    return f"{len(bytes.fromhex(body)):02X} {body}"


def test_registration_uses_the_asset_number_the_machine_gave(transfers, wire):
    transfers.register()
    assert wire.answers(0x73, "1D 00 64000000" + "11" * 20 + "01000000")["code"] == 0
    said = wire.answers(0x73, "1D 01 64000000" + "11" * 20 + "01000000")
    assert (said["code"], said["asset"]) == (1, 100)
    assert transfers.is_registered


def test_a_transfer_is_done_when_the_machine_says_so(store, transfers, wire):
    order = transfers.order(IN_HOUSE_TO_MACHINE, Amounts(cashable_cents=500))
    assert store.open_transfers("EGM-1") == (order,)  # before the word is on the line
    assert wire.answers(0x72, moved(order.id, "40"))["transaction"] == order.id
    assert store.open_transfers("EGM-1")
    transfers.transfer_ended()
    assert wire.answers(0x72, moved(order.id))["transfer_code"] == 0xFF
    (done,) = store.transfers()
    assert (done.state, done.status, done.amounts.cashable_cents, done.to_machine) == (
        TransferState.DONE,
        0,
        500,
        True,
    )


def test_a_partial_transfer_is_kept_as_what_moved(store, transfers, wire):
    order = transfers.order(IN_HOUSE_TO_HOST, Amounts(cashable_cents=500), partial=True)
    assert wire.answers(0x72, moved(order.id, "01", cents=200))["transfer_code"] == 1
    (done,) = store.transfers()
    assert (done.state, done.amounts.total_cents, done.to_machine) == (TransferState.DONE, 200, False)


@pytest.mark.parametrize("status", ["80", "87", "89", "93", "9F"])
def test_a_refused_transfer_moved_nothing(store, transfers, wire, status):
    order = transfers.order(IN_HOUSE_TO_MACHINE, Amounts(cashable_cents=500))
    wire.answers(0x72, moved(order.id, status))
    (done,) = store.transfers()
    assert (done.state, done.amounts.total_cents) == (TransferState.REFUSED, 0)


def test_an_order_whose_answer_was_lost_is_looked_for_and_found_in_the_history(store, transfers, wire):
    transfers.lock = {"buffer_index_max": 2}
    order = transfers.order(IN_HOUSE_TO_MACHINE, Amounts(cashable_cents=500))
    wire.answers(0x72, None)
    wire.answers(0x72, moved("99999999", "00"))
    wire.answers(0x72, moved("99999998", "00", position=1))
    looked = wire.answers(0x72, moved(order.id, "00", position=2))
    assert (looked["transfer_code"], looked["index"]) == (0xFE, 2)
    assert wire.answers(0x72, moved(order.id))["transfer_code"] == 0xFF  # so that the machine knows we know
    assert store.transfers()[0].state is TransferState.DONE


def test_an_order_the_machine_never_saw_moved_nothing(store, transfers, wire):
    transfers.lock = {"buffer_index_max": 1}
    transfers.order(IN_HOUSE_TO_MACHINE, Amounts(cashable_cents=500))
    wire.answers(0x72, None)
    wire.answers(0x72, "02 00 FF")
    wire.answers(0x72, "02 01 FF")
    assert store.transfers()[0].state is TransferState.REFUSED
    assert "never reached" in wire.told[-1]


def test_an_order_nobody_can_tell_about_stays_open_and_no_other_is_made(store, transfers, wire):
    transfers.order(IN_HOUSE_TO_MACHINE, Amounts(cashable_cents=500))
    wire.answers(0x72, None)
    wire.answers(0x72, None)
    assert store.transfers()[0].state is TransferState.OFFERED
    with pytest.raises(TransferError, match="still open"):
        transfers.order(IN_HOUSE_TO_MACHINE, Amounts(cashable_cents=1))
    transfers.ask_about_open()
    wire.answers(0x72, moved("00000001", "40"))  # pending: it will say 69
    assert store.transfers()[0].state is TransferState.OFFERED


def test_an_id_that_was_used_before_is_not_taken_for_a_refusal(store, transfers, wire):
    """81 says that a transfer of this id was done: what it moved is in the history."""
    transfers.lock = {"buffer_index_max": 1}
    order = transfers.order(IN_HOUSE_TO_MACHINE, Amounts(cashable_cents=500))
    wire.answers(0x72, moved(order.id, "81"))
    wire.answers(0x72, moved(order.id, "81"))
    wire.answers(0x72, moved("99999999", "00", position=1))
    assert store.transfers()[0].state is TransferState.OFFERED
    assert "does not say how it ended" in wire.told[-1]
    transfers.ask_about_open()
    wire.answers(0x72, moved(order.id, "81"))
    wire.answers(0x72, moved(order.id, "00", position=1))
    assert store.transfers()[0].state is TransferState.DONE


def test_nothing_is_ordered_from_an_unknown_machine_or_of_nothing(store, wire):
    desk = TransferDesk(store, wire.ask, wire.told.append, key="11" * 20)
    with pytest.raises(TransferError, match="has not said who it is"):
        desk.order(IN_HOUSE_TO_MACHINE, Amounts(cashable_cents=500))
    with pytest.raises(TransferError, match="asset number"):
        desk.register()


def test_a_last_word_that_contradicts_the_ledger_is_refused(store):
    order = store.offer("EGM-1", 0, Amounts(500))
    store.close_transfer(order.id, TransferState.DONE, 0, Amounts(500))
    store.close_transfer(order.id, TransferState.DONE, 0, Amounts(500))
    with pytest.raises(StoreError, match="reported as"):
        store.close_transfer(order.id, TransferState.DONE, 0, Amounts(400))
    with pytest.raises(StoreError, match="00000099"):
        store.close_transfer("00000099", TransferState.DONE, 0, Amounts(400))


def test_transaction_ids_and_facts_outlive_the_host(path):
    ids = []
    for _ in range(3):
        with Store.open(path) as store:
            ids.append(store.offer("EGM-1", 0, Amounts(1)).id)
            assert store.fact("key", ids[-1].strip) == ids[0]
    assert len(set(ids)) == 3


def test_a_ledger_that_is_none_is_refused_by_name(tmp_path):
    (tmp_path / "x.sqlite").write_text("hello " * 1000)
    with pytest.raises(StoreError, match=r"x\.sqlite"), Store.open(tmp_path / "x.sqlite"):
        pass
