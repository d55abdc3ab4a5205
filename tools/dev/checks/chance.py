"""Check that games, meters and the cabinet get random values only from ``rng``'s service.

The source of ``paytables``, ``meters`` and ``egm`` is read, not run:

* No module imports ``random``, ``secrets``, ``numpy.random``, a random UUID, a random device or a library's
  generator, under any alias. Games and meters import only listed modules.
* Of ``rng``, only its public interface for cabinets is used, not its sources or mechanisms.
* Nothing is imported or executed that cannot be read here: no ``eval``, no ``__import__``, no computed module name.
* The kernel's random bytes make keys and tokens, never outcomes: ``paytables`` has none, and they are never
  converted to a number or an order.
* Time is not a source of randomness: ``paytables`` never reads a clock, and no clock reading is reduced
  (``%``, ``&``, ``^``, ``divmod``, an index) or passed to something that seeds or draws. The screen decides
  nothing and may repeat its motion by the clock.
* Values that differ between runs are not used either: hashes and addresses of objects, process numbers, the
  order of sets.
* No import leads, directly or indirectly, to a laboratory module (a deterministic stream, bulk draws, the
  raw tap, the battery), and none is named for a later import.

Values are followed through names, functions and attributes within one module, not between modules. This finds
accidents and plain attempts. Skilled concealment is a matter for source review and for the replay of recorded
draws, which must explain every outcome.

``python -m tools.dev.checks.chance [ROOT]`` prints each violation as file:line and exits with 1.
"""

import ast
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.cli.terminal import echo
from tools.dev.checks.source import Module, modules
from tools.dev.checks.values import Values, called

#: What a cabinet runs, beside ``rng`` itself.
GUARDED: Final = ("paytables", "meters", "egm")
#: Modules for laboratories and tests only.
LABORATORY: Final = ("tools.lab", "egm.testing")
#: What of ``rng`` gives numbers that no service drew.
_SOURCES: Final = ("rng.KernelSource", "rng.JitterSource", "rng.HardwareSource", "rng.list_available_sources")

_CHANCE: Final = (
    "random", "secrets", "numpy.random", "uuid.uuid1", "uuid.uuid4", "ssl.RAND_bytes", "scipy", "hypothesis",
    "tempfile", "ctypes", "cffi", "subprocess", "cryptography.fernet", "cryptography.hazmat.bindings",
)  # fmt: skip
#: What one module may use all the same: it asks the kernel to close its process, and draws nothing.
_SPARED: Final = {"egm.private_process": "ctypes"}
_DEVICES: Final = ("/dev/random", "urandom", "hwrng", "kernel/random")
#: All that games and meters import from outside: no clock, no chance, no way to code that is not here.
_IMPORTS: Final = {
    "paytables": (
        "__future__", "abc", "base64", "binascii", "bisect", "collections", "dataclasses", "datetime",
        "difflib", "enum", "errno", "fractions", "functools", "hashlib", "hmac", "importlib", "io",
        "itertools", "json", "lzma", "math", "numba", "numpy", "operator", "pathlib", "pydantic", "re",
        "tomllib", "types", "typing", "unicodedata", "wave", "xml.parsers.expat", "zlib", "paytables",
    ),
    "meters": (
        "array", "bisect", "collections", "concurrent.futures", "contextlib", "cryptography.exceptions",
        "cryptography.hazmat.primitives.asymmetric.ed25519", "cryptography.hazmat.primitives.hashes",
        "cryptography.hazmat.primitives.kdf.hkdf", "cryptography.hazmat.primitives.serialization",
        "dataclasses", "datetime", "enum", "errno", "fcntl", "fnmatch", "functools", "hashlib", "heapq",
        "hmac", "itertools", "json", "operator", "os", "pathlib", "re", "shutil", "sqlite3", "struct",
        "types", "typing", "urllib.parse", "zlib", "meters",
    ),
}  # fmt: skip
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
#: A clock that was handed in is known by what it is asked.
_CLOCK_WORDS: Final = frozenset({"monotonic", "monotonic_ns", "time", "time_ns", "perf_counter_ns"})
#: Modules without chance whose parts may be named when the code runs.
_OPEN: Final = ("pygame",)
#: What no two runs agree on.
_UNSTEADY: Final = ("os.getpid", "os.getppid", "threading.get_ident", "threading.get_native_id")
_UNREADABLE: Final = frozenset({"eval", "exec", "compile", "__import__"})
#: Calls whose arguments decide an outcome.
_DECIDES: Final = frozenset(
    {
        "seed", "Random", "below", "sample", "shuffle", "weighted", "choice", "choices", "randrange",
        "divmod", "hash", "sorted", "sort",
    }
)  # fmt: skip
#: Calls that make a number of bytes, or choose by them.
_NUMBERS: Final = frozenset({"from_bytes", "unpack", "int", "sum", "max", "min", "WordDraws"})


@dataclass(frozen=True, slots=True)
class Violation:
    """One place that breaks a rule."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def _within(name: str, families: tuple[str, ...]) -> str:
    """Return the family of dotted names that contains ``name``, or an empty string."""
    return next((f for f in families if name == f or name.startswith(f + ".")), "")


def _other_sources(module: Module) -> Iterator[Violation]:
    """Other sources of chance than ``rng``'s service."""
    uses = list(module.imports)
    for node in module.nodes:
        if isinstance(node, ast.Attribute | ast.Call):
            uses.append((module.dotted(node), node.lineno))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in module.docstrings:
            if device := next((device for device in _DEVICES if device in node.value), ""):
                yield Violation(module.path, node.lineno, f"{device} is a source of chance")
            if laboratory := _within(node.value, LABORATORY):
                yield Violation(module.path, node.lineno, f"{laboratory}, for laboratories, is named here")
    for name, line in uses:
        if (source := _within(name, _CHANCE)) and source != _SPARED.get(module.name):
            yield Violation(module.path, line, f"{source} is a source of chance; draw from rng's service")
        if source := _within(name, (*_SOURCES, *LABORATORY)):
            yield Violation(module.path, line, f"{source} is no way to draw; draw from rng's service")


def _imports(module: Module, everything: dict[str, Module]) -> Iterator[Violation]:
    """Yield imports that are not allowed, and imports from ``rng`` below its public interface."""
    allowed = _IMPORTS.get(module.name.split(".")[0])
    for name, line in module.imports:
        if allowed is not None and not _within(name, allowed):
            yield Violation(
                module.path, line, f"{name} is not among the imports listed in tools/dev/checks/chance.py"
            )
        below = name.startswith("rng.") and (name in everything or name.count(".") > 1)
        if below and not _within(name, LABORATORY):
            yield Violation(module.path, line, f"{name} is rng's own; draw from its service")


def _unreadable(module: Module) -> Iterator[Violation]:
    """Code and modules that are only known once it runs."""
    imported = set(module.names.values()) - set(_OPEN)
    for node in module.nodes:
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in _UNREADABLE:
                yield Violation(module.path, node.lineno, f"{node.func.id} runs what cannot be read here")
            named = called(node) != "getattr" or module.dotted(node)
            if not named and node.args and module.dotted(node.args[0]) in imported:
                yield Violation(module.path, node.lineno, "a part of a module is named when it runs")
        elif isinstance(node, ast.Attribute) and module.dotted(node) == "sys.modules":
            yield Violation(module.path, node.lineno, "sys.modules reaches what was not imported here")
    if any(_within(name, ("builtins",)) for name, _ in module.imports):
        yield Violation(module.path, 1, "builtins runs what cannot be read here")
    yield from _imported_later(module)


def _imported_later(module: Module) -> Iterator[Violation]:
    """Yield violations of a module that imports by name: computed names, and texts that name a random source."""
    later = [
        node
        for node in module.nodes
        if isinstance(node, ast.Call) and module.dotted(node.func) == "importlib.import_module"
    ]
    for call in later:
        if any(isinstance(n, ast.BinOp | ast.JoinedStr | ast.Call) for a in call.args for n in ast.walk(a)):
            yield Violation(module.path, call.lineno, "a module's name is put together when it runs")
    texts = (n for n in module.nodes if later and isinstance(n, ast.Constant) and isinstance(n.value, str))
    for text in texts:
        if source := _within(str(text.value), _CHANCE):
            yield Violation(module.path, text.lineno, f"{source} is a source of chance, imported later")


def _deciding(node: ast.AST, calls: frozenset[str]) -> Iterator[ast.expr]:
    """Yield the expressions within ``node`` whose value selects one of several outcomes."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.BitAnd | ast.BitXor):
        yield node.left
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Mod | ast.BitAnd | ast.BitXor):
        yield node.target
    elif isinstance(node, ast.Subscript):
        yield node.slice
    elif isinstance(node, ast.Call) and called(node) in calls:
        yield from node.args
        yield from (keyword.value for keyword in node.keywords)


def _decides(
    module: Module, values: Values, calls: frozenset[str], message: str, *, index: bool = True
) -> Iterator[Violation]:
    """Yield the places where a value decides something; with ``index``, also those where it is used as an index."""
    for node in module.nodes:
        if isinstance(node, ast.Subscript) and not index:
            continue
        for deciding in _deciding(node, calls):
            if values.within(deciding):
                yield Violation(module.path, deciding.lineno, message)


def _random_bytes(module: Module) -> Iterator[Violation]:
    """Yield the places where the kernel's random bytes become a number or an order; in games, any use."""
    if module.name.split(".")[0] == "paytables":
        for node in module.nodes:
            if module.dotted(node) in _BYTES:
                yield Violation(module.path, getattr(node, "lineno", 0), "a game reads no random bytes")

    def fresh(node: ast.expr) -> bool:
        name = module.dotted(node)
        return name in _BYTES or (name.startswith("cryptography.") and ".generate" in name)

    values = Values(module, fresh)
    yield from _decides(module, values, _DECIDES | _NUMBERS, "the kernel's random bytes become a number")


def _time(module: Module) -> Iterator[Violation]:
    """Clock readings that decide something."""
    if _within(module.name, ("egm.screen",)):
        return
    if module.name.split(".")[0] == "paytables":
        for node in module.nodes:
            if module.dotted(node) in _CLOCKS:
                yield Violation(module.path, getattr(node, "lineno", 0), "a game reads no clock")

    def clock(node: ast.expr) -> bool:
        handed_in = isinstance(node, ast.Attribute) and node.attr in _CLOCK_WORDS
        return handed_in or module.dotted(node) in _CLOCKS

    yield from _decides(module, Values(module, clock), _DECIDES, "the time is used as a source of chance")


def _unsteady(module: Module) -> Iterator[Violation]:
    """Yield decisions based on values that differ between runs: hashes, addresses, processes, the order of sets."""

    def differs(node: ast.expr) -> bool:
        built_in = isinstance(node, ast.Name) and node.id in {"id", "hash"} and node.id not in module.names
        return built_in or module.dotted(node) in _UNSTEADY

    values = Values(module, differs)
    # An address may be a key of a table, as long as nothing is made of it.
    message = "what differs from run to run decides here"
    yield from _decides(module, values, _DECIDES - {"hash"}, message, index=False)
    for node in module.nodes:
        if _first_of_a_set(node):
            yield Violation(module.path, getattr(node, "lineno", 0), "the order of a set decides here")


def _first_of_a_set(node: ast.AST) -> bool:
    """Whether ``node`` takes one of a set without saying which."""
    if isinstance(node, ast.Subscript):
        made = node.value
        return isinstance(made, ast.Call) and called(made) in {"list", "tuple"} and _has_set(made)
    if not isinstance(node, ast.Call):
        return False
    if called(node) == "next":
        return any(isinstance(a, ast.Call) and called(a) == "iter" and _has_set(a) for a in node.args)
    return called(node) == "pop" and isinstance(node.func, ast.Attribute) and _is_set(node.func.value)


def _is_set(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_set(node.left) or _is_set(node.right)
    made = isinstance(node, ast.Call) and called(node) in {"set", "frozenset"}
    return made or isinstance(node, ast.Set | ast.SetComp)


def _has_set(call: ast.Call) -> bool:
    return any(_is_set(argument) for argument in call.args)


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
    guarded = {n: module for n, module in modules(root, GUARDED).items() if not _within(n, LABORATORY)}
    everything = {**guarded, **modules(root, ("rng",))}
    found: set[Violation] = set()
    for module in guarded.values():
        found.update(_other_sources(module), _imports(module, everything), _unreadable(module))
        found.update(_random_bytes(module), _time(module), _unsteady(module))
        found.update(_laboratory(module, everything))
    return sorted(found, key=lambda v: (str(v.path), v.line, v.message))


def main(arguments: list[str]) -> int:
    """Print the violations under the given root, or this checkout; return 0 if there are none."""
    found = violations(Path(arguments[0]) if arguments else Path())
    for violation in found:
        echo(violation)
    echo(f"chance: {len(found)} violations" if found else "chance: only rng draws")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
