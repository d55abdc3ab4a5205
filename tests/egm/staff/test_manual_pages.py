"""In the manual on the machine, everybody who signs in can look up what a fault means, in either language."""

import pytest

from egm.kernel.events import EventType
from egm.people import Role
from egm.staff.service.manual import MANUAL_CHAPTERS, list_fault_codes
from egm.testing.machine import MachineRig
from egm.testing.service_menu import MenuUser, list_enabled_actions, translate_text


@pytest.fixture
def menu(tmp_path):
    rig = MachineRig(tmp_path).boot()
    yield MenuUser(rig)
    rig.close()


@pytest.mark.requirement("R-06")
def test_everybody_who_signs_in_can_look_up_every_fault(menu):
    menu.sign_in(Role.ATTENDANT).touch("manual").touch("faults")
    assert len(list_enabled_actions(menu.page)) == len(list_fault_codes()) + 2  # the way back, and the search
    assert menu.page.prompt.kind == "search"
    for row_number, code in enumerate(list_fault_codes()):
        shown = menu.touch(str(row_number)).read_rows()
        assert shown["Code"] == code
        assert len(shown["What it means and what to do"]) > 15
        assert len({translate_text(row.cells[1], "fr") for row in menu.page.tables[0].rows}) == 5
        menu.touch("back")


@pytest.mark.requirement("R-06")
def test_active_faults_are_on_the_first_page_with_their_remedy(menu):
    menu.sign_in(Role.ATTENDANT).touch("manual")
    assert not [action for action in list_enabled_actions(menu.page) if ":" in action]
    menu.rig.engine.handle(EventType.FAULT_RAISED, code="ticket_printer.paper_out")
    assert [translate_text(row.cells[0], "en") for row in menu.page.tables[0].rows] == [
        "Printer: out of paper"
    ]
    menu.touch(menu.page.tables[0].rows[0].action)
    assert menu.read_rows()["What it means and what to do"].startswith("Load paper.")


@pytest.mark.parametrize("stride", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_every_chapter_and_line_of_the_manual_opens(menu, stride):
    """The quick test opens the first line of each chapter and every fourth line."""
    menu.sign_in(Role.INSPECTOR).touch("manual")
    opened = 0
    for chapter in MANUAL_CHAPTERS:
        menu.touch(chapter.id)
        assert menu.page.tables[0].rows
        for row in [row for row in menu.page.tables[0].rows if row.action][::stride]:
            menu.touch(row.action)
            assert len(menu.page.tables[0].rows) == len(chapter.columns)
            menu.touch("back")
            opened += 1
        menu.touch("back")
    assert opened * stride > 300
