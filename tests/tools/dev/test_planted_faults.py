"""Faults planted in the product: a simulated world disagrees with each, or the audit that it runs does."""

from dataclasses import replace

import pytest

from egm.kernel.machine import Machine
from egm.progressive.messages import Commit
from tools.dev.simulation import link
from tools.dev.simulation.actions import Action
from tools.dev.simulation.campaign import Case
from tools.dev.simulation.house import House
from tools.dev.simulation.shrink import attempt

ONE = House(games=("maple-classic",))


def doing(*names):
    """A script of actions of these names, each with a seed of its own, once the devices have started."""
    return [Action(name, seed) for seed, name in enumerate(("close doors",) * 8 + names, 1)]


def recorded(monkeypatch, change):
    """Have the machine record every entry as ``change`` makes of it."""
    honest = Machine.record

    def record(machine, kind, **said):
        return honest(machine, kind, **change(machine, kind, said))

    monkeypatch.setattr(Machine, "record", record)


def coins_metered_into_a_hopper_that_is_not_there(monkeypatch):
    def change(machine, kind, said):
        if kind == "coin.in":
            said["transfers"] = tuple(
                replace(flow, target=flow.target.replace("stock:coin_box", "stock:hopper"))
                for flow in said["transfers"]
            )
        return said

    recorded(monkeypatch, change)


def games_ended_at_another_position(monkeypatch):
    def change(machine, kind, said):
        other = {"position": 3 - machine.position.number}
        return said | {"dims": said["dims"] | other} if kind == "game.end" else said

    recorded(monkeypatch, change)


def a_machine_that_says_it_paid_more(monkeypatch):
    honest = link.encode
    monkeypatch.setattr(
        link,
        "encode",
        lambda said: honest(
            said.model_copy(update={"amount_cents": said.amount_cents * 2})
            if isinstance(said, Commit)
            else said
        ),
    )


@pytest.mark.requirement("A-08", "E-13")
@pytest.mark.parametrize(
    ("plant", "house", "script", "found"),
    [
        (
            coins_metered_into_a_hopper_that_is_not_there,
            replace(ONE, hopper=False),
            doing("coin", "coin", "coin", "coin"),
            "coins in the drop box: ",
        ),
        (games_ended_at_another_position, replace(ONE, positions=2), doing(*("bill", "play") * 4), "audit: "),
        (
            a_machine_that_says_it_paid_more,
            replace(ONE, link=True),
            doing("bill", "game", *("play",) * 60),
            "linked",
        ),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_planted_fault_is_found(tmp_path, monkeypatch, plant, house, script, found):
    case = Case(1, house, script)
    plant(monkeypatch)
    assert attempt(tmp_path / "planted", case)[1].startswith(found)
