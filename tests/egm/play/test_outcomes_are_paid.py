"""A decided game is paid, whatever happens to its definition, its levels or the cabinet file meanwhile.

The journal stores the definition with which a game began. Each test removes the game from the machine while it is
open, restarts the machine, and checks what the player is paid.
"""

import re
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import pytest
from rigs.forms import ONE, TWO, fill_in
from rigs.three_levels import GAME, NO_LUCK, A, C, make_levels_machine

from egm.integrity.keys import IntegrityKey
from egm.kernel.events import EventType, State
from egm.kernel.messages import DecisionRequest, GameOutcome
from egm.play.keys import PlayKey
from egm.play.records.games import GameInProgress
from egm.play.rulings import void_game
from egm.play.stepped_game import SteppedGame
from egm.progressive.game_levels import list_game_hits
from egm.progressive.keys import ProgressiveKey
from egm.testing.machine import (
    GeneratorOutOfService,
    MachineRig,
    PowerCutError,
    ScriptedGenerator,
    write_undeclared_entry,
)
from paytables.definition import LIBRARY_FOLDER
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

MAPLES, LOSS = (23, 7, 5), (0, 0, 0)
LIE = {"void_reason": "defect", "persons": ["2", "5"], "reason": "a lie", "location": "7"}
STAKE, WIN = 5, 300
MYSTERY_HIT = 0


def remove_stored_definition(rig: MachineRig) -> None:
    """Remove the definition from the journal, as in journals of versions that did not store definitions."""
    for key in rig.journal.states(PlayKey.GAME_DEFINITION):
        write_undeclared_entry(rig.machine, "planted", state={key: None})


@pytest.fixture
def won(tmp_path):
    """A folder with an open game that has won 300 cents for 5."""
    rig = MachineRig(tmp_path, generator=ScriptedGenerator(*MAPLES)).boot().insert(10000)
    rig.play()
    yield rig
    rig.close()


@pytest.mark.requirement("A-08", "F-04", "F-14")
def test_a_win_of_a_removed_game_is_paid(won, tmp_path):
    shown = won.hands.messages[-1]
    won.close()
    restarted = MachineRig(tmp_path, games=(), generator=GeneratorOutOfService()).boot()
    assert restarted.state is State.PLAYING
    message = restarted.hands.messages[-1]
    assert isinstance(message, GameOutcome)
    assert (message.display, message.paid_cents, message.is_resumed) == (shown.display, WIN, True)
    restarted.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert restarted.records("game.void") == []
    restarted.report_shown()
    assert restarted.credit_cents == 10000 - STAKE + WIN
    assert restarted.records("game.end")[0]["win_cents"] == WIN
    assert restarted.journal.meters().values["refund_defect"] == 0
    restarted.journal.self_audit()
    restarted.close()


@pytest.mark.requirement("A-08", "A-24", "F-14")
@pytest.mark.parametrize("written", range(4))
def test_a_win_survives_power_cuts_at_each_entry_and_the_games_removal(tmp_path, written):
    rig = MachineRig(tmp_path, generator=ScriptedGenerator(*MAPLES)).boot().insert(10000)
    rig.cut_power_after(written)
    with suppress(PowerCutError):
        rig.play()
        rig.engine.handle(EventType.DOOR_OPENED, door="main")
        rig.engine.handle(EventType.DOOR_CLOSED, door="main")
        rig.report_shown()
    rig.close()
    restarted = MachineRig(tmp_path, games=()).boot()
    if "main" in restarted.machine.open_doors:
        restarted.engine.handle(EventType.DOOR_CLOSED, door="main")
    if restarted.state is State.PLAYING:
        restarted.report_shown()
    assert restarted.machine.memory.get(PlayKey.GAME) is None
    assert restarted.credit_cents == (10000 - STAKE + WIN if written else 10000)
    assert len(restarted.records("game.end")) == min(written, 1)
    restarted.close()


@pytest.mark.requirement("A-08", "F-14")
def test_a_new_version_of_the_definition_does_not_change_an_open_game(won, tmp_path):
    won.close()
    other = tmp_path / "other.toml"
    text = (LIBRARY_FOLDER / "maple-classic.toml").read_text()
    other.write_text(re.sub("(?m)^version = .*", 'version = "2.0.0"', text, count=1).replace("3", "4", 1))
    restarted = MachineRig(tmp_path, games=(str(other),), denominations_cents=(25,)).boot()
    assert restarted.machine.games["maple-classic"].version == "2.0.0"
    assert restarted.state is State.PLAYING
    restarted.report_shown()
    assert restarted.credit_cents == 10000 - STAKE + WIN
    restarted.close()


@pytest.mark.requirement("A-08", "B-08")
@pytest.mark.parametrize("cut_after_choice", [False, True])
def test_a_decision_of_a_removed_game_is_asked_again_and_answered(tmp_path, cut_after_choice):
    rig = MachineRig(tmp_path, games=("hold-fast",)).boot().insert(500)
    rig.play()
    question = rig.hands.messages[-1]
    if cut_after_choice:
        rig.engine.handle(EventType.CHOOSE, value=question.options[0])
    rig.close()
    restarted = MachineRig(tmp_path, games=()).boot()
    assert restarted.state is State.PLAYING
    if not cut_after_choice:
        message = restarted.hands.messages[-1]
        assert isinstance(message, DecisionRequest)
        assert (message.options, message.display) == (question.options, question.display)
        restarted.engine.handle(EventType.CHOOSE, value=message.options[0])
    win_cents = restarted.hands.messages[-1].paid_cents
    restarted.report_shown()
    assert restarted.credit_cents == 500 - 25 + win_cents
    restarted.journal.self_audit()
    restarted.close()


@pytest.mark.requirement("I-11", "F-14")
def test_a_level_edited_out_of_the_cabinet_file_is_paid_as_it_was_locked(tmp_path):
    rig = make_levels_machine(tmp_path, A, NO_LUCK, 1).boot().insert(10000)
    rig.play()
    game = rig.machine.component(GameInProgress).record
    (award,) = list_game_hits(rig.machine, game)
    due = game.win_cents + award.amount_cents
    rig.close()
    restarted = make_levels_machine(tmp_path, levels=())
    assert restarted.refused_games
    restarted.boot()
    assert restarted.state is State.PLAYING
    restarted.report_shown()
    assert restarted.credit_cents == 10000 - 50 + due
    assert restarted.records("game.void") == []
    restarted.journal.self_audit()
    restarted.close()


def test_a_definition_is_recorded_once_for_all_its_games(tmp_path):
    rig = MachineRig(tmp_path, generator=ScriptedGenerator(*MAPLES, *LOSS, *LOSS)).boot().insert(10000)
    for _ in range(3):
        rig.play()
        rig.report_shown()
    definition_keys = [
        key
        for entry in rig.journal.entries("game.start")
        for key in entry.state
        if key.startswith(PlayKey.GAME_DEFINITION)
    ]
    assert definition_keys == [f"{PlayKey.GAME_DEFINITION}{rig.machine.games['maple-classic'].digest}"]
    rig.close()


@pytest.mark.requirement("F-04", "F-14")
def test_a_win_with_a_lost_definition_is_paid_as_recorded_with_a_notice(won, tmp_path):
    remove_stored_definition(won)
    won.close()
    restarted = MachineRig(tmp_path, games=()).boot()
    assert restarted.state is State.PLAYING
    (record,) = restarted.records("game.differs")
    assert record["win_cents"] == WIN
    restarted.report_shown()
    assert restarted.credit_cents == 10000 - STAKE + WIN
    restarted.close()


@pytest.mark.requirement("A-25", "Q-02")
def test_a_recorded_draw_that_the_game_does_not_use_fails_the_machine_check(won):
    won.report_shown()
    assert (fill_in(won, "machine_check", **ONE), won.records("machine.checked")[-1]["game"]) == (
        "machine_checked",
        "right",
    )
    game_in_progress = won.machine.component(GameInProgress)
    (step,) = game_in_progress.record.steps
    game_in_progress.record = replace(
        game_in_progress.record, steps=(replace(step, draws=(*step.draws, step.draws[-1])),)
    )
    assert fill_in(won, "machine_check", **ONE) == "machine_check_failed"


@pytest.mark.requirement("A-25", "Q-02")
def test_a_replay_that_fails_inside_the_game_fails_the_machine_check(won, monkeypatch):
    won.report_shown()

    def fail(*_):
        raise IndexError("no such reel")

    monkeypatch.setattr(SteppedGame, "advance", fail)
    assert fill_in(won, "machine_check", **ONE) == "machine_check_failed"
    assert won.records("machine.checked")[-1]["game"] == "no such reel"


@pytest.mark.requirement("F-14", "A-28", "Q-02")
def test_unrecoverable_game_is_refunded_by_two_people_and_not_by_a_key(tmp_path):
    rig = MachineRig(tmp_path, games=("hold-fast",)).boot().insert(500)
    rig.play()
    remove_stored_definition(rig)
    rig.close()
    broken = MachineRig(tmp_path, games=()).boot()
    assert (broken.state, list(broken.machine.active_faults)) == (State.TILT, ["game_defective"])
    broken.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (broken.state, broken.credit_cents) == (State.TILT, 475)
    assert fill_in(broken, "refund_game", **ONE, reason="no file") == "refused.authorised"
    assert broken.records("game.void") == []
    fill_in(broken, "refund_game", **TWO, reason="no file")
    assert (broken.state, broken.credit_cents, broken.machine.active_faults) == (State.IDLE, 500, {})
    (void,) = broken.records("game.void")
    assert (void["ruling"], void["persons"], void["reason"]) == ("defect", ["2", "5"], "no file")
    assert void["recorded"] == {"decided": False, "win_cents": None, "levels_cents": 0}
    assert broken.journal.meters().values["refund_defect"] == 25
    broken.close()


@pytest.mark.requirement("A-08", "F-14", "F-15")
@pytest.mark.parametrize("form", ["refund_game", "forfeit_game"])
@pytest.mark.parametrize("fault", ["game_defective", "bill_acceptor.cheat"])
def test_two_persons_cannot_declare_a_decided_game_void(won, form, fault):
    """Whatever fault is active: the game's record can be replayed, so that it ends and is paid as recorded."""
    won.engine.handle(EventType.FAULT_RAISED, code=fault, detail="planted")
    refusals_by_form = {
        "refund_game": "refused.game_cannot_end",
        "forfeit_game": "refused.game_may_be_forfeit",
    }
    assert fill_in(won, form, **TWO, reason="a wire in the slot") == refusals_by_form[form]
    fill_in(won, "settle_faults", person="4", persons=("4",), finding="nothing was found")
    won.engine.handle(EventType.KEY_TURNED, key="attendant")
    won.report_shown()
    assert (won.state, won.credit_cents) == (State.IDLE, 10000 - STAKE + WIN)
    assert won.records("game.void") == []
    assert Auditor(GameFiles()).audit_entries(won.journal.iter_bodies()).findings == []


@pytest.mark.not_audited
@pytest.mark.requirement("F-14", "E-13")
@pytest.mark.parametrize("is_replayable", [True, False])
def test_the_audit_names_a_refund_of_a_game_that_replays(tmp_path, is_replayable):
    """A defect must be visible in the game's record; a recorded fault is not enough."""
    rig = make_levels_machine(tmp_path, C, 1).boot().insert(10000)
    rig.play()
    if not is_replayable:
        remove_stored_definition(rig)
    rig.engine.handle(EventType.FAULT_RAISED, code="game_defective", detail="made up")
    assert fill_in(rig, "refund_game", **TWO, reason="made up") == "refused.game_cannot_end"
    void_game(rig.machine, is_refunded=True, machine=rig.machine.identity.serial, **LIE)
    report = Auditor(GameFiles([GAME.parent])).audit_entries(rig.journal.iter_bodies())
    findings = report.findings if is_replayable else report.notices
    assert any("no number that it needs is missing" in finding.text for finding in findings)
    rig.close()


@pytest.mark.requirement("F-14", "A-28")
def test_a_game_resumes_when_its_definition_is_available_again(tmp_path):
    rig = MachineRig(tmp_path, games=("hold-fast",)).boot().insert(500)
    rig.play()
    question = rig.hands.messages[-1]
    remove_stored_definition(rig)
    rig.close()
    MachineRig(tmp_path, games=()).boot().close()
    restarted = MachineRig(tmp_path, games=("hold-fast",)).boot()
    assert restarted.state is State.TILT
    fill_in(restarted, "settle_faults", person="4", persons=("4",), finding="the file was missing")
    assert restarted.state is State.PLAYING
    message = restarted.hands.messages[-1]
    assert (message.options, message.display) == (question.options, question.display)
    restarted.close()


@pytest.mark.requirement("F-14", "I-11")
def test_a_void_game_returns_its_hit_to_the_level_and_records_its_win(tmp_path):
    rig = make_levels_machine(tmp_path, C, MYSTERY_HIT).boot().insert(10000)
    rig.play()
    (award,) = list_game_hits(rig.machine, rig.machine.component(GameInProgress).record)
    rig.machine.random_service = GeneratorOutOfService()
    rig.engine.handle(EventType.CHOOSE, value=1)
    fill_in(rig, "refund_game", **TWO, reason="planted")
    assert rig.credit_cents == 10000
    (void,) = rig.records("game.void")
    assert not void["recorded"]["decided"]
    assert void["recorded"]["levels_cents"] == award.amount_cents
    stored_level = rig.journal.state(f"{ProgressiveKey.OWN_LEVEL}{award.pool_id}")
    assert Fraction(stored_level["current"]) >= award.amount_cents
    rig.journal.self_audit()
    rig.close()
    make_levels_machine(tmp_path).boot().close()  # the accounts agree with the level


@pytest.mark.requirement("C-20", "F-14")
def test_win_before_a_double_up_is_collected_if_the_generator_fails(tmp_path):
    rig = MachineRig(tmp_path, games=("orchard-picnic",)).boot().insert(10000)
    question = None
    while question is None:
        rig.play()
        message = rig.hands.messages[-1]
        while isinstance(message, DecisionRequest) and message.kind != "double_up":
            rig.engine.handle(EventType.CHOOSE, value=message.options[0])
            message = rig.hands.messages[-1]
        question = message if isinstance(message, DecisionRequest) else None
        rig.report_shown()
    before = rig.credit_cents
    won_cents = question.display["credits"] * rig.machine.selection.denomination_cents
    rig.machine.random_service = GeneratorOutOfService()
    rig.engine.handle(EventType.CHOOSE, value="red")
    assert rig.machine.memory.get(IntegrityKey.OUT_OF_SERVICE)["cause"] == "chance"
    assert fill_in(rig, "refund_game", **TWO, reason="the generator failed") == "refused.game_cannot_end"
    rig.close()
    restarted = MachineRig(tmp_path, games=("orchard-picnic",), generator=GeneratorOutOfService()).boot()
    restarted.engine.handle(EventType.CHOOSE, value="black")
    assert restarted.notice == "refused.choice_may_be_taken"
    restarted.engine.handle(EventType.CHOOSE, value="collect")
    restarted.report_shown()
    assert restarted.credit_cents == before + won_cents
    assert restarted.records("game.void") == []
    restarted.journal.self_audit()
    restarted.close()
