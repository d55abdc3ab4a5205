"""Sources of entropy for the random number generator. None of them has been assessed under SP 800-90B.

Each source states the entropy that it claims per sample and the basis of that claim; a laboratory assesses
the source of the real cabinet. Because no claim has been verified, the sources are concatenated, and each one
contributes enough entropy alone.
"""

import errno
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha3_256
from pathlib import Path
from typing import Final, Protocol

from rng.errors import EntropyFailed

#: System errors for a device that is absent, has no hardware behind it, or may not be used by this process.
_DEVICE_ABSENT_ERRNOS: Final = frozenset({errno.ENOENT, errno.ENODEV, errno.ENXIO, errno.EACCES, errno.EPERM})


class EntropySource(Protocol):
    """Interface of an entropy source that seeds the generator: each sample is one byte of noise."""

    @property
    def name(self) -> str:
        """Return the name of the entropy source in events and reports."""

    @property
    def entropy_bits(self) -> Fraction:
        """Return the min-entropy that the source claims per 8-bit sample."""

    @property
    def claim_basis(self) -> str:
        """Return a sentence for reports: why the source claims this much entropy, and who has assessed it."""

    def read_samples(self, count: int) -> bytes:
        """Return the next ``count`` samples of noise. Raises :class:`EntropyFailed` if it cannot provide them all."""


class KernelSource:
    """An entropy source: the kernel's generator, getrandom(2), which blocks until it has been seeded once."""

    name: Final = "getrandom"
    entropy_bits: Final = Fraction(8)
    """The claimed min-entropy per 8-bit sample, in bits."""
    claim_basis: Final = "conditioned by the kernel; taken as full entropy, which nobody has assessed"
    """Why this much entropy is claimed, as text for reports."""

    def read_samples(self, count: int) -> bytes:
        """Return ``count`` random bytes from the operating system; more than 256 may take several reads."""
        gathered_bytes = b""
        try:
            while len(gathered_bytes) < count:
                gathered_bytes += os.getrandom(count - len(gathered_bytes))  # noqa: TID251 (this is the entropy source)
        except OSError as error:
            raise EntropyFailed(f"getrandom gave {len(gathered_bytes)} of {count} bytes: {error}") from error
        return gathered_bytes


@dataclass(frozen=True, slots=True)
class HardwareSource:
    """An entropy source: a hardware generator that the kernel offers as a character device.

    It is read without blocking. The source fails after ``attempts`` consecutive reads, ``pause_seconds``
    apart, that find no data.
    """

    path: Path = Path("/dev/hwrng")
    """The path of the character device."""
    entropy_bits: Fraction = Fraction(4)
    """The claimed min-entropy per 8-bit sample, in bits."""
    attempts: int = 400
    """The number of consecutive reads without data after which the source fails."""
    pause_seconds: float = 0.005
    """The time between two reads of the device, in seconds."""
    sleep: Callable[[float], None] = time.sleep
    """The function that waits between two reads."""
    claim_basis: str = (
        "assumed: half of the device's output is entropy; its maker's figure has not been checked"
    )
    """Why this much entropy is claimed, as text for reports."""

    @property
    def name(self) -> str:
        """Return the path of the hardware generator's device, which names the source."""
        return str(self.path)

    def is_present(self) -> bool:
        """Return whether the device exists, has hardware behind it, and may be read by this process.

        A device that exists but is broken counts as present, so that its failure is reported.
        """
        try:
            self._read_some(1)
        except OSError as error:
            return error.errno not in _DEVICE_ABSENT_ERRNOS
        return True

    def read_samples(self, count: int) -> bytes:
        """Return ``count`` bytes from the hardware generator's device."""
        gathered_bytes = b""
        empty_read_count = 0
        while len(gathered_bytes) < count:
            try:
                part = self._read_some(count - len(gathered_bytes))
            except OSError as error:
                raise EntropyFailed(
                    f"{self.path} gave {len(gathered_bytes)} of {count} bytes: {error}"
                ) from error
            gathered_bytes += part
            empty_read_count = 0 if part else empty_read_count + 1
            if empty_read_count == self.attempts:
                raise EntropyFailed(f"{self.path} gave {len(gathered_bytes)} of {count} bytes, then none")
            if empty_read_count:
                self.sleep(self.pause_seconds)
        return gathered_bytes

    def _read_some(self, count: int) -> bytes:
        """Return up to ``count`` bytes from the device, empty if no data is ready. Raises ``OSError``."""
        descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            return os.read(descriptor, count)
        except BlockingIOError:
            return b""
        finally:
            os.close(descriptor)


class JitterSource:
    """An entropy source: processor timing jitter, the low 8 bits of the time that a fixed piece of work takes.

    The work accesses memory and hashes, so that caches, interrupts and clock domains all contribute.
    """

    name: Final = "cpu-jitter"
    entropy_bits: Final = Fraction(1, 2)
    """The claimed min-entropy per 8-bit sample, in bits."""
    claim_basis: Final = (
        "assumed: half a bit in 8; about 3 were estimated on one virtual machine; not assessed"
    )
    """Why this much entropy is claimed, as text for reports."""

    _MEMORY_SIZE_BYTES: Final = 1 << 17
    """The size of the memory that the measured work reads: larger than a first-level cache, so that some reads miss."""
    _STRIDE_SIZE_BYTES: Final = 4093
    """Distance in bytes between two memory accesses of the measured work; a prime, so that all memory is reached."""

    def __init__(self, clock: Callable[[], int] = time.perf_counter_ns) -> None:
        self._clock = clock
        self._memory = bytearray(self._MEMORY_SIZE_BYTES)
        """The memory that the measured work walks through."""
        self._next_index = 0
        """The index of the byte of memory from which the measured work goes on."""

    def read_samples(self, count: int) -> bytes:
        """Return ``count`` samples: the durations of the measured work in nanoseconds, modulo 256."""
        clock, memory, index = self._clock, self._memory, self._next_index
        gathered_samples = bytearray(count)
        digest = b""
        time_before = clock()
        for i in range(count):
            for _ in range(8):
                index = (index + self._STRIDE_SIZE_BYTES) % self._MEMORY_SIZE_BYTES
                memory[index] = (memory[index] + 1) & 0xFF
            digest = sha3_256(digest + memory[index : index + 32]).digest()
            now = clock()
            gathered_samples[i] = (now - time_before) & 0xFF
            time_before = now
        self._next_index = (index + digest[0]) % self._MEMORY_SIZE_BYTES
        return bytes(gathered_samples)


def list_available_sources() -> tuple[EntropySource, ...]:
    """Return every entropy source of this machine: kernel and processor always, hardware if present."""
    hardware = HardwareSource()
    return (KernelSource(), JitterSource(), *((hardware,) if hardware.is_present() else ()))
