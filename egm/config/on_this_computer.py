"""Checks of a cabinet file that need this computer: its serial ports, and the folders of its memory."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from egm.config.cabinet_file import SIMULATED, CabinetFile
from egm.config.faults import Fault

_ABSENT: Final = frozenset({errno.ENOENT, errno.ENOTDIR})


def find_stable_port_name(device: str) -> str:
    """Return a name of the port that stays the same when other devices are unplugged.

    It is that of the adapter, or else that of the socket.
    """
    real = Path(device).resolve()
    for folder in ("by-id", "by-path"):
        for link in sorted(Path("/dev/serial", folder).glob("*")):
            if link.resolve() == real:
                return str(link)
    return device


def find_missing_ports(file: CabinetFile) -> Iterator[Fault]:
    """Yield a fault for each port that does not exist, or is not a serial port.

    The machine waits for a port that does not exist.
    """
    for key, port in file.ports.items():
        if port in SIMULATED or "://" in port:
            continue
        try:
            there = Path(port).stat()
        except OSError as error:
            why = f"nothing is at {port} now" if error.errno in _ABSENT else f"{port}: {error.strerror}"
            yield Fault(key, f"{why}; the machine waits for it", stops=False, waits=True)
        else:
            if not _is_terminal(there):
                yield Fault(key, f"{port} is no serial port", stops=False)


def _is_terminal(there: os.stat_result) -> bool:
    """Return whether this is a terminal device; it is not opened, because that would toggle its control lines."""
    if not stat.S_ISCHR(there.st_mode):
        return False
    known = Path(f"/sys/dev/char/{os.major(there.st_rdev)}:{os.minor(there.st_rdev)}/subsystem")
    return not known.exists() or known.resolve().name == "tty"  # a pseudo-terminal is not listed there


def _iter_memory_folders(file: CabinetFile) -> Iterator[tuple[str, Path]]:
    for name in ("second_copy", "archive", "second_archive"):
        folder = getattr(file.memory, name)
        if folder is not None:
            yield name, folder


def find_impossible_folders(file: CabinetFile) -> Iterator[Fault]:
    """Yield a fault for each memory folder that cannot be created; a starting machine waits for it."""
    for name, folder in _iter_memory_folders(file):
        if why := _find_folder_error(folder):
            yield Fault(f"memory.{name}", f"{folder} cannot be made: {why}")


def find_shared_folders(file: CabinetFile, state: Path) -> Iterator[Fault]:
    """Yield a fault if both memory copies would use one folder; each should have its own medium."""
    taken = {state.resolve(): "the first copy's"}
    for name, folder in _iter_memory_folders(file):
        whose = taken.setdefault(folder.resolve(), f"memory.{name}'s")
        if whose != f"memory.{name}'s":
            yield Fault(f"memory.{name}", f"{folder} is {whose} folder already")


def _find_folder_error(folder: Path) -> str | None:
    """Return why a missing folder cannot be created, or None if it can; nothing is created.

    A folder that the present user may not see is no error, because the machine runs as another user.
    """
    for there in (folder, *folder.parents):
        try:
            if not stat.S_ISDIR(there.stat().st_mode):
                return f"{there} is no folder"
            return None if os.statvfs(there).f_blocks else f"{there} is on a file system that holds no files"
        except (FileNotFoundError, NotADirectoryError):
            if there.is_symlink():
                return f"{there} is a link to nothing"
        except PermissionError:
            return None
        except OSError as error:
            return f"{there}: {error.strerror}"
    return None
