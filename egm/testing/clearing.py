"""Build an authorised memory clear by two people for tests; by default every claim is carried over.

A claim is an amount that the machine owes at a memory clear. It is either carried over into the new journal or paid by
hand.
"""

from datetime import UTC, datetime
from pathlib import Path

from egm.app.features import FEATURES
from egm.features.memory_clear.carrying import (
    DECISION_CARRIED,
    DECISION_ENDED,
    DECISION_PAID,
    ClaimDecision,
    ClaimInspection,
    inspect_claims,
    prepare_clearance,
)
from egm.kernel.feature import Features
from meters.clear import Clearance, clear_memory

__all__ = [
    "CLEAR_PERSONS_AND_REASON",
    "DECISION_CARRIED",
    "DECISION_ENDED",
    "DECISION_PAID",
    "build_carried_decision",
    "build_clearance",
    "build_paid_decision",
    "clear_with_decisions",
]

#: The persons and the reason of a memory clear in tests.
CLEAR_PERSONS_AND_REASON = {
    "person": "A. Tremblay",
    "second_person": "B. Roy",
    "reason": "both copies damaged",
}


def read_clear_time() -> datetime:
    """Return the fixed time of every memory clear in tests."""
    return datetime(2026, 1, 1, tzinfo=UTC)


def build_carried_decision() -> ClaimDecision:
    """Return the decision of staff at a memory clear to carry a claim over into the new journal."""
    return ClaimDecision(decision=DECISION_CARRIED)


def build_paid_decision(cents: int) -> ClaimDecision:
    """Return the decision of staff at a memory clear that a claim was paid by hand."""
    return ClaimDecision(decision=DECISION_PAID, paid_cents=cents, payer="A. Tremblay")


def build_clearance(inspection: ClaimInspection, **decisions: ClaimDecision) -> Clearance:
    """Return a memory clear with the given decisions of the staff; every claim without a decision is carried over.

    ``decisions`` has a decision by claim id, with ``_`` for each colon in the id.
    """
    given_decision_by_claim = {name.replace("_", ":"): decision for name, decision in decisions.items()}
    decision_by_proposed_claim = {
        proposal.id: given_decision_by_claim.pop(proposal.id, build_carried_decision())
        for proposal in inspection.proposals
    }
    return prepare_clearance(
        inspection,
        {**decision_by_proposed_claim, **given_decision_by_claim},
        **CLEAR_PERSONS_AND_REASON,
        challenge=inspection.journal_inspection.challenge,
    )


def clear_with_decisions(
    folder: Path, second_folder: Path | None = None, features: Features = FEATURES, **decisions: ClaimDecision
) -> Path:
    """Clear a machine's memory with the given decisions on its claims; return the folder of the old memory.

    ``decisions`` has a decision by claim id, with ``_`` for each colon in the id.
    """
    return clear_memory(
        folder,
        build_clearance(inspect_claims(folder, features, second_folder=second_folder), **decisions),
        now=read_clear_time,
        second_folder=second_folder,
    )
