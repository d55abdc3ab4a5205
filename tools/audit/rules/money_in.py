"""The audit rules for money that a player inserts: bills and tickets, from insertion to the cash box, and coins.

Patterns such as ``"$name:type"`` are explained in :mod:`tools.audit.rules.pattern`.
"""

from dataclasses import replace
from datetime import date
from typing import Any, Final

from egm.host import entries as host_entries
from egm.kernel.credits import CreditKind
from egm.kernel.entries import AnyEntryDeclaration
from egm.kernel.events import State
from egm.kernel.states import ALL_STATES, STATES_FOR_STACKING, single_state
from egm.money import entries
from egm.money.records.host import HostTicketRecord, RedemptionStatus, RestrictedTerms
from tools.audit.rules.disputed_amounts import (
    check_disputed_bill_or_ticket,
    check_disputed_coins,
    check_unredeemable_ticket_in_box,
)
from tools.audit.rules.pattern import (
    CheckContext,
    ObjectWithChanges,
    ObjectWithMembers,
    Pattern,
    PatternMismatch,
    format_storage_key,
    format_value,
)
from tools.audit.rules.rule import AuditRule, ExpectedTransfer
from tools.audit.rules.shared_checks import (
    ABSENT_VALUE,
    CASHABLE_ACCOUNT,
    check_ticket_ledger_grows,
    report_unless,
    require_new_id,
    require_stored_value,
)

#: The machine may record a stack order this many seconds after it has decided on it, because the acceptor is first
#: asked again what it holds in escrow.
_STACK_ORDER_DELAY_SECONDS_MAX: Final = 10


def _build_stacking_pattern(phase: str, ticket_pattern: str) -> dict[str, Any]:
    """Return the pattern of the stored value ``paper`` (a bill or ticket being stacked) in the phase ``phase``.

    ``ticket_pattern`` is the pattern of the ticket number, "" for a bill.
    """
    return {
        "id": "$paper",
        "amount_cents": "$reserved_cents",
        "ticket": ticket_pattern,
        "phase": phase,
        "mark": "$mark:count",
        "outward?": "$outward:bool",
    }


def _require_host_status(status: RedemptionStatus) -> Any:
    """Return the check that the entry sets the redemption result stored for the host to ``status``.

    If that result is about another ticket, or if no result is stored, the entry must store none.
    """

    def derive_result(context: CheckContext) -> Any:
        """Return the result for the host with the new status, or ABSENT_VALUE if it is about a different ticket."""
        ticket_record = context.stored_record_before(HostTicketRecord, "host_ticket")
        return (
            ABSENT_VALUE
            if ticket_record is None or ticket_record.id != context["paper"]
            else replace(ticket_record, status=status)
        )

    return require_stored_value("host_ticket", derive_result)


def _check_result_of_unstacked_ticket(context: CheckContext) -> None:
    """Check the redemption result stored for the host about a ticket that was not stacked.

    It must become "not stacked", or stay unchanged if the checked entry opens a disputed amount for the ticket.
    """
    if "disputed_amount" not in context.bound_values:
        _require_host_status(RedemptionStatus.NOT_STACKED)(context)
    elif context.stored_value_after("host_ticket") is not None:
        raise PatternMismatch(
            "state.host_ticket: expected no change while the ticket's amount is disputed, found "
            f"{format_value(context.stored_value_after('host_ticket'))}"
        )


def _derive_result_after_return(context: CheckContext) -> Any:
    """Return the redemption result for the host that an entry about a returned bill or ticket must store.

    A pending redemption becomes "not stacked". The entry may also leave it unchanged. In that case, and if no
    redemption is pending, return ABSENT_VALUE (nothing is stored).
    """
    ticket_record = context.stored_record_before(HostTicketRecord, "host_ticket")
    if (
        context.stored_value_after("host_ticket") is None
        or ticket_record is None
        or ticket_record.status is not RedemptionStatus.PENDING
    ):
        return ABSENT_VALUE
    return replace(ticket_record, status=RedemptionStatus.NOT_STACKED)


def _derive_restricted_terms(context: CheckContext) -> Any:
    """Return the terms of restricted credit that the checked entry must store when a ticket is credited.

    * The host's terms, if the host authorised the ticket as restricted credit;
    * the stored terms with the new expiry date, if a restricted ticket of the ticket ledger makes the date later or
      removes it;
    * None, if the entry deletes expired terms, as entries of earlier versions do;
    * ABSENT_VALUE, if the entry stores no terms.

    Raises :class:`PatternMismatch` if the entry changes the terms in another way.
    """
    ticket_record = context.stored_record_before(HostTicketRecord, "host_ticket")
    if (
        ticket_record is not None
        and ticket_record.id == context["paper"]
        and ticket_record.credit_kind == CreditKind.RESTRICTED
    ):
        return {"expires": ticket_record.expiry_date, "pool": ticket_record.restricted_pool}
    if format_storage_key("restricted", context.position) not in context.entry.state:
        return ABSENT_VALUE
    terms = context.stored_record_before(RestrictedTerms, "restricted")
    new_terms = context.stored_record_after(RestrictedTerms, "restricted")
    old_date = "" if terms is None else terms.expiry_date
    if terms is None or new_terms is None:
        _check_deleted_terms(context, old_date)
        return None
    if (
        not context["reserved_source"].endswith(":restricted")
        or not old_date
        or "" < new_terms.expiry_date <= old_date
    ):
        raise PatternMismatch(
            "state.restricted.expires: only a restricted ticket may change the expiry date of restricted credit, and "
            f"only to a later one or none: expected {format_value(old_date)}, "
            f"found {format_value(new_terms.expiry_date)}"
        )
    return {"expires": new_terms.expiry_date, "pool": terms.restricted_pool}


def _check_deleted_terms(context: CheckContext, expiry_date: str) -> None:
    """Check that the deleted terms of restricted credit may have expired, and that no restricted credit is left."""
    latest_local_date = context.facts.find_latest_local_date(context.entry.time_utc)
    restricted_cents = context.ledger.available_cents(context.format_credit_account("restricted"))
    if not expiry_date or date.fromisoformat(expiry_date) >= latest_local_date or restricted_cents:
        raise PatternMismatch(
            "state.restricted: the entry removes the terms of restricted credit, but they have not expired, or "
            f"credit is left under them: found {format_value(expiry_date)} as the last "
            f"day and {restricted_cents} cents"
        )


def _check_host_value(context: CheckContext) -> None:
    """Check that the ticket is redeemed for the amount and kind of credit that the host authorised."""
    ticket_record = context.stored_record_before(HostTicketRecord, "host_ticket")
    if ticket_record is None or ticket_record.id != context["id"]:
        return
    host_values = (
        ticket_record.amount_cents,
        ticket_record.credit_kind,
        ticket_record.masked_number,
        str(RedemptionStatus.PENDING),
    )
    recorded_values = context["cents"], context["credit"], context["number"], str(ticket_record.status)
    if host_values != recorded_values:
        raise PatternMismatch(
            "the ticket's amount, kind of credit, number and status do not match what the host stated: "
            f"expected {format_value(host_values)}, found {format_value(recorded_values)}"
        )


def is_denomination(cents: int) -> bool:
    """Return whether a bill or coin of this value is possible: 1, 2, 2.5 or 5 times a power of ten."""
    significant_digits = str(cents).rstrip("0")
    return significant_digits in {"1", "2", "25", "5"}


def _build_stack_order_pattern(ticket_pattern: str) -> dict[str, Any]:
    """Return the pattern of the bill or ticket stored when the acceptor is ordered to stack it.

    ``ticket_pattern`` is the pattern of the ticket number, "" for a bill.
    """
    return {
        "id": "$id",
        "amount_cents": "$cents",
        "ticket": ticket_pattern,
        "phase": "ordered",
        "mark": "$:count",
    }


#: The rules of bills and tickets.
_BILL_AND_TICKET_RULES: Final = (
    AuditRule(
        entry_declaration=entries.BILL_ESCROW,
        allowed_machine_states=single_state(State.IDLE),
        late_order_seconds=_STACK_ORDER_DELAY_SECONDS_MAX,
        late_order_machine_states=STATES_FOR_STACKING,
        id="$id:text",
        stored_before={"paper": None},
        expected_transfers=(
            ExpectedTransfer("world:bill", CASHABLE_ACCOUNT, "$cents", {"bill_cents": "$cents"}),
        ),
        stored_after={"paper": _build_stack_order_pattern("")},
        extra_checks=(
            require_new_id("bill", is_entry_id=True),
            report_unless(
                lambda context: (
                    f"state.paper.amount_cents: no bill has the value {context['cents']} cents; expected 1, 2, 2.5 "
                    "or 5 times a power of ten"
                ),
                lambda context: is_denomination(context["cents"]),
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.BILL_IN,
        id="{paper}.in",
        ref="$paper",
        stored_before={"paper": _build_stacking_pattern("ordered", "")},
        record={"amount_cents": "$reserved_cents"},
        stored_after={"paper": _build_stacking_pattern("vended", "")},
    ),
    AuditRule(
        entry_declaration=entries.BILL_NOT_STACKED,
        id="{paper}.void",
        ref="$paper",
        stored_before={"paper": _build_stacking_pattern("ordered", "")},
        record={"amount_cents": "$reserved_cents", "why": "$reason", "disputed?": "$disputed_amount"},
        stored_after={"paper": None},
        extra_checks=(check_disputed_bill_or_ticket,),
    ),
    AuditRule(
        entry_declaration=entries.TICKET_ESCROW,
        allowed_machine_states=STATES_FOR_STACKING,
        late_order_seconds=_STACK_ORDER_DELAY_SECONDS_MAX,
        id="$id:text",
        stored_before={"paper": None},
        stored_after={"paper": _build_stack_order_pattern("$number:masked")},
        expected_transfers=(
            ExpectedTransfer("world:voucher_in:{credit}", "credit:{position}:{credit}", "$cents"),
        ),
        extra_checks=(
            require_new_id("ticket"),
            report_unless(
                "state.paper.ticket: the ticket has no number", lambda context: bool(context["number"])
            ),
            _check_host_value,
        ),
    ),
    AuditRule(
        entry_declaration=entries.TICKET_IN,
        id="{paper}.in",
        ref="$paper",
        stored_before={"paper": _build_stacking_pattern("ordered", "$number:masked")},
        record={"amount_cents": "$reserved_cents", "number": "$number"},
        stored_after={"paper": _build_stacking_pattern("vended", "$number")},
        extra_checks=(
            _require_host_status(RedemptionStatus.REDEEMED),
            require_stored_value("restricted", _derive_restricted_terms),
            check_ticket_ledger_grows,
        ),
    ),
    AuditRule(
        entry_declaration=entries.TICKET_IN_DISPUTED,
        id="{paper}.void",
        ref="$paper",
        stored_before={"paper": _build_stacking_pattern("ordered", "$number:masked")},
        record={"amount_cents": "$reserved_cents", "number": "$number", "disputed": "$disputed_amount"},
        stored_after={"paper": _build_stacking_pattern("vended", "$number")},
        extra_checks=(check_unredeemable_ticket_in_box,),
    ),
    AuditRule(
        entry_declaration=entries.TICKET_NOT_STACKED,
        id="{paper}.void",
        ref="$paper",
        stored_before={"paper": _build_stacking_pattern("ordered", "$number:masked")},
        record={
            "amount_cents": "$reserved_cents",
            "number": "$number",
            "why": "$reason",
            "disputed?": "$disputed_amount",
        },
        stored_after={"paper": None},
        extra_checks=(_check_result_of_unstacked_ticket, check_disputed_bill_or_ticket),
    ),
    AuditRule(
        entry_declaration=host_entries.HOST_TICKET_NOT_STACKED,
        stored_before={"host_ticket": ObjectWithMembers(bound_name="result_before", status="pending")},
        record=ObjectWithChanges(original="result_before", status="not_stacked"),
        stored_after={"host_ticket": ObjectWithChanges(original="result_before", status="not_stacked")},
    ),
    AuditRule(
        entry_declaration=entries.PAPER_EXCHANGE_PROGRESS_STORED,
        stored_before={"paper": "$paper:object"},
        stored_after={"paper": ObjectWithChanges(original="paper", mark="$:count")},
    ),
    AuditRule(
        entry_declaration=entries.PAPER_DIRECTION_REPORTED,
        stored_before={"paper": ObjectWithMembers(bound_name="paper", phase="ordered")},
        stored_after={"paper": ObjectWithChanges(original="paper", outward="$:bool")},
    ),
    AuditRule(
        entry_declaration=entries.PAPER_CONFIRMED,
        stored_before={"paper": ObjectWithMembers(bound_name="paper", phase="vended")},
        stored_after={"paper": None},
    ),
    *(
        AuditRule(
            entry_declaration=declaration,
            stored_after={"host_ticket?": "$:object"},
            extra_checks=(require_stored_value("host_ticket", _derive_result_after_return),),
        )
        for declaration in (entries.BILL_RETURNED, entries.TICKET_RETURNED)
    ),
)


def _check_coin_transfers(context: CheckContext) -> None:
    """Check that the credited coins have possible values, equal the coins put into the stock, and are counted.

    The stock receives them from ``stock:floor``, which stands for coins outside the cabinet.
    """
    transfers = context.entry.transfers
    coin_count = len(transfers) // 2
    coins_cents = [t.amount_cents for t in transfers[:coin_count]]
    stocked_cents = [t.amount_cents for t in transfers[coin_count:]]
    coin_cents_in_dims = [t.dims.get("coin_cents") for t in transfers[:coin_count]]
    if not all(map(is_denomination, coins_cents)):
        raise PatternMismatch(
            f"the transfers credit {coins_cents} cents; every coin must be 1, 2, 2.5 or 5 times a power of ten"
        )
    if coins_cents != stocked_cents or coins_cents != coin_cents_in_dims:
        raise PatternMismatch(
            f"the transfers credit {coins_cents} cents, but dims.coin_cents has {coin_cents_in_dims} and the transfers "
            f"from stock:floor have {stocked_cents}; all three must be equal"
        )
    expected_counts = {"coins_accepted": coin_count} if coin_count else {}
    if dict(context.entry.counts) != expected_counts:
        raise PatternMismatch(f"counts: expected {expected_counts}, found {dict(context.entry.counts)}")


def _build_coin_rule(entry_declaration: AnyEntryDeclaration, record_pattern: Pattern) -> AuditRule:
    """Return the audit rule for an entry that credits coins; ``record_pattern`` is the pattern of its record."""
    return AuditRule(
        entry_declaration=entry_declaration,
        allowed_machine_states=ALL_STATES,
        record=record_pattern,
        expected_transfers=(
            ExpectedTransfer(
                "world:coin", CASHABLE_ACCOUNT, "$:cents", {"coin_cents": "$:cents"}, may_repeat=True
            ),
            ExpectedTransfer("stock:floor", "stock:{box}", "$:cents", may_repeat=True),
        ),
        extra_checks=(
            check_disputed_coins,
            _check_coin_transfers,
            report_unless(
                lambda context: (
                    "the transfers from stock:floor must go to stock:hopper or stock:coin_box, found "
                    f"{format_value([t.target for t in context.entry.transfers if t.source == 'stock:floor'])}"
                ),
                lambda context: all(
                    t.target in {"stock:hopper", "stock:coin_box"}
                    for t in context.entry.transfers
                    if t.source == "stock:floor"
                ),
            ),
        ),
    )


RULES: Final = (
    *_BILL_AND_TICKET_RULES,
    _build_coin_rule(entries.COIN_IN, None),
    _build_coin_rule(entries.COIN_IN_DISPUTED, {"disputed": "$disputed_amount"}),
)
