"""A side bet that plays for a level: fed by its own stake, paid the whole or a share of it, with the game."""

from fractions import Fraction

import pytest
from rigs.jackpot import (
    FLUSH,
    FULL,
    PAIR,
    QUADS,
    ROYAL,
    STRAIGHT_FLUSH,
    audited,
    begin,
    decide,
    level,
    room_of,
)

from egm.app.view import snapshot
from egm.records.keys import MoneyKey


def views(room):
    return snapshot(room.engine, fingerprint="").progressives


def worth(machine):
    """The player's credit, and what he is owed by hand."""
    owed = machine.machine.memory.get(MoneyKey.HANDPAY)
    return machine.credit_cents + (0 if owed is None else owed["amount_cents"])


@pytest.fixture
def room(tmp_path):
    rooms = []

    def made(*hands, **options):
        rooms.append(room_of(tmp_path, *hands, **options))
        rooms[-1].boot()
        while rooms[-1].credit_cents < 100_00:
            rooms[-1].insert(100_00)
        return rooms[-1]

    yield made
    for each in rooms:
        each.close()


@pytest.mark.requirement("I-01", "I-09", "I-14")
@pytest.mark.parametrize(
    ("hand", "paid_cents", "share"),
    [
        (ROYAL, 0, Fraction(1)),
        (STRAIGHT_FLUSH, 0, Fraction(1, 10)),
        (QUADS, 500_00, None),
        (FULL, 100_00, None),
        (FLUSH, 50_00, None),
        (PAIR, 0, None),
    ],
)
def test_each_hand_is_paid_as_the_by_law_says_whether_or_not_the_bank_opens(room, hand, paid_cents, share):
    machine = room(hand)
    before = machine.credit_cents
    begin(machine)
    assert level(machine).current == 10_000_50  # half of the side bet's dollar, nothing of the ante
    decide(machine)
    pot = 10_000_50
    won = 0 if share is None else int(pot * share)
    told = machine.hands.told[-1]
    assert [(one.level, one.amount_cents) for one in told.progressives] == ([("jackpot", won)] if won else [])
    machine.shown()
    # the bank does not open: the ante is paid even money and the raise comes back
    assert worth(machine) == before - 100 + 100 + paid_cents + won
    assert level(machine).paid == won
    left = pot - won
    assert level(machine).current == max(left, 10_000_00)
    assert audited(machine) == []
