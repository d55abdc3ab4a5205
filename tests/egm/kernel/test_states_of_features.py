"""What a feature holds while the machine runs: made at its first use or put in, and never another's."""

from dataclasses import dataclass

import pytest

from egm.errors import InvariantError
from egm.testing.machine import MachineRig


@dataclass
class Candle:
    """Something that can be made of nothing."""

    lit: bool = False


class Wick:
    """Something that cannot."""

    def __init__(self, length: int) -> None:
        self.length = length


@pytest.fixture
def cabinet(tmp_path):
    room = MachineRig(tmp_path)
    yield room.cabinet
    room.close()


def test_a_state_is_made_once(cabinet):
    assert cabinet.installed(Candle) is None
    cabinet.state(Candle).lit = True
    assert cabinet.state(Candle).lit
    assert cabinet.installed(Candle) is cabinet.state(Candle)


def test_what_is_put_in_is_found_and_takes_the_place_of_the_one_before(cabinet):
    first, second = Wick(1), Wick(2)
    cabinet.install(first)
    assert cabinet.state(Wick) is first
    cabinet.install(second)
    assert cabinet.state(Wick) is second


def test_what_can_neither_be_made_nor_was_put_in_is_named(cabinet):
    with pytest.raises(InvariantError, match="Wick was not installed"):
        cabinet.state(Wick)
    assert cabinet.installed(Wick) is None


def test_two_machines_share_nothing(cabinet, tmp_path):
    other = MachineRig(tmp_path / "other")
    other.cabinet.state(Candle).lit = True
    assert not cabinet.state(Candle).lit
    other.close()
