"""The open service menu: the stack of menu pages that a person has opened; the screen shows the top one.

A page builds its content from the machine's state each time it is shown. A touch or input on it has a result:
stay, open a page, go back, close the menu, or submit an event, which the state table accepts or refuses. Pages
change nothing themselves, except that they record sign-ins, new PINs and shown game recalls. The stack
is not stored, so a restart closes the menu. Only when the menu was opened and who is signed in are stored, in the
journal (:attr:`~egm.staff.keys.StaffKey.OPEN_MENU`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from egm.integrity.keys import IntegrityKey
from egm.kernel.events import Event, EventType
from egm.kernel.machine import PositionMachine
from egm.kernel.service_pages import PageText, ServicePage
from egm.money.keys import MoneyKey
from egm.people import Permission, Person
from egm.progressive.keys import ProgressiveKey
from egm.staff.device_page_data import DevicePageData
from egm.staff.events import Authorisation
from egm.staff.page_texts import build_text

#: How a notice is shown.
Severity = Literal["info", "warning", "alarm"]


# ---------------------------------------------------------------------------------------------- page results
@dataclass(frozen=True, slots=True)
class StayOnPage:
    """Result of a touch on a menu page: stay on the page, and show a notice."""

    notice: PageText | None = None
    severity: Severity = "info"


@dataclass(frozen=True, slots=True)
class OpenPage:
    """Result of a touch on a menu page: open a further page."""

    page: "MenuPage"


@dataclass(frozen=True, slots=True)
class GoBack:
    """Result of a touch on a menu page: leave it, or several pages at once."""

    page_count: int = 1
    notice: PageText | None = None


@dataclass(frozen=True, slots=True)
class SubmitEvent:
    """Result of a touch on a menu page: leave ``page_count`` pages of the menu, and submit an event.

    If the state table refuses the event, the page that is then open shows the reason.
    """

    event: Event
    page_count: int = 0


@dataclass(frozen=True, slots=True)
class CloseMenu:
    """Result of a touch on a menu page: close the service menu."""

    reason: str = "left"


#: Any result of a touch or input on a menu page.
PageResult = StayOnPage | OpenPage | GoBack | SubmitEvent | CloseMenu


def build_refusal(code: str) -> StayOnPage:
    """Return the result of a touch that is refused: stay on the page, and show the text ``service.refused.<code>``."""
    return StayOnPage(build_text(f"service.refused.{code}"), "warning")


class MenuPage(Protocol):
    """Base class of the pages of the service menu: their content, and what their buttons and prompt do."""

    __slots__ = ()

    @property
    def entered_values(self) -> Mapping[str, object]:
        """Return the values entered on this page so far, which are lost when the page is left; empty if none were."""
        return {}

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return the page's content in the machine's present state; the desk adds the page id, person and notice."""
        ...

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:
        """Return the result of a touch or input: whether to stay, open a page or leave, or which event to submit.

        ``action`` is the touched action of the page; ``text`` is what was entered in the page's prompt.
        """
        ...


@dataclass(frozen=True, slots=True)
class MenuItem:
    """One line of the main menu, which opens a page. Its text is ``service.menu.<id>``."""

    id: str
    menu_section: str
    """The section of the main menu that contains the line (:data:`egm.staff.service.menu.MENU_SECTIONS`)."""
    permission: Permission | None
    """The permission that a person needs to see the line; None: every signed-in person sees it."""
    create_page: Callable[[], MenuPage]


# ---------------------------------------------------------------------------------------------- the desk
@dataclass(slots=True)
class ServiceDesk:
    """The open service menu of one player position: its stack of pages and who is signed in."""

    open_pages: list[MenuPage] = field(default_factory=list)
    signed_in_person: Person | None = None
    menu_name: str = "operator"
    is_opened_by_key: bool = True
    """Whether the menu was opened by turning a key, not from the screen."""
    device_page_data: DevicePageData = field(default_factory=DevicePageData)
    is_restart_requested: bool = False
    """Whether a restart of the machine was requested."""
    lock_start_ns_by_storage_key: dict[str, int] = field(default_factory=dict)
    """When each lock on staff numbers started, in monotonic nanoseconds.

    The keys are the storage keys under which wrong PINs are counted.
    """
    _notice: PageText | None = None
    _notice_severity: Severity = "info"
    _page_version: int = 0
    """The number of inputs on pages, and of closings of the menu, so far; it makes each page's id unique."""
    _has_warned_about_loss: bool = False
    """Whether the open page has shown the warning that leaving it loses the entered values."""

    @property
    def is_open(self) -> bool:
        """Return whether the service menu is open."""
        return bool(self.open_pages)

    def open(self, page: MenuPage) -> None:
        """Open the service menu at this page, with nobody signed in."""
        self.close()
        self.open_pages = [page]

    def close(self) -> None:
        """Close the service menu, sign the person out and end device tests."""
        self.open_pages = []
        self.signed_in_person = None
        self.device_page_data.end_tests()
        self._set_notice(None)
        self._has_warned_about_loss = False
        self._page_version += 1

    def sign_in(self, person: Person, page: MenuPage) -> None:
        """Sign a person in, and open the service menu at this page."""
        self.signed_in_person, self.open_pages = person, [page]
        self._set_notice(None)

    def is_input_to_open_page(self, page_id: object) -> bool:
        """Return whether ``page_id`` is the id of the open page; a late touch may have the id of an earlier page."""
        return self.is_open and page_id == self._page_id

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> Event | CloseMenu | None:
        """Process a touch or input on the open service page; return what the caller must do.

        The result is an event to submit, :class:`CloseMenu` if the menu is to be closed, or None if nothing
        else is to be done. The first request to leave a form with entered values only shows a warning; the second
        leaves the form.
        """
        self._page_version += 1
        if (action == "leave" and self._would_lose_unwarned_values(self.open_pages)) or (
            action == "back" and self._would_lose_unwarned_values(self.open_pages[-1:])
        ):
            self._has_warned_about_loss = True
            self._set_notice(build_text("service.unconfirmed"), "warning")
            return None
        self._has_warned_about_loss = False
        result_by_fixed_action: dict[str, PageResult] = {"back": GoBack(), "leave": CloseMenu()}
        page_result = result_by_fixed_action.get(action) or self.open_pages[-1].handle_input(
            machine, action, text
        )
        self._set_notice(None)
        match page_result:
            case StayOnPage(notice=notice, severity=severity):
                self._set_notice(notice, severity)
            case OpenPage(page=page):
                self.open_pages.append(page)
            case GoBack(page_count=page_count, notice=notice):
                self._step_back(page_count)
                self._set_notice(notice)
                return None if self.open_pages else CloseMenu()
            case SubmitEvent(event=event, page_count=page_count):
                self._step_back(page_count)
                self._set_notice(build_text("service.done"))
                return event
            case CloseMenu():
                return page_result
        return None

    def _would_lose_unwarned_values(self, pages: list[MenuPage]) -> bool:
        """Return whether leaving ``pages`` would lose entered values, and the person has not been warned of it."""
        return not self._has_warned_about_loss and any(page.entered_values for page in pages)

    def build_page(self, machine: PositionMachine) -> ServicePage | None:
        """Return the open page of the service menu, or None if the menu is closed."""
        if not self.open_pages:
            return None
        person, notice, severity = self.signed_in_person, self._notice, self._notice_severity
        machine_notice = machine.notice
        if machine_notice is not None and machine_notice.code.startswith("refused."):
            notice, severity = build_text(f"notice.{machine_notice.code}", **machine_notice.values), "warning"
        return (
            self.open_pages[-1]
            .build_page(machine)
            .model_copy(
                update={
                    "id": self._page_id,
                    "depth": len(self.open_pages),
                    "person": None
                    if person is None
                    else build_text(f"service.person.{person.role}", name=person.name, number=person.id),
                    "notice": notice,
                    "notice_severity": severity,
                    "unconfirmed": self._would_lose_unwarned_values(self.open_pages),
                }
            )
        )

    @property
    def _page_id(self) -> str:
        """Return the id of the open service page, which changes with every input and when the menu closes."""
        return f"page-{self._page_version}"

    def _step_back(self, page_count: int) -> None:
        """Leave the last ``page_count`` pages of the service menu."""
        if page_count:
            del self.open_pages[-page_count:]

    def _set_notice(self, notice: PageText | None, severity: Severity = "info") -> None:
        """Store the notice that the open page shows next."""
        self._notice, self._notice_severity = notice, severity


def find_key_permission(machine: PositionMachine) -> Permission:
    """Return the permission needed for what the attendant's key would do if turned now, such as clearing a tilt."""
    if machine.is_tilted:
        return Permission.CLEAR_TILTS
    if (
        machine.memory.get(MoneyKey.HANDPAY) is not None
        or machine.memory.get(ProgressiveKey.GAME_AWAITING_AWARD) is not None
    ):
        return Permission.PAY_BY_HAND
    if machine.memory.get(IntegrityKey.OUT_OF_SERVICE) is not None:
        return Permission.RESTART
    return Permission.ANSWER_SERVICE_CALLS


def find_actor(machine: PositionMachine, event: Event) -> str:
    """Return who caused an event: a staff number, or the name of a key switch.

    It is the person whom the event names, otherwise the signed-in person, otherwise the key that was turned
    (``attendant`` if the event names none). If the role of the signed-in person does not permit what the key does,
    another person must have turned the key, so the key is returned.
    """
    signed_in_person = machine.component(ServiceDesk).signed_in_person
    if (
        signed_in_person
        and event.name is EventType.KEY_TURNED
        and not signed_in_person.has_permission(find_key_permission(machine))
    ):
        signed_in_person = None
    authorisation = event.read_payload(Authorisation)
    actor = authorisation.person or (None if signed_in_person is None else signed_in_person.id)
    return actor or authorisation.key or "attendant"
