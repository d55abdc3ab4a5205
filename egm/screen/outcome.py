"""What a game published and what an outcome showed, as the reel field draws them.

The data come from ``paytables`` as JSON; what a family adds that this screen does not know is left alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from egm.link.messages import GameView

Names = Mapping[str, str]
Window = tuple[tuple[str, ...], ...]

BASE: Final = "base"


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


@dataclass(frozen=True, slots=True)
class Field:
    """A reel field's fixed data: strips, heights, symbols' names, lines as rows per reel, prizes."""

    strips: tuple[tuple[str, ...], ...]
    heights: tuple[int, ...]
    names: Mapping[str, Names]
    lines: tuple[tuple[int, ...], ...]
    prizes: tuple[Prize, ...]
    groups: Mapping[str, tuple[str, ...]]

    def icons(self, prize: Prize) -> tuple[str, ...]:
        """The symbols that picture a prize: like symbols, or for a group its members in turn."""
        if prize.symbol:
            return (prize.symbol,) * prize.count
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
class Result:
    """What the reels show when they stand: the window by reel, each reel's stop, and the wins.

    A stop is -1 where the strip does not show the window (a symbol was changed): the reel then runs in from
    a strip made of its window. ``left`` counts the free games still to come after this step.
    """

    window: Window
    stops: tuple[int, ...]
    wins: tuple[WinView, ...]
    credits: int
    stage: str = BASE
    run: int = 1
    left: int = 0


def _names(value: object, default: str) -> dict[str, str]:
    inner = value.get("name", value) if isinstance(value, Mapping) else value
    if isinstance(inner, Mapping):
        return {str(code): str(words) for code, words in inner.items() if isinstance(words, str)}
    return {"en": default if inner is None else str(inner)}


def _counted(name: str, symbols: Mapping[str, object]) -> tuple[int, str]:
    """``3 loon`` as (3, "loon") where that is a symbol; else (0, "")."""
    count, _, symbol = name.partition(" ")
    return (int(count), symbol) if count.isdigit() and symbol in symbols else (0, "")


def read_field(game: GameView, stage: str = BASE) -> Field:
    """The reel field of a game's presentation in one stage. Raises :class:`OutcomeError`."""
    data = game.presentation
    try:
        place = data.get("stages", {}).get(stage, data)
        strips = tuple(tuple(str(s) for s in strip) for strip in place["strips"])
        heights = tuple(int(h) for h in place.get("heights") or [3] * len(strips))
        symbols = data.get("symbols", {})
        groups = {str(name): tuple(map(str, members)) for name, members in data.get("groups", {}).items()}
        lines = tuple(tuple(int(row) for row in line) for line in place.get("lines") or ())
        prizes = tuple(
            Prize(str(pay["name"]), *_counted(str(pay["name"]), symbols), int(pay["credits"]))
            for pay in data.get("pays", ())
            if isinstance(pay, Mapping)
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise OutcomeError(f"game {game.id}: presentation: {error!r}") from error
    if not strips or len(strips) != len(heights) or any(not strip for strip in strips):
        raise OutcomeError(f"game {game.id}: presentation: {len(strips)} strips for {len(heights)} reels")
    ids = {symbol for strip in strips for symbol in strip} | {str(key) for key in symbols}
    names = {symbol: _names(symbols.get(symbol), symbol) for symbol in sorted(ids)}
    return Field(strips, heights, names, lines, prizes, groups)


def stages_of(game: GameView) -> tuple[str, ...]:
    """The stages of a game's presentation; only reel games have any."""
    return tuple(game.presentation.get("stages", {BASE: None})) if "strips" in game.presentation else ()


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
    """The standing picture of one step. Raises :class:`OutcomeError` where it does not fit the field."""
    try:
        stops = [int(s) for s in display.get("stops") or [0] * field.reels]
        window = [[str(s) for s in column] for column in display["window"]]
        wins = tuple(_read_win(win, field) for win in display.get("wins", ()))
        credits_ = int(display.get("credits", sum(win.credits for win in wins)))
        run, left = int(display.get("run", 1)), int(display.get("left", 0))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise OutcomeError(f"display: {error!r}") from error
    if len(stops) != field.reels or [len(c) for c in window] != list(field.heights):
        raise OutcomeError(
            f"display: window {[len(c) for c in window]} does not fit reels {list(field.heights)}"
        )
    for win in wins:
        for reel, row in win.positions:
            if not (0 <= reel < field.reels and 0 <= row < field.heights[reel]):
                raise OutcomeError(f"display: win position {reel},{row} is outside the window")
    found = tuple(_locate(*three) for three in zip(field.strips, window, stops, strict=True))
    return Result(
        tuple(tuple(c) for c in window), found, wins, credits_, str(display.get("stage", BASE)), run, left
    )


def read_steps(fields: Mapping[str, Field], display: Mapping[str, Any]) -> tuple[Result, ...]:
    """Every step of an outcome in order; at least one. Raises :class:`OutcomeError`."""
    steps = display.get("steps") or [display]
    results = []
    for step in steps:
        stage = str(step.get("stage", BASE)) if isinstance(step, Mapping) else BASE
        if stage in fields and "window" in step:
            results.append(read_result(fields[stage], step))
    if not results:
        raise OutcomeError(f"display: no step of the stages {sorted(fields)}")
    return tuple(results)


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
