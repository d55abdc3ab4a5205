"""One game from the button to the credit: decided and stored before it is shown, and never decided twice.

Where a test needs a certain outcome, the draws are scripted: three lanterns (500 credits), three maple leaves (60), a
loss.
"""

from importlib.resources import files

import pytest

from egm.app.features import FEATURES
from egm.app.wiring import build_event_from_intent
from egm.kernel.events import EventError, EventType, State
from egm.kernel.messages import GameOutcome, Intent
from egm.money.keys import MoneyKey
from egm.testing.machine import (
    DEFAULT_GAME_ID,
    GeneratorOutOfService,
    MachineRig,
    ScriptedGenerator,
    create_generator,
)
from meters import JournalError, SelfAuditFailed
from rng import OutOfService

LANTERNS, MAPLES, LOSS = (11, 11, 12), (23, 7, 5), (0, 0, 0)


@pytest.fixture
def rig(tmp_path):
    rig = MachineRig(tmp_path, generator=ScriptedGenerator(*MAPLES, *LOSS, *LANTERNS)).boot()
    yield rig.insert(10000)
    rig.close()


def restart(rig, folder, **options) -> MachineRig:
    rig.close()
    return MachineRig(folder, **options).boot()


@pytest.mark.requirement("D-15", "C-17")
def test_the_outcome_is_durable_before_it_is_shown(rig):
    rig.play()
    assert rig.state is State.PLAYING
    start = rig.records("game.start")[-1]
    assert start["outcome"]["win_credits"] == 60
    assert [draw[:2] for draw in start["steps"][0]["draws"]] == [[24, 23], [24, 7], [24, 5]]
    message = rig.hands.messages[-1]
    assert isinstance(message, GameOutcome)
    assert (message.returned_credits, message.paid_cents, message.is_resumed) == (60, 300, False)
    assert rig.credit_cents == 10000 - 5


@pytest.mark.requirement("D-15")
def test_the_stake_is_metered_by_game_denomination_and_wager_with_the_credit_change(rig):
    """The entry that takes the stake from the credit also states the meter dimensions of the stake."""
    rig.play()
    assert rig.state is State.PLAYING
    game = rig.machine.games[DEFAULT_GAME_ID]
    parts = {
        "game": DEFAULT_GAME_ID,
        "paytable": f"{DEFAULT_GAME_ID}@{game.version}",
        "denomination_cents": "5",
        "wager_level": "1",
    }
    reading = rig.journal.meters()
    assert (reading.values["coin_in"], reading.values["games_played"]) == (5, 1)
    for dimension, value in parts.items():
        assert reading.split_by("coin_in", dimension) == {value: 5}
        assert reading.split_by("games_played", dimension) == {value: 1}


def remove_credit(rig):
    rig.engine.handle(EventType.CASH_OUT)


def open_door(rig):
    rig.engine.handle(EventType.DOOR_OPENED, door="main")


def start_play(rig):
    rig.play()


def raise_tilt(rig):
    rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat", detail="string")
    assert rig.state is State.TILT


def dearer_than_the_credit(rig):
    while rig.credit_cents >= 15:
        rig.play()
        rig.report_shown()
    rig.engine.handle(EventType.SELECT_BET, value=3)


@pytest.mark.requirement("C-21")
@pytest.mark.parametrize(
    "block_play", [remove_credit, open_door, start_play, raise_tilt, dearer_than_the_credit]
)
def test_a_play_starts_from_idle_behind_closed_doors_with_the_bet_covered_only(tmp_path, block_play):
    rig = MachineRig(tmp_path, generator=ScriptedGenerator(*LOSS * 40)).boot().insert(100)
    assert rig.records("game.start") == [], "nothing but PLAY starts one"
    rig.play()
    rig.report_shown()
    assert rig.state is State.IDLE
    block_play(rig)
    start_count = len(rig.records("game.start"))
    rig.engine.handle(EventType.PLAY)
    assert len(rig.records("game.start")) == start_count
    rig.close()


@pytest.mark.requirement("C-21")
def test_only_play_starts_a_game(rig):
    for event, values in (
        (EventType.SELECT_BET, {"value": 2}),
        (EventType.SELECT_GAME, {"value": DEFAULT_GAME_ID}),
        (EventType.SELECT_DENOMINATION, {"value": 25}),
        (EventType.SELECT_LANGUAGE, {"value": "fr"}),
        (EventType.TOGGLE_SERVICE_CALL, {}),
        (EventType.OUTCOME_SHOWN, {}),
        (EventType.CHOOSE, {"value": "collect"}),
        (EventType.DISMISS_REMINDER, {}),
        (EventType.CASH_OUT, {}),
    ):
        rig.engine.handle(event, **values)
    assert rig.records("game.start") == []


@pytest.mark.requirement("F-04", "D-08", "D-09", "F-01")
def test_the_win_is_credited_when_the_game_has_been_shown(rig):
    rig.play()
    rig.report_shown()
    assert rig.state is State.IDLE
    assert rig.credit_cents == 10000 - 5 + 300
    (start,), ends = rig.records("game.start"), rig.records("game.end")
    assert ends == [{"play_id": start["play_id"], "win_cents": 300}]
    rig.play()
    rig.report_shown()
    assert rig.credit_cents == 10000 - 5 + 300 - 5
    meters = rig.journal.meters().values
    assert (meters["coin_in"], meters["coin_out"]) == (10, 300)


def test_the_report_that_a_game_was_shown_counts_once_and_for_that_game(rig):
    rig.play()
    rig.engine.handle(EventType.OUTCOME_SHOWN, value="play-1")
    assert rig.state is State.PLAYING
    rig.report_shown()
    rig.engine.handle(EventType.OUTCOME_SHOWN, value=rig.records("game.start")[0]["play_id"])
    assert len(rig.records("game.end")) == 1


@pytest.mark.requirement("F-08")
def test_cash_out_during_a_game_is_refused(rig):
    rig.play()
    rig.engine.handle(EventType.CASH_OUT)
    assert (rig.state, rig.notice) == (State.PLAYING, "refused.playing")
    assert rig.records("cashout.request") == []


@pytest.mark.requirement("A-08", "B-08")
def test_a_restart_during_a_game_shows_the_same_outcome_without_a_draw(rig, tmp_path):
    rig.play()
    shown = rig.hands.messages[-1]
    restarted = restart(rig, tmp_path, generator=ScriptedGenerator())  # it has no numbers to give
    assert restarted.state is State.PLAYING
    message = restarted.hands.messages[-1]
    assert message.is_resumed
    assert (message.play_id, message.display) == (shown.play_id, shown.display)
    restarted.report_shown()
    assert restarted.credit_cents == 10000 - 5 + 300
    restarted.close()


@pytest.mark.requirement("F-05", "F-06:b", "F-06:c", "D-10")
def test_a_large_win_is_paid_by_hand_and_nothing_else_moves_until_then(tmp_path):
    rig = MachineRig(tmp_path, generator=ScriptedGenerator(*LANTERNS)).boot().insert(10000)
    rig.engine.handle(EventType.SELECT_DENOMINATION, value=100)
    rig.engine.handle(EventType.SELECT_BET, value=3)
    rig.play()
    rig.report_shown()
    assert rig.state is State.HANDPAY
    assert rig.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"] == 150000
    assert rig.credit_cents == 10000 - 300
    for event_type in (EventType.PLAY, EventType.CASH_OUT):
        rig.engine.handle(event_type)
        assert rig.notice in {
            "refused.handpay",
            "refused.ticket_may_replace",
        }  # the same words, on the screen
    restarted = restart(rig, tmp_path)
    assert restarted.state is State.HANDPAY  # a power cycle does not clear it
    restarted.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert restarted.state is State.IDLE
    assert restarted.credit_cents == 10000 - 300
    values = restarted.journal.meters().values
    assert (values["att_jackpot"], values["handpays.jackpot"]) == (150000, 1)
    assert values["coin_out"] == 0
    restarted.close()


def write_profile(folder, old, new):
    """Write the generic profile with one line replaced; return its path."""
    folder.mkdir(exist_ok=True)
    text = (files("egm.profiles") / "generic.toml").read_text(encoding="utf-8")
    assert old in text
    path = folder / "place.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


def win_with_profile(folder, profile_file):
    """Return a machine under this profile with a win of 1500.00."""
    rig = (
        MachineRig(folder / "state", profile=profile_file, generator=ScriptedGenerator(*LANTERNS))
        .boot()
        .insert(10000)
    )
    rig.engine.handle(EventType.SELECT_DENOMINATION, value=100)
    rig.engine.handle(EventType.SELECT_BET, value=3)
    rig.play()
    rig.report_shown()
    return rig


@pytest.mark.requirement("F-05:a")
@pytest.mark.parametrize(
    ("threshold", "state"), [(149999, State.HANDPAY), (150000, State.HANDPAY), (150001, State.IDLE)]
)
def test_the_threshold_itself_locks_and_a_cent_less_does_not(tmp_path, threshold, state):
    rig = win_with_profile(
        tmp_path, write_profile(tmp_path, "large_win_cents = 120000", f"large_win_cents = {threshold}")
    )
    assert rig.state is state
    locked = state is State.HANDPAY
    assert rig.credit_cents == 10000 - 300 + (0 if locked else 150000)
    assert rig.engine.accepts_event_type(EventType.PLAY) is not locked
    rig.close()


@pytest.mark.requirement("F-06:d")
@pytest.mark.parametrize(("tax", "state"), [(150000, State.HANDPAY), (150001, State.IDLE)])
def test_an_award_to_be_reported_for_tax_is_never_paid_by_the_machine(tmp_path, tax, state):
    profile_file = write_profile(tmp_path, "large_win_cents = 120000", "large_win_cents = 9000000")
    text = profile_file.read_text(encoding="utf-8")
    assert "[by_hand]" not in text or text.count("[by_hand]") == 1
    taxed = text.replace("[by_hand]", f"[by_hand]\ntax_cents = {tax}")
    profile_file.write_text(
        taxed if taxed != text else f"{text}\n[by_hand]\ntax_cents = {tax}\n", encoding="utf-8"
    )
    rig = win_with_profile(tmp_path, profile_file)
    assert rig.state is state
    if state is State.HANDPAY:
        rig.engine.handle(EventType.KEY_TURNED, key="attendant")
        assert [record["taxable"] for record in rig.records("handpay.paid")] == [True]
        assert rig.journal.meters().values["att_jackpot"] == 150000
    rig.close()


@pytest.mark.requirement("P-05", "O-07")
@pytest.mark.parametrize(
    "game",
    [
        "river-wheel",
        "aurora-keno",
        "quebec-roulette-french",
        "quebec-blackjack",
        "quebec-baccarat",
        "monaco-banque-a-tout-va",
        "quebec-pai-gow-poker",
        "quebec-super-pan-9",
        "quebec-red-dog",
        "quebec-let-it-ride",
        "quebec-war",
        "quebec-sic-bo",
        "quebec-pai-gow",
        "france-casino-holdem",
    ],
)
def test_no_bet_is_made_changed_or_withdrawn_once_a_game_is_under_way(tmp_path, game):
    rig = MachineRig(tmp_path, games=(game, "maple-classic")).boot().insert(10000)
    if not rig.machine.selection.bet_credits:
        rig.engine.handle(EventType.SELECT_BET, value=rig.machine.games[game].bet_options[0])
    rig.play()
    assert rig.state is State.PLAYING
    credit_cents, selection = rig.credit_cents, rig.machine.selection
    for event, values in (
        (EventType.SELECT_BET, {"value": 2 * selection.bet_credits}),
        (EventType.SELECT_DENOMINATION, {"value": 100}),
        (EventType.SELECT_GAME, {"value": "maple-classic"}),
        (EventType.PLAY, {}),
        (EventType.CASH_OUT, {}),
    ):
        rig.engine.handle(event, **values)
        assert rig.notice == "refused.playing"
    assert (rig.credit_cents, rig.machine.selection) == (credit_cents, selection)
    assert len(rig.records("game.start")) == 1
    rig.close()


@pytest.mark.requirement("F-11", "N-07", "C-04")
def test_a_quebec_video_lottery_machine_takes_no_bet_above_two_dollars_fifty(tmp_path):
    rig = MachineRig(tmp_path, profile="quebec-vlt", games=("river-wheel",)).boot().insert(2000)
    assert rig.machine.selection.denomination_cents == 25
    rig.engine.handle(EventType.SELECT_BET, value=10)
    assert rig.machine.selection.bet_credits == 10  # $2.50
    rig.engine.handle(EventType.SELECT_BET, value=12)  # $3.00, which the game offers
    assert 12 in rig.machine.games["river-wheel"].bet_options
    assert (rig.notice, rig.machine.selection.bet_credits) == ("refused.bet_is_offered", 10)
    rig.play()
    assert rig.credit_cents == 2000 - 250
    rig.close()


@pytest.mark.requirement("F-02", "N-06")
def test_no_game_starts_without_credit_for_its_bet(tmp_path):
    rig = MachineRig(tmp_path, generator=ScriptedGenerator(*LOSS * 20)).boot()
    rig.play()
    assert (rig.state, rig.notice) == (State.IDLE, "refused.bet_is_covered")
    assert rig.records("game.start") == []
    rig.insert(100)
    rig.engine.handle(EventType.SELECT_BET, value=3)
    for _ in range(6):
        rig.play()
        rig.report_shown()
    assert (rig.credit_cents, rig.machine.selection.bet_credits) == (10, 3)  # a game costs 15
    rig.play()
    assert (rig.state, rig.notice, rig.credit_cents) == (State.IDLE, "refused.bet_is_covered", 10)
    assert len(rig.records("game.start")) == 6
    rig.close()


@pytest.mark.requirement("B-07")
def test_nothing_is_drawn_before_every_option_of_the_play_is_chosen(rig):
    numbers = len(rig.machine.random_service.values)
    rig.engine.handle(EventType.SELECT_BET, value=3)
    rig.engine.handle(EventType.SELECT_DENOMINATION, value=25)
    rig.engine.handle(EventType.SELECT_LANGUAGE, value="fr")
    assert len(rig.machine.random_service.values) == numbers
    rig.play()
    assert len(rig.machine.random_service.values) == numbers - 3


@pytest.mark.requirement("C-04")
@pytest.mark.parametrize("bet", [0, -1, 4, "2", None])
def test_a_bet_the_game_does_not_offer_is_refused(rig, bet):
    rig.engine.submit(build_event_from_intent(Intent(name="bet", value=bet), FEATURES.state_table.payloads))
    assert rig.notice == "refused.bet_is_offered"
    assert rig.machine.selection.bet_credits == 1


@pytest.mark.requirement("C-04")
def test_a_fractional_bet_is_refused_as_an_event(rig):
    with pytest.raises(EventError, match=r"^bet: value is 2\.0, not of type int$"):
        rig.engine.handle(EventType.SELECT_BET, value=2.0)
    assert rig.machine.selection.bet_credits == 1


@pytest.mark.requirement("O-05")
def test_a_change_of_denomination_changes_no_balance(rig):
    rig.engine.handle(EventType.SELECT_DENOMINATION, value=100)
    assert rig.credit_cents == 10000
    rig.engine.handle(EventType.SELECT_DENOMINATION, value=5)
    rig.play()
    rig.report_shown()
    assert rig.credit_cents == 10295
    for cents in (100, 25, 5, 100):  # 95 cents are less than a credit of one dollar
        before = rig.journal.meters().values
        rig.engine.handle(EventType.SELECT_DENOMINATION, value=cents)
        assert rig.machine.selection.denomination_cents == cents
        assert rig.credit_cents == 10295
        assert rig.journal.meters().values == before
    rig.engine.handle(EventType.SELECT_DENOMINATION, value=7)
    assert rig.notice == "refused.denomination_is_offered"
    assert rig.machine.selection.denomination_cents == 100


@pytest.mark.requirement("B-02", "B-05", "A-09:a")
def test_a_generator_failure_moves_no_money_and_stops_play(tmp_path):
    rig = MachineRig(tmp_path, generator=GeneratorOutOfService()).boot().insert(10000)
    rig.play()
    assert rig.state is State.OUT_OF_SERVICE
    assert rig.credit_cents == 10000
    assert rig.records("game.start") == []
    restarted = restart(rig, tmp_path, generator=create_generator())
    assert restarted.state is State.OUT_OF_SERVICE  # a power cycle is no authority
    restarted.next_generators += [OutOfService("still"), create_generator()]
    restarted.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (restarted.state, restarted.notice) == (State.OUT_OF_SERVICE, "chance_still_fails")
    restarted.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert restarted.state is State.IDLE
    restarted.close()


@pytest.mark.requirement("F-20", "F-08")
def test_a_machine_out_of_service_still_pays_the_player(tmp_path):
    rig = MachineRig(tmp_path, generator=GeneratorOutOfService()).boot().insert(2000)
    rig.play()
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert rig.state is State.OUT_OF_SERVICE
    assert rig.credit_cents == 0
    assert rig.journal.balance_cents("out:handpay_cancelled_credit") == 2000
    rig.close()


@pytest.mark.requirement("A-27:a", "A-27:b")
@pytest.mark.parametrize("book", ["outflows_cents", "inflows_cents"])
def test_no_draw_and_no_payment_when_credits_do_not_balance(rig, book):
    """The machine stops before the play or the cash-out, not at the following entry."""
    numbers, sequence = len(rig.machine.random_service.values), rig.journal.sequence
    printed = list(rig.hands.jobs)
    getattr(rig.journal._ledger, book)["house:wager" if book == "inflows_cents" else "house:win"] += 1
    with pytest.raises(SelfAuditFailed, match="credits are 10000 cents"):
        rig.play()
    assert len(rig.machine.random_service.values) == numbers
    with pytest.raises(JournalError):
        rig.engine.handle(EventType.CASH_OUT)
    assert (rig.journal.sequence, rig.hands.jobs) == (sequence, printed)


@pytest.mark.requirement("A-03", "A-02")
def test_memory_damage_between_two_games_is_repaired_before_the_next(rig, tmp_path):
    rig.play()
    rig.report_shown()
    (log,) = (tmp_path / "second").glob("*.log")
    data = bytearray(log.read_bytes())
    written = len(data.rstrip(b"\0"))
    data[written - 40] ^= 0x01
    log.write_bytes(data)
    sequence = rig.journal.sequence
    rig.play()
    repairs = [
        entry
        for entry in rig.journal.entries(after_sequence=sequence)
        if "memory.repaired" in str(entry.record)
    ]
    assert repairs, "the damage was played over"
    starts = list(rig.journal.entries("game.start", after_sequence=sequence))
    assert repairs[0].sequence < starts[0].sequence
    assert rig.state is State.PLAYING


def test_an_outcome_is_sent_to_the_screen_once(rig):
    rig.play()
    start = next(iter(rig.journal.entries("game.start")))
    assert rig.journal.state("game") == {"play_id": start.record["play_id"]}


def test_a_repeated_bet_request_is_recorded_once(tmp_path):
    rig = MachineRig(tmp_path).boot()
    for _ in range(10):
        rig.engine.handle(EventType.SELECT_BET, value=2)
    assert rig.machine.selection.bet_credits == 2
    assert len(rig.records("selection")) == 1
    rig.engine.handle(EventType.SELECT_BET, value=1)
    assert len(rig.records("selection")) == 2
    rig.close()
