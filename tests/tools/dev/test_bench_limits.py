"""A benchmark area that exceeds its time limit is stopped and reported; the other areas are still measured."""

import asyncio
import contextlib
import functools
import importlib
import os
import subprocess
import sys
import time
from types import ModuleType

import pytest
from click.testing import CliRunner

import tools.dev.bench
from tools.dev.bench import BenchFigure
from tools.dev.bench.__main__ import _list_bench_modules, _run_area, main


def area(monkeypatch, name, figures, limit):
    module = ModuleType(f"tools.dev.bench.bench_{name}")
    module.measure_figures, module.LIMIT_SECONDS = figures, limit
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(tools.dev.bench, module.__name__.rpartition(".")[2], module, raising=False)
    return module


def wait_for_ever():
    yield BenchFigure(name="the first", value=1.0, unit="s")
    asyncio.run(asyncio.sleep(600))


def sleep_for_ever():
    time.sleep(600)
    yield BenchFigure(name="never", value=1.0, unit="s")


def ignore_termination():
    try:
        time.sleep(600)
    finally:
        subprocess.run(["sleep", "600"], check=True)
    yield BenchFigure(name="never", value=1.0, unit="s")


def exit_at_once():
    yield BenchFigure(name="the first", value=1.0, unit="s")
    os._exit(7)


def raise_error():
    raise RuntimeError("the port is [taken]")


def measure():
    yield BenchFigure(name="in time", value=2.0, unit="s")


@pytest.mark.parametrize(
    ("figures", "limit", "expected_text"),
    [
        (wait_for_ever, 5, "1 figures, and then no end within 5 s"),
        (sleep_for_ever, 0.3, "0 figures, and then no end within 0.3 s"),
        (ignore_termination, 0.3, "0 figures, and then no end within 0.3 s"),
        (exit_at_once, 200, "1 figures, and then its process ended (7)"),
        (raise_error, 200, "RuntimeError: the port is [taken]"),
    ],
)
def test_an_area_that_reaches_its_limit_is_reported_and_the_others_are_measured(
    monkeypatch, figures, limit, expected_text
):
    """Areas that end by themselves have a long limit, so that only areas that never end reach theirs."""
    area(monkeypatch, "never", figures, limit)
    area(monkeypatch, "quick", measure, 200)
    monkeypatch.setattr(
        "tools.dev.bench.__main__._list_bench_modules", lambda: ["bench_never", "bench_quick"]
    )
    run = CliRunner().invoke(main, [], env={"COLUMNS": "200"})
    assert run.exit_code == 1
    assert expected_text in run.output
    assert "in time" in run.output
    assert "not measured whole: never" in run.output


def test_a_bench_of_complete_areas_exits_with_success(monkeypatch):
    area(monkeypatch, "quick", measure, 200)
    monkeypatch.setattr("tools.dev.bench.__main__._list_bench_modules", lambda: ["bench_quick"])
    assert CliRunner().invoke(main, []).exit_code == 0


#: How much an area measures here if it takes that as parameters of ``measure_figures``.
FEWER = {"bench_audit": {"game_count": 200, "measurement_count": 1}}


@pytest.mark.slow
@pytest.mark.parametrize("name", _list_bench_modules())
def test_every_bench_area_yields_a_first_figure(name, monkeypatch):
    """Only the first figure of each area is taken, to detect a broken area."""
    module = importlib.import_module(f"tools.dev.bench.{name}")
    monkeypatch.setattr(
        module, "measure_figures", functools.partial(module.measure_figures, **FEWER.get(name, {}))
    )
    measured = _run_area(module)
    with contextlib.closing(measured):
        first = next(measured)
    assert isinstance(first, BenchFigure), first
    assert first.value > 0 or "not measured" in first.name, first
