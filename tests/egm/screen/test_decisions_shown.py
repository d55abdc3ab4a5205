"""Games with decisions: what leads to a decision is shown before it, and nothing is shown twice."""

from dataclasses import replace

import pytest
from rigs.rounds import play_decisions

from egm.kernel.messages import DecisionRequest, GameOutcome
from egm.screen.input_reducer import apply_action
from egm.screen.message_reducer import advance_time, apply_message
from egm.screen.picture import Picture
from egm.screen.steps import DoubleUpStep, PickStep
from egm.screen.view import Action, build_view_timeline, is_decision_due
from paytables import Choice
from tools.dev.gallery import FixedDraws
from tools.lab.views import UNIT_CENTS, build_idle_view, build_snapshot


def iter_decisions(game, name, answers):
    """Yield every decision of a game and its outcome; ``answers`` chooses each answer."""
    play = play_decisions(game, game.build_wager(max(game.bet_options)), FixedDraws(name))
    decisions = []
    try:
        decisions.append(next(play))
        while True:
            decisions.append(play.send(Choice(answers(decisions[-1]))))
    except StopIteration as ended:
        return decisions, ended.value


def build_request(game, decision):
    return DecisionRequest(
        play_id="p", kind=decision.kind, options=decision.options, display=dict(decision.prompt)
    )


def build_outcome(game, outcome):
    return GameOutcome(
        play_id="p",
        game_id=game.id,
        bet_credits=max(game.bet_options),
        returned_credits=outcome.returned_credits,
        paid_cents=outcome.returned_credits * UNIT_CENTS,
        display=outcome.to_json()["display"],
    )


def answers(decision):
    return "red" if decision.kind == "double_up" and not decision.prompt["rounds"] else decision.options[0]


def games_that_ask(games, name, kind, count=6):
    game = next(game for game in games if game.id == name)
    found = []
    for number in range(4000):
        decisions, outcome = iter_decisions(game, f"{name}/ask/{number}", answers)
        if any(question.kind == kind for question in decisions):
            found.append((decisions, outcome))
        if len(found) == count:
            break
    return game, found


@pytest.mark.requirement("C-20", "C-24")
@pytest.mark.parametrize(
    ("name", "kind"), [("orchard-picnic", "double_up"), ("orchard-picnic", "pick"), ("hold-fast", "hold")]
)
def test_events_before_a_decision_are_shown_once_and_first(games, published, theme, name, kind):
    source, asked_games = games_that_ask(games, name, kind)
    assert asked_games, "such games exist"
    view_of = next(game_view for game_view in published if game_view.id == name)
    for decisions, outcome in asked_games:
        view = build_idle_view(
            published, view_of, "en", state="playing", accepted_inputs=("choose", "language")
        )
        seen = 0
        for question in decisions:
            view = apply_message(view, build_request(source, question))
            assert not is_decision_due(view, theme), "first what led there is shown"
            assert apply_action(view, Action("choose", question.options[0]), theme)[1] == ()
            line = build_view_timeline(view, theme)
            fresh = [i for i, time in enumerate(line.steps) if time.end_seconds > 0]
            assert all(i >= view.presentation.presented_step_count for i in fresh), (
                "what was seen is not shown again"
            )
            assert len(view.presentation.steps) >= seen
            seen = view.presentation.presented_step_count
            view = replace(view, now=view.now + line.roll_up_end_seconds + 0.01)
            assert is_decision_due(view, theme)
            assert advance_time(view, view.now + 600, theme)[1] == (), (
                "no answer is timed, no end is reported"
            )
            answer = answers(question)
            name_of = "play" if kind == "hold" else "choose"
            view = replace(view, marked_items_mask=answer) if kind == "hold" else view
            view, (request,) = apply_action(view, Action(name_of, answer), theme)
            assert (request.name, request.value) == ("choose", answer)
        view = apply_message(view, build_outcome(view_of, outcome))
        assert view.presentation.is_last_section
        line = build_view_timeline(view, theme)
        _, (request,) = advance_time(view, view.now + line.end_seconds + 0.01, theme)
        assert (request.name, request.value) == ("shown", "p")


@pytest.mark.requirement("C-16", "C-17")
def test_the_view_in_the_last_frame_is_the_outcome(games, published, theme):
    """Boxes, cards and sums in the last frame equal the recorded outcome."""
    for kind in ("pick", "double_up"):
        _, asked_games = games_that_ask(games, "orchard-picnic", kind)
        game = next(game for game in published if game.id == "orchard-picnic")
        for _, outcome in asked_games:
            view = apply_message(
                build_idle_view(published, game, "en", state="playing"), build_outcome(game, outcome)
            )
            display = outcome.display
            picks = [step for step in view.presentation.steps if isinstance(step, PickStep)]
            recorded = [step for step in display["steps"] if "opened" in step]
            for shown, step in zip(picks, recorded, strict=True):
                assert [box for box, _ in shown.opened_boxes] == [box["box"] for box in step["opened"]]
                assert sum(item.credits for _, item in shown.opened_boxes) == step["credits"]
            cards = [step for step in view.presentation.steps if isinstance(step, DoubleUpStep)]
            assert [(c.called_option, c.drawn_card, c.credits) for c in cards] == [
                (r["called"], r["shown"], r["credits"]) for r in display.get("double_up", ())
            ]
            if cards:
                assert cards[-1].credits == outcome.returned_credits


def test_any_decision_can_be_answered_with_the_deck_alone(games, published, theme):
    """The BET keys move between the answers, and PLAY gives the marked one; without a mark it gives none."""
    game = next(game for game in published if game.id == "orchard-picnic")
    picture = Picture(theme)
    source, asked_games = games_that_ask(games, "orchard-picnic", "pick", 1)
    question = next(request for request in asked_games[0][0] if request.kind == "pick")
    view = apply_message(
        build_idle_view(published, game, "en", state="playing", accepted_inputs=()),
        build_request(source, question),
    )
    view = replace(view, now=view.now + 60)
    places = picture.list_selectable_actions(view)
    assert [target.value for target in places] == list(question.options)
    marked, requests = apply_action(view, Action("play"), theme, places)
    assert (requests, marked.is_focus_shown) == ((), False)
    for _ in range(4):
        marked, _ = apply_action(marked, Action("bet_more"), theme, places)
    _, (request,) = apply_action(marked, Action("play"), theme, places)
    assert request.value == question.options[3]


def test_a_decision_repeated_after_a_reconnection_changes_nothing(games, published, theme):
    game = next(game for game in published if game.id == "orchard-picnic")
    source, asked_games = games_that_ask(games, "orchard-picnic", "double_up", 1)
    question = build_request(
        source, next(request for request in asked_games[0][0] if request.kind == "double_up")
    )
    view = apply_message(
        build_idle_view(published, game, "en", state="playing", accepted_inputs=()), question
    )
    later = replace(view, now=view.now + 3)
    assert apply_message(later, question) == later


def test_after_an_open_door_a_decision_is_shown_again_from_the_start(games, published, theme):
    game = next(game for game in published if game.id == "orchard-picnic")
    source, asked_games = games_that_ask(games, "orchard-picnic", "double_up", 1)
    question = build_request(
        source, next(request for request in asked_games[0][0] if request.kind == "double_up")
    )
    view = apply_message(
        build_idle_view(published, game, "en", state="playing", accepted_inputs=()), question
    )
    shut = apply_message(
        replace(view, now=150), build_snapshot(game, "en", state="door_open", open_doors=("main",))
    )
    assert shut.decision is None
    shown_again = apply_message(apply_message(shut, build_snapshot(game, "en", state="playing")), question)
    assert (shown_again.presentation.began_at, shown_again.presentation.presented_step_count) == (150, 0)
    assert shown_again.decision == question
