"""The last hits of each progressive level (D-18), from the register of level wins in the journal."""

from collections.abc import Iterable
from typing import Final

from egm.progressive.entries import BROADCAST_LEVEL_HIT, LEVEL_HIT
from meters import StoredEntry
from meters.recall import read_details

#: Kinds of the journal entries that enter a hit in the register of level wins.
HIT_KINDS: Final = (LEVEL_HIT.kind, BROADCAST_LEVEL_HIT.kind)
#: Hits shown of each level (NZ03 table 3-2).
HITS_SHOWN: Final = 25


def group_last_hits(newest_first: Iterable[StoredEntry]) -> dict[str, list[StoredEntry]]:
    """Return the last hits of each progressive level, newest first, at most :data:`HITS_SHOWN`, by the level's id.

    ``newest_first`` are the journal entries of all levels' hits, newest first.
    """
    hits_by_level: dict[str, list[StoredEntry]] = {}
    for entry in newest_first:
        hits = hits_by_level.setdefault(str(read_details(entry)["pool"]), [])
        if len(hits) < HITS_SHOWN:
            hits.append(entry)
    return hits_by_level
