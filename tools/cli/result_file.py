"""Files that commands write as results: replaced atomically, and only if they are regular files."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click

from tools.cli.terminal import echo


def resolve_links(file: Path) -> Path:
    """Return the path ``file`` with symbolic links resolved, so that a new file replaces the linked file.

    Raises ClickException if it exists and is not a regular file.
    """
    target = Path(os.path.realpath(file))
    if target.exists() and not target.is_file():
        raise click.ClickException(f"{file} is not a regular file and was not replaced")
    return target


def describe_file_error(file: Path, error: OSError) -> str:
    """Return the name of ``file`` and why it could not be read or written; a missing folder is named."""
    if isinstance(error, FileNotFoundError) and not file.absolute().parent.is_dir():
        return f"{file}: the folder {file.parent} does not exist"
    return f"{file}: {error.strerror or error}"


@contextmanager
def open_result_file(file: Path) -> Iterator[BinaryIO]:
    """Yield a file that replaces ``file`` at the end, once everything is written.

    After an error ``file`` is unchanged. Raises ClickException if ``file`` may not be replaced, and OSError.
    """
    target = resolve_links(file)
    partial_file = target.with_name(target.name + ".partial")
    partial_file.unlink(missing_ok=True)
    try:
        with partial_file.open("xb") as output:
            yield output
        partial_file.replace(target)
    except BaseException:
        partial_file.unlink(missing_ok=True)
        raise


def write_result(file: Path, data: bytes | str, note: str = "") -> None:
    """Write ``data`` to ``file`` atomically, and print its name with ``note`` (by default the size).

    Raises ClickException if it cannot be written.
    """
    content = data.encode() if isinstance(data, str) else data
    try:
        with open_result_file(file) as output:
            output.write(content)
    except OSError as error:
        raise click.ClickException(describe_file_error(file, error)) from error
    echo(f"{file}: {note or f'{len(content):,} bytes'}")
