"""The bundle a manufacturer submits to a laboratory: source and build, software manifest, games, and all tables.

Everything except the source and the build is generated from the software itself, so that anybody with the
same software can generate it again (:mod:`tools.lab.certification.reproduction`).
"""

import inspect
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, TypeAlias

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from egm.app.wiring import find_lit_tower_lights
from egm.devices.ioboard.codec import INPUTS, TOWER_LIGHTS
from egm.errors import OperatorError
from egm.profiles import Profile
from egm.verify import manifest
from egm.verify.digest import compute_digests
from egm.verify.software_files import SoftwareScope, list_software_files
from meters.chart import ACCOUNTS
from meters.table import METERS, OCCURRENCE_METERS
from paytables import Analysis, Game
from paytables.source import SourceFile
from tools.lab.certification.finding import CertificationCase, Finding
from tools.lab.certification.source import check_key_absent, export, find_commit
from tools.lab.documents import FORMATTER_BY_DOCUMENT
from tools.lab.manual import AUDIENCES, format_manual
from tools.lab.markdown import format_table
from tools.lab.parsheet import build_sheet
from tools.lab.parsheet.formats import to_csv
from tools.lab.picture_sheets import draw_symbol_sheet

#: Games with the findings of each rule.
CheckedGames: TypeAlias = Sequence[tuple[CertificationCase, Sequence[Finding]]]
#: The folder of the bundle.
SUBMISSION_FOLDER: Final = "submission"
#: The software manifest, in the form that a cabinet file may pin.
SOFTWARE_MANIFEST_NAME: Final = "software.json"
#: The picture of all symbols.
SYMBOLS_PICTURE_NAME: Final = "symbols.png"
#: The packages alone, as a build contains them. Libraries are pinned with their digests in the source.
MANIFEST_SCOPE: Final = SoftwareScope(
    cabinet_definitions=(), includes_libraries=False, includes_bytecode=False
)
#: Parts of a checkout that no build contains: developers' tools, and test rigs.
UNBUILT_FOLDERS: Final = ("tools/dev/", "egm/testing/")
#: Pages of the source that are included unchanged: security and recovery, the display, the RNG, wiring.
SOURCE_PAGE_BY_NAME: Final[Mapping[str, str]] = {
    "architecture.md": "ARCHITECTURE.md",
    "changes.md": "CHANGELOG.md",
    "computer.md": "docs/image.md",
    "image-tests.md": "docs/image-tests.md",
    "conformance.md": "CONFORMANCE.md",
    "generator.md": "rng/README.md",
    "libraries.txt": "requirements.txt",
    "wiring.md": "egm/devices/WIRING.md",
}
#: The result of the RNG battery, as `egm rng battery --json` writes it: supplied, not made here.
BATTERY_FILE: Final = "battery.json"
#: The ending of the file names of games' findings.
FINDINGS_ENDING: Final = ".findings.json"
#: How to build from the source archive; the packages needed are pinned in the source.
BUILD_INSTRUCTIONS: Final = """# building

The source archive and the wheel of this submission are built from the commit that its manifest names. To build
them again from the archive alone, with Python 3.11 or later:

```
tar xf open_egm-*.tar.gz
cd open_egm-*/
rm PKG-INFO
python3 -m venv .venv
.venv/bin/pip install --require-hashes -r requirements-build.txt
.venv/bin/python -m hatchling build
```

Both files in `dist/` are byte for byte those of this folder; `egm certify --verify FOLDER --reproduce` does
the same and compares.
"""


def build_submission(
    checked_games: CheckedGames,
    root: Path,
    bundles_folder: Path,
    key: Ed25519PrivateKey,
    command_reference: str,
    battery_result: bytes | None,
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return every file of the bundle for games checked against one profile, and the details for its manifest.

    ``command_reference`` is the command-line reference. ``battery_result`` is the result of the RNG battery, or
    None. Raises OperatorError if ``root`` is not a checkout of one commit of the source, or contains the
    private key.
    """
    commit = find_commit(root, bundles_folder)
    games = [(case.game, case.analysis) for case, _ in checked_games]
    profile = checked_games[0][0].profile
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        export(root, commit, source)
        files = {**build_packages(source), **read_pages(source)}
    files |= {
        **build_game_documents(games, profile, command_reference),
        SOFTWARE_MANIFEST_NAME: sign_software_manifest(key),
    }
    for case, findings in checked_games:
        text = json.dumps([finding.to_json() for finding in findings], indent=2, ensure_ascii=False)
        files[f"{case.game.id}{FINDINGS_ENDING}"] = text.encode()
    missing_files = [f"{BATTERY_FILE}: `egm rng battery --json FILE` writes it, --battery FILE adds it"]
    if battery_result is not None:
        files[BATTERY_FILE], missing_files = battery_result, []
    check_key_absent(files, key)
    return files, {**_build_manifest_details(checked_games), "commit": commit, "missing": missing_files}


def _build_manifest_details(checked_games: CheckedGames) -> dict[str, object]:
    """Return the details for a submission's manifest: release, games with their digests, profile and time."""
    games = [case.game for case, _ in checked_games]
    cases = [case for case, _ in checked_games]
    return {
        "submission": f"open-egm {version('open-egm')}",
        "games_played": cases[0].games_per_bet,
        "jurisdiction": cases[0].profile.id,
        "games": {game.id: {"version": game.version, "digest_sha256": game.digest} for game in games},
        "made_utc": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def build_packages(root: Path, target: str = "") -> dict[str, bytes]:
    """Return the packages that hatchling builds from the source in ``root``, by file name.

    They are the source archive and the wheel, or only the one that ``target`` names.
    """
    if not (root / "pyproject.toml").exists():
        raise OperatorError(f"{root} is not a source checkout, which a submission needs")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "hatchling", "build", "-d", folder]
        command += ["-t", target] if target else []
        completed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        if completed.returncode:
            raise OperatorError(f"{root}: hatchling cannot build it:\n{completed.stdout}{completed.stderr}")
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def sign_software_manifest(key: Ed25519PrivateKey) -> bytes:
    """Return the signed manifest of the running software."""
    content = manifest.SoftwareManifest(
        version=version("open-egm"),
        made_utc=datetime.now(UTC).isoformat(timespec="seconds"),
        reason="submitted to a laboratory",
        includes_libraries=MANIFEST_SCOPE.includes_libraries,
        includes_bytecode=MANIFEST_SCOPE.includes_bytecode,
        files=compute_digests(list_built_files()),
    )
    return manifest.encode_signed_manifest(
        manifest.encode_unsigned_manifest(content), key, SOFTWARE_MANIFEST_NAME
    )


def list_built_files() -> dict[str, Path]:
    """Return the files of the running software that a built package contains, by name."""
    return {
        name: path
        for name, path in list_software_files(MANIFEST_SCOPE).items()
        if not name.startswith(UNBUILT_FOLDERS)
    }


def read_pages(root: Path) -> dict[str, bytes]:
    """Return the documentation pages that the certification bundle contains unchanged."""
    return {name: (root / path).read_bytes() for name, path in SOURCE_PAGE_BY_NAME.items()}


def build_game_documents(
    games: Iterable[tuple[Game, Analysis]], profile: Profile, command_reference: str
) -> dict[str, bytes]:
    """Return the documents of a submission by file name.

    They are the definitions, PAR sheets and pictures of the games, the profile, manuals and reference tables.
    The same software always gives the same bytes.
    """
    documents: dict[str, bytes] = {"profile.toml": _read_source(profile.id, profile.file)}
    for game, analysis in games:
        documents[f"{game.id}.toml"] = _read_source(game.id, game.source)
        for name, asset in game.assets.items():
            if documents.setdefault(name, asset.data) != asset.data:
                raise OperatorError(f"{game.id}: its {name} differs from that of an earlier game")
        data = json.dumps(
            build_sheet(game, analysis, profile.awards.odds_limits), indent=2, ensure_ascii=False
        )
        documents[f"{game.id}.par.json"] = data.encode()
        documents[f"{game.id}.par.csv"] = to_csv(game, analysis, profile.awards.odds_limits).encode()
    texts = {
        f"manual-{audience}-{language}.md": format_manual(audience, language)
        for audience in AUDIENCES
        for language in profile.languages
    }
    texts |= {
        f"{name}.md": f"# {name}\n\n{format_document()}\n"
        for name, format_document in FORMATTER_BY_DOCUMENT.items()
    }
    texts |= {
        "meters.md": _format_meters(),
        "signals.md": _format_signals(),
        "commands.md": f"# commands\n\n{command_reference}\n",
    }
    texts["building.md"] = BUILD_INSTRUCTIONS
    with tempfile.TemporaryDirectory() as folder:
        draw_symbol_sheet(Path(folder) / SYMBOLS_PICTURE_NAME)
        documents[SYMBOLS_PICTURE_NAME] = (Path(folder) / SYMBOLS_PICTURE_NAME).read_bytes()
    return documents | {name: text.encode() for name, text in texts.items()}


def _read_source(source_id: str, source: SourceFile | None) -> bytes:
    """Return the bytes of the file from which a profile or a game (``source_id``) was read.

    Raises OperatorError if it was not read from a file.
    """
    if source is None:
        raise OperatorError(f"{source_id}: was not read from a file and cannot be submitted")
    return source.data


def _format_meters() -> str:
    """Return a table of every meter: the flows and occurrences it counts, and its accounts."""
    meters = [
        [
            f"`{meter.name}`",
            str(meter.unit),
            meter.meaning,
            ", ".join(
                [f"+ `{a}` → `{b}`" for a, b in meter.flows]
                + [f"- `{a}` → `{b}`" for a, b in meter.decreasing_flows]
            ),
        ]
        for meter in METERS
    ]
    accounts = [
        [f"`{account.pattern}`", str(account.book), str(account.role), account.meaning]
        for account in ACCOUNTS
    ]
    return "\n\n".join(
        [
            "# Meters",
            format_table(["Meter", "Counts", "Meaning", "Flows"], meters),
            "## Occurrences always shown",
            ", ".join(f"`{name}`" for name in OCCURRENCE_METERS),
            "## Accounts",
            format_table(["Account", "Book", "Role", "Meaning"], accounts) + "\n",
        ]
    )


def _format_signals() -> str:
    """Return a table of the inputs (switches, sensors, buttons) and of the tower light's elements."""
    inputs = [[str(number), kind, name] for number, (kind, name) in enumerate(INPUTS)]
    lights = [[str(number), name] for number, name in enumerate(TOWER_LIGHTS)]
    return "\n\n".join(
        [
            "# Switches and tower light",
            format_table(["Input", "Kind", "Name"], inputs),
            str(inspect.getdoc(find_lit_tower_lights)),
            format_table(["Element", "Lit for"], lights) + "\n",
        ]
    )
