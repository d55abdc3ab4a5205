"""``egm returns`` finds the return of honest play explained by chance, and that of a manipulated machine not."""

import json

import pytest
from click.testing import CliRunner

from egm.kernel.events import EventType, State
from egm.play.records.games import GameInProgress
from egm.play.rulings import void_game
from egm.testing.machine import DEFAULT_GAME_ID, MachineRig, ScriptedGenerator
from tools.audit.returns import GameReturn, GameVersion
from tools.cli import main

#: Where the reels of the classic stop on three maple leaves, 60 credits.
MAPLES = (23, 7, 5)


def query_returns(folder):
    """Return the exit status and the lines of ``egm returns``."""
    result = CliRunner().invoke(main, ["returns", "--state", str(folder), "--json"])
    assert result.exit_code in {0, 1}, result.output
    return result.exit_code, json.loads(result.output)


def play(rig, games):
    """Play ``count`` games with any decisions; insert a bill whenever the credit is used up."""
    for _ in range(games):
        if rig.credit_cents < rig.machine.selection.bet_cents:
            rig.insert(2000)
        rig.play()
        while (
            rig.machine.component(GameInProgress).stepped_game is not None
            and rig.machine.component(GameInProgress).stepped_game.decision is not None
        ):
            rig.engine.handle(
                EventType.CHOOSE,
                value=rig.machine.component(GameInProgress).stepped_game.decision.options[-1],
            )
        rig.report_shown()
        if rig.state is State.HANDPAY:
            rig.engine.handle(EventType.KEY_TURNED, key="attendant")


@pytest.mark.requirement("Q-22")
def test_returns_within_chance_are_explained_for_each_game_and_denomination(tmp_path):
    games = (DEFAULT_GAME_ID, "aurora-keno", "river-wheel", "hold-fast")
    rig = MachineRig(tmp_path, games=games).boot()
    for game in games:
        rig.engine.handle(EventType.SELECT_GAME, value=game)
        for cents in rig.machine.denominations_cents[game][:2]:
            rig.engine.handle(EventType.SELECT_DENOMINATION, value=cents)
            play(rig, 20)
            bet = rig.machine.games[game].bet_options[1]
            rig.engine.handle(EventType.SELECT_BET, value=bet)
            play(rig, 5)
    values = rig.journal.meters().values
    rig.close()
    code, lines = query_returns(tmp_path)
    assert {line["game"] for line in lines} == set(games)
    assert sum(line["coin_in_cents"] for line in lines) == values["coin_in"]
    assert sum(line["coin_out_cents"] for line in lines) == values["coin_out"] + values["att_jackpot"]
    for line in lines:
        assert line["games"] == 25
        assert line["staked_cents"] == line["coin_in_cents"]
        assert line["theoretical"] is not None
        assert line["sigma_cents"] > 0
        assert line["verdict"] == "explained", line
    assert code == 0


@pytest.mark.requirement("Q-22")
def test_a_return_that_the_volume_does_not_explain_must_be_investigated(tmp_path):
    rig = MachineRig(tmp_path).boot()
    for _ in range(60):  # a machine whose reels always stop on the same winning line
        rig.machine.random_service = ScriptedGenerator(*MAPLES)
        play(rig, 1)
    rig.close()
    code, (line,) = query_returns(tmp_path)
    assert (code, line["verdict"]) == (1, "investigate")
    assert line["z"] > 4
    shown = CliRunner().invoke(main, ["returns", "--state", str(tmp_path)])
    assert shown.exit_code == 1
    assert "investigate" in shown.output.replace("\n", "")


@pytest.mark.requirement("Q-22")
@pytest.mark.parametrize(
    ("z", "verdict"),
    [(-3.3, "investigate"), (-3.28, "explained"), (3.28, "explained"), (3.3, "investigate")],
)
def test_a_return_is_investigated_from_3_3_standard_deviations_on_either_side(z, verdict):
    played = GameVersion(DEFAULT_GAME_ID, "1.0", "00", 25)
    facts = {"game_count": 1, "staked_cents": 25, "won_cents": 0, "coin_in_cents": 25, "paid_cents": 0}
    assert GameReturn(game_version=played, z_score=z, **facts).verdict == verdict


@pytest.mark.requirement("Q-22")
def test_a_void_game_is_excluded_from_the_return(tmp_path):
    rig = MachineRig(tmp_path, games=("hold-fast",)).boot()
    play(rig, 2)
    rig.play()
    persons = {"void_reason": "defect", "persons": ["2", "5"], "reason": "test", "location": ""}
    void_game(rig.machine, is_refunded=True, machine=rig.machine.identity.serial, **persons)
    rig.close()
    _, (line,) = query_returns(tmp_path)
    assert (line["games"], line["staked_cents"], line["coin_in_cents"]) == (2, 50, 75)


@pytest.mark.requirement("Q-22")
def test_raised_and_pushed_stakes_are_excluded_from_the_return(tmp_path):
    rig = MachineRig(tmp_path, games=("quebec-war",)).boot()
    least = rig.machine.games["quebec-war"].bet_options[0]
    for _ in range(120):
        if rig.credit_cents < 100:
            rig.insert(2000)
        rig.engine.handle(EventType.SELECT_BET, value=least)  # none is laid any more where no credit was left
        play(rig, 1)
    values = rig.journal.meters().values
    raised_cents = sum(record.get("staked_credits", 0) for record in rig.records("game.choice"))
    raised_cents *= rig.machine.selection.denomination_cents
    rig.close()
    _, (line,) = query_returns(tmp_path)
    assert raised_cents
    assert line["staked_cents"] == values["coin_in"] - raised_cents
    assert line["won_cents"] == values["coin_out"] + values["att_jackpot"] - raised_cents
    assert (line["verdict"], line["why"]) == ("explained", "")


def test_a_game_with_standing_bets_has_no_verdict(tmp_path):
    four_three_five = ScriptedGenerator(0, 2, 0, 1, 0, 3)
    rig = MachineRig(tmp_path, games=("quebec-craps",), generator=four_three_five).boot().insert(2000)
    least = rig.machine.games["quebec-craps"].rules.list_spots()
    line_bet = next(spot for spot in least if spot.id == "pass")
    for bets in ({"pass": line_bet.bet_min}, {}, {}):
        rig.engine.handle(EventType.SELECT_BET, value=sum(bets.values()), options={"bets": bets})
        rig.play()
        assert rig.state is State.PLAYING
        rig.report_shown()
    assert ["table" in record for record in rig.records("game.start")] == [False, True, True]
    rig.close()
    _, (line,) = query_returns(tmp_path)
    assert (line["games"], line["verdict"]) == (3, "unknown")
    assert "bets stand" in line["why"]
