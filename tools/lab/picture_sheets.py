"""Picture sheets for game designers: every drawn symbol with its name, and a game's idle screen."""

import os
from datetime import UTC
from pathlib import Path
from typing import Final

import pygame

from egm.screen.art.symbols import DRAWING_FILE_BY_NAME, render_symbol_art
from egm.screen.picture import Picture
from egm.screen.theme import Theme, load_theme
from paytables import Game
from tools.lab.views import build_game_view, build_idle_view

#: Width and height of a symbol's cell, in pixels.
_CELL_PIXELS: Final = 128
#: Symbols in one row.
_SYMBOLS_PER_ROW: Final = 10
#: Height of a symbol's name, in pixels.
_NAME_HEIGHT_PIXELS: Final = 26
#: The colour of the background.
_BACKGROUND_COLOUR: Final = (24, 20, 44)


def _start_pygame_and_load_theme() -> Theme:
    """Start pygame for drawing without a window, and return the screen's theme."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    pygame.display.init()
    pygame.font.init()
    pygame.display.set_mode((8, 8))
    return load_theme()


def draw_symbol_sheet(path: Path) -> int:
    """Draw every symbol with its name into a PNG file; return the number of symbols."""
    theme = _start_pygame_and_load_theme()
    row_count = -(-len(DRAWING_FILE_BY_NAME) // _SYMBOLS_PER_ROW)
    sheet = pygame.Surface(
        (_SYMBOLS_PER_ROW * _CELL_PIXELS, row_count * (_CELL_PIXELS + _NAME_HEIGHT_PIXELS))
    )
    sheet.fill(_BACKGROUND_COLOUR)
    font = pygame.font.Font(str(theme.font_path_by_role["strong"]), 17)
    for number, name in enumerate(sorted(DRAWING_FILE_BY_NAME)):
        x = number % _SYMBOLS_PER_ROW * _CELL_PIXELS
        y = number // _SYMBOLS_PER_ROW * (_CELL_PIXELS + _NAME_HEIGHT_PIXELS)
        picture = render_symbol_art(name, name, (_CELL_PIXELS - 16, _CELL_PIXELS - 16))
        sheet.blit(picture, (x + 8, y + 8), special_flags=pygame.BLEND_PREMULTIPLIED)
        label = font.render(name, True, (240, 236, 255))
        sheet.blit(label, (x + (_CELL_PIXELS - label.get_width()) // 2, y + _CELL_PIXELS))
    pygame.image.save(sheet, path)
    return len(DRAWING_FILE_BY_NAME)


def draw_idle_game(game: Game, path: Path, scale: float) -> tuple[int, int]:
    """Draw the idle screen of a game into a PNG file; return its size in pixels."""
    theme = _start_pygame_and_load_theme()
    game_view = build_game_view(game)
    picture = Picture(theme, scale=scale, timezone=UTC)
    surface = pygame.Surface(picture.size_pixels).convert()
    picture.draw_view(surface, build_idle_view((game_view,), game_view, "en"))
    pygame.image.save(surface, path)
    return picture.size_pixels
