"""A game that is a wheel: the wheel at rest, and what its areas pay on the glasses and in the help."""

from functools import partial
from typing import Any

import pygame

from egm.screen.art.symbols import draw_symbol
from egm.screen.painter import Rect, Style
from egm.screen.scenes.bonus import draw_wheel
from egm.screen.scenes.stage import Stage, caption
from egm.screen.steps import Item, WheelStep
from egm.screen.view import last_step


def is_wheel(stage: Stage) -> bool:
    """Whether the game on the screen is a wheel by itself (a wheel may also be a feature of a reel game)."""
    game = stage.view.game
    return game is not None and game.presentation.get("kind") == "wheel"


def wheel_at_rest(stage: Stage) -> None:
    """The wheel as the last game left it; before any, with what each part pays for one credit staked."""
    step = last_step(stage.view)
    if not isinstance(step, WheelStep):
        worth: dict[str, int] = {}
        for area in _areas(stage):
            for symbol, pay in area["pays"].items():
                worth.setdefault(symbol, int(pay))
        data = stage.view.game.presentation if stage.view.game else {}
        parts = tuple(Item(str(name), worth.get(str(name), 0)) for name in data.get("parts", ()))
        step = WheelStep("wheel", parts, 0, 0)
    draw_wheel(stage, step, None, 0.0)


def wheel_glasses(stage: Stage) -> None:
    """What each area pays for one credit staked, and the bets one touch lays."""
    x, y, w, h = stage.layout.left
    caption(stage, stage.texts.say("wheel.prizes"), (x + 10, y + 12, w - 20, 40))
    wheel_prizes(stage, (x + 26, y + 66, w - 52, h - 130))
    x, y, w, _ = stage.layout.right
    caption(stage, stage.texts.say("wheel.bets"), (x + 10, y + 12, w - 20, 40))
    top, game = y + 70, stage.view.game
    for form in game.presentation.get("forms", []) if game else ():
        words, style = stage.texts.local(form["name"]), Style("strong", "small", "text")
        top += stage.painter.paragraph(words, (x + 26, top, w - 52, 90), style, leading=1.2) + 12


def wheel_prizes(stage: Stage, rect: Rect) -> None:
    """Each area with its prizes, for one credit staked (Québec s. 120)."""
    x, y, w, h = rect
    rows = [(area, int(pay)) for area in _areas(stage) for pay in area["pays"].values()]
    step = min(64.0, h / max(1, len(rows)))
    for i, (area, pay) in enumerate(rows):
        middle, side = y + (i + 0.5) * step, min(step - 6, 56.0)
        symbol = next(iter(area["pays"]))
        stage.painter.art(("symbol", symbol), (x, middle - side / 2, side, side), partial(_symbol, symbol))
        name, style = stage.texts.local(area["name"]), Style("strong", "small", "text")
        stage.painter.text(name, (x + side + 12, middle), style, align="left", width=w * 0.62 - side - 12)
        style = Style("numbers", "lead" if step > 44 else "small", "meter")
        stage.painter.text(stage.texts.number(pay), (x + w, middle), style, align="right", width=w * 0.36)


def _symbol(name: str, size: tuple[int, int]) -> pygame.Surface:
    return draw_symbol(name, name, size)


def _areas(stage: Stage) -> list[dict[str, Any]]:
    game = stage.view.game
    areas: list[dict[str, Any]] = game.presentation.get("areas", []) if game else []
    return areas
