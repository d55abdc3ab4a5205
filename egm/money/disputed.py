"""Disputed amounts: where the bytes of a device cannot tell who owes whom, a person decides.

A note ordered into the box that no report explains, coins the acceptor counted and never reported, coins of a
payout whose hopper was exchanged. Each is opened in the very transaction that closes what it is about, with
the bounds that are known; its device's fault stops play until a person has ruled, and no key clears it. What
is in dispute of the player's credits is set aside meanwhile. The ruling is an amount paid by hand, with the
persons and the reason, in the register ``disputed-amounts``.

Of a ticket that may have come out of the printer the ruling says whether it is good: then nothing is paid by
hand and the ticket is money, for whoever holds it; or it is void, and the whole is paid by hand. Its number
stays locked meanwhile, and the cash-out that printed it open.

Who pays: a ticket kept by the house is redeemed by the ruling; coins of the hopper that are not paid by hand
have left it; everything else is the house's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from egm.devices.interface import PrintState
from egm.errors import InvariantError
from egm.kernel.credits import CreditKind
from egm.kernel.events import Event
from egm.kernel.keys import KernelKey
from egm.kernel.machine import Machine
from egm.kernel.messages import Notice
from egm.kernel.standing_faults import raise_fault
from egm.money.host.model import Redeeming
from egm.money.ticket_ledger import anchor, committed, host_ticket, keep_head
from egm.records.keys import MoneyKey
from egm.records.money import PrintingRecord
from egm.staff.form import ruling_details, says
from egm.tickets.desk import TicketDesk
from meters import Phase, Transfer
from meters.transaction import JSON

SOURCE: Final = "house:disputed"
PAID: Final = "out:handpay_disputed"


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedAmount:
    """One open dispute: of which ``device`` kind and about what ``id``; amounts in minor units.

    ``held_cents``: set aside of the player's credits under the id, for coins of which nobody knows whether
    they left the hopper. ``ticket``: the masked number of a ticket locked in the ticket ledger under the id,
    of ``kind``; it is worth all or nothing.
    """

    id: str
    device: str
    why: str
    since: str
    least_cents: int = 0
    most_cents: int = 0
    held_cents: int = 0
    ticket: str = ""
    kind: str = ""

    @classmethod
    def about(
        cls,
        machine: Machine,
        device: str,
        why: str,
        *,
        subject: str = "",
        least_cents: int = 0,
        most_cents: int = 0,
        held_cents: int = 0,
        ticket: str = "",
        kind: str = "",
    ) -> Self:
        """A dispute that begins now: about ``subject``, or about something that has no id of its own."""
        return cls(
            id=subject or machine.fresh_id("disputed"),
            device=device,
            why=why,
            since=machine.clock.now().isoformat(),
            least_cents=least_cents,
            most_cents=most_cents,
            held_cents=held_cents,
            ticket=ticket,
            kind=kind,
        )

    @property
    def code(self) -> str:
        """The fault that stands until every dispute of the device is ruled on."""
        return f"{self.device}.disputed"

    @property
    def is_printed(self) -> bool:
        """Whether it is about a ticket that may have come out of the printer."""
        return self.device == "ticket_printer"

    @property
    def state(self) -> dict[str, "DisputedAmount"]:
        """The machine state that opens it, for the transaction that closes what it is about."""
        return {f"{MoneyKey.DISPUTED}{self.id}": self}

    @property
    def details(self) -> dict[str, int | str]:
        """What is told of it."""
        told = {"id": self.id, "device": self.device, "why": self.why, "number": self.ticket}
        bounds = {"least_cents": self.least_cents, "most_cents": self.most_cents}
        return {**{key: value for key, value in told.items() if value}, **bounds}

    def allows(self, amount_cents: object) -> bool:
        """Whether a person may decide so."""
        if type(amount_cents) is not int or not self.least_cents <= amount_cents <= self.most_cents:
            return False
        return not self.ticket or amount_cents in {0, self.most_cents}


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeRuling:
    """What a person has decided of a disputed amount; ``story``: what its entry tells."""

    disputed: DisputedAmount
    amount_cents: int
    story: Mapping[str, JSON]


def disputed_amounts(machine: Machine) -> dict[str, DisputedAmount]:
    """The open disputes of a position by id, in the order of their ids."""
    return machine.memory.read_all(DisputedAmount, MoneyKey.DISPUTED)


# ---------------------------------------------------------------------------------------------- opening
def open_dispute(machine: Machine, disputed: DisputedAmount, transfers: tuple[Transfer, ...] = ()) -> None:
    """Open one that no other transaction opens; a repeat changes nothing.

    ``transfers`` are the facts that are known all the same; what is held is set aside.
    """
    if disputed.id in disputed_amounts(machine):
        return
    if disputed.held_cents:
        transfers = (Transfer(machine.credit(CreditKind.CASHABLE), PAID, disputed.held_cents),)
    machine.record(
        "disputed.opened",
        transaction_id=held_id(disputed) if disputed.held_cents else None,
        phase=Phase.RESERVE if disputed.held_cents else Phase.POST,
        transfers=transfers,
        state=disputed.state,
        details=disputed.details,
    )


def held_id(disputed: DisputedAmount) -> str:
    """The id of the reservation of what is set aside."""
    return f"{disputed.id}.disputed"


def dispute_is_unfinished(machine: Machine, _: Event) -> bool:
    """An open dispute has not stopped play yet, or the ruling on one takes another entry."""
    if machine.memory.get(MoneyKey.RULING) is not None:
        return True
    open_ones = disputed_amounts(machine).values()
    return bool(open_ones) and any(disputed.code not in machine.faults for disputed in open_ones)


def end_disputes(machine: Machine, _: Event) -> None:
    """What follows from the open disputes and rulings."""
    finish(machine)


def finish(machine: Machine) -> None:
    """What follows from the open disputes and rulings: at once, or after a restart in between."""
    ruling = machine.memory.read(DisputeRuling, MoneyKey.RULING)
    if ruling is not None:
        _pay(machine, ruling)
    for disputed in disputed_amounts(machine).values():
        raise_fault(machine, disputed.code, detail=disputed.why)


# ---------------------------------------------------------------------------------------------- ruling
def ruling_is_sound(machine: Machine, event: Event) -> bool:
    """An open dispute, an amount within its bounds, and the reason; a good ticket is known to its ledger."""
    disputed = disputed_amounts(machine).get(str(event.data.get("disputed")))
    if disputed is None or not says(event, "reason"):
        return False
    desk, amount_cents = machine.installed(TicketDesk), _ruled_cents(disputed, event)
    is_known = desk is not None and desk.ticket_of(disputed.id) is not None
    return disputed.allows(amount_cents) and (bool(amount_cents) or not disputed.is_printed or is_known)


def _ruled_cents(disputed: DisputedAmount, event: Event) -> object:
    """The amount decided on: of a printed ticket, nothing where it is good, and all where it is not."""
    if not disputed.is_printed:
        return event.data.get("amount_cents")
    return {"good": 0, "void": disputed.most_cents}.get(str(event.data.get("ticket")))


def rule_disputed_amount(machine: Machine, event: Event) -> None:
    """Pay by hand what was decided; the last ruling about a device clears its fault."""
    disputed = disputed_amounts(machine)[str(event.data["disputed"])]
    amount_cents = int(str(_ruled_cents(disputed, event)))
    details = ruling_details(machine, event, **disputed.details, amount_cents=amount_cents)
    ruling = DisputeRuling(disputed=disputed, amount_cents=amount_cents, story=details)
    if disputed.held_cents:
        machine.record(
            "disputed.released",
            transaction_id=f"{disputed.id}.released",
            phase=Phase.VOID,
            ref=held_id(disputed),
            state={MoneyKey.RULING: ruling},
            details={"id": disputed.id},
        )
    if disputed.is_printed:
        _decide_ticket(machine, ruling)
    else:
        _pay(machine, ruling)
    machine.notice = Notice(code="disputed_ruled", values={"amount_cents": amount_cents})


def _decide_ticket(machine: Machine, ruling: DisputeRuling) -> None:
    """Say of the open cash-out's ticket what the printer could not; the cash-out then ends as ever."""
    printing = machine.memory.require(PrintingRecord, MoneyKey.PRINT)
    state = PrintState.FAILED if ruling.amount_cents else PrintState.BARCODE_DONE
    machine.record(
        "disputed.ruled",
        transaction_id=f"{ruling.disputed.id}.ruled",
        counts={"rulings": 1},
        state={
            **_closed(machine, ruling.disputed),
            MoneyKey.PRINT: replace(printing, state=state),
        },
        details=dict(ruling.story),
    )


def _closed(machine: Machine, disputed: DisputedAmount) -> dict[str, None]:
    """The machine state that ends a dispute; with the last of a device ends its fault."""
    others = [one for one in disputed_amounts(machine).values() if one.id != disputed.id]
    cleared = all(one.device != disputed.device for one in others)
    fault = {f"{KernelKey.FAULT}{disputed.code}": None} if cleared else {}
    return {f"{MoneyKey.DISPUTED}{disputed.id}": None, **fault}


def _pay(machine: Machine, ruling: DisputeRuling) -> None:
    disputed, amount_cents = ruling.disputed, ruling.amount_cents
    desk = machine.installed(TicketDesk)
    held = bool(disputed.ticket) and desk is not None and desk.holds(disputed.id)
    redeems = held and amount_cents > 0
    ended = Redeeming.REDEEMED if amount_cents else Redeeming.NOT_STACKED
    machine.record(
        "disputed.ruled",
        # As a redemption's end is named: a restart finds it, and ends the redemption in the ticket ledger.
        transaction_id=f"{disputed.id}.in" if redeems else f"{disputed.id}.ruled",
        transfers=_flows(machine, disputed, amount_cents, redeems=redeems),
        counts={"rulings": 1},
        state={
            **_closed(machine, disputed),
            **({MoneyKey.RULING: None} if disputed.held_cents else {}),
            **(anchor(machine) if redeems else {}),
            **host_ticket(machine, disputed.id, ended),
        },
        details={**ruling.story, **(committed(machine, _number(machine, disputed)) if redeems else {})},
    )
    if redeems:
        machine.state(TicketDesk).redeem_commit(disputed.id)
    elif held:
        machine.state(TicketDesk).redeem_abort(disputed.id, "a person decided that it was given back")
    keep_head(machine)


def _number(machine: Machine, disputed: DisputedAmount) -> str:
    number = machine.state(TicketDesk).number_of(disputed.id)
    if number is None:
        raise InvariantError(f"{disputed.id} holds a ticket the ledger has no number of")
    return number


def _flows(
    machine: Machine, disputed: DisputedAmount, amount_cents: int, *, redeems: bool
) -> tuple[Transfer, ...]:
    """Where the amount comes from, and where the rest of what was set aside has gone.

    A ticket that the cage has had meanwhile is redeemed by nobody here: the house pays.
    """
    source = SOURCE
    if disputed.held_cents:
        source = machine.credit(CreditKind.CASHABLE)
    elif redeems:
        source = f"world:voucher_in:{disputed.kind}"
    paid = (Transfer(source, PAID, amount_cents),) if amount_cents else ()
    rest_cents = max(0, disputed.held_cents - amount_cents)
    if not rest_cents:
        return paid
    left = (Transfer(source, "out:hopper", rest_cents), Transfer("stock:hopper", "stock:floor", rest_cents))
    return paid + left
