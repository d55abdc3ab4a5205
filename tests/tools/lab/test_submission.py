"""The submission to a laboratory is one signed bundle, reproducible from its content."""

import io
import json
import shutil
import subprocess
import tarfile
import zipfile
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner

from egm.devices.ioboard.codec import INPUTS, TOWER_LIGHTS
from egm.kernel.faults import SIGNIFICANCE_BY_FAULT
from egm.screen.art.symbols import DRAWING_FILE_BY_NAME
from egm.verify.manifest import SoftwareManifest, load_signed_manifest
from meters.table import METERS
from paytables import load_game
from paytables.definition import read_source
from tools.cli import main
from tools.cli.commands import certify
from tools.lab.certification import bundle, reproduction
from tools.lab.certification.reproduction import _compare_installed_software, _compare_packages

GAMES = ("maple-classic", "orchard-picnic")


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


def git(root, *arguments):
    author_options = ("-c", "user.name=Maker", "-c", "user.email=maker@example.org")
    return subprocess.run(
        ["git", "-C", root, *author_options, *arguments], check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """This checkout without most of its tests, in one commit of a separate repository."""
    here, root = Path(__file__).parents[3], tmp_path_factory.mktemp("checkout")
    for name in git(here, "ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0"):
        if name and (here / name).is_file() and not (name.startswith("tests/") and "/lab/" not in name):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(here / name, root / name)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all of it")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certify, "_SOURCE_FOLDER", root)
        yield root


SQUARE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8"/></svg>'


@pytest.fixture(scope="module")
def bundles(checkout, tmp_path_factory):
    """Certificates and a submission of two games; the first game has a picture."""
    folder, maker = tmp_path_factory.mktemp("submitted"), tmp_path_factory.mktemp("maker")
    (folder / "battery.json").write_text('{"passed": true}')
    (maker / "pine.svg").write_text(SQUARE)
    text = read_source("maple-classic").path.read_text(encoding="utf-8")
    illustrated = maker / "own.toml"
    illustrated.write_text(f'{text}\n[art]\npictures = {{ pine = "pine.svg" }}\n', encoding="utf-8")
    run(
        "certify",
        illustrated,
        GAMES[1],
        "--jurisdiction",
        "quebec-casino",
        "--games-played",
        300,
        "--out",
        folder,
        "--submission",
        "--battery",
        folder / "battery.json",
    )
    return folder


@pytest.fixture
def submission(bundles):
    return bundles / "submission"


def write_signed_bundle(bundles, folder, bundle_folder, changed):
    """Write a bundle with changed files, validly signed with the same key; return its folder."""
    facts = json.loads((folder / "manifest.json").read_text())
    files = {name: (folder / name).read_bytes() for name in facts.pop("files")}
    files |= changed
    bundle.write_bundle(
        bundle_folder, files, facts, bundle.load_laboratory_key(bundle.find_key_path(None, bundles))
    )
    return bundle_folder


@pytest.mark.requirement("R-05")
def test_the_bundle_contains_everything_a_laboratory_requires(bundles, submission):
    files = json.loads((submission / "manifest.json").read_text())["files"]
    assert {
        f"{game}{ending}" for game in GAMES for ending in (".toml", ".par.json", ".par.csv")
    } <= files.keys()
    texts_by_file = {
        name: (submission / name).read_text() for name in files if name.endswith((".md", ".toml"))
    }
    source = next(name for name in files if name.endswith(".tar.gz"))
    with tarfile.open(submission / source) as archive:
        inside = archive.getnames()
    assert any(name.endswith("/rng/ctr_drbg.py") for name in inside)
    assert any(name.endswith("/requirements.txt") for name in inside)
    signed = load_signed_manifest(
        submission / "software.json", (submission / "signer.pub").read_text().strip()
    )
    assert signed.files["rng/ctr_drbg.py"]
    drawn = {f"egm/screen/art/svg/{path.name}" for path in DRAWING_FILE_BY_NAME.values()}
    assert drawn
    assert drawn <= signed.files.keys()
    with zipfile.ZipFile(submission / next(name for name in files if name.endswith(".whl"))) as wheel:
        assert drawn <= set(wheel.namelist())
    for name, word in {
        "generator.md": "CTR_DRBG(AES-256",
        "architecture.md": "what protects each",
        "meters.md": "`coin_in`",
        "signals.md": "jackpot",
        "states.md": "awaiting_award",
        "interruptions.md": "door_open",
        "manual-service-en.md": "door.opened:logic",
        "manual-operator-fr.md": "| ",
        "wiring.md": "Ground",
        "profile.toml": "quebec-casino",
        "changes.md": "# Changelog",
        "building.md": "-m hatchling build",
        "computer.md": "make image",
    }.items():
        assert word in texts_by_file[name], name
    assert {"symbols.png", "battery.json", "maple-classic.findings.json"} <= files.keys()
    assert "--submission needs --out" in run(
        "certify", GAMES[0], "--jurisdiction", "generic", "--submission", code=2
    )


@pytest.mark.requirement("R-05")
def test_the_tables_of_meters_signals_and_errors_are_complete(submission):
    """The tables contain every meter with its meaning, each element of the tower light, each switch and each error."""
    files = json.loads((submission / "manifest.json").read_text())["files"]
    texts_by_file = {name: (submission / name).read_text() for name in files if name.endswith(".md")}
    assert [meter.name for meter in METERS if f"| {meter.meaning} |" not in texts_by_file["meters.md"]] == []
    switches, lights = texts_by_file["signals.md"].split("| Element | Lit for |")
    assert [name for _, name in INPUTS if f"| {name} |" not in switches] == []
    assert [name for name in TOWER_LIGHTS if f"| {name} |" not in lights] == []
    errors = texts_by_file["manual-service-en.md"]
    assert [code for code in SIGNIFICANCE_BY_FAULT if "*" not in code and code not in errors] == []
    for name, word in {
        "generator.md": "CTR_DRBG(AES-256",
        "architecture.md": "what protects each",
        "states.md": "awaiting_award",
        "interruptions.md": "door_open",
        "libraries.txt": "==",
    }.items():
        assert word in (submission / name).read_text(), name
    assert {"software.json", "battery.json", "maple-classic.findings.json"} <= files.keys()


def repack_archive(path):
    """Return an archive with the same files in other packing."""
    other = io.BytesIO()
    with tarfile.open(path) as archive, tarfile.open(fileobj=other, mode="w:gz", compresslevel=1) as packed:
        for member in archive:
            if member.isfile():
                packed.addfile(member, archive.extractfile(member))
    return other.getvalue()


@pytest.mark.requirement("R-07")
def test_a_package_that_its_source_does_not_reproduce_is_reported(tmp_path):
    for name in ("open.tar.gz", "open.whl"):
        (tmp_path / name).write_bytes(name.encode())
    built = {"open.tar.gz": b"open.tar.gz", "open.whl": b"another"}
    compared = [*_compare_packages(tmp_path, built, "open.tar.gz", "open.whl")]
    assert [comparison.difference for comparison in compared] == ["", "the build is another"]
    assert [package.difference for package in _compare_packages(tmp_path, {}, "open.tar.gz", "open.whl")] == [
        "the build is another"
    ] * 2


@pytest.mark.requirement("R-07")
def test_a_submission_is_reproduced_from_its_own_content(bundles, submission, tmp_path):
    (report,) = json.loads(run("certify", "--verify", submission, "--reproduce", "--json"))
    assert report["submission"].startswith("open-egm ")
    assert report["games"]["maple-classic"]["digest_sha256"]
    assert report["made_utc"]
    reproduced = {comparison["what"]: comparison["differs"] for comparison in report["reproduced"]}
    assert len(reproduced) > 20
    assert set(reproduced.values()) == {""}
    assert any(".whl from " in change for change in reproduced)

    # a manufacturer signs files that the source does not build
    wheel = next(name for name in report["files"] if name.endswith(".whl"))
    other = io.BytesIO((submission / wheel).read_bytes())
    with zipfile.ZipFile(other, "a") as archive:
        archive.writestr("rng/back_door.py", "")
    sheet = (submission / "maple-classic.par.json").read_bytes().replace(b"12079/13824", b"13079/13824")
    assert sheet != (submission / "maple-classic.par.json").read_bytes()
    manual = (submission / "manual-service-en.md").read_bytes() + b"\n| nothing | clears it |\n"
    source = next(name for name in report["files"] if name.endswith(".tar.gz"))
    lie = write_signed_bundle(
        bundles,
        submission,
        tmp_path / "lie",
        {
            source: repack_archive(submission / source),
            wheel: other.getvalue(),
            "maple-classic.par.json": sheet,
            "manual-service-en.md": manual,
            "more.md": b"more",
        },
    )
    output = run("certify", "--verify", lie, "--reproduce", code=1)
    assert ": intact, and signed" in output
    # the archive builds the same wheel, and is not the archive that its source makes
    assert f"{source} from {source} the build is another" in output
    assert f"{wheel} from {source} the build is another" in output
    assert "software.json of " in output
    assert "rng/back_door.py" in output
    assert "maple-classic.par.json from line " in output
    assert f"manual-service-en.md {len(manual)} bytes signed, " in output
    assert "more.md: nothing here makes it" in output
    assert "meters.md the same" in output


@pytest.mark.requirement("R-07")
def test_a_report_states_identity_versions_date_and_digests(bundles, submission):
    games = {name: load_game(submission / f"{name}.toml") for name in GAMES}
    (submission_report,) = json.loads(run("certify", "--verify", submission, "--json"))
    (single,) = json.loads(run("certify", "--verify", bundles / GAMES[1], "--json"))
    made_by = f"open-egm {version('open-egm')}"
    assert (submission_report["submission"], single["made_by"]) == (made_by, made_by)
    assert submission_report["games"] == {
        name: {"version": game.version, "digest_sha256": game.digest} for name, game in games.items()
    }
    assert (single["game"], single["version"]) == (GAMES[1], games[GAMES[1]].version)
    assert single["digest_sha256"] == games[GAMES[1]].digest
    for report in (submission_report, single):
        assert report["jurisdiction"] == "quebec-casino"
        assert datetime.fromisoformat(report["made_utc"]).tzinfo is UTC
        for name, digest in report["files"].items():
            folder = submission if report is submission_report else bundles / GAMES[1]
            assert sha256((folder / name).read_bytes()).hexdigest() == digest


@pytest.mark.requirement("R-07")
def test_installed_software_that_differs_from_the_signed_one_is_reported(tmp_path, monkeypatch):
    installed = tmp_path / "installed.py"
    installed.write_bytes(b"one")
    monkeypatch.setattr(reproduction, "list_built_files", lambda: {"rng/one.py": installed})
    facts = {
        "version": "1",
        "made_utc": "",
        "reason": "",
        "includes_libraries": False,
        "includes_bytecode": False,
    }
    signed = SoftwareManifest(files={"rng/one.py": sha256(b"one").hexdigest()}, **facts)
    assert _compare_installed_software(signed).difference == ""
    installed.write_bytes(b"two")
    assert _compare_installed_software(signed).difference == "rng/one.py: altered"


@pytest.mark.requirement("R-07")
def test_a_certificate_is_reproduced_from_its_definition(bundles, tmp_path):
    output = run("certify", "--verify", bundles / "orchard-picnic", "--reproduce")
    assert "par.json the same" in output
    assert " rules the same" in output
    findings = json.loads((bundles / "orchard-picnic" / "findings.json").read_text())
    findings[0]["status"] = "fail"
    lie = write_signed_bundle(
        bundles,
        bundles / "orchard-picnic",
        tmp_path / "lie",
        {"findings.json": json.dumps(findings).encode()},
    )
    assert "another verdict: return-floor" in run("certify", "--verify", lie, "--reproduce", code=1)


@pytest.mark.requirement("R-05")
@pytest.mark.parametrize("bundle_of", ["maple-classic", "submission"])
def test_the_pictures_of_a_game_are_in_its_bundle(bundles, bundle_of):
    folder = bundles / bundle_of
    assert (folder / "pine.svg").read_text() == SQUARE
    assert "maple-classic.toml" in json.loads((folder / "manifest.json").read_text())["files"]
    assert ": intact, and signed" in run("certify", "--verify", folder)


@pytest.mark.requirement("R-05")
def test_a_game_with_a_picture_is_reproduced(bundles):
    """The test of R-07 above reproduces the submission with its picture."""
    run("certify", "--verify", bundles / "maple-classic", "--reproduce")


def names_in(folder):
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


def submit(bundle_folder, *options, code=0):
    arguments = (
        "maple-classic",
        "--jurisdiction",
        "generic",
        "--games-played",
        200,
        "--out",
        bundle_folder,
        "--submission",
    )
    return run("certify", *arguments, *options, code=code)


@pytest.mark.requirement("R-05")
def test_the_source_archive_contains_exactly_one_commit(checkout, bundles, submission):
    facts = json.loads((submission / "manifest.json").read_text())
    assert facts["commit"] == git(checkout, "rev-parse", "HEAD").strip()
    assert facts["missing"] == []
    inside, known = set(names_in(submission)), set(git(checkout, "ls-files").split())
    assert known <= inside
    assert inside - known == {"PKG-INFO"}


@pytest.mark.requirement("R-05")
def test_an_unsigned_file_in_a_bundle_is_reported(bundles, tmp_path):
    """Regression: a bundle with an additional file was accepted."""
    folder = tmp_path / "handed"
    shutil.copytree(bundles / "orchard-picnic", folder)
    assert ": intact, and signed" in run("certify", "--verify", folder)
    (folder / "more").mkdir()
    (folder / "more" / "sheet.html").write_text("99 %")
    assert "these files are in the bundle, but not in its signed list: more/sheet.html" in run(
        "certify", "--verify", folder, code=1
    )


@pytest.mark.requirement("R-05")
def test_a_submission_written_into_the_checkout_contains_no_earlier_one(checkout, bundles):
    """Regression: an earlier submission and its key were in the archived folder."""
    shutil.copytree(bundles, checkout / "handed")
    try:
        output = submit(checkout / "handed", "--key", checkout / "build" / "lab.key")
        assert "missing in the submission: battery.json: " in output
        inside = names_in(checkout / "handed" / "submission")
        assert not [name for name in inside if name.startswith(("handed", "build")) or name.endswith(".key")]
    finally:
        shutil.rmtree(checkout / "handed", ignore_errors=True)
        shutil.rmtree(checkout / "build", ignore_errors=True)


@pytest.mark.requirement("R-05")
def test_a_checkout_with_uncommitted_changes_is_refused(checkout, tmp_path):
    page = checkout / "README.md"
    text = page.read_text()
    try:
        page.write_text(text + "changed\n")
        (checkout / "notes.txt").write_text("mine")
        output = submit(tmp_path / "out", code=1)
        assert "README.md, notes.txt: not committed; a submission is made of a commit" in output
        assert not (tmp_path / "out").exists()  # refused before any game was played for it
    finally:
        page.write_text(text)
        (checkout / "notes.txt").unlink()


@pytest.mark.requirement("R-05")
def test_a_folder_without_version_control_is_refused(checkout, tmp_path, monkeypatch):
    bare = tmp_path / "bare"
    bare.mkdir()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.setattr(certify, "_SOURCE_FOLDER", bare)
    assert "is not a version control checkout with a commit" in submit(tmp_path / "out", code=1)
    assert not (tmp_path / "out").exists()


@pytest.mark.requirement("R-05")
def test_a_committed_private_key_is_refused_wherever_it_is(checkout, tmp_path):
    key = checkout / "docs" / "signing.txt"
    try:
        bundle.load_laboratory_key(key)
        git(checkout, "add", "-A")
        git(checkout, "commit", "-q", "-m", "oh")
        output = submit(tmp_path / "out", "--key", key, code=1)
        assert "docs/signing.txt: contains the private signing key" in output
        assert not (tmp_path / "out").exists()
    finally:
        git(checkout, "reset", "-q", "--hard", "HEAD~1")
