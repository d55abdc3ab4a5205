"""A machine in a tournament: staff enter it, players play with points, and no live meter moves."""

import asyncio
import contextlib
import json
from datetime import UTC, datetime, timedelta

import pytest
from rigs.tournament import ATTENDANT, DAY, FEE_CENTS, MANAGER, Hall, describe_machine, read_purse

from egm.app.features import FEATURES, SERVICE_MENU
from egm.app.removed_devices import refuse_removed_positions_with_money
from egm.app.view import build_snapshot
from egm.config.cabinet_file import StateFolder
from egm.config.levels import ProgressiveLevelTable
from egm.errors import OperatorError
from egm.features.tournament.events import TournamentEvent
from egm.features.tournament.feature import create_round_clock
from egm.features.tournament.installed import (
    RulesFile,
    find_reason_machine_is_unsuitable,
    list_rules_file_errors,
    parse_rules_or_none,
)
from egm.features.tournament.page import TournamentPage
from egm.features.tournament.results import derive_results
from egm.features.tournament.rules import parse_rules
from egm.features.tournament.view import _build_rules_view, build_tournament_view
from egm.gaming_day import GamingDay
from egm.host.transfer_interface import HostTransferInterface, TransferLockState
from egm.kernel.credits import CreditKind
from egm.kernel.events import EventType, State
from egm.kernel.running_positions import RunningPosition, RunningPositions
from egm.kernel.services import MachineContext
from egm.links.sas.tables.meters import METER_DEFINITION_BY_CODE
from egm.money.host_money import HostMoney, TicketInquiry, TransferLock, TransferOrder
from egm.money.records.host import TransferKind, TransferStatus
from egm.money.value_in import list_acceptable_bills, list_acceptable_coins, should_accept_tickets
from egm.people import Role
from egm.play.game_messages import find_pending_decision
from egm.play.keys import PlayKey
from egm.play.records.games import find_open_game
from egm.testing.clearing import clear_with_decisions
from egm.testing.machine import PowerCutError, ScriptedGenerator
from egm.testing.sas import SasHostBench
from egm.testing.service_menu import MenuUser
from meters import recall
from meters.recall import read_details
from paytables import PaytableError

#: Stops of maple-classic that pay, and that do not.
WON, LOST = (23, 7, 5), (0, 0, 0)
THREE_GAMES = ("games = 100", "games = 3")
TEN_MINUTES = ("games = 100", "minutes = 10")


@pytest.fixture
def hall(tmp_path):
    """Return a function that creates a machine with the rules of three games, or with the given rules and games."""
    halls = []

    def make(rules=None, **options):
        halls.append(Hall(tmp_path, describe_machine(THREE_GAMES) if rules is None else rules, **options))
        return halls[-1]

    yield make
    for hall in halls:
        hall.room.close()


def read_live_meters(room):
    """Return every meter except the tournament's own and those that count starts and menus."""
    return {
        name: value
        for name, value in room.journal.meters().values.items()
        if not name.startswith(("tournament_", "door.", "power_resets")) and ".since_" not in name
    }


@pytest.mark.requirement("D-17", "F-01", "L-01", "L-02:a", "L-06", "L-07", "L-10")
def test_staff_run_a_tournament_at_the_menu_and_no_live_meter_moves(hall):
    hall = hall()
    room, menu = hall.room, MenuUser(hall.room)
    menu.sign_in(Role.MANAGER).open_and_fill_form("tournament_rules").home().open_and_fill_form(
        "tournament_enter"
    )
    room.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    assert room.state is State.TOURNAMENT
    before, states = read_live_meters(room), room.machine.memory.get(PlayKey.LAST_GAME)
    menu.sign_in(Role.ATTENDANT).open_and_fill_form("tournament_entry", "1", "P-07", str(FEE_CENTS), "here")
    room.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    hall.open_play()
    purse = hall.play_round()
    assert (purse["ending"], purse["games"]) == ("complete", 3)
    values = room.journal.meters().values
    assert (values["tournament_points"], values["tournament_wagers"]) == (300, 9)
    assert values["tournament_wins"] == purse["won_points"]
    assert (values["tournament_fees.value"], values["tournament_fees.count"]) == (FEE_CENTS, 1)
    for account in ("tournament:points:1", "tournament:won:1"):
        assert room.journal.balance_cents(account) == 0
    menu.sign_in(Role.MANAGER).open_and_fill_form("tournament_leave")
    room.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    assert room.state is State.IDLE
    assert read_live_meters(room) == before
    assert room.machine.memory.get(PlayKey.LAST_GAME) == states
    assert list(recall.iter_recent_plays(room.journal)) == []
    assert hall.audit() == []


@pytest.mark.requirement("A-03")
def test_damage_between_two_games_of_points_is_found_before_the_next(hall):
    machine = hall().enter()
    assert machine.sell(1, "P-1") is None
    rig = machine.open_play().room
    rig.play()
    rig.report_shown()
    (log,) = (machine.file / "second").glob("*.log")
    data = bytearray(log.read_bytes())
    data[len(data.rstrip(b"\0")) - 40] ^= 0x01
    log.write_bytes(data)
    sequence = rig.journal.sequence
    rig.play()
    found = [entry.kind for entry in rig.journal.entries(after_sequence=sequence)]
    assert found.index("event") < found.index("tournament.game"), found


@pytest.mark.requirement("L-01")
def test_a_game_with_points_is_that_of_credits_with_the_same_numbers(hall):
    hall = hall(generator=ScriptedGenerator(*WON, *WON))
    hall.room.insert(500)
    hall.room.engine.handle(EventType.SELECT_BET, value=3)
    hall.room.play()
    hall.room.report_shown()
    live = hall.room.records("game.start")[0]
    hall.room.engine.handle(EventType.CASH_OUT)
    hall.room.engine.handle(EventType.KEY_TURNED, key="attendant")
    hall.enter().sell(1, "P-1")
    hall.open_play().room.play()
    played = hall.room.records("tournament.game")[0]
    assert {**played, "play_id": 0, "credit_before_cents": 0} == {
        **live,
        "play_id": 0,
        "credit_before_cents": 0,
    }
    hall.room.report_shown()
    assert read_purse(hall.room)["won_points"] == live["outcome"]["win_credits"]


@pytest.mark.requirement("L-07", "L-08", "L-10")
def test_the_tournament_is_not_entered_in_a_wrong_state(hall):
    hall = hall()
    room = hall.room
    assert hall.fill("tournament_enter") == "refused.rules_are_installed"
    assert hall.fill("tournament_rules") is None
    assert hall.fill("tournament_enter", by=ATTENDANT) == "refused.authorised"
    room.insert(500)
    assert hall.fill("tournament_enter") == "refused.nothing_is_owed"
    room.engine.handle(EventType.CASH_OUT)
    room.engine.handle(EventType.KEY_TURNED, key="attendant")
    money = room.machine.component(HostMoney)
    for waits in (
        {
            "transfer_order": TransferOrder(
                identifier="T-1", kind=TransferKind.IN, cents_by_credit_kind={CreditKind.CASHABLE: 100}
            )
        },
        {"transfer_lock": TransferLock(required_transfers_code=1, end_ns=10**12)},
        {"ticket_inquiry": TicketInquiry("asked", 1, "071111222233334444")},
    ):
        ((name, value),) = waits.items()
        room.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
        setattr(money, name, value)
        room.engine.handle(_event_of("tournament_enter"), form="tournament_enter", **MANAGER)
        assert room.notice == "refused.no_transfer_waits", name
        setattr(money, name, None)
        room.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    room.clock.pass_seconds(24 * 3600)
    assert hall.fill("tournament_enter") == "refused.tournament_is_today"
    room.clock.pass_seconds(-48 * 3600)
    assert hall.fill("tournament_enter") == "refused.tournament_is_today"
    room.clock.pass_seconds(24 * 3600)
    assert hall.fill("tournament_enter") is None
    assert hall.fill("tournament_enter") == "refused.tournament_is_off"
    assert hall.fill("tournament_rules") == "refused.tournament_is_off"
    assert hall.fill("tournament_rules_out") == "refused.tournament_is_off"


@pytest.mark.requirement("L-07")
def test_a_ticket_or_a_bet_at_another_position_keeps_the_machine_out(hall):
    hall = hall(count=2)
    first, second = hall.rooms
    beside = RunningPositions()
    for number, room in enumerate(hall.rooms, 1):
        room.machine.install(beside)
        beside.position_by_number[number] = RunningPosition(
            engine=room.engine,
            submit_event=room.submit_event,
            build_snapshot=lambda: None,
            update_tower_light_and_bell=lambda: None,
            has_own_io_board=number == 1,
        )
    assert hall.fill("tournament_rules") is None
    second.machine.component(HostMoney).ticket_inquiry = TicketInquiry("asked", 1, "071111222233334444")
    assert hall.fill("tournament_enter") == "refused.no_transfer_waits"
    second.machine.component(HostMoney).ticket_inquiry = None
    second.insert(500).play()
    assert hall.fill("tournament_enter") == "refused.nothing_is_owed"
    second.report_shown()
    second.engine.handle(EventType.CASH_OUT)
    assert hall.fill("tournament_enter") == "refused.nothing_is_owed"
    second.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert hall.fill("tournament_enter") is None
    assert {first.state, second.state} == {State.TOURNAMENT}


def _event_of(form_id):
    return next(form.event for form in SERVICE_MENU.forms if form.id == form_id)


@pytest.mark.requirement("L-03", "L-08")
@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (describe_machine(("published = 2027-03-01", "published = 2027-03-02")), "rules_are_lawful"),
        (describe_machine(("published = 2027-03-01\n", "")), "rules_are_lawful"),
        (describe_machine(('share = "1/4"', 'share = "1/20"')), "rules_are_lawful"),
        (describe_machine(("bet = 3", "bet = 2")), "rules_are_lawful"),
        (
            describe_machine(('number = "A-102"', 'number = "A-102"\ngame = "maple-classic-95"')),
            "rules_are_lawful",
        ),
        ("nothing", "rules_are_lawful"),
        (describe_machine(('"7"', '"8"')), "rules_describe_the_machine"),
        (describe_machine(game="jacks-or-better-9-6"), "rules_describe_the_machine"),
        (describe_machine(bet=7), "rules_are_lawful"),
    ],
    ids=[
        "late",
        "unpublished",
        "low prizes",
        "unequal",
        "returns",
        "no rules",
        "other machine",
        "other game",
        "no bet",
    ],
)
def test_rules_that_break_the_by_law_or_are_of_another_machine_are_not_installed(hall, rules, reason):
    hall = hall(rules, wall=DAY - timedelta(days=3))
    assert hall.fill("tournament_rules") == f"refused.{reason}"
    assert hall.room.records("tournament.rules") == []
    menu = MenuUser(hall.room).sign_in(Role.MANAGER).touch("tournament")
    assert len(menu.page.tables) == 2, "the page names the faults"


@pytest.mark.requirement("L-08")
def test_a_machine_without_the_denomination_of_the_rules_is_not_in_the_tournament(hall):
    hall = hall()
    machine = hall.room.machine
    machine.denominations_cents = {**machine.denominations_cents, "maple-classic": (100,)}
    assert hall.fill("tournament_rules") == "refused.rules_describe_the_machine"
    assert hall.room.records("tournament.rules") == []


@pytest.mark.requirement("L-08")
def test_a_game_with_a_progressive_level_is_not_played_in_a_tournament(hall):
    linked = "summit-keno"
    slots = (ProgressiveLevelTable(game=linked, level="summit"),)
    hall = hall(describe_machine(game=linked, bet=5), games=(linked,), levels=slots)
    assert hall.fill("tournament_rules") == "refused.rules_describe_the_machine"
    assert "linked to a progressive level" in find_reason_machine_is_unsuitable(
        hall.room.machine, parse_rules(hall.rules.read())
    )


@pytest.mark.requirement("L-06", "L-09")
def test_in_a_tournament_no_money_moves_and_the_player_reads_why(hall):
    host = HostMoney(can_transfer=True, asset_number=4711, is_online=True)
    hall = hall(devices=("printer",), host=host).enter()
    room = hall.room
    assert list_acceptable_bills(room.machine, room.state) == frozenset()
    assert list_acceptable_coins(room.machine, room.state) == frozenset()
    assert not should_accept_tickets(room.machine, room.state)
    room.offer(500)
    assert room.hands.orders[-1] == ("return", 1)
    room.offer_ticket("071111222233334444")
    assert room.hands.orders[-1] == ("return", 2)
    room.engine.handle(EventType.CASH_OUT)
    assert room.notice == "refused.tournament"
    for name in (EventType.SELECT_GAME, EventType.SELECT_DENOMINATION):
        room.engine.handle(
            name, value={EventType.SELECT_GAME: "maple-classic", EventType.SELECT_DENOMINATION: 25}[name]
        )
        assert room.notice == "refused.tournament"
    room.engine.handle(EventType.USE_RESIDUAL_CREDIT)
    assert room.notice == "refused.tournament"
    port = HostTransferInterface(room.engine, room.submit_event)
    for kind in (TransferKind.IN, TransferKind.OUT):
        assert not port.can_execute(kind)
    order = TransferOrder(
        identifier="T-1", kind=TransferKind.IN, cents_by_credit_kind={CreditKind.CASHABLE: 100}
    )
    port.execute_or_refuse_order(order, asset_number=4711, registration_key=b"", requires_lock=False)
    assert port.last_result.status is not TransferStatus.COMPLETED_IN_FULL
    assert port.request_lock(1, 100) is not TransferLockState.LOCKED
    assert room.credit_cents == 0
    hall.sell(1, "P-1")
    hall.open_play().room.play()
    assert room.state is State.PLAYING
    room.offer(500)
    assert room.hands.orders[-1] == ("return", 3)
    assert not port.can_execute(TransferKind.IN)
    assert room.credit_cents == 0


@pytest.mark.requirement("L-02:a", "L-06")
def test_entries_are_sold_only_as_the_rules_allow(hall):
    hall = hall()
    assert hall.sell(1, "P-1", start="later") == "refused.rules_are_installed"
    assert hall.fill("tournament_rules") is None
    assert hall.sell(8, "P-8") == "refused.first_round_may_start"
    assert hall.sell(8, "P-8", start="later") is None  # registration is open before the tournament is entered
    assert hall.room.state is State.IDLE
    assert hall.fill("tournament_enter") is None
    assert hall.sell(1, "P-1", fee_cents=4999) == "refused.fee_is_the_published"
    assert hall.sell(1, "  ") == "refused.entry_is_new"
    assert hall.sell(1, "P-1", by={"person": "3", "persons": ("3",)}) == "refused.authorised"
    assert hall.sell(1, "P-1") is None
    assert hall.sell(2, "P-2") == "refused.first_round_may_start"
    assert hall.begin(8, "P-8", 1) == "refused.position_is_free"
    assert hall.fill("tournament_leave") == "refused.no_round_is_played"
    assert hall.end("failed") is None
    assert hall.begin(8, "P-8", 1) is None
    assert hall.end("failed") is None
    assert hall.sell(1, "P-2") == "refused.entry_is_new"
    assert hall.sell(2, "P-1") is None
    assert hall.end("failed") is None
    assert hall.sell(3, "P-1") == "refused.participant_may_enter"
    assert hall.begin(2, "P-1", 1) == "refused.round_may_begin"
    assert hall.begin(2, "P-9", 2) == "refused.round_may_begin"
    assert hall.begin(2, "P-1", 3) == "refused.round_may_begin"
    assert hall.begin(2, "P-1", 2) is None
    assert hall.end("interrupted", reason=" ") == "refused.ending_is_stated"
    assert hall.end("interrupted") is None
    assert hall.begin(2, "P-1", 2) is None  # by the rules an interrupted round is replayed
    assert hall.fill("tournament_void", entry=2, reason="sold twice") == "refused.entry_may_be_void"
    assert hall.end("failed") is None
    assert hall.fill("tournament_void", entry=2, reason="sold twice") is None
    assert hall.room.journal.balance_cents("fees:sold") == 2 * FEE_CENTS
    hall.open_play()
    assert hall.sell(4, "P-4") == "refused.entries_are_open"
    assert hall.audit() == []


def test_play_waits_for_the_start_an_entry_and_exactly_the_bet(hall):
    hall = hall().enter()
    hall.room.play()
    assert hall.room.notice == "refused.purse_is_open"
    hall.sell(1, "P-1")
    hall.room.play()
    assert hall.room.notice == "refused.tournament_has_started"
    hall.open_play()
    for bet in (4, 2, 0):
        hall.room.engine.handle(EventType.SELECT_BET, value=bet)
        assert hall.room.notice == "refused.bet_is_within_the_tournaments"
    hall.room.engine.handle(EventType.SELECT_BET, value=3)
    assert hall.room.notice is None
    hall.room.play()
    assert hall.room.state is State.PLAYING


def test_at_a_table_chips_are_placed_up_to_the_tournaments_bet(hall):
    rules = describe_machine(THREE_GAMES, game=BLACKJACK, denomination_cents=100, bet=4)
    hall = hall(rules, games=(BLACKJACK,)).enter()
    hall.sell(1, "P-1")
    room = hall.open_play().room
    for chips, reason in ((6, "bet_is_within_the_tournaments"), (2, None)):
        room.engine.handle(EventType.SELECT_BET, value=chips, options={"bets": {"main": chips}})
        assert room.notice == (None if reason is None else f"refused.{reason}")
    room.play()
    assert room.notice == "refused.bet_is_the_tournaments"
    room.engine.handle(EventType.SELECT_BET, value=0, options={"bets": {}})
    assert room.notice is None
    room.engine.handle(EventType.SELECT_BET, value=4, options={"bets": {"main": 4}})
    room.play()
    assert room.state is State.PLAYING


def test_a_round_ends_when_the_points_are_used_up(hall):
    rules = describe_machine(("points = 300", "points = 7"))
    hall = hall(rules, generator=ScriptedGenerator(*WON, *LOST)).enter()
    hall.sell(1, "P-1")
    purse = hall.open_play().play_round()
    assert (purse["ending"], purse["games"]) == ("complete", 2)
    ended = hall.room.records("tournament.round_end")[0]
    won = hall.room.records("tournament.game")[0]["outcome"]["win_credits"]
    assert (ended["points"], ended["best_game"]) == (won, won)  # the won points are not played again
    assert hall.audit() == []


def test_a_round_by_time_runs_from_its_first_game_and_ends_after_the_open_one(hall):
    hall = hall(describe_machine(TEN_MINUTES)).enter()
    room = hall.room
    hall.sell(1, "P-1")
    hall.open_play()
    room.clock.pass_seconds(3600)
    hall.play_round(games=2)
    room.clock.pass_seconds(9 * 60)
    room.play()
    room.clock.pass_seconds(2 * 60)
    room.engine.handle(TournamentEvent.ROUND_CLOCK_ADVANCED)
    assert (room.state, read_purse(room)["ending"]) == (State.PLAYING, "")
    room.report_shown()
    assert read_purse(room)["ending"] == "complete"
    assert read_purse(room)["games"] == 3
    room.play()
    assert room.notice == "refused.purse_is_open"
    assert hall.audit() == []


def test_the_time_of_a_round_ends_it_without_a_game(hall):
    hall = hall(describe_machine(TEN_MINUTES)).enter()
    hall.sell(1, "P-1")
    hall.open_play().play_round(games=1)
    hall.room.clock.pass_seconds(10 * 60)
    hall.room.engine.handle(TournamentEvent.ROUND_CLOCK_ADVANCED)
    assert read_purse(hall.room)["ending"] == "complete"
    assert hall.audit() == []


def test_the_machines_clock_ends_a_round_and_its_folder_has_the_rules(hall, tmp_path):
    hall = hall(describe_machine(TEN_MINUTES))
    room = hall.room
    context = MachineContext(room.engine, None, StateFolder(tmp_path), room.clock, room.submit_event)
    (clock,) = create_round_clock(context)
    assert room.machine.component(RulesFile).read() == hall.rules.read()
    waits = [clock.compute_seconds_to_wait()]
    hall.enter().sell(1, "P-1")
    waits.append(clock.compute_seconds_to_wait())
    assert build_snapshot(room.engine).tournament.starts_utc == "2027-03-08T19:00:00+00:00"
    hall.open_play()
    assert build_snapshot(room.engine).tournament.starts_utc == ""
    waits.append(clock.compute_seconds_to_wait())
    hall.play_round(games=1)
    room.clock.pass_seconds(30)
    waits.append(clock.compute_seconds_to_wait())
    assert waits == [None, pytest.approx(7 * 3600 + 0.1), None, pytest.approx(30.1)]
    room.clock.pass_seconds(9 * 60 - 30)

    async def run_until_the_time_is_over():
        work = asyncio.create_task(clock.run())
        await asyncio.sleep(0)
        room.clock.pass_seconds(60)
        async with asyncio.timeout(60):
            while not read_purse(room)["ending"]:  # noqa: ASYNC110 (a clock that runs)
                await asyncio.sleep(0.01)
        work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work

    asyncio.run(run_until_the_time_is_over())
    assert read_purse(room)["ending"] == "complete"
    assert clock.compute_seconds_to_wait() is None


@pytest.mark.requirement("L-01", "L-07")
@pytest.mark.parametrize("entries", range(9))
def test_after_a_power_cut_at_any_entry_the_round_continues(hall, entries):
    hall = hall(describe_machine(("games = 100", "games = 2"))).enter()
    hall.sell(1, "P-1")
    hall.open_play()
    before = read_live_meters(hall.room)
    hall.room.cut_power_after(entries)
    cut = False
    try:
        hall.play_round()
    except PowerCutError:
        cut = True
        decided = hall.room.records("tournament.game")
        hall.room.lose_power()
        hall.room.journal.close()
        hall.start()
        assert hall.room.records("tournament.game") == decided
        if hall.room.state is State.PLAYING:
            opened = find_open_game(hall.room.machine)
            assert opened.outcome.to_json() == decided[-1]["outcome"]
            hall.room.report_shown()
    purse = hall.play_round()
    assert cut is (entries < 5)
    assert (purse["ending"], purse["games"]) == ("complete", 2)
    assert len(hall.room.records("tournament.game")) == 2
    assert read_live_meters(hall.room) == before
    assert hall.audit() == []


@pytest.mark.parametrize("in_game", [True, False])
def test_a_memory_clear_ends_the_round_and_keeps_the_rules(hall, in_game):
    """Points are worth no money: none are owed. The export of the old journal contains the results so far."""
    hall = hall().enter()
    hall.sell(1, "P-1")
    hall.open_play().play_round(games=1)
    if in_game:
        hall.room.play()
    wall, digest = hall.room.clock.wall, hall.room.records("tournament.rules")[0]["digest"]
    old = list(hall.room.journal.entries())
    hall.room.close()
    clear_with_decisions(hall.file)
    hall.start(wall)
    assert hall.room.state is State.IDLE
    assert hall.room.machine.memory.get(PlayKey.TOURNAMENT_ROUND) is None
    assert hall.room.journal.balance_cents("tournament:points:1") == 0
    assert hall.fill("clock", date=f"{wall:%Y%m%d}") is None  # the clear has been dated long before
    assert hall.fill("tournament_enter") is None
    assert hall.begin(1, "P-1", 1) is None  # again, as the rules say of an interrupted round
    purse = hall.play_round()
    assert purse["ending"] == "complete"
    (entry,) = derive_results(
        parse_rules(hall.rules.read()),
        digest,
        {"old": old, "new": hall.room.journal.entries()},
        absent_machines=("A-102",),
    ).entries
    assert [(played_round.status, played_round.points) for played_round in entry.rounds] == [
        ("complete", purse["won_points"])
    ]
    assert hall.audit() == []


POKER, BLACKJACK = "jacks-or-better-9-6", "quebec-blackjack"


@pytest.mark.requirement("L-01")
def test_a_game_with_decisions_is_resumed_at_its_decision(hall):
    hall = hall(describe_machine(THREE_GAMES, game=POKER, bet=5), games=(POKER,)).enter()
    hall.sell(1, "P-1")
    hall.open_play()
    hall.room.play()
    assert hall.room.state is State.PLAYING
    hall.room.lose_power()
    hall.room.journal.close()
    hall.start()
    assert hall.room.state is State.PLAYING
    hall.room.engine.handle(EventType.CHOOSE, value=0)
    hall.room.report_shown()
    assert read_purse(hall.room)["games"] == 1
    assert hall.audit() == []


@pytest.mark.requirement("L-01")
def test_a_table_stakes_raises_from_the_points_only(hall):
    rules = describe_machine(("games = 100", "games = 20"), game=BLACKJACK, denomination_cents=100, bet=4)
    hall = hall(rules, games=(BLACKJACK,)).enter()
    hall.sell(1, "P-1")
    hall.open_play()
    room = hall.room
    for _ in range(20):
        if read_purse(room)["ending"]:
            break
        room.engine.handle(EventType.SELECT_BET, value=4, options={"bets": {"main": 4}})
        room.play()
        assert room.state is State.PLAYING, room.notice
        while find_open_game(room.machine).outcome is None:
            options = find_pending_decision(room.machine).options
            room.engine.handle(EventType.CHOOSE, value="double" if "double" in options else options[0])
        room.report_shown()
    assert any(record.get("staked_credits") for record in room.records("tournament.choice"))
    assert read_live_meters(room)["coin_in"] == 0
    assert hall.audit() == []


@pytest.mark.requirement("L-07")
def test_a_host_reads_the_same_meters_before_and_after(tmp_path):
    hall = Hall(tmp_path, describe_machine(THREE_GAMES))
    room = hall.room
    room.insert(500).play()
    room.report_shown()
    room.engine.handle(EventType.CASH_OUT)
    room.engine.handle(EventType.KEY_TURNED, key="attendant")
    before = _read_every_sas_meter(room, tmp_path / "before")
    hall.enter().sell(1, "P-1")
    hall.open_play().play_round()
    assert hall.fill("tournament_leave") is None
    assert _read_every_sas_meter(room, tmp_path / "after") == before
    hall.room.close()


def _read_every_sas_meter(room, folder):
    folder.mkdir()
    bench = SasHostBench(folder, room)
    found = {}
    codes = sorted(METER_DEFINITION_BY_CODE)
    for offset in range(0, len(codes), 12):
        requested_codes = codes[offset : offset + 12]
        bench.poll_other_address()
        request = bytes(2) + b"".join(code.to_bytes(2, "little") for code in requested_codes)
        found[offset] = bench.send_long_poll(0x6F, (bytes((len(request),)) + request).hex())
    assert any(int(data[4:], 16) for data in found.values())
    return found


@pytest.mark.requirement("L-04", "L-09", "L-03", "L-10")
def test_the_view_names_tournament_rules_points_and_win(hall):
    hall = hall(generator=ScriptedGenerator(*WON, *LOST, *LOST))

    def seen():
        return build_snapshot(hall.room.engine)

    assert seen().tournament is None
    hall.fill("tournament_rules")
    announced = seen()
    assert announced.tournament is not None
    assert not announced.tournament.is_on
    assert "tournament_announced" in {notice.code for notice in announced.notices}
    for language, word in (("en", "30 %"), ("fr", "30 %")):
        sentences = [line for _, lines in announced.tournament.rules[language] for line in lines]
        assert any(word in line for line in sentences)
    hall.fill("tournament_enter")
    assert seen().current_tournament is not None
    hall.sell(1, "P-1")
    hall.open_play().play_round(games=1)
    shown = seen()
    won = read_purse(hall.room)["won_points"]
    assert won > 0
    assert shown.current_tournament.points == 297
    assert shown.current_tournament.won_points == won
    assert shown.credit_cents == 297 * 5
    assert shown.paid_cents == won * 5
    hall.play_round()
    assert seen().current_tournament.is_round_over
    hall.fill("tournament_leave")
    assert seen().current_tournament is None
    hall.room.clock.pass_seconds(24 * 3600)
    assert hall.fill("tournament_rules_out") is None
    assert seen().tournament is None
    assert read_details(next(hall.room.journal.entries("tournament.rules_removed")))["digest"]


@pytest.mark.requirement("L-02:a", "L-09")
def test_rules_stay_installed_while_an_entry_sold_here_is_to_be_played_by_them(hall):
    hall = hall()
    assert hall.fill("tournament_rules") is None
    assert hall.fill("tournament_rules_out") is None
    assert hall.fill("tournament_rules") is None
    assert hall.sell(1, "P-1", start="later") is None
    for form in ("tournament_rules_out", "tournament_rules"):
        assert hall.fill(form) == "refused.tournament_is_over_or_unsold"
    assert hall.fill("tournament_void", entry=1, reason="the venue calls it off") is None
    assert hall.fill("tournament_rules_out") is None
    assert hall.fill("tournament_rules") is None
    assert hall.sell(1, "P-2", start="later") == "refused.entry_is_new", (
        "what was sold before is not forgotten"
    )


def test_the_journal_of_a_tournament_has_the_text_of_its_rules(hall):
    hall = hall().enter()
    (installed,) = hall.room.records("tournament.rules")
    assert installed["text"] == describe_machine(THREE_GAMES)
    assert json.dumps(installed["persons"]) == '["5"]'


@pytest.mark.requirement("L-08")
@pytest.mark.parametrize("year", ["0001", "1999", "9901", "9999"])
def test_a_start_without_dates_before_or_after_it_is_refused(hall, year):
    start, closes = f"{year}-03-08T19:00:00", f"{year}-03-08T18:30:00"
    hall = hall(
        describe_machine(
            ("starts = 2027-03-08T19:00:00", f"starts = {start}"),
            ("closes = 2027-03-08T18:30:00", f"closes = {closes}"),
            ("duration_minutes = 180", "duration_minutes = 1000000"),
        )
    )
    assert hall.fill("tournament_rules") == "refused.rules_are_lawful"
    (table,) = MenuUser(hall.room).sign_in(Role.MANAGER).touch("tournament").page.tables[1:]
    assert f"starts: the year {int(year)} is not 2000 to 9900" in str(table)


@pytest.mark.requirement("L-08")
def test_the_rules_that_were_checked_are_installed_though_the_file_changes(hall):
    hall = hall()
    checked = hall.rules.read()
    texts = iter([checked, checked, checked])
    file = RulesFile(hall.rules.path)
    hall.room.machine.install(file)
    changed = checked.replace('share = "1/4"', 'share = "1/100"')
    read, RulesFile.read = RulesFile.read, lambda _: next(texts, changed)
    try:
        assert hall.fill("tournament_rules") is None
    finally:
        RulesFile.read = read
    (installed,) = hall.room.records("tournament.rules")
    assert installed["text"] == checked


@pytest.mark.not_audited
@pytest.mark.requirement("A-05", "L-07")
@pytest.mark.parametrize("entered", [False, True])
def test_a_version_that_refuses_the_installed_rules_starts_and_staff_remove_them(hall, monkeypatch, entered):
    """This happens after an update whose library no longer has one of the games."""
    hall = hall().enter()
    assert hall.sell(1, "P-1") is None
    if not entered:
        assert hall.end("failed") is None
        assert hall.fill("tournament_leave") is None

    def find_none(name):
        raise PaytableError(f"{name}: not in the library")

    monkeypatch.setattr("egm.features.tournament.rules._load_library_game", find_none)
    for cached in (parse_rules, parse_rules_or_none, _build_rules_view, list_rules_file_errors):
        cached.cache_clear()
    hall.cut_power()
    view = build_tournament_view(hall.room.machine)
    assert (view is not None and view.is_on) == entered
    if entered:
        hall.room.engine.handle(EventType.PLAY)
        assert not hall.room.records("tournament.game")
        assert hall.begin(1, "P-1", 1) is not None
        assert hall.end("interrupted") is None
        assert hall.fill("tournament_leave") is None
    page = MenuUser(hall.room).sign_in(Role.MANAGER).touch("tournament").page
    assert "maple-classic: not in the library" in str(page)
    hall.room.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    assert hall.fill("tournament_void", entry=1, reason="the game is gone") is None
    assert hall.room.journal.balance_cents("fees:sold") == 0
    assert hall.fill("tournament_rules_out") is None
    assert hall.room.state is State.IDLE
    for cached in (parse_rules, parse_rules_or_none, _build_rules_view, list_rules_file_errors):
        cached.cache_clear()


@pytest.mark.not_audited
@pytest.mark.requirement("A-05", "L-08")
@pytest.mark.parametrize("change", ["number", "games"])
def test_no_round_starts_at_a_machine_that_differs_from_the_rules(hall, change):
    """This happens after a change of the cabinet file; no entry is sold for a round that cannot begin."""
    hall = hall(games=("maple-classic", "icebreak")).enter()
    if change == "number":
        hall.number = "99"
    else:
        hall.games = ("icebreak",)
    hall.cut_power()
    hall.rules.path.unlink()
    page = MenuUser(hall.room).sign_in(Role.MANAGER).touch("tournament").page
    assert (
        "machine 99 is not listed in the rules" if change == "number" else "is not offered on this machine"
    ) in str(page)
    hall.room.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    assert hall.begin(1, "P-1", 1) == "refused.machine_fits_the_rules"
    assert hall.sell(1, "P-1") == "refused.first_round_may_start"
    assert hall.room.journal.balance_cents("fees:sold") == 0
    assert hall.sell(1, "P-1", start="later") is None
    assert hall.fill("tournament_leave") is None
    assert hall.room.state is State.IDLE


@pytest.mark.requirement("L-05", "D-17")
def test_a_prize_is_paid_once_to_its_participant_after_the_machine_has_left_the_tournament(hall):
    hall = hall().enter()
    assert hall.sell(1, "P-07") is None
    prize = {"entry": 1, "participant": "P-07", "amount_cents": 3000}
    assert hall.fill("tournament_prize", **prize) == "refused.tournament_is_off"
    hall.open_play().play_round()
    assert hall.fill("tournament_leave") is None
    before = read_live_meters(hall.room)
    refusal_code = "refused.prize_may_be_paid"
    assert hall.fill("tournament_prize", **{**prize, "amount_cents": 0}) == refusal_code
    assert hall.fill("tournament_prize", **{**prize, "participant": "P-08"}) == refusal_code
    assert hall.fill("tournament_prize", **{**prize, "participant": " "}) == refusal_code
    assert hall.fill("tournament_prize", **prize) is None
    assert hall.fill("tournament_prize", **prize) == refusal_code
    assert hall.fill("tournament_prize", entry=9, participant="P-09", amount_cents=500) is None
    values = hall.room.journal.meters().values
    assert (values["tournament_prizes.value"], values["tournament_prizes.count"]) == (3500, 2)
    assert read_live_meters(hall.room) == before
    assert hall.audit() == []


@pytest.mark.requirement("L-05")
def test_no_prize_is_paid_before_the_start_or_of_a_void_entry(hall):
    hall = hall().enter()
    assert hall.sell(1, "P-07", start="later") is None
    assert hall.fill("tournament_void", entry=1, reason="bought by mistake") is None
    assert hall.fill("tournament_leave") is None
    prize = {"entry": 1, "participant": "P-07", "amount_cents": 3000}
    assert hall.fill("tournament_prize", **prize) == "refused.tournament_has_started"
    hall.open_play()
    assert hall.fill("tournament_prize", **prize) == "refused.prize_may_be_paid"


def test_the_page_lists_the_rounds_of_the_machine_by_points(hall):
    hall = hall(generator=ScriptedGenerator(*LOST, *LOST, *LOST, *WON, *WON, *WON)).enter().open_play()
    hall.begin(1, "P-1", 1)
    hall.play_round()
    hall.begin(2, "P-2", 1)
    hall.play_round(games=1)
    page = TournamentPage().build_page(hall.room.machine)
    rows = [tuple(cell.value for cell in row.cells) for row in page.tables[1].rows]
    won = read_purse(hall.room)["won_points"]
    assert won > 0
    assert rows == [
        (2, "P-2", 1, won, "service.tournament.result_playing"),
        (1, "P-1", 1, 0, "service.tournament.result_complete"),
    ]


@pytest.mark.requirement("A-05", "L-07")
def test_a_position_that_plays_a_round_cannot_be_removed(hall):
    """Otherwise its entry could begin the round again at another position."""
    hall = hall(count=3).enter()
    third = hall.rooms[2]
    assert hall.sell(1, "P-1", third) is None
    hall.open_play().play_round(third, games=1)
    lost = "position 3 still has a round of a tournament that has not ended"
    with pytest.raises(OperatorError, match=lost):
        refuse_removed_positions_with_money(hall.room.journal, 2, FEATURES.storage_keys, "CAD")
    assert hall.end("failed", third) is None
    refuse_removed_positions_with_money(hall.room.journal, 2, FEATURES.storage_keys, "CAD")


def test_the_archive_is_searched_once_for_the_installation(hall, monkeypatch):
    hall = hall(describe_machine(THREE_GAMES)).enter()
    journal, read_kinds = hall.room.journal, []
    entries = journal.entries

    def count_entries(kind=(), **filters):
        read_kinds.append(kind)
        return entries(kind, **filters)

    monkeypatch.setattr(journal, "entries", count_entries)
    for entry in (1, 2, 3):
        assert hall.sell(entry, f"P-{entry}", start="later") is None
    assert read_kinds.count("tournament.rules") == 1


TORONTO = GamingDay("America/Toronto")


@pytest.mark.requirement("L-08")
def test_the_hour_that_occurs_twice_as_summer_time_ends_stops_no_tournament(hall):
    """Registration closes at 01:15 and play starts at 01:30 summer time; at 02:00 the clock shows 01:00 again."""
    rules = describe_machine(
        THREE_GAMES,
        ("starts = 2027-03-08T19:00:00", "starts = 2027-11-07T01:30:00"),
        ("closes = 2027-03-08T18:30:00", "closes = 2027-11-07T01:15:00"),
    )
    hall = hall(rules, gaming_day=TORONTO, wall=datetime(2027, 11, 7, 5, 10, tzinfo=UTC)).enter()
    assert hall.sell(1, "P-1") is None
    hall.room.clock.pass_seconds(20 * 60)  # 01:30 summer time
    hall.play_round(games=1)
    hall.room.clock.pass_seconds(35 * 60)  # 01:05 standard time
    assert hall.sell(2, "P-2", start="later") == "refused.entries_are_open"
    hall.play_round(games=1)
    hall.room.clock.pass_seconds(144 * 60)  # 03:29 standard time: 179 minutes after the start
    hall.play_round()
    assert hall.fill("tournament_leave") is None
    assert hall.fill("tournament_enter") is None
    assert hall.fill("tournament_leave") is None
    hall.room.clock.pass_seconds(60)
    assert hall.fill("tournament_enter") == "refused.tournament_is_today"
    assert hall.audit() == []


@pytest.mark.requirement("L-08")
def test_a_tournament_across_the_begin_of_summer_time_has_its_whole_length(hall):
    rules = describe_machine(
        THREE_GAMES,
        ("starts = 2027-03-08T19:00:00", "starts = 2027-03-14T01:30:00"),
        ("closes = 2027-03-08T18:30:00", "closes = 2027-03-14T01:15:00"),
    )
    hall = hall(rules, gaming_day=TORONTO, wall=datetime(2027, 3, 14, 6, 30, tzinfo=UTC))
    assert hall.fill("tournament_rules") is None
    hall.room.clock.pass_seconds(179 * 60)  # 05:29 summer time
    assert hall.fill("tournament_enter") is None
