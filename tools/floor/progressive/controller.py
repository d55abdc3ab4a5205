"""The controller of progressive levels: the messages that it processes, its replies, and its state.

It does no input or output: :meth:`Controller.process_messages` receives messages with senders that the transport has
verified, stores everything durably, and returns the replies. A repeated message is recognised by its sequence
number or id, has no second effect, and gets the same reply.
"""

import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction

from egm.config.serials import check_serial
from egm.errors import LocalError, OperatorError
from egm.progressive.definition import LevelDefinition
from egm.progressive.messages import (
    DETAIL_CHARACTERS_MAX,
    Award,
    Claim,
    ClaimClosure,
    Contribution,
    ContributionCount,
    ControllerMessage,
    EnrolmentAccepted,
    EnrolmentRequest,
    LevelEnrolment,
    LevelValue,
    LevelWin,
    MachineMessage,
    PaymentReport,
    Refusal,
    RefusalReason,
)
from egm.verify.examine import VerificationFindings
from tools.floor.progressive import held_messages
from tools.floor.progressive.level_bookkeeping import LevelBookkeeping
from tools.floor.progressive.mystery import MYSTERY_CLAIM_PREFIX, MysteryPrizes, verify_prizes
from tools.floor.progressive.mystery_secrets import MysterySecrets
from tools.floor.progressive.records import ClaimRecord, LevelRecord, build_hit_rate_by_share
from tools.floor.progressive.store import DailyAmount, Session, Store

#: Values carry the term above this bit, so that they keep rising when another controller takes over.
_CONTROLLER_TERM_SHIFT_BITS = 40
#: How long signs show who has won a level.
_WIN_DISPLAY_TIME = timedelta(minutes=1)
#: The longest exact hit rate that the text of a refusal contains, in characters.
_EXACT_HIT_RATE_LENGTH_MAX = 40


class ControllerError(OperatorError):
    """An operator's request to the controller is not possible; the text names the request and the reason."""


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """A message received by the controller, with its sender, whose identity the transport has verified."""

    sender: str
    message: MachineMessage


class Controller:
    """The controller of the progressive levels of one store; ``now`` returns the controller's own time."""

    def __init__(
        self,
        store: Store,
        now: Callable[[], datetime],
        mystery_secrets: MysterySecrets | None = None,
        *,
        run: str | None = None,
    ) -> None:
        """Create a controller.

        ``mystery_secrets`` draws and encrypts the secrets of mystery levels; only these levels need it. ``run``
        identifies this run of the controller in every value it sends; by default it is random.
        """
        self._run = secrets.token_hex(8) if run is None else run
        self._store = store
        self._now = now
        self._mystery_prizes = MysteryPrizes(mystery_secrets, getattr(store, "term", 0))
        self._bookkeeping = LevelBookkeeping(self._mystery_prizes, self._format_time)
        self._value_count = 0
        self._missing_number_by_level: dict[tuple[str, str], int] = {}
        """The number of the contribution that was last missing, by (machine, level); used to record each gap once."""
        self._closed_level_ids: set[str] = set()
        """The ids of closed levels, which need not be read again because they never reopen."""
        self.held_count = 0
        """The number of claims and payments that wait for a ruling, as of the last call of :meth:`update_values`."""
        self.wins: tuple[LevelWin, ...] = ()
        """The recent wins that signs display, as of the last call of :meth:`update_values` (I-09)."""

    # ------------------------------------------------------------------ messages of machines
    def process_messages(self, received_messages: Iterable[ReceivedMessage]) -> list[ControllerMessage]:
        """Process messages in order, in one transaction if possible; return the replies.

        If processing one message raises an error, this is recorded and that message has no effect; all others
        take effect. Raises DeposedError if another controller has taken over, StoreLostError if the store is
        gone, LevelDefectiveError if a level's record does not add up, and OperatorError if the secrets of the
        mystery levels cannot be decrypted with the key. Then the transaction stores nothing, and the
        controller must stop (I-07).
        """
        messages = tuple(received_messages)
        missing_number_by_level = dict(self._missing_number_by_level)
        try:
            return self._process_together(messages)
        except (LocalError, OperatorError):  # a fault of the store, a level or the key itself
            raise
        except Exception as error:  # noqa: BLE001 (no message may stop the service of the levels)
            self._missing_number_by_level = missing_number_by_level
            if len(messages) == 1:
                self._record_dropped_message(messages[0], error)
                return []
        half_count = len(messages) // 2
        return self.process_messages(messages[:half_count]) + self.process_messages(messages[half_count:])

    def _process_together(self, messages: tuple[ReceivedMessage, ...]) -> list[ControllerMessage]:
        """Process the messages in one transaction, and return the replies."""
        with self._store.transaction() as session:
            for machine in sorted(
                {received.sender for received in messages if session.can_enrol(received.sender)}
            ):
                session.store_message_time(machine, self._format_time())
            return [reply for received in messages for reply in self._process_message(session, received)]

    def _record_dropped_message(self, received_message: ReceivedMessage, error: Exception) -> None:
        """Record that processing a message raised an error, so that the message has no effect."""
        reason = f"{type(error).__name__}: {error}"[:DETAIL_CHARACTERS_MAX]
        with self._store.transaction() as session:
            session.record_event(
                self._format_time(),
                "dropped",
                sender=received_message.sender,
                of=received_message.message.type,
                why=ascii(reason),
            )

    def _process_message(
        self, session: Session, received_message: ReceivedMessage
    ) -> list[ControllerMessage]:
        """Process one message of a machine and return the replies.

        A message that names another machine than its sender is recorded, and has no effect on levels.
        """
        message = received_message.message
        if received_message.sender != message.machine:
            session.record_event(
                self._format_time(),
                "forged",
                sender=received_message.sender,
                message=message.model_dump(mode="json", by_alias=True),
            )
            return []
        if not session.can_enrol(message.machine):
            return [
                self._refuse(
                    session,
                    message,
                    RefusalReason.UNKNOWN_MACHINE,
                    "the machine is not on this link's list of machines",
                )
            ]
        match message:
            case EnrolmentRequest():
                return [self._enrol_in_level(session, message, enrolment) for enrolment in message.levels]
            case Contribution():
                return [self._count_contribution(session, message)]
            case Claim():
                return [self._award_claim(session, message)]
            case PaymentReport():
                return [self._record_payment(session, message)]

    def record_invalid_message(self, sender: str, text: str) -> None:
        """Record data from a machine that is not a valid message; no money moves."""
        with self._store.transaction() as session:
            session.record_event(self._format_time(), "misunderstood", sender=sender, text=text)

    # ------------------------------------------------------------------ enrolment
    def _enrol_in_level(
        self, session: Session, request: EnrolmentRequest, enrolment: LevelEnrolment
    ) -> ControllerMessage:
        """Enrol a machine in a level, or return a refusal if its stake or hit rate differs from the level's (s.92).

        The enrolment in an unknown or closed level is refused too. If the machine knows a later state of the level than
        the store, the level is corrected.
        """
        record = session.read_level(enrolment.level_id)
        if record is None:
            return self._refuse_enrolment(
                session,
                request,
                enrolment,
                RefusalReason.UNKNOWN_LEVEL,
                "the controller has no level of this name",
            )
        if record.successor_id:
            reason = f"the level was closed, and {record.successor_id} has received what it held"
            return self._refuse_enrolment(session, request, enrolment, RefusalReason.LEVEL_CLOSED, reason)
        if enrolment.stake_cents != record.stake_cents:
            reason = (
                f"the stake is {enrolment.stake_cents}; expected "
                f"{record.stake_cents}, as at every machine of the level"
            )
            return self._refuse_enrolment(session, request, enrolment, RefusalReason.OTHER_STAKE, reason)
        if enrolment.hit_rate != record.hit_rate:
            reason = (
                f"the mean hits of a wager are {_format_hit_rate(enrolment.hit_rate)}; expected "
                f"{_format_hit_rate(record.hit_rate)}, as at every machine of the level"
            )
            return self._refuse_enrolment(session, request, enrolment, RefusalReason.OTHER_ODDS, reason)
        self._bookkeeping.correct_outdated_level(session, record, request.machine, enrolment)
        level_terms = record.level.terms
        last_counted_number = session.read_last_contribution_number(request.machine, enrolment.level_id)
        if last_counted_number is None:
            session.store_last_contribution_number(request.machine, enrolment.level_id, 0)
            session.record_event(
                self._format_time(), "enrolled", machine=request.machine, level=enrolment.level_id
            )
        return EnrolmentAccepted(
            machine=request.machine,
            nonce=request.nonce,
            level=enrolment.level_id,
            increment=level_terms.increment,
            base_cents=level_terms.base_cents,
            ceiling_cents=level_terms.ceiling_cents,
            mystery=level_terms.is_mystery,
            counted=last_counted_number or 0,
            won=self._mystery_prizes.list_won_prizes(session, request.machine, enrolment.level_id)
            if level_terms.is_mystery
            else (),
            shares=dict(record.hit_rate_by_share),
        )

    def _refuse_enrolment(
        self,
        session: Session,
        request: EnrolmentRequest,
        enrolment: LevelEnrolment,
        reason: RefusalReason,
        detail: str,
    ) -> ControllerMessage:
        """Record why a machine may not enrol in a level, and return the refusal."""
        refusal = Refusal(
            machine=request.machine,
            reason=reason,
            of="join",
            level=enrolment.level_id,
            nonce=request.nonce,
            detail=detail,
        )
        _record_refusal(session, self._format_time(), refusal)
        return refusal

    # ------------------------------------------------------------------ contributions
    def _count_contribution(self, session: Session, contribution: Contribution) -> ControllerMessage:
        """Record the contribution of one wager exactly once and in order, and return the reply."""
        record = session.read_level(contribution.level_id)
        last_counted_number = session.read_last_contribution_number(
            contribution.machine, contribution.level_id
        )
        if record is None:
            return self._refuse(
                session, contribution, RefusalReason.UNKNOWN_LEVEL, "the controller has no level of this name"
            )
        if last_counted_number is None:
            return self._refuse(
                session,
                contribution,
                RefusalReason.NOT_ENROLLED,
                "the machine has not enrolled in this level",
            )
        if contribution.number > last_counted_number + 1:
            return self._refuse(
                session,
                contribution,
                RefusalReason.CONTRIBUTIONS_MISSING,
                f"expected contribution {last_counted_number + 1} next",
                missing_number=last_counted_number + 1,
            )
        if contribution.number == last_counted_number + 1:
            due_wager_cents, due_amount = (
                record.stake_cents,
                record.stake_cents * record.level.terms.increment,
            )
        else:
            due_wager_cents, due_amount = session.find_contribution(
                contribution.machine, contribution.level_id, contribution.number
            ) or (0, Fraction(0))
        if (contribution.wager_cents, contribution.amount) != (due_wager_cents, due_amount):
            reason = (
                f"found {contribution.amount} of a wager of {contribution.wager_cents}; "
                f"expected {due_amount} of {due_wager_cents}"
            )
            return self._refuse(session, contribution, RefusalReason.WRONG_AMOUNT, reason)
        if contribution.number > last_counted_number:
            session.add_contribution(
                contribution, hidden_increment=contribution.wager_cents * record.level.terms.hidden_increment
            )
            session.store_last_contribution_number(
                contribution.machine, contribution.level_id, contribution.number
            )
            self._bookkeeping.add_contribution(session, record, contribution)
        is_mystery = record.level.terms.is_mystery
        return ContributionCount(
            machine=contribution.machine,
            level=contribution.level_id,
            sequence=max(last_counted_number, contribution.number),
            won=self._mystery_prizes.list_won_prizes(session, contribution.machine, contribution.level_id)
            if is_mystery
            else (),
        )

    # ------------------------------------------------------------------ hits
    def _award_claim(  # noqa: PLR0911 (one return for each reason)
        self, session: Session, claim: Claim
    ) -> ControllerMessage:
        """Award a hit and reset its level; a repeated claim gets the same reply."""
        recorded_hit = session.find_claim(claim.claim_id)
        if recorded_hit is not None:
            if (
                recorded_hit.machine,
                recorded_hit.level_id,
                recorded_hit.contribution_number,
                recorded_hit.won_share,
            ) != (
                claim.machine,
                claim.level_id,
                claim.contribution_number,
                str(claim.share or ""),
            ):
                return self._refuse(
                    session,
                    claim,
                    RefusalReason.CLAIM_DIFFERS,
                    "an earlier claim with this name was for another hit",
                )
            return _build_award(recorded_hit)
        record = session.read_level(claim.level_id)
        last_counted_number = session.read_last_contribution_number(claim.machine, claim.level_id)
        if record is None:
            return self._refuse(
                session, claim, RefusalReason.UNKNOWN_LEVEL, "the controller has no level of this name"
            )
        if last_counted_number is None:
            return self._refuse(
                session, claim, RefusalReason.NOT_ENROLLED, "the machine has not enrolled in this level"
            )
        if record.level.terms.is_mystery or claim.claim_id.startswith(MYSTERY_CLAIM_PREFIX):
            reason = "a machine cannot claim a mystery level, because the controller decides who wins it"
            return self._refuse(session, claim, RefusalReason.UNKNOWN_CLAIM, reason)
        if claim.share is not None and str(claim.share) not in record.hit_rate_by_share:
            reason = f"a part of {claim.share} was claimed, but no wager wins that part of this level"
            return self._refuse(session, claim, RefusalReason.OTHER_ODDS, reason)
        if claim.contribution_number < 1:
            return self._refuse(
                session,
                claim,
                RefusalReason.CLAIM_WITHOUT_WAGER,
                "the claim must name the contribution that won, from 1",
            )
        if last_counted_number < claim.contribution_number:
            reason = f"contribution {claim.contribution_number} is not counted yet"
            return self._refuse(
                session,
                claim,
                RefusalReason.CLAIM_BEFORE_CONTRIBUTION,
                reason,
                missing_number=last_counted_number + 1,
            )
        return self._hold_improbable_claim(session, record, claim) or _build_award(
            self._bookkeeping.pay_hit(session, record, claim)
        )

    def _hold_improbable_claim(
        self, session: Session, record: LevelRecord, claim: Claim
    ) -> ControllerMessage | None:
        """Hold a claim if the machine has hit the level more often than chance explains; return the refusal.

        Return None if the claim may be awarded. A held claim is recorded once; until staff have ruled on it,
        a repeat gets the same reply.
        """
        held_message = session.find_held_message(claim.claim_id)
        if held_message is None:
            hold_reason = held_messages.find_reason_to_hold_claim(session, record, claim)
            if not hold_reason:
                return None
            refusal = self._refuse(session, claim, RefusalReason.CLAIM_HELD, hold_reason)
            held_messages.hold_message(session, claim.claim_id, claim, hold_reason, self._format_time())
            return refusal
        if Claim.model_validate(held_message.message) != claim:
            return self._refuse(
                session,
                claim,
                RefusalReason.CLAIM_DIFFERS,
                "an earlier claim with this name was for another hit",
            )
        if held_message.ruling == held_messages.RULING_AWARD:
            return None
        reason = RefusalReason.CLAIM_DECLINED if held_message.ruling else RefusalReason.CLAIM_HELD
        return self._refuse(session, claim, reason, held_message.reason or held_message.hold_reason)

    def rule_on_held_message(self, claim_id: str, ruling: str, persons: tuple[str, ...], reason: str) -> None:
        """Store two persons' ruling on a held claim or payment.

        If a payment is awarded, the level is corrected by its difference from the award. See
        :func:`tools.floor.progressive.held_messages.rule_on_held_message`.
        """
        with self._store.transaction() as session:
            ruled_message = held_messages.rule_on_held_message(
                session, claim_id, ruling, persons, reason, self._format_time()
            )
            hit = session.find_claim(str(ruled_message.message["claim"]))
            if (
                ruled_message.message["type"] == "commit"
                and ruling == held_messages.RULING_AWARD
                and hit is not None
            ):
                self._bookkeeping.adjust_to_payment(session, hit)

    def _record_payment(self, session: Session, report: PaymentReport) -> ControllerMessage:
        """Record how a machine paid a hit, and return the reply; the award of a void game returns to the level.

        If the payment differs from the award and is plausible, the level bears it; otherwise it is held for a
        ruling.
        """
        hit = session.find_claim(report.claim_id)
        if hit is None or (hit.machine, hit.level_id) != (report.machine, report.level_id):
            return self._refuse(
                session,
                report,
                RefusalReason.UNKNOWN_CLAIM,
                "the controller has no hit of this machine by this claim",
            )
        paid_cents = report.amount_cents
        if report.payment_method == "void":  # a void game returns at most its award to the level
            paid_cents = min(paid_cents, hit.amount_cents)
        if hit.closed_at:
            if (hit.paid_cents, hit.payment_method) != (paid_cents, report.payment_method):
                session.record_event(
                    self._format_time(), "commit_differs", claim=hit.claim_id, reported=report.amount_cents
                )
            return ClaimClosure(machine=report.machine, claim=report.claim_id)
        paid_hit = replace(
            hit, paid_cents=paid_cents, payment_method=report.payment_method, closed_at=self._format_time()
        )
        session.put_claim(paid_hit)
        if report.payment_method == "void":
            self._bookkeeping.return_award(session, hit)
        elif paid_cents != hit.amount_cents:
            self._adjust_to_other_payment(session, paid_hit, report)
        return ClaimClosure(machine=report.machine, claim=report.claim_id)

    def _adjust_to_other_payment(self, session: Session, hit: ClaimRecord, report: PaymentReport) -> None:
        """Let the level bear a payment that differs from the award; if it is implausible, hold it for a ruling."""
        record = session.read_level(hit.level_id)
        reason = "" if record is None else held_messages.find_payment_error(record, hit, report.amount_cents)
        if not reason:
            self._bookkeeping.adjust_to_payment(session, hit)
            return
        held_messages.hold_message(
            session, held_messages.format_payment_id(hit.claim_id), report, reason, self._format_time()
        )
        amounts = {"award_cents": hit.amount_cents, "paid_cents": report.amount_cents}
        session.record_event(
            self._format_time(), "payment_held", claim=hit.claim_id, machine=hit.machine, **amounts
        )

    # ------------------------------------------------------------------ refusals
    def _refuse(
        self,
        session: Session,
        message: MachineMessage,
        reason: RefusalReason,
        detail: str,
        missing_number: int = 0,
    ) -> ControllerMessage:
        """Return the refusal of a machine's message, and record it as an event.

        If contributions are missing before the message, ``missing_number`` is the number of the first missing one;
        such a gap is recorded once, and so is a held claim. A declined claim is not recorded, and neither is a claim
        that arrives before its wager's contribution, because the machine then sends both in the right order.
        """
        level_id = getattr(message, "level_id", "")
        is_recording_skipped = reason in {
            RefusalReason.CLAIM_BEFORE_CONTRIBUTION,
            RefusalReason.CLAIM_DECLINED,
        } or (
            reason is RefusalReason.CLAIM_HELD
            and session.find_held_message(getattr(message, "claim_id", "")) is not None
        )
        if reason is RefusalReason.CONTRIBUTIONS_MISSING:
            is_recording_skipped = (
                self._missing_number_by_level.get((message.machine, level_id)) == missing_number
            )
            self._missing_number_by_level[message.machine, level_id] = missing_number
        refusal = Refusal(
            machine=message.machine,
            reason=reason,
            of=message.type,
            level=level_id,
            claim=getattr(message, "claim_id", ""),
            nonce=getattr(message, "nonce", ""),
            sequence=getattr(message, "number", 0),
            next=missing_number,
            detail=detail,
        )
        if not is_recording_skipped:
            _record_refusal(session, self._format_time(), refusal)
        return refusal

    # ------------------------------------------------------------------ values and wins
    def update_values(self) -> list[LevelValue]:
        """Return a new value message for every open level; store each amount as the last one displayed today (I-16).

        Also update ``held_count`` and ``wins``.
        """
        now = self._now()
        with self._store.transaction() as session:
            self.held_count = session.count_held_without_ruling()
            level_records = session.read_levels(excluded=self._closed_level_ids)
            records = [record for record in level_records if not record.successor_id]
            self._closed_level_ids.update(record.id for record in level_records if record.successor_id)
            for record in records:
                day = now.date().isoformat()
                session.put_daily_amount(day, record.id, now.isoformat(), record.level.shown_cents)
            self.wins = tuple(self._iter_recent_wins(session, records, now))
            return [self._build_value(session, record, now) for record in records]

    @staticmethod
    def _iter_recent_wins(
        session: Session, records: Iterable[LevelRecord], now: datetime
    ) -> Iterator[LevelWin]:
        """Yield the last hit of each level if it is recent enough for signs to show; omit hits of void games."""
        for record in records:
            hit = session.find_claim(record.last_claim_id) if record.last_claim_id else None
            if (
                hit is None
                or hit.payment_method == "void"
                or now - datetime.fromisoformat(hit.awarded_at) >= _WIN_DISPLAY_TIME
            ):
                continue
            yield LevelWin(level=record.id, machine=hit.machine, amount_cents=hit.amount_cents)

    def _build_value(self, session: Session, record: LevelRecord, now: datetime) -> LevelValue:
        """Return the message that states a progressive level's current value."""
        self._value_count += 1
        prize = session.read_last_prize(record.id) if record.level.terms.is_mystery else None
        return LevelValue(
            level=record.id,
            sequence=(self._store.term << _CONTROLLER_TERM_SHIFT_BITS) + self._value_count,
            time_utc=now.isoformat(),
            run=self._run,
            amount_cents=record.level.shown_cents,
            falls=record.falls,
            fell_by=record.last_fall_cause,
            names=dict(record.names),
            prize=0 if prize is None else prize.number,
            commitment="" if prize is None else prize.commitment,
        )

    # ------------------------------------------------------------------ requests of the operator
    def open_levels(self, definitions: Iterable[LevelDefinition]) -> list[str]:
        """Open the levels of a level file that do not exist yet, and change existing ones; return the changes as text.

        A level that is already open keeps its amount. Its new name and maximum number of hits per wager take effect at
        once, its new terms once that amount is won (I-06). Its stake, hit rates and increment can never change, because
        machines already play for it with these values, and contributions that they have made may still be on their
        way.
        """
        changes = []
        with self._store.transaction() as session:
            for definition in definitions:
                record = session.read_level(definition.id)
                if record is None:
                    session.put_level(LevelRecord.open(definition))
                    session.record_event(
                        self._format_time(), "opened", level=definition.id, terms=definition.terms.to_json()
                    )
                    self._bookkeeping.open_prize(session, definition.id)
                    changes.append(f"{definition.id}: opened at {definition.terms.base_cents}")
                    continue
                changes += self._change_level(session, record, definition)
        return changes

    def _change_level(self, session: Session, record: LevelRecord, definition: LevelDefinition) -> list[str]:
        """Change a level to its new definition; return one line of text for each change.

        Raises ControllerError if a change is not allowed.
        """
        if record.successor_id:
            raise ControllerError(
                f"level {record.id}: it was closed; {record.successor_id} received what it held"
            )
        stake_and_hit_rate = definition.stake_and_hit_rate
        if definition.terms.is_mystery != record.level.terms.is_mystery:
            raise ControllerError(
                f"level {record.id}: whether machine or controller decides a hit cannot change: open another level"
            )
        new_stake_and_hit_rates = (
            stake_and_hit_rate.stake_cents,
            stake_and_hit_rate.hit_rate,
            build_hit_rate_by_share(definition),
        )
        if (record.stake_cents, record.hit_rate, dict(record.hit_rate_by_share)) != new_stake_and_hit_rates:
            raise ControllerError(
                f"level {record.id}: stake {record.stake_cents} and odds {record.hit_rate} cannot become "
                f"{stake_and_hit_rate.stake_cents} and {stake_and_hit_rate.hit_rate}: open another level"
            )
        pending_terms = record.level.next_terms or record.level.terms
        known_increments = (record.level.terms.increment, pending_terms.increment)
        if definition.terms.increment not in known_increments:
            raise ControllerError(
                f"level {record.id}: increment {known_increments[0]} cannot become {definition.terms.increment}: open "
                "another level, and close this one"
            )
        has_new_terms = pending_terms != definition.terms
        has_new_name_or_hits = (record.names, record.hits_per_wager_max) != (
            dict(definition.names),
            stake_and_hit_rate.hits_per_wager_max,
        )
        if not has_new_terms and not has_new_name_or_hits:
            return []
        changed_record = replace(
            record,
            names=dict(definition.names),
            level=record.level.change_terms(definition.terms),
            hits_per_wager_max=stake_and_hit_rate.hits_per_wager_max,
        )
        session.put_level(changed_record)
        session.record_event(
            self._format_time(), "changed", level=record.id, terms=definition.terms.to_json()
        )
        changes = [f"{record.id}: new terms after the next win"] if has_new_terms else []
        if has_new_name_or_hits:
            changes.append(f"{record.id}: new name or maximum number of hits")
        return changes

    def admit_machine(self, machine: str) -> None:
        """Allow a machine to enrol in the link's levels. Raises OperatorError for an invalid serial number."""
        check_serial(machine)
        with self._store.transaction() as session:
            session.add_machine(machine, self._format_time())
            session.record_event(self._format_time(), "admitted", machine=machine)

    def dismiss_machine(self, machine: str) -> None:
        """Remove a machine from those that may enrol in levels; its contributions stay in the levels (I-12)."""
        with self._store.transaction() as session:
            if not session.can_enrol(machine):
                raise ControllerError(f"machine {machine} is not on this link's list")
            session.remove_machine(machine)
            session.record_event(self._format_time(), "dismissed", machine=machine)

    def close_level(self, level_id: str, successor: str) -> Fraction:
        """Close a level and transfer its whole amount to ``successor`` (I-12, I-13); return the exact amount."""
        with self._store.transaction() as session:
            record, receiver = session.read_level(level_id), session.read_level(successor)
            if record is None or record.successor_id:
                raise ControllerError(f"there is no open level {level_id}")
            if receiver is None or receiver.successor_id or level_id == successor:
                raise ControllerError(
                    f"level {successor} cannot receive what {level_id} holds: expected another level that is open"
                )
            amount = self._bookkeeping.close_level(session, record, successor)
            session.record_event(
                self._format_time(), "given_up", level=level_id, successor=successor, amount=amount
            )
        return amount

    def renew_term(self) -> None:
        """Report to the store that this controller still works; raise DeposedError if another has taken over."""
        with self._store.transaction():
            pass

    @contextmanager
    def open_read_session(self) -> Iterator[Session]:
        """Yield a session of the store for reading the controller's records."""
        with self._store.transaction() as session:
            yield session

    def forget_sign(self, sign: str) -> None:
        """Remove a sign from the list of signs that must report to the controller."""
        with self._store.transaction() as session:
            if sign not in session.read_sign_texts():
                raise ControllerError(f"sign {sign} is not on the list of signs that must report")
            session.remove_sign(sign)
            session.record_event(self._format_time(), "sign_forgotten", sign=sign)

    def list_level_records(self) -> tuple[LevelRecord, ...]:
        """Return the current record of every level, closed ones included."""
        with self._store.transaction() as session:
            return session.read_levels()

    def read_win_register(self) -> tuple[ClaimRecord, ...]:
        """Return the win register: every hit claimed from the controller."""
        with self._store.transaction() as session:
            return session.read_win_register()

    def list_daily_amounts(self) -> tuple[DailyAmount, ...]:
        """Return the last amount that each level displayed on each day."""
        with self._store.transaction() as session:
            return session.list_daily_amounts()

    def record_software_check(self, software: VerificationFindings | None) -> None:
        """Record the result of the software check at start: as signed, altered, or None for not checked (I-08).

        Raises :class:`ControllerError` naming the files that differ from the manifest.
        """
        with self._store.transaction() as session:
            if software is None:
                session.record_event(self._format_time(), "software_not_verified")
            elif software.matches_manifest:
                signature_details = {"version": software.version, "signer": software.signer}
                session.record_event(self._format_time(), "software_verified", **signature_details)
            else:
                session.record_event(
                    self._format_time(), "software_altered", trouble=list(software.differences)
                )
        if software is not None and not software.matches_manifest:
            raise ControllerError(
                f"the software differs from the signed software: {'; '.join(software.differences)}"
            )

    def verify_levels(self) -> None:
        """Verify that every level agrees exactly with the contribution ledger and the win register (I-08, I-14).

        Raises LevelDefectiveError or :class:`ControllerError` naming the level and the figures.
        """
        with self._store.transaction() as session:
            for record in session.read_levels():
                record.level.check_sums()
                _check_level_totals(session, record)
                if record.level.terms.is_mystery:
                    verify_prizes(session, record)

    def _format_time(self) -> str:
        """Return the controller's own time in the form in which records state times."""
        return self._now().isoformat()


def _format_hit_rate(hit_rate: Fraction) -> str:
    """Return how often, on average, one wager hits the level, as text; a very long fraction is rounded."""
    exact_text = str(hit_rate)
    return (
        exact_text
        if len(exact_text) <= _EXACT_HIT_RATE_LENGTH_MAX
        else f"about 1 in {float(1 / hit_rate):,.4f}"
    )


def _record_refusal(session: Session, time_text: str, refusal: Refusal) -> None:
    """Record the refusal of a machine's message as an event of the controller."""
    session.record_event(
        time_text,
        "refused",
        machine=refusal.machine,
        of=refusal.refused_type,
        level=refusal.level_id,
        reason=refusal.reason,
        why=refusal.detail,
    )


def _build_award(hit: ClaimRecord) -> Award:
    """Return the message that awards a hit to its machine."""
    return Award(
        machine=hit.machine,
        level=hit.level_id,
        claim=hit.claim_id,
        amount_cents=hit.amount_cents,
        order=hit.hit_number,
        at_utc=hit.awarded_at,
    )


def _check_level_totals(session: Session, record: LevelRecord) -> None:
    """Raise ControllerError unless a level's totals equal the sums of its contributions and registered hits."""
    hits = [
        hit
        for hit in session.read_win_register()
        if hit.level_id == record.id and hit.payment_method != "void"
    ]
    level = record.level
    paid_cents = sum(hit.amount_cents for hit in hits)
    if (level.paid_cents, level.hit_count) != (paid_cents, len(hits)):
        raise ControllerError(
            f"level {record.id}: {level.hit_count} hits paid {level.paid_cents}; the register has "
            f"{len(hits)} of {paid_cents}"
        )
    contributed_amount = session.sum_contributions(record.id)
    if level.contributed_amount != contributed_amount:
        raise ControllerError(
            f"level {record.id}: contributed {level.contributed_amount}, but the ledger has {contributed_amount}"
        )
