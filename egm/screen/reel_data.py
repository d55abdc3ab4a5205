"""The data of reel games: what a game publishes about its reels, and the spins of its outcomes.

The data come from ``paytables`` as JSON. Fields that this screen does not know are ignored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from egm.kernel.messages import GameView

#: A text by language code.
TextByLanguage = Mapping[str, str]
#: The symbols shown: for each reel, its symbols from top to bottom.
ReelWindow = tuple[tuple[str, ...], ...]

#: The usual name of a game's first stage. Data that name no stage mean this one.
BASE_STAGE: Final = "base"
#: A prize for more equal symbols than this is drawn as one symbol; the prize's name states the count.
_PRIZE_ICONS_MAX: Final = 5
#: A reel spins longer only if the missing symbol appears on it with at least this probability.
_ANTICIPATION_PROBABILITY_MIN: Final = Fraction(1, 25)


class GameDataError(Exception):
    """Raised if a game's published data, or the data of one of its outcomes, are invalid; the message says why."""


@dataclass(frozen=True, slots=True)
class WinOnReels:
    """One win in a spin of the reels: the prize, what it pays, and which symbols form it."""

    positions: tuple[tuple[int, int], ...]
    """The positions of the winning symbols, each as (reel, row) from 0."""
    credits: int
    line_number: int | None
    """The pay line's number, from 1; None for a win that is not on a line."""
    name: str
    """The name of the prize, for example ``3 loon``."""
    symbol_count: int
    """How many symbols ``symbol`` form the win; 0 if the prize is not for a number of equal symbols."""
    symbol: str
    """The winning symbol; empty if the prize is not for a number of equal symbols."""


@dataclass(frozen=True, slots=True)
class ReelPrize:
    """One prize (row) of a reel game's pay table, with the values that hold for the game's lowest bet.

    If the prize is not for a number of equal symbols, ``symbol_count`` is 0 and ``symbol`` is empty.
    """

    name: str
    symbol_count: int
    symbol: str
    credits: int
    additional_awards: tuple[tuple[str, int], ...] = ()
    """What the prize awards besides credits: the name and count of each stage (such as free games) or prize in kind."""


@dataclass(frozen=True, slots=True)
class ReelData:
    """The fixed data of a game's reels."""

    reel_strips: tuple[tuple[str, ...], ...]
    """The symbols of each reel's strip."""
    reel_heights: tuple[int, ...]
    """How many symbols of each reel are visible."""
    symbol_names: Mapping[str, TextByLanguage]
    """The name of each symbol, by symbol and language."""
    pay_lines: tuple[tuple[int, ...], ...]
    """The pay lines. Each lists the row (from 0) that the line crosses on every reel."""
    prizes: tuple[ReelPrize, ...]
    symbol_groups: Mapping[str, tuple[str, ...]]
    """The symbols of each group of symbols that can win together, such as any bars, by the group's name."""
    prize_names: Mapping[str, TextByLanguage]
    """The names of prizes that are not for a number of equal symbols, by prize and language."""
    trigger_count_by_symbol: Mapping[str, int] = field(default_factory=dict)
    """How many of a scatter symbol, anywhere in the window, trigger a stage such as free games; by scatter symbol."""
    stop_weights: tuple[tuple[int, ...] | None, ...] = ()
    """The weights of each reel's stops; None for a reel whose stops are equally likely."""
    initial_stops: tuple[int, ...] = ()
    """The stops that the reels show before the first game."""

    def list_prize_icons(self, prize: ReelPrize) -> tuple[str, ...]:
        """Return the symbols that illustrate a prize.

        For a prize for a number of equal symbols, the symbol is repeated that many times, or returned once if that is
        more than ``_PRIZE_ICONS_MAX``. For a prize for a number of any symbols of a group, return as many
        symbols of the group, each in turn. Return an empty tuple for any other prize.
        """
        if prize.symbol:
            return (prize.symbol,) * (prize.symbol_count if prize.symbol_count <= _PRIZE_ICONS_MAX else 1)
        number, _, remainder = prize.name.partition(" ")
        group_symbols = next(
            (
                self.symbol_groups[g]
                for g in (remainder, remainder.partition("-")[2])
                if g in self.symbol_groups
            ),
            (),
        )
        return (
            tuple(group_symbols[i % len(group_symbols)] for i in range(int(number)))
            if group_symbols and number.isdigit()
            else ()
        )

    @property
    def reel_count(self) -> int:
        """Return the number of reels."""
        return len(self.reel_heights)


@dataclass(frozen=True, slots=True)
class CascadeWindow:
    """One window of a cascade, and its wins.

    In a cascade, winning symbols disappear and new symbols fall into the window, until there is no new win.
    """

    window: ReelWindow
    wins: tuple[WinOnReels, ...]
    multiplier: int


@dataclass(frozen=True, slots=True)
class ReelSpin:
    """One spin of the reels and its wins."""

    window: ReelWindow
    """The visible symbols of each reel after it stopped."""
    stops: tuple[int, ...]
    """The strip position at which each reel stopped.

    A position is -1 if the strip does not have the symbols of the window, because a symbol was changed. The reel is
    then drawn with a strip made of its window.
    """
    wins: tuple[WinOnReels, ...]
    credits: int
    stage: str = BASE_STAGE
    multiplier: int = 1
    stops_before_hold: tuple[int, ...] = ()
    """The stops of the first spin, before the player chose reels to hold; empty without a first spin."""
    cascade_windows: tuple[CascadeWindow, ...] = ()
    """The windows of a cascade; the first is the window of the spin itself. Empty without a cascade."""
    evaluated_window: ReelWindow | None = None
    """The window that was paid, if it differs from ``window`` because symbols expanded; otherwise None."""
    anticipation_reels: tuple[int, ...] = ()
    """The reels that spin longer to build anticipation (:func:`find_anticipation_reels`)."""

    @property
    def windows_to_show(self) -> tuple[tuple[ReelWindow, tuple[WinOnReels, ...]], ...]:
        """Return the reel windows to show, each with its wins.

        After a cascade they are the windows with a win or, if none won, the last window.
        """
        if not self.cascade_windows:
            return ((self.last_window, self.wins),)
        winning_windows = tuple(
            (cascade_window.window, cascade_window.wins)
            for cascade_window in self.cascade_windows
            if cascade_window.wins
        )
        return winning_windows or ((self.last_window, ()),)

    @property
    def last_window(self) -> ReelWindow:
        """Return the window at the end of the spin."""
        if self.cascade_windows:
            return self.cascade_windows[-1].window
        return self.window if self.evaluated_window is None else self.evaluated_window


def _read_names(name_or_names: object, default_name: str) -> dict[str, str]:
    """Return a name by language code.

    ``name_or_names`` is a mapping by language, a plain text, or a mapping with either under ``name``. A plain text is
    taken as English. For None, return ``default_name`` as English.
    """
    text_or_translations = (
        name_or_names.get("name", name_or_names) if isinstance(name_or_names, Mapping) else name_or_names
    )
    if isinstance(text_or_translations, Mapping):
        return {str(code): str(text) for code, text in text_or_translations.items() if isinstance(text, str)}
    return {"en": default_name if text_or_translations is None else str(text_or_translations)}


def _read_additional_awards(pay: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    """Return the stages (such as free games) and prizes in kind that a prize awards, each with its count.

    ``pay`` is one prize of the game's published pay table.
    """
    return tuple(
        (str(a["name"]), int(a.get("times", 1)))
        for a in pay.get("gives", ())
        if a.get("kind") in {"stage", "merchandise"}
    )


def _parse_counted_symbol(prize_name: str, symbols: Mapping[str, object]) -> tuple[int, str]:
    """Return a prize name such as ``3 loon`` as (3, "loon") if that is a symbol; otherwise (0, "")."""
    count, _, symbol = prize_name.partition(" ")
    return (int(count), symbol) if count.isdigit() and symbol in symbols else (0, "")


def _list_pay_table_data(game_data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the data of a game's pay table, one mapping for each prize, with the values for the lowest bet.

    A prize that only a higher bet can win has the value 0 credits.
    """
    pay_by_name = {str(pay["name"]): pay for pay in game_data.get("pays", ()) if isinstance(pay, Mapping)}
    for bet_data in game_data.get("bets", ()):
        for pay in bet_data.get("pays", ()):
            pay_by_name.setdefault(str(pay["name"]), {**pay, "credits": 0})
    return list(pay_by_name.values())


def read_reel_data(game: GameView, stage: str = BASE_STAGE) -> ReelData:
    """Return the fixed reel data of one stage of a game, from its published data. Raises :class:`GameDataError`."""
    data = game.presentation
    try:
        stage_data = data.get("stages", {}).get(stage, data)
        strips = tuple(tuple(str(s) for s in strip) for strip in stage_data["strips"])
        initial_stops = tuple(int(stop) for stop in stage_data.get("rest") or [0] * len(strips))
        heights = tuple(int(h) for h in stage_data.get("heights") or [3] * len(strips))
        symbols = data.get("symbols", {})
        groups = {str(name): tuple(map(str, members)) for name, members in data.get("groups", {}).items()}
        prize_names = {
            str(word): _read_names(names_data, str(word))
            for word, names_data in data.get("names", {}).items()
        }
        lines = tuple(tuple(int(row) for row in line) for line in stage_data.get("lines") or ())
        prizes = tuple(
            ReelPrize(
                str(pay["name"]),
                *_parse_counted_symbol(str(pay["name"]), symbols),
                int(pay["credits"]),
                _read_additional_awards(pay),
            )
            for pay in _list_pay_table_data(data)
        )
        trigger_count_by_symbol = _find_trigger_counts(
            prizes, data.get("anywhere", ()), data.get("stages", ())
        )
        weights_by_reel = tuple(
            None if stop_weights is None else tuple(map(int, stop_weights))
            for stop_weights in stage_data.get("weights") or ()
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise GameDataError(f"game {game.id}: presentation: {error!r}") from error
    if not strips or len(strips) != len(heights) or any(not strip for strip in strips):
        raise GameDataError(f"game {game.id}: presentation: {len(strips)} strips for {len(heights)} reels")
    symbol_ids = {symbol for strip in strips for symbol in strip} | {str(key) for key in symbols}
    symbol_names = {symbol: _read_names(symbols.get(symbol), symbol) for symbol in sorted(symbol_ids)}
    if len(initial_stops) != len(strips):
        raise GameDataError(
            f"game {game.id}: presentation: {len(initial_stops)} stops for {len(strips)} reels"
        )
    return ReelData(
        reel_strips=strips,
        reel_heights=heights,
        symbol_names=symbol_names,
        pay_lines=lines,
        prizes=prizes,
        symbol_groups=groups,
        prize_names=prize_names,
        trigger_count_by_symbol=trigger_count_by_symbol,
        stop_weights=weights_by_reel,
        initial_stops=initial_stops,
    )


def compute_bet_multiple(game: GameView, bet_credits: int) -> int:
    """Return by which factor the stated prizes are multiplied at a bet of ``bet_credits``.

    Prizes are stated for the lowest bet of each mode (a way to bet, such as on one line or on all lines). The factor is
    the bet divided by the lowest bet of its mode.
    """
    bets = [bet_data for bet_data in game.presentation.get("bets", ()) if isinstance(bet_data, Mapping)]
    costs = [int(bet_data.get("cost", 0)) for bet_data in bets]
    levels = game.presentation.get("levels", ())
    multiples = [bet_credits // c for c in costs if c and bet_credits % c == 0 and bet_credits // c in levels]
    return max(1, multiples[0] if multiples else bet_credits // min(game.bet_options, default=1))


def compute_prize_at_bet(
    game: GameView, prize_name: str, credits_at_lowest_bet: int, bet_credits: int
) -> int:
    """Return what a prize pays at a bet, in credits.

    If the game publishes the pay table of the bet's mode (C-22), the prize is read from it. Otherwise it is
    ``credits_at_lowest_bet`` times the bet's multiple (:func:`compute_bet_multiple`).
    """
    levels = game.presentation.get("levels", ())
    for bet_data in game.presentation.get("bets", ()):
        cost = int(bet_data.get("cost", 0))
        if not cost or bet_credits % cost or bet_credits // cost not in levels or not bet_data.get("pays"):
            continue
        pays = {str(pay["name"]): int(pay["credits"]) for pay in bet_data["pays"]}
        return pays.get(prize_name, 0) * (bet_credits // cost)
    return credits_at_lowest_bet * compute_bet_multiple(game, bet_credits)


def list_reel_stages(game: GameView) -> tuple[str, ...]:
    """Return the names of the stages of a game (such as base game, free games) that are played on reels."""
    stages = game.presentation.get("stages", {BASE_STAGE: game.presentation})
    return tuple(name for name, stage in stages.items() if "strips" in stage)


def _find_trigger_counts(
    prizes: Sequence[ReelPrize], scatter_symbols: Sequence[str], stages: Sequence[str]
) -> dict[str, int]:
    """Return the lowest count of symbols that triggers a stage, by scatter symbol."""
    trigger_count_by_symbol: dict[str, int] = {}
    for prize in prizes:
        if prize.symbol in scatter_symbols and any(
            award_id in stages for award_id, _ in prize.additional_awards
        ):
            trigger_count_by_symbol[prize.symbol] = min(
                prize.symbol_count, trigger_count_by_symbol.get(prize.symbol, prize.symbol_count)
            )
    return trigger_count_by_symbol


def find_anticipation_reels(reel_data: ReelData, window: ReelWindow) -> tuple[int, ...]:
    """Return the reels that spin longer to build anticipation.

    On such a reel, one more scatter symbol would trigger a stage (such as free games), and the probability that it
    appears has at least a fixed minimum. Whether a reel is chosen depends only on the reels to its left and the true
    probabilities, never on its own result, so the longer spin reveals nothing (B-17).
    """
    anticipation_reels = set()
    for symbol, trigger_count in reel_data.trigger_count_by_symbol.items():
        symbol_count = 0
        for reel, column in enumerate(window):
            if (
                symbol_count == trigger_count - 1
                and _compute_symbol_probability(reel_data, reel, symbol) >= _ANTICIPATION_PROBABILITY_MIN
            ):
                anticipation_reels.add(reel)
            symbol_count += column.count(symbol)
    return tuple(sorted(anticipation_reels))


def _compute_symbol_probability(reel_data: ReelData, reel: int, symbol: str) -> Fraction:
    """Return the probability that a reel stops with at least one of the symbol in its window."""
    strip, height = reel_data.reel_strips[reel], reel_data.reel_heights[reel]
    stop_weights = reel_data.stop_weights[reel] if reel < len(reel_data.stop_weights) else None
    weights = stop_weights or (1,) * len(strip)
    is_shown_at_stop = [
        symbol in (strip[(stop + row) % len(strip)] for row in range(height)) for stop in range(len(strip))
    ]
    return Fraction(
        sum(weight for weight, is_shown in zip(weights, is_shown_at_stop, strict=True) if is_shown),
        sum(weights),
    )


def _find_stop(strip: Sequence[str], window: Sequence[str], preferred_stop: int) -> int:
    """Return the position on a strip at which it shows the symbols of ``window``; -1 without such a position.

    If there are several, return the one nearest to the position ``preferred_stop``.
    """
    count = len(strip)
    matching_stops = [
        i
        for i in range(count)
        if all(strip[(i + row) % count] == symbol for row, symbol in enumerate(window))
    ]
    return min(
        matching_stops,
        key=lambda i: min((i - preferred_stop) % count, (preferred_stop - i) % count),
        default=-1,
    )


def read_reel_spin(reel_data: ReelData, display: Mapping[str, Any]) -> ReelSpin:
    """Return one spin of the reels from an outcome's display data.

    Raises GameDataError if the data do not fit ``reel_data``.
    """
    try:
        stops = [int(s) for s in display.get("stops") or [0] * reel_data.reel_count]
        window = _read_window(display["window"], reel_data)
        wins = _read_wins(display, reel_data)
        cascade_windows = tuple(
            CascadeWindow(
                _read_window(window_data["window"], reel_data),
                _replace_by_paid_wins(_read_wins(window_data, reel_data), wins),
                int(window_data.get("multiplier", 1)),
            )
            for window_data in display.get("falls", ())
        )
        evaluated_window = _read_window(display["evaluated"], reel_data) if "evaluated" in display else None
        stops_before_hold = tuple(int(s) for s in display.get("first_stops", ()))
        return ReelSpin(
            window,
            tuple(
                _find_stop(*strip_window_and_stop)
                for strip_window_and_stop in zip(reel_data.reel_strips, window, stops, strict=True)
            ),
            wins,
            int(display.get("credits", sum(win.credits for win in wins))),
            stage=str(display.get("stage", BASE_STAGE)),
            multiplier=int(display.get("multiplier", 1)),
            stops_before_hold=stops_before_hold,
            cascade_windows=cascade_windows,
            evaluated_window=evaluated_window,
            anticipation_reels=() if stops_before_hold else find_anticipation_reels(reel_data, window),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise GameDataError(f"display: {error!r}") from error


def _read_window(columns_data: Any, reel_data: ReelData) -> ReelWindow:
    """Return the symbols that each reel shows, from an outcome's data.

    Raises GameDataError if they do not fit the heights of the reels.
    """
    window = tuple(tuple(str(s) for s in column) for column in columns_data)
    if [len(c) for c in window] != list(reel_data.reel_heights):
        raise GameDataError(
            f"display: window {[len(c) for c in window]} does not fit reels {list(reel_data.reel_heights)}"
        )
    return window


def _replace_by_paid_wins(
    wins_of_window: tuple[WinOnReels, ...], wins_of_cascade: tuple[WinOnReels, ...]
) -> tuple[WinOnReels, ...]:
    """Return the wins of one window of a cascade, each with the credits that were paid for it.

    ``wins_of_window`` has the wins of that window, with their values at the lowest bet. ``wins_of_cascade`` has all
    wins of the cascade, with the credits paid at the bet made.
    """
    return tuple(
        next(
            (
                paid_win
                for paid_win in wins_of_cascade
                if (paid_win.name, paid_win.positions) == (win.name, win.positions)
            ),
            win,
        )
        for win in wins_of_window
    )


def _read_wins(outcome_data: Mapping[str, Any], reel_data: ReelData) -> tuple[WinOnReels, ...]:
    """Return the wins stated in the data of a reel outcome. Raises GameDataError for a position outside the window."""
    wins = tuple(_read_win(win, reel_data) for win in outcome_data.get("wins", ()))
    for win in wins:
        for reel, row in win.positions:
            if not (0 <= reel < reel_data.reel_count and 0 <= row < reel_data.reel_heights[reel]):
                raise GameDataError(f"display: win position {reel},{row} is outside the window")
    return wins


def _read_win(win_data: Mapping[str, Any], reel_data: ReelData) -> WinOnReels:
    """Return one win from the data of a reel outcome: its positions, credits, line and symbols."""
    line_number = (
        win_data.get("number", win_data.get("line")) if win_data.get("on", "line") == "line" else None
    )
    name = str(win_data.get("name", ""))
    count, symbol = _parse_counted_symbol(name, reel_data.symbol_names)
    return WinOnReels(
        positions=tuple((int(reel), int(row)) for reel, row in win_data.get("positions", ())),
        credits=int(win_data.get("credits", 0)),
        line_number=None if line_number is None else int(line_number),
        name=name,
        symbol_count=count,
        symbol=symbol,
    )
