"""The rules of the links: what a host orders, how it is heard, and what a verifier requests."""

from typing import Final

from egm.links import entries
from tools.audit.rules.parts import require
from tools.audit.rules.pattern import But, Has
from tools.audit.rules.rule import Rule

_GAT: Final = {"parameters": "$parameters", "trouble": "$trouble"}

RULES: Final = (
    Rule(
        entry=entries.HOST_START_AWAITED,
        record={"host": "$host"},
        state={"host_known:{host}": True},
    ),
    *(
        Rule(entry=entry, record={"host": "$host"}, state={"host_silent:{host}": "$:text"})
        for entry in (entries.HOST_AWAITED, entries.HOST_LINK_LOST)
    ),
    Rule(entry=entries.HOST_LINK_UP, record={"host": "$host"}, state={"host_silent:{host}": None}),
    Rule(
        entry=entries.HOST_TIME,
        record={"host": "$host", "ahead_seconds": "$ahead"},
        state={"host_time:{host}": "$ahead"},
    ),
    Rule(
        entry=entries.WINS_READ,
        state={"progressive_win:{win}?": None},
        also=(
            require(
                "it acknowledges another number of wins",
                lambda scope: len(scope.entry.state) == scope.record["wins"],
            ),
        ),
    ),
    Rule(
        entry=entries.GAT_REQUEST,
        record={"parameters": "$parameters", "level": "$level", "refused?": "$refused"},
        state={
            "gat": {
                **_GAT,
                "level": "$level",
                "kind": "$:text",
                "algorithm": "$:text",
                "finished": "$finished:text",
                "values": {},
            }
        },
        also=(
            require(
                "the stored refusal differs from the recorded one",
                lambda scope: (
                    scope["trouble"] == scope.names.get("refused", "")
                    and bool(scope["finished"]) == bool(scope["trouble"])
                ),
            ),
        ),
    ),
    Rule(
        entry=entries.GAT_RESULT,
        before={"gat": Has("gat", parameters="$parameters", algorithm="$algorithm")},
        record={**_GAT, "algorithm": "$algorithm", "values": "$values"},
        state={"gat": But("gat", finished="$:time", values="$values", trouble="$trouble")},
    ),
)
