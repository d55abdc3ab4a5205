"""The presentation of a feature: its title card, its colours and light, and what it has won so far."""

import math
from dataclasses import replace
from typing import Final

import pygame

from egm.screen.art.vector_canvas import LinearGradient, RadialGradient, VectorCanvas, create_painted_surface
from egm.screen.motion import clamp_to_unit_interval, ease_out
from egm.screen.painter import PREMULTIPLIED_BLEND_MODE, TextStyle, build_gold_gradient
from egm.screen.presentation import (
    OutcomePresentation,
    PresentationTimeline,
    StepTimes,
    compute_free_game_number_and_total,
    find_step_stage,
    is_feature_step,
)
from egm.screen.scenes.drawing_context import DrawingContext, format_stage_name
from egm.screen.steps import DoubleUpStep
from egm.screen.theme import fade_colour
from egm.screen.view import View, build_view_timeline

#: The number of angles at which the searchlights are drawn and cached.
_SEARCHLIGHT_ANGLE_COUNT: Final = 15


def find_shown_feature_step_index(view: View, timeline: PresentationTimeline | None) -> int | None:
    """Return the index of the step that is shown now if it belongs to a feature, otherwise None."""
    presentation = view.selected_game_presentation
    if presentation is None or timeline is None:
        return None
    elapsed_seconds = view.now - presentation.began_at
    step_index = timeline.find_step_index(elapsed_seconds)
    has_ended = presentation.is_last_section and elapsed_seconds >= timeline.roll_up_end_seconds + 1.2
    return step_index if is_feature_step(presentation, step_index) and not has_ended else None


def apply_feature_colours(context: DrawingContext) -> DrawingContext:
    """Return the drawing context in a feature's colours if a feature is shown, otherwise unchanged."""
    step_index = find_shown_feature_step_index(context.view, build_view_timeline(context.view, context.theme))
    return context if step_index is None else replace(context, has_feature_colours=True)


def sum_credits_of_ended_steps(
    presentation: OutcomePresentation,
    timeline: PresentationTimeline,
    elapsed_seconds: float,
    first_step_index: int = 0,
) -> int:
    """Return the credits won by steps from index ``first_step_index`` on that have stopped by ``elapsed_seconds``.

    Steps that were already presented before this presentation are not counted, and neither are rounds of double-up.
    """
    return sum(
        step.credits
        for i, (step, step_times) in enumerate(zip(presentation.steps, timeline.steps, strict=True))
        if i >= max(first_step_index, presentation.presented_step_count)
        and step_times.last_stop_seconds <= elapsed_seconds
        and not isinstance(step, DoubleUpStep)
    )


def draw_feature_title_card(
    context: DrawingContext,
    presentation: OutcomePresentation,
    step_index: int,
    step_times: StepTimes,
    elapsed_seconds: float,
) -> None:
    """Draw the title card of the feature that step ``step_index`` begins: its name, and its number of games."""
    painter, view = context.painter, context.view
    x, y, w, h = context.layout.game_field
    shown_share = clamp_to_unit_interval(
        (elapsed_seconds - step_times.title_card_start_seconds)
        / max(0.01, step_times.start_seconds - step_times.title_card_start_seconds)
    )
    entrance_share = 1.0 if view.is_motion_reduced else ease_out(shown_share * 5)
    painter.fill_rounded_rect((x, y, w, h), (4, 2, 12, round(200 * entrance_share)))
    if not view.is_motion_reduced:
        _draw_searchlights(context, entrance_share * (1 - clamp_to_unit_interval((shown_share - 0.9) * 10)))
    _, game_count = compute_free_game_number_and_total(presentation, step_index, has_stopped=False)
    name = format_stage_name(context, find_step_stage(presentation, step_index))
    style = TextStyle("display", "hero", build_gold_gradient(context.theme), 4, (20, 6, 0, 230))
    offset = 0.0 if view.is_motion_reduced else 40 * (1 - entrance_share)
    middle = y + h / 2 + (54 if game_count > 1 else 0)
    if game_count > 1:
        number_style = TextStyle("numbers", "hero", "meter", 4, (20, 6, 0, 230))
        painter.draw_text(
            context.texts.format_number(game_count),
            (x + w / 2, middle - 150 - offset),
            number_style,
            width_max=w - 80,
        )
    painter.draw_text(name, (x + w / 2, middle + offset), style, width_max=w - 90)
    text = context.texts.translate("feature.begins")
    painter.draw_text(
        text, (x + w / 2, middle + 110), TextStyle("strong", "lead", "text", 2), width_max=w - 120
    )


def _draw_searchlights(context: DrawingContext, opacity: float) -> None:
    """Draw slowly turning searchlights behind the title card.

    They are drawn at a few angles only, so that the pictures can be cached.
    """
    painter, (_, _, w, h) = context.painter, context.layout.game_field
    angle_index = int(context.view.now * 9) % _SEARCHLIGHT_ANGLE_COUNT

    def render_beams(size: tuple[int, int]) -> pygame.Surface:
        small_size = (max(1, size[0] // 3), max(1, size[1] // 3))
        canvas, radius = VectorCanvas(small_size, (w, h), 1), max(w, h)
        for i in range(8):
            angle = math.tau * (i + angle_index / _SEARCHLIGHT_ANGLE_COUNT) / 8
            left_beam, right_beam = (
                (w / 2 + radius * math.cos(angle + half_width), h / 2 + radius * math.sin(angle + half_width))
                for half_width in (-0.14, 0.14)
            )
            canvas.fill_path(
                [(w / 2, h / 2), left_beam, right_beam], fade_colour(context.look.accent_colour, 0.34)
            )
        beams = canvas.finish_surface()
        mask = RadialGradient(
            ((0, (255, 255, 255, 255)), (0.5, (255, 255, 255, 190)), (1, (255, 255, 255, 0)))
        )
        beams.blit(create_painted_surface(small_size, mask), (0, 0), special_flags=pygame.BLEND_RGBA_MULT)
        return pygame.transform.smoothscale(beams, size)

    painter.draw_cached_picture(
        ("beams", angle_index, context.look.name), context.layout.game_field, render_beams, alpha=opacity
    )


def draw_anticipation_light(context: DrawingContext, rect: tuple[float, float, float, float]) -> None:
    """Draw the light around a reel that spins longer to build anticipation."""
    brightness_level = round(4 * context.compute_flash_brightness())
    x, y, w, h = rect

    def render_veil(size: tuple[int, int]) -> pygame.Surface:
        surface = create_painted_surface(
            size,
            LinearGradient(
                (
                    (0, fade_colour(context.look.accent_colour, 0.5 + brightness_level / 10)),
                    (0.16, fade_colour(context.look.accent_colour, 0.05)),
                    (0.84, fade_colour(context.look.accent_colour, 0.05)),
                    (1, fade_colour(context.look.accent_colour, 0.5 + brightness_level / 10)),
                ),
                is_horizontal=True,
            ),
        )
        surface.blit(surface, (0, 0), special_flags=PREMULTIPLIED_BLEND_MODE)
        return surface

    context.painter.draw_cached_picture(
        ("awaited", brightness_level, context.look.name), (x - 4, y - 4, w + 8, h + 8), render_veil
    )
