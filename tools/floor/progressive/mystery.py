"""The mystery prizes of a controller: a secret amount is drawn at each reset; the wager that reaches it wins.

Contributions are numbered in the order in which they are counted, so that anyone can later add them up and
verify which one reached the secret amount. All changes are made in the transaction that counts the contribution.
"""

from dataclasses import replace
from fractions import Fraction

from egm.errors import OperatorError
from egm.progressive.messages import MysteryPrizeMessage
from egm.progressive.trigger import MysteryTrigger, TriggerError
from tools.floor.progressive.mystery_secrets import MysterySecrets
from tools.floor.progressive.records import ClaimRecord, LevelRecord, PrizeRecord
from tools.floor.progressive.store import Session

#: The prefix of the claim ids of mystery prizes; no machine may use it in the id of another hit.
MYSTERY_CLAIM_PREFIX = "mystery."
#: How many hexadecimal digits of a prize's commitment the id of its claim contains.
_COMMITMENT_DIGITS_IN_CLAIM_ID = 12
#: The combination that the register states for a mystery prize.
MYSTERY_COMBINATION = "mystery"


class MysteryError(OperatorError):
    """A mystery prize cannot be drawn, or its record does not add up; the text names the level and the figures."""


class MysteryPrizes:
    """The mystery prizes in a controller's store; ``term`` is the number of the controller's term (takeover)."""

    def __init__(self, mystery_secrets: MysterySecrets | None, term: int) -> None:
        self._secrets = mystery_secrets
        self._term = term
        self._trigger_by_level_id: dict[str, MysteryTrigger] = {}
        """The decrypted secret of each level's current prize, a cache."""

    def open_prize(self, session: Session, record: LevelRecord, time_text: str) -> None:
        """Draw the secret of a level's next mystery prize, and store it encrypted.

        The secret amount is above the level's current amount and at most at its ceiling.
        """
        if self._secrets is None:
            raise MysteryError(f"level {record.id}: a mystery level needs the key of the controllers' folder")
        last_prize = session.read_last_prize(record.id)
        level = record.level
        number = 1 if last_prize is None else last_prize.number + 1
        trigger = self._secrets.draw(
            lambda step: MysteryTrigger.draw(
                record.id, number, level.current_amount, level.terms, record.stake_cents, step
            ),
            self._term,
        )
        session.put_prize(
            PrizeRecord(
                level_id=record.id,
                number=number,
                commitment=trigger.commitment,
                encrypted_secret=self._secrets.encrypt(trigger),
                opened_at=time_text,
                start_amount=level.current_amount,
                contribution_count_before=session.count_numbered_contributions(record.id),
            )
        )
        session.record_event(
            time_text, "sealed", level=record.id, prize=number, commitment=trigger.commitment
        )

    def assign_contribution_number(
        self, session: Session, record: LevelRecord, machine: str, contribution_number: int
    ) -> PrizeRecord | None:
        """Store a contribution under the next number of its mystery level.

        Return the prize if this contribution wins it, else None.
        """
        session.assign_contribution_number(record.id, machine, contribution_number)
        prize = session.read_last_prize(record.id)
        if prize is None:
            raise MysteryError(f"level {record.id}: the store has no secret prize of this mystery level")
        return prize if record.level.current_amount >= self._decrypt_secret(prize).trigger_amount else None

    def store_win(self, session: Session, prize: PrizeRecord, claim: ClaimRecord) -> None:
        """Store the winning claim of a mystery prize, and disclose its secret."""
        trigger = self._decrypt_secret(prize)
        session.put_prize(
            replace(
                prize,
                claim_id=claim.claim_id,
                contribution_count_at_end=session.count_numbered_contributions(prize.level_id),
                trigger=trigger.to_json(),
            )
        )

    def add_outside_amount(self, session: Session, level_id: str, amount: Fraction) -> None:
        """Record an amount that a mystery level received other than by wagers; no contribution contains it."""
        prize = session.read_last_prize(level_id)
        if prize is not None:
            session.put_prize(replace(prize, added_amount=prize.added_amount + amount))

    def close_prize(self, session: Session, level_id: str) -> None:
        """Disclose the secret of a closed level's last mystery prize, which was not won."""
        prize = session.read_last_prize(level_id)
        if prize is not None:
            trigger = self._decrypt_secret(prize)
            contribution_count = session.count_numbered_contributions(level_id)
            session.put_prize(
                replace(prize, contribution_count_at_end=contribution_count, trigger=trigger.to_json())
            )

    def list_won_prizes(
        self, session: Session, machine: str, level_id: str
    ) -> tuple[MysteryPrizeMessage, ...]:
        """Return the prizes of a level that a machine has won and whose payment it has not reported yet."""
        return tuple(
            MysteryPrizeMessage(
                claim=hit.claim_id,
                sequence=hit.contribution_number,
                amount_cents=hit.amount_cents,
                order=hit.hit_number,
                at_utc=hit.awarded_at,
                trigger=MysteryTrigger.from_json(session.find_prize_of_claim(hit.claim_id).trigger),
            )
            for hit in session.list_open_claims(machine, level_id)
            if hit.claim_id.startswith(MYSTERY_CLAIM_PREFIX)
        )

    def _decrypt_secret(self, prize: PrizeRecord) -> MysteryTrigger:
        """Return the secret of a mystery prize, decrypted and checked against its commitment."""
        trigger = self._trigger_by_level_id.get(prize.level_id)
        if trigger is None or trigger.commitment != prize.commitment:
            if self._secrets is None:
                raise MysteryError(
                    f"level {prize.level_id}: a mystery level needs the key of the controllers"
                )
            trigger = self._trigger_by_level_id[prize.level_id] = self._secrets.decrypt(
                prize.encrypted_secret, prize.commitment
            )
        return trigger


def format_claim_id(prize: PrizeRecord) -> str:
    """Return the id of the claim for a mystery prize.

    It contains the beginning of the commitment: a controller whose store was restored from an older copy draws prizes
    of the same numbers again, and a machine must not take another prize for one that it has paid.
    """
    commitment = prize.commitment[:_COMMITMENT_DIGITS_IN_CLAIM_ID]
    return f"{MYSTERY_CLAIM_PREFIX}{prize.level_id}.{prize.number}.{commitment}"


def verify_prizes(session: Session, record: LevelRecord) -> None:
    """Verify every prize of a mystery level from the numbered contributions and the commitments.

    Each secret must match its commitment. The winning contribution must have reached the secret amount, as the first
    one unless the level also received other amounts, and come from the machine in the register. An open level must
    equal the sum of its contributions and these other amounts.
    Raises :class:`MysteryError` with the figures.
    """
    terms, prizes = record.level.terms, session.read_prizes(record.id)
    for prize in prizes:
        _check_prize(session, prize)
    if record.successor_id:
        return
    last_prize = prizes[-1] if prizes else None
    if last_prize is None or last_prize.trigger is not None:
        raise MysteryError(f"level {record.id}: the store has no open prize of this mystery level")
    contribution_count = (
        session.count_numbered_contributions(record.id) - last_prize.contribution_count_before
    )
    expected_amount = (
        last_prize.start_amount
        + last_prize.added_amount
        + contribution_count * record.stake_cents * terms.increment
    )
    if terms.ceiling_cents is not None and record.level.current_amount != min(
        expected_amount, terms.ceiling_cents
    ):
        raise MysteryError(
            f"level {record.id}: expected {expected_amount} after {contribution_count} contributions, "
            f"but the level shows {record.level.current_amount}"
        )


def _check_prize(session: Session, prize: PrizeRecord) -> None:
    """Check a mystery prize's disclosed secret against its commitment and the recorded hit. Raises MysteryError."""
    prize_name = f"level {prize.level_id}, prize {prize.number}"
    if prize.trigger is None:
        return
    try:
        trigger = MysteryTrigger.from_json(prize.trigger)
    except TriggerError as error:
        raise MysteryError(f"{prize_name}: {error}") from None
    disclosed_values = (trigger.commitment, trigger.level_id, trigger.prize_number, trigger.start_amount)
    if disclosed_values != (prize.commitment, prize.level_id, prize.number, prize.start_amount):
        raise MysteryError(f"{prize_name}: its secret does not match the commitment")
    if not prize.claim_id:
        return
    contribution_count = prize.contribution_count_at_end - prize.contribution_count_before
    reached_amount = prize.start_amount + prize.added_amount + contribution_count * trigger.step_amount
    was_reached_earlier = (
        not prize.added_amount
        and contribution_count > 1
        and reached_amount - trigger.step_amount >= trigger.trigger_amount
    )
    if reached_amount < trigger.trigger_amount or was_reached_earlier:
        raise MysteryError(
            f"{prize_name}: contribution {contribution_count} is not the first that reached {trigger.trigger_amount}"
        )
    hit = session.find_claim(prize.claim_id)
    if hit is None or session.find_numbered_contribution(prize.level_id, prize.contribution_count_at_end) != (
        hit.machine,
        hit.contribution_number,
    ):
        raise MysteryError(
            f"{prize_name}: contribution {contribution_count} was not made by the machine that is"
            f" recorded as the winner"
        )
