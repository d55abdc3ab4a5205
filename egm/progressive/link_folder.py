"""Folder with the machine's own certificate files for the progressive link.

It contains the private key of a pending request, and the stored certificates with their keys. The files of a
certificate are in a subfolder named by its digest; the symbolic link ``current``, to which the cabinet file
refers, points to the one in use. Every change is one rename, so that a power loss leaves the old or the new
state.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from egm.errors import OperatorError
from egm.medium_errors import find_medium_failure_code
from egm.private_files import (
    replace_private_file,
    require_private_files,
    sync_folder,
    write_private_file,
)
from egm.progressive.certificates import convert_read_errors
from egm.progressive.enrolment_data import (
    CertificateDetails,
    EnrolmentAnswer,
    EnrolmentError,
    compute_key_digest,
)
from meters.entry import parse_json

#: Name of the folder within the state folder.
_FOLDER_NAME: Final = "link"
#: File names of the authority's certificate, the machine's certificate and its private key.
_AUTHORITY_FILE_NAME, _CERTIFICATE_FILE_NAME, _KEY_FILE_NAME = "authority.crt", "machine.crt", "machine.key"
#: Name of the file with the controller's answer.
_ANSWER_FILE_NAME: Final = "answer.json"


@dataclass(frozen=True, slots=True)
class LinkCertificateFolder:
    """The folder of the machine's certificate files for the progressive link; ``root_folder`` need not exist yet."""

    root_folder: Path

    @classmethod
    def for_state_folder(cls, state_folder: Path) -> "LinkCertificateFolder":
        """Return the folder of the link's files within a machine's state folder."""
        return cls(state_folder.absolute() / _FOLDER_NAME)

    @property
    def key_path(self) -> Path:
        """Return the path of the private key in use, in the form that a cabinet file contains."""
        return self.root_folder / "current" / _KEY_FILE_NAME

    def build_cabinet_table(self, host: str, port: int) -> dict[str, object]:
        """Return the cabinet file's table for the progressive link: the broker's address and the paths of the files."""
        file_name_by_table_key = {
            "authority": _AUTHORITY_FILE_NAME,
            "certificate": _CERTIFICATE_FILE_NAME,
            "key": _KEY_FILE_NAME,
        }
        path_by_table_key = {
            table_key: str(self.root_folder / "current" / file_name)
            for table_key, file_name in file_name_by_table_key.items()
        }
        return {"host": host, "port": port, **path_by_table_key}

    # ------------------------------------------------------------------ the key of the pending request
    @property
    def _request_key_path(self) -> Path:
        """Return the path of the private key of the pending certificate request."""
        return self.root_folder / "request.key"

    def read_request_key(self) -> Ed25519PrivateKey | None:
        """Return the private key of the pending certificate request; None if none exists, or if it is damaged.

        Raises EnrolmentError, OperatorError.
        """
        if not self._request_key_path.exists():
            return None
        require_private_files(self._request_key_path)
        try:
            with _convert_medium_errors(), convert_read_errors():
                key = load_pem_private_key(self._request_key_path.read_bytes(), None)
        except ValueError:  # damaged: get_or_create_request_key replaces it
            return None
        return key if isinstance(key, Ed25519PrivateKey) else None

    def get_or_create_request_key(self) -> Ed25519PrivateKey:
        """Return the private key of the pending certificate request; create and store it if no usable one exists.

        Raises EnrolmentError, OperatorError.
        """
        key = self.read_request_key()
        if key is None:
            key = Ed25519PrivateKey.generate()
            with _convert_medium_errors():
                self.root_folder.mkdir(mode=0o700, exist_ok=True)
                sync_folder(self.root_folder.parent)
                replace_private_file(self._request_key_path, _encode_pem(key))
        return key

    # ------------------------------------------------------------------ the certificate in use
    @property
    def current_certificate_digest(self) -> str:
        """Return the digest of the link certificate in use, or an empty string if none is in use."""
        with suppress(OSError):
            certificate_digest = str((self.root_folder / "current").readlink())
            return certificate_digest if self.has_complete_certificate(certificate_digest) else ""
        return ""

    def has_complete_certificate(self, certificate_digest: str) -> bool:
        """Return whether all files of the link certificate with the digest ``certificate_digest`` exist."""
        return all(
            (self.root_folder / certificate_digest / file_name).exists()
            for file_name in (_AUTHORITY_FILE_NAME, _CERTIFICATE_FILE_NAME, _KEY_FILE_NAME, _ANSWER_FILE_NAME)
        )

    def read_certificate_details(self) -> CertificateDetails | None:
        """Return the details of the link certificate in use, or None if none is in use.

        Raises EnrolmentError if damaged.
        """
        certificate_digest = self.current_certificate_digest
        if not certificate_digest:
            return None
        path = self.root_folder / certificate_digest / _ANSWER_FILE_NAME
        with _convert_medium_errors():
            answer_json = path.read_bytes()
        try:
            return EnrolmentAnswer.from_json(parse_json(answer_json)).read_certificate_details()
        except (ValueError, EnrolmentError) as error:
            raise EnrolmentError("link_file_damaged", file=str(path)) from error

    def store_answer(self, answer: EnrolmentAnswer) -> str:
        """Store the certificates of an answer in a new subfolder; the certificate in use does not change.

        Return the digest of the answer's certificate. Raises EnrolmentError.
        """
        key, details = self.read_request_key(), answer.read_certificate_details()
        if key is None or compute_key_digest(key.public_key()) != details.key_digest:
            raise EnrolmentError("link_other_key")
        content_by_file_name: dict[str, str | bytes] = {
            _KEY_FILE_NAME: _encode_pem(key),
            _CERTIFICATE_FILE_NAME: answer.certificate,
            _AUTHORITY_FILE_NAME: answer.authority,
            _ANSWER_FILE_NAME: json.dumps(asdict(answer)),
        }
        new_folder = self.root_folder / f"{details.certificate_digest}.new"
        with _convert_medium_errors():
            if self.has_complete_certificate(details.certificate_digest):
                # The certificate is stored already. Write all its files again, because one may be damaged.
                for file_name, content in content_by_file_name.items():
                    replace_private_file(self.root_folder / details.certificate_digest / file_name, content)
                return details.certificate_digest
            shutil.rmtree(new_folder, ignore_errors=True)
            new_folder.mkdir(mode=0o700)
            for file_name, content in content_by_file_name.items():
                write_private_file(new_folder / file_name, content)
            sync_folder(new_folder)
            new_folder.rename(self.root_folder / details.certificate_digest)
            sync_folder(self.root_folder)
        return details.certificate_digest

    def activate_certificate(self, certificate_digest: str) -> None:
        """Put the stored link certificate with the digest ``certificate_digest`` into use. Raises EnrolmentError."""
        new_symlink = self.root_folder / "current.new"
        with _convert_medium_errors():
            new_symlink.unlink(missing_ok=True)
            new_symlink.symlink_to(certificate_digest)
            new_symlink.replace(self.root_folder / "current")
            sync_folder(self.root_folder)

    def remove_unused_files(self) -> None:
        """Remove the files of older certificates, and the private key of a request that has been answered."""
        certificate_digest = self.current_certificate_digest
        with suppress(OperatorError, OSError):
            details, key = self.read_certificate_details(), self.read_request_key()
            for path in [*self.root_folder.iterdir()] if details is not None else []:
                if path.is_dir() and not path.is_symlink() and path.name != certificate_digest:
                    shutil.rmtree(path)
            if (
                details is not None
                and key is not None
                and compute_key_digest(key.public_key()) == details.key_digest
            ):
                self._request_key_path.unlink()


def _encode_pem(key: Ed25519PrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@contextmanager
def _convert_medium_errors() -> Iterator[None]:
    """Convert errors of the machine's storage medium in the ``with`` block into EnrolmentError."""
    try:
        yield
    except OSError as error:
        raise EnrolmentError(find_medium_failure_code(error), why=str(error)) from error
