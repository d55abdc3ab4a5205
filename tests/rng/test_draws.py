"""Draws recorded and replayed."""

import random

import pytest

from rng import Draw, InvalidRange, RecordedDraws, ReplayMismatch
from rng.draws import Draws, WordDraws


def game(draws: Draws) -> tuple[object, ...]:
    return (
        [draws.below(22, f"reel {i}") for i in range(3)],
        draws.sample(80, 20, "keno"),
        draws.shuffle("deck", "cards"),
    )


@pytest.mark.requirement("B-11")
def test_a_game_replayed_from_its_recorded_draws_comes_out_the_same() -> None:
    drawn = WordDraws(random.Random(1).randbytes)
    outcome = game(drawn)
    with RecordedDraws(drawn.draws) as recorded:
        assert game(recorded) == outcome


def test_draws_carry_their_purpose_and_nothing_of_the_generator() -> None:
    drawn = WordDraws(random.Random(1).randbytes)
    value = drawn.below(22, "reel 1")
    assert drawn.draws == (Draw(22, value, "reel 1"),)


@pytest.mark.parametrize(
    ("bound", "purpose", "match"),
    [(23, "reel", "draw 0 below 23"), (22, "wheel", "for 'wheel' was asked; recorded is")],
)
def test_another_question_than_the_recorded_one_is_refused(bound: int, purpose: str, match: str) -> None:
    with pytest.raises(ReplayMismatch, match=match):
        RecordedDraws([Draw(22, 5, "reel")]).below(bound, purpose)


def test_more_draws_than_recorded_and_draws_left_over_are_refused() -> None:
    recorded = RecordedDraws([Draw(22, 5, "reel"), Draw(22, 6, "reel")])
    assert recorded.below(22, "reel") == 5
    with pytest.raises(ReplayMismatch, match="1 recorded draws were not asked for, from draw 1"):
        recorded.finish()
    recorded.below(22, "reel")
    recorded.finish()
    with pytest.raises(ReplayMismatch, match="none is recorded"):
        recorded.below(22, "reel")


def test_a_replay_that_broke_off_tells_its_own_error() -> None:
    with pytest.raises(ZeroDivisionError), RecordedDraws([Draw(22, 5, "reel")]):
        raise ZeroDivisionError


@pytest.mark.parametrize("draw", [Draw(22, 22, ""), Draw(22, -1, ""), Draw(22, 1.0, "")])  # type: ignore[arg-type]
def test_what_was_never_drawn_is_refused(draw: Draw) -> None:
    with pytest.raises(ReplayMismatch, match="recorded draw 0 is no draw"):
        RecordedDraws([draw])


def test_a_recorded_range_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidRange):
        RecordedDraws([Draw(0, 0, "")])
