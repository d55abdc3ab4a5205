"""The audit rules of play: games, their counts in a session, residual credit.

The results of games are checked elsewhere: :mod:`tools.audit.games` replays them.

Patterns such as ``"$name:type"`` are explained in :mod:`tools.audit.rules.pattern`.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

from egm.kernel.events import State
from egm.kernel.states import (
    STATES_FOR_BETTING,
    STATES_FOR_CASH_OUT,
    STATES_FOR_RULINGS,
    STATES_SHOWING_OUTCOME,
    single_state,
)
from egm.money.records.money import HandpayRecord
from egm.play import entries
from egm.play.entries import GameEndWithHandpay
from egm.play.records.game_record import GameChoice, GameRecord
from egm.progressive.keys import ProgressiveKey
from egm.progressive.records import BroadcastWin, ClaimRecord
from egm.record_codec import to_json
from meters.recall import PLAY_START_KIND
from tools.audit.rules.closing import check_table_is_open
from tools.audit.rules.pattern import (
    CheckContext,
    DerivedValue,
    EachItem,
    ObjectWithMembers,
    PatternMismatch,
    format_value,
    parse_record,
)
from tools.audit.rules.reasons import (
    check_bet_return_reason,
    check_game_is_offered,
    check_residual_credit,
    check_residual_prize,
    check_smallest_stake,
)
from tools.audit.rules.rule import AuditRule, ExpectedTransfer
from tools.audit.rules.shared_checks import (
    ABSENT_VALUE,
    CASHABLE_ACCOUNT,
    check_signed_in_if_menu_open,
    derive_debit_transfers,
    derive_session_counts,
    report_unless,
    require_new_id,
    require_stored_value,
    sum_credit_cents,
)

RecordT = TypeVar("RecordT")

#: Transfers between the parts of progressive pools; the audit of levels derives them.
EXPECTED_POOL_TRANSFERS: Final = ExpectedTransfer(
    "pool:{from_pool}:{from_part}", "pool:{pool}:{part}", "$:cents", may_repeat=True
)


def _check_claims_of_hits(context: CheckContext) -> None:
    """Check that the checked entry stores one claim for each hit of a linked level, and no other claim.

    The entry must also store a win to be reported to the host for each hit of a level that a host broadcasts, and no
    other win. A hit is of such a level if it has no claim and the level is not the machine's own.
    """
    is_start = context.entry.kind == PLAY_START_KIND
    hits = context.typed_record(GameRecord).levels.hits if is_start else context.typed_record(GameChoice).hits
    claims = {
        key.removeprefix("claim:"): (claim.pool_id, claim.level_name, claim.won_share, claim.shown_cents)
        for key, claim in _iter_stored_records(context, ClaimRecord, "claim:")
    }
    linked_hits = {
        hit.claim_id: (hit.pool_id, hit.level_name, hit.won_share, hit.shown_cents)
        for hit in hits
        if hit.claim_id is not None
    }
    if claims != linked_hits:
        raise PatternMismatch(
            f"the claims in state do not match the hits of linked levels in the record: expected "
            f"{format_value(linked_hits)}, found {format_value(claims)}"
        )
    stored_wins = [
        (win.pool_id, win.amount_cents)
        for _, win in _iter_stored_records(context, BroadcastWin, "progressive_win:")
    ]
    broadcast_hits = [
        (hit.pool_id, hit.amount_cents)
        for hit in hits
        if hit.claim_id is None
        and context.ledger.state.get(f"{ProgressiveKey.OWN_LEVEL}{hit.pool_id}") is None
    ]
    if Counter(stored_wins) != Counter(broadcast_hits):
        raise PatternMismatch(
            f"the wins in state for the host do not match the hits of broadcast levels in the record: expected "
            f"{format_value(broadcast_hits)}, found {format_value(stored_wins)}"
        )


def _check_unread_wins_of_void_game(context: CheckContext) -> None:
    """Check that the entry removes the void game's wins that the host has not read yet, and no other unread win.

    These are wins of levels that the host broadcasts.
    """
    prefix, play_id = ProgressiveKey.UNREAD_BROADCAST_WIN.value, context["play"]
    expected = sorted(key for key in context.ledger.state if key.startswith(prefix) and f".{play_id}." in key)
    removed = sorted(key for key in context.entry.state if key.startswith(prefix))
    if removed != expected:
        raise PatternMismatch(
            f"the wins that state removes for the host are not those of the void game: expected "
            f"{format_value(expected)}, found {format_value(removed)}"
        )


def _iter_stored_records(
    context: CheckContext, record_class: type[RecordT], key_prefix: str
) -> Iterator[tuple[str, RecordT]]:
    """Yield (storage key, record) for each value that the checked entry stores under a key with this prefix.

    ``record_class`` is the class of the records.
    """
    for key, value in context.entry.state.items():
        if key.startswith(key_prefix):
            yield key, parse_record(record_class, value, f"state.{key}")


def _derive_wager_transfers(context: CheckContext) -> Any:
    """Return the transfers of a game's stake by kind of credit, then those of its progressive contributions and hits.

    Contributions and hits are taken from the checked entry, because the audit of levels recomputes them.
    """
    stake_cents = context["bet"] * context["denomination"]
    pool_transfers = [
        (t.source, t.target, t.amount_cents)
        for t in context.entry.transfers
        if t.source.startswith("pool:") and t.target.startswith("pool:")
    ]
    return derive_debit_transfers(context, stake_cents, "house:wager") + pool_transfers


def _sum_raise_cents(context: CheckContext) -> int:
    """Return the stake that the player's choice adds, in minor units, according to the checked entry's transfers.

    :mod:`tools.audit.games` checks whether the amount is right.
    """
    return sum(t.amount_cents for t in context.entry.transfers if t.target == "house:wager")


def _derive_raise_transfers(context: CheckContext) -> Any:
    """Return the transfers of a stake added by a choice, by kind of credit, then those of progressive hits.

    The hits are taken from the checked entry, because the audit of levels recomputes them.
    """
    pool_transfers = [
        (t.source, t.target, t.amount_cents)
        for t in context.entry.transfers
        if t.source.startswith("pool:") and t.target.startswith("pool:")
    ]
    return derive_debit_transfers(context, _sum_raise_cents(context), "house:wager") + pool_transfers


def _check_raise_is_counted(context: CheckContext) -> None:
    """Check that the player's session counts the stake added by a choice as wagered."""
    cents = _sum_raise_cents(context)
    require_stored_value(
        "session",
        lambda context: derive_session_counts(context, wagered_cents=cents) if cents else ABSENT_VALUE,
    )(context)


def _sum_paid_cents(context: CheckContext) -> int:
    """Return the sum of the checked entry's transfers in minor units; transfers of prizes in kind are left out."""
    return sum(t.amount_cents for t in context.entry.transfers if not t.source.startswith("prizes:"))


def _sum_paid_and_returned_cents(context: CheckContext) -> int:
    """Return what the end of a game pays in money, plus the stakes that were returned before it, in minor units."""
    return _sum_paid_cents(context) + context.typed_record(GameEndWithHandpay).push_cents


def _sum_refunded_cents(context: CheckContext) -> int:
    """Return the sum of the stakes that the checked entry refunds because of a defect, in minor units."""
    return sum(t.amount_cents for t in context.entry.transfers if t.source == "house:refund_defect")


def _sum_settled_cents(context: CheckContext) -> int:
    """Return what a void game pays for bets that were already decided, returned stakes included, in minor units.

    It is the sum of the checked entry's transfers; :mod:`tools.audit.games` checks it.
    """
    win_sources = ("house:win", "house:push")
    return sum(t.amount_cents for t in context.entry.transfers if t.source in win_sources)


#: Pattern of the dimensions with which a play is metered.
_PLAY_DIMS_PATTERN: Final = {
    "game": "$game:text",
    "paytable": "{game}@{version}",
    "denomination_cents": "$denomination:cents",
    "wager_level": "$bet:count",
}
#: Pattern of the dimensions of any play, for entries that do not name the game and its denomination.
ANY_PLAY_DIMS_PATTERN: Final = {
    "game": "$:text",
    "paytable": "$:text",
    "denomination_cents": "$:cents",
    "wager_level": "$:count",
}
#: Pattern of a machine's record of one linked level.
LINKED_LEVEL_PATTERN: Final = {
    "sequence": "$:count",
    "counted": "$:count",
    "since": "$:count",
    "shown_cents": "$:count",
    "falls": "$:count",
}
#: Pattern of the claims to linked levels that the entry stores.
_CLAIMS_PATTERN: Final = {
    "claim:{claim}?": ObjectWithMembers(
        bound_name="new_claim",
        play_id="$play",
        game="$game:text",
        amount_cents=None,
        way=None,
        unanswered=False,
    ),
    "progressive_win:{win}?": ObjectWithMembers(bound_name="new_win", entry="$sequence"),
}


def _derive_removal(key: str, context: CheckContext) -> Any:
    """Return None (the entry must delete the key) if the memory has a value under ``key``, else ABSENT_VALUE."""
    return ABSENT_VALUE if context.stored_value_before(key) is None else None


def _require_closed_claims(payment_method: str) -> Any:
    """Return the check of the claims to linked levels that the end of a game closes.

    Each claim must belong to the game and must be closed with this payment method.
    """

    def check(context: CheckContext) -> None:
        """Check that each closed claim changes only in its payment method, and that the game waits for no award."""
        for key in ("awaiting_award", "undecided"):
            require_stored_value(key, partial(_derive_removal, key))(context)
        for key, claim in _iter_stored_records(context, ClaimRecord, "claim:"):
            stored_claim = parse_record(ClaimRecord, context.ledger.state.get(key), key)
            if stored_claim.play_id != context["play"]:
                raise PatternMismatch(
                    f"state.{key}: expected a claim of play {format_value(context['play'])}, "
                    f"found one of {format_value(stored_claim.play_id)}"
                )
            if claim != (expected_claim := replace(stored_claim, payment_method=payment_method)):
                raise PatternMismatch(
                    f"state.{key}: expected {format_value(expected_claim)}, found {format_value(claim)}"
                )

    return check


#: Pattern of the stored values after a game: none open, and the last one with its win.
_STORED_AFTER_GAME_PATTERN: Final = {
    "game": None,
    "last_game": {"play_id": "$play", "win_cents": DerivedValue(_sum_paid_and_returned_cents)},
}
#: Check that the player's session counts what the entry pays: a win, or returned stakes.
_CHECK_PAYMENT_COUNTED: Final = require_stored_value(
    "session", lambda context: derive_session_counts(context, won_cents=_sum_paid_cents(context))
)


def _derive_double_up_transfers(context: CheckContext) -> Any:
    """Return the transfers of all double-up stakes of a game.

    Each stake is first credited as a win and then wagered. The first one is the win of the game; each further
    one is the win of the previous double-up.
    """
    credit_account = context.format_credit_account("cashable")
    return [
        transfer
        for index, cents in enumerate(context.record["stakes_cents"])
        for transfer in (
            ("house:double_up_win" if index else "house:win", credit_account, cents),
            (credit_account, "house:double_up_bet", cents),
        )
    ]


def _derive_result_count(context: CheckContext) -> Any:
    """Return the counter for the result of a game that is paid to the credit.

    It is games won if the checked entry moves money, else games pushed if stakes were returned, else games lost.
    """
    if context.entry.transfers:
        return {"games_won": 1}
    return {"games_pushed" if context.typed_record(GameEndWithHandpay).push_cents else "games_lost": 1}


def _format_slip_pools(context: CheckContext) -> str:
    """Return the names of the progressive pools that the entry pays, separated by commas, as on the hand-pay slip."""
    pool_names = (t.source.partition("house:progressive:")[2] for t in context.entry.transfers)
    return ", ".join(name for name in pool_names if name)


def _derive_handpay(context: CheckContext) -> Any:
    """Return the hand-pay that the entry at the end of a game must store.

    It has the money won, the prizes in kind, and the pools of the progressive levels that are paid.
    """
    transfers = context.entry.transfers
    has_levels = any(t.source.startswith("house:progressive:") for t in transfers)
    has_prizes = any(t.source.startswith("prizes:") for t in transfers)
    return to_json(
        HandpayRecord(
            id=context.entry.id,
            kind="progressive" if has_levels else "merchandise" if has_prizes else "jackpot",
            amount_cents=_sum_paid_cents(context),
            prizes=context.typed_record(GameEndWithHandpay).prizes if has_prizes else (),
            progressive_pools=_format_slip_pools(context) if has_levels else "",
            play_id=context["play"] if has_levels else "",
        )
    )


#: Fields that only the record of a game carried over by a memory clear has.
_FIELDS_OF_CARRIED_GAME: Final = frozenset(
    {"raised_credits", "staked", "returned", "ended", "claim", "round_steps"}
)
#: Pattern of the game that is open before the entry.
_OPEN_GAME_PATTERN: Final = {"game": {"play_id": "$play"}}
#: Transfers that return stakes to the credits.
_EXPECTED_STAKE_RETURNS: Final = ExpectedTransfer(
    "house:push", "credit:{position}:{kind_of_credit}", may_repeat=True
)

#: The rules of games.
_GAME_RULES: Final = (
    AuditRule(
        entry_declaration=entries.GAME_START,
        allowed_machine_states=STATES_FOR_BETTING,
        id="{play}.start",
        stored_before={"game": None, "handpay": None, "pay_out": None, "reminder": None},
        record={
            "play_id": "$play",
            "game": {"id": "$game", "version": "$version", "digest": "$digest"},
            "denomination_cents": "$denomination",
            "bet_credits": "$bet",
            "credit_before_cents": DerivedValue(sum_credit_cents),
            "steps": [{"choice": None, "draws": "$:list"}],
        },
        stored_after={
            "game": {"play_id": "$play"},
            "definition:{digest}?": "$:text",
            "in_common:{digest}?": "$:object",
            **_CLAIMS_PATTERN,
        },
        expected_transfers=DerivedValue(_derive_wager_transfers),
        dims=_PLAY_DIMS_PATTERN,
        extra_checks=(
            require_new_id("play", "play"),
            check_game_is_offered,
            check_table_is_open,
            check_smallest_stake,
            report_unless(
                lambda context: (
                    "record: only a game that a clear carries over has the fields "
                    f"{format_value(sorted(_FIELDS_OF_CARRIED_GAME.intersection(context.record)))}"
                ),
                lambda context: _FIELDS_OF_CARRIED_GAME.isdisjoint(context.record),
            ),
            _check_claims_of_hits,
            require_stored_value(
                "session",
                lambda context: derive_session_counts(
                    context, wagered_cents=context["bet"] * context["denomination"]
                ),
            ),
        ),
    ),
    AuditRule(
        entry_declaration=entries.GAME_CHOICE,
        allowed_machine_states=single_state(State.PLAYING),
        id="{play}.choice-{n:n}",
        stored_before=_OPEN_GAME_PATTERN,
        record={"play_id": "$play"},
        stored_after=_CLAIMS_PATTERN,
        expected_transfers=DerivedValue(_derive_raise_transfers),
        dims={
            "game?": "$:text",
            "paytable?": "$:text",
            "denomination_cents?": "$:cents",
            "wager_level?": "$:count",
        },
        extra_checks=(_check_claims_of_hits, _check_raise_is_counted),
    ),
    AuditRule(
        entry_declaration=entries.GAME_DOUBLE_UP,
        allowed_machine_states=STATES_SHOWING_OUTCOME,
        id="{play}.double_up",
        stored_before=_OPEN_GAME_PATTERN,
        record={"play_id": "$play", "stakes_cents": EachItem("$:cents", count_min=1)},
        expected_transfers=DerivedValue(_derive_double_up_transfers),
        dims=ANY_PLAY_DIMS_PATTERN,
    ),
    AuditRule(
        entry_declaration=entries.GAME_PUSH,
        allowed_machine_states=STATES_SHOWING_OUTCOME | STATES_FOR_RULINGS,
        id="{play}.push",
        stored_before=_OPEN_GAME_PATTERN,
        record={"play_id": "$play", "push_cents": DerivedValue(_sum_paid_cents)},
        expected_transfers=(_EXPECTED_STAKE_RETURNS,),
        dims=ANY_PLAY_DIMS_PATTERN,
        extra_checks=(_CHECK_PAYMENT_COUNTED,),
    ),
    AuditRule(
        entry_declaration=entries.TABLE_BETS_RETURNED,
        allowed_machine_states=STATES_FOR_CASH_OUT | single_state(State.SERVICE_MENU),
        stored_before={"game": None},
        record={
            "game": {"id": "$game", "version": "$version", "digest": "$digest"},
            "denomination_cents": "$denomination",
            "amount_cents": DerivedValue(_sum_paid_cents),
        },
        stored_after={"table:{digest}": "$:object|none"},
        expected_transfers=(_EXPECTED_STAKE_RETURNS,),
        dims={"game": "$game", "paytable": "{game}@{version}", "denomination_cents": "$denomination"},
        extra_checks=(_CHECK_PAYMENT_COUNTED, check_bet_return_reason),
    ),
    AuditRule(
        entry_declaration=entries.GAME_END,
        allowed_machine_states=STATES_SHOWING_OUTCOME,
        id="{play}.end",
        stored_before=_OPEN_GAME_PATTERN,
        record={"play_id": "$play", "win_cents": "$win"},
        stored_after=_STORED_AFTER_GAME_PATTERN,
        counts=DerivedValue(_derive_result_count),
        expected_transfers=(
            ExpectedTransfer("house:win", CASHABLE_ACCOUNT, "$win", is_optional=True),
            ExpectedTransfer("house:double_up_win", CASHABLE_ACCOUNT, "$win", is_optional=True),
            ExpectedTransfer("house:progressive:{level}", CASHABLE_ACCOUNT, may_repeat=True),
        ),
        dims=ANY_PLAY_DIMS_PATTERN,
        extra_checks=(_CHECK_PAYMENT_COUNTED, _require_closed_claims("credit")),
    ),
    AuditRule(
        entry_declaration=entries.GAME_END_WITH_HANDPAY,
        allowed_machine_states=STATES_SHOWING_OUTCOME,
        id="{play}.end",
        stored_before={**_OPEN_GAME_PATTERN, "handpay": None},
        record={"play_id": "$play", "win_cents": "$win"},
        stored_after={**_STORED_AFTER_GAME_PATTERN, "handpay": DerivedValue(_derive_handpay)},
        expected_transfers=(
            ExpectedTransfer("house:attendant_jackpot", "out:handpay_jackpot", "$win", is_optional=True),
            ExpectedTransfer("house:progressive:{level}", "out:handpay_progressive", may_repeat=True),
            ExpectedTransfer("prizes:{prize}:offered", "prizes:{prize}:given", may_repeat=True),
        ),
        dims=ANY_PLAY_DIMS_PATTERN,
        extra_checks=(_CHECK_PAYMENT_COUNTED, _require_closed_claims("hand")),
    ),
    AuditRule(
        entry_declaration=entries.GAME_VOID,
        allowed_machine_states=STATES_FOR_RULINGS,
        id="{play}.void",
        stored_before=_OPEN_GAME_PATTERN,
        record={"play_id": "$play", "refund_cents": DerivedValue(_sum_refunded_cents)},
        stored_after={"game": None, "fault:game_defective?": None, "progressive_win:{win}?": None},
        expected_transfers=(
            ExpectedTransfer("house:refund_defect", "credit:{position}:{kind_of_credit}", may_repeat=True),
            ExpectedTransfer("house:win", CASHABLE_ACCOUNT, is_optional=True),
            _EXPECTED_STAKE_RETURNS,
            ExpectedTransfer("pool:{pool}:{part}", "pool:{pool}:{other}", may_repeat=True),
        ),
        extra_checks=(
            require_stored_value(
                "session",
                lambda context: derive_session_counts(
                    context, won_cents=_sum_refunded_cents(context) + _sum_settled_cents(context)
                ),
            ),
            _require_closed_claims("void"),
            _check_unread_wins_of_void_game,
            report_unless(
                lambda context: (
                    "record.persons: a ruling on a game needs at least two people, found "
                    f"{format_value(context.record['persons'])}"
                ),
                lambda context: len(context.record["persons"]) > 1,
            ),
            check_signed_in_if_menu_open,
        ),
    ),
    AuditRule(
        entry_declaration=entries.GAME_REPLAY_DIFFERS,
        id="{play}.differs",
        stored_before=_OPEN_GAME_PATTERN,
        record={"play_id": "$play"},
    ),
)

#: The rules of residual credit.
_RESIDUAL_CREDIT_RULES: Final = (
    AuditRule(
        entry_declaration=entries.RESIDUAL_GIVEN_UP,
        allowed_machine_states=STATES_FOR_CASH_OUT,
        extra_checks=(check_residual_credit,),
        record={"amount_cents": DerivedValue(sum_credit_cents)},
        expected_transfers=DerivedValue(
            lambda context: derive_debit_transfers(context, sum_credit_cents(context), "house:residual")
        ),
    ),
    AuditRule(
        entry_declaration=entries.RESIDUAL_PLAYED,
        allowed_machine_states=single_state(State.IDLE),
        extra_checks=(check_residual_credit, check_residual_prize),
        record={
            "amount_cents": DerivedValue(sum_credit_cents),
            "draws": [["$:positive", "$:count", "residual"]],
            "won_cents": "$won",
        },
        expected_transfers=DerivedValue(
            lambda context: [
                *derive_debit_transfers(context, sum_credit_cents(context), "house:residual"),
                *(
                    [("house:residual_win", context.format_credit_account("cashable"), context["won"])]
                    if context["won"]
                    else []
                ),
            ]
        ),
    ),
)


RULES: Final = (*_GAME_RULES, *_RESIDUAL_CREDIT_RULES)
