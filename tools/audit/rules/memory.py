"""The audit rules for the journal itself: its first entry, checkpoints, archive, repairs, and the clock.

Patterns such as ``"$name:type"`` are explained in :mod:`tools.audit.rules.pattern`.
"""

from typing import Final

from egm.features.memory_clear.entries import MACHINE_GENESIS
from egm.integrity import entries, journal_entries
from egm.people import Permission
from meters.journal import JOURNAL_FORMAT
from meters.machine_key import format_fingerprint
from tools.audit.rules.pattern import ObjectWithMembers
from tools.audit.rules.rule import AuditRule
from tools.audit.rules.shared_checks import (
    check_signed_in_to_menu,
    report_unless,
    report_unless_equal,
)

RULES: Final = (
    AuditRule(
        entry_declaration=MACHINE_GENESIS,
        id="genesis:{fingerprint}",
        extra_checks=(
            report_unless(
                lambda context: f"only entry 1 may begin a journal; this is entry {context.entry.sequence}",
                lambda context: context.entry.sequence == 1,
            ),
            report_unless(
                lambda context: (
                    f"record.format: this version reads up to format {JOURNAL_FORMAT}, found {context.record['format']}"
                ),
                lambda context: context.record["format"] <= JOURNAL_FORMAT,
            ),
            report_unless_equal(
                "id does not end with the fingerprint of record.public_key",
                lambda context: context["fingerprint"],
                lambda context: format_fingerprint(bytes.fromhex(context.record["public_key"])),
            ),
        ),
    ),
    AuditRule(entry_declaration=journal_entries.CHECKPOINT_SIGNED, id="checkpoint:{sequence}"),
    AuditRule(
        entry_declaration=journal_entries.SEGMENT_ARCHIVED,
        id="journal.archived:{last_archived_sequence}",
        record={"last": "$last_archived_sequence"},
        stored_after={
            "journal.archive": ObjectWithMembers(bound_name="archive", through="$last_archived_sequence")
        },
    ),
    AuditRule(
        entry_declaration=journal_entries.MEMORY_EVENT_RECORDED,
        id="{code}:{sequence}:{number:n}",
        record={"code": "$code"},
        counts={"{code}": 1},
        extra_checks=(
            report_unless(
                "state.memory.medium_replaced must be stored if record.code is memory.medium_replaced, and only then",
                lambda context: (
                    (context["code"] == "memory.medium_replaced")
                    is (context.stored_value_after("memory.medium_replaced") is not None)
                ),
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.MEDIUM_REPLACEMENT_NOTED, stored_after={"memory.medium_replaced": None}
    ),
    # written by the journal itself when it is opened
    AuditRule(entry_declaration=entries.CLOCK_CHANGED, id="clock.changed:{sequence}"),
    AuditRule(entry_declaration=entries.CLOCK_CHANGED),
    AuditRule(
        entry_declaration=entries.CLOCK_DOUBTED,
        record={"why": "$reason", "good": "$last_good_time"},
        stored_after={"clock": {"why": "$reason", "good": "$last_good_time"}},
    ),
    AuditRule(
        entry_declaration=entries.CLOCK_TRUSTED,
        stored_before={"clock": "$:object"},
        stored_after={"clock": None},
    ),
    AuditRule(
        entry_declaration=entries.CLOCK_CONFIRMED,
        stored_after={"clock": None, "fault:clock_doubted": None},
        permission=Permission.RESTART,
        extra_checks=(check_signed_in_to_menu,),
    ),
)
