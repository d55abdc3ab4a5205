"""Page on which a person changes their own PIN at the machine, by typing the new one twice."""

from typing import Final

from egm.errors import OperatorError
from egm.kernel.machine import PositionMachine
from egm.kernel.service_pages import Prompt, ServicePage
from egm.people import PinRefusedError, Roster, check_pin_is_permitted
from egm.people.pins import PIN_DIGITS_MAX
from egm.staff.desk import GoBack, MenuItem, MenuPage, PageResult, ServiceDesk, StayOnPage, build_refusal
from egm.staff.page_texts import BACK_ACTION, build_text
from egm.staff.service.sign_in import reload_staff_roster


class OwnPinPage(MenuPage):
    """Page on which a person changes their own PIN by typing it twice.

    The PIN typed first is held in memory only.
    """

    def __init__(self) -> None:
        self._first_pin = ""

    def build_page(self, machine: PositionMachine) -> ServicePage:  # noqa: ARG002 (signature of a menu page)
        """Return the page with the prompt for the new PIN, or for its repetition."""
        label = build_text("service.pin_again" if self._first_pin else "service.pin_new")
        prompt = Prompt(label=label, kind="pin", length_max=PIN_DIGITS_MAX)
        return ServicePage(
            id="", title=build_text("service.menu.own_pin"), prompt=prompt, actions=(BACK_ACTION,)
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:
        """Accept the new PIN, typed twice, and store its digest in the roster; the journal records who changed it."""
        person = machine.component(ServiceDesk).signed_in_person
        if action != "enter" or person is None:
            return build_refusal("not_offered")
        first_pin, self._first_pin = self._first_pin, ""
        try:
            if not first_pin:
                check_pin_is_permitted(text)
                self._first_pin = text
                return StayOnPage()
            if text != first_pin:
                return build_refusal("not_the_same")
            reload_staff_roster(machine)
            machine.install(
                machine.component(Roster).set_pin(
                    person.id, text, changed_by=person.id, changed_at=machine.clock.now()
                )
            )
            reload_staff_roster(machine)
        except PinRefusedError:
            return build_refusal("weak_pin")
        except OperatorError:
            return build_refusal("staff_unreadable")
        return GoBack(notice=build_text("service.done"))


MENU_ITEMS: Final = (MenuItem("own_pin", "staff", None, OwnPinPage),)
