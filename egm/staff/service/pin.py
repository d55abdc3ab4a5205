"""Changing one's own PIN at the machine, by entering the new one twice."""

from typing import Final

from egm.errors import OperatorError
from egm.kernel.machine import Machine
from egm.kernel.service_pages import Prompt, ServicePage
from egm.people import PinRefusedError, Roster, check_pin
from egm.people.pins import PIN_DIGITS_MAX
from egm.staff.desk import GoBack, MenuEntry, MenuPage, Move, ServiceDesk, StayOnPage, refuse
from egm.staff.service.sign_in import read_staff
from egm.staff.words import BACK, say


class OwnPinPage(MenuPage):
    """Page on which persons change their own PIN by typing it twice. The first input is not stored durably."""

    def __init__(self) -> None:
        self._typed = ""

    def build_page(self, machine: Machine) -> ServicePage:  # noqa: ARG002 (signature of a menu page)
        """Return the page with the prompt for the new PIN, or for its repetition."""
        label = say("service.pin_again" if self._typed else "service.pin_new")
        prompt = Prompt(label=label, kind="pin", length_max=PIN_DIGITS_MAX)
        return ServicePage(id="", title=say("service.menu.own_pin"), prompt=prompt, actions=(BACK,))

    def answer(self, machine: Machine, action: str, text: str) -> Move:
        """Accept the new PIN, typed twice, and store its digest; the journal records the change, and by whom."""
        person = machine.component(ServiceDesk).person
        if action != "enter" or person is None:
            return refuse("not_offered")
        typed, self._typed = self._typed, ""
        try:
            if not typed:
                check_pin(text)
                self._typed = text
                return StayOnPage()
            if text != typed:
                return refuse("not_the_same")
            read_staff(machine)
            machine.install(
                machine.component(Roster).set_pin(person.id, text, by=person.id, at=machine.clock.now())
            )
            read_staff(machine)
        except PinRefusedError:
            return refuse("weak_pin")
        except OperatorError:
            return refuse("staff_unreadable")
        return GoBack(notice=say("service.done"))


PAGES: Final = (MenuEntry("own_pin", "staff", None, OwnPinPage),)
