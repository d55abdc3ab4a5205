"""The manifest: every file of one release of the software with its SHA-256, signed by the manufacturer.

A manifest file is one JSON object: ``manifest`` (the content), ``public_key`` and ``signature``. The signature
(Ed25519, RFC 8032) covers a prefix that states its purpose and the content's canonical JSON, so that it is not
valid for anything else signed with the same key. Before signing, ``public_key`` and ``signature`` are absent.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from egm.errors import OperatorError
from egm.verify.digest import compute_component_digests, is_digest
from egm.verify.software_files import SoftwareScope
from meters.entry import encode_canonical_json, parse_json
from meters.machine_key import is_signed_by
from paytables.source import read_contents

#: The format of manifests, stated in each.
MANIFEST_FORMAT: Final = "open-egm software 1"
#: Precedes the signed content, so that the signature is valid for a software manifest only.
_MANIFEST_SIGNATURE_PURPOSE: Final = b"open-egm software manifest\0"


class ManifestError(OperatorError):
    """Raised if a software manifest cannot be trusted or used. The text says which file and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareManifest:
    """The manifest of one software release."""

    version: str
    made_utc: str
    """The time of the release, UTC, ISO 8601."""
    reason: str
    """The manufacturer's reason for this release; recorded when it is installed (A-16)."""
    includes_libraries: bool
    """Whether the manifest also lists the files of all other packages in the Python environment."""
    includes_bytecode: bool
    """Whether the manifest also lists compiled Python modules."""
    files: Mapping[str, str]
    """The SHA-256 of each file in hexadecimal, by file name."""

    def build_scope(self, own_files: tuple[tuple[str, str], ...]) -> SoftwareScope:
        """Return which files to verify on a cabinet; ``own_files`` are its definition files outside the library."""
        return SoftwareScope(
            cabinet_definitions=own_files,
            includes_libraries=self.includes_libraries,
            includes_bytecode=self.includes_bytecode,
        )

    @property
    def components(self) -> dict[str, str]:
        """Return the digest of each software component, by component name."""
        return compute_component_digests(self.files)

    def build_signed_content(self) -> dict[str, object]:
        """Return the part of the manifest that is signed, as JSON data."""
        return {
            "format": MANIFEST_FORMAT,
            "version": self.version,
            "made": self.made_utc,
            "reason": self.reason,
            "libraries": self.includes_libraries,
            "bytecode": self.includes_bytecode,
            "files": dict(self.files),
        }


class DifferenceKind(StrEnum):
    """The ways in which a software file can differ from the manifest."""

    ALTERED = "altered"
    MISSING = "missing"
    FOREIGN = "foreign"
    """The file is installed but is not in the manifest."""
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class FileDifference:
    """A software file that differs from the manifest, and how it differs."""

    name: str
    kind: DifferenceKind

    def __str__(self) -> str:
        return f"{self.name}: {self.kind}"


def find_differences(manifest: SoftwareManifest, digests: Mapping[str, str]) -> tuple[FileDifference, ...]:
    """Return the files that differ from the manifest, ordered by name.

    ``digests`` has the digest of each installed file, from :func:`~egm.verify.digest.compute_digests`.
    """

    def find_difference_kind(name: str) -> DifferenceKind | None:
        """Return how the file with this name differs from the manifest, or None if it does not."""
        present_digest, signed_digest = digests.get(name), manifest.files.get(name)
        if signed_digest is None:
            return DifferenceKind.FOREIGN
        if present_digest is None or (not is_digest(present_digest) and name.startswith("own/")):
            return DifferenceKind.MISSING
        if not is_digest(present_digest):
            return DifferenceKind.UNREADABLE
        return DifferenceKind.ALTERED if present_digest != signed_digest else None

    names = sorted(manifest.files.keys() | digests.keys())
    return tuple(
        FileDifference(name, difference_kind)
        for name in names
        if (difference_kind := find_difference_kind(name)) is not None
    )


def encode_unsigned_manifest(manifest: SoftwareManifest) -> bytes:
    """Return the bytes of a manifest file without public key and signature."""
    return encode_canonical_json({"manifest": manifest.build_signed_content()}) + b"\n"


def encode_signed_manifest(data: bytes, key: Ed25519PrivateKey, file_name: str) -> bytes:
    """Return the bytes of a manifest file signed with ``key``.

    ``data`` are the bytes of the unsigned file; a signature in it is replaced. Raises ManifestError, naming
    ``file_name``.
    """
    content = _parse_manifest_file(data, file_name)["manifest"]
    _parse_manifest_content(content, file_name)
    public_key = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    signature = key.sign(_MANIFEST_SIGNATURE_PURPOSE + encode_canonical_json(content))
    signed_manifest = {"manifest": content, "public_key": public_key.hex(), "signature": signature.hex()}
    return encode_canonical_json(signed_manifest) + b"\n"


def load_signed_manifest(path: Path, public_key_hex: str) -> SoftwareManifest:
    """Return the manifest in a file, after checking its signature with this public key (hexadecimal).

    Raises ManifestError if the file is not a manifest, or is not signed with this key.
    """
    try:
        data = read_contents(path)
    except OSError as error:
        raise ManifestError(f"manifest {path}: {error.strerror}") from None
    signed_manifest = _parse_manifest_file(data, str(path))
    if "signature" not in signed_manifest:
        raise ManifestError(f"manifest {path}: is not signed")
    if signed_manifest.get("public_key") != public_key_hex:
        raise ManifestError(f"manifest {path}: is not signed with the pinned key")
    try:
        signature = bytes.fromhex(signed_manifest["signature"])
    except (TypeError, ValueError):
        raise ManifestError(f"manifest {path}: signature: not hexadecimal") from None
    content = signed_manifest["manifest"]
    if not is_signed_by(
        bytes.fromhex(public_key_hex), _MANIFEST_SIGNATURE_PURPOSE + encode_canonical_json(content), signature
    ):
        raise ManifestError(f"manifest {path}: the signature is not that of this manifest")
    return _parse_manifest_content(content, str(path))


def _parse_manifest_file(data: bytes, file_name: str) -> dict[str, Any]:
    """Return the JSON object in a manifest file: content, public key and signature.

    Raises ManifestError if it is not a manifest.
    """
    try:
        parsed = parse_json(data)
    except ValueError as error:
        raise ManifestError(f"manifest {file_name}: not JSON: {error}") from None
    if not isinstance(parsed, dict) or not isinstance(parsed.get("manifest"), dict):
        raise ManifestError(f"manifest {file_name}: must be a JSON object with the key manifest")
    return parsed


def _parse_manifest_content(content: Mapping[str, Any], file_name: str) -> SoftwareManifest:
    """Return the manifest that the ``content`` of a manifest file describes.

    Raises ManifestError for a missing or malformed value.
    """
    if content.get("format") != MANIFEST_FORMAT:
        raise ManifestError(
            f"manifest {file_name}: format: {content.get('format')!r} is not {MANIFEST_FORMAT!r}"
        )
    type_by_key: dict[str, type] = {
        "version": str,
        "made": str,
        "reason": str,
        "libraries": bool,
        "bytecode": bool,
    }
    for key, expected_type in (type_by_key | {"files": dict}).items():
        if not isinstance(content.get(key), expected_type):
            raise ManifestError(f"manifest {file_name}: {key}: must be of type {expected_type.__name__}")
    if not all(isinstance(digest, str) for digest in content["files"].values()):
        raise ManifestError(f"manifest {file_name}: files: a digest is not a text")
    return SoftwareManifest(
        version=content["version"],
        made_utc=content["made"],
        reason=content["reason"],
        includes_libraries=content["libraries"],
        includes_bytecode=content["bytecode"],
        files=content["files"],
    )


# ------------------------------------------------------------------ the manufacturer's key
def create_signing_key() -> bytes:
    """Return a manufacturer's new private key as PEM (PKCS #8); it must never be stored on a machine."""
    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def read_signing_key(pem: bytes, file_name: str) -> Ed25519PrivateKey:
    """Return a manufacturer's private key from PEM. Raises ManifestError, naming ``file_name``."""
    try:
        key = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise ManifestError(f"key {file_name}: cannot be read: {error}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ManifestError(f"key {file_name}: is not an Ed25519 key")
    return key


def format_public_key(key: Ed25519PrivateKey) -> str:
    """Return the public key as cabinet files state it: 64 hexadecimal digits."""
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()
