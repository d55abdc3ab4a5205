"""The check that only rng draws: it passes on this tree and fails on each violation."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools.checks.chance import LABORATORY, violations

ROOT = Path(__file__).parents[3]


def tree(root: Path, files: dict[str, str]) -> Path:
    for package in ("paytables", "meters", "egm", "rng"):
        (root / package).mkdir()
        (root / package / "__init__.py").touch()
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.requirement("B-11")
def test_this_tree_draws_from_rng_only() -> None:
    assert violations(ROOT) == []


@pytest.mark.parametrize("package", ["paytables", "meters", "egm"])
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import random", "random is a source of chance"),
        ("import random as r", "random is a source of chance"),
        ("from random import shuffle", "random is a source of chance"),
        ("def f():\n    import secrets", "secrets is a source of chance"),
        ("import numpy as np\nnp.random.default_rng()", "numpy.random is a source of chance"),
        ("from numpy import random as chance", "numpy.random is a source of chance"),
        ("import numpy.random", "numpy.random is a source of chance"),
        ("import os\nint.from_bytes(os.urandom(4))", "random bytes become a number"),
        ("from os import getrandom as g\nreel = [1, 2]\nreel[g(1)[0]]", "random bytes become a number"),
        ("import os\nraw = os.urandom(1)\nstop = raw[0] % 22", "random bytes become a number"),
        ("import uuid\nuuid.uuid4()", "uuid.uuid4 is a source of chance"),
        ("open('/dev/urandom', 'rb')", "/dev/urandom is a source of chance"),
        ("import time\nstop = time.time_ns() % 22", "the time is used"),
        ("from time import monotonic_ns as m\nstop = (m() >> 3) & 0x0F", "the time is used"),
        ("import time\nreel = [1, 2]\nreel[int(time.time())]", "the time is used"),
        ("import time\ndivmod(time.perf_counter_ns(), 22)", "the time is used"),
        ("from datetime import datetime\nx.seed(datetime.now())", "the time is used"),
        ("import rng.laboratory", "leads to what is for laboratories"),
        ("from rng import laboratory", "leads to what is for laboratories"),
        ("from rng.bulk import BulkDraws", "leads to what is for laboratories"),
        ("import importlib\nimportlib.import_module('rng.laboratory')", "for laboratories, is named here"),
    ],
)
def test_each_violation_is_found(tmp_path: Path, package: str, source: str, message: str) -> None:
    found = violations(tree(tmp_path, {f"{package}/bad.py": source}))
    assert found
    assert any(message in str(violation) for violation in found)
    assert all(violation.path == tmp_path / package / "bad.py" for violation in found)


@pytest.mark.parametrize(
    "source",
    [
        "import time\nstarted = time.monotonic()",
        "from datetime import UTC, datetime\ndef now(): return datetime.now(UTC)",
        "import uuid\nuuid.uuid5(uuid.NAMESPACE_DNS, 'a')",
        "def play(draw):\n    return draw.below(22)",
        "randomness = 'random'",
    ],
)
def test_what_a_cabinet_may_do_is_left_alone(tmp_path: Path, source: str) -> None:
    assert violations(tree(tmp_path, {"egm/good.py": source})) == []


def test_a_game_reads_no_clock_at_all(tmp_path: Path) -> None:
    found = violations(tree(tmp_path, {"paytables/bad.py": "import time\nstarted = time.time()"}))
    assert [v.message for v in found] == ["a game reads no clock"]


def test_random_bytes_make_keys_and_tokens_but_not_in_games(tmp_path: Path) -> None:
    source = "import os\ntoken = os.urandom(32).hex()"
    files = {"meters/keys.py": source, "egm/door.py": source, "paytables/bad.py": source}
    found = violations(tree(tmp_path, files))
    assert [(v.path.name, v.message) for v in found] == [("bad.py", "a game reads no random bytes")]


def test_the_screen_may_repeat_its_motion_by_the_clock_and_nobody_else(tmp_path: Path) -> None:
    source = "import time\nphase = time.monotonic() % 2"
    found = violations(tree(tmp_path, {"egm/screen/reels.py": source, "egm/engine.py": source}))
    assert [v.path.name for v in found] == ["engine.py"]


def test_a_laboratory_module_is_found_behind_other_modules(tmp_path: Path) -> None:
    files = {
        "egm/cabinet.py": "from egm import engine",
        "egm/engine.py": "from rng.fast import draw",
        "rng/fast.py": "def draw():\n    from rng.laboratory import LaboratoryStream",
        "rng/laboratory.py": "",
    }
    found = [str(v) for v in violations(tree(tmp_path, files))]
    assert any("egm.engine -> rng.fast -> rng.laboratory" in text for text in found)
    assert any("egm.cabinet -> egm.engine -> rng.fast -> rng.laboratory" in text for text in found)


def test_every_laboratory_module_exists() -> None:
    for name in LABORATORY:
        path = ROOT / name.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__init__.py").exists(), name


def test_the_command_prints_each_place_and_its_exit_status_tells(tmp_path: Path) -> None:
    tree(tmp_path, {"meters/bad.py": "x = 1\nimport random"})
    bad = subprocess.run(
        [sys.executable, "-m", "tools.checks.chance", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert bad.returncode == 1
    assert "meters/bad.py:2: random is a source of chance" in bad.stdout
    good = subprocess.run([sys.executable, "-m", "tools.checks.chance", str(ROOT)], cwd=ROOT, check=False)
    assert good.returncode == 0
