"""A bill acceptor is used again after its fault ends; while it is off, it must still report that it is repaired."""

import asyncio

import pytest

from egm.testing.jumping_loop import jump
from meters import open_view
from tools.dev.simulation.cabinet_setup import CabinetSetup
from tools.dev.simulation.world import SimulatedWorld

TROUBLES = {
    "box": ({"present": False}, "box", {"present": True}),
    "fail": ({}, "clear", {}),
    "full": ({}, "clear", {}),
}


@pytest.mark.requirement("G-01", "G-15")
@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("protocol", ["cctalk_bill", "id003"])
def test_bills_are_accepted_once_the_acceptor_is_repaired(tmp_path, protocol, trouble):
    values, end, end_values = TROUBLES[trouble]
    observations = []

    async def life():
        world = SimulatedWorld(tmp_path, CabinetSetup(bill=protocol, games=("maple-classic",)), 1)
        world.start()
        await asyncio.sleep(10)
        world.act_on_device("bill-1", trouble, **values)
        await asyncio.sleep(10)
        world.act_on_device("bill-1", end, **end_values)
        await asyncio.sleep(15)
        observations.append(world.act_on_device("bill-1", "insert", amount_cents=500))
        await asyncio.sleep(10)
        await world.stop()
        world.shut_down_devices()
        with open_view(world.folder.root) as view:
            observations.append(view.credits_cents())

    jump(life())
    assert observations == [True, 500]
