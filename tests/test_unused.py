"""The product has no function, class or constant that only tests use, and tests replace only what the product has."""

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PRODUCT = ("egm", "meters", "paytables", "rng", "tools")
#: Parts of the product that serve tests and developers: what they define may be used by tests alone.
FOR_TESTS = ("egm/testing/", "tools/dev/")
#: Names that a library calls, by the library.
CALLED_BY_LIBRARIES = {
    "asyncio": {"connection_made", "connection_lost"},
    "click": {"invoke", "resolve_command", "format_commands"},
    "http.server": {"log_message", "process_request", "process_request_thread", "handle_error"},
    "pickle": {"persistent_id", "persistent_load", "find_class"},
    "queue": {"_init", "_put", "_get"},
    "qemu tests, which run only where QEMU is": {"plug_second_display"},
}
#: The name that a call of ``setattr`` or ``delattr`` replaces, after an object or at the end of a path.
REPLACED = re.compile(r"""\b(?:set|del)attr\(\s*(?:[\w.]+,\s*)?["']([\w.]+)["']""")
#: Names that tests replace in libraries or in the shared parts of tests.
REPLACED_ELSEWHERE = {"POLICY", "tempdir"}
#: Decorators by which a library finds what they decorate.
REGISTERING = re.compile(r"(command|group|validator|result_callback)\b")


def read_sources(folders):
    """Return the Python files of the product by their path from the root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *folders]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [name for name in listed.split("\0") if name.endswith(".py") and (ROOT / name).exists()]
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in files}


def list_unused(sources, exempt=()):
    """Return the names that these sources define and use nowhere outside their own definition."""
    uses, defined = Counter(), {}

    def visit(node, within, file):
        for child in ast.iter_child_nodes(node):
            inside = within
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                registered = any(REGISTERING.search(ast.unparse(mark)) for mark in child.decorator_list)
                if not registered and not child.name.startswith("__"):
                    defined.setdefault(child.name, f"{file}:{child.lineno}")
                inside = within | {child.name}
            elif isinstance(child, (ast.Assign, ast.AnnAssign)) and isinstance(node, ast.Module):
                targets = child.targets if isinstance(child, ast.Assign) else [child.target]
                for target in targets:
                    if isinstance(target, ast.Name) and not target.id.startswith("__"):
                        defined.setdefault(target.id, f"{file}:{child.lineno}")
            match child:
                case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
                    uses[name] += name not in within
                case ast.alias(name=name, asname=str()):
                    uses[name] += 1
                case ast.Constant(value=str() as text) if len(text) < 60 and re.fullmatch(r"[\w.:]+", text):
                    uses.update(re.findall(r"\w+", text))
            visit(child, inside, file)

    for file, text in sources.items():
        visit(ast.parse(text), frozenset(), file)
    return {
        name: module
        for name, module in defined.items()
        if not uses[name] and not module.startswith(tuple(exempt))
    }


def test_the_product_uses_what_it_defines():
    called = set().union(*CALLED_BY_LIBRARIES.values())
    unused = list_unused(read_sources(PRODUCT), FOR_TESTS)
    assert {name: module for name, module in unused.items() if name not in called} == {}
    assert called <= unused.keys(), "a name that the product uses needs no exception"


@pytest.mark.parametrize(
    ("text", "unused"),
    [
        ("def pay(): return 1", {"pay"}),
        ("def pay(): return pay()", {"pay"}),
        ("LIMIT = 3", {"LIMIT"}),
        ("class Shoe:\n    def deal(self): return 1\nShoe()", {"deal"}),
        ("class Shoe:\n    def deal(self): return 1\nShoe().deal()", set()),
        ("def pay(): return 1\nprint(pay())", set()),
        ("from a import pay as give\ndef pay(): return 1", set()),
        ("@main.command('pay')\ndef pay(): return 1", set()),
    ],
)
def test_what_nothing_uses_is_seen(text, unused):
    assert list_unused({"a.py": text}).keys() - {"Shoe"} == unused


def list_replaced(sources):
    """Return the names that calls of ``setattr`` and ``delattr`` in these sources replace, each with its file."""
    return {
        path.rpartition(".")[2]: file for file, text in sources.items() for path in REPLACED.findall(text)
    }


def test_tests_replace_only_what_exists():
    """A test of the slow tier that replaces a renamed constant would otherwise fail only when it is run."""
    replaced = list_replaced(read_sources(["tests"]))
    assert len(replaced) > 100
    names = set(re.findall(r"\w+", "".join(read_sources(PRODUCT).values()))) | REPLACED_ELSEWHERE
    assert {name: file for name, file in replaced.items() if name not in names} == {}


def test_replaced_names_are_seen():
    test = (
        "monkeypatch.setattr('a.b.PAUSE', 'x')\np.setattr(b, \"LIMIT\", 1)\np.delattr(\n    b.c,\n    'x'\n)"
    )
    assert list_replaced({"t.py": test}) == {"PAUSE": "t.py", "LIMIT": "t.py", "x": "t.py"}
