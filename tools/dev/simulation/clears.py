"""Authorised memory clears of a simulated machine.

A claim is an amount that the machine owes at a clear: it is carried over into the new journal, or paid by hand.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

from egm.app.features import FEATURES
from egm.features.memory_clear.carrying import (
    DECISION_CARRIED,
    DECISION_PAID,
    ClaimDecision,
    ClaimInspection,
    ProposedClaim,
    inspect_claims,
    prepare_clearance,
)
from egm.people import Roster
from egm.testing.forgetful import ForgetfulStorage
from meters.clear import clear_memory, finish_memory_clear, is_clear_unfinished
from meters.copies import SECOND_FOLDER
from meters.database import DATABASE_FILE_NAME as DATABASE_NAME
from meters.log import LOG_SUFFIX
from tools.cli.roster_entries import carry_over_roster
from tools.dev.simulation.history import SUMMED_ACCOUNTS, History, read_copy

if TYPE_CHECKING:
    from tools.dev.simulation.world import SimulatedWorld

#: Probability that a claim is paid by hand, if that is allowed, instead of carried over.
_PAID_BY_HAND_PROBABILITY: Final = 0.3
#: Probability of a power cut during a clear, and the maximum number of media operations before it.
_CUT_PROBABILITY: Final = 0.3
_OPERATIONS_BEFORE_CUT_MAX: Final = 40
#: Kinds of claims that do not depend on paper or coins in a device, so that they can be paid by hand.
_CLAIM_KINDS_WITHOUT_DEVICE: Final = frozenset({"credit", "handpay", "table", "game"})
_POSITION_PREFIX_PATTERN: Final = re.compile(r"^(\d+)/")


@dataclass(slots=True)
class MemoryClears:
    """The journals that ended with a memory clear, and the claims that were paid by hand, by kind."""

    histories: list[History] = field(default_factory=list)
    paid_by_hand_cents: Counter[str] = field(default_factory=Counter)

    def clear_memory(
        self,
        world: "SimulatedWorld",
        random_source: Random,
        shown_games: Collection[str],
        *,
        can_pay_by_hand: bool,
    ) -> dict[int, bool]:
        """Clear the memory of the stopped machine; if the power is cut meanwhile, finish the clear after it.

        ``shown_games`` has the games whose end a screen has shown. ``can_pay_by_hand``: claims may be paid by hand.
        Return, for each player position at which a hand-pay was owed, whether it was paid; otherwise it is owed under a
        new number.
        """
        folder = world.folder.root
        possible_histories = [read_copy(folder, world.now(), world.setup.positions, folder.parent)]
        if _damage_one_copy(folder, random_source):
            possible_histories.append(read_copy(folder, world.now(), world.setup.positions, folder.parent))
        ended_history = possible_histories[0]
        decisions: Mapping[str, ClaimDecision] = {}
        settled_handpays: dict[int, bool] = {}
        while True:
            storage = ForgetfulStorage(world.medium, world.random_bytes)
            if random_source.random() < _CUT_PROBABILITY:
                world.schedule_power_cut(random_source.randint(1, _OPERATIONS_BEFORE_CUT_MAX))
            try:
                if is_clear_unfinished(folder, storage):
                    finish_memory_clear(folder, now=world.now, storage=storage)
                else:
                    claim_inspection = inspect_claims(folder, FEATURES, storage=storage)
                    if not claim_inspection.journal_inspection.is_complete:  # at most one copy is damaged
                        copy_damages = (
                            claim_inspection.journal_inspection.first_reading.damage,
                            claim_inspection.journal_inspection.second_reading.damage,
                        )
                        raise RuntimeError(f"an inspection misses acknowledged entries: {copy_damages}")
                    ended_history = _choose_history(possible_histories, claim_inspection)
                    decisions = _decide_claims(
                        claim_inspection, random_source, shown_games, can_pay_by_hand=can_pay_by_hand
                    )
                    settled_handpays = {
                        _parse_position(proposal.id): decisions[proposal.id].decision == DECISION_PAID
                        for proposal in claim_inspection.proposals
                        if _parse_claim_kind(proposal.id) == "handpay"
                    }
                    clearance = prepare_clearance(
                        claim_inspection,
                        decisions,
                        person="1001",
                        second_person="1002",
                        reason="the memory is replaced",
                        challenge=claim_inspection.journal_inspection.challenge,
                        authentication_method="proved by PIN",
                    )
                    clear_memory(folder, clearance, now=world.now, storage=storage)
                    roster = Roster.load(world.folder.roster_file)
                    carry_over_roster(roster, folder, None, "", now=world.now, storage=storage)
            except Exception:
                if not world.medium.is_without_power:
                    raise
            finally:
                storage.close_open_files()
            if not world.recover_media():
                break
        self.histories.append(ended_history)
        world.boxes.handle_memory_clear()
        for claim, decision in decisions.items():
            self.paid_by_hand_cents[_parse_claim_kind(claim)] += decision.paid_cents or 0
        return settled_handpays


def _choose_history(histories: Sequence[History], claim_inspection: ClaimInspection) -> History:
    """Return the history with the amounts that the inspection of both copies found.

    An entry that only one copy has was never acknowledged. A machine that starts with a damaged copy drops it, and
    a clear reads it from the damaged copy.
    """
    ledger = claim_inspection.journal_inspection.best_reading.ledger
    for history in histories:
        if all(history.balance[account] == abs(ledger.balance_cents(account)) for account in SUMMED_ACCOUNTS):
            return history
    raise RuntimeError("the clear found other amounts than the journal has, with or without the damage")


def _damage_one_copy(folder: Path, random_source: Random) -> bool:
    """Change one bit of one of the journal's two copies, or of none; return whether one was changed.

    The undamaged copy still proves everything that the machine owes.
    """
    second_copy_folder = folder / SECOND_FOLDER
    copy_files = [[], [folder / DATABASE_NAME], sorted(second_copy_folder.glob(f"*{LOG_SUFFIX}"))]
    chosen_files = random_source.choice(copy_files)
    if not chosen_files:
        return False
    path = random_source.choice(chosen_files)
    damaged_bytes = bytearray(path.read_bytes())
    damaged_bytes[random_source.randrange(len(damaged_bytes))] ^= 1 << random_source.randrange(8)
    path.write_bytes(damaged_bytes)
    return True


def _decide_claims(
    claim_inspection: ClaimInspection,
    random_source: Random,
    shown_games: Collection[str],
    *,
    can_pay_by_hand: bool,
) -> dict[str, ClaimDecision]:
    """Return the decision on every claim: it is carried over, or for some paid by hand."""
    decisions: dict[str, ClaimDecision] = {}
    for proposal in claim_inspection.proposals:
        is_paid = (
            can_pay_by_hand
            and random_source.random() < _PAID_BY_HAND_PROBABILITY
            and _can_be_paid_by_hand(proposal, shown_games)
        )
        amount_cents = int(proposal.claim.amount) if is_paid else None
        decision = DECISION_PAID if is_paid else DECISION_CARRIED
        decisions[proposal.id] = ClaimDecision(
            decision=decision, paid_cents=amount_cents, payer="1001" if is_paid else ""
        )
    return decisions


def _can_be_paid_by_hand(proposal: ProposedClaim, shown_games: Collection[str]) -> bool:
    """Return whether a claim may be paid by hand.

    If the claim is for a game whose outcome is decided, a screen must have shown the win.
    """
    details = proposal.claim.details
    is_win_known = not details.get("decided") or details["play_id"] in shown_games
    return (
        DECISION_PAID in proposal.possible_decisions
        and _parse_claim_kind(proposal.id) in _CLAIM_KINDS_WITHOUT_DEVICE
        and is_win_known
    )


def _parse_claim_kind(claim: str) -> str:
    return _POSITION_PREFIX_PATTERN.sub("", claim).partition(":")[0]


def _parse_position(claim: str) -> int:
    return int(claim.rpartition(":")[2])
