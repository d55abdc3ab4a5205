"""Sources, a clock and a log for tests of the random service."""

from collections.abc import Mapping
from fractions import Fraction

from rng import EntropyFailed, KernelSource, Personalization, RandomService
from rng.seeding import START_UP_TEST_SAMPLE_COUNT

WHO = Personalization(product="open-egm", version="1", machine_serial="A1", instance=0, boot_counter=1)


class Log:
    """Stores the events in order."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, object]]] = []

    def __call__(self, code: str, values: Mapping[str, object]) -> None:
        self.events.append((code, dict(values)))

    @property
    def codes(self) -> list[str]:
        return [code for code, _ in self.events]


class Clock:
    """A monotonic clock that a test advances."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


class Repeating:
    """A defective source: the same noise at every boot, which no health test would detect."""

    name, entropy_bits, claim_basis = "repeating", Fraction(8), "a test's"
    noise = bytes((i * i * 31 + 7 * i + (i >> 8)) & 0xFF for i in range(START_UP_TEST_SAMPLE_COUNT + 48))

    def read_samples(self, count: int) -> bytes:
        return self.noise[:count]


class Failing(KernelSource):
    """The kernel's source until a test makes it fail."""

    broken = False

    def read_samples(self, count: int) -> bytes:
        if self.broken:
            raise EntropyFailed("the source has died")
        return super().read_samples(count)


def start(log: Log | None = None, **changes: object) -> RandomService:
    settings = {"personalization": WHO, "sources": [KernelSource()], "on_event": log or Log(), **changes}
    return RandomService.start(**settings)


def sequence(service: RandomService, count: int = 16) -> tuple[int, ...]:
    with service.step() as draws:
        return tuple(draws.below(256) for _ in range(count))
