"""Plain games, which make up nearly all games of a journal, checked from the bytes of their entries.

A plain game is played on a machine with one player position and has only these entries: a wager of cashable
credit that plays for no progressive level, the draws, perhaps choices of the player, perhaps returned stakes,
and a win to the credit meter or none. It may use and change the state of a table, such as a shoe, but no bets
may be standing. Its entries directly follow each other. Everything in them except the time and the language
follows from the definition, the draws, the choices, the table, the credit and the previous entry. This module
therefore compares the bytes of the entries with those that a machine must write: the whole entry (returned stakes, end
of the game), or each part that a pattern finds (start, choices). Equal bytes prove the canonical form, the hash chain,
the record, the outcome, the counts, the dimensions and the transfers at once.

Plain games that follow one another form a :class:`PlainRun`. It states the credit, the tables and the previous
entry from which its first game starts; the auditor compares these with the journal before the run. It also has
the sums that the auditor adds to the ledger. A game that differs in any way is not part of a run: the auditor
checks it entry by entry, and only that check reports findings. ``tests/tools/audit/test_plain_games.py``
compares both methods.

Nothing here depends on earlier entries, so any process can check any part of a journal
(:mod:`tools.audit.jobs`).
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Protocol

from egm.play.entries import GAME_CHOICE, GAME_END, GAME_PUSH, GAME_START
from egm.play.keys import TableKey
from egm.play.records.tables import TableStateFields, find_table_state_fields
from egm.play.stepped_game import SteppedGame
from egm.progressive.pools import meets_prescribed_amounts
from meters.entry import encode_canonical_json, is_time, parse_json
from meters.identifiers import JOURNAL_TAG_DIGIT_COUNT, JOURNAL_TAG_PATTERN
from meters.ledger import DimensionsKey, MeterCellKey, build_dimensions_key
from meters.transaction import AMOUNT_CENTS_MAX
from paytables import WHEEL_DECISION_KIND, Choice, Game, Outcome, ReplayDrawSource, Wager

#: The account of the first position's cashable credit.
CASHABLE_ACCOUNT: Final = "credit:1:cashable"
#: The maximum number of cached combinations of definition, denomination and wager.
_CACHED_TERMS_MAX: Final = 256
#: The maximum size of a plain game's first entry.
#:
#: It limits the memory used for a journal that a forger may have written.
_GAME_START_BYTES_MAX: Final = 64 << 10

#: Matches the time of an entry.
_TIME_PATTERN: Final = rb"[0-9T:.+-]{19,40}"
#: Matches the purpose of a draw, or the code of a language.
_WORD_PATTERN: Final = rb"[A-Za-z0-9@_. -]+"
#: Parts of the patterns below, which name them in ``%(...)b``.
_PATTERN_PARTS: Final = {
    b"amount": rb"(?:0|[1-9][0-9]{0,14})",
    b"added": rb"[1-9][0-9]{0,14}",
    b"sequence": rb"[1-9][0-9]{0,17}",
    b"play_id": rf"play-[0-9]{{1,18}}-{JOURNAL_TAG_PATTERN}".encode(),
    b"hash": rb"[0-9a-f]{64}",
    b"word": _WORD_PATTERN,
    b"draws": rb'\[(?:\[[0-9]{1,18},[0-9]{1,18},"%b"\],?)*\]' % _WORD_PATTERN,
    b"time": _TIME_PATTERN,
}
# In both patterns, what an atomic group (?>...) matches is final, so that any entry is matched in linear time.
#: Matches the entry that starts a plain game.
_GAME_START_PATTERN: Final = re.compile(
    rb"""
    \{"counts":\{"games_played":1\},
    "dims":(?P<dims>\{[^{}]*\}),
    "id":"(?P<play_id>%(play_id)b)\.start",
    "kind":"game\.start",
    "previous":"(?P<previous>%(hash)b)",
    "record":\{
        "bet_credits":(?P<bet_credits>%(amount)b),
        "credit_before_cents":(?P<credit_before_cents>%(amount)b),
        "denomination_cents":(?P<denomination_cents>%(amount)b),
        "game":(?P<game_reference>\{[^{}]*\}),
        "language":"%(word)b"
        (?>,"outcome":(?P<outcome>null|\{.*\}),"play_id":")(?P=play_id)",
        "steps":\[\{"choice":null,"draws":(?P<draws>%(draws)b)\}\],
        (?>(?:"table":(?P<table>\{.*\}),(?="wager":))?)
        (?>"wager":(?P<wager>\{.*\})\},"sequence":)(?P<sequence>%(sequence)b),
    "state":\{"game":\{"play_id":"(?P=play_id)"\}\},
    "time":"(?P<time>%(time)b)",
    "transfers":\[\["credit:1:cashable","house:wager",(?P<staked_cents>%(amount)b)\]\]\}
    """
    % _PATTERN_PARTS,
    re.VERBOSE,
)
#: Matches the entry of a player's choice.
_GAME_CHOICE_PATTERN: Final = re.compile(
    rb"""
    \{(?:"dims":(?P<dims>\{[^{}]*\}),)?
    "id":"(?P<play_id>%(play_id)b)\.choice-(?P<choice_number>[1-9][0-9]{0,8})",
    "kind":"game\.choice",
    "previous":"(?P<previous>%(hash)b)",
    "record":\{
        (?>"choice":(?P<choice>.+?),(?="draws":))
        "draws":(?P<draws>%(draws)b)
        (?>,"outcome":(?P<outcome>null|\{.*\}),"play_id":")(?P=play_id)"
        (?:,"staked_credits":(?P<added_credits>%(added)b))?
    \},
    "sequence":(?P<sequence>%(sequence)b),
    "time":"(?P<time>%(time)b)"
    (?:,"transfers":\[\["credit:1:cashable","house:wager",(?P<added_cents>%(amount)b)\]\])?\}
    """
    % _PATTERN_PARTS,
    re.VERBOSE,
)
#: Finds the time in an entry.
_ENTRY_TIME_PATTERN: Final = re.compile(rb'"time":"(%b)"' % _TIME_PATTERN)
#: The number of bytes at the end of an entry that contain its time, if the entry pushes stakes or ends a game.
_END_TIME_SEARCH_SIZE_BYTES: Final = 160
#: The value for a game whose table state has no field that positions share and none on which standing bets depend.
_NO_SEPARATE_STATE_FIELDS: Final = TableStateFields()
#: The JSON of a table in its initial state, before any game.
INITIAL_TABLE_STATE_JSON: Final = b"null"


class GameSource(Protocol):
    """A source of game definitions, such as files or the journal."""

    def find(self, game_id: str, digest: str) -> Game | None:
        """Return the game definition with the digest ``digest``, or None if the source does not have it."""


@dataclass(frozen=True, slots=True)
class _GameTerms:
    """The checked terms of a plain game: its definition, the wager and the denomination."""

    game: Game
    wager: Wager
    denomination_cents: int
    """The denomination in minor units."""
    stake_cents: int
    dims_json: bytes
    """The dimensions of the game's transfers (game, paytable, denomination, wager level), as canonical JSON."""
    dimensions_key: DimensionsKey
    """The dimensions of the game's transfers, in the form in which meters use them as a key."""
    game_reference_json: bytes
    """The JSON object with the id, version and digest of the definition."""
    has_spots: bool
    """Whether the game has betting spots. The settlements of such a game must add up to the whole stake."""


@dataclass(frozen=True, slots=True)
class _TableState:
    """The state of a game's table without standing bets, as canonical JSON, and the game set to this state."""

    json: bytes
    game: Game


@dataclass(slots=True)
class RunTableState:
    """The state of a game's table before and after a run of plain games, as canonical JSON.

    A state is ``null`` if the machine stored no table at that time.
    """

    state_before: bytes
    state_after: bytes
    stored_json: bytes = b""
    """The JSON that the run leaves under the table's storage key; empty if it stores none."""


@dataclass(slots=True)
class _PlainGame:
    """A plain game that is being checked, with the values found in its entries so far."""

    terms: _GameTerms
    play_id: bytes
    """The id of the play."""
    previous_hex: str
    """The hash of the journal entry before the game."""
    credit_before_cents: int
    start_time: str
    """The recorded time of the game's start."""
    stepped_game: SteppedGame
    first_sequence: int
    sequence: int
    head_hex: str
    """The hash of the game's last entry so far. The field ``sequence`` is the number of that entry."""
    staked_cents: int
    table: _TableState
    """The current table state: the one at the start of the game, then, after the outcome, the final one."""
    table_json_before: bytes
    """The JSON of the table state at the start of the game."""
    raise_count: int = 0
    """The number of the player's choices that added to the stake."""
    win_cents: int = 0
    push_cents: int = 0
    """The returned stakes in minor units, which are not part of the win."""
    stored_table_json: bytes = b""
    """The JSON that the game's end stores under the table's storage key; empty if it stores none."""

    @property
    def journal_tag(self) -> str:
        """Return the journal tag: the random part at the end of the play id that identifies the journal."""
        return self.play_id[-JOURNAL_TAG_DIGIT_COUNT:].decode()


@dataclass(slots=True)
class PlainRun:
    """A run: checked plain games that directly follow one another in the journal.

    It states what must be true before its first game, and what its games change.
    """

    index_in_batch: int
    """The index of the run's first entry in the batch."""
    first_sequence: int
    journal_tag: str
    """The journal tag: the random last part of all ids in the run, which identifies the journal."""
    previous_hex: str
    """The hash of the journal entry before the run."""
    credit_before_cents: int
    entry_count: int = 0
    game_count: int = 0
    credit_after_cents: int = 0
    head_hex: str = ""
    """The hash of the run's last entry."""
    last_play_id: str = ""
    """The id of the run's last play."""
    last_win_cents: int = 0
    last_start_time: str = ""
    """The recorded time at which the run's last game started."""
    last_money_entry_kind: str = ""
    """The kind of the run's last entry that moves money."""
    smallest_stake_cents: int = AMOUNT_CENTS_MAX
    game_ids: set[str] = field(default_factory=set)
    """The ids of the games that were played."""
    games_played: set[tuple[str, int]] = field(default_factory=set)
    """The games played, each as (digest of the definition, denomination in minor units)."""
    flows: dict[MeterCellKey, list[int]] = field(default_factory=dict)
    """For each meter cell, the sum in minor units and the number of its transfers, in order of first occurrence.

    A cell is one combination of account pair and dimensions whose transfers are added up.
    """
    table_states: dict[str, RunTableState] = field(default_factory=dict)
    """The state of each game's table before and after the run, by the digest of the game's definition."""
    counts: dict[tuple[str, DimensionsKey], int] = field(default_factory=dict)
    """How often each counted occurrence (such as a game won) happened, by name and dimensions."""

    @property
    def last_sequence(self) -> int:
        """Return the number of the run's last entry."""
        return self.first_sequence + self.entry_count - 1

    @property
    def last_start_utc(self) -> datetime:
        """Return the time at which the run's last game started."""
        return datetime.fromisoformat(self.last_start_time)

    def parse_stored_tables(self) -> dict[str, Any]:
        """Return the table states that the run leaves in the machine's memory, by storage key."""
        tables = self.table_states.items()
        return {
            f"{TableKey.TABLE_STATE}{digest}": parse_json(table_state.stored_json)
            for digest, table_state in tables
            if table_state.stored_json
        }

    def is_continued_by(self, plain_game: _PlainGame) -> bool:
        """Return whether a plain game directly follows this run in the same journal.

        The credit and the table from which the game starts must be those with which the run ends.
        """
        table_state = self.table_states.get(plain_game.terms.game.digest)
        return (
            (table_state is None or table_state.state_after == plain_game.table_json_before)
            and self.head_hex == plain_game.previous_hex
            and self.last_sequence + 1 == plain_game.first_sequence
            and self.journal_tag == plain_game.journal_tag
            and self.credit_after_cents == plain_game.credit_before_cents
        )

    def add_game(self, plain_game: _PlainGame) -> None:
        """Add a checked plain game, which must be the first of this run or directly follow the run's last game."""
        terms = plain_game.terms
        dimensions_key = plain_game.terms.dimensions_key
        win_cents = plain_game.win_cents
        push_cents = plain_game.push_cents
        self.entry_count = plain_game.sequence - self.first_sequence + 1
        self.game_count += 1
        self.credit_after_cents += win_cents + push_cents - plain_game.staked_cents
        self.head_hex, self.last_play_id = plain_game.head_hex, plain_game.play_id.decode()
        self.last_win_cents, self.last_start_time = win_cents + push_cents, plain_game.start_time
        self.smallest_stake_cents = min(self.smallest_stake_cents, terms.stake_cents)
        self.game_ids.add(terms.game.id)
        self.games_played.add((terms.game.digest, terms.denomination_cents))
        table_state = self.table_states.setdefault(
            terms.game.digest, RunTableState(plain_game.table_json_before, b"")
        )
        table_state.state_after, table_state.stored_json = (
            plain_game.table.json,
            plain_game.stored_table_json or table_state.stored_json,
        )
        self._add_flow(
            (CASHABLE_ACCOUNT, "house:wager", dimensions_key),
            plain_game.staked_cents,
            1 + plain_game.raise_count,
        )
        self.last_money_entry_kind = (GAME_CHOICE if plain_game.raise_count else GAME_START).kind
        if push_cents:
            self._add_flow(("house:push", CASHABLE_ACCOUNT, dimensions_key), push_cents, 1)
            self.last_money_entry_kind = GAME_PUSH.kind
        if win_cents:
            self._add_flow(("house:win", CASHABLE_ACCOUNT, dimensions_key), win_cents, 1)
            self.last_money_entry_kind = GAME_END.kind
        for counter_name in ("games_played", _find_result_counter_name(plain_game)):
            self.counts[counter_name, dimensions_key] = self.counts.get((counter_name, dimensions_key), 0) + 1

    def _add_flow(self, cell: MeterCellKey, cents: int, transfer_count: int) -> None:
        """Add ``transfer_count`` transfers with a total of ``cents`` to the run's sums for a meter cell."""
        earlier_cents, earlier_count = self.flows.get(cell, (0, 0))
        self.flows[cell] = [earlier_cents + cents, earlier_count + transfer_count]


#: The field ``kind``, as encoded, of the entries that start or continue a game.
_OPEN_GAME_KIND_FIELDS: Final = tuple(
    b'"kind":"%b"' % declaration.kind.encode() for declaration in (GAME_START, GAME_CHOICE, GAME_PUSH)
)


def is_open_game_entry(body: bytes) -> bool:
    """Return whether the encoded entry ``body`` starts or continues a game.

    If so, the next entry may belong to the same game.
    """
    return any(kind in body for kind in _OPEN_GAME_KIND_FIELDS)


class PlainGameFinder:
    """The search for plain games (ordinary games, checked as a whole) in batches of encoded journal entries.

    ``games`` has the available game definitions.
    """

    def __init__(self, games: GameSource) -> None:
        self._games = games
        self._terms_by_parts: dict[tuple[bytes, ...], _GameTerms | None] = {}
        self._latest_table_state_by_digest: dict[str, _TableState] = {}
        """The latest table state of each game, by digest of the definition; the next game usually starts from it."""

    def find_runs(self, bodies: Sequence[bytes]) -> list[PlainRun]:
        """Return the runs of plain games among the consecutive encoded entries ``bodies``, in order."""
        runs: list[PlainRun] = []
        index, run = 0, None
        while index < len(bodies) - 1:
            try:
                run = self._add_game_if_plain(bodies, index, run)
            except Exception:  # noqa: BLE001 (untrusted input; its entries are checked one by one)
                run = None
            if run is None:
                index += 1
                continue
            if not runs or runs[-1] is not run:
                runs.append(run)
            index = run.index_in_batch + run.entry_count
        return runs

    def _add_game_if_plain(
        self, bodies: Sequence[bytes], start_index: int, run: PlainRun | None
    ) -> PlainRun | None:
        """Check the game whose first entry is ``bodies[start_index]``.

        If it is a plain game, return ``run`` with the game added, or a new run with it if it does not continue
        ``run``; otherwise None.
        """
        plain_game = self._start_plain_game(bodies[start_index])
        if plain_game is None:
            return None
        entry_offset = 1  # from the first entry; it is also the number of the next choice
        while plain_game.stepped_game.outcome is None:
            if start_index + entry_offset >= len(bodies) or not _accept_choice_entry(
                plain_game, bodies[start_index + entry_offset], entry_offset
            ):
                return None
            entry_offset += 1
        if not self._accept_outcome(plain_game, plain_game.stepped_game.outcome):
            return None
        if plain_game.push_cents:
            if start_index + entry_offset >= len(bodies) or not _accept_push_entry(
                plain_game, bodies[start_index + entry_offset]
            ):
                return None
            entry_offset += 1
        if start_index + entry_offset >= len(bodies) or not _accept_end_entry(
            plain_game, bodies[start_index + entry_offset]
        ):
            return None
        if run is None or not run.is_continued_by(plain_game):
            run = PlainRun(
                index_in_batch=start_index,
                first_sequence=plain_game.first_sequence,
                journal_tag=plain_game.journal_tag,
                previous_hex=plain_game.previous_hex,
                credit_before_cents=plain_game.credit_before_cents,
                credit_after_cents=plain_game.credit_before_cents,
            )
        run.add_game(plain_game)
        return run

    def _start_plain_game(self, body: bytes) -> _PlainGame | None:
        """Return the plain game that an encoded entry starts, with its first step played.

        Return None if the entry starts no plain game.
        """
        match = _GAME_START_PATTERN.fullmatch(body) if len(body) <= _GAME_START_BYTES_MAX else None
        if match is None:
            return None
        terms = self._find_terms(
            *match.group("dims", "game_reference", "wager", "bet_credits", "denomination_cents")
        )
        if (
            terms is None
            or not match["play_id"].startswith(b"play-%b-" % match["sequence"])
            or int(match["staked_cents"]) != terms.stake_cents
            or not is_time(match["time"].decode())
        ):
            return None
        table = self._find_table_state(terms, match["table"] or INITIAL_TABLE_STATE_JSON)
        if table is None:
            return None
        stepped_game = SteppedGame(table.game, terms.wager, completes_prompts=False)
        if not _play_recorded_step(stepped_game, None, match["draws"], match["outcome"]):
            return None
        return _PlainGame(
            terms=terms,
            play_id=match["play_id"],
            previous_hex=match["previous"].decode(),
            credit_before_cents=int(match["credit_before_cents"]),
            start_time=match["time"].decode(),
            stepped_game=stepped_game,
            first_sequence=int(match["sequence"]),
            sequence=int(match["sequence"]),
            head_hex=hashlib.sha256(body).hexdigest(),
            staked_cents=terms.stake_cents,
            table=table,
            table_json_before=table.json,
        )

    def _find_table_state(self, terms: _GameTerms, table_json: bytes) -> _TableState | None:
        """Return the table state that ``table_json`` describes, from which a game starts.

        Return None if a game from this state is not plain: bets are standing, the wager is not accepted, a side bet
        does not have its fixed amount, or the JSON is not canonical.
        """
        if table_json == INITIAL_TABLE_STATE_JSON:
            return _TableState(INITIAL_TABLE_STATE_JSON, terms.game)
        table = self._latest_table_state_by_digest.get(terms.game.digest)
        if table is None or table.json != table_json:
            state = parse_json(table_json)
            table = _TableState(table_json, terms.game.with_table_state(state))
            if encode_canonical_json(state) != table_json or table.game.rules.list_standing_bets():
                return None
        wager = table.game.build_wager(terms.wager.credits, **terms.wager.options)
        is_accepted = wager == terms.wager and meets_prescribed_amounts(
            table.game, wager, terms.denomination_cents
        )
        return table if is_accepted else None

    def _accept_outcome(self, plain_game: _PlainGame, outcome: Outcome | None) -> bool:
        """Return whether the outcome is possible for a plain game.

        If it is, store its win, its returned stakes and its final table state in ``plain_game``.
        """
        terms = plain_game.terms
        if outcome is None or outcome.progressives or outcome.merchandise or outcome.double_up_stakes:
            return False
        plain_game.push_cents = outcome.push_credits * terms.denomination_cents
        plain_game.win_cents = outcome.returned_credits * terms.denomination_cents - plain_game.push_cents
        settled_credits = sum([settlement.staked_credits for settlement in outcome.settlements])
        if (
            not 0 <= plain_game.win_cents <= AMOUNT_CENTS_MAX
            or plain_game.staked_cents > plain_game.credit_before_cents
            or (terms.has_spots and settled_credits * terms.denomination_cents != plain_game.staked_cents)
        ):
            return False
        if outcome.table_state is None:
            plain_game.table = _TableState(INITIAL_TABLE_STATE_JSON, terms.game)
            plain_game.stored_table_json = (
                b"" if plain_game.table_json_before == INITIAL_TABLE_STATE_JSON else INITIAL_TABLE_STATE_JSON
            )
            return True
        plain_game.table = _TableState(
            encode_canonical_json(outcome.table_state), terms.game.with_table_state(outcome.table_state)
        )
        plain_game.stored_table_json = b'{"denomination_cents":%d,"game":%b,"table":%b}' % (
            *(terms.denomination_cents, terms.game_reference_json, plain_game.table.json),
        )
        self._latest_table_state_by_digest[terms.game.digest] = plain_game.table
        return not plain_game.table.game.rules.list_standing_bets()

    def _find_terms(self, *entry_parts: bytes) -> _GameTerms | None:
        """Return the cached terms (definition, wager, denomination) of a game, or None if it is not plain.

        ``entry_parts`` are the parts of the game's first entry that state these terms.
        """
        if entry_parts not in self._terms_by_parts:
            if len(self._terms_by_parts) >= _CACHED_TERMS_MAX:
                self._terms_by_parts.clear()
            self._terms_by_parts[entry_parts] = self._build_terms(*entry_parts)
        return self._terms_by_parts[entry_parts]

    def _build_terms(
        self,
        dims: bytes,
        game_reference: bytes,
        wager_json: bytes,
        bet_credits_text: bytes,
        denomination_cents_text: bytes,
    ) -> _GameTerms | None:
        """Return the terms (definition, wager, denomination) that these parts of a game's first entry state.

        Return None if a game on these terms is not plain.
        """
        parsed_game_reference = parse_json(game_reference)
        denomination_cents = int(denomination_cents_text)
        wager = Wager.from_json(parse_json(wager_json))
        available_game = self._games.find(parsed_game_reference["id"], parsed_game_reference["digest"])
        if available_game is None:
            return None
        game = available_game.with_table_state(None)
        expected_dims: dict[str, str | int] = {
            "game": game.id,
            "paytable": f"{game.id}@{game.version}",
            "denomination_cents": denomination_cents,
            "wager_level": wager.credits,
        }
        is_plain = (
            encode_canonical_json({"id": game.id, "version": game.version, "digest": game.digest})
            == game_reference
            and encode_canonical_json(expected_dims) == dims
            and encode_canonical_json(wager.to_json()) == wager_json
            and wager.credits == int(bet_credits_text) > 0
            and wager.seat is None
            and denomination_cents in game.denominations_cents
            and wager.credits * denomination_cents <= AMOUNT_CENTS_MAX
            and encode_canonical_json(game.build_wager(wager.credits, **wager.options).to_json())
            == wager_json
            and meets_prescribed_amounts(game, wager, denomination_cents)
            and not game.list_levels(wager)
            and find_table_state_fields(game.rules, 1) == _NO_SEPARATE_STATE_FIELDS
        )
        stake_cents = wager.credits * denomination_cents
        dimensions_key = build_dimensions_key(expected_dims)
        has_spots = bool(game.rules.list_spots())
        terms = _GameTerms(
            game, wager, denomination_cents, stake_cents, dims, dimensions_key, game_reference, has_spots
        )
        return terms if is_plain else None


def _play_recorded_step(
    stepped_game: SteppedGame, choice: Choice | None, draws: bytes, outcome: bytes
) -> bool:
    """Play one step of a game with the recorded draws.

    Return whether the result is the recorded outcome. If no outcome is recorded, return whether the game now
    waits for a decision of the player.
    """
    draw = ReplayDrawSource(parse_json(draws))
    stepped_game.advance(draw, choice)
    draw.check_all_numbers_used()
    replayed_outcome = stepped_game.outcome
    if replayed_outcome is not None:
        return encode_canonical_json(replayed_outcome.to_json()) == outcome
    return outcome == b"null" and stepped_game.decision is not None


def _accept_choice_entry(plain_game: _PlainGame, body: bytes, choice_number: int) -> bool:
    """Return whether the encoded entry ``body`` is choice number ``choice_number`` of the player in this game.

    If it is, play that step of the game, and store the entry as the game's last one so far.
    """
    match, decision = _GAME_CHOICE_PATTERN.fullmatch(body), plain_game.stepped_game.decision
    if match is None or decision is None or decision.kind == WHEEL_DECISION_KIND:
        return False
    option, terms = parse_json(match["choice"]), plain_game.terms
    added_credits = decision.get_added_credits(option)
    expected_stake: tuple[bytes | None, bytes | None, bytes | None] = (None, None, None)
    if added_credits:
        expected_stake = (
            terms.dims_json,
            b"%d" % added_credits,
            b"%d" % (added_credits * terms.denomination_cents),
        )
    if (
        match.group("dims", "added_credits", "added_cents") != expected_stake
        or match["play_id"] != plain_game.play_id
        or (int(match["choice_number"]), int(match["sequence"])) != (choice_number, plain_game.sequence + 1)
        or match["previous"].decode() != plain_game.head_hex
        or encode_canonical_json(option) != match["choice"]
        or not is_time(match["time"].decode())
        or not _play_recorded_step(plain_game.stepped_game, Choice(option), match["draws"], match["outcome"])
    ):
        return False
    plain_game.sequence, plain_game.head_hex = plain_game.sequence + 1, hashlib.sha256(body).hexdigest()
    plain_game.staked_cents += added_credits * terms.denomination_cents
    plain_game.raise_count += added_credits > 0
    return True


def _find_result_counter_name(plain_game: _PlainGame) -> str:
    """Return the name of the counter for the game's result: games won, pushed or lost."""
    return "games_won" if plain_game.win_cents else "games_pushed" if plain_game.push_cents else "games_lost"


def _read_entry_time(body: bytes) -> bytes | None:
    """Return the recorded time of an encoded entry, from its last bytes, or None if there is no valid time."""
    match = _ENTRY_TIME_PATTERN.search(body, max(0, len(body) - _END_TIME_SEARCH_SIZE_BYTES))
    return match[1] if match is not None and is_time(match[1].decode()) else None


def _accept_push_entry(plain_game: _PlainGame, body: bytes) -> bool:
    """Return whether ``body`` is exactly the entry that a machine writes to return this game's pushed stakes.

    If it is, store the entry as the game's last one so far.
    """
    play_id, cents, time = plain_game.play_id, plain_game.push_cents, _read_entry_time(body)
    if time is None:
        return False
    expected_body = (
        b'{"dims":%b,"id":"%b.push","kind":"game.push","previous":"%b",'
        b'"record":{"play_id":"%b","push_cents":%d},"sequence":%d,"time":"%b",'
        b'"transfers":[["house:push","credit:1:cashable",%d]]}'
    ) % (
        *(plain_game.terms.dims_json, play_id, plain_game.head_hex.encode(), play_id, cents),
        *(plain_game.sequence + 1, time, cents),
    )
    return _accept_entry(plain_game, body, expected_body)


def _accept_end_entry(plain_game: _PlainGame, body: bytes) -> bool:
    """Return whether ``body`` is exactly the entry that a machine writes at the end of this game.

    If it is, store the entry as the game's last one so far.
    """
    play_id, win_cents, push_cents, time = (
        plain_game.play_id,
        plain_game.win_cents,
        plain_game.push_cents,
        _read_entry_time(body),
    )
    if time is None:
        return False
    push_json = b'"push_cents":%d,' % push_cents if push_cents else b""
    transfers_json = b',"transfers":[["house:win","credit:1:cashable",%d]]' % win_cents if win_cents else b""
    table_json = b""
    if plain_game.stored_table_json:
        table_json = b',"table:%b":%b' % (plain_game.terms.game.digest.encode(), plain_game.stored_table_json)
    expected_body = (
        b'{"counts":{"%b":1},"dims":%b,"id":"%b.end","kind":"game.end","previous":"%b",'
        b'"record":{"play_id":"%b",%b"win_cents":%d},"sequence":%d,'
        b'"state":{"game":null,"last_game":{"play_id":"%b","win_cents":%d}%b},"time":"%b"%b}'
    ) % (
        *(
            _find_result_counter_name(plain_game).encode(),
            plain_game.terms.dims_json,
            play_id,
            plain_game.head_hex.encode(),
        ),
        *(play_id, push_json, win_cents, plain_game.sequence + 1),
        *(play_id, win_cents + push_cents, table_json, time, transfers_json),
    )
    return _accept_entry(plain_game, body, expected_body)


def _accept_entry(plain_game: _PlainGame, body: bytes, expected_body: bytes) -> bool:
    """Return whether the encoded entry ``body`` equals ``expected_body``.

    If it does, store the entry as the game's last one so far.
    """
    if body != expected_body:
        return False
    plain_game.sequence, plain_game.head_hex = plain_game.sequence + 1, hashlib.sha256(body).hexdigest()
    return True
