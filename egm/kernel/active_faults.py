"""Active faults in the machine's memory: each is raised once, and active until it is cleared."""

from egm.kernel.faults import get_fault_definition
from egm.kernel.keys import KernelKey
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.own_entries import FAULT_CLEARED, FAULT_RAISED, ActiveFault, FaultCleared, FaultRaised


def raise_fault(machine: PositionMachine, code: str, detail: str | None = None) -> None:
    """Record that the fault ``code`` is active, until it is cleared. If it is already active, do nothing."""
    if code in machine.active_faults:
        return
    fault_definition = get_fault_definition(code)
    active_fault = ActiveFault(
        active_since=machine.clock.now().isoformat(),
        stops_play=fault_definition.stops_play,
        cleared_by=fault_definition.cleared_by,
        detail=detail or "",
    )
    machine.post(
        FAULT_RAISED,
        FaultRaised(code=code, detail=detail),
        counts={f"fault.{code}": 1},
        state={f"{KernelKey.FAULT}{code}": active_fault},
    )


def clear_fault(machine: PositionMachine, code: str, detail: str | None = None) -> None:
    """Clear the fault ``code``, whose cause has ended. If it is not active, do nothing.

    If only a person may clear it, it stays active. If it stopped play, the person at the machine gets a notice.
    """
    active_fault = machine.active_faults.get(code)
    if active_fault is None or active_fault["cleared_by"] != "self":
        return
    machine.post(
        FAULT_CLEARED,
        FaultCleared(code=code, detail=detail),
        state={f"{KernelKey.FAULT}{code}": None},
    )
    if active_fault["locks"]:
        machine.notice = Notice(code="fault_cleared")


def is_device_disabled_by_fault(machine: PositionMachine, device_kind: str) -> bool:
    """Return whether an active fault disables this position's device of a kind, such as ``bill_acceptor``."""
    return any(
        code.startswith(f"{device_kind}.") and get_fault_definition(code).has_effect
        for code in machine.active_faults
    )


def raise_or_clear_fault(machine: PositionMachine, code: str, detail: str) -> None:
    """If ``detail`` is not empty, raise the fault ``code`` with these details; otherwise clear it.

    This is for faults that the machine itself detects and clears.
    """
    (raise_fault if detail else clear_fault)(machine, code, detail=detail)
