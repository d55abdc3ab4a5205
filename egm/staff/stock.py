"""Hopper fills and box counts: what people add and remove, compared with the meters.

A fill adds the venue's coins to the hopper, whose coin count is right only if fills are recorded (D-13). At a
collection the machine stores the amount metered into each cash box since the previous collection. The later
count of a box is compared with that amount, and the difference stays in the journal permanently (FR69 (d);
Monaco arts 19.5, 23-1; D-21, G-09).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from egm.devices.interface import MoneyDevices
from egm.errors import InvariantError
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.staff.desk import find_actor
from egm.staff.entries import (
    COLLECTED_BOX_COUNTED,
    HOPPER_FILLED,
    HOPPER_OPENING_STOCK,
    CollectedBoxCounted,
    CollectionRecord,
    HopperFilled,
    HopperOpeningStock,
)
from egm.staff.events import BoxCountForm, HopperFillForm
from egm.staff.keys import StaffKey
from meters import Transfer

#: The meter of the coins or bills that went into each box. Tickets in the bill box have no value any more.
METER_BY_BOX: Final[Mapping[str, str]] = {"coin_box": "coin_drop", "bill_box": "bill_in.value"}


def build_collection_state(machine: PositionMachine, collection_id: str) -> dict[str, object]:
    """Return the state change that stores a collection.

    It has the total that was metered into each box up to now, and the total up to the previous collection.
    """
    meter_values, previous_collection = (
        machine.journal.meters().values,
        machine.memory.read(CollectionRecord, StaffKey.LAST_COLLECTION),
    )
    previous_cents_by_box = (
        dict.fromkeys(METER_BY_BOX, 0)
        if previous_collection is None
        else previous_collection.metered_at_collection_cents
    )
    metered_cents_by_box = {box: meter_values[meter] for box, meter in METER_BY_BOX.items()}
    return {
        StaffKey.LAST_COLLECTION: CollectionRecord(
            id=collection_id,
            metered_at_previous_collection_cents=previous_cents_by_box,
            metered_at_collection_cents=metered_cents_by_box,
            counted_boxes=(),
        )
    }


# ---------------------------------------------------------------------------------------------- guards
def fill_amount_is_valid(machine: PositionMachine, event: Event) -> bool:
    """Return whether the machine has a hopper, and the form's amount is a whole number of the hopper's coins."""
    coin_cents = machine.profile.coins.hopper_coin_cents
    amount_cents = event.read_payload(HopperFillForm).amount_cents
    is_coin_multiple = coin_cents > 0 and amount_cents > 0 and amount_cents % coin_cents == 0
    return machine.component(MoneyDevices).hopper is not None and is_coin_multiple


@refusal_code("box_is_to_be_counted")
def box_is_not_counted_yet(machine: PositionMachine, event: Event) -> bool:
    """Return whether the form's box has not been counted since the last collection.

    If the form names no box: whether any box has not been counted.
    """
    collection = machine.memory.read(CollectionRecord, StaffKey.LAST_COLLECTION)
    box = event.read_payload(BoxCountForm).box
    uncounted_boxes = METER_BY_BOX.keys() - set(
        METER_BY_BOX if collection is None else collection.counted_boxes
    )
    return bool(uncounted_boxes) if box is None else box in uncounted_boxes


# ---------------------------------------------------------------------------------------------- effects
def record_simulated_opening_stock(machine: PositionMachine, coin_count: int) -> None:
    """Record the amount of simulated coins that a demonstration's hopper has at the start, if it has any."""
    stock_cents = coin_count * machine.profile.coins.hopper_coin_cents
    if stock_cents:
        machine.post(
            HOPPER_OPENING_STOCK,
            HopperOpeningStock(amount_cents=stock_cents, machine=machine.identity.serial),
            transfers=(Transfer("stock:fill", "stock:hopper", stock_cents),),
        )


def record_hopper_fill(machine: PositionMachine, event: Event) -> None:
    """Record that staff added coins of the venue to the hopper."""
    form = event.read_payload(HopperFillForm)
    machine.post(
        HOPPER_FILLED,
        HopperFilled(
            amount_cents=form.amount_cents,
            machine=machine.identity.serial,
            person=find_actor(machine, event),
            persons=form.persons,
        ),
        transfers=(Transfer("stock:fill", "stock:hopper", form.amount_cents),),
    )
    machine.notice = Notice(code="hopper_filled", values={"amount_cents": form.amount_cents})


def record_box_count(machine: PositionMachine, event: Event) -> None:
    """Record the counted content of a box of the last collection, compared with the amount metered into it."""
    collection = machine.memory.require(CollectionRecord, StaffKey.LAST_COLLECTION)
    form = event.read_payload(BoxCountForm)
    if form.box is None:
        raise InvariantError("a count was submitted that does not name its cash box")
    box, counted_cents = form.box, form.counted_cents
    metered_cents = (
        collection.metered_at_collection_cents[box] - collection.metered_at_previous_collection_cents[box]
    )
    machine.post(
        COLLECTED_BOX_COUNTED,
        CollectedBoxCounted(
            intervention_id=collection.id,
            box=box,
            counted_cents=counted_cents,
            metered_cents=metered_cents,
            difference_cents=counted_cents - metered_cents,
            machine=machine.identity.serial,
            person=find_actor(machine, event),
            persons=form.persons,
        ),
        state={StaffKey.LAST_COLLECTION: replace(collection, counted_boxes=(*collection.counted_boxes, box))},
    )
    is_count_equal = counted_cents == metered_cents
    machine.notice = Notice(
        code="count_agrees" if is_count_equal else "count_differs",
        severity="info" if is_count_equal else "alarm",
        values={"amount_cents": abs(counted_cents - metered_cents)},
    )
