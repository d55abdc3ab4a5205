"""Hopper fills and box counts: what persons put in and take out, held against the meters.

A fill is coins of the house's in the hopper: the hopper's level is right only with it (D-13). A collection
leaves in the machine's memory what was metered into each box since the one before; the count of a box, made
where the money is counted, is held against just that, and the difference stands in the journal for good
(FR69 (d); Monaco arts 19.5, 23-1; D-21, G-09).
"""

from collections.abc import Mapping
from typing import Final

from egm.devices.interface import Devices
from egm.kernel.events import Event
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.records.keys import StaffKey
from meters import Transfer

#: Box -> the meter of everything that fell into it.
BOXES: Final[Mapping[str, str]] = {"coin_box": "coin_drop", "bill_box": "bill_in.value"}


def collected(machine: Machine, collection: str) -> dict[str, object]:
    """The machine state a collection leaves: what was metered into each box up to it, and to the last one."""
    values, last = machine.journal.meters().values, machine.memory.get(StaffKey.COLLECTED)
    before = dict.fromkeys(BOXES, 0) if last is None else last["after"]
    after = {box: values[meter] for box, meter in BOXES.items()}
    return {StaffKey.COLLECTED: {"id": collection, "before": before, "after": after, "counted": []}}


# ---------------------------------------------------------------------------------------------- guards
def fill_is_whole(machine: Machine, event: Event) -> bool:
    """There is a hopper, and it is whole coins of its own."""
    coin_cents, amount_cents = machine.profile.coins.hopper_cents, event.data.get("amount_cents")
    whole = coin_cents > 0 and isinstance(amount_cents, int) and amount_cents % coin_cents == 0
    return machine.state(Devices).hopper is not None and whole


def box_is_to_be_counted(machine: Machine, event: Event) -> bool:
    """The last collection has brought this box, and nobody has counted it yet; with no box named: any."""
    last, box = machine.memory.get(StaffKey.COLLECTED), event.data.get("box")
    uncounted = BOXES.keys() - set(BOXES if last is None else last["counted"])
    return bool(uncounted) if box is None else box in uncounted


# ---------------------------------------------------------------------------------------------- effects
def note_opening_stock(machine: Machine, coins: int) -> None:
    """Coins a demonstration's hopper has from the beginning: simulated, and put in by nobody."""
    cents = coins * machine.profile.coins.hopper_cents
    if cents:
        machine.record(
            "hopper.opening",
            transfers=(Transfer("stock:fill", "stock:hopper", cents),),
            details={"amount_cents": cents, "machine": machine.identity.serial},
        )


def fill_hopper(machine: Machine, event: Event) -> None:
    """The house's coins are in the hopper."""
    amount_cents = int(event.data["amount_cents"])
    machine.record(
        "hopper.filled",
        transfers=(Transfer("stock:fill", "stock:hopper", amount_cents),),
        counts={"hopper_fills": 1},
        details={"amount_cents": amount_cents, **_behind(machine, event)},
    )
    machine.notice = Notice(code="hopper_filled", values={"amount_cents": amount_cents})


def count_box(machine: Machine, event: Event) -> None:
    """A box of the last collection was counted: hold it against what was metered into it."""
    last, box = machine.memory.get(StaffKey.COLLECTED), str(event.data["box"])
    counted_cents = int(event.data["counted_cents"])
    metered_cents = last["after"][box] - last["before"][box]
    machine.record(
        "collection.counted",
        state={StaffKey.COLLECTED: {**last, "counted": [*last["counted"], box]}},
        details={
            "collection": last["id"],
            "box": box,
            "counted_cents": counted_cents,
            "metered_cents": metered_cents,
            "difference_cents": counted_cents - metered_cents,
            **_behind(machine, event),
        },
    )
    agrees = counted_cents == metered_cents
    machine.notice = Notice(
        code="count_agrees" if agrees else "count_differs",
        severity="info" if agrees else "alarm",
        values={"amount_cents": abs(counted_cents - metered_cents)},
    )


def _behind(machine: Machine, event: Event) -> dict[str, object]:
    values = event.data
    return {
        "machine": machine.identity.serial,
        "person": values["person"],
        "persons": list(values["persons"]),
    }
