"""The secret amount of a shared mystery prize: its distribution, its bounds, and its commitment."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest

from egm.progressive.level import Level, LevelTerms
from egm.progressive.trigger import MysteryTrigger, TriggerError
from paytables import compute_mystery_rate

STAKE = 7
TERMS = LevelTerms(base_cents=100, increment=Fraction(1, 3), ceiling_cents=110, is_mystery=True)
SALT = 1 << 256


class Fixed:
    """A random service that returns one number and stores the requests."""

    def __init__(self, value):
        self.value = value
        self.draws = []

    def below(self, bound, purpose):
        self.draws.append((bound, purpose))
        return self.value if bound != SALT else 5


def draw_trigger(value, start=Fraction(100), terms=TERMS):
    return MysteryTrigger.draw("M", 1, start, terms, STAKE, Fixed(value))


def winner(trigger, level):
    """Return which wager wins, counted from 1."""
    wager = 0
    while True:
        wager += 1
        level = level.add_contribution(STAKE)
        if level.current_amount >= trigger.trigger_amount:
            return wager


@pytest.mark.requirement("I-03")
@pytest.mark.parametrize("start", [Fraction(100), Fraction(301, 3), Fraction(109)])
def test_every_wager_has_the_same_chance_of_a_mystery_prize(start):
    """Over all possible secrets, each wager except the last wins for the same number of them."""
    level = replace(Level.open(TERMS), current_amount=start, seeded_cents=0, contributed_amount=start)
    points = draw_trigger(0, start).point_count
    wins = Counter(winner(draw_trigger(value, start), level) for value in range(points))
    step = STAKE * TERMS.increment
    share = points * step / (110 - start)
    last = max(wins)
    assert all(wins[n] == share for n in range(1, last))
    assert 0 < wins[last] <= share
    assert sum(wins.values()) == points
    mean = Fraction(sum(n * count for n, count in wins.items()), points)
    assert 1 / mean == compute_mystery_rate((110 - start) / step)


def test_the_distribution_is_that_of_the_machines_own_mystery():
    level = Level.open(TERMS)
    points = draw_trigger(0).point_count
    points_left = points
    for wager in range(1, 6):
        favourable, bound = level.compute_mystery_hit_chance(STAKE)
        now = sum(1 for value in range(points) if winner(draw_trigger(value), Level.open(TERMS)) == wager)
        assert Fraction(now, points_left) == Fraction(favourable, bound)
        points_left -= now
        level = level.add_contribution(STAKE)
    assert points_left == 0


def test_a_mystery_prize_is_won_by_its_ceiling_and_only_by_a_wager():
    assert draw_trigger(draw_trigger(0).point_count - 1).trigger_amount == 110
    assert 100 < draw_trigger(0).trigger_amount <= 100 + STAKE * TERMS.increment
    for start in (Fraction(110), Fraction(1000)):  # an overflow may start it at its ceiling
        full = draw_trigger(0, start)
        assert (full.point_count, full.trigger_amount) == (1, start)
    with pytest.raises(TriggerError, match="no mystery"):
        draw_trigger(0, terms=replace(TERMS, is_mystery=False))


@pytest.mark.requirement("I-15")
def test_a_commitment_binds_one_secret_and_its_context():
    trigger = draw_trigger(3)
    assert MysteryTrigger.from_json(trigger.to_json()) == trigger
    others = (
        {"level_id": "N"},
        {"prize_number": 2},
        {"start_amount": Fraction(101)},
        {"step_amount": Fraction(5)},
        {"ceiling_cents": 111},
        {"drawn_point": 2},
        {"salt": "0" * 63 + "6"},
    )
    commitments = {replace(trigger, **other).commitment for other in others}
    assert len(commitments | {trigger.commitment}) == 1 + len(others)


@pytest.mark.parametrize(
    "change",
    [{"drawn": "30"}, {"drawn": -1}, {"salt": "5"}, {"step": "0"}, {"step": 0.5}, {"level": None, "x": 1}],
)
def test_an_invalid_secret_is_refused(change):
    with pytest.raises(
        TriggerError, match=r"the secret of a mystery prize (cannot be read|is not in the form)"
    ):
        MysteryTrigger.from_json({**draw_trigger(3).to_json(), **change})
    with pytest.raises(
        TriggerError, match=r"the secret of a mystery prize (cannot be read|is not in the form)"
    ):
        MysteryTrigger.from_json({})
