"""Painters for tests of texts: one draws texts but no art, the other only records the texts."""

import pygame

from egm.screen.painter import Painter


class TextPainter(Painter):
    """A painter that draws each text, but one clear pixel for each piece of art; it caches little."""

    cache_bytes_max = 24 * 1024 * 1024

    def find_or_create_surface(self, key, make):
        """The text drawn for ``key``, or the one pixel of all art."""
        if key[0] == "words":
            return super().find_or_create_surface(key, make)
        return super().find_or_create_surface(("blank",), lambda: pygame.Surface((1, 1)))

    def draw_cached_rect(self, name, key, rect, draw):
        """Draw what lies in a rectangle in every picture: its words are read in every one."""
        draw()


class WordPainter(TextPainter):
    """A painter that notes every text in ``words``, and draws a clear line of each text's width instead of it."""

    def __init__(self, theme, scale=1.0):
        super().__init__(theme, scale)
        self.words = []

    def draw_text(self, text, at, style, *, align="centre", width_max=None, alpha=1.0):
        """Note a text. Return its box, which has its width and no height."""
        self.words.append(text)
        return super().draw_text(text, at, style, align=align, width_max=width_max, alpha=alpha)

    def render_text(self, text, style, width=None):
        """Return a clear line as wide as the text."""
        pixels = self._fit_font_pixels(text, style, width)
        return pygame.Surface((self._measure_line(style.font_face, pixels, text), 1), pygame.SRCALPHA)
