"""Bets that stand from round to round: to whom they belong when the player leaves, and their audit."""

import copy
import json

import pytest
from rigs.forms import TWO, fill_in
from rigs.table_games import LINE, PLACE, register_families, write_definition

from egm.app.features import SERVICE_MENU
from egm.kernel.events import EventType, State
from egm.money.keys import MoneyKey
from egm.play.records.tables import list_tables_with_standing_bets
from egm.profiles import load_profile
from egm.staff.service.form_filling import FormFillingPage
from egm.testing.machine import GeneratorOutOfService, MachineRig, ScriptedGenerator
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor


@pytest.fixture
def point(tmp_path, monkeypatch):
    """Return a function that starts the machine with the game ``point``; each call restarts the machine."""
    register_families(monkeypatch)
    state = tmp_path / "state"
    rooms = []

    def start(*numbers, version="1.0.0", beside=(), **options):
        if rooms:
            rooms[-1].close()
        game = write_definition(tmp_path / f"games-{version}", "point", version=version)
        rig = MachineRig(state, games=(game, *beside), generator=ScriptedGenerator(*numbers), **options)
        rooms.append(rig.boot())
        return rig

    yield start
    rooms[-1].close()


def throw(rig, **bets):
    cost = sum(bet for bet in bets.values() if bet > 0)
    rig.engine.handle(EventType.SELECT_BET, value=cost, options={"bets": bets})
    rig.play()
    assert rig.state is State.PLAYING, rig.notice
    rig.report_shown()


def read_pushes_by_pay_table(rig):
    """Return the returned stakes by pay table and denomination."""
    reading = rig.journal.meters()
    return reading.split_by("push", "paytable"), reading.split_by("push", "denomination_cents")


def check_books(rig, tmp_path):
    """Check that the accounts balance, and that the audit derives every table state."""
    rig.journal.self_audit()
    folders = sorted(tmp_path.glob("games-*"))
    assert Auditor(GameFiles(folders)).audit_entries(rig.journal.iter_bodies()).findings == []
    return rig.journal.meters().values


@pytest.mark.requirement("D-15", "B-08")
def test_a_standing_bet_remains_until_it_is_decided_even_over_a_restart(point, tmp_path):
    rig = point(2).insert(1000)
    throw(rig, line=10, place=4)
    assert rig.credit_cents == 1000 - 70
    (table,) = list_tables_with_standing_bets(rig.machine)
    assert table.table_state == {"point": 2, "bets": {LINE: 10, PLACE: 4}}
    assert table.standing_bets_cents == 70
    reopened = point(4, 2)
    throw(reopened)  # at no cost: the bets stand
    assert reopened.credit_cents == 930
    assert reopened.records("game.start")[-1]["table"] == table.table_state
    throw(reopened)
    assert reopened.credit_cents == 930 + 100
    meters = check_books(reopened, tmp_path)
    assert (meters["coin_in"], meters["coin_out"], meters["games_played"]) == (70, 100, 3)


@pytest.mark.requirement("F-02")
def test_a_free_round_needs_a_standing_bet(point):
    rig = point(2).insert(1000)
    rig.engine.handle(EventType.SELECT_BET, value=0, options={"bets": {}})
    rig.play()
    assert rig.notice == "refused.bet_is_laid"
    throw(rig, line=10)
    rig.engine.handle(EventType.SELECT_BET, value=10, options={"bets": {LINE: 10}})
    assert rig.notice == "refused.bet_is_offered"  # the line is closed while there is a point


@pytest.mark.requirement("O-05")
def test_the_denomination_cannot_change_while_bets_stand(point):
    rig = point(2, 2).insert(1000)
    throw(rig, line=10)
    rig.engine.handle(EventType.SELECT_DENOMINATION, value=25)
    assert (rig.notice, rig.machine.selection.denomination_cents) == ("refused.no_bets_stand", 5)
    throw(rig)
    rig.engine.handle(EventType.SELECT_DENOMINATION, value=25)
    assert rig.machine.selection.denomination_cents == 25


@pytest.mark.requirement("D-15", "O-04")
def test_a_bet_taken_down_is_returned_as_a_stake_and_is_no_win(point, tmp_path):
    rig = point(2, 4).insert(1000)
    throw(rig, line=10, place=4)
    throw(rig, place=-4)
    assert rig.credit_cents == 1000 - 50
    meters = check_books(rig, tmp_path)
    assert (meters["coin_in"], meters["coin_out"], meters["push"]) == (70, 20, 20)
    assert meters["games_pushed"] == 1
    assert read_pushes_by_pay_table(rig) == ({"point@1.0.0": 20}, {"5": 20})


@pytest.mark.requirement("F-08", "O-04")
def test_at_cash_out_bets_that_may_be_taken_down_are_returned(point, tmp_path):
    rig = point(0).insert(1000)
    throw(rig, line=10)
    rig.machine.random_service.values.append(2)
    throw(rig, place=4)  # the throw of 2 makes the point, and no line bet is on it
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY
    assert list_tables_with_standing_bets(rig.machine) == ()
    (returned,) = rig.records("table.returned")
    assert (returned["why"], returned["amount_cents"]) == ("taken_down", 20)
    assert read_pushes_by_pay_table(rig) == ({"point@1.0.0": 20}, {"5": 20})
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert rig.journal.balance_cents("out:handpay_cancelled_credit") == 950
    check_books(rig, tmp_path)


@pytest.mark.requirement("F-08")
def test_bets_that_may_not_be_taken_down_are_played_before_cash_out(point, tmp_path):
    rig = point(2, 0).insert(1000)
    throw(rig, line=10, place=4)
    rig.engine.handle(EventType.CASH_OUT)
    assert (rig.state, rig.notice, rig.credit_cents) == (State.IDLE, "bets_stay", 950)
    throw(rig)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY
    check_books(rig, tmp_path)


@pytest.mark.requirement("F-08", "F-11")
def test_above_the_balance_limit_credit_is_paid_once_the_bets_are_decided(point, tmp_path):
    """A payout before that would leave the bets on the table and be repeated without end."""
    profile_file = tmp_path / "place.toml"
    text = load_profile("generic").file.data.decode()
    profile_file.write_text(text.replace("[pay_out]", "[pay_out]\nautomatic_cents = 1500"))
    rig = point(2, 0, profile=profile_file).insert(1000)
    throw(rig, line=10)
    rig.insert(1000)
    assert (rig.state, rig.credit_cents, rig.notice) == (State.IDLE, 1950, "bill_accepted")
    throw(rig)
    assert (rig.state, rig.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"]) == (State.HANDPAY, 1950)
    check_books(rig, tmp_path)


@pytest.mark.requirement("F-08", "A-28", "C-04")
def test_standing_bets_above_a_new_limit_are_played_on(point, tmp_path):
    """Regression: they could neither be played nor taken off the table, and the player could not cash out."""
    profile_file = tmp_path / "place.toml"
    text = load_profile("generic").file.data.decode()
    profile_file.write_text(text.replace("bet_limit_cents = 10000", "bet_limit_cents = 100"))
    rig = point(2).insert(1000)
    throw(rig, line=100)
    rig = point(0, profile=profile_file)
    rig.engine.handle(EventType.SELECT_BET, value=4, options={"bets": {"place": 4}})
    assert rig.notice == "refused.bet_is_offered"
    throw(rig)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY
    check_books(rig, tmp_path)


@pytest.mark.requirement("F-08")
def test_at_another_game_the_game_with_standing_bets_is_named(point, tmp_path):
    """Playing another game would cost stakes and decide none of the standing bets."""
    rig = point(2, 0, beside=("maple-classic",)).insert(1000)
    throw(rig, line=10, place=4)
    table = rig.machine.selection.game_id
    rig.engine.handle(EventType.SELECT_GAME, value="maple-classic")
    rig.engine.handle(EventType.CASH_OUT)
    assert (rig.state, rig.credit_cents) == (State.IDLE, 950)
    assert (rig.notice, rig.machine.notice.values) == (
        "bets_stay_elsewhere",
        {"amount_cents": 50, "game": table},
    )
    rig.engine.handle(EventType.SELECT_GAME, value=table)
    throw(rig)
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY
    rig.journal.self_audit()


@pytest.mark.requirement("F-20", "F-08")
def test_a_machine_that_cannot_continue_returns_every_standing_bet(point, tmp_path):
    rig = point(2).insert(1000)
    throw(rig, line=10, place=4)
    rig.machine.random_service = GeneratorOutOfService()
    rig.engine.handle(EventType.SELECT_BET, value=0, options={"bets": {}})
    rig.play()
    assert rig.state is State.OUT_OF_SERVICE
    rig.engine.handle(EventType.CASH_OUT)
    assert (rig.state, list_tables_with_standing_bets(rig.machine)) == (State.HANDPAY, ())
    (returned,) = rig.records("table.returned")
    assert (returned["why"], returned["amount_cents"]) == ("stopped", 70)
    assert check_books(rig, tmp_path)["credits"] == 1000


@pytest.mark.requirement("A-28")
@pytest.mark.parametrize(
    "other", [{"version": "1.0.1"}, {"denominations_cents": (25,)}], ids=["game", "credit"]
)
def test_standing_bets_of_a_changed_game_are_returned_and_announced(point, tmp_path, other):
    rig = point(2).insert(1000)
    throw(rig, line=10, place=4)
    reopened = point(**other)
    assert (reopened.credit_cents, reopened.notice) == (1000, "bets_given_back")
    (returned,) = reopened.records("table.returned")
    assert (returned["why"], returned["amount_cents"]) == ("changed", 70)
    check_books(reopened, tmp_path)


def test_a_session_does_not_end_while_bets_stand(point):
    rig = point(2).insert(500)
    throw(rig, line=100)
    assert rig.credit_cents == 0
    assert not rig.engine.accepts_event_type(EventType.PLAYER_SESSION_OVER)


# ---------------------------------------------------------------------------------------------- the audit
LIES = {
    "table": ("game.start", lambda record: record["table"].update(point=4), "left by the game before it"),
    "nothing": ("game.start", lambda record: record.pop("table"), "left by the game before it"),
    "left": ("game.end", lambda record: None, "state.table:"),
    "standing": (
        "game.start",
        lambda record: record.update(standing_credits=9),
        "record.standing_credits: expected",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_the_audit_finds_an_altered_table_state(point, tmp_path, lie):
    rig = point(2, 4).insert(1000)
    throw(rig, line=10, place=4)
    throw(rig)
    kind, change, reason = LIES[lie]
    last = max(entry.sequence for entry in rig.journal.entries(kind))
    bodies = [_altered(body, last, change, lie) for body in rig.journal.iter_bodies()]
    findings = Auditor(GameFiles(sorted(tmp_path.glob("games-*")))).audit_entries(bodies).findings
    assert any(reason in finding.text for finding in findings), [finding.text for finding in findings]


def _altered(body, sequence, change, lie):
    data = json.loads(body)
    if data["sequence"] != sequence:
        return body
    changed = copy.deepcopy(data)
    change(changed["record"])
    if lie == "left":
        (key,) = (name for name in changed["state"] if name.startswith("table:"))
        changed["state"][key]["staked"] = [["credit:1:cashable", 65]]
    return json.dumps(changed, sort_keys=True, separators=(",", ":")).encode()


def test_returned_table_bets_are_booked_to_their_own_game_and_credit(point, tmp_path):
    rig = point(0, 2).insert(1000)
    throw(rig, line=10)
    throw(rig, place=4)
    rig.engine.handle(EventType.CASH_OUT)
    check_books(rig, tmp_path)
    bodies = []
    for body in rig.journal.iter_bodies():
        entry = json.loads(body)
        if entry["kind"] == "table.returned":
            entry["record"]["denomination_cents"] = entry["dims"]["denomination_cents"] = 10
        bodies.append(json.dumps(entry, sort_keys=True, separators=(",", ":")).encode())
    findings = Auditor(GameFiles(sorted(tmp_path.glob("games-*")))).audit_entries(bodies).findings
    assert any("the bets stand on" in finding.text for finding in findings), [
        finding.text for finding in findings
    ]


@pytest.mark.requirement("E-13", "D-15")
@pytest.mark.parametrize("kind", ["game.end", "table.returned"])
def test_an_entry_that_removes_the_table_of_another_game_is_named(point, tmp_path, kind):
    rig = point(0, 2).insert(1000)
    throw(rig, line=10)
    throw(rig, place=4)
    rig.engine.handle(EventType.CASH_OUT)
    check_books(rig, tmp_path)
    bodies = []
    for body in rig.journal.iter_bodies():
        entry = json.loads(body)
        if entry["kind"] == kind:
            entry["state"][f"table:{'0' * 64}"] = None
        bodies.append(json.dumps(entry, sort_keys=True, separators=(",", ":")).encode())
    findings = Auditor(GameFiles(sorted(tmp_path.glob("games-*")))).audit_entries(bodies).findings
    assert any("the table of another game" in finding.text for finding in findings), [
        finding.text for finding in findings
    ]


def test_the_retained_commission_of_a_bet_taken_down_is_no_standing_bet(tmp_path):
    """A lay bet is staked with its commission and returned without it; the rest of the table is unchanged."""
    rig = MachineRig(
        tmp_path / "state", games=("quebec-craps",), generator=ScriptedGenerator(3, 4, 0, 0, 1, 4)
    )
    rig.boot().insert(2000).insert(2000)
    wager = rig.machine.games["quebec-craps"].rules.list_spots()
    unit_cents = rig.machine.selection.denomination_cents
    throw(rig, **{"pass": 1})
    rig.engine.handle(EventType.SELECT_BET, value=31, options={"bets": {"lay-9": 31}})
    assert "lay-9" in {spot.id for spot in wager}
    rig.play()
    rig.report_shown()
    before_cents = rig.credit_cents
    rig.engine.handle(EventType.CASH_OUT)
    (table,) = list_tables_with_standing_bets(rig.machine)
    assert (table.standing_bets_cents, table.standing_stakes) == (
        unit_cents,
        (("credit:1:cashable", unit_cents),),
    )
    given_cents = rig.journal.meters().values["coin_out"]
    assert given_cents == 30 * unit_cents
    assert before_cents + given_cents >= rig.credit_cents
    check_books(rig, tmp_path)
    rig.close()


@pytest.mark.requirement("Q-06", "F-18")
def test_unclaimed_credits_include_the_standing_bets(point, tmp_path):
    """Both belong to the same person: the register has the total, and the next player finds no bets."""
    rig = point(2).insert(1000)
    throw(rig, line=10, place=4)
    assert fill_in(rig, "orphan_credits", **TWO) == "refused.location_is_stated"
    assert list_tables_with_standing_bets(rig.machine)  # an incomplete form changes nothing
    fill_in(rig, "orphan_credits", **TWO, place="bank 4")
    assert (rig.state, rig.credit_cents, list(list_tables_with_standing_bets(rig.machine))) == (
        State.IDLE,
        0,
        [],
    )
    (orphan,) = rig.records("orphan.credits")
    assert orphan["amount_cents"] == 1000
    assert [entry["why"] for entry in rig.records("table.returned")] == ["stopped"]
    check_books(rig, tmp_path)


@pytest.mark.requirement("F-18")
def test_bets_left_without_credit_are_removed_by_a_recorded_decision(point, tmp_path):
    """The player staked all credit and left; the bets are entered in the register of unclaimed money."""
    rig = point(2).insert(100)
    throw(rig, line=10, place=10)
    (table,) = list_tables_with_standing_bets(rig.machine)
    assert (rig.credit_cents, table.standing_bets_cents) == (0, 100)
    (form,) = (form for form in SERVICE_MENU.forms if form.id == "orphan_credits")
    (condition,) = FormFillingPage(form).build_page(rig.machine).tables[-1].rows
    assert condition.icon == "good"  # the form shows staff that there is a bet to remove
    assert fill_in(rig, "orphan_credits", place="bank 4") == "refused.authorised"
    assert list_tables_with_standing_bets(rig.machine) == (table,)
    fill_in(rig, "orphan_credits", **TWO, place="bank 4")
    assert (rig.state, rig.credit_cents, list_tables_with_standing_bets(rig.machine)) == (State.IDLE, 0, ())
    (orphan,) = rig.records("orphan.credits")
    assert (orphan["amount_cents"], orphan["place"]) == (100, "bank 4")
    assert check_books(rig, tmp_path)["orphan"] == 100
