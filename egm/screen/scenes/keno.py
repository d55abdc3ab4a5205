"""Drawing of the Keno board with the player's numbers, of the tray with the drawn balls, and of the slip's keys.

The module also has the texts about a Keno ticket: its price, its mandatory texts, and its pay table.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import pygame

from egm.kernel.messages import GameView
from egm.screen.art.paths import build_ellipse, build_rounded_box
from egm.screen.art.vector_canvas import LinearGradient, RadialGradient, VectorCanvas
from egm.screen.keno_slip import (
    KenoSlip,
    count_paid_ways_by_spot_count,
    find_count_limit,
    find_current_preset_ticket,
    is_keno_game,
    is_valid_slip,
    list_bonuses_with_fee,
    list_permitted_spot_counts,
    list_preset_tickets_on_offer,
)
from egm.screen.layout import TOUCH_TARGET_SIZE_MIN, Layout, grow_rect
from egm.screen.motion import ease_out
from egm.screen.painter import Rect, TextStyle
from egm.screen.presentation import StepTimes
from egm.screen.scenes.bonus import draw_board_background
from egm.screen.scenes.drawing_context import BLACK, WHITE, DrawingContext, draw_button
from egm.screen.steps import DisplayStep, KenoStep, KenoWayResult
from egm.screen.text import Texts
from egm.screen.theme import Colour, mix_colours, parse_colour
from egm.screen.view import (
    Action,
    Scene,
    View,
    compute_bet_credits,
    find_last_step,
    has_touched_bets_since_game,
)

#: The colour of a marked number.
_MARKED_COLOUR: Final = parse_colour("#ffd23f")
#: The colour of a number that was marked and drawn.
_CAUGHT_COLOUR: Final = parse_colour("#2fe07a")
#: The colour of a drawn number.
_DRAWN_COLOUR: Final = parse_colour("#2f7fc4")
#: The share of the width that a tray at the right of the board has.
_TRAY_WIDTH_SHARE: Final = 0.27
#: Height of a key, in units.
_KEY_HEIGHT: Final = 62.0
#: The maximum height of a preset ticket's row, in units.
_TICKET_ROW_HEIGHT_MAX: Final = 104.0


def draw_keno(
    context: DrawingContext, step: DisplayStep | None, step_times: StepTimes | None, elapsed_seconds: float
) -> None:
    """Draw the Keno board with the balls drawn so far, and the tray.

    Without ``step_times``, draw the board as it is after the last ball of ``step``. If ``step`` is no Keno draw, or if
    the player has changed the marks since the last game, draw the player's marks instead.
    """
    draw_board_background(context)
    view, game = context.view, context.view.game
    game_data = context.game_data
    number_count, column_count = int(game_data.get("numbers", 80)), int(game_data.get("columns", 10))
    keno_step = step if isinstance(step, KenoStep) else None
    if step_times is None and (keno_step is None or has_touched_bets_since_game(view)):
        slip = view.marked_keno_slip
        _draw_board(context, (number_count, column_count), (), slip.current_card_numbers, 1.0)
        if len(slip.current_card) > 1 and not context.layout.is_telephone:
            board = _split_board_and_tray(context.layout).board
            cells = [
                (compute_number_rect(board, (number_count, column_count), n), n)
                for n in range(1, number_count + 1)
            ]
            draw_group_letters(context, cells, map_numbers_to_group_letters(slip))
        if view.scene is not Scene.ATTRACT:  # The text of the attract scene would cover half of the tray.
            _draw_tray_background(context, describe_slip(context))
            if not slip.has_marks and is_keno_game(game):
                _draw_purchase(context)
        _draw_marking_keys(context)
        return
    assert keno_step is not None
    ball_count = (
        len(keno_step.balls)
        if step_times is None
        else sum(1 for stop in step_times.stop_seconds if elapsed_seconds >= stop)
    )
    balls = keno_step.balls[:ball_count]
    best_way = find_best_way_result(keno_step)
    marked_numbers = frozenset(best_way.numbers) if best_way else frozenset()
    flash_progress = (
        1.0
        if step_times is None or not ball_count
        else (elapsed_seconds - step_times.stop_seconds[ball_count - 1]) / 0.25
    )
    _draw_board(context, (number_count, column_count), balls, marked_numbers, flash_progress)
    _draw_tray(
        context,
        balls,
        marked_numbers,
        int(game_data.get("drawn", 20)),
        _format_draw_pay(context, keno_step) if step_times is None else "",
    )
    # After the draw, a telephone has keys at the foot of the tray.
    if step_times is not None or not context.layout.is_telephone:
        _draw_tray_foot(context, keno_step, balls)
    if step_times is None:
        _draw_marking_keys(context)


def _should_show_marks(view: View) -> bool:
    """Return whether no game was presented yet, or the player has changed the marks since the last game."""
    return view.presentation is None or has_touched_bets_since_game(view)


def list_keno_touch_targets(view: View, layout: Layout) -> list[tuple[Rect, Action]]:
    """Return the touch targets of a Keno game: numbers, quick pick, preset tickets, and the keys of the slip.

    On a telephone, the targets are two keys, and the board, which opens the slip. While the machine takes no bets,
    return an empty list.
    """
    game = view.game
    if not is_keno_game(game) or game is None or not view.is_request_accepted("bet"):
        return []
    number_and_column_count = (int(game.presentation["numbers"]), int(game.presentation["columns"]))
    board = _split_board_and_tray(layout).board
    if layout.is_telephone:  # Touching a telephone's board opens the slip for marking.
        key_name = "quick_pick" if view.marked_keno_slip.has_marks or not _should_show_marks(view) else "form"
        return [
            (_compute_quick_pick_rect(layout), Action(key_name)),
            (_compute_slip_key_rect(layout), Action("slip")),
            (board, Action("slip")),
        ]
    number_targets = [
        (compute_number_rect(board, number_and_column_count, n), Action("mark", n))
        for n in range(1, number_and_column_count[0] + 1)
    ]
    new_ticket_targets = (
        [(_compute_quick_pick_rect(layout), Action("quick_pick"))]
        if view.marked_keno_slip.has_marks or not _should_show_marks(view)
        else []
    )
    return [
        *new_ticket_targets,
        *_lay_out_slip_keys(view, layout),
        *lay_out_preset_ticket_rows(view, layout),
        *number_targets,
    ]


def lay_out_preset_ticket_rows(view: View, layout: Layout) -> list[tuple[Rect, Action]]:
    """Return the touch target of each preset ticket on the right panel.

    In portrait, return an empty list, because the panel has no room for them.
    """
    game, snapshot = view.game, view.snapshot
    if game is None or not is_keno_game(game) or snapshot is None or layout.is_portrait:
        return []
    x, y, w, h = layout.right_panel
    tickets = list_preset_tickets_on_offer(game)
    row_pitch = min(_TICKET_ROW_HEIGHT_MAX, (h - 130) / max(1, len(tickets)))
    rects = [(x + 14, y + 60 + i * row_pitch, w - 28, row_pitch - 8) for i in range(len(tickets))]
    return [(rect, Action("form", ticket["id"])) for rect, ticket in zip(rects, tickets, strict=True)]


def _compute_slip_key_rect(layout: Layout) -> Rect:
    """Return the rectangle of the key that opens the Keno slip on a telephone."""
    x, y, w, h = _compute_quick_pick_rect(layout)
    return (x - w - 12, y, w, h)


def _compute_quick_pick_rect(layout: Layout) -> Rect:
    """Return the rectangle of the quick-pick key."""
    x, y, w, h = _split_board_and_tray(layout).tray
    if not layout.is_portrait:
        return (x + 12, y + h - 136, w - 24, _KEY_HEIGHT)
    if layout.is_telephone:
        width = (w - 36) / 2
        return (x + w - 12 - width, y + h - TOUCH_TARGET_SIZE_MIN - 8, width, TOUCH_TARGET_SIZE_MIN)
    width = (w - 48) / 3
    return (x + w - 12 - width, y + h - 70, width, _KEY_HEIGHT)


def _lay_out_slip_keys(view: View, layout: Layout) -> list[tuple[Rect, Action]]:
    """Return the keys of a Keno slip, with their actions: draws, bonuses, a further card or group, and the cards.

    Without marks, return only the key for another preset ticket. While the board shows a draw, return an empty list.
    """
    game, slip = view.game, view.marked_keno_slip
    if game is None:
        return []
    x, y, w, h = _split_board_and_tray(layout).tray
    option_row_top = y + h - (202 if not layout.is_portrait else 138)
    if not slip.has_marks:
        return (
            [((x + 12, y + h - 74, w - 24, _KEY_HEIGHT), Action("form"))] if _should_show_marks(view) else []
        )
    if not has_touched_bets_since_game(view):
        return []
    key_width = (w - 36) / 2 if not layout.is_portrait else (w - 48) / 3
    bottom_row_top, left = y + h - 70, x + 12
    keys: list[tuple[Rect, Action]] = []
    option_actions = [Action("draws")] if find_count_limit(game, "draws") > 1 else []
    option_actions += [Action("bonus", bonus) for bonus in list_bonuses_with_fee(game)]
    option_width = (w - 12) / max(len(option_actions), 1)
    keys += [
        ((left + n * option_width, option_row_top, option_width - 12, _KEY_HEIGHT), action)
        if layout.is_portrait
        else ((left, option_row_top - n * 66, w - 24, _KEY_HEIGHT), action)
        for n, action in enumerate(option_actions)
    ]
    if is_valid_slip(game, slip) and len(slip.cards) < find_count_limit(game, "selections"):
        keys.append(((left, bottom_row_top, key_width, _KEY_HEIGHT), Action("new_card")))
    if slip.current_card[-1] and len(slip.current_card) < find_count_limit(game, "groups"):
        keys.append(((left + key_width + 12, bottom_row_top, key_width, _KEY_HEIGHT), Action("new_group")))
    cards_width, cards_top = w - 16, y + 40
    column_count = 4 if not layout.is_portrait else int(cards_width // (layout.touch_size_min + 4))
    card_key_width, card_key_height = cards_width / column_count, 60.0
    shown_card_indices = (
        range(len(slip.cards))
        if not layout.is_portrait
        else _choose_cards_that_fit(slip.current_card_index, len(slip.cards), column_count)
    )
    if len(slip.cards) > 1:
        keys += [
            (
                (
                    x + 10 + i % column_count * card_key_width,
                    cards_top + i // column_count * (card_key_height + 5),
                    card_key_width - 4,
                    card_key_height,
                ),
                Action("card", card_index),
            )
            for i, card_index in enumerate(shown_card_indices)
        ]
    return keys


def _choose_cards_that_fit(current_card_index: int, card_count: int, key_count_max: int) -> range:
    """Return the indices of the Keno cards whose keys are shown, if one row has room for ``key_count_max`` keys.

    ``current_card_index`` is always one of them. The slip has ``card_count`` cards.
    """
    first_index = min(max(0, current_card_index - key_count_max // 2), max(0, card_count - key_count_max))
    return range(first_index, min(card_count, first_index + key_count_max))


def count_tray_rows(game: GameView) -> int:
    """Return how many rows of keys a Keno game needs in its tray.

    The cards have one row, the draws and bonuses another one, and the remaining keys a third one.
    """
    return (
        1
        + (find_count_limit(game, "selections") > 1)
        + (find_count_limit(game, "draws") > 1 or bool(list_bonuses_with_fee(game)))
    )


def _draw_marking_keys(context: DrawingContext) -> None:
    """Draw the keys with which the player fills in a Keno slip; none while the machine takes no bets."""
    view = context.view
    if not view.is_request_accepted("bet") or not is_keno_game(view.game):
        return
    if context.layout.is_telephone:
        for rect, action in list_keno_touch_targets(view, context.layout)[:2]:
            draw_slip_key(context, rect, action)
        return
    if view.marked_keno_slip.has_marks or not _should_show_marks(view):
        draw_button(
            context, _compute_quick_pick_rect(context.layout), context.texts.translate("keno.quick_pick")
        )
    for rect, action in _lay_out_slip_keys(view, context.layout):
        is_enabled = action.name != "card" or bool(view.marked_keno_slip.cards[int(action.value)][0])
        draw_slip_key(context, rect, action, is_enabled=is_enabled)


def draw_slip_key(context: DrawingContext, rect: Rect, action: Action, *, is_enabled: bool = True) -> None:
    """Draw a key of a Keno slip. It is lit if it stands for the current card or for a bonus on the ticket."""
    slip = context.view.marked_keno_slip
    is_active = action == Action("card", slip.current_card_index) or (
        action.name == "bonus" and action.value in slip.bonus_ids
    )
    draw_button(context, rect, _format_slip_key(context, action), is_active=is_active, is_enabled=is_enabled)


def _format_slip_key(context: DrawingContext, action: Action) -> str:
    """Return the text of a key of a Keno slip.

    It is the number of a card, how many draws the ticket is for, a bonus with its fee, or the name of another key.
    """
    view, game, texts = context.view, context.view.game, context.texts
    assert game is not None
    if action.name == "card":
        return str(int(action.value) + 1)
    if action.name == "draws":
        return texts.translate("keno.draws", count=view.marked_keno_slip.draw_count)
    if action.name == "bonus":
        bonus = list_bonuses_with_fee(game)[str(action.value)]
        return texts.translate("keno.bonus", name=texts.choose_translation(bonus["name"]), fee=bonus["fee"])
    return texts.translate(f"keno.{action.name}")


def format_slip_legal_text(view: View, texts: Texts) -> str:
    """Return the mandatory texts of a Keno slip (Québec by-law, s. 77).

    They state how many numbers may be selected, the highest prize, and where the rules are.
    """
    game = view.game
    if game is None:
        return ""
    spot_counts = list_permitted_spot_counts(game)
    prize_limit_credits = game.presentation["limit"]
    rules_location = game.presentation["rules_at"]
    legal_texts = [texts.translate("keno.mark", least=min(spot_counts), most=max(spot_counts))]
    if prize_limit_credits is not None:
        legal_texts.append(
            texts.translate("keno.most_paid", credits=texts.format_number(prize_limit_credits))
        )
    if rules_location is not None:
        legal_texts.append(texts.translate("keno.rules_at", where=texts.choose_translation(rules_location)))
    return " · ".join(legal_texts)


def describe_purchase(context: DrawingContext) -> tuple[str, int]:
    """Return a text about the Keno ticket that PLAY buys, and its price in minor units.

    While the player's marks make no valid ticket, the text is empty and the price is 0.
    """
    view, game, texts = context.view, context.view.game, context.texts
    if game is None or not is_keno_game(game) or view.snapshot is None:
        return "", 0
    slip, unit_cents = view.marked_keno_slip, view.snapshot.denomination_cents
    if not slip.has_marks:
        name = texts.choose_translation(find_current_preset_ticket(game, view.snapshot)["name"])
        return texts.translate("keno.picked", name=name), view.snapshot.bet_credits * unit_cents
    if not is_valid_slip(game, slip):
        return "", 0
    way_count = sum(sum(count_paid_ways_by_spot_count(game, card).values()) for card in slip.cards)
    text_kind = "numbers" if way_count == 1 else "cards" if way_count == len(slip.cards) else "ways"
    count = {"numbers": len(slip.current_card_numbers), "cards": len(slip.cards), "ways": way_count}[
        text_kind
    ]
    text = texts.format_count(f"keno.own_{text_kind}", count)
    if slip.draw_count > 1:
        text += texts.translate("keno.and_draws", count=slip.draw_count)
    return text, compute_bet_credits(view) * unit_cents


def _draw_purchase(context: DrawingContext) -> None:
    """Draw, in large type, the ticket that PLAY buys while there are no marks, with its price.

    Below it, draw the mandatory texts of a Keno slip. On a telephone, the slip has these texts.
    """
    x, y, w, h = _split_board_and_tray(context.layout).tray
    painter, (text, price_cents) = context.painter, describe_purchase(context)
    style, price = TextStyle("strong", "small", "text"), context.format_money(price_cents)
    if context.layout.is_portrait:
        width = w * (0.62 if context.layout.is_telephone else 0.64)
        painter.draw_label(text, (x + 16, y + 40, width, 52), style, align="left")
        painter.draw_text(
            price,
            (x + w - 16, y + 66),
            TextStyle("numbers", "lead", "meter"),
            align="right",
            width_max=w * 0.3,
        )
        if context.layout.is_telephone:
            return
        legal_text_rect = (x + 16, y + 92, w - 32, h)
    else:
        y += 50 + painter.draw_paragraph(text, (x + 16, y + 50, w - 32, 120), style, leading=1.2)
        painter.draw_text(
            price, (x + w / 2, y + 32), TextStyle("numbers", "title", "meter"), width_max=w - 32
        )
        legal_text_rect = (x + 16, y + 66, w - 32, h)
    painter.draw_paragraph(
        format_slip_legal_text(context.view, context.texts),
        legal_text_rect,
        TextStyle("text", "caption", "text"),
        leading=1.2,
    )


def describe_slip(context: DrawingContext) -> str:
    """Return how many numbers are marked on the current card and, if the marks make a valid ticket, its price.

    If nothing is marked, return the heading for the ticket that PLAY buys.
    """
    text, price_cents = describe_purchase(context)
    if not context.view.marked_keno_slip.has_marks:
        return context.texts.translate("keno.buys_now")
    count = context.texts.translate(
        "keno.marking", count=len(context.view.marked_keno_slip.current_card_numbers)
    )
    return f"{count}  ·  {context.format_money(price_cents)}" if text else count


def map_numbers_to_group_letters(slip: KenoSlip) -> dict[int, str]:
    """Return the marked numbers of the current card, each with the letter of its group."""
    return {n: "ABCDEFGHIJ"[i] for i, group in enumerate(slip.current_card) for n in group}


def draw_group_letters(
    context: DrawingContext, cells: Sequence[tuple[Rect, int]], letter_by_number: Mapping[int, str]
) -> None:
    """Draw, in the corner of each marked number's cell, the letter of its group."""
    style = TextStyle("heavy", "tiny" if not context.layout.is_telephone else "caption", (58, 38, 0, 255))
    for (x, y, _, _), number in cells:
        if number in letter_by_number:
            context.painter.draw_text(letter_by_number[number], (x + 14, y + 14), style, width_max=18)


def compute_number_rect(board: Rect, number_and_column_count: tuple[int, int], number: int) -> Rect:
    """Return the rectangle of a number on a Keno board with the given count of numbers and of columns."""
    x, y, w, h = board
    number_count, column_count = number_and_column_count
    width, height = w / column_count, h / -(-number_count // column_count)
    column, row = (number - 1) % column_count, (number - 1) // column_count
    return (x + column * width + 2.5, y + row * height + 2.5, width - 5, height - 5)


def find_best_way_result(step: KenoStep) -> KenoWayResult | None:
    """Return the result of the Keno way that is shown on the board: the one with the highest pay.

    Of ways with the same pay, it is the one with the highest catch. None if the draw has no way.
    """
    return max(step.way_results, key=lambda way: (way.credits, len(way.caught_numbers)), default=None)


class _BoardAndTray(NamedTuple):
    """The rectangles of the Keno board and of the tray with the drawn balls."""

    board: Rect
    tray: Rect


def _split_board_and_tray(layout: Layout) -> _BoardAndTray:
    """Return the rectangles of the Keno board and of the tray, which is next to the board or, in portrait, below it."""
    x, y, w, h = layout.game_field
    if layout.is_portrait:
        edge = 16.0 if not layout.is_telephone else 6.0
        height = h - layout.tray_height - 2 * edge - 8
        return _BoardAndTray(
            (x + edge, y + edge, w - 2 * edge, height),
            (x + edge, y + edge + height + 8, w - 2 * edge, layout.tray_height),
        )
    left = w * (1 - _TRAY_WIDTH_SHARE)
    return _BoardAndTray(
        (x + 16, y + 16, left - 24, h - 32),
        (x + left + 4, y + 16, w * _TRAY_WIDTH_SHARE - 20, h - 32),
    )


def _draw_board(
    context: DrawingContext,
    number_and_column_count: tuple[int, int],
    balls: tuple[int, ...],
    marked_numbers: frozenset[int],
    flash_progress: float,
) -> None:
    """Draw the Keno board with all numbers; the marked, drawn and caught ones stand out.

    ``flash_progress`` (0 to 1) is the progress of the flash with which the last ball appears.
    """
    board = _split_board_and_tray(context.layout).board
    cells = [
        (compute_number_rect(board, number_and_column_count, n), n)
        for n in range(1, number_and_column_count[0] + 1)
    ]
    draw_keno_numbers(context, cells, marked_numbers, balls, flash_progress)


def draw_keno_numbers(
    context: DrawingContext,
    cells: Sequence[tuple[Rect, int]],
    marked_numbers: frozenset[int],
    balls: tuple[int, ...] = (),
    flash_progress: float = 1.0,
) -> None:
    """Draw Keno numbers in their cells as marked, drawn, or caught (both).

    The last ball flashes; ``flash_progress`` is the progress of the flash, from 0 to 1.
    """
    painter, drawn_numbers = context.painter, set(balls)
    for cell, number in cells:
        cell_state = (
            ("caught" if number in marked_numbers else "drawn")
            if number in drawn_numbers
            else "marked"
            if number in marked_numbers
            else ""
        )
        painter.draw_cached_picture(
            ("keno cell", cell_state, context.look.name),
            cell,
            partial(_render_cell, context, cell_state=cell_state),
        )
        text_colour: Colour = {"caught": (2, 40, 18, 255), "drawn": WHITE, "marked": (58, 38, 0, 255)}.get(
            cell_state, (206, 220, 240, 255)
        )
        painter.draw_text(
            str(number),
            (cell[0] + cell[2] / 2, cell[1] + cell[3] / 2),
            TextStyle("heavy", "small" if cell[3] < 60 else "body", text_colour),
            width_max=cell[2] - 6,
        )
        if balls and number == balls[-1] and flash_progress < 1 and not context.view.is_motion_reduced:
            margin = 14 * (1 - ease_out(flash_progress))
            painter.fill_rounded_rect(grow_rect(cell, margin), (255, 255, 255, 80), 12)


def _render_cell(context: DrawingContext, size: tuple[int, int], cell_state: str) -> pygame.Surface:
    """Return the drawing of a cell of the Keno board.

    Marked, drawn (a disc) and caught (a frame) numbers differ in shape as well as in colour.
    """
    canvas = VectorCanvas(size)
    base = mix_colours(context.look.background_colours[1], (10, 16, 34, 255), 0.62)
    canvas.fill_path(build_rounded_box(0, 0, 100, 100, 14), (0, 0, 0, 150))
    canvas.fill_path(
        build_rounded_box(2, 2, 96, 96, 12), LinearGradient(((0, mix_colours(base, WHITE, 0.14)), (1, base)))
    )
    if cell_state == "caught":
        canvas.fill_path(
            build_rounded_box(2, 2, 96, 96, 12),
            LinearGradient(((0, mix_colours(_CAUGHT_COLOUR, WHITE, 0.5)), (1, _CAUGHT_COLOUR))),
        )
        canvas.stroke_path(build_rounded_box(5, 5, 90, 90, 10), 6, _MARKED_COLOUR)
    elif cell_state == "marked":
        canvas.fill_path(
            build_rounded_box(2, 2, 96, 96, 12),
            LinearGradient(
                (
                    (0, mix_colours(_MARKED_COLOUR, WHITE, 0.45)),
                    (1, mix_colours(_MARKED_COLOUR, (200, 120, 0, 255), 0.35)),
                )
            ),
        )
    elif cell_state == "drawn":
        canvas.fill_path(
            build_ellipse(50, 50, 40, 47),
            RadialGradient(
                (
                    (0, mix_colours(_DRAWN_COLOUR, WHITE, 0.16)),
                    (0.6, mix_colours(_DRAWN_COLOUR, BLACK, 0.3)),
                    (1, mix_colours(_DRAWN_COLOUR, BLACK, 0.6)),
                ),
                (0.4, 0.3),
                0.8,
            ),
        )
    return canvas.finish_surface()


def _format_draw_pay(context: DrawingContext, step: KenoStep) -> str:
    """Return what a complete draw has paid, to append to the heading of a telephone's tray, with a separator.

    Empty on larger screens, which have this text at the foot of the tray, and if the draw has paid nothing.
    """
    return (
        "  ·  " + context.texts.format_count("keno.pays", step.credits)
        if context.layout.is_telephone and step.credits
        else ""
    )


def _draw_tray(
    context: DrawingContext,
    balls: tuple[int, ...],
    marked_numbers: frozenset[int],
    ball_count: int,
    pay_text: str,
) -> None:
    """Draw the Keno balls in the order in which they were drawn, and a heading with the count of balls and the catch.

    The tray has room for ``ball_count`` balls. ``pay_text`` is appended to the heading.
    """
    x, y, w, h = _split_board_and_tray(context.layout).tray
    heading = context.texts.translate(
        "keno.count", drawn=len(balls), total=ball_count, hits=len(marked_numbers & set(balls))
    )
    _draw_tray_background(context, heading + pay_text)
    head_height = 44.0 if not context.layout.is_telephone else 36.0
    foot_height = (
        142
        if not context.layout.is_portrait
        else 124
        if not context.layout.is_telephone
        else TOUCH_TARGET_SIZE_MIN + 16
    )
    column_count = 4 if not context.layout.is_portrait else 10
    row_count = -(-ball_count // column_count)
    ball_width = min((w - 16) / column_count, (h - head_height - foot_height) / row_count)
    left = x + (w - ball_width * column_count) / 2
    for i, ball in enumerate(balls):
        ball_x = left + (i % column_count + 0.5) * ball_width
        ball_y = y + head_height + (i // column_count + 0.5) * ball_width
        draw_ball(
            context,
            (ball_x - ball_width / 2 + 3, ball_y - ball_width / 2 + 3, ball_width - 6, ball_width - 6),
            ball,
            is_caught=ball in marked_numbers,
        )


def _draw_tray_background(context: DrawingContext, text: str) -> None:
    """Draw the tray for the Keno balls, empty, with its heading."""
    (x, y, w, h), painter = _split_board_and_tray(context.layout).tray, context.painter
    painter.draw_panel(
        (x, y, w, h), radius=22, fill=(6, 10, 24, 200), edge_paint=(*context.look.accent_colour[:3], 110)
    )
    painter.draw_text(
        text,
        (x + w / 2, y + 24),
        TextStyle("strong", "caption", context.look.accent_colour),
        width_max=w - 20,
    )


def draw_ball(context: DrawingContext, rect: Rect, number: int, *, is_caught: bool) -> None:
    """Draw a Keno ball with its number. It is coloured if ``is_caught``: the player has marked the number."""
    x, y, w, h = rect
    context.painter.draw_cached_picture(("ball", is_caught), rect, partial(_render_ball, is_caught=is_caught))
    style = TextStyle("heavy", "caption" if w < 62 else "small", (20, 16, 30, 255))
    context.painter.draw_text(str(number), (x + w / 2, y + h / 2), style, width_max=w * 0.62)


def _render_ball(size: tuple[int, int], *, is_caught: bool) -> pygame.Surface:
    """Return the drawing of a Keno ball without its number; see :func:`draw_ball`."""
    colour = _CAUGHT_COLOUR if is_caught else (236, 240, 250, 255)
    canvas = VectorCanvas(size)
    canvas.fill_path(build_ellipse(50, 50, 49), (0, 0, 0, 160))
    canvas.fill_path(
        build_ellipse(50, 50, 46),
        RadialGradient(((0, WHITE), (0.5, colour), (1, mix_colours(colour, BLACK, 0.45))), (0.36, 0.3), 0.85),
    )
    canvas.fill_path(build_ellipse(50, 50, 27), WHITE)
    return canvas.finish_surface()


def _draw_tray_foot(context: DrawingContext, step: KenoStep, balls: tuple[int, ...]) -> None:
    """Draw, at the foot of the tray, the number of the draw, the highest catch of any card, and what the draw pays.

    The pay appears with the last ball.
    """
    (x, y, w, h), painter = _split_board_and_tray(context.layout).tray, context.painter
    drawn_numbers = set(balls)
    catch_counts = [len(drawn_numbers & set(way.numbers)) for way in step.way_results]
    text = context.texts.translate("keno.draw", number=step.draw_number, draws=step.draw_count)
    if len(step.way_results) > 1:
        text += "  ·  " + context.texts.translate(
            "keno.best", count=len(step.way_results), hits=max(catch_counts, default=0)
        )
    # In portrait, leave room for the keys below.
    bottom = (
        y + h - (0 if not context.layout.is_portrait or context.layout.is_telephone else _KEY_HEIGHT + 12)
    )
    painter.draw_text(text, (x + w / 2, bottom - 42), TextStyle("text", "caption", "text"), width_max=w - 16)
    if len(balls) == len(step.balls) and step.credits:
        text = context.texts.format_count("keno.pays", step.credits)
        painter.draw_text(
            text, (x + w / 2, bottom - 18), TextStyle("heavy", "caption", "win"), width_max=w - 16
        )


def list_keno_prizes(context: DrawingContext) -> tuple[int, list[tuple[int, str]]]:
    """Return the number of spots of a Keno ticket, and its prizes as pairs of catch and text.

    If the player has marked numbers, they are those of the way with the most spots on the current card (a way is a
    combination of groups of numbers). Without marks, the ticket is the last one played or, before any game, the one
    that PLAY buys.
    """
    game = context.view.game
    if game is None:
        return 0, []
    card = context.view.marked_keno_slip.current_card
    spot_count = (
        max(count_paid_ways_by_spot_count(game, card), default=0)
        if context.view.marked_keno_slip.has_marks
        else 0
    )
    last_step = find_last_step(context.view)
    if not spot_count and isinstance(last_step, KenoStep) and last_step.way_results:
        spot_count = len(last_step.way_results[0].numbers)
    snapshot = context.view.snapshot
    if not spot_count and snapshot is not None and game.presentation.get("forms"):
        spot_count = int(find_current_preset_ticket(game, snapshot)["spots"])
    pay_by_catch = game.presentation.get("tables", {}).get(str(spot_count), {})
    catches = {int(catch) for catch in pay_by_catch}
    catches |= {int(level["catch"]) for level in _list_levels_of_card(game, spot_count)}
    return spot_count, [
        (catch, format_catch_award(context, spot_count, catch)) for catch in sorted(catches, reverse=True)
    ]


def _list_levels_of_card(game: GameView, spot_count: int) -> list[Mapping[str, Any]]:
    """Return the progressive levels that a Keno card with ``spot_count`` numbers plays for."""
    return [level for level in game.presentation.get("progressives", ()) if int(level["spots"]) == spot_count]


def format_catch_award(context: DrawingContext, spot_count: int, catch_count: int) -> str:
    """Return what a catch (how many marked numbers are drawn) wins for one credit staked, as text.

    It is an amount of credits, the name of a progressive level, both, or nothing.
    """
    game = context.view.game
    if game is None:
        return ""
    pay = game.presentation.get("tables", {}).get(str(spot_count), {}).get(str(catch_count))
    levels = [level for level in _list_levels_of_card(game, spot_count) if int(level["catch"]) == catch_count]
    texts = [context.texts.format_number(int(pay))] if pay else []
    return " + ".join([*texts, *(context.texts.choose_translation(level["name"]) for level in levels)])
