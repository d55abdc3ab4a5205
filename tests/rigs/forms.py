"""Forms of the service menu, filled in by staff."""

from egm.app.features import SERVICE_MENU
from egm.kernel.events import EventType
from egm.staff.desk import ServiceDesk

#: Signature of the supervisor alone.
ONE = {"person": "2", "persons": ("2",)}
#: Signatures of the supervisor and the manager.
TWO = {"person": "2", "persons": ("2", "5")}


def fill_in(rig, form_id, **values):
    """Fill in a form of the service menu, close the menu, and return the notice that staff are shown."""
    if not rig.machine.component(ServiceDesk).is_open:
        rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    event = next(form.event for form in SERVICE_MENU.forms if form.id == form_id)
    rig.engine.handle(event, form=form_id, **values)
    shown = rig.machine.notice
    rig.engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    rig.machine.notice = shown
    return rig.notice
