"""The picture on an overhead sign: the name of each level in both languages above its amount on drums."""

from typing import Final

import pygame

from egm.screen.painter import Rect, TextStyle, build_gold_gradient
from egm.screen.picture import Picture
from egm.screen.scenes.drawing_context import DrawingContext, draw_frame_lamps
from egm.screen.scenes.odometer import draw_odometer
from egm.screen.text import LOCALE_BY_LANGUAGE, Texts
from egm.screen.theme import fade_colour
from egm.screen.top import compute_board_rect, render_backdrop
from egm.screen.view import View
from tools.floor.progressive.sign import Plate

#: The most levels shown at once; further ones alternate with them.
_PLATES_AT_ONCE_MAX: Final = 3
#: The greatest height of a level, in units.
_PLATE_HEIGHT_MAX: Final = 460.0
#: Seconds for which each group of levels is shown.
_GROUP_DISPLAY_SECONDS: Final = 8.0
#: Seconds that an amount is shown in the format of one language before it changes to the other's.
_LANGUAGE_DISPLAY_SECONDS: Final = 6.0
#: Nanoseconds for which the lamp for staff is bright after a value.
_STAFF_LAMP_BRIGHT_NS: Final = 400_000_000
#: Separates the texts of the two languages.
_LANGUAGE_SEPARATOR: Final = "  ·  "


class SignPicture(Picture):
    """The picture of the progressive levels on an overhead sign."""

    def paint(self, surface: pygame.Surface, plates: tuple[Plate, ...], now_ns: int, currency: str) -> None:
        """Draw the levels of an overhead sign on ``surface``, with amounts in ``currency`` (ISO 4217)."""
        self.painter.surface = surface
        texts_of_languages = tuple(
            self._texts.setdefault((language, ""), Texts(language)) for language in LOCALE_BY_LANGUAGE
        )
        seconds = now_ns / 1e9
        amount_texts = texts_of_languages[int(seconds / _LANGUAGE_DISPLAY_SECONDS) % len(texts_of_languages)]
        context = DrawingContext(self.painter, amount_texts, self.layout, View(now=seconds))
        surface.blit(
            render_backdrop(context, _format_bilingual_text(texts_of_languages, "progressive.sign")), (0, 0)
        )
        rect = x, y, w, h = compute_board_rect(self.layout)
        draw_frame_lamps(context, rect, "idle")
        if not plates:
            _draw_no_amount(context, texts_of_languages, rect)
        group_index = int(seconds / _GROUP_DISPLAY_SECONDS) % max(1, -(-len(plates) // _PLATES_AT_ONCE_MAX))
        first_index = group_index * _PLATES_AT_ONCE_MAX
        group = plates[first_index : first_index + _PLATES_AT_ONCE_MAX]
        for i, plate in enumerate(group):
            slot_height = (h - 20) / len(group)
            plate_height = min(slot_height - 10, _PLATE_HEIGHT_MAX)
            top = y + 10 + i * slot_height + (slot_height - plate_height) / 2
            _draw_plate(context, texts_of_languages, plate, (x + 20, top, w - 40, plate_height), currency)
        _draw_staff_lamp(context, plates)


def _format_bilingual_text(texts_of_languages: tuple[Texts, ...], key: str) -> str:
    """Return a text in both languages, as one line."""
    return _LANGUAGE_SEPARATOR.join(texts.translate(key) for texts in texts_of_languages)


def _draw_plate(
    context: DrawingContext, texts_of_languages: tuple[Texts, ...], plate: Plate, rect: Rect, currency: str
) -> None:
    """Draw one progressive level: its name, and below it the amount or, if it is unknown, a text."""
    painter, (x, y, w, h) = context.painter, rect
    size = "marquee" if h > 320 else "title"
    heading_height = context.theme.size_by_name[size] * 1.5
    names = dict.fromkeys(
        texts.choose_translation(plate.names, plate.level_id) for texts in texts_of_languages
    )
    paint = "text_dim" if plate.amount_thousandths is None else build_gold_gradient(painter.theme)
    painter.draw_text(
        _LANGUAGE_SEPARATOR.join(names),
        (x + w / 2, y + heading_height / 2),
        TextStyle("heavy", size, paint, 1.5),
        width_max=w - 8,
    )
    if plate.win is not None:
        win_amount_text = context.texts.format_money(plate.win.amount_cents, currency)
        winner_text = context.texts.translate(
            "progressive.won_by", machine=plate.win.machine, amount=win_amount_text
        )
        h -= heading_height * 0.8
        painter.draw_text(
            winner_text,
            (x + w / 2, y + h + heading_height * 0.4),
            TextStyle("heavy", "title", "win"),
            width_max=w - 8,
        )
    drums_rect: Rect = (x, y + heading_height, w, h - heading_height)
    if plate.amount_thousandths is None:
        _draw_no_amount(context, texts_of_languages, drums_rect)
        return
    amount_text = context.texts.format_money(plate.amount_thousandths // 1000, currency)
    draw_odometer(painter, amount_text, drums_rect, thousandths=plate.amount_thousandths % 1000)


def _draw_no_amount(context: DrawingContext, texts_of_languages: tuple[Texts, ...], rect: Rect) -> None:
    """Draw the text that is displayed in place of an unknown amount."""
    x, y, w, h = rect
    panel_height = min(h * 0.8, 200.0)
    top = y + (h - panel_height) / 2
    context.painter.draw_panel(
        (x + w * 0.12, top, w * 0.76, panel_height),
        radius=24,
        fill=(40, 22, 4, 255),
        edge_paint="amber",
        edge_width=4,
    )
    lines = [texts.translate("progressive.stale") for texts in texts_of_languages]
    if panel_height < 150:
        lines = [_LANGUAGE_SEPARATOR.join(lines)]
    for i, line in enumerate(lines):
        centre = (x + w / 2, top + panel_height * (i + 1) / (len(lines) + 1))
        context.painter.draw_text(line, centre, TextStyle("heavy", "title", "amber"), width_max=w * 0.7)


def _draw_staff_lamp(context: DrawingContext, plates: tuple[Plate, ...]) -> None:
    """Draw the small lamp for staff: bright for a moment after each received amount, else dim.

    It is red if the sign has no levels or does not know the amount of one.
    """
    width, height = context.layout.size
    ages_ns = [plate.value_age_ns for plate in plates if plate.value_age_ns is not None]
    is_alarm = not plates or any(plate.amount_thousandths is None for plate in plates)
    is_bright = bool(ages_ns) and min(ages_ns) < _STAFF_LAMP_BRIGHT_NS
    colour = context.theme.get_colour("alarm" if is_alarm else "win")
    paint = fade_colour(colour, 1.0 if is_alarm or is_bright else 0.3)
    context.painter.fill_rounded_rect((width - 66, height - 52, 28, 28), paint, 14)
