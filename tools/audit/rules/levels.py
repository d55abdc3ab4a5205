"""The audit rules for progressive levels, their hits and claims.

The amounts are checked elsewhere: :mod:`tools.audit.levels` recomputes them. In the stored objects, ``after`` and
``sequence`` are the contribution number, ``way`` is the payment method, ``late`` is what was done with a prize after
its game had ended, and ``sealed:`` begins the storage key of a commitment to a mystery prize.

Patterns such as ``"$name:type"`` are explained in :mod:`tools.audit.rules.pattern`.
"""

from dataclasses import replace
from typing import Any, Final

from egm.kernel.events import State
from egm.kernel.states import (
    ALL_STATES,
    STATES_AFTER_SELF_TEST,
    STATES_FOR_PRIZE_RULINGS,
    STATES_WITH_STAFF_AT_WORK,
    single_state,
)
from egm.people import Permission
from egm.progressive import entries
from egm.progressive.records import ClaimRecord, HeldPrize
from egm.record_codec import to_json
from tools.audit.rules.games import ANY_PLAY_DIMS_PATTERN, EXPECTED_POOL_TRANSFERS, LINKED_LEVEL_PATTERN
from tools.audit.rules.pattern import (
    AlternativePatterns,
    CheckContext,
    ObjectWithMembers,
    Pattern,
    PatternMismatch,
    format_value,
    is_json_equal,
    parse_record,
)
from tools.audit.rules.rule import AuditRule, Check, ExpectedTransfer
from tools.audit.rules.shared_checks import (
    check_signed_in_to_menu,
    report_unless,
    report_unless_equal,
)

#: Pattern of the stored claim of a hit.
_CLAIM_PATTERN: Final = {
    "pool": "$pool:text",
    "level": "$:text",
    "mystery?": True,
    "after": "$:count",
    "share?": "$:text",
    "shown_cents": "$shown:count",
    "play_id": "$play:text",
    "game": "$:text",
    "at_utc": "$:time",
    "amount_cents": "$cents:count|none",
    "way": "$payment_method:text|none",
    "unanswered": "$unanswered:bool",
}
#: Pattern of the record of a mystery prize that was won.
_MYSTERY_PRIZE_PATTERN: Final = {
    "pool": "$pool",
    "claim": "$claim",
    "sequence": "$contribution",
    "amount_cents": "$cents",
}


def _require_ruling(ruling: str) -> Check:
    """Return the check of an entry that pays or declines a progressive prize; ``ruling`` is "pay" or "decline".

    If the claim has a held prize, the ruling stored in it must be ``ruling``, and the entry must delete the held prize.
    If it has none, only "pay" is allowed, and not for a prize that could not be verified.
    """

    def check(context: CheckContext) -> None:
        """Check the entry against the held prize of its claim and the stored ruling on that prize."""
        key = f"held:{context['claim']}"
        held_prize = (
            None
            if (stored_value := context.ledger.state.get(key)) is None
            else parse_record(HeldPrize, stored_value, key)
        )
        if (held_prize is not None) != (key in context.entry.state):
            held_text = "is held" if held_prize is not None else "is not held"
            raise PatternMismatch(
                f"state.{key}: the prize {held_text} before this entry; an entry must remove the held prize if there is"
                " one, and otherwise store nothing under this key"
            )
        if held_prize is None and (ruling == "decline" or context.record["proved"] is False):
            raise PatternMismatch(
                f"the prize of claim {context['claim']} is not verified (proved), and no ruling on it is stored"
            )
        expected = context["pool"], context["play"], context["cents"], ruling
        if held_prize is not None and (
            (held_prize.pool_id, held_prize.play_id, held_prize.amount_cents, held_prize.ruling) != expected
            or (held_prize.prize_report or {}).get("claim") != context["claim"]
        ):
            raise PatternMismatch(
                f"the entry does not follow the stored ruling on claim {context['claim']}: expected pool, play, "
                f"cents and ruling {format_value(expected)}, found {format_value(to_json(held_prize))}"
            )

    return check


#: Check that the record has no hits.
_CHECK_NO_HITS: Final = report_unless(
    lambda context: f"record.hits: expected none, found {format_value(context.record['hits'])}",
    lambda context: "hits" not in context.record,
)


def _check_held_prize(context: CheckContext) -> None:
    """Check that the entry stores the held prize exactly as its record states it.

    A prize is held until two people rule on it: a mystery prize, or an amount for a hit, that cannot be verified.
    """
    expected = {"claim": context["claim"], **context["held_prize"]}
    if not is_json_equal(context.record, expected):
        raise PatternMismatch(
            f"record does not match the held prize in state: expected {format_value(expected)}, "
            f"found {format_value(context.record)}"
        )


def _check_ruling(context: CheckContext) -> None:
    """Check a ruling by two people on a progressive hit.

    If held prizes wait for a ruling, the ruling must be on one of them: to pay or to decline it. Otherwise it must be
    on a stored claim whose amount is not fixed. The entry must store what follows: the held prize is updated or
    removed, the claim gets its amount, and the fault about held prizes ends if no other prize awaits a ruling.
    """
    record, memory = context.record, context.ledger.state
    claim_id = record["claim"]
    unruled_prize_by_key = {
        key: prize
        for key, stored_prize in memory.items()
        if key.startswith("held:")
        and stored_prize is not None
        and (prize := parse_record(HeldPrize, stored_prize, key)).ruling is None
    }
    held_prize, claim_value = unruled_prize_by_key.get(f"held:{claim_id}"), memory.get(f"claim:{claim_id}")
    stored_claim = (
        None if claim_value is None else parse_record(ClaimRecord, claim_value, f"claim:{claim_id}")
    )
    held_prize_keys = ("pool", "play_id", "amount_cents", "why")
    expected_fields = (
        {}
        if held_prize is None
        else {name: value for name, value in to_json(held_prize).items() if name in held_prize_keys}
    )
    expected_values: dict[str, Any] = {}
    lacks_amount = (
        stored_claim is not None and stored_claim.payment_method is None and stored_claim.amount_cents is None
    )
    is_awaiting_ruling = held_prize is not None if unruled_prize_by_key else lacks_amount
    if held_prize is not None:
        is_held_prize_removed = lacks_amount or held_prize.prize_report is None
        expected_values[f"held:{claim_id}"] = (
            None if is_held_prize_removed else to_json(replace(held_prize, ruling=record["decision"]))
        )
    if stored_claim is not None and lacks_amount:
        cents = (
            held_prize.amount_cents
            if held_prize is not None and record["decision"] == "pay"
            else stored_claim.shown_cents
        )
        expected_values[f"claim:{claim_id}"] = to_json(
            replace(stored_claim, amount_cents=cents, is_settled_by_staff=True)
        )
        expected_fields |= {
            "pool": stored_claim.pool_id,
            "play_id": stored_claim.play_id,
            "awarded_cents": cents,
        }
    if len(unruled_prize_by_key) <= 1:
        expected_values["fault:progressive_unproved"] = None
    if not is_awaiting_ruling:
        raise PatternMismatch(f"record.claim: no prize of claim {claim_id} awaits a ruling")
    ruling_fields = ("machine", "place", "reason", "persons", "claim", "decision")
    if not is_json_equal(record, {**{name: record.get(name) for name in ruling_fields}, **expected_fields}):
        raise PatternMismatch(
            f"record does not match the held prize or the claim: expected {format_value(expected_fields)}, "
            f"found {format_value(record)}"
        )
    if not is_json_equal(dict(context.entry.state), expected_values):
        raise PatternMismatch(
            f"state: expected {format_value(expected_values)}, found {format_value(dict(context.entry.state))}"
        )


def _build_mystery_claim_pattern(payment_method: str | None) -> dict[str, Pattern]:
    """Return the pattern of the stored claim of a mystery prize that is paid by ``payment_method``."""
    return {
        **_CLAIM_PATTERN,
        "mystery": True,
        "after": "$contribution",
        "shown_cents": "$cents",
        "amount_cents": "$cents",
        "way": payment_method,
        "unanswered": False,
    }


def _derive_lost_paid_hits(context: CheckContext) -> dict[str, Any]:
    """Return the paid hits of a level whose contribution the progressive controller lost, as claims by storage key."""
    return {
        f"claim:{claim_id}": to_json(claim_record)
        for claim_id, claim_record in context.facts.closed_claims.items()
        if claim_record.pool_id == context["pool"]
        and claim_record.contribution_number > context["counted"]
        and claim_record.payment_method != "void"
        and not claim_record.is_mystery
    }


def _find_closed_mystery_claim(context: CheckContext) -> Any:
    """Return the mystery claim that the entry opens again, as it was when it was closed; None if none was closed."""
    claim_record = context.facts.closed_claims.get(context["claim"])
    return to_json(claim_record) if claim_record is not None and claim_record.is_mystery else None


#: The rules of levels.
_LEVEL_RULES: Final = (
    AuditRule(
        entry_declaration=entries.LEVEL_OPENED,
        allowed_machine_states=ALL_STATES,
        stored_before={"level:{pool}": None},
        record={"pool": "$pool"},
        extra_checks=(
            report_unless_equal(
                "record.pool is not the name built from the level's game and stake",
                lambda context: context["pool"],
                lambda context: "{game}.{level}.{stake_cents}".format(**context.record),
            ),
        ),
        stored_after={"level:{pool}": "$:object"},  # derived by the audit of levels
        expected_transfers=(ExpectedTransfer("pool:{pool}:startup", "pool:{pool}:current"),),
    ),
    AuditRule(
        entry_declaration=entries.LEVEL_CHANGED,
        stored_before={"level:{pool}": "$:object"},
        record={"pool": "$pool"},
        stored_after={"level:{pool}": "$:object"},
    ),
    AuditRule(
        entry_declaration=entries.LEVEL_MOVED,
        allowed_machine_states=STATES_WITH_STAFF_AT_WORK,
        record={"source": "$source", "target": "$target"},
        stored_after={"level:{source}": "$:object", "level:{target}": "$:object"},
        expected_transfers=(EXPECTED_POOL_TRANSFERS,),
        permission=Permission.CONFIGURE,
        extra_checks=(check_signed_in_to_menu,),
    ),
    AuditRule(entry_declaration=entries.LEVEL_HIT, id="{hit_id}"),
    AuditRule(
        entry_declaration=entries.BROADCAST_LEVEL_HIT, id="{play}.hit-{n:n}", record={"play_id": "$play"}
    ),
)

#: The rules of claims to linked levels.
_CLAIM_RULES: Final = (
    AuditRule(
        entry_declaration=entries.AWARD_AWAITED,
        allowed_machine_states=single_state(State.PLAYING),
        stored_before={"game": {"play_id": "$play"}},
        stored_after={"awaiting_award": "$play"},
    ),
    AuditRule(
        entry_declaration=entries.AWARD_LOCKED,
        id="{claim}.award",
        stored_before={
            "claim:{claim}": ObjectWithMembers(
                bound_name="claim_before", amount_cents=None, pool="$pool", way=None
            ),
            "held:{claim}": None,
        },
        record={"claim": "$claim", "pool": "$pool", "amount_cents": "$cents"},
        stored_after={"claim:{claim}": {**_CLAIM_PATTERN, "amount_cents": "$cents", "unanswered": False}},
        extra_checks=(
            report_unless_equal(
                "the stored claim differs from the claim before this entry in more than amount_cents",
                lambda context: context.entry.state[f"claim:{context['claim']}"],
                lambda context: {**context["claim_before"], "amount_cents": context["cents"]},
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.AWARD_DIFFERS,
        id="{claim}.differs-{cents}",
        record={"claim": "$claim", "amount_cents": "$cents"},
    ),
    AuditRule(
        entry_declaration=entries.CLAIM_SETTLED_WITHOUT_CONTROLLER,
        allowed_machine_states=single_state(State.AWAITING_AWARD),
        id="{claim}.unanswered",
        stored_before={
            "claim:{claim}": ObjectWithMembers(
                bound_name="claim_before", amount_cents=None, pool="$pool", shown_cents="$cents"
            )
        },
        record={"claim": "$claim", "pool": "$pool", "amount_cents": "$cents"},
        stored_after={"claim:{claim}": "$claim_after:object"},
        permission=Permission.PAY_BY_HAND,
        extra_checks=(
            report_unless_equal(
                "the stored claim differs from the claim before this entry in more than amount_cents and unanswered",
                lambda context: context["claim_after"],
                lambda context: {
                    **context["claim_before"],
                    "amount_cents": context["cents"],
                    "unanswered": True,
                },
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.GAME_ENDED_WITH_UNDECIDED_LEVELS,
        allowed_machine_states=single_state(State.AWAITING_AWARD),
        id="{play}.undecided",
        stored_before={"game": {"play_id": "$play"}},
        record={"play_id": "$play"},
        stored_after={"undecided": "$play"},
        permission=Permission.PAY_BY_HAND,
        extra_checks=(
            report_unless("record.pools names no level", lambda context: bool(context.record["pools"])),
        ),
    ),
    AuditRule(
        entry_declaration=entries.CLAIM_CLOSED,
        stored_before={
            "claim:{claim}": ObjectWithMembers(bound_name="claim_before", way="$payment_method:text")
        },
        record={"claim": "$claim", "way": "$payment_method"},
        stored_after={"claim:{claim}": None},
        extra_checks=(
            report_unless_equal(
                "record does not match the claim stored before this entry",
                lambda context: context.record,
                lambda context: {**context["claim_before"], "claim": context["claim"]},
            ),
        ),
    ),
)

#: The rules of mystery prizes.
_MYSTERY_RULES: Final = (
    AuditRule(
        entry_declaration=entries.PRIZE_COMMITTED,
        record={"pool": "$pool", "prize": "$prize", "commitment": "$commitment"},
        stored_after={"sealed:{pool}": {"prize": "$prize", "commitment": "$commitment"}},
    ),
    AuditRule(
        entry_declaration=entries.PRIZE_WON,
        id="{claim}.won",
        stored_before={"game": {"play_id": "$play"}},
        record={
            **_MYSTERY_PRIZE_PATTERN,
            "play_id": "$play",
            "hits": [
                {
                    "pool": "$pool",
                    "level": "$level:text",
                    "mystery": True,
                    "claim": "$claim",
                    "amount_cents": "$cents",
                }
            ],
        },
        stored_after={
            "claim:{claim}": {
                **_build_mystery_claim_pattern(None),
                "pool": "$pool",
                "level": "$level",
                "play_id": "$play",
            }
        },
        extra_checks=(
            report_unless(
                "record.proved is False: a prize that could not be verified may not be added to its game",
                lambda context: context.record["proved"] is not False,
            ),
            report_unless(
                lambda context: (
                    f"record.late: expected none while the game is open, found {format_value(context.record['late'])}"
                ),
                lambda context: "late" not in context.record,
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.PRIZE_RETURNED,
        id="{claim}.won",
        record={**_MYSTERY_PRIZE_PATTERN, "play_id": "$play", "late": "void"},
        stored_after={
            "claim:{claim}": {**_build_mystery_claim_pattern("void"), "pool": "$pool", "play_id": "$play"},
        },
        extra_checks=(
            report_unless(
                lambda context: (
                    f"state.held:{context['claim']}: the prize of a void game is returned without a ruling, "
                    "so the entry may not remove a held prize"
                ),
                lambda context: f"held:{context['claim']}" not in context.entry.state,
            ),
            _CHECK_NO_HITS,
        ),
    ),
    AuditRule(
        entry_declaration=entries.PRIZE_RETURNED,
        id="{claim}.won",
        record={**_MYSTERY_PRIZE_PATTERN, "play_id": "$play", "late": "declined"},
        stored_after={
            "claim:{claim}": {**_build_mystery_claim_pattern("void"), "pool": "$pool", "play_id": "$play"},
            "held:{claim}": None,
        },
        extra_checks=(_require_ruling("decline"), _CHECK_NO_HITS),
    ),
    AuditRule(
        entry_declaration=entries.PRIZE_PAID_BY_HAND,
        allowed_machine_states=STATES_AFTER_SELF_TEST,
        id="{claim}.won",
        stored_before={"game": None, "handpay": None, "pay_out": None},
        record={**_MYSTERY_PRIZE_PATTERN, "play_id": "$play", "late": "hand"},
        stored_after={
            "claim:{claim}": {**_build_mystery_claim_pattern("hand"), "pool": "$pool", "play_id": "$play"},
            "held:{claim}?": None,
            "handpay": {
                "id": "{claim}.won",
                "kind": "progressive",
                "amount_cents": "$cents",
                "pool": "$pool",
                "play_id": "$play",
            },
        },
        expected_transfers=(
            ExpectedTransfer("house:progressive:{pool}", "out:handpay_progressive", "$cents"),
        ),
        dims=ANY_PLAY_DIMS_PATTERN,
        extra_checks=(_require_ruling("pay"), _CHECK_NO_HITS),
    ),
    AuditRule(
        entry_declaration=entries.PRIZE_NOT_OF_THIS_MACHINE,
        # Earlier versions used the id of a prize that is paid.
        id=AlternativePatterns("{claim}.not_ours-{contribution:n}", "{claim}.won"),
        record={"claim": "$claim", "sequence": "$contribution:int"},
        extra_checks=(
            report_unless(
                lambda context: (
                    "record: a prize of another machine has no play_id, hits or late; found "
                    f"{format_value(context.record)}"
                ),
                lambda context: context.record.keys().isdisjoint({"play_id", "hits", "late"}),
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.PRIZE_PAYMENT_LOST,
        allowed_machine_states=ALL_STATES,
        stored_before={"claim:{claim}": None},
        record={"claim": "$claim"},
        stored_after={"claim:{claim}": "$claim_after:object"},
        extra_checks=(
            report_unless_equal(
                "state is not the mystery claim that was closed before this entry",
                lambda context: context["claim_after"],
                _find_closed_mystery_claim,
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.PRIZE_HELD,
        allowed_machine_states=ALL_STATES,
        stored_before={"held:{claim}": None},
        record={"claim": "$claim", "ruling": None},
        stored_after={"held:{claim}": "$held_prize:object"},
        extra_checks=(_check_held_prize,),
    ),
    AuditRule(
        entry_declaration=entries.PRIZE_RULED,
        allowed_machine_states=STATES_FOR_PRIZE_RULINGS,
        permission=Permission.RULE_ON_MONEY,
        persons_min=2,
        extra_checks=(_check_ruling, check_signed_in_to_menu),
    ),
)

#: The rules of the link to a controller.
_LINK_RULES: Final = (
    AuditRule(
        entry_declaration=entries.LEVEL_LINKED,
        allowed_machine_states=ALL_STATES,
        stored_before={"link:{pool}": None},
        record={"pool": "$pool"},
        stored_after={"link:{pool}": dict.fromkeys(LINKED_LEVEL_PATTERN, 0)},
    ),
    AuditRule(
        entry_declaration=entries.CONTROLLER_COUNT_AHEAD,
        record={"pool": "$pool", "counted": "$counted"},
        stored_after={"link:{pool}": {**LINKED_LEVEL_PATTERN, "sequence": "$counted"}},
    ),
    AuditRule(
        entry_declaration=entries.CONTROLLER_COUNT_BEHIND,
        record={"pool": "$pool", "counted": "$counted"},
        extra_checks=(
            report_unless_equal(
                "state does not store exactly the paid hits that the controller has lost",
                lambda context: dict(context.entry.state),
                _derive_lost_paid_hits,
            ),
        ),
    ),
    *(
        AuditRule(
            entry_declaration=declaration,
            permission=Permission.CONFIGURE,
            extra_checks=(check_signed_in_to_menu,),
        )
        for declaration in (entries.ENROLMENT_REQUESTED, entries.ENROLMENT_ANSWERED)
    ),
    AuditRule(
        entry_declaration=entries.LINK_ENROLLED,
        record={"certificate": "$certificate"},
        stored_after={"link_certificate": {"certificate": "$certificate"}},
        permission=Permission.CONFIGURE,
        persons_min=2,
        extra_checks=(
            report_unless(
                "a certificate was already in use before this entry, and nobody was signed in to replace it",
                lambda context: (
                    context.stored_value_before("menu") is not None
                    or context.stored_value_before("link_certificate") is None
                ),
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.LINK_CERTIFICATE_FOUND,
        record={"certificate": "$certificate"},
        stored_after={"link_certificate": {"certificate": "$certificate"}},
    ),
)


RULES: Final = (*_LEVEL_RULES, *_CLAIM_RULES, *_MYSTERY_RULES, *_LINK_RULES)
