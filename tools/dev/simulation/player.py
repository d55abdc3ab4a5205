"""Simulate a person at a screen, who reads the messages shown and presses the offered buttons."""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from egm.kernel.messages import (
    LINE_BYTES_MAX,
    DecisionRequest,
    GameOutcome,
    GameView,
    HandpayView,
    Hello,
    Intent,
    Message,
    Snapshot,
    SpotState,
    decode_message,
    encode_message,
)
from egm.kernel.service_pages import ServicePage
from egm.screen.table import BetSpot, apply_current_limits, is_table_game, read_table
from egm.unix_sockets import open_socket_address
from tools.dev.simulation.world import PIN_BY_STAFF_NUMBER, ROLE_BY_STAFF_NUMBER, SimulatedWorld

#: Maximum time before the person reacts to an outcome or a decision.
_REACTION_SECONDS_MAX: Final = 0.8
_RETRY_SECONDS: Final = 0.1
#: Lines of service pages that are never touched: those without an action, and the new PIN, whose salt is not seeded.
_IGNORED_ACTIONS: Final = frozenset({"", "own_pin"})

#: Probability that a player who gathers with others at a table does not answer, until the table answers for them.
_NO_ANSWER_PROBABILITY: Final = 0.03
#: Probability that the staff leave a form whose last answer was refused.
_GIVE_UP_PROBABILITY: Final = 0.5
#: Probability that the technician signs in, if no ruling waits for a manager.
_TECHNICIAN_PROBABILITY: Final = 0.5
#: Lines of the service menu: disputed amounts, and the refund of a game that cannot end.
_DISPUTES_LINE: Final = "disputed"
_REFUND_LINE: Final = "form:refund_game"
#: Notices of a game that cannot end: its wheel does not report, or another game of its round was declared void.
_REFUND_NOTICES: Final = frozenset({"wheel_unheard", "round_is_void"})
#: Title of the service menu page that lists every line open to a signed-in person.
_SEARCH_PAGE_TITLE: Final = "service.menu.search"


@dataclass(frozen=True, slots=True)
class HandPayment:
    """A hand payment as seen on the screen: an amount was shown as owed, and later no longer."""

    number: int
    kind: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class Ruling:
    """A staff ruling on a disputed amount: the amount to pay, or whether a ticket is valid."""

    amount_cents: str = "0"
    choice: str = ""


@dataclass(slots=True)
class PlayerObservations:
    """What one person has seen of money and forms, over all starts of the machine."""

    games: dict[str, GameOutcome] = field(default_factory=dict)
    """The last screen message of each game, by the game's id."""
    hand_payments: list[HandPayment] = field(default_factory=list)
    forms: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The results of the forms filled in at this screen: ``confirmed``, or ``left`` if something was missing."""
    findings: list[str] = field(default_factory=list)


class Player:
    """A person at the screen of one player position; also plays the staff who use this screen."""

    def __init__(self, world: SimulatedWorld, position: int, random_source: random.Random) -> None:
        self._world = world
        self.position = position
        self._random_source = random_source
        self.snapshot: Snapshot | None = None
        """The last snapshot of the machine that the screen received; None while it is not connected."""
        self.run_number = 0
        """The number of the machine's start that the screen showed last."""
        self.observed = PlayerObservations()
        self.states: Counter[str] = Counter()
        """Number of times that this position entered each machine state."""
        self.games: dict[str, GameView] = {}
        self._owed_handpay: HandpayView | None = None
        self._is_handpay_renumbered = False
        self._credit_cents = 0
        """The credit meter as last shown, in minor units."""
        self._answered_page_id = ""
        self._ruling: Ruling | None = None
        self._choice = ""
        """The choice made last in a form."""
        self._enrolling = ""
        """The staff number of the person who is being enrolled at the first start."""
        self._current_forms: Sequence[str] = ()
        self._forms_done = 0
        self._writer: asyncio.StreamWriter | None = None

    async def watch_screen(self) -> None:
        """Connect to the screen and react to it, and reconnect after each restart of the machine."""
        while True:
            if self._world.is_on:
                with suppress(OSError, ValueError):
                    await self._read_messages()
            self.snapshot = None
            await asyncio.sleep(_RETRY_SECONDS)

    async def _read_messages(self) -> None:
        folder = self._world.folder
        self._answered_page_id = ""
        with open_socket_address(folder.get_screen_socket_path(self.position)) as address:
            reader, self._writer = await asyncio.open_unix_connection(address, limit=LINE_BYTES_MAX)
        with closing(self._writer):
            token = folder.get_screen_token_path(self.position).read_text(encoding="ascii")
            self._writer.write(encode_message(Hello(token=token.strip())))
            while line := await reader.readline():
                if not self._world.is_on:
                    return  # messages of a machine without power are not shown
                self._handle_message(decode_message(line))

    @property
    def sees_machine(self) -> bool:
        """Return whether the screen shows the machine, and not a page of the first start."""
        snapshot = self.snapshot
        return snapshot is not None and (
            snapshot.service_page is None or not str(snapshot.service_page.title.value).startswith("first.")
        )

    @property
    def awaited_handpay(self) -> tuple[object, ...]:
        """Return what identifies the hand-pay that waits here for the attendant's key; empty if there is none."""
        owed = None if self.snapshot is None or self.snapshot.state != "handpay" else self.snapshot.handpay
        return () if owed is None or owed.ticket_option == "asked" else _identify_handpay(owed)

    @property
    def attendant_fault_codes(self) -> set[str]:
        """Return the codes of the shown faults that the attendant's key clears."""
        tilts = () if self.snapshot is None or self.snapshot.state != "tilt" else self.snapshot.tilts
        return {tilt.code for tilt in tilts if tilt.cleared_by == "attendant"}

    # ------------------------------------------------------------ messages
    def _handle_message(self, message: Message) -> None:
        if isinstance(message, Snapshot):
            self._handle_snapshot(message)
        elif isinstance(message, Hello):
            self.games = {game.id: game for game in message.games if game.is_offered}
        elif isinstance(message, GameOutcome):
            self.observed.games[message.play_id] = message
            self._press_later("shown", message.play_id)
        elif isinstance(message, DecisionRequest):
            self._answer_decision(message)

    def _answer_decision(self, decision: DecisionRequest) -> None:
        """Choose one of the offered options after a moment.

        A player at a common table sometimes does not answer at all, and the time limit of the table decides. A
        game without a table has no time limit.
        """
        if not decision.options:  # a physical wheel, or another seat, decides
            return
        common_table = self._world.setup.gathering
        is_silent = bool(common_table) and self._random_source.random() < _NO_ANSWER_PROBABILITY
        if is_silent and self.snapshot is not None and self.snapshot.game_id == common_table:
            return
        self._press_later("choose", self._random_source.choice(decision.options))

    def _handle_snapshot(self, snapshot: Snapshot) -> None:
        self._track_handpay(snapshot)
        if self.snapshot is None or self.snapshot.state != snapshot.state:
            self.states[snapshot.state] += 1
        self.snapshot, self.run_number = snapshot, self._world.runs
        if any(notice.code == "intervention_closed" for notice in snapshot.notices):
            self._world.boxes.confirm_collection()
        self._world.rulings_needed[self.position] = self.needed_ruling_line
        if snapshot.service_page is None:
            self._answered_page_id = ""
        elif snapshot.service_page.id != self._answered_page_id:
            self._answered_page_id = snapshot.service_page.id
            delay = self._random_source.uniform(0.1, _REACTION_SECONDS_MAX)
            asyncio.get_running_loop().call_later(delay, self._answer_page, snapshot.service_page)
        # A reached limit cannot be acknowledged.
        if snapshot.reminder is not None and "acknowledge" in snapshot.accepted_inputs:
            self.press("acknowledge")

    def _track_handpay(self, snapshot: Snapshot) -> None:
        """Count a hand payment: the screen showed an amount as owed, and then neither owes it nor has printed a ticket.

        If a ticket is to be printed instead, the amount may be on the credit meter while the service menu is open. A
        machine whose memory is not open, for example while its cabinet file is being signed, does not show what it
        owes.
        """
        if not snapshot.journal_sequence:
            return
        was_renumbered, self._is_handpay_renumbered = self._is_handpay_renumbered, False
        owed_before, self._owed_handpay = self._owed_handpay, snapshot.handpay
        credit_cents, self._credit_cents = self._credit_cents, snapshot.credit_cents
        if owed_before is None or (
            snapshot.handpay is not None
            and (was_renumbered or _identify_handpay(snapshot.handpay) == _identify_handpay(owed_before))
        ):
            return
        is_credit_again = snapshot.credit_cents >= credit_cents + owed_before.amount_cents
        ticket_replaced_it = owed_before.ticket_option == "asked" and (
            snapshot.payout is not None or is_credit_again
        )
        if not ticket_replaced_it:
            self.observed.hand_payments.append(
                HandPayment(owed_before.slip_number, owed_before.kind, owed_before.amount_cents)
            )

    def handle_memory_clear(self, *, is_handpay_settled: bool) -> None:
        """Take note of a memory clear, which settled a hand-pay of this position or gave it a new number."""
        if is_handpay_settled:
            self._owed_handpay = None
        self._is_handpay_renumbered = not is_handpay_settled

    def _press_later(self, name: str, value: int | str) -> None:
        delay = self._random_source.uniform(0.0, _REACTION_SECONDS_MAX)
        asyncio.get_running_loop().call_later(delay, self.press, name, value)

    # ------------------------------------------------------------ buttons
    def press(
        self, name: Any, value: int | str | None = None, options: dict[str, object] | None = None
    ) -> None:
        """Press a button of the screen, which sends its name, value and options to the machine."""
        if self._world.is_on and self._writer is not None and not self._writer.is_closing():
            self._writer.write(encode_message(Intent(name=name, value=value, options=options)))

    def press_play(self, random_source: random.Random) -> None:
        """Press PLAY; at a table without chips, place some first."""
        snapshot = self.snapshot
        game = self.games.get(snapshot.game_id or "") if snapshot else None
        if (
            snapshot
            and game
            and is_table_game(game)
            and not (snapshot.bet_wager.get("bets") or snapshot.standing_credits_by_spot)
        ):
            self.choose_bet(random_source)
        self.press("play")

    def cash_out_or_finish_bet(self) -> None:
        """Cash out. If a bet stays on a table until it is decided, select its game and play it.

        Chips that the table does not accept at the moment, such as a pass line bet after the point, are taken back
        first.
        """
        notices = self.snapshot.notices if self.snapshot else ()
        notice = next((each for each in notices if each.code.startswith("bets_stay")), None)
        if notice is None:
            self.press("cash_out")
        elif "game" in notice.values:
            self.press("game", notice.values["game"])
        elif (
            self.snapshot is not None
            and "play" not in self.snapshot.accepted_inputs
            and self.snapshot.bet_wager
        ):
            self.press("bet", 0, {"bets": {}})
        else:
            self.press("play")

    def choose_bet(self, random_source: random.Random) -> None:
        """Choose another bet on the selected game: one of its bet options, or chips on a table."""
        game = self.games.get(self.snapshot.game_id or "") if self.snapshot else None
        if game is None:
            return
        if is_table_game(game):
            bets = _choose_chips(read_table(game).spots, random_source)
            self.press("bet", sum(bets.values()), {"bets": bets})
        elif game.bet_options:
            self.press("bet", random_source.choice(game.bet_options))

    def join_round(self, game_id: str, random_source: random.Random) -> None:
        """Select a table, place bets within the credit and press PLAY, with a pause before each step."""
        snapshot, game = self.snapshot, self.games.get(game_id)
        if snapshot is None or game is None:
            return
        is_selected = snapshot.game_id == game_id
        unit_cents = snapshot.denomination_cents if is_selected else game.denominations_cents[0]
        limits = snapshot.felt_state.spots if is_selected else {}
        closed_spots = snapshot.closed_spots if is_selected else ()
        spots = {
            name: spot
            for name, spot in read_table(game).spots.items()
            if not spot.added_bet_multiples and name not in closed_spots
        }
        most_cents = min(snapshot.credit_cents, snapshot.bet_max_cents or snapshot.credit_cents)
        bets = _choose_bets(spots, limits, most_cents // unit_cents, random_source)
        intents: list[tuple[str, int | str | None, dict[str, object] | None]] = [
            *([] if is_selected else [("game", game_id, None)]),
            ("bet", sum(bets.values()), {"bets": bets}),
            ("play", None, None),
        ]
        seconds = 0.0
        for name, value, options in intents:
            seconds += random_source.uniform(0.0, _REACTION_SECONDS_MAX)
            asyncio.get_running_loop().call_later(seconds, self.press, name, value, options)

    def choose_denomination(self, random_source: random.Random) -> None:
        """Choose another denomination of the selected game."""
        game = self.games.get(self.snapshot.game_id or "") if self.snapshot else None
        if game is not None:
            self.press("denomination", random_source.choice(game.denominations_cents))

    def choose_game(self, random_source: random.Random) -> None:
        """Choose another game."""
        if self.games:
            self.press("game", random_source.choice(sorted(self.games)))

    # ------------------------------------------------------------ the service menu
    @property
    def needed_ruling_line(self) -> str:
        """Return the menu line that leads to the ruling for which this position waits; empty if it waits for none."""
        if self.snapshot is None:
            return ""
        if any(tilt.code.endswith(".disputed") for tilt in self.snapshot.tilts):
            return _DISPUTES_LINE
        return _REFUND_LINE if any(notice.code in _REFUND_NOTICES for notice in self.snapshot.notices) else ""

    def _answer_page(self, page: ServicePage) -> None:
        """Sign in as a member of the staff, then open any page and fill in any form.

        Actions that cannot be undone are avoided, and so are device tests, because coins of a hopper test
        belong to no player.
        """
        prompt, title = page.prompt, str(page.title.value)
        if title.startswith("form."):
            self._fill_in(page)
            return
        if title.startswith("first."):
            self._answer_first_start(page)
            return
        if prompt is not None and prompt.kind == "digits":
            self._enter_text(page, self._choose_staff_number(title))
            return
        if prompt is not None and prompt.kind == "pin":
            self._enter_text(page, PIN_BY_STAFF_NUMBER[str(prompt.label.values["number"])])
            return
        lines = [
            row.action for table in page.tables for row in table.rows if row.action not in _IGNORED_ACTIONS
        ]
        button_ids = [action.id for action in page.actions if action.enabled and action.style != "danger"]
        if line := self._find_ruling_line([*lines, *button_ids]) or self._find_next_form_line(page, lines):
            self._touch_line(page, line)
            return
        back_action_ids = [action.id for action in page.actions if action.style == "back"]
        choices = back_action_ids if page.test else [*lines, *button_ids]
        if choices:
            self._touch_line(page, self._random_source.choice(choices))

    def _answer_first_start(self, page: ServicePage) -> None:
        """Answer a page of the first start as two people, or restore the file that they signed last."""
        step, prompt = str(page.title.value).split(".")[1], page.prompt
        rows = [row for table in page.tables for row in table.rows]
        offered_actions = [each.id for each in page.actions if each.enabled]
        enrolled_numbers = [
            number for number in PIN_BY_STAFF_NUMBER if any(row.cells[0].value == number for row in rows)
        ]
        missing_numbers = [number for number in PIN_BY_STAFF_NUMBER if number not in enrolled_numbers]
        has_signed = any(row.icon == "good" for row in rows)
        if line := next((row.action for row in rows if row.cells[0] in self._world.first_start_choices), ""):
            self._touch_line(page, line)
        elif prompt is not None and step == "staff":
            self._answer_enrolment(page, prompt.kind)
        elif prompt is not None and prompt.kind == "digits":
            self._enter_text(page, list(PIN_BY_STAFF_NUMBER)[has_signed])
        elif prompt is not None and prompt.kind == "pin":
            self._enter_text(page, PIN_BY_STAFF_NUMBER[str(prompt.label.values["number"])])
        elif prompt is not None:
            self._enter_text(
                page, self._world.first_start_answers[str(prompt.label.value).rpartition(".")[2]]
            )
        else:
            ways = ("add", "next") if step == "staff" and missing_numbers else ("sign", "without", "next")
            self._enrolling = next(iter(missing_numbers), "")
            if way := next((way for way in ways if way in offered_actions), ""):
                self._touch_line(page, way)

    def _answer_enrolment(self, page: ServicePage, kind: str) -> None:
        number = self._enrolling
        answers = {
            "digits": number,
            "choice": ROLE_BY_STAFF_NUMBER[number],
            "pin": PIN_BY_STAFF_NUMBER[number],
        }
        self._enter_text(page, answers.get(kind, f"Simulation {number}"))

    def _choose_staff_number(self, title: str) -> str:
        """Return the staff number to sign in with: sometimes the technician's, if no ruling needs a manager."""
        manager, second_person, technician = PIN_BY_STAFF_NUMBER
        if title == "service.second_person":
            return second_person
        is_free = title == "service.sign_in" and not any(self._world.rulings_needed.values())
        return technician if is_free and self._random_source.random() < _TECHNICIAN_PROBABILITY else manager

    def _touch_line(self, page: ServicePage, line: str) -> None:
        """Touch a line or button of a page.

        If the line is about a disputed amount, first determine the right ruling.
        """
        self._ruling = None
        if line.startswith(f"{_DISPUTES_LINE}:"):
            cells = [row.cells for table in page.tables for row in table.rows if row.action == line]
            is_ticket_printed = self._world.is_ticket_printed(self.position, line.partition(":")[2])
            self._ruling = Ruling(str(cells[0][-2].value), "good" if is_ticket_printed else "void")
        self.press("answer", line, {"page": page.id})

    def _find_next_form_line(self, page: ServicePage, lines: list[str]) -> str:
        """Return the line or button that leads to the next requested form; after the last form, out of the menu."""
        forms = self._world.requested_forms
        if not forms:
            return ""
        if forms is not self._current_forms:
            self._current_forms, self._forms_done = forms, 0
        if page.title.value == _SEARCH_PAGE_TITLE:
            for number in range(self._forms_done, len(forms)):
                if forms[number] in lines:
                    self._forms_done = number + 1
                    return forms[number]
            self._forms_done = len(forms)  # the signed-in person may not fill in any of the remaining forms
        ways = ("search", "back") if self._forms_done < len(forms) else ("back", "leave")
        return next((each.id for way in ways for each in page.actions if each.id == way), "")

    def _find_ruling_line(self, lines: list[str]) -> str:
        """Return the line of a page that leads to a ruling needed at any position; empty if there is none."""
        line_by_position = self._world.rulings_needed
        own_line = line_by_position.get(self.position, "")
        position_lines = [
            f"position:{number}" for number, line in sorted(line_by_position.items()) if line and not own_line
        ]
        prefixes = (
            *((own_line, f"{own_line}:") if own_line else ()),
            *position_lines,
            *(("subject:money",) if own_line else ()),
        )
        return next((line for each in prefixes for line in lines if line.startswith(each)), "")

    def _fill_in(self, page: ServicePage) -> None:
        """Answer the next field of a form, according to its prompt, or confirm the form.

        The form is left if something that it needs is missing, and sometimes after the machine refused an answer.
        """
        prompt, form = page.prompt, str(page.title.value).split(".")[1]
        is_in_vain = any(row.icon == "warning" for table in page.tables for row in table.rows)
        if is_in_vain or (
            page.notice_severity != "info" and self._random_source.random() < _GIVE_UP_PROBABILITY
        ):
            self.observed.forms[form] |= {"left"}
            self.press("answer", "back", {"page": page.id})
        elif prompt is None:
            self.observed.forms[form] |= {"confirmed"}
            if form == "collection_end":
                self._world.boxes.end_collection()
            self.press("answer", "confirm", {"page": page.id})
        elif self._ruling is not None and prompt.kind == "amount":
            self._enter_text(page, self._ruling.amount_cents)
        elif prompt.kind == "choice":
            offered_choices = [choice.id for choice in prompt.choices]
            ruled = "" if self._ruling is None else self._ruling.choice
            self._choice = (
                ruled if ruled in offered_choices else self._random_source.choice(offered_choices or [""])
            )
            self._enter_text(page, self._choice)
        elif form == "box_count":
            self._count_box(page)
        elif prompt.kind == "text":
            self._enter_text(page, "nobody claims it")
        else:
            typed = (
                *("1", "25", "100", "500"),
                self._world.today,
                *PIN_BY_STAFF_NUMBER,
                *self._world.list_printed_tickets()[-3:],
            )
            self._enter_text(page, self._random_source.choice(typed))

    def _count_box(self, page: ServicePage) -> None:
        """Enter what the chosen box contained at its last collection; leave the form if that is unknown."""
        cents = self._world.boxes.compute_collected_cents(self._choice)
        if cents is None:
            self.observed.forms["box_count"] |= {"left"}
            self.press("answer", "back", {"page": page.id})
        else:
            self._enter_text(page, str(cents))

    def _enter_text(self, page: ServicePage, text: str) -> None:
        self.press("answer", "enter", {"page": page.id, "input": text})


def _identify_handpay(owed: HandpayView) -> tuple[object, ...]:
    """Return the values that identify a hand-pay.

    They do not include its slip number if there are several positions, because it may change.
    """
    return owed.since, owed.kind, owed.amount_cents, 0 if owed.position else owed.slip_number


def _choose_chips(spots: Mapping[str, BetSpot], random_source: random.Random) -> dict[str, int]:
    """Return bets on one to three spots, and on the spots that these require."""
    bets: dict[str, int] = {}
    for spot in random_source.sample(list(spots), min(len(spots), random_source.choice((1, 1, 2, 3)))):
        spot_to_bet = spots.get(spot)
        while spot_to_bet is not None and spot_to_bet.id not in bets:
            bets[spot_to_bet.id] = min(
                spot_to_bet.bet_max,
                spot_to_bet.bet_min + spot_to_bet.bet_step * random_source.choice((0, 0, 0, 1, 2)),
            )
            spot_to_bet = spots.get(spot_to_bet.required_spot or "")
    return bets


def _choose_bets(
    spots: Mapping[str, BetSpot], limits: Mapping[str, SpotState], credits_: int, random_source: random.Random
) -> dict[str, int]:
    """Return bets on one or two spots, and on the spots that these require, up to the credit and the limits."""
    bets: dict[str, int] = {}
    for chosen_id in random_source.sample(list(spots), min(len(spots), random_source.choice((1, 1, 2)))):
        chain = []
        spot = spots.get(chosen_id)
        while spot is not None and spot.id not in bets and spot not in chain:
            chain.append(spot)
            spot = spots.get(spot.required_spot or "")
        views = {spot.id: apply_current_limits(spot, limits.get(spot.id)) for spot in chain}
        spare_credits = credits_ - sum(bets.values()) - sum(view.bet_min for view in views.values())
        for name, view in views.items():
            steps = max(0, min(view.bet_max - view.bet_min, spare_credits)) // view.bet_step
            raised_credits = view.bet_step * random_source.choice((0, random_source.randint(0, steps)))
            bets[name] = view.bet_min + raised_credits
            spare_credits -= raised_credits
    for name in bets:
        if (divisor := spots[name].required_bet_divisor) is not None and (
            required_id := spots[name].required_spot
        ) is not None:
            bets[name] = bets[required_id] // divisor
    return bets
