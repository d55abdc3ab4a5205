"""A whole machine on the simulated disk: it plays, its power is cut at an operation, it continues and is judged.

From where its memory says it is, the same hands go on after the cut. Tickets and identities stand on another
disk, which keeps its power.
"""

import copy
import random
import shutil
from functools import cache
from itertools import count

import pytest
from powercut_disk import Disk, PowerCut
from powercut_session import leave
from powercut_storage import SimStorage

from egm.kernel.events import EventType, State
from egm.kernel.messages import DecisionRequest
from egm.kernel.positions import Position
from egm.seats.table import SharedTables
from egm.testing.machine import ScriptedStep
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

#: The chance of each write that was not synced to have reached the disk, from cut to cut in turn.
SURVIVAL = (0.0, 0.5, 1.0)
#: The definitions an audit plays again by, read once for the hundreds of lives of a test.
shelf_of = cache(GameFiles)


class Life:
    """One run of the machine, from power up to a cut or the end; a subclass defines what is played."""

    #: Where the definitions of its games lie, besides the library.
    shelf = ()
    #: Whether operations count from where the machine is up (cuts before that are tried elsewhere).
    counted_when_up = False

    def __init__(self, folder, disk):
        self.folder, self.disk = folder, disk
        self.storage = SimStorage(disk)
        self.cut_at = disk.cut_at  # none: what this machine lives through is its last
        self.room = None

    # ------------------------------------------------------------------ what a test says
    def machine(self):
        """The machine on ``self.storage``, not booted."""
        raise NotImplementedError

    def boot(self):
        """Bring it up, to where operations are counted with ``counted_when_up``."""
        self.room.boot()

    def begin(self):
        """Do what each run does first."""

    def numbers(self):
        """Return the numbers drawn in the current step, also when it is repeated."""
        raise NotImplementedError

    def ready(self):
        """Return whether the run has reached the first operation that may be cut."""
        raise NotImplementedError

    def act(self):
        """Do what the machine waits for."""
        match self.room.state:
            case State.PLAYING if isinstance(self.room.hands.messages[-1], DecisionRequest):
                self.room.engine.handle(EventType.CHOOSE, value=self.answer())
            case State.PLAYING:
                self.room.report_shown()
            case State.HANDPAY:
                self.room.engine.handle(EventType.KEY_TURNED, key="attendant")
            case stuck:
                raise AssertionError(f"the machine is stuck in {stuck}")

    def answer(self):
        """Return the player's decision."""
        return "raise"

    def over(self):
        """Return whether everything has been played."""
        raise NotImplementedError

    def judge(self):
        """Assert the expected end state, besides an audit without findings."""
        raise NotImplementedError

    # ------------------------------------------------------------------ the machine's
    def step(self):
        """The chance of the next step, as a generator gives it."""
        return ScriptedStep(list(self.numbers()))

    def ended(self):
        """Return how many games have ended."""
        return sum(1 for _ in self.room.journal.entries("game.end"))

    def play(self, bets):
        """Stake credits on spots and start the round."""
        cost = sum(credits_ for credits_ in bets.values() if credits_ > 0)
        self.room.engine.handle(EventType.SELECT_BET, value=cost, options={"bets": bets})
        self.room.play()
        assert self.room.state is State.PLAYING, self.room.notice

    def run(self, *, prepare=False):
        """Run to the end and judge, or until ready; return whether the power stayed on."""
        try:
            if self.counted_when_up:
                self.disk.cut_at = None
            self.room = self.machine()
            self.boot()
            if self.counted_when_up:
                self.disk.operations, self.disk.cut_at = 0, self.cut_at
            self.begin()
            is_done = self.ready if prepare else self.over
            while not is_done():
                self.act()
            if not prepare:
                self.judge()
                self.room.journal.self_audit()
                assert (
                    Auditor(shelf_of(self.shelf)).audit_entries(self.room.journal.iter_bodies()).findings
                    == []
                )
            self.room.close()
        except PowerCut:
            leave(self.storage, self.folder, self.folder / "second")
            if self.room is not None:
                self.room.lose_power()
            return False
        return True


class LifeOfSeats(Life):
    """A run of several positions at one table; after a power cut the round is ended and none is started."""

    SEATS = 0
    CREDIT_CENTS = 0

    def __init__(self, folder, disk, started_counts):
        """``started_counts``: the numbers of seats that had started their game, over all cuts."""
        super().__init__(folder, disk)
        self.started_counts, self.rooms, self.table = started_counts, [], SharedTables()
        self.is_played = self.is_ended = False

    def rig(self, **options):
        """Open a position with ``options`` beside its number; a test says which games."""
        raise NotImplementedError

    def bet(self):
        """Place every position's bet and close betting."""
        raise NotImplementedError

    def end(self):
        """Play, show and end the started games."""
        raise NotImplementedError

    def machine(self):
        beside, position = self.room, Position(len(self.rooms) + 1, self.SEATS)
        room = self.rig(position=position, first_rig=beside, storage=None if beside else self.storage)
        self.rooms.append(room)
        room.machine.install(self.table)
        self.table.register_position(room.machine, room.engine.submit)
        return room

    def boot(self):
        super().boot()
        for _ in range(self.SEATS - 1):
            self.machine().boot()

    def ready(self):
        return self.rooms[-1].credit_cents == self.CREDIT_CENTS

    def over(self):
        return self.is_ended

    def act(self):
        if not self.rooms[-1].credit_cents:
            for room in self.rooms:
                room.insert(self.CREDIT_CENTS)
        elif self.cut_at is not None and not self.is_played:
            self.bet()
            self.table.close_betting(self.room.machine.games[self.room.machine.selection.game_id].digest)
            self.is_played = True
        else:
            self.end()
            self.is_ended = True

    def lay(self, room, bets):
        """Stake credits on spots at a position, and wait for the others."""
        room.engine.handle(EventType.SELECT_BET, value=sum(bets.values()), options={"bets": bets})
        room.engine.handle(EventType.PLAY)
        assert room.state is State.BETTING, room.notice

    def count_started_games(self):
        """Record after a cut how many seats had started a game; return whether each had."""
        meters = self.room.journal.meters()
        played = [meters.select(position=n).values["games_played"] for n in range(1, self.SEATS + 1)]
        assert set(played) <= {0, 1}
        if not self.is_played:
            self.started_counts.add(sum(played))
        return played


def every_nth(quick, slow=1):
    """Parametrize a test by ``every``, the operations from one cut to the next, in each tier."""
    tiers = [quick, pytest.param(slow, marks=pytest.mark.slow)]
    return pytest.mark.parametrize("every", tiers, ids=lambda every: f"every {every}")


def cuts(life, ready, every=1):
    """Cut ``life(disk)``, which returns whether the power stayed on, at each ``every``-th operation on ``ready``.

    Yields each operation with the disk as found after its cut, and ends with the first life that was not cut.
    """
    for operation_number in count(1, every):
        disk = copy.deepcopy(ready)
        disk.operations, disk.cut_at = 0, operation_number
        if life(disk):
            return
        yield operation_number, disk.reboot(random.Random(operation_number), SURVIVAL[operation_number % 3])


def cut_everywhere(life, capsys, every=1):
    """Cut runs created by ``life(disk)`` at each ``every``-th operation, and play each to its end.

    Returns the number of operations at which the power was cut, times ``every``.
    """
    ready = Disk()
    first = life(ready)
    assert first.run(prepare=True)
    beside = first.folder.with_name(f"{first.folder.name}-when-ready")
    shutil.copytree(first.folder, beside)

    def from_ready(disk):
        """A life from there, with the tickets and identities of then: those of another life saw a later journal."""
        shutil.rmtree(first.folder)
        shutil.copytree(beside, first.folder)
        return life(disk).run()

    cut_count = 0
    for _, rebooted_disk in cuts(from_ready, ready, every):
        assert life(rebooted_disk).run()
        cut_count += 1
    tell(capsys, cut_count)
    return cut_count * every


def tell(capsys, cut_count):
    """Print beside the test's name how often the power was cut."""
    with capsys.disabled():
        print(f" [{cut_count} cuts]", end="")
