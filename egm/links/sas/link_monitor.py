"""Monitoring of a SAS host: records when it stops polling, and applies the jurisdiction's rules about that."""

import asyncio
from datetime import datetime
from typing import Final

from egm.integrity.events import DisablingRequest, EnablingRequest
from egm.kernel.entries import EntryDeclaration
from egm.kernel.events import EventType
from egm.links.entries import (
    HOST_LINK_LOST,
    HOST_LINK_UP,
    HOST_POLLS_AWAITED,
    HOST_START_AWAITED,
    HostLineEvent,
)
from egm.links.keys import LinksKey
from egm.links.sas.host import SasHost

#: Suffixes of the sources under which a host's line disables the machine: a full exception queue, a delayed game.
QUEUE_FULL_SUFFIX, GAME_DELAY_SUFFIX = ":full", ":delay"
#: The suffixes of the sources whose disabling ends at a restart.
_DISABLING_SUFFIXES_CLEARED_AT_RESTART: Final = (QUEUE_FULL_SUFFIX, GAME_DELAY_SUFFIX)


class SasLinkMonitor:
    """The monitoring of one SAS host's polling.

    The time when the host stopped polling, or since which the machine has waited for its first poll, is in the journal
    and survives a restart.
    """

    def __init__(self, host: SasHost) -> None:
        self._host = host
        self._silence_timer: asyncio.TimerHandle | None = None

    @property
    def _source(self) -> str:
        """Return the name under which the machine records that it is disabled because this host does not poll."""
        return f"{self._host.source}:silent"

    def start(self) -> None:
        """Start to watch the host after start-up, when no host has polled yet."""
        # The run that disabled the machine for these temporary reasons has ended.
        for suffix in _DISABLING_SUFFIXES_CLEARED_AT_RESTART:
            self._host.submit_event(
                EventType.MACHINE_ENABLED, EnablingRequest(source=f"{self._host.source}{suffix}")
            )
        self._disable_until_host_enables()
        if self._host.machine.profile.host.silence_seconds_max is None:
            return
        if self._read_polling_stop_time() is None:
            self._record_event(HOST_POLLS_AWAITED, has_stopped_polling=True)
        self._take_out_of_service_if_host_does_not_poll()

    def _disable_until_host_enables(self) -> None:
        """If the jurisdiction requires it, disable the machine until the host enables it by poll 02.

        This happens only once for each host, when it is new to the machine.
        """
        machine = self._host.machine
        key = f"{LinksKey.HAS_AWAITED_HOST_START}{self._host.name}"
        if machine.profile.host.requires_enabling_of_new_machine and machine.journal.state(key) is None:
            machine.post(HOST_START_AWAITED, HostLineEvent(host_name=self._host.name), state={key: True})
            self._host.submit_event(
                EventType.MACHINE_DISABLED, DisablingRequest(source=self._host.source, reason="host")
            )

    def record_link_state(self, *, is_up: bool) -> None:
        """Record that the host has started to poll, or has stopped, and apply the jurisdiction's rules on it."""
        if self._silence_timer is not None:
            self._silence_timer.cancel()
            self._silence_timer = None
        if is_up:
            self._record_event(HOST_LINK_UP, has_stopped_polling=False)
            self._host.submit_event(EventType.MACHINE_ENABLED, EnablingRequest(source=self._source))
        else:
            self._record_event(HOST_LINK_LOST, has_stopped_polling=True)
            self._take_out_of_service_if_host_does_not_poll()

    def handle_queue_full(self, *, is_full: bool) -> None:
        """Disable the machine while the host's exception queue is full, if the jurisdiction requires it.

        Clause: AGE 11.1.2(3).
        """
        if not self._host.machine.profile.host.requires_stop_at_full_queue:
            return
        source = f"{self._host.source}{QUEUE_FULL_SUFFIX}"
        if is_full:
            self._host.submit_event(
                EventType.MACHINE_DISABLED, DisablingRequest(source=source, reason="host_behind")
            )
        else:
            self._host.submit_event(EventType.MACHINE_ENABLED, EnablingRequest(source=source))

    def _record_event(
        self, declaration: EntryDeclaration[HostLineEvent], *, has_stopped_polling: bool
    ) -> None:
        """Record a change of the host's link in the journal.

        If ``has_stopped_polling``, also store the present time as the time when the host stopped polling; otherwise
        delete that time.
        """
        machine = self._host.machine
        machine.post(
            declaration,
            HostLineEvent(host_name=self._host.name),
            state={
                f"{LinksKey.HOST_STOPPED_POLLING_AT}{self._host.name}": (
                    machine.timekeeper.read_steady_time().isoformat() if has_stopped_polling else None
                )
            },
        )

    def _read_polling_stop_time(self) -> datetime | None:
        """Return when the host stopped polling, or None if it polls."""
        stop_time = self._host.machine.journal.state(f"{LinksKey.HOST_STOPPED_POLLING_AT}{self._host.name}")
        return datetime.fromisoformat(stop_time) if isinstance(stop_time, str) else None

    def _take_out_of_service_if_host_does_not_poll(self) -> None:
        """Take the machine out of service if the host has not polled for as long as the jurisdiction allows.

        Otherwise schedule this check again for the moment at which that time has passed.

        Clauses: SC 12-22; AGE 11.1.2(2)(iv).
        """
        silence_seconds_max, stopped_polling_at = (
            self._host.machine.profile.host.silence_seconds_max,
            self._read_polling_stop_time(),
        )
        if silence_seconds_max is None or stopped_polling_at is None:
            return
        # A clock set back since then counts as no time without polls, never as a longer one.
        seconds_without_poll = max(
            0.0, (self._host.machine.timekeeper.read_steady_time() - stopped_polling_at).total_seconds()
        )
        if seconds_without_poll >= silence_seconds_max:
            self._host.submit_event(
                EventType.MACHINE_DISABLED, DisablingRequest(source=self._source, reason="host_silent")
            )
            return
        loop = asyncio.get_running_loop()
        self._silence_timer = loop.call_later(
            silence_seconds_max - seconds_without_poll, self._take_out_of_service_if_host_does_not_poll
        )
