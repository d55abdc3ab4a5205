"""The two glasses beside the field, the status line below it, the clock and the machine's identity."""

from typing import Final

from egm.kernel.messages import GameView, Notice, Snapshot
from egm.screen.layout import Layout
from egm.screen.marks import form_in_force, is_keno, is_slip, price_near, spots, stakes_on
from egm.screen.outcome import Field, Prize, WinView, prize_at
from egm.screen.painter import Rect, Style
from egm.screen.scenes.asked import first_words, option_words, turn_words
from egm.screen.scenes.feature import so_far_credits
from egm.screen.scenes.felt_glass import felt_glasses, felt_status, settled_step
from egm.screen.scenes.keno import form_rows, keno_prizes, what_is_bought
from egm.screen.scenes.prizes import prizes_won
from egm.screen.scenes.progressive import draw_levels, levels_beside
from egm.screen.scenes.reels import symbol_art
from egm.screen.scenes.stage import Stage, caption, spoken, stage_name
from egm.screen.scenes.wheel import is_wheel, wheel_glasses
from egm.screen.scenes.wins import lit_win
from egm.screen.show import Show, Timeline, feature_steps, games_awarded
from egm.screen.steps import KenoStep
from egm.screen.table import ON_CHIPS, is_table
from egm.screen.text import Texts, fault_words
from egm.screen.view import Scene, asking, times

_NOTICE_SECONDS: Final = 5.0
_PAID_OUT_SECONDS: Final = 30.0
#: What the player has been paid, and how.
_PAID_OUT: Final = frozenset(
    {"ticket_printed", "coins_paid", "handpay_paid", "prize_delivered", "transfer_out"}
)
#: Conditions that last until somebody ends them; every other notice is of a moment.
_LASTING: Final = frozenset(
    {"fault", "service_called", "award_awaited", "mystery_awaited", "out_of_service", "disabled"}
)
_TURN_SECONDS: Final = 3.0
#: A row of prizes higher than this has large figures.
_LEAD_FROM: Final = 40.0
#: Upright, so many prizes of a Keno card stand in two columns.
_BESIDE_FROM: Final = 4


def base_field(stage: Stage) -> Field | None:
    """The first stage's field of the game on the screen, if it is played on reels."""
    game = stage.view.game
    fields = stage.view.fields.get(game.id, {}) if game else {}
    return next(iter(fields.values()), None)


def prizes_now(stage: Stage, field: Field) -> list[tuple[Prize, int]]:
    """Every prize of the bet on the meter with its credits, the highest first (C-22)."""
    game, snapshot = stage.view.game, stage.view.snapshot
    if game is None or snapshot is None:
        return []
    bet = snapshot.bet_credits
    paid = [(prize, prize_at(game, prize.name, prize.credits, bet)) for prize in field.prizes]
    return sorted((one for one in paid if one[1]), key=lambda one: -one[1])


def prize_name(texts: Texts, field: Field, count: int, symbol: str, name: str) -> str:
    """A prize's name in the player's language."""
    if symbol:
        return texts.say("help.kind", count=count, name=texts.local(field.names.get(symbol, {}), symbol))
    number, _, rest = name.partition(" ")
    counted = number.isdigit() and bool(rest)
    word = rest if counted else name
    words = (
        texts.local(field.titles[word], word) if word in field.titles else word.replace("-", " ").capitalize()
    )
    alone = sum(1 for prize in field.prizes if prize.name.partition(" ")[2] == rest) <= 1
    return (
        words
        if not counted or (alone and word in field.titles)
        else texts.say("help.kind", count=number, name=words)
    )


def draw_glasses(stage: Stage) -> None:
    """The prizes of the current bet on both glasses: the high ones left, the rest right."""
    field = base_field(stage)
    if stage.view.snapshot is None:
        return
    on_strip = stage.layout.slim and stage.view.table is not None
    right = stage.layout.right if on_strip else draw_levels(stage, stage.layout.right)
    if is_wheel(stage) or stage.view.table is not None:
        wheel_glasses(stage) if is_wheel(stage) else felt_glasses(stage, right)
        _small_print(stage, stage.layout.right)
        return
    if field is None:
        _keno_glasses(stage, right)
        return
    prizes = prizes_now(stage, field)
    layout = stage.layout
    rows = 6 if not layout.portrait else 4 if not layout.slim else 3
    beside = max(1, int((right[3] - 126) / (layout.right[3] - 126) * (rows - 1) + 0.5))
    top, rest = prizes[:rows], prizes[rows : rows + beside]
    if len(prizes) <= rows:
        half = (len(prizes) + 1) // 2
        top, rest = prizes[:half], prizes[half:]
    _prizes(stage, field, top, layout.left, stage.texts.say("panel.top_prizes"))
    if layout.portrait and levels_beside(stage):
        _small_print(stage, layout.right)
        return
    lines = len(field.lines)
    key = "panel.all_lines_one" if lines == 1 else "panel.all_lines"
    _prizes(
        stage,
        field,
        rest,
        right,
        stage.texts.say(key, count=lines) if lines else stage.texts.say("key.pays"),
    )
    _small_print(stage, layout.right)


def _keno_glasses(stage: Stage, right: Rect) -> None:
    """The prizes of a Keno card by catch for one credit staked, and the kinds of ticket."""
    p, texts, game = stage.painter, stage.texts, stage.view.game
    if game is None:
        return
    spots, prizes = keno_prizes(stage)
    x, y, w, h = stage.layout.left
    caption(stage, texts.counted("keno.spots", spots), (x + 10, y + 12, w - 20, 40))
    columns = 1 if not stage.layout.portrait or len(prizes) < _BESIDE_FROM else 2
    head = 66.0 if not stage.layout.portrait else 54.0
    step = min(64.0, (h - head - 2 - _foot(stage.layout)) / max(1, -(-len(prizes) // columns)))
    size, wide = "lead" if step > 44 else "small", (w - 36) / columns
    for i, (catch, pay) in enumerate(prizes):
        left, middle = x + 18 + i % columns * wide, y + head + (i // columns + 0.5) * step
        p.text(
            texts.say("keno.catch", count=catch),
            (left + 8, middle),
            Style("strong", "small" if step > 30 else "caption", "text"),
            align="left",
            width=wide * 0.58,
        )
        p.text(
            texts.number(pay),
            (left + wide - 8, middle),
            Style("numbers", size, "meter"),
            align="right",
            width=wide * 0.32,
        )
    _tickets(stage, game, right)


def _tickets(stage: Stage, game: GameView, right: Rect) -> None:
    """The kinds of ticket a game sells, on the right glass."""
    texts = stage.texts
    x, y, w, h = right
    if stage.layout.portrait and levels_beside(stage):
        _small_print(stage, stage.layout.right)
        return
    caption(stage, texts.say("keno.tickets"), (x + 10, y + 12, w - 20, 40))
    rows = form_rows(stage.view, stage.layout)
    for rect, action in rows:
        _form_row(stage, game, rect, str(action.value))
    top = y + (70 if not stage.layout.portrait else 54)
    style = Style("strong", "small" if not stage.layout.slim else "caption", "text")
    for form in game.presentation.get("forms", []) if not rows else ():
        words = texts.local(form["name"])
        if top + (40 if not stage.layout.portrait else 26) > y + h - _foot(stage.layout):
            break  # the help pages name them all
        used = stage.painter.paragraph(words, (x + 26, top, w - 52, 90), style, leading=1.2)
        top += used + (12 if not stage.layout.portrait else 2)
    _small_print(stage, stage.layout.right)


def _form_row(stage: Stage, game: GameView, rect: Rect, form_id: str) -> None:
    """A ticket sold by name with its price; lit where PLAY buys it."""
    view, p, (x, y, w, h) = stage.view, stage.painter, rect
    assert view.snapshot is not None  # there are rows
    form = next(form for form in game.presentation["forms"] if form["id"] == form_id)
    chosen = not view.slip.marked and form_in_force(game, view.snapshot)["id"] == form_id
    credits_ = view.snapshot.bet_credits if chosen else price_near(game, form, view.snapshot)
    fill = (122, 66, 8, 255) if chosen else (30, 24, 56, 255)
    edge = stage.look.accent if chosen else (136, 120, 190, 255)
    p.panel(rect, radius=14, fill=fill, edge=edge, line=3 if chosen else 2)
    amount, style = (
        stage.money(credits_ * view.snapshot.denomination_cents),
        Style("strong", "caption", "text"),
    )
    name = stage.texts.local(form["name"])
    if h < 80:
        p.text(name, (x + 12, y + h / 2), style, align="left", width=w * 0.6)
        p.text(
            amount, (x + w - 12, y + h / 2), Style("numbers", "body", "meter"), align="right", width=w * 0.3
        )
        return
    words = p.wrap(name, w - 24, style)[:2]
    for i, line in enumerate(words):
        p.text(line, (x + 12, y + (22 if len(words) > 1 else 32) + 23 * i), style, align="left", width=w - 24)
    p.text(amount, (x + w - 12, y + h - 22), Style("numbers", "body", "meter"), align="right", width=w - 24)


def _prizes(stage: Stage, field: Field, prizes: list[tuple[Prize, int]], rect: Rect, heading: str) -> None:
    p, (x, y, w, h) = stage.painter, rect
    caption(stage, heading, (x + 10, y + 12, w - 20, 40))
    p.shade((x + 24, y + 54, w - 48, 2), (*stage.look.accent[:3], 110))
    room = h - 64 - _foot(stage.layout)
    step = min(112.0, room / max(1, len(prizes)))
    hit = lit_win(stage)
    for i, (prize, credits_) in enumerate(prizes):
        top = y + 62 + i * step
        if hit is not None and hit.name == prize.name:
            p.shade((x + 12, top, w - 24, step - 4), (*stage.look.accent[:3], 64), 12)
        _prize(stage, field, prize, (x + 18, top, w - 36, step - 4), credits_)


def _prize(stage: Stage, field: Field, prize: Prize, rect: Rect, credits_: int) -> None:
    p, (x, y, w, h) = stage.painter, rect
    icons = field.icons(prize)
    side = min(h - 6, 68.0, (w * 0.66) / max(1, len(icons)))
    middle = y + h / 2
    size = (p.px(side), p.px(side))
    for i, symbol in enumerate(icons):
        p.put(symbol_art(stage, field, symbol, size), (p.px(x + i * side), p.px(middle - side / 2)))
    if not icons:
        p.text(
            prize_name(stage.texts, field, prize.count, prize.symbol, prize.name),
            (x + 4, middle),
            Style("strong", "small", "text"),
            align="left",
            width=w * 0.62,
        )
    p.text(
        stage.texts.number(credits_),
        (x + w - 2, middle),
        Style("numbers", "lead" if h > _LEAD_FROM else "body", "meter"),
        align="right",
        width=w * 0.36,
    )


def _foot(layout: Layout) -> float:
    """The height of a glass's small print."""
    return 62.0 if not layout.slim else 40.0


def _small_print(stage: Stage, rect: Rect) -> None:
    game, snapshot = stage.view.game, stage.view.snapshot
    if game is None or snapshot is None:
        return
    p = stage.painter
    unit = stage.texts.say("meter.denomination", amount=stage.money(snapshot.denomination_cents))
    defect = stage.texts.say(f"defect.{snapshot.defect}")
    foot, left = _foot(stage.layout), stage.layout.left
    if rect[2] <= 0:  # both stand below the one glass there is
        x, y, w, h = left
        rect, left = (x + w / 2, y, w / 2, h), (x, y, w / 2, h)
    for (x, y, w, h), words, style in (
        (rect, unit, Style("strong", "caption", "text")),
        (left, defect, Style("text", "caption", "text_dim")),
    ):
        line = y + h - foot + 4
        p.shade((x + 24, line, w - 48, 2), (*stage.look.accent[:3], 70))
        p.label(words, (x + 18, line + 3, w - 36, foot - 11), style)


# ---------------------------------------------------------------------- the status line
def _stands(snapshot: Snapshot, notice: Notice) -> float:
    """Seconds for which a notice is read; where the player's money went is told until the next one comes."""
    if notice.code in _PAID_OUT and not snapshot.credit_cents:
        return _PAID_OUT_SECONDS
    return _NOTICE_SECONDS


def notice_words(stage: Stage, notice: Notice) -> str:
    """A notice of the machine in words."""
    texts, code = stage.texts, notice.code
    snapshot = stage.view.snapshot
    credit_cents = 0 if snapshot is None else snapshot.credit_cents
    values = {"amount": "", "credit_cents": credit_cents, **notice.values}
    if code == "refused.playing" and stage.view.decision is not None:
        return first_words(stage, stage.view.decision)
    ends = ("_credit", "") if credit_cents else ("",)
    for key in (f"{group}.{code}{end}" for group in ("notice", "status") for end in ends):
        if texts.has(key):
            return spoken(stage, key, values)
    if code.startswith("refused"):
        return texts.say("notice.refused_other")
    said = fault_words(texts, code.removeprefix("fault."))
    held_cents = notice.values.get("amount_cents")
    held = {"fault": said, "amount": stage.money(held_cents)} if isinstance(held_cents, int) else None
    return said if held is None else texts.say("notice.held", **held)


def status(stage: Stage) -> tuple[str, str]:
    """The status line's words and colour: a fresh notice first, then the game, then what to do."""
    view = stage.view
    snapshot = view.snapshot
    if snapshot is None:
        return stage.texts.say("boot.link"), "text"
    if view.news is not None and view.now - view.notices_at < _stands(snapshot, view.news):
        return _notice_status(stage, view.news)
    if view.decision is not None and asking(view, stage.theme):
        words, advised = turn_words(stage, view.decision), view.decision.display.get("advice")
        if isinstance(advised, str) and advised in view.decision.options:
            option = option_words(stage, advised)
            words = f"{words}  \u00b7  {stage.texts.say('felt.advice', option=option)}"
        return words, "amber"
    line = times(view, stage.theme)
    if snapshot.state == "playing" and view.show is not None and line is not None:
        return _game_status(stage, view.show, line)
    lasting = [notice for notice in snapshot.notices if notice.code.partition(".")[0] in _LASTING]
    if lasting and int(view.now / _TURN_SECONDS) % 2:
        return _notice_status(stage, lasting[int(view.now / _TURN_SECONDS / 2) % len(lasting)])
    return _idle_status(stage, snapshot)


def _notice_status(stage: Stage, notice: Notice) -> tuple[str, str]:
    colours = {"info": "info", "warning": "amber", "alarm": "alarm"}
    return notice_words(stage, notice), colours[notice.severity]


def _idle_status(stage: Stage, snapshot: Snapshot) -> tuple[str, str]:
    say, win = stage.texts.say, lit_win(stage)
    bought = _bought(stage, snapshot) if snapshot.credit_cents else ""
    if bought and (stage.view.pressed in _BETTING or stage.view.chips.refused):
        return bought, "text"
    if snapshot.win_cents and win is not None:
        return _win_words(stage, win), "win"
    if snapshot.win_cents:
        return _total(stage, snapshot.win_cents)
    game = stage.view.game
    slip = stage.view.slip
    if game is not None and is_keno(game) and slip.marked and not is_slip(game, slip):
        return say("keno.mark", least=min(spots(game)), most=max(spots(game))), "amber"
    if snapshot.credit_cents == 0:
        return say("status.insert"), "text"
    return bought or say("status.choose"), "text"


#: What changes the bet: then the bet is spoken of, no more the last win.
_BETTING: Final = ON_CHIPS | {
    "bet_less",
    "bet_more",
    "bet_max",
    "area",
    "form",
    "mark",
    "quick_pick",
    "draws",
    "bonus",
    "new_card",
}


def _bought(stage: Stage, snapshot: Snapshot) -> str:
    """What PLAY buys at which price, where that is not the bet meter alone: a ticket, stakes on a wheel."""
    game, say = stage.view.game, stage.texts.say
    if is_keno(game):
        words, cents = what_is_bought(stage)
        return say("keno.buys", what=words, price=stage.money(cents)) if words else ""
    if stage.view.table is not None:
        return felt_status(stage)
    if game is None or not is_wheel(stage):
        return ""
    areas = len(stakes_on(game, snapshot))
    price = stage.money(snapshot.bet_credits * snapshot.denomination_cents)
    return stage.texts.counted("wheel.buys", areas, price=price)


def _game_status(stage: Stage, show: Show, line: Timeline) -> tuple[str, str]:
    say, since = stage.texts.say, stage.view.now - show.began
    if since < line.spun:
        index = line.index(since)
        step = show.steps[index]
        if isinstance(step, KenoStep):
            balls = sum(1 for stop in line.steps[index].stops if since >= stop)
            return say("keno.ball", index=balls, count=len(step.balls)), "amber"
        name = stage_name(stage, step.stage)
        if name:
            series = feature_steps(show, index)
            number, games = games_awarded(show, index, stand=since >= line.steps[index].spun)
            place = say("feature.free_left", left=number, total=games)
            won_cents = so_far_credits(show, line, since, series.start) * _unit_cents(stage)
            total = [say("feature.so_far", amount=stage.money(won_cents))] if won_cents else []
            return "  ·  ".join([name, *([place] if games > 1 else []), *total]), "amber"
        return say("status.resumed" if show.play.resumed else "status.spinning"), "text"
    if any(won.amount_cents is None for won in show.play.progressives):
        return say("progressive.confirming"), "amber"
    if not show.play.prizes and not show.play.win_cents:
        return say("status.no_win"), "text_dim"
    paid = _total(stage, show.play.win_cents)
    return (prizes_won(stage, show.play.prizes), "win") if show.play.prizes else paid


def _total(stage: Stage, cents: int) -> tuple[str, str]:
    """What a game has won; at a table, where stakes come back as well, what it pays for what was staked.

    Bets that all push are returned, and who receives less than he staked has won nothing; hands that are held
    and drawn to win by a table of pays, as a game of reels does.
    """
    say, game, amount = stage.texts.say, stage.view.game, stage.money(cents)
    over = settled_step(stage) if is_table(game) else None
    rows = [(int(each["credits"]), int(each.get("staked", 0))) for each in over.settlements] if over else []
    staked_cents = sum(staked for _, staked in rows) * _unit_cents(stage)
    if staked_cents and all(credits_ == staked for credits_, staked in rows):
        return say("status.bet_returned", amount=amount), "text"
    if cents < staked_cents:
        return say("status.part_returned", amount=amount, staked=stage.money(staked_cents)), "text"
    if game is None or not is_table(game) or game.presentation.get("hold"):
        return say("status.win_total", amount=amount), "win"
    if not staked_cents:
        return say("status.received", amount=amount), "win"
    return say("status.received_for", amount=amount, staked=stage.money(staked_cents)), "win"


def _unit_cents(stage: Stage) -> int:
    return stage.view.snapshot.denomination_cents if stage.view.snapshot else 1


def _win_words(stage: Stage, win: WinView) -> str:
    field = base_field(stage)
    amount = stage.money(win.credits * _unit_cents(stage))
    name = prize_name(stage.texts, field, win.count, win.symbol, win.name) if field else win.name
    if win.line is None:
        return stage.texts.say("win.named", name=name, amount=amount)
    return stage.texts.say("win.line_named", line=win.line, name=name, amount=amount)


def draw_status(stage: Stage) -> None:
    """The status line, the clock and the machine's identity."""
    p, layout, view = stage.painter, stage.layout, stage.view
    x, y, w, h = layout.message
    if view.scene in {Scene.GAME, Scene.ATTRACT}:  # else the plate that lies over it says why
        words, colour = status(stage)
        p.label(words, (x + 24, y, w - 48, h), Style("strong", "body", colour))
    snapshot = view.snapshot
    if snapshot is None:
        return
    clock = stage.texts.clock(view.time_utc)
    where = (layout.size[0] - 30, 52) if not layout.portrait else (layout.size[0] - 24, layout.bar[1] - 22)
    p.text(
        clock,
        where,
        Style("strong", "lead" if not layout.portrait else "caption", "text", 2, (0, 0, 0, 140)),
        align="right",
        width=310,
    )
    identity = stage.texts.say("status.machine", serial=snapshot.serial, site=snapshot.site)
    place = (30, 40) if not layout.portrait else (24, layout.bar[1] - 22)
    p.text(
        identity,
        place,
        Style("text", "caption", "text_dim", 1.5, (0, 0, 0, 140)),
        align="left",
        width=318 if not layout.portrait else layout.size[0] * (0.36 if not layout.slim else 0.48),
    )
    _told_always(stage)


def _told_always(stage: Stage) -> None:
    """The theoretical return and, where the place names one, where help is found: always in sight."""
    p, layout, game = stage.painter, stage.layout, stage.view.game
    line = help_line(stage)
    if line:
        place = (
            (30, 104)
            if not layout.portrait
            else (layout.size[0] * (0.4 if not layout.slim else 0.53), layout.bar[1] - 22)
        )
        style = Style("strong", "caption", "text", 1.5, (0, 0, 0, 140))
        p.text(
            line,
            place,
            style,
            align="left",
            width=_corner(layout)
            if not layout.portrait
            else layout.size[0] * (0.4 if not layout.slim else 0.3),
        )
    if game is not None:
        words = return_words(stage, game)
        style = Style("text", "caption", "text", 1.5, (0, 0, 0, 140))
        if layout.portrait:
            low = layout.left[1] + layout.left[3] + 16
            p.text(words, (layout.size[0] / 2, low), style, width=layout.size[0] - 80)
        else:
            p.label(words, (30, 54, _corner(layout), 37), style, align="left")


def _corner(layout: Layout) -> float:
    """The room left of the sign: that of a game with levels stands further left."""
    return min(330.0, layout.marquee[0] - 30)


def help_line(stage: Stage) -> str:
    """Where help is found, as the place wants it told; empty where it names none."""
    snapshot = stage.view.snapshot
    told = snapshot.protection.help_line if snapshot is not None else {}
    return stage.texts.local(told) if told else ""


def return_words(stage: Stage, game: GameView) -> str:
    """The theoretical return of a game; of a table, that it is the one of its worst bet."""
    key = "panel.return" if len(game.returns) < 2 else "panel.return_least"
    return stage.texts.say(key, percent=percent(stage, game.return_percent))


def percent(stage: Stage, figure: str) -> str:
    """A decimal figure with this language's decimal sign."""
    plain = figure.rstrip("%").strip()
    return plain.replace(".", ",") if stage.texts.language == "fr" else plain
