"""What a game published and what an outcome showed, as the reel field draws them.

The data come from ``paytables`` as JSON; what a family adds that this screen does not know is left alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from egm.link.messages import GameView


class OutcomeError(Exception):
    """A display that does not fit its game: says what does not fit."""


@dataclass(frozen=True, slots=True)
class WinView:
    """One win: its positions (reel, row), its line (1-based, or None), what it pays, and its name by language."""

    positions: tuple[tuple[int, int], ...]
    credits: int
    line: int | None
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Field:
    """A reel game's fixed data: strips, heights, symbol names by language, and lines as rows per reel."""

    strips: tuple[tuple[str, ...], ...]
    heights: tuple[int, ...]
    names: Mapping[str, Mapping[str, str]]
    lines: tuple[tuple[int, ...], ...]
    pays: tuple[Mapping[str, Any], ...]

    @property
    def reels(self) -> int:
        """How many reels."""
        return len(self.heights)


@dataclass(frozen=True, slots=True)
class Result:
    """What the reels show at the end: the window by reel, the stop of each reel, and the wins."""

    window: tuple[tuple[str, ...], ...]
    stops: tuple[int, ...]
    wins: tuple[WinView, ...]


def _names(value: object, default: str) -> dict[str, str]:
    if isinstance(value, str):
        return {"en": value}
    if isinstance(value, Mapping):
        inner = value.get("name", value)
        if isinstance(inner, Mapping):
            return {str(code): str(words) for code, words in inner.items()}
        return {"en": str(inner)}
    return {"en": default}


def read_field(game: GameView) -> Field:
    """The reel field of a game's presentation. Raises :class:`OutcomeError`."""
    data = game.presentation
    try:
        strips = tuple(tuple(str(s) for s in strip) for strip in data["strips"])
        heights = tuple(int(h) for h in data.get("heights") or [3] * len(strips))
        symbols = data.get("symbols", {})
        lines = tuple(tuple(int(row) for row in line) for line in data.get("lines", ()))
        pays = tuple(pay for pay in data.get("pays", ()) if isinstance(pay, Mapping))
    except (KeyError, TypeError, ValueError) as error:
        raise OutcomeError(f"game {game.id}: presentation: {error!r}") from error
    if not strips or len(strips) != len(heights) or any(not strip for strip in strips):
        raise OutcomeError(f"game {game.id}: presentation: {len(strips)} strips for {len(heights)} reels")
    ids = {symbol for strip in strips for symbol in strip} | {str(key) for key in symbols}
    names = {symbol: _names(symbols.get(symbol), symbol) for symbol in sorted(ids)}
    return Field(strips, heights, names, lines, pays)


def _locate(strip: Sequence[str], window: Sequence[str], hint: int | None) -> int | None:
    """The stop at whose place the strip shows the window: the one hinted at if it fits, else the first."""
    count = len(strip)
    fits = [i for i in range(count) if all(strip[(i + row) % count] == symbol for row, symbol in enumerate(window))]
    if hint is None:
        return fits[0] if fits else None
    near = sorted(fits, key=lambda i: min((i - hint) % count, (hint - i) % count))
    return near[0] if near else None


def read_result(field: Field, display: Mapping[str, Any]) -> Result:
    """The final picture of an outcome's display. Raises :class:`OutcomeError` where it does not fit the field."""
    try:
        stops = [int(s) for s in display.get("stops") or [0] * field.reels]
        raw = display.get("window")
        window = (
            [[str(s) for s in column] for column in raw] if raw
            else [[strip[(stop + row) % len(strip)] for row in range(height)]
                  for strip, stop, height in zip(field.strips, stops, field.heights, strict=True)]
        )
        wins = tuple(_read_win(win) for win in display.get("wins", ()))
    except (KeyError, TypeError, ValueError) as error:
        raise OutcomeError(f"display: {error!r}") from error
    if len(window) != field.reels or any(len(column) != height for column, height in zip(window, field.heights, strict=True)):
        raise OutcomeError(f"display: window {[len(c) for c in window]} does not fit reels {list(field.heights)}")
    for win in wins:
        for reel, row in win.positions:
            if not (0 <= reel < field.reels and 0 <= row < field.heights[reel]):
                raise OutcomeError(f"display: win position {reel},{row} is outside the window")
    found = [
        _locate(strip, column, stop) for strip, column, stop in zip(field.strips, window, stops, strict=True)
    ]
    return Result(tuple(tuple(c) for c in window), tuple(-1 if stop is None else stop for stop in found), wins)


def _read_win(win: Mapping[str, Any]) -> WinView:
    line = win.get("line")
    return WinView(
        positions=tuple((int(reel), int(row)) for reel, row in win.get("positions", ())),
        credits=int(win.get("credits", 0)),
        line=None if line is None else int(line),
        names=_names(win.get("name"), ""),
    )
