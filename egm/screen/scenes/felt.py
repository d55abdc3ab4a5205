"""Drawing of a table game: its felt with the chips, its moving parts, and its decisions."""

from dataclasses import replace
from functools import partial
from typing import Final

import pygame

from egm.kernel.messages import DecisionRequest
from egm.screen.art.paths import build_ellipse, build_rounded_box
from egm.screen.art.vector_canvas import RadialGradient, VectorCanvas
from egm.screen.felt_layout import (
    RACETRACK_PART_NAME,
    find_open_felt_part,
    lay_out_felt,
    lay_out_part_tabs,
    lay_out_racetrack_keys,
    list_street_sheets,
)
from egm.screen.layout import compute_rect_centre
from egm.screen.painter import Rect, TextStyle
from egm.screen.presentation import StepTimes
from egm.screen.scenes.cards import draw_cards, lay_out_card_touch_targets
from egm.screen.scenes.chip_keys import (
    draw_felt_part_key,
    draw_table_key,
    draw_table_text_key,
    lay_out_table_keys,
)
from egm.screen.scenes.chips import (
    CHIP_WIDTH,
    STANDING_BET_CHIP_COLOUR,
    draw_chip,
    draw_returned_amount,
    find_chip_colour,
)
from egm.screen.scenes.decision_text import format_option, format_question
from egm.screen.scenes.dice import draw_craps_point, draw_dice, draw_resting_dice
from egm.screen.scenes.drawing_context import BLACK, WHITE, DrawingContext, draw_button
from egm.screen.scenes.pay_table import format_spot_odds
from egm.screen.scenes.roulette_wheel import POCKET_COLOUR_BY_NAME, draw_roulette_wheel
from egm.screen.scenes.scoreboard import draw_scoreboard, should_draw_scoreboard
from egm.screen.scenes.table_side_panels import find_settled_step
from egm.screen.spot_layout import (
    FeltCell,
    FeltLayout,
    is_chip_beside_label,
    split_common_words,
    split_label_and_odds,
)
from egm.screen.steps import TableStep
from egm.screen.table import (
    BetLimits,
    BetsBySpot,
    BetSpot,
    TableGameData,
    build_bet_limits,
    find_spot_closure,
    is_bet_on,
    read_registered_bets,
)
from egm.screen.theme import Colour, mix_colours, parse_colour
from egm.screen.view import (
    Action,
    Scene,
    build_view_timeline,
    find_last_step,
    has_touched_bets_since_game,
    is_decision_due,
    is_marked_option_permitted,
)

#: A spot's label with more characters than this is printed smaller.
_LARGE_LABEL_LENGTH_MAX: Final = 3
#: A cell no higher than this, in units, has no room for its odds.
_HEIGHT_WITHOUT_ODDS_MAX: Final = 56.0
#: A cell lower than this, in units, has a smaller text.
_HEIGHT_FOR_FULL_TEXT_MIN: Final = 80.0
#: The texts of the two keys that divide a hand in two: as the player has marked the cards, or the house way.
_TEXT_KEY_BY_SETTING_ACTION: Final = {"play": "set_so", "set_as": "house"}
#: A turning wheel's share of the field's width.
_WHEEL_WIDTH_SHARE: Final = 0.4
#: A turning wheel's share of the field's height in portrait.
_WHEEL_HEIGHT_SHARE_IN_PORTRAIT: Final = 0.46
#: The colour of the felt, before the game's own tint.
_FELT_COLOUR: Final = parse_colour("#0d5237")
#: The colour of printed lines.
_PRINTED_LINE_COLOUR: Final = (226, 240, 226, 150)
#: The edge colour of a spot that takes no bet now.
_CLOSED_SPOT_EDGE_COLOUR: Final = (226, 240, 226, 60)
#: The text colour of a spot that takes no bet now.
_CLOSED_SPOT_TEXT_COLOUR: Final = (166, 178, 170, 255)


def lay_out_felt_options(context: DrawingContext, decision: DecisionRequest) -> list[tuple[Rect, Action]]:
    """Return the touch targets for a decision at a table: a key for each option, or the cards that can be held.

    If the player divides a hand in two (decision ``set``), return both cards and keys. If another seat decides, return
    an empty list.
    """
    if not decision.options:
        return []
    if decision.kind == "hold":
        return [(rect, Action("hold", i)) for i, rect in enumerate(lay_out_card_touch_targets(context))]
    if decision.kind == "set":
        keys = [Action("play"), Action("set_as", decision.display["house"])]
        keys += [Action("choose", option) for option in decision.options if isinstance(option, str)]
        card_touch_targets = [
            (rect, Action("hold", i)) for i, rect in enumerate(lay_out_card_touch_targets(context))
        ]
        return [*card_touch_targets, *_lay_out_key_rows(context, keys)]
    return _lay_out_key_rows(context, [Action("choose", option) for option in decision.options])


def _lay_out_key_rows(context: DrawingContext, actions: list[Action]) -> list[tuple[Rect, Action]]:
    """Return the rectangle of a key for each of the given actions, in rows at the lower edge of the field."""
    x, y, w, h = context.layout.game_field
    keys_per_row = 3 if context.layout.is_telephone else 6
    rows = [actions[i : i + keys_per_row] for i in range(0, len(actions), keys_per_row)]
    height = max(context.layout.touch_size_min, 76.0) + 10
    keys: list[tuple[Rect, Action]] = []
    for row_index, row in enumerate(rows):
        top = y + h - 16 - (len(rows) - row_index) * height
        width = min(300.0, (w - 40) / len(row))
        left = x + (w - width * len(row)) / 2
        keys += [
            ((left + i * width + 5, top, width - 10, height - 10), action) for i, action in enumerate(row)
        ]
    return keys


def draw_felt(context: DrawingContext) -> None:
    """Draw a table game at this moment of its presentation: layout, chips, cards and moving parts."""
    view, table = context.view, context.view.table
    assert table is not None
    painter = context.painter
    presentation = view.selected_game_presentation
    timeline = build_view_timeline(view, context.theme)
    painter.draw_cached_picture(
        ("table", context.look.name), context.layout.game_field, partial(_render_felt_background, context)
    )
    decision = view.decision if is_decision_due(view, context.theme) else None
    step, step_times, elapsed_seconds = find_last_step(view), None, 0.0
    previous_step: TableStep | None = None
    if presentation is not None and timeline is not None:
        elapsed_seconds = view.now - presentation.began_at
        step_index = timeline.find_step_index(elapsed_seconds)
        step = presentation.steps[step_index]
        step_times = (
            timeline.steps[step_index]
            if elapsed_seconds < timeline.steps[step_index].last_stop_seconds
            else None
        )
        step_before = presentation.steps[step_index - 1] if step_index else None
        previous_step = step_before if isinstance(step_before, TableStep) else None
    table_step = step if isinstance(step, TableStep) else None
    if (
        table_step is not None
        and step_times is not None
        and _draw_wheel_or_dice(context, table, table_step, step_times, elapsed_seconds)
    ):
        return
    if table.felt_kind == "cards" and should_draw_scoreboard(context, table):
        draw_scoreboard(context, table)
    elif table.felt_kind == "cards":
        draw_cards(context, table_step, previous_step, step_times, elapsed_seconds)
        for rect, action in lay_out_table_keys(view, context.layout) if not table.spots else ():
            draw_table_key(context, table, rect, action)
    elif table.felt_kind == "craps":
        draw_craps_point(context, table_step, is_throw_shown=step_times is not None)
    if decision is None and table.spots:
        _draw_felt_with_bets(context, table, table_step if step_times is None else None)
    elif decision is not None and decision.kind != "hold":
        _draw_decision(context, table, decision)


def _draw_wheel_or_dice(
    context: DrawingContext,
    table: TableGameData,
    step: TableStep,
    step_times: StepTimes,
    elapsed_seconds: float,
) -> bool:
    """Draw the moving wheel next to the felt, or the moving dice on it. Return False if neither moves.

    On a telephone, the wheel covers the felt.
    """
    for cue_index, (cue, stop_seconds) in enumerate(zip(step.cues, step_times.stop_seconds, strict=True)):
        cue_kind, start_seconds = (
            cue.get("cue"),
            step_times.stop_seconds[cue_index - 1] if cue_index else step_times.start_seconds,
        )
        if elapsed_seconds >= stop_seconds and cue_index < len(step.cues) - 1:
            continue
        if cue_kind in {"ball", "wheel"} and table.wheel_pockets:
            felt_context, rect = _reserve_wheel_area(context)
            if not context.layout.is_telephone:
                _draw_felt_with_bets(felt_context, table, None)
            pocket, stated_part_index = str(cue["pocket"]), cue.get("part")
            draw_roulette_wheel(
                context,
                table,
                rect,
                (pocket, stated_part_index),
                (start_seconds, stop_seconds),
                elapsed_seconds,
                has_pin=cue_kind == "wheel",
            )
            return True
        if cue_kind == "dice":
            if table.felt_kind == "craps":
                draw_craps_point(context, None, is_throw_shown=False)
            _draw_felt_with_bets(context, table, None)
            context.painter.fill_rounded_rect(context.layout.game_field, (0, 12, 8, 90))
            total = step.display.get("total")
            draw_dice(
                context, tuple(map(int, cue["dice"])), total, (start_seconds, stop_seconds), elapsed_seconds
            )
            return True
        return False
    return False


def _reserve_wheel_area(context: DrawingContext) -> tuple[DrawingContext, Rect]:
    """Return the drawing context whose field is reduced by the room for the wheel, and the wheel's rectangle.

    The wheel is to the left of the felt or, in portrait, above it. On a telephone it covers the whole field.
    """
    layout = context.layout
    x, y, w, h = layout.game_field
    if layout.is_telephone:
        return context, layout.game_field
    if layout.is_portrait:
        wheel_height = h * _WHEEL_HEIGHT_SHARE_IN_PORTRAIT
        felt_field: Rect = (x, y + wheel_height, w, h - wheel_height)
        return replace(context, layout=replace(layout, game_field=felt_field)), (x, y, w, wheel_height)
    wheel_width = w * _WHEEL_WIDTH_SHARE
    felt_field = (x + wheel_width, y, w - wheel_width, h)
    return replace(context, layout=replace(layout, game_field=felt_field)), (x, y, wheel_width, h)


def _render_felt_background(context: DrawingContext, size: tuple[int, int]) -> pygame.Surface:
    """Return the drawing of the table's green felt, lighter in the middle."""
    _, _, w, h = context.layout.game_field
    canvas = VectorCanvas(size, (w, h), 1)
    base = mix_colours(_FELT_COLOUR, context.look.background_colours[1], 0.2)
    canvas.fill_path(
        build_rounded_box(0, 0, w, h),
        RadialGradient(
            ((0, mix_colours(base, WHITE, 0.1)), (0.7, base), (1, mix_colours(base, BLACK, 0.4))),
            (0.5, 0.45),
            0.8,
        ),
    )
    return canvas.finish_surface()


def _draw_felt_with_bets(
    context: DrawingContext, table: TableGameData, stopped_step: TableStep | None
) -> None:
    """Draw the felt with every chip on it and the keys that belong to it.

    The keys are drawn while the machine takes bets (on a telephone always), but never in the attract scene.
    ``stopped_step`` is the step whose results are to be shown, once its moving parts have stopped; otherwise None.
    """
    view, chips = context.view, context.view.chips
    felt_layout = lay_out_felt(table, chips, context.layout)
    result_pocket = str(stopped_step.display.get("pocket", "")) if stopped_step is not None else ""
    limits = build_bet_limits(view.snapshot) if view.snapshot is not None else None
    settled_step = (
        find_settled_step(context)
        if stopped_step is not None and not has_touched_bets_since_game(view)
        else None
    )
    spot_ids_with_chips = {
        str(settlement.get("spot", ""))
        for settlement in (settled_step.settlements if settled_step else ())
        if settlement["credits"]
    }
    bets_to_draw = _find_new_bets_to_draw(context, table, settled_step)
    spot_ids_with_chips |= {
        spot_id for spot_id, new_credits in bets_to_draw.items() if new_credits > 0
    } | set(limits.standing_bets if limits else ())
    for cell in felt_layout.cells:
        spot = table.spots.get(cell.spot_id)
        is_closed = (
            limits is not None
            and spot is not None
            and bool(find_spot_closure(spot, chips.bets, limits).refusal_key)
        )
        is_result, has_chip = (
            bool(result_pocket) and cell.pocket == result_pocket,
            cell.spot_id in spot_ids_with_chips,
        )
        _draw_cell(context, table, cell, is_result=is_result, is_closed=is_closed, has_chip=has_chip)
    if view.scene is not Scene.ATTRACT and (view.is_request_accepted("bet") or context.layout.is_telephone):
        for rect, action in lay_out_part_tabs(table, chips, context.layout):
            _draw_felt_part_tab(context, table, rect, action)
        if find_open_felt_part(table, chips, context.layout) == RACETRACK_PART_NAME:
            for rect, action in lay_out_racetrack_keys(table, chips, context.layout):
                draw_table_text_key(
                    context,
                    rect,
                    _format_racetrack_key(context, table, action),
                    is_active=action.name == "neighbours",
                )
        if context.layout.is_telephone:
            for rect, action in lay_out_table_keys(view, context.layout):
                draw_table_key(context, table, rect, action)
    _draw_bets(context, table, felt_layout, bets_to_draw, settled_step)


def _format_racetrack_key(context: DrawingContext, table: TableGameData, action: Action) -> str:
    """Return the text of a key of the racetrack: the number of neighbours, an announced bet, or an arrow."""
    if action.name == "announced_bet":
        return context.texts.choose_translation(table.announced_bets[str(action.value)].names)
    if action.name == "sheet":
        return "\u203a"
    return context.texts.translate("felt.neighbours", count=context.view.chips.neighbour_count)


def _draw_cell(
    context: DrawingContext,
    table: TableGameData,
    cell: FeltCell,
    *,
    is_result: bool,
    is_closed: bool,
    has_chip: bool,
) -> None:
    """Draw a printed cell of the felt, dark if ``is_closed`` to bets. The title of a row has no visible edge."""
    painter, (x, y, w, h) = context.painter, cell.rect
    spot = table.spots.get(cell.spot_id)
    fill = mix_colours(_FELT_COLOUR, BLACK, 0.25)
    if spot is None and cell.titled_spot_ids:
        painter.draw_panel((x + 1, y + 1, w - 2, h - 2), radius=8, fill=fill, edge_paint=fill)
        _draw_row_title(context, table, cell)
        return
    if cell.pocket:
        fill = POCKET_COLOUR_BY_NAME.get(table.pocket_colours.get(cell.pocket, ""), fill)
    elif (
        spot is not None
        and len(spot.covered_pockets) == 1
        and spot.covered_pockets[0] in table.pocket_colours
    ):
        fill = POCKET_COLOUR_BY_NAME.get(table.pocket_colours[spot.covered_pockets[0]], fill)
    elif spot is not None and len(spot.covered_pockets) == 18:
        colours = {table.pocket_colours.get(pocket) for pocket in spot.covered_pockets}
        fill = (
            POCKET_COLOUR_BY_NAME[colours.pop() or "green"]
            if len(colours) == 1 and colours <= set(POCKET_COLOUR_BY_NAME)
            else fill
        )
    is_plain = fill == mix_colours(_FELT_COLOUR, BLACK, 0.25)
    fill = mix_colours(fill, BLACK, 0.6) if is_closed else fill
    edge_colour, edge_width = (
        (WHITE, 5) if is_result else (_CLOSED_SPOT_EDGE_COLOUR, 2) if is_closed else (_PRINTED_LINE_COLOUR, 2)
    )
    painter.draw_panel(
        (x + 1, y + 1, w - 2, h - 2), radius=8, fill=fill, edge_paint=edge_colour, edge_width=edge_width
    )
    text_colour = (
        _CLOSED_SPOT_TEXT_COLOUR
        if is_closed
        else BLACK
        if fill in {POCKET_COLOUR_BY_NAME["white"], POCKET_COLOUR_BY_NAME["yellow"]}
        else WHITE
    )
    if spot is not None:
        _draw_spot(
            context, table, cell, text_colour, is_on_plain_cell=is_plain and not is_closed, has_chip=has_chip
        )
    else:
        # In a wide cell, chips lie next to the number; in others, below it.
        height_share = 0.5 if w > 2 * h else 0.42 if h < 80 else 0.3
        anchor = (x + w / 2, y + h * height_share)
        painter.draw_text(cell.pocket, anchor, TextStyle("heavy", "body", text_colour), width_max=w - 12)


def _draw_row_title(context: DrawingContext, table: TableGameData, cell: FeltCell) -> None:
    """Draw the title of a row of bets and, if all of the bets have the same odds, these odds."""
    painter, (x, y, w, h) = context.painter, cell.rect
    spots = [table.spots[spot_id] for spot_id in cell.titled_spot_ids]
    name, _ = split_common_words([context.texts.choose_translation(spot.names) for spot in spots])
    odds = {spot.odds for spot in spots}
    rect: Rect = (x + 8, y + 4, w - 16, h - 8 - (22 if len(odds) == 1 else 0))
    painter.draw_label(
        name,
        rect,
        TextStyle("strong", "small", "text"),
        align="left",
        wrapped_size_name=_choose_smallest_text_size(context),
    )
    if len(odds) == 1:
        style = TextStyle("text", _choose_smallest_text_size(context), "meter")
        painter.draw_text(odds.pop(), (x + 8, y + h - 18), style, align="left", width_max=w - 16)


def _draw_spot(
    context: DrawingContext,
    table: TableGameData,
    cell: FeltCell,
    text_colour: Colour,
    *,
    is_on_plain_cell: bool,
    has_chip: bool,
) -> None:
    """Draw the label of a bet spot.

    Draw the odds below it, unless the label is the odds, the title of the row states them, or the cell is too low.
    """
    painter, (x, y, w, h), spot = context.painter, cell.rect, table.spots[cell.spot_id]
    label = _format_spot_label(context, table, spot)
    row_spots = [table.spots[spot_id] for spot_id in cell.titled_spot_ids]
    if row_spots:
        label_in_row = split_common_words(
            [context.texts.choose_translation(row_spot.names) for row_spot in row_spots]
        )[1][cell.titled_spot_ids.index(spot.id)]
        label = label_in_row or label
    are_odds_stated = label == spot.odds or (
        bool(row_spots) and len({row_spot.odds for row_spot in row_spots}) == 1
    )
    should_draw_odds = not are_odds_stated and h > _HEIGHT_WITHOUT_ODDS_MAX
    label_size = "small" if len(label) > _LARGE_LABEL_LENGTH_MAX or h < _HEIGHT_FOR_FULL_TEXT_MIN else "lead"
    style = TextStyle("strong", label_size, text_colour)
    small_style = TextStyle("strong", _choose_smallest_text_size(context), text_colour)
    odds_style = TextStyle(
        "text", _choose_smallest_text_size(context), "meter" if is_on_plain_cell else text_colour
    )
    label_rect, odds_rect = split_label_and_odds(cell.rect)
    if not should_draw_odds:
        label_rect = (
            *label_rect[:3],
            h - 6 if is_chip_beside_label(cell.rect) else max(label_rect[3], h * 0.76 - 24),
        )
    if has_chip and _can_fit(context, label, label_rect, small_style):
        painter.draw_label(label, label_rect, style, wrapped_size_name=small_style.size_name)
        if should_draw_odds:
            painter.draw_text(
                _format_spot_odds(context, spot, odds_style, odds_rect[2]),
                compute_rect_centre(odds_rect),
                odds_style,
                width_max=odds_rect[2],
            )
        return
    needs_several_lines = painter.measure_text(label, small_style) > w - 10  # It then takes the whole cell.
    fills_cell = is_chip_beside_label(cell.rect) or needs_several_lines
    label_height = (h - 6 - 24 * should_draw_odds) if fills_cell else (h - 6) * 0.44
    painter.draw_label(
        label, (x + 5, y + 3, w - 10, label_height), style, wrapped_size_name=small_style.size_name
    )
    if should_draw_odds:
        odds_text = _format_spot_odds(context, spot, odds_style, w - 6) or spot.odds.replace(" / ", "/")
        painter.draw_text(
            odds_text, (x + w / 2, y + (h - 17 if fills_cell else h * 0.54)), odds_style, width_max=w - 6
        )


def _can_fit(context: DrawingContext, text: str, rect: Rect, style: TextStyle) -> bool:
    """Return whether a text fits into a rectangle at a readable size, on several lines if necessary."""
    painter, lines = context.painter, context.painter.wrap_text(text, rect[2], style)
    height = len(lines) * context.theme.size_by_name[style.size_name] * 1.16
    return height <= rect[3] and all(painter.measure_text(line, style) <= rect[2] for line in lines)


def _format_spot_odds(context: DrawingContext, spot: BetSpot, style: TextStyle, width_max: float) -> str:
    """Return the odds to print on a bet spot: the first of the following texts that fits in ``width_max`` units.

    The texts are: everything that the bet can pay; the spot's own odds with an asterisk, which means that the page
    INFO shows other odds; the spot's own odds alone. If none of them fits, return "".
    """
    odds = spot.odds.replace(" / ", "/")
    full_text = (
        context.texts.choose_translation(spot.pay_texts)
        if spot.pay_texts
        else format_spot_odds(context, spot).replace(" / ", "/")
    )
    texts = (full_text, f"{odds} *", odds) if full_text != odds else (odds,)
    return next((text for text in texts if context.painter.measure_text(text, style) <= width_max), "")


def _choose_smallest_text_size(context: DrawingContext) -> str:
    """Return the smallest text size used on the felt."""
    return "tiny" if not context.layout.is_telephone else "caption"


def _format_spot_label(context: DrawingContext, table: TableGameData, spot: BetSpot) -> str:
    """Return the label of a bet spot; for most spots it is the spot's name.

    On a wheel game's spot for a single result without its own name, it is the result. On a spot for twelve or 24
    numbers, it is the first and the last number if they are consecutive; on a roulette column, the odds; on two
    columns, the last number of each.
    """
    if (
        len(spot.covered_pockets) == 1
        and table.felt_kind == "wheel"
        and spot.covered_pockets[0] not in table.pocket_names
    ):
        return spot.covered_pockets[0]
    numbers = [int(pocket) for pocket in spot.covered_pockets if pocket.isdecimal()]
    if len(numbers) == 24 and table.felt_kind == "roulette":
        are_consecutive = numbers[-1] - numbers[0] == 23
        return f"{numbers[0]}\u2013{numbers[-1]}" if are_consecutive else f"{numbers[-2]}/{numbers[-1]}"
    if len(numbers) == 12:
        if numbers[-1] - numbers[0] == 11:
            return f"{numbers[0]}\u2013{numbers[-1]}"
        return spot.odds if table.felt_kind == "roulette" else context.texts.choose_translation(spot.names)
    return context.texts.choose_translation(spot.names)


def _draw_felt_part_tab(context: DrawingContext, table: TableGameData, rect: Rect, action: Action) -> None:
    """Draw a key that opens another part of the felt, or another sheet of it."""
    x, y, w, h = rect
    key_rect: Rect = (x + 3, y + 3, w - 6, h - 6)
    if action.name == "sheet":
        sheets = list_street_sheets(table, context.layout)
        sheet_number = int(action.value)
        is_active = context.view.chips.sheet_index % (len(sheets) + 1) == sheet_number
        text = context.texts.translate("felt.outside")
        if sheet_number < len(sheets):
            first_street, street_count = sheets[sheet_number]
            first_number = max(0, round(first_street)) * 3 + (0 if first_street < 0 else 1)
            text = f"{first_number}\u2013{round(first_street + street_count) * 3}"
        draw_table_text_key(context, key_rect, text, is_active=is_active)
        return
    is_active = find_open_felt_part(table, context.view.chips, context.layout) == action.value
    draw_felt_part_key(context, table, key_rect, str(action.value), is_active=is_active)


def _find_new_bets_to_draw(
    context: DrawingContext, table: TableGameData, settled_step: TableStep | None
) -> BetsBySpot:
    """Return the bets to draw as the player's new chips, in credits by spot; standing bets are drawn separately.

    They are the chips that the player has placed. During a round at a table where bets stay (craps), they are the bets
    that the player made for this round, except those that ``settled_step`` has decided.
    """
    chips, snapshot = context.view.chips, context.view.snapshot
    # At a table where bets stay, the screen has removed the chips of the round, and reports this when the round is
    # over.
    if snapshot is None or not chips.must_report_clearing or snapshot.state != "playing":
        return chips.bets
    settled_spot_ids = (
        {str(settlement.get("spot", "")) for settlement in settled_step.settlements}
        if settled_step is not None
        else set()
    )
    return {
        spot_id: credits_
        for spot_id, credits_ in read_registered_bets(table, snapshot).items()
        if spot_id not in settled_spot_ids
    }


def _draw_bets(
    context: DrawingContext,
    table: TableGameData,
    felt_layout: FeltLayout,
    bets_by_spot: BetsBySpot,
    settled_step: TableStep | None,
) -> None:
    """Draw the chips of all bets: standing bets in violet, new bets, and the amounts returned by the last round.

    A standing bet that the player withdraws is crossed out.
    """
    view = context.view
    standing_bets = view.snapshot.standing_credits_by_spot if view.snapshot is not None else {}
    returned_credits_by_spot: dict[str, int] = {}
    for settlement in settled_step.settlements if settled_step is not None else ():
        spot_id = str(settlement.get("spot", ""))
        returned_credits_by_spot[spot_id] = returned_credits_by_spot.get(spot_id, 0) + int(
            settlement["credits"]
        )
    limits = build_bet_limits(view.snapshot) if view.snapshot is not None else None
    for spot_id, (x, y) in felt_layout.chip_points:
        new_credits, standing_credits = bets_by_spot.get(spot_id, 0), standing_bets.get(spot_id, 0)
        offset = 16.0 if new_credits > 0 and standing_credits else 0.0
        if standing_credits:
            draw_chip(context, (x - offset, y), standing_credits, STANDING_BET_CHIP_COLOUR, CHIP_WIDTH)
            if new_credits < 0:
                context.painter.draw_text(
                    "\u00d7", (x, y), TextStyle("heavy", "title", "alarm", 2), width_max=CHIP_WIDTH
                )
        if returned_credits_by_spot.get(spot_id):
            draw_returned_amount(context, (x, y), returned_credits_by_spot[spot_id])
        elif new_credits > 0:
            draw_chip(context, (x + offset, y), new_credits, find_chip_colour(table, new_credits), CHIP_WIDTH)
        if (
            limits is not None
            and new_credits + standing_credits > 0
            and not returned_credits_by_spot.get(spot_id)
        ):
            _draw_on_off_ring(context, table, spot_id, (x, y), limits)


def _draw_on_off_ring(
    context: DrawingContext,
    table: TableGameData,
    spot_id: str,
    centre: tuple[float, float],
    limits: BetLimits,
) -> None:
    """Draw a ring around a craps bet: dark if it is off for the next throw, in the colour of wins if it is on.

    A bet that is normally on has a ring only if the player has switched it off. A bet that is off on a come-out throw,
    unless the player switches it on, has a ring only before such a throw. A bet that cannot be switched has none.
    """
    is_on = is_bet_on(table, context.view.chips, spot_id, limits)
    is_come_out = limits.table_state.point is None
    if (
        is_on is None
        or (spot_id in table.spot_ids_off_on_come_out and not is_come_out)
        or (is_on and spot_id not in table.spot_ids_off_on_come_out)
    ):
        return
    x, y = centre
    render_ring = partial(_render_ring, colour=context.theme.get_colour("win") if is_on else BLACK)
    context.painter.draw_cached_picture(("on_off_ring", is_on), (x - 26, y - 26, 52, 52), render_ring)


def _render_ring(size: tuple[int, int], colour: Colour) -> pygame.Surface:
    """Return the drawing of the ring around a chip: dark if the bet is off, in the colour of wins if it is on."""
    canvas = VectorCanvas(size)
    canvas.stroke_path(build_ellipse(50, 49, 44), 11, WHITE)
    canvas.stroke_path(build_ellipse(50, 49, 44), 7, colour)
    return canvas.finish_surface()


def _draw_decision(context: DrawingContext, table: TableGameData, decision: DecisionRequest) -> None:
    """Draw a decision at a table: a key with its cost for each option, and the stake that the decision is about.

    At a game without cards, also draw the question. If the decision shows dice, draw them above the keys.
    """
    x, y, w, _ = context.layout.game_field
    keys = lay_out_felt_options(context, decision)
    spot = table.spots.get(str(decision.display.get("spot", "")))
    if table.felt_kind != "cards":
        text = format_question(context, decision)
        style = TextStyle("heavy", "title", context.look.accent_colour)
        context.painter.draw_text(text, (x + w / 2, y + 120), style, width_max=w - 80)
    if spot is not None and "hand" not in decision.display:
        stake_y = keys[0][0][1] - 24 if table.felt_kind == "cards" and keys else y + 170
        staked_text = context.format_money(
            int(decision.display.get("staked", 0)) * context.view.denomination_cents
        )
        stake_text = context.texts.translate("felt.standing", amount=staked_text)
        context.painter.draw_text(
            f"{context.texts.choose_translation(spot.names)}  {stake_text}",
            (x + w / 2, stake_y),
            TextStyle("strong", "lead", "text"),
            width_max=w - 80,
        )
    dice = [int(face) for face in decision.display.get("dice", ())]
    if dice and keys:
        dice_top = y + 210
        draw_resting_dice(context, dice, (x + 20, dice_top, w - 40, keys[0][0][1] - 20 - dice_top))
    for rect, action in keys:
        if action.name == "choose":
            draw_button(
                context, rect, format_option(context, decision, str(action.value)), text_size_name="body"
            )
        elif action.name != "hold":
            is_enabled = action.name != "play" or is_marked_option_permitted(context.view)
            draw_button(
                context,
                rect,
                context.texts.translate(f"decide.{_TEXT_KEY_BY_SETTING_ACTION[action.name]}"),
                text_size_name="body",
                is_enabled=is_enabled,
            )
