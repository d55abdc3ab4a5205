"""The battery tests the draws of the machine: a defect planted in production code is found by each of its parts."""

import json

import pytest
from click.testing import CliRunner

import rng
from rng.draws import Draws, WordDraws
from rng.errors import RngError, SelfTestFailed
from rng.scaling import selection_bounds
from rng.self_test import run_self_test
from rng.service import Step
from tools.cli.commands.rng import command
from tools.lab.rng import production
from tools.lab.rng.battery.run import GAMES, run_game
from tools.lab.rng.outcomes import Numbers, Selection
from tools.lab.rng.production import Production, bounds_of, exhaust, hold_compiled
from tools.lab.rng.service import start_service

BELOW, SAMPLE, TAKE = WordDraws.below, Draws.sample, Step._take
DICE, CARDS = Numbers(6, 2), Selection(12, 12)


def biased(self, bound, purpose=""):
    """One draw in a thousand is 0: by the word that was read, so that nothing random hides it."""
    read, words = self._read, []
    self._read = lambda count: words.append(read(count)) or words[-1]
    value = BELOW(self, bound, purpose)
    self._read = read
    return 0 if words and int.from_bytes(words[-1], "little") % 1000 == 999 else value


def off_by_one(self, population, picks, purpose=""):
    """No member ever stays where it is: each is swapped with one after it."""
    members = list(range(population))
    for i, bound in enumerate(selection_bounds(population, picks)):
        j = i + 1 + self.below(bound - 1, purpose) if bound > 1 else i
        members[i], members[j] = members[j], members[i]
    return members[:picks]


def reused(self, count):
    """One word in eight of a step is the one before it again."""
    if self._used and self._buffer[self._used - 1] % 8 == 0:
        self._used -= count
    return TAKE(self, count)


def test_honest_draws_pass_all_of_it():
    run_self_test()
    for name, game in GAMES.items():
        hold_compiled(start_service, name, game[0])
    assert exhaust(22).words_each == 65_536 // 22
    assert run_game("dice", DICE, 5_000, 0.0001, lambda: Production(start_service())).passed


@pytest.mark.requirement("B-06", "B-08")
def test_a_bias_of_one_in_a_thousand_is_found(monkeypatch):
    monkeypatch.setattr(WordDraws, "below", biased)
    with pytest.raises(SelfTestFailed, match="not shared equally"):
        exhaust(22)
    with pytest.raises(SelfTestFailed, match=r"cards: play \d+ of the machine's own draws"):
        hold_compiled(start_without_self_test, "cards", GAMES["cards"][0])


@pytest.mark.requirement("B-06", "B-08")
def test_a_shuffle_that_is_off_by_one_is_found(monkeypatch):
    monkeypatch.setattr(Draws, "sample", off_by_one)
    with pytest.raises(SelfTestFailed, match=r"every order|shuffle"):
        run_self_test()
    with pytest.raises(SelfTestFailed, match="cards: play 1 "):
        hold_compiled(start_without_self_test, "cards", CARDS)
    verdict = run_game("cards", CARDS, 5_000, 0.01, lambda: Production(start_without_self_test()))
    assert not verdict.passed


@pytest.mark.requirement("B-06", "B-08")
def test_words_that_are_used_again_are_found(monkeypatch):
    monkeypatch.setattr(Step, "_take", reused)
    with pytest.raises(SelfTestFailed, match="dice: play "):
        hold_compiled(start_without_self_test, "dice", Numbers(6, 3))
    verdict = run_game("dice", Numbers(6, 3), 5_000, 0.01, lambda: Production(start_without_self_test()))
    assert not verdict.passed


def start_without_self_test():
    """A service of a generator whose defect its own self-test would have found at the start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rng.service.run_self_test", lambda: ())
        return start_service()


def test_every_range_of_a_game_is_exhausted_by_the_machines_draws():
    assert list(bounds_of(Selection(5, 5))) == [2, 3, 4, 5]
    assert list(bounds_of(Selection(80, 20))) == list(range(61, 81))
    assert list(bounds_of(Numbers(22, 5))) == [22]


def test_an_error_of_the_exhaustion_leaves_a_report(monkeypatch, tmp_path):
    def uneven(bound):
        raise SelfTestFailed(f"words below {bound} are not shared equally")

    monkeypatch.setattr(production, "exhaust", uneven)
    data, page = tmp_path / "r.json", tmp_path / "r.html"
    asked = ["battery", "--game", "dice", "--plays", "2000", "--alpha", "0.00001"]
    result = CliRunner().invoke(command, [*asked, "--json", str(data), "--html", str(page)])
    assert result.exit_code == 1
    assert "machine: words below 6 are not shared equally" in result.output
    report = json.loads(data.read_text())
    assert report["passed"] is False
    assert [row["error"] for row in report["scaling"] if row["error"]] == [
        "machine: words below 6 are not shared equally"
    ]
    assert "machine: words below 6 are not shared equally" in page.read_text()


def test_the_battery_says_which_draws_are_not_the_machines(monkeypatch):
    def differs(*_):
        raise RngError("dice: play 1 of the machine's own draws is another")

    monkeypatch.setattr(production, "hold_compiled", differs)
    result = CliRunner().invoke(command, ["battery", "--game", "dice", "--plays", "2000"])
    assert (result.exit_code, "own draws is another" in result.output) == (1, True)
    assert rng.RngError is RngError
