"""The claim book: all claims (amounts or items that are owed) that one copy of a memory to be cleared supports.

The book tracks which parts of the memory its claims cover. So nothing is claimed twice, and everything else is either
carried over or shown.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Final, TypeVar

from egm.features.memory_clear.entries import TRANSFER_IDENTIFIERS, CarriedStateRecord, TransferIdentifiers
from egm.features.memory_clear.evidence import MemoryEvidence
from egm.features.memory_clear.records import (
    CARRIED_STATE_KIND,
    CLAIM_CARRIED_KIND,
    CLAIM_ENDED_KIND,
    CLAIM_PAID_KIND,
)
from egm.host.keys import HostKey
from egm.kernel.credits import CreditKind
from egm.kernel.keys import ClearAction, StorageKey, StorageKeys
from egm.money.keys import MoneyKey
from egm.record_codec import RecordError, from_json, to_json
from meters import Phase, Transaction, Transfer
from meters.chart import AccountBook, AccountRole, find_account, parse_account_variables
from meters.clear import CARRIED_OVER_ACCOUNT
from meters.ledger import Ledger, Reservation
from meters.salvage import SalvagedJournal
from meters.transaction import JSON, Dimensions

RecordT = TypeVar("RecordT")

#: The account of amounts paid by hand.
PAID_BY_HAND_ACCOUNT: Final = "out:handpay_cancelled_credit"
#: The maximum number of identifiers in one entry.
_IDENTIFIERS_PER_ENTRY_MAX: Final = 4096
#: No dimensions, state or record.
_EMPTY_MAPPING: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class ClearanceClaim:
    """One amount or item that a memory to be cleared owes, with the new journal's entries for each decision on it."""

    id: str
    amount: Fraction | int
    """The exact amount in minor units; 0 if the claim is not an amount."""
    details: Mapping[str, JSON]
    """Details for the people who decide, as JSON."""
    _: KW_ONLY
    carry_entries: tuple[Transaction, ...]
    """The new journal's entries that carry the claim over; empty if this is not possible."""
    build_paid_entries: Callable[[int], tuple[Transaction, ...]] | None = None
    """Returns the new journal's entries if the given amount was paid by hand; None if this is not possible."""
    end_entries: tuple[Transaction, ...] | None = None
    """The new journal's entries if nothing is owed any more; None if this is not possible."""
    fallback_end_entries: tuple[Transaction, ...] = ()
    """For a claim without ``end_entries``: the new journal's entries if nothing is owed any more.

    This decision is possible only if one copy of the memory lacks the claim, or if later entries are missing.
    """
    payment_min_cents: int | None = None
    """The minimum amount that may be paid by hand; None if the whole amount must be paid."""
    is_readable: bool = True
    """Whether the claim's record is well-formed.

    If not, its amount is unknown, and it can only be ended.
    """

    @property
    def possible_decisions(self) -> tuple[str, ...]:
        """Return which decisions on the claim are possible: carried, paid by hand, or ended (nothing is owed)."""
        possibility_by_decision = (
            ("carried", self.carry_entries or None),
            ("paid", self.build_paid_entries),
            ("ended", self.end_entries),
        )
        return tuple(decision for decision, possible in possibility_by_decision if possible is not None)

    def is_same_claim(self, other_claim: "ClearanceClaim | None") -> bool:
        """Return whether the same claim in the memory's second copy has the same amount and details.

        False if the second copy does not have the claim.
        """
        return other_claim is not None and (self.amount, self.details) == (
            other_claim.amount,
            other_claim.details,
        )


class ClaimBook:
    """The claims that one copy of the old memory supports, and the parts of the memory that they cover."""

    def __init__(self, salvaged_journal: SalvagedJournal[MemoryEvidence], keys: StorageKeys) -> None:
        self.keys: Final = keys
        self.old_ledger: Ledger = salvaged_journal.ledger
        self.old_state: dict[str, JSON] = dict(salvaged_journal.ledger.state)
        self.evidence = salvaged_journal.visitor
        self._old_head_digits = salvaged_journal.head_hex[:8]
        self.claims: list[ClearanceClaim] = []
        self.covered_state_names: set[str] = set()
        self.unclaimed_reservations = dict(salvaged_journal.ledger.pending_reservations)
        self.claimed_cents_by_account: Counter[str] = Counter()
        """How many minor units of each credit account are part of another claim, such as the claim for an open game.

        Only the remaining credit is claimed as credit.
        """

    # ------------------------------------------------------------------ entries for the new journal
    def build_entry(
        self,
        claim_id: str,
        claim_kind: str,
        entry_number: int = 1,
        *,
        id: str = "",  # noqa: A002 (the name of the entry's field)
        entry_kind: str = "",
        phase: Phase = Phase.POST,
        transfers: tuple[Transfer, ...] = (),
        dims: Dimensions = _EMPTY_MAPPING,
        state: Mapping[str, JSON] = _EMPTY_MAPPING,
        record: Mapping[str, JSON] = _EMPTY_MAPPING,
    ) -> Transaction:
        """Return an entry for the new journal about the claim with the id ``claim_id``.

        If ``id`` is empty, the entry's id is made of ``claim_kind``, ``claim_id``, ``entry_number`` and the
        first digits of the hash of the old journal's last entry. If ``entry_kind`` is empty, the entry's kind is
        ``claim_kind``. ``entry_number`` distinguishes several entries of one claim.
        """
        return Transaction(
            id=id or f"{claim_kind}-{claim_id}-{entry_number}-{self._old_head_digits}",
            kind=entry_kind or claim_kind,
            phase=phase,
            transfers=transfers,
            dims=dims,
            state=state,
            record={"claim": claim_id, **record},
        )

    def build_funding_transfers(self, transfers: Iterable[Transfer]) -> tuple[Transfer, ...]:
        """Return the transfers that fund, in the new journal, the credit accounts from which ``transfers`` are paid.

        Without them, these accounts would be empty there. Sources that hold no player's credit are left out.
        """
        needed_cents_by_account: Counter[str] = Counter()
        for transfer in transfers:
            if is_credit_account(transfer.source):
                needed_cents_by_account[transfer.source] += transfer.amount_cents
        return tuple(
            Transfer(CARRIED_OVER_ACCOUNT, account, amount_cents)
            for account, amount_cents in needed_cents_by_account.items()
        )

    def read_record(self, record_class: type[RecordT], state_name: str) -> RecordT:
        """Return the value that the old memory stores under ``state_name``, as a record of ``record_class``."""
        return from_json(record_class, self.old_state[state_name], f"the memory's {state_name!r}")

    def cover_values(self, *names: str) -> dict[str, JSON]:
        """Return the values that the old memory stores under ``names``, and mark them as covered by a claim.

        They are then neither claimed again nor carried over as other state. Names that are not stored are left out.
        """
        values = {name: self.old_state[name] for name in names if name in self.old_state}
        self.covered_state_names |= values.keys()
        return values

    def build_reservation_entries(
        self,
        claim_id: str,
        reservations_held: Iterable[Reservation],
        state: Mapping[str, JSON],
        **record: JSON,
    ) -> tuple[Transaction, ...]:
        """Return the entries that make the old journal's reservations again in the new journal, with the same ids.

        The entry before each reservation provides the credit that it reserves. ``state`` is stored with the last entry.
        """
        entries: list[Transaction] = []
        for number, reservation in enumerate(reservations := list(reservations_held), start=1):
            if funding_transfers := self.build_funding_transfers(reservation.transfers):
                entries.append(
                    self.build_entry(claim_id, CLAIM_CARRIED_KIND, number, transfers=funding_transfers)
                )
            entries.append(
                self.build_entry(
                    claim_id,
                    CLAIM_CARRIED_KIND,
                    id=reservation.id,
                    phase=Phase.RESERVE,
                    transfers=reservation.transfers,
                    record={"reserved_as": self._find_original_kind(reservation), **record},
                    state=state if number == len(reservations) else {},
                )
            )
        return tuple(entries)

    def _find_original_kind(self, reservation: Reservation) -> str:
        """Return the kind of the entry that first made a reservation.

        If a memory clear has carried the reservation over, this is not the kind of its entry in the old journal.
        """
        return self.evidence.original_kind_by_reservation.get(reservation.id, reservation.kind)

    def add_claim(self, claim: ClearanceClaim) -> None:
        """Add a claim to those that this copy of the memory supports."""
        self.claims.append(claim)

    def add_claim_for_value(self, add_claims: "Callable[[ClaimBook, str], None]", state_name: str) -> None:
        """Add the claims for the value stored under ``state_name``, by calling ``add_claims``.

        If this fails because the value is malformed, add an unreadable claim instead, on which people must decide.
        """
        saved_book = (
            self.unclaimed_reservations.copy(),
            self.claimed_cents_by_account.copy(),
            self.covered_state_names.copy(),
            list(self.claims),
        )
        try:
            add_claims(self, state_name)
        except Exception as error:  # noqa: BLE001 (an error in one entry must not hide the others)
            (
                self.unclaimed_reservations,
                self.claimed_cents_by_account,
                self.covered_state_names,
                self.claims,
            ) = saved_book
            self.covered_state_names.add(state_name)
            reason = str(error) if isinstance(error, RecordError) else repr(error)
            details = {"cannot be read": reason, "state": self.old_state[state_name]}
            self.add_claim(
                ClearanceClaim(
                    f"unreadable:{state_name}",
                    0,
                    details,
                    carry_entries=(),
                    end_entries=(),
                    is_readable=False,
                )
            )

    # ------------------------------------------------------------------ claims without a storage key
    def claim_unaccounted_reservations(self) -> None:
        """Add a claim for each pending reservation of money that no stored value accounts for."""
        for reservation in list(self.unclaimed_reservations.values()):
            claim_id = f"reservation:{reservation.id}"
            self.add_claim(
                ClearanceClaim(
                    claim_id,
                    sum(transfer.amount_cents for transfer in reservation.transfers),
                    {
                        "kind": self._find_original_kind(reservation),
                        "flows": encode_transfers(reservation.transfers),
                    },
                    carry_entries=self.build_reservation_entries(claim_id, [reservation], {}),
                    end_entries=self._build_credit_return_entries(claim_id, reservation),
                )
            )

    def _build_credit_return_entries(
        self, claim_id: str, reservation: Reservation
    ) -> tuple[Transaction, ...]:
        """Return the new journal's entries that put the amount of a cancelled reservation on the credit meter."""
        funding_transfers = self.build_funding_transfers(reservation.transfers)
        return (self.build_entry(claim_id, CLAIM_ENDED_KIND, transfers=funding_transfers),)

    def claim_remaining_credits(self) -> None:
        """Add a claim for the credit in each account that is not part of another claim.

        There is an account for each kind of credit at each player position.
        """
        for account in sorted(self.old_ledger.list_accounts()):
            amount_cents = (
                self.old_ledger.available_cents(account) - self.claimed_cents_by_account[account]
                if is_credit_account(account)
                else 0
            )
            if amount_cents <= 0:
                continue
            position = int(parse_account_variables(account)["position"])
            is_restricted = is_restricted_account(account)
            state = (
                self.cover_values(format_state_name(position, MoneyKey.RESTRICTED_CREDIT_TERMS))
                if is_restricted
                else {}
            )
            transfer = Transfer(CARRIED_OVER_ACCOUNT, account, amount_cents)
            payment = Transfer(account, PAID_BY_HAND_ACCOUNT, amount_cents)
            self.add_claim(
                ClearanceClaim(
                    account,
                    amount_cents,
                    {"terms": next(iter(state.values()), None)} if is_restricted else {},
                    carry_entries=(
                        self.build_entry(account, CLAIM_CARRIED_KIND, transfers=(transfer,), state=state),
                    ),
                    build_paid_entries=None
                    if is_restricted
                    else self._build_paid_entries(account, (transfer, payment)),
                )
            )

    def _build_paid_entries(
        self, claim_id: str, transfers: tuple[Transfer, ...]
    ) -> Callable[[int], tuple[Transaction, ...]]:
        """Return a function that builds the new journal's entry for a claim that was paid by hand in full.

        The entry makes the transfers ``transfers``. The function ignores its argument, the amount paid in minor units.
        """
        return lambda _: (self.build_entry(claim_id, CLAIM_PAID_KIND, transfers=transfers),)

    def claim_past_transfer_identifiers(self) -> None:
        """Add a claim with the ids of past host transfers, so that the host cannot move the same money again."""
        identifiers = sorted(self.evidence.transfer_identifiers)
        if not identifiers:
            return
        chunks = [
            identifiers[n : n + _IDENTIFIERS_PER_ENTRY_MAX]
            for n in range(0, len(identifiers), _IDENTIFIERS_PER_ENTRY_MAX)
        ]
        self.add_claim(
            ClearanceClaim(
                "transfers",
                0,
                {"identifiers": len(identifiers)},
                carry_entries=tuple(
                    self.build_entry(
                        "transfers",
                        CLAIM_CARRIED_KIND,
                        number,
                        entry_kind=TRANSFER_IDENTIFIERS.kind,
                        record=to_json(TransferIdentifiers(identifier_digests=tuple(chunk))),
                    )
                    for number, chunk in enumerate(chunks, start=1)
                ),
                end_entries=(
                    self.build_entry(
                        "transfers", CLAIM_ENDED_KIND, state={HostKey.TRANSFER_IDENTIFIERS_LOST: True}
                    ),
                ),
            )
        )

    def build_carried_state_entry(self) -> Transaction | None:
        """Return the entry for the new journal with the stored state that is part of no claim.

        State that concerned only the old journal is left out. None if there is no state, end of a ticket ledger or text
        of a cabinet file to carry over.
        """
        carried_state = {
            name: value
            for name, value in sorted(self.old_state.items())
            if name not in self.covered_state_names and not self._is_specific_to_journal(name)
        }
        record = CarriedStateRecord(
            ticket_ending_entry_ids=tuple(self.evidence.ticket_ending_entry_ids),
            ticket_ledger=self.evidence.ticket_ledger,
            cabinet_text=self.evidence.cabinet_text,
        )
        if not carried_state and record == CarriedStateRecord(
            ticket_ending_entry_ids=record.ticket_ending_entry_ids
        ):
            return None
        return self.build_entry("", CARRIED_STATE_KIND, state=carried_state, record=to_json(record))

    def _is_specific_to_journal(self, state_name: str) -> bool:
        """Return whether the value stored under ``state_name`` concerned only the old journal.

        A memory clear drops such a value.
        """
        key = self.keys.find_key(state_name)
        return state_name.startswith("journal.") if key is None else key.clear_action is ClearAction.TRANSIENT


@dataclass(frozen=True, slots=True)
class ClaimMaker:
    """A function of a feature that adds the claims for the values of one storage key to the claim book.

    Each key with the clear action OWED needs one.
    """

    key: StorageKey
    add_claims: Callable[[ClaimBook, str], None]


# ---------------------------------------------------------------------------------------------- names
def parse_position(state_name: str) -> int:
    """Return the player position's number in the name of a stored value; 1 if the name has none."""
    number, slash, _ = state_name.partition("/")
    return int(number) if slash and number.isdecimal() else 1


def format_state_name(position: int, key: StorageKey) -> str:
    """Return the name under which the journal stores the value of a key at a player position."""
    return f"{position}/{key}" if position > 1 else str(key)


def is_credit_account(account: str) -> bool:
    """Return whether an account holds credit of a player."""
    return find_account(account).role is AccountRole.CREDIT and find_account(account).book is AccountBook.LIVE


def is_restricted_account(account: str) -> bool:
    """Return whether an account holds restricted credit."""
    return account.rpartition(":")[2] == CreditKind.RESTRICTED


def encode_transfers(transfers: Iterable[Transfer]) -> list[list[JSON]]:
    """Return transfers as JSON for the details of a claim: a list of source, target and amount (minor units) each."""
    return [[transfer.source, transfer.target, transfer.amount_cents] for transfer in transfers]
