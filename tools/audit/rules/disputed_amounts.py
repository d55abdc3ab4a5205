"""The audit rules for disputed amounts: only staff can decide whether the player is owed the money.

For example, a bill was lost in the acceptor. The entry that closes the interrupted transaction opens
the disputed amount and states the smallest and the largest amount that may be owed. One ruling of staff between
these bounds closes it (:mod:`egm.money.disputed_amounts`).

Patterns such as ``"$name:type"`` are explained in :mod:`tools.audit.rules.pattern`.
"""

from dataclasses import replace
from typing import Any, Final

from egm.kernel.states import ALL_STATES, STATES_FOR_RULINGS
from egm.money import entries
from egm.money.disputed_amounts import DisputedAmount, UnpostedRuling
from egm.money.records.host import HostTicketRecord, RedemptionStatus
from egm.money.records.money import CashOutRecord, DispensedCoins
from egm.people import Permission
from egm.record_codec import to_json
from meters.transaction import Phase
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
from tools.audit.rules.shared_checks import (
    check_first_person,
    check_signed_in_to_menu,
    check_somebody_signed_in,
    check_ticket_ledger_grows,
)


def read_opened_disputed_amount(context: CheckContext) -> DisputedAmount | None:
    """Return the disputed amount that the checked entry opens, or None if it opens none.

    Raises :class:`PatternMismatch` if its data is not valid.
    """
    prefix = format_storage_key("disputed:", context.position)
    keys = [key for key in context.entry.state if key.startswith(prefix)]
    if not keys:
        return None
    key, *other_keys = keys
    stored_amount = parse_record(DisputedAmount, context.entry.state[key], f"state.{key}")
    if other_keys or key != f"{prefix}{stored_amount.id}":
        raise PatternMismatch(
            f"state: expected one disputed amount, stored under {prefix}{stored_amount.id}; found {format_value(keys)}"
        )
    amount_min_cents, amount_max_cents = stored_amount.amount_min_cents, stored_amount.amount_max_cents
    bounds = amount_min_cents, amount_max_cents, stored_amount.reserved_cents
    if not 0 <= amount_min_cents <= amount_max_cents >= stored_amount.reserved_cents >= 0:
        raise PatternMismatch(
            f"state.{key}: least_cents, most_cents and held_cents are {format_value(bounds)}; expected "
            "0 <= least_cents <= most_cents and 0 <= held_cents <= most_cents"
        )
    if context.ledger.state.get(key) is not None:
        raise PatternMismatch(f"state.{key}: this disputed amount was already open before this entry")
    return stored_amount


def build_disputed_amount_fields(disputed_amount: DisputedAmount) -> dict[str, Any]:
    """Return the fields of a disputed amount that the record of the entry which opens it must repeat.

    Empty fields are left out.
    """
    fields = {
        "id": disputed_amount.id,
        "device": disputed_amount.device,
        "why": disputed_amount.reason,
        "number": disputed_amount.masked_ticket_number,
    }
    bounds = {"least_cents": disputed_amount.amount_min_cents, "most_cents": disputed_amount.amount_max_cents}
    return {**{key: value for key, value in fields.items() if value}, **bounds}


def _check_opened_disputed_amount(context: CheckContext, **expected: Any) -> None:
    """Check the disputed amount that the checked entry opens, if any.

    The entry's record must repeat the fields of the disputed amount that the entry stores. ``expected`` has values
    that the stored disputed amount must contain, by the stored name of the field.
    """
    disputed_amount, recorded_fields = (
        read_opened_disputed_amount(context),
        context.bound_values.get("disputed_amount"),
    )
    if (disputed_amount is None) != (recorded_fields is None):
        missing_part = "state" if disputed_amount is None else "record"
        raise PatternMismatch(
            f"{missing_part}.disputed is missing: a disputed amount is in the record and in the state, or in neither"
        )
    if disputed_amount is None:
        return
    if not is_json_equal(recorded_fields, build_disputed_amount_fields(disputed_amount)):
        raise PatternMismatch(
            f"record.disputed: expected {format_value(build_disputed_amount_fields(disputed_amount))}, found"
            f" {format_value(recorded_fields)}"
        )
    stored_fields = to_json(disputed_amount)
    if stored_fields != {**stored_fields, **expected}:
        raise PatternMismatch(
            f"state.disputed: expected {format_value(expected)}, found {format_value(stored_fields)}"
        )


def check_disputed_bill_or_ticket(context: CheckContext) -> None:
    """Check the disputed amount of a lost bill or ticket.

    The largest amount that may be owed is the amount of the bill or ticket; 0 for a ticket of restricted
    credit.
    """
    credit_kind = context["reserved_source"].rpartition(":")[2] if "number" in context.bound_values else ""
    amount_max_cents = 0 if credit_kind == "restricted" else context["reserved_cents"]
    _check_opened_disputed_amount(
        context,
        id=context["paper"],
        device="bill_acceptor",
        why=context["reason"],
        least_cents=0,
        most_cents=amount_max_cents,
        held_cents=0,
        ticket=context.bound_values.get("number", ""),
        kind=credit_kind,
    )


def check_unredeemable_ticket_in_box(context: CheckContext) -> None:
    """Check the disputed amount of a ticket that lies in the cash box although this machine could not redeem it."""
    is_restricted = context["reserved_source"].endswith(":restricted")
    _check_opened_disputed_amount(
        context,
        id=context["paper"],
        device="bill_acceptor",
        least_cents=0,
        most_cents=0 if is_restricted else context["reserved_cents"],
        held_cents=0,
        ticket="",
        kind="",
    )


def check_disputed_coins(context: CheckContext) -> None:
    """Check the disputed amount of coins that the acceptor has counted but not reported."""
    _check_opened_disputed_amount(context, device="coin_acceptor", held_cents=0, ticket="", kind="")


def check_disputed_ticket_print(context: CheckContext) -> None:
    """Check the disputed amount of the open cash-out's ticket, which may or may not have been printed."""
    cash_out = context.stored_record_before(CashOutRecord, "pay_out")
    disputed_amount = read_opened_disputed_amount(context)
    if (
        cash_out is None
        or disputed_amount is None
        or not is_json_equal(context.record, build_disputed_amount_fields(disputed_amount))
    ):
        raise PatternMismatch(
            f"record does not match the disputed amount in state for the ticket of the open cash-out: expected "
            f"{format_value(None if disputed_amount is None else build_disputed_amount_fields(disputed_amount))}, "
            f"found {format_value(context.record)}"
        )
    expected = replace(
        disputed_amount,
        id=cash_out.id,
        device="ticket_printer",
        amount_min_cents=0,
        amount_max_cents=cash_out.amount_cents,
        reserved_cents=0,
        masked_ticket_number=cash_out.masked_number or "",
        credit_kind=str(cash_out.credit_kind),
    )
    if disputed_amount != expected:
        raise PatternMismatch(
            f"state.disputed: expected {format_value(to_json(expected))}, "
            f"found {format_value(to_json(disputed_amount))}"
        )


def _check_entry_of_disputed_amount(context: CheckContext) -> None:
    """Check an entry that only opens a disputed amount: its record must repeat the stored one."""
    disputed_amount = read_opened_disputed_amount(context)
    if (
        disputed_amount is None
        or not is_json_equal(context.record, build_disputed_amount_fields(disputed_amount))
        or disputed_amount.masked_ticket_number
        or disputed_amount.credit_kind
    ):
        raise PatternMismatch(
            f"record does not match the disputed amount in state, which names no ticket: expected "
            f"{format_value(None if disputed_amount is None else build_disputed_amount_fields(disputed_amount))}, "
            f"found {format_value(context.record)}"
        )
    expected = replace(disputed_amount, amount_min_cents=0, reserved_cents=0)
    if context.entry.phase is Phase.RESERVE:
        expected = _compute_disputed_coin_payout(context, expected)
    stored_value = context.stored_value_after(f"disputed:{disputed_amount.id}")
    if not is_json_equal(stored_value, to_json(expected)):
        raise PatternMismatch(
            f"state.disputed: expected {format_value(to_json(expected))}, found {format_value(stored_value)}"
        )


def _compute_disputed_coin_payout(context: CheckContext, disputed_amount: DisputedAmount) -> DisputedAmount:
    """Return ``disputed_amount`` with the amount of an abandoned coin payout whose coins may have left the hopper.

    That amount is reserved, and it is the largest amount that may be owed.
    """
    abandoned_payout = context.stored_record_before(DispensedCoins, "coins_gone")
    if abandoned_payout is None:
        raise PatternMismatch(
            "the entry reserves credit, but no abandoned payout with coins in doubt is stored before it"
        )
    remainder_cents = abandoned_payout.amount_cents - abandoned_payout.paid_cents
    return replace(
        disputed_amount,
        id=abandoned_payout.id,
        device="hopper",
        reason=abandoned_payout.doubt_reason,
        amount_max_cents=remainder_cents,
        reserved_cents=remainder_cents,
    )


def _derive_transfers_of_opening(context: CheckContext) -> Any:
    """Return the transfers that an entry which only opens a disputed amount must make.

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
def _find_disputed_amount_ruled_on(context: CheckContext) -> DisputedAmount:
    """Return the open disputed amount on which the checked entry records a ruling.

    Raises :class:`PatternMismatch` if it is not open, or if a ruling on a different one is stored.
    """
    ruling = context.stored_record_before(UnpostedRuling, "ruling")
    stored_amount = context.stored_record_before(DisputedAmount, f"disputed:{context.record['id']}")
    if stored_amount is None:
        raise PatternMismatch(
            f"record.id: no disputed amount {format_value(context.record['id'])} was open before this entry"
        )
    if ruling is not None and ruling.disputed_amount != stored_amount:
        raise PatternMismatch(
            f"record.id: the disputed amount of the stored ruling is {format_value(ruling.disputed_amount.id)}, "
            f"found {format_value(context.record['id'])}"
        )
    return stored_amount


def _check_ruling(context: CheckContext) -> None:
    """Check a ruling on a disputed amount.

    The disputed amount must be open, the award must be between its bounds, and the checked entry must store exactly
    what follows from the ruling.
    """
    disputed_amount, record = _find_disputed_amount_ruled_on(context), context.record
    awarded_cents, ruling = (
        record.get("amount_cents"),
        context.stored_record_before(UnpostedRuling, "ruling"),
    )
    # A stored ruling was checked when the reserved amount was released; a restart may follow.
    if ruling is None:
        check_signed_in_to_menu(context)
    ruling_fields = ("machine", "place", "reason", "persons")
    expected = {
        **{name: record.get(name) for name in ruling_fields},
        **build_disputed_amount_fields(disputed_amount),
        "amount_cents": awarded_cents,
    }
    if _does_ruling_redeem_ticket(context, disputed_amount) and type(record.get("commitment")) is str:
        expected["commitment"] = record["commitment"]
    if not is_json_equal(record, expected):
        raise PatternMismatch(f"record: expected {format_value(expected)}, found {format_value(record)}")
    if not disputed_amount.amount_min_cents <= awarded_cents <= disputed_amount.amount_max_cents:
        raise PatternMismatch(
            f"record.amount_cents: expected {disputed_amount.amount_min_cents} to {disputed_amount.amount_max_cents}, "
            f"the bounds of the disputed amount; found {format_value(awarded_cents)}"
        )
    if disputed_amount.masked_ticket_number and awarded_cents not in {0, disputed_amount.amount_max_cents}:
        raise PatternMismatch(
            f"record.amount_cents: a ticket pays {disputed_amount.amount_max_cents} or 0, "
            f"found {format_value(awarded_cents)}"
        )
    if bool(disputed_amount.reserved_cents) != (ruling is not None):
        ruling_text = "no ruling was" if ruling is None else "a ruling was"
        raise PatternMismatch(
            f"{disputed_amount.reserved_cents} cents are reserved for this disputed amount, but {ruling_text} "
            "stored before this entry: a reserved amount, and only that, is released first"
        )
    if ruling is not None and (
        ruling.amount_cents != awarded_cents or not is_json_equal(to_json(ruling.entry_record), record)
    ):
        raise PatternMismatch(
            f"record does not match the ruling stored before this entry: expected {ruling.amount_cents} cents and "
            f"{format_value(to_json(ruling.entry_record))}, found {format_value(record)}"
        )
    prefix = format_storage_key("disputed:", context.position)
    other_disputed_amounts = [
        other_amount
        for key, value in context.ledger.state.items()
        if key.startswith(prefix)
        and (other_amount := parse_record(DisputedAmount, value, key)) != disputed_amount
        and other_amount.device == disputed_amount.device
    ]
    fault_removal = {} if other_disputed_amounts else {f"fault:{disputed_amount.device}.disputed": None}
    ruling_removal = {} if ruling is None else {"ruling": None}
    redeems_ticket = _does_ruling_redeem_ticket(context, disputed_amount)
    stored_ticket_ledger_end = (
        {"tickets": context.stored_value_after("tickets")}
        if redeems_ticket and context.stored_value_after("tickets")
        else {}
    )
    check_ticket_ledger_grows(context)
    host_ticket = context.stored_record_before(HostTicketRecord, "host_ticket")
    status = RedemptionStatus.REDEEMED if awarded_cents else RedemptionStatus.NOT_STACKED
    stored_host_ticket = (
        {"host_ticket": to_json(replace(host_ticket, status=status))}
        if host_ticket is not None and host_ticket.id == disputed_amount.id
        else {}
    )
    expected_values = {
        f"disputed:{disputed_amount.id}": None,
        **fault_removal,
        **ruling_removal,
        **stored_ticket_ledger_end,
        **stored_host_ticket,
        **_derive_stored_print_after_ruling(context, disputed_amount, awarded_cents),
    }
    expected_state = {
        format_storage_key(key, context.position): value for key, value in expected_values.items()
    }
    if dict(context.entry.state) != expected_state:
        raise PatternMismatch(
            f"state does not end exactly this disputed amount, its fault and its ruling: expected "
            f"{format_value(expected_state)}, found {format_value(dict(context.entry.state))}"
        )
    expected_id = f"{disputed_amount.id}.{'in' if redeems_ticket else 'ruled'}"
    if context.entry.id != expected_id:
        raise PatternMismatch(f"id: expected {expected_id!r}, found {format_value(context.entry.id)}")


def _derive_stored_print_after_ruling(
    context: CheckContext, disputed_amount: DisputedAmount, awarded_cents: int
) -> dict[str, Any]:
    """Return the state of the print job that a ruling stores if it is unknown whether the disputed ticket was printed.

    If an amount is awarded, the job becomes ``failed``, else ``barcode_done`` (printed). The result is empty for any
    other disputed amount, or if no print job is stored.
    """
    print_record = context.stored_value_before("print")
    stored_print = (
        {"print": {**print_record, "state": "failed" if awarded_cents else "barcode_done"}}
        if print_record
        else {}
    )
    return stored_print if disputed_amount.is_about_print_job else {}


def _does_ruling_redeem_ticket(context: CheckContext, disputed_amount: DisputedAmount) -> bool:
    """Return whether the ruling redeems the inserted ticket in dispute; the id of such an entry ends in ``.in``.

    If the cashier's cage has already paid the ticket, the ruling does not redeem it; the operator bears the amount.
    """
    is_inserted_ticket = bool(disputed_amount.masked_ticket_number) and not disputed_amount.is_about_print_job
    return is_inserted_ticket and context.record["amount_cents"] > 0 and context.entry.id.endswith(".in")


def _derive_ruling_payment(context: CheckContext) -> Any:
    """Return the transfers with which a ruling pays the awarded amount.

    What remains of a reserved amount is booked as coins that the hopper paid. A ruling on a print job makes no
    transfers, because the cash-out itself pays the amount, by the ticket or by hand.
    """
    disputed_amount, awarded_cents = _find_disputed_amount_ruled_on(context), context.record["amount_cents"]
    # The reservation is ended by the cash-out, which is paid by the ticket or by hand.
    if disputed_amount.is_about_print_job:
        return []
    source = "house:disputed"
    if disputed_amount.reserved_cents:
        source = context.format_credit_account("cashable")
    elif _does_ruling_redeem_ticket(context, disputed_amount):
        source = f"world:voucher_in:{disputed_amount.credit_kind}"
    payment = [(source, "out:handpay_disputed", awarded_cents)] if awarded_cents else []
    remainder_cents = max(0, disputed_amount.reserved_cents - awarded_cents)
    if not remainder_cents:
        return payment
    return [
        *payment,
        (source, "out:hopper", remainder_cents),
        ("stock:hopper", "stock:floor", remainder_cents),
    ]


def _check_release_for_ruling(context: CheckContext) -> None:
    """Check that the stored ruling is on the disputed amount whose reserved credit the checked entry releases."""
    ruling = context.stored_record_after(UnpostedRuling, "ruling")
    stored_amount = context.stored_record_before(DisputedAmount, f"disputed:{context['id']}")
    if (
        ruling is None
        or ruling.disputed_amount != stored_amount
        or ruling.entry_record.disputed_amount.id != context["id"]
    ):
        raise PatternMismatch(
            f"state.ruling is not on the disputed amount {format_value(context['id'])} stored before this entry: "
            f"expected {format_value(None if stored_amount is None else to_json(stored_amount))}, "
            f"found {format_value(None if ruling is None else to_json(ruling.disputed_amount))}"
        )
    check_first_person(context, next(iter(ruling.entry_record.persons), None))


RULES: Final = (
    AuditRule(
        entry_declaration=entries.TICKET_PRINT_DISPUTED,
        stored_before={"print": ObjectWithMembers(bound_name="print", state="printing")},
        stored_after={"print": ObjectWithChanges(original="print", state="disputed")},
        extra_checks=(check_disputed_ticket_print,),
    ),
    AuditRule(
        entry_declaration=entries.DISPUTED_AMOUNT_OPENED,
        allowed_machine_states=ALL_STATES,
        expected_transfers=DerivedValue(_derive_transfers_of_opening),
        extra_checks=(_check_entry_of_disputed_amount,),
    ),
    AuditRule(
        entry_declaration=entries.DISPUTED_AMOUNT_OPENED_WITH_CREDIT,
        allowed_machine_states=ALL_STATES,
        id="{subject}.disputed",
        record={"id": "$subject"},
        expected_transfers=DerivedValue(_derive_transfers_of_opening),
        extra_checks=(_check_entry_of_disputed_amount,),
    ),
    AuditRule(
        entry_declaration=entries.RESERVED_CREDIT_RELEASED,
        allowed_machine_states=STATES_FOR_RULINGS,
        id="{id}.released",
        ref="{id}.disputed",
        stored_before={"ruling": None},
        record={"id": "$id"},
        extra_checks=(_check_release_for_ruling, check_somebody_signed_in),
    ),
    AuditRule(
        entry_declaration=entries.DISPUTED_AMOUNT_RULED,
        allowed_machine_states=ALL_STATES,
        id="$:text",
        expected_transfers=DerivedValue(_derive_ruling_payment),
        permission=Permission.RULE_ON_MONEY,
        extra_checks=(_check_ruling,),
    ),
)
