"""The generator's personalization and carry-over make the sequence of each start unique."""

import asyncio
from dataclasses import replace
from hashlib import sha256

import pytest

from egm.app.process import MachineProcess
from egm.app.rng_startup import start_random_service
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.kernel.machine import MachineIdentity
from egm.profiles import load_profile
from egm.testing.machine import StoppedClock
from egm.tickets.model import Venue
from rng import KernelSource, RngError


class Written(KernelSource):
    """A noise source whose samples follow from a number, so that a start can be repeated exactly."""

    def __init__(self, start: int) -> None:
        self._start, self._read = start, 0

    def read_samples(self, count: int) -> bytes:
        self._read += 1
        words = (b"%d %d %d" % (self._start, self._read, i) for i in range(-(-count // 32)))
        return b"".join(sha256(word).digest() for word in words)[:count]


IDENTITY = MachineIdentity("TEST-1", "7", Venue(site="test"))


def draw(file, number=1, events=None, *, identity=IDENTITY, boots=2, instance=1, source=None) -> list[int]:
    """Start the generator with the noise of ``number``; return the first words that it draws."""
    service = start_random_service(
        profile=load_profile("generic"),
        identity=identity,
        boot_counter=boots,
        carry_over_file=file,
        clock=StoppedClock(),
        on_event=lambda code, values: events.append((code, values)) if events is not None else None,
        sources=[source or Written(number)],
        fresh_input=bytes,
        instance=instance,
    )
    with service.step() as draws:
        return [draws.below(1 << 32, "word") for _ in range(4)]


@pytest.mark.requirement("B-05")
def test_the_sequence_after_a_power_loss_depends_on_the_one_before(tmp_path):
    file, events = tmp_path / "carry-over", []
    fresh = draw(file, 2, events)
    file.unlink()
    assert draw(file, 2, events) == fresh, "nothing else tells one start from the other"
    file.unlink()
    draw(file, 1, events)
    state_before = file.read_bytes()
    assert draw(file, 2, events) != fresh
    assert file.read_bytes() != state_before, "what was used is replaced"
    started = [values["carry_over"] for code, values in events if code == "rng_started"]
    assert started == [False, False, False, True]


class Stuck(Written):
    """A noise source that always returns the same sample."""

    def read_samples(self, count: int) -> bytes:
        return bytes(count)


@pytest.mark.requirement("B-05")
def test_carried_over_output_is_used_for_one_start_even_if_the_start_fails(tmp_path):
    file = tmp_path / "carry-over"
    draw(file)
    assert file.exists()
    with pytest.raises(RngError):
        draw(file, source=Stuck(1))
    assert not file.exists()


@pytest.mark.requirement("B-05")
@pytest.mark.parametrize(
    "changed",
    [{"identity": replace(IDENTITY, serial="TEST-2")}, {"boots": 3}, {"instance": 2}],
    ids=["machine", "start", "instance"],
)
def test_with_the_same_noise_machines_starts_and_instances_have_different_sequences(tmp_path, changed):
    assert draw(tmp_path / "one") == draw(tmp_path / "again")
    assert draw(tmp_path / "other", **changed) != draw(tmp_path / "third")


@pytest.mark.requirement("B-05")
def test_the_machine_stores_carry_over_output_at_its_start_and_its_end(tmp_path, monkeypatch):
    state = StateFolder(tmp_path)
    state.create_private_folders()
    file = load_cabinet()
    few = file.model_copy(update={"games": file.games[:1], "progressives": ()})
    stored, starts = [], []
    for _ in range(2):
        process = MachineProcess(state, few, StoppedClock())

        async def look(started):
            stored.append(state.carry_over_file.read_bytes())
            starts.extend(
                (entry.record["boot_counter"], entry.record["carry_over"])
                for entry in started._first_machine.journal.entries(
                    "chance.rng_started", newest_first=True, limit=1
                )
            )

        monkeypatch.setattr(MachineProcess, "_run_until_stopped", look)
        asyncio.run(process.run())
        stored.append(state.carry_over_file.read_bytes())
    assert starts == [(1, False), (2, True)]
    assert len(set(stored)) == 4
