"""The errors of game definitions and wagers."""


class PaytableError(Exception):
    """Base class of every error that this package raises deliberately."""


class DefinitionError(PaytableError):
    """A refused game definition: the file, the key (empty if the file or its name is at fault) and the reason."""

    def __init__(self, file: str, key: str, reason: str) -> None:
        self.file = file
        self.key = key
        self.reason = reason
        super().__init__(f"{file}: {key}: {reason}" if key else f"{file}: {reason}")


class UnknownNameError(DefinitionError):
    """A game name that matches neither a library definition nor a file."""


class WagerError(PaytableError):
    """A wager that the game does not offer: what was requested and what is offered."""


class RefusedRoundError(WagerError):
    """A round that the seats with bets cannot play together.

    ``notice`` is the code of the text that gives the players the reason, and ``values`` has the numbers in that text.
    """

    def __init__(self, notice: str, reason: str, **values: int) -> None:
        self.notice = notice
        self.values = values
        super().__init__(reason)


class ChoiceError(PaytableError):
    """A player's choice that is missing or is not among the options of its decision."""


class ReplayError(PaytableError):
    """Error: recorded random draws do not fit the replayed game; the text states the first difference."""


class AnalysisError(PaytableError):
    """A figure of a game that cannot be computed: which one and why."""


class BeyondReach(AnalysisError):
    """An exact figure of a game that takes too much to compute. A simulation can estimate it."""
