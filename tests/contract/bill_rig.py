"""A simulated bill acceptor on a cable, its driver, a ledger that can fail, and the decisions of a machine."""

from egm.devices.bill_driver import BillDriver
from egm.devices.cctalk.bill import CctalkBillDriver
from egm.devices.ebds.driver import EbdsDriver
from egm.devices.id003.driver import Id003Driver
from egm.devices.interface import (
    Banknote,
    PaperInEscrow,
)
from egm.devices.transient import TransientEscrowLedger
from egm.testing.crash import CrashingLedger
from egm.testing.device import DeviceRig

DRIVERS = {"cctalk_bill": CctalkBillDriver, "ebds": EbdsDriver, "id003": Id003Driver}
NOTES = frozenset({5_00, 10_00, 20_00})


class MortalLedger(CrashingLedger, TransientEscrowLedger):
    def reserve_credit_before_stacking(self, content, mark):
        with self._die_if_due_around():
            super().reserve_credit_before_stacking(content, mark)

    def credit_stacked_paper(self):
        with self._die_if_due_around():
            super().credit_stacked_paper()

    def close_confirmed_paper(self):
        with self._die_if_due_around():
            super().close_confirmed_paper()

    def void_unstacked_paper(self, reason):
        with self._die_if_due_around():
            super().void_unstacked_paper(reason)

    def close_lost_paper_as_disputed(self, reason):
        with self._die_if_due_around():
            super().close_lost_paper_as_disputed(reason)

    def open_disputed_amount_of_unordered_paper(self, reason, most_cents):
        with self._die_if_due_around():
            super().open_disputed_amount_of_unordered_paper(reason, most_cents)

    def record_direction(self, *, is_returning):
        with self._die_if_due_around():
            super().record_direction(is_returning=is_returning)

    def record_exchange_progress(self, mark):
        with self._die_if_due_around():
            super().record_exchange_progress(mark)


class BillRig(DeviceRig):
    def __init__(self, protocol: str, line: str = "perfect", seed: int = 1, decide: str = "stack") -> None:
        super().__init__(protocol, line, seed)
        self.ledger = MortalLedger()
        self.decide = decide
        self.react = self._react
        self.begin()

    def begin(self) -> None:
        """Start a machine process."""
        self.driver: BillDriver = DRIVERS[self.protocol](
            "bill", self.create_serial_line(), self.receive_event, self.ledger
        )
        self.driver.enable(NOTES, accepts_tickets=True)
        self.start(self.driver)

    def _react(self, event) -> None:
        if isinstance(event, PaperInEscrow):
            match self.decide:
                case "stack":
                    self.driver.stack(event.escrow_number)
                case "return":
                    self.driver.return_paper(event.escrow_number)
                case "hold":
                    self.driver.hold_in_escrow(event.escrow_number)

    @property
    def credited_cents(self) -> int:
        return sum(c.amount_cents for c in self.ledger.credited_papers if isinstance(c, Banknote))

    def box_cents(self) -> int:
        return self.twin.describe()["stacked_cents"]

    def quiet(self) -> bool:
        """Return whether nothing is in progress on either side."""
        state = self.twin.describe()
        return (
            self.ledger.find_open() is None
            and state["inside_cents"] == 0
            and state["inserted_cents"] == state["stacked_cents"] + state["returned_cents"]
        )

    async def idle(self) -> None:
        await self.advance_until(lambda: self.twin.describe()["status"] == "idle")

    async def insert(self, cents: int = 20_00) -> None:
        await self.idle()
        self.perform_action("insert", amount_cents=cents)
