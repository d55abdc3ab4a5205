"""The audit rules of the jukebox's entries, written independently of the feature's code."""

from jukebox import SONG_ENDED, SONG_STARTED

from egm.people import Permission
from tools.audit.rules import AuditRule

RULES = (
    AuditRule(
        entry_declaration=SONG_STARTED,
        stored_before={"song": None},
        record={"song": "$song"},
        stored_after={"song": "$song"},
        permission=Permission.CONFIGURE,
    ),
    AuditRule(
        entry_declaration=SONG_ENDED,
        stored_before={"song": "$song"},
        record={"song": "$song"},
        stored_after={"song": None},
    ),
)
