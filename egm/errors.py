"""Base classes of errors by cause: this machine, a device or host, or a person; and an assertion that always runs.

What happens next depends on where the cause is, so it is part of the type:

* :class:`LocalError` is a bug or a fault of this machine: play stops; a tilt, or out of service.
* :class:`PeerError` is a misbehaving device or host: counted, logged, retried.
* :class:`OperatorError` is wrong input from a person: a message with the item, its location and the reason.
"""


class LocalError(Exception):
    """Raised if the machine itself has a bug or a fault. Play stops until staff have examined the machine."""


class InvariantError(LocalError):
    """Raised if a condition which must always hold is false; the text is the condition's code."""


class PeerError(Exception):
    """Raised if a device or a host sent something invalid, or nothing at all."""


class OperatorError(Exception):
    """Raised if input from a person or a file is wrong; the text says what, where and why."""


class RestartRequested(Exception):
    """Raised to end the process, because an authorised person requested a restart of the machine."""


def check_invariant(condition: bool, code: str) -> None:  # noqa: FBT001 (called like an assert statement)
    """Raise :class:`InvariantError` unless ``condition`` holds; ``code`` names the condition.

    Unlike ``assert``, the check also runs under ``python -O``.
    """
    if not condition:
        raise InvariantError(code)
