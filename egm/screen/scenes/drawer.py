"""The drawer of a simulated cabinet: bills to insert, doors to open, keys to turn, faults to cause.

It exists only when the screen was started with a bench. It speaks to the bench, never to the machine.
"""

from dataclasses import dataclass
from typing import Final

from egm.link.messages import BenchCommand
from egm.screen.painter import Rect, Style
from egm.screen.scenes.help import draw_button
from egm.screen.scenes.stage import Stage
from egm.screen.text import Texts
from egm.screen.view import View, drawer_share

BILLS_CENTS: Final = (100, 500, 1000, 2000, 5000, 10000)
DOORS: Final = ("main", "logic", "drop", "cashbox")
ACCEPTOR: Final = "bill-acceptor"
BOARD: Final = "io-board"


@dataclass(frozen=True, slots=True)
class Control:
    """One control of the drawer: where it is, what it says, what it tells the bench."""

    rect: Rect
    words: str
    command: BenchCommand


def _rows(rect: Rect) -> tuple[float, float]:
    return rect[0] + 36, rect[2] - 72


def controls(rect: Rect, view: View, texts: Texts) -> list[Control]:
    """Every control of the drawer when it is fully out."""
    left, width = _rows(rect)
    top = rect[1]
    snapshot = view.snapshot
    currency = snapshot.currency if snapshot else "USD"
    found: list[Control] = []

    def place(index: int, columns: int, y: float, height: float) -> Rect:
        one = (width - 12 * (columns - 1)) / columns
        return (left + (index % columns) * (one + 12), top + y + (index // columns) * (height + 12), one, height)

    for i, cents in enumerate(BILLS_CENTS):
        found.append(Control(place(i, 3, 142, 72), texts.money(cents, currency),
                             BenchCommand(device=ACCEPTOR, action="insert", values={"amount_cents": cents})))
    opened = snapshot.doors_open if snapshot else ()
    for i, door in enumerate(DOORS):
        is_open = door in opened
        state = texts.say("drawer.open" if is_open else "drawer.closed")
        found.append(Control(place(i, 2, 358, 62), f"{texts.say(f'door.{door}')} : {state}" if texts.language == "fr" else f"{texts.say(f'door.{door}')}: {state}",
                             BenchCommand(device=BOARD, action="door", values={"name": door, "open": not is_open})))
    found.append(Control((left, top + 552, width, 62), texts.say("drawer.reset_key"),
                         BenchCommand(device=BOARD, action="key", values={"name": "reset"})))
    for i, action in enumerate(("jam", "clear")):
        found.append(Control(place(i, 2, 676, 58), texts.say(f"drawer.{action}"), BenchCommand(device=ACCEPTOR, action=action)))
    return found


def draw_drawer(stage: Stage) -> None:
    """The drawer's tab, and the drawer as far as it is out."""
    view = stage.view
    if not view.with_bench:
        return
    p, layout, say = stage.painter, stage.layout, stage.texts.say
    share = drawer_share(view, stage.theme.motion)
    slide = layout.drawer[2] * (1 - share)
    tab = tab_rect(stage.layout.tab, layout.drawer, share)
    p.panel((tab[0], tab[1], tab[2] + 20, tab[3]), radius=16, fill=(44, 40, 66, 240), edge=(140, 130, 180, 255))
    p.text("»" if view.drawer else "«", (tab[0] + tab[2] / 2, tab[1] + tab[3] / 2), Style("heavy", "lead", "text"))
    if share <= 0:
        return
    x, y, w, h = layout.drawer
    x += slide
    p.panel((x, y - 20, w + 30, h + 20), radius=22, fill=(24, 22, 36, 252), edge=(120, 112, 160, 255), line=3)
    p.text(say("drawer.title"), (x + 36, y + 50), Style("heavy", "lead", "text"), align="left", width=w - 80)
    for words, top in (("bills", 114), ("doors", 330), ("keys", 524), ("faults", 648)):
        p.text(say(f"drawer.{words}"), (x + 36, y + top), Style("strong", "caption", "text_dim"), align="left", width=w - 72)
    for control in controls((x, y, w, h), view, stage.texts):
        draw_button(stage, control.rect, control.words, on=view.bench_linked)
    if not view.bench_linked:
        p.text(say("drawer.closed_bench"), (x + 36, y + 84), Style("text", "caption", "amber"), align="left", width=w - 72)
    elif view.bench_said is not None and view.bench_said.text:
        key = "drawer.done" if view.bench_said.ok else "drawer.refused"
        p.text(say(key, text=view.bench_said.text), (x + 36, y + 84), Style("text", "caption", "text_dim" if view.bench_said.ok else "amber"), align="left", width=w - 72)


def tab_rect(tab: Rect, drawer: Rect, share: float) -> Rect:
    """The tab's place: at the picture's edge, or on the drawer's edge as it slides out."""
    return (tab[0] - drawer[2] * share, tab[1], tab[2], tab[3])
