"""The power is cut at every storage operation of a side bet that wins a share of its level, then the whole.

The machine is the real one on a simulated disk, playing Caribbean Stud for its jackpot. Whatever was not
durable when the power went is done again by the same hands; no share is fed twice, and nothing is won twice.
"""

import copy
import random
from itertools import count

import pytest
from powercut_disk import Disk, PowerCut
from powercut_session import leave
from powercut_storage import SimStorage
from rigs.jackpot import BANK, QUADS, ROYAL, STRAIGHT_FLUSH, bet, level, numbers, room_of

from egm.kernel.events import EventType, State
from egm.kernel.messages import Decision
from egm.records.keys import MoneyKey
from egm.testing.machine import ScriptedStep
from tools.audit.games import Shelf
from tools.audit.verify import Auditor

HANDS = (STRAIGHT_FLUSH, QUADS, ROYAL)
CREDIT = 50_00
#: Of 10,000.50 a tenth, and the base is put up again; two hands later all of it.
SHARE, WHOLE = 1000_05, 10_001_00


class Fate:
    """The cards of each round: those of a round begun anew are the same."""

    room = None

    def step(self):
        """One step of the round that is played now: six cards, then the bank's other four."""
        begun = sum(1 for _ in self.room.journal.entries("game.end"))
        asked = self.room.state is State.PLAYING
        return ScriptedStep(numbers(HANDS[begun], BANK)[6 if asked else 0 :])


class Life:
    """One life of the machine, from power up to a cut or the end."""

    def __init__(self, folder, disk):
        self.folder, self.disk = folder, disk
        self.storage = SimStorage(disk)
        self.room = None

    def run(self, *, until=None):
        """Go on to the end, or until the credits are there; say whether the power stayed on."""
        fate = Fate()
        try:
            self.room = fate.room = room_of(self.folder, storage=self.storage)
            self.room.machine.chance = fate
            self.room.boot()
            while not self._done(until):
                self._step()
            if until is None:
                judge(self.room)
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
        return self._ended() == len(HANDS)

    def _ended(self):
        return sum(1 for _ in self.room.journal.entries("game.end"))

    def _step(self):
        room = self.room
        match room.state:
            case State.IDLE if self._ended() == 0 and room.credit_cents < CREDIT:
                room.insert(CREDIT)
            case State.IDLE:
                bet(room, ante=1, progressive=1)
                room.play()
                assert room.state is State.PLAYING, room.notice
            case State.PLAYING if isinstance(room.hands.told[-1], Decision):
                room.engine.handle(EventType.CHOOSE, value="raise")
            case State.PLAYING:
                room.shown()
            case stuck:
                raise AssertionError(f"the machine is stuck in {stuck}")


def judge(room):
    """Three stakes fed once each, a share and the whole won once each, and an audit that finds nothing."""
    assert room.state is State.HANDPAY  # the whole is paid by hand
    found = level(room)
    assert (found.contributed, found.paid, found.hits) == (150, SHARE + WHOLE, 2)
    assert (found.seeded, found.current) == (10_000_00 + 999_55 + 10_000_00, 10_000_00)
    meters = room.journal.meters().values
    assert (meters["coin_in"], meters["games_played"]) == (3 * 400, 3)
    owed = room.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"]
    assert room.credit_cents + owed == CREDIT + 500_00 + SHARE + WHOLE  # each ante pays for the side bet
    assert Auditor(Shelf()).run(room.journal.bodies()).findings == []


def _cut_at(folder, ready, at):
    """Cut at one operation and go on; whether there was one."""
    disk = copy.deepcopy(ready)
    disk.operations, disk.cut_at = 0, at
    if Life(folder, disk).run():
        return False
    found = disk.reboot(random.Random(at), (0.0, 0.5, 1.0)[at % 3])
    assert Life(folder, found).run()
    return True


def _cuts(tmp_path, every):
    """Cut at each ``every``-th operation of the three hands; how many there were."""
    state, ready = tmp_path / "state", Disk()
    assert Life(state, ready).run(until=CREDIT)
    return next(cuts for cuts in count() if not _cut_at(state, ready, 1 + cuts * every))


@pytest.mark.requirement("A-08", "I-09", "I-14")
def test_a_cut_in_a_side_bet_or_its_hit_feeds_and_pays_the_level_once(tmp_path, capsys):
    cuts = _cuts(tmp_path, every=53)
    assert cuts > 3
    with capsys.disabled():
        print(f" [{cuts} cuts]", end="")


@pytest.mark.slow
@pytest.mark.requirement("A-08", "I-09", "I-14")
def test_a_cut_at_every_operation_of_a_side_bet_or_its_hit_feeds_and_pays_the_level_once(tmp_path, capsys):
    cuts = _cuts(tmp_path, every=1)
    assert cuts > 60
    with capsys.disabled():
        print(f" [{cuts} cuts]", end="")
