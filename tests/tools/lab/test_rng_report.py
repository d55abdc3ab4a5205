"""The report on the generator: complete data, a readable page, and the runs that the report states."""

import json
import re
import sys
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import pytest
from click.testing import CliRunner

import rng
from tools.cli.commands.rng import command
from tools.cli.commands.rng_battery import DEFECT_NAMES, GAME_NAMES
from tools.lab.rng.battery.planted import PLANTED_DEFECTS
from tools.lab.rng.battery.run import TESTED_GAMES, run_game
from tools.lab.rng.outcomes import IndependentNumbers
from tools.lab.rng.raw_tests import read_dieharder, run_installed_tests
from tools.lab.rng.report import SELF_ASSESSMENT_TEXT, build_report, estimate_min_entropy, to_html, to_json
from tools.lab.rng.stream import LaboratoryStream


def streams(seed: int = 0):
    while True:
        seed += 1
        yield LaboratoryStream(seed).read


@pytest.fixture(scope="module")
def report() -> dict[str, object]:
    fresh = streams()
    verdicts = [
        run_game("dice", IndependentNumbers(6, 2), 20_000, 0.01, lambda: next(fresh)),
        run_game(
            "reels",
            IndependentNumbers(22, 5),
            20_000,
            0.01,
            lambda: next(fresh),
            PLANTED_DEFECTS["correlated-pair"],
        ),
    ]
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    return build_report(
        verdicts, alpha=0.01, command="egm rng battery", read_raw_bytes=LaboratoryStream(99).read, now=now
    )


def test_the_report_states_first_that_it_is_a_self_assessment(report: dict) -> None:
    page = to_html(report)
    assert page.index(SELF_ASSESSMENT_TEXT) < page.index("<h2>")
    assert "not a certificate" in SELF_ASSESSMENT_TEXT


def test_the_page_loads_nothing_from_elsewhere(report: dict) -> None:
    page = to_html(report)
    assert not re.findall(r'(?:src|href)="(?!data:)', page)
    assert page.count('src="data:image/png;base64,') == 4
    for section in range(1, 14):
        assert f"<h2>{section}. " in page


def test_every_p_value_of_every_run_is_in_the_page(report: dict) -> None:
    page = to_html(report)
    p_values = [r["p_value"] for g in report["games"] for run in g["runs"] for r in run["results"]]
    assert len(p_values) > 80
    assert all(f"{p:.6f}" in page for p in p_values)


def test_the_json_contains_the_same_report(report: dict) -> None:
    read = json.loads(to_json(report))
    assert read["passed"] is False
    assert [game["passed"] for game in read["games"]] == [True, False]
    assert len(read["games"][1]["runs"]) == 2
    assert read["date"] == "2026-01-02T03:04:05+00:00"
    assert read["collective"]["p_values"] == sum(
        len(run["results"]) for game in read["games"] for run in game["runs"]
    )
    assert [row["level"] for row in read["collective"]["levels"]] == [0.05, 0.01]
    assert all(row["games_with_findings"] == ["reels"] for row in read["collective"]["levels"])
    assert {row["bound"] for row in read["scaling"]} == set(range(2, 257))


def test_the_listed_files_have_their_current_digests(report: dict) -> None:
    root = Path(rng.__file__).parent.parent
    named = {file["file"]: file["sha256"] for file in report["scope"]["files"]}
    assert "rng/ctr_drbg.py" in named
    for name, digest in named.items():
        assert sha256((root / name).read_bytes()).hexdigest() == digest


def test_no_entropy_source_is_called_assessed(report: dict) -> None:
    assert {row["source"] for row in report["entropy"]} >= {"getrandom", "cpu-jitter"}
    assert not any(row["assessed"] for row in report["entropy"])
    assert "No source of entropy has been assessed" in report["limits"][0]


def test_the_min_entropy_estimate_is_that_of_the_standard() -> None:
    """The commonest of 100 samples occurs 25 times: the bound is 0.25 + 2.576 sqrt(0.25 * 0.75 / 99)."""
    assert estimate_min_entropy(bytes([7] * 25 + list(range(8, 83)))) == pytest.approx(1.4655, abs=1e-4)


@pytest.mark.requirement("B-02:a")
def test_installed_external_tests_receive_raw_output_and_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two substitute programs under the tests' names report the number of bytes that they read, and a digest."""
    for tool in ("ent", "rngtest"):
        program = tmp_path / tool
        program.write_text(
            f"#!{sys.executable}\nimport sys, zlib\ndata = sys.stdin.buffer.read()\n"
            "print(len(data), zlib.crc32(data))\n"
        )
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    outputs: list[bytes] = []

    def raw(count: int) -> bytes:
        outputs.append(bytes([len(outputs)]) * count)
        return outputs[-1]

    tool_reports = run_installed_tests(raw)
    assert [test.tool for test in tool_reports] == ["rngtest", "ent"]
    assert min(test.bytes_read for test in tool_reports) >= 1_000_000
    assert [test.lines for test in tool_reports] == [(f"{len(data)} {crc32(data)}",) for data in outputs]


@pytest.mark.requirement("B-02:a")
def test_the_stored_dieharder_run_is_complete_without_a_failure() -> None:
    stored_run = read_dieharder()
    assert len(stored_run.lines) == 114
    assert stored_run.count_p_values("FAILED") == 0
    assert stored_run.count_p_values("PASSED") + stored_run.count_p_values("WEAK") == 114
    assert any("dieharder -a -g 200" in line for line in stored_run.provenance)


@pytest.mark.requirement("B-02:a")
def test_the_stored_dieharder_run_was_made_with_the_current_code(tmp_path: Path) -> None:
    """A change of the code that makes raw output requires a new dieharder run of twenty minutes."""
    stored_run = read_dieharder()
    assert sum(line.startswith("made by ") for line in stored_run.provenance) == 2
    assert stored_run.list_changed_sources() == ()
    (tmp_path / "rng").mkdir()
    for name in ("ctr_drbg.py", "mechanism.py"):
        (tmp_path / "rng" / name).write_bytes((Path(rng.__file__).parent / name).read_bytes())
    source = (tmp_path / "rng" / "mechanism.py").read_text()
    (tmp_path / "rng" / "mechanism.py").write_text(f"# a comment changes nothing\n{source}")
    assert stored_run.list_changed_sources(tmp_path) == ()
    (tmp_path / "rng" / "mechanism.py").write_text(source.replace("2**48", "2**47"))
    assert stored_run.list_changed_sources(tmp_path) == ("rng/mechanism.py",)


def test_a_damaged_dieharder_table_is_reported_by_line(tmp_path: Path) -> None:
    file = tmp_path / "dieharder.txt"
    file.write_text("a|x|1|1|0.5|PASSED\n")
    with pytest.raises(ValueError, match=r"dieharder\.txt:1"):
        read_dieharder(file)


def test_the_command_lists_every_game_and_defect() -> None:
    assert tuple(TESTED_GAMES) == GAME_NAMES
    assert tuple(PLANTED_DEFECTS) == DEFECT_NAMES


def test_the_battery_reports_every_p_value_and_passes(tmp_path: Path) -> None:
    """At this level, a perfect generator has a confirmed finding in one run of 10,000,000,000."""
    page, data = tmp_path / "r.html", tmp_path / "r.json"
    result = CliRunner().invoke(
        command,
        [
            "battery",
            "--game",
            "dice",
            "--plays",
            "20000",
            "--alpha",
            "0.00001",
            "--json",
            str(data),
            "--html",
            str(page),
        ],
    )
    assert result.exit_code == 0, result.output
    assert "self-assessment" in result.output
    read = json.loads(data.read_text())
    assert read["command"].endswith("battery --game dice --plays 20000 --alpha 0.00001")
    assert page.stat().st_size > 50_000


def test_the_battery_fails_on_a_planted_defect_after_its_retest() -> None:
    result = CliRunner().invoke(
        command, ["battery", "--game", "reels", "--plays", "20000", "--planted", "correlated-pair"]
    )
    assert result.exit_code == 1
    assert "run 2:" in result.output
    assert "findings in: reels" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--alpha", "2"], "more than 0 and less than 1"),
        (["--game", "wheel", "--planted", "biased-shuffle"], "planted in selections"),
        (["--game", "keno", "--plays", "10"], "too few"),
    ],
)
def test_the_battery_refuses_what_cannot_be_tested(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(command, ["battery", "--game", "dice", *arguments])
    assert result.exit_code == 1
    assert message in " ".join(result.output.split())
