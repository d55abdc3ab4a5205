"""A simulated world or its audit detects each fault that a test plants in the product."""

import re
from dataclasses import replace

import pytest

import meters.clear
from egm.app import player_position
from egm.devices.bill_driver import BillDriver
from egm.features.memory_clear.claim_book import CARRIED_OVER_ACCOUNT, ClaimBook
from egm.kernel.events import EventType
from egm.kernel.machine import PositionMachine
from egm.money import value_in
from egm.money.device_ledgers import JournalEscrowLedger
from egm.play import residual_credit, rulings
from egm.play.records import residual_terms
from egm.progressive.messages import PaymentReport
from egm.staff import interventions
from egm.staff.service import key_switches
from paytables.poker.room import rules as room_rules
from tools.dev.simulation import actions, campaign, link, player
from tools.dev.simulation.actions import Action
from tools.dev.simulation.cabinet_setup import CabinetSetup
from tools.dev.simulation.campaign import SimulationCase
from tools.dev.simulation.shrinking import run_and_report

ONE = CabinetSetup(games=("maple-classic",))
HOLDEM = "quebec-texas-holdem-room"
#: Actions that change nothing, so that earlier actions can finish.
WAIT = ("language",) * 8


def script_actions(*names):
    """Return a script of the named actions, each with its own seed, after the devices have started."""
    return [Action(name, seed) for seed, name in enumerate(("close doors",) * 8 + names, 1)]


def change_recorded_entries(monkeypatch, change):
    """Make the machine record every entry as ``change`` returns it."""
    honest_post = PositionMachine.post

    def post(machine, entry, details=None, **fields):
        return honest_post(machine, entry, details, **change(machine, entry.kind, fields))

    monkeypatch.setattr(PositionMachine, "post", post)


def coins_metered_into_a_hopper_that_is_not_there(monkeypatch):
    def change(machine, kind, fields):
        if kind == "coin.in":
            fields["transfers"] = tuple(
                replace(flow, target=flow.target.replace("stock:coin_box", "stock:hopper"))
                for flow in fields["transfers"]
            )
        return fields

    change_recorded_entries(monkeypatch, change)


def games_ended_at_another_position(monkeypatch):
    def change(machine, kind, fields):
        other = {"position": 3 - machine.position.number}
        return fields | {"dims": fields["dims"] | other} if kind == "game.end" else fields

    change_recorded_entries(monkeypatch, change)


def a_machine_that_says_it_paid_more(monkeypatch):
    honest = link.encode
    monkeypatch.setattr(
        link,
        "encode",
        lambda message: honest(
            message.model_copy(update={"amount_cents": message.amount_cents * 2})
            if isinstance(message, PaymentReport)
            else message
        ),
    )


def bills_taken_with_a_door_open(monkeypatch):
    """Disable all three checks that refuse a bill: at its insertion, at its return and before its stacking."""
    monkeypatch.setattr(value_in, "_is_ready_for_money", lambda *_: True)
    monkeypatch.setattr(BillDriver, "return_paper", BillDriver.stack)
    monkeypatch.setattr(JournalEscrowLedger, "can_order_stacking", lambda _: True)


def staff_that_refunds(monkeypatch):
    """Let the simulated staff refund games, as managers may."""
    monkeypatch.setattr(actions, "_MENU_FORMS", ("form:refund_game",) * 4)
    monkeypatch.setattr(player, "_TECHNICIAN_PROBABILITY", 0.0)


def decided_games_that_may_be_void(monkeypatch):
    staff_that_refunds(monkeypatch)
    monkeypatch.setattr(rulings, "find_reason_void_is_refused", lambda *_: None)


def games_that_are_called_defective(monkeypatch):
    staff_that_refunds(monkeypatch)
    monkeypatch.setattr(rulings, "try_replay_game", lambda *_: None)


def any_credit_taken_for_a_remainder(monkeypatch):
    """Treat all credit as residual before the first game, under a profile that allows giving up residual credit."""
    terms, write = residual_terms.build_residual_terms, CabinetSetup.write_cabinet_file

    def in_such_a_jurisdiction(setup, folder):
        cabinet, profile = write(setup, folder), folder / "jurisdiction.toml"
        text = profile.read_text(encoding="utf-8")
        profile.write_text(text.replace("[pay_out]", '[pay_out]\nresidual = "given_up"'), encoding="utf-8")
        return cabinet

    def all_credit(machine):
        return replace(terms(machine), smallest_useful_cents=10_000_000)

    monkeypatch.setattr(CabinetSetup, "write_cabinet_file", in_such_a_jurisdiction)
    monkeypatch.setattr(residual_terms, "build_residual_terms", all_credit)
    monkeypatch.setattr(residual_credit, "build_residual_terms", all_credit)


def a_key_that_restarts_a_working_generator(monkeypatch):
    """Let the restart guard treat a wheel that has not reported a number as a failed generator."""
    honest = rulings.generator_is_in_service
    monkeypatch.setattr(
        rulings,
        "generator_is_in_service",
        lambda machine: honest(machine) and not rulings.is_waiting_for_wheel(machine),
    )


def a_key_that_serves_payments_last(monkeypatch):
    """Let the key serve payments last, for staff who only handle empty printers, coin tampering and hand-pays."""
    honest = key_switches._rank_waiting_position
    monkeypatch.setattr(key_switches, "_rank_waiting_position", lambda position: -honest(position))
    out_of_paper, cheated = ("printer", "paper", {"tickets": 0}), ("coin", "cheat", {})
    monkeypatch.setattr(actions, "_DEVICE_FAULT_ACTIONS", (out_of_paper, cheated))


def a_key_that_serves_its_own_position_only(monkeypatch):
    def concerned(beside, number, event):
        return (
            (beside.position_by_number[number],)
            if event.name == EventType.KEY_TURNED
            else honest(beside, number, event)
        )

    honest = player_position.iter_concerned_positions
    monkeypatch.setattr(player_position, "iter_concerned_positions", concerned)
    monkeypatch.setattr(actions, "_DEVICE_FAULT_ACTIONS", (("printer", "paper", {"tickets": 0}),))
    monkeypatch.setattr(campaign, "_IDLE_SECONDS_MAX", 60.0)
    monkeypatch.setattr(
        actions.Crowd, "repair_devices", lambda crowd: crowd.close_doors()
    )  # printers stay empty


def bills_credited_as_another_amount(monkeypatch):
    """Record each bill as 123.45, consistently in every entry from the bill to the payout."""

    def change(machine, kind, fields):
        if kind == "bill.escrow":
            fields["transfers"] = tuple(replace(flow, amount_cents=12345) for flow in fields["transfers"])
        return fields

    change_recorded_entries(monkeypatch, change)


def a_collection_that_forgets_the_one_before(monkeypatch):
    honest = interventions.build_collection_state

    def collected(machine, collection):
        (key, value), *_ = honest(machine, collection).items()
        return {
            key: replace(
                value,
                metered_at_previous_collection_cents=dict.fromkeys(
                    value.metered_at_previous_collection_cents, 0
                ),
            )
        }

    monkeypatch.setattr(interventions, "build_collection_state", collected)
    monkeypatch.setattr(actions, "_MENU_FORMS", ("form:box_count",) * 4)
    monkeypatch.setattr(player, "_TECHNICIAN_PROBABILITY", 0.0)


def credit_that_a_clear_forgets(monkeypatch):
    """Omit credit both from the claims of a clear and from its check."""
    monkeypatch.setattr(ClaimBook, "claim_remaining_credits", lambda _: None)
    monkeypatch.setattr(meters.clear, "_check_clearance", lambda *_: None)


def a_clear_that_carries_a_claim_twice(monkeypatch):
    honest = ClaimBook.build_entry

    def entry(book, claim, kind, *args, **fields):
        fields["transfers"] = tuple(
            replace(flow, amount_cents=flow.amount_cents * 2) if flow.source == CARRIED_OVER_ACCOUNT else flow
            for flow in fields.get("transfers", ())
        )
        return honest(book, claim, kind, *args, **fields)

    monkeypatch.setattr(ClaimBook, "build_entry", entry)
    monkeypatch.setattr(meters.clear, "_check_clearance", lambda *_: None)


def a_pot_that_pays_a_credit_too_many(monkeypatch):
    """Overpay a pot by one credit; the audit replays the game with the same rules and finds nothing."""
    honest = room_rules.award_pots

    def awards(*arguments):
        return {seat: replace(share, credits=share.credits + 1) for seat, share in honest(*arguments).items()}

    monkeypatch.setattr(room_rules, "award_pots", awards)


@pytest.mark.requirement("A-08", "E-13")
@pytest.mark.parametrize(
    ("plant", "setup", "script", "found"),
    [
        (
            coins_metered_into_a_hopper_that_is_not_there,
            replace(ONE, hopper=False),
            script_actions("coin", "coin", "coin", "coin"),
            "coins in the drop box: ",
        ),
        (
            games_ended_at_another_position,
            replace(ONE, positions=2),
            script_actions(*("bill", "play") * 4),
            "audit: ",
        ),
        pytest.param(
            a_machine_that_says_it_paid_more,
            replace(ONE, link=True),
            script_actions("bill", "game", *("play",) * 60),
            "linked",
            marks=pytest.mark.slow,
        ),
        (
            bills_taken_with_a_door_open,
            ONE,
            script_actions("bill", "door", *WAIT),
            r"audit: .* bill.escrow: the entry is not allowed while the machine is door_open",
        ),
        (
            decided_games_that_may_be_void,
            ONE,
            script_actions("bill", *WAIT, "play", "door", "menu", "menu"),
            "audit: .* the play may not be void: the game is decided",
        ),
        (
            games_that_are_called_defective,
            replace(ONE, games=("jacks-or-better-9-6",)),
            script_actions("bill", *WAIT, "play", "door", "menu", "menu"),
            "audit: .* the play may not be void: the game can be continued from its record",
        ),
        (
            any_credit_taken_for_a_remainder,
            ONE,
            script_actions("bill", *WAIT, "residual", *WAIT, "bill", *WAIT, "play"),
            "audit: .* the game is started for 5 cents, but the smallest stake here is 10000000 cents",
        ),
        pytest.param(
            a_key_that_restarts_a_working_generator,
            CabinetSetup(games=(), wheel=True),
            script_actions("bill", *WAIT, *("bet", "play", "language", "language", "key") * 20),
            "audit: .* the RNG is restarted, but no failed RNG or self-test was stored",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            a_key_that_serves_payments_last,
            replace(ONE, positions=2, hopper=False),
            script_actions(*("coin", "bill", "fault", "cash out", "language", "key") * 30),
            "the attendant's key cleared .* before the hand-pay at position",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            a_key_that_serves_its_own_position_only,
            replace(ONE, positions=2, hopper=False),
            script_actions(*("fault",) * 4, *("bill",) * 4, *WAIT),
            "StuckError: the machine does not become idle",
            marks=pytest.mark.slow,
        ),
        (
            bills_credited_as_another_amount,
            ONE,
            script_actions("bill", *WAIT, "cash out", *WAIT),
            "bills in at 1: ",
        ),
        pytest.param(
            a_collection_that_forgets_the_one_before,
            ONE,
            script_actions(*("bill", *WAIT, "menu", *("language",) * 125) * 5),
            "counted of the bill_box: ",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            a_pot_that_pays_a_credit_too_many,
            replace(ONE, positions=2, hopper=False, games=(HOLDEM,), gathering=HOLDEM),
            script_actions(*("round", *WAIT, *WAIT) * 3),
            r"round .*: the players lost -?\d+ credits, the venue kept \d+",
            marks=pytest.mark.slow,
        ),
        (
            credit_that_a_clear_forgets,
            ONE,
            script_actions("bill", *WAIT, "clear memory", *WAIT),
            "net win of the venue: ",
        ),
        (
            a_clear_that_carries_a_claim_twice,
            ONE,
            script_actions("bill", *WAIT, "clear memory", *WAIT),
            "net win of the venue: ",
        ),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_planted_fault_is_detected_by_a_world_or_its_audit(
    tmp_path, monkeypatch, plant, setup, script, found
):
    case = SimulationCase(1, setup, script)
    plant(monkeypatch)
    assert re.match(found, run_and_report(tmp_path / "planted", case)[1])
