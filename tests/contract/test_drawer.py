"""The drawer's controls on real twins: every offered action works, and caused faults can be cleared.

A bill that jams never reaches escrow. The drawer that caused the jam must be able to remove the bill, and the
next bill must be credited.
"""

import pytest
from bill_rig import BillRig

from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.scenes.drawer import lay_out_controls
from egm.screen.text import Texts
from egm.screen.view import View
from egm.testing.jumping_loop import jump

PROTOCOLS = ("cctalk_bill", "ebds", "id003")


def list_offered_controls(rig):
    """Return the control of each action that the drawer now offers for the acceptor, by action."""
    view = View(state_by_device={"bill": rig.twin.describe()})
    controls = lay_out_controls(LANDSCAPE_LAYOUT, view, Texts("en"))
    return {command.action: control for control in controls for command in control.commands}


def press(rig, action):
    for command in list_offered_controls(rig)[action].commands:
        rig.perform_action(command.action, **command.values)


def list_offered_bills(rig):
    view = View(state_by_device={"bill": rig.twin.describe()})
    return [
        command.values["amount_cents"]
        for control in lay_out_controls(LANDSCAPE_LAYOUT, view, Texts("en"))
        for command in control.commands
        if command.action == "insert"
    ]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_jam_caused_from_the_drawer_can_be_cleared_from_it(protocol):
    async def scene():
        rig = BillRig(protocol)
        await rig.idle()
        assert "clear" not in list_offered_controls(rig)
        press(rig, "jam")  # the acceptor is empty, so the next bill jams
        assert "jam" not in list_offered_controls(rig)
        assert list_offered_controls(rig)["clear"].is_on
        await rig.insert(500)
        await rig.advance_until(lambda: rig.twin.describe()["stuck"])
        assert rig.credited_cents == 0
        assert rig.twin.describe()["inside_cents"] == 500
        press(rig, "clear")
        await rig.advance_until(rig.quiet)
        assert rig.twin.describe()["returned_cents"] == 500
        await rig.insert(1000)
        await rig.advance_until(lambda: rig.credited_cents == 1000)
        assert "clear" not in list_offered_controls(rig)
        rig.close()

    jump(scene())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_drawer_offers_the_bills_that_the_acceptor_knows(protocol):
    async def scene():
        rig = BillRig(protocol)
        assert list_offered_bills(rig) == sorted(rig.driver.values_cents)[:6]
        rig.close()

    jump(scene())
