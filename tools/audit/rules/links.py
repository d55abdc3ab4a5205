"""The audit rules for communication: a host's link and clock, the wins that it reads, and a verifier's requests.

Patterns such as ``"$name:type"`` are explained in :mod:`tools.audit.rules.pattern`.
"""

from typing import Final

from egm.links import entries
from tools.audit.rules.pattern import ObjectWithChanges, ObjectWithMembers, format_value
from tools.audit.rules.rule import AuditRule
from tools.audit.rules.shared_checks import report_unless, report_unless_equal

#: Pattern of a verifier's request: its parameters, and why it was refused or its calculation failed.
_GAT_REQUEST_PATTERN: Final = {"parameters": "$parameters", "trouble": "$trouble"}

RULES: Final = (
    AuditRule(
        entry_declaration=entries.HOST_START_AWAITED,
        record={"host": "$host"},
        stored_after={"host_known:{host}": True},
    ),
    *(
        AuditRule(
            entry_declaration=declaration,
            record={"host": "$host"},
            stored_after={"host_silent:{host}": "$:text"},
        )
        for declaration in (entries.HOST_POLLS_AWAITED, entries.HOST_LINK_LOST)
    ),
    AuditRule(
        entry_declaration=entries.HOST_LINK_UP,
        record={"host": "$host"},
        stored_after={"host_silent:{host}": None},
    ),
    AuditRule(
        entry_declaration=entries.HOST_TIME_RECORDED,
        record={"host": "$host", "ahead_seconds": "$ahead_seconds"},
        stored_after={"host_time:{host}": "$ahead_seconds"},
    ),
    AuditRule(
        entry_declaration=entries.PROGRESSIVE_WINS_READ,
        stored_after={"progressive_win:{win}?": None},
        extra_checks=(
            report_unless_equal(
                "record.wins is not the number of wins that the entry removes from the stored values",
                lambda context: context.record["wins"],
                lambda context: len(context.entry.state),
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.GAT_REQUEST,
        record={"parameters": "$parameters", "level": "$level", "refused?": "$refused"},
        stored_after={
            "gat": {
                **_GAT_REQUEST_PATTERN,
                "level": "$level",
                "kind": "$:text",
                "algorithm": "$:text",
                "finished": "$finished:text",
                "values": {},
            }
        },
        extra_checks=(
            report_unless(
                lambda context: (
                    "state.gat: `trouble` must equal record.refused "
                    f"({format_value(context.bound_values.get('refused', ''))}), and `finished` must be set "
                    f"if and only if the request was refused; found trouble {format_value(context['trouble'])}, "
                    f"finished {format_value(context['finished'])}"
                ),
                lambda context: (
                    context["trouble"] == context.bound_values.get("refused", "")
                    and bool(context["finished"]) == bool(context["trouble"])
                ),
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.GAT_RESULT,
        stored_before={
            "gat": ObjectWithMembers(bound_name="gat", parameters="$parameters", algorithm="$algorithm")
        },
        record={**_GAT_REQUEST_PATTERN, "algorithm": "$algorithm", "values": "$values"},
        stored_after={
            "gat": ObjectWithChanges(original="gat", finished="$:time", values="$values", trouble="$trouble")
        },
    ),
)
