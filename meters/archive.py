"""The archive: entries the machine no longer needs at hand, in signed segments on both media.

Where the archive ends is told by the journal itself: an entry ``journal.archived`` names the last segment by
its digest, and each segment names the one before, so that one that is missing, altered, exchanged or of
another journal is found and named. Only when that entry is in both copies do they let go of what it archived.
A segment may lie on either medium; what one lacks is read from the other.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, TypeVar

from meters import checkpoint
from meters.entry import GENESIS_HASH, StoredEntry, decode
from meters.errors import JournalDamaged, JournalUnwritable
from meters.identifiers import SUFFIX as INDEX_SUFFIX
from meters.identifiers import Index, own_place, play_place, root_place
from meters.segment import SUFFIX, Segment
from meters.storage import Storage
from meters.transaction import JSON

FOLDER: Final = "archive"
ARCHIVED_KIND: Final = "journal.archived"
STATE: Final = "journal.archive"
"""The machine state that says where the archive ends: in every checkpoint, so at hand at every start."""
T = TypeVar("T")
_NAME: Final = re.compile(r"(\d{12})-(\d{12})" + re.escape(SUFFIX))


@dataclass(frozen=True)
class Boundary:
    """Where the archive ends: entry ``through``, of hash ``head_hex``, in the segment of that digest.

    ``index`` is the SHA-256 of the index of identifiers, ``genesis_body`` the journal's first entry.
    """

    through: int
    head_hex: str
    segment: str
    index: str
    genesis_body: str

    @classmethod
    def from_state(cls, kept: JSON) -> "Boundary | None":
        """Read it from machine state; None where nothing was ever archived."""
        if kept is None:
            return None
        try:
            if not isinstance(kept, Mapping):
                raise TypeError(f"{type(kept).__name__}")
            found = cls(
                int(str(kept["through"])),
                *(str(kept[name]) for name in ("head", "segment", "index", "genesis")),
            )
            _ = found.genesis
        except (KeyError, TypeError, ValueError) as why:
            raise JournalDamaged("journal", f"it does not say where its archive ends: {why!r}") from why
        return found

    def to_state(self) -> dict[str, JSON]:
        """Return it as machine state."""
        return {
            "through": self.through,
            "head": self.head_hex,
            "segment": self.segment,
            "index": self.index,
            "genesis": self.genesis_body,
        }

    @cached_property
    def genesis(self) -> StoredEntry:
        """The journal's first entry."""
        return decode(self.genesis_body.encode())


def segment_name(first: int, last: int) -> str:
    """Return the file name of the segment of these entries."""
    return f"{first:012d}-{last:012d}{SUFFIX}"


def index_name(through: int) -> str:
    """Return the file name of the index of identifiers up to entry ``through``."""
    return f"{through:012d}{INDEX_SUFFIX}"


def is_beyond(name: str, through: int) -> bool:
    """Whether a file is of a segment that was never recorded, or an index no longer in force."""
    found = _NAME.fullmatch(name)
    if found is not None:
        return int(found[1]) > through
    return name.endswith(".new") or (name.endswith(INDEX_SUFFIX) and name != index_name(through))


class Archive:
    """The archive in ``folders``, one a medium, as far as ``boundary`` says."""

    def __init__(
        self, storage: Storage, folders: Sequence[Path], boundary: Callable[[], Boundary | None]
    ) -> None:
        self._storage = storage
        self.folders = tuple(dict.fromkeys(folders))
        self._boundary = boundary

    @property
    def through(self) -> int:
        """The last archived entry; 0 when there is none."""
        boundary = self._boundary()
        return 0 if boundary is None else boundary.through

    # ------------------------------------------------------------------ segments
    def _names(self) -> list[tuple[int, int]]:
        """The first and last entry of every segment there is on any medium, in order."""
        through = self.through
        found = {
            (int(match[1]), int(match[2]))
            for folder in self.folders
            for match in map(_NAME.fullmatch, self._storage.names(folder))
            if match is not None
        }
        return sorted(pair for pair in found if pair[1] <= through)

    def goes_beyond(self, sequence: int, genesis: StoredEntry) -> int:
        """The last entry of a segment of the journal that begins so, if later than ``sequence``; else 0."""
        public_key, found = checkpoint.public_key_of(genesis, "journal"), 0
        for folder in self.folders:
            with suppress(JournalUnwritable):
                for match in map(_NAME.fullmatch, self._storage.names(folder)):
                    if match is None or int(match[2]) <= max(sequence, found):
                        continue
                    with suppress(JournalDamaged):
                        facts = Segment(self._storage, folder / match[0], public_key).facts
                        found = facts.last if facts.genesis_hex == genesis.hash_hex else found
        return found

    def _copies(self, first: int, last: int) -> list[Segment]:
        """The whole copies of a segment; raise :class:`JournalDamaged` naming it when there is none."""
        boundary = self._boundary()
        if boundary is None:
            raise JournalDamaged("the archive", "nothing was archived")
        public_key = checkpoint.public_key_of(boundary.genesis, "journal")
        copies, reasons = [], []
        for folder in self.folders:
            path = folder / segment_name(first, last)
            if not self._storage.exists(path):
                reasons.append(f"{path} is missing")
                continue
            try:
                segment = Segment(self._storage, path, public_key)
                facts = segment.facts
                if (facts.first, facts.last, facts.genesis_hex) != (first, last, boundary.genesis.hash_hex):
                    raise JournalDamaged(str(path), "it is a segment of another place or journal")
                if last == boundary.through and facts.digest != boundary.segment:
                    raise JournalDamaged(str(path), "it is not the segment the journal names")
            except JournalDamaged as why:
                reasons.append(str(why))
            else:
                copies.append(segment)
        if not copies:
            raise JournalDamaged(f"the archive, entries {first} to {last}", "; ".join(reasons))
        return copies

    def segments(self, since: int = 0) -> Iterator[list[Segment]]:
        """Yield the copies of each segment with entries after ``since``, in order, proved to be all of them.

        Raises :class:`JournalDamaged` naming what is missing, altered or out of its place.
        """
        expected, before = 0, None
        for first, last in self._names():
            if last <= since:
                continue
            if not expected and first <= since + 1:
                expected = first
            if first != expected:
                raise self._missing(expected or since + 1, first - 1)
            copies = self._copies(first, last)
            if before is not None:
                copies = [copy for copy in copies if copy.facts.before == before]
                if not copies:
                    raise JournalDamaged(
                        f"the archive, entries {first} to {last}",
                        "the segment does not follow the one before it: one of the two was exchanged",
                    )
            yield copies
            expected, before = last + 1, copies[0].facts.digest
        if (expected or since + 1) <= self.through:
            raise self._missing(expected or since + 1, self.through)

    def _missing(self, first: int, last: int) -> JournalDamaged:
        where = " and ".join(str(folder) for folder in self.folders)
        return JournalDamaged(
            where, f"the segment with entries {first} to {last} is missing from the archive"
        )

    @staticmethod
    def _block(copies: Sequence[Segment], read: Callable[[Segment], list[T]]) -> list[T]:
        """What ``read`` finds in the first copy of a segment that has it whole."""
        reasons = []
        for copy in copies:
            try:
                return read(copy)
            except JournalDamaged as why:
                reasons.append(str(why))
        facts = copies[0].facts
        raise JournalDamaged(f"the archive, entries {facts.first} to {facts.last}", "; ".join(reasons))

    # ------------------------------------------------------------------ entries
    def bodies(self, since: int = 0) -> Iterator[tuple[int, bytes, str]]:
        """Yield archived entries after ``since`` as number, bytes and hash, in order, proving the chain."""
        head_hex = GENESIS_HASH if not since else None
        for copies in self.segments(since):
            facts = copies[0].facts
            if head_hex is not None and facts.previous_hex != head_hex:
                raise JournalDamaged(
                    f"the archive, entries {facts.first} to {facts.last}",
                    f"the segment begins after {facts.previous_hex}, the one before it ends with {head_hex}",
                )
            for number in range(copies[0].block_of(since + 1), len(facts.blocks)):
                sequence = facts.blocks[number][0]
                for body, hash_hex in self._block(copies, lambda copy, n=number: copy.read_bodies(n)):  # type: ignore[misc]
                    if sequence > since:
                        yield sequence, body, hash_hex
                    sequence += 1
            head_hex = facts.head_hex

    def _entries(self, copies: Sequence[Segment], number: int) -> list[StoredEntry]:
        return self._block(copies, lambda copy: copy.read_block(number))

    def walk(
        self, kinds: Sequence[str], since: int, until: int | None, *, newest_first: bool
    ) -> Iterator[StoredEntry]:
        """Yield archived entries between ``since`` and ``until``, of ``kinds`` (all when empty).

        Segments without any of the kinds are passed over.
        """
        boundary = self._boundary()
        last = self.through if until is None else min(until - 1, self.through)
        if boundary is None or since >= last:
            return
        if tuple(kinds) == (checkpoint.GENESIS_KIND,):
            if since == 0:
                yield boundary.genesis
            return
        names = [pair for pair in self._names() if pair[1] > since and pair[0] <= last]
        step = -1 if newest_first else 1
        for name in names[::step]:
            copies = self._copies(*name)
            facts = copies[0].facts
            if kinds and not any(kind in facts.kinds for kind in kinds):
                continue
            blocks = range(copies[0].block_of(since + 1), copies[0].block_of(last) + 1)
            for number in blocks[::step]:
                for entry in self._entries(copies, number)[::step]:
                    if since < entry.sequence <= last and (not kinds or entry.kind in kinds):
                        yield entry

    def at(self, sequence: int) -> StoredEntry:
        """Return an archived entry; raise :class:`JournalDamaged` when its segment is not there whole."""
        for entry in self._following(sequence):
            return entry
        raise self._missing(sequence, sequence)

    def _following(self, sequence: int) -> Iterator[StoredEntry]:
        """The entries of the segment of ``sequence`` from there on."""
        names = [pair for pair in self._names() if pair[0] <= sequence <= pair[1]]
        if not names:
            raise self._missing(sequence, sequence)
        copies = self._copies(*names[0])
        for number in range(copies[0].block_of(sequence), len(copies[0].facts.blocks)):
            yield from (entry for entry in self._entries(copies, number) if entry.sequence >= sequence)

    def kinds(self) -> set[str]:
        """Return every kind of entry there is in the archive, as far as its newest segment tells."""
        for name in reversed(self._names()):
            with suppress(JournalDamaged):  # what is wrong with it is said where it is read
                facts = self._copies(*name)[0].facts
                return {*facts.kinds, *facts.kinds_before}
        return set()

    # ------------------------------------------------------------------ identifiers
    def index(self) -> Index | None:
        """Return the index of identifiers, its bytes checked; None when nothing was archived.

        Raises :class:`JournalDamaged` when no medium has it whole.
        """
        boundary = self._boundary()
        if boundary is None:
            return None
        reasons = []
        for folder in self.folders:
            index = Index(self._storage, folder / index_name(boundary.through))
            wrong = self._wrong_with(index, boundary.index)
            if not wrong:
                return index
            reasons.append(wrong)
        raise JournalDamaged("the archive", "; ".join(reasons))

    def _wrong_with(self, index: Index, digest: str) -> str:
        if not self._storage.exists(index.path):
            return f"{index.path} is missing"
        try:
            index.check(digest)
        except JournalDamaged as why:
            return str(why)
        return ""

    def lacking(self, index: Index) -> list[Path]:
        """Where ``index``, which is whole, is missing or another."""
        boundary = self._boundary()
        digest = "" if boundary is None else boundary.index
        places = (Index(self._storage, folder / index.path.name) for folder in self.folders)
        return [each.path for each in places if each.path != index.path and self._wrong_with(each, digest)]

    def find(self, tx_id: str, mark: str, index: Index | None) -> StoredEntry | None:
        """Return the archived entry with this identifier, or None.

        ``mark`` is the journal's. Raises :class:`JournalDamaged` when the segment that would say is gone.
        """
        through = self.through
        if index is None or (root_place(tx_id, mark) or 0) > through:
            return None
        for place in index.places(tx_id):
            found = self.at(place)
            if found.id == tx_id:
                return found
        own = own_place(tx_id)
        if own is not None and 0 < own <= through:
            found = self.at(own)
            return found if found.id == tx_id else None
        play = play_place(tx_id)
        if play is None or not 0 < play[0] <= through or index.places(play[1]):
            return None
        return next((entry for entry in self._following(play[0]) if entry.id == tx_id), None)

    def knows(self, tx_id: str, mark: str, index: Index | None) -> bool:
        """Whether an archived entry has this identifier; :meth:`find` without the entry.

        Where the segments were carried away, what the index has of it is answer enough. Raises
        :class:`JournalDamaged` only for an identifier that is found by its place, and whose segment is gone.
        """
        try:
            return self.find(tx_id, mark, index) is not None
        except JournalDamaged:
            if index is None or not index.places(tx_id):
                raise
            return True


def found_in(storage: Storage, folder: Path, public_key: bytes) -> Archive:
    """Return the archive in ``folder`` as its own files tell it, where no journal can.

    What it holds is proved as always; only whether segments are missing at its end is not known.
    """
    names = sorted(match[0] for match in map(_NAME.fullmatch, storage.names(folder)) if match is not None)
    if not names:
        return Archive(storage, (folder,), lambda: None)
    first = Segment(storage, folder / names[0], public_key).read_block(0)[0]
    facts = Segment(storage, folder / names[-1], public_key).facts
    reached = Boundary(facts.last, facts.head_hex, facts.digest, "", first.body.decode())
    return Archive(storage, (folder,), lambda: reached)
