"""Input on service pages: the text typed on a page, and the answers sent from it to the machine."""

import string
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from egm.kernel.messages import Intent
from egm.kernel.service_pages import Prompt, ServicePage
from egm.kernel.touch import CALIBRATION_CROSSES, TouchPoint

#: The first rows of the on-screen keyboard; the second of each pair applies with the shift key.
LETTER_ROWS: Final = (
    ("1234567890", "!?#%&()+=:"),
    ("qwertyuiop", "QWERTYUIOP"),
    ("asdfghjkl-", "ASDFGHJKL_"),
)
#: The last row of unaccented letters, without and with the shift key.
LAST_LETTER_ROW: Final = ("zxcvbnm.,'", 'ZXCVBNM@/"')
#: The row of accented letters, without and with the shift key.
ACCENT_ROW: Final = ("éèêàâçîôûù", "ÉÈÊÀÂÇÎÔÛÙ")
#: Rows of the keyboard for a serial number, which has no shift key.
SERIAL_NUMBER_ROWS: Final = ("1234567890", "QWERTYUIOP", "ASDFGHJKL-", "ZXCVBNM")
#: The kinds of prompt that need a keyboard.
KEYBOARD_PROMPT_KINDS: Final = frozenset({"text", "serial", "search"})
#: The keys of the numeric keypad, before the zero.
KEYPAD_DIGITS: Final = "123456789"
#: The permitted characters of each kind of prompt. Other kinds take every character, except ``choice``, which takes
#: none.
_PERMITTED_CHARACTERS_BY_PROMPT_KIND: Final = {
    "pin": string.digits,
    "digits": string.digits,
    "amount": string.digits,
    "serial": "".join(SERIAL_NUMBER_ROWS),
}


@dataclass(frozen=True, slots=True)
class ServicePageInput:
    """Input on the open service page that has not been sent yet."""

    page_id: str = ""
    """The id of the service page that the input is for."""
    typed_text: str = ""
    """The text typed so far."""
    is_shift_on: bool = False
    """Whether the shift key applies to the next letter."""
    sheet_indices: tuple[int, ...] = (0,)
    """Tables that do not fit on a page are divided into sheets. This is the index of the sheet shown on each page, from
    the first menu page to the open service page."""
    touched_targets: frozenset[int] = field(default_factory=frozenset)
    """In a touch test: the indices of the targets touched so far."""
    calibration_touches: tuple[TouchPoint, ...] = ()
    """In a touch calibration: the points touched so far."""
    last_tone: str = ""
    """The last tone started in the speaker test; it may have ended."""
    tone_played_at: float = -10.0
    """When ``last_tone`` was started, in monotonic seconds."""

    @property
    def sheet_index(self) -> int:
        """Return the index of the sheet of tables shown on the open page."""
        return self.sheet_indices[-1]


def update_input_for_page(page_input: ServicePageInput, page: ServicePage | None) -> ServicePageInput:
    """Return the input for the open service page.

    It is ``page_input`` if the same page is still open; otherwise it is new, with the prompt's initial text.
    """
    if page is None:
        return ServicePageInput()
    if page.id == page_input.page_id:
        return page_input
    sheet_indices_above = page_input.sheet_indices[: max(1, page.depth)]
    sheet_indices = (*sheet_indices_above, *(0 for _ in range(max(1, page.depth) - len(sheet_indices_above))))
    return ServicePageInput(
        page.id, page.prompt.value if page.prompt is not None else "", sheet_indices=sheet_indices
    )


def append_character(
    page_input: ServicePageInput, page: ServicePage, typed_character: str
) -> ServicePageInput:
    """Append one character to the text typed on the page.

    Return the input unchanged if the page's prompt does not accept the character or the text is full. The shift key
    applies to one character only; leading zeros of an amount are removed; a search shows its first sheet again.
    """
    prompt = page.prompt
    if prompt is None or prompt.kind == "choice" or len(page_input.typed_text) >= prompt.length_max:
        return page_input
    typed_character = typed_character.upper() if prompt.kind == "serial" else typed_character
    if (
        prompt.kind in _PERMITTED_CHARACTERS_BY_PROMPT_KIND
        and typed_character not in _PERMITTED_CHARACTERS_BY_PROMPT_KIND[prompt.kind]
    ):
        return page_input
    text = page_input.typed_text + typed_character
    searched_input = (
        replace(page_input, sheet_indices=(*page_input.sheet_indices[:-1], 0))
        if prompt.kind == "search"
        else page_input
    )
    return replace(
        searched_input, typed_text=text.lstrip("0") if prompt.kind == "amount" else text, is_shift_on=False
    )


def apply_page_action(
    page_input: ServicePageInput, page: ServicePage, action_name: str, action_value: Any, now: float = 0.0
) -> tuple[ServicePageInput, tuple[Intent, ...]]:
    """Apply a touch or a key to a service page.

    Return the new input, and the requests to the machine that answer the page. ``now`` is in monotonic seconds.
    """
    if action_name == "enter" and page.prompt is not None and page.prompt.kind == "search":
        return page_input, ()
    if action_name == "enter" and page.prompt is not None:
        remaining_text = "" if page.prompt.kind == "pin" else page_input.typed_text
        answer = str(action_value) if action_value is not None else page_input.typed_text
        return replace(page_input, typed_text=remaining_text), _build_answer_intents(page, "enter", answer)
    if action_name == "calibration_touch":
        touches = (*page_input.calibration_touches, action_value)
        if len(touches) < len(CALIBRATION_CROSSES):
            return replace(page_input, calibration_touches=touches), ()
        answer = " ".join(str(coordinate) for touch in touches for coordinate in touch)
        return replace(page_input, calibration_touches=()), _build_answer_intents(page, "crosses", answer)
    if action_name == "answer":
        sends_text = page.prompt is not None and page.prompt.kind != "search"
        return page_input, _build_answer_intents(
            page, str(action_value), page_input.typed_text if sends_text else None
        )
    change_by_action_name: dict[str, Callable[[], ServicePageInput]] = {
        "type": lambda: append_character(page_input, page, str(action_value)),
        "erase": lambda: replace(page_input, typed_text=page_input.typed_text[:-1]),
        "clear": lambda: replace(page_input, typed_text=""),
        "shift": lambda: replace(page_input, is_shift_on=not page_input.is_shift_on),
        "turn_sheet": lambda: replace(
            page_input,
            sheet_indices=(*page_input.sheet_indices[:-1], page_input.sheet_index + int(action_value)),
        ),
        "tone": lambda: replace(page_input, last_tone=str(action_value), tone_played_at=now),
        "target": lambda: replace(
            page_input, touched_targets=page_input.touched_targets ^ {int(action_value)}
        ),
    }
    return change_by_action_name.get(action_name, lambda: page_input)(), ()


def _build_answer_intents(page: ServicePage, action: str, text: str | None) -> tuple[Intent, ...]:
    """Return the one intent that answers a service page: the chosen action and the typed ``text``, if there is one."""
    options = {"page": page.id} if text is None else {"page": page.id, "input": text}
    return (Intent(name="answer", value=action, options=options),)


def format_shown_input(prompt: Prompt, page_input: ServicePageInput) -> str:
    """Return the typed text as the prompt's field shows it: a PIN is shown as dots."""
    return "\u2022" * len(page_input.typed_text) if prompt.kind == "pin" else page_input.typed_text
