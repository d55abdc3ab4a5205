"""The help and prize pages: everything a player may know before a bet, generated from the game itself."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pygame

from egm.screen.art.ink import Ink
from egm.screen.art.paths import box
from egm.screen.layout import grown
from egm.screen.outcome import Field, Prize, bet_level
from egm.screen.painter import Rect, Style
from egm.screen.scenes.glass import base_field, percent, prize_name
from egm.screen.scenes.reels import LINE_COLOURS, symbol_art
from egm.screen.scenes.stage import Stage, caption, rim_panel


@dataclass(frozen=True, slots=True)
class Sheet:
    """One page: its heading and what draws it into a rectangle."""

    heading: str
    draw: Callable[[Stage, Rect], None]


def sheets(stage: Stage) -> list[Sheet]:
    """The pages of the game on the screen."""
    say = stage.texts.say
    pages = [Sheet(say("help.rules"), _rules)]
    field = base_field(stage)
    if field is not None and field.prizes:
        most = 9 if not stage.layout.portrait else 14
        each = -(-len(field.prizes) // -(-len(field.prizes) // most))
        prizes = sorted(field.prizes, key=lambda prize: -prize.credits)
        for start in range(0, len(prizes), each):
            part = prizes[start : start + each]
            pages.append(Sheet(say("help.prizes"), partial(_prize_table, field=field, prizes=part)))
        if field.lines:
            pages.append(Sheet(say("help.lines"), partial(_lines, field=field)))
    pages.append(Sheet(say("help.responsible"), _responsible))
    return pages


def draw_help(stage: Stage) -> None:
    """The current page, with its heading and the keys that turn it."""
    game = stage.view.game
    if game is None:
        return
    p, rect = stage.painter, stage.layout.sheet
    x, y, w, h = rect
    p.shade(stage.layout.stage, (4, 2, 10, 170))
    p.art(
        ("sheet", stage.look.name),
        rect,
        lambda size: rim_panel(size, p.scale, p.theme, stage.look, radius=30, rim=8, fill=(18, 13, 34, 250)),
    )
    pages = sheets(stage)
    index = stage.view.sheet % len(pages)
    p.text(
        stage.texts.say("help.title", game=stage.texts.local(game.title, game.id)),
        (x + 48, y + 52),
        Style("heavy", "lead", stage.look.accent),
        align="left",
        width=w * 0.62,
    )
    p.text(
        f"{pages[index].heading}  ·  {stage.texts.say('help.page', page=index + 1, pages=len(pages))}",
        (x + w - 48, y + 52),
        Style("strong", "small", "text_dim"),
        align="right",
        width=w * 0.32,
    )
    p.shade((x + 40, y + 88, w - 80, 2), (*stage.look.accent[:3], 120))
    pages[index].draw(stage, (x + 48, y + 108, w - 96, h - 108 - 104))
    for name, place in page_keys(stage.layout.sheet).items():
        draw_button(stage, place, stage.texts.say(f"key.{name}"))


def page_keys(rect: Rect) -> dict[str, Rect]:
    """Where the keys of a page stand."""
    x, y, w, h = rect
    return {
        "back": (x + 40, y + h - 88, 240, 66),
        "close": (x + w / 2 - 120, y + h - 88, 240, 66),
        "next": (x + w - 280, y + h - 88, 240, 66),
    }


def draw_button(stage: Stage, rect: Rect, words: str, *, on: bool = True, lit: bool = False) -> None:
    """A flat button with words, as pages and the drawer have; ``lit`` where what it names is so."""
    p = stage.painter
    fill = (150, 88, 20, 255) if lit else (58, 48, 96, 255) if on else (34, 30, 50, 255)
    edge = (255, 200, 110, 255) if lit else (136, 120, 190, 255) if on else (66, 60, 90, 255)
    p.panel(rect, radius=16, fill=fill, edge=edge, line=2.5)
    p.text(
        words,
        (rect[0] + rect[2] / 2, rect[1] + rect[3] / 2),
        Style("strong", "small", "text" if on else "text_dim"),
        width=rect[2] - 20,
    )


def _rules(stage: Stage, rect: Rect) -> None:
    game, snapshot, say = stage.view.game, stage.view.snapshot, stage.texts.say
    if game is None or snapshot is None:
        return
    p, (x, y, w, h) = stage.painter, rect
    body = Style("text", "body", "text")
    rules = " ".join(stage.texts.local(game.help).split())
    y += p.paragraph(rules, (x, y, w, h), body) + 16
    unit = say(
        "help.unit",
        amount=stage.money(snapshot.denomination_cents),
        least=stage.texts.number(min(game.bet_options, default=0)),
        most=stage.texts.number(max(game.bet_options, default=0)),
    )
    y += p.paragraph(unit, (x, y, w, h), Style("strong", "body", stage.look.accent)) + 10
    p.paragraph(say(f"defect.rule_{snapshot.defect}"), (x, y, w, h), Style("text", "small", "text_dim"))
    low = rect[1] + rect[3]
    p.text(
        say("panel.return", percent=percent(stage, game.return_percent)),
        (x, low - 44),
        Style("strong", "small", "text"),
        align="left",
        width=w,
    )
    p.text(
        say("help.certified", id=game.id, version=game.version, digest=game.digest[:16]),
        (x, low - 12),
        Style("text", "caption", "text_dim"),
        align="left",
        width=w,
    )


def _prize_table(stage: Stage, rect: Rect, field: Field, prizes: list[Prize]) -> None:
    """For each bet, each prize in credits (C-22)."""
    game = stage.view.game
    if game is None:
        return
    p, (x, y, w, h) = stage.painter, rect
    options = (
        game.bet_options[:8]
        if len(game.bet_options) <= 8
        else (*game.bet_options[:4], *game.bet_options[-4:])
    )
    caption(stage, stage.texts.say("help.prize_bet"), (x, y - 6, w * 0.46, 44))
    left = x + w * 0.46
    column = (w * 0.54) / len(options)
    step = min(76.0, (h - 44) / max(1, len(prizes)))
    for i, bet in enumerate(options):
        now = stage.view.snapshot is not None and bet == stage.view.snapshot.bet_credits
        if now:
            p.shade(
                (left + i * column, y - 8, column, 50 + step * len(prizes)), (*stage.look.accent[:3], 30), 12
            )
        p.text(
            stage.texts.say("help.bet", bet=stage.texts.number(bet)),
            (left + (i + 0.5) * column, y + 16),
            Style("strong", "small", stage.look.accent if now else "text_dim"),
            width=column - 8,
        )
    for row, prize in enumerate(prizes):
        top = y + 42 + row * step
        p.shade((x, top, w, step - 4), (255, 255, 255, 12 if row % 2 else 22), 10)
        middle = top + (step - 4) / 2
        side = min(step - 12, 60.0)
        at = x + 10
        for symbol in field.icons(prize):
            p.put(
                symbol_art(stage, field, symbol, (p.px(side), p.px(side))),
                (p.px(at), p.px(middle - side / 2)),
            )
            at += side
        p.text(
            prize_name(stage.texts, field, prize.count, prize.symbol, prize.name),
            (at + 12, middle),
            Style("text", "small", "text"),
            align="left",
            width=left - at - 16,
        )
        for i, bet in enumerate(options):
            p.text(
                stage.texts.number(prize.credits * bet_level(game, bet)),
                (left + (i + 0.5) * column, middle),
                Style("numbers", "lead", "meter"),
                width=column - 10,
            )


def _lines(stage: Stage, rect: Rect, field: Field) -> None:
    """Each line as a small grid with its number."""
    p, (x, y, w, h) = stage.painter, rect
    used = p.paragraph(stage.texts.say("help.lines_rule"), (x, y, w, 90), Style("text", "small", "text"))
    y, h = y + used + 12, h - used - 12
    count = len(field.lines)
    columns = max(1, min(10, round((count * w / max(1.0, h) * 0.75) ** 0.5) or 1))
    rows = -(-count // columns)
    cell = min(w / columns, h / rows * 1.5, 360.0)
    tall = min(h / rows, cell * 0.72)
    for i, line in enumerate(field.lines):
        cx, cy = x + (i % columns) * (w / columns), y + (i // columns) * tall
        colour = LINE_COLOURS[i % len(LINE_COLOURS)]
        p.text(str(i + 1), (cx + 26, cy + tall / 2), Style("heavy", "small", colour), width=44)
        grid: Rect = (cx + 52, cy + 6, cell - 64, tall - 14)

        def make(
            size: tuple[int, int], line: tuple[int, ...] = line, colour: tuple[int, int, int, int] = colour
        ) -> pygame.Surface:
            return _line_grid(size, field, line, colour)

        p.art(("line grid", line, field.heights, colour), grid, make)


def _line_grid(
    size: tuple[int, int], field: Field, line: tuple[int, ...], colour: tuple[int, int, int, int]
) -> pygame.Surface:
    ink = Ink(size)
    wide, tall = 100 / field.reels, 100 / max(field.heights)
    for reel, height in enumerate(field.heights):
        for row in range(height):
            on = reel < len(line) and line[reel] == row
            ink.fill(
                box(reel * wide + 1, row * tall + 1, wide - 2, tall - 2, 3),
                colour if on else (255, 255, 255, 34),
            )
    return ink.finish()


def _responsible(stage: Stage, rect: Rect) -> None:
    p, (x, y, w, h) = stage.painter, grown(rect, -10)
    y += (
        p.paragraph(stage.texts.say("help.chance"), (x, y, w, h), Style("strong", "lead", stage.look.accent))
        + 30
    )
    p.paragraph(stage.texts.say("help.limits"), (x, y, w, h), Style("text", "lead", "text"))
