"""The journal that a command reads: a machine's memory (``--state``) or an exported journal (``--file``)."""

import signal
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import click

from egm.config.cabinet_file import find_default_state_folder
from egm.errors import LocalError
from egm.record_codec import RecordError
from meters import JournalDamaged, JournalError, JournalView, StoredEntry, open_view
from meters.export import ExportReader, open_exported_view
from paytables.source import open_regular_file

#: The option that names the state folder.
STATE_OPTION = click.option(
    "--state", "state_folder", type=click.Path(path_type=Path), help="The machine's state folder."
)
#: The option that names an exported journal.
EXPORT_OPTION = click.option(
    "--file",
    "export_file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="An exported journal (egm audit export) instead of a machine's memory.",
)


@contextmanager
def open_journal_entries(
    state_folder: Path | None, export_file: Path | None, *, after_sequence: int = 0
) -> Iterator[Iterator[StoredEntry]]:
    """Yield the entries after ``after_sequence`` of a machine's journal, or of an exported one (``export_file``).

    An exported file is read to its end even if the caller stops earlier, because its digest and signature are
    at the end.

    If the caller fails on an entry that was read, ClickException says that this entry, or one before it, has
    invalid content. Such entries occur: anybody can sign an exported file with a key of their own.
    """
    _require_one_source(state_folder, export_file)
    folder = state_folder or find_default_state_folder()
    last_entries: deque[StoredEntry] = deque(maxlen=1)
    try:
        if export_file is None:
            with open_view(folder, check_pages=True) as view:
                yield _watch_entries(view.entries(after_sequence=after_sequence), last_entries)
            return
        with open_regular_file(export_file) as source:
            reader = ExportReader(source, str(export_file))
            entries = (entry for entry in reader.iter_entries() if entry.sequence > after_sequence)
            yield _watch_entries(entries, last_entries)
            deque(entries, maxlen=0)
    except BrokenPipeError:
        raise  # the reader of the output has ended; click then ends the command
    except (JournalDamaged, RecordError, OSError) as error:
        raise click.ClickException(str(error)) from error
    except (JournalError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, JournalError) and (export_file is None or not last_entries):
            raise click.ClickException(str(error)) from error
        if not last_entries:
            raise
        entry = last_entries[0]
        raise click.ClickException(
            f"{export_file or folder}: entry {entry.sequence}, {entry.kind}, or one before it has a content that no"
            f" machine writes: {error}. Nothing was printed. Find every invalid entry with: egm audit verify"
        ) from error
    if reader.footer_error:
        raise click.ClickException(f"{export_file}: {reader.footer_error}")


@contextmanager
def open_journal(
    state_folder: Path | None, export_file: Path | None, *, check_pages: bool = True
) -> Iterator[JournalView]:
    """Yield the journal in a machine's memory, or the exported journal in ``export_file``, opened read-only.

    With ``check_pages``, every page of a memory's database is compared with its checksum, see
    :func:`meters.open_view`. If the caller fails on an exported file, ClickException says that its content is
    invalid, because anybody can sign an exported file with a key of their own.
    """
    _require_one_source(state_folder, export_file)
    try:
        if export_file is None:
            with open_view(state_folder or find_default_state_folder(), check_pages=check_pages) as view:
                yield view
            return
        with (
            _exit_on_signals(),
            open_regular_file(export_file) as source,
            open_exported_view(source, str(export_file)) as view,
        ):
            yield view
    except BrokenPipeError:
        raise  # the reader of the output has ended; click then ends the command
    except (JournalError, LocalError, RecordError, OSError) as error:
        is_named = export_file is None or str(error).startswith(str(export_file))
        raise click.ClickException(str(error) if is_named else f"{export_file}: {error}") from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if export_file is None:
            raise
        raise click.ClickException(
            f"{export_file}: an entry has a content that no machine writes: {error!r}."
            " Find every invalid entry with: egm audit verify"
        ) from error


@contextmanager
def _exit_on_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the process by SystemExit, so that temporary files are removed.

    A second signal, such as the SIGHUP that follows SIGTERM, must not interrupt the removal: it is ignored.
    A signal that is ignored (``nohup``) or has a handler is left as it is.
    """
    default_signals = [
        signal_number
        for signal_number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(signal_number) is signal.SIG_DFL
    ]

    def exit_once(received_number: int, _frame: object) -> NoReturn:
        """End the process by SystemExit, and ignore further signals until its temporary files are removed."""
        for signal_number in default_signals:
            signal.signal(signal_number, signal.SIG_IGN)
        sys.exit(128 + received_number)

    for signal_number in default_signals:
        signal.signal(signal_number, exit_once)
    try:
        yield
    finally:
        for signal_number in default_signals:
            signal.signal(signal_number, signal.SIG_DFL)


def _require_one_source(state_folder: Path | None, export_file: Path | None) -> None:
    """Raise UsageError if both a state folder and an exported journal are named."""
    if state_folder is not None and export_file is not None:
        raise click.UsageError(
            "--state names a machine's memory and --file an exported journal: give one of the two"
        )


def _watch_entries(entries: Iterator[StoredEntry], last_entries: deque[StoredEntry]) -> Iterator[StoredEntry]:
    """Yield the entries unchanged; first append each to ``last_entries``, so that an error text can name it."""
    for entry in entries:
        last_entries.append(entry)
        yield entry
