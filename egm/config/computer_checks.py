"""Checks of a cabinet file that need this computer: its serial ports, and the folders of its memory."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from egm.config.cabinet_file import SIMULATED_PORT_NAMES, CabinetFile
from egm.config.mistakes import ConfigMistake, Consequence

#: Errors which mean that a file does not exist.
_FILE_ABSENT_ERRNOS: Final = frozenset({errno.ENOENT, errno.ENOTDIR})


def find_stable_port_name(port: str) -> str:
    """Return a name of the serial port that does not change when other devices are unplugged.

    It is the name of the USB adapter or, if the adapter has none, of the USB socket it is plugged into. A port without
    either keeps its name ``port``.
    """
    resolved_path = Path(port).resolve()
    for folder in ("by-id", "by-path"):
        for link in sorted(Path("/dev/serial", folder).glob("*")):
            if link.resolve() == resolved_path:
                return str(link)
    return port


def find_missing_ports(cabinet_file: CabinetFile) -> Iterator[ConfigMistake]:
    """Yield a mistake for each port in the cabinet file that does not exist, or is not a serial port.

    Neither prevents the start. The device or line on a missing port is used as soon as the port exists.
    """
    for key, port in cabinet_file.ports_by_key.items():
        if port in SIMULATED_PORT_NAMES or "://" in port:
            continue
        try:
            file_status = Path(port).stat()
        except OSError as error:
            reason = (
                f"no device is connected at {port}"
                if error.errno in _FILE_ABSENT_ERRNOS
                else f"{port}: {error.strerror}"
            )
            yield ConfigMistake(
                key, f"{reason}; the machine waits for the device", consequence=Consequence.PART_IS_AWAITED
            )
        else:
            if not _is_terminal(file_status):
                yield ConfigMistake(
                    key, f"{port} is not a serial port", consequence=Consequence.PART_IS_LEFT_OUT
                )


def _is_terminal(file_status: os.stat_result) -> bool:
    """Return whether the file with this status is a terminal device.

    The file is not opened, because that would toggle the port's control lines.
    """
    if not stat.S_ISCHR(file_status.st_mode):
        return False
    subsystem = Path(
        f"/sys/dev/char/{os.major(file_status.st_rdev)}:{os.minor(file_status.st_rdev)}/subsystem"
    )
    # a pseudo-terminal is not listed there
    return not subsystem.exists() or subsystem.resolve().name == "tty"


def _iter_memory_folders(cabinet_file: CabinetFile) -> Iterator[tuple[str, Path]]:
    """Yield (key in the file, folder) for each folder of the machine's memory that the cabinet file states."""
    for key in ("second_copy", "archive", "second_archive"):
        folder = getattr(cabinet_file.memory, key)
        if folder is not None:
            yield key, folder


def find_impossible_folders(cabinet_file: CabinetFile) -> Iterator[ConfigMistake]:
    """Yield a mistake for each folder of the machine's memory that cannot be created; each prevents the start."""
    for key, folder in _iter_memory_folders(cabinet_file):
        if reason := _find_folder_error(folder):
            yield ConfigMistake(f"memory.{key}", f"{folder} cannot be created: {reason}")


def find_shared_folders(cabinet_file: CabinetFile, state_folder: Path) -> Iterator[ConfigMistake]:
    """Yield a mistake for each folder that the cabinet file states for two parts of the machine's memory.

    The parts are the copies and the archives; all must have different folders. ``state_folder`` is the folder of the
    first copy.
    """
    user_by_folder = {state_folder.resolve(): "the first copy's"}
    for key, folder in _iter_memory_folders(cabinet_file):
        user = user_by_folder.setdefault(folder.resolve(), f"memory.{key}'s")
        if user != f"memory.{key}'s":
            reason = f"{folder} is already {user} folder: name another one, on a medium of its own"
            yield ConfigMistake(f"memory.{key}", reason)


def _find_folder_error(folder: Path) -> str | None:
    """Return why a folder of the machine's memory cannot be created, or None if it can; nothing is created.

    If the present user may not see the folder, None is returned, because the machine runs as a different user.
    """
    for ancestor in (folder, *folder.parents):
        try:
            if not stat.S_ISDIR(ancestor.stat().st_mode):
                return f"{ancestor} is not a folder"
            return (
                None
                if os.statvfs(ancestor).f_blocks
                else f"{ancestor} is on a file system that cannot store files"
            )
        except (FileNotFoundError, NotADirectoryError):
            if ancestor.is_symlink():
                return f"{ancestor} is a link whose target does not exist"
        except PermissionError:
            return None
        except OSError as error:
            return f"{ancestor}: {error.strerror}"
    return None
