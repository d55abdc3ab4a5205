"""The money-host feature: transfers between a host and the credits, and tickets numbered and redeemed by the host."""

from typing import Final

from egm.host import entries
from egm.host.events import PAYLOAD_CLASS_BY_EVENT
from egm.host.keys import HostKey
from egm.host.rules import HOST_RULES
from egm.host.timeouts import create_host_timeouts
from egm.kernel.entries import list_entries
from egm.kernel.events import State
from egm.kernel.feature import Feature
from egm.kernel.machine import PositionMachine
from egm.kernel.rules import DerivedState
from egm.money.host_money import HostMoney
from egm.money.records.host import CashOutTerms, HostTicketRecord, RegistrationRecord, TransferRecord
from egm.record_fields import Count


def _is_locked(machine: PositionMachine) -> bool:
    """Return whether a host holds the lock on the machine for a transfer."""
    lock = machine.component(HostMoney).transfer_lock
    return lock is not None and lock.is_granted


HOST_FEATURE: Final = Feature(
    name="host",
    storage_keys=HostKey,
    value_types={  # not FUNCTION_RESTRICTION: each function has separate values
        HostKey.LAST_TICKET_REDEMPTION: HostTicketRecord,
        HostKey.PRINTED_TICKET_RING: str,
        HostKey.TICKETS_ADDED_TO_RING: Count,
        HostKey.TICKETS_READ_FROM_RING: Count,
        HostKey.LAST_TRANSFER: TransferRecord,
        HostKey.TRANSFER_COUNT: Count,
        HostKey.CASH_OUT_TERMS: CashOutTerms,
        HostKey.REGISTRATION: RegistrationRecord,
        HostKey.TRANSFER_IDENTIFIERS_LOST: bool,
    },
    entry_declarations=list_entries(entries),
    payload_classes=PAYLOAD_CLASS_BY_EVENT,
    rules=HOST_RULES,
    derived_states=(DerivedState(State.LOCKED, _is_locked),),
    service_factories=(create_host_timeouts,),
)
