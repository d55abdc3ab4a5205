"""Verification of the software files: altered, missing and foreign files are named; signatures match other tools."""

import hashlib
import hmac
import json
import py_compile
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from rigs.software import Installation

from egm.config.cabinet_file import load_cabinet
from egm.errors import LocalError, OperatorError
from egm.verify import software_files
from egm.verify.digest import (
    SignatureAlgorithm,
    compute_component_digests,
    compute_digests,
    compute_signatures,
    read_seed,
)
from egm.verify.examine import verify_software_files
from egm.verify.manifest import (
    ManifestError,
    SoftwareManifest,
    create_signing_key,
    encode_signed_manifest,
    encode_unsigned_manifest,
    format_public_key,
    load_signed_manifest,
    read_signing_key,
)
from egm.verify.own_files import list_own_definition_files
from egm.verify.software_files import (
    PATH_PREFIXES_BY_COMPONENT,
    PRODUCT_PACKAGES,
    SoftwareScope,
    find_component_of_file,
    list_software_files,
    list_uncompiled_modules,
)
from tools.cli.commands.manifest import command as manifest_command
from tools.cli.commands.signature import command as signature_command


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    return Installation(tmp_path_factory.mktemp("software"))


@pytest.fixture
def installation(clean):
    """The installation; its manifest is restored after the test."""
    manifest_data = clean.manifest_file.read_bytes()
    yield clean
    clean.manifest_file.write_bytes(manifest_data)


@pytest.mark.requirement("A-12", "A-13")
def test_software_as_signed_is_verified_with_its_version_and_components(installation):
    result = installation.examine()
    assert result.matches_manifest, result.differences
    assert result.version == "1.0"
    assert set(result.components) == set(PATH_PREFIXES_BY_COMPONENT) - {"libraries", "own"}


CHANGED = (
    "egm/play/rounds.py",
    "egm/profiles/generic.toml",
    "egm/screen/art/pictures/alarm.svg",
    "egm/screen/catalogue/fr.toml",
    "egm/screen/fonts/Lobster.otf",
    "meters/journal.py",
    "paytables/library/maple-classic.toml",
    "paytables/reels/spin.py",
    "rng/service.py",
    "tools/cli/tables.py",
)


@pytest.mark.requirement("A-12", "A-13")
@pytest.mark.parametrize("names", [CHANGED[:1], CHANGED], ids=["alone", "together"])
def test_one_changed_byte_in_a_module_table_or_asset_is_found_and_named(installation, names):
    before = {installation.root / name: (installation.root / name).read_bytes() for name in names}
    for path, data in before.items():
        assert data[-1:] != b" "
        path.write_bytes(data[:-1] + b" ")
    try:
        result = installation.examine()
    finally:
        for path, data in before.items():
            path.write_bytes(data)
    assert result.differences == tuple(f"{name}: altered" for name in names)
    assert result.differing_file_names == names


@pytest.mark.requirement("A-15")
def test_a_foreign_file_is_found_in_any_package_folder(installation):
    names = ("egm/extra.py", "paytables/library/.hidden", "tools/data/new.bin")
    paths = [installation.root / name for name in names]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"?")
    result = installation.examine()
    for path in paths:
        path.unlink()
    assert result.differences == tuple(f"{name}: foreign" for name in names)


@pytest.mark.requirement("A-12", "A-15")
def test_a_foreign_or_altered_file_is_found_among_compiled_modules_and_libraries(tmp_path, monkeypatch):
    monkeypatch.setattr(software_files, "_find_package_folder", tmp_path.joinpath)
    monkeypatch.setattr(software_files.sysconfig, "get_path", lambda _kind: str(tmp_path / "site"))
    for package in (*PRODUCT_PACKAGES, "site"):
        (tmp_path / package / "__pycache__").mkdir(parents=True)
    (compiled := tmp_path / "rng" / "__pycache__" / "draws.pyc").write_bytes(b"compiled")
    (library := tmp_path / "site" / "library.py").write_bytes(b"library")
    scope, key = (
        SoftwareScope(includes_libraries=True, includes_bytecode=True),
        read_signing_key(create_signing_key(), "test"),
    )
    manifest = SoftwareManifest(
        version="1.0",
        made_utc="2026-01-01T00:00:00+00:00",
        reason="first",
        includes_libraries=True,
        includes_bytecode=True,
        files=compute_digests(list_software_files(scope)),
    )
    manifest_file = tmp_path / "software.manifest"
    manifest_file.write_bytes(encode_signed_manifest(encode_unsigned_manifest(manifest), key, "test"))

    def examine():
        return verify_software_files(manifest_file, format_public_key(key), ()).differences

    assert examine() == ()
    compiled.with_name("planted.pyc").write_bytes(b"?")
    library.with_name("planted.bin").write_bytes(b"?")
    library.write_bytes(b"Library")
    assert examine() == (
        "libraries/library.py: altered",
        "libraries/planted.bin: foreign",
        "rng/__pycache__/planted.pyc: foreign",
    )


@pytest.mark.requirement("A-12", "G-14:b")
def test_a_missing_file_and_a_symbolic_link_to_its_copy_are_found(installation):
    path = installation.root / "egm/screen/theme.toml"
    data = path.read_bytes()
    path.unlink()
    assert installation.examine().differences == ("egm/screen/theme.toml: missing",)
    path.with_name("elsewhere.toml").write_bytes(data)
    path.symlink_to("elsewhere.toml")
    assert installation.examine().differences == (
        "egm/screen/elsewhere.toml: foreign",
        "egm/screen/theme.toml: altered",
    )
    path.with_name("elsewhere.toml").unlink()
    path.unlink()
    path.write_bytes(data)
    assert installation.examine().matches_manifest


def test_the_game_files_of_a_cabinet_are_covered_by_the_manifest(installation, tmp_path):
    game = tmp_path / "own-game.toml"
    game.write_bytes((installation.root / "paytables/library/maple-classic.toml").read_bytes())
    cabinet = tmp_path / "cabinet.toml"
    text = (installation.root / "egm/config/default.toml").read_text()
    cabinet.write_text(text.replace('game = "maple-classic"', f'game = "{game}"'))
    own_files = list_own_definition_files(load_cabinet(cabinet))
    assert own_files == ((f"own{game}", str(game)),)
    installation.make(own_files=own_files)
    assert installation.examine(own_files).matches_manifest
    game.write_text(game.read_text() + "\n")
    assert installation.examine(own_files).differences == (f"own{game}: altered",)
    game.unlink()
    assert installation.examine(own_files).differences == (f"own{game}: missing",)
    assert installation.examine().differences == (
        f"own{game}: missing",
    )  # no longer named by the cabinet file


def test_only_the_first_20_differences_are_named_and_the_others_counted(installation):
    for number in range(30):
        (installation.root / "rng" / f"x{number:02}").write_bytes(b"")
    result = installation.examine()
    for number in range(30):
        (installation.root / "rng" / f"x{number:02}").unlink()
    assert result.differences[0] == "rng/x00: foreign"
    assert result.differences[-1] == "and 10 more"
    assert len(result.differing_file_names) == 20


@pytest.mark.requirement("A-13")
def test_a_manifest_not_signed_with_the_pinned_key_or_malformed_is_refused(installation, tmp_path):
    other = read_signing_key(create_signing_key(), "other")
    data = installation.manifest_file.read_bytes()
    installation.manifest_file.write_bytes(encode_signed_manifest(data, other, "x"))
    assert "not signed with the pinned key" in installation.examine().differences[0]
    manifest = json.loads(data)
    for alter, message in [
        (lambda w: w["manifest"]["files"].update({"egm/x": "00"}), "not that of this manifest"),
        (lambda w: w.update(signature="zz"), "not hexadecimal"),
        (lambda w: w.pop("signature"), "not signed"),
        (lambda w: w.pop("manifest"), "must be a JSON object with the key manifest"),
    ]:
        altered = json.loads(json.dumps(manifest))
        alter(altered)
        installation.manifest_file.write_text(json.dumps(altered))
        with pytest.raises(ManifestError, match=message):
            load_signed_manifest(installation.manifest_file, installation.public)
        assert message in installation.examine().differences[0]
    installation.manifest_file.write_text("{")
    with pytest.raises(ManifestError, match="not JSON"):
        load_signed_manifest(installation.manifest_file, installation.public)
    with pytest.raises(ManifestError, match="No such file"):
        load_signed_manifest(tmp_path / "none", installation.public)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other 2"}, "format"),
        ({"version": 1}, "version: must be of type str"),
        ({"files": []}, "files: must be of type dict"),
        ({"files": {"egm/x": 1}}, "a digest is not a text"),
    ],
)
def test_a_manifest_with_a_field_of_the_wrong_type_cannot_be_signed(installation, change, message):
    content = json.loads(installation.manifest_file.read_bytes())["manifest"] | change
    with pytest.raises(ManifestError, match=message):
        encode_signed_manifest(json.dumps({"manifest": content}).encode(), installation.key, "test")


# ---------------------------------------------------------------------------------------------- signatures
def _content(component):
    """Return a component's content, assembled as documented but independently of the program."""
    root = Path(__file__).parents[3]
    prefixes = PATH_PREFIXES_BY_COMPONENT[component]
    listed = subprocess.run(
        ["find", *(prefix.rstrip("/") for prefix in prefixes), "-not", "-name", "*.pyc", "-type", "f"],
        cwd=root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    names = sorted((n for n in listed.stdout.split("\n") if n and "__pycache__" not in n), key=str.encode)
    return b"".join(
        f"{(root / name).stat().st_size} {name}\n".encode() + (root / name).read_bytes() for name in names
    )


@pytest.mark.requirement("A-18")
def test_a_signature_is_the_hmac_of_the_components_files():
    content, seed = _content("accounting"), bytes.fromhex("0123456789abcdef")
    files = list_software_files(SoftwareScope())
    assert compute_signatures(files, SignatureAlgorithm.SHA1_HMAC, seed, ["accounting"]) == {
        "accounting": hmac.digest(seed, content, "sha1").hex()
    }
    assert compute_signatures(files, SignatureAlgorithm.SHA256_HMAC, seed, ["accounting"]) == {
        "accounting": hmac.digest(seed, content, "sha256").hex()
    }
    assert compute_signatures(files, SignatureAlgorithm.SHA256, b"", ["accounting"]) == {
        "accounting": hashlib.sha256(content).hexdigest()
    }
    assert set(compute_signatures(files, SignatureAlgorithm.SHA1_HMAC, b"")) == set(
        PATH_PREFIXES_BY_COMPONENT
    ) - {
        "libraries",
        "own",
    }


def test_a_component_digest_equals_the_digest_of_sha256sum_output():
    files = {
        name: path
        for name, path in list_software_files(SoftwareScope()).items()
        if find_component_of_file(name) == "chance"
    }
    root = Path(__file__).parents[3]
    names = sorted(files, key=str.encode)
    listed = subprocess.run(["sha256sum", *names], cwd=root, capture_output=True, check=True).stdout
    digests = dict(reversed(line.split("  ")) for line in listed.decode().splitlines())
    assert compute_component_digests(digests) == {"chance": hashlib.sha256(listed).hexdigest()}


def test_invalid_seeds_components_and_unreadable_files_are_refused_for_signatures(tmp_path):
    files = list_software_files(SoftwareScope())
    with pytest.raises(OperatorError, match="takes no seed"):
        compute_signatures(files, SignatureAlgorithm.SHA256, b"1")
    with pytest.raises(OperatorError, match="no component 'fonts'"):
        compute_signatures(files, SignatureAlgorithm.SHA256, b"", ["fonts"])
    with pytest.raises(LocalError, match="cannot be read"):
        compute_signatures({"rng/gone.py": tmp_path / "gone.py"}, SignatureAlgorithm.SHA256, b"")
    with pytest.raises(LocalError, match="not belong to any component"):
        find_component_of_file("elsewhere/x")
    with pytest.raises(OperatorError, match="not hexadecimal"):
        read_seed("xy")
    with pytest.raises(OperatorError, match="64 at most"):
        read_seed("00" * 65)


# ---------------------------------------------------------------------------------------------- commands
def test_the_manufacturers_commands_make_a_manifest_that_verifies(tmp_path):
    cli, key, manifest = CliRunner(), tmp_path / "key.pem", tmp_path / "software.manifest"
    public = cli.invoke(manifest_command, ["key", str(key)]).output.strip()
    assert public == format_public_key(read_signing_key(key.read_bytes(), "k"))
    assert key.stat().st_mode & 0o077 == 0
    assert (
        cli.invoke(manifest_command, ["key", str(key)]).exit_code == 1
    )  # an existing key is never overwritten
    result = cli.invoke(
        manifest_command, ["make", "--no-libraries", "--no-bytecode", "--reason", "r", "--out", str(manifest)]
    )
    assert result.exit_code == 0, result.output
    verify = ["verify", "--manifest", str(manifest), "--key", public]
    refused_result = cli.invoke(manifest_command, verify)
    assert refused_result.exit_code == 1
    assert "not signed" in refused_result.output
    assert cli.invoke(manifest_command, ["sign", str(manifest), "--key", str(key)]).exit_code == 0
    verified = cli.invoke(manifest_command, verify)
    assert verified.exit_code == 0, verified.output
    assert "accounting" in verified.output
    assert cli.invoke(manifest_command, [*verify[:-1], "00"]).exit_code == 2
    assert "no [software]" in cli.invoke(manifest_command, ["verify"]).output


def test_modules_without_a_compiled_file_are_listed(tmp_path):
    """A module compiled only at the first start would be a foreign file for a manifest with compiled modules."""
    for name in ("a.py", "b.py", "c.txt"):
        (tmp_path / name).write_text("x = 1\n")
    files = {f"rng/{name}": tmp_path / name for name in ("a.py", "b.py", "c.txt")}
    assert list_uncompiled_modules(files) == ["rng/a.py", "rng/b.py"]
    compiled = Path(py_compile.compile(str(tmp_path / "a.py")))
    assert list_uncompiled_modules({**files, f"rng/__pycache__/{compiled.name}": compiled}) == ["rng/b.py"]
    assert list_uncompiled_modules({"libraries/x.py": tmp_path / "a.py"}) == []


def test_the_signature_command_prints_the_computed_signatures():
    cli = CliRunner()
    result = cli.invoke(signature_command, ["--seed", "AB", "--component", "chance", "--json"])
    assert json.loads(result.output)["components"] == compute_signatures(
        list_software_files(SoftwareScope()), SignatureAlgorithm.SHA1_HMAC, b"\xab", ["chance"]
    )
    assert "chance" in cli.invoke(signature_command, ["--component", "chance"]).output
    assert cli.invoke(signature_command, ["--seed", "A"]).exit_code == 1


@pytest.mark.requirement("A-12", "A-15")
@pytest.mark.parametrize("package", ["rng", pytest.param("", marks=pytest.mark.slow)], ids=["rng", "all"])
def test_compiled_modules_are_verified_if_the_manifest_contains_them(tmp_path, package):
    """The software is shipped compiled: it is never compiled again, and no other compiled module may appear.

    Only if every package is compiled does the test show that running the software compiles nothing more.
    """
    shipped = Installation(tmp_path)
    mode = ["--invalidation-mode", "unchecked-hash"]
    subprocess.run([sys.executable, "-m", "compileall", "-q", *mode, str(shipped.root / package)], check=True)
    shipped.make(bytecode=True)
    assert shipped.examine(flags=None if package else ()).matches_manifest, (
        "running the software has added a file"
    )
    compiled = next((shipped.root / "rng" / "__pycache__").glob("draws.*.pyc"))
    data = compiled.read_bytes()
    compiled.write_bytes(data[:-1] + bytes((data[-1] ^ 1,)))
    planted = compiled.with_name("planted.pyc")
    planted.write_bytes(data)
    assert shipped.examine().differences == (
        f"rng/__pycache__/{compiled.name}: altered",
        "rng/__pycache__/planted.pyc: foreign",
    )
