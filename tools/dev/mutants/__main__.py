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
    found: Iterable[Trial],
    outcomes: Mapping[str, TrialOutcome],
) -> str:
    """Return text with the number of requirements by status, and how many fail without their behaviour."""
    rows = tuple(requirements.rows.values())
    lines = []
    for title, chosen in (
        ("all rows", rows),
        ("rows of regulations", [row for row in rows if row.is_required_by_regulation]),
    ):
        states = Counter(evidence.status(row) for row in chosen)
        lines.append(
            f"{title}: {len(chosen)}; " + ", ".join(f"{states[status]} {status}" for status in Status)
        )
    verdicts: dict[str, set[Verdict]] = {}
    for trial in found:
        verdicts.setdefault(trial.row.id, set()).add(outcomes[trial.name].verdict)
    green = [row for row, seen in verdicts.items() if seen != {Verdict.KILLED}]
    lines.append(
        f"rows tried: {len(verdicts)}; {len(verdicts) - len(green)} fail without their behaviour, "
        f"{len(green)} do not{': ' if green else ''}{', '.join(green)}"
    )
    return "\n".join(lines)


def _run_trials(
    found: Sequence[Trial], *, workers: int, limit: float, fresh: bool
) -> dict[str, TrialOutcome]:
    memory: dict[str, dict[str, Any]] = json.loads(RESULTS_FILE.read_text()) if RESULTS_FILE.exists() else {}
    outcomes: dict[str, TrialOutcome] = {}
    waiting: list[Trial] = []
    digests = {trial.name: _compute_digest(trial) for trial in found}  # digests of the tree that is copied
    for trial in found:
        last = memory.get(trial.name, {})
        if fresh or last.get("digest") != digests[trial.name] or last["verdict"] == Verdict.ERROR:
            waiting.append(trial)
        else:
            outcomes[trial.name] = TrialOutcome(
                verdict=Verdict(last["verdict"]), by=last["by"], seconds=last["seconds"]
            )
    if not waiting:
        return outcomes
    RESULTS_FILE.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(workers) as pool:
        scratches: queue.SimpleQueue[ScratchCheckout] = queue.SimpleQueue()
        for number in range(min(workers, len(waiting))):
            (Path(folder) / str(number)).mkdir()
            scratches.put(ScratchCheckout(ROOT, Path(folder) / str(number)))

        def one(trial: Trial) -> TrialOutcome:
            scratch = scratches.get()
            try:
                return run_trial(trial, scratch, limit, memory.get(trial.name, {}).get("by", ""))
            finally:
                scratches.put(scratch)

        running = {pool.submit(one, trial): trial for trial in waiting}
        for done in as_completed(running):
            trial, outcome = running[done], done.result()
            outcomes[trial.name] = outcome
            memory[trial.name] = {**asdict(outcome), "digest": digests[trial.name]}
            RESULTS_FILE.write_text(json.dumps(memory, indent=1, sort_keys=True))
            echo(f"{len(outcomes)}/{len(found)} {trial.name} {outcome.verdict}", err=True)
    return outcomes


def _compute_digest(trial: Trial) -> str:
    """Return a digest of everything that decides a trial: its change, the changed file, its tests."""
    state = hashlib.sha256(repr((trial.mutant, trial.tests)).encode())
    for file in sorted({trial.mutant.file, *(test.file for test in trial.tests)}):
        path = ROOT / file
        state.update(path.read_bytes() if path.exists() else b"")
    return state.hexdigest()


def _print_outcomes(found: Iterable[Trial], outcomes: Mapping[str, TrialOutcome]) -> None:
    for trial in found:
        outcome = outcomes[trial.name]
        echo(f"{trial.name:<9} {outcome.verdict:<9} {outcome.seconds:5.0f} s  {outcome.by}")
        if outcome.verdict is not Verdict.KILLED:
            echo(f"{'':10}mutant: {trial.mutant.takes_away} ({trial.mutant.file})")


if __name__ == "__main__":
    main()
