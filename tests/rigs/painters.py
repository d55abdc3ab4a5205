"""A painter for tests that read words and places: it draws text as it will be seen, and no art."""

import pygame

from egm.screen.painter import Painter


class TextPainter(Painter):
    """Draws each text whole, and one clear pixel for each piece of art; keeps little of what it has drawn."""

    cache_bytes_max = 24 * 1024 * 1024

    def find_or_create(self, key, make):
        """The text drawn for ``key``, or the one pixel of all art."""
        if key[0] == "words":
            return super().find_or_create(key, make)
        return super().find_or_create(("blank",), lambda: pygame.Surface((1, 1)))
