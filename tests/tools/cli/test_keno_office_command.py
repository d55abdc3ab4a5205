"""``egm keno-office`` supports a day's work at the desk, and refuses invalid requests in one line."""

import json
import stat

import pytest
from click.testing import CliRunner

from meters import Transaction, Transfer
from tools.cli.commands.keno_office import command, read_local_time
from tools.floor.keno.office import open_journal


@pytest.fixture
def desk(tmp_path):
    """Return a function that runs a command of the office in one folder and returns its output."""

    def run(name, *arguments, code=0):
        result = CliRunner().invoke(command, [name, str(tmp_path / "office"), *map(str, arguments)])
        assert result.exit_code == code, result.output
        return result.output

    run("open", "aurora-keno", "--casino", "Mont", "--claim-place", "cage-1", "--credit", 25)
    return run


def read_control_number(printed):
    (line,) = (line for line in printed.splitlines() if line.startswith(("Control number", "Numéro de")))
    return line.partition(": ")[2]


@pytest.mark.requirement("M-07", "M-13")
@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_printed_ticket_states_everything_the_by_law_requires(desk, language):
    printed = desk(
        "sell", "3,11,27/42,80@3:1,5:2", "7,8@2:5", "--draws", 3, "--station", "K-07", "--language", language
    )
    number = desk("ticket", 1, "--json")
    paper = json.loads(number)["paper"]
    flat = " ".join(printed.replace("\u00a0", " ").split())
    money = ["$6.00", "$500,000.00"] if language == "en" else ["6,00 $", "500 000,00 $"]
    for needed in (
        "Mont 000000001", "K-07", paper["issued_at"][:10], "03 11 27 / 42 80", "07 08", *money, "1-3", "365",
    ):  # fmt: skip
        assert needed in flat
    assert read_control_number(printed).replace(" ", "") == paper["control_number"]
    assert printed.endswith("state: paid\n")
    desk("close")
    assert desk("ticket", 1).endswith("state: in play\n")


@pytest.mark.requirement("M-06", "M-11", "M-14", "M-15", "M-16")
def test_a_day_of_sales_draws_cancellations_and_payments_at_the_desk(desk):
    won = desk("sell", "1,2,3@3:1", "--draws", 2)
    desk("sell", "?8", "--unpaid")
    desk("pay", 2)
    desk("sell", "4,5")
    assert "give back $0.25" in desk("cancel", 3)
    desk("close")
    draw_record = json.loads(desk("draw", "--json"))
    assert (draw_record["draw"], len(set(draw_record["numbers"]))) == (1, 20)
    desk("close")
    assert "draw 2: not held" in desk("fail", "--reason", "the blower stopped")
    facts = json.loads(desk("totals", "--json"))
    assert (facts["tickets"], facts["draws"], facts["staked_cents"]) == (3, 2, 0)
    assert facts["desk_cents"] == 75
    owed_cents = (draw_record["prizes"].get("1", 0) + 1) * 25
    control = read_control_number(won)
    paid = desk("claim", control, "--place", "cage-1", "--condition", "illegible", "--says", "casino=Val")
    assert f"pay ${owed_cents / 100:,.2f} for draw" in paid
    assert "the paper differs from the record in casino" in paid
    assert (
        desk("claim", control, "--place", "cage-1", code=1)
        == "Error: ticket 1: its prizes were paid already\n"
    )
    assert "prize" in desk("ticket", 1)
    output = desk("pay", 1, code=1)
    assert output == (
        "Error: ticket 1 has been paid for, and a draw of it is closed; its payment cannot be recorded\n"
    )
    assert "every entry is as recomputed" in desk("verify")
    assert "tickets removed from the list: 1; not claimed: $0.00" in desk("expire")  # the cancelled one


@pytest.mark.requirement("M-09")
def test_text_on_the_paper_that_looks_like_a_number_is_compared_as_text(desk):
    number = read_control_number(desk("sell", "1,2", "--station", "1"))
    desk("close")
    desk("fail", "--reason", "the blower stopped")
    statements = ("--says", "station=1", "--says", "draws=[1]", "--says", "claim_days=7")
    paid = desk("claim", number, "--place", "cage-1", *statements)
    assert paid.splitlines()[1:] == ["the paper differs from the record in claim_days: the record decides"]


def test_each_value_of_the_record_is_accepted_under_its_key_and_does_not_differ(desk):
    number = read_control_number(desk("sell", "1,2", "--station", "K-07"))
    paper = json.loads(desk("ticket", 1, "--json"))["paper"]
    desk("close")
    desk("fail", "--reason", "the blower stopped")
    statements = [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in paper.items()
    ]
    paid = desk(
        "claim", number, "--place", "cage-1", *(word for text in statements for word in ("--says", text))
    )
    assert paid.splitlines()[1:] == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("sell", "1,81"), "81"),
        (("sell", "1;2"), "write it as 3,11,27"),
        (("sell", "?4", "--draws", 1000), "draws"),
        (("sell", "?4", "--bonus", "none-such"), "none-such"),
        (("pay", 7), "no ticket 7 is recorded here"),
        (("cancel", 7), "no ticket 7 is recorded here"),
        (("ticket", 0), "0"),
        (("draw",), "sales for draw 1 have not ended"),
        (("fail", "--reason", "x"), "sales for draw 1 have not ended"),
        (("claim", "12", "--place", "cage-1"), "no ticket recorded here has this control number"),
        (("claim", "12", "--place", "cage-1", "--says", "casino"), "write it as KEY=VALUE"),
        (("claim", "12", "--place", "cage-1", "--says", "desk=1"), "'desk': expected one of game_id,"),
        (("claim", "\udcff" * 20, "--place", "cage-1"), "no ticket recorded here has this control number"),
        (("sell", "?4", "--station", "\udcff"), "cannot be printed"),
        (("sell", "?4", "--station", ""), "it must not be empty"),
        (("sell", "?4", "--station", "\x1b[31m"), "contains '\\x1b', which cannot be printed"),
        (("sell", "1_1,2"), "write it as 3,11,27"),
        (("sell", "1,2@"), "write it as 3,11,27"),
        (("sell", "1,2@2:1,2:5"), "a number of spots has two stakes"),
        (("cancel", "1_0"), "'1_0' is not a whole number"),
        (("cancel", "٣"), "'٣' is not a whole number"),
        (("claim", "12", "--place", "cage-1", "--says", f"casino={'[' * 9_000}"), "no ticket recorded here"),
        (("sell", "9" * 5000), "write it as 3,11,27"),
        (
            ("open", "aurora-keno", "--casino", "M", "--claim-place", "c", "--credit", 25),
            "there is a Keno office here already",
        ),
        (("open", "maple-classic", "--casino", "M", "--claim-place", "c", "--credit", 25), "not Keno"),
    ],
)
def test_a_refusal_is_one_line_and_changes_nothing(desk, tmp_path, arguments, reason):
    before = desk("totals", "--json")
    result = CliRunner().invoke(command, [arguments[0], str(tmp_path / "office"), *map(str, arguments[1:])])
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code in {1, 2}
    assert reason in " ".join(result.output.split())
    assert desk("totals", "--json") == before


@pytest.mark.requirement("M-16")
def test_verification_names_a_false_payment_and_the_account_that_differs(desk, tmp_path):
    with open_journal(tmp_path / "office", read_local_time) as journal:
        theft = Transfer("keno:owed", "keno:house", 25)
        journal.append(Transaction(id="theft", kind="keno.paid", transfers=(theft,), record={"number": 9}))
    output = desk("verify", code=1)
    assert "keno.paid: it cannot be recomputed: no ticket 9 is recorded here" in output
    assert "account keno:owed has -25 cents" in output


def test_the_machine_key_is_readable_by_its_owner_alone(desk, tmp_path):
    desk("sell", "?4")
    for key in (tmp_path / "office").rglob("machine.key"):
        assert stat.S_IMODE(key.stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize("folder", ["there", "typo"])
def test_a_folder_without_an_office_names_the_open_command_and_stays_empty(tmp_path, folder):
    (tmp_path / "there").mkdir()
    result = CliRunner().invoke(command, ["totals", str(tmp_path / folder)])
    assert result.exit_code == 1
    assert "no Keno office was opened here: open one with `egm keno-office open`" in result.output
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"--casino": " "}, "it must not be empty"),
        ({"--claim-place": "a\nb"}, "contains '\\n', which cannot be printed"),
        ({"--casino": "x" * 201}, "it has 201 characters; at most 200 are allowed"),
        ({"--currency": "../"}, "expected three capital letters, such as CAD, not '../'"),
    ],
)
def test_terms_that_cannot_be_printed_on_a_ticket_open_no_office(tmp_path, changed, reason):
    terms = {"--casino": "Mont", "--claim-place": "cage-1", "--credit": "25", **changed}
    arguments = [
        "open",
        str(tmp_path / "office"),
        "aurora-keno",
        *(part for term in terms.items() for part in term),
    ]
    result = CliRunner().invoke(command, arguments)
    assert isinstance(result.exception, SystemExit)
    assert reason in result.output
    assert (
        "no Keno office was opened"
        in CliRunner().invoke(command, ["totals", str(tmp_path / "office")]).output
    )


def test_no_office_is_opened_in_another_machines_journal(tmp_path):
    with open_journal(tmp_path, read_local_time) as journal:
        journal.append(Transaction(id="of-another", kind="bill.in", record={}))
    terms = ["--casino", "Mont", "--claim-place", "cage-1", "--credit", "25"]
    result = CliRunner().invoke(command, ["open", str(tmp_path), "aurora-keno", *terms])
    assert result.exit_code == 1
    assert "there is another journal here; give an empty folder" in result.output
