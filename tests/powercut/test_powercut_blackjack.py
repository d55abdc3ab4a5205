"""The power is cut at every storage operation of one round of blackjack, and of all that it stakes and wins.

A pair of red fours is insured, split into four hands, two of them doubled; its first four cards win a tenth of a
level; the dealer has a blackjack, which takes the first bet alone. One round, one settlement, right to the
cent, whatever was not durable when the power went; and recalled question by question as it was.
"""

import copy
import random
from itertools import count
from pathlib import Path

import pytest
from powercut_disk import Disk, PowerCut
from powercut_session import leave
from powercut_storage import SimStorage

from egm.config.levels import LevelSlot
from egm.kernel.events import EventType, State
from egm.kernel.messages import Decision
from egm.people import Role
from egm.progressive.level import Level
from egm.records.keys import ProgressiveKey
from egm.testing.machine import MachineRig, ScriptedStep
from egm.testing.service_menu import Menu
from paytables.cards import Shoe, cards_of
from paytables.definition import LIBRARY
from tools.audit.games import Shelf
from tools.audit.verify import Auditor

GAME, CREDIT = "fours", 100_00
BETS = {"main": 10, "twelve-sixteen": 5, "progressive": 1}
#: The cards that each answer brings, the deal first.
STEPS = (
    ("", "4h Ah 4d"),
    ("insurance", ""),
    ("split", "4h"),
    ("split", "4d"),
    ("split", "7c"),
    ("double", "Th 6c"),
    ("double", "9s Ts"),
    ("stand", "5c"),
    ("hit", "8c"),
    ("stand", "Kd"),
)
HANDS = {
    "bank": ["Ah", "Kd"],
    "box-1": ["4h", "7c", "Th"],
    "box-1-4": ["4d", "6c", "9s"],
    "box-1-3": ["4h", "Ts"],
    "box-1-2": ["4d", "5c", "8c"],
}
#: Main, 12 to 16, level, insurance, three splits, two doubles; back: insurance 2 to 1, and all that was added.
STAKED, BACK, SHARE = 10 + 5 + 1 + 5 + 30 + 20, 15 + 50, 1000_05
SIDE = """
[[side]]
id = "progressive"
name = { en = "Progressive", fr = "Mise progressive" }
limits = { least = 1, most = 1, worth_cents = 100 }
[[side.row]]
id = "low-straight-flush"
name = { en = "Ace to five of one suit", fr = "As à cinq de même couleur" }
cards = 5
ranks = ["A2345"]
suits = "same"
pays = "100%"
[[side.row]]
id = "red-fours"
name = { en = "Four red fours", fr = "Quatre quatre rouges" }
cards = 4
ranks = ["4444"]
suits = "red"
pays = "10%"
[[progressive]]
id = "jackpot"
name = { en = "Jackpot", fr = "Lot progressif" }
spot = "progressive"
reset_credits = 10000
increment = "1/2"
"""


def numbers():
    """What is drawn of a full shoe at each step, so that these cards come."""
    shoe, found = Shoe.of(8), []
    for _, cards in STEPS:
        found.append([])
        for card in cards_of(cards):
            found[-1].append(sum(shoe.counts[:card]))
            shoe.take(card)
    return found


def definition(folder):
    """The table with every option of the by-law, and a level."""
    text = (LIBRARY / "tables" / "quebec-blackjack-options.toml").read_text()
    text = text.replace('id = "quebec-blackjack-options"', f'id = "{GAME}"')
    folder.mkdir(exist_ok=True)
    place = folder / f"{GAME}.toml"
    place.write_text(text.replace("\n[proved", f"{SIDE}\n[proved", 1))
    return place


class Fate:
    """The cards of each step: those of a step begun anew are the same."""

    room = None

    def step(self):
        """One step of the round, by the answers that are in the memory."""
        answers = sum(1 for _ in self.room.journal.entries("game.choice"))
        return ScriptedStep(numbers()[answers + 1 if self.room.state is State.PLAYING else 0])


class Life:
    """One life of the machine, from power up to a cut or the end."""

    def __init__(self, folder, disk):
        self.folder, self.disk = folder, disk
        self.storage = SimStorage(disk)
        self.room = None

    def run(self, *, until=None):
        """Go on to the end, or until the credits are there; say whether the power stayed on."""
        game = definition(self.folder.parent / "games")
        fate = Fate()
        try:
            self.room = fate.room = MachineRig(
                self.folder,
                games=(str(game),),
                levels=(LevelSlot(game=GAME, level="jackpot"),),
                denominations_cents=(100,),
                chance=fate,
                storage=self.storage,
            )
            self.room.boot()
            assert self.room.refused == ()
            while not self._done(until):
                self._step()
            if until is None:
                judge(self.room, game.parent)
            self.room.close()
        except PowerCut:
            leave(self.storage, self.folder, self.folder / "second")
            if self.room is not None:
                self.room.lose()
            return False
        return True

    def _done(self, until):
        if until:
            return self.room.credit_cents == until
        return self._ended() and self.room.state is State.IDLE

    def _ended(self):
        return any(True for _ in self.room.journal.entries("game.end"))

    def _step(self):
        room = self.room
        match room.state:
            case State.IDLE if room.credit_cents < CREDIT:
                room.insert(CREDIT)
            case State.IDLE:
                room.engine.handle(EventType.BET, value=sum(BETS.values()), options={"bets": BETS})
                room.play()
                assert room.state is State.PLAYING, room.notice
            case State.PLAYING if isinstance(room.hands.told[-1], Decision):
                answers = sum(1 for _ in room.journal.entries("game.choice"))
                room.engine.handle(EventType.CHOOSE, value=STEPS[answers + 1][0])
            case State.PLAYING:
                room.shown()
            case stuck:
                raise AssertionError(f"the machine is stuck in {stuck}")


def judge(room, games):
    """Every stake once, every stake back once, the share once; the round as it was, and a clean audit."""
    meters = room.journal.meters().values
    assert (meters["coin_in"], meters["games_played"]) == (STAKED * 100, 1)
    assert room.credit_cents == CREDIT - STAKED * 100 + BACK * 100 + SHARE
    level = Level.from_json(room.journal.state(f"{ProgressiveKey.LEVEL}{GAME}.jackpot.100"))
    assert (level.contributed, level.paid, level.hits) == (50, SHARE, 1)
    room.journal.self_audit()
    assert Auditor(Shelf([games])).run(room.journal.bodies()).findings == []
    recalled(room)


def recalled(room):
    """The staff see each question with its cards and its answer, and the end."""
    menu = Menu(room).sign_in(Role.ATTENDANT).touch("recall")
    menu.touch(menu.page.tables[0].rows[0].action).touch("show")
    seen = []
    for number in range(len(STEPS)):
        replay = menu.page.replay
        seen.append(sum(len(hand["cards"]) for hand in replay.display["hands"]))
        assert replay.step == number + 1
        assert replay.steps == len(STEPS)
        assert replay.answer == (STEPS[number + 1][0] if number + 1 < len(STEPS) else None)
        if number + 1 < len(STEPS):
            menu.touch("later")
    assert seen == [3, 3, 4, 5, 6, 8, 10, 11, 12, 13]
    assert {each["id"]: each["cards"] for each in replay.display["hands"]} == HANDS


def _cut_at(folder, ready, at):
    """Cut at one operation and go on; whether there was one."""
    disk = copy.deepcopy(ready)
    disk.operations, disk.cut_at = 0, at
    if Life(folder, disk).run():
        return False
    found = disk.reboot(random.Random(at), (0.0, 0.5, 1.0)[at % 3])
    assert Life(folder, found).run()
    return True


def _cuts(tmp_path: Path, every: int) -> int:
    """Cut at each ``every``-th operation of the round; how many there were."""
    state, ready = tmp_path / "state", Disk()
    assert Life(state, ready).run(until=CREDIT)
    return next(cuts for cuts in count() if not _cut_at(state, ready, 1 + cuts * every))


@pytest.mark.requirement("A-08", "D-15", "I-09", "E-03")
def test_a_cut_in_four_hands_doubled_and_insured_settles_them_once(tmp_path, capsys):
    cuts = _cuts(tmp_path, every=37)
    assert cuts > 2
    with capsys.disabled():
        print(f" [{cuts} cuts]", end="")


@pytest.mark.slow
@pytest.mark.requirement("A-08", "D-15", "I-09", "E-03")
def test_a_cut_at_every_operation_of_four_hands_doubled_and_insured_settles_them_once(tmp_path, capsys):
    cuts = _cuts(tmp_path, every=1)
    assert cuts > 60
    with capsys.disabled():
        print(f" [{cuts} cuts]", end="")
