"""Which tests show which requirements, as pytest itself collects them."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from tools.conformance.requirements import ROOT, Requirements, Row

#: pytest's exit codes for a collection that worked, one that found nothing included
_COLLECTED: Final = frozenset({0, 5})


class EvidenceError(Exception):
    """The tests could not be collected, or claim a requirement that does not exist."""


class Status(StrEnum):
    """How far a requirement has come; the value is the word on the page."""

    SHOWN = "shown"
    IN_PART = "in part"
    OPEN = "open"
    NOT_YET = "not yet"


@dataclass(frozen=True, slots=True, order=True)
class Witness:
    """One test function: its file from the root of the checkout, its name, whether it is in the slow tier."""

    file: str
    name: str
    slow: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """The tests of each requirement, sorted; a row no test names has no entry.

    ``sas`` are those of the rows of the SAS tables, by table and code: ``polls:0F``.
    """

    tests: Mapping[str, tuple[Witness, ...]]
    sas: Mapping[str, tuple[Witness, ...]] = field(default_factory=dict)

    def of(self, row: str) -> tuple[Witness, ...]:
        """The tests that show the row of this id."""
        return self.tests.get(row, ())

    def status(self, row: Row) -> Status:
        """Shown when tests name the row and nothing is said to be left; open when only a reason stands."""
        if self.of(row.id):
            return Status.IN_PART if row.open else Status.SHOWN
        return Status.OPEN if row.open else Status.NOT_YET


def collect(requirements: Requirements, root: Path = ROOT) -> Evidence:
    """Let pytest collect the tests under ``root`` and join their marks to the requirements.

    Raises :class:`EvidenceError` with pytest's own words where collection fails, or with the tests that
    claim an id that does not exist.
    """
    with tempfile.TemporaryDirectory() as folder:
        marks = Path(folder) / "marks.json"
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "tools.conformance.plugin"]
        command += ["-p", "no:cacheprovider", "-p", "no:xdist", "--requirement-marks", str(marks)]
        quiet = os.environ | {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
        done = subprocess.run(command, cwd=root, env=quiet, capture_output=True, text=True, check=False)
        if done.returncode not in _COLLECTED or not marks.exists():
            raise EvidenceError(f"pytest could not collect the tests:\n{done.stdout}{done.stderr}")
        entries = json.loads(marks.read_text(encoding="utf-8"))
    tests: dict[str, list[Witness]] = {}
    sas: dict[str, list[Witness]] = {}
    for entry in entries:
        file, _, name = entry["test"].partition("::")
        witness = Witness(file, name, entry["slow"])
        for rows, found in (("rows", tests), ("sas", sas)):
            for row in entry[rows]:
                found.setdefault(row, []).append(witness)
    unknown = [
        f"{test.file}::{test.name}: {row!r}"
        for row in sorted(tests.keys() - requirements.rows.keys())
        for test in tests[row]
    ]
    if unknown:
        raise EvidenceError("no such requirement:\n" + "\n".join(unknown))
    return Evidence(
        {row: tuple(sorted(found)) for row, found in tests.items()},
        {row: tuple(sorted(found)) for row, found in sas.items()},
    )
