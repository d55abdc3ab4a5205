"""Data of a machine's enrolment in a progressive link: the certificate request, the answer, and the USB stick.

The request (PKCS #10) names the machine's serial number. The answer of the controller's staff contains the
machine's certificate, the authority's certificate and the broker's address, signed by the authority. Both are
carried on a USB stick without a file system. The controller's staff prepare the stick by writing a mark to it. The
machine never mounts a stick, and never writes to one without the mark. See also :mod:`egm.progressive.link_folder`.
"""

import errno
import json
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Final, Self, TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from egm.config.levels import is_host_name_or_address
from egm.config.serials import check_serial
from egm.errors import OperatorError
from egm.progressive.certificates import convert_read_errors
from meters.entry import encode_canonical_json, parse_json

_ResultT = TypeVar("_ResultT")
#: Device path of a plugged-in stick in the image.
STICK_PATH: Final = Path("/dev/egm/stick")
#: First bytes of a stick that the controller's staff have prepared.
_STICK_FILE_MARK: Final = b"open-egm link stick 1\n"
#: Bytes of a stick that the exchange uses.
_STICK_DATA_SIZE_BYTES: Final = 16384
#: A stick that has not responded within this time is considered lost.
_STICK_SECONDS_MAX: Final = 2.0
#: The code of a refusal by the device error of a stick; any other error means that it was removed or is failing.
_REFUSAL_CODE_BY_ERRNO: Final[Mapping[int, str]] = {
    errno.ENOENT: "link_no_stick",
    errno.ENOTDIR: "link_no_stick",
    errno.ENOMEDIUM: "link_no_stick",
    errno.ENOSPC: "link_stick_full",
    errno.EROFS: "link_stick_locked",
    errno.EACCES: "link_stick_locked",
    errno.EPERM: "link_stick_locked",
}


class EnrolmentError(OperatorError):
    """Raised if a step of the enrolment in the progressive link fails.

    ``code`` names its text on the screen (``notice.refused.<code>``).
    """

    def __init__(self, code: str, **values: str) -> None:
        super().__init__(", ".join((code, *(f"{name} {value}" for name, value in values.items()))))
        self.code = code
        self.values: dict[str, int | str] = {**values}


def compute_digest(data: bytes) -> str:
    """Return the SHA-256 digest of a certificate or key as people compare it: its first 32 digits in groups of four."""
    digest = sha256(data).hexdigest()[:32]
    return "-".join(digest[n : n + 4] for n in range(0, 32, 4))


def compute_key_digest(key: Ed25519PublicKey) -> str:
    """Return the digest of a public key (32 bytes), in the form of :func:`compute_digest`."""
    return compute_digest(key.public_bytes(Encoding.Raw, PublicFormat.Raw))


def _list_common_names(subject: x509.Name) -> list[str]:
    """Return the common names of a certificate's subject."""
    return [str(attribute.value) for attribute in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]


# --------------------------------------------------------------------------------- the request and the answer
def create_request(key: Ed25519PrivateKey, serial: str) -> str:
    """Return a machine's certificate request (PEM)."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, serial)])
    request = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, None)
    return request.public_bytes(Encoding.PEM).decode("ascii")


def read_request(text: str) -> tuple[str, Ed25519PublicKey]:
    """Return the serial and the key of a machine's certificate request. Raises OperatorError for an invalid one."""
    if not text:
        raise OperatorError(
            "the stick holds no request of a machine: let the machine write its request first"
        )
    try:
        with convert_read_errors():
            request = x509.load_pem_x509_csr(text.encode())
            key = request.public_key()
            common_names = _list_common_names(request.subject)
            is_signature_valid = request.is_signature_valid
    except ValueError as error:
        raise OperatorError(f"the request of the machine on the stick cannot be read: {error}") from error
    if not is_signature_valid or not isinstance(key, Ed25519PublicKey) or len(common_names) != 1:
        raise OperatorError("the request on the stick was altered after the machine signed it")
    return check_serial(common_names[0]), key


@dataclass(frozen=True, slots=True)
class EnrolmentAnswer:
    """The answer of the controller's staff to a certificate request: certificates and the broker's address.

    ``certificate`` and ``authority`` are certificates in PEM. ``signature``, in hexadecimal, is made with the key of
    the controller's authority.
    """

    host: str
    port: int
    certificate: str
    authority: str
    signature: str = ""

    def with_signature(self, authority_key: Ed25519PrivateKey) -> Self:
        """Return a copy of the answer to a certificate request, signed by the controller's authority."""
        return replace(self, signature=authority_key.sign(self._encode_content()).hex())

    def _encode_content(self) -> bytes:
        """Return the answer's content, without its signature, as the bytes that are signed."""
        return encode_canonical_json({**asdict(self), "signature": ""})

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Decode the controller's answer from its JSON data. Raises EnrolmentError."""
        match data:
            case {
                "host": str(host),
                "port": int(port),
                "certificate": str(certificate),
                "authority": str(authority),
                "signature": str(signature),
            } if 0 < port <= 65535 and not isinstance(port, bool):
                if not is_host_name_or_address(host):
                    raise EnrolmentError("link_no_host", host=ascii(host[:80]))
                return cls(host, port, certificate, authority, signature)
        raise EnrolmentError("link_not_whole")

    def read_certificate_details(self) -> "CertificateDetails":
        """Return the details of the machine's certificate in the answer.

        Raises EnrolmentError if the answer is incomplete or not signed by its authority.
        """
        try:
            with convert_read_errors():
                certificate = x509.load_pem_x509_certificate(self.certificate.encode())
                authority = x509.load_pem_x509_certificate(self.authority.encode())
                machine_key, authority_key = certificate.public_key(), authority.public_key()
                common_names = _list_common_names(certificate.subject)
                issuer_names = _list_common_names(authority.subject)
        except ValueError as error:
            raise EnrolmentError("link_not_whole") from error
        # People compare the digest of the first certificate in each text; a second one would be used unseen.
        for certificate_object, text in ((certificate, self.certificate), (authority, self.authority)):
            if certificate_object.public_bytes(Encoding.PEM) != text.encode():
                raise EnrolmentError("link_not_whole")
        try:
            with convert_read_errors():
                is_authority = authority.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
                permitted_uses = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
                if not isinstance(authority_key, Ed25519PublicKey) or not isinstance(
                    machine_key, Ed25519PublicKey
                ):
                    raise InvalidSignature
                if not is_authority or ExtendedKeyUsageOID.CLIENT_AUTH not in permitted_uses:
                    raise InvalidSignature
                authority_key.verify(bytes.fromhex(self.signature), self._encode_content())
                certificate.verify_directly_issued_by(authority)
        except (InvalidSignature, ValueError) as error:
            raise EnrolmentError("link_not_signed") from error
        return CertificateDetails(
            serial=", ".join(common_names),
            key_digest=compute_key_digest(machine_key),
            certificate_digest=compute_digest(certificate.public_bytes(Encoding.DER)),
            authority_digest=compute_digest(authority.public_bytes(Encoding.DER)),
            issuer=", ".join(issuer_names),
            valid_from=max(certificate.not_valid_before_utc, authority.not_valid_before_utc),
            valid_until=min(certificate.not_valid_after_utc, authority.not_valid_after_utc),
            broker=f"{self.host}:{self.port}",
        )


@dataclass(frozen=True, slots=True)
class CertificateDetails:
    """The contents of a link certificate that persons compare: its holder, its issuer, and its validity.

    Digests have the form of :func:`compute_digest`; times are UTC.
    """

    serial: str
    key_digest: str
    certificate_digest: str
    authority_digest: str
    issuer: str
    valid_from: datetime
    valid_until: datetime
    broker: str

    def to_entry_fields(self) -> dict[str, str]:
        """Return the certificate's details as texts, by the names of the journal entry's fields."""
        fields = {name: str(value) for name, value in asdict(self).items()}
        return fields | {
            "valid_from": self.valid_from.isoformat(),
            "valid_until": self.valid_until.isoformat(),
        }

    def check_holder_and_validity(self, serial: str, key_digest: str, now: datetime) -> None:
        """Raise EnrolmentError unless the link certificate is for this machine and key, and is valid now."""
        if self.serial != serial:
            raise EnrolmentError("link_other_machine", named=self.serial, serial=serial)
        if self.key_digest != key_digest:
            raise EnrolmentError("link_other_key")
        today = now.date().isoformat()
        if now < self.valid_from:
            raise EnrolmentError("link_not_yet", since=self.valid_from.date().isoformat(), now=today)
        if now > self.valid_until:
            raise EnrolmentError("link_expired", until=self.valid_until.date().isoformat(), now=today)


@dataclass(frozen=True, slots=True)
class EnrolmentStick:
    """A USB stick prepared by the controller's staff: a block device, or an ordinary file that replaces it."""

    path: Path

    def read(self) -> dict[str, object]:
        """Return the stick's content: ``request`` (PEM, or empty) and ``answer`` (None if it is not there yet).

        Raises EnrolmentError.
        """
        data = self._run_device_operation(self._read)
        if not data.startswith(_STICK_FILE_MARK):
            raise EnrolmentError("link_other_stick")
        try:
            content = parse_json(data[len(_STICK_FILE_MARK) :].rstrip(b"\0"))
        except ValueError as error:
            raise EnrolmentError("link_not_whole") from error
        if not isinstance(content, dict):
            raise EnrolmentError("link_not_whole")
        return content

    def read_answer(self) -> EnrolmentAnswer:
        """Return the controller's answer on the stick. Raises EnrolmentError, also if there is no answer."""
        content = self.read().get("answer")
        if content is None:
            raise EnrolmentError("link_no_answer")
        return EnrolmentAnswer.from_json(content)

    def write_request(self, request: str) -> None:
        """Write a machine's certificate request to the USB stick, removing any older answer.

        Raises EnrolmentError.
        """
        try:
            self.read()
        except EnrolmentError as error:
            if error.code != "link_not_whole":  # removed while it was written
                raise
        self.write(request)

    def write(self, request: str = "", answer: EnrolmentAnswer | None = None) -> None:
        """Write a certificate request and an answer to the USB stick, replacing its content.

        Raises EnrolmentError.
        """
        content = {"request": request, "answer": None if answer is None else asdict(answer)}
        data = (_STICK_FILE_MARK + json.dumps(content).encode()).ljust(_STICK_DATA_SIZE_BYTES, b"\0")
        self._run_device_operation(lambda: self._write(data))

    def _read(self) -> bytes:
        """Read the content of the USB stick's device."""
        with self.path.open("rb") as device:
            return device.read(_STICK_DATA_SIZE_BYTES)

    def _write(self, data: bytes) -> None:
        """Write ``data`` to the USB stick's device durably. Raises EnrolmentError if it does not fit."""
        with self.path.open("r+b", buffering=0) as device:
            if device.write(data) != len(data):
                raise EnrolmentError("link_stick_full")
            os.fsync(device.fileno())

    def _run_device_operation(self, operation: Callable[[], _ResultT]) -> _ResultT:
        """Run ``operation`` on the USB stick in a thread and return its result; raise an error after a time limit.

        A stick may stall forever, and the machine must continue. While an operation stalls, no other one is
        started. Errors have a text for the person at the machine.
        """
        thread_name, result = f"stick {self.path}", Future[_ResultT]()
        if any(thread.name == thread_name for thread in threading.enumerate()):
            raise EnrolmentError("link_stick_lost")

        def run_and_store_result() -> None:
            """Run the operation, and store its result or error for the thread that waits for it."""
            try:
                result.set_result(operation())
            except Exception as error:  # noqa: BLE001 (raised again where the result is awaited)
                result.set_exception(error)

        thread = threading.Thread(target=run_and_store_result, name=thread_name, daemon=True)
        thread.start()
        thread.join(_STICK_SECONDS_MAX)
        if thread.is_alive():
            raise EnrolmentError("link_stick_lost")
        try:
            return result.result()
        except OSError as error:
            raise EnrolmentError(_REFUSAL_CODE_BY_ERRNO.get(error.errno or 0, "link_stick_lost")) from error
