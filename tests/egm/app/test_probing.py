"""A device is found by its reply, and an echo of the query is not mistaken for a reply."""

import asyncio

import pytest

from egm.app.first_start.probing import PROTOCOL_PROBING_ORDER, probe_serial_ports
from egm.devices.catalogue import PROTOCOLS
from egm.devices.twin import SimulatedPort


def test_bus_protocols_are_probed_before_those_that_accept_an_echo():
    buses = [PROTOCOLS[name].is_bus for name in PROTOCOL_PROBING_ORDER]
    assert buses == sorted(buses, reverse=True)


@pytest.mark.slow
def test_a_hopper_on_a_line_with_echo_is_not_taken_for_a_bill_acceptor(tmp_path):
    async def find():
        twins = []
        for name in ("cctalk_hopper", "id003", "ioboard"):
            port = SimulatedPort(tmp_path / name, PROTOCOLS[name].line_settings.character_seconds)
            twins.append(PROTOCOLS[name].create_twin(name, port))
            port.plug()
        answers = await probe_serial_ports([str(twin.port.link) for twin in twins])
        for twin in twins:
            twin.port.unplug()
        return [answer.protocol for answer in answers]

    assert asyncio.run(find()) == ["cctalk_hopper", "id003", "ioboard"]
