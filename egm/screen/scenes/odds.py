"""The help pages with a game's odds: how often each bet wins, and awards with very long odds.

An award whose odds are longer than the jurisdiction's limit must be shown with them (C-23).
"""

import re
from typing import Final

from egm.kernel.messages import BetChances, GameView, LongOdds
from egm.screen.painter import Rect, TextStyle
from egm.screen.scenes.cards import format_settlement
from egm.screen.scenes.chip_keys import format_group_name
from egm.screen.scenes.drawing_context import DrawingContext, format_stage_name
from egm.screen.scenes.side_panels import format_prize_name
from egm.screen.table import BetSpot, is_table_game

#: The settlement name of a win that is not a pay table row.
_WIN_SETTLEMENT_NAME: Final = "won"

#: Awards on one page.
AWARDS_PER_PAGE: Final = 9
#: The minimum height of a row with room for two lines of the text size ``small``, in units.
_TWO_LINES_ROW_HEIGHT_MIN: Final = 64.0
#: Bets on one page.
_BETS_PER_PAGE: Final = 3


def list_long_odds_pages(context: DrawingContext) -> list[tuple[LongOdds, ...]]:
    """Return the awards whose very long odds must be shown, divided into help pages; empty if the game has none."""
    game = context.view.game
    awards = game.long_odds if game else ()
    return [awards[start : start + AWARDS_PER_PAGE] for start in range(0, len(awards), AWARDS_PER_PAGE)]


def list_chance_pages(context: DrawingContext) -> list[tuple[BetChances, ...]]:
    """Return the bets of the game and how often each wins, divided into help pages."""
    game = context.view.game
    chances = game.chances if game else ()
    bets_per_page = _BETS_PER_PAGE if len(chances) > 1 else 1
    return [chances[start : start + bets_per_page] for start in range(0, len(chances), bets_per_page)]


def draw_chances(context: DrawingContext, rect: Rect, bet_chances: tuple[BetChances, ...]) -> None:
    """Draw how often each bet wins and starts each feature, and its highest prize with its odds."""
    painter, texts, (x, y, w, h) = context.painter, context.texts, rect
    page_top = y
    y += (
        painter.draw_paragraph(
            texts.translate("odds.chances_say"), (x, y, w, h), TextStyle("text", "small", "text")
        )
        + 14
    )
    row_height = min(
        230.0 if len(bet_chances) == 1 or context.layout.is_telephone else 150.0,
        (h - (y - page_top)) / len(bet_chances),
    )
    for row_index, chances in enumerate(bet_chances):
        top = y + row_index * row_height
        painter.fill_rounded_rect(
            (x, top, w, row_height - 8), (255, 255, 255, 12 if row_index % 2 else 22), 10
        )
        lines = _format_chance_lines(context, chances)
        height = (row_height - 8) / (len(lines) + 0.4)
        for i, (text, number_text) in enumerate(lines):
            middle = top + (i + 0.7) * height
            size = "body" if height >= 40 else "small" if height >= 29 else "caption"
            line_rect: Rect = (x + 16, middle - height / 2, w * 0.62, height)
            text_size_name = "small" if height >= _TWO_LINES_ROW_HEIGHT_MIN else "caption"
            painter.draw_label(
                text,
                line_rect,
                TextStyle("text", size, "text"),
                align="left",
                wrapped_size_name=text_size_name,
            )
            style = TextStyle("strong", size, "meter")
            painter.draw_text(number_text, (x + w - 16, middle), style, align="right", width_max=w * 0.3)


def _format_chance_lines(context: DrawingContext, chances: BetChances) -> list[tuple[str, str]]:
    """Return the lines about the chances of one bet, each as a text and a number."""
    texts = context.texts
    lines = []
    if chances.hit_percent:
        percent_text = texts.translate("odds.percent", percent=texts.format_decimal(chances.hit_percent))
        lines.append(
            (texts.translate("odds.profit" if _is_table_bet(context, chances) else "odds.hit"), percent_text)
        )
    else:
        lines.append((texts.translate("odds.prizes_in_100"), texts.format_decimal(chances.prizes_in_100)))
    for feature, one_in in chances.features:
        name = format_stage_name(context, feature) or texts.format_code_text("odds.feature", feature)
        lines.append((name, texts.translate("odds.one_in", games=texts.format_number(one_in))))
    award = LongOdds(name=chances.top, stage=chances.top_stage, one_in=chances.top_one_in, bets=())
    credits_text = texts.format_count("meter.credits", chances.top_credits)
    name = _format_award_name(context, award)
    if _is_table_bet(context, chances):  # A table's payments include the stake.
        # A win of the bet itself has no own name; the text then states what was staked.
        is_plain_win = chances.top == _WIN_SETTLEMENT_NAME and chances.top_stage in chances.spots
        staked_text = texts.format_number(chances.cost_credits)
        prize_text = (
            texts.translate("odds.for_staked", what=credits_text, bet=staked_text)
            if is_plain_win
            else f"{name}, {credits_text}"
        )
        top_text = texts.translate("odds.top_returned", what=prize_text)
    else:
        top_text = texts.translate("odds.top", name=name, credits=credits_text)
    lines.append((top_text, texts.translate("odds.one_in", games=texts.format_number(chances.top_one_in))))
    if context.view.game is not None and len(context.view.game.chances) > 1:
        first_text, number_text = lines[0]
        lines[0] = (
            texts.translate("odds.bet_and_prize", bet=_describe_bet(context, chances), prize=first_text),
            number_text,
        )
    return lines


def _describe_bet(context: DrawingContext, chances: BetChances) -> str:
    """Return a text that names a bet: its spots, its hands, its number of Keno numbers, its wheel area, or its cost."""
    game, texts = context.view.game, context.texts
    if game is not None and _is_table_bet(context, chances):
        kind_names = [_format_bet_kind(context, bet_chances) for bet_chances in game.chances]
        kind_name = _format_bet_kind(context, chances)
        return kind_name if kind_names.count(kind_name) == 1 else _format_spot_names(context, chances)
    if chances.hands:
        credits_per_hand = texts.format_number(chances.cost_credits // chances.hands)
        return texts.format_count("odds.hands", chances.hands, bet=credits_per_hand)
    spot_count, _, suffix = chances.bet.partition(" ")
    if suffix in {"spot", "spots"} and spot_count.isdigit():
        return texts.format_count("keno.of", int(spot_count))
    for area in context.game_data.get("areas", ()):
        if area["id"] == chances.bet.partition(" ")[0]:
            return texts.choose_translation(area["name"])
    return texts.translate("help.bet", bet=texts.format_number(chances.cost_credits))


def _is_table_bet(context: DrawingContext, chances: BetChances) -> bool:
    """Return whether a bet is on spots of a table.

    If not, ``chances.spots`` is empty, or has the ids of a wheel's betting areas.
    """
    return bool(chances.spots) and context.view.table is not None


def _format_bet_kind(context: DrawingContext, chances: BetChances) -> str:
    """Return the name of a kind of bet.

    If bets of this kind have different payout odds, the name includes these odds.
    """
    table = context.view.table
    assert table is not None
    spots = [table.spots[spot_id] for spot_id in chances.spots if spot_id in table.spots]
    names = [format_group_name(context, table.groups[spot.group]) for spot in spots]
    return " + ".join(dict.fromkeys(names)) + _find_payout_odds_suffix(chances)


def _format_spot_names(context: DrawingContext, chances: BetChances) -> str:
    """Return the names of the spots of a bet as one text."""
    table = context.view.table
    assert table is not None
    names = [
        context.texts.choose_translation(table.spots[spot_id].names)
        for spot_id in chances.spots
        if spot_id in table.spots
    ]
    return " + ".join(names) + _find_payout_odds_suffix(chances)


def _find_payout_odds_suffix(chances: BetChances) -> str:
    """Return the payout odds at the end of a bet's id, with a space before them, such as `` 2:1``; "" without odds.

    A craps bet whose pay depends on the point has an id for each of its possible payout odds.
    """
    odds = chances.bet.rpartition(" ")[2]
    return f" {odds}" if re.fullmatch(r"\d+:\d+", odds) else ""


def draw_odds(context: DrawingContext, rect: Rect, awards: tuple[LongOdds, ...]) -> None:
    """Draw each award, where and with which bets it can be won, and its odds: one in how many games."""
    painter, (x, y, w, h) = context.painter, rect
    used_height = (
        painter.draw_paragraph(
            context.texts.translate("odds.say"), (x, y, w, h), TextStyle("text", "small", "text")
        )
        + 16
    )
    y, row_height = y + used_height, min(76.0, (h - used_height) / max(1, len(awards)))
    for award_index, award in enumerate(awards):
        top = y + award_index * row_height
        painter.fill_rounded_rect(
            (x, top, w, row_height - 4), (255, 255, 255, 12 if award_index % 2 else 22), 10
        )
        middle = top + (row_height - 4) / 2
        style = TextStyle("text", "small", "text")
        painter.draw_label(
            describe_award(context, award), (x + 14, top, w * 0.58, row_height - 4), style, align="left"
        )
        chance_text = context.texts.translate("odds.one_in", games=context.texts.format_number(award.one_in))
        painter.draw_text(
            chance_text,
            (x + w - 14, middle),
            TextStyle("strong", "body", "meter"),
            align="right",
            width_max=w * 0.36,
        )


def describe_award(context: DrawingContext, award: LongOdds) -> str:
    """Return an award's name in the player's language, and in which stage and with which bets it can be won.

    Stage and bets are left out if the award can be won in every stage, or with every bet.
    """
    game, texts = context.view.game, context.texts
    if game is None:
        return award.name
    award_texts = [_format_award_name(context, award)]
    stage_or_spot = format_stage_name(context, award.stage)
    spot = _find_award_spot(context, award)
    if spot is not None and award.name != _WIN_SETTLEMENT_NAME:
        stage_or_spot = texts.choose_translation(spot.names)
    if stage_or_spot:
        award_texts.append(stage_or_spot)
    costs = {int(bet["cost"]) for bet in game.presentation.get("bets", ()) if "cost" in bet}
    if costs - set(award.bets):
        award_texts += [texts.translate("help.bet", bet=texts.format_number(cost)) for cost in award.bets]
    return " · ".join(award_texts)


def _format_award_name(context: DrawingContext, award: LongOdds) -> str:
    """Return the name of an award in the player's language."""
    game, texts = context.view.game, context.texts
    assert game is not None  # The caller has checked this.
    for kind in ("progressives", "merchandise"):
        for prize in game.presentation.get(kind, ()):
            if prize["id"] == award.name and not award.stage:
                return texts.choose_translation(prize["name"], award.name)
    if is_table_game(game):
        spot = _find_award_spot(context, award)
        if award.name == _WIN_SETTLEMENT_NAME and spot is not None:
            return texts.choose_translation(spot.names)
        settlement_text = format_settlement(context, award.name)
        return _format_level_name(context, award.name) if settlement_text == award.name else settlement_text
    return _format_prize_of_game(context, game, award)


def _format_level_name(context: DrawingContext, level: str) -> str:
    """Return the name of a progressive level.

    The machine reports the names of the levels that the current bet plays for. For any other level, return a general
    text instead of the name.
    """
    snapshot = context.view.snapshot
    name_by_language = (
        next((progressive.names for progressive in snapshot.progressives if progressive.level == level), {})
        if snapshot
        else {}
    )
    return context.texts.choose_translation(name_by_language, context.texts.translate("odds.level"))


def _find_award_spot(context: DrawingContext, award: LongOdds) -> BetSpot | None:
    """Return the bet spot of the table on which an award is won, or None if it is not won on a spot."""
    return None if context.view.table is None else context.view.table.spots.get(award.stage)


def _format_prize_of_game(context: DrawingContext, game: GameView, award: LongOdds) -> str:
    """Return the name of an award that is a prize of reels, of a wheel or of Keno."""
    texts = context.texts
    reel_data = context.view.reel_data_by_game.get(game.id, {}).get(award.stage)
    if reel_data is not None:
        prize = next((row for row in reel_data.prizes if row.name == award.name), None)
        if prize is not None:
            return format_prize_name(texts, reel_data, prize.symbol_count, prize.symbol, prize.name)
    for area in game.presentation.get("areas", ()):
        if area["id"] == award.name:
            return texts.choose_translation(area["name"], award.name)
    names = game.presentation.get("names", {})
    if award.name in names:
        return texts.choose_translation(names[award.name], award.name)
    catch, separator, spot_count = award.name.partition(" of ")
    if separator and catch.isdigit() and spot_count.isdigit():
        return texts.format_count("keno.catch_of", int(catch), spots=texts.format_number(int(spot_count)))
    stage_name = format_stage_name(context, award.stage) if award.name.isdigit() else ""
    return f"{stage_name} {award.name}".lstrip()  # A segment of a bonus wheel is named by its multiplier.
