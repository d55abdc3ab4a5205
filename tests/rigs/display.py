"""SDL's dummy display without a window, from which surfaces take their pixel format."""

import pygame


def open_display() -> None:
    """Open the display if none is open, for example because an earlier test closed its window."""
    if pygame.display.get_surface() is None:
        pygame.display.init()
        pygame.font.init()
        pygame.display.set_mode((8, 8))
