"""A spot shows its pays, also several pays, the commission on a win, and bets that pay more."""

import re
from fractions import Fraction

import pytest

from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.painter import Painter
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.pay_table import list_spot_pay_rows
from egm.screen.scenes.table_side_panels import format_question_lines, format_spot_lines
from egm.screen.text import Texts
from paytables import list_table_games, load_game
from tools.dev.gallery.felts import iter_felt_scenes, load_table_game
from tools.lab.views import UNIT_CENTS, build_idle_view

#: A spot, the first line of its details in English and French, and rows that are listed with it.
TOLD = [
    (
        "quebec-baccarat",
        "bank",
        "Pays 1:1, less 1 credit for each 20 staked",
        "moins 1 crédit par 20 misés",
        0,
    ),
    (
        "quebec-pai-gow",
        "stake",
        "Pays 1:1, less 1 credit for each 20 staked",
        "moins 1 crédit par 20 misés",
        0,
    ),
    ("quebec-three-card-poker", "pair-plus", "Pays up to 40:1", "Paie jusqu'à 40:1", 5),
    ("quebec-three-card-poker", "ante", "Pays 1:1, up to 5:1", "1:1, jusqu'à 5:1", 3),
    ("quebec-blackjack-options", "main", "Pays 1:1, up to 2:1", "1:1, jusqu'à 2:1", 3),
    ("monaco-blackjack", "twenty-one-plus-three", "Pays 9:1", "Paie 9:1", 4),
    ("quebec-blackjack-options", "insurance", "Pays 2:1", "Paie 2:1", 0),
    (
        "quebec-craps",
        "buy-4",
        "Pays 2:1; 5% commission on the stake, paid with the bet",
        "commission de 5 % sur la mise",
        0,
    ),
    ("quebec-craps", "field", "Pays 2 to 1", "2 à 1", 0),
    ("quebec-red-dog", "ante", "Pays spread 1: 5:1", "écart de 1 : 5:1", 0),
]


def build_table_context(name, theme, language):
    _, game_view = load_table_game(name)
    return DrawingContext(
        Painter(theme), Texts(language), LANDSCAPE_LAYOUT, build_idle_view((game_view,), game_view, language)
    )


@pytest.mark.requirement("C-22", "C-11")
@pytest.mark.parametrize(("name", "spot", "english", "french", "rows"), TOLD)
def test_a_touched_spot_lists_everything_it_pays(theme, name, spot, english, french, rows):
    for language, expected_text in (("en", english), ("fr", french)):
        context = build_table_context(name, theme, language)
        found = context.view.table.spots[spot]
        words = format_spot_lines(context, found, UNIT_CENTS)[0][0]
        assert expected_text in re.sub("[\u00a0\u202f]", " ", words).replace("\u2019", "'")
        assert len(list_spot_pay_rows(context, found)) == rows


def test_a_decision_to_raise_names_the_raise_and_its_highest_pay(theme):
    scenes = dict(iter_felt_scenes(*load_table_game("quebec-caribbean-stud"), "en", theme, LANDSCAPE_LAYOUT))
    (view,) = [scene for name, scene in scenes.items() if name.startswith("asks-")]
    context = DrawingContext(Painter(theme), Texts("en"), LANDSCAPE_LAYOUT, view)
    rows = [(words, cost) for words, cost, _ in format_question_lines(context, view.table, view.decision)]
    assert rows == [("Raise", ""), ("RAISE", "+$0.50"), ("Pays up to 100:1", "")]


ADDED = [
    (
        "quebec-blackjack-options",
        "insurance",
        "To add during the round: 1/2 × Bet",
        "À ajouter durant la partie : 1/2 × Mise",
    ),
    (
        "quebec-caribbean-stud",
        "raise",
        "To add during the round: 2 × Ante",
        "À ajouter durant la partie : 2 ×",
    ),
    (
        "quebec-crazy-four-poker",
        "play",
        "To add during the round: 1, 2, 3 × Ante",
        "À ajouter durant la partie : 1, 2, 3 ×",
    ),
]


@pytest.mark.parametrize(("name", "spot", "english", "french"), ADDED)
def test_a_stake_of_the_round_is_explained_at_its_required_bet(theme, name, spot, english, french):
    """Its limits are not fixed amounts, but half of the bet or a multiple of the ante."""
    for language, expected_text in (("en", english), ("fr", french)):
        context = build_table_context(name, theme, language)
        lines = [words for words, _ in format_spot_lines(context, context.view.table.spots[spot], UNIT_CENTS)]
        assert any(expected_text in re.sub("[\u00a0\u202f]", " ", words) for words in lines), lines
        assert not any("Bets of" in words or "Mises de" in words for words in lines)


def test_the_limits_of_a_raise_are_multiples_of_the_antes():
    for name in (name for name in list_table_games() if load_game(name).family == "poker"):
        spots = {spot.id: spot for spot in load_game(name).rules.list_spots()}
        raised = [spot for spot in spots.values() if not spot.accepts_bets]
        for spot in raised:
            ante, times = (
                spots[spot.required_spot],
                [Fraction(multiple) for multiple in spot.added_bet_multiples],
            )
            assert (spot.bet_min, spot.bet_max) == (
                int(ante.bet_min * min(times)),
                int(ante.bet_max * max(times)),
            )
