"""A game's certificate: the folder that ``egm certify`` writes and signs, read by the machine that offers the game.

In the folder (the bundle), ``manifest.json`` lists every file with its SHA-256, the game with the digest of its
definition, the jurisdiction, the lowest return and the date; ``manifest.sig`` is the Ed25519 signature (RFC
8032) of its bytes. The cabinet file (``machine.certifier``) contains the trusted key: the key in the bundle
itself proves nothing.
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from egm.errors import OperatorError
from paytables.wording import format_percent

#: File name of the list of a bundle's files.
BUNDLE_MANIFEST_NAME: Final = "manifest.json"
#: File name of the signature.
BUNDLE_SIGNATURE_NAME: Final = "manifest.sig"
#: File name of the signer's public key.
BUNDLE_SIGNER_NAME: Final = "signer.pub"


class BundleError(OperatorError):
    """Raised if a certification bundle or its key is not valid. The text says which file and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """The certificate that a manufacturer or laboratory gave for one game in one jurisdiction."""

    game: str
    digest: str
    jurisdiction: str
    lowest_return: Fraction
    """The lowest return (RTP) of the game, exact; the machine must compute the same value."""
    certified_on: date
    """The date of the certificate."""
    signer_key_hex: str
    """The public key that signed the certificate, in hexadecimal."""

    @classmethod
    def read(cls, folder: Path, certifier_key_hex: str) -> "Certificate":
        """Return the certificate in the bundle ``folder``.

        Raises :class:`BundleError` if it was not signed with the key ``certifier_key_hex``, or if the game was checked
        but not certified.
        """
        manifest_data = verify_bundle(folder, bytes.fromhex(certifier_key_hex))
        location = folder / BUNDLE_MANIFEST_NAME
        if manifest_data.get("certified") is not True:
            raise BundleError(f"{location}: the game was checked but not certified")
        try:
            return cls(
                game=str(manifest_data["game"]),
                digest=str(manifest_data["digest_sha256"]),
                jurisdiction=str(manifest_data["jurisdiction"]),
                lowest_return=Fraction(str(manifest_data["least_return"])),
                certified_on=datetime.fromisoformat(str(manifest_data["made_utc"])).date(),
                signer_key_hex=certifier_key_hex,
            )
        except (KeyError, ValueError, ZeroDivisionError) as error:
            raise BundleError(f"{location}: is not a certificate of a game: {error!r}") from None

    def check_certifies(self, game_id: str, digest: str, jurisdiction: str, lowest_return: Fraction) -> None:
        """Raise OperatorError unless the certificate is for this digest, jurisdiction and lowest return.

        ``game_id`` is only for the text of the error; the digest identifies the game.
        """
        if self.digest != digest:
            raise OperatorError(
                f"{game_id}: its certificate is of {self.game} with digest {self.digest[:12]}, not of "
                f"{digest[:12]}"
            )
        if self.jurisdiction != jurisdiction:
            raise OperatorError(f"{game_id}: is certified for {self.jurisdiction}, not for {jurisdiction}")
        if self.lowest_return != lowest_return:
            raise OperatorError(
                f"{game_id}: is certified with a return of {format_percent(self.lowest_return, 4)} %; "
                f"this machine computes {format_percent(lowest_return, 4)} %"
            )


def verify_bundle(folder: Path, public_key: bytes | None = None) -> dict[str, object]:
    """Return the content of ``manifest.json`` in a certification bundle, after verifying the bundle.

    The bundle must be complete and correctly signed. Raises :class:`BundleError` naming the file that is wrong.
    ``public_key`` is the laboratory's key, obtained from a trusted source. Without a key, the one in the bundle
    is used, which only shows that nothing has changed since the bundle was signed.
    """
    try:
        manifest = (folder / BUNDLE_MANIFEST_NAME).read_bytes()
        signature = bytes.fromhex((folder / BUNDLE_SIGNATURE_NAME).read_text(encoding="ascii").strip())
        signer_key = bytes.fromhex((folder / BUNDLE_SIGNER_NAME).read_text(encoding="ascii").strip())
    except (OSError, ValueError) as error:
        raise BundleError(f"{folder}: {error}") from None
    if public_key is not None and signer_key != public_key:
        raise BundleError(f"{folder / BUNDLE_SIGNER_NAME}: is not the laboratory's key")
    try:
        Ed25519PublicKey.from_public_bytes(signer_key).verify(signature, manifest)
    except (InvalidSignature, ValueError):
        raise BundleError(
            f"{folder / BUNDLE_SIGNATURE_NAME}: is not the signature of {BUNDLE_MANIFEST_NAME}"
        ) from None
    data, digest_by_file_name = _parse_manifest(manifest, folder / BUNDLE_MANIFEST_NAME)
    for name, digest in digest_by_file_name.items():
        try:
            actual_digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        except OSError as error:
            raise BundleError(f"{folder / name}: {error.strerror}") from None
        if actual_digest != digest:
            raise BundleError(f"{folder / name}: differs from what was signed")
    return data


def _parse_manifest(manifest: bytes, location: Path) -> tuple[dict[str, object], dict[str, object]]:
    """Return the content of a bundle's manifest, and the digest of each file that it lists.

    Raises BundleError if a listed file is outside the bundle's folder.
    """
    try:
        data = json.loads(manifest)
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{location}: is not a manifest: {error}") from None
    digest_by_file_name = data.get("files") if isinstance(data, dict) else None
    if not isinstance(digest_by_file_name, dict) or not digest_by_file_name:
        raise BundleError(f"{location}: names no files")
    for name in digest_by_file_name:
        if Path(name).name != name:
            raise BundleError(f"{location}: {name!r} is not a file in the bundle's folder")
    return data, digest_by_file_name
