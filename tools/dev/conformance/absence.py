"""Checks of what a reason says the product has not: each is run, and a reason that became false is named.

A check is a kind and a regular expression, and is true where nothing in the product matches the whole of it:

* ``game``: the id or the family of a game of the library, without its place's name;
* ``state``: the name of a state or an event of the state table, its positions' states apart;
* ``profile``: a key of a jurisdiction profile, by itself;
* ``import``: a module that a module of ``egm`` or ``tools`` imports (``tools/dev`` apart);
* ``literal``: a text in such a module, of ``meters`` too: a kind of entry, a word on a page, an option;
* ``command``: a command of ``egm``;
* ``device``: a folder or a module of ``egm/devices``.
"""

import ast
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import click

from egm.app.features import FEATURES
from egm.kernel.events import State
from paytables import FAMILIES, list_library_games, list_table_games
from tools.cli import main
from tools.dev.conformance.requirements import ROOT, Requirements

_PRODUCT: Final = ("egm", "meters", "tools")
_OF_DEVELOPERS: Final = ROOT / "tools" / "dev"


def untrue(requirements: Requirements) -> list[str]:
    """Return each false reason and each reason without a check, row by row."""
    found = []
    for row in requirements.rows.values():
        for check in row.absent:
            kind, _, pattern = check.partition(" ")
            if kind not in KINDS or not pattern:
                found.append(f"{row.id}: {check!r} is no check; its kind is one of {', '.join(KINDS)}")
            elif there := present(kind, pattern):
                found.append(f"{row.id} says {row.left!r}, and {check!r} finds {', '.join(there)}")
    return found


def present(kind: str, pattern: str) -> list[str]:
    """Return everything of this kind in the product that matches the whole pattern."""
    wanted = re.compile(pattern, re.IGNORECASE)
    return sorted(name for name in _names(kind) if wanted.fullmatch(name))


@cache
def _names(kind: str) -> frozenset[str]:
    return frozenset(KINDS[kind]())


def _games() -> Iterator[str]:
    yield from FAMILIES
    for name in (*list_library_games(), *list_table_games()):
        yield name
        yield name.partition("-")[2]


def _states() -> Iterator[str]:
    yield from map(str, State)
    for rule in FEATURES.rules:
        yield from map(str, rule.events)


def _profile_keys() -> Iterator[str]:
    for path in (ROOT / "egm" / "profiles").glob("*.toml"):
        yield from _keys(tomllib.loads(path.read_text(encoding="utf-8")))


def _keys(data: Mapping[str, Any]) -> Iterator[str]:
    for key, value in data.items():
        yield key
        if isinstance(value, dict):
            yield from _keys(value)


@cache
def _imports_and_literals() -> tuple[frozenset[str], frozenset[str]]:
    """Read every module of the product once; only the names are stored, not the parsed trees."""
    imports: set[str] = set()
    literals: set[str] = set()
    for folder in _PRODUCT:
        for path in (ROOT / folder).rglob("*.py"):
            if path.is_relative_to(_OF_DEVELOPERS):
                continue
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Import):
                    imports.update(alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module:
                    imports.add(node.module)
                    imports.update(f"{node.module}.{alias.name}" for alias in node.names)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    literals.add(node.value)
    return frozenset(imports), frozenset(literals)


def _imports() -> frozenset[str]:
    return _imports_and_literals()[0]


def _literals() -> frozenset[str]:
    return _imports_and_literals()[1]


def _commands() -> Iterator[str]:
    yield from main.list_commands(click.Context(main))


def _devices() -> Iterator[str]:
    yield from (path.stem for path in Path(ROOT / "egm" / "devices").iterdir())


#: what each kind of check looks through
KINDS: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    "game": _games,
    "state": _states,
    "profile": _profile_keys,
    "import": _imports,
    "literal": _literals,
    "command": _commands,
    "device": _devices,
}
