"""Monitoring of a SAS host: records when it stops polling, and applies the jurisdiction's rules about that."""

import asyncio
from datetime import datetime
from typing import Final

from egm.integrity.events import DisablingRequest, EnablingRequest
from egm.kernel.entries import EntryDeclaration
from egm.kernel.events import EventType
from egm.links.entries import (
    HOST_AWAITED,
    HOST_LINK_LOST,
    HOST_LINK_UP,
    HOST_START_AWAITED,
    HostLineEvent,
)
from egm.links.keys import LinksKey
from egm.links.sas.host import SasHost

#: Suffixes of the reasons for which a host's line stops the machine: a full exception queue, a delayed game.
FULL, DELAY = ":full", ":delay"
#: Those suffixes of reasons that do not outlast a restart.
_HOLD_SOURCE_SUFFIXES_CLEARED_BY_RESTART: Final = (FULL, DELAY)


class SasLinkMonitor:
    """The monitoring of one SAS host's polling.

    The time when the host stopped polling is in the journal and survives a restart.
    """

    def __init__(self, host: SasHost) -> None:
        self._host = host
        self._timer: asyncio.TimerHandle | None = None

    @property
    def _source(self) -> str:
        """Return the name under which the machine records that it is disabled because this host does not poll."""
        return f"{self._host.source}:silent"

    def start(self) -> None:
        """Start to watch the host after start-up, when no host has polled yet."""
        for (
            suffix
        ) in _HOLD_SOURCE_SUFFIXES_CLEARED_BY_RESTART:  # temporary holds ended with the run that made them
            self._host.submit_event(EventType.ENABLED, EnablingRequest(source=f"{self._host.source}{suffix}"))
        self._wait_for_start_up()
        if self._host.machine.profile.host.silence_seconds is None:
            return
        if self._read_silent_since() is None:
            self._record_event(HOST_AWAITED, silent=True)
        self._stop_after_silence()

    def _wait_for_start_up(self) -> None:
        """If the jurisdiction requires it, disable the machine until the host enables it by poll 02.

        This happens only once for each host, when it is new to the machine.
        """
        machine = self._host.machine
        key = f"{LinksKey.HOST_KNOWN}{self._host.name}"
        if machine.profile.host.starts_machine and machine.journal.state(key) is None:
            machine.post(HOST_START_AWAITED, HostLineEvent(host=self._host.name), state={key: True})
            self._host.submit_event(
                EventType.DISABLED, DisablingRequest(source=self._host.source, reason="host")
            )

    def record_link_state(self, *, is_up: bool) -> None:
        """Record that the host has started to poll, or has stopped, and apply the jurisdiction's rules on it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if is_up:
            self._record_event(HOST_LINK_UP, silent=False)
            self._host.submit_event(EventType.ENABLED, EnablingRequest(source=self._source))
        else:
            self._record_event(HOST_LINK_LOST, silent=True)
            self._stop_after_silence()

    def handle_queue_full(self, *, is_full: bool) -> None:
        """Disable the machine while the host's exception queue is full, if the jurisdiction requires it.

        Clause: AGE 11.1.2(3).
        """
        if not self._host.machine.profile.host.full_queue_stops:
            return
        source = f"{self._host.source}{FULL}"
        if is_full:
            self._host.submit_event(EventType.DISABLED, DisablingRequest(source=source, reason="host_behind"))
        else:
            self._host.submit_event(EventType.ENABLED, EnablingRequest(source=source))

    def _record_event(self, entry: EntryDeclaration[HostLineEvent], *, silent: bool) -> None:
        """Record a change of the host's link in the journal.

        With ``silent``, also store the present time as the time when the host stopped polling.
        """
        machine = self._host.machine
        machine.post(
            entry,
            HostLineEvent(host=self._host.name),
            state={
                f"{LinksKey.HOST_SILENT}{self._host.name}": machine.timekeeper.read_steady_time().isoformat()
                if silent
                else None
            },
        )

    def _read_silent_since(self) -> datetime | None:
        """Return when the host stopped polling, or None if it polls."""
        silent_since = self._host.machine.journal.state(f"{LinksKey.HOST_SILENT}{self._host.name}")
        return datetime.fromisoformat(silent_since) if isinstance(silent_since, str) else None

    def _stop_after_silence(self) -> None:
        """Take the machine out of service once the host's silence exceeds the jurisdiction's limit.

        Clauses: SC 12-22; AGE 11.1.2(2)(iv).
        """
        limit, since = self._host.machine.profile.host.silence_seconds, self._read_silent_since()
        if limit is None or since is None:
            return
        # A clock set back since then counts as no silence yet, never as a longer wait.
        silent_seconds = max(0.0, (self._host.machine.timekeeper.read_steady_time() - since).total_seconds())
        if silent_seconds >= limit:
            self._host.submit_event(
                EventType.DISABLED, DisablingRequest(source=self._source, reason="host_silent")
            )
            return
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(limit - silent_seconds, self._stop_after_silence)
