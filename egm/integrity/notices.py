"""Notices on the screen about faults, service calls and why the machine is out of service."""

from collections.abc import Iterator

from egm.integrity.keys import IntegrityKey
from egm.integrity.lockups import list_disabling_sources
from egm.kernel.faults import get_fault_definition, list_faults_to_show
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.money.records.held_money import build_held_money_values


def iter_notices(machine: PositionMachine) -> Iterator[Notice]:
    """Yield the notices about faults that affect the player, a service call, and out-of-service reasons."""
    faults = machine.active_faults
    for code in filter(
        lambda each: get_fault_definition(each).is_shown_to_player, list_faults_to_show(faults)
    ):
        yield Notice(
            code=f"fault.{code}",
            severity="alarm" if faults[code]["locks"] else "warning",
            values=build_held_money_values(machine, code),
            is_lasting=True,
        )
    if machine.memory.get(IntegrityKey.SERVICE_CALL) is not None:
        yield Notice(code="service_called", is_lasting=True)
    out_of_service_record = machine.memory.get(IntegrityKey.OUT_OF_SERVICE)
    if out_of_service_record is not None:
        yield Notice(
            code=f"out_of_service.{out_of_service_record['cause']}", severity="alarm", is_lasting=True
        )
    for code, fault in faults.items():
        if get_fault_definition(code).puts_out_of_service:
            yield Notice(
                code=f"out_of_service.{code}",
                severity="alarm",
                values={"detail": fault["detail"]},
                is_lasting=True,
            )
    for source in list_disabling_sources(machine):
        code = f"disabled.{source.partition(':')[0]}"
        yield Notice(code=code, severity="warning", values={"source": source}, is_lasting=True)
