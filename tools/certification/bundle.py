"""The bundle of a certification: evidence, a manifest of its digests, and one signature over that.

``manifest.json`` names every file with its SHA-256; ``manifest.sig`` is the Ed25519 signature (RFC 8032) of
its bytes and ``signer.pub`` the public key, both in hex. Whoever holds the laboratory's public key needs
nothing else to check the whole.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

MANIFEST = "manifest.json"
SIGNATURE = "manifest.sig"
SIGNER = "signer.pub"


class BundleError(Exception):
    """A bundle or key that is not what it should be: which file and why."""


def laboratory_key(path: Path) -> Ed25519PrivateKey:
    """Read the signing key of ``path`` (32 bytes in hex), or make it there for its owner only."""
    if not path.exists():
        key = Ed25519PrivateKey.generate()
        seed = key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(seed.hex() + "\n")
        return key
    try:
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(path.read_text(encoding="ascii").strip()))
    except ValueError as error:
        raise BundleError(f"{path}: no signing key of 32 bytes in hex: {error}") from None


def write(
    folder: Path, files: Mapping[str, bytes], facts: Mapping[str, object], key: Ed25519PrivateKey
) -> None:
    """Write the files, the manifest with ``facts``, and the signature into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    listed = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items())}
    manifest = json.dumps({**facts, "files": listed}, indent=2, sort_keys=True, ensure_ascii=False).encode()
    (folder / MANIFEST).write_bytes(manifest)
    (folder / SIGNATURE).write_text(key.sign(manifest).hex() + "\n", encoding="ascii")
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    (folder / SIGNER).write_text(public.hex() + "\n", encoding="ascii")


def verify(folder: Path, public_key: bytes | None = None) -> dict[str, object]:
    """Return the manifest of a bundle that is whole and signed.

    Raises :class:`BundleError` naming what is not. ``public_key``: the laboratory's, known from elsewhere;
    None trusts the key in the bundle, which shows only that nothing changed since it was signed.
    """
    try:
        manifest = (folder / MANIFEST).read_bytes()
        signature = bytes.fromhex((folder / SIGNATURE).read_text(encoding="ascii").strip())
        signer = bytes.fromhex((folder / SIGNER).read_text(encoding="ascii").strip())
    except (OSError, ValueError) as error:
        raise BundleError(f"{folder}: {error}") from None
    if public_key is not None and signer != public_key:
        raise BundleError(f"{folder / SIGNER}: is not the laboratory's key")
    try:
        Ed25519PublicKey.from_public_bytes(signer).verify(signature, manifest)
    except (InvalidSignature, ValueError):
        raise BundleError(f"{folder / SIGNATURE}: is not the signature of {MANIFEST}") from None
    data: dict[str, object] = json.loads(manifest)
    files = data["files"]
    assert isinstance(files, dict)  # signed, so it is what write() made
    for name, digest in files.items():
        try:
            found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        except OSError as error:
            raise BundleError(f"{folder / name}: {error.strerror}") from None
        if found != digest:
            raise BundleError(f"{folder / name}: is not what was signed")
    return data
