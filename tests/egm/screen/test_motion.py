"""Moving reels start from their last stop, end at the recorded stop, and follow their strip."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egm.screen.motion import ReelTravel, compute_roll_up_amount
from egm.screen.theme import load_theme

MOTION = load_theme().motion
strips = st.integers(1, 256)


@st.composite
def draw_reel_travel(draw):
    length = draw(strips)
    return ReelTravel(
        draw(st.integers(0, length - 1)), draw(st.integers(0, length - 1)), length, draw(st.floats(0.9, 8))
    )


@given(draw_reel_travel())
def test_a_reel_starts_at_its_last_position_and_ends_on_its_stop(travel):
    assert travel.find_position(0, MOTION) == travel.start_position
    ended = travel.stop_seconds + MOTION.reel_settle_seconds * 1.001
    assert travel.find_position(ended, MOTION) == travel.target_position
    assert travel.find_position(ended + 100, MOTION) == travel.target_position


@given(draw_reel_travel())
def test_a_reel_runs_in_one_direction_until_its_overshoot(travel):
    moments = [
        MOTION.reel_draw_back_seconds + (travel.stop_seconds - MOTION.reel_draw_back_seconds) * i / 50
        for i in range(50)
    ]
    places = [travel.find_position(moment, MOTION) for moment in moments]
    assert all(later < earlier for earlier, later in pairwise(places))


@given(draw_reel_travel())
def test_a_reel_arrives_without_a_jump(travel):
    before = travel.find_position(travel.stop_seconds - 1e-6, MOTION)
    after = travel.find_position(travel.stop_seconds, MOTION)
    assert (before - after) % travel.strip_length == pytest.approx(0, abs=0.01) or (
        after - before
    ) % travel.strip_length == pytest.approx(0, abs=0.01)


@given(draw_reel_travel())
def test_a_spin_covers_whole_turns_of_the_strip_and_the_way_to_the_stop(travel):
    assert (
        travel.start_position - travel.count_cells_to_travel(MOTION)
    ) % travel.strip_length == travel.target_position
    assert travel.count_cells_to_travel(MOTION) > 0


@pytest.mark.requirement("C-17")
@given(st.integers(0, 10**12), st.floats(0, 10), st.floats(0.1, 10))
def test_a_roll_up_never_shows_more_than_the_win_and_ends_on_it(amount, since, length):
    assert 0 <= compute_roll_up_amount(amount, since, length) <= amount
    assert compute_roll_up_amount(amount, length, length) == amount
