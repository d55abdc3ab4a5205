"""The audit of seats: who bet has played, at their own position; one wheel decides every table connected to it."""

import json

import pytest
from rigs.lies import KEY, audit_findings, read_signed_entries, remove_entries, reorder_entries
from test_blackjack_in_common import CARDS, play_on, sit_down
from test_wheel_decides import LIBRARY_FILE, bet, definition, spin, start_rig

from egm.kernel.positions import Position
from egm.seats.table import SharedTables
from egm.testing.machine import MachineRig
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.dev.lies import compute_journal_tag, rewrite_chain

GAME = "quebec-blackjack-options"


@pytest.fixture
def played(seats):
    """A round of blackjack at three seats, shown to the end, and a second round."""
    rooms = seats(GAME, count=3)
    sit_down(rooms, CARDS)
    play_on(rooms)
    for rig in rooms:
        rig.report_shown()
    sit_down(rooms, CARDS)
    return read_signed_entries(rooms[0])


def find_entry_indices(entries, kind, position):
    """Return the indices of the entries of a kind at a position."""
    return [n for n, raw in enumerate(entries) if raw["kind"] == kind and raw["dims"]["position"] == position]


@pytest.mark.requirement("E-13:a", "O-06")
@pytest.mark.parametrize("position", [1, 2, 3])
def test_a_missing_game_of_a_seat_is_found_by_its_neighbours_bets(played, position):
    start = find_entry_indices(played, "game.start", position)[0]
    play_id = played[start]["record"]["play_id"]
    gone = [n for n, raw in enumerate(played) if (raw.get("record") or {}).get("play_id") == play_id]
    findings = audit_findings(remove_entries(played[: find_entry_indices(played, "game.start", 1)[1]], *gone))
    assert any(f"seat {position - 1} has a bet in the round" in reason for reason in findings.values()), (
        findings
    )


def check_journal(entries):
    """Return the findings and notices of the audit about a falsified journal."""
    report = Auditor(GameFiles()).audit_entries(rewrite_chain(entries, KEY, compute_journal_tag(entries[0])))
    return [finding.text for finding in report.findings], [notice.text for notice in report.notices]


def append(entries, kind):
    """Return the entries with one more entry of a kind, which has no content."""
    sequence = len(entries) + 1
    fields = {"id": f"{kind}:{sequence}", "kind": kind, "record": {}, "sequence": sequence}
    return [*entries, fields | {"time": entries[-1]["time"]}]


@pytest.mark.requirement("E-13:a", "O-06")
@pytest.mark.parametrize("start", [1, 2])
def test_a_start_at_the_end_of_the_journal_without_those_of_its_neighbours_is_reported(played, start):
    """The machine recorded a key after it, so that no power loss explains the missing games."""
    last = find_entry_indices(played, "game.start", start)[1]
    found, _ = check_journal(append(played[: last + 1], "key.turned"))
    missing = [f"seat {seat} has a bet in the round" for seat in range(start, 3)]
    assert [any(text in reason for reason in found) for text in missing] == [True] * len(missing), found


@pytest.mark.requirement("E-13:a", "O-06")
@pytest.mark.parametrize("start", [1, 2, 3])
@pytest.mark.parametrize(
    "last_kind", ["", "checkpoint", "event", "journal.archived", "clock.changed", "chance.rng_reseeded"]
)
def test_a_journal_that_ends_while_a_round_starts_is_noted_and_is_no_fault(played, start, last_kind):
    """The power may have been cut there, also after an entry of the journal itself."""
    last = find_entry_indices(played, "game.start", start)[1]
    entries = played[: last + 1]
    found, noted = check_journal(append(entries, last_kind) if last_kind else entries)
    assert not [reason for reason in found if "has a bet in the round" in reason]
    assert last_kind or found == []
    assert (
        len([reason for reason in noted if "either the power failed at that moment" in reason]) == 3 - start
    )


@pytest.mark.requirement("E-13", "O-06")
def test_exchanged_games_of_two_seats_are_found(played):
    """The lower seat belongs to the lower position, so that no win goes to the neighbour."""
    end = find_entry_indices(played, "game.start", 1)[1]
    altered = json.loads(json.dumps(played[:end]))
    for raw in altered:
        record = raw.get("record")
        position = raw.get("dims", {}).get("position")
        if not isinstance(record, dict) or "play_id" not in record or position == 3:
            continue
        raw["dims"]["position"] = 3 - position
        for name in list(raw.get("state", ())):
            bare = name.removeprefix("2/")
            is_own_state = bare in {"game", "last_game", "session"} or bare.startswith("table:")
            if is_own_state:
                raw["state"][bare if name != bare else f"2/{bare}"] = raw["state"].pop(name)
        text = json.dumps(raw.get("transfers", []))
        swapped = text.replace("credit:1:", "credit:x:").replace("credit:2:", "credit:1:")
        if "transfers" in raw:
            raw["transfers"] = json.loads(swapped.replace("credit:x:", "credit:2:"))
    findings = audit_findings(altered)
    assert any("not in the order of the positions" in reason for reason in findings.values()), findings


@pytest.mark.requirement("E-13", "O-06")
def test_power_loss_before_a_seat_started_is_not_an_audit_finding(seats, tmp_path):
    rooms = seats(GAME, count=3)
    written = rooms[0].journal.append

    def failing(transaction):
        if transaction.kind == "game.start" and transaction.dims["position"] == 3:
            raise RuntimeError("the power goes")
        return written(transaction)

    for rig in rooms:
        rig.journal.append = failing
    with pytest.raises(RuntimeError, match="the power goes"):
        sit_down(rooms, CARDS)
    rooms[0].close()
    restarted = seats(GAME, count=3)
    restarted[2].insert(1000)
    read_signed_entries(restarted[0])


@pytest.mark.requirement("E-13", "O-06")
def test_one_wheel_decides_two_roulettes(tmp_path):
    """Each table has its own game, and both wait for the same ball in one round; the audit has no findings."""
    other = tmp_path / "other-roulette.toml"
    text = LIBRARY_FILE.read_text(encoding="utf-8").replace(
        'id = "quebec-roulette-french"', 'id = "other-roulette"'
    )
    other.write_text(text.replace("[cylinder]", '[cylinder]\ndecided_by = "wheel"'), encoding="utf-8")
    games, table, rooms = (str(definition(tmp_path)), str(other)), SharedTables(), []
    for number in (1, 2):
        rig = MachineRig(
            tmp_path / "state",
            games=games if number == 1 else games[::-1],
            position=Position(number, 2),
            first_rig=rooms[0] if rooms else None,
        )
        rig.machine.install(table)
        table.register_position(rig.machine, lambda event, rig=rig: rig.engine.submit(event))
        rooms.append(rig.boot().insert(2000))
    for rig in rooms:
        bet(rig)
    spin(rooms[0], 17)
    for rig in rooms:
        rig.report_shown()
    starts = list(rooms[0].records("game.start"))
    assert len({start["round_id"] for start in starts}) == 1
    assert len({start["game"]["digest"] for start in starts}) == 2
    read_signed_entries(rooms[0], GameFiles([tmp_path]))


@pytest.mark.requirement("E-13", "O-06")
def test_no_bet_is_accepted_once_the_ball_has_come_to_rest(tmp_path):
    """The test moves the same game to after the number of its spin."""
    rig = start_rig(tmp_path).insert(2000)
    bet(rig)
    spin(rig, 17)
    rig.report_shown()
    game_files = GameFiles([tmp_path])
    entries = read_signed_entries(rig, game_files)
    kinds = [raw["kind"] for raw in entries]
    start, number = kinds.index("game.start"), kinds.index("wheel.number")
    assert start < number
    order = [*range(start), number, *range(start, number), *range(number + 1, len(entries))]
    findings = audit_findings(reorder_entries(entries, order), game_files)
    assert any("of its round was reported" in reason for reason in findings.values()), findings
