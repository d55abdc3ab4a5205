"""The software's files by component, under names that are the same on every machine.

A name is a path with forward slashes: ``egm/play/rounds.py`` for the packages of the program, ``libraries/...``
for everything else in the environment, ``own/...`` for the definitions that a cabinet brings itself. All files
in the folders are listed, not only expected ones, so that foreign files are found as well.
"""

import os
import sysconfig
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from typing import Final

from egm.errors import LocalError

#: The packages of the software.
PRODUCT_PACKAGES: Final = ("egm", "meters", "paytables", "rng", "tools")

#: Component -> prefixes of its files' names; the longest prefix decides.
PATH_PREFIXES_BY_COMPONENT: Final[Mapping[str, tuple[str, ...]]] = {
    "accounting": ("meters/",),  # the journal and the meters
    "cabinet": ("egm/",),  # the machine itself
    "chance": ("rng/",),  # the random number generator
    "games": ("paytables/library/",),  # the definitions of the games in the library
    "libraries": ("libraries/",),  # all other packages of the Python environment
    "maths": ("paytables/",),  # the rules and the exact figures of games
    "own": ("own/",),  # the definitions that the cabinet brings itself
    "rules": ("egm/profiles/", "egm/tickets/templates/"),  # jurisdiction profiles and layouts of tickets
    "screen": ("egm/screen/",),
    "tools": ("tools/",),  # the commands, the audit and the laboratory
}
#: Each prefix of a file's name with its component, the longest first.
_PATH_PREFIX_AND_COMPONENT_PAIRS: Final = sorted(
    ((prefix, name) for name, prefixes in PATH_PREFIXES_BY_COMPONENT.items() for prefix in prefixes),
    key=lambda pair: -len(pair[0]),
)
#: The name of the folders of compiled modules.
_BYTECODE_FOLDER: Final = "__pycache__"


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareScope:
    """The choice of files that count as a cabinet's software."""

    cabinet_definitions: tuple[tuple[str, str], ...] = ()
    """(name, path) of each definition file of the cabinet's own, outside the library."""
    includes_libraries: bool = False
    """Whether the files of all other packages in the Python environment are included."""
    includes_bytecode: bool = False
    """Whether compiled modules are included; False only for a source checkout, which Python compiles while it runs."""


def list_uncompiled_modules(files: Mapping[str, Path]) -> list[str]:
    """Return the names of the modules in ``files`` that have no compiled form.

    Python would add the compiled file when it first loads such a module.
    """
    paths = {str(path) for path in files.values()}
    return [
        name
        for name, path in files.items()
        if name.endswith(".py")
        and name.partition("/")[0] in PRODUCT_PACKAGES
        and cache_from_source(str(path)) not in paths
    ]


def list_components(scope: SoftwareScope) -> frozenset[str]:
    """Return the names of the software components to which the files of ``scope`` belong."""
    absent_components = {
        name
        for name, is_present in (("own", scope.cabinet_definitions), ("libraries", scope.includes_libraries))
        if not is_present
    }
    return frozenset(PATH_PREFIXES_BY_COMPONENT.keys() - absent_components)


def find_component_of_file(name: str) -> str:
    """Return the software component to which the file with this name belongs.

    Raises LocalError if no component has it.
    """
    for prefix, component in _PATH_PREFIX_AND_COMPONENT_PAIRS:
        if name.startswith(prefix):
            return component
    raise LocalError(f"{name}: does not belong to any component of the software")


def list_software_files(scope: SoftwareScope) -> dict[str, Path]:
    """Return the path of every software file, by name.

    Definitions that the cabinet names are included even if they do not exist. For a cabinet's own file, symbolic
    links are followed, as the machine does when it opens the file.
    """
    path_by_name: dict[str, Path] = {name: Path(path).resolve() for name, path in scope.cabinet_definitions}
    folder_by_package = {package: _find_package_folder(package) for package in PRODUCT_PACKAGES}
    for package, folder in folder_by_package.items():
        path_by_name.update(_iter_files_below(folder, package, includes_bytecode=scope.includes_bytecode))
    if scope.includes_libraries:
        own_folders = {str(folder) for folder in folder_by_package.values()}
        for folder in {Path(sysconfig.get_path(kind)).resolve() for kind in ("purelib", "platlib")}:
            path_by_name.update(
                _iter_files_below(
                    folder,
                    "libraries",
                    includes_bytecode=scope.includes_bytecode,
                    excluded_folders=own_folders,
                )
            )
    return path_by_name


def _find_package_folder(package: str) -> Path:
    """Return the folder of an installed package. Raises LocalError if it is not installed."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise LocalError(f"{package} is not installed")
    return Path(spec.submodule_search_locations[0]).resolve()


def _iter_files_below(
    folder: Path, prefix: str, *, includes_bytecode: bool, excluded_folders: Collection[str] = ()
) -> Iterator[tuple[str, Path]]:
    """Yield (name, path) of every file below a folder; symbolic links are not followed.

    ``prefix`` is put before each name. Compiled modules are left out unless ``includes_bytecode``, and so are the
    folders in ``excluded_folders``.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{prefix}/{entry.name}"
            if not entry.is_dir(follow_symlinks=False):
                yield name, Path(entry.path)
            elif (includes_bytecode or entry.name != _BYTECODE_FOLDER) and entry.path not in excluded_folders:
                yield from _iter_files_below(
                    Path(entry.path),
                    name,
                    includes_bytecode=includes_bytecode,
                    excluded_folders=excluded_folders,
                )
