"""Faults planted in the product: a simulated world disagrees with each, or the audit that it runs does."""

import re
from dataclasses import replace

import pytest

from egm.devices.bill_driver import BillDriver
from egm.kernel.machine import Machine
from egm.money import value_in
from egm.money.device_ledgers import PaperLedger
from egm.play import residual_credit, rulings
from egm.progressive.messages import Commit
from egm.records import residual
from tools.dev.simulation import actions, link, player
from tools.dev.simulation.actions import Action
from tools.dev.simulation.campaign import Case
from tools.dev.simulation.house import House
from tools.dev.simulation.shrink import attempt

ONE = House(games=("maple-classic",))
#: Actions that change nothing, for what was begun to go on meanwhile.
WAIT = ("language",) * 8


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


def bills_taken_with_a_door_open(monkeypatch):
    """Each of the three parts that refuse one has failed: the offer, the answer and the order."""
    monkeypatch.setattr(value_in, "_is_ready", lambda *_: True)
    monkeypatch.setattr(BillDriver, "return_bill", BillDriver.stack)
    monkeypatch.setattr(PaperLedger, "may_order", lambda _: True)


def staff_that_refunds(monkeypatch):
    """Managers, who may."""
    monkeypatch.setattr(actions, "_FORMS", ("form:refund_game",) * 4)
    monkeypatch.setattr(player, "_TECHNICIAN_COMES", 0.0)


def decided_games_that_may_be_void(monkeypatch):
    staff_that_refunds(monkeypatch)
    monkeypatch.setattr(rulings, "reason_not_void", lambda *_: None)


def games_that_are_called_defective(monkeypatch):
    staff_that_refunds(monkeypatch)
    monkeypatch.setattr(rulings, "conversation_of", lambda *_: None)


def any_credit_taken_for_a_remainder(monkeypatch):
    """In a jurisdiction that lets a remainder be given up, before the first game after the start."""
    terms, write = residual.residual_terms, House.write

    def in_such_a_jurisdiction(house, folder):
        cabinet, profile = write(house, folder), folder / "place.toml"
        text = profile.read_text(encoding="utf-8")
        profile.write_text(text.replace("[pay_out]", '[pay_out]\nresidual = "given_up"'), encoding="utf-8")
        return cabinet

    def all_credit(machine):
        return replace(terms(machine), useful_cents=10_000_000)

    monkeypatch.setattr(House, "write", in_such_a_jurisdiction)
    monkeypatch.setattr(residual, "residual_terms", all_credit)
    monkeypatch.setattr(residual_credit, "residual_terms", all_credit)


def a_key_that_restarts_a_working_generator(monkeypatch):
    """One guard for a generator that has failed and for a wheel that has reported no number yet."""
    honest = rulings.chance_is_ready
    monkeypatch.setattr(
        rulings, "chance_is_ready", lambda machine: honest(machine) and not rulings.waits_for_wheel(machine)
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
        (
            bills_taken_with_a_door_open,
            ONE,
            doing("bill", "door", *WAIT),
            r"audit: .* bill.escrow: it may not be while the machine is door_open",
        ),
        (
            decided_games_that_may_be_void,
            ONE,
            doing("bill", *WAIT, "play", "door", "menu", "menu"),
            "audit: .* the play may not be void: it is decided",
        ),
        (
            games_that_are_called_defective,
            replace(ONE, games=("jacks-or-better-9-6",)),
            doing("bill", *WAIT, "play", "door", "menu", "menu"),
            "audit: .* the play may not be void: its record can be taken up",
        ),
        (
            any_credit_taken_for_a_remainder,
            ONE,
            doing("bill", *WAIT, "residual", *WAIT, "bill", *WAIT, "play"),
            "audit: .* it is begun for 5 cents, and nothing is to be had for less",
        ),
        (
            a_key_that_restarts_a_working_generator,
            House(games=(), wheel=True),
            doing("bill", *WAIT, *("bet", "play", "language", "language", "key") * 20),
            "audit: .* the generator that is restarted was in service",
        ),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_planted_fault_is_found(tmp_path, monkeypatch, plant, house, script, found):
    case = Case(1, house, script)
    plant(monkeypatch)
    assert re.match(found, attempt(tmp_path / "planted", case)[1])
