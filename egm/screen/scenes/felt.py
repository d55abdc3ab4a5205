"""Drawing of a table game: its betting layout with the chips, its moving parts, and its decisions."""

from dataclasses import replace
from functools import partial
from typing import Final

import pygame

from egm.kernel.messages import DecisionRequest
from egm.screen.art.ink import RadialGradient, VectorCanvas
from egm.screen.art.paths import build_ellipse, build_rounded_box
from egm.screen.layout import find_rect_centre
from egm.screen.painter import Rect, TextStyle
from egm.screen.presentation import StepTimes
from egm.screen.roulette_layout import (
    RACETRACK_PART_NAME,
    find_open_layout_part,
    lay_out_felt,
    lay_out_part_tabs,
    lay_out_racetrack_keys,
    list_street_sheets,
)
from egm.screen.scenes.cards import draw_cards, lay_out_card_touches
from egm.screen.scenes.chip_keys import (
    draw_layout_part_key,
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
from egm.screen.scenes.decision_text import format_answer, format_question
from egm.screen.scenes.dice import draw_craps_point, draw_dice, draw_resting_dice
from egm.screen.scenes.pay_table import format_spot_odds
from egm.screen.scenes.roulette_wheel import POCKET_COLOURS, draw_roulette_wheel
from egm.screen.scenes.scoreboard import draw_scoreboard, should_draw_scoreboard
from egm.screen.scenes.stage import BLACK, WHITE, Stage, draw_button
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
    find_reason_spot_is_closed,
    is_bet_on,
    read_registered_bets,
)
from egm.screen.theme import Colour, mix_colours, parse_colour
from egm.screen.view import (
    Action,
    Scene,
    build_view_timeline,
    find_last_step,
    has_changed_marks_since_game,
    is_decision_due,
    is_marked_answer_permitted,
)

#: A sign longer than this is not a number; the spot's name is printed instead.
_NUMBER_SIGN_LENGTH_MAX: Final = 3
#: A cell no higher than this, in units, has no room for its odds.
_HEIGHT_WITHOUT_ODDS_MAX: Final = 56.0
#: A cell lower than this, in units, has a smaller text.
_HEIGHT_FOR_FULL_TEXT_MIN: Final = 80.0
#: The texts of the keys that set two hands: by the marked cards, or the house way.
_TEXT_BY_SET_HANDS_ANSWER: Final = {"play": "set_so", "set_as": "house"}
#: A turning wheel's share of the field's width.
_WHEEL_WIDTH_SHARE: Final = 0.4
#: A turning wheel's share of the field's height in portrait.
_WHEEL_HEIGHT_SHARE_IN_PORTRAIT: Final = 0.46
#: The colour of the cloth, before the game's own tint.
_CLOTH_COLOUR: Final = parse_colour("#0d5237")
#: The colour of printed lines.
_PRINTED_LINE_COLOUR: Final = (226, 240, 226, 150)
#: The edge colour of a spot that takes no bet now.
_CLOSED_SPOT_EDGE_COLOUR: Final = (226, 240, 226, 60)
#: The text colour of a spot that takes no bet now.
_CLOSED_SPOT_TEXT_COLOUR: Final = (166, 178, 170, 255)


def lay_out_felt_answers(stage: Stage, decision: DecisionRequest) -> list[tuple[Rect, Action]]:
    """Return the touch targets for a decision at a table: cards to hold, or a key for each answer.

    Return none if the decision is another seat's.
    """
    if not decision.options:
        return []
    if decision.kind == "hold":
        return [(rect, Action("hold", i)) for i, rect in enumerate(lay_out_card_touches(stage))]
    if decision.kind == "set":
        keys = [Action("play"), Action("set_as", decision.display["house"])]
        keys += [Action("choose", option) for option in decision.options if isinstance(option, str)]
        marks = [(rect, Action("hold", i)) for i, rect in enumerate(lay_out_card_touches(stage))]
        return [*marks, *_lay_out_key_rows(stage, keys)]
    return _lay_out_key_rows(stage, [Action("choose", option) for option in decision.options])


def _lay_out_key_rows(stage: Stage, actions: list[Action]) -> list[tuple[Rect, Action]]:
    """Return the rectangle of a key for each of the given actions, in rows at the lower edge of the field."""
    x, y, w, h = stage.layout.game_field
    keys_a_row = 3 if stage.layout.is_telephone else 6
    rows = [actions[i : i + keys_a_row] for i in range(0, len(actions), keys_a_row)]
    height = max(stage.layout.touch_size_min, 76.0) + 10
    keys: list[tuple[Rect, Action]] = []
    for n, row in enumerate(rows):
        top = y + h - 16 - (len(rows) - n) * height
        width = min(300.0, (w - 40) / len(row))
        left = x + (w - width * len(row)) / 2
        keys += [
            ((left + i * width + 5, top, width - 10, height - 10), action) for i, action in enumerate(row)
        ]
    return keys


def draw_felt(stage: Stage) -> None:
    """Draw a table game at this moment of its presentation: layout, chips, cards and moving parts."""
    view, table = stage.view, stage.view.table
    assert table is not None
    p, show, line = stage.painter, view.selected_game_presentation, build_view_timeline(view, stage.theme)
    p.draw_cached_picture(
        ("table", stage.look.name), stage.layout.game_field, partial(_draw_felt_background, stage)
    )
    decision = view.decision if is_decision_due(view, stage.theme) else None
    step, time, since = find_last_step(view), None, 0.0
    previous_step: TableStep | None = None
    if show is not None and line is not None:
        since = view.now - show.began_at
        index = line.find_step_index(since)
        step, time = show.steps[index], line.steps[index] if since < line.steps[index].last_stop else None
        last = show.steps[index - 1] if index else None
        previous_step = last if isinstance(last, TableStep) else None
    last_round = step if isinstance(step, TableStep) else None
    if (
        last_round is not None
        and time is not None
        and _draw_wheel_or_dice(stage, table, last_round, time, since)
    ):
        return
    if table.felt_kind == "cards" and should_draw_scoreboard(stage, table):
        draw_scoreboard(stage, table)
    elif table.felt_kind == "cards":
        draw_cards(stage, last_round, previous_step, time, since)
        for rect, action in lay_out_table_keys(view, stage.layout) if not table.spots else ():
            draw_table_key(stage, table, rect, action)
    elif table.felt_kind == "craps":
        draw_craps_point(stage, last_round, is_moving=time is not None)
    if decision is None and table.spots:
        _draw_betting_layout(stage, table, last_round if time is None else None)
    elif decision is not None and decision.kind != "hold":
        _draw_question(stage, table, decision)


def _draw_wheel_or_dice(
    stage: Stage, table: TableGameData, step: TableStep, step_time: StepTimes, elapsed_seconds: float
) -> bool:
    """Draw the moving wheel next to the layout, or the moving dice on it. Return False if neither moves."""
    for number, (cue, stop) in enumerate(zip(step.cues, step_time.stops, strict=True)):
        kind, begin = cue.get("cue"), step_time.stops[number - 1] if number else step_time.begin
        if elapsed_seconds >= stop and number < len(step.cues) - 1:
            continue
        if kind in {"ball", "wheel"} and table.wheel_pockets:
            layout_stage, rect = _divide_field_for_wheel(stage)
            if not stage.layout.is_telephone:
                _draw_betting_layout(layout_stage, table, None)
            pocket, part = str(cue["pocket"]), cue.get("part")
            draw_roulette_wheel(
                stage, table, rect, (pocket, part), (begin, stop), elapsed_seconds, has_pin=kind == "wheel"
            )
            return True
        if kind == "dice":
            if table.felt_kind == "craps":
                draw_craps_point(stage, None, is_moving=True)
            _draw_betting_layout(stage, table, None)
            stage.painter.fill_rounded_rect(stage.layout.game_field, (0, 12, 8, 90))
            total = step.display.get("total")
            draw_dice(stage, tuple(map(int, cue["dice"])), total, (begin, stop), elapsed_seconds)
            return True
        return False
    return False


def _divide_field_for_wheel(stage: Stage) -> tuple[Stage, Rect]:
    """Return the drawing context with the field narrowed by the wheel beside it, and the wheel's rectangle.

    On a telephone the wheel covers the whole field.
    """
    layout = stage.layout
    x, y, w, h = layout.game_field
    if layout.is_telephone:
        return stage, layout.game_field
    if layout.is_portrait:
        height = h * _WHEEL_HEIGHT_SHARE_IN_PORTRAIT
        remaining: Rect = (x, y + height, w, h - height)
        return replace(stage, layout=replace(layout, game_field=remaining)), (x, y, w, height)
    side = w * _WHEEL_WIDTH_SHARE
    remaining = (x + side, y, w - side, h)
    return replace(stage, layout=replace(layout, game_field=remaining)), (x, y, side, h)


def _draw_felt_background(stage: Stage, size: tuple[int, int]) -> pygame.Surface:
    """Return the drawing of the table's green cloth, with a light from above."""
    _, _, w, h = stage.layout.game_field
    ink = VectorCanvas(size, (w, h), 1)
    base = mix_colours(_CLOTH_COLOUR, stage.look.background_colours[1], 0.2)
    ink.fill_path(
        build_rounded_box(0, 0, w, h),
        RadialGradient(
            ((0, mix_colours(base, WHITE, 0.1)), (0.7, base), (1, mix_colours(base, BLACK, 0.4))),
            (0.5, 0.45),
            0.8,
        ),
    )
    return ink.finish_surface()


def _draw_betting_layout(stage: Stage, table: TableGameData, settled_step: TableStep | None) -> None:
    """Draw the betting layout with every chip on it.

    ``settled_step`` is the last step of a round whose results are to be shown on the layout, or None.
    """
    view, chips = stage.view, stage.view.chips
    felt_layout = lay_out_felt(table, chips, stage.layout)
    pocket = str(settled_step.display.get("pocket", "")) if settled_step is not None else ""
    limits = build_bet_limits(view.snapshot) if view.snapshot is not None else None
    shown_step = (
        find_settled_step(stage)
        if settled_step is not None and not has_changed_marks_since_game(view)
        else None
    )
    covered = {
        str(each.get("spot", ""))
        for each in (shown_step.settlements if shown_step else ())
        if each["credits"]
    }
    bets_to_draw = _list_bets_to_draw(stage, table, shown_step)
    covered |= {spot for spot, new in bets_to_draw.items() if new > 0} | set(
        limits.standing_bets if limits else ()
    )
    for cell in felt_layout.cells:
        spot = table.spots.get(cell.spot)
        shut = (
            limits is not None
            and spot is not None
            and bool(find_reason_spot_is_closed(spot, chips.bets, limits)[0])
        )
        hit, chip = bool(pocket) and cell.pocket == pocket, cell.spot in covered
        _draw_cell(stage, table, cell, is_hit=hit, is_closed=shut, has_chip=chip)
    if view.scene is not Scene.ATTRACT and (view.accepts_request("bet") or stage.layout.is_telephone):
        for rect, action in lay_out_part_tabs(table, chips, stage.layout):
            _draw_layout_part_tab(stage, table, rect, action)
        if find_open_layout_part(table, chips, stage.layout) == RACETRACK_PART_NAME:
            for rect, action in lay_out_racetrack_keys(table, chips, stage.layout):
                draw_table_text_key(
                    stage,
                    rect,
                    _format_racetrack_key(stage, table, action),
                    is_active=action.name == "neighbours",
                )
        if stage.layout.is_telephone:
            for rect, action in lay_out_table_keys(view, stage.layout):
                draw_table_key(stage, table, rect, action)
    _draw_bets(stage, table, felt_layout, bets_to_draw, shown_step)


def _format_racetrack_key(stage: Stage, table: TableGameData, action: Action) -> str:
    """Return the text of a key of the racetrack: the number of neighbours, an announced bet, or an arrow."""
    if action.name == "call":
        return stage.texts.choose_translation(table.announced_bets[str(action.value)].names)
    if action.name == "sheet":
        return "\u203a"
    return stage.texts.say("felt.neighbours", count=stage.view.chips.neighbour_count)


def _draw_cell(
    stage: Stage, table: TableGameData, cell: FeltCell, *, is_hit: bool, is_closed: bool, has_chip: bool
) -> None:
    """Draw a printed cell of the layout, dark if ``is_closed`` to bets. The title of a row has no edge."""
    p, (x, y, w, h) = stage.painter, cell.rect
    spot = table.spots.get(cell.spot)
    fill = mix_colours(_CLOTH_COLOUR, BLACK, 0.25)
    if spot is None and cell.titled_spots:
        p.draw_panel((x + 1, y + 1, w - 2, h - 2), radius=8, fill=fill, edge_paint=fill)
        _draw_row_title(stage, table, cell)
        return
    if cell.pocket:
        fill = POCKET_COLOURS.get(table.pocket_colours.get(cell.pocket, ""), fill)
    elif (
        spot is not None
        and len(spot.covered_pockets) == 1
        and spot.covered_pockets[0] in table.pocket_colours
    ):
        fill = POCKET_COLOURS.get(table.pocket_colours[spot.covered_pockets[0]], fill)
    elif spot is not None and len(spot.covered_pockets) == 18:
        colours = {table.pocket_colours.get(each) for each in spot.covered_pockets}
        fill = (
            POCKET_COLOURS[colours.pop() or "green"]
            if len(colours) == 1 and colours <= set(POCKET_COLOURS)
            else fill
        )
    plain = fill == mix_colours(_CLOTH_COLOUR, BLACK, 0.25)
    fill = mix_colours(fill, BLACK, 0.6) if is_closed else fill
    edge, line = (
        (WHITE, 5) if is_hit else (_CLOSED_SPOT_EDGE_COLOUR, 2) if is_closed else (_PRINTED_LINE_COLOUR, 2)
    )
    p.draw_panel((x + 1, y + 1, w - 2, h - 2), radius=8, fill=fill, edge_paint=edge, edge_width=line)
    ink = (
        _CLOSED_SPOT_TEXT_COLOUR
        if is_closed
        else BLACK
        if fill in {POCKET_COLOURS["white"], POCKET_COLOURS["yellow"]}
        else WHITE
    )
    if spot is not None:
        _draw_spot(stage, table, cell, ink, is_on_plain_cell=plain and not is_closed, has_chip=has_chip)
    else:
        share = 0.5 if w > 2 * h else 0.42 if h < 80 else 0.3  # In a wide cell, chips lie next to the number.
        at = (x + w / 2, y + h * share)
        p.draw_text(cell.pocket, at, TextStyle("heavy", "body", ink), width_max=w - 12)


def _draw_row_title(stage: Stage, table: TableGameData, cell: FeltCell) -> None:
    """Draw the title of a row of bets and, if all of the bets have the same odds, these odds."""
    p, (x, y, w, h) = stage.painter, cell.rect
    spots = [table.spots[each] for each in cell.titled_spots]
    name, _ = split_common_words([stage.texts.choose_translation(spot.names) for spot in spots])
    odds = {spot.odds for spot in spots}
    rect: Rect = (x + 8, y + 4, w - 16, h - 8 - (22 if len(odds) == 1 else 0))
    p.draw_label(
        name,
        rect,
        TextStyle("strong", "small", "text"),
        align="left",
        wrapped_size=_choose_smallest_text_size(stage),
    )
    if len(odds) == 1:
        style = TextStyle("text", _choose_smallest_text_size(stage), "meter")
        p.draw_text(odds.pop(), (x + 8, y + h - 18), style, align="left", width_max=w - 16)


def _draw_spot(
    stage: Stage,
    table: TableGameData,
    cell: FeltCell,
    text_colour: Colour,
    *,
    is_on_plain_cell: bool,
    has_chip: bool,
) -> None:
    """Draw the label of a bet spot.

    Below it, draw the odds, unless the title of the row states them.
    """
    p, (x, y, w, h), spot = stage.painter, cell.rect, table.spots[cell.spot]
    sign = _format_spot_label(stage, table, spot)
    row = [table.spots[each] for each in cell.titled_spots]
    if row:
        tail = split_common_words([stage.texts.choose_translation(each.names) for each in row])[1][
            cell.titled_spots.index(spot.id)
        ]
        sign = tail or sign
    has_odds = sign == spot.odds or (bool(row) and len({each.odds for each in row}) == 1)
    low = not has_odds and h > _HEIGHT_WITHOUT_ODDS_MAX
    size = "small" if len(sign) > _NUMBER_SIGN_LENGTH_MAX or h < _HEIGHT_FOR_FULL_TEXT_MIN else "lead"
    style, small_style = (
        TextStyle("strong", size, text_colour),
        TextStyle("strong", _choose_smallest_text_size(stage), text_colour),
    )
    printed = TextStyle(
        "text", _choose_smallest_text_size(stage), "meter" if is_on_plain_cell else text_colour
    )
    above, below = split_label_and_odds(cell.rect)
    if not low:
        above = (*above[:3], h - 6 if is_chip_beside_label(cell.rect) else max(above[3], h * 0.76 - 24))
    if has_chip and _can_fit(stage, sign, above, small_style):
        p.draw_label(sign, above, style, wrapped_size=small_style.size_name)
        if low:
            p.draw_text(
                _format_spot_odds(stage, spot, printed, below[2]),
                find_rect_centre(below),
                printed,
                width_max=below[2],
            )
        return
    lies_over = p.measure_text(sign, small_style) > w - 10  # A name on several lines takes the complete cell.
    fills_cell = is_chip_beside_label(cell.rect) or lies_over
    part = (h - 6 - 24 * low) if fills_cell else (h - 6) * 0.44
    p.draw_label(sign, (x + 5, y + 3, w - 10, part), style, wrapped_size=small_style.size_name)
    if low:
        odds = _format_spot_odds(stage, spot, printed, w - 6) or spot.odds.replace(" / ", "/")
        p.draw_text(odds, (x + w / 2, y + (h - 17 if fills_cell else h * 0.54)), printed, width_max=w - 6)


def _can_fit(stage: Stage, text: str, rect: Rect, style: TextStyle) -> bool:
    """Return whether a text fits into a rectangle at a readable size, on several lines if necessary."""
    p, lines = stage.painter, stage.painter.wrap_text(text, rect[2], style)
    height = len(lines) * stage.theme.sizes[style.size_name] * 1.16
    return height <= rect[3] and all(p.measure_text(line, style) <= rect[2] for line in lines)


def _format_spot_odds(stage: Stage, spot: BetSpot, style: TextStyle, width_max: float) -> str:
    """Return the odds to print on a bet spot: the first of these texts that is at most ``width_max`` units wide.

    The text with all odds at which the bet can win; the spot's own odds with an asterisk, which means that INFO shows
    the others; the spot's own odds alone; "".
    """
    odds = spot.odds.replace(" / ", "/")
    terms = (
        stage.texts.choose_translation(spot.pay_texts)
        if spot.pay_texts
        else format_spot_odds(stage, spot).replace(" / ", "/")
    )
    ways = (terms, f"{odds} *", odds) if terms != odds else (odds,)
    return next((each for each in ways if stage.painter.measure_text(each, style) <= width_max), "")


def _choose_smallest_text_size(stage: Stage) -> str:
    """Return the smallest text size used on the layout."""
    return "tiny" if not stage.layout.is_telephone else "caption"


def _format_spot_label(stage: Stage, table: TableGameData, spot: BetSpot) -> str:
    """Return the label of a bet spot.

    It is the result on which the bet wins, if there is a single one and it says enough; otherwise the spot's name.
    """
    if (
        len(spot.covered_pockets) == 1
        and table.felt_kind == "wheel"
        and spot.covered_pockets[0] not in table.names
    ):
        return spot.covered_pockets[0]
    numbers = [int(each) for each in spot.covered_pockets if each.isdecimal()]
    if len(numbers) == 24 and table.felt_kind == "roulette":
        dozens = numbers[-1] - numbers[0] == 23
        return f"{numbers[0]}\u2013{numbers[-1]}" if dozens else f"{numbers[-2]}/{numbers[-1]}"
    if len(numbers) == 12:
        if numbers[-1] - numbers[0] == 11:
            return f"{numbers[0]}\u2013{numbers[-1]}"
        return spot.odds if table.felt_kind == "roulette" else stage.texts.choose_translation(spot.names)
    return stage.texts.choose_translation(spot.names)


def _draw_layout_part_tab(stage: Stage, table: TableGameData, rect: Rect, action: Action) -> None:
    """Draw a key that opens another part of the betting layout, or another sheet of it."""
    x, y, w, h = rect
    inner: Rect = (x + 3, y + 3, w - 6, h - 6)
    if action.name == "sheet":
        windows = list_street_sheets(table, stage.layout)
        sheet_number = int(action.value)
        lit = stage.view.chips.sheet_index % (len(windows) + 1) == sheet_number
        text = stage.texts.say("felt.outside")
        if sheet_number < len(windows):
            first, count = windows[sheet_number]
            text = f"{max(0, round(first)) * 3 + (0 if first < 0 else 1)}\u2013{round(first + count) * 3}"
        draw_table_text_key(stage, inner, text, is_active=lit)
        return
    lit = find_open_layout_part(table, stage.view.chips, stage.layout) == action.value
    draw_layout_part_key(stage, table, inner, str(action.value), is_active=lit)


def _list_bets_to_draw(stage: Stage, table: TableGameData, settled_step: TableStep | None) -> BetsBySpot:
    """Return the new bets to draw as chips.

    During a round at a table where bets stay (craps), they are the bets of the round that are not decided yet.
    """
    chips, snapshot = stage.view.chips, stage.view.snapshot
    if snapshot is None or not chips.must_report_clearing or snapshot.state != "playing":
        return chips.bets
    settled_spots = (
        {str(each.get("spot", "")) for each in settled_step.settlements}
        if settled_step is not None
        else set()
    )
    return {
        spot: each
        for spot, each in read_registered_bets(table, snapshot).items()
        if spot not in settled_spots
    }


def _draw_bets(
    stage: Stage,
    table: TableGameData,
    felt_layout: FeltLayout,
    bets_by_spot: BetsBySpot,
    settled_step: TableStep | None,
) -> None:
    """Draw the chips of all bets: standing bets in violet, new bets, and the results of the last round's bets."""
    view = stage.view
    standing_bets = view.snapshot.standing if view.snapshot is not None else {}
    returned: dict[str, int] = {}
    for settlement in settled_step.settlements if settled_step is not None else ():
        spot = str(settlement.get("spot", ""))
        returned[spot] = returned.get(spot, 0) + int(settlement["credits"])
    limits = build_bet_limits(view.snapshot) if view.snapshot is not None else None
    for spot, (x, y) in felt_layout.chip_points:
        new_credits, standing_credits = bets_by_spot.get(spot, 0), standing_bets.get(spot, 0)
        aside = 16.0 if new_credits > 0 and standing_credits else 0.0
        if standing_credits:
            draw_chip(stage, (x - aside, y), standing_credits, STANDING_BET_CHIP_COLOUR, CHIP_WIDTH)
            if new_credits < 0:
                stage.painter.draw_text(
                    "\u00d7", (x, y), TextStyle("heavy", "title", "alarm", 2), width_max=CHIP_WIDTH
                )
        if returned.get(spot):
            draw_returned_amount(stage, (x, y), returned[spot])
        elif new_credits > 0:
            draw_chip(stage, (x + aside, y), new_credits, find_chip_colour(table, new_credits), CHIP_WIDTH)
        if limits is not None and new_credits + standing_credits > 0 and not returned.get(spot):
            _draw_on_off_ring(stage, table, spot, (x, y), limits)


def _draw_on_off_ring(
    stage: Stage, table: TableGameData, spot: str, centre: tuple[float, float], limits: BetLimits
) -> None:
    """Draw a ring around a craps bet that is off for the next throw, or on for a come-out throw.

    Bets that are on or off as usual have no ring.
    """
    now = is_bet_on(table, stage.view.chips, spot, limits)
    come_out = limits.table_state.point is None
    if (
        now is None
        or (spot in table.spots_off_on_come_out and not come_out)
        or (now and spot not in table.spots_off_on_come_out)
    ):
        return
    x, y = centre
    make = partial(_draw_ring, colour=stage.theme.colour("win") if now else BLACK)
    stage.painter.draw_cached_picture(("said", now), (x - 26, y - 26, 52, 52), make)


def _draw_ring(size: tuple[int, int], colour: Colour) -> pygame.Surface:
    """Return the drawing of the ring around a chip: dark if the bet is off, in the colour of wins if it is on."""
    ink = VectorCanvas(size)
    ink.stroke_path(build_ellipse(50, 49, 44), 11, WHITE)
    ink.stroke_path(build_ellipse(50, 49, 44), 7, colour)
    return ink.finish_surface()


def _draw_question(stage: Stage, table: TableGameData, decision: DecisionRequest) -> None:
    """Draw a decision at a table: a key with its cost for each answer, and above the keys the stake that it is about.

    At a game without cards, also draw the question and the dice that have been thrown.
    """
    x, y, w, _ = stage.layout.game_field
    keys = lay_out_felt_answers(stage, decision)
    spot = table.spots.get(str(decision.display.get("spot", "")))
    if table.felt_kind != "cards":
        text = format_question(stage, decision)
        style = TextStyle("heavy", "title", stage.look.accent_colour)
        stage.painter.draw_text(text, (x + w / 2, y + 120), style, width_max=w - 80)
    if spot is not None and "hand" not in decision.display:
        at = keys[0][0][1] - 24 if table.felt_kind == "cards" and keys else y + 170
        staked = stage.money(int(decision.display.get("staked", 0)) * stage.view.denomination_cents)
        text = (
            f"{stage.texts.choose_translation(spot.names)}  {stage.texts.say('felt.standing', amount=staked)}"
        )
        stage.painter.draw_text(text, (x + w / 2, at), TextStyle("strong", "lead", "text"), width_max=w - 80)
    dice = [int(face) for face in decision.display.get("dice", ())]
    if dice and keys:
        top = y + 210
        draw_resting_dice(stage, dice, (x + 20, top, w - 40, keys[0][0][1] - 20 - top))
    for rect, action in keys:
        if action.name == "choose":
            draw_button(stage, rect, format_answer(stage, decision, str(action.value)), text_size="body")
        elif action.name != "hold":
            is_enabled = action.name != "play" or is_marked_answer_permitted(stage.view)
            draw_button(
                stage,
                rect,
                stage.texts.say(f"decide.{_TEXT_BY_SET_HANDS_ANSWER[action.name]}"),
                text_size="body",
                is_enabled=is_enabled,
            )
