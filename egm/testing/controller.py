"""A small progressive controller with the real level arithmetic, to test a machine's end of a link.

Its data is in memory and survives every disconnection, like a durable store.
"""

from collections import Counter
from fractions import Fraction

from egm.config.levels import LevelScope
from egm.progressive import messages
from egm.progressive.definition import LevelDefinition, LevelStakeAndHitRate
from egm.progressive.level import Level, LevelTerms
from egm.progressive.pools import LevelKeeper, ProgressivePool

#: The probability that a game wins the controller's level.
HIT_PROBABILITY = Fraction(1, 500)


def create_pool(
    level_id: str = "TOP", increment: Fraction = Fraction(1, 70), stake_cents: int = 50
) -> ProgressivePool:
    """Return the pool of a game's linked level, whose money the controller's level ``level_id`` holds.

    Bets of ``stake_cents`` contribute the share ``increment``.
    """
    terms = LevelTerms(base_cents=1500, increment=increment)
    return ProgressivePool(
        game_id="game",
        level_name="top",
        keeper=LevelKeeper.CONTROLLER,
        definition=LevelDefinition(
            id=level_id,
            names={"en": level_id, "fr": level_id},
            scope=LevelScope.LINKED,
            terms=terms,
            stake_and_hit_rate=LevelStakeAndHitRate(stake_cents=stake_cents, hit_rate=HIT_PROBABILITY),
        ),
    )


class SmallController:
    """Small progressive controller for tests.

    It holds its levels, every machine's contributions, and the awards that it locked for hits.
    """

    def __init__(self, *levels: str, terms: LevelTerms | None = None) -> None:
        default_terms = terms or LevelTerms(
            base_cents=1500, increment=Fraction(1, 70), hidden_increment=Fraction(1, 1000)
        )
        self.levels = {level_id: Level.open(default_terms) for level_id in levels or ("TOP",)}
        self.contribution_count_by_machine_and_level: Counter[tuple[str, str]] = Counter()
        self.enrolments: set[tuple[str, str]] = set()
        self.award_by_claim: dict[str, messages.Award] = {}
        self.payment_report_by_claim: dict[str, messages.PaymentReport] = {}
        self.hit_count_by_level = dict.fromkeys(self.levels, 0)
        self.value_sequence = 0
        self.refusals: list[messages.Refusal] = []

    def restart(self) -> None:
        """Restart the controller: enrolments are lost, levels and awards remain."""
        self.enrolments.clear()

    def update_values(self) -> list[messages.LevelValue]:
        """Return the displayed amount of every level, as messages that a controller publishes."""
        self.value_sequence += 1
        return [
            messages.LevelValue(
                level=name,
                sequence=self.value_sequence,
                time_utc="2026-01-01T00:00:00+00:00",
                amount_cents=level.shown_cents,
                falls=self.hit_count_by_level[name],
            )
            for name, level in self.levels.items()
        ]

    def process_message(self, message: messages.MachineMessage) -> list[messages.ControllerMessage]:
        """Process a machine's message; return the replies."""
        match message:
            case messages.EnrolmentRequest():
                return [self._enrol_at_level(message, enrolment) for enrolment in message.levels]
            case messages.Contribution():
                return [self._count_contribution(message)]
            case messages.Claim():
                return [self._handle_claim(message)]
            case messages.PaymentReport() if message.claim_id not in self.award_by_claim:
                unknown_claim = messages.RefusalReason.UNKNOWN_CLAIM
                return [
                    self._refuse(
                        message, unknown_claim, "commit", level=message.level_id, claim=message.claim_id
                    )
                ]
            case messages.PaymentReport():
                self.payment_report_by_claim.setdefault(message.claim_id, message)
                assert self.payment_report_by_claim[message.claim_id] == message
                return [messages.ClaimClosure(machine=message.machine, claim=message.claim_id)]

    def _enrol_at_level(
        self, message: messages.EnrolmentRequest, enrolment: messages.LevelEnrolment
    ) -> messages.ControllerMessage:
        """Enrol a machine at a level; return the level's terms and the contributions counted so far, or a refusal."""
        key = (message.machine, enrolment.level_id)
        if enrolment.level_id not in self.levels:
            return self._refuse(
                message,
                messages.RefusalReason.UNKNOWN_LEVEL,
                "join",
                level=enrolment.level_id,
                nonce=message.nonce,
            )
        if enrolment.hit_rate != HIT_PROBABILITY:
            return self._refuse(
                message,
                messages.RefusalReason.OTHER_ODDS,
                "join",
                level=enrolment.level_id,
                nonce=message.nonce,
            )
        self.enrolments.add(key)
        return messages.EnrolmentAccepted(
            machine=message.machine,
            nonce=message.nonce,
            level=enrolment.level_id,
            increment=self.levels[enrolment.level_id].terms.increment,
            base_cents=self.levels[enrolment.level_id].terms.base_cents,
            counted=self.contribution_count_by_machine_and_level.get(key, 0),
        )

    def _count_contribution(self, message: messages.Contribution) -> messages.ControllerMessage:
        """Add a machine's contribution to a level and return the acknowledgement. A repeated one is not added again."""
        key = (message.machine, message.level_id)
        counted_number = self.contribution_count_by_machine_and_level.get(key, 0)
        if key not in self.enrolments:
            return self._refuse(
                message, messages.RefusalReason.NOT_ENROLLED, "contribution", level=message.level_id
            )
        if message.number > counted_number + 1:
            return self._refuse(
                message,
                messages.RefusalReason.CONTRIBUTIONS_MISSING,
                "contribution",
                level=message.level_id,
                next=counted_number + 1,
            )
        if message.number == counted_number + 1:
            assert message.amount == message.wager_cents * self.levels[message.level_id].terms.increment
            self.levels[message.level_id] = self.levels[message.level_id].add_contribution(
                message.wager_cents
            )
            self.contribution_count_by_machine_and_level[key] = message.number
        return messages.ContributionCount(
            machine=message.machine,
            level=message.level_id,
            sequence=self.contribution_count_by_machine_and_level[key],
        )

    def _handle_claim(self, message: messages.Claim) -> messages.ControllerMessage:
        """Lock the award for a machine's hit, and return it, or a refusal; a repeated claim gets the same award."""
        key = (message.machine, message.level_id)
        if message.claim_id not in self.award_by_claim:
            if key not in self.enrolments:
                return self._refuse(
                    message,
                    messages.RefusalReason.NOT_ENROLLED,
                    "claim",
                    level=message.level_id,
                    claim=message.claim_id,
                )
            if self.contribution_count_by_machine_and_level.get(key, 0) < message.contribution_number:
                return self._refuse(
                    message,
                    messages.RefusalReason.CLAIM_BEFORE_CONTRIBUTION,
                    "claim",
                    level=message.level_id,
                    claim=message.claim_id,
                )
            amount, self.levels[message.level_id] = self.levels[message.level_id].pay_hit()
            self.hit_count_by_level[message.level_id] += 1
            self.award_by_claim[message.claim_id] = messages.Award(
                machine=message.machine,
                level=message.level_id,
                claim=message.claim_id,
                amount_cents=amount,
                order=self.levels[message.level_id].hit_count,
            )
        return self.award_by_claim[message.claim_id]

    def _refuse(
        self,
        message: messages.MachineMessage,
        reason: messages.RefusalReason,
        message_kind: str,
        **fields: object,
    ) -> messages.Refusal:
        """Return a refusal of a machine's message, and add it to ``refusals``.

        ``message_kind`` is the kind of the refused message.
        """
        self.refusals.append(
            messages.Refusal(machine=message.machine, reason=reason, of=message_kind, **fields)
        )
        return self.refusals[-1]
