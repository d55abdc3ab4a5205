"""Rules for every test: reproducible runs, and requirement marks that name existing requirements."""

import atexit
import ctypes
import gc
import os
import resource
import shutil
import sys
import tempfile
import tomllib
import warnings
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from pathlib import Path

gc.disable()  # until everything is collected

_SCRATCH = "egm-tests-"


def _begin_scratch() -> None:
    """Create one folder for all temporary files of this run; its workers inherit the folder by ``TMPDIR``.

    The folder is removed when the run ends. If the run is killed, the next run removes the folder.
    """
    folder = Path(tempfile.gettempdir())
    for scratch_folder in folder.glob(f"{_SCRATCH}*"):
        if not Path("/proc", scratch_folder.name.removeprefix(_SCRATCH)).exists():
            shutil.rmtree(scratch_folder, ignore_errors=True)
    scratch = folder / f"{_SCRATCH}{os.getpid()}"
    scratch.mkdir(mode=0o755, exist_ok=True)  # some tests run as other users
    os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)
    # All workers share matplotlib's list of fonts, which takes a second to make.
    os.environ["MPLCONFIGDIR"] = str(scratch / "matplotlib")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)


if "PYTEST_XDIST_WORKER" not in os.environ:
    _begin_scratch()

# Each worker has its own home folder, which its processes inherit. A test that names no folder therefore never uses the
# user's files (a cabinet may be running from the default state folder). Imports below may already read HOME.
HOME = Path(tempfile.mkdtemp(prefix="home-"))
os.environ["HOME"] = str(HOME)
for _name in ("CACHE_HOME", "CONFIG_HOME", "DATA_HOME", "RUNTIME_DIR", "STATE_HOME"):
    (HOME / _name.lower()).mkdir(mode=0o700)
    os.environ[f"XDG_{_name}"] = str(HOME / _name.lower())

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402
from hypothesis.internal.conjecture import providers  # noqa: E402
from pydantic import BaseModel  # noqa: E402

from tests.rigs.examples import THOROUGH  # noqa: E402
from tools.dev.conformance.requirements import load  # noqa: E402

_copy_model = BaseModel.model_copy


def _copy_with_known_fields(self, *, update=None, deep=False):
    """Copy a model; fail on the name of a field that it does not have, which pydantic would silently set."""
    unknown_names = sorted((update or {}).keys() - type(self).model_fields.keys())
    assert not unknown_names, f"{type(self).__name__} has no field {', '.join(unknown_names)}"
    return _copy_model(self, update=update, deep=deep)


BaseModel.model_copy = _copy_with_known_fields

os.environ.pop("COLUMNS", None)  # xdist sets a terminal's width for its workers, which have no terminal

# Hypothesis takes literals from the source of every loaded module for its examples: those of a test would depend on
# which other tests are collected, and each worker would parse the whole product (eight seconds).
providers.is_local_module_file = lambda path: False
# The tests are reproducible on any machine under any load; HYPOTHESIS_PROFILE=explore searches for new examples.
for _profile, _examples in {"repeatable": 50, "thorough": THOROUGH}.items():
    settings.register_profile(
        _profile,
        derandomize=True,
        deadline=None,
        database=None,
        max_examples=_examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options ``--kills`` and ``--sas-polls``."""
    parser.addoption("--sas-polls", type=int, default=800, help="polls of each host in the SAS soak")
    parser.addoption("--kills", type=int, default=300, help="kills of the machine in the kill test")


#: Growth of a worker's memory during one file of tests above which the memory is returned to the system.
_GROWTH_BYTES = 64 << 20


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


@pytest.fixture(autouse=True, scope="module")
def _memory_returned() -> Iterator[None]:
    """After each file of tests, return memory to the system if the file used much of it.

    Proofs over every hand of a deck cache sets of cards, and the C library keeps freed pages: together a gigabyte.
    """
    before = _resident_bytes()
    yield
    if _resident_bytes() > before + _GROWTH_BYTES:
        subsets = sys.modules.get("paytables.cards.subsets")
        if subsets is not None:
            subsets.build_sets.cache_clear()
            subsets.build_rank_steps.cache_clear()
        gc.collect()
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of the GNU C library only
        if trim is not None:
            trim(0)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Import the test files before they are collected, in a different order in each worker.

    In a first run, pytest spends most of the collection on compiling the assertions of every test file, and stores the
    result. All workers collect in the same order; without this, they would all compile the same file at the same time.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        return
    folders = (Path(argument) for argument in session.config.args)
    files = sorted(file for folder in folders if folder.is_dir() for file in folder.rglob("test_*.py"))
    first = len(files) * int(worker.removeprefix("gw")) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for file in files[first:] + files[:first]:
        sys.path.insert(0, str(file.parent))
        with suppress(Exception, pytest.skip.Exception), warnings.catch_warnings():
            warnings.simplefilter(
                "error"
            )  # the collection imports the file again, and reports what it raises
            import_module(file.stem)
        del sys.path[0]


#: The slow tests, in addition to those that have the mark ``slow``.
_SLOW_TIER = tomllib.loads(Path(__file__).with_name("slow_tier.toml").read_text(encoding="utf-8"))


def _is_moved(listed: dict[str, list[str]], parameters: str) -> bool:
    """Return whether an entry of the slow tier applies to a test with these parameters."""
    only, keep = listed.get("only", ["*"]), listed.get("keep", ())
    return any(fnmatchcase(parameters, moved) for moved in only) and not any(
        fnmatchcase(parameters, pattern) for pattern in keep
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the slow tier before pytest selects by mark, and sort all tests."""
    for item in items:
        file, _, test = item.nodeid.removeprefix("tests/").partition("::")
        function, _, parameters = test.partition("[")
        listed = _SLOW_TIER.get(file, {}).get(function)
        if listed is not None and _is_moved(listed, parameters.removesuffix("]")):
            item.add_marker("slow")
    _sort_for_workers(items)


def _sort_for_workers(items: list[pytest.Item]) -> None:
    """Put the end-to-end tests first, so that one worker waits for their processes while the others compute.

    The laboratory's tests follow. Fast workers take over tests from the end of the list; if the laboratory's tests were
    there, several workers would each build the bundles that those tests share.
    """
    first = ("tests/end_to_end/", "tests/tools/lab/")
    items.sort(
        key=lambda item: next((n for n, start in enumerate(first) if item.nodeid.startswith(start)), 2)
    )


def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collection; they live until the end, and scanning them costs 10 %."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


_UMASK = os.umask(0o022)
os.umask(_UMASK)


@pytest.fixture(autouse=True)
def _umask_restored() -> Iterator[None]:
    """Restore the umask after a test, because commands such as ``egm run`` change it and some tests call them."""
    yield
    os.umask(_UMASK)


@pytest.fixture(autouse=True)
def _machines_put_away() -> Iterator[None]:
    """Close every machine that a test has left running; each has about ten open files."""
    yield
    machines = sys.modules.get("egm.testing.machine")
    if machines is not None:
        while machines.OPENED_RIGS:
            machines.OPENED_RIGS.pop().close()
        machines.restart_random_bytes()


@cache
def _list_requirements() -> frozenset[str]:
    """Return the ids that a mark may name."""
    return load().marks


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test whose ``requirement`` or ``library_only`` mark names an id that does not exist."""
    for mark in item.iter_markers():
        unknown = (
            set(mark.args) - _list_requirements() if mark.name in {"requirement", "library_only"} else ()
        )
        for name in unknown:
            pytest.fail(f"no such requirement: {name!r}", pytrace=False)
