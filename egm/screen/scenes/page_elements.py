"""Parts from which service pages are drawn: texts, keys and icons."""

from functools import partial
from typing import Final

from egm.kernel.service_pages import PageAction, PageText
from egm.screen.art.files import render_own_picture
from egm.screen.art.vector_canvas import LinearGradient
from egm.screen.painter import Rect, TextStyle
from egm.screen.scenes.drawing_context import BLACK, WHITE, DrawingContext, format_message
from egm.screen.theme import Colour, mix_colours

#: A key no wider than this has its sign and text closer together.
_NARROW_KEY_WIDTH_MAX: Final = 200.0
#: A confirming key that is wider than this has a larger text.
_WIDE_KEY_WIDTH_MIN: Final = 320.0
#: The fill and the edge of a key, by its style.
_KEY_COLOURS_BY_STYLE: Final[dict[str, tuple[Colour, Colour]]] = {
    "go": ((44, 58, 96, 255), (120, 150, 220, 255)),
    "confirm": ((14, 88, 54, 255), (96, 220, 150, 255)),
    "danger": ((110, 18, 34, 255), (255, 120, 130, 255)),
    "back": ((52, 48, 66, 255), (150, 144, 176, 255)),
}
#: The picture of each icon, and its colour in the theme.
_PICTURE_AND_COLOUR_BY_ICON: Final = {
    "good": ("confirm", "win"),
    "info": ("info", "info"),
    "warning": ("danger", "amber"),
}


def format_page_text(context: DrawingContext, text: PageText) -> str:
    """Return a text of a service page in the language of the attendant or operator who reads it."""
    if text.kind == "text":
        return format_message(context, str(text.value), text.values)
    return context.texts.format_page_text(text, context.format_money)


def draw_action_key(context: DrawingContext, rect: Rect, action: PageAction) -> None:
    """Draw a key of a service page. Its icon and colour show the style of its action, such as danger or back."""
    painter, (x, y, w, h) = context.painter, rect
    fill, edge = (
        _KEY_COLOURS_BY_STYLE[action.style] if action.enabled else ((26, 28, 36, 255), (60, 62, 76, 255))
    )
    paint = LinearGradient(
        ((0, mix_colours(fill, WHITE, 0.14)), (0.5, fill), (1, mix_colours(fill, BLACK, 0.35)))
    )
    painter.draw_panel(rect, radius=14, fill=paint, edge_paint=edge, edge_width=2.5)
    colour: Colour = WHITE if action.enabled else (140, 140, 156, 255)
    icon_width = min(30.0 if w > _NARROW_KEY_WIDTH_MAX else 22.0, h * 0.45)
    margin = 16.0 if w > _NARROW_KEY_WIDTH_MAX else 8.0
    icon_rect: Rect = (x + margin, y + (h - icon_width) / 2, icon_width, icon_width)
    painter.draw_cached_picture(
        ("page sign", action.style, action.enabled),
        icon_rect,
        partial(render_own_picture, action.style, colour=colour),
    )
    text = format_page_text(context, action.label)
    size = "body" if h > 90 or (action.style == "confirm" and w > _WIDE_KEY_WIDTH_MIN) else "small"
    text_rect: Rect = (x + icon_width + margin + 10, y, w - icon_width - 2 * margin - 12, h)
    painter.draw_label(text, text_rect, TextStyle("strong", size, colour), align="left")


def draw_page_key(context: DrawingContext, rect: Rect, text: str) -> None:
    """Draw a key that the screen adds to a service page, such as the key for more rows."""
    fill, edge = _KEY_COLOURS_BY_STYLE["go"]
    context.painter.draw_panel(rect, radius=14, fill=fill, edge_paint=edge, edge_width=2.5)
    style = TextStyle("heavy", "lead" if len(text) == 1 else "small", WHITE)
    context.painter.draw_text(
        text, (rect[0] + rect[2] / 2, rect[1] + rect[3] / 2), style, width_max=rect[2] - 16
    )


def draw_icon(context: DrawingContext, icon: str, rect: Rect) -> None:
    """Draw an icon of a service page in a disc: tick (good), i (info), triangle (warning) or cross (alarm)."""
    picture_name, colour_name = _PICTURE_AND_COLOUR_BY_ICON.get(icon, ("alarm", "alarm"))
    render_icon = partial(render_own_picture, picture_name, colour=context.theme.get_colour(colour_name))
    context.painter.draw_cached_picture(("page icon", icon), rect, render_icon)
