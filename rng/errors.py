"""Errors of this package, one named exception each. No error leads to a fallback source of randomness."""


class RngError(Exception):
    """Base class of every error of this package."""


class InvalidRange(RngError):
    """The bound of a draw is not an integer above zero that the service supports."""


class InvalidPolicy(RngError):
    """A reseed policy or a personalization is invalid; the message names the field."""


class RequestTooLarge(RngError):
    """A request asked a generator for more bytes, or passed it more bytes, than the standard allows."""


class ReseedRequired(RngError):
    """The generator has served as many requests as one seed allows (SP 800-90A, tables 2 and 3)."""


class Uninstantiated(RngError):
    """The generator has no state: it was never seeded, or has been uninstantiated."""


class EntropyFailed(RngError):
    """An entropy source returned nothing, too little, or data that must not be used."""


class HealthTestFailed(EntropyFailed):
    """Noise failed a health test of SP 800-90B section 4.4 (repetition count or adaptive proportion)."""


class SeedRepeated(EntropyFailed):
    """A source returned the same seed material again: it is stuck, or the machine was reset to a snapshot."""


class SelfTestFailed(RngError):
    """A known-answer test failed; the message names the test."""


class RejectionLimit(RngError):
    """Too many consecutive words were rejected for the generator to be working."""


class OutOfService(RngError):
    """The service has failed permanently; only a new start, under authority, ends this state."""


class CarryOverDamaged(RngError):
    """The data carried over from the last power cycle (reserved output and seed fingerprints) is damaged."""


class ReseedNotAllowed(RngError):
    """The jurisdiction's policy does not allow reseeding for this reason."""


class StepClosed(RngError):
    """Numbers were drawn outside of their step, or a step was opened within another."""
