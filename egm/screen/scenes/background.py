"""The static background of the picture: hall, title sign, frame, recesses and key bar, drawn once for each size."""

import math

import pygame

from egm.screen.art.paths import build_ellipse
from egm.screen.art.vector_canvas import LinearGradient, RadialGradient, VectorCanvas, create_painted_surface
from egm.screen.layout import grow_rect
from egm.screen.painter import PREMULTIPLIED_BLEND_MODE
from egm.screen.scenes.drawing_context import (
    BLACK,
    FIELD_FRAME_WIDTH,
    DrawingContext,
    build_metal_gradient,
    render_rim_panel,
)
from egm.screen.theme import GameLook, fade_colour, mix_colours


def render_hall(size: tuple[int, int], look: GameLook, centre: tuple[float, float]) -> pygame.Surface:
    """Return the drawing of the hall behind the machine: sky, sunburst around ``centre``, lights, dark edges."""
    width, height = size
    surface = pygame.Surface(size)
    surface.blit(
        create_painted_surface(
            size,
            LinearGradient(
                (
                    (0, look.background_colours[0]),
                    (0.42, look.background_colours[1]),
                    (1, look.background_colours[2]),
                )
            ),
        ),
        (0, 0),
    )
    glow = create_painted_surface(
        (round(width * 1.1), round(height * 1.1)),
        RadialGradient(
            (
                (0, fade_colour(look.light_colour, 0.5)),
                (0.5, fade_colour(look.light_colour, 0.16)),
                (1, fade_colour(look.light_colour, 0)),
            ),
            (0.5, 0.5),
            0.5,
        ),
    )
    surface.blit(
        glow,
        (centre[0] - glow.get_width() / 2, centre[1] - glow.get_height() / 2),
        special_flags=PREMULTIPLIED_BLEND_MODE,
    )
    small_surface = pygame.Surface((width // 2, height // 2), pygame.SRCALPHA)
    centre_x, centre_y, reach = centre[0] / 2, centre[1] / 2, width
    for i in range(40):
        start_angle, end_angle = math.tau * i / 40, math.tau * (i + 0.5) / 40
        pygame.draw.polygon(
            small_surface,
            (*(channel * 22 // 255 for channel in look.sunburst_colour[:3]), 22),
            [
                (centre_x, centre_y),
                (centre_x + reach * math.cos(start_angle), centre_y + reach * math.sin(start_angle)),
                (centre_x + reach * math.cos(end_angle), centre_y + reach * math.sin(end_angle)),
            ],
        )
    surface.blit(
        pygame.transform.smoothscale(pygame.transform.box_blur(small_surface, 2), size),
        (0, 0),
        special_flags=PREMULTIPLIED_BLEND_MODE,
    )
    _draw_blurred_lights(surface, look)
    shade = create_painted_surface(
        size,
        RadialGradient(((0, (0, 0, 0, 0)), (0.55, (0, 0, 0, 0)), (1, (0, 0, 0, 190))), (0.5, 0.45), 0.72),
    )
    surface.blit(shade, (0, 0), special_flags=PREMULTIPLIED_BLEND_MODE)
    return surface


def _draw_blurred_lights(surface: pygame.Surface, look: GameLook) -> None:
    """Draw the blurred lights of the background, at fixed positions."""
    width, height = surface.get_size()
    for i in range(46):
        x, y = (i * 7919 % 997) / 997 * width, (i * 6101 % 883) / 883 * height * 0.8
        radius = max(3, round((8 + i * 37 % 34) * width / 1920))
        strength = (8 + i * 53 % 22) / 255
        colour = mix_colours(look.light_colour, look.sunburst_colour, (i % 5) / 4)
        disc = create_painted_surface(
            (radius * 2, radius * 2),
            RadialGradient(
                (
                    (0, fade_colour(colour, strength)),
                    (0.8, fade_colour(colour, strength * 1.5)),
                    (1, fade_colour(colour, 0)),
                ),
                (0.5, 0.5),
                0.5,
            ),
        )
        surface.blit(disc, (x - radius, y - radius), special_flags=PREMULTIPLIED_BLEND_MODE)


def draw_title_sign(context: DrawingContext, surface: pygame.Surface, title: str) -> None:
    """Draw the game's title on the lit sign at the top of the picture."""
    painter, look, rect = context.painter, context.look, context.layout.title_sign
    area = painter.scale_rect(rect)
    canvas = VectorCanvas(area.size, (rect[2], rect[3]), 2)
    w, h = rect[2], rect[3]
    shape = [(40.0, 4.0), (w - 40, 4.0), (w - 4, h - 30), (w - 60, h - 4), (60.0, h - 4), (4.0, h - 30)]
    canvas.draw_glow(shape, 26, fade_colour(look.light_colour, 0.5))
    canvas.fill_path(shape, build_metal_gradient(context.theme, look.rim_metal))
    inner_shape = [
        (46.0, 9.0),
        (w - 46, 9.0),
        (w - 12, h - 31),
        (w - 63, h - 9),
        (63.0, h - 9),
        (12.0, h - 31),
    ]
    canvas.fill_path(
        inner_shape,
        RadialGradient(
            (
                (0, mix_colours(look.background_colours[1], look.light_colour, 0.45)),
                (0.6, mix_colours(look.background_colours[1], BLACK, 0.2)),
                (1, mix_colours(look.background_colours[2], BLACK, 0.3)),
            ),
            (0.5, 0.35),
            0.62,
        ),
    )
    canvas.fill_inside(inner_shape, build_ellipse(w / 2, -h * 0.3, w * 0.55, h * 0.75), (255, 255, 255, 22))
    letter_paint = LinearGradient(
        (
            (0, context.theme.get_colour("gold_light")),
            (0.42, context.theme.get_colour("gold")),
            (0.55, context.theme.get_colour("gold_deep")),
            (0.7, context.theme.get_colour("gold")),
            (1, context.theme.get_colour("gold_light")),
        )
    )
    canvas.draw_text(
        str(context.theme.font_path_by_role["display"]),
        title,
        (w / 2, h / 2),
        h * 0.7,
        letter_paint,
        edge_width=4,
        edge_paint=mix_colours(look.background_colours[2], BLACK, 0.5),
        width_max=w - 200,
    )
    surface.blit(canvas.finish_surface(), area.topleft, special_flags=PREMULTIPLIED_BLEND_MODE)


def _render_meter_recess(context: DrawingContext, size: tuple[int, int]) -> pygame.Surface:
    """Return the drawing of the recess of the cabinet in which a meter lies."""
    fill = LinearGradient(((0, (3, 2, 8, 255)), (0.5, (18, 13, 34, 255)), (1, (30, 22, 52, 255))))
    return render_rim_panel(
        size, context.painter.scale, context.theme, context.look, radius=20, rim_width=5, fill_paint=fill
    )


def render_background(context: DrawingContext) -> pygame.Surface:
    """Return the static, opaque background. It is drawn once for each game, language and size."""
    painter, layout, look, title = context.painter, context.layout, context.look, context.title

    def render_uncached() -> pygame.Surface:
        field_rect = painter.scale_rect(layout.game_field)
        surface = render_hall(
            (painter.scale_length(layout.size[0]), painter.scale_length(layout.size[1])),
            look,
            field_rect.center,
        )
        draw_title_sign(context, surface, title)
        glass = LinearGradient(
            (
                (0, fade_colour(mix_colours(look.background_colours[1], BLACK, 0.5), 0.88)),
                (1, fade_colour(mix_colours(look.background_colours[2], BLACK, 0.4), 0.92)),
            )
        )
        for rect in (rect for rect in (layout.left_panel, layout.right_panel) if rect[2] > 0):
            area = painter.scale_rect(rect)
            surface.blit(
                render_rim_panel(
                    area.size, painter.scale, painter.theme, look, radius=22, rim_width=7, fill_paint=glass
                ),
                area.topleft,
                special_flags=PREMULTIPLIED_BLEND_MODE,
            )
        area = painter.scale_rect(grow_rect(layout.game_field, FIELD_FRAME_WIDTH))
        surface.blit(
            render_rim_panel(
                area.size,
                painter.scale,
                painter.theme,
                look,
                radius=40,
                rim_width=FIELD_FRAME_WIDTH - 6,
                fill_paint=(8, 5, 14, 255),
            ),
            area.topleft,
            special_flags=PREMULTIPLIED_BLEND_MODE,
        )
        area = painter.scale_rect(layout.status_line)
        plate = LinearGradient(((0, (6, 4, 14, 235)), (1, (24, 17, 44, 235))))
        surface.blit(
            render_rim_panel(
                area.size, painter.scale, painter.theme, look, radius=26, rim_width=3, fill_paint=plate
            ),
            area.topleft,
            special_flags=PREMULTIPLIED_BLEND_MODE,
        )
        _draw_meter_bar(context, surface)
        return surface.convert() if pygame.display.get_surface() else surface

    return painter.find_or_create_surface(
        ("chrome", layout.size, layout.title_sign, layout.game_field, painter.scale, look.name, title),
        render_uncached,
    )


def _draw_meter_bar(context: DrawingContext, surface: pygame.Surface) -> None:
    """Draw the bar behind the meters and the keys below them, and the recess of each meter."""
    painter, layout, look = context.painter, context.layout, context.look
    top, bottom = layout.meter_bar[1], layout.size[1]
    area = painter.scale_rect((0, top, layout.size[0], bottom - top))
    metal_plate = LinearGradient(
        (
            (0, (58, 50, 82, 255)),
            (0.03, (30, 24, 48, 255)),
            (0.42, (18, 14, 32, 255)),
            (0.46, (40, 33, 62, 255)),
            (1, (12, 9, 22, 255)),
        )
    )
    surface.blit(create_painted_surface(area.size, metal_plate), area.topleft)
    rule = painter.scale_rect((0, top - 3, layout.size[0], 4))
    surface.blit(
        create_painted_surface(rule.size, build_metal_gradient(painter.theme, look.rim_metal)), rule.topleft
    )
    for rect in layout.meter_rect_by_name.values():
        area = painter.scale_rect(rect)
        surface.blit(
            _render_meter_recess(context, area.size), area.topleft, special_flags=PREMULTIPLIED_BLEND_MODE
        )
