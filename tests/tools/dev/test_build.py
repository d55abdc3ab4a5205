"""The built wheel contains the product, but no developers' tools or test rigs."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tools.dev.conformance.requirements import ROOT


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """The file names in the wheel that hatchling builds from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.iterdir()
    with zipfile.ZipFile(built) as wheel:
        return wheel.namelist()


def test_the_wheel_contains_only_the_packages_of_the_product(names):
    packages = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert packages == {"egm", "meters", "paytables", "rng", "tools"}
    assert {"tools/cli/__init__.py", "tools/lab/parsheet/templates/par.html.j2"} <= set(names)


def test_developers_tools_and_tests_are_not_installed(names):
    left_out = [folder for folder in ("egm/testing", "tools/dev") if (ROOT / folder).is_dir()]
    assert left_out == ["egm/testing", "tools/dev"]
    assert not [name for name in names if name.startswith(tuple(f"{folder}/" for folder in left_out))]
    assert not [name for name in names if Path(name).name.startswith("test_")]
