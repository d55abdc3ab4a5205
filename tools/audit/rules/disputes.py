"""The rules for disputed amounts: money whose whereabouts the machine cannot determine, until staff rule on it.

A dispute is opened by the entry that closes the disputed transaction, with the bounds of the amount, and
ended by one ruling within them (:mod:`egm.money.disputed`).
"""

from dataclasses import replace
from typing import Any, Final

from egm.kernel.states import EVERYWHERE, RULING
from egm.money.disputed import DisputedAmount, DisputeRuling
from egm.money.host.model import Redeeming
from egm.money.host.records import HostTicketRecord
from egm.people import Permission
from egm.record_codec import to_json
from egm.records.money import CashOutRecord, CoinsGone
from meters.transaction import Phase
from tools.audit.rules.parts import TICKETS, in_the_menu, ticket_ledger_goes_on
from tools.audit.rules.pattern import But, Derived, Differs, Has, Scope, place, same, shown, typed
from tools.audit.rules.rule import Rule


def opened(scope: Scope) -> DisputedAmount | None:
    """Return the dispute that the entry opens, or None. Raises :class:`Differs` if it is incomplete."""
    prefix = place("disputed:", scope.position)
    keys = [key for key in scope.entry.state if key.startswith(prefix)]
    if not keys:
        return None
    stored = typed(DisputedAmount, scope.entry.state[keys[0]], f"state.{keys[0]}")
    if len(keys) > 1 or keys[0] != f"{prefix}{stored.id}":
        raise Differs("state: it is no dispute, or none about what its key says")
    bounds = stored.least_cents, stored.most_cents, stored.held_cents
    if not 0 <= bounds[0] <= bounds[1] >= bounds[2] >= 0:
        raise Differs(f"state.disputed: {shown(bounds)} are no bounds")
    if scope.ledger.state.get(keys[0]) is not None:
        raise Differs("state.disputed: it is open already")
    return stored


def told(kept: DisputedAmount) -> dict[str, Any]:
    """Return the fields of a dispute that a record repeats."""
    named = {"id": kept.id, "device": kept.device, "why": kept.why, "number": kept.ticket}
    bounds = {"least_cents": kept.least_cents, "most_cents": kept.most_cents}
    return {**{key: value for key, value in named.items() if value}, **bounds}


def _opens(scope: Scope, **due: Any) -> None:
    kept, said = opened(scope), scope.names.get("told")
    if (kept is None) != (said is None):
        raise Differs("a dispute is opened that it does not tell, or told and not opened")
    if kept is None:
        return
    if not same(said, told(kept)):
        raise Differs(f"record.disputed: it is {shown(said)}, {shown(told(kept))} was due")
    if kept != replace(kept, **due):
        raise Differs(f"state.disputed: it is {shown(to_json(kept))}, {shown(due)} was due")


def disputed_paper(scope: Scope) -> None:
    """Check a lost bill or ticket: worth at most its amount, and nothing if restricted."""
    kind = scope["held_source"].rpartition(":")[2] if "number" in scope.names else ""
    most_cents = 0 if kind == "restricted" else scope["held_cents"]
    _opens(
        scope,
        id=scope["paper"],
        device="bill_acceptor",
        why=scope["why"],
        least_cents=0,
        most_cents=most_cents,
        held_cents=0,
        ticket=scope.names.get("number", ""),
        kind=kind,
    )


def disputed_ticket(scope: Scope) -> None:
    """Check a ticket that is in the box although this machine could no longer redeem it."""
    restricted = scope["held_source"].endswith(":restricted")
    _opens(
        scope,
        id=scope["paper"],
        device="bill_acceptor",
        least_cents=0,
        most_cents=0 if restricted else scope["held_cents"],
        held_cents=0,
        ticket="",
        kind="",
    )


def disputed_coins(scope: Scope) -> None:
    """Check coins that the acceptor has counted and not reported."""
    _opens(scope, device="coin_acceptor", held_cents=0, ticket="", kind="")


def disputed_print(scope: Scope) -> None:
    """Check the ticket of the open cash-out, which may have been printed."""
    pay_out = scope.record_before(CashOutRecord, "pay_out")
    kept = opened(scope)
    if pay_out is None or kept is None or not same(scope.record, told(kept)):
        raise Differs("it opens a dispute that it does not tell, or about no ticket")
    due = replace(
        kept,
        id=pay_out.id,
        device="ticket_printer",
        least_cents=0,
        most_cents=pay_out.amount_cents,
        held_cents=0,
        ticket=pay_out.number or "",
        kind=str(pay_out.kind),
    )
    if kept != due:
        raise Differs(f"state.disputed: it is {shown(to_json(kept))}, {shown(to_json(due))} was due")


def _is_opened(scope: Scope) -> None:
    kept = opened(scope)
    if kept is None or not same(scope.record, told(kept)) or kept.ticket or kept.kind:
        raise Differs("it opens a dispute that it does not tell")
    due = replace(kept, least_cents=0, held_cents=0)
    if scope.entry.phase is Phase.RESERVE:
        due = _coins_in_doubt(scope, due)
    stored = scope.value_after(f"disputed:{kept.id}")
    if not same(stored, to_json(due)):
        raise Differs(f"state.disputed: it is {shown(stored)}, {shown(to_json(due))} was due")


def _coins_in_doubt(scope: Scope, kept: DisputedAmount) -> DisputedAmount:
    """Return the dispute over the coins of an abandoned payout: those unaccounted for, and all of them."""
    gone = scope.record_before(CoinsGone, "coins_gone")
    if gone is None:
        raise Differs("what is held is coins in doubt, and nothing else is")
    rest_cents = gone.amount_cents - gone.paid_cents
    return replace(
        kept, id=gone.id, device="hopper", why=gone.doubt, most_cents=rest_cents, held_cents=rest_cents
    )


def _opening(scope: Scope) -> Any:
    """Return the transfers that set the amount aside, or that take stray coins out of the hopper."""
    if scope.entry.phase is Phase.RESERVE:
        cents = scope.record["most_cents"]
        return [(scope.credit("cashable"), "out:handpay_disputed", cents)]
    gone = [(t.source, t.target, t.amount_cents) for t in scope.entry.transfers]
    if len(gone) > 1 or any(flow[:2] != ("stock:hopper", "stock:floor") for flow in gone):
        raise Differs("a dispute that is opened moves stray coins, and nothing else")
    return gone


# ---------------------------------------------------------------------------------------------- the ruling
def _dispute(scope: Scope) -> DisputedAmount:
    ruling = scope.record_before(DisputeRuling, "ruling")
    stored = scope.record_before(DisputedAmount, f"disputed:{scope.record['id']}")
    if stored is None:
        raise Differs(f"no dispute is open about {shown(scope.record['id'])}")
    if ruling is not None and ruling.disputed != stored:
        raise Differs("another dispute was released")
    return stored


def _ruled(scope: Scope) -> None:
    kept, said = _dispute(scope), scope.record
    cents, ruling = said.get("amount_cents"), scope.record_before(DisputeRuling, "ruling")
    names = ("machine", "place", "reason", "persons")
    due = {**{name: said.get(name) for name in names}, **told(kept), "amount_cents": cents}
    if _redeems(scope, kept) and type(said.get("commitment")) is str:
        due["commitment"] = said["commitment"]
    if not same(said, due) or not str(said["reason"]).strip():
        raise Differs(f"record: it is {shown(said)}, {shown(due)} was due")
    if not scope.facts.is_serial(said["machine"]) or not all(map(scope.facts.is_staff, said["persons"])):
        raise Differs("it is no ruling of the staff of this machine")
    if type(cents) is not int or not kept.least_cents <= cents <= kept.most_cents:
        raise Differs(f"{shown(cents)} is not within the dispute's bounds")
    if kept.ticket and cents not in {0, kept.most_cents}:
        raise Differs("a ticket is worth all or nothing")
    if bool(kept.held_cents) != (ruling is not None):
        raise Differs("what was set aside was not released first")
    if ruling is not None and (ruling.amount_cents != cents or not same(ruling.story, said)):
        raise Differs("it was ruled otherwise")
    prefix = place("disputed:", scope.position)
    others = [
        other
        for key, value in scope.ledger.state.items()
        if key.startswith(prefix)
        and (other := typed(DisputedAmount, value, key)) != kept
        and other.device == kept.device
    ]
    lifted = {} if others else {f"fault:{kept.device}.disputed": None}
    ended = {} if ruling is None else {"ruling": None}
    redeems = _redeems(scope, kept)
    anchor = {"tickets": scope.value_after("tickets")} if redeems and scope.value_after("tickets") else {}
    ticket_ledger_goes_on(scope)
    asked = scope.record_before(HostTicketRecord, "host_ticket")
    status = Redeeming.REDEEMED if cents else Redeeming.NOT_STACKED
    told_host = (
        {"host_ticket": to_json(replace(asked, status=status))}
        if asked is not None and asked.id == kept.id
        else {}
    )
    state = {
        f"disputed:{kept.id}": None,
        **lifted,
        **ended,
        **anchor,
        **told_host,
        **_decided_print(scope, kept, cents),
    }
    if dict(scope.entry.state) != {place(key, scope.position): value for key, value in state.items()}:
        raise Differs("state: the dispute, its fault and its ruling end with it, and nothing else does")
    if scope.entry.id != f"{kept.id}.{'in' if redeems else 'ruled'}":
        raise Differs(f"id: it is {shown(scope.entry.id)}")


def _decided_print(scope: Scope, kept: DisputedAmount, cents: int) -> dict[str, Any]:
    """Return the state after a ruling on a ticket that the printer could not confirm."""
    printing = scope.value_before("print")
    decided = {"print": {**printing, "state": "failed" if cents else "barcode_done"}} if printing else {}
    return decided if kept.is_printed else {}


def _redeems(scope: Scope, kept: DisputedAmount) -> bool:
    """Return whether the ruling redeems the disputed ticket; if the cage has paid it, the operator pays instead."""
    by_ticket = bool(kept.ticket) and not kept.is_printed
    return by_ticket and scope.record["amount_cents"] > 0 and scope.entry.id.endswith(".in")


def _paid(scope: Scope) -> Any:
    kept, cents = _dispute(scope), scope.record["amount_cents"]
    if kept.is_printed:  # the cash-out itself ends the reservation, with the ticket or with a hand-pay
        return []
    source = "house:disputed"
    if kept.held_cents:
        source = scope.credit("cashable")
    elif _redeems(scope, kept):
        source = f"world:voucher_in:{kept.kind}"
    paid = [(source, "out:handpay_disputed", cents)] if cents else []
    rest_cents = max(0, kept.held_cents - cents)
    if not rest_cents:
        return paid
    return [*paid, (source, "out:hopper", rest_cents), ("stock:hopper", "stock:floor", rest_cents)]


def _released(scope: Scope) -> None:
    ruling = scope.record_after(DisputeRuling, "ruling")
    stored = scope.record_before(DisputedAmount, f"disputed:{scope['id']}")
    if ruling is None or ruling.disputed != stored or ruling.story.get("id") != scope["id"]:
        raise Differs("what is released is not what was in dispute")


RULES: Final = (
    Rule(
        kind="ticket.disputed",
        before={"print": Has("print", state="printing")},
        record="$:object",
        state={"print": But("print", state="disputed"), "disputed:{disputed}": "$:object"},
        also=(disputed_print,),
    ),
    Rule(
        kind="disputed.opened",
        within=EVERYWHERE,
        record="$:object",
        state={"disputed:{disputed}": "$:object"},
        moves=Derived(_opening),
        also=(_is_opened,),
    ),
    Rule(
        kind="disputed.opened",
        within=EVERYWHERE,
        id="{subject}.disputed",
        phase=Phase.RESERVE,
        record=Has("said", id="$subject"),
        state={"disputed:{subject}": "$:object"},
        moves=Derived(_opening),
        also=(_is_opened,),
    ),
    Rule(
        kind="disputed.released",
        within=RULING,
        id="{id}.released",
        phase=Phase.VOID,
        ref="{id}.disputed",
        ends=("disputed.opened",),
        before={"ruling": None},
        record={"id": "$id:text"},
        state={"ruling": {"disputed": "$:object", "amount_cents": "$:count", "story": "$:object"}},
        also=(_released, in_the_menu),
    ),
    Rule(
        kind="disputed.ruled",
        within=EVERYWHERE,
        id="$:text",
        record="$:object",
        state={
            "disputed:{disputed}?": None,
            "fault:{code}?": None,
            "ruling?": None,
            "host_ticket?": "$:object",
            "print?": "$:object",
            **TICKETS,
        },
        counts={"rulings": 1},
        moves=Derived(_paid),
        may=Permission.SETTLE,
        also=(_ruled,),
    ),
)
