"""The main menu: what each person may walk into, by subject, and the search over all of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from egm.kernel.events import Event, EventType
from egm.kernel.machine import Machine
from egm.kernel.rules import Rules
from egm.kernel.service_pages import Action, Prompt, Row, ServicePage, Table
from egm.kernel.side_by_side import SideBySide
from egm.records.keys import MoneyKey
from egm.records.money import HandpayRecord
from egm.staff.form import Form
from egm.staff.service.desk import Do, Entry, Go, Move, Place, ServiceDesk, refuse
from egm.staff.service.filling import Filling
from egm.staff.service.words import BACK, coded, columns, money, number, plain, say

#: What the lines of the main menu are about, in their order.
SUBJECTS: Final = ("machine", "money", "games", "players", "staff")


@dataclass(frozen=True, slots=True, kw_only=True)
class Menu:
    """What the features of a machine bring to its main menu: pages to look at, and forms to fill in.

    ``rules`` say what becomes of a form.
    """

    pages: tuple[Entry, ...]
    forms: tuple[Form, ...]
    rules: Rules[Machine]

    def pages_of(self, subject: str) -> tuple[Entry, ...]:
        """The pages that stand under a subject."""
        return tuple(entry for entry in self.pages if entry.subject == subject)

    def forms_of(self, subject: str) -> tuple[Form, ...]:
        """The forms that stand under a subject."""
        return tuple(form for form in self.forms if form.subject == subject)


class MainMenu(Place):
    """The subjects in which there is something open to whoever has signed in, and the other positions."""

    def page(self, machine: Machine) -> ServicePage:
        """A key a subject, and the search; of several positions, what waits at each."""
        subjects = tuple(
            Action(id=f"subject:{subject}", label=say(f"service.section.{subject}"))
            for subject in SUBJECTS
            if any(_rows(machine, subject))
        )
        return ServicePage(
            id="",
            title=say("service.menu.title"),
            tables=tuple(_positions(machine)),
            actions=(
                *subjects,
                Action(id="search", label=say("service.menu.search")),
                Action(id="leave", label=say("service.leave"), style="back"),
            ),
        )

    def answer(self, machine: Machine, action: str, text: str) -> Move:  # noqa: ARG002 (a place's)
        """Into a subject, the search, or at once to a page or a form; or to another position with it all."""
        what, _, subject = action.partition(":")
        if what == "position" and subject in {str(number) for number in machine.state(SideBySide).at}:
            return Do(Event(EventType.MENU_MOVED, {"position": int(subject)}))
        if what == "subject" and subject in SUBJECTS:
            return Go(_Subject(subject))
        return Go(_Search()) if action == "search" else _into(machine, action)


@dataclass(frozen=True, slots=True)
class _Subject(Place):
    """What there is of one subject: what may be looked at, then what may be filled in."""

    subject: str

    def page(self, machine: Machine) -> ServicePage:
        """A line each; nobody sees one that is not open to him."""
        return ServicePage(
            id="",
            title=say(f"service.section.{self.subject}"),
            tables=tuple(_tables(machine, (self.subject,))),
            actions=(BACK,),
        )

    def answer(self, machine: Machine, action: str, text: str) -> Move:  # noqa: ARG002 (a place's)
        """Into a page or a form."""
        return _into(machine, action)


class _Search(Place):
    """Everything at once, of which the screen shows what has the letters typed."""

    def page(self, machine: Machine) -> ServicePage:
        """All lines of all subjects."""
        return ServicePage(
            id="",
            title=say("service.menu.search"),
            tables=tuple(_tables(machine, SUBJECTS)),
            prompt=Prompt(label=say("service.search"), kind="find"),
            actions=(BACK,),
        )

    def answer(self, machine: Machine, action: str, text: str) -> Move:  # noqa: ARG002 (a place's)
        """Into a page or a form."""
        return _into(machine, action)


def _positions(machine: Machine) -> Iterator[Table]:
    """The positions of a machine of several: where each is, and what waits there to be paid by hand."""
    at = machine.state(SideBySide).at
    if len(at) < 2:
        return
    rows = []
    for place, position in sorted(at.items()):
        handpay = position.engine.machine.memory.read(HandpayRecord, MoneyKey.HANDPAY)
        rows.append(
            Row(
                cells=(
                    number(place),
                    coded("manual.state", position.engine.state.value),
                    plain("") if handpay is None else money(handpay.amount_cents),
                ),
                action="" if place == machine.position.number else f"position:{place}",
                mark="" if handpay is None else "warning",
            )
        )
    yield Table(columns=columns("position", "state", "handpay"), rows=tuple(rows))


def _tables(machine: Machine, subjects: Iterable[str]) -> Iterator[Table]:
    """Pages and forms of these subjects, a table each."""
    for place, title in enumerate(("reading", "forms")):
        rows = tuple(row for subject in subjects for row in _rows(machine, subject, place))
        if rows:
            yield Table(title=say(f"service.section.{title}"), rows=rows)


def _rows(machine: Machine, subject: str, place: int | None = None) -> Iterator[Row]:
    """The lines of a subject open to whoever has signed in: of its pages (0), its forms (1), or both."""
    person, menu = machine.state(ServiceDesk).person, machine.state(Menu)
    if person is None:
        return
    for entry in menu.pages_of(subject) if place != 1 else ():
        if entry.permission is None or person.may(entry.permission):
            yield Row(cells=(say(f"service.menu.{entry.id}"),), action=entry.id)
    for form in menu.forms_of(subject) if place != 0 else ():
        if person.may(form.permission):
            yield Row(cells=(say(f"form.{form.id}.title"),), action=f"form:{form.id}")


def _into(machine: Machine, action: str) -> Move:
    """Into a page or a form, where it is open to whoever has signed in."""
    if action not in {row.action for subject in SUBJECTS for row in _rows(machine, subject)}:
        return refuse("not_offered")
    menu, (what, _, name) = machine.state(Menu), action.partition(":")
    if what == "form":
        return Go(Filling(next(form for form in menu.forms if form.id == name)))
    return Go(next(entry for entry in menu.pages if entry.id == action).make())
