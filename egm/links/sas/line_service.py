"""Background service for a SAS host: prepares the data that the host reads, reports events, executes its requests.

All of it runs on the machine's event loop. SAS exceptions are raised from journal entries, after these are durable. A
small file stores the number of the last entry whose exception the host has received. After a restart the host thus
receives what happened while the machine was off. After a power loss a host may receive an exception twice; it misses
none.
"""

import asyncio
from collections.abc import Iterable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Final

from egm.config.sas_line import SasLineTable
from egm.errors import LocalError
from egm.integrity.keys import IntegrityKey
from egm.kernel.messages import Snapshot
from egm.kernel.services import BackgroundService, MachineContext
from egm.links.entries import HOST_POLL_FAILED, PollFailed
from egm.links.sas.channel import (
    ExceptionsDelivered,
    LinkChanged,
    PollUnanswered,
    QueueFullChanged,
    ReplyDelivered,
    RunPollEffect,
    SasChannelState,
)
from egm.links.sas.codec import MalformedPollError, Reply
from egm.links.sas.health import iter_line_metrics
from egm.links.sas.host import SasHost
from egm.links.sas.journal_exceptions import iter_exceptions
from egm.links.sas.line import (
    LOOP_PRIORITY,
    SasLineHealth,
    SasLineNotification,
    SasLineThread,
    raise_thread_priority,
    restore_thread_priority,
)
from egm.links.sas.link_monitor import SasLinkMonitor
from egm.links.sas.money_exceptions import MoneyExceptionMonitor
from egm.links.sas.polls import find_available_polls
from egm.links.sas.polls.control import close_acceptor_after_bill
from egm.links.sas.ports import open_port
from egm.links.sas.readout_builder import MeterReadingCache, ReadoutBuilder
from egm.links.sas.wire import LenientFraming, LongPoll, WakeupBitFraming
from egm.money.entries import BILL_IN
from egm.private_files import replace_private_file, replace_transient_file

#: The number of last journal entries that are searched at start for exceptions not received by the host.
#:
#: It is far more than the exception queue holds.
_ENTRIES_SEARCHED_AT_START_MAX: Final = 1000


class SasLineService:
    """The background service for the line to one SAS host."""

    def __init__(
        self, context: MachineContext, name: str, settings: SasLineTable, meter_cache: MeterReadingCache
    ) -> None:
        self.name = f"sas-{name}"
        self._context = context
        self._poll_by_code = find_available_polls(settings.permitted_groups)
        self._permitted_poll_codes = frozenset(self._poll_by_code)
        framing = WakeupBitFraming if settings.framing == "strict" else LenientFraming
        self._line = SasLineThread(
            name,
            SasChannelState(
                settings.address,
                self._poll_by_code,
                queue_size=settings.queue_length,
                requires_sync=settings.requires_sync,
                sends_chirps=settings.sends_chirps,
                now_ns=context.clock.monotonic_ns(),
            ),
            framing(settings.address, settings.gap_ns),
            open_port=lambda: open_port(
                settings.port,
                is_strict=settings.framing == "strict",
                link=context.state_folder.get_sas_port_path(name),
            ),
            run_effect=self._schedule_poll_effect,
            report=self._pass_to_loop,
            monotonic_ns=context.clock.monotonic_ns,
            busy_after_ns=settings.busy_after_ms * 1_000_000,
        )
        self.host = SasHost(
            name,
            settings,
            self._permitted_poll_codes,
            context,
            send_to_line=self._line.send_to_line,
            republish_readout=self._send_readout,
        )
        self._readout_builder = ReadoutBuilder(self.host, meter_cache)
        self._money_exceptions = MoneyExceptionMonitor(self.host)
        self._link_monitor = SasLinkMonitor(self.host)
        journal = context.engine.machine.journal
        self._delivered_exception_file = _DeliveredExceptionFile(
            context.state_folder.root / f"sas-{name}.told",  # an older name, which existing folders have
            journal.journal_tag,
        )
        #: Number of the last journal entry that the readout contains.
        self._readout_sequence = journal.sequence
        is_new_journal = journal.state(IntegrityKey.BOOT_COUNT) is None  # the journal was created in this run
        delivered_sequence = self._delivered_exception_file.read(
            default=0 if is_new_journal else journal.sequence
        )
        #: Number of the last journal entry whose exceptions were passed to the line.
        self._sent_sequence = max(delivered_sequence, journal.sequence - _ENTRIES_SEARCHED_AT_START_MAX)
        self._selected_game_number = self._readout_builder.build_readout().selected_game_number
        self._failed_poll_codes: set[int] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        context.metric_sources.append(lambda: iter_line_metrics(name, self.health))

    @property
    def health(self) -> SasLineHealth:
        """Return the health of the host's line: the counts of its messages and the reply times."""
        return self._line.health

    # ------------------------------------------------------------------ background service
    async def run(self) -> None:
        """Serve the SAS host's line until cancelled."""
        self._loop = asyncio.get_running_loop()
        self._delivered_exception_file.create_if_missing(self._sent_sequence)
        self._send_readout()
        self._link_monitor.start()
        raise_thread_priority(LOOP_PRIORITY)
        self._line.start()
        try:
            await asyncio.to_thread(self._line.join)
            raise LocalError(f"{self.name}: the line's thread has ended")
        finally:
            self._line.request_end()
            restore_thread_priority()

    def process_change(self, snapshot: Snapshot) -> None:
        """Raise and withdraw the exceptions about tickets and transfers, as the machine's state now requires.

        If there are new journal entries, also send their exceptions and a new readout (the data that the host may
        read) to the line. After an accepted bill, close the bill acceptor if the host has asked for that.
        """
        self._money_exceptions.update_exceptions()
        if snapshot.journal_sequence <= self._sent_sequence:
            return
        entries = list(self.host.machine.journal.entries(after_sequence=self._sent_sequence))
        for entry in entries:
            if entry.sequence > self._readout_sequence:
                self._readout_builder.process_entry(entry)
        readout = self._readout_builder.build_readout()
        exceptions = [
            exception
            for entry in entries
            for exception in iter_exceptions(
                entry,
                self.host.machine.entry_declarations,
                readout,
                self._permitted_poll_codes,
                self._selected_game_number,
            )
        ]
        self._selected_game_number = readout.selected_game_number
        self._sent_sequence = self._readout_sequence = snapshot.journal_sequence
        self._line.send_to_line(readout, *exceptions)
        if any(entry.kind == BILL_IN.kind for entry in entries):
            close_acceptor_after_bill(self.host)

    def _send_readout(self) -> None:
        """Send the current readout (the immutable data for the replies to polls) to the SAS line's thread."""
        self._line.send_to_line(self._readout_builder.build_readout())

    # ------------------------------------------------------------------ called on the line's thread
    def _schedule_poll_effect(self, effect: RunPollEffect) -> "Future[Reply | None]":
        """Schedule the effect function of a host's poll on the machine's event loop; return the future of its reply.

        The future is cancelled if the machine is stopping.
        """
        future: Future[Reply | None] = Future()
        try:
            if self._loop is None:
                raise RuntimeError("not running")
            self._loop.call_soon_threadsafe(self._run_effect, effect, future)
        except RuntimeError:  # the machine is stopping
            future.cancel()
        return future

    def _pass_to_loop(self, notification: SasLineNotification) -> None:
        """Pass a report of the SAS line's thread to the machine's event loop; ignore it if the loop has ended."""
        if self._loop is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._handle_notification, notification)

    # --------------------------------------------------------------- on the event loop, for the line's thread
    def _run_effect(self, effect: RunPollEffect, future: "Future[Reply | None]") -> None:
        """Run the effect function of a host's poll, and set the reply that it returns in ``future``.

        There is no reply (None) for an invalid poll.

        If the machine itself fails, record that the poll was not answered, and raise the error.
        """
        if effect.poll.effect_function is None or not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(effect.poll.effect_function(self.host, effect.request))
        except MalformedPollError:
            future.set_result(None)
        except Exception as error:
            future.set_result(None)
            self._record_failed_poll(effect.request, repr(error))
            raise

    def _handle_notification(self, notification: SasLineNotification) -> None:
        """Act on a report of the SAS line's thread, such as a confirmation, a changed link or a refused poll."""
        match notification:
            case ReplyDelivered(poll=poll, request=request, reply=reply):
                if poll.acknowledgement_function is not None:
                    poll.acknowledgement_function(self.host, request, reply)
            case ExceptionsDelivered(sequence=sequence):
                self._delivered_exception_file.write(sequence)
            case QueueFullChanged(is_full=is_full):
                self._link_monitor.handle_queue_full(is_full=is_full)
            case LinkChanged(is_up=is_up):
                self._money_exceptions.record_host_polling(is_up=is_up)
                self._link_monitor.record_link_state(is_up=is_up)
            case PollUnanswered(request=request, reason=reason, has_machine_failed=True):
                self._record_failed_poll(request, reason)
            case PollUnanswered():
                return

    def _record_failed_poll(self, request: LongPoll, reason: str) -> None:
        """Record, once per poll code, that this machine could not answer a host's poll: the host received no reply."""
        if request.code not in self._failed_poll_codes:
            self._failed_poll_codes.add(request.code)
            poll_failed = PollFailed(host_name=self.host.name, poll_code=f"{request.code:02X}", reason=reason)
            self.host.machine.post(HOST_POLL_FAILED, poll_failed)


class _DeliveredExceptionFile:
    """File with the number of the last journal entry whose exception a SAS host has received.

    ``journal_tag`` identifies the journal. Only the creation of the file is made durable. After a power loss, the file
    may therefore have an older number or no content; the host then receives some exceptions again, but misses none.
    """

    def __init__(self, path: Path, journal_tag: str) -> None:
        self._path = path
        self._journal_tag = journal_tag

    def read(self, *, default: int) -> int:
        """Return the stored number of the last journal entry whose exception the host has received.

        Return 0 if the content is damaged or belongs to an earlier journal, and ``default`` if there is no file: then
        the line is new.
        """
        try:
            sequence, journal_tag = self._path.read_text(encoding="ascii").split()
            return int(sequence) if journal_tag == self._journal_tag else 0
        except FileNotFoundError:
            return default
        except ValueError:
            return 0

    def create_if_missing(self, sequence: int) -> None:
        """If there is no file, create it durably with the number ``sequence``."""
        if not self._path.exists():
            replace_private_file(self._path, self._format_content(sequence))

    def write(self, sequence: int) -> None:
        """Store the number of the last journal entry whose exception the host has received."""
        replace_transient_file(self._path, self._format_content(sequence))

    def _format_content(self, sequence: int) -> str:
        return f"{sequence} {self._journal_tag}"


def create_sas_line_services(context: MachineContext) -> Iterable[BackgroundService]:
    """Create the background service of each SAS line in the cabinet file."""
    meter_cache = MeterReadingCache(context.engine.machine.journal)
    return [
        SasLineService(context, name, settings, meter_cache)
        for name, settings in context.cabinet_file.sas.items()
    ]
