"""The description of a strategy at a poker table is generated from the code that plays it."""

import pytest

from paytables import AnalysisError, DefinitionError, analyse, build_game
from paytables.definition import parse, read_source


def build_changed_game(name, **changes):
    data = parse(read_source(name))
    data.update(changes)
    return build_game(data, "changed")


def words(game):
    return {bet.bet: (bet.strategy, bet.simplest_strategy) for bet in analyse(game).bets}


FALSE = {"en": "always fold", "fr": "toujours passer"}


@pytest.mark.requirement("P-10")
def test_the_described_strategy_is_the_one_to_which_the_figures_belong():
    game = build_changed_game("quebec-three-card-poker", strategy=FALSE, simplest=FALSE)
    assert words(game) == {
        "main": (
            "play with queen-six-four or better, otherwise fold",
            "play with queen-three-two or better, otherwise fold",
        ),
        "pair-plus": ("nothing is decided", None),
    }


@pytest.mark.parametrize(
    ("name", "bet", "best", "simplest"),
    [
        ("quebec-boston-poker", "main", "always raise", "always raise"),
        ("quebec-caribbean-stud", "main", "at each question the answer with the highest exact mean",
         "raise with two-two-five-four-three (pair) or better, otherwise fold"),
        ("quebec-let-it-ride", "main", "at each question the answer with the highest exact mean",
         "leave a bet only where the cards seen win already"),
        ("quebec-poker-3-5-7", "seven", "at each question the answer with the highest exact mean",
         "never take the bet back"),
        ("france-casino-holdem", "main", "at each question the answer with the highest exact mean", None),
    ],
)  # fmt: skip
def test_library_games_describe_their_strategies(name, bet, best, simplest):
    assert words(build_changed_game(name))[bet] == (best, simplest)


@pytest.mark.requirement("P-10")
@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("quebec-three-card-poker", [{"option": "fold"}]),
        ("quebec-three-card-poker", [{"option": "play", "least": "Qs 6d 3h"}, {"option": "fold"}]),
        pytest.param("quebec-boston-poker", [{"option": "stay"}], marks=pytest.mark.slow),
        pytest.param(
            *("quebec-boston-poker", [{"option": "raise", "least": "2s 2d 3h 4c 5s"}, {"option": "stay"}]),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_strategy_lines_that_are_not_the_best_strategy_are_refused(name, lines):
    data = parse(read_source(name))
    options = [option["id"] for step in data["step"] for option in step.get("option", ())]
    other = next(option for option in options if option != "raise")
    lines = [{**line, "option": other if line["option"] == "stay" else line["option"]} for line in lines]
    game = build_changed_game(name, best=lines, proved={})
    with pytest.raises(AnalysisError, match="best: these lines are not the best play"):
        analyse(game)


@pytest.mark.parametrize(
    ("name", "lines", "reason"),
    [
        ("quebec-let-it-ride", [{"option": "leave"}], "one question against the bank"),
        ("france-casino-holdem", [{"option": "fold"}], "one question against the bank"),
        (
            "quebec-three-card-poker",
            [{"option": "play", "least": "Qs 6d 4h"}],
            "the last line must not have `least`",
        ),
    ],
)
def test_strategy_lines_with_impossible_hands_are_refused_when_loaded(name, lines, reason):
    with pytest.raises(DefinitionError, match=reason):
        build_changed_game(name, best=lines)


def test_a_share_of_a_level_is_not_compared_with_odds_in_remarks():
    """A row of 10 % of the level precedes one of 100:1, and no remark says that either pays more."""
    assert build_changed_game("quebec-caribbean-stud").rules.list_remarks() == ()
