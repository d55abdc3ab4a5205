"""A deterministic stream for laboratories: calibration, simulation and regression, never play.

Nothing a cabinet runs can reach this module: it is no mechanism a profile may name, the service takes no
seed, and ``make check`` follows every import of the cabinet's code and refuses one that leads here.
"""

from hashlib import sha256
from typing import Final

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

_COUNTER_START: Final = bytes(16)


class LaboratoryStream:
    """The AES-256 key stream of a number, the same on every machine: ``read`` gives the next bytes of it."""

    __slots__ = ("_stream",)

    def __init__(self, seed: int) -> None:
        key = sha256(b"open-egm laboratory stream " + str(seed).encode()).digest()
        self._stream = Cipher(algorithms.AES256(key), modes.CTR(_COUNTER_START)).encryptor()

    def read(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        return self._stream.update(bytes(count))
