"""Fills of the hopper and counted collections: every coin by a named person, and every difference reported."""

import asyncio
import json

import pytest
from click.testing import CliRunner

from egm.app.features import STAFF_REGISTERS
from egm.app.process import MachineProcess
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.devices.cctalk.hopper_twin import CctalkHopperTwin
from egm.devices.twin import SimulatedPort
from egm.kernel.events import EventType
from egm.people import Role
from egm.staff.keys import StaffKey
from egm.staff.registers import iter_register_lines
from egm.testing.machine import MachineRig, StoppedClock
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli import main

SUPERVISOR = STAFF_NUMBER_BY_ROLE[Role.SUPERVISOR]


@pytest.fixture
def rig(tmp_path):
    rig = MachineRig(tmp_path, devices=("hopper",)).boot()
    yield rig
    rig.close()
    with open_view(tmp_path) as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []


def coins(rig, position, *fallen):
    """Let coins pass the acceptor: (minor units, whether into the hopper) for each."""
    rig.engine.handle(EventType.COINS_IN, coins=fallen, exchange_progress=position)


def collect(rig):
    menu = MenuUser(rig).sign_in(Role.SUPERVISOR).open_and_fill_form("collection", "weekly")
    menu.home().open_and_fill_form("collection_end", "boxes taken").touch("leave")


@pytest.mark.requirement("D-13", "D-02")
def test_a_hopper_fill_is_signed_booked_to_the_house_and_sets_the_level(rig):
    coins(rig, 1, (100, True), (100, False))
    menu = MenuUser(rig).sign_in(Role.SUPERVISOR).open_and_fill_form("hopper_fill", "20050")
    assert menu.notice == "notice.refused.fill_amount_is_valid"
    menu.home().open_and_fill_form("hopper_fill", "20000")
    values = rig.journal.meters().values
    assert (values["hopper_fill"], values["hopper_level"], values["coin_drop"]) == (20000, 20100, 100)
    assert (values["phys_coin_in"], values["money_in"], rig.credit_cents) == (200, 200, 200)
    assert values["hopper_fills"] == 1
    (fill,) = iter_register_lines(STAFF_REGISTERS["fills"], rig.journal.entries())
    assert (fill["amount_cents"], fill["persons"]) == (20000, [SUPERVISOR])


@pytest.mark.requirement("J-16")
def test_only_authorised_staff_may_record_a_hopper_fill(rig):
    menu = MenuUser(rig).sign_in(Role.MECHANIC)
    assert "form:hopper_fill" not in [action.id for action in menu.page.actions]
    forged = {"form": "hopper_fill", "amount_cents": 100, "person": "1", "persons": ("1",)}
    rig.engine.handle(EventType.HOPPER_FILLED, **forged)
    assert rig.journal.meters().values["hopper_fill"] == 0


@pytest.mark.requirement("D-21", "G-09")
def test_collected_amount_is_counted_and_compared_with_the_meters(rig):
    rig.insert(2000)
    coins(rig, 1, (100, False), (200, False), (100, True))
    menu = MenuUser(rig).sign_in(Role.SUPERVISOR).touch("form:box_count").fill_open_form("coin_box", "300")
    assert menu.notice == "notice.refused.box_is_to_be_counted"  # nothing was collected yet
    menu.home().touch("leave")
    collect(rig)
    rig.insert(500)
    coins(rig, 2, (200, False))  # of the next collection
    menu = MenuUser(rig).sign_in(Role.SUPERVISOR).open_and_fill_form("box_count", "coin_box", "300")
    assert rig.notice == "count_agrees"
    menu.home().open_and_fill_form("box_count", "bill_box", "1500")
    assert rig.notice == "count_differs"
    menu.home().touch("form:box_count").fill_open_form("bill_box", "2000")
    assert menu.notice == "notice.refused.box_is_to_be_counted"  # a count is not taken back
    menu.home().touch("leave")
    collect(rig)
    MenuUser(rig).sign_in(Role.SUPERVISOR).open_and_fill_form("box_count", "bill_box", "500").home().touch(
        "leave"
    )
    found = [
        (line["box"], line["metered_cents"], line["counted_cents"], line["difference_cents"])
        for line in iter_register_lines(STAFF_REGISTERS["counts"], rig.journal.entries())
    ]
    assert found == [
        ("coin_box", 300, 300, 0),
        ("bill_box", 2000, 1500, -500),
        ("bill_box", 500, 500, 0),
    ]
    assert rig.machine.memory.get(StaffKey.LAST_COLLECTION)["counted"] == ["bill_box"]
    assert rig.credit_cents == 2000 + 400 + 500 + 200


@pytest.mark.requirement("D-21")
def test_the_statements_by_day_and_month_are_recomputed_from_the_journal(tmp_path):
    rig = MachineRig(tmp_path, devices=("hopper",)).boot().insert(2000)
    coins(rig, 1, (100, False))
    collect(rig)
    MenuUser(rig).sign_in(Role.SUPERVISOR).open_and_fill_form(
        "box_count", "coin_box", "90"
    ).open_and_fill_form("box_count", "bill_box", "2005").home().touch("leave")
    rig.clock.pass_seconds(86400)
    rig.insert(500)
    rig.play()
    rig.report_shown()
    wager_cents = rig.machine.selection.bet_cents
    rig.clock.pass_seconds(31 * 86400)
    rig.insert(1000)
    totals = rig.journal.meters().values
    rig.close()

    def egm(*words):
        run = CliRunner().invoke(main, ["register", "statement", "--state", str(tmp_path), *words])
        assert run.exit_code == 0, run.output
        return run.output

    days = json.loads(egm("--json"))
    assert [*days] == ["2026-01-01", "2026-01-02", "2026-02-02"]
    first, second, third = days.values()
    assert (first["bill_in.value"], first["coin_drop"], first["games_played"]) == (2000, 100, 0)
    assert (first["counted_cents"], first["metered_cents"], first["difference_cents"]) == (2095, 2100, -5)
    assert (second["bill_in.value"], second["coin_in"], second["games_played"]) == (500, wager_cents, 1)
    assert (third["bill_in.value"], third["coin_in"]) == (1000, 0)
    months = json.loads(egm("--by", "month", "--json"))
    assert {period: row["bill_in.value"] for period, row in months.items()} == {
        "2026-01": 2500,
        "2026-02": 1000,
    }
    (year,) = json.loads(egm("--by", "year", "--json")).values()
    assert year["money_in"] == totals["money_in"] == 3600
    assert "2026-01-02" in egm()


DEMONSTRATION = """
[machine]
serial = "EGM-1"
operator_number = "1"
profile = "generic"
site = "Demonstration"
[[games]]
game = "maple-classic"
[metrics]
port = 0
[devices.hopper]
protocol = "cctalk_hopper"
"""


async def _start_and_stop(state, file):
    """Start the machine's process once, until it is ready, and stop it."""
    machine = asyncio.create_task(MachineProcess(state, file, StoppedClock()).run())
    async with asyncio.timeout(60):
        while not machine.done() and not (state.run_folder / "screen.sock").exists():  # noqa: ASYNC110 (a file)
            await asyncio.sleep(0.02)
    machine.cancel()
    await asyncio.gather(machine, return_exceptions=True)


@pytest.mark.parametrize("added_text", ["", '[devices.bill]\nprotocol = "id003"\nport = "/dev/ttyEGM"\n'])
def test_only_a_demonstration_hopper_starts_with_booked_coins(tmp_path, added_text):
    """Regression: a simulated hopper that nobody had filled had a negative level after the first payout."""
    path = tmp_path / "cabinet.toml"
    path.write_text(DEMONSTRATION + added_text)
    file, state = load_cabinet(path), StateFolder(tmp_path / "state")
    state.create_private_folders()
    for _ in range(2):
        asyncio.run(_start_and_stop(state, file))
    coins = 0 if added_text else CctalkHopperTwin("hopper", SimulatedPort(tmp_path / "line")).hopper_coins
    with open_view(state.root) as view:
        values = view.meters().values
        kinds = [entry.kind for entry in view.entries()]
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []
    assert (values["hopper_level"], values["hopper_fill"]) == (100 * coins, 100 * coins)
    assert kinds.count("hopper.opening") == (not added_text)
