"""What the generator leaves at a power loss is part of its next start at this machine, and is used only once."""

import asyncio
from hashlib import sha256

import pytest

from egm.app.process import MachineProcess
from egm.app.rng_startup import start_chance
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.profiles import load_profile
from egm.testing.machine import MachineRig, StoppedClock
from rng import KernelSource


class Written(KernelSource):
    """A source whose samples follow from a number, so that a start can be repeated exactly."""

    def __init__(self, start: int) -> None:
        self._start, self._read = start, 0

    def samples(self, count: int) -> bytes:
        self._read += 1
        words = (b"%d %d %d" % (self._start, self._read, i) for i in range(-(-count // 32)))
        return b"".join(sha256(word).digest() for word in words)[:count]


@pytest.mark.requirement("B-05")
def test_the_sequence_after_a_power_loss_depends_on_the_one_before(tmp_path):
    identity = MachineRig(tmp_path / "machine").machine.identity
    file, events = tmp_path / "carry-over", []

    def start(number: int) -> list[int]:
        """Start the generator for the second time, with one and the same noise, and draw."""
        service = start_chance(
            profile=load_profile("generic"),
            identity=identity,
            boots=2,
            carry_over_file=file,
            clock=MachineRig(tmp_path / f"clock {len(events)}").clock,
            on_event=lambda code, values: events.append((code, values.get("carry_over"))),
            sources=[Written(number)],
            fresh_input=bytes,
        )
        with service.step() as draws:
            return [draws.below(1 << 32, "word") for _ in range(4)]

    fresh = start(2)
    file.unlink()
    assert start(2) == fresh, "nothing else tells one start from the other"
    file.unlink()
    start(1)
    left = file.read_bytes()
    assert start(2) != fresh
    assert file.read_bytes() != left, "what was used is replaced"
    assert [carried for code, carried in events if code == "rng_started"] == [False, False, False, True]


@pytest.mark.requirement("B-05")
def test_the_machine_stores_it_at_its_start_and_again_at_its_end(tmp_path, monkeypatch):
    state = StateFolder(tmp_path)
    state.prepare()
    file = load_cabinet()
    few = file.model_copy(update={"games": file.games[:1], "progressives": ()})
    stored, carried = [], []
    for _ in range(2):
        process = MachineProcess(state, few, StoppedClock())

        async def look(started):
            stored.append(state.carry_over.read_bytes())
            carried.extend(
                entry.record["carry_over"]
                for entry in started._machine.journal.entries(
                    "chance.rng_started", newest_first=True, limit=1
                )
            )

        monkeypatch.setattr(MachineProcess, "_work", look)
        asyncio.run(process.run())
        stored.append(state.carry_over.read_bytes())
    assert carried == [False, True]
    assert len(set(stored)) == 4
