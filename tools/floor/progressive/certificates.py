"""Certificates for a progressive link, and a broker configuration that accepts only these.

One authority signs a certificate each for the broker, the controller, every machine and every sign. The
broker identifies a client by the name in its certificate, which is the only client id that it may use: the
holder of another certificate cannot disconnect a client by using its id. Keys are Ed25519. A key stays in the
folder in which it is created until a person carries it to its machine; a machine that creates its own key
sends only a certificate request.
"""

import contextlib
import getpass
from collections.abc import Iterable
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from egm.config.levels import is_host_name_or_address
from egm.errors import OperatorError
from egm.private_files import replace_private_file, replace_public_file, require_private_files, sync_folder
from egm.progressive import topics
from egm.progressive.certificates import convert_read_errors
from egm.progressive.enrolment_data import EnrolmentAnswer, compute_key_digest, read_request

#: The controller's name in its certificate.
CONTROLLER_CERTIFICATE_NAME: Final = "controller"
#: The prefix of the names of signs, followed by a hyphen (``sign-1``).
SIGN_CERTIFICATE_PREFIX: Final = "sign"
#: The broker's name in its certificate.
BROKER_CERTIFICATE_NAME: Final = "broker"
#: The authority's name.
AUTHORITY_CERTIFICATE_NAME: Final = "authority"
#: The file name of the list of revoked certificates.
REVOCATION_LIST_FILE_NAME: Final = "revoked.crl"
#: Days for which a certificate is valid.
_CERTIFICATE_VALID_DAYS: Final = 825
#: How long before its creation a certificate becomes valid, because clocks differ.
_CLOCK_TOLERANCE: Final = timedelta(hours=1)
#: The separator between a name and the serial number of its revoked certificate, in the archived file names.
_ARCHIVE_SEPARATOR: Final = ".revoked-"


def format_sign_name(name: str) -> str:
    """Return the name of a sign in its certificate and in its MQTT topics: ``sign-`` followed by ``name``."""
    return f"{SIGN_CERTIFICATE_PREFIX}-{name}"


def _refuse_reserved_name(machine_name: str) -> None:
    """Raise OperatorError if a machine's name is reserved for the broker, the controller, the authority or a sign."""
    if machine_name in {
        CONTROLLER_CERTIFICATE_NAME,
        SIGN_CERTIFICATE_PREFIX,
        BROKER_CERTIFICATE_NAME,
        AUTHORITY_CERTIFICATE_NAME,
    } or machine_name.startswith(format_sign_name("")):
        raise OperatorError(f"{machine_name} is not a valid machine serial number")


def make_link_certificates(
    folder: Path, machine_names: Iterable[str], host: str, now: datetime, sign_names: Iterable[str] = ("1",)
) -> tuple[str, ...]:
    """Create in ``folder`` the missing certificate files of a progressive link.

    These are the authority, the revocation list, and certificates for broker, controller, signs and machines;
    ``host`` is the broker's host. Returns the names certified by this call; if a call is interrupted, the
    next one completes it. Raises OperatorError, for example if an existing certificate is not usable now.
    """
    if not is_host_name_or_address(host):
        raise OperatorError(f"{host!r} is neither a host name nor an address")
    if (folder / f"{AUTHORITY_CERTIFICATE_NAME}.crt").exists():
        write_revocation_list(folder, now)
    else:
        make_authority(folder, now)
    authority, _ = _load_authority(folder, now)
    machine_names, certified_names = tuple(machine_names), []
    for machine_name in machine_names:
        _refuse_reserved_name(machine_name)
    for name in dict.fromkeys(
        (
            BROKER_CERTIFICATE_NAME,
            CONTROLLER_CERTIFICATE_NAME,
            *map(format_sign_name, sign_names),
            *machine_names,
        )
    ):
        certificate = _find_current_certificate(folder, name)
        if certificate is None:
            make_certificate(folder, name, now, (host,) if name == BROKER_CERTIFICATE_NAME else ())
            certified_names.append(name)
        elif fault := _find_certificate_error(certificate, authority, now):
            remedy = "remove it" if name == BROKER_CERTIFICATE_NAME else f"`egm progressive revoke` {name}"
            raise OperatorError(
                f"{folder / name}.crt: {fault}: if the clock is right, {remedy} and run this again"
            )
    return tuple(certified_names)


def make_authority(folder: Path, now: datetime) -> None:
    """Create the link's certificate authority in ``folder``. Raises OperatorError if there is one already."""
    if (folder / f"{AUTHORITY_CERTIFICATE_NAME}.crt").exists():
        raise OperatorError(f"{folder} already has an authority")
    folder.mkdir(parents=True, exist_ok=True)
    key = _load_key(folder, AUTHORITY_CERTIFICATE_NAME)
    name = _build_name("open-egm progressive link")
    builder = _create_builder(name, name, key.public_key(), now).add_extension(
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
    _store_certificate(folder, AUTHORITY_CERTIFICATE_NAME, builder.sign(key, None))
    write_revocation_list(folder, now)


def make_certificate(folder: Path, name: str, now: datetime, hosts: Iterable[str] = ()) -> None:
    """Sign and store a certificate for one member of the progressive link: a machine, a sign, the broker ...

    ``hosts``: the broker's host names. Raises OperatorError if the member has a certificate already.
    """
    _require_no_certificate(folder, name)
    key = _load_key(folder, name)
    _store_certificate(folder, name, _sign_certificate(folder, name, key.public_key(), now, tuple(hosts)))


def answer_request(
    folder: Path, request: str, key_digest: str, now: datetime, broker_host_and_port: tuple[str, int]
) -> EnrolmentAnswer:
    """Sign the certificate that a machine requests; return the answer, which a person carries to the machine.

    ``request`` is a PKCS #10 request (PEM), ``key_digest`` the digest of its key as shown on the machine's
    screen, and ``broker_host_and_port`` the broker's host and port. The certificate is stored with the others.
    If the machine has a certificate of this key, that certificate is returned again, or replaced if it is not
    valid now. Raises OperatorError if the request is invalid, or if the machine has a certificate of another
    key, which must be revoked first.
    """
    if not is_host_name_or_address(broker_host_and_port[0]):
        raise OperatorError(f"{broker_host_and_port[0]!r} is neither a host name nor an address")
    serial, public = read_request(request)
    if key_digest.replace("-", "").lower() != compute_key_digest(public).replace("-", ""):
        raise OperatorError(f"the request has the key {compute_key_digest(public)}, not {key_digest}")
    _refuse_reserved_name(serial)
    authority, signer = _load_authority(folder, now)
    current_certificate = _find_current_certificate(folder, serial)
    if (
        current_certificate is not None
        and current_certificate.public_key() == public
        and _find_certificate_error(current_certificate, authority, now)
    ):
        revoke_certificate(folder, serial, now)  # the clock was wrong when it was signed, or it has expired
        current_certificate = None
    # The key is already certified: the earlier answer probably never reached the machine, so give the same one again.
    if current_certificate is not None and current_certificate.public_key() == public:
        certificate = current_certificate
    else:
        _require_no_certificate(folder, serial)
        certificate = _sign_certificate(folder, serial, public, now)
        _store_certificate(folder, serial, certificate)
    texts = (item.public_bytes(serialization.Encoding.PEM).decode() for item in (certificate, authority))
    return EnrolmentAnswer(*broker_host_and_port, *texts).with_signature(signer)


def _sign_certificate(
    folder: Path, name: str, public_key: Ed25519PublicKey, now: datetime, hosts: tuple[str, ...] = ()
) -> x509.Certificate:
    """Sign a certificate for a name and its key and return it; it expires no later than the authority's own."""
    authority, signer = _load_authority(folder, now)
    key_usage = ExtendedKeyUsageOID.SERVER_AUTH if hosts else ExtendedKeyUsageOID.CLIENT_AUTH
    builder = (
        _create_builder(_build_name(name), authority.subject, public_key, now, authority)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([key_usage]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
    )
    if hosts:
        builder = builder.add_extension(
            x509.SubjectAlternativeName([_build_host_name(each) for each in hosts]), critical=False
        )
    return builder.sign(signer, None)


def revoke_certificate(folder: Path, name: str, now: datetime) -> None:
    """Revoke the certificate of ``name`` and archive it, so that a new one may be made.

    The broker reads the revocation list at its start, and rejects the certificate from then on. Raises
    OperatorError if ``name`` has no certificate.
    """
    certificate_path = folder / f"{name}.crt"
    if certificate_path.parent != folder:
        raise OperatorError(f"{name!r} is not the name of a certificate in {folder}")
    if name in {AUTHORITY_CERTIFICATE_NAME, BROKER_CERTIFICATE_NAME}:
        raise OperatorError(f"{name} cannot be revoked by a list: make a new folder of certificates")
    if not certificate_path.exists():
        raise OperatorError(f"{certificate_path}: there is no certificate to revoke")
    serial_number = _read_certificate(certificate_path).serial_number
    write_revocation_list(folder, now, serial_number)
    _archive_certificate(folder, name, serial_number)


def write_revocation_list(folder: Path, now: datetime, revoked_serial: int | None = None) -> None:
    """Sign the list of revoked certificates again, and add the certificate with the serial number ``revoked_serial``.

    The list contains every archived certificate, even if the previous list was lost. It is valid as long as a
    certificate, because a broker whose list has expired rejects every client. Raises OperatorError if it
    cannot be signed.
    """
    authority, signer = _load_authority(folder, now)
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(authority.subject)
        .last_update(now - _CLOCK_TOLERANCE)
        .next_update(now + timedelta(days=_CERTIFICATE_VALID_DAYS))
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
    )
    revoked_by_serial = _read_revocation_list(folder)
    for revoked in revoked_by_serial.values():
        builder = builder.add_revoked_certificate(revoked)
    archived_serials = _list_archived_serials(folder) | (
        set() if revoked_serial is None else {revoked_serial}
    )
    for archived_serial in sorted(archived_serials - revoked_by_serial.keys()):
        entry = x509.RevokedCertificateBuilder().serial_number(archived_serial).revocation_date(now)
        builder = builder.add_revoked_certificate(entry.build())
    signed_list = builder.sign(signer, None).public_bytes(serialization.Encoding.PEM)
    replace_public_file(folder / REVOCATION_LIST_FILE_NAME, signed_list)


def _read_revocation_list(folder: Path) -> dict[int, x509.RevokedCertificate]:
    """Return the entries of the revocation list, by the certificate's serial number."""
    path = folder / REVOCATION_LIST_FILE_NAME
    try:
        with convert_read_errors():
            entries = tuple(x509.load_pem_x509_crl(path.read_bytes())) if path.exists() else ()
    except (OSError, ValueError) as error:
        raise OperatorError(
            f"{path}: not a list of revoked certificates: {error}: remove it and run `egm progressive "
            "certificates`: it is created again from the revoked certificates in its folder"
        ) from error
    return {revoked.serial_number: revoked for revoked in entries}


def _list_archived_serials(folder: Path) -> set[int]:
    """Return the serial numbers of the certificates archived by :func:`revoke_certificate`, from their file names."""
    serials = set()
    for path in folder.glob(f"*{_ARCHIVE_SEPARATOR}*"):
        if path.suffix not in {".crt", ".key"}:
            continue
        try:
            serials.add(int(path.stem.partition(_ARCHIVE_SEPARATOR)[2], 16))
        except ValueError:
            raise OperatorError(
                f"{path}: its name does not contain a certificate's serial number: restore its name, or take "
                "it out of this folder"
            ) from None
    return serials


def _archive_certificate(folder: Path, name: str, serial_number: int) -> None:
    """Rename the certificate and key files of ``name`` to names with the certificate's serial number.

    The certificate is renamed last, so that an interrupted call can be repeated.
    """
    for suffix in ("key", "crt"):
        with contextlib.suppress(FileNotFoundError):  # the key may be on its machine only
            (folder / f"{name}.{suffix}").rename(
                folder / f"{name}{_ARCHIVE_SEPARATOR}{serial_number:x}.{suffix}"
            )
    sync_folder(folder)


def _find_current_certificate(folder: Path, name: str) -> x509.Certificate | None:
    """Return the certificate of ``name``, or None; complete an interrupted revocation first."""
    path = folder / f"{name}.crt"
    if not path.exists():
        return None
    certificate = _read_certificate(path)
    if certificate.serial_number not in _read_revocation_list(folder):
        return certificate
    _archive_certificate(folder, name, certificate.serial_number)
    return None


def _require_no_certificate(folder: Path, name: str) -> None:
    """Raise OperatorError if ``name`` already has a certificate."""
    if _find_current_certificate(folder, name) is not None:
        raise OperatorError(
            f"{folder}: there is a certificate for {name} already: `egm progressive revoke` it first"
        )


def _find_certificate_error(certificate: x509.Certificate, authority: x509.Certificate, now: datetime) -> str:
    """Return why a certificate is not usable now, as words that follow its name; "" if it is usable."""
    try:
        with convert_read_errors():
            certificate.verify_directly_issued_by(authority)
    except (InvalidSignature, ValueError):
        return "is not signed by the authority of this folder"
    return _find_validity_error(certificate, now)


def _find_validity_error(certificate: x509.Certificate, now: datetime) -> str:
    """Return, as words that follow a certificate's name, that it is not valid at ``now``; "" if it is valid."""
    valid_from, valid_until = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if valid_from <= now <= valid_until:
        return ""
    first_minute, last_minute, this_minute = (
        f"{each:%Y-%m-%d %H:%M}" for each in (valid_from, valid_until, now)
    )
    return f"is valid from {first_minute} to {last_minute} UTC, and this computer's clock says {this_minute}"


def _read_certificate(path: Path) -> x509.Certificate:
    """Return the certificate in a file. Raises OperatorError if it cannot be read."""
    try:
        data = path.read_bytes()
        if not data.strip():
            raise OperatorError(
                f"{path} is empty, as after a power loss: remove it, and create it again with the same command "
                "(`egm progressive certificates`, or `enrol` for a machine that created its own key)"
            )
        with convert_read_errors():
            return x509.load_pem_x509_certificate(data)
    except (OSError, ValueError) as error:
        raise OperatorError(f"{path}: not a certificate: {error}") from error


def _load_authority(folder: Path, now: datetime) -> tuple[x509.Certificate, Ed25519PrivateKey]:
    """Return the link's authority and its key, for signing now.

    Raises OperatorError, for example if other users may read the key or the authority is not valid now.
    """
    key_path = folder / f"{AUTHORITY_CERTIFICATE_NAME}.key"
    require_private_files(key_path)
    authority = _read_certificate(folder / f"{AUTHORITY_CERTIFICATE_NAME}.crt")
    try:
        with convert_read_errors():
            signer = serialization.load_pem_private_key(key_path.read_bytes(), None)
    except (OSError, ValueError) as error:
        raise OperatorError(f"{folder}: no authority to sign with: {error}") from error
    if not isinstance(signer, Ed25519PrivateKey):
        raise OperatorError(f"{folder}: the authority's key is not an Ed25519 key")
    if fault := _find_validity_error(authority, now):
        raise OperatorError(
            f"{folder}: the authority {fault}: set the clock right; if it is right, make a new folder"
        )
    return authority, signer


def _create_builder(
    subject: x509.Name,
    issuer: x509.Name,
    public_key: Ed25519PublicKey,
    now: datetime,
    authority: x509.Certificate | None = None,
) -> x509.CertificateBuilder:
    """Return a certificate builder with the fields common to all certificates.

    The certificate is valid no longer than ``authority``.
    """
    valid_from, valid_until = now - _CLOCK_TOLERANCE, now + timedelta(days=_CERTIFICATE_VALID_DAYS)
    if authority is not None:
        valid_from = max(valid_from, authority.not_valid_before_utc)
        valid_until = min(valid_until, authority.not_valid_after_utc)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(valid_from)
        .not_valid_after(valid_until)
    )


def _build_name(name: str) -> x509.Name:
    """Return a certificate subject with ``name`` as its common name."""
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _build_host_name(host: str) -> x509.GeneralName:
    """Return a host name or IP address as a subject alternative name of a certificate."""
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _load_key(folder: Path, name: str) -> Ed25519PrivateKey:
    """Return the private key for a new certificate: a key left by an interrupted run, or else a new key.

    Raises OperatorError if the authority's key is lost although certificates signed with it exist.
    """
    path = folder / f"{name}.key"
    require_private_files(path)
    with contextlib.suppress(FileNotFoundError, ValueError), convert_read_errors():
        stored_key = serialization.load_pem_private_key(path.read_bytes(), None)
        archived_keys = (
            _read_certificate(each).public_key() for each in folder.glob(f"{name}{_ARCHIVE_SEPARATOR}*.crt")
        )
        # A key whose certificate is archived was revoked, and is not used again.
        if isinstance(stored_key, Ed25519PrivateKey) and stored_key.public_key() not in archived_keys:
            return stored_key
    if name == AUTHORITY_CERTIFICATE_NAME and (certificates := sorted(folder.glob("*.crt"))):
        raise OperatorError(
            f"{path}: there is no key, but {certificates[0].name} is already signed: restore the authority's files "
            "from a copy, or make a new folder of certificates"
        )
    key = Ed25519PrivateKey.generate()
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    replace_private_file(path, secret)
    return key


def _store_certificate(folder: Path, name: str, certificate: x509.Certificate) -> None:
    """Write a certificate to its file in the folder."""
    # public: root writes it, because only root can read an enrolment stick; the broker and the person who
    # revokes read it as other users
    replace_public_file(folder / f"{name}.crt", certificate.public_bytes(serialization.Encoding.PEM))


def write_broker_configuration(folder: Path, port: int, host: str = "127.0.0.1") -> Path:
    """Write Mosquitto's configuration and its access list; return the configuration's path.

    A client is identified only by the name in its certificate, which is also its client id: a second client
    with the same name disconnects the first. A client without a certificate, or with one on the revocation
    list, is rejected. A sign may publish its status only under its own name, and only if its certificate is in this
    folder.
    """
    certified_sign_names = (
        path.stem
        for path in sorted(folder.glob(f"{format_sign_name('*')}.crt"))
        if _ARCHIVE_SEPARATOR not in path.name
    )
    signs = "".join(
        f"\nuser {name}\ntopic write {topics.build_heartbeat_topic(name)}\ntopic read {topics.LEVEL_WIN_TOPIC_FILTER}\n"
        for name in certified_sign_names
    )
    access = folder / "broker.acl"
    access.write_text(
        f"""# Written by `egm progressive certificates`: who may do what.
pattern write {topics.build_uplink_topic("%u")}
pattern read {topics.build_downlink_topic("%u")}
pattern read {topics.LEVEL_VALUE_TOPIC_FILTER}

user {CONTROLLER_CERTIFICATE_NAME}
topic read {topics.MACHINE_UPLINK_TOPIC_FILTER}
topic write {topics.TOPIC_PREFIX}/machine/+/down
topic readwrite {topics.LEVEL_VALUE_TOPIC_FILTER}
topic write {topics.LEVEL_WIN_TOPIC_FILTER}
topic read {topics.SIGN_HEARTBEAT_TOPIC_FILTER}
{signs}""",
        encoding="ascii",
    )
    configuration = folder / "mosquitto.conf"
    configuration.write_text(
        f"""# Written by `egm progressive certificates`; run it with `mosquitto -c {configuration.name}`.
user {getpass.getuser()}
listener {port} {host}
cafile {folder / f"{AUTHORITY_CERTIFICATE_NAME}.crt"}
crlfile {folder / REVOCATION_LIST_FILE_NAME}
certfile {folder / f"{BROKER_CERTIFICATE_NAME}.crt"}
keyfile {folder / f"{BROKER_CERTIFICATE_NAME}.key"}
tls_version tlsv1.3
require_certificate true
use_identity_as_username true
use_username_as_clientid true
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
