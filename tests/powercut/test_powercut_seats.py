"""The power is cut at every storage operation of a round of four seats: each has its stake or its game.

A seat whose game had not started at the power cut has wagered nothing. A game that had started is ended
with the round's own numbers. Nobody's credits are touched by another's.
"""

import pytest
from powercut_life import LifeOfSeats, cut_everywhere, every_nth

from egm.kernel.events import State
from egm.testing.machine import MachineRig

GAME, STAKE_CENTS = "quebec-roulette-french", 500
SPOTS = ("red", "black", "dozen-1", "straight-17")


class Seats(LifeOfSeats):
    """Each position bets on its own spot."""

    SEATS, CREDIT_CENTS = len(SPOTS), 2000

    def rig(self, **options):
        return MachineRig(self.folder, games=(GAME,), **options)

    def bet(self):
        for room, spot in zip(self.rooms, SPOTS, strict=True):
            self.lay(room, {spot: 5})

    def end(self):
        for room in self.rooms:
            if room.state is State.PLAYING:
                room.report_shown()
            assert room.state is State.IDLE

    def judge(self):
        """Check that each seat has its stake and win booked, or no game and its credits."""
        journal = self.room.journal
        for number, played in enumerate(self.count_started_games(), 1):
            own_meters = journal.meters().select(position=number).values
            assert own_meters["coin_in"] == STAKE_CENTS * played
            assert (
                self.rooms[number - 1].credit_cents
                == self.CREDIT_CENTS - own_meters["coin_in"] + own_meters["coin_out"]
            )
        draws = {str(e.transaction.record["steps"]) for e in journal.entries("game.start")}
        assert len(draws) <= 1
        assert journal.list_pending() == []


@pytest.mark.requirement("A-08", "O-01", "F-06")
@every_nth(127)
def test_a_power_cut_leaves_each_of_four_seats_its_stake_or_its_game(tmp_path, capsys, every):
    started_seat_counts = set()
    cut_everywhere(lambda disk: Seats(tmp_path, disk, started_seat_counts), capsys, every)
    assert started_seat_counts == set(range(Seats.SEATS + 1)) if every == 1 else len(started_seat_counts) > 1
