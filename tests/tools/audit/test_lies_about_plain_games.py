"""Lies about plain games: every field of every entry, whole games, and the memory that a plain game relies on.

Goal: the fast check of plain games accepts nothing that the check of each entry rejects, and the number of
processes changes nothing. A careful forger with the machine's key repairs hashes after each lie.
"""

import copy
import hashlib
import json

import pytest
from plain_journals import (
    GAMES,
    KEY,
    RAISED,
    REEL,
    audit,
    audit_entry_by_entry,
    list_games,
    picture,
    play,
)

from egm.testing.machine import MachineRig
from meters.entry import GENESIS_HASH, encode_canonical_json
from tools.dev.lies import adopted

#: Fields whose value follows from nothing else in an export (ARCHITECTURE.md, "What an export alone cannot show").
FREE = {"time", "record.language"}
#: A game of cards that only compares ranks: the same rank of another suit changes nothing.
FREE_DRAWS = {RAISED: "record.steps.0.draws"}

_DIGEST = "0" * 64
_STEP = {"choice": None, "draws": []}
#: Members that some entries of games have, and these do not.
TOP_MEMBERS = (
    *(("phase", phase) for phase in ("post", "reserve", "settle", "void")),
    *(("ref", ref) for ref in ("", "bill-1")),
    *(("marks", marks) for marks in ([], ["power_up"])),
    *(("counts", counts) for counts in ({}, {"games_played": 1}, {"games_won": 1, "games_lost": 1})),
    *(
        ("state", state)
        for state in ({}, {"reminder": None}, {"session": None}, {f"definition:{_DIGEST}": "x"})
    ),
    ("transfers", [["house:win", "credit:1:cashable", 1]]),
    ("dims", {"position": 1}),
    ("ticket", 1),
)
RECORD_MEMBERS = (
    *(("standing_credits", credits_) for credits_ in (0, 1)),
    *(("table", table) for table in (None, {}, {"point": 4})),
    *(("raised_credits", credits_) for credits_ in (0, 1)),
    *(("pools", pools) for pools in ({}, {"grand": "pool"})),
    ("fed", [{"pool": "pool", "wager_cents": 5}]),
    ("hits", [{"pool": "pool", "level": "grand", "mystery": False, "amount_cents": 100}]),
    ("mystery", [[1, 0, "mystery.pool"]]),
    ("broadcast_cents", {"pool": 1}),
    *(("round_id", round_id) for round_id in ("", "round-1")),
    *(("staked", staked) for staked in (None, [["credit:1:cashable", 5]])),
    *(("returned", returned) for returned in (False, True)),
    *(("ended", ended) for ended in ("", "game.end")),
    *(("claim", claim) for claim in ("", "claim-1")),
    *(("round_steps", steps) for steps in ([], [_STEP])),
    *(("push_cents", cents) for cents in (0, 5)),
    ("prizes", []),
    *(("staked_credits", credits_) for credits_ in (0, 1)),
)
STATE_MEMBERS = (
    *(("session", session) for session in (None, {"since": "", "wagered_cents": 5})),
    ("reminder", None),
    ("claim:c", {"play_id": "play-1"}),
    ("level:pool", {}),
    ("progressive_win:w", {}),
    ("2/game", None),
    (f"table:{_DIGEST}", None),
    (f"in_common:{_DIGEST}", None),
    (f"definition:{_DIGEST}", "text"),
    ("handpay", {}),
)
DIMS_MEMBERS = (("position", 1), ("position", 2), ("seat", 1), ("bill_cents", 5))


@pytest.fixture(scope="module")
def journals(tmp_path_factory):
    """A journal for each game: a bill, then the games, of which at least one is won and one staked on again."""

    def write(game):
        room = MachineRig(tmp_path_factory.mktemp("machine") / "state", games=GAMES).boot().insert(5000)
        play(room, REEL, 1)
        play(room, game, 5)
        bodies = list(room.journal.iter_bodies())
        room.close()
        return adopted(bodies, KEY)

    return {game: write(game) for game in GAMES}


def seal(entries):
    """Return the entries as bytes, each with its number and the hash of the one before."""
    bodies, head = [], GENESIS_HASH
    for number, entry in enumerate(entries, 1):
        bodies.append(encode_canonical_json(entry | {"sequence": number, "previous": head}))
        head = hashlib.sha256(bodies[-1]).hexdigest()
    return bodies


def is_equal(left, right):
    return encode_canonical_json(left) == encode_canonical_json(right)


def iter_nodes(value, path=()):
    """Yield each value in an entry with its path."""
    yield path, value
    if isinstance(value, dict):
        for key, part in value.items():
            yield from iter_nodes(part, (*path, key))
    if isinstance(value, list):
        for number, part in enumerate(value):
            yield from iter_nodes(part, (*path, number))


def list_other_values(value):
    """Return values of the same and of every other type."""
    others = [None, True, False, 0, 1, -1, 10**15, "", "x", [], {}]
    if type(value) is int:
        others += [value + 1, value - 1, str(value), [value]]
    elif type(value) is str:
        others += [value + "x", value[:-1], value.upper(), f" {value}", "\u00e9"]
    elif type(value) is list:
        others += [[*value, 0], value[:-1], value + value[-1:], value[::-1]]
    elif type(value) is dict:
        others += [{**value, "added": 0}, {**value, "added": {}}, [*value]]
    return [other for other in others if not is_equal(other, value)]


def iter_lies(entry):
    """Yield each lie about an entry: the path of the field, and the entry with it altered, removed or added."""
    for path, value in iter_nodes(entry):
        if path[:1] in ((), ("sequence",), ("previous",)):
            continue
        for other in list_other_values(value):
            yield path, put(entry, path, other)
        yield path, put(entry, path)
    for where, members in (
        ((), TOP_MEMBERS),
        (("record",), RECORD_MEMBERS),
        (("state",), STATE_MEMBERS),
        (("dims",), DIMS_MEMBERS),
    ):
        for name, value in members:
            lied = put(entry, (*where, name), value)
            if not is_equal(lied, entry):
                yield (*where, name), lied


_REMOVED = object()


def put(entry, path, value=_REMOVED):
    """Return the entry with a value in it replaced, added or removed."""
    lied = copy.deepcopy(entry)
    node = lied
    for part in path[:-1]:
        node = node.setdefault(part, {}) if isinstance(node, dict) else node[part]
    if value is not _REMOVED:
        node[path[-1]] = value
    else:
        del node[path[-1]]
    return lied


def find_game_to_lie_about(entries, game):
    """Return the indexes of a game's entries: with a further stake if there is one, and won."""
    bodies = seal(entries)
    numbers = list_games(bodies, game)[1:-1]
    return max(
        numbers,
        key=lambda each: (
            any(b'"staked_credits"' in bodies[n] for n in each),
            b"games_won" in bodies[each[-1]],
        ),
    )


def compare_audits(bodies, monkeypatch, *, jobs=1):
    """Return the findings of an audit after checking that each way of auditing gives the same."""
    report, fast = audit(bodies, jobs)
    by_entry, slow = audit_entry_by_entry(bodies, monkeypatch)
    assert report == by_entry
    assert picture(vars(fast)) == picture(vars(slow))
    return json.loads(report)["findings"]


# ---------------------------------------------------------------------------------------- fields of entries
@pytest.mark.requirement("E-13")
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("step", [61, pytest.param(1, marks=pytest.mark.slow)])
def test_every_altered_removed_or_added_field_is_named(journals, monkeypatch, game, step):
    entries, missed, number = journals[game], [], 0
    assert compare_audits(seal(entries), monkeypatch) == []
    for at in find_game_to_lie_about(entries, game):
        for path, lied in iter_lies(entries[at]):
            number += 1
            if number % step:
                continue
            findings = compare_audits(seal([*entries[:at], lied, *entries[at + 1 :]]), monkeypatch)
            field = ".".join(map(str, path))
            is_free = field in FREE or field.startswith(FREE_DRAWS.get(game, "-"))
            if not findings and not is_free:
                missed.append((at, field, lied))
    assert missed == []
    assert number > 1000
