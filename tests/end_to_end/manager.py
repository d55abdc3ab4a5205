"""A manager at a machine that is killed repeatedly: signs in at the service menu and decides disputed tickets.

Each answer depends only on the displayed page, so that the machine may be killed between any two answers.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from egm.config.cabinet_file import StateFolder
from egm.kernel.messages import Snapshot
from egm.kernel.service_pages import ServicePage
from egm.money.keys import MoneyKey
from egm.people import Person, Role, Roster
from egm.people.pins import PinDigest
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, build_pin
from meters import open_view

NUMBER = STAFF_NUMBER_BY_ROLE[Role.MANAGER]
#: After how many calls without a page the key is turned again: the machine that saw it may have died.
KEY_PATIENCE = 50


class Manager:
    """The staff of the rig's venue: one person, enrolled before the machine's first start."""

    def __init__(self, folder: StateFolder, turn_key: Callable[[bool], object]) -> None:
        self._folder = folder
        self._turn_key = turn_key
        self._waiting = 0  # calls since the key was turned without a page in answer
        self.rulings: list[str] = []
        person = Person(NUMBER, "Manager", Role.MANAGER)
        pin = PinDigest.from_pin(build_pin(NUMBER), cost=2)
        Roster.load(folder.roster_file).enrol_person(
            person, pin, changed_by="rig", changed_at=datetime(2026, 1, 1, tzinfo=UTC)
        )

    def answer(self, shown: Snapshot | None, printed: list[str]) -> tuple[str, str, str] | None:
        """Take the next step towards a ruling; return the answer to an open page: its id, the action and the input.

        ``printed``: the numbers of the completely printed tickets.
        """
        if shown is None:
            return None
        disputed = any(tilt.cleared_by == "ruling" for tilt in shown.tilts)
        if shown.service_page is not None:
            self._waiting = 0
            return (shown.service_page.id, *self._answer_page(shown.service_page, printed, disputed=disputed))
        if disputed and self._waiting == 0:
            for on in (False, True):
                self._turn_key(on)
        self._waiting = (self._waiting + 1) % KEY_PATIENCE if disputed else 0
        return None

    def _answer_page(self, page: ServicePage, printed: list[str], *, disputed: bool) -> tuple[str, str]:
        """Return action and input that lead from a page towards the ruling, or out of the menu after it."""
        if page.prompt is not None:
            if page.prompt.kind == "choice":
                self.rulings.append(self._judge(printed))
                return "enter", self.rulings[-1]
            texts = {"digits": NUMBER, "pin": build_pin(NUMBER), "text": "looked into the printer"}
            return "enter", texts[page.prompt.kind]
        offered = [row.action for table in page.tables for row in table.rows]
        offered += [action.id for action in page.actions]
        towards = ("confirm", "subject:money", "disputed") if disputed else ("leave",)
        found = [action for action in offered if action in towards or action.startswith("disputed:")]
        return (found or ["back"])[0], ""

    def _judge(self, printed: list[str]) -> str:
        """Return the ruling: whether somebody has the disputed ticket."""
        with open_view(self._folder.root) as view:
            return "good" if view.state(MoneyKey.PAY_OUT)["number"] in printed else "void"
