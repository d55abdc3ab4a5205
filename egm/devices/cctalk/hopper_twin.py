"""A simulated ccTalk hopper of one denomination."""

from collections.abc import Mapping
from typing import Any, Final

from egm.devices.cctalk import codec
from egm.devices.cctalk.codec import CctalkFrame, Header, HopperStatus, HopperTestFlags
from egm.devices.cctalk.twin import CctalkTwin
from egm.devices.twin import BenchAction, SimulatedPort

#: Time in which one coin is paid.
_SECONDS_PER_PAID_COIN: Final = 0.15
#: Time after which an empty or jammed hopper ends its payout.
_SECONDS_UNTIL_BLOCKED_PAYOUT_ENDS: Final = 2.0
#: The lifetime counter counts modulo this number.
_PAID_COUNTER_MODULUS: Final = 1 << 24
#: Number of coins in a simulated hopper at its first start.
INITIAL_COIN_COUNT: Final = 500
#: Number of coins at which the hopper's upper level sensor is covered.
FULL_COIN_COUNT: Final = 1000


class CctalkHopperTwin(CctalkTwin):
    """The simulated ccTalk hopper, with the simulated faults and frauds that a person can start."""

    kind = "hopper (ccTalk)"
    address = codec.HOPPER_ADDRESS
    product = b"HOPPER-SIM"
    category = b"Payout"

    def __init__(self, name: str, port: SimulatedPort, speed: float = 1.0) -> None:
        super().__init__(name, port, codec.cut_frame, speed)
        self._order_counter = 0
        self._remaining_coins = 0
        self._paid_coins = 0
        self._unpaid_coins = 0
        self._is_armed = False
        self._is_jammed = False
        self._is_fraud_detected = False
        self._is_sensor_blocked = False
        self._has_timed_out = False
        self._pending_overpaid_coins = 0
        self._lifetime_paid_coins = 0
        self.hopper_coins = INITIAL_COIN_COUNT
        self.tray_coins = 0

    def _build_reply(self, message: CctalkFrame) -> bytes | None:
        """Return the data of the simulated hopper's reply to a message, or None for no reply."""
        match message.header:
            case (
                Header.HOPPER_STATUS
                | Header.TEST_HOPPER
                | Header.LIFETIME_PAID_COUNT
                | Header.PAYOUT_HIGH_LOW_STATUS
            ):
                return self._build_query_replies()[Header(message.header)]
            case Header.ENABLE_HOPPER:
                self._is_armed = message.data == bytes((codec.HOPPER_ENABLE_BYTE,))
            case Header.EMERGENCY_STOP:
                return self._stop_paying()
            case Header.DISPENSE:
                return self._start_dispensing(message.data)
            case _:
                return None
        return b""

    def _build_query_replies(self) -> dict[Header, bytes]:
        """Return the reply data of all queries that only read the simulated hopper, by the query's header."""
        test_flags = HopperTestFlags(
            jammed=self._is_jammed,
            timed_out=self._has_timed_out,
            fraud_attempted=self._is_fraud_detected,
            exit_sensor_blocked=self._is_sensor_blocked,
            power_up_detected=self._order_counter == 0,
            payout_disabled=not self._is_armed,
        )
        status = HopperStatus(
            self._order_counter, self._remaining_coins, self._paid_coins, self._unpaid_coins
        )
        return {
            Header.HOPPER_STATUS: status.encode(),
            Header.TEST_HOPPER: test_flags.encode(),
            Header.LIFETIME_PAID_COUNT: self._lifetime_paid_coins.to_bytes(3, "little"),
            Header.PAYOUT_HIGH_LOW_STATUS: codec.encode_high_level_reply(
                is_full=self.hopper_coins >= FULL_COIN_COUNT
            ),
        }

    def _stop_paying(self) -> bytes:
        """End the payout; return the number of coins not paid, as data of the reply."""
        self._stop_timers()
        newly_unpaid_coins, self._remaining_coins = self._remaining_coins, 0
        self._unpaid_coins += newly_unpaid_coins
        return bytes((newly_unpaid_coins,))

    def _start_dispensing(self, data: bytes) -> bytes | None:
        """Start the ordered payout and return the reply data.

        Return None, which means no reply, unless the hopper is armed and idle, and the order names the hopper's
        serial number and at least one coin.
        """
        if (
            not self._is_armed
            or self._remaining_coins
            or len(data) != 4
            or data[:3] != self.serial
            or not data[3]
        ):
            return None
        self._order_counter = self._order_counter % 255 + 1
        self._remaining_coins, self._paid_coins, self._unpaid_coins = data[3], 0, 0
        self._has_timed_out = False
        self._schedule_step(_SECONDS_PER_PAID_COIN, self._turn_disc)
        return bytes((self._order_counter,))

    def _turn_disc(self) -> None:
        """Pay one coin; after the last one, also pay any coins of a simulated overpayment.

        A jammed or empty hopper pays none, and ends the payout after a while.
        """
        if self._is_jammed or not self.hopper_coins:
            self._schedule_step(_SECONDS_UNTIL_BLOCKED_PAYOUT_ENDS, self._end_unpaid_order)
            return
        self._drop_coin()
        self._remaining_coins -= 1
        self._paid_coins += 1
        if self._remaining_coins:
            self._schedule_step(_SECONDS_PER_PAID_COIN, self._turn_disc)
            return
        while self._pending_overpaid_coins and self.hopper_coins:  # a disc that does not stop in time
            self._pending_overpaid_coins -= 1
            self._drop_coin()

    def _drop_coin(self) -> None:
        """Move a coin from the hopper to the tray, and count it."""
        self.hopper_coins -= 1
        self.tray_coins += 1
        self._lifetime_paid_coins = (self._lifetime_paid_coins + 1) % _PAID_COUNTER_MODULUS

    def _end_unpaid_order(self) -> None:
        """End the payout order with coins unpaid, because no coin leaves the hopper."""
        self._has_timed_out = True
        self._remaining_coins, self._unpaid_coins = 0, self._remaining_coins

    def handle_power_loss(self) -> None:
        """Lose the payout order; coins already paid stay paid, and stay in the lifetime counter."""
        self._order_counter = self._remaining_coins = self._paid_coins = self._unpaid_coins = 0
        self._is_armed = self._has_timed_out = False

    def handle_power_return(self) -> None:
        """Do nothing: payouts stay disabled until the machine arms the hopper again."""

    def export_retained_state(self) -> dict[str, object]:
        """Return what the hopper retains without power: the lifetime counter, and the coins inside and out."""
        return {"total": self._lifetime_paid_coins, "level": self.hopper_coins, "tray": self.tray_coins}

    def restore_retained_state(self, retained_state: Mapping[str, Any]) -> None:
        """Restore the hopper's state that :meth:`export_retained_state` returned."""
        self._lifetime_paid_coins, self.hopper_coins, self.tray_coins = (
            retained_state["total"],
            retained_state["level"],
            retained_state["tray"],
        )

    def list_actions(self) -> dict[str, BenchAction]:
        """Return the manual actions on the simulated device, by the name under which a command calls them."""
        return {
            "fill": self._fill_hopper,
            "jam": self._jam_coin,
            "clear": self._clear_hopper_faults,
            "runaway": self._overpay_next_payout,
            "lie": self._pay_without_order,
            "cheat": self._manipulate_exit_sensor,
            "stuck_sensor": self._cover_exit_sensor,
        }

    def _fill_hopper(self, *, coins: int) -> str:
        """Set the number of coins in the hopper to ``coins``."""
        self.hopper_coins = coins
        return f"{self.hopper_coins} coins in the hopper"

    def _jam_coin(self) -> str:
        """Jam a coin in the hopper, so that no more coins leave."""
        self._is_jammed = True
        return "hopper jammed"

    def _pay_without_order(self) -> str:
        """Simulate a defect: the hopper pays a coin without an order."""
        self._drop_coin()
        return "a coin was paid without an order"

    def _manipulate_exit_sensor(self) -> str:
        """Simulate a fraud: the exit sensor is manipulated."""
        self._is_fraud_detected = True
        return "exit sensor manipulated"

    def _cover_exit_sensor(self) -> str:
        """Simulate a fault: the exit sensor stays covered."""
        self._is_sensor_blocked = True
        return "exit sensor covered"

    def _clear_hopper_faults(self) -> str:
        """Repair the hopper: end every simulated fault."""
        self._is_jammed = self._has_timed_out = self._is_fraud_detected = self._is_sensor_blocked = False
        return "hopper repaired"

    def _overpay_next_payout(self, *, coins: int = 1) -> str:
        """Simulate a defect: at the end of the next payout, the hopper pays ``coins`` coins too many."""
        self._pending_overpaid_coins = coins
        return f"{self._pending_overpaid_coins} coins too many at the next payout"

    def describe_state(self) -> dict[str, Any]:
        """Return how many coins are in the simulated hopper and how many were paid, for display."""
        return {
            "status": "paying" if self._remaining_coins else "idle",
            "level_coins": self.hopper_coins,
            "tray_coins": self.tray_coins,
            "paid_for_life": self._lifetime_paid_coins,
        }
