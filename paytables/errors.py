"""The errors of game definitions and wagers."""


class PaytableError(Exception):
    """Base class of every error that this package raises deliberately."""


class DefinitionError(PaytableError):
    """Raised if a game definition is refused; the text names the file, the key (if it is one key) and the reason."""

    def __init__(self, file: str, key: str, reason: str) -> None:
        self.file = file
        self.key = key
        """The key of the definition that is wrong, as a dotted path."""
        self.reason = reason
        super().__init__(f"{file}: {key}: {reason}" if key else f"{file}: {reason}")


class UnknownNameError(DefinitionError):
    """Raised if a game name matches neither a library definition nor a file."""


class WagerError(PaytableError):
    """Raised if the game does not offer a wager; the text states what was requested and what is offered."""


class RefusedRoundError(WagerError):
    """Raised if the seats that have bet cannot play a round together.

    ``notice`` is the code of the text that gives the players the reason, and ``values`` has the numbers in
    that text.
    """

    def __init__(self, notice: str, reason: str, **values: int) -> None:
        self.notice = notice
        self.values = values
        super().__init__(reason)


class ChoiceError(PaytableError):
    """Raised if a player's choice is missing or is not among the options of the decision."""


class ReplayError(PaytableError):
    """Raised if recorded random draws do not fit the replayed game; the text states the first difference."""


class AnalysisError(PaytableError):
    """Raised if a figure of a game cannot be computed; the text names the figure and the reason."""


class BeyondExactAnalysisError(AnalysisError):
    """Raised if an exact figure of a game would take too much time or memory; a simulation can estimate it."""
