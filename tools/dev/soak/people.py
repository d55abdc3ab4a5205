"""The people of a soak: a player at the screen, an attendant with keys, a mechanic, and bad luck.

Each action is one thing a person does or one thing that goes wrong; which, is the dice's. Faults are those
that leave the physical truth knowable. A device that lies about money (a note reported that never was, coins
nobody ordered) is the contract tests' (``tests/contract/test_fault_matrix.py``): there the machine must
say so and stop, and there is no sum it could be held to.
"""

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from egm.kernel.messages import (
    LINE_BYTES_MAX,
    Decision,
    Hello,
    Intent,
    Message,
    Play,
    Snapshot,
    decode,
    encode,
)
from egm.kernel.service_pages import ServicePage
from tools.dev.soak.floor import STAFF_NUMBER, STAFF_PIN, Floor

_DOORS: Final = ("main", "stacker", "drop", "belly", "cash_box", "top")
#: A device in one of these is left alone: a hand in its path would be a fault, not a repair.
_WELL: Final = frozenset(
    {
        *("idle", "disabled", "starting", "accepting", "escrow", "held", "stacking", "in_box", "settling"),
        *("rejecting", "returning", "printing", "paying"),
    }
)
#: Longest pause between two actions, virtual seconds.
_PAUSE_SECONDS: Final = 1.5
#: The longest an outcome is looked at, or a choice thought about.
_SHOW_SECONDS: Final = 0.8
_MENU_SECONDS: Final = 20.0
#: How long a hand waits for the machine to come to rest before it says that it does not.
_REST_SECONDS: Final = 900.0
_REPAIR_TURNS: Final = 30
_QUIET_TURNS: Final = 20


class Player:
    """Whoever stands before the screen: sees what it shows, and has wishes."""

    def __init__(self, floor: Floor, dice: random.Random) -> None:
        self._floor = floor
        self._dice = dice
        self.seen: Snapshot | None = None
        self.states: Counter[str] = Counter()
        """The states the machine came into, and how often, as the screen was told of them one by one."""
        self._offered: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self._answered = ""
        self._least_cents = "0"
        self._writer: asyncio.StreamWriter | None = None

    async def attend(self) -> None:
        """Look at the screen for as long as there is one, machine after machine."""
        while True:
            with contextlib.suppress(OSError):
                await self._watch()
            self.seen = None
            await asyncio.sleep(0.1)

    async def _watch(self) -> None:
        folder = self._floor.folder
        reader, self._writer = await asyncio.open_unix_connection(folder.screen_socket, limit=LINE_BYTES_MAX)
        with contextlib.closing(self._writer):
            token = folder.screen_token.read_text(encoding="ascii")
            self._writer.write(encode(Hello(token=token.strip())))
            while line := await reader.readline():
                self._sees(decode(line))

    def _sees(self, message: Message) -> None:
        if isinstance(message, Snapshot):
            if self.seen is None or self.seen.state != message.state:
                self.states[message.state] += 1
            self.seen = message
            if message.page is not None and message.page.id != self._answered:
                self._answered = message.page.id
                later = self._dice.uniform(0.1, _SHOW_SECONDS)
                asyncio.get_running_loop().call_later(later, self._answer, message.page)
            if message.reminder is not None:
                self.wish("acknowledge")
        elif isinstance(message, Hello):
            self._offered = {game.id: (game.bet_options, game.denominations_cents) for game in message.games}
        elif isinstance(message, Play):
            later = self._dice.uniform(0.0, _SHOW_SECONDS)
            asyncio.get_running_loop().call_later(later, self.wish, "shown", message.play_id)
        elif isinstance(message, Decision):
            later, choice = self._dice.uniform(0.0, _SHOW_SECONDS), self._dice.choice(message.options)
            asyncio.get_running_loop().call_later(later, self.wish, "choose", choice)

    def wish(self, name: Any, value: int | str | None = None, options: dict[str, str] | None = None) -> None:
        """Press something."""
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(encode(Intent(name=name, value=value, options=options)))

    def _answer(self, page: ServicePage) -> None:
        """Whoever is in the service menu says who he is, and then looks at whatever he likes.

        He breaks nothing that cannot be mended, and works no device: a coin a hopper pays in a test has no
        player.
        """
        prompt = page.prompt
        if prompt is not None and prompt.kind in {"digits", "pin"}:
            typed = STAFF_NUMBER if prompt.kind == "digits" else STAFF_PIN
            self.wish("answer", "enter", {"page": page.id, "input": typed})
            return
        lines = [row.action for table in page.tables for row in table.rows if row.action]
        if self.is_disputed and self._rules(page, lines):
            return
        touched = [each.id for each in page.actions if each.enabled and each.style != "danger"]
        back = [each.id for each in page.actions if each.style == "back"]
        choices = back if page.test else [*lines, *touched]
        if choices:
            self.wish("answer", self._dice.choice(choices), {"page": page.id})

    @property
    def is_disputed(self) -> bool:
        """Whether an amount waits for a person's ruling."""
        return self.seen is not None and any(tilt.code.endswith(".disputed") for tilt in self.seen.tilts)

    def _rules(self, page: ServicePage, lines: list[str]) -> bool:
        """Take the next step of a ruling that pays as little as may be; False where this page has none."""
        ruled = next((line for line in lines if line.startswith("disputed")), None)
        if ruled is not None:
            cells = [row.cells for table in page.tables for row in table.rows if row.action == ruled]
            self._least_cents = str(cells[0][-2].value) if ":" in ruled else self._least_cents
            self.wish("answer", ruled, {"page": page.id})
        elif page.prompt is not None and page.title.value == "form.disputed.title":
            typed = self._least_cents if page.prompt.kind == "amount" else "nobody claims it"
            self.wish("answer", "enter", {"page": page.id, "input": typed})
        elif page.title.value == "form.disputed.title":
            self.wish("answer", "confirm", {"page": page.id})
        else:
            return False
        return True

    def leave(self) -> None:
        """Cash out; where a bet stays until it is decided, play on at its game."""
        notices = self.seen.notices if self.seen else ()
        stays = next((one for one in notices if one.code.startswith("bets_stay")), None)
        if stays is None:
            self.wish("cash_out")
        elif "game" in stays.values:
            self.wish("game", stays.values["game"])
        else:
            self.wish("play")

    def bet(self) -> None:
        """Choose another bet of the game that is up."""
        if self.seen is not None and self.seen.game_id in self._offered:
            self.wish("bet", self._dice.choice(self._offered[self.seen.game_id][0]))

    def denomination(self) -> None:
        """Choose another denomination of it."""
        if self.seen is not None and self.seen.game_id in self._offered:
            self.wish("denomination", self._dice.choice(self._offered[self.seen.game_id][1]))

    def game(self) -> None:
        """Choose another game."""
        if self._offered:
            self.wish("game", self._dice.choice(sorted(self._offered)))


class Crowd:
    """Everybody and everything around one cabinet. :attr:`done` counts what was done, by name."""

    def __init__(self, floor: Floor, dice: random.Random) -> None:
        self._floor = floor
        self._dice = dice
        self.player = Player(floor, dice)
        self.done: Counter[str] = Counter()
        self._actions: tuple[tuple[str, int, Callable[[], object]], ...] = (
            ("play", 480, lambda: self.player.wish("play")),
            ("bill", 70, self._bill),
            ("coin", 90, self._coin),
            ("ticket in", 50, self._ticket),
            ("cash out", 40, lambda: self.player.wish("cash_out")),
            ("button", 30, self._button),
            ("bet", 40, self.player.bet),
            ("denomination", 15, self.player.denomination),
            ("game", 20, self.player.game),
            ("language", 5, lambda: self.player.wish("language", dice.choice(("en", "fr")))),
            ("service", 5, lambda: self.player.wish("service")),
            ("key", 80, self.turn_key),
            ("menu", 4, self._menu),
            ("door", 12, self._door),
            ("close doors", 70, self.close_doors),
            ("fault", 20, self._fault),
            ("bad line", 10, self._bad_line),
            ("repair", 50, self.repair),
        )

    def act(self) -> None:
        """One action."""
        names = [name for name, _, _ in self._actions]
        weights = [weight for _, weight, _ in self._actions]
        name = self._dice.choices(names, weights)[0]
        next(do for each, _, do in self._actions if each == name)()
        self.done[name] += 1

    async def pause(self) -> None:
        """Time between two actions: often none at all."""
        await asyncio.sleep(self._dice.choice((0.0, 0.05, self._dice.uniform(0.0, _PAUSE_SECONDS))))

    # ------------------------------------------------------------ value
    def _bill(self) -> None:
        self._floor.hand(
            "bill", "insert", amount_cents=self._dice.choice(self._floor.profile.value_in.bills_cents)
        )

    def _coin(self) -> None:
        """Not while nobody can hear the acceptor: it remembers five events, and would lose what came before.

        (That the machine notices, and says so, is shown in ``tests/contract/test_coin_acceptors.py``.)
        """
        coins = self._floor.profile.coins.accepted_cents
        if not coins or self._floor.cables["coin"].silent or not self._floor.cables["coin"].plugged:
            return
        self._floor.hand("coin", "insert", amount_cents=self._dice.choice(coins))

    def _ticket(self) -> None:
        """One of the last tickets printed here, redeemed already or not, or one nobody ever printed."""
        papers = self._floor.say("printer")["printed"][-8:]
        numbers = [paper["barcode"] for paper in papers if paper["barcode_complete"] and paper["barcode"]]
        number = self._dice.choice([*numbers, f"{self._dice.randrange(10**18):018d}"])
        self._floor.hand("bill", "insert_ticket", barcode=number)

    def _button(self) -> None:
        self._floor.hand("io", "press", button=self._dice.choice(("play", "cash_out", "service")))

    # ------------------------------------------------------------ staff
    def turn_key(self) -> None:
        """The attendant turns his key; a disputed amount is no attendant's, and the manager comes."""
        if self.player.is_disputed and self.player.seen is not None and self.player.seen.page is None:
            self._menu()
        self._floor.hand("io", "key", name="attendant", on=True)
        asyncio.get_running_loop().call_later(
            0.2, lambda: self._floor.hand("io", "key", name="attendant", on=False)
        )

    def _menu(self) -> None:
        """The operator opens the service menu, and leaves it after a while."""
        self._floor.hand("io", "key", name="operator", on=True)
        asyncio.get_running_loop().call_later(
            self._dice.uniform(0.5, _MENU_SECONDS),
            lambda: self._floor.hand("io", "key", name="operator", on=False),
        )

    def _door(self) -> None:
        self._floor.hand("io", "door", name=self._dice.choice(_DOORS), open=True)

    def close_doors(self) -> None:
        """Close every door."""
        for door in self._floor.say("io")["doors_open"]:
            self._floor.hand("io", "door", name=door, open=False)

    def repair(self) -> None:
        """The mechanic mends whatever is wrong with any device."""
        for name, twin in self._floor.twins.items():
            for action in ("power_on", "plug", "clear_line"):
                self._floor.hand(name, action)
            if "clear" in twin.actions() and twin.describe()["status"] not in _WELL:
                self._floor.hand(name, "clear")
        self._floor.hand("printer", "paper", tickets=200)
        self._floor.hand("hopper", "fill", coins=500)
        self._floor.hand("io", "battery", good=True)

    # ------------------------------------------------------------ bad luck
    def _fault(self) -> None:
        hand = self._floor.hand
        faults: tuple[Callable[[], object], ...] = (
            lambda: hand("bill", "jam"),
            lambda: hand("bill", "full"),
            lambda: hand("bill", "box", present=False),
            lambda: hand("bill", "cheat"),
            lambda: hand("bill", "fail"),
            lambda: hand("bill", "power_off"),
            lambda: hand("printer", "jam"),
            lambda: hand("printer", "paper", tickets=0),
            lambda: hand("printer", "head", up=True),
            lambda: hand("printer", "chassis", open=True),
            lambda: hand("printer", "fail"),
            lambda: hand("printer", "power_off"),
            lambda: hand("hopper", "jam"),
            lambda: hand("hopper", "fill", coins=0),
            lambda: hand("hopper", "power_off"),
            lambda: hand("coin", "cheat"),
            lambda: hand("coin", "jam"),
            lambda: hand("coin", "diverter"),
            lambda: hand("io", "battery", good=False),
        )
        self._dice.choice(faults)()

    def _bad_line(self) -> None:
        device = self._dice.choice(sorted(self._floor.twins))
        action, values = self._dice.choice(
            (
                ("silence", {"on": True}),
                ("late", {"milliseconds": 90}),
                ("corrupt", {"answers": 5}),
                ("drop", {"answers": 5}),
                ("split", {"on": True}),
                ("unplug", {}),
            )
        )
        self._floor.hand(device, action, **values)

    # ------------------------------------------------------------ the end
    async def come_to_rest(self) -> None:
        """Mend, close and pay out everything. Raises TimeoutError, with what the machine shows instead."""
        quiet = turns = 0
        try:
            async with asyncio.timeout(_REST_SECONDS):
                while quiet < _QUIET_TURNS:
                    if turns % _REPAIR_TURNS == 0:  # now and then, as a mechanic comes by
                        self.repair()
                        self.close_doors()
                    quiet = quiet + 1 if self._rests() else 0
                    turns += 1
                    await asyncio.sleep(0.7)
        except TimeoutError:
            raise TimeoutError(f"the machine does not come to rest: {self.player.seen}") from None

    def _rests(self) -> bool:
        """Whether there is nothing left to do; does what is next otherwise."""
        now = self.player.seen
        if now is None:
            return False
        if now.state in {"handpay", "tilt", "out_of_service"}:
            self.turn_key()
        elif now.credit_cents:
            self.player.leave()
        bill, printer = self._floor.say("bill"), self._floor.say("printer")
        return (now.state, now.credit_cents) == ("idle", 0) and (bill["status"], printer["status"]) == (
            "idle",
            "idle",
        )
