"""Prizes reported by a controller that the machine cannot verify: they are held until two people rule on them.

For a mystery prize, the revealed secret must match the commitment received earlier, and its increment, stake,
ceiling and start must agree with this machine's terms. The amount for a hit must be between the level's base and its
ceiling, and near the amount that the level has shown. Any other report is not paid automatically: it is stored
under :attr:`ProgressiveKey.HELD_PRIZE`, locks the machine and calls staff. Two people then accept or decline it; the
journal entry names them, their reason, and why the report could not be verified.
"""

from dataclasses import asdict, replace
from typing import Final, Literal

from egm.features.memory_clear.records import find_earlier_commitment
from egm.kernel.active_faults import raise_fault
from egm.kernel.events import Event
from egm.kernel.keys import KernelKey
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import refusal_code
from egm.progressive.display import LevelAmountSources
from egm.progressive.entries import PRIZE_COMMITTED, PRIZE_HELD, PRIZE_RULED, LevelRuling, PrizeHeld
from egm.progressive.events import HeldPrizeRulingForm
from egm.progressive.keys import ProgressiveKey
from egm.progressive.level_views import read_displayed_amount
from egm.progressive.messages import MysteryPrizeMessage
from egm.progressive.pools import ProgressivePool, ProgressivePools
from egm.progressive.records import ClaimRecord, CommittedPrize, HeldPrize, ReceivedCommitment
from egm.record_codec import from_json
from egm.staff.events import are_texts_filled_in
from egm.staff.form import build_ruling_details

#: The fault that locks the machine while a controller's message waits for a ruling.
HELD_PRIZE_FAULT: Final = "progressive_unproved"
#: Ruling: the prize is paid.
DECISION_PAY: Final = "pay"
#: Ruling: the prize is declined.
DECISION_DECLINE: Final = "decline"


# ------------------------------------------------------------------------------------ verification of reports
def find_received_commitment(machine: PositionMachine, pool_id: str, prize_number: int) -> str | None:
    """Return the first received commitment to mystery prize ``prize_number`` of a level; None if none was received."""
    first_commitment = None
    for entry in machine.journal.entries(PRIZE_COMMITTED.kind, newest_first=True):
        record = from_json(ReceivedCommitment, entry.record, f"entry {entry.sequence}, {entry.kind}")
        if record.pool_id != pool_id:
            continue
        if record.prize_number < prize_number:
            break
        if record.prize_number == prize_number:
            first_commitment = record.commitment
    return find_earlier_commitment(machine.journal, pool_id, prize_number) or first_commitment


def find_reason_to_doubt_prize(machine: PositionMachine, pool_id: str, prize: MysteryPrizeMessage) -> str:
    """Return why a reported mystery prize cannot be verified; empty if it is verified."""
    trigger, pool = prize.trigger, machine.component(ProgressivePools).pool_by_id.get(pool_id)
    commitment = find_received_commitment(machine, pool_id, trigger.prize_number)
    if trigger.level_id != pool_id or pool is None:
        return f"the message has the secret of level {trigger.level_id}"
    if commitment is None:
        return f"no commitment to prize {trigger.prize_number} was received"
    if commitment != trigger.commitment:
        return f"the secret of prize {trigger.prize_number} is not the one that was committed to"
    return _find_reason_to_doubt_terms(pool, prize)


def _find_reason_to_doubt_terms(pool: ProgressivePool, prize: MysteryPrizeMessage) -> str:
    """Return how a mystery prize's secret amount contradicts this machine's terms of the level, or an empty string."""
    trigger, terms = prize.trigger, pool.definition.terms
    step_amount = pool.definition.stake_and_hit_rate.stake_cents * terms.increment
    if (trigger.step_amount, trigger.ceiling_cents) != (step_amount, terms.ceiling_cents):
        own_terms_text = f"here by {step_amount} to {terms.ceiling_cents}"
        return f"it grows by {trigger.step_amount} to {trigger.ceiling_cents}; {own_terms_text}"
    if not terms.base_cents <= trigger.start_amount <= trigger.ceiling_cents:
        return f"it starts from {trigger.start_amount}; here from {terms.base_cents}"
    if not int(trigger.trigger_amount) <= prize.amount_cents <= trigger.ceiling_cents:
        return f"{prize.amount_cents} was not won at {trigger.trigger_amount}"
    return ""


def find_reason_to_doubt_award(machine: PositionMachine, claim: ClaimRecord, amount_cents: int) -> str:
    """Return why the amount that the controller awards for a hit is not credible; empty if it is credible.

    It may not be below the level's base or above its ceiling. Nor can it exceed what the level showed at the hit or
    shows now by more than the base, because a claim is sent only after the level was received on the same connection.
    """
    pool = machine.component(ProgressivePools).pool_by_id.get(claim.pool_id)
    if pool is None:
        return f"this machine has no level {claim.pool_id}"
    terms, share = pool.definition.terms, claim.won_share or 1
    share_text = "" if share == 1 else f"{share} of "
    if amount_cents < int(terms.base_cents * share):
        return f"{amount_cents} is less than {share_text}the base, {terms.base_cents}"
    if terms.ceiling_cents is not None and amount_cents > terms.ceiling_cents * share:
        return f"{amount_cents} is more than {share_text}the ceiling, {terms.ceiling_cents}"
    shown_cents = _find_shown_cents(machine, pool) * share
    amount_max_cents = int(max(claim.shown_cents, shown_cents) + terms.base_cents * share)
    if amount_cents > amount_max_cents:
        return f"{amount_cents} is more than the level can have reached, {amount_max_cents}"
    return ""


def _find_shown_cents(machine: PositionMachine, pool: ProgressivePool) -> int:
    """Return the amount that a linked level shows now; 0 if there is no link."""
    return (
        0
        if machine.component(LevelAmountSources).link is None
        else read_displayed_amount(machine, pool).amount_cents
    )


# ---------------------------------------------------------------------------------------------- held prizes
def hold_prize(machine: PositionMachine, claim_id: str, held_prize: HeldPrize) -> None:
    """Store a reported prize that cannot be verified, lock the machine, and call two people to rule on it.

    A repeated report only calls them again.
    """
    key = f"{ProgressiveKey.HELD_PRIZE}{claim_id}"
    if machine.journal.state(key) is None:
        machine.post(PRIZE_HELD, PrizeHeld(claim_id=claim_id, **asdict(held_prize)), state={key: held_prize})
    if is_prize_held(machine, claim_id):
        raise_fault(machine, HELD_PRIZE_FAULT, detail=held_prize.reason)


def is_prize_held(machine: PositionMachine, claim_id: str) -> bool:
    """Return whether a progressive claim is held until persons have ruled on it."""
    return claim_id in list_held_prizes(machine)


def list_held_prizes(machine: PositionMachine) -> dict[str, HeldPrize]:
    """Return the prizes that are held for a ruling, by the id of their claim."""
    held_prizes = machine.memory.read_all(HeldPrize, ProgressiveKey.HELD_PRIZE)
    return {claim_id: prize for claim_id, prize in held_prizes.items() if prize.ruling is None}


# ---------------------------------------------------------------------------------------------- the ruling
def _list_unanswerable_claims(machine: PositionMachine) -> list[str]:
    """Return the ids of the open claims on which staff may rule without a reply of the controller.

    They are the claims without a locked amount to levels that are no longer in the cabinet file, and those of
    the game that waits for an award.
    """
    awaiting_play_id = machine.memory.get(ProgressiveKey.GAME_AWAITING_AWARD)
    return [
        claim_id
        for claim_id, claim in machine.memory.read_all(ClaimRecord, ProgressiveKey.CLAIM).items()
        if claim.amount_cents is None
        and claim.payment_method is None
        and (
            claim.pool_id not in machine.component(ProgressivePools).pool_by_id
            or claim.play_id == awaiting_play_id
        )
    ]


@refusal_code("prize_is_held")
def held_prize_can_be_ruled_on(machine: PositionMachine, _: Event) -> bool:
    """Return whether a prize is held for a ruling, or staff may rule on an open claim without the controller."""
    return bool(list_held_prizes(machine) or _list_unanswerable_claims(machine))


@refusal_code("stated_amount_is_payable")
def ruling_on_prize_can_be_carried_out(machine: PositionMachine, event: Event) -> bool:
    """Return whether the form's ruling can be carried out.

    It can if it declines the prize, or if the controller has reported a payable amount. A claim that no
    controller answers can only be declined; the hit then pays the amount that the machine showed.
    """
    return event.read_payload(HeldPrizeRulingForm).decision != DECISION_PAY or bool(list_held_prizes(machine))


def prize_ruling_is_complete(_: PositionMachine, event: Event) -> bool:
    """Return whether the form that rules on a progressive prize states a decision and a reason."""
    return are_texts_filled_in(
        event.read_payload(HeldPrizeRulingForm).decision, event.read_payload(HeldPrizeRulingForm).reason
    )


def _read_prize_decision(event: Event) -> Literal["pay", "decline"]:
    """Return what the form on a held prize decides: to pay it or to decline it."""
    return (
        DECISION_PAY if event.read_payload(HeldPrizeRulingForm).decision == DECISION_PAY else DECISION_DECLINE
    )


def rule_on_prize(machine: PositionMachine, event: Event) -> None:
    """Apply the ruling of two people on the first held prize: it is paid by hand, or declined.

    If no prize is held, it is the ruling on the first open claim on which staff may rule without the
    controller. A declined mystery prize returns to its level. A declined amount of a hit by a game's outcome is
    replaced by the amount that the machine showed at the hit, which is paid by hand.
    """
    decision, held_prize_by_claim_id = _read_prize_decision(event), list_held_prizes(machine)
    claim_id = next(iter(held_prize_by_claim_id or _list_unanswerable_claims(machine)))
    held_prize = held_prize_by_claim_id.get(claim_id)
    claim = machine.memory.read(ClaimRecord, f"{ProgressiveKey.CLAIM}{claim_id}")
    state: dict[str, object] = {}
    ruling = LevelRuling(**build_ruling_details(machine, event), claim_id=claim_id, decision=decision)
    if held_prize is not None:
        ruling = replace(
            ruling,
            pool_id=held_prize.pool_id,
            play_id=held_prize.play_id,
            amount_cents=held_prize.amount_cents,
            doubt_reason=held_prize.reason,
        )
    lacks_amount = claim is not None and claim.payment_method is None and claim.amount_cents is None
    if held_prize is not None:  # a hit that has been settled or voided meanwhile needs nothing more
        is_settled = lacks_amount or held_prize.prize_report is None
        state[f"{ProgressiveKey.HELD_PRIZE}{claim_id}"] = (
            None if is_settled else replace(held_prize, ruling=decision)
        )
    if (
        claim is not None and lacks_amount
    ):  # a hit by the game's outcome is owed: the ruling decides the amount
        awarded_cents = (
            held_prize.amount_cents
            if held_prize is not None and decision == DECISION_PAY
            else claim.shown_cents
        )
        state[f"{ProgressiveKey.CLAIM}{claim_id}"] = replace(
            claim, amount_cents=awarded_cents, is_settled_by_staff=True
        )
        ruling = replace(ruling, pool_id=claim.pool_id, play_id=claim.play_id, awarded_cents=awarded_cents)
    if len(held_prize_by_claim_id) <= 1:
        state[f"{KernelKey.FAULT}{HELD_PRIZE_FAULT}"] = None
    machine.post(PRIZE_RULED, ruling, state=state)


def record_commitment_or_get_error(
    machine: PositionMachine, pool_id: str, prize_number: int, commitment: str
) -> str:
    """Record the commitment to a mystery prize's secret amount when it is first received.

    Return an error text if another commitment to the same prize was received before; otherwise an empty string.
    """
    key = f"{ProgressiveKey.PRIZE_COMMITMENT}{pool_id}"
    committed_prize = CommittedPrize(prize_number=prize_number, commitment=commitment)
    if machine.memory.read(CommittedPrize, key) == committed_prize:
        return ""
    received_commitment = find_received_commitment(machine, pool_id, prize_number)
    if received_commitment is None:
        machine.post(
            PRIZE_COMMITTED,
            ReceivedCommitment(pool_id=pool_id, prize_number=prize_number, commitment=commitment),
            state={key: committed_prize},
        )
        return ""
    return (
        ""
        if received_commitment == commitment
        else f"{pool_id}: another commitment to prize {prize_number} than the one received before"
    )


def is_prize_recorded(machine: PositionMachine, prize: MysteryPrizeMessage) -> bool:
    """Return whether the machine has recorded a reported mystery prize: as paid, held, returned or not its own."""
    is_held = machine.journal.state(f"{ProgressiveKey.HELD_PRIZE}{prize.claim_id}") is not None
    return is_held or is_prize_report_closed(machine, prize)


def is_prize_report_closed(machine: PositionMachine, prize: MysteryPrizeMessage) -> bool:
    """Return whether a journal entry closes the report of a mystery prize: as paid, returned or not this machine's."""
    entry_ids = build_prize_entry_id(prize.claim_id), build_foreign_prize_entry_id(prize)
    return any(machine.journal.has_entry(entry_id) for entry_id in entry_ids)


def build_prize_entry_id(claim_id: str) -> str:
    """Return the id of the journal entry of a mystery prize that a wager of this machine has won."""
    return f"{claim_id}.won"


def build_foreign_prize_entry_id(prize: MysteryPrizeMessage) -> str:
    """Return the id of the journal entry of a reported mystery prize that no wager of this machine has won.

    It names the reported contribution: if the controller corrects its report, the prize is paid under the same claim.
    """
    return f"{prize.claim_id}.not_ours-{prize.contribution_number}"
