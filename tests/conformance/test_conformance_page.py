"""From a mark on a test to a line of the conformance page."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import click
import pytest

from tools.dev.conformance.evidence import Evidence, EvidenceError, EvidenceTest, Status, collect
from tools.dev.conformance.page import NOT_FULLY_SHOWN_HEADING, PAGES_FOLDER, format_pages
from tools.dev.conformance.requirements import load
from tools.dev.freshness import write_or_check_pages
from tools.lab.markdown import format_table

PYPROJECT = """
[tool.pytest.ini_options]
testpaths = ["tests"]
addopts = "--strict-markers"
markers = ["requirement(*ids): x", "library_only(*ids): x", "slow: x"]
"""

TESTS = """
import pytest

pytestmark = pytest.mark.requirement("A-01")

@pytest.mark.requirement("B-06", "B-02")
@pytest.mark.parametrize("n", [1, 2, 3])
def test_exact(n): ...

@pytest.mark.slow
def test_soak(): ...

@pytest.mark.requirement("F-06:a")
@pytest.mark.library_only("M-06")
def test_clause(): ...

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
    (tmp_path / "tests" / "egm").mkdir(parents=True)
    (tmp_path / "tests" / "egm" / "test_small.py").write_text(TESTS)
    return tmp_path


def test_requirement_marks_are_read_from_the_collected_tests(tree):
    evidence = collect(load(), tree)
    exact = EvidenceTest("tests/egm/test_small.py", "test_exact")
    soak = EvidenceTest("tests/egm/test_small.py", "test_soak", is_slow=True)
    clause = EvidenceTest("tests/egm/test_small.py", "test_clause")
    assert evidence.tests == {
        "A-01": (clause, exact, soak),
        "B-02": (exact,),
        "B-06": (exact,),
        "F-06": (clause,),
        "F-06:a": (clause,),
    }
    assert evidence.tests_of_unused_modules == {"M-06": (clause,)}


def test_a_mark_with_an_unknown_requirement_is_refused(tree):
    (tree / "tests" / "egm" / "test_wrong.py").write_text(TESTS.replace("B-06", "B-99"))
    with pytest.raises(EvidenceError, match=r"test_wrong.py::test_exact: 'B-99'"):
        collect(load(), tree)


def test_tests_that_cannot_be_collected_are_an_error(tree):
    (tree / "tests" / "egm" / "test_broken.py").write_text("import nothing_of_this_name")
    with pytest.raises(EvidenceError, match="nothing_of_this_name"):
        collect(load(), tree)


def test_a_test_that_runs_with_an_unknown_mark_fails(tmp_path):
    root = Path(__file__).parents[2]
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").write_text((root / "tests" / "conftest.py").read_text())
    (tmp_path / "tests" / "slow_tier.toml").touch()
    (tmp_path / "tests" / "test_small.py").write_text(TESTS.replace("B-06", "B-99"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "no such requirement: 'B-99'" in result.stdout
    assert re.search(r"2 passed, .*3 errors", result.stdout), result.stdout


def test_a_requirement_is_shown_in_part_library_only_open_or_not_yet():
    row = load().rows["A-01"]
    evidence_tests = (EvidenceTest("tests/test_a.py", "test_b"),)
    some, none = Evidence({"A-01": evidence_tests}), Evidence({})
    assert some.status(row) == Status.SHOWN
    assert (
        some.status(replace(row, open="left")) == some.status(replace(row, not_yet="left")) == Status.IN_PART
    )
    assert Evidence({}, {"A-01": evidence_tests}).status(row) == Status.LIBRARY
    assert none.status(replace(row, open="why")) == Status.OPEN
    assert none.status(row) == Status.NOT_YET


def test_a_requirement_with_clauses_is_shown_if_each_clause_is():
    row = replace(load().rows["A-01"], clauses=("this", "that"))
    evidence_tests = (EvidenceTest("tests/test_a.py", "test_b"),)
    assert row.marks == ("A-01:a", "A-01:b")
    assert Evidence({"A-01": evidence_tests, "A-01:a": evidence_tests}).status(row) == Status.IN_PART
    assert (
        Evidence({"A-01": evidence_tests, "A-01:a": evidence_tests, "A-01:b": evidence_tests}).status(row)
        == Status.SHOWN
    )


def test_a_requirement_without_tests_needs_a_reason_and_a_regulation_a_mutant():
    plain, regulated = load().rows["A-01"], replace(load().rows["E-12"], clauses=("this", "that"))
    evidence_tests = (EvidenceTest("tests/test_a.py", "test_b"),)
    assert Evidence({}).list_shortfalls(plain) == ["A-01 is not yet, and no reason is given (open, not_yet)"]
    assert Evidence({"A-01": evidence_tests}).list_shortfalls(plain) == []
    some = Evidence({"E-12": evidence_tests, "E-12:a": evidence_tests, "E-12:b": evidence_tests})
    assert regulated.is_required_by_regulation
    assert some.list_shortfalls(regulated) == [
        "E-12:a has tests and no mutant",
        "E-12:b has tests and no mutant",
    ]
    judged = tuple(replace(load().rows["E-12"].mutants[0], clause=letter) for letter in "ab")
    assert some.list_shortfalls(replace(regulated, mutants=judged)) == []


def test_the_summary_is_short_and_the_pages_list_every_requirement_once():
    requirements = load()
    tests = tuple(
        EvidenceTest("tests/egm/test_a.py", f"TestLine::test_{n}", is_slow=n == 0) for n in range(5)
    )
    shown = {"A-01": tests, "I-19": tests[:1], "F-14": tests[1:2], "F-06": tests[:1], "F-06:a": tests[:1]}
    written = format_pages(requirements, Evidence(shown, {"P-11": tests[2:3]}))
    summary, _, listing = written.pop("CONFORMANCE.md").partition(f"\n{NOT_FULLY_SHOWN_HEADING}\n")
    assert len(summary.splitlines()) < 60
    lines = [line for line in listing.splitlines() if line.startswith("| ")]
    for row in requirements.rows.values():
        (listed_line,) = [
            line for line in lines if re.search(rf"\b{row.id}\b(?=[^|]*\| (in|lib|open|not))", line)
        ] or [""]
        assert row.reasons_not_shown in listed_line
        assert bool(listed_line) == (row.id not in {"A-01", "F-14"}), row.id
    assert max(map(len, summary.splitlines())) < 160
    assert re.search(r"^\| \*\*All\*\* \| 364 \| 2 \| 2 \| 1 \| \d+ \| \d+ \|$", summary, re.MULTILINE)
    anchors = {
        path.removeprefix(f"{PAGES_FOLDER}/"): re.findall(r'<a id="([^"]+)"></a>', text)
        for path, text in written.items()
    }
    assert sorted(name for found in anchors.values() for name in found) == sorted(
        map(str.lower, requirements.rows)
    )
    for text in written.values():
        for page, anchor in re.findall(r"\]\(([A-Z]\.md)#([^)]+)\)", text):
            assert anchor in anchors[page]
    page = {path.removeprefix(f"{PAGES_FOLDER}/"): text for path, text in written.items()}
    assert "<summary>5 tests</summary>" in page["A.md"]
    assert "[test_a.py](../../tests/egm/test_a.py): *Line: 0* (slow tier)" in page["A.md"]
    assert "*In part:* " + requirements.rows["I-19"].open in page["I.md"]
    assert "*Open:* " + requirements.rows["B-18"].open in page["B.md"]
    assert "*Line: 2*<br>*Library only:* " + requirements.rows["P-11"].not_yet in page["P.md"]
    assert "*F-06:a* " + requirements.rows["F-06"].clauses[0] + ": shown<br>" in page["F.md"]
    assert "*F-06:b* " + requirements.rows["F-06"].clauses[1] + ": not shown<br>" in page["F.md"]
    assert re.search(
        r"^\| s\.95 \| .*\[F-14\]\(F\.md#f-14\) \*\*shown\*\*<br>.*\*Line: 1\* \|$",
        page["regulations.md"],
        re.MULTILINE,
    )


def test_tables_keep_their_columns():
    text = format_table(["a", "b"], [["1 | 2", "3"]], frozenset({1}))
    assert text.splitlines() == ["| a | b |", "| --- | ---: |", "| 1 \\| 2 | 3 |"]


def test_a_stale_page_is_reported_with_the_difference_and_not_changed(tmp_path):
    path = tmp_path / "PAGE.md"
    path.write_text("old\n")
    with pytest.raises(click.ClickException, match=r"(?s)PAGE.md is stale.*-old.*\+new.*make pages"):
        write_or_check_pages({path: "new\n"}, check=True, command_name="make pages")
    assert path.read_text() == "old\n"
    write_or_check_pages({path: "new\n"}, check=False, command_name="make pages")
    write_or_check_pages({path: "new\n"}, check=True, command_name="make pages")
    assert path.read_text() == "new\n"


def test_a_killed_collection_is_reported_without_a_list_of_tests(tmp_path):
    (tmp_path / "test_many.py").write_text("def test_one():\n    pass\n")
    (tmp_path / "conftest.py").write_text(
        "import os, signal, pytest\n\n\n"
        "@pytest.hookimpl(trylast=True)\n"
        "def pytest_sessionfinish(session):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "\n\ndef pytest_collection_finish(session):\n"
        '    print("\\n".join(f"tests/test_many.py::test_{n}" for n in range(9000)), "memory", sep="\\n", flush=True)\n'
    )
    with pytest.raises(EvidenceError) as raised:
        collect(load(), tmp_path)
    first, *others = str(raised.value).splitlines()
    assert first == "pytest could not collect the tests: signal 9 ended it"
    assert not [line for line in others if "::" in line]
    assert len(others) <= 40
