"""The results of a tournament over two machines, from their exported journals, and what the audit finds in false ones."""

import json
from collections import defaultdict
from copy import deepcopy
from fractions import Fraction

import pytest
from click.testing import CliRunner
from rigs.lies import audit_findings, read_signed_entries, remove_entries
from rigs.tournament import FEE_CENTS, Hall, describe_machine

from egm.kernel.events import EventType, State
from egm.testing.machine import ScriptedChance
from egm.tournament.results import derive_results
from egm.tournament.rules import parse_rules
from egm.tournament.standings import ResultsError
from tools.audit import point
from tools.audit.games import Shelf
from tools.audit.verify import Auditor
from tools.cli import main

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
    result = CliRunner().invoke(main, [str(each) for each in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def read_bodies(hall):
    return [json.loads(body) for body in hall.room.journal.iter_bodies()]


def sum_rounds(*journals):
    """Points and best game of each (entry, round), and the participants, from the entries' transfers alone."""
    points, best, people, sold = defaultdict(int), defaultdict(int), {}, 0
    for entries in journals:
        playing = {}
        for each in entries:
            position = each.get("dims", {}).get("position", 1)
            if each["kind"] == "tournament.round":
                record = each["record"]
                playing[position] = record["entry"], record["round"]
                people[record["entry"]] = record["participant"]
                points[playing[position]] += 0
            for source, target, amount, *_ in each.get("transfers", ()):
                sold += amount if target == "fees:sold" else 0
                if source == "tournament:win":
                    points[playing[position]] += amount
                    best[playing[position]] = max(best[playing[position]], amount)
    return points, best, people, sold


def rank(points, best, people, failed, number):
    """The participants of a round, the best first, with the entry that counts for each."""
    rows = {}
    for (entry, each), total in points.items():
        if each == number:
            key = (0, 0) if (entry, each) in failed else (total, best[entry, each])
            rows[people[entry]] = max(rows.get(people[entry], ((-1, -1), 0)), (key, -entry))
    ranked = sorted(rows.items(), key=lambda row: row[1], reverse=True)
    assert len({key for _, (key, _) in ranked}) == len(ranked), "a tie: choose other games"
    return [(person, -entry, key[0]) for person, (key, entry) in ranked]


@pytest.mark.requirement("L-01", "L-02:a", "L-05", "L-07")
def test_two_machines_a_failed_position_a_re_entry_and_power_cuts(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    first = Hall(tmp_path / "first", RULES, count=3).enter()
    second = Hall(tmp_path / "second", RULES, count=2, number="8").enter()
    one, two, three = first.rooms
    assert first.sell(1, "P-1", one) is None
    assert first.sell(2, "P-2", two) is None
    assert first.sell(3, "P-3", three) is None
    assert second.sell(4, "P-4", second.rooms[0]) is None
    assert second.sell(5, "P-1", second.rooms[1]) is None
    for hall in (first, second):
        hall.open_play()
    for _ in range(3):
        for rig in first.rooms:
            first.play_round(rig, games=1)
    first.rooms[1].play()
    assert first.rooms[1].state is State.PLAYING
    first.cut_power()
    assert first.end("failed", first.rooms[2]) is None
    for rig in first.rooms[:2]:
        first.play_round(rig)
    second.play_round(second.rooms[1])
    second.play_round(second.rooms[0], games=12)
    second.rooms[0].engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    assert second.rooms[0].state is State.TILT
    second.rooms[0].engine.handle(EventType.KEY_TURNED, key="attendant")
    assert second.end("interrupted", second.rooms[0]) is None
    points, best, people, sold = sum_rounds(read_bodies(first), read_bodies(second))
    failed = {(3, 1)}
    after_first = rank(points, best, people, failed, 1)
    assert sold == 5 * FEE_CENTS
    for rig, (person, entry, _) in zip(first.rooms, after_first[:2], strict=False):
        assert first.begin(entry, person, 2, rig) is None  # also an entry that was sold at the other machine
        first.play_round(rig)
    points, best, people, _ = sum_rounds(read_bodies(first), read_bodies(second))
    final = [*rank(points, best, people, failed, 2), *after_first[2:]]
    shares = [Fraction(1, 4) * sold, Fraction(1, 20) * sold, Fraction(1000), Fraction(0)]
    exports = []
    for hall in (first, second):
        assert hall.fill("tournament_leave") is None
        meters = hall.room.journal.meters().values
        assert (meters["coin_in"], meters["games_played"], meters["money_in"]) == (0, 0, 0)
        hall.room.close()
        exports.append(hall.folder / "export.jsonl")
        run("audit", "export", "--state", hall.file, exports[-1])
    results = tmp_path / "results.json"
    assert "5 entries" in run("tournament", "results", first.rules.path, results, *exports)
    settled = json.loads(run("tournament", "settle", first.rules.path, results, "--json"))
    assert [
        (row["rank"], row["participant"], row["entry"], row["points"], row["prize_cents"])
        for row in settled["standings"]
    ] == [(n, *row, shares[n - 1]) for n, row in enumerate(final, 1)]
    assert settled["sold_cents"] == sold
    assert settled["prizes_cents"] >= sold * 30 // 100


@pytest.fixture
def played(tmp_path):
    """The entries of an honest tournament of two games, as a liar would begin to change them."""
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


def change_participant(entries):
    find(entries, "tournament.round_end")["record"]["participant"] = "P-2"


def change_seller(entries):
    find(entries, "tournament.entry")["record"]["persons"] = []


@pytest.mark.requirement("L-07")
@pytest.mark.parametrize(
    ("change", "kind", "why"),
    [
        (change_rules, "tournament.rules", "record.digest is not the SHA-256"),
        (change_fee, "tournament.entry", "expected 5000 by the rules"),
        (change_points, "tournament.round", "expected 300 by the rules"),
        (change_win, "tournament.game_end", "record.won_points and record.push_points: expected"),
        (change_draw, "tournament.game", "record.outcome differs"),
        (change_purse, "tournament.game_end", "state.purse: expected"),
        (change_result, "tournament.round_end", "points, best_game and games: expected"),
        (change_status, "tournament.round_end", "a round with status"),
        (change_participant, "tournament.round_end", "points, best_game and games: expected"),
        (change_seller, "tournament.entry", "persons"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_the_audit_names_a_changed_entry(played, change, kind, why):
    assert audit_findings(played) == {}
    lied = deepcopy(played)
    change(lied)
    place = next(n for n, entry in enumerate(lied, 1) if entry["kind"] == kind)
    found = audit_findings(lied)
    assert why in found[place], found


@pytest.mark.parametrize(
    "kind", ["tournament.entered", "tournament.left", "tournament.round", "tournament.game"]
)
def test_the_audit_misses_an_entry_that_is_gone(played, kind):
    assert audit_findings(remove_entries(played, kind)) != {}


@pytest.mark.requirement("L-07")
def test_a_game_with_credits_in_the_tournament_is_named(played):
    """With the end of the tournament taken out, the game after it would have been played in it."""
    lied = remove_entries(played, "tournament.left")
    place = next(n for n, entry in enumerate(lied, 1) if entry["kind"] == "game.start")
    assert "not allowed while the machine is tournament" in audit_findings(lied)[place]


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
    whole = Auditor(Shelf()).run(bodies)
    assert (whole.findings, whole.games) == ([], 2)
    for pause in range(1, len(bodies)):
        first = Auditor(Shelf())
        assert first.run(bodies[:pause]).findings == []
        point.save(first, tmp_path / "point")
        second = point.load(tmp_path / "point", Shelf()).run(bodies[pause:])
        assert (second.findings, second.games) == ([], 2), pause


ONE_MACHINE = describe_machine(("games = 100", "games = 2"))


def derive(digest, journals, **more):
    return derive_results(parse_rules(ONE_MACHINE), digest, journals, without=("A-102",), **more)


@pytest.mark.requirement("L-05")
def test_results_need_a_journal_of_every_machine_of_the_rules(tmp_path):
    hall = Hall(tmp_path, ONE_MACHINE).enter()
    hall.sell(1, "P-1")
    hall.open_play().play_round()
    (installed,) = hall.room.records("tournament.rules")
    entries, rules = [*hall.room.journal.entries()], parse_rules(ONE_MACHINE)
    hall.room.close()
    with pytest.raises(ResultsError, match=r"machine A-102: no journal .* give --without A-102"):
        derive_results(rules, installed["digest"], {"a": entries})
    with pytest.raises(ResultsError, match="machine X-1: it is not in the rules"):
        derive_results(rules, installed["digest"], {"a": entries}, without=("X-1",))
    with pytest.raises(ResultsError, match="machine 7: no journal"):
        derive_results(rules, "0" * 64, {"a": entries}, without=("A-102",))
    export, results = tmp_path / "export.jsonl", tmp_path / "results.json"
    run("audit", "export", "--state", hall.file, export)
    refused = CliRunner().invoke(
        main, ["tournament", "results", *map(str, (hall.rules.path, results, export))]
    )
    assert (refused.exit_code, results.exists()) == (1, False)
    assert "--without A-102" in refused.output
    assert "1 entry" in run("tournament", "results", hall.rules.path, results, export, "--without", "A-102")


@pytest.mark.requirement("L-05")
def test_an_entry_sold_again_elsewhere_after_it_was_void_is_the_new_buyers(tmp_path):
    halls = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        halls.append(Hall(tmp_path / name, RULES, number="7" if name == "first" else "8").enter())
    first, second = halls
    assert first.sell(2, "P-1", start="later") is None
    assert first.fill("tournament_void", entry=2, reason="bought by mistake") is None
    assert second.sell(2, "P-2") is None
    second.open_play().play_round()
    digest = second.room.records("tournament.rules")[0]["digest"]
    journals = {name: [*hall.room.journal.entries()] for name, hall in zip("ab", halls, strict=True)}
    for order in (journals, dict(reversed(journals.items()))):
        (entry,) = derive_results(parse_rules(RULES), digest, order).entries
        assert (entry.entry, entry.participant, entry.rounds[0].status) == (2, "P-2", "complete")
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
    why = r"sold to P-07 at a, and b recorded round 1 for P-7; .* give --renamed 1"
    with pytest.raises(ResultsError, match=why):
        derive_results(parse_rules(RULES), digest, journals)
    (entry,) = derive_results(parse_rules(RULES), digest, journals, renamed=(1,)).entries
    assert (entry.participant, entry.rounds[0].status) == ("P-07", "complete")
    for hall in halls:
        hall.room.close()


#: Two rounds of one game each; one participant goes on.
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
    hall = Hall(tmp_path, TWO_ROUNDS, chance=ScriptedChance(*WON * 8)).enter()
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
    refused = CliRunner().invoke(main, [str(each) for each in arguments])
    assert refused.exit_code == 1, refused.output
    return refused.output


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
    assert [each["entry"] for each in json.loads(results.read_text())["entries"]] == [1, 2]
    assert "has no round 3 of it to ignore" in refuse(
        "tournament", "standings", rules, export, *given, "--ignore", f"9:3:{export}"
    )


@pytest.mark.requirement("L-08")
@pytest.mark.parametrize(
    ("game", "bet", "denomination_cents", "why"),
    [
        ("maple-classic", 99, 5, "maple-classic has no wager of 99 credits"),
        ("quebec-texas-holdem-room", 160, 25, "cannot be played by one position alone"),
        ("monaco-chemin-de-fer", 20, 100, "cannot be played by one position alone"),
    ],
)
def test_rules_of_a_game_that_no_machine_could_install_are_refused_before_they_are_published(
    tmp_path, game, bet, denomination_cents, why
):
    rules = tmp_path / "rules.toml"
    rules.write_text(describe_machine(game=game, bet=bet, denomination_cents=denomination_cents))
    assert why in refuse("tournament", "check", rules, "--today", "2027-02-01")


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
    assert (entry.entry, entry.participant, [each.status for each in entry.rounds]) == (
        1,
        "P-1",
        ["complete"],
    )
    before = [each for each in entries if each.kind != "tournament.round_end"]
    (entry,) = derive(digest, {"a": before}).entries
    assert [each.status for each in entry.rounds] == ["interrupted"]
    hall.room.close()
    export, false = tmp_path / "export.jsonl", tmp_path / "false.jsonl"
    run("audit", "export", "--state", hall.file, export)
    text = export.read_text(encoding="utf-8")
    false.write_text(text.replace('"participant":"P-1"', '"participant":"P-2"'), encoding="utf-8")
    refused = CliRunner().invoke(
        main, ["tournament", "results", str(hall.rules.path), str(tmp_path / "r.json"), str(false)]
    )
    assert refused.exit_code == 1
    assert "egm audit verify" in refused.output
    assert not (tmp_path / "r.json").exists()
