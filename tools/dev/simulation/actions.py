"""Actions of a simulation: each is one thing a person does or that goes wrong, with its own seed.

A script of actions can be shortened anywhere and still means the same, which shrinking requires. All faults
leave the physical truth knowable. A device that lies about money is covered by the contract tests
(``tests/contract/test_fault_matrix.py``), because there would be no sum to compare it with.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, NamedTuple

from egm.app.features import FEATURES
from egm.staff.form import Form
from tools.dev.simulation.player import Player
from tools.dev.simulation.upkeep import can_be_put_back, is_signed, sign, update
from tools.dev.simulation.world import World

_DOORS: Final = ("main", "stacker", "drop", "belly", "cash_box", "top")
#: A device in one of these is left alone: a hand in its path would be a fault, not a repair.
_WELL: Final = frozenset(
    {
        *("idle", "disabled", "starting", "accepting", "escrow", "held", "stacking", "in_box", "settling"),
        *("rejecting", "returning", "printing", "paying"),
    }
)
_MENU_SECONDS: Final = 20.0
_MENDING_SECONDS: Final = 60.0
#: How long after a turn of the menu's key its page is on the screen.
_PAGE_SECONDS: Final = 0.5
#: Forms that complete what people have started or what a fault requires, in an order that leaves nothing
#: open.
MENDING: Final = tuple(
    f"form:{form}"
    for form in (
        *("settle_faults", "clock", "file_signed", "release"),
        *("collection", "base_in", "intervention_end", "collection_end"),
    )
)
#: The counts of both boxes after a collection.
_COUNTS: Final = ("form:box_count",) * 2
#: Every form that the service menu offers.
_FORMS: Final = tuple(f"form:{form.id}" for form in FEATURES.list_contributions(Form) if form.subject)
_KEY_SECONDS: Final = 0.2
#: When the screens show what a turn of the key has done.
_SERVED_SECONDS: Final = 0.6
#: The power fails within this many operations of the media, or at once.
_OPERATIONS_MAX: Final = 60

CUT: Final = "cut"

_FAULTS: Final[tuple[tuple[str, str, Mapping[str, int | bool]], ...]] = (
    ("bill", "jam", {}),
    ("bill", "full", {}),
    ("bill", "box", {"present": False}),
    ("bill", "cheat", {}),
    ("bill", "fail", {}),
    ("bill", "power_off", {}),
    ("printer", "jam", {}),
    ("printer", "paper", {"tickets": 0}),
    ("printer", "head", {"up": True}),
    ("printer", "chassis", {"open": True}),
    ("printer", "fail", {}),
    ("printer", "power_off", {}),
    ("hopper", "jam", {}),
    ("hopper", "fill", {"coins": 0}),
    ("hopper", "power_off", {}),
    ("coin", "cheat", {}),
    ("coin", "jam", {}),
    ("coin", "diverter", {}),
    ("io", "battery", {"good": False}),
    ("wheel", "void", {}),
    ("wheel", "jam", {}),
    ("wheel", "power_off", {}),
)
_LINE_FAULTS: Final[tuple[tuple[str, Mapping[str, int | bool]], ...]] = (
    ("silence", {"on": True}),
    ("late", {"milliseconds": 90}),
    ("corrupt", {"answers": 5}),
    ("drop", {"answers": 5}),
    ("split", {"on": True}),
    ("unplug", {}),
)


class Action(NamedTuple):
    """An action and its seed."""

    name: str
    seed: int


class Crowd:
    """Everybody and everything around the cabinet. :attr:`done` counts what was done, by name."""

    def __init__(self, world: World, players: Mapping[int, Player]) -> None:
        self._world = world
        self.players = players
        self.done: Counter[str] = Counter()
        self.dice = random.Random()  # noqa: S311 (each action brings its seed)
        self.player = players[1]
        self._turned: dict[str, asyncio.TimerHandle] = {}
        self._turned_at: dict[str, float] = {}
        """When each key that is turned now will be turned back, by the key's name."""

    def act(self, action: Action) -> None:
        """Do one thing, at a position its seed chooses."""
        self.dice = random.Random(action.seed)  # noqa: S311 (it must repeat)
        self.player = self.players[self.dice.choice(sorted(self.players))]
        _ACTIONS[action.name][1](self)
        self.done[action.name] += 1

    def pause_seconds(self, longest: float) -> float:
        """Time until the next action: often none at all."""
        return self.dice.choice((0.0, 0.05, self.dice.uniform(0.0, longest)))

    def _device(self, kind: str) -> str:
        return kind if kind in {"io", "wheel"} else f"{kind}-{self.player.position}"

    def limit(self) -> None:
        """Set or remove a limit of the player's own."""
        of, value = self.dice.choice((("minutes", 1), ("minutes", 30), ("cents", 100), ("cents", 5000)))
        self.player.press("limit", self.dice.choice((0, value)), {"of": of})

    def button(self) -> None:
        """Somebody presses a button of the deck."""
        self._world.hand("io", "press", button=self.dice.choice(("play", "cash_out", "service")))

    # ------------------------------------------------------------ value
    def bill(self) -> None:
        """Insert a bill that the jurisdiction accepts."""
        cents = self.dice.choice(self._world.profile.value_in.bills_cents)
        self._world.hand(self._device("bill"), "insert", amount_cents=cents)

    def coin(self) -> None:
        """Not while nobody can hear the acceptor: it remembers five events, and would lose what came before.

        (That the machine notices, and says so, is shown in ``tests/contract/test_coin_acceptors.py``.)
        """
        name = self._device("coin")
        cable, coins = self._world.cables[name], self._world.profile.coins.accepted_cents
        if coins and cable.is_plugged_in and not cable.silent:
            cents = self.dice.choice(coins)
            self._world.hand(name, "insert", amount_cents=cents)

    def ticket(self) -> None:
        """One of the last tickets printed at any position, redeemed already or not, or one nobody printed."""
        number = self.dice.choice([*self._world.papers(), f"{self.dice.randrange(10**18):018d}"])
        self._world.hand(self._device("bill"), "insert_ticket", barcode=number)

    # ------------------------------------------------------------ the host
    def transfer(self) -> None:
        """Have the host move value in either direction, or award a bonus."""
        if self._world.bank is not None:
            self._world.bank.order(self.dice.choice(("in", "out", "bonus")), self.dice.randrange(1, 5000))

    def bad_host_line(self) -> None:
        """Lose some messages on the host's line, or restart the host."""
        if self._world.bank is not None:
            self._world.bad_messages = self.dice.randint(1, 8)
            if self.dice.random() < 0.2:
                self._world.bank.restart()

    def bad_link(self) -> None:
        """Break or repair the link to the progressive controller, or restart the controller."""
        link = self._world.link
        if link is None:
            return
        match self.dice.choice(("break", "mend", "restart")):
            case "break":
                link.lose()
            case "mend":
                link.is_up = True
            case _:
                link.restart()

    # ------------------------------------------------------------ staff
    def turn_key(self) -> None:
        """Turn the attendant's key; if a ruling is needed, the manager comes too."""
        if any(player.ruling_needed for player in self._all()):
            self.rule()
        if "attendant" not in self._turned:
            owed = {player: which for player in self._all() if (which := player.waits_for_payment)}
            faults = {player: kept for player in self._all() if (kept := player.attendants_faults)}
            if owed:
                check = partial(self._check_order, owed, faults, self._world.lives)
                asyncio.get_running_loop().call_later(_SERVED_SECONDS, check)
        self._turn("attendant", _KEY_SECONDS)

    @staticmethod
    def _check_order(owed: Mapping[Player, object], faults: Mapping[Player, set[str]], life: int) -> None:
        """Find a turn of the key that cleared a fault at one position before it paid at another."""
        waiting = [player for player, which in owed.items() if player.waits_for_payment == which]
        if len(waiting) < len(owed) or any(player.life != life for player in (*owed, *faults)):
            return
        for player, before in faults.items():
            if cleared := before - player.attendants_faults:
                player.seen.wrong.append(
                    f"the attendant's key cleared {', '.join(sorted(cleared))} at position {player.position}"
                    f" before the hand-pay at position {waiting[0].position}"
                )

    def rule(self) -> None:
        """Open the service menu as the manager, and stay until the ruling can be made."""
        self._open_menu(_MENU_SECONDS)

    def _open_menu(self, seconds: float) -> None:
        """Open the service menu, unless it is open."""
        if any(player.now and player.now.page for player in self._all()):
            return
        if "operator" in self._turned:
            seconds_since = asyncio.get_running_loop().time() - self._turned_at["operator"]
            if seconds_since >= _PAGE_SECONDS:  # the menu was left with the key still in the lock
                self._turn_back("operator")
        else:
            self._turn("operator", seconds)

    def menu(self) -> None:
        """Open the service menu for a while, to fill in forms or to look around."""
        is_looking = self.dice.random() < 0.3
        self._world.errands = () if is_looking else [*self.dice.sample(_FORMS, 4), *MENDING, *_COUNTS]
        self._turn("operator", self.dice.uniform(0.5, _MENU_SECONDS) if is_looking else _MENDING_SECONDS)

    def _turn(self, key: str, seconds: float) -> None:
        """Turn a key and leave it so for a while; turned again meanwhile, the time begins anew."""
        if key in self._turned:
            self._turned.pop(key).cancel()
        self._world.hand("io", "key", name=key, on=True)
        loop = asyncio.get_running_loop()
        self._turned[key] = loop.call_later(seconds, self._turn_back, key)
        self._turned_at[key] = loop.time()

    def _turn_back(self, key: str) -> None:
        self._turned.pop(key).cancel()
        self._world.hand("io", "key", name=key, on=False)

    def door(self) -> None:
        """Open a door."""
        self._world.hand("io", "door", name=self.dice.choice(_DOORS), open=True)

    def close_doors(self) -> None:
        """Close every door."""
        for door in self._world.say("io")["doors_open"]:
            self._world.hand("io", "door", name=door, open=False)

    def repair(self) -> None:
        """Repair every device as the technician, and end what stops the machine as the staff."""
        for name, twin in self._world.twins.items():
            for action in ("power_on", "plug", "clear_line"):
                self._world.hand(name, action)
            if "clear" in twin.actions() and twin.describe()["status"] not in _WELL:
                self._world.hand(name, "clear")
        for name in self._world.of_kind("ticket_printer").values():
            self._world.hand(name, "paper", tickets=200)
        for name in self._world.of_kind("hopper").values():
            self._world.hand(name, "fill", coins=500)
        self._world.hand("wheel", "jam", on=False)
        if self._world.link is not None:
            self._world.link.is_up = True
        self._world.hand("io", "battery", good=True)
        if self._is_file_refused() and self.dice.random() < 0.5:
            self._world.work = self._world.put_file_back
        elif self._is_file_refused() or any(
            player.now and player.now.state == "out_of_service" for player in self._all()
        ):
            self._world.errands = list(MENDING)  # from its beginning
            self._open_menu(_MENDING_SECONDS)

    def _is_file_refused(self) -> bool:
        """Whether the machine plays no more because the cabinet file is not the one signed last.

        It is put back, or signed where nothing of a player's is on the machine.
        """
        tilts = [tilt.code for player in self._all() if player.now for tilt in player.now.tilts]
        return "cabinet_file_changed" in tilts

    def _all(self) -> list[Player]:
        return [self.players[number] for number in sorted(self.players)]

    # ------------------------------------------------------------ bad luck
    def fault(self) -> None:
        """Something breaks, or is taken away."""
        kind, action, values = self.dice.choice(_FAULTS)
        self._world.hand(self._device(kind), action, **values)

    def bad_line(self) -> None:
        """Make a cable unreliable from now on."""
        action, values = self.dice.choice(_LINE_FAULTS)
        self._world.hand(self.dice.choice(sorted(self._world.twins)), action, **values)

    # ------------------------------------------------------------ work on the machine while it is off
    def clear_memory(self) -> None:
        """Have two people clear the memory and carry over or pay what it owes."""

        def work() -> None:
            seen = {play_id for player in self._all() for play_id in player.seen.games}
            may_pay = self._world.link is None  # whose controller hears nothing of a game paid by hand
            for position in self._world.clears.clear(self._world, dice, seen, may_pay=may_pay):
                self.players[position].memory_was_cleared()

        dice = random.Random(self.dice.randbytes(8))  # noqa: S311 (it must repeat)
        self._work(work)

    def update(self) -> None:
        """Install another release, and other games or versions of them; sign a file that was signed before.

        A new signature is not taken while anything of a player's is on the machine: then nothing is updated.
        """
        world, at_rest = self._world, all(_is_at_rest(player) for player in self._all())

        def work() -> None:
            signed = is_signed(world.folder.root)
            if signed and not at_rest:
                return
            world.release += 1
            world.file_before = world.cabinet.read_text(encoding="utf-8")
            update(world.cabinet, dice)
            if signed:
                sign(world.folder.root, world.cabinet.read_text(encoding="utf-8"), world.now())

        dice = random.Random(self.dice.randbytes(8))  # noqa: S311 (it must repeat)
        self._work(work)

    def lose_file(self) -> None:
        """Lose the cabinet file: the first start asks two people to restore the one they signed last."""
        world = self._world

        def work() -> None:
            if can_be_put_back(world.folder.root):
                world.cabinet.unlink()

        self._work(work)

    def _work(self, work: Callable[[], None]) -> None:
        """Have work done when the machine is off: its power is cut, or it is stopped in good order."""
        self._world.work = work
        if self.dice.random() < 0.5:
            self._world.cut_after(self.dice.choice((1, self.dice.randint(1, _OPERATIONS_MAX))))

    def cut(self) -> None:
        """Cut the power soon, at an operation of the media, so that it happens in the middle of something."""
        self._world.cut_after(self.dice.choice((1, self.dice.randint(1, _OPERATIONS_MAX))))


def _is_at_rest(player: Player) -> bool:
    now = player.now
    return now is not None and (now.state, now.credit_cents, now.page) == ("idle", 0, None)


#: Name -> how often, and what is done. A world takes part of the faults, and so finds what they hide.
_ACTIONS: Final[Mapping[str, tuple[int, Callable[[Crowd], object]]]] = {
    "play": (480, lambda c: c.player.play(c.dice)),
    "bill": (110, Crowd.bill),
    "coin": (70, Crowd.coin),
    "ticket in": (50, Crowd.ticket),
    "cash out": (40, lambda c: c.player.press("cash_out")),
    "button": (30, Crowd.button),
    "bet": (60, lambda c: c.player.bet(c.dice)),
    "denomination": (15, lambda c: c.player.denomination(c.dice)),
    "game": (25, lambda c: c.player.game(c.dice)),
    "language": (5, lambda c: c.player.press("language", c.dice.choice(("en", "fr")))),
    "service": (5, lambda c: c.player.press("service")),
    "residual": (10, lambda c: c.player.press("residual")),
    "limit": (3, Crowd.limit),
    "transfer": (25, Crowd.transfer),
    "bad host line": (8, Crowd.bad_host_line),
    "bad link": (8, Crowd.bad_link),
    "key": (80, Crowd.turn_key),
    "menu": (16, Crowd.menu),
    "door": (12, Crowd.door),
    "close doors": (70, Crowd.close_doors),
    "fault": (20, Crowd.fault),
    "bad line": (10, Crowd.bad_line),
    "repair": (50, Crowd.repair),
    CUT: (0, Crowd.cut),
    "clear memory": (0, Crowd.clear_memory),
    "update": (0, Crowd.update),
    "lose file": (0, Crowd.lose_file),
}


#: What is done to a machine that is off, a few times in a world.
_UPKEEP: Final = ("update", "update", "clear memory", "lose file")
_UPKEEP_TIMES: Final = (1, 5)
_ACTIONS_AN_UPKEEP: Final = 60


def script(dice: random.Random, actions: int, cuts: int) -> list[Action]:
    """Return a script of ``actions`` actions and ``cuts`` power cuts; some kinds are omitted so that others combine."""
    left_out = {name for name in ("door", "fault", "bad line", "menu", "limit") if dice.random() < 0.25}
    weights = {name: weight for name, (weight, _) in _ACTIONS.items() if name not in left_out}
    names = dice.choices(list(weights), list(weights.values()), k=actions)
    for place in dice.sample(range(actions), min(cuts, actions)):
        names[place] = CUT
    made = [Action(name, dice.randrange(2**32)) for name in names]
    times = min(dice.randint(*_UPKEEP_TIMES), actions // _ACTIONS_AN_UPKEEP)
    for place in dice.sample(range(actions), times):
        made[place] = Action(dice.choice(_UPKEEP), made[place].seed)
    return made
