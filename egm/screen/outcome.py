"""What a game published and what an outcome showed, as the reel field draws them.

The data come from ``paytables`` as JSON; what a family adds that this screen does not know is left alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from egm.kernel.messages import GameView

Names = Mapping[str, str]
Window = tuple[tuple[str, ...], ...]

BASE: Final = "base"
#: More like symbols than this are pictured once; their count stands in the name.
_ICONS_MOST: Final = 5
#: A reel is awaited where it brings what is awaited at least so often.
_AWAITED_LEAST: Final = Fraction(1, 25)


class OutcomeError(Exception):
    """A presentation or display that does not fit its game: says what does not fit."""


@dataclass(frozen=True, slots=True)
class WinView:
    """One win: its positions (reel, row), its line (1-based, or None), what it pays, and for what.

    ``count`` like ``symbol``s, both empty where the win has a ``name`` of its own.
    """

    positions: tuple[tuple[int, int], ...]
    credits: int
    line: int | None
    name: str
    count: int
    symbol: str


@dataclass(frozen=True, slots=True)
class Prize:
    """One row of the prize table for the lowest bet."""

    name: str
    count: int
    symbol: str
    credits: int
    gives: tuple[tuple[str, int], ...] = ()
    """What it brings besides credits: a stage and how many games of it, or a prize in kind."""


@dataclass(frozen=True, slots=True)
class Field:
    """A reel field's fixed data: strips, heights, symbols' names, lines as rows per reel, prizes."""

    strips: tuple[tuple[str, ...], ...]
    heights: tuple[int, ...]
    names: Mapping[str, Names]
    lines: tuple[tuple[int, ...], ...]
    prizes: tuple[Prize, ...]
    groups: Mapping[str, tuple[str, ...]]
    titles: Mapping[str, Names]
    """What prizes of no one symbol are called."""
    triggers: Mapping[str, int] = field(default_factory=dict)
    """The symbols that bring a feature wherever they show, and how many of them it takes."""
    weights: tuple[tuple[int, ...] | None, ...] = ()
    """How often each stop of a reel comes, where some come more often than others."""

    def icons(self, prize: Prize) -> tuple[str, ...]:
        """The symbols that picture a prize: like symbols, or for a group its members in turn."""
        if prize.symbol:
            return (prize.symbol,) * (prize.count if prize.count <= _ICONS_MOST else 1)
        number, _, rest = prize.name.partition(" ")
        members = next((self.groups[g] for g in (rest, rest.partition("-")[2]) if g in self.groups), ())
        return (
            tuple(members[i % len(members)] for i in range(int(number)))
            if members and number.isdigit()
            else ()
        )

    @property
    def reels(self) -> int:
        """How many reels."""
        return len(self.heights)


@dataclass(frozen=True, slots=True)
class Fall:
    """One window of a cascade: the symbols after the last ones fell, and what they win."""

    window: Window
    wins: tuple[WinView, ...]
    multiplier: int


@dataclass(frozen=True, slots=True)
class Result:
    """One spin of the reels: the window by reel when they stand, each reel's stop, and the wins.

    A stop is -1 where the strip does not show the window (a symbol was changed): the reel then runs in from
    a strip made of its window. ``first`` holds the stops of a first spin before a choice of reels to hold.
    ``falls`` are the windows of a cascade, the first being the spin itself; ``evaluated`` is the window that
    was paid where symbols grew in it.
    """

    window: Window
    stops: tuple[int, ...]
    wins: tuple[WinView, ...]
    credits: int
    stage: str = BASE
    multiplier: int = 1
    first: tuple[int, ...] = ()
    falls: tuple[Fall, ...] = ()
    evaluated: Window | None = None
    awaited: tuple[int, ...] = ()
    """Reels that may bring a feature when those before them stand (:func:`awaited_reels`)."""

    @property
    def pictures(self) -> tuple[tuple[Window, tuple[WinView, ...]], ...]:
        """The windows that won, each with its wins; the last window where none did."""
        if not self.falls:
            return ((self.last_window, self.wins),)
        won = tuple((fall.window, fall.wins) for fall in self.falls if fall.wins)
        return won or ((self.last_window, ()),)

    @property
    def last_window(self) -> Window:
        """What stands at the very end."""
        if self.falls:
            return self.falls[-1].window
        return self.window if self.evaluated is None else self.evaluated


def _names(value: object, default: str) -> dict[str, str]:
    inner = value.get("name", value) if isinstance(value, Mapping) else value
    if isinstance(inner, Mapping):
        return {str(code): str(words) for code, words in inner.items() if isinstance(words, str)}
    return {"en": default if inner is None else str(inner)}


def _gives(pay: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    return tuple(
        (str(a["name"]), int(a.get("times", 1)))
        for a in pay.get("gives", ())
        if a.get("kind") in {"stage", "merchandise"}
    )


def _counted(name: str, symbols: Mapping[str, object]) -> tuple[int, str]:
    """``3 loon`` as (3, "loon") where that is a symbol; else (0, "")."""
    count, _, symbol = name.partition(" ")
    return (int(count), symbol) if count.isdigit() and symbol in symbols else (0, "")


def _every_pay(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Each prize once: those of the cheapest bet, and what only a dearer bet buys, for nothing there."""
    found = {str(pay["name"]): pay for pay in data.get("pays", ()) if isinstance(pay, Mapping)}
    for entry in data.get("bets", ()):
        for pay in entry.get("pays", ()):
            found.setdefault(str(pay["name"]), {**pay, "credits": 0})
    return list(found.values())


def read_field(game: GameView, stage: str = BASE) -> Field:
    """The reel field of a game's presentation in one stage. Raises :class:`OutcomeError`."""
    data = game.presentation
    try:
        place = data.get("stages", {}).get(stage, data)
        strips = tuple(tuple(str(s) for s in strip) for strip in place["strips"])
        heights = tuple(int(h) for h in place.get("heights") or [3] * len(strips))
        symbols = data.get("symbols", {})
        groups = {str(name): tuple(map(str, members)) for name, members in data.get("groups", {}).items()}
        titles = {str(word): _names(named, str(word)) for word, named in data.get("names", {}).items()}
        lines = tuple(tuple(int(row) for row in line) for line in place.get("lines") or ())
        prizes = tuple(
            Prize(str(pay["name"]), *_counted(str(pay["name"]), symbols), int(pay["credits"]), _gives(pay))
            for pay in _every_pay(data)
        )
        triggers = _triggers(prizes, data.get("anywhere", ()), data.get("stages", ()))
        weighed = place.get("weights") or ()
        weights = tuple(None if told is None else tuple(map(int, told)) for told in weighed)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise OutcomeError(f"game {game.id}: presentation: {error!r}") from error
    if not strips or len(strips) != len(heights) or any(not strip for strip in strips):
        raise OutcomeError(f"game {game.id}: presentation: {len(strips)} strips for {len(heights)} reels")
    ids = {symbol for strip in strips for symbol in strip} | {str(key) for key in symbols}
    names = {symbol: _names(symbols.get(symbol), symbol) for symbol in sorted(ids)}
    return Field(strips, heights, names, lines, prizes, groups, titles, triggers, weights)


def bet_level(game: GameView, bet_credits: int) -> int:
    """How many times a bet buys the game's cheapest play of its kind: the prizes are for one."""
    bets = [entry for entry in game.presentation.get("bets", ()) if isinstance(entry, Mapping)]
    costs = [int(entry.get("cost", 0)) for entry in bets]
    levels = game.presentation.get("levels", ())
    fitting = [bet_credits // c for c in costs if c and bet_credits % c == 0 and bet_credits // c in levels]
    return max(1, fitting[0] if fitting else bet_credits // min(game.bet_options, default=1))


def prize_at(game: GameView, name: str, lowest: int, bet_credits: int) -> int:
    """What a prize pays at a bet, in credits: a bet that buys more of the pay table has its own (C-22)."""
    levels = game.presentation.get("levels", ())
    for entry in game.presentation.get("bets", ()):
        cost = int(entry.get("cost", 0))
        if not cost or bet_credits % cost or bet_credits // cost not in levels or not entry.get("pays"):
            continue
        pays = {str(pay["name"]): int(pay["credits"]) for pay in entry["pays"]}
        return pays.get(name, 0) * (bet_credits // cost)
    return lowest * bet_level(game, bet_credits)


def stages_of(game: GameView) -> tuple[str, ...]:
    """The stages of a game that are played on reels."""
    stages = game.presentation.get("stages", {BASE: game.presentation})
    return tuple(name for name, stage in stages.items() if "strips" in stage)


def _triggers(prizes: Sequence[Prize], anywhere: Sequence[str], stages: Sequence[str]) -> dict[str, int]:
    """The least number of each symbol, counted anywhere, that brings a feature."""
    found: dict[str, int] = {}
    for prize in prizes:
        if prize.symbol in anywhere and any(given in stages for given, _ in prize.gives):
            found[prize.symbol] = min(prize.count, found.get(prize.symbol, prize.count))
    return found


def awaited_reels(place: Field, window: Window) -> tuple[int, ...]:
    """The reels that may bring a feature by one symbol more than stands on the reels before them.

    Told by what can be seen and by the true odds alone, never by what the reel will show: it is awaited as
    often when it brings nothing (B-17). A reel that would seldom bring it is not.
    """
    awaited = set()
    for symbol, needed in place.triggers.items():
        seen = 0
        for reel, column in enumerate(window):
            if seen == needed - 1 and _shows(place, reel, symbol) >= _AWAITED_LEAST:
                awaited.add(reel)
            seen += column.count(symbol)
    return tuple(sorted(awaited))


def _shows(place: Field, reel: int, symbol: str) -> Fraction:
    """How probable it is that a reel shows a symbol."""
    strip, height = place.strips[reel], place.heights[reel]
    told = place.weights[reel] if reel < len(place.weights) else None
    weights = told or (1,) * len(strip)
    shows = [
        symbol in (strip[(stop + row) % len(strip)] for row in range(height)) for stop in range(len(strip))
    ]
    return Fraction(sum(w for w, shown in zip(weights, shows, strict=True) if shown), sum(weights))


def _locate(strip: Sequence[str], window: Sequence[str], hint: int) -> int:
    """Where the strip shows the window: at the stop hinted at if that fits, else the nearest; -1: nowhere."""
    count = len(strip)
    fits = [
        i
        for i in range(count)
        if all(strip[(i + row) % count] == symbol for row, symbol in enumerate(window))
    ]
    return min(fits, key=lambda i: min((i - hint) % count, (hint - i) % count), default=-1)


def read_result(field: Field, display: Mapping[str, Any]) -> Result:
    """One spin of the reels. Raises :class:`OutcomeError` where it does not fit the field."""
    try:
        stops = [int(s) for s in display.get("stops") or [0] * field.reels]
        window = _window(display["window"], field)
        wins = _wins(display, field)
        falls = tuple(
            Fall(
                _window(fall["window"], field),
                _paid(_wins(fall, field), wins),
                int(fall.get("multiplier", 1)),
            )
            for fall in display.get("falls", ())
        )
        evaluated = _window(display["evaluated"], field) if "evaluated" in display else None
        first = tuple(int(s) for s in display.get("first_stops", ()))
        return Result(
            window,
            tuple(_locate(*three) for three in zip(field.strips, window, stops, strict=True)),
            wins,
            int(display.get("credits", sum(win.credits for win in wins))),
            stage=str(display.get("stage", BASE)),
            multiplier=int(display.get("multiplier", 1)),
            first=first,
            falls=falls,
            evaluated=evaluated,
            awaited=() if first else awaited_reels(field, window),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise OutcomeError(f"display: {error!r}") from error


def _window(data: Any, field: Field) -> Window:
    window = tuple(tuple(str(s) for s in column) for column in data)
    if [len(c) for c in window] != list(field.heights):
        raise OutcomeError(
            f"display: window {[len(c) for c in window]} does not fit reels {list(field.heights)}"
        )
    return window


def _paid(of_fall: tuple[WinView, ...], of_step: tuple[WinView, ...]) -> tuple[WinView, ...]:
    """The wins of one fall as paid: a fall tells them for the lowest bet, its step for the bet made."""
    return tuple(
        next((win for win in of_step if (win.name, win.positions) == (one.name, one.positions)), one)
        for one in of_fall
    )


def _wins(data: Mapping[str, Any], field: Field) -> tuple[WinView, ...]:
    wins = tuple(_read_win(win, field) for win in data.get("wins", ()))
    for win in wins:
        for reel, row in win.positions:
            if not (0 <= reel < field.reels and 0 <= row < field.heights[reel]):
                raise OutcomeError(f"display: win position {reel},{row} is outside the window")
    return wins


def _read_win(win: Mapping[str, Any], field: Field) -> WinView:
    line = win.get("number", win.get("line")) if win.get("on", "line") == "line" else None
    name = str(win.get("name", ""))
    count, symbol = _counted(name, field.names)
    return WinView(
        positions=tuple((int(reel), int(row)) for reel, row in win.get("positions", ())),
        credits=int(win.get("credits", 0)),
        line=None if line is None else int(line),
        name=name,
        count=count,
        symbol=symbol,
    )
