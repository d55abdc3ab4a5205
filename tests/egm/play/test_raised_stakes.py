"""Raises, pushes and void games: each stake is wagered with its choice, and is decided once or returned."""

import json
from contextlib import suppress
from importlib.resources import files

import pytest
from rigs.table_games import ANTE, EVEN, register_families, write_definition
from rigs.transfers import transfer_in

from egm.kernel.credits import CreditKind
from egm.kernel.events import EventType, State
from egm.kernel.messages import DecisionRequest, GameOutcome
from egm.money.keys import MoneyKey
from egm.testing.machine import GeneratorOutOfService, MachineRig, PowerCutError, ScriptedGenerator
from meters import Transfer
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor


@pytest.fixture
def duel(tmp_path, monkeypatch):
    """Return a function that starts the machine with the game ``duel``; each call restarts the machine."""
    register_families(monkeypatch)
    game, state = write_definition(tmp_path / "games", "duel"), tmp_path / "state"
    rooms = []

    def start(*numbers, **options):
        if rooms:
            rooms[-1].close()
        rig = MachineRig(state, games=(game,), generator=ScriptedGenerator(*numbers), **options)
        rooms.append(rig.boot())
        return rig

    yield start
    rooms[-1].close()


def bet(rig, **bets):
    rig.engine.handle(EventType.SELECT_BET, value=sum(bets.values()), options={"bets": bets})
    rig.play()


def choose(rig, option):
    rig.engine.handle(EventType.CHOOSE, value=option)


def check_books(rig, tmp_path):
    """Check that the accounts balance, and that the audit derives every stake."""
    rig.journal.self_audit()
    report = Auditor(GameFiles([tmp_path / "games"])).audit_entries(rig.journal.iter_bodies())
    assert report.findings == []
    return rig.journal.meters().values


@pytest.mark.requirement("F-02", "D-08", "D-15", "C-17")
def test_a_raise_is_wagered_with_its_choice_and_its_card(duel, tmp_path):
    rig = duel(3, 1).insert(1000)
    bet(rig, ante=10)
    request = rig.hands.messages[-1]
    assert isinstance(request, DecisionRequest)
    assert (request.options, request.costs, request.seat) == (("fold", "stay", "raise"), {"raise": 10}, 0)
    assert request.cues == ({"cue": "deal", "hand": "player", "card": "3"},)
    assert rig.credit_cents == 950
    choose(rig, "raise")
    entry = next(iter(rig.journal.entries("game.choice")))
    assert entry.transfers == (Transfer("credit:1:cashable", "house:wager", 50),)
    assert (entry.record["staked_credits"], entry.record["draws"]) == (10, [[6, 1, "card 2"]])
    assert rig.credit_cents == 900
    message = rig.hands.messages[-1]
    assert isinstance(message, GameOutcome)
    assert message.cues == ({"cue": "deal", "hand": "bank", "card": "1"},)
    assert [
        (settlement["name"], settlement["staked"], settlement["credits"])
        for settlement in message.settlements
    ] == [("won", 20, 40)]
    rig.report_shown()
    assert rig.credit_cents == 1100
    meters = check_books(rig, tmp_path)
    assert (meters["coin_in"], meters["coin_out"], meters["push"]) == (100, 200, 0)
    game = rig.records("game.start")[0]["game"]
    of_game = rig.journal.meters().select(paytable=f"{game['id']}@{game['version']}", denomination_cents=5)
    assert of_game.get_value("coin_in") == 100


@pytest.mark.requirement("F-02", "N-06")
def test_options_above_the_credit_are_not_offered_or_accepted(duel, tmp_path):
    rig = duel(3, 1).insert(500)
    for _ in range(9):
        rig.machine.random_service.values[:0] = [3]
        bet(rig, even=10)
        rig.report_shown()
    credit_cents = rig.credit_cents
    assert 50 <= credit_cents < 100
    bet(rig, ante=10)
    assert rig.hands.messages[-1].options == ("fold", "stay")
    choose(rig, "raise")
    assert (rig.state, rig.notice) == (State.PLAYING, "refused.choice_is_covered")
    assert rig.credit_cents == credit_cents - 50
    choose(rig, "stay")
    rig.report_shown()
    assert check_books(rig, tmp_path)["coin_in"] == 500


@pytest.mark.requirement("C-04")
def test_the_bet_limit_covers_all_stakes_of_a_round(duel, tmp_path):
    rig = duel(3, 1)
    limit = rig.profile.play.bet_max_cents
    rig.insert(10000)
    rig.engine.handle(EventType.SELECT_DENOMINATION, value=25)
    most = limit // 25
    bet(rig, ante=min(100, most))
    costs = rig.hands.messages[-1].costs
    assert bool(costs) is (2 * min(100, most) * 25 <= limit)
    choose(rig, "fold")
    rig.report_shown()
    check_books(rig, tmp_path)


@pytest.mark.requirement("D-15")
@pytest.mark.parametrize(
    ("answer", "numbers", "back", "push", "counted"),
    [
        ("stay", (3, 3), 50, 50, "games_pushed"),
        ("raise", (3, 3), 100, 100, "games_pushed"),
        ("fold", (3,), 25, 25, "games_pushed"),
        ("stay", (3, 4), 0, 0, "games_lost"),
        ("stay", (3, 2), 100, 0, "games_won"),
    ],
)
def test_a_push_is_distinguished_from_a_win(duel, tmp_path, answer, numbers, back, push, counted):
    rig = duel(*numbers).insert(1000)
    bet(rig, ante=10)
    choose(rig, answer)
    rig.report_shown()
    staked = 100 if answer == "raise" else 50
    assert rig.credit_cents == 1000 - staked + back
    meters = check_books(rig, tmp_path)
    assert (meters["coin_in"], meters["coin_out"], meters["push"]) == (staked, back, push)
    results = {name: meters[name] for name in ("games_won", "games_pushed", "games_lost")}
    assert results == dict.fromkeys(results, 0) | {counted: 1}
    assert rig.records("game.end")[-1]["win_cents"] == back - push


@pytest.mark.requirement("A-08", "B-08")
@pytest.mark.parametrize("written", range(5))
def test_a_power_cut_leaves_both_a_raise_and_its_card_or_neither(duel, tmp_path, written):
    rig = duel(3, 3).insert(1000)
    bet(rig, ante=10)
    rig.cut_power_after(written)
    with suppress(PowerCutError):
        choose(rig, "raise")
        rig.report_shown()
    drawn = len(rig.records("game.choice"))
    restarted = duel(*(() if drawn else (3,)))  # drawn numbers are not drawn again
    if not drawn:
        assert isinstance(restarted.hands.messages[-1], DecisionRequest)
        assert restarted.hands.messages[-1].cues == ({"cue": "deal", "hand": "player", "card": "3"},)
        assert restarted.credit_cents == 950
        choose(restarted, "raise")
    if restarted.state is State.PLAYING:
        restarted.report_shown()
    assert restarted.credit_cents == 1000
    assert len(restarted.records("game.push")) == 1
    assert check_books(restarted, tmp_path)["push"] == 100


@pytest.mark.requirement("F-05")
def test_a_returned_stake_is_no_large_win_however_high(duel, tmp_path):
    text = (files("egm.profiles") / "generic.toml").read_text(encoding="utf-8")
    profile_file = tmp_path / "place.toml"
    profile_file.write_text(
        text.replace("large_win_cents = 120000", "large_win_cents = 1000"), encoding="utf-8"
    )
    rig = duel(4, 4, 4, 1, profile=profile_file).insert(10000)
    bet(rig, ante=100)
    choose(rig, "raise")
    rig.report_shown()
    assert (rig.state, rig.credit_cents) == (State.IDLE, 10000)
    bet(rig, ante=100)
    choose(rig, "stay")
    rig.report_shown()
    assert (rig.state, rig.credit_cents) == (State.HANDPAY, 9500)
    assert rig.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"] == 1000
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    meters = check_books(rig, tmp_path)
    assert (meters["push"], meters["att_jackpot"], meters["coin_out"]) == (1000, 1000, 1000)


@pytest.mark.requirement("D-15")
def test_returned_promotional_credit_stays_promotional(duel, tmp_path):
    """Otherwise play-only credit could be turned into money by betting on a push."""
    rig = transfer_in(duel(3, 3).insert(100), restricted=30)
    bet(rig, ante=10)
    assert rig.machine.read_credit_cents(CreditKind.RESTRICTED) == 0
    choose(rig, "stay")
    rig.report_shown()
    assert rig.machine.read_credit_cents(CreditKind.RESTRICTED) == 30
    assert rig.machine.read_credit_cents(CreditKind.CASHABLE) == 100


@pytest.mark.parametrize("kind", ["game.choice", "game.push", "game.end"])
@pytest.mark.parametrize(
    ("dimension", "value"),
    [("game", "another"), ("paytable", "duel@9"), ("denomination_cents", 25), ("wager_level", 7)],
)
def test_no_stake_is_booked_to_another_game_than_the_one_that_took_it(duel, tmp_path, kind, dimension, value):
    """A raise or a returned stake that is metered for another game falsifies the return of both games."""
    rig = duel(4, 4).insert(1000)
    bet(rig, ante=10)
    choose(rig, "raise")
    rig.report_shown()
    assert check_books(rig, tmp_path)["push"] == 100
    bodies = []
    for body in rig.journal.iter_bodies():
        entry = json.loads(body)
        if entry["kind"] == kind:
            assert entry["dims"][dimension] != value
            entry["dims"][dimension] = value
        bodies.append(json.dumps(entry, sort_keys=True, separators=(",", ":")).encode())
    report = Auditor(GameFiles([tmp_path / "games"])).audit_entries(bodies)
    assert any(
        "dims differ from those of the play's first entry" in finding.text for finding in report.findings
    )


@pytest.mark.requirement("F-15", "A-08")
def test_an_unrecoverable_round_returns_undecided_and_pays_decided_stakes(duel, tmp_path):
    rig = duel(4).insert(1000)
    bet(rig, **{ANTE: 10, EVEN: 4})
    assert isinstance(rig.hands.messages[-1], DecisionRequest)
    rig.machine.random_service = GeneratorOutOfService()
    choose(rig, "stay")
    assert rig.machine.memory.get("game") is not None
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    ruling = {"form": "refund_game", "person": "2", "persons": ("2", "5"), "reason": "planted"}
    rig.engine.handle(EventType.REFUND_GAME, **ruling)
    (void,) = rig.records("game.void")
    assert void["refund_cents"] == 50
    assert [settlement["spot"] for settlement in void["settled"]] == [EVEN]
    assert rig.credit_cents == 1000 - 70 + 50 + 40
    check_books(rig, tmp_path)
