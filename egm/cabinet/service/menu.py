"""The main menu: what each person may walk into, section by section."""

from collections.abc import Mapping
from typing import Final

from egm.cabinet.cabinet import Cabinet
from egm.cabinet.service import devices, disputed, interventions, options, pages, pin, recall
from egm.cabinet.service.desk import Entry, Go, Move
from egm.cabinet.service.filling import FormList
from egm.cabinet.service.words import say
from egm.link.pages import Action, Row, ServicePage, Table

#: Section -> its entries. Whoever adds a page adds its entry here or to the list of its module.
SECTIONS: Final[Mapping[str, tuple[Entry, ...]]] = {
    "work": (*devices.ENTRIES, *disputed.ENTRIES, *options.ENTRIES, *pin.ENTRIES),
    "reading": (*pages.ENTRIES, *recall.ENTRIES, *interventions.ENTRIES),
}


class MainMenu:
    """What is open to whoever has signed in; nobody sees an entry that is not."""

    def page(self, cabinet: Cabinet) -> ServicePage:
        """A table a section, and the forms."""
        tables = [
            Table(title=say(f"service.section.{section}"), rows=rows)
            for section, entries in SECTIONS.items()
            if (
                rows := tuple(_row(f"service.menu.{entry.id}", entry.id) for entry in _open(cabinet, entries))
            )
        ]
        forms = FormList().rows(cabinet)
        if forms:
            tables.append(Table(title=say("service.section.forms"), rows=forms))
        return ServicePage(
            id="",
            title=say("service.menu.title"),
            tables=tuple(tables),
            actions=(Action(id="leave", label=say("service.leave"), style="back"),),
        )

    def answer(self, cabinet: Cabinet, action: str, text: str) -> Move:
        """Into an entry or a form."""
        for entries in SECTIONS.values():
            for entry in _open(cabinet, entries):
                if entry.id == action:
                    return Go(entry.make())
        return FormList().answer(cabinet, action, text)


def _open(cabinet: Cabinet, entries: tuple[Entry, ...]) -> list[Entry]:
    person = cabinet.service.person
    if person is None:
        return []
    return [entry for entry in entries if entry.permission is None or person.may(entry.permission)]


def _row(key: str, action: str) -> Row:
    return Row(cells=(say(key),), action=action)
