"""The painter: draws text, art and panels on one surface, in layout units, with a cache of drawn surfaces.

Positions and sizes are in layout units, which the painter multiplies by ``scale``, so the picture is as sharp in a
small window as on a 4K screen; where they are in pixels, the method says so. What is slow to draw is drawn once and
cached. If the cache of surfaces is full, those that were used least recently are removed.
"""

import math
import re
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Final, Literal, NamedTuple, TypeVar, cast

import pygame

from egm.kernel.messages import ArtFile, GameView
from egm.screen.art.symbols import render_symbol_art
from egm.screen.art.vector_canvas import LinearGradient, Paint, create_painted_surface
from egm.screen.theme import Colour, Theme

#: A rectangle as (left, top, width, height), in units.
Rect = tuple[float, float, float, float]
#: How a text lies relative to its position.
TextAlignment = Literal["left", "centre", "right"]
_T = TypeVar("_T")

#: The blend mode for surfaces whose colours are multiplied by their opacity.
PREMULTIPLIED_BLEND_MODE: Final = pygame.BLEND_PREMULTIPLIED
#: The minimum height of letters shrunk to fit, in pixels; only tiny windows reach it.
_LETTER_PIXELS_MIN: Final = 5
#: The separator between facts on one line. No line begins or ends with it.
FACT_SEPARATOR: Final = "  \u00b7  "
#: The maximum number of text widths that are cached.
_CACHED_WIDTHS_MAX: Final = 1 << 14
#: The maximum number of wrapped texts that are cached.
_CACHED_WRAPPED_TEXTS_MAX: Final = 1 << 11
#: Spaces in a line: between words, and the no-break spaces before a sign or within a number.
_SPACE_PATTERN: Final = re.compile("[ \u00a0\u202f]")
#: The height in pixels at which a face's word space is measured: large enough to ignore rounding.
_WORD_SPACE_MEASURING_PIXELS: Final = 200
#: Cached widths in pixels by font file, height in pixels and text (None for its word space), shared by all
#: painters.
_TEXT_WIDTH_CACHE: Final[dict[tuple[str, int, str | None], int]] = {}


class TextStyle(NamedTuple):
    """The style of a text: face (a font role of the theme), size, paint, and an optional dark edge.

    A style is part of the cache key of every text. It is a named tuple because hashing and comparing a dataclass is
    much slower.
    """

    font_face: str = "text"
    size_name: str = "body"
    paint: Paint | str = "text"
    edge_width: float = 0.0
    edge_colour: Colour = (0, 0, 0, 200)


def _measure_accent_drop(font: pygame.font.Font, text: str) -> int:
    """Return how many pixels lower pygame draws a text because one of its accents rises above the font's box."""
    glyph_top_max = max((glyph[3] for glyph in font.metrics(text) if glyph is not None), default=0)
    return max(0, glyph_top_max - font.get_ascent())


def _centre_line_on_capitals(
    font: pygame.font.Font, text: str, rendered_line: pygame.Surface
) -> pygame.Surface:
    """Return a rendered line of text, padded so that the middle of its capital letters is the middle of its height.

    Without padding, lines are not centred: a font's box has unequal room above and below the capitals, and an accent
    that rises above the box lowers the whole line.
    """
    capital_rect = font.render("H", True, (255, 255, 255)).get_bounding_rect()
    capital_rect.y += _measure_accent_drop(font, text)
    missing_height = rendered_line.get_height() - (2 * capital_rect.y + capital_rect.height)
    padded_line = pygame.Surface(
        (rendered_line.get_width(), rendered_line.get_height() + abs(missing_height)), pygame.SRCALPHA
    )
    padded_line.blit(rendered_line, (0, max(0, missing_height)))
    return padded_line


#: Maximum number of values that :meth:`Painter.cache_result` keeps.
_CACHED_VALUES_MAX: Final = 24


class _CachedResult(NamedTuple):
    """A value that :meth:`Painter.cache_result` stores; it is valid while the validity key stays the same."""

    validity_key: tuple[object, ...]
    value: object


class Painter:
    """A painter that draws on ``surface`` in the styles of ``theme``; one layout unit is ``scale`` pixels."""

    cache_bytes_max = 320 * 1024 * 1024
    """Maximum size of the cache of drawn surfaces, in bytes."""

    def __init__(self, theme: Theme, scale: float = 1.0) -> None:
        self.theme = theme
        self.scale = scale
        self.surface = pygame.Surface((1, 1))
        self.on_surface_created: Callable[[], None] = lambda: None
        """Called after each surface that was drawn for the cache, so that a long frame can report its progress."""
        self._cache: OrderedDict[Hashable, pygame.Surface] = OrderedDict()
        self._cache_bytes = 0
        self._pictures: Mapping[str, ArtFile] = {}
        self._pictures_digest = ""
        self._font_file_by_face = {face: str(path) for face, path in theme.font_path_by_role.items()}
        self._font_by_face_and_pixels: dict[tuple[str, int], pygame.font.Font] = {}
        self._wrapped_texts: dict[tuple[str, str, float, str], list[str]] = {}
        self._cached_results: OrderedDict[Hashable, _CachedResult] = OrderedDict()

    # ------------------------------------------------------------------ units and caches
    def scale_length(self, length: float) -> int:
        """Convert a length in layout units to pixels."""
        return round(length * self.scale)

    def scale_rect(self, rect: Rect) -> pygame.Rect:
        """Return a rectangle in pixels. Rectangles that share an edge in layout units share it in pixels, too."""
        x, y, w, h = rect
        scale = self.scale
        left, top = round(x * scale), round(y * scale)
        return pygame.Rect(left, top, round((x + w) * scale) - left, round((y + h) * scale) - top)

    def find_or_create_surface(
        self, cache_key: Hashable, create_surface: Callable[[], pygame.Surface]
    ) -> pygame.Surface:
        """Return the surface cached under ``cache_key``. If absent, create it with ``create_surface`` and cache it."""
        cache_key = (self._pictures_digest, cache_key)
        surface = self._cache.get(cache_key)
        if surface is None:
            surface = self._cache[cache_key] = create_surface()
            self.on_surface_created()
            self._cache_bytes += surface.get_width() * surface.get_height() * 4
            while self._cache_bytes > self.cache_bytes_max and len(self._cache) > 1:
                _, removed_surface = self._cache.popitem(last=False)
                self._cache_bytes -= removed_surface.get_width() * removed_surface.get_height() * 4
        else:
            self._cache.move_to_end(cache_key)
        return surface

    def cache_result(
        self, cache_name: Hashable, validity_key: tuple[object, ...], compute_value: Callable[[], _T]
    ) -> _T:
        """Return the value cached under ``cache_name``; compute it if it is absent or its ``validity_key`` has changed.

        The key contains every object on which the value depends. Unlike the keys of :meth:`find_or_create_surface`, it
        need not be hashable: keys are compared, which is fast if they have the same objects.
        """
        cached_result = self._cached_results.get(cache_name)
        if cached_result is None or cached_result.validity_key != validity_key:
            cached_result = self._cached_results[cache_name] = _CachedResult(validity_key, compute_value())
            if len(self._cached_results) > _CACHED_VALUES_MAX:
                self._cached_results.popitem(last=False)
        return cast(_T, cached_result.value)

    def draw_cached_rect(
        self, cache_name: Hashable, validity_key: tuple[object, ...], rect: Rect, draw: Callable[[], None]
    ) -> None:
        """Call ``draw`` to draw in a rectangle, and cache the resulting pixels of the rectangle under ``cache_name``.

        While ``validity_key`` is unchanged, later calls copy the cached pixels instead. The key must contain every
        object on which these pixels depend, including objects that were drawn in the rectangle before. If the painter's
        surface may be transparent, nothing is cached.
        """
        if self.surface.get_flags() & pygame.SRCALPHA:
            draw()
            return
        box, surface = self.scale_rect(rect).clip(self.surface.get_rect()), self.surface

        def draw_and_copy() -> pygame.Surface:
            draw()
            return surface.subsurface(box).copy()

        drawn_pixels = self.cache_result(
            cache_name,
            (*validity_key, surface.get_size(), surface.get_masks(), box, self.scale),
            draw_and_copy,
        )
        surface.blit(drawn_pixels, box)

    @contextmanager
    def clip_to(self, rect: Rect) -> Iterator[None]:
        """Restrict everything that is drawn in the ``with`` block to a rectangle."""
        previous_clip = self.surface.get_clip()
        self.surface.set_clip(self.scale_rect(rect).clip(previous_clip))
        try:
            yield
        finally:
            self.surface.set_clip(previous_clip)

    def set_game_pictures(self, game: GameView | None) -> None:
        """Draw symbols with the pictures that ``game`` supplies from now on; without a game, with the built-in ones."""
        self._pictures = {} if game is None else game.art.pictures
        self._pictures_digest = game.digest if game is not None and self._pictures else ""

    def render_symbol(self, symbol: str, fallback_text: str, size: tuple[int, int]) -> pygame.Surface:
        """Return a symbol of the current game, square, to fit ``size`` pixels; see :func:`render_symbol_art`."""
        return render_symbol_art(symbol, fallback_text, size, self._pictures)

    def resolve_paint(self, paint: Paint | str) -> Paint:
        """Return the theme's colour if the paint is a colour name; otherwise return the paint itself."""
        return self.theme.get_colour(paint) if isinstance(paint, str) else paint

    # ------------------------------------------------------------------ text
    def find_font(self, face: str, pixels: int) -> pygame.font.Font:
        """Return the theme's font for a role (``face``) at a height in pixels, at least :data:`_LETTER_PIXELS_MIN`."""
        key = (face, max(_LETTER_PIXELS_MIN, pixels))
        if key not in self._font_by_face_and_pixels:
            self._font_by_face_and_pixels[key] = pygame.font.Font(self.theme.font_path_by_role[face], key[1])
        return self._font_by_face_and_pixels[key]

    def _measure_word_space(self, face: str, pixels: int) -> int:
        """Return the minimum width of the space between words in pixels, as the font's designer intended it.

        At small sizes, rounding and kerning make the space of the font narrower than that.
        """
        cache_key = (self._font_file_by_face[face], pixels, None)
        if cache_key not in _TEXT_WIDTH_CACHE:
            share = (
                self.find_font(face, _WORD_SPACE_MEASURING_PIXELS).size(" ")[0] / _WORD_SPACE_MEASURING_PIXELS
            )
            _TEXT_WIDTH_CACHE[cache_key] = max(
                self.find_font(face, pixels).size(" ")[0], math.ceil(share * pixels)
            )
        return _TEXT_WIDTH_CACHE[cache_key]

    def _measure_line(self, face: str, pixels: int, text: str) -> int:
        """Return the width of a line of text in pixels, with spaces between words of at least the intended width."""
        pixels = max(_LETTER_PIXELS_MIN, pixels)
        cache_key = (self._font_file_by_face[face], pixels, text)
        width = _TEXT_WIDTH_CACHE.get(cache_key)
        if width is None:
            if len(_TEXT_WIDTH_CACHE) >= _CACHED_WIDTHS_MAX:
                _TEXT_WIDTH_CACHE.clear()
            width, words = self.find_font(face, pixels).size(text)[0], _SPACE_PATTERN.split(text)
            if len(words) > 1:
                separate_width = sum(self._measure_line(face, pixels, word) for word in words)
                width = max(width, separate_width + self._measure_word_space(face, pixels) * (len(words) - 1))
            _TEXT_WIDTH_CACHE[cache_key] = width
        return width

    def _render_line(self, face: str, pixels: int, text: str) -> pygame.Surface:
        """Return a line of text rendered in white.

        If the font's spaces are too narrow, each word is rendered separately.
        """
        font = self.find_font(face, pixels)
        width = self._measure_line(face, pixels, text)
        if font.size(text)[0] >= width:
            return font.render(text or " ", True, (255, 255, 255)).premul_alpha()
        rendered_words = [
            (font.render(word or " ", True, (255, 255, 255)), word) for word in _SPACE_PATTERN.split(text)
        ]
        largest_drop = max(_measure_accent_drop(font, word) for _, word in rendered_words)
        tops = [
            largest_drop - _measure_accent_drop(font, word) for _, word in rendered_words
        ]  # share one base line
        height = max(
            top + rendered.get_height() for top, (rendered, _) in zip(tops, rendered_words, strict=True)
        )
        line = pygame.Surface((width, height), pygame.SRCALPHA)
        left, space = 0, self._measure_word_space(face, max(_LETTER_PIXELS_MIN, pixels))
        for top, (rendered, word) in zip(tops, rendered_words, strict=True):
            if word:
                line.blit(rendered.premul_alpha(), (left, top))
            left += font.size(word)[0] + space
        return line

    def measure_text(self, text: str, style: TextStyle) -> float:
        """Return the width of the text in a style, in layout units."""
        return (
            self._measure_line(
                style.font_face, self.scale_length(self.theme.size_by_name[style.size_name]), text
            )
            / self.scale
        )

    def _fit_font_pixels(self, text: str, style: TextStyle, width_max: float | None) -> int:
        """Return the largest font size in pixels at which the text fits in ``width_max`` units, at most the style's."""
        pixels = self.scale_length(self.theme.size_by_name[style.size_name])
        if width_max is not None:
            width_max_pixels = self.scale_length(width_max)
            while (
                pixels > _LETTER_PIXELS_MIN
                and self._measure_line(style.font_face, pixels, text) > width_max_pixels
            ):
                pixels -= max(1, pixels // 24)
        return pixels

    def render_text(self, text: str, style: TextStyle, width_max: float | None = None) -> pygame.Surface:
        """Return the text drawn on a premultiplied surface, made smaller to fit in ``width_max`` units.

        The middle of the surface's height is the middle of the capital letters.
        """

        def render_uncached() -> pygame.Surface:
            pixels = self._fit_font_pixels(text, style, width_max)
            resolved_paint = self.resolve_paint(style.paint)
            line = self._render_line(style.font_face, pixels, text)
            mask = _centre_line_on_capitals(self.find_font(style.font_face, pixels), text, line)
            painted_surface = create_painted_surface(mask.get_size(), resolved_paint)
            letters = mask.copy()
            letters.blit(painted_surface, (0, 0), special_flags=pygame.BLEND_RGBA_MULT)
            if style.edge_width <= 0:
                return letters
            radius = max(1, self.scale_length(style.edge_width))
            surface = pygame.Surface(
                (mask.get_width() + 2 * radius, mask.get_height() + 2 * radius), pygame.SRCALPHA
            )
            for dx in range(-radius, radius + 1):
                for dy in range(-radius, radius + 1):
                    if dx * dx + dy * dy <= radius * radius + 1:
                        surface.blit(mask, (radius + dx, radius + dy), special_flags=pygame.BLEND_RGBA_MAX)
            surface.blit(
                create_painted_surface(surface.get_size(), style.edge_colour),
                (0, 0),
                special_flags=pygame.BLEND_RGBA_MULT,
            )
            surface.blit(letters, (radius, radius), special_flags=PREMULTIPLIED_BLEND_MODE)
            return surface

        return self.find_or_create_surface(
            ("words", text, style, None if width_max is None else self.scale_length(width_max), self.scale),
            render_uncached,
        )

    def draw_text(
        self,
        text: str,
        anchor: tuple[float, float],
        style: TextStyle,
        *,
        align: TextAlignment = "centre",
        width_max: float | None = None,
        alpha: float = 1.0,
    ) -> pygame.Rect:
        """Draw one line of text; return the rectangle that it covers, in pixels.

        ``anchor`` is the middle of its height and, depending on ``align``, its left end, centre or right end.
        ``width_max`` is the maximum width in layout units: a longer text is drawn smaller.
        """
        surface = self.render_text(text, style, width_max)
        x, y = self.scale_length(anchor[0]), self.scale_length(anchor[1])
        left = {"left": x, "centre": x - surface.get_width() // 2, "right": x - surface.get_width()}[align]
        text_box = pygame.Rect((left, y - surface.get_height() // 2), surface.get_size())
        self.draw_surface(surface, text_box.topleft, alpha)
        return text_box

    def draw_label(
        self,
        text: str,
        rect: Rect,
        style: TextStyle,
        *,
        align: TextAlignment = "centre",
        wrapped_size_name: str = "caption",
    ) -> None:
        """Draw a text vertically centred in a rectangle, on one line if it fits.

        A text that is too wide is wrapped into lines of the theme size ``wrapped_size_name`` or, if the rectangle is
        not high enough for these lines, of the size ``tiny``. If the lines do not fit either, the text is drawn on one
        line, as small as necessary.
        """
        x, y, w, h = rect
        anchor_x = {"left": x, "centre": x + w / 2, "right": x + w}[align]
        for size_name in dict.fromkeys(
            (wrapped_size_name, "tiny") if self.measure_text(text, style) > w else ()
        ):
            small_style, height = (
                style._replace(size_name=size_name),
                self.theme.size_by_name[size_name] * 1.16,
            )
            lines = self.wrap_evenly(text, w, small_style)
            if len(lines) > 1 and len(lines) * height <= h + 1:
                for i, line in enumerate(lines):
                    middle = y + h / 2 + (i - (len(lines) - 1) / 2) * height
                    self.draw_text(line, (anchor_x, middle), small_style, align=align, width_max=w)
                return
            if len(lines) == 1:
                break
        self.draw_text(text, (anchor_x, y + h / 2), style, align=align, width_max=w)

    def draw_paragraph(
        self, text: str, rect: Rect, style: TextStyle, *, align: TextAlignment = "left", leading: float = 1.3
    ) -> float:
        """Draw a text from the top of a rectangle, wrapped to its width. Return the height used, in layout units.

        ``leading`` is the distance from line to line, as a multiple of the text size.
        """
        line_height = self.theme.size_by_name[style.size_name] * leading
        x = {"left": rect[0], "centre": rect[0] + rect[2] / 2, "right": rect[0] + rect[2]}[align]
        y = rect[1] + line_height / 2
        wrap = self.wrap_evenly if align == "centre" else self.wrap_text
        for line in wrap(text, rect[2], style):
            self.draw_text(line, (x, y), style, align=align)
            y += line_height
        return y - line_height / 2 - rect[1]

    def wrap_text(self, text: str, width: float, style: TextStyle) -> list[str]:
        """Return a text as lines of at most ``width`` layout units. No line ends at a no-break space.

        A word that is wider has a separate line. If a line begins or ends with the sign that separates facts, the sign
        is removed.
        """
        lines: list[str] = []
        for block in text.split("\n"):
            line = ""
            for word in block.split(" "):
                longer_line = f"{line} {word}" if line else word
                if line and self.measure_text(longer_line, style) > width:
                    lines.append(line)
                    line = word
                else:
                    line = longer_line
            lines.append(line)
        return [line.strip(FACT_SEPARATOR) or line for line in lines]

    def wrap_evenly(self, text: str, width: float, style: TextStyle) -> list[str]:
        """Return the text wrapped as by :meth:`wrap_text`, but in lines of similar length."""
        cache_key = (style.font_face, style.size_name, width, text)
        lines = self._wrapped_texts.get(cache_key)
        if lines is None:
            if len(self._wrapped_texts) >= _CACHED_WRAPPED_TEXTS_MAX:
                self._wrapped_texts.clear()
            lines = self._wrapped_texts[cache_key] = self._wrap_evenly(text, width, style)
        return list(lines)

    def _wrap_evenly(self, text: str, width: float, style: TextStyle) -> list[str]:
        """Return the text as lines of about equal width.

        There are as few lines as a wrap to ``width`` layout units needs.
        """
        lines = self.wrap_text(text, width, style)
        width_low, width_high = width / 2, width
        while len(lines) > 1 and width_high - width_low > 8:
            width_middle = (width_low + width_high) / 2
            narrower_lines = self.wrap_text(text, width_middle, style)
            if len(narrower_lines) == len(lines) and all(
                self.measure_text(line, style) <= width_middle for line in narrower_lines
            ):
                width_high, lines = width_middle, narrower_lines
            else:
                width_low = width_middle
        return lines

    # ------------------------------------------------------------------ pictures
    def draw_surface(self, surface: pygame.Surface, top_left: tuple[int, int], alpha: float = 1.0) -> None:
        """Draw a premultiplied surface at a position in pixels, with its opacity multiplied by ``alpha`` (0 to 1)."""
        if alpha >= 0.996:
            self.surface.blit(surface, top_left, special_flags=PREMULTIPLIED_BLEND_MODE)
        elif alpha > 0.004:
            alpha_byte = round(alpha * 255)
            faded_surface = surface.copy()
            faded_surface.fill(
                (alpha_byte, alpha_byte, alpha_byte, alpha_byte), special_flags=pygame.BLEND_RGBA_MULT
            )
            self.surface.blit(faded_surface, top_left, special_flags=PREMULTIPLIED_BLEND_MODE)

    def draw_cached_picture(
        self,
        cache_key: Hashable,
        rect: Rect,
        render_picture: Callable[[tuple[int, int]], pygame.Surface],
        *,
        alpha: float = 1.0,
    ) -> None:
        """Draw a picture in a rectangle, cached under ``cache_key``.

        If it is not cached yet, ``render_picture`` draws it; its argument is the size in pixels.
        """
        box = self.scale_rect(rect)
        if box.width > 0 and box.height > 0:
            self.draw_surface(
                self.find_or_create_surface(("art", cache_key, box.size), lambda: render_picture(box.size)),
                box.topleft,
                alpha,
            )

    def draw_small_pictures(
        self,
        keys_and_positions: Iterable[tuple[Hashable, tuple[int, int]]],
        side: float,
        render_picture: Callable[[Hashable, tuple[int, int]], pygame.Surface],
    ) -> None:
        """Draw many small square pictures of ``side`` layout units.

        ``keys_and_positions`` has the cache key of each picture, and its left and top in pixels. If a picture is not
        cached yet, ``render_picture`` draws it, from its key and its size in pixels.
        """
        size = (self.scale_length(side), self.scale_length(side))
        surface_by_key: dict[Hashable, pygame.Surface] = {}
        surfaces_and_positions: list[tuple[pygame.Surface, tuple[int, int]]] = []
        for cache_key, top_left in keys_and_positions:
            surface = surface_by_key.get(cache_key)
            if surface is None:
                surface = surface_by_key[cache_key] = self.find_or_create_surface(
                    ("art", cache_key, size), partial(render_picture, cache_key, size)
                )
            surfaces_and_positions.append((surface, top_left))
        self.surface.fblits(surfaces_and_positions, PREMULTIPLIED_BLEND_MODE)

    def fill_rounded_rect(self, rect: Rect, paint: Paint | str, radius: float = 0) -> None:
        """Fill a rectangle that has rounded corners with a paint, which may be partly transparent."""
        box = self.scale_rect(rect)
        resolved_paint = self.resolve_paint(paint)

        def render_shade() -> pygame.Surface:
            surface = pygame.Surface(box.size, pygame.SRCALPHA)
            oversampling_factor = 3
            big_surface = (
                pygame.Surface(
                    (box.width * oversampling_factor, box.height * oversampling_factor), pygame.SRCALPHA
                )
                if radius
                else surface
            )
            if radius:
                pygame.draw.rect(
                    big_surface,
                    (255, 255, 255, 255),
                    big_surface.get_rect(),
                    border_radius=self.scale_length(radius) * oversampling_factor,
                )
                surface = pygame.transform.smoothscale(big_surface, box.size)
            else:
                surface.fill((255, 255, 255, 255))
            surface.blit(
                create_painted_surface(box.size, resolved_paint), (0, 0), special_flags=pygame.BLEND_RGBA_MULT
            )
            return surface

        if box.width > 0 and box.height > 0:
            self.draw_surface(
                self.find_or_create_surface(("shade", box.size, resolved_paint, radius), render_shade),
                box.topleft,
            )

    def draw_panel(
        self,
        rect: Rect,
        *,
        radius: float = 18,
        fill: Paint | str = "panel",
        edge_paint: Paint | str = "panel_edge",
        edge_width: float = 2,
    ) -> None:
        """Draw a panel filled with ``fill``, with rounded corners and an edge of ``edge_width`` layout units."""
        self.fill_rounded_rect(rect, edge_paint, radius)
        self.fill_rounded_rect(
            (rect[0] + edge_width, rect[1] + edge_width, rect[2] - 2 * edge_width, rect[3] - 2 * edge_width),
            fill,
            max(0, radius - edge_width),
        )


def build_gold_gradient(theme: Theme) -> LinearGradient:
    """Return the theme's gold gradient, for titles and rims."""
    return LinearGradient(
        (
            (0.0, theme.get_colour("gold_light")),
            (0.45, theme.get_colour("gold")),
            (0.58, theme.get_colour("gold_deep")),
            (0.72, theme.get_colour("gold")),
            (1.0, theme.get_colour("gold_light")),
        )
    )
