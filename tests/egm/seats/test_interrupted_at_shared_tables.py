"""Shared rounds of poker, chemin de fer and banque à tout va: memory clears, power cuts, recall."""

import pytest
from rigs.cards import script_cards
from test_cuts_between_players import BANKS as PLAYER_BANKS
from test_cuts_between_players import STAKES, begin, go_on_to_the_end, iter_cut_rounds, play
from test_liars_at_shared_tables import SLOW, TABLES
from test_void_rounds import (
    BILL_CENTS,
    HOLDEM,
    ROUNDS,
    audit,
    find_asked,
    go_on,
    let_the_generator_fail,
    repair,
    rule,
)

from egm.app.features import FEATURES
from egm.features.memory_clear.carrying import inspect_claims
from egm.kernel.events import EventType, State
from egm.people import Role
from egm.play.records.games import find_open_game
from egm.play.records.tables import read_shared_state
from egm.testing.clearing import build_paid_decision, clear_with_decisions
from egm.testing.service_menu import MenuUser, list_enabled_actions

BANKS = ("monaco-chemin-de-fer", "monaco-banque-a-tout-va")
#: Five and six in turn, so that both games have a decision before the third cards.
CARDS = {"monaco-chemin-de-fer": "2s Ks 3h 6c", "monaco-banque-a-tout-va": "2s 4h Kd 3s Ad 7d"}


def with_credit(rooms):
    for rig in rooms:
        rig.insert(BILL_CENTS)
    return rooms


def begin_undecided(rooms, game):
    """Begin a round and stop at a decision; return the play id of each position's game."""
    working = rooms[0].machine.random_service
    generator = script_cards(CARDS[game], 6) if game in CARDS else working
    for rig in with_credit(rooms):
        rig.machine.random_service = generator
    begin(rooms, TABLES[game])
    for rig in rooms:
        rig.machine.random_service = working
    assert find_asked(rooms) is not None
    return [find_open_game(rig.machine).play_id for rig in rooms]


def answer_cheaply(rooms):
    """Call or check at the position that must decide; if it can do neither, take its first option."""
    rig = find_asked(rooms)
    options, steps = rig.hands.messages[-1].options, len(find_open_game(rig.machine).steps)
    rig.engine.handle(EventType.CHOOSE, value=next(iter({"call", "check"} & {*options}), options[0]))
    go_on(rooms)
    assert len(find_open_game(rig.machine).steps) > steps, rig.notice


def list_claims(folder):
    """Return the claims of a memory clear by id; their total is all money that the positions brought."""
    return {proposal.id: proposal for proposal in inspect_claims(folder, FEATURES).proposals}


def check_claims(folder, game, count):
    """Check that each stake is claimed once, and carried over if players win each other's stakes."""
    claims = list_claims(folder)
    assert sum(claim.claim.amount for claim in claims.values()) == count * BILL_CENTS
    games = [claim for name, claim in claims.items() if name.startswith("game:")]
    assert len(games) == count
    if game in ROUNDS and "pai-gow" not in game:
        assert {claim.possible_decisions for claim in games} == {("carried",)}


@pytest.mark.requirement("S-51", "S-52", "A-05", "E-01")
@pytest.mark.parametrize("game", BANKS)
def test_a_round_continues_after_a_memory_clear_with_the_same_cards(seats, tmp_path, game):
    count = len(TABLES[game])
    rooms = seats(game, count=count)
    plays = begin_undecided(rooms, game)
    before = [find_open_game(rig.machine).steps for rig in rooms]
    rooms[0].close()
    check_claims(tmp_path, game, count)
    clear_with_decisions(tmp_path)
    rooms = seats(game, count=count)
    assert [find_open_game(rig.machine).steps for rig in rooms] == before
    go_on_to_the_end(rooms)
    check_recalled(rooms, plays)
    assert audit(rooms, tmp_path) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.requirement("S-32", "S-51", "S-52", "A-05", "E-01")
@pytest.mark.parametrize("game", TABLES)
def test_a_memory_clear_before_each_answer_claims_all_money_and_the_round_continues(seats, tmp_path, game):
    count = len(TABLES[game])
    rooms, clears = seats(game, count=count), 0
    plays = begin_undecided(rooms, game)
    while find_asked(rooms) is not None:
        before = [find_open_game(rig.machine).steps for rig in rooms]
        assert audit(rooms, tmp_path) == []
        check_claims(tmp_path, game, count)
        clear_with_decisions(tmp_path)
        rooms, clears = seats(game, count=count), clears + 1
        go_on(rooms)
        assert [find_open_game(rig.machine).steps for rig in rooms] == before
        answer_cheaply(rooms)
    assert {find_open_game(rig.machine).outcome is None for rig in rooms} == {False}
    go_on_to_the_end(rooms)
    check_recalled(rooms, plays)
    assert audit(rooms, tmp_path) == []
    assert clears


@pytest.mark.slow
@pytest.mark.requirement("S-18", "A-05", "E-01")
@pytest.mark.parametrize("game", PLAYER_BANKS)
def test_a_memory_clear_carries_over_a_round_under_a_players_bank(seats, tmp_path, game):
    rooms = with_credit(seats(game, count=3))
    play(rooms, STAKES)
    before_cents = sum(rig.credit_cents for rig in rooms)
    begin(rooms, [{"stake": 20, "bank": 40}, *STAKES[1:]])
    plays = [find_open_game(rig.machine).play_id for rig in rooms]
    shared = read_shared_state(rooms[0].machine, rooms[0].machine.games[game].digest)
    assert find_asked(rooms) is not None
    assert audit(rooms, tmp_path) == []
    claims = list_claims(tmp_path)
    assert sum(claim.claim.amount for claim in claims.values()) == before_cents
    assert {claims[f"game:{n}"].possible_decisions for n in (1, 2, 3)} == {("carried",)}
    clear_with_decisions(tmp_path)
    rooms = seats(game, count=3)
    assert read_shared_state(rooms[0].machine, rooms[0].machine.games[game].digest) == shared
    go_on_to_the_end(rooms)
    check_recalled(rooms, plays)
    assert audit(rooms, tmp_path) == []


@pytest.mark.requirement("S-32", "S-34", "A-05")
def test_a_memory_clear_claims_the_table_stakes_of_a_game_with_side_pots_once(seats, tmp_path):
    """Until the pots are awarded, each player's whole table stakes are claimed, and no pot is."""
    rooms = with_credit(seats(HOLDEM, count=3))
    begin(rooms, [{"stack": 200}, {"stack": 160}, {"stack": 300}])
    for option in ("call", "all-in", "all-in"):
        find_asked(rooms).engine.handle(EventType.CHOOSE, value=option)
        go_on(rooms)
    assert len(find_asked(rooms).hands.messages[-1].display["hands"][0]["pots"]) == 2
    rooms[0].close()
    check_claims(tmp_path, HOLDEM, 3)
    claims = list_claims(tmp_path)
    stakes = {name: claim.claim.amount for name, claim in claims.items() if name.startswith("game:")}
    assert stakes == {"game:1": 200 * 25, "game:2": 160 * 25, "game:3": 300 * 25}


@pytest.mark.requirement("S-32", "S-51", "S-52", "A-05")
@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=[pytest.mark.slow] * (game != BANKS[0])) for game in TABLES]
)
def test_a_memory_clear_pays_or_carries_over_what_each_position_won(seats, tmp_path, game):
    """The pots are awarded and only the first game has ended; one of the others is paid by hand."""
    count = len(TABLES[game])
    rooms = seats(game, count=count)
    begin_undecided(rooms, game)
    while find_asked(rooms) is not None:
        answer_cheaply(rooms)
    rooms[0].report_shown()
    kept_cents = sum(find_open_game(rig.machine).staked_cents - compute_return(rig) for rig in rooms[1:])
    kept_cents += BILL_CENTS - rooms[0].credit_cents
    paid_cents = compute_return(rooms[1])
    shared = read_shared_state(rooms[0].machine, rooms[0].machine.games[game].digest)
    rooms[0].close()
    claims = list_claims(tmp_path)
    assert sum(claim.claim.amount for claim in claims.values()) == count * BILL_CENTS - kept_cents
    assert claims["game:2"].claim.amount == paid_cents
    by_hand = (
        {"game_2": build_paid_decision(paid_cents)} if "paid" in claims["game:2"].possible_decisions else {}
    )
    clear_with_decisions(tmp_path, **by_hand)
    rooms = seats(game, count=count)
    go_on_to_the_end(rooms)
    owed_cents = paid_cents if by_hand else 0
    assert sum(rig.credit_cents for rig in rooms) == count * BILL_CENTS - kept_cents - owed_cents
    assert read_shared_state(rooms[0].machine, rooms[0].machine.games[game].digest) == shared
    assert audit(rooms, tmp_path) == []


def compute_return(rig):
    game = find_open_game(rig.machine)
    return game.outcome.returned_credits * game.denomination_cents


@pytest.mark.requirement("E-01", "E-03", "S-33", "B-01")
def test_the_recall_of_an_open_round_shows_no_other_positions_cards(seats):
    """Whoever opens the service menu at a position, its screen shows only its own player's cards."""
    rooms = seats(HOLDEM, count=4)
    plays = begin_undecided(rooms[:3], HOLDEM)
    menu = MenuUser(rooms[3]).sign_in(Role.ATTENDANT).touch("recall")
    menu.touch(plays[1])
    lines = menu.read_rows()
    assert (lines["Status"], lines["Pictures"]) == (
        "Still open",
        "Pictures shown only at position 2 until the round is decided",
    )
    assert (lines["Table stakes"], lines["Bets of position 1"], lines["Bets of position 3"]) == (
        "$50.00",
    ) * 3
    assert not {"seat", "others"} & lines.keys()
    assert "show" not in list_enabled_actions(menu.page)
    menu.rig.engine.handle(
        EventType.ANSWER_SERVICE_PAGE, value="show", options={"page": menu.page.id, "input": ""}
    )
    assert menu.page.replay is None
    menu.home().touch("leave")
    go_on_to_the_end(rooms[:3])
    menu = MenuUser(rooms[3]).sign_in(Role.ATTENDANT).touch("recall").touch(plays[1]).touch("show")
    assert menu.page.replay.display["hands"]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.requirement("E-01", "E-03", "S-33", "B-01", "A-08")
@pytest.mark.parametrize("game", TABLES)
def test_an_open_round_is_recalled_after_a_power_loss_before_each_answer(seats, game):
    """Each position sees its own game so far with its own cards, and no picture of the others."""
    count = len(TABLES[game])
    rooms, losses = seats(game, count=count), 0
    plays = begin_undecided(rooms, game)
    while find_asked(rooms) is not None:
        rooms[0].close()
        rooms, losses = seats(game, count=count), losses + 1
        go_on(rooms)
        for rig, own_play_id in zip(rooms, plays, strict=True):
            check_open_recall(rig, own_play_id, plays)
        answer_cheaply(rooms)
    go_on_to_the_end(rooms)
    check_recalled(rooms, plays)
    assert losses


@pytest.mark.slow
@pytest.mark.requirement("E-01", "F-14", "S-32", "S-51")
@pytest.mark.parametrize(
    ("game", "answers"),
    [(HOLDEM, 0), (HOLDEM, 3), (HOLDEM, 9), ("quebec-seven-card-stud-room", 9), (BANKS[0], 0)],
)
def test_a_round_that_a_failure_interrupted_is_recalled_as_open_and_then_as_void(
    seats, tmp_path, game, answers
):
    rooms = seats(game, count=len(TABLES[game]))
    plays = begin_undecided(rooms, game)
    for _ in range(answers):
        answer_cheaply(rooms)
    working = let_the_generator_fail(rooms)
    menu = MenuUser(rooms[0]).sign_in(Role.ATTENDANT).touch("recall")
    assert {row.cells[-1].value for row in menu.page.tables[0].rows} == {"service.recall.open"}
    menu.home().touch("leave")
    assert [rule(rig, "refund_game") for rig in reversed(rooms)] == [None] * len(rooms)
    repair(rooms, working)
    menu = MenuUser(rooms[0]).sign_in(Role.ATTENDANT).touch("recall")
    rows = menu.page.tables[0].rows
    assert {row.cells[-1].value for row in rows} == {"service.recall.void"}
    unit_cents = rooms[0].machine.selection.denomination_cents
    staked = {play: sum(bet.values()) * unit_cents for play, bet in zip(plays, TABLES[game], strict=True)}
    assert {row.action: row.cells[-3].value for row in rows} == staked
    assert {row.action: row.cells[-2].value for row in rows} == staked  # returned
    for play_id in plays:
        show_last_step(menu.touch(play_id))
        assert menu.page.replay.display["hands"]
        menu.touch("figures").touch("back")
    menu.home().touch("leave")
    assert audit(rooms, tmp_path) == []


def check_open_recall(rig, own_play_id, plays):
    """Check what the recall behind an open door shows of the undecided games of a round."""
    seen = rig.hands.messages[-1].display["hands"]
    rig.engine.handle(EventType.DOOR_OPENED, door="main")
    menu = MenuUser(rig).sign_in(Role.ATTENDANT).touch("recall")
    rows = menu.page.tables[0].rows
    assert {row.action for row in rows} == {*plays}
    assert {(row.icon, row.cells[-1].value) for row in rows} == {("warning", "service.recall.open")}
    for play_id in plays:
        menu.touch(play_id)
        assert menu.read_rows()["Status"] == "Still open"
        if play_id == own_play_id:
            show_last_step(menu)
            assert (menu.page.replay.display["hands"], menu.page.replay.answer) == (seen, None)
            menu.touch("figures")
        else:
            assert "show" not in list_enabled_actions(menu.page)
        menu.touch("back")
    menu.home().touch("leave")
    rig.engine.handle(EventType.DOOR_CLOSED, door="main")
    assert rig.state is State.PLAYING, rig.notice


@pytest.mark.requirement("E-01")
@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=[pytest.mark.slow] * (game in SLOW)) for game in TABLES]
)
def test_each_position_recalls_its_own_game_of_a_shared_round(seats, game):
    rooms = seats(game, count=len(TABLES[game]))
    plays = begin_undecided(rooms, game)
    go_on_to_the_end(rooms)
    check_recalled(rooms, plays)


def check_recalled(rooms, plays):
    """Check that the recall of every position lists each position's game and shows its own."""
    assert len({*plays}) == len(rooms)
    for rig, play_id in zip(rooms, plays, strict=True):
        menu = MenuUser(rig).sign_in(Role.ATTENDANT).touch("recall")
        assert {row.action for row in menu.page.tables[0].rows} == {*plays}
        show_last_step(menu.touch(play_id))
        assert menu.page.replay.display["hands"]


def show_last_step(menu):
    menu.touch("show")
    while "later" in list_enabled_actions(menu.page):
        menu.touch("later")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.requirement("S-52", "A-05")
def test_a_power_cut_at_any_entry_of_banque_settles_every_bet_once(seats, tmp_path):
    game = "monaco-banque-a-tout-va"
    for rooms, _ in iter_cut_rounds(seats, tmp_path, game, TABLES[game]):
        assert {rig.state for rig in rooms} == {State.IDLE}
        ended = [record["play_id"] for record in rooms[0].records("game.end")]
        assert len(ended) == len({*ended}) <= len(rooms)
