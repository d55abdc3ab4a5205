"""Pays stated in a game's help equal the definition's: by placeholder, or with a remark if they differ."""

import re
import tomllib
from copy import deepcopy
from importlib.resources import files

import pytest

from paytables import DefinitionError, build_game, list_non_table_games, list_table_games, load_game
from paytables.game import _iter_help_figure_remarks

TEMPLATES = sorted(
    path.name for path in files("tools.lab").joinpath("templates").iterdir() if path.name.endswith(".toml")
)


def template(name, old="", new=""):
    text = files("tools.lab").joinpath("templates", name).read_text(encoding="utf-8")
    assert old in text
    return tomllib.loads(text.replace("@ID@", "mine").replace(old, new))


def list_help_remarks(data):
    return [(remark.key, remark.text) for remark in _iter_help_figure_remarks(build_game(data, "mine.toml"))]


@pytest.mark.requirement("C-26")
@pytest.mark.parametrize("name", [*list_non_table_games(), *list_table_games()])
def test_no_figure_of_a_game_of_the_library_is_remarked_on(name):
    assert [*_iter_help_figure_remarks(load_game(name))] == []


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_figure_of_a_template_is_remarked_on(name):
    assert list_help_remarks(template(name)) == []


def test_a_changed_pay_of_a_wheel_appears_in_its_help():
    game = build_game(template("wheel.toml", "moon = 3", "moon = 4"), "mine.toml")
    assert "\n\nMoon: 4 for 1, stake included\n\n" in game.help["en"]
    assert "\n\nLune : 4 fois la mise, mise comprise\n\n" in game.help["fr"]
    assert "Sun or star: 2 for 1, stake included" in game.help["en"]


def test_the_help_states_each_pay_of_an_area_with_different_pays():
    data = template("wheel.toml", "sun = 2, star = 2", "sun = 2, star = 5")
    help_texts = build_game(data, "mine.toml").help
    assert "Sun or star: Sun 2 for 1, stake included; Star 5 for 1, stake included" in help_texts["en"]


def test_the_help_of_a_wheel_with_a_table_states_pays_without_the_stake():
    data = deepcopy(dict(template("wheel.toml")))
    data["table"], data["layout"] = {"seats": 1}, {}
    assert "Moon: 2 to 1" in build_game(data, "mine.toml").help["en"]


def test_a_number_in_the_help_that_the_game_lacks_is_remarked_on():
    data = template("wheel.toml", "2 stars and 5 clouds", "2 stars and 11 clouds, 1,250 in all")
    assert list_help_remarks(data) == [
        ("game.help.en", "mentions 11, 1,250, which is not a number of the game")
    ]


def test_help_with_a_list_of_pays_that_the_family_does_not_make_is_refused():
    data = template("keno.toml", "Twenty of the numbers", "{pays} Twenty of the numbers")
    with pytest.raises(DefinitionError, match=r"game\.help\.en: contains \{pays\}"):
        build_game(data, "mine.toml")


#: Words of the French texts that the English ones have too.
IN_BOTH = {"Banco", "Inverse", "Punto", "Tableau"}


@pytest.mark.requirement("C-18")
@pytest.mark.parametrize("name", [*list_non_table_games(), *list_table_games()])
def test_every_line_of_the_rules_is_translated_to_french(name):
    """The lines include those of the pay table, which the family writes into the text."""
    english, french = ({*load_game(name).help[code].splitlines()} for code in ("en", "fr"))
    words = {word for line in english & french for word in re.findall(r"[A-Za-z]{3,}", line)}
    assert words <= IN_BOTH
