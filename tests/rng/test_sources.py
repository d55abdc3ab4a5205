"""Sources of entropy, and the seed material gathered from them."""

import errno
import os
from fractions import Fraction
from pathlib import Path

import pytest

from rng import (
    CarryOverDamaged,
    EntropyFailed,
    HardwareSource,
    HealthTestFailed,
    JitterSource,
    KernelSource,
    SeedRepeated,
    list_available_sources,
)
from rng.seeding import (
    SEED_BITS,
    STORED_SEED_FINGERPRINTS_MAX,
    SeedGatherer,
    pack_carry_over,
    unpack_carry_over,
)


class Scripted:
    """A source whose samples a test provides, followed by good noise."""

    def __init__(self, name: str, *answers: bytes, entropy_bits: Fraction = Fraction(8)) -> None:
        self.name, self.entropy_bits, self.claim_basis = name, entropy_bits, "a test's"
        self.answers = list(answers)
        self.requested_bytes: list[int] = []

    def read_samples(self, count: int) -> bytes:
        self.requested_bytes.append(count)
        return self.answers.pop(0) if self.answers else os.getrandom(count)  # noqa: TID251


def test_every_available_source_returns_the_requested_samples() -> None:
    sources = list_available_sources()
    assert [source.name for source in sources][:2] == ["getrandom", "cpu-jitter"]
    for source in sources:
        assert len(source.read_samples(300)) == 300
        assert source.claim_basis
        assert 0 < source.entropy_bits <= 8


def test_jitter_is_the_difference_of_the_clock_readings() -> None:
    readings = iter([100, 103, 110, 110 + 256 + 9])
    assert list(JitterSource(lambda: next(readings)).read_samples(3)) == [3, 7, 9]


def test_a_clock_too_coarse_for_jitter_fails_at_start() -> None:
    ticks = iter(range(0, 10**9, 1000))
    with pytest.raises(HealthTestFailed, match="cpu-jitter"):
        SeedGatherer([KernelSource(), JitterSource(lambda: next(ticks))])


def test_a_missing_hardware_device_is_absent_and_fails_when_read(tmp_path: Path) -> None:
    source = HardwareSource(tmp_path / "hwrng")
    assert not source.is_present()
    (tmp_path / "hwrng").touch()
    assert source.is_present()
    (tmp_path / "hwrng").unlink()
    with pytest.raises(EntropyFailed, match="gave 0 of 8 bytes"):
        source.read_samples(8)


def test_a_hardware_device_that_goes_silent_fails_instead_of_hanging(tmp_path: Path) -> None:
    path = tmp_path / "hwrng"
    os.mkfifo(path)
    pauses: list[float] = []
    device = os.open(path, os.O_RDWR)
    try:
        os.write(device, b"12345")
        source = HardwareSource(path, sleep=pauses.append)
        with pytest.raises(EntropyFailed, match="gave 5 of 8 bytes, then none"):
            source.read_samples(8)
        os.write(device, b"12345678")
        assert source.read_samples(8) == b"12345678"
    finally:
        os.close(device)
    assert len(pauses) == source.attempts - 1


@pytest.mark.parametrize(
    ("code", "present"), [(errno.ENODEV, False), (errno.EACCES, False), (errno.EIO, True)]
)
def test_a_device_without_hardware_is_absent_and_a_broken_one_is_not(
    code: int, present: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hwrng").touch()
    source = HardwareSource(tmp_path / "hwrng")

    def failing(handle: int, count: int) -> bytes:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("rng.sources.os.read", failing)
    assert source.is_present() is present
    with pytest.raises(EntropyFailed, match="gave 0 of 8 bytes"):
        source.read_samples(8)


def test_a_slow_device_is_read_as_long_as_it_returns_anything(tmp_path: Path) -> None:
    path = tmp_path / "hwrng"
    os.mkfifo(path)
    device = os.open(path, os.O_RDWR)
    try:
        pauses: list[float] = []

        def drip(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) % 3 == 0:
                os.write(device, b"x")

        source = HardwareSource(path, attempts=4, sleep=drip)
        assert source.read_samples(20) == b"x" * 20
    finally:
        os.close(device)
    assert len(pauses) == 60


def test_each_source_alone_returns_enough_entropy_for_a_seed() -> None:
    rich, poor = Scripted("rich"), Scripted("poor", entropy_bits=Fraction(1, 2))
    gatherer = SeedGatherer([rich, poor])
    material = gatherer.gather()
    assert rich.requested_bytes[-1] * rich.entropy_bits >= SEED_BITS
    assert poor.requested_bytes[-1] * poor.entropy_bits >= SEED_BITS
    assert len(material) == rich.requested_bytes[-1] + poor.requested_bytes[-1]


def test_the_start_tests_1024_samples_and_uses_none_of_them() -> None:
    first = os.getrandom(1024)  # noqa: TID251
    source = Scripted("noise", first)
    gatherer = SeedGatherer([source])
    assert source.requested_bytes == [1024]
    assert gatherer.gather() not in first


def test_noise_is_tested_continuously() -> None:
    gatherer = SeedGatherer([Scripted("noise", os.getrandom(1024), bytes(48))])  # noqa: TID251
    with pytest.raises(HealthTestFailed, match="'noise' failed the repetition count test"):
        gatherer.gather()


@pytest.mark.parametrize("sources", [[], [Scripted("twin"), Scripted("twin")]])
def test_no_source_or_two_of_one_name_are_refused(sources: list[Scripted]) -> None:
    with pytest.raises(EntropyFailed):
        SeedGatherer(sources)


def test_a_source_that_returns_too_little_is_refused() -> None:
    with pytest.raises(EntropyFailed, match="'short' gave 3 of 1024"):
        SeedGatherer([Scripted("short", b"abc")])


@pytest.mark.requirement("B-05")
def test_a_repeated_seed_is_refused_also_in_a_later_power_cycle() -> None:
    seed = os.getrandom(48)  # noqa: TID251
    first = SeedGatherer([Scripted("noise", os.getrandom(1024), seed, seed)])  # noqa: TID251
    first.gather()
    with pytest.raises(SeedRepeated, match="'noise' gave the same 48 bytes"):
        first.gather()
    _, known = unpack_carry_over(pack_carry_over(bytes(32), first.fingerprints))
    later = SeedGatherer([Scripted("noise", os.getrandom(1024), seed)], known)  # noqa: TID251
    with pytest.raises(SeedRepeated):
        later.gather()


@pytest.mark.requirement("B-05")
def test_a_stuck_source_is_detected_beside_a_good_one() -> None:
    seed = os.getrandom(48)  # noqa: TID251
    gatherer = SeedGatherer([KernelSource(), Scripted("stuck", os.getrandom(1024), seed, seed)])  # noqa: TID251
    gatherer.gather()
    with pytest.raises(SeedRepeated, match="stuck"):
        gatherer.gather()


def test_fingerprints_are_limited_in_number_and_reveal_nothing_of_the_seed() -> None:
    gatherer = SeedGatherer([KernelSource()])
    seeds = [gatherer.gather() for _ in range(STORED_SEED_FINGERPRINTS_MAX + 5)]
    assert len(gatherer.fingerprints) == STORED_SEED_FINGERPRINTS_MAX
    carried = pack_carry_over(bytes(32), gatherer.fingerprints)
    assert not any(seed[i : i + 8] in carried for seed in seeds for i in range(0, 48, 8))


@pytest.mark.parametrize("damage", [b"", b"EGMRNG1\0", b"x" * 48, "cut", "flip"])
def test_a_damaged_carry_over_is_refused(damage: bytes | str) -> None:
    good = pack_carry_over(bytes(range(32)), [bytes(16)])
    assert unpack_carry_over(good) == (bytes(range(32)), (bytes(16),))
    text = {"cut": good[:-1], "flip": good[:20] + b"\xff" + good[21:]}.get(damage, damage)
    with pytest.raises(CarryOverDamaged):
        unpack_carry_over(text)
