"""Every game of a journal played again from its recorded draws, and its money compared; void ones as well."""

import base64
import binascii
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from egm.errors import LocalError
from egm.play.conversation import Conversation
from egm.records.games import CARRIED_GAME
from meters import StoredEntry
from meters.recall import PLAY_ENDS, PLAY_START, PLAY_STEPS, details
from paytables import (
    Choice,
    DefinitionError,
    Game,
    Outcome,
    PaytableError,
    ReplayDraw,
    Wager,
    library,
    load_game,
    play_through,
)
from tools.audit import prizes

#: Accounts a game's win (progressives and bonuses apart) is paid from.
_WIN_SOURCES: Final = ("house:win", "house:double_up_win", "house:attendant_jackpot")
_DOUBLE_UP: Final = "game.double_up"
_OF_PLAYS: Final = frozenset((PLAY_START, *PLAY_STEPS, *PLAY_ENDS))
_TEXT_MAX_BYTES: Final = 4_000_000
_RULING_PERSONS: Final = 2
_PRIZE_WON: Final = "merchandise.won"
_DEFINITION: Final = "definition:"


class Shelf:
    """The game definitions at hand: the library, and the TOML files of other folders.

    What a journal says chooses among them, by digest, and adds nothing to them: an id that is no game of the
    library, be it a path, loads nothing.
    """

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        self._library = frozenset(library())
        self._files = [path for folder in folders for path in sorted(folder.glob("*.toml"))]
        self._by_digest: dict[str, Game] = {}

    def find(self, game_id: str, digest: str) -> Game | None:
        """Return the very definition of that digest, or None when it is not at hand.

        A definition is loaded when first asked for. A file that is no game is passed over: what needs it will
        say what is missing.
        """
        found = self._by_digest.get(digest)
        if found is not None:
            return found
        if game_id in self._library:
            self._load(game_id)
        while digest not in self._by_digest and self._files:
            self._load(self._files.pop(0))
        return self._by_digest.get(digest)

    def _load(self, name: str | Path) -> None:
        with suppress(DefinitionError):
            game = load_game(name)
            self._by_digest[game.digest] = game


class GameAudit:
    """Follows the entries of games in order; ``fault`` is told of each that does not come out as recorded."""

    def __init__(self, games: Shelf, fault: Callable[[StoredEntry, str], None]) -> None:
        self._games = games
        self._fault = fault
        self._open: dict[str, list[StoredEntry]] = {}
        self._won: dict[str, list[StoredEntry]] = {}
        """The prizes in kind in the register of wins, by play."""
        self._latest: dict[str | int, str] = {}
        """The play that began last at each position."""
        self._doubled: dict[str, list[int]] = {}
        """What plays that are not over have posted of their double-up: the stakes, minor units."""
        self.replayed = 0
        self.voided = 0

    @property
    def open(self) -> int:
        """Games begun and not ended where the journal stops."""
        return len(self._open)

    def close(self) -> None:
        """At the end: a play that is not over must have come out as recorded as far as it has come."""
        for entries in self._open.values():
            try:
                self._replayed(entries)
            except (KeyError, TypeError, ValueError, AttributeError, IndexError) as why:
                self._fault(entries[0], f"the record of the play is not whole: {why!r}")

    def see(self, entry: StoredEntry) -> None:
        """Take one entry of the journal."""
        kind = entry.transaction.kind
        if kind not in _OF_PLAYS:
            self._see_other(entry, kind)
            return
        play_id = str(details(entry).get("play_id"))
        if kind == PLAY_START:
            self._begin(play_id, entry)
        elif play_id not in self._open:
            self._fault(entry, f"play {play_id} was not begun")
        elif kind in PLAY_STEPS:
            self._open[play_id].append(entry)
        else:
            self._end(self._open.pop(play_id), entry)

    def _see_other(self, entry: StoredEntry, kind: str) -> None:
        if kind == CARRIED_GAME and "ended" not in details(entry):
            self._begin(str(details(entry).get("play_id")), entry)
        elif kind == _DOUBLE_UP:
            self._doubled[str(details(entry)["play_id"])] = list(details(entry)["stakes_cents"])
        elif kind == _PRIZE_WON:
            self._won.setdefault(str(details(entry).get("play_id")), []).append(entry)

    def _begin(self, play_id: str, entry: StoredEntry) -> None:
        if play_id in self._open:
            self._fault(entry, f"play {play_id} begins twice")
        position = entry.transaction.dims.get("position", 1)
        before = self._latest.get(position)
        if before in self._open and before != play_id:
            self._fault(entry, f"play {play_id} begins and play {before} was never ended")
        self._latest[position] = play_id
        self._open[play_id] = [entry]

    def _end(self, entries: list[StoredEntry], end: StoredEntry) -> None:
        try:
            outcome = self._replayed(entries)
            if end.transaction.kind == "game.void":
                self.voided += 1
                self._check_void(entries, end)
                return
            self.replayed += 1
            if outcome is not None:
                self._check(entries[0], outcome, end)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as why:
            self._fault(entries[0], f"the record of the play is not whole: {why!r}")

    # ------------------------------------------------------------------ what its numbers come to
    def _replayed(self, entries: list[StoredEntry]) -> tuple[Game, Any] | None:
        """The definition of a play and what its draws come to (None: not decided); None without definition.

        Every step must have come out as it was recorded.
        """
        start: Any = details(entries[0])
        named = start["game"]
        game = self._games.find(named["id"], named["digest"])
        if game is None:
            digest = str(named["digest"])[:12]
            self._fault(entries[0], f"no definition at hand of game {named['id']} with digest {digest}")
            return None
        if (named["id"], named["version"]) != (game.id, game.version):
            self._fault(entries[0], f"the game of this digest is {game.id} {game.version}")
        if start["wager"]["credits"] != start["bet_credits"]:
            staked = start["wager"]["credits"]
            self._fault(entries[0], f"{start['bet_credits']} credits were bet, {staked} were played for")
        self._check_kept(entries[0], game)
        if len(entries) == 1 and start["outcome"] is not None:
            outcome = self._at_once(entries[0], start, game)
        else:
            outcome = self._step_by_step(entries, start, game)
        return game, outcome

    def _at_once(self, entry: StoredEntry, start: Any, game: Game) -> Any:
        wager = Wager.from_json(start["wager"])
        try:
            if game.wager(wager.credits, **wager.options) != wager:
                self._fault(entry, f"the game takes no wager like {start['wager']}")
            outcome = replay(game, wager, start["steps"])
        except PaytableError as why:
            self._fault(entry, f"its draws cannot be played: {why}")
            return start["outcome"]
        if outcome != start["outcome"]:
            self._fault(entry, "its recorded draws give another outcome than the one recorded")
        return outcome

    def _step_by_step(self, entries: list[StoredEntry], start: Any, game: Game) -> Any:
        wager = Wager.from_json(start["wager"])
        if game.wager(wager.credits, **wager.options) != wager:
            self._fault(entries[0], f"the game takes no wager like {start['wager']}")
        conversation = Conversation(game, wager)
        outcome: Any = start["outcome"]
        begun = len(start["steps"])  # a game that was carried over begins with all its steps
        steps = [(entries[0], start, step) for step in start["steps"]]
        steps += [(entry, details(entry), details(entry)) for entry in entries[1:]]
        for number, (entry, told, step) in enumerate(steps):
            if number >= begun and entry.id != f"{start['play_id']}.choice-{number}":
                self._fault(entry, f"it is choice {number} of play {start['play_id']}")
            try:
                draw = ReplayDraw(step["draws"])
                choice = None if step["choice"] is None else Choice(step["choice"])
                conversation.advance(draw, choice)
                draw.finish()
            except (PaytableError, LocalError, StopIteration) as why:
                self._fault(entry, f"its draws cannot be played: {why}")
                return told["outcome"]
            found = conversation.outcome
            outcome = None if found is None else found.to_json()
            if outcome != (None if number < begun - 1 else told["outcome"]):
                self._fault(entry, "its recorded draws give another outcome than the one recorded")
        return outcome

    def _check_kept(self, start: StoredEntry, game: Game) -> None:
        """A definition that the journal keeps is the very one it names."""
        state = start.transaction.state
        kept = state.get(f"{_DEFINITION}{game.digest}") if len(state) > 1 else None
        if kept is None:
            return
        try:
            text = zlib.decompressobj().decompress(base64.b85decode(str(kept)), _TEXT_MAX_BYTES)
        except (ValueError, zlib.error, binascii.Error) as why:
            self._fault(start, f"the definition it keeps cannot be read: {why}")
            return
        if text != game.text.encode():
            self._fault(start, "the definition it keeps is not the one it names")

    # ------------------------------------------------------------------ its money
    def _check(self, entry: StoredEntry, found: tuple[Game, Any], end: StoredEntry) -> None:
        game, outcome = found
        start: Any = details(entry)
        if outcome is None:
            self._fault(end, "it ends a play that is not decided")
            return
        moves, told = end.transaction.transfers, details(end)
        due_cents = outcome["win_credits"] * start["denomination_cents"]
        paid_cents = sum([t.amount_cents for t in moves if t.source in _WIN_SOURCES])
        told_cents = told["win_cents"]
        if not due_cents == paid_cents == told_cents:
            self._fault(end, f"the win is {due_cents} cents, {paid_cents} moved, {told_cents} recorded")
        stakes = [
            stake * start["denomination_cents"] for stake in Outcome.from_json(outcome).double_up_stakes
        ]
        posted = self._doubled.pop(str(start["play_id"]), []) if self._doubled else []
        if stakes != posted:
            self._fault(end, f"{stakes} cents were put at stake in its double-up, {posted} are posted")
        other = "house:win" if stakes else "house:double_up_win"
        if other in [t.source for t in moves]:
            self._fault(end, "its win is not paid by what won it, the game or its double-up")
        if end.transaction.dims != entry.transaction.dims:
            self._fault(end, "its meters are told apart otherwise than those of the play's beginning")
        owed = prizes.owed_by(end) if moves else []
        if outcome["merchandise"] or owed or told.get("prizes"):
            self._check_prizes(game, outcome["merchandise"], owed, end)

    def _check_prizes(self, game: Game, won: list[str], owed: list[prizes.Flow], end: StoredEntry) -> None:
        told = details(end).get("prizes", [])
        stated = {prize.id: prize for prize in game.prizes_in_kind()}
        if prizes.due({name: p.value_cents for name, p in stated.items()}, won) != owed:
            self._fault(end, f"it owes {owed}, the game won {won} in kind")
        due = [
            {"id": name, "names": dict(stated[name].names), "value_cents": stated[name].value_cents}
            for name in won
        ]
        if told != due:
            self._fault(end, f"it tells of other prizes than the game's: {won}")
        registered = self._won.pop(str(details(end).get("play_id")), [])
        if [details(entry).get("prizes") for entry in registered] != [[prize] for prize in due]:
            self._fault(end, f"the register of wins has other prizes than the game's: {won}")
        if any(details(entry).get("game") != game.id for entry in registered):
            self._fault(registered[0], f"the game that won it is {game.id}")

    def _check_void(self, entries: list[StoredEntry], end: StoredEntry) -> None:
        """The stake goes back whole and to where it came from, or not at all; what was decided takes two."""
        told: Any = details(end)
        staked = _staked(entries[0])
        back = [(t.target, t.amount_cents) for t in end.transfers if t.target.startswith("credit:")]
        if back not in ([], staked):
            self._fault(end, f"{back} went back for a wager of {staked}")
        start: Any = details(entries[0])
        outcome = start["outcome"] if len(entries) == 1 else details(entries[-1])["outcome"]
        won_cents = None if outcome is None else outcome["win_credits"] * start["denomination_cents"]
        recorded = told.get("recorded")
        if outcome is not None and (recorded is None or len(set(told["persons"])) < _RULING_PERSONS):
            self._fault(
                end, f"a decided play that won {won_cents} cents is void, and no two persons ruled so"
            )
        if recorded is None:
            return
        if (recorded["decided"], recorded["win_cents"]) != (outcome is not None, won_cents):
            self._fault(end, f"it says that the play had won {recorded['win_cents']} cents, not {won_cents}")


def _staked(start: StoredEntry) -> list[tuple[str, int]]:
    """What was wagered, and of which credit; of a game carried over, in the journal before."""
    if start.kind == CARRIED_GAME:
        told: Any = details(start)
        return [(str(source), int(cents)) for source, cents in told["staked"]]
    return [(t.source, t.amount_cents) for t in start.transfers if t.target == "house:wager"]


def replay(game: Game, wager: Wager, steps: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Play a game again from its recorded steps; return its outcome as JSON data.

    Raises :class:`PaytableError` where draws or choices do not fit the game.
    """
    numbers: list[Sequence[Any]] = []
    choices: list[Choice] = []
    for step in steps:
        numbers += step["draws"]
        if step.get("choice") is not None:
            choices.append(Choice(step["choice"]))
    draw = ReplayDraw(numbers)
    outcome = play_through(game, wager, draw, choices).to_json()
    draw.finish()
    return outcome
