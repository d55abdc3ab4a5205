"""Shrinking of a simulation that fails: the fewest actions that fail so, and a file to run them from."""

import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from tools.dev.simulation.actions import Action
from tools.dev.simulation.campaign import Case, Result, simulate
from tools.dev.simulation.history import EXPORT
from tools.dev.simulation.house import House

#: Numbers differ from run to run of another script: what is left of a message is what kind of failure it is.
_NUMBERS: Final = re.compile(r"[0-9a-f]*\d[0-9a-f]*")
_KIND_CHARACTERS: Final = 60


def attempt(root: Path, case: Case, export: Path | None = None) -> tuple[Result | None, str]:
    """Run a case in a new folder, gone afterwards; what came out, and what is wrong first, or nothing.

    ``export``: where to leave the audited export of its journal.
    """
    root.mkdir(parents=True)
    try:
        result = simulate(root, case)
        if export is not None:
            shutil.move(root / EXPORT, export)
        return result, next(iter(result.verdict.wrong), "")
    except Exception as error:  # noqa: BLE001 (whatever stops a machine is the failure looked for)
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        return None, f"{type(error).__name__}: {error}"
    finally:
        shutil.rmtree(root, ignore_errors=True)


def kind(failed: str) -> str:
    """What a failure is called, whatever the numbers in it."""
    return _NUMBERS.sub("#", failed)[:_KIND_CHARACTERS]


def shrink(root: Path, case: Case, failed: str, tries: int, say: Callable[[str], None]) -> Case:
    """The case with as few actions as fail in the same way, found in so many tries at most (ddmin)."""
    wanted = kind(failed)
    left = tries

    def fails(script: Sequence[Action]) -> bool:
        nonlocal left
        left -= 1
        return kind(attempt(root / "try", replace(case, script=script))[1]) == wanted

    script, parts = list(case.script), 2
    while len(script) > 1 and left > 0:
        size = -(-len(script) // parts)
        for begin in range(0, len(script), size):
            if left <= 0:
                break
            fewer = script[:begin] + script[begin + size :]
            if fails(fewer):
                script, parts = fewer, max(2, parts - 1)
                say(f"{len(script)} actions still fail")
                break
        else:
            if size == 1:
                break
            parts = min(len(script), parts * 2)
    return replace(case, script=script)


def write(path: Path, case: Case, failed: str) -> None:
    """Leave a case in a file, with what was wrong when it was found."""
    document = {
        "failed": failed,
        "world": case.world,
        "house": asdict(case.house),
        "script": list(case.script),
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def read(path: Path) -> Case:
    """The case of a file."""
    document = json.loads(path.read_text(encoding="utf-8"))
    house = document["house"]
    lists = {name: tuple(house[name]) for name in ("games",)} | {
        "levels": tuple((game, level) for game, level in house["levels"])
    }
    return Case(
        document["world"],
        House(**{**house, **lists}),
        [Action(name, seed) for name, seed in document["script"]],
    )
