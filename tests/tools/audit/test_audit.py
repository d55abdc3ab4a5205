"""The independent audit has no findings in an honest journal and reports the entry of every fault."""

import io
import json
import random
import re
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from click.testing import CliRunner
from journals import CREDIT, Chance, clock, edit, find, insert, make_state, rechain
from rigs.library import LEVELLESS
from rigs.rounds import play_decisions

from meters import Journal, Transaction, Transfer, export, open_view
from meters.entry import decode
from paytables import Choice, RecordingDrawSource, load_game
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli import main


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    return make_state(tmp_path_factory.mktemp("state"))


def append_game_with_decisions(journal, game, number, generator):
    """Append a game with decisions as a machine does: a start, an entry for each choice, and an end."""
    bet, unit_cents = generator.choice(game.bet_options), game.denominations_cents[0]
    draw = RecordingDrawSource(Chance(number))
    play = play_decisions(game, game.build_wager(bet), draw)
    play_id, seen, choice, kind, outcome = f"play-{journal.sequence + 1}", 0, None, "game.start", None
    taken = 0
    dims = {
        "game": game.id,
        "paytable": f"{game.id}@{game.version}",
        "denomination_cents": unit_cents,
        "wager_level": bet,
    }
    record = {
        "play_id": play_id,
        "game": {"id": game.id, "version": game.version, "digest": game.digest},
        "denomination_cents": unit_cents,
        "bet_credits": bet,
        "wager": game.build_wager(bet).to_json(),
        "language": "en",
        "credit_before_cents": journal.available_cents(CREDIT),
    }
    while outcome is None:
        try:
            decision = next(play) if kind == "game.start" else play.send(Choice(choice))
        except StopIteration as stop:
            outcome = stop.value
        draws = [list(r) for r in draw.records[seen:]]
        seen = len(draw.records)
        ended = {"outcome": None if outcome is None else outcome.to_json()}
        first = kind == "game.start"
        details = (
            record | {"steps": [{"choice": None, "draws": draws}]}
            if first
            else {"choice": choice, "draws": draws}
        )
        journal.append(
            Transaction(
                id=f"{play_id}.start" if first else f"{play_id}.choice-{taken}",
                kind=kind,
                transfers=(Transfer(CREDIT, "house:wager", bet * unit_cents),) if first else (),
                dims=dims if first else {},
                counts={"games_played": 1} if first else {},
                state={"game": {"play_id": play_id}} if first else {},
                record={"play_id": play_id, **details, **ended},
            )
        )
        kind, taken = "game.choice", taken + 1
        choice = None if outcome else generator.choice(decision.options)
    win_cents = outcome.returned_credits * unit_cents
    stakes = [stake * unit_cents for stake in outcome.double_up_stakes]
    sources = ["house:win", *["house:double_up_win"] * len(stakes)]
    if stakes:
        journal.append(
            Transaction(
                id=f"{play_id}.double_up",
                kind="game.double_up",
                transfers=tuple(
                    move
                    for source, cents in zip(sources, stakes, strict=False)
                    for move in (
                        Transfer(source, CREDIT, cents),
                        Transfer(CREDIT, "house:double_up_bet", cents),
                    )
                ),
                dims=dims,
                record={"play_id": play_id, "stakes_cents": stakes},
            )
        )
    journal.append(
        Transaction(
            id=f"{play_id}.end",
            kind="game.end",
            transfers=(Transfer(sources[-1], CREDIT, win_cents),) if win_cents else (),
            dims=dims,
            counts={"games_won" if win_cents else "games_lost": 1},
            state={"game": None, "last_game": {"play_id": play_id, "win_cents": win_cents}},
            record={"play_id": play_id, "win_cents": win_cents},
        )
    )


@pytest.mark.requirement("B-08", "E-02")
@pytest.mark.parametrize("game_id", LEVELLESS)
def test_games_with_random_decisions_of_every_library_game_pass_the_audit(tmp_path, games, game_id):
    """Games with progressive levels are audited in the tests of a machine that has the levels."""
    ticks, generator = clock(), random.Random(game_id)
    game = load_game(game_id)
    assert not game.list_every_level()
    with Journal.open(tmp_path, now=lambda: next(ticks)) as journal:
        insert(journal, 10**7)
        for number in range(12):
            append_game_with_decisions(journal, game, number, generator)
    with open_view(tmp_path) as view:
        report = Auditor(games).audit_entries(view.iter_bodies())
    assert report.findings == []
    assert report.game_count == 12


@pytest.fixture(scope="module")
def bodies(state):
    with open_view(state) as view:
        return list(view.iter_bodies())


@pytest.fixture(scope="module")
def games():
    return GameFiles()


@pytest.mark.requirement("D-02", "E-01", "B-08")
def test_an_honest_journal_passes_and_the_audit_derives_the_same_meters(state, bodies, games):
    report = Auditor(games).audit_entries(bodies)
    assert report.findings == []
    assert report.game_count == 60
    assert report.checkpoint_count >= 5
    with open_view(state) as view:
        assert report.meters == view.meters().values
        assert report.credits_cents == view.credits_cents()


@pytest.mark.requirement("E-13:b", "D-07")
@pytest.mark.parametrize("refit", [False, True], ids=["plain", "rechained"])
@pytest.mark.parametrize("edit_name", ["edit", "remove", "swap", "insert", "repeat"])
def test_any_edited_removed_reordered_or_inserted_entry_is_reported(bodies, games, edit_name, refit):
    index = find(bodies, "game.end")
    changed = {
        "edit": lambda: edit(bodies, index, lambda raw: raw.update(record=raw["record"] | {"note": 1})),
        "remove": lambda: [*bodies[:index], *bodies[index + 1 :]],
        "swap": lambda: [*bodies[: index - 1], bodies[index], bodies[index - 1], *bodies[index + 1 :]],
        "insert": lambda: [
            *bodies[:index],
            edit(bodies, 1, lambda raw: raw.update(id="b2"))[1],
            *bodies[index:],
        ],
        "repeat": lambda: [*bodies[:index], bodies[index], *bodies[index:]],
    }[edit_name]()
    report = Auditor(games).audit_entries(list(rechain(changed)) if refit else changed)
    assert report.finding_count
    # Plain: at the entry or the one after; rechained: at the latest at the next signed checkpoint.
    assert abs(report.findings[0].sequence - (index + 1)) <= (25 if refit else 1)


@pytest.mark.requirement("E-13:b")
def test_an_edit_that_contradicts_nothing_else_breaks_the_chain_at_the_next_entry(bodies, games):
    """The test adds one microsecond to an entry's time; only the hash in the next entry reveals it."""
    index = find(bodies, "game.end")

    def later(raw):
        raw["time"] = re.sub(r"\.(\d{6})", lambda found: f".{int(found[1]) + 1:06d}", raw["time"])

    report = Auditor(games).audit_entries(edit(bodies, index, later))
    reason = f"the hash of entry {index + 1} is"
    assert [(found.sequence, found.text[: len(reason)]) for found in report.findings] == [(index + 2, reason)]


@pytest.mark.requirement("A-25")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda raw: raw["record"]["outcome"].update(win_credits=999), "its settlements add to"),
        (lambda raw: raw["record"]["outcome"]["display"].update(credits=999), "outcome differs"),
        (lambda raw: raw["record"]["steps"][0]["draws"].pop(), "cannot be replayed"),
        (lambda raw: raw["record"]["steps"][0]["draws"].append([7, 1, "spare"]), "cannot be replayed"),
        (lambda raw: raw["record"]["steps"][0]["draws"][0].__setitem__(0, 7), "cannot be replayed"),
        (lambda raw: raw["record"].update(bet_credits=99), "transfers: expected"),
        (lambda raw: raw["record"]["game"].update(digest="0" * 64), "no definition available"),
        (lambda raw: raw["record"].pop("wager"), "cannot be read"),
        (lambda raw: raw["record"]["wager"]["options"].pop("mode"), "does not accept the wager"),
    ],
)
def test_a_game_that_does_not_replay_as_recorded_is_reported_at_its_entry(bodies, games, change, reason):
    index = find(bodies, "game.start")
    report = Auditor(games).audit_entries(edit(bodies, index, change))
    assert {f.sequence for f in report.findings if reason in f.text} == {index + 1}


@pytest.mark.requirement("A-25")
def test_a_draw_that_no_decision_uses_is_reported(tmp_path, games):
    """The audit replays a game decision by decision, each with its own draws."""
    ticks = clock()
    with Journal.open(tmp_path, now=lambda: next(ticks)) as journal:
        insert(journal, 10**7)
        append_game_with_decisions(journal, load_game("quebec-red-dog"), 1, random.Random(1))
    with open_view(tmp_path) as view:
        bodies = list(view.iter_bodies())
    index = find(bodies, "game.choice", skip=0)
    report = Auditor(games).audit_entries(
        edit(bodies, index, lambda raw: raw["record"]["draws"].append([7, 1, "spare"]))
    )
    assert any(f.sequence == index + 1 and "cannot be replayed" in f.text for f in report.findings)


@pytest.mark.requirement("A-25")
def test_a_win_that_differs_from_the_outcome_is_reported(bodies, games):
    won = next(n for n, body in enumerate(bodies) if b"house:win" in body and b"game.end" in body)
    report = Auditor(games).audit_entries(
        edit(bodies, won, lambda raw: raw["transfers"][0].__setitem__(2, 77777))
    )
    assert any(f.sequence == won + 1 and "the win is" in f.text for f in report.findings)


def test_an_export_is_signed_and_self_contained(state, tmp_path):
    file = tmp_path / "machine.jsonl"
    run = CliRunner().invoke(main, ["audit", "export", str(file), "--state", str(state)])
    assert run.exit_code == 0, run.output
    run = CliRunner().invoke(main, ["audit", "verify", str(file), "--json"])
    assert run.exit_code == 0, run.output
    (report,) = json.loads(run.output).values()
    assert report["ok"]
    assert report["games_replayed"] == 60
    run = CliRunner().invoke(main, ["audit", "verify", str(file), "--fingerprint", "0000-0000-0000-0000"])
    assert run.exit_code == 1
    assert "0000-0000-0000-0000" in run.output


@pytest.mark.parametrize("flips", [20, pytest.param(60, marks=pytest.mark.slow)])
def test_every_flipped_byte_of_an_export_is_detected(state, tmp_path, games, flips):
    with open_view(state) as view:
        buffer = io.BytesIO()
        from meters.machine_key import MachineKey
        from meters.storage import DiskStorage

        export.write_export(
            view, MachineKey.load(DiskStorage(), state), buffer, datetime(2026, 6, 1, tzinfo=UTC)
        )
    exported = buffer.getvalue()
    rng = random.Random(3)
    file = tmp_path / "flipped.jsonl"
    for _ in range(flips):
        offset = rng.randrange(len(exported))
        file.write_bytes(
            exported[:offset] + bytes([exported[offset] ^ (1 << rng.randrange(8))]) + exported[offset + 1 :]
        )
        run = CliRunner().invoke(main, ["audit", "verify", str(file), "--json"])
        assert run.exit_code == 1, f"byte {offset}"


def test_a_journal_that_contradicts_an_earlier_export_is_reported(state, bodies, games):
    early = decode(bodies[20])
    assert Auditor(games, {21: early.hash_hex}).audit_entries(bodies).finding_count == 0
    assert (
        "but an earlier export has" in Auditor(games, {21: "f" * 64}).audit_entries(bodies).findings[0].text
    )
    assert "earlier export reached" in Auditor(games, {9999: "f" * 64}).audit_entries(bodies).findings[0].text


def test_both_copies_in_the_state_folder_are_verified(state):
    run = CliRunner().invoke(main, ["audit", "verify", "--state", str(state), "--json"])
    assert run.exit_code == 0, run.output
    reports = json.loads(run.output)
    assert reports["first copy"]["head"] == reports["second copy"]["head"]


@pytest.mark.requirement("D-16", "K-14")
def test_meters_are_read_while_the_machine_plays(tmp_path):
    ticks = clock()
    with Journal.open(tmp_path, now=lambda: next(ticks)) as journal:
        for number in range(1, 4):
            journal.append(
                Transaction(id=f"b{number}", kind="bill.in", transfers=(Transfer("world:bill", CREDIT, 500),))
            )
            run = CliRunner().invoke(main, ["meters", "--state", str(tmp_path), "--json"])
            assert run.exit_code == 0, run.output
            read = json.loads(run.output)
            assert read["meters"]["bill_in.value"] == 500 * number
            assert read["sequence"] == journal.sequence
        run = CliRunner().invoke(main, ["meters", "--state", str(tmp_path), "--names", "mc"])
        assert "0000001500" in run.output
        run = CliRunner().invoke(
            main, ["meters", "--state", str(tmp_path), "--where", "position=2", "--json"]
        )
        assert json.loads(run.stdout)["meters"]["bill_in.value"] == 0
        assert run.stderr == "egm: no meter of this machine has position=2; there are: 1\n"
        run = CliRunner().invoke(main, ["meters", "--state", str(tmp_path), "--by", "colour"])
        assert "no meter of this machine has the dimension 'colour'; there are: " in run.stderr


@pytest.mark.requirement("D-24", "D-05:a", "D-05:c", "D-06")
def test_meters_are_shown_in_money_or_in_credits_with_their_unit(tmp_path):
    ticks = clock()
    with Journal.open(tmp_path, now=lambda: next(ticks)) as journal:
        journal.append(Transaction(id="b1", kind="bill.in", transfers=(Transfer("world:bill", CREDIT, 507),)))

        def row(meter, *options):
            run = CliRunner().invoke(main, ["meters", "--state", str(tmp_path), *options])
            return next(
                re.split(r"\s{2,}", line)
                for line in run.output.splitlines()
                if line.strip().startswith(meter)
            )

        assert [c.strip() for c in row("bill_in.value")] == ["bill_in.value", "0000000507", "cents"]
        assert [c.strip() for c in row("bill_in.value", "--credit", "25", "--digits", "7")] == [
            "bill_in.value",
            "0000020",
            "credits of 25 cents",
        ]
        assert [c.strip() for c in row("bill_in.count", "--credit", "25")][1:] == ["0000000001", "times"]
        assert [c.strip() for c in row("bill_in.value", "--digits", "2")][1:] == ["07", "cents"]
        split = row("bill_in.value", "--by", "position", "--credit", "25")
        assert [c.strip() for c in split][1:] == ["1", "0000000020", "credits of 25 cents"]
        rolled = row("bill_in.value", "--credit", "25", "--digits", "1")
        assert [c.strip() for c in rolled][1:] == ["0", "credits of 25 cents"]
        assert [c.strip() for c in row("Coin In", "--names", "us")][1:] == ["0000000000", "cents"]
        assert [c.strip() for c in row("Games Played", "--names", "us")][1:] == ["0000000000", "times"]


@pytest.mark.requirement("D-21", "K-08")
def test_a_statement_counts_from_a_signed_readout(tmp_path):
    ticks = clock()
    state, file = tmp_path / "state", tmp_path / "monday.json"
    with Journal.open(state, now=lambda: next(ticks)) as journal:
        journal.append(Transaction(id="b1", kind="bill.in", transfers=(Transfer("world:bill", CREDIT, 500),)))
        run = CliRunner().invoke(main, ["meters", "--state", str(state), "--json", "--sign"])
        file.write_text(run.output)
        journal.append(
            Transaction(id="b2", kind="bill.in", transfers=(Transfer("world:bill", CREDIT, 2000),))
        )
        run = CliRunner().invoke(main, ["audit", "readout", str(file)])
        assert journal.fingerprint in run.output.replace("\n", "")
        run = CliRunner().invoke(main, ["meters", "--state", str(state), "--since", str(file), "--json"])
        assert json.loads(run.output)["meters"]["bill_in.value"] == 2000
        assert json.loads(run.output)["meters"]["bill_in.count"] == 1
    file.write_text(file.read_text().replace('"bill_in.value": 500', '"bill_in.value": 400'))
    run = CliRunner().invoke(main, ["audit", "readout", str(file)])
    assert run.exit_code == 1
    assert "signature" in run.output
    run = CliRunner().invoke(main, ["meters", "--state", str(tmp_path / "state"), "--since", __file__])
    assert run.exit_code == 1
    assert "not a readout" in run.output.replace("\n", " ")


@pytest.mark.parametrize(
    "change",
    [{"sequence": n} for n in (10**30, 0, -1, float("inf"), 1.0, "1", True, None)]
    + [{"meters": {"bill_in.value": amount}} for amount in (float("inf"), float("nan"), "500", 0.5)],
    ids=str,
)
def test_a_readout_with_a_number_that_no_meter_has_is_refused_by_its_file_name(state, tmp_path, change):
    readout = json.loads(CliRunner().invoke(main, ["meters", "--state", str(state), "--json"]).output)
    file = tmp_path / "readout.json"
    file.write_text(json.dumps({**readout, **change}))
    answer = CliRunner().invoke(main, ["meters", "--state", str(state), "--since", str(file)])
    assert answer.exit_code == 1
    assert f"Error: {file}: not a readout of" in answer.output.replace("\n", "")


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ((), ("--names", "us")),
        (("--names", "us"), ()),
        ((), ("--where", "position=1")),
        (("--where", "position=1"), ()),
        (("--where", "position=1"), ("--where", "position=2")),
    ],
    ids=str,
)
def test_a_readout_of_other_meters_is_refused(state, tmp_path, earlier, later):
    def read(*options):
        return CliRunner().invoke(main, ["meters", "--state", str(state), *options])

    file = tmp_path / "readout.json"
    file.write_text(read("--json", *earlier).output)
    assert read("--since", str(file), *earlier).exit_code == 0
    answer = read("--since", str(file), *later)
    assert answer.exit_code == 1
    assert f"Error: {file}: not a readout of the same meters" in answer.output.replace("\n", "")


def test_a_difference_of_readouts_is_refused_as_a_readout(state, tmp_path):
    readout, added = tmp_path / "readout.json", tmp_path / "added.json"
    read = ["meters", "--state", str(state), "--json"]
    readout.write_text(CliRunner().invoke(main, read).output)
    added.write_text(CliRunner().invoke(main, [*read, "--since", str(readout)]).output)
    answer = CliRunner().invoke(main, [*read, "--since", str(added)])
    assert answer.exit_code == 1
    assert f"Error: {added}: a difference (--since), which cannot serve as a start" in answer.output.replace(
        "\n", ""
    )


@pytest.mark.requirement("E-01", "E-04", "E-09")
def test_event_logs_plays_and_entries_are_recalled(state):
    run = CliRunner().invoke(main, ["audit", "log", "plays", "--last", "10", "--state", str(state), "--json"])
    plays = json.loads(run.output)
    assert [p["entry"] for p in plays] == sorted((p["entry"] for p in plays), reverse=True)
    assert len(plays) == 10
    assert all(p["outcome"]["display"] and p["steps"] == [] for p in plays)
    for later, earlier in pairwise(plays):
        added_cents = sum(later["added_cents"].values())
        assert later["credit_before_cents"] == earlier["credit_after_cents"] + added_cents
    run = CliRunner().invoke(main, ["audit", "log", "events", "--state", str(state), "--json"])
    assert [row["kind"] for row in json.loads(run.output)] == [
        "voucher.request",
        "bill.confirmed",
        "bill.in",
        "bill.escrow",
    ]
    run = CliRunner().invoke(main, ["audit", "entry", "2", "--state", str(state)])
    assert json.loads(run.output)["id"] == "bill-2"


@pytest.mark.requirement("E-09")
def test_an_entry_of_an_exported_journal_is_printed(state, tmp_path):
    file = tmp_path / "audit.jsonl"
    assert CliRunner().invoke(main, ["audit", "export", str(file), "--state", str(state)]).exit_code == 0

    def print_entry(number, *source):
        return CliRunner().invoke(main, ["audit", "entry", number, *map(str, source)])

    exported = print_entry("2", "--file", file)
    assert exported.exit_code == 0
    assert exported.output == print_entry("2", "--state", state).output
    absent = print_entry("999999", "--file", file)
    assert absent.exit_code == 1
    assert "there is no entry 999999" in absent.output
    file.write_bytes(file.read_bytes().rpartition(b'{"sha256"')[0])
    cut_off = print_entry("2", "--file", file)
    assert cut_off.exit_code == 1
    assert "bill-2" not in cut_off.output
    assert "the footer is missing" in cut_off.output.replace("\n", " ")


def test_a_missing_machine_is_reported_by_its_folder(tmp_path):
    for verb in (
        ["meters"],
        ["audit", "verify"],
        ["audit", "log", "plays"],
        ["audit", "export", str(tmp_path / "x")],
    ):
        run = CliRunner().invoke(main, [*verb, "--state", str(tmp_path / "none")])
        assert run.exit_code == 1
        assert str(tmp_path / "none") in run.output.replace("\n", "")
