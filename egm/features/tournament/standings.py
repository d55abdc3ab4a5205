"""The standings (ranks) of a tournament from its results: rounds, re-entries, ties, interrupted and failed entries.

The results file is JSON: ``{"entries": [{"entry": 1, "participant": "P-07", "rounds": [{"points": 120}]}]}``. Entries
are numbered in the order in which they were sold. A round also has ``best_game``, the most points won in one game, if
ties are decided by it. If a round is not complete, its ``status`` is ``interrupted`` or ``failed``.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from egm.config.mistakes import format_key_path
from egm.errors import OperatorError
from egm.features.tournament.rules import Tournament
from paytables.source import read_contents

#: A number of points.
_Points = Annotated[int, Field(ge=0, le=10**15, strict=True)]


class ResultsError(OperatorError):
    """Raised if the results of a tournament do not fit its rules; the message names the entry and the round."""


class _ResultsItem(BaseModel):
    """Base class of the objects in a results file. An object with an unknown key is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class RoundResult(_ResultsItem):
    """The result of one entry in one round: its points, and how the round ended."""

    points: _Points
    best_game: _Points | None = None
    status: Literal["complete", "interrupted", "failed"] = "complete"
    """How the round ended."""


class EntryResult(_ResultsItem):
    """The result of one entry: its number, its participant, and its rounds in order."""

    entry: Annotated[int, Field(gt=0, le=10**6, strict=True)]
    participant: Annotated[str, Field(min_length=1, max_length=80)]
    rounds: tuple[RoundResult, ...] = ()


class Results(_ResultsItem):
    """The whole content of a results file."""

    rules_sha256: str | None = None
    """The SHA-256 of the rules file, if the results were derived from journals; None if people entered them."""
    entries: tuple[EntryResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParticipantStanding:
    """The final rank of one participant.

    A participant with several entries is ranked by the best of them.
    """

    rank: int
    participant: str
    entry: int
    """The number of the entry by which the participant is ranked."""
    round: int
    """The number of the last round that the ranked entry played."""
    points: int
    best_game: int | None
    """The most points that the ranked entry won in one game of its last round; None if this was not recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings:
    """The final ranks of a tournament, without its prizes."""

    ranked_standings: tuple[ParticipantStanding, ...]
    refunded_entries: tuple[int, ...]
    """The numbers of the entries whose fee is refunded."""
    excluded_entries: tuple[int, ...]
    """The numbers of the entries that are excluded and have no rank."""
    is_cancelled: bool = False
    """Whether the tournament is cancelled because it had too few participants."""


@dataclass(slots=True)
class _RankingOutcome:
    """The intermediate result of the ranking. Entries are given by their numbers."""

    points_by_entry: dict[int, int] = field(default_factory=dict)
    """The points that count for the ranking, by entry number."""
    last_round_by_entry: dict[int, int] = field(default_factory=dict)
    """The number of the last round that each entry played."""
    refunded_entries: list[int] = field(default_factory=list)
    """The entries without a rank because they are refunded."""
    excluded_entries: list[int] = field(default_factory=list)
    """The entries without a rank because they are excluded."""


def read_results(path: Path) -> Results:
    """Return the content of a results file.

    Raises OperatorError, which states its first errors with key and reason.
    """
    try:
        data = json.loads(
            read_contents(path).decode(), object_pairs_hook=_refuse_duplicate_keys, parse_float=str
        )
    except OSError as error:
        raise OperatorError(f"results file {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise OperatorError(f"results file {path}: not UTF-8 at byte {error.start + 1}") from None
    except (ValueError, RecursionError) as error:
        raise OperatorError(f"results file {path}: not JSON: {error}") from None
    try:
        return Results.model_validate(data)
    except ValidationError as error:
        raise OperatorError(
            "\n".join(
                f"results file {path}: {format_key_path(each['loc']) or 'file'}: {each['msg']}"
                for each in error.errors(include_url=False, include_input=False)[:20]
            )
        ) from None


def _refuse_duplicate_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object as a dict. Raises ValueError if a key occurs twice."""
    json_object = dict(pairs)
    if len(json_object) != len(pairs):
        raise ValueError("a key is given twice in one object")
    return json_object


def rank_participants(rules: Tournament, results: Results) -> Standings:
    """Return the final ranks. Raises :class:`ResultsError` if the results do not fit the rules."""
    if results.rules_sha256 not in {None, rules.digest}:
        raise ResultsError(
            f"rules_sha256: the results were derived with the rules file {results.rules_sha256}; this one is"
            f" {rules.digest}: give the file that was installed on the machines"
        )
    _check_entries(rules, results)
    entry_numbers = [each.entry for each in results.entries]
    if len({each.participant for each in results.entries}) < rules.entries.participants_min:
        return Standings(
            ranked_standings=(),
            refunded_entries=tuple(sorted(entry_numbers)),
            excluded_entries=(),
            is_cancelled=True,
        )
    outcome = _RankingOutcome()
    groups: list[list[ParticipantStanding]] = []
    scored_entries: list[list[EntryResult]] = []
    for scored, standings, qualified in _iter_rounds(rules, results, outcome):
        scored_entries.append(scored)
        groups.append(standings[len(qualified) :])
    for result in sorted(results.entries, key=lambda each: each.entry):
        entry = result.entry
        if len(result.rounds) > (rounds_played := outcome.last_round_by_entry[entry]):
            raise ResultsError(
                f"entry {entry}: round {rounds_played + 1}: it did not qualify for this round; if it was given"
                f" by mistake, derive the results again with --ignore {entry}:{rounds_played + 1}:EXPORT"
            )
    _rank_by_second_entry(rules, groups, scored_entries, outcome)
    ranked = [*_assign_final_ranks(groups)]
    if not ranked:  # every fee is refunded
        return Standings(
            ranked_standings=(), refunded_entries=tuple(sorted(entry_numbers)), excluded_entries=()
        )
    return Standings(
        ranked_standings=tuple(ranked),
        refunded_entries=tuple(sorted(outcome.refunded_entries)),
        excluded_entries=tuple(sorted(outcome.excluded_entries)),
    )


def _iter_rounds(
    rules: Tournament, results: Results, outcome: _RankingOutcome
) -> Iterator[tuple[list[EntryResult], list[ParticipantStanding], list[ParticipantStanding]]]:
    """Yield three lists for each round.

    They are: the entries that have a rank in it, the ranks of their participants, and those of these ranks that qualify
    for the next round. ``outcome`` is updated.
    """
    entries = {each.entry: each for each in results.entries}
    playing = sorted(entries)
    for round_number, terms in enumerate(rules.rounds, 1):
        scored = [
            entries[entry] for entry in playing if _score_entry(rules, entries[entry], round_number, outcome)
        ]
        standings = _list_best_entries(rules, scored, round_number, outcome.points_by_entry)
        qualified = [
            each
            for each in standings
            if terms.advancing_count is not None and each.rank <= terms.advancing_count
        ]
        yield scored, standings, qualified
        playing = sorted(each.entry for each in qualified)


def rank_participants_of_round(
    rules: Tournament, results: Results, round_number: int
) -> tuple[list[ParticipantStanding], list[ParticipantStanding]]:
    """Return the ranked participants of one round, best first, and those among them who qualify for the next round.

    Participants with the same rank qualify together. Raises :class:`ResultsError` if the results up to this round do
    not fit the rules, or the rules have no such round.
    """
    if round_number > len(rules.rounds):
        raise ResultsError(f"round {round_number}: the rules have only {len(rules.rounds)} rounds")
    _check_entries(rules, results)
    rounds = islice(_iter_rounds(rules, results, _RankingOutcome()), round_number - 1, round_number)
    _, standings, qualified = next(rounds)
    return standings, qualified


def _rank_by_second_entry(
    rules: Tournament,
    groups: list[list[ParticipantStanding]],
    scored_entries: Sequence[Sequence[EntryResult]],
    outcome: _RankingOutcome,
) -> None:
    """Give participants a rank by a second entry if their better entry was refunded or excluded in a later round.

    The second entry counts in the last round that it played. Otherwise these participants would have no rank, although
    the fee of the second entry is not refunded. ``groups`` has the ranks of those that left after each round; it is
    updated.
    """
    unranked_entries = {*outcome.refunded_entries, *outcome.excluded_entries}
    for round_number in range(len(groups), 0, -1):
        ranked = {each.participant for group in groups for each in group}
        added_results = [
            each
            for each in scored_entries[round_number - 1]
            if each.participant not in ranked and each.entry not in unranked_entries
        ]
        if added_results:
            entries = {each.entry: each for each in scored_entries[round_number - 1]}
            stayed = [entries[each.entry] for each in groups[round_number - 1]]
            groups[round_number - 1] = _list_best_entries(
                rules, [*stayed, *added_results], round_number, outcome.points_by_entry
            )


def _check_entries(rules: Tournament, results: Results) -> None:
    """Raise ResultsError if the results have entries that the rules do not permit."""
    counts: dict[str, int] = {}
    seen_entries: set[int] = set()
    for each in results.entries:
        if each.entry in seen_entries:
            raise ResultsError(f"entry {each.entry} is given twice")
        seen_entries.add(each.entry)
        counts[each.participant] = counts.get(each.participant, 0) + 1
        if counts[each.participant] > rules.entries.per_participant:
            raise ResultsError(
                f"entry {each.entry}: participant {each.participant} has {counts[each.participant]} entries; the rules"
                f" allow {rules.entries.per_participant}"
            )
    if len(counts) > rules.entries.participants_max:
        raise ResultsError(
            f"there are {len(counts)} participants, and the rules have {rules.entries.participants_max} places"
        )


def _score_entry(rules: Tournament, result: EntryResult, round_number: int, outcome: _RankingOutcome) -> bool:
    """Add an entry's result in a round to ``outcome``; return False if the entry is refunded or excluded.

    Raises :class:`ResultsError` if the result is missing, or if the rules do not permit it.
    """
    location = f"entry {result.entry}: round {round_number}"
    if len(result.rounds) < round_number:
        raise ResultsError(
            f"{location}: its result is missing; if it was not played, derive the results again with"
            f" --absent {result.entry}:{round_number}"
        )
    round_result = result.rounds[round_number - 1]
    outcome.last_round_by_entry[result.entry] = round_number
    if round_result.status == "interrupted" and rules.interrupted_game_rule == "replay":
        raise ResultsError(
            f"{location}: it was interrupted: by the rules it is replayed; give the result of the"
            " replay, or, if there was"
            f" none, derive the results again with --ignore {result.entry}:{round_number}:EXPORT "
            f"and --absent {result.entry}:{round_number}"
        )
    if round_result.status == "interrupted" and rules.interrupted_game_rule == "refund":
        outcome.refunded_entries.append(result.entry)
        return False
    if round_result.status == "failed" and rules.failed_machine_rule == "excluded":
        outcome.excluded_entries.append(result.entry)
        return False
    counts_nothing = round_result.status == "failed" and rules.failed_machine_rule == "zero-points"
    if rules.tie_rule == "best-game" and round_result.best_game is None and not counts_nothing:
        raise ResultsError(f"{location}: best_game is missing: by the rules it decides between equal points")
    if round_result.best_game is not None and round_result.best_game > round_result.points:
        raise ResultsError(
            f"{location}: best_game {round_result.best_game} is more than its {round_result.points} points"
        )
    carried = outcome.points_by_entry.get(result.entry, 0) if rules.carry_points else 0
    outcome.points_by_entry[result.entry] = carried + (0 if counts_nothing else round_result.points)
    return True


def _list_best_entries(
    rules: Tournament, results: Sequence[EntryResult], round_number: int, points: dict[int, int]
) -> list[ParticipantStanding]:
    """Return the ranks of the participants in a round, in rank order; the best entry of each participant counts.

    ``points`` has the points of each entry by its number.
    """
    rows = sorted(
        (_build_ranking_key(rules, result, round_number, points), result.entry, result) for result in results
    )
    best_standings: list[ParticipantStanding] = []
    seen_participants: set[str] = set()
    last_key: tuple[int, ...] = ()
    for key, entry, result in rows:
        if result.participant in seen_participants:
            continue
        seen_participants.add(result.participant)
        rank = best_standings[-1].rank if best_standings and key == last_key else len(best_standings) + 1
        last_key = key
        best_standings.append(
            ParticipantStanding(
                rank=rank,
                participant=result.participant,
                entry=entry,
                round=round_number,
                points=points[entry],
                best_game=result.rounds[round_number - 1].best_game,
            )
        )
    return best_standings


def _build_ranking_key(
    rules: Tournament, result: EntryResult, round_number: int, points: dict[int, int]
) -> tuple[int, ...]:
    """Return the sort key of an entry's result in a round; the best result has the lowest key.

    Results with equal keys are ties.
    """
    round_result = result.rounds[round_number - 1]
    if rules.tie_rule == "earlier-entry":
        return (-points[result.entry], result.entry)
    if rules.tie_rule == "best-game":
        counts_nothing = round_result.status == "failed" and rules.failed_machine_rule == "zero-points"
        return (-points[result.entry], 0 if counts_nothing else -(round_result.best_game or 0))
    return (-points[result.entry],)


def _assign_final_ranks(groups: Sequence[Sequence[ParticipantStanding]]) -> Iterator[ParticipantStanding]:
    """Yield all participants with their final ranks, from 1.

    ``groups`` has the participants who left after each round; those who left later rank higher.
    """
    ranked_count = 0
    for group in reversed(groups):
        first_rank = group[0].rank if group else 1
        for each in group:
            yield replace(each, rank=each.rank - first_rank + 1 + ranked_count)
        ranked_count += len(group)
