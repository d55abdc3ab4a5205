"""Recall: the last plays of a journal, each with its steps and its result."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from meters.chart import AccountBook, AccountRole, find_account, parse_account_variables
from meters.entry import StoredEntry
from meters.transaction import Phase
from meters.view import JournalView

#: Kind of the entry that starts a play.
PLAY_START_KIND: Final = "game.start"
#: Kind of the entry that repeats an open game of the previous journal after a memory clear.
CARRIED_GAME_KIND: Final = "game.carried"
#: Kinds of the first entry of a play in a journal.
PLAY_START_KINDS: Final = (PLAY_START_KIND, CARRIED_GAME_KIND)
#: Kinds of the entries of a play's further steps.
PLAY_STEP_KINDS: Final = ("game.choice", "game.step")
#: Kinds of the entries that end a play.
PLAY_END_KINDS: Final = ("game.end", "game.void")
#: Kind of the entry that pays back the pushed stakes of a decided play; the entry of its end follows.
PLAY_PUSH_KIND: Final = "game.push"
#: The number of plays that recall shows, unless the profile sets a different one (at least 10, E-01).
RECALLED_PLAYS_MAX: Final = 100
#: The number of steps that recall shows of a long feature: at least the last 50 (E-02).
RECALLED_STEPS_MAX: Final = 50


def mask_validation_number(validation_number: str) -> str:
    """Return a ticket's validation number with all but its last four digits hidden (E-06)."""
    return "*" * max(0, len(validation_number) - 4) + validation_number[-4:]


@dataclass(frozen=True, slots=True)
class Play:
    """One recorded play (game) of the journal: its first entry, the steps after it, and its end."""

    start_entry: StoredEntry
    """The first entry of the play, or the memory clear's entry that carried the play over."""
    step_entries: tuple[StoredEntry, ...]
    """The entries of the play's later steps, such as the player's choices, in order."""
    end_entry: StoredEntry | None
    """The entry that ended the play.

    None while the play is open, or if it ended before the memory clear that carried it over.
    """
    added_cents_by_source: Mapping[str, int]
    """The credit added between the previous play and this one, in minor units, by source account (E-04)."""
    push_entry: StoredEntry | None = None
    """The entry that returned the play's stakes; None if none were returned before its end."""

    @property
    def play_id(self) -> str:
        """Return the id of the play, which the record of its first entry states."""
        return str(read_details(self.start_entry)["play_id"])

    @property
    def position(self) -> int:
        """Return the number of the player position that made the play."""
        return read_position(self.start_entry)

    @property
    def end_kind(self) -> str:
        """Return the kind of the entry that ended the play, even if it ended before a memory clear.

        Return "" while the play is open.
        """
        return (
            self.end_entry.kind
            if self.end_entry is not None
            else str(read_details(self.start_entry).get("ended", ""))
        )

    @property
    def bet_cents(self) -> int:
        """Return the wager and the stakes added during the play, in minor units."""
        transfers = (t for entry in (self.start_entry, *self.step_entries) for t in entry.transfers)
        carried_cents = sum(int(cents) for _, cents in read_details(self.start_entry).get("staked", ()))
        return carried_cents + sum(t.amount_cents for t in transfers if t.target == "house:wager")

    @property
    def payout_cents(self) -> int | None:
        """Return what the play paid, including returned stakes and progressive levels, in minor units.

        Return None while the play is open, or if it was paid before the memory clear that carried it over.
        """
        if self.end_entry is None:
            return None
        returned_transfers = (
            *(() if self.push_entry is None else self.push_entry.transfers),
            *self.end_entry.transfers,
        )
        won_cents: int = sum(
            t.amount_cents for t in returned_transfers if find_account(t.source).role is AccountRole.WIN
        )
        return self._carried_returned_cents + won_cents

    @property
    def push_cents(self) -> int:
        """Return the returned stakes that :attr:`payout_cents` includes, in minor units."""
        end_transfers = () if self.end_entry is None else self.end_entry.transfers
        returned_transfers = (*(() if self.push_entry is None else self.push_entry.transfers), *end_transfers)
        return self._carried_returned_cents + sum(
            t.amount_cents for t in returned_transfers if t.source == "house:push"
        )

    @property
    def _carried_returned_cents(self) -> int:
        """Return the stakes that were returned before the memory clear that carried the play over, in minor units."""
        if self.end_entry is None or not read_details(self.start_entry).get("returned"):
            return 0
        return int(read_details(self.end_entry).get("push_cents", 0))

    @property
    def levels_won(self) -> tuple[tuple[str, int], ...]:
        """Return (level name, amount in minor units) for each progressive level that the play won, in order."""
        paid_transfers = () if self.end_entry is None else self.end_entry.transfers
        level_amounts = (
            (parse_account_variables(t.source).get("level"), t.amount_cents) for t in paid_transfers
        )
        return tuple((level, cents) for level, cents in level_amounts if level is not None)

    @property
    def prizes_won(self) -> tuple[Mapping[str, object], ...]:
        """Return the merchandise prizes that the play won, each with its id, names by language and stated value."""
        return () if self.end_entry is None else tuple(read_details(self.end_entry).get("prizes", ()))

    @property
    def credit_before_cents(self) -> int | None:
        """Return the player's credit when the play began, in minor units, or None if it was not recorded."""
        credit_cents = read_details(self.start_entry).get("credit_before_cents")
        return credit_cents if isinstance(credit_cents, int) else None

    @property
    def credit_after_cents(self) -> int | None:
        """Return the player's credit when the play ended, in minor units.

        A win that was paid by hand is not included. Return None if the play is open or the credit was not
        recorded, and for a play that a memory clear carried over, because its wager is in the previous journal.
        """
        before_cents = self.credit_before_cents
        if before_cents is None or self.end_entry is None or "staked" in read_details(self.start_entry):
            return None
        push_entries = () if self.push_entry is None else (self.push_entry,)
        transfers = (
            t
            for entry in (self.start_entry, *self.step_entries, *push_entries, self.end_entry)
            for t in entry.transfers
        )
        change_cents: int = sum(
            t.amount_cents * (_is_credit(t.target) - _is_credit(t.source)) for t in transfers
        )
        return before_cents + change_cents

    @property
    def outcome(self) -> object:
        """Return the play's outcome as recorded in its last step, with the data to display it again."""
        return read_details(self.step_entries[-1] if self.step_entries else self.start_entry).get("outcome")

    @property
    def shown_steps(self) -> tuple[StoredEntry, ...]:
        """Return the play's last steps, at most RECALLED_STEPS_MAX; recall shows only these of a long bonus feature."""
        return self.step_entries[-RECALLED_STEPS_MAX:]


def read_details(entry: StoredEntry) -> Mapping[str, Any]:
    """Return an entry's record if it is a JSON object, else an empty mapping."""
    record = entry.transaction.record
    return record if isinstance(record, dict) else {}


def iter_recent_plays(view: JournalView, play_count_max: int = RECALLED_PLAYS_MAX) -> Iterator[Play]:
    """Yield the last ``play_count_max`` plays of the journal, newest first."""
    start_entries = list(view.entries(PLAY_START_KINDS, limit=play_count_max, newest_first=True))
    later_entries_by_play_id: dict[str, list[StoredEntry]] = {}  # plays of several positions interleave
    kinds = (*PLAY_STEP_KINDS, PLAY_PUSH_KIND, *PLAY_END_KINDS)
    for entry in view.entries(kinds, after_sequence=start_entries[-1].sequence) if start_entries else ():
        later_entries_by_play_id.setdefault(entry.id.rpartition(".")[0], []).append(entry)
    for n, start_entry in enumerate(start_entries):
        later_entries = later_entries_by_play_id.get(str(read_details(start_entry)["play_id"]), [])
        yield Play(
            start_entry=start_entry,
            step_entries=tuple(e for e in later_entries if e.kind in PLAY_STEP_KINDS),
            end_entry=next((e for e in later_entries if e.kind in PLAY_END_KINDS), None),
            added_cents_by_source=_sum_added_credit(
                view,
                _find_previous_start_sequence(view, start_entry, start_entries[n + 1 : n + 2]),
                start_entry,
            ),
            push_entry=next((e for e in later_entries if e.kind == PLAY_PUSH_KIND), None),
        )


def _is_credit(account_name: str) -> bool:
    """Return whether an account is a player's credit on the credit meter, of whatever kind."""
    account = find_account(account_name)
    return account.book is AccountBook.LIVE and account.role is AccountRole.CREDIT


def read_position(entry: StoredEntry) -> int:
    """Return the player position of a journal entry; 1 if it names none."""
    return int(entry.transaction.dims.get("position", 1))


def _find_previous_start_sequence(
    view: JournalView, start_entry: StoredEntry, previous_start_entries: Sequence[StoredEntry]
) -> int:
    """Return the number of the first entry of the previous play at the same position; 0 if there was none.

    ``start_entry`` is the first entry of this play. ``previous_start_entries`` is the first entry of the
    previous play at any position, which is checked first, because it usually is the one searched for.
    """
    for entry in previous_start_entries:
        if read_position(entry) == read_position(start_entry):
            return entry.sequence
    earlier_starts = view.entries(PLAY_START_KINDS, before_sequence=start_entry.sequence, newest_first=True)
    return next(
        (entry.sequence for entry in earlier_starts if read_position(entry) == read_position(start_entry)), 0
    )


def _sum_added_credit(view: JournalView, since_sequence: int, start_entry: StoredEntry) -> Mapping[str, int]:
    """Return the credit added at a play's position between entry ``since_sequence`` and the play, by source account.

    Amounts are in minor units; ``start_entry`` is the play's first entry.
    """
    added_cents: Counter[str] = Counter()
    for entry in view.entries(after_sequence=since_sequence, before_sequence=start_entry.sequence):
        if read_position(entry) != read_position(start_entry):
            continue
        transfers = entry.transfers if entry.phase is Phase.POST else ()
        if entry.phase is Phase.SETTLE:
            reservation = view.get(entry.ref or "")
            transfers = reservation.transfers if reservation else ()
        for transfer in transfers:
            source = find_account(transfer.source)
            if (
                source.book is AccountBook.LIVE
                and source.role is AccountRole.IN
                and find_account(transfer.target).role is AccountRole.CREDIT
            ):
                added_cents[transfer.source] += transfer.amount_cents
    return dict(added_cents)
