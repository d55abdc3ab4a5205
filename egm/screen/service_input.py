"""Service input: what is typed on a service page, and the answers it makes."""

import string
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from egm.kernel.messages import Intent
from egm.kernel.service_pages import Prompt, ServicePage
from egm.kernel.touch import CROSSES, Place

#: Rows of the keyboard on the screen; the second of each pair is with the shift key.
LETTERS: Final = (("1234567890", "!?#%&()+=:"), ("qwertyuiop", "QWERTYUIOP"), ("asdfghjkl-", "ASDFGHJKL_"))
LETTERS_LAST: Final = ("zxcvbnm.,'", 'ZXCVBNM@/"')
ACCENTS: Final = ("éèêàâçîôûù", "ÉÈÊÀÂÇÎÔÛÙ")
#: The same of a serial number; there is no shift.
CAPITALS: Final = ("1234567890", "QWERTYUIOP", "ASDFGHJKL-", "ZXCVBNM")
#: The kinds of prompt that a keyboard types into.
WRITTEN: Final = frozenset({"text", "serial", "find"})
DIGITS: Final = "123456789"
#: All that can be typed into a prompt of each kind; what is not here takes every character.
_TYPED: Final = {
    "pin": string.digits,
    "digits": string.digits,
    "amount": string.digits,
    "serial": "".join(CAPITALS),
}


@dataclass(frozen=True, slots=True)
class Desk:
    """What an attendant is doing on the page that is open."""

    page_id: str = ""
    typed: str = ""
    shifted: bool = False
    sheets: tuple[int, ...] = (0,)
    """Which part of tables longer than the page is shown, of each page on the way to the one that is open."""
    since: float = 0.0
    touched: frozenset[int] = field(default_factory=frozenset)
    """Targets of a touch test that were touched."""
    felt: tuple[Place, ...] = ()
    """Where the touches of a calibration were felt so far."""
    tone: str = ""
    """What the test of the speakers sounded last, and when."""
    toned_at: float = -10.0

    @property
    def sheet(self) -> int:
        """Which part is shown of the page that is open."""
        return self.sheets[-1]


def at_page(desk: Desk, page: ServicePage | None, now: float) -> Desk:
    """The desk when this page is open: fresh for another page, as it was for the same one."""
    if page is None:
        return Desk()
    if page.id == desk.page_id:
        return desk
    kept = desk.sheets[: max(1, page.depth)]
    sheets = (*kept, *(0 for _ in range(max(1, page.depth) - len(kept))))
    return Desk(page.id, page.prompt.value if page.prompt is not None else "", sheets=sheets, since=now)


def typed(desk: Desk, page: ServicePage, char: str) -> Desk:
    """One more character, where the prompt takes it and has room."""
    prompt = page.prompt
    if prompt is None or prompt.kind == "choice" or len(desk.typed) >= prompt.length_max:
        return desk
    char = char.upper() if prompt.kind == "serial" else char
    if prompt.kind in _TYPED and char not in _TYPED[prompt.kind]:
        return desk
    whole = desk.typed + char
    found = replace(desk, sheets=(*desk.sheets[:-1], 0)) if prompt.kind == "find" else desk
    return replace(found, typed=whole.lstrip("0") if prompt.kind == "amount" else whole, shifted=False)


def worked(
    desk: Desk, page: ServicePage, name: str, value: Any, now: float = 0.0
) -> tuple[Desk, tuple[Intent, ...]]:
    """What a touch or a key does on a page at a moment, and the answer it makes."""
    if name == "enter" and page.prompt is not None and page.prompt.kind == "find":
        return desk, ()
    if name == "enter" and page.prompt is not None:
        kept = "" if page.prompt.kind == "pin" else desk.typed
        said = str(value) if value is not None else desk.typed
        return replace(desk, typed=kept), _answer(page, "enter", said)
    if name == "felt":
        felt = (*desk.felt, value)
        if len(felt) < len(CROSSES):
            return replace(desk, felt=felt), ()
        said = " ".join(str(number) for place in felt for number in place)
        return replace(desk, felt=()), _answer(page, "crosses", said)
    if name == "answer":
        asks = page.prompt is not None and page.prompt.kind != "find"
        return desk, _answer(page, str(value), desk.typed if asks else None)
    changes: dict[str, Callable[[], Desk]] = {
        "type": lambda: typed(desk, page, str(value)),
        "erase": lambda: replace(desk, typed=desk.typed[:-1]),
        "clear": lambda: replace(desk, typed=""),
        "shift": lambda: replace(desk, shifted=not desk.shifted),
        "rows": lambda: replace(desk, sheets=(*desk.sheets[:-1], desk.sheet + int(value))),
        "tone": lambda: replace(desk, tone=str(value), toned_at=now),
        "target": lambda: replace(desk, touched=desk.touched ^ {int(value)}),
    }
    return changes.get(name, lambda: desk)(), ()


def _answer(page: ServicePage, action: str, said: str | None) -> tuple[Intent, ...]:
    options = {"page": page.id} if said is None else {"page": page.id, "input": said}
    return (Intent(name="answer", value=action, options=options),)


def shown_input(prompt: Prompt, desk: Desk) -> str:
    """What stands in the prompt's field: a PIN as dots."""
    return "\u2022" * len(desk.typed) if prompt.kind == "pin" else desk.typed
