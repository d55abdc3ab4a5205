"""Several players at trente et quarante: the same rows for all, from one shoe that is shuffled for all."""

import pytest
from rigs.cards import script_cards

from egm.kernel.events import EventType, State
from egm.play.records.games import find_open_game
from egm.play.records.tables import list_tables_with_standing_bets, read_shared_state
from egm.seats.table import SharedTables
from meters import open_view
from paytables.cards import Shoe
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

GAME, CENTS = "monaco-trente-et-quarante", 25
BILL_CENTS, BILLS, DECKS, STOP = 10_000, 3, 6, 5
CREDIT_CENTS = BILLS * BILL_CENTS
#: 31 and 31; then black has 31 and red 40, and the first card is red.
REFAIT = "Th Td Ts As Kh Kd Ks Ac"
BLACK = "9h Td Ts 2s 4h Kd 6s Qc Qd"


def digest_of(rooms):
    return rooms[0].machine.games[GAME].digest


def seat_players(seats, cards=""):
    """Seat two players with credit, and script the cards of the next coup."""
    rooms, generator = seats(GAME, count=2), script_cards(cards, DECKS) if cards else None
    for rig in rooms:
        for _ in range(BILLS):
            rig.insert(BILL_CENTS)
        rig.machine.random_service = generator or rooms[0].machine.random_service
    return rooms


def lay(rig, **bets):
    rig.engine.handle(EventType.SELECT_BET, value=sum(bets.values()), options={"bets": bets})
    rig.engine.handle(EventType.PLAY)
    assert rig.state is State.BETTING, rig.notice


def deal_coup(rooms):
    """Close the betting; return the games of all who play, which have the same rows."""
    rooms[0].machine.component(SharedTables).close_betting(digest_of(rooms))
    games = [find_open_game(rig.machine) for rig in rooms if rig.state is State.PLAYING]
    assert games
    assert len({game.round_id for game in games}) == 1
    assert len({str(game.steps[0].draws) for game in games}) == 1
    return games


def rows_of(game):
    return [hand["cards"] for hand in game.outcome.display["hands"]]


def count_shoe_cards(rig):
    """Return the number of cards in the shoe as this position's machine stores it; all cards for a new shoe."""
    shared_state = read_shared_state(rig.machine, digest_of([rig]))
    return DECKS * 52 if shared_state is None else Shoe.from_json(shared_state["shoe"]).cards_left


def end(rooms):
    for rig in rooms:
        if rig.state is State.PLAYING:
            rig.report_shown()
        assert rig.state is State.IDLE, rig.notice


def check_audit(rooms, folder):
    rooms[0].journal.self_audit()
    rooms[0].close()
    with open_view(folder) as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []


@pytest.mark.requirement("B-01", "P-07")
def test_a_refait_asks_each_player_and_the_next_coup_uses_the_same_shoe(seats, tmp_path):
    first, second = rooms = seat_players(seats, f"{REFAIT} {BLACK}")
    lay(first, red=20)
    lay(second, black=20, colour=20)
    deal_coup(rooms)
    first.engine.handle(EventType.CHOOSE, value="prison")
    second.engine.handle(EventType.CHOOSE, value="half")
    second.engine.handle(EventType.CHOOSE, value="prison")
    assert [count_shoe_cards(rig) for rig in rooms] == [DECKS * 52 - 8] * 2
    end(rooms)
    assert [rig.credit_cents for rig in rooms] == [CREDIT_CENTS - 20 * CENTS, CREDIT_CENTS - 30 * CENTS]
    lay(first)  # nothing but the stake in prison
    lay(second, inverse=20)
    games = deal_coup(rooms)
    assert [rows_of(game) for game in games] == [[BLACK.split()[:4], BLACK.split()[4:]]] * 2
    assert [
        [(settlement.spot, settlement.credits) for settlement in game.outcome.settlements] for game in games
    ] == [
        [("red", 0)],
        [("inverse", 40), ("colour", 0)],
    ]
    end(rooms)
    assert [rig.credit_cents for rig in rooms] == [CREDIT_CENTS - 20 * CENTS, CREDIT_CENTS - 10 * CENTS]
    assert [count_shoe_cards(rig) for rig in rooms] == [DECKS * 52 - 8 - 9] * 2
    assert [list_tables_with_standing_bets(rig.machine) for rig in rooms] == [(), ()]
    check_audit(rooms, tmp_path)


def play_coup(rooms, seats_of):
    """Play a coup in which these positions bet and each stake is halved at a refait; return its game and cards."""
    before = [rig.credit_cents for rig in rooms]
    for rig in seats_of:
        lay(rig, red=20)
    deal_coup(rooms)
    for rig in seats_of:
        if find_open_game(rig.machine).outcome is None:
            rig.engine.handle(EventType.CHOOSE, value="half")
    game = find_open_game(seats_of[0].machine)
    assert {str(rows_of(find_open_game(rig.machine))) for rig in seats_of} == {str(rows_of(game))}
    end(rooms)
    back = {"black": 0, "red": 40, "refait": 10, "tie": 20, "void": 20}[game.outcome.display["result"]]
    for rig, credit_cents in zip(rooms, before, strict=True):
        won_cents = (back - 20) * CENTS if rig in seats_of else 0
        assert rig.credit_cents == credit_cents + won_cents
    return game, sum(map(len, rows_of(game)))


@pytest.mark.requirement("B-01", "D-15")
@pytest.mark.parametrize("shoes", [1, pytest.param(8, marks=pytest.mark.slow)])
def test_the_shoe_is_dealt_to_its_stop_card_and_shuffled_for_all(seats, tmp_path, shoes):
    """Both play or one alone; every coup continues from the previous shoe, down to the last five cards."""
    seat_1, seat_2 = rooms = seat_players(seats)
    cards_left, ends, turn = DECKS * 52, 0, 0
    while ends < shoes:
        seats_of = ([seat_1, seat_2], [seat_1], [seat_1, seat_2], [seat_2])[turn % 4]
        game, add_step = play_coup(rooms, seats_of)
        turn += 1
        cards_left -= add_step
        if game.outcome.display["result"] == "void" or cards_left <= STOP:
            assert cards_left == STOP
            assert game.outcome.table_state is None
            cards_left, ends = DECKS * 52, ends + 1
        assert [count_shoe_cards(rig) for rig in rooms] == [cards_left] * 2
    assert turn >= 20 * shoes
    first, _ = play_coup(rooms, rooms)
    assert first.table_state is None  # of the new shoe
    check_audit(rooms, tmp_path)


@pytest.mark.requirement("D-15")
def test_after_a_restart_both_continue_with_the_shoe_and_the_stakes_in_prison(seats, tmp_path):
    first, second = rooms = seat_players(seats, REFAIT)
    lay(first, red=20)
    lay(second, colour=20)
    deal_coup(rooms)
    for rig in rooms:
        rig.engine.handle(EventType.CHOOSE, value="prison")
    end(rooms)
    first.close()
    first, second = rooms = seats(GAME, count=2)
    assert [count_shoe_cards(rig) for rig in rooms] == [DECKS * 52 - 8] * 2
    first.machine.random_service = second.machine.random_service = script_cards(f"{REFAIT} {BLACK}", DECKS)
    del first.machine.random_service.values[: len(REFAIT.split())]
    lay(first)
    lay(second)
    games = deal_coup(rooms)
    assert [
        [(settlement.spot, settlement.credits) for settlement in game.outcome.settlements] for game in games
    ] == [
        [("red", 0)],
        [("colour", 0)],
    ]
    end(rooms)
    check_audit(rooms, tmp_path)
