"""The audit rules for interventions (logged work of staff at the machine), and for printed slips.

An intervention is opened and closed. During it, staff may withdraw the cabinet stand (the locked lower part with the
coin drop box), fill the hopper, and count a cash box. Patterns such as ``"$collection:object"`` are
explained in :mod:`tools.audit.rules.pattern`.
"""

from typing import Any, Final

from egm.kernel.states import ALL_STATES, STATES_WITH_STAFF_AT_WORK
from egm.people import Permission
from egm.staff import entries
from egm.staff.slips import format_meters_line
from egm.staff.stock import METER_BY_BOX
from meters.reading import read_meters
from tools.audit.rules.pattern import (
    CheckContext,
    DerivedValue,
    ObjectWithChanges,
    ObjectWithMembers,
    PatternMismatch,
    format_storage_key,
    format_value,
    is_json_equal,
)
from tools.audit.rules.rule import AuditRule, ExpectedTransfer
from tools.audit.rules.shared_checks import (
    check_signed_in_to_menu,
    format_journal_head,
    read_nonzero_meters,
    report_unless,
    report_unless_equal,
    require_new_id,
)


def _check_collection(context: CheckContext) -> None:
    """Check what the end of an intervention stores about a collection of the cash boxes.

    If the work is a collection, the checked entry must store each box's meter now and at the previous collection. For
    any other work it must store nothing.
    """
    intervention: Any = context.stored_value_before("intervention")
    if intervention["kind"] != "collection":
        expected = None
    else:
        last_collection: Any = context.stored_value_before("collected")
        meters_before = (
            dict.fromkeys(METER_BY_BOX, 0) if last_collection is None else last_collection["after"]
        )
        value_by_meter = read_meters(context.ledger).values
        meters_now = {box: value_by_meter[meter] for box, meter in METER_BY_BOX.items()}
        expected = {"id": intervention["id"], "before": meters_before, "after": meters_now, "counted": []}
    stored_value = context.entry.state.get(format_storage_key("collected", context.position))
    if not is_json_equal(stored_value, expected):
        raise PatternMismatch(
            f"state.collected does not agree with the meters: expected {format_value(expected)}, "
            f"found {format_value(stored_value)}"
        )


_CHECK_SLIP_ID = report_unless(
    lambda context: f"record.id: expected a slip (slip-...), found {format_value(context['id'])}",
    lambda context: context["id"].startswith("slip-"),
)


def _check_box_count(context: CheckContext) -> None:
    """Check an entry about a counted cash box.

    The box must not have been counted before for this collection. The entry must state the metered amount, and how
    much the counted amount differs from it.
    """
    collection, record = context["collection"], context.record
    box = record["box"]
    metered_cents = collection["after"][box] - collection["before"][box]
    if box in collection["counted"]:
        raise PatternMismatch(f"record.box: {format_value(box)} was already counted for this collection")
    for name, expected in (
        ("collection", collection["id"]),
        ("metered_cents", metered_cents),
        ("difference_cents", record["counted_cents"] - metered_cents),
    ):
        if record[name] != expected:
            raise PatternMismatch(
                f"record.{name} does not match the last collection: expected {format_value(expected)}, "
                f"found {format_value(record[name])}"
            )
    expected_value = {**collection, "counted": [*collection["counted"], box]}
    if not is_json_equal(stored_value := context.stored_value_after("collected"), expected_value):
        raise PatternMismatch(
            f"state.collected: expected {format_value(expected_value)}, found {format_value(stored_value)}"
        )


RULES: Final = (
    AuditRule(
        entry_declaration=entries.INTERVENTION_OPENED,
        allowed_machine_states=STATES_WITH_STAFF_AT_WORK,
        id="{intervention_id}",
        stored_before={"intervention": None},
        record={
            "id": "$intervention_id",
            "kind": "$work",
            "reason": "$reason",
            "person": "$person",
            "persons": "$persons",
            "meters": DerivedValue(read_nonzero_meters),
        },
        stored_after={
            "intervention": {
                "id": "$intervention_id",
                "since": "$since",
                "kind": "$work",
                "reason": "$reason",
                "person": "$person",
                "persons": "$persons",
            },
            "disabled:intervention": {"reason": "$reason", "since": "$since"},
        },
        extra_checks=(
            require_new_id("intervention", "intervention_id", is_entry_id=True),
            check_signed_in_to_menu,
        ),
    ),
    AuditRule(
        entry_declaration=entries.INTERVENTION_CLOSED,
        allowed_machine_states=STATES_WITH_STAFF_AT_WORK,
        id="{intervention_id}.closed",
        stored_before={"intervention": ObjectWithMembers(bound_name="intervention", id="$intervention_id")},
        record={"id": "$intervention_id", "meters": DerivedValue(read_nonzero_meters)},
        stored_after={"intervention": None, "disabled:intervention": None},
        extra_checks=(_check_collection, check_signed_in_to_menu),
    ),
    AuditRule(
        entry_declaration=entries.HOPPER_OPENING_STOCK,
        allowed_machine_states=ALL_STATES,
        record={"amount_cents": "$cents"},
        expected_transfers=(ExpectedTransfer("stock:fill", "stock:hopper", "$cents"),),
        extra_checks=(
            report_unless(
                "opening stock is recorded although stock:fill or stock:hopper is not 0",
                lambda context: not any(map(context.ledger.balance_cents, ("stock:fill", "stock:hopper"))),
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.HOPPER_FILLED,
        allowed_machine_states=STATES_WITH_STAFF_AT_WORK,
        record={"amount_cents": "$cents"},
        expected_transfers=(ExpectedTransfer("stock:fill", "stock:hopper", "$cents"),),
        permission=Permission.COLLECT_CASH,
        extra_checks=(check_signed_in_to_menu,),
    ),
    AuditRule(
        entry_declaration=entries.COLLECTED_BOX_COUNTED,
        allowed_machine_states=STATES_WITH_STAFF_AT_WORK,
        stored_before={"collected": "$collection:object"},
        permission=Permission.COLLECT_CASH,
        extra_checks=(_check_box_count, check_signed_in_to_menu),
    ),
    AuditRule(
        entry_declaration=entries.SLIP_ORDERED,
        id="$slip:text",
        extra_checks=(
            require_new_id("slip", "slip", is_entry_id=True),
            report_unless_equal(
                "record.meters is not the line of the meters before this entry",
                lambda context: context.record["meters"],
                lambda context: format_meters_line(read_meters(context.ledger).values),
            ),
            report_unless_equal(
                "record.witness is not the journal head before this entry",
                lambda context: context.record["witness"],
                format_journal_head,
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.SLIP_PRINTED,
        stored_before={"print": ObjectWithMembers(bound_name="print", id="$id")},
        record={"id": "$id"},
        stored_after={"print": ObjectWithChanges(original="print", state="barcode_done")},
        extra_checks=(_CHECK_SLIP_ID,),
    ),
    AuditRule(
        entry_declaration=entries.SLIP_NOT_STARTED, record={"id": "$id"}, extra_checks=(_CHECK_SLIP_ID,)
    ),
    AuditRule(
        entry_declaration=entries.SLIP_FAILED,
        stored_before={"print": ObjectWithMembers(bound_name="print", id="$id")},
        record={"id": "$id"},
        stored_after={"print": None},
        extra_checks=(_CHECK_SLIP_ID,),
    ),
    AuditRule(
        entry_declaration=entries.INTERVENTION_READ,
        stored_before={"intervention": ObjectWithMembers(bound_name="intervention", id="$intervention_id")},
        record={"id": "$intervention_id"},
        stored_after={"intervention_seen": "$intervention_id"},
    ),
    AuditRule(
        entry_declaration=entries.CABINET_BASE_WITHDRAWN,
        allowed_machine_states=STATES_WITH_STAFF_AT_WORK,
        stored_before={
            "base": None,
            "intervention": ObjectWithMembers(bound_name="intervention", id="$intervention_id"),
        },
        record={
            "base": "$base",
            "lock": "$lock",
            "cashier": "$cashier",
            "intervention": "$intervention_id",
            "reason": "$reason",
        },
        stored_after={
            "base": {
                "since": "$since",
                "base": "$base",
                "lock": "$lock",
                "cashier": "$cashier",
                "reason": "$reason",
            },
            "disabled:base": {"reason": "$reason", "since": "$since"},
        },
        permission=Permission.COLLECT_CASH,
        extra_checks=(check_signed_in_to_menu,),
    ),
    AuditRule(
        entry_declaration=entries.CABINET_BASE_RETURNED,
        allowed_machine_states=STATES_WITH_STAFF_AT_WORK,
        stored_before={
            "base": "$:object",
            "intervention": ObjectWithMembers(bound_name="intervention", id="$intervention_id"),
        },
        record={"intervention": "$intervention_id"},
        stored_after={"base": None, "disabled:base": None},
        permission=Permission.COLLECT_CASH,
        extra_checks=(check_signed_in_to_menu,),
    ),
)
