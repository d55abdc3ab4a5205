"""The battery tests the machine's own draws: each of its parts detects a defect planted in production code."""

import json
import pkgutil

import pytest
from click.testing import CliRunner

import rng
from paytables.cards import Shoe
from rng.draws import WordDraws
from rng.errors import RngError, SelfTestFailed
from rng.self_test import run_self_test
from rng.service import DrawStep
from tools.cli.commands.rng import command
from tools.lab.rng import production
from tools.lab.rng.battery.run import TESTED_GAMES, run_game
from tools.lab.rng.outcomes import (
    CARD_GAME,
    DICE_GAME,
    KENO_GAME,
    LONG_REEL_GAME,
    REEL_GAME,
    WHEEL_GAME,
    IndependentNumbers,
    SelectionWithoutReplacement,
)
from tools.lab.rng.production import ProductionDraws, exhaust_production_range, list_ranges
from tools.lab.rng.service import start_laboratory_generator

BELOW, DEAL, TAKE = WordDraws.below, Shoe.deal, DrawStep._take


def play(name, game, plays):
    return ProductionDraws(start_without_self_test()).play(name, game, plays)


def plant_bias(self, bound, purpose=""):
    """Replace one draw in a thousand by 0, chosen by the word that was read, so that it is reproducible."""
    read, words = self._read, []
    self._read = lambda count: words.append(read(count)) or words[-1]
    value = BELOW(self, bound, purpose)
    self._read = read
    return 0 if words and int.from_bytes(words[-1], "little") % 1000 == 999 else value


def plant_repeated_words(self, count):
    """Replace one word in eight of a step by the word before it."""
    if self._used_byte_count and self._buffer[self._used_byte_count - 1] % 8 == 0:
        self._used_byte_count -= count
    return TAKE(self, count)


class Never:
    """Draws in which the last of several outcomes never occurs, so that the last remaining piece is not dealt."""

    def __init__(self, draws):
        self._draws = draws

    def below(self, bound, purpose=""):
        return min(self._draws.below(bound, purpose), max(bound - 2, 0))


def test_honest_production_draws_pass_every_part():
    run_self_test()
    production_ = ProductionDraws(start_laboratory_generator())
    for name, (game, _) in TESTED_GAMES.items():
        assert production_.play(name, game, 600).shape == (600, len(game.bounds))
    assert exhaust_production_range(22).words_each == 65_536 // 22
    assert run_game(
        "dice", DICE_GAME, 5_000, 0.0001, lambda: ProductionDraws(start_laboratory_generator())
    ).has_passed


@pytest.mark.requirement("B-06", "B-08")
def test_a_bias_of_one_in_a_thousand_is_detected(monkeypatch):
    monkeypatch.setattr(WordDraws, "below", plant_bias)
    with pytest.raises(SelfTestFailed, match="not shared equally"):
        exhaust_production_range(22)
    with pytest.raises(SelfTestFailed, match=r"cards: play \d+: the machine drew"):
        play("cards", CARD_GAME, 600)


@pytest.mark.requirement("B-02", "B-08")
@pytest.mark.parametrize(
    ("name", "function", "game"),
    [
        ("cards", "paytables.cards.card.Shoe.deal", CARD_GAME),
        ("keno", "paytables.keno.draws.draw_and_remove_element", KENO_GAME),
        ("dice", "tools.lab.rng.outcomes.throw_dice", DICE_GAME),
        ("wheel", "paytables.roulette.wheel_table.WheelTable.draw_result", WHEEL_GAME),
        ("reels", "paytables.reels.stage.ReelSet.spin", REEL_GAME),
        ("long-reels", "paytables.reels.stage.ReelSet.spin", LONG_REEL_GAME),
    ],
)
def test_a_number_that_a_games_own_draw_function_never_draws_is_detected(monkeypatch, name, function, game):
    """The battery uses the games' own functions; the defect is in the function that deals, throws or spins."""
    module, _, called = function.rpartition(".")
    holder = pkgutil.resolve_name(module)
    original = getattr(holder, called)

    def without_the_last(*arguments):
        return original(
            *(Never(argument) if hasattr(argument, "below") else argument for argument in arguments)
        )

    monkeypatch.setattr(holder, called, without_the_last)
    with pytest.raises(SelfTestFailed, match=rf"{name}: play \d+: the machine drew"):
        play(name, game, 2_000)


@pytest.mark.requirement("B-08")
def test_every_play_is_compared_and_not_only_the_first_ones(monkeypatch):
    plays = iter(range(4_000))

    def once(shoe, draw, purpose):
        return DEAL(shoe, Never(draw) if next(plays) >= 52 * 60 else draw, purpose)

    monkeypatch.setattr(Shoe, "deal", once)
    with pytest.raises(SelfTestFailed, match=r"cards: play 6\d: the machine drew"):
        play("cards", CARD_GAME, 70)


def test_a_dealing_function_that_draws_too_few_numbers_is_detected(monkeypatch):
    monkeypatch.setattr(
        "paytables.keno.draws.draw_and_remove_element", lambda _draw, left, _purpose: left.pop()
    )
    with pytest.raises(SelfTestFailed, match="keno: play 1: the machine drew"):
        play("keno", KENO_GAME, 5)


@pytest.mark.requirement("B-06", "B-08")
def test_reused_random_words_are_detected(monkeypatch):
    monkeypatch.setattr(DrawStep, "_take", plant_repeated_words)
    with pytest.raises(SelfTestFailed, match="dice: play "):
        play("dice", IndependentNumbers(6, 3), 500)


def start_without_self_test():
    """Return a random service whose generator has a defect that the self-test at the start would have found."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rng.service.run_self_test", lambda: ())
        return start_laboratory_generator()


def test_every_range_of_a_game_is_listed_for_exhaustion():
    assert list_ranges(SelectionWithoutReplacement(5, 5)) == [2, 3, 4, 5]
    assert list_ranges(SelectionWithoutReplacement(80, 20)) == list(range(61, 81))
    assert list_ranges(IndependentNumbers(22, 5)) == [22]


def test_a_failed_exhaustion_still_writes_a_report(monkeypatch, tmp_path):
    def uneven(bound):
        raise SelfTestFailed(f"words below {bound} are not shared equally")

    monkeypatch.setattr(production, "exhaust_production_range", uneven)
    data, page = tmp_path / "r.json", tmp_path / "r.html"
    arguments = ["battery", "--game", "dice", "--plays", "2000", "--alpha", "0.00001"]
    result = CliRunner().invoke(command, [*arguments, "--json", str(data), "--html", str(page)])
    assert result.exit_code == 1
    assert "machine: words below 6 are not shared equally" in result.output
    report = json.loads(data.read_text())
    assert report["passed"] is False
    assert [row["error"] for row in report["scaling"] if row["error"]] == [
        "machine: words below 6 are not shared equally"
    ]
    assert "machine: words below 6 are not shared equally" in page.read_text()


def test_the_battery_reports_draws_that_are_not_the_machines(monkeypatch):
    def differs(*_):
        raise RngError("dice: play 1 of the machine's own draws is another")

    monkeypatch.setattr(ProductionDraws, "play", differs)
    result = CliRunner().invoke(command, ["battery", "--game", "dice", "--plays", "2000"])
    assert (result.exit_code, "own draws is another" in result.output) == (1, True)
    assert rng.RngError is RngError
