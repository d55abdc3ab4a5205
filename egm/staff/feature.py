"""Declaration of the staff feature: permissions at the machine, the service menu, and registers of staff work."""

from typing import Final

from egm.kernel.entries import list_entries
from egm.kernel.events import State
from egm.kernel.feature import Feature
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import DerivedState, Guard
from egm.staff import device_test_rules, entries
from egm.staff.events import PAYLOAD_CLASS_BY_EVENT
from egm.staff.forms import STAFF_FORMS
from egm.staff.keys import StaffKey
from egm.staff.records import OperatorOptions
from egm.staff.registers import REGISTER_DEFINITIONS
from egm.staff.rules import STAFF_RULES
from egm.staff.service import devices, interventions, manual_page, options, pages, pin
from egm.staff.service.timeout import create_service_menu_timeout


def build_device_tests_feature(no_ticket_query_waits: Guard[PositionMachine]) -> Feature:
    """Return the feature of device tests; its rules come first, so that they receive reports of a device under test.

    ``no_ticket_query_waits``: the guard that holds while no ticket in escrow waits for validation.
    """
    return Feature(name="device tests", rules=device_test_rules.build_rules(no_ticket_query_waits))


STAFF_FEATURE: Final = Feature(
    name="staff",
    storage_keys=StaffKey,
    value_types={
        StaffKey.OPEN_MENU: entries.OpenMenu,
        StaffKey.OPERATOR_OPTIONS: OperatorOptions,
        StaffKey.TOUCH_CALIBRATION: entries.CalibrationMatrix,
        StaffKey.INVENTORY: entries.InventoryEntry,
        StaffKey.INTERVENTION: entries.Intervention,
        StaffKey.MONITORED_INTERVENTION: str,
        StaffKey.LAST_COLLECTION: entries.CollectionRecord,
        StaffKey.WITHDRAWN_BASE: entries.WithdrawnBase,
        # ROSTER_CHANGE and WRONG_PINS have other forms in journals of earlier versions, and a memory clear carries
        # them over.
    },
    entry_declarations=list_entries(entries),
    payload_classes=PAYLOAD_CLASS_BY_EVENT,
    rules=STAFF_RULES,
    contributions=(
        *devices.MENU_ITEMS,
        *pages.MENU_ITEMS,
        *options.MENU_ITEMS,
        *interventions.MENU_ITEMS,
        *pin.MENU_ITEMS,
        *manual_page.MENU_ITEMS,
        *STAFF_FORMS,
        *REGISTER_DEFINITIONS,
    ),
    derived_states=(
        DerivedState(State.SERVICE_MENU, lambda machine: machine.memory.get(StaffKey.OPEN_MENU) is not None),
    ),
    position_service_factories=(create_service_menu_timeout,),
)
