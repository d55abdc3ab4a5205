"""Random and mutated bytes raise nothing, and the next valid poll is answered."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from egm.links.sas.crc import append_crc
from egm.links.sas.tables.polls import POLL_BY_CODE
from egm.links.sas.wire import escape_message_with_wakeup
from tests.rigs.examples import scale_examples
from tools.dev.fuzz.sas import run_fuzz_input

#: Almost valid messages: a known command, some data, often a valid CRC, sometimes wakeup bits.
NEARLY = st.builds(
    lambda address, code, data, has_crc, has_wakeup: (escape_message_with_wakeup if has_wakeup else bytes)(
        append_crc(bytes((address, code)) + data) if has_crc else bytes((address, code)) + data
    ),
    st.sampled_from((0, 1, 1, 1, 2, 0x80, 0x81)),
    st.sampled_from(sorted(POLL_BY_CODE)),
    st.one_of(st.binary(max_size=12), st.builds(lambda d: bytes((len(d),)) + d, st.binary(max_size=40))),
    st.booleans(),
    st.booleans(),
)


@pytest.mark.requirement("K-06")
@settings(max_examples=scale_examples(300))
@given(choices=st.integers(0, 255), step=st.integers(0, 15), noise=st.binary(max_size=400))
@example(choices=1, step=0, noise=b"\xff\x00\x01\x2f\xff\xff")
@example(choices=0, step=15, noise=b"\x01\x01\x51\x08\x81\x81\x81")
def test_after_random_bytes_polls_are_answered(choices: int, step: int, noise: bytes) -> None:
    run_fuzz_input(bytes((choices, step)) + noise)


@pytest.mark.requirement("K-06")
@settings(max_examples=scale_examples(500))
@given(choices=st.integers(0, 255), messages=st.lists(NEARLY, max_size=12))
def test_after_almost_valid_polls_polls_are_answered(choices: int, messages: list[bytes]) -> None:
    run_fuzz_input(bytes((choices, 15)) + b"".join(messages))
