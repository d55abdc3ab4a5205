"""The attract scene and the celebrations of wins: nothing here promises or predicts anything."""

import math
from typing import Final

import pygame

from egm.link.messages import Play
from egm.screen.art.ink import Ink, Linear, Radial, painted
from egm.screen.art.jewels import coin
from egm.screen.art.paths import ellipse
from egm.screen.motion import clamp, ease_out, rolled
from egm.screen.painter import Style, gold
from egm.screen.scenes.prizes import prizes_won
from egm.screen.scenes.stage import BLACK, Stage
from egm.screen.theme import fade, mix
from egm.screen.view import asking, times

_COINS: Final = (0, 0, 26, 60, 110)


def draw_attract(stage: Stage) -> None:
    """A plate over the field: welcome, and how to begin."""
    p, view = stage.painter, stage.view
    x, y, w, h = stage.layout.field
    beat = 0.0 if view.reduced_motion else math.sin(view.now * 1.6)
    height = 210.0
    top = y + h / 2 - height / 2
    band = Linear(
        (
            (0, (0, 0, 0, 0)),
            (0.12, (8, 4, 18, 215)),
            (0.5, (18, 10, 36, 235)),
            (0.88, (8, 4, 18, 215)),
            (1, (0, 0, 0, 0)),
        )
    )
    p.shade((x, top, w, height), band)
    p.text(
        stage.texts.say("attract.welcome"),
        (x + w / 2, top + 74),
        Style("display", "marquee", gold(stage.theme), 3, (20, 6, 0, 220)),
        width=w - 60,
    )
    p.text(
        stage.texts.say("attract.insert"),
        (x + w / 2, top + 152 + 3 * beat),
        Style("strong", "lead", "text", 2),
        width=w - 60,
    )


def draw_celebration(stage: Stage) -> None:
    """For a win above the first level: its name, the sum rolling up, and coins in proportion."""
    view, line = stage.view, times(stage.view, stage.theme)
    if view.show is None or line is None or line.level < 2 or view.snapshot is None:
        return
    if view.decision is not None and asking(view, stage.theme):
        return  # the answers are not to be hidden
    since = view.now - view.show.began - line.spun
    length = line.rolled - line.spun
    if since < 0 or since > length + 1.2 or view.snapshot.state not in {"playing", "idle"}:
        return
    p = stage.painter
    x, y, w, h = stage.layout.field
    cx, cy = x + w / 2, y + h / 2
    arrive = 1.0 if view.reduced_motion else ease_out(since / 0.35)
    leave = 1 - clamp((since - length) / 1.2)
    if line.level >= 3 and not view.reduced_motion:
        _rays(stage, (cx, cy), arrive * leave)
    if not view.reduced_motion:
        _fountain(stage, since, _COINS[line.level], length + 1.0)
    high = 320.0 if line.level >= 3 else 132.0
    top = cy - high / 2 if line.level >= 3 else y + h - high - 6
    if leave > 0.6:
        band = Linear(
            (
                (0, (0, 0, 0, 0)),
                (0.2, (10, 4, 20, 210)),
                (0.5, (26, 10, 44, 235)),
                (0.8, (10, 4, 20, 210)),
                (1, (0, 0, 0, 0)),
            )
        )
        p.shade((x, top, w, high), band)
        name, sum_ = _said(stage, view.show.play, line.level, rolled(view.show.play.win_cents, since, length))
        glow = Linear(
            ((0, (255, 255, 255, 255)), (0.6, stage.theme.colour("meter")), (1, stage.theme.colour("amber")))
        )
        if line.level >= 3:
            p.text(
                name,
                (cx, top + 76 - 30 * (1 - arrive)),
                Style("display", "marquee", gold(stage.theme), 3, (30, 8, 0, 230)),
                width=w - 80,
            )
            p.text(sum_, (cx, top + 222), Style("numbers", "hero", glow, 3, (30, 8, 0, 230)), width=w - 80)
        else:
            p.text(
                name,
                (x + w * 0.3, top + high / 2),
                Style("display", "title", gold(stage.theme), 3, (30, 8, 0, 230)),
                width=w * 0.5,
            )
            p.text(
                sum_,
                (x + w * 0.72, top + high / 2),
                Style("numbers", "marquee", glow, 3, (30, 8, 0, 230)),
                width=w * 0.4,
            )


def _said(stage: Stage, play: Play, level: int, win_cents: int) -> tuple[str, str]:
    """The celebration's two lines: what was won, and the sum; a progressive or a prize in kind is named."""
    won = play.progressives
    if play.prizes:
        value_cents = sum(prize.value_cents for prize in play.prizes)
        said = stage.texts.say("win.worth", amount=stage.money(value_cents))
        return prizes_won(stage, play.prizes), stage.money(win_cents) if play.win_cents else said
    if not won:
        return stage.texts.say(f"win.level_{level}"), stage.money(win_cents)
    names = "  ·  ".join(stage.texts.local(one.names, one.level) for one in won)
    waiting = any(one.amount_cents is None for one in won)
    sum_ = stage.texts.say("progressive.confirming") if waiting else stage.money(win_cents)
    return stage.texts.say("progressive.won", name=names), sum_


def _rays(stage: Stage, centre: tuple[float, float], strength: float) -> None:
    p = stage.painter
    side = 900.0
    step = int(stage.view.now * 12) % 30

    def make(size: tuple[int, int]) -> pygame.Surface:
        ink = Ink(size, (100, 100), 1)
        for i in range(12):
            a = math.radians(i * 30 + step)
            ink.fill(
                [
                    (50, 50),
                    (50 + 50 * math.cos(a), 50 + 50 * math.sin(a)),
                    (50 + 50 * math.cos(a + 0.2), 50 + 50 * math.sin(a + 0.2)),
                ],
                fade(stage.look.accent, 0.16),
            )
        faded = ink.finish()
        mask = Radial(
            ((0, (255, 255, 255, 255)), (0.4, (255, 255, 255, 200)), (1, (255, 255, 255, 0))), (0.5, 0.5), 0.5
        )
        faded.blit(painted(size, mask), (0, 0), special_flags=pygame.BLEND_RGBA_MULT)
        return faded

    clip = p.surface.get_clip()
    p.surface.set_clip(p.box(stage.layout.field))
    p.art(
        ("rays", step, stage.look.name),
        (centre[0] - side / 2, centre[1] - side / 2, side, side),
        make,
        alpha=strength,
    )
    p.surface.set_clip(clip)


def _fountain(stage: Stage, since: float, count: int, length: float) -> None:
    """Coins thrown up from below the field, each on its own parabola; pure in time."""
    p = stage.painter
    x, y, w, h = stage.layout.field
    for i in range(count):
        born = (i * 0.618034 % 1.0) * max(0.2, length - 1.4)
        t = since - born
        if not 0 <= t <= 1.5:
            continue
        speed = 980 + 260 * (i * 0.381966 % 1.0)
        drift = ((i * 0.754878 % 1.0) - 0.5) * 700
        cx, cy = x + w / 2 + drift * t + drift * 0.15, y + h - speed * t + 1250 * t * t
        if cy > y + h + 20:
            continue
        turn = abs(math.cos(t * 7 + i))
        frame = round(turn * 6)
        side = 62.0
        width = max(8.0, side * frame / 6)
        p.art(("coin", frame), (cx - width / 2, cy - side / 2, width, side), _coin)


def _coin(size: tuple[int, int]) -> pygame.Surface:
    """A coin seen at an angle: the face, drawn square, squeezed."""
    side = max(size)
    ink = Ink((side, side), oversample=2)
    if size[0] < size[1] * 0.35:
        ink.fill(ellipse(50, 50, 47), mix((240, 180, 60, 255), BLACK, 0.25))
        ink.fill(ellipse(50, 50, 38), Radial(((0, (255, 236, 160, 255)), (1, (190, 120, 20, 255)))))
    else:
        coin(ink)
    return pygame.transform.smoothscale(ink.finish(), size)
