"""The power is cut at every storage operation of a round that four seats play: each has his stake or his game.

A seat whose game had not begun when the power went has wagered nothing. One whose game had begun has it ended
with the round's own numbers. Nobody's credits are touched by another's.
"""

import copy
import random
from itertools import count

import pytest
from powercut_disk import Disk, PowerCut
from powercut_session import leave
from powercut_storage import SimStorage

from egm.kernel.events import EventType, State
from egm.kernel.positions import Position
from egm.seats.table import SharedTable
from egm.testing.machine import MachineRig
from tools.audit.games import Shelf
from tools.audit.verify import Auditor

GAME, CREDIT_CENTS, STAKE_CENTS = "quebec-roulette-french", 2000, 500
SPOTS = ("red", "black", "dozen-1", "straight-17")
SEATS = len(SPOTS)


class Life:
    """One life of the machine, from power up to a cut or the end."""

    def __init__(self, folder, disk):
        self.folder, self.storage = folder, SimStorage(disk)
        self.rooms = []

    def run(self, *steps):
        """Do the steps one after another; say whether the power stayed on."""
        try:
            self._open()
            for step in steps:
                step()
            self.rooms[0].close()
        except PowerCut:
            leave(self.storage, self.folder, self.folder / "second")
            if self.rooms:
                self.rooms[0].lose()
            return False
        return True

    def _open(self):
        self.table = SharedTable()
        for number in range(1, SEATS + 1):
            beside = self.rooms[0] if self.rooms else None
            storage = None if beside else self.storage
            room = MachineRig(
                self.folder, games=(GAME,), position=Position(number, SEATS), beside=beside, storage=storage
            )
            self.rooms.append(room)
            room.machine.install(self.table)
            self.table.sit(
                room.machine, lambda event, room=room: room.engine.handle(event.type, **event.data)
            )
            room.boot()

    def credits(self):
        for room in self.rooms:
            room.insert(CREDIT_CENTS)

    def play(self):
        """Everybody bets, and no more bets."""
        for room, spot in zip(self.rooms, SPOTS, strict=True):
            room.engine.handle(EventType.BET, value=5, options={"bets": {spot: 5}})
            room.engine.handle(EventType.PLAY)
            assert room.state is State.BETTING
        self.table.close(self.rooms[0].machine.games[GAME].digest)

    def end(self):
        """What was begun is shown and ended."""
        for room in self.rooms:
            if room.state is State.PLAYING:
                room.shown()
            assert room.state is State.IDLE

    def judge(self):
        """Each seat has his credits less a stake, with the win of his own game; or no game, and his credits."""
        journal = self.rooms[0].journal
        self.begun = 0
        for number, room in enumerate(self.rooms, 1):
            own = journal.meters().where(position=number).values
            assert own["games_played"] in {0, 1}
            self.begun += own["games_played"]
            assert own["coin_in"] == STAKE_CENTS * own["games_played"]
            assert room.credit_cents == CREDIT_CENTS - own["coin_in"] + own["coin_out"]
        draws = {str(e.transaction.record["steps"]) for e in journal.entries("game.start")}
        assert len(draws) <= 1
        assert journal.pending() == []
        assert Auditor(Shelf()).run(journal.bodies()).findings == []


@pytest.mark.requirement("A-08", "O-01", "F-06")
@pytest.mark.parametrize(
    "step", [7, pytest.param(1, marks=pytest.mark.slow)], ids=["every seventh", "every one"]
)
def test_a_cut_at_any_operation_leaves_each_seat_his_stake_or_his_game(tmp_path, capsys, step):
    ready = Disk()
    first = Life(tmp_path, ready)
    assert first.run(first.credits)
    begun = set()
    for cuts in count(step=step):
        disk = copy.deepcopy(ready)
        disk.operations, disk.cut_at = 0, cuts + 1
        life = Life(tmp_path, disk)
        if life.run(life.play, life.end, life.judge):
            break
        again = Life(tmp_path, disk.reboot(random.Random(cuts), (0.0, 0.5, 1.0)[cuts % 3]))
        assert again.run(again.end, again.judge)
        begun.add(again.begun)
    assert begun == set(range(SEATS + 1))
    with capsys.disabled():
        print(f" [{cuts} cuts]", end="")
