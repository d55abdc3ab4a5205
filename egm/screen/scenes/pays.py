"""The table of pays of a game of cards: each row at the bet in force, and what was won of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from egm.screen.painter import Rect, Style
from egm.screen.scenes.stage import Stage, caption
from egm.screen.steps import TableStep
from egm.screen.table import Spot, is_table
from egm.screen.view import last_step, playing

#: A row is no higher than this; so much stands between two, and at either end of one.
_ROW: Final = 52.0
_BETWEEN: Final = 5.5
_INSET: Final = 10.0
_LEADING: Final = 1.16
#: The sizes a name may have, the largest first, and that of the figure beside it.
_FIGURES: Final = {"small": "body", "caption": "small", "tiny": "caption"}
_SIZES: Final = tuple(_FIGURES)


@dataclass(frozen=True, slots=True)
class Pay:
    """A row of a table of pays as a game publishes it (:file:`paytables/FELTS.md`)."""

    name: str
    names: Mapping[str, str]
    odds: str
    credits: int
    by_credits: Mapping[str, int]
    """What it pays at each bet, by its credits, where that is no multiple of one bet's."""
    spot: str
    """The spot whose bet it is of; empty where the game has one bet."""


def pays_of(stage: Stage) -> list[Pay]:
    """The rows of the game's table of pays, the highest first."""
    game = stage.view.game
    return [
        Pay(
            str(told["name"]),
            told["names"],
            str(told.get("odds", "")),
            int(told.get("credits", 0)),
            told.get("by_credits", {}),
            str(told.get("spot", "")),
        )
        for told in (game.presentation.get("pays", ()) if game is not None and is_table(game) else ())
    ]


@dataclass(frozen=True, slots=True)
class PayRow:
    """A row of a table of pays as it is read: what is won, what it pays, whether it was won just now."""

    words: str
    pays: str
    won: bool = False


def rows_of(stage: Stage, spot: Spot) -> list[Pay]:
    """The rows of the table of pays that say more of a spot than its odds."""
    rows = [pay for pay in pays_of(stage) if pay.spot == spot.id]
    return rows if len(rows) > 1 or any(paid(stage, pay) != spot.odds for pay in rows) else []


def odds_told(stage: Stage, spot: Spot) -> str:
    """The odds of a spot: of several pays its own, and up to what."""
    rows = [paid(stage, pay) for pay in rows_of(stage, spot)]
    if set(rows) <= {spot.odds}:
        return spot.odds
    most = max((spot.odds, *rows), key=_worth)
    key = "felt.up_to" if most == spot.odds else "felt.odds_up_to"
    return stage.texts.say(key, odds=spot.odds, most=most)


def _worth(odds: str) -> tuple[bool, Fraction]:
    """What odds are worth beside others: a part of a level is more than any sum."""
    if odds.endswith("%"):
        return True, Fraction(odds.rstrip("% "))
    if odds.startswith("x"):
        return False, Fraction(odds[1:])
    net, _, of = odds.partition(":")
    return False, Fraction(net) / Fraction(of)


def draw_pays(stage: Stage, rect: Rect, rows: Sequence[Pay]) -> None:
    """Rows of the table of pays at the bet in force; the one that was won is lit."""
    draw_rows(stage, rect, _said(stage, rows))


def _said(stage: Stage, rows: Sequence[Pay]) -> list[PayRow]:
    won, times = _won(stage), _times(stage)
    found: list[PayRow] = []
    for pay in rows:
        words, count = stage.texts.local(pay.names), times[pay.name]
        words = stage.texts.say("felt.times", count=count, name=words) if count else words
        found.append(PayRow(words, paid(stage, pay), won=count > 0 or pay.name == won))
    return found


def _names(stage: Stage, rows: Sequence[PayRow], width: float, size: str) -> list[list[str]]:
    """The name of each row in lines beside what it pays."""
    p, style, pays = stage.painter, Style("strong", size, "text"), Style("numbers", _FIGURES[size], "meter")
    room = width - 2 * _INSET - _INSET - max((p.measure(row.pays, pays) for row in rows), default=0.0)
    return [p.balanced(row.words, room, style) for row in rows]


def _high(stage: Stage, lines: Sequence[str], size: str) -> float:
    return len(lines) * stage.theme.sizes[size] * _LEADING + _BETWEEN


def rows_height(stage: Stage, rows: Sequence[PayRow], width: float, size: str = _SIZES[-1]) -> float:
    """How high rows are at least that stand in this width at this size, the smallest that can be read."""
    return sum(_high(stage, lines, size) for lines in _names(stage, rows, width, size))


def draw_rows(stage: Stage, rect: Rect, rows: Sequence[PayRow], most: float = _ROW) -> float:
    """Rows as large as fit, none higher than ``most``, long names on lines; returns how high they are."""
    p, (x, y, w, h) = stage.painter, rect
    size = next((each for each in _SIZES if rows_height(stage, rows, w, each) <= h), _SIZES[-1])
    named = _names(stage, rows, w, size)
    more = (h - rows_height(stage, rows, w, size)) / max(1, len(rows))
    style, pays = Style("strong", size, "text"), Style("numbers", _FIGURES[size], "meter")
    line, top = stage.theme.sizes[size] * _LEADING, y
    for row, lines in zip(rows, named, strict=True):
        least = _high(stage, lines, size)
        high = max(least, min(most, least + more))
        if row.won:
            p.panel((x, top, w, high), radius=8, fill=(122, 66, 8, 255), edge="meter")
        for i, words in enumerate(lines):
            at = top + high / 2 + (i - (len(lines) - 1) / 2) * line
            p.text(words, (x + _INSET, at), style, align="left", width=w)
        p.text(row.pays, (x + w - _INSET, top + high / 2), pays, align="right", width=w / 2)
        top += high
    return top - y


def pays_columns(stage: Stage, rect: Rect, key: Rect) -> list[tuple[Rect, list[Pay]]]:
    """The table of pays of a telephone in two columns as low as may be, the right one below a key."""
    x, y, w, _ = rect
    wide, rows = (w - _INSET) / 2, pays_of(stage)
    highs = [_high(stage, lines, "caption") for lines in _names(stage, _said(stage, rows), wide, "caption")]
    top = key[1] + key[3] - y
    cut = min(range(len(rows) + 1), key=lambda n: max(sum(highs[:n]), top + sum(highs[n:])))
    return [
        ((x, y, wide, sum(highs[:cut])), rows[:cut]),
        ((x + w - wide, y + top, wide, sum(highs[cut:])), rows[cut:]),
    ]


def draw_pays_columns(stage: Stage, rect: Rect, key: Rect) -> None:
    """Those columns, with what they are of beside the key."""
    columns = pays_columns(stage, rect, key)
    for place, rows in columns:
        draw_pays(stage, place, rows)
    (x, _, _, _), _ = columns[1]
    style = Style("heavy", "small", stage.look.accent)
    stage.painter.label(pays_heading(stage), (x + _INSET, key[1], key[0] - x - 2 * _INSET, key[3]), style)


def _won(stage: Stage) -> str:
    """The pay that the hand on the table won, or has when cards are to be held."""
    step, view = last_step(stage.view), stage.view
    if not isinstance(step, TableStep) or view.snapshot is None:
        return ""
    taken = view.snapshot.state == "idle" and not view.snapshot.win_cents and view.decision is None
    return "" if taken or playing(view, stage.theme) else str(step.display.get("won") or "")


def _times(stage: Stage) -> Counter[str]:
    """How many of several hands won each pay; nothing of one hand."""
    step = last_step(stage.view)
    if not _won(stage) or not isinstance(step, TableStep):
        return Counter()
    hands = step.display.get("hands", ())
    return Counter(str(hand["won"]) for hand in hands if hand.get("won")) if len(hands) > 1 else Counter()


def paid(stage: Stage, pay: Pay) -> str:
    """What a row pays: at the bet in force where the game says it bet by bet."""
    if pay.odds:
        return pay.odds
    snapshot = stage.view.snapshot
    if snapshot is None:
        return stage.texts.number(pay.credits)
    bet = str(snapshot.bet_credits // _hands_bought(stage))
    return stage.texts.number(pay.by_credits.get(bet, pay.credits))


def _hands_bought(stage: Stage) -> int:
    """How many hands the bet in force buys: as the player said, else the fewest that fit its price."""
    snapshot, game = stage.view.snapshot, stage.view.game
    if snapshot is None or game is None:
        return 1
    if "hands" in snapshot.bet_wager:
        return max(1, int(snapshot.bet_wager["hands"]))
    bets = game.presentation.get("bets", {})
    for hands in map(int, bets.get("hands", ())):
        each, rest = divmod(snapshot.bet_credits, hands)
        if not rest and each in bets["credits"]:
            return hands
    return 1


def pays_heading(stage: Stage) -> str:
    """What the table of pays is of: several hands say how many they are, and what is bet on each."""
    hands, snapshot = _hands_bought(stage), stage.view.snapshot
    if hands == 1 or snapshot is None:
        return stage.texts.say("felt.pays")
    amount = stage.money(snapshot.bet_credits // hands * snapshot.denomination_cents)
    return stage.texts.say("felt.hands_at", hands=hands, amount=amount)


def pays_glasses(stage: Stage) -> bool:
    """The table of pays on the left glass, on both where that has no room; False where the game has none."""
    rows, layout = pays_of(stage), stage.layout
    if not rows or layout.slim:
        return bool(rows)
    heading, room = pays_heading(stage), layout.left[3] - 54 - 62
    fits = rows_height(stage, _said(stage, rows), layout.left[2] - 24, "caption") <= room
    half = len(rows) if fits else -(-len(rows) // 2)
    for (gx, gy, gw, _), part in ((layout.left, rows[:half]), (layout.right, rows[half:])):
        if part:
            caption(stage, heading, (gx + 10, gy + 10, gw - 20, 40))
            draw_pays(stage, (gx + 12, gy + 54, gw - 24, room), part)
    return True
