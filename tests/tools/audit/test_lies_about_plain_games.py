"""Lies about plain games: every field of every entry, whole games, and the stored values that a plain game uses.

Goal: the fast check of plain games accepts nothing that the check of single entries rejects, and the number of
processes makes no difference. A careful forger with the machine's key corrects the hashes after each lie.
"""

import copy
import dataclasses
import hashlib
import json

import pytest
from plain_journals import (
    CARDS,
    GAMES,
    KEY,
    RAISED,
    REEL,
    SHELF,
    SHOE,
    TABLE,
    SeededChance,
    audit,
    audit_entry_by_entry,
    flatten_state,
    list_entries_checked_one_by_one,
    list_games,
    play,
)

import tools.audit.games
import tools.audit.jobs
import tools.audit.levels
import tools.audit.rounds
import tools.audit.verify
from egm.play.records.game_record import GameReference, SharedTableState, TableRecord
from egm.testing.machine import MachineRig
from meters.entry import GENESIS_HASH, decode, encode_canonical_json
from meters.ledger import Ledger
from paytables import Bet
from tools.audit.verify import Auditor
from tools.dev.lies import adopt_entries

#: Draws with which one game is won, and no game that is left out or repeated wins exactly its stake.
SEEDS = {REEL: 8, TABLE: 1, CARDS: 7, RAISED: 7, SHOE: 6}
#: Fields whose value follows from nothing else in an export (ARCHITECTURE.md, "What an export alone cannot show").
FREE = {"time", "record.language"}
#: A game of cards that only compares ranks: the same rank of another suit changes nothing. A shoe of several
#: decks: another copy of the same card changes nothing.
FREE_DRAWS = {RAISED: "record.steps.0.draws", SHOE: "record.steps.0.draws"}

#: Members with the same meaning as their absence, and a round that no other position played.
HARMLESS = [
    *(("phase", "post"), ("marks", []), ("counts", {}), ("state", {})),
    *(("record.standing_credits", 0), ("record.table", None), ("record.pools", {})),
    *(("record.round_id", ""), ("record.round_id", "round-1")),
    *(("record.push_cents", 0), ("record.staked_credits", 0)),
]

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
    """Journals, one for each game: a bill and then games, of which at least one is won and one has a further stake."""

    def write(game):
        rig = MachineRig(
            tmp_path_factory.mktemp("machine") / "state", games=GAMES, generator=SeededChance(SEEDS[game])
        )
        rig.boot().insert(5000)
        play(rig, REEL, 1)
        play(rig, game, 5)
        bodies = list(rig.journal.iter_bodies())
        rig.close()
        return adopt_entries(bodies, KEY)

    return {game: write(game) for game in GAMES}


def seal(entries):
    """Return the entries as bytes, each with its number and the hash of its predecessor."""
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
    """Return other values of the same type and of every other type."""
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
    """Yield lies about an entry: the path of a field, and the entry with that field altered, removed or added."""
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
    lied = node = copy.copy(entry)
    for part in path[:-1]:  # only the containers on the path are copied; the entries share the others
        inner = copy.copy(node.get(part, {}) if isinstance(node, dict) else node[part])
        node[part] = inner
        node = inner
    if value is not _REMOVED:
        node[path[-1]] = value
    else:
        del node[path[-1]]
    return lied


def find_game_to_lie_about(entries, game):
    """Return the indexes of the entries of a won game, if possible one with a further or a returned stake."""
    bodies = seal(entries)
    numbers = list_games(bodies, game)[1:-1]
    return max(
        numbers,
        key=lambda entry_numbers: (
            any(b'"staked_credits"' in bodies[n] for n in entry_numbers),
            game == SHOE and any(b'"game.push"' in bodies[n] for n in entry_numbers),
            b"games_won" in bodies[entry_numbers[-1]],
        ),
    )


def compare_audits(bodies, monkeypatch, *, jobs=1):
    """Return the findings of an audit; check that every way of auditing gives the same findings."""
    report, fast = audit(bodies, jobs)
    by_entry, slow = audit_entry_by_entry(bodies, monkeypatch)
    assert report == by_entry
    assert flatten_state(vars(fast)) == flatten_state(vars(slow))
    return json.loads(report)["findings"]


def is_harmless(path, lied, game):
    """Return whether an export alone cannot show that this altered field of a game is false."""
    field = ".".join(map(str, path))
    if field in FREE or field.startswith(FREE_DRAWS.get(game, "-")):
        return True
    if path[-1:] == ("pays",) and is_equal(lied, put(put(lied, path, True), path)):
        return True  # removed: earlier versions did not record it
    return any(is_equal(lied, put(lied, path, value)) for name, value in HARMLESS if name == field)


# ---------------------------------------------------------------------------------------- fields of entries
@pytest.mark.requirement("E-13")
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("step", [211, pytest.param(1, marks=pytest.mark.slow)])
def test_every_altered_removed_or_added_field_of_a_plain_game_is_reported(journals, monkeypatch, game, step):
    entries, missed, number = journals[game], [], 0
    assert compare_audits(seal(entries), monkeypatch) == []
    for index in find_game_to_lie_about(entries, game):
        for path, lied in iter_lies(entries[index]):
            number += 1
            if number % step:
                continue
            findings = compare_audits(seal([*entries[:index], lied, *entries[index + 1 :]]), monkeypatch)
            if not findings and not is_harmless(path, lied, game):
                missed.append((index, path, lied))
    assert missed == []
    assert number > 1000


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize("game", [RAISED, SHOE])
@pytest.mark.parametrize("time", ["", "x", "2026-01-01T00:00:01"], ids=["empty", "text", "no zone"])
def test_a_game_entry_without_a_valid_time_is_reported(journals, monkeypatch, game, time):
    entries = journals[game]
    for index in find_game_to_lie_about(entries, game):
        lied = [*entries[:index], entries[index] | {"time": time}, *entries[index + 1 :]]
        assert index + 1 in [finding["entry"] for finding in compare_audits(seal(lied), monkeypatch)]


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("step", [997, pytest.param(23, marks=pytest.mark.slow)])
def test_two_processes_report_every_altered_field_as_one_does(journals, monkeypatch, game, step):
    monkeypatch.setattr(tools.audit.jobs, "BATCH_ENTRY_COUNT", 4)
    entries, number = journals[game], 0
    for index in find_game_to_lie_about(entries, game):
        for _, lied in iter_lies(entries[index]):
            number += 1
            if number % step == 0:
                compare_audits(seal([*entries[:index], lied, *entries[index + 1 :]]), monkeypatch, jobs=2)


# ---------------------------------------------------------------------------------------- whole games
def renumber(entries):
    """Return the entries with the play ids corrected for their new sequences; nothing else is corrected."""
    play_id, renumbered = ("", ""), []
    for number, entry in enumerate(entries, 1):
        if entry["kind"] == "game.start":
            old = entry["record"]["play_id"]
            play_id = old, f"play-{number}-{old[-8:]}"
        renumbered.append(
            json.loads(json.dumps(entry).replace(*play_id) if play_id[0] else json.dumps(entry))
        )
    return renumbered


def repair_credit(entries):
    """Return the entries with the credit before each game corrected to follow from the preceding entries."""
    credit_cents, repaired = 0, []
    for entry in entries:
        is_start = entry["kind"] == "game.start"
        repaired.append(put(entry, ("record", "credit_before_cents"), credit_cents) if is_start else entry)
        credit_cents += 5000 if entry["kind"] == "bill.in" else 0  # reserved before
        for source, target, cents in entry.get("transfers", ()) if "phase" not in entry else ():
            credit_cents += cents * (target.startswith("credit:") - source.startswith("credit:"))
    return repaired


def lie_about_order(entries, game, order_lie):
    """Return the entries with a whole game omitted, repeated, moved or interleaved."""
    games = list_games(seal(entries), game)
    first, second = games[1], games[2]
    before, first_entries, second_entries = (
        entries[: first.start],
        entries[first.start : first.stop],
        entries[second.start : second.stop],
    )
    after = entries[second.stop :]
    return {
        "left out": [*before, *second_entries, *after],
        "repeated": [*before, *first_entries, *first_entries, *second_entries, *after],
        "swapped": [*before, *second_entries, *first_entries, *after],
        "moved to the end": [*before, *second_entries, *after, *first_entries],
        "without its start": [*before, *first_entries[1:], *second_entries, *after],
        "without its end": [*before, *first_entries[:-1], *second_entries, *after],
        "ended twice": [*before, *first_entries, first_entries[-1], *second_entries, *after],
        "started twice": [*before, first_entries[0], *first_entries, *second_entries, *after],
        "end before start": [*before, first_entries[-1], *first_entries[:-1], *second_entries, *after],
        "inside another": [*before, first_entries[0], *second_entries, *first_entries[1:], *after],
    }[order_lie]


ORDERS = (
    *("left out", "repeated", "swapped", "moved to the end", "without its start", "without its end"),
    *("ended twice", "started twice", "end before start", "inside another"),
)


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("order_lie", ORDERS)
def test_a_whole_game_omitted_repeated_or_moved_is_reported(journals, monkeypatch, game, order_lie):
    monkeypatch.setattr(tools.audit.jobs, "BATCH_ENTRY_COUNT", 4)
    lied = lie_about_order(journals[game], game, order_lie)
    assert compare_audits(seal(lied), monkeypatch)
    bodies = seal(renumber(lied))
    findings = compare_audits(bodies, monkeypatch)
    assert findings == compare_audits(bodies, monkeypatch, jobs=2)
    assert findings


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize(
    "order_lie", ["without its start", "without its end", "ended twice", "started twice"]
)
def test_a_game_without_start_or_end_is_reported_even_with_repaired_credit(journals, monkeypatch, order_lie):
    honest = journals[REEL]
    assert repair_credit(renumber(honest)) == honest
    bodies = seal(repair_credit(renumber(lie_about_order(honest, REEL, order_lie))))
    assert compare_audits(bodies, monkeypatch)


# ---------------------------------------------------------------------------------------- what a game depends on
def rely_on(path, value, reason, entry_kind="bill.confirmed"):
    return pytest.param(path, value, reason, entry_kind, id=".".join(map(str, path)))


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize(
    ("path", "value", "reason", "entry_kind"),
    [
        rely_on(("state", "reminder"), {"kind": "time"}, "memory.reminder"),
        rely_on(("state", "handpay"), {"id": "x"}, "while the machine is handpay"),
        rely_on(("state", "pay_out"), {"id": "x"}, "while the machine is"),
        rely_on(("state", "game"), {"play_id": "play-1"}, "while the machine is playing"),
        rely_on(("state", "awaiting_award"), {"play_id": "play-1"}, "state.awaiting_award"),
        rely_on(("state", "undecided"), {"play_id": "play-1"}, "state.undecided"),
        rely_on(("state", "door:main"), {"since": "x"}, "while the machine is door_open"),
        rely_on(("state", "fault:bill_acceptor.jam"), {"locks": True}, "while the machine is"),
        rely_on(("state", f"control:game.{REEL}:main"), False, "is not offered"),
        rely_on(
            ("state", "residual_terms"), {"way": "stays", "useful_cents": 10**6}, "the smallest stake here"
        ),
        rely_on(("transfers", 0, 2), 4000, "credit_before_cents", entry_kind="bill.escrow"),
        rely_on(("transfers", 0, 1), "credit:1:restricted", "transfers: expected", entry_kind="bill.escrow"),
        rely_on(
            ("dims", "position"), 1, "all entries name their position or none does", entry_kind="power.up"
        ),
    ],
)
def test_a_plain_game_that_the_machines_memory_does_not_allow_is_reported(
    journals, monkeypatch, path, value, reason, entry_kind
):
    """The false entry precedes the games; their own entries are unchanged."""
    entries = journals[REEL]
    kinds = [entry["kind"] for entry in entries]
    lied = put(entries[kinds.index(entry_kind)], path, value)
    bodies = seal([*entries[: kinds.index(entry_kind)], lied, *entries[kinds.index(entry_kind) + 1 :]])
    first = kinds.index("game.start") + 1
    findings = compare_audits(bodies, monkeypatch)
    assert any(reason in finding["why"] and finding["entry"] >= first for finding in findings), findings


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize("part", ["start", "end"])
def test_a_plain_game_with_the_id_of_an_earlier_entry_is_reported(journals, monkeypatch, part):
    entries = journals[REEL]
    first = list_games(seal(entries), REEL)[2].start
    lied = [entries[0], entries[1] | {"id": entries[first]["id"].replace("start", part)}, *entries[2:]]
    findings = compare_audits(seal(lied), monkeypatch)
    assert first + 1 + (part == "end") in [
        finding["entry"] for finding in findings if "was used by an earlier entry" in finding["why"]
    ]


def test_an_id_of_an_earlier_play_does_not_slow_the_check_of_later_games(journals, monkeypatch):
    entries = journals[REEL]
    games = list_games(seal(entries), REEL)
    for n, mark in ((2, entries[games[0].start]["id"][-14:-6]), (999, "0" * 8)):
        lied = seal([entries[0], entries[1] | {"id": f"play-{n}-{mark}.late"}, *entries[2:]])
        compare_audits(lied, monkeypatch)
        checked = list_entries_checked_one_by_one(lied, monkeypatch)
        assert len(list_games(checked, REEL)) == 1, "the first game, which records its definition"


# ---------------------------------------------------------------------------------------- the auditor's state
def open_play(auditor, entry, _):
    auditor._games._open_play_by_id["play-1"] = tools.audit.games._Play(entry, None)
    auditor._games._latest_play_id_by_position[1] = "play-1"


def begin_round(auditor, entry, _):
    round_ = tools.audit.rounds._Round("round-1", _DIGEST, frozenset({Bet("red", 1, 1)}))
    auditor._games._rounds._starting_round = entry, round_


def store_table(auditor, _, played):
    name = played["game"]
    record = TableRecord(
        game_reference=GameReference(id=name["id"], version=name["version"], digest=name["digest"]),
        denomination_cents=played["denomination_cents"],
        table_state={"point": 4},
    )
    auditor._games._stakes._tables[f"table:{name['digest']}"] = record


def share_table(auditor, _, played):
    digest = played["game"]["digest"]
    shared = SharedTableState(
        round_id="round-1", shared_fields=("point",), standing_bet_fields=(), shared_state={"point": 4}
    )
    auditor._games._stakes._shared_tables[digest] = auditor._games._stakes._shared_table_before_round[
        digest
    ] = shared


def alter_table(**fields):
    """Return a change of the table state that the previous game left: shoe, standing bets or denomination."""

    def change(auditor, _, played):
        tables = auditor._games._stakes._tables
        key = f"table:{played['game']['digest']}"
        tables[key] = dataclasses.replace(tables[key], **fields)

    return change


def remove_table(auditor, _, played):
    del auditor._games._stakes._tables[f"table:{played['game']['digest']}"]


def add_facts(**facts):
    def change(auditor, _, __):
        for name, value in facts.items():
            assert hasattr(auditor.entry_rules.facts, name)
            setattr(auditor.entry_rules.facts, name, copy.copy(value))

    return change


def withdraw_table(auditor, _, played):
    auditor.entry_rules.facts.changed_table_games.add(
        (played["game"]["digest"], played["denomination_cents"])
    )


def hold_credit(auditor, _, __):
    auditor._ledger.reserved_cents["credit:1:cashable"] += 5


def add_promotion(kind):
    def change(auditor, _, __):
        auditor._ledger.inflows_cents[f"credit:1:{kind}"] += 5

    return change


CHANGES = {
    "a clear's entries are due": lambda auditor, *_: auditor._clears._expected_entries.append(
        ["id", _DIGEST]
    ),
    "a play is open": open_play,
    "a double-up is posted": lambda auditor, *_: auditor._games._double_up_stakes_by_play_id.update(
        {"play-1": (5,)}
    ),
    "a round begins": begin_round,
    "a play with levels is open": lambda auditor, *_: auditor._levels._open_play_by_id.update(
        {"play-1": tools.audit.levels._Play({"grand": "pool"})}
    ),
    "a hit is registered": lambda auditor, entry, played: auditor._levels._register_lines_by_play_id.update(
        {played["play_id"]: [(entry, None)]}
    ),
    "stakes are returned": lambda auditor, entry, _: auditor._games._stakes._stake_return_entries.update(
        {"play-1": entry}
    ),
    "a table has a state": store_table,
    "a table is shared": share_table,
    "a table is withdrawn": withdraw_table,
    "sessions are counted": add_facts(has_player_session=True),
    "credit was converted": add_facts(positions_with_conversion={1}),
    "the journal has another tag": add_facts(journal_tag="0" * 8),
    "positions are named": add_facts(entries_name_position=True),
    "nothing has shown a position": add_facts(entries_name_position=None),
    "no game has shown sessions": add_facts(has_player_session=None),
    "an entry named its position": lambda auditor, entry, _: (
        auditor.entry_rules._entries_of_other_style.append(entry)
    ),
    "credit is reserved": hold_credit,
    "restricted credit": add_promotion("restricted"),
    "nonrestricted credit": add_promotion("nonrestricted"),
    "no smallest stake is known": add_facts(smallest_stake_cents=None),
    "the machine was never idle": add_facts(last_idle_times={}),
    "no money has moved": add_facts(last_money_entry_kinds={}),
    "no table was played": add_facts(games_played=set()),
    "another head": lambda auditor, *_: setattr(auditor._ledger, "head_hex", _DIGEST),
    "an entry is missing": lambda auditor, *_: setattr(
        auditor._ledger, "sequence", auditor._ledger.sequence - 1
    ),
    "the journal is empty": lambda auditor, *_: setattr(auditor, "_ledger", Ledger()),
}


TABLE_CHANGES = {
    "the table has another shoe": alter_table(table_state={"shoe": {"As": 3, "2c": 14}}),
    "the table is in its initial state": alter_table(table_state=None),
    "bets are standing on the table": alter_table(standing_stakes=(("credit:1:cashable", 5),)),
    "the table had another denomination": alter_table(denomination_cents=5),
    "the table is not known": remove_table,
    "the shoe is shared": share_table,
}


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize(
    ("game", "change"),
    [
        *(pytest.param(REEL, change, id=name) for name, change in CHANGES.items()),
        *(pytest.param(SHOE, change, id=name) for name, change in TABLE_CHANGES.items()),
    ],
)
def test_plain_games_audited_both_ways_leave_the_same_auditor_state(journals, monkeypatch, game, change):
    entries = journals[game]
    bodies = seal(entries)
    first = list_games(bodies, game)[1].start
    pictures = []
    for find in (tools.audit.verify.find_plain_runs, lambda bodies, *_: [(list(bodies), [])]):
        monkeypatch.setattr(tools.audit.verify, "find_plain_runs", find)
        auditor = Auditor(SHELF)
        auditor.audit_entries(bodies[:first])
        change(auditor, decode(bodies[first - 1]), entries[first]["record"])
        auditor.audit_entries(bodies[first:])
        pictures.append(flatten_state(vars(auditor)))
    assert pictures[0] == pictures[1]


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize("jobs", [1, 2])
def test_heads_known_from_elsewhere_are_compared_within_plain_games(journals, jobs):
    bodies = seal(journals[REEL])
    entry_number = list_games(bodies, REEL)[2].start + 1
    known = hashlib.sha256(bodies[entry_number - 1]).hexdigest()
    right = Auditor(SHELF, known_heads=[(entry_number, known[:12])]).audit_entries(bodies, jobs=jobs)
    assert (right.finding_count, right.matching_head_count) == (0, 1)
    wrong = Auditor(SHELF, heads={entry_number: "f" * 64}).audit_entries(bodies, jobs=jobs)
    assert [finding.sequence for finding in wrong.findings] == [entry_number]


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize("game", GAMES)
def test_an_entry_altered_without_repairing_the_chain_is_reported_at_the_next(journals, monkeypatch, game):
    monkeypatch.setattr(tools.audit.jobs, "BATCH_ENTRY_COUNT", 4)
    bodies = seal(journals[game])
    for index in range(list_games(bodies, REEL)[0].start - 1, len(bodies) - 1):
        altered = encode_canonical_json(json.loads(bodies[index]) | {"time": "2026-01-01T00:00:01+00:00"})
        findings = compare_audits([*bodies[:index], altered, *bodies[index + 1 :]], monkeypatch)
        assert [finding["entry"] for finding in findings] == [index + 2]
        missing = compare_audits([*bodies[:index], *bodies[index + 1 :]], monkeypatch)
        assert any("missing, repeated or moved" in finding["why"] for finding in missing)
