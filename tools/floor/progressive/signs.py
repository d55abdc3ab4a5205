"""The controller's record of the signs on the floor: lit, dark, or not reporting (I-02).

A sign is on the list from its first heartbeat until staff remove it. An event is recorded when a sign sends
no heartbeat for five seconds or shows no amount for a level, when it recovers, and when it is new.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final, Literal

from tools.floor.progressive.heartbeat import SignHeartbeat
from tools.floor.progressive.sign import VALUE_AGE_MAX_NS
from tools.floor.progressive.store import Session, Store

#: Whether a sign shows every amount, lacks one, or does not report.
SignStatus = Literal["lit", "dark", "silent"]
#: The interval for writing records in which only the time has changed.
_RECORD_INTERVAL_NS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SignRecord:
    """The last known state of an overhead sign. Times are ISO 8601, UTC."""

    id: str
    status: SignStatus
    since: str
    """The time at which the sign's status last changed."""
    heard_at: str
    """The time at which the sign's last heartbeat arrived."""
    shown: dict[str, int | None]
    """The amount displayed for each level, in minor units; None if the sign shows no amount for it."""

    @property
    def dark_level_ids(self) -> tuple[str, ...]:
        """Return the ids of the levels for which the sign displays no amount now."""
        return tuple(level for level, cents in self.shown.items() if cents is None)

    def to_text(self) -> str:
        """Return the record as JSON."""
        return json.dumps(asdict(self), sort_keys=True)


class SignBook:
    """The latest state of every overhead sign, from its heartbeats.

    ``report`` is called with a line of text for each change of a sign's state.
    """

    def __init__(
        self,
        store: Store,
        now: Callable[[], datetime],
        now_ns: Callable[[], int],
        report: Callable[[str], None],
    ) -> None:
        self._store = store
        self._now = now
        self._now_ns = now_ns
        self._report = report
        self._heartbeat_by_sign: dict[str, SignHeartbeat] = {}
        self._written_ns = began_ns = now_ns()
        with store.transaction() as session:
            self._record_by_sign = {record.id: record for record in read_signs(session)}
        # No heartbeats were received while no controller ran: each sign has its five seconds from now.
        self._received_ns = dict.fromkeys(self._record_by_sign, began_ns)

    def store_heartbeat(self, beat: SignHeartbeat) -> None:
        """Store the latest heartbeat of a sign."""
        self._heartbeat_by_sign[beat.sign] = beat
        self._received_ns[beat.sign] = self._now_ns()

    def update_states(self) -> tuple[SignRecord, ...]:
        """Return the current state of every sign; store changes, record them as events, and report them."""
        now_ns = self._now_ns()
        records = {
            name: self._build_record(name, received_ns, now_ns)
            for name, received_ns in self._received_ns.items()
        }
        changed_signs = [sign for name, sign in records.items() if self._has_changed(name, sign)]
        if changed_signs or (records and now_ns - self._written_ns >= _RECORD_INTERVAL_NS):
            self._written_ns = now_ns
            with self._store.transaction() as session:
                listed_ids = {record.id for record in read_signs(session)}
                for name, sign in records.items():
                    if name in self._record_by_sign and name not in listed_ids:
                        # removed from the list; its next heartbeat makes it a new sign
                        del self._received_ns[name]
                        continue
                    session.put_sign(name, sign.to_text())
                for sign in changed_signs:
                    dark = list(sign.dark_level_ids)
                    session.record_event(sign.since, f"sign_{sign.status}", sign=sign.id, dark=dark)
            for sign in changed_signs:
                self._report(_format_sign_line(sign))
        self._record_by_sign = {name: sign for name, sign in records.items() if name in self._received_ns}
        return tuple(self._record_by_sign.values())

    def _build_record(self, name: str, received_ns: int, now_ns: int) -> SignRecord:
        """Return a sign's current record from its last heartbeat: lit, dark or silent, and since when."""
        previous = self._record_by_sign.get(name)
        beat = self._heartbeat_by_sign.get(name)
        now_text = self._now().isoformat()
        if beat is None and previous is not None:
            shown_cents, heard_at = previous.shown, previous.heard_at
        else:
            shown_cents = {} if beat is None else {each.level: each.amount_cents for each in beat.shown}
            heard_at = (
                now_text
                if previous is None or now_ns - received_ns < _RECORD_INTERVAL_NS
                else previous.heard_at
            )
        status: SignStatus = "lit" if all(cents is not None for cents in shown_cents.values()) else "dark"
        if now_ns - received_ns > VALUE_AGE_MAX_NS:
            status = "silent"
        elif beat is None and previous is not None:
            status = previous.status
        since = previous.since if previous is not None and previous.status == status else now_text
        return SignRecord(id=name, status=status, since=since, heard_at=heard_at, shown=shown_cents)

    def _has_changed(self, name: str, sign: SignRecord) -> bool:
        """Return whether the sign is new, or its status or its missing amounts have changed."""
        previous = self._record_by_sign.get(name)
        if previous is None:
            return True
        return previous.status != sign.status or (
            sign.status == "dark" and previous.dark_level_ids != sign.dark_level_ids
        )


def read_signs(session: Session) -> tuple[SignRecord, ...]:
    """Return the recorded state of every overhead sign that must report."""
    return tuple(SignRecord(**json.loads(text)) for text in session.read_sign_texts().values())


def _format_sign_line(sign: SignRecord) -> str:
    """Return the state of a sign as one line for a person."""
    if sign.status == "silent":
        return f"sign {sign.id}: silent since {sign.heard_at}"
    return f"sign {sign.id}: " + (
        "lit" if sign.status == "lit" else f"no amount of {', '.join(sign.dark_level_ids)}"
    )
