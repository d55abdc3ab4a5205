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


def classify_failure(failed: str) -> str:
    """Return the message of a failure without its numbers: two failures of the same kind have the same text."""
    return _NUMBER_PATTERN.sub("#", failed)[:_FAILURE_KIND_LENGTH_MAX]


def shrink_case(
    root: Path, case: SimulationCase, failed: str, tries: int, report: Callable[[str], None]
) -> SimulationCase:
    """Return the case with the fewest actions that fails in the same way as ``case`` (ddmin).

    At most ``tries`` smaller cases are run.
    """
    wanted_kind = classify_failure(failed)
    tries_left = tries

    def fails(script: Sequence[Action]) -> bool:
        nonlocal tries_left
        tries_left -= 1
        return classify_failure(run_and_report(root / "try", replace(case, script=script))[1]) == wanted_kind

    script, part_count = list(case.script), 2
    while len(script) > 1 and tries_left > 0:
        size = -(-len(script) // part_count)
        for start in range(0, len(script), size):
            if tries_left <= 0:
                break
            shorter = script[:start] + script[start + size :]
            if fails(shorter):
                script, part_count = shorter, max(2, part_count - 1)
                report(f"{len(script)} actions still fail")
                break
        else:
            if size == 1:
                break
            part_count = min(len(script), part_count * 2)
    return replace(case, script=script)


def write_case(path: Path, case: SimulationCase, failed: str) -> None:
    """Store a case in a file, with the message ``failed`` of its failure."""
    document = {
        "failed": failed,
        "world": case.world,
        "setup": asdict(case.setup),
        "script": list(case.script),
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def read_case(path: Path) -> SimulationCase:
    """Return the case stored in a file."""
    document = json.loads(path.read_text(encoding="utf-8"))
    setup = document["setup"]
    lists = {name: tuple(setup[name]) for name in ("games",)} | {
        "levels": tuple((game, level) for game, level in setup["levels"])
    }
    return SimulationCase(
        document["world"],
        CabinetSetup(**{**setup, **lists}),
        [Action(name, seed) for name, seed in document["script"]],
    )
