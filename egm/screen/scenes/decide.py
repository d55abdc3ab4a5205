"""Games that ask: which reels to hold, which box to open, whether to double. No answer is timed."""

from egm.link.messages import Decision
from egm.screen.layout import Layout
from egm.screen.motion import clamp
from egm.screen.outcome import Field, OutcomeError, read_result
from egm.screen.painter import Rect, Style
from egm.screen.scenes.bonus import board_back, draw_boxes, pick_boxes
from egm.screen.scenes.reels import Grid, draw_running, draw_still
from egm.screen.scenes.stage import Stage, draw_button
from egm.screen.show import StepTime
from egm.screen.steps import Item
from egm.screen.view import Action, View, standing


def _field(view: View) -> Field | None:
    """The field of the reels a question is about."""
    game, decision = view.game, view.decision
    if game is None or decision is None:
        return None
    return view.fields.get(game.id, {}).get(str(decision.display.get("stage", "base")))


def answers(view: View, layout: Layout) -> list[tuple[Rect, Action]]:
    """Every place that answers the question."""
    decision = view.decision
    if decision is None:
        return []
    if decision.kind == "hold":
        field = _field(view)
        if field is None:
            return []
        grid = Grid(layout.field, field.heights)
        return [(_hold_key(grid, reel), Action("hold", reel)) for reel in range(len(grid.heights))]
    if decision.kind == "pick":
        boxes = pick_boxes(layout.field, _box_count(view, decision))
        return [
            (boxes[option], Action("choose", option))
            for option in decision.options
            if isinstance(option, int) and option < len(boxes)
        ]
    x, y, w, h = layout.field
    count = len(decision.options)
    wide = min(320.0, (w - 60) / max(1, count) - 20)
    left = x + (w - count * (wide + 20) + 20) / 2
    return [
        ((left + i * (wide + 20), y + h - 150, wide, 100), Action("choose", option))
        for i, option in enumerate(decision.options)
    ]


def _hold_key(grid: Grid, reel: int) -> Rect:
    x, y, w, h = grid.reel(reel)
    return (x + 14, y + h - 74, w - 28, 66)


def _box_count(view: View, decision: Decision) -> int:
    game = view.game
    stages = game.presentation.get("stages", {}) if game else {}
    known = stages.get(str(decision.display.get("stage", "")), {}).get("boxes")
    opened = decision.display.get("opened", [])
    return int(known) if known is not None else len(decision.options) + len(opened)


def draw_decision(stage: Stage, decision: Decision) -> None:
    """The question on the field."""
    if decision.kind == "hold":
        _hold(stage, decision)
    elif decision.kind == "pick":
        opened = {
            int(b["box"]): Item(str(b["item"]), int(b["credits"])) for b in decision.display.get("opened", [])
        }
        draw_boxes(stage, _box_count(stage.view, decision), opened, open_all=True)
    else:
        _question(stage, decision)


def _hold(stage: Stage, decision: Decision) -> None:
    view, motion = stage.view, stage.theme.motion
    field = _field(view)
    if field is None:
        return
    try:
        result = read_result(field, decision.display)
    except OutcomeError:
        return  # the machine waits for the answer all the same; the keys below still give it
    since = view.now - view.asked_at
    stops = tuple(motion.first_stop + i * motion.stop_step for i in range(field.reels))
    spun = stops[-1] + motion.settle * 0.6
    if since < spun:
        draw_running(stage, field, result, standing(view), StepTime(0.0, stops, spun, spun), since)
    else:
        draw_still(stage, field, result.window)
    grid = Grid(stage.layout.field, field.heights)
    if clamp(since / spun) >= 1:
        for reel in range(field.reels):
            held = bool(view.held >> reel & 1)
            words = stage.texts.say("feature.held" if held else "feature.hold")
            draw_button(stage, _hold_key(grid, reel), words, lit=held)


def _question(stage: Stage, decision: Decision) -> None:
    """Any other question: what is at stake, and a button for each answer."""
    board_back(stage)
    p = stage.painter
    x, y, w, _ = stage.layout.field
    key = f"decide.{decision.kind}"
    title = stage.texts.say(key if stage.texts.has(key) else "decide.other")
    p.text(title, (x + w / 2, y + 90), Style("heavy", "title", stage.look.accent), width=w - 80)
    credits_, to_win = decision.display.get("credits"), decision.display.get("to_win")
    if isinstance(credits_, int) and isinstance(to_win, int):
        words = stage.texts.say(
            "decide.stake", credits=stage.texts.number(credits_), to_win=stage.texts.number(to_win)
        )
        p.text(words, (x + w / 2, y + 190), Style("strong", "lead", "text"), width=w - 80)
    for rect, action in answers(stage.view, stage.layout):
        word = f"decide.{action.value}"
        draw_button(stage, rect, stage.texts.say(word) if stage.texts.has(word) else str(action.value))
