"""One person of the staff."""

from dataclasses import dataclass

from egm.people.roles import Permission, Role, permissions_of


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
