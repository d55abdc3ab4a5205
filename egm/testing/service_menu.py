"""Staff actions on the service menu of a machine: turn keys, type, touch, read."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from egm.kernel.events import Event, EventType
from egm.kernel.feature import LANGUAGES, Features
from egm.kernel.service_pages import PageText, ServicePage
from egm.people import Person, Role, Roster
from egm.people.pins import PinDigest
from egm.screen.text import Texts
from egm.staff.desk import ServiceDesk
from egm.staff.events import MenuRequest, PageAnswer, PageInput
from egm.staff.service.menu import MENU_SECTIONS
from egm.testing.machine import MachineRig
from meters.recall import read_details

#: The catalogue of texts in each language.
TEXTS_BY_LANGUAGE = {language: Texts(language) for language in LANGUAGES}
#: The catalogue keys of the titles of the main menu and its sections.
MAIN_MENU_TITLE_KEYS = {"service.menu.title", *(f"service.section.{section}" for section in MENU_SECTIONS)}
#: Staff number of each role; :func:`build_pin` returns the PIN.
STAFF_NUMBER_BY_ROLE = {role: str(index) for index, role in enumerate(Role, 1)}

_ENROLLED_AT: Final = datetime(2026, 1, 1, tzinfo=UTC)


def build_pin(staff_number: str) -> str:
    """Return the test PIN of a staff number.

    It is long, because tests search journals for PINs, and a short one could occur in a digest by chance.
    """
    return f"90{staff_number}748159362"[:12]


def create_roster() -> Roster:
    """Return a roster with one member of staff for each role, enrolled by the manager.

    Their PINs are digested at scrypt's lowest cost, so that tests are fast.
    """
    roster, manager = Roster(), STAFF_NUMBER_BY_ROLE[Role.MANAGER]
    for role in sorted(Role, key=lambda role: role is not Role.MANAGER):
        # The first must be able to enrol others.
        staff_number = STAFF_NUMBER_BY_ROLE[role]
        person = Person(staff_number, role.value.title(), role)
        digest = PinDigest.from_pin(build_pin(staff_number), cost=2)
        roster = roster.enrol_person(person, digest, changed_by=manager, changed_at=_ENROLLED_AT)
    return roster


class MenuUser:
    """A member of staff who uses the service menu of a test machine."""

    def __init__(self, rig: MachineRig) -> None:
        self.rig = rig
        self.machine = rig.machine
        self.machine.install(create_roster())
        # Staff numbers, and names of key switches: a person who turns a key is recorded by the key's name.
        self._acting_ids = {"attendant"}
        feature_texts = self.machine.component(Features).texts_by_language
        self._texts = [
            Texts(language, additional_texts=feature_texts)
            if feature_texts[language]
            else TEXTS_BY_LANGUAGE[language]
            for language in LANGUAGES
        ]

    @property
    def page(self) -> ServicePage:
        """Return the service page shown now, after checking that every text of it exists in both languages."""
        page = self.machine.component(ServiceDesk).build_page(self.machine)
        assert page is not None, "no page is open"
        for text in iter_page_texts(page):
            for texts in self._texts:
                _format_text(text, texts)
        return page

    @property
    def is_open(self) -> bool:
        """Return whether a page is shown."""
        return self.machine.component(ServiceDesk).build_page(self.machine) is not None

    @property
    def notice(self) -> str:
        """Return the key of the page's notice about the last input, or "" if there is none."""
        notice = self.page.notice
        return "" if notice is None else str(notice.value)

    def open(self, key: str = "operator") -> "MenuUser":
        """Turn a key switch, which opens the service menu."""
        self._acting_ids.add(key)
        self.rig.engine.submit(Event(EventType.OPEN_SERVICE_MENU, MenuRequest(key=key)))
        return self

    def touch(self, action: str, text: str = "", *, page: str | None = None) -> "MenuUser":
        """Touch an action on the service page. Raises AssertionError unless it is offered and enabled.

        ``text`` is typed if the action prompts for input. If the action is in another section of the main menu, go to
        that section first. With ``page``, the id of a page shown earlier, the touch is sent as on that page, without
        any check.
        """
        if (
            page is None
            and action not in list_enabled_actions(self.page)
            and self.page.title.value in MAIN_MENU_TITLE_KEYS
        ):
            self._open_section_with(action)
        page_before = self.page
        if page is None:
            assert action in list_enabled_actions(page_before), (
                f"{action} is not on {page_before.title.value}: {list_enabled_actions(page_before)}"
            )
        page_answer = PageAnswer(
            action=action, page_input=PageInput(page_id=page or page_before.id, entered_text=text)
        )
        self.rig.engine.submit(Event(EventType.ANSWER_SERVICE_PAGE, page_answer))
        return self

    def _open_section_with(self, action: str) -> None:
        """Open the section of the main menu that offers the action."""
        self.home()
        for section in MENU_SECTIONS:
            if f"subject:{section}" in list_enabled_actions(self.page):
                self.touch(f"subject:{section}")
                if action in list_enabled_actions(self.page):
                    return
                self.touch("back")

    def collect_all_actions(self) -> set[str]:
        """Return the actions of all items in all sections of the main menu."""
        actions: set[str] = set()
        for section_action in [
            action for action in list_enabled_actions(self.home().page) if action.startswith("subject:")
        ]:
            self.touch(section_action)
            actions |= {row.action for table in self.page.tables for row in table.rows}
            self.home()
        return actions

    def enter(self, text: str) -> "MenuUser":
        """Type text into the prompt and confirm it."""
        assert self.page.prompt is not None, f"{self.page.title.value} has no prompt"
        return self.touch("enter", text)

    def identify(self, role: Role, pin: str | None = None) -> "MenuUser":
        """Identify as the member of staff with this role: enter staff number and PIN."""
        staff_number = STAFF_NUMBER_BY_ROLE[role]
        if self.page.prompt is not None and self.page.prompt.kind == "pin":
            self.touch("back")  # after a wrong PIN the page asks for it again; go back for another number
        self._acting_ids.add(staff_number)
        return self.enter(staff_number).enter(build_pin(staff_number) if pin is None else pin)

    def sign_in(self, role: Role) -> "MenuUser":
        """Turn the key and sign in."""
        self.open().identify(role)
        assert self.page.person is not None, f"{role} was not let in: {self.notice}"
        return self

    def home(self) -> "MenuUser":
        """Return to the main page of the service menu."""
        while self.page.title.value != "service.menu.title":
            self.touch("back")
        return self

    def open_and_fill_form(self, form: str, *values: str, second: Role | None = None) -> "MenuUser":
        """Open a form from the main menu, fill it in and confirm it."""
        self.touch(f"form:{form}")
        return self.fill_open_form(*values, second=second)

    def fill_open_form(self, *values: str, second: Role | None = None) -> "MenuUser":
        """Fill in the open form, field by field, and confirm it.

        Raises AssertionError if the form records persons who took no part.
        """
        sequence = self.machine.journal.sequence
        if (person := self.machine.component(ServiceDesk).signed_in_person) is not None:
            self._acting_ids.add(person.id)
        for value in values:
            self.enter(value)
        self.touch("confirm")
        if second is not None:
            self.identify(second)
        for entry in self.machine.journal.entries(after_sequence=sequence):
            persons = read_details(entry).get("persons") or ()
            assert self._acting_ids.issuperset(persons), f"{entry.kind}: {persons} did not act"
        return self

    def read_rows(self) -> dict[str, str]:
        """Return the rows of the page's tables: the last cell by the first cell, in English."""
        return {
            translate_text(row.cells[0], "en"): translate_text(row.cells[-1], "en")
            for table in self.page.tables
            for row in table.rows
        }


def iter_page_texts(page: ServicePage) -> Iterator[PageText]:
    """Yield every text of a service page: title, labels and table cells."""
    yield page.title
    yield from (text for text in (page.person, page.notice) if text is not None)
    if page.prompt is not None:
        yield page.prompt.label
        yield page.prompt.confirm
        yield from (choice.label for choice in page.prompt.choices)
    yield from (action.label for action in page.actions)
    for table in page.tables:
        yield from table.columns
        if table.title is not None:
            yield table.title
        for row in table.rows:
            yield from row.cells


def translate_text(text: PageText, language: str) -> str:
    """Return a service page's text in a language. Raises CatalogueError if the catalogue lacks it."""
    return _format_text(text, TEXTS_BY_LANGUAGE[language])


def _format_text(text: PageText, texts: Texts) -> str:
    """Return a service page's text in one language, with its values filled in.

    ``texts`` is the catalogue of that language.
    """
    return texts.format_page_text(text, lambda cents: texts.format_money(cents, "USD"))


def list_enabled_actions(page: ServicePage) -> list[str]:
    """Return the ids of the enabled actions of a service page.

    These are the actions of its buttons and rows, ``crosses`` on a calibration page, and ``enter`` if it has a prompt.
    """
    actions = [action.id for action in page.actions if action.enabled]
    actions += [row.action for table in page.tables for row in table.rows if row.action]
    if page.pattern == "calibrate":
        actions.append("crosses")
    return [*actions, "enter"] if page.prompt is not None else actions
