"""The rules for work on the machine: options, software, device tests."""

import hashlib
from typing import Any, Final

from egm.integrity.software import compare_digests
from egm.kernel.states import AT_WORK
from egm.people import Permission
from tools.audit.rules.parts import (
    check_first_position,
    check_in_menu,
    holds,
    require_new_id,
)
from tools.audit.rules.pattern import But, Differs, Each, Has, OneOf, Scope, is_json_equal
from tools.audit.rules.rule import Rule

_NO_OPTIONS: Final[Any] = {"off": [], "denominations_cents": {}, "bet_limit_cents": None}
_SOFTWARE: Final = {"version": "$version", "signer": "$signer", "components": "$:object"}
_NONE_INSTALLED: Final[Any] = {"version": "", "signer": "", "components": {}}


def _is_matrix(value: object) -> bool:
    return isinstance(value, list) and len(value) == 6 and all(type(number) is int for number in value)


def _check_installed_change(scope: Scope) -> None:
    before, now = scope["was"] or _NONE_INSTALLED, scope.value_after("software") or _NONE_INSTALLED
    recorded = {name: scope.record[name] for name in ("version", "signer", "components")}
    due = {name: [before[name], now[name]] for name in ("version", "signer")}
    if not is_json_equal(
        recorded, due | {"components": compare_digests(before["components"], now["components"])}
    ):
        raise Differs("the recorded change differs from the actual one")


def _is_changed(scope: Scope) -> bool:
    """Return whether the options after a change equal those before it except for the recorded change."""
    record, before, after = scope.record, scope["before"], scope["after"]
    option, game, on = record["option"], record.get("game"), record.get("on") == "yes"
    if option == "game":
        off = sorted({*before["off"]} - {game} if on else {*before["off"], game})
        return is_json_equal(after, {**before, "off": off})
    if option == "denomination":
        chosen, cents = after["denominations_cents"].get(game), int(record["denomination_cents"])
        was = before["denominations_cents"].get(
            game
        )  # without an entry, all installed denominations were offered
        due = chosen if was is None else sorted({*was, cents} if on else {*was} - {cents})
        others = {**before["denominations_cents"], game: chosen}
        return (
            bool(chosen)
            and (cents in chosen) is on
            and chosen == due
            and is_json_equal(after, {**before, "denominations_cents": others})
        )
    name = f"{option}_cents"
    return name in record and is_json_equal(after, {**before, name: record[name]})


_WORK: Final = (
    Rule(
        kind="options.changed",
        within=AT_WORK,
        record={
            "option": OneOf("bet_limit", "bet_minimum", "game", "denomination"),
            "bet_limit_cents?": "$:cents",
            "bet_minimum_cents?": "$:count",
            "game?": "$:text",
            "denomination_cents?": "$:text",
            "on?": OneOf("yes", "no"),
            "person": "$:staff",
            "persons": "$:persons",
            "before": "$before:object",
            "after": "$after:object",
        },
        state={"options": "$after"},
        may=Permission.CONFIGURE,
        also=(
            holds(
                "the options before it were others",
                lambda scope: scope["before"] == (scope.value_before("options") or _NO_OPTIONS),
            ),
            holds("the options after it are not the expected ones", _is_changed),
            check_in_menu,
        ),
    ),
    Rule(
        kind="cabinet.signed",
        record={
            "digest": "$digest:digest",
            "persons": "$persons:persons",
            "at": "$at:time",
            "reason": "$:words",
            "before": "$before:text",
            "text": "$text:words",
        },
        state={"cabinet_file": {"digest": "$digest", "persons": "$persons", "at": "$at"}},
        may=Permission.CONFIGURE,
        also=(
            holds(
                "the digest is not the file's",
                lambda scope: hashlib.sha256(scope["text"].encode()).hexdigest() == scope["digest"],
            ),
            holds(
                "the file before it was another",
                lambda scope: (
                    scope["before"] == (scope.value_before("cabinet_file") or {"digest": ""})["digest"]
                ),
            ),
            holds(
                "it is changed while something is owed",
                lambda scope: scope["before"] == scope["digest"] or not scope.ledger.credits_cents(),
            ),
        ),
    ),
    Rule(
        kind="hard_meters.fitted", record={"counted": Each("$:count")}, state={"hard_meters": Each("$:int")}
    ),
    Rule(
        kind="hard_meters.exchanged",
        before={"hard_meters": "$before:list"},
        record={
            "person": "$:staff",
            "persons": "$:persons",
            "reason": "$:words",
            "readings": "$:words",
            "before": "$before",
        },
        state={"hard_meters": None},
        may=Permission.CONFIGURE,
        also=(check_in_menu,),
    ),
    Rule(kind="software.check", record={"person": "$:staff"}, also=(check_in_menu,)),
    Rule(
        kind="software.verified",
        record={"version": "$:text", "when": "$:text"},
        also=(check_first_position,),
    ),
    Rule(
        kind="software.differs",
        record={"trouble": Each("$:text"), "when": "$:text"},
        counts={"verify_fail": 1},
        also=(check_first_position,),
    ),
    Rule(
        kind="software.changed",
        record={
            "version": ["$:text", "$version:text"],
            "signer": ["$:text", "$signer:text"],
            "reason": "$:text",
            "components": "$:object",
        },
        before={"software": "$was:object|none"},
        state={"software": OneOf(None, _SOFTWARE)},
        also=(check_first_position, _check_installed_change),
    ),
    Rule(
        kind="test.started",
        id="$id:text",
        record={
            "device": "$:text",
            "test": "$:text",
            "person": "$:staff",
            "coins?": "$:cents",
            "on?": "$:any",
            "outputs?": Each("$:text"),
        },
        may=Permission.TEST_DEVICES,
        also=(require_new_id("test", here=True), check_in_menu),
    ),
    Rule(
        kind="touch.calibrated",
        record={"person": "$:staff", "before": "$before:any", "after": "$after:any"},
        state={"touch": "$after"},
        may=Permission.TEST_DEVICES,
        also=(
            holds(
                "the calibration before it was another",
                lambda scope: scope["before"] == (scope.value_before("touch") or []),
            ),
            holds("a calibration must be six integers", lambda scope: _is_matrix(scope["after"])),
            check_in_menu,
        ),
    ),
    Rule(kind="test.failed", record={"id": "$:text", "why": "$:text"}),
    Rule(
        kind="test.failed",
        before={"print": Has("print", id="$id")},
        record={"id": "$id", "why": "$:text"},
        state={"print": None},
        also=(holds("the ticket is not a test ticket", lambda scope: scope["id"].startswith("test-")),),
    ),
    Rule(kind="test.read", record={"amount_cents": "$:count"}),
    Rule(kind="test.paper", record="$:object"),
    Rule(
        kind="test.printed",
        before={"print": Has("print", id="$id")},
        record={"id": "$id"},
        state={"print": But("print", state="barcode_done")},
        also=(holds("the ticket is not a test ticket", lambda scope: scope["id"].startswith("test-")),),
    ),
    Rule(
        kind="test.coins",
        before={"hopper": Has("hopper", payout_id="$id", coins="$coins")},
        record={"id": "$id", "ordered_coins": "$coins", "paid_coins": "$:count"},
        state={"hopper": None},
        also=(holds("the coins are not test coins", lambda scope: scope["id"].startswith("test-")),),
    ),
)

# ---------------------------------------------------------------------------------------------- hosts


RULES: Final = _WORK
