"""The power is cut at every storage operation of a raise, a push and bets that stand: each stake counts once.

The machine is the real one on a simulated disk, with two games of a test. Whatever was not durable when the
power went is done again by the same hands, from where the memory says it is; what was drawn and durable is
never drawn again.
"""

import copy
import random
from itertools import count

import pytest
from powercut_disk import Disk, PowerCut
from powercut_session import leave
from powercut_storage import SimStorage
from rigs.table_games import definition, offer

from egm.kernel.events import EventType, State
from egm.kernel.messages import Decision
from egm.records.tables import standing_tables
from egm.testing.machine import MachineRig, ScriptedStep
from tools.audit.games import Shelf
from tools.audit.verify import Auditor

#: The rounds in order: the game, the bets, and what is thrown; the duel's two cards are the same.
ROUNDS = (
    ("duel", {"ante": 10}, 3),
    ("point", {"line": 10, "place": 4}, 2),
    ("point", {"place": -4}, 4),
    ("point", {}, 2),
    ("point", {"place": 4}, 1),
)


class Fate:
    """The numbers of each round: those of a round begun anew are the same."""

    room = None

    def step(self):
        """One step of the round that is played now."""
        begun = sum(1 for _ in self.room.journal.entries("game.end"))
        return ScriptedStep([ROUNDS[begun][2]])


class Life:
    """One life of the machine, from power up to a cut or the end."""

    def __init__(self, folder, disk, games):
        self.folder, self.disk, self.games = folder, disk, games
        self.storage = SimStorage(disk)
        self.room = None

    def run(self, *, until=None):
        """Go on to the end, or until the credits are there; say whether the power stayed on."""
        fate = Fate()
        try:
            self.room = fate.room = MachineRig(
                self.folder, games=self.games, chance=fate, storage=self.storage
            )
            self.room.boot()
            while not self._done(until):
                self._step()
            if until is None:
                judge(self.room, self.folder.parent / "games")
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
        return self._ended() == len(ROUNDS) and self.room.state is State.IDLE and not self.room.credit_cents

    def _ended(self):
        return sum(1 for _ in self.room.journal.entries("game.end"))

    def _step(self):
        room, ended = self.room, self._ended()
        match room.state:
            case State.IDLE if ended == 0 and room.credit_cents < 500:
                room.insert(500)
            case State.IDLE if ended < len(ROUNDS):
                game, bets, _ = ROUNDS[ended]
                room.engine.handle(EventType.GAME, value=game)
                cost = sum(credits_ for credits_ in bets.values() if credits_ > 0)
                room.engine.handle(EventType.BET, value=cost, options={"bets": bets})
                room.play()
                assert room.state is State.PLAYING, room.notice
            case State.IDLE:
                room.engine.handle(EventType.CASH_OUT)
            case State.PLAYING if isinstance(room.hands.told[-1], Decision):
                room.engine.handle(EventType.CHOOSE, value="raise")
            case State.PLAYING:
                room.shown()
            case State.HANDPAY:
                room.engine.handle(EventType.KEY_TURNED, key="attendant")
            case stuck:
                raise AssertionError(f"the machine is stuck in {stuck}")


def judge(room, games):
    """Every stake once, every stake back once, one win; and an audit that finds nothing wrong."""
    meters = room.journal.meters().values
    assert (meters["coin_in"], meters["coin_out"], meters["push"]) == (190, 240, 140)
    assert (meters["games_played"], meters["games_pushed"]) == (5, 2)
    assert room.journal.balance_cents("out:handpay_cancelled_credit") == 550
    assert (room.credit_cents, standing_tables(room.machine), room.journal.pending()) == (0, (), [])
    numbers = [
        draw for kind in ("game.start", "game.choice") for each in room.records(kind) for draw in _drawn(each)
    ]
    assert sorted(value for _, value, _ in numbers) == sorted([3, 3, 2, 4, 2, 1])
    assert Auditor(Shelf([games])).run(room.journal.bodies()).findings == []


def _drawn(record):
    return record["draws"] if "draws" in record else record["steps"][0]["draws"]


def _cut_at(folder, ready, games, at):
    """Cut at one operation and go on; whether there was one."""
    disk = copy.deepcopy(ready)
    disk.operations, disk.cut_at = 0, at
    if Life(folder, disk, games).run():
        return False
    found = disk.reboot(random.Random(at), (0.0, 0.5, 1.0)[at % 3])
    assert Life(folder, found, games).run()
    return True


def _cuts(tmp_path, monkeypatch, every):
    """Cut at each ``every``-th operation of the whole evening; how many there were."""
    offer(monkeypatch)
    games = tuple(definition(tmp_path / "games", name) for name in ("duel", "point"))
    state, ready = tmp_path / "state", Disk()
    assert Life(state, ready, games).run(until=500)
    return next(cuts for cuts in count() if not _cut_at(state, ready, games, 1 + cuts * every))


@pytest.mark.requirement("A-08", "D-15", "B-08")
def test_a_cut_in_raise_push_or_standing_bet_counts_each_stake_once(tmp_path, monkeypatch, capsys):
    cuts = _cuts(tmp_path, monkeypatch, every=5)
    assert cuts > 20
    with capsys.disabled():
        print(f" [{cuts} cuts]", end="")


@pytest.mark.slow
@pytest.mark.requirement("A-08", "D-15", "B-08")
def test_a_cut_at_every_operation_of_raise_push_and_standing_bet_counts_each_stake_once(
    tmp_path, monkeypatch, capsys
):
    cuts = _cuts(tmp_path, monkeypatch, every=1)
    assert cuts > 100
    with capsys.disabled():
        print(f" [{cuts} cuts]", end="")
