"""The comparison of a journal with the ticket ledger stored next to it, a second record of issued tickets."""

from pathlib import Path

from egm.errors import LocalError, OperatorError
from egm.tickets.ledger_access import open_machine_ledger
from egm.tickets.ledger_comparison import find_ledger_disagreement_error, parse_ledger_anchor
from meters import open_view


def find_ticket_ledger_error(folder: Path, second_folder: Path) -> str:
    """Return why the ticket ledger in a state folder does not agree with the journal, or "" if it does.

    Every entry in both copies of the ledger is verified. A journal that has never used a ledger is not compared
    with one.
    """
    with open_view(folder) as view:
        try:
            stored_anchor = parse_ledger_anchor(view.state("tickets"))
            if stored_anchor is None:
                return ""
            with open_machine_ledger(folder, second_folder=second_folder) as store:
                store.verify_moves()
                return store.find_replaced_ledger_error() or find_ledger_disagreement_error(
                    store, stored_anchor, view.balance_cents
                )
        except (OperatorError, LocalError) as error:
            return str(error)
