"""Improbable hits of one machine are held until two persons have decided on them."""

from contextlib import closing
from datetime import UTC, datetime
from fractions import Fraction
from math import comb

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from egm.config.levels import LevelScope
from egm.people import Person, Role, Roster
from egm.progressive.definition import LevelDefinition, LevelStakeAndHitRate
from egm.progressive.level import LevelTerms
from egm.progressive.messages import (
    Award,
    Claim,
    Contribution,
    EnrolmentRequest,
    LevelEnrolment,
    RefusalReason,
)
from tests.rigs.examples import scale_examples
from tools.cli import main
from tools.floor.progressive.controller import Controller, ReceivedMessage
from tools.floor.progressive.held_messages import RulingError
from tools.floor.progressive.improbable_hits import (
    PLAUSIBLE_PROBABILITY_MIN,
    compute_hit_probability_bound,
    is_improbable,
)
from tools.floor.progressive.store import SqliteReader, SqliteStore

AT = datetime(2026, 1, 1, tzinfo=UTC)
STAKE, ODDS = 100, Fraction(1, 1000)
INCREMENT = Fraction(1, 100)


def level(name="grand", **changes):
    return LevelDefinition(
        id=name,
        names={"en": name, "fr": name},
        scope=LevelScope.LINKED,
        terms=LevelTerms(base_cents=50_000, increment=INCREMENT, hidden_increment=Fraction(0)),
        stake_and_hit_rate=LevelStakeAndHitRate(stake_cents=STAKE, hit_rate=ODDS, **changes),
    )


class Machine:
    """One enrolled machine and the messages that it sends."""

    def __init__(self, controller, definition):
        self.controller = controller
        controller.open_levels([definition])
        controller.admit_machine("EGM-1")
        self.contribution_count = 0
        self.level = definition.id
        enrolment = LevelEnrolment(level=self.level, stake_cents=STAKE, odds=ODDS)
        self.translate(EnrolmentRequest(machine="EGM-1", nonce="n", levels=(enrolment,)))

    def translate(self, message):
        (answer,) = self.controller.process_messages([ReceivedMessage("EGM-1", message)])
        return answer

    def wager(self, times=1):
        for _ in range(times):
            self.contribution_count += 1
            share = STAKE * INCREMENT
            self.translate(
                Contribution(
                    machine="EGM-1",
                    level=self.level,
                    sequence=self.contribution_count,
                    wager_cents=STAKE,
                    amount=share,
                )
            )
        return self

    def claim(self, name, after=None):
        after = self.contribution_count if after is None else after
        return self.translate(
            Claim(machine="EGM-1", level=self.level, claim=name, after=after, shown_cents=50_000)
        )

    def events(self, kind):
        with self.controller.open_read_session() as session:
            return session.read_events(kind)


@pytest.fixture
def machine(controller):
    return Machine(controller, level())


@pytest.mark.requirement("I-14", "I-15")
def test_a_claim_without_a_wager_is_refused_and_recorded(machine):
    assert machine.claim("free", after=0).reason is RefusalReason.CLAIM_WITHOUT_WAGER
    assert machine.wager().claim("early", after=2).reason is RefusalReason.CLAIM_BEFORE_CONTRIBUTION
    assert machine.controller.read_win_register() == ()
    ((_, _, details),) = machine.events("refused")
    assert details["reason"] == "no_wager"


@pytest.mark.requirement("I-14", "I-15")
def test_one_wager_is_awarded_once_however_often_it_is_claimed(machine):
    machine.wager(5)
    assert isinstance(machine.claim("a"), Award)
    for name in ("b", "c", "b"):
        assert machine.claim(name).reason is RefusalReason.CLAIM_HELD
    assert [hit.claim_id for hit in machine.controller.read_win_register()] == ["a"]
    assert len(machine.events("refused")) == 2  # each claim once, however often it is made
    machine.controller.verify_levels()


@pytest.mark.requirement("I-14")
def test_a_level_may_state_that_one_wager_can_hit_it_twice(controller):
    machine = Machine(controller, level(hits_per_wager_max=2))
    machine.wager(5)
    assert isinstance(machine.claim("a"), Award)
    assert isinstance(machine.claim("b"), Award)
    assert machine.claim("c").reason is RefusalReason.CLAIM_HELD


@pytest.mark.requirement("I-14", "I-15")
def test_hits_more_frequent_than_their_odds_are_held_for_two_persons(machine):
    answers = [machine.wager().claim(f"c{n}") for n in range(6)]
    assert [type(answer) for answer in answers[:3]] == [Award] * 3
    assert {answer.reason for answer in answers[3:]} == {RefusalReason.CLAIM_HELD}
    with pytest.raises(RulingError, match="two people"):
        machine.controller.rule_on_held_message("c3", "award", ("alice",), "seen")
    with pytest.raises(RulingError, match="two people"):
        machine.controller.rule_on_held_message("c3", "award", ("alice", "alice"), "seen")
    with pytest.raises(RulingError, match="is not waiting"):
        machine.controller.rule_on_held_message("c0", "award", ("alice", "bob"), "seen")
    machine.controller.rule_on_held_message("c3", "award", ("alice", "bob"), "the reels were seen")
    machine.controller.rule_on_held_message("c4", "decline", ("alice", "bob"), "its door was open")
    assert isinstance(machine.claim("c3", after=4), Award)
    assert machine.claim("c3", after=5).reason is RefusalReason.CLAIM_DIFFERS
    assert machine.claim("c4", after=5).reason is RefusalReason.CLAIM_DECLINED
    assert machine.claim("c5", after=6).reason is RefusalReason.CLAIM_HELD
    assert [details["ruling"] for _, _, details in machine.events("ruled")] == ["award", "decline"]
    machine.controller.verify_levels()


@pytest.mark.requirement("I-15")
def test_at_a_terminal_two_enrolled_persons_decide_each_with_their_own_pin(tmp_path):
    path = tmp_path / "controller.db"
    with closing(SqliteStore(path)) as store:
        machine = Machine(Controller(store, lambda: AT), level())
        for n in range(4):
            machine.wager().claim(f"c{n}")
    roster = Roster.load(tmp_path / "people.json")
    for number, role in (("1", Role.MANAGER), ("2", Role.SUPERVISOR), ("3", Role.MECHANIC)):
        roster = roster.enrol_person(
            Person(number, f"P{number}", role), f"805{number}", changed_by="", changed_at=AT
        )

    def rule(person, second, *pins, claim="c3"):
        arguments = f"progressive rule {claim} award --person {person} --second {second} --reason seen"
        options = ["--state", str(tmp_path), "--store", str(path)]
        typed = "".join(f"{pin}\n" for pin in pins)
        return CliRunner().invoke(main, [*arguments.split(), *options], input=typed)

    assert "number or PIN is wrong" in rule("1", "2", "8051", "8051").output
    assert "number or PIN is wrong" in rule("nobody", "2", "8051", "8052").output
    assert "may not settle" in rule("1", "3", "8051", "8053").output
    assert "two people" in rule("1", "1", "8051", "8051").output
    no_claim = rule("1", "2", claim="c9").output
    assert "claim c9 is not waiting for a ruling" in no_claim
    assert "PIN" not in no_claim
    assert rule("1", "2", "8051", "8052").output.endswith("c3: award\n")
    with closing(SqliteReader(path)) as store, Controller(store, lambda: AT).open_read_session() as session:
        assert list(session.find_held_message("c3").persons) == ["1", "2"]


def test_improbable_hits_are_detected_also_after_long_play():
    long_played = 1_000_000
    wins = [*range(1000, long_played, 1000)]  # just as the odds say
    assert not is_improbable(wins, ODDS)
    assert not is_improbable([*wins, long_played, long_played + 1], ODDS)
    run = [long_played + n for n in range(5)]
    assert is_improbable([*wins, *run], ODDS)


def test_two_thousand_hits_slightly_above_the_odds_are_not_improbable():
    """The bound applies to each test; two thousand hits slightly above the odds never reach it."""
    assert not is_improbable([n * 950 for n in range(1, 2000)], ODDS)


@given(
    wagers=st.integers(1, 60),
    share=st.fractions(Fraction(1, 60), 1),
    odds=st.fractions(Fraction(1, 5000), Fraction(9, 10), max_denominator=5000),
)
@settings(max_examples=scale_examples(200))
def test_the_bound_is_never_below_the_exact_probability(wagers, share, odds):
    wins = max(1, round(wagers * share))
    exact = sum(comb(wagers, k) * odds**k * (1 - odds) ** (wagers - k) for k in range(wins, wagers + 1))
    bound = compute_hit_probability_bound(wagers, wins, odds)
    assert exact <= bound
    if wins > 2 * wagers * odds:
        assert bound <= exact * (wagers + 1) ** 2  # Chernoff's, and no looser
    assert (bound < PLAUSIBLE_PROBABILITY_MIN) <= (exact < PLAUSIBLE_PROBABILITY_MIN)
