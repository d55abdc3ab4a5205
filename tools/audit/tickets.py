"""The ticket ledger beside a journal, where it is at hand: the second book of the same money."""

from pathlib import Path

from egm.errors import LocalError, OperatorError
from egm.tickets.audit import anchor_of, disagreement
from egm.tickets.ledger_access import open_beside
from meters import open_view


def ticket_ledger_differs(folder: Path, second: Path) -> str:
    """Why the ticket ledger in a state folder is not the one its journal knows; empty where it is.

    A journal that has never seen a ledger is held against none. Every move of both copies is proved.
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
