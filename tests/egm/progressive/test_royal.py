"""The jackpot of video poker: a royal flush wins the machine's level, which one hand at maximum credits feeds."""

import pytest
from rigs.jackpot import audit_journal, list_draws

from egm.config.levels import ProgressiveLevelTable
from egm.kernel.events import EventType
from egm.money.keys import MoneyKey
from egm.progressive.keys import ProgressiveKey
from egm.progressive.level import Level
from egm.testing.machine import MachineRig, ScriptedGenerator

GAME = "jacks-or-better-8-5-progressive"
POOL = f"{GAME}.royal.500"
DEALT, DRAWN, OTHER = "As Ks Qs Js 2c", "Ts", "9h"
RESET = 4000_00


@pytest.fixture
def rig(tmp_path):
    rooms = []

    def open_rig(*deals, added_numbers=()):
        script = [number for deal in deals for number in list_draws(deal)] + [*added_numbers]
        rig = MachineRig(
            tmp_path,
            games=(GAME,),
            levels=(ProgressiveLevelTable(game=GAME, level="royal"),),
            generator=ScriptedGenerator(*script),
            denominations_cents=(100,),
        )
        rooms.append(rig)
        rig.boot()
        while rig.credit_cents < 100_00:
            rig.insert(100_00)
        return rig

    yield open_rig
    for rig in rooms:
        rig.close()


def level(rig):
    return Level.from_json(rig.journal.state(f"{ProgressiveKey.OWN_LEVEL}{POOL}"))


def play(rig, credits_, hands=1):
    """Bet, hold four cards of the royal flush, and draw."""
    rig.engine.handle(EventType.SELECT_BET, value=credits_ * hands, options={"hands": hands})
    rig.play()
    rig.engine.handle(EventType.CHOOSE, value=0b01111)
    rig.report_shown()


@pytest.mark.requirement("I-01", "I-09", "I-14")
def test_a_royal_flush_at_the_maximum_bet_wins_the_level(rig):
    machine = rig(f"{DEALT} {OTHER}", f"{DEALT} {DRAWN}")
    play(machine, 5)
    assert level(machine).current_amount == RESET + 5  # one per cent of five dollars
    before = machine.credit_cents
    play(machine, 5)
    won = RESET + 10
    message = machine.hands.messages[-1]
    assert [(hit.level, hit.amount_cents) for hit in message.progressives] == [("royal", won)]
    owed = machine.machine.memory.get(MoneyKey.HANDPAY)
    paid = machine.credit_cents - before + (0 if owed is None else owed["amount_cents"])
    assert paid == won - 5_00
    assert (level(machine).current_amount, level(machine).paid_cents) == (RESET, won)
    assert audit_journal(machine) == []


@pytest.mark.requirement("I-01", "I-14")
@pytest.mark.parametrize(("credits_", "hands", "pays"), [(4, 1, 4 * 250), (5, 3, 4000 + 2 * 5)])
def test_a_royal_flush_at_a_lower_bet_or_with_several_hands_is_paid_by_the_pay_table(
    rig, credits_, hands, pays
):
    """The other hands, each from its own deck, draw a second jack."""
    machine = rig(f"{DEALT} {DRAWN}", added_numbers=[list_draws(f"{DEALT} Jh")[-1]] * (hands - 1))
    before = machine.credit_cents
    play(machine, credits_, hands)
    owed = machine.machine.memory.get(MoneyKey.HANDPAY)
    paid = machine.credit_cents - before + (0 if owed is None else owed["amount_cents"])
    assert paid == 100 * (pays - credits_ * hands)
    assert (level(machine).current_amount, level(machine).paid_cents) == (RESET, 0)
    assert audit_journal(machine) == []
