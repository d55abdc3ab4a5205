"""Lies: one change to an honest journal by somebody who holds the machine's key, and seals it anew.

Any leaf of any entry may be altered or left out; an entry may be removed, told twice, told before the one
before it, or told where it never happened. The liar is careful: chain, checkpoints and every id that follows
from an entry's place are made to fit again. What is left to find him by is what entries say of each other.
"""

import hashlib
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from meters import JournalError, checkpoint
from meters.chart import ACCOUNTS
from meters.entry import GENESIS_HASH, canonical, decode
from meters.keys import MachineKey
from meters.ledger import Ledger

Raw: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]

#: What the liar makes fit again by himself is no lie of its own.
_REFITTED: Final = frozenset({"sequence", "previous"})
#: Entries that tell the journal's head before them, and the name they tell it by.
_HEADS: Final = {"machine.checked": "head", "handpay.paid": "witness"}
_ACCOUNTS: Final = tuple(
    re.sub(r"<\w+>", lambda word: {"<position>": "1", "<kind>": "cashable"}.get(word[0], "x"), line.pattern)
    for line in ACCOUNTS
)


@dataclass(frozen=True, slots=True)
class Lie:
    """What was done to which entry (its number before): ``path`` leads to the field, empty for the entry."""

    sequence: int
    kind: str
    path: Path
    what: str

    @property
    def field(self) -> str:
        """The path without the numbers of lists: what sort of field it is."""
        return ".".join("*" if isinstance(part, int) else part for part in self.path)


def adopted(bodies: Sequence[bytes], key: MachineKey) -> list[Raw]:
    """The entries as ``key``'s own machine would have written them: the liar's starting point."""
    before = json.loads(bodies[0])
    old_key, new_key = before["record"]["public_key"], key.public_key.hex()
    text = bodies[0].decode().replace(old_key, new_key).replace(before["id"], f"genesis:{key.fingerprint}")
    old_mark, new_mark = decode(bodies[0]).hash_hex[:8], mark_of(json.loads(text))
    rest = [
        body.decode().replace(old_mark, new_mark).replace(old_key[:12], new_key[:12]) for body in bodies[1:]
    ]
    return [json.loads(entry) for entry in (text, *rest)]


def mark_of(first: Raw) -> str:
    """What the ids of a journal that begins with ``first`` end with."""
    return hashlib.sha256(canonical(first | {"previous": GENESIS_HASH, "sequence": 1})).hexdigest()[:8]


def sealed(entries: Iterable[Raw], key: MachineKey, old_mark: str) -> Iterator[bytes]:
    """Chain the entries again, and make and sign each checkpoint anew; ``old_mark`` is that of their ids."""
    ledger, new_mark = Ledger(), ""
    for number, raw in enumerate(entries, 1):
        told = raw
        if new_mark and new_mark != old_mark:
            told = json.loads(json.dumps(told).replace(old_mark, new_mark))
        if told.get("kind") == checkpoint.KIND and isinstance(told.get("record"), dict):
            made = checkpoint.make(ledger, key)
            told = told | {"record": made.record}
        elif told.get("kind") in _HEADS and isinstance(told.get("record"), dict):
            name, head = _HEADS[told["kind"]], f"{number - 1}:{ledger.head_hex[:12]}"
            if name in told["record"]:
                told = told | {"record": told["record"] | {name: ledger.head_hex if name == "head" else head}}
        body = canonical(told | {"previous": ledger.head_hex, "sequence": number})
        try:
            entry = decode(body)
            ledger.commit(ledger.plan(entry.transaction), entry)
        except (JournalError, ValueError):
            ledger.sequence, ledger.head_hex = number, hashlib.sha256(body).hexdigest()
        if number == 1:
            new_mark = ledger.head_hex[:8]
        yield body


class Liar:
    """Tells one lie at a time about the same honest entries; the same seed tells the same lies."""

    def __init__(self, entries: Sequence[Raw], seed: int) -> None:
        self._entries = entries
        self._dice = random.Random(seed)  # noqa: S311 (lies must repeat)
        self._seen: dict[tuple[str, str], list[Any]] = {}
        by_kind: dict[str, list[int]] = {}
        for at, raw in enumerate(entries):
            by_kind.setdefault(raw["kind"], []).append(at)
            for path, value in leaves(raw):
                known = self._seen.setdefault((raw["kind"], _field(path)), [])
                if value not in known:
                    known.append(value)
        self._by_kind = by_kind
        self.mark = mark_of(entries[0])

    def tell(self) -> tuple[Lie, list[Raw]]:
        """One lie and the entries with it. Kinds of entry are lied about equally often."""
        while True:
            kind = self._dice.choice(sorted(self._by_kind))
            at = self._dice.choice(self._by_kind[kind])
            if self._dice.randrange(8) == 0 and at:
                made = self._about_the_entry(at)
            else:
                made = self._about_a_field(at)
            if made is not None:
                return made

    # ------------------------------------------------------------------ a field
    def _about_a_field(self, at: int) -> tuple[Lie, list[Raw]] | None:
        raw = json.loads(json.dumps(self._entries[at]))
        places = [path for path, _ in leaves(raw) if path[0] not in _REFITTED]
        path = self._dice.choice(places)
        value = _get(raw, path)
        what, told = self._instead(raw["kind"], path, value)
        if what == "left out":
            _drop(raw, path)
        else:
            _set(raw, path, told)
        if raw == self._entries[at]:
            return None
        lie = Lie(at + 1, self._entries[at]["kind"], path, what)
        return lie, [*self._entries[:at], raw, *self._entries[at + 1 :]]

    def _instead(self, kind: str, path: Path, value: Any) -> tuple[str, Any]:
        dice = self._dice
        others = [other for other in self._seen[kind, _field(path)] if other != value]
        choice = dice.randrange(6)
        if choice == 0:
            return "left out", None
        if choice in {1, 2} and others:
            other = dice.choice(others)
            return f"{value!r} told as {other!r}"[:100], other
        match value:
            case bool():
                told: Any = not value
            case int():
                told = dice.choice((value + 1, value - 1, value * 10, value + 1000, 0, -value))
            case str() if path[0] == "transfers":
                told = dice.choice(_ACCOUNTS)
            case str():
                told = dice.choice((_altered(value, dice), "", f"{value}x", "1002"))
            case None:
                told = dice.choice((1, "x", True))
            case _:
                told = dice.choice((None, 1, "x"))
        return f"{value!r} told as {told!r}"[:100], told

    # ------------------------------------------------------------------ a whole entry
    def _about_the_entry(self, at: int) -> tuple[Lie, list[Raw]] | None:
        entries = list(self._entries)
        what = self._dice.choice(("removed", "told twice", "told before the last", "invented"))
        kind = entries[at]["kind"]
        if what == "removed":
            order = [*range(at), *range(at + 1, len(entries))]
        elif what == "told before the last":
            if at < 2 or at + 1 >= len(entries):
                return None
            order = [*range(at - 1), at, at - 1, *range(at + 1, len(entries))]
        elif what == "told twice":
            order = [*range(at + 1), at, *range(at + 1, len(entries))]
        else:
            other = self._dice.randrange(1, len(entries))
            kind = entries[other]["kind"]
            order = [*range(at), other, *range(at, len(entries))]
        if kind == checkpoint.KIND:
            return None
        return Lie(at + 1, kind, (), what), self._in_order(order)

    def _in_order(self, order: Sequence[int]) -> list[Raw]:
        """The entries in this order, every id that follows from a place made to fit again."""
        place: dict[int, int] = {}
        for new, old in enumerate(order):
            place.setdefault(old + 1, new + 1)
        told = []
        for new, old in enumerate(order):
            moved = place | {old + 1: new + 1}
            text = re.sub(
                rf"(\d+)-{self.mark}",
                lambda found, moved=moved: f"{moved.get(int(found[1]), int(found[1]))}-{self.mark}",  # type: ignore[misc]
                json.dumps(self._entries[old]),
            )
            text = text.replace(f'"checkpoint:{old + 1}"', f'"checkpoint:{new + 1}"')
            told.append(json.loads(text))
        return told


# ---------------------------------------------------------------------------------------------- fields
def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every field of an entry that holds no others, and every empty or whole object: where a lie can be."""
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from leaves(part, (*path, key))
    elif isinstance(value, list) and value:
        for number, part in enumerate(value):
            yield from leaves(part, (*path, number))
    else:
        yield path, value


def _field(path: Path) -> str:
    return ".".join("*" if isinstance(part, int) else part for part in path)


def _get(raw: Any, path: Path) -> Any:
    for part in path:
        raw = raw[part]
    return raw


def _set(raw: Any, path: Path, value: Any) -> None:
    _get(raw, path[:-1])[path[-1]] = value


def _drop(raw: Any, path: Path) -> None:
    del _get(raw, path[:-1])[path[-1]]


def _altered(text: str, dice: random.Random) -> str:
    """The same text with one character another."""
    if not text:
        return "x"
    at = dice.randrange(len(text))
    other = str((int(text[at]) + 1) % 10) if text[at].isdigit() else "q"
    return text[:at] + other + text[at + 1 :]
