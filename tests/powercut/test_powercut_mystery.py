"""The power is cut at every storage operation of a mystery prize a controller found won: it is paid once.

The machine is the real one on a simulated disk. Beyond the disk is what a controller says, again and again, as
long as it has not heard of the payment: that the second contribution has won.
"""

import copy
import random
from itertools import count
from types import SimpleNamespace

import pytest
from powercut_disk import Disk, PowerCut
from powercut_session import leave
from powercut_storage import SimStorage
from rigs.three_levels import GAME, LINKED_MYSTERY, NO_LUCK, STAKE, B, FixedFace, lucky, room_of

from egm.kernel.events import EventType, State
from egm.progressive import unproved
from egm.progressive.display import LevelDisplays
from egm.progressive.messages import Won
from egm.progressive.trigger import Trigger
from egm.records.keys import ProgressiveKey
from egm.testing.machine import MachineRig
from tools.audit.games import Shelf
from tools.audit.verify import Auditor

PAID, WINS = 501, 15


def secret():
    fixed = SimpleNamespace(below=lambda bound, _: 1 if bound < 1000 else 7)
    terms = lucky().terms
    return Trigger.draw("LUCKY", 1, terms.base_cents, terms, STAKE, fixed)


WON = Won(claim="mystery.LUCKY.1", sequence=2, amount_cents=PAID, order=1, trigger=secret())


class LevelDisplay(FixedFace):
    """A link that knows what it is told."""

    def __init__(self):
        super().__init__(500)
        self.known = 0

    def decided(self, _):
        return self.known


class Life:
    """One life of the machine. ``late``: the attendant lets the game end before the controller is heard.

    ``cut_at``: the power goes at this operation after it has come up (cuts before that are tried elsewhere).
    """

    def __init__(self, folder, disk, *, late, cut_at=None):
        self.folder, self.disk, self.late, self.cut_at = folder, disk, late, cut_at
        self.storage = SimStorage(disk)
        self.room: MachineRig | None = None
        self.face = LevelDisplay()

    def run(self, games=2):
        """Go on until so many games are over, and all that was won is paid; say whether the power stayed on."""
        try:
            room = self.room = room_of(
                self.folder, *(B, NO_LUCK) * games, levels=LINKED_MYSTERY, storage=self.storage
            )
            room.machine.state(LevelDisplays).link = self.face
            room.boot()
            self.disk.operations, self.disk.cut_at = 0, self.cut_at
            unproved.note_seal(room.machine, "LUCKY", 1, WON.trigger.commitment)
            while not self._done(games):
                self._step()
            if games == 2:
                judge(room, late=self.late)
            room.close()
        except PowerCut:
            leave(self.storage, self.folder, self.folder / "second")
            if self.room is not None:
                self.room.lose()
            return False
        return True

    def _done(self, games):
        room = self.room
        paid = games < WON.sequence or unproved.is_recorded(room.machine, WON.claim)
        return self._games() == games and paid and room.state is State.IDLE

    def _games(self):
        return sum(1 for _ in self.room.journal.entries("game.end"))

    def _made(self):
        mark = self.room.journal.state(f"{ProgressiveKey.LINK}LUCKY")
        return 0 if mark is None else mark["sequence"]

    def _step(self):
        room = self.room
        match room.state:
            case State.IDLE if room.credit_cents < STAKE:
                room.insert(500)
            case State.IDLE if self._games() == WON.sequence:
                self._hear()
            case State.IDLE:
                room.play()
            case State.PLAYING:
                if self._made() < 2 or not self.late:
                    self._hear()
                room.shown()
            case State.AWAITING_AWARD if self.late:
                room.engine.handle(EventType.KEY_TURNED, key="attendant")
            case State.AWAITING_AWARD:
                self._hear()
            case State.HANDPAY:
                room.engine.handle(EventType.KEY_TURNED, key="attendant")
            case stuck:
                raise AssertionError(f"the machine is stuck in {stuck}")

    def _hear(self):
        """The controller counts what was made, and says what it has won as long as it is not committed."""
        made = self._made()
        if made >= WON.sequence:
            self.room.engine.handle(EventType.MYSTERY_WON, level="LUCKY", won=WON)
        self.face.known = made
        self.room.engine.handle(EventType.LEVELS_MOVED)


def judge(room, *, late):
    """Two games, one prize paid once, its claim kept for the commit, and an audit that finds nothing wrong."""
    meters = room.journal.meters().values
    paid = (meters["mach_progressive"], meters["att_progressive"])
    assert paid == ((0, PAID) if late else (PAID, 0))
    assert meters["games_played"] == 2
    assert room.credit_cents == 500 - 2 * STAKE + 2 * WINS + (0 if late else PAID)
    assert room.journal.pending() == []
    (kept,) = room.journal.states(ProgressiveKey.CLAIM).values()
    assert (kept["amount_cents"], kept["way"]) == (PAID, "hand" if late else "credit")
    assert len(room.records("progressive.hit")) == 1
    assert Auditor(Shelf([GAME.parent])).run(room.journal.bodies()).findings == []


@pytest.mark.requirement("A-08", "I-09")
@pytest.mark.parametrize("late", [False, True], ids=["with its game", "after its game"])
def test_a_cut_at_every_operation_pays_the_prize_once(tmp_path, late, capsys):
    ready = Disk()
    assert Life(tmp_path, ready, late=late).run(games=1)
    for cuts in count():
        disk = copy.deepcopy(ready)
        if Life(tmp_path, disk, late=late, cut_at=cuts + 1).run():
            break
        found = disk.reboot(random.Random(cuts), (0.0, 0.5, 1.0)[cuts % 3])
        assert Life(tmp_path, found, late=late).run()
    assert cuts > 20
    with capsys.disabled():
        print(f" [{cuts} cuts]", end="")
