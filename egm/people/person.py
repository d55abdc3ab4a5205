"""One person of the staff."""

import re
from dataclasses import dataclass
from typing import Final

from egm.people.roles import Permission, Role, permissions_of

NUMBER: Final = re.compile(r"[0-9]{1,8}")
"""The form of a staff number."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who somebody is: a staff number, never given twice, a name, and a role."""

    id: str
    name: str
    role: Role
    disabled: bool = False

    def may(self, permission: Permission) -> bool:
        """Whether this person's role allows it; nothing is allowed to somebody disabled."""
        return not self.disabled and permission in permissions_of(self.role)
