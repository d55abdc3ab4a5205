"""Credit that a host transfers to a machine."""

from egm.host.transfers import execute_transfer_order
from egm.kernel.credits import CreditKind
from egm.kernel.events import Event, EventType
from egm.money.host_money import HostMoney, TransferOrder
from egm.money.records.host import TransferKind
from egm.testing.machine import MachineRig


def transfer_in(rig: MachineRig, identifier: str = "gift", **cents: int) -> MachineRig:
    """Transfer credit from a host to the machine: the amount of each kind of credit, in minor units."""
    rig.machine.component(HostMoney).transfer_order = TransferOrder(
        identifier=identifier,
        kind=TransferKind.IN,
        cents_by_credit_kind={CreditKind(kind): amount_cents for kind, amount_cents in cents.items()},
    )
    execute_transfer_order(rig.machine, Event(EventType.TRANSFER_ORDERED))
    return rig
