"""A level's amounts are exact to the fraction, conserved, and fall only by a win or a limit."""

import json
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egm.progressive import posting
from egm.progressive.level import Level, LevelDefectiveError, LevelTerms, LevelTermsError
from meters.chart import check_flow
from paytables import compute_mystery_rate

TERMS = LevelTerms(
    base_cents=2500, increment=Fraction(1, 200), hidden_increment=Fraction(1, 700), ceiling_cents=4000
)

shares = st.fractions(min_value=0, max_value=Fraction(1, 10), max_denominator=10_000)


@st.composite
def terms(draw):
    base = draw(st.integers(1, 10_000))
    ceiling = draw(st.none() | st.integers(base + 1, base + 20_000))
    return LevelTerms(
        base_cents=base, increment=draw(shares), hidden_increment=draw(shares), ceiling_cents=ceiling
    )


histories = st.lists(
    st.one_of(
        st.tuples(st.just("wager"), st.integers(1, 50_000)),
        st.tuples(st.just("hit"), st.none()),
        st.tuples(st.just("part"), st.integers(1, 99)),
        st.tuples(st.just("void"), st.none()),
        st.tuples(st.just("change"), terms()),
        st.tuples(st.just("receive"), st.fractions(min_value=0, max_value=5000, max_denominator=977)),
    ),
    max_size=40,
)


@pytest.mark.requirement("I-14:a", "I-11", "I-01")
@given(terms(), histories)
def test_nothing_is_lost_to_the_fraction_and_only_a_win_lowers_the_display(first, happened):
    level, paid, put_in = Level.open(first), [], Fraction(0)
    for operation, value in happened:
        before = level
        if operation == "wager":
            level = level.add_contribution(value)
            put_in += value * (before.terms.increment + before.terms.hidden_increment)
        elif operation == "hit":
            amount, level = level.pay_hit()
            assert amount == before.shown_cents
            assert level.terms == (before.next_terms or before.terms)
            assert level.shown_cents >= level.terms.base_cents
            paid.append(amount)
        elif operation == "part":
            amount, level = level.pay_hit(Fraction(value, 100))
            assert amount == before.shown_cents * value // 100
            assert (level.terms, level.next_terms) == (before.terms, before.next_terms)
            assert level.shown_cents >= level.terms.base_cents
            if level.seeded_cents == before.seeded_cents:
                assert level.held_amount == before.held_amount - amount
            else:  # only the part that it left below the base was added
                assert level.shown_cents - int(before.overflow_amount) <= level.terms.base_cents
            paid.append(amount)
        elif operation == "void" and paid:
            level = level.return_award(paid.pop())
        elif operation == "change":
            level = level.change_terms(value)
            assert level.shown_cents == before.shown_cents
        elif operation == "receive":
            level = level.add_received_amount(value)
        level.check_sums()
        if operation not in {"hit", "part"}:
            assert level.current_amount >= before.current_amount
        if level.terms.ceiling_cents is not None:
            assert level.shown_cents <= level.terms.ceiling_cents
    assert level.paid_cents == sum(paid)
    assert level.contributed_amount == put_in
    assert Level.from_json(json.loads(json.dumps(level.to_json()))) == level
    amount, empty = level.release_whole_amount()
    empty.check_sums()
    assert empty.shown_cents == 0
    assert (
        level.add_received_amount(amount).current_amount + level.add_received_amount(amount).overflow_amount
        == level.current_amount + level.overflow_amount + amount
    )


@pytest.mark.requirement("I-01")
def test_a_wager_adds_its_share_and_nothing_is_rounded():
    level = Level.open(TERMS)
    for _ in range(3):
        level = level.add_contribution(50)
    assert level.current_amount == 2500 + Fraction(3, 4)
    assert level.hidden_amount == Fraction(150, 700)
    assert level.shown_cents == 2500


@pytest.mark.requirement("I-05")
def test_contributions_above_the_ceiling_go_to_the_next_prize():
    level = Level.open(TERMS)
    while not level.overflow_amount:
        level = level.add_contribution(50_000)
    assert level.shown_cents == 4000
    for _ in range(10):
        level = level.add_contribution(50_000)
    before = level
    amount, level = level.pay_hit()
    assert amount == 4000
    hidden, overflow = int(before.hidden_amount), int(before.overflow_amount)
    assert level.seeded_cents == 2500 + max(0, 2500 - hidden)
    put_back = max(2500, hidden) + overflow
    assert (level.shown_cents, int(level.overflow_amount)) == (4000, put_back - 4000)
    assert level.hidden_amount == before.hidden_amount - hidden


@pytest.mark.requirement("I-14")
def test_a_share_is_rounded_down_and_the_remainder_stays():
    level = Level.open(LevelTerms(base_cents=2500, increment=Fraction(1, 3))).add_contribution(4000)
    assert level.current_amount == 2500 + Fraction(4000, 3)
    amount, after = level.pay_hit(Fraction(1, 10))
    assert (amount, after.current_amount) == (383, level.current_amount - 383)
    assert (after.seeded_cents, after.paid_cents, after.hit_count) == (2500, 383, 1)
    amount, after = after.pay_hit(Fraction(9, 10))  # 345 are left, and a third
    assert (amount, after.current_amount, after.seeded_cents) == (3105, 2500 + Fraction(1, 3), 2500 + 2155)
    for wrong in (Fraction(0), Fraction(-1, 2), Fraction(11, 10)):
        with pytest.raises(LevelDefectiveError, match="of a level"):
            level.pay_hit(wrong)


@pytest.mark.requirement("I-05")
def test_after_a_share_the_base_is_refilled_from_the_hidden_pool_first():
    level = Level.open(TERMS).add_contribution(50_000)
    assert (level.current_amount, int(level.hidden_amount)) == (2750, 71)
    amount, after = level.pay_hit(Fraction(1, 2))
    assert (amount, after.shown_cents) == (1375, 2500)
    assert (after.seeded_cents - level.seeded_cents, int(after.hidden_amount)) == (1125 - 71, 0)
    full = level.add_contribution(1_000_000)
    assert (full.shown_cents, int(full.overflow_amount)) == (4000, 3750)
    amount, after = full.pay_hit(Fraction(1, 10))  # the overflow follows, up to the ceiling
    assert (amount, after.shown_cents, int(after.overflow_amount)) == (400, 4000, 3350)
    assert (after.seeded_cents, after.hidden_amount) == (full.seeded_cents, full.hidden_amount)


@pytest.mark.requirement("I-01", "I-06")
def test_changed_terms_take_effect_after_the_win():
    changed = LevelTerms(base_cents=9000, increment=Fraction(1, 50))
    level = Level.open(TERMS).change_terms(changed).add_contribution(200)
    assert level.current_amount == 2501
    _, level = level.pay_hit()
    assert (level.terms, level.shown_cents) == (changed, 9000)
    assert Level.open(TERMS).change_terms(changed).change_terms(TERMS).next_terms is None


def test_the_mystery_amount_is_uniform_although_it_is_not_stored():
    """The product of the chances of all wagers shows that each range is hit in proportion to its length."""
    terms = LevelTerms(base_cents=100, increment=Fraction(1, 30), ceiling_cents=110, is_mystery=True)
    level, still = Level.open(terms), Fraction(1)
    wagers = [40, 7, 55, 90, 40, 68]
    assert sum(wagers) * terms.increment == 10
    for wager in wagers:
        favourable, bound = level.compute_mystery_hit_chance(wager)
        hit_here = still * Fraction(favourable, bound)
        assert hit_here == wager * terms.increment / 10
        still -= hit_here
        level = level.add_contribution(wager)
    assert still == 0
    assert level.shown_cents == 110
    assert Level.open(TERMS).compute_mystery_hit_chance(40) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_cents": 0},
        {"increment": Fraction(-1, 2)},
        {"increment": Fraction(1, 2), "hidden_increment": Fraction(1, 2)},
        {"ceiling_cents": 2500},
        {"is_mystery": True, "ceiling_cents": None},
        {"is_mystery": True, "increment": Fraction(0)},
    ],
)
def test_impossible_terms_of_a_level_are_refused(wrong):
    given_ = {"base_cents": 2500, "increment": Fraction(1, 200), "ceiling_cents": 4000} | wrong
    with pytest.raises(LevelTermsError):
        LevelTerms(**given_)


@pytest.mark.requirement("I-14:b")
def test_a_level_record_that_does_not_balance_is_refused():
    record = Level.open(TERMS).add_contribution(900).to_json()
    for change in ({"current": "2501"}, {"hidden": 0.5}, {"paid": None}, {"terms": {}}):
        with pytest.raises(LevelDefectiveError):
            Level.from_json(record | change)
    with pytest.raises(LevelDefectiveError):
        Level.open(TERMS).return_award(1)
    with pytest.raises(LevelDefectiveError):
        Level.open(TERMS).add_contribution(0)


@pytest.mark.requirement("I-14", "I-20")
@given(terms(), histories)
def test_the_accounts_hold_the_whole_units_of_every_step(first, happened):
    balances: Counter[str] = Counter()

    def move(transfers):
        for t in transfers:
            check_flow(t.source, t.target)
            balances[t.source] -= t.amount_cents
            balances[t.target] += t.amount_cents

    level, paid = Level.open(first), []
    move(posting.build_opening_transfers("p", level))
    for operation, value in happened:
        before = level
        if operation == "wager":
            level = level.add_contribution(value)
        elif operation == "hit":
            amount, level = level.pay_hit()
            paid.append(amount)
        elif operation == "void" and paid:
            level = level.return_award(paid.pop())
        elif operation == "change":
            level = level.change_terms(value)
        else:
            continue
        move(posting.build_change_transfers("p", before, level))
        posting.check_pool_balances("p", level, balances.__getitem__)
    assert sum(balances.values()) == 0
    assert -balances["pool:p:startup"] == level.seeded_cents
    assert 0 <= level.contributed_amount + balances["pool:p:contributed"] < 3  # the fractions, one a pool
    balances["pool:p:current"] += 1
    with pytest.raises(LevelDefectiveError):
        posting.check_pool_balances("p", level, balances.__getitem__)


@pytest.mark.requirement("I-01")
@pytest.mark.parametrize(
    ("increment", "wager"), [(Fraction(1, 90), 50), (Fraction(1, 31), 77), (Fraction(1, 3), 900)]
)
def test_the_analysis_states_how_often_a_mystery_is_hit(increment, wager):
    """The mean over one cycle, wager by wager with the machine's own odds, equals the figure of the PAR sheet."""
    level = Level.open(LevelTerms(base_cents=500, increment=increment, ceiling_cents=550, is_mystery=True))
    still, mean, game = Fraction(1), Fraction(0), 0
    while still:
        game += 1
        favourable, bound = level.compute_mystery_hit_chance(wager)
        here = still * min(Fraction(1), Fraction(favourable, bound))
        mean, still = mean + game * here, still - here
        level = level.add_contribution(wager)
    assert 1 / mean == compute_mystery_rate(50 / (increment * wager))
