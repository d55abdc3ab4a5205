"""The guards of the staff's own work: keys, the service menu, device tests, interventions, options, notes."""

from rigs.every_event import TWO, VALUES
from rigs.guards.alone import arrange_state, case, extend_arrangement, handle_event, rows
from rigs.guards.money import IDLE, MENU, OPEN_MENU, TILTED, arrange_empty_machine

from egm.features.tournament.keys import TournamentKey
from egm.features.tournament.records import TournamentMode
from egm.kernel.events import EventType, State
from egm.people import Role
from egm.staff.events import PageInput
from egm.testing.machine import MachineRig, write_undeclared_entry
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser

KEY = {"key": "attendant"}
COLLECT = {"form": "collection", "kind": "collection", "reason": "weekly", **TWO}
OPENED_RIGS = extend_arrangement(
    MENU, handle_event(EventType.INTERVENTION_OPENED, **VALUES[EventType.INTERVENTION_OPENED])
)
COLLECTING = extend_arrangement(MENU, handle_event(EventType.INTERVENTION_OPENED, **COLLECT))
COLLECTED = extend_arrangement(
    COLLECTING,
    handle_event(EventType.INTERVENTION_CLOSED, **TWO, form="collection_end", kind="collection", work="done"),
)
DOOR = handle_event(EventType.DOOR_OPENED, door="main")
BASE = {"base": "12", "lock": "7", "cashier": "main", **TWO}
BASE_OUT = {**BASE, "form": "base_out", "reason": "full"}
WITHDRAWN = extend_arrangement(COLLECTING, handle_event(EventType.CABINET_BASE_WITHDRAWN, **BASE_OUT))
TESTED = VALUES[EventType.START_DEVICE_TEST]


def fail_self_test(folder) -> MachineRig:
    """Return a machine in Monaco whose self-test has failed."""
    return arrange_state(State.OUT_OF_SERVICE, profile="monaco")(folder)


def _enter_tournament(rig: MachineRig) -> None:
    """Put the machine into a tournament."""
    mode = TournamentMode(digest="0" * 64, entered_at="2026-01-01T00:00:00+00:00")
    write_undeclared_entry(rig.machine, "tournament.entered", state={TournamentKey.TOURNAMENT_MODE: mode})


def _lock_mechanic(rig: MachineRig) -> None:
    """Lock the mechanic's number by wrong PINs, and sign in as the manager."""
    menu = MenuUser(rig).open()
    for _ in range(3):
        menu.identify(Role.MECHANIC, pin="1379")
    menu.identify(Role.MANAGER)


UNLOCK = {
    "form": "unlock",
    "persons": (STAFF_NUMBER_BY_ROLE[Role.MANAGER],),
    "number": STAFF_NUMBER_BY_ROLE[Role.MECHANIC],
    "reason": "forgot",
}
LIMIT = {"form": "options_bet_limit", "option": "bet_limit", "bet_limit_cents": 1000, **TWO}
ROWS = (
    # ------------------------------------------------------------------ keys and the menu
    *rows(
        "key_turned in tilt: clear_faults_as_attendant",
        extend_arrangement(arrange_empty_machine(), TILTED),
        KEY,
        key_is_enough=case(
            extend_arrangement(arrange_empty_machine(profile="monaco"), TILTED), then="ask_for_sign_in"
        ),
    ),
    *rows(
        "key_turned in for attendant key: restart_generator",
        arrange_state(State.OUT_OF_SERVICE),
        KEY,
        has_failed=case(arrange_empty_machine(), then="answer_service_call"),
        key_is_enough=case(fail_self_test, then="ask_for_sign_in"),
    ),
    *rows(
        "key_turned in for attendant key: answer_service_call",
        arrange_empty_machine(),
        KEY,
        key_is_enough=case(fail_self_test, then="ask_for_sign_in"),
    ),
    *rows(
        "key_turned in asking for identification: ask_for_sign_in",
        extend_arrangement(arrange_empty_machine(profile="monaco"), TILTED),
        KEY,
        no_service_page_is_open=case(
            extend_arrangement(arrange_empty_machine(profile="monaco"), TILTED, OPEN_MENU)
        ),
    ),
    *rows(
        "menu in for service menu: open_menu",
        extend_arrangement(arrange_empty_machine(), TILTED),
        VALUES[EventType.OPEN_SERVICE_MENU],
        menu_may_open=case(extend_arrangement(arrange_empty_machine(), TILTED, OPEN_MENU)),
    ),
    *rows("menu_moved in with staff at work: move_menu", MENU, {"position": 2}, position_is_another=case()),
    *rows(
        "answer in with staff at work: answer_page",
        MENU,
        {"value": "back", "options": PageInput(page_id="another")},
        page_is_open=case(then="nothing"),
    ),
    # ------------------------------------------------------------------ tests of devices
    *rows(
        "test in with staff at work: start_test",
        MENU,
        TESTED,
        marks="J-10",
        may_test=case(persons=()),
        device_is_free=case(test="print"),
    ),
    *rows(
        "bill_escrowed or ticket_escrowed in after boot: return_test_paper",
        IDLE,
        VALUES[EventType.BILL_ESCROWED],
        acceptor_is_tested=case(then="stack_bill"),
    ),
    *rows(
        "bill_returned or bill_rejected in after boot: record_test_paper",
        IDLE,
        VALUES[EventType.BILL_RETURNED],
        acceptor_is_tested=case(then="record_paper_returned"),
    ),
    *(
        row
        for event, tested, slip, value in (
            ("ticket_printed", "record_test_ticket", "record_slip", "settle_ticket"),
            ("ticket_failed", "record_test_ticket_failed", "record_slip_failed", "handle_print_failure"),
        )
        for name, guard in ((tested, "ticket_is_a_test"), (slip, "ticket_is_a_slip"))
        for row in rows(
            f"{event} in after boot: {name}", arrange_state(State.PAYING), **{guard: case(then=value)}
        )
    ),
    *rows(
        "coins_paid in after boot: record_test_coins",
        IDLE,
        {"paid_coins": 5},
        payout_is_a_test=case(then="settle_coins"),
    ),
    # ------------------------------------------------------------------ work at the machine
    *rows(
        "options in with staff at work: change_options",
        extend_arrangement(arrange_empty_machine(), OPEN_MENU, DOOR),
        LIMIT,
        marks="O-07 A-22",
        machine_is_open=case(extend_arrangement(arrange_empty_machine(), OPEN_MENU)),
        nothing_is_owed=case(extend_arrangement(MENU, DOOR)),
        no_tournament_is_on=case(
            extend_arrangement(arrange_empty_machine(), OPEN_MENU, DOOR, _enter_tournament)
        ),
        option_is_sound=case(bet_limit_cents=None),
    ),
    *rows("restart in with staff at work: request_restart", MENU, VALUES[EventType.RESTART], marks="J-16"),
    *rows(
        "number_unlocked in with staff at work: unlock_staff_number",
        extend_arrangement(arrange_empty_machine(), _lock_mechanic),
        UNLOCK,
        marks="J-16",
        number_is_locked=case(number=STAFF_NUMBER_BY_ROLE[Role.ATTENDANT]),
    ),
    *rows(
        "intervention_opened in with staff at work: open_intervention",
        MENU,
        VALUES[EventType.INTERVENTION_OPENED],
        marks="J-06:a",
        no_intervention_is_open=case(OPENED_RIGS),
    ),
    *rows(
        "intervention_closed in with staff at work: close_intervention",
        OPENED_RIGS,
        VALUES[EventType.INTERVENTION_CLOSED],
        marks="J-06:a",
        intervention_is_open=case(COLLECTING),
        every_door_is_closed=case(extend_arrangement(OPENED_RIGS, DOOR)),
    ),
    *rows(
        "hopper_filled in with staff at work: record_hopper_fill",
        arrange_state(State.SERVICE_MENU, "hopper"),
        {"form": "hopper_fill", "amount_cents": 1000, **TWO},
        marks="G-08",
        fill_amount_is_valid=case(amount_cents=1050),
    ),
    *rows(
        "box_counted in with staff at work: record_box_count",
        COLLECTED,
        {"form": "box_count", "box": "bill_box", "counted_cents": 500, **TWO},
        marks="D-21",
        box_is_to_be_counted=case(MENU),
    ),
    *rows(
        "base_withdrawn in with staff at work: withdraw_base",
        COLLECTING,
        BASE_OUT,
        marks="J-05",
        somebody_is_at_work=case(MENU),
        base_is_in_place=case(WITHDRAWN),
    ),
    *rows(
        "base_returned in with staff at work: return_base",
        WITHDRAWN,
        {**BASE, "form": "base_in"},
        marks="J-05",
        somebody_is_at_work=case(
            extend_arrangement(
                WITHDRAWN,
                handle_event(
                    EventType.INTERVENTION_CLOSED,
                    **TWO,
                    form="collection_end",
                    kind="collection",
                    work="done",
                ),
            )
        ),
        base_is_withdrawn=case(COLLECTING),
    ),
    *rows(
        "dispute_decided in for rulings: record_dispute",
        MENU,
        VALUES[EventType.DISPUTE_DECIDED],
        marks="Q-04",
        register_note_is_complete=case(decision=" "),
    ),
    *rows(
        "exclusion_noted in for rulings: record_exclusion",
        MENU,
        VALUES[EventType.PLAYER_EXCLUSION_NOTED],
        marks="Q-07",
        register_note_is_complete=case(who=" "),
    ),
    *rows(
        "incident_judged in for rulings: record_incident",
        MENU,
        {**VALUES[EventType.INCIDENT_JUDGED], "persons": (STAFF_NUMBER_BY_ROLE[Role.MANAGER],)},
        marks="Q-13",
        register_note_is_complete=case(informed="a rumour"),
    ),
)
