"""The input on a service page: its text field, and its keys (digits, letters, choices)."""

from typing import Final

from egm.kernel.service_pages import Prompt
from egm.screen.painter import Rect, TextStyle
from egm.screen.scenes.drawing_context import WHITE, DrawingContext
from egm.screen.scenes.page_elements import draw_action_key, format_page_text
from egm.screen.service_input import (
    ACCENT_ROW,
    KEYBOARD_PROMPT_KINDS,
    KEYPAD_DIGITS,
    LAST_LETTER_ROW,
    LETTER_ROWS,
    SERIAL_NUMBER_ROWS,
    format_shown_input,
)
from egm.screen.theme import Colour
from egm.screen.view import Action

#: Height of the prompt's label, in units.
_PROMPT_LABEL_HEIGHT: Final = 46.0
#: Height of the prompt's text field, in units.
_PROMPT_FIELD_HEIGHT: Final = 74.0
#: Gap between keys, in units.
_KEY_GAP: Final = 10.0
#: Up to this width the letters have narrower gaps.
_NARROW_KEYBOARD_WIDTH_MAX: Final = 800.0


def _compute_keys_rect(rect: Rect) -> Rect:
    """Return the rectangle for the keys, below the label and the text field of an input prompt."""
    x, y, w, h = rect
    return (
        x,
        y + _PROMPT_LABEL_HEIGHT + _PROMPT_FIELD_HEIGHT + 14,
        w,
        h - _PROMPT_LABEL_HEIGHT - _PROMPT_FIELD_HEIGHT - 14,
    )


def lay_out_input_keys(context: DrawingContext, prompt: Prompt, rect: Rect) -> list[tuple[Rect, Action]]:
    """Return a touch target for every key of an input prompt.

    The keys that erase are left out while nothing is typed; a search page has no ENTER key.
    """
    if prompt.kind == "choice":
        return _lay_out_choices(prompt, rect, context.layout.touch_size_min)
    keys_rect, is_for_serial_number = _compute_keys_rect(rect), prompt.kind == "serial"
    keys = (
        _lay_out_letter_keys(context, keys_rect, is_for_serial_number=is_for_serial_number)
        if prompt.kind in KEYBOARD_PROMPT_KINDS
        else _lay_out_digit_keys(keys_rect)
    )
    if prompt.kind == "search":
        keys = [(key_rect, action) for key_rect, action in keys if action.name != "enter"]
    return [
        (key_rect, action)
        for key_rect, action in keys
        if context.view.page_input.typed_text or action.name not in {"erase", "clear"}
    ]


def _lay_out_choices(prompt: Prompt, rect: Rect, touch_size_min: float) -> list[tuple[Rect, Action]]:
    """Return a touch target for each enabled choice of an input prompt.

    The choices are in as few columns as fit, at most four. A disabled choice leaves its cell empty.
    """
    x, y, w, h = rect
    top, height_max = y + _PROMPT_LABEL_HEIGHT + 8, h - _PROMPT_LABEL_HEIGHT - 8
    column_count, row_pitch_max = 1, max(74.0, touch_size_min + _KEY_GAP)
    while -(-len(prompt.choices) // column_count) * row_pitch_max > height_max and column_count < 4:
        column_count += 1
    row_count = max(1, -(-len(prompt.choices) // column_count))
    width = (w - (column_count - 1) * _KEY_GAP) / column_count
    row_pitch = min(row_pitch_max, height_max / row_count)
    return [
        (
            (
                x + (i // row_count) * (width + _KEY_GAP),
                top + (i % row_count) * row_pitch,
                width,
                row_pitch - _KEY_GAP,
            ),
            Action("enter", choice.id),
        )
        for i, choice in enumerate(prompt.choices)
        if choice.enabled
    ]


def _lay_out_digit_keys(rect: Rect) -> list[tuple[Rect, Action]]:
    """Return the keys of a numeric keypad."""
    x, y, w, h = rect
    height = min(92.0, (h - 4 * _KEY_GAP) / 5)
    width = min(170.0, (w - 2 * _KEY_GAP) / 3)
    left = x + (w - 3 * width - 2 * _KEY_GAP) / 2
    rows: list[list[Action]] = [[Action("type", d) for d in KEYPAD_DIGITS[i : i + 3]] for i in (0, 3, 6)]
    rows.append([Action("clear"), Action("type", "0"), Action("erase")])
    keys = [
        ((left + column * (width + _KEY_GAP), y + row * (height + _KEY_GAP), width, height), action)
        for row, actions in enumerate(rows)
        for column, action in enumerate(actions)
    ]
    keys.append(((left, y + 4 * (height + _KEY_GAP), 3 * width + 2 * _KEY_GAP, height), Action("enter")))
    return keys


def _lay_out_letter_keys(
    context: DrawingContext, rect: Rect, *, is_for_serial_number: bool
) -> list[tuple[Rect, Action]]:
    """Return the keys of the on-screen keyboard.

    If ``is_for_serial_number``, it has only the digits, capital letters and hyphen of serial numbers.
    """
    x, y, w, h = rect
    # Each row is a pair: its characters without and with the shift key.
    shift_index = 1 if context.view.page_input.is_shift_on else 0
    rows = (
        SERIAL_NUMBER_ROWS
        if is_for_serial_number
        else [pair[shift_index] for pair in (*LETTER_ROWS, LAST_LETTER_ROW, ACCENT_ROW)]
    )
    height = min(max(78.0, context.layout.touch_size_min), (h - 5 * _KEY_GAP) / 6)
    gap = _KEY_GAP if w > _NARROW_KEYBOARD_WIDTH_MAX else _KEY_GAP / 2
    width = (min(w, 1240.0) - 9 * gap) / 10
    left = x + (w - 10 * width - 9 * gap) / 2
    keys = [
        ((left + column * (width + gap), y + row * (height + _KEY_GAP), width, height), Action("type", char))
        for row, chars in enumerate(rows)
        for column, char in enumerate(chars)
    ]
    last_row_top, width_with_gaps = y + len(rows) * (height + _KEY_GAP), 10 * width + 10 * gap
    key_left = left
    extra_keys = () if is_for_serial_number else ((Action("shift"), 0.14), (Action("type", " "), 0.38))
    erase_keys = (
        (Action("erase"), 0.3 if is_for_serial_number else 0.14),
        (Action("clear"), 0.3 if is_for_serial_number else 0.14),
    )
    for action, width_share in (
        *extra_keys,
        *erase_keys,
        (Action("enter"), 0.4 if is_for_serial_number else 0.2),
    ):
        key_width = width_with_gaps * width_share
        keys.append(((key_left, last_row_top, key_width - gap, height), action))
        key_left += key_width
    return keys


def draw_page_input(context: DrawingContext, prompt: Prompt, rect: Rect) -> None:
    """Draw an input prompt of a service page: its label, the typed text, and the keys.

    While nothing is typed, the field for a serial number says which characters are permitted.
    """
    painter, (x, y, w, _) = context.painter, rect
    label_style = TextStyle("strong", "body", "text")
    painter.draw_label(
        format_page_text(context, prompt.label), (x + 10, y, w - 20, _PROMPT_LABEL_HEIGHT), label_style
    )
    if prompt.kind == "choice":
        choice_by_id = {choice.id: choice for choice in prompt.choices}
        for key_rect, action in lay_out_input_keys(context, prompt, rect):
            draw_action_key(context, key_rect, choice_by_id[str(action.value)])
        return
    text_field: Rect = (
        x + w / 2 - min(w, 620.0) / 2,
        y + _PROMPT_LABEL_HEIGHT,
        min(w, 620.0),
        _PROMPT_FIELD_HEIGHT,
    )
    painter.draw_panel(
        text_field, radius=14, fill=(4, 7, 14, 255), edge_paint=(124, 196, 255, 255), edge_width=3
    )
    text = format_shown_input(prompt, context.view.page_input)
    if prompt.kind == "amount":
        text = context.format_money(int(text or "0"))
    font_face = "numbers" if prompt.kind in {"amount", "digits"} else "strong"
    if text:
        style = TextStyle(font_face, "title" if prompt.kind not in KEYBOARD_PROMPT_KINDS else "lead", "meter")
        painter.draw_text(
            text,
            (x + w / 2, y + _PROMPT_LABEL_HEIGHT + _PROMPT_FIELD_HEIGHT / 2),
            style,
            width_max=text_field[2] - 30,
        )
    elif prompt.kind == "serial":  # The refusal of a serial number in the first start is also the hint.
        painter.draw_label(
            context.texts.translate("first.refused.name"), text_field, TextStyle("text", "small", "text_dim")
        )
    for key_rect, action in lay_out_input_keys(context, prompt, rect):
        _draw_input_key(context, key_rect, action, prompt)


def _draw_input_key(context: DrawingContext, rect: Rect, action: Action, prompt: Prompt) -> None:
    """Draw one key of an input prompt, with its letter, digit or sign."""
    painter, (x, y, w, h) = context.painter, rect
    colours_by_action: dict[str, tuple[Colour, Colour]] = {
        "enter": ((14, 88, 54, 255), (96, 220, 150, 255)),
        "erase": ((78, 52, 20, 255), (255, 190, 110, 255)),
        "clear": ((78, 52, 20, 255), (255, 190, 110, 255)),
    }
    fill, edge = colours_by_action.get(action.name, ((40, 50, 78, 255), (110, 136, 200, 255)))
    is_pressed = (
        context.view.last_action_name == action.name and context.view.now - context.view.pressed_at < 0.12
    )
    painter.draw_panel(
        rect,
        radius=14,
        fill=fill,
        edge_paint=WHITE if is_pressed and action.name != "type" else edge,
        edge_width=2.5,
    )
    if action.name == "type":
        text = str(action.value) if action.value != " " else context.texts.translate("page.space")
    elif action.name == "enter":
        text = format_page_text(context, prompt.confirm)
    else:
        text = context.texts.translate(f"page.{action.name}")
    size = "lead" if action.name == "type" and action.value != " " else "small"
    painter.draw_label(text, (x + 6, y, w - 12, h), TextStyle("heavy", size, WHITE))
