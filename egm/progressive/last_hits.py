"""The last hits of each progressive level (D-18), from the register of level wins in the journal."""

from egm.kernel.entries import EntryDeclarations
from egm.kernel.logs import Log
from meters import JournalView, StoredEntry
from meters.recall import read_details


def read_last_hits(
    view: JournalView, declarations: EntryDeclarations, entries_read_max: int
) -> dict[str, list[StoredEntry]]:
    """Return the journal entries of each level's last hits, newest first, by the level's id.

    Each level has at most as many as the progressives log has lines (NZ03 table 3-2). At most
    ``entries_read_max`` entries of that log are read.
    """
    hits_by_level: dict[str, list[StoredEntry]] = {}
    for entry in declarations.read_log(view, Log.PROGRESSIVES, entries_read_max):
        hits = hits_by_level.setdefault(str(read_details(entry)["pool"]), [])
        if len(hits) < Log.PROGRESSIVES.size:
            hits.append(entry)
    return hits_by_level
