"""The errors of game definitions and wagers."""


class PaytableError(Exception):
    """Base class of every error that this package raises deliberately."""


class DefinitionError(PaytableError):
    """A refused definition: the file, the key (empty if the file or its name is at fault) and the reason."""

    def __init__(self, file: str, key: str, reason: str) -> None:
        self.file = file
        self.key = key
        self.reason = reason
        super().__init__(f"{file}: {key}: {reason}" if key else f"{file}: {reason}")


class UnknownNameError(DefinitionError):
    """A name that matches neither a library definition nor a file."""


class WagerError(PaytableError):
    """A wager the game does not offer: what was requested and what is offered."""


class ChoiceError(PaytableError):
    """A choice that is missing or is not among the options of its decision."""


class ReplayError(PaytableError):
    """Recorded draws that do not fit the game: the first difference."""


class AnalysisError(PaytableError):
    """A figure that cannot be computed: which one and why."""


class BeyondReach(AnalysisError):
    """An exact figure that takes too much to compute. A simulation can estimate it."""
