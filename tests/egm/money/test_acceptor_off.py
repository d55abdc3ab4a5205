"""A bill acceptor whose fault ends is used again: to be off must not keep it from saying that it is mended."""

import asyncio

import pytest
from tools.dev.soak.floor import Floor

from egm.testing.jumping_loop import jump
from meters import open_view

CABINET = """
[machine]
serial = "OFF-1"
operator_number = "1"
site = "rig"
profile = "generic"
[[games]]
game = "maple-classic"
[devices.bill]
protocol = "{protocol}"
[devices.io]
protocol = "ioboard"
[metrics]
port = 0
"""
TROUBLES = {
    "box": ({"present": False}, "box", {"present": True}),
    "fail": ({}, "clear", {}),
    "full": ({}, "clear", {}),
}


@pytest.mark.requirement("G-01", "G-15")
@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("protocol", ["cctalk_bill", "id003"])
def test_bills_are_taken_once_it_is_mended(tmp_path, protocol, trouble):
    file = tmp_path / "cabinet.toml"
    file.write_text(CABINET.format(protocol=protocol))
    values, end, end_values = TROUBLES[trouble]
    told = []

    async def life():
        floor = Floor(tmp_path, 1, file, "generic")
        floor.start()
        await asyncio.sleep(10)
        floor.hand("bill", trouble, **values)
        await asyncio.sleep(10)
        floor.hand("bill", end, **end_values)
        await asyncio.sleep(15)
        told.append(floor.hand("bill", "insert", amount_cents=500))
        await asyncio.sleep(10)
        await floor.stop()
        floor.put_away()
        with open_view(floor.folder.root) as view:
            told.append(view.credits_cents())

    jump(life())
    assert told == [True, 500]
