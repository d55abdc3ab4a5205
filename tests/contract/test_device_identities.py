"""The identity that each device reports, from the simulated device through its driver to its service page."""

import asyncio

import pytest

from egm.app.ports import create_driver_without_machine
from egm.devices.interface import DeviceIdentified
from egm.staff.device_page_data import DevicePageData
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump

#: Protocol -> identity of the simulated device; printers that speak Ithaca and wheels state none.
IDENTITIES = {
    "id003": "(USA) UBA-10-SS SIM V1.00 ID003",
    "ebds": "AE2600 SIMULATED",
    "cctalk_bill": "SIM BILL-SIM 12345",
    "cctalk_coin": "SIM COIN-SIM 12345",
    "cctalk_hopper": "SIM HOPPER-SIM 12345",
    "tcl": "TCLSIM100",
    "ioboard": "open-egm I/O board, simulated 1.0",
}


@pytest.mark.requirement("A-19")
@pytest.mark.parametrize("protocol", IDENTITIES)
def test_a_device_is_identified_by_what_it_reports_itself(protocol):
    page_data = DevicePageData()

    async def scene():
        rig = DeviceRig(protocol, react=page_data.store_report)
        rig.start(
            create_driver_without_machine(protocol, "device", rig.create_serial_line(), rig.receive_event)
        )
        await rig.advance_until(lambda: rig.list_events(DeviceIdentified))
        await asyncio.sleep(2)
        await rig.stop()
        rig.close()
        assert len(rig.list_events(DeviceIdentified)) == 1, "the identity is reported once"

    jump(scene())
    assert page_data.identity_by_device_name == {"device": IDENTITIES[protocol]}
