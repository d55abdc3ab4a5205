"""The scaling has no bias, shown by exhaustion: every word and every range through the production code."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rng import InvalidRange, RejectionLimit, SelfTestFailed
from rng.draws import WordDraws
from rng.scaling import BOUND_MAX, REJECTIONS_MAX, choose_word_size, compute_word_bits
from tools.lab.rng.exhaustion import (
    EXHAUSTIVELY_TESTED_BOUNDS,
    build_every_word,
    create_reader,
    prove_range_uniform,
)


def outcomes(draws: WordDraws, bound: int) -> Counter[int]:
    counts: Counter[int] = Counter()
    while True:
        try:
            counts[draws.below(bound)] += 1
        except EOFError:
            return counts


@pytest.mark.requirement("B-06")
def test_every_range_of_8_bit_words_gives_every_outcome_equally_often() -> None:
    words = build_every_word(8)
    for bound in range(2, 257):
        draws = WordDraws(create_reader(words), lambda n: (1, 256 // n))
        counts = outcomes(draws, bound)
        assert set(counts) == set(range(bound))
        assert set(counts.values()) == {256 // bound}
        assert draws.rejected_word_count == 256 - bound * (256 // bound)


@pytest.mark.requirement("B-06")
@pytest.mark.parametrize("bound", [2, 6, 22, 37, 38, 52, 72, 80, 255, 256])
def test_production_words_give_every_outcome_equally_often(bound: int) -> None:
    counts = outcomes(WordDraws(create_reader(build_every_word(16))), bound)
    assert counts == dict.fromkeys(range(bound), 65_536 // bound)


@pytest.mark.requirement("B-06")
def test_the_bulk_path_gives_every_outcome_equally_often_for_every_range_of_16_bit_words() -> None:
    for bound in EXHAUSTIVELY_TESTED_BOUNDS:
        proof = prove_range_uniform(bound)
        assert proof.words_each == 65_536 // bound
        assert proof.bound * proof.words_each + proof.words_thrown_away == 65_536


def test_the_proof_by_exhaustion_fails_on_biased_scaling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.lab.rng.bulk.choose_word_size", lambda bound: (2, 65_536 // bound + 1))
    with pytest.raises(SelfTestFailed, match="not shared equally"):
        prove_range_uniform(22)


@pytest.mark.requirement("B-06")
@settings(deadline=None)
@given(bound=st.integers(2, BOUND_MAX), data=st.data())
def test_each_outcome_has_one_contiguous_run_of_equally_many_words(bound: int, data: st.DataObject) -> None:
    width, share = choose_word_size(bound)
    outcome = data.draw(st.integers(0, bound - 1))

    def drawn(word: int) -> int:
        return WordDraws(create_reader(word.to_bytes(width, "little"))).below(bound)

    assert bound * share <= 1 << 8 * width < (bound + 1) * share + bound
    assert drawn(outcome * share) == drawn(outcome * share + share - 1) == outcome
    if bound * share < 1 << 8 * width:
        with pytest.raises(EOFError):
            drawn(bound * share)


@settings(deadline=None)
@given(bound=st.integers(2, BOUND_MAX))
def test_fewer_than_one_word_in_256_is_rejected(bound: int) -> None:
    words = 1 << compute_word_bits(bound)
    assert (words - bound * (words // bound)) * 256 < words


@pytest.mark.parametrize("bound", [0, -1, BOUND_MAX + 1, 2.0, "22", None, True])
def test_an_invalid_range_is_refused(bound: object) -> None:
    with pytest.raises(InvalidRange, match="cannot draw below"):
        WordDraws(create_reader(bytes(64))).below(bound)  # type: ignore[arg-type]


@pytest.mark.requirement("B-06")
def test_words_repeatedly_out_of_range_are_an_error_and_never_a_biased_draw() -> None:
    draws = WordDraws(create_reader(b"\xff" * 2 * REJECTIONS_MAX))
    with pytest.raises(RejectionLimit, match="16 words in a row"):
        draws.below(22)
    assert draws.draws == ()


def test_a_range_of_one_is_certain_and_reads_nothing() -> None:
    draws = WordDraws(create_reader(b""))
    assert draws.below(1, "only stop") == 0
    assert [(d.bound, d.value, d.purpose) for d in draws.draws] == [(1, 0, "only stop")]
