"""The rules of the journal itself: its first entry, checkpoints, archive, repairs, and the clock."""

from typing import Final

from egm.memory_clear.entries import MACHINE_GENESIS
from egm.people import Permission
from meters.journal import FORMAT
from meters.keys import format_fingerprint
from tools.audit.rules.parts import (
    check_in_menu,
    holds,
)
from tools.audit.rules.pattern import OneOf
from tools.audit.rules.rule import Rule

_MEMORY: Final = (
    Rule(
        entry=MACHINE_GENESIS,
        id="genesis:{fingerprint}",
        also=(
            holds("only the first entry may begin a journal", lambda scope: scope.entry.sequence == 1),
            holds("the journal format is unknown", lambda scope: scope.record["format"] <= FORMAT),
            holds(
                "it is named after another key",
                lambda scope: (
                    scope["fingerprint"] == format_fingerprint(bytes.fromhex(scope.record["public_key"]))
                ),
            ),
        ),
    ),
    Rule(
        kind="checkpoint",
        id="checkpoint:{sequence}",
        record={"ledger": "$:object", "ledger_sha256": "$:digest", "signature": "$:text"},
    ),
    Rule(
        kind="journal.archived",
        id="journal.archived:{last}",
        record={"first": "$:cents", "last": "$last:cents", "head": "$:digest", "segment": "$:digest"},
        state={
            "journal.archive": {
                "through": "$last:cents",
                "head": "$:digest",
                "segment": "$:digest",
                "index": "$:digest",
                "genesis": "$:words",
            }
        },
    ),
    Rule(
        kind="event",
        id="{code}:{sequence}:{number:n}",
        record={
            "code": OneOf(
                "memory.repaired",
                "memory.completed",
                "memory.anchor_lost",
                "memory.medium_missing",
                "memory.full",
                "memory.archive_delayed",
                "memory.archive_damaged",
            ),
            "where": "$:text",
            "why": "$:text",
        },
        counts={"{code}": 1},
    ),
    Rule(
        kind="event",
        id="{code}:{sequence}:{number:n}",
        record={"code": "memory.medium_replaced", "where": "$:text", "why": "$:text"},
        state={"memory.medium_replaced": "$:text"},
        counts={"{code}": 1},
    ),
    Rule(
        kind="memory.noted",
        record={"detail": "$:text"},
        state={"memory.medium_replaced": None},
    ),
    Rule(
        kind="clock.changed",
        id="clock.changed:{sequence}",
        record={"last_entry": "$:time", "now": "$:time"},
    ),
    Rule(kind="clock.changed", record={"last_entry": "$:time", "now": "$:time"}),
    Rule(
        kind="clock.doubted",
        record={"why": "$why:text", "good": "$good:text", "now": "$:time"},
        state={"clock": {"why": "$why", "good": "$good"}},
    ),
    Rule(
        kind="clock.believed", before={"clock": "$:object"}, record={"now": "$:time"}, state={"clock": None}
    ),
    Rule(
        kind="clock.confirmed",
        record={
            "now": "$:time",
            "why": "$:text",
            "person": "$:staff",
            "persons": "$:persons",
        },
        state={"clock": None, "fault:clock_doubted": None},
        may=Permission.RESTART,
        also=(check_in_menu,),
    ),
)


RULES: Final = _MEMORY
