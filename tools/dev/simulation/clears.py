"""Authorised clears of a simulated machine's memory, and what the persons who made them paid by hand."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

from egm.app.features import FEATURES
from egm.memory_clear.carrying import (
    CARRIED,
    PAID,
    ClaimInspection,
    Decision,
    Proposal,
    inspect_claims,
    prepare_clearance,
)
from egm.people import Roster
from egm.testing.forgetful import ForgetfulStorage
from meters.clear import clear, finish, is_clear_unfinished
from meters.copies import SECOND_FOLDER
from meters.database import FILE_NAME as DATABASE_NAME
from meters.log import SUFFIX as LOG_SUFFIX
from tools.cli.staff import carry_roster
from tools.dev.simulation.history import History, read_copy

if TYPE_CHECKING:
    from tools.dev.simulation.world import World

#: How often the persons pay a claim that they may pay, rather than have the new journal owe it.
_PAID: Final = 0.3
#: How often the power goes during a clear, and the most operations of the media that it takes.
_CUT: Final = 0.3
_OPERATIONS_MAX: Final = 40
#: Claims that say nothing of paper or coins under way: who pays one needs to look into no device.
_ON_THE_MACHINE: Final = frozenset({"credit", "handpay", "table", "game"})
_POSITION: Final = re.compile(r"^(\d+)/")


@dataclass(slots=True)
class Clears:
    """The journals that ended with a clear, and what was paid by hand at the clears, by kind of claim."""

    histories: list[History] = field(default_factory=list)
    paid: Counter[str] = field(default_factory=Counter)

    def clear(self, world: "World", dice: Random, seen: Collection[str], *, may_pay: bool) -> set[int]:
        """Clear the memory of the stopped machine; if the power goes meanwhile, finish the clear.

        ``seen``: the games whose end a screen has shown. ``may_pay``: claims may be paid by hand. Returns the
        positions at which a hand-pay was owed, which the new journal owes under another number or not at all.
        """
        folder = world.folder.root
        _damage(folder, dice)
        self.histories.append(read_copy(folder, world.now(), world.house.positions, folder.parent))
        decisions: Mapping[str, Decision] = {}
        owed: set[int] = set()
        while True:
            storage = ForgetfulStorage(world.medium, world.random_bytes)
            if dice.random() < _CUT:
                world.cut_after(dice.randint(1, _OPERATIONS_MAX))
            try:
                if is_clear_unfinished(folder, storage):
                    finish(folder, now=world.now, storage=storage)
                else:
                    found = inspect_claims(folder, FEATURES, storage=storage)
                    if not found.inspection.is_complete:  # one copy at most is damaged
                        copies = (found.inspection.first.why, found.inspection.second.why)
                        raise RuntimeError(f"an inspection misses acknowledged entries: {copies}")
                    decisions = _decide(found, dice, seen, may_pay=may_pay)
                    owed = {_position(each.id) for each in found.proposals if _kind(each.id) == "handpay"}
                    decided = prepare_clearance(
                        found,
                        decisions,
                        person="1001",
                        second_person="1002",
                        reason="the memory is replaced",
                        challenge=found.inspection.challenge,
                        roster="proved by PIN",
                    )
                    clear(folder, decided, now=world.now, storage=storage)
                    roster = Roster.load(world.folder.staff)
                    carry_roster(roster, folder, None, "", now=world.now, storage=storage)
            except Exception:
                if not world.medium.dead:
                    raise
            finally:
                storage.leave()
            if not world.recover_media():
                break
        world.boxes.memory_cleared()
        for claim, decision in decisions.items():
            self.paid[_kind(claim)] += decision.amount_cents or 0
        return owed


def _damage(folder: Path, dice: Random) -> None:
    """Destroy a byte of one of the two copies, or none: the other proves all that is owed."""
    second = folder / SECOND_FOLDER
    copies = [[], [folder / DATABASE_NAME], sorted(second.glob(f"*{LOG_SUFFIX}"))]
    files = dice.choice(copies)
    if not files:
        return
    path = dice.choice(files)
    content = bytearray(path.read_bytes())
    content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    path.write_bytes(content)


def _decide(
    found: ClaimInspection, dice: Random, seen: Collection[str], *, may_pay: bool
) -> dict[str, Decision]:
    """Carry every claim over, but for some that the persons pay by hand."""
    decisions: dict[str, Decision] = {}
    for proposal in found.proposals:
        is_paid = may_pay and dice.random() < _PAID and _may_be_paid(proposal, seen)
        cents = int(proposal.proposed.amount) if is_paid else None
        act = PAID if is_paid else CARRIED
        decisions[proposal.id] = Decision(act=act, amount_cents=cents, by="1001" if is_paid else "")
    return decisions


def _may_be_paid(proposal: Proposal, seen: Collection[str]) -> bool:
    """Whether it may be paid: of a game that is decided a screen must have shown what it won."""
    says = proposal.proposed.says
    is_known = not says.get("decided") or says["play_id"] in seen
    return PAID in proposal.acts and _kind(proposal.id) in _ON_THE_MACHINE and is_known


def _kind(claim: str) -> str:
    return _POSITION.sub("", claim).partition(":")[0]


def _position(claim: str) -> int:
    return int(claim.rpartition(":")[2])
