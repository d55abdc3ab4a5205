"""Raw output for laboratories: the bytes that the generator in service produces, before scaling to outcomes.

Service, mechanism, seeding and policy are the same as in a cabinet; the one difference is that each request
is for the maximum number of bytes, while a game requests a few. No cabinet code imports this module.
"""

from collections.abc import Callable, Iterator

from rng.mechanism import REQUEST_BYTES_MAX
from rng.service import RandomService
from tools.lab.rng.errors import InvalidSampleError


def iter_raw_bytes(random_service: RandomService, count: int | None = None) -> Iterator[bytes]:
    """Yield blocks of raw output of the generator: ``count`` bytes in all, or without end if ``count`` is None.

    Raises :class:`~tools.lab.rng.errors.InvalidSampleError` for a negative count, and the service's own errors.
    """
    if count is not None and count < 0:
        raise InvalidSampleError(f"cannot collect {count} bytes")
    remaining_count = count
    while remaining_count is None or remaining_count > 0:
        size = REQUEST_BYTES_MAX if remaining_count is None else min(remaining_count, REQUEST_BYTES_MAX)
        yield random_service._generate(size)  # noqa: SLF001 (access that no game has)
        remaining_count = None if remaining_count is None else remaining_count - size


def create_raw_reader(random_service: RandomService) -> Callable[[int], bytes]:
    """Return a function that reads raw generator output for bulk draws, at most one Generate request per call."""
    return random_service._generate  # noqa: SLF001 (access that no game has)
