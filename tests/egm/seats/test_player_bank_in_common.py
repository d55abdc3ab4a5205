"""A player as the bank at several positions: offered in turn, covered before the deal, each position's own money."""

import pytest

from egm.kernel.events import EventType, State
from egm.play.recall_words import build_win_rows
from egm.play.records.games import open_game
from egm.play.records.tables import read_shared_state
from egm.seats.answers import answer_overdue_turns, take_recorded_steps
from egm.seats.table import SharedTable
from meters import open_view
from tools.audit.games import Shelf
from tools.audit.verify import Auditor

BILL_CENTS, CENTS, STAKE = 10_000, 50, 20
GAMES = ["quebec-super-pan-9", "quebec-pai-gow", "quebec-pai-gow-poker"]


def lay(room, **bets):
    room.engine.handle(EventType.BET, value=sum(bets.values()), options={"bets": bets})
    room.engine.handle(EventType.PLAY)
    assert room.state is State.BETTING, room.notice


def close(rooms):
    table = rooms[0].machine.component(SharedTable)
    table.close(next(iter(rooms[0].machine.games.values())).digest)
    take_recorded_steps(table)
    answer_overdue_turns(table)


def with_credit(rooms):
    for room in rooms:
        room.insert(BILL_CENTS)
    return rooms


def answer_all(rooms):
    """Each seat that is asked takes the first answer."""
    table = rooms[0].machine.component(SharedTable)
    take_recorded_steps(table)
    while asked := [room for room in rooms if room.state is State.PLAYING and is_asked(room)]:
        asked[0].engine.handle(EventType.CHOOSE, value=asked[0].hands.told[-1].options[0])
        take_recorded_steps(table)


def is_asked(room):
    game = open_game(room.machine)
    return game is not None and game.outcome is None and bool(room.hands.told[-1].options)


def end(rooms):
    for room in rooms:
        if room.state is State.PLAYING:
            room.report_shown()
        assert room.state is State.IDLE, room.notice


def hold_round(rooms):
    close(rooms)
    answer_all(rooms)
    games = [open_game(room.machine) for room in rooms]
    end(rooms)
    return games


def read_bank(rooms):
    (game,) = rooms[0].machine.games.values()
    return read_shared_state(rooms[0].machine, game.digest)["bank"]


def check_audit(rooms, folder):
    rooms[0].journal.self_audit()
    rooms[0].close()
    with open_view(folder) as view:
        assert Auditor(Shelf()).run(view.iter_bodies()).findings == []


def spots_of(game):
    return [(each.name, each.spot, each.staked) for each in game.outcome.settlements]


@pytest.mark.requirement("S-18")
@pytest.mark.parametrize("name", GAMES)
def test_the_bank_goes_round_the_positions_that_took_part(seats, tmp_path, name):
    rooms = with_credit(seats(name, count=4))
    for room in rooms[:3]:
        lay(room, stake=STAKE)
    hold_round(rooms)
    assert read_bank(rooms) == {"seat": 0, "took_part": [0, 1, 2]}
    before = [room.credit_cents for room in rooms]
    lay(rooms[0], stake=STAKE)
    lay(rooms[1], stake=STAKE, bank=100)
    lay(rooms[2], stake=STAKE, bank=100)
    lay(rooms[3], stake=STAKE, bank=100)  # it did not take part in the first round
    games = hold_round(rooms)
    assert read_bank(rooms) == {"seat": 2, "took_part": [0, 1, 2], "last": 1}
    assert spots_of(games[1])[:2] == [("not covered", "stake", STAKE), ("not covered", "bank", 40)]
    assert {spot for _, spot, _ in spots_of(games[1])[2:]} == {"bank"}
    assert sum(staked for _, _, staked in spots_of(games[1])[2:]) == 3 * STAKE
    for n in (2, 3):
        assert spots_of(games[n])[0] == ("not covered", "bank", 100)
    recalled = build_win_rows(rooms[1].machine.games[name], games[1].outcome.settlements, CENTS)
    for language, bank in (("en", "Bank"), ("fr", "Banque")):
        assert [row.cells[0].values[language] for row in recalled[1:]] == [bank] * 4
    won = [room.credit_cents - earlier for room, earlier in zip(rooms, before, strict=True)]
    commissions = sum(
        CENTS for n in (0, 2, 3) for name_, spot, _ in spots_of(games[n]) if (name_, spot) == ("won", "stake")
    )
    assert sum(won) == -commissions  # the players paid each other, and the house its commission
    for room in rooms[:3]:
        lay(room, stake=STAKE, bank=100)
    games = hold_round(rooms)
    assert read_bank(rooms)["last"] == 2
    check_audit(rooms, tmp_path)


@pytest.mark.requirement("S-18")
@pytest.mark.parametrize("name", GAMES)
def test_a_bank_larger_than_its_players_credit_is_refused(seats, name):
    rooms = seats(name, count=2)
    for room in rooms:
        room.insert(5_000)
        lay(room, stake=STAKE)
    hold_round(rooms)
    room = rooms[0]
    bank = room.credit_cents // CENTS // STAKE * STAKE  # with the stake it is more than the player has
    room.engine.handle(EventType.BET, value=STAKE + bank, options={"bets": {"stake": STAKE, "bank": bank}})
    room.engine.handle(EventType.PLAY)
    assert (room.state, room.notice) == (State.IDLE, "refused.bet_is_covered")
    assert open_game(room.machine) is None
    assert room.credit_cents // CENTS >= bank


@pytest.mark.requirement("S-18")
@pytest.mark.parametrize("name", GAMES)
def test_a_position_that_cannot_start_pays_no_bank(seats, name):
    """Its stake would be paid to the bank without having been wagered, and its bank would pay without money."""
    rooms = with_credit(seats(name, count=3))
    for room in rooms:
        lay(room, stake=STAKE)
    hold_round(rooms)
    lay(rooms[0], stake=STAKE, bank=60)
    lay(rooms[1], stake=STAKE)
    lay(rooms[2], stake=STAKE)
    rooms[0].engine.handle(EventType.DOOR_OPENED, door="main")
    credit_cents = rooms[0].credit_cents
    close(rooms)
    assert open_game(rooms[0].machine) is None
    assert rooms[0].credit_cents == credit_cents
    answer_all(rooms)
    for room in rooms[1:]:
        assert {spot for _, spot, _ in spots_of(open_game(room.machine))} == {"stake"}
    for room in rooms:
        room.engine.handle(EventType.DOOR_CLOSED, door="main")
    end(rooms)
    assert "last" not in read_bank(rooms)
    rooms[0].journal.self_audit()


@pytest.mark.requirement("S-18", "A-05")
@pytest.mark.parametrize("name", GAMES)
def test_after_a_power_loss_the_round_with_its_bank_goes_on(seats, tmp_path, name):
    rooms = with_credit(seats(name, count=3))
    for room in rooms:
        lay(room, stake=STAKE)
    hold_round(rooms)
    lay(rooms[0], stake=STAKE, bank=40)
    lay(rooms[1], stake=STAKE)
    lay(rooms[2], stake=STAKE)
    close(rooms)
    before = [open_game(room.machine).steps for room in rooms]
    rooms[0].close()
    rooms = seats(name, count=3)
    assert [open_game(room.machine).steps for room in rooms] == before
    answer_all(rooms)
    bank = open_game(rooms[0].machine)
    paid = {each.spot for each in bank.outcome.settlements if each.name != "not covered"}
    assert paid == {"bank"}
    end(rooms)
    assert read_bank(rooms)["last"] == 0
    check_audit(rooms, tmp_path)
