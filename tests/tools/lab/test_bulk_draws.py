"""The bulk path draws the same numbers from the same bytes as the scalar path."""

import io
import random
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paytables.contract import draw_weighted_index
from paytables.keno.draws import draw_numbers
from rng import InvalidRange, RejectionLimit
from rng.draws import WordDraws
from tests.rigs.examples import scale_examples
from tools.lab.rng.bulk import BulkDraws
from tools.lab.rng.errors import InvalidSampleError


def open_both_paths(seed: int, size: int = 1_000_000, near_top: float = 0.0) -> tuple[BulkDraws, WordDraws]:
    """Return both paths on one stream; a share ``near_top`` of its units lies in the range that is rejected."""
    stream = random.Random(seed)
    units = np.frombuffer(stream.randbytes(size), dtype="<u2").copy()
    if near_top:
        chosen = np.frombuffer(stream.randbytes(len(units)), dtype=np.uint8) < 256 * near_top
        units[chosen] |= 0xFFE0
    data = units.tobytes()
    return BulkDraws(io.BytesIO(data).read), WordDraws(io.BytesIO(data).read)


def picked(draws: WordDraws, population: int, picks: int) -> list[int]:
    return list(draw_numbers(draws, range(population), picks, "ball"))


REQUESTS = st.one_of(
    st.tuples(st.just("below"), st.sampled_from([1, 2, 6, 22, 80, 256, 257, 1000, 65_536, 65_537, 2**32])),
    st.tuples(
        st.just("sample"),
        st.sampled_from([(80, 20), (52, 52), (52, 5), (5, 0), (1, 1), (300, 260), (257, 2), (70_000, 3)]),
    ),
    st.tuples(st.just("weighted"), st.sampled_from([(3, 0, 5, 92), (1,), (0, 70_000, 1)])),
)


@given(
    seed=st.integers(0, 2**32),
    near_top=st.sampled_from([0.0, 0.02, 0.2]),
    requests=st.lists(st.tuples(REQUESTS, st.integers(0, 40)), min_size=1, max_size=6),
)
@settings(max_examples=scale_examples(90), deadline=None)
def test_bulk_and_scalar_requests_give_the_same_numbers_and_read_the_same_bytes(
    seed: int, near_top: float, requests: list[tuple[tuple[str, object], int]]
) -> None:
    bulk, scalar = open_both_paths(seed, near_top=near_top)
    for (kind, argument), count in requests:
        if kind == "below":
            assert bulk.below(argument, count).tolist() == [scalar.below(argument) for _ in range(count)]
        elif kind == "sample":
            rows = bulk.sample(*argument, count)
            assert rows.shape == (count, argument[1])
            assert rows.tolist() == [picked(scalar, *argument) for _ in range(count)]
        else:
            sums = list(accumulate(argument))
            indices = [draw_weighted_index(scalar, argument, "prize") for _ in range(count)]
            assert bulk.draw_weighted(sums, count).tolist() == indices
    assert bulk.rejected_word_count == scalar.rejected_word_count
    assert bulk._read(8) == scalar._read(8)


def test_bulk_draws_over_several_generator_requests_equal_the_scalar_ones() -> None:
    bulk, scalar = open_both_paths(7, size=600_000)
    assert bulk.sample(80, 20, 5_000).tolist() == [picked(scalar, 80, 20) for _ in range(5_000)]
    assert bulk.below(22, 100_000).tolist() == [scalar.below(22) for _ in range(100_000)]
    assert bulk.rejected_word_count == scalar.rejected_word_count > 0


def test_no_request_exceeds_one_generate_call() -> None:
    byte_counts: list[int] = []

    def read(count: int) -> bytes:
        byte_counts.append(count)
        return bytes(count)

    BulkDraws(read).below(22, 200_000)
    BulkDraws(read).sample(416, 416, 200)
    assert max(byte_counts) <= 65_536


@pytest.mark.parametrize("bound", [0, -5, 2**32 + 1, 2.5])
def test_a_range_beyond_the_word_size_is_refused(bound: object) -> None:
    with pytest.raises(InvalidRange):
        BulkDraws(bytes).below(bound, 1)


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(InvalidSampleError):
        BulkDraws(bytes).below(22, -1)
    with pytest.raises(InvalidSampleError):
        BulkDraws(bytes).sample(20, 21, 1)


def test_a_stream_that_is_never_in_range_reaches_the_rejection_limit() -> None:
    stuck = BulkDraws(lambda count: b"\xff" * count)
    with pytest.raises(RejectionLimit):
        stuck.below(22, 100)
    with pytest.raises(RejectionLimit):
        stuck.sample(80, 20, 10)
