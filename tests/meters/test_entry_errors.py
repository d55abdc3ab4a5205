"""Errors of entries that cannot be read name the field, its value and what was expected."""

import re

import pytest

from meters.entry import GENESIS_HASH, decode, encode_canonical_json

ENTRY = {
    "id": "bill-1",
    "kind": "bill.in",
    "previous": GENESIS_HASH,
    "sequence": 1,
    "time": "2026-01-01T00:00:00.000000+00:00",
    "transfers": [["world:bill", "credit:1:cashable", 500]],
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sequence": 0}, "sequence is 0, not an entry number of 1 or more"),
        ({"sequence": None}, "sequence is None, not an entry number"),
        ({"previous": "ab"}, "previous is 'ab', not a hash of 64 digits"),
        ({"time": 5}, "time is 5, not a time with its offset from UTC"),
        ({"time": "2026-99-99"}, "time is '2026-99-99', not a time with its offset from UTC"),
        ({"time": "2026-01-01T00:00:00"}, "time is '2026-01-01T00:00:00', not a time with its offset"),
        ({"transfers": 7}, "transfers is 7, not a list"),
        ({"transfers": [["a", "b"]]}, "a transfer is ['a', 'b'], not a list of source, target, amount"),
        ({"transfers": [["a", "b", 1, {}, 2]]}, "a transfer is ['a', 'b', 1, {}, 2], not a list"),
        ({"transfers": [None]}, "a transfer is None, not a list"),
        ({"transfers": [[["a"], "b", 1]]}, "a transfer is [['a'], 'b', 1], not a list"),
        ({"transfers": [["a", "b", {}]]}, "transfer a -> b: amount_cents is {}, it must be a whole number"),
        (
            {"transfers": [["a", "b", True]]},
            "transfer a -> b: amount_cents is True, it must be a whole number",
        ),
        ({"phase": "later"}, "phase is 'later', not one of post, reserve, settle, void"),
        ({"phase": []}, "phase is [], not one of post"),
        ({"marks": ["x"]}, "marks is ['x'], not a list of power_up and door_close"),
        ({"marks": [{}]}, "marks is [{}], not a list of"),
        ({"marks": 7}, "marks is 7, not a list"),
        ({"ref": 7}, "ref is 7, not the id of an entry"),
        ({"counts": []}, "counts is [], not a JSON object"),
        ({"state": 7}, "state is 7, not a JSON object"),
        ({"colour": 7}, "no entry has a field colour"),
    ],
)
def test_an_invalid_field_is_named_with_its_value(change, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        decode(encode_canonical_json(ENTRY | change))


@pytest.mark.parametrize("name", ["sequence", "previous", "time", "id", "kind"])
def test_a_missing_field_is_named(name):
    body = encode_canonical_json({key: value for key, value in ENTRY.items() if key != name})
    with pytest.raises(ValueError, match=f"^not an entry: {name} is missing$"):
        decode(body)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "not JSON from character 1 on"),
        (b"[1]", "not an entry: it is not a JSON object"),
        (b"null", "not an entry: it is not a JSON object"),
        (b'{"sequence":1.5}', "the number 1.5 is not a whole number"),
    ],
)
def test_bytes_that_are_not_an_object_are_described(body, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        decode(body)
