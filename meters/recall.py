"""Recall and logs: views of the journal in the sizes that the profile asks for.

The journal loses nothing, so the size of a log only limits what is shown. Journal kinds are assigned to logs
here.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from meters.chart import Role, find_account, parse_account_words
from meters.entry import StoredEntry
from meters.errors import JournalError
from meters.transaction import Phase
from meters.view import JournalView

PLAY_START: Final = "game.start"
PLAY_STEPS: Final = ("game.choice", "game.step")
PLAY_ENDS: Final = ("game.end", "game.void")
PLAY_PUSH: Final = "game.push"
"""Kind of the entry that returns the stakes of a play before its end."""
PLAYS_SHOWN: Final = 100
"""Plays shown unless the profile says otherwise (at least 10, E-01)."""
STEPS_SHOWN: Final = 50
"""Steps of a long feature that are shown: at least the last 50 (E-02)."""


@dataclass(frozen=True, slots=True)
class Log:
    """A log: the entries of ``kinds`` (a trailing ``*`` matches any ending), and how many are shown."""

    name: str
    kinds: tuple[str, ...]
    size: int
    source: str

    def takes(self, kind: str) -> bool:
        """Return whether entries of ``kind`` belong to this log."""
        return any(kind == k or (k.endswith("*") and kind.startswith(k[:-1])) for k in self.kinds)


#: Kinds of the machine's internal bookkeeping, which are not events.
_QUIET: Final = (
    "checkpoint",
    "machine.genesis",
    "journal.archived",
    "selection",
    "bill.mark",
    "aft.told",
    "voucher.told",
    "voucher.read",
    "voucher.numbered",
    "voucher.authorised",
    PLAY_START,
    *PLAY_STEPS,
    PLAY_PUSH,
    *PLAY_ENDS,
)

#: Kinds of voucher entries, without those that record reports to a host.
_VOUCHERS: Final = tuple(
    f"voucher.{what}" for what in ("request", "out", "escrow", "in", "refused", "not_stacked")
)

LOGS: Final[Mapping[str, Log]] = {
    log.name: log
    for log in (
        Log("events", ("*",), 100, "E-08, E-09; NY 5317.26"),
        Log("bills", ("bill.in", "bill.returned", "bill.rejected"), 35, "E-07; FL 75-14.043(3)"),
        Log("vouchers", ("ticket.*", *_VOUCHERS), 35, "E-06; AGE 5.1.5"),
        Log("transfers", ("aft.complete", "aft.failed", "eft.*", "wat.*"), 35, "E-05; FL 75-14.043(1)"),
        Log("handpays", ("handpay.*", "merchandise.*"), 35, "D-10; NJ-C(a)4-5"),
        Log("complements", ("complement.*",), 100, "Q-05; MC 21.4"),
        Log("orphans", ("orphan.*", "handpay.unclaimed"), 100, "Q-06; MC 21.3"),
        Log("forfeits", ("forfeit.*",), 100, "F-15; QC s.94"),
        Log("protection", ("protection.*",), 100, "N-02, N-03"),
        Log("disputes", ("dispute.*", "machine.checked"), 100, "Q-02, Q-04; MC 21.1-21.2"),
        Log("progressives", ("progressive.hit*",), 25, "D-19; NY 5320.8(b)"),
        Log(
            "access",
            ("menu.*", "sign_in.*", "key.*", "door.*", "intervention.*", "staff.*", "tilt.cleared"),
            100,
            "J-18; NY 5321.9(e)",
        ),
        Log("software", ("software.*", "cabinet.*"), 10, "A-16, E-11; MS 8-2.9(b)3"),
    )
}


class UnknownLog(JournalError, KeyError):
    """No log has this name."""


def log(view: JournalView, name: str, size: int | None = None) -> Iterator[StoredEntry]:
    """Yield a log's entries, newest first, at most ``size`` of them (the log's own size if None)."""
    if name not in LOGS:
        raise UnknownLog(f"no log is called {name!r}; there are: {', '.join(LOGS)}")
    chosen = LOGS[name]
    kinds = [k for k in view.kinds() if chosen.takes(k) and (name != "events" or k not in _QUIET)]
    if not kinds:
        return iter(())
    return view.entries(kinds, limit=chosen.size if size is None else size, newest_first=True)


def mask_validation_number(number: str) -> str:
    """Return a validation number with all but its last four digits hidden (E-06)."""
    return "*" * max(0, len(number) - 4) + number[-4:]


@dataclass(frozen=True, slots=True)
class Play:
    """One recorded play: its start, the choices after it, and its end (None while it is open)."""

    start: StoredEntry
    steps: tuple[StoredEntry, ...]
    end: StoredEntry | None
    added_cents: Mapping[str, int]
    """Credit added since the previous play, by source account (E-04)."""
    push: StoredEntry | None = None
    """The entry that returned its stakes, if any."""

    @property
    def play_id(self) -> str:
        """Return the play's id."""
        return str(read_details(self.start)["play_id"])

    @property
    def position(self) -> int:
        """Return the player position at which it was played."""
        return _read_position(self.start)

    @property
    def bet_cents(self) -> int:
        """Return the wager plus stakes added during the play, in minor units."""
        staked = (t for entry in (self.start, *self.steps) for t in entry.transfers)
        return sum(t.amount_cents for t in staked if t.target == "house:wager")

    @property
    def win_cents(self) -> int | None:
        """Return what the play paid, including returned stakes and levels, in minor units; None while it is open."""
        if self.end is None:
            return None
        back = (*(() if self.push is None else self.push.transfers), *self.end.transfers)
        return sum(t.amount_cents for t in back if find_account(t.source).role is Role.WIN)

    @property
    def push_cents(self) -> int:
        """Return the returned stakes contained in the win, in minor units."""
        ends = () if self.end is None else self.end.transfers
        back = (*(() if self.push is None else self.push.transfers), *ends)
        return sum(t.amount_cents for t in back if t.source == "house:push")

    @property
    def levels_won(self) -> tuple[tuple[str, int], ...]:
        """Return the progressive levels that it was paid, in order, with their amounts in minor units."""
        paid = () if self.end is None else self.end.transfers
        named = ((parse_account_words(t.source).get("level"), t.amount_cents) for t in paid)
        return tuple((level, cents) for level, cents in named if level is not None)

    @property
    def prizes_won(self) -> tuple[Mapping[str, object], ...]:
        """Return the merchandise prizes won, each with its id, names by language and stated value."""
        return () if self.end is None else tuple(read_details(self.end).get("prizes", ()))

    @property
    def credit_before_cents(self) -> int | None:
        """Return the credit when the play began, if recorded."""
        before = read_details(self.start).get("credit_before_cents")
        return before if isinstance(before, int) else None

    @property
    def outcome(self) -> object:
        """Return the outcome with its display as of the last step, sufficient to show the play again."""
        return read_details(self.steps[-1] if self.steps else self.start).get("outcome")

    @property
    def shown_steps(self) -> tuple[StoredEntry, ...]:
        """Return the last STEPS_SHOWN steps of the play, for the recall of a long feature."""
        return self.steps[-STEPS_SHOWN:]


def read_details(entry: StoredEntry) -> Mapping[str, Any]:
    """Return an entry's record if it is an object, else an empty one."""
    record = entry.transaction.record
    return record if isinstance(record, dict) else {}


def plays(view: JournalView, size: int = PLAYS_SHOWN) -> Iterator[Play]:
    """Yield the last ``size`` plays of the journal, newest first."""
    starts = list(view.entries(PLAY_START, limit=size, newest_first=True))
    later: dict[str, list[StoredEntry]] = {}  # plays of several positions interleave
    kinds = (*PLAY_STEPS, PLAY_PUSH, *PLAY_ENDS)
    for entry in view.entries(kinds, since=starts[-1].sequence) if starts else ():
        later.setdefault(entry.id.rpartition(".")[0], []).append(entry)
    for n, start in enumerate(starts):
        after = later.get(str(read_details(start)["play_id"]), [])
        yield Play(
            start=start,
            steps=tuple(e for e in after if e.kind in PLAY_STEPS),
            end=next((e for e in after if e.kind in PLAY_ENDS), None),
            added_cents=_sum_added_credit(
                view, _find_previous_play_start(view, start, starts[n + 1 : n + 2]), start
            ),
            push=next((e for e in after if e.kind == PLAY_PUSH), None),
        )


def _read_position(entry: StoredEntry) -> int:
    return int(entry.transaction.dims.get("position", 1))


def _find_previous_play_start(view: JournalView, start: StoredEntry, last: Sequence[StoredEntry]) -> int:
    """Return where the previous play of the same position began; usually it is the ``last`` of all plays before."""
    for entry in last:
        if _read_position(entry) == _read_position(start):
            return entry.sequence
    earlier = view.entries(PLAY_START, until=start.sequence, newest_first=True)
    return next((entry.sequence for entry in earlier if _read_position(entry) == _read_position(start)), 0)


def _sum_added_credit(view: JournalView, since: int, start: StoredEntry) -> Mapping[str, int]:
    """Return the credit added at a play's position between an entry and its start, by source account."""
    added: Counter[str] = Counter()
    for entry in view.entries(since=since, until=start.sequence):
        if _read_position(entry) != _read_position(start):
            continue
        moved = entry.transfers if entry.phase is Phase.POST else ()
        if entry.phase is Phase.SETTLE:
            reservation = view.get(entry.ref or "")
            moved = reservation.transfers if reservation else ()
        for t in moved:
            if find_account(t.source).role is Role.IN and find_account(t.target).role is Role.CREDIT:
                added[t.source] += t.amount_cents
    return dict(added)
