"""Recall on the machine: every play in figures and pictures, from its own records, including an interrupted play."""

import json
from importlib.metadata import version

import pytest
from click.testing import CliRunner
from rigs.positions import open_positions

from egm.app.features import FEATURES
from egm.devices.interface import DeviceIdentified
from egm.kernel.events import EventType, State
from egm.kernel.logs import Log
from egm.people import Role
from egm.play.keys import PlayKey
from egm.play.recall_page import RecallPlayPage
from egm.play.records.games import GameInProgress
from egm.play.stepped_game import SteppedGame
from egm.play.stored_prizes import build_prize_computer_with_cache
from egm.staff.desk import ServiceDesk
from egm.testing.machine import MachineRig, ScriptedGenerator, write_undeclared_entry
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser, translate_text
from meters import Transfer
from meters.names import METER_NAMES_BY_JURISDICTION
from meters.recall import iter_recent_plays
from tools.cli import main

WIN, LOSS = (23, 7, 5), (0, 0, 0)


@pytest.fixture
def rig(tmp_path):
    rig = MachineRig(tmp_path, generator=ScriptedGenerator(*WIN, *LOSS)).boot().insert(2000)
    for _ in range(2):
        rig.play()
        rig.report_shown()
    yield rig
    rig.close()


def read_replay(menu, play_id):
    """Return the page's picture, and the picture that the machine showed to the player."""
    replay = menu.page.replay
    shown = next(m for m in menu.rig.hands.messages if m.play_id == play_id)
    return replay, shown


@pytest.mark.requirement("E-01", "E-03", "E-04", "J-12")
def test_a_play_is_recalled_in_figures_and_as_a_picture(rig):
    menu = MenuUser(rig).sign_in(Role.ATTENDANT).touch("recall")
    newest, won = [row.action for row in menu.page.tables[0].rows]
    assert menu.page.tables[0].rows[1].cells[3].value == 300
    menu.touch(won)
    lines = menu.read_rows()
    assert (lines["Bet"], lines["Win"]) == ("$0.05", "$3.00")
    assert (lines["Credit before the game"], lines["Credit after the game"]) == ("$20.00", "$22.95")
    assert lines["Credit added since the previous game: bills"] == "$20.00"
    assert (lines["Credits bet"], lines["Bet level"]) == ("1", "1")
    game = rig.machine.games["maple-classic"]
    assert lines["Game"] == game.title["en"]
    assert lines["Version and digest"] == f"{game.version}  {game.digest[:16]}"
    wins = [[translate_text(cell, "en") for cell in row.cells] for row in menu.page.tables[-1].rows]
    assert wins == [["3 × Maple leaf", "Line 1", "$3.00"]]
    menu.touch("show")
    replay, shown = read_replay(menu, won)
    assert (replay.display, replay.game_id, replay.paid_cents) == (shown.display, shown.game_id, 300)
    assert (replay.step, replay.steps, replay.decision_kind) == (1, 1, "")
    menu.touch("figures").touch("back").touch(newest).touch("show")
    assert menu.page.replay.paid_cents == 0
    assert [r["play_id"] for r in rig.records("recall.shown")] == [won, newest]
    assert rig.records("recall.shown")[0]["person"] == STAFF_NUMBER_BY_ROLE[Role.ATTENDANT]
    assert rig.credit_cents == 2000 - 10 + 300


@pytest.mark.requirement("E-01", "E-03")
def test_a_play_whose_replay_fails_inside_the_game_is_recalled_with_its_recorded_outcome(rig, monkeypatch):
    def fail(*_):
        raise IndexError("no such reel")

    monkeypatch.setattr(SteppedGame, "advance", fail)
    menu = MenuUser(rig).sign_in(Role.ATTENDANT).touch("recall")
    newest = menu.page.tables[0].rows[0].action
    menu.touch(newest).touch("show")
    replay, shown = read_replay(menu, newest)
    assert (replay.display, replay.step, replay.steps) == (shown.display, 1, 1)


@pytest.mark.requirement("E-01")
def test_the_last_ten_plays_are_listed_and_the_first_of_them_is_shown(tmp_path):
    rig = MachineRig(tmp_path, generator=ScriptedGenerator(*WIN, *LOSS * 9)).boot().insert(2000)
    for _ in range(10):
        rig.play()
        rig.report_shown()
    menu = MenuUser(rig).sign_in(Role.ATTENDANT).touch("recall")
    listed = [row.action for row in menu.page.tables[0].rows]
    assert listed == [record["play_id"] for record in reversed(rig.records("game.start"))]
    lines = menu.touch(listed[-1]).read_rows()
    shown = [lines[name] for name in ("Credit before the game", "Bet", "Win", "Credit after the game")]
    assert shown == ["$20.00", "$0.05", "$3.00", "$22.95"]
    rig.close()


@pytest.mark.requirement("E-04")
def test_credits_added_before_a_play_are_shown_by_bills_coins_tickets_and_transfers(tmp_path):
    generator = ScriptedGenerator(*LOSS, 4242, *LOSS)  # 4242 becomes the ticket's number
    rig = MachineRig(tmp_path, generator=generator, devices=("printer", "hopper")).boot().insert(500)
    rig.play()
    rig.report_shown()
    number = rig.cash_out_ticket()
    rig.insert(1000)
    rig.device_ledgers.coin_ledger.credit_coins_in(((200, True),), 1)
    rig.offer_ticket(number)
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()
    added = Transfer("world:aft_in:cashable", "credit:1:cashable", 400)
    write_undeclared_entry(rig.machine, "test.fund", transaction_id="aft", transfers=(added,))
    rig.play()
    rig.report_shown()
    play = next(iter_recent_plays(rig.journal))
    menu = MenuUser(rig).sign_in(Role.ATTENDANT).touch("recall").touch(play.play_id)
    lines = menu.read_rows()
    added = {
        name: lines[f"Credit added since the previous game: {name}"]
        for name in ("bills", "coins", "tickets", "transfers")
    }
    assert added == {"bills": "$10.00", "coins": "$2.00", "tickets": "$4.95", "transfers": "$4.00"}
    rig.close()


@pytest.mark.requirement("E-03")
def test_an_interrupted_game_is_recalled_first_while_a_door_is_open(rig):
    rig.machine.random_service = ScriptedGenerator(*WIN)
    rig.play()
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    menu = MenuUser(rig).sign_in(Role.MECHANIC).touch("recall")
    first = menu.page.tables[0].rows[0]
    assert (first.icon, first.cells[4].value) == ("warning", "service.recall.open")
    menu.touch(first.action).touch("show")
    replay, shown = read_replay(menu, first.action)
    assert (replay.display, replay.paid_cents, replay.returned_credits) == (shown.display, None, None)
    menu.home().touch("leave")
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    assert rig.state is State.TILT
    menu.sign_in(Role.MECHANIC).touch("recall").touch(first.action)
    assert menu.read_rows()["Game"] == "Maple Classic"
    menu.home().touch("leave")
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert rig.state is State.PLAYING
    rig.report_shown()
    assert rig.credit_cents == 2000 - 15 + 600


@pytest.mark.requirement("E-01", "E-02")
def test_a_game_with_choices_is_recalled_decision_by_decision(tmp_path):
    rig = MachineRig(tmp_path, games=("hold-fast",)).boot().insert(2000)
    rig.play()
    answers = []
    held_reels_by_answer = [], ["1"], ["2"], ["1", "2"], ["3"], ["1", "3"], ["2", "3"], ["1", "2", "3"]
    while rig.machine.component(GameInProgress).stepped_game.decision is not None:
        answers.append(rig.machine.component(GameInProgress).stepped_game.decision.options[-1])
        rig.engine.handle(EventType.CHOOSE, value=answers[-1])
    play_id = rig.machine.memory.get(PlayKey.GAME)["play_id"]
    outcome = rig.hands.messages[-1].display
    rig.report_shown()
    assert answers
    menu = MenuUser(rig).sign_in(Role.TECHNICIAN).touch("recall").touch(play_id).touch("show")
    for number, answer in enumerate(answers, 1):
        replay = menu.page.replay
        assert (replay.step, replay.steps, replay.answer) == (number, len(answers) + 1, answer)
        assert replay.decision_kind == "hold"
        words = f"Reels held: {', '.join(held_reels_by_answer[answer])}" if answer else "No reel held"
        assert translate_text(replay.answered, "en") == words
        assert {action.id: action.style for action in menu.page.actions if action.id != "back"} == {
            "earlier": "back",
            "later": "go",
            "figures": "go",
        }
        assert answer in replay.options
        menu.touch("later")
    assert (menu.page.replay.display, menu.page.replay.decision_kind) == (outcome, "")
    menu.touch("earlier")
    assert menu.page.replay.step == len(answers)
    menu.touch("figures")
    assert menu.read_rows()["Choice 1"] == f"Reels held: {', '.join(held_reels_by_answer[answers[0]])}"
    rig.close()


def test_a_play_of_a_removed_game_shows_its_record(rig, tmp_path):
    rig.close()
    restarted = MachineRig(tmp_path, games=("comet-respin",)).boot()
    menu = MenuUser(restarted).sign_in(Role.INSPECTOR).touch("recall")
    play_id = menu.page.tables[0].rows[1].action
    menu.touch(play_id).touch("show")
    assert menu.page.replay.display == rig.hands.messages[0].display
    restarted.close()


def test_only_listed_plays_can_be_recalled(rig):
    menu = MenuUser(rig).sign_in(Role.ATTENDANT).touch("recall")
    menu.touch("play-99999", page=menu.page.id)
    assert menu.notice == "service.refused.not_offered"
    menu.touch(menu.page.tables[0].rows[0].action)
    assert isinstance(menu.machine.component(ServiceDesk).open_pages[-1], RecallPlayPage)
    menu.touch("later", page=menu.page.id).touch("later", page=menu.page.id)
    assert menu.notice == "service.refused.not_offered"


# ---------------------------------------------------------------------------------------------- meters and logs
@pytest.mark.requirement("J-12", "D-16", "D-25", "D-03")
def test_meters_have_the_jurisdictions_names_by_game_and_denomination(rig):
    menu = MenuUser(rig).sign_in(Role.SUPERVISOR).touch("meters")
    lines = menu.read_rows()
    assert (lines["Coin In"], lines["Coin Out"], lines["Bill In"]) == ("$0.10", "$3.00", "$20.00")
    assert lines["Games played"] == "2"
    assert set(METER_NAMES_BY_JURISDICTION["us"]) <= set(lines)
    menu.touch("denomination_cents")
    split = {t.title.value: {r.cells[0].value: r.cells[1].value for r in t.rows} for t in menu.page.tables}
    assert split["coin_in"] == {5: 10}
    assert split["games_played"] == {5: 2}
    menu.touch("game")
    assert {t.title.value for t in menu.page.tables} >= {"coin_in", "coin_out", "games_won", "games_lost"}
    menu.touch("bill_cents")
    split = {t.title.value: {r.cells[0].value: r.cells[1].value for r in t.rows} for t in menu.page.tables}
    assert split["bill_in.value"][2000] == 2000
    menu.touch("whole")
    assert menu.read_rows() == lines
    assert rig.credit_cents == 2000 - 10 + 300


@pytest.mark.requirement("D-25")
def test_meters_in_monaco_have_the_names_of_its_order(tmp_path):
    rig = MachineRig(tmp_path, profile="monaco", generator=ScriptedGenerator(0, 0, 0)).boot().insert(2000)
    rig.play()
    rig.report_shown()
    lines = MenuUser(rig).sign_in(Role.SUPERVISOR).touch("meters").read_rows()
    assert set(METER_NAMES_BY_JURISDICTION["mc"]) <= set(lines)
    assert (lines["Compteur in"], lines["Crédits achetés en billets"]) == ("$0.05", "$20.00")
    rig.close()


@pytest.mark.requirement("D-05:c", "J-12", "O-04")
def test_meters_are_in_dollars_and_cents_where_several_denominations_are_played(tmp_path):
    rig = MachineRig(
        tmp_path, denominations_cents=(5, 25), generator=ScriptedGenerator(*(0, 0, 0) * 2)
    ).boot()
    rig.insert(2000)
    for denomination_cents in (5, 25):
        rig.engine.handle(EventType.SELECT_DENOMINATION, value=denomination_cents)
        rig.play()
        rig.report_shown()
    menu = MenuUser(rig).sign_in(Role.SUPERVISOR).touch("meters")
    assert {menu.read_rows()[name] for name in ("Coin In", "Bill In")} == {"$0.30", "$20.00"}
    menu.touch("denomination_cents")
    (split,) = (t for t in menu.page.tables if t.title.value == "coin_in")
    assert [[translate_text(cell, "en") for cell in row.cells] for row in split.rows] == [
        ["$0.25", "$0.25"],
        ["$0.05", "$0.05"],
    ]
    rig.close()


@pytest.mark.requirement("D-05:a", "D-05:b", "D-07")
def test_a_meter_of_the_service_menu_rolls_over_after_ten_digits(rig):
    transfer = Transfer("world:bill", "credit:1:cashable", 10**10 - 1 - 2000)
    write_undeclared_entry(rig.machine, "bills", transfers=(transfer,))
    menu = MenuUser(rig).sign_in(Role.SUPERVISOR).touch("meters")
    assert menu.read_rows()["Bill In"] == "$99,999,999.99"
    write_undeclared_entry(
        rig.machine, "bill", transfers=(Transfer("world:bill", "credit:1:cashable", 2001),)
    )
    assert menu.touch("game").touch("whole").read_rows()["Bill In"] == "$20.00"


@pytest.mark.requirement("E-08", "E-09", "J-12", "J-18")
def test_logs_and_identity_are_read_at_the_machine(rig):
    rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.jam")
    rig.engine.handle(EventType.FAULT_CLEARED, code="bill_acceptor.jam")
    menu = MenuUser(rig).sign_in(Role.INSPECTOR).touch("log.events")
    events = [tuple(translate_text(row.cells[i], "en") for i in (1, 3)) for row in menu.page.tables[0].rows]
    sign_in = [event for event, _ in events if event != "Staff member added"]  # recorded at the first sign-in
    assert sign_in[:2] == ["Signed in at the service menu", "Service menu requested"]
    assert {("Fault", "Bill jam"), ("Fault cleared by itself", "Bill jam")} <= set(events)
    local = [[translate_text(row.cells[i], "fr") for i in (0, 1, 3)] for row in menu.page.tables[0].rows]
    when = "1 janv. 2026, 00 h 00 min 00 s"
    assert [when, "Panne", "Billet coincé"] in [[text.replace("\xa0", " ") for text in row] for row in local]
    menu.touch("back").touch("log.bills")
    assert menu.page.tables[0].rows[0].cells[2].value == 2000
    menu.touch("back").touch("log.access")
    assert menu.page.tables[0].rows[0].cells[4].value == STAFF_NUMBER_BY_ROLE[Role.INSPECTOR]
    menu.touch("back").touch("software")
    lines = menu.read_rows()
    assert lines["Program"] == f"open-egm {version('open-egm')}"
    assert lines["Key fingerprint"] == rig.journal.fingerprint
    assert lines["Jurisdiction rules"].startswith(f"{rig.profile.id}: ")
    assert lines["Journal’s last entry"] == f"{rig.journal.sequence}: {rig.journal.head_hash[:32]}"
    game = rig.machine.games["maple-classic"]
    assert lines[f"maple-classic {game.version}"] == game.digest[:32]


@pytest.mark.requirement("E-07", "E-08", "P-04")
def test_logs_of_a_machine_with_several_positions_state_the_position(tmp_path):
    with open_positions(tmp_path) as start:
        rooms = start("maple-classic", count=2, generator=ScriptedGenerator(*LOSS))
        rooms[0].insert(2000)
        rooms[1].insert(500)
        rooms[1].play()
        rooms[1].report_shown()
        menu = MenuUser(rooms[0]).sign_in(Role.INSPECTOR).touch("log.bills")
        shown = [[translate_text(cell, "en") for cell in row.cells[1:4]] for row in menu.page.tables[0].rows]
    assert shown == [["2", "Bill accepted", "$5.00"], ["1", "Bill accepted", "$20.00"]]

    def read_log(name):
        run = CliRunner().invoke(main, ["audit", "log", name, "--state", str(tmp_path), "--json"])
        assert run.exit_code == 0, run.output
        return [line["position"] for line in json.loads(run.output)]

    assert read_log("bills") == [2, 1]
    assert read_log("plays") == [2]


@pytest.mark.requirement("G-17", "P-04")
def test_a_register_of_a_machine_with_several_positions_states_the_position(tmp_path):
    with open_positions(tmp_path) as start:
        rooms = start("maple-classic", count=2, generator=ScriptedGenerator(*LOSS))
        rooms[1].insert(500)
        rooms[1].cash_out_ticket()

    def show_printed_tickets(*options):
        return (
            CliRunner()
            .invoke(main, ["register", "show", "printed", "--state", str(tmp_path), *options])
            .output
        )

    assert [line["position"] for line in json.loads(show_printed_tickets("--json"))] == [2]
    header, line = show_printed_tickets("--csv").splitlines()
    assert dict(zip(header.split(","), line.split(","), strict=True))["position"] == "2"


@pytest.mark.requirement("A-19", "J-12")
def test_the_page_of_the_software_has_the_identity_of_every_device(rig):
    bench = rig.machine.component(ServiceDesk).device_page_data
    bench.kind_by_device_name = {"bill": "bill_acceptor", "printer": "ticket_printer"}
    bench.store_report(DeviceIdentified(device="bill", identity="UBA-10 V1.00"))
    bench.store_report(DeviceIdentified(device="printer", identity="TCLSIM100"))
    lines = MenuUser(rig).sign_in(Role.INSPECTOR).touch("software").read_rows()
    identities = lines["Bill acceptor"], lines["Ticket printer"]
    assert identities == ("bill  UBA-10 V1.00", "printer  TCLSIM100")


@pytest.mark.requirement("J-18", "E-10")
@pytest.mark.parametrize("unattended", [None, True])
def test_a_door_opened_with_the_power_on_or_off_is_in_the_access_log(rig, unattended):
    before = {entry.id for entry in FEATURES.entry_declarations.read_log(rig.journal, Log.ACCESS)}
    rig.engine.handle(EventType.DOOR_OPENED, door="main", unattended=unattended)
    new = [e for e in FEATURES.entry_declarations.read_log(rig.journal, Log.ACCESS) if e.id not in before]
    assert [(entry.kind, entry.record["door"]) for entry in new] == [
        ("door.opened_while_off" if unattended else "door.opened", "main")
    ]


@pytest.mark.requirement("E-06", "E-07")
def test_the_log_of_tickets_has_time_amount_and_masked_number_of_each(tmp_path):
    rig = MachineRig(tmp_path, devices=("printer",)).boot()
    numbers = [rig.insert(cents).cash_out_ticket() for cents in (500, 2000)]
    rig.offer_ticket(numbers[0])
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()
    menu = MenuUser(rig).sign_in(Role.INSPECTOR).touch("log.vouchers")
    rows = [[translate_text(cell, "en") for cell in row.cells] for row in menu.page.tables[0].rows]
    assert {row[0].partition(",")[0] for row in rows} == {"Jan\xa01"}
    masked = ["•" * 14 + number[-4:] for number in numbers]
    # one line for each ticket: the last 35 lines are the last 35 tickets
    assert [tuple(row[1:4]) for row in rows] == [
        ("Ticket accepted", "$5.00", masked[0]),
        ("Ticket printed", "$20.00", masked[1]),
        ("Ticket printed", "$5.00", masked[0]),
    ]
    rig.close()


@pytest.mark.requirement("E-08", "E-09")
def test_the_log_of_events_shows_errors_from_before_a_restart(rig, tmp_path):
    rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.jam")
    rig.engine.handle(EventType.FAULT_CLEARED, code="bill_acceptor.jam")
    rig.close()
    restarted = MachineRig(tmp_path).boot()
    menu = MenuUser(restarted).sign_in(Role.INSPECTOR).touch("log.events")
    events = [tuple(translate_text(row.cells[i], "en") for i in (1, 3)) for row in menu.page.tables[0].rows]
    titles = [event for event, _ in events]
    assert titles.index("Machine switched on") < events.index(("Fault cleared by itself", "Bill jam"))
    assert events.index(("Fault cleared by itself", "Bill jam")) < events.index(("Fault", "Bill jam"))
    restarted.close()
    run = CliRunner().invoke(main, ["audit", "log", "events", "--state", str(tmp_path), "--json"])
    kinds = [line["kind"] for line in json.loads(run.output)]
    assert kinds.index("power.up") < kinds.index("fault.raised")


@pytest.mark.not_audited
@pytest.mark.requirement("E-08", "J-12")
def test_only_prizes_in_kind_are_listed_as_things_in_the_log(rig):
    """Regression: reading the events of a game examined at the start ended the machine."""
    build_prize_computer_with_cache(rig.journal)(rig.machine.games["maple-classic"])
    write_undeclared_entry(
        rig.machine, "clear.paid", details={"prizes": ["bicycle"]}
    )  # as a clear pays a hand-pay with prizes in kind
    menu = MenuUser(rig).sign_in(Role.INSPECTOR).touch("log.events")
    details = {row.cells[1].value: row.cells[3] for row in menu.page.tables[0].rows}
    assert [details[kind].value for kind in ("game.examined", "clear.paid")] == ["maple-classic", ""]


@pytest.mark.requirement("A-20", "A-21")
def test_memory_and_clock_are_shown_and_nothing_at_the_machine_clears_them(rig):
    write_undeclared_entry(
        rig.machine,
        "clock.changed",
        details={"last_entry": "2026-01-02T00:00:00+00:00", "now": "2026-01-01T00:00:00+00:00"},
    )
    menu = MenuUser(rig).sign_in(Role.TECHNICIAN).touch("clock")
    assert len(menu.page.tables[1].rows) == 1
    menu.touch("back").touch("memory")
    assert menu.read_rows()["Entries in the journal"] == str(rig.journal.sequence)
    assert [action.id for action in menu.page.actions] == ["back"]
