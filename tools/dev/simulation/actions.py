"""Actions of a simulation: things that people do and faults that occur, each with its own seed.

Because each action has its own seed, removing actions from a script does not change the others, which shrinking
requires. After every fault it is still known where the money physically is. Devices that report false amounts are not
simulated here, because no sum could be compared with them; they are covered by the contract tests
(``tests/contract/test_fault_matrix.py``).
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, NamedTuple

from egm.app.features import FEATURES
from egm.staff.form import Form
from tools.dev.simulation.cabinet_file_work import (
    can_restore_file,
    is_signed,
    sign_cabinet_file,
    update_games,
)
from tools.dev.simulation.player import Player
from tools.dev.simulation.world import SimulatedWorld

_DOOR_NAMES: Final = ("main", "stacker", "drop", "belly", "cash_box", "top")
#: Device states in which the technician does not clear the device, because that would cause a fault.
_STATES_NOT_TO_CLEAR: Final = frozenset(
    {
        *("idle", "disabled", "starting", "accepting", "escrow", "held", "stacking", "in_box", "settling"),
        *("rejecting", "returning", "printing", "paying"),
    }
)
_MENU_OPEN_SECONDS: Final = 20.0
_REPAIR_SECONDS: Final = 60.0
#: Time from a turn of the menu key until the menu is on the screen.
_MENU_OPENING_SECONDS: Final = 0.5
#: Forms that complete started work or clear faults, in an order that leaves nothing open.
COMPLETION_FORMS: Final = tuple(
    f"form:{form}"
    for form in (
        *("settle_faults", "clock", "file_signed", "release"),
        *("collection", "base_in", "intervention_end", "collection_end"),
    )
)
#: The counts of both boxes after a collection.
_BOX_COUNT_FORMS: Final = ("form:box_count",) * 2
#: Every form that the service menu offers.
_MENU_FORMS: Final = tuple(
    f"form:{form.id}" for form in FEATURES.list_contributions(Form) if form.menu_section
)
_KEY_TURN_SECONDS: Final = 0.2
#: Time from a turn of the key until the screens show its effect.
_KEY_EFFECT_SECONDS: Final = 0.6
#: The power fails within this many operations of the media, or at once.
_OPERATIONS_BEFORE_CUT_MAX: Final = 60

POWER_CUT_ACTION: Final = "cut"
#: The players gather at their table, and start a round in common.
SHARED_ROUND_ACTION: Final = "round"
#: Probability that a game of a gathering's script starts such a round.
_ROUND_PROBABILITY: Final = 0.2
#: Probability that a player stays away from a round.
_STAYS_AWAY_PROBABILITY: Final = 0.05
#: Credit below which a player inserts the largest bill before a round.
_CREDIT_FOR_ROUND_CENTS: Final = 10000

_DEVICE_FAULT_ACTIONS: Final[tuple[tuple[str, str, Mapping[str, int | bool]], ...]] = (
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
_LINE_FAULT_ACTIONS: Final[tuple[tuple[str, Mapping[str, int | bool]], ...]] = (
    ("silence", {"on": True}),
    ("late", {"milliseconds": 90}),
    ("corrupt", {"answers": 5}),
    ("drop", {"answers": 5}),
    ("split", {"on": True}),
    ("unplug", {}),
)


class Action(NamedTuple):
    """One action by name, and the seed of its random choices."""

    name: str
    seed: int


class Crowd:
    """All people who act on the cabinet, and all faults. :attr:`done` counts the actions by name."""

    def __init__(self, world: SimulatedWorld, players: Mapping[int, Player]) -> None:
        self._world = world
        self.players = players
        self.done: Counter[str] = Counter()
        self.random_source = random.Random()  # noqa: S311 (each action has its own seed)
        self.player = players[1]
        self._turn_back_timers: dict[str, asyncio.TimerHandle] = {}
        self._turned_at: dict[str, float] = {}
        """The time at which each key that is turned now was turned, by the key's name."""

    def perform_action(self, action: Action) -> None:
        """Perform an action at a player position that the action's seed chooses."""
        self.random_source = random.Random(action.seed)  # noqa: S311 (the sequence must be repeatable)
        self.player = self.players[self.random_source.choice(sorted(self.players))]
        _, perform = _WEIGHT_AND_FUNCTION_BY_ACTION[action.name]
        perform(self)
        self.done[action.name] += 1

    def pause_seconds(self, longest: float) -> float:
        """Return a random time until the next action, at most ``longest`` seconds; it is often zero."""
        return self.random_source.choice((0.0, 0.05, self.random_source.uniform(0.0, longest)))

    def _name_device(self, kind: str) -> str:
        return kind if kind in {"io", "wheel"} else f"{kind}-{self.player.position}"

    def set_limit(self) -> None:
        """Set or remove one of the limits that a player may set for their own play."""
        unit, value = self.random_source.choice(
            (("minutes", 1), ("minutes", 30), ("cents", 100), ("cents", 5000))
        )
        self.player.press("limit", self.random_source.choice((0, value)), {"of": unit})

    def press_button(self) -> None:
        """Press a button of the deck."""
        self._world.act_on_device(
            "io", "press", button=self.random_source.choice(("play", "cash_out", "service"))
        )

    # ------------------------------------------------------------ value
    def insert_bill(self) -> None:
        """Insert a bill that the jurisdiction accepts."""
        cents = self.random_source.choice(self._world.profile.value_in.bills_cents)
        self._world.act_on_device(self._name_device("bill"), "insert", amount_cents=cents)

    def insert_coin(self) -> None:
        """Insert a coin, unless the line of the coin acceptor is down.

        The acceptor stores only five events while its line is down, and loses older ones.
        ``tests/contract/test_coin_acceptors.py`` shows that the machine detects and reports such a loss.
        """
        name = self._name_device("coin")
        cable, coins = self._world.cables[name], self._world.profile.coins.accepted_coins_cents
        if coins and cable.is_plugged_in and not cable.is_silent:
            cents = self.random_source.choice(coins)
            self._world.act_on_device(name, "insert", amount_cents=cents)

    def insert_ticket(self) -> None:
        """Insert one of the last printed tickets, redeemed or not, or a ticket number that was never printed."""
        number = self.random_source.choice(
            [*self._world.list_printed_tickets(), f"{self.random_source.randrange(10**18):018d}"]
        )
        self._world.act_on_device(self._name_device("bill"), "insert_ticket", barcode=number)

    # ------------------------------------------------------------ rounds in common
    def gather(self) -> None:
        """Have the players of all positions bet on the game of their common table.

        Players with too little credit insert a bill first; some players do not take part.
        """
        for player in self._list_players():
            if self.random_source.random() < _STAYS_AWAY_PROBABILITY:
                continue
            if player.snapshot is not None and player.snapshot.credit_cents < _CREDIT_FOR_ROUND_CENTS:
                cents = max(self._world.profile.value_in.bills_cents)
                self._world.act_on_device(f"bill-{player.position}", "insert", amount_cents=cents)
            player.join_round(self._world.setup.gathering, self.random_source)

    # ------------------------------------------------------------ the host
    def order_transfer(self) -> None:
        """Order a host transfer in either direction, or a bonus."""
        if self._world.host is not None:
            self._world.host.order_transfer(
                self.random_source.choice(("in", "out", "bonus")), self.random_source.randrange(1, 5000)
            )

    def disturb_host_line(self) -> None:
        """Lose some messages on the host's line, or restart the host."""
        if self._world.host is not None:
            self._world.lossy_messages = self.random_source.randint(1, 8)
            if self.random_source.random() < 0.2:
                self._world.host.restart()

    def disturb_link(self) -> None:
        """Break or repair the link to the progressive controller, or restart the controller."""
        link = self._world.link
        if link is None:
            return
        match self.random_source.choice(("break", "mend", "restart")):
            case "break":
                link.break_wire()
            case "mend":
                link.is_up = True
            case _:
                link.restart()

    # ------------------------------------------------------------ staff
    def turn_key(self) -> None:
        """Turn the attendant's key. If a ruling on a disputed amount is needed, also call the manager."""
        if any(player.needed_ruling_line for player in self._list_players()):
            self.open_menu_for_ruling()
        if "attendant" not in self._turn_back_timers:
            owed_handpays = {
                player: handpay for player in self._list_players() if (handpay := player.awaited_handpay)
            }
            faults = {
                player: fault_codes
                for player in self._list_players()
                if (fault_codes := player.attendant_fault_codes)
            }
            if owed_handpays:
                check = partial(self._check_service_order, owed_handpays, faults, self._world.runs)
                asyncio.get_running_loop().call_later(_KEY_EFFECT_SECONDS, check)
        self._hold_key_turned("attendant", _KEY_TURN_SECONDS)

    @staticmethod
    def _check_service_order(
        owed_handpays: Mapping[Player, object], faults: Mapping[Player, set[str]], run_number: int
    ) -> None:
        """Report, as a finding, that a turn of the key cleared a fault although a hand-pay was owed.

        One turn of the key must first pay what is owed at any position, and only then clear faults.
        """
        waiting_players = [
            player for player, handpay in owed_handpays.items() if player.awaited_handpay == handpay
        ]
        if len(waiting_players) < len(owed_handpays) or any(
            player.run_number != run_number for player in (*owed_handpays, *faults)
        ):
            return
        for player, codes_before in faults.items():
            if cleared := codes_before - player.attendant_fault_codes:
                player.observed.findings.append(
                    f"the attendant's key cleared {', '.join(sorted(cleared))} at position {player.position}"
                    f" before the hand-pay at position {waiting_players[0].position}"
                )

    def open_menu_for_ruling(self) -> None:
        """Open the service menu as the manager, for long enough to make the ruling on a disputed amount."""
        self._open_menu(_MENU_OPEN_SECONDS)

    def _open_menu(self, seconds: float) -> None:
        """Open the service menu, unless it is open."""
        if any(player.snapshot and player.snapshot.service_page for player in self._list_players()):
            return
        if "operator" in self._turn_back_timers:
            seconds_since = asyncio.get_running_loop().time() - self._turned_at["operator"]
            if seconds_since >= _MENU_OPENING_SECONDS:  # the menu was closed while the key stayed turned
                self._turn_back("operator")
        else:
            self._hold_key_turned("operator", seconds)

    def visit_service_menu(self) -> None:
        """Open the service menu for a while, to fill in forms or to look around."""
        is_looking = self.random_source.random() < 0.3
        self._world.requested_forms = (
            ()
            if is_looking
            else [*self.random_source.sample(_MENU_FORMS, 4), *COMPLETION_FORMS, *_BOX_COUNT_FORMS]
        )
        self._hold_key_turned(
            "operator", self.random_source.uniform(0.5, _MENU_OPEN_SECONDS) if is_looking else _REPAIR_SECONDS
        )

    def _hold_key_turned(self, key: str, seconds: float) -> None:
        """Keep a key turned for the given seconds from now."""
        if key in self._turn_back_timers:
            self._turn_back_timers.pop(key).cancel()
        self._world.act_on_device("io", "key", name=key, on=True)
        loop = asyncio.get_running_loop()
        self._turn_back_timers[key] = loop.call_later(seconds, self._turn_back, key)
        self._turned_at[key] = loop.time()

    def _turn_back(self, key: str) -> None:
        self._turn_back_timers.pop(key).cancel()
        self._world.act_on_device("io", "key", name=key, on=False)

    def open_door(self) -> None:
        """Open a door."""
        self._world.act_on_device("io", "door", name=self.random_source.choice(_DOOR_NAMES), open=True)

    def close_doors(self) -> None:
        """Close every door."""
        for door in self._world.describe_device("io")["doors_open"]:
            self._world.act_on_device("io", "door", name=door, open=False)

    def repair_devices(self) -> None:
        """Repair every device as the technician, and have the staff clear everything that stops the machine."""
        for name, twin in self._world.twins.items():
            for action in ("power_on", "plug", "clear_line"):
                self._world.act_on_device(name, action)
            if "clear" in twin.list_actions() and twin.describe()["status"] not in _STATES_NOT_TO_CLEAR:
                self._world.act_on_device(name, "clear")
        for name in self._world.find_devices("ticket_printer").values():
            self._world.act_on_device(name, "paper", tickets=200)
        for name in self._world.find_devices("hopper").values():
            self._world.act_on_device(name, "fill", coins=500)
        self._world.act_on_device("wheel", "jam", on=False)
        if self._world.link is not None:
            self._world.link.is_up = True
        self._world.act_on_device("io", "battery", good=True)
        if self._is_file_refused() and self.random_source.random() < 0.5:
            self._world.pending_work = self._world.restore_previous_file
        elif self._is_file_refused() or any(
            player.snapshot and player.snapshot.state == "out_of_service" for player in self._list_players()
        ):
            self._world.requested_forms = list(COMPLETION_FORMS)  # a new list starts from its first form
            self._open_menu(_REPAIR_SECONDS)

    def _is_file_refused(self) -> bool:
        """Return whether the machine has stopped because its cabinet file is not the one that was signed last.

        The staff then restore the signed file, or sign the new one if no money of a player is on the machine.
        """
        tilts = [
            tilt.code for player in self._list_players() if player.snapshot for tilt in player.snapshot.tilts
        ]
        return "cabinet_file_changed" in tilts

    def _list_players(self) -> list[Player]:
        return [self.players[number] for number in sorted(self.players)]

    # ------------------------------------------------------------ bad luck
    def inject_device_fault(self) -> None:
        """Cause a fault of a random device, or remove a part of it."""
        kind, action, values = self.random_source.choice(_DEVICE_FAULT_ACTIONS)
        self._world.act_on_device(self._name_device(kind), action, **values)

    def inject_line_fault(self) -> None:
        """Make the line of a random device unreliable until it is repaired."""
        action, values = self.random_source.choice(_LINE_FAULT_ACTIONS)
        self._world.act_on_device(self.random_source.choice(sorted(self._world.twins)), action, **values)

    # ------------------------------------------------------------ work on the machine while it is off
    def clear_memory(self) -> None:
        """Have two people clear the machine's memory; what the machine owes is carried over or paid by hand."""

        def work() -> None:
            shown_games = {play_id for player in self._list_players() for play_id in player.observed.games}
            can_pay_by_hand = self._world.link is None  # a controller is not informed of a game paid by hand
            handpays = self._world.clears.clear_memory(
                self._world, random_source, shown_games, can_pay_by_hand=can_pay_by_hand
            )
            for position, is_settled in handpays.items():
                self.players[position].handle_memory_clear(is_handpay_settled=is_settled)

        random_source = random.Random(self.random_source.randbytes(8))  # noqa: S311 (the sequence must be repeatable)
        self._schedule_work(work)

    def install_update(self) -> None:
        """Install another release of the machine, and other games or versions.

        If the cabinet file was signed, it is signed again. That is not possible while money of a player is on the
        machine, so then nothing is updated.
        """
        world, is_idle = self._world, all(_is_idle_without_credit(player) for player in self._list_players())

        def work() -> None:
            signed = is_signed(world.folder.root)
            if signed and not is_idle:
                return
            world.release += 1
            world.previous_file = world.cabinet.read_text(encoding="utf-8")
            update_games(world.cabinet, random_source)
            if signed:
                sign_cabinet_file(world.folder.root, world.cabinet.read_text(encoding="utf-8"), world.now())

        random_source = random.Random(self.random_source.randbytes(8))  # noqa: S311 (the sequence must be repeatable)
        self._schedule_work(work)

    def lose_cabinet_file(self) -> None:
        """Delete the cabinet file.

        The next start asks two people to restore the file that they signed last.
        """
        world = self._world

        def work() -> None:
            if can_restore_file(world.folder.root):
                world.cabinet.unlink()

        self._schedule_work(work)

    def _schedule_work(self, work: Callable[[], None]) -> None:
        """Schedule ``work`` for when the machine is off, and cut the power or shut the machine down."""
        self._world.pending_work = work
        if self.random_source.random() < 0.5:
            self._world.schedule_power_cut(
                self.random_source.choice((1, self.random_source.randint(1, _OPERATIONS_BEFORE_CUT_MAX)))
            )

    def cut_power(self) -> None:
        """Cut the power at one of the next operations of the media, while that operation is running."""
        self._world.schedule_power_cut(
            self.random_source.choice((1, self.random_source.randint(1, _OPERATIONS_BEFORE_CUT_MAX)))
        )


def _is_idle_without_credit(player: Player) -> bool:
    snapshot = player.snapshot
    return snapshot is not None and (snapshot.state, snapshot.credit_cents, snapshot.service_page) == (
        "idle",
        0,
        None,
    )


#: Name -> weight and function. Each world omits some kinds, because a frequent fault can hide others.
_WEIGHT_AND_FUNCTION_BY_ACTION: Final[Mapping[str, tuple[int, Callable[[Crowd], object]]]] = {
    "play": (480, lambda c: c.player.press_play(c.random_source)),
    "bill": (110, Crowd.insert_bill),
    "coin": (70, Crowd.insert_coin),
    "ticket in": (50, Crowd.insert_ticket),
    "cash out": (40, lambda c: c.player.press("cash_out")),
    "button": (30, Crowd.press_button),
    "bet": (60, lambda c: c.player.choose_bet(c.random_source)),
    "denomination": (15, lambda c: c.player.choose_denomination(c.random_source)),
    "game": (25, lambda c: c.player.choose_game(c.random_source)),
    "language": (5, lambda c: c.player.press("language", c.random_source.choice(("en", "fr")))),
    "service": (5, lambda c: c.player.press("service")),
    "residual": (10, lambda c: c.player.press("residual")),
    "limit": (3, Crowd.set_limit),
    "transfer": (25, Crowd.order_transfer),
    "bad host line": (8, Crowd.disturb_host_line),
    "bad link": (8, Crowd.disturb_link),
    "key": (80, Crowd.turn_key),
    "menu": (16, Crowd.visit_service_menu),
    "door": (12, Crowd.open_door),
    "close doors": (70, Crowd.close_doors),
    "fault": (20, Crowd.inject_device_fault),
    "bad line": (10, Crowd.inject_line_fault),
    "repair": (50, Crowd.repair_devices),
    POWER_CUT_ACTION: (0, Crowd.cut_power),
    SHARED_ROUND_ACTION: (0, Crowd.gather),
    "clear memory": (0, Crowd.clear_memory),
    "update": (0, Crowd.install_update),
    "lose file": (0, Crowd.lose_cabinet_file),
}


#: Work on a machine that is off, done a few times in each world.
_MAINTENANCE_ACTIONS: Final = ("update", "update", "clear memory", "lose file")
_MAINTENANCE_COUNT_RANGE: Final = (1, 5)
_ACTIONS_PER_MAINTENANCE: Final = 60


def create_script(
    random_source: random.Random, actions: int, cuts: int, *, gathers: bool = False
) -> list[Action]:
    """Return a script of ``actions`` actions, ``cuts`` of them power cuts; some kinds of action may be left out.

    ``gathers``: the players gather at one table for some of the games.
    """
    omitted = {
        name for name in ("door", "fault", "bad line", "menu", "limit") if random_source.random() < 0.25
    }
    weights = {
        name: weight for name, (weight, _) in _WEIGHT_AND_FUNCTION_BY_ACTION.items() if name not in omitted
    }
    names = random_source.choices(list(weights), list(weights.values()), k=actions)
    for index in random_source.sample(range(actions), min(cuts, actions)):
        names[index] = POWER_CUT_ACTION
    script_actions = [Action(name, random_source.randrange(2**32)) for name in names]
    times = min(random_source.randint(*_MAINTENANCE_COUNT_RANGE), actions // _ACTIONS_PER_MAINTENANCE)
    for index in random_source.sample(range(actions), times):
        script_actions[index] = Action(random_source.choice(_MAINTENANCE_ACTIONS), script_actions[index].seed)
    if gathers:
        script_actions = [
            action._replace(name=SHARED_ROUND_ACTION)
            if action.name == "play" and random_source.random() < _ROUND_PROBABILITY
            else action
            for action in script_actions
        ]
    return script_actions
