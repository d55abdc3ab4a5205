"""Plain games, which make up nearly all entries of a journal, checked from their bytes.

A plain game is one step of a machine with one position: a wager of cashable credit, one series of draws, and
a win to the credit meter or none. Its two entries follow each other. Everything in them follows from the
definition, the draws, the credit and the entry before, except for the time and the language. They are
therefore not interpreted: this module builds the bytes that a machine must write for these draws and compares
them with the journal's. Equal bytes prove the canonical form, the hash chain inside the run, the record, the
outcome, the counts, the dimensions and the transfers at once, and there is nothing left to disagree about.

Games that follow one another form a :class:`PlainRun`. It contains all that depends on what came before it
(the auditor compares that with the journal's state) and the sums that the auditor adds to the books. Whatever
differs in any way is not part of a run: the auditor checks it entry by entry, and only there faults are
reported. ``tests/tools/audit/test_plain_games.py`` compares the two ways.

Nothing here depends on the entries before, so any process can check any part of a journal
(:mod:`tools.audit.jobs`).
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

from egm.progressive.pools import is_of_its_worth
from egm.records.tables import Keys, find_table_keys
from meters.entry import encode_canonical_json, is_time
from meters.ledger import Cell, DimsKey, build_dims_key
from meters.transaction import AMOUNT_MAX
from paytables import Game, ReplayDraw, Wager, play_through

CASHABLE: Final = "credit:1:cashable"
_SETTINGS_MAX: Final = 256
"""The number of combinations of definition, denomination and wager that are remembered."""

_NUMBER: Final = rb"(0|[1-9][0-9]{0,14})"
_NAME: Final = rb"[A-Za-z0-9@_. -]+"
_TIME: Final = rb'"time":"([0-9T:.+-]{19,40})"'
_STARTS_WITH: Final = b'{"counts":{"games_played":1},'
_START: Final = re.compile(
    rb'\{"counts":\{"games_played":1\},"dims":(\{[^{}]*\}),'
    rb'"id":"(play-[0-9]{1,18}-[0-9a-f]{8})\.start","kind":"game\.start","previous":"([0-9a-f]{64})",'
    rb'"record":\{"bet_credits":' + _NUMBER + rb',"credit_before_cents":' + _NUMBER + rb","
    rb'"denomination_cents":' + _NUMBER + rb',"game":(\{[^{}]*\}),"language":"' + _NAME + rb'",'
    rb'"outcome":(\{.*\}),"play_id":"(play-[0-9a-f-]+)",'
    rb'"steps":\[\{"choice":null,"draws":(\[(?:\[[0-9]{1,18},[0-9]{1,18},"' + _NAME + rb'"\],?)*\])\}\],'
    rb'"wager":(\{.*\})\},"sequence":([1-9][0-9]{0,17}),'
    rb'"state":\{"game":\{"play_id":"(play-[0-9a-f-]+)"\}\},' + _TIME + rb","
    rb'"transfers":\[\["credit:1:cashable","house:wager",' + _NUMBER + rb"\]\]\}"
)
_END_TIME: Final = re.compile(_TIME)
_NO_KEYS: Final = Keys()


class Games(Protocol):
    """A source of game definitions."""

    def find(self, game_id: str, digest: str) -> Game | None:
        """Return the definition with that digest, or None."""


@dataclass(frozen=True, slots=True)
class _Setting:
    """A game as offered to the player: its definition, the wager and the denomination, all checked."""

    game: Game
    wager: Wager
    unit_cents: int
    stake_cents: int
    dims: bytes
    key: DimsKey


@dataclass(slots=True)
class PlainRun:
    """Plain games that follow one another, checked, with what they presuppose and what they change.

    ``at`` is the index of its first entry in the batch, ``entries`` their number.
    """

    at: int
    first_sequence: int
    mark: str
    """The journal's mark, which the ids of all its entries contain."""
    previous_hex: str
    """The hash of the entry before it."""
    credit_before_cents: int
    entries: int = 0
    credit_after_cents: int = 0
    head_hex: str = ""
    last_play: str = ""
    last_win_cents: int = 0
    smallest_stake_cents: int = AMOUNT_MAX
    last_start: str = ""
    """The time of the last start, as written."""
    tables: set[tuple[str, int]] = field(default_factory=set)
    """The definitions played, by digest, each with the denomination in minor units."""
    flows: dict[Cell, list[int]] = field(default_factory=dict)
    """Amount and number of transfers, by meter cell, in order of their first occurrence."""
    counts: dict[tuple[str, DimsKey], int] = field(default_factory=dict)

    @property
    def last_sequence(self) -> int:
        """Return the sequence number of its last entry."""
        return self.first_sequence + self.entries - 1

    @property
    def games(self) -> int:
        """Return the number of its games."""
        return self.entries // 2

    @property
    def last_start_utc(self) -> datetime:
        """Return the time at which its last game started."""
        return datetime.fromisoformat(self.last_start)


def is_game_start(body: bytes) -> bool:
    """Return whether the entry may be the start of a plain game."""
    return body.startswith(_STARTS_WITH)


class PlainGames:
    """Finds the plain games in batches of encoded entries; ``games`` has the available definitions."""

    def __init__(self, games: Games) -> None:
        self._games = games
        self._settings: dict[tuple[bytes, ...], _Setting | None] = {}

    def find_runs(self, bodies: Sequence[bytes]) -> list[PlainRun]:
        """Return the runs of plain games among consecutive entries, in order."""
        runs: list[PlainRun] = []
        at, run = 0, None
        while at < len(bodies) - 1:
            run = self._check_game(bodies, at, run)
            if run is None:
                at += 1
                continue
            if not runs or runs[-1] is not run:
                runs.append(run)
            at += 2
        return runs

    def _check_game(self, bodies: Sequence[bytes], at: int, run: PlainRun | None) -> PlainRun | None:
        """Return the run that ends with the game at this index: ``run`` or a new one; None if it is not plain."""
        start, end = bodies[at], bodies[at + 1]
        found = _START.fullmatch(start)
        if found is None:
            return None
        dims, play, previous, bet, credit, unit, named, outcome = found.group(1, 2, 3, 4, 5, 6, 7, 8)
        play_again, draws, wager, sequence, play_in_state, time, staked = found.group(
            9, 10, 11, 12, 13, 14, 15
        )
        setting = self._find_setting(dims, named, wager, bet, unit)
        if (
            setting is None
            or not play == play_again == play_in_state
            or not play.startswith(b"play-%b-" % sequence)
            or int(staked) != setting.stake_cents
            or not is_time(time.decode())
        ):
            return None
        win_cents = _replay(setting, draws, outcome)
        if win_cents is None:
            return None
        number, credit_cents = int(sequence), int(credit)
        head = _check_end(end, play, number + 1, hashlib.sha256(start).hexdigest(), dims, win_cents)
        if head is None or credit_cents < setting.stake_cents:
            return None
        mark = play[-8:].decode()
        if run is None or (run.last_sequence + 1, run.head_hex, run.mark, run.credit_after_cents) != (
            number,
            previous.decode(),
            mark,
            credit_cents,
        ):
            run = PlainRun(at, number, mark, previous.decode(), credit_cents)
        _add_game(run, setting, win_cents)
        run.head_hex, run.last_play, run.last_start = head, play.decode(), time.decode()
        run.credit_after_cents = credit_cents - setting.stake_cents + win_cents
        return run

    def _find_setting(self, *parts: bytes) -> _Setting | None:
        """Return the checked setting that these parts of a record state, or None if it is not that of a plain game."""
        if parts not in self._settings:
            if len(self._settings) >= _SETTINGS_MAX:
                self._settings.clear()
            self._settings[parts] = self._check_setting(*parts)
        return self._settings[parts]

    def _check_setting(
        self, dims: bytes, named: bytes, wager_json: bytes, bet: bytes, unit: bytes
    ) -> _Setting | None:
        try:
            name, data = json.loads(named), json.loads(wager_json)
            game = self._games.find(name["id"], name["digest"])
            unit_cents, wager = int(unit), Wager.from_json(data)
            if game is None:
                return None
            at = game.at(None)
            due_dims: dict[str, str | int] = {
                "game": game.id,
                "paytable": f"{game.id}@{game.version}",
                "denomination_cents": unit_cents,
                "wager_level": wager.credits,
            }
            is_plain = (
                encode_canonical_json({"id": game.id, "version": game.version, "digest": game.digest})
                == named
                and encode_canonical_json(due_dims) == dims
                and encode_canonical_json(wager.to_json()) == wager_json
                and wager.credits == int(bet) > 0
                and wager.seat is None
                and unit_cents in game.denominations_cents
                and wager.credits * unit_cents <= AMOUNT_MAX
                and at.wager(wager.credits, **wager.options) == wager
                and is_of_its_worth(at, wager, unit_cents)
                and not game.list_every_level()
                and find_table_keys(game.rules, 1) == _NO_KEYS
            )
        except Exception:  # noqa: BLE001 (whatever a file made of them; its entries are checked one by one)
            return None
        if not is_plain:
            return None
        stake_cents = wager.credits * unit_cents
        return _Setting(at, wager, unit_cents, stake_cents, dims, build_dims_key(due_dims))


def _replay(setting: _Setting, draws: bytes, outcome: bytes) -> int | None:
    """Return the win in minor units if the draws give this outcome, and it is that of a plain game; else None."""
    try:
        draw = ReplayDraw(json.loads(draws))
        found = play_through(setting.game, setting.wager, draw)
        draw.finish()
        if encode_canonical_json(found.to_json()) != outcome:
            return None
        if found.push_credits or found.progressives or found.merchandise or found.table is not None:
            return None
        if found.double_up_stakes:
            return None
        win_cents = found.win_credits * setting.unit_cents
    except Exception:  # noqa: BLE001 (as above)
        return None
    return win_cents if 0 <= win_cents <= AMOUNT_MAX else None


def _check_end(
    end: bytes, play: bytes, sequence: int, previous: str, dims: bytes, win_cents: int
) -> str | None:
    """Return the hash of the end of a plain game, or None if it is not what a machine writes after its start."""
    found = _END_TIME.search(end, len(end) - 160 if len(end) > 160 else 0)
    if found is None or not is_time(found[1].decode()):
        return None
    what, paid = b"games_lost", b""
    if win_cents:
        what, paid = b"games_won", b',"transfers":[["house:win","credit:1:cashable",%d]]' % win_cents
    due = (
        b'{"counts":{"%b":1},"dims":%b,"id":"%b.end","kind":"game.end","previous":"%b",'
        b'"record":{"play_id":"%b","win_cents":%d},"sequence":%d,'
        b'"state":{"game":null,"last_game":{"play_id":"%b","win_cents":%d}},"time":"%b"%b}'
    ) % (what, dims, play, previous.encode(), play, win_cents, sequence, play, win_cents, found[1], paid)
    return hashlib.sha256(end).hexdigest() if end == due else None


def _add_game(run: PlainRun, setting: _Setting, win_cents: int) -> None:
    """Add a checked game to the sums of its run."""
    key, flows, counts = setting.key, run.flows, run.counts
    run.entries += 2
    run.last_win_cents = win_cents
    run.smallest_stake_cents = min(run.smallest_stake_cents, setting.stake_cents)
    run.tables.add((setting.game.digest, setting.unit_cents))
    moved: list[tuple[Cell, int]] = [((CASHABLE, "house:wager", key), setting.stake_cents)]
    if win_cents:
        moved.append((("house:win", CASHABLE, key), win_cents))
    for cell, cents in moved:
        flow = flows.setdefault(cell, [0, 0])
        flow[0] += cents
        flow[1] += 1
    for what in ("games_played", "games_won" if win_cents else "games_lost"):
        counts[what, key] = counts.get((what, key), 0) + 1
