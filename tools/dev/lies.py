"""Lies: one change to an honest journal by someone who holds the machine's key and signs the result again.

Any leaf of any entry may be altered or removed, alone or with all that agree with it. An entry may be
removed, repeated, swapped with the one before it, or copied elsewhere. Entries of every kind are invented;
games are voided instead of ended, moved to another seat, or started while the machine is stopped. The liar is
careful: the chain, checkpoints and all ids derived from an entry's number are made consistent again. Only
contradictions between entries can reveal a lie.
"""

import hashlib
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from egm.kernel.events import State
from egm.play.keys import PlayKey
from meters import JournalError, checkpoint
from meters.chart import ACCOUNTS
from meters.entry import GENESIS_HASH, decode, encode_canonical_json
from meters.keys import MachineKey
from meters.ledger import Ledger
from tools.audit.rules import BY_KIND, RULES, Facts
from tools.dev.inventions import Inventor

Raw: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]

#: Fields that the liar makes consistent again; changing them alone is not a lie.
_REFITTED: Final = frozenset({"sequence", "previous"})
#: Entries that contain the journal head before them, and the field that holds it.
_HEADS: Final = {"machine.checked": "head", "handpay.paid": "witness"}
_ACCOUNTS: Final = tuple(
    re.sub(r"<\w+>", lambda word: {"<position>": "1", "<kind>": "cashable"}.get(word[0], "x"), line.pattern)
    for line in ACCOUNTS
)


#: Lies after which the entry stands where none, or another, stood.
NEW: Final = frozenset({"invented", "made up", "void instead of ended", "with a door open"})


#: An entry left out after which nothing happened to the money or the play at its position: what is left is
#: the honest journal of a moment before it.
REMOVED_LAST: Final = "removed as the last at its position"


@dataclass(frozen=True, slots=True)
class Lie:
    """A change to one entry (by its original number); ``path`` leads to the field, empty for the whole entry."""

    sequence: int
    kind: str
    path: Path
    what: str

    @property
    def field(self) -> str:
        """The path without the numbers of lists: what sort of field it is."""
        return ".".join("*" if isinstance(part, int) else part for part in self.path)


def adopted(bodies: Sequence[bytes], key: MachineKey) -> list[Raw]:
    """Return the entries as the machine of ``key`` would have written them: the liar's starting point."""
    before = json.loads(bodies[0])
    old_key, new_key = before["record"]["public_key"], key.public_key.hex()
    text = bodies[0].decode().replace(old_key, new_key).replace(before["id"], f"genesis:{key.fingerprint}")
    old_mark, new_mark = decode(bodies[0]).hash_hex[:8], mark_of(json.loads(text))
    rest = [
        body.decode().replace(old_mark, new_mark).replace(old_key[:12], new_key[:12]) for body in bodies[1:]
    ]
    return [json.loads(entry) for entry in (text, *rest)]


def mark_of(first: Raw) -> str:
    """Return the suffix of the ids of a journal that begins with ``first``."""
    return hashlib.sha256(
        encode_canonical_json(first | {"previous": GENESIS_HASH, "sequence": 1})
    ).hexdigest()[:8]


def rewrite_chain(entries: Iterable[Raw], key: MachineKey, old_mark: str) -> Iterator[bytes]:
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
        body = encode_canonical_json(told | {"previous": ledger.head_hex, "sequence": number})
        try:
            entry = decode(body)
            ledger.commit(ledger.plan(entry.transaction), entry)
        except (JournalError, ValueError):
            ledger.sequence, ledger.head_hex = number, hashlib.sha256(body).hexdigest()
        if number == 1:
            new_mark = ledger.head_hex[:8]
        yield body


class Liar:
    """Generates one lie at a time about the same honest entries; the same seed gives the same lies."""

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
        named: dict[str, list[Any]] = {}
        for (_, name), values in self._seen.items():
            named.setdefault(name.rpartition(".")[2], []).extend(values)
        self._inventor = Inventor(self._dice, named)

    def tell(self) -> tuple[Lie, list[Raw]]:
        """One lie and the entries with it. Kinds of entry are lied about equally often."""
        while True:
            kind = self._dice.choice(sorted(self._by_kind))
            at = self._dice.choice(self._by_kind[kind])
            ways = (
                *(self._about_a_field,) * 6,
                *(self._about_fields_that_agree,) * 3,
                *(
                    self._about_the_entry,
                    self._made_up,
                    self._void,
                    self._while_stopped,
                    self._of_another_seat,
                ),
            )
            made = self._dice.choice(ways)(at) if at else self._about_a_field(at)
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

    def _about_fields_that_agree(self, at: int) -> tuple[Lie, list[Raw]] | None:
        """Every field of the entry, or of all there is of its story, that has one value has another."""
        fields = [(path, value) for path, value in leaves(self._entries[at]) if path[0] not in _REFITTED]
        path, value = self._dice.choice(fields)
        if isinstance(value, bool) or value in (None, "", 0, [], {}):
            return None
        what, told = self._instead(self._entries[at]["kind"], path, value)
        if what == "left out" or isinstance(told, bool) or told in (None, value):
            return None
        entries = list(self._entries)
        story = _story(entries[at])
        whole = bool(story) and self._dice.randrange(2) == 0
        changed = 0
        for place, raw in enumerate(self._entries):
            if place != at and not (whole and story in json.dumps(raw)):
                continue
            new = json.loads(json.dumps(raw))
            for each, found in list(leaves(new)):
                if each[0] not in _REFITTED and type(found) is type(value) and found == value:
                    _set(new, each, told)
                    changed += 1
            entries[place] = new
        if changed < _AGREE:
            return None
        return Lie(at + 1, self._entries[at]["kind"], path, f"{what}, and {changed - 1} others"), entries

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
        if what == "removed" and is_last_at_its_position(entries, at):
            what = REMOVED_LAST
        return Lie(at + 1, kind, (), what), self._in_order(order)

    # ------------------------------------------------------------------ what never happened
    def _books(self, at: int) -> tuple[Ledger, Facts]:
        """Return the books and the derived facts before an entry."""
        ledger, facts = Ledger(), Facts()
        for body in rewrite_chain(self._entries[:at], _ANY_KEY, self.mark):
            entry = decode(body)
            facts.update(entry)
            ledger.commit(ledger.plan(entry.transaction), entry)
        facts.mark = self.mark
        return ledger, facts

    def _made_up(self, at: int) -> tuple[Lie, list[Raw]] | None:
        """Return a journal with an invented entry of any kind, built from its rule."""
        at = self._dice.choice(
            (at, len(self._entries))
        )  # nothing contradicts the last but what was before it
        rule = self._inventor.kind()
        raw = self._inventor.make(rule, *self._books(at), self._entries[at - 1]["time"])
        if raw["kind"] == checkpoint.KIND:
            return None
        order: list[int | Raw] = [*range(at), raw, *range(at, len(self._entries))]
        return Lie(at + 1, raw["kind"], (), "made up"), self._in_order(order)

    def _void(self, _: int) -> tuple[Lie, list[Raw]] | None:
        """Return a journal with a game voided instead of ended, or before its end; its stake is refunded or not."""
        ends = self._by_kind.get("game.end", [])
        if not ends:
            return None
        end = self._dice.choice(ends)
        play_id = self._entries[end]["record"]["play_id"]
        start = next(each for each in self._entries if each["id"] == f"{play_id}.start")
        rule = next(each for each in RULES if each.kind == "game.void")
        ledger, facts = self._books(end)
        raw = self._inventor.make(rule, ledger, facts, self._entries[end]["time"], play=play_id)
        back = self._dice.randrange(2) == 0
        paid = [(account, cents) for account, target, cents in _flows(start) if target == "house:wager"]
        raw["transfers"] = [["house:refund_defect", *each] for each in paid] if back else []
        won = (start["record"].get("outcome") or {}).get("win_credits")
        won_cents = None if won is None else won * start["record"]["denomination_cents"]
        raw["record"] |= {
            "refund_cents": sum(int(cents) for _, cents in paid) if back else 0,
            "recorded": {"decided": won is not None, "win_cents": won_cents, "levels_cents": 0},
        }
        order: list[int | Raw] = [*range(end), raw, *range(end + 1, len(self._entries))]
        return Lie(end + 1, "game.void", (), "void instead of ended"), self._in_order(order)

    def _while_stopped(self, at: int) -> tuple[Lie, list[Raw]] | None:
        """Return a journal in which the machine stopped before the entry and continued after it."""
        door, since = "main", self._entries[at]["time"]
        memory = self._books(at)[0].state
        if f"door:{door}" in memory:
            return None
        opened = {"door": door}
        here = {"time": since, "record": opened}
        place = {"dims": {"position": 1}} if "position" in self._entries[at].get("dims", {}) else {}
        before: Raw = {
            **here,
            **place,
            "id": f"door.opened-{at + 1}-{self.mark}",
            "kind": "door.opened",
            "state": {f"door:{door}": {"since": since}},
            "counts": {f"door.{door}.opens": 1},
        }
        after: Raw = {
            **here,
            **place,
            "id": f"door.closed-{at + 3}-{self.mark}",
            "kind": "door.closed",
            "state": {f"door:{door}": None},
            "marks": ["door_close"],
        }
        kind = self._entries[at]["kind"]
        if kind not in _BEGINNING or (kind in _LATE and PlayKey.RESIDUAL not in memory):
            return None
        order: list[int | Raw] = [*range(at), before, at, after, *range(at + 1, len(self._entries))]
        return Lie(at + 2, kind, (), "with a door open"), self._in_order(order)

    def _of_another_seat(self, at: int) -> tuple[Lie, list[Raw]] | None:
        """All there is of a game was another position's, or two positions have exchanged theirs."""
        position = self._entries[at].get("dims", {}).get("position")
        numbers = {raw.get("dims", {}).get("position") for raw in self._entries} - {None, position}
        record = self._entries[at].get("record")
        play_id = record.get("play_id") if isinstance(record, dict) else None
        if position is None or not numbers or play_id is None:
            return None
        other = self._dice.choice(sorted(numbers))
        entries = list(self._entries)
        for place, raw in enumerate(self._entries):
            told = raw.get("record")
            if isinstance(told, dict) and told.get("play_id") == play_id:
                entries[place] = _moved(raw, position, other)
        return Lie(at + 1, self._entries[at]["kind"], (), "of another seat"), entries

    def _in_order(self, order: Sequence[int | Raw]) -> list[Raw]:
        """Return the entries in this order, with every id derived from an entry's number made consistent.

        A new entry stands at its given position, and its ids fit that position.
        """
        place: dict[int, int] = {}
        for new, old in enumerate(order):
            if isinstance(old, int):
                place.setdefault(old + 1, new + 1)
        told = []
        for new, old in enumerate(order):
            if not isinstance(old, int):
                told.append(old)
                continue
            moved = place | {old + 1: new + 1}
            text = re.sub(
                rf"(\d+)-{self.mark}",
                lambda found, moved=moved: f"{moved.get(int(found[1]), int(found[1]))}-{self.mark}",  # type: ignore[misc]
                json.dumps(self._entries[old]),
            )
            text = text.replace(f'"checkpoint:{old + 1}"', f'"checkpoint:{new + 1}"')
            told.append(json.loads(text))
        return told


#: Kinds of entry that earlier versions, which recorded no terms, wrote soon after a door was opened as well.
_LATE: Final = frozenset(
    kind for kind, rules in BY_KIND.items() if any(rule.recorded_within_seconds for rule in rules)
)
#: Kinds of entry that no machine writes with a door open.
_BEGINNING: Final = frozenset(
    kind
    for kind, rules in BY_KIND.items()
    if not any(rule.within is None or State.DOOR_OPEN in rule.within or rule.goes_on_from for rule in rules)
)
#: For books that nobody checks.
_ANY_KEY: Final = MachineKey(bytes(range(32)))
#: As many fields agree with each other.
_AGREE: Final = 2


def _story(raw: Raw) -> str:
    """Return the key that related entries share: their play, payment or paper."""
    record = raw.get("record")
    found = record.get("play_id") or record.get("id") if isinstance(record, dict) else None
    return found if isinstance(found, str) and found else str(raw.get("ref") or "")


def is_last_at_its_position(entries: Sequence[Raw], at: int) -> bool:
    """Return whether no later entry names the same play or payment, or moves money at its position."""
    story, position = _story(entries[at]), _position_of(entries[at])
    return not any(
        (story and story in json.dumps(later))
        or ({"transfers", "phase"} & later.keys() and _position_of(later) == position)
        for later in entries[at + 1 :]
    )


def _position_of(raw: Raw) -> int:
    position: int = raw.get("dims", {}).get("position", 1)
    return position


def _flows(raw: Raw) -> Iterator[tuple[str, str, int]]:
    for source, target, cents, *_ in raw.get("transfers", ()):
        yield source, target, cents


def _moved(raw: Raw, position: int, other: int) -> Raw:
    """Return the entry as another position would have written it."""
    told: Raw = json.loads(json.dumps(raw).replace(f'"credit:{position}:', f'"credit:{other}:'))
    told["dims"]["position"] = other
    mine = "" if position == 1 else f"{position}/"
    theirs = "" if other == 1 else f"{other}/"
    state = {}
    for key, value in told.get("state", {}).items():
        bare = key.removeprefix(mine)
        own = bare in {"game", "last_game", "session", "handpay"} or bare.startswith("table:")
        state[f"{theirs}{bare}" if own else key] = value
    return {**told, **({"state": state} if state else {})}


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
    """Return the text with one character changed."""
    if not text:
        return "x"
    at = dice.randrange(len(text))
    other = str((int(text[at]) + 1) % 10) if text[at].isdigit() else "q"
    return text[:at] + other + text[at + 1 :]
