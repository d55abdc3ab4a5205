"""The rules for progressive levels, their hits and claims.

The amounts are checked elsewhere: :mod:`tools.audit.levels` derives them.
"""

from dataclasses import replace
from typing import Any, Final

from egm.kernel.events import State
from egm.kernel.states import AT_WORK, EVERYWHERE, LISTENING, RULING_ON_PRIZES, only
from egm.people import Permission
from egm.progressive.records import ClaimRecord, HeldPrize
from egm.record_codec import to_json
from meters.transaction import Phase
from tools.audit.rules.games import DIMS, LINKED, POOL_FLOW
from tools.audit.rules.parts import (
    check_in_menu,
    holds,
)
from tools.audit.rules.pattern import (
    Differs,
    Each,
    Has,
    OneOf,
    Pattern,
    Scope,
    format_value,
    is_json_equal,
    parse_as,
)
from tools.audit.rules.rule import Check, Move, Rule

_TERMS: Final = {
    "base_cents": "$:cents",
    "increment": "$:text",
    "hidden": "$:text",
    "ceiling_cents": "$:cents|none",
    "mystery": "$:bool",
}
_CERTIFICATE: Final = {
    **dict.fromkeys(("key", "authority", "issuer", "since", "until", "broker"), "$:text"),
    "serial": "$:serial",
    "certificate": "$certificate:text",
}
_LEVEL: Final = "$:object"  # derived by the audit of levels
_CLAIM: Final = {
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
    "way": "$way:text|none",
    "unanswered": "$unanswered:bool",
}
_SECRET: Final = {
    "pool": "$pool:text",
    "claim": "$claim:text",
    "sequence": "$contribution:count",
    "amount_cents": "$cents:cents",
    "order": "$:count",
    "trigger": "$:object",
    "commitment": "$commitment:digest|none",
    "proved": "$proved:bool|none",
}


_HELD: Final = {
    "claim": "$claim:text",
    "pool": "$:text",
    "play_id": "$:text",
    "amount_cents": "$:int",
    "why": "$:words",
    "ruling": None,
    "won?": "$:object",
}


def _require_ruling(ruling: str) -> Check:
    """Return the check of a ruling: a disputed hit is closed by its ruling, an undisputed one is proved."""

    def check(scope: Scope) -> None:
        key = f"held:{scope['claim']}"
        held = None if (data := scope.ledger.state.get(key)) is None else parse_as(HeldPrize, data, key)
        if (held is not None) != (key in scope.entry.state):
            raise Differs("a held prize must end with its own ruling")
        if held is None and (ruling == "decline" or scope["proved"] is False):
            raise Differs("the prize is not proved, and nobody has ruled on it")
        expected = scope["pool"], scope["play"], scope["cents"], ruling
        if held is not None and (
            (held.pool, held.play_id, held.amount_cents, held.ruling) != expected
            or (held.won or {}).get("claim") != scope["claim"]
        ):
            raise Differs(f"the ruling is another one: {format_value(held.ruling)}")

    return check


def _check_held_prize(scope: Scope) -> None:
    if not is_json_equal(scope.record, {"claim": scope["claim"], **scope["kept"]}):
        raise Differs("the held prize differs from the recorded one")


def _check_ruling(scope: Scope) -> None:
    """Check a ruling of two people: on the amount of a game's own hit, or on whether a mystery prize was won."""
    record, memory = scope.record, scope.ledger.state
    claim = record["claim"]
    prizes = {
        key: parse_as(HeldPrize, held, key)
        for key, held in memory.items()
        if key.startswith("held:") and held is not None
    }
    held_prize, data = prizes.get(f"held:{claim}"), memory.get(f"claim:{claim}")
    own = None if data is None else parse_as(ClaimRecord, data, f"claim:{claim}")
    names = ("pool", "play_id", "amount_cents", "why")
    doubted = (
        {}
        if held_prize is None
        else {name: value for name, value in to_json(held_prize).items() if name in names}
    )
    state: dict[str, Any] = {}
    owed = own is not None and own.way is None and own.amount_cents is None
    if held_prize is not None:
        done = owed or held_prize.won is None
        state[f"held:{claim}"] = None if done else to_json(replace(held_prize, ruling=record["decision"]))
    if own is not None and owed:
        cents = (
            held_prize.amount_cents
            if held_prize is not None and record["decision"] == "pay"
            else own.shown_cents
        )
        state[f"claim:{claim}"] = to_json(replace(own, amount_cents=cents, unanswered=True))
        doubted |= {"pool": own.pool, "play_id": own.play_id, "awarded_cents": cents}
    if sum(prize.ruling is None for prize in prizes.values()) <= 1:
        state["fault:progressive_unproved"] = None
    if not state or (held_prize is not None and held_prize.ruling is not None):
        raise Differs("no prize was held for this ruling")
    ruling = ("machine", "place", "reason", "persons", "claim", "decision")
    if not is_json_equal(record, {**{name: record.get(name) for name in ruling}, **doubted}):
        raise Differs(f"it records {format_value(record)}, but {format_value(doubted)} was in doubt")
    if not is_json_equal(dict(scope.entry.state), state):
        raise Differs(f"state: expected {format_value(state)}, found {format_value(dict(scope.entry.state))}")


def _build_claim_pattern(way: str | None) -> dict[str, Pattern]:
    return {
        **_CLAIM,
        "mystery": True,
        "after": "$contribution",
        "shown_cents": "$cents",
        "amount_cents": "$cents",
        "way": way,
        "unanswered": False,
    }


def _derive_lost_paid_hits(scope: Scope) -> dict[str, Any]:
    """Return the stored records of paid and closed hits that were counted and that a controller has lost."""
    return {
        f"claim:{claim}": to_json(claim_record)
        for claim, claim_record in scope.facts.closed.items()
        if claim_record.pool == scope["pool"]
        and claim_record.after > scope["counted"]
        and claim_record.way != "void"
        and not claim_record.mystery
    }


_REGISTERED: Final = {
    "machine": "$:serial",
    "play_id": "$play:text",
    "game": "$:text",
    "pool": "$pool:text",
    "level": "$:text",
    "amount_cents": "$:count|none",
    "way": OneOf("credit", "hand"),
    "unanswered": "$:bool",
}

_PROGRESSIVES: Final = (
    Rule(
        kind="progressive.opened",
        within=EVERYWHERE,
        before={"level:{pool}": None},
        record={
            "pool": "$pool:text",
            "game": "$game:text",
            "level": "$level:text",
            "stake_cents": "$stake:cents",
            "terms": _TERMS,
        },
        also=(
            holds(
                "the level is not named after its game and stake",
                lambda scope: scope["pool"] == f"{scope['game']}.{scope['level']}.{scope['stake']}",
            ),
        ),
        state={"level:{pool}": _LEVEL},
        moves=(Move("pool:{pool}:startup", "pool:{pool}:current"),),
    ),
    Rule(
        kind="progressive.changed",
        before={"level:{pool}": "$:object"},
        record={"pool": "$pool:text", "terms": _TERMS},
        state={"level:{pool}": _LEVEL},
    ),
    Rule(
        kind="progressive.moved",
        within=AT_WORK,
        record={
            "source": "$source:text",
            "target": "$target:text",
            "amount": "$:text",
            "persons": "$:persons",
        },
        state={"level:{source}": _LEVEL, "level:{target}": _LEVEL},
        moves=(POOL_FLOW,),
        may=Permission.CONFIGURE,
        also=(check_in_menu,),
    ),
    Rule(
        kind="progressive.hit",
        id="{made}",
        record=_REGISTERED,
        counts={"progressive.hits_paid": 1},
    ),
    Rule(
        kind="progressive.hit_broadcast",
        id="{play}.hit-{n:n}",
        record=_REGISTERED,
        counts={"progressive.hits_paid": 1},
    ),
    Rule(
        kind="progressive.read",
        record={"host": "$:text", "wins": "$wins:cents"},
        state={"progressive_win:{win}?": None},
        also=(
            holds(
                "it acknowledges another number of wins",
                lambda scope: len(scope.entry.state) == scope["wins"],
            ),
        ),
    ),
    Rule(
        kind="progressive.sealed",
        record={"pool": "$pool:text", "prize": "$prize:count", "commitment": "$commitment:digest"},
        state={"sealed:{pool}": {"prize": "$prize", "commitment": "$commitment"}},
    ),
    Rule(
        kind="progressive.won",
        id="{claim}.won",
        before={"game": {"play_id": "$play"}},
        record={
            **_SECRET,
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
        state={
            "claim:{claim}": {
                **_build_claim_pattern(None),
                "pool": "$pool",
                "level": "$level",
                "play_id": "$play",
            }
        },
        also=(holds("it is not proved", lambda scope: scope["proved"] is not False),),
    ),
    Rule(
        kind="progressive.won",
        id="{claim}.won",
        record={**_SECRET, "play_id": "$play:text", "late": "void"},
        state={"claim:{claim}": {**_build_claim_pattern("void"), "pool": "$pool", "play_id": "$play"}},
    ),
    Rule(
        kind="progressive.won",
        id="{claim}.won",
        record={**_SECRET, "play_id": "$play:text", "late": "declined"},
        state={
            "claim:{claim}": {**_build_claim_pattern("void"), "pool": "$pool", "play_id": "$play"},
            "held:{claim}": None,
        },
        also=(_require_ruling("decline"),),
    ),
    Rule(
        kind="progressive.won",
        within=LISTENING,
        id="{claim}.won",
        phase=Phase.RESERVE,
        before={"game": None, "handpay": None, "pay_out": None},
        record={**_SECRET, "play_id": "$play:text", "late": "hand"},
        state={
            "claim:{claim}": {**_build_claim_pattern("hand"), "pool": "$pool", "play_id": "$play"},
            "held:{claim}?": None,
            "handpay": {
                "id": "{claim}.won",
                "kind": "progressive",
                "amount_cents": "$cents",
                "pool": "$pool",
                "play_id": "$play",
            },
        },
        moves=(Move("house:progressive:{pool}", "out:handpay_progressive", "$cents"),),
        dims=DIMS,
        also=(_require_ruling("pay"),),
    ),
    Rule(kind="progressive.not_ours", id="{claim}.won", record=_SECRET),
    Rule(
        kind="progressive.held",
        within=EVERYWHERE,
        before={"held:{claim}": None},
        record=_HELD,
        state={"held:{claim}": "$kept:object"},
        also=(_check_held_prize,),
    ),
    Rule(
        kind="progressive.ruled",
        within=RULING_ON_PRIZES,
        record={
            "machine": "$:serial",
            "place": "$:text",
            "reason": "$:words",
            "persons": "$:persons",
            "claim": "$claim:text",
            "decision": OneOf("pay", "decline"),
            "pool?": "$:text",
            "play_id?": "$:text",
            "amount_cents?": "$:count",
            "why?": "$:text",
            "awarded_cents?": "$:count",
        },
        state={
            "claim:{claim}?": "$:object",
            "held:{claim}?": "$:any",
            "fault:progressive_unproved?": None,
        },
        may=Permission.SETTLE,
        persons=2,
        also=(_check_ruling, check_in_menu),
    ),
    Rule(
        kind="progressive.awaited",
        within=only(State.PLAYING),
        before={"game": {"play_id": "$play"}},
        state={"awaiting_award": "$play"},
    ),
    Rule(
        kind="progressive.award",
        id="{claim}.award",
        before={
            "claim:{claim}": Has("kept", amount_cents=None, pool="$pool", way=None),
            "held:{claim}": None,
        },
        record={"claim": "$claim:text", "pool": "$pool:text", "amount_cents": "$cents:count"},
        state={"claim:{claim}": {**_CLAIM, "amount_cents": "$cents", "unanswered": False}},
        also=(
            holds(
                "only its amount is new",
                lambda scope: is_json_equal(
                    scope.entry.state[f"claim:{scope['claim']}"],
                    {**scope["kept"], "amount_cents": scope["cents"]},
                ),
            ),
        ),
    ),
    Rule(
        kind="progressive.award_differs",
        id="{claim}.differs-{cents}",
        record={"claim": "$claim:text", "amount_cents": "$cents:int"},
    ),
    Rule(
        kind="progressive.unanswered",
        within=only(State.AWAITING_AWARD),
        id="{claim}.unanswered",
        before={"claim:{claim}": Has("kept", amount_cents=None, pool="$pool", shown_cents="$cents")},
        record={
            "claim": "$claim:text",
            "pool": "$pool:text",
            "amount_cents": "$cents:count",
            "person": "$:person",
        },
        state={"claim:{claim}": "$claimed:object"},
        counts={"progressive.unanswered": 1},
        may=Permission.PAY_BY_HAND,
        also=(
            holds(
                "only its amount is new, and that nobody answered",
                lambda scope: is_json_equal(
                    scope["claimed"],
                    {**scope["kept"], "amount_cents": scope["cents"], "unanswered": True},
                ),
            ),
        ),
    ),
    Rule(
        kind="progressive.undecided",
        within=only(State.AWAITING_AWARD),
        id="{play}.undecided",
        before={"game": {"play_id": "$play"}},
        record={"play_id": "$play:text", "pools": Each("$:text", least=1), "person": "$:person"},
        state={"undecided": "$play"},
        may=Permission.PAY_BY_HAND,
    ),
    Rule(
        kind="progressive.closed",
        before={"claim:{claim}": Has("kept", way="$way")},
        record={**_CLAIM, "claim": "$claim:text", "way": "$way:text"},
        state={"claim:{claim}": None},
        also=(
            holds(
                "it differs from the stored claim",
                lambda scope: is_json_equal(scope.record, {**scope["kept"], "claim": scope["claim"]}),
            ),
        ),
    ),
    Rule(
        kind="progressive.linked",
        within=EVERYWHERE,
        before={"link:{pool}": None},
        record={"pool": "$pool:text"},
        state={"link:{pool}": dict.fromkeys(LINKED, 0)},
    ),
    Rule(
        kind="progressive.ahead",
        record={"pool": "$pool:text", "counted": "$counted:count"},
        state={"link:{pool}": {**LINKED, "sequence": "$counted"}},
    ),
    Rule(
        kind="progressive.behind",
        record={"pool": "$pool:text", "counted": "$counted:count"},
        state={"claim:{claim}?": "$:object"},
        also=(
            holds(
                "the repeated hits are not the ones paid since",
                lambda scope: is_json_equal(dict(scope.entry.state), _derive_lost_paid_hits(scope)),
            ),
        ),
    ),
    Rule(kind="progressive.refused", record={"code": "$:text", "text": "$:text", "last?": True}),
    Rule(
        kind="link.requested",
        record={"key": "$:text", "persons": "$:persons"},
        may=Permission.CONFIGURE,
        also=(check_in_menu,),
    ),
    Rule(
        kind="link.answered",
        record={**_CERTIFICATE, "persons": "$:persons"},
        may=Permission.CONFIGURE,
        also=(check_in_menu,),
    ),
    Rule(
        kind="link.enrolled",
        record={**_CERTIFICATE, "persons": "$:persons"},
        state={"link_certificate": {"certificate": "$certificate"}},
        may=Permission.CONFIGURE,
        persons=2,
        also=(
            holds(
                "nobody is signed in, and no start can have put it in use",
                lambda scope: (
                    scope.value_before("menu") is not None or scope.value_before("link_certificate") is None
                ),
            ),
        ),
    ),
    Rule(kind="link.found", record=_CERTIFICATE, state={"link_certificate": {"certificate": "$certificate"}}),
    Rule(
        kind="link.refused",
        record={
            "step": OneOf("request", "answer", "enrol", "start"),
            "why": "$:text",
            "values": "$:object",
            "persons": "$:list",
        },
    ),
    Rule(kind="progressive.disconnected", record={"why": "$:text"}),
    Rule(kind="progressive.link_lost", record={"pool": "$:text", "status?": "$:text"}),
    Rule(kind="progressive.link_back", record={"pool": "$:text", "status?": "$:text"}),
    Rule(
        kind="progressive.fell",
        record={"pool": "$:text", "from_cents": "$:count", "to_cents": "$:count"},
    ),
)


RULES: Final = _PROGRESSIVES
