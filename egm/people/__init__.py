"""Staff: who works on the machine, what each role permits, and how persons authenticate."""

from egm.people.person import Person
from egm.people.pins import PinRefusedError, check_pin
from egm.people.recorded import RecordedRoster, load_recorded, read_recorded_roster
from egm.people.roles import Permission, Role, find_permissions
from egm.people.roster import Change, Roster, RosterError

__all__ = [
    "Change",
    "Permission",
    "Person",
    "PinRefusedError",
    "RecordedRoster",
    "Role",
    "Roster",
    "RosterError",
    "check_pin",
    "find_permissions",
    "load_recorded",
    "read_recorded_roster",
]
