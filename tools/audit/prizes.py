"""The check of prizes in kind: each is handed over or exchanged for money once, and only if a game has won it.

What a game owes follows from its replayed outcome and its definition. An exchange must reserve exactly the
stated value of the prize, and return the prize. Any other movement of a prize is a finding.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from egm.features.memory_clear.records import CLAIM_CARRIED_KIND, CLAIM_PAID_KIND
from egm.money import entries
from egm.money.hand_pays import PRIZES_ACCOUNT_PREFIX
from egm.money.keys import MoneyKey
from egm.money.records.money import HandpayRecord, PrizeRecord, UnclaimedRecord
from egm.play import prizes_in_kind
from egm.play.entries import GAME_END, HANDPAY_REPLACED, PRIZES_EXCHANGED
from egm.record_codec import from_json
from meters import Phase, StoredEntry, Transfer
from meters.recall import read_details

#: The kind of the entry that ends a game.
_GAME_END_KIND: Final = GAME_END.kind
#: The kind of the entry that exchanges prizes for money.
_PRIZE_EXCHANGE_KIND: Final = PRIZES_EXCHANGED.kind
#: The kind of the entry that replaces a hand-pay.
_HANDPAY_REPLACED_KIND: Final = HANDPAY_REPLACED.kind
#: The kind of the entry about a hand-pay that nobody claimed.
_ORPHAN_HANDPAY_KIND: Final = entries.ORPHAN_HANDPAY.kind

#: A transfer as (source account, target account, minor units).
TransferTriple = tuple[str, str, int]


def _list_sorted_triples(transfers: Iterable[Transfer]) -> list[TransferTriple]:
    """Return the transfers as sorted (source, target, minor units) tuples, so that their order does not matter."""
    return sorted((transfer.source, transfer.target, transfer.amount_cents) for transfer in transfers)


def _select_prize_transfers(transfers: Iterable[TransferTriple]) -> list[TransferTriple]:
    """Return those transfers that reserve or release prizes in kind."""
    return [
        (source, target, cents)
        for source, target, cents in transfers
        if source.startswith(PRIZES_ACCOUNT_PREFIX)
    ]


def _has_prize_transfer(transfers: Iterable[Transfer]) -> bool:
    """Return whether any transfer moves value out of an account of prizes in kind."""
    return any(transfer.source.startswith(PRIZES_ACCOUNT_PREFIX) for transfer in transfers)


def compute_due_prize_reservations(
    value_cents_by_prize: Mapping[str, int], won_prize_ids: Iterable[str]
) -> list[TransferTriple]:
    """Return the sorted transfers with which the end of a game must reserve the prizes in kind that it owes.

    ``won_prize_ids`` are the ids of the prizes; ``value_cents_by_prize`` has the value of each in minor units, by prize
    id.
    """
    prizes = [
        PrizeRecord(id=prize_id, names={}, value_cents=value_cents_by_prize[prize_id])
        for prize_id in won_prize_ids
    ]
    return _list_sorted_triples(prizes_in_kind.build_prize_transfers(prizes))


def list_prize_reservations(end_entry: StoredEntry) -> list[TransferTriple]:
    """Return the transfers with which the end of a game reserves prizes in kind."""
    return (
        _select_prize_transfers(_list_sorted_triples(end_entry.transfers))
        if _has_prize_transfer(end_entry.transfers)
        else []
    )


class PrizeAudit:
    """The check of each transfer of prizes in kind.

    ``report_finding`` is called for each entry that transfers a prize wrongly.
    """

    def __init__(self, report_finding: Callable[[StoredEntry, str], None]) -> None:
        self._report_finding = report_finding
        self._owed_transfers_by_reservation_id: dict[str, list[TransferTriple]] = {}
        """The transfers of each open reservation of prizes in kind, by reservation id.

        Such a reservation sets a prize aside from the end of the game until it is handed over.
        """
        self._exchange_id_by_reservation_id: dict[str, str] = {}
        """The id of the entry that exchanged the prizes of a reservation for a hand-pay, by reservation id."""
        self._unclaimed_transfers_by_reservation_id: dict[str, list[TransferTriple]] = {}
        """The transfers of each reservation whose prizes nobody claimed, by reservation id."""

    def check_entry(self, entry: StoredEntry) -> None:
        """Check the transfers of prizes in kind in one journal entry."""
        transaction = entry.transaction
        kind, phase = transaction.kind, transaction.phase
        if kind == CLAIM_CARRIED_KIND:
            self._add_carried_claim(entry)
        if (
            phase is Phase.POST
            and kind != _ORPHAN_HANDPAY_KIND
            and not _has_prize_transfer(transaction.transfers)
        ):
            return
        if kind == _PRIZE_EXCHANGE_KIND:
            self._check_exchange(
                entry, str(read_details(entry).get("handpay")), _list_sorted_triples(entry.transfers)
            )
        elif kind == _ORPHAN_HANDPAY_KIND:
            self._check_orphaned_prizes(entry, _list_sorted_triples(entry.transfers))
        elif transaction.transfers and _select_prize_transfers(
            transfers := _list_sorted_triples(transaction.transfers)
        ):
            if kind in {_GAME_END_KIND, CLAIM_CARRIED_KIND} and phase is Phase.RESERVE:
                self._owed_transfers_by_reservation_id[entry.id] = transfers
            elif kind != CLAIM_PAID_KIND:  # the authorisation of the memory clear names the claims paid
                self._report_finding(
                    entry, f"transfers move a prize in kind, but {kind} is not the end of a game that won one"
                )
        if (
            phase is Phase.SETTLE or phase is Phase.VOID
        ) and transaction.ref in self._owed_transfers_by_reservation_id:
            self._close_reservation(entry, transaction.ref)

    def _add_carried_claim(self, entry: StoredEntry) -> None:
        """Store an exchange, or an unclaimed hand-pay, that a memory clear carried over before it was completed."""
        for name, value in entry.state.items():
            key = name.rpartition("/")[2]  # a position's keys have the form "2/handpay"
            if key == MoneyKey.HANDPAY:
                handpay = from_json(HandpayRecord, value, f"state.{name}")
                if handpay.replaced_reservation_id:
                    self._exchange_id_by_reservation_id[handpay.replaced_reservation_id] = handpay.id
            elif key == MoneyKey.UNCLAIMED_HANDPAY:
                unclaimed_record = from_json(UnclaimedRecord, value, f"state.{name}")
                self._unclaimed_transfers_by_reservation_id[unclaimed_record.id] = _select_prize_transfers(
                    (transfer.source, transfer.target, transfer.amount_cents)
                    for transfer in unclaimed_record.reserved_transfers
                )

    def _check_exchange(
        self, entry: StoredEntry, reservation_id: str, transfers: list[TransferTriple]
    ) -> None:
        """Check that an entry exchanges prizes in kind for a hand-pay of the same value.

        ``reservation_id`` is the reservation of the prizes.
        """
        owed_transfers = self._owed_transfers_by_reservation_id.get(reservation_id)
        if owed_transfers is None or reservation_id in self._exchange_id_by_reservation_id:
            self._report_finding(
                entry,
                f"record.handpay: {reservation_id} owes no prize in kind, or its prize was already exchanged",
            )
            return
        expected_transfers = sorted(
            ("house:attendant_jackpot", "out:handpay_jackpot", cents)
            if source.startswith(PRIZES_ACCOUNT_PREFIX)
            else (source, target, cents)
            for source, target, cents in owed_transfers
        )
        if transfers != expected_transfers:
            self._report_finding(
                entry,
                f"transfers do not reserve the value of the prizes of {reservation_id}: expected {expected_transfers}, "
                f"found {transfers}",
            )
        self._exchange_id_by_reservation_id[reservation_id] = entry.id

    def _close_reservation(self, entry: StoredEntry, reservation_id: str) -> None:
        """Close the reservation ``reservation_id`` of prizes in kind, and check why it ends.

        Either the prizes were handed over, or a hand-pay in money replaced them, or nobody claimed them.
        """
        transfers = self._owed_transfers_by_reservation_id.pop(reservation_id)
        if entry.phase is Phase.SETTLE and reservation_id in self._exchange_id_by_reservation_id:
            exchange_id = self._exchange_id_by_reservation_id[reservation_id]
            self._report_finding(
                entry, f"the prize is handed over, although {exchange_id} pays its value as well"
            )
        elif (
            entry.kind == _HANDPAY_REPLACED_KIND and reservation_id not in self._exchange_id_by_reservation_id
        ):
            self._report_finding(
                entry, f"the prize of {reservation_id} is given up, but no hand-pay in money replaces it"
            )
        elif entry.kind == entries.HANDPAY_UNCLAIMED.kind:
            self._unclaimed_transfers_by_reservation_id[reservation_id] = _select_prize_transfers(transfers)

    def _check_orphaned_prizes(self, entry: StoredEntry, transfers: list[TransferTriple]) -> None:
        """Check that each unclaimed prize in kind moves to the account of unclaimed prizes."""
        unclaimed_transfers = self._unclaimed_transfers_by_reservation_id.pop(
            str(read_details(entry).get("id")), []
        )
        expected_transfers = sorted(
            (source, source.replace(":offered", ":unclaimed"), cents)
            for source, _, cents in unclaimed_transfers
        )
        if _select_prize_transfers(transfers) != expected_transfers:
            self._report_finding(
                entry,
                f"transfers do not return the unclaimed prizes: expected {expected_transfers},"
                f" found {_select_prize_transfers(transfers)}",
            )
