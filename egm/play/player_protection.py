"""Player protection: reminders of time and money, limits, and the pause at a limit, as the profile requires.

A session starts with the first wager and ends when the credits have been zero for the time that the profile
states. The net spending (wagers minus wins) is counted in the transactions of the session's games, so that it is
exact after a restart. The session's duration is elapsed time while the power is on, and time of day while it is off
(:meth:`egm.kernel.timekeeping.Timekeeper.read_steady_time`): a change of the clock neither ends a pause nor
reaches a limit.

Reminders appear between games only, and nothing here affects a draw (N-09). If a profile does not count
sessions, none are counted.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from egm.errors import InvariantError
from egm.kernel import messages
from egm.kernel.events import Event
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice, ReminderKind
from egm.kernel.rules import refusal_code
from egm.money.keys import MoneyKey
from egm.play.entries import (
    LIMIT_SET,
    PAUSE_OVER,
    REMINDER_ACKNOWLEDGED,
    REMINDER_SHOWN,
    SESSION_ENDED,
    SESSION_ENDED_WITHOUT_GAME,
    LimitSet,
    ReminderOrPauseEnded,
    SessionEnded,
)
from egm.play.events import LimitRequest
from egm.play.keys import PlayKey
from egm.play.records.protection import OwnLimits, ReminderRecord, SessionRecord
from egm.play.records.tables import list_tables_with_standing_bets

#: Upper bounds of the player's own limits, by quantity: one week, and 10**12 minor units.
_OWN_LIMIT_MAX_BY_QUANTITY: Final = {"minutes": 7 * 24 * 60, "cents": 10**12}
#: Kinds of reminder that pause play.
PAUSING_REMINDER_KINDS: Final = frozenset({"time_limit", "spend_limit"})


# ---------------------------------------------------------------------------------------------- the session's counts
def build_session_change(
    machine: PositionMachine, *, wagered_cents: int = 0, won_cents: int = 0
) -> dict[str, SessionRecord]:
    """Return the state change that adds a game's transaction to the session's counts; empty if none are counted.

    ``wagered_cents`` and ``won_cents`` are what the transaction wagers and wins, in minor units.
    """
    if not machine.profile.protection.requires_session_tracking:
        return {}
    session = machine.memory.read(SessionRecord, PlayKey.SESSION) or _create_session(machine)
    return {
        PlayKey.SESSION: replace(
            session,
            wagered_cents=session.wagered_cents + wagered_cents,
            won_cents=session.won_cents + won_cents,
        )
    }


def _create_session(machine: PositionMachine) -> SessionRecord:
    """Return a new session, which begins now."""
    session_start = machine.timekeeper.read_steady_time().isoformat(timespec="seconds")
    return SessionRecord(
        started_at=session_start, wagered_cents=0, won_cents=0, time_reminder_count=0, spend_reminder_count=0
    )


def _read_own_limits(machine: PositionMachine) -> OwnLimits:
    """Return the limits that the player has set for themselves; an empty record if none exist."""
    return machine.memory.read(OwnLimits, PlayKey.OWN_LIMITS) or OwnLimits()


def _count_session_minutes(machine: PositionMachine, session: SessionRecord) -> int:
    """Return the whole minutes since the player's session began; 0 if its start is in the future."""
    elapsed = machine.timekeeper.read_steady_time() - datetime.fromisoformat(session.started_at)
    return max(0, int(elapsed / timedelta(minutes=1)))


def find_next_reminder_time(machine: PositionMachine) -> datetime | None:
    """Return the time at which the next time reminder, time limit or end of a pause is due, or None."""
    session = machine.memory.read(SessionRecord, PlayKey.SESSION)
    reminder = machine.memory.read(ReminderRecord, PlayKey.REMINDER)
    if reminder is not None:
        return datetime.fromisoformat(reminder.pause_end) if reminder.pause_end else None
    if session is None:
        return None
    due_minutes = [
        minute
        for minute in (
            _find_session_limits(machine).minutes_max,
            _find_next_reminder_minute(machine, session),
        )
        if minute is not None
    ]
    if not due_minutes:
        return None
    return datetime.fromisoformat(session.started_at) + timedelta(minutes=min(due_minutes))


class _SessionLimits(NamedTuple):
    """The session's limits of time in minutes and of net spending in minor units; None: no such limit."""

    minutes_max: int | None
    spending_max_cents: int | None


def _find_session_limits(machine: PositionMachine) -> _SessionLimits:
    """Return the session's limits of time and of net spending.

    Each is the lower of the profile's limit and the player's own.
    """
    rules, own_limits = machine.profile.protection, _read_own_limits(machine)
    limits_minutes = [limit for limit in (rules.session_minutes_max, own_limits.limit_minutes) if limit]
    limits_cents = [limit for limit in (rules.session_spending_max_cents, own_limits.limit_cents) if limit]
    return _SessionLimits(min(limits_minutes, default=None), min(limits_cents, default=None))


def _find_next_reminder_minute(machine: PositionMachine, session: SessionRecord) -> int | None:
    """Return the minute of the session at which the next time reminder is due; None without time reminders.

    The profile lists the intervals between reminders; the last interval repeats.
    """
    reminder_intervals = machine.profile.protection.reminder_intervals_minutes
    reminder_number = session.time_reminder_count + 1
    return (
        sum(reminder_intervals[:reminder_number])
        + max(0, reminder_number - len(reminder_intervals)) * reminder_intervals[-1]
        if reminder_intervals
        else None
    )


def _count_time_reminders_due(machine: PositionMachine, session_minutes: int) -> int:
    """Return how many time reminders are due within the first ``session_minutes`` of a player's session."""
    reminder_intervals = machine.profile.protection.reminder_intervals_minutes
    count = sum(
        1
        for reminder_number in range(1, len(reminder_intervals) + 1)
        if sum(reminder_intervals[:reminder_number]) <= session_minutes
    )
    return (
        count
        if count < len(reminder_intervals) or not reminder_intervals
        else count + (session_minutes - sum(reminder_intervals)) // reminder_intervals[-1]
    )


def find_due_reminder(machine: PositionMachine) -> ReminderKind | None:
    """Return the most urgent kind of reminder that is due now; None if none is due or one is active already."""
    session = machine.memory.read(SessionRecord, PlayKey.SESSION)
    if session is None or machine.memory.get(PlayKey.REMINDER) is not None:
        return None
    minutes, spent_cents = _count_session_minutes(machine, session), session.spent_cents
    limit_minutes, limit_cents = _find_session_limits(machine)
    spend_interval_cents = machine.profile.protection.reminder_spending_cents
    next_reminder_minute = _find_next_reminder_minute(machine, session)
    # the most urgent kind first
    is_due_by_kind: dict[ReminderKind, bool] = {
        "time_limit": limit_minutes is not None and minutes >= limit_minutes,
        "spend_limit": limit_cents is not None and spent_cents >= limit_cents,
        "time": next_reminder_minute is not None and minutes >= next_reminder_minute,
        "spend": spend_interval_cents is not None
        and spent_cents // spend_interval_cents > session.spend_reminder_count,
    }
    return next((kind for kind, is_due in is_due_by_kind.items() if is_due), None)


def is_play_paused(machine: PositionMachine) -> bool:
    """Return whether play is paused because the player reached a limit of time or of net spending."""
    reminder = machine.memory.read(ReminderRecord, PlayKey.REMINDER)
    return reminder is not None and reminder.kind in PAUSING_REMINDER_KINDS


def reached_limit_pays_out(machine: PositionMachine, _: Event) -> bool:
    """Return whether the player reached a limit at which the profile pays the credits out."""
    return machine.profile.protection.action_at_limit == "cash_out" and is_play_paused(machine)


# ---------------------------------------------------------------------------------------------- guards
def no_reminder_is_active(machine: PositionMachine, _: Event) -> bool:
    """Return whether no player-protection reminder is active and play is not paused."""
    return machine.memory.get(PlayKey.REMINDER) is None


def reminder_is_due(machine: PositionMachine, _: Event) -> bool:
    """Return whether a player-protection reminder is due."""
    return find_due_reminder(machine) is not None


@refusal_code("reminder_may_go")
def reminder_can_be_dismissed(machine: PositionMachine, _: Event) -> bool:
    """Return whether the player may dismiss the active reminder; a pause of play cannot be dismissed."""
    reminder = machine.memory.read(ReminderRecord, PlayKey.REMINDER)
    return reminder is not None and reminder.kind not in PAUSING_REMINDER_KINDS


def pause_is_over(machine: PositionMachine, _: Event) -> bool:
    """Return whether the current pause of play at a player's limit has ended."""
    reminder = machine.memory.read(ReminderRecord, PlayKey.REMINDER)
    return (
        reminder is not None
        and bool(reminder.pause_end)
        and machine.timekeeper.read_steady_time() >= datetime.fromisoformat(reminder.pause_end)
    )


def session_is_over(machine: PositionMachine, _: Event) -> bool:
    """Return whether the player has left and their session or their limits are still stored.

    A player has left if no game, payment, credit or standing bet is left on the machine.
    """
    is_stored = any(machine.memory.get(key) is not None for key in (PlayKey.SESSION, PlayKey.OWN_LIMITS))
    is_in_use = any(
        machine.memory.get(key) is not None for key in (PlayKey.GAME, MoneyKey.PAY_OUT, MoneyKey.HANDPAY)
    )
    return (
        is_stored
        and not is_in_use
        and machine.credit_cents == 0
        and not list_tables_with_standing_bets(machine)
    )


@refusal_code("limit_is_offered")
def requested_limit_is_allowed(machine: PositionMachine, event: Event) -> bool:
    """Return whether the player may set the requested limit: it may not be less strict than their present limit.

    The profile must let players set limits, and the player must have credits. To remove a limit (0) or to raise
    it, the player must wait for a new session.
    """
    request = event.read_payload(LimitRequest)
    limit, quantity = request.limit, request.options.quantity
    if not machine.profile.protection.allows_own_limits or machine.credit_cents <= 0:
        return False
    if quantity is None or limit is None or not 0 <= limit <= _OWN_LIMIT_MAX_BY_QUANTITY[quantity]:
        return False
    present_limit = _read_own_limits(machine).get_limit(quantity)
    return not present_limit or (0 < limit <= present_limit)


# ---------------------------------------------------------------------------------------------- effects
def show_reminder(machine: PositionMachine, _: Event) -> None:
    """Show the player the reminder that is due.

    It stays active, also after a restart, until the player dismisses it, its pause is over or the session ends.
    The time and spend reminders that are due now all count as shown.
    """
    kind, session = find_due_reminder(machine), machine.memory.require(SessionRecord, PlayKey.SESSION)
    if kind is None:
        raise InvariantError("a reminder was to be shown, but none is due")
    minutes, spent_cents = _count_session_minutes(machine, session), session.spent_cents
    rules, pause_end_text = machine.profile.protection, ""
    if kind in PAUSING_REMINDER_KINDS and rules.pause_minutes:
        pause_end = machine.timekeeper.read_steady_time() + timedelta(minutes=rules.pause_minutes)
        pause_end_text = pause_end.isoformat(timespec="seconds")
    spend_interval_cents = rules.reminder_spending_cents
    own_limit = _read_own_limits(machine).get_limit("minutes" if kind == "time_limit" else "cents")
    session_limits = _find_session_limits(machine)
    is_own_limit = bool(own_limit) and own_limit == (
        session_limits.minutes_max if kind == "time_limit" else session_limits.spending_max_cents
    )
    reminder = ReminderRecord(
        kind=kind,
        minutes=minutes,
        spent_cents=spent_cents,
        pause_end=pause_end_text,
        is_own_limit=is_own_limit,
    )
    machine.post(
        REMINDER_SHOWN,
        reminder,
        counts={f"reminders.{kind}": 1},
        state={
            PlayKey.REMINDER: reminder,
            PlayKey.SESSION: replace(
                session,
                time_reminder_count=_count_time_reminders_due(machine, minutes),
                spend_reminder_count=max(
                    session.spend_reminder_count,
                    spent_cents // spend_interval_cents if spend_interval_cents else 0,
                ),
            ),
        },
    )


def dismiss_reminder(machine: PositionMachine, _: Event) -> None:
    """Clear the player-protection reminder after the player has read it."""
    reminder = machine.memory.require(ReminderRecord, PlayKey.REMINDER)
    machine.post(
        REMINDER_ACKNOWLEDGED, ReminderOrPauseEnded(kind=reminder.kind), state={PlayKey.REMINDER: None}
    )


def end_pause(machine: PositionMachine, _: Event) -> None:
    """End the pause of play at a player's limit: play may continue, and a new session is counted."""
    reminder = machine.memory.require(ReminderRecord, PlayKey.REMINDER)
    machine.post(
        PAUSE_OVER,
        ReminderOrPauseEnded(kind=reminder.kind),
        state={PlayKey.REMINDER: None, PlayKey.SESSION: _create_session(machine)},
    )


def end_session(machine: PositionMachine, _: Event) -> None:
    """End the session of a player who has left, and clear their limits and reminders."""
    session = machine.memory.read(SessionRecord, PlayKey.SESSION)
    cleared_state = {
        PlayKey.SESSION.value: None,
        PlayKey.REMINDER.value: None,
        PlayKey.OWN_LIMITS.value: None,
    }
    if session is None:
        machine.post(SESSION_ENDED_WITHOUT_GAME, state=cleared_state)
        return
    minutes = _count_session_minutes(machine, session)
    machine.post(
        SESSION_ENDED, SessionEnded(minutes=minutes, spent_cents=session.spent_cents), state=cleared_state
    )


def set_own_limit(machine: PositionMachine, event: Event) -> None:
    """Store the limit of time or net spending that the player has set for themselves."""
    own_limits, request = _read_own_limits(machine), event.read_payload(LimitRequest)
    limit, quantity = request.limit, request.options.quantity
    if quantity is None or limit is None:
        raise InvariantError("a limit was requested that the machine does not offer")
    changed_limits = (
        replace(own_limits, limit_minutes=limit)
        if quantity == "minutes"
        else replace(own_limits, limit_cents=limit)
    )
    machine.post(
        LIMIT_SET,
        LimitSet(limited_quantity=quantity, limit_value=limit),
        state={PlayKey.OWN_LIMITS: changed_limits},
    )
    machine.notice = Notice(code="limit_set")


# ---------------------------------------------------------------------------------------------- for the screen
def build_reminder_view(machine: PositionMachine) -> messages.Reminder | None:
    """Return the active player-protection reminder for the screen, or None."""
    reminder = machine.memory.read(ReminderRecord, PlayKey.REMINDER)
    if reminder is None:
        return None
    return messages.Reminder(
        kind=reminder.kind,
        minutes=reminder.minutes,
        spent_cents=reminder.spent_cents,
        until_utc=reminder.pause_end,
        is_own=reminder.is_own_limit,
    )


def build_session_view(machine: PositionMachine) -> messages.PlayerSessionView | None:
    """Return the player's session for the screen, or None."""
    session = machine.memory.read(SessionRecord, PlayKey.SESSION)
    if session is None:
        return None
    own_limits = _read_own_limits(machine)
    return messages.PlayerSessionView(
        since_utc=session.started_at,
        spent_cents=session.spent_cents,
        limit_minutes=own_limits.limit_minutes or 0,
        limit_cents=own_limits.limit_cents or 0,
    )


def build_protection_view(machine: PositionMachine) -> messages.PlayerProtectionView:
    """Return what the screen must always show for player protection: clock, limits and help line."""
    rules = machine.profile.protection
    return messages.PlayerProtectionView(
        must_show_clock=rules.shows_clock,
        can_set_limits=rules.allows_own_limits,
        help_line=rules.help_text_by_language,
    )
