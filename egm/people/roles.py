"""Roles and their permissions, read from ``roles.toml``; each role has only what its work requires.

The regulations' terms map to these roles: Monaco art. 23-1's supervisors (*contrôleurs*: control, keys,
accounting, collections, changes and manual payments, relations with clients) are ``supervisor``, its mechanics
(*mécaniciens*) ``mechanic``, its changers ``attendant``. The public control service (arts 23-2, 24) and any
regulator or laboratory is ``inspector``. The certified technician of FR-door, the only one who may open the
logic area, is ``technician``; the venue's management is ``manager``.
"""

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

from egm.errors import OperatorError

#: The file with the permissions of each role.
_PERMISSION_FILE: Final = Path(__file__).with_name("roles.toml")


class Role(StrEnum):
    """Roles of staff members, each with its permissions."""

    ATTENDANT = "attendant"
    SUPERVISOR = "supervisor"
    MECHANIC = "mechanic"
    TECHNICIAN = "technician"
    MANAGER = "manager"
    INSPECTOR = "inspector"


class Permission(StrEnum):
    """Permissions that a staff role may have."""

    ANSWER_SERVICE_CALLS = "answer_calls"
    CLEAR_TILTS = "clear_tilts"
    PAY_BY_HAND = "pay_by_hand"
    RESTART = "restart"
    """Restart a failed random number generator, or the machine."""
    READ_METERS = "read_meters"
    READ_GAME_RECALL = "read_recall"
    READ_LOGS = "read_logs"
    READ_SOFTWARE = "read_software"
    READ_INVENTORY = "read_inventory"
    OPEN_DOORS = "open_doors"
    """Declare work at the open machine (an intervention): who opens it and why, and afterwards what was done."""
    TEST_DEVICES = "test_devices"
    CONFIGURE = "configure"
    TAKE_OUT_OF_SERVICE = "hold"
    """Take the machine out of service and return it to service."""
    RULE_ON_MONEY = "settle"
    """Decide what is owed beyond the meters: additional payments, unclaimed money, forfeits, disputes."""
    JUDGE_INCIDENTS = "judge"
    """Decide an incident without appeal, as the management does (Monaco art. 24)."""
    COLLECT_CASH = "collect"
    """Empty and fill the cash boxes and the hopper."""
    CLEAR_MEMORY = "clear_memory"
    ENROL_STAFF = "enrol"
    """Enrol and disable staff, set their PINs."""


@cache
def _read_permission_matrix() -> Mapping[Role, frozenset[Permission]]:
    """Return the permissions of each role, read from ``roles.toml`` and validated.

    The file must name every role and no unknown permission. Raises OperatorError with the reason.
    """
    try:
        table = tomllib.loads(_PERMISSION_FILE.read_text(encoding="utf-8"))
        matrix = {Role(role): frozenset(map(Permission, permissions)) for role, permissions in table.items()}
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise OperatorError(f"{_PERMISSION_FILE.name}: {error}") from None
    missing_roles = set(Role) - matrix.keys()
    if missing_roles:
        raise OperatorError(f"{_PERMISSION_FILE.name}: no permissions for {', '.join(sorted(missing_roles))}")
    return matrix


def find_permissions(role: Role) -> frozenset[Permission]:
    """Return the permissions of a staff role."""
    return _read_permission_matrix()[role]
