"""The guards of a tournament: its rules, entries, rounds and prizes, and the games that are played with points."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from rigs.guards.alone import Arrangement, case, extend_arrangement, rows
from rigs.guards.money import OPEN_MENU, TILTED
from rigs.guards.play import FAILED, PLAYING, SHOWN
from rigs.tournament import FEE_CENTS, MANAGER, Hall, describe_machine
from rigs.voids import make_undecided_game

from egm.kernel.events import EventType, State
from egm.money.host_money import HostMoney, TransferLock
from egm.play.records.games import GameInProgress
from egm.play.records.tournament_round import name_points_account
from egm.testing.machine import MachineRig, ScriptedGenerator, write_undeclared_entry
from meters import Transfer

MINUTES = ("games = 100", "minutes = 10")
GAMES = ("games = 100", "games = 3")
BLACKJACK = "quebec-blackjack"
POKER = "jacks-or-better-9-6"
LOST = (0, 0, 0)
Act = Callable[[Hall], object]


def arrange_hall(*acts: Act, menu: bool = True, rules: str | None = None, **options: Any) -> Arrangement:
    """Return the arrangement of a machine for tournaments: the acts in their order, and then the service menu opened."""

    def arrange(folder: Path) -> MachineRig:
        hall = Hall(folder, describe_machine(GAMES) if rules is None else rules, **options)
        for act in acts:
            refusal = act(hall)
            assert not isinstance(refusal, str), refusal
        if menu:
            OPEN_MENU(hall.room)
        return hall.room

    return arrange


def install(hall: Hall) -> str | None:
    return hall.fill("tournament_rules")


def enter(hall: Hall) -> object:
    return hall.enter()


def leave(hall: Hall) -> str | None:
    return hall.fill("tournament_leave")


def sell(hall: Hall) -> str | None:
    return hall.sell(1, "P-1")


def sell_later(hall: Hall) -> str | None:
    return hall.sell(1, "P-1", start="later")


def start(hall: Hall) -> object:
    return hall.open_play()


def fail_at_second_position(hall: Hall) -> None:
    """Fail the generator at the second position, before the engine of the first updates its state."""
    hall.rooms[1].engine.handle(EventType.GENERATOR_FAILED, detail="test")


def fail(hall: Hall) -> str | None:
    return hall.end("failed")


def play(hall: Hall) -> None:
    hall.room.play()
    assert hall.room.state is State.PLAYING


def play_game(hall: Hall) -> None:
    play(hall)
    hall.room.report_shown()


def insert_credit(hall: Hall) -> object:
    return hall.room.insert(500)


def move_machine(hall: Hall) -> None:
    """Give the machine another number than the rules state."""
    hall.room.machine.identity = replace(hall.room.machine.identity, operator_number="8")


def request_transfer_lock(rig: MachineRig) -> None:
    """Request the transfer lock for a host."""
    rig.machine.component(HostMoney).transfer_lock = TransferLock(required_transfers_code=1, end_ns=10**12)


def wait_a_day(hall: Hall) -> None:
    hall.room.clock.pass_seconds(24 * 3600)


def wait_ten_minutes(hall: Hall) -> None:
    hall.room.clock.pass_seconds(601)


def remove_file(hall: Hall) -> None:
    hall.rules.path.unlink()


def spoil_file(hall: Hall) -> None:
    hall.rules.path.write_text("nothing", encoding="utf-8")


def disable_game(hall: Hall) -> None:
    hall.room.engine.handle(
        EventType.HOST_RESTRICTION_CHANGED, source="host:test", name="game.maple-classic", value=False
    )


def select_other_bet(hall: Hall) -> None:
    """Select another bet than the wager of the tournament."""
    hall.room.machine.store_selection(replace(hall.room.machine.selection, bet_credits=1))


def arrange_poker(*acts: Act) -> Arrangement:
    """Return a tournament of poker with an open game that waits for the cards to hold; the cards dealt win nothing."""
    rules = describe_machine(GAMES, game=POKER, bet=5)

    def arrange(folder: Path) -> MachineRig:
        generator = ScriptedGenerator(*(0, 12, 23, 33, 42) * 2)
        return arrange_hall(
            enter, sell, start, play, *acts, menu=False, rules=rules, games=(POKER,), generator=generator
        )(folder)

    return arrange


def deal_blackjack(folder: Path) -> MachineRig:
    """Return a tournament of blackjack with an open game that waits for the player's decision."""
    rules = describe_machine(GAMES, game=BLACKJACK, denomination_cents=100, bet=4)
    generator = ScriptedGenerator(*[0] * 9)
    arrange = arrange_hall(
        enter, sell, start, menu=False, rules=rules, games=(BLACKJACK,), generator=generator
    )
    rig = arrange(folder)
    rig.engine.handle(EventType.SELECT_BET, value=4, options={"bets": {"main": 4}})
    rig.play()
    return rig


def _find_costly_answer(rig: MachineRig) -> object:
    """Return an option of the open decision that adds to the stake."""
    decision = rig.machine.component(GameInProgress).stepped_game.decision
    return next(option for option in decision.options if decision.get_added_credits(option))


def _take_points(rig: MachineRig) -> None:
    """Remove all points but one, so that no raise is covered."""
    account = name_points_account(1)
    points = rig.journal.balance_cents(account) - 1
    write_undeclared_entry(rig.machine, "test", transfers=(Transfer(account, "tournament:wager", points),))


ROUND = arrange_hall(enter, sell, start, menu=False)
SHOWN_GAME = arrange_hall(enter, sell, start, play, menu=False)
FAILED_GAME = extend_arrangement(arrange_poker(), FAILED)
SALE = {
    **MANAGER,
    "form": "tournament_entry",
    "entry": 2,
    "participant": "P-2",
    "fee_cents": FEE_CENTS,
    "start": "later",
}
PRIZE = {**MANAGER, "form": "tournament_prize", "entry": 9, "participant": "P-9", "amount_cents": 3000}
END = {**MANAGER, "form": "tournament_round_end", "status": "failed", "reason": "as seen"}
BEGIN = {**MANAGER, "form": "tournament_round", "entry": 1, "participant": "P-1", "round": 1}
VOID = {**MANAGER, "form": "tournament_void", "entry": 1, "reason": "sold twice"}
TWO = {"person": "5", "persons": ("2", "5")}
ROWS = (
    *rows(
        "install_rules in service_menu: install_rules",
        arrange_hall(),
        {**MANAGER, "form": "tournament_rules"},
        marks="L-10",
        tournament_is_off=case(arrange_hall(enter)),
        tournament_is_over_or_unsold=case(arrange_hall(install, sell_later)),
        rules_file_is_there=case(
            arrange_hall(remove_file), also=("rules_are_lawful", "rules_describe_the_machine")
        ),
        rules_are_lawful=case(arrange_hall(spoil_file), also=("rules_describe_the_machine",)),
        rules_describe_the_machine=case(arrange_hall(move_machine)),
    ),
    *rows(
        "remove_rules in service_menu: remove_rules",
        arrange_hall(install),
        {**MANAGER, "form": "tournament_rules_out"},
        marks="L-10",
        rules_are_installed=case(arrange_hall()),
        tournament_is_off=case(arrange_hall(enter)),
        tournament_is_over_or_unsold=case(arrange_hall(install, sell_later)),
    ),
    *rows(
        "enter_tournament in service_menu: assign_machine",
        arrange_hall(install),
        {**MANAGER, "form": "tournament_enter"},
        marks="L-10",
        tournament_is_off=case(arrange_hall(enter)),
        rules_are_installed=case(arrange_hall(), also=("machine_fits_the_rules", "tournament_is_today")),
        machine_fits_the_rules=case(arrange_hall(install, move_machine)),
        tournament_is_today=case(arrange_hall(install, wait_a_day)),
        nothing_is_owed=case(arrange_hall(install, insert_credit)),
        no_transfer_waits=case(extend_arrangement(arrange_hall(install), request_transfer_lock)),
    ),
    *rows(
        "leave_tournament in service_menu: release_machine",
        arrange_hall(enter),
        {**MANAGER, "form": "tournament_leave"},
        marks="L-10",
        tournament_is_on=case(arrange_hall(install)),
        no_round_is_played=case(arrange_hall(enter, sell)),
    ),
    *rows(
        "sell_entry in service_menu: sell_entry",
        arrange_hall(install),
        SALE,
        marks="L-06",
        rules_are_installed=case(
            arrange_hall(),
            also=("entries_are_open", "fee_is_the_published", "entry_is_new", "participant_may_enter"),
        ),
        entries_are_open=case(arrange_hall(install, start)),
        first_round_may_start=case(start="here"),
        fee_is_the_published=case(fee_cents=FEE_CENTS - 1),
        entry_is_new=case(participant=" "),
        participant_may_enter=case(
            arrange_hall(enter, sell, fail, lambda hall: hall.sell(3, "P-1"), fail), participant="P-1"
        ),
    ),
    *rows(
        "begin_round in service_menu: start_round",
        arrange_hall(enter, sell_later),
        BEGIN,
        marks="L-06",
        tournament_is_on=case(arrange_hall(install, sell_later)),
        machine_fits_the_rules=case(arrange_hall(enter, sell_later, move_machine)),
        position_is_free=case(arrange_hall(enter, sell), entry=2, participant="P-2"),
        round_may_begin=case(participant="P-2"),
    ),
    *rows(
        "end_round in service_menu: end_round",
        arrange_hall(enter, sell),
        END,
        marks="L-06",
        tournament_is_on=case(arrange_hall(install), also=("purse_is_open",)),
        purse_is_open=case(arrange_hall(enter)),
        purse_game_is_closed=case(extend_arrangement(FAILED_GAME, OPEN_MENU)),
        ending_is_stated=case(reason=" "),
    ),
    *rows(
        "void_entry in service_menu: void_entry",
        arrange_hall(install, sell_later),
        VOID,
        marks="L-06",
        rules_are_installed=case(arrange_hall(), also=("entry_may_be_void",)),
        entry_may_be_void=case(entry=2),
    ),
    *rows(
        "pay_prize in service_menu: record_prize_payment",
        arrange_hall(install, start),
        PRIZE,
        marks="L-05",
        tournament_is_off=case(arrange_hall(enter, start)),
        rules_are_installed=case(arrange_hall(), also=("tournament_has_started", "prize_may_be_paid")),
        tournament_has_started=case(arrange_hall(install)),
        prize_may_be_paid=case(amount_cents=0),
    ),
    # ------------------------------------------------------------------ games with points
    *rows(
        "play in tournament: start_purse_game",
        ROUND,
        purse_is_open=case(
            arrange_hall(enter, start, menu=False),
            also=("time_is_left", "bet_is_the_tournaments"),
        ),
        tournament_has_started=case(arrange_hall(enter, sell, menu=False)),
        time_is_left=case(
            arrange_hall(
                enter, sell, start, play_game, wait_ten_minutes, menu=False, rules=describe_machine(MINUTES)
            ),
            follows=("tournament.round_end",),
        ),
        bet_is_the_tournaments=case(arrange_hall(enter, sell, start, select_other_bet, menu=False)),
        game_is_enabled=case(arrange_hall(enter, sell, start, disable_game, menu=False)),
        chance_is_ready=case(arrange_hall(enter, sell, start, fail_at_second_position, menu=False, count=2)),
    ),
    *rows("bet in tournament: set_bet", ROUND, {"value": 3}, bet_is_within_the_tournaments=case(value=2)),
    *rows(
        "choose in playing: continue_purse_game",
        arrange_poker(),
        {"value": 0},
        purse_game_is_open=case(make_undecided_game, then="continue_game"),
        answered_decision_is_pending=case(options={"play_id": "another", "step": 1}),
        choice_is_offered=case(value="another", also=("choice_is_covered",)),
        choice_is_covered=case(extend_arrangement(deal_blackjack, _take_points), value=_find_costly_answer),
        choice_may_be_taken=case(FAILED_GAME),
    ),
    *rows(
        "shown in showing outcome: end_purse_game",
        SHOWN_GAME,
        SHOWN,
        purse_game_is_open=case(PLAYING, then="end_game"),
        is_this_game=case(value="another", then="nothing"),
    ),
    *rows(
        "refund_game in for rulings: refund_purse_game",
        extend_arrangement(FAILED_GAME, TILTED),
        {**TWO, "form": "refund_game"},
        marks="F-14",
        purse_game_is_open=case(extend_arrangement(make_undecided_game, FAILED, TILTED), then="refund_game"),
        game_cannot_end=case(extend_arrangement(arrange_poker(), TILTED)),
    ),
    *rows(
        "forfeit_game in for rulings: forfeit_purse_game",
        extend_arrangement(arrange_poker(), TILTED),
        {**TWO, "form": "forfeit_game", "reason": "a wire in the bill slot"},
        marks="F-15",
        purse_game_is_open=case(extend_arrangement(make_undecided_game, TILTED), then="forfeit_game"),
        game_is_forfeit=case(reason=" "),
        game_may_be_forfeit=case(extend_arrangement(SHOWN_GAME, TILTED)),
    ),
)
