"""The audit rules for credit that is paid out or expires: printed tickets, hopper coins, restricted credit.

Patterns such as ``"$name:type"`` are explained in :mod:`tools.audit.rules.pattern`.
"""

from datetime import date
from typing import Any, Final

from egm.host import entries as host_entries
from egm.kernel.events import State
from egm.kernel.states import ALL_STATES, STATES_FOR_CASH_OUT, single_state
from egm.money import entries
from egm.money.records.host import RestrictedTerms
from egm.money.records.money import CashOutRecord, CashOutRemainder, CoinPayoutProgress, DispensedCoins
from tools.audit.rules.pattern import (
    AlternativePatterns,
    CheckContext,
    DerivedValue,
    ObjectWithChanges,
    ObjectWithMembers,
    PatternMismatch,
    format_storage_key,
    format_value,
    is_json_equal,
)
from tools.audit.rules.rule import AuditRule, ExpectedTransfer
from tools.audit.rules.shared_checks import (
    ABSENT_VALUE,
    CASHABLE_ACCOUNT,
    check_ticket_ledger_grows,
    report_unless,
    report_unless_equal,
    require_all_credit,
    require_new_id,
    require_paid_coins,
    require_stored_value,
    sum_cashable_credit_cents,
)

#: Kinds of entries that end a payout method or leave a part of the cash-out unpaid. A hand-pay may follow such an entry
#: in any machine state.
KINDS_ENDING_PAYOUT: Final = frozenset(
    declaration.kind
    for declaration in (
        entries.TICKET_CASH_OUT_VOID,
        entries.COINS_CASH_OUT_VOID,
        entries.COINS_OUT,
        entries.CREDIT_CONVERTED,
        entries.DISPUTED_AMOUNT_OPENED,
    )
)
#: The size of the ring of tickets whose numbers the host reads (egm.money.host_money).
_HOST_TICKET_RING_SIZE: Final = 31
#: The storage key of the part of a cash-out that is left for the next payout method.
_REMAINDER_KEY: Final = "cash_out_goes_on"


def _find_restricted_pool(context: CheckContext) -> int:
    """Return the pool id (the promotion) of the restricted credit that the entry cashes out; 0 for other credit."""
    terms = context.stored_record_before(RestrictedTerms, "restricted")
    return terms.restricted_pool if context["credit"] == "restricted" and terms is not None else 0


def _check_validation_ring(context: CheckContext) -> None:
    """Check that a ticket stored in the ring buffer for the host is the printed ticket, and has the next index."""
    stored_ring_values = {
        key: value for key, value in context.entry.state.items() if key.startswith("validation")
    }
    if not stored_ring_values:
        return
    printed_count: Any = context.ledger.state.get("validations") or 0
    expected = {
        "validations": printed_count + 1,
        f"validation:{printed_count % _HOST_TICKET_RING_SIZE + 1}": context["id"],
    }
    if not is_json_equal(stored_ring_values, expected):
        raise PatternMismatch(
            f"state.validations and the ring of tickets: expected {format_value(expected)}, "
            f"found {format_value(stored_ring_values)}"
        )


def _check_printed_ticket(context: CheckContext) -> None:
    """Check that the ticket to be printed belongs to the open cash-out and has the cash-out's language.

    Test tickets and slips are not checked.
    """
    cash_out = context.stored_record_before(CashOutRecord, "pay_out")
    if context["id"].startswith(("test-", "slip-")):
        return
    if cash_out is None or (cash_out.id, cash_out.language) != (context["id"], context["language"]):
        expected = None if cash_out is None else (cash_out.id, cash_out.language)
        raise PatternMismatch(
            f"state.print: expected the id and language of the open cash-out, {format_value(expected)}; "
            f"found {format_value((context['id'], context['language']))}"
        )


def _derive_dispensed_coins(context: CheckContext) -> Any:
    """Return the transfers for coins that the hopper has dispensed.

    All of them leave the hopper. At most the amount owed leaves the player's credit. The list is empty if no
    coin was dispensed.
    """
    abandoned_payout = context.stored_record_before(DispensedCoins, "coins_gone")
    counted_cents = (
        0 if abandoned_payout is None else abandoned_payout.paid_coins * abandoned_payout.coin_cents
    )
    if abandoned_payout is None or not counted_cents:
        return []
    return [
        (
            context.format_credit_account("cashable"),
            "out:hopper",
            min(counted_cents, abandoned_payout.amount_cents),
        ),
        ("stock:hopper", "stock:floor", counted_cents),
    ]


def _compute_coin_payout_progress(context: CheckContext, paid_cents: int) -> CoinPayoutProgress:
    """Return how much of the open cash-out was owed when its payment in coins started, and how much is paid.

    The amount paid includes ``paid_cents``, which the stored cash-out does not contain yet. Raises
    :class:`PatternMismatch` if no cash-out was open before the checked entry.
    """
    cash_out = context.stored_record_before(CashOutRecord, "pay_out")
    if cash_out is None:
        raise PatternMismatch("no cash-out was open before this entry")
    paid_before_cents = 0 if cash_out.coin_payout is None else cash_out.coin_payout.paid_cents
    return CoinPayoutProgress(
        owed_cents=paid_before_cents + cash_out.amount_cents + sum_cashable_credit_cents(context),
        paid_cents=paid_before_cents + paid_cents,
    )


def _derive_remainder(context: CheckContext) -> Any:
    """Return the unpaid amount of a cash-out that the checked entry must store for the next payout method.

    Return ABSENT_VALUE if the entry stores none, and true if it stores true, as earlier versions did.
    """
    if format_storage_key(_REMAINDER_KEY, context.position) not in context.entry.state:
        return ABSENT_VALUE
    remainder_cents = sum_cashable_credit_cents(context)
    if not remainder_cents:
        raise PatternMismatch(f"state.{_REMAINDER_KEY}: a remainder is stored, but no credit remains")
    if context.stored_value_after(_REMAINDER_KEY) is True:
        return True
    return CashOutRemainder(
        amount_cents=remainder_cents,
        coin_payout=_compute_coin_payout_progress(context, context["reserved_cents"]),
    )


def _derive_remainder_after_coins(context: CheckContext) -> Any:
    """Return the unpaid amount that must be stored after the coins of an abandoned payout were booked.

    Return ABSENT_VALUE if nothing remains, or if an entry of an earlier version recorded no such amount.
    """
    abandoned_payout = context.stored_record_before(DispensedCoins, "coins_gone")
    if abandoned_payout is None or (
        abandoned_payout.coin_payout is None
        and format_storage_key(_REMAINDER_KEY, context.position) not in context.entry.state
    ):
        return ABSENT_VALUE
    remainder_cents = sum_cashable_credit_cents(context) - abandoned_payout.paid_cents
    return (
        CashOutRemainder(
            amount_cents=remainder_cents, must_be_paid_by_hand=True, coin_payout=abandoned_payout.coin_payout
        )
        if remainder_cents
        else ABSENT_VALUE
    )


def _derive_remainder_after_void(context: CheckContext) -> Any:
    """Return the unpaid amount that must be stored if a payout is void after the hopper paid a part of the cash-out.

    Return ABSENT_VALUE if the hopper had paid no part, or if coins of the void payout are still to be booked.
    """
    cash_out = context.stored_record_before(CashOutRecord, "pay_out")
    if (
        cash_out is None
        or cash_out.coin_payout is None
        or context.stored_value_after("coins_gone") is not None
    ):
        return ABSENT_VALUE
    remainder_cents = sum_cashable_credit_cents(context) + context["reserved_cents"]
    return CashOutRemainder(
        amount_cents=remainder_cents, must_be_paid_by_hand=True, coin_payout=cash_out.coin_payout
    )


def _is_remainder_outdated(context: CheckContext) -> bool:
    """Return whether the stored unpaid amount of a cash-out differs from the player's credit.

    Earlier versions stored true in place of the amount; it is outdated if the player has no credit.
    """
    if context.stored_value_before(_REMAINDER_KEY) is True:
        return not sum_cashable_credit_cents(context)
    remainder = context.stored_record_before(CashOutRemainder, _REMAINDER_KEY)
    return remainder is not None and remainder.amount_cents != sum_cashable_credit_cents(context)


def _check_recorded_coins(context: CheckContext) -> None:
    """Check the amounts owed and paid that the checked entry records for an abandoned coin payout.

    An entry of an earlier version, which recorded no such amounts, is accepted.
    """
    abandoned_payout = context.stored_record_after(DispensedCoins, "coins_gone")
    expected = (
        None
        if abandoned_payout is None
        else _compute_coin_payout_progress(context, abandoned_payout.paid_cents)
    )
    if abandoned_payout is not None and abandoned_payout.coin_payout not in {None, expected}:
        raise PatternMismatch(
            f"state.coins_gone.in_coins: expected {expected}, found {abandoned_payout.coin_payout}"
        )


#: Pattern of the stored cash-out that pays coins.
_COIN_CASH_OUT_PATTERN: Final = ObjectWithMembers(
    bound_name="pay_out", id="$id:text", way="coins", amount_cents="$reserved_cents", coins="$coins:positive"
)
#: Pattern of the stored payout of coins that was abandoned.
_ABANDONED_COINS_PATTERN: Final = {
    "id": "$id",
    "way": "coins",
    "amount_cents": "$reserved_cents",
    "coins": "$coins",
    "paid_coins": "$paid:count",
    "coin_cents": "$coin_cents:cents",
    "doubt?": "$doubt_text:text",
    "in_coins?": "$:object",
}
#: Check that the coins of a payout add up to its amount.
_CHECK_COIN_SUM: Final = report_unless(
    lambda context: (
        f"coins: {context['coins']} coins of the recorded value do not add up to {context['reserved_cents']} cents"
    ),
    lambda context: (
        context.bound_values.get("coin_cents", 0) in {0, context["reserved_cents"] // context["coins"]}
        and context["reserved_cents"] % context["coins"] == 0
    ),
)


def _check_restricted_expiry(context: CheckContext) -> None:
    """Check that restricted credit expires only after its last day, which is a day of the venue's calendar."""
    last_day = context["terms"]["expires"]
    if date.fromisoformat(last_day) >= context.facts.find_latest_local_date(context.entry.time_utc):
        raise PatternMismatch(
            f"the restricted credit expires too early: its last day is {last_day}, and this entry was written at "
            f"{context.entry.time_utc.isoformat()}"
        )


_CASH_OUT_RULES: Final = (
    AuditRule(
        entry_declaration=entries.TICKET_CASH_OUT_REQUESTED,
        allowed_machine_states=STATES_FOR_CASH_OUT,
        id="$id:text",
        stored_before={"pay_out": None, "handpay": None},
        stored_after={
            "pay_out": {
                "id": "$id",
                "way": "ticket",
                "kind": "$credit:credit",
                "pool": "$pool:count",
                "amount_cents": "$cents",
                "number": "$:masked",
                "language": "$:text",
                "in_coins?": "$:object",
            },
            "cash_out_goes_on": None,
        },
        expected_transfers=(
            ExpectedTransfer("credit:{position}:{credit}", "out:voucher:{credit}", "$cents"),
        ),
        extra_checks=(
            require_new_id("cashout"),
            require_all_credit("credit"),
            report_unless_equal(
                "state.pay_out.pool is not the pool of the credit cashed out",
                lambda context: context["pool"],
                _find_restricted_pool,
            ),
            require_paid_coins("pay_out", CashOutRecord),
        ),
    ),
    AuditRule(
        entry_declaration=host_entries.TICKET_NUMBER_STORED,
        id="{id}.numbered",
        stored_before={"pay_out": ObjectWithMembers(bound_name="pay_out", id="$id", way="ticket", number="")},
        record={"id": "$id", "number": "$number"},
        stored_after={"pay_out": ObjectWithChanges(original="pay_out", number="$number")},
        extra_checks=(
            report_unless("record.number: the ticket has no number", lambda context: bool(context["number"])),
        ),
    ),
    AuditRule(
        entry_declaration=entries.TICKET_PENDING,
        allowed_machine_states=ALL_STATES,
        stored_before={"print": None},
        stored_after={"print": {"id": "$id:text", "language": "$language:text", "state": "pending"}},
        extra_checks=(_check_printed_ticket,),
    ),
    AuditRule(
        entry_declaration=entries.TICKET_PRINTING,
        stored_before={"print": "$print:object"},
        stored_after={"print": ObjectWithChanges(original="print", state="$:text")},
        extra_checks=(
            report_unless(
                lambda context: (
                    f"state.print.state: {format_value(context.stored_value_after('print')['state'])} ends the "
                    "printing and may not be stored by an entry on its progress"
                ),
                lambda context: context.stored_value_after("print")["state"] not in {"barcode_done", "taken"},
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.TICKET_TAKEN,
        stored_before={"print": ObjectWithMembers(bound_name="print", id="$id", state="barcode_done")},
        record={"id": "$id"},
        stored_after={"print": None},
    ),
    AuditRule(
        entry_declaration=entries.TICKET_OUT,
        id="{id}.printed",
        ref="$id",
        stored_before={
            "pay_out": ObjectWithMembers(
                bound_name="pay_out", id="$id", way="ticket", amount_cents="$reserved_cents", number="$:words"
            ),
            "print": ObjectWithMembers(bound_name="print", id="$id"),
        },
        record=AlternativePatterns(
            ObjectWithChanges(original="pay_out"), ObjectWithChanges(original="pay_out", commitment="$:text")
        ),
        stored_after={"pay_out": None, "print": ObjectWithChanges(original="print", state="barcode_done")},
        extra_checks=(_check_validation_ring, check_ticket_ledger_grows),
    ),
    AuditRule(
        entry_declaration=host_entries.TICKET_REPORTED_AGAIN,
        record={"id": "$id"},
        extra_checks=(_check_validation_ring,),
    ),
    AuditRule(
        entry_declaration=entries.TICKET_CASH_OUT_VOID,
        id="{id}.void",
        ref="$id",
        stored_before={
            "pay_out": ObjectWithMembers(
                bound_name="pay_out", id="$id", way="ticket", amount_cents="$reserved_cents"
            )
        },
        record=ObjectWithChanges(original="pay_out", why="$:text"),
        stored_after={"pay_out": None, "print?": None},
        extra_checks=(require_stored_value(_REMAINDER_KEY, _derive_remainder_after_void),),
    ),
    AuditRule(
        entry_declaration=entries.COINS_CASH_OUT_VOID,
        id="{id}.void",
        ref="$id",
        stored_before={"pay_out": _COIN_CASH_OUT_PATTERN},
        record=ObjectWithChanges(original="pay_out", why="$:text"),
        stored_after={
            "pay_out": None,
            "hopper": None,
            "coins_gone": AlternativePatterns(None, _ABANDONED_COINS_PATTERN),
        },
        extra_checks=(
            _CHECK_COIN_SUM,
            _check_recorded_coins,
            require_stored_value(_REMAINDER_KEY, _derive_remainder_after_void),
        ),
    ),
    AuditRule(
        entry_declaration=entries.COIN_CASH_OUT_REQUESTED,
        allowed_machine_states=STATES_FOR_CASH_OUT,
        id="$id:text",
        stored_before={"pay_out": None, "handpay": None, "hopper": None},
        stored_after={
            "pay_out": {
                "id": "$id",
                "way": "coins",
                "amount_cents": "$reserved_cents",
                "coins": "$coins:positive",
                "in_coins?": "$:object",
            },
            "cash_out_goes_on": None,
        },
        expected_transfers=(
            ExpectedTransfer(CASHABLE_ACCOUNT, "out:hopper", "$reserved_cents"),
            ExpectedTransfer("stock:hopper", "stock:floor", "$reserved_cents"),
        ),
        extra_checks=(
            require_new_id("cashout"),
            _CHECK_COIN_SUM,
            require_paid_coins("pay_out", CashOutRecord),
        ),
    ),
    AuditRule(
        entry_declaration=entries.COINS_ORDERED,
        allowed_machine_states=ALL_STATES,
        stored_before={"hopper": None},
        stored_after={
            "hopper": {
                "payout_id": "$id:text",
                "coins": "$coins:positive",
                "events_before": "$:count",
                "count_before": "$:count|none",
                "serial": "$:any",
                "paid_coins?": 0,
            }
        },
        extra_checks=(
            report_unless(
                lambda context: (
                    "state.hopper: payout_id and coins must be those of the open cash-out, "
                    f"{format_value(context.stored_value_before('pay_out'))}; "
                    f"found {format_value(context['id'])} and {context['coins']}"
                ),
                lambda context: (
                    context["id"].startswith("test-")
                    or (
                        (cash_out := context.stored_record_before(CashOutRecord, "pay_out")) is not None
                        and (cash_out.id, cash_out.ordered_coins) == (context["id"], context["coins"])
                    )
                ),
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.COINS_COUNTED,
        stored_before={"hopper": ObjectWithMembers(bound_name="hopper", payout_id="$id", coins="$coins")},
        record={"id": "$id", "paid_coins": "$paid"},
        stored_after={"hopper": ObjectWithChanges(original="hopper", paid_coins="$paid")},
        extra_checks=(
            report_unless(
                lambda context: (
                    f"record.paid_coins: expected more than {context['hopper'].get('paid_coins', 0)}, "
                    f"found {context['paid']}"
                ),
                lambda context: context["paid"] > context["hopper"].get("paid_coins", 0),
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.COINS_OUT,
        id="{id}.paid",
        ref="$id",
        stored_before={"pay_out": _COIN_CASH_OUT_PATTERN},
        record=ObjectWithChanges(original="pay_out", paid_coins="$coins"),
        stored_after={"pay_out": None, "hopper": None},
        extra_checks=(require_stored_value(_REMAINDER_KEY, _derive_remainder),),
    ),
    AuditRule(
        entry_declaration=entries.COINS_OUT_AFTER_VOID,
        allowed_machine_states=ALL_STATES,
        id="{cash_out_id}.paid",
        stored_before={"coins_gone": ObjectWithMembers(bound_name="coins_gone", id="$cash_out_id")},
        record=DerivedValue(
            lambda context: {
                field_name: field_value
                for field_name, field_value in context["coins_gone"].items()
                if field_name != "coin_cents" and field_value != ""
            }
        ),
        stored_after={"coins_gone": None},
        expected_transfers=DerivedValue(_derive_dispensed_coins),
        extra_checks=(require_stored_value(_REMAINDER_KEY, _derive_remainder_after_coins),),
    ),
    AuditRule(
        entry_declaration=entries.CASH_OUT_ENDED,
        stored_before={"cash_out_goes_on": "$:any"},
        stored_after={"cash_out_goes_on": None},
        extra_checks=(
            report_unless(
                lambda context: (
                    f"state.{_REMAINDER_KEY}: the stored remainder "
                    f"{format_value(context.stored_value_before(_REMAINDER_KEY))} is still the player's credit, "
                    f"{sum_cashable_credit_cents(context)} cents, and may not be removed"
                ),
                _is_remainder_outdated,
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.CREDIT_CONVERTED,
        allowed_machine_states=STATES_FOR_CASH_OUT,
        allowed_after_kinds=KINDS_ENDING_PAYOUT,
        expected_transfers=(ExpectedTransfer("credit:{position}:nonrestricted", CASHABLE_ACCOUNT, "$cents"),),
        extra_checks=(require_all_credit("nonrestricted"),),
    ),
    AuditRule(
        entry_declaration=host_entries.CREDIT_EXPIRED,
        allowed_machine_states=single_state(State.IDLE),
        stored_before={"restricted": ObjectWithMembers(bound_name="terms", expires="$:words")},
        expected_transfers=(ExpectedTransfer("credit:{position}:restricted", "house:expired", "$cents"),),
        stored_after={"restricted": None},
        extra_checks=(require_all_credit("restricted"), _check_restricted_expiry),
    ),
)


#: The rules of this module.
RULES: Final = _CASH_OUT_RULES
