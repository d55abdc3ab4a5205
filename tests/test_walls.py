"""Each import contract of ``pyproject.toml`` detects the imports that it forbids.

For each import-linter contract, the packages are built as empty modules, which satisfy the contract. Then every
import that the contract forbids is added, and the contract must name each one.
"""

import ast
import itertools
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOL = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
CONFIG = TOOL["importlinter"]
CONFIG_BUILD = TOOL["hatch"]["build"]["targets"]["wheel"]
CONTRACTS = {contract["id"]: contract for contract in CONFIG["contracts"]}

#: What a feature shows to all others, and the features that may import it from a folder above them.
SHARED = re.compile(r"egm\.(features\.)?\w+\.(keys|records|events)\b")
LOWER_FEATURES = tuple(
    sorted(
        {
            words.partition("** -> ")[0]
            for words in CONTRACTS["egm-layers"]["ignore_imports"]
            if words.partition(" -> ")[2].startswith("egm.*.")
        }
    )
)


@cache
def modules():
    """Return every module of the packages by its dotted name."""
    files = itertools.chain.from_iterable((ROOT / name).rglob("*.py") for name in CONFIG["root_packages"])
    return {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in files
    }


def imports(file):
    """Return the dotted names of all imports of a module, wherever in the module they are."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def matching(expression):
    """Return the modules that match an expression of a contract (``*`` is one level, ``**`` any number)."""
    pattern = re.escape(expression).replace(r"\*\*", r".+").replace(r"\*", r"[^.]+")
    found = [name for name in modules() if re.fullmatch(pattern, name)]
    assert found, f"{expression} matches no module: the wall stands around nothing"
    return found


def forbidden(contract):
    """Return one import of each forbidden module, or for a pattern of the first forbidden module."""
    allowed = {
        name
        for words in contract.get("ignore_imports", ())
        if words.startswith("egm.** -> ")
        for name in matching(words.partition(" -> ")[2])
    }
    for source, target in itertools.product(contract["source_modules"], contract["forbidden_modules"]):
        targets = matching(target) if "*" in target else [target]
        for name in matching(source):
            yield name, next(target for target in targets if target not in allowed and target != name)


def layers(contract):
    for container in contract.get("containers", ("",)):
        ranks = [
            [f"{container}.{name}".strip(".") for name in re.split(r"\s*[|:]\s*", layer)]
            for layer in contract["layers"]
        ]
        for above, below in itertools.combinations(ranks, 2):
            yield from itertools.product(below, above)
        for layer, text in zip(ranks, contract["layers"], strict=True):
            if "|" in text:
                yield from itertools.permutations(layer, 2)


def independence(contract):
    names = itertools.chain.from_iterable(matching(expression) for expression in contract["modules"])
    yield from itertools.permutations(names, 2)


def cycles(contract):
    """Return one opposite import for each import between two modules of a folder."""
    known = modules()
    left_out = tuple(f"{name}." for name in contract.get("skip_descendants", ()))
    expected = tuple(f"{name}." for name in contract["ancestors"])
    for name, file in known.items():
        for imported in imports(file):
            target = imported if imported in known else imported.rpartition(".")[0]
            same = target in known and target.rpartition(".")[0] == name.rpartition(".")[0]
            shown = name.startswith((*LOWER_FEATURES, "egm.features.")) and SHARED.match(target)
            if same and name.startswith(expected) and not f"{name}.".startswith(left_out) and not shown:
                yield target, name


#: what each kind of contract forbids, as (importer, imported) pairs
FORBIDS = {"forbidden": forbidden, "layers": layers, "independence": independence}


@pytest.fixture(scope="module")
def skeleton(tmp_path_factory):
    """The packages with empty modules, which satisfy every contract."""
    folder = tmp_path_factory.mktemp("skeleton")
    for file in modules().values():
        copy = folder / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.touch()
    (folder / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    clean = lint(folder)
    broken = clean.stdout.partition("Broken contracts\n")[2] + clean.stderr
    assert clean.returncode == 0, f"pyproject.toml, [tool.importlinter], of the folders as they are: {broken}"
    assert f"{len(CONTRACTS)} kept, 0 broken" in clean.stdout
    return folder


def lint(folder, *contracts):
    """Check the packages below a folder against the named contracts, or all."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"]
    command += [word for contract in contracts for word in ("--contract", contract)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_import_contracts_are_declared():
    assert {
        "layers",
        "products",
        "installed",
        "egm-layers",
        "features",
        "screen",
        "engine",
        "shared",
        "foundations",
        "chance",
    } <= CONTRACTS.keys()


def test_every_folder_of_egm_is_named_by_the_walls_that_list_folders():
    folders = {file.parent.name for file in (ROOT / "egm").glob("*/__init__.py")}
    layers_ = [layer.split(" | ") for layer in CONTRACTS["egm-layers"]["layers"]]
    above = {name for layer in layers_[: layers_.index(["kernel"])] for name in layer}
    features = {f"egm.{name}.*" for name in above & folders - {"app", "features", "screen", "testing"}}
    features.add("egm.features.*.*")
    hidden = {f"egm.{name}" for name in folders - {"kernel", "links", "screen", "testing"}}
    for contract, due in (("shared", features | {"egm.app"}), ("screen", hidden)):
        listed = set(CONTRACTS[contract]["forbidden_modules"])
        assert listed == due, (
            f"pyproject.toml, forbidden_modules of the contract {contract!r}: "
            f"add {sorted(due - listed)}, remove {sorted(listed - due)}"
        )


def test_both_contracts_let_the_same_features_import_what_others_show():
    assert len(LOWER_FEATURES) == 5
    assert set(CONTRACTS["egm-layers"]["ignore_imports"]) <= set(CONTRACTS["cycles"]["ignore_imports"])


def test_installed_packages_import_no_test_rigs_or_developer_tools():
    """Test rigs are above all of egm, and developers' tools above all tools; nothing below imports them."""
    assert CONFIG_BUILD["exclude"] == ["/egm/testing", "/tools/dev"]
    assert CONTRACTS["egm-layers"]["layers"][0] == "testing"
    assert CONTRACTS["products"]["layers"][0] == "tools.dev"
    assert CONTRACTS["layers"]["layers"][:2] == ["tools", "egm"]
    installed = {name for name in modules() if name.count(".") == 1 and name.startswith("tools.")} - {
        "tools.dev"
    }
    assert set(CONTRACTS["installed"]["source_modules"]) == installed
    assert CONTRACTS["installed"]["forbidden_modules"] == ["egm.testing"]


def test_a_new_folder_of_egm_is_refused_until_it_has_its_place(skeleton):
    (skeleton / "egm" / "bingo").mkdir()
    (skeleton / "egm" / "bingo" / "__init__.py").touch()
    broken = lint(skeleton, "egm-layers")
    shutil.rmtree(skeleton / "egm" / "bingo")
    assert broken.returncode == 1
    assert "egm.bingo" in broken.stdout


def test_a_new_feature_needs_no_line_in_any_contract(skeleton):
    feature = skeleton / "egm" / "features" / "bingo"
    feature.mkdir()
    (feature / "__init__.py").write_text("import egm.play\nimport egm.money.entries\n")
    (skeleton / "egm" / "app" / "features.py").write_text("import egm.features.bingo\n")
    result = lint(skeleton)
    (feature / "__init__.py").write_text("import egm.features.closing.feature\nimport egm.seats\n")
    (skeleton / "egm" / "screen" / "text.py").write_text("import egm.features.bingo\n")
    broken = lint(skeleton, "features", "screen", "egm-layers")
    shutil.rmtree(feature)
    (skeleton / "egm" / "app" / "features.py").write_text("")
    (skeleton / "egm" / "screen" / "text.py").write_text("")
    assert result.returncode == 0, result.stdout
    for pair in (
        "bingo -> egm.features.closing.feature",
        "bingo -> egm.seats",
        "screen.text -> egm.features.bingo",
    ):
        assert pair in broken.stdout, broken.stdout


def test_no_two_folders_of_egm_import_each_other():
    """Checked for all imports, including those in functions and for the type checker only.

    Any feature may import the keys, records and events of another.
    """
    edges = {
        (importer.split(".")[1], imported.split(".")[1])
        for importer, file in modules().items()
        if importer.startswith("egm.")
        for imported in imports(file)
        if imported.startswith("egm.") and not SHARED.match(imported)
    }
    assert len(edges) > 50
    assert {
        (importer, imported)
        for importer, imported in edges
        if importer != imported and (imported, importer) in edges
    } == set()


def test_a_file_that_imports_back_is_found_in_every_folder(skeleton):
    """In each folder, an opposite import is added to one import; each such folder must be named."""
    by_folder = {}
    for importer, imported in cycles(CONTRACTS["cycles"]):
        if "__init__" not in modules()[importer].name and "__init__" not in modules()[imported].name:
            by_folder.setdefault(importer.rpartition(".")[0], (importer, imported))
    assert len(by_folder) > 40
    for importer, imported in by_folder.values():
        for first, other in ((importer, imported), (imported, importer)):
            file = skeleton / modules()[first].relative_to(ROOT)
            file.write_text(f"{file.read_text()}import {other}\n")
    broken = lint(skeleton, "cycles")
    for pair in by_folder.values():
        for name in pair:
            (skeleton / modules()[name].relative_to(ROOT)).write_text("")
    assert broken.returncode == 1
    found = set(re.findall(r"No cycles are allowed in ([\w.]+)\.\n", broken.stdout))
    assert by_folder.keys() <= found


@pytest.mark.parametrize("name", [name for name in CONTRACTS if name != "cycles"])
def test_a_wall_names_every_import_it_forbids(skeleton, name):
    planted = list(FORBIDS[CONTRACTS[name]["type"]](CONTRACTS[name]))
    assert planted
    files = {importer: skeleton / modules()[importer].relative_to(ROOT) for importer, _ in planted}
    for importer, imported in planted:
        files[importer].write_text(f"{files[importer].read_text()}import {imported}\n")
    broken = lint(skeleton, name)
    for file in files.values():
        file.write_text("")
    assert broken.returncode == 1
    for importer, imported in planted:
        assert re.search(rf"{re.escape(importer)} -> {re.escape(imported)}\b", broken.stdout), (
            f"{importer} may import {imported}\n{broken.stdout}"
        )


def test_the_walks_name_files_that_are_there_and_no_step_twice():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.partition("## Four walks through the code\n")[2].partition("\n## ")[0]
    walks = re.split(r"^### .+$", section, flags=re.MULTILINE)[1:]
    assert len(walks) == 4
    for walk in walks:
        files = re.findall(r"`((?:egm|meters|paytables|rng|tools)/[\w/]+\.py)`", walk)
        assert len(files) >= 9
        assert [file for file in files if not (ROOT / file).is_file()] == []
        assert len(set(files)) == len(files)
