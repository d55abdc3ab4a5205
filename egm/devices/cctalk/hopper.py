"""Driver of ccTalk hoppers: pays coins, and records exactly as many as the hopper counted out.

A hopper has two counters: an order counter, which counts its dispense orders and which a reset sets to 0, and a
lifetime counter of paid coins. Both are recorded before an order is sent. After any interruption:

* order counter unchanged and no coin paid: the order never arrived; it is sent again;
* order counter advanced: the order was accepted; wait until nothing remains to be paid;
* order counter 0: the hopper was reset and has lost the order; the coins that it has paid count.

The amount paid is always the difference of the lifetime counter, so a lost or repeated reply or a reset cannot change
it. If the counter is lost or another hopper is installed, only the coins recorded so far are known: the payout ends
with that number, and the remainder is a disputed amount, which staff decide.

Every order ends within a time limit:

* a hopper that replies and accepts no order for :data:`PAYOUT_ORDER_REFUSED_SECONDS_MAX` is disarmed; nothing was paid,
  and a fault is active until it accepts an order;
* one that accepted the order and pays no coin for :data:`SECONDS_WITHOUT_COIN_UNTIL_STOP` is stopped; the coins that it
  counted are paid;
* after :data:`~egm.devices.driver.STALLED_DEVICE_ORDER_SECONDS_MAX` without a usable reply the payout ends with the
  coins recorded so far. The remainder is a disputed amount, unless the hopper certainly never received the order.
"""

import asyncio
from typing import Final

from egm.devices.cctalk import codec
from egm.devices.cctalk.codec import Header, HopperStatus
from egm.devices.cctalk.exchange import CctalkDriver
from egm.devices.driver import STALLED_DEVICE_ORDER_SECONDS_MAX, OrderTimer
from egm.devices.framing import ProtocolError
from egm.devices.interface import AmountDisputed, EventSink, FaultCode, PayoutFinished, PayoutProgress
from egm.devices.ledgers import PayoutLedger, PayoutRecord
from egm.devices.line import SerialLine

#: Most coins in one payout order.
COINS_PER_PAYOUT_ORDER_MAX: Final = 255
#: How long a hopper that replies may accept no order to pay.
PAYOUT_ORDER_REFUSED_SECONDS_MAX: Final = 10.0
#: How long a hopper may run without paying a coin before it is stopped. Hoppers stop by themselves earlier.
SECONDS_WITHOUT_COIN_UNTIL_STOP: Final = 20.0
#: Interval of the queries for the hopper's level.
_LEVEL_QUERY_INTERVAL_SECONDS: Final = 5.0
#: The byte that disarms a hopper.
_HOPPER_DISABLE_DATA: Final = b"\x00"
#: The lifetime counter counts modulo this number.
_PAID_COUNTER_MODULUS: Final = 1 << 24


class CctalkHopperDriver(CctalkDriver):
    """A :class:`~egm.devices.interface.Hopper` that speaks the ccTalk protocol."""

    address = codec.HOPPER_ADDRESS

    def __init__(self, name: str, line: SerialLine, sink: EventSink, ledger: PayoutLedger) -> None:
        super().__init__(name, line, sink, codec.cut_frame, codec.CCTALK_PROTOCOL)
        self._ledger = ledger
        self._requested_payout: tuple[str, int] | None = None
        self._is_stop_requested = False
        self._serial: bytes | None = None
        self._has_paid_too_few = False
        self._has_paid_too_many = False
        self._is_full = False
        # When to query the hopper's level sensors; None: it has none.
        self._next_level_query_at: float | None = 0.0
        self._lifetime_paid_coins_when_idle: int | None = None
        self._serial_when_idle: bytes | None = (
            None  # the serial number of the hopper with that lifetime counter
        )
        self._may_be_paying = True  # whether the hopper may have received the order of the open payout
        self._is_disarmed = False  # whether the hopper has been disarmed since the order of the open payout
        self._order_timer = OrderTimer()

    # ------------------------------------------------------------ the machine's side
    def pay(self, payout_id: str, coins: int) -> None:
        """Pay ``coins``. Raises ValueError for a number outside 1 to 255, or while a payout is open."""
        if not 1 <= coins <= COINS_PER_PAYOUT_ORDER_MAX:
            raise ValueError(
                f"{self.name}: {coins} coins were ordered in one payout; expected 1 to {COINS_PER_PAYOUT_ORDER_MAX}"
            )
        if self._requested_payout is not None or self._ledger.find_open() is not None:
            raise ValueError(f"{self.name}: a payout cannot be ordered, because another one is still open")
        self._requested_payout = (payout_id, coins)
        self._wake_event.set()

    def stop(self) -> None:
        """Stop paying immediately; :class:`~egm.devices.interface.PayoutFinished` reports what was paid."""
        self._is_stop_requested = True
        self._wake_event.set()

    # ------------------------------------------------------------ the cycle
    def _reset_session(self) -> None:
        """Clear the hopper's serial number, because its connection was lost: it may be another hopper now."""
        self._serial = None
        self._next_level_query_at = 0.0

    async def _run_cycle(self) -> None:
        """Run one cycle: identify the hopper, or else advance the payout in progress."""
        if self._serial is None:
            if await self._identify():
                self._serial = await self._query(Header.SERIAL)
        else:
            try:
                await self._advance_payout()
                self._handle_valid_message()
            except ProtocolError as error:
                self._count_invalid_message(error)
        await self._pause_until_next_poll()

    async def _advance_payout(self) -> None:
        """Query the hopper's status, report its faults, and take the next step of the requested or open payout.

        A requested stop comes first. A hopper that is paying although no payout is open is stopped. Coins that left
        without an order are recorded. Do nothing if a reply is missing.
        """
        status_reply = await self._query(Header.HOPPER_STATUS)
        test_reply = await self._query(Header.TEST_HOPPER)
        lifetime_paid_reply = await self._query(Header.LIFETIME_PAID_COUNT)
        if status_reply is None or test_reply is None or lifetime_paid_reply is None:
            return
        status = codec.decode_hopper_status(status_reply)
        lifetime_paid_coins = codec.decode_three_byte_number(lifetime_paid_reply)
        await self._query_levels()
        self._report_faults(codec.decode_hopper_test(test_reply))
        if self._is_stop_requested and await self._query(Header.EMERGENCY_STOP) is not None:
            self._is_stop_requested = False
            return
        record = self._ledger.find_open()
        if (
            record is None and status.remaining_coins
        ):  # the remainder of an abandoned order is already disputed
            self._lifetime_paid_coins_when_idle = None
            await self._query(Header.EMERGENCY_STOP)
            return
        self._record_unordered_coins(lifetime_paid_coins, is_payout_open=record is not None)
        if record is None:
            if self._requested_payout is not None:
                payout_id, coins = self._requested_payout
                record = PayoutRecord(
                    payout_id=payout_id,
                    ordered_coins=coins,
                    order_counter_before=status.order_counter,
                    lifetime_paid_before=lifetime_paid_coins,
                    serial=(self._serial or b"").hex(),
                )
                self._ledger.open_payout(record)
                self._requested_payout = None
                self._has_paid_too_few = self._has_paid_too_many = self._may_be_paying = False
                self._restart_time_limits()
                await self._send_dispense_order(record)
        else:
            paid_coins = (lifetime_paid_coins - record.lifetime_paid_before) % _PAID_COUNTER_MODULUS
            is_other_hopper = record.serial not in {"", (self._serial or b"").hex()}
            if is_other_hopper or paid_coins > _PAID_COUNTER_MODULUS // 2 or paid_coins < record.paid_coins:
                self._close_as_disputed(
                    record, "another hopper is in its place" if is_other_hopper else "its count fell"
                )
            else:
                await self._advance_ordered_payout(record, status, paid_coins)

    def _record_unordered_coins(self, lifetime_paid_coins: int, *, is_payout_open: bool) -> None:
        """Record coins that left the hopper without an order, and report their value as disputed.

        ``lifetime_paid_coins`` is the hopper's lifetime counter. Nothing is recorded while a payout is open
        (``is_payout_open``), because coins are then expected to leave. Nothing is recorded either if another hopper was
        installed or the counter has fallen, because the change of the counter is then not a number of coins.
        """
        unordered_coins = 0
        if self._lifetime_paid_coins_when_idle is not None and self._serial_when_idle == self._serial:
            unordered_coins = (
                lifetime_paid_coins - self._lifetime_paid_coins_when_idle
            ) % _PAID_COUNTER_MODULUS
        if 0 < unordered_coins <= _PAID_COUNTER_MODULUS // 2 and not is_payout_open:
            text = f"{unordered_coins} coins left the hopper and none were ordered"
            self._ledger.record_unordered_coins(unordered_coins, text)
            self._emit(AmountDisputed(device=self.name, text=text))
        self._lifetime_paid_coins_when_idle = None if is_payout_open else lifetime_paid_coins
        self._serial_when_idle = self._serial

    async def _send_dispense_order(self, record: PayoutRecord) -> None:
        """Arm the hopper and, if it acknowledges that, send the order to pay the record's coins, once."""
        if await self._send_command(Header.ENABLE_HOPPER, bytes((codec.HOPPER_ENABLE_BYTE,))):
            self._may_be_paying = True
            await self._query(
                Header.DISPENSE, (self._serial or b"") + bytes((record.ordered_coins,)), attempts_max=1
            )

    async def _advance_ordered_payout(
        self, record: PayoutRecord, status: HopperStatus, paid_coins: int
    ) -> None:
        """Take the next step of a payout that the hopper was ordered to pay.

        Order again if the order was lost, record coins that have left, close the payout when it is complete, and stop
        it if it makes no progress.
        """
        if (
            status.order_counter == record.order_counter_before
            and not paid_coins
            and not status.remaining_coins
        ):
            await self._repeat_dispense_order(record)
            return
        self._set_driver_fault(FaultCode.FAILURE, None)
        if record.paid_coins != paid_coins:
            self._restart_time_limits()
            self._ledger.record_coins_paid(record.payout_id, paid_coins)
            self._emit(
                PayoutProgress(device=self.name, paid_coins=paid_coins, ordered_coins=record.ordered_coins)
            )
        if not status.remaining_coins:
            self._close_payout(record, paid_coins)
        elif self._order_timer.stalled_seconds > SECONDS_WITHOUT_COIN_UNTIL_STOP:
            await self._query(Header.EMERGENCY_STOP)

    async def _repeat_dispense_order(self, record: PayoutRecord) -> None:
        """Send the payout order again, because the hopper has not accepted it.

        If it has not accepted the order for too long, disarm it. The payout is closed with no coins only once a later
        status confirms that nothing was paid.
        """
        self._may_be_paying = False
        if self._order_timer.stalled_seconds <= PAYOUT_ORDER_REFUSED_SECONDS_MAX:
            await self._send_dispense_order(record)
        elif not self._is_disarmed:
            self._is_disarmed = True
            await self._query(Header.ENABLE_HOPPER, _HOPPER_DISABLE_DATA)
        else:
            self._set_driver_fault(FaultCode.FAILURE, "the hopper accepts no order to pay")
            self._close_payout(record, 0)

    def _restart_time_limits(self) -> None:
        """Restart the time limits of the open payout, because it has made progress."""
        self._order_timer.restart()
        self._is_disarmed = False

    def _end_overdue_order(self) -> None:
        """Close the open payout if it has made no progress for too long.

        If the hopper may have received the order, the coins not seen to leave become a disputed amount. Otherwise the
        payout is closed with no coins paid.
        """
        record = self._ledger.find_open()
        if record is None and self._requested_payout is None:
            self._restart_time_limits()
        elif self._order_timer.add_elapsed() <= STALLED_DEVICE_ORDER_SECONDS_MAX:
            return
        elif record is None:
            self._close_unordered_payout()
        elif self._may_be_paying:
            self._close_as_disputed(record, "the hopper did not report the result of the order")
        else:
            self._close_payout(record, record.paid_coins)

    def _close_unordered_payout(self) -> None:
        """Close a payout whose order was never sent, because the hopper's status could not be read."""
        if self._requested_payout is not None:
            (payout_id, coins), self._requested_payout = self._requested_payout, None
            self._ledger.close_unordered_payout(payout_id)
            self._emit(
                PayoutFinished(device=self.name, payout_id=payout_id, paid_coins=0, ordered_coins=coins)
            )

    def _close_as_disputed(self, record: PayoutRecord, reason: str) -> None:
        """Close the payout as disputed: the hopper may have paid more coins than it was seen to pay."""
        seen_coins = record.paid_coins
        text = f"{record.payout_id}: {seen_coins} of {record.ordered_coins} coins were seen to leave, and then {reason}"
        self._close_payout(record, seen_coins, text)
        self._emit(AmountDisputed(device=self.name, text=text))

    def _close_payout(self, record: PayoutRecord, paid_coins: int, doubt_reason: str = "") -> None:
        """Close the payout in the ledger with ``paid_coins``, then report it as finished.

        If too many coins were paid, a later cycle reports a fault. If too few were paid, it reports one only if the
        hopper's self-test says that no coin was found. ``doubt_reason`` says why further coins may have left the
        hopper; "" if that is impossible.
        """
        self._ledger.close_payout(record.payout_id, paid_coins, doubt_reason)
        self._may_be_paying = True
        self._restart_time_limits()
        self._has_paid_too_few = paid_coins < record.ordered_coins
        self._has_paid_too_many = paid_coins > record.ordered_coins
        self._emit(
            PayoutFinished(
                device=self.name,
                payout_id=record.payout_id,
                paid_coins=paid_coins,
                ordered_coins=record.ordered_coins,
            )
        )

    async def _query_levels(self) -> None:
        """Query from time to time whether the hopper is full.

        A hopper that does not reply to this query counts as not full, because it has no level sensor; it is queried
        again only after its connection was lost.
        """
        now = asyncio.get_running_loop().time()
        if self._next_level_query_at is None or now < self._next_level_query_at:
            return
        self._next_level_query_at = now + _LEVEL_QUERY_INTERVAL_SECONDS
        reply = await self._query(Header.PAYOUT_HIGH_LOW_STATUS)
        if reply is None:
            self._is_full, self._next_level_query_at = False, None
        else:
            self._is_full = codec.decode_high_level_reply(reply)

    def _report_faults(self, test_flags: codec.HopperTestFlags) -> None:
        """Report the faults in the hopper's self-test, a full hopper, and an excess or short payment."""
        faults: dict[FaultCode, str] = {}
        if test_flags.jammed:
            faults[FaultCode.JAM] = ""
        if test_flags.timed_out and self._has_paid_too_few:
            faults[FaultCode.HOPPER_EMPTY] = ""
        if self._has_paid_too_many:
            faults[FaultCode.HOPPER_RUNAWAY] = ""
        if test_flags.fraud_attempted:
            faults[FaultCode.FRAUD_SUSPECTED] = ""
        if test_flags.exit_sensor_blocked:
            faults[FaultCode.SENSOR_STUCK] = ""
        if self._is_full:
            faults[FaultCode.HOPPER_FULL] = ""
        self._update_faults(faults)
