"""A short soak of a whole cabinet; proof that a soak repeats exactly and finds what is wrong.

``python -m tools.dev soak`` runs the long one.
"""

import asyncio
import json
import random
import shutil
import tomllib

import pytest
from click.testing import CliRunner

from egm.config.cabinet_file import DEFAULT_CABINET
from egm.testing.jumping_loop import jump
from meters import open_view
from tools.dev.commands.soak import command
from tools.dev.soak.campaign import soak
from tools.dev.soak.floor import Floor
from tools.dev.soak.people import Crowd

#: Entries that carry the machine's own key, which is new in every life.
KEYED = {"machine.genesis", "checkpoint"}


EUROS = {"bill": [500, 1000, 2000, 5000, 10000, 20000], "coin": [50, 100, 200]}


def few_games(folder, values=None):
    """The demonstration cabinet with games whose largest prize is soon known, which a place may ask for."""
    table = tomllib.loads(DEFAULT_CABINET.read_text())
    devices = "".join(
        f'[devices.{name}]\nprotocol = "{d["protocol"]}"\n' for name, d in table["devices"].items()
    )
    games = "".join(f'[[games]]\ngame = "{game}"\n' for game in ("maple-classic", "hold-fast", "river-wheel"))
    machine = "".join(f'{key} = "{value}"\n' for key, value in table["machine"].items())
    file = folder / "cabinet.toml"
    file.write_text(f"[machine]\n{machine}{games}{devices}")
    return file


@pytest.mark.requirement("D-04", "F-01", "G-05")
@pytest.mark.parametrize(("seed", "profile"), [(20261121, "generic"), (1, "quebec-vlt"), (3, "monaco")])
def test_a_cabinet_lives_through_everything_and_every_cent_is_accounted_for(tmp_path, seed, profile):
    cabinet = few_games(tmp_path, EUROS if profile == "monaco" else None)
    result = soak(tmp_path, seed=seed, actions=1200, profile=profile, cabinet=cabinet)
    assert result.reckoning.wrong == []
    assert result.power_cuts
    assert set(result.states) >= {"idle", "playing", "paying", "tilt", "door_open"}
    amounts = result.reckoning.amounts_cents
    assert all(amounts[name] for name in ("bills in", "wagers", "wins"))
    assert amounts["tickets out"] or amounts["coins out"] or amounts["paid by hand"]
    assert amounts["credits left"] == 0
    assert result.reckoning.games_replayed > 30


#: What is keyed or salted anew in each life: the roster's digest, what stands for a ticket's number, its ledger,
#: the journal's head.
SALTED = {"digest", "commitment", "ledger", "witness"}


def unsalted(record, mark):
    """A record without what each life makes anew, its journal's mark included."""

    def kept(value):
        if isinstance(value, dict):
            return {k: kept(v) for k, v in value.items() if k not in SALTED}
        return [kept(each) for each in value] if isinstance(value, list) else value

    return json.dumps(kept(record), sort_keys=True, default=str).replace(mark, "mark")


def test_the_same_seed_is_the_same_life(tmp_path):
    folder = tmp_path / "life"  # some reasons name the port, so it must be the same

    def life():
        folder.mkdir()
        soak(folder, seed=7, actions=200, cabinet=few_games(tmp_path))
        with open_view(folder / "state") as view:
            return [
                (e.kind, e.time_utc, e.transfers, unsalted(e.record, view.mark))
                for e in view.entries()
                if e.kind not in KEYED
            ]

    once = life()
    shutil.rmtree(folder)
    assert len(once) > 50
    assert once == life()


def test_a_dollar_that_somebody_takes_from_the_box_is_missed(tmp_path, monkeypatch):
    honest = Floor.say

    def robbed(floor, device):
        seen = honest(floor, device)
        return {**seen, "stacked_cents": seen["stacked_cents"] - 100} if device == "bill" else seen

    monkeypatch.setattr(Floor, "say", robbed)
    options = ["--cabinet", str(few_games(tmp_path))]
    options += ["--keep", str(tmp_path / "kept"), "--actions", "50", "--seed", "3", "--json"]
    result = CliRunner().invoke(command, options)
    assert result.exit_code == 1
    (wrong,) = json.loads(result.stdout)["reckoning"]["wrong"]
    assert wrong.startswith("bills in: ")
    again = CliRunner().invoke(command, options)
    assert again.exit_code == 1
    assert "not empty" in again.output


class Restarter(random.Random):
    """Somebody who goes straight to what starts the machine anew, and confirms it."""

    def choice(self, seq):
        return next((each for each in ("form:restart", "confirm") if each in seq), seq[0])


async def until(holds):
    """Wait, by the loop's own clock."""
    async with asyncio.timeout(600):
        while True:
            if holds():
                return
            await asyncio.sleep(0.1)


def test_a_machine_that_its_staff_starts_anew_comes_back(tmp_path):
    async def session():
        floor = Floor(tmp_path, 1, few_games(tmp_path), "generic")
        player = Crowd(floor, Restarter(1)).player
        floor.start()
        watching = asyncio.ensure_future(player.attend())
        await until(lambda: player.seen is not None)
        floor.hand("io", "key", name="operator", on=True)
        await until(lambda: floor.restarts)
        floor.hand("io", "key", name="operator", on=False)
        await until(lambda: player.seen is not None and player.seen.state == "idle")
        watching.cancel()
        await floor.stop()
        await asyncio.sleep(1)  # for sockets to close before the loop does
        floor.put_away()

    jump(session())
    with open_view(tmp_path / "state") as view:
        assert sum(entry.kind == "power.up" for entry in view.entries()) == 2


def test_the_demonstration_cabinet_lives_without_its_hosts(tmp_path):
    result = CliRunner().invoke(command, ["--actions", "40", "--seed", "2", "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["reckoning"]["wrong"] == []


def test_a_cabinet_whose_money_hangs_on_a_host_is_refused(tmp_path):
    file = few_games(tmp_path)
    file.write_text(f"{file.read_text()}[sas.main]\n[host]\ntransfers = true\nasset_number = 7\n")
    result = CliRunner().invoke(command, ["--cabinet", str(file), "--actions", "40"])
    assert result.exit_code == 1
    assert "[host] table: a soak has nobody there" in result.output
