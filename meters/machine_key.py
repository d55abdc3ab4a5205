"""The machine key: it signs checkpoints and exports, and authenticates every entry.

It is an Ed25519 key (RFC 8032), created at the first start. It is stored on both media of the machine's memory and
nowhere else; if one medium loses it, it is read from the other. (The key file of an early version has no second copy.)

The MAC of an entry is an HMAC-SHA256 under a key derived from the machine key; unlike a signature, it is fast enough
for every entry. A person who can write to both copies but lacks the key can therefore not add an entry, not even after
the last signed checkpoint. For other data that the machine must distinguish from forgeries, there is a derived key for
each purpose (:meth:`MachineKey.derive_key`).
"""

import hashlib
import hmac
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from meters.memory_findings import MemoryFinding, MemoryFindingKind
from meters.mirror import MirroredValue
from meters.storage import Storage, read_file

#: File name of the machine key.
KEY_FILE_NAME: Final = "machine.key"
#: Bytes of a MAC (message authentication code).
MAC_SIZE_BYTES: Final = 32
#: Bytes of an Ed25519 seed.
_SEED_SIZE_BYTES: Final = 32
#: Bytes of a key derived for a purpose.
_DERIVED_KEY_SIZE_BYTES: Final = 32


def format_fingerprint(public_key: bytes) -> str:
    """Return the short form of a public key, as shown on the screen: 16 hex digits in groups of four."""
    digest = hashlib.sha256(public_key).hexdigest()[:16]
    return "-".join(digest[n : n + 4] for n in range(0, 16, 4))


def is_signed_by(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether ``signature`` is valid for ``message`` under the Ed25519 ``public_key`` (32 bytes)."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


class MachineKey:
    """The secret signing key of one machine; ``findings`` lists repairs made while reading it."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        """The 32 secret bytes from which the keys are derived."""
        self.findings: list[MemoryFinding] = []
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        """The private key that signs."""
        # These bytes must never change: the MACs of stored entries depend on them.
        self._mac_key = hashlib.sha256(b"open-egm entry seal\0" + seed).digest()
        """The secret key with which entries are authenticated."""
        self.public_key: bytes = self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    @classmethod
    def load(cls, storage: Storage, *folders: Path, repair: bool = False) -> "MachineKey | None":
        """Return the machine's key from the given folders, one per medium, or None if no folder has one.

        If ``repair`` is True, a lost or damaged copy of the key is rewritten, and access by others than the
        files' owner is removed. Raises :class:`JournalDamaged` if copies exist but none is intact, or if two
        intact copies differ.
        """
        old_seed = _read_unmirrored_seed(storage, folders[0])
        if old_seed is not None:
            if repair and folders[1:]:
                key_copies = MirroredValue(storage, folders[1:], KEY_FILE_NAME)
                if key_copies.read() is None:
                    key_copies.write(old_seed)
            return cls(old_seed)
        mirror = MirroredValue(storage, folders, KEY_FILE_NAME)
        seed = mirror.read(repair=repair)
        if seed is None:
            return None
        key = cls(seed)
        key.findings = mirror.findings
        for folder in folders if repair else ():
            if storage.make_private(folder / KEY_FILE_NAME):
                reason = f"{folder / KEY_FILE_NAME} could be read by others than its owner"
                key.findings.append(MemoryFinding(MemoryFindingKind.REPAIRED, KEY_FILE_NAME, reason))
        return key

    @classmethod
    def create(cls, storage: Storage, *folders: Path) -> "MachineKey":
        """Return a new machine key, stored durably in the given folders, one per medium.

        It comes from the random bytes of ``storage``.
        """
        seed = storage.random_bytes(_SEED_SIZE_BYTES)
        MirroredValue(storage, folders, KEY_FILE_NAME).write(seed)
        return cls(seed)

    def derive_key(self, purpose: bytes) -> bytes:
        """Return the 32-byte secret key of this machine for ``purpose``, such as ``b"tickets"``.

        Keys for different purposes reveal nothing about each other or the machine key (HKDF-SHA256, RFC
        5869).
        """
        if not purpose:
            raise ValueError("a derived key must have a purpose")
        return HKDF(SHA256(), _DERIVED_KEY_SIZE_BYTES, b"open-egm", b"open-egm " + purpose).derive(self._seed)

    @property
    def fingerprint(self) -> str:
        """Return the fingerprint of the machine's public key: its short form for people."""
        return format_fingerprint(self.public_key)

    def compute_mac(self, message: bytes) -> bytes:
        """Return the MAC of ``message``, an HMAC of 32 bytes; only this machine can create or check it."""
        return hmac.digest(self._mac_key, message, "sha256")

    def is_mac_valid(self, message: bytes, mac: bytes) -> bool:
        """Return whether ``mac`` is this machine's MAC of ``message``."""
        return hmac.compare_digest(self.compute_mac(message), mac)

    def sign(self, message: bytes) -> bytes:
        """Return the machine's Ed25519 signature of ``message`` (64 bytes)."""
        return self._private.sign(message)


def _read_unmirrored_seed(storage: Storage, folder: Path) -> bytes | None:
    """Return the seed in a key file written by an earlier version, or None for any other file.

    A key file of an earlier version contains the seed and its SHA-256, and has no second copy.
    """
    data = read_file(storage, folder / KEY_FILE_NAME) or b""
    seed, check = data[:_SEED_SIZE_BYTES], data[_SEED_SIZE_BYTES:]
    return seed if len(seed) == _SEED_SIZE_BYTES and hashlib.sha256(seed).digest() == check else None
