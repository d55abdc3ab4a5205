"""A person before a screen of the simulated machine: sees what it shows, and presses what it offers."""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from egm.kernel.messages import (
    LINE_BYTES_MAX,
    Decision,
    GameView,
    Handpay,
    Hello,
    Intent,
    Message,
    Play,
    Snapshot,
    decode,
    encode,
)
from egm.kernel.service_pages import ServicePage
from egm.screen.table import Spot, is_table, read_table
from egm.unix_sockets import open_socket_address
from tools.dev.simulation.world import ROLES, STAFF, World

#: The longest an outcome is looked at, or a choice thought about.
_SHOW_SECONDS: Final = 0.8
_AGAIN_SECONDS: Final = 0.1
#: Lines of pages that do nothing, and a new PIN: its salt is no seed's.
_LEFT_ALONE: Final = frozenset({"", "own_pin"})


#: How often the staff leaves a form whose last answer was refused.
_GIVE_UP: Final = 0.5
#: How often the technician opens the service menu.
_TECHNICIAN_COMES: Final = 0.5
#: Lines of the service menu: the disputed amounts, and the refund of a game that cannot end.
_DISPUTES: Final = "disputed"
_REFUND: Final = "form:refund_game"
#: Title of the service menu page that lists every line open to a signed-in person.
_SEARCH: Final = "service.menu.search"


@dataclass(frozen=True, slots=True)
class Paid:
    """A hand-pay that the screen showed, and that was gone when it next said how the machine is."""

    number: int
    kind: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class Ruling:
    """Ruling of the staff on a disputed amount: how much is paid, or whether a ticket is valid."""

    amount_cents: str = "0"
    choice: str = ""


@dataclass(slots=True)
class Seen:
    """Money that a person has seen, over all runs of the machine."""

    games: dict[str, Play] = field(default_factory=dict)
    """How each game ended, by its id."""
    by_hand: list[Paid] = field(default_factory=list)
    forms: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The forms that were filled in at this screen: ``confirmed``, or ``left`` for what they lacked."""
    wrong: list[str] = field(default_factory=list)


class Player:
    """A person at the screen of a position."""

    def __init__(self, world: World, position: int, dice: random.Random) -> None:
        self._world = world
        self.position = position
        self._dice = dice
        self.now: Snapshot | None = None
        """What the screen shows; None while it is dark."""
        self.life = 0
        """The run of the machine that the screen last showed."""
        self.seen = Seen()
        self.states: Counter[str] = Counter()
        """The states the machine came into here, and how often."""
        self.games: dict[str, GameView] = {}
        self._owed: Handpay | None = None
        self._credit_cents = 0
        """What the screen last showed on the credit meter."""
        self._answered = ""
        self._ruling: Ruling | None = None
        self._choice = ""
        """The last choice in a form."""
        self._enrolling = ""
        """Staff number of whom the first start enrols now."""
        self._errands: Sequence[str] = ()
        self._errands_done = 0
        self._writer: asyncio.StreamWriter | None = None

    async def attend(self) -> None:
        """Look at the screen for as long as there is one, machine after machine."""
        while True:
            if self._world.is_on:
                with suppress(OSError, ValueError):
                    await self._watch()
            self.now = None
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _watch(self) -> None:
        folder = self._world.folder
        self._answered = ""
        with open_socket_address(folder.find_screen_socket(self.position)) as address:
            reader, self._writer = await asyncio.open_unix_connection(address, limit=LINE_BYTES_MAX)
        with closing(self._writer):
            token = folder.get_screen_token_path(self.position).read_text(encoding="ascii")
            self._writer.write(encode(Hello(token=token.strip())))
            while line := await reader.readline():
                if not self._world.is_on:
                    return  # what a machine without power says is not shown
                self._sees(decode(line))

    @property
    def sees_machine(self) -> bool:
        """Whether the screen shows the machine, and not what a first start asks."""
        now = self.now
        return now is not None and (now.page is None or not str(now.page.title.value).startswith("first."))

    @property
    def waits_for_payment(self) -> tuple[object, ...]:
        """Return the hand-pay that waits for the attendant's key here, or an empty tuple."""
        owed = None if self.now is None or self.now.state != "handpay" else self.now.handpay
        return () if owed is None or owed.ticket == "asked" else _identity(owed)

    @property
    def attendants_faults(self) -> set[str]:
        """The faults shown here that the attendant's key clears."""
        tilts = () if self.now is None or self.now.state != "tilt" else self.now.tilts
        return {tilt.code for tilt in tilts if tilt.cleared_by == "attendant"}

    # ------------------------------------------------------------ what it shows
    def _sees(self, message: Message) -> None:
        if isinstance(message, Snapshot):
            self._sees_state(message)
        elif isinstance(message, Hello):
            self.games = {game.id: game for game in message.games if game.offered}
        elif isinstance(message, Play):
            self.seen.games[message.play_id] = message
            self._later("shown", message.play_id)
        elif isinstance(message, Decision) and message.options:  # a real wheel's has none
            self._later("choose", self._dice.choice(message.options))

    def _sees_state(self, now: Snapshot) -> None:
        self._sees_hand_pay(now)
        if self.now is None or self.now.state != now.state:
            self.states[now.state] += 1
        self.now, self.life = now, self._world.lives
        if any(notice.code == "intervention_closed" for notice in now.notices):
            self._world.boxes.collection_recorded()
        self._world.rulings_needed[self.position] = self.ruling_needed
        if now.page is None:
            self._answered = ""
        elif now.page.id != self._answered:
            self._answered = now.page.id
            delay = self._dice.uniform(0.1, _SHOW_SECONDS)
            asyncio.get_running_loop().call_later(delay, self._answer, now.page)
        if now.reminder is not None and "acknowledge" in now.accepts:  # a limit that is reached stays
            self.press("acknowledge")

    def _sees_hand_pay(self, now: Snapshot) -> None:
        """Count a hand payment: the screen showed an amount as owed and no longer does, and no ticket was printed.

        Before a ticket, the amount may be on the credit meter while the service menu is open.
        """
        before, self._owed = self._owed, now.handpay
        credit_cents, self._credit_cents = self._credit_cents, now.credit_cents
        if before is None or (now.handpay is not None and _identity(now.handpay) == _identity(before)):
            return
        is_credit_again = now.credit_cents >= credit_cents + before.amount_cents
        instead = before.ticket == "asked" and (now.paying is not None or is_credit_again)
        if not instead:
            self.seen.by_hand.append(Paid(before.number, before.kind, before.amount_cents))

    def memory_was_cleared(self) -> None:
        """Account for a hand-pay that was settled by a memory clear, or is owed under a new number."""
        self._owed = None

    def _later(self, name: str, value: int | str) -> None:
        delay = self._dice.uniform(0.0, _SHOW_SECONDS)
        asyncio.get_running_loop().call_later(delay, self.press, name, value)

    # ------------------------------------------------------------ what is pressed
    def press(
        self, name: Any, value: int | str | None = None, options: dict[str, object] | None = None
    ) -> None:
        """Press something."""
        if self._world.is_on and self._writer is not None and not self._writer.is_closing():
            self._writer.write(encode(Intent(name=name, value=value, options=options)))

    def play(self, dice: random.Random) -> None:
        """Press PLAY; at a cloth without chips, lay some first."""
        now = self.now
        game = self.games.get(now.game_id or "") if now else None
        if now and game and is_table(game) and not (now.bet_wager.get("bets") or now.standing):
            self.bet(dice)
        self.press("play")

    def leave(self) -> None:
        """Cash out; where a bet stays until it is decided, play on at its game."""
        notices = self.now.notices if self.now else ()
        stays = next((one for one in notices if one.code.startswith("bets_stay")), None)
        if stays is None:
            self.press("cash_out")
        elif "game" in stays.values:
            self.press("game", stays.values["game"])
        else:
            self.press("play")

    def bet(self, dice: random.Random) -> None:
        """Choose another bet of the game that is up: one of those it offers, or chips on a cloth."""
        game = self.games.get(self.now.game_id or "") if self.now else None
        if game is None:
            return
        if is_table(game):
            bets = _chips(read_table(game).spots, dice)
            self.press("bet", sum(bets.values()), {"bets": bets})
        elif game.bet_options:
            self.press("bet", dice.choice(game.bet_options))

    def denomination(self, dice: random.Random) -> None:
        """Choose another denomination of it."""
        game = self.games.get(self.now.game_id or "") if self.now else None
        if game is not None:
            self.press("denomination", dice.choice(game.denominations_cents))

    def game(self, dice: random.Random) -> None:
        """Choose another game."""
        if self.games:
            self.press("game", dice.choice(sorted(self.games)))

    # ------------------------------------------------------------ the service menu
    @property
    def ruling_needed(self) -> str:
        """The line of the service menu that leads to a ruling this position waits for, or nothing."""
        if self.now is None:
            return ""
        if any(tilt.code.endswith(".disputed") for tilt in self.now.tilts):
            return _DISPUTES
        return _REFUND if any(notice.code == "wheel_unheard" for notice in self.now.notices) else ""

    def _answer(self, page: ServicePage) -> None:
        """Sign in as a member of the staff, then look at any page and fill in any form.

        Nothing is broken that cannot be repaired, and no device is tested: coins of a hopper test belong to
        no player.
        """
        prompt, title = page.prompt, str(page.title.value)
        if title.startswith("form."):
            self._fill_in(page)
            return
        if title.startswith("first."):
            self._answer_first_start(page)
            return
        if prompt is not None and prompt.kind == "digits":
            self._enter(page, self._person_for(title))
            return
        if prompt is not None and prompt.kind == "pin":
            self._enter(page, STAFF[str(prompt.label.values["number"])])
            return
        lines = [row.action for table in page.tables for row in table.rows if row.action not in _LEFT_ALONE]
        touched = [each.id for each in page.actions if each.enabled and each.style != "danger"]
        if line := self._line_towards_ruling([*lines, *touched]) or self._errand(page, lines):
            self._touch(page, line)
            return
        back = [each.id for each in page.actions if each.style == "back"]
        choices = back if page.test else [*lines, *touched]
        if choices:
            self._touch(page, self._dice.choice(choices))

    def _answer_first_start(self, page: ServicePage) -> None:
        """Two persons answer the pages of a first start, or have the file put back that they signed last."""
        step, prompt = str(page.title.value).split(".")[1], page.prompt
        rows = [row for table in page.tables for row in table.rows]
        offered = [each.id for each in page.actions if each.enabled]
        enrolled = [number for number in STAFF if any(row.cells[0].value == number for row in rows)]
        missing = [number for number in STAFF if number not in enrolled]
        has_signed = any(row.mark == "good" for row in rows)
        if line := next((row.action for row in rows if row.cells[0] in self._world.first_choices), ""):
            self._touch(page, line)
        elif prompt is not None and step == "staff":
            self._enrol(page, prompt.kind)
        elif prompt is not None and prompt.kind == "digits":
            self._enter(page, list(STAFF)[has_signed])
        elif prompt is not None and prompt.kind == "pin":
            self._enter(page, STAFF[str(prompt.label.values["number"])])
        elif prompt is not None:
            self._enter(page, self._world.first_answers[str(prompt.label.value).rpartition(".")[2]])
        else:
            ways = ("add", "next") if step == "staff" and missing else ("sign", "without", "next")
            self._enrolling = next(iter(missing), "")
            if way := next((way for way in ways if way in offered), ""):
                self._touch(page, way)

    def _enrol(self, page: ServicePage, kind: str) -> None:
        number = self._enrolling
        answers = {"digits": number, "choice": ROLES[number], "pin": STAFF[number]}
        self._enter(page, answers.get(kind, f"Simulation {number}"))

    def _person_for(self, title: str) -> str:
        """Return who signs in: now and then the technician, where no ruling waits for a manager."""
        manager, second, technician = STAFF
        if title == "service.second_person":
            return second
        is_free = title == "service.sign_in" and not any(self._world.rulings_needed.values())
        return technician if is_free and self._dice.random() < _TECHNICIAN_COMES else manager

    def _touch(self, page: ServicePage, line: str) -> None:
        """Touch a line or key of a page; of a disputed amount, look first at what is to be decided."""
        self._ruling = None
        if line.startswith(f"{_DISPUTES}:"):
            cells = [row.cells for table in page.tables for row in table.rows if row.action == line]
            is_on_paper = self._world.is_on_paper(self.position, line.partition(":")[2])
            self._ruling = Ruling(str(cells[0][-2].value), "good" if is_on_paper else "void")
        self.press("answer", line, {"page": page.id})

    def _errand(self, page: ServicePage, lines: list[str]) -> str:
        """Return what leads to the next form on the staff's list, by the search, and out after the last."""
        forms = self._world.errands
        if not forms:
            return ""
        if forms is not self._errands:
            self._errands, self._errands_done = forms, 0
        if page.title.value == _SEARCH:
            for number in range(self._errands_done, len(forms)):
                if forms[number] in lines:
                    self._errands_done = number + 1
                    return forms[number]
            self._errands_done = len(forms)  # the signed-in person may not fill in any of the remaining forms
        ways = ("search", "back") if self._errands_done < len(forms) else ("back", "leave")
        return next((each.id for way in ways for each in page.actions if each.id == way), "")

    def _line_towards_ruling(self, lines: list[str]) -> str:
        """Return the line of a page that leads to a ruling some position waits for, or nothing."""
        needed = self._world.rulings_needed
        here = needed.get(self.position, "")
        elsewhere = [f"position:{number}" for number, line in sorted(needed.items()) if line and not here]
        sought = (*((here, f"{here}:") if here else ()), *elsewhere, *(("subject:money",) if here else ()))
        return next((line for each in sought for line in lines if line.startswith(each)), "")

    def _fill_in(self, page: ServicePage) -> None:
        """Answer the next field of a form by the kind its prompt declares, or confirm the form.

        A form is left where something that it needs is missing, and mostly where an answer was refused.
        """
        prompt, form = page.prompt, str(page.title.value).split(".")[1]
        is_in_vain = any(row.mark == "warning" for table in page.tables for row in table.rows)
        if is_in_vain or (page.notice_severity != "info" and self._dice.random() < _GIVE_UP):
            self.seen.forms[form] |= {"left"}
            self.press("answer", "back", {"page": page.id})
        elif prompt is None:
            self.seen.forms[form] |= {"confirmed"}
            if form == "collection_end":
                self._world.boxes.end_collection()
            self.press("answer", "confirm", {"page": page.id})
        elif self._ruling is not None and prompt.kind == "amount":
            self._enter(page, self._ruling.amount_cents)
        elif prompt.kind == "choice":
            offered = [choice.id for choice in prompt.choices]
            ruled = "" if self._ruling is None else self._ruling.choice
            self._choice = ruled if ruled in offered else self._dice.choice(offered or [""])
            self._enter(page, self._choice)
        elif form == "box_count":
            self._count_box(page)
        elif prompt.kind == "text":
            self._enter(page, "nobody claims it")
        else:
            typed = (*("1", "25", "100", "500"), self._world.today, *STAFF, *self._world.papers()[-3:])
            self._enter(page, self._dice.choice(typed))

    def _count_box(self, page: ServicePage) -> None:
        """Enter the contents of the chosen box at its last collection; leave the form if they are unknown."""
        cents = self._world.boxes.count_cents(self._choice)
        if cents is None:
            self.seen.forms["box_count"] |= {"left"}
            self.press("answer", "back", {"page": page.id})
        else:
            self._enter(page, str(cents))

    def _enter(self, page: ServicePage, text: str) -> None:
        self.press("answer", "enter", {"page": page.id, "input": text})


def _identity(owed: Handpay) -> tuple[object, ...]:
    """Return what distinguishes one hand-pay from another; with several positions its slip number may change."""
    return owed.since, owed.kind, owed.amount_cents, 0 if owed.position else owed.number


def _chips(spots: Mapping[str, Spot], dice: random.Random) -> dict[str, int]:
    """Chips on one to three spots, and on those that these need."""
    bets: dict[str, int] = {}
    for spot in dice.sample(list(spots), min(len(spots), dice.choice((1, 1, 2, 3)))):
        at = spots.get(spot)
        while at is not None and at.id not in bets:
            bets[at.id] = min(at.most, at.least + at.step * dice.choice((0, 0, 0, 1, 2)))
            at = spots.get(at.needs or "")
    return bets
