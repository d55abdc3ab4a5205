"""Positions at the tables of one machine."""

from pathlib import Path

import pytest

from egm.kernel.positions import Position
from egm.seats.table import SharedTable
from egm.testing.machine import MachineRig


@pytest.fixture
def tables(tmp_path):
    """Start a machine with as many positions as asked for, with a game selected at each."""
    made = []

    def start(*games, count=1, folder: Path = tmp_path):
        table, rooms = SharedTable(), []
        for number in range(1, count + 1):
            beside = rooms[0] if rooms else None
            place = {"position": Position(number, count), "beside": beside} if count > 1 else {}
            room = MachineRig(folder, games=games, devices=("printer",), **place)
            if count > 1:
                room.machine.install(table)
                table.sit(room.machine, lambda event, room=room: room.engine.submit(event))
            rooms.append(room.boot())
        made.append(rooms)
        return rooms

    yield start
    for rooms in made:
        if rooms[0].open:
            rooms[0].close()
