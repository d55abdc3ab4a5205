"""The archive of a submission's source is extracted without tarfile's filters, which Python 3.11.2 does not have."""

import io
import stat
import tarfile

import pytest

from egm.errors import OperatorError
from tools.lab.certification.source import extract_files


def pack(*members):
    """Return an open archive of members: (name, type, link target, mode)."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, kind, target, mode in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.mode = kind, target, mode
            archive.addfile(member)
    return tarfile.open(fileobj=io.BytesIO(packed.getvalue()))


def test_extracted_files_retain_only_their_executable_bit(tmp_path):
    folder = ("a", tarfile.DIRTYPE, "", 0o777)
    with pack(
        folder, ("a/run", tarfile.REGTYPE, "", 0o6775), ("a/text", tarfile.REGTYPE, "", 0o666)
    ) as archive:
        extract_files(archive, tmp_path)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert modes == {"a": 0o755, "run": 0o755, "text": 0o644}


@pytest.mark.parametrize(
    "member",
    [
        ("../out", tarfile.REGTYPE, "", 0o644),
        ("/out", tarfile.REGTYPE, "", 0o644),
        ("link", tarfile.SYMTYPE, "/etc/passwd", 0o777),
        ("hard", tarfile.LNKTYPE, "inside", 0o644),
        ("device", tarfile.CHRTYPE, "", 0o644),
    ],
)
def test_any_other_archive_member_is_refused_and_nothing_is_written(member, tmp_path):
    target = tmp_path / "target"
    target.mkdir()
    with (
        pack(("inside", tarfile.REGTYPE, "", 0o644), member) as archive,
        pytest.raises(OperatorError, match="is not a file or folder of the source"),
    ):
        extract_files(archive, target)
    assert [*tmp_path.rglob("*")] == [target]
