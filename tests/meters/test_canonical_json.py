"""Entries that two readers could decode differently are rejected."""

from datetime import UTC, datetime

import pytest

from meters import Transaction
from meters.entry import GENESIS_HASH, decode, encode, encode_canonical_json

BODY = encode_canonical_json(
    {
        "id": "bill-1",
        "kind": "bill.in",
        "previous": GENESIS_HASH,
        "record": {"amount_cents": 500, "why": {"a": 1}},
        "sequence": 1,
        "time": "2026-01-01T00:00:00.000000+00:00",
        "transfers": [["world:bill", "credit:1:cashable", 500]],
    }
)


def test_canonical_json_as_the_journal_writes_it_is_accepted():
    assert decode(BODY).body == BODY
    numbered = encode_canonical_json(
        {"id": "x", "kind": "y", "previous": GENESIS_HASH, "sequence": 1} | {"time": "2026-01-01Z"}
    )
    assert decode(numbered.replace(b"2026-01-01Z", b"2026-01-01T00:00:00.000000+00:00")).id == "x"
    by_value = BODY.replace(b'{"a":1}', b'{"9":1,"10":1}')  # as numbers in their order are written
    assert decode(by_value).record["why"] == {"9": 1, "10": 1}


@pytest.mark.requirement("E-13", "A-03")
@pytest.mark.parametrize(
    ("found", "replacement"),
    [
        (b'"transfers":', b'"transfers":[["world:bill","credit:1:cashable",1]],"transfers":'),
        (b'"amount_cents":500', b'"amount_cents":1,"amount_cents":500'),
        (b'{"a":1}', b'{"a":2,"a":1}'),
        (b'{"a":1}', b'{"b":2,"a":1,"a":1}'),
        (b'"bill.in"', b'"bill.\\u0069n"'),
        (b"500,", b"500, "),
    ],
    ids=("transfers", "a field", "deep", "beside another", "in other words", "with a space"),
)
def test_duplicate_json_keys_are_rejected(found, replacement):
    body = BODY.replace(found, replacement, 1)
    assert body != BODY
    with pytest.raises(ValueError, match="not canonical JSON"):
        decode(body)


def test_keys_that_are_numbers_are_written_and_read_back_as_text():
    numbered = Transaction(id="x", kind="y", record={9: 1, 10: (2, 3)})
    entry = encode(numbered, 1, datetime(2026, 1, 1, tzinfo=UTC), GENESIS_HASH)
    assert entry.record == {"9": 1, "10": [2, 3]}
    assert decode(entry.body) == entry
