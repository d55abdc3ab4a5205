"""A return is stated with the same figure everywhere, rounded down."""

import json
from fractions import Fraction

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from egm.play.installed_games import InstalledGame
from egm.progressive.pools import ProgressivePools
from paytables import AnalysisDepth, analyse, list_shipped_games, load_game
from paytables.wording import format_percent
from tools.cli import main
from tools.lab.parsheet import format_percent as on_the_sheet


@given(st.fractions(min_value=-1, max_value=100), st.integers(1, 8))
def test_a_share_is_rounded_down_to_the_stated_digits(share, digits):
    stated_percent = Fraction(format_percent(share, digits))
    assert stated_percent <= share * 100 < stated_percent + Fraction(1, 10**digits)
    assert on_the_sheet(share, digits) == f"{format_percent(share, digits)} %"


@pytest.mark.parametrize(
    ("share", "expected_text"),
    [(Fraction(2, 3), "66.66"), (Fraction(1), "100.00"), (Fraction(7, 100_000), "0.00"), (Fraction(87377, 100_000), "87.37")],
)  # fmt: skip
def test_a_share_is_printed_with_all_its_decimals(share, expected_text):
    assert format_percent(share) == expected_text


@pytest.mark.requirement("C-26")
def test_the_list_of_games_states_the_same_returns_as_the_screen():
    listed = json.loads(CliRunner().invoke(main, ["game", "list", "--returns", "--json"]).output)
    returns_by_game = {line["game"]: line["return"].removesuffix(" %") for line in listed}
    assert returns_by_game.keys() == set(list_shipped_games())
    for name, figure in returns_by_game.items():
        game = load_game(name)
        least = analyse(game, AnalysisDepth.RETURN).minimum_rtp
        assert figure == InstalledGame(game, (), least, ProgressivePools()).lowest_return_percent
        assert Fraction(figure) <= 100 * least
