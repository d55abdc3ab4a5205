"""Payments and rulings of enrolled persons at the cage, with their reasons, and the commands for them."""

import json
import shutil
from contextlib import closing
from dataclasses import replace

import pytest
from click.testing import CliRunner
from PIL import Image
from rigs.ticket_office import RULES, Office, StandingClock

from egm.errors import OperatorError
from egm.people import Person, Role, Roster
from egm.tickets.cage import TicketCage, TicketPayee, iter_payee_register_lines
from egm.tickets.copies import TICKET_DATABASE_FILE_NAME
from egm.tickets.errors import TicketOrderError
from egm.tickets.model import TicketKind, TicketState
from egm.tickets.move_log import MOVE_LOG_FILE_NAME as LOG_NAME
from egm.tickets.numbers import is_system_number
from egm.tickets.record import TicketAction
from egm.tickets.redemption import TicketRedemption, TicketRefusalReason
from egm.tickets.store import LEDGER_HEAD_MAC_PURPOSE
from egm.tickets.templates import CageRules, load_template
from meters import Journal, Transaction, Transfer
from meters.copies import SECOND_FOLDER
from tools.cli import main

CREDIT = "credit:1:cashable"
PAYEE = TicketPayee("Anne Tremblay", "5, rue Racine, Chicoutimi")


PIN = "8053"
#: A supervisor, an attendant, and a mechanic, who may not pay.
LUC, MIA, TOM = "11", "12", "13"


@pytest.fixture(scope="module")
def staff(tmp_path_factory):
    """The staff file; shared by the tests, because each PIN takes time to derive."""
    file = tmp_path_factory.mktemp("staff") / "people.json"
    roster = Roster.load(file)
    for number, role in (
        ("1", Role.MANAGER),
        (LUC, Role.SUPERVISOR),
        (MIA, Role.ATTENDANT),
        (TOM, Role.MECHANIC),
    ):
        roster = roster.enrol_person(
            Person(number, f"P{number}", role), PIN, changed_by="", changed_at=StandingClock().now()
        )
    return file


@pytest.fixture
def office(tmp_path, staff):
    """A ticket desk on the ledger of a machine that was started once and has enrolled staff."""
    with closing(Journal.open(tmp_path, now=StandingClock().now)) as journal:
        key = journal.derive_key(LEDGER_HEAD_MAC_PURPOSE)
    shutil.copy2(staff, tmp_path)
    return Office(tmp_path, key=key, second=tmp_path / SECOND_FOLDER)


@pytest.fixture
def cage(office):
    return TicketCage(office.store, office.clock, "Luc")


@pytest.fixture
def two(office):
    return TicketCage(office.store, office.clock, "Luc", second_person="Mia")


@pytest.mark.requirement("H-07", "H-12")
def test_a_ticket_is_paid_once(office, cage):
    number = office.issue_ticket(amount_cents=4200).number
    assert isinstance(cage.pay_ticket(number), TicketRedemption)
    refusal = cage.pay_ticket(number)
    assert (refusal.reason, refusal.detail) == (
        TicketRefusalReason.REDEEMED,
        "2026-03-01 14:05:09 UTC, cage:Luc",
    )
    assert office.desk.begin_redemption("r", number).reason is TicketRefusalReason.REDEEMED
    assert [m.actor for m in office.store.require_ticket(number).moves] == ["EGM-0000001"] * 2 + [
        "cage:Luc"
    ] * 2


@pytest.mark.requirement("H-12")
def test_the_cage_refuses_each_ticket_that_it_must_not_pay(office, cage):
    pending = office.issue_ticket("p").number
    office.desk.begin_redemption("r", pending)
    assert cage.pay_ticket(pending).reason is TicketRefusalReason.LOCKED_BY_OTHER_REDEEMER
    assert (
        cage.pay_ticket(office.issue_ticket("q", kind=TicketKind.RESTRICTED).number).reason
        is TicketRefusalReason.WRONG_KIND
    )
    assert isinstance(
        cage.pay_ticket(office.issue_ticket("h", kind=TicketKind.HANDPAY_RECEIPT).number), TicketRedemption
    )
    reserved = office.desk.prepare_ticket("n", 100, denomination_cents=1).number
    assert cage.pay_ticket(reserved).reason is TicketRefusalReason.NOT_PRINTED
    assert cage.pay_ticket("12").reason is TicketRefusalReason.MISREAD
    assert cage.pay_ticket("9" * 18).reason is TicketRefusalReason.UNKNOWN


@pytest.mark.requirement("H-14")
def test_the_cage_records_name_and_address_from_500_dollars(tmp_path):
    office = Office(tmp_path, rules=replace(RULES, template="quebec-vlt"))
    cage = TicketCage(office.store, office.clock, "Luc")
    below, above = office.issue_ticket("a", 49_999).number, office.issue_ticket("b", 50_000).number
    assert isinstance(cage.pay_ticket(below), TicketRedemption)
    for payee in (None, TicketPayee("Anne", " "), TicketPayee("", "somewhere")):
        with pytest.raises(OperatorError, match="name and address are required"):
            cage.pay_ticket(above, payee)
        assert office.store.require_ticket(above).state is TicketState.ISSUED
    assert isinstance(cage.pay_ticket(above, PAYEE), TicketRedemption)
    (line,) = iter_payee_register_lines(office.store)
    assert (line.payee, line.record.ticket.amount_cents, line.payment_move.actor) == (
        PAYEE,
        50_000,
        "cage:Luc",
    )
    assert line.payment_move.action_time == office.clock.now().replace(microsecond=0)


@pytest.mark.requirement("H-07", "H-02")
def test_a_duplicate_is_the_same_ticket_and_needs_it_to_be_issued(office, two):
    ticket = office.issue_ticket()
    reprinted = two.reprint_ticket(ticket.number, "the paper tore")
    assert reprinted == replace(ticket, is_duplicate=True)
    assert load_template("generic").build_texts(reprinted, "en")["duplicate"] == "DUPLICATE"
    assert isinstance(office.desk.begin_redemption("r", ticket.number), TicketRedemption)
    with pytest.raises(OperatorError, match="the ticket is pending; reprint requires it to be issued"):
        two.reprint_ticket(ticket.number, "once more")


@pytest.mark.requirement("H-07", "H-12:c")
def test_a_void_requires_a_reason_and_stops_payment(office, two):
    number = office.issue_ticket().number
    with pytest.raises(OperatorError, match="requires a reason"):
        two.void_ticket(number, " ")
    assert two.void_ticket(number, "paid by hand").moves[-1].details == {
        "why": "paid by hand",
        "second": "Mia",
    }
    assert two.pay_ticket(number).reason is TicketRefusalReason.VOID
    with pytest.raises(OperatorError, match="no ticket has this number"):
        two.void_ticket("9" * 18, "why not")


METHOD_BY_ACT = {
    "void": "void_ticket",
    "release": "release_locked_ticket",
    "reprint": "reprint_ticket",
    "revive": "revive_expired_ticket",
}


@pytest.mark.parametrize("act", METHOD_BY_ACT)
def test_acts_that_require_two_persons_are_refused_with_one(office, cage, act):
    number = office.issue_ticket().number
    if act == "release":
        office.desk.begin_redemption("r", number)
    before = office.store.require_ticket(number)
    with pytest.raises(OperatorError, match=f"{act} requires a second person"):
        getattr(cage, METHOD_BY_ACT[act])(number, "because")
    assert office.store.require_ticket(number) == before


def test_a_redemption_cannot_be_committed_after_the_cage_released_the_ticket(office, two, cage):
    number = office.issue_ticket().number
    office.desk.begin_redemption("r", number)
    assert office.desk.has_redemption_lock("r")
    two.release_locked_ticket(number, "the machine burnt")
    assert not office.desk.has_redemption_lock("r")
    with pytest.raises(
        TicketOrderError, match="redeem is not possible, because the redemption ended in another way"
    ):
        office.desk.commit_redemption("r")
    assert office.store.require_ticket(number).moves[-1].details == {
        "why": "the machine burnt",
        "second": "Mia",
    }
    assert isinstance(cage.pay_ticket(number), TicketRedemption)


def test_the_cage_requires_a_name_and_two_different_persons(office):
    with pytest.raises(OperatorError, match="name the person"):
        TicketCage(office.store, office.clock, "  ")
    with pytest.raises(OperatorError, match="must be different"):
        TicketCage(office.store, office.clock, "Luc", second_person="Luc ")


@pytest.mark.requirement("H-10")
def test_an_expired_ticket_is_refused_remains_a_liability_and_can_be_revived(office, cage, two):
    late, locked = office.issue_ticket("a").number, office.issue_ticket("b").number
    office.desk.begin_redemption("r", locked)
    office.clock.pass_days(40)
    assert cage.pay_ticket(late).reason is TicketRefusalReason.EXPIRED
    assert office.store.require_ticket(late).state is TicketState.ISSUED
    assert {(s.state, s.ticket_count) for s in office.store.list_totals() if s.is_owed} == {
        (TicketState.ISSUED, 1),
        (TicketState.PENDING, 1),
    }
    doubting = TicketCage(office.store, office.clock, "Luc", is_clock_trusted=False)
    assert isinstance(doubting.pay_ticket(office.issue_ticket("c").number), TicketRedemption)
    assert two.revive_expired_ticket(late, "the machine's clock stood in 1970").expires_at is None
    office.clock.pass_days(4000)
    assert isinstance(office.desk.begin_redemption("in", late), TicketRedemption)


def test_a_ticket_expired_by_an_earlier_version_can_be_revived(office, two):
    """If the clock was briefly wrong, an earlier version expired every ticket permanently."""
    number = office.issue_ticket().number
    office.store.record_move(number, TicketAction.EXPIRE, action_time=office.clock.wall, actor="cage")
    assert two.pay_ticket(number).reason is TicketRefusalReason.EXPIRED
    two.revive_expired_ticket(number, "the clock was wrong")
    assert isinstance(two.pay_ticket(number), TicketRedemption)


@pytest.mark.requirement("H-10")
def test_a_venue_may_pay_expired_tickets_at_the_cage(office, cage, monkeypatch):
    number = office.issue_ticket().number
    office.clock.pass_days(40)
    template = load_template("generic")
    generous = template.model_copy(update={"cage": CageRules(expired="paid")})
    monkeypatch.setattr("egm.tickets.cage.load_template", lambda _: generous)
    assert isinstance(cage.pay_ticket(number), TicketRedemption)


# ---------------------------------------------------------------- the commands
@pytest.fixture
def egm(tmp_path, monkeypatch):
    """Return a function that runs ``egm ticket ...`` on this machine at the office's time."""
    monkeypatch.setattr("tools.cli.commands.ticket.SystemClock", StandingClock)

    def run(*arguments, status=0, pins=(PIN, PIN)):
        typed = "".join(f"{pin}\n" for pin in pins)
        arguments = ["ticket", *arguments, "--state", str(tmp_path)]
        result = CliRunner().invoke(main, arguments, input=typed)
        assert result.exit_code == status, result.output
        output = (line for line in result.output.splitlines() if not line.startswith("PIN of"))
        return "\n".join(output) + "\n"

    return run


@pytest.mark.requirement("H-12:a", "H-12:b", "H-12:c", "H-12:d")
def test_a_tickets_value_comes_only_from_its_number_in_the_ledger(office, egm):
    """For mutilated, altered, counterfeit and misprinted tickets, only the number that the cashier types matters."""
    good = office.issue_ticket("good", amount_cents=4200).number
    misprinted = office.desk.prepare_ticket("jam", 4200, denomination_cents=25).number
    failed = office.desk.prepare_ticket("torn", 4200, denomination_cents=25).number
    office.desk.record_failed_print(failed, "jam")
    last = good[-1]
    for paper, reason in (
        (good[:-1], "not a valid ticket number"),  # a corner is missing
        (good[:-1] + str((int(last) + 1) % 10), "not paid: "),  # a figure was altered
        ("9" * 18, "no ticket has this number"),  # a complete counterfeit
        (misprinted, "no machine has confirmed that this ticket was printed"),
        (failed, "not paid: the ticket is void"),
    ):
        assert reason in egm("pay", paper, "--person", LUC, status=1), paper
    # the amount on an altered paper is ignored: the ledger's amount is paid, once
    assert egm("pay", good, "--person", LUC) == "paid: $42.00\n"
    assert "redeemed already" in egm("pay", good, "--person", LUC, status=1)  # a copy of it


def test_a_ticket_is_checked_paid_once_and_checked_again(office, egm):
    ticket = office.issue_ticket(amount_cents=4200)
    typed = f"{ticket.number[:2]}-{ticket.number[2:10]} {ticket.number[10:]}"
    assert egm("check", typed).startswith("issued: $42.00 cashable, good until 2026-04-01 04:00:00 UTC")
    assert egm("pay", typed, "--person", LUC) == "paid: $42.00\n"
    assert "redeemed already (2026-03-01" in egm("pay", typed, "--person", MIA, status=1)
    assert egm("check", typed, status=1).startswith("redeemed: $42.00")
    assert "not a valid ticket number" in egm("check", "123", status=1)
    assert "no ticket has this number; if it was issued before a ledger was lost: egm ticket prove" in egm(
        "check", "9" * 18, status=1
    )
    assert "Missing option '--person'" in egm("pay", typed, status=2)


def test_the_cage_commands_require_a_correct_pin_and_the_permission(office, egm):
    number = office.issue_ticket().number
    assert "wrong" in egm("pay", number, "--person", LUC, pins=("1234",), status=1)
    assert "wrong" in egm("pay", number, "--person", "alice", pins=(PIN,), status=1)
    assert "may not" in egm("pay", number, "--person", TOM, pins=(PIN,), status=1)
    void = ("void", number, "--why", "x", "--person")
    assert "second person" in egm(*void, LUC, pins=(PIN,), status=1)
    assert "must be different" in egm(*void, LUC, "--second", LUC, status=1)
    assert "wrong" in egm(*void, LUC, "--second", "nobody at all", status=1)
    assert office.store.require_ticket(number).state is TicketState.ISSUED
    assert egm(*void, LUC, "--second", MIA) == "void: $12.34\n"


@pytest.mark.parametrize("command", ["check", "list", "report", "payees"])
@pytest.mark.parametrize("year", [1970, 2036, 2038])
def test_read_only_commands_write_nothing_whatever_the_clock_shows(
    office, egm, tmp_path, monkeypatch, command, year
):
    """Regression: reading with a clock that was briefly wrong expired every ticket permanently."""
    number = office.issue_ticket().number
    office.store.close()
    with closing(Journal.open(tmp_path, now=StandingClock().now)) as journal:
        transfers = (Transfer("world:bill", CREDIT, 2000), Transfer(CREDIT, "out:voucher:cashable", 1234))
        journal.append(Transaction(id="x", kind="test", transfers=transfers))
    wrong = StandingClock()
    wrong.wall = wrong.wall.replace(year=year)
    monkeypatch.setattr("tools.cli.commands.ticket.SystemClock", lambda: wrong)

    def content():
        files = (path for path in sorted(tmp_path.rglob("tickets*")) if not path.name.endswith("-shm"))
        return {path.name: path.read_bytes() for path in files if path.stat().st_size}

    before = content()
    assert egm(command, *([number] if command == "check" else []))
    assert content() == before


def test_check_reports_expiry_only_if_the_clock_is_plausible(office, egm, tmp_path, monkeypatch):
    number = office.issue_ticket().number
    clock = StandingClock()
    monkeypatch.setattr("tools.cli.commands.ticket.SystemClock", lambda: clock)
    clock.pass_days(31)  # the longest time off after which no confirmation is needed
    assert egm("check", number, status=1).startswith("expired")
    clock.pass_days(4000)
    assert egm("check", number).startswith("issued")


@pytest.mark.requirement("E-06")
def test_list_masks_the_numbers_of_outstanding_tickets(office, egm):
    owed, paid = office.issue_ticket("a").number, office.issue_ticket("b").number
    egm("pay", paid, "--person", LUC)
    listed = json.loads(egm("list", "--json"))
    assert [(t["state"], t["ticket"]["number"]) for t in listed] == [
        ("redeemed", paid),
        ("issued", "•" * 14 + owed[-4:]),
    ]
    for output in (egm("list"), egm("list", "--only", "issued"), egm("list", "--json")):
        assert owed not in output
    assert json.loads(egm("list", "--only", "void", "--json")) == []


def build_journal(folder, out_cents, in_cents=0):
    """Write the machine's journal: bills, then tickets paid out and redeemed for these amounts."""
    flows = (
        ("world:bill", CREDIT, 100_000),
        (CREDIT, "out:voucher:cashable", out_cents),
        ("world:voucher_in:cashable", CREDIT, in_cents),
    )
    with closing(Journal.open(folder, now=StandingClock().now)) as journal:
        for source, target, cents in flows:
            if cents:
                transfers = (Transfer(source, target, cents),)
                journal.append(Transaction(id=source, kind="test", transfers=transfers))


@pytest.mark.requirement("H-15", "D-23")
def test_report_compares_the_tickets_with_the_meters(office, egm, tmp_path):
    office.issue_ticket("a", 1000)
    taken = office.issue_ticket("b", 500).number
    office.desk.begin_redemption("r", taken)
    office.desk.commit_redemption("r")
    office.desk.prepare_ticket("c", 700, denomination_cents=1)  # on its way: not money yet
    build_journal(tmp_path, out_cents=1500, in_cents=500)
    report = json.loads(egm("report", "--json"))
    assert report["owed_cents"] == {"CAD": 1000}
    assert report["moves_verified"] == 7
    assert {line["account"]: line["journal_cents"] for line in report["meters"] if line["journal_cents"]} == {
        "out:voucher:cashable": 1500,
        "world:voucher_in:cashable": 500,
    }
    assert "outstanding: $10.00" in egm("report")


@pytest.mark.requirement("H-15", "D-23")
def test_report_exits_with_status_1_if_tickets_and_meters_differ(office, egm, tmp_path):
    office.issue_ticket("a", 1000)
    build_journal(tmp_path, out_cents=900)
    assert "out:voucher:cashable: journal 900 cents, ledger 1,000 cents" in egm("report", status=1)
    Office(tmp_path, serial="EGM-2", key=office.key, second=office.second).issue_ticket("b", 300)
    assert "give --serial, one of EGM-0000001, EGM-2" in egm("report", status=1)
    assert "journal 900 cents, ledger 300 cents" in egm("report", "--serial", "EGM-2", status=1)


@pytest.mark.parametrize(
    "command", [("report",), ("list",), ("payees",), ("pay", "{number}", "--person", LUC)]
)
@pytest.mark.parametrize("byte_count", [0, 5000], ids=["empty", "cut"])
def test_a_damaged_ledger_is_reported_with_what_to_do(office, egm, tmp_path, command, byte_count):
    number = office.issue_ticket("a", 1000).number
    build_journal(tmp_path, out_cents=1000)
    office.store.close()
    if "pay" in command:  # the ledger is repaired from a complete log, or started if both are empty
        byte_count = 5000
        (tmp_path / SECOND_FOLDER / LOG_NAME).write_bytes(b"")
    file = tmp_path / TICKET_DATABASE_FILE_NAME
    file.write_bytes(file.read_bytes()[:byte_count])
    output = egm(*(word.format(number=number) for word in command), status=1)
    assert TICKET_DATABASE_FILE_NAME in output
    assert "two people start a new ledger: egm ticket restore" in output
    assert "Error: no such" not in output
    assert "OperationalError" not in output
    assert "DatabaseError" not in output


@pytest.mark.requirement("H-15")
def test_a_host_ticket_is_not_paid_at_the_cage_and_is_no_liability(office, egm, tmp_path):
    office = Office(tmp_path, is_ticket_number=is_system_number, key=office.key, second=office.second)
    taken, back = "070000000000000001", "070000000000000002"
    for redemption_id, number, end in (("r1", taken, "commit"), ("r2", back, "abort")):
        assert (
            office.desk.begin_host_redemption(
                redemption_id, number, TicketKind.CASHABLE, 500
            ).ticket.amount_cents
            == 500
        )
        if end == "commit":
            office.desk.commit_redemption(redemption_id)
        else:
            office.desk.abort_redemption(redemption_id, "jam")
    build_journal(tmp_path, out_cents=1, in_cents=500)
    assert "out:voucher:cashable: journal 1 cent," in egm("report", status=1)
    office.issue_ticket("a", 1)
    report = json.loads(egm("report", "--json"))
    assert report["owed_cents"] == {"CAD": 1}
    assert [line["tickets"] for line in report["sums"]] == [1]
    assert "issued elsewhere" in egm("pay", back, "--person", LUC, status=1)


@pytest.mark.requirement("H-14")
def test_payees_lists_the_recorded_names_and_addresses(office, egm, monkeypatch):
    paid = office.issue_ticket("b", 500).number
    clock = StandingClock()
    monkeypatch.setattr("tools.cli.commands.ticket.SystemClock", lambda: clock)
    clock.pass_days(1)
    egm("pay", paid, "--person", LUC, "--name", "Anne", "--address", "Chicoutimi")
    (line,) = json.loads(egm("payees", "--json"))
    assert (line["name"], line["address"], line["ticket"]["number"]) == ("Anne", "Chicoutimi", paid)
    assert (line["ticket"]["amount_cents"], line["moves"][-1]["at"]) == (500, "2026-03-02T14:05:09+00:00")
    _, row = egm("payees", "--csv").splitlines()
    assert row == f"2026-03-02 14:05:09,$5.00,Anne,Chicoutimi,cage:{LUC}"


def test_tickets_are_released_revived_reprinted_and_voided_by_two_persons(office, egm, tmp_path):
    number = office.issue_ticket("a").number
    office.desk.begin_redemption("r", number)
    both = ("--person", LUC, "--second-person", MIA)
    assert egm("release", number, *both, "--reason", "gone") == "redeemable again: $12.34\n"
    assert egm("revive", number, *both, "--why", "1970") == "redeemable without a date limit: $12.34\n"
    picture = tmp_path / "again.png"
    egm("reprint", number, *both, "--why", "torn", "--output", str(picture))
    with Image.open(picture) as opened:
        assert opened.size == (1248, 520)
    assert egm("void", number, *both, "--why", "paid by hand") == "void: $12.34\n"
    result = egm("void", number, *both, "--why", "again", status=1)
    assert "the ticket is void; void requires it to be issued" in result


def test_a_list_without_a_machine_is_refused_in_one_line(egm, tmp_path):
    assert "no machine has been started in this folder" in egm("list", status=1)
    assert not list(tmp_path.iterdir())


def test_render_draws_a_specimen_from_each_template(tmp_path):
    def run(*arguments):
        return CliRunner().invoke(main, ["ticket", "render", *arguments])

    for jurisdiction in ("generic", "monaco", "quebec-vlt"):
        target = tmp_path / f"{jurisdiction}.pdf"
        assert run("--template", jurisdiction, "--output", str(target)).exit_code == 0
        assert target.read_bytes().startswith(b"%PDF")
    assert "must end in .png or .pdf" in run("--output", str(tmp_path / "x.gif")).output
    assert (
        "no ticket template 'mars'" in run("--template", "mars", "--output", str(tmp_path / "x.png")).output
    )
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    assert "not a ticket" in run("--ticket", str(wrong), "--output", str(tmp_path / "x.png")).output
