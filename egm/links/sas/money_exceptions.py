"""Priority exceptions about tickets and transfers: each stays pending until the host has acted on it.

They do not come from journal entries. They are derived from the machine's open queries and unread results after each
change, and again when the machine starts: what was pending when the power failed is pending again.
"""

from collections.abc import Iterator
from typing import Final

from egm.host.keys import HostKey
from egm.host.transfer_interface import TransferLockState
from egm.links.sas.host import SasHost
from egm.links.sas.polls.aft import AFT_TRANSFER_COMPLETE_EXCEPTION_CODE, find_transfer_interface
from egm.links.sas.polls.tickets import (
    TICKET_PRINTED_EXCEPTION_CODE,
    TICKET_TRANSFER_COMPLETE_EXCEPTION_CODE,
    find_ticket_interface,
)
from egm.money.host_money import HostMoney
from egm.money.records.host import HostTicketRecord, TransferRecord

#: Exception codes: no ticket numbering configured, number wanted for a cash-out ticket, ticket inserted.
_VALIDATION_NOT_CONFIGURED_EXCEPTION_CODE, _NUMBER_WANTED_EXCEPTION_CODE, _TICKET_INSERTED_EXCEPTION_CODE = (
    0x3F,
    0x57,
    0x67,
)
#: Exception codes: a cash-out is offered to the host, the machine is locked for a transfer.
_CASH_OUT_OFFERED_EXCEPTION_CODE, _MACHINE_LOCKED_EXCEPTION_CODE = 0x6A, 0x6F

#: The codes of the priority exceptions about tickets and transfers.
MONEY_EXCEPTION_CODES: Final = frozenset(
    {
        _VALIDATION_NOT_CONFIGURED_EXCEPTION_CODE,
        _NUMBER_WANTED_EXCEPTION_CODE,
        _TICKET_INSERTED_EXCEPTION_CODE,
        TICKET_TRANSFER_COMPLETE_EXCEPTION_CODE,
        TICKET_PRINTED_EXCEPTION_CODE,
    }
    | {AFT_TRANSFER_COMPLETE_EXCEPTION_CODE, _CASH_OUT_OFFERED_EXCEPTION_CODE, _MACHINE_LOCKED_EXCEPTION_CODE}
)

#: A pair: a SAS exception code, and the id of the ticket, cash-out or transfer that the exception is about.
#:
#: The id is "" if the exception is about no single one of them. If the id changes, the exception is raised again.
ExceptionAndSubjectId = tuple[int, str]


class MoneyExceptionMonitor:
    """The priority exceptions about tickets and transfers for one SAS host.

    Each is raised when the host has something to do or to read, and withdrawn when that is no longer so.
    """

    def __init__(self, host: SasHost) -> None:
        self._host = host
        self._raised_exceptions: frozenset[ExceptionAndSubjectId] = frozenset()

    def update_exceptions(self) -> None:
        """Raise the exceptions about tickets and transfers that now apply, and withdraw those that no longer apply."""
        applicable_exceptions = frozenset(self._iter_applicable_exceptions())
        for code in {code for code, _ in self._raised_exceptions} - {
            code for code, _ in applicable_exceptions
        }:
            self._host.withdraw_exception(code)
        for code, _ in sorted(applicable_exceptions - self._raised_exceptions):
            self._host.post_exception(code)
        self._raised_exceptions = applicable_exceptions

    def record_host_polling(self, *, is_up: bool) -> None:
        """Store whether the SAS host polls, if it is the host that handles the machine's money.

        When it has started to poll, raise all exceptions that apply again, because the host may have lost them.
        """
        host_money = self._host.machine.component(HostMoney)
        if host_money.money_line_name == self._host.name:
            host_money.is_online = is_up
        if is_up:  # it may have lost everything it had received
            self._raised_exceptions = frozenset()
            self.update_exceptions()

    def _iter_applicable_exceptions(self) -> Iterator[ExceptionAndSubjectId]:
        """Yield the exceptions about tickets and transfers that apply now.

        Those that the host may not read, because its ticket polls or transfer polls are off, are left out.
        """
        if 0x71 in self._host.permitted_poll_codes:
            yield from self._iter_ticket_exceptions()
        if 0x72 in self._host.permitted_poll_codes:
            yield from self._iter_transfer_exceptions()

    def _iter_ticket_exceptions(self) -> Iterator[ExceptionAndSubjectId]:
        """Yield the exceptions about tickets that apply now, each with the id of its ticket or cash-out."""
        ticket_interface = find_ticket_interface(self._host)
        if ticket_interface is None:
            return
        if ticket_interface.needs_enrolment:
            yield _VALIDATION_NOT_CONFIGURED_EXCEPTION_CODE, ""
        if (number_request := ticket_interface.pending_ticket_number_request) is not None:
            yield _NUMBER_WANTED_EXCEPTION_CODE, number_request.id
        if (ticket_inquiry := self._host.machine.component(HostMoney).ticket_inquiry) is not None:
            yield _TICKET_INSERTED_EXCEPTION_CODE, ticket_inquiry.id
        if ticket_interface.has_unread_result:
            yield (
                TICKET_TRANSFER_COMPLETE_EXCEPTION_CODE,
                self._host.machine.memory.require(HostTicketRecord, HostKey.LAST_TICKET_REDEMPTION).id,
            )
        if (unread_ticket := ticket_interface.find_oldest_unread_ticket()) is not None:
            yield TICKET_PRINTED_EXCEPTION_CODE, unread_ticket.ticket.number

    def _iter_transfer_exceptions(self) -> Iterator[ExceptionAndSubjectId]:
        """Yield the exceptions about transfers that apply now, each with the id of its transfer if it has one."""
        transfer_interface = find_transfer_interface(self._host)
        if transfer_interface is None:
            return
        if transfer_interface.has_unread_result:
            record = self._host.machine.memory.require(TransferRecord, HostKey.LAST_TRANSFER)
            yield AFT_TRANSFER_COMPLETE_EXCEPTION_CODE, f"{record.identifier} {record.result_time}"
        if transfer_interface.is_cash_out_offered:
            yield _CASH_OUT_OFFERED_EXCEPTION_CODE, ""
        if transfer_interface.transfer_lock_state is TransferLockState.LOCKED:
            yield _MACHINE_LOCKED_EXCEPTION_CODE, ""
