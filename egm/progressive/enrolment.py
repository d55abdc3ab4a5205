"""Enrolment of a machine with its link: the request its key signs, the answer, and the stick both travel on.

The request (PKCS #10) names the machine's serial. The answer has its certificate, the authority's, and where
the broker is, signed by the authority. They travel on a stick without a file system, which the floor has
marked: nothing on a stick is mounted, and no other is written. See also :mod:`egm.progressive.link_folder`.
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

from egm.config.levels import is_host
from egm.config.serials import check_serial
from egm.errors import OperatorError
from egm.progressive.certificates import reading
from meters.entry import canonical, parse

_T = TypeVar("_T")
#: Where the image names a stick that is plugged in.
STICK: Final = Path("/dev/egm/stick")
_MARK: Final = b"open-egm link stick 1\n"
_SIZE: Final = 16384
#: A stick that has not answered by then is lost.
_SECONDS: Final = 2.0
#: What a stick's device fails with -> the words for it; anything else, and it was pulled out or is dying.
_FAILURES: Final[Mapping[int, str]] = {
    errno.ENOENT: "link_no_stick",
    errno.ENOTDIR: "link_no_stick",
    errno.ENOMEDIUM: "link_no_stick",
    errno.ENOSPC: "link_stick_full",
    errno.EROFS: "link_stick_locked",
    errno.EACCES: "link_stick_locked",
    errno.EPERM: "link_stick_locked",
}


class EnrolmentError(OperatorError):
    """What was asked cannot be done; ``code`` names its words (``notice.refused.<code>``)."""

    def __init__(self, code: str, **values: str) -> None:
        super().__init__(", ".join((code, *(f"{name} {value}" for name, value in values.items()))))
        self.code = code
        self.values: dict[str, int | str] = {**values}


def digest_of(data: bytes) -> str:
    """What persons compare: 32 hexadecimal digits in fours, of SHA-256."""
    digest = sha256(data).hexdigest()[:32]
    return "-".join(digest[n : n + 4] for n in range(0, 32, 4))


def key_digest(key: Ed25519PublicKey) -> str:
    """The digest of a public key (32 bytes)."""
    return digest_of(key.public_bytes(Encoding.Raw, PublicFormat.Raw))


def _names(subject: x509.Name) -> list[str]:
    return [str(one.value) for one in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]


# ---------------------------------------------------------------------------------------------- what travels
def request_of(key: Ed25519PrivateKey, serial: str) -> str:
    """The request of a machine (PEM)."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, serial)])
    request = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, None)
    return request.public_bytes(Encoding.PEM).decode("ascii")


def read_request(text: str) -> tuple[str, Ed25519PublicKey]:
    """The serial and the key of a request. Raises OperatorError for what is none."""
    if not text:
        raise OperatorError(
            "no machine has written its request onto the stick yet: that comes before the answer"
        )
    try:
        with reading():
            request = x509.load_pem_x509_csr(text.encode())
            key, names, whole = request.public_key(), _names(request.subject), request.is_signature_valid
    except ValueError as error:
        raise OperatorError(f"no request of a machine is on the stick: {error}") from error
    if not whole or not isinstance(key, Ed25519PublicKey) or len(names) != 1:
        raise OperatorError("the request on the stick is not as a machine signed it")
    return check_serial(names[0]), key


@dataclass(frozen=True, slots=True)
class Answer:
    """What the floor gives a machine: certificates (PEM), and where the broker is; signed, hexadecimal."""

    host: str
    port: int
    certificate: str
    authority: str
    signature: str = ""

    def signed(self, authority: Ed25519PrivateKey) -> Self:
        """The same, signed by its authority."""
        return replace(self, signature=authority.sign(self._content()).hex())

    def _content(self) -> bytes:
        return canonical({**asdict(self), "signature": ""})

    @classmethod
    def read(cls, kept: object) -> Self:
        """An answer of its JSON. Raises EnrolmentError."""
        match kept:
            case {
                "host": str(host),
                "port": int(port),
                "certificate": str(certificate),
                "authority": str(authority),
                "signature": str(signature),
            } if 0 < port <= 65535 and not isinstance(port, bool):
                if not is_host(host):
                    raise EnrolmentError("link_no_host", host=ascii(host[:80]))
                return cls(host, port, certificate, authority, signature)
        raise EnrolmentError("link_not_whole")

    def facts(self) -> "Facts":
        """What it says. Raises EnrolmentError for one that is not whole, or not signed by its authority."""
        try:
            with reading():
                certificate = x509.load_pem_x509_certificate(self.certificate.encode())
                authority = x509.load_pem_x509_certificate(self.authority.encode())
                key, signer = certificate.public_key(), authority.public_key()
                names, issuers = _names(certificate.subject), _names(authority.subject)
        except ValueError as error:
            raise EnrolmentError("link_not_whole") from error
        # What persons compare is the first of each: nothing may stand behind it, or before.
        for one, text in ((certificate, self.certificate), (authority, self.authority)):
            if one.public_bytes(Encoding.PEM) != text.encode():
                raise EnrolmentError("link_not_whole")
        try:
            with reading():
                signs = authority.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
                use = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
                if not isinstance(signer, Ed25519PublicKey) or not isinstance(key, Ed25519PublicKey):
                    raise InvalidSignature
                if not signs or ExtendedKeyUsageOID.CLIENT_AUTH not in use:
                    raise InvalidSignature
                signer.verify(bytes.fromhex(self.signature), self._content())
                certificate.verify_directly_issued_by(authority)
        except (InvalidSignature, ValueError) as error:
            raise EnrolmentError("link_not_signed") from error
        return Facts(
            serial=", ".join(names),
            key=key_digest(key),
            certificate=digest_of(certificate.public_bytes(Encoding.DER)),
            authority=digest_of(authority.public_bytes(Encoding.DER)),
            issuer=", ".join(issuers),
            since=max(certificate.not_valid_before_utc, authority.not_valid_before_utc),
            until=min(certificate.not_valid_after_utc, authority.not_valid_after_utc),
            broker=f"{self.host}:{self.port}",
        )


@dataclass(frozen=True, slots=True)
class Facts:
    """What a certificate says, and who stands behind it; digests by :func:`digest_of`, times in UTC."""

    serial: str
    key: str
    certificate: str
    authority: str
    issuer: str
    since: datetime
    until: datetime
    broker: str

    def to_json(self) -> dict[str, str]:
        """As the journal keeps it."""
        told = {name: str(value) for name, value in asdict(self).items()}
        return told | {name: getattr(self, name).isoformat() for name in ("since", "until")}

    def check(self, serial: str, key: str, now: datetime) -> None:
        """Raise EnrolmentError unless it is this machine's, of this key, and of this time."""
        if self.serial != serial:
            raise EnrolmentError("link_other_machine", named=self.serial, serial=serial)
        if self.key != key:
            raise EnrolmentError("link_other_key")
        day = now.date().isoformat()
        if now < self.since:
            raise EnrolmentError("link_not_yet", since=self.since.date().isoformat(), now=day)
        if now > self.until:
            raise EnrolmentError("link_expired", until=self.until.date().isoformat(), now=day)


@dataclass(frozen=True, slots=True)
class Stick:
    """A stick the floor has marked: a device, or a file that stands for one."""

    path: Path

    def read(self) -> dict[str, object]:
        """What is on it: ``request`` and ``answer``. Raises EnrolmentError."""
        data = self._device(self._read)
        if not data.startswith(_MARK):
            raise EnrolmentError("link_other_stick")
        try:
            kept = parse(data[len(_MARK) :].rstrip(b"\0"))
        except ValueError as error:
            raise EnrolmentError("link_not_whole") from error
        if not isinstance(kept, dict):
            raise EnrolmentError("link_not_whole")
        return kept

    def answer(self) -> Answer:
        """The floor's answer. Raises EnrolmentError, also where there is none yet."""
        kept = self.read().get("answer")
        if kept is None:
            raise EnrolmentError("link_no_answer")
        return Answer.read(kept)

    def ask(self, request: str) -> None:
        """Write a machine's request; an answer to an older one is gone. Raises EnrolmentError."""
        try:
            self.read()
        except EnrolmentError as error:
            if error.code != "link_not_whole":  # pulled out while it was written
                raise
        self.write(request)

    def write(self, request: str = "", answer: Answer | None = None) -> None:
        """Make it one of the floor's, with these on it, whatever it is. Raises EnrolmentError."""
        told = {"request": request, "answer": None if answer is None else asdict(answer)}
        data = (_MARK + json.dumps(told).encode()).ljust(_SIZE, b"\0")
        self._device(lambda: self._write(data))

    def _read(self) -> bytes:
        with self.path.open("rb") as device:
            return device.read(_SIZE)

    def _write(self, data: bytes) -> None:
        with self.path.open("r+b", buffering=0) as device:
            if device.write(data) != len(data):
                raise EnrolmentError("link_stick_full")
            os.fsync(device.fileno())

    def _device(self, do: Callable[[], _T]) -> _T:
        """What is done with the device, in a thread that is waited for no longer than the limit.

        A stick may stall without an end, and the machine must go on. As long as one does, no more is asked
        of it. What it fails with is raised in words for whoever holds it.
        """
        name, done = f"stick {self.path}", Future[_T]()
        if any(thread.name == name for thread in threading.enumerate()):
            raise EnrolmentError("link_stick_lost")

        def run() -> None:
            try:
                done.set_result(do())
            except Exception as error:  # noqa: BLE001 (raised where it is waited for)
                done.set_exception(error)

        thread = threading.Thread(target=run, name=name, daemon=True)
        thread.start()
        thread.join(_SECONDS)
        if thread.is_alive():
            raise EnrolmentError("link_stick_lost")
        try:
            return done.result()
        except OSError as error:
            raise EnrolmentError(_FAILURES.get(error.errno or 0, "link_stick_lost")) from error
