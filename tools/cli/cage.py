"""The cage of one machine, operated at a terminal: staff PINs, the ticket ledger, and the journal.

The machine may be running. A ticket ledger that was reset to an older copy, or a ticket that the journal does
not account for, is detected by the machine only at its start and when a door is closed. So the cage checks
the ledger before each payment.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from egm.clock import Clock
from egm.errors import OperatorError
from egm.features.memory_clear.records import has_ticket_ended
from egm.kernel.timekeeping import create_timekeeper
from egm.people import Permission
from egm.tickets.cage import TicketCage
from egm.tickets.ledger_access import open_machine_ledger, read_machine_key
from egm.tickets.ledger_comparison import ANCHOR_STATE_KEY, find_older_ledger_error, is_known_to_journal
from egm.tickets.proof import list_accepted_redemptions
from egm.tickets.record import TicketRecord
from meters import JournalError, JournalView, open_view
from tools.cli.staff import authenticate_for, load_roster
from tools.cli.terminal import echo

_ResultT = TypeVar("_ResultT")


@contextmanager
def open_cage(
    folder: Path, second_folder: Path | None, person: str, second_person: str, clock: Clock
) -> Iterator[TicketCage]:
    """Yield the cage after ``person`` and, unless it is "", ``second_person`` have entered their PINs.

    ``folder`` is the machine's state folder, and ``second_folder`` that of its second copy, if it has one.

    Raises :class:`OperatorError` if the ledger is not the one that the machine's journal has recorded, and
    JournalError if the journal is damaged or was altered.
    """
    roster = load_roster(folder, second_folder)
    for staff_number in filter(None, (person, second_person)):
        authenticate_for(roster, staff_number, Permission.PAY_BY_HAND)
    with (
        open_view(
            folder, key=read_machine_key(folder, second_folder), second_folder=second_folder, check_pages=True
        ) as view,
        open_machine_ledger(folder, second_folder=second_folder, read_only=False) as store,
    ):
        if store.repair_text:
            echo(f"note: {store.repair_text}", err=True)
        if error_text := find_older_ledger_error(store, view):
            raise OperatorError(
                f"{error_text}; nothing is paid or changed until two people have resolved it: egm ticket restore"
            )
        yield TicketCage(
            store,
            clock,
            person,
            second_person=second_person,
            is_clock_trusted=create_timekeeper(view, clock).is_clock_trusted,
            is_known_to_journal=lambda record: _is_issue_accounted_for(view, record),
            is_credited=lambda record: _is_locked_ticket_credited(view, record),
        )


def _is_issue_accounted_for(view: JournalView, record: TicketRecord) -> bool:
    """Return whether the journal records the issue of a ticket.

    The result is also True if the journal has never recorded a ticket ledger.
    """
    return view.state(ANCHOR_STATE_KEY) is None or is_known_to_journal(view, record)


def _is_locked_ticket_credited(view: JournalView, record: TicketRecord) -> bool:
    """Return whether the journal has credited a locked ticket, so that only the ledger lacks its redemption."""
    lock = record.current_lock
    return lock is not None and has_ticket_ended(view, f"{lock.redemption_id}.in")


def query_all_journals(
    folder: Path, second_folder: Path | None, query: Callable[[JournalView], _ResultT]
) -> tuple[list[_ResultT], tuple[str, ...]]:
    """Call ``query`` with each journal of this machine; return the results, and an error text per unreadable journal.

    The last result is for the current journal, which is verified with the machine's key; the results
    before it are for the journals that memory clears have replaced, oldest first. Raises JournalError if
    the current journal is damaged or was altered.
    """
    results, error_texts = [], []
    for journal_file in sorted(folder.glob("cleared/*/journal.sqlite")):
        try:
            with open_view(journal_file.parent) as view:
                results.append(query(view))
        except JournalError as error:
            error_texts.append(f"{journal_file.parent}: {error}")
    with open_view(
        folder, key=read_machine_key(folder, second_folder), second_folder=second_folder, check_pages=True
    ) as view:
        return [*results, query(view)], tuple(error_texts)


def read_all_accepted_redemptions(folder: Path, second_folder: Path | None = None) -> dict[str, str]:
    """Return the redemption id of each ticket that any journal of this machine records as finally accepted.

    The keys are the commitments to the ticket numbers. A note is printed for each damaged journal among those that
    memory clears have replaced. Raises JournalError if the current journal is damaged.
    """
    redemptions_by_journal, error_texts = query_all_journals(
        folder, second_folder, lambda view: list_accepted_redemptions((view,))
    )
    for error_text in error_texts:
        echo(f"note: {error_text}: the tickets redeemed in that journal are not known", err=True)
    return {
        commitment: redemption_id
        for redemptions in redemptions_by_journal
        for commitment, redemption_id in redemptions.items()
    }
