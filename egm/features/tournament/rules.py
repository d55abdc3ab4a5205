"""The rules file of a tournament: its form, and the checks of the by-law on what it states.

:func:`read_rules` refuses a file that is incomplete or contradicts itself. :func:`list_violations` returns the places
in complete rules that violate the by-law or treat participants unequally. It checks the week of publication (s. 125),
the return of 30 % of the fees at every possible number of entries (s. 127), the fee of Let It Ride (s. 124), whether
the machines are equal, and whether their games can be played in a tournament.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, model_validator

from egm.config.documented_fields import DocumentedFieldsMixin
from egm.config.mistakes import (
    ConfigMistake,
    TomlLineNumbers,
    build_config_mistake,
    build_model_error,
    parse_key_path,
    read_toml,
    read_toml_file,
)
from egm.errors import OperatorError
from egm.exact import Rational
from egm.features.tournament.prizes import PrizePlan, RemainderRule, UnclaimedPrizeRule, find_prize_shortfall
from paytables import AnalysisDepth, Game, PaytableError, analyse, load_game
from paytables.required_bets import find_minimum_stakes
from paytables.source import is_path
from paytables.wording import format_percent

#: How long the rules are public before the day of the start (s. 125).
RULES_PUBLICATION_LEAD_MIN: Final = timedelta(days=7)
#: The minimum share of Let It Ride's supplemental wager that the entry fee takes (s. 124).
LET_IT_RIDE_SIDE_BET_SHARE_MIN: Final = Fraction(30, 100)
#: The supplemental wager of Let It Ride, minor units (s. 67.9).
LET_IT_RIDE_SIDE_BET_CENTS: Final = 100
#: The largest difference between the returns of two machines of one tournament.
MACHINE_RETURN_DIFFERENCE_MAX: Final = Fraction(1, 100)
#: The game of the library that the by-law calls "Let It Ride Poker".
_LET_IT_RIDE_GAME_ID: Final = "quebec-let-it-ride"
#: The maximum number of participants of a tournament.
_PARTICIPANTS_MAX: Final = 10_000
#: The maximum number of entries of one participant.
_ENTRIES_MAX: Final = 10
#: The largest denominator of a prize's share: all shares are added exactly, for each number of entries.
_SHARE_DENOMINATOR_MAX: Final = 1_000_000
#: The years in which a tournament may start, so that a date before its start or after its end is always a date.
_PERMITTED_START_YEARS: Final = range(2000, 9901)

#: An amount in minor units, above 0.
_Cents = Annotated[int, Field(gt=0, le=10**12, strict=True)]
#: A count above 0.
_Count = Annotated[int, Field(gt=0, le=10**6, strict=True)]
#: A text that may not be empty.
_Text = Annotated[str, Field(min_length=1, max_length=500)]


def _check_date(value: object) -> object:
    """Return the value unchanged if it is a TOML date. Raises ValueError otherwise."""
    if type(value) is not date:
        raise ValueError("must be a date without a time, such as 2027-03-01")
    return value


def _check_local_time(value: object) -> object:
    """Return the value unchanged if it is a TOML local date and time. Raises ValueError otherwise."""
    if not isinstance(value, datetime) or value.tzinfo is not None:
        raise ValueError("must be a date and a time at the venue, such as 2027-03-01T19:00:00")
    return value


class _RulesTable(DocumentedFieldsMixin, BaseModel):
    """Base class of the tables in a rules file. A table with an unknown key is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class BilingualText(_RulesTable):
    """A text in both languages of the notice."""

    en: _Text
    """The text in English."""
    fr: _Text
    """The text in French."""


class EntryTerms(_RulesTable):
    """The conditions of taking part: how many participants, how often, and for which fee."""

    fee_cents: _Cents
    """The fee of one entry, minor units, paid in place of every wager (s. 124)."""
    participants_min: Annotated[int, Field(gt=0, le=_PARTICIPANTS_MAX, strict=True)]
    """The minimum number of participants; with fewer, the tournament is cancelled and every fee refunded."""
    participants_max: Annotated[int, Field(gt=0, le=_PARTICIPANTS_MAX, strict=True)]
    """The number of places: no more participants are registered."""
    per_participant: Annotated[int, Field(gt=0, le=_ENTRIES_MAX, strict=True)]
    """The maximum number of entries of one participant: 1, or more if a participant may enter again."""
    closes_at: Annotated[datetime, BeforeValidator(_check_local_time)] = Field(alias="closes")
    """When registration closes, date and time at the venue."""
    participation: BilingualText
    """The rules of participation: who may take part, how to register (s. 125)."""

    @model_validator(mode="after")
    def check_participant_limits(self) -> "EntryTerms":
        """Refuse rules with a maximum of participants that is below the minimum."""
        if self.participants_min > self.participants_max:
            raise build_model_error(
                build_config_mistake(
                    "entries.participants_min",
                    f"is {self.participants_min}; expected at most participants_max, {self.participants_max}",
                )
            )
        return self


class RoundTerms(_RulesTable):
    """The terms of one round: its length in games or minutes, its points, and how many participants qualify."""

    games: _Count | None = None
    """How many games each entry plays in the round. Give either this or minutes."""
    minutes: _Count | None = None
    """How many minutes each entry plays in the round. Give either this or games."""
    points: _Count
    """The points that an entry receives to play with in this round."""
    advancing_count: _Count | None = Field(None, alias="advance")
    """How many participants qualify for the next round; not given in the last round."""


class ListedMachine(_RulesTable):
    """One machine or table that is used for the tournament and marked as such (s. 126)."""

    number: Annotated[str, Field(min_length=1, max_length=40)]
    """The number on the machine or table."""
    denomination_cents: _Cents
    """The value of one credit in normal play, minor units."""
    bet: _Count
    """The credits of one wager."""
    game: str = ""
    """A variant of the tournament's game on this machine; without it, the tournament's game."""


class TournamentPrize(_RulesTable):
    """The prize of one rank: an exact share of the fees sold, or a fixed amount."""

    rank: Annotated[int, Field(gt=0, le=1000, strict=True)]
    """The rank that wins the prize: 1, 2, 3 ..."""
    share: Rational | None = None
    """An exact part of the fees sold, such as "3/10". Give either this or amount_cents."""
    amount_cents: _Cents | None = None
    """A fixed amount, minor units. Give either this or share."""


class Tournament(_RulesTable):
    """The rules of a tournament, as they are made public."""

    name: BilingualText
    """The name of the tournament."""
    venue: BilingualText
    """Where the tournament is held."""
    game: str
    """The game that is played: its id in the library (`egm game list`)."""
    starts_at: Annotated[datetime, BeforeValidator(_check_local_time)] = Field(alias="starts")
    """The date and time of the start, at the venue (s. 125)."""
    duration_minutes: _Count
    """How long the tournament lasts, in minutes (s. 125)."""
    publication_date: Annotated[date, BeforeValidator(_check_date)] | None = Field(None, alias="published")
    """The day on which the rules were or will be made public; without it, they are not public yet (s. 125)."""
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
    """The currency, ISO 4217."""
    carries_points: bool = Field(alias="carry_points")
    """Whether the points of a round are added to those of the rounds before it."""
    tie_rule: Literal["share", "best-game", "earlier-entry"] = Field(alias="ties")
    """How equal points are ranked: `share` (the prizes are shared), by `best-game`, or by `earlier-entry`."""
    interrupted_round_rule: Literal["replay", "points-so-far", "refund"] = Field(alias="interrupted")
    """What follows if a fault ends a round: `replay` it, count `points-so-far`, or `refund` the voided entry."""
    unfinished_round_rule: Literal["zero-points", "points-so-far", "excluded"] = Field(alias="failed")
    """What a participant gets who does not finish a round: `zero-points`, `points-so-far`, or `excluded`."""
    unclaimed_prize_rule: UnclaimedPrizeRule = Field(alias="unclaimed")
    """What happens to prizes of ranks that nobody has: `shared` equally among all with a rank, or `not-awarded`."""
    remainder_rule: RemainderRule = Field(alias="remainders")
    """Who gets the cents left after a division: the `best-rank` all, or one each `in-order` from the best rank."""
    entries: EntryTerms
    rounds: Annotated[tuple[RoundTerms, ...], Field(min_length=1, max_length=20)]
    machines: Annotated[tuple[ListedMachine, ...], Field(min_length=1, max_length=1000)]
    prizes: Annotated[tuple[TournamentPrize, ...], Field(min_length=1, max_length=1000)]

    _text: str = PrivateAttr("")

    @model_validator(mode="after")
    def check_tables(self) -> "Tournament":
        """Refuse rules whose parts contradict each other. All contradictions are reported together."""
        mistakes = [
            *self._iter_round_mistakes(),
            *self._iter_prize_mistakes(),
            *self._iter_machine_mistakes(),
        ]
        if self.entries.closes_at > self.starts_at:
            mistakes.append(
                build_config_mistake("entries.closes", f"it is after the start, {self.starts_at}")
            )
        if self.starts_at.year not in _PERMITTED_START_YEARS:
            mistakes.append(
                build_config_mistake(
                    "starts",
                    f"the year {self.starts_at.year} is not {_PERMITTED_START_YEARS[0]} to "
                    f"{_PERMITTED_START_YEARS[-1]}",
                )
            )
        if mistakes:
            raise build_model_error(*mistakes)
        return self

    def _iter_round_mistakes(self) -> Iterator[ConfigMistake]:
        """Yield each mistake in what the rules state about rounds."""
        qualified_count = self.entries.participants_max
        for round_number, terms in enumerate(self.rounds, 1):
            key, is_last = f"rounds[{round_number}]", round_number == len(self.rounds)
            if (terms.games is None) == (terms.minutes is None):
                yield build_config_mistake(key, "give its length as games or as minutes, one of the two")
            if is_last != (terms.advancing_count is None):
                problem = (
                    "the last round must not have this key, because no round follows it"
                    if is_last
                    else "must be given: how many participants go on to the next round"
                )
                yield build_config_mistake(f"{key}.advance", problem)
            elif terms.advancing_count is not None and terms.advancing_count > qualified_count:
                yield build_config_mistake(
                    f"{key}.advance",
                    f"is {terms.advancing_count}, but only {qualified_count} participants can play this round",
                )
            qualified_count = terms.advancing_count or qualified_count
            highest_bet = max(machine.bet for machine in self.machines)
            if terms.points < highest_bet:
                yield build_config_mistake(
                    f"{key}.points", f"{terms.points} points are less than one wager of {highest_bet}"
                )
        played_minutes = sum(terms.minutes or 0 for terms in self.rounds)
        if played_minutes > self.duration_minutes:
            yield build_config_mistake(
                "duration_minutes",
                f"the rounds last {played_minutes} minutes, more than the {self.duration_minutes} stated",
            )

    def _iter_prize_mistakes(self) -> Iterator[ConfigMistake]:
        """Yield each mistake in what the rules state about prizes."""
        for n, prize in enumerate(self.prizes, 1):
            key = f"prizes[{n}]"
            if prize.rank != n:
                yield build_config_mistake(
                    f"{key}.rank", f"prizes are in the order of the ranks: {n}, not {prize.rank}"
                )
            if (prize.share is None) == (prize.amount_cents is None):
                yield build_config_mistake(key, "give the prize as share or as amount_cents, one of the two")
            elif prize.share is not None and not 0 < prize.share <= 1:
                yield build_config_mistake(
                    f"{key}.share", f"{prize.share} is not a part of the fees: more than 0, at most 1"
                )
            elif prize.share is not None and prize.share.denominator > _SHARE_DENOMINATOR_MAX:
                yield build_config_mistake(
                    f"{key}.share", f"its denominator is more than {_SHARE_DENOMINATOR_MAX:,}"
                )
        if (total := sum((prize.share or Fraction(0) for prize in self.prizes), Fraction(0))) > 1:
            yield build_config_mistake(
                "prizes", f"the shares make {format_percent(total)} % of the fees sold"
            )

    def _iter_machine_mistakes(self) -> Iterator[ConfigMistake]:
        """Yield each mistake in the rules' list of machines."""
        seen_numbers: set[str] = set()
        for n, machine in enumerate(self.machines, 1):
            if machine.number in seen_numbers:
                yield build_config_mistake(f"machines[{n}].number", f"{machine.number} is listed twice")
            if machine.number != machine.number.strip():
                yield build_config_mistake(
                    f"machines[{n}].number", f"{machine.number!r} begins or ends with a space"
                )
            seen_numbers.add(machine.number)

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the rules file."""
        return hashlib.sha256(self._text.encode()).hexdigest()

    @property
    def prize_plan(self) -> PrizePlan:
        """Return the shares and amounts of the prizes by rank, with the rules on unclaimed prizes and spare cents."""
        return PrizePlan(
            fee_shares=tuple(prize.share or Fraction(0) for prize in self.prizes),
            amounts_cents=tuple(prize.amount_cents or 0 for prize in self.prizes),
            unclaimed_prize_rule=self.unclaimed_prize_rule,
            remainder_rule=self.remainder_rule,
        )

    @property
    def is_fee_from_side_bet(self) -> bool:
        """Return whether the game is Let It Ride.

        By s. 124 its fee is taken from the supplemental wager.
        """
        return self.game == _LET_IT_RIDE_GAME_ID

    @property
    def can_entries_lose_rank(self) -> bool:
        """Return whether, by these rules, an entry can lose its rank because it is refunded or excluded."""
        return self.interrupted_round_rule == "refund" or self.unfinished_round_rule == "excluded"


def read_rules(path: Path) -> Tournament:
    """Return the rules of a tournament from their file.

    Raises OperatorError, which states every error in the file with its line, key and reason.
    """
    rules, text = read_toml_file(path, "tournament rules", Tournament)
    rules._text = text  # noqa: SLF001 (this function creates the object)
    if mistakes := _add_line_numbers(rules, _iter_missing_game_mistakes(rules)):
        raise OperatorError("\n".join(f"tournament rules {path}: {mistake}" for mistake in mistakes))
    return rules


@lru_cache(maxsize=4)
def parse_rules(text: str) -> Tournament:
    """Return the rules of a tournament from the text of their file; results are cached.

    Raises OperatorError, which states every error in the text with its line, key and reason.
    """
    rules, mistakes = read_toml(text, Tournament)
    if rules is not None:
        rules._text = text  # noqa: SLF001 (this function creates the object)
        mistakes = _add_line_numbers(rules, _iter_missing_game_mistakes(rules))
    if rules is None or mistakes:
        raise OperatorError("\n".join(f"tournament rules: {mistake}" for mistake in mistakes))
    return rules


def list_violations(rules: Tournament, today: date) -> list[ConfigMistake]:
    """Return the violations of the by-law in complete rules, each with its key and line.

    ``today`` is taken as the day of publication if the rules state none.
    """
    mistakes = (
        *_iter_publication_mistakes(rules, today),
        *_iter_fee_mistakes(rules),
        *_iter_return_mistakes(rules),
        *_iter_unequal_machine_mistakes(rules),
        *_iter_unsuitable_game_mistakes(rules),
    )
    return _add_line_numbers(rules, mistakes)


def _add_line_numbers(rules: Tournament, mistakes: Iterable[ConfigMistake]) -> list[ConfigMistake]:
    """Return the mistakes, each with the line of its key in the rules file."""
    lines = TomlLineNumbers(rules._text)  # noqa: SLF001 (a class of this module)
    return [replace(mistake, line=lines.find_line(parse_key_path(mistake.key))) for mistake in mistakes]


def find_latest_publication(rules: Tournament) -> date:
    """Return the last day on which the rules can be published in time (s. 125)."""
    return rules.starts_at.date() - RULES_PUBLICATION_LEAD_MIN


def _load_library_game(game_id: str) -> Game:
    """Return a game of the library by its id.

    Raises PaytableError if the library has no such game, or ``game_id`` is the path of a file.
    """
    if is_path(game_id):
        raise PaytableError(f"{game_id} is a file, not the id of a game of the library")
    return load_game(game_id)


def _iter_missing_game_mistakes(rules: Tournament) -> Iterator[ConfigMistake]:
    """Yield a mistake for each game in the rules that the library does not have."""
    named_games = [
        ("game", rules.game),
        *((f"machines[{n}].game", machine.game) for n, machine in enumerate(rules.machines, 1)),
    ]
    for key, name in named_games:
        try:
            if name or key == "game":
                _load_library_game(name)
        except PaytableError as error:
            yield build_config_mistake(key, str(error))


def _iter_publication_mistakes(rules: Tournament, today: date) -> Iterator[ConfigMistake]:
    """Yield a mistake if the rules are not published at least a week before the tournament starts (s. 125)."""
    latest_publication = find_latest_publication(rules)
    start_date = rules.starts_at.date()
    if rules.publication_date is None:
        if today > latest_publication:
            yield build_config_mistake(
                "published",
                f"the rules are not public on {today}, and the start is on {start_date}: they must be public a week"
                f" before it, by {latest_publication} (s. 125)",
            )
    elif rules.publication_date > latest_publication:
        yield build_config_mistake(
            "published",
            f"{rules.publication_date} is less than a week before the start on {start_date}:"
            f" publish by {latest_publication} (s. 125)",
        )


def _iter_fee_mistakes(rules: Tournament) -> Iterator[ConfigMistake]:
    """Yield a mistake if the fee of Let It Ride is not from 30 % to 100 % of its side bet, as s. 124 requires."""
    fee_cents = rules.entries.fee_cents
    if not rules.is_fee_from_side_bet:
        return
    if fee_cents > LET_IT_RIDE_SIDE_BET_CENTS:
        yield build_config_mistake(
            "entries.fee_cents",
            f"{fee_cents} is more than the side bet of Let It Ride, {LET_IT_RIDE_SIDE_BET_CENTS}, "
            "that it is taken from (s. 124)",
        )
    elif fee_cents < LET_IT_RIDE_SIDE_BET_SHARE_MIN * LET_IT_RIDE_SIDE_BET_CENTS:
        yield build_config_mistake(
            "entries.fee_cents",
            f"{fee_cents} is less than 30 % of the side bet of Let It Ride, {LET_IT_RIDE_SIDE_BET_CENTS} (s. 124)",
        )


def _iter_return_mistakes(rules: Tournament) -> Iterator[ConfigMistake]:
    """Yield a mistake if the prizes may return less than 30 % of the fees (s. 127)."""
    entries = rules.entries
    shortfall = find_prize_shortfall(
        rules.prize_plan,
        entries.fee_cents,
        entries_min=1 if rules.interrupted_round_rule == "refund" else entries.participants_min,
        participants_max=entries.participants_max,
        entries_per_participant=entries.per_participant,
        can_entries_lose_rank=rules.can_entries_lose_rank,
    )
    if shortfall is not None:
        yield build_config_mistake(
            "prizes",
            f"with {shortfall.entry_count} entries sold and {shortfall.ranked_count} participants ranked the prizes are"
            f" {shortfall.prizes_cents} of {shortfall.entry_count * entries.fee_cents} cents, less than 30 "
            "% of the fees:"
            f" {shortfall.shortfall_cents} cents are missing (s. 127)",
        )


def _iter_unequal_machine_mistakes(rules: Tournament) -> Iterator[ConfigMistake]:
    """Yield a mistake for each machine whose conditions differ from those of the others.

    Each machine must have the denomination and the wager of the first machine, and its game must be offered at that
    denomination. Different games must have the same bets, with nearly equal returns.
    """
    first_machine = rules.machines[0]
    games: dict[str, Game] = {}
    for n, machine in enumerate(rules.machines, 1):
        machine_key = f"machines[{n}]"
        for field in ("denomination_cents", "bet"):
            value, first_value = getattr(machine, field), getattr(first_machine, field)
            if value != first_value:
                yield build_config_mistake(
                    f"{machine_key}.{field}",
                    f"{value} differs from {first_value} of machine {first_machine.number}",
                )
        game = _load_library_game(machine.game or rules.game)
        allowed_cents = game.denominations_cents
        if allowed_cents and machine.denomination_cents not in allowed_cents:
            yield build_config_mistake(
                f"{machine_key}.denomination_cents",
                f"{game.id} has no credit of {machine.denomination_cents}",
                *map(str, allowed_cents),
            )
        problems = (_describe_return_difference(game, other) for other in games.values())
        if game.id not in games and (problem := next(filter(None, problems), "")):
            yield build_config_mistake(f"{machine_key}.game", problem)
        games[game.id] = game


def _iter_unsuitable_game_mistakes(rules: Tournament) -> Iterator[ConfigMistake]:
    """Yield a mistake for each machine whose game does not accept the wager, or cannot be played in a tournament."""
    for n, machine in enumerate(rules.machines, 1):
        game = _load_library_game(machine.game or rules.game)
        if not _can_stake_exactly(game, machine.bet):
            yield build_config_mistake(
                f"machines[{n}].bet", f"{game.id} has no wager of {machine.bet} credits"
            )
        if game.list_prizes_in_kind():
            yield build_config_mistake(f"machines[{n}].game", f"{game.id} has prizes in kind")
        if game.rules.is_decided_by_wheel or game.rules.seats_min > 1:
            yield build_config_mistake(
                f"machines[{n}].game", f"{game.id} cannot be played by one position alone"
            )


def _can_stake_exactly(game: Game, credits_: int) -> bool:
    """Return whether a player can stake exactly ``credits_`` in a game: as one bet, or on spots of a table."""
    spots = {spot.id: spot for spot in game.rules.list_spots()}
    if not spots:
        return credits_ in game.bet_options
    is_possible_on_one_spot = any(
        spot.accepts_bets
        and spot.required_spot is None
        and credits_ in range(spot.bet_min, spot.bet_max + 1, spot.bet_step)
        for spot in spots.values()
    )
    return is_possible_on_one_spot or credits_ in find_minimum_stakes(spots)


def find_listed_machine(rules: Tournament, machine_number: str) -> ListedMachine | None:
    """Return the machine with this operator's number in the rules, or None."""
    return next((machine for machine in rules.machines if machine.number == machine_number), None)


def _describe_return_difference(game: Game, other_game: Game) -> str:
    """Return as text how the bets of two games differ, or that their returns differ by more than 1 %; "" otherwise."""
    return_by_bet, other_return_by_bet = (
        {bet.bet: bet.rtp for bet in analyse(analysed_game, AnalysisDepth.RETURN).bets}
        for analysed_game in (game, other_game)
    )
    if game.family != other_game.family or return_by_bet.keys() != other_return_by_bet.keys():
        return f"{game.id} does not have the bets of {other_game.id}"
    for bet, value in return_by_bet.items():
        if abs(value - other_return_by_bet[bet]) > MACHINE_RETURN_DIFFERENCE_MAX:
            return (
                f"{game.id} returns {value} on {bet} and {other_game.id} returns {other_return_by_bet[bet]}:"
                " they differ by more than 1 %"
            )
    return ""
