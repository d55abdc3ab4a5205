"""The bundle a maker hands a laboratory: source and build, the software's manifest, games, and every table.

All but the source and the build is written from what the machine itself obeys, so that whoever has the same
software can write it again (:mod:`tools.lab.certification.reproduction`).
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
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from egm.app.wiring import tower
from egm.devices.ioboard.codec import INPUTS, TOWER
from egm.errors import OperatorError
from egm.profiles import Profile
from egm.verify import manifest
from egm.verify.digest import measure
from egm.verify.tree import Scope, files
from meters.chart import ACCOUNTS
from meters.table import METERS, OCCURRENCES
from paytables import Analysis, Game
from paytables.source import Source
from tools.lab.certification.finding import Case
from tools.lab.documents import PARTS
from tools.lab.manual import AUDIENCES, manual
from tools.lab.markdown import table
from tools.lab.parsheet import sheet
from tools.lab.parsheet.forms import to_csv

#: The folder of the bundle, and in it the manifest of the software, as a cabinet file may pin it.
FOLDER: Final = "submission"
SOFTWARE: Final = "software.json"
#: The packages alone: what a build holds. Libraries are pinned with their digests in the source.
SCOPE: Final = Scope(own=(), libraries=False, bytecode=False)
#: What a checkout has and no build: developers' tools, and the rigs of tests.
NOT_BUILT: Final = ("tools/dev/", "egm/testing/")
#: Pages of the source that go in as they are: security and recovery, what is shown, the generator, wiring.
PAGES: Final[Mapping[str, str]] = {
    "architecture.md": "ARCHITECTURE.md",
    "conformance.md": "CONFORMANCE.md",
    "generator.md": "rng/README.md",
    "libraries.txt": "requirements.txt",
    "wiring.md": "egm/devices/WIRING.md",
}


def submitted(cases: Sequence[Case], root: Path, key: Ed25519PrivateKey, commands: str) -> dict[str, bytes]:
    """Every file of the bundle of the games of ``cases``, which are held against one profile.

    ``commands``: the reference of the command line.

    Raises OperatorError where ``root`` is no checkout of the source.
    """
    games = [(case.game, case.analysis) for case in cases]
    made = {**pages(root), **written(games, cases[0].profile, commands), SOFTWARE: software(key)}
    return {**built(root), **made}


def facts(cases: Sequence[Case]) -> dict[str, object]:
    """What the bundle's manifest says of the whole."""
    games = [case.game for case in cases]
    return {
        "submission": f"open-egm {version('open-egm')}",
        "jurisdiction": cases[0].profile.id,
        "games": {game.id: {"version": game.version, "digest_sha256": game.digest} for game in games},
        "made_utc": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def built(root: Path, target: str = "") -> dict[str, bytes]:
    """What hatchling makes of the source below ``root``: its archive and the wheel, or one ``target``."""
    if not (root / "pyproject.toml").exists():
        raise OperatorError(f"{root}: is no checkout of the source, which a submission is made from")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "hatchling", "build", "-d", folder]
        command += ["-t", target] if target else []
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode:
            raise OperatorError(f"{root}: hatchling cannot build it:\n{done.stdout}{done.stderr}")
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def software(key: Ed25519PrivateKey) -> bytes:
    """The signed manifest of the software running here."""
    content = manifest.Manifest(
        version=version("open-egm"),
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        reason="submitted to a laboratory",
        libraries=SCOPE.libraries,
        bytecode=SCOPE.bytecode,
        files=measure(built_files()),
    )
    return manifest.sign(manifest.unsigned(content), key, SOFTWARE)


def built_files() -> dict[str, Path]:
    """The files of the software running here that a build holds."""
    return {name: path for name, path in files(SCOPE).items() if not name.startswith(NOT_BUILT)}


def pages(root: Path) -> dict[str, bytes]:
    """The pages of the source that go in as they are."""
    return {name: (root / path).read_bytes() for name, path in PAGES.items()}


def written(games: Iterable[tuple[Game, Analysis]], profile: Profile, commands: str) -> dict[str, bytes]:
    """Definitions, profile, sheets, manuals and tables: the same bytes wherever the software is the same."""
    found: dict[str, bytes] = {"profile.toml": _source(profile.id, profile.file)}
    for game, analysis in games:
        found[f"{game.id}.toml"] = _source(game.id, game.source)
        for name, asset in game.assets.items():
            if found.setdefault(name, asset.data) != asset.data:
                raise OperatorError(f"{game.id}: its {name} is another file than that of a game before it")
        data = json.dumps(sheet(game, analysis, profile.awards), indent=2, ensure_ascii=False)
        found[f"{game.id}.par.json"] = data.encode()
        found[f"{game.id}.par.csv"] = to_csv(game, analysis, profile.awards).encode()
    texts = {
        f"manual-{audience}-{language}.md": manual(audience, language)
        for audience in AUDIENCES
        for language in profile.languages
    }
    texts |= {f"{name}.md": f"# {name}\n\n{write()}\n" for name, write in PARTS.items()}
    texts |= {"meters.md": _meters(), "signals.md": _signals(), "commands.md": f"# commands\n\n{commands}\n"}
    return found | {name: text.encode() for name, text in texts.items()}


def _source(of: str, source: Source | None) -> bytes:
    if source is None:
        raise OperatorError(f"{of}: was not read from a file, and cannot be submitted")
    return source.data


def _meters() -> str:
    """Every meter with the flows it sums, the occurrences counted, and the accounts value flows between."""
    meters = [
        [
            f"`{meter.name}`",
            str(meter.unit),
            meter.meaning,
            ", ".join(
                [f"+ `{a}` → `{b}`" for a, b in meter.flows] + [f"- `{a}` → `{b}`" for a, b in meter.minus]
            ),
        ]
        for meter in METERS
    ]
    accounts = [[f"`{each.pattern}`", str(each.book), str(each.role), each.meaning] for each in ACCOUNTS]
    return "\n\n".join(
        [
            "# Meters",
            table(["Meter", "Counts", "Meaning", "Flows"], meters),
            "## Occurrences always shown",
            ", ".join(f"`{name}`" for name in OCCURRENCES),
            "## Accounts",
            table(["Account", "Book", "Role", "Meaning"], accounts) + "\n",
        ]
    )


def _signals() -> str:
    """The switches, sensors and buttons the machine reads, by input, and the tower light, by element."""
    inputs = [[str(number), kind, name] for number, (kind, name) in enumerate(INPUTS)]
    lights = [[str(number), name] for number, name in enumerate(TOWER)]
    return "\n\n".join(
        [
            "# Switches and tower light",
            table(["Input", "Kind", "Name"], inputs),
            str(inspect.getdoc(tower)),
            table(["Element", "Lit for"], lights) + "\n",
        ]
    )
