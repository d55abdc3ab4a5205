"""The generator HMAC_DRBG with SHA-256 and SHA-512. Source: NIST SP 800-90A Rev. 1, section 10.1.2."""

import hmac
from hashlib import new as new_hash
from typing import ClassVar

from rng.mechanism import Mechanism


class HmacDrbg(Mechanism):
    """The generator HMAC_DRBG with the hash function that a subclass names in ``HASH_NAME``."""

    __slots__ = ("_key", "_v")

    HASH_NAME: ClassVar[str]

    def _instantiate(self, entropy_input: bytes, nonce: bytes, personalization: bytes) -> None:
        """Set K and V from entropy input, nonce and personalization string."""
        width = new_hash(self.HASH_NAME).digest_size
        self._key = bytes(width)
        self._v = b"\x01" * width
        self._update(entropy_input + nonce + personalization)

    def _reseed(self, entropy_input: bytes, additional_input: bytes) -> None:
        """Mix an entropy input and additional input into K and V."""
        self._update(entropy_input + additional_input)

    def _generate(self, count: int, additional_input: bytes) -> bytes:
        """Return ``count`` bytes of output, and update K and V with the additional input."""
        if additional_input:
            self._update(additional_input)
        output = bytearray()
        while len(output) < count:
            self._v = hmac.digest(self._key, self._v, self.HASH_NAME)
            output += self._v
        self._update(additional_input)
        return bytes(output[:count])

    def _update(self, provided_data: bytes) -> None:
        """Run HMAC_DRBG_Update (section 10.1.2.2); its second round runs only if ``provided_data`` is not empty."""
        for separator_byte in (b"\x00", b"\x01") if provided_data else (b"\x00",):
            self._key = hmac.digest(self._key, self._v + separator_byte + provided_data, self.HASH_NAME)
            self._v = hmac.digest(self._key, self._v, self.HASH_NAME)

    def _wipe(self) -> None:
        """Erase K and V."""
        self._key = self._v = b""


class HmacDrbgSha256(HmacDrbg):
    """The generator HMAC_DRBG with SHA-256."""

    __slots__ = ()
    HASH_NAME: ClassVar[str] = "sha256"


class HmacDrbgSha512(HmacDrbg):
    """The generator HMAC_DRBG with SHA-512."""

    __slots__ = ()
    HASH_NAME: ClassVar[str] = "sha512"
