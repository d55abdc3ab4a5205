"""Check the reasons that say that the product lacks something, and report those that have become false.

A check is a kind and a regular expression. It holds if nothing of that kind in the product matches it fully:

* ``game``: the id or the family of a game of the library, without its jurisdiction's name;
* ``state``: the name of a state or an event of the state table;
* ``profile``: a key of a jurisdiction profile;
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
from paytables import FAMILY_MODULE_BY_NAME, list_non_table_games, list_table_games
from tools.cli import main
from tools.dev.conformance.requirements import ROOT, Requirements

_PRODUCT_FOLDERS: Final = ("egm", "meters", "tools")
_DEVELOPER_TOOLS_FOLDER: Final = ROOT / "tools" / "dev"


def list_false_reasons(requirements: Requirements) -> list[str]:
    """Return an error for each reason that is false or has no check, in the order of the requirements."""
    errors = []
    for row in requirements.rows.values():
        for check in row.absent:
            kind, _, pattern = check.partition(" ")
            if kind not in SEARCH_BY_KIND or not pattern:
                errors.append(
                    f"{row.id}: {check!r} is not a check; its kind must be one of {', '.join(SEARCH_BY_KIND)}"
                )
            elif there := find_matches(kind, pattern):
                errors.append(
                    f"{row.id} says {row.reasons_not_shown!r}, and {check!r} finds {', '.join(there)}"
                )
    return errors


def find_matches(kind: str, pattern: str) -> list[str]:
    """Return everything of this kind in the product that matches the whole pattern."""
    name_pattern = re.compile(pattern, re.IGNORECASE)
    return sorted(name for name in _list_names(kind) if name_pattern.fullmatch(name))


@cache
def _list_names(kind: str) -> frozenset[str]:
    return frozenset(SEARCH_BY_KIND[kind]())


def _iter_game_names() -> Iterator[str]:
    yield from FAMILY_MODULE_BY_NAME
    for name in (*list_non_table_games(), *list_table_games()):
        yield name
        yield name.partition("-")[2]


def _iter_state_and_event_names() -> Iterator[str]:
    yield from map(str, State)
    for rule in FEATURES.state_table:
        yield from map(str, rule.events)


def _iter_profile_keys() -> Iterator[str]:
    for path in (ROOT / "egm" / "profiles").glob("*.toml"):
        yield from _iter_keys(tomllib.loads(path.read_text(encoding="utf-8")))


def _iter_keys(data: Mapping[str, Any]) -> Iterator[str]:
    for key, value in data.items():
        yield key
        if isinstance(value, dict):
            yield from _iter_keys(value)


@cache
def _find_imports_and_literals() -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that the product's modules import, and the texts in them.

    Every module is read once; only these names and texts are stored, not the parsed trees.
    """
    imports: set[str] = set()
    literals: set[str] = set()
    for folder in _PRODUCT_FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            if path.is_relative_to(_DEVELOPER_TOOLS_FOLDER):
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


def _list_imports() -> frozenset[str]:
    return _find_imports_and_literals()[0]


def _list_literals() -> frozenset[str]:
    return _find_imports_and_literals()[1]


def _iter_command_names() -> Iterator[str]:
    yield from main.list_commands(click.Context(main))


def _iter_device_module_names() -> Iterator[str]:
    yield from (path.stem for path in Path(ROOT / "egm" / "devices").iterdir())


#: The names that each kind of check searches.
SEARCH_BY_KIND: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    "game": _iter_game_names,
    "state": _iter_state_and_event_names,
    "profile": _iter_profile_keys,
    "import": _list_imports,
    "literal": _list_literals,
    "command": _iter_command_names,
    "device": _iter_device_module_names,
}
