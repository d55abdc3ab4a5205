"""Player decisions: which reels to hold, which box to open, whether to double.

A decision has no time limit, unless other players at a table wait for it. The steps that lead to a decision are
presented first (:mod:`egm.screen.message_reducer`); this module draws the decision itself.
"""

from functools import partial

from egm.kernel.messages import DecisionRequest
from egm.screen.art.files import render_own_picture
from egm.screen.layout import Layout
from egm.screen.painter import Rect, TextStyle
from egm.screen.reel_data import ReelData, ReelSpin
from egm.screen.scenes.bonus import draw_board_background, draw_boxes, lay_out_pick_boxes
from egm.screen.scenes.decision_text import format_question
from egm.screen.scenes.double_up import draw_double_up_decision
from egm.screen.scenes.drawing_context import DrawingContext, draw_button
from egm.screen.scenes.felt import lay_out_felt_options
from egm.screen.scenes.reels import ReelGrid, draw_stopped_reels
from egm.screen.steps import BonusAward, PickStep
from egm.screen.view import Action, View, is_decision_due

#: In a key narrower than this (in units), the suit is drawn above its text.
_SUIT_BESIDE_TEXT_WIDTH_MIN = 260.0
#: The options of a double-up that name the colour of a card.
_CARD_COLOUR_OPTIONS = frozenset({"red", "black"})


def _find_decision_reel_data(view: View) -> ReelData | None:
    """Return the reel data of the stage to which a pending decision belongs, or None."""
    game, decision = view.game, view.decision
    if game is None or decision is None:
        return None
    return view.reel_data_by_game.get(game.id, {}).get(str(decision.display.get("stage", "base")))


def lay_out_decision_options(context: DrawingContext) -> list[tuple[Rect, Action]]:
    """Return the touch target of each option of the pending decision, with its action."""
    view = context.view
    decision = view.decision
    if decision is None or not decision.options or not is_decision_due(view, context.theme):
        return []
    if view.table is not None:
        return lay_out_felt_options(context, decision)
    if decision.kind == "hold":
        reel_data = _find_decision_reel_data(view)
        if reel_data is None:
            return []
        grid = ReelGrid(context.layout.game_field, reel_data.reel_heights)
        height = max(66.0, context.layout.touch_size_min)
        return [
            (_compute_hold_key_rect(grid, reel, height), Action("hold", reel))
            for reel in range(len(grid.heights))
        ]
    if decision.kind == "pick":
        boxes = lay_out_pick_boxes(context.layout.game_field, _build_pick_step(view).box_count)
        return [
            (boxes[option], Action("choose", option))
            for option in decision.options
            if isinstance(option, int) and option < len(boxes)
        ]
    return _lay_out_buttons(context.layout, decision)


def _lay_out_buttons(layout: Layout, decision: DecisionRequest) -> list[tuple[Rect, Action]]:
    """Return a button for each option of a decision that is not made on a picture of reels, cards or boxes."""
    x, y, w, h = layout.game_field
    count = len(decision.options)
    width = min(320.0, (w - 60) / max(1, count) - 20)
    left = x + (w - count * (width + 20) + 20) / 2
    return [
        ((left + i * (width + 20), y + h - 150, width, 100), Action("choose", option))
        for i, option in enumerate(decision.options)
    ]


def _compute_hold_key_rect(grid: ReelGrid, reel: int, height: float) -> Rect:
    """Return the rectangle of the key that holds a reel. It lies over the lower end of the reel."""
    x, y, w, h = grid.compute_reel_rect(reel)
    return (x + 14, y + h - height - 8, w - 28, height)


def _build_pick_step(view: View) -> PickStep:
    """Return the pending pick decision as a step, so that its boxes can be drawn.

    It is the last presented step, if that is a pick feature; otherwise a step with a closed box for each option.
    """
    last_step = view.presentation.steps[-1] if view.presentation is not None else None
    if isinstance(last_step, PickStep):
        return last_step
    decision = view.decision
    return PickStep("", len(decision.options) if decision is not None else 0, (), 0)


def draw_decision(context: DrawingContext, decision: DecisionRequest) -> None:
    """Draw the player's pending decision with its options in the game field."""
    if decision.kind == "hold":
        _draw_held_reels(context)
    elif decision.kind == "pick":
        step = _build_pick_step(context.view)
        opened_boxes: dict[int, BonusAward] = dict(step.opened_boxes)
        draw_boxes(context, step.box_count, opened_boxes, should_ask_player=True)
    elif decision.kind == "double_up":
        display = decision.display
        previous_cards = tuple(str(round_["shown"]) for round_ in display.get("rounds", ()))
        draw_double_up_decision(context, int(display["credits"]), int(display["to_win"]), previous_cards)
        _draw_options(context)
    else:
        _draw_question(context, decision)


def _draw_held_reels(context: DrawingContext) -> None:
    """Draw the reels at rest, each with the key that holds it, which is lit while the reel is held."""
    view = context.view
    reel_data = _find_decision_reel_data(view)
    last_step = view.presentation.steps[-1] if view.presentation is not None else None
    if reel_data is None or not isinstance(last_step, ReelSpin):
        return
    draw_stopped_reels(context, reel_data, last_step.window)
    for rect, action in lay_out_decision_options(context):
        is_reel_held = bool(view.marked_items_mask >> int(action.value) & 1)
        draw_button(
            context,
            rect,
            context.texts.translate("feature.held" if is_reel_held else "feature.hold"),
            is_active=is_reel_held,
        )


def _draw_question(context: DrawingContext, decision: DecisionRequest) -> None:
    """Draw a decision that is not made on a picture: its question, and a button for each option."""
    draw_board_background(context)
    x, y, w, _ = context.layout.game_field
    title = format_question(context, decision)
    context.painter.draw_text(
        title, (x + w / 2, y + 90), TextStyle("heavy", "title", context.look.accent_colour), width_max=w - 80
    )
    _draw_options(context)


def _draw_options(context: DrawingContext) -> None:
    """Draw a button for each option of a decision. An option that is a card colour shows its suit, too."""
    for rect, action in lay_out_decision_options(context):
        text_key = f"decide.{action.value}"
        text = context.texts.translate(text_key) if context.texts.has_text(text_key) else str(action.value)
        if action.value not in _CARD_COLOUR_OPTIONS:
            draw_button(context, rect, text, text_size_name="lead")
            continue
        x, y, w, h = rect
        draw_button(context, rect, "")
        style = TextStyle("strong", "lead", "text")
        render_suit = partial(render_own_picture, f"suit_{action.value}")
        if w < _SUIT_BESIDE_TEXT_WIDTH_MIN:
            context.painter.draw_cached_picture(
                ("suit", action.value), (x + w / 2 - 24, y + 8, 48, 48), render_suit
            )
            context.painter.draw_text(
                text, (x + w / 2, y + h - 26), style._replace(size_name="body"), width_max=w - 24
            )
            continue
        context.painter.draw_cached_picture(("suit", action.value), (x + 26, y + 20, 60, 60), render_suit)
        context.painter.draw_text(text, (x + w / 2 + 36, y + h / 2), style, width_max=w - 130)
