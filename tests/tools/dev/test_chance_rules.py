"""Outcomes come from the rng service: ruff or the import contract rejects every other source of chance."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.requirement("B-11")
@pytest.mark.parametrize("package", ["paytables", "meters", "egm"])
@pytest.mark.parametrize(
    "source",
    [
        "import os\n\nSTOP = os.urandom(1)[0] % 22\n",
        "from os import getrandom as g\n\nSTOP = g(1)[0]\n",
        "import numpy as np\n\nDRAWS = np.random.default_rng()\n",
        "from numpy import random as chance\n\nDRAWS = chance\n",
        "import ssl\n\nSTOP = ssl.RAND_bytes(1)\n",
    ],
)
def test_random_numbers_from_outside_the_rng_service_are_rejected_by_ruff(package, source):
    result = subprocess.run(
        [
            *(sys.executable, "-m", "ruff", "check", "--no-cache", "--select", "TID251"),
            *("--stdin-filename", str(ROOT / package / "planted.py"), "-"),
        ],
        input=source,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert result.returncode == 1
    assert "TID251" in result.stdout


def test_each_permitted_use_of_random_bytes_states_its_purpose():
    """Permitted uses are keys, tokens, salts and the seed material of the rng package."""
    allowed = [
        line
        for package in ("egm", "meters", "paytables", "rng")
        for file in (ROOT / package).rglob("*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if "noqa: TID251" in line
    ]
    assert 5 < len(allowed) < 15
    assert [line for line in allowed if not line.rstrip().endswith(")")] == []
