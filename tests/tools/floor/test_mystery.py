"""Mystery levels of a controller on both stores: each prize is committed beforehand and won by one wager."""

import json
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

import pytest
from controller_clock import Clock

from egm.config.levels import LevelScope
from egm.progressive.definition import LevelDefinition, LevelStakeAndHitRate, compute_mystery_hit_rate
from egm.progressive.level import LevelTerms
from egm.progressive.messages import (
    Award,
    Claim,
    ClaimClosure,
    Contribution,
    ContributionCount,
    EnrolmentRequest,
    LevelEnrolment,
    PaymentReport,
    RefusalReason,
    decode_controller_message,
    encode,
)
from egm.progressive.trigger import MysteryTrigger
from tools.floor.progressive.controller import Controller, ControllerError, ReceivedMessage
from tools.floor.progressive.mystery import MysteryError
from tools.floor.progressive.mystery_secrets import (
    MYSTERY_KEY_FILE_NAME,
    MysterySecrets,
    SecretError,
    make_key,
    read_key,
)

STAKE = 25
TERMS = LevelTerms(
    base_cents=100,
    increment=Fraction(1, 30),
    hidden_increment=Fraction(1, 700),
    ceiling_cents=105,
    is_mystery=True,
)
SHARE = STAKE * TERMS.increment
MOST = 7
"""After so many wagers it is won: 5 minor units are 6 wagers of 5/6."""


def level(name="luck", terms=TERMS):
    stake_and_hit_rate = LevelStakeAndHitRate(
        stake_cents=STAKE, hit_rate=compute_mystery_hit_rate(terms, STAKE)
    )
    names = {"en": name, "fr": name}
    return LevelDefinition(
        id=name, names=names, scope=LevelScope.LINKED, terms=terms, stake_and_hit_rate=stake_and_hit_rate
    )


class Floor:
    """Machines that wager on one mystery level, one message at a time."""

    def __init__(self, controller, *machines):
        self.controller = controller
        self.contribution_counts = dict.fromkeys(machines, 0)
        controller.open_levels([level()])
        for machine in machines:
            controller.admit_machine(machine)
            self.join(machine)

    def tell(self, machine, message):
        (answer,) = self.controller.process_messages([ReceivedMessage(machine, message)])
        return answer

    def join(self, machine, **changes):
        stake_and_hit_rate = level().stake_and_hit_rate
        expected = LevelEnrolment(
            **{
                "level": "luck",
                "stake_cents": stake_and_hit_rate.stake_cents,
                "odds": stake_and_hit_rate.hit_rate,
                **changes,
            }
        )
        return self.tell(machine, EnrolmentRequest(machine=machine, nonce="n", levels=(expected,)))

    def contribution(self, machine, sequence):
        return Contribution(machine=machine, level="luck", sequence=sequence, wager_cents=STAKE, amount=SHARE)

    def give(self, machine):
        self.contribution_counts[machine] += 1
        return self.tell(machine, self.contribution(machine, self.contribution_counts[machine]))

    def until_won(self, *machines):
        """Wager in turn until a machine wins; return the machine and the answer that it received."""
        for _ in range(MOST):
            for machine in machines:
                answer = self.give(machine)
                if answer.won_prizes:
                    return machine, answer
        raise AssertionError("it was not won by its ceiling")

    def record(self, name="luck"):
        return next(record for record in self.controller.list_level_records() if record.id == name)

    def commit(self, machine, won, way="credit"):
        cents = 0 if way == "void" else won.amount_cents
        return self.tell(
            machine,
            PaymentReport(machine=machine, level="luck", claim=won.claim_id, amount_cents=cents, way=way),
        )


class Last:
    """A generator that always draws the highest amount, so that a prize is won exactly at its ceiling."""

    @contextmanager
    def step(self):
        yield self

    def below(self, bound, purpose):
        return bound - 1 if not purpose.endswith("salt") else 7


@pytest.fixture
def at_the_ceiling(open_store):
    """A controller whose prizes are won exactly at their ceiling."""
    return Controller(open_store(), Clock(), MysterySecrets(bytes(32), lambda _: Last()))


@pytest.fixture
def floor(at_the_ceiling):
    return Floor(at_the_ceiling, "EGM-1", "EGM-2")


@pytest.mark.requirement("I-10", "I-14", "I-17")
def test_exactly_one_wager_wins_and_its_machine_is_notified_until_it_has_paid(floor):
    (sealed,) = floor.controller.update_values()
    winner, answer_won = floor.until_won("EGM-1", "EGM-2")
    (won,) = answer_won.won_prizes
    assert (won.contribution_number, won.hit_number) == (floor.contribution_counts[winner], 1)
    assert 100 < won.amount_cents <= 105
    assert won.trigger.commitment == sealed.commitment
    assert floor.record().level.shown_cents == 100
    loser = "EGM-2" if winner == "EGM-1" else "EGM-1"
    assert floor.give(loser).won_prizes == ()
    for reply in (
        floor.tell(winner, floor.contribution(winner, won.contribution_number)),
        floor.join(winner),
    ):
        assert reply.won_prizes == (won,)
        assert decode_controller_message(encode(reply)) == reply
    assert isinstance(floor.commit(winner, won), ClaimClosure)
    assert floor.join(winner).won_prizes == ()
    (hit,) = floor.controller.read_win_register()
    assert (hit.machine, hit.contribution_number, hit.paid_cents, hit.combination) == (
        winner, won.contribution_number, won.amount_cents, "mystery",
    )  # fmt: skip
    floor.controller.verify_levels()
    (following,) = floor.controller.update_values()
    assert (following.prize_number, following.fall_count, following.last_fall_cause) == (2, 1, "win")
    assert following.commitment != sealed.commitment


@pytest.mark.requirement("I-10")
def test_simultaneous_wagers_are_ordered_and_one_of_them_wins(controller):
    """The wagers of all machines arrive in one transaction; each prize goes to the wager that reached it.

    The draws come from the real generator; the test must pass whatever it draws.
    """
    floor = Floor(controller, "EGM-1", "EGM-2")
    both = [floor.contribution(machine, n) for n in range(1, 41) for machine in ("EGM-1", "EGM-2")]
    answers = floor.controller.process_messages(
        [ReceivedMessage(message.machine, message) for message in both]
    )
    last = {answer.machine: answer for answer in answers}
    won = sorted((w for answer in last.values() for w in answer.won_prizes), key=lambda w: w.hit_number)
    assert [w.hit_number for w in won] == list(range(1, len(won) + 1))
    assert len(won) >= 80 // MOST
    assert len({(w.claim_id, w.trigger.prize_number) for w in won}) == len(won)
    floor.controller.verify_levels()
    stored_level = floor.record().level
    assert stored_level.contributed_amount == 80 * STAKE * (TERMS.increment + TERMS.hidden_increment)
    assert stored_level.paid_cents == sum(w.amount_cents for w in won)


@pytest.mark.requirement("I-07", "I-10")
def test_the_drawn_trigger_survives_a_restart_of_the_controller(open_store, at_the_ceiling):
    controller = at_the_ceiling
    floor = Floor(controller, "EGM-1")
    (sealed,) = controller.update_values()
    answer = floor.give("EGM-1")
    controller._store.close()
    later = Controller(open_store(), controller._now, MysterySecrets(bytes(32)))
    floor.controller = later
    (value,) = later.update_values()
    assert (answer.won_prizes, value.commitment) == ((), sealed.commitment)
    _, answer = floor.until_won("EGM-1")
    assert answer.won_prizes[0].trigger.commitment == sealed.commitment
    later.verify_levels()


def test_the_store_does_not_reveal_the_trigger_and_another_key_cannot_read_it(open_store, controller):
    floor = Floor(controller, "EGM-1")
    store = controller._store
    ((record,),) = store.run("SELECT record FROM prize")
    assert json.loads(record)["trigger"] is None
    assert "drawn" not in record
    store.close()
    for mystery_secrets, error in ((MysterySecrets(b"k" * 32), SecretError), (None, MysteryError)):
        opened = open_store()
        other = Controller(opened, controller._now, mystery_secrets)
        other.verify_levels()  # the record is consistent without the key
        before = other.list_level_records()
        with pytest.raises(error, match="mystery"):
            other.process_messages([ReceivedMessage("EGM-1", floor.contribution("EGM-1", 1))])
        assert other.list_level_records() == before
        opened.close()


@pytest.mark.requirement("I-15")
def test_a_machines_own_claim_of_a_mystery_is_refused(floor):
    floor.give("EGM-1")
    before = floor.record()
    for claim in ("mine", "mystery.luck.1"):
        claim_message = Claim(machine="EGM-1", level="luck", claim=claim, after=1, shown_cents=100)
        reply = floor.tell("EGM-1", claim_message)
        assert not isinstance(reply, Award)
        assert reply.reason is RefusalReason.UNKNOWN_CLAIM
    assert floor.record() == before
    assert floor.controller.read_win_register() == ()


@pytest.mark.requirement("I-03")
def test_a_machine_with_other_odds_of_a_mystery_is_not_enrolled(floor):
    other = compute_mystery_hit_rate(replace(TERMS, ceiling_cents=106), STAKE)
    reply = floor.join("EGM-1", odds=other)
    assert (reply.reason, "are 9/37; expected 2/7" in reply.detail) == (RefusalReason.OTHER_ODDS, True)
    long = floor.join("EGM-1", odds=Fraction(10**60 + 1, 10**64))
    assert "are about 1 in 10,000.0000; expected 2/7" in long.detail
    joined = floor.join("EGM-1")
    assert (joined.is_mystery, joined.base_cents, joined.ceiling_cents) == (True, 100, 105)


@pytest.mark.requirement("I-06")
def test_a_change_of_a_mysterys_chance_requires_another_level(floor):
    for terms in (
        replace(TERMS, ceiling_cents=110),
        replace(TERMS, increment=Fraction(1, 40)),
        replace(TERMS, is_mystery=False),
    ):
        with pytest.raises(ControllerError, match="open another level"):
            floor.controller.open_levels([level(terms=terms)])
    assert floor.controller.open_levels([level(terms=replace(TERMS, base_cents=200, ceiling_cents=205))]) == [
        "luck: new terms after the next win"
    ]
    floor.until_won("EGM-1")
    assert floor.record().level.shown_cents == 200
    floor.controller.verify_levels()


@pytest.mark.requirement("I-11", "I-14:a")
def test_a_void_mystery_prize_returns_and_the_next_is_won_by_the_ceiling(floor):
    winner, answer_won = floor.until_won("EGM-1")
    floor.commit(winner, answer_won.won_prizes[0], way="void")
    assert floor.record().level.shown_cents == 105  # everything was returned; the excess is the overflow
    assert floor.record().level.overflow_amount > 0
    floor.controller.verify_levels()
    assert floor.give("EGM-1").won_prizes[0].amount_cents == 105
    floor.controller.verify_levels()


def test_an_overflow_that_starts_a_prize_at_its_ceiling_is_won_by_the_next_wager(floor):
    winner, answer_won = floor.until_won("EGM-1")
    floor.commit(
        winner, answer_won.won_prizes[0], way="void"
    )  # the returned amount fills the level up to its ceiling; the remainder is overflow
    assert floor.give("EGM-1").won_prizes[0].amount_cents == 105
    assert floor.record().level.shown_cents == 105  # the overflow has filled the new prize
    assert floor.give("EGM-1").won_prizes[-1].amount_cents == 105
    floor.controller.verify_levels()


@pytest.mark.requirement("I-12", "I-13:a")
def test_a_closed_mystery_reveals_its_trigger_and_passes_on_its_money(floor):
    floor.controller.open_levels([level("more")])
    (luck, _) = floor.controller.update_values()
    assert floor.give("EGM-1").won_prizes == ()
    moved = floor.controller.close_level("luck", "more")
    assert moved > 100
    store = floor.controller._store
    rows = store.run("SELECT record FROM prize WHERE level = 'luck' ORDER BY number")
    shown = json.loads(rows[-1][0])
    assert (shown["claim"], MysteryTrigger.from_json(shown["trigger"]).commitment) == ("", luck.commitment)
    assert isinstance(
        floor.give("EGM-1"), ContributionCount
    )  # made earlier, received now: it goes to the other level
    floor.controller.verify_levels()


@pytest.mark.requirement("I-08")
@pytest.mark.parametrize(
    ("sql", "expected_text"),
    [
        ("", ""),
        (
            "UPDATE turn SET machine = 'EGM-2' WHERE place = {won}",
            "was not made by the machine that is recorded as the winner",
        ),
        ("DELETE FROM turn WHERE place > {won}", "contributions, but the level shows"),
    ],
)
def test_a_rewritten_win_register_is_detected(floor, sql, expected_text):
    _, answer_won = floor.until_won("EGM-1")
    floor.give("EGM-1")
    won = answer_won.won_prizes[0]
    store = floor.controller._store
    if not expected_text:  # another secret in the place of the one committed to
        ((record,),) = store.run("SELECT record FROM prize WHERE claim = ?", won.claim_id)
        data = json.loads(record)
        data["trigger"]["salt"] = "f" * 64
        store.run("UPDATE prize SET record = ? WHERE claim = ?", json.dumps(data), won.claim_id)
        expected_text = "does not match the commitment"
    else:
        store.run(sql.format(won=won.contribution_number))
    with pytest.raises(MysteryError, match=expected_text):
        floor.controller.verify_levels()


def test_the_key_is_created_once_and_an_invalid_one_is_reported(tmp_path):
    with pytest.raises(Exception, match=MYSTERY_KEY_FILE_NAME):
        read_key(tmp_path)
    make_key(tmp_path)
    key = read_key(tmp_path)
    make_key(tmp_path)
    assert read_key(tmp_path) == key
    assert (tmp_path / MYSTERY_KEY_FILE_NAME).stat().st_mode & 0o777 == 0o600
    (tmp_path / MYSTERY_KEY_FILE_NAME).write_text("beef")
    with pytest.raises(Exception, match="the key has 2 bytes"):
        read_key(tmp_path)
