"""Background service that connects the machine's journal with its progressive controller.

It sends the recorded contributions, hits and payments, and submits the controller's reports as events. A
carrier (:mod:`egm.progressive.carrier`) transports the messages.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from egm.clock import NANOSECONDS_PER_SECOND
from egm.integrity.events import DisablingRequest, EnablingRequest
from egm.integrity.lockups import list_disabling_sources
from egm.kernel.events import Event, EventType
from egm.kernel.messages import Snapshot
from egm.kernel.services import MachineContext
from egm.play.records.game_record import GameRecord
from egm.play.records.games import GameInProgress
from egm.progressive import game_levels, held_prizes
from egm.progressive.carrier import LinkCarrier
from egm.progressive.display import ContributionStatus, DisplayedAmount, LevelAmountSources, LevelStatus
from egm.progressive.entries import (
    CLAIM_CLOSED,
    CONTROLLER_COUNT_AHEAD,
    CONTROLLER_COUNT_BEHIND,
    LEVEL_LINK_BACK,
    LEVEL_LINK_LOST,
    LINK_DISCONNECTED,
    MESSAGE_REFUSED,
    PRIZE_PAYMENT_LOST,
    ContributionCountDiffers,
    LevelLinkChanged,
    LinkDisconnected,
    MessageRefused,
    PrizePaymentLost,
)
from egm.progressive.events import AwardLocked, MysteryPrizeReport, ProgressiveClaimClosed
from egm.progressive.keys import ProgressiveKey
from egm.progressive.level_changes import LinkProgress
from egm.progressive.link import (
    ClaimAmountLocked,
    ClaimPaymentRecorded,
    CommitmentReceived,
    ControllerComplaint,
    ControllerCountAhead,
    ControllerCountBehind,
    ControllerLink,
    LevelResultsKnown,
    LinkNotification,
    MysteryWinFound,
)
from egm.progressive.messages import Claim, Contribution, ControllerMessage, PaymentReport
from egm.progressive.pools import ProgressivePools
from egm.progressive.records import ClaimRecord
from egm.record_codec import from_json
from meters.recall import PLAY_START_KINDS, read_details

#: Interval at which the link sends what is due and the screen is updated.
_LINK_UPDATE_INTERVAL_SECONDS: Final = 0.1
#: The maximum number of complaints about the controller recorded per connection, so that a faulty one cannot fill the
#: journal.
_RECORDED_COMPLAINTS_MAX: Final = 50
#: The name under which the link disables the machine, if the profile stops it while the controller is down.
PROGRESSIVE_DISABLING_SOURCE: Final = "progressive"


class ProgressiveLinkService:
    """The background service that exchanges messages with the machine's progressive controller.

    A restart loses nothing: the service reads its state again from the journal, or the controller repeats it.
    """

    name = "progressive link"

    def __init__(self, context: MachineContext, carrier: LinkCarrier) -> None:
        self._context = context
        self._machine = context.engine.machine
        self._carrier = carrier
        self._machine_id = self._machine.identity.serial
        progressive_rules = self._machine.profile.progressives
        self._link = ControllerLink(
            self._machine_id,
            self._machine.component(ProgressivePools).pool_by_id.values(),
            stale_after_ns=progressive_rules.controller_down_after_seconds * NANOSECONDS_PER_SECOND,
        )
        self._stops_machine_when_down = progressive_rules.refused_while_link_down == "machine"
        self._connection_count = 0
        self._entry_sequences_by_pool_id: dict[str, dict[int, int]] = {
            pool_id: {} for pool_id in self._link.feeder_by_level
        }
        """The number of the journal entry of each uncounted contribution, by pool id and contribution number."""
        self._last_displayed_by_pool_id: dict[str, DisplayedAmount] = {}
        self._last_decided_number_by_pool_id: dict[str, int] = {}
        self._found_win_by_claim_id: dict[str, MysteryWinFound] = {}
        self._last_sequence_read = 0
        self._complaint_count = 0
        self._claims_reported_again: set[str] = set()
        """The claims whose payment was reported again on this connection."""
        self._is_send_scheduled = False
        for pool_id in self._link.feeder_by_level:
            progress = self._read_link_progress(pool_id)
            self._link.restore_contributions(
                pool_id,
                progress.last_counted_number,
                self._iter_recorded_contributions(
                    pool_id, progress.last_counted_number, progress.uncounted_since_sequence
                ),
            )
            self._link.restore_shown_amount(pool_id, progress.shown_cents, progress.fall_count)
        self._machine.component(LevelAmountSources).link = self

    # ------------------------------------------------------------------ background service
    async def run(self) -> None:
        """Exchange messages with the progressive controller, and repeat those without a reply, until cancelled."""
        self._pass_new_records_to_link()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._carrier.run(self), name="progressive carrier")
            while True:
                self._link.send_due_messages(self._read_clock_ns())
                self._send_and_submit()
                self._submit_found_wins()
                self._process_shown_amounts()
                await asyncio.sleep(_LINK_UPDATE_INTERVAL_SECONDS)

    def process_change(self, _: Snapshot) -> None:
        """If the journal has new entries, schedule sending their contributions, hits and payments to the controller."""
        if self._machine.journal.sequence != self._last_sequence_read:
            self._pass_new_records_to_link()
            self._schedule_send_and_submit()

    # ------------------------------------------------------------------ displayed amounts and counts
    def find_displayed_amount(self, pool_id: str) -> DisplayedAmount:
        """Return the amount that the level with the id ``pool_id`` shows now, and whether it is current."""
        return self._link.find_displayed_amount(pool_id, self._read_clock_ns())

    def find_contribution_status(self, pool_id: str) -> ContributionStatus | None:
        """Return how many of this machine's contributions are counted; None for a level without a controller.

        Also delete the stored entry numbers of the counted contributions, which are no longer needed.
        """
        feeder = self._link.feeder_by_level.get(pool_id)
        if feeder is None:
            return None
        entry_sequence_by_number = self._entry_sequences_by_pool_id[pool_id]
        for number in [number for number in entry_sequence_by_number if number <= feeder.last_counted_number]:
            del entry_sequence_by_number[number]
        if feeder.last_counted_number + 1 in entry_sequence_by_number:
            # A memory clear writes the open game before the games that ended earlier, so a later contribution may be
            # in an earlier entry.
            since_sequence = min(entry_sequence_by_number.values()) - 1
        elif feeder.pending_contributions:
            since_sequence = self._read_link_progress(pool_id).uncounted_since_sequence
        else:
            since_sequence = self._machine.journal.sequence
        return ContributionStatus(
            last_counted_number=feeder.last_counted_number,
            uncounted_since_sequence=since_sequence,
            fall_count=feeder.fall_count,
        )

    def find_last_decided_number(self, pool_id: str) -> int:
        """Return the number of the last contribution to a mystery level whose result (win or no win) is known.

        Return 0 if no result is known. Contributions are numbered from 1 in each level.
        """
        return self._last_decided_number_by_pool_id.get(pool_id, 0)

    # ------------------------------------------------------------------ from the carrier
    def handle_connected(self) -> None:
        """Enrol in every linked level, because a connection to the progressive controller was just opened."""
        self._connection_count += 1
        self._complaint_count = 0
        self._claims_reported_again.clear()
        connection_id = self._machine.fresh_id(self._machine_id)
        self._link.enrol_levels(f"{connection_id}.{self._connection_count}", self._read_clock_ns())
        self._schedule_send_and_submit()

    def handle_disconnected(self, reason: str) -> None:
        """Mark every linked level as down, because the controller cannot be reached; contributions are still stored."""
        self._link.handle_disconnected()
        self._machine.post(LINK_DISCONNECTED, LinkDisconnected(reason=reason))
        self._schedule_send_and_submit()

    def process_message(self, message: ControllerMessage) -> None:
        """Process a message of the progressive controller."""
        self._link.process_message(message, self._read_clock_ns())
        self._schedule_send_and_submit()

    def handle_invalid_message(self, text: str) -> None:
        """Record that the progressive controller sent an invalid message; nothing else changes."""
        self._record_complaint("message", text)

    # ------------------------------------------------------------------ from the journal to the link
    def _pass_new_records_to_link(self) -> None:
        """Pass what the journal recorded since the last call (contributions, hits, payments) to the link."""
        self._last_sequence_read = self._machine.journal.sequence
        now_ns = self._read_clock_ns()
        for pool_id, feeder in self._link.feeder_by_level.items():
            progress = self._read_link_progress(pool_id)
            if progress.contribution_number > feeder.last_contribution_number:
                for contribution in self._list_new_contributions(
                    pool_id, feeder.last_contribution_number, progress
                ):
                    self._link.queue_contribution(contribution, now_ns)
        stored_claim_by_id = self._machine.memory.read_all(ClaimRecord, ProgressiveKey.CLAIM)
        for claim_id in self._link.list_open_claims():
            if claim_id not in stored_claim_by_id:
                self._link.drop_claim(claim_id)
        for claim_id, stored_claim in stored_claim_by_id.items():
            self._pass_claim_to_link(claim_id, stored_claim, now_ns)

    def _pass_claim_to_link(self, claim_id: str, claim_record: ClaimRecord, now_ns: int) -> None:
        """Pass an open claim of the journal to the link, which sends it, or reports its payment, to the controller.

        ``claim_record`` is its stored state.
        """
        claim = Claim(
            machine=self._machine_id,
            level=claim_record.pool_id,
            claim=claim_id,
            after=claim_record.contribution_number,
            shown_cents=claim_record.shown_cents,
            combination=f"{claim_record.game_id} {claim_record.level_name}",
            at_utc=claim_record.at_utc,
            share=claim_record.won_share,
        )
        if claim_record.payment_method is not None:
            payment_report = PaymentReport(
                machine=self._machine_id,
                level=claim_record.pool_id,
                claim=claim_id,
                amount_cents=claim_record.amount_cents or 0,
                way=claim_record.payment_method,
            )
            self._link.report_payment(payment_report, claim, now_ns)
            return
        if claim_record.is_mystery:
            self._link.open_mystery_claim(claim, now_ns)
            return
        self._link.open_hit_claim(claim, now_ns)
        if claim_record.amount_cents is not None:
            self._link.mark_award_recorded(claim_id)

    def _read_link_progress(self, pool_id: str) -> LinkProgress:
        """Return how many contributions this machine has made to a level, and how many its controller has counted."""
        return (
            self._machine.memory.read(LinkProgress, f"{ProgressiveKey.LINK_PROGRESS}{pool_id}")
            or LinkProgress()
        )

    def _list_new_contributions(
        self, pool_id: str, after_number: int, progress: LinkProgress
    ) -> list[Contribution]:
        """Return this machine's contributions to a level that have a number above ``after_number``.

        If only the game in progress has a new one, one journal entry is read; otherwise the journal is
        searched.
        """
        record = self._machine.component(GameInProgress).record
        if record is not None and progress.contribution_number == after_number + 1:
            start_entry = self._machine.journal.get(f"{record.play_id}.start")
            contributions = (
                []
                if start_entry is None
                else self._list_and_index_game_contributions(pool_id, record, start_entry.sequence)
            )
            if [contribution.number for contribution in contributions] == [progress.contribution_number]:
                return contributions
        return list(
            self._iter_recorded_contributions(pool_id, after_number, progress.uncounted_since_sequence)
        )

    def _iter_recorded_contributions(
        self, pool_id: str, after_number: int, since_sequence: int
    ) -> Iterator[Contribution]:
        """Yield this machine's contributions to a level that have a number above ``after_number``.

        They are read from the journal entries with a sequence number above ``since_sequence``.
        """
        for entry in self._machine.journal.entries(PLAY_START_KINDS, after_sequence=since_sequence):
            game_record = from_json(GameRecord, entry.record, f"entry {entry.sequence}, {entry.kind}")
            for contribution in self._list_and_index_game_contributions(pool_id, game_record, entry.sequence):
                if contribution.number > after_number:
                    yield contribution

    def _find_paid_hits_to_report(self, pool_id: str, last_counted_number: int) -> dict[str, ClaimRecord]:
        """Return the paid hits of a level that must be reported to the controller again, by the claim's storage key.

        The controller was restored from an older copy. It has lost the contributions after number
        ``last_counted_number``, and the hits of these contributions. Void hits and mystery prizes are left out.
        """
        return {
            f"{ProgressiveKey.CLAIM}{claim_id}": record
            for claim_id, record in self._iter_closed_claims()
            if record.pool_id == pool_id
            and record.contribution_number > last_counted_number
            and record.payment_method != "void"
            and not record.is_mystery
        }

    def _iter_closed_claims(self) -> Iterator[tuple[str, ClaimRecord]]:
        """Yield the id and the record of each claim of the journal whose payment the controller has recorded."""
        for entry in self._machine.journal.entries(CLAIM_CLOSED.kind):
            details = dict(read_details(entry))
            claim_id = str(details.pop("claim"))
            yield claim_id, from_json(ClaimRecord, details, f"entry {entry.sequence}, {entry.kind}")

    def _reopen_claim_with_lost_payment(self, claim_id: str) -> None:
        """If the claim of a reported mystery win is closed, open it again, so that its payment is reported again.

        A controller reports a mystery win until it has recorded the payment; only then is the claim closed. A report
        after that comes from a controller that has lost the payment, because it was restored from an older copy. A
        payment is reported again at most once per connection, so that a faulty controller cannot fill the journal.
        """
        key = f"{ProgressiveKey.CLAIM}{claim_id}"
        journal = self._machine.journal
        if (
            claim_id in self._claims_reported_again
            or journal.state(key) is not None
            or not journal.has_entry(held_prizes.build_prize_entry_id(claim_id))
        ):
            return
        closed_claim = dict(self._iter_closed_claims()).get(claim_id)
        if closed_claim is not None:
            self._claims_reported_again.add(claim_id)
            self._machine.post(
                PRIZE_PAYMENT_LOST, PrizePaymentLost(claim_id=claim_id), state={key: closed_claim}
            )

    def _list_and_index_game_contributions(
        self, pool_id: str, game_record: GameRecord, entry_sequence: int
    ) -> list[Contribution]:
        """Return a game's contributions to a level; store the number of the game's journal entry for each."""
        contributions: list[Contribution] = []
        for contribution in game_record.levels.contributions:
            if (
                contribution.pool_id == pool_id
                and contribution.contribution_number is not None
                and contribution.amount is not None
            ):
                self._entry_sequences_by_pool_id[pool_id].setdefault(
                    contribution.contribution_number, entry_sequence
                )
                contributions.append(
                    Contribution(
                        machine=self._machine_id,
                        level=pool_id,
                        sequence=contribution.contribution_number,
                        wager_cents=contribution.wager_cents,
                        amount=contribution.amount,
                    )
                )
        return contributions

    # ------------------------------------------------------------------ from the link to the machine
    def _schedule_send_and_submit(self) -> None:
        """Schedule :meth:`_send_and_submit` to run on the event loop after the current event."""
        if not self._is_send_scheduled:
            self._is_send_scheduled = True
            asyncio.get_running_loop().call_soon(self._send_and_submit)

    def _send_and_submit(self) -> None:
        """Submit the controller's reports to the machine, and send the waiting messages to the controller."""
        self._is_send_scheduled = False
        for notification in self._link.take_notifications():
            self._submit_notification(notification)
        for message in self._link.take_messages():
            self._carrier.send(message)

    def _submit_notification(self, notification: LinkNotification) -> None:
        """Process one report of the controller: submit it to the machine as an event, or record it in the journal."""
        match notification:
            case ClaimAmountLocked():
                award = AwardLocked(claim_id=notification.claim_id, amount_cents=notification.amount_cents)
                self._context.submit_event(Event(EventType.AWARD_LOCKED, award))
            case ClaimPaymentRecorded():
                self._context.submit_event(
                    Event(
                        EventType.PROGRESSIVE_CLAIM_CLOSED,
                        ProgressiveClaimClosed(claim_id=notification.claim_id),
                    )
                )
            case ControllerCountAhead():
                progress = game_levels.find_link_progress(self._machine, notification.level_id)
                self._machine.post(
                    CONTROLLER_COUNT_AHEAD,
                    ContributionCountDiffers(
                        pool_id=notification.level_id, last_counted_number=notification.last_counted_number
                    ),
                    state={
                        f"{ProgressiveKey.LINK_PROGRESS}{notification.level_id}": replace(
                            progress, contribution_number=notification.last_counted_number
                        )
                    },
                )
            case ControllerCountBehind():
                contributions = list(
                    self._iter_recorded_contributions(
                        notification.level_id, notification.last_counted_number, 0
                    )
                )
                self._link.restore_contributions(
                    notification.level_id, notification.last_counted_number, contributions
                )
                self._machine.post(
                    CONTROLLER_COUNT_BEHIND,
                    ContributionCountDiffers(
                        pool_id=notification.level_id, last_counted_number=notification.last_counted_number
                    ),
                    state=self._find_paid_hits_to_report(
                        notification.level_id, notification.last_counted_number
                    ),
                )
            case ControllerComplaint():
                self._record_complaint(notification.code, notification.text)
            case CommitmentReceived():
                error = held_prizes.record_commitment_or_get_error(
                    self._machine, notification.level_id, notification.prize_number, notification.commitment
                )
                if error:
                    self._record_complaint("seal", error)
            case MysteryWinFound():
                self._reopen_claim_with_lost_payment(notification.won_prize.claim_id)
                self._found_win_by_claim_id[notification.won_prize.claim_id] = notification
                self._submit_found_wins()
            case LevelResultsKnown():
                self._store_decided_number(notification.level_id, notification.last_decided_number)

    def _submit_found_wins(self) -> None:
        """Submit to the machine, as events, the mystery wins that the controller has reported.

        A win that cannot be paid now is submitted again later.
        """
        for claim_id, found_win in list(self._found_win_by_claim_id.items()):
            self._context.submit_event(
                Event(
                    EventType.MYSTERY_PRIZE_WON,
                    MysteryPrizeReport(level_id=found_win.level_id, won_prize=found_win.won_prize),
                )
            )
            if held_prizes.is_prize_recorded(self._machine, found_win.won_prize):
                del self._found_win_by_claim_id[claim_id]

    def _store_decided_number(self, pool_id: str, contribution_number: int) -> None:
        """Store the number of the last contribution to a mystery level whose result (win or no win) is known.

        A game that waits for this result may then end.
        """
        if contribution_number > self.find_last_decided_number(pool_id):
            self._last_decided_number_by_pool_id[pool_id] = contribution_number
            if self._machine.memory.get(ProgressiveKey.GAME_AWAITING_AWARD) is not None:
                self._context.submit_event(Event(EventType.PROGRESSIVE_AMOUNTS_CHANGED))

    def _record_complaint(self, code: str, text: str) -> None:
        """Record that the controller refused a message or sent an invalid one; at most 50 times per connection."""
        self._complaint_count += 1
        if self._complaint_count <= _RECORDED_COMPLAINTS_MAX:
            is_last = self._complaint_count == _RECORDED_COMPLAINTS_MAX
            self._machine.post(
                MESSAGE_REFUSED, MessageRefused(code=code, text=text, is_last_recorded=is_last)
            )

    def _process_shown_amounts(self) -> None:
        """Send changed amounts of the progressive levels to the screen; record lost and restored links.

        If the profile requires it, disable the machine while the link of a level is down.
        """
        displayed_by_pool_id = {
            pool_id: self.find_displayed_amount(pool_id) for pool_id in self._link.feeder_by_level
        }
        if displayed_by_pool_id == self._last_displayed_by_pool_id:
            return
        for pool_id, displayed_amount in displayed_by_pool_id.items():
            last_amount = self._last_displayed_by_pool_id.get(pool_id)
            if last_amount is not None and (last_amount.status is LevelStatus.UP) != (
                displayed_amount.status is LevelStatus.UP
            ):
                declaration = LEVEL_LINK_LOST if last_amount.status is LevelStatus.UP else LEVEL_LINK_BACK
                self._machine.post(
                    declaration, LevelLinkChanged(pool_id=pool_id, status=displayed_amount.status.value)
                )
        self._last_displayed_by_pool_id = displayed_by_pool_id
        if self._stops_machine_when_down:
            self._enable_or_disable_machine(
                is_link_up=all(
                    displayed_amount.status is LevelStatus.UP
                    for displayed_amount in displayed_by_pool_id.values()
                )
            )
        self._context.submit_event(Event(EventType.PROGRESSIVE_AMOUNTS_CHANGED))

    def _enable_or_disable_machine(self, *, is_link_up: bool) -> None:
        """Disable the machine if the link of a progressive level is down (``is_link_up`` False), or else enable it."""
        is_disabled = PROGRESSIVE_DISABLING_SOURCE in list_disabling_sources(self._machine)
        if not is_link_up and not is_disabled:
            disabling_request = DisablingRequest(source=PROGRESSIVE_DISABLING_SOURCE, reason="link_down")
            self._context.submit_event(Event(EventType.MACHINE_DISABLED, disabling_request))
        elif is_link_up and is_disabled:
            self._context.submit_event(
                Event(EventType.MACHINE_ENABLED, EnablingRequest(source=PROGRESSIVE_DISABLING_SOURCE))
            )

    def _read_clock_ns(self) -> int:
        """Return the monotonic time in nanoseconds."""
        return self._context.clock.monotonic_ns()
