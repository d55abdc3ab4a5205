"""A simulated ccTalk coin acceptor with its diverter."""

from collections.abc import Mapping
from typing import Any, Final

from egm.devices.cctalk import codec
from egm.devices.cctalk.codec import CctalkFrame, CoinError, Header
from egm.devices.cctalk.twin import CctalkEventMemory, CctalkTwin
from egm.devices.twin import ActionError, BenchAction, SimulatedPort

#: Time in which a coin passes the acceptor.
_COIN_ACCEPT_SECONDS: Final = 0.3
#: The lifetime counter counts modulo this number.
_ACCEPT_COUNTER_MODULUS: Final = 1 << 24


class CctalkCoinTwin(CctalkTwin):
    """A simulated ccTalk coin acceptor."""

    kind = "coin acceptor (ccTalk)"
    address = codec.COIN_ACCEPTOR_ADDRESS
    product = b"COIN-SIM"
    category = b"Coin Acceptor"

    def __init__(
        self,
        name: str,
        port: SimulatedPort,
        speed: float = 1.0,
        cents_by_slot: Mapping[int, int] = codec.COIN_CENTS_BY_SLOT,
    ) -> None:
        super().__init__(name, port, codec.cut_frame, speed)
        self._slot_by_cents = {cents: slot for slot, cents in cents_by_slot.items()}
        self._event_memory = CctalkEventMemory()
        self._enabled_slots_mask = 0
        self._is_master_enabled = False
        self._sorter_path_by_slot: dict[int, int] = {}
        self._accept_counter = 0
        self._programmed_cents_by_slot: dict[int, int] = {}
        self.hopper_cents = 0
        self.drop_cents = 0
        self.tray_cents = 0

    def _build_reply(self, message: CctalkFrame) -> bytes | None:
        """Return the data of the simulated coin acceptor's reply to a message, or None for no reply."""
        match message.header:
            case Header.READ_CREDITS:
                return self._event_memory.encode()
            case Header.ACCEPT_COUNT:
                return self._accept_counter.to_bytes(3, "little")
            case Header.COIN_ID if len(message.data) == 1:
                return self._encode_coin_id(message.data[0])
            case Header.INHIBIT_MASK if len(message.data) == 2:
                self._enabled_slots_mask = int.from_bytes(message.data, "little")
            case Header.MASTER_INHIBIT if len(message.data) == 1:
                self._is_master_enabled = bool(message.data[0] & 1)
            case Header.SORTER_PATH if len(message.data) == 2:
                self._sorter_path_by_slot[message.data[0]] = message.data[1]
            case Header.RESET:
                self.handle_power_loss()
            case _:
                return None
        return b""

    def _encode_coin_id(self, slot: int) -> bytes:
        """Return a coin slot's identification: country, three-digit value, issue; dots if the slot accepts nothing."""
        cents = next((cents for cents, known_slot in self._slot_by_cents.items() if known_slot == slot), None)
        programmed_cents = self._programmed_cents_by_slot.get(slot, cents)
        if not programmed_cents:
            return b"......"
        return f"{self._currency_country_code}{programmed_cents:03}A".encode("ascii")

    def handle_power_loss(self) -> None:
        """Lose the stored events and settings, but not the lifetime counter."""
        self._event_memory = CctalkEventMemory()
        self._enabled_slots_mask, self._is_master_enabled = 0, False
        self._sorter_path_by_slot.clear()

    def handle_power_return(self) -> None:
        """Do nothing: coins stay inhibited until the machine enables them."""

    def export_retained_state(self) -> dict[str, object]:
        """Return what the acceptor retains without power: the lifetime counter, and where the coins are."""
        sums = [self.hopper_cents, self.drop_cents, self.tray_cents]
        return {"accepted": self._accept_counter, "sums": sums}

    def restore_retained_state(self, retained_state: Mapping[str, Any]) -> None:
        """Restore the coin acceptor's state that :meth:`export_retained_state` returned."""
        self._accept_counter = retained_state["accepted"]
        self.hopper_cents, self.drop_cents, self.tray_cents = retained_state["sums"]

    def list_actions(self) -> dict[str, BenchAction]:
        """Return the manual actions on the simulated device, by the name under which a command calls them."""
        return {
            "insert": self._insert_coin,
            "cheat": self._pull_back_coin,
            "jam": self._block_credit_sensor,
            "diverter": self._block_sorter,
            "lie": self._report_false_coin,
            "worth": self._set_coin_worth,
            "stuck_sensor": self._make_sensor_stick,
            "wrong_lane": self._misroute_coin,
            "uninvited": self._insert_while_disabled,
        }

    def _set_coin_worth(self, *, slot: int, amount_cents: int) -> str:
        """Program coin slot ``slot`` to ``amount_cents``, whatever the machine expects; 0: it accepts nothing."""
        self._programmed_cents_by_slot[slot] = amount_cents
        return f"slot {slot} takes {amount_cents} cents"

    def _find_slot(self, amount_cents: int) -> int:
        """Return the slot of the coin of a value. Raises ActionError if no coin has this value."""
        if amount_cents not in self._slot_by_cents:
            known_values = ", ".join(map(str, sorted(self._slot_by_cents)))
            raise ActionError(
                f"{self.name}: no coin is worth {amount_cents} cents; expected one of {known_values}"
            )
        return self._slot_by_cents[amount_cents]

    def _insert_coin(self, *, amount_cents: int) -> str:
        """Insert a coin of ``amount_cents``; if it is not accepted it falls into the tray."""
        slot = self._find_slot(amount_cents)
        if (
            not self.is_powered
            or not self._is_master_enabled
            or not self._enabled_slots_mask >> (slot - 1) & 1
        ):
            self.tray_cents += amount_cents
            if self.is_powered:
                self._event_memory.add(0, CoinError.INHIBITED)
            return f"{amount_cents} cents fall into the tray"
        self._schedule_step(_COIN_ACCEPT_SECONDS, lambda: self._count_accepted_coin(slot, amount_cents))
        return f"{amount_cents} cents go in"

    def _count_accepted_coin(self, slot: int, cents: int, sorter_path: int | None = None) -> None:
        """Count a coin as accepted, and add its event with the path that it fell into."""
        sorter_path = (
            self._sorter_path_by_slot.get(slot, codec.SORTER_PATH_HOPPER)
            if sorter_path is None
            else sorter_path
        )
        if sorter_path == codec.SORTER_PATH_HOPPER:
            self.hopper_cents += cents
        else:
            self.drop_cents += cents
        self._accept_counter = (self._accept_counter + 1) % _ACCEPT_COUNTER_MODULUS
        self._event_memory.add(slot, sorter_path)

    def _pull_back_coin(self) -> str:
        """Simulate a fraud: pull a credited coin back on a string."""
        self._event_memory.add(0, CoinError.COIN_ON_STRING)
        return "coin pulled back on a string"

    def _block_credit_sensor(self) -> str:
        """Simulate a fault: the credit sensor is blocked."""
        self._event_memory.add(0, CoinError.CREDIT_SENSOR_BLOCKED)
        return "credit sensor blocked"

    def _report_false_coin(self) -> str:
        """Simulate a defect: report a coin that was not inserted, and that the lifetime counter does not count."""
        self._event_memory.add(next(iter(self._slot_by_cents.values())), codec.SORTER_PATH_HOPPER)
        return "a false coin was reported"

    def _make_sensor_stick(self) -> str:
        """Simulate a fault: the credit sensor sticks."""
        self._event_memory.add(0, CoinError.CREDIT_SENSOR_NOT_READY)
        return "credit sensor stuck"

    def _misroute_coin(self, *, amount_cents: int) -> str:
        """Accept a coin of ``amount_cents`` that falls into the wrong container."""
        slot = self._find_slot(amount_cents)
        sorter_path = self._sorter_path_by_slot.get(slot, codec.SORTER_PATH_HOPPER)
        wrong_path = (
            codec.SORTER_PATH_DROP_BOX
            if sorter_path == codec.SORTER_PATH_HOPPER
            else codec.SORTER_PATH_HOPPER
        )
        self._count_accepted_coin(slot, amount_cents, wrong_path)
        return f"{amount_cents} cents fall into the wrong container"

    def _insert_while_disabled(self, *, amount_cents: int) -> str:
        """Insert a coin of ``amount_cents`` that gets in even if coins are disabled."""
        slot = self._find_slot(amount_cents)
        self._count_accepted_coin(slot, amount_cents)
        return f"{amount_cents} cents get in"

    def _block_sorter(self) -> str:
        """Simulate a fault: the coin sorter is blocked."""
        self._event_memory.add(0, CoinError.SORTER_BLOCKED)
        return "sorter blocked"

    def describe_state(self) -> dict[str, object]:
        """Return the value of the coins in hopper, drop box and tray, and the number of accepted coins, for display."""
        return {
            "status": "idle" if self._is_master_enabled and self._enabled_slots_mask else "disabled",
            "coins_cents": sorted(self._slot_by_cents),
            "hopper_cents": self.hopper_cents,
            "drop_cents": self.drop_cents,
            "tray_cents": self.tray_cents,
            "accepted_coins": self._accept_counter,
        }
