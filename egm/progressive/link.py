"""The link of a machine to a progressive controller: a state machine without input or output.

Each level is joining, up, stale or down (:mod:`egm.progressive.feeder`); each claim is claiming, awarded or
committed. The link loses its state with the process: everything durable is in the journal, and is passed to
the link again at start. Unanswered messages are repeated; both ends recognise a repeat.

* A contribution is sent in order and at most a window ahead of what is counted; a gap is filled when the
  controller names it.
* A claim is sent once the contribution of its wager has been counted, and again until it is awarded.
* A commit is sent once the award is paid, and again until the controller has closed the claim. A controller that
  does not know the hit (it never received it, or its store is an older copy) is sent the claim first.
* The controller decides who wins a mystery level as it counts, and reports it with the count. The link reports a
  win of this machine as news until the machine has recorded it; then it is a claim whose amount is known.
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
    Closed,
    Commit,
    Contribution,
    Counted,
    FromController,
    FromMachine,
    Join,
    Joined,
    RefusalReason,
    Refused,
    Value,
    Won,
)
from egm.progressive.pools import LevelKeeper, ProgressivePool

_REFUSED_RETRY_NS: Final = 30_000_000_000
"""The time after which a refused level is requested again, because somebody may have corrected the cause."""

_CLOSED_CLAIMS_MAX: Final = 64
"""The number of completed claims that are remembered, because a repeated award may arrive late."""


class ClaimPhase(StrEnum):
    """The phases of a claim to the prize of a linked progressive level."""

    CLAIMING = "claiming"
    AWARDED = "awarded"
    COMMITTED = "committed"


@dataclass(slots=True)
class _OpenClaim:
    """An open claim to the prize of a linked progressive level, and when the last message about it was sent."""

    claim: Claim
    commit_message: Commit | None = None
    is_awarded: bool = False
    is_held: bool = False
    """Whether the controller has reported that a person must first rule on the claim."""
    is_unknown_to_controller: bool = False
    """Whether the controller no longer knows the hit that is claimed."""
    sent_ns: int | None = None

    @property
    def due_message(self) -> Claim | Commit | None:
        """Return the message about the claim to which the controller must still reply, or None."""
        if self.commit_message is not None and not self.is_unknown_to_controller:
            return self.commit_message
        return self.claim if self.is_unknown_to_controller or not self.is_awarded else None

    @property
    def phase(self) -> ClaimPhase:
        """Return how far the progressive claim has come."""
        if self.commit_message is not None:
            return ClaimPhase.COMMITTED
        return ClaimPhase.AWARDED if self.is_awarded else ClaimPhase.CLAIMING


# ---------------------------------------------------------------------------------------------- news
@dataclass(frozen=True, slots=True)
class AmountLocked:
    """News: the progressive controller has locked the amount of a claim, in minor units."""

    claim: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class PaymentRecorded:
    """News: the progressive controller has recorded that a claim is paid."""

    claim: str


@dataclass(frozen=True, slots=True)
class ControllerAhead:
    """News: the progressive controller has counted more contributions of this machine than the machine knows."""

    level: str
    sequence: int


@dataclass(frozen=True, slots=True)
class ControllerBehind:
    """News: the progressive controller has lost the contributions after ``sequence``, which it had counted."""

    level: str
    sequence: int


@dataclass(frozen=True, slots=True)
class ControllerComplaint:
    """News to be recorded: the controller refused a message, or sent a message that it should not have sent."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class CommitmentReceived:
    """News: a mystery level has a new prize: its number, and the commitment to its secret amount."""

    level: str
    prize_number: int
    commitment: str


@dataclass(frozen=True, slots=True)
class MysteryWinFound:
    """News: the progressive controller reports that a contribution of this machine has won a mystery level."""

    level: str
    won_prize: Won


@dataclass(frozen=True, slots=True)
class LevelResultsKnown:
    """News: the mystery results of this machine's contributions up to ``sequence`` are known."""

    level: str
    sequence: int


#: Anything that the link reports to the machine.
News = (
    AmountLocked
    | PaymentRecorded
    | ControllerAhead
    | ControllerBehind
    | ControllerComplaint
    | CommitmentReceived
    | MysteryWinFound
    | LevelResultsKnown
)


class ControllerLink:
    """The machine's end of the link to a progressive controller, as a state machine.

    After each call that reports an event, the caller must take the messages to the controller
    (:meth:`take_messages`) and the news for the machine (:meth:`take_news`).
    """

    def __init__(self, machine: str, pools: Iterable[ProgressivePool], *, stale_ns: int) -> None:
        """Create the link for the linked levels ``pools`` of the machine with serial ``machine``.

        ``stale_ns`` is the profile's time limit after which a level that is not received counts as stale.
        """
        self._machine = machine
        self._stale_ns = stale_ns
        self.feeders: Mapping[str, LinkedLevelFeeder] = {
            pool.id: LinkedLevelFeeder(pool) for pool in pools if pool.keeper is LevelKeeper.CONTROLLER
        }
        self._open_claims: dict[str, _OpenClaim] = {}
        self._closed_claims: deque[str] = deque(maxlen=_CLOSED_CLAIMS_MAX)
        self._connected = False
        self._nonce = ""
        self._enrolment_sent_ns: dict[str, int] = {}
        self._outgoing_messages: list[FromMachine] = []
        self._news: list[News] = []

    # ------------------------------------------------------------------ what is asked of it
    def find_displayed_amount(self, level: str, now_ns: int) -> DisplayedAmount:
        """Return the amount that the machine displays for a linked level now."""
        feeder = self.feeders.get(level)
        if feeder is None or not self._connected:
            return DisplayedAmount(0 if feeder is None else feeder.amount_cents, LevelStatus.DOWN)
        return feeder.find_displayed_amount(now_ns, self._stale_ns)

    def list_open_claims(self) -> dict[str, ClaimPhase]:
        """Return every open claim to a linked progressive level, by id, with its phase."""
        return {claim: entry.phase for claim, entry in self._open_claims.items()}

    def take_messages(self) -> list[FromMachine]:
        """Return and clear the messages to send to the controller, in order."""
        messages, self._outgoing_messages = self._outgoing_messages, []
        return messages

    def take_news(self) -> list[News]:
        """Return and clear the progressive controller's news for the machine since the last call, in order."""
        news, self._news = self._news, []
        return news

    # ------------------------------------------------------------------ from the machine's memory
    def restore_contributions(
        self, level: str, last_counted: int, pending_contributions: Iterable[Contribution]
    ) -> None:
        """Restore a progressive level's contributions from the journal: all after number ``last_counted``, in order."""
        feeder = self.feeders[level]
        feeder.last_counted = feeder.last_sent = last_counted
        feeder.pending_contributions.clear()
        feeder.pending_contributions.extend(pending_contributions)

    def restore_shown_amount(self, level: str, amount_cents: int, falls: int) -> None:
        """Restore the amount that a linked progressive level showed before a restart, with its number of falls.

        A lower amount is shown only if the controller reports another fall.
        """
        feeder = self.feeders[level]
        feeder.amount_cents, feeder.fall_count = amount_cents, falls

    def queue_contribution(self, contribution: Contribution, now_ns: int) -> None:
        """Queue a wager's contribution, which is durable on the machine, to be sent to the progressive controller."""
        feeder = self.feeders[contribution.level]
        if contribution.sequence == feeder.last_sequence + 1:
            feeder.pending_contributions.append(contribution)
        self._send_contributions(feeder, now_ns)

    def open_hit_claim(self, claim: Claim, now_ns: int) -> None:
        """Open the claim for a progressive hit that is durable on the machine, and send it to the controller."""
        self._open_claims.setdefault(claim.claim, _OpenClaim(claim))
        self._send_due_claim(claim.claim, now_ns)

    def open_claim(self, claim: Claim, now_ns: int) -> None:
        """Open the claim for a mystery win that is durable on the machine. Its amount is known already."""
        self._open_claims.setdefault(claim.claim, _OpenClaim(claim, is_awarded=True))
        self._send_due_claim(claim.claim, now_ns)

    def note_award_locked(self, claim: str) -> None:
        """Note that the machine has stored the award of a progressive claim durably."""
        if claim in self._open_claims:
            self._open_claims[claim].is_awarded = True

    def report_payment(self, commit: Commit, claim: Claim, now_ns: int) -> None:
        """Note that the award of a progressive claim is paid durably, so that the payment is sent to the controller."""
        entry = self._open_claims.setdefault(commit.claim, _OpenClaim(claim))
        if entry.commit_message is None:
            entry.commit_message, entry.sent_ns = commit, None
        self._send_due_claim(commit.claim, now_ns)

    def drop_claim(self, claim: str) -> None:
        """Drop a progressive claim whose end is durable on the machine; later messages about it are ignored."""
        self._open_claims.pop(claim, None)
        self._closed_claims.append(claim)

    # ------------------------------------------------------------------ from the carrier
    def enrol_levels(self, nonce: str, now_ns: int) -> None:
        """Enrol in every linked level over a new connection to the progressive controller.

        ``nonce`` is new for every connection.
        """
        self._connected, self._nonce = True, nonce
        self._enrolment_sent_ns.clear()
        for feeder in self.feeders.values():
            feeder.reset_connection()
        for entry in self._open_claims.values():
            entry.sent_ns = None
        self.repeat_unanswered_messages(now_ns)

    def handle_disconnection(self) -> None:
        """Mark every linked level as down, because the connection to the controller is lost."""
        self._connected = False
        for feeder in self.feeders.values():
            feeder.reset_connection()

    def process_message(self, message: FromController, now_ns: int) -> None:
        """Process a message of the progressive controller. Messages to other machines are ignored."""
        if not isinstance(message, Value) and message.machine != self._machine:
            return
        match message:
            case Joined():
                self._handle_joined(message, now_ns)
            case Value():
                self._handle_value(message, now_ns)
            case Counted():
                self._process_confirmed_contributions(message.level, message.sequence, message.won, now_ns)
            case Award():
                self._handle_award(message, now_ns)
            case Closed():
                if message.claim in self._open_claims:
                    self._news.append(PaymentRecorded(message.claim))
            case Refused():
                self._handle_refusal(message, now_ns)

    def repeat_unanswered_messages(self, now_ns: int) -> None:
        """Repeat the messages to the controller that were not answered in time; call regularly."""
        if not self._connected:
            return
        self._send_enrolments(now_ns)
        for feeder in self.feeders.values():
            self._send_contributions(feeder, now_ns)
        for claim in self._open_claims:
            self._send_due_claim(claim, now_ns)

    # ------------------------------------------------------------------ enrolment
    def _send_enrolments(self, now_ns: int) -> None:
        """Send the enrolment in every linked level that is not enrolled, if the last attempt was long enough ago."""
        enrolments = []
        for level, feeder in self.feeders.items():
            queried_ns = self._enrolment_sent_ns.get(level)
            patience_ns = CONTRIBUTION_RETRY_NS if feeder.refusal_reason is None else _REFUSED_RETRY_NS
            if not feeder.is_enrolled and (queried_ns is None or now_ns - queried_ns >= patience_ns):
                self._enrolment_sent_ns[level] = now_ns
                enrolments.append(feeder.level_enrolment)
        if enrolments:
            self._outgoing_messages.append(
                Join(machine=self._machine, nonce=self._nonce, levels=tuple(enrolments))
            )

    def _handle_joined(self, message: Joined, now_ns: int) -> None:
        """Process the controller's reply to the enrolment in a level: accept its terms, or stop feeding the level.

        A reply to an earlier enrolment is ignored.
        """
        feeder = self.feeders.get(message.level)
        if feeder is None or message.nonce != self._nonce or not self._connected:
            return
        objection = feeder.find_objection(message)
        if objection is not None:
            self._stop_feeding(feeder, *objection)
            return
        feeder.is_enrolled, feeder.refusal_reason = True, None
        if message.counted < feeder.last_counted:
            feeder.last_counted = feeder.last_sent = message.counted
            feeder.pending_contributions.clear()
            self._news.append(ControllerBehind(message.level, message.counted))
        self._process_confirmed_contributions(message.level, message.counted, message.won, now_ns)
        self.repeat_unanswered_messages(now_ns)

    def _stop_feeding(self, feeder: LinkedLevelFeeder, reason: RefusalReason, detail: str) -> None:
        """Stop feeding a progressive level for a reason; report the reason if it is new."""
        if feeder.refusal_reason is not reason:
            self._news.append(ControllerComplaint(f"refused.{reason}", f"{feeder.pool.id}: {detail}"))
        feeder.is_enrolled, feeder.refusal_reason = False, reason

    # ------------------------------------------------------------------ values and contributions
    def _handle_value(self, message: Value, now_ns: int) -> None:
        """Process the amount of a progressive level that the controller published.

        If the amount is wrong, or if the controller has lost its later values, enrol again to send it the
        amount shown last.
        """
        feeder = self.feeders.get(message.level)
        if feeder is None:
            return
        previous_commitment, sequence = feeder.commitment, feeder.value_sequence
        contradiction = feeder.update_value(message, now_ns)
        if contradiction or feeder.value_sequence < sequence:  # its store was reset: send what was shown
            self._send_enrolment_again(feeder, now_ns)
        if contradiction:
            self._news.append(ControllerComplaint("value", contradiction))
        elif feeder.commitment != previous_commitment and feeder.is_mystery:
            self._news.append(CommitmentReceived(message.level, feeder.prize_number, feeder.commitment))

    def _process_confirmed_contributions(
        self, level: str, sequence: int, mystery_wins: tuple[Won, ...], now_ns: int
    ) -> None:
        """Drop a level's contributions up to ``sequence``, which the controller has counted.

        Then send further contributions and the claims that waited for this. Report the mystery wins that the
        controller found among the counted contributions.
        """
        feeder = self.feeders.get(level)
        if feeder is None:
            return
        if feeder.is_mystery:
            self._news += [
                MysteryWinFound(level, win) for win in mystery_wins if win.claim not in self._open_claims
            ]
            self._news.append(LevelResultsKnown(level, sequence))
        if sequence > feeder.last_sequence:
            self._news.append(ControllerAhead(level, sequence))
        feeder.process_count(sequence, now_ns)
        self._send_contributions(feeder, now_ns)
        for claim, entry in self._open_claims.items():
            if entry.claim.level == level:
                self._send_due_claim(claim, now_ns)

    def _send_contributions(self, feeder: LinkedLevelFeeder, now_ns: int) -> None:
        """Send the contributions to a progressive level that are due now."""
        if self._connected:
            self._outgoing_messages += feeder.list_due_contributions(now_ns)

    # ------------------------------------------------------------------ claims
    def _send_due_claim(self, claim: str, now_ns: int) -> None:
        """Send the next message about a progressive claim: the claim itself, or the report that it is paid.

        Send nothing if the message was just sent, or if the controller cannot process it yet.
        """
        entry = self._open_claims[claim]
        feeder = self.feeders.get(entry.claim.level)
        if feeder is None or not self._connected or not feeder.is_enrolled:
            return
        if entry.sent_ns is not None and now_ns - entry.sent_ns < CONTRIBUTION_RETRY_NS:
            return
        message = entry.due_message
        is_acceptable = feeder.last_counted >= entry.claim.after and (
            feeder.values_received or entry.is_unknown_to_controller
        )
        if message is None or (message is entry.claim and not is_acceptable):
            return
        self._outgoing_messages.append(message)
        entry.sent_ns = now_ns

    def _handle_award(self, message: Award, now_ns: int) -> None:
        """Process the amount that the controller has locked for a progressive claim.

        Report an award without an open claim, unless it is a late repeat.
        """
        entry = self._open_claims.get(message.claim)
        if entry is None:
            if message.claim in self._closed_claims:
                return  # a late repeat
            complaint = (
                f"{message.claim}: the controller awards {message.amount_cents}, "
                "but this machine has no claim of this name"
            )
            self._news.append(ControllerComplaint("award", complaint))
        else:
            self._news.append(AmountLocked(message.claim, message.amount_cents))
            if entry.is_unknown_to_controller:
                entry.is_unknown_to_controller, entry.sent_ns = False, None
                self._send_due_claim(message.claim, now_ns)

    # ------------------------------------------------------------------ refusals
    def _handle_refusal(self, message: Refused, now_ns: int) -> None:
        """Pass the progressive controller's refusal to the handler of the kind of message that it refuses."""
        handlers: Mapping[str, Callable[[Refused, int], None]] = {
            "join": self._handle_refused_join,
            "contribution": self._handle_refused_contribution,
            "claim": self._handle_refused_claim,
            "commit": self._handle_refused_claim,
        }
        handlers[message.of](message, now_ns)

    def _handle_refused_join(self, message: Refused, _: int) -> None:
        """Stop feeding the progressive level whose enrolment was refused, or all levels if the refusal names none."""
        concerned_feeders = (
            [self.feeders[message.level]] if message.level in self.feeders else self.feeders.values()
        )
        if message.nonce == self._nonce:
            for feeder in concerned_feeders:
                self._stop_feeding(feeder, message.reason, message.detail)

    def _handle_refused_contribution(self, message: Refused, now_ns: int) -> None:
        """React to a refused progressive contribution: resend from the gap, enrol again, or stop feeding the level."""
        feeder = self.feeders.get(message.level)
        if feeder is None:
            return
        if message.reason is RefusalReason.GAP and message.next > feeder.last_counted:
            feeder.process_count(message.next - 1, now_ns)
            feeder.last_sent = feeder.last_counted
            self._send_contributions(feeder, now_ns)
        elif message.reason is RefusalReason.GAP:
            self._send_enrolment_again(feeder, now_ns)  # a late message, or it has less than it reported
        elif message.reason is RefusalReason.NOT_JOINED:
            self._enrol_from_start(feeder, now_ns)
        else:
            self._stop_feeding(feeder, message.reason, f"contribution {message.sequence}: {message.detail}")

    def _handle_refused_claim(self, message: Refused, now_ns: int) -> None:
        """React to a refused progressive claim: enrol or claim again, wait, or report the refusal."""
        entry = self._open_claims.get(message.claim)
        if entry is None:
            return
        feeder = self.feeders.get(entry.claim.level)
        if message.reason is RefusalReason.NOT_JOINED and feeder is not None:
            entry.sent_ns = None
            self._enrol_from_start(feeder, now_ns)
        elif (
            message.of == "commit"
            and message.reason is RefusalReason.UNKNOWN_CLAIM
            and not entry.is_unknown_to_controller
        ):
            entry.is_unknown_to_controller, entry.sent_ns = True, None
            self._send_due_claim(message.claim, now_ns)
        elif message.reason is RefusalReason.CLAIM_EARLY or (
            entry.is_held and message.reason is RefusalReason.CLAIM_HELD
        ):
            return
        else:
            entry.is_held = message.reason is RefusalReason.CLAIM_HELD
            self._news.append(
                ControllerComplaint(
                    f"refused.{message.reason}", f"{message.of} {message.claim}: {message.detail}"
                )
            )

    def _send_enrolment_again(self, feeder: LinkedLevelFeeder, now_ns: int) -> None:
        """Send the enrolment in a progressive level again over the same connection, at most once per retry time.

        The controller replies with its count, and learns the amount that this machine showed last.
        """
        if (
            self._connected
            and now_ns - self._enrolment_sent_ns.get(feeder.pool.id, -CONTRIBUTION_RETRY_NS)
            >= CONTRIBUTION_RETRY_NS
        ):
            self._enrolment_sent_ns[feeder.pool.id] = now_ns
            levels = (feeder.level_enrolment,)
            self._outgoing_messages.append(Join(machine=self._machine, nonce=self._nonce, levels=levels))

    def _enrol_from_start(self, feeder: LinkedLevelFeeder, now_ns: int) -> None:
        """Enrol in a progressive level again from the start, because the controller no longer knows this machine."""
        if feeder.is_enrolled:
            feeder.is_enrolled = False
            feeder.last_sent = feeder.last_counted
            self._enrolment_sent_ns.pop(feeder.pool.id, None)
            self._send_enrolments(now_ns)
