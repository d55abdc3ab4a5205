"""Seed material of the generator: tested samples of every source, concatenated, and never the same twice.

The generator's derivation function is applied to the concatenation, so one good source is sufficient, whatever
the others deliver. A fingerprint of each source's output is stored, also across power cycles: a repeated output
means a stuck source, or a machine restored from a snapshot.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from math import ceil
from typing import Final

from rng.errors import CarryOverDamaged, EntropyFailed, SeedRepeated
from rng.health import HealthTests
from rng.mechanism import SECURITY_BYTES
from rng.sources import EntropySource

#: Samples of an entropy source tested and discarded before the first is used (SP 800-90B section 4.3,
#: requirement 10).
START_UP_TEST_SAMPLE_COUNT: Final = 1024
#: Exponent of a health test's false-alarm rate: one in 2**40 samples.
HEALTH_TEST_ALPHA_EXPONENT: Final = 40
#: Bits of entropy that each source contributes to one seed: the security strength plus half of it in place of
#: a nonce.
SEED_BITS: Final = SECURITY_BYTES * 8 * 3 // 2
#: Number of seed fingerprints stored.
STORED_SEED_FINGERPRINTS_MAX: Final = 64
#: Length of a seed fingerprint in bytes.
SEED_FINGERPRINT_SIZE_BYTES: Final = 16

#: First bytes of the carried-over data.
_CARRY_OVER_MAGIC: Final = b"EGMRNG1\0"
#: The size of the generator's output that is reserved for the next start, in bytes.
_CARRY_OVER_SIZE_BYTES: Final = 32
#: The size of the checksum of the carried-over data, in bytes.
_CHECKSUM_SIZE_BYTES: Final = 8


def pack_carry_over(reserved_output: bytes, fingerprints: Iterable[bytes]) -> bytes:
    """Return the generator's data that survives a power cycle, as bytes.

    It is 32 bytes of reserved output, and the fingerprints of past seeds.
    """
    body = _CARRY_OVER_MAGIC + reserved_output + b"".join(fingerprints)
    return body + sha256(body).digest()[:_CHECKSUM_SIZE_BYTES]


def unpack_carry_over(packed: bytes) -> tuple[bytes, tuple[bytes, ...]]:
    """Return the reserved output and the fingerprints that :func:`pack_carry_over` has packed into these bytes.

    Raises :class:`CarryOverDamaged`.
    """
    body, checksum = packed[:-_CHECKSUM_SIZE_BYTES], packed[-_CHECKSUM_SIZE_BYTES:]
    fingerprint_bytes = body[len(_CARRY_OVER_MAGIC) + _CARRY_OVER_SIZE_BYTES :]
    if (
        not body.startswith(_CARRY_OVER_MAGIC)
        or len(body) < len(_CARRY_OVER_MAGIC) + _CARRY_OVER_SIZE_BYTES
        or len(fingerprint_bytes) % SEED_FINGERPRINT_SIZE_BYTES
        or sha256(body).digest()[:_CHECKSUM_SIZE_BYTES] != checksum
    ):
        raise CarryOverDamaged(f"the {len(packed)} bytes stored at the last power cycle are damaged")
    fingerprints = (
        fingerprint_bytes[i : i + SEED_FINGERPRINT_SIZE_BYTES]
        for i in range(0, len(fingerprint_bytes), SEED_FINGERPRINT_SIZE_BYTES)
    )
    return body[len(_CARRY_OVER_MAGIC) : len(_CARRY_OVER_MAGIC) + _CARRY_OVER_SIZE_BYTES], tuple(fingerprints)


class SeedGatherer:
    """Gatherer of seed material for the generator from several entropy sources.

    The constructor runs the start-up health tests. ``known_fingerprints`` are those from earlier power cycles.
    Raises :class:`EntropyFailed` or a subclass.
    """

    __slots__ = ("_sources", "_tests", "fingerprints")

    def __init__(self, sources: Sequence[EntropySource], known_fingerprints: Iterable[bytes] = ()) -> None:
        if not sources:
            raise EntropyFailed("no source of entropy was given")
        names = [source.name for source in sources]
        if len(set(names)) != len(names):
            raise EntropyFailed(f"two sources of entropy share a name: {', '.join(names)}")
        self._sources = tuple(sources)
        self._tests = tuple(HealthTests(s.name, s.entropy_bits, HEALTH_TEST_ALPHA_EXPONENT) for s in sources)
        self.fingerprints: list[bytes] = list(known_fingerprints)[-STORED_SEED_FINGERPRINTS_MAX:]
        """Fingerprints (digests) of the latest seeds, oldest first; a new seed must not have any of them."""
        self.run_start_up_test()

    @property
    def source_names(self) -> tuple[str, ...]:
        """Return the names of the entropy sources, in the order of concatenation."""
        return tuple(source.name for source in self._sources)

    def run_start_up_test(self) -> None:
        """Test :data:`START_UP_TEST_SAMPLE_COUNT` consecutive samples of each entropy source and discard them."""
        for source, tests in zip(self._sources, self._tests, strict=True):
            tests.feed(self._read_samples(source, START_UP_TEST_SAMPLE_COUNT))

    def gather(self) -> bytes:
        """Return seed material: samples of each entropy source in turn, each with :data:`SEED_BITS` of entropy."""
        return b"".join(
            self._gather_noise(source, tests)
            for source, tests in zip(self._sources, self._tests, strict=True)
        )

    def _gather_noise(self, source: EntropySource, tests: HealthTests) -> bytes:
        """Return noise of an entropy source with :data:`SEED_BITS` of entropy, after it passed the health tests.

        Raises :class:`SeedRepeated` if the source returned the same noise before.
        """
        noise = self._read_samples(source, ceil(SEED_BITS / source.entropy_bits))
        tests.feed(noise)
        fingerprint = sha256(b"seed of " + source.name.encode() + b"\0" + noise).digest()[
            :SEED_FINGERPRINT_SIZE_BYTES
        ]
        if fingerprint in self.fingerprints:
            raise SeedRepeated(f"source {source.name!r} gave the same {len(noise)} bytes of seed as before")
        self.fingerprints.append(fingerprint)
        del self.fingerprints[:-STORED_SEED_FINGERPRINTS_MAX]
        return noise

    @staticmethod
    def _read_samples(source: EntropySource, count: int) -> bytes:
        """Return ``count`` samples of an entropy source.

        Raises :class:`EntropyFailed` if the source returns a different number.
        """
        noise = source.read_samples(count)
        if len(noise) != count:
            raise EntropyFailed(f"source {source.name!r} gave {len(noise)} of {count} samples")
        return noise
