"""Roulette with prison on the machine: the decision at zero, the imprisoned stake, and a player who leaves."""

import pytest
from rigs.cards import remove_cards

from egm.kernel.events import EventType, State
from egm.play.records.tables import list_tables_with_standing_bets
from egm.play.wager_texts import build_win_rows, iter_wager_rows
from egm.testing.machine import MachineRig, ScriptedGenerator
from paytables import Outcome, Wager, load_game
from paytables.cards.card import Shoe, parse_card
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

GAME = "monaco-roulette-european"
WHEEL = load_game(GAME).build_presentation()["wheel"]


@pytest.fixture
def roulette(tmp_path):
    """Return a function that starts the machine with given winning numbers; each call restarts the machine."""
    rigs = []

    def start(*numbers):
        if rigs:
            rigs[-1].close()
        generator = ScriptedGenerator(*(WHEEL.index(str(number)) for number in numbers))
        rigs.append(MachineRig(tmp_path / "state", games=(GAME,), generator=generator).boot())
        return rigs[-1]

    yield start
    rigs[-1].close()


def spin(rig, *answers, **bets):
    rig.engine.handle(EventType.SELECT_BET, value=sum(bets.values()), options={"bets": bets})
    rig.play()
    assert rig.state is State.PLAYING, rig.notice
    for answer in answers:
        rig.engine.handle(EventType.CHOOSE, value=answer)
    rig.report_shown()
    assert rig.state is State.IDLE, rig.state


def check_books(rig):
    rig.journal.self_audit()
    assert Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings == []
    return rig.journal.meters().values


@pytest.mark.requirement("P-07", "D-15", "B-08")
def test_a_stake_in_prison_stays_over_restarts_and_is_freed(roulette):
    rig = roulette(0).insert(5000)
    spin(rig, "prison", "half", red=8, low=16)  # the decisions come in the order of the cloth
    assert rig.credit_cents == 5000 - 2400 + 400
    (table,) = list_tables_with_standing_bets(rig.machine)
    assert table.table_state == {"held": [{"spot": "low", "credits": 16, "count": 1}]}
    reopened = roulette(0)
    spin(reopened, "prison")  # a second zero: the stake is worth half, and eight may be halved again
    assert reopened.credit_cents == 3000
    freed = roulette(1)
    spin(freed, **{"straight-17": 1})
    assert freed.credit_cents == 3000 - 100 + 800
    assert list_tables_with_standing_bets(freed.machine) == ()
    meters = check_books(freed)
    assert (meters["coin_in"], meters["coin_out"]) == (2500, 1200)


@pytest.mark.requirement("P-07", "F-08")
def test_at_cash_out_the_players_part_of_an_imprisoned_stake_is_paid(roulette):
    rig = roulette(0).insert(5000)
    spin(rig, "prison", red=8)
    assert rig.credit_cents == 4200
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY
    assert list_tables_with_standing_bets(rig.machine) == ()
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert rig.journal.balance_cents("out:handpay_cancelled_credit") == 4600
    meters = check_books(rig)
    assert (meters["coin_in"], meters["coin_out"]) == (800, 400)


@pytest.mark.requirement("E-01")
def test_recall_names_each_spot_and_its_result(roulette):
    rig = roulette(0).insert(5000)
    spin(rig, "half", red=8, **{"dozen-1": 5})
    game, record = load_game(GAME), rig.records("game.start")[0]
    bought = [
        (name.values, amount.value)
        for name, amount in list(iter_wager_rows(game, Wager.from_json(record["wager"]), 100))[1:]
    ]
    assert bought == [
        ({"en": "Dozen 1-12", "fr": "Douzaine 1-12"}, 500),
        ({"en": "Red", "fr": "Rouge"}, 800),
    ]
    outcome = Outcome.from_json(rig.records("game.choice")[-1]["outcome"])
    rows = [row.cells for row in build_win_rows(game, outcome.settlements, 100)]
    assert [(spot.values["fr"], where.value) for spot, where, _ in rows] == [
        ("Douzaine 1-12", "as_lost"),
        ("Rouge", "as_half"),
    ]


def find_numbers_of_cards(*names):
    """Return the draws that deal these cards from a full shoe of six decks."""
    shoe, numbers = Shoe.from_decks(6), []
    for card in map(parse_card, names):
        numbers.append(sum(shoe.counts[:card]))
        remove_cards(shoe, card)
    return numbers


@pytest.mark.requirement("P-07", "D-15")
def test_a_refait_asks_for_each_stake_gives_the_insured_back_and_holds_the_other_over_a_restart(tmp_path):
    game = "monaco-trente-et-quarante"
    rows = find_numbers_of_cards("Ks", "Kh", "Kd", "Ac", "Qs", "Qh", "Qd", "Ah")
    rig = MachineRig(
        tmp_path / "state", games=(game,), denominations_cents=(25,), generator=ScriptedGenerator(*rows)
    )
    rig.boot().insert(10000)
    spin(rig, "prison", black=40, red=100, **{"red-insured": 1})
    assert rig.credit_cents == 10000 - 41 * 25
    (table,) = list_tables_with_standing_bets(rig.machine)
    assert table.table_state["held"] == [{"spot": "black", "credits": 40, "count": 1}]
    assert sum(table.table_state["shoe"].values()) == 312 - len(rows)
    rig.close()
    restarted = MachineRig(tmp_path / "state", games=(game,), denominations_cents=(25,)).boot()
    restarted.engine.handle(EventType.CASH_OUT)
    restarted.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert restarted.journal.balance_cents("out:handpay_cancelled_credit") == 10000 - 21 * 25
    meters = check_books(restarted)
    assert (meters["coin_in"], meters["push"], meters["games_pushed"]) == (141 * 25, 120 * 25, 1)
    restarted.close()
