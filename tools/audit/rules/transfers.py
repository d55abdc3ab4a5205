"""The audit rules for entries about a host: its replies about tickets, the ticket ledger, its transfers, its settings.

Transfers here are a host's: AFT transfers and bonuses. The journal's transfers between accounts are called postings.
The pattern language of the rules is in :mod:`tools.audit.rules.pattern`.
"""

from dataclasses import replace
from typing import Any, Final

from egm.host import entries
from egm.kernel.credits import CreditKind
from egm.kernel.events import State
from egm.kernel.states import STATES_FOR_TRANSFERS, single_state
from egm.money import entries as money_entries
from egm.money.records.host import TransferRecord
from egm.record_codec import to_json
from egm.tickets.ledger_comparison import LedgerAnchor
from tools.audit.rules.pattern import (
    CheckContext,
    DerivedValue,
    ObjectWithChanges,
    ObjectWithMembers,
    PatternMismatch,
    format_value,
)
from tools.audit.rules.rule import AuditRule, ExpectedTransfer
from tools.audit.rules.shared_checks import (
    ABSENT_VALUE,
    check_ticket_ledger_grows,
    report_unless,
    report_unless_equal,
    require_new_id,
    require_stored_value,
    sum_credit_cents,
)

#: The size of the history of transfers that the host may read back (egm.host.transfers).
_TRANSFER_HISTORY_SIZE: Final = 35


def _check_ledger_state(context: CheckContext) -> None:
    """Check what the entry records about the ticket ledger.

    If two people restored the ledger since the last such entry, the entry must name them. If not, it must name
    nobody, and the ledger must not have become shorter.
    """
    anchor_before = context.stored_record_before(LedgerAnchor, "tickets")
    anchor_after = context.stored_record_after(LedgerAnchor, "tickets")
    if anchor_after is None:
        raise PatternMismatch("state.tickets is missing")
    is_new_ledger = anchor_before is None or anchor_before.restoration_id != anchor_after.restoration_id
    if not is_new_ledger:
        check_ticket_ledger_grows(context)
    if ("beginning" in context.bound_values) != (is_new_ledger and bool(anchor_after.restoration_id)):
        raise PatternMismatch(
            "record.begun: the ticket ledger was replaced; the entry must name the people who replaced it"
            if is_new_ledger and anchor_after.restoration_id
            else "record.begun: the ticket ledger was not replaced; the entry must not name people who replaced it"
        )


def _check_ledger_correction(context: CheckContext) -> None:
    """Check the correction for a ticket that the journal credited but the ticket ledger never redeemed.

    The ledger's starting amount for one kind of ticket must fall by the recorded amount, and nothing else may
    change.
    """
    anchor_before = context.stored_record_before(LedgerAnchor, "tickets")
    anchor_after = context.stored_record_after(LedgerAnchor, "tickets")
    if anchor_before is None or anchor_after is None:
        raise PatternMismatch("state.tickets: a ticket ledger must be stored before this entry and by it")
    cents_before_and_after = (
        (anchor_before.starting_cents_by_account.get(name, 0), starting_cents)
        for name, starting_cents in anchor_after.starting_cents_by_account.items()
    )
    decreases_cents = [before - after for before, after in cents_before_and_after if before != after]
    if (
        decreases_cents != [context.record["amount_cents"]]
        or replace(anchor_after, starting_cents_by_account=anchor_before.starting_cents_by_account)
        != anchor_before
    ):
        raise PatternMismatch(
            f"state.tickets.base must fall by record.amount_cents, {context.record['amount_cents']}, for one kind of "
            f"ticket, and nothing else may change: before {format_value(to_json(anchor_before))}, "
            f"found {format_value(to_json(anchor_after))}"
        )


#: Pattern of the stored ticket that a host refused.
_REFUSED_TICKET_PATTERN: Final = {
    "id": "$id",
    "number": "$number",
    "status": "$status",
    "amount_cents": 0,
    "kind": "",
    "told": "$:bool",
}
#: The rules of a host's replies about tickets, and of the ticket ledger.
_TICKET_RULES: Final = (
    AuditRule(
        entry_declaration=entries.HOST_TICKET_RETURNED,
        record={"id": "$id", "number": "$number", "status": "$status"},
        stored_after={"host_ticket?": _REFUSED_TICKET_PATTERN},
        extra_checks=(require_new_id("ticket"),),
    ),
    AuditRule(
        entry_declaration=entries.TICKET_STACKING_ORDERED,
        record={"id": "$id", "number": "$number", "amount_cents": "$cents", "kind": "$credit"},
        stored_after={
            "host_ticket": {
                "id": "$id",
                "number": "$number",
                "amount_cents": "$cents",
                "kind": "$credit",
                "expires": "$:text",
                "pool": "$:count",
                "status": "pending",
                "told": False,
            }
        },
        extra_checks=(require_new_id("ticket"),),
    ),
    AuditRule(
        entry_declaration=entries.REDEMPTION_RESULT_READ_BY_HOST,
        stored_before={"host_ticket": ObjectWithMembers(bound_name="result_before", told=False)},
        stored_after={"host_ticket": ObjectWithChanges(original="result_before", told=True)},
    ),
    AuditRule(
        entry_declaration=entries.PRINTED_TICKET_READ_BY_HOST,
        stored_after={
            "validations_read": DerivedValue(
                lambda context: (context.stored_value_before("validations_read") or 0) + 1
            )
        },
        extra_checks=(
            report_unless(
                lambda context: (
                    f"state.validations_read: the host had already read all "
                    f"{context.stored_value_before('validations') or 0} tickets before this entry"
                ),
                lambda context: (
                    (context.stored_value_before("validations_read") or 0)
                    < (context.stored_value_before("validations") or 0)
                ),
            ),
        ),
    ),
    AuditRule(
        entry_declaration=money_entries.TICKET_LEDGER_CHECKED,
        record={"begun?": "$beginning"},
        extra_checks=(_check_ledger_state,),
    ),
    AuditRule(
        entry_declaration=money_entries.TICKET_LEDGER_CONTRADICTED,
        id="{id}.contradicted",
        record={"id": "$id"},
        extra_checks=(_check_ledger_correction,),
    ),
)

#: Pattern of the recorded result of a host's transfer.
_TRANSFER_RESULT_PATTERN: Final = {
    "identifier": "$identifier:words",
    "kind": "$transfer_kind",
    "status": "$status",
    "asked_cents": "$requested_cents",
    "expires": "$expires",
    "pool": "$pool",
    "told": False,
    "position": "$:positive",  # its number in the transfer history
}
#: The source and the target account of each kind of host transfer; ``{kind}`` in them is the kind of credit.
_ACCOUNTS_BY_TRANSFER_KIND: Final = {
    "in": ("world:aft_in:{kind}", "credit:{position}:{kind}"),
    "out": ("credit:{position}:{kind}", "out:aft_out:{kind}"),
    "bonus": ("house:bonus", "credit:{position}:{kind}"),
    "bonus_jackpot": ("house:bonus", "out:handpay_bonus"),
}


def _read_result(context: CheckContext) -> TransferRecord:
    """Return the result of a host's transfer that the checked entry records."""
    return context.typed_record(TransferRecord)


def _derive_postings(context: CheckContext) -> Any:
    """Return the postings that must follow from the recorded result of a host's transfer.

    There is one for each kind of credit with an amount. Each is (source, target, amount in minor units).
    """
    transfer_kind, cents_by_credit_kind = context["transfer_kind"], _read_result(context).cents_by_credit_kind
    if transfer_kind not in _ACCOUNTS_BY_TRANSFER_KIND:
        raise PatternMismatch(
            f"record.kind: {format_value(transfer_kind)} is not one of {', '.join(_ACCOUNTS_BY_TRANSFER_KIND)}"
        )
    source, target = _ACCOUNTS_BY_TRANSFER_KIND[transfer_kind]
    return sorted(
        (
            source.format(kind=credit_kind, position=context.position),
            target.format(kind=credit_kind, position=context.position),
            amount_cents,
        )
        for credit_kind, amount_cents in cents_by_credit_kind.items()
        if amount_cents
    )


def _check_postings_match_result(context: CheckContext) -> None:
    """Check that the entry makes exactly the postings that the recorded result of the host's transfer requires."""
    postings = context.entry.transfers
    recorded_postings = sorted((t.source, t.target, t.amount_cents) for t in postings)
    expected_postings = _derive_postings(context)
    if recorded_postings != expected_postings or any(t.dims for t in postings):
        raise PatternMismatch(
            f"the transfers do not match record.cents: expected {format_value(expected_postings)}, "
            f"found {format_value(recorded_postings)}"
        )
    total_cents, requested_cents = (
        sum(cents for _, _, cents in recorded_postings),
        context["requested_cents"],
    )
    status = "full" if total_cents == requested_cents else "partial"
    if context["status"] != status or total_cents > requested_cents:
        raise PatternMismatch(
            f"record.status: {total_cents} of {requested_cents} cents moved: expected {status!r} and at most the "
            f"requested amount, found {format_value(context['status'])}"
        )


def _bind_bonus_jackpot(context: CheckContext) -> None:
    """Bind ``bonus_jackpot`` to the pattern name ``transfer_kind``, which the other checks of AFT_JACKPOT read."""
    context.bound_values.update(transfer_kind="bonus_jackpot")


def _derive_restricted_terms(context: CheckContext) -> Any:
    """Return the terms (last day, pool) of the restricted credit that a host's transfer brings in.

    Return ABSENT_VALUE if it brings in none.
    """
    if context["transfer_kind"] == "in" and _read_result(context).cents_by_credit_kind.get(
        CreditKind.RESTRICTED
    ):
        return {"expires": context["expires"], "pool": context["pool"]}
    return ABSENT_VALUE


def _check_stored_failure(context: CheckContext) -> None:
    """Check that the failure stored for the host equals the recorded one.

    Two fields may differ. The record has no history index and states that the host has not read the result. The stored
    result has the index 0, and states that the host has read it if the reply to the host's order reported the failure.
    """
    stored_record, recorded_result = (
        context.stored_record_after(TransferRecord, "transfer"),
        _read_result(context),
    )
    if recorded_result.host_has_read or recorded_result.history_index is not None:
        raise PatternMismatch(
            "record.position and record.told: a failed transfer must have no index and must not be marked as read; "
            f"found {recorded_result.history_index} and {recorded_result.host_has_read}"
        )
    # A failed transfer is not in the history: its index is null in the record, and 0 in the stored result.
    expected = replace(
        recorded_result,
        history_index=0,
        host_has_read=stored_record is not None and stored_record.host_has_read,
    )
    if stored_record != expected:
        raise PatternMismatch(
            f"state.transfer does not match the record: expected {format_value(to_json(expected))}, "
            f"found {format_value(None if stored_record is None else to_json(stored_record))}"
        )


#: The number of host transfers, one more than before.
_NEXT_HOST_TRANSFER_COUNT: Final = DerivedValue(
    lambda context: (context.stored_value_before("transfers") or 0) + 1
)
#: Check that the result takes the next index of the transfer history.
_CHECK_NEXT_HISTORY_INDEX: Final = report_unless_equal(
    "record.position is not the next index of the history",
    lambda context: _read_result(context).history_index,
    lambda context: (context.stored_value_before("transfers") or 0) % _TRANSFER_HISTORY_SIZE + 1,
)
#: Check that the stored host transfer is the recorded one.
_CHECK_STORED_TRANSFER: Final = report_unless_equal(
    "state.transfer does not match the record",
    lambda context: context["stored_result"],
    lambda context: context.record,
)
#: Accepts any postings; _check_postings_match_result compares them with the recorded result.
_ANY_POSTINGS: Final = ExpectedTransfer("{source}", "{target}", "$:cents", may_repeat=True)


#: The rules of a host's transfers and bonuses.
_TRANSFER_RULES: Final = (
    AuditRule(
        entry_declaration=entries.AFT_COMPLETE,
        allowed_machine_states=STATES_FOR_TRANSFERS,
        id="transfer:{identifier}",
        record=_TRANSFER_RESULT_PATTERN,
        stored_after={"transfers": _NEXT_HOST_TRANSFER_COUNT, "transfer": "$stored_result"},
        expected_transfers=(_ANY_POSTINGS,),
        extra_checks=(
            _CHECK_STORED_TRANSFER,
            report_unless(
                "record.kind is bonus_jackpot: a bonus paid by hand is reserved, and not posted by this entry",
                lambda context: context["transfer_kind"] != "bonus_jackpot",
            ),
            _check_postings_match_result,
            _CHECK_NEXT_HISTORY_INDEX,
            require_stored_value("restricted", _derive_restricted_terms),
        ),
    ),
    AuditRule(
        entry_declaration=money_entries.AFT_JACKPOT,
        allowed_machine_states=STATES_FOR_TRANSFERS,
        id="transfer:{identifier}",
        stored_before={"handpay": None},
        record={**_TRANSFER_RESULT_PATTERN, "kind": "bonus_jackpot", "asked_cents": "$requested_cents:cents"},
        stored_after={
            "transfers": _NEXT_HOST_TRANSFER_COUNT,
            "transfer": "$stored_result",
            "handpay": {"id": "transfer:{identifier}", "kind": "bonus", "amount_cents": "$requested_cents"},
        },
        expected_transfers=(_ANY_POSTINGS,),
        extra_checks=(
            _bind_bonus_jackpot,
            _CHECK_STORED_TRANSFER,
            _check_postings_match_result,
            _CHECK_NEXT_HISTORY_INDEX,
        ),
    ),
    AuditRule(
        entry_declaration=entries.AFT_FAILED,
        extra_checks=(
            _check_stored_failure,
            report_unless(
                lambda context: (
                    "record.cents: a failed transfer moves nothing, found "
                    f"{format_value(_read_result(context).cents_by_credit_kind)}"
                ),
                lambda context: not any(_read_result(context).cents_by_credit_kind.values()),
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.AFT_RESULT_READ_BY_HOST,
        stored_before={"transfer": ObjectWithMembers(bound_name="result_before", told=False)},
        stored_after={"transfer": ObjectWithChanges(original="result_before", told=True)},
    ),
    AuditRule(
        entry_declaration=entries.AFT_CASH_OUT_TERMS_SET,
        record={"enabled": "$is_enabled", "hard": "$is_hard"},
        stored_after={"host_cash_out": {"enabled": "$is_enabled", "hard": "$is_hard"}},
    ),
    AuditRule(
        entry_declaration=entries.AFT_REGISTERED,
        record={"pos_id": "$pos_id"},
        stored_after={
            "registration": {"pos_id": "$pos_id", "key_digest": "$:digest"},
            "transfers_unproved?": None,
        },
    ),
    AuditRule(
        entry_declaration=entries.AFT_UNREGISTERED,
        stored_before={"registration": "$:object"},
        stored_after={"registration": None},
    ),
    AuditRule(entry_declaration=entries.AFT_LOCKED, allowed_machine_states=STATES_FOR_TRANSFERS),
    AuditRule(
        entry_declaration=entries.CASH_OUT_OFFERED_TO_HOST,
        allowed_machine_states=single_state(State.IDLE),
        record={"amount_cents": DerivedValue(sum_credit_cents)},
    ),
)


#: The rules of a host's settings.
_SETTING_RULES: Final = (
    AuditRule(
        entry_declaration=entries.TICKET_TERMS_CHANGED,
        record={"tickets": "$terms"},
        stored_after={"ticket_terms": "$terms"},
    ),
    AuditRule(
        entry_declaration=entries.HOST_RESTRICTION_RECORDED,
        record={"source": "$source", "name": "$control", "value": "$request"},
        stored_after={"control:{control}:{source}": "$request"},
    ),
)


RULES: Final = (*_TICKET_RULES, *_TRANSFER_RULES, *_SETTING_RULES)
