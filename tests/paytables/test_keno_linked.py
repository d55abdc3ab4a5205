"""Shared Keno levels: only one ticket of one price plays for them, with one chance."""

import itertools
from fractions import Fraction
from math import comb

import keno_brute as brute
import pytest

from paytables import DefinitionError, ReplayDrawSource, analyse, build_game, load_game, play_through

TEXT = {"en": "text", "fr": "texte"}
LEVEL = {
    "id": "shared",
    "name": TEXT,
    "spots": 3,
    "catch": 3,
    "stake": 2,
    "reset_credits": 40,
    "increment": "1/9",
    "linked": True,
}
FEE = {"kind": "multiplier", "id": "boost", "name": TEXT, "weights": {"1": 3, "4": 1}, "fee": 1}


def data(**changes):
    return brute.definition(progressive=[{**LEVEL, **changes}], bonus=[FEE])


def card(spots, stake, first=1):
    return {"groups": [[*range(first, first + spots)]], "stakes": {str(spots): stake}}


ALONE = {"selections": [card(3, 2)]}
OTHERS = (
    {"selections": [card(3, 1)]},
    {"selections": [card(3, 5)]},
    {"selections": [card(4, 2)]},
    {"selections": [card(3, 2), card(3, 2, first=4)]},
    {"selections": [card(3, 2), card(1, 1)]},
    {"selections": [card(3, 2)], "draws": 2},
    {"selections": [card(3, 2)], "bonuses": ["boost"]},
    {"selections": [{"groups": [[1], [2], [3], [4]], "stakes": {"3": 2}}]},
    {"selections": [{"groups": [[1, 2], [3]], "stakes": {"3": 2, "2": 1}}]},
)


@pytest.mark.requirement("I-03")
def test_only_a_ticket_of_one_card_at_the_right_stake_plays_for_the_level():
    game = build_game(data(), "test.toml")
    (play,) = game.list_levels(game.build_wager(2, **ALONE))
    assert (play.level, play.stake_credits, play.has_single_stake) == ("shared", 2, True)
    assert play.hit_rate == Fraction(1, comb(9, 3))
    assert game.list_every_level() == (play,)
    quick = game.build_wager(2, selections=[{"groups": [3], "stakes": {"3": 2}}])
    assert game.list_levels(quick) == (play,)
    for ticket_options in OTHERS:
        wager = game.build_wager(game.rules.build_ticket(ticket_options).cost_credits, **ticket_options)
        assert game.list_levels(wager) == (), ticket_options
    unlinked_game = build_game(data(linked=False), "test.toml")
    assert unlinked_game.list_every_level()[0].has_single_stake is False
    assert len(unlinked_game.list_levels(unlinked_game.build_wager(5, **OTHERS[1]))) == 1


@pytest.mark.requirement("I-03", "B-08")
def test_only_a_ticket_that_plays_for_the_level_wins_it_at_its_odds():
    game = build_game(data(), "test.toml")
    draws = list(itertools.product(range(9), range(8), range(7)))
    for ticket_options in (ALONE, *(selections for selections in OTHERS if len(selections) == 1)):
        wager = game.build_wager(game.rules.build_ticket(ticket_options).cost_credits, **ticket_options)
        hits = 0
        for places in draws:
            recorded = [(9 - i, drawn_index, f"ball {i + 1}") for i, drawn_index in enumerate(places)]
            hits += len(play_through(game, wager, ReplayDrawSource(recorded)).progressives)
        assert Fraction(hits, len(draws)) == (Fraction(1, 84) if ticket_options is ALONE else 0), (
            ticket_options
        )


@pytest.mark.requirement("C-09", "R-09")
def test_the_levels_share_is_stated_only_for_bets_that_play_for_it():
    analysis = analyse(build_game(data(), "test.toml"))
    sharing = {bet.bet: bet.progressives[0] for bet in analysis.bets if bet.progressives}
    assert list(sharing) == ["3 spots at 2", "one at 2"]
    share = sharing["3 spots at 2"]
    assert (share.rate, share.rtp_at_reset, share.increment) == (
        Fraction(1, 84), Fraction(40, 84 * 2), Fraction(1, 9),
    )  # fmt: skip
    assert {"3 spots at 1", "3 spots at 5"} <= {bet.bet for bet in analysis.bets}
    unlinked_analysis = analyse(build_game(data(linked=False), "test.toml"))
    assert {"3 spots at 2", "3 spots at 2 + boost"} <= {
        bet.bet for bet in unlinked_analysis.bets if bet.progressives
    }


def test_a_stake_that_is_not_on_offer_is_refused():
    with pytest.raises(DefinitionError, match="which do not contain 3") as raised:
        build_game(data(stake=3), "test.toml")
    assert raised.value.key == "progressive.0.stake"


@pytest.mark.requirement("I-03")
def test_the_library_s_shared_keno_level_is_ten_of_ten():
    game = load_game("summit-keno")
    (play,) = game.list_every_level()
    assert (play.stake_credits, play.reset_credits, play.increment) == (5, 250_000, Fraction(1, 50))
    assert play.hit_rate == Fraction(comb(70, 10), comb(80, 20))
    assert game.list_levels(game.build_wager(5)) == (play,)
    assert [n for n in game.bet_options if game.list_levels(game.build_wager(n))] == [5]
