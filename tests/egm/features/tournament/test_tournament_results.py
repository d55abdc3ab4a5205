"""The results of a tournament over two machines, from exported journals, and the audit's findings in false ones."""

import json
from collections import defaultdict
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction

import pytest
from click.testing import CliRunner
from rigs.lies import KEY, audit_findings, read_signed_entries, remove_entries
from rigs.tournament import FEE_CENTS, Hall, describe_machine

from egm.features.tournament.results import derive_results
from egm.features.tournament.rules import parse_rules
from egm.features.tournament.standings import ResultsError, rank_participants_of_round
from egm.kernel.events import EventType, State
from egm.testing.machine import ScriptedGenerator
from tools.audit import saved_state
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli import main
from tools.dev.lies import compute_journal_tag, rewrite_chain

#: Stops of maple-classic that pay.
WON = (23, 7, 5)
GAMES = 20
RULES = describe_machine(
    ('"A-102"', '"8"'),
    ("games = 100", f"games = {GAMES}"),
    ("minutes = 20", "games = 30"),
    ('ties = "share"', 'ties = "best-game"'),
    ('interrupted = "replay"', 'interrupted = "points-so-far"'),
)


def run(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def read_bodies(hall):
    return [json.loads(body) for body in hall.room.journal.iter_bodies()]


def sum_rounds(*journals):
    """Return points and best game of each (entry, round), and the participants, from the transfers alone."""
    points, best, people, sold = defaultdict(int), defaultdict(int), {}, 0
    for entries in journals:
        playing = {}
        for entry in entries:
            position = entry.get("dims", {}).get("position", 1)
            if entry["kind"] == "tournament.round":
                record = entry["record"]
                playing[position] = record["entry"], record["round"]
                people[record["entry"]] = record["participant"]
                points[playing[position]] += 0
            for source, target, amount, *_ in entry.get("transfers", ()):
                sold += amount if target == "fees:sold" else 0
                if source == "tournament:win":
                    points[playing[position]] += amount
                    best[playing[position]] = max(best[playing[position]], amount)
    return points, best, people, sold


def rank(points, best, people, failed, number):
    """Return a round's participants, the best first, each with the entry that counts."""
    rows = {}
    for (entry, round_number), total in points.items():
        if round_number == number:
            key = (0, 0) if (entry, round_number) in failed else (total, best[entry, round_number])
            rows[people[entry]] = max(rows.get(people[entry], ((-1, -1), 0)), (key, -entry))
    ranked = sorted(rows.items(), key=lambda row: row[1], reverse=True)
    assert len({key for _, (key, _) in ranked}) == len(ranked), "a tie: choose other games"
    return [(person, -entry, key[0]) for person, (key, entry) in ranked]


@pytest.mark.requirement("L-01", "L-02:a", "L-05", "L-07")
def test_eight_positions_of_two_machines_a_failed_position_a_re_entry_and_power_cuts(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    first = Hall(tmp_path / "first", RULES, count=4).enter()
    second = Hall(tmp_path / "second", RULES, count=4, number="8").enter()
    room_1, room_2, room_3, room_4 = first.rooms
    assert first.sell(1, "P-1", room_1) is None
    assert first.sell(2, "P-2", room_2) is None
    assert first.sell(3, "P-3", room_3) is None
    assert second.sell(4, "P-4", second.rooms[0]) is None
    assert second.sell(5, "P-1", second.rooms[1]) is None
    assert first.sell(6, "P-5", room_4) is None
    assert second.sell(7, "P-6", second.rooms[2]) is None
    assert second.sell(8, "P-7", second.rooms[3]) is None
    for hall in (first, second):
        hall.open_play()
    for _ in range(3):
        for rig in first.rooms:
            first.play_round(rig, games=1)
    first.rooms[1].play()
    assert first.rooms[1].state is State.PLAYING
    first.cut_power()
    assert first.end("failed", first.rooms[2]) is None
    for number in (0, 1, 3):
        first.play_round(first.rooms[number])
    for rig in second.rooms[1:]:
        second.play_round(rig)
    second.play_round(second.rooms[0], games=12)
    second.rooms[0].engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    assert second.rooms[0].state is State.TILT
    second.rooms[0].engine.handle(EventType.KEY_TURNED, key="attendant")
    assert second.end("interrupted", second.rooms[0]) is None
    points, best, people, sold = sum_rounds(read_bodies(first), read_bodies(second))
    failed = {(3, 1)}
    after_first = rank(points, best, people, failed, 1)
    assert sold == 8 * FEE_CENTS
    for rig, (person, entry, _) in zip(first.rooms, after_first[:2], strict=False):
        assert first.begin(entry, person, 2, rig) is None  # also an entry that was sold at the other machine
        first.play_round(rig)
    points, best, people, _ = sum_rounds(read_bodies(first), read_bodies(second))
    final = [*rank(points, best, people, failed, 2), *after_first[2:]]
    shares = [
        Fraction(1, 4) * sold,
        Fraction(1, 20) * sold,
        Fraction(1000),
        *(Fraction(0) for _ in final[3:]),
    ]
    exports = []
    for hall in (first, second):
        assert hall.fill("tournament_leave") is None
        meters = hall.room.journal.meters().values
        assert (meters["coin_in"], meters["games_played"], meters["money_in"]) == (0, 0, 0)
        hall.room.close()
        exports.append(hall.folder / "export.jsonl")
        run("audit", "export", "--state", hall.file, exports[-1])
    results = tmp_path / "results.json"
    assert "8 entries" in run("tournament", "results", first.rules.path, results, *exports)
    settled = json.loads(run("tournament", "settle", first.rules.path, results, "--json"))
    assert [
        (row["rank"], row["participant"], row["entry"], row["points"], row["prize_cents"])
        for row in settled["standings"]
    ] == [(n, *row, shares[n - 1]) for n, row in enumerate(final, 1)]
    assert settled["sold_cents"] == sold
    assert settled["prizes_cents"] >= sold * 30 // 100


@pytest.fixture
def played(tmp_path):
    """The entries of an honest tournament of two games, which the tests falsify."""
    hall = Hall(tmp_path, describe_machine(("games = 100", "games = 2"))).enter()
    hall.sell(1, "P-1")
    hall.open_play().play_round()
    assert hall.fill("tournament_leave") is None
    hall.room.insert(500).play()
    hall.room.report_shown()
    return read_signed_entries(hall.room)


def find(entries, kind):
    return next(entry for entry in entries if entry["kind"] == kind)


def change_rules(entries):
    entry = find(entries, "tournament.rules")
    text = entry["record"]["text"].replace("points = 300", "points = 400")
    entry["record"]["text"] = entry["state"]["tournament_rules"]["text"] = text


def change_fee(entries):
    entry = find(entries, "tournament.entry")
    entry["record"]["fee_cents"] = entry["transfers"][0][2] = 4000


def change_points(entries):
    entry = find(entries, "tournament.round")
    entry["record"]["points"] = entry["transfers"][0][2] = 301


def change_win(entries):
    entry = find(entries, "tournament.game_end")
    won = entry["record"]["won_points"] + 60
    entry["record"]["won_points"] = won
    entry["transfers"] = [["tournament:win", "tournament:won:1", won]]


def change_draw(entries):
    draw = find(entries, "tournament.game")["record"]["steps"][0]["draws"][0]
    draw[1] = (draw[1] + 1) % draw[0]


def change_purse(entries):
    purse = find(entries, "tournament.game_end")["state"]["purse"]
    purse["best_points"] = purse["won_points"] = purse.get("won_points", 0) + 1


def change_result(entries):
    find(entries, "tournament.round_end")["record"]["points"] += 5


def change_status(entries):
    entry = find(entries, "tournament.round_end")
    entry["record"]["status"] = entry["state"]["purse"]["ending"] = "failed"


def add_person(entries):
    find(entries, "tournament.round_end")["record"]["persons"] = ["100"]


def change_participant(entries):
    find(entries, "tournament.round_end")["record"]["participant"] = "P-2"


def change_seller(entries):
    find(entries, "tournament.entry")["record"]["persons"] = []


def change_selected_credit(entries):
    find(entries, "tournament.round")["state"]["selection"]["denomination_cents"] = 100


def change_selected_game(entries):
    find(entries, "tournament.round")["state"]["selection"]["game_id"] = "maple-classic-95"


def change_points_before(entries):
    find(entries, "tournament.game")["record"]["credit_before_cents"] += 5


def change_credit(entries):
    record = find(entries, "tournament.game")["record"]
    record["denomination_cents"], record["credit_before_cents"] = 100, 30_000


def change_version(entries):
    find(entries, "tournament.game")["record"]["game"]["version"] = "9.9.9"


def change_number(entries):
    find(entries, "tournament.rules")["record"]["number"] = "9"


@pytest.mark.requirement("L-07", "E-13:a")
@pytest.mark.parametrize(
    ("change", "kind", "reason"),
    [
        (change_selected_credit, "tournament.round", "state.selection: expected a game of"),
        (change_selected_game, "tournament.round", "state.selection: expected a game of"),
        (change_points_before, "tournament.game", "record.credit_before_cents: expected 1500"),
        (change_credit, "tournament.game", "record.denomination_cents: expected a game of"),
        (change_version, "tournament.game", "record.game.version: expected"),
        (change_number, "tournament.rules", "record.number: the rules do not list machine 9"),
        (change_rules, "tournament.rules", "record.digest is not the SHA-256"),
        (change_fee, "tournament.entry", "expected 5000 by the rules"),
        (change_points, "tournament.round", "expected 300 by the rules"),
        (change_win, "tournament.game_end", "record.won_points and record.push_points: expected"),
        (change_draw, "tournament.game", "record.outcome differs"),
        (change_purse, "tournament.game_end", "state.purse: expected"),
        (change_result, "tournament.round_end", "points, best_game and games: expected"),
        (change_status, "tournament.round_end", "a round with status"),
        (add_person, "tournament.round_end", "has no persons and no reason"),
        (change_participant, "tournament.round_end", "points, best_game and games: expected"),
        (change_seller, "tournament.entry", "persons"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_the_audit_names_a_changed_entry(played, change, kind, reason):
    assert audit_findings(played) == {}
    lied = deepcopy(played)
    change(lied)
    entry_number = next(n for n, entry in enumerate(lied, 1) if entry["kind"] == kind)
    findings = audit_findings(lied)
    assert reason in findings[entry_number], findings


@pytest.mark.parametrize(
    "kind", ["tournament.entered", "tournament.left", "tournament.round", "tournament.game"]
)
def test_the_audit_reports_a_missing_entry(played, kind):
    assert audit_findings(remove_entries(played, kind)) != {}


@pytest.mark.requirement("L-07")
def test_a_game_with_credits_in_the_tournament_is_named(played):
    """Without the end of the tournament in the journal, the following game would have been played in it."""
    lied = remove_entries(played, "tournament.left")
    entry_number = next(n for n, entry in enumerate(lied, 1) if entry["kind"] == "game.start")
    assert "not allowed while the machine is tournament" in audit_findings(lied)[entry_number]


def test_an_audit_may_pause_anywhere_in_a_tournament(tmp_path):
    rules = describe_machine(("games = 100", "games = 2"), game="jacks-or-better-9-6", bet=5)
    hall = Hall(tmp_path, rules, games=("jacks-or-better-9-6",)).enter()
    hall.sell(1, "P-1")
    hall.open_play()
    for _ in range(2):
        hall.room.play()
        hall.room.engine.handle(EventType.CHOOSE, value=3)
        hall.room.report_shown()
    assert hall.fill("tournament_leave") is None
    bodies = list(hall.room.journal.iter_bodies())
    hall.room.close()
    report = Auditor(GameFiles()).audit_entries(bodies)
    assert (report.findings, report.game_count) == ([], 2)
    for pause in range(1, len(bodies)):
        first = Auditor(GameFiles())
        assert first.audit_entries(bodies[:pause]).findings == []
        saved_state.save_auditor(first, tmp_path / "point")
        second = saved_state.load_auditor(tmp_path / "point", GameFiles()).audit_entries(bodies[pause:])
        assert (second.findings, second.game_count) == ([], 2), pause


ONE_MACHINE = describe_machine(("games = 100", "games = 2"))


def derive(digest, journals, **options):
    return derive_results(parse_rules(ONE_MACHINE), digest, journals, absent_machines=("A-102",), **options)


@pytest.mark.requirement("L-05")
def test_results_need_a_journal_of_every_machine_of_the_rules(tmp_path):
    hall = Hall(tmp_path, ONE_MACHINE).enter()
    hall.sell(1, "P-1")
    hall.open_play().play_round()
    (installed,) = hall.room.records("tournament.rules")
    entries, rules = [*hall.room.journal.entries()], parse_rules(ONE_MACHINE)
    hall.room.close()
    with pytest.raises(ResultsError, match=r"no export of A-102 .*: --without A-102"):
        derive_results(rules, installed["digest"], {"a": entries})
    with pytest.raises(ResultsError, match="machine X-1: it is not in the rules"):
        derive_results(rules, installed["digest"], {"a": entries}, absent_machines=("X-1",))
    with pytest.raises(ResultsError, match="no export of 7 with these rules"):
        derive_results(rules, "0" * 64, {"a": entries}, absent_machines=("A-102",))
    export, results = tmp_path / "export.jsonl", tmp_path / "results.json"
    run("audit", "export", "--state", hall.file, export)
    result = CliRunner().invoke(
        main, ["tournament", "results", *map(str, (hall.rules.path, results, export))]
    )
    assert (result.exit_code, results.exists()) == (1, False)
    assert "--without A-102" in result.output
    assert "1 entry" in run("tournament", "results", hall.rules.path, results, export, "--without", "A-102")


@pytest.mark.requirement("L-05")
def test_a_voided_entry_sold_elsewhere_belongs_to_the_new_buyer(tmp_path):
    halls = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        halls.append(Hall(tmp_path / name, RULES, number="7" if name == "first" else "8").enter())
    first, second = halls
    assert first.sell(1, "P-1", start="later") is None
    assert first.fill("tournament_void", entry=1, reason="bought by mistake") is None
    assert second.sell(1, "P-2") is None
    second.open_play().play_round()
    digest = second.room.records("tournament.rules")[0]["digest"]
    journals = {name: [*hall.room.journal.entries()] for name, hall in zip("ab", halls, strict=True)}
    for order in (journals, dict(reversed(journals.items()))):
        (entry,) = derive_results(parse_rules(RULES), digest, order).entries
        assert (entry.entry_number, entry.participant, entry.rounds[0].status) == (1, "P-2", "complete")
    for hall in halls:
        hall.room.close()


@pytest.mark.requirement("L-05")
def test_a_round_recorded_for_another_name_counts_once_somebody_has_confirmed_it(tmp_path):
    halls = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        halls.append(Hall(tmp_path / name, RULES, number="7" if name == "first" else "8").enter())
    first, second = halls
    assert first.sell(1, "P-07", start="later") is None
    second.open_play()
    assert second.begin(1, "P-7", 1) is None
    second.play_round()
    digest = second.room.records("tournament.rules")[0]["digest"]
    journals = {name: [*hall.room.journal.entries()] for name, hall in zip("ab", halls, strict=True)}
    reason = r"sold to P-07 at a, and b recorded round 1 for P-7; .* give --renamed 1"
    with pytest.raises(ResultsError, match=reason):
        derive_results(parse_rules(RULES), digest, journals)
    (entry,) = derive_results(parse_rules(RULES), digest, journals, renamed_entries=(1,)).entries
    assert (entry.participant, entry.rounds[0].status) == ("P-07", "complete")
    for hall in halls:
        hall.room.close()


#: Two rounds of one game each; one participant reaches the second.
TWO_ROUNDS = describe_machine(
    ('"A-102"', '"8"'),
    ("games = 100", "games = 1"),
    ("minutes = 20", "games = 1"),
    ("advance = 2", "advance = 1"),
    ("participants_min = 3", "participants_min = 2"),
)


@pytest.fixture
def tied(tmp_path):
    """Two entries with equal results after the first round, and the export of their machine."""
    hall = Hall(tmp_path, TWO_ROUNDS, generator=ScriptedGenerator(*WON * 8)).enter()
    assert hall.sell(1, "P-1") is None
    assert hall.sell(2, "P-2", start="later") is None
    hall.open_play().play_round()
    assert hall.begin(2, "P-2", 1) is None
    hall.play_round()
    yield hall
    hall.room.close()


def export_of(hall):
    hall.room.close()
    path = hall.folder / "export.jsonl"
    run("audit", "export", "--state", hall.file, path)
    return path


def refuse(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 1, result.output
    return result.output


@pytest.mark.requirement("L-05")
def test_the_standings_of_a_round_say_who_goes_on_and_an_absent_entry_has_failed(tied):
    assert tied.begin(1, "P-1", 2) is None
    tied.play_round()
    export, results = export_of(tied), tied.folder / "results.json"
    rules, given = tied.rules.path, ("--without", "8")
    after_first = json.loads(run("tournament", "standings", rules, export, *given, "--json"))
    assert [(row["rank"], row["entry"], row["goes_on"]) for row in after_first["standings"]] == [
        (1, 1, "yes"),
        (1, 2, "yes"),
    ]
    assert "Round 2: 2 participants" in run("tournament", "standings", rules, export, *given)
    run("tournament", "results", rules, results, export, *given)
    assert "--absent 2:2" in refuse("tournament", "settle", rules, results)
    results.unlink()
    run("tournament", "results", rules, results, export, *given, "--absent", "2:2")
    settled = json.loads(run("tournament", "settle", rules, results, "--json"))
    assert [row["entry"] for row in settled["standings"]] == [1, 2]
    assert "'2' is not ENTRY:ROUND" in refuse(
        "tournament", "standings", rules, export, *given, "--absent", "2"
    )


@pytest.mark.requirement("L-05")
def test_a_round_that_was_given_by_mistake_counts_for_nothing_once_staff_say_so(tied):
    assert tied.begin(9, "P-9", 1) is None
    assert tied.end("failed") is None
    export, results = export_of(tied), tied.folder / "results.json"
    rules, given = tied.rules.path, ("--without", "8")
    assert "no journal records its sale" in refuse("tournament", "results", rules, results, export, *given)
    run("tournament", "results", rules, results, export, *given, "--ignore", f"9:1:{export}")
    assert [entry["entry"] for entry in json.loads(results.read_text())["entries"]] == [1, 2]
    assert "has no round 3 of it to ignore" in refuse(
        "tournament", "standings", rules, export, *given, "--ignore", f"9:3:{export}"
    )


@pytest.mark.requirement("L-08")
@pytest.mark.parametrize(
    ("game", "bet", "denomination_cents", "reason"),
    [
        ("maple-classic", 99, 5, "maple-classic has no wager of 99 credits"),
        ("quebec-texas-holdem-room", 160, 25, "cannot be played by one position alone"),
        ("monaco-chemin-de-fer", 20, 100, "cannot be played by one position alone"),
    ],
)
def test_rules_of_a_game_that_no_machine_could_install_are_refused_before_they_are_published(
    tmp_path, game, bet, denomination_cents, reason
):
    rules = tmp_path / "rules.toml"
    rules.write_text(describe_machine(game=game, bet=bet, denomination_cents=denomination_cents))
    assert reason in refuse("tournament", "check", rules, "--today", "2027-02-01")


def test_results_of_false_or_other_journals_are_refused(tmp_path):
    hall = Hall(tmp_path, ONE_MACHINE).enter()
    hall.sell(1, "P-1")
    hall.open_play().play_round()
    entries = list(hall.room.journal.entries())
    digest = hall.room.records("tournament.rules")[0]["digest"]
    with pytest.raises(ResultsError, match="sold at a and at b"):
        derive(digest, {"a": entries, "b": entries})
    unsold = [entry for entry in entries if entry.kind != "tournament.entry"]
    with pytest.raises(ResultsError, match="no journal records its sale"):
        derive(digest, {"a": unsold})
    with pytest.raises(ResultsError, match="it ended at a and at b"):
        derive(digest, {"a": entries, "b": unsold})
    (entry,) = derive(digest, {"a": entries}).entries
    assert (
        entry.entry_number,
        entry.participant,
        [played_round.status for played_round in entry.rounds],
    ) == (
        1,
        "P-1",
        ["complete"],
    )
    before = [entry for entry in entries if entry.kind != "tournament.round_end"]
    (entry,) = derive(digest, {"a": before}).entries
    assert [played_round.status for played_round in entry.rounds] == ["interrupted"]
    hall.room.close()
    export, false = tmp_path / "export.jsonl", tmp_path / "false.jsonl"
    run("audit", "export", "--state", hall.file, export)
    text = export.read_text(encoding="utf-8")
    false.write_text(text.replace('"participant":"P-1"', '"participant":"P-2"'), encoding="utf-8")
    result = CliRunner().invoke(
        main, ["tournament", "results", str(hall.rules.path), str(tmp_path / "r.json"), str(false)]
    )
    assert result.exit_code == 1
    assert "egm audit verify" in result.output
    assert not (tmp_path / "r.json").exists()


@pytest.fixture
def two_machines(tmp_path):
    """Two machines of a tournament: three entries sold at the second, two rounds played at the first."""
    halls = []
    for name, number in (("first", "7"), ("second", "8")):
        (tmp_path / name).mkdir()
        halls.append(Hall(tmp_path / name, TWO_ROUNDS, number=number).enter())
    first, second = halls
    for entry in (1, 2, 3):
        assert second.sell(entry, f"P-{entry}", start="later") is None
    for hall in halls:
        hall.open_play()
    assert first.begin(1, "P-1", 1) is None
    first.play_round()
    assert first.begin(2, "P-2", 2) is None  # the attendant typed 2 for 1
    first.play_round()
    yield halls
    for hall in halls:
        hall.room.close()


def derive_of(halls, **options):
    digest = halls[0].room.records("tournament.rules")[0]["digest"]
    journals = {name: [*hall.room.journal.entries()] for name, hall in zip("ab", halls, strict=False)}
    return derive_results(parse_rules(TWO_ROUNDS), digest, journals, **options)


@pytest.mark.requirement("L-05")
def test_a_round_without_the_round_before_is_refused_and_its_points_are_not_dropped(two_machines):
    reason = (
        r"entry 2: round 1 is in none of the journals, but round 2 is; .* --absent 2:1; .* --ignore 2:2:a$"
    )
    with pytest.raises(ResultsError, match=reason):
        derive_of(two_machines)
    _, second, _ = derive_of(two_machines, absent_rounds=[(2, 1)]).entries
    assert [played_round.status for played_round in second.rounds] == ["failed", "complete"]
    _, second, third = derive_of(two_machines, ignored_rounds=[(2, 2, "a")]).entries
    assert [[played_round.status for played_round in entry.rounds] for entry in (second, third)] == [
        ["failed"]
    ] * 2


@pytest.mark.requirement("L-05")
@pytest.mark.parametrize(
    ("correction", "reason"),
    [
        ({"absent_rounds": [(1, 1)]}, "entry 1: a recorded its round 1: it is not absent"),
        ({"absent_rounds": [(9, 1)]}, "entry 9: its sale is in none of the journals, or it is void"),
        ({"absent_rounds": [(3, 3)]}, "entry 3: round 2 is in none of the journals, but round 3 is absent"),
        (
            {"renamed_entries": [1]},
            "entry 1: no machine recorded a participant other than its buyer: omit --renamed",
        ),
        ({"renamed_entries": [9]}, "entry 9: no machine recorded a participant other"),
        ({"unused_entries": [3]}, "entry 3: a journal records its sale: it is not unused"),
        ({"unused_entries": [4]}, "entry 4: entry 3 is the last one sold: it is not unused"),
        ({"absent_machines": ["8"]}, "machine 8: it took part, because b is its journal"),
    ],
)
def test_a_correction_that_corrects_nothing_is_refused(two_machines, correction, reason):
    with pytest.raises(ResultsError, match=reason):
        derive_of(
            two_machines, **{**correction, "absent_rounds": [(2, 1), *correction.get("absent_rounds", ())]}
        )


@pytest.mark.requirement("L-05")
def test_a_number_that_no_machine_sold_is_refused_until_staff_say_that_it_was_left_out(tmp_path):
    hall = Hall(tmp_path, ONE_MACHINE).enter()
    for number in (1, 3):
        assert hall.sell(number, f"P-{number}", start="later") is None
    digest = hall.room.records("tournament.rules")[0]["digest"]

    def list_entries(**options):
        return [
            entry.entry_number
            for entry in derive(digest, {"a": [*hall.room.journal.entries()]}, **options).entries
        ]

    with pytest.raises(
        ResultsError, match=r"entry 2: no journal records its sale, but entry 3 .* --unused 2$"
    ):
        list_entries()
    assert list_entries(unused_entries=[2]) == [1, 3]
    assert hall.sell(2, "P-2", start="later") is None
    assert hall.fill("tournament_void", entry=2, reason="a complaint") is None
    assert list_entries() == [1, 3]
    hall.room.close()


@pytest.mark.requirement("L-05", "L-07")
def test_the_audit_notes_a_sale_that_was_removed_from_the_journal_of_the_only_machine(tmp_path):
    other = RULES.index("[[machines]]", RULES.index("[[machines]]") + 1)
    after = RULES.index("\n[", other + 3)
    hall = Hall(tmp_path, RULES[:other] + RULES[after:]).enter()
    for number in (1, 2, 3):
        assert hall.sell(number, f"P-{number}", start="later") is None
    entries = read_signed_entries(hall.room)
    sales = [n for n, entry in enumerate(entries) if entry["kind"] == "tournament.entry"]

    def list_notices(bodies):
        report = Auditor(GameFiles()).audit_entries(
            rewrite_chain(bodies, KEY, compute_journal_tag(bodies[0]))
        )
        return [notice.text for notice in report.notices if "record.entry" in notice.text]

    assert list_notices(entries) == []
    (reason,) = list_notices(remove_entries(entries, sales[1]))
    assert "no sale of entry 2 before entry 3" in reason
    (reason,) = list_notices(remove_entries(entries, *sales[:2]))
    assert "no sale of entries 1 to 2 before entry 3" in reason


@pytest.mark.requirement("L-05", "L-07")
def test_the_audit_notes_a_sale_out_of_order(tmp_path):
    hall = Hall(tmp_path, RULES).enter()
    for number in (4, 2):  # the others may have been sold at the other machine
        assert hall.sell(number, f"P-{number}", start="later") is None
    bodies = [*hall.room.journal.iter_bodies()]
    hall.room.close()
    report = Auditor(GameFiles()).audit_entries(bodies)
    assert report.findings == []
    assert [reason for reason in (notice.text for notice in report.notices) if "record.entry" in reason] == [
        "record.entry: entry 2 was sold after entry 4: not in the order of sale"
    ]


@pytest.mark.requirement("L-05")
def test_two_machines_with_one_number_are_refused(two_machines):
    first, second = two_machines
    digest = first.room.records("tournament.rules")[0]["digest"]
    entries = [*first.room.journal.entries()]
    other = [
        entry._replace(transaction=replace(entry.transaction, record={**entry.record, "machine": "SN-OTHER"}))
        if entry.kind == "tournament.rules"
        else entry
        for entry in entries
    ]
    journals = {"a": entries, "b": [*second.room.journal.entries()], "c": other}
    with pytest.raises(
        ResultsError, match=r"machine 7: a is of the machine .*, and c of the one with SN-OTHER"
    ):
        derive_results(parse_rules(TWO_ROUNDS), digest, journals)
    with pytest.raises(ResultsError, match="sold at b and at c; of one machine, give the last export only"):
        derive_results(
            parse_rules(TWO_ROUNDS), digest, {"a": entries, "b": journals["b"], "c": journals["b"]}
        )


@pytest.mark.requirement("L-03", "L-05")
def test_results_are_settled_only_by_the_rules_that_they_were_derived_with(two_machines, tmp_path):
    derived = derive_of(two_machines, absent_rounds=[(2, 1)])
    rules, other, results = two_machines[0].rules.path, tmp_path / "other.toml", tmp_path / "results.json"
    results.write_text(derived.model_dump_json())
    other.write_text(rules.read_text().replace('share = "1/4"', 'share = "1/2"'))
    result = CliRunner().invoke(main, ["tournament", "settle", str(other), str(results)])
    assert result.exit_code == 1
    assert "rules_sha256: the results were derived with the rules file" in result.output
    settled = CliRunner().invoke(main, ["tournament", "settle", str(rules), str(results)])
    assert "rules_sha256" not in settled.output


@pytest.mark.parametrize("option", ["--ignore", "--absent"])
@pytest.mark.parametrize("text", ["9" * 5000 + ":1:x", "1:" + "9" * 5000, "0:1:x", "1", "1:2:3:4"])
def test_a_correction_with_an_invalid_number_is_refused(two_machines, option, text):
    result = CliRunner().invoke(
        main, ["tournament", "results", str(two_machines[0].rules.path), "r.json", __file__, option, text]
    )
    assert result.exit_code == 1
    assert "ENTRY:ROUND" in result.output or "not an export" in result.output


@pytest.mark.requirement("L-05", "L-07")
@pytest.mark.parametrize("way", ["removed", "installed over", "other rules between"])
def test_an_entry_is_void_after_the_rules_were_installed_again(tmp_path, way):
    hall = Hall(tmp_path, ONE_MACHINE).enter()
    assert hall.sell(1, "P-1") is None
    hall.open_play().play_round()
    assert hall.fill("tournament_leave") is None
    hall.room.clock.pass_seconds(24 * 3600)
    text = hall.rules.path.read_text()
    if way == "removed":
        assert hall.fill("tournament_rules_out") is None
    elif way == "other rules between":
        hall.rules.path.write_text(text.replace("Winter Classic", "Spring Classic"))
        assert hall.fill("tournament_rules") is None
        hall.rules.path.write_text(text)
    assert hall.fill("tournament_rules") is None
    assert hall.fill("tournament_void", entry=1, reason="a complaint") is None
    assert hall.audit() == []


@pytest.mark.requirement("L-05")
def test_the_prizes_that_machines_recorded_are_compared_with_the_settlement(tmp_path):
    hall = Hall(tmp_path, RULES).enter()
    for number, participant in ((1, "P-1"), (2, "P-2"), (3, "P-3")):
        assert hall.sell(number, participant, start="later") is None
    hall.open_play()
    for number, participant in ((1, "P-1"), (2, "P-2"), (3, "P-3")):
        hall.begin(number, participant, 1)
        hall.play_round()
    assert hall.fill("tournament_leave") is None
    export, results = tmp_path / "export.jsonl", tmp_path / "results.json"
    names = (hall.rules.path, results)

    def compare(*, status=0):
        run("audit", "export", "--state", hall.file, export)
        result = CliRunner().invoke(main, ["tournament", "paid", *map(str, (*names, export)), "--json"])
        assert result.exit_code == status, result.output
        return json.loads(result.stdout)

    run("audit", "export", "--state", hall.file, export)
    first_round = json.loads(
        run("tournament", "standings", hall.rules.path, export, "--without", "8", "--json")
    )["standings"]
    absent = [f"--absent={row['entry']}:2" for row in first_round if row["goes_on"] == "yes"]
    run("tournament", "results", *names, export, "--without", "8", *absent)
    settled = json.loads(run("tournament", "settle", *names, "--json"))
    won = {row["entry"]: row["prize_cents"] for row in settled["standings"] if row["prize_cents"]}
    people = {row["entry"]: row["participant"] for row in settled["standings"]}
    owed = compare()
    assert {
        row["entry"]: (row["prize_cents"], row["paid_cents"], row["status"]) for row in owed["prizes"]
    } == {entry: (cents, 0, "owed") for entry, cents in won.items()}
    assert owed["owed_cents"] == sum(won.values()) > 0
    (first, cents), *others = won.items()

    def pay(entry, amount_cents):
        prize = {"entry": entry, "participant": people[entry], "amount_cents": amount_cents}
        assert hall.fill("tournament_prize", **prize) is None

    pay(first, cents)
    after = compare()
    assert [row["status"] for row in after["prizes"] if row["entry"] == first] == ["paid"]
    assert after["owed_cents"] == sum(won.values()) - cents
    pay(others[0][0], others[0][1] + 1)
    wrong = compare(status=1)
    assert [row["status"] for row in wrong["prizes"] if row["entry"] == others[0][0]] == ["wrong"]
    hall.room.close()


def test_an_altered_prize_is_found(tmp_path):
    hall = Hall(tmp_path, RULES).enter()
    assert hall.sell(1, "P-1") is None
    hall.open_play().play_round()
    assert hall.fill("tournament_leave") is None
    assert hall.fill("tournament_prize", entry=1, participant="P-1", amount_cents=700) is None
    entries = read_signed_entries(hall.room)
    index = next(n for n, entry in enumerate(entries) if entry["kind"] == "tournament.prize")

    def alter(change):
        altered = deepcopy(entries)
        change(altered[index])
        return altered

    assert audit_findings(entries) == {}
    twice = [*entries[: index + 1], {**deepcopy(entries[index]), "id": "another"}, *entries[index + 1 :]]
    assert audit_findings(alter(lambda entry: entry["record"].update(amount_cents=701)))
    assert audit_findings(alter(lambda entry: entry["record"].update(participant="P-2")))
    assert audit_findings(alter(lambda entry: entry["record"].update(persons=[])))
    assert "had already received its prize" in str(audit_findings(twice))


def test_an_interrupted_round_that_was_never_replayed_can_be_settled(tmp_path):
    hall = Hall(tmp_path, ONE_MACHINE).enter()
    for entry in (1, 2, 3):
        hall.sell(entry, f"P-{entry}", start="later")
    hall.open_play()
    for entry in (1, 2, 3):
        assert hall.begin(entry, f"P-{entry}", 1) is None
        hall.play_round(games=1 if entry == 3 else 2)
    assert hall.end("interrupted") is None
    journals, digest = (
        {"a": [*hall.room.journal.entries()]},
        hall.room.records("tournament.rules")[0]["digest"],
    )
    hall.room.close()
    rules = parse_rules(ONE_MACHINE)
    with pytest.raises(ResultsError, match=r"--ignore 3:1:EXPORT and --absent 3:1$"):
        rank_participants_of_round(rules, derive(digest, journals), 1)
    corrected = derive(digest, journals, ignored_rounds=[(3, 1, "a")], absent_rounds=[(3, 1)])
    standings, _ = rank_participants_of_round(rules, corrected, 1)
    assert {ranking.participant for ranking in standings} == {"P-1", "P-2", "P-3"}


@pytest.mark.requirement("L-07")
def test_the_audit_names_an_entry_that_plays_at_two_positions(tmp_path):
    hall = Hall(tmp_path, ONE_MACHINE, count=2).enter()
    assert hall.sell(1, "P-1") is None
    assert hall.begin(2, "P-2", 1, hall.rooms[1]) is None
    entries = read_signed_entries(hall.room)
    entry_number, start_entry = [
        (n, entry) for n, entry in enumerate(entries, 1) if entry["kind"] == "tournament.round"
    ][-1]
    for record in (start_entry["record"], start_entry["state"]["2/purse"]):
        record["entry"], record["participant"] = 1, "P-1"
    assert "a position still plays a round of entry 1" in audit_findings(entries)[entry_number]
