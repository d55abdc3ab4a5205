"""Staff: who may do what at the machine, the service menu, and the registers its work is written in."""

from typing import Final

from egm.kernel.events import State
from egm.kernel.feature import Feature
from egm.kernel.machine import Machine
from egm.kernel.rules import DerivedState, Guard
from egm.records.keys import StaffKey
from egm.staff import device_test_rules
from egm.staff.forms import FORMS
from egm.staff.rules import RULES
from egm.staff.service import devices, interventions, manual, options, pages, pin
from egm.staff.service.timeout import service_timeout


def device_tests(no_ticket_is_asked: Guard[Machine]) -> Feature:
    """Tests of devices, tried before everything else: what a device reports in its test is the test's."""
    return Feature(name="device tests", rules=device_test_rules.rules(no_ticket_is_asked))


STAFF: Final = Feature(
    name="staff",
    keys=StaffKey,
    rules=RULES,
    offers=(
        *devices.PAGES,
        *pages.PAGES,
        *options.PAGES,
        *interventions.PAGES,
        *pin.PAGES,
        *manual.PAGES,
        *FORMS,
    ),
    states=(DerivedState(State.SERVICE_MENU, lambda machine: machine.memory.get(StaffKey.MENU) is not None),),
    position_services=(service_timeout,),
)
