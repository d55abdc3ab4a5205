"""A progressive's value on turning drums, for the machine's screen, its top screen and the sign on the floor.

The displayed value moves towards the reported value and never exceeds it (:func:`compute_displayed_thousandths`). As
on any odometer, a drum turns while the drums to its right go from 9 to 0. This module needs a painter and texts, but no
machine.
"""

from typing import Final

import pygame

from egm.screen.art.paths import build_rounded_box
from egm.screen.art.vector_canvas import LinearGradient, VectorCanvas
from egm.screen.motion import ease_in_out
from egm.screen.painter import Painter, Rect
from egm.screen.theme import Colour, mix_colours

WHITE: Final[Colour] = (255, 255, 255, 255)
#: Seconds in which the displayed value reaches a newly reported one.
AMOUNT_ROLL_SECONDS: Final = 1.6
#: The width of a drum, as a multiple of its height.
_DRUM_WIDTH_SHARE: Final = 0.62
#: The width of a sign between drums (separator, currency), as a multiple of the drums' height.
_SIGN_WIDTH_SHARE: Final = 0.42


def compute_displayed_thousandths(previous_cents: int, current_cents: int, elapsed_seconds: float) -> int:
    """Return the value to display while it changes from ``previous_cents`` to ``current_cents``.

    The result is in thousandths of a minor unit. ``elapsed_seconds`` is the time since the change. A value that fell,
    because it was won and reset, is displayed at once.
    """
    if current_cents <= previous_cents or elapsed_seconds >= AMOUNT_ROLL_SECONDS:
        return current_cents * 1000
    rolled_permille = int(ease_in_out(max(0.0, elapsed_seconds) / AMOUNT_ROLL_SECONDS) * 1000)
    return previous_cents * 1000 + (current_cents - previous_cents) * rolled_permille


def compute_drum_turns(text: str, thousandths: int) -> tuple[float, ...]:
    """Return how far each character's drum has turned to the next digit, from 0 to 1.

    It is 0 for a drum at rest and for a sign, such as the decimal point. ``thousandths`` (0 to 999) says how far the
    last drum has turned, in thousandths of the way to the next digit.
    """
    turned_shares = [0.0] * len(text)
    carried_share = thousandths / 1000
    for i in range(len(text) - 1, -1, -1):
        if not text[i].isdigit():
            continue
        turned_shares[i] = carried_share
        carried_share = carried_share if text[i] == "9" else 0.0
    return tuple(turned_shares)


def draw_odometer(
    painter: Painter, text: str, rect: Rect, *, thousandths: int = 0, is_dim: bool = False
) -> None:
    """Draw a formatted amount (``$1,234.56``) on drums, centred and as large as fits in ``rect``.

    ``thousandths`` (0 to 999) of a minor unit are added: the last drum has turned that far towards the next digit. If
    the amount may not be current, ``is_dim`` draws grey drums; the caller must then also say so in a text.
    """
    x, y, w, h = rect
    width_shares = [
        _DRUM_WIDTH_SHARE if char.isdigit() else 0.2 if char in "\u00a0\u202f " else _SIGN_WIDTH_SHARE
        for char in text
    ]
    height = min(h, w / max(0.1, sum(width_shares)))
    left, top = x + (w - height * sum(width_shares)) / 2, y + (h - height) / 2
    for char, width_share, turned_share in zip(
        text, width_shares, compute_drum_turns(text, thousandths), strict=True
    ):
        cell: Rect = (left, top, width_share * height, height)
        left += width_share * height
        if char.isdigit():
            _draw_drum(painter, cell, int(char), turned_share, is_dim=is_dim)
        elif char.strip("\u00a0\u202f "):
            _draw_non_digit(painter, cell, char, is_dim=is_dim)


def _choose_digit_colour(*, is_dim: bool) -> Colour:
    """Return the colour of a digit: gold, or grey if the amount may not be current (``is_dim``)."""
    return (150, 146, 166, 255) if is_dim else (255, 232, 150, 255)


def _render_digit(painter: Painter, digit: int, height: float, *, is_dim: bool) -> pygame.Surface:
    """Return the drawing of a digit on a drum, from the cache."""
    pixels = painter.scale_length(height * 0.86)
    digit_colour = _choose_digit_colour(is_dim=is_dim)

    def render_tinted_digit() -> pygame.Surface:
        mask = painter.find_font("numbers", pixels).render(str(digit), True, WHITE).premul_alpha()
        paint = LinearGradient(
            (
                (0, mix_colours(digit_colour, WHITE, 0.7)),
                (0.55, digit_colour),
                (1, mix_colours(digit_colour, (190, 90, 0, 255), 0.45)),
            )
        )
        return _tint_mask(mask, paint)

    return painter.find_or_create_surface(("odometer digit", digit, pixels, is_dim), render_tinted_digit)


def _tint_mask(mask: pygame.Surface, paint: LinearGradient) -> pygame.Surface:
    """Return a white picture coloured with the paint."""
    canvas = VectorCanvas(mask.get_size(), (100.0, 100.0), 1)
    canvas.fill_path(build_rounded_box(0, 0, 100, 100), paint)
    painted_surface = canvas.finish_surface()
    mask.blit(painted_surface, (0, 0), special_flags=pygame.BLEND_RGBA_MULT)
    return mask


def _draw_drum(painter: Painter, cell: Rect, digit: int, turned_share: float, *, is_dim: bool) -> None:
    """Draw one drum, turned by the fraction ``turned_share`` (0 to 1) from ``digit`` to the next digit."""
    x, y, w, h = cell
    window: Rect = (x + w * 0.04, y, w * 0.92, h)
    painter.draw_cached_picture(("odometer drum",), window, _render_drum_window)
    window_pixels = painter.scale_rect(window)
    with painter.clip_to(window):
        for shown_digit, drum_offset in ((digit, -turned_share), ((digit + 1) % 10, 1 - turned_share)):
            if abs(drum_offset) >= 1:
                continue
            digit_art = _render_digit(painter, shown_digit, h, is_dim=is_dim)
            middle = window_pixels.top + window_pixels.height * (0.52 + drum_offset)
            painter.draw_surface(
                digit_art,
                (
                    window_pixels.centerx - digit_art.get_width() // 2,
                    round(middle - digit_art.get_height() / 2),
                ),
            )
    painter.draw_cached_picture(("odometer glass",), window, _render_glass_shading)


def _draw_non_digit(painter: Painter, cell: Rect, character: str, *, is_dim: bool) -> None:
    """Draw a character of an amount that is not a digit, such as the currency sign or the decimal point."""
    x, y, w, h = cell
    pixels = painter.scale_length(h * 0.86)

    def render_sign() -> pygame.Surface:
        rendered_text = (
            painter.find_font("numbers", pixels)
            .render(character, True, _choose_digit_colour(is_dim=is_dim))
            .premul_alpha()
        )
        return rendered_text.subsurface(rendered_text.get_bounding_rect())

    art = painter.find_or_create_surface(("odometer sign", character, pixels, is_dim), render_sign)
    middle = y + h * (0.84 if character in ".," else 0.52)
    top = middle - art.get_height() / painter.scale / 2
    painter.draw_surface(
        art, (painter.scale_length(x + w / 2) - art.get_width() // 2, painter.scale_length(top))
    )


def _render_drum_window(size: tuple[int, int]) -> pygame.Surface:
    """Return the drawing of the window of a drum: dark, in a gold rim."""
    canvas = VectorCanvas(size)
    canvas.fill_path(
        build_rounded_box(0, 0, 100, 100, 9),
        LinearGradient(((0, (88, 58, 12, 255)), (0.5, (250, 206, 96, 255)), (1, (120, 78, 16, 255)))),
    )
    canvas.fill_path(
        build_rounded_box(5, 3, 90, 94, 7),
        LinearGradient(((0, (6, 3, 12, 255)), (0.5, (58, 40, 30, 255)), (1, (6, 3, 12, 255)))),
    )
    return canvas.finish_surface()


def _render_glass_shading(size: tuple[int, int]) -> pygame.Surface:
    """Return the drawing of the shading that makes a drum look round and behind glass."""
    canvas = VectorCanvas(size)
    dark = LinearGradient(
        (
            (0, (0, 0, 0, 215)),
            (0.22, (0, 0, 0, 60)),
            (0.5, (0, 0, 0, 0)),
            (0.78, (0, 0, 0, 60)),
            (1, (0, 0, 0, 215)),
        )
    )
    canvas.fill_path(build_rounded_box(5, 3, 90, 94, 7), dark)
    canvas.fill_path(build_rounded_box(12, 26, 76, 5, 2), (255, 255, 255, 26))
    return canvas.finish_surface()
