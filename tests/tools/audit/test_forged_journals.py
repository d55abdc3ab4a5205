"""The audit reports every forged journal, whether it was made with the machine's key or without.

Goal: no export signs, and no audit passes, an entry that was edited, removed, reordered or inserted, or a journal of
which both copies were cut. An export of another machine and a changed definition are not accepted as the right ones.
If a machine itself records impossible events in a valid journal, the contradiction between its entries is reported.
"""

import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from journals import CREDIT, append_game, clock, edit, find, insert, make_state, rechain

from meters import Journal, JournalDamaged, Transaction, Transfer, open_view
from meters.copies import SECOND_FOLDER, JournalLocation
from meters.entry import decode
from meters.journal_head import JournalHead, JournalHeadFile
from meters.log import AuthenticatedEntry
from meters.machine_key import MachineKey
from meters.packing import pack_entry, unpack_entry
from meters.storage import DiskStorage
from paytables import load_game
from paytables.definition import read_source as definition_file
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli import main


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    return make_state(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="module")
def bodies(state):
    with open_view(state) as view:
        return list(view.iter_bodies())


@pytest.fixture(scope="module")
def games():
    return GameFiles()


# ---------------------------------------------------------------------------------------------- cheating
@pytest.fixture
def memory_copy(state, tmp_path):
    """A copy of the machine's memory that a test may forge."""
    return shutil.copytree(state, tmp_path / "own")


def rewrite_both_copies(folder, change):
    """Rewrite both copies with the entries that ``change`` returns; compute all hashes and checksums again.

    A forger with the disk but without the key can do no more: the HMACs remain those of other entries.
    """
    with closing(sqlite3.connect(folder / "journal.sqlite")) as connection:
        rows = connection.execute("SELECT seal, body FROM entries ORDER BY sequence").fetchall()
        bodies = change([unpack_entry(body) for _, body in rows])
        seals = [seal for seal, _ in rows] + [b"\0" * 32] * len(bodies)
        entries = [decode(body) for body in rechain(bodies)]
        connection.execute("DROP TRIGGER entries_never_change")
        connection.execute("DROP TRIGGER entries_leave_when_archived")
        connection.execute("DELETE FROM entries")
        for entry, seal in zip(entries, seals, strict=False):
            connection.execute(
                "INSERT INTO entries (sequence, id, kind, ref, hash, seal, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    *(entry.sequence, entry.id, entry.kind, entry.ref, bytes.fromhex(entry.hash_hex), seal),
                    pack_entry(entry.body, entry.previous_hex),
                ),
            )
        connection.commit()
    rewrite_second_copy(folder, map(AuthenticatedEntry, entries, seals))
    return entries


def rewrite_second_copy(folder, sealed_entries):
    """Replace the second copy (the log) by one that contains exactly ``sealed_entries``."""
    log = JournalLocation(DiskStorage(), folder, folder / SECOND_FOLDER).open_log_copy()
    log.scan()
    log.rename_as_evidence(1)
    log.scan()
    for item in sealed_entries:
        log.write(item)
    log.sync()
    log.close()


def run_audit(*words):
    run = CliRunner().invoke(main, ["audit", *map(str, words)])
    return run.exit_code, run.output.replace("\n", " ")


def find_last_game(bodies):
    """Return the index of the last game's end; only the checkpoint of the clean end is signed after it."""
    return find(bodies, "game.end", skip=59)


def make_cheating_entries(bodies):
    index = find_last_game(bodies[:-1])
    tail = bodies[:-1]  # without the signed checkpoint of the clean end, so that no later entry is signed
    other = edit(tail, 1, lambda raw: raw.update(id="b2"))[1]
    return {
        "edit": (edit(tail, index, lambda raw: raw.update(record=raw["record"] | {"note": 1})), index + 1),
        "remove": ([*tail[:index], *tail[index + 1 :]], index + 1),
        "swap": ([*tail[:index], tail[index + 1], tail[index], *tail[index + 2 :]], index + 1),
        "insert": ([*tail[:index], other, *tail[index:]], index + 1),
        "append": ([*tail, other], len(tail) + 1),
    }


@pytest.mark.requirement("E-13", "D-07")
@pytest.mark.parametrize("forgery", ["edit", "remove", "swap", "insert", "append"])
def test_entries_written_without_the_machine_key_are_neither_exported_nor_passed(
    memory_copy, bodies, forgery
):
    """Only the HMACs protect entries after the last signed checkpoint; nothing without a valid HMAC is exported."""
    changed, wrong_at = make_cheating_entries(bodies)[forgery]
    rewrite_both_copies(memory_copy, lambda _: changed)
    key = MachineKey.load(DiskStorage(), memory_copy)
    for folder in (memory_copy, memory_copy / "second"):  # an old signed head, stored for this attack
        JournalHeadFile(DiskStorage(), folder, key, JournalHead(2, decode(bodies[1]).hash_hex)).close()
    code, output = run_audit("export", memory_copy / "export.jsonl", "--state", memory_copy)
    assert (code, (memory_copy / "export.jsonl").exists()) == (1, False)
    assert f"entry {wrong_at}: its HMAC was not made with this machine's key" in output
    code, output = run_audit("verify", "--state", memory_copy)
    assert code == 1
    assert f"entry {wrong_at}: its HMAC was not made with this machine's key" in output
    with pytest.raises(JournalDamaged):
        Journal.open(memory_copy, now=lambda: datetime(2026, 6, 1, tzinfo=UTC))


@pytest.mark.requirement("E-13")
def test_a_journal_with_its_end_cut_off_both_copies_is_neither_exported_nor_passed(memory_copy, bodies):
    rewrite_both_copies(memory_copy, lambda bodies: bodies[:-4])
    for verb in (("export", memory_copy / "export.jsonl"), ("verify",)):
        code, output = run_audit(*verb, "--state", memory_copy)
        assert code == 1
        assert f"ends at entry {len(bodies) - 4}, but entry {len(bodies)} was acknowledged" in output
    (memory_copy / "journal.head").unlink()
    code, output = run_audit("export", memory_copy / "export.jsonl", "--state", memory_copy)
    assert code == 1
    assert f"but entry {len(bodies)} was acknowledged" in output, "the head on the second medium is as good"
    (memory_copy / "second" / "journal.head").unlink()
    code, output = run_audit("export", memory_copy / "export.jsonl", "--state", memory_copy)
    assert code == 1
    assert "every journal head is missing" in output
    # Without a key but with an earlier export, a forger still cannot hide that the export went further.
    early = {len(bodies): decode(bodies[-1]).hash_hex}
    report = Auditor(GameFiles(), early).audit_entries(bodies[:-4])
    assert [f.text for f in report.findings] == [
        f"the journal ends at entry {len(bodies) - 4}, but an earlier export reached entry {len(bodies)}"
    ]


@pytest.mark.requirement("E-13:b")
@pytest.mark.parametrize("missing", [1, 4])
def test_an_end_cut_off_the_second_copy_alone_is_a_finding(memory_copy, missing):
    log = JournalLocation(DiskStorage(), memory_copy, memory_copy / SECOND_FOLDER).open_log_copy()
    sealed_entries = list(log.iter_entries(0))
    log.close()
    rewrite_second_copy(memory_copy, sealed_entries[:-missing])
    code, output = run_audit("verify", "--state", memory_copy)
    cut, last_entry = (item.entry for item in (sealed_entries[-missing - 1], sealed_entries[-1]))
    assert code == 1
    assert (
        f"the journal ends at entry {cut.sequence} ({cut.hash_hex}); "
        f"expected its end at entry {last_entry.sequence} ({last_entry.hash_hex})"
    ) in " ".join(output.split())


@pytest.mark.requirement("E-13")
def test_an_export_of_another_machine_is_not_accepted_as_a_continuation(state, tmp_path):
    ours, theirs = tmp_path / "ours.jsonl", tmp_path / "theirs.jsonl"
    ticks = clock()
    with Journal.open(tmp_path / "other", now=lambda: next(ticks)) as journal:
        for _ in range(70):
            insert(journal, 500)
    assert run_audit("export", ours, "--state", state)[0] == 0
    assert run_audit("export", theirs, "--state", tmp_path / "other")[0] == 0
    assert run_audit("verify", theirs)[0] == 0  # whole, and somebody's
    code, output = run_audit("verify", theirs, "--after", ours)
    assert code == 1
    assert "but an earlier export has" in output
    with open_view(state) as view:
        code, output = run_audit("verify", theirs, "--fingerprint", view.fingerprint)
    assert code == 1
    # Nor do the entries of one under the name and signature of the other.
    spliced = [ours.read_bytes().splitlines()[0], *theirs.read_bytes().splitlines()[1:]]
    (tmp_path / "spliced.jsonl").write_bytes(b"\n".join(spliced) + b"\n")
    code, output = run_audit("verify", tmp_path / "spliced.jsonl")
    assert code == 1
    assert "the key that signed the file is not the one the journal begins with" in output


@pytest.mark.requirement("E-13")
def test_an_altered_definition_does_not_replace_the_one_of_the_same_name(bodies, tmp_path):
    game = definition_file("maple-classic").path.read_text()
    (tmp_path / "maple-classic.toml").write_text(game.replace("3 = 500", "3 = 400"))
    shelf = GameFiles((tmp_path,))
    index = find(bodies, "game.start")
    digest = load_game(tmp_path / "maple-classic.toml").digest
    report = Auditor(shelf).audit_entries(
        edit(bodies, index, lambda raw: raw["record"]["game"].update(digest="f" * 64))
    )
    assert [f.sequence for f in report.findings if "no definition available" in f.text] == [index + 1]
    report = Auditor(shelf).audit_entries(
        edit(bodies, index, lambda raw: raw["record"]["game"].update(digest=digest))
    )
    assert {f.sequence for f in report.findings} <= {
        index + 1,
        index + 2,
    }  # the chain; its outcome is no top award


@pytest.mark.requirement("E-13", "B-08")
@pytest.mark.parametrize(
    ("transfer", "kind", "reason"),
    [
        (("house:win", CREDIT), "event", "500 cents from house:win"),
        (("house:win", CREDIT), "game.choice", "500 cents from house:win"),
        ((CREDIT, "house:wager"), "event", "500 cents from credit:1:cashable to house:wager"),
        (("house:attendant_jackpot", "out:handpay_jackpot"), "handpay.paid", "house:attendant_jackpot"),
        (("house:refund_defect", CREDIT), "event", "house:refund_defect"),
    ],
)
def test_wagers_or_wins_moved_outside_a_game_are_reported_at_their_entry(
    tmp_path, games, transfer, kind, reason
):
    """The journal is complete and signed; only the relation between its entries reveals the fault."""
    ticks, game = clock(), load_game("maple-classic")
    with Journal.open(tmp_path, now=lambda: next(ticks)) as journal:
        insert(journal, 10000)
        append_game(journal, game, 1)
        cheat = Transfer(*transfer, 500)
        sequence = journal.append(
            Transaction(id="x", kind=kind, transfers=(cheat,), record={"play_id": "x"})
        ).sequence
        append_game(journal, game, 2)
    with open_view(tmp_path) as view:
        report = Auditor(games).audit_entries(view.iter_bodies())
    assert reason in next(f.text for f in report.findings if f.sequence == sequence)
    assert {f.sequence for f in report.findings} == {sequence}


@pytest.mark.requirement("E-13", "B-08")
def test_a_game_that_never_ends_and_one_played_for_more_than_its_wager_are_reported(bodies, games):
    start = find(bodies, "game.start")
    report = Auditor(games).audit_entries(list(rechain([*bodies[: start + 1], *bodies[start + 2 :]])))
    assert any("was never ended" in f.text and f.sequence == start + 2 for f in report.findings)
    bigger = edit(
        bodies,
        start,
        lambda raw: raw["record"].update(wager={"credits": 3, "options": {"mode": "line", "level": 3}}),
    )
    report = Auditor(games).audit_entries(bigger)
    assert any("1 credits were bet, but the wager is 3" in f.text for f in report.findings)
