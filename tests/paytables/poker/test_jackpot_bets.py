"""Side bets on a level: Caribbean Stud's against the text of s. 67.21, its figures, and refusals."""

import tomllib
from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest

import paytables
from paytables import (
    AnalysisDepth,
    Choice,
    DefinitionError,
    Outcome,
    PartialLevelHit,
    Round,
    analyse,
    build_game,
    load_game,
)
from paytables.contract.prizes import parse_level_hit
from tests.paytables.poker import hands_brute as brute

NAME = "quebec-caribbean-stud"
TEXT = (paytables.definition.LIBRARY_FOLDER / "tables" / f"{NAME}.toml").read_text()
PAID = {"quads": 500, "full": 100, "flush": 50}
WON = {"royal": ("jackpot",), "sf": (PartialLevelHit("jackpot", Fraction(1, 10)),)}


@pytest.fixture(scope="module")
def game():
    return load_game(NAME)


@pytest.fixture(scope="module")
def quick():
    return unadvised()


def unadvised(**changes):
    """The game without advice, which takes longer to compute than everything else."""
    data = tomllib.loads(TEXT)
    del data["proved"]["main"]["policy"]
    return build_game({**data, **changes}, "test.toml")


def side(game):
    return next(bet for bet in analyse(game, AnalysisDepth.PRIZES).bets if bet.bet == "progressive")


def play_rounds(game, wager, draw, rounds):
    """Play random rounds; check what the side bet pays and what it wins of the level against the text."""
    found = Counter()
    for n in range(rounds):
        round_ = Round(game.play(wager, draw), wager)
        round_.advance()
        while round_.decision is not None:
            round_.advance(Choice(round_.decision.options[n % 2]))
        cards = next(hand["cards"] for hand in round_.outcome.display["hands"] if hand["id"] == "player")
        category = brute.FIVE[brute.judge(cards)[0]]
        (settled,) = [settlement for settlement in round_.settlements if settlement.spot == "progressive"]
        assert (settled.credits, settled.staked_credits) == (PAID.get(category, 0), 1), cards
        assert round_.outcome.progressives == WON.get(category, ()), cards
        found[category] += 1
    return found


@pytest.mark.requirement("S-22", "I-18")
def test_the_side_bet_is_settled_as_the_text_says(quick, seeded_draw):
    wager = quick.build_wager(2, bets={"ante": 1, "progressive": 1})
    assert play_rounds(quick, wager, seeded_draw("side bet"), 2_000)["flush"]


@pytest.mark.slow
def test_the_side_bet_is_settled_as_the_text_says_a_hundred_thousand_times(quick, seeded_draw):
    wager = quick.build_wager(2, bets={"ante": 1, "progressive": 1})
    assert play_rounds(quick, wager, seeded_draw("side bets"), 100_000)["quads"]


@pytest.mark.slow
def test_every_hand_of_five_cards_is_counted_once(game):
    hands = Counter(brute.FIVE[brute.judge(cards)[0]] for cards in combinations(brute.DECK, 5))
    assert [hands[name] for name in ("royal", "sf", "quads", "full", "flush")] == [4, 36, 624, 3744, 5108]


def test_the_return_of_the_side_bet_depends_on_the_jackpot(game):
    """games.md, section 6: 36.2376 % + jackpot x (1.539e-6 + 0.1 x 1.3852e-5); break-even at $218,047."""
    bet = side(game)
    (level,) = bet.progressives
    assert bet.rtp == Fraction(624 * 500 + 3744 * 100 + 5108 * 50, 2598960)
    assert (level.rate, level.partial_hit_rates) == (
        Fraction(4, 2598960),
        {Fraction(1, 10): Fraction(36, 2598960)},
    )
    assert level.break_even_credits == Fraction(4142900, 19)
    assert int(level.break_even_credits) == 218_047
    for jackpot in (0, 10_000, 218_047, Fraction(4142900, 19)):
        assert level.compute_rtp_at(jackpot, 1) == jackpot * Fraction(4 * 10 + 36, 10 * 2598960)
    assert bet.rtp + level.compute_rtp_at(level.break_even_credits, 1) == 1
    assert bet.compute_rtp_including_levels("reset") == bet.rtp + level.compute_rtp_at(10_000, 1)
    # in the long run all that is fed is paid, and the house puts up each reset
    assert bet.rtp_with_progressives == bet.rtp + Fraction(1, 2) + Fraction(10_000 * 4, 2598960)
    assert bet.required_bets == {"ante": 1}


def test_the_figures_of_a_wager_state_the_part_of_the_progressive_side_bet(game):
    alone, both = (
        side(game),
        game.rules.analyse_wager(game.build_wager(4, bets={"ante": 3, "progressive": 1})),
    )
    main = next(bet for bet in analyse(game, AnalysisDepth.PRIZES).bets if bet.bet == "main")
    assert both.rtp == (3 * main.rtp + alone.rtp) / 4
    assert both.progressives[0].compute_rtp_at(10_000, 4) * 4 == alone.progressives[0].compute_rtp_at(
        10_000, 1
    )
    assert both.compute_rtp_including_levels(
        "reset"
    ) * 4 == 3 * main.rtp + alone.compute_rtp_including_levels("reset")
    assert both.rtp_with_progressives * 4 == 3 * main.rtp + alone.rtp_with_progressives


def test_a_wager_plays_for_a_level_only_with_its_side_bet(game):
    (play,) = game.list_levels(game.build_wager(2, bets={"ante": 1, "progressive": 1}))
    assert (play.spots, play.stake_credits, play.qualifying_credits) == (("progressive",), 1, 1)
    assert (play,) == game.list_every_level()
    assert game.list_levels(game.build_wager(5, bets={"ante": 5})) == ()


def test_a_hit_goes_to_json_and_back():
    outcome = Outcome(progressives=("jackpot", PartialLevelHit("jackpot", Fraction(1, 10))))
    data = outcome.to_json()
    assert data["progressives"] == ["jackpot", {"level": "jackpot", "share": "1/10"}]
    assert Outcome.from_json(data) == outcome
    for wrong in ({"level": "jackpot", "share": "1"}, {"level": "jackpot", "share": "0"}):
        with pytest.raises(ValueError, match="is not between 0 and 1"):
            parse_level_hit(wrong)


SPOT = 'limits = { least = 1, most = 1, worth_cents = 100 }\nneeds = "ante"'


@pytest.mark.parametrize(
    ("old", "new", "key", "reason"),
    [
        (SPOT, 'limits = { least = 1, most = 2 }\nneeds = "ante"', "progressive.0.spot", "are of one stake"),
        (
            SPOT,
            SPOT.replace("100", "30"),
            "spot.2.limits.worth_cents",
            "is worth 30 minor units at any of",
        ),
        ('needs = "ante"', 'needs = "pair"', "spot.2.needs", "there is no spot 'pair'"),
        ('pays = "100%"', 'pays = "50%"', "progressive.0.spot", 'must pay "100%" of the level'),
        ('pays = "100%"', 'pays = "101%"', "spot.2.pay.0.pays", "is not valid odds"),
        ('pays = "20:1"', 'pays = "20%"', "spot", "only a bet on the player's cards alone"),
        ('spot = "progressive"\n', 'spot = "side"\n', "progressive.0.spot", "'side': there is no such spot"),
        (
            "reset_credits = 10000",
            "reset_credits = 9",
            "reset_credits",
            "a row would pay less than one credit of it",
        ),
        ('increment = "1/2"', 'increment = "2/2"', "progressive.0.increment", "below 1"),
    ],
)
def test_a_side_bet_that_cannot_be_played_for_is_refused(old, new, key, reason):
    assert old in TEXT
    with pytest.raises(DefinitionError, match=reason) as raised:
        build_game(tomllib.loads(TEXT.replace(old, new, 1)), "test.toml")
    assert key in str(raised.value)


def test_a_share_without_a_level_and_a_level_listed_twice_are_refused():
    data = tomllib.loads(TEXT)
    twice = [*data["progressive"], {**data["progressive"][0], "spot": "ante"}]
    for levels, reason in (((), "no level has this spot"), (twice, "is listed twice")):
        with pytest.raises(DefinitionError, match=reason):
            build_game({**data, "progressive": list(levels)}, "test.toml")


def test_a_pay_as_a_share_of_a_level_is_refused_in_other_families():
    text = (paytables.definition.LIBRARY_FOLDER / "tables" / "quebec-war.toml").read_text()
    with pytest.raises(DefinitionError, match="is not valid odds"):
        build_game(tomllib.loads(text.replace('"10:1"', '"10%"', 1)), "test.toml")


class Given:
    """Draws that deal given cards of what is left of the deck."""

    def __init__(self, cards):
        self.cards, self.left = [brute.DECK.index(card) for card in cards.split()], list(range(52))

    def below(self, bound, purpose):
        del bound, purpose
        drawn_index = self.left.index(self.cards.pop(0))
        del self.left[drawn_index]
        return drawn_index


def test_several_seats_win_one_level_in_seat_order():
    game = unadvised(table={"seats": 3})
    bets = {"ante": 1, "progressive": 1}
    wager = game.build_wager(6, seats={"0": bets, "1": bets, "2": bets})
    (play,) = game.list_levels(wager)
    assert (play.stake_credits, play.qualifying_credits) == (1, 3)
    hands = "9h 8h 7h 6h 5h As Ks Qs Js Ts 9d 8d 7d 6d 5d Kc"
    round_ = Round(game.play(wager, Given(hands)), wager)
    round_.advance()
    while round_.decision is not None:
        round_.advance(Choice("fold"))
    tenth = PartialLevelHit("jackpot", Fraction(1, 10))
    assert round_.outcome.progressives == (tenth, "jackpot", tenth)
