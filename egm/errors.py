"""Error families: remote, local and invariant; and the check that always runs.

What happens next depends on where the cause is, so the family is part of the type:

* :class:`LocalError` is a bug or a fault of this machine: play stops; a tilt, or out of service.
* :class:`PeerError` is a misbehaving device or host: counted, logged, retried.
* :class:`OperatorError` is wrong input from a person: a message with the item, its location and the reason.
"""


class LocalError(Exception):
    """A fault of the machine itself; play stops until staff have looked."""


class InvariantError(LocalError):
    """A condition that must always hold was false; the code names it."""


class PeerError(Exception):
    """A device or a host sent something invalid, or nothing at all."""


class OperatorError(Exception):
    """Wrong input from a person or a file: what, where and why."""


class RestartAsked(Exception):
    """An authorised person requested a restart of the machine."""


def check_invariant(condition: bool, code: str) -> None:  # noqa: FBT001 (reads as assert does)
    """Raise :class:`InvariantError` unless the condition holds. Unlike ``assert`` it survives ``-O``."""
    if not condition:
        raise InvariantError(code)
