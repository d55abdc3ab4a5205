"""The audit rules for payments and decisions of staff: hand-pays, complements, unclaimed money, forfeits.

A complement is the part of a win that the machine did not pay and staff pay by hand.

Patterns such as ``"$name:type"`` are explained in :mod:`tools.audit.rules.pattern`.
"""

from dataclasses import replace
from typing import Any, Final

from egm.kernel.credits import CASH_OUT_CREDIT_KINDS, CreditKind
from egm.kernel.events import State
from egm.kernel.states import (
    ALL_STATES,
    STATES_FOR_CASH_OUT,
    STATES_FOR_RULINGS,
    STATES_SHOWING_OUTCOME,
    single_state,
)
from egm.money import entries
from egm.money.records.money import CashOutRemainder, HandpayRecord, UnclaimedRecord
from egm.people import Permission
from egm.play import entries as play_entries
from egm.record_codec import to_json
from tools.audit.rules.cash_outs import KINDS_ENDING_PAYOUT
from tools.audit.rules.pattern import (
    AlternativePatterns,
    CheckContext,
    DerivedValue,
    EachItem,
    ObjectWithChanges,
    ObjectWithMembers,
    PatternMismatch,
    format_value,
)
from tools.audit.rules.rule import AuditRule, ExpectedTransfer
from tools.audit.rules.shared_checks import (
    CASHABLE_ACCOUNT,
    check_first_person,
    check_signed_in_to_menu,
    check_somebody_signed_in,
    check_ticket_ledger_grows,
    derive_debit_transfers,
    format_journal_head,
    report_unless,
    report_unless_equal,
    require_all_credit,
    require_new_id,
    require_paid_coins,
    sum_cashable_credit_cents,
    sum_credit_cents,
)


# ---------------------------------------------------------------------------------------------- hand-pays
def _read_pending_handpay(context: CheckContext) -> HandpayRecord:
    """Return the hand-pay that was pending before the checked entry."""
    handpay = context.stored_record_before(HandpayRecord, "handpay")
    if handpay is None:
        raise PatternMismatch("no hand-pay was pending before this entry")
    return handpay


def _select_fields(handpay: HandpayRecord, *names: str) -> dict[str, Any]:
    """Return the fields ``names`` of a hand-pay record as JSON."""
    return {name: value for name, value in to_json(handpay).items() if name in names}


def _derive_slip(context: CheckContext) -> Any:
    """Return the expected record of a paid hand-pay, which is also its slip.

    It includes the data of the payment form if staff filled one in.
    """
    handpay, record = _read_pending_handpay(context), context.record
    payment_form = handpay.filled_form
    form_persons = [] if payment_form is None else list(payment_form.persons)
    person, persons = record.get("person"), record.get("persons")
    other_persons = [person_id for person_id in persons if person_id not in form_persons]
    if person not in persons or list(dict.fromkeys((*form_persons, *persons))) != persons:
        raise PatternMismatch(
            f"record.persons: expected the people of the form, {format_value(form_persons)}, and the paying "
            f"{format_value(person)}; found {format_value(persons)}"
        )
    if other_persons and other_persons[0] != person:
        raise PatternMismatch(
            f"record.persons: the first after the people of the form must be record.person, "
            f"{format_value(person)}; found {format_value(other_persons)}"
        )
    return {
        **to_json(replace(handpay, filled_form=None)),
        **({"method": "cash"} if payment_form is None else to_json(payment_form)),
        "slip": int(context.stored_value_before("slip") or 0) + 1,
        # slips written by earlier versions have no journal head
        **({"witness": format_journal_head(context)} if "witness" in record else {}),
        "machine": record["machine"],
        "taxable": record["taxable"],
        "person": person,
        "persons": persons,
    }


def _check_and_store_tax_status(context: CheckContext) -> bool:
    """Return whether the hand-pay's tax status agrees with earlier hand-pays.

    Also store the hand-pay for the check of later ones.
    """
    worth_cents, is_taxable = _read_pending_handpay(context).worth_cents, context.record["taxable"]
    is_consistent = context.facts.is_tax_status_consistent(worth_cents, is_taxable=is_taxable)
    context.facts.record_handpay(worth_cents, is_taxable=is_taxable)
    return is_consistent


def _derive_exchanged_handpay(context: CheckContext) -> Any:
    """Return the hand-pay in money that replaces the pending hand-pay with prizes in kind."""
    handpay = _read_pending_handpay(context)
    return to_json(
        replace(
            handpay,
            id=f"{handpay.id}.cash",
            kind="jackpot" if handpay.kind == "merchandise" else handpay.kind,
            amount_cents=handpay.amount_cents + sum(prize.value_cents for prize in handpay.prizes),
            prizes=(),
            replaced_reservation_id=handpay.id,
        )
    )


def _derive_unclaimed_record(context: CheckContext) -> Any:
    """Return the expected record of a hand-pay that nobody claimed.

    It has the transfers to the accounts of unclaimed money and prizes, and the ruling of staff. Raises
    :class:`PatternMismatch` if a person of the ruling is not staff, or the first was not signed in to the menu.
    """
    reservation, handpay = context.reservation, _read_pending_handpay(context)
    if reservation is None:
        raise PatternMismatch("ref: no reservation of the unclaimed hand-pay is open")
    unclaimed_transfers = []
    for transfer in reservation.transfers:
        prize_id = transfer.source.removeprefix("prizes:").removesuffix(":offered")
        target = f"prizes:{prize_id}:unclaimed" if transfer.source.startswith("prizes:") else "house:orphan"
        unclaimed_transfers.append([transfer.source, target, transfer.amount_cents])
    handpay_fields = _select_fields(handpay, "id", "kind", "amount_cents", "prizes")
    details = context["details"]
    ruling = {key: details.get(key) for key in ("machine", "place", "reason", "persons")}
    persons = ruling["persons"]
    if type(persons) is not list or not all(map(context.facts.is_staff, persons)) or not persons:
        raise PatternMismatch(
            f"state.unclaimed.story.persons: {format_value(persons)} are not all members of staff"
        )
    check_somebody_signed_in(context)
    check_first_person(context, persons[0])
    return {"id": handpay.id, "flows": unclaimed_transfers, "story": {**ruling, **handpay_fields}}


def _list_unclaimed_transfers(context: CheckContext) -> Any:
    """Return the transfers of the stored unclaimed hand-pay as (source, target, cents)."""
    unclaimed_record = context.stored_record_before(UnclaimedRecord, "unclaimed")
    return (
        []
        if unclaimed_record is None
        else [(t.source, t.target, t.amount_cents) for t in unclaimed_record.transfers]
    )


def _derive_returned_remainder(context: CheckContext) -> Any:
    """Return the unpaid part of a cash-out that the entry must store when a hand-pay returns to the credit meter."""
    handpay = _read_pending_handpay(context)
    return to_json(
        CashOutRemainder(
            amount_cents=sum_cashable_credit_cents(context) + handpay.amount_cents,
            coin_payout=handpay.coin_payout,
        )
    )


def _derive_requested_handpay(context: CheckContext) -> Any:
    """Return the pending hand-pay with the payment method that the player now requests.

    Raises :class:`PatternMismatch` if the hand-pay already has that method.
    """
    handpay, payment_method = _read_pending_handpay(context), context.record["way"]
    if (handpay.requested_method or "hand") == payment_method:
        raise PatternMismatch(
            f"record.way: the hand-pay already had the payment method {format_value(payment_method)} before this entry"
        )
    return to_json(replace(handpay, requested_method="" if payment_method == "hand" else payment_method))


#: Check that the record names known members of staff, key switches or hosts.
_CHECK_PERSONS_ARE_KNOWN: Final = report_unless(
    lambda context: (
        "record.persons: expected members of staff, key switches or hosts that this journal knows, "
        f"found {format_value(context.record['persons'])}"
    ),
    lambda context: all(map(context.facts.is_known_actor, context.record["persons"])),
)

#: The rules of hand-pays.
_HANDPAY_RULES: Final = (
    AuditRule(
        entry_declaration=entries.HANDPAY_PENDING,
        allowed_machine_states=STATES_FOR_CASH_OUT,
        allowed_after_kinds=KINDS_ENDING_PAYOUT,
        id="$id:text",
        stored_before={"handpay": None, "pay_out": None},
        stored_after={
            "handpay": {
                "id": "$id",
                "kind": "cancelled_credit",
                "amount_cents": "$cents",
                "why?": AlternativePatterns(
                    "printer", "jam", "paper", "fault", "busy", "limit", "clock", "tickets"
                ),
                "in_coins?": "$:object",
            },
            "cash_out_goes_on": None,
        },
        expected_transfers=(ExpectedTransfer(CASHABLE_ACCOUNT, "out:handpay_cancelled_credit", "$cents"),),
        extra_checks=(
            require_new_id("handpay"),
            require_all_credit("cashable"),
            require_paid_coins("handpay", HandpayRecord),
        ),
    ),
    AuditRule(
        entry_declaration=entries.HANDPAY_METHOD_CHOSEN,
        allowed_machine_states=single_state(State.HANDPAY),
        stored_before={"handpay": ObjectWithMembers(bound_name="handpay", id="$id", kind="cancelled_credit")},
        record={"handpay": "$id"},
        stored_after={"handpay": DerivedValue(_derive_requested_handpay)},
    ),
    AuditRule(
        entry_declaration=entries.HANDPAY_RETURNED,
        allowed_machine_states=single_state(State.HANDPAY),
        id="{id}.returned",
        ref="$id",
        stored_before={
            "handpay": ObjectWithMembers(bound_name="handpay", id="$id", amount_cents="$cents", way="ticket")
        },
        record={"handpay": "$id", "amount_cents": "$cents"},
        stored_after={
            "handpay": None,
            "cash_out_goes_on": AlternativePatterns(True, DerivedValue(_derive_returned_remainder)),
        },
        permission=Permission.PAY_BY_HAND,
        extra_checks=(_CHECK_PERSONS_ARE_KNOWN,),
    ),
    AuditRule(
        entry_declaration=entries.HANDPAY_FORM_FILLED,
        allowed_machine_states=single_state(State.HANDPAY),
        stored_before={"handpay": ObjectWithMembers(bound_name="handpay", id="$id", amount_cents="$cents")},
        record={
            "handpay": "$id",
            "amount_cents": "$cents",
            "method": "$method",
            "persons": "$persons:persons",
            "identity?": "$identity",
        },
        stored_after={"handpay": ObjectWithChanges(original="handpay", form="$form:object")},
        permission=Permission.PAY_BY_HAND,
        extra_checks=(
            report_unless_equal(
                "state.handpay.form does not match the record",
                lambda context: context["form"],
                lambda context: {
                    name: context[name]
                    for name in ("method", "persons", "identity")
                    if name in context.bound_values
                },
            ),
            check_signed_in_to_menu,
        ),
    ),
    AuditRule(
        entry_declaration=entries.HANDPAY_PAID,
        allowed_machine_states=single_state(State.HANDPAY),
        id="{id}.paid",
        ref="$id",
        stored_before={"handpay": ObjectWithMembers(bound_name="handpay", id="$id", kind="$handpay_kind")},
        record=DerivedValue(_derive_slip),
        stored_after={
            "handpay": None,
            "slip": DerivedValue(lambda context: int(context.stored_value_before("slip") or 0) + 1),
        },
        counts={"handpays.{handpay_kind}": 1},
        permission=Permission.PAY_BY_HAND,
        extra_checks=(
            report_unless(
                lambda context: (
                    f"record.taxable is {context.record['taxable']} for {_read_pending_handpay(context).worth_cents} "
                    "cents, which contradicts the hand-pays before this entry: those above one amount are "
                    "taxable, and those below it are not"
                ),
                _check_and_store_tax_status,
            ),
            _CHECK_PERSONS_ARE_KNOWN,
        ),
    ),
    AuditRule(
        entry_declaration=play_entries.PRIZES_EXCHANGED,
        allowed_machine_states=single_state(State.HANDPAY),
        id="{id}.cash",
        stored_before={"handpay": ObjectWithMembers(bound_name="handpay", id="$id", prizes="$prizes:list")},
        record={
            "handpay": "$id",
            "prizes": "$prizes",
            "amount_cents": DerivedValue(
                lambda context: sum(prize.value_cents for prize in _read_pending_handpay(context).prizes)
            ),
        },
        stored_after={"handpay": DerivedValue(_derive_exchanged_handpay)},
        expected_transfers=(
            ExpectedTransfer(
                "house:attendant_jackpot", "out:handpay_jackpot", "$:cents", "$:object", may_repeat=True
            ),
            ExpectedTransfer(
                "house:progressive:{level}", "out:handpay_progressive", "$:cents", "$:object", may_repeat=True
            ),
            ExpectedTransfer(
                "house:attendant_jackpot", "out:handpay_jackpot", "$:cents", "$:object", may_repeat=True
            ),
        ),
        permission=Permission.PAY_BY_HAND,
        extra_checks=(
            report_unless_equal(
                "the dims of the transfers do not match those of the replaced hand-pay",
                lambda context: [dict(t.dims) for t in context.entry.transfers],
                lambda context: [
                    dict(t.dims) for t in context.ledger.pending_reservations[context["id"]].transfers
                ],
            ),
            check_signed_in_to_menu,
        ),
    ),
    AuditRule(
        entry_declaration=play_entries.HANDPAY_REPLACED,
        id="{replaced_id}.replaced",
        ref="$replaced_id",
        stored_before={
            "handpay": ObjectWithMembers(bound_name="handpay", id="$id", instead_of="$replaced_id")
        },
        record={"handpay": "$replaced_id", "by": "$id"},
        stored_after={"handpay": ObjectWithChanges(original="handpay", absent_members=("instead_of",))},
    ),
    AuditRule(
        entry_declaration=entries.HANDPAY_UNCLAIMED,
        allowed_machine_states=single_state(State.HANDPAY),
        id="{id}.unclaimed",
        ref="$id",
        stored_before={"handpay": ObjectWithMembers(bound_name="handpay", id="$id")},
        record={"id": "$id"},
        stored_after={
            "handpay": None,
            "unclaimed": ObjectWithMembers(bound_name="unclaimed_record", story="$details:object"),
        },
        extra_checks=(
            report_unless_equal(
                "state.unclaimed does not match the hand-pay owed before this entry",
                lambda context: context["unclaimed_record"],
                _derive_unclaimed_record,
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.ORPHAN_HANDPAY,
        allowed_machine_states=ALL_STATES,
        id="{id}.orphan",
        stored_before={"unclaimed": ObjectWithMembers(bound_name="unclaimed", id="$id", story="$details")},
        record="$details",
        stored_after={"unclaimed": None},
        expected_transfers=DerivedValue(_list_unclaimed_transfers),
        permission=Permission.RULE_ON_MONEY,
    ),
    AuditRule(
        entry_declaration=play_entries.PRIZES_WON,
        allowed_machine_states=STATES_SHOWING_OUTCOME,
        id="{play}.prize-{n:n}",
        stored_before={"game": {"play_id": "$play"}},
        record={"play_id": "$play", "prizes": EachItem("$:object", count_min=1)},
    ),
)


# ---------------------------------------------------------------------------------------------- rulings
def _derive_forfeit_details(context: CheckContext) -> Any:
    """Return the expected details of a forfeit: the ruling in the record, and the hand-pay that is forfeited."""
    record = context.record
    handpay_fields = _select_fields(_read_pending_handpay(context), "id", "amount_cents", "prizes")
    ruling = {key: record.get(key) for key in ("machine", "place", "reason", "persons")}
    return {**ruling, **handpay_fields}


#: The rules of what staff decide about a player's money.
_RULING_RULES: Final = (
    AuditRule(
        entry_declaration=entries.COMPLEMENT_PAID,
        allowed_machine_states=STATES_FOR_RULINGS,
        record={"amount_cents": "$cents"},
        expected_transfers=(ExpectedTransfer("house:complement", "out:handpay_complement", "$cents"),),
        permission=Permission.RULE_ON_MONEY,
        extra_checks=(
            report_unless(
                lambda context: (
                    f"record.slip: expected the number of a written slip, at most "
                    f"{int(context.stored_value_before('slip') or 0)}; found {format_value(context.record.get('slip'))}"
                ),
                lambda context: (
                    int(context.record.get("slip", 0)) <= int(context.stored_value_before("slip") or 0)
                ),
            ),
            check_signed_in_to_menu,
        ),
    ),
    AuditRule(
        entry_declaration=entries.ORPHAN_CREDITS,
        allowed_machine_states=single_state(State.SERVICE_MENU),
        record={"amount_cents": "$cents", "expired_cents": "$expired"},
        expected_transfers=DerivedValue(
            lambda context: [
                *derive_debit_transfers(context, context["cents"], "house:orphan", CASH_OUT_CREDIT_KINDS),
                *derive_debit_transfers(
                    context, context["expired"], "house:expired", (CreditKind.RESTRICTED,)
                ),
            ]
        ),
        permission=Permission.RULE_ON_MONEY,
        extra_checks=(
            report_unless(
                lambda context: (
                    f"record: amount_cents and expired_cents are {context['cents']} and {context['expired']}, "
                    f"expected together all credit, {sum_credit_cents(context)} cents, and more than 0"
                ),
                lambda context: context["cents"] + context["expired"] == sum_credit_cents(context) > 0,
            ),
            check_signed_in_to_menu,
        ),
    ),
    AuditRule(
        entry_declaration=entries.ORPHAN_TICKET,
        allowed_machine_states=STATES_FOR_RULINGS,
        id="{id}.in",
        record={"amount_cents": "$cents"},
        expected_transfers=(ExpectedTransfer("world:voucher_in:{credit}", "house:orphan", "$cents"),),
        permission=Permission.RULE_ON_MONEY,
        extra_checks=(require_new_id("orphan"), check_signed_in_to_menu, check_ticket_ledger_grows),
    ),
    AuditRule(
        entry_declaration=entries.ORPHAN_TICKET_REFUSED,
        allowed_machine_states=STATES_FOR_RULINGS,
        permission=Permission.RULE_ON_MONEY,
        extra_checks=(check_signed_in_to_menu,),
    ),
    AuditRule(
        entry_declaration=entries.PRIZE_FORFEITED,
        allowed_machine_states=single_state(State.HANDPAY),
        id="{id}.forfeit",
        ref="$id",
        stored_before={"handpay": ObjectWithMembers(bound_name="handpay", id="$id")},
        record=DerivedValue(_derive_forfeit_details),
        stored_after={"handpay": None},
        permission=Permission.RULE_ON_MONEY,
        persons_min=2,
        extra_checks=(check_signed_in_to_menu,),
    ),
    AuditRule(
        entry_declaration=entries.CREDITS_FORFEITED,
        allowed_machine_states=single_state(State.SERVICE_MENU),
        record={"amount_cents": "$cents"},
        expected_transfers=DerivedValue(
            lambda context: derive_debit_transfers(
                context, context["cents"], "house:forfeit", tuple(reversed(CreditKind))
            )
        ),
        permission=Permission.RULE_ON_MONEY,
        persons_min=2,
        extra_checks=(check_signed_in_to_menu,),
    ),
)


RULES: Final = (*_HANDPAY_RULES, *_RULING_RULES)
