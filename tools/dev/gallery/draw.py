"""Draw the gallery's views into PNG files."""

from collections.abc import Iterator, Sequence
from datetime import UTC
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pygame

from egm.screen.picture import Picture
from egm.screen.theme import load_theme
from egm.screen.top import TopPicture
from egm.screen.web import choose_fitting_layout
from paytables import Game
from tools.dev.gallery import find_sample_outcomes, iter_game_scenes
from tools.dev.gallery.felts import iter_felt_scenes
from tools.dev.gallery.machine import iter_machine_scenes
from tools.dev.gallery.pages import iter_real_page_scenes, list_real_pages
from tools.lab.views import build_game_view, build_idle_view

#: Window sizes: cabinet, laptop, upright cabinet, telephone.
WINDOW_SIZES: Final = ((1920, 1080), (1280, 720), (1080, 1920), (390, 844))
#: The scenes that are also drawn on the top screen.
TOP_SCREEN_SCENES: Final = frozenset(
    {"idle", "attract", "big-win-rolling", "levels-won", "handpay-jackpot", "out-of-service", "door"}
)


def draw_all(folder: Path, games: Sequence[Game], sizes: Sequence[tuple[int, int]]) -> Iterator[Path]:
    """Draw every scene in each window size (pixels) and yield each file. The clock is UTC."""
    pygame.display.init()
    pygame.font.init()
    pygame.display.set_mode((8, 8))
    theme = load_theme()
    views = tuple(build_game_view(game) for game in games)
    tables = {game.id: game for game in games if game.rules.build_presentation().get("kind") == "table"}
    outcomes_by_game = {game.id: find_sample_outcomes(game, theme) for game in games if game.id not in tables}
    with TemporaryDirectory() as state:
        pages = list_real_pages(Path(state))
    for size in sizes:
        layout, scale = choose_fitting_layout(size, portrait=False)
        picture = Picture(theme, scale=scale, layout=layout, timezone=UTC)
        top_picture = TopPicture(theme, scale=scale, layout=layout, timezone=UTC)
        surface = pygame.Surface(picture.size_pixels).convert()
        for language in ("en", "fr"):
            scenes = [("machine", name, view) for name, view in iter_machine_scenes(views, language, theme)]
            idle_view = build_idle_view(views, views[0], language, accepted_inputs=("language", "service"))
            scenes += [
                ("machine", name, view) for name, view in iter_real_page_scenes(idle_view, pages, theme)
            ]
            for game in views:
                if game.id in tables:
                    felt_scenes = iter_felt_scenes(tables[game.id], game, language, theme, layout)
                    scenes += [(game.id, name, view) for name, view in felt_scenes]
                    continue
                scenes += [
                    (game.id, name, view)
                    for name, view in iter_game_scenes(
                        views, game, outcomes_by_game[game.id], language, theme, layout
                    )
                ]
            for group, name, view in scenes:
                variant = f"{language}-{size[0]}x{size[1]}"
                picture.draw_view(surface, view)
                path = folder / f"{group}-{name}-{variant}.png"
                pygame.image.save(surface, path)
                yield path
                if name in TOP_SCREEN_SCENES:
                    top_picture.draw_view(surface, view)
                    path = folder / f"{group}-top-{name}-{variant}.png"
                    pygame.image.save(surface, path)
                    yield path
