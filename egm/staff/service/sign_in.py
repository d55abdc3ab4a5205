"""Sign-in: a staff number, then its PIN on a page of its own.

After a wrong PIN the PIN is asked for again, never the number: no field that shows what is typed comes where
somebody expects to type a PIN. BACK leads to the number. A wrong PIN is recorded with the number it was tried
for; after as many as the profile allows the number is locked for a while, also over a restart
(:mod:`egm.staff.service.tries`). Whether a number exists is told by nothing: an unknown one takes as long,
counts as wrong and locks like any other.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from egm.errors import OperatorError
from egm.kernel.machine import Machine
from egm.kernel.service_pages import Prompt, ServicePage, Words
from egm.kernel.standing_faults import raise_fault
from egm.people import Permission, Person, Recorded, Roster, RosterError, load_recorded
from egm.people.roster import RosterDamaged
from egm.records.keys import StaffKey
from egm.staff.service.desk import Go, Move, Place, refuse
from egm.staff.service.tries import prove, take_over_wrong_pins
from egm.staff.service.words import BACK, say


@dataclass(frozen=True, slots=True)
class SignIn(Place):
    """The place where somebody proves who he is; ``then`` says where that leads.

    ``permission``: what the person must be allowed, None for anything. ``not_id``: who it may not be, where a
    second person is asked.
    """

    then: Callable[[Machine, Person], Move]
    title: Words
    permission: Permission | None = None
    not_id: str = ""

    def page(self, machine: Machine) -> ServicePage:  # noqa: ARG002 (a place)
        """Ask for the number."""
        prompt = Prompt(label=say("service.staff_number"), kind="digits", length_max=8)
        return ServicePage(id="", title=self.title, prompt=prompt, actions=(BACK,))

    def answer(self, machine: Machine, action: str, text: str) -> Move:  # noqa: ARG002 (a place's)
        """Take the number, and go on to its PIN."""
        if action != "enter":
            return refuse("not_offered")
        if not (text.isascii() and text.isdigit() and len(text) <= 8):
            return refuse("not_digits")
        return Go(_Pin(self, text))


@dataclass(frozen=True, slots=True)
class _Pin(Place):
    """The page of the PIN, further in than the number's: BACK leads there."""

    asked: SignIn
    number: str

    def page(self, machine: Machine) -> ServicePage:  # noqa: ARG002 (a place)
        """Ask for the PIN of the number."""
        prompt = Prompt(label=say("service.pin", number=self.number), kind="pin", length_max=12)
        return ServicePage(id="", title=self.asked.title, prompt=prompt, actions=(BACK,))

    def answer(self, machine: Machine, action: str, text: str) -> Move:
        """Prove the person, or ask again: what was wrong is not told."""
        if action != "enter":
            return refuse("not_offered")
        try:
            read_staff(machine)
        except OperatorError:
            return refuse("staff_unreadable")
        found, permission = prove(machine, self.number, text), self.asked.permission
        if isinstance(found, str):
            return refuse(found)
        if found.id == self.asked.not_id:
            return refuse("same_person")
        if permission is not None and not found.may(permission):
            machine.log("sign_in.not_permitted", {"person": found.id, "permission": permission.value})
            return refuse("not_permitted")
        return self.asked.then(machine, found)


#: How many places a proof stands on: the number's and the PIN's.
PLACES = 2


def read_staff(machine: Machine) -> None:
    """Read the roster anew, and record what has changed in it since it was last read.

    Raises RosterError, with a technician's fault, where it cannot be read or is not the one recorded
    (:mod:`egm.people.recorded`): then nobody signs in. The second copy takes the place of such a roster, if
    that one is; the fault stands all the same, unless the file was damaged and not another.
    """
    take_over_wrong_pins(machine)
    here = machine.state(Roster)
    recorded = Recorded.of(machine.memory.get(StaffKey.STAFF))
    if here.path is not None:
        try:
            roster, refused = load_recorded(here.path, here.spare, recorded)
            machine.install(roster)
            if refused:
                here.path.unlink(missing_ok=True)
                roster.written_to(here.path)
                machine.log("staff.restored", {"why": str(refused)})
                if not isinstance(refused, RosterDamaged):
                    _alarm(machine, str(refused))
        except (OperatorError, OSError) as error:
            machine.install(Roster(here.path, spare=here.spare))
            machine.log("staff.unreadable", {"why": str(error)})
            _alarm(machine, str(error))
            raise RosterError(str(error)) from error
    now = machine.state(Roster)
    _keep_second_copy(now)
    if not recorded.number:
        _seal_first(now)
    for change in now.since(recorded.number):
        machine.record(
            f"staff.{change.what}",
            transaction_id=f"staff-{change.number}-{change.digest[:16]}",
            state={StaffKey.STAFF: Recorded(change.number, change.digest).to_json()},
            details={
                "person": change.by,
                "whom": change.person,
                "role": change.role,
                "at": change.at,
                "number": change.number,
                "digest": change.digest,
            },
        )


def _alarm(machine: Machine, why: str) -> None:
    raise_fault(machine, STAFF_ROSTER, detail=why)


def _keep_second_copy(roster: Roster) -> None:
    """Before the journal has its changes: a roster the journal records is on the second medium already."""
    if roster.path is None or roster.spare is None or not roster.changes:
        return
    with contextlib.suppress(OSError, RosterError):
        if roster.spare.exists() and Roster.load(roster.spare).changes == roster.changes:
            return
    with contextlib.suppress(OSError):  # a second medium that is not there is the journal's to tell
        roster.written_to(roster.spare)


def _seal_first(roster: Roster) -> None:
    """Before the journal has the first change of persons enrolled when there was no machine key yet.

    Between two of them the power may go: what follows a recorded change is believed only where it is sealed.
    """
    if roster.path is None or roster.is_sealed or not roster.changes:
        return
    with contextlib.suppress(OSError):  # a first medium that takes nothing is the journal's to tell
        roster.written_to(roster.path)


STAFF_ROSTER: Final = "staff_roster"
"""The roster was not the one recorded; who has changed it, and what else, must be found."""
