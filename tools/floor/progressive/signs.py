"""The controller's record of the signs on the floor: lit, dark or silent (I-02).

A sign is on the list from its first heartbeat until staff remove it. It is silent if it has sent no heartbeat
for :data:`~tools.floor.progressive.sign.VALUE_AGE_MAX_NS`, and dark if it shows no amount for a level. An event
is recorded when a sign becomes silent or dark, when it recovers, and when it is new.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from egm.record_codec import from_json, stored_as, to_json
from tools.floor.progressive.heartbeat import SignHeartbeat
from tools.floor.progressive.sign import VALUE_AGE_MAX_NS
from tools.floor.progressive.store import Session, Store

#: Whether a sign shows every amount, lacks one, or sends no heartbeats.
SignStatus = Literal["lit", "dark", "silent"]
#: The time after which a record is written although only the time of the last heartbeat has changed. That time is
#: not changed for a heartbeat older than this.
_RECORD_INTERVAL_NS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SignRecord:
    """The last known state of an overhead sign. Times are ISO 8601, UTC."""

    id: str
    status: SignStatus
    status_since: str = field(metadata=stored_as("since"))
    """The time at which the sign's status last changed."""
    heard_at: str
    """The time at which the sign's last heartbeat arrived."""
    shown_cents_by_level: Mapping[str, int | None] = field(metadata=stored_as("shown"))
    """The amount displayed for each level, in minor units; None if the sign shows no amount for it."""

    @property
    def level_ids_without_amount(self) -> tuple[str, ...]:
        """Return the ids of the levels for which the sign displays no amount now."""
        return tuple(level for level, cents in self.shown_cents_by_level.items() if cents is None)

    def to_text(self) -> str:
        """Return the record as JSON."""
        return json.dumps(to_json(self), sort_keys=True)


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
        # No heartbeats were received while no controller ran: the time until a sign is silent starts now.
        self._received_ns_by_sign = dict.fromkeys(self._record_by_sign, began_ns)

    def store_heartbeat(self, heartbeat: SignHeartbeat) -> None:
        """Store the latest heartbeat of a sign."""
        self._heartbeat_by_sign[heartbeat.sign] = heartbeat
        self._received_ns_by_sign[heartbeat.sign] = self._now_ns()

    def update_states(self) -> tuple[SignRecord, ...]:
        """Return the current state of every sign; store changes, record them as events, and report them."""
        now_ns = self._now_ns()
        records = {
            sign_id: self._build_record(sign_id, received_ns, now_ns)
            for sign_id, received_ns in self._received_ns_by_sign.items()
        }
        changed_records = [
            record for sign_id, record in records.items() if self._has_changed(sign_id, record)
        ]
        if changed_records or (records and now_ns - self._written_ns >= _RECORD_INTERVAL_NS):
            self._written_ns = now_ns
            with self._store.transaction() as session:
                listed_ids = {record.id for record in read_signs(session)}
                for sign_id, record in records.items():
                    if sign_id in self._record_by_sign and sign_id not in listed_ids:
                        # removed from the list; its next heartbeat makes it a new sign
                        del self._received_ns_by_sign[sign_id]
                        continue
                    session.put_sign(sign_id, record.to_text())
                for record in changed_records:
                    level_ids_without_amount = list(record.level_ids_without_amount)
                    session.record_event(
                        record.status_since,
                        f"sign_{record.status}",
                        sign=record.id,
                        dark=level_ids_without_amount,
                    )
            for record in changed_records:
                self._report(_format_sign_line(record))
        self._record_by_sign = {
            sign_id: record for sign_id, record in records.items() if sign_id in self._received_ns_by_sign
        }
        return tuple(self._record_by_sign.values())

    def _build_record(self, sign_id: str, received_ns: int, now_ns: int) -> SignRecord:
        """Return a sign's current record from its last heartbeat: lit, dark or silent, and since when."""
        previous_record = self._record_by_sign.get(sign_id)
        heartbeat = self._heartbeat_by_sign.get(sign_id)
        now_text = self._now().isoformat()
        if heartbeat is None and previous_record is not None:
            shown_cents, heard_at = previous_record.shown_cents_by_level, previous_record.heard_at
        else:
            shown_cents = (
                {} if heartbeat is None else {each.level: each.amount_cents for each in heartbeat.shown}
            )
            heard_at = (
                now_text
                if previous_record is None or now_ns - received_ns < _RECORD_INTERVAL_NS
                else previous_record.heard_at
            )
        status: SignStatus = "lit" if all(cents is not None for cents in shown_cents.values()) else "dark"
        if now_ns - received_ns > VALUE_AGE_MAX_NS:
            status = "silent"
        elif heartbeat is None and previous_record is not None:
            status = previous_record.status
        status_since = (
            previous_record.status_since
            if previous_record is not None and previous_record.status == status
            else now_text
        )
        return SignRecord(
            id=sign_id,
            status=status,
            status_since=status_since,
            heard_at=heard_at,
            shown_cents_by_level=shown_cents,
        )

    def _has_changed(self, sign_id: str, record: SignRecord) -> bool:
        """Return whether the sign is new, or its status or its missing amounts have changed."""
        previous_record = self._record_by_sign.get(sign_id)
        if previous_record is None:
            return True
        return previous_record.status != record.status or (
            record.status == "dark"
            and previous_record.level_ids_without_amount != record.level_ids_without_amount
        )


def read_signs(session: Session) -> tuple[SignRecord, ...]:
    """Return the recorded state of every overhead sign on the list."""
    return tuple(
        from_json(SignRecord, json.loads(text), "sign") for text in session.read_sign_texts().values()
    )


def _format_sign_line(sign: SignRecord) -> str:
    """Return the state of a sign as one line for a person."""
    if sign.status == "silent":
        return f"sign {sign.id}: silent since {sign.heard_at}"
    return f"sign {sign.id}: " + (
        "lit" if sign.status == "lit" else f"no amount of {', '.join(sign.level_ids_without_amount)}"
    )
