"""What the audit holds the jukebox's entries against: written from what a song is, not from the feature's code."""

from egm.people import Permission
from tools.audit.rules import Rule

RULES = (
    Rule(
        kind="song.started",
        before={"song": None},
        record={"song": "$song:count", "persons": "$:persons"},
        state={"song": "$song"},
        counts={"songs": 1},
        may=Permission.CONFIGURE,
    ),
    Rule(kind="song.ended", before={"song": "$song"}, record={"song": "$song:count"}, state={"song": None}),
)
