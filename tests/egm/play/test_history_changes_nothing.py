"""What a machine draws and pays for a wager does not depend on what was played, won or paid out before."""

import pytest

from egm.kernel.events import State
from egm.testing.machine import MachineRig, ScriptedStep

GAMES = ("maple-classic", "icebreak", "northern-ways", "river-wheel")


class FixedStep(ScriptedStep):
    """A step in which the n-th number is the same in each step, for the same bound."""

    def __init__(self, factor):
        super().__init__([])
        self._factor = factor

    def below(self, bound, purpose=""):
        self._values = [self._factor * (len(self.draws) + 1) % bound]
        return super().below(bound, purpose)


class FixedChance:
    def __init__(self, factor):
        self._factor = factor

    def step(self):
        return FixedStep(self._factor)


def play(rig):
    rig.play()
    for _ in range(40):
        if rig.state is State.IDLE:
            return
        rig.report_shown()
    pytest.fail(f"the game does not end: {rig.state}")


def play_real_games(rig):
    for _ in range(12):
        play(rig)


def play_fixed_games(rig):
    """Outcomes far from the return: the same win, or loss, again and again."""
    rig.machine.chance = FixedChance(7)
    play_real_games(rig)


def pay_out(rig):
    play(rig)
    rig.cash_out_ticket()
    rig.insert(2000)


HISTORIES = {"real": play_real_games, "the same again and again": play_fixed_games, "paid out": pay_out}


def play_after(folder, game, history):
    """What the machine drew and paid in a game with fixed numbers, after this history."""
    rig = MachineRig(folder, games=(game,), devices=("printer",)).boot().insert(2000)
    history(rig)
    rig.machine.chance = FixedChance(11)
    play(rig)
    record = rig.records("game.start")[-1]
    return [step["draws"] for step in record["steps"]], record["outcome"], record["wager"]


@pytest.mark.requirement("B-11")
@pytest.mark.parametrize("game", GAMES)
def test_a_game_is_drawn_and_paid_alike_after_any_history(tmp_path, game):
    expected = play_after(tmp_path / "none", game, lambda rig: None)
    assert expected[0]
    for name, history in HISTORIES.items():
        assert play_after(tmp_path / name, game, history) == expected, name
