"""Validation numbers: test vectors, the effect of misread or mistyped digits, and resistance to guessing."""

import itertools
import random
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egm.tickets import numbers as n
from egm.tickets.errors import InvalidTicket
from egm.tickets.model import TicketKind
from rng import KernelSource, Personalization, RandomService

VECTORS = Path(__file__).parents[2] / "vectors" / "secure-enhanced.toml"
WORDS_24 = st.integers(0, n.WORD_24_BIT_MODULUS - 1)
PLACES = 18


def iter_new_numbers(seed=1, kind=TicketKind.CASHABLE):
    generator = random.Random(seed)
    while True:
        yield n.create_stand_alone_number(kind, generator.randrange)


# ---------------------------------------------------------------- secure enhanced
@pytest.mark.requirement("H-05")
def test_secure_enhanced_numbers_match_the_published_vectors():
    vectors = tomllib.loads(VECTORS.read_text())["vectors"]
    assert len(vectors) == 6
    for vector in vectors:
        assert n.create_secure_enhanced_number(vector["id"], vector["sequence"]) == vector["number"]


@pytest.mark.requirement("H-04")
@given(WORDS_24, WORDS_24)
def test_every_secure_number_has_a_valid_check(validation_id, sequence):
    number = n.create_secure_enhanced_number(validation_id, sequence)
    assert len(number) == PLACES
    assert n.is_secure_enhanced_number(number)
    assert not n.is_system_number(number)


@pytest.mark.requirement("H-04")
def test_a_machines_secure_numbers_do_not_repeat():
    assert len({n.create_secure_enhanced_number(0x123456, sequence) for sequence in range(20_000)}) == 20_000


@pytest.mark.requirement("H-04")
@pytest.mark.parametrize("count", [500, pytest.param(2_000, marks=pytest.mark.slow)])
def test_the_secure_check_detects_one_wrong_digit_as_stated(count):
    """The check is a sum modulo 5, so that a digit wrong by 5 passes it; the ledger must refuse such a number."""
    passed = Counter()
    issued = {n.create_secure_enhanced_number(0xABCDEF, sequence) for sequence in range(count)}
    for number, digit_index, digit in itertools.product(issued, range(2, PLACES), "0123456789"):
        wrong = number[:digit_index] + digit + number[digit_index + 1 :]
        if wrong != number:
            passed[n.is_secure_enhanced_number(wrong)] += 1
            assert wrong not in issued
    assert 0.88 < passed[False] / passed.total() < 0.92


@pytest.mark.parametrize("wrong", [(-1, 0), (0, -1), (1 << 24, 0), (0, 1 << 24)])
def test_more_than_24_bits_is_refused(wrong):
    with pytest.raises(InvalidTicket, match="24-bit"):
        n.create_secure_enhanced_number(*wrong)


# ---------------------------------------------------------------- system
@pytest.mark.requirement("H-05")
def test_a_hosts_number_has_its_system_id_and_check():
    assert n.is_system_number("01" + "0" * 16)
    for number in ("00" + "1" * 16, "100" + "1" * 16, "01" + "1" * 15, "01" + "1" * 15 + "x"):
        assert not n.is_system_number(number)


# ---------------------------------------------------------------- stand-alone
@pytest.mark.requirement("H-04")
@pytest.mark.parametrize("kind", TicketKind)
def test_a_stand_alone_number_states_its_kind_and_has_a_valid_check(kind):
    assert [
        other
        for other in TicketKind
        if n.TYPE_MARKER_BY_TICKET_KIND[other] == n.TYPE_MARKER_BY_TICKET_KIND[kind]
    ] == [kind]
    for _, number in zip(range(300), iter_new_numbers(kind=kind), strict=False):
        assert len(number) == PLACES
        assert int(number[:2]) == n.TYPE_MARKER_BY_TICKET_KIND[kind]
        assert n.is_stand_alone_number(number)


@pytest.mark.requirement("H-04")
def test_no_one_or_two_wrong_digits_pass():
    """The proof covers every pair of places and every pair of changes, and therefore every number."""
    weights = [10**digit_index % n.CHECK_CODE_MODULUS for digit_index in range(PLACES)]
    assert all(delta * weight % n.CHECK_CODE_MODULUS for weight in weights for delta in range(1, 10))
    for weight, other_weight in itertools.combinations(weights, 2):
        for a, b in itertools.product(range(1, 10), range(-9, 10)):
            assert (a * weight + b * other_weight) % n.CHECK_CODE_MODULUS


@pytest.mark.requirement("H-04")
def test_transpositions_and_twin_errors_are_detected():
    """The same claim on real numbers: any two digits exchanged, and neighbours read twice."""
    for _, number in zip(range(50), iter_new_numbers(), strict=False):
        for a, b in itertools.combinations(range(PLACES), 2):
            digits = list(number)
            digits[a], digits[b] = digits[b], digits[a]
            assert "".join(digits) == number or not n.is_stand_alone_number("".join(digits))


@pytest.mark.requirement("H-04")
@pytest.mark.parametrize("tried", [30_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_more_than_999_of_1000_gross_misreads_are_detected(tried):
    """Three or more digits are replaced at random, except the mark: the worst case for the check code."""
    generator = random.Random(4)
    passed = 0
    for _, number in zip(range(tried), iter_new_numbers(2), strict=False):
        digits = list(number)
        for digit_index in generator.sample(range(2, PLACES), generator.randrange(3, 17)):
            digits[digit_index] = str(generator.randrange(10))
        wrong = "".join(digits)
        passed += wrong != number and n.is_stand_alone_number(wrong)
    assert passed / tried < 0.001


@pytest.mark.requirement("H-04")
def test_short_long_and_foreign_reads_are_refused():
    number = next(iter_new_numbers())
    for wrong in ("", number[:-2], number + "00", number[:-1] + "x", number[:-1] + "٣", " " + number[1:]):
        assert not n.is_stand_alone_number(wrong)
        assert not n.is_secure_enhanced_number(wrong)
        assert not n.is_system_number(wrong)


@pytest.mark.requirement("H-04")
def test_twelve_digits_come_from_the_generator_and_nothing_else():
    bounds = []
    number = n.create_stand_alone_number(
        TicketKind.CASHABLE, lambda bound: bounds.append(bound) or 123456789012
    )
    assert bounds == [10**12]
    assert number[2:14] == "123456789012"


@pytest.mark.requirement("H-04")
def test_the_machines_generator_makes_numbers_that_do_not_collide_and_lean_to_no_digit():
    personalization = Personalization(
        product="test", version="1", machine_serial="T", instance=1, boot_counter=1
    )
    service = RandomService.start(personalization=personalization, sources=[KernelSource()])
    with service.step() as step:
        numbers = [n.create_stand_alone_number(TicketKind.CASHABLE, step.below) for _ in range(2_000)]
    assert len(set(numbers)) == 2_000
    for digit_index in range(2, 14):
        counts = Counter(number[digit_index] for number in numbers)
        # 9 degrees of freedom; 60 is beyond 1 in 10^9.
        assert sum((counts[str(d)] - 200) ** 2 / 200 for d in range(10)) < 60
