"""Bets on a table are compared with the jurisdiction's win limit before they are accepted."""

import re
from pathlib import Path

import pytest

import egm.profiles
from egm.config.cabinet_file import GameTable
from egm.kernel.events import EventType, State
from egm.play.installed_games import admit_games
from egm.play.prize_limits import compute_largest_prizes, compute_largest_win_cents
from egm.profiles import load_profile
from egm.testing.machine import MachineRig
from paytables import load_game

GAME = "quebec-roulette-french"


@pytest.fixture
def limited_profile(tmp_path):
    """A profile under which no round may win more than a hundred dollars."""
    text = Path(egm.profiles.__file__).with_name("generic.toml").read_text()
    text = text.replace("[play]", "[play]\nwin_limit_cents = 10000")
    file = tmp_path / "place.toml"
    file.write_text(re.sub(r"prizes_in_kind = .*", 'prizes_in_kind = "refused"', text))
    return str(file)


@pytest.mark.requirement("F-11")
def test_bets_that_could_win_more_than_the_prize_limit_are_refused(tmp_path, limited_profile):
    rig = MachineRig(tmp_path / "m", games=(GAME,), profile=limited_profile).boot()
    rig.insert(2000)
    for bets, taken in (
        ({"straight-17": 2, "red": 5}, True),  # 72 dollars, or 10
        ({"straight-17": 2, "black": 14}, True),  # 72 and 28: a hundred, and no more
        ({"straight-17": 2, "black": 15}, False),
        ({"straight-17": 3}, False),
    ):
        before = rig.machine.selection
        rig.engine.handle(EventType.SELECT_BET, value=sum(bets.values()), options={"bets": bets})
        assert (rig.machine.selection.options == {"bets": bets}) is taken, bets
        if not taken:
            assert rig.machine.selection == before
    rig.engine.handle(EventType.PLAY)
    assert rig.state is State.PLAYING
    assert rig.journal.meters().get_value("coin_in") == 1600
    rig.close()


@pytest.mark.requirement("F-11")
def test_a_tables_maximum_win_counts_all_bets_placed_together(limited_profile):
    game = load_game(GAME)
    prizes = compute_largest_prizes(game)
    assert compute_largest_win_cents(game, 100, 1000, prizes) == 36 * 1000
    assert compute_largest_win_cents(game, 100, 1050, prizes) == 36 * 1000
    residents, refusals = admit_games((GameTable(game=GAME),), load_profile(limited_profile))
    assert residents[GAME].denominations_cents == (100, 500)
    assert not refusals
