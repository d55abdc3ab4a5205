"""The help page "Your chances" at tables: distinguishable ways to bet, named prizes, no pushes."""

from fractions import Fraction

import pytest

from egm.play.award_chances import list_bet_chances
from egm.screen.picture import Picture
from egm.screen.scenes.odds import _describe_bet, _format_chance_lines
from paytables import AnalysisDepth, analyse, load_game
from paytables.odds import list_awards
from tools.dev.gallery.felts import load_table_game
from tools.lab.views import build_idle_view

TABLES = (
    "quebec-craps",
    "quebec-baccarat",
    "monaco-banque-a-tout-va",
    "quebec-roulette-french",
    "quebec-sic-bo",
    "quebec-red-dog",
    "quebec-pai-gow-poker",
    "quebec-caribbean-stud",
    "quebec-boston-poker",
    "monaco-trente-et-quarante",
    "deuces-wild-full-pay",
    "jacks-or-better-8-5-progressive",
)


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("name", TABLES)
def test_every_bet_option_has_its_own_name_and_no_prize_shows_a_text_key(theme, name, language):
    """Regression: the page said "won" and "royal-flush", and several bet options were called "Bet 1"."""
    _, game = load_table_game(name)
    context = Picture(theme)._build_context(build_idle_view((game,), game, language))
    assert game.chances
    ways = [_describe_bet(context, bet_chance) for bet_chance in game.chances]
    assert len(set(ways)) == len(ways)
    lines = [words for bet_chance in game.chances for words, _ in _format_chance_lines(context, bet_chance)]
    keys = {bet_chance.top for bet_chance in game.chances} - {context.texts.translate("felt.as_won")}
    assert not [words for words in lines for key in keys if f": {key}" in words]


def test_a_returned_stake_is_not_listed_as_a_prize():
    """Regression: Baccarat's Player was said to win 54.1 % of the games; 9.5 % are ties."""
    bets = analyse(load_game("quebec-baccarat"), AnalysisDepth.PRIZES).bets
    bet_chance = list_bet_chances(bets)[0]
    won = next(award.rate for award in list_awards(bets[0]) if award.name == "won")
    assert bet_chance.spots == ("player",)
    assert bet_chance.hit_percent == "44.6"
    assert abs(Fraction(bet_chance.hit_percent) - won * 100) <= Fraction(1, 20)
    assert bet_chance.prizes_in_100 == bet_chance.hit_percent


def test_the_odds_of_a_bet_are_listed_once_for_all_stakes_and_strategies():
    """Regression: bets of 20 and 21 on the bank, and a hand set by the best strategy, were listed separately."""
    for name, spots in (
        ("quebec-baccarat", ["player", "bank", "tie"]),
        ("quebec-pai-gow-poker", ["stake", "bank", "under", "exactly", "over"]),
    ):
        listed_spots = [
            bet_chance.spots
            for bet_chance in list_bet_chances(analyse(load_game(name), AnalysisDepth.PRIZES).bets)
        ]
        assert listed_spots[: len(spots)] == [(spot,) for spot in spots]


def test_odds_behind_the_pass_line_are_listed_for_each_point():
    bet_chances = list_bet_chances(analyse(load_game("quebec-craps"), AnalysisDepth.PRIZES).bets)
    assert [bet_chance.bet for bet_chance in bet_chances if bet_chance.spots == ("odds-pass",)] == [
        "odds-pass 2:1",
        "odds-pass 3:2",
        "odds-pass 6:5",
    ]
