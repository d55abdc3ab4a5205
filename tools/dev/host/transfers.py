"""Transfers ordered by the host: registration, orders, and finding out how each ended.

An order is in the ledger under its own id before it is on the line, and stays open until the machine reports
how it ended. An order whose answer was lost is looked up in the machine's current transfer and in its
history; only if neither has its id did it never arrive.
"""

from dataclasses import asdict
from typing import Any, Final

from egm.errors import OperatorError
from tools.dev.host.desk import Ask, Tell
from tools.dev.host.messages import Answer, Outcome
from tools.dev.host.store import Amounts, Store, StoreError, Transfer, TransferState

_DONE: Final = (0x00, 0x01)
_PENDING: Final = 0x40
#: Statuses that end a transfer without moving anything. C0 and C1 answer a wrong question, FF none at all.
_REFUSED: Final = range(0x80, 0xA0)
_ID_NOT_UNIQUE: Final = 0x81
_CLOSE: Final = 0xFF
_LOOK: Final = 0xFE
_INITIALISE, _REGISTER, _READ = 0x00, 0x01, 0xFF
_REGISTERED: Final = 0x01
_NEVER: Final = "00000000"
IN_HOUSE_TO_MACHINE, BONUS_TO_MACHINE, IN_HOUSE_TO_HOST = 0x00, 0x10, 0x80


class TransferError(OperatorError):
    """A transfer that cannot be ordered: why."""


class TransferDesk:
    """The transfers of one machine."""

    def __init__(self, store: Store, ask: Ask, tell: Tell, *, key: str, pos_id: int = 1) -> None:
        """``key``: 20 bytes in hexadecimal, the registration key; ``pos_id``: this host's point of sale."""
        self._store = store
        self._ask = ask
        self._tell = tell
        self._key = key
        self._pos_id = pos_id
        self.machine = ""
        """Whom the machine says it is; empty until it has."""
        self.asset: int | None = None
        """The asset number that the machine gave; None until it has."""
        self.is_registered = False
        self.lock: dict[str, Any] = {}
        """The last answer to lock and status (74)."""

    # ---------------------------------------------------------------- registration and lock
    def read_registration(self) -> None:
        """Ask whether the machine is registered, and its asset number."""
        self._ask(0x73, {"code": _READ}, self._registration)

    def register(self) -> None:
        """Register with the asset number the machine itself gave."""
        if self.asset is None:
            raise TransferError("register: the machine has not said its asset number yet")
        for code in (_INITIALISE, _REGISTER):
            request = {"code": code, "asset": self.asset, "key": self._key, "pos_id": self._pos_id}
            self._ask(0x73, request, self._registration)

    def _registration(self, answer: Answer) -> None:
        if "asset" in answer.values:
            self.asset = answer.values["asset"]
            self.is_registered = answer.values["status"] == _REGISTERED

    def read_lock(self, code: int = 0xFF, condition: int = 0, timeout: int = 0) -> None:
        """Ask for the lock (00), give it up (80) or read its status (FF); ``timeout`` in hundredths."""
        self._ask(0x74, {"code": code, "condition": condition, "timeout": timeout}, self._locked)

    def _locked(self, answer: Answer) -> None:
        if "lock_status" in answer.values:
            self.lock = answer.values

    # ---------------------------------------------------------------- orders
    def order(self, type_: int, amounts: Amounts, *, partial: bool = False, flags: int = 0) -> Transfer:
        """Order a transfer and return it as kept; what becomes of it is in the ledger.

        Raises :class:`TransferError` where the machine is not known, or another order is still open.
        """
        if not self.machine or self.asset is None:
            raise TransferError("transfer: the machine has not said who it is yet")
        if amounts.total_cents <= 0:
            raise TransferError("transfer: nothing to transfer")
        if still := self._store.open_transfers(self.machine):
            raise TransferError(f"transfer: {still[0].id} is still open on {self.machine}")
        transfer = self._store.offer(self.machine, type_, amounts)
        request = {
            "transfer_code": int(partial),
            "index": 0,
            "type": type_,
            **asdict(amounts),
            "flags": flags,
            "asset": self.asset,
            "key": self._key,
            "transaction": transfer.id,
            "expiration": _NEVER,
            "pool": 1 if amounts.restricted_cents else 0,
            "receipt": "",
        }
        self._ask(0x72, request, lambda answer: self._ordered(transfer, answer))
        return transfer

    def _ordered(self, transfer: Transfer, answer: Answer) -> None:
        if answer.outcome is Outcome.DATA and self._close(transfer, answer):
            return
        if not (self._is_about(transfer, answer) and answer.values["status"] == _PENDING):
            self._look_for(transfer, 0)

    def transfer_ended(self) -> None:
        """Exception 69: ask for the result, and close the machine's cycle."""
        self._ask(0x72, {"transfer_code": _CLOSE, "index": 0}, self._ended)

    def _ended(self, answer: Answer) -> None:
        if answer.outcome is Outcome.DATA:
            for transfer in self._store.open_transfers(self.machine):
                self._close(transfer, answer)

    def ask_about_open(self) -> None:
        """After a break: find out what became of every open order."""
        for transfer in self._store.open_transfers(self.machine):
            self._look_for(transfer, 0)

    def _look_for(self, transfer: Transfer, index: int, *, known: bool = False) -> None:
        """Interrogate without closing: the current transfer, then back through the history.

        ``known``: the machine has named the id already, so it did reach it.
        """
        request = {"transfer_code": _LOOK, "index": index}
        self._ask(0x72, request, lambda answer: self._looked(transfer, index, answer, known=known))

    def _looked(self, transfer: Transfer, index: int, answer: Answer, *, known: bool) -> None:
        if answer.outcome is not Outcome.DATA:
            return  # asked again when the link is up again, or 69 comes
        about = self._is_about(transfer, answer)
        if about and answer.values["status"] == _PENDING:
            return
        if about and self._close(transfer, answer):
            self.transfer_ended()  # it is known here; the machine is to know that
            return
        known = known or about
        if index < self.lock.get("buffer_index_max", 0):
            self._look_for(transfer, index + 1, known=known)
        elif known:
            self._tell(f"transfer {transfer.id}: the machine knows it, but does not say how it ended")
        else:
            self._store.close_transfer(transfer.id, TransferState.REFUSED, None, Amounts())
            self._tell(f"transfer {transfer.id} never reached the machine")

    @staticmethod
    def _is_about(transfer: Transfer, answer: Answer) -> bool:
        return bool(answer.values.get("transaction") == transfer.id)

    def _close(self, transfer: Transfer, answer: Answer) -> bool:
        """Enter the machine's last word, if this is it; whether it was."""
        values = answer.values
        status = values.get("status")
        if status is None or not self._is_about(transfer, answer):
            return False
        if status in _DONE:
            moved = Amounts(
                values["cashable_cents"], values["restricted_cents"], values["nonrestricted_cents"]
            )
            state = TransferState.DONE
        elif status in _REFUSED and status != _ID_NOT_UNIQUE:
            moved, state = Amounts(), TransferState.REFUSED
        else:
            return False
        try:
            self._store.close_transfer(transfer.id, state, status, moved)
        except StoreError as error:
            self._tell(str(error))
            return False
        self._tell(f"transfer {transfer.id} {state}: {moved.total_cents} cents, status {status:02X}")
        return True
