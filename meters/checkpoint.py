"""Signed checkpoints: the current ledger, signed with the machine key, as an entry of the journal.

A checkpoint is an ordinary entry: it is in the hash chain, in both copies and in every export. Start-up and
readers load the newest one and replay only the entries after it; an auditor replays everything and compares.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, cast

from meters.chart import find_account
from meters.entry import StoredEntry, encode_canonical_json
from meters.errors import JournalDamaged
from meters.fields import read_field, read_hex_field
from meters.ledger import DimensionsKey, FlowSum, Ledger, Reservation
from meters.machine_key import MachineKey, is_signed_by
from meters.transaction import Transaction, Transfer

#: Kind of the entry that stores a checkpoint.
CHECKPOINT_KIND: Final = "checkpoint"
#: Kind of a journal's first entry.
GENESIS_KIND: Final = "machine.genesis"
#: Prefix of the signed bytes, so that the signature fits no other kind of document.
_SIGNATURE_PREFIX: Final = b"open-egm checkpoint\0"


def encode_ledger(ledger: Ledger) -> dict[str, Any]:
    """Return the whole ledger as the JSON of a checkpoint; :func:`decode_ledger` is its inverse."""
    return {
        "given": dict(ledger.outflows_cents),
        "taken": dict(ledger.inflows_cents),
        "pending": [
            [
                r.id,
                r.kind,
                r.sequence,
                [[t.source, t.target, t.amount_cents, dict(t.dims)] for t in r.transfers],
            ]
            for r in ledger.pending_reservations.values()
        ],
        "flows": [
            [source, target, dict(dimensions_key), flow.amount_cents, flow.transfer_count]
            for (source, target, dimensions_key), flow in sorted(
                ledger.flows.items(), key=_build_flow_sort_key
            )
        ],
        "counts": [
            [name, dict(dimensions_key), count]
            for (name, dimensions_key), count in sorted(ledger.counts.items(), key=_build_count_sort_key)
        ],
        "marks": ledger.counts_at_marks,
        "state": ledger.state,
    }


def _build_flow_sort_key(item: tuple[tuple[str, str, DimensionsKey], FlowSum]) -> tuple[str, str, str]:
    """Return the sort key of a meter cell in a saved ledger: source account, target account and dimensions."""
    (source, target, dimensions_key), _ = item
    return source, target, str(dimensions_key)


def _build_count_sort_key(item: tuple[tuple[str, DimensionsKey], int]) -> tuple[str, str]:
    """Return the sort key of an occurrence count in a saved ledger: name and dimensions."""
    (name, dimensions_key), _ = item
    return name, str(dimensions_key)


def decode_ledger(saved_ledger: Mapping[str, Any], sequence: int, head_hex: str) -> Ledger:
    """Return the ledger that :func:`encode_ledger` saved in a checkpoint.

    ``sequence`` and ``head_hex`` are the number and hash of the checkpoint's own entry. Raises
    :class:`UnknownAccount` if the saved ledger has an account that is not in the chart.
    """
    ledger = Ledger(sequence=sequence, head_hex=head_hex)
    ledger.outflows_cents = Counter(saved_ledger["given"])
    ledger.inflows_cents = Counter(saved_ledger["taken"])
    for entry_id, kind, sequence_of_reservation, transfers in saved_ledger["pending"]:
        decoded_transfers = tuple(Transfer(*t) for t in transfers)
        ledger.pending_reservations[entry_id] = Reservation(
            entry_id, kind, sequence_of_reservation, decoded_transfers
        )
        for transfer in decoded_transfers:
            ledger.reserved_cents[transfer.source] += transfer.amount_cents
    for source, target, dims, amount_cents, times in saved_ledger["flows"]:
        ledger.flows[source, target, tuple(sorted(dims.items()))] = FlowSum(amount_cents, times)
    for name, dims, times in saved_ledger["counts"]:
        ledger.counts[name, tuple(sorted(dims.items()))] = times
    ledger.counts_at_marks = {mark: dict(counts) for mark, counts in saved_ledger["marks"].items()}
    ledger.state = dict(saved_ledger["state"])
    for name in ledger.list_accounts():
        find_account(name)
    return ledger


def compute_ledger_digest(saved_ledger: Mapping[str, object]) -> str:
    """Return the SHA-256 of a saved ledger's canonical JSON, hexadecimal."""
    return hashlib.sha256(encode_canonical_json(saved_ledger)).hexdigest()


def _build_signed_message(sequence: int, previous_hex: str, ledger_sha256: str) -> bytes:
    """Return the bytes that a checkpoint's signature covers."""
    return _SIGNATURE_PREFIX + encode_canonical_json([sequence, previous_hex, ledger_sha256])


def build_checkpoint(ledger: Ledger, key: MachineKey) -> Transaction:
    """Return the transaction that records a signed checkpoint of ``ledger``.

    It must become the journal's very next entry.
    """
    saved = encode_ledger(ledger)
    ledger_sha256 = compute_ledger_digest(saved)
    signature = key.sign(_build_signed_message(ledger.sequence + 1, ledger.head_hex, ledger_sha256))
    return Transaction(
        id=f"{CHECKPOINT_KIND}:{ledger.sequence + 1}",
        kind=CHECKPOINT_KIND,
        record={"ledger": saved, "ledger_sha256": ledger_sha256, "signature": signature.hex()},
    )


def check_checkpoint(entry: StoredEntry, public_key: bytes, location: str) -> Mapping[str, object]:
    """Verify that a journal entry is a checkpoint signed for its place in the hash chain; return its saved ledger.

    Raises :class:`JournalDamaged`, naming ``location``, if it is not a checkpoint or not signed with
    ``public_key``.
    """
    record: Any = entry.record
    try:
        saved = cast(Mapping[str, object], read_field(record, "ledger"))
        claimed_digest = read_hex_field(record, "ledger_sha256").hex()
        signature = read_hex_field(record, "signature")
        computed_digest = compute_ledger_digest(saved)
    except (TypeError, KeyError, ValueError) as error:
        raise JournalDamaged(f"{location} entry {entry.sequence}", f"not a checkpoint: {error}") from error
    if computed_digest != claimed_digest:
        raise JournalDamaged(
            f"{location} entry {entry.sequence}",
            f"record.ledger does not have its signed digest: expected {claimed_digest}, found {computed_digest}",
        )
    if not is_signed_by(
        public_key, _build_signed_message(entry.sequence, entry.previous_hex, claimed_digest), signature
    ):
        raise JournalDamaged(
            f"{location} entry {entry.sequence}",
            "record.signature was not made with the machine's key for this entry",
        )
    return saved


def read_public_key(genesis: StoredEntry | None, location: str) -> bytes:
    """Return the machine's public key from ``genesis``, the journal's first entry.

    Raises :class:`JournalDamaged`, naming ``location``, if the entry or the key is missing.
    """
    record = genesis.record if genesis else None
    if genesis is None or genesis.kind != GENESIS_KIND or not isinstance(record, Mapping):
        raise JournalDamaged(
            f"{location} entry 1", "the entry must name the machine and its public key, and does not"
        )
    try:
        return read_hex_field(record, "public_key")
    except ValueError as error:
        raise JournalDamaged(f"{location} entry 1", str(error)) from error
