"""Reduce a failing simulation to the fewest actions that fail in the same way, and store it in a file."""

import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from tools.dev.simulation.actions import Action
from tools.dev.simulation.cabinet_setup import CabinetSetup
from tools.dev.simulation.campaign import SimulationCase, SimulationResult, run_case
from tools.dev.simulation.history import EXPORT_FILE

#: Numbers differ between scripts; a message without them identifies the kind of failure.
_NUMBER_PATTERN: Final = re.compile(r"[0-9a-f]*\d[0-9a-f]*")
_FAILURE_KIND_LENGTH_MAX: Final = 60


def run_and_report(
    root: Path, case: SimulationCase, export: Path | None = None
) -> tuple[SimulationResult | None, str]:
    """Run a case in a temporary folder; return its result and its first finding, or an empty string.

    ``export`` is the path for the audited export of its journal.
    """
    root.mkdir(parents=True)
    try:
        result = run_case(root, case)
        if export is not None:
            shutil.move(root / EXPORT_FILE, export)
        return result, next(iter(result.verdict.findings), "")
    except Exception as error:  # noqa: BLE001 (any error that stops the machine is the failure)
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        return None, f"{type(error).__name__}: {error}"
    finally:
        shutil.rmtree(root, ignore_errors=True)


def classify_failure(failure_text: str) -> str:
    """Return the message of a failure without its numbers: two failures of the same kind have the same text."""
    return _NUMBER_PATTERN.sub("#", failure_text)[:_FAILURE_KIND_LENGTH_MAX]


def shrink_case(
    root: Path, case: SimulationCase, failure_text: str, tries_max: int, report: Callable[[str], None]
) -> SimulationCase:
    """Return the case with the fewest actions that fails in the same way as ``case`` (ddmin).

    At most ``tries_max`` smaller cases are run.
    """
    wanted_kind = classify_failure(failure_text)
    tries_left = tries_max

    def fails(script: Sequence[Action]) -> bool:
        nonlocal tries_left
        tries_left -= 1
        return classify_failure(run_and_report(root / "try", replace(case, script=script))[1]) == wanted_kind

    script, part_count = list(case.script), 2
    while len(script) > 1 and tries_left > 0:
        part_length = -(-len(script) // part_count)
        for part_start in range(0, len(script), part_length):
            if tries_left <= 0:
                break
            shorter_script = script[:part_start] + script[part_start + part_length :]
            if fails(shorter_script):
                script, part_count = shorter_script, max(2, part_count - 1)
                report(f"{len(script)} actions still fail")
                break
        else:
            if part_length == 1:
                break
            part_count = min(len(script), part_count * 2)
    return replace(case, script=script)


def write_case(path: Path, case: SimulationCase, failure_text: str) -> None:
    """Store a case in a file, with the message ``failure_text`` of its failure."""
    document = {
        "failed": failure_text,
        "world": case.world,
        "setup": asdict(case.setup),
        "script": list(case.script),
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def read_case(path: Path) -> SimulationCase:
    """Return the case stored in a file."""
    document = json.loads(path.read_text(encoding="utf-8"))
    setup = document["setup"]
    tuples_by_name = {name: tuple(setup[name]) for name in ("games",)} | {
        "levels": tuple((game, level) for game, level in setup["levels"])
    }
    return SimulationCase(
        document["world"],
        CabinetSetup(**{**setup, **tuples_by_name}),
        [Action(name, seed) for name, seed in document["script"]],
    )
