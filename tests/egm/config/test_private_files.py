"""A secret file that other users may read is refused wherever it would be used."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from egm.config.cabinet_file import StateFolder
from egm.config.levels import ProgressiveLinkTable
from egm.errors import OperatorError
from egm.isolated import build_python_command
from egm.private_files import replace_private_file, require_private_files, write_private_file
from egm.progressive.connection import build_tls_context
from meters import Journal
from meters.copies import SECOND_FOLDER
from tools.floor.progressive.certificates import (
    BROKER_CERTIFICATE_NAME,
    make_authority,
    make_certificate,
    write_revocation_list,
)
from tools.floor.progressive.mystery_secrets import MYSTERY_KEY_FILE_NAME, make_key, read_key
from tools.lab.certification import bundle
from tools.lab.certification.bundle import BundleError, load_laboratory_key

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o666])
def test_a_secret_file_that_others_may_read_or_write_is_refused(tmp_path, mode):
    path = tmp_path / "secret"
    require_private_files(path)  # the file does not exist
    path.write_bytes(b"?")
    path.chmod(mode)
    with pytest.raises(OperatorError, match=rf"secret: users other .*\(mode {mode:o}\)"):
        require_private_files(path)
    path.chmod(0o600)
    require_private_files(path)


def test_a_secret_is_written_for_its_owner_alone_whatever_the_umask(tmp_path):
    path = tmp_path / "secret"
    before = os.umask(0)
    try:
        write_private_file(path, "old é")
        require_private_files(path)
        assert path.read_text(encoding="utf-8") == "old é"
        with pytest.raises(FileExistsError):
            write_private_file(path, b"new")
        (tmp_path / "secret.new").write_text("left by a cut")
        replace_private_file(path, b"new")
    finally:
        os.umask(before)
    require_private_files(path)
    assert path.read_bytes() == b"new"
    assert [*tmp_path.iterdir()] == [path]


def test_only_one_module_creates_private_files():
    """With only one way to write a secret, no code can forget the mode or follow a planted link."""
    sources = [*(ROOT / "egm").rglob("*.py"), *(ROOT / "tools").rglob("*.py")]
    assert {path.name for path in sources if "os.O_CREAT | os.O_EXCL" in path.read_text()} == {
        "private_files.py",
        "bench_line.py",  # a lock that proves its owner, held while it is there
    }


@pytest.mark.parametrize("name", ["machine.key", "people.json", "second/machine.key", "second/people.json"])
def test_a_machine_does_not_start_with_a_secret_that_others_may_read(tmp_path, name):
    folder = StateFolder(tmp_path / "state")
    folder.create_private_folders()
    Journal.open(folder.root, now=lambda: NOW).close()
    for staff in (folder.roster_file, folder.root / SECOND_FOLDER / folder.roster_file.name):
        staff.write_text("{}")
        staff.chmod(0o600)
    (folder.root / name).chmod(0o644)
    result = subprocess.run(
        build_python_command("egm.app", "--state", str(folder.root)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert f"{name}: users other than its owner may read or write it (mode 644)" in result.stderr


@pytest.mark.requirement("K-07")
def test_keys_of_a_link_and_of_a_laboratory_are_refused_if_others_may_read_them(tmp_path):
    make_authority(tmp_path, NOW)
    make_certificate(tmp_path, BROKER_CERTIFICATE_NAME, NOW, ("127.0.0.1",))
    make_key(tmp_path)
    slot = ProgressiveLinkTable(
        authority=tmp_path / "authority.crt", certificate=tmp_path / "broker.crt", key=tmp_path / "broker.key"
    )
    laboratory = tmp_path / "laboratory.key"
    load_laboratory_key(laboratory)
    uses = {
        "broker.key": lambda: build_tls_context(slot),
        "authority.key": lambda: write_revocation_list(tmp_path, NOW),
        MYSTERY_KEY_FILE_NAME: lambda: read_key(tmp_path),
        "laboratory.key": lambda: load_laboratory_key(laboratory),
    }
    for name, use in uses.items():
        use()
        (tmp_path / name).chmod(0o640)
        with pytest.raises((OperatorError, BundleError), match="other than its owner"):
            use()


@pytest.mark.parametrize(
    ("expected_text", "reason"),
    [
        ("[]", "names no files"),
        ("?", "is not a manifest"),
        ('{"files": ["a"]}', "names no files"),
        ('{"files": {}}', "names no files"),
        ('{"files": {"../secret": "00"}}', "is not a file in the bundle's folder"),
        ('{"files": {"/etc/hosts": "00"}}', "is not a file in the bundle's folder"),
    ],
)
def test_a_signed_bundle_with_an_invalid_manifest_is_refused(tmp_path, expected_text, reason):
    """The bundle is signed with its own key, which anybody can do; its content must still be checked."""
    key = Ed25519PrivateKey.generate()
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    (tmp_path / bundle.BUNDLE_MANIFEST_NAME).write_text(expected_text)
    (tmp_path / bundle.BUNDLE_SIGNATURE_NAME).write_text(key.sign(expected_text.encode()).hex())
    (tmp_path / bundle.BUNDLE_SIGNER_NAME).write_text(public.hex())
    with pytest.raises(BundleError, match=reason):
        bundle.verify_bundle(tmp_path)
