"""The audit rule for a poker room's charge for playing time: its amount, when it is due, and the time it pays for.

Patterns such as ``"$name:type"`` are explained in :mod:`tools.audit.rules.pattern`.
"""

import zlib
from datetime import datetime, timedelta
from typing import Any, Final

from egm.kernel.credits import CASH_OUT_CREDIT_KINDS
from egm.kernel.events import State
from egm.kernel.states import single_state
from egm.play import entries
from egm.play.definitions import build_stored_game
from egm.play.keys import PlayKey
from paytables import PaytableError
from paytables.contract import TimeCharge
from tools.audit.rules.pattern import CheckContext, DerivedValue, PatternMismatch
from tools.audit.rules.rule import AuditRule
from tools.audit.rules.shared_checks import (
    derive_debit_transfers,
    derive_session_counts,
    require_stored_value,
)


def _check_charge(context: CheckContext) -> None:
    """Check the charge against the definition of the open game and the time already paid for.

    Raises :class:`PatternMismatch`.
    """
    record = context.record
    time_charge, denomination_cents = _read_time_charge_and_denomination(context, record["digest"])
    amount_cents = 0 if time_charge is None else time_charge.credits * denomination_cents
    if time_charge is None or (record["amount_cents"], record["minutes"]) != (
        amount_cents,
        time_charge.minutes,
    ):
        charge_text = (
            "no charge" if time_charge is None else f"{amount_cents} cents for {time_charge.minutes} minutes"
        )
        raise PatternMismatch(
            f"record: a charge of {record['amount_cents']} cents for {record['minutes']} minutes; the definition "
            f"states {charge_text}"
        )
    paid_time = context.stored_value_before(PlayKey.PAID_PLAYING_TIME)
    game_start = context.facts.last_game_start_times.get(context.position, context.entry.time_utc)
    is_same_table = paid_time is not None and paid_time["digest"] == record["digest"]
    if is_same_table and context.entry.time_utc < datetime.fromisoformat(paid_time["until"]):
        raise PatternMismatch(f"record: the time until {paid_time['until']} was already paid")
    if datetime.fromisoformat(record["until"]) - game_start != timedelta(minutes=time_charge.minutes):
        raise PatternMismatch(
            f"record.until: {record['until']} is not {time_charge.minutes} minutes after the game's start"
        )


def _read_time_charge_and_denomination(context: CheckContext, digest: str) -> tuple[TimeCharge | None, int]:
    """Return the time charge and the denomination in minor units of the definition stored under a digest.

    The charge is None if the definition has none or cannot be read.
    """
    try:
        game = build_stored_game(str(context.stored_value_before(f"{PlayKey.GAME_DEFINITION}{digest}")))
    except (PaytableError, ValueError, zlib.error):
        return None, 0
    return game.rules.time_charge, game.denominations_cents[0]


def _derive_transfers(context: CheckContext) -> Any:
    """Return the transfers that take the recorded charge for playing time from the player's credit."""
    return derive_debit_transfers(
        context, context.record["amount_cents"], "house:time_charge", CASH_OUT_CREDIT_KINDS
    )


RULES: Final = (
    AuditRule(
        entry_declaration=entries.TIME_CHARGED,
        allowed_machine_states=single_state(State.PLAYING),
        stored_before={"game": {"play_id": "$play"}},
        record={
            "digest": "$digest:digest",
            "play_id": "$play",
            "amount_cents": "$:cents",
            "minutes": "$:positive",
            "until": "$until:time",
        },
        stored_after={PlayKey.PAID_PLAYING_TIME: {"digest": "$digest", "until": "$until"}},
        expected_transfers=DerivedValue(_derive_transfers),
        extra_checks=(
            _check_charge,
            require_stored_value(
                "session",
                lambda context: derive_session_counts(context, wagered_cents=context.record["amount_cents"]),
            ),
        ),
    ),
)
