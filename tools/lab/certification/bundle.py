"""A certification bundle: evidence, a manifest of its digests, and one signature over the manifest.

``manifest.json`` names every file with its SHA-256; ``manifest.sig`` is the Ed25519 signature (RFC 8032) of
its bytes and ``signer.pub`` the public key, both in hex. The laboratory's public key is all that is needed to
check the bundle (:mod:`egm.verify.certificate`, as a machine does before it offers the game).
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from egm.config.cabinet_file import find_default_state_folder
from egm.errors import OperatorError
from egm.private_files import require_private_files, write_private_file
from egm.verify.certificate import (
    BUNDLE_MANIFEST_NAME,
    BUNDLE_SIGNATURE_NAME,
    BUNDLE_SIGNER_NAME,
    BundleError,
    verify_bundle,
)

__all__ = [
    "BUNDLE_MANIFEST_NAME",
    "BUNDLE_SIGNATURE_NAME",
    "BUNDLE_SIGNER_NAME",
    "BundleError",
    "find_key_path",
    "list_bundles",
    "load_laboratory_key",
    "verify_bundle",
    "write_bundle",
]

#: File name of the laboratory's signing key.
_PRIVATE_KEY_FILE_NAME: Final = "laboratory.key"


def find_key_path(key_option: Path | None, bundles_folder: Path) -> Path:
    """Return the path of the laboratory's signing key: ``key_option``, or the default next to the state folder.

    Bundles are written to ``bundles_folder``, which is given to others. Raises BundleError if the path is in
    ``bundles_folder``, or if ``bundles_folder`` already contains a private key.
    """
    path = key_option or find_default_state_folder().with_name(f"open-egm-{_PRIVATE_KEY_FILE_NAME}")
    forgotten_path = bundles_folder / _PRIVATE_KEY_FILE_NAME
    for key_path in (path, *([forgotten_path] if forgotten_path.exists() else [])):
        if key_path.resolve().is_relative_to(bundles_folder.resolve()):
            raise BundleError(
                f"{key_path}: the laboratory's private key must not be in {bundles_folder}, which is handed over; "
                "keep it elsewhere and name it with --key"
            )
    return path


def load_laboratory_key(path: Path) -> Ed25519PrivateKey:
    """Return the laboratory's signing key in ``path`` (32 bytes in hex); create it if missing, for its owner only."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        key = Ed25519PrivateKey.generate()
        seed = key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
        write_private_file(path, seed.hex() + "\n")
        return key
    try:
        require_private_files(path)
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(path.read_text(encoding="ascii").strip()))
    except OperatorError as error:
        raise BundleError(str(error)) from None
    except ValueError as error:
        raise BundleError(f"{path}: expected a signing key of 32 bytes in hexadecimal: {error}") from None


def list_bundles(folder: Path) -> tuple[Path, ...]:
    """Return the folder itself if it is a certification bundle, or else its subfolders that are bundles.

    A bundle has a manifest. Raises BundleError if none exists.
    """
    if (folder / BUNDLE_MANIFEST_NAME).exists():
        return (folder,)
    bundles = tuple(sorted(path.parent for path in folder.glob(f"*/{BUNDLE_MANIFEST_NAME}")))
    if not bundles:
        raise BundleError(
            f"{folder} is not a bundle: neither it nor any folder in it has a {BUNDLE_MANIFEST_NAME}"
        )
    return bundles


def check_all_files_signed(folder: Path, manifest_details: Mapping[str, object]) -> None:
    """Raise BundleError if a verified bundle has files that its manifest does not list; the error names them."""
    listed_files = manifest_details.get("files")
    signed_names = {
        BUNDLE_MANIFEST_NAME,
        BUNDLE_SIGNATURE_NAME,
        BUNDLE_SIGNER_NAME,
        *(listed_files if isinstance(listed_files, Mapping) else ()),
    }
    file_names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
    if unsigned_names := sorted(set(file_names) - signed_names):
        raise BundleError(
            f"{folder}: these files are in the bundle, but not in its signed list: {', '.join(unsigned_names)}"
        )


def write_bundle(
    folder: Path, files: Mapping[str, bytes], manifest_details: Mapping[str, object], key: Ed25519PrivateKey
) -> None:
    """Write a certification bundle into ``folder``: files, a manifest with ``manifest_details``, and its signature."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    digest_by_name = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items())}
    manifest = json.dumps(
        {**manifest_details, "files": digest_by_name}, indent=2, sort_keys=True, ensure_ascii=False
    ).encode()
    (folder / BUNDLE_MANIFEST_NAME).write_bytes(manifest)
    (folder / BUNDLE_SIGNATURE_NAME).write_text(key.sign(manifest).hex() + "\n", encoding="ascii")
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    (folder / BUNDLE_SIGNER_NAME).write_text(public.hex() + "\n", encoding="ascii")
