"""A round at the wheel: no bet after "no more bets", and no result from a spin that does not count."""

import pytest

from paytables.wheel.table import BetRefused, Round, Spin, Stage, Verdict, spin_to


def opened(**stakes):
    round_ = Round(parts=54, revolutions=3, areas=frozenset({"otter", "star"}))
    for area, credits_ in stakes.items():
        round_ = round_.stake(area, credits_)
    return round_


def closed(**stakes):
    round_ = opened(**stakes)
    return round_.confirm(round_.stakes).close()


@pytest.mark.library_only("P-05")
def test_no_bet_is_made_changed_or_withdrawn_after_no_more_bets():
    round_ = closed(otter=5)
    for area, credits_ in (("star", 1), ("otter", 10), ("otter", 0)):
        with pytest.raises(BetRefused, match="the round is closed"):
            round_.stake(area, credits_)
    decided = round_.spin(spin_to(0, 7, 54, 3))
    with pytest.raises(BetRefused, match="the round is decided"):
        decided.stake("star", 1)
    assert decided.stakes == {"otter": 5}


@pytest.mark.library_only("P-06")
def test_the_player_checks_his_stakes_before_betting_closes():
    round_ = opened(otter=5, star=1)
    with pytest.raises(BetRefused, match="not confirmed"):
        round_.close()
    with pytest.raises(BetRefused, match="lie on the layout"):
        round_.confirm({"otter": 5})
    confirmed = round_.confirm({"star": 1, "otter": 5})
    changed = confirmed.stake("star", 0)
    assert changed.stakes == {"otter": 5}
    with pytest.raises(BetRefused, match="not confirmed"):
        changed.close()
    with pytest.raises(BetRefused, match="lie on the layout"):
        opened().confirm({})


def test_a_stake_lies_on_an_area_and_is_not_negative():
    with pytest.raises(BetRefused, match="no area 'bear'"):
        opened().stake("bear", 1)
    with pytest.raises(BetRefused, match="a stake of -1"):
        opened().stake("otter", -1)


@pytest.mark.library_only("B-15")
@pytest.mark.parametrize(
    ("spin", "verdict"),
    [
        (Spin(5, 3 * 54), Verdict.VALID),
        (Spin(5, 3 * 54 - 1), Verdict.TOO_SHORT),
        (Spin(5, 0), Verdict.TOO_SHORT),
        (Spin(5, 4 * 54, obstructed=True), Verdict.OBSTRUCTED),
    ],
)
def test_a_spin_counts_after_three_full_turns_with_nothing_in_the_way(spin, verdict):
    round_ = closed(otter=5).spin(spin)
    assert round_.spins == ((spin, verdict),)
    assert (round_.stage is Stage.DECIDED) is (verdict is Verdict.VALID)
    assert (round_.result is not None) is (verdict is Verdict.VALID)


@pytest.mark.library_only("B-15")
def test_after_a_spin_that_does_not_count_the_stakes_stand_and_it_is_spun_anew():
    round_ = closed(otter=5).spin(Spin(5, 100)).spin(Spin(51, 500, obstructed=True))
    assert round_.result is None
    assert round_.stakes == {"otter": 5}
    with pytest.raises(BetRefused, match="the round is closed"):
        round_.stake("otter", 0)
    round_ = round_.spin(Spin(11, 3 * 54 + 10))
    assert round_.result == 21
    with pytest.raises(BetRefused, match="a spin: the round is decided"):
        round_.spin(Spin(21, 400))


@pytest.mark.library_only("B-15")
@pytest.mark.parametrize("turns", [3, 5])
def test_the_spin_shown_is_valid_and_ends_at_the_part_that_was_drawn(turns):
    for start in range(54):
        for part in range(54):
            spin = spin_to(start, part, 54, turns)
            assert spin.part(54) == part
            assert spin.verdict(54, turns) is Verdict.VALID
            assert spin.travelled < (turns + 1) * 54


def test_an_open_round_takes_no_spin():
    with pytest.raises(BetRefused, match="a spin: the round is open"):
        opened(otter=5).spin(Spin(0, 400))
