"""A double-up has its own meters: the staked win is never counted as coin-in (D-08)."""

from contextlib import suppress

import pytest

from egm.app.view import build_snapshot
from egm.app.wiring import build_event_from_intent
from egm.kernel.events import EventType, State
from egm.kernel.messages import DecisionRequest
from egm.screen.input_reducer import apply_action
from egm.screen.theme import load_theme
from egm.screen.view import Action, View
from egm.testing.machine import MachineRig, PowerCutError
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

GAME = "orchard-picnic"


def play_to_a_double_up(rig):
    """Play until a win may be doubled; return credits and meters at that moment."""
    while True:
        rig.insert(10000) if rig.credit_cents < 10000 else None
        rig.play()
        message = rig.hands.messages[-1]
        while isinstance(message, DecisionRequest) and message.kind != "double_up":
            rig.engine.handle(EventType.CHOOSE, value=message.options[0])
            message = rig.hands.messages[-1]
        if isinstance(message, DecisionRequest):
            return message
        rig.report_shown()
        while rig.state is State.HANDPAY:
            rig.engine.handle(EventType.KEY_TURNED, key="attendant")


def double(rig, rounds):
    """Double this number of times at most, then collect; return the stakes in minor units and the remaining win."""
    stakes, stake_cents = [], 0
    cents = rig.machine.selection.denomination_cents
    while isinstance(message := rig.hands.messages[-1], DecisionRequest):
        stake_cents = message.display["credits"] * cents
        if len(stakes) == rounds:
            rig.engine.handle(EventType.CHOOSE, value="collect")
            continue
        stakes.append(stake_cents)
        rig.engine.handle(EventType.CHOOSE, value="red")
    return stakes, rig.hands.messages[-1].paid_cents


def list_findings(folder):
    with open_view(folder) as view:
        return Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings


@pytest.mark.requirement("D-08", "C-20", "D-02", "O-04")
def test_stakes_and_wins_of_the_double_up_reach_their_meters(tmp_path):
    rig = MachineRig(tmp_path, games=(GAME,)).boot()
    lost = won = 0
    staked = doubled = first = 0
    while not (lost and won):
        play_to_a_double_up(rig)
        before, meters = rig.credit_cents, dict(rig.journal.meters().values)
        stakes, left_cents = double(rig, 2)
        rig.report_shown()
        assert rig.state is State.IDLE
        assert rig.credit_cents == before + left_cents
        now = rig.journal.meters().values
        won_by_rounds = sum(stakes[1:]) + left_cents
        assert now["double_up_bet"] - meters["double_up_bet"] == sum(stakes)
        assert now["double_up_won"] - meters["double_up_won"] == won_by_rounds
        assert now["coin_in"] == meters["coin_in"]
        assert now["coin_out"] - meters["coin_out"] == stakes[0]
        assert rig.records("game.end")[-1]["win_cents"] == left_cents
        lost, won = lost + (not left_cents), won + bool(left_cents)
        staked, doubled, first = staked + sum(stakes), doubled + won_by_rounds, first + stakes[0]
    values = rig.journal.meters().values
    assert (values["double_up_bet"], values["double_up_won"]) == (staked, doubled)
    reading = rig.journal.meters()
    for name, total_cents in (("coin_out", values["coin_out"]), ("double_up_bet", staked)):
        for dimension in ("game", "paytable", "denomination_cents"):
            assert sum(reading.split_by(name, dimension).values()) == total_cents
    rig.journal.self_audit()
    rig.close()
    assert list_findings(tmp_path) == []


@pytest.mark.requirement("D-08", "B-07")
def test_a_collected_win_stakes_nothing_and_draws_no_card(tmp_path):
    rig = MachineRig(tmp_path, games=(GAME,)).boot()
    play_to_a_double_up(rig)
    stakes, left_cents = double(rig, 0)
    steps = [*rig.records("game.start")[-1]["steps"], *rig.records("game.choice")[-1:]]
    drawn = [purpose for step in steps for _, _, purpose in step["draws"]]
    assert "base.reel1" in drawn
    assert "double_up" not in drawn
    assert steps[-1]["choice"] == "collect"
    before = rig.credit_cents
    rig.report_shown()
    assert (stakes, rig.credit_cents) == ([], before + left_cents)
    assert rig.records("game.double_up") == []
    rig.close()
    assert list_findings(tmp_path) == []


@pytest.mark.requirement("D-08", "A-08", "A-24")
@pytest.mark.parametrize("written", range(3))
def test_a_double_up_survives_power_cuts(tmp_path, written):
    rig = MachineRig(tmp_path, games=(GAME,)).boot()
    play_to_a_double_up(rig)
    stakes, left_cents = double(rig, 1)
    before = rig.credit_cents
    bet = rig.journal.meters().values["double_up_bet"]
    rig.cut_power_after(written)
    with suppress(PowerCutError):
        rig.report_shown()
    rig.close()
    restarted = MachineRig(tmp_path, games=()).boot()
    if restarted.state is State.PLAYING:
        restarted.report_shown()
    assert restarted.credit_cents == before + left_cents
    assert restarted.journal.meters().values["double_up_bet"] - bet == sum(stakes)
    assert len(restarted.records("game.double_up")) == 1
    restarted.journal.self_audit()
    restarted.close()
    assert list_findings(tmp_path) == []


@pytest.mark.requirement("C-20", "D-08")
def test_a_second_touch_before_the_next_question_is_shown_does_not_double_again(tmp_path):
    """Regression: the win was staked again, although the player had not seen that they had won."""
    rig = MachineRig(tmp_path, games=(GAME,)).boot()
    is_won = False
    while not is_won:
        question = play_to_a_double_up(rig)
        theme = load_theme()
        view = View(snapshot=build_snapshot(rig.engine), decision=question)
        for _ in range(2):  # the screen has received nothing between the two touches
            view, (intent,) = apply_action(view, Action("choose", "red"), theme)
            rig.engine.submit(build_event_from_intent(intent, rig.engine.rules.payloads))
        answer = rig.hands.messages[-1]
        is_won = isinstance(answer, DecisionRequest)
        if not is_won:
            rig.report_shown()
    assert len(answer.display["rounds"]) == 1
    assert rig.machine.notice.code == "refused.answered_decision_is_pending"
    assert answer.step == question.step + 1
    view = View(snapshot=build_snapshot(rig.engine), decision=answer)
    (intent,) = apply_action(view, Action("choose", "collect"), theme)[1]
    rig.engine.submit(build_event_from_intent(intent, rig.engine.rules.payloads))
    rig.report_shown()
    assert rig.state is not State.PLAYING
    rig.close()
    assert list_findings(tmp_path) == []
