"""The power is cut at every entry of a round in which players win each other's stakes."""

import pytest
from test_void_rounds import BILL_CENTS, ROUNDS, audit, find_asked, go_on, table_of

from egm.kernel.events import EventType, State
from egm.testing.machine import PowerCutError

#: Rounds in which a player is the bank; the first round decides who may be.
BANKS = ("quebec-pai-gow", "quebec-pai-gow-poker", "quebec-super-pan-9")
STAKES = [{"stake": 20}] * 3
#: More than any commission of these rounds.
COMMISSION_CENTS_MAX = 2_000


def begin(rooms, bets):
    """Stake at every position and close the betting; the round continues to its first decision."""
    for rig, bet in zip(rooms, bets, strict=True):
        rig.engine.handle(EventType.SELECT_BET, value=sum(bet.values()), options={"bets": bet})
        rig.engine.handle(EventType.PLAY)
    table_of(rooms).close_betting(next(iter(rooms[0].machine.games.values())).digest)
    go_on(rooms)


def play(rooms, bets):
    """Stake at every position, and answer every decision."""
    begin(rooms, bets)
    go_on_to_the_end(rooms)


def go_on_to_the_end(rooms):
    go_on(rooms)
    while (rig := find_asked(rooms)) is not None:
        options = rig.hands.messages[-1].options
        rig.engine.handle(EventType.CHOOSE, value=next(iter({"call", "check"} & {*options}), options[0]))
        go_on(rooms)
    for rig in rooms:
        if rig.state is State.PLAYING:
            rig.report_shown()
        assert rig.state is State.IDLE, rig.notice


def iter_cut_rounds(seats, tmp_path, game, bets, first=None):
    """Play a round once for each of its entries, with a power cut there, and finish it after the restart.

    Yield the positions, and their credits before the round in cents. ``first`` has the bets of an earlier round,
    which is not cut. Each journal is audited.
    """
    is_cut, entries = True, 0
    while is_cut:
        folder = tmp_path / str(entries)
        folder.mkdir()
        rooms = seats(game, count=len(bets), folder=folder)
        for rig in rooms:
            rig.insert(BILL_CENTS)
        if first is not None:
            play(rooms, first)
        before = sum(rig.credit_cents for rig in rooms)
        rooms[0].cut_power_after(entries)
        try:
            play(rooms, bets)
        except PowerCutError:
            rooms[0].lose_power()
            rooms[0].journal.close()
            rooms = seats(game, count=len(bets), folder=folder)
            go_on_to_the_end(rooms)
        else:
            is_cut = False
        yield rooms, before
        assert audit(rooms, folder) == [], entries
        entries += 1
    assert entries > len(bets)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.requirement("S-18", "S-32", "S-51", "A-05")
@pytest.mark.parametrize("game", sorted({*ROUNDS, *BANKS} - {"quebec-texas-holdem-room"}))
def test_a_power_cut_at_any_entry_loses_nothing_but_the_commission(seats, tmp_path, game):
    bets = [{"stake": 20, "bank": 40}, *STAKES[1:]] if game in BANKS else ROUNDS[game]
    for rooms, before in iter_cut_rounds(seats, tmp_path, game, bets, STAKES if game in BANKS else None):
        assert 0 <= before - sum(rig.credit_cents for rig in rooms) <= COMMISSION_CENTS_MAX
