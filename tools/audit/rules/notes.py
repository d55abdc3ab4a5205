"""The rules for what staff write down: disputes, exclusions and incidents, and inspections of a machine."""

from typing import Final

from egm.kernel.states import RULING
from egm.people import Permission
from egm.play import entries as play_entries
from egm.staff import entries
from egm.staff.events import INFORMED_BY
from tools.audit.rules.parts import check_in_menu, read_nonzero_meters, require
from tools.audit.rules.pattern import Derived
from tools.audit.rules.rule import Rule

RULES: Final = (
    Rule(entry=entries.DISPUTE_DECIDED, within=RULING, may=Permission.SETTLE, also=(check_in_menu,)),
    Rule(entry=entries.EXCLUSION_NOTED, within=RULING, may=Permission.SETTLE, also=(check_in_menu,)),
    Rule(
        entry=entries.INCIDENT_JUDGED,
        within=RULING,
        may=Permission.SETTLE,
        also=(
            require(
                "an incident that is not judged by the management, or of which nobody was informed",
                lambda scope: (
                    "officer"
                    not in scope.record  # earlier versions named no officer: a supervisor could write it
                    or (
                        scope.record["informed"] in INFORMED_BY
                        and all(scope.facts.may(who, Permission.JUDGE) for who in scope.record["persons"])
                    )
                ),
            ),
            check_in_menu,
        ),
    ),
    Rule(
        entry=play_entries.MACHINE_CHECKED,
        within=RULING,
        record={
            "handpay": Derived(lambda scope: (scope.value_before("handpay") or {}).get("id")),
            "meters": Derived(lambda scope: read_nonzero_meters(scope, since=True)),
            "head": Derived(lambda scope: scope.ledger.head_hex),
        },
        may=Permission.SETTLE,
        also=(check_in_menu,),
    ),
)
