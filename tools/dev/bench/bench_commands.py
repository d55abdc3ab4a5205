"""Processor time of interactive commands, each in its own process, compared with `egm --version`.

A command imports and analyses what it needs each time; nothing comes from a cache on disk. Each figure is the lowest of
:data:`MEASUREMENTS` measurements.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from egm.config.cabinet_file import DEFAULT_CABINET
from egm.isolated import build_python_command
from paytables import list_shipped_games
from tools.dev.bench import BenchFigure, measure_command_processor_seconds

MEASUREMENTS: Final = 3
_BASELINE_COMMAND: Final = "egm --version"


def _measure_command(*arguments: str) -> float:
    """Return the lowest processor seconds of an ``egm`` command."""
    return min(
        measure_command_processor_seconds(build_python_command("tools.cli", *arguments))
        for _ in range(MEASUREMENTS)
    )


def _write_full_cabinet_file(folder: Path) -> Path:
    """Write a cabinet file with every game of the library and without progressive levels; return its path."""
    text = DEFAULT_CABINET.read_text(encoding="utf-8")
    head = text[: text.index("[[games]]")]
    file = folder / "every-game.toml"
    file.write_text(
        head + "".join(f'[[games]]\ngame = "{name}"\n' for name in list_shipped_games()), encoding="utf-8"
    )
    return file


def measure_figures() -> Iterator[BenchFigure]:
    """Yield the processor time of each command, with its aim."""
    with tempfile.TemporaryDirectory() as name:
        os.environ["HOME"] = name  # no state of a machine is read
        full_cabinet_file = str(_write_full_cabinet_file(Path(name)))
        baseline = _measure_command("--version")
        for command_text, aim_seconds, *arguments in (
            ("egm game list", 1.5, "game", "list"),
            ("egm par maple-classic", 0.5, "par", "maple-classic"),
            ("egm cabinet check, the demonstration", 1.5, "cabinet", "check", str(DEFAULT_CABINET)),
            (
                f"egm cabinet check, {len(list_shipped_games())} games",
                1.5,
                "cabinet",
                "check",
                full_cabinet_file,
            ),
        ):
            yield BenchFigure(
                f"{command_text}, processor",
                _measure_command(*map(str, arguments)),
                "s",
                _BASELINE_COMMAND,
                baseline,
                better_if="lower",
                target=f"value <= {aim_seconds} s",
            )
