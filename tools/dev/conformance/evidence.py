"""Collect which tests cover which requirements, with pytest's own collection."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from tools.dev.conformance.requirements import ROOT, RequirementRow, Requirements

#: pytest's exit codes for a successful collection, including an empty one.
_COLLECTION_EXIT_CODES: Final = frozenset({0, 5})
#: Number of pytest's last lines in an error message.
_ERROR_LINES_MAX: Final = 40
#: A collected test, as ``--collect-only -q`` names it.
_TEST_NAME_PATTERN: Final = re.compile(r"\S+\.py::")


class EvidenceError(Exception):
    """Raised if the tests could not be collected, or name a requirement that does not exist."""


class Status(StrEnum):
    """Progress of a requirement; the value is the text on the page."""

    SHOWN = "shown"
    IN_PART = "in part"
    LIBRARY = "library only"
    OPEN = "open"
    NOT_YET = "not yet"


@dataclass(frozen=True, slots=True, order=True)
class EvidenceTest:
    """One test function: its file relative to the checkout, its name, and whether it is in the slow tier."""

    file: str
    name: str
    is_slow: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """The tests of each requirement and of each clause (``F-05:b``), sorted; an id without tests has no entry.

    ``tests_of_unused_modules`` has tests of modules that no command and no engine uses yet, so they show nothing of the
    product. ``tests_by_sas_row`` has the tests of each row of the SAS tables, by table and code, such as ``polls:0F``.
    """

    tests: Mapping[str, tuple[EvidenceTest, ...]]
    tests_of_unused_modules: Mapping[str, tuple[EvidenceTest, ...]] = field(default_factory=dict)
    tests_by_sas_row: Mapping[str, tuple[EvidenceTest, ...]] = field(default_factory=dict)

    def list_tests(self, mark: str) -> tuple[EvidenceTest, ...]:
        """Return the tests that cover the row or clause with this id."""
        return self.tests.get(mark, ())

    def status(self, row: RequirementRow) -> Status:
        """Return the status of a requirement.

        A requirement is shown if tests cover all of its clauses and it names nothing that remains to be done.
        """
        if self.list_tests(row.id):
            is_complete = all(self.list_tests(mark) for mark in row.marks) and not row.reasons_not_shown
            return Status.SHOWN if is_complete else Status.IN_PART
        if row.id in self.tests_of_unused_modules:
            return Status.LIBRARY
        return Status.OPEN if row.open else Status.NOT_YET

    def list_shortfalls(self, row: RequirementRow) -> list[str]:
        """Return what is missing: a reason if the requirement is not shown, a mutant if it comes from a regulation."""
        status = self.status(row)
        shortfalls = []
        if status is not Status.SHOWN and not row.reasons_not_shown:
            shortfalls.append(f"{row.id} is {status}, and no reason is given (open, not_yet)")
        if row.is_required_by_regulation and status in {Status.SHOWN, Status.IN_PART}:
            marks_with_mutants = {
                f"{row.id}:{mutant.clause}" if mutant.clause else row.id for mutant in row.mutants
            }
            shortfalls += [
                f"{mark} has tests and no mutant"
                for mark in row.marks
                if self.list_tests(mark) and mark not in marks_with_mutants
            ]
        return shortfalls


def _describe_collection_error(completed_process: subprocess.CompletedProcess[str]) -> str:
    """Return why pytest collected nothing: its exit status and its last lines without the test names."""
    status = (
        f"signal {-completed_process.returncode} ended it"
        if completed_process.returncode < 0
        else f"it ended with {completed_process.returncode}"
    )
    lines = [
        line
        for line in f"{completed_process.stdout}{completed_process.stderr}".splitlines()
        if not _TEST_NAME_PATTERN.match(line)
    ]
    return "\n".join([f"pytest could not collect the tests: {status}", *lines[-_ERROR_LINES_MAX:]])


def collect(requirements: Requirements, root: Path = ROOT) -> Evidence:
    """Collect the tests under ``root`` with pytest and assign them to the requirements by their marks.

    Raises :class:`EvidenceError` with pytest's exit status and last lines if the collection fails, or with the
    tests that name an id that does not exist.
    """
    with tempfile.TemporaryDirectory() as folder:
        marks_path = Path(folder) / "marks.json"
        command = [
            sys.executable,
            "-m",
            "pytest",
            "--collect-only",
            "-q",
            "-p",
            "tools.dev.conformance.plugin",
        ]
        command += ["-p", "no:cacheprovider", "-p", "no:xdist", "--requirement-marks", str(marks_path)]
        environment = os.environ | {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
        completed_process = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        if completed_process.returncode not in _COLLECTION_EXIT_CODES or not marks_path.exists():
            raise EvidenceError(_describe_collection_error(completed_process))
        entries = json.loads(marks_path.read_text(encoding="utf-8"))
    tests_by_mark_by_kind: dict[str, dict[str, set[EvidenceTest]]] = {"rows": {}, "library": {}, "sas": {}}
    for entry in entries:
        file, _, name = entry["test"].partition("::")
        test = EvidenceTest(file, name, entry["slow"])
        for kind, tests_by_mark in tests_by_mark_by_kind.items():
            for mark in entry[kind]:
                tests_by_mark.setdefault(mark, set()).add(test)
                if kind != "sas":  # the test of a clause also counts for its row
                    tests_by_mark.setdefault(mark.partition(":")[0], set()).add(test)
    unknown_marks = [
        f"{test.file}::{test.name}: {mark!r}"
        for tests_by_mark in (tests_by_mark_by_kind["rows"], tests_by_mark_by_kind["library"])
        for mark in sorted(tests_by_mark.keys() - requirements.marks)
        for test in sorted(tests_by_mark[mark])
    ]
    if unknown_marks:
        raise EvidenceError("no such requirement:\n" + "\n".join(unknown_marks))
    return Evidence(
        *(
            {mark: tuple(sorted(tests)) for mark, tests in tests_by_mark.items()}
            for tests_by_mark in tests_by_mark_by_kind.values()
        )
    )
