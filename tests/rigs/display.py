"""The display that surfaces take their pixel format from: SDL's dummy one, without a window."""

import pygame


def open_display() -> None:
    """Open the display if there is none: a test that closes a window leaves none to the tests after it."""
    if pygame.display.get_surface() is None:
        pygame.display.init()
        pygame.font.init()
        pygame.display.set_mode((8, 8))
