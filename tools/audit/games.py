"""Every game of a journal played again from its recorded draws, and its money compared."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from meters import StoredEntry
from meters.recall import PLAY_ENDS, PLAY_START, PLAY_STEPS, story
from paytables import (
    Choice,
    DefinitionError,
    Game,
    PaytableError,
    ReplayDraw,
    Wager,
    load_game,
    play_through,
)
from tools.audit import prizes

#: Accounts a game's win (progressives and bonuses apart) is paid from.
_WIN_SOURCES: Final = ("house:win", "house:double_up_win", "house:attendant_jackpot")
#: What is put at stake and what is paid for it moves in these entries and in no other.
_ONLY_IN: Final[Mapping[str, tuple[str, ...]]] = {
    "house:wager": (PLAY_START,),
    "house:double_up_bet": (*PLAY_STEPS, "game.end"),
    "house:win": ("game.end",),
    "house:double_up_win": ("game.end",),
    "house:attendant_jackpot": ("game.end", "handpay.exchanged", "orphan.handpay"),
    "house:refund_defect": ("game.void",),
}
_OF_PLAYS: Final = frozenset((PLAY_START, *PLAY_STEPS, *PLAY_ENDS))


class Shelf:
    """The game definitions at hand: the library, and the TOML files of other folders."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        self._files = [path for folder in folders for path in sorted(folder.glob("*.toml"))]
        self._by_digest: dict[str, Game] = {}

    def find(self, game_id: str, digest: str) -> Game | None:
        """Return the very definition of that digest, or None when it is not at hand.

        A definition is loaded when first asked for. A file that is no game is passed over: what needs it will
        say what is missing.
        """
        if digest not in self._by_digest:
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
        self._latest: dict[str | int, str] = {}
        """The play that began last at each position."""
        self.replayed = 0
        self.voided = 0

    @property
    def open(self) -> int:
        """Games begun and not ended where the journal stops."""
        return len(self._open)

    def see(self, entry: StoredEntry) -> None:
        """Take one entry of the journal."""
        kind = entry.transaction.kind
        for t in entry.transaction.transfers:
            for account in (t.source, t.target):
                if account in _ONLY_IN and kind not in _ONLY_IN[account]:
                    self._fault(entry, f"a {kind} moves {t.amount_cents} cents of {account}")
        if kind not in _OF_PLAYS:
            return
        play_id = str(story(entry).get("play_id"))
        if kind == PLAY_START:
            self._begin(play_id, entry)
        elif play_id not in self._open:
            self._fault(entry, f"play {play_id} was not begun")
        elif kind in PLAY_STEPS:
            self._open[play_id].append(entry)
        else:
            self._end(self._open.pop(play_id), entry)

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
            if end.kind == "game.void":
                self._check_void(entries[0], end)
                self.voided += 1
            else:
                self._check(entries, end)
                self.replayed += 1
        except (KeyError, TypeError, ValueError, AttributeError) as why:
            self._fault(entries[0], f"the record of the play is not whole: {why!r}")

    def _check(self, entries: list[StoredEntry], end: StoredEntry) -> None:
        start: Mapping[str, Any] = story(entries[0])
        steps = [*start["steps"], *[story(entry) for entry in entries[1:]]]
        recorded = story(entries[-1]).get("outcome", start["outcome"])
        named = start["game"]
        game = self._games.find(named["id"], named["digest"])
        if game is None:
            digest = named["digest"][:12]
            self._fault(entries[0], f"no definition at hand of game {named['id']} with digest {digest}")
            return
        try:
            outcome = replay(game, Wager.from_json(start["wager"]), steps)
        except PaytableError as why:
            self._fault(entries[-1], f"its draws cannot be played: {why}")
            return
        if outcome != recorded:
            self._fault(entries[-1], "its recorded draws give another outcome than the one recorded")
        denomination_cents = start["denomination_cents"]
        bet_cents = sum([t.amount_cents for t in entries[0].transfers if t.target == "house:wager"])
        if start["wager"]["credits"] != start["bet_credits"]:
            staked = start["wager"]["credits"]
            self._fault(entries[0], f"{start['bet_credits']} credits were bet, {staked} were played for")
        if bet_cents != start["bet_credits"] * denomination_cents:
            self._fault(
                entries[0], f"the wager moved is {bet_cents} cents, {start['bet_credits']} credits were bet"
            )
        due_cents = outcome["win_credits"] * denomination_cents
        paid_cents = sum([t.amount_cents for t in end.transfers if t.source in _WIN_SOURCES])
        told_cents = story(end)["win_cents"]
        if not due_cents == paid_cents == told_cents:
            self._fault(end, f"the win is {due_cents} cents, {paid_cents} moved, {told_cents} recorded")
        self._check_prizes(game, outcome["merchandise"], end)

    def _check_prizes(self, game: Game, won: list[str], end: StoredEntry) -> None:
        owed = prizes.owed_by(end)
        if not won and not owed:
            return
        stated = {p["id"]: p["value_cents"] for p in game.presentation().get("merchandise", ())}
        if prizes.due(stated, won) != owed:
            self._fault(end, f"it owes {owed}, the game won {won} in kind")

    def _check_void(self, start: StoredEntry, end: StoredEntry) -> None:
        bet_cents = sum(t.amount_cents for t in start.transfers if t.target == "house:wager")
        back_cents = sum(t.amount_cents for t in end.transfers if t.target.startswith("credit:"))
        if back_cents not in {0, bet_cents}:
            self._fault(end, f"{back_cents} cents went back for a wager of {bet_cents}")


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
