"""The source of a submission: exactly the files of one version-control commit."""

import io
import os
import stat
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from egm.errors import OperatorError

#: The most files that an error names.
_NAMED_FILES_MAX: Final = 3


def find_commit(root: Path, bundles_folder: Path) -> str:
    """Return the current commit of the checkout at ``root``. Raises OperatorError if files are not committed.

    Files in ``bundles_folder``, to which bundles are written, are ignored.
    """
    try:
        checkout_root = Path(_run_git(root, "rev-parse", "--show-toplevel").decode().strip())
        commit = _run_git(root, "rev-parse", "--verify", "HEAD").decode().strip()
    except OperatorError as error:
        raise OperatorError(
            f"{root} is not a version control checkout with a commit, which a submission needs: {error}"
        ) from None
    if checkout_root.resolve() != root.resolve():
        raise OperatorError(f"{root} is not a checkout itself, but a folder of {checkout_root}")
    paths = ["."]
    if bundles_folder.resolve().is_relative_to(root.resolve()):
        paths.append(f":(exclude){bundles_folder.resolve().relative_to(root.resolve())}")
    status = _run_git(root, "status", "--porcelain", "-z", "--no-renames", "--", *paths).decode()
    if changed_files := [line[3:] for line in status.split("\0") if line]:
        omission_note = (
            f" and {len(changed_files) - _NAMED_FILES_MAX} more" if changed_files[_NAMED_FILES_MAX:] else ""
        )
        raise OperatorError(
            f"{root}: {', '.join(changed_files[:_NAMED_FILES_MAX])}{omission_note}: not committed; a submission is"
            " made of a commit. Commit, stash or remove what has changed since"
        )
    return commit


def export(root: Path, commit: str, folder: Path) -> None:
    """Write the files of a commit of the checkout at ``root`` into a folder."""
    with tarfile.open(fileobj=io.BytesIO(_archive_commit(root, commit))) as files:
        extract_files(files, folder)


def extract_files(archive: tarfile.TarFile, folder: Path) -> None:
    """Extract a tar archive of files and folders; the extracted files belong to the user of this process.

    Raises OperatorError for a member of another kind, or outside ``folder``. The filters of tarfile are not
    used, because the Python of Debian 12 (3.11.2) does not have them.
    """
    members = archive.getmembers()
    for member in members:
        is_inside = (folder / member.name).resolve().is_relative_to(folder.resolve())
        if not is_inside or not (member.isfile() or member.isdir()):
            raise OperatorError(f"{member.name!r} in the archive is not a file or folder of the source")
        member.mode = 0o755 if member.isdir() or member.mode & stat.S_IXUSR else 0o644
        member.uid, member.gid, member.uname, member.gname = os.geteuid(), os.getegid(), "", ""
    archive.extractall(folder, members)  # noqa: S202 (each member was checked)


def _archive_commit(root: Path, commit: str) -> bytes:
    """Return the files of a commit as a tar archive."""
    return _run_git(root, "archive", "--format=tar", commit)


def _run_git(root: Path, *arguments: str) -> bytes:
    """Run a git command in the checkout at ``root`` and return its output. Raises OperatorError if it fails."""
    try:
        completed = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=False)
    except OSError as error:
        raise OperatorError(f"git: {error}") from None
    if completed.returncode:
        raise OperatorError(completed.stderr.decode(errors="replace").strip())
    return completed.stdout


def check_source(root: Path, bundles_folder: Path, key: Ed25519PrivateKey) -> None:
    """Raise OperatorError if ``root`` is not a clean checkout of one commit, or contains the signing key.

    Files in ``bundles_folder``, to which bundles are written, are ignored.
    """
    commit = find_commit(root, bundles_folder)
    check_key_absent({f"{commit[:12]}.tar": _archive_commit(root, commit)}, key)


def check_key_absent(files: Mapping[str, bytes], key: Ed25519PrivateKey) -> None:
    """Raise OperatorError if one of the files, or a file in an archive among them, contains the signing key."""
    seed = key.private_bytes_raw()
    written_keys = (seed, seed.hex().encode(), seed.hex().upper().encode())
    for name, data in _iter_nested_files(files):
        if any(written_key in data for written_key in written_keys):
            raise OperatorError(
                f"{name}: contains the private signing key, which must not be handed over or be in the source"
            )


def _iter_nested_files(files: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield each file as (name, bytes); the files inside an archive come before the archive itself.

    So an error names the file inside the archive rather than the archive.
    """
    for name, data in files.items():
        if name.endswith((".tar", ".tar.gz")):
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                for member in archive:
                    member_file = archive.extractfile(member)
                    if member_file is not None:
                        yield f"{name}: {member.name}", member_file.read()
        elif name.endswith(".whl"):
            with zipfile.ZipFile(io.BytesIO(data)) as wheel:
                for name_in_wheel in wheel.namelist():
                    yield f"{name}: {name_in_wheel}", wheel.read(name_in_wheel)
        yield name, data
