"""Software files under names that are the same on every machine, by component.

A name is a path with forward slashes: ``egm/play/rounds.py`` for the packages, ``libraries/...`` for
whatever lies beside them in the environment, ``own/...`` for the definitions a cabinet brings itself. Whole
folders are walked, never a list of what should be there, so that foreign files are found as well.
"""

import contextlib
import os
import sysconfig
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import cache_from_source, find_spec
from pathlib import Path, PurePosixPath
from typing import Final

from egm.config.cabinet_file import CabinetFile
from egm.errors import LocalError
from paytables.assets import read_assets
from paytables.definition import parse, source_of
from paytables.errors import PaytableError
from paytables.source import is_path

PACKAGES: Final = ("egm", "meters", "paytables", "rng", "tools")

#: Component -> the beginnings of its files' names; the longest beginning decides.
COMPONENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "accounting": ("meters/",),
    "cabinet": ("egm/",),
    "chance": ("rng/",),
    "games": ("paytables/library/",),
    "libraries": ("libraries/",),
    "maths": ("paytables/",),
    "own": ("own/",),
    "rules": ("egm/profiles/", "egm/tickets/templates/"),
    "screen": ("egm/screen/",),
    "tools": ("tools/",),
}
_PREFIXES: Final = sorted(
    ((prefix, name) for name, prefixes in COMPONENTS.items() for prefix in prefixes),
    key=lambda pair: -len(pair[0]),
)
_BYTECODE: Final = "__pycache__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How far the software reaches.

    ``own``: name and path of each definition the cabinet brings. ``libraries``: also everything else
    installed in the environment. ``bytecode``: compiled modules count as files; where they do not, they are
    left out, which only suits a checkout that Python itself compiles as it goes.
    """

    own: tuple[tuple[str, str], ...] = ()
    libraries: bool = False
    bytecode: bool = False


def own_files(cabinet_file: CabinetFile) -> tuple[tuple[str, str], ...]:
    """The definitions a cabinet file brings as files of its own: games and profile, not library ids.

    With a game, its pictures and sounds; of one that cannot be read none are known, and it is not offered.
    """
    written = [slot.game for slot in cabinet_file.games] + [cabinet_file.machine.profile]
    own = {path: cabinet_file.as_written(path) for path in written if is_path(path)}
    for game in [slot.game for slot in cabinet_file.games if is_path(slot.game)]:
        for name in _assets_of(game):
            own[str(Path(game).parent / name)] = str(PurePosixPath(own[game]).parent / name)
    return tuple(
        (f"own/{PurePosixPath(name).as_posix().lstrip('/')}", path) for path, name in sorted(own.items())
    )


def _assets_of(path: str) -> Iterator[str]:
    """The names of the files a game's definition brings besides itself."""
    with contextlib.suppress(PaytableError):
        source = source_of(Path(path))
        yield from read_assets(parse(source), source.path)


def uncompiled(found: Mapping[str, Path]) -> list[str]:
    """The modules among ``found`` that this Python would compile at first use, and so add a file."""
    there = {str(path) for path in found.values()}
    return [
        name
        for name, path in found.items()
        if name.endswith(".py")
        and name.partition("/")[0] in PACKAGES
        and cache_from_source(str(path)) not in there
    ]


def components_of(scope: Scope) -> frozenset[str]:
    """The components there are in a scope."""
    absent = {name for name, there in (("own", scope.own), ("libraries", scope.libraries)) if not there}
    return frozenset(COMPONENTS.keys() - absent)


def component_of(name: str) -> str:
    """The component a file belongs to. Raises LocalError for a name that belongs to none."""
    for prefix, component in _PREFIXES:
        if name.startswith(prefix):
            return component
    raise LocalError(f"{name}: belongs to no component of the software")


def files(scope: Scope) -> dict[str, Path]:
    """Every file of the software, by name. A file a cabinet brings is listed even where it is missing.

    What a cabinet brings is the file its name leads to: links are followed, as whoever opens it does.
    """
    found: dict[str, Path] = {name: Path(path).resolve() for name, path in scope.own}
    folders = {package: _folder(package) for package in PACKAGES}
    for package, folder in folders.items():
        found.update(_walk(folder, package, bytecode=scope.bytecode))
    if scope.libraries:
        own = {str(folder) for folder in folders.values()}
        for folder in {Path(sysconfig.get_path(kind)).resolve() for kind in ("purelib", "platlib")}:
            found.update(_walk(folder, "libraries", bytecode=scope.bytecode, without=own))
    return found


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise LocalError(f"{package}: is not installed")
    return Path(spec.submodule_search_locations[0]).resolve()


def _walk(
    folder: Path, prefix: str, *, bytecode: bool, without: Collection[str] = ()
) -> Iterator[tuple[str, Path]]:
    """Return everything below a folder that is not a folder itself; links are entries, and are not followed.

    The folders ``without`` are left out.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{prefix}/{entry.name}"
            if not entry.is_dir(follow_symlinks=False):
                yield name, Path(entry.path)
            elif (bytecode or entry.name != _BYTECODE) and entry.path not in without:
                yield from _walk(Path(entry.path), name, bytecode=bytecode, without=without)
