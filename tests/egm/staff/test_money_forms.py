"""The forms about money, filled in at the service menu by people with PINs, as on a real machine."""

import pytest
from rigs.voids import make_undecided_game

from egm.app.features import STAFF_REGISTERS
from egm.kernel.events import EventType, State
from egm.people import Role
from egm.play.keys import PlayKey
from egm.staff.registers import iter_register_lines
from egm.testing.machine import MachineRig
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser


@pytest.fixture
def menu(tmp_path):
    rig = MachineRig(tmp_path, profile="monaco").boot()
    yield MenuUser(rig)
    rig.close()


def register(menu, name):
    return list(iter_register_lines(STAFF_REGISTERS[name], menu.rig.journal.entries()))


@pytest.mark.requirement("Q-01", "Q-03", "F-16", "Q-12")
def test_a_jackpot_is_paid_in_monaco_as_the_order_requires(menu):
    """Without the form, the key asks for a person; the mechanic has nothing to check, and the supervisor pays."""
    for _ in range(11):
        menu.rig.insert(20000)
    menu.rig.engine.handle(EventType.CASH_OUT)
    menu.rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (menu.rig.notice, menu.is_open) == ("refused.handpay_is_in_order", False)

    menu.sign_in(Role.SUPERVISOR).open_and_fill_form("machine_check", "seal whole")
    menu.home().open_and_fill_form("handpay", "transfer", "Anna Example", "passport", "X1234567")
    menu.touch("leave")
    assert menu.rig.state is State.HANDPAY
    menu.rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    menu.identify(Role.MECHANIC)  # the page says that this role lacks the permission
    assert menu.rig.state is State.HANDPAY
    menu.identify(Role.ATTENDANT)
    assert menu.rig.state is State.IDLE
    (paid,) = register(menu, "handpays")
    assert (paid["method"], paid["amount_cents"], paid["persons"]) == ("transfer", 220000, ["2", "1"])
    (check,) = register(menu, "checks")
    assert (check["books"], check["remark"], check["persons"]) == ("right", "seal whole", ["2"])
    assert not [entry for entry in menu.rig.journal.entries() if "Anna" in str(entry)]


@pytest.mark.requirement("Q-05", "Q-06", "J-16")
def test_a_supervisor_pays_a_complement_and_takes_orphans_and_an_attendant_cannot(menu):
    menu.rig.insert(2000)
    menu.sign_in(Role.ATTENDANT)
    assert not [
        action for action in list_menu_actions(menu) if action in {"form:complement", "form:orphan_credits"}
    ]
    menu.touch("leave")
    menu.sign_in(Role.SUPERVISOR).open_and_fill_form("complement", "1250", "line 2 was not paid", "", "")
    assert menu.notice == "service.done"
    menu.home().open_and_fill_form("orphan_credits", "slot room")
    menu.home().touch("leave")
    assert (menu.rig.state, menu.rig.credit_cents) == (State.IDLE, 0)
    assert register(menu, "complements")[0]["amount_cents"] == 1250
    assert register(menu, "orphans")[0]["amount_cents"] == 2000


@pytest.mark.requirement("Q-04", "Q-07")
def test_a_supervisor_writes_notes(menu):
    menu.sign_in(Role.SUPERVISOR)
    menu.open_and_fill_form("dispute", "three sevens", "two and a bell", "not paid", "").home()
    menu.open_and_fill_form("exclusion", "Otto Example", "took an orphan")
    for name in ("disputes", "exclusions"):
        assert register(menu, name)[0]["persons"] == ["2"]


@pytest.mark.requirement("Q-13")
def test_an_incident_is_judged_by_the_management_alone_and_the_control_service_informed(menu):
    answers = {"what": "a quarrel", "judgement": "both left", "officer": "agent 12, 14:00"}
    menu.sign_in(Role.SUPERVISOR)
    assert "form:incident" not in list_menu_actions(menu)
    judged = {"form": "incident", "person": "2", "persons": ("2",), **answers, "informed": "telephone"}
    menu.rig.engine.handle(EventType.INCIDENT_JUDGED, **judged)  # even past the menu
    assert menu.rig.notice == "refused.authorised"
    menu.home().touch("leave")
    menu.sign_in(Role.MANAGER)
    direction = {
        **judged,
        "person": STAFF_NUMBER_BY_ROLE[Role.MANAGER],
        "persons": (STAFF_NUMBER_BY_ROLE[Role.MANAGER],),
    }
    lacking_fields = (
        {"what": " "},
        {"judgement": " "},
        {"officer": " "},
        {"informed": "nobody"},
        {"informed": ""},
    )
    for lacking in lacking_fields:
        menu.rig.engine.handle(EventType.INCIDENT_JUDGED, **{**direction, **lacking})
        assert menu.rig.notice == "refused.register_note_is_complete"
    assert register(menu, "incidents") == []
    menu.open_and_fill_form("incident", "a quarrel", "both left", "telephone", "agent 12, 14:00")
    (line,) = register(menu, "incidents")
    assert (line["what"], line["judgement"]) == ("a quarrel", "both left")
    assert (line["informed"], line["officer"]) == ("telephone", "agent 12, 14:00")
    assert line["persons"] == [STAFF_NUMBER_BY_ROLE[Role.MANAGER]]


@pytest.mark.requirement("F-15")
def test_a_forfeit_needs_a_second_different_person(tmp_path):
    rig = make_undecided_game(tmp_path, "quebec-casino")
    menu = MenuUser(rig)
    rig.play()
    rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    menu.sign_in(Role.SUPERVISOR).open_and_fill_form(
        "forfeit_game", "a wire in the slot", second=Role.SUPERVISOR
    )
    assert rig.machine.memory.get(PlayKey.GAME) is not None  # one person cannot sign twice
    menu.identify(Role.MANAGER)
    assert rig.machine.memory.get(PlayKey.GAME) is None
    (line,) = register(menu, "forfeited-games")
    assert line["persons"] == ["2", "5"]
    rig.close()


def list_menu_actions(menu) -> list[str]:
    """Return the actions that the main menu offers."""
    return [row.action for table in menu.page.tables for row in table.rows if row.action]
