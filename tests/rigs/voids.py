"""Games that staff rule on: one that is still undecided, and a decided one that was declared void."""

from collections.abc import Iterable
from pathlib import Path

from egm.kernel.events import Event, EventType
from egm.play.rulings import void_game
from egm.play.void_rule import VoidReason
from egm.staff.events import RulingForm
from egm.staff.form import build_ruling_details
from egm.testing.machine import MachineRig, ScriptedGenerator
from tools.audit.verify import AuditFinding

NOT_PAID = "the play may not be void: the game is decided, and is paid as recorded"


def make_undecided_game(folder: Path, profile: str | Path = "generic") -> MachineRig:
    """Return a machine whose open game asks which reels to hold, with nothing won."""
    generator = ScriptedGenerator(0, 0, 0)
    rig = MachineRig(folder, games=("hold-fast",), profile=profile, generator=generator).boot().insert(500)
    rig.play()
    return rig


def void_as_earlier_version(rig: MachineRig, void_reason: VoidReason = VoidReason.DEFECT) -> None:
    """Stop the machine by a tilt, and void its open game without the check whether that is allowed."""
    rig.engine.handle(EventType.FAULT_RAISED, code="bill_acceptor.cheat")
    event = Event(EventType.REFUND_GAME, RulingForm(persons=("2", "5"), reason="planted"))
    details = build_ruling_details(rig.machine, event)
    void_game(rig.machine, is_refunded=void_reason is VoidReason.DEFECT, void_reason=void_reason, **details)
    rig.engine.update_state()


def exclude_void_finding(findings: Iterable[AuditFinding]) -> list[AuditFinding]:
    """Return the findings without the one on a decided play that is void."""
    return [finding for finding in findings if finding.text != NOT_PAID]
