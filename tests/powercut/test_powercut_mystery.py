"""The power is cut at every storage operation of a mystery prize a controller found won: it is paid once.

The machine is the real one on a simulated disk. Beyond the disk is what a controller says, again and again, as
long as it has not received the payment: that the second contribution has won.
"""

from types import SimpleNamespace

import pytest
from powercut_life import Life, cut_everywhere, every_nth
from rigs.three_levels import (
    GAME,
    LINKED_MYSTERY,
    NO_LUCK,
    STAKE,
    B,
    FixedDisplays,
    define_mystery_level,
    make_levels_machine,
)

from egm.kernel.events import EventType, State
from egm.progressive import held_prizes
from egm.progressive.display import LevelAmountSources
from egm.progressive.keys import ProgressiveKey
from egm.progressive.messages import MysteryPrizeMessage
from egm.progressive.trigger import MysteryTrigger

GAMES, PAID, WINS = 2, 501, 15


def secret():
    fixed = SimpleNamespace(below=lambda bound, _: 1 if bound < 1000 else 7)
    terms = define_mystery_level().terms
    return MysteryTrigger.draw("LUCKY", 1, terms.base_cents, terms, STAKE, fixed)


WON = MysteryPrizeMessage(claim="mystery.LUCKY.1", sequence=2, amount_cents=PAID, order=1, trigger=secret())


class LevelAmountSource(FixedDisplays):
    """A link that stores the messages it receives."""

    def __init__(self):
        super().__init__(500)
        self.known = 0

    def find_last_decided_number(self, _):
        return self.known


class Mystery(Life):
    """Two games. ``late``: the attendant lets the second end before the controller's reply."""

    shelf = (GAME.parent,)
    counted_when_up = True

    def __init__(self, folder, disk, *, late):
        super().__init__(folder, disk)
        self.late = late
        self.face = LevelAmountSource()

    def machine(self):
        numbers_left = (B, NO_LUCK) * GAMES
        rig = make_levels_machine(self.folder, *numbers_left, levels=LINKED_MYSTERY, storage=self.storage)
        rig.machine.component(LevelAmountSources).link = self.face
        return rig

    def begin(self):
        held_prizes.record_commitment_or_get_error(self.room.machine, "LUCKY", 1, WON.trigger.commitment)

    def ready(self):
        return self.ended() == 1 and self.room.state is State.IDLE

    def over(self):
        paid = held_prizes.is_prize_recorded(self.room.machine, WON)
        return self.ended() == GAMES and paid and self.room.state is State.IDLE

    def act(self):
        rig = self.room
        match rig.state:
            case State.IDLE if rig.credit_cents < STAKE:
                rig.insert(500)
            case State.IDLE if self.ended() == WON.contribution_number:
                self.handle_win()
            case State.IDLE:
                rig.play()
            case State.PLAYING:
                if self.count_contributions() < 2 or not self.late:
                    self.handle_win()
                rig.report_shown()
            case State.AWAITING_AWARD if self.late:
                rig.engine.handle(EventType.KEY_TURNED, key="attendant")
            case State.AWAITING_AWARD:
                self.handle_win()
            case _:
                super().act()

    def count_contributions(self):
        mark = self.room.journal.state(f"{ProgressiveKey.LINK_PROGRESS}LUCKY")
        return 0 if mark is None else mark["sequence"]

    def handle_win(self):
        """Count the contributions and report the win until the machine has committed it."""
        contribution_count = self.count_contributions()
        if contribution_count >= WON.contribution_number:
            self.room.engine.handle(EventType.MYSTERY_PRIZE_WON, level="LUCKY", won=WON)
        self.face.known = contribution_count
        self.room.engine.handle(EventType.PROGRESSIVE_AMOUNTS_CHANGED)

    def judge(self):
        """Check that there are two games, one prize paid once, and its claim stored for the commit."""
        rig, late = self.room, self.late
        meters = rig.journal.meters().values
        paid = (meters["mach_progressive"], meters["att_progressive"])
        assert paid == ((0, PAID) if late else (PAID, 0))
        assert meters["games_played"] == GAMES
        assert rig.credit_cents == 500 - 2 * STAKE + 2 * WINS + (0 if late else PAID)
        assert rig.journal.list_pending() == []
        (claim,) = rig.journal.states(ProgressiveKey.CLAIM).values()
        assert (claim["amount_cents"], claim["way"]) == (PAID, "hand" if late else "credit")
        assert len(rig.records("progressive.hit")) == 1


@pytest.mark.requirement("A-08", "I-09")
@pytest.mark.parametrize("late", [False, True], ids=["with its game", "after its game"])
@every_nth(19)
def test_a_power_cut_pays_a_mystery_prize_once(tmp_path, late, capsys, every):
    assert cut_everywhere(lambda disk: Mystery(tmp_path, disk, late=late), capsys, every) > 20
