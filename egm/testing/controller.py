"""A small progressive controller with the real level arithmetic, to test a machine's end of a link.

Its data is in memory and survives every disconnection, like a durable store.
"""

from collections import Counter
from fractions import Fraction

from egm.config.levels import LevelScope
from egm.progressive import messages as m
from egm.progressive.definition import LevelDefinition, LevelStakeAndHitRate
from egm.progressive.level import Level, LevelTerms
from egm.progressive.pools import LevelKeeper, ProgressivePool

#: The probability that a game wins the controller's level.
HIT_PROBABILITY = Fraction(1, 500)


def create_pool(
    level: str = "TOP", increment: Fraction = Fraction(1, 70), stake_cents: int = 50
) -> ProgressivePool:
    """Return the pool of a game's linked level, whose money the controller's level ``level`` holds.

    Bets of ``stake_cents`` contribute the share ``increment``.
    """
    terms = LevelTerms(base_cents=1500, increment=increment)
    return ProgressivePool(
        game_id="game",
        level_name="top",
        keeper=LevelKeeper.CONTROLLER,
        definition=LevelDefinition(
            id=level,
            names={"en": level, "fr": level},
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
        self.levels = {level: Level.open(default_terms) for level in levels or ("TOP",)}
        self.counted: Counter[tuple[str, str]] = Counter()
        self.enrolled: set[tuple[str, str]] = set()
        self.awards: dict[str, m.Award] = {}
        self.payment_reports: dict[str, m.PaymentReport] = {}
        self.falls = dict.fromkeys(self.levels, 0)
        self.value_sequence = 0
        self.refusals: list[m.Refusal] = []

    def restart(self) -> None:
        """Restart the controller: enrolments are lost, levels and awards remain."""
        self.enrolled.clear()

    def update_values(self) -> list[m.LevelValue]:
        """Return the displayed amount of every level, as messages that a controller publishes."""
        self.value_sequence += 1
        return [
            m.LevelValue(
                level=name,
                sequence=self.value_sequence,
                time_utc="2026-01-01T00:00:00+00:00",
                amount_cents=level.shown_cents,
                falls=self.falls[name],
            )
            for name, level in self.levels.items()
        ]

    def process_message(self, message: m.MachineMessage) -> list[m.ControllerMessage]:
        """Process a machine's message; return the replies."""
        match message:
            case m.EnrolmentRequest():
                return [self._enrol_at_level(message, enrolment) for enrolment in message.levels]
            case m.Contribution():
                return [self._count_contribution(message)]
            case m.Claim():
                return [self._handle_claim(message)]
            case m.PaymentReport() if message.claim not in self.awards:
                unknown_claim = m.RefusalReason.UNKNOWN_CLAIM
                return [
                    self._refuse(message, unknown_claim, "commit", level=message.level, claim=message.claim)
                ]
            case m.PaymentReport():
                self.payment_reports.setdefault(message.claim, message)
                assert self.payment_reports[message.claim] == message
                return [m.ClaimClosure(machine=message.machine, claim=message.claim)]

    def _enrol_at_level(
        self, message: m.EnrolmentRequest, enrolment: m.LevelEnrolment
    ) -> m.ControllerMessage:
        """Enrol a machine at a level; return the level's terms and the contributions counted so far, or a refusal."""
        key = (message.machine, enrolment.level)
        if enrolment.level not in self.levels:
            return self._refuse(
                message, m.RefusalReason.UNKNOWN_LEVEL, "join", level=enrolment.level, nonce=message.nonce
            )
        if enrolment.odds != HIT_PROBABILITY:
            return self._refuse(
                message, m.RefusalReason.OTHER_ODDS, "join", level=enrolment.level, nonce=message.nonce
            )
        self.enrolled.add(key)
        return m.EnrolmentAccepted(
            machine=message.machine,
            nonce=message.nonce,
            level=enrolment.level,
            increment=self.levels[enrolment.level].terms.increment,
            base_cents=self.levels[enrolment.level].terms.base_cents,
            counted=self.counted.get(key, 0),
        )

    def _count_contribution(self, message: m.Contribution) -> m.ControllerMessage:
        """Add a machine's contribution to a level and return the acknowledgement. A repeated one is not added again."""
        key = (message.machine, message.level)
        counted_number = self.counted.get(key, 0)
        if key not in self.enrolled:
            return self._refuse(message, m.RefusalReason.NOT_ENROLLED, "contribution", level=message.level)
        if message.sequence > counted_number + 1:
            return self._refuse(
                message,
                m.RefusalReason.CONTRIBUTIONS_MISSING,
                "contribution",
                level=message.level,
                next=counted_number + 1,
            )
        if message.sequence == counted_number + 1:
            assert message.amount == message.wager_cents * self.levels[message.level].terms.increment
            self.levels[message.level] = self.levels[message.level].add_contribution(message.wager_cents)
            self.counted[key] = message.sequence
        return m.ContributionCount(machine=message.machine, level=message.level, sequence=self.counted[key])

    def _handle_claim(self, message: m.Claim) -> m.ControllerMessage:
        """Lock the award for a machine's hit, and return it, or a refusal; a repeated claim gets the same award."""
        key = (message.machine, message.level)
        if message.claim not in self.awards:
            if key not in self.enrolled:
                return self._refuse(
                    message, m.RefusalReason.NOT_ENROLLED, "claim", level=message.level, claim=message.claim
                )
            if self.counted.get(key, 0) < message.after:
                return self._refuse(
                    message,
                    m.RefusalReason.CLAIM_BEFORE_CONTRIBUTION,
                    "claim",
                    level=message.level,
                    claim=message.claim,
                )
            amount, self.levels[message.level] = self.levels[message.level].pay_hit()
            self.falls[message.level] += 1
            self.awards[message.claim] = m.Award(
                machine=message.machine,
                level=message.level,
                claim=message.claim,
                amount_cents=amount,
                order=self.levels[message.level].hit_count,
            )
        return self.awards[message.claim]

    def _refuse(
        self, message: m.MachineMessage, reason: m.RefusalReason, message_kind: str, **fields: object
    ) -> m.Refusal:
        """Return a refusal of a machine's message, and add it to ``refusals``.

        ``message_kind`` is the kind of the refused message.
        """
        self.refusals.append(m.Refusal(machine=message.machine, reason=reason, of=message_kind, **fields))
        return self.refusals[-1]
