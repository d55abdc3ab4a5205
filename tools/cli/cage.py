"""The cage of a machine opened at a terminal: persons with their PINs, the ticket ledger, and the journal.

The machine may be at work beside it. It finds a ledger that was put back, or a ticket nobody has paid for, at
its start and at each door; the cage pays in between, so it looks for itself each time.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from egm.clock import Clock
from egm.errors import OperatorError
from egm.kernel.timekeeping import timekeeper_of
from egm.people import Permission
from egm.tickets.audit import STATE_KEY, journal_knows, put_back
from egm.tickets.cage import Cage
from egm.tickets.ledger_access import machine_key, open_beside
from egm.tickets.proof import taken_in
from egm.tickets.record import Record
from meters import JournalError, JournalView, open_view
from tools.cli.staff import prove, roster_of
from tools.cli.terminal import echo

T = TypeVar("T")


@contextmanager
def open_cage(folder: Path, medium: Path | None, person: str, second: str, clock: Clock) -> Iterator[Cage]:
    """The ledger in the hands of enrolled persons, each of whom gives a PIN now.

    Raises :class:`OperatorError` where the ledger is not the one the machine's journal knows; JournalError
    where that journal is not what the machine wrote: nothing is paid by half of the books.
    """
    roster = roster_of(folder, medium)
    for number in filter(None, (person, second)):
        prove(roster, number, Permission.PAY_BY_HAND)
    with (
        open_view(folder, key=machine_key(folder, medium), second_dir=medium, check_pages=True) as view,
        open_beside(folder, second=medium, read_only=False) as store,
    ):
        if store.mended:
            echo(f"note: {store.mended}", err=True)
        if differs := put_back(store, view):
            raise OperatorError(
                f"{differs}; nothing is paid or changed until two persons have looked: egm ticket restore"
            )
        yield Cage(
            store,
            clock,
            person,
            second=second,
            date_is_known=timekeeper_of(view, clock).is_believed,
            is_accounted=lambda record: _is_accounted(view, record),
        )


def _is_accounted(view: JournalView, record: Record) -> bool:
    """A journal that has never been held against the ledger says nothing of its tickets."""
    return view.state(STATE_KEY) is None or journal_knows(view, record)


def ask_all(
    folder: Path, medium: Path | None, ask: Callable[[JournalView], T]
) -> tuple[list[T], tuple[str, ...]]:
    """Ask every journal of this machine, cleared ones first; the answers, and which could not be read.

    The present one is proved by the machine's key: it raises JournalError where it is not what was written.
    """
    answers, unread = [], []
    for cleared in sorted(folder.glob("cleared/*/journal.sqlite")):
        try:
            with open_view(cleared.parent) as view:
                answers.append(ask(view))
        except JournalError as why:
            unread.append(f"{cleared.parent}: {why}")
    with open_view(folder, key=machine_key(folder, medium), second_dir=medium, check_pages=True) as view:
        return [*answers, ask(view)], tuple(unread)


def taken_in_all(folder: Path, medium: Path | None = None) -> dict[str, str]:
    """What all of this machine's journals took in (`egm.tickets.proof.taken_in`), cleared ones too.

    Raises JournalError where the present one is damaged; of a cleared one that is, a note says so.
    """
    answers, unread = ask_all(folder, medium, lambda view: taken_in((view,)))
    for why in unread:
        echo(f"note: {why}: which tickets that journal took in is not known", err=True)
    return {commitment: by for answer in answers for commitment, by in answer.items()}
