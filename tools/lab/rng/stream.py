"""A deterministic byte stream for laboratories: calibration, simulation and regression, never play.

The cabinet cannot use this module. A profile cannot name it as a mechanism, the random number service accepts no
seed, and ``make check`` rejects every import of the cabinet's code that leads here, directly or indirectly.
"""

from hashlib import sha256
from typing import Final

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

#: The initial counter of the key stream.
_COUNTER_START: Final = bytes(16)


class LaboratoryStream:
    """A repeatable byte stream: the AES-256 key stream of a seed, equal on every computer."""

    __slots__ = ("_stream",)

    def __init__(self, seed: int) -> None:
        key = sha256(b"open-egm laboratory stream " + str(seed).encode()).digest()
        self._stream = Cipher(algorithms.AES256(key), modes.CTR(_COUNTER_START)).encryptor()

    def read(self, count: int) -> bytes:
        """Return the next ``count`` bytes of the repeatable stream."""
        return self._stream.update(bytes(count))
