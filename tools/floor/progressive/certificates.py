"""Certificates for a link, and the broker's configuration that believes nothing else.

One authority signs one certificate for the broker, the controller, each machine and each sign; the name in a
certificate is the name the broker knows its bearer by. Keys are Ed25519 and never leave the folder they are
made in but by the hand that carries them to their machine; a machine that makes its own sends a request.
"""

import contextlib
import getpass
from collections.abc import Iterable
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from egm.config.levels import is_host
from egm.errors import OperatorError
from egm.progressive import topics
from egm.progressive.certificates import reading
from egm.progressive.enrolment import Answer, key_digest, read_request
from egm.secret_files import replace_private, require_private, write_private

CONTROLLER: Final = "controller"
SIGN: Final = "sign"
BROKER: Final = "broker"
AUTHORITY: Final = "authority"
REVOKED: Final = "revoked.crl"
_VALID_DAYS: Final = 825
_SKEW: Final = timedelta(hours=1)


def make_authority(folder: Path, now: datetime) -> None:
    """Make the link's authority in ``folder``. Raises OperatorError where one is already."""
    if (folder / f"{AUTHORITY}.crt").exists():
        raise OperatorError(f"{folder}: there is an authority already")
    folder.mkdir(parents=True, exist_ok=True)
    key = Ed25519PrivateKey.generate()
    name = _name("open-egm progressive link")
    builder = _builder(name, name, key.public_key(), now).add_extension(
        x509.BasicConstraints(ca=True, path_length=0), critical=True
    )
    usage = x509.KeyUsage(
        key_cert_sign=True,
        crl_sign=True,
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    builder = builder.add_extension(usage, critical=True).add_extension(
        x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
    )
    _write(folder, AUTHORITY, key, builder.sign(key, None))
    write_revocations(folder, now)


def make_certificate(folder: Path, name: str, now: datetime, hosts: Iterable[str] = ()) -> None:
    """Sign a certificate for ``name``; ``hosts``: where a broker is reached. Raises OperatorError."""
    key = Ed25519PrivateKey.generate()
    _write(folder, name, key, _signed(folder, name, key.public_key(), now, tuple(hosts)))


def answer_request(folder: Path, request: str, key: str, now: datetime, broker: tuple[str, int]) -> Answer:
    """Sign the certificate a machine asks for; what is taken back to it.

    ``request`` is a PKCS #10 (PEM); ``key`` the digest of its key as the machine's screen shows it;
    ``broker`` host and port. The certificate is kept beside the others. Raises OperatorError.
    """
    if not is_host(broker[0]):
        raise OperatorError(f"{broker[0]!r} is neither a host name nor an address")
    serial, public = read_request(request)
    if key.replace("-", "").lower() != key_digest(public).replace("-", ""):
        raise OperatorError(f"the request is of the key {key_digest(public)}, not of {key}")
    if serial in {CONTROLLER, SIGN, BROKER, AUTHORITY}:
        raise OperatorError(f"{serial}: is no machine's serial")
    path = folder / f"{serial}.crt"
    authority, signer = _authority(folder)
    known = _read(path) if path.exists() else None
    if known is not None and known.public_key() == public:  # what was signed did not get onto the stick
        certificate = known
    else:
        certificate = _signed(folder, serial, public, now)
        replace_private(path, certificate.public_bytes(serialization.Encoding.PEM))
    texts = (one.public_bytes(serialization.Encoding.PEM).decode() for one in (certificate, authority))
    return Answer(*broker, *texts).signed(signer)


def _signed(
    folder: Path, name: str, key: Ed25519PublicKey, now: datetime, hosts: tuple[str, ...] = ()
) -> x509.Certificate:
    """A certificate for ``name``."""
    if (folder / f"{name}.crt").exists():
        raise OperatorError(f"{folder}: there is a certificate for {name} already")
    authority, signer = _authority(folder)
    use = ExtendedKeyUsageOID.SERVER_AUTH if hosts else ExtendedKeyUsageOID.CLIENT_AUTH
    builder = (
        _builder(_name(name), authority.subject, key, now)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([use]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
    )
    if hosts:
        builder = builder.add_extension(
            x509.SubjectAlternativeName([_host(each) for each in hosts]), critical=False
        )
    return builder.sign(signer, None)


def revoke(folder: Path, name: str, now: datetime) -> None:
    """Revoke the certificate of ``name``; it is put aside, so that a new one may be made.

    The broker refuses its bearer from its next start on. Raises OperatorError where there is none.
    """
    certificate = folder / f"{name}.crt"
    if certificate.parent != folder:
        raise OperatorError(f"{name!r} names no certificate of {folder}")
    if name in {AUTHORITY, BROKER}:
        raise OperatorError(f"{name}: no list revokes it: make a new folder of certificates")
    try:
        with reading():
            serial = x509.load_pem_x509_certificate(certificate.read_bytes()).serial_number
    except (OSError, ValueError) as error:
        raise OperatorError(f"{certificate}: no certificate to revoke: {error}") from error
    write_revocations(folder, now, serial)
    for suffix in ("crt", "key"):
        with contextlib.suppress(FileNotFoundError):  # the key lies with its machine
            (folder / f"{name}.{suffix}").rename(folder / f"{name}.revoked-{serial:x}.{suffix}")


def write_revocations(folder: Path, now: datetime, serial: int | None = None) -> None:
    """Sign the list of revoked certificates anew, with one more; without one, what it was.

    It is good for as long as a certificate is: a broker with a list that has run out lets nobody in. Raises
    OperatorError where it cannot be signed.
    """
    authority, signer = _authority(folder)
    path = folder / REVOKED
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(authority.subject)
        .last_update(now - _SKEW)
        .next_update(now + timedelta(days=_VALID_DAYS))
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
    )
    try:
        with reading():
            known = tuple(x509.load_pem_x509_crl(path.read_bytes())) if path.exists() else ()
    except (OSError, ValueError) as error:
        raise OperatorError(f"{path}: not a list of revoked certificates: {error}") from error
    for revoked in known:
        builder = builder.add_revoked_certificate(revoked)
    if serial is not None and serial not in {revoked.serial_number for revoked in known}:
        entry = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(now)
        builder = builder.add_revoked_certificate(entry.build())
    fresh = path.with_suffix(".new")
    fresh.write_bytes(builder.sign(signer, None).public_bytes(serialization.Encoding.PEM))
    fresh.replace(path)


def _read(path: Path) -> x509.Certificate:
    try:
        with reading():
            return x509.load_pem_x509_certificate(path.read_bytes())
    except (OSError, ValueError) as error:
        raise OperatorError(f"{path}: no certificate: {error}") from error


def _authority(folder: Path) -> tuple[x509.Certificate, Ed25519PrivateKey]:
    """The link's authority and its key. Raises OperatorError, also where others may read the key."""
    key = folder / f"{AUTHORITY}.key"
    require_private(key)
    try:
        with reading():
            authority = x509.load_pem_x509_certificate((folder / f"{AUTHORITY}.crt").read_bytes())
            signer = serialization.load_pem_private_key(key.read_bytes(), None)
    except (OSError, ValueError) as error:
        raise OperatorError(f"{folder}: no authority to sign with: {error}") from error
    if not isinstance(signer, Ed25519PrivateKey):
        raise OperatorError(f"{folder}: the authority's key is no Ed25519 key")
    return authority, signer


def _builder(
    subject: x509.Name, issuer: x509.Name, key: Ed25519PublicKey, now: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + timedelta(days=_VALID_DAYS))
    )


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _write(folder: Path, name: str, key: Ed25519PrivateKey, certificate: x509.Certificate) -> None:
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    write_private(folder / f"{name}.key", secret)
    with (folder / f"{name}.crt").open("xb") as file:
        file.write(certificate.public_bytes(serialization.Encoding.PEM))


def broker_configuration(folder: Path, port: int, host: str = "127.0.0.1") -> Path:
    """Write Mosquitto's configuration and its list of who may do what; return the configuration's path.

    The bearer of a certificate is known by its name and by nothing else; nobody is let in without one,
    or with one that :func:`revoke` has listed.
    """
    access = folder / "broker.acl"
    access.write_text(
        f"""# Written by `egm progressive certificates`: who may do what.
pattern write {topics.up("%u")}
pattern read {topics.down("%u")}
pattern read {topics.ALL_VALUES}

user {CONTROLLER}
topic read {topics.ALL_UP}
topic write {topics.PREFIX}/machine/+/down
topic readwrite {topics.ALL_VALUES}
topic read {topics.ALL_SIGNS}

user {SIGN}
topic read {topics.ALL_VALUES}
topic write {topics.ALL_SIGNS}
""",
        encoding="ascii",
    )
    configuration = folder / "mosquitto.conf"
    configuration.write_text(
        f"""# Written by `egm progressive certificates`; run it with `mosquitto -c {configuration.name}`.
user {getpass.getuser()}
listener {port} {host}
cafile {folder / f"{AUTHORITY}.crt"}
crlfile {folder / REVOKED}
certfile {folder / f"{BROKER}.crt"}
keyfile {folder / f"{BROKER}.key"}
tls_version tlsv1.3
require_certificate true
use_identity_as_username true
allow_anonymous false
acl_file {access}
persistence false
max_packet_size 70000
set_tcp_nodelay true
max_queued_messages 10000
log_dest stderr
log_type error
log_type warning
log_type notice
log_timestamp_format %Y-%m-%dT%H:%M:%S
""",
        encoding="ascii",
    )
    return configuration
