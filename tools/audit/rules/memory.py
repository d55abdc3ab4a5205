"""The rules of the journal itself: its first entry, checkpoints, archive, repairs, and the clock."""

from typing import Final

from egm.integrity import entries
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

RULES: Final = (
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
    Rule(entry=entries.MEMORY_NOTED, state={"memory.medium_replaced": None}),
    Rule(entry=entries.CLOCK_CHANGED, id="clock.changed:{sequence}"),  # by the journal itself when it opens
    Rule(entry=entries.CLOCK_CHANGED),
    Rule(
        entry=entries.CLOCK_DOUBTED,
        record={"why": "$why", "good": "$good"},
        state={"clock": {"why": "$why", "good": "$good"}},
    ),
    Rule(entry=entries.CLOCK_BELIEVED, before={"clock": "$:object"}, state={"clock": None}),
    Rule(
        entry=entries.CLOCK_CONFIRMED,
        state={"clock": None, "fault:clock_doubted": None},
        may=Permission.RESTART,
        also=(check_in_menu,),
    ),
)
