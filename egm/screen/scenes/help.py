"""The help pages, generated from the game's definition.

They say what a player may want to know before a bet: rules, prizes, odds and limits.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pygame

from egm.screen.art.ink import VectorCanvas
from egm.screen.art.paths import build_rounded_box
from egm.screen.keno_slip import is_wheel_game
from egm.screen.layout import TOUCH_TARGET_SIZE_MIN, grow_rect
from egm.screen.outcome import PrizeTableRow, ReelField, compute_prize_at_bet
from egm.screen.painter import FACT_SEPARATOR, Rect, TextStyle
from egm.screen.scenes.chart import draw_chart, has_strategy_chart
from egm.screen.scenes.keno import format_catch_award
from egm.screen.scenes.limits_sign import format_table_limits
from egm.screen.scenes.odds import draw_chances, draw_odds, list_chance_pages, list_long_odds_pages
from egm.screen.scenes.pay_table import draw_pay_table_entries, list_pay_table_entries
from egm.screen.scenes.reels import PAY_LINE_COLOURS, render_symbol
from egm.screen.scenes.reminder import draw_limits, lay_out_limit_keys
from egm.screen.scenes.side_panels import find_base_field, format_prize_name
from egm.screen.scenes.stage import Stage, draw_button, draw_heading, draw_rim_panel, format_stage_name
from egm.screen.scenes.status import format_help_line, format_return
from egm.screen.scenes.table_side_panels import draw_felt_prizes, list_prize_pages
from egm.screen.scenes.wheel import draw_wheel_prizes
from egm.screen.view import Action, list_offered_costs

#: The most feature-triggering prizes pictured with the rules.
_PICTURED_PRIZES_MAX: Final = 3
#: The most departures from the usual rules on one page.
_RULE_DIFFERENCES_PER_PAGE_MAX: Final = 4
#: A page no wider than this is a telephone's.
_TELEPHONE_PAGE_WIDTH_MAX: Final = 800.0
#: Matches a paragraph break. A no-break space within a number is not matched.
_PARAGRAPH_BREAK_PATTERN: Final = re.compile(r" *\n *\n\s*")
#: Matches a line break, or spaces, within a paragraph.
_LINE_BREAK_PATTERN: Final = re.compile(r"[ \n]+")
#: Entry of a prize table for a combination that pays nothing.
NO_PRIZE_SIGN: Final = "\u2013"


@dataclass(frozen=True, slots=True)
class HelpPage:
    """One help page: its heading and the function that draws it in a rectangle."""

    heading: str
    draw: Callable[[Stage, Rect], None]


def list_help_sheets(stage: Stage) -> list[HelpPage]:
    """Return the help pages of the game on the screen, in order."""
    say = stage.texts.say
    pages = [*_list_tournament_sheets(stage), HelpPage(say("help.rules"), _draw_rules)]
    pages += _list_rule_difference_sheets(stage)
    field = find_base_field(stage)
    if field is not None and field.prizes:
        rows_limit = 9 if not stage.layout.is_portrait else 14 if not stage.layout.is_telephone else 11
        rows_a_page = -(-len(field.prizes) // -(-len(field.prizes) // rows_limit))
        prizes = sorted(
            field.prizes, key=lambda prize: (-_compute_highest_pay(stage, prize), -prize.symbol_count)
        )
        for start in range(0, len(prizes), rows_a_page):
            part = prizes[start : start + rows_a_page]
            pages.append(HelpPage(say("help.prizes"), partial(_draw_prize_table, field=field, prizes=part)))
        if read_merchandise_prizes(stage):
            pages.append(HelpPage(say("help.in_kind"), _draw_merchandise_prizes))
        if field.pay_lines:
            pages.append(HelpPage(say("help.lines"), partial(_draw_pay_lines, field=field)))
    if "tables" in stage.game_data:
        pages.append(HelpPage(say("help.prizes"), _draw_keno_table))
    if is_wheel_game(stage.view.game):
        pages.append(HelpPage(say("help.prizes"), draw_wheel_prizes))
    entries = list_prize_pages(stage)
    pages += [HelpPage(say("help.prizes"), partial(draw_felt_prizes, groups=groups)) for groups in entries]
    if list_pay_table_entries(stage):
        pages.append(
            HelpPage(say("help.prizes"), partial(draw_pay_table_entries, rows=list_pay_table_entries(stage)))
        )
    if has_strategy_chart(stage):
        pages.append(HelpPage(say("chart.title"), draw_chart))
    pages += [
        HelpPage(say("odds.chances"), partial(draw_chances, entries=entries))
        for entries in list_chance_pages(stage)
    ]
    pages += [
        HelpPage(say("odds.title"), partial(draw_odds, entries=entries))
        for entries in list_long_odds_pages(stage)
    ]
    pages.append(HelpPage(say("help.about"), _draw_game_facts))
    pages.append(HelpPage(say("help.responsible"), _draw_responsible_gambling))
    snapshot = stage.view.snapshot
    if snapshot is not None and snapshot.protection.limits:
        pages.append(HelpPage(say("help.limits_title"), draw_limits))
    return pages


def _compute_highest_pay(stage: Stage, prize: PrizeTableRow) -> int:
    """Return the pay of a prize at the highest bet, in credits."""
    game = stage.view.game
    return (
        compute_prize_at_bet(game, prize.name, prize.credits, max(game.bet_options))
        if game
        else prize.credits
    )


def draw_help(stage: Stage) -> None:
    """Draw the help page that is open, with its heading and the keys that turn the page."""
    game = stage.view.game
    if game is None:
        return
    p, rect = stage.painter, stage.layout.player_page
    x, y, w, _ = rect
    p.fill_rounded_rect(stage.layout.area_above_meters, (4, 2, 10, 170))
    p.draw_cached_picture(
        ("sheet", stage.look.name),
        rect,
        lambda size: draw_rim_panel(
            size, p.scale, p.theme, stage.look, radius=30, rim_width=8, fill_paint=(18, 13, 34, 250)
        ),
    )
    pages = list_help_sheets(stage)
    index = stage.view.sheet_index % len(pages)
    title = stage.texts.say("help.title", game=stage.texts.choose_translation(game.title, game.id))
    where = f"{pages[index].heading}  ·  {stage.texts.say('help.page', page=index + 1, pages=len(pages))}"
    head, dim = TextStyle("heavy", "lead", stage.look.accent_colour), TextStyle("strong", "small", "text_dim")
    if w > _TELEPHONE_PAGE_WIDTH_MAX:
        p.draw_text(title, (x + 48, y + 52), head, align="left", width_max=w * 0.54)
        p.draw_label(where, (x + w * 0.64 - 48, y + 14, w * 0.36, 72), dim, align="right")
    else:
        p.draw_text(title, (x + 30, y + 32), head, align="left", width_max=w - 60)
        p.draw_text(where, (x + 30, y + 70), dim, align="left", width_max=w - 60)
    p.fill_rounded_rect((x + 40, y + 88, w - 80, 2), (*stage.look.accent_colour[:3], 120))
    pages[index].draw(stage, _find_content_rect(rect))
    for name, key_rect in lay_out_page_keys(stage.layout.player_page).items():
        draw_button(stage, key_rect, stage.texts.say(f"key.{name}"))


def list_sheet_touches(stage: Stage) -> list[tuple[Rect, Action]]:
    """Return the touch targets on the open help page, without the keys that turn or close it."""
    pages = list_help_sheets(stage)
    if stage.view.game is None or pages[stage.view.sheet_index % len(pages)].draw is not draw_limits:
        return []
    return lay_out_limit_keys(stage.view, _find_content_rect(stage.layout.player_page))


def _find_content_rect(sheet: Rect) -> Rect:
    """Return the rectangle for the content of a help page, between its heading and its keys.

    ``sheet`` is the rectangle of the whole page.
    """
    x, y, w, h = sheet
    side = 48.0 if w > _TELEPHONE_PAGE_WIDTH_MAX else 30.0
    return (x + side, y + 108, w - 2 * side, h - 108 - 26 - lay_out_page_keys(sheet)["next"][3] - 12)


def lay_out_page_keys(rect: Rect) -> dict[str, Rect]:
    """Return the rectangles of the keys that turn and close a help page."""
    x, y, w, h = rect
    width = min(240.0, (w - 80 - 32) / 3)
    height = 66.0 if w > _TELEPHONE_PAGE_WIDTH_MAX else TOUCH_TARGET_SIZE_MIN
    low = y + h - height - 22
    return {
        "back": (x + 40, low, width, height),
        "close": (x + (w - width) / 2, low, width, height),
        "next": (x + w - 40 - width, low, width, height),
    }


def _draw_rules(stage: Stage, rect: Rect) -> None:
    """Draw the game's rules, as large as the page allows, and the pictures that the rules mention."""
    game = stage.view.game
    if game is None:
        return
    x, y, w, h = rect
    h -= _draw_rule_pictures(stage, rect)
    paragraphs = _PARAGRAPH_BREAK_PATTERN.split(stage.texts.choose_translation(game.help).strip())
    _write_fitting_paragraphs(
        stage, [_LINE_BREAK_PATTERN.sub(" ", part) for part in paragraphs], (x, y, w, h)
    )


def _list_tournament_sheets(stage: Stage) -> list[HelpPage]:
    """Return the help pages with the published rules of a tournament, one for each section of the rules."""
    snapshot = stage.view.snapshot
    tournament = None if snapshot is None else snapshot.tournament
    if tournament is None:
        return []
    sections = tournament.rules.get(stage.texts.language) or next(iter(tournament.rules.values()))
    title = stage.texts.choose_translation(tournament.name)
    return [
        HelpPage(title, partial(_draw_tournament_section, heading=heading, sentences=sentences))
        for heading, sentences in sections
    ]


def _draw_tournament_section(stage: Stage, rect: Rect, heading: str, sentences: Sequence[str]) -> None:
    """Draw one section of a tournament's rules: its heading, and a paragraph for each sentence."""
    language = stage.texts.language
    paragraphs = [stage.texts.choose_translation({language: text}) for text in (heading, *sentences)]
    _write_fitting_paragraphs(stage, paragraphs, rect)


def _list_rule_difference_sheets(stage: Stage) -> list[HelpPage]:
    """Return the help pages that say how the game differs from the usual rules of the game of this name."""
    departures = () if stage.view.game is None else stage.view.game.departures
    return [
        HelpPage(
            stage.texts.say("help.departures"),
            partial(
                _draw_rule_differences, departures=departures[start : start + _RULE_DIFFERENCES_PER_PAGE_MAX]
            ),
        )
        for start in range(0, len(departures), _RULE_DIFFERENCES_PER_PAGE_MAX)
    ]


def _draw_rule_differences(stage: Stage, rect: Rect, departures: Sequence[Mapping[str, str]]) -> None:
    """Draw how the game differs from the usual rules, one paragraph for each difference."""
    _write_fitting_paragraphs(stage, [stage.texts.choose_translation(text) for text in departures], rect)


def _write_fitting_paragraphs(stage: Stage, paragraphs: Sequence[str], rect: Rect) -> None:
    """Draw paragraphs in a rectangle, in the largest text size in which all of them fit.

    If they fit in no size, draw them in the smallest size, joined into one paragraph.
    """
    p, (x, y, w, h) = stage.painter, rect
    ways = [("\n".join(paragraphs), size) for size in ("body", "small", "caption")]
    for text, size in (*ways, (FACT_SEPARATOR.join(paragraphs), "caption")):
        style = TextStyle("text", size, "text")
        if len(p.wrap_text(text, w, style)) * stage.theme.sizes[size] * 1.3 <= h:
            break
    p.write_paragraph(text, (x, y, w, h), style)


def _draw_rule_pictures(stage: Stage, rect: Rect) -> float:
    """Draw pictures below the rules: the symbols that trigger features, and the first pay lines.

    Return the height used, in units.
    """
    field = find_base_field(stage)
    if field is None:
        return 0.0
    p, (x, y, w, h) = stage.painter, rect
    bringing = [prize for prize in field.prizes if prize.additional_awards and prize.symbol][
        -_PICTURED_PRIZES_MAX:
    ]
    bringing = bringing if all(prize.symbol_count <= 5 for prize in bringing) else bringing[-1:]
    rows = [(field.list_prize_icons(prize), _describe_prize_award(stage, field, prize)) for prize in bringing]
    step = 62.0 if not stage.layout.is_telephone else 56.0
    lines = field.pay_lines[: 6 if not stage.layout.is_portrait else 4]
    height = step * len(rows) + (104.0 if len(lines) > 1 else 0.0)
    top = y + h - height
    for i, (icons, text) in enumerate(rows):
        middle = top + (i + 0.5) * step
        p.fill_rounded_rect((x, middle - step / 2, w, step - 6), (255, 255, 255, 14), 10)
        for n, symbol in enumerate(icons):
            size = (p.scale_length(50), p.scale_length(50))
            p.draw_surface(
                render_symbol(stage, field, symbol, size),
                (p.scale_length(x + 12 + n * 54), p.scale_length(middle - 28)),
            )
        at = (x + 30 + 54 * len(icons), middle - 3)
        style = TextStyle("strong", "small", "text")
        p.draw_text(text, at, style, align="left", width_max=w - 44 - 54 * len(icons))
    if len(lines) > 1:
        width = (w - 20) / len(lines)
        for i, line in enumerate(lines):
            colour = PAY_LINE_COLOURS[i % len(PAY_LINE_COLOURS)]
            left, low = x + i * width, top + step * len(rows) + 12
            p.draw_text(str(i + 1), (left + 22, low + 42), TextStyle("heavy", "small", colour), width_max=40)
            grid: Rect = (left + 44, low, min(width - 60, 170.0), 86)
            make = partial(_draw_pay_line_grid, field=field, pay_line_rows=line, colour=colour)
            p.draw_cached_picture(("line grid", line, field.reel_heights, colour), grid, make)
    return height + 16


def _describe_prize_award(stage: Stage, field: ReelField, prize: PrizeTableRow) -> str:
    """Return what a prize awards.

    If the picture of the prize does not show all of its symbols, the prize's name comes first.
    """
    if len(field.list_prize_icons(prize)) == prize.symbol_count:
        return _format_additional_awards(stage, prize)
    name = format_prize_name(stage.texts, field, prize.symbol_count, prize.symbol, prize.name)
    return f"{name}  ·  {_format_additional_awards(stage, prize)}"


def _format_additional_awards(stage: Stage, prize: PrizeTableRow) -> str:
    """Return the text of what a prize awards in addition to credits, such as free games."""
    kinds = {
        str(prize_data["id"]): stage.texts.choose_translation(prize_data["name"])
        for prize_data in read_merchandise_prizes(stage)
    }
    gifts = [
        (kinds.get(given) or format_stage_name(stage, given) or given.capitalize(), times)
        for given, times in prize.additional_awards
    ]
    return " + ".join(
        text if times == 1 else stage.texts.say("help.kind", count=times, name=text) for text, times in gifts
    )


def describe_bet_limits(stage: Stage) -> str:
    """Return a text with the value of a credit and the permitted bets; for a table, the limits of its spots."""
    view, say, snapshot = stage.view, stage.texts.say, stage.view.snapshot
    if snapshot is None:
        return ""
    cents = snapshot.denomination_cents
    limits = format_table_limits(stage)
    if limits is None:
        lowest_text, highest_text = (
            stage.texts.number(choose(list_offered_costs(view), default=0)) for choose in (min, max)
        )
        return say("help.unit", amount=stage.money(cents), least=lowest_text, most=highest_text)
    text = say("help.unit_table", amount=stage.money(cents), least=limits[0], most=limits[1])
    if snapshot.most_staked_cents is None:
        return text
    return f"{text} {say('help.most_staked', amount=stage.money(snapshot.most_staked_cents))}"


def _draw_game_facts(stage: Stage, rect: Rect) -> None:
    """Draw the value of a credit, the theoretical return, the malfunction clause, and the game's exact identity."""
    game, snapshot, say = stage.view.game, stage.view.snapshot, stage.texts.say
    if game is None or snapshot is None:
        return
    p, (x, y, w, h) = stage.painter, rect
    unit = describe_bet_limits(stage)
    y += p.write_paragraph(unit, (x, y, w, h), TextStyle("strong", "lead", stage.look.accent_colour)) + 18
    return_text = format_return(stage, game)
    y += p.write_paragraph(return_text, (x, y, w, h), TextStyle("strong", "body", "text")) + 18
    y += (
        p.write_paragraph(
            say(f"defect.rule_{snapshot.defect}"), (x, y, w, h), TextStyle("text", "body", "text")
        )
        + 18
    )
    exact = say("help.certified", id=game.id, version=game.version, digest=game.digest[:16])
    p.write_paragraph(exact, (x, y, w, h), TextStyle("text", "small", "text_dim"))


def _draw_prize_table(stage: Stage, rect: Rect, field: ReelField, prizes: list[PrizeTableRow]) -> None:
    """Draw a help page with the game's prizes: a row for each prize, with its credits at each bet (C-22)."""
    game = stage.view.game
    if game is None:
        return
    p, number, (x, y, w, h) = stage.painter, stage.texts.number, rect
    options = list_offered_costs(stage.view)
    options = options if len(options) <= 8 else (*options[:4], *options[-4:])
    slim, share = stage.layout.is_telephone, 0.46 if not stage.layout.is_telephone else 0.34
    draw_heading(stage, stage.texts.say("help.prize_bet"), (x, y - 10, w * share, 52))
    left = x + w * share
    column = (w - w * share) / max(1, len(options))
    step = min(76.0, (h - 44) / max(1, len(prizes)))
    for i, bet in enumerate(options):
        now = stage.view.snapshot is not None and bet == stage.view.snapshot.bet_credits
        if now:
            p.fill_rounded_rect(
                (left + i * column, y - 8, column, 50 + step * len(prizes)),
                (*stage.look.accent_colour[:3], 30),
                12,
            )
        p.draw_text(
            number(bet) if slim else stage.texts.say("help.bet", bet=number(bet)),
            (left + (i + 0.5) * column, y + 16),
            TextStyle("strong", "small", stage.look.accent_colour if now else "text_dim"),
            width_max=column - 8,
        )
    for row, prize in enumerate(prizes):
        top = y + 42 + row * step
        p.fill_rounded_rect((x, top, w, step - 4), (255, 255, 255, 12 if row % 2 else 22), 10)
        middle = top + (step - 4) / 2
        icons = field.list_prize_icons(prize)
        # In a narrow column, the picture needs no name.
        pictured = slim and (len(icons) > 1 or len(icons) == prize.symbol_count)
        name_width = 190 if not slim else 12 if pictured else 150
        side = min(step - 12, 60.0, (left - x - name_width) / max(1, len(icons)))
        at, lift = x + 10, 10.0 if pictured and prize.additional_awards else 0.0
        side = min(side, step - 32) if lift else side
        for symbol in icons:
            p.draw_surface(
                render_symbol(stage, field, symbol, (p.scale_length(side), p.scale_length(side))),
                (p.scale_length(at), p.scale_length(middle - side / 2 - lift)),
            )
            at += side
        if not pictured:
            _draw_prize_name(stage, field, prize, (at + 12, middle), left - at - 16)
        elif prize.additional_awards:
            below = (x + 10, top + step - 18)
            p.draw_text(
                _format_additional_awards(stage, prize),
                below,
                TextStyle("text", "caption"),
                align="left",
                width_max=left - x - 16,
            )
        for i, bet in enumerate(options):
            credits_ = compute_prize_at_bet(game, prize.name, prize.credits, bet)
            text = number(credits_) if credits_ else NO_PRIZE_SIGN
            p.draw_text(
                text,
                (left + (i + 0.5) * column, middle),
                TextStyle("numbers", "lead", "meter"),
                width_max=column - 10,
            )


def _draw_prize_name(
    stage: Stage, field: ReelField, prize: PrizeTableRow, top_left: tuple[float, float], width: float
) -> None:
    """Draw a prize's name, and what it awards in addition to credits; in a narrow column, on two lines."""
    name = format_prize_name(stage.texts, field, prize.symbol_count, prize.symbol, prize.name)
    awards = _format_additional_awards(stage, prize)
    has_two_lines = bool(awards) and stage.layout.is_portrait
    first = [name] if has_two_lines or not awards else [f"{name} + {awards}"]
    for i, text in enumerate(first + ([awards] if has_two_lines else [])):
        y = top_left[1] + (24 * i - 12 if has_two_lines else 0)
        style, height = (
            TextStyle("text", "caption" if has_two_lines else "small", "text"),
            24.0 if has_two_lines else 48.0,
        )
        stage.painter.draw_label(text, (top_left[0], y - height / 2, width, height), style, align="left")


def read_merchandise_prizes(stage: Stage) -> Sequence[Mapping[str, Any]]:
    """Return the merchandise prizes of the game on the screen, as the game's definition states them."""
    prizes: Sequence[Mapping[str, Any]] = stage.game_data.get("merchandise", ())
    return prizes


def _draw_merchandise_prizes(stage: Stage, rect: Rect) -> None:
    """Draw each merchandise prize: its name, its description, and the value that the operator states (C-03)."""
    p, (x, y, w, h) = stage.painter, rect
    for prize in read_merchandise_prizes(stage):
        name = stage.texts.choose_translation(prize["name"])
        y += p.write_paragraph(name, (x, y, w, h), TextStyle("heavy", "lead", stage.look.accent_colour)) + 10
        y += (
            p.write_paragraph(
                stage.texts.choose_translation(prize["description"]),
                (x, y, w, h),
                TextStyle("text", "body", "text"),
            )
            + 8
        )
        value = stage.texts.say("handpay.prize_value", amount=stage.money(prize["value_cents"]))
        y += p.write_paragraph(value, (x, y, w, h), TextStyle("strong", "body", "text")) + 34
    p.write_paragraph(
        stage.texts.say("help.in_kind_say"), (x, y, w, h), TextStyle("text", "small", "text_dim")
    )


def _draw_keno_table(stage: Stage, rect: Rect) -> None:
    """Draw what each catch (number of hits) pays for each number of spots, for one credit staked (M-01)."""
    tables: dict[str, dict[str, int]] = stage.game_data.get("tables", {})
    p, (x, y, w, h) = stage.painter, rect
    spots = sorted(tables, key=int)
    levels = stage.game_data.get("progressives", ())
    paid_catches = {int(catch) for table in tables.values() for catch in table}
    rows = sorted(paid_catches | {int(level["catch"]) for level in levels}, reverse=True)
    draw_heading(stage, stage.texts.say("keno.table"), (x, y - 8, w, 44))
    head = 170.0
    column, step = (w - head) / max(1, len(spots)), min(52.0, (h - 96) / max(1, len(rows)))
    heading = TextStyle("strong", "small", stage.look.accent_colour)
    titles = [stage.texts.format_count("keno.of", int(spot)) for spot in spots]
    if (
        max((p.measure_text(title, heading) for title in titles), default=0.0) > column - 6
    ):  # one for all columns
        p.draw_text(
            stage.texts.say("keno.spots_head"), (x + 14, y + 62), heading, align="left", width_max=head - 20
        )
        titles = spots
    for i, title in enumerate(titles):
        p.draw_text(title, (x + head + (i + 0.5) * column, y + 62), heading, width_max=column - 6)
    for row, catch in enumerate(rows):
        top = y + 88 + row * step
        p.fill_rounded_rect((x, top, w, step - 3), (255, 255, 255, 12 if row % 2 else 22), 8)
        middle = top + (step - 3) / 2
        text = stage.texts.say("keno.catch", count=catch)
        p.draw_text(
            text, (x + 14, middle), TextStyle("text", "small", "text"), align="left", width_max=head - 20
        )
        for i, spot in enumerate(spots):
            text = format_catch_award(stage, int(spot), catch) or NO_PRIZE_SIGN
            p.draw_text(
                text,
                (x + head + (i + 0.5) * column, middle),
                TextStyle("numbers", "body", "meter"),
                width_max=column - 8,
            )


def _draw_pay_lines(stage: Stage, rect: Rect, field: ReelField) -> None:
    """Draw each pay line of the game as a small grid, with the line's number."""
    p, (x, y, w, h) = stage.painter, rect
    used_height = p.write_paragraph(
        stage.texts.say("help.lines_rule"), (x, y, w, 90), TextStyle("text", "small", "text")
    )
    y, h = y + used_height + 12, h - used_height - 12
    count = len(field.pay_lines)
    columns = max(1, min(10, round((count * w / max(1.0, h) * 0.75) ** 0.5) or 1))
    rows = -(-count // columns)
    cell = min(w / columns, h / rows * 1.5, 360.0)
    height = min(h / rows, cell * 0.72)
    for i, line in enumerate(field.pay_lines):
        cx, cy = x + (i % columns) * (w / columns), y + (i // columns) * height
        colour = PAY_LINE_COLOURS[i % len(PAY_LINE_COLOURS)]
        p.draw_text(str(i + 1), (cx + 26, cy + height / 2), TextStyle("heavy", "small", colour), width_max=44)
        grid: Rect = (cx + 52, cy + 6, cell - 64, height - 14)
        p.draw_cached_picture(
            ("line grid", line, field.reel_heights, colour),
            grid,
            partial(_draw_pay_line_grid, field=field, pay_line_rows=line, colour=colour),
        )


def _draw_pay_line_grid(
    size: tuple[int, int], field: ReelField, pay_line_rows: tuple[int, ...], colour: tuple[int, int, int, int]
) -> pygame.Surface:
    """Return a small drawing of the reels' cells, in which the cells of a pay line are coloured."""
    ink = VectorCanvas(size)
    cell_width, cell_height = 100 / field.reel_count, 100 / max(field.reel_heights)
    for reel, height in enumerate(field.reel_heights):
        for row in range(height):
            is_on_line = reel < len(pay_line_rows) and pay_line_rows[reel] == row
            ink.fill_path(
                build_rounded_box(
                    reel * cell_width + 1, row * cell_height + 1, cell_width - 2, cell_height - 2, 3
                ),
                colour if is_on_line else (255, 255, 255, 34),
            )
    return ink.finish_surface()


def _draw_responsible_gambling(stage: Stage, rect: Rect) -> None:
    """Draw the help page on responsible gambling, with the jurisdiction's help line."""
    p, (x, y, w, h) = stage.painter, grow_rect(rect, -10)
    size = "lead" if not stage.layout.is_telephone else "body"
    chance, limits = stage.texts.say("help.chance"), stage.texts.say("help.limits")
    y += p.write_paragraph(chance, (x, y, w, h), TextStyle("strong", size, stage.look.accent_colour)) + 30
    y += p.write_paragraph(limits, (x, y, w, h), TextStyle("text", size, "text")) + 24
    line = format_help_line(stage)
    if line:
        p.write_paragraph(line, (x, y, w, h), TextStyle("strong", size, "win"))
