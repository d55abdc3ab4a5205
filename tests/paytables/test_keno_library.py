"""The shipped Keno games: their returns, and help that states the rules by which they are played."""

import math
import random
import re
from fractions import Fraction
from itertools import combinations
from math import comb

import pytest

from paytables import AnalysisDepth, analyse, load_game, play_through

GAMES = ["aurora-keno", "archipelago-keno"]
SPACES = re.compile(r"\s+")


def flatten_spaces(text):
    return SPACES.sub(" ", text)


class Chance:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def below(self, bound, purpose):
        return self.random.randrange(bound)


def plain_return(definition, table, bought):
    """Return the exact return of one selection from the hypergeometric distribution and the definition's numbers."""
    numbers, drawn = definition.field.number_count, definition.field.drawn_count
    total = Fraction(0)
    for catch, pay in table.pay_by_catch.items():
        p = Fraction(
            comb(table.spot_count, catch) * comb(numbers - table.spot_count, drawn - catch),
            comb(numbers, drawn),
        )
        factor = Fraction(1)
        for bonus in definition.bonuses:
            if bonus.kind == "ball":
                factor *= 1 + (bonus.factor - 1) * Fraction(catch, drawn)
            elif bonus.id in bought:
                weight = sum(bonus.weight_by_factor.values())
                factor *= Fraction(sum(f * w for f, w in bonus.weight_by_factor.items()), weight)
        total += p * pay * factor
    return total / (1 + sum(b.fee_per_credit for b in definition.bonuses if b.id in bought))


@pytest.mark.requirement("C-06", "M-10")
@pytest.mark.parametrize("name", GAMES)
def test_every_bet_has_its_exact_return_well_above_the_minimum(name):
    game = load_game(name)
    definition = game.rules.definition
    bets = {bet.bet: bet for bet in analyse(game).bets}
    sold = [b.id for b in definition.bonuses if b.fee_per_credit]
    for n in range(len(sold) + 1):
        for bought in combinations(sold, n):
            for table in definition.pay_tables:
                bet = bets[" + ".join([f"{table.spot_count} spots at 1", *bought])]
                assert bet.rtp == plain_return(definition, table, bought)
    for bet in bets.values():
        assert Fraction(85, 100) < bet.rtp < Fraction(95, 100)
        assert bet.rtp_with_progressives < 1
    quick = analyse(game, AnalysisDepth.RETURN)
    assert quick.minimum_rtp == min(bet.rtp for bet in bets.values())


@pytest.mark.parametrize("name", GAMES)
def test_every_preset_ticket_wins_more_often_than_one_in_seven(name):
    for bet in analyse(load_game(name)).bets:
        if bet.hit_probability is not None:
            assert bet.hit_probability > Fraction(1, 7)
            assert bet.max_win_probability > 0


@pytest.mark.parametrize(("name", "form", "games"), [("aurora-keno", "six-lights", 6000)])
def test_a_simulation_agrees_with_the_exact_figures(name, form, games):
    game = load_game(name)
    bet = next(b for b in analyse(game).bets if b.bet == f"{form} at 1")
    wager = game.build_wager(bet.cost_credits, form=form)
    chance = Chance(7)
    wins = [play_through(game, wager, chance).returned_credits for _ in range(games)]
    hits = sum(win > 0 for win in wins)
    p = float(bet.hit_probability)
    assert abs(hits - games * p) < 4 * math.sqrt(games * p * (1 - p))
    mean, sigma = float(bet.mean_credits), math.sqrt(bet.variance)
    assert abs(sum(wins) / games - mean) < 4 * sigma / math.sqrt(games)
    assert {win for win in wins if win} <= set(bet.distribution.case_count_by_win)


def test_twenty_cards_share_one_draw():
    game = load_game("archipelago-keno")
    outcome = play_through(game, game.build_wager(20, form="twenty-cards"), Chance(3))
    (draw,) = outcome.display["draws"]
    assert len(draw["ways"]) == 20
    for way in draw["ways"]:
        assert set(way["hits"]) == set(way["numbers"]) & set(draw["balls"])
        assert way["factor"] == (2 if draw["balls"][-1] in way["numbers"] else 1)


def test_a_level_is_won_by_its_catch_at_the_odds_of_the_hypergeometric_law():
    bets = {bet.bet: bet for bet in analyse(load_game("archipelago-keno")).bets}
    eight = Fraction(comb(72, 12), comb(80, 20))
    (share,) = bets["8 spots at 1"].progressives
    assert (share.level, share.rate, share.rtp_at_reset) == ("lighthouse", eight, 20_000 * eight)
    (ten,) = bets["ten-cards at 1"].progressives
    assert ten.rate == 1 - (1 - eight) ** 10
    assert ten.compute_rtp_at(20_000, 10) < share.rtp_at_reset


@pytest.mark.requirement("C-01", "C-12", "M-01")
def test_the_help_of_aurora_states_the_numbers_of_the_game():
    game = load_game("aurora-keno")
    definition = game.rules.definition
    (lights,) = definition.bonuses
    factors, weights = zip(*sorted(lights.weight_by_factor.items()), strict=True)
    none = [str(t.spot_count) for t in definition.pay_tables if t.pay_by_catch.get(0)]
    assert (lights.fee_per_credit, sum(weights)) == (1, 20)
    en, fr = flatten_spaces(game.help["en"]), flatten_spaces(game.help["fr"])
    assert "A factor of {}, {}, {} or {} is".format(*factors) in en
    assert "with {}, {}, {} and {} chances in 20".format(*weights) in en
    assert "Un multiplicateur de {}, {}, {} ou {} est".format(*factors) in fr
    assert "avec {}, {}, {} et {} chances sur 20".format(*weights) in fr
    assert f"With {' or '.join(none)} numbers, catching none wins too" in en
    assert f"Avec {' ou '.join(none)} numéros, n'en avoir aucun gagne aussi" in fr
    marks = definition.ticket_limits
    assert f"up to {marks.selections_max} selections" in en
    assert f"jusqu'à {marks.selections_max} sélections" in fr
    assert "stake of 1, 2, 5 or 10 credits" in en
    assert marks.stake_options == (1, 2, 5, 10)
    assert f"1 to {marks.draws_max} draws" in en
    assert f"1 à {marks.draws_max} tirages" in fr
    assert f"at most {marks.cost_max_credits} credits a draw" in en
    assert f"au plus {marks.cost_max_credits} crédits par tirage" in fr
    assert f"{definition.prize_limit.credits:,}".replace(",", " ") in en
    assert f"{definition.prize_limit.credits:,}".replace(",", " ") in fr
    spots = [t.spot_count for t in definition.pay_tables]
    assert f"Mark {min(spots)} to {max(spots)} numbers" in en
    assert f"Cochez de {min(spots)} à {max(spots)} numéros" in fr


@pytest.mark.requirement("C-01", "C-12", "M-01")
def test_the_help_of_archipelago_states_the_numbers_of_the_game():
    game = load_game("archipelago-keno")
    definition = game.rules.definition
    en, fr = flatten_spaces(game.help["en"]), flatten_spaces(game.help["fr"])
    marks, (beacon,) = definition.ticket_limits, definition.bonuses
    assert (beacon.ball_number, beacon.factor, beacon.fee_per_credit) == (20, 2, 0)
    assert f"Play 1 to {marks.selections_max} cards" in en
    assert f"Jouez de 1 à {marks.selections_max} cartes" in fr
    assert f"up to {marks.groups_max} groups" in en
    assert f"en {marks.groups_max} groupes au plus" in fr
    assert f"at most {marks.cost_max_credits} credits a draw" in en
    assert f"au plus {marks.cost_max_credits} crédits par tirage" in fr
    assert f"1 to {marks.draws_max} draws" in en
    assert "stakes 1, 2 or 5 credits" in en
    assert marks.stake_options == (1, 2, 5)
    spots = [t.spot_count for t in definition.pay_tables]
    assert f"{min(spots)} to {max(spots)} of the numbers" in en
    none = [t.spot_count for t in definition.pay_tables if t.pay_by_catch.get(0)]
    assert none == [8]
    assert "With 8 numbers, catching none of them wins too" in en
    lighthouse, buoy = definition.progressive_levels
    assert [(p.spot_count, p.catch_count, p.stake_min_credits) for p in definition.progressive_levels] == [
        (8, 8, 1),
        (7, 7, 1),
    ]
    assert (lighthouse.increment, buoy.increment) == ("1/100", "1/200")
    for words in (en, fr):
        for credits_ in (definition.prize_limit.credits, lighthouse.reset_credits, buoy.reset_credits):
            assert f"{credits_:,}".replace(",", " ") in words
