"""The machine's end of a link: wagers are counted once, hits paid once, and values used only while they are fresh."""

import random
from datetime import UTC, datetime
from fractions import Fraction

import pytest

from egm.progressive import messages as m
from egm.progressive.display import LevelStatus
from egm.progressive.feeder import CONTRIBUTION_RETRY_NS, UNCOUNTED_CONTRIBUTIONS_MAX
from egm.progressive.link import (
    ClaimAmountLocked,
    ClaimPaymentRecorded,
    ClaimPhase,
    ControllerComplaint,
    ControllerCountAhead,
    ControllerCountBehind,
    ControllerLink,
)
from egm.testing.controller import SmallController, create_pool
from tools.floor.progressive.controller import Controller, ReceivedMessage
from tools.floor.progressive.store import SqliteStore

SECOND = 1_000_000_000
STALE = 5 * SECOND


def contribution(sequence, wager=50, level="TOP", machine="EGM-1"):
    return m.Contribution(
        machine=machine, level=level, sequence=sequence, wager_cents=wager, amount=Fraction(wager, 70)
    )


def claim(name="c1", after=0, level="TOP", machine="EGM-1"):
    return m.Claim(machine=machine, level=level, claim=name, after=after, shown_cents=1500)


def build_enrolment_reply(**changes):
    terms = create_pool().definition.terms
    fields = {"machine": "EGM-1", "nonce": "n", "level": "TOP", "increment": terms.increment}
    return m.EnrolmentAccepted(**fields, base_cents=terms.base_cents, **changes)


class Wire:
    """A link and a controller with a reliable connection between them, and a clock."""

    def __init__(self, *pools):
        self.now = 0
        self.controller = SmallController()
        self.link = ControllerLink("EGM-1", pools or (create_pool(),), stale_after_ns=STALE)
        self.sent = []

    def connect(self):
        self.link.enrol_levels(f"n{self.now}", self.now)
        self.run()
        return self

    def run(self):
        while messages := self.link.take_messages():
            self.sent += messages
            for message in messages:
                for answer in self.controller.process_message(message):
                    self.link.process_message(answer, self.now)

    def values(self, times=1):
        for _ in range(times):
            for value in self.controller.update_values():
                self.link.process_message(value, self.now)

    def wait(self, ns):
        self.now += ns
        self.link.send_due_messages(self.now)
        self.run()

    @property
    def status(self):
        return self.link.find_displayed_amount("TOP", self.now).status


@pytest.mark.requirement("I-07", "I-02")
def test_a_level_whose_next_contribution_is_lost_is_down_and_sends_nothing_further():
    """Regression: each refusal had every contribution sent again at once, and a game could win what is never awarded."""
    wire = Wire()
    wire.controller.contribution_count_by_machine_and_level["EGM-1", "TOP"] = 1
    wire.link.restore_contributions("TOP", 1, [contribution(number) for number in range(4, 8)])
    wire.link.enrol_levels("n", wire.now)
    for _ in range(4):
        messages = wire.link.take_messages()
        wire.sent += messages
        for message in messages:
            for answer in wire.controller.process_message(message):
                wire.link.process_message(answer, wire.now)
    assert not wire.link.take_messages()
    assert sum(isinstance(message, m.Contribution) for message in wire.sent) == 4
    wire.values(2)
    assert wire.status is LevelStatus.DOWN
    (complaint,) = wire.link.take_notifications()
    assert complaint.text == "TOP: contribution 2 is not in this machine's journal"
    wire.link.restore_contributions("TOP", 1, [contribution(number) for number in range(2, 8)])
    wire.wait(30 * SECOND)
    wire.values(2)
    assert (wire.controller.contribution_count_by_machine_and_level["EGM-1", "TOP"], wire.status) == (
        7,
        LevelStatus.UP,
    )


@pytest.mark.requirement("I-07", "I-02")
def test_a_level_is_available_only_while_its_controller_answers():
    wire = Wire()
    assert wire.status is LevelStatus.DOWN
    wire.connect()
    assert wire.status is LevelStatus.DOWN  # enrolled, but nothing received
    wire.values()
    assert wire.status is LevelStatus.STALE  # a broker may have retained it
    wire.values()
    assert wire.status is LevelStatus.UP
    assert wire.link.find_displayed_amount("TOP", wire.now).amount_cents == 1500
    wire.wait(STALE)
    assert wire.status is LevelStatus.UP
    wire.wait(1)
    assert wire.status is LevelStatus.STALE
    wire.values()
    assert wire.status is LevelStatus.UP
    wire.link.handle_disconnected()
    assert wire.status is LevelStatus.DOWN


@pytest.mark.requirement("I-11")
def test_a_lower_amount_is_shown_only_after_a_counted_fall():
    wire = Wire().connect()
    wire.values(2)

    def value(sequence, amount, falls=0):
        message = m.LevelValue(level="TOP", sequence=sequence, time_utc="", amount_cents=amount, falls=falls)
        wire.link.process_message(message, wire.now)
        return wire.link.find_displayed_amount("TOP", wire.now).amount_cents

    assert value(10, 1600) == 1600
    assert value(11, 1599) == 1600
    assert isinstance(wire.link.take_notifications()[0], ControllerComplaint)
    assert value(9, 1700) == 1600  # an old message, replayed
    assert value(12, 1500, falls=1) == 1500
    assert value(13, 1800, falls=0) == 1500
    new_link = ControllerLink("EGM-1", (create_pool(),), stale_after_ns=STALE)
    new_link.restore_shown_amount("TOP", 1500, 1)
    new_link.enrol_levels("n", 0)
    new_link.process_message(
        m.LevelValue(level="TOP", sequence=99, time_utc="", amount_cents=1400, falls=1), 0
    )
    assert new_link.find_displayed_amount("TOP", 0).amount_cents == 1500


@pytest.mark.requirement("I-03")
def test_a_controller_that_refuses_the_machine_keeps_the_level_down():
    wire = Wire(create_pool(), create_pool("NOWHERE"))
    wire.connect()
    wire.values(2)
    assert wire.status is LevelStatus.UP
    assert wire.link.find_displayed_amount("NOWHERE", 0).status is LevelStatus.DOWN
    (complaint,) = wire.link.take_notifications()
    assert complaint.code == "refused.unknown_level"
    other = Wire(create_pool(increment=Fraction(1, 71)))
    other.connect()
    other.values(2)
    assert other.status is LevelStatus.DOWN
    assert "1/71" in other.link.take_notifications()[0].text


@pytest.mark.requirement("I-15")
def test_contributions_during_an_outage_are_counted_once_in_order():
    wire = Wire()
    for n in range(1, 200):
        wire.link.queue_contribution(contribution(n), wire.now)
    assert wire.link.take_messages() == []
    wire.connect()
    assert wire.controller.contribution_count_by_machine_and_level["EGM-1", "TOP"] == 199
    assert wire.controller.levels["TOP"].contributed_amount == 199 * 50 * (
        Fraction(1, 70) + Fraction(1, 1000)
    )
    assert not wire.link.feeder_by_level["TOP"].pending_contributions


def test_no_more_than_a_window_is_sent_ahead():
    link = ControllerLink("EGM-1", (create_pool(),), stale_after_ns=STALE)
    for n in range(1, 200):
        link.queue_contribution(contribution(n), 0)
    link.enrol_levels("n", 0)
    link.take_messages()
    link.process_message(build_enrolment_reply(counted=0), 0)
    assert [c.number for c in link.take_messages()] == list(range(1, UNCOUNTED_CONTRIBUTIONS_MAX + 1))
    link.send_due_messages(CONTRIBUTION_RETRY_NS - 1)
    assert link.take_messages() == []
    link.send_due_messages(CONTRIBUTION_RETRY_NS)
    assert [c.number for c in link.take_messages()] == list(range(1, UNCOUNTED_CONTRIBUTIONS_MAX + 1))
    link.process_message(
        m.ContributionCount(machine="EGM-1", level="TOP", sequence=10), CONTRIBUTION_RETRY_NS
    )
    assert [c.number for c in link.take_messages()] == list(
        range(UNCOUNTED_CONTRIBUTIONS_MAX + 1, UNCOUNTED_CONTRIBUTIONS_MAX + 11)
    )
    gap = m.Refusal(
        machine="EGM-1", reason=m.RefusalReason.CONTRIBUTIONS_MISSING, of="contribution", level="TOP", next=12
    )
    link.process_message(gap, CONTRIBUTION_RETRY_NS)
    assert [c.number for c in link.take_messages()] == list(range(12, UNCOUNTED_CONTRIBUTIONS_MAX + 12))


def test_a_slow_controller_receives_nothing_twice():
    link = ControllerLink("EGM-1", (create_pool(),), stale_after_ns=STALE)
    for n in range(1, 21):
        link.queue_contribution(contribution(n), 0)
    link.enrol_levels("n", 0)
    link.take_messages()
    link.process_message(build_enrolment_reply(counted=0), 0)
    assert len(link.take_messages()) == 20
    for n in range(1, 10):
        link.process_message(
            m.ContributionCount(machine="EGM-1", level="TOP", sequence=n), n * (CONTRIBUTION_RETRY_NS - 1)
        )
        assert link.take_messages() == []
    link.send_due_messages(9 * (CONTRIBUTION_RETRY_NS - 1) + CONTRIBUTION_RETRY_NS)  # and now it stands still
    assert [c.number for c in link.take_messages()] == list(range(10, 21))


def test_controller_with_fewer_or_more_records_than_reported_is_informed_and_queried():
    link = ControllerLink("EGM-1", (create_pool(),), stale_after_ns=STALE)
    link.restore_contributions("TOP", 5, [])
    link.enrol_levels("n", 0)
    link.process_message(build_enrolment_reply(counted=3), 0)
    assert link.take_notifications() == [ControllerCountBehind("TOP", 3)]
    link.restore_contributions("TOP", 3, [contribution(4), contribution(5)])
    link.take_messages()
    link.send_due_messages(0)
    assert [c.number for c in link.take_messages()] == [4, 5]
    link.process_message(build_enrolment_reply(counted=9), 0)
    assert link.take_notifications() == [ControllerCountAhead("TOP", 9)]
    link.queue_contribution(contribution(10), 0)
    assert [c.number for c in link.take_messages()] == [10]


@pytest.mark.requirement("I-09")
def test_a_claim_follows_its_contribution_and_is_awarded_committed_and_closed():
    wire = Wire().connect()
    wire.link.queue_contribution(contribution(1), wire.now)
    wire.link.open_hit_claim(claim(after=1), wire.now)
    assert wire.link.list_open_claims() == {"c1": ClaimPhase.CLAIMING}
    wire.run()
    assert (
        type(wire.sent[-1]) is m.Contribution
    )  # not before the level was received, because an award is compared with it
    wire.values()
    wire.wait(CONTRIBUTION_RETRY_NS)
    assert [type(s) for s in wire.sent] == [m.EnrolmentRequest, m.Contribution, m.Claim]
    (locked,) = wire.link.take_notifications()
    assert locked == ClaimAmountLocked("c1", 1500)
    wire.link.mark_award_recorded("c1")
    assert wire.link.list_open_claims() == {"c1": ClaimPhase.AWARDED}
    wire.wait(3 * CONTRIBUTION_RETRY_NS)
    assert type(wire.sent[-1]) is m.Claim  # a known value is never requested again
    wire.link.report_payment(
        m.PaymentReport(machine="EGM-1", level="TOP", claim="c1", amount_cents=1500), claim(), wire.now
    )
    assert wire.link.list_open_claims() == {"c1": ClaimPhase.COMMITTED}
    wire.run()
    assert wire.link.take_notifications() == [ClaimPaymentRecorded("c1")]
    wire.link.drop_claim("c1")
    assert wire.link.list_open_claims() == {}
    late = m.Award(machine="EGM-1", level="TOP", claim="c1", amount_cents=1500, order=1)
    wire.link.process_message(late, wire.now)
    assert wire.link.take_notifications() == []  # it was sent twice


def test_an_unanswered_claim_is_asked_again_and_answered_alike():
    link = ControllerLink("EGM-1", (create_pool(),), stale_after_ns=STALE)
    controller = SmallController()
    link.enrol_levels("n", 0)
    for answer in controller.process_message(link.take_messages()[0]):
        link.process_message(answer, 0)
    link.process_message(controller.update_values()[0], 0)
    link.open_hit_claim(claim(), 0)
    (first,) = link.take_messages()
    controller.process_message(first)  # the answer is lost
    link.send_due_messages(CONTRIBUTION_RETRY_NS)
    (second,) = link.take_messages()
    assert second == first
    link.process_message(controller.process_message(second)[0], CONTRIBUTION_RETRY_NS)
    assert controller.levels["TOP"].hit_count == 1
    assert link.take_notifications() == [ClaimAmountLocked("c1", 1500)]
    controller.restart()
    link.open_hit_claim(claim("c2"), CONTRIBUTION_RETRY_NS)
    (third,) = link.take_messages()
    link.process_message(controller.process_message(third)[0], CONTRIBUTION_RETRY_NS)
    (join,) = link.take_messages()
    assert isinstance(join, m.EnrolmentRequest)


def test_messages_for_another_machine_are_ignored():
    wire = Wire().connect()
    wire.link.process_message(m.Award(machine="EGM-2", level="TOP", claim="x", amount_cents=9, order=1), 0)
    assert wire.link.take_notifications() == []
    wire.link.process_message(m.Award(machine="EGM-1", level="TOP", claim="x", amount_cents=9, order=1), 0)
    assert wire.link.take_notifications()[0].code == "award"


# ---------------------------------------------------------------------------------------------- the worst of wires
class Machine:
    """The stored state of a machine, and the link, which each restart creates again."""

    def __init__(self, name, generator):
        self.name = name
        self.generator = generator
        self.contributions = []
        self.claims = {}
        self.paid = {}
        self.live()

    def live(self):
        self.link = ControllerLink(self.name, (create_pool(),), stale_after_ns=STALE)
        self.link.restore_contributions("TOP", 0, self.contributions)
        for hit_claim in self.claims.values():
            self.link.open_hit_claim(hit_claim, 0)
        for name, commit in self.paid.items():
            if name in self.claims:
                self.link.report_payment(commit, self.claims[name], 0)

    def play(self, now):
        wager = 50
        self.contributions.append(contribution(len(self.contributions) + 1, wager, machine=self.name))
        self.link.queue_contribution(self.contributions[-1], now)
        if self.generator.random() < 0.05:
            name = f"{self.name}:{len(self.contributions)}"
            self.claims[name] = claim(name, after=len(self.contributions), machine=self.name)
            self.link.open_hit_claim(self.claims[name], now)

    def learn(self, now):
        for news in self.link.take_notifications():
            match news:
                case ClaimAmountLocked():
                    commit = m.PaymentReport(
                        machine=self.name, level="TOP", claim=news.claim_id, amount_cents=news.amount_cents
                    )
                    assert self.paid.setdefault(news.claim_id, commit) == commit
                    self.link.report_payment(commit, self.claims[news.claim_id], now)
                case ClaimPaymentRecorded():
                    self.claims.pop(news.claim_id, None)
                    self.link.drop_claim(news.claim_id)
                case ControllerCountBehind() | ControllerCountAhead():
                    raise AssertionError(news)


class Storm:
    """Three machines, a controller, and all events that can happen between them."""

    def __init__(self, seed, controller):
        self.generator = random.Random(seed)
        self.controller = controller
        self.machines = [Machine(f"EGM-{n}", self.generator) for n in range(3)]
        self.flying = []
        self.now = 0

    def turn(self, turn, *, troubled):
        self.now += self.generator.randrange(SECOND)
        for machine in self.machines:
            self._happen(machine, turn, troubled)
            machine.link.send_due_messages(self.now)
            self.flying += [(machine, message) for message in machine.link.take_messages()]
        if troubled:
            self.generator.shuffle(self.flying)
            if self.generator.random() < 0.02:
                self.controller.restart()
        flying, self.flying = self.flying, []
        for machine, message in flying:
            self._carry(machine, message, troubled)
        for value in self.controller.update_values():
            for machine in self.machines:
                machine.link.process_message(value, self.now)

    def _happen(self, machine, turn, troubled):
        event = self.generator.random()
        if event < 0.4:
            if troubled:
                machine.play(self.now)
        elif event < 0.43 and troubled:
            machine.live()
        elif event < 0.46 and troubled:
            machine.link.handle_disconnected()
        elif event < 0.6 and machine.link.find_displayed_amount("TOP", self.now).status is LevelStatus.DOWN:
            machine.link.enrol_levels(f"{machine.name}.{turn}", self.now)

    def _carry(self, machine, message, troubled):
        fate = self.generator.random() if troubled else 1.0
        if fate < 0.15:
            return
        if fate < 0.25:
            self.flying.append((machine, message))
        for answer in self.controller.process_message(message):
            if not troubled or self.generator.random() > 0.15:
                machine.link.process_message(answer, self.now)
        machine.learn(self.now)


class RealController:
    """The real controller on its SQLite store, opened again at each restart."""

    def __init__(self, path):
        self.path = path
        self.open()
        self.controller.open_levels([create_pool().definition])
        for n in range(3):
            self.controller.admit_machine(f"EGM-{n}")

    def open(self):
        self.store = SqliteStore(self.path)
        self.controller = Controller(self.store, lambda: datetime(2026, 1, 1, tzinfo=UTC))

    def restart(self):
        self.store.close()
        self.open()

    def rule(self):
        with self.controller.open_read_session() as session:
            held_claims = [claim.claim_id for claim in session.list_held_messages() if not claim.ruling]
        for claim in held_claims:
            self.controller.rule_on_held_message(claim, "award", ("alice", "bob"), "the storm")

    def process_message(self, message):
        return self.controller.process_messages([ReceivedMessage(message.machine, message)])

    def update_values(self):
        return self.controller.update_values()


@pytest.mark.requirement("I-10", "I-14", "I-15")
@pytest.mark.parametrize("seed", range(3))
def test_every_cent_between_controller_and_machine_is_accounted_for(seed, tmp_path):
    storm = Storm(seed, RealController(tmp_path / "controller.db"))
    for turn in range(400):
        storm.turn(turn, troubled=turn < 280)
        if turn % 20 == 0:  # they hit far more often than their odds: it is held, and persons rule
            storm.controller.rule()
    with storm.controller.store.transaction() as session:
        record, claims = session.read_level("TOP"), session.read_win_register()
    storm.controller.store.close()
    record.level.check_sums()
    wagered = sum(c.wager_cents for machine in storm.machines for c in machine.contributions)
    assert record.level.contributed_amount == wagered * Fraction(1, 70)
    paid = {name: commit.amount_cents for machine in storm.machines for name, commit in machine.paid.items()}
    assert paid == {claim.claim_id: claim.paid_cents for claim in claims}
    assert record.level.paid_cents == sum(paid.values())
    assert paid
    assert all(not machine.claims for machine in storm.machines)


@pytest.mark.requirement("I-10", "I-14", "I-15")
@pytest.mark.parametrize("seed", range(12))
def test_unreliable_wire_counts_every_wager_once_and_pays_every_hit_once(seed):
    """Messages are lost, repeated and reordered; machines restart; the controller forgets which machines joined."""
    storm = Storm(seed, SmallController())
    for turn in range(600):
        storm.turn(turn, troubled=turn < 450)
    machines, controller = storm.machines, storm.controller
    level = controller.levels["TOP"]
    level.check_sums()
    wagered = sum(c.wager_cents for machine in machines for c in machine.contributions)
    assert level.contributed_amount == wagered * (Fraction(1, 70) + Fraction(1, 1000))
    paid = {name: commit.amount_cents for machine in machines for name, commit in machine.paid.items()}
    assert paid == {name: award.amount_cents for name, award in controller.award_by_claim.items()}
    assert level.paid_cents == sum(paid.values())
    assert sorted(a.hit_number for a in controller.award_by_claim.values()) == list(
        range(1, level.hit_count + 1)
    )
    assert len(paid) >= 5
    assert all(not machine.claims for machine in machines)
    assert set(controller.payment_report_by_claim) == set(paid)
