"""Electronic transfers of one machine, as the line of a host orders them and reads their results.

This is the same for every protocol. A line is the connection to one host; the contract of
:mod:`egm.host.ticket_interface` applies. The host's registration key is a secret. The journal contains only its digest,
because people read the journal. The key itself is held in memory from the host's registration to the next restart.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import Enum, auto
from typing import Final

from egm.features.memory_clear.records import compute_short_digest, list_earlier_transfer_digests
from egm.features.tournament.keys import TournamentKey
from egm.host.entries import (
    AFT_CASH_OUT_TERMS_SET,
    AFT_COMPLETE,
    AFT_REGISTERED,
    AFT_RESULT_READ_BY_HOST,
    AFT_UNREGISTERED,
    AftRegistered,
)
from egm.host.keys import HostKey
from egm.host.ticket_interface import SubmitEvent
from egm.host.transfers import (
    TRANSFER_HISTORY_SIZE,
    can_add_restricted_pool,
    format_entry_id,
    is_jackpot_handpay_blocked,
    record_failed_order,
    would_block_a_jackpot_handpay,
)
from egm.kernel.credits import CreditKind
from egm.kernel.engine import StateMachineEngine
from egm.kernel.events import Event, EventType, State
from egm.kernel.machine import PositionMachine
from egm.money.host_money import HostMoney, TransferLock, TransferOrder
from egm.money.records.host import (
    CashOutTerms,
    RegistrationRecord,
    TransferKind,
    TransferRecord,
    TransferStatus,
)
from egm.record_codec import from_json

#: States in which an order is executed immediately.
_STATES_FREE_FOR_TRANSFER: Final = frozenset({State.IDLE, State.LOCKED})
#: Nanoseconds in a hundredth of a second.
_NANOSECONDS_PER_HUNDREDTH_SECOND: Final = 10_000_000


class TransferLockState(Enum):
    """The state of the lock that keeps players from using the machine while a host transfers money."""

    NOT_LOCKED = auto()
    """The host has not requested the transfer lock, or the lock has ended."""
    PENDING = auto()
    """The host has requested the transfer lock, and the machine cannot grant it yet."""
    LOCKED = auto()
    """The host holds the transfer lock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTransferResult:
    """The result of a host's transfer order.

    ``history_index`` is the transfer's index in the history of transfers, 1 to 35, or 0 if nothing moved.
    ``cents_by_credit_kind`` are the amounts moved, in minor units. ``protocol_codes`` belong to the host's protocol
    and are returned to it unchanged.
    """

    identifier: str
    kind: TransferKind
    status: TransferStatus
    cents_by_credit_kind: Mapping[CreditKind, int]
    expiry_date: date | None
    """The expiry date of the restricted credit, or None."""
    restricted_pool: int
    """The number of the pool of the restricted credit; 0 for none."""
    protocol_codes: Mapping[str, int]
    result_time: datetime
    """The time at which the transfer was executed or refused; while it is pending, the present time."""
    history_index: int


@dataclass(frozen=True, slots=True)
class AftRegistration:
    """The machine's registration for transfers.

    ``registration_key`` is the host's key; it is empty after a restart, because only its digest is stored.
    """

    is_registered: bool = False
    asset_number: int = 0
    pos_id: int = 0
    """The point-of-sale id that the host gave the machine."""
    registration_key: bytes = b""


class HostTransferInterface:
    """The methods by which a host orders electronic transfers of one machine and reads their results."""

    def __init__(self, engine: StateMachineEngine[PositionMachine], submit_event: SubmitEvent) -> None:
        """Create the transfer interface for the state table ``engine`` of a machine.

        ``submit_event`` processes an event in the state table; if its entry cannot be stored, it stops the machine.
        """
        self._engine = engine
        self._machine = engine.machine
        self._submit_event = submit_event
        self._identifier_digests_before_clear = list_earlier_transfer_digests(self._machine.journal)

    # ------------------------------------------------------------------ orders
    def execute_or_refuse_order(
        self,
        order: TransferOrder,
        *,
        asset_number: int,
        registration_key: bytes = b"",
        requires_lock: bool = False,
    ) -> TransferStatus:
        """Execute a host's transfer order now or after the current game, or return why it is refused.

        ``PENDING`` means accepted: read the result from :attr:`last_result`. ``PREVIOUS_RESULT_UNREAD``: another order
        is pending, or the host has not read the result of the last one. ``registration_key`` must be the
        registration key; a key of all zeros is not checked. With ``requires_lock``, the order is refused
        unless the host holds the transfer lock.
        """
        host_money = self._machine.component(HostMoney)
        if self.has_unread_result or host_money.transfer_order is not None:
            return TransferStatus.PREVIOUS_RESULT_UNREAD
        refusal = self._find_refusal(order, asset_number, registration_key, requires_lock=requires_lock)
        if refusal is not None:
            record_failed_order(self._machine, order, refusal, host_has_result=True)
            return refusal
        host_money.transfer_order = order
        self._submit_event(Event(EventType.TRANSFER_ORDERED))
        return TransferStatus.PENDING

    def _find_refusal(
        self, order: TransferOrder, asset_number: int, registration_key: bytes, *, requires_lock: bool
    ) -> TransferStatus | None:
        """Return the first reason to refuse a host's transfer order before it starts, or None."""
        machine, restricted = self._machine, CreditKind.RESTRICTED
        host_money, identifier = machine.component(HostMoney), order.identifier
        key_refusal = self._find_key_refusal(registration_key)
        restricted_cents = (
            order.cents_by_credit_kind.get(restricted, 0) if order.kind is not TransferKind.OUT else 0
        )
        has_expired = (
            restricted_cents and order.expiry_date is not None and order.expiry_date < machine.local_date
        )
        checks = (
            (order.order_error, order.order_error),
            (not self._is_transfer_kind_supported(order.kind), TransferStatus.UNSUPPORTED),
            (
                not host_money.asset_number or asset_number != host_money.asset_number,
                TransferStatus.WRONG_ASSET,
            ),
            (key_refusal, key_refusal),
            (not _is_valid_identifier(identifier), TransferStatus.BAD_IDENTIFIER),
            (would_block_a_jackpot_handpay(machine.journal, identifier), TransferStatus.BAD_IDENTIFIER),
            (self._was_executed(identifier), TransferStatus.NOT_UNIQUE),
            (
                order.kind is TransferKind.BONUS_JACKPOT
                and is_jackpot_handpay_blocked(machine.journal, identifier),
                TransferStatus.BAD_IDENTIFIER,
            ),
            (
                machine.memory.get(HostKey.TRANSFER_IDENTIFIERS_LOST) is not None,
                TransferStatus.NOT_REGISTERED,
            ),
            (requires_lock and self._engine.state is not State.LOCKED, TransferStatus.NOT_LOCKED),
            (min(order.cents_by_credit_kind.values(), default=0) < 0, TransferStatus.BAD_AMOUNT),
            # A host sets its cash-out terms with an order of 0 cents. A bonus of 0 cents is invalid.
            (order.kind.is_bonus and not order.total_cents, TransferStatus.BAD_AMOUNT),
            (
                order.kind.is_bonus and order.cents_by_credit_kind.get(restricted, 0),
                TransferStatus.BAD_AMOUNT,
            ),
            (self._has_promotional_jackpot(order), TransferStatus.BAD_AMOUNT),
            (has_expired, TransferStatus.BAD_EXPIRY),
            (
                restricted_cents and not can_add_restricted_pool(machine, order.restricted_pool),
                TransferStatus.OTHER_POOL,
            ),
        )
        return next((status for is_refused, status in checks if is_refused), None)

    def _was_executed(self, identifier: str) -> bool:
        """Return whether the transfer with this identifier has already moved value.

        Transfers before a memory clear count too.
        """
        return (
            self._machine.journal.has_entry(format_entry_id(identifier))
            or compute_short_digest(identifier) in self._identifier_digests_before_clear
        )

    def _has_promotional_jackpot(self, order: TransferOrder) -> bool:
        """Return whether the order is a bonus jackpot that contains promotional credit.

        Such an order is refused, because a jackpot is paid in cash.
        """
        cashable_cents = order.cents_by_credit_kind.get(CreditKind.CASHABLE, 0)
        return order.kind is TransferKind.BONUS_JACKPOT and order.total_cents != cashable_cents

    def _is_transfer_kind_supported(self, kind: TransferKind) -> bool:
        """Return whether this machine supports transfers of a kind with its host."""
        host_money = self._machine.component(HostMoney)
        if kind is TransferKind.OTHER:
            return False
        return host_money.can_award_bonuses if kind.is_bonus else host_money.can_transfer

    def _find_key_refusal(self, registration_key: bytes) -> TransferStatus | None:
        """Return the status that refuses a registration key, or None if the key is right.

        A key of all zeros is not checked.
        """
        if not any(registration_key):
            return None
        registration = self._machine.memory.read(RegistrationRecord, HostKey.REGISTRATION)
        if registration is None:
            return TransferStatus.NOT_REGISTERED
        is_right_key = hmac.compare_digest(registration.key_digest, _compute_key_digest(registration_key))
        return None if is_right_key else TransferStatus.KEY_MISMATCH

    def cancel_order(self) -> TransferStatus:
        """Cancel a host's transfer order that is not executed yet; return the status of the last order."""
        if self._machine.component(HostMoney).transfer_order is not None:
            self._submit_event(Event(EventType.TRANSFER_CANCELLED))
        last_order = self.last_result
        return TransferStatus.NO_TRANSFER_YET if last_order is None else last_order.status

    # ------------------------------------------------------------------ results
    @property
    def last_result(self) -> HostTransferResult | None:
        """Return the host's last transfer order with its result so far, or None if there was none."""
        order = self._machine.component(HostMoney).transfer_order
        if order is not None:
            return HostTransferResult(
                identifier=order.identifier,
                kind=order.kind,
                status=TransferStatus.PENDING,
                cents_by_credit_kind=order.cents_by_credit_kind,
                expiry_date=order.expiry_date,
                restricted_pool=order.restricted_pool,
                protocol_codes=order.protocol_codes,
                result_time=self._machine.clock.now(),
                history_index=0,
            )
        transfer = self._machine.memory.read(TransferRecord, HostKey.LAST_TRANSFER)
        return None if transfer is None else _build_result(transfer)

    def find_result_in_history(self, history_index: int) -> HostTransferResult | None:
        """Return the latest executed transfer with this index (1 to 35) in the transfer history, or None."""
        for entry in self._machine.journal.entries(
            AFT_COMPLETE.kind, limit=TRANSFER_HISTORY_SIZE, newest_first=True
        ):
            record = from_json(TransferRecord, entry.record, f"entry {entry.sequence}, {entry.kind}")
            if record.history_index == history_index:
                return _build_result(record)
        return None

    @property
    def has_unread_result(self) -> bool:
        """Return whether a host transfer has ended and the host has not read its result yet."""
        transfer = self._machine.memory.read(TransferRecord, HostKey.LAST_TRANSFER)
        return transfer is not None and not transfer.host_has_read

    def acknowledge_result(self) -> None:
        """Record that the host has read the result of the last transfer. A repeat changes nothing."""
        transfer = self._machine.memory.read(TransferRecord, HostKey.LAST_TRANSFER)
        if transfer is not None and not transfer.host_has_read:
            self._machine.post(
                AFT_RESULT_READ_BY_HOST, state={HostKey.LAST_TRANSFER: replace(transfer, host_has_read=True)}
            )

    # ------------------------------------------------------------------ what is possible now
    def can_execute(self, kind: TransferKind) -> bool:
        """Return whether a transfer of this kind could be executed now or after the current game.

        False in a tournament, and for a transfer to the host while there is no credit.
        """
        is_executable = self._engine.state in _STATES_FREE_FOR_TRANSFER or self._engine.state is State.PLAYING
        if kind is TransferKind.OUT and self._machine.credit_cents == 0:
            return False
        is_in_tournament = self._machine.memory.get(TournamentKey.TOURNAMENT_MODE) is not None
        return is_executable and not is_in_tournament and self._is_transfer_kind_supported(kind)

    # ------------------------------------------------------------------ the lock
    @property
    def transfer_lock_state(self) -> TransferLockState:
        """Return whether the host holds the transfer lock, or has requested it."""
        lock = self._machine.component(HostMoney).transfer_lock
        if lock is None or lock.is_cash_out_offer:
            return TransferLockState.NOT_LOCKED
        return TransferLockState.LOCKED if self._engine.state is State.LOCKED else TransferLockState.PENDING

    def request_lock(self, required_transfers_code: int, hundredths_of_second: int) -> TransferLockState:
        """Request the transfer lock for the host, for ``hundredths_of_second`` hundredths of a second.

        Return :attr:`transfer_lock_state`.

        ``required_transfers_code`` is the protocol's code for the kinds of transfers that must be possible. A
        repeated request restarts the time.
        """
        host_money = self._machine.component(HostMoney)
        end_ns = self._machine.clock.monotonic_ns() + hundredths_of_second * _NANOSECONDS_PER_HUNDREDTH_SECOND
        previous_lock = host_money.transfer_lock
        is_cash_out_waiting = previous_lock is not None and previous_lock.has_open_cash_out_offer
        host_money.transfer_lock = TransferLock(
            required_transfers_code, end_ns, is_cash_out_waiting=is_cash_out_waiting
        )
        self._submit_event(Event(EventType.TRANSFER_LOCK_REQUESTED))
        return self.transfer_lock_state

    def release_lock(self) -> None:
        """Release the host's transfer lock, or withdraw its request. Without a lock, do nothing."""
        if self._machine.component(HostMoney).transfer_lock is not None:
            self._submit_event(Event(EventType.TRANSFER_LOCK_ENDED))

    # ------------------------------------------------------------------ cash-outs to the host
    @property
    def is_cash_out_offered(self) -> bool:
        """Return whether the player's cash-out is currently offered to the host."""
        lock = self._machine.component(HostMoney).transfer_lock
        return lock is not None and lock.is_cash_out_offer

    @property
    def cash_out_terms(self) -> CashOutTerms:
        """Return whether cash-outs are offered to the host first, and whether only the host may take them."""
        terms = self._machine.memory.read(CashOutTerms, HostKey.CASH_OUT_TERMS)
        return terms or CashOutTerms(is_offered_to_host=False, is_host_only=False)

    def set_cash_out_terms(self, *, is_offered_to_host: bool, is_host_only: bool) -> None:
        """Set whether cash-outs are offered to the host first, and whether only the host may take them.

        A repeat changes nothing.
        """
        terms = CashOutTerms(is_offered_to_host=is_offered_to_host, is_host_only=is_host_only)
        if terms != self.cash_out_terms:
            self._machine.post(AFT_CASH_OUT_TERMS_SET, terms, state={HostKey.CASH_OUT_TERMS: terms})

    # ------------------------------------------------------------------ registration
    @property
    def current_registration(self) -> AftRegistration:
        """Return the machine's registration for transfers."""
        record = self._machine.memory.read(RegistrationRecord, HostKey.REGISTRATION)
        host_money = self._machine.component(HostMoney)
        if record is None:
            return AftRegistration(asset_number=host_money.asset_number)
        return AftRegistration(True, host_money.asset_number, record.pos_id, host_money.registration_key)

    def register_machine(self, asset_number: int, registration_key: bytes, pos_id: int) -> AftRegistration:
        """Register the machine for transfers and return its registration.

        If ``asset_number`` is not the machine's, nothing changes and the returned registration says "not registered".
        """
        host_money = self._machine.component(HostMoney)
        if not host_money.asset_number or asset_number != host_money.asset_number:
            return AftRegistration(asset_number=host_money.asset_number)
        record = RegistrationRecord(pos_id=pos_id, key_digest=_compute_key_digest(registration_key))
        are_identifiers_lost = self._machine.memory.get(HostKey.TRANSFER_IDENTIFIERS_LOST) is not None
        if (
            are_identifiers_lost
            or self._machine.memory.read(RegistrationRecord, HostKey.REGISTRATION) != record
        ):
            state: dict[str, object] = {HostKey.REGISTRATION: record, HostKey.TRANSFER_IDENTIFIERS_LOST: None}
            self._machine.post(AFT_REGISTERED, AftRegistered(pos_id=pos_id), state=state)
        host_money.registration_key = registration_key
        return self.current_registration

    def cancel_registration(self) -> AftRegistration:
        """Delete the machine's registration for transfers. A repeat changes nothing."""
        if self._machine.memory.get(HostKey.REGISTRATION) is not None:
            self._machine.post(AFT_UNREGISTERED, state={HostKey.REGISTRATION: None})
        self._machine.component(HostMoney).registration_key = b""
        return self.current_registration


def _build_result(record: TransferRecord) -> HostTransferResult:
    """Return the result of a host's transfer from its stored record."""
    return HostTransferResult(
        identifier=record.identifier,
        kind=record.kind,
        status=record.status,
        cents_by_credit_kind=record.cents_by_credit_kind,
        expiry_date=date.fromisoformat(record.expiry_date) if record.expiry_date else None,
        restricted_pool=record.restricted_pool,
        protocol_codes=record.protocol_codes,
        result_time=datetime.fromisoformat(record.result_time),
        history_index=record.history_index or 0,
    )


def _is_valid_identifier(text: str) -> bool:
    """Return whether the text can identify a host's transfer.

    That takes one to twenty printable ASCII characters, and not only blanks.
    """
    return len(text) <= 20 and text.isascii() and text.isprintable() and bool(text.strip())


def _compute_key_digest(registration_key: bytes) -> str:
    """Return the SHA-256 digest of a registration key, in hexadecimal."""
    return hashlib.sha256(registration_key).hexdigest()
