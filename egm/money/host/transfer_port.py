"""Transfer port: what a host's line asks of the machine about electronic transfers, whatever it speaks.

A line's polls call these methods on the machine's loop; what :mod:`egm.money.host.ticket_port` says of
tickets holds here too. A registration's key is a secret: the journal, which is shown to people, keeps its
digest, and the key itself is known to the run in which the host sent it.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final

from egm.kernel.credits import CreditKind
from egm.kernel.engine import Engine
from egm.kernel.events import Event, EventType, State
from egm.kernel.machine import Machine
from egm.money.host.model import HostMoney, Lock, Order, TransferKind, TransferStatus
from egm.money.host.records import CashOutTerms, RegistrationRecord, TransferRecord
from egm.money.host.ticket_port import Handle
from egm.money.host.transfers import HISTORY, entry_id, note_failure, takes_pool
from egm.record_codec import from_json
from egm.records.earlier_journal import moved_before, short_digest
from egm.records.keys import HostKey

#: States in which an order is followed at once.
_FREE: Final = frozenset({State.IDLE, State.LOCKED})
_NANOSECONDS_A_HUNDREDTH: Final = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of a transfer. ``position`` is its place in the history, 1 to 35; 0 when nothing moved."""

    identifier: str
    kind: TransferKind
    status: TransferStatus
    cents: Mapping[CreditKind, int]
    expires: date | None
    pool: int
    codes: Mapping[str, int]
    at: datetime
    position: int


@dataclass(frozen=True, slots=True)
class Registration:
    """With what the machine is registered; ``key`` is empty in every run but the one that received it."""

    registered: bool = False
    asset_number: int = 0
    pos_id: int = 0
    key: bytes = b""


class HostTransfers:
    """Electronic transfers of one machine, as its host sees them."""

    def __init__(self, engine: Engine[Machine], handle: Handle) -> None:
        """``handle`` lets something happen, and stops a machine that cannot record it."""
        self._engine = engine
        self._machine = engine.machine
        self._handle = handle
        self._moved_before = moved_before(self._machine.journal)

    def _let(self, event: EventType, **values: object) -> None:
        self._handle(Event(event, values))

    # ------------------------------------------------------------------ orders
    def order(
        self, order: Order, *, asset_number: int, key: bytes = b"", if_locked: bool = False
    ) -> TransferStatus:
        """Follow an order, at once or when the game shown is over; or say why not.

        ``PENDING`` is taken: read the end from :attr:`last`. ``key`` is compared where it is not all zeros;
        ``if_locked`` refuses unless the host holds the machine.
        """
        host = self._machine.state(HostMoney)
        if self.untold or host.order is not None:
            return TransferStatus.INCOMPATIBLE
        refused = self._refusal(order, asset_number, key, if_locked=if_locked)
        if refused is not None:
            note_failure(self._machine, order, refused, told=True)
            return refused
        host.order = order
        self._let(EventType.TRANSFER_ORDERED)
        return TransferStatus.PENDING

    def _refusal(
        self, order: Order, asset_number: int, key: bytes, *, if_locked: bool
    ) -> TransferStatus | None:
        """Why an order is not even begun, the first that holds."""
        machine, restricted = self._machine, CreditKind.RESTRICTED
        host, identifier = machine.state(HostMoney), order.identifier
        wrong_key = self._key_status(key)
        promised = order.cents.get(restricted, 0) if order.kind is not TransferKind.OUT else 0
        late = promised and order.expires is not None and order.expires < machine.local_date
        checks = (
            (order.wrong, order.wrong),
            (not self._offers(order.kind), TransferStatus.UNSUPPORTED),
            (not host.asset_number or asset_number != host.asset_number, TransferStatus.WRONG_ASSET),
            (wrong_key, wrong_key),
            (not _is_identifier(identifier), TransferStatus.BAD_IDENTIFIER),
            (self._has_moved(identifier), TransferStatus.NOT_UNIQUE),
            (machine.memory.get(HostKey.TRANSFERS_UNPROVED) is not None, TransferStatus.NOT_REGISTERED),
            (if_locked and self._engine.state is not State.LOCKED, TransferStatus.NOT_LOCKED),
            (min(order.cents.values(), default=0) < 0, TransferStatus.BAD_AMOUNT),
            # An order of nothing is how a host sets its cash-out mode; an award of nothing is none.
            (order.kind.is_bonus and not order.total_cents, TransferStatus.BAD_AMOUNT),
            (order.kind.is_bonus and order.cents.get(restricted, 0), TransferStatus.BAD_AMOUNT),
            (self._jackpot_of_promotion(order), TransferStatus.BAD_AMOUNT),
            (late, TransferStatus.BAD_EXPIRY),
            (promised and not takes_pool(machine, order.pool), TransferStatus.OTHER_POOL),
        )
        return next((status for holds, status in checks if holds), None)

    def _has_moved(self, identifier: str) -> bool:
        """Whether a transfer has moved value, in this journal or in one that was cleared."""
        return (
            self._machine.journal.knows(entry_id(identifier))
            or short_digest(identifier) in self._moved_before
        )

    def _jackpot_of_promotion(self, order: Order) -> bool:
        """A jackpot is money: no part of it can be promotional."""
        cashable_cents = order.cents.get(CreditKind.CASHABLE, 0)
        return order.kind is TransferKind.BONUS_JACKPOT and order.total_cents != cashable_cents

    def _offers(self, kind: TransferKind) -> bool:
        host = self._machine.state(HostMoney)
        if kind is TransferKind.OTHER:
            return False
        return host.bonuses if kind.is_bonus else host.transfers

    def _key_status(self, key: bytes) -> TransferStatus | None:
        """What is wrong with a key; nothing with one that is all zeros, for a transfer needs none."""
        if not any(key):
            return None
        stored = self._machine.memory.read(RegistrationRecord, HostKey.REGISTRATION)
        if stored is None:
            return TransferStatus.NOT_REGISTERED
        right = hmac.compare_digest(stored.key_digest, _digest(key))
        return None if right else TransferStatus.KEY_MISMATCH

    def cancel(self) -> TransferStatus:
        """Take back an order that still waits; otherwise what became of the last one."""
        if self._machine.state(HostMoney).order is not None:
            self._let(EventType.TRANSFER_CANCELLED)
        last = self.last
        return TransferStatus.NONE if last is None else last.status

    # ------------------------------------------------------------------ results
    @property
    def last(self) -> Result | None:
        """The last order, with what became of it so far; None where there was none."""
        order = self._machine.state(HostMoney).order
        if order is not None:
            return Result(
                identifier=order.identifier,
                kind=order.kind,
                status=TransferStatus.PENDING,
                cents=order.cents,
                expires=order.expires,
                pool=order.pool,
                codes=order.codes,
                at=self._machine.clock.now(),
                position=0,
            )
        stored = self._machine.memory.read(TransferRecord, HostKey.TRANSFER)
        return None if stored is None else _result(stored)

    def history(self, position: int) -> Result | None:
        """The last transfer that stands at this place (1 to 35) of the history."""
        for entry in self._machine.journal.entries("aft.complete", limit=HISTORY, newest_first=True):
            record = from_json(TransferRecord, entry.record, f"entry {entry.sequence}, {entry.kind}")
            if record.position == position:
                return _result(record)
        return None

    @property
    def untold(self) -> bool:
        """Whether a transfer has come to its end and the host has not read that yet."""
        stored = self._machine.memory.read(TransferRecord, HostKey.TRANSFER)
        return stored is not None and not stored.told

    def told(self) -> None:
        """The host has read the end of the transfer. A repeat changes nothing."""
        stored = self._machine.memory.read(TransferRecord, HostKey.TRANSFER)
        if stored is not None and not stored.told:
            self._machine.record("aft.told", state={HostKey.TRANSFER: replace(stored, told=True)})

    # ------------------------------------------------------------------ what is possible now
    def possible(self, kind: TransferKind) -> bool:
        """Whether a transfer of this kind could be done at this moment, or as soon as the game is over."""
        free = self._engine.state in _FREE or self._engine.state is State.PLAYING
        if kind is TransferKind.OUT and self._machine.credit_cents == 0:
            return False
        return free and self._offers(kind)

    # ------------------------------------------------------------------ the lock
    @property
    def locked(self) -> bool | None:
        """True: held; None: asked for and not yet granted; False: neither."""
        lock = self._machine.state(HostMoney).lock
        if lock is None or lock.cash_out:
            return False
        return True if self._engine.state is State.LOCKED else None

    def lock(self, condition: int, hundredths: int) -> bool | None:
        """Hold the machine still for so many hundredths of a second; asked again, for as long from now."""
        money = self._machine.state(HostMoney)
        until_ns = self._machine.clock.monotonic_ns() + hundredths * _NANOSECONDS_A_HUNDREDTH
        before = money.lock
        waits = before is not None and before.is_offer
        money.lock = Lock(condition, until_ns, cash_out_waits=waits)
        self._let(EventType.LOCK_ASKED)
        return self.locked

    def unlock(self) -> None:
        """Let the machine go, or take the request back. Without a lock, nothing happens."""
        if self._machine.state(HostMoney).lock is not None:
            self._let(EventType.LOCK_ENDED)

    # ------------------------------------------------------------------ cash-outs to the host
    @property
    def cash_out_asked(self) -> bool:
        """Whether the player's cash-out is offered to the host now."""
        lock = self._machine.state(HostMoney).lock
        return lock is not None and lock.cash_out

    @property
    def cash_out_terms(self) -> tuple[bool, bool]:
        """Whether cash-outs are offered to the host first; and whether it alone may take them."""
        terms = self._machine.memory.read(CashOutTerms, HostKey.CASH_OUT)
        return (False, False) if terms is None else (terms.enabled, terms.hard)

    def set_cash_out(self, *, enabled: bool, hard: bool) -> None:
        """Offer cash-outs to the host first, or no more. A repeat changes nothing."""
        terms = CashOutTerms(enabled=enabled, hard=hard)
        if (enabled, hard) != self.cash_out_terms:
            self._machine.record("aft.cash_out", state={HostKey.CASH_OUT: terms}, details=terms)

    # ------------------------------------------------------------------ registration
    @property
    def registration(self) -> Registration:
        """With what the machine is registered."""
        stored = self._machine.memory.read(RegistrationRecord, HostKey.REGISTRATION)
        host = self._machine.state(HostMoney)
        if stored is None:
            return Registration(asset_number=host.asset_number)
        return Registration(True, host.asset_number, stored.pos_id, host.registration_key)

    def register(self, asset_number: int, key: bytes, pos_id: int) -> Registration:
        """Register the machine; refused (not registered) where the asset number is not its own."""
        host = self._machine.state(HostMoney)
        if not host.asset_number or asset_number != host.asset_number:
            return Registration(asset_number=host.asset_number)
        kept = RegistrationRecord(pos_id=pos_id, key_digest=_digest(key))
        unproved = self._machine.memory.get(HostKey.TRANSFERS_UNPROVED) is not None
        if unproved or self._machine.memory.read(RegistrationRecord, HostKey.REGISTRATION) != kept:
            state: dict[str, object] = {HostKey.REGISTRATION: kept, HostKey.TRANSFERS_UNPROVED: None}
            self._machine.record("aft.registered", state=state, details={"pos_id": pos_id})
        host.registration_key = key
        return self.registration

    def unregister(self) -> Registration:
        """Forget the registration. A repeat changes nothing."""
        if self._machine.memory.get(HostKey.REGISTRATION) is not None:
            self._machine.record("aft.unregistered", state={HostKey.REGISTRATION: None})
        self._machine.state(HostMoney).registration_key = b""
        return self.registration


def _result(kept: TransferRecord) -> Result:
    return Result(
        identifier=kept.identifier,
        kind=kept.kind,
        status=kept.status,
        cents=kept.cents,
        expires=date.fromisoformat(kept.expires) if kept.expires else None,
        pool=kept.pool,
        codes=kept.codes,
        at=datetime.fromisoformat(kept.at),
        position=kept.position or 0,
    )


def _is_identifier(text: str) -> bool:
    """One to twenty printable ASCII characters."""
    return 0 < len(text) <= 20 and text.isascii() and text.isprintable()


def _digest(key: bytes) -> str:
    return hashlib.sha256(key).hexdigest()
