"""The guards of integrity, of progressive levels and of the closing of the tables."""

from datetime import UTC, datetime
from pathlib import Path

from rigs.every_event import TWO, VALUES
from rigs.guards.alone import arrange_state, case, extend_arrangement, handle_event, rows
from rigs.guards.money import IDLE, MENU, OPEN_MENU, arrange_empty_machine, with_profile_text, with_sign_in
from rigs.guards.staff import DOOR, KEY
from rigs.three_levels import DROPPED_LEVEL, await_linked_award, drop_denomination

from egm.config.levels import ProgressiveLinkTable
from egm.features.closing.events import ClosingEvent
from egm.integrity.keys import IntegrityKey
from egm.integrity.signed_file import CabinetFileInUse
from egm.integrity.technician import SoftwareCheckRequester
from egm.kernel.events import EventType, State
from egm.progressive.enrolment_page import EnrolmentState
from egm.progressive.keys import ProgressiveKey
from egm.progressive.link_folder import LinkCertificateFolder
from egm.testing.machine import MachineRig, write_undeclared_entry

WAIT = ("[coins]", '[progressives]\nunanswered = "wait"\n\n[coins]')
MOVE = {**TWO, "form": "level_move", "source": DROPPED_LEVEL, "target": "three-levels.luck.50"}


def set_clock_back(folder: Path) -> MachineRig:
    """Return a machine whose clock was set back while the power was off."""
    MachineRig(folder).boot().close()
    return MachineRig(folder, wall_time=datetime(2025, 12, 1, tzinfo=UTC)).boot()


def _install_file(rig: MachineRig) -> None:
    """Start the machine with a cabinet file that nobody has signed."""
    rig.machine.install(CabinetFileInUse("[machine]\n"))


def _install_manifest(rig: MachineRig) -> None:
    """Give the machine signed software to compare itself with."""
    rig.machine.install(SoftwareCheckRequester(lambda: None))


def _fit_counters(rig: MachineRig) -> None:
    """Record that hard meters are fitted."""
    write_undeclared_entry(
        rig.machine, "hard_meters.fitted", state={IntegrityKey.HARD_METER_OFFSETS: (0,) * 6}
    )


def _name_link(rig: MachineRig) -> None:
    """Name a progressive link in the cabinet file, with its files in the machine's own folder."""
    folder = LinkCertificateFolder(Path("link"))
    link = ProgressiveLinkTable.model_validate(folder.build_cabinet_table("controller", 8883))
    rig.machine.install(EnrolmentState(folder, progressive_link_table=link))


def _state_impossible_award(rig: MachineRig) -> None:
    """Lock an award above what the level can be worth, on which persons must rule."""
    (claim,) = rig.journal.states(ProgressiveKey.CLAIM)
    claim = claim.removeprefix(ProgressiveKey.CLAIM)
    rig.engine.handle(EventType.AWARD_LOCKED, claim=claim, amount_cents=90_000)


def insert(rig: MachineRig) -> None:
    """Insert five dollars."""
    rig.insert(500)


COUNTERS = VALUES[EventType.HARD_METERS_EXCHANGED]
CLOCK = {**TWO, "form": "clock", "persons": ("5",), "date": lambda rig: f"{rig.clock.wall:%Y%m%d}"}
RULED = {**TWO, "form": "prize_ruling", "decision": "pay", "reason": "asked"}
CLOSING = {**TWO, "form": "close_tables", "minutes": 45}
ROWS = (
    *rows(
        "door_closed in after boot: record_door_closed",
        IDLE,
        VALUES[EventType.DOOR_CLOSED],
        door_was_open=case(then="nothing"),
    ),
    *rows(
        "faults_settled in with staff at work: clear_faults_as_technician",
        extend_arrangement(arrange_empty_machine(), handle_event(EventType.FAULT_RAISED, code="meter_jump")),
        VALUES[EventType.CLEAR_FAULTS_AS_TECHNICIAN],
        technician_is_needed=case(MENU),
    ),
    *rows(
        "clock_confirmed in with staff at work: confirm_clock",
        extend_arrangement(set_clock_back, OPEN_MENU),
        CLOCK,
        clock_is_doubted=case(MENU),
        date_is_the_clocks=case(date="20200101"),
    ),
    *rows(
        "file_signed in with staff at work: sign_cabinet_file",
        extend_arrangement(arrange_empty_machine(), _install_file, OPEN_MENU),
        {**TWO, "form": "file_signed", "reason": "a new bank"},
        marks="A-22",
        file_is_unsigned=case(extend_arrangement(arrange_empty_machine(), OPEN_MENU)),
        nothing_is_owed=case(extend_arrangement(MENU, _install_file)),
    ),
    *rows(
        "verify in with staff at work: verify_software",
        extend_arrangement(MENU, _install_manifest),
        VALUES[EventType.VERIFY_SOFTWARE],
        marks="A-14",
        software_is_signed=case(MENU),
    ),
    *rows(
        "counters_exchanged in with staff at work: record_hard_meter_exchange",
        extend_arrangement(MENU, _fit_counters, DOOR),
        {**COUNTERS, "persons": ("5",)},
        marks="D-20",
        machine_is_open=case(extend_arrangement(MENU, _fit_counters)),
        hard_meters_are_fitted=case(extend_arrangement(MENU, DOOR)),
    ),
    # ------------------------------------------------------------------ progressive levels
    *rows(
        "at_rest in awaiting_award: build_game_end_event",
        await_linked_award,
        are_awards_locked=case(then="nothing"),
    ),
    *rows(
        "key_turned in awaiting_award: settle_hits_without_controller",
        await_linked_award,
        KEY,
        marks="I-07",
        attendant_may_settle=case(with_profile_text(await_linked_award, *WAIT)),
        key_is_enough=case(with_sign_in(await_linked_award), then="ask_for_sign_in"),
    ),
    *rows(
        "key_turned in awaiting_award: ask_for_sign_in",
        with_sign_in(await_linked_award),
        KEY,
        no_service_page_is_open=case(extend_arrangement(with_sign_in(await_linked_award), OPEN_MENU)),
        attendant_may_settle=case(with_profile_text(await_linked_award, *WAIT)),
    ),
    *rows(
        "move_level in with staff at work: move_level",
        extend_arrangement(drop_denomination, DOOR),
        MOVE,
        marks="I-13 I-06",
        machine_is_open=case(extend_arrangement(drop_denomination, OPEN_MENU)),
        nothing_is_owed=case(extend_arrangement(drop_denomination, insert, DOOR)),
        level_may_move=case(target="nowhere"),
    ),
    *rows(
        "link_enrolment in with staff at work: perform_enrolment_step",
        extend_arrangement(MENU, _name_link),
        VALUES[EventType.ENROL_LINK],
        link_folder_is_own=case(MENU),
    ),
    *rows(
        "prize_ruled in for prize rulings: rule_on_prize",
        extend_arrangement(await_linked_award, _state_impossible_award),
        RULED,
        marks="I-17",
        prize_is_held=case(MENU, decision="decline"),
        prize_ruling_is_complete=case(reason=" "),
        stated_amount_is_payable=case(await_linked_award),
    ),
    # ------------------------------------------------------------------ the closing of the tables
    *rows(
        "play in idle: notify_table_closed",
        arrange_state(State.IDLE),
        table_is_closed=case(then="start_game"),
    ),
    *rows("close_tables in service_menu: announce_closing", MENU, CLOSING, marks="S-55"),
    *rows(
        "open_tables in service_menu: open_tables",
        extend_arrangement(MENU, handle_event(ClosingEvent.ANNOUNCE_CLOSING, **CLOSING)),
        {**TWO, "form": "open_tables"},
        marks="S-55",
        closing_is_announced=case(MENU),
    ),
)
