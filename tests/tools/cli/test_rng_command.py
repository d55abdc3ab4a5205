"""``egm rng`` runs the laboratory's tools."""

import json
import math
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tools.cli.commands.rng import command

EGM = Path(sys.executable).with_name("egm")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def lines(result: Result) -> list[list[int]]:
    assert result.exit_code == 0, result.output
    return [[int(n) for n in line.split()] for line in result.stdout.splitlines()]


def test_selftest_names_each_test_and_source() -> None:
    result = run("selftest")
    assert result.exit_code == 0
    for name in ("AES-256", "ctr-drbg-aes-256-df", "every word", "start-up of getrandom"):
        assert name in result.output


def test_a_cabinet_loads_no_laboratory_package() -> None:
    program = "import sys, rng, tools.cli.commands.rng; sys.exit(bool({'numpy', 'scipy', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_failed_selftest_has_exit_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rng.ctr_drbg._DF_STARTS", bytes(48))
    result = run("selftest")
    assert result.exit_code == 1
    assert "Block_Cipher_df gave another result" in result.output


def test_bytes_prints_exactly_the_requested_count_and_never_the_same_twice() -> None:
    first, second = run("bytes", "--count", "200001"), run("bytes", "--count", "200001")
    assert len(first.stdout_bytes) == len(second.stdout_bytes) == 200_001
    assert first.stdout_bytes != second.stdout_bytes


def test_bytes_are_written_to_a_file(tmp_path: Path) -> None:
    assert run("bytes", "--count", "70000", "--output", str(tmp_path / "raw")).exit_code == 0
    assert (tmp_path / "raw").stat().st_size == 70_000


def test_endless_bytes_stop_quietly_when_the_reader_closes() -> None:
    with subprocess.Popen([EGM, "rng", "bytes"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert len(process.stdout.read(1_000_000)) == 1_000_000
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=120) == 0


def test_an_unwritable_file_is_named(tmp_path: Path) -> None:
    result = run("bytes", "--count", "1", "--output", str(tmp_path / "none" / "raw"))
    assert result.exit_code == 1
    assert "none/raw" in result.output


@pytest.mark.parametrize("bulk", [(), ("--bulk",)])
class TestOutcomes:
    def test_outcomes_of_a_range_cover_every_number_at_each_position(self, bulk: tuple[str, ...]) -> None:
        plays = lines(run("outcomes", "--range", "22", "--positions", "3", "--count", "500", *bulk))
        assert len(plays) == 500
        assert all(len(play) == 3 for play in plays)
        assert {n for play in plays for n in play} == set(range(22))

    def test_outcomes_of_keno_are_twenty_different_numbers(self, bulk: tuple[str, ...]) -> None:
        plays = lines(run("outcomes", "--keno", "--count", "200", *bulk))
        assert all(len(set(play)) == 20 for play in plays)
        assert {n for play in plays for n in play} == set(range(1, 81))

    def test_outcomes_of_a_deck_are_shuffles_of_all_its_cards(self, bulk: tuple[str, ...]) -> None:
        plays = lines(run("outcomes", "--deck", "54", "--count", "50", *bulk))
        assert all(sorted(play) == list(range(54)) for play in plays)
        assert len({tuple(play) for play in plays}) == 50

    def test_outcomes_follow_a_table_of_weights(self, bulk: tuple[str, ...], tmp_path: Path) -> None:
        file = tmp_path / "weights.json"
        file.write_text(json.dumps({"weights": [1, 0, 9], "total": 10}))
        counts = Counter(
            n for (n,) in lines(run("outcomes", "--weights", str(file), "--count", "1000", *bulk))
        )
        assert counts.keys() <= {0, 2}
        assert abs(counts[0] - 100) < 7 * math.sqrt(90)  # one run in 10**10


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--count", "5"), 2, "give exactly one of"),
        (("--keno", "--deck", "52", "--count", "5"), 2, "give exactly one of"),
        (("--range", "0", "--count", "5"), 1, "cannot draw below 0"),
        (("--range", "-3", "--count", "5"), 1, "cannot draw below -3"),
        (("--range", "5", "--positions", "0", "--count", "5"), 1, "1 number or more"),
        (("--keno", "--positions", "3", "--count", "5"), 2, "--positions is only valid with --range"),
        (("--deck", "0", "--count", "5"), 1, "must pick 1 or more"),
        (("--deck", "-1", "--count", "5"), 1, "cannot select"),
        (("--range", "5", "--count", "-5"), 2, "--count"),
    ],
)
def test_impossible_outcomes_are_refused(arguments: tuple[str, ...], status: int, message: str) -> None:
    result = run("outcomes", *arguments)
    assert result.exit_code == status
    assert message in result.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"weights": [3, 5], "total": 9}', "sum to 8; the stated total is 9"),
        ("{", "not {"),
        ('{"weights": [1]}', "KeyError('total')"),
        ('{"weights": "11", "total": 2}', "list of whole numbers"),
        ("[]", "TypeError"),
    ],
)
def test_an_invalid_table_of_weights_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "weights.json"
    file.write_text(text)
    result = run("outcomes", "--weights", str(file), "--count", "1")
    assert result.exit_code == 1
    assert message in result.output


@pytest.mark.requirement("B-02")
@pytest.mark.skipif(not shutil.which("rngtest"), reason="Debian's rng-tools5 is not installed")
def test_rngtest_finds_no_more_failed_blocks_than_chance_explains() -> None:
    """Good streams fail about 0.08 % of the blocks of FIPS 140-2; 13 failures in 1,000 occur in one of 10**11 runs."""
    raw = run("bytes", "--count", "2500008").stdout_bytes
    report = subprocess.run(["rngtest"], input=raw, capture_output=True, check=False).stderr.decode()
    counts = {
        k.strip(): v
        for k, _, v in (line.removeprefix("rngtest: ").partition(":") for line in report.splitlines())
    }
    assert int(counts["FIPS 140-2 successes"]) + int(counts["FIPS 140-2 failures"]) == 1000
    assert int(counts["FIPS 140-2 failures"]) <= 12


@pytest.mark.requirement("B-02")
@pytest.mark.skipif(not shutil.which("ent"), reason="Debian's ent is not installed")
def test_ent_reports_full_entropy_and_no_correlation() -> None:
    """Good bytes fall outside the widest of these bands in one of 10**10 runs."""
    raw = run("bytes", "--count", "4000000").stdout_bytes
    table = subprocess.run(["ent", "-t"], input=raw, capture_output=True, check=True).stdout.decode()
    header, row = (line.split(",") for line in table.splitlines()[:2])
    figures = dict(zip(header, row, strict=True))
    assert float(figures["Entropy"]) > 7.9999
    assert abs(float(figures["Serial-Correlation"])) < 7 / 2000
    assert abs(float(figures["Chi-square"]) - 255) < 9 * math.sqrt(510)
