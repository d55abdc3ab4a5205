"""Positions around the tables of one machine."""

import pytest

from egm.kernel.positions import Position
from egm.seats.table import SharedTable
from egm.testing.machine import MachineRig

SEATS = 4


@pytest.fixture
def seats(tmp_path):
    """Positions of one machine, with the same games; the first game is before each."""
    made = []

    def start(*games, count=SEATS, folder=tmp_path, **more):
        rooms, table = [], SharedTable()
        for number in range(1, count + 1):
            room = MachineRig(
                folder,
                games=games or ("quebec-roulette-french",),
                devices=("printer",),
                position=Position(number, count),
                beside=rooms[0] if rooms else None,
                **more,
            )
            room.machine.install(table)
            table.sit(room.machine, lambda event, room=room: room.engine.submit(event))
            rooms.append(room.boot())
        made.append(rooms)
        return rooms

    yield start
    for rooms in made:
        if rooms[0].open:
            rooms[0].close()
