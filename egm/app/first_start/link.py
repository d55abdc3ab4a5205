"""Enrolment with the floor's link at a first start: a request goes out on a stick, and its answer comes back.

Nothing of it is in force before two persons have signed the cabinet file that names it. The key that asks is
kept over a power cut: the floor's answer to it is good still.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from egm.app.first_start.draft import Draft
from egm.app.first_start.steps import Move, Step, Way, failed, refused
from egm.errors import OperatorError
from egm.kernel.service_pages import Action, Row, ServicePage, Table, Words
from egm.progressive.enrolling import alarm, fact_table
from egm.progressive.enrolment import Facts, Stick, key_digest, request_of
from egm.progressive.link_folder import LinkFolder
from egm.staff.service.words import pairs, plain, say


@dataclass(slots=True)
class Link(Step):
    """The request, the answer, or neither: a machine without linked levels needs none."""

    folder: LinkFolder
    stick: Stick
    now: Callable[[], datetime]
    id: str = "link"
    told: Words | None = None

    def enter(self) -> None:
        """Nothing has been done yet."""
        self.told = None

    def page(self, draft: Draft) -> ServicePage:
        """The key that asks, the answer to it, and what comes next."""
        steps = (Row(cells=(plain(n), say(f"first.link.step_{n}"))) for n in (1, 2, 3))
        tables: list[Table] = [Table(rows=tuple(steps))]
        enrolled: Facts | None = None
        try:
            key = self.folder.asking()
            if key is not None:
                digest = plain(key_digest(key.public_key()))
                tables.append(pairs((("link.key", digest),), say("service.link.asks")))
            enrolled = self._enrolled(draft)
            if enrolled is not None:
                tables.append(fact_table(enrolled, "answer"))
        except OperatorError as error:
            tables.append(alarm(error))
        if self.told is not None:
            tables.append(Table(rows=(Row(cells=(self.told,), mark="good"),)))
        actions = (
            Action(id="request", label=say("service.link.link_request")),
            Action(id="answer", label=say("service.link.link_answer")),
            Action(id="next", label=say("first.next"), style="confirm")
            if enrolled is not None
            else Action(id="without", label=say("first.link.without"), style="confirm"),
        )
        return self._page(*tables, actions=actions)

    def answer(self, draft: Draft, action: str, text: str) -> Move:  # noqa: ARG002 (a step's)
        """One of the two ways of the stick; or on, with what is enrolled or without."""
        ways = {"request": self._ask, "answer": self._take, "next": self._go_on, "without": self._without}
        if action == "back":
            return Way.BACK
        if action not in ways:
            return refused("not_offered")
        self.told = None
        try:
            return ways[action](draft)
        except (OperatorError, OSError) as error:
            return failed(error)

    def _ask(self, draft: Draft) -> Move:
        key = self.folder.ask()
        self.stick.ask(request_of(key, draft.machine["serial"]))
        self.told = say("first.link.asked")
        return Way.STAY

    def _take(self, draft: Draft) -> Move:
        answer, key = self.stick.answer(), self.folder.asking()
        digest = "" if key is None else key_digest(key.public_key())
        answer.facts().check(draft.machine["serial"], digest, self.now())
        self.folder.switch(self.folder.stage(answer))
        return Way.STAY

    def _go_on(self, draft: Draft) -> Move:
        enrolled = self._enrolled(draft)
        if enrolled is None:
            return refused("not_offered")
        draft.link, draft.link_table = enrolled, self.folder.table(*_broker(enrolled))
        return Way.ON

    def _without(self, draft: Draft) -> Move:
        draft.link, draft.link_table = None, {}
        return Way.ON

    def _enrolled(self, draft: Draft) -> Facts | None:
        """The answer taken, where it is this machine's. Raises EnrolmentError for one not good now."""
        facts = self.folder.facts()
        if facts is None or facts.serial != draft.machine.get("serial"):
            return None
        facts.check(facts.serial, facts.key, self.now())
        return facts


def _broker(facts: Facts) -> tuple[str, int]:
    host, _, port = facts.broker.rpartition(":")
    return host, int(port)
