"""The gallery's views as PNG files."""

from collections.abc import Iterator, Sequence
from datetime import UTC
from pathlib import Path
from typing import Final

import pygame

from egm.screen.layout import LANDSCAPE, PORTRAIT
from egm.screen.picture import Picture
from egm.screen.theme import load_theme
from egm.screen.top import TopPicture
from paytables import Game
from tools.gallery import game_scenes, game_view, kinds
from tools.gallery.machine import machine_scenes

#: The scenes that the top screen is shown in, too.
ABOVE: Final = frozenset(
    {"idle", "attract", "big-win-rolling", "levels-won", "handpay-jackpot", "out-of-service", "door"}
)


def draw_all(
    folder: Path, games: Sequence[Game], scale: float, orientations: Sequence[bool]
) -> Iterator[Path]:
    """Draw every scene; yields each file written. The clock of the pictures is UTC."""
    pygame.display.init()
    pygame.font.init()
    pygame.display.set_mode((8, 8))
    theme = load_theme()
    views = tuple(game_view(game) for game in games)
    found = {game.id: kinds(game, theme) for game in games}
    for upright in orientations:
        layout = PORTRAIT if upright else LANDSCAPE
        picture = Picture(theme, scale=scale, layout=layout, timezone=UTC)
        above = TopPicture(theme, scale=scale, layout=layout, timezone=UTC)
        surface = pygame.Surface(picture.pixels).convert()
        for language in ("en", "fr"):
            scenes = [("machine", name, view) for name, view in machine_scenes(views, language, theme)]
            for game in views:
                scenes += [
                    (game.id, name, view)
                    for name, view in game_scenes(views, game, found[game.id], language, theme)
                ]
            for group, name, view in scenes:
                place = f"{language}-{'portrait' if upright else 'landscape'}"
                picture.draw(surface, view)
                path = folder / f"{group}-{name}-{place}.png"
                pygame.image.save(surface, path)
                yield path
                if name in ABOVE:
                    above.draw(surface, view)
                    path = folder / f"{group}-top-{name}-{place}.png"
                    pygame.image.save(surface, path)
                    yield path
