"""The ledger: the balances, meters and stored values that result from replaying the journal's entries.

The machine, a separate reader of the journal and an auditor on a different computer all run this same replay,
which has no other input. The journal is the only source, and the whole ledger can be rebuilt from it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from meters.chart import AccountBook, AccountRole, check_flow, find_account
from meters.entry import GENESIS_HASH, StoredEntry
from meters.errors import (
    AccountOverdrawn,
    InvalidTransaction,
    JournalDamaged,
    SelfAuditFailed,
    UnknownReservation,
)
from meters.transaction import JSON, Dimensions, Phase, Transaction, Transfer

#: The dimensions of an amount, such as its game, as a sorted tuple of (name, value) pairs.
DimensionsKey: TypeAlias = tuple[tuple[str, str | int], ...]


#: The key of a meter cell, to which transfers are added up: source account, target account and dimensions.
MeterCellKey: TypeAlias = tuple[str, str, DimensionsKey]


@dataclass(slots=True)
class FlowSum:
    """The total of one meter cell: all transfers from one account to another with the same dimensions."""

    amount_cents: int = 0
    """The total amount of the cell's transfers, in minor units."""
    transfer_count: int = 0
    """The number of transfers that were added up."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """Value that a transaction reserved, until another transaction settles or voids the reservation."""

    id: str
    """The id of the reserving transaction."""
    kind: str
    """The kind of the reserving transaction."""
    sequence: int
    """The number of the reserving transaction's entry."""
    transfers: tuple[Transfer, ...]
    """The reserved transfers."""


class LedgerEffect(NamedTuple):
    """What one checked transaction changes in the ledger.

    It is computed before the transaction is written, so that applying it cannot fail.
    """

    transfers: tuple[Transfer, ...]
    """The transfers that change balances."""
    cell_keys: tuple[MeterCellKey, ...] = ()
    """The key of the meter cell of each transfer in ``transfers``, in the same order."""
    counts: tuple[tuple[tuple[str, DimensionsKey], int], ...] = ()
    """The numbers to add to occurrence counts, each with the count's name and dimensions."""
    opened_reservation: Reservation | None = None
    """The reservation that the transaction makes, or None."""
    closed_reservation: Reservation | None = None
    """The reservation that the transaction settles or voids, or None."""


def build_dimensions_key(dims: Dimensions) -> DimensionsKey:
    """Return the dimensions of an amount as sorted (name, value) pairs, for the key of a meter cell."""
    return tuple(sorted(dims.items()))


def merge_dimensions(transfers: tuple[Transfer, ...], dims: Dimensions) -> tuple[Transfer, ...]:
    """Return ``transfers`` with the transaction's dimensions ``dims`` added; their own dimensions take precedence."""
    if not dims:
        return transfers
    return tuple(Transfer(t.source, t.target, t.amount_cents, {**dims, **t.dims}) for t in transfers)


def _build_cell_keys(
    transfers: tuple[Transfer, ...], dims: Dimensions, key: DimensionsKey
) -> tuple[MeterCellKey, ...]:
    """Return, for each transfer, the key of its meter cell.

    Transfers without dimensions of their own have the transaction's dimensions ``dims``, whose sorted form is
    ``key``.
    """
    return tuple(
        [(t.source, t.target, build_dimensions_key({**dims, **t.dims}) if t.dims else key) for t in transfers]
    )


@dataclass(slots=True)
class Ledger:
    """The balances, meter cells, counts, reservations and stored values after the first ``sequence`` entries."""

    sequence: int = 0
    """The number of the last entry that is included; 0 for none."""
    head_hex: str = GENESIS_HASH
    """The hash of the last entry."""
    outflows_cents: Counter[str] = field(default_factory=Counter)
    """Total minor units that have flowed out of each account, by account name."""
    inflows_cents: Counter[str] = field(default_factory=Counter)
    """Total minor units that have flowed into each account, by account name."""
    reserved_cents: Counter[str] = field(default_factory=Counter)
    """Minor units set aside by pending reservations, by account name."""
    pending_reservations: dict[str, Reservation] = field(default_factory=dict)
    """The reservations that are neither settled nor voided, by id."""
    flows: dict[MeterCellKey, FlowSum] = field(default_factory=dict)
    """The sum and number of transfers in each meter cell, by cell key."""
    counts: Counter[tuple[str, DimensionsKey]] = field(default_factory=Counter)
    """How often each kind of event was counted, such as games played or doors opened, by name and dimensions."""
    counts_at_marks: dict[str, dict[str, int]] = field(default_factory=dict)
    """For each period mark (an event such as a power-up), the occurrence counts at its last occurrence.

    The key is the mark; the value has the counts summed over dimensions, by name.
    """
    state: dict[str, JSON] = field(default_factory=dict)
    """The stored values, by storage key."""

    # ------------------------------------------------------------------ reading
    def balance_cents(self, account: str) -> int:
        """Return what flowed into an account minus what flowed out, in minor units."""
        find_account(account)
        return self.inflows_cents.get(account, 0) - self.outflows_cents.get(account, 0)

    def available_cents(self, account: str) -> int:
        """Return the balance of an account minus its pending reservations, in minor units."""
        find_account(account)
        return (
            self.inflows_cents.get(account, 0)
            - self.outflows_cents.get(account, 0)
            - self.reserved_cents.get(account, 0)
        )

    def credits_cents(self) -> int:
        """Return all players' credit on the machine, in minor units."""
        return sum(
            self.inflows_cents[name] - self.outflows_cents[name]
            for name in self.list_accounts()
            if find_account(name).role is AccountRole.CREDIT and find_account(name).book is AccountBook.LIVE
        )

    def list_accounts(self) -> set[str]:
        """Return the names of all accounts that ever had a flow of value."""
        return self.inflows_cents.keys() | self.outflows_cents.keys()

    def sum_occurrence_counts(self) -> dict[str, int]:
        """Return every occurrence count summed over its dimensions."""
        totals: Counter[str] = Counter()
        for (name, _), count in self.counts.items():
            totals[name] += count
        return dict(totals)

    # ------------------------------------------------------------------ applying
    def compute_effect(self, transaction: Transaction) -> LedgerEffect:
        """Return the effect of ``transaction`` after checking it against the ledger, which stays unchanged.

        Raises :class:`AccountOverdrawn`, :class:`UnknownReservation`, or :class:`InvalidTransaction` (an account that
        is not in the chart, a flow that the chart does not allow, an id that is already reserved).
        """
        transfers, dims = transaction.transfers, transaction.dims
        for transfer in transfers:
            check_flow(transfer.source, transfer.target)
        key = build_dimensions_key(dims) if dims else ()
        counts: tuple[tuple[tuple[str, DimensionsKey], int], ...] = ()
        if transaction.counts:
            counts = tuple([((name, key), count) for name, count in transaction.counts.items()])
        match transaction.phase:
            case Phase.POST:
                if not transfers:
                    return LedgerEffect((), (), counts)
                self._check_funds(transaction.id, transfers, ())
                return LedgerEffect(transfers, _build_cell_keys(transfers, dims, key), counts)
            case Phase.RESERVE:
                if transaction.id in self.pending_reservations:
                    raise InvalidTransaction(f"{transaction.id}: the id is already reserved")
                self._check_funds(transaction.id, (), transfers)
                reserved_transfers = merge_dimensions(transfers, dims)
                new_reservation = Reservation(
                    transaction.id, transaction.kind, self.sequence + 1, reserved_transfers
                )
                return LedgerEffect((), (), counts, opened_reservation=new_reservation)
            case Phase.SETTLE | Phase.VOID:
                reservation = self.pending_reservations.get(transaction.ref or "")
                if reservation is None:
                    raise UnknownReservation(
                        f"{transaction.id}: cannot {transaction.phase} {transaction.ref!r}, "
                        "because it is not a pending reservation"
                    )
                settled_transfers = reservation.transfers if transaction.phase is Phase.SETTLE else ()
                return LedgerEffect(
                    settled_transfers,
                    _build_cell_keys(settled_transfers, {}, ()),
                    counts,
                    closed_reservation=reservation,
                )

    def _check_funds(
        self, entry_id: str, transfers: tuple[Transfer, ...], reserved_transfers: tuple[Transfer, ...]
    ) -> None:
        """Raise :class:`AccountOverdrawn` if a transaction would overdraw an account that must not be, such as credit.

        ``transfers`` are its transfers that move value, ``reserved_transfers`` those that it only reserves.
        """
        change_cents_by_account: dict[str, int] = {}
        # The receiving account only gains, so no check is needed.
        if len(transfers) == 1 and not reserved_transfers:
            (transfer,) = transfers
            change_cents_by_account[transfer.source] = -transfer.amount_cents
            transfers = ()
        for transfer in transfers:
            change_cents_by_account[transfer.source] = (
                change_cents_by_account.get(transfer.source, 0) - transfer.amount_cents
            )
            change_cents_by_account[transfer.target] = (
                change_cents_by_account.get(transfer.target, 0) + transfer.amount_cents
            )
        for transfer in reserved_transfers:
            change_cents_by_account[transfer.source] = (
                change_cents_by_account.get(transfer.source, 0) - transfer.amount_cents
            )
        for name, amount_cents in change_cents_by_account.items():
            if amount_cents >= 0 or not find_account(name).is_never_negative:
                continue
            available_cents = (
                self.inflows_cents.get(name, 0)
                - self.outflows_cents.get(name, 0)
                - self.reserved_cents.get(name, 0)
            )
            if available_cents + amount_cents < 0:
                raise AccountOverdrawn(
                    f"{entry_id}: {name} has {available_cents} cents available, but {-amount_cents} are needed"
                )

    def apply_effect(self, effect: LedgerEffect, entry: StoredEntry) -> None:
        """Apply the effect of the journal entry ``entry``, as :meth:`compute_effect` returned it; this cannot fail."""
        self._apply_transfers(effect)
        if effect.opened_reservation:
            self.pending_reservations[effect.opened_reservation.id] = effect.opened_reservation
            for transfer in effect.opened_reservation.transfers:
                self.reserved_cents[transfer.source] += transfer.amount_cents
        if effect.closed_reservation:
            del self.pending_reservations[effect.closed_reservation.id]
            for transfer in effect.closed_reservation.transfers:
                self.reserved_cents[transfer.source] -= transfer.amount_cents
        transaction = entry.transaction
        for count_key, count in effect.counts:
            self.counts[count_key] += count
        for mark in transaction.marks:
            self.counts_at_marks[mark] = self.sum_occurrence_counts()
        for key, value in transaction.state.items():
            if value is None:
                self.state.pop(key, None)
            else:
                self.state[key] = value
        self.sequence = entry.sequence
        self.head_hex = entry.hash_hex

    def _apply_transfers(self, effect: LedgerEffect) -> None:
        """Add the transfers of ``effect`` to the balances and to their meter cells."""
        for transfer, cell in zip(effect.transfers, effect.cell_keys, strict=True):
            self.add_flow(cell, transfer.amount_cents)

    def add_flow(self, cell_key: MeterCellKey, amount_cents: int, transfer_count: int = 1) -> None:
        """Add checked transfers to the balances and to their meter cell.

        ``amount_cents`` is the total of ``transfer_count`` transfers.
        """
        source, target, _ = cell_key
        self.outflows_cents[source] += amount_cents
        self.inflows_cents[target] += amount_cents
        cell = self.flows.get(cell_key)
        if cell is None:
            cell = self.flows[cell_key] = FlowSum()
        cell.amount_cents += amount_cents
        cell.transfer_count += transfer_count

    def replay(self, entries: Iterable[StoredEntry]) -> None:
        """Apply stored journal entries in order.

        Raises :class:`JournalDamaged` at an entry that the ledger does not allow.
        """
        for entry in entries:
            try:
                effect = self.compute_effect(entry.transaction)
                self.apply_effect(effect, entry)
            except Exception as error:
                raise JournalDamaged(
                    f"entry {entry.sequence} ({entry.id})", f"cannot be applied: {error!r}"
                ) from error

    # ------------------------------------------------------------------ the self-audit
    def self_audit(self) -> None:
        """Verify that the credits equal total in + wins - wagers - total out (A-27).

        Also verify that no balance is below zero where it must not be, and that each book adds up to 0. Raises
        :class:`SelfAuditFailed` with the figures; the machine must then stop.
        """
        live_cents_by_role: defaultdict[AccountRole, int] = defaultdict(int)
        books: defaultdict[AccountBook, int] = defaultdict(int)
        for name in self.list_accounts():
            account = find_account(name)
            difference_cents = self.inflows_cents.get(name, 0) - self.outflows_cents.get(name, 0)
            books[account.book] += difference_cents
            if account.book is AccountBook.LIVE:
                live_cents_by_role[account.role] += difference_cents
            reserved_cents = self.reserved_cents.get(name, 0)
            if difference_cents < reserved_cents and account.is_never_negative:
                raise SelfAuditFailed(
                    f"{name} is below zero: {difference_cents - reserved_cents} cents available"
                )
        paid_in_cents, won_cents = -live_cents_by_role[AccountRole.IN], -live_cents_by_role[AccountRole.WIN]
        expected_cents = (
            paid_in_cents
            + won_cents
            - live_cents_by_role[AccountRole.WAGER]
            - live_cents_by_role[AccountRole.OUT]
        )
        if live_cents_by_role[AccountRole.CREDIT] != expected_cents:
            raise SelfAuditFailed(
                f"credits are {live_cents_by_role[AccountRole.CREDIT]} cents, but in {paid_in_cents} + wins {won_cents}"
                f" - wagers {live_cents_by_role[AccountRole.WAGER]} - out"
                f" {live_cents_by_role[AccountRole.OUT]} = {expected_cents}"
            )
        for book, difference_cents in books.items():
            if difference_cents:
                raise SelfAuditFailed(f"the {book} book is off by {difference_cents} cents")

    def run_full_audit(self) -> None:
        """Run the self-audit, and compare the running totals of the ledger with sums computed anew.

        Each account's total must equal the sum of its meter cells, and its reserved amount the sum of its pending
        reservations. Raises :class:`SelfAuditFailed`.
        """
        self.self_audit()
        summed_outflows_cents: Counter[str] = Counter()
        summed_inflows_cents: Counter[str] = Counter()
        summed_reserved_cents: Counter[str] = Counter()
        for (source, target, _), flow in self.flows.items():
            summed_outflows_cents[source] += flow.amount_cents
            summed_inflows_cents[target] += flow.amount_cents
        for reservation in self.pending_reservations.values():
            for transfer in reservation.transfers:
                summed_reserved_cents[transfer.source] += transfer.amount_cents
        for sum_name, stored_sums, summed in (
            ("out", self.outflows_cents, summed_outflows_cents),
            ("in", self.inflows_cents, summed_inflows_cents),
            ("reserved", self.reserved_cents, summed_reserved_cents),
        ):
            if +stored_sums != +summed:
                names = sorted(n for n in stored_sums.keys() | summed.keys() if stored_sums[n] != summed[n])
                raise SelfAuditFailed(
                    f"account totals {sum_name} and meter cells disagree on {', '.join(names)}"
                )
