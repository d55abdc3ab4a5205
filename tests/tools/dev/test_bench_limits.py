"""A bench area that never ends is given up at its limit and named; the others are measured all the same."""

import asyncio
import os
import subprocess
import sys
import time
from types import ModuleType

import pytest
from click.testing import CliRunner

import tools.dev.bench
from tools.dev.bench import Figure
from tools.dev.bench.__main__ import main


def area(monkeypatch, name, figures, limit=0.3):
    module = ModuleType(f"tools.dev.bench.bench_{name}")
    module.figures, module.LIMIT_SECONDS = figures, limit
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(tools.dev.bench, module.__name__.rpartition(".")[2], module, raising=False)
    return module


def waits_for_ever():
    yield Figure(name="the first", value=1.0, unit="s")
    asyncio.run(asyncio.sleep(600))


def sleeps_for_ever():
    time.sleep(600)
    yield Figure(name="never", value=1.0, unit="s")


def clings():
    try:
        time.sleep(600)
    finally:
        subprocess.run(["sleep", "600"], check=True)
    yield Figure(name="never", value=1.0, unit="s")


def dies():
    yield Figure(name="the first", value=1.0, unit="s")
    os._exit(7)


def breaks():
    raise RuntimeError("the port is [taken]")


def measures():
    yield Figure(name="in time", value=2.0, unit="s")


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        (waits_for_ever, "1 figures, and then no end within 0.3 s"),
        (sleeps_for_ever, "0 figures, and then no end within 0.3 s"),
        (clings, "0 figures, and then no end within 0.3 s"),
        (dies, "1 figures, and then its process ended (7)"),
        (breaks, "RuntimeError: the port is [taken]"),
    ],
)
def test_what_could_not_be_measured_is_said_and_the_rest_goes_on(monkeypatch, figures, said):
    area(monkeypatch, "never", figures)
    area(monkeypatch, "quick", measures, 30)
    monkeypatch.setattr("tools.dev.bench.__main__._modules", lambda: ["bench_never", "bench_quick"])
    began = time.monotonic()
    run = CliRunner().invoke(main, [], env={"COLUMNS": "200"})
    assert time.monotonic() - began < 30
    assert run.exit_code == 1
    assert said in run.output
    assert "in time" in run.output
    assert "not measured whole: never" in run.output


def test_areas_that_are_measured_whole_end_well(monkeypatch):
    area(monkeypatch, "quick", measures, 30)
    monkeypatch.setattr("tools.dev.bench.__main__._modules", lambda: ["bench_quick"])
    assert CliRunner().invoke(main, []).exit_code == 0
