"""Drawing of a double-up: a card face down, the stake, the player's call, and the card turned over."""

import math
from functools import partial
from typing import Final

import pygame

from egm.screen.art.files import render_own_picture
from egm.screen.art.paths import build_rounded_box
from egm.screen.art.vector_canvas import RadialGradient, VectorCanvas
from egm.screen.motion import clamp_to_unit_interval, ease_in_out
from egm.screen.painter import Rect, TextStyle, build_gold_gradient
from egm.screen.presentation import StepTimes
from egm.screen.scenes.bonus import draw_board_background
from egm.screen.scenes.drawing_context import BLACK, WHITE, DrawingContext, build_metal_gradient
from egm.screen.steps import DoubleUpStep
from egm.screen.theme import mix_colours, parse_colour

#: Width and height of the card, in units.
_CARD_SIZE: Final = (196.0, 274.0)
#: In the layout of a telephone: the height kept free above and below the card, for its edge, the odds and the options.
_HEIGHT_AROUND_CARD_ON_TELEPHONE: Final = 290.0
#: Width and height of a previous card, in units.
_PREVIOUS_CARD_SIZE: Final = (50.0, 70.0)
#: How many previous cards are shown.
_PREVIOUS_CARDS_SHOWN: Final = 8


def draw_double_up_decision(
    context: DrawingContext, at_stake: int, to_win: int, previous_cards: tuple[str, ...]
) -> None:
    """Draw a double-up decision: the face-down card between the stake and the possible win."""
    _draw_double_up_felt(context, previous_cards)
    _draw_turning_card(context, "", 0.0)
    _draw_stake_and_possible_win(
        context, ("gamble.at_stake", at_stake, "meter"), ("gamble.to_win", to_win, "win")
    )


def draw_double_up(
    context: DrawingContext, step: DoubleUpStep, step_times: StepTimes, elapsed_seconds: float
) -> None:
    """Draw the card of a double-up being turned over, and then whether the player has won or lost."""
    progress = clamp_to_unit_interval(
        (elapsed_seconds - step_times.start_seconds)
        / max(0.01, step_times.last_stop_seconds - step_times.start_seconds)
    )
    if context.view.is_motion_reduced:
        progress = 1.0 if progress > 0.5 else 0.0
    # The card has turned after four fifths of the time, so that the player sees it before the result.
    turn_progress = ease_in_out(clamp_to_unit_interval(progress * 1.25))
    _draw_double_up_felt(context, step.previous_cards)
    _draw_turning_card(context, step.drawn_card if turn_progress >= 0.5 else "", turn_progress)
    called_text = context.texts.translate(f"decide.{step.called_option}")
    x, y, w, h = context.layout.game_field
    style = TextStyle("strong", "lead", "text")
    context.painter.draw_text(
        context.texts.translate("gamble.called", call=called_text),
        (x + w / 2, y + h - 162),
        style,
        width_max=w - 80,
    )
    if progress < 1:
        return
    has_won = step.credits > 0
    text = context.texts.translate(
        "gamble.won" if has_won else "gamble.lost", credits=context.texts.format_number(step.credits)
    )
    paint = build_gold_gradient(context.theme) if has_won else context.theme.get_colour("text_dim")
    style = TextStyle("display" if has_won else "heavy", "title", paint, 2.5, (20, 6, 0, 220))
    context.painter.draw_text(text, (x + w / 2, y + h - 96), style, width_max=w - 80)


def _draw_double_up_felt(context: DrawingContext, previous_cards: tuple[str, ...]) -> None:
    """Draw the felt of a double-up, with the cards of the previous rounds."""
    draw_board_background(context)
    painter, (x, y, w, h) = context.painter, context.layout.game_field
    felt_rect: Rect = (x + 18, y + 18, w - 36, h - 36)
    painter.draw_cached_picture(("felt", context.look.name), felt_rect, partial(_render_felt, context))
    top, scale = (y + 36, 1.0) if not context.layout.is_telephone else (y + 30, 0.6)
    width, height = (length * scale for length in _PREVIOUS_CARD_SIZE)
    for i, card in enumerate(previous_cards[-_PREVIOUS_CARDS_SHOWN:]):
        card_rect: Rect = (x + 40 + i * (width + 8), top, width, height)
        painter.draw_cached_picture(("card", card), card_rect, partial(_render_card_face, face=card))


def _render_felt(context: DrawingContext, size: tuple[int, int]) -> pygame.Surface:
    """Return the drawing of a double-up's felt."""
    canvas = VectorCanvas(size, (100.0, 100.0 * size[1] / size[0]), 2)
    height = 100.0 * size[1] / size[0]
    base = mix_colours(parse_colour("#0f5a3c"), context.look.background_colours[1], 0.25)
    canvas.fill_path(
        build_rounded_box(0, 0, 100, height, 5), build_metal_gradient(context.theme, context.look.rim_metal)
    )
    canvas.fill_path(
        build_rounded_box(0.6, 0.6, 98.8, height - 1.2, 4.5),
        RadialGradient(
            ((0, mix_colours(base, WHITE, 0.16)), (0.7, base), (1, mix_colours(base, BLACK, 0.5))),
            (0.5, 0.45),
            0.7,
        ),
    )
    canvas.stroke_path(
        build_rounded_box(2.4, 2.4, 95.2, height - 4.8, 3.4),
        0.25,
        (*context.theme.get_colour("gold_light")[:3], 90),
    )
    return canvas.finish_surface()


def _choose_card_scale(context: DrawingContext) -> float:
    """Return the scale of the double-up card.

    It is smaller on a telephone, where the keys for the options need room in the field.
    """
    height_max = context.layout.game_field[3] - _HEIGHT_AROUND_CARD_ON_TELEPHONE
    return 1.0 if not context.layout.is_telephone else min(0.7, height_max / _CARD_SIZE[1])


def _draw_turning_card(context: DrawingContext, face: str, turn_progress: float) -> None:
    """Draw the double-up card in the middle of the field while it is turned over.

    ``turn_progress`` is from 0 to 1: the card gets narrower and then wider again.
    """
    x, y, w, _ = context.layout.game_field
    full_width, height = (length * _choose_card_scale(context) for length in _CARD_SIZE)
    frame = round(abs(math.cos(turn_progress * math.pi)) * 12)
    width = max(10.0, full_width * frame / 12)
    card_rect: Rect = (x + w / 2 - width / 2, y + 40, width, height)
    context.painter.draw_cached_picture(("card", face), card_rect, partial(_render_card_face, face=face))


def _draw_stake_and_possible_win(context: DrawingContext, *labelled_credits: tuple[str, int, str]) -> None:
    """Draw the stake and the possible win of a double-up next to the card, and a note on its odds."""
    x, y, w, _ = context.layout.game_field
    for side, (key, credits_, colour) in zip((-1, 1), labelled_credits, strict=True):
        middle_x = x + w / 2 + side * (w / 4 + 36)
        text = context.texts.translate(key)
        middle_y = y + 40 + _CARD_SIZE[1] / 2 * _choose_card_scale(context)
        context.painter.draw_text(
            text, (middle_x, middle_y - 28), TextStyle("strong", "body", "text"), width_max=w / 4
        )
        style = TextStyle("numbers", "marquee", colour, 2, (0, 20, 10, 200))
        context.painter.draw_text(
            context.texts.format_number(credits_), (middle_x, middle_y + 44), style, width_max=w / 4 - 10
        )
    painter, game_field = context.painter, context.layout.game_field
    note_rect: Rect = (x + 40, game_field[1] + 52 + _CARD_SIZE[1] * _choose_card_scale(context), w - 80, 80)
    style = TextStyle(
        "text", "small" if not context.layout.is_telephone else "caption", context.look.accent_colour
    )
    painter.draw_paragraph(context.texts.translate("gamble.fair"), note_rect, style, align="centre")


def _render_card_face(size: tuple[int, int], *, face: str) -> pygame.Surface:
    """Return the drawing of a double-up card: its face, or its back."""
    full_size = (max(size[0], round(size[1] * _CARD_SIZE[0] / _CARD_SIZE[1])), size[1])
    surface = render_own_picture(f"card_{face or 'back'}", full_size)
    return surface if full_size == size else pygame.transform.smoothscale(surface, size)
