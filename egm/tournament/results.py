"""The results of a tournament, derived from the journals of its machines, for :mod:`egm.tournament.settlement`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from egm.play.keys import PlayKey
from egm.play.records.purse import Purse
from egm.record_codec import from_json
from egm.tournament.entries import ENTRY_SOLD, ENTRY_VOIDED
from egm.tournament.standings import EntryResult, Results, ResultsError, RoundResult
from meters import StoredEntry
from meters.recall import read_details

#: Endings that a round played at one machine may have before it is played again at another.
_REPEATABLE: Final = frozenset({"", "interrupted"})


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A round of an entry as one machine has played it last: its purse, and when it last changed."""

    machine: str
    purse: Purse
    at: datetime


@dataclass(slots=True)
class _Collected:
    """The sales and rounds of one tournament, collected from its journals."""

    sold: dict[int, tuple[str, str]] = field(default_factory=dict)
    """The participant of each entry, and the machine that sold it."""
    void: set[int] = field(default_factory=set)
    attempts: dict[tuple[int, int], _Attempt] = field(default_factory=dict)
    """The last attempt at each round, by entry and round."""


def derive_results(digest: str, journals: Mapping[str, Iterable[StoredEntry]]) -> Results:
    """Return the results of the tournament whose rules file has this SHA-256.

    ``journals`` are the entries of each machine by the name to use in errors. A round that never ended counts as
    interrupted. An entry that never played has failed its first round. Raises :class:`ResultsError` if an entry or a
    round occurs at two machines, or an entry was played whose sale is in none of the journals.
    """
    collected = _Collected()
    for machine, entries in journals.items():
        _collect(collected, digest, machine, entries)
    for number, _ in collected.attempts:
        if number not in collected.sold:
            raise ResultsError(f"entry {number}: it was played, but its sale is in none of the journals")
    return Results(
        entries=tuple(
            _build_entry(collected, number, participant)
            for number, (participant, _) in sorted(collected.sold.items())
            if number not in collected.void
        )
    )


def _collect(collected: _Collected, digest: str, machine: str, entries: Iterable[StoredEntry]) -> None:
    """Add the sales and rounds of one machine's journal."""
    is_this_tournament = False
    attempts: dict[tuple[int, int], _Attempt] = {}
    for entry in entries:
        if not entry.kind.startswith("tournament."):
            continue
        record = read_details(entry)
        is_this_tournament = record.get("digest", digest if is_this_tournament else "") == digest
        if not is_this_tournament:
            continue
        if entry.kind == ENTRY_SOLD.kind:
            number = record["entry"]
            if number in collected.sold:
                raise ResultsError(f"entry {number}: sold at {collected.sold[number][1]} and at {machine}")
            collected.sold[number] = record["participant"], machine
        elif entry.kind == ENTRY_VOIDED.kind:
            collected.void.add(record["entry"])
        for purse in _iter_purses(entry):
            attempts[purse.entry, purse.round] = _Attempt(machine, purse, entry.time_utc)
    for key, attempt in attempts.items():
        other = collected.attempts.get(key)
        collected.attempts[key] = attempt if other is None else _choose_attempt(other, attempt)


def _iter_purses(entry: StoredEntry) -> Iterable[Purse]:
    """Yield the purse that an entry stores, if any."""
    for key, value in entry.state.items():
        if key.rpartition("/")[2] == PlayKey.PURSE and value is not None:
            yield from_json(Purse, value, f"entry {entry.sequence}, state.{key}")


def _choose_attempt(first: _Attempt, second: _Attempt) -> _Attempt:
    """Return the attempt at a round that counts: the one that was not interrupted, or else the later one."""
    endings = {first.purse.ending, second.purse.ending}
    if endings <= _REPEATABLE:
        return max(first, second, key=lambda attempt: attempt.at)
    if _REPEATABLE.isdisjoint(endings):
        purse = first.purse
        raise ResultsError(
            f"entry {purse.entry}: round {purse.round}: it ended at {first.machine} and at {second.machine}"
        )
    return first if first.purse.ending not in _REPEATABLE else second


def _build_entry(collected: _Collected, number: int, participant: str) -> EntryResult:
    """Return the result of an entry: its rounds in order."""
    rounds: list[RoundResult] = []
    while (attempt := collected.attempts.get((number, len(rounds) + 1))) is not None:
        purse = attempt.purse
        if purse.participant != participant:
            raise ResultsError(f"entry {number}: it is of {participant}, and {purse.participant} played it")
        rounds.append(
            RoundResult(
                points=purse.won_points,
                best_game=purse.best_points,
                status=purse.ending or "interrupted",
            )
        )
    return EntryResult(
        entry=number,
        participant=participant,
        rounds=tuple(rounds) or (RoundResult(points=0, best_game=0, status="failed"),),
    )
