"""The audit rules for technical work on the machine: options, software, device tests.

Patterns such as ``"$name:type"`` are explained in :mod:`tools.audit.rules.pattern`.
"""

import hashlib
from typing import Any, Final

from egm.integrity import entries as integrity_entries
from egm.integrity.software import compare_digests
from egm.kernel.states import STATES_WITH_STAFF_AT_WORK
from egm.people import Permission
from egm.staff import entries as staff_entries
from tools.audit.rules.pattern import (
    AlternativePatterns,
    CheckContext,
    ObjectWithChanges,
    ObjectWithMembers,
    PatternMismatch,
    format_value,
    is_json_equal,
)
from tools.audit.rules.rule import AuditRule
from tools.audit.rules.shared_checks import (
    check_position_is_one,
    check_signed_in_to_menu,
    report_unless,
    report_unless_equal,
    require_new_id,
)

#: Check that the printed ticket is a test ticket.
_CHECK_TEST_TICKET: Final = report_unless(
    lambda context: f"record.id: expected a test ticket (test-...), found {format_value(context['id'])}",
    lambda context: context["id"].startswith("test-"),
)
#: The operator's options if none were chosen.
_DEFAULT_OPTIONS: Final[Any] = {"off": [], "denominations_cents": {}, "bet_limit_cents": None}
#: Pattern of the installed software.
_SOFTWARE_PATTERN: Final = {"version": "$version", "signer": "$signer", "components": "$:object"}
#: The installed software before any was recorded.
_NO_SOFTWARE_RECORD: Final[Any] = {"version": "", "signer": "", "components": {}}


def _check_software_change(context: CheckContext) -> None:
    """Check that the recorded change of software agrees with the software stored before and after the checked entry.

    Version, signer and component digests are compared.
    """
    software_before = context["software_before"] or _NO_SOFTWARE_RECORD
    software_after = context.stored_value_after("software") or _NO_SOFTWARE_RECORD
    recorded_software = {name: context.record[name] for name in ("version", "signer", "components")}
    expected: dict[str, Any] = {
        name: [software_before[name], software_after[name]] for name in ("version", "signer")
    }
    expected["components"] = {
        name: list(digests)
        for name, digests in compare_digests(
            software_before["components"], software_after["components"]
        ).items()
    }
    for name, change in expected.items():
        if not is_json_equal(recorded_software[name], change):
            raise PatternMismatch(
                f"record.{name} does not match the software stored before and after this entry: expected "
                f"{format_value(change)}, found {format_value(recorded_software[name])}"
            )


def _is_only_recorded_option_change(context: CheckContext) -> bool:
    """Return whether the stored machine options changed exactly as the record states, and in no other way."""
    record, options_before, options_after = context.record, context["before"], context["after"]
    option, game, is_turned_on = record["option"], record.get("game"), record.get("on") == "yes"
    if option == "game":
        games_off = sorted(
            {*options_before["off"]} - {game} if is_turned_on else {*options_before["off"], game}
        )
        return is_json_equal(options_after, {**options_before, "off": games_off})
    if option == "denomination":
        chosen_cents = options_after["denominations_cents"].get(game)
        cents = int(record["denomination_cents"])
        # if the options before name no denominations of the game, all installed ones were offered
        cents_before = options_before["denominations_cents"].get(game)
        expected = (
            chosen_cents
            if cents_before is None
            else sorted({*cents_before, cents} if is_turned_on else {*cents_before} - {cents})
        )
        denominations_after = {**options_before["denominations_cents"], game: chosen_cents}
        return (
            bool(chosen_cents)
            and (cents in chosen_cents) is is_turned_on
            and chosen_cents == expected
            and is_json_equal(options_after, {**options_before, "denominations_cents": denominations_after})
        )
    option_field = f"{option}_cents"
    return option_field in record and is_json_equal(
        options_after, {**options_before, option_field: record[option_field]}
    )


RULES: Final = (
    AuditRule(
        entry_declaration=staff_entries.OPTIONS_CHANGED,
        allowed_machine_states=STATES_WITH_STAFF_AT_WORK,
        record={"before": "$before", "after": "$after"},
        stored_after={"options": "$after"},
        permission=Permission.CONFIGURE,
        extra_checks=(
            report_unless_equal(
                "record.before does not match the options stored before this entry",
                lambda context: context["before"],
                lambda context: context.stored_value_before("options") or _DEFAULT_OPTIONS,
            ),
            report_unless(
                lambda context: (
                    f"record.after does not equal record.before with the change of option "
                    f"{format_value(context.record['option'])} alone: before {format_value(context['before'])}, "
                    f"after {format_value(context['after'])}"
                ),
                _is_only_recorded_option_change,
            ),
            check_signed_in_to_menu,
        ),
    ),
    AuditRule(
        entry_declaration=integrity_entries.CABINET_FILE_SIGNED,
        record={
            "digest": "$digest",
            "persons": "$persons",
            "at": "$signed_at",
            "before": "$before",
            "text": "$text",
        },
        stored_after={"cabinet_file": {"digest": "$digest", "persons": "$persons", "at": "$signed_at"}},
        permission=Permission.CONFIGURE,
        extra_checks=(
            report_unless_equal(
                "record.digest is not the SHA-256 of record.text",
                lambda context: context["digest"],
                lambda context: hashlib.sha256(context["text"].encode()).hexdigest(),
            ),
            report_unless_equal(
                "record.before is not the digest of the cabinet file stored before this entry",
                lambda context: context["before"],
                lambda context: (context.stored_value_before("cabinet_file") or {"digest": ""})["digest"],
            ),
            report_unless(
                lambda context: (
                    f"the cabinet file was changed while the machine held {context.ledger.credits_cents()} cents "
                    "of credit; expected 0"
                ),
                lambda context: context["before"] == context["digest"] or not context.ledger.credits_cents(),
            ),
        ),
    ),
    AuditRule(entry_declaration=integrity_entries.HARD_METERS_FITTED, stored_after={"hard_meters": "$:list"}),
    AuditRule(
        entry_declaration=integrity_entries.HARD_METERS_EXCHANGED,
        stored_before={"hard_meters": "$before:list"},
        record={"before": "$before"},
        stored_after={"hard_meters": None},
        permission=Permission.CONFIGURE,
        extra_checks=(check_signed_in_to_menu,),
    ),
    AuditRule(
        entry_declaration=integrity_entries.SOFTWARE_CHECK_REQUESTED, extra_checks=(check_signed_in_to_menu,)
    ),
    AuditRule(entry_declaration=integrity_entries.SOFTWARE_VERIFIED, extra_checks=(check_position_is_one,)),
    AuditRule(entry_declaration=integrity_entries.SOFTWARE_DIFFERS, extra_checks=(check_position_is_one,)),
    AuditRule(
        entry_declaration=integrity_entries.SOFTWARE_CHANGED,
        stored_before={"software": "$software_before:object|none"},
        record={"version": ["$:text", "$version"], "signer": ["$:text", "$signer"]},
        stored_after={"software": AlternativePatterns(None, _SOFTWARE_PATTERN)},
        extra_checks=(check_position_is_one, _check_software_change),
    ),
    AuditRule(
        entry_declaration=staff_entries.TEST_STARTED,
        id="$id:text",
        permission=Permission.TEST_DEVICES,
        extra_checks=(require_new_id("test", is_entry_id=True), check_signed_in_to_menu),
    ),
    AuditRule(
        entry_declaration=staff_entries.TOUCH_CALIBRATED,
        record={"before": "$before", "after": "$after"},
        stored_after={"touch": "$after"},
        permission=Permission.TEST_DEVICES,
        extra_checks=(
            report_unless_equal(
                "record.before does not match the calibration stored before this entry",
                lambda context: context["before"],
                lambda context: context.stored_value_before("touch") or [],
            ),
            check_signed_in_to_menu,
        ),
    ),
    AuditRule(
        entry_declaration=staff_entries.TEST_TICKET_FAILED,
        stored_before={"print": ObjectWithMembers(bound_name="print", id="$id")},
        record={"id": "$id"},
        stored_after={"print": None},
        extra_checks=(_CHECK_TEST_TICKET,),
    ),
    AuditRule(
        entry_declaration=staff_entries.TEST_TICKET_PRINTED,
        stored_before={"print": ObjectWithMembers(bound_name="print", id="$id")},
        record={"id": "$id"},
        stored_after={"print": ObjectWithChanges(original="print", state="barcode_done")},
        extra_checks=(_CHECK_TEST_TICKET,),
    ),
    AuditRule(
        entry_declaration=staff_entries.TEST_COINS_PAID,
        stored_before={"hopper": ObjectWithMembers(bound_name="hopper", payout_id="$id", coins="$coins")},
        record={"id": "$id", "ordered_coins": "$coins"},
        stored_after={"hopper": None},
        extra_checks=(
            report_unless(
                lambda context: (
                    f"record.id: expected test coins (test-...), found {format_value(context['id'])}"
                ),
                lambda context: context["id"].startswith("test-"),
            ),
        ),
    ),
)
