"""Proving who one is at the machine: a staff number, then its PIN.

A wrong PIN is recorded with the number it was tried for; after as many as the profile allows the number is
locked for a while, also over a restart. Whether a number exists is told by nothing: an unknown one takes as
long, counts as wrong and locks like any other.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from egm.cabinet.cabinet import Cabinet, Key
from egm.cabinet.service.desk import Leave, Move, Stay, refuse
from egm.cabinet.service.words import BACK, say
from egm.errors import OperatorError
from egm.link.pages import Prompt, ServicePage, Words
from egm.people import Permission, Person, Roster

_UNKNOWN: Final = "unknown"


@dataclass(slots=True)
class SignIn:
    """The place where somebody proves who he is; ``then`` says where that leads.

    ``permission``: what the person must be allowed, None for anything. ``not_id``: who it may not be, where a
    second person is asked.
    """

    then: Callable[[Cabinet, Person], Move]
    title: Words
    permission: Permission | None = None
    not_id: str = ""
    number: str = ""

    def page(self, cabinet: Cabinet) -> ServicePage:  # noqa: ARG002 (a place)
        """First the number, then the PIN."""
        if not self.number:
            prompt = Prompt(label=say("service.staff_number"), kind="digits", length_max=8)
        else:
            prompt = Prompt(label=say("service.pin", number=self.number), kind="pin", length_max=12)
        return ServicePage(id="", title=self.title, prompt=prompt, actions=(BACK,))

    def answer(self, cabinet: Cabinet, action: str, text: str) -> Move:
        """Take number and PIN in turn; a wrong one begins again."""
        if action != "enter":
            return Leave()
        if self.number:
            number, self.number = self.number, ""
            return self._with_pin(cabinet, number, text)
        if not (text.isascii() and text.isdigit() and len(text) <= 8):
            return refuse("not_digits")
        self.number = text
        return Stay()

    def _with_pin(self, cabinet: Cabinet, number: str, pin: str) -> Move:
        try:
            read_staff(cabinet)
        except OperatorError as error:
            cabinet.log("staff.unreadable", {"why": str(error)})
            return refuse("staff_unreadable")
        found = _prove(cabinet, number, pin)
        if isinstance(found, str):
            return refuse(found)
        if found.id == self.not_id:
            return refuse("same_person")
        if self.permission is not None and not found.may(self.permission):
            cabinet.log("sign_in.not_permitted", {"person": found.id, "permission": self.permission.value})
            return refuse("not_permitted")
        return self.then(cabinet, found)


def read_staff(cabinet: Cabinet) -> None:
    """Read the roster anew, and record what has changed in it since it was last read.

    Raises RosterError where it cannot be read: then nobody signs in.
    """
    if cabinet.staff.path is not None:
        cabinet.staff = Roster.load(cabinet.staff.path)
    for change in cabinet.staff.since(int(cabinet.recall(Key.STAFF) or 0)):
        cabinet.record(
            f"staff.{change.what}",
            transaction_id=f"staff-{change.number}",
            state={Key.STAFF: change.number},
            story={
                "person": change.by,
                "whom": change.person,
                "role": change.role,
                "at": change.at,
                "number": change.number,
            },
        )


def _prove(cabinet: Cabinet, number: str, pin: str) -> Person | str:
    """The person, or the code of why not; either way the tries are recorded."""
    key = f"{Key.TRIES}{number if number in cabinet.staff.people else _UNKNOWN}"
    kept: dict[str, Any] = cabinet.journal.state(key) or {"wrong": 0, "until": None}  # type: ignore[assignment]
    now = cabinet.clock.now()
    if kept["until"] is not None and now < datetime.fromisoformat(kept["until"]):
        cabinet.log("sign_in.refused", {"person": number, "why": "locked"})
        return "locked"
    person = cabinet.staff.proves(number, pin)
    if person is not None:
        if kept["wrong"]:
            cabinet.record("sign_in.tries_forgotten", state={key: None}, story={"person": number})
        return person
    rules = cabinet.profile.staff
    wrong = (0 if kept["until"] is not None else int(kept["wrong"])) + 1
    locked = wrong >= rules.wrong_tries
    until = (now + timedelta(minutes=rules.locked_minutes)).isoformat() if locked else None
    cabinet.record(
        "sign_in.locked" if locked else "sign_in.refused",
        counts={"sign_in_refused": 1},
        state={key: {"wrong": wrong, "until": until}},
        story={"person": number, "why": "wrong", "tries": wrong, "until": until},
    )
    return "locked" if locked else "wrong_pin"
