"""Keys to actions. The button deck of a cabinet, a keyboard and a browser's keyboard mean the same things."""

from collections.abc import Mapping
from typing import Final

import pygame

from egm.screen.view import Action

#: Name of a key, as browsers call it, and the action it means.
BY_NAME: Final[Mapping[str, str]] = {
    "Space": "play",
    "Enter": "play",
    "NumpadEnter": "play",
    "KeyC": "cash_out",
    "ArrowDown": "bet_less",
    "ArrowUp": "bet_more",
    "KeyM": "bet_max",
    "KeyL": "language",
    "KeyH": "help",
    "KeyS": "service",
    "KeyV": "volume",
    "ArrowLeft": "back",
    "ArrowRight": "next",
    "Escape": "close",
    "F2": "drawer",
}
_BY_CODE: Final[Mapping[int, str]] = {
    pygame.K_SPACE: "Space",
    pygame.K_RETURN: "Enter",
    pygame.K_KP_ENTER: "NumpadEnter",
    pygame.K_c: "KeyC",
    pygame.K_DOWN: "ArrowDown",
    pygame.K_UP: "ArrowUp",
    pygame.K_m: "KeyM",
    pygame.K_l: "KeyL",
    pygame.K_h: "KeyH",
    pygame.K_s: "KeyS",
    pygame.K_v: "KeyV",
    pygame.K_LEFT: "ArrowLeft",
    pygame.K_RIGHT: "ArrowRight",
    pygame.K_ESCAPE: "Escape",
    pygame.K_F2: "F2",
}


def by_name(name: str) -> Action | None:
    """The action of a key by its browser name."""
    return Action(BY_NAME[name]) if name in BY_NAME else None


def by_code(code: int) -> Action | None:
    """The action of a key by SDL's code."""
    return by_name(_BY_CODE.get(code, ""))
