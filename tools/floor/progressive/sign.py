"""The state of an overhead sign, and its connection to the controller (Québec by-law s.91).

The sign only reads the values that a controller publishes. When a value arrives, the displayed drums move up
to it and stop, so the sign never shows more than the level had. A level without a value for five seconds
shows no amount. A value that the broker has retained is old, and does not prove that the controller still
updates the level.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

import aiomqtt

from egm.config.levels import ProgressiveLinkTable
from egm.progressive import topics
from egm.progressive.connection import (
    QOS_AT_MOST_ONCE,
    RECONNECT_SECONDS,
    BrokerConnection,
    build_tls_context,
    get_payload,
    keep_connected,
    run_together,
)
from egm.progressive.messages import (
    VALUE_TIMEOUT_NS,
    LevelValue,
    LevelWin,
    ProgressiveMessageError,
    decode_controller_message,
)

#: Nanoseconds without a value after which a level shows no amount.
VALUE_AGE_MAX_NS: Final = VALUE_TIMEOUT_NS
#: The time drums take to reach a value. Values arrive twice a second, so the drums never stop in between.
DRUM_MOVE_DURATION_NS: Final = 750_000_000
#: Seconds between two checks whether a heartbeat is due.
_HEARTBEAT_CHECK_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plate:
    """One progressive level as a sign displays it now."""

    level_id: str
    names: Mapping[str, str]
    amount_thousandths: int | None
    """The amount on the rolling drums, in thousandths of a minor unit; None if no amount is displayed."""
    value_age_ns: int | None
    """The time since the last live (not retained) value of the level arrived, in nanoseconds; None if none did."""
    win: LevelWin | None = None
    """The last win of the level while it is being shown, else None."""


@dataclass(slots=True)
class _SignLevel:
    """A progressive level on a sign: its last value, and the movement of the drums up to that value."""

    last_value: LevelValue
    start_thousandths: int
    """The amount on the drums when the last value with a new amount or fall arrived, in thousandths of a minor unit."""
    changed_ns: int
    """The monotonic time in nanoseconds at which that value arrived."""
    received_ns: int | None = None
    """The monotonic time in nanoseconds at which the last live (not retained) value arrived; None before the first."""

    def compute_displayed_thousandths(self, now_ns: int) -> int:
        """Return the amount that the drums display now, in thousandths of a minor unit.

        The drums move from ``start_thousandths`` to the last value.
        """
        target_thousandths = self.last_value.amount_cents * 1000
        elapsed_ns = min(DRUM_MOVE_DURATION_NS, max(0, now_ns - self.changed_ns))
        return (
            self.start_thousandths
            + (target_thousandths - self.start_thousandths) * elapsed_ns // DRUM_MOVE_DURATION_NS
        )

    def is_fresh(self, now_ns: int) -> bool:
        """Return whether the last live value is recent enough for the amount to be displayed."""
        return self.received_ns is not None and now_ns - self.received_ns <= VALUE_AGE_MAX_NS


@dataclass(slots=True)
class Sign:
    """The progressive levels displayed by one overhead sign. Times are monotonic nanoseconds."""

    chosen_levels: tuple[str, ...] = ()
    """The levels to display, in order; if empty, every level with a live value, in the order of the ids."""
    _level_by_id: dict[str, _SignLevel] = field(default_factory=dict)
    _win_by_level: dict[str, tuple[LevelWin, int]] = field(default_factory=dict)
    """The last win of each level, and the monotonic time in nanoseconds at which it was received."""

    def update_value(self, value: LevelValue, now_ns: int, *, retained: bool = False) -> str:
        """Store a received value of a level; return why the value is invalid, or "" if it is valid or outdated.

        ``retained``: the broker had stored the value, so it may be old. A value older than the last one is
        ignored (:meth:`LevelValue.is_after`). A lower amount is displayed at once if the value records a
        fall; otherwise it is invalid and never displayed (NM 15.1.24.12(E)). But if the sign displays no
        amount now and the controller was restarted, a live value is accepted without comparing it with earlier
        ones, because the new run of the controller does not know what signs have displayed.
        """
        level = self._level_by_id.get(value.level_id)
        has_timed_out = level is not None and not level.is_fresh(now_ns)
        if level is None or (has_timed_out and not retained and value.run != level.last_value.run):
            level = self._level_by_id[value.level_id] = _SignLevel(value, value.amount_cents * 1000, now_ns)
        elif not value.is_after(
            level.last_value.run,
            level.last_value.sequence,
            level.last_value.time_utc,
            has_timed_out=has_timed_out,
        ):
            return ""
        elif value_error := value.find_amount_error(
            level.last_value.amount_cents, level.last_value.fall_count
        ):
            return value_error
        else:
            if value.fall_count != level.last_value.fall_count:
                level.start_thousandths, level.changed_ns = value.amount_cents * 1000, now_ns
            # a repeated value does not restart the drums
            elif value.amount_cents != level.last_value.amount_cents:
                level.start_thousandths = level.compute_displayed_thousandths(now_ns)
                level.changed_ns = now_ns
            level.last_value = value
        if not retained:
            level.received_ns = now_ns
        return ""

    def update_win(self, level_win: LevelWin, now_ns: int) -> None:
        """Show a win of a level; it is shown for as long as the controller repeats this message."""
        self._win_by_level[level_win.level_id] = (level_win, now_ns)

    def build_plates(self, now_ns: int) -> tuple[Plate, ...]:
        """Return what the sign displays now, for each level."""
        live_levels = sorted(
            level_id for level_id, level in self._level_by_id.items() if level.received_ns is not None
        )
        return tuple(self._build_plate(level_id, now_ns) for level_id in self.chosen_levels or live_levels)

    def _build_plate(self, level_id: str, now_ns: int) -> Plate:
        """Return what the sign displays of one level now."""
        level = self._level_by_id.get(level_id)
        if level is None:
            return Plate(level_id=level_id, names={}, amount_thousandths=None, value_age_ns=None)
        win, win_ns = self._win_by_level.get(level_id, (None, 0))
        return Plate(
            level_id=level_id,
            names=level.last_value.names,
            amount_thousandths=level.compute_displayed_thousandths(now_ns)
            if level.is_fresh(now_ns)
            else None,
            value_age_ns=None if level.received_ns is None else now_ns - level.received_ns,
            win=win if now_ns - win_ns <= VALUE_AGE_MAX_NS else None,
        )


@dataclass(slots=True)
class SignMonitor:
    """A monitor that reports each level whose amount a sign starts or stops displaying (I-02)."""

    sign: Sign
    report: Callable[[str], None]
    _is_lit_by_level: dict[str, bool] = field(default_factory=dict)
    """Whether the amount of each level was displayed at the last check."""

    def report_changes(self, now_ns: int) -> tuple[Plate, ...]:
        """Report the levels whose amount appeared or disappeared since the last call.

        Return the levels as the sign displays them now.
        """
        plates = self.sign.build_plates(now_ns)
        for plate in plates:
            is_lit = plate.amount_thousandths is not None
            if is_lit != self._is_lit_by_level.get(plate.level_id):
                self._is_lit_by_level[plate.level_id] = is_lit
                self.report(f"{plate.level_id}: {'shown' if is_lit else 'not received, no amount is shown'}")
        return plates


class SignListener(Protocol):
    """The interface of a receiver of level values: a sign, or its monitor."""

    def update_value(self, value: LevelValue, now_ns: int, *, retained: bool = False) -> str:
        """Update a level with a received value; return why the value is invalid, or "".

        ``retained``: the broker had stored the value, so it may be old.
        """
        ...

    def update_win(self, level_win: LevelWin, now_ns: int) -> None:
        """Show a win of a level."""
        ...


async def listen(
    sign: SignListener,
    link_table: ProgressiveLinkTable,
    now_ns: Callable[[], int],
    report: Callable[[str], None],
    *,
    name: str,
    build_heartbeat: Callable[[int], bytes | None] = lambda _: None,
    retry_seconds: float = RECONNECT_SECONDS,
    on_lost: Callable[[str], None] | None = None,
) -> None:
    """Receive every level value until cancelled, and reconnect after each interruption.

    ``report`` is called with the error of an invalid value; ``on_lost`` (``report`` if None) with the reason why
    there is no connection to the broker. ``name`` distinguishes this sign from other signs that use the same
    certificate. ``build_heartbeat`` returns the heartbeat to send now, or None. Raises OperatorError for invalid
    certificate files.
    """

    async def follow_levels(connection: BrokerConnection) -> None:
        """Receive the values of all progressive levels over a new connection, and send the sign's heartbeats."""
        await connection.subscribe(topics.LEVEL_VALUE_TOPIC_FILTER)
        await connection.subscribe(topics.LEVEL_WIN_TOPIC_FILTER)
        await run_together(receive_values(connection), send_heartbeats(connection))

    async def send_heartbeats(connection: BrokerConnection) -> None:
        """Publish the sign's heartbeat at regular intervals."""
        while True:
            heartbeat = build_heartbeat(now_ns())
            if heartbeat is not None:
                await connection.publish(topics.build_heartbeat_topic(name), heartbeat, QOS_AT_MOST_ONCE)
            await asyncio.sleep(_HEARTBEAT_CHECK_SECONDS)

    async def receive_values(connection: BrokerConnection) -> None:
        """Update the sign with each received level value, and report invalid ones."""
        async for message in connection.messages:
            value_error = _process_value(sign, message, now_ns())
            if value_error:
                report(value_error)

    def report_lost(reason: str) -> None:
        """Report that there is no connection to the broker, and why."""
        (on_lost or report)(f"no connection to the broker {link_table.host}:{link_table.port}: {reason}")

    context = build_tls_context(link_table)
    await keep_connected(
        link_table, lambda: context, name, follow_levels, report_lost, retry_seconds=retry_seconds
    )


def _process_value(sign: SignListener, message: aiomqtt.Message, now_ns: int) -> str:
    """Update the sign with the value or win of a level in an MQTT message; return why it is invalid, or ""."""
    try:
        value = decode_controller_message(get_payload(message))
    except ProgressiveMessageError as error:
        return str(error)
    if isinstance(value, LevelWin) and str(message.topic) == topics.build_level_win_topic(value.level_id):
        sign.update_win(value, now_ns)
        return ""
    if not isinstance(value, LevelValue) or str(message.topic) != topics.build_level_value_topic(
        value.level_id
    ):
        return f"{message.topic}: the message is not a value of the level that its topic names"
    return sign.update_value(value, now_ns, retained=bool(message.retain))
