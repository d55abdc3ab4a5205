"""Measure the start of a machine up to attract mode, with new and existing memory, for every profile.

Also check that no laboratory package is loaded. The machine's process is measured until a screen has its first picture,
and the screen's process until its first frame, which shows what the machine is doing.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from egm.config.cabinet_file import DEFAULT_CABINET, StateFolder
from egm.isolated import build_python_command
from egm.kernel.messages import Snapshot
from egm.profiles import list_profile_ids
from tools.dev.bench import BenchFigure, measure_command_processor_seconds
from tools.dev.bench.machine import Screen, run_process

#: Laboratory packages that a cabinet does not have.
_LABORATORY_PACKAGES: Final = ("jinja2", "matplotlib", "numba", "numpy", "scipy")
_START_PROGRAM: Final = (
    "import runpy, sys\n"
    f"for name in {_LABORATORY_PACKAGES!r}: sys.modules[name] = None\n"
    "sys.argv[0] = 'egm.app'\n"
    "runpy.run_module('egm.app', run_name='__main__')\n"
)


def _write_cabinet_file(folder: Path, profile: str) -> Path:
    """Write the demonstration's cabinet file for a jurisdiction."""
    text = DEFAULT_CABINET.read_text(encoding="utf-8")
    profile_lines = f'profile = "{profile}"\nlicence_holder = "bench"\naddress = "bench"'
    file = folder / f"{profile}.toml"
    file.write_text(
        text.replace('profile = "generic"', profile_lines) + "\n[metrics]\nport = 0\n", encoding="utf-8"
    )
    return file


def _read_processor_seconds(process_id: int) -> float:
    """Return the processor seconds that a living process has used."""
    stat_fields = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(stat_fields[11]) + int(stat_fields[12])) / os.sysconf("SC_CLK_TCK")


def _measure_machine_start(state: StateFolder, cabinet: Path) -> tuple[float, float]:
    """Return the seconds from starting a machine's process to its first picture, and its processor seconds."""
    options = ("--state", str(state.root), "--cabinet", str(cabinet))
    started_seconds = time.perf_counter()
    with (
        run_process((sys.executable, "-I", "-c", _START_PROGRAM, *options)) as process,
        closing(Screen(state)) as screen,
    ):
        screen.wait_for_message(lambda message: isinstance(message, Snapshot))
        return time.perf_counter() - started_seconds, _read_processor_seconds(process.pid)


def _measure_screen_start(folder: Path) -> float:
    """Return the seconds from starting a screen's process until it can be opened, without a machine."""
    (folder / "run").mkdir(parents=True)
    started_seconds = time.perf_counter()
    command = build_python_command("egm.screen", "--state", str(folder), "--mode", "web", "--silent")
    with run_process(command) as process:
        assert process.stdout is not None
        process.stdout.readline()
        return time.perf_counter() - started_seconds


def measure_figures() -> Iterator[BenchFigure]:
    """Yield the first and a later start of a machine for each profile, and the start of the screen."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        imports = measure_command_processor_seconds(
            (sys.executable, "-I", "-c", "import egm.app.process; print()")
        )
        for profile in list_profile_ids():
            state = StateFolder(folder / profile)
            for when in ("first start", "start again"):
                seconds, processor = _measure_machine_start(state, _write_cabinet_file(folder, profile))
                start_name = f"{profile}: {when}, to the first picture of the machine"
                yield BenchFigure(start_name, seconds, "s", better_if="lower", target="value <= 4 s")
                yield BenchFigure(
                    f"{start_name}, processor",
                    processor,
                    "s",
                    "its imports alone",
                    imports,
                    better_if="lower",
                    target="value <= 2.5 s",
                )
        yield BenchFigure(
            "screen that says what a starting machine does",
            _measure_screen_start(folder / "screen"),
            "s",
            better_if="lower",
            target="value <= 1 s",
        )
