"""Bets on another player's blackjack hand (Québec s. 16): settled with that hand, within its limit, or refused."""

from copy import deepcopy
from dataclasses import replace

import pytest
from rigs.cards import script_cards

from egm.kernel.events import EventType, State
from egm.play.records.games import find_open_game
from egm.play.standing_bets import read_table_view
from egm.seats.decisions import apply_recorded_steps, decide_overdue_turns
from egm.seats.table import SharedTables
from meters import open_view
from meters.entry import decode
from paytables import WagerError, load_game
from tools.audit.games import GameAudit, GameFiles
from tools.audit.verify import Auditor

GAME = "quebec-blackjack"
CENTS, STAKE = 25, 10
CREDIT_CENTS = 10_000
#: Two boxes and the dealer: a pair of eights, which is split; a nineteen, which stands. The first eight becomes
#: eighteen, the second is bust with twenty-four; the dealer ends with seventeen.
CARDS = "8s Th 7s 8d 9c Td 6h Tc Ts"


def bet(rig, generator, **bets):
    """Place bets of a player with credit; the amounts are credits by spot, with underscores for hyphens."""
    rig.machine.random_service = generator
    rig.insert(CREDIT_CENTS)
    named = {spot.replace("_", "-"): amount for spot, amount in bets.items()}
    rig.engine.handle(EventType.SELECT_BET, value=sum(named.values()), options={"bets": named})
    rig.engine.handle(EventType.PLAY)
    return rig.state


def close(rigs):
    table = rigs[0].machine.component(SharedTables)
    table.close_betting(rigs[0].machine.games[GAME].digest)
    apply_recorded_steps(table)
    decide_overdue_turns(table)


def answer(rigs, seat, choice):
    rigs[seat].engine.handle(EventType.CHOOSE, value=choice)
    apply_recorded_steps(rigs[0].machine.component(SharedTables))


def end(rigs):
    for rig in rigs:
        rig.report_shown()
        assert rig.state is State.IDLE
    return [rig.credit_cents - CREDIT_CENTS for rig in rigs]


def audit(rigs, folder):
    rigs[0].journal.self_audit()
    rigs[0].close()
    with open_view(folder) as view:
        bodies = list(view.iter_bodies())
    assert Auditor(GameFiles()).audit_entries(bodies).findings == []
    return bodies


@pytest.mark.requirement("S-11:b", "O-01")
def test_a_bet_follows_the_first_hand_of_a_split_and_is_not_split(seats, tmp_path):
    rigs = seats(GAME, count=3)
    generator = script_cards(CARDS, decks=6)
    assert bet(rigs[0], generator, main=STAKE) is State.BETTING
    assert bet(rigs[1], generator, main=STAKE) is State.BETTING
    assert bet(rigs[2], generator, back_1=STAKE, back_2=2 * STAKE) is State.BETTING
    close(rigs)
    assert [find_open_game(rig.machine).wager.seat for rig in rigs] == [0, 1, 2]
    answer(rigs, 0, "split")
    answer(rigs, 0, "stand")
    answer(rigs, 0, "hit")
    answer(rigs, 1, "stand")
    games = [find_open_game(rig.machine) for rig in rigs]
    assert [game.staked_cents for game in games] == [2 * STAKE * CENTS, STAKE * CENTS, 3 * STAKE * CENTS]
    settled = [sorted((e.spot, e.name, e.credits) for e in game.outcome.settlements) for game in games]
    assert settled == [
        [("main", "lost", 0), ("main", "won", 20)],
        [("main", "won", 20)],
        [("back-1", "won", 20), ("back-2", "won", 40)],
    ]
    assert end(rigs) == [0, STAKE * CENTS, 3 * STAKE * CENTS]
    audit(rigs, tmp_path)


@pytest.mark.requirement("S-11:b")
def test_a_bet_on_a_hand_that_is_not_dealt_is_not_accepted(seats, tmp_path):
    rigs = seats(GAME, count=3)
    generator = script_cards(CARDS, decks=6)
    bet(rigs[0], generator, main=STAKE)
    bet(rigs[2], generator, back_2=STAKE)
    close(rigs)
    assert [rig.state for rig in rigs] == [State.PLAYING, State.IDLE, State.IDLE]
    notice = rigs[2].machine.notice
    assert (notice.code, notice.values) == ("no_hand_to_bet_on", {"player": 2})
    assert rigs[2].credit_cents == CREDIT_CENTS
    assert rigs[0].machine.notice is None
    assert find_open_game(rigs[0].machine).wager.options["others"] == {}


@pytest.mark.requirement("S-11:b")
def test_all_bets_on_a_hand_stay_within_its_limit_and_lower_positions_take_precedence(seats):
    rigs = seats(GAME, count=4)
    generator = script_cards(CARDS, decks=6)
    assert bet(rigs[0], generator, main=150) is State.BETTING
    assert bet(rigs[1], generator, back_1=300) is State.BETTING
    assert bet(rigs[2], generator, back_1=52) is State.BETTING
    assert bet(rigs[3], generator, back_1=50) is State.BETTING
    close(rigs)
    assert [rig.state for rig in rigs] == [State.PLAYING, State.PLAYING, State.IDLE, State.PLAYING]
    notice = rigs[2].machine.notice
    assert (notice.code, notice.values) == ("hand_limit_reached", {"player": 1})
    assert rigs[2].credit_cents == CREDIT_CENTS


@pytest.mark.requirement("S-11:b")
def test_only_a_player_without_a_box_bets_on_another_hand(seats):
    rigs = seats(GAME, count=2)
    generator = script_cards(CARDS, decks=6)
    assert bet(rigs[0], generator, main=STAKE, back_2=STAKE) is State.IDLE
    rules = load_game(GAME).rules
    with pytest.raises(WagerError, match=r"bets\.main: cannot be combined with a bet on 'back-2'"):
        rules.build_wager(20, bets={"main": 10, "back-2": 10})
    with pytest.raises(WagerError, match="seat 0 has no hand in this round"):
        rules.build_wager(10, bets={"back-1": 10}, seat=0, others={"1": {"main": 10}})
    with pytest.raises(WagerError, match="seat 1 has no hand in this round"):
        rules.build_wager(10, bets={"back-2": 10}, seat=2, others={"1": {"back-1": 10}, "0": {"main": 10}})
    with pytest.raises(WagerError, match="needs that player in the round"):
        rules.play(rules.build_wager(10, bets={"back-1": 10}), generator)


@pytest.mark.requirement("S-11:b")
def test_a_machine_with_one_position_accepts_no_bet_on_another_hand(seats):
    (rig,) = seats(GAME, count=1)
    assert {f"back-{number}" for number in range(1, 8)} <= set(read_table_view(rig.machine)[1])
    assert bet(rig, script_cards(CARDS, decks=6), back_2=STAKE) is State.IDLE
    assert rig.credit_cents == CREDIT_CENTS


def test_the_highest_stake_of_a_round_is_that_of_a_hand_or_of_bets_on_all_the_others():
    rules = load_game(GAME).rules
    hand = 500 * 2 + 500 // 2  # split, and insured
    others = 6 * (500 - 2)  # each hand has a bet of at least 2 of its own
    assert rules.find_highest_stake(10**6) == max(hand, others)
    assert rules.find_highest_stake(hand) == hand


@pytest.mark.requirement("S-11:b")
def test_a_position_is_offered_the_hands_of_the_machines_other_positions(seats):
    rigs = seats(GAME, count=3)
    closed = [{spot for spot in read_table_view(rig.machine)[1] if spot.startswith("back")} for rig in rigs]
    missing = {"back-4", "back-5", "back-6", "back-7"}
    assert closed == [missing | {f"back-{number}"} for number in (1, 2, 3)]


@pytest.mark.requirement("S-11:b", "E-05")
def test_an_altered_bet_on_another_hand_is_found(seats, tmp_path):
    rigs = seats(GAME, count=2)
    generator = script_cards(CARDS.replace("Th ", "").replace("9c ", ""), decks=6)
    bet(rigs[0], generator, main=STAKE)
    bet(rigs[1], generator, back_1=STAKE)
    close(rigs)
    answer(rigs, 0, "stand")
    end(rigs)
    bodies = audit(rigs, tmp_path)
    entries = [entry for entry in map(decode, bodies) if entry.kind.startswith("game.")]
    second = [n for n, entry in enumerate(entries) if entry.kind == "game.start"][1]

    def list_findings(**options):
        record = deepcopy(entries[second].transaction.record)
        record["wager"]["options"].update(options)
        findings = []
        checked = GameAudit(GameFiles(), lambda _, reason: findings.append(reason))
        lie = entries[second]._replace(transaction=replace(entries[second].transaction, record=record))
        for entry in (*entries[:second], lie, *entries[second + 1 :]):
            checked.check_entry(entry)
        return findings

    assert list_findings() == []
    assert list_findings(bets={"back-1": 2 * STAKE})
    assert list_findings(bets={"back-2": STAKE})
    assert list_findings(others={})
