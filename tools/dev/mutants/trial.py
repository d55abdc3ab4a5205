"""Try one mutant: remove a behaviour and run the tests of its requirement; one of them must fail."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from tools.dev.conformance.evidence import Evidence, EvidenceTest
from tools.dev.conformance.requirements import Mutant, RequirementRow, Requirements
from tools.dev.mutants.change import MutantError, apply_mutant
from tools.dev.mutants.scratch import TIMEOUT_EXIT_CODE, ScratchCheckout, TestRun

_FAILED_TEST_PATTERN: Final = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py::\S+?)(?:\[|\s|$)", re.MULTILINE)
#: Folders whose tests run last, because they run whole machines.
_EXPENSIVE_FOLDERS: Final = ("tests/powercut", "tests/end_to_end")
_SHOWN_LINES_MAX: Final = 15


class Verdict(StrEnum):
    """Result of trying a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    NO_TEST = "no test"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A mutant to try, its requirement, and the quick tests that cover this requirement (or a clause of it)."""

    name: str
    row: RequirementRow
    mutant: Mutant
    tests: tuple[EvidenceTest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOutcome:
    """The verdict on a mutant. ``by`` names the test that failed, or gives the reason for the verdict."""

    verdict: Verdict
    by: str = ""
    seconds: float = 0.0


def create_trials(
    requirements: Requirements, evidence: Evidence, *, regulation: bool = True
) -> tuple[Trial, ...]:
    """Return one trial for each mutant of the requirements of regulations, or of all if ``regulation`` is false.

    A trial is named ``F-05`` or, for a clause, ``F-05:b``; further mutants of the same requirement get a number:
    ``F-05/2``.
    """
    trials: list[Trial] = []
    for row in requirements.rows.values():
        mutant_count_by_mark: dict[str, int] = {}
        for mutant in row.mutants if row.is_required_by_regulation or not regulation else ():
            mark = f"{row.id}:{mutant.clause}" if mutant.clause else row.id
            mutant_count_by_mark[mark] = mutant_count_by_mark.get(mark, 0) + 1
            name = mark if mutant_count_by_mark[mark] == 1 else f"{mark}/{mutant_count_by_mark[mark]}"
            tests = sorted(
                (test for test in evidence.list_tests(mark) if not test.is_slow), key=_build_cost_sort_key
            )
            trials.append(Trial(name=name, row=row, mutant=mutant, tests=tuple(tests)))
    return tuple(trials)


def run_trial(
    trial: Trial, scratch: ScratchCheckout, limit_seconds: float, first_test_id: str = ""
) -> TrialOutcome:
    """Try one mutant and return the verdict. ``first_test_id`` is the test to run first, as ``file::name``.

    If the failing test also fails without the change, the verdict is an error. It is also an error if the change has no
    effect, if tests cannot be collected, or if the time limit passes.
    """
    test_ids = sorted(
        (f"{test.file}::{test.name}" for test in trial.tests), key=lambda test_id: test_id != first_test_id
    )
    if not test_ids:
        return TrialOutcome(verdict=Verdict.NO_TEST)
    try:
        with scratch.apply(trial.mutant):
            run = scratch.run_tests(test_ids, limit_seconds)
    except MutantError as error:
        return TrialOutcome(verdict=Verdict.ERROR, by=str(error))
    if run.exit_code == 0:
        return TrialOutcome(
            verdict=Verdict.SURVIVED, by=f"{len(test_ids)} tests", seconds=run.duration_seconds
        )
    failed_test = _FAILED_TEST_PATTERN.search(run.output)
    if run.exit_code != 1 or failed_test is None:
        return TrialOutcome(verdict=Verdict.ERROR, by=_describe_failure(run), seconds=run.duration_seconds)
    control_run = scratch.run_tests([failed_test[1]], limit_seconds)
    if control_run.exit_code != 0:
        reason = f"{failed_test[1]} fails without any change: {_describe_failure(control_run)}"
        return TrialOutcome(
            verdict=Verdict.ERROR, by=reason, seconds=run.duration_seconds + control_run.duration_seconds
        )
    return TrialOutcome(
        verdict=Verdict.KILLED, by=failed_test[1], seconds=run.duration_seconds + control_run.duration_seconds
    )


def list_inapplicable_mutants(mutants: Sequence[tuple[str, Mutant]], root: Path) -> list[str]:
    """Return an error text for each of the mutants (name, mutant) that cannot be applied."""
    complaints = []
    for name, mutant in mutants:
        try:
            apply_mutant(mutant, root)
        except MutantError as error:
            complaints.append(f"{name}: {error}")
    return complaints


def _build_cost_sort_key(test: EvidenceTest) -> tuple[bool, str]:
    return test.file.startswith(_EXPENSIVE_FOLDERS), f"{test.file}::{test.name}"


def _describe_failure(run: TestRun) -> str:
    if run.exit_code == TIMEOUT_EXIT_CODE:
        return f"time limit exceeded after {run.duration_seconds:.0f} s"
    return f"pytest ended with {run.exit_code}:\n" + "\n".join(run.output.splitlines()[-_SHOWN_LINES_MAX:])
