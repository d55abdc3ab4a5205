"""The power is cut at every storage operation of a round that four seats play: each has his stake or his game.

A seat whose game had not begun when the power went has wagered nothing. One whose game had begun has it ended
with the round's own numbers. Nobody's credits are touched by another's.
"""

import pytest
from powercut_life import Life, cut_everywhere

from egm.kernel.events import EventType, State
from egm.kernel.positions import Position
from egm.seats.table import SharedTable
from egm.testing.machine import MachineRig

GAME, CREDIT_CENTS, STAKE_CENTS = "quebec-roulette-french", 2000, 500
SPOTS = ("red", "black", "dozen-1", "straight-17")
SEATS = len(SPOTS)


class Seats(Life):
    """The round; after a cut it is ended, and none is begun. ``begun``: how many had a game, from cut to cut."""

    def __init__(self, folder, disk, begun):
        super().__init__(folder, disk)
        self.begun, self.rooms, self.table = begun, [], SharedTable()
        self.is_played = self.is_ended = False

    def machine(self):
        return self.seat()

    def seat(self):
        beside = self.room
        room = MachineRig(
            self.folder,
            games=(GAME,),
            position=Position(len(self.rooms) + 1, SEATS),
            beside=beside,
            storage=None if beside else self.storage,
        )
        self.rooms.append(room)
        room.machine.install(self.table)
        self.table.sit(room.machine, lambda event: room.engine.handle(event.type, **event.data))
        return room

    def boot(self):
        super().boot()
        for _ in SPOTS[1:]:
            self.seat().boot()

    def ready(self):
        return self.rooms[-1].credit_cents == CREDIT_CENTS

    def over(self):
        return self.is_ended

    def act(self):
        if not self.rooms[-1].credit_cents:
            for room in self.rooms:
                room.insert(CREDIT_CENTS)
        elif self.cut_at is not None and not self.is_played:
            self.bet()
        else:
            self.end()

    def bet(self):
        """Everybody bets, and no more bets."""
        for room, spot in zip(self.rooms, SPOTS, strict=True):
            room.engine.handle(EventType.BET, value=5, options={"bets": {spot: 5}})
            room.engine.handle(EventType.PLAY)
            assert room.state is State.BETTING
        self.table.close(self.room.machine.games[GAME].digest)
        self.is_played = True

    def end(self):
        """What was begun is shown and ended."""
        for room in self.rooms:
            if room.state is State.PLAYING:
                room.shown()
            assert room.state is State.IDLE
        self.is_ended = True

    def judge(self):
        """Each seat has his credits less a stake, with the win of his own game; or no game, and his credits."""
        journal, begun = self.room.journal, 0
        for number, room in enumerate(self.rooms, 1):
            own = journal.meters().where(position=number).values
            assert own["games_played"] in {0, 1}
            begun += own["games_played"]
            assert own["coin_in"] == STAKE_CENTS * own["games_played"]
            assert room.credit_cents == CREDIT_CENTS - own["coin_in"] + own["coin_out"]
        draws = {str(e.transaction.record["steps"]) for e in journal.entries("game.start")}
        assert len(draws) <= 1
        assert journal.pending() == []
        if not self.is_played:
            self.begun.add(begun)


@pytest.mark.requirement("A-08", "O-01", "F-06")
@pytest.mark.parametrize(
    "every", [7, pytest.param(1, marks=pytest.mark.slow)], ids=["every seventh", "every one"]
)
def test_a_cut_at_any_operation_leaves_each_seat_his_stake_or_his_game(tmp_path, capsys, every):
    begun = set()
    cut_everywhere(lambda disk: Seats(tmp_path, disk, begun), capsys, every)
    assert begun == set(range(SEATS + 1))
