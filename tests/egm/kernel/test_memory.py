"""The durable memory: what is read is always what the journal has."""

import pytest

from egm.kernel.games import Selection
from egm.kernel.keys import KernelKey
from egm.play.records.game_record import LastGame
from egm.record_codec import RecordError
from egm.testing.machine import MachineRig


def select_bet(rig, bet_credits):
    """Store a selection with this bet."""
    machine = rig.machine
    game_id = next(iter(machine.games))
    machine.store_selection(Selection(game_id, machine.denominations_cents[game_id][0], bet_credits, "fr"))


def test_a_record_is_decoded_again_only_after_its_value_has_changed(tmp_path):
    rig = MachineRig(tmp_path).boot()
    memory = rig.machine.memory
    assert memory.read(Selection, KernelKey.SELECTION) is None
    select_bet(rig, 20)
    first = memory.read(Selection, KernelKey.SELECTION)
    assert first.bet_credits == 20
    assert memory.read(Selection, KernelKey.SELECTION) is first
    select_bet(rig, 40)
    assert memory.read(Selection, KernelKey.SELECTION).bet_credits == 40
    with pytest.raises(RecordError):
        memory.read(LastGame, KernelKey.SELECTION)
