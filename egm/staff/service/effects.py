"""The service menu's events: opened, answered, closed; and who turns the attendant's key.

The menu opens with the operator's or the audit key, or from the screen where the profile lets it; whoever
opened it then proves who he is. While it is open nobody plays and no value comes in; the credits stay where
they are. Nothing of it survives a restart, and everything is recorded with the person.
"""

import contextlib
from collections.abc import Mapping
from typing import Any, Final

from egm.errors import OperatorError
from egm.kernel.events import Event, EventType
from egm.kernel.machine import Cabinet
from egm.people import Permission, Person
from egm.records.keys import IntegrityKey, MoneyKey, ProgressiveKey, StaffKey
from egm.staff.form import authorise
from egm.staff.service.desk import Do, Leave, Move, ServiceDesk, Stay
from egm.staff.service.menu import MainMenu
from egm.staff.service.sign_in import SignIn, read_staff
from egm.staff.service.tries import begin_lock_outs
from egm.staff.service.words import say

#: Nothing that is asked is longer than this.
_TYPED_MAX: Final = 400
#: Key switches that open the menu; the others are the attendant's.
MENU_KEYS: Final = frozenset({"operator", "audit"})


# ---------------------------------------------------------------------------------------------- guards
def menu_may_open(cabinet: Cabinet, event: Event) -> bool:
    """It is not open yet, and who asks has a key, or needs none here."""
    key = event.data.get("key")
    return not cabinet.state(ServiceDesk).is_open and (key in MENU_KEYS or not cabinet.profile.staff.menu_key)


def page_is_open(cabinet: Cabinet, event: Event) -> bool:
    """The answer is to the page that is open."""
    options = event.data.get("options")
    return isinstance(options, Mapping) and cabinet.state(ServiceDesk).heeds(options.get("page"))


def key_is_enough(cabinet: Cabinet, event: Event) -> bool:
    """Who turns the attendant's key may do what it does now: any holder, or one who has said who he is."""
    act = _key_act(cabinet)
    person = cabinet.state(ServiceDesk).person
    return (
        act in cabinet.profile.staff.key_alone
        or (person is not None and person.may(act))
        or authorise(cabinet, event, act, 1)
    )


def nobody_is_asked(cabinet: Cabinet, _: Event) -> bool:
    """No page is open."""
    return not cabinet.state(ServiceDesk).is_open


def _key_act(cabinet: Cabinet) -> Permission:
    """What the attendant's key would do now: the rows of the table, as a permission."""
    if cabinet.is_tilted:
        return Permission.CLEAR_TILTS
    if (
        cabinet.memory.get(MoneyKey.HANDPAY) is not None
        or cabinet.memory.get(ProgressiveKey.AWAITING) is not None
    ):
        return Permission.PAY_BY_HAND
    if cabinet.memory.get(IntegrityKey.OUT_OF_SERVICE) is not None:
        return Permission.RESTART
    return Permission.ANSWER_CALLS


# ---------------------------------------------------------------------------------------------- effects
def record_key(cabinet: Cabinet, event: Event) -> None:
    """Every turn of a key switch is kept, also one while nobody listened (J-16)."""
    cabinet.log("key.turned" if event.data.get("on") else "key.returned", dict(event.data))


def open_menu(cabinet: Cabinet, event: Event) -> None:
    """Ask who is there."""
    _open(cabinet, SignIn(_enter, say("service.sign_in")), str(event.data.get("key", "screen")))


def ask_who(cabinet: Cabinet, event: Event) -> None:
    """The key alone is not enough here: whoever turned it proves who he is, and then it is done."""
    act = _key_act(cabinet)

    def act_on(cabinet: Cabinet, person: Person) -> Move:
        _note_entry(cabinet, person, "attendant")
        close_menu(cabinet, Event(EventType.MENU_CLOSED, {"why": "done"}))
        return Do(Event(event.type, {**event.data, **signature(person)}))

    place = SignIn(act_on, say(f"service.act.{act}"), permission=act)
    _open(cabinet, place, str(event.data.get("key", "attendant")))
    cabinet.state(ServiceDesk).menu = "attendant"


def signature(*persons: Person) -> dict[str, Any]:
    """Who stands behind an event, as its values say it."""
    return {"person": persons[0].id, "persons": tuple(person.id for person in persons)}


def _open(cabinet: Cabinet, place: SignIn, by: str) -> None:
    desk = cabinet.state(ServiceDesk)
    cabinet.record(
        "menu.asked",
        state={StaffKey.MENU: {"since": cabinet.clock.now().isoformat(), "person": None}},
        details={"by": by},
    )
    desk.open(place)
    desk.menu, desk.keyed = "operator", by != "screen"


def _enter(cabinet: Cabinet, person: Person) -> Move:
    _note_entry(cabinet, person, "operator")
    cabinet.state(ServiceDesk).enter(person, MainMenu())
    return Stay()


def _note_entry(cabinet: Cabinet, person: Person, menu: str) -> None:
    cabinet.record(
        "menu.entered",
        state={StaffKey.MENU: {"since": cabinet.clock.now().isoformat(), "person": person.id}},
        details={"menu": menu, "person": person.id, "role": person.role.value},
    )


def answer_page(cabinet: Cabinet, event: Event) -> Event | None:
    """Take the attendant's answer to wherever it leads."""
    options = event.data["options"]
    action, text = _typed(event.data.get("value")), _typed(options.get("input"))
    cabinet.notice = None
    follows = cabinet.state(ServiceDesk).answer(cabinet, action, text)
    return Event(EventType.MENU_CLOSED, {"why": follows.why}) if isinstance(follows, Leave) else follows


def _typed(value: object) -> str:
    """What came over the link as text that can be kept: bounded, and nothing that is no character."""
    text = value if isinstance(value, str) else ""
    return text[:_TYPED_MAX].encode("utf-8", "replace").decode("utf-8")


def close_menu(cabinet: Cabinet, event: Event) -> None:
    """Sign out: the key is turned back, nobody has touched the menu for long, or whoever it was is done."""
    kept = cabinet.memory.get(StaffKey.MENU)
    desk = cabinet.state(ServiceDesk)
    if kept is not None:
        signed_in = kept["person"] is not None
        cabinet.record(
            "menu.left" if signed_in else "menu.given_up",
            state={StaffKey.MENU: None},
            details={
                "why": str(event.data.get("why", "restart")),
                **({"menu": desk.menu, "person": kept["person"]} if signed_in else {}),
            },
        )
    desk.close()


def note_staff(cabinet: Cabinet, _: Event) -> None:
    """At power-up: record what has changed among the staff. A roster that cannot be read lets nobody in."""
    begin_lock_outs(cabinet)
    with contextlib.suppress(OperatorError):  # recorded, and a fault
        read_staff(cabinet)
