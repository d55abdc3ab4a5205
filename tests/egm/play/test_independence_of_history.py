"""The draws and pays of a wager do not depend on what was played, won or paid before."""

import pytest

from egm.kernel.events import State
from egm.testing.machine import MachineRig, ScriptedStep, write_undeclared_entry
from meters import Transfer

CREDIT = "credit:1:cashable"
#: Each game with numbers that win and numbers that lose.
GAMES = {"maple-classic": (11, 12), "icebreak": (5, 4), "northern-ways": (10, 11), "river-wheel": (11, 12)}


class FixedStep(ScriptedStep):
    """A step in which the n-th number is always the same for the same bound."""

    def __init__(self, factor):
        super().__init__([])
        self._factor = factor

    def below(self, bound, purpose=""):
        self._values = [self._factor * (len(self.draws) + 1) % bound]
        return super().below(bound, purpose)


class FixedChance:
    """A random service whose steps all have the same numbers; it stores the steps."""

    def __init__(self, factor):
        self._factor = factor
        self.steps = []

    def step(self):
        self.steps.append(FixedStep(self._factor))
        return self.steps[-1]


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
    """Play games whose return is far from the expected one: the same win or loss repeatedly."""
    rig.machine.random_service = FixedChance(7)
    play_real_games(rig)


def pay_out(rig):
    play(rig)
    rig.cash_out_ticket()
    rig.insert(2000)


def pay_far_more_than_was_staked(rig):
    play(rig)
    won = (Transfer("house:win", CREDIT, 900_000), Transfer(CREDIT, "out:handpay_cancelled_credit", 900_000))
    write_undeclared_entry(rig.machine, "won", transfers=won)


def stake_far_more_than_was_paid(rig):
    play(rig)
    lost = (Transfer("world:bill", CREDIT, 900_000), Transfer(CREDIT, "house:wager", 900_000))
    write_undeclared_entry(rig.machine, "lost", transfers=lost)


HISTORIES = {
    "real": play_real_games,
    "the same again and again": play_fixed_games,
    "paid out": pay_out,
    "paid far more than was staked": pay_far_more_than_was_staked,
    "staked far more than was paid": stake_far_more_than_was_paid,
}


def play_after(folder, game, history):
    """Return the draws and pays of a won and a lost game with fixed numbers after this history."""
    rig = MachineRig(folder, games=(game,), devices=("printer",)).boot().insert(2000)
    history(rig)
    found = []
    for factor in GAMES[game]:
        rig.machine.random_service = generator = FixedChance(factor)
        before = rig.journal.meters().get_value("coin_out")
        play(rig)
        record = rig.records("game.start")[-1]
        paid_cents = rig.journal.meters().get_value("coin_out") - before
        recorded = [step["draws"] for step in record["steps"]]
        drawn = [[[draw.bound, draw.value] for draw in step.draws] for step in generator.steps]
        assert [[draw[:2] for draw in step] for step in recorded] == drawn, "no numbers are drawn again"
        found.append((recorded, record["outcome"], record["wager"], paid_cents))
    return found


@pytest.mark.requirement("B-11")
@pytest.mark.parametrize("game", GAMES)
def test_a_game_is_drawn_and_paid_alike_after_any_history(tmp_path, game):
    expected = play_after(tmp_path / "none", game, lambda rig: None)
    assert [(bool(drawn), paid_cents > 0) for drawn, *_, paid_cents in expected] == [
        (True, True),
        (True, False),
    ]
    for name, history in HISTORIES.items():
        assert play_after(tmp_path / name, game, history) == expected, name
