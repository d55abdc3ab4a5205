"""Errors of random number generation, one named exception each. No error causes a fallback to another source."""


class RngError(Exception):
    """Base class of every error of random number generation."""


class InvalidRange(RngError):
    """Raised if the bound of a draw is not an integer above zero that the service supports."""


class InvalidPolicy(RngError):
    """Raised if a reseed policy or a personalization is invalid; the message names the field."""


class RequestTooLarge(RngError):
    """Raised if a request asked a generator for more bytes, or passed it more bytes, than the standard allows."""


class ReseedRequired(RngError):
    """Raised if the generator has served as many requests as one seed allows (SP 800-90A, tables 2 and 3)."""


class Uninstantiated(RngError):
    """Raised if the generator has no state, because it was never seeded or has been uninstantiated."""


class EntropyFailed(RngError):
    """Raised if an entropy source returned nothing, too little, or data that must not be used."""


class HealthTestFailed(EntropyFailed):
    """Raised if noise of an entropy source failed a health test of SP 800-90B section 4.4.

    The tests are repetition count and adaptive proportion.
    """


class SeedRepeated(EntropyFailed):
    """Raised if an entropy source returned the same seed material as it has returned before.

    The source is stuck, or the machine was reset to a snapshot.
    """


class SelfTestFailed(RngError):
    """Raised if a known-answer test of the generator failed; the message names the test."""


class RejectionLimit(RngError):
    """Raised if so many consecutive random words were rejected that the generator cannot be working."""


class OutOfService(RngError):
    """Raised if the random number service has failed; it stays out of service until authorised staff restart it."""


class CarryOverDamaged(RngError):
    """Raised if the generator's carry-over, its stored data from the last power cycle, is damaged.

    The data are reserved output and the fingerprints of past seeds.
    """


class ReseedNotAllowed(RngError):
    """Raised if a reseed is requested for a reason that the jurisdiction's policy does not allow."""


class StepMisused(RngError):
    """Raised if random numbers were drawn outside of a step, or a step was opened inside another step."""
