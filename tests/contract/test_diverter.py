"""The diverter of a coin acceptor: coins fall into the hopper until it is full, then into the cash box."""

import asyncio
from importlib.resources import files

import pytest

from egm.app.player_position import PlayerPosition
from egm.app.ports import PositionDevices
from egm.config.cabinet_file import StateFolder
from egm.devices.cctalk.coin import CctalkCoinDriver
from egm.devices.interface import DeviceFault
from egm.testing.device import DeviceRig
from egm.testing.jumping_loop import jump
from egm.testing.machine import MachineRig


@pytest.mark.requirement("G-08:e", "G-09", "D-13")
@pytest.mark.parametrize(
    ("devices", "fell"),
    [(("hopper",), (300, 300)), (("printer",), (0, 600))],
    ids=["a hopper, until it is full", "no hopper"],
)
def test_coins_fall_into_the_box_when_the_hopper_is_full_or_absent(tmp_path, devices, fell):
    text = (files("egm.profiles") / "generic.toml").read_text(encoding="utf-8")
    assert text.count("hopper_cents = 100\n") == 1
    profile = tmp_path / "place.toml"
    full = text.replace("hopper_cents = 100\n", "hopper_cents = 100\nhopper_full_cents = 300\n")
    profile.write_text(full, encoding="utf-8")

    async def scene():
        room, rig = MachineRig(tmp_path / "state", profile=profile, devices=devices), DeviceRig("cctalk_coin")
        driver = CctalkCoinDriver(
            "coin", rig.create_serial_line(), rig.receive_event, room.device_ledgers.coin_ledger
        )
        state = StateFolder(tmp_path / "state")
        state.create_private_folders()
        player_position = PlayerPosition(room.machine, {}, state, lambda *_: None, lambda: None)
        player_position.devices, player_position.engine = (
            PositionDevices(
                drivers=(driver,), kind_by_device_name={"coin": "coin_acceptor"}, coin_acceptor=driver
            ),
            room.engine,
        )
        room.engine._on_change = lambda: player_position._update_devices(player_position.build_snapshot())
        rig.start(driver)
        room.boot()
        await rig.advance_until(lambda: rig.twin.describe()["status"] == "idle")
        for amount_cents in (100, 200, 100, 200):
            rig.perform_action("insert", amount_cents=amount_cents)
            before = room.credit_cents
            await rig.advance_until(lambda before=before: room.credit_cents > before)
            await asyncio.sleep(5)
        twin, values = rig.twin.describe(), room.journal.meters().values
        assert (twin["hopper_cents"], twin["drop_cents"]) == fell
        assert (values["hopper_level"], values["coin_drop"], room.credit_cents) == (*fell, 600)
        assert not rig.list_events(DeviceFault)  # no coin took the wrong path after the diverter was switched
        await rig.stop()
        rig.close()
        room.close()

    jump(scene())
