"""A Keno slip in the browser's narrow layout, which covers everything above the meters.

In that layout, called a telephone's, the Keno board is too small to mark numbers with a finger.
"""

from typing import Final

from egm.screen.keno_slip import find_count_limit, is_keno_game, is_valid_slip, list_bonuses_with_fee
from egm.screen.layout import TOUCH_TARGET_SIZE_MIN, Layout
from egm.screen.painter import Rect, TextStyle
from egm.screen.scenes.drawing_context import DrawingContext, draw_button, render_rim_panel
from egm.screen.scenes.keno import (
    compute_number_rect,
    describe_slip,
    draw_group_letters,
    draw_keno_numbers,
    draw_slip_key,
    format_slip_legal_text,
    map_numbers_to_group_letters,
)
from egm.screen.view import Action, View

#: Columns of numbers on one sheet of the slip.
_NUMBER_COLUMN_COUNT: Final = 8
#: Rows of numbers on one sheet of the slip.
_NUMBER_ROW_COUNT: Final = 5
#: Gap between numbers, in units.
_NUMBER_GAP: Final = 8.0
#: Height above the numbers, for the marks with their price and for the slip's mandatory texts.
_HEIGHT_ABOVE_NUMBERS: Final = 150.0


def _compute_slip_rect(layout: Layout) -> Rect:
    """Return the rectangle of the Keno slip on a telephone."""
    _, _, w, h = layout.area_above_meters
    return (4.0, 4.0, w - layout.drawer_width - 8, h - 8)


def _divide_numbers_into_sheets(view: View) -> tuple[list[range], range]:
    """Divide the numbers of a Keno slip into sheets, of which a telephone shows one at a time.

    Return all sheets, and the sheet that is shown now.
    """
    number_count = int(view.game.presentation.get("numbers", 80)) if view.game else 0
    numbers_per_sheet = _NUMBER_COLUMN_COUNT * _NUMBER_ROW_COUNT
    sheets = [
        range(first_number, min(first_number + numbers_per_sheet, number_count + 1))
        for first_number in range(1, number_count + 1, numbers_per_sheet)
    ]
    return sheets, sheets[view.sheet_index % len(sheets)] if sheets else range(0)


def _compute_board_rect(layout: Layout) -> Rect:
    """Return the rectangle of the numbers on a telephone's Keno slip."""
    x, y, w, h = _compute_slip_rect(layout)
    return (
        x + 8,
        y + _HEIGHT_ABOVE_NUMBERS,
        w - 16,
        h - _HEIGHT_ABOVE_NUMBERS - 3 * (TOUCH_TARGET_SIZE_MIN + _NUMBER_GAP) - 12,
    )


def list_slip_touch_targets(view: View, layout: Layout) -> list[tuple[Rect, Action]]:
    """Return all touch targets of a Keno slip: numbers, cards, ticket options, sheets, and the key that closes it.

    While the machine takes no bets, this key is the only target.
    """
    game, slip = view.game, view.marked_keno_slip
    option_row, edit_row, last_row = list[Action](), list[Action](), list[Action]()
    touch_targets: list[tuple[Rect, Action]] = []
    sheets, shown_numbers = _divide_numbers_into_sheets(view)
    if is_keno_game(game) and game is not None and view.is_request_accepted("bet"):
        board, number_and_column_count = (
            _compute_board_rect(layout),
            (_NUMBER_COLUMN_COUNT * _NUMBER_ROW_COUNT, _NUMBER_COLUMN_COUNT),
        )
        touch_targets = [
            (
                compute_number_rect(board, number_and_column_count, n - shown_numbers.start + 1),
                Action("mark", n),
            )
            for n in shown_numbers
        ]
        if len(slip.cards) > 1:
            option_row += [Action("card", card) for card in range(len(slip.cards))]
        if slip.has_marks:
            option_row += [Action("draws")] if find_count_limit(game, "draws") > 1 else []
            option_row += [Action("bonus", bonus) for bonus in list_bonuses_with_fee(game)]
            edit_row += [Action("quick_pick")]
        if is_valid_slip(game, slip) and len(slip.cards) < find_count_limit(game, "selections"):
            edit_row.append(Action("new_card"))
        if slip.current_card[-1] and len(slip.current_card) < find_count_limit(game, "groups"):
            edit_row.append(Action("new_group"))
        last_row += [Action("page_sheet", i) for i in range(len(sheets))] if len(sheets) > 1 else []
    last_row.append(Action("close"))
    x, y, w, h = _compute_slip_rect(layout)
    for i, row in enumerate((option_row, edit_row, last_row)):
        top = y + h - (3 - i) * (TOUCH_TARGET_SIZE_MIN + _NUMBER_GAP) - 4
        width_shares = [1.0 if action.name == "card" else 2.0 for action in row]
        left, unit_width = x + 12.0, (w - 24 + _NUMBER_GAP) / max(1.0, sum(width_shares))
        for action, width_share in zip(row, width_shares, strict=True):
            touch_targets.append(
                ((left, top, unit_width * width_share - _NUMBER_GAP, TOUCH_TARGET_SIZE_MIN), action)
            )
            left += unit_width * width_share
    return touch_targets


def draw_slip(context: DrawingContext) -> None:
    """Draw the Keno slip on a telephone: its marks and price, the mandatory texts, the numbers and the keys."""
    painter, view, rect = context.painter, context.view, _compute_slip_rect(context.layout)
    x, y, w, _ = rect
    painter.draw_cached_picture(
        ("sheet", context.look.name, rect),
        rect,
        lambda size: render_rim_panel(
            size,
            painter.scale,
            painter.theme,
            context.look,
            radius=30,
            rim_width=8,
            fill_paint=(18, 13, 34, 255),
        ),
    )
    heading_style = TextStyle("heavy", "body", context.look.accent_colour)
    painter.draw_text(describe_slip(context), (x + w / 2, y + 40), heading_style, width_max=w - 60)
    text_rect: Rect = (x + 30, y + 66, w - 60, _HEIGHT_ABOVE_NUMBERS - 66)
    painter.draw_paragraph(
        format_slip_legal_text(view, context.texts),
        text_rect,
        TextStyle("text", "caption", "text"),
        leading=1.2,
    )
    touch_targets = list_slip_touch_targets(view, context.layout)
    number_cells = [
        (key_rect, int(action.value)) for key_rect, action in touch_targets if action.name == "mark"
    ]
    draw_keno_numbers(context, number_cells, view.marked_keno_slip.current_card_numbers)
    if len(view.marked_keno_slip.current_card) > 1:
        draw_group_letters(context, number_cells, map_numbers_to_group_letters(view.marked_keno_slip))
    sheets, shown_numbers = _divide_numbers_into_sheets(view)
    for key_rect, action in touch_targets:
        if action.name == "mark":
            continue
        if action.name == "page_sheet":
            numbers = sheets[int(action.value)]
            draw_button(
                context, key_rect, f"{numbers[0]}\u2013{numbers[-1]}", is_active=numbers == shown_numbers
            )
        elif action.name == "close":
            draw_button(context, key_rect, context.texts.translate("key.close"))
        else:
            draw_slip_key(context, key_rect, action)
