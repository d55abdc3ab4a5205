"""Copy the checkout, apply one mutant at a time and run tests in the copy."""

import itertools
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.dev.conformance.requirements import Mutant
from tools.dev.mutants.change import apply_mutant

#: Files of a checkout that no test reads.
_FILES_NOT_COPIED: Final = (
    ".git",
    ".venv",
    "__pycache__",
    ".*_cache",
    ".hypothesis",
    "build",
    "dist",
    "*.egg-info",
)
#: Exit code of a run that exceeded its time limit, as of ``timeout(1)``.
TIMEOUT_EXIT_CODE: Final = 124

#: Each change gets a unique time, because Python considers compiled code current if time and size agree.
_UNIQUE_FILE_TIMES_SECONDS = itertools.count(int(time.time()))


@dataclass(frozen=True, slots=True)
class TestRun:
    """Result of a pytest run: its exit code, output and duration."""

    exit_code: int
    output: str
    duration_seconds: float


def _create_environment(folder: Path, checkout: Path) -> Path:
    """Create a virtual environment and return the path of its Python.

    It imports modules from ``checkout`` first, then from the packages of this process's environment.
    """
    venv.create(folder, symlinks=True)
    new_packages, own_packages = (
        sysconfig.get_path("purelib", vars={"base": base, "platbase": base})
        for base in (str(folder), sys.prefix)
    )
    Path(new_packages, "scratch.pth").write_text(f"{checkout}\n{own_packages}\n", encoding="utf-8")
    return folder / "bin" / "python"


class ScratchCheckout:
    """A copy of the checkout, in which mutants are applied, with a virtual environment of its own.

    An isolated process (``python -I``) ignores ``PYTHONPATH``. Therefore the environment itself is configured to import
    from the copy first, so every process that a test starts imports the copy.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = folder / "tree"
        shutil.copytree(root, self.root, ignore=shutil.ignore_patterns(*_FILES_NOT_COPIED), symlinks=True)
        self._temporary = folder / "tmp"
        self._temporary.mkdir()
        self._python = _create_environment(folder / "venv", self.root)
        self._environment = os.environ | {
            "PYTHONPATH": str(self.root),
            "TMPDIR": str(self._temporary),
            "SDL_VIDEODRIVER": "dummy",
            "SDL_AUDIODRIVER": "dummy",
        }

    @contextmanager
    def apply(self, mutant: Mutant) -> Iterator[None]:
        """Apply the mutant for the duration of the block. Raises :class:`MutantError`."""
        path = self.root / mutant.file
        text, original = apply_mutant(mutant, self.root), path.read_text(encoding="utf-8")
        self._write(path, text)
        try:
            yield
        finally:
            self._write(path, original)

    def run_tests(self, tests: Sequence[str], time_limit_seconds: float) -> TestRun:
        """Run tests until one fails or the time limit ends; processes that they started are ended too."""
        command = [str(self._python), "-m", "pytest", "-x", "-q", "-rfE", "-m", "not slow", "--tb=short"]
        command += ["-p", "no:cacheprovider", "-p", "no:xdist", *tests]
        started_seconds = time.monotonic()
        with subprocess.Popen(
            command,
            cwd=self.root,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=time_limit_seconds)
                exit_code = process.returncode
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, exit_code = process.communicate()[0], TIMEOUT_EXIT_CODE
        for left_path in self._temporary.iterdir():
            shutil.rmtree(left_path, ignore_errors=True)
        return TestRun(exit_code, output, time.monotonic() - started_seconds)

    @staticmethod
    def _write(path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        moment = next(_UNIQUE_FILE_TIMES_SECONDS)
        os.utime(path, (moment, moment))
