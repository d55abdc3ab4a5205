"""The rules for what a host decides: its replies about tickets, and its transfers (AFT, bonuses)."""

from dataclasses import replace
from typing import Any, Final

from egm.kernel.credits import CreditKind
from egm.kernel.events import State
from egm.kernel.states import TRANSFERRING, only
from egm.money.host.records import TransferRecord
from egm.tickets.audit import LedgerAnchor
from meters.transaction import Phase
from tools.audit.rules.parts import (
    ABSENT,
    TICKETS,
    check_ticket_ledger_grows,
    credit_cents,
    holds,
    require_new_id,
    require_stored_value,
)
from tools.audit.rules.pattern import But, Derived, Differs, Has, Scope, format_value, is_json_equal
from tools.audit.rules.rule import Move, Rule

#: The size of the ring of transfers that the host may read back (egm.money.host.transfers).
_HISTORY: Final = 35


def _check_ledger_state(scope: Scope) -> None:
    """Check the ticket ledger's recorded state, at its first use in this journal or after its replacement."""
    was, now = scope.record_before(LedgerAnchor, "tickets"), scope.record_after(LedgerAnchor, "tickets")
    if now is None:
        raise Differs("state.tickets: it is missing")
    begins = was is None or was.begun != now.begun
    if not begins:
        check_ticket_ledger_grows(scope)
    if ("begun" in scope.names) != (begins and bool(now.begun)):
        raise Differs("the people who replaced the ticket ledger must be named exactly when it was replaced")


def _check_contradicted_amount(scope: Scope) -> None:
    """Check an amount that the journal has credited and the ledger will never credit."""
    was, now = scope.record_before(LedgerAnchor, "tickets"), scope.record_after(LedgerAnchor, "tickets")
    if was is None or now is None:
        raise Differs("state.tickets: no ticket ledger is known")
    before = ((was.base.get(name, 0), cents) for name, cents in now.base.items())
    lower = [known - cents for known, cents in before if known != cents]
    if lower != [scope.record["amount_cents"]] or replace(now, base=was.base) != was:
        raise Differs(
            "it must subtract the amount of one redemption from the ledger's base, and nothing else"
        )


_HOST_TICKET: Final = {
    "id": "$id:text",
    "number": "$number:masked",
    "status": "$status:text",
    "amount_cents": 0,
    "kind": "",
    "told": "$:bool",
}
_HOST_TICKETS: Final = (
    Rule(kind="voucher.refused", record={"reason": "$:text"}, counts={"vouchers_refused": 1}),
    Rule(
        kind="voucher.refused",
        record={"id": "$id:text", "number": "$number:masked", "status": "$status:text", "reason": "$:text"},
        state={"host_ticket?": _HOST_TICKET},
        counts={"vouchers_refused": 1},
        also=(require_new_id("ticket"),),
    ),
    Rule(
        kind="voucher.authorised",
        record={
            "id": "$id:text",
            "number": "$number:masked",
            "amount_cents": "$cents",
            "kind": "$credit:credit",
        },
        state={
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
        also=(
            require_new_id("ticket"),
            holds(
                "the amount is not above zero",
                lambda scope: type(scope["cents"]) is int and scope["cents"] > 0,
            ),
        ),
    ),
    Rule(
        kind="voucher.told",
        before={"host_ticket": Has("kept", told=False)},
        state={"host_ticket": But("kept", told=True)},
    ),
    Rule(
        kind="voucher.read",
        state={"validations_read": Derived(lambda scope: (scope.value_before("validations_read") or 0) + 1)},
        also=(
            holds(
                "no ticket is left to be read",
                lambda scope: (
                    (scope.value_before("validations_read") or 0) < (scope.value_before("validations") or 0)
                ),
            ),
        ),
    ),
    Rule(kind="voucher.enrolled", record={"sequence": "$:count"}),
    Rule(kind="tickets.mended", record={"what": "$:text"}),
    Rule(
        kind="tickets.checked",
        record={"place": "$:count", "begun?": "$begun:object"},
        state={"tickets": TICKETS["tickets?"]},
        also=(_check_ledger_state,),
    ),
    Rule(
        kind="tickets.contradicted",
        id="{id}.contradicted",
        record={"id": "$id:text", "number": "$:masked", "amount_cents": "$:cents"},
        state={"tickets": TICKETS["tickets?"]},
        also=(_check_contradicted_amount,),
    ),
)

# ---------------------------------------------------------------------------------------------- transfers
_RESULT: Final = {
    "identifier": "$identifier:words",
    "kind": "$way:text",
    "status": "$status:text",
    "cents": {"cashable?": "$:count", "restricted?": "$:count", "nonrestricted?": "$:count"},
    "asked_cents": "$asked:count",
    "expires": "$expires:text",
    "pool": "$pool:count",
    "codes": "$:object",
    "at": "$:time",
    "told": False,
}
_REFUSED: Final = {**_RESULT, "identifier": "$identifier:text"}
_WAYS: Final = {
    "in": ("world:aft_in:{kind}", "credit:{position}:{kind}"),
    "out": ("credit:{position}:{kind}", "out:aft_out:{kind}"),
    "bonus": ("house:bonus", "credit:{position}:{kind}"),
    "bonus_jackpot": ("house:bonus", "out:handpay_bonus"),
}


def _result(scope: Scope) -> TransferRecord:
    return scope.typed_record(TransferRecord)


def _derive_transfers(scope: Scope) -> Any:
    """Return the transfers of a host's order, by kind of credit, from its recorded result."""
    way, cents = scope["way"], _result(scope).cents
    if way not in _WAYS:
        raise Differs(f"{format_value(way)} is not a valid transfer type")
    source, target = _WAYS[way]
    return sorted(
        (
            source.format(kind=kind, position=scope.position),
            target.format(kind=kind, position=scope.position),
            amount_cents,
        )
        for kind, amount_cents in cents.items()
        if amount_cents
    )


def _check_moves_match_result(scope: Scope) -> None:
    transfers = scope.entry.transfers
    found = sorted((t.source, t.target, t.amount_cents) for t in transfers)
    due = _derive_transfers(scope)
    if found != due or any(t.dims for t in transfers):
        raise Differs(f"it moves {format_value(found)}, but its result states {format_value(due)}")
    total_cents, requested_cents = sum(cents for _, _, cents in found), scope["asked"]
    status = "full" if total_cents == requested_cents else "partial"
    if scope["status"] != status or total_cents > requested_cents:
        raise Differs(
            f"{total_cents} cents of {requested_cents} moved, but its status is {format_value(scope['status'])}"
        )


def _derive_restricted_terms(scope: Scope) -> Any:
    if scope["way"] == "in" and _result(scope).cents.get(CreditKind.RESTRICTED):
        return {"expires": scope["expires"], "pool": scope["pool"]}
    return ABSENT


_COUNTED: Final = Derived(lambda scope: (scope.value_before("transfers") or 0) + 1)
_PLACE: Final = holds(
    "its index in the history is not the next one",
    lambda scope: _result(scope).position == (scope.value_before("transfers") or 0) % _HISTORY + 1,
)
_DONE: Final = {**_RESULT, "position": "$:cents"}
_ANYWHERE: Final = Move("{source}", "{target}", "$:cents", many=True)


_TRANSFERS: Final = (
    Rule(
        kind="aft.complete",
        within=TRANSFERRING,
        id="transfer:{identifier}",
        record=_DONE,
        state={"transfers": _COUNTED, "transfer": "$kept:object", "restricted?": "$:object"},
        moves=(_ANYWHERE,),
        also=(
            holds(
                "the stored value differs from the record",
                lambda scope: is_json_equal(scope["kept"], scope.record),
            ),
            holds("a bonus paid by hand must be reserved", lambda scope: scope["way"] != "bonus_jackpot"),
            _check_moves_match_result,
            _PLACE,
            require_stored_value("restricted", _derive_restricted_terms),
        ),
    ),
    Rule(
        kind="aft.complete",
        within=TRANSFERRING,
        id="transfer:{identifier}",
        phase=Phase.RESERVE,
        before={"handpay": None},
        record={**_DONE, "kind": "bonus_jackpot", "asked_cents": "$asked:cents"},
        state={
            "transfers": _COUNTED,
            "transfer": "$kept:object",
            "handpay": {"id": "transfer:{identifier}", "kind": "bonus", "amount_cents": "$asked"},
        },
        moves=(_ANYWHERE,),
        also=(
            lambda scope: scope.names.update(way="bonus_jackpot"),
            holds(
                "the stored value differs from the record",
                lambda scope: is_json_equal(scope["kept"], scope.record),
            ),
            _check_moves_match_result,
            _PLACE,
        ),
    ),
    Rule(
        kind="aft.failed",
        record=_REFUSED,
        state={"transfer": {**_REFUSED, "told": "$:bool", "position": 0}},
        also=(
            holds(
                "an order that fails moves nothing",
                lambda scope: not any(_result(scope).cents.values()),
            ),
        ),
    ),
    Rule(
        kind="aft.told",
        before={"transfer": Has("kept", told=False)},
        state={"transfer": But("kept", told=True)},
    ),
    Rule(
        kind="aft.cash_out",
        record={"enabled": "$on:bool", "hard": "$hard:bool"},
        state={"host_cash_out": {"enabled": "$on", "hard": "$hard"}},
    ),
    Rule(
        kind="aft.registered",
        record={"pos_id": "$pos:count"},
        state={
            "registration": {"pos_id": "$pos", "key_digest": "$:digest"},
            "transfers_unproved?": None,
        },
    ),
    Rule(kind="aft.unregistered", before={"registration": "$:object"}, state={"registration": None}),
    Rule(kind="aft.locked", within=TRANSFERRING, record={"condition": "$:count"}),
    Rule(kind="aft.offered", within=only(State.IDLE), record={"amount_cents": Derived(credit_cents)}),
    Rule(kind="aft.unlocked", record={"cash_out": "$:bool"}),
)


RULES: Final = (*_HOST_TICKETS, *_TRANSFERS)
