"""No game, meter or cabinet code finds chance anywhere but in ``rng``'s service.

Read from the source of ``paytables``, ``meters`` and ``egm``, without running it:

* no module reaches ``random``, ``secrets``, ``numpy.random``, a random UUID or a random device, under any
  alias;
* the kernel's random bytes make keys and tokens, never outcomes: ``paytables`` has none, and nowhere do they
  become a number;
* the time is no source of chance: ``paytables`` never reads a clock, and nowhere is a clock reading reduced
  (``%``, ``&``, ``divmod``, an index) or handed to something that seeds or draws. The screen, which decides
  nothing, may repeat its motion by the clock;
* no import leads, in however many steps, to a laboratory module (a deterministic stream, bulk draws, the raw
  tap, the battery), and none is named for a later import.

``python -m tools.checks.chance [ROOT]`` prints each violation as file:line and exits with 1.
"""

import ast
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.checks.source import Module, modules

#: What a cabinet runs, beside ``rng`` itself.
GUARDED: Final = ("paytables", "meters", "egm")
#: Modules of ``rng`` for laboratories only.
LABORATORY: Final = ("rng.laboratory", "rng.bulk", "rng.collection", "rng.outcomes", "rng.battery")

_CHANCE: Final = ("random", "secrets", "numpy.random", "uuid.uuid1", "uuid.uuid4")
_DEVICES: Final = ("/dev/random", "/dev/urandom", "/dev/hwrng")
_BYTES: Final = ("os.urandom", "os.getrandom")
_CLOCKS: Final = (
    *(
        f"time.{clock}{unit}"
        for clock in ("time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime")
        for unit in ("", "_ns")
    ),
    *(f"datetime.datetime.{way}" for way in ("now", "utcnow", "today")),
    "datetime.date.today",
)
#: Calls whose arguments decide an outcome, or turn bytes into a number.
_DECIDES: Final = frozenset(
    [
        "seed",
        "Random",
        "below",
        "sample",
        "shuffle",
        "weighted",
        "choice",
        "choices",
        "randrange",
        "divmod",
        "hash",
    ]
)
_NUMBERS: Final = frozenset({"from_bytes", "unpack", "int"})


@dataclass(frozen=True, slots=True)
class Violation:
    """One place that breaks a rule."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def _within(name: str, families: tuple[str, ...]) -> str:
    """The family of dotted names that ``name`` belongs to, else an empty text."""
    return next((f for f in families if name == f or name.startswith(f + ".")), "")


def _other_sources(module: Module) -> Iterator[Violation]:
    """Other sources of chance than ``rng``."""
    uses = [(_within(name, _CHANCE), line) for name, line in module.imports]
    for node in module.nodes:
        if isinstance(node, ast.Attribute):
            uses.append((_within(module.dotted(node), _CHANCE), node.lineno))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            uses.append((next((device for device in _DEVICES if device in node.value), ""), node.lineno))
            if laboratory := _within(node.value, LABORATORY):
                yield Violation(module.path, node.lineno, f"{laboratory}, for laboratories, is named here")
    for source, line in uses:
        if source:
            yield Violation(module.path, line, f"{source} is a source of chance; draw from rng's service")


def _deciding(node: ast.AST, calls: frozenset[str]) -> Iterator[ast.expr]:
    """The expressions within ``node`` whose value picks one of several outcomes."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.BitAnd):
        yield node.left
    elif isinstance(node, ast.Subscript):
        yield node.slice
    elif isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in calls:
            yield from node.args


def _random_bytes(module: Module) -> Iterator[Violation]:
    """The kernel's bytes where they become a number, also by way of a name; in games, at all."""

    def reads(node: ast.AST) -> bool:
        return any(called in _BYTES for called in module.called(node))

    tainted = {
        target.id
        for node in module.nodes
        if isinstance(node, ast.Assign) and reads(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in module.nodes:
        if module.name.split(".")[0] == "paytables" and module.dotted(node) in _BYTES:
            yield Violation(module.path, getattr(node, "lineno", 0), "a game reads no random bytes")
        for deciding in _deciding(node, _DECIDES | _NUMBERS):
            names = {name.id for name in ast.walk(deciding) if isinstance(name, ast.Name)}
            if reads(deciding) or names & tainted:
                yield Violation(module.path, deciding.lineno, "the kernel's random bytes become a number")


def _time(module: Module) -> Iterator[Violation]:
    """Clock readings that decide something."""
    if _within(module.name, ("egm.screen",)):
        return
    for node in module.nodes:
        if module.name.split(".")[0] == "paytables" and module.dotted(node) in _CLOCKS:
            yield Violation(module.path, getattr(node, "lineno", 0), "a game reads no clock")
        for deciding in _deciding(node, _DECIDES):
            if any(called in _CLOCKS for called in module.called(deciding)):
                yield Violation(module.path, deciding.lineno, "the time is used as a source of chance")


def _laboratory(start: Module, everything: dict[str, Module]) -> Iterator[Violation]:
    """Chains of imports from ``start`` to a laboratory module."""
    seen = {start.name}
    queue: deque[tuple[Module, tuple[str, ...], int]] = deque([(start, (start.name,), 0)])
    while queue:
        module, chain, first_line = queue.popleft()
        for name, line in module.imports:
            if _within(name, LABORATORY):
                way = " -> ".join((*chain, name))
                yield Violation(start.path, first_line or line, f"leads to what is for laboratories: {way}")
            elif name in everything and name not in seen:
                seen.add(name)
                queue.append((everything[name], (*chain, name), first_line or line))


def violations(root: Path) -> list[Violation]:
    """Every violation in the tree at ``root``, in order. Raises SyntaxError for what cannot be parsed."""
    guarded = modules(root, GUARDED)
    everything = {**guarded, **modules(root, ("rng",))}
    found: set[Violation] = set()
    for module in guarded.values():
        found.update(_other_sources(module), _random_bytes(module), _time(module))
        found.update(_laboratory(module, everything))
    return sorted(found, key=lambda v: (str(v.path), v.line, v.message))


def main(arguments: list[str]) -> int:
    """Print the violations under the root named, or here; 0 when there are none."""
    found = violations(Path(arguments[0]) if arguments else Path())
    for violation in found:
        print(violation)
    print(f"chance: {len(found)} violations" if found else "chance: only rng draws")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
