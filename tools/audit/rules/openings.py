"""The rules for work at the open machine: interventions, bases, fills, counts of a collection."""

from typing import Any, Final

from egm.kernel.states import AT_WORK, EVERYWHERE
from egm.people import Permission
from egm.staff.slips import format_meters_line
from egm.staff.stock import BOXES
from meters.reading import read_meters
from tools.audit.rules.parts import check_in_menu, format_head, holds, read_nonzero_meters, require_new_id
from tools.audit.rules.pattern import (
    But,
    Derived,
    Differs,
    Has,
    OneOf,
    Scope,
    format_storage_key,
    is_json_equal,
)
from tools.audit.rules.rule import Move, Rule

#: A base removed or inserted: its lock and key, and the cashier who has them (Monaco art. 20.2).
_BASE: Final = {
    "base": "$base:words",
    "lock": "$lock:words",
    "cashier": "$cashier:words",
    "intervention": "$at:text",
    "person": "$:staff",
    "persons": "$:persons",
    "serial": "$:serial",
    "operator_number": "$:text",
}

_BEHIND: Final = {"machine": "$:serial", "person": "$:staff", "persons": "$:persons"}


def _check_collection(scope: Scope) -> None:
    """Check that only a collection leaves, and that it contains what was metered into each box since the last one."""
    opened: Any = scope.value_before("intervention")
    if opened["kind"] != "collection":
        due = None
    else:
        last: Any = scope.value_before("collected")
        before = dict.fromkeys(BOXES, 0) if last is None else last["after"]
        values = read_meters(scope.ledger).values
        after = {box: values[meter] for box, meter in BOXES.items()}
        due = {"id": opened["id"], "before": before, "after": after, "counted": []}
    if not is_json_equal(scope.entry.state.get(format_storage_key("collected", scope.position)), due):
        raise Differs("state.collected: it does not agree with the meters")


_is_slip = holds("the ticket is not a slip", lambda scope: scope["id"].startswith("slip-"))


def _check_box_count(scope: Scope) -> None:
    """Check that the counted box was not counted before, and that the metered amount is right."""
    last, record = scope["last"], scope.record
    box = record["box"]
    metered_cents = last["after"][box] - last["before"][box]
    due = last["id"], metered_cents, record["counted_cents"] - metered_cents
    if (record["collection"], record["metered_cents"], record["difference_cents"]) != due or box in last[
        "counted"
    ]:
        raise Differs("it is not a count of the last collection, or its difference is wrong")
    if not is_json_equal(scope.value_after("collected"), {**last, "counted": [*last["counted"], box]}):
        raise Differs("state.collected: another box was counted")


RULES: Final = (
    Rule(
        kind="intervention.opened",
        within=AT_WORK,
        id="{number}",
        before={"intervention": None},
        record={
            "id": "$number:text",
            "kind": "$work:text",
            "reason": "$reason:words",
            "person": "$person:staff",
            "persons": "$persons:persons",
            "serial": "$:serial",
            "operator_number": "$:text",
            "meters": Derived(read_nonzero_meters),
        },
        state={
            "intervention": {
                "id": "$number",
                "since": "$since:time",
                "kind": "$work",
                "reason": "$reason",
                "person": "$person",
                "persons": "$persons",
            },
            "disabled:intervention": {"reason": "$reason", "since": "$since"},
        },
        also=(
            holds(
                "it is no kind of work",
                lambda scope: scope["work"] in {"repair", "collection"},
            ),
            require_new_id("intervention", "number", here=True),
            check_in_menu,
        ),
    ),
    Rule(
        kind="intervention.closed",
        within=AT_WORK,
        id="{opened}.closed",
        before={"intervention": Has("intervention", id="$opened")},
        record={
            "id": "$opened",
            "work": "$:words",
            "parts": "$:text",
            "person": "$:staff",
            "persons": "$:persons",
            "serial": "$:serial",
            "operator_number": "$:text",
            "meters": Derived(read_nonzero_meters),
        },
        state={"intervention": None, "disabled:intervention": None, "collected?": "$:object"},
        also=(_check_collection, check_in_menu),
    ),
    Rule(
        kind="hopper.opening",
        within=EVERYWHERE,
        record={"amount_cents": "$cents:cents", "machine": "$:serial"},
        moves=(Move("stock:fill", "stock:hopper", "$cents"),),
        also=(
            holds(
                "coins had moved already",
                lambda scope: not any(map(scope.ledger.balance_cents, ("stock:fill", "stock:hopper"))),
            ),
        ),
    ),
    Rule(
        kind="hopper.filled",
        within=AT_WORK,
        record={"amount_cents": "$cents:cents", **_BEHIND},
        counts={"hopper_fills": 1},
        moves=(Move("stock:fill", "stock:hopper", "$cents"),),
        may=Permission.COLLECT,
        also=(check_in_menu,),
    ),
    Rule(
        kind="collection.counted",
        within=AT_WORK,
        before={"collected": "$last:object"},
        record={
            "collection": "$:text",
            "box": OneOf(*BOXES),
            "counted_cents": "$:count",
            "metered_cents": "$:count",
            "difference_cents": "$:int",
            **_BEHIND,
        },
        state={"collected": "$:object"},
        may=Permission.COLLECT,
        also=(_check_box_count, check_in_menu),
    ),
    Rule(
        kind="slip.ordered",
        id="$slip:text",
        record={
            "title": "$:text",
            "about": "$:text",
            "when": "$:time",
            "meters": "$:text",
            "serial": "$:serial",
            "witness": "$:text",
        },
        also=(
            require_new_id("slip", "slip", here=True),
            holds(
                "its meters or its witness are others",
                lambda scope: (
                    (scope.record["meters"], scope.record["witness"])
                    == (
                        format_meters_line(read_meters(scope.ledger).values),
                        format_head(scope),
                    )
                ),
            ),
        ),
    ),
    Rule(
        kind="slip.printed",
        before={"print": Has("print", id="$id")},
        record={"id": "$id"},
        state={"print": But("print", state="barcode_done")},
        counts={"slips_printed": 1},
        also=(_is_slip,),
    ),
    Rule(kind="slip.failed", record={"id": "$id:text", "why": "$:text"}, also=(_is_slip,)),
    Rule(
        kind="slip.failed",
        before={"print": Has("print", id="$id")},
        record={"id": "$id", "why": "$:text"},
        state={"print": None},
        also=(_is_slip,),
    ),
    Rule(
        kind="intervention.seen",
        before={"intervention": Has("intervention", id="$opened")},
        record={"id": "$opened:text"},
        state={"intervention_seen": "$opened"},
    ),
    Rule(
        kind="base.withdrawn",
        within=AT_WORK,
        before={"base": None, "intervention": Has("intervention", id="$at")},
        record=_BASE | {"reason": "$reason:words"},
        state={
            "base": {
                "since": "$since:time",
                "base": "$base",
                "lock": "$lock",
                "cashier": "$cashier",
                "reason": "$reason",
            },
            "disabled:base": {"reason": "$reason", "since": "$since"},
        },
        may=Permission.COLLECT,
        also=(check_in_menu,),
    ),
    Rule(
        kind="base.returned",
        within=AT_WORK,
        before={"base": "$:object", "intervention": Has("intervention", id="$at")},
        record=_BASE,
        state={"base": None, "disabled:base": None},
        may=Permission.COLLECT,
        also=(check_in_menu,),
    ),
)
