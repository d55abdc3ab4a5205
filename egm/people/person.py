"""A member of staff, with the role and its permissions."""

import re
from dataclasses import dataclass, field
from typing import Final

from egm.people.roles import Permission, Role, find_permissions
from egm.record_codec import stored_as

#: The regular expression of a staff number.
STAFF_NUMBER_PATTERN: Final = re.compile(r"[0-9]{1,8}")


@dataclass(frozen=True, slots=True)
class Person:
    """A person who works on the machine: a staff number (never reused), a name, and a role."""

    id: str
    name: str
    role: Role
    is_disabled: bool = field(default=False, metadata=stored_as("disabled"))
    """Whether the person may no longer sign in."""

    def has_permission(self, permission: Permission) -> bool:
        """Return whether the person's role includes the permission; a disabled person has none."""
        return not self.is_disabled and permission in find_permissions(self.role)
