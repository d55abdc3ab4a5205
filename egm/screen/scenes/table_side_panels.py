"""The side panels of a table game (last results, odds and limits of a spot, settled bets), and its help pages."""

from collections import Counter
from typing import Final

from egm.kernel.messages import DecisionRequest, Snapshot
from egm.screen.layout import LEVELS_STRIP_HEIGHT, compute_rect_centre
from egm.screen.painter import FACT_SEPARATOR, Rect, TextStyle
from egm.screen.roads import count_most_and_least_frequent_numbers
from egm.screen.round_result import TableRoundResult
from egm.screen.scenes.cards import append_split_number, format_settlement
from egm.screen.scenes.chip_keys import (
    draw_table_key,
    format_group_name,
    format_info_key_label,
    lay_out_table_keys,
    list_table_touch_targets,
)
from egm.screen.scenes.decision_text import format_option_name
from egm.screen.scenes.drawing_context import BLACK, WHITE, DrawingContext
from egm.screen.scenes.pay_table import (
    PayRowText,
    compute_pay_rows_height,
    draw_pay_panels,
    draw_row_texts,
    format_spot_odds,
    list_spot_pay_rows,
)
from egm.screen.scenes.progressive import draw_level, list_shown_levels
from egm.screen.scenes.roulette_wheel import POCKET_COLOUR_BY_NAME, shorten_pocket_label
from egm.screen.steps import TableStep
from egm.screen.table import BetSpot, TableGameData, build_bet_limits, find_spot_closure, is_bet_on
from egm.screen.view import (
    can_place_chips,
    find_last_step,
    has_touched_bets_since_game,
    have_moving_parts_stopped,
    is_decision_due,
    is_presentation_running,
)

#: The colour of printed lines.
_PRINTED_LINE_COLOUR: Final = (226, 240, 226, 150)
#: In a telephone's strip, a result with more characters needs a wider cell.
_NARROW_RESULT_LENGTH_MAX: Final = 3
#: Height of a row of a spot's pays, in units.
_SPOT_PAY_ROW_HEIGHT: Final = 34.0
#: A description of a bet spot that is wider than this multiple of a telephone's strip is shortened.
_STRIP_LENGTH_FACTOR_MAX: Final = 1.4
#: From this number of results on, the most and the least frequent ones are listed.
_RESULTS_FOR_FREQUENCIES_MIN: Final = 10
#: Height of a row of the most or least frequent results, in units.
_FREQUENCY_ROW_HEIGHT: Final = 78.0


def draw_table_side_panels(context: DrawingContext, right_panel_rect: Rect) -> None:
    """Draw the side panels of a table game or, on a telephone, the strip that replaces them.

    The left panel has the player's chips and tools. The right one has the last results and below them, depending on the
    state of the round: the pending decision, the settled bets, the selected spot or a hint; then pay tables.
    ``right_panel_rect`` is the part of the right panel below the displays of progressive levels. For a game without
    betting spots, the panels have only its pay table.
    """
    view, table = context.view, context.view.table
    assert table is not None
    if context.layout.is_telephone:
        _draw_telephone_strip(context, table)
        return
    keys = lay_out_table_keys(view, context.layout) if table.spots else []
    for rect, action in keys:
        draw_table_key(context, table, rect, action)
    if not table.spots and draw_pay_panels(context):
        return
    x, y, w, h = right_panel_rect
    top = _draw_results(context, table, right_panel_rect)
    free_rect: Rect = (x + 18, top + 8, w - 36, y + h - 66 - top)
    settled_step = find_settled_step(context)
    selected_spot = find_selected_spot(context, table)
    decision = view.decision if is_decision_due(view, context.theme) else None
    is_panel_unused = (
        decision is None
        and (settled_step is None or has_touched_bets_since_game(view))
        and selected_spot is None
    )
    if len(list_shown_results(context)) >= _RESULTS_FOR_FREQUENCIES_MIN and table.felt_kind in {
        "roulette",
        "wheel",
        "dice",
    }:
        frequencies_height = _FREQUENCY_ROW_HEIGHT * (2 if free_rect[3] > 2 * _FREQUENCY_ROW_HEIGHT else 1)
        if is_panel_unused or free_rect[3] > 2 * frequencies_height:
            _draw_result_frequencies(
                context,
                table,
                (
                    free_rect[0],
                    free_rect[1] + free_rect[3] - frequencies_height,
                    free_rect[2],
                    frequencies_height,
                ),
            )
            free_rect = (*free_rect[:3], free_rect[3] - frequencies_height - 8)
    if decision is not None:
        used_height = _draw_question_details(context, table, decision, free_rect)
    elif settled_step is not None and not has_touched_bets_since_game(view):
        used_height = _draw_settlements(context, table, settled_step, free_rect)
    elif selected_spot is not None:
        used_height = _draw_spot_details(context, selected_spot, free_rect)
    else:
        has_room_for_hint = table.spots and view.decision is None and free_rect[3] > _FREQUENCY_ROW_HEIGHT
        hint_text = (
            context.texts.translate("felt.how", info=format_info_key_label(context, keys))
            if has_room_for_hint
            else ""
        )
        used_height = (
            context.painter.draw_paragraph(hint_text, free_rect, TextStyle("text", "caption", "text"))
            if hint_text
            else 0.0
        )
    pay_lists_rect = (
        free_rect[0],
        free_rect[1] + used_height + 14,
        free_rect[2],
        free_rect[3] - used_height - 14,
    )
    first_listed_spot = (
        selected_spot if decision is None else table.spots.get(str(decision.display.get("spot", "")))
    )
    _draw_pay_lists(
        context,
        table,
        pay_lists_rect,
        first_listed_spot if settled_step is None or decision is not None else None,
        settled_step,
    )


def find_settled_step(context: DrawingContext) -> TableStep | None:
    """Return the last step of a table round if it settled bets and its moving parts have stopped, otherwise None."""
    step = find_last_step(context.view)
    have_parts_stopped = context.view.presentation is not None and have_moving_parts_stopped(
        context.view, context.theme
    )
    return step if have_parts_stopped and isinstance(step, TableStep) and step.settlements else None


def find_round_result(context: DrawingContext) -> TableRoundResult | None:
    """Return the result of the selected game's round if its moving parts have stopped, otherwise None."""
    presentation = context.view.selected_game_presentation
    return (
        presentation.round_result
        if presentation is not None and have_moving_parts_stopped(context.view, context.theme)
        else None
    )


def describe_outcome(context: DrawingContext, result: TableRoundResult) -> str:
    """Return how a table round ended: the number, the dice or the winning side.

    Empty if the round has no single result, or if the game has cards and no scoreboard: the cards then show the result.
    """
    view, translate, display = context.view, context.texts.translate, result.display
    table, result_name = view.table, str(display.get("result", ""))
    if table is None or not result_name:
        return ""
    felt_kind = str(display.get("felt", ""))
    if felt_kind == "craps":
        return _format_throw(context, result)
    if felt_kind == "dice":
        total = display.get("total")
        return (
            translate("felt.ended_dice", dice=result_name, total=total)
            if total
            else translate("felt.ended", result=result_name)
        )
    if "pocket" in display:
        name = context.texts.choose_translation(table.pocket_names.get(result_name, {}), result_name)
        colour = table.pocket_colours.get(result_name, "")
        if felt_kind == "roulette" and context.texts.has_text(f"felt.colour_{colour}"):
            return translate("felt.ended_colour", result=name, colour=translate(f"felt.colour_{colour}"))
        return translate("felt.ended", result=name)
    return _describe_winner(context, result) if table.scoreboard_sides else ""


def _format_throw(context: DrawingContext, result: TableRoundResult) -> str:
    """Return the text for a throw of craps: its total, and whether it set, made or lost the point."""
    display, point_before = result.display, result.point_before
    total, point = int(display["total"]), display.get("point")
    if point_before is not None and point is None:
        key = "felt.point_made" if total == point_before else "felt.seven_out"
        return context.texts.translate(key, total=total, point=point_before)
    key = "felt.thrown" if point is None else "felt.point_set" if point_before is None else "felt.point_stays"
    return context.texts.translate(key, total=total, point=point or 0)


def _describe_winner(context: DrawingContext, result: TableRoundResult) -> str:
    """Return a text that says which of two sides has won a round, or that it is a tie, and the points."""
    game, table, translate = context.view.game, context.view.table, context.texts.translate
    assert game is not None
    assert table is not None
    names = {
        str(hand["id"]): context.texts.choose_translation(hand["names"])
        for hand in game.presentation.get("hands", ())
    }
    points = {str(hand["id"]): str(hand.get("says", "")) for hand in result.display.get("hands", ())}
    winner = str(result.display["result"])
    if winner in names:
        other_points = [points.get(side, "") for side in table.scoreboard_sides if side != winner]
        return translate(
            "felt.winner",
            side=names[winner],
            points=points.get(winner, ""),
            other_points="".join(other_points),
        )
    return translate("felt.tie", points=next(iter(points.values()), ""))


def find_selected_spot(context: DrawingContext, table: TableGameData) -> BetSpot | None:
    """Return the bet spot that is selected with the keys, or else the one touched last; None if there is neither."""
    view = context.view
    if view.is_focus_shown and can_place_chips(view, context.theme):
        touch_targets = list_table_touch_targets(view, context.layout)
        action = touch_targets[view.focused_target_index % len(touch_targets)][1]
        if action.name == "spot":
            return table.spots[str(action.value)]
    return table.spots.get(view.chips.explained_spot_id)


def list_shown_results(context: DrawingContext) -> tuple[str, ...]:
    """Return the table's past results, newest first, as in the last snapshot; empty before the first snapshot."""
    return context.view.snapshot.last_results if context.view.snapshot is not None else ()


def _draw_results(context: DrawingContext, table: TableGameData, rect: Rect) -> float:
    """Draw the past results of a table, and the note that they do not affect later ones.

    For a card game, draw nothing. Return the lower end of the drawing, in units.
    """
    painter, (x, y, w, _) = context.painter, rect
    if table.felt_kind == "cards":
        return y + 6
    style = TextStyle("strong", "small", context.look.accent_colour)
    painter.draw_text(context.texts.translate("felt.results"), (x + w / 2, y + 26), style, width_max=w - 30)
    results = list_shown_results(context)
    shown_count_max = int((w - 28) // 60)
    for i, result in enumerate(results[:shown_count_max]):
        _draw_result(context, table, result, (x + 14 + i * 60, y + 46, 56, 44), is_newest=i == 0)
    text, top = context.texts.translate("felt.past"), y + 96
    used_height = painter.draw_paragraph(
        text, (x + 16, top, w - 32, 80), TextStyle("text", "caption", "text"), leading=1.2
    )
    return top + used_height


def _draw_result_frequencies(context: DrawingContext, table: TableGameData, rect: Rect) -> None:
    """Draw the most and the least frequent results among those that the table has recorded."""
    painter, (x, y, w, h), results = context.painter, rect, list_shown_results(context)
    numbers = (
        tuple(map(str, range(1, 7)))
        if table.felt_kind == "dice"
        else tuple(dict.fromkeys(table.wheel_pockets))
    )
    is_side_by_side = h < 2 * _FREQUENCY_ROW_HEIGHT
    list_width, list_height = ((w - 10) / 2, h) if is_side_by_side else (w, h / 2)
    results_per_list = max(1, min(5, len(numbers) // 2, int(list_width // 64)))
    cell_width = list_width / results_per_list
    for list_index, (title_key, counted_numbers) in enumerate(
        zip(
            ("felt.most_often", "felt.least_often"),
            count_most_and_least_frequent_numbers(results, numbers, results_per_list),
            strict=True,
        )
    ):
        left, top = (
            (x + list_index * (list_width + 10), y) if is_side_by_side else (x, y + list_index * list_height)
        )
        title = context.texts.translate(title_key, count=len(results))
        painter.draw_text(
            title,
            (left, top + 14),
            TextStyle("strong", "caption", "text"),
            align="left",
            width_max=list_width,
        )
        for i, (number, frequency) in enumerate(counted_numbers):
            cell: Rect = (left + i * cell_width, top + 28, cell_width - 6, list_height - 34)
            _draw_result(context, table, number, (cell[0], cell[1], cell[2] * 0.56, cell[3]))
            count_centre = (cell[0] + cell[2] * 0.78, cell[1] + cell[3] / 2)
            painter.draw_text(
                f"\u00d7{frequency}",
                count_centre,
                TextStyle("numbers", "caption", "text"),
                width_max=cell[2] * 0.42,
            )


def _draw_result(
    context: DrawingContext, table: TableGameData, result: str, cell: Rect, *, is_newest: bool = False
) -> None:
    """Draw a past result in the colour that it has on the wheel; the newest has a white frame."""
    painter = context.painter
    fill = POCKET_COLOUR_BY_NAME.get(table.pocket_colours.get(result, ""), (30, 24, 56, 255))
    painter.draw_panel(cell, radius=10, fill=fill, edge_paint=WHITE if is_newest else _PRINTED_LINE_COLOUR)
    text_colour = (
        BLACK if fill in {POCKET_COLOUR_BY_NAME["white"], POCKET_COLOUR_BY_NAME["yellow"]} else WHITE
    )
    size = "small" if cell[3] > 40 else "caption"
    painter.draw_text(
        _format_result_label(context, table, result),
        compute_rect_centre(cell),
        TextStyle("heavy", size, text_colour),
        width_max=cell[2] - 6,
    )


def _format_result_label(context: DrawingContext, table: TableGameData, result: str) -> str:
    """Return the text of a result as printed on the wheel or the scoreboard."""
    name = context.texts.choose_translation(table.pocket_names.get(result, {}), result)
    return shorten_pocket_label(name) if result in table.pocket_colours else name


def _draw_spot_details(context: DrawingContext, spot: BetSpot, rect: Rect) -> float:
    """Draw a bet spot's name and the lines of :func:`format_spot_lines`.

    If they are too high for the panel, they are drawn smaller. In portrait, the lines that are not amber are joined
    into one, and of the amber lines only the last is drawn. Return the height used, in units.
    """
    painter, view, (x, y, w, h) = context.painter, context.view, rect
    name_style = TextStyle("heavy", "body", context.look.accent_colour)
    lines = format_spot_lines(context, spot, view.denomination_cents)
    gap, leading, size = 4, 1.2, "caption"
    if context.layout.is_portrait:  # A portrait panel has room for a name and three lines.
        joined_text = "  ·  ".join(text for text, colour in lines if colour != "amber")
        lines = [(joined_text, "meter"), *[line for line in lines if line[1] == "amber"][-1:]]
        gap, leading = 1, 1.1
    name = context.texts.choose_translation(spot.names)
    top = y + painter.draw_paragraph(name, (x, y, w, 70), name_style, leading=leading + 0.1)
    line_count = sum(
        len(painter.wrap_text(text, w, TextStyle("strong", size, colour))) for text, colour in lines
    )
    text_height = context.theme.size_by_name[size]
    if top + line_count * text_height * leading + len(lines) * gap > y + h:
        size = "tiny"
    elif top + line_count * text_height * 1.2 + len(lines) * gap <= y + h:
        leading = 1.2  # An accent on a capital letter stays clear of the line above it.
    for text, colour in lines:
        style = TextStyle("strong", size, colour)
        top += painter.draw_paragraph(text, (x, top + gap, w, 60), style, leading=leading) + gap
    return top - y


def _draw_question_details(
    context: DrawingContext, table: TableGameData, decision: DecisionRequest, rect: Rect
) -> float:
    """Draw what a decision is about: the bet, its stake, and the cost of each option.

    Return the height used, in units.
    """
    painter, (x, y, w, h) = context.painter, rect
    top = y
    for text, cost, style in format_question_lines(context, table, decision):
        if top + _SPOT_PAY_ROW_HEIGHT > y + h:
            break
        middle = top + _SPOT_PAY_ROW_HEIGHT / 2
        painter.draw_text(text, (x, middle), style, align="left", width_max=w * (0.66 if cost else 1.0))
        if cost:
            painter.draw_text(
                cost, (x + w, middle), style._replace(paint="meter"), align="right", width_max=w * 0.32
            )
        top += _SPOT_PAY_ROW_HEIGHT
    return top - y


def format_question_lines(
    context: DrawingContext, table: TableGameData, decision: DecisionRequest
) -> list[tuple[str, str, TextStyle]]:
    """Return the lines that describe a player decision: each has a text, an amount or "", and a text style.

    Empty if the decision is another seat's.
    """
    if not decision.options:
        return []
    spot, bet_spot_of_kind = (
        table.spots.get(str(decision.display.get("spot", ""))),
        table.spots.get(decision.kind),
    )
    bet_spot = spot or bet_spot_of_kind
    name = "" if bet_spot is None else context.texts.choose_translation(bet_spot.names)
    step = find_last_step(context.view)
    if isinstance(step, TableStep):
        name = append_split_number(context, name, step, str(decision.display.get("hand", "")))
    text_style = TextStyle("strong", "caption", "text")
    lines = [(name, "", TextStyle("heavy", "body", context.look.accent_colour))] if name else []
    if "staked" in decision.display:
        amount = context.format_money(int(decision.display["staked"]) * context.view.denomination_cents)
        lines.append((context.texts.translate("felt.staked", amount=amount), "", text_style))
    for option, cost in decision.costs.items():
        cost_text = f"+{context.format_money(cost * context.view.denomination_cents)}"
        lines.append((format_option_name(context, option), cost_text, text_style))
    if bet_spot_of_kind is not None:
        text = context.texts.translate("felt.odds", odds=_format_spot_pay(context, bet_spot_of_kind))
        lines.append((text, "", text_style._replace(paint="meter")))
    return lines


def _draw_pay_lists(
    context: DrawingContext,
    table: TableGameData,
    rect: Rect,
    first_spot: BetSpot | None,
    settled_step: TableStep | None,
) -> None:
    """Draw the pay tables of the bet spots that have one, as many as fit, beginning with that of ``first_spot``.

    The rows that won in ``settled_step`` are lit.
    """
    painter, (x, y, w, h) = context.painter, rect
    spots = sorted(table.spots.values(), key=lambda spot: spot is not first_spot)
    won_rows = {
        (str(settlement.get("spot", "")), str(settlement["name"]))
        for settlement in (settled_step.settlements if settled_step else ())
    }
    pay_lists: list[tuple[str, list[PayRowText], float]] = []
    for spot in spots:
        pay_rows = list_spot_pay_rows(context, spot)
        pay_row_texts = [
            PayRowText(
                context.texts.choose_translation(pay.names), pay.odds, is_won=(spot.id, pay.id) in won_rows
            )
            for pay in pay_rows
        ]
        if pay_row_texts:
            pay_lists.append(
                (
                    context.texts.choose_translation(spot.names),
                    pay_row_texts,
                    compute_pay_rows_height(context, pay_row_texts, w + 20),
                )
            )
    while pay_lists and h < sum(_SPOT_PAY_ROW_HEIGHT + height for _, _, height in pay_lists):
        pay_lists.pop()
    additional_height = (h - sum(_SPOT_PAY_ROW_HEIGHT + height for _, _, height in pay_lists)) / max(
        1, len(pay_lists)
    )
    top, style = y, TextStyle("strong", "caption", context.look.accent_colour)
    for name, pay_row_texts, height in pay_lists:
        painter.draw_text(name, (x, top + _SPOT_PAY_ROW_HEIGHT / 2), style, align="left", width_max=w)
        top += _SPOT_PAY_ROW_HEIGHT + draw_row_texts(
            context,
            (x - 10, top + _SPOT_PAY_ROW_HEIGHT, w + 20, height + additional_height),
            pay_row_texts,
            _SPOT_PAY_ROW_HEIGHT,
        )


def _format_spot_pay(context: DrawingContext, spot: BetSpot) -> str:
    """Return what a bet on a spot pays: the game's own text for it, or else :func:`format_spot_odds`."""
    return (
        context.texts.choose_translation(spot.pay_texts)
        if spot.pay_texts
        else format_spot_odds(context, spot)
    )


def format_spot_lines(context: DrawingContext, spot: BetSpot, unit_cents: int) -> list[tuple[str, str]]:
    """Return the lines that explain a bet spot, each as a text and the name of its colour in the theme.

    They are its odds, its limits, the bet that it requires, and the bet on it. Lines in amber say whether the bet is on
    or off for the next throw (craps), and why the last touch changed nothing or the spot takes no bet now. Empty before
    the first snapshot.
    """
    translate, view, table = context.texts.translate, context.view, context.view.table
    if view.snapshot is None or table is None:
        return []
    limits = build_bet_limits(view.snapshot)
    spot = limits.apply_limits_to_spot(spot)
    odds = _format_spot_pay(context, spot)
    lines = [
        (translate("felt.odds" if spot.required_bet_divisor is None else "felt.share", odds=odds), "meter")
    ]
    highest_credits = limits.find_maximum(spot, view.chips.bets) or spot.bet_max
    highest_credits -= highest_credits % spot.bet_step
    lowest_text, highest_text, step_text = (
        context.format_money(credits_ * unit_cents)
        for credits_ in (spot.bet_min, highest_credits, spot.bet_step)
    )
    key = "felt.only" if lowest_text == highest_text else "felt.steps" if spot.bet_step > 1 else "felt.limits"
    lines.append(
        (
            _format_bets_in_round(context, spot)
            or translate(key, least=lowest_text, most=highest_text, step=step_text),
            "text",
        )
    )
    if spot.required_spot_multiple is not None and spot.required_spot is not None:
        required_name = context.texts.choose_translation(table.spots[spot.required_spot].names)
        lines.append(
            (translate("felt.goes_with", spot=required_name, times=spot.required_spot_multiple), "text")
        )
    standing_credits, new_credits = limits.standing_bets.get(spot.id, 0), view.chips.bets.get(spot.id, 0)
    if standing_credits:
        lines.append(
            (translate("felt.standing", amount=context.format_money(standing_credits * unit_cents)), "text")
        )
    if new_credits:
        key = "felt.staked" if new_credits > 0 else "felt.taken_down"
        lines.append((translate(key, amount=context.format_money(abs(new_credits) * unit_cents)), "text"))
    is_on = is_bet_on(table, view.chips, spot.id, limits)
    if is_on is not None and standing_credits + new_credits > 0:
        lines.append((translate("felt.plays_on" if is_on else "felt.plays_off"), "amber"))
    reason = view.chips.refusal_key if view.chips.explained_spot_id == spot.id else ""
    reason = (
        (reason or find_spot_closure(spot, view.chips.bets, limits).refusal_key)
        if view.is_request_accepted("bet")
        else ""
    )
    if reason:
        lines.append((describe_bet_refusal(context, spot, reason), "amber"))
    return lines


def describe_needed_credit(context: DrawingContext, needed_credit_cents: int, bet_cents: int) -> str:
    """Return a text with the credit that a bet needs, why, and the player's credit; empty if there is enough.

    ``needed_credit_cents`` is the credit that must be available to place the bet of ``bet_cents``.
    """
    snapshot = context.view.snapshot
    if snapshot is None or needed_credit_cents <= snapshot.credit_cents:
        return ""
    key = (
        "doubled"
        if needed_credit_cents == 2 * bet_cents
        else "raised"
        if needed_credit_cents > bet_cents
        else "costs"
    )
    needed_text, credit_text = (
        context.format_money(needed_credit_cents),
        context.format_money(snapshot.credit_cents),
    )
    return context.texts.translate(f"status.needs_{key}", needs=needed_text, credit=credit_text)


def describe_bet_refusal(context: DrawingContext, spot: BetSpot | None, refusal_key: str) -> str:
    """Return the text that says why a bet spot takes no bet, or why a touch was refused.

    ``refusal_key`` is the reason (:attr:`egm.screen.table.ChipsOnTable.refusal_key`). The text names the spots that
    need a bet first, or the venue's maximum, if the reason is one of these.
    """
    table, snapshot = context.view.table, context.view.snapshot
    names: list[str] = []
    if spot is not None and table is not None and snapshot is not None:
        needed_spot_ids = find_spot_closure(
            spot, context.view.chips.bets, build_bet_limits(snapshot)
        ).needed_spot_ids
        names = [context.texts.choose_translation(table.spots[spot_id].names) for spot_id in needed_spot_ids]
    maximum_text = "" if snapshot is None else context.format_money(snapshot.bet_max_cents or 0)
    return context.texts.translate(
        f"felt.refused_{refusal_key}", spots=" / ".join(names), amount=maximum_text
    )


def _draw_settlements(
    context: DrawingContext, table: TableGameData, settled_step: TableStep, rect: Rect
) -> float:
    """Draw the result of each bet, those with the highest return first. Return the height used, in units.

    If not all fit, the last line says how many are left out.
    """
    painter, (x, y, w, h) = context.painter, rect
    settlements = sorted(settled_step.settlements, key=lambda settlement: -int(settlement["credits"]))
    if any(int(settlement["credits"]) for settlement in settlements):
        style = TextStyle("strong", "caption", context.look.accent_colour)
        y += (
            painter.draw_paragraph(
                context.texts.translate("felt.returned"), (x, y, w, 60), style, leading=1.2
            )
            + 4
        )
    settlement_counts = Counter(
        (settlement.get("spot"), settlement.get("hand")) for settlement in settlements
    )
    row_height = 38.0  # high enough for a long name in two lines
    first_row_top, row_count_max = y, max(1, int((rect[1] + h - y) // row_height))
    for i, settlement in enumerate(settlements[:row_count_max]):
        middle = y + (i + 0.5) * row_height
        if i == row_count_max - 1 and len(settlements) > row_count_max:
            text = context.texts.translate("felt.more", count=len(settlements) - i)
            painter.draw_text(
                text, (x, middle), TextStyle("text", "caption", "text"), align="left", width_max=w
            )
            break
        spot, returned_credits = table.spots.get(str(settlement.get("spot", ""))), int(settlement["credits"])
        settlement_text = format_settlement(context, str(settlement["name"]))
        is_named = spot is not None and settlement_counts[settlement.get("spot"), settlement.get("hand")] == 1
        name = context.texts.choose_translation(spot.names) if spot and is_named else settlement_text
        name = append_split_number(context, name, settled_step, str(settlement.get("hand", "")))
        name_rect: Rect = (x, middle - row_height / 2, w * 0.7, row_height)
        painter.draw_label(name, name_rect, TextStyle("strong", "caption", "text"), align="left")
        style = (
            TextStyle("numbers", "small", "win") if returned_credits else TextStyle("text", "caption", "text")
        )
        painter.draw_text(
            context.format_money(returned_credits * context.view.denomination_cents)
            if returned_credits
            else settlement_text,
            (x + w, middle),
            style,
            align="right",
            width_max=w * 0.28,
        )
    return first_row_top - rect[1] + row_height * min(row_count_max, len(settlements))


def _draw_telephone_strip(context: DrawingContext, table: TableGameData) -> None:
    """Draw the strip above the felt on a telephone.

    It has the displays of progressive levels and one of these: the pending decision, the selected bet spot, or the last
    results.
    """
    painter, view, (x, y, w, _) = context.painter, context.view, context.layout.left_panel
    selected_spot = find_selected_spot(context, table)
    settled_step = find_settled_step(context)
    decision = view.decision if is_decision_due(view, context.theme) else None
    style = TextStyle("strong", "caption", "text")
    levels = list_shown_levels(context)
    for i, level in enumerate(levels):
        level_width = w / len(levels)
        level_rect: Rect = (x + i * level_width + 8, y + 8, level_width - 16, LEVELS_STRIP_HEIGHT - 10)
        draw_level(context, level, level_rect, "caption")
    text_rect: Rect = (x + 12, y + (LEVELS_STRIP_HEIGHT if levels else 0.0) + 1, w - 24, 46)
    lines = format_question_lines(context, table, decision) if decision is not None else []
    # Lines with a cost are left out, because the keys show the costs.
    question_texts = [text for text, cost, _ in lines if not cost][:2]
    if question_texts:
        painter.draw_label("  ·  ".join(question_texts), text_rect, style)
        return
    if (
        selected_spot is not None
        and decision is None
        and (settled_step is None or has_touched_bets_since_game(view))
    ):
        texts = [
            context.texts.choose_translation(selected_spot.names),
            *(text for text, _ in format_spot_lines(context, selected_spot, view.denomination_cents)),
        ]
        odds = context.texts.translate("felt.odds", odds=format_spot_odds(context, selected_spot))
        text_selections = ([texts[0], texts[1], texts[-1]], texts[:2], [texts[0], odds])  # the longest first
        descriptions = ["  ·  ".join(selection) for selection in text_selections]
        fitting_descriptions = (
            description
            for description in descriptions
            if painter.measure_text(description, style) < _STRIP_LENGTH_FACTOR_MAX * text_rect[2]
        )
        painter.draw_label(next(fitting_descriptions, texts[0]), text_rect, style)
        return
    results = list_shown_results(context) if table.felt_kind != "cards" else ()
    if not results:
        painter.draw_label(context.texts.translate("felt.past"), text_rect, style)
        return
    result_width = (
        50
        if all(
            len(_format_result_label(context, table, result)) <= _NARROW_RESULT_LENGTH_MAX
            for result in results
        )
        else 74
    )
    shown_count_max = int((w - 24) // result_width)
    for i, result in enumerate(results[:shown_count_max]):
        _draw_result(
            context,
            table,
            result,
            (x + 12 + i * result_width, text_rect[1] + 4, result_width - 4, 38),
            is_newest=i == 0,
        )


def describe_bets_on_felt(context: DrawingContext) -> str:
    """Return what PLAY would stake now, as text: the amount and the number of spots.

    If there is no bet yet, if no round can start with these bets, or if the machine waits until betting closes, the
    text says so. Empty during a round, and for a game without betting spots.
    """
    view, table = context.view, context.view.table
    is_round_shown = is_presentation_running(view, context.theme) or view.decision is not None
    if table is None or view.snapshot is None or not table.spots or is_round_shown:
        return ""
    chips, unit_cents = view.chips, view.snapshot.denomination_cents
    if view.snapshot.state == "betting":
        return context.texts.translate("notice.refused.betting")
    if chips.refusal_key:
        return describe_bet_refusal(context, table.spots.get(chips.explained_spot_id), chips.refusal_key)
    spot_count = sum(credits_ > 0 for credits_ in chips.bets.values())
    if not spot_count:
        return _describe_empty_felt(context, view.snapshot)
    if chips.credits < build_bet_limits(view.snapshot).venue_bet_min:
        return context.texts.translate(
            "felt.least_here", amount=context.format_money(view.snapshot.bet_min_cents)
        )
    price = context.format_money(chips.credits * unit_cents)
    return context.texts.format_count("felt.buys", spot_count, price=price)


def _describe_empty_felt(context: DrawingContext, snapshot: Snapshot) -> str:
    """Return what the player must do while there is no bet on the felt.

    If players play against each other, the text also says who has the bank or the dealer button.
    """
    felt = snapshot.felt_state
    if felt.button is not None:
        turn = context.texts.translate("felt.button_turn", number=felt.button + 1)
        return f"{context.texts.translate('felt.place_stakes')}  \u00b7  {turn}"
    text = context.texts.translate(
        "felt.standing_only" if snapshot.standing_credits_by_spot else "felt.place"
    )
    if felt.bank is None:
        return text
    amount = context.format_money(felt.banco * snapshot.denomination_cents)
    key = "felt.bank_again" if felt.banco else "felt.bank_turn"
    return f"{text}  \u00b7  {context.texts.translate(key, number=felt.bank + 1, amount=amount)}"


def _format_bets_in_round(context: DrawingContext, spot: BetSpot) -> str:
    """Return the permitted amounts of a bet that is made during a round, as multiples of the bet that it depends on.

    Empty for any other bet.
    """
    table = context.view.table
    if not spot.added_bet_multiples or spot.required_spot is None or table is None:
        return ""
    bet = context.texts.choose_translation(table.spots[spot.required_spot].names)
    return context.texts.translate("felt.added", spot=bet, times=", ".join(spot.added_bet_multiples))


def draw_felt_prizes(context: DrawingContext, rect: Rect, spot_groups: tuple[str, ...]) -> None:
    """Draw a help page with the odds, limits and certified return of the bets in the given groups of spots.

    The return is left out if the game does not state it for the group, or if the venue takes a commission.
    """
    table, snapshot = context.view.table, context.view.snapshot
    if table is None or snapshot is None:
        return
    painter = context.painter
    (x, y, w, h) = rect
    unit_cents = snapshot.denomination_cents
    is_telephone = context.layout.is_telephone
    limits = build_bet_limits(snapshot)
    row_pitch = min(56.0 if not is_telephone else 70.0, h / max(1, len(spot_groups)))
    for i, group in enumerate(spot_groups):
        spots = table.groups[group]
        odds = " / ".join(dict.fromkeys(spot.odds for spot in spots))
        lowest_text, highest_text = (
            context.format_money(credits_ * unit_cents)
            for credits_ in (spots[0].bet_min, limits.find_spot_maximum(spots[0]))
        )
        middle = y + (i + (0.5 if not is_telephone else 0.3)) * row_pitch
        style = TextStyle("strong", "small" if row_pitch > 40 else "caption", "text")
        painter.draw_text(
            format_group_name(context, spots),
            (x, middle),
            style,
            align="left",
            width_max=w * (0.36 if not is_telephone else 0.7),
        )
        odds_anchor = (x + w * (0.5 if not is_telephone else 1.0), middle)
        painter.draw_text(
            odds,
            odds_anchor,
            style._replace(paint="meter"),
            align="right",
            width_max=w * (0.13 if not is_telephone else 0.26),
        )
        key = "felt.only" if lowest_text == highest_text else "felt.limits"
        facts = [
            _format_bets_in_round(context, spots[0])
            or context.texts.translate(key, least=lowest_text, most=highest_text)
        ]
        game = context.view.game
        return_percent = None if game is None or game.commission_percent else game.returns.get(group)
        if return_percent is not None:
            facts.insert(
                0,
                context.texts.translate("felt.returns", percent=context.texts.format_decimal(return_percent)),
            )
        facts_style = TextStyle("text", "caption", "text")
        if is_telephone:
            painter.draw_text(
                FACT_SEPARATOR.join(facts),
                (x, middle + row_pitch * 0.4),
                facts_style,
                align="left",
                width_max=w,
            )
        else:
            painter.draw_text(
                FACT_SEPARATOR.join(facts), (x + w, middle), facts_style, align="right", width_max=w * 0.48
            )


def list_prize_pages(context: DrawingContext) -> list[tuple[str, ...]]:
    """Return the ids of all groups of bet spots, divided among the help pages that state what the bets pay."""
    table = context.view.table
    groups = tuple(table.groups) if table is not None else ()
    groups_per_page = 10 if not context.layout.is_portrait else 16 if not context.layout.is_telephone else 9
    return [groups[i : i + groups_per_page] for i in range(0, len(groups), groups_per_page)]
