"""A file a command writes its result to: whole or not at all, and in the place of a regular file only."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click

from tools.cli.terminal import echo


def replaceable(file: Path) -> Path:
    """``file`` with its links resolved, which a rename may take the place of.

    Raises ClickException where something stands there that is no regular file: a device, a pipe, a folder.
    """
    found = Path(os.path.realpath(file))
    if found.exists() and not found.is_file():
        raise click.ClickException(f"{file}: is no regular file; it is left alone")
    return found


@contextmanager
def result_file(file: Path) -> Iterator[BinaryIO]:
    """Give a file to write, which becomes ``file`` when everything was written; else ``file`` is as it was.

    Raises ClickException where ``file`` may not be replaced, and OSError.
    """
    target = replaceable(file)
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    try:
        with partial.open("xb") as out:
            yield out
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def write_result(file: Path, data: bytes | str, what: str = "") -> None:
    """Write ``data`` to ``file``, whole or not at all, and say so with ``what`` it is (default: its size).

    Raises ClickException where it cannot be written.
    """
    content = data.encode() if isinstance(data, str) else data
    try:
        with result_file(file) as out:
            out.write(content)
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror}") from error
    echo(f"{file}: {what or f'{len(content):,} bytes'}")
