"""The audit rules for what staff record in writing: disputes, exclusions, incidents and inspections."""

from typing import Final

from egm.kernel.states import STATES_FOR_RULINGS
from egm.people import Permission
from egm.play import entries as play_entries
from egm.staff import entries
from egm.staff.events import INCIDENT_NOTIFICATION_MEANS
from tools.audit.rules.pattern import CheckContext, DerivedValue, PatternMismatch, format_value
from tools.audit.rules.rule import AuditRule
from tools.audit.rules.shared_checks import check_signed_in_to_menu, read_nonzero_meters


def _check_management_decision(context: CheckContext) -> None:
    """Check that the management judged the incident, and that somebody was informed.

    In earlier versions nobody had to be named as informed, and a supervisor could write the entry.
    """
    record = context.record
    if "officer" not in record:
        return
    if record["informed"] not in INCIDENT_NOTIFICATION_MEANS:
        raise PatternMismatch(
            f"record.informed: expected one of {', '.join(INCIDENT_NOTIFICATION_MEANS)}, "
            f"found {format_value(record['informed'])}"
        )
    for person in record["persons"]:
        if not context.facts.has_permission(person, Permission.JUDGE_INCIDENTS):
            raise PatternMismatch(
                f"record.persons: {format_value(person)} may not judge an incident; the management does"
            )


RULES: Final = (
    AuditRule(
        entry_declaration=entries.DISPUTE_DECIDED,
        allowed_machine_states=STATES_FOR_RULINGS,
        permission=Permission.RULE_ON_MONEY,
        extra_checks=(check_signed_in_to_menu,),
    ),
    AuditRule(
        entry_declaration=entries.EXCLUSION_NOTED,
        allowed_machine_states=STATES_FOR_RULINGS,
        permission=Permission.RULE_ON_MONEY,
        extra_checks=(check_signed_in_to_menu,),
    ),
    AuditRule(
        entry_declaration=entries.INCIDENT_JUDGED,
        allowed_machine_states=STATES_FOR_RULINGS,
        permission=Permission.RULE_ON_MONEY,
        extra_checks=(
            _check_management_decision,
            check_signed_in_to_menu,
        ),
    ),
    AuditRule(
        entry_declaration=play_entries.MACHINE_CHECKED,
        allowed_machine_states=STATES_FOR_RULINGS,
        record={
            "handpay": DerivedValue(lambda context: (context.stored_value_before("handpay") or {}).get("id")),
            "meters": DerivedValue(lambda context: read_nonzero_meters(context, with_period_meters=True)),
            "head": DerivedValue(lambda context: context.ledger.head_hex),
        },
        permission=Permission.RULE_ON_MONEY,
        extra_checks=(check_signed_in_to_menu,),
    ),
)
