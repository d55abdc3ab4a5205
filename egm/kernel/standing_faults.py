"""Standing faults in the machine's memory: raised once, until their cause or a person has cleared them."""

from egm.kernel.faults import fault
from egm.kernel.keys import KernelKey
from egm.kernel.machine import Cabinet
from egm.kernel.messages import Notice


def raise_fault(cabinet: Cabinet, code: str, **details: object) -> None:
    """Remember a fault until it is cleared; a repeat changes nothing. ``detail`` stands with it."""
    if code in cabinet.faults:
        return
    properties = fault(code)
    cabinet.record(
        "fault.raised",
        counts={f"fault.{code}": 1},
        state={
            f"{KernelKey.FAULT}{code}": {
                "since": cabinet.clock.now().isoformat(),
                "locks": properties.locks,
                "cleared_by": properties.cleared_by,
                "detail": str(details.get("detail", "")),
            }
        },
        details={"code": code, **details},
    )


def clear_fault(cabinet: Cabinet, code: str, **details: object) -> None:
    """The cause has gone. A fault that a person must clear stays."""
    standing = cabinet.faults.get(code)
    if standing is None or standing["cleared_by"] != "self":
        return
    cabinet.record(
        "fault.cleared", state={f"{KernelKey.FAULT}{code}": None}, details={"code": code, **details}
    )
    if standing["locks"]:
        cabinet.notice = Notice(code="fault_cleared")


def note_fault(cabinet: Cabinet, code: str, why: str) -> None:
    """Raise a fault that the machine finds and clears by itself, or clear it where ``why`` is empty."""
    (raise_fault if why else clear_fault)(cabinet, code, detail=why)
