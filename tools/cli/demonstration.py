"""The staff of a demonstration cabinet: one person per role, with PINs made at its first start.

They are only created for a cabinet whose ports are all simulated, in a new state folder. The PINs are stored there
in clear, readable by the folder's user only, so that ``egm run`` can print them again. A real cabinet has no staff
until somebody is enrolled, and refuses the state folder of a demonstration (:mod:`egm.people.demonstration`).
"""

import json
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from egm.config.cabinet_file import CabinetFile, StateFolder
from egm.errors import OperatorError
from egm.people import Person, PinRefusedError, Role, Roster, check_pin_is_permitted
from egm.people.demonstration import DEMONSTRATION_ENROLLER, DEMONSTRATION_FILE_NAME
from egm.private_files import write_private_file
from meters.copies import SECOND_FOLDER, JournalLocation
from meters.storage import DiskStorage

#: Digits of a PIN.
_PIN_DIGITS: Final = 6
#: Role and name of each person; the manager is first, because only enrolled people can enrol others.
_DEMONSTRATION_STAFF: Final = (
    (Role.MANAGER, "Morgan"),
    (Role.SUPERVISOR, "Sacha"),
    (Role.ATTENDANT, "Alex"),
    (Role.MECHANIC, "Max"),
    (Role.TECHNICIAN, "Toni"),
    (Role.INSPECTOR, "Inès"),
)


@dataclass(frozen=True, slots=True)
class Badge:
    """The staff number, name, role and PIN of a person of a demonstration cabinet."""

    number: str
    name: str
    role: str
    pin: str


def load_demonstration_badges(cabinet: CabinetFile, folder: StateFolder, now: datetime) -> tuple[Badge, ...]:
    """Return the badges of a demonstration cabinet; create them at its first start.

    The result is empty for any other cabinet, and for a folder that has a journal or staff already, because
    it may be a real machine's. Raises OperatorError if the PIN file was altered.
    """
    if not cabinet.devices or cabinet.hardware_port_descriptions:
        return ()
    path = folder.root / DEMONSTRATION_FILE_NAME
    if path.exists():
        try:
            return tuple(
                Badge(**badge_fields) for badge_fields in json.loads(path.read_text(encoding="utf-8"))
            )
        except (ValueError, RecursionError, TypeError) as error:
            raise OperatorError(f"{path}: not the staff file of a demonstration: {error}") from error
    roster = Roster.load(folder.roster_file)
    if (
        roster.person_by_staff_number
        or JournalLocation(DiskStorage(), folder.root, folder.root / SECOND_FOLDER).has_journal
    ):
        return ()
    badges = tuple(
        Badge(str(number), name, role.value, _choose_pin())
        for number, (role, name) in enumerate(_DEMONSTRATION_STAFF, 1001)
    )
    for badge in badges:
        person = Person(badge.number, badge.name, Role(badge.role))
        roster = roster.enrol_person(person, badge.pin, changed_by=DEMONSTRATION_ENROLLER, changed_at=now)
    all_badge_fields = [
        {field_name: getattr(badge, field_name) for field_name in Badge.__slots__} for badge in badges
    ]
    write_private_file(path, json.dumps(all_badge_fields))
    return badges


def _choose_pin() -> str:
    """Return a random PIN that the rules for PINs accept."""
    while True:
        pin = "".join(secrets.choice("0123456789") for _ in range(_PIN_DIGITS))
        try:
            check_pin_is_permitted(pin)
        except PinRefusedError:
            continue
        return pin
