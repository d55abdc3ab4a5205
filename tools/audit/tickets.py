"""The ticket ledger stored with a journal, if it is available: a second record of the same money."""

from pathlib import Path

from egm.errors import LocalError, OperatorError
from egm.tickets.audit import anchor_of, disagreement
from egm.tickets.ledger_access import open_beside
from meters import open_view


def ticket_ledger_differs(folder: Path, second: Path) -> str:
    """Return why a state folder's ticket ledger is not the one its journal knows, or an empty string.

    A journal that has never used a ledger is not compared with one. Every change in both copies is verified.
    """
    with open_view(folder) as view:
        try:
            stored = anchor_of(view.state("tickets"))
            if stored is None:
                return ""
            with open_beside(folder, second=second) as store:
                store.verify()
                return store.behind() or disagreement(store, stored, view.balance_cents)
        except (OperatorError, LocalError) as error:
            return str(error)
