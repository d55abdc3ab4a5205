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

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, serialize_by_alias=True)


class RoundResult(_ResultsItem):
    """The result of one entry in one round: its points, and how the round ended."""

    points: _Points
    best_game: _Points | None = None
    status: Literal["complete", "interrupted", "failed"] = "complete"
    """How the round ended."""


class EntryResult(_ResultsItem):
    """The result of one entry: its number, its participant, and its rounds in order."""

    entry_number: Annotated[int, Field(gt=0, le=10**6, strict=True)] = Field(alias="entry")
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
    entry_number: int
    """The number of the entry by which the participant is ranked."""
    round_number: int
    """The number of the last round that the ranked entry played."""
    points: int
    best_game: int | None
    """The most points that the ranked entry won in one game of its last round; None if this was not recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings:
    """The final ranks of a tournament, without its prizes."""

    participants: tuple[ParticipantStanding, ...]
    """The participants who have a rank, best first."""
    refunded_entries: tuple[int, ...]
    """The numbers of the entries whose fee is refunded."""
    excluded_entries: tuple[int, ...]
    """The numbers of the entries that are excluded and have no rank."""
    is_cancelled: bool = False
    """Whether the tournament is cancelled because it had too few participants."""


@dataclass(slots=True)
class _RankingProgress:
    """Intermediate results of the ranking. Entries are identified by their numbers."""

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

    Raises OperatorError, which lists the first 20 mistakes with key and reason.
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
    """Return the final ranks of a tournament. Raises :class:`ResultsError` if the results do not fit the rules."""
    if results.rules_sha256 not in {None, rules.digest}:
        raise ResultsError(
            f"rules_sha256: the results were derived with the rules file {results.rules_sha256}; this one is"
            f" {rules.digest}: give the file that was installed on the machines"
        )
    _check_entries(rules, results)
    entry_numbers = [each.entry_number for each in results.entries]
    if len({each.participant for each in results.entries}) < rules.entries.participants_min:
        return Standings(
            participants=(),
            refunded_entries=tuple(sorted(entry_numbers)),
            excluded_entries=(),
            is_cancelled=True,
        )
    progress = _RankingProgress()
    # For each round: the participants who left after it, and the results of the entries that were ranked in it.
    eliminated_standings: list[list[ParticipantStanding]] = []
    scored_results: list[list[EntryResult]] = []
    for scored, standings, qualified in _iter_rounds(rules, results, progress):
        scored_results.append(scored)
        eliminated_standings.append(standings[len(qualified) :])
    for result in sorted(results.entries, key=lambda each: each.entry_number):
        entry = result.entry_number
        if len(result.rounds) > (rounds_played := progress.last_round_by_entry[entry]):
            raise ResultsError(
                f"entry {entry}: round {rounds_played + 1}: it did not qualify for this round; if it was given"
                f" by mistake, derive the results again with --ignore {entry}:{rounds_played + 1}:EXPORT"
            )
    _rank_by_second_entry(rules, eliminated_standings, scored_results, progress)
    ranked = [*_assign_final_ranks(eliminated_standings)]
    if not ranked:  # every fee is refunded
        return Standings(participants=(), refunded_entries=tuple(sorted(entry_numbers)), excluded_entries=())
    return Standings(
        participants=tuple(ranked),
        refunded_entries=tuple(sorted(progress.refunded_entries)),
        excluded_entries=tuple(sorted(progress.excluded_entries)),
    )


def _iter_rounds(
    rules: Tournament, results: Results, progress: _RankingProgress
) -> Iterator[tuple[list[EntryResult], list[ParticipantStanding], list[ParticipantStanding]]]:
    """Yield three lists for each round: scored results, standings, and the standings that advance to the next round.

    Each participant has one standing, by the best of their entries. ``progress`` is updated.
    """
    result_by_entry = {each.entry_number: each for each in results.entries}
    playing_entries = sorted(result_by_entry)
    for round_number, terms in enumerate(rules.rounds, 1):
        scored = [
            result_by_entry[entry]
            for entry in playing_entries
            if _score_entry(rules, result_by_entry[entry], round_number, progress)
        ]
        standings = _rank_best_entries(rules, scored, round_number, progress.points_by_entry)
        qualified = [
            each
            for each in standings
            if terms.advancing_count is not None and each.rank <= terms.advancing_count
        ]
        yield scored, standings, qualified
        playing_entries = sorted(each.entry_number for each in qualified)


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
    rounds = islice(_iter_rounds(rules, results, _RankingProgress()), round_number - 1, round_number)
    _, standings, qualified = next(rounds)
    return standings, qualified


def _rank_by_second_entry(
    rules: Tournament,
    eliminated_standings: list[list[ParticipantStanding]],
    scored_results: Sequence[Sequence[EntryResult]],
    progress: _RankingProgress,
) -> None:
    """Give participants a rank by a second entry if their better entry was refunded or excluded in a later round.

    The second entry counts in the last round that it played. Otherwise these participants would have no rank, although
    the fee of the second entry is not refunded. ``eliminated_standings`` has, for each round, the standings of those
    who left after it; it is updated. ``scored_results`` has the results of the entries that were ranked in each round.
    """
    unranked_entries = {*progress.refunded_entries, *progress.excluded_entries}
    for round_number in range(len(eliminated_standings), 0, -1):
        ranked_participants = {
            standing.participant for round_standings in eliminated_standings for standing in round_standings
        }
        added_results = [
            each
            for each in scored_results[round_number - 1]
            if each.participant not in ranked_participants and each.entry_number not in unranked_entries
        ]
        if added_results:
            result_by_entry = {each.entry_number: each for each in scored_results[round_number - 1]}
            ranked_results = [
                result_by_entry[each.entry_number] for each in eliminated_standings[round_number - 1]
            ]
            eliminated_standings[round_number - 1] = _rank_best_entries(
                rules, [*ranked_results, *added_results], round_number, progress.points_by_entry
            )


def _check_entries(rules: Tournament, results: Results) -> None:
    """Raise ResultsError if the results have entries that the rules do not permit."""
    entry_count_by_participant: dict[str, int] = {}
    seen_entries: set[int] = set()
    for each in results.entries:
        if each.entry_number in seen_entries:
            raise ResultsError(f"entry {each.entry_number} is given twice")
        seen_entries.add(each.entry_number)
        entry_count = entry_count_by_participant.get(each.participant, 0) + 1
        entry_count_by_participant[each.participant] = entry_count
        if entry_count > rules.entries.per_participant:
            raise ResultsError(
                f"entry {each.entry_number}: participant {each.participant} has {entry_count} entries; the rules"
                f" allow {rules.entries.per_participant}"
            )
    if len(entry_count_by_participant) > rules.entries.participants_max:
        raise ResultsError(
            f"there are {len(entry_count_by_participant)} participants, and the rules allow"
            f" {rules.entries.participants_max}"
        )


def _score_entry(
    rules: Tournament, result: EntryResult, round_number: int, progress: _RankingProgress
) -> bool:
    """Add an entry's result in a round to ``progress``; return False if the entry is refunded or excluded.

    Raises :class:`ResultsError` if the result is missing, or if the rules do not permit it.
    """
    location = f"entry {result.entry_number}: round {round_number}"
    if len(result.rounds) < round_number:
        raise ResultsError(
            f"{location}: its result is missing; if it was not played, derive the results again with"
            f" --absent {result.entry_number}:{round_number}"
        )
    round_result = result.rounds[round_number - 1]
    progress.last_round_by_entry[result.entry_number] = round_number
    if round_result.status == "interrupted" and rules.interrupted_round_rule == "replay":
        raise ResultsError(
            f"{location}: it was interrupted: by the rules it is replayed; give the result of the"
            " replay, or, if there was"
            f" none, derive the results again with --ignore {result.entry_number}:{round_number}:EXPORT "
            f"and --absent {result.entry_number}:{round_number}"
        )
    if round_result.status == "interrupted" and rules.interrupted_round_rule == "refund":
        progress.refunded_entries.append(result.entry_number)
        return False
    if round_result.status == "failed" and rules.unfinished_round_rule == "excluded":
        progress.excluded_entries.append(result.entry_number)
        return False
    counts_nothing = round_result.status == "failed" and rules.unfinished_round_rule == "zero-points"
    if rules.tie_rule == "best-game" and round_result.best_game is None and not counts_nothing:
        raise ResultsError(f"{location}: best_game is missing: by the rules it decides between equal points")
    if round_result.best_game is not None and round_result.best_game > round_result.points:
        raise ResultsError(
            f"{location}: best_game {round_result.best_game} is more than its {round_result.points} points"
        )
    carried_points = progress.points_by_entry.get(result.entry_number, 0) if rules.carries_points else 0
    progress.points_by_entry[result.entry_number] = carried_points + (
        0 if counts_nothing else round_result.points
    )
    return True


def _rank_best_entries(
    rules: Tournament, results: Sequence[EntryResult], round_number: int, points: dict[int, int]
) -> list[ParticipantStanding]:
    """Return the ranks of the participants in a round, in rank order; the best entry of each participant counts.

    ``points`` has the points of each entry by its number.
    """
    rows = sorted(
        (_build_ranking_key(rules, result, round_number, points), result.entry_number, result)
        for result in results
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
                entry_number=entry,
                round_number=round_number,
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
        return (-points[result.entry_number], result.entry_number)
    if rules.tie_rule == "best-game":
        counts_nothing = round_result.status == "failed" and rules.unfinished_round_rule == "zero-points"
        return (-points[result.entry_number], 0 if counts_nothing else -(round_result.best_game or 0))
    return (-points[result.entry_number],)


def _assign_final_ranks(
    eliminated_standings: Sequence[Sequence[ParticipantStanding]],
) -> Iterator[ParticipantStanding]:
    """Yield all participants with their final ranks, from 1.

    ``eliminated_standings`` has, for each round, those who left after it; those who left later rank higher.
    """
    ranked_count = 0
    for round_standings in reversed(eliminated_standings):
        first_rank = round_standings[0].rank if round_standings else 1
        for each in round_standings:
            yield replace(each, rank=each.rank - first_rank + 1 + ranked_count)
        ranked_count += len(round_standings)
