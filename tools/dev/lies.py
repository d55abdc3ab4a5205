"""Falsify an honest journal by one change and sign it again with the machine's key.

Each change is a *lie*. Any field of any entry may be altered or removed, alone or together with all fields of the same
value. A value may be stored under another key, or deleted by an entry that does not concern it. An entry may be
removed, repeated, swapped with the one before it, or copied elsewhere. Entries of every kind are invented. Games are
voided instead of ended, moved to another player position, or started while the machine is stopped. After the change,
the chain, the checkpoints and all ids derived from an entry's number are made consistent again, so only a contradiction
between entries can reveal a lie.
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
from egm.staff.keys import format_wrong_pins_key
from meters import JournalError, checkpoint
from meters.chart import ACCOUNTS
from meters.entry import GENESIS_HASH, decode, encode_canonical_json
from meters.identifiers import make_journal_tag
from meters.ledger import Ledger
from meters.machine_key import MachineKey, format_fingerprint
from tools.audit.rules import RULES, RULES_BY_KIND, Facts
from tools.dev.inventions import EntryInventor

RawEntry: TypeAlias = dict[str, Any]
FieldPath: TypeAlias = tuple[str | int, ...]

#: Fields that are recomputed after each lie; changing them alone has no effect.
_RECOMPUTED_FIELDS: Final = frozenset({"sequence", "previous"})
#: Entries that contain the journal head before them, and the field that holds it.
_HEAD_FIELD_BY_KIND: Final = {"machine.checked": "head", "handpay.paid": "witness"}
_ACCOUNT_NAMES: Final = tuple(
    re.sub(r"<\w+>", lambda word: {"<position>": "1", "<kind>": "cashable"}.get(word[0], "x"), line.pattern)
    for line in ACCOUNTS
)

#: Lies that insert an entry or replace one by an entry of another kind.
INSERTING_CHANGES: Final = frozenset({"invented", "made up", "void instead of ended", "with a door open"})

#: Removal of an entry that no later entry about the money or the play of its position follows. What remains is the
#: honest journal of an earlier moment.
REMOVED_LAST_DESCRIPTION: Final = "removed as the last at its position"


@dataclass(frozen=True, slots=True)
class Falsification:
    """One change to one entry, which is named by its number in the honest journal.

    ``path`` is the path of the changed field; it is empty if the whole entry was changed.
    """

    sequence: int
    kind: str
    path: FieldPath
    description: str

    @property
    def field(self) -> str:
        """Return the path of the changed field as text, with ``*`` for list indices."""
        return ".".join("*" if isinstance(part, int) else part for part in self.path)


def adopt_entries(bodies: Sequence[bytes], key: MachineKey) -> list[RawEntry]:
    """Return the entries as a machine with ``key`` would have written them, so that they can be signed again."""
    genesis = json.loads(bodies[0])
    old_key, new_key = genesis["record"]["public_key"], key.public_key.hex()
    text = bodies[0].decode().replace(old_key, new_key).replace(genesis["id"], f"genesis:{key.fingerprint}")
    old_tag, new_tag = make_journal_tag(decode(bodies[0]).hash_hex), compute_journal_tag(json.loads(text))
    later_texts = [
        body.decode().replace(old_tag, new_tag).replace(old_key[:12], new_key[:12]) for body in bodies[1:]
    ]
    old_fingerprint = format_fingerprint(bytes.fromhex(old_key))
    later_entries = (json.loads(entry) for entry in later_texts)
    return [
        json.loads(text),
        *(_adopt_wrong_pins_keys(entry, old_fingerprint, key.fingerprint) for entry in later_entries),
    ]


def _adopt_wrong_pins_keys(entry: RawEntry, old_fingerprint: str, new_fingerprint: str) -> RawEntry:
    """Return the entry with the storage keys that depend on the machine's fingerprint computed for the new one."""
    record, state = entry.get("record"), entry.get("state")
    if not isinstance(record, dict) or not state:
        return entry
    staff_number = str(record.get("whom", record.get("person", "")))
    old_keys, new_keys = (
        [
            format_wrong_pins_key(fingerprint, staff_number, is_opened_by_key=by_key)
            for by_key in (True, False)
        ]
        for fingerprint in (old_fingerprint, new_fingerprint)
    )
    new_key_by_old_key = dict(zip(old_keys, new_keys, strict=True))
    return entry | {"state": {new_key_by_old_key.get(key, key): value for key, value in state.items()}}


def compute_journal_tag(first_entry: RawEntry) -> str:
    """Return the journal tag: the text at the end of all ids of a journal whose first entry is ``first_entry``."""
    body = encode_canonical_json(first_entry | {"previous": GENESIS_HASH, "sequence": 1})
    return make_journal_tag(hashlib.sha256(body).hexdigest())


def rewrite_chain(entries: Iterable[RawEntry], key: MachineKey, old_tag: str) -> Iterator[bytes]:
    """Chain the entries again and sign each checkpoint again; yield the bytes of each entry.

    ``old_tag`` is the journal tag at the end of their ids.
    """
    ledger, new_tag = Ledger(), ""
    for number, original_json in enumerate(entries, 1):
        entry_json = original_json
        if new_tag and new_tag != old_tag:
            entry_json = json.loads(json.dumps(entry_json).replace(old_tag, new_tag))
        if entry_json.get("kind") == checkpoint.CHECKPOINT_KIND and isinstance(
            entry_json.get("record"), dict
        ):
            signed_checkpoint = checkpoint.build_checkpoint(ledger, key)
            entry_json = entry_json | {"record": signed_checkpoint.record}
        elif entry_json.get("kind") in _HEAD_FIELD_BY_KIND and isinstance(entry_json.get("record"), dict):
            name, head_text = _HEAD_FIELD_BY_KIND[entry_json["kind"]], f"{number - 1}:{ledger.head_hex[:12]}"
            if name in entry_json["record"]:
                entry_json = entry_json | {
                    "record": entry_json["record"] | {name: ledger.head_hex if name == "head" else head_text}
                }
        body = encode_canonical_json(entry_json | {"previous": ledger.head_hex, "sequence": number})
        try:
            entry = decode(body)
            ledger.apply_effect(ledger.compute_effect(entry.transaction), entry)
        except (JournalError, ValueError):
            ledger.sequence, ledger.head_hex = number, hashlib.sha256(body).hexdigest()
        if number == 1:
            new_tag = make_journal_tag(ledger.head_hex)
        yield body


class JournalFalsifier:
    """Generator of lies about one honest journal. The same seed gives the same lies."""

    def __init__(self, entries: Sequence[RawEntry], seed: int) -> None:
        self._entries = entries
        self._random_source = random.Random(seed)  # noqa: S311 (the sequence must be repeatable)
        self._seen: dict[tuple[str, str], list[Any]] = {}
        by_kind: dict[str, list[int]] = {}
        for index, entry_json in enumerate(entries):
            by_kind.setdefault(entry_json["kind"], []).append(index)
            for path, value in iter_leaves(entry_json):
                values_seen = self._seen.setdefault((entry_json["kind"], _format_path(path)), [])
                if value not in values_seen:
                    values_seen.append(value)
        self._by_kind = by_kind
        self.journal_tag = compute_journal_tag(entries[0])
        values_by_name: dict[str, list[Any]] = {}
        for (_, name), values in self._seen.items():
            values_by_name.setdefault(name.rpartition(".")[2], []).extend(values)
        self._inventor = EntryInventor(self._random_source, values_by_name)

    def make_falsification(self) -> tuple[Falsification, list[RawEntry]]:
        """Return one lie and all entries of the falsified journal. All kinds of entry are chosen equally often."""
        while True:
            kind = self._random_source.choice(sorted(self._by_kind))
            index = self._random_source.choice(self._by_kind[kind])
            methods = (
                *(self._falsify_field,) * 6,
                *(self._falsify_equal_fields,) * 3,
                *(
                    self._falsify_entry,
                    self._insert_invented_entry,
                    self._void_ended_game,
                    self._open_door_around_entry,
                    self._move_game_to_other_seat,
                    self._store_under_other_key,
                    self._delete_other_value,
                ),
            )
            falsification = (
                self._random_source.choice(methods)(index) if index else self._falsify_field(index)
            )
            if falsification is not None:
                return falsification

    # ------------------------------------------------------------------ a field
    def _falsify_field(self, index: int) -> tuple[Falsification, list[RawEntry]] | None:
        entry_json = json.loads(json.dumps(self._entries[index]))
        paths = [path for path, _ in iter_leaves(entry_json) if path[0] not in _RECOMPUTED_FIELDS]
        path = self._random_source.choice(paths)
        value = _get_value(entry_json, path)
        description, replacement = self._choose_false_value(entry_json["kind"], path, value)
        if description == "left out":
            _delete_value(entry_json, path)
        else:
            _set_value(entry_json, path, replacement)
        if entry_json == self._entries[index]:
            return None
        return self._replace_entry(index, entry_json, path, description)

    def _falsify_equal_fields(self, index: int) -> tuple[Falsification, list[RawEntry]] | None:
        """Replace one value of an entry wherever it occurs, in this entry or in all related entries."""
        fields = [
            (path, value)
            for path, value in iter_leaves(self._entries[index])
            if path[0] not in _RECOMPUTED_FIELDS
        ]
        path, value = self._random_source.choice(fields)
        if isinstance(value, bool) or value in (None, "", 0, [], {}):
            return None
        description, replacement = self._choose_false_value(self._entries[index]["kind"], path, value)
        if description == "left out" or isinstance(replacement, bool) or replacement in (None, value):
            return None
        entries = list(self._entries)
        related_id = _find_related_id(entries[index])
        changes_related_entries = bool(related_id) and self._random_source.randrange(2) == 0
        changed_count = 0
        for entry_index, entry_json in enumerate(self._entries):
            if entry_index != index and not (
                changes_related_entries and related_id in json.dumps(entry_json)
            ):
                continue
            copy = json.loads(json.dumps(entry_json))
            for leaf_path, leaf_value in list(iter_leaves(copy)):
                if (
                    leaf_path[0] not in _RECOMPUTED_FIELDS
                    and type(leaf_value) is type(value)
                    and leaf_value == value
                ):
                    _set_value(copy, leaf_path, replacement)
                    changed_count += 1
            entries[entry_index] = copy
        if changed_count < _EQUAL_FIELDS_MIN:
            return None
        return Falsification(
            index + 1, self._entries[index]["kind"], path, f"{description}, and {changed_count - 1} others"
        ), entries

    def _choose_false_value(self, kind: str, path: FieldPath, value: Any) -> tuple[str, Any]:
        random_source = self._random_source
        other_values = [
            other_value for other_value in self._seen[kind, _format_path(path)] if other_value != value
        ]
        choice = random_source.randrange(6)
        if choice == 0:
            return "left out", None
        if choice in {1, 2} and other_values:
            other_value = random_source.choice(other_values)
            return f"{value!r} changed to {other_value!r}"[:100], other_value
        match value:
            case bool():
                replacement: Any = not value
            case int():
                replacement = random_source.choice(
                    (value + 1, value - 1, value * 10, value + 1000, 0, -value)
                )
            case str() if path[0] == "transfers":
                replacement = random_source.choice(_ACCOUNT_NAMES)
            case str():
                replacement = random_source.choice(
                    (_alter_character(value, random_source), "", f"{value}x", "1002")
                )
            case None:
                replacement = random_source.choice((1, "x", True))
            case _:
                replacement = random_source.choice((None, 1, "x"))
        return f"{value!r} changed to {replacement!r}"[:100], replacement

    # ------------------------------------------------------------------ a storage key
    def _store_under_other_key(self, index: int) -> tuple[Falsification, list[RawEntry]] | None:
        """Return a journal in which an entry stores a value under a storage key with another last part."""
        entry_json = json.loads(json.dumps(self._entries[index]))
        keys = [key for key in entry_json.get("state", {}) if ":" in key]
        if not keys:
            return None
        key = self._random_source.choice(keys)
        prefix, _, last_part = key.rpartition(":")
        other_key = f"{prefix}:{_alter_character(last_part or 'x', self._random_source)}"
        if other_key in entry_json["state"]:
            return None
        entry_json["state"][other_key] = entry_json["state"].pop(key)
        return self._replace_entry(index, entry_json, ("state", key), f"stored under {other_key}")

    def _delete_other_value(self, index: int) -> tuple[Falsification, list[RawEntry]] | None:
        """Return a journal in which an entry also deletes a stored value that the honest entry leaves as it is."""
        entry_json = json.loads(json.dumps(self._entries[index]))
        stored_keys = self._read_ledger_before(index)[0].state.keys() - entry_json.get("state", {}).keys()
        if not stored_keys:
            return None
        key = self._random_source.choice(sorted(stored_keys))
        entry_json.setdefault("state", {})[key] = None
        return self._replace_entry(index, entry_json, ("state", key), "deleted too")

    def _replace_entry(
        self, index: int, entry_json: RawEntry, path: FieldPath, description: str
    ) -> tuple[Falsification, list[RawEntry]]:
        """Return the lie with this description, and the journal with ``entry_json`` instead of an honest entry."""
        lie = Falsification(index + 1, self._entries[index]["kind"], path, description)
        return lie, [*self._entries[:index], entry_json, *self._entries[index + 1 :]]

    # ------------------------------------------------------------------ a whole entry
    def _falsify_entry(self, index: int) -> tuple[Falsification, list[RawEntry]] | None:
        entries = list(self._entries)
        description = self._random_source.choice(
            ("removed", "repeated", "swapped with the one before", "invented")
        )
        kind = entries[index]["kind"]
        if description == "removed":
            order = [*range(index), *range(index + 1, len(entries))]
        elif description == "swapped with the one before":
            if index < 2 or index + 1 >= len(entries):
                return None
            order = [*range(index - 1), index, index - 1, *range(index + 1, len(entries))]
        elif description == "repeated":
            order = [*range(index + 1), index, *range(index + 1, len(entries))]
        else:
            other_index = self._random_source.randrange(1, len(entries))
            kind = entries[other_index]["kind"]
            order = [*range(index), other_index, *range(index, len(entries))]
        if kind == checkpoint.CHECKPOINT_KIND:
            return None
        if description == "removed" and is_last_at_its_position(entries, index):
            description = REMOVED_LAST_DESCRIPTION
        return Falsification(index + 1, kind, (), description), self._reorder_entries(order)

    # ------------------------------------------------------------------ invented entries
    def _read_ledger_before(self, index: int) -> tuple[Ledger, Facts]:
        """Return the machine's ledger, and the facts that the audit knows, as they are before an entry."""
        ledger, facts = Ledger(), Facts()
        for body in rewrite_chain(self._entries[:index], _UNVERIFIED_CHAIN_KEY, self.journal_tag):
            entry = decode(body)
            facts.update(entry)
            ledger.apply_effect(ledger.compute_effect(entry.transaction), entry)
        facts.journal_tag = self.journal_tag
        return ledger, facts

    def _insert_invented_entry(self, index: int) -> tuple[Falsification, list[RawEntry]] | None:
        """Return a journal with an invented entry of any kind, built from its rule."""
        # Only earlier entries can contradict an entry appended at the end.
        index = self._random_source.choice((index, len(self._entries)))
        rule = self._inventor.choose_rule()
        entry_json = self._inventor.build_entry(
            rule, *self._read_ledger_before(index), self._entries[index - 1]["time"]
        )
        if entry_json["kind"] == checkpoint.CHECKPOINT_KIND:
            return None
        order: list[int | RawEntry] = [*range(index), entry_json, *range(index, len(self._entries))]
        return Falsification(index + 1, entry_json["kind"], (), "made up"), self._reorder_entries(order)

    def _void_ended_game(self, _: int) -> tuple[Falsification, list[RawEntry]] | None:
        """Return a journal in which a game that ended, or an open one, is voided; its stake is refunded or not."""
        end_indices = self._by_kind.get("game.end", [])
        if not end_indices:
            return None
        end_index = self._random_source.choice(end_indices)
        play_id = self._entries[end_index]["record"]["play_id"]
        start_entry = next(stake for stake in self._entries if stake["id"] == f"{play_id}.start")
        rule = next(stake for stake in RULES if stake.kind == "game.void")
        ledger, facts = self._read_ledger_before(end_index)
        entry_json = self._inventor.build_entry(
            rule, ledger, facts, self._entries[end_index]["time"], play=play_id
        )
        is_refunded = self._random_source.randrange(2) == 0
        paid_stakes = [
            (account, cents)
            for account, target, cents in _iter_transfer_ends(start_entry)
            if target == "house:wager"
        ]
        entry_json["transfers"] = (
            [["house:refund_defect", *stake] for stake in paid_stakes] if is_refunded else []
        )
        won_credits = (start_entry["record"].get("outcome") or {}).get("win_credits")
        won_cents = None if won_credits is None else won_credits * start_entry["record"]["denomination_cents"]
        entry_json["record"] |= {
            "refund_cents": sum(int(cents) for _, cents in paid_stakes) if is_refunded else 0,
            "recorded": {"decided": won_credits is not None, "win_cents": won_cents, "levels_cents": 0},
        }
        order: list[int | RawEntry] = [
            *range(end_index),
            entry_json,
            *range(end_index + 1, len(self._entries)),
        ]
        return Falsification(end_index + 1, "game.void", (), "void instead of ended"), self._reorder_entries(
            order
        )

    def _open_door_around_entry(self, index: int) -> tuple[Falsification, list[RawEntry]] | None:
        """Return a journal in which the machine was stopped while it wrote an entry, by an opened door."""
        door, opened_at = "main", self._entries[index]["time"]
        stored_values = self._read_ledger_before(index)[0].state
        if f"door:{door}" in stored_values:
            return None
        door_record = {"door": door}
        door_fields = {"time": opened_at, "record": door_record}
        dims_field = {"dims": {"position": 1}} if "position" in self._entries[index].get("dims", {}) else {}
        opened_entry: RawEntry = {
            **door_fields,
            **dims_field,
            "id": f"door.opened-{index + 1}-{self.journal_tag}",
            "kind": "door.opened",
            "state": {f"door:{door}": {"since": opened_at}},
            "counts": {f"door.{door}.opens": 1},
        }
        closed_entry: RawEntry = {
            **door_fields,
            **dims_field,
            "id": f"door.closed-{index + 3}-{self.journal_tag}",
            "kind": "door.closed",
            "state": {f"door:{door}": None},
            "marks": ["door_close"],
        }
        kind = self._entries[index]["kind"]
        if kind not in _KINDS_WITH_DOORS_CLOSED or (
            kind in _KINDS_SOON_AFTER_DOOR and PlayKey.RESIDUAL_CREDIT_TERMS not in stored_values
        ):
            return None
        order: list[int | RawEntry] = [
            *range(index),
            opened_entry,
            index,
            closed_entry,
            *range(index + 1, len(self._entries)),
        ]
        return Falsification(index + 2, kind, (), "with a door open"), self._reorder_entries(order)

    def _move_game_to_other_seat(self, index: int) -> tuple[Falsification, list[RawEntry]] | None:
        """Return a journal in which all entries of one game name a different player position."""
        position = self._entries[index].get("dims", {}).get("position")
        other_positions = {entry_json.get("dims", {}).get("position") for entry_json in self._entries} - {
            None,
            position,
        }
        record = self._entries[index].get("record")
        play_id = record.get("play_id") if isinstance(record, dict) else None
        if position is None or not other_positions or play_id is None:
            return None
        other_position = self._random_source.choice(sorted(other_positions))
        entries = list(self._entries)
        for entry_index, entry_json in enumerate(self._entries):
            entry_record = entry_json.get("record")
            if isinstance(entry_record, dict) and entry_record.get("play_id") == play_id:
                entries[entry_index] = _move_to_position(entry_json, position, other_position)
        return Falsification(index + 1, self._entries[index]["kind"], (), "of another seat"), entries

    def _reorder_entries(self, order: Sequence[int | RawEntry]) -> list[RawEntry]:
        """Return the entries in the given order, with every id derived from an entry's number made consistent.

        An item of ``order`` is the index of an honest entry, or a new entry to insert unchanged.
        """
        new_numbers: dict[int, int] = {}
        for new_index, old_index in enumerate(order):
            if isinstance(old_index, int):
                new_numbers.setdefault(old_index + 1, new_index + 1)
        reordered = []
        for new_index, old_index in enumerate(order):
            if not isinstance(old_index, int):
                reordered.append(old_index)
                continue
            numbers = new_numbers | {old_index + 1: new_index + 1}
            text = re.sub(
                rf"(\d+)-{self.journal_tag}",
                lambda match, numbers=numbers: (
                    f"{numbers.get(int(match[1]), int(match[1]))}-{self.journal_tag}"
                ),  # type: ignore[misc]
                json.dumps(self._entries[old_index]),
            )
            text = text.replace(f'"checkpoint:{old_index + 1}"', f'"checkpoint:{new_index + 1}"')
            reordered.append(json.loads(text))
        return reordered


#: Kinds that earlier versions, which recorded no residual-credit terms, also wrote soon after a door was opened.
_KINDS_SOON_AFTER_DOOR: Final = frozenset(
    kind for kind, rules in RULES_BY_KIND.items() if any(rule.late_order_seconds for rule in rules)
)
#: Kinds of entry that no machine writes while a door is open.
_KINDS_WITH_DOORS_CLOSED: Final = frozenset(
    kind
    for kind, rules in RULES_BY_KIND.items()
    if not any(
        rule.allowed_machine_states is None
        or State.DOOR_OPEN in rule.allowed_machine_states
        or rule.allowed_after_kinds
        for rule in rules
    )
)
#: Key for chains whose signatures are not verified.
_UNVERIFIED_CHAIN_KEY: Final = MachineKey(bytes(range(32)))
#: Minimum number of equal fields for a lie about all of them.
_EQUAL_FIELDS_MIN: Final = 2


def _find_related_id(raw: RawEntry) -> str:
    """Return the id that an entry shares with related ones (of a game, payment or ticket), or an empty string."""
    record = raw.get("record")
    related_id = record.get("play_id") or record.get("id") if isinstance(record, dict) else None
    return related_id if isinstance(related_id, str) and related_id else str(raw.get("ref") or "")


def is_last_at_its_position(entries: Sequence[RawEntry], index: int) -> bool:
    """Return whether no later entry names the game or payment of this one, or moves money at its player position."""
    related_id, position = _find_related_id(entries[index]), _read_position(entries[index])
    return not any(
        (related_id and related_id in json.dumps(later))
        or ({"transfers", "phase"} & later.keys() and _read_position(later) == position)
        for later in entries[index + 1 :]
    )


def _read_position(raw: RawEntry) -> int:
    position: int = raw.get("dims", {}).get("position", 1)
    return position


def _iter_transfer_ends(raw: RawEntry) -> Iterator[tuple[str, str, int]]:
    for source, target, cents, *_ in raw.get("transfers", ()):
        yield source, target, cents


def _move_to_position(raw: RawEntry, position: int, other_position: int) -> RawEntry:
    """Return the entry as the machine would have written it for the player position ``other_position``."""
    moved_entry: RawEntry = json.loads(
        json.dumps(raw).replace(f'"credit:{position}:', f'"credit:{other_position}:')
    )
    moved_entry["dims"]["position"] = other_position
    own_prefix = "" if position == 1 else f"{position}/"
    other_prefix = "" if other_position == 1 else f"{other_position}/"
    state = {}
    for key, value in moved_entry.get("state", {}).items():
        bare_key = key.removeprefix(own_prefix)
        is_positional = bare_key in {"game", "last_game", "session", "handpay"} or bare_key.startswith(
            "table:"
        )
        state[f"{other_prefix}{bare_key}" if is_positional else key] = value
    return {**moved_entry, **({"state": state} if state else {})}


# ---------------------------------------------------------------------------------------------- fields
def iter_leaves(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """Yield the path and value of every scalar field and every empty container of an entry."""
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from iter_leaves(part, (*path, key))
    elif isinstance(value, list) and value:
        for number, part in enumerate(value):
            yield from iter_leaves(part, (*path, number))
    else:
        yield path, value


def _format_path(path: FieldPath) -> str:
    return ".".join("*" if isinstance(part, int) else part for part in path)


def _get_value(raw: Any, path: FieldPath) -> Any:
    for part in path:
        raw = raw[part]
    return raw


def _set_value(raw: Any, path: FieldPath, value: Any) -> None:
    _get_value(raw, path[:-1])[path[-1]] = value


def _delete_value(raw: Any, path: FieldPath) -> None:
    del _get_value(raw, path[:-1])[path[-1]]


def _alter_character(text: str, random_source: random.Random) -> str:
    """Return the text with one character changed."""
    if not text:
        return "x"
    index = random_source.randrange(len(text))
    other = str((int(text[index]) + 1) % 10) if text[index].isdigit() else "q"
    return text[:index] + other + text[index + 1 :]
