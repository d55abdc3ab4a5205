"""The machine key: it signs checkpoints and exports, and seals every entry.

Ed25519 (RFC 8032), made at the first start, kept in the state folder and nowhere else. The seal of an entry
is an HMAC-SHA256 under a key derived from it: fast enough for every entry, so that somebody who can write
to both copies but lacks the key cannot add one, not even after the last signed checkpoint.
"""

import hashlib
import hmac
import os
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from meters.errors import JournalDamaged
from meters.storage import Storage, read_file, replace_file

FILE_NAME: Final = "machine.key"
SEAL_BYTES: Final = 32
_SEED_BYTES: Final = 32


def fingerprint(public_key: bytes) -> str:
    """Return the short name of a public key, as shown on the screen: 16 hex digits in fours."""
    digest = hashlib.sha256(public_key).hexdigest()[:16]
    return "-".join(digest[n : n + 4] for n in range(0, 16, 4))


def signed_by(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether ``signature`` is that of ``message`` under the Ed25519 ``public_key`` (32 bytes)."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


class MachineKey:
    """The secret of one machine."""

    def __init__(self, seed: bytes) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        self._seal_key = hashlib.sha256(b"open-egm entry seal\0" + seed).digest()
        self.public_key: bytes = self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    @classmethod
    def load(cls, storage: Storage, folder: Path) -> "MachineKey | None":
        """Read the key from ``folder``, or return None when there is none yet.

        The file holds the seed and its SHA-256; raises :class:`JournalDamaged` when they disagree.
        """
        path = folder / FILE_NAME
        data = read_file(storage, path)
        if data is None:
            return None
        seed, check = data[:_SEED_BYTES], data[_SEED_BYTES:]
        if hashlib.sha256(seed).digest() != check:
            raise JournalDamaged(str(path), "the key is not what was written")
        return cls(seed)

    @classmethod
    def create(cls, storage: Storage, folder: Path) -> "MachineKey":
        """Make a key in ``folder``, durably, from the operating system's generator."""
        seed = os.urandom(_SEED_BYTES)
        replace_file(storage, folder / FILE_NAME, seed + hashlib.sha256(seed).digest())
        return cls(seed)

    @property
    def fingerprint(self) -> str:
        """The short name of the public key."""
        return fingerprint(self.public_key)

    def seal(self, message: bytes) -> bytes:
        """Return the 32-byte seal of ``message``; only this machine can make or check it."""
        return hmac.digest(self._seal_key, message, "sha256")

    def sealed(self, message: bytes, seal: bytes) -> bool:
        """Whether ``seal`` is this machine's seal of ``message``."""
        return hmac.compare_digest(self.seal(message), seal)

    def sign(self, message: bytes) -> bytes:
        """Return the Ed25519 signature of ``message`` (64 bytes)."""
        return self._private.sign(message)
