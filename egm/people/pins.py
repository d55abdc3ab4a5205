"""PINs, stored only as a scrypt digest (RFC 7914) with an individual salt.

A short PIN can be guessed quickly by anybody who has the digest and enough computers. scrypt makes each
guess expensive, only the machine's user can read the file, and the machine locks a staff number after wrong
PINs. PINs that everybody tries first are refused.
"""

import hmac
import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from egm.errors import OperatorError

#: Length of a PIN's salt, in bytes.
_SALT_SIZE_BYTES: Final = 16
#: Length of a PIN's digest, in bytes.
_DIGEST_SIZE_BYTES: Final = 32
#: scrypt's cost for new PINs: 16 MiB and about 50 ms, unnoticeable at the key pad.
_SCRYPT_COST: Final = 2**14
#: scrypt's block size, its parameter r.
_SCRYPT_BLOCK_SIZE: Final = 8
#: scrypt's parallelisation, its parameter p.
_SCRYPT_PARALLELISM: Final = 1
#: The minimum number of digits of a PIN.
PIN_DIGITS_MIN: Final = 4
#: The maximum number of digits of a PIN.
PIN_DIGITS_MAX: Final = 12


class PinRefusedError(OperatorError):
    """Raised if a new PIN is too weak or malformed; the text says why."""


@dataclass(frozen=True, slots=True)
class PinDigest:
    """The stored scrypt digest of a PIN."""

    salt_hex: str
    digest_hex: str
    cost: int = _SCRYPT_COST
    """The parameter n of scrypt, stored so that the default can be raised later."""

    @classmethod
    def from_pin(
        cls,
        pin: str,
        cost: int = _SCRYPT_COST,
        random_bytes: Callable[[int], bytes] = os.urandom,  # noqa: TID251 (it makes a salt)
    ) -> "PinDigest":
        """Return the digest of a new PIN.

        ``cost`` is scrypt's n, a power of two; ``random_bytes`` returns random bytes for the salt. Raises
        :class:`PinRefusedError` for a PIN that is too weak or malformed.
        """
        check_pin_is_permitted(pin)
        salt = random_bytes(_SALT_SIZE_BYTES)
        return cls(salt.hex(), _compute_scrypt(pin, salt, cost).hex(), cost)

    def is_digest_of(self, pin: str) -> bool:
        """Return whether ``pin`` is the PIN of this digest; the comparison takes constant time."""
        digest = _compute_scrypt(pin, bytes.fromhex(self.salt_hex), self.cost)
        return hmac.compare_digest(digest, bytes.fromhex(self.digest_hex))


#: Matches no PIN that can be typed. Trying it takes as long as a real one, so that timing does not
#: distinguish an unknown number from a wrong PIN.
UNMATCHABLE_PIN_DIGEST: Final = PinDigest("00" * _SALT_SIZE_BYTES, "00" * _DIGEST_SIZE_BYTES)


def check_pin_is_permitted(pin: str) -> None:
    """Raise :class:`PinRefusedError` unless the PIN is 4 to 12 digits, not all equal and not a sequence."""
    if not (pin.isascii() and pin.isdigit() and PIN_DIGITS_MIN <= len(pin) <= PIN_DIGITS_MAX):
        raise PinRefusedError(
            f"a PIN has {PIN_DIGITS_MIN} to {PIN_DIGITS_MAX} digits and no other characters"
        )
    steps = {int(after) - int(before) for before, after in pairwise(pin)}
    if steps in ({0}, {1}, {-1}):
        raise PinRefusedError(
            "a PIN must not consist of equal or consecutive digits, because they are easily guessed"
        )


def _compute_scrypt(pin: str, salt: bytes, cost: int) -> bytes:
    """Return the scrypt digest of a PIN with this salt, at this cost."""
    return Scrypt(
        salt=salt, length=_DIGEST_SIZE_BYTES, n=cost, r=_SCRYPT_BLOCK_SIZE, p=_SCRYPT_PARALLELISM
    ).derive(pin.encode())
