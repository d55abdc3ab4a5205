"""The run-time state of a feature is created at its first use or installed, and belongs to one machine."""

from dataclasses import dataclass

import pytest

from egm.errors import InvariantError
from egm.testing.machine import MachineRig


@dataclass
class Candle:
    """A state that can be created without arguments."""

    lit: bool = False


class Wick:
    """A state that cannot be created without arguments."""

    def __init__(self, length: int) -> None:
        self.length = length


@pytest.fixture
def machine(tmp_path):
    rig = MachineRig(tmp_path)
    yield rig.machine
    rig.close()


def test_a_components_state_is_created_once(machine):
    assert machine.find_installed(Candle) is None
    machine.component(Candle).lit = True
    assert machine.component(Candle).lit
    assert machine.find_installed(Candle) is machine.component(Candle)


def test_an_installed_component_replaces_the_previous_one(machine):
    first, second = Wick(1), Wick(2)
    machine.install(first)
    assert machine.component(Wick) is first
    machine.install(second)
    assert machine.component(Wick) is second


def test_a_component_that_is_neither_installed_nor_creatable_is_named(machine):
    with pytest.raises(InvariantError, match="Wick was not installed"):
        machine.component(Wick)
    assert machine.find_installed(Wick) is None


def test_two_machines_share_nothing(machine, tmp_path):
    other = MachineRig(tmp_path / "other")
    other.machine.component(Candle).lit = True
    assert not machine.component(Candle).lit
    other.close()
