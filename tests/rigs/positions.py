"""Player positions of one machine that share its tables."""

from collections.abc import Iterator
from contextlib import contextmanager

from egm.kernel.positions import Position
from egm.kernel.states import STATES_FOR_BETTING
from egm.seats.table import SharedTables
from egm.testing.machine import MachineRig


@contextmanager
def open_positions(folder) -> Iterator:
    """Yield a function that starts the positions of a machine; each position selects the first of the games."""
    opened = []

    def start(*games, count, folder=folder, **options):
        rigs, table = [], SharedTables()
        for number in range(1, count + 1):
            rig = MachineRig(
                folder,
                games=games or ("quebec-roulette-french",),
                devices=("printer",),
                position=Position(number, count),
                first_rig=rigs[0] if rigs else None,
                **options,
            )
            rig.machine.install(table)
            table.register_position(
                rig.machine,
                lambda event, rig=rig: rig.engine.submit(event),
                lambda rig=rig: rig.state in STATES_FOR_BETTING,
            )
            rigs.append(rig.boot())
        opened.append(rigs)
        return rigs

    yield start
    for rigs in opened:
        if rigs[0].is_open:
            rigs[0].close()
