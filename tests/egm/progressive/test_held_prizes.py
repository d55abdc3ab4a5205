"""Mystery prizes that a machine cannot verify: reported repeatedly, several at once, of a void game, or falsely.

Each report of the controller is handled as an event, without a link.
"""

import copy
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from rigs.forms import TWO, fill_in
from rigs.lies import audit_findings, read_signed_entries
from rigs.three_levels import (
    GAME,
    LINKED_MYSTERY,
    MYSTERY_TERMS,
    NO_LUCK,
    STAKE,
    B,
    C,
    FixedDisplays,
    make_levels_machine,
)

from egm.kernel.events import Event, EventType, State
from egm.money.keys import MoneyKey
from egm.progressive.display import LevelAmountSources
from egm.progressive.events import MysteryPrizeReport
from egm.progressive.held_prizes import record_commitment_or_get_error
from egm.progressive.keys import ProgressiveKey
from egm.progressive.messages import MysteryPrizeMessage
from egm.progressive.trigger import MysteryTrigger
from egm.testing.machine import GeneratorOutOfService
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

POOL, PRIZE_CENTS = "LUCKY", 501
SHELF = GameFiles([GAME.parent])


class DecidedLevel(FixedDisplays):
    """A linked level whose controller has decided every contribution."""

    def find_last_decided_number(self, pool):
        return 99


def machine_of(folder, *numbers):
    rig = make_levels_machine(folder / "state", *numbers, levels=LINKED_MYSTERY)
    rig.machine.component(LevelAmountSources).link = DecidedLevel()
    return rig.boot().insert(2000)


def secret_of(number):
    return MysteryTrigger(
        level_id=POOL,
        prize_number=number,
        start_amount=Fraction(500),
        step_amount=STAKE * MYSTERY_TERMS.increment,
        ceiling_cents=550,
        drawn_point=0,
        salt=f"{7:064x}",
    )


def commit(rig, number=1):
    """Receive the controller's commitment to the prize."""
    assert record_commitment_or_get_error(rig.machine, POOL, number, secret_of(number).commitment) == ""


def report(rig, number=1):
    """Receive the controller's report that contribution ``number`` has won prize ``number``."""
    won = MysteryPrizeMessage(
        claim=f"claim-{number}",
        sequence=number,
        amount_cents=PRIZE_CENTS,
        order=number,
        trigger=secret_of(number).to_json(),
    )
    rig.engine.submit(Event(EventType.MYSTERY_PRIZE_WON, MysteryPrizeReport(level_id=POOL, won_prize=won)))
    return rig


def play(rig):
    rig.play()
    rig.report_shown()
    assert rig.state is State.IDLE
    return rig


def rule(rig, decision):
    return fill_in(rig, "prize_ruling", decision=decision, reason="asked the operator", **TWO)


def pay_by_hand(rig):
    assert rig.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"] == PRIZE_CENTS
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")


def void_game(rig):
    rig.machine.random_service = GeneratorOutOfService()
    rig.engine.handle(EventType.CHOOSE, value=1)
    fill_in(rig, "refund_game", reason="its generator failed", **TWO)
    assert rig.records("game.void")


def findings(rig):
    return [finding.text for finding in Auditor(SHELF).audit_entries(rig.journal.iter_bodies()).findings]


@pytest.mark.requirement("I-07", "I-15")
@pytest.mark.parametrize("is_game_open", [True, False], ids=["game open", "game over"])
@pytest.mark.parametrize("decision", ["pay", "decline"])
def test_a_held_prize_that_is_reported_again_and_proved_waits_for_its_ruling(
    tmp_path, decision, is_game_open
):
    """Regression: the machine added it to its game, and could handle no event after the ruling."""
    rig = machine_of(tmp_path, B, NO_LUCK)
    if is_game_open:
        rig.play()
    else:
        play(rig)
    report(rig)
    commit(rig)
    report(rig)
    assert (rig.state, rig.records("progressive.won")) == (State.TILT, [])
    rule(rig, decision)
    report(rig)
    if is_game_open:
        rig.report_shown()
    if decision == "pay":
        pay_by_hand(rig)
    report(rig)
    assert rig.state is State.IDLE
    assert [record["late"] for record in rig.records("progressive.won")] == [
        "hand" if decision == "pay" else "declined"
    ]
    assert not rig.journal.states(ProgressiveKey.HELD_PRIZE)
    assert findings(rig) == []
    rig.close()


@pytest.mark.requirement("I-11", "E-13")
@pytest.mark.parametrize("is_proved", [True, False], ids=["proved", "not proved"])
def test_the_audit_accepts_the_return_of_a_void_games_prize(tmp_path, is_proved):
    rig = machine_of(tmp_path, C)
    if is_proved:
        commit(rig)
    rig.play()
    void_game(rig)
    report(rig)
    (won,) = rig.records("progressive.won")
    assert (won["late"], won["proved"], rig.credit_cents) == ("void", is_proved, 2000)
    assert findings(rig) == []
    rig.close()


@pytest.mark.requirement("I-11", "I-15")
@pytest.mark.parametrize("decision", ["pay", "decline"])
def test_the_audit_accepts_a_ruling_on_a_prize_whose_game_is_void_since(tmp_path, decision):
    rig = machine_of(tmp_path, C)
    rig.play()
    report(rig)
    rule(rig, decision)
    void_game(rig)
    if decision == "pay":
        pay_by_hand(rig)
    assert not rig.journal.states(ProgressiveKey.HELD_PRIZE)
    assert findings(rig) == []
    rig.close()


def hold_two_prizes(folder):
    rig = play(play(machine_of(folder, *(B, NO_LUCK) * 2)))
    return report(report(rig, 1), 2)


def rule_on_two_prizes(folder):
    rig = hold_two_prizes(folder)
    rule(rig, "decline")
    rule(rig, "pay")
    pay_by_hand(rig)
    return rig


def pay_proved_prize(folder):
    rig = machine_of(folder, B, NO_LUCK)
    commit(rig)
    play(rig)
    pay_by_hand(report(rig))
    return rig


@pytest.mark.requirement("I-15", "E-13")
def test_each_of_two_held_prizes_is_ruled_on_and_paid_by_itself(tmp_path):
    rig = hold_two_prizes(tmp_path)
    rule(rig, "pay")
    assert list(rig.machine.active_faults) == ["progressive_unproved"]
    rule(rig, "pay")
    assert not rig.machine.active_faults
    pay_by_hand(rig)
    pay_by_hand(rig)
    assert rig.state is State.IDLE
    assert findings(rig) == []
    rig.close()


@cache
def honest_entries(session):
    with TemporaryDirectory() as folder:
        return read_signed_entries(session(Path(folder)), SHELF)


def write(name, value):
    """Return a change that replaces one member of the entry's record."""

    def change(raw):
        raw["record"][name] = value

    return change


def keep_held(raw):
    del raw["state"]["held:claim-2"]


def remove_held(raw):
    raw["state"]["held:claim-1"] = None


def find_held_prize(raw):
    """Return the storage key of the held prize that the entry stores, with the prize."""
    return next((key, value) for key, value in raw["state"].items() if key.startswith("held:"))


def store_another_ruling(raw):
    _, prize = find_held_prize(raw)
    prize["ruling"] = "pay" if prize["ruling"] == "decline" else "decline"


def rule_otherwise(raw):
    store_another_ruling(raw)
    raw["record"]["decision"] = "pay" if raw["record"]["decision"] == "decline" else "decline"


def rule_on_no_prize(raw):
    """Change the ruling so that it clears the fault but does not settle the held prize."""
    del raw["state"][find_held_prize(raw)[0]]
    for name in ("pool", "play_id", "amount_cents", "why"):
        del raw["record"][name]
    raw["record"]["claim"] = "claim-9"


def clear_fault(raw):
    raw["state"]["fault:progressive_unproved"] = None


HELD, RULED, WON = "progressive.held", "progressive.ruled", "progressive.won"
#: Session, kind and number of the altered entry, its change, kind of the entry named by the audit, finding.
LIES = [
    (rule_on_two_prizes, HELD, 0, write("amount_cents", 1), HELD, "record does not match the held prize"),
    (rule_on_two_prizes, RULED, 0, write("claim", "claim-9"), RULED, "claim claim-9 awaits a ruling"),
    (rule_on_two_prizes, RULED, 1, write("claim", "claim-1"), RULED, "claim claim-1 awaits a ruling"),
    (rule_on_two_prizes, RULED, 1, rule_on_no_prize, RULED, "claim claim-9 awaits a ruling"),
    (
        rule_on_two_prizes,
        RULED,
        0,
        write("amount_cents", 1),
        RULED,
        "does not match the held prize or the claim",
    ),
    (rule_on_two_prizes, RULED, 0, write("persons", ["2"]), RULED, "expected at least 2 people"),
    (rule_on_two_prizes, RULED, 0, store_another_ruling, RULED, "state: expected"),
    (rule_on_two_prizes, RULED, 0, clear_fault, RULED, "state: expected"),
    (rule_on_two_prizes, RULED, 1, rule_otherwise, WON, "does not follow the stored ruling on claim claim-2"),
    (rule_on_two_prizes, WON, 1, keep_held, WON, "the prize is held before this entry"),
    (pay_proved_prize, WON, 0, remove_held, WON, "the prize is not held before this entry"),
    (
        pay_proved_prize,
        WON,
        0,
        write("proved", False),
        WON,
        "is not verified (proved), and no ruling on it is stored",
    ),
]


@pytest.mark.requirement("E-13", "I-15")
@pytest.mark.parametrize(("session", "kind", "number", "change", "named", "finding"), LIES)
def test_a_lie_about_an_unproved_prize_is_named(session, kind, number, change, named, finding):
    entries = copy.deepcopy(honest_entries(session))

    def find_index(wanted):
        return [index for index, raw in enumerate(entries) if raw["kind"] == wanted][number]

    change(entries[find_index(kind)])
    assert finding in audit_findings(entries, SHELF)[find_index(named) + 1]
