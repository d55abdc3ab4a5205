"""The power is cut at every storage operation of a prize in kind: it is never lost, doubled, or given and paid.

The machine is the real one on a simulated disk. From where its memory says it is, the same hands go on after
the cut: the game is shown, the prize exchanged where the player takes its value, the attendant's key turned.
"""

from pathlib import Path

import pytest
from powercut_life import Life, cut_everywhere, every_nth

from egm.kernel.events import EventType, State
from egm.money.keys import MoneyKey
from egm.testing.machine import MachineRig, ScriptedGenerator

GAME = Path(__file__).parents[1] / "vectors" / "fair.toml"
BOTH_PRIZES, THEIR_VALUE = (0, 0), 29000


class Prizes(Life):
    """One game that wins both prizes. ``cash``: the player takes their value."""

    shelf = (GAME.parent,)

    def __init__(self, folder, disk, *, cash):
        super().__init__(folder, disk)
        self.cash = cash

    def machine(self):
        return MachineRig(
            self.folder, games=(str(GAME),), generator=ScriptedGenerator(*BOTH_PRIZES), storage=self.storage
        )

    def ready(self):
        return self.room.credit_cents == 500

    def over(self):
        return self.ended() > 0 and self.room.state is State.IDLE

    def act(self):
        rig = self.room
        owed = rig.machine.memory.get(MoneyKey.HANDPAY)
        match rig.state:
            case State.IDLE if rig.credit_cents < 10:
                rig.insert(500)
            case State.IDLE:
                rig.play()
            case State.HANDPAY if self.cash and owed.get("prizes"):
                rig.engine.handle(EventType.EXCHANGE_PRIZE, form="prize_cash", person="2", persons=("2",))
            case _:
                super().act()

    def judge(self):
        """Check that there is one game with its prizes or their value once."""
        meters = self.room.journal.meters().values
        given, paid_cents = meters["att_merchandise.value"], meters["att_jackpot"]
        assert (given, paid_cents) == ((0, THEIR_VALUE) if self.cash else (THEIR_VALUE, 0))
        rig = self.room
        assert (meters["games_played"], rig.credit_cents, rig.journal.list_pending()) == (1, 490, [])


@pytest.mark.requirement("A-08", "D-15", "F-06")
@pytest.mark.parametrize("cash", [False, True], ids=["handed over", "its value"])
@every_nth(19)
def test_a_power_cut_leaves_a_prize_in_kind_or_its_value_once(tmp_path, cash, capsys, every):
    assert cut_everywhere(lambda disk: Prizes(tmp_path, disk, cash=cash), capsys, every) > 20
