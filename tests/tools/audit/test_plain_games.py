"""The fast check of plain games, also in several processes, gives the same result as a check of each entry.

Goal: neither the fast check nor the number of processes changes a report. If a process ends unexpectedly, that is an
error, never a report without findings.
"""

import hashlib
import json
import os
import re
import signal
from collections import Counter

import pytest
from click.testing import CliRunner
from journals import make_state
from plain_journals import (
    BETS,
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
from rigs.lies import read_signed_entries, reorder_entries

import tools.audit.jobs
from egm.config.levels import ProgressiveLevelTable
from egm.kernel.events import EventType
from egm.testing.machine import MachineRig
from meters import JournalDamaged, open_view
from meters.entry import decode
from tools.audit.jobs import JobError
from tools.audit.plain_games import PlainGameFinder
from tools.cli import main
from tools.dev.lies import JournalFalsifier, adopt_entries, compute_journal_tag, rewrite_chain

PROGRESSIVE_TABLE = "quebec-caribbean-stud"


@pytest.fixture(scope="module")
def bodies(tmp_path_factory):
    """The journal of a machine with four games, and a bill, a hand-pay and a restart between them."""
    folder = tmp_path_factory.mktemp("machine") / "state"
    rig = MachineRig(folder, games=GAMES, generator=SeededChance(7)).boot().insert(5000)
    play(rig, REEL, 12)
    rig.insert(1000)
    play(rig, TABLE, 12)
    play(rig, CARDS, 5)
    play(rig, RAISED, 30)
    rig.insert(5000)
    play(rig, SHOE, 8)
    rig.engine.handle(EventType.CASH_OUT)
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    rig.close()
    rig = MachineRig(folder, games=GAMES, generator=SeededChance(7)).boot().insert(5000)
    play(rig, REEL, 6)
    found = list(rig.journal.iter_bodies())
    rig.close()
    return found


def count_starts(bodies):
    return sum(b'"kind":"game.start"' in body for body in bodies)


def find_games(bodies):
    return sum(run.game_count for run in PlainGameFinder(SHELF).find_runs(bodies))


# ---------------------------------------------------------------------------------------- the same result
@pytest.mark.requirement("E-13")
def test_plain_games_leave_the_same_auditor_state_as_their_single_entries(bodies, monkeypatch):
    assert find_games(bodies) > 40
    assert any(b'"kind":"game.choice"' in body and b'"transfers"' in body for body in bodies)
    checked = list_entries_checked_one_by_one(bodies, monkeypatch)
    assert count_starts(checked) == count_starts(bodies) - find_games(bodies)
    report, fast = audit(bodies)
    by_entry, slow = audit_entry_by_entry(bodies, monkeypatch)
    assert '"ok": true' in report
    assert report == by_entry
    assert flatten_state(vars(fast)) == flatten_state(vars(slow))


@pytest.mark.requirement("E-13")
def test_games_dealt_from_one_shoe_until_it_is_shuffled_are_plain(tmp_path, monkeypatch):
    """Each game starts with the shoe that the previous game left; returned stakes make no difference."""
    rig = MachineRig(tmp_path / "state", games=GAMES, generator=SeededChance(5)).boot().insert(10_000)
    rig.insert(10_000)
    play(rig, SHOE, 70)
    dealt = list(rig.journal.iter_bodies())
    rig.close()
    assert any(b'"kind":"game.push"' in body for body in dealt)
    assert any(b'":null},"time"' in body for body in dealt), "the shoe is shuffled again"
    assert find_games(dealt) == count_starts(dealt) - 1, "the first game records its definition"
    assert len(PlainGameFinder(SHELF).find_runs(dealt)) == 1
    report, fast = audit(dealt)
    by_entry, slow = audit_entry_by_entry(dealt, monkeypatch)
    assert '"ok": true' in report
    assert (report, flatten_state(vars(fast))) == (by_entry, flatten_state(vars(slow)))
    assert audit(dealt, jobs=2)[0] == report


@pytest.mark.requirement("E-13", "I-03")
def test_only_games_that_play_for_a_progressive_level_are_not_plain(tmp_path, monkeypatch):
    """The side bet feeds the level; without it, the same table's games are plain, before and after."""
    rig = MachineRig(
        tmp_path / "state",
        games=(PROGRESSIVE_TABLE,),
        denominations_cents=(100,),
        levels=(ProgressiveLevelTable(game=PROGRESSIVE_TABLE, level="jackpot"),),
        generator=SeededChance(11),
    )
    rig.boot().insert(10_000)
    for bets in ({"ante": 2}, {"ante": 2, "progressive": 1}, {"ante": 2}):
        monkeypatch.setitem(BETS, PROGRESSIVE_TABLE, bets)
        play(rig, PROGRESSIVE_TABLE, 3)
    bodies = list(rig.journal.iter_bodies())
    rig.close()
    started = [body for body in bodies if b'"kind":"game.start"' in body]
    assert [b'"fed"' in body for body in started] == [False] * 3 + [True] * 3 + [False] * 3
    checked = list_entries_checked_one_by_one(bodies, monkeypatch)
    assert [body for body in started if body in checked] == [started[0], *started[3:6]]
    report, fast = audit(bodies)
    by_entry, slow = audit_entry_by_entry(bodies, monkeypatch)
    assert '"ok": true' in report
    assert (report, flatten_state(vars(fast))) == (by_entry, flatten_state(vars(slow)))


@pytest.mark.parametrize("entries", [2, 7, 16])
def test_the_audit_result_does_not_depend_on_the_batch_size(bodies, monkeypatch, entries):
    monkeypatch.setattr(tools.audit.jobs, "BATCH_ENTRY_COUNT", entries)
    report, fast = audit(bodies)
    by_entry, slow = audit_entry_by_entry(bodies, monkeypatch)
    assert (report, flatten_state(vars(fast))) == (by_entry, flatten_state(vars(slow)))


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize("lies", [8, pytest.param(300, marks=pytest.mark.slow)])
def test_every_lie_gives_the_same_report_both_ways(bodies, monkeypatch, lies):
    """The false entries have valid HMACs of the machine's key, so that no hash shows them."""
    entries = adopt_entries(bodies, KEY)
    liar, wrong = JournalFalsifier(entries, 11), 0
    for _ in range(lies):
        _, false_entries = liar.make_falsification()
        lied = list(rewrite_chain(false_entries, KEY, liar.journal_tag))
        report, fast = audit(lied)
        by_entry, slow = audit_entry_by_entry(lied, monkeypatch)
        assert report == by_entry
        assert flatten_state(vars(fast)) == flatten_state(vars(slow))
        wrong += '"ok": false' in report
    assert wrong > lies // 2


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize("game", GAMES)
def test_a_plain_game_with_any_altered_byte_is_rejected_except_in_independent_fields(bodies, game):
    """The time and the language are independent; the auditor itself compares the previous credit and hash.

    In a game that only compares ranks, another suit makes no difference; with several decks, neither does another
    copy of the same card.
    """
    plain_games, played = PlainGameFinder(SHELF), find_one_game(bodies, game)
    assert [run.game_count for run in plain_games.find_runs(played)] == [1]
    free = rb'"time":"[^"]*"|"language":"[^"]*"|"previous":"[0-9a-f]{64}"'
    free += rb'|"draws":\[\[.*?\]\]' if game in {RAISED, SHOE} else b""
    for which, body in enumerate(played):
        before = rb'|"credit_before_cents":[0-9]+' if which == 0 else b""
        allowed = {offset for found in re.finditer(free + before, body) for offset in range(*found.span())}
        for offset in range(len(body)):
            altered = (
                body[:offset]
                + bytes([b'0 "1'[offset % 4] if offset % 5 else body[offset] ^ 1])
                + body[offset + 1 :]
            )
            if altered == body or not plain_games.find_runs(
                refit_hashes([*played[:which], altered, *played[which + 1 :]])
            ):
                continue
            assert offset in allowed, (
                which,
                body[offset - 30 : offset + 10],
                altered[offset - 30 : offset + 10],
            )
            assert decode(altered).body == altered


def test_a_long_hostile_choice_is_matched_in_linear_time(bodies):
    """A quadratic search would exceed the time limit of the test."""
    start, choice, *_ = find_one_game(bodies, CARDS)
    hostile = choice.replace(b'"outcome":', b'"outcome":{' + b',"draws":[],"outcome":{' * 200_000)
    assert len(hostile) > 4_000_000
    assert PlainGameFinder(SHELF).find_runs([start, hostile, hostile]) == []


def find_one_game(bodies, game):
    """Return the entries of a game with a further or a returned stake, or of the definition's second game."""
    played = [[bodies[n] for n in numbers] for numbers in list_games(bodies, game)[1:]]
    rare = b'"kind":"game.push"' if game == SHOE else b'"staked_credits"'
    return max(played, key=lambda entries: rare in b"".join(entries))


def refit_hashes(played):
    """Return consecutive entries with the correct hash of each in the next one."""
    refitted = played[:1]
    for body in played[1:]:
        previous = hashlib.sha256(refitted[-1]).hexdigest().encode()
        refitted.append(re.sub(rb'"previous":"[0-9a-f]{64}"', b'"previous":"%b"' % previous, body))
    return refitted


@pytest.mark.requirement("E-13")
def test_a_game_played_while_a_host_had_disabled_it_is_reported(tmp_path, monkeypatch):
    rig = MachineRig(tmp_path / "state").boot().insert(1000)
    play(rig, REEL, 8)
    rig.engine.handle(EventType.HOST_RESTRICTION_CHANGED, source="main", name=f"game.{REEL}", value=False)
    entries = read_signed_entries(rig)
    disabled = [n for n, raw in enumerate(entries) if raw["kind"] == "host.control"]
    starts = [n for n, raw in enumerate(entries) if raw["kind"] == "game.start"]
    order = [
        *range(starts[-3]),
        *disabled,
        *(n for n in range(starts[-3], len(entries)) if n not in disabled),
    ]
    lied = reorder_entries(entries, order)
    lied = list(rewrite_chain(lied, KEY, compute_journal_tag(lied[0])))
    report, by_entry = audit(lied)[0], audit_entry_by_entry(lied, monkeypatch)[0]
    assert report == by_entry
    named = [
        finding["entry"] for finding in json.loads(report)["findings"] if "is not offered" in finding["why"]
    ]
    assert len(named) == 3


# ---------------------------------------------------------------------------------------- several processes
@pytest.mark.requirement("E-13")
def test_two_processes_report_the_same_as_one_for_honest_and_false_journals(bodies, monkeypatch):
    monkeypatch.setattr(tools.audit.jobs, "BATCH_ENTRY_COUNT", 8)
    liar = JournalFalsifier(adopt_entries(bodies, KEY), 4)
    journals = [
        bodies,
        *(list(rewrite_chain(liar.make_falsification()[1], KEY, liar.journal_tag)) for _ in range(3)),
    ]
    for journal in journals:
        report, report_of_one = audit(journal)
        report_of_two, two = audit(journal, jobs=2)
        assert report_of_two == report
        assert flatten_state(vars(two)) == flatten_state(vars(report_of_one))


def test_damage_in_the_middle_is_reported_after_the_entries_before_it(bodies, monkeypatch):
    monkeypatch.setattr(tools.audit.jobs, "BATCH_ENTRY_COUNT", 8)

    def damaged():
        yield from bodies[:21]
        raise JournalDamaged("the file", "cannot be read")

    reports = [audit(damaged(), jobs)[0] for jobs in (1, 2)]
    assert reports[0] == reports[1]
    report = json.loads(reports[0])
    assert report["entries"] == 21
    assert Counter(finding["entry"] for finding in report["findings"])[22] == 1


def test_a_journal_is_read_only_a_few_batches_ahead(bodies, monkeypatch):
    monkeypatch.setattr(tools.audit.jobs, "BATCH_ENTRY_COUNT", 2)
    read = Counter()

    def counted():
        for body in bodies:
            read["entries"] += 1
            yield body

    checked = 0
    for batch, _ in tools.audit.jobs.find_plain_runs(counted(), SHELF, 2):
        checked += len(batch)
        assert read["entries"] - checked <= 20


def end_process(*_):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize("killed_at", [1, 50, 97], ids=["first batch", "in the middle", "near the end"])
def test_a_killed_process_is_an_error_and_gives_no_report(bodies, monkeypatch, killed_at):
    find_runs = PlainGameFinder.find_runs

    def find_runs_or_end(plain_games, batch):
        if b'"sequence":%d,' % killed_at in b"".join(batch):
            end_process()
        return find_runs(plain_games, batch)

    monkeypatch.setattr(tools.audit.jobs, "BATCH_ENTRY_COUNT", 8)
    monkeypatch.setattr(PlainGameFinder, "find_runs", find_runs_or_end)
    with pytest.raises(JobError, match="ended unexpectedly, so the journal was not verified"):
        audit(bodies, jobs=2)


def test_an_exception_in_a_process_names_the_entries_it_was_checking(bodies, monkeypatch):
    def find_runs(_, batch):
        if b'"sequence":21,' in b"".join(batch):
            raise ZeroDivisionError("a fault of the program")
        return []

    monkeypatch.setattr(tools.audit.jobs, "BATCH_ENTRY_COUNT", 8)
    monkeypatch.setattr(tools.audit.jobs, "is_open_game_entry", lambda _: False)
    monkeypatch.setattr(PlainGameFinder, "find_runs", find_runs)
    with pytest.raises(
        JobError, match=r"the check of the entries 17 to 24 failed \(ZeroDivisionError\('a fault"
    ):
        audit(bodies, jobs=2)


def test_a_process_that_cannot_be_started_is_an_error_and_gives_no_report(bodies, monkeypatch):
    def fork():
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(os, "fork", fork)
    with pytest.raises(JobError, match=r"no process can be started for --jobs \(no more processes\)"):
        audit(bodies, jobs=2)


def test_the_command_with_a_killed_process_fails_and_saves_no_point(tmp_path, monkeypatch):
    state, point = make_state(tmp_path / "state"), tmp_path / "point"
    monkeypatch.setattr(PlainGameFinder, "find_runs", end_process)
    result = CliRunner().invoke(
        main, ["audit", "verify", "--state", str(state), "--point", str(point), "--jobs", "2"]
    )
    assert result.exit_code == 1
    assert "ended unexpectedly" in result.output
    assert "nothing wrong" not in result.output
    assert not point.exists()


@pytest.mark.requirement("E-13")
def test_the_command_continues_from_a_point_with_any_number_of_processes(tmp_path):
    state = make_state(tmp_path / "state")
    with open_view(state) as view:
        sequence = view.sequence
    reports = []
    for jobs in ("1", "2"):
        arguments = ["--point", str(tmp_path / f"point-{jobs}"), "--jobs", jobs, "--json"]
        for _ in range(2):
            result = CliRunner().invoke(main, ["audit", "verify", "--state", str(state), *arguments])
            assert result.exit_code == 0, result.output
        report = json.loads(result.output)["first copy"]
        assert (report["entries"], report["games_replayed"]) == (sequence, 60)
        reports.append(report | {"seconds": 0})
    assert reports[0] == reports[1]
