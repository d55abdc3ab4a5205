"""One game from button to credit: decided and durable before it is shown, never decided twice.

Stops are scripted where an outcome must be had: three lanterns (500 credits), three maple leaves (60), a
loss.
"""

import pytest
from machine_room import FailingChance, Room, ScriptedChance, generator

from egm.cabinet.cabinet import Key
from egm.cabinet.states import Event, State
from egm.link.messages import Play
from rng import OutOfService

LANTERNS, MAPLES, LOSS = (11, 11, 12), (23, 7, 5), (0, 0, 0)


@pytest.fixture
def room(tmp_path):
    room = Room(tmp_path, chance=ScriptedChance(*MAPLES, *LOSS, *LANTERNS)).boot()
    yield room.insert(10000)
    room.close()


def restart(room, folder, **options) -> Room:
    room.close()
    return Room(folder, **options).boot()


@pytest.mark.requirement("D-15", "C-17")
def test_the_outcome_is_durable_before_it_is_shown(room):
    room.play()
    assert room.state is State.PLAYING
    start = room.records("game.start")[-1]
    assert start["outcome"]["win_credits"] == 60
    assert [draw[:2] for draw in start["steps"][0]["draws"]] == [[24, 23], [24, 7], [24, 5]]
    message = room.hands.told[-1]
    assert isinstance(message, Play)
    assert (message.win_credits, message.win_cents, message.resumed) == (60, 300, False)
    assert room.credit_cents == 10000 - 5


@pytest.mark.requirement("F-04", "D-08", "D-09")
def test_the_win_is_credited_when_the_game_has_been_shown(room):
    room.play()
    room.shown()
    assert room.state is State.IDLE
    assert room.credit_cents == 10000 - 5 + 300
    (start,), ends = room.records("game.start"), room.records("game.end")
    assert ends == [{"play_id": start["play_id"], "win_cents": 300}]
    room.play()
    room.shown()
    assert room.credit_cents == 10000 - 5 + 300 - 5
    meters = room.journal.meters().values
    assert (meters["coin_in"], meters["coin_out"]) == (10, 300)


def test_shown_counts_once_and_only_for_this_game(room):
    room.play()
    room.engine.handle(Event.SHOWN, value="play-1")
    assert room.state is State.PLAYING
    room.shown()
    room.engine.handle(Event.SHOWN, value=room.records("game.start")[0]["play_id"])
    assert len(room.records("game.end")) == 1


@pytest.mark.requirement("F-08")
def test_cashing_out_in_the_middle_of_a_game_is_refused(room):
    room.play()
    room.engine.handle(Event.CASH_OUT)
    assert (room.state, room.notice) == (State.PLAYING, "refused.playing")
    assert room.records("cashout.request") == []


@pytest.mark.requirement("A-08", "B-08")
def test_a_restart_in_the_middle_shows_the_same_outcome_and_draws_nothing(room, tmp_path):
    room.play()
    shown = room.hands.told[-1]
    again = restart(room, tmp_path, chance=ScriptedChance())  # it has no numbers to give
    assert again.state is State.PLAYING
    message = again.hands.told[-1]
    assert message.resumed
    assert (message.play_id, message.display) == (shown.play_id, shown.display)
    again.shown()
    assert again.credit_cents == 10000 - 5 + 300
    again.close()


@pytest.mark.requirement("F-05", "F-06", "D-10")
def test_a_large_win_is_paid_by_hand_and_nothing_else_moves_until_then(tmp_path):
    room = Room(tmp_path, chance=ScriptedChance(*LANTERNS)).boot().insert(10000)
    room.engine.handle(Event.DENOMINATION, value=100)
    room.engine.handle(Event.BET, value=3)
    room.play()
    room.shown()
    assert room.state is State.HANDPAY
    assert room.cabinet.recall(Key.HANDPAY)["amount_cents"] == 150000
    assert room.credit_cents == 10000 - 300
    for wish in (Event.PLAY, Event.CASH_OUT):
        room.engine.handle(wish)
        assert room.notice == "refused.handpay"
    again = restart(room, tmp_path)
    assert again.state is State.HANDPAY  # a power cycle does not clear it
    again.engine.handle(Event.KEY_TURNED, key="attendant")
    assert again.state is State.IDLE
    assert again.credit_cents == 10000 - 300
    values = again.journal.meters().values
    assert values["att_jackpot"] == 150000
    assert values["coin_out"] == 0
    again.close()


@pytest.mark.requirement("F-05")
@pytest.mark.parametrize(("denomination", "state"), [(100, State.HANDPAY), (25, State.IDLE)])
def test_the_threshold_decides(tmp_path, denomination, state):
    room = Room(tmp_path, chance=ScriptedChance(*LANTERNS)).boot().insert(10000)
    room.engine.handle(Event.DENOMINATION, value=denomination)
    room.engine.handle(Event.BET, value=3)
    room.play()
    room.shown()
    assert room.state is state
    room.close()


@pytest.mark.requirement("F-14", "A-28")
def test_a_game_that_cannot_be_finished_gives_the_stake_back_and_no_prize(room, tmp_path):
    room.play()
    room.close()
    broken = Room(tmp_path, games=())  # the game is no longer on the machine
    broken.boot()
    assert broken.state is State.TILT
    assert "game_defective" in broken.cabinet.faults
    assert broken.credit_cents == 10000 - 5
    broken.engine.handle(Event.KEY_TURNED, key="attendant")
    assert broken.credit_cents == 10000
    assert broken.cabinet.recall(Key.GAME) is None
    (start,), voids = broken.records("game.start"), broken.records("game.void")
    (void,) = voids
    assert (void["play_id"], void["refund_cents"]) == (start["play_id"], 5)
    assert (void["ruling"], void["persons"]) == ("defect", ["attendant"])
    assert broken.journal.meters().values["refund_defect"] == 5
    broken.close()


@pytest.mark.requirement("F-02")
def test_no_play_without_the_credit_for_it(tmp_path):
    room = Room(tmp_path).boot()
    room.play()
    assert (room.state, room.notice) == (State.IDLE, "refused.bet_is_covered")
    assert room.records("game.start") == []
    room.close()


@pytest.mark.requirement("B-07")
def test_nothing_is_drawn_before_every_option_of_the_play_is_chosen(room):
    numbers = len(room.cabinet.chance.values)
    room.engine.handle(Event.BET, value=3)
    room.engine.handle(Event.DENOMINATION, value=25)
    room.engine.handle(Event.LANGUAGE, value="fr")
    assert len(room.cabinet.chance.values) == numbers
    room.play()
    assert len(room.cabinet.chance.values) == numbers - 3


@pytest.mark.requirement("C-04")
@pytest.mark.parametrize("bet", [0, -1, 4, "2", None, 2.0])
def test_a_bet_the_game_does_not_offer_is_refused(room, bet):
    room.engine.handle(Event.BET, value=bet)
    assert room.notice == "refused.bet_is_offered"
    assert room.cabinet.selection.bet_credits == 1


@pytest.mark.requirement("O-05")
def test_a_change_of_denomination_changes_no_balance(room):
    room.engine.handle(Event.DENOMINATION, value=100)
    assert room.credit_cents == 10000
    room.engine.handle(Event.DENOMINATION, value=7)
    assert room.notice == "refused.denomination_is_offered"
    assert room.cabinet.selection.denomination_cents == 100


@pytest.mark.requirement("B-02", "B-05")
def test_a_failure_of_chance_moves_nothing_and_stops_play_until_an_attendant_restarts_it(tmp_path):
    room = Room(tmp_path, chance=FailingChance()).boot().insert(10000)
    room.play()
    assert room.state is State.OUT_OF_SERVICE
    assert room.credit_cents == 10000
    assert room.records("game.start") == []
    again = restart(room, tmp_path, chance=generator())
    assert again.state is State.OUT_OF_SERVICE  # a power cycle is no authority
    again.restarts += [OutOfService("still"), generator()]
    again.engine.handle(Event.KEY_TURNED, key="attendant")
    assert (again.state, again.notice) == (State.OUT_OF_SERVICE, "chance_still_fails")
    again.engine.handle(Event.KEY_TURNED, key="attendant")
    assert again.state is State.IDLE
    again.close()


@pytest.mark.requirement("F-20", "F-08")
def test_a_machine_out_of_service_still_pays_the_player(tmp_path):
    room = Room(tmp_path, chance=FailingChance()).boot().insert(2000)
    room.play()
    room.engine.handle(Event.CASH_OUT)
    assert room.state is State.HANDPAY
    room.engine.handle(Event.KEY_TURNED, key="attendant")
    assert room.state is State.OUT_OF_SERVICE
    assert room.credit_cents == 0
    assert room.journal.balance_cents("out:handpay_cancelled_credit") == 2000
    room.close()


@pytest.mark.requirement("A-03", "A-02")
def test_damage_between_two_games_is_found_and_mended_before_the_next(room, tmp_path):
    room.play()
    room.shown()
    (log,) = (tmp_path / "second").glob("*.log")
    data = bytearray(log.read_bytes())
    written = len(data.rstrip(b"\0"))
    data[written - 40] ^= 0x01
    log.write_bytes(data)
    sequence = room.journal.sequence
    room.play()
    told = [entry for entry in room.journal.entries(since=sequence) if "memory.repaired" in str(entry.record)]
    assert told, "the damage was played over"
    starts = list(room.journal.entries("game.start", since=sequence))
    assert told[0].sequence < starts[0].sequence
    assert room.state is State.PLAYING


def test_a_game_is_told_once(room):
    room.play()
    start = next(iter(room.journal.entries("game.start")))
    assert room.journal.state("game") == {"play_id": start.record["play_id"]}
