"""Error families: remote, local and invariant; and the check that always runs.

What happens next depends on whose fault it is, so the family is part of the type:

* :class:`LocalError` is our bug or our broken machine: play stops; a tilt, or out of service.
* :class:`PeerError` is a device or host that misbehaved: counted, logged, retried.
* :class:`OperatorError` is wrong input from a person: a message with the thing, the place and the reason.
"""


class LocalError(Exception):
    """The machine itself is wrong; nothing may be played until somebody has looked."""


class InvariantError(LocalError):
    """Something that must always hold did not; the code names it."""


class PeerError(Exception):
    """A device or a host said something it should not have, or nothing at all."""


class OperatorError(Exception):
    """Wrong input from a person or a file: says what, where and why."""


class RestartAsked(Exception):
    """Somebody with the right to do so asked that the machine start again."""


def invariant(condition: bool, code: str) -> None:  # noqa: FBT001 (reads as assert does)
    """Raise :class:`InvariantError` unless the condition holds. Unlike ``assert`` it survives ``-O``."""
    if not condition:
        raise InvariantError(code)
