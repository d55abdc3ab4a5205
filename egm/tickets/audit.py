"""The ticket ledger held against the machine's meters (H-15): two records of the same money, kept apart."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from egm.errors import OperatorError
from egm.tickets.model import CAGE, ELSEWHERE
from egm.tickets.record import Action, Record
from egm.tickets.store import TicketStore
from meters.chart import CREDIT_KINDS


@dataclass(frozen=True, slots=True)
class Comparison:
    """One account of the machine beside the tickets it stands for, in minor units."""

    account: str
    journal_cents: int
    ledger_cents: int

    @property
    def agrees(self) -> bool:
        """Whether they are equal. A ticket on its way when the power went is the one innocent difference."""
        return self.journal_cents == self.ledger_cents


def _issuers(records: Iterable[Record]) -> set[str]:
    return {record.ticket.machine_serial for record in records} - {ELSEWHERE}


def _redeemers(records: Iterable[Record]) -> set[str]:
    """The machines of a ledger in which nothing was issued."""
    moves = [move for record in records for move in record.moves if move.action is Action.LOCK]
    return {move.by for move in moves if not move.by.startswith(CAGE)}


def compare(
    store: TicketStore, balance_cents: Callable[[str], int], machine_serial: str | None = None
) -> list[Comparison]:
    """Compare what the journal says went out and came in by ticket with what the ledger says.

    ``balance_cents`` gives the balance of an account of the machine's journal. ``machine_serial`` may be left
    out where all tickets are one machine's. Raises :class:`OperatorError` where it must not.
    """
    records = list(store.records())
    serials = _issuers(records) or _redeemers(records)
    if machine_serial is None:
        if len(serials) > 1:
            raise OperatorError(f"this ledger is shared: which machine of {', '.join(sorted(serials))}?")
        machine_serial = next(iter(serials), "")
    sums: Counter[str] = Counter()
    for record in records:
        kind, amount_cents = record.ticket.kind.value, record.ticket.amount_cents
        for move in record.moves:
            if move.by == machine_serial and move.action is Action.ISSUE:
                sums[f"out:voucher:{kind}"] += amount_cents
            elif move.by == machine_serial and move.action is Action.REDEEM:
                sums[f"world:voucher_in:{kind}"] += amount_cents
    accounts = [f"{side}:{kind}" for side in ("out:voucher", "world:voucher_in") for kind in CREDIT_KINDS]
    # The journal counts what comes in as given by the world, below zero.
    return [Comparison(name, abs(balance_cents(name)), sums[name]) for name in accounts]
