"""Disputed amounts: if a device's reports do not show whether money was paid or taken, staff decide.

Examples: a bill ordered into the box and not reported since; coins that the acceptor's counter shows but that it never
reported; coins of a payout whose hopper was exchanged. A disputed amount has a smallest and a largest possible value.
Normally one journal entry both ends (or suspends) the device's operation and opens the disputed amount. For a hopper
payout, the disputed amount has an entry of its own, directly after the one that ends the payout; if the power fails
between the two, the restart writes it. The device's fault stops play until staff have entered a ruling; turning a
key does not clear it. Credit of the player that the hopper or the printer may already have paid out stays reserved
until then. The ruling is an amount paid by hand, recorded with the persons and the reason in the register
``disputed-amounts``.

For a ticket that may have come out of the printer, the ruling is either "good" (nothing is paid by hand; the
ticket is money for its holder) or "void" (the full amount is paid by hand). Until then the ticket's number
stays locked and its cash-out stays open.

Source of the amount paid by hand:

- hopper coins: the credit that was reserved; its remainder is booked as coins that left the hopper;
- a void ticket: the credit that was reserved for it;
- a ticket in the cash box that is still locked: the ticket, which the ruling redeems;
- everything else: the operator.
"""

from dataclasses import dataclass, field, replace
from typing import Final, Self

from egm.devices.interface import PrintState
from egm.errors import InvariantError
from egm.kernel.active_faults import raise_fault
from egm.kernel.credits import CreditKind
from egm.kernel.events import Event
from egm.kernel.keys import KernelKey
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.money.entries import (
    DISPUTED_AMOUNT_OPENED,
    DISPUTED_AMOUNT_OPENED_WITH_CREDIT,
    DISPUTED_AMOUNT_RULED,
    RESERVED_CREDIT_RELEASED,
    DisputedAmountDetails,
    DisputedAmountRuled,
    ReservedCreditReleased,
)
from egm.money.events import DisputedAmountRulingForm
from egm.money.keys import MoneyKey
from egm.money.records.host import RedemptionStatus
from egm.money.records.money import PrintingRecord
from egm.money.ticket_ledger import (
    build_anchor_state,
    build_host_ticket_state,
    compute_number_commitment,
    store_journal_head,
)
from egm.record_codec import stored_as
from egm.record_fields import CentsOrZero
from egm.staff.events import are_texts_filled_in
from egm.staff.form import build_ruling_details
from egm.tickets.desk import TicketDesk
from meters import Transfer

#: The account from which the operator pays disputed amounts.
DISPUTED_ACCOUNT: Final = "house:disputed"
#: The account of disputed amounts that are paid by hand; credit reserved for a ruling is reserved towards it.
DISPUTED_HANDPAY_ACCOUNT: Final = "out:handpay_disputed"


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedAmount:
    """An amount that a device may have taken or paid, until staff rule on it. Amounts are in minor units."""

    id: str
    """The id of the disputed amount: that of the bill, ticket or payout in doubt if it has one, otherwise a new id."""
    device: str
    """The kind of device, such as ``bill_acceptor``."""
    reason: str = field(metadata=stored_as("why"))
    """Why the device's reports do not show the amount."""
    opened_at: str = field(metadata=stored_as("since"))
    """The time at which the disputed amount was opened, ISO 8601."""
    amount_min_cents: int = field(default=0, metadata=stored_as("least_cents"))
    """The smallest amount that may be owed, in minor units."""
    amount_max_cents: int = field(default=0, metadata=stored_as("most_cents"))
    """The largest amount that may be owed, in minor units."""
    reserved_cents: int = field(default=0, metadata=stored_as("held_cents"))
    """The player's credit that is reserved until the ruling, because the hopper may already have paid it in coins.

    The journal stores it as ``held_cents``.
    """
    masked_ticket_number: str = field(default="", metadata=stored_as("ticket"))
    """The masked number of the disputed ticket, while the ticket ledger reserves or locks it for this machine.

    The ledger reserves the ticket while it is printed, and locks it while it is redeemed. It is then worth its full
    amount or nothing. Empty in all other cases, also for a ticket in the cash box whose lock the machine has lost.
    """
    credit_kind: str = field(default="", metadata=stored_as("kind"))
    """The kind of credit of the disputed ticket; empty if no ticket is disputed."""

    @classmethod
    def create(
        cls,
        machine: PositionMachine,
        device: str,
        reason: str,
        *,
        operation_id: str = "",
        amount_min_cents: int = 0,
        amount_max_cents: int = 0,
        reserved_cents: int = 0,
        masked_ticket_number: str = "",
        credit_kind: str = "",
    ) -> Self:
        """Create the record of an amount that a device may have taken or paid.

        The amount is at least ``amount_min_cents`` and at most ``amount_max_cents``. ``operation_id`` is the id of the
        bill, ticket or payout in doubt, which becomes that of the disputed amount; without it, a new id is made.
        """
        return cls(
            id=operation_id or machine.fresh_id("disputed"),
            device=device,
            reason=reason,
            opened_at=machine.clock.now().isoformat(),
            amount_min_cents=amount_min_cents,
            amount_max_cents=amount_max_cents,
            reserved_cents=reserved_cents,
            masked_ticket_number=masked_ticket_number,
            credit_kind=credit_kind,
        )

    @property
    def fault_code(self) -> str:
        """Return the code of the fault that stays active until every disputed amount of the device has a ruling."""
        return f"{self.device}.disputed"

    @property
    def is_about_print_job(self) -> bool:
        """Return whether the dispute is about a ticket that the printer may or may not have issued."""
        return self.device == "ticket_printer"

    @property
    def opening_state(self) -> dict[str, "DisputedAmount"]:
        """Return the values to store, by storage key, in the journal entry that opens the disputed amount."""
        return {f"{MoneyKey.DISPUTED_AMOUNT}{self.id}": self}

    @property
    def journal_details(self) -> DisputedAmountDetails:
        """Return the description of the disputed amount for a journal record."""
        return DisputedAmountDetails(
            id=self.id,
            device=self.device,
            reason=self.reason,
            masked_ticket_number=self.masked_ticket_number,
            amount_min_cents=self.amount_min_cents,
            amount_max_cents=self.amount_max_cents,
        )

    def is_permitted_award(self, amount_cents: int | None) -> bool:
        """Return whether a ruling may award this amount to the player.

        It must be within the bounds of the disputed amount. For a ticket it must be the full amount or nothing.
        """
        if amount_cents is None or not self.amount_min_cents <= amount_cents <= self.amount_max_cents:
            return False
        return not self.masked_ticket_number or amount_cents in {0, self.amount_max_cents}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpostedRuling:
    """A recorded ruling on a disputed amount whose payment is not posted yet."""

    disputed_amount: DisputedAmount = field(metadata=stored_as("disputed"))
    amount_cents: CentsOrZero
    """The amount that the ruling awards to the player."""
    entry_record: DisputedAmountRuled = field(metadata=stored_as("story"))
    """The record of the journal entry that posts the payment."""


def read_disputed_amounts_by_id(machine: PositionMachine) -> dict[str, DisputedAmount]:
    """Return the disputed amounts of this player position that have no ruling yet, ordered by id."""
    return machine.memory.read_all(DisputedAmount, MoneyKey.DISPUTED_AMOUNT)


# ---------------------------------------------------------------------------------------------- opening
def open_disputed_amount(
    machine: PositionMachine, disputed_amount: DisputedAmount, transfers: tuple[Transfer, ...] = ()
) -> None:
    """Post the journal entry that opens a disputed amount. If it is already open, do nothing.

    If the hopper may have paid some of the player's credit (``reserved_cents``), the entry reserves that credit.
    Otherwise the entry posts ``transfers``, the movements of money that are not in doubt; the two never occur together.
    """
    if disputed_amount.id in read_disputed_amounts_by_id(machine):
        return
    if disputed_amount.reserved_cents:
        transfers = (
            Transfer(
                machine.name_credit_account(CreditKind.CASHABLE),
                DISPUTED_HANDPAY_ACCOUNT,
                disputed_amount.reserved_cents,
            ),
        )
    machine.post(
        DISPUTED_AMOUNT_OPENED_WITH_CREDIT if disputed_amount.reserved_cents else DISPUTED_AMOUNT_OPENED,
        disputed_amount.journal_details,
        entry_id=format_reservation_id(disputed_amount) if disputed_amount.reserved_cents else None,
        transfers=transfers,
        state=disputed_amount.opening_state,
    )


def format_reservation_id(disputed_amount: DisputedAmount) -> str:
    """Return the id of the reservation that sets the disputed part of the player's credits aside."""
    return f"{disputed_amount.id}.disputed"


def ruling_or_fault_is_pending(machine: PositionMachine, _: Event) -> bool:
    """Return whether a disputed amount must still raise its fault, or the payment of a ruling must still be posted."""
    if machine.memory.get(MoneyKey.DISPUTED_AMOUNT_RULING) is not None:
        return True
    disputed_amounts = read_disputed_amounts_by_id(machine).values()
    return bool(disputed_amounts) and any(
        disputed_amount.fault_code not in machine.active_faults for disputed_amount in disputed_amounts
    )


def resume_disputed_amounts(machine: PositionMachine, _: Event) -> None:
    """Post the payment of a ruling, or raise the faults of disputed amounts, if a power loss has prevented it."""
    post_ruling_and_raise_faults(machine)


def post_ruling_and_raise_faults(machine: PositionMachine) -> None:
    """Post the payment of a recorded ruling, and raise the fault of each disputed amount that is still open.

    Called immediately after a new disputed amount is recorded. If a power loss prevents it, it is called again after
    the next event.
    """
    ruling = machine.memory.read(UnpostedRuling, MoneyKey.DISPUTED_AMOUNT_RULING)
    if ruling is not None:
        _post_award(machine, ruling)
    for disputed_amount in read_disputed_amounts_by_id(machine).values():
        raise_fault(machine, disputed_amount.fault_code, detail=disputed_amount.reason)


# ---------------------------------------------------------------------------------------------- ruling
@refusal_code("ruling_is_sound")
def ruling_form_is_valid(machine: PositionMachine, event: Event) -> bool:
    """Return whether the form of a ruling names an open disputed amount, an amount within its bounds and a reason.

    A ticket that may have been printed can be ruled "good" only if the ticket ledger knows it.
    """
    form = event.read_payload(DisputedAmountRulingForm)
    disputed_amount = read_disputed_amounts_by_id(machine).get(form.disputed_amount_id)
    if disputed_amount is None or not are_texts_filled_in(form.reason):
        return False
    amount_cents = _find_awarded_cents(disputed_amount, form)
    desk = machine.find_installed(TicketDesk)
    is_ticket_known = desk is not None and desk.find_issued_ticket(disputed_amount.id) is not None
    return disputed_amount.is_permitted_award(amount_cents) and (
        bool(amount_cents) or not disputed_amount.is_about_print_job or is_ticket_known
    )


def _find_awarded_cents(disputed_amount: DisputedAmount, form: DisputedAmountRulingForm) -> int | None:
    """Return the amount that the form awards to the player, in minor units, or None if it states no decision.

    For a ticket that may have been printed, it is 0 if the ticket is ruled good, and its full amount if ruled void.
    """
    if not disputed_amount.is_about_print_job:
        return form.amount_cents
    return {None: None, "good": 0, "void": disputed_amount.amount_max_cents}[form.ticket_ruling]


def apply_disputed_amount_ruling(machine: PositionMachine, event: Event) -> None:
    """Carry out the form's ruling on a disputed amount: pay the awarded part by hand, and close the disputed amount.

    If the device has no other disputed amount, its fault is cleared. For a ticket that may have been printed, only the
    ruling is recorded here; the ticket's cash-out then ends and, if the ticket was ruled void, pays its amount by hand.
    """
    form = event.read_payload(DisputedAmountRulingForm)
    disputed_amount = read_disputed_amounts_by_id(machine)[form.disputed_amount_id]
    amount_cents = _find_awarded_cents(disputed_amount, form)
    if amount_cents is None:
        raise InvariantError("a ruling on a disputed amount was submitted without an amount")
    entry_record = DisputedAmountRuled(
        **build_ruling_details(machine, event),
        disputed_amount=disputed_amount.journal_details,
        amount_cents=amount_cents,
    )
    ruling = UnpostedRuling(
        disputed_amount=disputed_amount, amount_cents=amount_cents, entry_record=entry_record
    )
    if disputed_amount.reserved_cents:
        machine.post(
            RESERVED_CREDIT_RELEASED,
            ReservedCreditReleased(id=disputed_amount.id),
            entry_id=f"{disputed_amount.id}.released",
            ref=format_reservation_id(disputed_amount),
            state={MoneyKey.DISPUTED_AMOUNT_RULING: ruling},
        )
    if disputed_amount.is_about_print_job:
        _record_ticket_ruling(machine, ruling)
    else:
        _post_award(machine, ruling)
    machine.notice = Notice(code="disputed_ruled", values={"amount_cents": amount_cents})


def _record_ticket_ruling(machine: PositionMachine, ruling: UnpostedRuling) -> None:
    """Record the ruling on a ticket that may have been printed, good or void, as the final state of its print job.

    The cash-out then ends like any other with a printed or failed ticket.
    """
    printing_record = machine.memory.require(PrintingRecord, MoneyKey.PRINT_JOB)
    state = PrintState.FAILED if ruling.amount_cents else PrintState.BARCODE_DONE
    machine.post(
        DISPUTED_AMOUNT_RULED,
        ruling.entry_record,
        entry_id=f"{ruling.disputed_amount.id}.ruled",
        state={
            **_build_closing_state(machine, ruling.disputed_amount),
            MoneyKey.PRINT_JOB: replace(printing_record, state=state),
        },
    )


def _build_closing_state(machine: PositionMachine, disputed_amount: DisputedAmount) -> dict[str, None]:
    """Return the state change that deletes the disputed amount.

    If the device has no other disputed amount, it also clears the device's fault.
    """
    other_amounts = [
        other_amount
        for other_amount in read_disputed_amounts_by_id(machine).values()
        if other_amount.id != disputed_amount.id
    ]
    is_last_of_device = all(other_amount.device != disputed_amount.device for other_amount in other_amounts)
    fault_state = {f"{KernelKey.FAULT}{disputed_amount.fault_code}": None} if is_last_of_device else {}
    return {f"{MoneyKey.DISPUTED_AMOUNT}{disputed_amount.id}": None, **fault_state}


def _post_award(machine: PositionMachine, ruling: UnpostedRuling) -> None:
    """Post the payment of a ruling, and close the disputed amount.

    A disputed ticket in the cash box that is still locked is redeemed if the ruling pays it, otherwise unlocked.
    """
    disputed_amount, amount_cents = ruling.disputed_amount, ruling.amount_cents
    desk = machine.find_installed(TicketDesk)
    is_ticket_locked = (
        bool(disputed_amount.masked_ticket_number)
        and desk is not None
        and desk.has_redemption_lock(disputed_amount.id)
    )
    is_redemption = is_ticket_locked and amount_cents > 0
    # A ruling that awards nothing says that the ticket was returned to the player, so for its host it is not stacked.
    redemption_status = RedemptionStatus.REDEEMED if amount_cents else RedemptionStatus.NOT_STACKED
    entry_record = ruling.entry_record
    state: dict[str, object] = {
        **_build_closing_state(machine, disputed_amount),
        **({MoneyKey.DISPUTED_AMOUNT_RULING: None} if disputed_amount.reserved_cents else {}),
    }
    if is_redemption:
        entry_record = replace(
            entry_record,
            number_commitment=compute_number_commitment(
                machine, _read_full_ticket_number(machine, disputed_amount)
            ),
        )
        state.update(build_anchor_state(machine))
    machine.post(
        DISPUTED_AMOUNT_RULED,
        entry_record,
        # A redemption uses the usual id ("<id>.in"): after a restart, ticket recovery finds it and completes
        # the redemption in the ticket ledger.
        entry_id=f"{disputed_amount.id}.in" if is_redemption else f"{disputed_amount.id}.ruled",
        transfers=_build_award_transfers(machine, disputed_amount, amount_cents, is_redemption=is_redemption),
        state={**state, **build_host_ticket_state(machine, disputed_amount.id, redemption_status)},
    )
    if is_redemption:
        machine.component(TicketDesk).commit_redemption(disputed_amount.id)
    elif is_ticket_locked:
        machine.component(TicketDesk).abort_redemption(disputed_amount.id, "ruled as returned to the player")
    store_journal_head(machine)


def _read_full_ticket_number(machine: PositionMachine, disputed_amount: DisputedAmount) -> str:
    """Return the full number of a disputed ticket from the ticket ledger; the journal has only the masked number."""
    number = machine.component(TicketDesk).find_number_by_redemption(disputed_amount.id)
    if number is None:
        raise InvariantError(f"{disputed_amount.id} is about a ticket whose number is not in the ledger")
    return number


def _build_award_transfers(
    machine: PositionMachine, disputed_amount: DisputedAmount, amount_cents: int, *, is_redemption: bool
) -> tuple[Transfer, ...]:
    """Return the transfers that pay the awarded amount by hand.

    They come from the reserved credit, if there is any; otherwise from the ticket, if the ruling redeems one
    (``is_redemption``); otherwise from the operator. Reserved credit that is not awarded has left the hopper and is
    booked as coins out.
    """
    source = DISPUTED_ACCOUNT
    if disputed_amount.reserved_cents:
        source = machine.name_credit_account(CreditKind.CASHABLE)
    elif is_redemption:
        source = f"world:voucher_in:{disputed_amount.credit_kind}"
    award_transfers = (Transfer(source, DISPUTED_HANDPAY_ACCOUNT, amount_cents),) if amount_cents else ()
    paid_in_coins_cents = max(0, disputed_amount.reserved_cents - amount_cents)
    if not paid_in_coins_cents:
        return award_transfers
    coin_transfers = (
        Transfer(source, "out:hopper", paid_in_coins_cents),
        Transfer("stock:hopper", "stock:floor", paid_in_coins_cents),
    )
    return award_transfers + coin_transfers
