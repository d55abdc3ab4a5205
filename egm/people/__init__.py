"""Staff: who works on the machine, what each role permits, and how persons authenticate."""

from egm.people.person import Person
from egm.people.pins import PinRefusedError, check_pin
from egm.people.recorded import Recorded, load_recorded, recorded_in
from egm.people.roles import Permission, Role, permissions_of
from egm.people.roster import Change, Roster, RosterError

__all__ = [
    "Change",
    "Permission",
    "Person",
    "PinRefusedError",
    "Recorded",
    "Role",
    "Roster",
    "RosterError",
    "check_pin",
    "load_recorded",
    "permissions_of",
    "recorded_in",
]
