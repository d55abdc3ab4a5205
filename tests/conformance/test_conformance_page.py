"""The way from a mark on a test to a line on the page."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import click
import pytest

from tools.conformance.evidence import Evidence, EvidenceError, Status, Witness, collect
from tools.conformance.page import page, table
from tools.conformance.requirements import load
from tools.freshness import deliver

PYPROJECT = """
[tool.pytest.ini_options]
testpaths = ["tests"]
addopts = "--strict-markers"
markers = ["requirement(*ids): x", "slow: x"]
"""

TESTS = """
import pytest

pytestmark = pytest.mark.requirement("A-01")

@pytest.mark.requirement("B-06", "B-02")
@pytest.mark.parametrize("n", [1, 2, 3])
def test_exact(n): ...

@pytest.mark.slow
def test_soak(): ...

@pytest.mark.skip(reason="nothing to see")
@pytest.mark.requirement("B-03")
def test_skipped(): ...

@pytest.mark.xfail
@pytest.mark.requirement("B-04")
def test_expected_to_fail(): ...
"""


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "tests" / "unit").mkdir(parents=True)
    (tmp_path / "tests" / "unit" / "test_small.py").write_text(TESTS)
    return tmp_path


def test_marks_are_what_pytest_collects(tree):
    evidence = collect(load(), tree)
    exact = Witness("tests/unit/test_small.py", "test_exact")
    soak = Witness("tests/unit/test_small.py", "test_soak", slow=True)
    assert evidence.tests == {"A-01": (exact, soak), "B-02": (exact,), "B-06": (exact,)}


def test_a_claim_on_a_row_that_does_not_exist_is_refused(tree):
    (tree / "tests" / "unit" / "test_wrong.py").write_text(TESTS.replace("B-06", "B-99"))
    with pytest.raises(EvidenceError, match=r"test_wrong.py::test_exact: 'B-99'"):
        collect(load(), tree)


def test_tests_that_cannot_be_collected_are_an_error_not_an_empty_page(tree):
    (tree / "tests" / "unit" / "test_broken.py").write_text("import nothing_of_this_name")
    with pytest.raises(EvidenceError, match="nothing_of_this_name"):
        collect(load(), tree)


def test_a_test_that_runs_with_an_unknown_mark_fails(tmp_path):
    root = Path(__file__).parents[2]
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").write_text((root / "tests" / "conftest.py").read_text())
    (tmp_path / "tests" / "test_small.py").write_text(TESTS.replace("B-06", "B-99"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no such requirement: 'B-99'" in done.stdout
    assert re.search(r"1 passed, .*3 errors", done.stdout), done.stdout


def test_status_tells_shown_from_part_from_open_from_not_yet():
    row = load().rows["A-01"]
    some = Evidence({"A-01": (Witness("tests/test_a.py", "test_b"),)})
    none = Evidence({})
    assert some.status(row) == Status.SHOWN
    assert some.status(replace(row, open="left")) == Status.IN_PART
    assert none.status(replace(row, open="why")) == Status.OPEN
    assert none.status(row) == Status.NOT_YET


def test_the_page_holds_every_row_once_and_links_lead_somewhere():
    requirements = load()
    tests = tuple(Witness("tests/unit/test_a.py", f"TestLine::test_{n}", slow=n == 0) for n in range(5))
    text = page(requirements, Evidence({"A-01": tests, "I-19": tests[:1], "F-14": tests[1:2]}))
    anchors = re.findall(r'<a id="([^"]+)"></a>', text)
    assert len(anchors) == len(set(anchors)) == len(requirements.rows) + len(requirements.groups)
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= {*anchors, "sources"}
    assert "<summary>5 tests</summary>" in text
    assert "[test_a.py](tests/unit/test_a.py): *Line: 0* (slow tier)" in text
    assert "*In part:* " + requirements.rows["I-19"].open in text
    assert "*Open:* " + requirements.rows["B-18"].open in text
    assert re.search(
        r"^\| s\.95 \| .*\[F-14\]\(#f-14\) \*\*shown\*\*<br>.*\*Line: 1\* \|$", text, re.MULTILINE
    )
    assert re.search(r"^\| \*\*All\*\* \| 308 \| 2 \| 1 \| \d+ \| \d+ \|$", text, re.MULTILINE)


def test_tables_keep_their_columns():
    text = table(["a", "b"], [["1 | 2", "3"]], frozenset({1}))
    assert text.splitlines() == ["| a | b |", "| --- | ---: |", "| 1 \\| 2 | 3 |"]


def test_a_stale_page_is_refused_with_the_difference_and_left_alone(tmp_path):
    path = tmp_path / "PAGE.md"
    path.write_text("old\n")
    with pytest.raises(click.ClickException, match=r"(?s)PAGE.md is stale.*-old.*\+new.*make pages"):
        deliver({path: "new\n"}, check=True, verb="make pages")
    assert path.read_text() == "old\n"
    deliver({path: "new\n"}, check=False, verb="make pages")
    deliver({path: "new\n"}, check=True, verb="make pages")
    assert path.read_text() == "new\n"
