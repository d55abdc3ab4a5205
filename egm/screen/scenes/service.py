"""The service menu: draws any page that the machine sends, from the page's structure alone.

A page has a head (title, signed-in person), a notice, tables on several sheets if they are long, one input prompt with
its keys, and actions.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from egm.kernel.service_pages import PageAction, Prompt, ServicePage
from egm.kernel.touch import CALIBRATION_CROSSES, COORDINATE_UNIT
from egm.screen.art.vector_canvas import LinearGradient
from egm.screen.audio.scores import TEST_TONES_HZ
from egm.screen.layout import Layout
from egm.screen.painter import FACT_SEPARATOR, Rect, TextStyle
from egm.screen.scenes.drawing_context import BLACK, COLOUR_BY_SEVERITY, WHITE, DrawingContext, draw_button
from egm.screen.scenes.page_elements import draw_action_key, draw_icon, draw_page_key, format_page_text
from egm.screen.scenes.page_input import draw_page_input, lay_out_input_keys
from egm.screen.scenes.page_tables import draw_listing, lay_out_listing, measure_listing
from egm.screen.service_input import KEYBOARD_PROMPT_KINDS
from egm.screen.text import format_fault
from egm.screen.theme import Colour, mix_colours
from egm.screen.view import Action

#: Height of a page's head, in units.
_HEAD_HEIGHT: Final = 78.0
#: Height of a page's notice, in units.
_NOTICE_HEIGHT: Final = 54.0
#: Smallest height of a key, in units.
_KEY_HEIGHT_MIN: Final = 66.0
#: Gap between the parts of a page, in units.
_PAGE_PART_GAP: Final = 14.0
#: In portrait, a page no wider than this has two keys in a row.
_TWO_KEYS_WIDTH_MAX: Final = 900.0
#: Height of a prompt with label, field and keys, in units: in portrait, and with finger-sized keys on a
#: telephone.
_DEFAULT_PROMPT_HEIGHTS_ON_PORTRAIT_AND_TELEPHONE: Final = (510.0, 586.0)
#: The same two heights for the kinds of prompt that need more or less, in units.
_PROMPT_HEIGHTS_BY_KIND: Final = {
    "text": (580.0, 678.0),
    "serial": (580.0, 678.0),
    "search": (580.0, 580.0),
    "choice": (0.0, 0.0),
}
#: The maximum height of the tables above finger-sized keys, in units: a heading and three rows.
_TABLES_ABOVE_KEYS_HEIGHT_MAX: Final = 192.0
#: Gap between these tables and the prompt, in units.
_TABLES_ABOVE_KEYS_GAP: Final = 16.0
#: Width of the sheet number between the keys that turn sheets, in units.
_SHEET_NUMBER_WIDTH: Final = 200.0
#: Seconds for which the key of a test tone is lit.
_TEST_TONE_KEY_LIT_SECONDS: Final = 1.5


@dataclass(frozen=True, slots=True)
class ServicePageLayout:
    """The rectangles of a service page: tables, the input prompt beside or below them, action tiles, and the foot."""

    page_rect: Rect
    body_rect: Rect
    prompt_rect: Rect | None
    action_tiles: tuple[tuple[Rect, PageAction], ...]
    foot_keys: tuple[tuple[Rect, PageAction], ...]
    pager_keys: tuple[tuple[Rect, Action], ...]


def compute_back_key_rect(layout: Layout) -> Rect:
    """Return the rectangle of the BACK key, which is the same on every service page."""
    (x, _, w, _), page_margin, keys_per_row = (
        layout.service_page,
        _find_page_margin(layout),
        _count_keys_per_row(layout),
    )
    width, height = (
        (w - 2 * page_margin - (keys_per_row - 1) * _PAGE_PART_GAP) / keys_per_row,
        _compute_key_height(layout),
    )
    return (x + page_margin, layout.meter_bar[1] - 10 - height, width, height)


def _find_page_margin(layout: Layout) -> float:
    """Return the margin between a page's edge and its content."""
    return 12.0 if layout.is_telephone else 28.0


def _count_keys_per_row(layout: Layout) -> int:
    """Return how many keys of a service page fit side by side."""
    return 5 if not layout.is_portrait else 3 if layout.service_page[2] > _TWO_KEYS_WIDTH_MAX else 2


def _compute_key_height(layout: Layout) -> float:
    """Return the height of a page's keys."""
    return max(_KEY_HEIGHT_MIN, layout.touch_size_min)


def lay_out_page(context: DrawingContext, page: ServicePage) -> ServicePageLayout:
    """Return the layout of a service page."""
    layout = context.layout
    page_rect = layout.service_page
    (x, y, w, _), page_margin, key_height = page_rect, _find_page_margin(layout), _compute_key_height(layout)
    # There is always room for a notice, so that "Done" moves nothing that may be touched next.
    top = y + _HEAD_HEIGHT + _NOTICE_HEIGHT * (1 + bool(describe_active_faults(context).text)) + 8.0
    has_prompt = page.prompt is not None
    should_use_tiles = not page.tables and not has_prompt and not page.pattern
    back_actions = [action for action in page.actions if action.style == "back"]
    other_actions = [action for action in page.actions if action.style != "back"]
    foot_actions = back_actions if should_use_tiles else [*back_actions, *other_actions]
    keys_per_row, key_width = _count_keys_per_row(layout), compute_back_key_rect(layout)[2]
    row_count = max(1, -(-len(foot_actions) // keys_per_row))
    foot_top = compute_back_key_rect(layout)[1] - (row_count - 1) * (key_height + _PAGE_PART_GAP)
    body_rect: Rect = (x + page_margin, top, w - 2 * page_margin, foot_top - top - 10)
    foot_keys = tuple(
        (
            (  # From the lowest row up, so that the first key, BACK, is always in the same position.
                x + page_margin + (i % keys_per_row) * (key_width + _PAGE_PART_GAP),
                foot_top + (row_count - 1 - i // keys_per_row) * (key_height + _PAGE_PART_GAP),
                key_width,
                key_height,
            ),
            action,
        )
        for i, action in enumerate(foot_actions)
    )
    if page.only_confirmation is not None and not should_use_tiles and keys_per_row > 2:
        # The confirming key is as wide as two keys.
        (back_rect, back_action), (confirm_rect, confirm_action) = foot_keys
        foot_keys = (
            (back_rect, back_action),
            (
                (
                    *confirm_rect[:2],
                    min(2 * key_width + _PAGE_PART_GAP, x + w - page_margin - confirm_rect[0]),
                    key_height,
                ),
                confirm_action,
            ),
        )
    tiles = (
        _lay_out_action_tiles(body_rect, other_actions, is_portrait=layout.is_portrait)
        if should_use_tiles
        else ()
    )
    prompt_rect: Rect | None = None
    if page.prompt is not None:
        body_rect, prompt_rect = _split_tables_and_prompt(context, page, page.prompt, body_rect)
    sheet_count = lay_out_listing(context, page, body_rect).sheet_count if page.tables else 1
    pager_keys: tuple[tuple[Rect, Action], ...] = ()
    if sheet_count > 1:
        body_x, body_y, body_width, body_height = body_rect
        body_rect = (body_x, body_y, body_width, body_height - key_height - 8)
        pager_top = body_y + body_height - key_height
        pager_keys = (
            (
                (body_x + body_width - 240 - _SHEET_NUMBER_WIDTH, pager_top, 120.0, key_height),
                Action("turn_sheet", -1),
            ),
            ((body_x + body_width - 120, pager_top, 120.0, key_height), Action("turn_sheet", 1)),
        )
    return ServicePageLayout(page_rect, body_rect, prompt_rect, tiles, foot_keys, pager_keys)


def _split_tables_and_prompt(
    context: DrawingContext, page: ServicePage, prompt: Prompt, body: Rect
) -> tuple[Rect, Rect]:
    """Return the parts of the rectangle ``body`` for the tables and for the input prompt.

    They are side by side; in portrait, the tables are above. Without tables, the prompt has all of ``body``.
    """
    x, y, w, h = body
    if not page.tables:
        return (x, y, w, 0.0), body
    if context.layout.is_portrait:
        height_min, preferred_height = _PROMPT_HEIGHTS_BY_KIND.get(
            prompt.kind, _DEFAULT_PROMPT_HEIGHTS_ON_PORTRAIT_AND_TELEPHONE
        )
        keys_height = height_min
        if context.layout.is_telephone:
            tables_height = min(
                _TABLES_ABOVE_KEYS_HEIGHT_MAX, measure_listing(context, page, body) + _TABLES_ABOVE_KEYS_GAP
            )
            keys_height = max(height_min, min(preferred_height, h - tables_height))
        prompt_height = max(h * 0.42, keys_height)
        return (x, y, w, h - prompt_height - 12), (x, y + h - prompt_height, w, prompt_height)
    prompt_width = w * (0.6 if prompt.kind in KEYBOARD_PROMPT_KINDS else 0.42)
    return (x, y, w - prompt_width - 24, h), (x + w - prompt_width, y, prompt_width, h)


def _lay_out_action_tiles(
    body: Rect, actions: list[PageAction], *, is_portrait: bool
) -> tuple[tuple[Rect, PageAction], ...]:
    """Return a tile for each action of a service page, in two columns.

    In landscape, more than four actions have three columns.
    """
    x, y, w, h = body
    column_count = 2 if is_portrait else 3 if len(actions) > 4 else 2
    row_count = max(1, -(-len(actions) // column_count))
    width = (w - (column_count - 1) * _PAGE_PART_GAP) / column_count
    height = min(132.0, (h - 16 - (row_count - 1) * _PAGE_PART_GAP) / row_count)
    return tuple(
        (
            (
                x + (i % column_count) * (width + _PAGE_PART_GAP),
                y + 8 + (i // column_count) * (height + _PAGE_PART_GAP),
                width,
                height,
            ),
            action,
        )
        for i, action in enumerate(actions)
    )


def list_service_page_touch_targets(context: DrawingContext) -> list[tuple[Rect, Action]]:
    """Return all touch targets of the open service page."""
    page = context.view.service_page
    if page is None:
        return []
    page_layout = lay_out_page(context, page)
    touch_targets = [
        (rect, Action("answer", page_action.id))
        for rect, page_action in (*page_layout.action_tiles, *page_layout.foot_keys)
        if page_action.enabled
    ]
    touch_targets += page_layout.pager_keys
    if page.tables:
        touch_targets += lay_out_listing(context, page, page_layout.body_rect).list_touch_targets(
            context.view.page_input.sheet_index
        )
    if page.prompt is not None and page_layout.prompt_rect is not None:
        touch_targets += lay_out_input_keys(context, page.prompt, page_layout.prompt_rect)
    if page.pattern == "sound":
        touch_targets += [
            (rect, Action("tone", tone)) for tone, rect in _lay_out_tone_keys(page_layout.body_rect).items()
        ]
    if page.pattern == "touch":
        touch_targets += [
            (rect, Action("target", i))
            for i, rect in enumerate(_lay_out_touch_targets(page_layout.body_rect))
        ]
    return touch_targets


def format_page_lines(page: ServicePage, context: DrawingContext) -> list[str]:
    """Return the text of a service page for screen readers.

    It has the title, the notice, the tables, the question and the keys, in this order. Typed text is left out: it may
    be a PIN.
    """
    head_texts = [page.title, *(text for text in (page.notice,) if text is not None)]
    lines = [format_page_text(context, text) for text in head_texts]
    for table in page.tables:
        lines += [format_page_text(context, table.title)] if table.title is not None else []
        lines += [" ".join(format_page_text(context, cell) for cell in row.cells) for row in table.rows]
    if page.prompt is not None:
        lines += [
            format_page_text(context, page.prompt.label),
            *(format_page_text(context, choice.label) for choice in page.prompt.choices),
        ]
    return [*lines, *(format_page_text(context, action.label) for action in page.actions if action.enabled)]


def format_action(page: ServicePage, action: Action, context: DrawingContext) -> str:
    """Return the text of the touch target with the given action.

    Empty for a target that is no action, choice or table row, such as a digit or letter key of an input prompt.
    """
    for table in page.tables:
        for row in table.rows:
            if row.action and row.action == action.value:
                return " ".join(format_page_text(context, cell) for cell in row.cells)
    choices = page.prompt.choices if page.prompt is not None else ()
    return next(
        (
            format_page_text(context, page_action.label)
            for page_action in (*page.actions, *choices)
            if page_action.id == action.value
        ),
        "",
    )


def draw_service_page(context: DrawingContext) -> None:
    """Draw the open service page."""
    page = context.view.service_page
    if page is None:
        return
    page_layout = lay_out_page(context, page)
    _draw_page_background(context, page_layout.page_rect)
    _draw_page_head(context, page, page_layout.page_rect)
    for rect, page_action in (*page_layout.action_tiles, *page_layout.foot_keys):
        draw_action_key(context, rect, page_action)
    if page.tables:
        draw_listing(
            context,
            lay_out_listing(context, page, page_layout.body_rect),
            context.view.page_input.sheet_index,
            page_layout.body_rect,
        )
    for rect, action in page_layout.pager_keys:
        draw_page_key(
            context, rect, context.texts.translate("page.rows_back" if action.value < 0 else "page.rows_on")
        )
    _draw_sheet_number(context, page, page_layout)
    if page.prompt is not None and page_layout.prompt_rect is not None:
        draw_page_input(context, page.prompt, page_layout.prompt_rect)
    _draw_screen_test(context, page, page_layout.body_rect)


def _draw_sheet_number(context: DrawingContext, page: ServicePage, page_layout: ServicePageLayout) -> None:
    """Draw the number of the sheet that is shown, between the keys that turn sheets."""
    if page_layout.pager_keys:
        sheet_count = lay_out_listing(context, page, page_layout.body_rect).sheet_count
        text = context.texts.translate(
            "page.sheet", number=context.view.page_input.sheet_index % sheet_count + 1, of=sheet_count
        )
        (left, top, width, height), _ = page_layout.pager_keys[0]
        centre = (left + width + _SHEET_NUMBER_WIDTH / 2, top + height / 2)
        context.painter.draw_text(
            text, centre, TextStyle("strong", "small", WHITE), width_max=_SHEET_NUMBER_WIDTH - 16
        )


def _draw_screen_test(context: DrawingContext, page: ServicePage, body: Rect) -> None:
    """Draw the test picture of a service page that tests the screen, touch or speaker, or calibrates touch.

    Do nothing for other pages.
    """
    if page.pattern == "display":
        _draw_colour_bars(context, body)
    elif page.pattern == "calibrate":
        _draw_calibration_cross(context)
    elif page.pattern == "sound":
        _draw_tone_keys(context, body)
    elif page.pattern == "touch":
        for i, rect in enumerate(_lay_out_touch_targets(body)):
            _draw_touch_target(context, rect, is_touched=i in context.view.page_input.touched_targets)


def _draw_page_background(context: DrawingContext, page_rect: Rect) -> None:
    """Draw a plain background over everything above the meters, so that a service page does not look like a game."""
    painter, layout = context.painter, context.layout
    painter.fill_rounded_rect(layout.area_above_meters, (6, 9, 16, 255))
    paint = LinearGradient(((0, (30, 38, 56, 255)), (0.12, (20, 26, 40, 255)), (1, (12, 16, 26, 255))))
    painter.draw_panel(page_rect, radius=22, fill=paint, edge_paint=(92, 110, 150, 255), edge_width=3)


def _draw_page_head(context: DrawingContext, page: ServicePage, page_rect: Rect) -> None:
    """Draw the head of a service page: title, test mark, signed-in person, active faults and notice."""
    painter, (x, y, w, _) = context.painter, page_rect
    middle = y + _HEAD_HEIGHT / 2 + 2
    left = x + 30
    if page.test:
        painter.draw_panel((left, middle - 24, 132, 48), radius=12, fill="amber", edge_paint=BLACK)
        painter.draw_text(
            context.texts.translate("page.test"),
            (left + 66, middle),
            TextStyle("heavy", "small", BLACK),
            width_max=116,
        )
        left += 152
    person = format_page_text(context, page.person) if page.person is not None else ""
    title_width = w * (0.58 if person else 0.92) - (left - x)
    title_rect: Rect = (left, y + 6, title_width, _HEAD_HEIGHT - 10)
    painter.draw_label(
        format_page_text(context, page.title),
        title_rect,
        TextStyle("heavy", "lead", "text"),
        align="left",
        wrapped_size_name="small",
    )
    if person:
        painter.draw_text(
            person,
            (x + w - 30, middle),
            TextStyle("strong", "small", "info"),
            align="right",
            width_max=w * 0.36,
        )
    painter.fill_rounded_rect((x + 24, y + _HEAD_HEIGHT, w - 48, 2), (92, 110, 150, 255))
    notice_lines = [describe_active_faults(context)]
    if page.notice is not None:
        notice_lines.append(NoticeLine(page.notice_severity, format_page_text(context, page.notice)))
    for i, (severity, text) in enumerate((severity, text) for severity, text in notice_lines if text):
        draw_notice_line(
            context,
            (x + 24, y + _HEAD_HEIGHT + 8 + i * _NOTICE_HEIGHT, w - 48, _NOTICE_HEIGHT - 8),
            severity,
            text,
        )


class NoticeLine(NamedTuple):
    """A line of text across a service page, and the severity that determines its colour and icon."""

    severity: str
    text: str


def describe_active_faults(context: DrawingContext) -> NoticeLine:
    """Return the severity and the text of the line about open doors and active faults.

    Every service page has this line. The text is empty if no door is open and no fault is active.
    """
    snapshot = context.view.snapshot
    if snapshot is None:
        return NoticeLine("info", "")
    doors = [context.texts.format_code_text("door", door) for door in snapshot.open_doors]
    open_doors_text = [context.texts.translate("page.doors_open", doors=", ".join(doors))] if doors else []
    fault_notices = [notice for notice in snapshot.notices if notice.code.startswith("fault.")]
    fault_texts = [
        format_fault(context.texts, notice.code.removeprefix("fault.")) for notice in fault_notices
    ]
    is_alarm = bool(doors) or any(notice.severity == "alarm" for notice in fault_notices)
    return NoticeLine(
        "alarm" if is_alarm else "warning",
        FACT_SEPARATOR.join([*open_doors_text, *dict.fromkeys(fault_texts)]),
    )


def draw_notice_line(context: DrawingContext, rect: Rect, severity: str, text: str) -> None:
    """Draw a line of text with an icon across a service page.

    It is the result of the last action, or says which doors are open and which faults are active.
    """
    colour = context.theme.get_colour(COLOUR_BY_SEVERITY[severity])
    context.painter.fill_rounded_rect(rect, (*mix_colours(colour, BLACK, 0.7)[:3], 255), 10)
    draw_icon(context, severity, (rect[0] + 12, rect[1] + (rect[3] - 28) / 2, 28, 28))
    style = TextStyle("strong", "small", mix_colours(colour, WHITE, 0.45))
    text_rect: Rect = (rect[0] + 54, rect[1], rect[2] - 76, rect[3])
    context.painter.draw_label(text, text_rect, style, align="left")


# ---------------------------------------------------------------------- the screen's own tests
def _draw_colour_bars(context: DrawingContext, rect: Rect) -> None:
    """Draw eight bars of full colour, and a grey ramp below them."""
    x, y, w, h = rect
    colours: tuple[Colour, ...] = tuple(
        (255 * r, 255 * g, 255 * b, 255)
        for r, g, b in (
            (1, 1, 1),
            (1, 1, 0),
            (0, 1, 1),
            (0, 1, 0),
            (1, 0, 1),
            (1, 0, 0),
            (0, 0, 1),
            (0, 0, 0),
        )
    )
    for i, colour in enumerate(colours):
        context.painter.fill_rounded_rect((x + i * w / 8, y, w / 8, h * 0.7), colour)
    ramp_paint = LinearGradient(((0, BLACK), (1, WHITE)), is_horizontal=True)
    context.painter.fill_rounded_rect((x, y + h * 0.72, w, h * 0.28), ramp_paint)


def _lay_out_tone_keys(rect: Rect) -> dict[str, Rect]:
    """Return the rectangle of each key of the speaker test, by the name of its tone.

    The alarm is the last, because it is heard across the floor.
    """
    x, y, w, h = rect
    names = (*TEST_TONES_HZ, "alarm")
    row_pitch = h / len(names)
    height = min(104.0, row_pitch - 14)
    return {name: (x + w * 0.15, y + 8 + i * row_pitch, w * 0.7, height) for i, name in enumerate(names)}


def _draw_tone_keys(context: DrawingContext, rect: Rect) -> None:
    """Draw a key for each tone of the speaker test. The key of the tone that is playing is lit."""
    page_input, now = context.view.page_input, context.view.now
    for name, key_rect in _lay_out_tone_keys(rect).items():
        hertz = context.texts.format_number(round(TEST_TONES_HZ.get(name, 0)))
        text = context.texts.translate(f"page.{name}", hertz=hertz)
        draw_button(
            context,
            key_rect,
            text,
            is_active=page_input.last_tone == name
            and now - page_input.tone_played_at < _TEST_TONE_KEY_LIT_SECONDS,
            text_size_name="body",
        )


def _lay_out_touch_targets(rect: Rect) -> list[Rect]:
    """Return the rectangles that must be touched in the touch test. They fill ``rect`` except for narrow gaps."""
    x, y, w, h = rect
    column_count, row_count = max(4, int(w // 120)), max(3, int(h // 90))
    width, height = w / column_count, h / row_count
    return [
        (x + (i % column_count) * width + 4, y + (i // column_count) * height + 4, width - 8, height - 8)
        for i in range(column_count * row_count)
    ]


def _draw_calibration_cross(context: DrawingContext) -> None:
    """Draw the cross that must be touched next in a touch calibration, with its number, such as "2 of 4"."""
    cross_index, (w, h) = len(context.view.page_input.calibration_touches), context.layout.size
    x, y = (
        share * side / COORDINATE_UNIT
        for share, side in zip(CALIBRATION_CROSSES[cross_index], (w, h), strict=True)
    )
    for rect in ((x - 60, y - 2, 120, 4), (x - 2, y - 60, 4, 120)):
        context.painter.fill_rounded_rect(rect, WHITE)
    text = context.texts.translate("page.cross", number=cross_index + 1, of=len(CALIBRATION_CROSSES))
    context.painter.draw_text(text, (w / 2, h * 0.5), TextStyle("strong", "body", WHITE), width_max=w * 0.8)


def _draw_touch_target(context: DrawingContext, rect: Rect, *, is_touched: bool) -> None:
    """Draw one rectangle of the touch test. It is green after it was touched."""
    fill: Colour = (14, 88, 54, 255) if is_touched else (30, 36, 52, 255)
    context.painter.draw_panel(rect, radius=10, fill=fill, edge_paint=(120, 150, 220, 255), edge_width=2)
    if is_touched:
        side = min(rect[2], rect[3]) * 0.5
        icon_rect: Rect = (rect[0] + (rect[2] - side) / 2, rect[1] + (rect[3] - side) / 2, side, side)
        draw_icon(context, "good", icon_rect)
