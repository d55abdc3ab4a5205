"""Everything that can go wrong with chance, each by its name. Nothing in this package falls back."""


class RngError(Exception):
    """The family of every error of this package."""


class InvalidRange(RngError):
    """A draw was asked from a range that has no members, or whose bound is no whole number."""


class InvalidPolicy(RngError):
    """A reseed policy or a personalization is not usable; the message names the field."""


class RequestTooLarge(RngError):
    """More bytes were asked of, or given to, a generator than one request may carry."""


class ReseedRequired(RngError):
    """The generator has served as many requests as one seed allows (SP 800-90A, table 2 and 3)."""


class Uninstantiated(RngError):
    """The generator holds no state: it was never seeded, or has been uninstantiated."""


class EntropyFailed(RngError):
    """A source of entropy gave nothing, too little, or something that must not be used."""


class HealthTestFailed(EntropyFailed):
    """Noise failed a health test of SP 800-90B section 4.4 (repetition count or adaptive proportion)."""


class SeedRepeated(EntropyFailed):
    """A source gave the same seed material as before: a stuck source, or a machine set back to a snapshot."""


class SelfTestFailed(RngError):
    """A known answer came out wrong; the message names the test."""


class RejectionLimit(RngError):
    """So many words in a row were out of range that the generator cannot be working."""


class OutOfService(RngError):
    """The service has failed and stays failed; only a new start, under authority, leaves this state."""


class CarryOverDamaged(RngError):
    """What was kept from the last power cycle is not what was given out to be kept."""


class ReseedNotAllowed(RngError):
    """The jurisdiction's policy knows no such reason to reseed."""


class StepClosed(RngError):
    """Numbers were drawn outside the step they belong to, or a step was opened inside another."""
