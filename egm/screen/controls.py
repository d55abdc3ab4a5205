"""Actions of the keys. A keyboard at the cabinet's display and a browser's keyboard use the same table."""

from collections.abc import Mapping
from typing import Final

import pygame

from egm.screen.view import Action

#: The action of each key, by the name that browsers report for it (KeyboardEvent.code).
ACTION_BY_KEY_NAME: Final[Mapping[str, str]] = {
    "Space": "play",
    "Enter": "play",
    "NumpadEnter": "play",
    "KeyC": "cash_out",
    "ArrowDown": "down",
    "ArrowUp": "up",
    "KeyM": "bet_max",
    "KeyL": "language",
    "KeyH": "help",
    "KeyS": "service",  # calls the attendant, or cancels the call
    "KeyV": "volume",
    "KeyR": "residual",
    "ArrowLeft": "back",
    "ArrowRight": "next",
    "Escape": "close",
    "F2": "drawer",
    "F10": "menu",  # the operator's key, which opens and leaves the service menu
    "Backspace": "erase",
}
#: Keys that type a digit while a service page asks for input.
DIGIT_BY_KEY_NAME: Final[Mapping[str, str]] = {
    f"{row}{digit}": str(digit) for row in ("Digit", "Numpad") for digit in range(10)
}
#: The browser's name for each SDL key code.
_KEY_NAME_BY_SDL_CODE: Final[Mapping[int, str]] = {
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
    pygame.K_r: "KeyR",
    pygame.K_LEFT: "ArrowLeft",
    pygame.K_RIGHT: "ArrowRight",
    pygame.K_ESCAPE: "Escape",
    pygame.K_F2: "F2",
    pygame.K_F10: "F10",
    pygame.K_BACKSPACE: "Backspace",
    **{getattr(pygame, f"K_{digit}"): f"Digit{digit}" for digit in range(10)},
    **{getattr(pygame, f"K_KP{digit}"): f"Numpad{digit}" for digit in range(10)},
}


def find_action_by_key_name(key_name: str, typed_character: str = "") -> Action | None:
    """Return the action of a key, or None.

    ``key_name`` is the key's name in a browser (KeyboardEvent.code). ``typed_character`` is the text that it types,
    which is ignored unless it is one printable character.
    """
    typed_character = typed_character if len(typed_character) == 1 and typed_character.isprintable() else ""
    if key_name in DIGIT_BY_KEY_NAME:
        return Action("type", DIGIT_BY_KEY_NAME[key_name], typed_character)
    return (
        Action(ACTION_BY_KEY_NAME.get(key_name, ""), typed_character=typed_character)
        if key_name in ACTION_BY_KEY_NAME or typed_character
        else None
    )


def find_action_by_sdl_code(sdl_code: int, typed_character: str = "") -> Action | None:
    """Return the action of a key, or None. ``typed_character`` is the text that it types."""
    return find_action_by_key_name(_KEY_NAME_BY_SDL_CODE.get(sdl_code, ""), typed_character)
