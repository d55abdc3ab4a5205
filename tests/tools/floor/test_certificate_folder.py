"""In a certificate folder, interrupted work is completed, revocations are permanent, and invalid files are reported."""

import os
import sys
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from egm.errors import OperatorError
from egm.progressive.enrolment_data import compute_key_digest, create_request
from tools.cli import main
from tools.floor.progressive.certificates import (
    answer_request,
    make_authority,
    make_link_certificates,
    revoke_certificate,
)
from tools.floor.progressive.mystery_secrets import MYSTERY_KEY_FILE_NAME

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PLACE = ("10.0.0.2", 8883)


def egm(*args, code=0):
    result = CliRunner().invoke(main, ["progressive", *map(str, args)])
    assert result.exit_code == code, result.output
    return result.output


def read(path):
    return x509.load_pem_x509_certificate(path.read_bytes())


def list_revoked_serials(folder):
    return {
        certificate.serial_number
        for certificate in x509.load_pem_x509_crl((folder / "revoked.crl").read_bytes())
    }


def check_certificates(folder, *machines):
    """Check that each certificate matches its key, is signed by the authority and is not revoked."""
    authority = read(folder / "authority.crt")
    for name in ("authority", "broker", "controller", "sign-1", *machines):
        certificate = read(folder / f"{name}.crt")
        certificate.verify_directly_issued_by(authority)
        key = load_pem_private_key((folder / f"{name}.key").read_bytes(), None)
        assert certificate.public_key() == key.public_key(), name
    assert list_revoked_serials(folder) == set()


@pytest.mark.requirement("I-15")
@pytest.mark.parametrize("then", ["certificates", "revoke"])
def test_a_lost_revocation_list_is_rebuilt_with_every_revoked_certificate(tmp_path, then):
    egm("certificates", tmp_path, "EGM-1", "EGM-2", "EGM-3")
    gone = read(tmp_path / "EGM-2.crt").serial_number
    egm("revoke", tmp_path, "EGM-2")
    (tmp_path / "revoked.crl").unlink()
    also = {read(tmp_path / "EGM-3.crt").serial_number} if then == "revoke" else set()
    egm(then, tmp_path, "EGM-3")
    assert list_revoked_serials(tmp_path) == {gone} | also


def test_an_invalid_revocation_list_is_reported_and_can_be_rebuilt(tmp_path):
    egm("certificates", tmp_path, "EGM-2")
    gone = read(tmp_path / "EGM-2.crt").serial_number
    egm("revoke", tmp_path, "EGM-2")
    (tmp_path / "revoked.crl").write_bytes(b"")
    assert "revoked.crl: not a list" in egm("certificates", tmp_path, code=1)
    (tmp_path / "revoked.crl").unlink()
    egm("certificates", tmp_path)
    assert list_revoked_serials(tmp_path) == {gone}
    (tmp_path / "EGM-9.revoked-x.crt").write_bytes(b"")
    assert "does not contain a certificate's serial number" in egm("certificates", tmp_path, code=1)


_WRITES = {"os.rename", "os.remove", "os.mkdir"}


def cut(do, folder, write):
    """Run ``do`` in a process and cut the power before the given write; return whether that write occurred."""
    child = os.fork()
    if child:
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert ended in {0, 9}
        return ended == 9
    writes_left = iter(range(write))

    def hook(event, details):
        writes = event in _WRITES or (event == "open" and details[2] & os.O_CREAT)
        if writes and str(folder) in str(details[0]) and next(writes_left, None) is None:
            os._exit(9)

    try:
        sys.addaudithook(hook)
        do()
        os._exit(0)
    finally:
        os._exit(1)


@pytest.mark.parametrize("stride", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_an_interrupted_first_run_is_completed_by_the_next(tmp_path, stride):
    for write in count(step=stride):
        folder = tmp_path / f"cut-{write}"
        was = cut(
            lambda folder=folder: make_link_certificates(folder, ["EGM-1"], "10.0.0.2", NOW), folder, write
        )
        keys_left = {path.name: path.read_bytes() for path in folder.glob("*.key")}
        make_link_certificates(folder, ["EGM-1"], "10.0.0.2", NOW)
        check_certificates(folder, "EGM-1")
        assert all((folder / name).read_bytes() == content for name, content in keys_left.items())  # taken up
        if not was:
            break
    assert write > 20


def test_an_interrupted_revocation_is_completed_by_the_next_run(tmp_path):
    for write in count():
        folder = tmp_path / f"cut-{write}"
        make_link_certificates(folder, ["EGM-1"], "10.0.0.2", NOW)
        old = read(folder / "EGM-1.crt")
        was = cut(lambda folder=folder: revoke_certificate(folder, "EGM-1", NOW), folder, write)
        revoked_serials = list_revoked_serials(folder)
        make_link_certificates(folder, ["EGM-1"], "10.0.0.2", NOW)
        assert list_revoked_serials(folder) == revoked_serials
        assert (read(folder / "EGM-1.crt").public_key() != old.public_key()) is bool(revoked_serials)
        if not was:
            break
    assert write > 3


def test_a_revoked_key_is_never_certified_again(tmp_path):
    make_link_certificates(tmp_path, ["EGM-1"], "10.0.0.2", NOW)
    key = (tmp_path / "EGM-1.key").read_bytes()
    revoke_certificate(tmp_path, "EGM-1", NOW)
    (aside,) = tmp_path.glob("EGM-1.revoked-*.key")
    aside.rename(tmp_path / "EGM-1.key")
    make_link_certificates(tmp_path, ["EGM-1"], "10.0.0.2", NOW)
    assert (tmp_path / "EGM-1.key").read_bytes() != key


@pytest.mark.parametrize("name", ["authority", "controller", "EGM-1"])
def test_an_empty_certificate_is_reported_and_its_key_is_reused(tmp_path, name):
    egm("certificates", tmp_path, "EGM-1")
    key = (tmp_path / f"{name}.key").read_bytes()
    (tmp_path / f"{name}.crt").write_bytes(b"")
    assert f"{name}.crt is empty" in egm("certificates", tmp_path, "EGM-1", code=1)
    (tmp_path / f"{name}.crt").unlink()
    egm("certificates", tmp_path, "EGM-1")
    check_certificates(tmp_path, "EGM-1")
    assert (tmp_path / f"{name}.key").read_bytes() == key


@pytest.mark.parametrize("name", ["authority", "EGM-1"])
def test_an_empty_key_without_a_certificate_is_replaced(tmp_path, name):
    (tmp_path / f"{name}.key").touch(0o600)
    egm("certificates", tmp_path, "EGM-1")
    check_certificates(tmp_path, "EGM-1")


def test_an_authority_that_has_signed_is_not_replaced(tmp_path):
    egm("certificates", tmp_path)
    for name in ("authority.crt", "authority.key"):
        (tmp_path / name).unlink()
    assert "broker.crt is already signed" in egm("certificates", tmp_path, code=1)
    assert not (tmp_path / "authority.key").exists()


def test_a_serial_given_twice_is_certified_once_and_an_existing_one_is_reported(tmp_path):
    egm("certificates", tmp_path, "EGM-1", "EGM-1")
    before_bytes = (tmp_path / "EGM-1.crt").read_bytes()
    assert "machine EGM-1 already has its certificate" in egm("certificates", tmp_path, "EGM-1", "EGM-2")
    assert (tmp_path / "EGM-1.crt").read_bytes() == before_bytes
    check_certificates(tmp_path, "EGM-1", "EGM-2")


@pytest.mark.parametrize("host", ["a b", "", "-a", 'a"b'])
def test_a_broker_certificate_requires_a_valid_host(tmp_path, host):
    output = egm("certificates", tmp_path / "keys", "--host", host, code=1)
    assert "neither a host name nor an address" in output
    assert not (tmp_path / "keys").exists()


def test_an_empty_secret_key_file_is_reported(tmp_path):
    (tmp_path / MYSTERY_KEY_FILE_NAME).touch(0o600)
    output = egm("certificates", tmp_path, code=1)
    assert f"{MYSTERY_KEY_FILE_NAME}: the key has 0 bytes" in output
    assert "put a copy of the right one back" in output


def test_a_stick_without_a_request_is_reported(tmp_path):
    egm("certificates", tmp_path / "keys")
    (tmp_path / "stick").write_bytes(bytes(1 << 15))
    egm("enrol", tmp_path / "keys", tmp_path / "stick", "--prepare")
    output = egm("enrol", tmp_path / "keys", tmp_path / "stick", "--key", "0", code=1)
    assert "the stick holds no request of a machine" in output


# ------------------------------------------------------------------------------------------------ wrong clocks
@pytest.fixture
def asks():
    key = Ed25519PrivateKey.generate()
    return create_request(key, "EGM-1"), compute_key_digest(key.public_key())


@pytest.mark.requirement("I-15")
def test_a_valid_certificate_is_returned_again_and_an_invalid_one_replaced(tmp_path, asks):
    make_authority(tmp_path, NOW)
    late = NOW + timedelta(days=700)  # the floor's clock was wrong, once
    early = answer_request(tmp_path, *asks, late, PLACE)
    assert answer_request(tmp_path, *asks, late, PLACE) == early  # it did not get onto the stick
    bad = read(tmp_path / "EGM-1.crt").serial_number
    good = answer_request(tmp_path, *asks, NOW, PLACE).read_certificate_details()
    good.check_holder_and_validity("EGM-1", asks[1], NOW)
    assert list_revoked_serials(tmp_path) == {bad}


def test_certificates_are_readable_by_the_broker_and_keys_by_their_owner_alone(tmp_path, asks):
    old = os.umask(0o022)
    try:
        make_link_certificates(tmp_path, [], "10.0.0.2", NOW)
        answer_request(tmp_path, *asks, NOW, PLACE)
    finally:
        os.umask(old)
    for suffix, mode in ((".crt", 0o644), (".crl", 0o644), (".key", 0o600)):
        assert {path.stat().st_mode & 0o777 for path in tmp_path.glob(f"*{suffix}")} == {mode}


@pytest.mark.parametrize("days", [-1, 826])
def test_nothing_is_signed_outside_the_authoritys_validity(tmp_path, asks, days):
    make_authority(tmp_path, NOW)
    answer_request(tmp_path, *asks, NOW, PLACE)
    then = NOW + timedelta(days=days)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for sign in (
        lambda: answer_request(tmp_path, *asks, then, PLACE),
        lambda: make_link_certificates(tmp_path, ["EGM-2"], "10.0.0.2", then),
        lambda: revoke_certificate(tmp_path, "EGM-1", then),
    ):
        with pytest.raises(OperatorError, match=f"this computer's clock says {then:%Y-%m-%d}"):
            sign()
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_no_certificate_outlives_its_authority(tmp_path, asks):
    make_authority(tmp_path, NOW)
    answer_request(tmp_path, *asks, NOW + timedelta(days=400), PLACE)
    ends = read(tmp_path / "authority.crt").not_valid_after_utc
    assert read(tmp_path / "EGM-1.crt").not_valid_after_utc == ends


def test_an_invalid_certificate_is_reported_with_what_to_do(tmp_path):
    make_link_certificates(tmp_path, [], "10.0.0.2", NOW)
    make_link_certificates(tmp_path, ["EGM-1"], "10.0.0.2", NOW + timedelta(days=700))
    with pytest.raises(OperatorError, match=r"EGM-1\.crt: is valid from 2027.*revoke` EGM-1"):
        make_link_certificates(tmp_path, ["EGM-1"], "10.0.0.2", NOW)
    other = tmp_path / "other"
    make_link_certificates(other, ["EGM-2"], "10.0.0.2", NOW)
    (other / "EGM-2.crt").rename(tmp_path / "EGM-2.crt")
    with pytest.raises(OperatorError, match=r"EGM-2\.crt: is not signed by the authority"):
        make_link_certificates(tmp_path, ["EGM-2"], "10.0.0.2", NOW)
