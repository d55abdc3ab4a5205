"""Player positions of one machine, around the same tables."""

from collections.abc import Iterator
from contextlib import contextmanager

from egm.kernel.positions import Position
from egm.kernel.states import BETTABLE
from egm.seats.table import SharedTable
from egm.testing.machine import MachineRig


@contextmanager
def open_positions(folder) -> Iterator:
    """Give a function that starts the positions of a machine with the same games; the first game is selected at each."""
    made = []

    def start(*games, count, folder=folder, **more):
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
            table.sit(
                room.machine,
                lambda event, room=room: room.engine.submit(event),
                lambda room=room: room.state in BETTABLE,
            )
            rooms.append(room.boot())
        made.append(rooms)
        return rooms

    yield start
    for rooms in made:
        if rooms[0].open:
            rooms[0].close()
