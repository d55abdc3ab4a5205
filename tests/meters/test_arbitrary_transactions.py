"""Arbitrary transactions are refused without a write, or stored, applied and read back at every start.

Method: hypothesis generates transactions of arbitrary values, most of which have one invalid member. After each one,
the journal is closed, opened again and inspected, and must be unchanged.
"""

import json
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from meters import InvalidTransaction, Journal, JournalDamaged, Transaction, Transfer
from meters.clear import inspect_journal
from meters.entry import GENESIS_HASH, decode, decode_transaction, encode_canonical_json
from meters.ledger import Ledger
from meters.transaction import AMOUNT_CENTS_MAX, JSON_DEPTH_MAX
from tests.rigs.examples import scale_examples

CREDIT = "credit:1:cashable"
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(0, 2).map(lambda n: 10**5000 + n),
    st.floats(),
    st.text(max_size=8),
    st.binary(max_size=4),
    st.just("\ud800"),
    st.just("\x1b[2K"),
)
ANY = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner),
        st.sets(st.text(max_size=2), max_size=2),
        st.dictionaries(SCALARS, inner, max_size=3),
    ),
    max_leaves=8,
)
GOOD = {
    "id": "t1",
    "kind": "bill.in",
    "transfers": (Transfer("world:bill", CREDIT, 500, {"bill_cents": 500}),),
    "dims": {"game": "classic"},
    "counts": {"games_played": 1},
    "state": {"game": {"play_id": "g1"}},
    "record": {"steps": [1, None, True, "é"]},
}
WRONG = st.dictionaries(
    st.sampled_from(
        ["id", "kind", "transfers", "phase", "ref", "dims", "counts", "marks", "state", "record"]
    ),
    ANY,
    min_size=1,
    max_size=2,
)


def now():
    return datetime(2026, 3, 1, tzinfo=UTC)


def check_transaction(state, values, transfer=None):
    """Check that a transaction is either refused without a write or stored permanently."""
    posted = None
    with Journal.open(state, now=now) as journal:
        before = journal.sequence
        with suppress(InvalidTransaction):
            given_values = GOOD | values
            if transfer is not None:
                given_values["transfers"] = (Transfer(*transfer),)
            transaction = Transaction(**given_values)
            posted = journal.append(transaction)
        assert journal.sequence == before + (posted is not None)
    inspection = inspect_journal(state)
    assert (inspection.first_reading.damage, inspection.second_reading.damage) == ("", "")
    with Journal.open(state, now=now) as journal:
        assert not list(journal.entries("event"))
        if posted is not None:
            assert journal.append(transaction).already_existed


@pytest.mark.requirement("A-05", "A-08")
@settings(max_examples=scale_examples(90), deadline=None)
@given(values=WRONG)
def test_any_transaction_is_refused_completely_or_recorded_durably(values):
    with tempfile.TemporaryDirectory() as folder:  # some MB for each example
        check_transaction(Path(folder), values)


@settings(max_examples=scale_examples(60), deadline=None)
@given(source=ANY, amount=ANY, dims=ANY, which=st.sampled_from(["source", "amount", "dims"]))
def test_any_transfer_is_refused_completely_or_recorded_durably(source, amount, dims, which):
    good = {"source": "world:bill", "amount": 500, "dims": {}}
    good[which] = {"source": source, "amount": amount, "dims": dims}[which]
    with tempfile.TemporaryDirectory() as folder:
        check_transaction(Path(folder), {}, (good["source"], CREDIT, good["amount"], good["dims"]))


@pytest.mark.parametrize(
    "values",
    [
        {"dims": {"game": ["a"]}},
        {"dims": {"game": 10**15}},
        {"dims": {"game": True}},
        {"ref": ["a"]},
        {"ref": ""},
        {"id": "a\ud800"},
        {"id": "a\x1b[2K"},
        {"counts": {"games": 10**15}},
        {"transfers": [Transfer("world:bill", CREDIT, 1)]},
        {"phase": "post"},
        {"marks": ("power_up",)},
        {"state": {"a": 1.5}},
        {"record": {1: "a", "1": "b"}},
        {"record": "\ud800"},
    ],
)
def test_invalid_dimensions_references_and_identifiers_are_refused(values):
    with pytest.raises(InvalidTransaction):
        Transaction(**(GOOD | values))


def test_an_amount_is_limited_to_the_size_of_a_meter():
    assert Transfer("world:bill", CREDIT, AMOUNT_CENTS_MAX).amount_cents == 10**15 - 1
    for amount in (AMOUNT_CENTS_MAX + 1, 10**100, 0, -1, True, 1.0):
        with pytest.raises(InvalidTransaction, match="amount_cents"):
            Transfer("world:bill", CREDIT, amount)
    for source in (["world:bill"], None, "world:\ud800"):
        with pytest.raises(InvalidTransaction, match="account"):
            Transfer(source, CREDIT, 1)


def test_a_record_at_the_depth_limit_is_read_back_and_a_deeper_one_refused(tmp_path):
    def nested(depth):
        value = "core"
        for _ in range(depth):
            value = [value]
        return value

    check_transaction(tmp_path, {"record": nested(JSON_DEPTH_MAX)})
    for depth in (JSON_DEPTH_MAX + 1, 100_000):
        with pytest.raises(InvalidTransaction, match="deeper"):
            Transaction(**(GOOD | {"record": nested(depth)}))


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 200_000,
        b'{"sequence":"1","time":"2026-01-01T00:00:00+00:00","previous":"","id":"a","kind":"b"}',
        b'{"sequence":1,"time":"2026-01-01T00:00:00","previous":"","id":"a","kind":"b"}',
        b'{"sequence":1,"time":"2026-01-01T00:00:00+00:00","previous":1,"id":"a","kind":"b"}',
        b'{"sequence":1,"time":"2026-01-01T00:00:00+00:00","previous":"","id":"a","kind":"b","dims":{"a":[]}}',
        *(
            b'{"id":"a","kind":"b","previous":"%b","sequence":1,"time":"2026-01-01T00:00:00+00:00","transfers":[%b]}'
            % (GENESIS_HASH.encode(), transfer)
            for transfer in (b"[]", b'["a"]', b'["a","b"]', b'["a","b",1,{},1]', b"[1,2,3]", b"null")
        ),
    ],
)
def test_bytes_that_are_not_an_entry_are_rejected_with_a_reason(body):
    with pytest.raises(ValueError, match=r"."):
        decode(body)


def test_an_error_during_replay_is_reported_as_damage_with_the_entry(tmp_path):
    with Journal.open(tmp_path, now=now) as journal:
        journal.append(Transaction(**GOOD))
        entries = list(journal.entries())
    broken = Ledger()
    broken.counts = None
    with pytest.raises(JournalDamaged, match="entry 2"):
        broken.replay(entries)


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-1, 2),
        st.just(10**15),
        st.text(max_size=3),
        st.sampled_from(["", "\u202e", "bill.in", "post", "settle", CREDIT, "world:bill"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=6,
)
WRITTEN = {
    "id": "t1",
    "kind": "bill.in",
    "transfers": [["world:bill", CREDIT, 500], ["world:bill", CREDIT, 7, {"bill_cents": 7}]],
    "dims": {"game": "classic", "wager_level": 5},
    "counts": {"games_played": 1},
    "state": {"game": None},
    "record": {"steps": [1, None, True]},
}


@settings(max_examples=scale_examples(600), deadline=None)
@given(
    st.dictionaries(st.sampled_from([*WRITTEN, "phase", "ref", "marks"]), JSON, max_size=2),
    st.sets(st.sampled_from([*WRITTEN])),
    st.one_of(st.none(), st.lists(JSON, min_size=2, max_size=4)),
)
@example({"record": {"0": None, "": None}}, set(), None)
def test_the_fast_decoder_gives_the_same_result_as_the_complete_one(changes, left_out, transfer):
    raw = {key: part for key, part in WRITTEN.items() if key not in left_out} | changes
    if transfer is not None:
        raw["transfers"] = [transfer]
    chain_fields = {"sequence": 1, "time": "2026-05-01T00:00:00+00:00", "previous": GENESIS_HASH}
    body = encode_canonical_json(raw | chain_fields)
    try:
        due = decode_transaction(
            json.loads(encode_canonical_json(raw))
        )  # keys in the order they are written in
    except (KeyError, TypeError, ValueError, AttributeError, InvalidTransaction):
        due = None
    try:
        found = decode(body).transaction
    except (ValueError, InvalidTransaction):
        found = None
    assert found == due
    assert repr(found) == repr(due)
