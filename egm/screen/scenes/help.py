"""The help pages, generated from the game's definition.

They say what a player may want to know before a bet: rules, prizes, odds and limits.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pygame

from egm.screen.art.paths import build_rounded_box
from egm.screen.art.vector_canvas import VectorCanvas
from egm.screen.layout import TOUCH_TARGET_SIZE_MIN, grow_rect
from egm.screen.painter import FACT_SEPARATOR, Rect, TextStyle
from egm.screen.reel_data import ReelData, ReelPrize, compute_prize_at_bet
from egm.screen.scenes.drawing_context import (
    DrawingContext,
    draw_button,
    draw_heading,
    format_stage_name,
    render_rim_panel,
)
from egm.screen.scenes.keno import format_catch_award
from egm.screen.scenes.limits_sign import format_table_limits
from egm.screen.scenes.odds import draw_chances, draw_odds, list_chance_pages, list_long_odds_pages
from egm.screen.scenes.pay_table import draw_pay_table_rows, list_pay_table_rows
from egm.screen.scenes.reels import PAY_LINE_COLOURS, render_symbol
from egm.screen.scenes.reminder import draw_limits, lay_out_limit_keys
from egm.screen.scenes.side_panels import find_base_reel_data, format_prize_name
from egm.screen.scenes.status import format_help_line, format_theoretical_return
from egm.screen.scenes.strategy_chart import draw_chart, has_strategy_chart
from egm.screen.scenes.table_side_panels import draw_felt_prizes, list_prize_pages
from egm.screen.scenes.wheel_game import draw_wheel_prizes
from egm.screen.view import Action, list_offered_costs
from egm.screen.wheel_stakes import is_wheel_game

#: How many of the prizes that award more than credits are pictured with the rules at most.
_PICTURED_PRIZES_MAX: Final = 3
#: The maximum number of differences from the usual rules on one page.
_RULE_DIFFERENCES_PER_PAGE_MAX: Final = 4
#: A page no wider than this is a telephone's.
_TELEPHONE_PAGE_WIDTH_MAX: Final = 800.0
#: Matches a paragraph break. A no-break space within a number is not matched.
_PARAGRAPH_BREAK_PATTERN: Final = re.compile(r" *\n *\n\s*")
#: Matches a line break, or spaces, within a paragraph.
_LINE_BREAK_PATTERN: Final = re.compile(r"[ \n]+")
#: The text in a pay table for a combination that pays nothing.
NO_PRIZE_SIGN: Final = "\u2013"


@dataclass(frozen=True, slots=True)
class HelpPage:
    """One help page: its heading and the function that draws it in a rectangle."""

    heading: str
    draw: Callable[[DrawingContext, Rect], None]


def list_help_pages(context: DrawingContext) -> list[HelpPage]:
    """Return the help pages of the game on the screen, in order."""
    translate = context.texts.translate
    pages = [*_list_tournament_pages(context), HelpPage(translate("help.rules"), _draw_rules)]
    pages += _list_rule_difference_pages(context)
    reel_data = find_base_reel_data(context)
    if reel_data is not None and reel_data.prizes:
        rows_per_page_max = (
            9 if not context.layout.is_portrait else 14 if not context.layout.is_telephone else 11
        )
        rows_per_page = -(-len(reel_data.prizes) // -(-len(reel_data.prizes) // rows_per_page_max))
        prizes = sorted(
            reel_data.prizes, key=lambda prize: (-_compute_highest_pay(context, prize), -prize.symbol_count)
        )
        for start in range(0, len(prizes), rows_per_page):
            rows = prizes[start : start + rows_per_page]
            pages.append(
                HelpPage(
                    translate("help.prizes"), partial(_draw_prize_table, reel_data=reel_data, prizes=rows)
                )
            )
        if read_merchandise_prizes(context):
            pages.append(HelpPage(translate("help.in_kind"), _draw_merchandise_prizes))
        if reel_data.pay_lines:
            pages.append(HelpPage(translate("help.lines"), partial(_draw_pay_lines, reel_data=reel_data)))
    if "tables" in context.game_data:
        pages.append(HelpPage(translate("help.prizes"), _draw_keno_table))
    if is_wheel_game(context.view.game):
        pages.append(HelpPage(translate("help.prizes"), draw_wheel_prizes))
    pages += [
        HelpPage(translate("help.prizes"), partial(draw_felt_prizes, spot_groups=groups))
        for groups in list_prize_pages(context)
    ]
    if list_pay_table_rows(context):
        pages.append(
            HelpPage(
                translate("help.prizes"), partial(draw_pay_table_rows, rows=list_pay_table_rows(context))
            )
        )
    if has_strategy_chart(context):
        pages.append(HelpPage(translate("chart.title"), draw_chart))
    pages += [
        HelpPage(translate("odds.chances"), partial(draw_chances, bet_chances=page_rows))
        for page_rows in list_chance_pages(context)
    ]
    pages += [
        HelpPage(translate("odds.title"), partial(draw_odds, awards=page_rows))
        for page_rows in list_long_odds_pages(context)
    ]
    pages.append(HelpPage(translate("help.about"), _draw_about_page))
    pages.append(HelpPage(translate("help.responsible"), _draw_responsible_gambling))
    snapshot = context.view.snapshot
    if snapshot is not None and snapshot.protection.can_set_limits:
        pages.append(HelpPage(translate("help.limits_title"), draw_limits))
    return pages


def _compute_highest_pay(context: DrawingContext, prize: ReelPrize) -> int:
    """Return the pay of a prize at the highest bet, in credits."""
    game = context.view.game
    return (
        compute_prize_at_bet(game, prize.name, prize.credits, max(game.bet_options))
        if game
        else prize.credits
    )


def draw_help(context: DrawingContext) -> None:
    """Draw the help page that is open, with its heading and the keys that turn the page."""
    game = context.view.game
    if game is None:
        return
    painter, rect = context.painter, context.layout.player_page
    x, y, w, _ = rect
    painter.fill_rounded_rect(context.layout.area_above_meters, (4, 2, 10, 170))
    painter.draw_cached_picture(
        ("sheet", context.look.name),
        rect,
        lambda size: render_rim_panel(
            size,
            painter.scale,
            painter.theme,
            context.look,
            radius=30,
            rim_width=8,
            fill_paint=(18, 13, 34, 250),
        ),
    )
    pages = list_help_pages(context)
    page_index = context.view.sheet_index % len(pages)
    title = context.texts.translate("help.title", game=context.texts.choose_translation(game.title, game.id))
    page_text = FACT_SEPARATOR.join(
        (
            pages[page_index].heading,
            context.texts.translate("help.page", page=page_index + 1, pages=len(pages)),
        )
    )
    title_style = TextStyle("heavy", "lead", context.look.accent_colour)
    page_style = TextStyle("strong", "small", "text_dim")
    if w > _TELEPHONE_PAGE_WIDTH_MAX:
        painter.draw_text(title, (x + 48, y + 52), title_style, align="left", width_max=w * 0.54)
        painter.draw_label(page_text, (x + w * 0.64 - 48, y + 14, w * 0.36, 72), page_style, align="right")
    else:
        painter.draw_text(title, (x + 30, y + 32), title_style, align="left", width_max=w - 60)
        painter.draw_text(page_text, (x + 30, y + 70), page_style, align="left", width_max=w - 60)
    painter.fill_rounded_rect((x + 40, y + 88, w - 80, 2), (*context.look.accent_colour[:3], 120))
    pages[page_index].draw(context, _compute_content_rect(rect))
    for name, key_rect in lay_out_page_keys(context.layout.player_page).items():
        draw_button(context, key_rect, context.texts.translate(f"key.{name}"))


def list_help_page_touch_targets(context: DrawingContext) -> list[tuple[Rect, Action]]:
    """Return the touch targets on the open help page, without the keys that turn or close it."""
    pages = list_help_pages(context)
    if context.view.game is None or pages[context.view.sheet_index % len(pages)].draw is not draw_limits:
        return []
    return lay_out_limit_keys(context.view, _compute_content_rect(context.layout.player_page))


def _compute_content_rect(page_rect: Rect) -> Rect:
    """Return the rectangle for the content of a help page, between its heading and its keys.

    ``page_rect`` is the rectangle of the whole page.
    """
    x, y, w, h = page_rect
    margin = 48.0 if w > _TELEPHONE_PAGE_WIDTH_MAX else 30.0
    return (x + margin, y + 108, w - 2 * margin, h - 108 - 26 - lay_out_page_keys(page_rect)["next"][3] - 12)


def lay_out_page_keys(rect: Rect) -> dict[str, Rect]:
    """Return the rectangles of the keys that turn and close a help page."""
    x, y, w, h = rect
    width = min(240.0, (w - 80 - 32) / 3)
    height = 66.0 if w > _TELEPHONE_PAGE_WIDTH_MAX else TOUCH_TARGET_SIZE_MIN
    top = y + h - height - 22
    return {
        "back": (x + 40, top, width, height),
        "close": (x + (w - width) / 2, top, width, height),
        "next": (x + w - 40 - width, top, width, height),
    }


def _draw_rules(context: DrawingContext, rect: Rect) -> None:
    """Draw the game's rules, as large as the page allows, and below them the pictures of symbols and pay lines."""
    game = context.view.game
    if game is None:
        return
    x, y, w, h = rect
    h -= _draw_rule_pictures(context, rect)
    paragraphs = _PARAGRAPH_BREAK_PATTERN.split(context.texts.choose_translation(game.help).strip())
    _draw_fitting_paragraphs(
        context, [_LINE_BREAK_PATTERN.sub(" ", paragraph) for paragraph in paragraphs], (x, y, w, h)
    )


def _list_tournament_pages(context: DrawingContext) -> list[HelpPage]:
    """Return the help pages with the published rules of a tournament, one for each section of the rules."""
    snapshot = context.view.snapshot
    tournament = None if snapshot is None else snapshot.tournament
    if tournament is None:
        return []
    sections = tournament.rules.get(context.texts.language) or next(iter(tournament.rules.values()))
    title = context.texts.choose_translation(tournament.name)
    return [
        HelpPage(title, partial(_draw_tournament_section, heading=heading, sentences=sentences))
        for heading, sentences in sections
    ]


def _draw_tournament_section(
    context: DrawingContext, rect: Rect, heading: str, sentences: Sequence[str]
) -> None:
    """Draw one section of a tournament's rules: its heading, and a paragraph for each sentence."""
    language = context.texts.language
    paragraphs = [context.texts.choose_translation({language: text}) for text in (heading, *sentences)]
    _draw_fitting_paragraphs(context, paragraphs, rect)


def _list_rule_difference_pages(context: DrawingContext) -> list[HelpPage]:
    """Return the help pages that say how the game differs from the usual rules of the game of this name."""
    differences = () if context.view.game is None else context.view.game.departures
    return [
        HelpPage(
            context.texts.translate("help.departures"),
            partial(
                _draw_rule_differences,
                differences=differences[start : start + _RULE_DIFFERENCES_PER_PAGE_MAX],
            ),
        )
        for start in range(0, len(differences), _RULE_DIFFERENCES_PER_PAGE_MAX)
    ]


def _draw_rule_differences(
    context: DrawingContext, rect: Rect, differences: Sequence[Mapping[str, str]]
) -> None:
    """Draw how the game differs from the usual rules, one paragraph for each difference."""
    _draw_fitting_paragraphs(context, [context.texts.choose_translation(text) for text in differences], rect)


def _draw_fitting_paragraphs(context: DrawingContext, paragraphs: Sequence[str], rect: Rect) -> None:
    """Draw paragraphs in a rectangle, in the largest text size in which all of them fit.

    If they fit in no size, draw them in the smallest size, joined into one paragraph.
    """
    painter, (x, y, w, h) = context.painter, rect
    texts_and_sizes = [("\n".join(paragraphs), size) for size in ("body", "small", "caption")]
    for text, size in (*texts_and_sizes, (FACT_SEPARATOR.join(paragraphs), "caption")):
        style = TextStyle("text", size, "text")
        if len(painter.wrap_text(text, w, style)) * context.theme.size_by_name[size] * 1.3 <= h:
            break
    painter.draw_paragraph(text, (x, y, w, h), style)


def _draw_rule_pictures(context: DrawingContext, rect: Rect) -> float:
    """Draw pictures below the rules: the symbols of prizes that award more than credits, and the first pay lines.

    Return the height used, in units.
    """
    reel_data = find_base_reel_data(context)
    if reel_data is None:
        return 0.0
    painter, (x, y, w, h) = context.painter, rect
    pictured_prizes = [prize for prize in reel_data.prizes if prize.additional_awards and prize.symbol][
        -_PICTURED_PRIZES_MAX:
    ]
    pictured_prizes = (
        pictured_prizes if all(prize.symbol_count <= 5 for prize in pictured_prizes) else pictured_prizes[-1:]
    )
    icons_and_texts = [
        (reel_data.list_prize_icons(prize), _describe_prize_award(context, reel_data, prize))
        for prize in pictured_prizes
    ]
    row_height = 62.0 if not context.layout.is_telephone else 56.0
    pay_lines = reel_data.pay_lines[: 6 if not context.layout.is_portrait else 4]
    height = row_height * len(icons_and_texts) + (104.0 if len(pay_lines) > 1 else 0.0)
    top = y + h - height
    for i, (icons, text) in enumerate(icons_and_texts):
        middle = top + (i + 0.5) * row_height
        painter.fill_rounded_rect((x, middle - row_height / 2, w, row_height - 6), (255, 255, 255, 14), 10)
        for n, symbol in enumerate(icons):
            size = (painter.scale_length(50), painter.scale_length(50))
            painter.draw_surface(
                render_symbol(context, reel_data, symbol, size),
                (painter.scale_length(x + 12 + n * 54), painter.scale_length(middle - 28)),
            )
        text_anchor = (x + 30 + 54 * len(icons), middle - 3)
        style = TextStyle("strong", "small", "text")
        painter.draw_text(text, text_anchor, style, align="left", width_max=w - 44 - 54 * len(icons))
    if len(pay_lines) > 1:
        grid_step = (w - 20) / len(pay_lines)
        for i, line in enumerate(pay_lines):
            colour = PAY_LINE_COLOURS[i % len(PAY_LINE_COLOURS)]
            left, grid_top = x + i * grid_step, top + row_height * len(icons_and_texts) + 12
            painter.draw_text(
                str(i + 1), (left + 22, grid_top + 42), TextStyle("heavy", "small", colour), width_max=40
            )
            grid: Rect = (left + 44, grid_top, min(grid_step - 60, 170.0), 86)
            render_grid = partial(
                _render_pay_line_grid, reel_data=reel_data, pay_line_rows=line, colour=colour
            )
            painter.draw_cached_picture(
                ("line grid", line, reel_data.reel_heights, colour), grid, render_grid
            )
    return height + 16


def _describe_prize_award(context: DrawingContext, reel_data: ReelData, prize: ReelPrize) -> str:
    """Return what a prize awards.

    If the picture of the prize does not show all of its symbols, the prize's name comes first.
    """
    if len(reel_data.list_prize_icons(prize)) == prize.symbol_count:
        return _format_additional_awards(context, prize)
    name = format_prize_name(context.texts, reel_data, prize.symbol_count, prize.symbol, prize.name)
    return f"{name}  ·  {_format_additional_awards(context, prize)}"


def _format_additional_awards(context: DrawingContext, prize: ReelPrize) -> str:
    """Return the text of what a prize awards in addition to credits, such as free games or merchandise."""
    merchandise_name_by_id = {
        str(prize_data["id"]): context.texts.choose_translation(prize_data["name"])
        for prize_data in read_merchandise_prizes(context)
    }
    awards = [
        (
            merchandise_name_by_id.get(award_id)
            or format_stage_name(context, award_id)
            or award_id.capitalize(),
            count,
        )
        for award_id, count in prize.additional_awards
    ]
    return " + ".join(
        text if count == 1 else context.texts.translate("help.kind", count=count, name=text)
        for text, count in awards
    )


def describe_bet_limits(context: DrawingContext) -> str:
    """Return a text with the value of a credit and the permitted bets.

    For a table, they are the limits of its spots and, if the machine reports it, the highest total stake of a round.
    """
    view, translate, snapshot = context.view, context.texts.translate, context.view.snapshot
    if snapshot is None:
        return ""
    cents = snapshot.denomination_cents
    limits = format_table_limits(context)
    if limits is None:
        lowest_text, highest_text = (
            context.texts.format_number(choose(list_offered_costs(view), default=0)) for choose in (min, max)
        )
        return translate(
            "help.unit", amount=context.format_money(cents), least=lowest_text, most=highest_text
        )
    lowest_text, highest_text = limits
    text = translate(
        "help.unit_table", amount=context.format_money(cents), least=lowest_text, most=highest_text
    )
    if snapshot.round_stake_max_cents is None:
        return text
    return (
        f"{text} {translate('help.most_staked', amount=context.format_money(snapshot.round_stake_max_cents))}"
    )


def _draw_about_page(context: DrawingContext, rect: Rect) -> None:
    """Draw the value of a credit, the theoretical return, the malfunction clause, and the game's exact identity."""
    game, snapshot, translate = context.view.game, context.view.snapshot, context.texts.translate
    if game is None or snapshot is None:
        return
    painter, (x, y, w, h) = context.painter, rect
    limits = describe_bet_limits(context)
    y += (
        painter.draw_paragraph(limits, (x, y, w, h), TextStyle("strong", "lead", context.look.accent_colour))
        + 18
    )
    return_text = format_theoretical_return(context, game)
    y += painter.draw_paragraph(return_text, (x, y, w, h), TextStyle("strong", "body", "text")) + 18
    y += (
        painter.draw_paragraph(
            translate(f"defect.rule_{snapshot.defect_rule}"), (x, y, w, h), TextStyle("text", "body", "text")
        )
        + 18
    )
    identity_text = translate("help.certified", id=game.id, version=game.version, digest=game.digest[:16])
    painter.draw_paragraph(identity_text, (x, y, w, h), TextStyle("text", "small", "text_dim"))


def _draw_prize_table(
    context: DrawingContext, rect: Rect, reel_data: ReelData, prizes: list[ReelPrize]
) -> None:
    """Draw a help page with the game's prizes: a row for each prize, with its credits at each bet (C-22).

    Of more than eight bets, only the four lowest and the four highest have a column.
    """
    game = context.view.game
    if game is None:
        return
    painter, format_number, (x, y, w, h) = context.painter, context.texts.format_number, rect
    bets = list_offered_costs(context.view)
    bets = bets if len(bets) <= 8 else (*bets[:4], *bets[-4:])
    is_telephone = context.layout.is_telephone
    name_width_share = 0.46 if not context.layout.is_telephone else 0.34
    draw_heading(context, context.texts.translate("help.prize_bet"), (x, y - 10, w * name_width_share, 52))
    left = x + w * name_width_share
    column_width = (w - w * name_width_share) / max(1, len(bets))
    row_height = min(76.0, (h - 44) / max(1, len(prizes)))
    for i, bet in enumerate(bets):
        is_current_bet = context.view.snapshot is not None and bet == context.view.snapshot.bet_credits
        if is_current_bet:
            painter.fill_rounded_rect(
                (left + i * column_width, y - 8, column_width, 50 + row_height * len(prizes)),
                (*context.look.accent_colour[:3], 30),
                12,
            )
        painter.draw_text(
            format_number(bet)
            if is_telephone
            else context.texts.translate("help.bet", bet=format_number(bet)),
            (left + (i + 0.5) * column_width, y + 16),
            TextStyle("strong", "small", context.look.accent_colour if is_current_bet else "text_dim"),
            width_max=column_width - 8,
        )
    for row_index, prize in enumerate(prizes):
        top = y + 42 + row_index * row_height
        painter.fill_rounded_rect(
            (x, top, w, row_height - 4), (255, 255, 255, 12 if row_index % 2 else 22), 10
        )
        middle = top + (row_height - 4) / 2
        icons = reel_data.list_prize_icons(prize)
        # On a telephone, a picture that shows the combination needs no name.
        is_name_left_out = is_telephone and (len(icons) > 1 or len(icons) == prize.symbol_count)
        name_width = 190 if not is_telephone else 12 if is_name_left_out else 150
        icon_width = min(row_height - 12, 60.0, (left - x - name_width) / max(1, len(icons)))
        icon_left, icon_lift = x + 10, 10.0 if is_name_left_out and prize.additional_awards else 0.0
        icon_width = min(icon_width, row_height - 32) if icon_lift else icon_width
        for symbol in icons:
            painter.draw_surface(
                render_symbol(
                    context,
                    reel_data,
                    symbol,
                    (painter.scale_length(icon_width), painter.scale_length(icon_width)),
                ),
                (painter.scale_length(icon_left), painter.scale_length(middle - icon_width / 2 - icon_lift)),
            )
            icon_left += icon_width
        if not is_name_left_out:
            _draw_prize_name(context, reel_data, prize, (icon_left + 12, middle), left - icon_left - 16)
        elif prize.additional_awards:
            awards_anchor = (x + 10, top + row_height - 18)
            painter.draw_text(
                _format_additional_awards(context, prize),
                awards_anchor,
                TextStyle("text", "caption"),
                align="left",
                width_max=left - x - 16,
            )
        for i, bet in enumerate(bets):
            credits_ = compute_prize_at_bet(game, prize.name, prize.credits, bet)
            text = format_number(credits_) if credits_ else NO_PRIZE_SIGN
            painter.draw_text(
                text,
                (left + (i + 0.5) * column_width, middle),
                TextStyle("numbers", "lead", "meter"),
                width_max=column_width - 10,
            )


def _draw_prize_name(
    context: DrawingContext,
    reel_data: ReelData,
    prize: ReelPrize,
    left_middle: tuple[float, float],
    width: float,
) -> None:
    """Draw a prize's name, and what it awards in addition to credits; in portrait, on two lines.

    ``left_middle`` is the left end of the text and the middle of its height.
    """
    name = format_prize_name(context.texts, reel_data, prize.symbol_count, prize.symbol, prize.name)
    awards = _format_additional_awards(context, prize)
    has_two_lines = bool(awards) and context.layout.is_portrait
    first_lines = [name] if has_two_lines or not awards else [f"{name} + {awards}"]
    for i, text in enumerate(first_lines + ([awards] if has_two_lines else [])):
        y = left_middle[1] + (24 * i - 12 if has_two_lines else 0)
        style = TextStyle("text", "caption" if has_two_lines else "small", "text")
        height = 24.0 if has_two_lines else 48.0
        context.painter.draw_label(text, (left_middle[0], y - height / 2, width, height), style, align="left")


def read_merchandise_prizes(context: DrawingContext) -> Sequence[Mapping[str, Any]]:
    """Return the merchandise prizes of the game on the screen, as the game's definition states them."""
    prizes: Sequence[Mapping[str, Any]] = context.game_data.get("merchandise", ())
    return prizes


def _draw_merchandise_prizes(context: DrawingContext, rect: Rect) -> None:
    """Draw each merchandise prize: its name, its description, and the value that the operator states (C-03)."""
    painter, (x, y, w, h) = context.painter, rect
    for prize in read_merchandise_prizes(context):
        name = context.texts.choose_translation(prize["name"])
        y += (
            painter.draw_paragraph(name, (x, y, w, h), TextStyle("heavy", "lead", context.look.accent_colour))
            + 10
        )
        y += (
            painter.draw_paragraph(
                context.texts.choose_translation(prize["description"]),
                (x, y, w, h),
                TextStyle("text", "body", "text"),
            )
            + 8
        )
        value = context.texts.translate(
            "handpay.prize_value", amount=context.format_money(prize["value_cents"])
        )
        y += painter.draw_paragraph(value, (x, y, w, h), TextStyle("strong", "body", "text")) + 34
    painter.draw_paragraph(
        context.texts.translate("help.in_kind_say"), (x, y, w, h), TextStyle("text", "small", "text_dim")
    )


def _draw_keno_table(context: DrawingContext, rect: Rect) -> None:
    """Draw what each catch pays for each number of spots, for one credit staked (M-01)."""
    pays_by_spot_count: dict[str, dict[str, int]] = context.game_data.get("tables", {})
    painter, (x, y, w, h) = context.painter, rect
    spot_counts = sorted(pays_by_spot_count, key=int)
    levels = context.game_data.get("progressives", ())
    paid_catches = {int(catch) for pay_by_catch in pays_by_spot_count.values() for catch in pay_by_catch}
    catches = sorted(paid_catches | {int(level["catch"]) for level in levels}, reverse=True)
    draw_heading(context, context.texts.translate("keno.table"), (x, y - 8, w, 44))
    catch_column_width = 170.0
    column_width = (w - catch_column_width) / max(1, len(spot_counts))
    row_height = min(52.0, (h - 96) / max(1, len(catches)))
    heading_style = TextStyle("strong", "small", context.look.accent_colour)
    titles = [context.texts.format_count("keno.of", int(spot_count)) for spot_count in spot_counts]
    if max((painter.measure_text(title, heading_style) for title in titles), default=0.0) > column_width - 6:
        # The columns have only numbers, and one heading says what they are.
        painter.draw_text(
            context.texts.translate("keno.spots_head"),
            (x + 14, y + 62),
            heading_style,
            align="left",
            width_max=catch_column_width - 20,
        )
        titles = spot_counts
    for i, title in enumerate(titles):
        painter.draw_text(
            title,
            (x + catch_column_width + (i + 0.5) * column_width, y + 62),
            heading_style,
            width_max=column_width - 6,
        )
    for row_index, catch in enumerate(catches):
        top = y + 88 + row_index * row_height
        painter.fill_rounded_rect(
            (x, top, w, row_height - 3), (255, 255, 255, 12 if row_index % 2 else 22), 8
        )
        middle = top + (row_height - 3) / 2
        text = context.texts.translate("keno.catch", count=catch)
        painter.draw_text(
            text,
            (x + 14, middle),
            TextStyle("text", "small", "text"),
            align="left",
            width_max=catch_column_width - 20,
        )
        for i, spot_count in enumerate(spot_counts):
            text = format_catch_award(context, int(spot_count), catch) or NO_PRIZE_SIGN
            painter.draw_text(
                text,
                (x + catch_column_width + (i + 0.5) * column_width, middle),
                TextStyle("numbers", "body", "meter"),
                width_max=column_width - 8,
            )


def _draw_pay_lines(context: DrawingContext, rect: Rect, reel_data: ReelData) -> None:
    """Draw each pay line of the game as a small grid, with the line's number."""
    painter, (x, y, w, h) = context.painter, rect
    used_height = painter.draw_paragraph(
        context.texts.translate("help.lines_rule"), (x, y, w, 90), TextStyle("text", "small", "text")
    )
    y, h = y + used_height + 12, h - used_height - 12
    line_count = len(reel_data.pay_lines)
    column_count = max(1, min(10, round((line_count * w / max(1.0, h) * 0.75) ** 0.5) or 1))
    row_count = -(-line_count // column_count)
    cell_width = min(w / column_count, h / row_count * 1.5, 360.0)
    height = min(h / row_count, cell_width * 0.72)
    for i, line in enumerate(reel_data.pay_lines):
        cell_left, cell_top = x + (i % column_count) * (w / column_count), y + (i // column_count) * height
        colour = PAY_LINE_COLOURS[i % len(PAY_LINE_COLOURS)]
        painter.draw_text(
            str(i + 1),
            (cell_left + 26, cell_top + height / 2),
            TextStyle("heavy", "small", colour),
            width_max=44,
        )
        grid: Rect = (cell_left + 52, cell_top + 6, cell_width - 64, height - 14)
        painter.draw_cached_picture(
            ("line grid", line, reel_data.reel_heights, colour),
            grid,
            partial(_render_pay_line_grid, reel_data=reel_data, pay_line_rows=line, colour=colour),
        )


def _render_pay_line_grid(
    size: tuple[int, int],
    reel_data: ReelData,
    pay_line_rows: tuple[int, ...],
    colour: tuple[int, int, int, int],
) -> pygame.Surface:
    """Return a small drawing of the reels' cells, in which the cells of a pay line are coloured."""
    canvas = VectorCanvas(size)
    cell_width, cell_height = 100 / reel_data.reel_count, 100 / max(reel_data.reel_heights)
    for reel, height in enumerate(reel_data.reel_heights):
        for row in range(height):
            is_on_line = reel < len(pay_line_rows) and pay_line_rows[reel] == row
            canvas.fill_path(
                build_rounded_box(
                    reel * cell_width + 1, row * cell_height + 1, cell_width - 2, cell_height - 2, 3
                ),
                colour if is_on_line else (255, 255, 255, 34),
            )
    return canvas.finish_surface()


def _draw_responsible_gambling(context: DrawingContext, rect: Rect) -> None:
    """Draw the help page on responsible gambling, with the jurisdiction's help line."""
    painter, (x, y, w, h) = context.painter, grow_rect(rect, -10)
    size = "lead" if not context.layout.is_telephone else "body"
    chance_text, limits_text = context.texts.translate("help.chance"), context.texts.translate("help.limits")
    y += (
        painter.draw_paragraph(
            chance_text, (x, y, w, h), TextStyle("strong", size, context.look.accent_colour)
        )
        + 30
    )
    y += painter.draw_paragraph(limits_text, (x, y, w, h), TextStyle("text", size, "text")) + 24
    help_line = format_help_line(context)
    if help_line:
        painter.draw_paragraph(help_line, (x, y, w, h), TextStyle("strong", size, "win"))
