"""Disputed amounts: if a device's reports do not settle whether money was paid or taken, staff decide.

Examples: a bill ordered into the box and not reported since; coins that the acceptor counted but never
reported; coins of a payout whose hopper was exchanged. A dispute has the smallest and largest possible amount. If
there is an operation in question, the transaction that closes or suspends it opens the dispute, except for a
hopper payout: its dispute is opened directly afterwards, or at the restart if the power has failed in between. The
device's fault stops play until staff have entered a ruling; no key clears it. Player's credits that may have been
paid are set aside meanwhile. The ruling is an amount paid by hand, recorded with the persons and the reason in the
register ``disputed-amounts``.

For a ticket that may have come out of the printer, the ruling is either "good" (nothing is paid by hand; the
ticket is money for its holder) or "void" (the full amount is paid by hand). Until then the ticket's number
stays locked and its cash-out stays open.

Source of the amount paid by hand: for hopper coins the credit that was set aside, of which the rest is booked as
coins that left the hopper; for a void ticket the credit that was reserved for it; for a ticket in the cash box that
is still locked, the ticket, which the ruling redeems; for everything else the operator.
"""

from dataclasses import dataclass, field, replace
from typing import Final, Self

from egm.devices.interface import PrintState
from egm.errors import InvariantError
from egm.kernel.credits import CreditKind
from egm.kernel.events import Event
from egm.kernel.keys import KernelKey
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.kernel.standing_faults import raise_fault
from egm.money.entries import (
    DISPUTE_OPENED,
    DISPUTE_OPENED_WITH_CREDIT,
    DISPUTE_RELEASED,
    DISPUTE_RULED,
    DisputeDetails,
    DisputeReleased,
    DisputeRuled,
)
from egm.money.events import DisputedAmountForm
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
from egm.record_fields import Count
from egm.staff.events import are_texts_filled_in
from egm.staff.form import build_ruling_details
from egm.tickets.desk import TicketDesk
from meters import Transfer

#: The account from which the operator pays disputed amounts.
DISPUTED_ACCOUNT: Final = "house:disputed"
#: The account of disputed amounts that were paid by hand.
DISPUTED_HANDPAY_ACCOUNT: Final = "out:handpay_disputed"


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedAmount:
    """One open dispute about money that a device may have taken or paid. Amounts are in minor units."""

    id: str
    """The id of the dispute: that of the disputed operation if it has one."""
    device: str
    """The kind of device, such as ``bill_acceptor``."""
    reason: str = field(metadata=stored_as("why"))
    """Why the device's reports do not settle the amount."""
    since: str
    """The time at which the dispute was opened, ISO 8601."""
    smallest_cents: int = field(default=0, metadata=stored_as("least_cents"))
    """The smallest amount that may be owed, in minor units."""
    largest_cents: int = field(default=0, metadata=stored_as("most_cents"))
    """The largest amount that may be owed, in minor units."""
    set_aside_cents: int = field(default=0, metadata=stored_as("held_cents"))
    """The part of the player's credits that is reserved until the ruling, as coins for it may have been paid."""
    masked_ticket_number: str = field(default="", metadata=stored_as("ticket"))
    """The masked number of the disputed ticket, which is reserved or locked in the ticket ledger.

    Such a ticket is worth its full amount or nothing. Empty if the dispute is not about a ticket, or about a ticket in
    the cash box that is no longer locked for this machine.
    """
    credit_kind: str = field(default="", metadata=stored_as("kind"))
    """The kind of credit of the disputed ticket."""

    @classmethod
    def create(
        cls,
        machine: Machine,
        device: str,
        reason: str,
        *,
        subject: str = "",
        smallest_cents: int = 0,
        largest_cents: int = 0,
        set_aside_cents: int = 0,
        masked_ticket_number: str = "",
        credit_kind: str = "",
    ) -> Self:
        """Create a dispute about an amount that a device may have taken or paid.

        The amount is at least ``smallest_cents`` and at most ``largest_cents``. ``subject`` is the id of the
        disputed operation; without it, the dispute gets a new id.
        """
        return cls(
            id=subject or machine.fresh_id("disputed"),
            device=device,
            reason=reason,
            since=machine.clock.now().isoformat(),
            smallest_cents=smallest_cents,
            largest_cents=largest_cents,
            set_aside_cents=set_aside_cents,
            masked_ticket_number=masked_ticket_number,
            credit_kind=credit_kind,
        )

    @property
    def fault_code(self) -> str:
        """Return the code of the fault that stays active until every dispute about the device has a ruling."""
        return f"{self.device}.disputed"

    @property
    def is_about_printed_ticket(self) -> bool:
        """Return whether the dispute is about a ticket that the printer may have issued."""
        return self.device == "ticket_printer"

    @property
    def opening_state(self) -> dict[str, "DisputedAmount"]:
        """Return the state change that stores the dispute, for the journal entry that closes the disputed operation."""
        return {f"{MoneyKey.DISPUTE}{self.id}": self}

    @property
    def journal_details(self) -> DisputeDetails:
        """Return the description of the dispute for a journal record."""
        return DisputeDetails(
            id=self.id,
            device=self.device,
            reason=self.reason,
            masked_ticket_number=self.masked_ticket_number,
            smallest_cents=self.smallest_cents,
            largest_cents=self.largest_cents,
        )

    def may_award(self, amount_cents: int | None) -> bool:
        """Return whether a ruling may award this amount.

        It must be within the dispute's bounds. For a ticket it must be the full amount or nothing.
        """
        if amount_cents is None or not self.smallest_cents <= amount_cents <= self.largest_cents:
            return False
        return not self.masked_ticket_number or amount_cents in {0, self.largest_cents}


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeRuling:
    """A recorded ruling on a disputed amount, until its payment is posted."""

    disputed_amount: DisputedAmount = field(metadata=stored_as("disputed"))
    amount_cents: Count
    """The amount that the ruling awards to the player."""
    entry_record: DisputeRuled = field(metadata=stored_as("story"))
    """The record of the journal entry that posts the payment."""


def list_disputed_amounts(machine: Machine) -> dict[str, DisputedAmount]:
    """Return the open disputes about money of this player position, ordered by id."""
    return machine.memory.read_all(DisputedAmount, MoneyKey.DISPUTE)


# ---------------------------------------------------------------------------------------------- opening
def open_dispute(machine: Machine, disputed: DisputedAmount, transfers: tuple[Transfer, ...] = ()) -> None:
    """Open a dispute about money: post its journal entry. If the dispute is already open, do nothing.

    If the dispute sets some of the player's credit aside (``set_aside_cents``), the entry reserves that credit.
    Otherwise the entry posts ``transfers``, the movements of money that are not in doubt.
    """
    if disputed.id in list_disputed_amounts(machine):
        return
    if disputed.set_aside_cents:
        transfers = (
            Transfer(
                machine.name_credit_account(CreditKind.CASHABLE),
                DISPUTED_HANDPAY_ACCOUNT,
                disputed.set_aside_cents,
            ),
        )
    machine.post(
        DISPUTE_OPENED_WITH_CREDIT if disputed.set_aside_cents else DISPUTE_OPENED,
        disputed.journal_details,
        entry_id=format_reservation_id(disputed) if disputed.set_aside_cents else None,
        transfers=transfers,
        state=disputed.opening_state,
    )


def format_reservation_id(disputed: DisputedAmount) -> str:
    """Return the id of the reservation that sets the disputed part of the player's credits aside."""
    return f"{disputed.id}.disputed"


def dispute_is_unfinished(machine: Machine, _: Event) -> bool:
    """Return whether :func:`finish_disputes` has work: a dispute without its fault, or a ruling without payment."""
    if machine.memory.get(MoneyKey.DISPUTE_RULING) is not None:
        return True
    disputes = list_disputed_amounts(machine).values()
    return bool(disputes) and any(disputed.fault_code not in machine.active_faults for disputed in disputes)


def finish_interrupted_disputes(machine: Machine, _: Event) -> None:
    """Finish work on disputes that a power loss interrupted: post payments of rulings, raise faults of disputes."""
    finish_disputes(machine)


def finish_disputes(machine: Machine) -> None:
    """Post the payment of a recorded ruling on disputed money, and raise the faults of the open disputes.

    Called immediately after a new dispute is recorded, and after any event that left such work unfinished, for example
    because of a power loss.
    """
    ruling = machine.memory.read(DisputeRuling, MoneyKey.DISPUTE_RULING)
    if ruling is not None:
        _post_award(machine, ruling)
    for disputed in list_disputed_amounts(machine).values():
        raise_fault(machine, disputed.fault_code, detail=disputed.reason)


# ---------------------------------------------------------------------------------------------- ruling
@refusal_code("ruling_is_sound")
def ruling_form_is_valid(machine: Machine, event: Event) -> bool:
    """Return whether the form of a ruling names an open dispute, an amount within its bounds and a reason.

    A printed ticket can be ruled "good" only if the ticket ledger knows it.
    """
    form = event.read_payload(DisputedAmountForm)
    disputed = list_disputed_amounts(machine).get(form.disputed)
    if disputed is None or not are_texts_filled_in(form.reason):
        return False
    desk, amount_cents = machine.find_installed(TicketDesk), _find_awarded_cents(disputed, form)
    is_known = desk is not None and desk.find_issued_ticket(disputed.id) is not None
    return disputed.may_award(amount_cents) and (
        bool(amount_cents) or not disputed.is_about_printed_ticket or is_known
    )


def _find_awarded_cents(disputed: DisputedAmount, form: DisputedAmountForm) -> int | None:
    """Return the amount that the form awards to the player, in minor units, or None if it states no decision.

    A printed ticket is awarded 0 if it is ruled good, and its full amount if it is ruled void.
    """
    if not disputed.is_about_printed_ticket:
        return form.amount_cents
    return {None: None, "good": 0, "void": disputed.largest_cents}[form.ticket]


def rule_disputed_amount(machine: Machine, event: Event) -> None:
    """Carry out the form's ruling on a disputed amount: pay the awarded part by hand, and close the dispute.

    If the device has no other open dispute, its fault is cleared. For a printed ticket, only the ruling is recorded
    here; the ticket's cash-out then ends, and pays a void ticket by hand.
    """
    form = event.read_payload(DisputedAmountForm)
    disputed = list_disputed_amounts(machine)[form.disputed]
    amount_cents = _find_awarded_cents(disputed, form)
    if amount_cents is None:
        raise InvariantError("a ruling on a disputed amount was submitted without an amount")
    entry_record = DisputeRuled(
        **build_ruling_details(machine, event), dispute=disputed.journal_details, amount_cents=amount_cents
    )
    ruling = DisputeRuling(disputed_amount=disputed, amount_cents=amount_cents, entry_record=entry_record)
    if disputed.set_aside_cents:
        machine.post(
            DISPUTE_RELEASED,
            DisputeReleased(id=disputed.id),
            entry_id=f"{disputed.id}.released",
            ref=format_reservation_id(disputed),
            state={MoneyKey.DISPUTE_RULING: ruling},
        )
    if disputed.is_about_printed_ticket:
        _record_ticket_ruling(machine, ruling)
    else:
        _post_award(machine, ruling)
    machine.notice = Notice(code="disputed_ruled", values={"amount_cents": amount_cents})


def _record_ticket_ruling(machine: Machine, ruling: DisputeRuling) -> None:
    """Record the ruling on a printed ticket, good or void, as the final state of its print job.

    The cash-out then ends like any other with a printed or failed ticket.
    """
    printing = machine.memory.require(PrintingRecord, MoneyKey.PRINT_JOB)
    state = PrintState.FAILED if ruling.amount_cents else PrintState.BARCODE_DONE
    machine.post(
        DISPUTE_RULED,
        ruling.entry_record,
        entry_id=f"{ruling.disputed_amount.id}.ruled",
        state={
            **_build_closing_state(machine, ruling.disputed_amount),
            MoneyKey.PRINT_JOB: replace(printing, state=state),
        },
    )


def _build_closing_state(machine: Machine, disputed: DisputedAmount) -> dict[str, None]:
    """Return the state change that deletes the dispute.

    If the device has no other open dispute, it also clears the device's fault.
    """
    other_disputes = [
        dispute for dispute in list_disputed_amounts(machine).values() if dispute.id != disputed.id
    ]
    is_last_of_device = all(dispute.device != disputed.device for dispute in other_disputes)
    fault_state = {f"{KernelKey.FAULT}{disputed.fault_code}": None} if is_last_of_device else {}
    return {f"{MoneyKey.DISPUTE}{disputed.id}": None, **fault_state}


def _post_award(machine: Machine, ruling: DisputeRuling) -> None:
    """Post the payment of a ruling, and close the dispute.

    A disputed ticket in the cash box that is still locked is redeemed if the ruling pays it, otherwise unlocked.
    """
    disputed, amount_cents = ruling.disputed_amount, ruling.amount_cents
    desk = machine.find_installed(TicketDesk)
    is_locked = (
        bool(disputed.masked_ticket_number) and desk is not None and desk.has_redemption_lock(disputed.id)
    )
    is_redemption = is_locked and amount_cents > 0
    redemption_status = RedemptionStatus.REDEEMED if amount_cents else RedemptionStatus.NOT_STACKED
    entry_record, state = ruling.entry_record, dict[str, object](_build_closing_state(machine, disputed))
    if disputed.set_aside_cents:
        state[MoneyKey.DISPUTE_RULING] = None
    if is_redemption:
        entry_record = replace(
            entry_record,
            number_commitment=compute_number_commitment(machine, _read_full_ticket_number(machine, disputed)),
        )
        state.update(build_anchor_state(machine))
    machine.post(
        DISPUTE_RULED,
        entry_record,
        # A redemption uses the usual id ("<id>.in"): after a restart, ticket recovery finds it and completes
        # the redemption in the ticket ledger.
        entry_id=f"{disputed.id}.in" if is_redemption else f"{disputed.id}.ruled",
        transfers=_build_award_transfers(machine, disputed, amount_cents, is_redemption=is_redemption),
        state={**state, **build_host_ticket_state(machine, disputed.id, redemption_status)},
    )
    if is_redemption:
        machine.component(TicketDesk).commit_redemption(disputed.id)
    elif is_locked:
        machine.component(TicketDesk).abort_redemption(disputed.id, "ruled as returned to the player")
    store_journal_head(machine)


def _read_full_ticket_number(machine: Machine, disputed: DisputedAmount) -> str:
    """Return the full number of the ticket in dispute, which only the ticket ledger has."""
    number = machine.component(TicketDesk).find_number_by_redemption(disputed.id)
    if number is None:
        raise InvariantError(f"{disputed.id} holds a ticket whose number is not in the ledger")
    return number


def _build_award_transfers(
    machine: Machine, disputed: DisputedAmount, amount_cents: int, *, is_redemption: bool
) -> tuple[Transfer, ...]:
    """Return the transfers that pay the awarded amount by hand.

    The remaining credit that was set aside is booked as coins that left the hopper. ``is_redemption``: whether the
    ruling redeems the ticket. If a cashier has released or redeemed it before, the operator pays the amount instead.
    """
    source = DISPUTED_ACCOUNT
    if disputed.set_aside_cents:
        source = machine.name_credit_account(CreditKind.CASHABLE)
    elif is_redemption:
        source = f"world:voucher_in:{disputed.credit_kind}"
    award_transfers = (Transfer(source, DISPUTED_HANDPAY_ACCOUNT, amount_cents),) if amount_cents else ()
    unpaid_cents = max(0, disputed.set_aside_cents - amount_cents)
    if not unpaid_cents:
        return award_transfers
    remainder_flows = (
        Transfer(source, "out:hopper", unpaid_cents),
        Transfer("stock:hopper", "stock:floor", unpaid_cents),
    )
    return award_transfers + remainder_flows
