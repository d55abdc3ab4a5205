"""The controller of progressive levels on both stores: enrolment, contributions, hits, payments and changes."""

import contextlib
import json
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest
from rigs.moments import NOW

from egm.config.levels import LevelScope
from egm.progressive.definition import LevelDefinition, LevelStakeAndHitRate
from egm.progressive.level import LevelDefectiveError, LevelTerms
from egm.progressive.messages import (
    Award,
    Claim,
    ClaimClosure,
    Contribution,
    ContributionCount,
    EnrolmentAccepted,
    EnrolmentRequest,
    LevelEnrolment,
    PaymentReport,
    Refusal,
    RefusalReason,
)
from egm.verify.examine import VerificationFindings
from tools.floor.progressive.controller import Controller, ControllerError, ReceivedMessage
from tools.floor.progressive.store import DeposedError, StoreBusyError, StoreLostError

STAKE, ODDS = 25, Fraction(1, 50_000)
SHARE = STAKE * Fraction(1, 300)


def level(name="grand", **changes):
    terms = {
        "base_cents": 1_000_00,
        "increment": Fraction(1, 300),
        "hidden_increment": Fraction(1, 700),
        **changes,
    }
    return LevelDefinition(
        id=name,
        names={"en": name.title(), "fr": name.title()},
        scope=LevelScope.LINKED,
        terms=LevelTerms(**terms),
        stake_and_hit_rate=LevelStakeAndHitRate(stake_cents=STAKE, hit_rate=ODDS),
    )


class Floor:
    """Machines that exchange messages with a controller, one at a time."""

    def __init__(self, controller: Controller, *machines: str) -> None:
        self.controller = controller
        controller.open_levels([level()])
        for machine in machines:
            controller.admit_machine(machine)
            assert isinstance(self.join(machine), EnrolmentAccepted)

    def tell(self, machine, message):
        (answer,) = self.controller.process_messages([ReceivedMessage(machine, message)])
        return answer

    def join(self, machine, name="grand", stake=STAKE, odds=ODDS):
        expected = LevelEnrolment(level=name, stake_cents=stake, odds=odds)
        return self.tell(machine, EnrolmentRequest(machine=machine, nonce="n", levels=(expected,)))

    def give(self, machine, sequence, name="grand", wager=STAKE, amount=SHARE):
        contribution = Contribution(
            machine=machine, level=name, sequence=sequence, wager_cents=wager, amount=amount
        )
        return self.tell(machine, contribution)

    def claim(self, machine, claim, after, name="grand"):
        return self.tell(
            machine, Claim(machine=machine, level=name, claim=claim, after=after, shown_cents=1_000_00)
        )

    def commit(self, machine, claim, cents, way="credit", name="grand"):
        return self.tell(
            machine, PaymentReport(machine=machine, level=name, claim=claim, amount_cents=cents, way=way)
        )

    def record(self, name="grand"):
        return next(record for record in self.controller.list_level_records() if record.id == name)


@pytest.fixture
def floor(controller):
    return Floor(controller, "EGM-1", "EGM-2")


@pytest.mark.requirement("I-03")
def test_a_machine_with_another_stake_odds_or_level_is_not_enrolled(floor):
    for answer, reason in (
        (floor.join("EGM-1", stake=26), RefusalReason.OTHER_STAKE),
        (floor.join("EGM-1", odds=ODDS + Fraction(1, 10**12)), RefusalReason.OTHER_ODDS),
        (floor.join("EGM-1", name="petit"), RefusalReason.UNKNOWN_LEVEL),
        (floor.join("EGM-9"), RefusalReason.UNKNOWN_MACHINE),
    ):
        assert isinstance(answer, Refusal)
        assert answer.reason is reason
    joined = floor.join("EGM-1")
    assert (joined.increment, joined.last_counted_number) == (Fraction(1, 300), 0)


@pytest.mark.requirement("I-15:a")
def test_the_time_of_each_machines_last_message_is_stored(floor, controller):
    controller.admit_machine("EGM-3")
    floor.join("EGM-9")  # on no list: it is answered, and no more
    with controller.open_read_session() as session:
        before = session.read_message_times()
        assert session.list_enrolled_levels("EGM-1") == ("grand",)
        assert session.list_enrolled_levels("EGM-3") == ()
    assert sorted(before) == ["EGM-1", "EGM-2"]
    floor.give("EGM-2", 1)
    controller.dismiss_machine("EGM-1")
    with controller.open_read_session() as session:
        after = session.read_message_times()
    assert list(after) == ["EGM-2"]
    assert after["EGM-2"] > before["EGM-2"]


@pytest.mark.requirement("I-01", "I-14")
def test_each_contribution_is_counted_once_in_sequence_to_the_exact_fraction(floor):
    assert floor.give("EGM-1", 1).last_counted_number == 1
    assert floor.give("EGM-1", 1).last_counted_number == 1
    gap = floor.give("EGM-1", 3)
    assert (gap.reason, gap.next_needed_number) == (RefusalReason.CONTRIBUTIONS_MISSING, 2)
    assert floor.give("EGM-1", 2).last_counted_number == 2
    assert floor.give("EGM-2", 1).last_counted_number == 1
    stored_level = floor.record().level
    assert stored_level.current_amount == 1_000_00 + 3 * SHARE
    assert stored_level.hidden_amount == 3 * STAKE * Fraction(1, 700)
    floor.controller.verify_levels()


@pytest.mark.requirement("I-14:b")
def test_the_check_detects_a_level_that_contradicts_its_ledger_or_win_register(floor, controller):
    """The level is consistent in itself, but contains a contribution or a hit that was never recorded."""
    floor.give("EGM-1", 1)
    right = floor.record()
    grown, won = right.level.add_contribution(STAKE), right.level.pay_hit()[1]
    for wrong, reason in ((grown, "but the ledger has"), (won, "the register has 0 of 0"), (right.level, "")):
        with controller.open_read_session() as session:
            session.put_level(replace(right, level=wrong))
        with pytest.raises(ControllerError, match=reason) if reason else contextlib.nullcontext():
            controller.verify_levels()


@pytest.mark.requirement("I-15")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"wager": 50, "amount": 2 * SHARE}, RefusalReason.WRONG_AMOUNT),
        ({"amount": SHARE + Fraction(1, 10**9)}, RefusalReason.WRONG_AMOUNT),
        ({"name": "petit"}, RefusalReason.UNKNOWN_LEVEL),
    ],
)
def test_a_contribution_that_is_not_the_share_of_its_wager_changes_nothing(floor, changes, reason):
    before = floor.record()
    assert floor.give("EGM-1", 1, **changes).reason is reason
    assert floor.record() == before
    floor.give("EGM-1", 1)
    assert (
        floor.give("EGM-1", 1, wager=50, amount=2 * SHARE).reason is RefusalReason.WRONG_AMOUNT
    )  # another first
    floor.controller.verify_levels()


@pytest.mark.requirement("I-15:a")
def test_a_machine_cannot_claim_for_another_machine(floor):
    before = floor.record()
    forged = Claim(machine="EGM-1", level="grand", claim="c", after=0, shown_cents=1_000_00)
    assert floor.controller.process_messages([ReceivedMessage("EGM-2", forged)]) == []
    assert floor.record() == before
    assert floor.controller.read_win_register() == ()


def _give(**changes):
    values = {"machine": "EGM-1", "level": "grand", "sequence": 2, "wager_cents": STAKE, "amount": SHARE}
    return Contribution(**{**values, **changes})


def _claim(**changes):
    return Claim(
        **{"machine": "EGM-1", "level": "grand", "claim": "c2", "after": 1, "shown_cents": 1, **changes}
    )


def _commit(**changes):
    return PaymentReport(
        **{"machine": "EGM-1", "level": "grand", "claim": "c1", "amount_cents": 1_000_00, **changes}
    )


JOIN = EnrolmentRequest(
    machine="EGM-9", nonce="n", levels=(LevelEnrolment(level="grand", stake_cents=STAKE, odds=ODDS),)
)


@pytest.mark.requirement("I-15")
@pytest.mark.parametrize(
    ("sender", "message", "kind", "reason"),
    [
        pytest.param("EGM-9", JOIN, "refused", "unknown_machine", id="an unknown machine enrols"),
        pytest.param("EGM-9", _give(machine="EGM-9"), "refused", "unknown_machine", id="or wagers"),
        pytest.param("EGM-9", _claim(machine="EGM-9"), "refused", "unknown_machine", id="or hits"),
        pytest.param("EGM-2", _give(), "forged", None, id="a forged wager"),
        pytest.param("EGM-2", _claim(), "forged", None, id="a forged hit"),
        pytest.param("EGM-2", _commit(), "forged", None, id="a forged payment"),
        pytest.param("EGM-1", _give(sequence=3), "refused", "gap", id="a wager out of sequence"),
        pytest.param(
            "EGM-1",
            _give(sequence=1, amount=2 * SHARE),
            "refused",
            "wrong_amount",
            id="a replay that differs",
        ),
        pytest.param("EGM-1", _give(level="petit"), "refused", "unknown_level", id="a wager for no level"),
        pytest.param("EGM-1", _claim(level="petit"), "refused", "unknown_level", id="a hit of no level"),
        pytest.param(
            "EGM-2", _claim(machine="EGM-2", claim="c1"), "refused", "claim_differs", id="another's hit"
        ),
        pytest.param("EGM-1", _commit(claim="c9"), "refused", "unknown_claim", id="a payment of no hit"),
        pytest.param(
            "EGM-2", _commit(machine="EGM-2"), "refused", "unknown_claim", id="a payment of another's hit"
        ),
    ],
)
def test_an_invalid_message_is_refused_recorded_and_changes_nothing(floor, sender, message, kind, reason):
    floor.give("EGM-1", 1)
    floor.claim("EGM-1", "c1", 1)
    controller = floor.controller
    before = controller.list_level_records(), controller.read_win_register(), _events(controller)
    for _ in range(2):  # and again no more
        answers = controller.process_messages([ReceivedMessage(sender, message)])
        assert [answer.reason for answer in answers] == ([reason] if reason else [])
    assert (controller.list_level_records(), controller.read_win_register()) == before[:2]
    (_, recorded, details), *later_events = _events(controller)[len(before[2]) :]
    assert recorded == kind
    assert details.get("reason") == reason
    assert not (reason == "gap" and later_events), "one gap, one record, however much comes after it"
    controller.verify_levels()


@pytest.mark.requirement("I-15")
def test_a_repeated_message_gets_the_same_reply_and_changes_nothing(floor):
    controller = floor.controller
    messages = [
        ReceivedMessage("EGM-1", message) for message in (_give(sequence=1), _claim(claim="c1"), _commit())
    ]
    first = controller.process_messages(messages)
    before = controller.list_level_records(), controller.read_win_register(), _events(controller)
    assert controller.process_messages(messages) == first
    assert (controller.list_level_records(), controller.read_win_register(), _events(controller)) == before


def _events(controller):
    with controller._store.transaction() as session:
        return session.read_events()


@pytest.mark.requirement("I-09", "I-10")
def test_simultaneous_hits_are_ordered_and_each_is_paid_its_own_amount(floor):
    floor.give("EGM-1", 1)
    floor.give("EGM-2", 1)
    first, second = floor.controller.process_messages(
        ReceivedMessage(
            name,
            Claim(
                machine=name,
                level="grand",
                claim=f"{name}.hit",
                after=1,
                shown_cents=1_000_00,
                at_utc=f"2026-01-01T00:00:0{name[-1]}+00:00",
            ),
        )
        for name in ("EGM-2", "EGM-1")  # the machines' own clocks say it was the other way round
    )
    assert isinstance(first, Award)
    assert isinstance(second, Award)
    assert (first.amount_cents, first.hit_number, second.hit_number) == (1_000_00, 1, 2)
    assert second.amount_cents == 1_000_00  # the base, and less than one minor unit
    for award in (first, second):
        repeated_award = floor.claim(award.machine, award.claim_id, 1)
        assert repeated_award == award
        assert isinstance(floor.commit(award.machine, award.claim_id, award.amount_cents), ClaimClosure)
        assert isinstance(floor.commit(award.machine, award.claim_id, award.amount_cents), ClaimClosure)
    assert [
        (hit.machine, hit.hit_number, hit.paid_cents) for hit in floor.controller.read_win_register()
    ] == [
        ("EGM-2", 1, 1_000_00),
        ("EGM-1", 2, 1_000_00),
    ]
    assert floor.record().falls == 2
    floor.controller.verify_levels()


@pytest.mark.requirement("I-10")
def test_a_claim_is_accepted_only_after_its_own_wager_and_for_its_own_machine(floor):
    early = floor.claim("EGM-1", "c1", after=1)
    assert (early.reason, early.next_needed_number) == (RefusalReason.CLAIM_BEFORE_CONTRIBUTION, 1)
    floor.give("EGM-1", 1)
    floor.claim("EGM-1", "c1", after=1)
    floor.give("EGM-2", 1)
    assert floor.claim("EGM-2", "c1", after=1).reason is RefusalReason.CLAIM_DIFFERS
    assert floor.commit("EGM-2", "c1", 1_000_00).reason is RefusalReason.UNKNOWN_CLAIM
    assert floor.commit("EGM-1", "c2", 1_000_00).reason is RefusalReason.UNKNOWN_CLAIM
    assert len(floor.controller.read_win_register()) == 1


@pytest.mark.requirement("I-09")
@pytest.mark.parametrize("way", ["credit", "hand", "void"])
def test_signs_receive_the_winner_for_a_minute_unless_the_game_was_void(floor, clock, way):
    def list_shown_wins():
        floor.controller.update_values()
        return [(won.level_id, won.machine, won.amount_cents) for won in floor.controller.wins]

    for sequence in range(1, 31):
        floor.give("EGM-2", sequence)
    assert list_shown_wins() == []
    award = floor.claim("EGM-2", "c1", 30)
    assert list_shown_wins() == [("grand", "EGM-2", award.amount_cents)]
    paid_cents = {"credit": award.amount_cents, "hand": award.amount_cents - 1, "void": 0}[way]
    floor.commit("EGM-2", "c1", paid_cents, way=way)
    assert list_shown_wins() == ([] if way == "void" else [("grand", "EGM-2", paid_cents)])
    clock.move(timedelta(minutes=1))
    assert list_shown_wins() == []


@pytest.mark.requirement("I-11", "I-14:a")
def test_the_award_of_a_void_game_returns_to_the_level(floor):
    floor.give("EGM-1", 1)
    award = floor.claim("EGM-1", "c1", 1)
    before = floor.record().level.current_amount
    floor.commit("EGM-1", "c1", 0, way="void")
    assert floor.record().level.current_amount == before + award.amount_cents
    floor.controller.verify_levels()
    for sequence in range(2, 32):
        floor.give("EGM-1", sequence)
    assert floor.claim("EGM-1", "c2", 31).hit_number == 2  # no place is given twice


@pytest.mark.requirement("I-06")
def test_new_terms_take_effect_after_the_next_win_and_the_stake_never_changes(floor):
    assert floor.controller.open_levels([level(base_cents=2_000_00)]) == [
        "grand: new terms after the next win"
    ]
    assert floor.controller.open_levels([level(base_cents=2_000_00)]) == []
    assert floor.record().level.shown_cents == 1_000_00
    floor.give("EGM-1", 1)
    assert floor.claim("EGM-1", "c1", 1).amount_cents == 1_000_00
    assert floor.record().level.shown_cents == 2_000_00
    other = level()
    other = LevelDefinition(
        id=other.id,
        names=other.names,
        scope=other.scope,
        terms=other.terms,
        stake_and_hit_rate=LevelStakeAndHitRate(stake_cents=30, hit_rate=ODDS),
    )
    with pytest.raises(ControllerError, match="open another level"):
        floor.controller.open_levels([other])
    floor.controller.verify_levels()


def test_a_new_name_or_maximum_of_hits_takes_effect_at_once(floor):
    renamed = replace(level(), names={"en": "Giant", "fr": "Géant"})
    assert floor.controller.open_levels([renamed]) == ["grand: new name or maximum number of hits"]
    assert floor.record().names["en"] == "Giant"
    several_hits = replace(
        renamed,
        stake_and_hit_rate=LevelStakeAndHitRate(stake_cents=STAKE, hit_rate=ODDS, hits_per_wager_max=3),
    )
    assert floor.controller.open_levels([several_hits]) == ["grand: new name or maximum number of hits"]
    assert floor.record().hits_per_wager_max == 3
    assert floor.controller.open_levels([several_hits]) == []


@pytest.mark.requirement("I-01", "I-06")
def test_until_the_next_win_a_level_grows_by_its_old_terms(floor):
    """A new base, hidden increment and ceiling take effect after the next win."""
    shown_terms = floor.record().level.terms
    changed = level(base_cents=2_000_00, hidden_increment=Fraction(1, 10), ceiling_cents=9_000_00)
    floor.controller.open_levels([changed])
    assert floor.record().level.terms == shown_terms
    before = floor.record().level.current_amount
    assert isinstance(floor.give("EGM-1", 1), ContributionCount)
    assert floor.record().level.current_amount - before == STAKE * shown_terms.increment
    floor.claim("EGM-1", "c1", 1)
    assert (floor.record().level.terms, floor.record().level.shown_cents) == (changed.terms, 2_000_00)
    floor.controller.verify_levels()


@pytest.mark.requirement("I-06", "I-13:a")
def test_the_increment_of_a_level_never_changes(floor):
    """Regression: after the next win, a contribution made before it was refused, and so were all later ones."""
    with pytest.raises(ControllerError, match="increment 1/300 cannot become 1/10: open another level"):
        floor.controller.open_levels([level(increment=Fraction(1, 10))])
    floor.give("EGM-1", 1)
    floor.claim("EGM-1", "c1", 1)
    assert isinstance(floor.give("EGM-2", 1), ContributionCount)  # made before the win, received after it
    floor.controller.verify_levels()


@pytest.mark.requirement("I-12", "I-13:a")
def test_a_closed_level_passes_all_its_money_to_another_late_messages_included(floor):
    floor.controller.open_levels([level("petit", base_cents=50_00)])
    floor.give("EGM-1", 1)
    stored_level = floor.record().level
    moved = floor.controller.close_level("grand", "petit")
    assert moved == stored_level.current_amount + stored_level.hidden_amount
    assert floor.record("petit").level.current_amount == 50_00 + moved
    assert isinstance(floor.give("EGM-1", 2), ContributionCount)  # made earlier, received now
    late = floor.claim("EGM-1", "c1", 2)
    assert late.amount_cents == 1_000_00  # the amount that it last showed
    assert floor.claim("EGM-1", "c1", 2) == late
    assert floor.join("EGM-1").reason is RefusalReason.LEVEL_CLOSED
    for wrong in (("grand", "petit"), ("petit", "grand"), ("petit", "petit"), ("none", "petit")):
        with pytest.raises(ControllerError):
            floor.controller.close_level(*wrong)
    floor.controller.verify_levels()


def test_a_dismissed_machine_is_refused_and_its_contributions_remain(floor):
    floor.give("EGM-1", 1)
    floor.controller.dismiss_machine("EGM-1")
    assert floor.give("EGM-1", 2).reason is RefusalReason.UNKNOWN_MACHINE
    assert floor.record().level.current_amount == 1_000_00 + SHARE
    with pytest.raises(ControllerError, match="EGM-1"):
        floor.controller.dismiss_machine("EGM-1")


@pytest.mark.requirement("I-07")
def test_a_restarted_controller_continues_from_its_store(open_store, controller):
    floor = Floor(controller, "EGM-1")
    floor.give("EGM-1", 1)
    award = floor.claim("EGM-1", "c1", 1)
    before = floor.record()
    controller._store.close()
    restarted = Floor(Controller(open_store(), controller._now))
    assert restarted.record() == before
    assert restarted.claim("EGM-1", "c1", 1) == award
    assert restarted.give("EGM-1", 2).last_counted_number == 2
    restarted.controller.verify_levels()


@pytest.mark.requirement("I-11", "I-15:b")
def test_sequences_of_values_rise_across_a_restart(open_store, controller):
    floor = Floor(controller, "EGM-1")
    first = controller.update_values()[0]
    assert (first.amount_cents, first.fall_count) == (1_000_00, 0)
    assert controller.update_values()[0].sequence == first.sequence + 1
    controller._store.close()
    later = Controller(open_store(), controller._now)
    assert later.update_values()[0].sequence > first.sequence + 1
    assert floor.controller is controller


def test_only_one_controller_can_open_a_store(open_store, controller):
    assert controller.update_values() == []
    with pytest.raises(StoreBusyError):
        open_store()


def test_a_deposed_controller_writes_nothing(open_store, controller):
    floor = Floor(controller, "EGM-1")
    store = controller._store
    store.run("UPDATE office SET term = term + 1")  # somebody else has taken over meanwhile
    with pytest.raises(DeposedError):
        floor.give("EGM-1", 1)
    with pytest.raises(DeposedError):
        controller.update_values()
    store.term += 1
    assert floor.record().level.contributed_amount == 0


@pytest.mark.requirement("I-07")
def test_a_stalled_controller_loses_its_store_and_another_takes_over(postgres):
    from tools.floor.progressive.postgres import PostgresStore

    dsn = postgres.create_database("stands_still")
    with contextlib.ExitStack() as ending:
        first = PostgresStore(dsn)
        ending.callback(first.close)
        floor = Floor(Controller(first, _now), "EGM-1")
        floor.give("EGM-1", 1)
        with pytest.raises(StoreBusyError):
            PostgresStore(dsn)
        assert first.run("SHOW idle_session_timeout")[0][0] == "30s"
        assert first.run("SHOW idle_in_transaction_session_timeout")[0][0] == "30s"
        first.run("SET idle_session_timeout = 1")  # and it is silent for longer
        second = _when_free(dsn)
        ending.callback(second.close)
        with pytest.raises(StoreLostError):
            floor.give("EGM-1", 2)
        with pytest.raises(StoreLostError):
            floor.controller.renew_term()
        restarted = Controller(second, _now)
        restarted.verify_levels()
        assert restarted.list_level_records()[0].level.contributed_amount == STAKE * (
            Fraction(1, 300) + Fraction(1, 700)
        )


def _now():
    return NOW


def _when_free(dsn):
    """Open the store as soon as no other controller uses it, and return it."""
    from tools.floor.progressive.postgres import PostgresStore

    while True:
        with contextlib.suppress(StoreBusyError):
            return PostgresStore(dsn)


@pytest.mark.requirement("I-16", "I-17")
def test_daily_amounts_and_wins_are_recorded(floor):
    floor.give("EGM-1", 1)
    floor.controller.update_values()
    ((day, name, _, cents),) = floor.controller.list_daily_amounts()
    assert (day, name, cents) == ("2026-01-01", "grand", 1_000_00), "of a level that nobody has won yet"
    floor.claim("EGM-1", "c1", 1)
    floor.commit("EGM-1", "c1", 1_000_00, way="hand")
    for number in range(2, 26):  # two cents of it
        floor.give("EGM-1", number)
    floor.controller.update_values()
    ((day, name, _, cents),) = floor.controller.list_daily_amounts()
    assert (day, name, cents) == ("2026-01-01", "grand", 1_000_02)
    (hit,) = floor.controller.read_win_register()
    assert (hit.machine, hit.amount_cents, hit.payment_method, hit.paid_cents) == (
        "EGM-1",
        1_000_00,
        "hand",
        1_000_00,
    )
    assert hit.awarded_at
    assert hit.closed_at


@pytest.mark.requirement("I-16")
def test_each_day_has_its_own_amount(floor, monkeypatch):
    floor.give("EGM-1", 1)
    floor.controller.update_values()
    tomorrow = floor.controller._now() + timedelta(days=1)
    monkeypatch.setattr(floor.controller, "_now", lambda: tomorrow)
    for number in range(2, 26):
        floor.give("EGM-1", number)
    floor.controller.update_values()
    days = [(day, cents) for day, _, _, cents in floor.controller.list_daily_amounts()]
    assert days == [("2026-01-01", 1_000_00), ("2026-01-02", 1_000_02)]


@pytest.mark.requirement("I-08")
@pytest.mark.parametrize("amount", ["0", "1"])
def test_the_check_detects_an_altered_contribution(floor, amount):
    floor.give("EGM-1", 1)
    store = floor.controller._store
    store.run(f"UPDATE contribution SET amount = '{amount}'")
    with pytest.raises(ControllerError, match="the ledger has"):
        floor.controller.verify_levels()


@pytest.mark.requirement("I-08")
def test_the_check_detects_money_that_is_in_no_pool_of_a_level(floor):
    """Contributions and win register agree, but the pools of the level do not add up."""
    floor.give("EGM-1", 1)
    store = floor.controller._store
    ((text,),) = store.run("SELECT record FROM level")
    record = json.loads(text)
    record["level"]["seeded"] += 1
    store.run("UPDATE level SET record = ?", json.dumps(record))
    with pytest.raises(LevelDefectiveError, match=r"contributed .* seeded"):
        floor.controller.verify_levels()


@pytest.mark.requirement("I-08")
def test_altered_software_is_recorded_and_refused(floor):
    altered = VerificationFindings(differences=("egm/progressive/level.py: differs",))
    with pytest.raises(ControllerError, match=r"differs from the signed software: egm/progressive/level\.py"):
        floor.controller.record_software_check(altered)
    ((_, _, details),) = [event for event in _events(floor.controller) if event[1] == "software_altered"]
    assert details == {"trouble": ["egm/progressive/level.py: differs"]}


def _list_held_messages(controller):
    with controller.open_read_session() as session:
        return [held_claim for held_claim in session.list_held_messages() if not held_claim.ruling]


@pytest.mark.requirement("I-14", "I-15")
@pytest.mark.parametrize("shown_cents", [1_000_00, 10**8, 2**62])
def test_a_payment_beyond_award_and_display_does_not_lower_the_level(floor, shown_cents):
    """Regression: one report of 1,000,000.00 paid on an award of 20.00 removed all growth of the level."""
    for sequence in range(1, 31):
        floor.give("EGM-1", sequence)
    floor.give("EGM-2", 1)
    floor.tell("EGM-2", _claim(machine="EGM-2", claim="c", shown_cents=shown_cents))
    for sequence in range(31, 61):
        floor.give("EGM-1", sequence)
    before = floor.record()
    for _ in range(2):
        assert isinstance(floor.commit("EGM-2", "c", 10**8, way="hand"), ClaimClosure)
    assert floor.record() == before
    ((held_claim),) = _list_held_messages(floor.controller)
    (hit,) = floor.controller.read_win_register()
    assert (held_claim.claim_id, hit.paid_cents, hit.amount_cents) == (
        "c/payment",
        10**8,
        before.level.paid_cents,
    )
    assert len([kind for _, kind, _ in _events(floor.controller) if kind == "payment_held"]) == 1
    floor.controller.update_values()
    assert floor.controller.held_count == 1
    floor.controller.verify_levels()
    floor.controller.rule_on_held_message("c/payment", "decline", ("1", "2"), "the slip says the award")
    assert floor.record() == before
    assert _list_held_messages(floor.controller) == []
    floor.controller.update_values()
    assert floor.controller.held_count == 0


@pytest.mark.requirement("I-14", "I-15")
def test_two_persons_can_let_the_level_bear_an_implausible_payment(floor):
    floor.give("EGM-1", 1)
    award = floor.claim("EGM-1", "c", 1)
    floor.commit("EGM-1", "c", award.amount_cents + 700)
    floor.controller.rule_on_held_message("c/payment", "award", ("1", "2"), "paid by mistake, and approved")
    (hit,) = floor.controller.read_win_register()
    assert hit.amount_cents == hit.paid_cents == floor.record().level.paid_cents == award.amount_cents + 700
    floor.controller.verify_levels()


@pytest.mark.requirement("I-14", "I-15")
def test_a_payment_below_award_and_display_returns_nothing_to_the_level(floor):
    floor.give("EGM-1", 1)
    award = floor.claim("EGM-1", "c", 1)
    before = floor.record()
    floor.commit("EGM-1", "c", 0, way="hand")
    assert floor.record() == before
    assert [held_claim.claim_id for held_claim in _list_held_messages(floor.controller)] == ["c/payment"]
    assert floor.record().level.paid_cents == award.amount_cents


@pytest.mark.requirement("I-10", "I-14")
def test_what_a_machine_showed_before_another_hit_is_paid_without_a_ruling(floor):
    messages = [ReceivedMessage("EGM-1", _give(sequence=sequence)) for sequence in range(1, 601)]
    floor.controller.process_messages(
        [*messages, ReceivedMessage("EGM-2", _give(machine="EGM-2", sequence=1))]
    )
    shown_cents = floor.record().level.shown_cents
    first = floor.claim("EGM-1", "c1", 600)
    second = floor.tell("EGM-2", _claim(machine="EGM-2", claim="c2", after=1, shown_cents=shown_cents))
    assert first.amount_cents == shown_cents > second.amount_cents
    floor.commit("EGM-2", "c2", shown_cents, way="hand")
    assert _list_held_messages(floor.controller) == []
    assert floor.record().level.paid_cents == 2 * shown_cents
    floor.controller.verify_levels()


def test_a_void_hit_is_recorded_with_no_more_than_its_award(floor):
    floor.give("EGM-1", 1)
    award = floor.claim("EGM-1", "c", 1)
    for _ in range(2):
        floor.commit("EGM-1", "c", 10**8, way="void")
    assert [hit.paid_cents for hit in floor.controller.read_win_register()] == [award.amount_cents]
    assert "commit_differs" not in {kind for _, kind, _ in _events(floor.controller)}
    floor.controller.verify_levels()
