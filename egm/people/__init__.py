"""Staff: who works on the machine, what each role permits, and how persons are authenticated."""

from egm.people.person import Person
from egm.people.pins import PinRefusedError, check_pin_is_permitted
from egm.people.recorded_roster import RecordedRoster, load_recorded_roster, read_recorded_roster
from egm.people.roles import Permission, Role, find_permissions
from egm.people.roster import Roster, RosterChange, RosterError

__all__ = [
    "Permission",
    "Person",
    "PinRefusedError",
    "RecordedRoster",
    "Role",
    "Roster",
    "RosterChange",
    "RosterError",
    "check_pin_is_permitted",
    "find_permissions",
    "load_recorded_roster",
    "read_recorded_roster",
]
