"""Authorised memory clear: the decision on each claim (an amount or item that the old memory owes), and its effect.

The memory has two copies. If together they prove one history, what its last state owes is claimed. If they contradict
each other, the larger amount is proposed, and the two people who clear the memory choose the copy that is right. If
acknowledged entries are missing after the last readable one, each claim says so, because the missing entries may have
paid it; these people may then also decide that nothing is owed. The first entry of the new journal records every claim,
its amount in each copy, and the decision. The entries after it carry out the decisions.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final, Literal, cast

from egm.features.memory_clear.claim_book import ClearanceClaim
from egm.features.memory_clear.claims import list_claims
from egm.features.memory_clear.entries import TRANSFERS_UNPROVED, DecidedClaim, TransfersUnproved
from egm.features.memory_clear.evidence import MemoryEvidence
from egm.host.keys import HostKey
from egm.kernel.feature import Features
from egm.people import RecordedRoster
from egm.record_codec import to_json
from egm.staff.keys import StaffKey
from meters import Transaction
from meters.clear import Clearance, ClearRefused
from meters.salvage import JournalInspection, SalvagedJournal, inspect_journal
from meters.storage import Storage
from meters.transaction import JSON

#: Decision: the new journal carries the claim over.
DECISION_CARRIED: Final = "carried"
#: Decision: the claim was paid by hand.
DECISION_PAID: Final = "paid"
#: Decision: nothing is owed.
DECISION_ENDED: Final = "ended"

#: Whether entries after the last readable one are missing.
LaterEntriesStatus = Literal["none", "missing", "unknown"]
#: What a claim's text says about missing entries, by status.
_LATER_ENTRIES_TEXTS: Final = {
    "missing": "entries after it are missing",
    "unknown": "entries after it may be missing",
}


@dataclass(frozen=True, slots=True)
class ProposedClaim:
    """One claim (an amount or item that the old memory owes) on which the people who clear the memory must decide."""

    claim: ClearanceClaim
    """The claim as proposed; if the copies of the memory disagree, the one with the larger amount."""
    claim_by_copy: Mapping[str, ClearanceClaim]
    """The claim as each copy of the memory (``first``, ``second``) has it. A copy without the claim is absent."""
    is_proved: bool
    """Whether the two copies together prove that the claim was owed at the last entry that could be read."""
    later_entries_status: LaterEntriesStatus
    """Whether journal entries after the last readable one are missing.

    It is ``unknown`` if no journal head can be read that would show it.
    """

    @property
    def id(self) -> str:
        """Return the claim's id, which is the same in every copy of the memory."""
        return self.claim.id

    @property
    def evidence_status(self) -> str:
        """Return a text for the people who decide: how well the memory's copies prove the claim.

        It says that the claim cannot be read, that the copies disagree, or that later entries are (or may be) missing.
        """
        if not self.claim.is_readable:
            return "cannot be read"
        first_claim, second_claim = self.claim_by_copy.get("first"), self.claim_by_copy.get("second")
        copies_agree = first_claim is not None and first_claim.is_same_claim(second_claim)
        if not (self.is_proved or copies_agree):
            is_in_both_copies = first_claim is not None and second_claim is not None
            return "they disagree" if is_in_both_copies else f"only the {next(iter(self.claim_by_copy))} copy"
        if self.later_entries_status != "none":
            return _LATER_ENTRIES_TEXTS[self.later_entries_status]
        if copies_agree:
            return "good"
        return "one copy goes further" if first_claim or second_claim else "only the two together"

    @property
    def possible_decisions(self) -> tuple[str, ...]:
        """Return which decisions on the claim are possible: carried, paid by hand, or ended (nothing is owed).

        A claim can be ended if only one copy has it and it is not proved, or if it may have been paid in an entry that
        cannot be read.
        """
        is_in_one_copy = not self.is_proved and len(self.claim_by_copy) == 1
        may_have_been_paid = self.later_entries_status != "none" and self.claim.amount > 0
        return tuple(
            dict.fromkeys(
                (
                    *self.claim.possible_decisions,
                    *((DECISION_ENDED,) if is_in_one_copy or may_have_been_paid else ()),
                )
            )
        )

    def to_json(self) -> dict[str, JSON]:
        """Return the claim, and its amount in each copy of the old memory, as JSON for scripts."""
        claim_json: dict[str, JSON] = {
            "id": self.id,
            "amount": str(self.claim.amount),
            "says": dict(self.claim.details),
            "standing": self.evidence_status,
            "copies": {name: str(claim.amount) for name, claim in self.claim_by_copy.items()},
        }
        return claim_json


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimDecision:
    """The decision on one claim by the people who clear the memory."""

    decision: str
    """``carried``, ``paid`` or ``ended``."""
    paid_cents: int | None = None
    """The amount that was paid by hand, in minor units; None if the claim was not paid."""
    payer: str = ""
    """The person who paid by hand; empty if the claim was not paid."""
    followed_copy: str = ""
    """The copy of the memory whose amount counts, ``first`` or ``second``; empty if the copies agree."""


@dataclass(frozen=True, slots=True)
class ClaimInspection:
    """The result of inspecting a memory before it is cleared."""

    journal_inspection: JournalInspection[MemoryEvidence]
    """What could be read of the journal in each copy of the memory."""
    proposals: tuple[ProposedClaim, ...]
    """The claims on which a decision is needed."""
    carried_state_entry: Transaction | None
    """The new journal's entry that carries over the stored state that is part of no claim, or None."""

    @property
    def is_readable(self) -> bool:
        """Return whether at least one journal entry of the old memory can be read."""
        return bool(
            self.journal_inspection.first_reading.sequence or self.journal_inspection.second_reading.sequence
        )

    @property
    def newest_recorded_roster(self) -> RecordedRoster:
        """Return the newest staff roster that is recorded in either copy of the old memory."""
        salvaged_journals = (
            self.journal_inspection.first_reading,
            self.journal_inspection.second_reading,
            self.journal_inspection.best_reading,
        )
        recorded_rosters = (
            RecordedRoster.from_json(copy.ledger.state.get(StaffKey.ROSTER_CHANGE))
            for copy in salvaged_journals
        )
        return max(recorded_rosters, key=lambda recorded: recorded.last_change_number)


def inspect_claims(
    state_folder: Path,
    features: Features,
    *,
    second_folder: Path | None = None,
    storage: Storage | None = None,
) -> ClaimInspection:
    """Inspect a memory that is to be cleared, and return what it owes as claims. Change nothing.

    ``features`` are the features of the machine that wrote the memory. ``second_folder`` has the second copy, if
    that is not at its usual place.
    """
    inspection = inspect_journal(
        state_folder, second_folder=second_folder, storage=storage, create_visitor=MemoryEvidence
    )
    claims_by_copy = {
        name: _collect_claims(copy, features)[0]
        for name, copy in (("first", inspection.first_reading), ("second", inspection.second_reading))
    }
    claims, carried_state_entry = _collect_claims(inspection.best_reading, features)
    later_entries_status = _find_later_entries_status(inspection)
    if inspection.copies_agree:
        proposals = tuple(
            ProposedClaim(claim, _find_claim_by_copy(claims_by_copy, claim.id), True, later_entries_status)
            for claim in claims.values()
        )
    else:
        claim_ids = sorted({claim_id for copy in claims_by_copy.values() for claim_id in copy})
        proposals = tuple(
            _propose_larger_claim(_find_claim_by_copy(claims_by_copy, claim_id), later_entries_status)
            for claim_id in claim_ids
        )
    return ClaimInspection(inspection, proposals, carried_state_entry)


def _collect_claims(
    salvaged_journal: SalvagedJournal[MemoryEvidence], features: Features
) -> tuple[dict[str, ClearanceClaim], Transaction | None]:
    """Return what one copy of the old memory owes, and the entry that carries over its other state, or None.

    The claims are returned by id.
    """
    claims, carried_state_entry = list_claims(salvaged_journal, features)
    return {claim.id: claim for claim in claims}, carried_state_entry


def _find_claim_by_copy(
    claims_by_copy: Mapping[str, Mapping[str, ClearanceClaim]], claim_id: str
) -> dict[str, ClearanceClaim]:
    """Return one claim as each copy of the old memory has it, by the name of the copy.

    ``claim_id`` is the claim's id. A copy that does not have the claim is left out.
    """
    return {name: copy[claim_id] for name, copy in claims_by_copy.items() if claim_id in copy}


def _find_later_entries_status(inspection: JournalInspection[MemoryEvidence]) -> LaterEntriesStatus:
    """Return whether the machine had acknowledged journal entries after the last one that can be read.

    ``unknown`` if it cannot be determined what the machine had acknowledged.
    """
    if not inspection.acknowledged_sequence:
        return "unknown"
    return "missing" if inspection.acknowledged_sequence > inspection.best_reading.sequence else "none"


def _propose_larger_claim(
    claim_by_copy: dict[str, ClearanceClaim], later_entries_status: LaterEntriesStatus
) -> ProposedClaim:
    """Return a claim on which the copies of the memory disagree, with the larger amount proposed."""
    return ProposedClaim(
        max(claim_by_copy.values(), key=lambda claim: claim.amount),
        claim_by_copy,
        False,
        later_entries_status,
    )


def prepare_clearance(
    claim_inspection: ClaimInspection,
    decision_by_claim_id: Mapping[str, ClaimDecision],
    *,
    person: str,
    second_person: str,
    reason: str,
    challenge: str,
    authentication_method: str = "",
) -> Clearance:
    """Return the memory clear that carries out the decision on each claim.

    ``decision_by_claim_id`` are the two persons' decisions by claim id. ``challenge`` is the code of the
    inspection that they have read. ``authentication_method`` says how they were authenticated. Raises
    :class:`ClearRefused`, which names the claims, if a decision is missing or not possible.
    """
    unknown_ids = sorted(
        decision_by_claim_id.keys() - {proposal.id for proposal in claim_inspection.proposals}
    )
    if unknown_ids:
        raise ClearRefused(
            f"there is no claim {', '.join(unknown_ids)}: list the claims again with `egm audit inspect`"
        )
    undecided_ids = [
        proposal.id for proposal in claim_inspection.proposals if proposal.id not in decision_by_claim_id
    ]
    if undecided_ids:
        raise ClearRefused(f"these claims are neither settled nor carried over: {', '.join(undecided_ids)}")
    opening_transaction_by_id: dict[str, Transaction] = {}
    decided_claims: list[JSON] = []
    for proposal in claim_inspection.proposals:
        decision = decision_by_claim_id[proposal.id]
        claim = _choose_claim_of_copy(proposal, decision)
        entries = _list_opening_entries(claim, proposal, decision)
        opening_transaction_by_id.update({entry.id: entry for entry in entries})
        decided_claims.append(to_json(_describe_decision(proposal, decision, entries)))
    carried_state_entries = (
        () if claim_inspection.carried_state_entry is None else (claim_inspection.carried_state_entry,)
    )
    inspection = claim_inspection.journal_inspection
    salvaged_journals = (inspection.first_reading, inspection.second_reading, inspection.best_reading)
    return Clearance(
        person=person,
        second_person=second_person,
        reason=reason,
        challenge=challenge,
        opening_transactions=(
            *carried_state_entries,
            *opening_transaction_by_id.values(),
            *_list_transfer_blocking_entries(claim_inspection),
        ),
        claims_record={
            "claims": decided_claims,
            "roster": authentication_method,
            "complete": inspection.is_complete,
        },
        accounted_credit_cents=inspection.best_reading.credits_cents
        if inspection.copies_agree
        else max(copy.credits_cents for copy in salvaged_journals),
    )


def _choose_claim_of_copy(proposal: ProposedClaim, decision: ClaimDecision) -> ClearanceClaim:
    """Return the claim to follow: as stored in the memory copy that the decision names, or else the proposed one.

    Raises :class:`ClearRefused` if the decision must name a copy and does not, or names one that cannot be chosen.
    """
    if not decision.followed_copy:
        if proposal.evidence_status == "they disagree":
            raise ClearRefused(f"{proposal.id}: the copies disagree; name the copy whose claim is right")
        return proposal.claim
    if proposal.is_proved or decision.followed_copy not in proposal.claim_by_copy:
        raise ClearRefused(
            f"{proposal.id}: the {decision.followed_copy} copy cannot be chosen: the claim is proved, or "
            "that copy lacks it"
        )
    return proposal.claim_by_copy[decision.followed_copy]


def _list_opening_entries(
    claim: ClearanceClaim, proposal: ProposedClaim, decision: ClaimDecision
) -> tuple[Transaction, ...]:
    """Return the entries for the new journal that carry out the decision on a claim.

    They carry the claim over, pay it or end it. Raises :class:`ClearRefused` if the decision is not possible.
    """
    if decision.decision not in proposal.possible_decisions:
        raise ClearRefused(
            f"{claim.id}: it can be {' or '.join(proposal.possible_decisions)}, not {decision.decision!r}"
        )
    if decision.decision == DECISION_CARRIED:
        return claim.carry_entries
    if decision.decision == DECISION_ENDED:
        return claim.end_entries or claim.fallback_end_entries
    payment_min_cents = claim.amount if claim.payment_min_cents is None else Fraction(claim.payment_min_cents)
    if decision.paid_cents is None or not payment_min_cents <= decision.paid_cents <= claim.amount:
        owed_text = (
            str(claim.amount)
            if payment_min_cents == claim.amount
            else f"{payment_min_cents} to {claim.amount}"
        )
        raise ClearRefused(f"{claim.id}: {owed_text} cents are owed, {decision.paid_cents} were paid")
    if not decision.payer.strip():
        raise ClearRefused(f"{claim.id}: the person who paid it is missing")
    return () if claim.build_paid_entries is None else claim.build_paid_entries(decision.paid_cents)


def _describe_decision(
    proposal: ProposedClaim, decision: ClaimDecision, entries: Iterable[Transaction]
) -> DecidedClaim:
    """Return the part of the new journal's first entry that records a claim and the decision on it.

    ``entries`` are the entries that carry out the decision.
    """
    is_paid = decision.decision == DECISION_PAID
    return DecidedClaim(
        id=proposal.id,
        amount=str(proposal.claim.amount),
        details=proposal.claim.details,
        evidence_status=proposal.evidence_status,
        amount_by_copy={name: str(claim.amount) for name, claim in proposal.claim_by_copy.items()},
        decision=cast(Literal["carried", "paid", "ended"], decision.decision),
        followed_copy=decision.followed_copy,
        paid_cents=decision.paid_cents if is_paid else None,
        payer=decision.payer if is_paid else "",
        entry_ids=tuple(entry.id for entry in entries),
    )


def _list_transfer_blocking_entries(claim_inspection: ClaimInspection) -> tuple[Transaction, ...]:
    """Return the new journal's entry that blocks host transfers until the host registers the machine, in a tuple.

    Empty if the old memory is proved to have all its journal entries.
    """
    if claim_inspection.journal_inspection.is_complete:
        return ()
    salvaged_journal = claim_inspection.journal_inspection.best_reading
    return (
        Transaction(
            id=f"clear.unproved-{salvaged_journal.head_hex[:8]}",
            kind=TRANSFERS_UNPROVED.kind,
            state={HostKey.TRANSFER_IDENTIFIERS_LOST: True, HostKey.REGISTRATION: None},
            record=to_json(
                TransfersUnproved(
                    last_acknowledged_sequence=claim_inspection.journal_inspection.acknowledged_sequence,
                    last_read_sequence=salvaged_journal.sequence,
                )
            ),
        ),
    )
