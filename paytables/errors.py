"""What goes wrong in a game definition or a wager, each with its name and its place."""


class PaytableError(Exception):
    """Base of everything this package raises on purpose."""


class DefinitionError(PaytableError):
    """A definition that is refused: which file, which key (none: the file or its name itself), why."""

    def __init__(self, file: str, key: str, reason: str) -> None:
        self.file = file
        self.key = key
        self.reason = reason
        super().__init__(f"{file}: {key}: {reason}" if key else f"{file}: {reason}")


class UnknownNameError(DefinitionError):
    """A name that no definition of the library has, and no file's."""


class WagerError(PaytableError):
    """A wager the game does not offer: what was asked and what is offered."""


class ChoiceError(PaytableError):
    """A choice that is missing or is not among the options of its decision."""


class ReplayError(PaytableError):
    """Recorded draws that do not fit the game: the first one that differs."""


class AnalysisError(PaytableError):
    """A figure that cannot be had: says which and why."""


class BeyondReach(AnalysisError):
    """A figure that exists but is beyond exact computation here; a simulation can only estimate it."""
