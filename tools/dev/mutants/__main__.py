"""``python -m tools.dev.mutants``: remove the behaviour of each requirement and report changes that no test detects."""

import hashlib
import json
import queue
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click

from tools.cli.terminal import echo
from tools.dev.conformance.evidence import Evidence, EvidenceError, Status, collect
from tools.dev.conformance.requirements import ROOT, Requirements, RequirementsError, load
from tools.dev.mutants.scratch import ScratchCheckout
from tools.dev.mutants.trial import Trial, TrialOutcome, Verdict, create_trials, run_trial

#: Results of earlier trials; a trial with the same change, file and tests is not run again.
RESULTS_FILE: Final = ROOT / "build" / "mutants.json"
_WORKERS_DEFAULT: Final = 2
_TRIAL_SECONDS_MAX: Final = 300.0


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--row", "names", multiple=True, help="Only this row (J-04), clause (J-04:b) or mutant (J-04/2)."
)
@click.option("--all", "every", is_flag=True, help="Also rows that no regulation requires.")
@click.option(
    "--fresh", is_flag=True, help="Also repeat trials whose change, file and tests have not changed."
)
@click.option(
    "--limit", default=_TRIAL_SECONDS_MAX, show_default=True, help="Time limit of one test run, in seconds."
)
@click.option("--workers", default=_WORKERS_DEFAULT, show_default=True, help="Number of parallel trials.")
def main(*, names: Sequence[str], every: bool, fresh: bool, limit: float, workers: int) -> None:
    """Remove the behaviour of each requirement of a regulation in turn; the tests that cover it must fail.

    Exits with 1 if a mutant survives, has no quick test, or cannot be tried.
    """
    try:
        requirements = load()
        evidence = collect(requirements)
    except (RequirementsError, EvidenceError) as error:
        raise click.ClickException(str(error)) from error
    trials = [
        trial
        for trial in create_trials(requirements, evidence, regulation=not every)
        if not names or {trial.name, trial.name.partition("/")[0], trial.row.id} & set(names)
    ]
    if not trials:
        raise click.ClickException(f"no such mutant: {', '.join(names)}")
    outcomes = _run_trials(trials, workers=workers, limit=limit, fresh=fresh)
    _print_outcomes(trials, outcomes)
    complaints: list[str] = []
    if not names:
        complaints = [text for row in requirements.rows.values() for text in evidence.list_shortfalls(row)]
        echo(
            "".join(f"{text}\n" for text in complaints)
            + format_counts(requirements, evidence, trials, outcomes)
        )
    if complaints or any(outcome.verdict is not Verdict.KILLED for outcome in outcomes.values()):
        raise SystemExit(1)


def format_counts(
    requirements: Requirements,
    evidence: Evidence,
    trials: Iterable[Trial],
    outcomes: Mapping[str, TrialOutcome],
) -> str:
    """Return text with the number of requirements by status, and how many fail without their behaviour."""
    rows = tuple(requirements.rows.values())
    lines = []
    for title, chosen_rows in (
        ("all rows", rows),
        ("rows of regulations", [row for row in rows if row.is_required_by_regulation]),
    ):
        count_by_status = Counter(evidence.status(row) for row in chosen_rows)
        lines.append(
            f"{title}: {len(chosen_rows)}; "
            + ", ".join(f"{count_by_status[status]} {status}" for status in Status)
        )
    verdicts: dict[str, set[Verdict]] = {}
    for trial in trials:
        verdicts.setdefault(trial.row.id, set()).add(outcomes[trial.name].verdict)
    surviving_rows = [row for row, row_verdicts in verdicts.items() if row_verdicts != {Verdict.KILLED}]
    lines.append(
        f"rows tried: {len(verdicts)}; {len(verdicts) - len(surviving_rows)} fail without their behaviour, "
        f"{len(surviving_rows)} do not{': ' if surviving_rows else ''}{', '.join(surviving_rows)}"
    )
    return "\n".join(lines)


def _run_trials(
    trials: Sequence[Trial], *, workers: int, limit: float, fresh: bool
) -> dict[str, TrialOutcome]:
    stored_results: dict[str, dict[str, Any]] = (
        json.loads(RESULTS_FILE.read_text()) if RESULTS_FILE.exists() else {}
    )
    outcomes: dict[str, TrialOutcome] = {}
    pending_trials: list[Trial] = []
    digests = {trial.name: _compute_digest(trial) for trial in trials}  # digests of the tree that is copied
    for trial in trials:
        stored_result = stored_results.get(trial.name, {})
        if (
            fresh
            or stored_result.get("digest") != digests[trial.name]
            or stored_result["verdict"] == Verdict.ERROR
        ):
            pending_trials.append(trial)
        else:
            outcomes[trial.name] = TrialOutcome(
                verdict=Verdict(stored_result["verdict"]),
                by=stored_result["by"],
                seconds=stored_result["seconds"],
            )
    if not pending_trials:
        return outcomes
    RESULTS_FILE.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(workers) as pool:
        scratches: queue.SimpleQueue[ScratchCheckout] = queue.SimpleQueue()
        for number in range(min(workers, len(pending_trials))):
            (Path(folder) / str(number)).mkdir()
            scratches.put(ScratchCheckout(ROOT, Path(folder) / str(number)))

        def run_in_scratch(trial: Trial) -> TrialOutcome:
            scratch = scratches.get()
            try:
                return run_trial(trial, scratch, limit, stored_results.get(trial.name, {}).get("by", ""))
            finally:
                scratches.put(scratch)

        trial_by_future = {pool.submit(run_in_scratch, trial): trial for trial in pending_trials}
        for future in as_completed(trial_by_future):
            trial, outcome = trial_by_future[future], future.result()
            outcomes[trial.name] = outcome
            stored_results[trial.name] = {**asdict(outcome), "digest": digests[trial.name]}
            RESULTS_FILE.write_text(json.dumps(stored_results, indent=1, sort_keys=True))
            echo(f"{len(outcomes)}/{len(trials)} {trial.name} {outcome.verdict}", err=True)
    return outcomes


def _compute_digest(trial: Trial) -> str:
    """Return a digest of everything that decides a trial: its change, the changed file, its tests."""
    state = hashlib.sha256(repr((trial.mutant, trial.tests)).encode())
    for file in sorted({trial.mutant.file, *(test.file for test in trial.tests)}):
        path = ROOT / file
        state.update(path.read_bytes() if path.exists() else b"")
    return state.hexdigest()


def _print_outcomes(trials: Iterable[Trial], outcomes: Mapping[str, TrialOutcome]) -> None:
    for trial in trials:
        outcome = outcomes[trial.name]
        echo(f"{trial.name:<9} {outcome.verdict:<9} {outcome.seconds:5.0f} s  {outcome.by}")
        if outcome.verdict is not Verdict.KILLED:
            echo(f"{'':10}mutant: {trial.mutant.takes_away} ({trial.mutant.file})")


if __name__ == "__main__":
    main()
