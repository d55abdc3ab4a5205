"""Mutants check the trace: if a behaviour is removed, a test of its row must fail."""

import tomllib
from dataclasses import replace

import pytest

from tools.dev.conformance.evidence import Evidence, EvidenceTest
from tools.dev.conformance.requirements import ROOT, Mutant, load
from tools.dev.mutants.change import MutantError, apply_mutant
from tools.dev.mutants.scratch import ScratchCheckout
from tools.dev.mutants.trial import Trial, Verdict, create_trials, list_inapplicable_mutants, run_trial

MONEY = """
def paid(cents):
    return cents
"""
MORE = """
LEAST = 3

class Till:
    def give(self, cents, *, tip=0):
        if cents < LEAST:
            return None
        log(cents)
        return self.hand(cents, tip=tip) if tip else cents
"""
TABLE = """
# a table
title = "x"
[[bet]]
id = "red"  # one
pays = "1:1"
[[bet.row]]
id = "red"
pays = "2:1"
[[bet]]
id = "seven"
pays = "35:1"
[table]
seats = 8
"""
TESTS = """
import subprocess, sys, threading
import pytest
from money import paid

def test_nothing():
    pass

@pytest.mark.parametrize("cents", [0, 5])
def test_here(cents):
    assert paid(cents) == cents

def test_in_a_process_of_its_own():
    code = "from money import paid; raise SystemExit(paid(5) != 5)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

def test_in_an_isolated_process():
    code = "from money import paid; raise SystemExit(paid(5) != 5)"
    assert subprocess.run([sys.executable, "-I", "-c", code], check=False).returncode == 0

def test_always_fails():
    assert paid(5) == 6

@pytest.mark.slow
def test_slow():
    assert paid(5) == 5

def test_hangs_without_it():
    if paid(5) != 5:
        threading.Event().wait()
"""
PYPROJECT = """
[tool.pytest.ini_options]
addopts = "--strict-markers"
markers = ["slow: x"]
"""
LESS = Mutant(file="money.py", text="return cents\n", becomes="return cents - 1\n", takes_away="all is paid")


@pytest.fixture
def scratch(tmp_path):
    tree = tmp_path / "toy"
    (tree / ".git").mkdir(parents=True)
    (tree / "money.py").write_text(MONEY)
    (tree / "pyproject.toml").write_text(PYPROJECT)
    (tree / "test_money.py").write_text(TESTS)
    (tmp_path / "scratch").mkdir()
    return ScratchCheckout(tree, tmp_path / "scratch")


def verdict(scratch, *names, mutant=LESS, limit=60.0):
    tests = tuple(EvidenceTest("test_money.py", f"test_{name}", is_slow=name == "slow") for name in names)
    trial = Trial(name="A-01", row=load().rows["A-01"], mutant=mutant, tests=tests)
    outcome = run_trial(trial, scratch, limit)
    assert (scratch.root / "money.py").read_text() == MONEY  # nothing stays taken away
    return outcome.verdict, outcome.by


def test_a_failing_test_kills_the_mutant_and_is_named(scratch):
    assert verdict(scratch, "nothing", "here") == (Verdict.KILLED, "test_money.py::test_here")


@pytest.mark.parametrize("name", ["in_a_process_of_its_own", "in_an_isolated_process"])
def test_a_process_that_a_test_starts_runs_the_mutant(scratch, name):
    assert verdict(scratch, name) == (Verdict.KILLED, f"test_money.py::test_{name}")


def test_a_mutant_that_no_test_detects_survives(scratch):
    assert verdict(scratch, "nothing") == (Verdict.SURVIVED, "1 tests")
    assert verdict(scratch) == (Verdict.NO_TEST, "")


@pytest.mark.parametrize(
    ("name", "mutant", "expected_text"),
    [
        ("always_fails", LESS, "test_always_fails fails without any change"),
        ("hangs_without_it", LESS, "time limit exceeded"),
        ("not_there", LESS, "pytest ended with 4"),
        ("here", replace(LESS, text="return nothing"), "contains the text to remove 0 times"),
        ("here", replace(LESS, text="cents"), "contains the text to remove 2 times"),
        ("here", replace(LESS, becomes="return ("), "would not be Python"),
        ("here", replace(LESS, file="gone.py"), "gone.py: No such file"),
        (
            "here",
            replace(LESS, becomes="return less(cents)\n"),
            "money.py has no less, which the change uses",
        ),
    ],
)
def test_an_inconclusive_trial_is_an_error(scratch, name, mutant, expected_text):
    found, by = verdict(scratch, name, mutant=mutant, limit=6.0 if "hangs" in name else 60.0)
    assert (found, expected_text in by) == (Verdict.ERROR, True), by


@pytest.mark.parametrize(
    ("function", "change", "expected_text"),
    [
        ("Till.give", "returns 0", "def give(self, cents, *, tip=0):\n        return 0"),
        ("Till.give", "drops log", "return None\n        return self.hand"),
        ("Till.give", "without tip", "self.hand(cents) if tip"),
        ("Till.give", "flips 1", "if not cents < LEAST"),
        ("Till.give", "flips 2", "if not tip else cents"),
        ("Till.give", "calls self.hand max", "max(cents, tip=tip)"),
        ("LEAST", "is 4", "LEAST = 4"),
    ],
)
def test_a_function_is_changed_by_an_operator(tmp_path, function, change, expected_text):
    (tmp_path / "till.py").write_text(MORE)
    mutant = Mutant(file="till.py", function=function, change=change, takes_away="it")
    assert expected_text in apply_mutant(mutant, tmp_path)


@pytest.mark.parametrize(
    ("function", "change", "reason"),
    [
        ("Till.take", "returns 0", "has no Till.take"),
        ("Till", "returns 0", "has no Till to which"),
        ("LEAST", "returns 0", "has no LEAST to which"),
        ("Till.give", "is 0", "has no Till.give to which"),
        ("Till.give", "drops print", "does not change Till.give"),
        ("Till.give", "flips 9", "does not change Till.give"),
        ("Till.give", "mends it", "'mends' is not an operator"),
        ("Till.give", "returns self._least(purse)", "has no _least, purse, which the change uses"),
    ],
)
def test_an_operator_that_changes_nothing_is_refused(tmp_path, function, change, reason):
    (tmp_path / "till.py").write_text(MORE)
    with pytest.raises(MutantError, match=reason):
        apply_mutant(Mutant(file="till.py", function=function, change=change, takes_away="it"), tmp_path)


@pytest.mark.parametrize(
    ("key", "becomes", "change"),
    [
        ("bet.red.pays", '"3:1"', (0, "pays", "3:1")),
        ("bet.seven.pays", '"36:1"', (1, "pays", "36:1")),
        ("table.seats", "9", 9),
        ("bet.red.row.red.pays", '"4:1"', "4:1"),
    ],
)
def test_only_the_named_key_is_changed(tmp_path, key, becomes, change):
    (tmp_path / "table.toml").write_text(TABLE)
    mutant = Mutant(file="table.toml", key=key, becomes=becomes, takes_away="it")
    found, original = tomllib.loads(apply_mutant(mutant, tmp_path)), tomllib.loads(TABLE)
    if isinstance(change, tuple):
        original["bet"][change[0]][change[1]] = change[2]
    elif key == "table.seats":
        original["table"]["seats"] = change
    else:
        original["bet"][0]["row"][0]["pays"] = change
    assert found == original


@pytest.mark.parametrize(
    ("key", "becomes", "reason"),
    [
        ("bet.blue.pays", "1", "0 lines with the key"),
        ("table.seats", "8", "already is 8"),
        ("table.seats", "[", "would not be TOML"),
    ],
)
def test_a_missing_or_unchanged_key_is_refused(tmp_path, key, becomes, reason):
    (tmp_path / "table.toml").write_text(TABLE)
    with pytest.raises(MutantError, match=reason):
        apply_mutant(Mutant(file="table.toml", key=key, becomes=becomes, takes_away="it"), tmp_path)


def test_a_mutant_is_tried_by_the_tests_of_its_clause_quick_ones_first():
    requirements = load()
    soak, quick, slow = (
        EvidenceTest(f"tests/{f}.py", "test", is_slow=f == "z") for f in ("end_to_end/a", "egm/b", "z")
    )
    found = create_trials(requirements, Evidence({"F-06:a": (soak, quick, slow), "F-14": (quick,)}))
    by_name = {trial.name: trial for trial in found}
    assert by_name["F-06:a"].tests == (quick, soak)
    assert by_name["F-06:b"].tests == ()
    assert by_name["F-14"].tests == by_name["F-14/2"].tests == (quick,)
    assert all(trial.row.is_required_by_regulation for trial in found)


def test_the_text_that_each_mutant_replaces_is_there_once():
    """If a change rewrites the line that a mutant replaces, update the mutant: see requirements.toml."""
    every = create_trials(load(), Evidence({}), regulation=False)
    assert len({trial.row.id for trial in every}) > 50
    assert list_inapplicable_mutants([(trial.name, trial.mutant) for trial in every], ROOT) == []


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return ScratchCheckout(ROOT, tmp_path_factory.mktemp("copy"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "file", "name"),
    [
        (
            "C-05",
            "tests/egm/profiles/test_profiles.py",
            "test_a_game_below_the_minimum_return_is_refused_with_both_figures",
        ),
        ("Q-09", "tests/egm/staff/test_inventory.py", "test_a_base_number_is_fixed_for_good"),
    ],
)
def test_mutants_of_this_machine_are_killed(copy, row, file, name):
    test = EvidenceTest(file, name)
    (trial,) = (trial for trial in create_trials(load(), Evidence({row: (test,)})) if trial.name == row)
    outcome = run_trial(trial, copy, 120.0)
    assert (outcome.verdict, outcome.by) == (Verdict.KILLED, f"{file}::{name}")
