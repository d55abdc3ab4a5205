"""Staff numbers that wrong PINs have locked, let in again before their time (J-16)."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final

from egm.cabinet.cabinet import Cabinet, Key, Occurrence


def _locked(cabinet: Cabinet) -> list[str]:
    """The numbers of the staff that nobody may sign in with now."""
    now, locked = cabinet.clock.now(), []
    for key, kept in cabinet.journal.states(Key.TRIES).items():
        tries: Any = kept
        number = key.removeprefix(Key.TRIES)
        if number in cabinet.staff.people and tries["until"] is not None:
            locked += [number] if now < datetime.fromisoformat(tries["until"]) else []
    return locked


def number_is_locked(cabinet: Cabinet, occurrence: Occurrence) -> bool:
    """The number named is locked; where none is named yet, any is."""
    locked = _locked(cabinet)
    return occurrence.values.get("number", next(iter(locked), None)) in locked


def unlock_number(cabinet: Cabinet, occurrence: Occurrence) -> None:
    """Forget the wrong PINs of a number; the PIN itself stays as it is."""
    number = str(occurrence.values["number"])
    cabinet.record(
        "sign_in.unlocked",
        state={f"{Key.TRIES}{number}": None},
        story={
            "person": cabinet.who(occurrence),
            "persons": list(occurrence.values["persons"]),
            "whom": number,
            "reason": occurrence.values["reason"],
        },
    )


GUARDS: Final[Sequence[Callable[[Cabinet, Occurrence], bool]]] = (number_is_locked,)
EFFECTS: Final[Sequence[Callable[[Cabinet, Occurrence], None]]] = (unlock_number,)
