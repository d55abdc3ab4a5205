"""Start of the machine's random number generator, and the random output that one boot stores for the next.

The output that the last run stored (its carry-over, which other systems call a seed file) is used once as
additional input, beside fresh entropy (NZ 1.27.10: the sequence after a power loss depends on the sequence before
it). It is never counted as entropy, and losing it does no harm; so it is in a plain file and not in the journal.
"""

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path

from egm.clock import Clock
from egm.kernel.machine import MachineIdentity
from egm.profiles import Profile
from rng import CarryOverDamaged, EntropySource, Personalization, RandomService, RngError


def start_random_service(
    *,
    profile: Profile,
    identity: MachineIdentity,
    boot_counter: int,
    carry_over_file: Path,
    clock: Clock,
    on_event: Callable[[str, Mapping[str, object]], None],
    instance: int = 1,
    sources: Sequence[EntropySource] | None = None,
    fresh_input: Callable[[int], bytes] = os.getrandom,  # noqa: TID251 (it feeds the random number generator)
) -> RandomService:
    """Start the generator from fresh entropy and the last run's stored output, if there is any.

    The stored output is deleted, and new output is stored for the next start. If the old output is damaged, that is
    reported to ``on_event``, and the generator starts without it.

    ``instance`` is 1 for the first generator that this machine starts in this boot, 2 for the second, and so on.
    ``sources`` are the entropy sources; all sources of this machine by default. ``fresh_input`` returns the given
    number of random bytes that are mixed into each request. Raises :class:`rng.RngError` if any part fails.
    """
    start_with_settings = partial(
        RandomService.start,
        personalization=Personalization(
            product="open-egm",
            version=version("open-egm"),
            machine_serial=identity.serial,
            instance=instance,
            boot_counter=boot_counter,
        ),
        sources=sources,
        policy=profile.reseed_policy,
        clock=clock.monotonic_ns,
        on_event=on_event,
        fresh_input=fresh_input,
    )
    try:
        random_service = start_with_settings(carry_over=_take_stored_random_output(carry_over_file))
    except CarryOverDamaged as error:
        on_event("carry_over_damaged", {"reason": str(error)})
        random_service = start_with_settings()
    store_random_output_for_next_start(carry_over_file, random_service)
    return random_service


def _take_stored_random_output(path: Path) -> bytes | None:
    """Return the random output that the last run stored, and remove its file; None if nothing is stored."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    with contextlib.suppress(OSError):
        path.unlink()
    return data or None


def store_random_output_for_next_start(path: Path, random_service: RandomService) -> None:
    """Store random output for the next start in ``path``; store nothing if the generator has failed."""
    with contextlib.suppress(RngError):
        _write_random_output(path, random_service.build_carry_over())


def _write_random_output(path: Path, data: bytes) -> None:
    """Write random output to a file that only its owner can read."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
