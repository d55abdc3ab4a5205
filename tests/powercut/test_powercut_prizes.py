"""The power is cut at every storage operation of a prize in kind: it is never lost, doubled, or given and paid.

The machine is the real one on a simulated disk. From where its memory says it is, the same hands go on after
the cut: the game is shown, the prize exchanged where the player takes its value, the attendant's key turned.
"""

import copy
import random
from itertools import count
from pathlib import Path

import pytest
from powercut_disk import Disk, PowerCut
from powercut_session import leave
from powercut_storage import SimStorage

from egm.kernel.events import EventType, State
from egm.records.keys import MoneyKey
from egm.testing.machine import MachineRig, ScriptedChance
from tools.audit.games import Shelf
from tools.audit.verify import Auditor

GAME = Path(__file__).parents[1] / "vectors" / "fair.toml"
BOTH_PRIZES, THEIR_VALUE = (0, 0), 29000


class Life:
    """One life of the machine, from power up to a cut or the end."""

    def __init__(self, folder, disk, *, cash):
        self.folder, self.disk, self.cash = folder, disk, cash
        self.storage = SimStorage(disk)
        self.room = None

    def run(self, until=None):
        """Go on to the end, or until the credits are there; say whether the power stayed on."""
        try:
            self.room = MachineRig(
                self.folder, games=(str(GAME),), chance=ScriptedChance(*BOTH_PRIZES), storage=self.storage
            )
            self.room.boot()
            while not self._done(until):
                self._step()
            if until is None:
                judge(self.room, cash=self.cash)
            self.room.close()
        except PowerCut:
            self._leave()
            return False
        return True

    def _done(self, until):
        room = self.room
        over = any(True for _ in room.journal.entries("game.end"))
        return room.credit_cents == until if until else over and room.state is State.IDLE

    def _step(self):
        room = self.room
        owed = room.machine.memory.get(MoneyKey.HANDPAY)
        match room.state:
            case State.IDLE if room.credit_cents < 10:
                room.insert(500)
            case State.IDLE:
                room.play()
            case State.PLAYING:
                room.shown()
            case State.HANDPAY if self.cash and owed.get("prizes"):
                room.engine.handle(EventType.EXCHANGE_PRIZE, form="prize_cash", person="2", persons=("2",))
            case State.HANDPAY:
                room.engine.handle(EventType.KEY_TURNED, key="attendant")
            case stuck:
                raise AssertionError(f"the machine is stuck in {stuck}")

    def _leave(self):
        """The process is gone. Tickets and identities stand on another disk, which keeps its power."""
        leave(self.storage, self.folder, self.folder / "second")
        if self.room is not None:
            self.room.lose()


def judge(room, *, cash):
    """One game, its prizes once or their value once, and an audit that finds nothing wrong."""
    meters = room.journal.meters().values
    given, paid_cents = meters["att_merchandise.value"], meters["att_jackpot"]
    assert (given, paid_cents) == ((0, THEIR_VALUE) if cash else (THEIR_VALUE, 0))
    assert (meters["games_played"], room.credit_cents, room.journal.pending()) == (1, 490, [])
    assert Auditor(Shelf([GAME.parent])).run(room.journal.bodies()).findings == []


@pytest.mark.requirement("A-08", "D-15", "F-06")
@pytest.mark.parametrize("cash", [False, True], ids=["handed over", "its value"])
def test_a_cut_at_every_operation_leaves_the_prize_or_its_value_once(tmp_path, cash, capsys):
    ready = Disk()
    assert Life(tmp_path, ready, cash=cash).run(until=500)
    for cuts in count():
        disk = copy.deepcopy(ready)
        disk.operations, disk.cut_at = 0, cuts + 1
        if Life(tmp_path, disk, cash=cash).run():
            break
        found = disk.reboot(random.Random(cuts), (0.0, 0.5, 1.0)[cuts % 3])
        assert Life(tmp_path, found, cash=cash).run()
    assert cuts > 20
    with capsys.disabled():
        print(f" [{cuts} cuts]", end="")
