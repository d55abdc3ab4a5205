"""The money movements of a controller's levels: contributions, hits, returned and transferred amounts.

Each is stored in the same transaction as the message that causes it.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from egm.errors import OperatorError
from egm.progressive.level import WHOLE_LEVEL_SHARE
from egm.progressive.messages import (
    UNREPORTED_FALLS_MAX,
    Claim,
    Contribution,
    LevelEnrolment,
    find_fall_error,
)
from tools.floor.progressive.mystery import MYSTERY_COMBINATION, MysteryPrizes, format_claim_id
from tools.floor.progressive.records import ClaimRecord, LevelRecord
from tools.floor.progressive.store import Session


class LevelBookkeepingError(OperatorError):
    """An amount cannot be added to any progressive level; the text names the level and the amount."""


class LevelBookkeeping:
    """Books the money movements of a progressive controller's levels in its store.

    ``format_time`` returns the current time as text.
    """

    def __init__(self, mystery_prizes: MysteryPrizes, format_time: Callable[[], str]) -> None:
        self._mystery_prizes = mystery_prizes
        self._format_time = format_time

    def add_contribution(self, session: Session, record: LevelRecord, contribution: Contribution) -> None:
        """Add the contribution of a wager to its level; if the level is closed, to its successor."""
        level = record.level.add_contribution(contribution.wager_cents)
        if not record.successor_id:
            self._store_level_after_contribution(session, replace(record, level=level), contribution)
            return
        amount, emptied_level = level.release_whole_amount()
        session.put_level(replace(record, level=emptied_level))
        self.add_moved_amount(session, record.successor_id, amount)

    def _store_level_after_contribution(
        self, session: Session, record: LevelRecord, contribution: Contribution
    ) -> None:
        """Store a level after a contribution; if this reaches a mystery level's secret amount, record the win."""
        session.put_level(record)
        if not record.level.terms.is_mystery:
            return
        prize = self._mystery_prizes.assign_contribution_number(
            session, record, contribution.machine, contribution.number
        )
        if prize is None:
            return
        hit = self.pay_hit(
            session,
            record,
            Claim(
                machine=contribution.machine,
                level=contribution.level_id,
                claim=format_claim_id(prize),
                after=contribution.number,
                shown_cents=record.level.shown_cents,
                combination=MYSTERY_COMBINATION,
            ),
        )
        self._mystery_prizes.store_win(session, prize, hit)
        self.open_prize(session, record.id)

    def pay_hit(self, session: Session, record: LevelRecord, claim: Claim) -> ClaimRecord:
        """Pay a hit from its progressive level, reset the level, and store and return the hit's record."""
        amount_cents, reset_record = self._take_hit_amount(session, record, claim.share or WHOLE_LEVEL_SHARE)
        hit = ClaimRecord(
            claim_id=claim.claim_id,
            machine=claim.machine,
            level_id=claim.level_id,
            contribution_number=claim.contribution_number,
            shown_cents=claim.shown_cents,
            combination=claim.combination,
            hit_at=claim.at_utc,
            amount_cents=amount_cents,
            hit_number=session.count_hits(claim.level_id) + 1,
            awarded_at=self._format_time(),
            won_share=str(claim.share or ""),
        )
        session.put_claim(hit)
        session.put_level(replace(reset_record, last_claim_id=hit.claim_id))
        return hit

    def _take_hit_amount(
        self, session: Session, record: LevelRecord, share: Fraction
    ) -> tuple[int, LevelRecord]:
        """Return the amount in minor units that a hit pays, and the level's record after the hit.

        ``share`` is the part of the level that was hit. A hit of a closed level is still owed if it happened
        before the closing; the operator pays it. The first such hit gets the amount that the level showed
        when it closed, later hits get what remains of that amount, or the base amount if nothing remains.
        """
        if not record.successor_id:
            amount_cents, reset_level = record.level.pay_hit(share)
            return amount_cents, replace(
                record, level=reset_level, falls=record.falls + 1, last_fall_cause="win"
            )
        amount_cents = int((record.closing_cents or record.level.terms.base_cents) * share)
        session.record_event(self._format_time(), "late_hit", level=record.id, amount_cents=amount_cents)
        level = record.level
        level_after_hit = replace(
            level,
            seeded_cents=level.seeded_cents + amount_cents,
            paid_cents=level.paid_cents + amount_cents,
            hit_count=level.hit_count + 1,
        )
        remaining_cents = max(0, record.closing_cents - amount_cents)
        return amount_cents, replace(record, level=level_after_hit, closing_cents=remaining_cents)

    def return_award(self, session: Session, hit: ClaimRecord) -> None:
        """Return the award of a void game's hit to its progressive level."""
        record = session.read_level(hit.level_id)
        if record is None:
            raise LevelBookkeepingError(
                f"level {hit.level_id}: a hit is recorded, but the level itself is missing from the store"
            )
        session.record_event(
            self._format_time(), "given_back", claim=hit.claim_id, amount_cents=hit.amount_cents
        )
        level = record.level.return_award(hit.amount_cents)
        if not record.successor_id:
            session.put_level(replace(record, level=level))
            self._record_outside_amount(session, record, Fraction(hit.amount_cents))
            return
        amount, emptied_level = level.release_whole_amount()
        session.put_level(replace(record, level=emptied_level))
        self.add_moved_amount(session, record.successor_id, amount)

    def adjust_to_payment(self, session: Session, hit: ClaimRecord) -> None:
        """Correct a level by the difference between what a machine paid for a hit and what was awarded.

        An attendant may have paid the shown amount before the award arrived. Or, after a restore of an older
        store, machines may have sent their hits again in another order. For a mystery level, only an event is
        recorded.
        """
        record, paid_cents = session.read_level(hit.level_id), hit.paid_cents
        if record is None or paid_cents is None:
            raise LevelBookkeepingError(
                f"level {hit.level_id}: a hit is recorded, but the level itself is missing from the store"
            )
        amounts = {"award_cents": hit.amount_cents, "paid_cents": paid_cents}
        session.record_event(self._format_time(), "paid_otherwise", claim=hit.claim_id, **amounts)
        if record.level.terms.is_mystery:
            return
        difference_cents, level = paid_cents - hit.amount_cents, record.level
        session.put_claim(replace(hit, amount_cents=paid_cents))
        if not record.successor_id:
            session.put_level(
                _record_fall(
                    replace(record, level=level.correct_paid_hit(difference_cents)), level.shown_cents
                )
            )
        elif difference_cents > 0:  # a closed level holds nothing: the operator pays, as for a late hit
            level_after_payment = replace(
                level,
                seeded_cents=level.seeded_cents + difference_cents,
                paid_cents=level.paid_cents + difference_cents,
            )
            session.put_level(replace(record, level=level_after_payment))
        else:
            amount, emptied_level = level.correct_paid_hit(difference_cents).release_whole_amount()
            session.put_level(replace(record, level=emptied_level))
            self.add_moved_amount(session, record.successor_id, amount)

    def correct_outdated_level(
        self, session: Session, record: LevelRecord, machine: str, enrolment: LevelEnrolment
    ) -> None:
        """Record a correction if a machine knows a later state of a level than this store has.

        This only happens after the store was restored from an older copy. ``enrolment`` has the amount and
        the number of falls (recorded decreases) that the machine knows. The correction counts as a fall,
        because a machine does not show a lower amount without one. If the machine knows implausibly many falls
        more than the store, only the event is recorded.
        """
        fall_error = find_fall_error(
            record.level.shown_cents, record.falls, enrolment.shown_cents, enrolment.fall_count
        )
        if not fall_error:
            return
        session.record_event(
            self._format_time(), "went_back", machine=machine, level=record.id, why=fall_error
        )
        if enrolment.fall_count - record.falls <= UNREPORTED_FALLS_MAX:
            session.put_level(replace(record, falls=enrolment.fall_count + 1, last_fall_cause="correction"))

    def add_moved_amount(self, session: Session, level_id: str, amount: Fraction) -> None:
        """Add an amount from another level to this level; if it is closed, to the last of its successors."""
        receiver = session.read_level(level_id)
        while receiver is not None and receiver.successor_id:
            receiver = session.read_level(receiver.successor_id)
        if receiver is None:
            raise LevelBookkeepingError(
                f"level {level_id}: no open level follows it that can receive {amount} minor units"
            )
        session.put_level(replace(receiver, level=receiver.level.add_received_amount(amount)))
        self._record_outside_amount(session, receiver, amount)

    def _record_outside_amount(self, session: Session, record: LevelRecord, amount: Fraction) -> None:
        """Record that a mystery level received an amount other than by wagers, in the record of its current prize.

        For any other level, do nothing.
        """
        if record.level.terms.is_mystery:
            self._mystery_prizes.add_outside_amount(session, record.id, amount)

    def open_prize(self, session: Session, level_id: str) -> None:
        """Draw the next prize of a mystery level; do nothing for any other level."""
        record = session.read_level(level_id)
        if record is not None and record.level.terms.is_mystery:
            self._mystery_prizes.open_prize(session, record, self._format_time())

    def close_level(self, session: Session, record: LevelRecord, successor: str) -> Fraction:
        """Close a progressive level and transfer its whole amount to ``successor``; return the exact amount moved."""
        if record.level.terms.is_mystery:
            self._mystery_prizes.close_prize(session, record.id)
        amount, emptied_level = record.level.release_whole_amount()
        session.put_level(
            replace(
                record,
                level=emptied_level,
                falls=record.falls + 1,
                last_fall_cause="correction",
                successor_id=successor,
                closing_cents=record.level.shown_cents,
            )
        )
        self.add_moved_amount(session, successor, amount)
        return amount


def _record_fall(record: LevelRecord, shown_cents: int) -> LevelRecord:
    """Return the level's record; if the level shows less than ``shown_cents``, count one more fall, by a correction."""
    if record.level.shown_cents >= shown_cents:
        return record
    return replace(record, falls=record.falls + 1, last_fall_cause="correction")
