"""Credit that a host transfers to a machine, and a profile that prints and accepts tickets of promotional credit."""

from datetime import date
from pathlib import Path

import egm.profiles
from egm.host.transfers import execute_transfer_order
from egm.kernel.credits import CreditKind
from egm.kernel.events import Event, EventType
from egm.money.host_money import HostMoney, TransferOrder
from egm.money.records.host import TransferKind
from egm.testing.machine import MachineRig


def transfer_in(
    rig: MachineRig, identifier: str = "gift", *, expiry_date: date | None = None, **cents: int
) -> MachineRig:
    """Transfer credit from a host to the machine: the amount of each kind of credit, in minor units."""
    rig.machine.component(HostMoney).transfer_order = TransferOrder(
        identifier=identifier,
        kind=TransferKind.IN,
        cents_by_credit_kind={CreditKind(kind): amount_cents for kind, amount_cents in cents.items()},
        expiry_date=expiry_date,
    )
    execute_transfer_order(rig.machine, Event(EventType.TRANSFER_ORDERED))
    return rig


def write_promotional_profile(folder: Path) -> Path:
    """Write the generic profile with promotional tickets in both directions; return its path."""
    path = folder / "promotional.toml"
    sold = Path(egm.profiles.__file__).with_name("generic.toml").read_text(encoding="utf-8")
    switched_on = "[tickets]\npromotional = true\nrestricted_out = true"
    path.write_text(sold.replace("[tickets]", switched_on), encoding="utf-8")
    return path
