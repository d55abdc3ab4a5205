"""Several players at one blackjack table: one deal, decisions in turn, each answer in every game, separate money."""

import asyncio
from copy import deepcopy
from dataclasses import replace

import pytest
from rigs.cards import script_cards
from rigs.rounds import TURN_SECONDS_MAX

from egm.kernel.events import EventType, State
from egm.kernel.messages import DecisionRequest
from egm.kernel.services import MachineContext
from egm.play.recall_page import RecallListPage
from egm.play.records.games import find_open_game
from egm.seats.decisions import apply_recorded_steps, decide_overdue_turns
from egm.seats.feature import BettingClock, create_betting_clock, iter_notices
from egm.seats.table import SharedTables
from egm.testing.clearing import clear_with_decisions
from egm.testing.machine import GeneratorOutOfService
from meters import open_view
from meters.entry import decode
from meters.recall import iter_recent_plays
from tools.audit import rounds
from tools.audit.games import GameAudit, GameFiles
from tools.audit.verify import Auditor

GAME = "quebec-blackjack-options"
STAKE, STAKE_CENTS, CREDIT_CENTS = 10, 1000, 10000
#: The first cards of three boxes and the dealer, then the cards of each answer: a pair of eights is split, and one of
#: them doubled on ten; eleven is doubled; nineteen stands; the dealer draws to twenty.
DEAL = "8s 6h Th Ks 8d 5h 9c"
ANSWERS = (
    (0, "split", "2h"),
    (0, "double", "Td 9d"),
    (0, "stand", ""),
    (1, "double", "Tc"),
    (2, "stand", "Qs"),
)

CARDS = " ".join([DEAL, *(cards for _, _, cards in ANSWERS)])


def digest_of(rig):
    return rig.machine.games[GAME].digest


def sit_down(rooms, cards=CARDS):
    """Let every position bet, and deal the first cards."""
    generator = script_cards(cards, decks=8)
    for rig in rooms:
        place_bet(rig, generator)
    table_of(rooms).close_betting(digest_of(rooms[0]))
    assert [rig.state for rig in rooms] == [State.PLAYING] * len(rooms)


def place_bet(rig, generator):
    """Bet with a player who gets credit."""
    rig.machine.random_service = generator
    rig.insert(CREDIT_CENTS)
    rig.engine.handle(EventType.SELECT_BET, value=STAKE, options={"bets": {"main": STAKE}})
    rig.engine.handle(EventType.PLAY)
    assert rig.state is State.BETTING, rig.notice


def table_of(rooms):
    return rooms[0].machine.component(SharedTables)


def answer(rooms, seat, choice):
    """Answer at a seat, and pass the answer to the others."""
    before = len(find_open_game(rooms[seat].machine).steps)
    rooms[seat].engine.handle(EventType.CHOOSE, value=choice)
    assert len(find_open_game(rooms[seat].machine).steps) == before + 1, rooms[seat].notice
    apply_recorded_steps(table_of(rooms))


def play_on(rooms, answers=ANSWERS):
    for seat, choice, _ in answers:
        answer(rooms, seat, choice)


def read_last_message(rig):
    return rig.hands.messages[-1]


def end_display(rooms):
    """End the display of the outcomes; return the credits of each position."""
    for rig in rooms:
        rig.report_shown()
        assert rig.state is State.IDLE
    return [rig.credit_cents for rig in rooms]


def check_credits_of_deal(rooms):
    """Check the credits after one deal: a push of two stakes and a loss; two won; one lost."""
    games = [find_open_game(rig.machine) for rig in rooms]
    assert len({game.round_id for game in games}) == 1
    assert len({game.steps for game in games}) == 1
    assert [game.staked_cents for game in games] == [3 * STAKE_CENTS, 2 * STAKE_CENTS, STAKE_CENTS]
    assert [
        [(settlement.name, settlement.credits) for settlement in game.outcome.settlements] for game in games
    ] == [
        [("push", 20), ("lost", 0)],
        [("won", 40)],
        [("lost", 0)],
    ]
    credits_cents = end_display(rooms)
    assert credits_cents == [CREDIT_CENTS + cents for cents in (-STAKE_CENTS, 2 * STAKE_CENTS, -STAKE_CENTS)]


def check_audit(rooms, folder):
    rooms[0].journal.self_audit()
    rooms[0].close()
    with open_view(folder) as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []


@pytest.mark.requirement("B-01", "O-01")
def test_three_players_play_one_round_with_a_split_and_two_doubles(seats, tmp_path):
    rooms = seats(GAME, count=3)
    sit_down(rooms)
    messages = [read_last_message(rig) for rig in rooms]
    assert [isinstance(message, DecisionRequest) for message in messages] == [True] * 3
    assert [message.options for message in messages] == [("stand", "hit", "double", "split"), (), ()]
    assert [message.seat for message in messages] == [0] * 3
    for number, message in enumerate(messages, 1):
        assert [hand["id"] for hand in message.display["hands"] if "own" in hand] == [f"box-{number}"]
        assert "advice" not in message.display or number == 1
    play_on(rooms)
    check_credits_of_deal(rooms)
    check_audit(rooms, tmp_path)


@pytest.mark.requirement("E-02", "E-04")
def test_recall_has_the_steps_and_the_money_of_each_position_apart(seats):
    rooms = seats(GAME, count=3)
    sit_down(rooms)
    play_on(rooms)
    end_display(rooms)
    found = list(iter_recent_plays(rooms[0].journal))
    assert [len(play.step_entries) for play in found] == [len(ANSWERS)] * 3
    assert [play.bet_cents for play in found] == [STAKE_CENTS, 2 * STAKE_CENTS, 3 * STAKE_CENTS]
    assert [play.payout_cents for play in found] == [0, 4 * STAKE_CENTS, 2 * STAKE_CENTS]
    assert [sum(play.added_cents_by_source.values()) for play in found] == [CREDIT_CENTS] * 3


@pytest.mark.requirement("E-01")
def test_recall_says_which_position_answered_what_in_a_round_of_several(seats):
    """Each seat's game contains all answers; without the positions they would read as one player's."""
    rooms = seats(GAME, count=3)
    sit_down(rooms)
    play_on(rooms)
    end_display(rooms)
    machine, page = rooms[0].machine, RecallListPage()
    (listed,) = page.build_page(machine).tables
    assert [row.cells[1].value for row in listed.rows] == [3, 2, 1]
    detail = page.handle_input(machine, str(listed.rows[0].action), "").page
    (choices,) = [table for table in detail.build_page(machine).tables if "choices" in str(table.title)]
    positions = [row.cells[0].values["position"] for row in choices.rows]
    assert positions == [seat + 1 for seat, *_ in ANSWERS]
    for step, (seat, *_) in enumerate(ANSWERS):
        detail.step_index = step
        ((row,),) = [table.rows for table in detail.build_page(machine).tables]
        assert row.cells[-1].values == {"number": seat + 1}
    detail.step_index = len(ANSWERS)
    assert detail.build_page(machine).tables == ()  # no seat has given this answer


@pytest.mark.requirement("S-07")
def test_a_seat_decides_only_for_itself_and_in_turn(seats):
    first, second, third = rooms = seats(GAME, count=3)
    sit_down(rooms)
    second.engine.handle(EventType.CHOOSE, value="stand")
    assert (second.notice, len(find_open_game(second.machine).steps)) == ("refused.turn_is_yours", 1)
    first.engine.handle(EventType.CHOOSE, value="stand")
    assert [len(find_open_game(rig.machine).steps) for rig in rooms] == [2, 1, 1]
    second.engine.handle(EventType.CHOOSE, value="stand")  # the first answer has not reached it yet
    assert len(find_open_game(second.machine).steps) == 1
    apply_recorded_steps(table_of(rooms))
    assert [len(find_open_game(rig.machine).steps) for rig in rooms] == [2, 2, 2]
    assert read_last_message(second).options == ("stand", "hit", "double")
    assert read_last_message(third).options == ()


def test_a_player_out_of_time_stands_and_is_informed(seats, tmp_path):
    first, second, third = rooms = seats(GAME, count=3)
    sit_down(rooms, f"{DEAL} Qs")
    table = table_of(rooms)
    assert [seat.machine.position.number for seat in decide_overdue_turns(table)] == [1, 2, 3]
    assert decide_overdue_turns(table) == []
    first.clock.pass_seconds(4.5)
    notices = [[(notice.code, notice.values) for notice in iter_notices(rig.machine)] for rig in rooms]
    seconds_left = TURN_SECONDS_MAX - 4
    assert notices == [
        [("answer_within", {"seconds": seconds_left})],
        *[[("seat_answers", {"seat": 1, "seconds": seconds_left})]] * 2,
    ]
    for rig in (first, second):
        decide_overdue_turns(table)
        first.clock.pass_seconds(TURN_SECONDS_MAX)
        decide_overdue_turns(table)
        assert rig.notice == "answered_for"
        assert (third.notice, len({len(find_open_game(rig.machine).steps) for rig in rooms})) == (None, 1)
    answer(rooms, 2, "stand")
    assert [game.outcome.returned_credits for game in (find_open_game(rig.machine) for rig in rooms)] == [
        0,
        0,
        0,
    ]
    end_display(rooms)
    check_audit(rooms, tmp_path)


@pytest.mark.requirement("O-06")
def test_a_seat_with_a_fault_delays_nobody_and_catches_up(seats, tmp_path):
    first, second, third = rooms = seats(GAME, count=3)
    sit_down(rooms, "8s 6h Th Ks 8d 5h 9c 2d Qs")
    answer(rooms, 0, "stand")
    second.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    assert second.state is State.TILT
    decide_overdue_turns(table_of(rooms))
    assert [len(find_open_game(rig.machine).steps) for rig in rooms] == [2, 2, 2]
    first.clock.pass_seconds(TURN_SECONDS_MAX)
    decide_overdue_turns(table_of(rooms))
    assert [len(find_open_game(rig.machine).steps) for rig in rooms] == [3, 2, 3]
    answer(rooms, 2, "stand")
    for rig in (first, third):
        rig.report_shown()
    assert [rig.state for rig in rooms] == [State.IDLE, State.TILT, State.IDLE]
    second.engine.handle(EventType.FAULT_CLEARED, code="bill_acceptor.cheat")
    second.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert second.state is State.PLAYING
    apply_recorded_steps(table_of(rooms))
    game = find_open_game(second.machine)
    assert [step.choice for step in game.steps] == [None, "stand", "stand", "stand"]
    second.report_shown()
    assert second.credit_cents == CREDIT_CENTS + STAKE_CENTS  # the dealer has twenty-two
    check_audit(rooms, tmp_path)


def end_without_second_seat(rooms, first="stand"):
    """Answer at the first and third seats; the second is answered for, and its own game waits."""
    if first:
        answer(rooms, 0, first)
    apply_recorded_steps(table_of(rooms))
    decide_overdue_turns(table_of(rooms))
    rooms[0].clock.pass_seconds(TURN_SECONDS_MAX)
    decide_overdue_turns(table_of(rooms))
    answer(rooms, 2, "stand")
    rooms[0].report_shown()
    rooms[2].report_shown()
    assert [rig.state for rig in rooms] == [State.IDLE, State.TILT, State.IDLE]


def resume_second_seat(rooms):
    """Clear the second position's fault; return its game after it has caught up."""
    two = rooms[1]
    two.engine.handle(EventType.FAULT_CLEARED, code="bill_acceptor.cheat")
    two.engine.handle(EventType.KEY_TURNED, key="attendant")
    apply_recorded_steps(table_of(rooms))
    game = find_open_game(two.machine)
    assert game.outcome is not None, two.notice
    two.report_shown()
    assert two.state is State.IDLE
    return game


@pytest.mark.requirement("A-05", "B-01")
@pytest.mark.parametrize("is_over", [True, False], ids=["its round is over", "its round goes on"])
def test_a_memory_clear_redraws_no_card_for_a_seat_behind_its_round(seats, tmp_path, is_over):
    rooms = seats(GAME, count=3)
    sit_down(rooms, "8s 6h Th Ks 8d 5h 9c 2d Qs")
    rooms[1].engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    if is_over:
        end_without_second_seat(rooms)
    else:
        answer(rooms, 0, "stand")
    for pass_number in range(2):
        rooms[0].close()
        if is_over or not pass_number:
            clear_with_decisions(tmp_path)
        rooms = seats(GAME, count=3)
        if not is_over and not pass_number:
            for rig in rooms:
                rig.machine.random_service = script_cards("2d Qs", decks=8)
            end_without_second_seat(rooms, "")
    rooms[1].machine.random_service = script_cards("3c 3d 4h 4s", decks=8)  # other cards than those that lie
    game = resume_second_seat(rooms)
    assert [step.choice for step in game.steps] == [None, "stand", "stand", "stand"]
    assert [len(step.draws) for step in game.steps[1:]] == [0, 0, 2]
    assert rooms[1].credit_cents == CREDIT_CENTS + STAKE_CENTS
    check_audit(rooms, tmp_path)
    reasons = []
    audit = GameAudit(GameFiles(), lambda _, reason: reasons.append(reason))
    with open_view(tmp_path) as view:
        for entry in map(decode, view.iter_bodies()):
            record = deepcopy(entry.transaction.record)
            if entry.kind == "game.choice" and record["play_id"] == game.play_id and record["draws"]:
                record["draws"][0][1] += 4
            audit.check_entry(entry._replace(transaction=replace(entry.transaction, record=record)))
    assert any("differs from the one that another seat recorded" in reason for reason in reasons)


@pytest.mark.requirement("O-06")
def test_a_seat_may_stay_behind_for_more_rounds_than_are_remembered(seats, tmp_path, monkeypatch):
    monkeypatch.setattr(rounds, "_STORED_ENDED_ROUNDS_MAX", 1)
    rooms = seats(GAME, count=3)
    sit_down(rooms, "8s 6h Th Ks 8d 5h 9c 2d Qs")
    rooms[1].engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    end_without_second_seat(rooms)
    for _ in range(3):
        place_bet(rooms[0], script_cards("Ts Ks Td 9c", decks=8))
        table_of(rooms).close_betting(digest_of(rooms[0]))
        answer(rooms, 0, "stand")
        rooms[0].report_shown()
    assert len(resume_second_seat(rooms).steps) == 4
    check_audit(rooms, tmp_path)


def test_bets_without_a_new_game_take_part_and_stand(seats, tmp_path):
    first, second, third = rooms = seats(GAME, count=3)
    generator = script_cards(f"{DEAL} Qs", decks=8)
    for rig in rooms:
        place_bet(rig, generator)
    second.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    table_of(rooms).close_betting(digest_of(first))
    assert [rig.state for rig in rooms] == [State.PLAYING, State.TILT, State.PLAYING]
    assert second.credit_cents == CREDIT_CENTS
    answer(rooms, 0, "stand")
    decide_overdue_turns(table_of(rooms))  # no player can answer for the second box
    assert [len(find_open_game(rig.machine).steps) for rig in (first, third)] == [3, 3]
    answer(rooms, 2, "stand")
    end_display((first, third))
    check_audit(rooms, tmp_path)


def test_at_the_end_of_the_time_the_table_answers_for_a_silent_player(seats):
    first, *_ = rooms = seats(GAME, count=3)
    sit_down(rooms, f"{DEAL} Qs")
    handle = table_of(rooms).position_by_number[1].submit_event
    clock = BettingClock(MachineContext(first.engine, None, None, first.clock, handle))

    async def session():
        async def turn():
            clock.process_change(None)
            for _ in range(9):  # it hears of it, and looks
                await asyncio.sleep(0)
            return [len(find_open_game(rig.machine).steps) for rig in rooms]

        running = asyncio.create_task(clock.run())
        found = [await turn()]
        first.engine.handle(EventType.CHOOSE, value="stand")
        found.append(await turn())
        first.clock.pass_seconds(TURN_SECONDS_MAX + 1)
        found += [await turn(), await turn()]
        running.cancel()
        return found

    assert asyncio.run(session()) == [[1, 1, 1], [2, 2, 2], [3, 3, 3], [3, 3, 3]]
    assert [rig.notice for rig in rooms] == [None, "answered_for", None]


def test_an_answer_that_needs_a_draw_waits_for_the_generator(seats):
    first, *_ = rooms = seats(GAME, count=2)
    sit_down(rooms, "8s 6h Ks 8d 5h Qs 9d")
    answer(rooms, 0, "stand")
    for rig in rooms:
        rig.machine.random_service = GeneratorOutOfService()
        rig.engine.handle(EventType.GENERATOR_FAILED, detail="planted")
    decide_overdue_turns(table_of(rooms))
    first.clock.pass_seconds(TURN_SECONDS_MAX)
    events = []
    seat = table_of(rooms).position_by_number[2]
    seat.submit_event = lambda event, handle=seat.submit_event: (events.append(event.name), handle(event))
    for _ in range(5):
        decide_overdue_turns(table_of(rooms))
    assert events == [EventType.CHOOSE]
    assert [len(find_open_game(rig.machine).steps) for rig in rooms] == [2, 2]


def test_while_no_seat_can_play_the_time_to_answer_does_not_run(seats):
    first, *_ = rooms = seats(GAME, count=3)
    sit_down(rooms)
    decide_overdue_turns(table_of(rooms))
    for rig in rooms:
        rig.engine.handle(EventType.DOOR_OPENED, door="main")
    first.clock.pass_seconds(10 * TURN_SECONDS_MAX)
    decide_overdue_turns(table_of(rooms))
    for rig in rooms:
        rig.engine.handle(EventType.DOOR_CLOSED, door="main")
        rig.engine.update_state()
    assert [rig.state for rig in rooms] == [State.PLAYING] * 3
    decide_overdue_turns(table_of(rooms))
    assert len(find_open_game(first.machine).steps) == 1
    play_on(rooms)
    check_credits_of_deal(rooms)


def test_the_next_round_waits_for_the_one_in_play(seats):
    first, *others, late = rooms = seats(GAME, count=4)
    sit_down(rooms[:3])
    place_bet(late, first.machine.random_service)
    assert table_of(rooms).must_next_round_wait(digest_of(first))
    play_on(rooms)
    assert not table_of(rooms).must_next_round_wait(digest_of(first))
    check_credits_of_deal((first, *others))


@pytest.mark.requirement("B-01")
def test_the_audit_compares_each_seat_with_the_answers_and_cards(seats, tmp_path):
    rooms = seats(GAME, count=3)
    sit_down(rooms)
    play_on(rooms)
    check_credits_of_deal(rooms)
    check_audit(rooms, tmp_path)
    with open_view(tmp_path) as view:
        entries = [entry for entry in map(decode, view.iter_bodies()) if entry.kind.startswith("game.")]

    def found(kind, number, change):
        index = [n for n, entry in enumerate(entries) if entry.kind == kind][number]
        record = deepcopy(entries[index].transaction.record)
        change(record)
        reasons = []
        audit = GameAudit(GameFiles(), lambda _, reason: reasons.append(reason))
        lie = entries[index]._replace(transaction=replace(entries[index].transaction, record=record))
        for entry in (*entries[:index], lie, *entries[index + 1 :]):
            audit.check_entry(entry)
        return "; ".join(reasons)

    def another_card(record):
        record["draws"][0][1] += 4

    assert found("game.start", 0, lambda record: None) == ""
    assert "bets on the table differ from those recorded by another seat" in found(
        "game.start", 1, lambda record: record["wager"]["options"]["others"]["0"].update(main=20)
    )
    assert "differs from the one that another seat recorded" in found("game.choice", 1, another_card)
    assert "differs from the one that another seat recorded" in found(
        "game.choice", 2, lambda record: record.update(choice="stand")
    )
    assert "record.round_id: expected" in found("game.choice", 3, lambda record: record.pop("round_id"))
    assert "record.round_id names no shared round" in found(
        "game.start", 2, lambda record: record.pop("round_id")
    )
    firsts = [n for n, entry in enumerate(entries) if entry.kind == "game.choice"]
    swapped = [*entries]
    swapped[firsts[0]], swapped[firsts[1]] = entries[firsts[1]], entries[firsts[0]]
    reasons = []
    audit = GameAudit(GameFiles(), lambda _, reason: reasons.append(reason))
    for entry in swapped:
        audit.check_entry(entry)
    assert reasons == ["record.choice: only seat 0 may decide; expected the default 'stand', found 'split'"]


@pytest.mark.parametrize(
    "options",
    [
        {"bets": {"main": STAKE}, "seat": 0},
        {"bets": {"main": STAKE}, "seat": 1, "others": {"0": {"main": 2 * STAKE}}},
        {"bets": {"main": STAKE}, "others": {"1": {"main": STAKE}}},
        {"seats": {"0": {"main": STAKE}}},
        {"seats": {"1": {"main": STAKE}}},
    ],
)
@pytest.mark.parametrize("count", [1, 2])
def test_a_player_cannot_state_the_seat_or_the_bets_of_others(seats, options, count):
    """Regression: the game of a seat in no round was never answered, and held stake and credit."""
    rig, *_ = rooms = seats(GAME, count=count)
    rig.insert(CREDIT_CENTS)
    rig.engine.handle(EventType.SELECT_BET, value=STAKE, options=options)
    assert rig.notice == "refused.bet_is_offered"
    rig.engine.handle(EventType.SELECT_BET, value=STAKE, options={"bets": {"main": STAKE}})
    rig.engine.handle(EventType.PLAY)
    assert rig.state is (State.PLAYING if count == 1 else State.BETTING)
    assert find_open_game(rooms[0].machine) is None or find_open_game(rooms[0].machine).wager.seat is None


@pytest.mark.requirement("A-08")
def test_a_seat_behind_its_round_ends_it_where_its_machine_has_one_position_now(seats, tmp_path):
    """The other positions ended their games and were removed, so that their answers are no longer available."""
    rooms = seats(GAME, count=3)
    sit_down(rooms)
    play_on(rooms, ANSWERS[:3])
    behind = table_of(rooms).position_by_number.pop(1)
    for seat, choice, _ in ANSWERS[3:]:
        answer(rooms, seat, choice)
    for rig in rooms[1:]:
        rig.report_shown()
    assert find_open_game(behind.machine).outcome is None
    rooms[0].close()
    [rig] = seats(GAME, count=1)
    context = MachineContext(rig.engine, None, None, rig.clock, rig.submit_event)
    [attachment] = create_betting_clock(context)

    async def follows():
        running = asyncio.create_task(attachment.run())
        for _ in range(5):
            await asyncio.sleep(0)
        running.cancel()

    asyncio.run(follows())
    rig.report_shown()
    assert (rig.state, rig.credit_cents) == (State.IDLE, CREDIT_CENTS - STAKE_CENTS)
    assert list(create_betting_clock(context)) == []


@pytest.mark.requirement("F-14")
@pytest.mark.parametrize("restarted", [False, True])
def test_a_game_whose_next_step_another_seat_has_recorded_is_not_refunded(seats, restarted):
    first, behind = rooms = seats(GAME, count=2)
    sit_down(rooms, "8s 6h Ks 8d 5h Qs")
    behind.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    first.engine.handle(EventType.CHOOSE, value="stand")
    if restarted:
        first.close()
        first, behind = rooms = seats(GAME, count=2)
    for rig in rooms:
        rig.machine.random_service = GeneratorOutOfService()
        rig.engine.handle(EventType.GENERATOR_FAILED, detail="planted")
    persons = {"person": "2", "persons": ("2", "5")}
    behind.engine.handle(EventType.REFUND_GAME, form="refund_game", reason="the generator", **persons)
    assert not behind.records("game.void")
    assert behind.notice == "refused.game_cannot_end"
    behind.engine.handle(EventType.FAULT_CLEARED, code="bill_acceptor.cheat")
    behind.engine.handle(EventType.KEY_TURNED, key="attendant")
    apply_recorded_steps(table_of(rooms))
    assert [len(find_open_game(rig.machine).steps) for rig in rooms] == [2, 2]
