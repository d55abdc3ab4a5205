"""The stored form of entries is short and exactly reversible; journals in the earlier form can still be read."""

import random
import sqlite3
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meters import Journal, JournalPolicy, Transaction, Transfer, open_view
from meters.entry import GENESIS_HASH, encode, encode_canonical_json
from meters.packing import pack_entry, unpack_entry

CREDIT = "credit:1:cashable"
OLD = Path(__file__).parents[1] / "vectors" / "journal" / "format-1.zip"
OLD_HEAD = "4266386e471a29f980ecc3fc7b6ebf25868f6601fff7dce5cfd0f3628cba1bf5"
"""The hash of the old journal's last entry of the session; its number and the credit: as its program said."""
OLD_ENTRIES, OLD_CENTS = 23, 1450
TIME = datetime(2026, 4, 1, tzinfo=UTC)

printable = st.text().filter(str.isprintable)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just('"previous":""'),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text() | st.just("previous"), inner | st.just(""), max_size=3)
    ),
    max_leaves=8,
)


@given(
    record=json_values,
    dims=st.dictionaries(printable.filter(bool) | st.just("previous"), printable, max_size=2),
)
def test_packed_entries_are_unpacked_byte_for_byte(record, dims):
    previous = "ab" * 32
    entry = encode(Transaction(id="x", kind="note", dims=dims, record=record), 7, TIME, previous)
    assert unpack_entry(pack_entry(entry.body, previous)) == entry.body


def test_an_entry_with_another_previous_hash_is_packed_with_it():
    body = encode_canonical_json({"id": "x", "kind": "note", "previous": "cd" * 32, "sequence": 7})
    assert unpack_entry(pack_entry(body, GENESIS_HASH)) == body


def test_altered_packed_bytes_are_rejected_or_give_another_entry():
    rng = random.Random(3)
    entry = encode(Transaction(id="x", kind="note", record={"a": list(range(50))}), 7, TIME, GENESIS_HASH)
    stored = pack_entry(entry.body, GENESIS_HASH)
    for _ in range(2000):
        altered = bytearray(stored)
        altered[rng.randrange(len(stored))] ^= 1 << rng.randrange(8)
        try:
            unpacked = unpack_entry(bytes(altered))
        except ValueError:
            continue
        # Other bits with the same content are equal; anything else fails its hash.
        assert unpacked != entry.body or bytes(altered) != stored
    for cut in range(len(stored)):
        with pytest.raises(ValueError, match=r"compressed data is damaged|form"):
            unpack_entry(stored[:cut])


# ---------------------------------------------------------------------------------------------- before
@pytest.fixture
def old(tmp_path):
    """A journal written before entries were packed: both copies, the key and the signed head."""
    with zipfile.ZipFile(OLD) as archive:
        archive.extractall(tmp_path)
    return tmp_path


def test_a_journal_of_format_1_is_read_unchanged(old):
    with open_view(old) as view:
        assert next(view.entries(after_sequence=OLD_ENTRIES - 1)).hash_hex == OLD_HEAD
        assert view.balance_cents(CREDIT) == OLD_CENTS
        assert len(list(view.iter_bodies())) == OLD_ENTRIES + 1  # and the signed checkpoint of its clean end


def test_a_journal_of_format_1_continues_in_the_current_format(old):
    with Journal.open(old, now=lambda: TIME, policy=JournalPolicy(segment_size_bytes=4096)) as journal:
        assert journal.balance_cents(CREDIT) == OLD_CENTS
        assert next(journal.entries(after_sequence=OLD_ENTRIES - 1)).hash_hex == OLD_HEAD
        mended = next(journal.entries("event"))
        assert mended.record["where"] == "first copy"
        assert "format 1" in mended.record["why"]
        journal.append(Transaction(id="b9", kind="bill.in", transfers=(Transfer("world:bill", CREDIT, 500),)))
        bodies = list(journal.iter_bodies())
    with sqlite3.connect(old / "journal.sqlite") as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    with Journal.open(old, now=lambda: TIME) as journal:
        assert journal.balance_cents(CREDIT) == OLD_CENTS + 500
        assert list(journal.iter_bodies())[: len(bodies)] == bodies
