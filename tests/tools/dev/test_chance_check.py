"""The check that only rng draws: it fails on each violation (``make check`` runs it on the tree)."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools.dev.checks.chance import LABORATORY, violations

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
        ("open('/dev/urandom', 'rb')", "urandom is a source of chance"),
        ("import time\nstop = time.time_ns() % 22", "the time is used"),
        ("from time import monotonic_ns as m\nstop = (m() >> 3) & 0x0F", "the time is used"),
        ("import time\nreel = [1, 2]\nreel[int(time.time())]", "the time is used"),
        ("import time\ndivmod(time.perf_counter_ns(), 22)", "the time is used"),
        ("from datetime import datetime\nx.seed(datetime.now())", "the time is used"),
        ("import tools.lab.rng.stream", "leads to what is for laboratories"),
        ("from tools.lab.rng import stream", "leads to what is for laboratories"),
        ("from tools.lab.rng.bulk import BulkDraws", "leads to what is for laboratories"),
        (
            "import importlib\nimportlib.import_module('tools.lab.rng.stream')",
            "for laboratories, is named here",
        ),
        ("import tools\ntools.lab.rng.stream.LaboratoryStream(1)", "tools.lab is no way to draw"),
        ("from rng.ctr_drbg import CtrDrbg", "is rng's own; draw from its service"),
        ("from rng import KernelSource\nKernelSource().samples(4)", "rng.KernelSource is no way to draw"),
        # ways around the names
        ("import importlib\nimportlib.import_module('random')", "random is a source of chance, imported"),
        ("from importlib import import_module as i\ni('ran' + 'dom')", "name is put together when it runs"),
        ("__import__('random').random()", "__import__ runs what cannot be read"),
        ("exec('import random')", "exec runs what cannot be read"),
        ("import builtins\nbuiltins.__import__('random')", "builtins runs what cannot be read"),
        ("import sys\nsys.modules['random'].random()", "sys.modules reaches what was not imported"),
        ("import numpy as np\ngetattr(np, 'random').default_rng()", "numpy.random is a source of chance"),
        ("import os\ndef f(name):\n    return getattr(os, name)(4)", "a part of a module is named when it"),
        ("import ctypes\nctypes.CDLL(None).rand()", "ctypes is a source of chance"),
        ("import ssl\nssl.RAND_bytes(4)", "ssl.RAND_bytes is a source of chance"),
        ("import subprocess\nsubprocess.check_output(['shuf'])", "subprocess is a source of chance"),
        ("open('/dev/' + 'urandom', 'rb')", "urandom is a source of chance"),
        ("open('/proc/sys/kernel/random/uuid').read()", "kernel/random is a source of chance"),
        # ways around the values
        ("import os\nraw = 0\nraw += os.urandom(1)[0]\nstop = raw % 22", "random bytes become a number"),
        ("import os\nraw: bytes = os.urandom(1)\nstop = raw[0] % 22", "random bytes become a number"),
        ("import os\nif raw := os.urandom(1):\n    stop = raw[0] % 22", "random bytes become a number"),
        ("import os\na, b = os.urandom(2)\nstop = a % 22", "random bytes become a number"),
        ("import os\nfor a in os.urandom(2):\n    stop = a % 22", "random bytes become a number"),
        ("import os\ndef f():\n    return os.urandom(1)\nstop = f()[0] % 22", "random bytes become a number"),
        ("import os\nf = lambda: os.urandom(1)\nstop = f()[0] % 22", "random bytes become a number"),
        ("import os\ng = os.urandom\nstop = g(1)[0] % 22", "random bytes become a number"),
        ("import os\nstop = int(os.urandom(4).hex(), 16)", "random bytes become a number"),
        ("import os\nd = sorted(range(52), key=lambda i: os.urandom(4))", "random bytes become a number"),
        ("import os\nfrom rng.draws import WordDraws\nWordDraws(os.urandom)", "random bytes become a number"),
        (
            "import os\nfrom hashlib import sha256\nh = sha256(os.urandom(4)).digest()\nstop = h[0] % 22",
            "random bytes become a number",
        ),
        (
            (
                "import os\nclass A:\n    def f(self):\n        self.raw = os.urandom(1)\n"
                "    def g(self):\n        return self.raw[0] % 22"
            ),
            "random bytes become a number",
        ),
        (
            (
                "from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey as K\n"
                "stop = K.generate().private_bytes_raw()[0] % 22"
            ),
            "random bytes become a number",
        ),
        ("import time\nt = time.time_ns()\nstop = t % 22", "the time is used"),
        ("import time\ng = time.time_ns\nstop = g() % 22", "the time is used"),
        ("import time\nstop = time.time_ns() ^ 5", "the time is used"),
        ("import time\nd = sorted(range(52), key=lambda i: time.perf_counter_ns())", "the time is used"),
        ("def play(clock):\n    return clock.monotonic_ns() % 22", "the time is used"),
        ("def play(loop):\n    now = loop.time()\n    now %= 22\n    return now", "the time is used"),
        # what no two runs agree on
        ("stop = hash('a') % 22", "differs from run to run"),
        ("address = id(object())\nstop = address % 22", "differs from run to run"),
        ("import os\nstop = os.getpid() % 22", "differs from run to run"),
        ("stop = list({'a', 'b'})[0]", "the order of a set decides"),
        ("stop = set('ab').pop()", "the order of a set decides"),
        ("stop = next(iter({'a', 'b'} | set('c')))", "the order of a set decides"),
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
        "import time\ndeadline = time.monotonic() + 5\nlate = time.monotonic() > deadline",
        "import time\ndef f(link):\n    now = time.monotonic_ns()\n    at = link.at(now)\n    return at[0]",
        "import os\nopened = os.open('a', os.O_RDONLY)\ntable = {}\ntable[id(opened)] = os.getpid()",
        "import importlib.metadata\nimportlib.metadata.version('pygame-ce')",
        "import pygame\nkeys = [getattr(pygame, f'K_{n}') for n in range(10)]",
        "first = min({'a', 'b'})\nlast = sorted({'a', 'b'})[-1]",
        '"""Not from /dev/urandom."""',
    ],
)
def test_what_a_cabinet_may_do_is_left_alone(tmp_path: Path, source: str) -> None:
    assert violations(tree(tmp_path, {"egm/good.py": source})) == []


def test_a_game_reads_no_clock_at_all(tmp_path: Path) -> None:
    found = violations(tree(tmp_path, {"paytables/bad.py": "import time\nstarted = time.time()"}))
    assert "a game reads no clock" in [v.message for v in found]


@pytest.mark.parametrize("package", ["paytables", "meters"])
@pytest.mark.parametrize(
    "source", ["import asyncio", "from socket import socket", "import os.path", "import time"]
)
def test_games_and_meters_import_what_is_listed_and_nothing_else(
    tmp_path: Path, package: str, source: str
) -> None:
    listed = package == "meters" and source == "import os.path"
    found = violations(tree(tmp_path, {f"{package}/bad.py": source}))
    assert [v for v in found if "is not among the imports" in v.message] == ([] if listed else found)
    assert listed or found


def test_random_bytes_make_keys_and_tokens_but_not_in_games(tmp_path: Path) -> None:
    source = "import os\ntoken = os.urandom(32).hex()"
    files = {"meters/keys.py": source, "egm/door.py": source, "paytables/bad.py": source}
    found = violations(tree(tmp_path, files))
    assert {v.path.name for v in found} == {"bad.py"}
    assert "a game reads no random bytes" in [v.message for v in found]


def test_the_screen_may_repeat_its_motion_by_the_clock_and_nobody_else(tmp_path: Path) -> None:
    source = "import time\nphase = time.monotonic() % 2"
    found = violations(tree(tmp_path, {"egm/screen/reels.py": source, "egm/engine.py": source}))
    assert [v.path.name for v in found] == ["engine.py"]


def test_a_laboratory_module_is_found_behind_other_modules(tmp_path: Path) -> None:
    files = {
        "egm/app.py": "from egm import engine",
        "egm/engine.py": "from rng.fast import draw",
        "rng/fast.py": "def draw():\n    from tools.lab.rng.stream import LaboratoryStream",
        "tools/lab/rng/stream.py": "",
    }
    found = [str(v) for v in violations(tree(tmp_path, files))]
    assert any("egm.engine -> rng.fast -> tools.lab.rng.stream" in text for text in found)
    assert any("egm.app -> egm.engine -> rng.fast -> tools.lab.rng.stream" in text for text in found)


def test_every_laboratory_module_exists() -> None:
    for name in LABORATORY:
        path = ROOT / name.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__init__.py").exists(), name


def test_the_command_prints_each_place_and_its_exit_status_tells(tmp_path: Path) -> None:
    tree(tmp_path, {"meters/bad.py": "x = 1\nimport random"})
    bad = subprocess.run(
        [sys.executable, "-m", "tools.dev.checks.chance", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert bad.returncode == 1
    assert "meters/bad.py:2: random is a source of chance" in bad.stdout
    (tmp_path / "meters" / "bad.py").write_text("x = 1\n")
    good = subprocess.run([sys.executable, "-m", "tools.dev.checks.chance", str(tmp_path)], check=False)
    assert good.returncode == 0
