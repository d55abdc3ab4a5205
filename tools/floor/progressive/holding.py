"""Claims that chance can hardly have made: held until persons have ruled on them.

A wager hits a level as often as the level file says and no oftener; and a machine's wagers hit it about as
often as their odds allow. What goes beyond is recorded and not awarded: two persons rule, with a reason.
"""

from dataclasses import replace
from typing import Final

from egm.errors import OperatorError
from egm.progressive.messages import Claim
from tools.floor.progressive.frequency import improbable
from tools.floor.progressive.records import HeldClaim, LevelRecord
from tools.floor.progressive.store import Session

AWARD: Final = "award"
DECLINE: Final = "decline"
_PERSONS: Final = 2


class RulingError(OperatorError):
    """A ruling that cannot be: says of which claim, and why."""


def doubt(session: Session, record: LevelRecord, claim: Claim) -> str:
    """Why a claim is held, or nothing where it is not."""
    wins = session.wins(claim.machine, claim.level)
    if wins.count(claim.after) >= record.hits_most:
        return f"contribution {claim.after} has had its {record.hits_most} of level {record.id} already"
    hit = tuple(sorted({*wins, claim.after}))
    odds = record.odds + sum(record.shares.values())
    if improbable(hit, hit[-1], odds):
        return f"{len(hit)} of {hit[-1]} wagers won it, at {odds} hits a wager"
    return ""


def hold(session: Session, claim: Claim, why: str, at: str) -> None:
    """Keep a claim for persons to rule on."""
    told = claim.model_dump(mode="json")
    session.put_held(HeldClaim(claim=claim.claim, message=told, why=why, held_at=at))


def rule(session: Session, claim: str, ruling: str, persons: tuple[str, ...], reason: str, at: str) -> None:
    """Rule on a held claim: ``award`` or ``decline``. Raises :class:`RulingError`.

    Awarded, it is paid what the level shows when the machine asks again.
    """
    known = session.held(claim)
    if known is None or known.ruling:
        raise RulingError(f"claim {claim}: it does not wait for a ruling")
    if ruling not in {AWARD, DECLINE}:
        raise RulingError(f"claim {claim}: a ruling is {AWARD} or {DECLINE}, not {ruling!r}")
    if len({name.strip() for name in persons} - {""}) < _PERSONS or not reason.strip():
        raise RulingError(f"claim {claim}: a ruling takes two persons and a reason")
    session.put_held(replace(known, ruling=ruling, persons=persons, reason=reason, ruled_at=at))
    session.note(at, "ruled", claim=claim, ruling=ruling, persons=list(persons), reason=reason)
