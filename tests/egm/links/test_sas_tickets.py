"""The SAS polls of tickets, against frames written by hand from the tables, with the real codec and channel."""

from pathlib import Path

import pytest

import egm.profiles
from egm.config.cabinet_file import TicketValidator
from egm.devices.interface import PrintState
from egm.kernel.events import EventType, State
from egm.money.host_money import HostMoney
from egm.money.keys import MoneyKey
from egm.money.ticket_terms import find_ticket_terms
from egm.testing.machine import MachineRig, write_undeclared_entry
from egm.testing.sas import SasHostBench
from meters import Transfer

SOLD = Path(egm.profiles.__file__).with_name("generic.toml")
NUMBER = "071111222233334444"
OTHER = "075555666677778888"
ASSET = 0x01020304
#: MachineRig time is 2026-01-01 00:00 UTC, and the house is there: MMDDYYYY HHMMSS.
NOW = "01012026000000"


@pytest.fixture
def make(tmp_path):
    opened = []

    def bench(
        validation=TicketValidator.SYSTEM, *, promotional=False, offline=0, line="main", **settings
    ) -> SasHostBench:
        """A machine and its host's channel; called again, the same machine after a restart."""
        if opened:
            opened[-1].rig.close()
        profile_file = tmp_path / "place.toml"
        switched = str(promotional).lower()
        tickets = f"[tickets]\npromotional = {switched}\nrestricted_out = {switched}"
        host = f"\n[host]\noffline_tickets = {offline}\n"
        profile_file.write_text(SOLD.read_text().replace("[tickets]", tickets) + host)
        host = HostMoney(ticket_validator=validation, asset_number=ASSET, money_line_name=line)
        rig = MachineRig(tmp_path, profile=profile_file, devices=("printer",), host=host)
        opened.append(SasHostBench(tmp_path, rig, **settings))
        opened[-1].read_exceptions()
        return opened[-1]

    yield bench
    for opened_bench in opened:
        opened_bench.rig.close()


def complete_printing(bench: SasHostBench) -> None:
    for state in (PrintState.PRINTING, PrintState.BARCODE_DONE, PrintState.TAKEN):
        bench.rig.report_print_state(state)


def stack_ticket(bench: SasHostBench) -> None:
    bench.rig.escrow_ledger.credit_stacked_paper()
    bench.rig.escrow_ledger.close_confirmed_paper()


def cash_out(bench: SasHostBench, cents: int = 2000) -> None:
    bench.rig.insert(cents)
    bench.read_exceptions()
    bench.rig.engine.handle(EventType.CASH_OUT)


def build_redemption_data(
    code: str, digits: str = NUMBER, cents: str = "0000001234", trailing_hex: str = ""
) -> str:
    """Return the data of a poll 71."""
    body = f"{code}{cents}00{digits}{trailing_hex}"
    return f"{len(body) // 2:02x}{body}"


# ---------------------------------------------------------------------------------------------- 57, 58
@pytest.mark.requirement("H-05", "K-12")
@pytest.mark.sas(polls="57 58 4D 50", exceptions="57 3D 66")
def test_a_system_ticket_from_cash_out_to_its_report(make):
    bench = make()
    cash_out(bench)
    assert bench.send_general_poll() == 0x57
    assert bench.read(0x57) == "000000002000"
    assert bench.send_long_poll(0x58, NUMBER) == "00"
    complete_printing(bench)
    assert bench.read_exceptions() == [0x3D, 0x66]
    record = "0001" + NOW + "11112222333344440000002000010007010120270000"
    assert bench.send_long_poll(0x4D, "00") == record
    assert bench.send_long_poll(0x50, "00") == "00000000010000002000"
    assert bench.send_long_poll(0x4D, "00") == "00" * 31, "the first was acknowledged by the poll after it"
    assert bench.send_long_poll(0x4D, "01") == record
    assert bench.read(0x57) == "800000000000"


@pytest.mark.requirement("H-10")
def test_a_ticket_expires_on_the_printed_day(make):
    """A ticket issued on 1 January 2026 and valid for 365 days is last valid on 1 January 2027."""
    bench = make()
    cash_out(bench)
    bench.send_long_poll(0x58, NUMBER)
    job = bench.rig.hands.jobs[-1]
    assert "2027" in str(job.fields)
    assert (
        bench.rig.ticket_store.find_ticket(NUMBER).ticket.expires_at.isoformat()
        == "2027-01-02T00:00:00+00:00"
    )


def test_exception_57_is_repeated_until_it_has_been_read(make):
    bench = make()
    cash_out(bench)
    assert bench.read_exceptions() == [0x57, 0x66]
    assert bench.send_general_poll() == 0
    bench.rig.clock.pass_seconds(15)
    assert bench.send_general_poll() == 0x57
    bench.read(0x57)
    bench.poll_other_address()
    bench.rig.clock.pass_seconds(15)
    assert bench.read_exceptions() == []


@pytest.mark.requirement("F-09")
def test_a_host_that_refuses_a_number_leaves_it_to_the_attendant(make):
    bench = make()
    cash_out(bench)
    assert bench.send_long_poll(0x58, "00" * 9) == "00"
    assert bench.rig.state is State.HANDPAY
    bench.poll_other_address()
    assert bench.send_long_poll(0x58, NUMBER) == "80"


@pytest.mark.parametrize(("number", "answer"), [("0a" + NUMBER[2:], "81"), (NUMBER[:-1] + "f", "81")])
def test_invalid_number_is_improper_and_the_valid_one_is_still_accepted(make, number, answer):
    bench = make()
    cash_out(bench)
    assert bench.send_long_poll(0x58, number) == answer
    assert bench.rig.state is State.PAYING
    assert bench.send_long_poll(0x58, NUMBER) == "00"


def test_a_repeated_poll_58_is_one_ticket(make):
    bench = make()
    cash_out(bench)
    assert [bench.send_long_poll(0x58, NUMBER) for _ in range(3)] == ["00"] * 3
    bench.poll_other_address()
    assert bench.send_long_poll(0x58, NUMBER) == "00"
    assert len(bench.rig.hands.jobs) == 1


# ---------------------------------------------------------------------------------------------- 4C, 4D
@pytest.mark.requirement("H-05")
@pytest.mark.sas(polls="4C 4D")
def test_secure_enhanced_validation(make):
    bench = make(TicketValidator.SECURE_ENHANCED)
    assert bench.send_long_poll(0x4C, "000000000000") == "00" * 6
    assert bench.send_long_poll(0x4C, "393000a50200") == "393000a50200"
    bench.rig.insert(500)
    bench.rig.cash_out_ticket()
    bench.rig.insert(1000)
    bench.rig.cash_out_ticket()
    assert bench.send_long_poll(0x4C, "000000000000") == "393000a70200"
    first = bench.send_long_poll(0x4D, "ff")
    assert first[18:34] == "4724978028378429"
    assert bench.send_long_poll(0x4D, "00") == first
    assert bench.send_long_poll(0x4D, "00") == first, "a repeat of the same poll asks for the same answer"
    bench.poll_other_address()
    second = bench.send_long_poll(0x4D, "00")
    assert (second[2:4], second[34:44]) == ("02", "0000001000")
    bench.poll_other_address()
    assert bench.send_long_poll(0x4D, "00") == "00" * 31
    assert bench.send_long_poll(0x4D, "20") == "", "there are 31 places"


@pytest.mark.sas(exceptions="3F")
@pytest.mark.requirement("H-09")
def test_with_an_identifier_tickets_are_numbered_locally_while_the_host_is_silent(make):
    assert make().send_long_poll(0x4C, "010000000000") == "", "nobody numbers but the system"
    bench = make(offline=1)
    assert bench.send_long_poll(0x4C, "393000a50200") == "393000a50200"
    cash_out(bench)
    pay_out = bench.rig.machine.memory.get(MoneyKey.PAY_OUT)
    bench.rig.engine.handle(EventType.TICKET_NUMBER_REFUSED, id=pay_out["id"], why="the host did not answer")
    assert bench.rig.hands.jobs[-1].barcode == "004724978028378429"
    complete_printing(bench)
    assert bench.send_long_poll(0x4D, "00")[18:34] == "4724978028378429"


@pytest.mark.requirement("H-05")
def test_a_machine_without_an_identifier_requests_one(make):
    bench = make(TicketValidator.SECURE_ENHANCED)
    bench.rig.clock.pass_seconds(15)
    assert bench.send_general_poll() == 0x3F
    bench.send_long_poll(0x4C, "010000000000")
    bench.poll_other_address()
    bench.rig.insert(100)
    assert 0x3F not in bench.read_exceptions()


def test_unread_tickets_are_reported_until_all_are_read(make):
    bench = make(TicketValidator.SECURE_ENHANCED)
    bench.send_long_poll(0x4C, "010000000000")
    for _ in range(3):
        bench.rig.insert(500)
        bench.rig.cash_out_ticket()
    for _ in range(3):
        assert 0x3D in bench.read_exceptions()
        assert bench.send_long_poll(0x4D, "00")[34:44] == "0000000500"
        bench.poll_other_address()
    assert 0x3D not in bench.read_exceptions()


@pytest.mark.requirement("K-05")
def test_tickets_unread_at_a_power_loss_are_reported_afterwards(make):
    bench = make(TicketValidator.SECURE_ENHANCED)
    bench.send_long_poll(0x4C, "010000000000")
    bench.rig.insert(500)
    bench.rig.cash_out_ticket()
    bench.send_long_poll(0x4D, "00")  # the power is cut before the host can acknowledge
    restarted = make(TicketValidator.SECURE_ENHANCED)
    assert restarted.send_long_poll(0x4D, "00")[2:4] == "01"


def test_a_restricted_ticket_states_its_kind_pool_and_expiry(make):
    bench = make(promotional=True)
    gift = (Transfer("world:aft_in:restricted", "credit:1:restricted", 300),)
    terms = {MoneyKey.RESTRICTED_CREDIT_TERMS: {"expires": "2026-02-03", "pool": 0x0102}}
    write_undeclared_entry(bench.rig.machine, "test.gift", transfers=gift, state=terms)
    bench.rig.engine.handle(EventType.CASH_OUT)
    assert bench.read(0x57) == "010000000300"
    bench.send_long_poll(0x58, NUMBER)
    complete_printing(bench)
    record = bench.send_long_poll(0x4D, "00")
    assert (record[:2], record[-12:-4], record[-4:]) == ("01", "02032026", "0201")
    assert bench.send_long_poll(0x50, "01") == "01000000010000000300"


# ---------------------------------------------------------------------------------------------- 70, 71
@pytest.mark.requirement("H-08", "K-12")
@pytest.mark.sas(polls="70 71", exceptions="67 68")
def test_a_ticket_in_from_bar_code_to_final_status(make):
    bench = make()
    assert bench.read(0x70) == "01ff"
    bench.rig.offer_ticket(NUMBER)
    assert bench.send_general_poll() == 0x67
    assert bench.read(0x70) == "1000000000000000" + NUMBER
    assert bench.send_long_poll(0x71, "01ff") == "1020000000000000" + NUMBER
    assert bench.send_long_poll(0x71, build_redemption_data("00")) == "1040000000123400" + NUMBER
    assert bench.rig.credit_cents == 0
    stack_ticket(bench)
    assert bench.rig.credit_cents == 1234
    assert bench.read_exceptions() == [0x68]
    assert bench.send_long_poll(0x71, "01ff") == "1000000000123400" + NUMBER
    bench.poll_other_address()
    bench.rig.clock.pass_seconds(15)
    assert bench.read_exceptions() == []
    assert bench.send_long_poll(0x50, "80") == "80000000010000001234"


def test_ticket_end_before_the_acknowledgement_is_reported(make):
    bench = make()
    bench.rig.offer_ticket(NUMBER)
    bench.read(0x70)
    bench.send_long_poll(0x71, build_redemption_data("00"))
    stack_ticket(bench)
    assert bench.read_exceptions() == [0x68]


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (build_redemption_data("00", OTHER), "81"),
        (build_redemption_data("00", cents="0000000000"), "83"),
        (build_redemption_data("00", cents="0000300001"), "84"),
        (build_redemption_data("01"), "8a"),
        *((build_redemption_data(f"{code:02x}"), "80") for code in range(0x80, 0x89)),
        (build_redemption_data("00", trailing_hex="123120250000"), "40"),
        (build_redemption_data("02"), "8a"),
    ],
)
def test_every_reply_of_the_host_about_a_ticket_has_its_result(make, data, status):
    bench = make()
    bench.rig.offer_ticket(NUMBER)
    answer = bench.send_long_poll(0x71, data)
    assert answer[2:4] == status
    if status != "40":
        assert bench.rig.hands.orders[-1][0] == "return"
        assert bench.read_exceptions() == [], "the host has the answer: no exception is needed"
        assert bench.rig.credit_cents == 0


@pytest.mark.parametrize(
    ("code", "status", "kind"), [("01", "01", "restricted"), ("02", "02", "nonrestricted")]
)
def test_promotional_tickets_are_accepted_where_the_venue_allows_them(make, code, status, kind):
    bench = make(promotional=True)
    bench.rig.offer_ticket(NUMBER)
    assert bench.send_long_poll(0x71, build_redemption_data(code, trailing_hex="020120260500"))[2:4] == "40"
    stack_ticket(bench)
    assert bench.send_long_poll(0x71, "01ff")[2:4] == status
    assert bench.rig.journal.balance_cents(f"credit:1:{kind}") == 1234


def test_expiry_is_a_date_or_days_from_today_and_invalid_dates_are_refused(make):
    bench = make(promotional=True)
    bench.rig.offer_ticket(NUMBER)
    assert bench.send_long_poll(0x71, build_redemption_data("01", trailing_hex="023020260000")) == "", (
        "30 February"
    )
    bench.send_long_poll(0x71, build_redemption_data("01", trailing_hex="000000300000"))
    stack_ticket(bench)
    assert bench.rig.machine.memory.get(MoneyKey.RESTRICTED_CREDIT_TERMS)["expires"] == "2026-01-31"


def test_polls_with_an_invalid_length_get_no_reply(make):
    bench = make()
    bench.rig.offer_ticket(NUMBER)
    assert bench.send_long_poll(0x71, "0200ff") == ""
    assert bench.send_long_poll(0x71, "00") == ""
    assert bench.send_long_poll(0x71, build_redemption_data("77"))[2:4] == "82"
    assert bench.send_long_poll(0x71, build_redemption_data("00"))[2:4] == "40"


@pytest.mark.requirement("G-16")
def test_a_ticket_is_returned_while_the_line_is_down(make):
    bench = make()
    bench.rig.clock.pass_seconds(6)
    bench.tick()
    bench.rig.offer_ticket(NUMBER)
    assert bench.rig.hands.orders[-1][0] == "return"
    assert bench.read(0x70) == "01ff"
    assert bench.send_long_poll(0x71, "01ff")[2:4] == "89"


# ---------------------------------------------------------------------------------------------- 7B, 7C, 7D
@pytest.mark.sas(polls="7B")
def test_the_host_reads_and_sets_the_terms_of_tickets(make):
    bench = make(promotional=True)
    assert bench.send_long_poll(0x7B, "080000000000000000") == "0a04030201290003650365"
    assert bench.send_long_poll(0x7B, "082800000000300007") == "0a04030201010000300007"
    bench.rig.offer_ticket(NUMBER)
    assert bench.rig.hands.orders[-1][0] == "return", "redemption is switched off"
    assert make(promotional=True).send_long_poll(0x7B, "08" + "00" * 8) == "0a04030201010000300007"


@pytest.mark.sas(polls="7C 7D")
def test_the_host_sets_the_texts_printed_on_tickets(make):
    bench = make()
    texts = "0005" + b"HOTEL".hex() + "0104" + b"MAIN".hex() + "0201" + b"7".hex()
    assert bench.send_long_poll(0x7C, f"{len(texts) // 2:02x}{texts}") == "01"
    cash_out(bench)
    bench.send_long_poll(0x58, NUMBER)
    house = bench.rig.ticket_store.find_ticket(NUMBER).ticket.venue
    assert (house.site, house.address) == ("HOTEL", "MAIN 7")
    assert bench.send_long_poll(0x7C, "03100141") == "00", "titles are the place's own"
    assert bench.send_long_poll(0x7C, "03000541") == "00", "a text cut short"
    old = "01000a03" + b"OLD".hex() + "03" + b"OLD".hex()
    assert bench.send_long_poll(0x7D, f"{len(old) // 2:02x}{old}") == "01"
    assert find_ticket_terms(bench.rig.machine).venue_name == "HOTEL", "7C outranks 7D"
    assert find_ticket_terms(bench.rig.machine).cashable_validity_days == 10
    assert bench.send_long_poll(0x7D, "00") == "01"


# ---------------------------------------------------------------------------------------------- whose host
@pytest.mark.parametrize("poll", ["4C", "4D", "57", "58", "70", "71", "7B", "7C", "7D"])
def test_a_host_without_authority_over_money_gets_no_reply(make, poll):
    bench = make(line="other")
    data = {
        "4C": "00" * 6,
        "4D": "00",
        "58": NUMBER,
        "71": "01ff",
        "7B": "08" + "00" * 8,
        "7C": "00",
        "7D": "00",
    }
    code = int(poll, 16)
    assert (bench.read(code) if poll in {"57", "70"} else bench.send_long_poll(code, data[poll])) == ""
    assert not bench.rig.machine.component(HostMoney).is_online
