"""Implausible claims and payments: held until two people have ruled on them.

A claim is held if one wager has hit a level more often than the level file allows, or if a machine has hit it
more often than its hit rate explains. A payment is plausible if it is between the award and the amount that the
machine showed when the level was hit. If a payment is not plausible, only the award is charged to the level; the
operator bears the difference, unless two people rule, with a reason, that the level bears it.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Final

from egm.errors import OperatorError
from egm.progressive.messages import Claim, PaymentReport
from tools.floor.progressive.improbable_hits import is_improbable
from tools.floor.progressive.records import ClaimRecord, HeldMessage, LevelRecord
from tools.floor.progressive.store import Session

#: The ruling that a claim is awarded, or a payment accepted.
RULING_AWARD: Final = "award"
#: The ruling that a claim is not awarded, or a payment not accepted.
RULING_DECLINE: Final = "decline"
#: The longest reason of a ruling, in characters.
RULING_REASON_LENGTH_MAX: Final = 400
#: The number of persons who must rule.
_RULING_PERSON_COUNT: Final = 2


class RulingError(OperatorError):
    """Raised if a ruling is not possible; the text names the claim and the reason."""


def find_reason_to_hold_claim(session: Session, record: LevelRecord, claim: Claim) -> str:
    """Return why a claim of a progressive hit must be held for a ruling, or "" if it can be awarded."""
    winning_contributions = session.list_winning_contributions(claim.machine, claim.level_id)
    if winning_contributions.count(claim.contribution_number) >= record.hits_per_wager_max:
        return (
            f"contribution {claim.contribution_number} has already won level {record.id} "
            f"{record.hits_per_wager_max} times, which is the maximum"
        )
    hit_numbers = tuple(sorted({*winning_contributions, claim.contribution_number}))
    hits_per_wager = record.hit_rate + sum(record.hit_rate_by_share.values())
    if is_improbable(hit_numbers, hits_per_wager):
        return (
            f"{len(hit_numbers)} of {hit_numbers[-1]} wagers won the level, "
            f"which is improbable at {hits_per_wager} hits per wager"
        )
    return ""


def find_payment_error(record: LevelRecord, hit: ClaimRecord, paid_cents: int) -> str:
    """Return why a payment that a machine reports for a hit is implausible, or "" if it is plausible.

    A plausible payment is between the award and the amount that the machine showed. The machine's own statement of
    the amount shown is limited to the highest amount that the level ever had; if the hit was for a share of the level,
    to that share of the highest amount.
    """
    shown_cents = min(hit.shown_cents, int(record.peak_cents * Fraction(hit.won_share or 1)))
    plausible_min_cents, plausible_max_cents = sorted((hit.amount_cents, shown_cents))
    if plausible_min_cents <= paid_cents <= plausible_max_cents:
        return ""
    return f"the machine paid {paid_cents}; the award was {hit.amount_cents}, and it can have shown {shown_cents}"


def format_payment_id(claim_id: str) -> str:
    """Return the id under which a payment of the claim is held for a ruling; it differs from every claim's id."""
    return f"{claim_id}/payment"


def hold_message(
    session: Session, held_id: str, message: Claim | PaymentReport, hold_reason: str, time_text: str
) -> None:
    """Store a progressive claim or payment as held; it waits until staff have ruled on it."""
    content = message.model_dump(mode="json", by_alias=True)
    session.put_held_message(
        HeldMessage(claim_id=held_id, message=content, hold_reason=hold_reason, held_at=time_text)
    )


def find_held_message_to_rule_on(session: Session, claim_id: str) -> HeldMessage:
    """Return the held claim or payment with this id. Raises :class:`RulingError` if none waits for a ruling."""
    held_message = session.find_held_message(claim_id)
    if held_message is None or held_message.ruling:
        raise RulingError(f"claim {claim_id} is not waiting for a ruling")
    return held_message


def rule_on_held_message(
    session: Session, claim_id: str, ruling: str, persons: tuple[str, ...], reason: str, time_text: str
) -> HeldMessage:
    """Store the ruling ``award`` or ``decline`` on a held claim or payment, and return the record.

    If the ruling is ``award``: when the machine next repeats the claim, it is awarded the amount that the level then
    shows; a payment is accepted, and the level bears it. Raises :class:`RulingError`.
    """
    held_message = find_held_message_to_rule_on(session, claim_id)
    if ruling not in {RULING_AWARD, RULING_DECLINE}:
        raise RulingError(f"claim {claim_id}: a ruling is {RULING_AWARD} or {RULING_DECLINE}, not {ruling!r}")
    if len({name.strip() for name in persons} - {""}) < _RULING_PERSON_COUNT or not reason.strip():
        raise RulingError(f"claim {claim_id}: a ruling needs two people and a reason")
    if len(reason) > RULING_REASON_LENGTH_MAX:
        raise RulingError(
            f"claim {claim_id}: the reason has {len(reason)} characters; at most {RULING_REASON_LENGTH_MAX}"
        )
    ruled_message = replace(held_message, ruling=ruling, persons=persons, reason=reason, ruled_at=time_text)
    session.put_held_message(ruled_message)
    session.record_event(
        time_text, "ruled", claim=claim_id, ruling=ruling, persons=list(persons), reason=reason
    )
    return ruled_message
