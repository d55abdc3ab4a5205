"""The SAS polls of electronic transfers, against frames written by hand from the protocol's tables."""

import pytest

from egm.host.transfers import TRANSFER_HISTORY_SIZE
from egm.kernel.credits import CreditKind
from egm.kernel.events import EventType, State
from egm.money.host_money import HostMoney
from egm.testing.machine import MachineRig, ScriptedGenerator
from egm.testing.sas import SasHostBench

ASSET, WIRE_ASSET = 0x01020304, "04030201"
KEY, POS = "ab" * 20, "78563412"
NO_KEY = "00" * 20
NOW = "01012026000000"
LOSS = (0, 0, 0)
INTERROGATE = "02ff00"


@pytest.fixture
def make(tmp_path):
    opened = []

    def bench(
        *, asset=ASSET, line="main", transfers=True, bonuses=True, enable=(), **room_options
    ) -> SasHostBench:
        """A machine and its host's channel; called again, the same machine after a restart."""
        if opened:
            opened[-1].rig.close()
        host = HostMoney(
            can_transfer=transfers, can_award_bonuses=bonuses, asset_number=asset, money_line_name=line
        )
        rig = MachineRig(tmp_path, devices=("printer",), host=host, **room_options)
        opened.append(SasHostBench(tmp_path, rig, enable=list(enable)))
        opened[-1].read_exceptions()
        return opened[-1]

    yield bench
    for opened_bench in opened:
        opened_bench.rig.close()


def build_order(
    identifier="T1",
    *,
    code="00",
    kind="00",
    cents=(1000, 0, 0),
    flags="00",
    asset=WIRE_ASSET,
    key=NO_KEY,
    expires="00000000",
    pool="0000",
    receipt="00",
) -> str:
    """Return the data of a poll 72 that orders a transfer."""
    amounts = "".join(f"{part:010d}" for part in cents)
    text = identifier.encode("latin-1").hex()
    body = f"{code}00{kind}{amounts}{flags}{asset}{key}{len(identifier):02x}{text}{expires}{pool}{receipt}"
    return f"{len(body) // 2:02x}{body}"


def order_and_read_status(bench: SasHostBench, data: str) -> str:
    """Return the transfer status in the reply to an order."""
    answer = bench.send_long_poll(0x72, data)
    bench.poll_other_address()
    return answer[4:6]


def execute_transfer(bench: SasHostBench, **options) -> str:
    """Order a transfer and complete it; return the final status."""
    first = order_and_read_status(bench, build_order(**options))
    if first != "40":
        return first
    final = bench.send_long_poll(0x72, INTERROGATE)[4:6]
    bench.poll_other_address()
    return final


def read_credit_kinds(bench: SasHostBench) -> tuple[int, ...]:
    order = (CreditKind.CASHABLE, CreditKind.RESTRICTED, CreditKind.NONRESTRICTED)
    return tuple(bench.rig.machine.read_credit_cents(kind) for kind in order)


# ---------------------------------------------------------------------------------------------- 72
@pytest.mark.requirement("K-09")
@pytest.mark.sas(polls="72", exceptions="69")
def test_a_transfer_from_its_order_to_its_acknowledgement(make):
    bench = make()
    assert bench.send_long_poll(0x72, INTERROGATE) == "0200ff", "nothing to tell"
    expected = build_order("T1", cents=(1000, 200, 30), pool="0700", expires="12312026")
    assert len(expected) // 2 == 1 + 51 + 2
    echo = "0000000010000000000200000000003000" + WIRE_ASSET + "025431"
    assert bench.send_long_poll(0x72, expected) == "2b0040ff" + echo + "00" * 7 + "123120260700000000"
    assert bench.read_exceptions() == [0x69]
    body = "0100ff" + echo + NOW + "123120260700050000001000050000000200050000000030"
    assert bench.send_long_poll(0x72, "02fe00") == f"{len(body) // 2:02x}{body}", "only looked at"
    bench.poll_other_address()
    assert bench.send_long_poll(0x72, INTERROGATE) == f"{len(body) // 2:02x}{body}"
    bench.poll_other_address()
    assert read_credit_kinds(bench) == (1000, 200, 30)
    bench.rig.clock.pass_seconds(15)
    assert bench.read_exceptions() == []
    assert bench.send_long_poll(0x72, "02ff01") == f"{len(body) // 2:02x}{body}", (
        "and it stays in the history"
    )


@pytest.mark.requirement("K-09")
def test_a_repeat_is_never_a_second_transfer(make):
    bench = make()
    frames = [bench.send_long_poll(0x72, build_order()) for _ in range(3)]
    assert frames[0] == frames[1] == frames[2]
    bench.poll_other_address()
    assert order_and_read_status(bench, build_order("T2")) == "c0", "the first is not closed yet"
    bench.send_long_poll(0x72, INTERROGATE)
    bench.poll_other_address()
    assert order_and_read_status(bench, build_order()) == "81"
    assert read_credit_kinds(bench) == (1000, 0, 0)
    restarted = make()
    assert order_and_read_status(restarted, build_order()) == "81"
    assert read_credit_kinds(restarted) == (1000, 0, 0)


@pytest.mark.requirement("K-05")
def test_an_unreported_transfer_is_reported_after_a_power_loss(make):
    bench = make()
    bench.send_long_poll(0x72, build_order())
    restarted = make()
    restarted.rig.clock.pass_seconds(15)
    assert restarted.read_exceptions() == [0x69]
    assert restarted.send_long_poll(0x72, INTERROGATE)[2:6] == "0100"
    restarted.poll_other_address()
    assert execute_transfer(restarted, identifier="T2") == "00"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"kind": "80", "cents": (1, 0, 0)}, "83"),
        ({"asset": "00000000"}, "93"),
        ({"asset": "05030201"}, "93"),
        ({"identifier": ""}, "95"),
        ({"identifier": "x" * 21}, "95"),
        ({"identifier": "bad\x00"}, "95"),
        ({"kind": "10", "cents": (0, 0, 0)}, "83"),
        ({"cents": (300_001, 0, 0)}, "84"),
        ({"cents": (0, 5, 0), "expires": "12312025"}, "83"),
        ({"cents": (0, 5, 0), "expires": "02302026"}, "83"),
        ({"key": KEY}, "88"),
        ({"flags": "80"}, "90"),
        ({"flags": "40"}, "94"),
        ({"kind": "10", "cents": (0, 5, 0)}, "83"),
        ({"kind": "20"}, "c1"),
        ({"kind": "40"}, "c1"),
        ({"kind": "60"}, "c1"),
        ({"kind": "90"}, "c1"),
        ({"code": "02"}, "82"),
    ],
)
def test_an_impossible_order_is_refused_with_the_reason_and_moves_nothing(make, options, code):
    bench = make()
    assert execute_transfer(bench, **options) == code
    assert read_credit_kinds(bench) == (0, 0, 0)
    assert bench.read_exceptions() in ([], [0x69])
    assert execute_transfer(bench, identifier="good") == "00"


@pytest.mark.requirement("K-09")
@pytest.mark.parametrize("kind", ["00", "80"])
@pytest.mark.parametrize(("flags", "mode"), [("03", "03"), ("07", "07"), ("01", "01")])
def test_a_transfer_of_zero_sets_the_host_cash_out_mode(make, kind, flags, mode):
    """The public host does this with type 80, amounts of zero and flags 0 to 2."""
    bench = make()
    bench.rig.insert(1000)
    assert execute_transfer(bench, kind=kind, cents=(0, 0, 0), flags=flags) == "00"
    assert split_lock_fields(bench.send_long_poll(0x74, "ff000000"))["cash_out"] == mode
    assert read_credit_kinds(bench) == (1000, 0, 0)
    bench.rig.journal.self_audit()


@pytest.mark.parametrize(
    ("options", "code"),
    [({"code": "02"}, "82"), ({"kind": "40"}, "c1"), ({"flags": "80"}, "90"), (None, "83")],
)
def test_an_interrogation_reports_an_order_refused_for_its_form(make, options, code):
    bench = make()
    assert execute_transfer(bench, identifier="BEFORE") == "00"
    data = build_order("REFUSED", **(options or {}))
    if options is None:
        data = data.replace("0000001000", "000000100a", 1)
    assert order_and_read_status(bench, data) == code
    restarted = make()
    reply = restarted.send_long_poll(0x72, INTERROGATE)
    assert (reply[4:6], b"REFUSED".hex() in reply) == (code, True)


def test_amounts_that_are_not_bcd_are_refused(make):
    bench = make()
    assert order_and_read_status(bench, build_order().replace("0000001000", "000000100a", 1)) == "83"


@pytest.mark.parametrize("data", ["00", "0100", "10" + "00" * 16, build_order()[:-4]])
def test_truncated_orders_get_no_reply(make, data):
    bench = make()
    data = f"{len(data) // 2 - 1:02x}{data[2:]}"
    assert bench.send_long_poll(0x72, data) == ""
    assert execute_transfer(bench) == "00"


@pytest.mark.requirement("K-09")
def test_transfers_to_the_host_are_full_or_partial_as_ordered(make):
    bench = make()
    bench.rig.insert(1000)
    assert execute_transfer(bench, identifier="O1", kind="80", cents=(5000, 0, 0)) == "83"
    assert execute_transfer(bench, identifier="O2", kind="80", cents=(5000, 0, 0), code="01") == "01"
    last = bench.send_long_poll(0x72, "02ff01")
    assert last[10:20] == "0000001000"
    assert last.endswith("050000001000050000000000050000000000")
    assert bench.rig.credit_cents == 0


def test_an_order_that_waits_for_the_end_of_a_game_can_be_cancelled(make):
    bench = make(generator=ScriptedGenerator(*LOSS, *LOSS))
    bench.rig.insert(100)
    bench.rig.play()
    assert order_and_read_status(bench, build_order()) == "40"
    assert bench.send_long_poll(0x72, INTERROGATE)[4:6] == "40"
    bench.poll_other_address()
    assert bench.send_long_poll(0x72, "0180")[4:6] == "80"
    bench.rig.report_shown()
    assert bench.rig.credit_cents == 95
    bench.read_exceptions()
    bench.send_long_poll(0x72, INTERROGATE)
    bench.poll_other_address()
    bench.rig.play()
    assert order_and_read_status(bench, build_order("T2")) == "40"
    bench.rig.report_shown()
    assert bench.rig.credit_cents == 1090
    assert 0x69 in bench.read_exceptions()


def test_a_busy_machine_refuses_a_transfer_with_the_reason(make):
    bench = make()
    bench.rig.engine.handle(EventType.DOOR_OPENED, door="main")
    assert execute_transfer(bench) == "87"


@pytest.mark.requirement("F-06", "D-10", "D-09")
def test_bonuses(make):
    bench = make()
    assert execute_transfer(bench, kind="10", cents=(500, 0, 20)) == "00"
    assert read_credit_kinds(bench) == (500, 0, 20)
    assert bench.send_long_poll(0x72, "02ff01").endswith("050000000500050000000000050000000020")
    bench.poll_other_address()
    assert execute_transfer(bench, identifier="J1", kind="11", cents=(90_000, 0, 0)) == "00"
    assert bench.rig.state is State.HANDPAY
    assert 0x51 in bench.read_exceptions()
    bench.rig.engine.handle(EventType.KEY_TURNED)
    values = bench.rig.journal.meters().values
    assert (values["mach_bonus"], values["att_bonus"], bench.rig.credit_cents) == (520, 90_000, 520)


def test_bonuses_and_transfers_are_enabled_separately(make):
    assert execute_transfer(make(transfers=False)) == "c1"
    assert execute_transfer(make(bonuses=False), kind="10") == "c1"


# ---------------------------------------------------------------------------------------------- 73
@pytest.mark.sas(polls="73")
def test_registration(make):
    bench = make()
    none = "1d80" + WIRE_ASSET + NO_KEY + "00000000"
    assert bench.send_long_poll(0x73, "01ff") == none
    assert bench.send_long_poll(0x73, "1d00" + WIRE_ASSET + KEY + POS) == "1d00" + WIRE_ASSET + KEY + POS
    assert bench.send_long_poll(0x73, "1d0199999999" + KEY + POS) == none, "another machine's number"
    registered = "1d01" + WIRE_ASSET + KEY + POS
    assert bench.send_long_poll(0x73, "1d01" + WIRE_ASSET + KEY + POS) == registered
    assert bench.send_long_poll(0x73, "01ff") == registered
    assert execute_transfer(bench, key=KEY) == "00"
    assert execute_transfer(bench, identifier="T2", key="cd" * 20) == "89"
    assert make().send_long_poll(0x73, "01ff") == "1d01" + WIRE_ASSET + NO_KEY + POS, (
        "the key is told once only"
    )


@pytest.mark.parametrize("data", ["0180", "1d80" + WIRE_ASSET + KEY + POS])
def test_both_forms_of_unregistration_are_accepted(make, data):
    bench = make()
    bench.send_long_poll(0x73, "1d01" + WIRE_ASSET + KEY + POS)
    assert bench.send_long_poll(0x73, data)[2:4] == "80"
    assert execute_transfer(bench, key=KEY) == "88"


# ---------------------------------------------------------------------------------------------- 74
def split_lock_fields(answer: str) -> dict[str, str]:
    """Return the fields of a reply to poll 74, in hexadecimal."""
    assert answer[:2] == "23"
    sizes = {"asset": 4, "lock": 1, "available": 1, "cash_out": 1, "aft": 1, "index": 1}
    sizes |= {"cashable": 5, "restricted": 5, "nonrestricted": 5, "limit": 5, "expires": 4, "pool": 2}
    fields, offset = {}, 2
    for name, size in sizes.items():
        fields[name] = answer[offset : offset + 2 * size]
        offset += 2 * size
    assert offset == len(answer)
    return fields


@pytest.mark.sas(polls="74", exceptions="6F")
def test_status_and_lock(make):
    bench = make()
    execute_transfer(bench, cents=(1000, 200, 30), pool="0700", expires="12312026")
    read = split_lock_fields(bench.send_long_poll(0x74, "ff000000"))
    assert read == {
        "asset": WIRE_ASSET,
        "lock": "ff",
        "available": "13",
        "cash_out": "01",
        "aft": "32",
        "index": f"{TRANSFER_HISTORY_SIZE:02x}",
        "cashable": "0000001000",
        "restricted": "0000000200",
        "nonrestricted": "0000000030",
        "limit": "0001000000",
        "expires": "12312026",
        "pool": "0700",
    }
    assert split_lock_fields(bench.send_long_poll(0x74, "00010500"))["lock"] == "00"
    assert bench.rig.state is State.LOCKED
    assert bench.read_exceptions() == [0x6F]
    assert split_lock_fields(bench.send_long_poll(0x74, "80000000"))["lock"] == "ff"
    assert bench.rig.state is State.IDLE


def test_a_lock_waits_for_the_end_of_a_game_and_is_refused_if_impossible(make):
    bench = make(generator=ScriptedGenerator(*LOSS))
    bench.rig.insert(100)
    assert split_lock_fields(bench.send_long_poll(0x74, "00040500"))["lock"] == "ff", (
        "there is no way to the printer"
    )
    bench.rig.play()
    assert split_lock_fields(bench.send_long_poll(0x74, "00010500"))["lock"] == "40"
    bench.rig.report_shown()
    assert bench.rig.state is State.LOCKED
    assert 0x6F in bench.read_exceptions()


def test_transfers_under_a_lock_release_or_keep_it_as_ordered(make):
    bench = make()
    bench.send_long_poll(0x74, "00010500")
    assert execute_transfer(bench, flags="50") == "00"
    assert bench.rig.state is State.LOCKED
    assert execute_transfer(bench, identifier="T2", flags="40") == "00"
    assert bench.rig.state is State.IDLE


@pytest.mark.sas(exceptions="6A")
def test_cash_outs_offered_to_the_host(make):
    bench = make()
    assert execute_transfer(bench, flags="03") == "00"
    assert split_lock_fields(bench.send_long_poll(0x74, "ff000000"))["cash_out"] == "03"
    bench.poll_other_address()
    bench.rig.engine.handle(EventType.CASH_OUT)
    assert bench.send_general_poll() == 0x6A
    assert execute_transfer(bench, identifier="O1", kind="80", cents=(1000, 0, 0), flags="08") == "00"
    assert (bench.rig.state, bench.rig.credit_cents) == (State.IDLE, 0)
    assert execute_transfer(bench, identifier="T2", flags="01") == "00"
    assert split_lock_fields(bench.send_long_poll(0x74, "ff000000"))["cash_out"] == "01"


def test_a_hand_pay_that_the_host_resets_is_reported_as_reset_if_another_one_follows_at_once(make):
    """Regression: the host was told that it could not reset the hand-pay, which was settled."""
    bench = make(enable=["handpay_reset"])
    engine, balance_cents = bench.rig.engine, bench.rig.journal.balance_cents
    assert execute_transfer(bench, flags="03") == "00"
    engine.handle(EventType.FAULT_RAISED, code="ticket_printer.jam")
    engine.handle(EventType.CASH_OUT)
    assert execute_transfer(bench, identifier="B1", kind="11", cents=(500, 0, 0)) == "00"
    engine.handle(EventType.TRANSFER_LOCK_ENDED)
    assert (bench.rig.state, balance_cents("out:handpay_bonus")) == (State.HANDPAY, 0)
    assert bench.send_long_poll(0x94) == "00"
    assert (bench.rig.state, balance_cents("out:handpay_bonus")) == (State.HANDPAY, 500)
    bench.poll_other_address()
    assert bench.send_long_poll(0x94) == "00"
    assert (bench.rig.state, balance_cents("out:handpay_cancelled_credit")) == (State.IDLE, 1000)


@pytest.mark.parametrize("code", [0x72, 0x73, 0x74, 0x75, 0x76])
def test_a_host_without_authority_over_money_gets_no_reply(make, code):
    bench = make(line="other")
    data = {0x72: INTERROGATE, 0x73: "01ff", 0x74: "ff000000", 0x75: "00", 0x76: "00"}
    assert bench.send_long_poll(code, data[code]) == ""


@pytest.mark.sas(meters="AE AF B0 B1")
def test_bonuses_have_meters_of_their_own_by_kind(make):
    bench = make()
    assert execute_transfer(bench, kind="10", cents=(500, 0, 20)) == "00"
    assert execute_transfer(bench, identifier="T2", kind="10", cents=(50, 0, 0)) == "00"
    query = "0a0000ae00af00b000b100"
    values = "ae00050000000550af000400000002b000050000000020b1000400000001"
    assert bench.send_long_poll(0x6F, query) == f"{2 + len(values) // 2:02x}0000" + values
