"""No game, meter or cabinet code finds chance anywhere but in ``rng``'s service.

Read from the source of ``paytables``, ``meters`` and ``egm``, without running it:

* no module reaches ``random``, ``secrets``, ``numpy.random``, ``os.urandom``, ``os.getrandom``, a random UUID
  or a random device, under any alias (but for the signing keys of ``meters``);
* the time is no source of chance: ``paytables`` never reads a clock, and nowhere is a clock reading reduced
  (``%``, ``&``, ``divmod``, an index) or handed to something that seeds or draws;
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

#: What a cabinet runs, beside ``rng`` itself.
GUARDED: Final = ("paytables", "meters", "egm")
#: Modules of ``rng`` for laboratories only.
LABORATORY: Final = ("rng.laboratory", "rng.bulk", "rng.collection", "rng.outcomes", "rng.battery")

_CHANCE: Final = (
    "random",
    "secrets",
    "numpy.random",
    "os.urandom",
    "os.getrandom",
    "uuid.uuid1",
    "uuid.uuid4",
)
#: Where random bytes are needed for something else than an outcome, and ``rng`` cannot be imported.
_EXCUSED: Final = {
    ("meters.keys", "os.urandom"): "signing keys",
    ("egm.screen.door", "os.urandom"): "the browser's one-time token; the screen may not import rng",
}
_DEVICES: Final = ("/dev/random", "/dev/urandom", "/dev/hwrng")
_CLOCKS: Final = (
    "time.time",
    "time.time_ns",
    "time.monotonic",
    "time.monotonic_ns",
    "time.perf_counter",
    "time.perf_counter_ns",
    "time.process_time",
    "time.process_time_ns",
    "time.thread_time",
    "time.thread_time_ns",
    "time.clock_gettime",
    "time.clock_gettime_ns",
    "datetime.datetime.now",
    "datetime.datetime.utcnow",
    "datetime.datetime.today",
    "datetime.date.today",
)
#: Calls whose arguments decide an outcome.
_DECIDES: Final = frozenset(
    {"seed", "below", "sample", "shuffle", "weighted", "choice", "choices", "randrange"}
)


@dataclass(frozen=True, slots=True)
class Violation:
    """One place that breaks a rule."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Module:
    """One parsed module: its dotted name, its tree, and what each local name stands for."""

    name: str
    path: Path
    tree: ast.Module
    names: dict[str, str]

    @classmethod
    def read(cls, root: Path, path: Path) -> "Module":
        """Parse the module at ``path``, whose name is its place under ``root``."""
        parts = path.relative_to(root).with_suffix("").parts
        package = parts[:-1]
        name = ".".join(package if parts[-1] == "__init__" else parts)
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        names: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    names[alias.asname or alias.name.split(".")[0]] = (
                        alias.name if alias.asname else alias.name.split(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom):
                base = _origin(node, package)
                for alias in node.names:
                    names[alias.asname or alias.name] = f"{base}.{alias.name}"
        return cls(name, path, tree, names)

    def imports(self) -> Iterator[tuple[str, int]]:
        """Every dotted name that importing this module may load, with its line."""
        package = (
            tuple(self.name.split("."))
            if self.path.name == "__init__.py"
            else tuple(self.name.split(".")[:-1])
        )
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((alias.name, node.lineno) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = _origin(node, package)
                yield base, node.lineno
                yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)

    def dotted(self, node: ast.expr) -> str:
        """What an expression such as ``np.random.default_rng`` stands for, else an empty text."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, "")
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return f"{base}.{node.attr}" if base else ""
        return ""


def _origin(node: ast.ImportFrom, package: tuple[str, ...]) -> str:
    if not node.level:
        return node.module or ""
    base = package[: len(package) - node.level + 1]
    return ".".join((*base, *((node.module,) if node.module else ())))


def _within(name: str, families: tuple[str, ...]) -> str:
    """The family of dotted names that ``name`` belongs to, else an empty text."""
    return next((f for f in families if name == f or name.startswith(f + ".")), "")


def modules(root: Path, packages: tuple[str, ...]) -> dict[str, Module]:
    """Every module of ``packages`` under ``root``, by dotted name."""
    paths = (path for package in packages for path in sorted((root / package).rglob("*.py")))
    return {module.name: module for module in (Module.read(root, path) for path in paths)}


def _chance(module: Module) -> Iterator[Violation]:
    """Other sources of chance than ``rng``."""
    for name, line in module.imports():
        if family := _within(name, _CHANCE):
            yield Violation(module.path, line, f"{family} is a source of chance; draw from rng's service")
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and (family := _within(module.dotted(node), _CHANCE)):
            if (module.name, family) in _EXCUSED:
                continue
            yield Violation(
                module.path, node.lineno, f"{family} is a source of chance; draw from rng's service"
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if device := next((d for d in _DEVICES if d in node.value), ""):
                yield Violation(
                    module.path, node.lineno, f"{device} is a source of chance; draw from rng's service"
                )
            if laboratory := _within(node.value, LABORATORY):
                yield Violation(
                    module.path, node.lineno, f"{laboratory} is for laboratories; it is named here"
                )


def _reads_clock(module: Module, node: ast.AST) -> bool:
    return any(isinstance(call, ast.Call) and module.dotted(call.func) in _CLOCKS for call in ast.walk(node))


def _decisive(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions within ``node`` whose value picks one of several outcomes."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.BitAnd):
        yield node.left
    elif isinstance(node, ast.Subscript):
        yield node.slice
    elif isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in _DECIDES or called in {"divmod", "hash", "Random"}:
            yield from node.args


def _time(module: Module) -> Iterator[Violation]:
    """Clock readings that decide something."""
    if module.name.split(".")[0] == "paytables":
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Name | ast.Attribute) and module.dotted(node) in _CLOCKS:
                yield Violation(module.path, node.lineno, "a game reads no clock")
    for node in ast.walk(module.tree):
        for decisive in _decisive(node):
            if _reads_clock(module, decisive):
                yield Violation(module.path, decisive.lineno, "the time is used as a source of chance")


def _laboratory(guarded: dict[str, Module], everything: dict[str, Module]) -> Iterator[Violation]:
    """Chains of imports from the cabinet to a laboratory module."""
    for start in guarded.values():
        seen = {start.name}
        queue: deque[tuple[Module, tuple[str, ...], int]] = deque([(start, (start.name,), 0)])
        while queue:
            module, chain, first_line = queue.popleft()
            for name, line in module.imports():
                at = first_line or line
                if _within(name, LABORATORY):
                    way = " -> ".join((*chain, name))
                    yield Violation(start.path, at, f"leads to what is for laboratories: {way}")
                elif name in everything and name not in seen:
                    seen.add(name)
                    queue.append((everything[name], (*chain, name), at))


def violations(root: Path) -> list[Violation]:
    """Every violation in the tree at ``root``, in order. Raises SyntaxError for what cannot be parsed."""
    guarded = modules(root, GUARDED)
    everything = {**guarded, **modules(root, ("rng",))}
    found = [v for module in guarded.values() for v in (*_chance(module), *_time(module))]
    found += _laboratory(guarded, everything)
    return sorted(set(found), key=lambda v: (str(v.path), v.line, v.message))


def main(arguments: list[str]) -> int:
    """Print the violations under the root named, or here; 0 when there are none."""
    root = Path(arguments[0]) if arguments else Path()
    found = violations(root)
    for violation in found:
        print(violation)
    print(f"chance: {len(found)} violations" if found else "chance: only rng draws")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
