"""The main menu: what each person may walk into, by subject, and the search over all of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from egm.kernel.machine import Cabinet
from egm.kernel.service_pages import Action, Prompt, Row, ServicePage, Table
from egm.staff.forms import FORMS, Form
from egm.staff.service import devices, disputed, interventions, options, pages, pin, recall
from egm.staff.service.desk import Entry, Go, Move, ServiceDesk, refuse
from egm.staff.service.filling import Filling
from egm.staff.service.words import BACK, say

_ALL: Final[Mapping[str, Entry]] = {
    entry.id: entry
    for module in (devices, disputed, options, pin, pages, recall, interventions)
    for entry in module.ENTRIES
}
_FORMS: Final[Mapping[str, Form]] = {form.id: form for form in FORMS if form.listed}
#: Subject -> its pages, then its forms, in their order. Whoever adds a page or a form adds it to a subject.
SUBJECTS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "machine": (
        ("devices", "software", "log.software", "memory", "clock", "inventory"),
        ("hold", "release", "restart", "settle_faults", "clock", "verify", "counters"),
    ),
    "money": (
        ("meters", "log.bills", "log.vouchers", "log.transfers", "log.handpays", "disputed"),
        ("handpay", "prize_cash", "machine_check", "refund_game", "hopper_fill", "box_count"),
    ),
    "games": (
        ("recall", "options", "levels", "log.progressives"),
        ("level_move", "prize_ruling"),
    ),
    "players": (
        ("log.disputes", "log.complements", "log.orphans", "log.forfeits", "log.protection"),
        (
            *("dispute", "incident", "complement"),
            *("orphan_credits", "orphan_handpay", "orphan_ticket", "exclusion"),
            *("forfeit_game", "forfeit_prize", "forfeit_credits"),
        ),
    ),
    "staff": (
        ("interventions", "log.access", "log.events", "own_pin"),
        (
            *("intervention", "intervention_end", "collection", "collection_end"),
            *("base_out", "base_in", "unlock"),
        ),
    ),
}
#: Subject -> its pages.
SECTIONS: Final[Mapping[str, tuple[Entry, ...]]] = {
    subject: tuple(_ALL[each] for each in entries) for subject, (entries, _) in SUBJECTS.items()
}


class MainMenu:
    """The subjects in which there is something open to whoever has signed in."""

    def page(self, cabinet: Cabinet) -> ServicePage:
        """A key a subject, and the search."""
        subjects = tuple(
            Action(id=f"subject:{subject}", label=say(f"service.section.{subject}"))
            for subject in SUBJECTS
            if any(_rows(cabinet, subject))
        )
        return ServicePage(
            id="",
            title=say("service.menu.title"),
            actions=(
                *subjects,
                Action(id="search", label=say("service.menu.search")),
                Action(id="leave", label=say("service.leave"), style="back"),
            ),
        )

    def answer(self, cabinet: Cabinet, action: str, text: str) -> Move:  # noqa: ARG002 (a place's)
        """Into a subject, the search, or at once to a page or a form."""
        what, _, subject = action.partition(":")
        if what == "subject" and subject in SUBJECTS:
            return Go(_Subject(subject))
        return Go(_Search()) if action == "search" else _into(cabinet, action)


@dataclass(frozen=True, slots=True)
class _Subject:
    """What there is of one subject: what may be looked at, then what may be filled in."""

    subject: str

    def page(self, cabinet: Cabinet) -> ServicePage:
        """A line each; nobody sees one that is not open to him."""
        return ServicePage(
            id="",
            title=say(f"service.section.{self.subject}"),
            tables=tuple(_tables(cabinet, (self.subject,))),
            actions=(BACK,),
        )

    def answer(self, cabinet: Cabinet, action: str, text: str) -> Move:  # noqa: ARG002 (a place's)
        """Into a page or a form."""
        return _into(cabinet, action)


class _Search:
    """Everything at once, of which the screen shows what has the letters typed."""

    def page(self, cabinet: Cabinet) -> ServicePage:
        """All lines of all subjects."""
        return ServicePage(
            id="",
            title=say("service.menu.search"),
            tables=tuple(_tables(cabinet, SUBJECTS)),
            prompt=Prompt(label=say("service.search"), kind="find"),
            actions=(BACK,),
        )

    def answer(self, cabinet: Cabinet, action: str, text: str) -> Move:  # noqa: ARG002 (a place's)
        """Into a page or a form."""
        return _into(cabinet, action)


def _tables(cabinet: Cabinet, subjects: Mapping[str, object] | tuple[str, ...]) -> Iterator[Table]:
    """Pages and forms of these subjects, a table each."""
    for place, title in enumerate(("reading", "forms")):
        rows = tuple(row for subject in subjects for row in _rows(cabinet, subject, place))
        if rows:
            yield Table(title=say(f"service.section.{title}"), rows=rows)


def _rows(cabinet: Cabinet, subject: str, place: int | None = None) -> Iterator[Row]:
    """The lines of a subject open to whoever has signed in: of its pages (0), its forms (1), or both."""
    person, (entries, forms) = cabinet.state(ServiceDesk).person, SUBJECTS[subject]
    if person is None:
        return
    for each in entries if place != 1 else ():
        permission = _ALL[each].permission
        if permission is None or person.may(permission):
            yield Row(cells=(say(f"service.menu.{each}"),), action=each)
    for each in forms if place != 0 else ():
        if person.may(_FORMS[each].permission):
            yield Row(cells=(say(f"form.{each}.title"),), action=f"form:{each}")


def _into(cabinet: Cabinet, action: str) -> Move:
    """Into a page or a form, where it is open to whoever has signed in."""
    if action not in {row.action for subject in SUBJECTS for row in _rows(cabinet, subject)}:
        return refuse("not_offered")
    what, _, form = action.partition(":")
    return Go(Filling(_FORMS[form])) if what == "form" else Go(_ALL[action].make())
