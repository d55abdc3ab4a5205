"""Reading of the last hits of each progressive level (D-18) from the progressives log of the journal."""

from egm.kernel.entries import EntryDeclarations
from egm.kernel.logs import Log
from meters import JournalView, StoredEntry
from meters.recall import read_details


def read_last_hits(
    view: JournalView, declarations: EntryDeclarations, entries_read_max: int
) -> dict[str, list[StoredEntry]]:
    """Return the journal entries of each progressive level's last hits, newest first, by level id.

    At most ``entries_read_max`` entries of the progressives log are read. For each level, at most as many entries are
    returned as the log shows by default (NZ03 table 3-2).
    """
    hits_by_pool_id: dict[str, list[StoredEntry]] = {}
    for entry in declarations.read_log(view, Log.PROGRESSIVES, entries_read_max):
        hits = hits_by_pool_id.setdefault(str(read_details(entry)["pool"]), [])
        if len(hits) < Log.PROGRESSIVES.default_entry_count:
            hits.append(entry)
    return hits_by_pool_id
