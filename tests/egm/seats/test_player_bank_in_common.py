"""A player as the bank at several positions: offered in turn, covered before the deal, with separate money."""

import pytest

from egm.kernel.events import EventType, State
from egm.play.records.games import find_open_game
from egm.play.records.tables import read_shared_state
from egm.play.wager_texts import build_win_rows
from egm.seats.decisions import apply_recorded_steps, decide_overdue_turns
from egm.seats.table import SharedTables
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

BILL_CENTS, CENTS, STAKE = 10_000, 50, 20
GAMES = ["quebec-super-pan-9", "quebec-pai-gow", "quebec-pai-gow-poker"]


def lay(rig, **bets):
    rig.engine.handle(EventType.SELECT_BET, value=sum(bets.values()), options={"bets": bets})
    rig.engine.handle(EventType.PLAY)
    assert rig.state is State.BETTING, rig.notice


def close(rigs):
    table = rigs[0].machine.component(SharedTables)
    table.close_betting(next(iter(rigs[0].machine.games.values())).digest)
    apply_recorded_steps(table)
    decide_overdue_turns(table)


def with_credit(rigs):
    for rig in rigs:
        rig.insert(BILL_CENTS)
    return rigs


def answer_all(rigs):
    """Take the first answer at each seat that must decide."""
    table = rigs[0].machine.component(SharedTables)
    apply_recorded_steps(table)
    while deciding_rigs := [rig for rig in rigs if rig.state is State.PLAYING and is_asked(rig)]:
        deciding_rigs[0].engine.handle(EventType.CHOOSE, value=deciding_rigs[0].hands.messages[-1].options[0])
        apply_recorded_steps(table)


def is_asked(rig):
    game = find_open_game(rig.machine)
    return game is not None and game.outcome is None and bool(rig.hands.messages[-1].options)


def end(rigs):
    for rig in rigs:
        if rig.state is State.PLAYING:
            rig.report_shown()
        assert rig.state is State.IDLE, rig.notice


def hold_round(rigs):
    close(rigs)
    answer_all(rigs)
    games = [find_open_game(rig.machine) for rig in rigs]
    end(rigs)
    return games


def read_bank(rigs):
    (game,) = rigs[0].machine.games.values()
    return read_shared_state(rigs[0].machine, game.digest)["bank"]


def check_audit(rigs, folder):
    rigs[0].journal.self_audit()
    rigs[0].close()
    with open_view(folder) as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []


def spots_of(game):
    return [
        (settlement.name, settlement.spot, settlement.staked_credits)
        for settlement in game.outcome.settlements
    ]


@pytest.mark.requirement("S-18")
@pytest.mark.parametrize("name", GAMES)
def test_the_bank_rotates_among_the_positions_that_took_part(seats, tmp_path, name):
    rigs = with_credit(seats(name, count=4))
    for rig in rigs[:3]:
        lay(rig, stake=STAKE)
    hold_round(rigs)
    assert read_bank(rigs) == {"seat": 0, "took_part": [0, 1, 2]}
    before = [rig.credit_cents for rig in rigs]
    lay(rigs[0], stake=STAKE)
    lay(rigs[1], stake=STAKE, bank=100)
    lay(rigs[2], stake=STAKE, bank=100)
    lay(rigs[3], stake=STAKE, bank=100)  # it did not take part in the first round
    games = hold_round(rigs)
    assert read_bank(rigs) == {"seat": 2, "took_part": [0, 1, 2], "last": 1}
    assert spots_of(games[1])[:2] == [("not covered", "stake", STAKE), ("not covered", "bank", 40)]
    assert {spot for _, spot, _ in spots_of(games[1])[2:]} == {"bank"}
    assert sum(staked for _, _, staked in spots_of(games[1])[2:]) == 3 * STAKE
    for n in (2, 3):
        assert spots_of(games[n])[0] == ("not covered", "bank", 100)
    recalled = build_win_rows(rigs[1].machine.games[name], games[1].outcome.settlements, CENTS)
    for language, bank in (("en", "Bank"), ("fr", "Banque")):
        assert [row.cells[0].values[language] for row in recalled[1:]] == [bank] * 4
    won = [rig.credit_cents - earlier for rig, earlier in zip(rigs, before, strict=True)]
    commissions = sum(
        CENTS for n in (0, 2, 3) for name_, spot, _ in spots_of(games[n]) if (name_, spot) == ("won", "stake")
    )
    assert sum(won) == -commissions  # the players paid each other, and the house its commission
    for rig in rigs[:3]:
        lay(rig, stake=STAKE, bank=100)
    games = hold_round(rigs)
    assert read_bank(rigs)["last"] == 2
    check_audit(rigs, tmp_path)


@pytest.mark.requirement("S-18")
@pytest.mark.parametrize("name", GAMES)
def test_a_bank_larger_than_its_players_credit_is_refused(seats, name):
    rigs = seats(name, count=2)
    for rig in rigs:
        rig.insert(5_000)
        lay(rig, stake=STAKE)
    hold_round(rigs)
    rig = rigs[0]
    bank = rig.credit_cents // CENTS // STAKE * STAKE  # with the stake it is more than the player has
    rig.engine.handle(
        EventType.SELECT_BET, value=STAKE + bank, options={"bets": {"stake": STAKE, "bank": bank}}
    )
    rig.engine.handle(EventType.PLAY)
    assert (rig.state, rig.notice) == (State.IDLE, "refused.bet_is_covered")
    assert find_open_game(rig.machine) is None
    assert rig.credit_cents // CENTS >= bank


@pytest.mark.requirement("S-18")
@pytest.mark.parametrize("name", GAMES)
def test_a_position_that_cannot_start_pays_no_bank(seats, name):
    """Otherwise the bank would win a stake that was never wagered, or pay without money."""
    rigs = with_credit(seats(name, count=3))
    for rig in rigs:
        lay(rig, stake=STAKE)
    hold_round(rigs)
    lay(rigs[0], stake=STAKE, bank=60)
    lay(rigs[1], stake=STAKE)
    lay(rigs[2], stake=STAKE)
    rigs[0].engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    credit_cents = rigs[0].credit_cents
    close(rigs)
    assert find_open_game(rigs[0].machine) is None
    assert rigs[0].credit_cents == credit_cents
    answer_all(rigs)
    for rig in rigs[1:]:
        assert {spot for _, spot, _ in spots_of(find_open_game(rig.machine))} == {"stake"}
    rigs[0].engine.handle(EventType.KEY_TURNED, key="attendant")
    end(rigs)
    assert "last" not in read_bank(rigs)
    rigs[0].journal.self_audit()


@pytest.mark.requirement("S-18", "A-05")
@pytest.mark.parametrize("name", GAMES)
def test_after_a_power_loss_the_round_with_its_bank_goes_on(seats, tmp_path, name):
    rigs = with_credit(seats(name, count=3))
    for rig in rigs:
        lay(rig, stake=STAKE)
    hold_round(rigs)
    lay(rigs[0], stake=STAKE, bank=40)
    lay(rigs[1], stake=STAKE)
    lay(rigs[2], stake=STAKE)
    close(rigs)
    before = [find_open_game(rig.machine).steps for rig in rigs]
    rigs[0].close()
    rigs = seats(name, count=3)
    assert [find_open_game(rig.machine).steps for rig in rigs] == before
    answer_all(rigs)
    bank = find_open_game(rigs[0].machine)
    paid = {settlement.spot for settlement in bank.outcome.settlements if settlement.name != "not covered"}
    assert paid == {"bank"}
    end(rigs)
    assert read_bank(rigs)["last"] == 0
    check_audit(rigs, tmp_path)
