"""The definition files outside the library that a cabinet file names, and the files of a cabinet's software.

This module is separate from the examination of the software (:mod:`egm.verify.examine`), which runs in a process of
its own and must load neither cabinet files nor device drivers.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from egm.config.cabinet_file import CabinetFile
from egm.errors import OperatorError
from egm.verify.manifest import load_signed_manifest
from egm.verify.software_files import SoftwareScope
from paytables.assets import read_assets
from paytables.definition import parse, read_source
from paytables.errors import PaytableError
from paytables.source import is_path


def list_own_definition_files(cabinet_file: CabinetFile) -> tuple[tuple[str, str], ...]:
    """Return (name, path) of each definition file of a game or profile that a cabinet file names by its path.

    Games and profiles that it names by a library id are not included. The pictures and sounds of a game are
    included, unless the game cannot be read; such a game is not offered.
    """
    names_and_paths = [game_table.game for game_table in cabinet_file.games] + [cabinet_file.machine.profile]
    # the path as the cabinet file writes it, by the path on this computer
    written_path_by_path = {
        path: cabinet_file.find_written_path(path) for path in names_and_paths if is_path(path)
    }
    for game_path in [game_table.game for game_table in cabinet_file.games if is_path(game_table.game)]:
        for name in _iter_game_assets(game_path):
            written_path_by_path[str(Path(game_path).parent / name)] = str(
                PurePosixPath(written_path_by_path[game_path]).parent / name
            )
    return tuple(
        (f"own/{PurePosixPath(written_path).as_posix().lstrip('/')}", path)
        for path, written_path in sorted(written_path_by_path.items())
    )


def _iter_game_assets(path: str) -> Iterator[str]:
    """Yield the names of the picture, sound and other files that the game definition ``path`` uses."""
    with contextlib.suppress(PaytableError):
        source = read_source(Path(path))
        yield from read_assets(parse(source), source.path)


def find_software_scope(cabinet_file: CabinetFile) -> SoftwareScope:
    """Return which files belong to the software of a cabinet, as its signed manifest states.

    Without a trusted manifest, return the program and the cabinet's own files, so that a verifier still gets
    signatures if the manifest is damaged.
    """
    own_files, software_table = list_own_definition_files(cabinet_file), cabinet_file.software
    try:
        return (
            SoftwareScope(cabinet_definitions=own_files)
            if software_table is None
            else load_signed_manifest(
                software_table.manifest, software_table.manufacturer_key_hex
            ).build_scope(own_files)
        )
    except OperatorError:
        return SoftwareScope(cabinet_definitions=own_files)
