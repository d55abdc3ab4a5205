"""The audit rules for disputed amounts: only staff can decide whether the player is owed the money.

For example, a bill was lost in the acceptor. The entry that closes the interrupted transaction opens the
dispute and states the smallest and the largest amount that may be owed. One ruling of staff between these
bounds ends it (:mod:`egm.money.disputed_amounts`).
"""

from dataclasses import replace
from typing import Any, Final

from egm.kernel.states import ALL_STATES, STATES_FOR_RULINGS
from egm.money import entries
from egm.money.disputed_amounts import DisputedAmount, DisputedAmountRuling
from egm.money.records.host import HostTicketRecord, RedemptionStatus
from egm.money.records.money import CashOutRecord, DispensedCoins
from egm.people import Permission
from egm.record_codec import to_json
from meters.transaction import Phase
from tools.audit.rules.parts import (
    check_first_person,
    check_signed_in_to_menu,
    check_somebody_signed_in,
    check_ticket_ledger_grows,
)
from tools.audit.rules.pattern import (
    CheckContext,
    DerivedValue,
    ObjectWithChanges,
    ObjectWithMembers,
    PatternMismatch,
    format_storage_key,
    format_value,
    is_json_equal,
    parse_record,
)
from tools.audit.rules.rule import AuditRule


def read_opened_dispute(context: CheckContext) -> DisputedAmount | None:
    """Return the dispute that the checked entry opens, or None if it opens none.

    Raises :class:`PatternMismatch` if the dispute's data is not valid.
    """
    prefix = format_storage_key("disputed:", context.position)
    keys = [key for key in context.entry.state if key.startswith(prefix)]
    if not keys:
        return None
    key, *other_keys = keys
    stored_dispute = parse_record(DisputedAmount, context.entry.state[key], f"state.{key}")
    if other_keys or key != f"{prefix}{stored_dispute.id}":
        raise PatternMismatch(
            f"state: expected one dispute, stored under {prefix}{stored_dispute.id}; found {format_value(keys)}"
        )
    amount_min_cents, amount_max_cents = stored_dispute.amount_min_cents, stored_dispute.amount_max_cents
    bounds = amount_min_cents, amount_max_cents, stored_dispute.reserved_cents
    if not 0 <= amount_min_cents <= amount_max_cents >= stored_dispute.reserved_cents >= 0:
        raise PatternMismatch(
            f"state.{key}: least_cents, most_cents and held_cents are {format_value(bounds)}; expected "
            "0 <= least_cents <= most_cents and 0 <= held_cents <= most_cents"
        )
    if context.ledger.state.get(key) is not None:
        raise PatternMismatch(f"state.{key}: this dispute was already open before this entry")
    return stored_dispute


def build_dispute_fields(dispute: DisputedAmount) -> dict[str, Any]:
    """Return the fields of a dispute that the record of the entry which opens it must repeat.

    Empty fields are left out.
    """
    fields = {
        "id": dispute.id,
        "device": dispute.device,
        "why": dispute.reason,
        "number": dispute.masked_ticket_number,
    }
    bounds = {"least_cents": dispute.amount_min_cents, "most_cents": dispute.amount_max_cents}
    return {**{key: value for key, value in fields.items() if value}, **bounds}


def _check_opened_dispute(context: CheckContext, **expected: Any) -> None:
    """Check the dispute that the checked entry opens, if any.

    The entry's record must repeat the dispute's fields. In the dispute that the machine's memory stores, each
    field that is a keyword argument must have the argument's value.
    """
    dispute, recorded_dispute = read_opened_dispute(context), context.bound_values.get("dispute")
    if (dispute is None) != (recorded_dispute is None):
        missing_part = "state" if dispute is None else "record"
        raise PatternMismatch(
            f"{missing_part}.disputed is missing: a dispute is in the record and in the state, or in neither"
        )
    if dispute is None:
        return
    if not is_json_equal(recorded_dispute, build_dispute_fields(dispute)):
        raise PatternMismatch(
            f"record.disputed: expected {format_value(build_dispute_fields(dispute))}, found"
            f" {format_value(recorded_dispute)}"
        )
    stored_fields = to_json(dispute)
    if stored_fields != {**stored_fields, **expected}:
        raise PatternMismatch(
            f"state.disputed: expected {format_value(expected)}, found {format_value(stored_fields)}"
        )


def check_disputed_bill_or_ticket(context: CheckContext) -> None:
    """Check the dispute about a lost bill or ticket.

    The largest amount that may be owed is the amount of the bill or ticket; 0 for a ticket of restricted
    credit.
    """
    kind = context["held_source"].rpartition(":")[2] if "number" in context.bound_values else ""
    amount_max_cents = 0 if kind == "restricted" else context["held_cents"]
    _check_opened_dispute(
        context,
        id=context["paper"],
        device="bill_acceptor",
        why=context["reason"],
        least_cents=0,
        most_cents=amount_max_cents,
        held_cents=0,
        ticket=context.bound_values.get("number", ""),
        kind=kind,
    )


def check_disputed_ticket(context: CheckContext) -> None:
    """Check the dispute about a ticket that lies in the cash box although this machine could not redeem it."""
    is_restricted = context["held_source"].endswith(":restricted")
    _check_opened_dispute(
        context,
        id=context["paper"],
        device="bill_acceptor",
        least_cents=0,
        most_cents=0 if is_restricted else context["held_cents"],
        held_cents=0,
        ticket="",
        kind="",
    )


def check_disputed_coins(context: CheckContext) -> None:
    """Check the dispute about coins that the acceptor has counted but not reported."""
    _check_opened_dispute(context, device="coin_acceptor", held_cents=0, ticket="", kind="")


def check_disputed_ticket_print(context: CheckContext) -> None:
    """Check the dispute about the ticket of the open cash-out, which may or may not have been printed."""
    cash_out = context.record_before(CashOutRecord, "pay_out")
    dispute = read_opened_dispute(context)
    if (
        cash_out is None
        or dispute is None
        or not is_json_equal(context.record, build_dispute_fields(dispute))
    ):
        raise PatternMismatch(
            f"record does not match the dispute in state over the ticket of the open cash-out: expected "
            f"{format_value(None if dispute is None else build_dispute_fields(dispute))}, "
            f"found {format_value(context.record)}"
        )
    expected = replace(
        dispute,
        id=cash_out.id,
        device="ticket_printer",
        amount_min_cents=0,
        amount_max_cents=cash_out.amount_cents,
        reserved_cents=0,
        masked_ticket_number=cash_out.masked_number or "",
        credit_kind=str(cash_out.credit_kind),
    )
    if dispute != expected:
        raise PatternMismatch(
            f"state.disputed: expected {format_value(to_json(expected))}, found {format_value(to_json(dispute))}"
        )


def _check_dispute_entry(context: CheckContext) -> None:
    """Check an entry that only opens a dispute: its record and the stored dispute must be the same."""
    dispute = read_opened_dispute(context)
    if (
        dispute is None
        or not is_json_equal(context.record, build_dispute_fields(dispute))
        or dispute.masked_ticket_number
        or dispute.credit_kind
    ):
        raise PatternMismatch(
            f"record does not match the dispute in state, which names no ticket: expected "
            f"{format_value(None if dispute is None else build_dispute_fields(dispute))}, "
            f"found {format_value(context.record)}"
        )
    expected = replace(dispute, amount_min_cents=0, reserved_cents=0)
    if context.entry.phase is Phase.RESERVE:
        expected = _compute_coin_dispute(context, expected)
    stored_value = context.value_after(f"disputed:{dispute.id}")
    if not is_json_equal(stored_value, to_json(expected)):
        raise PatternMismatch(
            f"state.disputed: expected {format_value(to_json(expected))}, found {format_value(stored_value)}"
        )


def _compute_coin_dispute(context: CheckContext, dispute: DisputedAmount) -> DisputedAmount:
    """Return ``dispute`` with the amount of an abandoned coin payout whose coins may have left the hopper.

    That amount is reserved, and it is the largest amount that may be owed.
    """
    abandoned_payout = context.record_before(DispensedCoins, "coins_gone")
    if abandoned_payout is None:
        raise PatternMismatch(
            "the entry reserves credit, but no abandoned payout with coins in doubt is stored before it"
        )
    remainder_cents = abandoned_payout.amount_cents - abandoned_payout.paid_cents
    return replace(
        dispute,
        id=abandoned_payout.id,
        device="hopper",
        reason=abandoned_payout.doubt_reason,
        amount_max_cents=remainder_cents,
        reserved_cents=remainder_cents,
    )


def _derive_dispute_transfers(context: CheckContext) -> Any:
    """Return the transfers that an entry which only opens a dispute must make.

    It either reserves the disputed amount, or removes coins that left the hopper without an order from the
    hopper's stock.
    """
    if context.entry.phase is Phase.RESERVE:
        cents = context.record["most_cents"]
        return [(context.format_credit_account("cashable"), "out:handpay_disputed", cents)]
    recorded_triples = [(t.source, t.target, t.amount_cents) for t in context.entry.transfers]
    if len(recorded_triples) > 1 or any(
        (source, target) != ("stock:hopper", "stock:floor") for source, target, _ in recorded_triples
    ):
        raise PatternMismatch(
            "the entry may only move stray coins, once, from stock:hopper to stock:floor; found "
            f"{format_value(recorded_triples)}"
        )
    return recorded_triples


# ---------------------------------------------------------------------------------------------- the ruling
def _find_ruled_dispute(context: CheckContext) -> DisputedAmount:
    """Return the open dispute on which the checked entry records a ruling.

    Raises :class:`PatternMismatch` if no such dispute is open, or the ruling stored when its reserved amount was
    released is about a different dispute.
    """
    ruling = context.record_before(DisputedAmountRuling, "ruling")
    stored_dispute = context.record_before(DisputedAmount, f"disputed:{context.record['id']}")
    if stored_dispute is None:
        raise PatternMismatch(
            f"record.id: no dispute about {format_value(context.record['id'])} was open before this entry"
        )
    if ruling is not None and ruling.disputed_amount != stored_dispute:
        raise PatternMismatch(
            f"record.id: the released dispute is {format_value(ruling.disputed_amount.id)}, "
            f"found {format_value(context.record['id'])}"
        )
    return stored_dispute


def _check_ruling(context: CheckContext) -> None:
    """Check a ruling on a disputed amount.

    The dispute must be open, the amount must be between its bounds, and the checked entry must store the right changes.
    """
    dispute, record = _find_ruled_dispute(context), context.record
    awarded_cents, ruling = record.get("amount_cents"), context.record_before(DisputedAmountRuling, "ruling")
    if ruling is None:  # a stored ruling was checked when it was released, and may be paid after a restart
        check_signed_in_to_menu(context)
    ruling_fields = ("machine", "place", "reason", "persons")
    expected = {
        **{name: record.get(name) for name in ruling_fields},
        **build_dispute_fields(dispute),
        "amount_cents": awarded_cents,
    }
    if _is_ticket_redeemed(context, dispute) and type(record.get("commitment")) is str:
        expected["commitment"] = record["commitment"]
    if not is_json_equal(record, expected):
        raise PatternMismatch(f"record: expected {format_value(expected)}, found {format_value(record)}")
    if not dispute.amount_min_cents <= awarded_cents <= dispute.amount_max_cents:
        raise PatternMismatch(
            f"record.amount_cents: expected {dispute.amount_min_cents} to {dispute.amount_max_cents}, the bounds of "
            "the "
            f"dispute; found {format_value(awarded_cents)}"
        )
    if dispute.masked_ticket_number and awarded_cents not in {0, dispute.amount_max_cents}:
        raise PatternMismatch(
            f"record.amount_cents: a ticket pays {dispute.amount_max_cents} or 0, found {format_value(awarded_cents)}"
        )
    if bool(dispute.reserved_cents) != (ruling is not None):
        ruling_text = "no ruling was" if ruling is None else "a ruling was"
        raise PatternMismatch(
            f"{dispute.reserved_cents} cents are held for this dispute, but {ruling_text} stored before this entry: "
            "a held amount, and only that, is released first"
        )
    if ruling is not None and (
        ruling.amount_cents != awarded_cents or not is_json_equal(to_json(ruling.entry_record), record)
    ):
        raise PatternMismatch(
            f"record does not match the ruling stored before this entry: expected {ruling.amount_cents} cents and "
            f"{format_value(to_json(ruling.entry_record))}, found {format_value(record)}"
        )
    prefix = format_storage_key("disputed:", context.position)
    other_disputes = [
        other_dispute
        for key, value in context.ledger.state.items()
        if key.startswith(prefix)
        and (other_dispute := parse_record(DisputedAmount, value, key)) != dispute
        and other_dispute.device == dispute.device
    ]
    fault_removal = {} if other_disputes else {f"fault:{dispute.device}.disputed": None}
    ruling_removal = {} if ruling is None else {"ruling": None}
    is_redeemed = _is_ticket_redeemed(context, dispute)
    anchor_state = (
        {"tickets": context.value_after("tickets")} if is_redeemed and context.value_after("tickets") else {}
    )
    check_ticket_ledger_grows(context)
    host_ticket = context.record_before(HostTicketRecord, "host_ticket")
    status = RedemptionStatus.REDEEMED if awarded_cents else RedemptionStatus.NOT_STACKED
    host_state = (
        {"host_ticket": to_json(replace(host_ticket, status=status))}
        if host_ticket is not None and host_ticket.id == dispute.id
        else {}
    )
    state = {
        f"disputed:{dispute.id}": None,
        **fault_removal,
        **ruling_removal,
        **anchor_state,
        **host_state,
        **_derive_state_after_print_ruling(context, dispute, awarded_cents),
    }
    expected_state = {format_storage_key(key, context.position): value for key, value in state.items()}
    if dict(context.entry.state) != expected_state:
        raise PatternMismatch(
            f"state does not end exactly this dispute, its fault and its ruling: expected "
            f"{format_value(expected_state)}, found {format_value(dict(context.entry.state))}"
        )
    expected_id = f"{dispute.id}.{'in' if is_redeemed else 'ruled'}"
    if context.entry.id != expected_id:
        raise PatternMismatch(f"id: expected {expected_id!r}, found {format_value(context.entry.id)}")


def _derive_state_after_print_ruling(
    context: CheckContext, dispute: DisputedAmount, awarded_cents: int
) -> dict[str, Any]:
    """Return the state changes that a ruling requires if the printer's result for the disputed ticket is unknown."""
    print_record = context.value_before("print")
    print_state = (
        {"print": {**print_record, "state": "failed" if awarded_cents else "barcode_done"}}
        if print_record
        else {}
    )
    return print_state if dispute.is_about_printed_ticket else {}


def _is_ticket_redeemed(context: CheckContext, dispute: DisputedAmount) -> bool:
    """Return whether the ruling redeems the disputed ticket that was inserted, as the id of the checked entry states.

    It does not if the cashier's cage has already paid the ticket: then the operator bears the amount.
    """
    is_inserted_ticket = bool(dispute.masked_ticket_number) and not dispute.is_about_printed_ticket
    return is_inserted_ticket and context.record["amount_cents"] > 0 and context.entry.id.endswith(".in")


def _derive_ruling_payment(context: CheckContext) -> Any:
    """Return the transfers with which a ruling pays the awarded amount.

    What remains of a reserved amount is booked as coins that the hopper paid. There are none for a printed ticket.
    """
    dispute, awarded_cents = _find_ruled_dispute(context), context.record["amount_cents"]
    # The reservation is ended by the cash-out, which is paid by the ticket or by hand.
    if dispute.is_about_printed_ticket:
        return []
    source = "house:disputed"
    if dispute.reserved_cents:
        source = context.format_credit_account("cashable")
    elif _is_ticket_redeemed(context, dispute):
        source = f"world:voucher_in:{dispute.credit_kind}"
    payment = [(source, "out:handpay_disputed", awarded_cents)] if awarded_cents else []
    remainder_cents = max(0, dispute.reserved_cents - awarded_cents)
    if not remainder_cents:
        return payment
    return [
        *payment,
        (source, "out:hopper", remainder_cents),
        ("stock:hopper", "stock:floor", remainder_cents),
    ]


def _check_dispute_release(context: CheckContext) -> None:
    """Check that the stored ruling is about the dispute whose reserved credit the checked entry releases."""
    ruling = context.record_after(DisputedAmountRuling, "ruling")
    stored_dispute = context.record_before(DisputedAmount, f"disputed:{context['id']}")
    if (
        ruling is None
        or ruling.disputed_amount != stored_dispute
        or ruling.entry_record.disputed_amount.id != context["id"]
    ):
        raise PatternMismatch(
            f"state.ruling is not about the dispute {format_value(context['id'])} stored before this entry: expected "
            f"{format_value(None if stored_dispute is None else to_json(stored_dispute))}, "
            f"found {format_value(None if ruling is None else to_json(ruling.disputed_amount))}"
        )
    check_first_person(context, next(iter(ruling.entry_record.persons), None))


RULES: Final = (
    AuditRule(
        entry_declaration=entries.TICKET_DISPUTED,
        state_before={"print": ObjectWithMembers("print", state="printing")},
        state={"print": ObjectWithChanges("print", state="disputed")},
        extra_checks=(check_disputed_ticket_print,),
    ),
    AuditRule(
        entry_declaration=entries.DISPUTED_AMOUNT_OPENED,
        allowed_states=ALL_STATES,
        expected_transfers=DerivedValue(_derive_dispute_transfers),
        extra_checks=(_check_dispute_entry,),
    ),
    AuditRule(
        entry_declaration=entries.DISPUTED_AMOUNT_OPENED_WITH_CREDIT,
        allowed_states=ALL_STATES,
        id="{subject}.disputed",
        record={"id": "$subject"},
        expected_transfers=DerivedValue(_derive_dispute_transfers),
        extra_checks=(_check_dispute_entry,),
    ),
    AuditRule(
        entry_declaration=entries.RESERVED_CREDIT_RELEASED,
        allowed_states=STATES_FOR_RULINGS,
        id="{id}.released",
        ref="{id}.disputed",
        state_before={"ruling": None},
        record={"id": "$id"},
        extra_checks=(_check_dispute_release, check_somebody_signed_in),
    ),
    AuditRule(
        entry_declaration=entries.DISPUTED_AMOUNT_RULED,
        allowed_states=ALL_STATES,
        id="$:text",
        expected_transfers=DerivedValue(_derive_ruling_payment),
        permission=Permission.RULE_ON_MONEY,
        extra_checks=(_check_ruling,),
    ),
)
