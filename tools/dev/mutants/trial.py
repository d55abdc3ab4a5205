"""One trial: a behaviour is taken away, the tests of its row run, and one of them must fail."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from tools.dev.conformance.evidence import Evidence, Witness
from tools.dev.conformance.requirements import Mutant, Requirements, Row
from tools.dev.mutants.change import MutantError, changed
from tools.dev.mutants.scratch import OVER_THE_LIMIT, Run, Scratch

_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py::\S+?)(?:\[|\s|$)", re.MULTILINE)
#: the order tests are tried in: those of one module first, whole machines last
_DEAREST_LAST: Final = ("tests/powercut", "tests/end_to_end")
_SHOWN_LINES: Final = 15


class Verdict(StrEnum):
    """Result of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    NO_TEST = "no test"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A mutant to try, the row it is of, and the quick tests that show the row (or its clause)."""

    name: str
    row: Row
    mutant: Mutant
    tests: tuple[Witness, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The verdict; ``by`` is the test that failed, or what else there is to say."""

    verdict: Verdict
    by: str = ""
    seconds: float = 0.0


def trials(requirements: Requirements, evidence: Evidence, *, regulation: bool = True) -> tuple[Trial, ...]:
    """One trial a mutant, of the rows a regulation asks for, or with ``regulation`` false of every row.

    A row is named ``F-05`` or, by clause, ``F-05:b``; further mutants of the same get a number: ``F-05/2``.
    """
    found: list[Trial] = []
    for row in requirements.rows.values():
        names: dict[str, int] = {}
        for mutant in row.mutants if row.regulation or not regulation else ():
            mark = f"{row.id}:{mutant.clause}" if mutant.clause else row.id
            names[mark] = names.get(mark, 0) + 1
            name = mark if names[mark] == 1 else f"{mark}/{names[mark]}"
            tests = sorted((test for test in evidence.of(mark) if not test.slow), key=_dearness)
            found.append(Trial(name=name, row=row, mutant=mutant, tests=tuple(tests)))
    return tuple(found)


def tried(trial: Trial, scratch: Scratch, limit_seconds: float, first: str = "") -> Outcome:
    """Try one mutant. ``first`` is the test most likely to notice it, as ``file::name``.

    A test that also fails without the change proves nothing: the verdict is then an error, as it is if the
    change has no effect, if tests cannot be collected, or on a timeout.
    """
    ids = sorted((f"{test.file}::{test.name}" for test in trial.tests), key=lambda one: one != first)
    if not ids:
        return Outcome(verdict=Verdict.NO_TEST)
    try:
        with scratch.without(trial.mutant):
            run = scratch.pytest(ids, limit_seconds)
    except MutantError as error:
        return Outcome(verdict=Verdict.ERROR, by=str(error))
    if run.code == 0:
        return Outcome(verdict=Verdict.SURVIVED, by=f"{len(ids)} tests", seconds=run.seconds)
    failed = _FAILED.search(run.output)
    if run.code != 1 or failed is None:
        return Outcome(verdict=Verdict.ERROR, by=_reason(run), seconds=run.seconds)
    again = scratch.pytest([failed[1]], limit_seconds)
    if again.code != 0:
        reason = f"{failed[1]} fails though nothing is taken away: {_reason(again)}"
        return Outcome(verdict=Verdict.ERROR, by=reason, seconds=run.seconds + again.seconds)
    return Outcome(verdict=Verdict.KILLED, by=failed[1], seconds=run.seconds + again.seconds)


def not_found(mutants: Sequence[tuple[str, Mutant]], root: Path) -> list[str]:
    """Return the problems of these named mutants before any is tried: a text that is not there exactly once."""
    complaints = []
    for name, mutant in mutants:
        try:
            changed(mutant, root)
        except MutantError as error:
            complaints.append(f"{name}: {error}")
    return complaints


def _dearness(test: Witness) -> tuple[bool, str]:
    return test.file.startswith(_DEAREST_LAST), f"{test.file}::{test.name}"


def _reason(run: Run) -> str:
    if run.code == OVER_THE_LIMIT:
        return f"over the limit of time after {run.seconds:.0f} s"
    return f"pytest ended with {run.code}:\n" + "\n".join(run.output.splitlines()[-_SHOWN_LINES:])
