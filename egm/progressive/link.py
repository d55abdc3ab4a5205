"""The machine's end of the link to a progressive controller: a state machine without input or output.

It sends the machine's contributions and claims (reports that a level was hit), and processes the replies. Each level
is enrolled or not, and up, stale or down (:mod:`egm.progressive.feeder`). Each open claim waits for its award, for its
payment by the machine, or for the controller to close it. This state is lost at a restart: everything durable is in the
journal, and is passed in again. Messages without a reply are repeated; both ends recognise a repeat.

* Contributions are sent in order, a limited number ahead of the controller's count. If the controller names a gap, they
  are sent again from there.

* A claim is sent once the contribution of its wager has been counted, and repeated until the controller has locked the
  amount (the award).

* A payment report (``commit`` on the wire) says that the award is paid. It is repeated until the controller has closed
  the claim. If the controller does not know the claim (the message was lost, or the controller's store is an older
  copy), the claim is sent first.

* In a mystery level, the controller decides which contributions win while it counts them, and sends the wins with the
  count. Until the machine has recorded a win, the link passes it on again with every such message
  (:class:`MysteryWinFound`). Once it is recorded, the win is a claim whose amount is already known.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from egm.progressive.display import DisplayedAmount, LevelStatus
from egm.progressive.feeder import CONTRIBUTION_RETRY_NS, LinkedLevelFeeder
from egm.progressive.messages import (
    Award,
    Claim,
    ClaimClosure,
    Contribution,
    ContributionCount,
    ControllerMessage,
    EnrolmentAccepted,
    EnrolmentRequest,
    LevelValue,
    MachineMessage,
    MysteryPrizeMessage,
    PaymentReport,
    Refusal,
    RefusalReason,
)
from egm.progressive.pools import LevelKeeper, ProgressivePool

#: The time after which the enrolment in a refused level is tried again: the cause may have been corrected.
_REFUSED_RETRY_NS: Final = 30_000_000_000

#: The number of closed claims that are remembered, so that a late repeat of an award is recognised.
_CLOSED_CLAIMS_MAX: Final = 64


class ClaimPhase(StrEnum):
    """The phase that a claim to the prize of a linked progressive level has reached."""

    CLAIMING = "claiming"
    AWARDED = "awarded"
    COMMITTED = "committed"


@dataclass(slots=True)
class _OpenClaim:
    """An open claim to the prize of a linked progressive level."""

    claim: Claim
    payment_report: PaymentReport | None = None
    """The report that the award is paid; None until it is."""
    is_awarded: bool = False
    """Whether the machine has stored the amount that the controller locked."""
    is_held_by_controller: bool = False
    """Whether the controller holds the claim: it has replied that two people must rule on the claim first."""
    is_unknown_to_controller: bool = False
    """Whether the controller has replied that it does not know the claim, so that it must be sent again."""
    sent_ns: int | None = None
    """The monotonic time at which the last message about the claim was sent; None before the first on a connection."""

    @property
    def due_message(self) -> Claim | PaymentReport | None:
        """Return the message to which the controller must still reply; None between award and payment."""
        if self.payment_report is not None and not self.is_unknown_to_controller:
            return self.payment_report
        return self.claim if self.is_unknown_to_controller or not self.is_awarded else None

    @property
    def phase(self) -> ClaimPhase:
        """Return whether the claim is still without award, awarded, or paid (committed)."""
        if self.payment_report is not None:
            return ClaimPhase.COMMITTED
        return ClaimPhase.AWARDED if self.is_awarded else ClaimPhase.CLAIMING


# ---------------------------------------------------------------------------------------------- notifications
@dataclass(frozen=True, slots=True)
class ClaimAmountLocked:
    """The progressive controller has locked the amount of a claim, in minor units."""

    claim_id: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class ClaimPaymentRecorded:
    """The progressive controller has recorded that a claim is paid."""

    claim_id: str


@dataclass(frozen=True, slots=True)
class ControllerCountAhead:
    """The controller has counted contributions up to ``last_counted_number``, more than this machine knows of."""

    level_id: str
    last_counted_number: int


@dataclass(frozen=True, slots=True)
class ControllerCountBehind:
    """The controller has lost the contributions after number ``last_counted_number``, although it had counted them."""

    level_id: str
    last_counted_number: int


@dataclass(frozen=True, slots=True)
class ControllerComplaint:
    """A complaint to be recorded: the controller refused a message, or sent one that it should not have sent."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class CommitmentReceived:
    """A mystery level has a new prize: its number, and the commitment to its secret amount."""

    level_id: str
    prize_number: int
    commitment: str


@dataclass(frozen=True, slots=True)
class MysteryWinFound:
    """The controller reports that a contribution of this machine has won a mystery level."""

    level_id: str
    won_prize: MysteryPrizeMessage


@dataclass(frozen=True, slots=True)
class LevelResultsKnown:
    """The controller has decided which of this machine's contributions up to a number have won the mystery level."""

    level_id: str
    last_decided_number: int


#: Anything that the link reports to the machine.
LinkNotification = (
    ClaimAmountLocked
    | ClaimPaymentRecorded
    | ControllerCountAhead
    | ControllerCountBehind
    | ControllerComplaint
    | CommitmentReceived
    | MysteryWinFound
    | LevelResultsKnown
)


class ControllerLink:
    """The machine's end of the link to a progressive controller, as a state machine.

    After each call, the caller must take the messages for the controller (:meth:`take_messages`) and the
    notifications for the machine (:meth:`take_notifications`).
    """

    def __init__(self, machine_id: str, pools: Iterable[ProgressivePool], *, stale_after_ns: int) -> None:
        """Create the link of the machine with the serial number ``machine_id`` for the linked levels in ``pools``.

        A level counts as stale if no amount of it was received for ``stale_after_ns`` nanoseconds.
        """
        self._machine_id = machine_id
        self._stale_after_ns = stale_after_ns
        self.feeder_by_level: Mapping[str, LinkedLevelFeeder] = {
            pool.id: LinkedLevelFeeder(pool) for pool in pools if pool.keeper is LevelKeeper.CONTROLLER
        }
        self._open_claim_by_id: dict[str, _OpenClaim] = {}
        self._closed_claim_ids: deque[str] = deque(maxlen=_CLOSED_CLAIMS_MAX)
        self._is_connected = False
        self._nonce = ""
        self._enrolment_sent_ns_by_level: dict[str, int] = {}
        self._outgoing_messages: list[MachineMessage] = []
        self._notifications: list[LinkNotification] = []

    # ------------------------------------------------------------------ queries
    def find_displayed_amount(self, level_id: str, now_ns: int) -> DisplayedAmount:
        """Return the amount that the machine displays for a linked level now, and whether it is current."""
        feeder = self.feeder_by_level.get(level_id)
        if feeder is None or not self._is_connected:
            return DisplayedAmount(0 if feeder is None else feeder.amount_cents, LevelStatus.DOWN)
        return feeder.find_displayed_amount(now_ns, self._stale_after_ns)

    def list_open_claims(self) -> dict[str, ClaimPhase]:
        """Return every open claim to a linked progressive level, by id, with its phase."""
        return {claim_id: open_claim.phase for claim_id, open_claim in self._open_claim_by_id.items()}

    def take_messages(self) -> list[MachineMessage]:
        """Return the messages to send to the controller, in order, and remove them."""
        messages, self._outgoing_messages = self._outgoing_messages, []
        return messages

    def take_notifications(self) -> list[LinkNotification]:
        """Return the controller's reports to the machine since the last call, in order, and remove them."""
        notifications, self._notifications = self._notifications, []
        return notifications

    # ------------------------------------------------------------------ from the machine's memory
    def restore_contributions(
        self, level_id: str, last_counted_number: int, pending_contributions: Iterable[Contribution]
    ) -> None:
        """Restore from the journal the contributions to a level that the controller has not counted.

        They are all contributions after number ``last_counted_number``, in any order: a memory clear carries
        the open game over before the games that ended earlier.
        """
        feeder = self.feeder_by_level[level_id]
        feeder.last_counted_number = feeder.last_sent_number = last_counted_number
        feeder.pending_contributions.clear()
        feeder.pending_contributions.extend(
            sorted(pending_contributions, key=lambda contribution: contribution.number)
        )

    def restore_shown_amount(self, level_id: str, amount_cents: int, fall_count: int) -> None:
        """Restore the amount that a level showed before a restart, and how often it had been lowered by then.

        So that the amount never decreases unseen, a lower one is shown only if the controller reports more falls.
        """
        feeder = self.feeder_by_level[level_id]
        feeder.amount_cents, feeder.fall_count = amount_cents, fall_count

    def queue_contribution(self, contribution: Contribution, now_ns: int) -> None:
        """Queue a wager's contribution, already recorded in the journal, to be sent to the progressive controller."""
        feeder = self.feeder_by_level[contribution.level_id]
        if contribution.number == feeder.last_contribution_number + 1:
            feeder.pending_contributions.append(contribution)
        self._send_contributions(feeder, now_ns)

    def open_hit_claim(self, claim: Claim, now_ns: int) -> None:
        """Open the claim for a hit by a game's outcome, already recorded in the journal, and send it to the controller.

        Do nothing if the claim is open already.
        """
        self._open_claim_by_id.setdefault(claim.claim_id, _OpenClaim(claim))
        self._send_due_claim(claim.claim_id, now_ns)

    def open_mystery_claim(self, claim: Claim, now_ns: int) -> None:
        """Open the claim for a mystery win, already recorded in the journal; its amount is known."""
        self._open_claim_by_id.setdefault(claim.claim_id, _OpenClaim(claim, is_awarded=True))
        self._send_due_claim(claim.claim_id, now_ns)

    def mark_award_recorded(self, claim_id: str) -> None:
        """Mark the claim as awarded: the journal has the amount that the controller has locked for it."""
        if claim_id in self._open_claim_by_id:
            self._open_claim_by_id[claim_id].is_awarded = True

    def report_payment(self, payment_report: PaymentReport, claim: Claim, now_ns: int) -> None:
        """Report to the controller that a claim is paid, as the journal already records; open the claim if needed."""
        open_claim = self._open_claim_by_id.setdefault(payment_report.claim_id, _OpenClaim(claim))
        if open_claim.payment_report is None:
            open_claim.payment_report, open_claim.sent_ns = payment_report, None
        self._send_due_claim(payment_report.claim_id, now_ns)

    def drop_claim(self, claim_id: str) -> None:
        """Remove a claim that the journal no longer lists as open; later messages about it are ignored."""
        self._open_claim_by_id.pop(claim_id, None)
        self._closed_claim_ids.append(claim_id)

    # ------------------------------------------------------------------ from the carrier
    def enrol_levels(self, nonce: str, now_ns: int) -> None:
        """Enrol in every linked level, because a connection to the progressive controller was opened.

        ``nonce`` is a new text for every connection; the controller's replies repeat it.
        """
        self._is_connected, self._nonce = True, nonce
        self._enrolment_sent_ns_by_level.clear()
        for feeder in self.feeder_by_level.values():
            feeder.reset_connection()
        for open_claim in self._open_claim_by_id.values():
            open_claim.sent_ns = None
        self.send_due_messages(now_ns)

    def handle_disconnected(self) -> None:
        """Mark every linked level as down, because the connection to the controller is lost."""
        self._is_connected = False
        for feeder in self.feeder_by_level.values():
            feeder.reset_connection()

    def process_message(self, message: ControllerMessage, now_ns: int) -> None:
        """Process a message of the progressive controller. Messages to other machines are ignored."""
        if not isinstance(message, LevelValue) and message.machine != self._machine_id:
            return
        match message:
            case EnrolmentAccepted():
                self._handle_accepted_enrolment(message, now_ns)
            case LevelValue():
                self._handle_value(message, now_ns)
            case ContributionCount():
                self._process_counted_contributions(
                    message.level_id, message.last_counted_number, message.won_prizes, now_ns
                )
            case Award():
                self._handle_award(message, now_ns)
            case ClaimClosure():
                if message.claim_id in self._open_claim_by_id:
                    self._notifications.append(ClaimPaymentRecorded(message.claim_id))
            case Refusal():
                self._handle_refusal(message, now_ns)

    def send_due_messages(self, now_ns: int) -> None:
        """Send again the messages to which the controller has not replied in time; to be called regularly."""
        if not self._is_connected:
            return
        self._send_enrolments(now_ns)
        for feeder in self.feeder_by_level.values():
            self._send_contributions(feeder, now_ns)
        for claim_id in self._open_claim_by_id:
            self._send_due_claim(claim_id, now_ns)

    # ------------------------------------------------------------------ enrolment
    def _send_enrolments(self, now_ns: int) -> None:
        """Send the enrolment in each linked level that is not enrolled, unless it was sent a short time ago."""
        enrolments = []
        for level_id, feeder in self.feeder_by_level.items():
            sent_ns = self._enrolment_sent_ns_by_level.get(level_id)
            retry_ns = CONTRIBUTION_RETRY_NS if feeder.refusal_reason is None else _REFUSED_RETRY_NS
            if not feeder.is_enrolled and (sent_ns is None or now_ns - sent_ns >= retry_ns):
                self._enrolment_sent_ns_by_level[level_id] = now_ns
                enrolments.append(feeder.level_enrolment)
        if enrolments:
            self._outgoing_messages.append(
                EnrolmentRequest(machine=self._machine_id, nonce=self._nonce, levels=tuple(enrolments))
            )

    def _handle_accepted_enrolment(self, message: EnrolmentAccepted, now_ns: int) -> None:
        """Process the controller's acceptance of this machine's enrolment in a level.

        If the controller's parameters of the level do not fit the machine's game, the machine stops feeding the level.
        A reply to an earlier enrolment is ignored.
        """
        feeder = self.feeder_by_level.get(message.level_id)
        if feeder is None or message.nonce != self._nonce or not self._is_connected:
            return
        objection = feeder.find_enrolment_objection(message)
        if objection is not None:
            self._stop_feeding(feeder, objection.reason, objection.detail)
            return
        feeder.is_enrolled, feeder.refusal_reason = True, None
        if message.last_counted_number < feeder.last_counted_number:
            feeder.last_counted_number = feeder.last_sent_number = message.last_counted_number
            feeder.pending_contributions.clear()
            self._notifications.append(ControllerCountBehind(message.level_id, message.last_counted_number))
        self._process_counted_contributions(
            message.level_id, message.last_counted_number, message.won_prizes, now_ns
        )
        self.send_due_messages(now_ns)

    def _stop_feeding(self, feeder: LinkedLevelFeeder, reason: RefusalReason, detail: str) -> None:
        """Stop feeding a level for ``reason``; add the complaint to the notifications if the reason is new."""
        if feeder.refusal_reason is not reason:
            self._notifications.append(
                ControllerComplaint(f"refused.{reason}", f"{feeder.pool.id}: {detail}")
            )
        feeder.is_enrolled, feeder.refusal_reason = False, reason

    # ------------------------------------------------------------------ values and contributions
    def _handle_value(self, message: LevelValue, now_ns: int) -> None:
        """Process the level's amount that the controller has published.

        If the amount is wrong, or if the controller has lost amounts that it had published, enrol again: this
        sends the controller the amount that the machine showed last.
        """
        feeder = self.feeder_by_level.get(message.level_id)
        if feeder is None:
            return
        previous_commitment, sequence_before = feeder.commitment, feeder.value_sequence
        contradiction = feeder.update_value(message, now_ns)
        # The controller's store was reset, or its amount is wrong: send it the amount that was shown last.
        if contradiction or feeder.value_sequence < sequence_before:
            self._send_enrolment_again(feeder, now_ns)
        if contradiction:
            self._notifications.append(ControllerComplaint("value", contradiction))
        elif feeder.commitment != previous_commitment and feeder.is_mystery:
            self._notifications.append(
                CommitmentReceived(message.level_id, feeder.prize_number, feeder.commitment)
            )

    def _process_counted_contributions(
        self,
        level_id: str,
        last_counted_number: int,
        mystery_wins: tuple[MysteryPrizeMessage, ...],
        now_ns: int,
    ) -> None:
        """Drop a level's contributions up to number ``last_counted_number``, which the controller has counted.

        Then send further contributions, and claims that waited for this count. ``mystery_wins``, the wins that
        the controller found among the counted contributions, are added to the notifications for the machine.
        """
        feeder = self.feeder_by_level.get(level_id)
        if feeder is None:
            return
        if feeder.is_mystery:
            self._notifications += [
                MysteryWinFound(level_id, win)
                for win in mystery_wins
                if win.claim_id not in self._open_claim_by_id
            ]
            self._notifications.append(LevelResultsKnown(level_id, last_counted_number))
        if last_counted_number > feeder.last_contribution_number:
            self._notifications.append(ControllerCountAhead(level_id, last_counted_number))
        feeder.process_count(last_counted_number, now_ns)
        self._send_contributions(feeder, now_ns)
        for claim_id, open_claim in self._open_claim_by_id.items():
            if open_claim.claim.level_id == level_id:
                self._send_due_claim(claim_id, now_ns)

    def _send_contributions(self, feeder: LinkedLevelFeeder, now_ns: int) -> None:
        """Send the contributions to a progressive level that are due now."""
        if self._is_connected:
            self._outgoing_messages += feeder.take_due_contributions(now_ns)

    # ------------------------------------------------------------------ claims
    def _send_due_claim(self, claim_id: str, now_ns: int) -> None:
        """Send the due message about a claim: the claim itself, or the report that it is paid.

        Send nothing if the message was sent a short time ago, or if the controller cannot process it yet.
        """
        open_claim = self._open_claim_by_id[claim_id]
        feeder = self.feeder_by_level.get(open_claim.claim.level_id)
        if feeder is None or not self._is_connected or not feeder.is_enrolled:
            return
        if open_claim.sent_ns is not None and now_ns - open_claim.sent_ns < CONTRIBUTION_RETRY_NS:
            return
        message = open_claim.due_message
        can_be_claimed_now = feeder.last_counted_number >= open_claim.claim.contribution_number and (
            feeder.received_value_count or open_claim.is_unknown_to_controller
        )
        if message is None or (message is open_claim.claim and not can_be_claimed_now):
            return
        self._outgoing_messages.append(message)
        open_claim.sent_ns = now_ns

    def _handle_award(self, message: Award, now_ns: int) -> None:
        """Process the amount that the controller has locked for a claim.

        If no such claim is open, record a complaint about the controller, unless it is a late repeat.
        """
        open_claim = self._open_claim_by_id.get(message.claim_id)
        if open_claim is None:
            if message.claim_id in self._closed_claim_ids:
                return  # a late repeat
            complaint = (
                f"{message.claim_id}: the controller awards {message.amount_cents}, "
                "but this machine has no claim of this name"
            )
            self._notifications.append(ControllerComplaint("award", complaint))
        else:
            self._notifications.append(ClaimAmountLocked(message.claim_id, message.amount_cents))
            if open_claim.is_unknown_to_controller:
                open_claim.is_unknown_to_controller, open_claim.sent_ns = False, None
                self._send_due_claim(message.claim_id, now_ns)

    # ------------------------------------------------------------------ refusals
    def _handle_refusal(self, refusal: Refusal, now_ns: int) -> None:
        """Pass the progressive controller's refusal to the handler of the kind of message that it refuses."""
        handler_by_refused_type: Mapping[str, Callable[[Refusal, int], None]] = {
            "join": self._handle_enrolment_refusal,
            "contribution": self._handle_contribution_refusal,
            "claim": self._handle_claim_refusal,
            "commit": self._handle_claim_refusal,
        }
        handler_by_refused_type[refusal.refused_type](refusal, now_ns)

    def _handle_enrolment_refusal(self, refusal: Refusal, _: int) -> None:
        """Stop feeding the level whose enrolment the controller refused; all levels if the refusal names none."""
        concerned_feeders = (
            [self.feeder_by_level[refusal.level_id]]
            if refusal.level_id in self.feeder_by_level
            else self.feeder_by_level.values()
        )
        if refusal.nonce == self._nonce:
            for feeder in concerned_feeders:
                self._stop_feeding(feeder, refusal.reason, refusal.detail)

    def _handle_contribution_refusal(self, refusal: Refusal, now_ns: int) -> None:
        """React to a refused contribution: send again from the gap, enrol again, or stop feeding the level."""
        feeder = self.feeder_by_level.get(refusal.level_id)
        if feeder is None:
            return
        if (
            refusal.reason is RefusalReason.CONTRIBUTIONS_MISSING
            and refusal.next_needed_number > feeder.last_counted_number
        ):
            feeder.process_count(refusal.next_needed_number - 1, now_ns)
            feeder.last_sent_number = feeder.last_counted_number
            if (
                feeder.pending_contributions
                and feeder.pending_contributions[0].number > refusal.next_needed_number
            ):
                reason = f"contribution {refusal.next_needed_number} is not in this machine's journal"
                self._stop_feeding(feeder, refusal.reason, reason)  # a hit after it could never be awarded
            else:
                self._send_contributions(feeder, now_ns)
        elif refusal.reason is RefusalReason.CONTRIBUTIONS_MISSING:
            self._send_enrolment_again(
                feeder, now_ns
            )  # a late refusal, or the controller has less than it reported
        elif refusal.reason is RefusalReason.NOT_ENROLLED:
            self._enrol_from_start(feeder, now_ns)
        else:
            self._stop_feeding(
                feeder, refusal.reason, f"contribution {refusal.contribution_number}: {refusal.detail}"
            )

    def _handle_claim_refusal(self, refusal: Refusal, now_ns: int) -> None:
        """React to a refused claim by its reason: enrol again, send it again, wait, or report the refusal."""
        open_claim = self._open_claim_by_id.get(refusal.claim_id)
        if open_claim is None:
            return
        feeder = self.feeder_by_level.get(open_claim.claim.level_id)
        if refusal.reason is RefusalReason.NOT_ENROLLED and feeder is not None:
            open_claim.sent_ns = None
            self._enrol_from_start(feeder, now_ns)
        elif (
            refusal.refused_type == "commit"
            and refusal.reason is RefusalReason.UNKNOWN_CLAIM
            and not open_claim.is_unknown_to_controller
        ):
            open_claim.is_unknown_to_controller, open_claim.sent_ns = True, None
            self._send_due_claim(refusal.claim_id, now_ns)
        elif refusal.reason is RefusalReason.CLAIM_BEFORE_CONTRIBUTION or (
            open_claim.is_held_by_controller and refusal.reason is RefusalReason.CLAIM_HELD
        ):
            return
        else:
            open_claim.is_held_by_controller = refusal.reason is RefusalReason.CLAIM_HELD
            self._notifications.append(
                ControllerComplaint(
                    f"refused.{refusal.reason}",
                    f"{refusal.refused_type} {refusal.claim_id}: {refusal.detail}",
                )
            )

    def _send_enrolment_again(self, feeder: LinkedLevelFeeder, now_ns: int) -> None:
        """Enrol in a level again over the same connection, at most once per retry time.

        The controller then replies with its count, and receives the amount that this machine showed last.
        """
        if (
            self._is_connected
            and now_ns - self._enrolment_sent_ns_by_level.get(feeder.pool.id, -CONTRIBUTION_RETRY_NS)
            >= CONTRIBUTION_RETRY_NS
        ):
            self._enrolment_sent_ns_by_level[feeder.pool.id] = now_ns
            levels = (feeder.level_enrolment,)
            self._outgoing_messages.append(
                EnrolmentRequest(machine=self._machine_id, nonce=self._nonce, levels=levels)
            )

    def _enrol_from_start(self, feeder: LinkedLevelFeeder, now_ns: int) -> None:
        """Enrol in a level again as if newly connected, because the controller no longer knows this machine."""
        if feeder.is_enrolled:
            feeder.is_enrolled = False
            feeder.last_sent_number = feeder.last_counted_number
            self._enrolment_sent_ns_by_level.pop(feeder.pool.id, None)
            self._send_enrolments(now_ns)
