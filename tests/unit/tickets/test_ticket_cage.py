"""The cage: every act by a person, once, with its reason; the commands around it."""

import json
from contextlib import closing
from dataclasses import replace

import pytest
from click.testing import CliRunner
from PIL import Image
from ticket_office import RULES, Office, StandingClock

from egm.errors import OperatorError
from egm.tickets import Reason, Redemption, TicketKind, TicketOrderError, TicketState
from egm.tickets.cage import Cage, Payee, expire_due, register
from egm.tickets.numbers import is_system
from meters import Journal, Transaction, Transfer
from tools.cli import main

CREDIT = "credit:1:cashable"
PAYEE = Payee("Anne Tremblay", "5, rue Racine, Chicoutimi")


@pytest.fixture
def office(tmp_path):
    return Office(tmp_path)


@pytest.fixture
def cage(office):
    return Cage(office.store, office.clock, "Luc")


@pytest.mark.requirement("H-07", "H-12")
def test_a_ticket_is_paid_once(office, cage):
    number = office.issued(amount_cents=4200).number
    assert isinstance(cage.pay(number), Redemption)
    refused = cage.pay(number)
    assert (refused.reason, refused.detail) == (Reason.REDEEMED, "2026-03-01 14:05:09 UTC, cage:Luc")
    assert office.desk.redeem_begin("r", number).reason is Reason.REDEEMED
    assert [m.by for m in office.store.found(number).moves] == ["EGM-0000001"] * 2 + ["cage:Luc"] * 2


def test_what_the_cage_does_not_pay(office, cage):
    pending = office.issued("p").number
    office.desk.redeem_begin("r", pending)
    assert cage.pay(pending).reason is Reason.PENDING
    assert cage.pay(office.issued("q", kind=TicketKind.RESTRICTED).number).reason is Reason.WRONG_KIND
    assert isinstance(cage.pay(office.issued("h", kind=TicketKind.HANDPAY_RECEIPT).number), Redemption)
    reserved = office.desk.prepare("n", 100, denomination_cents=1).number
    assert cage.pay(reserved).reason is Reason.NOT_PRINTED
    assert cage.pay("12").reason is Reason.MISREAD
    assert cage.pay("9" * 18).reason is Reason.UNKNOWN


@pytest.mark.requirement("H-14")
def test_the_register_of_coupons_of_500_dollars(tmp_path):
    office = Office(tmp_path, rules=replace(RULES, template="quebec-vlt"))
    cage = Cage(office.store, office.clock, "Luc")
    below, above = office.issued("a", 49_999).number, office.issued("b", 50_000).number
    assert isinstance(cage.pay(below), Redemption)
    for payee in (None, Payee("Anne", " "), Payee("", "somewhere")):
        with pytest.raises(OperatorError, match="name and address are written down; not paid"):
            cage.pay(above, payee)
        assert office.store.found(above).state is TicketState.ISSUED
    assert isinstance(cage.pay(above, PAYEE), Redemption)
    (line,) = register(office.store)
    assert (line.payee, line.record.ticket.amount_cents, line.paid.by) == (PAYEE, 50_000, "cage:Luc")


@pytest.mark.requirement("H-07")
def test_a_duplicate_is_the_same_ticket(office, cage):
    ticket = office.issued()
    again = cage.reprint(ticket.number, "the paper tore")
    assert again == replace(ticket, duplicate=True)
    assert isinstance(office.desk.redeem_begin("r", ticket.number), Redemption)
    with pytest.raises(OperatorError, match="the ticket is pending; reprint wants it issued"):
        cage.reprint(ticket.number, "once more")


def test_void(office, cage):
    number = office.issued().number
    with pytest.raises(OperatorError, match="wants a reason"):
        cage.void(number, " ")
    assert cage.void(number, "paid by hand").moves[-1].story == {"why": "paid by hand"}
    assert cage.pay(number).reason is Reason.VOID
    with pytest.raises(OperatorError, match="no ticket has this number"):
        cage.void("9" * 18, "why not")


def test_releasing_a_lock_takes_two_people_and_the_machine_may_not_commit(office, cage):
    number = office.issued().number
    office.desk.redeem_begin("r", number)
    for witness in ("", "Luc"):
        with pytest.raises(OperatorError, match="second person"):
            cage.release(number, "burnt", witness)
    cage.release(number, "the machine burnt", "Mia")
    with pytest.raises(TicketOrderError, match="redeem after it ended otherwise"):
        office.desk.redeem_commit("r")
    assert office.store.found(number).moves[-1].story == {"why": "the machine burnt", "witness": "Mia"}
    assert isinstance(cage.pay(number), Redemption)


def test_nobody_is_nobody(office):
    with pytest.raises(OperatorError, match="who is it"):
        Cage(office.store, office.clock, "  ")


@pytest.mark.requirement("H-10")
def test_expired_tickets_are_marked_and_owed_no_more(office, cage):
    late, locked = office.issued("a").number, office.issued("b").number
    office.desk.redeem_begin("r", locked)
    office.clock.pass_days(40)
    assert cage.pay(late).reason is Reason.EXPIRED
    office.issued("c")
    other = office.issued("d").number
    office.clock.pass_days(40)
    assert expire_due(office.store, office.clock, "cage") == 2
    assert expire_due(office.store, office.clock, "cage") == 0
    with pytest.raises(OperatorError, match="the ticket is expired"):
        cage.reprint(other, "lost")
    owed = [s for s in office.store.sums() if s.owed]
    assert [(s.state, s.tickets) for s in owed] == [(TicketState.PENDING, 1)]


# ---------------------------------------------------------------- the commands
@pytest.fixture
def egm(tmp_path, monkeypatch):
    """``egm ticket ...`` on this machine, at the office's time."""
    monkeypatch.setattr("tools.commands.ticket.SystemClock", StandingClock)

    def run(*arguments, status=0):
        result = CliRunner().invoke(main, ["ticket", *arguments, "--state", str(tmp_path)])
        assert result.exit_code == status, result.output
        return result.output

    return run


def test_check_pay_check(office, egm):
    ticket = office.issued(amount_cents=4200)
    typed = f"{ticket.number[:2]}-{ticket.number[2:10]} {ticket.number[10:]}"
    assert egm("check", typed).startswith("issued: $42.00 cashable, good until 2026-04-01 04:00:00 UTC")
    assert egm("pay", typed, "--person", "Luc") == "paid: $42.00\n"
    assert "redeemed already (2026-03-01" in egm("pay", typed, "--person", "Mia", status=1)
    assert egm("check", typed, status=1).startswith("redeemed: $42.00")
    assert "no ticket number" in egm("check", "123", status=1)
    assert "no ticket has this number" in egm("check", "9" * 18, status=1)
    assert "Missing option '--person'" in egm("pay", typed, status=2)


@pytest.mark.requirement("E-06")
def test_list_masks_what_is_owed(office, egm):
    owed, paid = office.issued("a").number, office.issued("b").number
    egm("pay", paid, "--person", "Luc")
    listed = json.loads(egm("list", "--json"))
    assert [(t["state"], t["ticket"]["number"]) for t in listed] == [
        ("redeemed", paid),
        ("issued", "•" * 14 + owed[-4:]),
    ]
    for output in (egm("list"), egm("list", "--only", "issued"), egm("list", "--json")):
        assert owed not in output
    assert json.loads(egm("list", "--only", "void", "--json")) == []


def journal_of(folder, out_cents, in_cents=0):
    """The machine's journal: bills in, then what went out and came in by ticket."""
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
def test_report_holds_the_tickets_against_the_meters(office, egm, tmp_path):
    office.issued("a", 1000)
    taken = office.issued("b", 500).number
    office.desk.redeem_begin("r", taken)
    office.desk.redeem_commit("r")
    office.desk.prepare("c", 700, denomination_cents=1)  # on its way: not money yet
    assert "journal" in egm("report", status=1)  # there is none
    journal_of(tmp_path, out_cents=1500, in_cents=500)
    told = json.loads(egm("report", "--json"))
    assert told["owed_cents"] == {"CAD": 1000}
    assert told["moves_verified"] == 7
    assert {line["account"]: line["journal_cents"] for line in told["meters"] if line["journal_cents"]} == {
        "out:voucher:cashable": 1500,
        "world:voucher_in:cashable": 500,
    }
    assert "outstanding: $10.00" in egm("report")


@pytest.mark.requirement("H-15")
def test_report_ends_with_1_where_they_differ(office, egm, tmp_path):
    office.issued("a", 1000)
    journal_of(tmp_path, out_cents=900)
    assert "out:voucher:cashable: the meters say 900, the tickets 1000 cents" in egm("report", status=1)
    Office(tmp_path, serial="EGM-2").issued("b", 300)
    assert "which machine of EGM-0000001, EGM-2?" in egm("report", status=1)
    assert "the meters say 900, the tickets 300" in egm("report", "--serial", "EGM-2", status=1)


@pytest.mark.requirement("H-15")
def test_a_ticket_of_elsewhere_is_the_hosts_to_pay_and_no_liability_of_ours(egm, tmp_path):
    office = Office(tmp_path, reads=is_system)
    taken, back = "070000000000000001", "070000000000000002"
    for redemption_id, number, end in (("r1", taken, "commit"), ("r2", back, "abort")):
        assert office.desk.admit(redemption_id, number, TicketKind.CASHABLE, 500).ticket.amount_cents == 500
        if end == "commit":
            office.desk.redeem_commit(redemption_id)
        else:
            office.desk.redeem_abort(redemption_id, "jam")
    journal_of(tmp_path, out_cents=1, in_cents=500)
    assert "out:voucher:cashable: the meters say 1" in egm("report", status=1)
    office.issued("a", 1)
    told = json.loads(egm("report", "--json"))
    assert told["owed_cents"] == {"CAD": 1}
    assert [line["tickets"] for line in told["sums"]] == [1]
    assert "issued elsewhere" in egm("pay", back, "--person", "Luc", status=1)


def test_register(office, egm):
    paid = office.issued("b", 500).number
    egm("pay", paid, "--person", "Luc", "--name", "Anne", "--address", "Chicoutimi")
    (line,) = json.loads(egm("register", "--json"))
    assert (line["name"], line["address"], line["ticket"]["number"]) == ("Anne", "Chicoutimi", paid)
    assert "Chicoutimi" in egm("register")


def test_void_release_and_reprint(office, egm, tmp_path):
    number = office.issued("a").number
    office.desk.redeem_begin("r", number)
    assert (
        egm("release", number, "--person", "Luc", "--witness", "Mia", "--why", "gone")
        == "good again: $12.34\n"
    )
    picture = tmp_path / "again.png"
    egm("reprint", number, "--person", "Luc", "--why", "torn", "--output", str(picture))
    with Image.open(picture) as opened:
        assert opened.size == (1248, 520)
    assert egm("void", number, "--person", "Luc", "--why", "paid by hand") == "void: $12.34\n"
    refused = egm("void", number, "--person", "Luc", "--why", "again", status=1)
    assert "the ticket is void; void wants it issued" in refused


def test_refusals_are_one_line(egm, tmp_path):
    assert "no ticket ledger here" in egm("list", status=1)
    assert not list(tmp_path.iterdir())


def test_render_draws_a_specimen_nobody_pays(tmp_path):
    def run(*arguments):
        return CliRunner().invoke(main, ["ticket", "render", *arguments])

    for place in ("generic", "monaco", "quebec-vlt"):
        target = tmp_path / f"{place}.pdf"
        assert run("--template", place, "--output", str(target)).exit_code == 0
        assert target.read_bytes().startswith(b"%PDF")
    assert "a .png or .pdf is wanted" in run("--output", str(tmp_path / "x.gif")).output
    assert (
        "no ticket template 'mars'" in run("--template", "mars", "--output", str(tmp_path / "x.png")).output
    )
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    assert "not a ticket" in run("--ticket", str(wrong), "--output", str(tmp_path / "x.png")).output
