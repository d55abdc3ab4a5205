"""The exchange with the host that handles the machine's money, for any protocol: what is set up and in progress.

:class:`HostMoney` has the settings of the host, and the data that a restart may lose: the query about a ticket in
escrow, the host's lock, its transfer order and the registration key. After a restart, the acceptor returns a ticket
that was in escrow. A cabinet without a ``[host]`` table has no host: :attr:`TicketValidator.STAND_ALONE`, no transfers.
Data that must survive a restart are in the journal (:class:`egm.host.keys.HostKey`); the functions at the end of this
module read and build one of them, the ring of the printed tickets that the host can read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from egm.config.cabinet_file import TicketValidator
from egm.host.keys import HostKey
from egm.kernel.credits import CreditKind
from egm.money.records.host import TransferKind, TransferStatus
from meters.view import JournalView

#: Number of printed tickets stored for the host to read. While this many are unread, the machine issues no
#: more.
HOST_TICKET_RING_SIZE: Final = 31


@dataclass(frozen=True, slots=True)
class TicketInquiry:
    """A ticket in escrow whose value the machine has requested from the host.

    This is the only copy of its full number.
    """

    id: str
    escrow_number: int
    ticket_number: str


@dataclass(frozen=True, slots=True)
class TransferLock:
    """A lock on the machine for a transfer, or a host's request for one that is not granted yet.

    The machine also sets one itself, to offer the player's cash-out to the host.
    """

    required_transfers_code: int
    """The kinds of transfer that must be possible for the lock to be granted, as the protocol's bit code."""
    end_ns: int
    """The monotonic time in nanoseconds at which the lock, or the request that is not granted, ends."""
    is_granted: bool = False
    is_cash_out_offer: bool = False
    """Whether the machine itself has set this lock, to offer the player's cash-out to the host."""
    is_cash_out_waiting: bool = False
    """Whether the host requested this lock while a cash-out was offered to it; it may still accept the offer."""

    @property
    def has_open_cash_out_offer(self) -> bool:
        """Return whether a cash-out is offered to the host under this lock.

        If the host declines, the cash-out is paid by another method.
        """
        return self.is_cash_out_offer or self.is_cash_out_waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferOrder:
    """A host's order to transfer credits between host and machine."""

    identifier: str
    kind: TransferKind
    cents_by_credit_kind: Mapping[CreditKind, int]
    """The amounts in minor units by kind of credit; kinds that are not ordered are absent."""
    may_be_partial: bool = False
    """Whether the machine may move a part of the amount if it cannot move all of it."""
    expiry_date: date | None = None
    """The expiry date of the transferred restricted credit, or None."""
    restricted_pool: int = 0
    """The number of the host's pool of restricted credit; 0 for none."""
    stays_locked_afterwards: bool = False
    """Whether the machine stays locked for the host after the transfer."""
    order_error: TransferStatus | None = None
    """The error that the protocol layer found in the order, or None. An order with an error is recorded as refused."""
    protocol_codes: Mapping[str, int] = field(default_factory=dict)
    """Codes of the protocol (type, flags) that are returned to the host unchanged."""

    @property
    def total_cents(self) -> int:
        """Return the total amount of the host's transfer order, in minor units."""
        return sum(self.cents_by_credit_kind.values())


@dataclass(slots=True)
class HostMoney:
    """The money host's settings, and what is in progress with it: a ticket query, a lock, a transfer.

    What is in progress is only in memory; a restart loses it.
    """

    ticket_validator: TicketValidator = TicketValidator.STAND_ALONE
    """How ticket numbers are made, and whether the machine or the host knows the value of a ticket."""
    can_transfer: bool = False
    """Whether the host may transfer credits (AFT)."""
    can_award_bonuses: bool = False
    """Whether the host may award bonuses."""
    asset_number: int = 0
    """The machine's asset number, by which the host addresses it in transfers; 0 if none is set."""
    money_line_name: str = ""
    """The name of the line to the host that handles the machine's money."""
    is_online: bool = False
    """Whether the host has recently polled the machine, as the protocol's line reports it."""
    ticket_inquiry: TicketInquiry | None = None
    """The ticket in escrow about which the host has not replied yet, or None."""
    last_returned_ticket_number: str = ""
    """The full number of the ticket last returned to the player; the journal contains masked numbers only."""
    transfer_lock: TransferLock | None = None
    """The host's lock on the machine for a transfer, or None."""
    transfer_order: TransferOrder | None = None
    """The transfer that the host has ordered and the machine has not executed yet (:mod:`egm.host.transfers`)."""
    is_cash_out_declined: bool = False
    """Whether the host has just declined a cash-out, which another payout method must now pay."""
    declined_balance_cents: int | None = None
    """The balance that a host which alone may take cash-outs has just declined, in minor units, or None.

    The same balance is not offered to it again.
    """
    registration_key: bytes = field(default=b"", repr=False)
    """The key with which the host registered the machine for transfers; empty until it does so in this run.

    It is held only in memory.
    """


def build_ticket_ring_state(journal: JournalView, payout_id: str) -> Mapping[str, int | str]:
    """Return the state change that adds a printed ticket to the ring buffer of 31 tickets that the host can read."""
    added_count = _read_count(journal, HostKey.TICKETS_ADDED_TO_RING)
    return {
        HostKey.TICKETS_ADDED_TO_RING: added_count + 1,
        f"{HostKey.PRINTED_TICKET_RING}{added_count % HOST_TICKET_RING_SIZE + 1}": payout_id,
    }


def _read_count(journal: JournalView, storage_key: str) -> int:
    """Return the count that the journal stores under a key, or 0."""
    count = journal.state(storage_key)
    return count if isinstance(count, int) else 0


def list_unread_ticket_indices(journal: JournalView) -> tuple[int, ...]:
    """Return the ring buffer indices (1 to 31) of the printed tickets that the host has not read, oldest first."""
    read_count = _read_count(journal, HostKey.TICKETS_READ_FROM_RING)
    added_count = _read_count(journal, HostKey.TICKETS_ADDED_TO_RING)
    return tuple(number % HOST_TICKET_RING_SIZE + 1 for number in range(read_count, added_count))


def build_ticket_read_state(journal: JournalView) -> Mapping[str, int]:
    """Return the state change that marks the oldest unread printed ticket as read by the host."""
    return {HostKey.TICKETS_READ_FROM_RING: _read_count(journal, HostKey.TICKETS_READ_FROM_RING) + 1}


def find_payout_id_in_ticket_ring(journal: JournalView, ring_index: int) -> str | None:
    """Return the id of the cash-out that printed the ticket at an index (1 to 31) of the ring buffer, or None."""
    payout_id = journal.state(f"{HostKey.PRINTED_TICKET_RING}{ring_index}")
    return payout_id if isinstance(payout_id, str) else None
