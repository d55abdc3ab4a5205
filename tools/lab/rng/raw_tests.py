"""Third-party tests of raw output: ent and rngtest if installed, and a stored result of dieharder."""

import ast
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

#: The full dieharder run stored in the repository, with its command and date in its first lines.
DIEHARDER_FILE: Final = Path(__file__).with_name("evidence") / "dieharder.txt"

#: Precedes, in the stored run's first lines, a source file that produced the tested bytes.
_SOURCE_FILE_PREFIX: Final = "made by "
#: The root folder of the source.
_SOURCE_ROOT: Final = Path(__file__).parents[3]

#: Blocks that rngtest tests.
_RNGTEST_BLOCK_COUNT: Final = 1000
#: A block is 20,000 bits; rngtest reads 32 bits before the first.
_RNGTEST_SIZE_BYTES: Final = _RNGTEST_BLOCK_COUNT * 2500 + 8
#: Bytes that ent tests.
_ENT_SIZE_BYTES: Final = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RawTest:
    """The result of one external test tool on raw output, in the tool's own text."""

    tool: str
    """The name of the test tool."""
    command: str
    bytes_read: int
    lines: tuple[str, ...]
    """The tool's output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DieharderLine:
    """One p-value of the stored dieharder run."""

    test: str
    ntuple: int
    """The size parameter of the test, as dieharder prints it."""
    p_value: float
    assessment: str
    """Dieharder's own verdict, such as ``PASSED`` or ``WEAK``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DieharderResult:
    """The stored result of a dieharder run: the description in its first lines, and every p-value."""

    provenance: tuple[str, ...]
    lines: tuple[DieharderLine, ...]

    def count_p_values(self, assessment: str) -> int:
        """Return how many p-values dieharder assessed as ``assessment``."""
        return sum(line.assessment == assessment for line in self.lines)

    def list_changed_sources(self, root: Path = _SOURCE_ROOT) -> tuple[str, ...]:
        """Return the source files that produced the tested bytes and whose code has changed since then.

        The stored result has two digests of each file: of its bytes, and of its code without comments
        (:func:`compute_code_digest`). The present files are read below ``root``.
        """
        source_digests = [
            line.removeprefix(_SOURCE_FILE_PREFIX).split()
            for line in self.provenance
            if line.startswith(_SOURCE_FILE_PREFIX)
        ]
        return tuple(
            name
            for name, _, digest in source_digests
            if compute_code_digest((root / name).read_text(encoding="utf-8")) != digest
        )


def compute_code_digest(source: str) -> str:
    """Return the SHA-256 of Python source without comments, docstrings and layout, in hexadecimal."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [statement for statement in node.body if not _is_text(statement)]
    return sha256(ast.unparse(tree).encode()).hexdigest()


def _is_text(statement: ast.stmt) -> bool:
    """Return whether a statement is only a string, such as a docstring."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def read_dieharder(path: Path = DIEHARDER_FILE) -> DieharderResult:
    """Parse the stored output of dieharder. Raises ValueError, naming the line, if it has another form."""
    provenance, lines = [], []
    for line_number, line_text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        cells = [cell.strip() for cell in line_text.split("|")]
        if line_text.startswith("##"):
            provenance.append(line_text.removeprefix("##").strip())
        elif len(cells) == 6 and cells[5] in {"PASSED", "WEAK", "FAILED"}:
            try:
                lines.append(
                    DieharderLine(
                        test=cells[0], ntuple=int(cells[1]), p_value=float(cells[4]), assessment=cells[5]
                    )
                )
            except ValueError as error:
                raise ValueError(f"{path}:{line_number}: {line_text!r}: {error}") from error
    return DieharderResult(provenance=tuple(provenance), lines=tuple(lines))


def run_installed_tests(read_raw_bytes: Callable[[int], bytes]) -> list[RawTest]:
    """Run the installed external test tools on new raw output; ``read_raw_bytes(count)`` returns it."""
    results = []
    for tool, arguments, size in (("rngtest", (), _RNGTEST_SIZE_BYTES), ("ent", (), _ENT_SIZE_BYTES)):
        if path := shutil.which(tool):
            completed = subprocess.run(
                [path, *arguments], input=read_raw_bytes(size), capture_output=True, check=False
            )
            text = (completed.stdout + completed.stderr).decode(errors="replace")
            lines = tuple(
                line.strip() for line in text.splitlines() if line.strip() and "Copyright" not in line
            )
            results.append(
                RawTest(
                    tool=tool, command=f"egm rng bytes --count {size} | {tool}", bytes_read=size, lines=lines
                )
            )
    return results
