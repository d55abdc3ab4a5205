"""The contents of a certification bundle are made again with the installed software and compared.

The build is made again from its source, and the figures and tables are computed again. Simulated figures
differ from run to run; so of a game's findings only the rules that failed are compared.
"""

import hashlib
import io
import json
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from egm.errors import OperatorError
from egm.profiles import Profile, load_profile
from egm.verify.certificate import BUNDLE_SIGNER_NAME, BundleError
from egm.verify.digest import compute_digests
from egm.verify.manifest import SoftwareManifest, find_differences, load_signed_manifest
from paytables import Game, PaytableError, analyse, load_game
from paytables.wording import format_count
from tools.lab.certification.finding import CertificationCase, FindingStatus
from tools.lab.certification.rules import check_every_rule
from tools.lab.certification.source import extract_files
from tools.lab.certification.submission import (
    BATTERY_FILE,
    FINDINGS_ENDING,
    SOFTWARE_MANIFEST_NAME,
    build_game_documents,
    build_packages,
    list_built_files,
    read_pages,
)
from tools.lab.parsheet import build_sheet
from tools.lab.parsheet.formats import to_csv
from tools.lab.rng.service import start_laboratory_generator

#: The ending of a package's file name.
_WHEEL_ENDING: Final = ".whl"
#: The ending of a source archive's file name.
_SOURCE_ARCHIVE_ENDING: Final = ".tar.gz"
#: The most differing files that are named.
_NAMED_FILES_MAX: Final = 3


@dataclass(frozen=True, slots=True)
class ReproducedItem:
    """One item of a certification bundle that was made again and compared with the signed item."""

    name: str
    difference: str = ""
    """The difference from the signed item, as text; empty if they are identical."""


def reproduce(
    folder: Path, manifest_details: Mapping[str, Any], command_reference: str
) -> Iterator[ReproducedItem]:
    """Reproduce the contents of a verified bundle from the source; yield one result per item.

    ``command_reference`` is the command-line reference of this software.
    """
    try:
        if "submission" in manifest_details:
            yield from _reproduce_submission(folder, manifest_details, command_reference)
        else:
            yield from _reproduce_certificate(folder, manifest_details)
    except (OperatorError, PaytableError, KeyError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise BundleError(f"{folder} cannot be reproduced: {error}") from None


# ------------------------------------------------------------------ a game's certificate
def _reproduce_certificate(folder: Path, manifest_details: Mapping[str, Any]) -> Iterator[ReproducedItem]:
    """Reproduce the files of a game's certificate; yield one result per file."""
    game = load_game(folder / f"{manifest_details['game']}.toml")
    profile = load_profile(str(manifest_details["jurisdiction"]))
    analysis = analyse(game)
    data = json.dumps(
        build_sheet(game, analysis, profile.awards.odds_limits), indent=2, ensure_ascii=False
    ).encode()
    yield _compare_file(folder, "par.json", data)
    yield _compare_file(folder, "par.csv", to_csv(game, analysis, profile.awards.odds_limits).encode())
    yield _reproduce_verdicts(
        folder / "findings.json",
        game,
        folder / f"{game.id}.toml",
        profile,
        int(manifest_details["games_played"]),
    )


def _reproduce_verdicts(
    findings_file: Path, game: Game, definition_file: Path, profile: Profile, game_count: int
) -> ReproducedItem:
    """Check a game against every rule again and compare which rules fail.

    The evidence is not compared, because it depends on chance; notes are not compared either.
    """
    with start_laboratory_generator().step() as draw:
        findings_here = check_every_rule(
            CertificationCase(game, definition_file, analyse(game), profile, draw, game_count)
        )
    signed_findings = json.loads(findings_file.read_text(encoding="utf-8"))
    signed_failed_rules = {
        finding["rule"] for finding in signed_findings if finding["status"] == FindingStatus.FAIL
    }
    rules_failed_here = {finding.rule for finding in findings_here if finding.status is FindingStatus.FAIL}
    differing_rules = ", ".join(sorted(signed_failed_rules ^ rules_failed_here))
    rules_text = format_count(len({finding.rule for finding in findings_here}), "rule")
    return ReproducedItem(
        f"{game.id}: verdict of {rules_text}", differing_rules and f"another verdict: {differing_rules}"
    )


def _compare_file(folder: Path, name: str, reproduced_data: bytes) -> ReproducedItem:
    """Compare a reproduced file with the signed one of the bundle; the result states the first difference."""
    signed_data = (folder / name).read_bytes()
    return ReproducedItem(
        name, "" if signed_data == reproduced_data else _find_first_difference(signed_data, reproduced_data)
    )


def _find_first_difference(signed_text: bytes, reproduced_text: bytes) -> str:
    """Return as text from which line on two texts differ, or their lengths if one is only longer than the other."""
    pairs = zip(signed_text.splitlines(), reproduced_text.splitlines(), strict=False)
    differing_line_number = next(
        (
            line_number
            for line_number, (signed_line, reproduced_line) in enumerate(pairs, 1)
            if signed_line != reproduced_line
        ),
        None,
    )
    return (
        f"from line {differing_line_number} on"
        if differing_line_number
        else f"{len(signed_text)} bytes signed, {len(reproduced_text)} made here"
    )


# ------------------------------------------------------------------ a submission
def _compare_packages(
    folder: Path, built_files: Mapping[str, bytes], archive_name: str, wheel_name: str
) -> Iterator[ReproducedItem]:
    """Yield, for each package of a submission, whether the package built from its source is identical to it."""
    for name in (archive_name, wheel_name):
        is_identical = built_files.get(name) == (folder / name).read_bytes()
        yield ReproducedItem(f"{name} from {archive_name}", "" if is_identical else "the build is another")


def _reproduce_submission(
    folder: Path, manifest_details: Mapping[str, Any], command_reference: str
) -> Iterator[ReproducedItem]:
    """Rebuild the packages of a submission from their source; yield for each file whether it is identical."""
    names = sorted(manifest_details["files"])
    archive_name = next(name for name in names if name.endswith(_SOURCE_ARCHIVE_ENDING))
    wheel_name = next(name for name in names if name.endswith(_WHEEL_ENDING))
    signed_manifest = load_signed_manifest(
        folder / SOFTWARE_MANIFEST_NAME, (folder / BUNDLE_SIGNER_NAME).read_text(encoding="ascii").strip()
    )
    with tempfile.TemporaryDirectory() as unpacked_folder:
        with tarfile.open(folder / archive_name) as source:
            extract_files(source, Path(unpacked_folder))
        root = Path(unpacked_folder) / archive_name.removesuffix(_SOURCE_ARCHIVE_ENDING)
        (root / "PKG-INFO").unlink(missing_ok=True)  # hatchling writes its own
        yield from _compare_packages(folder, build_packages(root), archive_name, wheel_name)
        copied_pages = read_pages(root)
    yield ReproducedItem(
        f"{SOFTWARE_MANIFEST_NAME} of {wheel_name}",
        _describe_wheel_differences(
            _read_wheel_digests((folder / wheel_name).read_bytes()), signed_manifest.files
        ),
    )
    yield _compare_installed_software(signed_manifest)
    profile = load_profile(folder / "profile.toml")
    games = [load_game(folder / f"{game}.toml") for game in manifest_details["games"]]
    documents = {
        **copied_pages,
        **build_game_documents([(game, analyse(game)) for game in games], profile, command_reference),
    }
    yield from (_compare_file(folder, name, documents[name]) for name in sorted(documents))
    for game in games:
        name = f"{game.id}{FINDINGS_ENDING}"
        yield _reproduce_verdicts(
            folder / name, game, folder / f"{game.id}.toml", profile, int(manifest_details["games_played"])
        )
    other_names = {
        archive_name,
        wheel_name,
        SOFTWARE_MANIFEST_NAME,
        BATTERY_FILE,
        *(f"{game.id}{FINDINGS_ENDING}" for game in games),
    }
    unknown_names = set(names) - documents.keys() - other_names
    yield ReproducedItem(
        "every file of the bundle",
        _format_some_names([f"{name}: nothing here makes it" for name in sorted(unknown_names)]),
    )


def _compare_installed_software(signed_manifest: SoftwareManifest) -> ReproducedItem:
    """Compare the software that runs here with the signed manifest of a submission."""
    differences = find_differences(signed_manifest, compute_digests(list_built_files()))
    return ReproducedItem("the software installed here", _format_some_names(map(str, differences)))


def _read_wheel_digests(data: bytes) -> dict[str, str]:
    """Return the SHA-256 of each file in a Python wheel (package archive) by name, without the wheel's metadata."""
    with zipfile.ZipFile(io.BytesIO(data)) as wheel:
        return {
            name: hashlib.sha256(wheel.read(name)).hexdigest()
            for name in wheel.namelist()
            if ".dist-info/" not in name
        }


def _describe_wheel_differences(wheel_digests: Mapping[str, str], listed_digests: Mapping[str, str]) -> str:
    """Return the names of the files of a Python wheel whose SHA-256 differs from the listed one, as text.

    ``wheel_digests`` and ``listed_digests`` have the SHA-256 by file name.
    """
    return _format_some_names(sorted(name for name, _ in wheel_digests.items() ^ listed_digests.items()))


def _format_some_names(names: Iterable[str]) -> str:
    """Return the first few of the names and the total number, as text."""
    all_names = list(names)
    return ", ".join(all_names[:_NAMED_FILES_MAX]) + (
        f" and {len(all_names) - _NAMED_FILES_MAX} more" if all_names[_NAMED_FILES_MAX:] else ""
    )
