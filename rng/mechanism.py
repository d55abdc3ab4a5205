"""The common base of the three generators of SP 800-90A: life cycle, limits, error state.

A mechanism is deterministic and has no entropy source: entropy is passed to it. The limits are checked before
the mechanism is used, so a refused request leaves the state unchanged.

Source: NIST SP 800-90A Rev. 1, section 9 (functions), section 10 tables 2 and 3 (limits).
"""

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import ClassVar, Final

from rng.errors import EntropyFailed, RequestTooLarge, ReseedRequired, Uninstantiated

#: The most that one Generate may return, 2**19 bits (tables 2 and 3).
REQUEST_BYTES_MAX: Final = 65_536
#: The longest input string of a generator. The standard allows 2**35 bits; nothing here comes near it.
INPUT_BYTES_MAX: Final = 65_536
#: The most Generates between two seedings (tables 2 and 3).
RESEED_INTERVAL: Final = 2**48
#: Security strength in bytes of every generator of this package.
SECURITY_BYTES: Final = 32


class MechanismName(StrEnum):
    """The names of the deterministic generators (DRBG mechanisms of SP 800-90A) that a profile may select."""

    CTR_AES_256_DF = "ctr-drbg-aes-256-df"
    CTR_AES_256 = "ctr-drbg-aes-256"
    HMAC_SHA_256 = "hmac-drbg-sha-256"
    HMAC_SHA_512 = "hmac-drbg-sha-512"
    HASH_SHA_256 = "hash-drbg-sha-256"
    HASH_SHA_512 = "hash-drbg-sha-512"


class Mechanism(ABC):
    """A deterministic random bit generator (SP 800-90A) with 256 bits of security strength.

    The constructor is Instantiate: ``entropy_input`` carries at least 256 bits of entropy; ``nonce`` and
    ``personalization`` make the instance unique. Raises :class:`EntropyFailed` if the entropy input or the
    nonce is too short, :class:`RequestTooLarge` if an input is too long.
    """

    __slots__ = ("_reseed_counter",)

    #: Minimum and maximum length of an entropy input.
    ENTROPY_BYTES: ClassVar[tuple[int, int]] = (SECURITY_BYTES, INPUT_BYTES_MAX)
    #: The shortest nonce: half the strength (section 8.6.7). None if the mechanism takes no nonce.
    NONCE_BYTES_MIN: ClassVar[int | None] = SECURITY_BYTES // 2
    #: The longest personalization string or additional input.
    ADDITIONAL_BYTES_MAX: ClassVar[int] = INPUT_BYTES_MAX

    def __init__(self, entropy_input: bytes, nonce: bytes = b"", personalization: bytes = b"") -> None:
        self._reseed_counter = 0
        self._check_entropy(entropy_input)
        if self.NONCE_BYTES_MIN is None:
            if nonce:
                raise RequestTooLarge(f"{type(self).__name__} takes no nonce; {len(nonce)} bytes were given")
        elif not self.NONCE_BYTES_MIN <= len(nonce) <= INPUT_BYTES_MAX:
            raise EntropyFailed(f"nonce of {len(nonce)} bytes; {self.NONCE_BYTES_MIN} or more are needed")
        self._check_additional(personalization, "personalization")
        self._instantiate(entropy_input, nonce, personalization)
        self._reseed_counter = 1

    @property
    def reseed_counter(self) -> int:
        """Return the generator's number of Generates since the last seeding, plus one; 0 once uninstantiated."""
        return self._reseed_counter

    def reseed(self, entropy_input: bytes, additional_input: bytes = b"") -> None:
        """Mix fresh entropy into the generator's state (section 9.2). Raises the same errors as the constructor."""
        self._check_ready()
        self._check_entropy(entropy_input)
        self._check_additional(additional_input, "additional input")
        self._reseed(entropy_input, additional_input)
        self._reseed_counter = 1

    def generate(
        self, count: int, additional_input: bytes = b"", *, fresh_entropy: bytes | None = None
    ) -> bytes:
        """Return ``count`` pseudorandom bytes of the generator (section 9.3).

        ``fresh_entropy`` requests prediction resistance: the state is first reseeded with it and the
        additional input. Raises :class:`RequestTooLarge`, :class:`ReseedRequired`, :class:`Uninstantiated`.
        """
        self._check_ready()
        if not 0 < count <= REQUEST_BYTES_MAX:
            raise RequestTooLarge(f"request for {count} bytes; one request gives 1 to {REQUEST_BYTES_MAX}")
        if fresh_entropy is not None:
            self.reseed(fresh_entropy, additional_input)
            additional_input = b""
        elif additional_input:
            self._check_additional(additional_input, "additional input")
        if self._reseed_counter > RESEED_INTERVAL:
            raise ReseedRequired(f"{RESEED_INTERVAL} requests were served since the last seeding")
        output = self._generate(count, additional_input)
        self._reseed_counter += 1
        return output

    def uninstantiate(self) -> None:
        """Overwrite the generator's state (section 9.4). Copies inside CPython and OpenSSL are out of reach."""
        self._wipe()
        self._reseed_counter = 0

    def _check_ready(self) -> None:
        """Raise :class:`Uninstantiated` unless the generator has a state."""
        if not self._reseed_counter:
            raise Uninstantiated(f"{type(self).__name__} holds no state")

    def _check_entropy(self, entropy_input: bytes) -> None:
        """Raise an error if an entropy input is too short (EntropyFailed) or too long (RequestTooLarge)."""
        low, high = self.ENTROPY_BYTES
        if len(entropy_input) < low:
            raise EntropyFailed(f"entropy input of {len(entropy_input)} bytes; {low} or more are needed")
        if len(entropy_input) > high:
            raise RequestTooLarge(f"entropy input of {len(entropy_input)} bytes; at most {high} are taken")

    def _check_additional(self, text: bytes, what: str) -> None:
        """Raise :class:`RequestTooLarge` if the input ``text``, named ``what``, is longer than allowed."""
        if len(text) > self.ADDITIONAL_BYTES_MAX:
            raise RequestTooLarge(
                f"{what} of {len(text)} bytes; at most {self.ADDITIONAL_BYTES_MAX} are taken"
            )

    @abstractmethod
    def _instantiate(self, entropy_input: bytes, nonce: bytes, personalization: bytes) -> None: ...

    @abstractmethod
    def _reseed(self, entropy_input: bytes, additional_input: bytes) -> None: ...

    @abstractmethod
    def _generate(self, count: int, additional_input: bytes) -> bytes: ...

    @abstractmethod
    def _wipe(self) -> None: ...
