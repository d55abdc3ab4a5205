"""One claim on a memory to be cleared, and the claim book, which collects the claims that one copy of it supports.

The book tracks which parts of the memory the claims account for, so that nothing is claimed twice and
everything else is either carried over or shown.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Final, TypeVar

from egm.features.memory_clear.entries import TRANSFER_IDENTIFIERS, StateKept, TransferIdentifiers
from egm.features.memory_clear.evidence import MemoryEvidence
from egm.features.memory_clear.records import CARRIED_STATE, CLAIM_CARRIED, CLAIM_ENDED, CLAIM_PAID
from egm.host.keys import HostKey
from egm.kernel.credits import CreditKind
from egm.kernel.keys import ClearAction, Key, StorageKeys
from egm.money.keys import MoneyKey
from egm.record_codec import RecordError, from_json, to_json
from meters import Phase, Transaction, Transfer
from meters.chart import Book, Role, find_account, parse_account_words
from meters.ledger import Ledger, Reservation
from meters.salvage import SalvagedJournal
from meters.transaction import JSON, Dims

R = TypeVar("R")

#: The account from which the new journal receives amounts carried over.
CARRIED_OVER_ACCOUNT: Final = "house:carried_over"
#: The account of amounts paid by hand.
PAID_BY_HAND_ACCOUNT: Final = "out:handpay_cancelled_credit"
#: Most identifiers in one entry.
_IDENTIFIERS_PER_ENTRY: Final = 4096
#: No dimensions, state or record.
_NOTHING: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class ClearanceClaim:
    """One thing owed according to a memory to be cleared, with the new journal's entries for each possible decision.

    ``amount`` is in minor units, exact; ``details`` has the details for the person who decides. ``carry_entries``,
    ``build_paid_entries`` and ``end_entries`` are the new journal's entries if the claim is carried over, paid by
    hand (at least ``smallest_cents`` and at most ``amount``), or no longer owed; None if that decision is not possible.
    """

    id: str
    amount: Fraction | int
    details: Mapping[str, JSON]
    _: KW_ONLY
    carry_entries: tuple[Transaction, ...]
    build_paid_entries: Callable[[int], tuple[Transaction, ...]] | None = None
    end_entries: tuple[Transaction, ...] | None = None
    smallest_cents: int | None = None
    is_readable: bool = True
    """Whether the claim's record is well-formed. If not, the amount is unknown, and it cannot be carried over."""

    @property
    def possible_decisions(self) -> tuple[str, ...]:
        """Return the possible decisions on the memory-clear claim: carried, paid or ended."""
        acts = (
            ("carried", self.carry_entries or None),
            ("paid", self.build_paid_entries),
            ("ended", self.end_entries),
        )
        return tuple(act for act, possible in acts if possible is not None)

    def is_same_claim(self, other_claim: "ClearanceClaim | None") -> bool:
        """Return whether a claim found in the memory's other copy (or None) has the same amount and details."""
        return other_claim is not None and (self.amount, self.details) == (
            other_claim.amount,
            other_claim.details,
        )


class ClaimBook:
    """The claims that one copy of the old memory supports, and the parts of its state that they account for."""

    def __init__(self, history: SalvagedJournal[MemoryEvidence], keys: StorageKeys) -> None:
        self.keys: Final = keys
        self.old_ledger: Ledger = history.ledger
        self.old_state: dict[str, JSON] = dict(history.ledger.state)
        self.evidence = history.visitor
        self._old_head = history.head_hex[:8]
        self.claims: list[ClearanceClaim] = []
        self.accounted_names: set[str] = set()
        self.unclaimed_reservations = dict(history.ledger.pending)
        self.claimed_credit_cents: Counter[str] = Counter()
        """The players' credit that is part of claims other than the claim for credit, by account."""

    # ------------------------------------------------------------------ making entries
    def build_entry(
        self,
        claim: str,
        kind: str,
        number: int = 1,
        *,
        id: str = "",  # noqa: A002 (the name of the entry's field)
        entry_kind: str = "",
        phase: Phase = Phase.POST,
        transfers: tuple[Transfer, ...] = (),
        dims: Dims = _NOTHING,
        state: Mapping[str, JSON] = _NOTHING,
        record: Mapping[str, JSON] = _NOTHING,
    ) -> Transaction:
        """Return an entry of the new journal about a memory-clear claim.

        Without ``id``, the entry's id ends with the first digits of the hash of the old journal's last entry.
        ``kind`` is the entry's kind unless ``entry_kind`` names another; ``number`` distinguishes several
        entries of one claim.
        """
        return Transaction(
            id=id or f"{kind}-{claim}-{number}-{self._old_head}",
            kind=entry_kind or kind,
            phase=phase,
            transfers=transfers,
            dims=dims,
            state=state,
            record={"claim": claim, **record},
        )

    def build_funding_transfers(self, flows: Iterable[Transfer]) -> tuple[Transfer, ...]:
        """Return the transfers that provide the credit that ``flows`` take, for the new journal."""
        needed: Counter[str] = Counter()
        for flow in flows:
            if is_credit(flow.source):
                needed[flow.source] += flow.amount_cents
        return tuple(Transfer(CARRIED_OVER_ACCOUNT, name, cents) for name, cents in needed.items())

    def read_record(self, kind: type[R], name: str) -> R:
        """Return the record that the old memory stores under a name."""
        return from_json(kind, self.old_state[name], f"the memory's {name!r}")

    def take_values(self, *names: str) -> dict[str, JSON]:
        """Return the values that the old memory stores under these names, and mark them as part of a claim."""
        values = {name: self.old_state[name] for name in names if name in self.old_state}
        self.accounted_names |= values.keys()
        return values

    def build_reservation_entries(
        self, claim: str, reservations_held: Iterable[Reservation], state: Mapping[str, JSON], **record: JSON
    ) -> tuple[Transaction, ...]:
        """Return the entries that repeat the old journal's reservations in the new one, with the same ids.

        Before each reservation there is an entry that provides the credit it reserves. ``state`` is stored
        with the last one.
        """
        entries: list[Transaction] = []
        for number, reservation in enumerate(reservations := list(reservations_held), start=1):
            if funds := self.build_funding_transfers(reservation.transfers):
                entries.append(self.build_entry(claim, CLAIM_CARRIED, number, transfers=funds))
            entries.append(
                self.build_entry(
                    claim,
                    CLAIM_CARRIED,
                    id=reservation.id,
                    phase=Phase.RESERVE,
                    transfers=reservation.transfers,
                    record={"reserved_as": self._find_original_kind(reservation), **record},
                    state=state if number == len(reservations) else {},
                )
            )
        return tuple(entries)

    def _find_original_kind(self, reservation: Reservation) -> str:
        """Return the kind of the journal entry that first made a reservation, before any memory clear."""
        return self.evidence.original_kind_by_reservation.get(reservation.id, reservation.kind)

    def add_claim(self, claim: ClearanceClaim) -> None:
        """Add a memory-clear claim to the book."""
        self.claims.append(claim)

    def add_claim_for_value(self, make: "Callable[[ClaimBook, str], None]", name: str) -> None:
        """Add the claim for a stored value by calling ``make``.

        If the value is malformed, add a claim about which persons must decide.
        """
        snapshot = (
            self.unclaimed_reservations.copy(),
            self.claimed_credit_cents.copy(),
            self.accounted_names.copy(),
            list(self.claims),
        )
        try:
            make(self, name)
        except Exception as error:  # noqa: BLE001 (an error in one entry must not hide the others)
            self.unclaimed_reservations, self.claimed_credit_cents, self.accounted_names, self.claims = (
                snapshot
            )
            self.accounted_names.add(name)
            reason = str(error) if isinstance(error, RecordError) else repr(error)
            details = {"cannot be read": reason, "state": self.old_state[name]}
            self.add_claim(
                ClearanceClaim(
                    f"unreadable:{name}", 0, details, carry_entries=(), end_entries=(), is_readable=False
                )
            )

    # ------------------------------------------------------------------ what no key names
    def claim_keyless_reservations(self) -> None:
        """Add a claim for each pending reservation of money that belongs to no storage key."""
        for reservation in list(self.unclaimed_reservations.values()):
            name = f"reservation:{reservation.id}"
            self.add_claim(
                ClearanceClaim(
                    name,
                    sum(flow.amount_cents for flow in reservation.transfers),
                    {
                        "kind": self._find_original_kind(reservation),
                        "flows": encode_flows(reservation.transfers),
                    },
                    carry_entries=self.build_reservation_entries(name, [reservation], {}),
                    end_entries=self._return_to_credit(name, reservation),
                )
            )

    def _return_to_credit(self, claim: str, reservation: Reservation) -> tuple[Transaction, ...]:
        """Return the new journal's entries that put a cancelled reservation's amount on the credit meter."""
        funds = self.build_funding_transfers(reservation.transfers)
        return (self.build_entry(claim, CLAIM_ENDED, transfers=funds),)

    def claim_remaining_credits(self) -> None:
        """Add claims for the players' credit that no other claim includes, by kind of credit and position."""
        for name in sorted(self.old_ledger.list_accounts()):
            cents = (
                self.old_ledger.available_cents(name) - self.claimed_credit_cents[name]
                if is_credit(name)
                else 0
            )
            if cents <= 0:
                continue
            words = parse_account_words(name)
            position = int(words["position"])
            restricted = is_restricted(name)
            state = self.take_values(format_state_name(position, MoneyKey.RESTRICTED)) if restricted else {}
            flow = Transfer(CARRIED_OVER_ACCOUNT, name, cents)
            payment = Transfer(name, PAID_BY_HAND_ACCOUNT, cents)
            self.add_claim(
                ClearanceClaim(
                    name,
                    cents,
                    {"terms": next(iter(state.values()), None)} if restricted else {},
                    carry_entries=(self.build_entry(name, CLAIM_CARRIED, transfers=(flow,), state=state),),
                    build_paid_entries=None
                    if restricted
                    else self._build_paid_entries(name, (flow, payment)),
                )
            )

    def _build_paid_entries(
        self, claim: str, flows: tuple[Transfer, ...]
    ) -> Callable[[int], tuple[Transaction, ...]]:
        """Return the function that builds the new journal's entries for a claim that was paid by hand in full."""
        return lambda _: (self.build_entry(claim, CLAIM_PAID, transfers=flows),)

    def carry_transfer_identifiers(self) -> None:
        """Add a memory-clear claim that carries over the ids of past host transfers.

        So the host cannot move the same money again.
        """
        identifiers = sorted(self.evidence.transfer_identifiers)
        if not identifiers:
            return
        chunks = [
            identifiers[n : n + _IDENTIFIERS_PER_ENTRY]
            for n in range(0, len(identifiers), _IDENTIFIERS_PER_ENTRY)
        ]
        self.add_claim(
            ClearanceClaim(
                "transfers",
                0,
                {"identifiers": len(identifiers)},
                carry_entries=tuple(
                    self.build_entry(
                        "transfers",
                        CLAIM_CARRIED,
                        number,
                        entry_kind=TRANSFER_IDENTIFIERS.kind,
                        record=to_json(TransferIdentifiers(identifier_digests=tuple(part))),
                    )
                    for number, part in enumerate(chunks, start=1)
                ),
                end_entries=(
                    self.build_entry("transfers", CLAIM_ENDED, state={HostKey.TRANSFERS_UNPROVED: True}),
                ),
            )
        )

    def build_carried_state_entry(self) -> Transaction | None:
        """Return the entry that carries over the stored state that is part of no memory-clear claim, or None.

        State that is specific to the old journal is left out.
        """
        keep = {
            name: value
            for name, value in sorted(self.old_state.items())
            if name not in self.accounted_names and not self._is_specific_to_journal(name)
        }
        record = StateKept(
            last_ticket_entries=tuple(self.evidence.ended_ids),
            ticket_ledger=self.evidence.ticket_ledger,
            cabinet_text=self.evidence.cabinet_text,
        )
        if not keep and record == StateKept(last_ticket_entries=record.last_ticket_entries):
            return None
        return self.build_entry("", CARRIED_STATE, state=keep, record=to_json(record))

    def _is_specific_to_journal(self, name: str) -> bool:
        """Return whether a memory clear drops a stored value, because it only concerned the old journal."""
        key = self.keys.find_key(name)
        return name.startswith("journal.") if key is None else key.clear_action is ClearAction.TRANSIENT


@dataclass(frozen=True, slots=True)
class ClaimMaker:
    """The function that adds the memory-clear claim for the values of one storage key.

    A feature offers one for each of its keys with the clear action OWED.
    """

    key: Key
    add_claims: Callable[[ClaimBook, str], None]


# ---------------------------------------------------------------------------------------------- names
def parse_position(name: str) -> int:
    """Return the number of the player position whose value the journal's state has under a name."""
    number, slash, _ = name.partition("/")
    return int(number) if slash and number.isdecimal() else 1


def format_state_name(position: int, key: Key) -> str:
    """Return the name under which the journal stores a player position's value of a key."""
    return f"{position}/{key}" if position > 1 else str(key)


def is_credit(name: str) -> bool:
    """Return whether the account with this name holds a player's credit."""
    return find_account(name).role is Role.CREDIT and find_account(name).book is Book.LIVE


def is_restricted(name: str) -> bool:
    """Return whether the account with this name holds restricted credit."""
    return name.rpartition(":")[2] == CreditKind.RESTRICTED


def encode_flows(flows: Iterable[Transfer]) -> list[list[JSON]]:
    """Return transfers as JSON for the description of a memory-clear claim: source, target and amount of each."""
    return [[flow.source, flow.target, flow.amount_cents] for flow in flows]
