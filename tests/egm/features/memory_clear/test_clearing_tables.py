"""Stakes and tables after an authorised clear: standing bets are owed, and raises belong to their game."""

import pytest
from rigs.table_games import register_families, write_definition

from egm.app.features import FEATURES
from egm.features.memory_clear.carrying import inspect_claims
from egm.kernel.events import EventType, State
from egm.people import Role
from egm.play.records.tables import list_tables_with_standing_bets
from egm.staff.page_texts import build_text
from egm.testing.clearing import build_paid_decision, clear_with_decisions
from egm.testing.machine import MachineRig, ScriptedGenerator
from egm.testing.service_menu import MenuUser
from meters.recall import iter_recent_plays
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor


@pytest.fixture
def evening(tmp_path, monkeypatch):
    """A machine with a test game: start it, clear it (returns the amounts owed by claim), and audit it."""
    register_families(monkeypatch)
    state, rooms = tmp_path / "state", []

    class Evening:
        def start(self, name, *numbers):
            game = write_definition(tmp_path / "games", name)
            rooms.append(MachineRig(state, games=(game,), generator=ScriptedGenerator(*numbers)).boot())
            return rooms[-1]

        def clear(self, **decisions):
            rooms[-1].close()
            owed = {
                proposal.id.partition(":")[0]: proposal.claim.amount
                for proposal in inspect_claims(state, FEATURES).proposals
            }
            digest = next(
                (
                    proposal.id
                    for proposal in inspect_claims(state, FEATURES).proposals
                    if "table:" in proposal.id
                ),
                "",
            )
            renamed = {digest if name == "table" else name: act for name, act in decisions.items()}
            clear_with_decisions(state, **renamed)
            return owed

        def wrong(self):
            report = Auditor(GameFiles([tmp_path / "games"])).audit_entries(rooms[-1].journal.iter_bodies())
            return [finding.text for finding in report.findings]

    yield Evening()
    rooms[-1].close()


def throw(rig, **bets):
    cost = sum(bets.values())
    rig.engine.handle(EventType.SELECT_BET, value=cost, options={"bets": bets})
    rig.play()
    rig.report_shown()


def bet_and_raise(rig):
    rig.engine.handle(EventType.SELECT_BET, value=10, options={"bets": {"ante": 10}})
    rig.play()
    rig.engine.handle(EventType.CHOOSE, value="raise")


def recall_answers(rig):
    """Return the rows with the last game's answers on its recall page."""
    menu = MenuUser(rig).sign_in(Role.ATTENDANT).touch("recall")
    tables = menu.touch(menu.page.tables[0].rows[0].action).page.tables
    answers = [
        row for table in tables if table.title == build_text("service.recall.choices") for row in table.rows
    ]
    menu.home().touch("leave")
    return answers


@pytest.mark.requirement("A-05", "A-20")
def test_standing_bets_are_carried_over_and_played_on(evening):
    throw(evening.start("point", 2).insert(1000), line=10, place=4)
    assert evening.clear() == {"credit": 930, "table": 70}
    rig = evening.start("point", 2)
    assert [table.standing_bets_cents for table in list_tables_with_standing_bets(rig.machine)] == [70]
    throw(rig)
    assert rig.credit_cents == 930 + 100
    assert evening.wrong() == []


@pytest.mark.requirement("A-05")
def test_standing_bets_are_paid_by_hand_if_the_persons_decide_so(evening):
    throw(evening.start("point", 2).insert(1000), line=10, place=4)
    evening.clear(table=build_paid_decision(70))
    rig = evening.start("point")
    assert (list_tables_with_standing_bets(rig.machine), rig.credit_cents) == ((), 930)
    assert rig.journal.meters().values["push"] == 70
    assert evening.wrong() == []


@pytest.mark.requirement("A-05")
def test_a_game_with_a_raise_is_resumed_and_returns_its_stakes_once(evening):
    rig = evening.start("duel", 3, 3).insert(1000)
    bet_and_raise(rig)
    assert evening.clear() == {"credit": 900, "game": 100}
    rig = evening.start("duel")
    rig.report_shown()
    assert (rig.state, rig.credit_cents) == (State.IDLE, 1000)
    assert evening.wrong() == []
    (play,) = iter_recent_plays(rig.journal)
    assert (play.bet_cents, play.payout_cents, play.push_cents) == (100, 100, 100)


@pytest.mark.requirement("E-01")
def test_the_answers_of_a_game_are_recalled_as_before_the_clear(evening):
    rig = evening.start("duel", 3, 3, 3, 3).insert(2000)
    bet_and_raise(rig)
    rig.report_shown()
    expected = recall_answers(rig)
    assert len(expected) == 1
    bet_and_raise(rig)
    evening.clear()
    rig = evening.start("duel")
    rig.report_shown()
    assert recall_answers(rig) == expected


@pytest.mark.requirement("A-05")
def test_stakes_returned_before_the_clear_are_not_owed_again(evening):
    rig = evening.start("duel", 3, 3).insert(1000)
    rig.engine.handle(EventType.SELECT_BET, value=10, options={"bets": {"ante": 10}})
    rig.play()
    rig.engine.handle(EventType.CHOOSE, value="stay")
    rig.cut_power_after(1)
    with pytest.raises(Exception, match="end"):
        rig.report_shown()
    assert len(rig.records("game.push")) == 1
    assert evening.clear() == {"credit": 1000, "game": 0}
    rig = evening.start("duel")
    if rig.state is State.PLAYING:
        rig.report_shown()
    assert (rig.state, rig.credit_cents) == (State.IDLE, 1000)
    assert evening.wrong() == []
    (play,) = iter_recent_plays(rig.journal)
    assert (play.bet_cents, play.payout_cents, play.push_cents) == (50, 50, 50)
