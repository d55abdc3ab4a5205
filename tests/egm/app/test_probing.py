"""A device is found by its reply, and an echo of the query is not mistaken for a reply."""

import asyncio

import pytest

from egm.app.first_start.draft import CabinetFileDraft
from egm.app.first_start.probing import PROTOCOL_PROBING_ORDER, probe_serial_ports
from egm.app.first_start.steps import ProbeDevicesStep, WelcomeStep
from egm.app.first_start.wizard import FirstStartWizard
from egm.devices.protocols import PROTOCOLS
from egm.devices.twin import SimulatedPort
from egm.kernel.messages import Intent


def test_bus_protocols_are_probed_before_those_that_accept_an_echo():
    buses = [PROTOCOLS[name].is_bus for name in PROTOCOL_PROBING_ORDER]
    assert buses == sorted(buses, reverse=True)


def test_probing_can_be_repeated_and_is_not_refused():
    async def probe_again():
        step = ProbeDevicesStep(list)
        wizard = FirstStartWizard((WelcomeStep(("devices",)), step), CabinetFileDraft(), lambda: None)

        def touch(action):
            wizard.process_answer(Intent(name="answer", value=action, options={"page": wizard.page.id}))

        touch("next")
        await wizard._step_task
        touch("again")
        try:
            return step.probed_port_and_protocol is not None, wizard.page.notice
        finally:
            wizard.close()

    assert asyncio.run(probe_again()) == (True, None)


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
