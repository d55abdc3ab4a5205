"""The minimum and maximum bet of a table, always readable at the table (by-law ss. 9, 72 and 95.5).

On a landscape screen, a sign lists the limits of each group of bets, and the small print has the lowest and the highest
bet of the whole table. Other screens have no sign; their small print has the limits of each kind of bet, at roulette
inside and outside bets. Craps has too many kinds: its small print has the lowest and the highest bet of the table (s.
95.5).
"""

from typing import Final

from egm.screen.felt_layout import is_inside_bet
from egm.screen.painter import FACT_SEPARATOR, Rect, TextStyle
from egm.screen.scenes.chip_keys import format_info_key_label, lay_out_table_keys, list_group_names
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.table import BetLimits, BetSpot, build_bet_limits

#: Height of a line of the sign, in units.
_SIGN_LINE_HEIGHT: Final = 28.0
#: Space above the sign, and between names and limits, in units.
_SIGN_SPACE: Final = 8.0
#: If there is room for this many lines, the sign is below the chip keys; otherwise it is on the right panel.
_LINES_BELOW_CHIP_KEYS_MIN: Final = 4
#: The maximum number of lines of the sign on the right panel.
_LINES_ON_RIGHT_MAX: Final = 7
#: The small print names the limits of at most this many kinds of bets.
_BET_KINDS_IN_SMALL_PRINT_MAX: Final = 4
#: A line of small print may be at most this many times as wide as its room; it is then drawn smaller.
_LINE_WIDTH_BEYOND_ROOM_MAX: Final = 1.1
#: The style of the sign's text, and of the limits in the small print.
LIMITS_TEXT_STYLE: Final = TextStyle("strong", "caption", "text")


def format_table_limits(context: DrawingContext) -> tuple[str, str] | None:
    """Return the lowest and the highest bet on a spot of the table as amounts of money.

    Bets that are made during a round are not counted. The lowest is at least the venue's minimum of a round. None if
    the table has no spots.
    """
    snapshot, table = context.view.snapshot, context.view.table
    if snapshot is None or table is None or not table.spots:
        return None
    limits, unit_cents = build_bet_limits(snapshot), snapshot.denomination_cents
    spots = [
        limits.apply_limits_to_spot(spot) for spot in table.spots.values() if not spot.added_bet_multiples
    ]
    lowest_credits, highest_credits = _find_lowest_and_highest_bet(limits, spots)
    return (
        context.format_money(max(lowest_credits, limits.venue_bet_min) * unit_cents),
        context.format_money(highest_credits * unit_cents),
    )


def list_kind_limits(context: DrawingContext) -> list[str]:
    """Return a text with the limits for each kind of bet of a table.

    Empty if the table has only one kind of bet, or too many.
    """
    snapshot, table = context.view.snapshot, context.view.table
    if snapshot is None or table is None:
        return []
    rows = list_limit_rows(context)
    if table.felt_kind == "roulette":
        limits = build_bet_limits(snapshot)
        spots_by_kind = {"inside": list[BetSpot](), "outside_bets": list[BetSpot]()}
        for spot in table.spots.values():
            spots_by_kind["inside" if is_inside_bet(spot) else "outside_bets"].append(
                limits.apply_limits_to_spot(spot)
            )
        rows = [
            (
                [context.texts.translate(f"felt.{kind}")],
                _format_limits(context, _find_lowest_and_highest_bet(limits, spots)),
            )
            for kind, spots in spots_by_kind.items()
            if spots
        ]
    if not 1 < len(rows) <= _BET_KINDS_IN_SMALL_PRINT_MAX:
        return []
    return [
        f"{names[0]} \u2026 {limits_text}" if len(names) > 1 else f"{names[0]} {limits_text}"
        for names, limits_text in rows
    ]


def lay_out_small_print(context: DrawingContext, width: float) -> list[str]:
    """Return the lines of small print that state the value of a credit and the limits of the table's bets.

    They fit into ``width`` units. A line may be a little wider, and is then drawn smaller, if this saves a line. On
    screens without the limits sign, they state the limits of each kind of bet instead of the whole table's. Before the
    machine's first snapshot, return nothing.
    """
    if context.view.snapshot is None:
        return []
    fact_texts = [
        context.texts.translate(
            "meter.denomination", amount=context.format_money(context.view.snapshot.denomination_cents)
        )
    ]
    if context.layout.is_portrait and (kind_texts := list_kind_limits(context)):
        fact_texts += kind_texts
    elif (limits := format_table_limits(context)) is not None:
        text_key = "felt.limits_short" if context.layout.is_telephone else "felt.limits"
        lowest_text, highest_text = limits
        fact_texts.append(context.texts.translate(text_key, least=lowest_text, most=highest_text))
    wide_lines = _join_facts_into_lines(context, fact_texts, width * _LINE_WIDTH_BEYOND_ROOM_MAX)
    lines = _join_facts_into_lines(context, fact_texts, width)
    return lines if len(lines) == len(wide_lines) else wide_lines


def _join_facts_into_lines(context: DrawingContext, fact_texts: list[str], width: float) -> list[str]:
    """Return texts joined to lines, each line with as many of the ``fact_texts`` as fit into ``width`` units."""
    lines = fact_texts[:1]
    for fact in fact_texts[1:]:
        joined_line = FACT_SEPARATOR.join((lines[-1], fact))
        if context.painter.measure_text(joined_line, LIMITS_TEXT_STYLE) <= width:
            lines[-1] = joined_line
        else:
            lines.append(fact)
    return lines


def _find_lowest_and_highest_bet(limits: BetLimits, spots: list[BetSpot]) -> tuple[int, int]:
    """Return the lowest and the highest bet, in credits, over several spots."""
    return min(spot.bet_min for spot in spots), max(map(limits.find_spot_maximum, spots))


def list_limit_rows(context: DrawingContext) -> list[tuple[list[str], str]]:
    """Return the rows of the limits sign: the names of bets that have the same limits, and these limits as text."""
    snapshot, table = context.view.snapshot, context.view.table
    if snapshot is None or table is None:
        return []
    limits = build_bet_limits(snapshot)
    names_by_limits: dict[tuple[int, int], list[str]] = {}
    for spots in table.groups.values():
        spots_by_limits: dict[tuple[int, int], list[BetSpot]] = {}
        for spot in map(limits.apply_limits_to_spot, spots):
            if not spot.added_bet_multiples:
                maximum = limits.find_spot_maximum(spot)
                spots_by_limits.setdefault((spot.bet_min, maximum - maximum % spot.bet_step), []).append(spot)
        for lowest_and_highest, spots_of_limits in spots_by_limits.items():
            names_by_limits.setdefault(lowest_and_highest, []).extend(
                list_group_names(context, tuple(spots_of_limits))
            )
    return [
        (list(dict.fromkeys(names)), _format_limits(context, lowest_and_highest))
        for lowest_and_highest, names in names_by_limits.items()
    ]


def _join_names(context: DrawingContext, names: list[str], width: float) -> str:
    """Return names joined to one text that fits into ``width`` units.

    The names that do not fit are replaced by one ellipsis. The first name is always written.
    """
    text = ", ".join(names)
    for shown_count in range(len(names) - 1, 0, -1):
        if context.painter.measure_text(text, LIMITS_TEXT_STYLE) <= width:
            break
        text = ", ".join(names[:shown_count]) + " \u2026"
    return text


def _format_limits(context: DrawingContext, lowest_and_highest: tuple[int, int]) -> str:
    """Return the lowest and the highest bet (``lowest_and_highest``) as one text."""
    assert context.view.snapshot is not None  # Rows exist only with a snapshot.
    lowest_text, highest_text = (
        context.format_money(amount * context.view.snapshot.denomination_cents)
        for amount in lowest_and_highest
    )
    return lowest_text if lowest_text == highest_text else f"{lowest_text}\u2013{highest_text}"


def draw_limits_sign(context: DrawingContext, right_panel: Rect, small_print_height: float) -> Rect:
    """Draw the sign with the limits of each group of bets, and return the free part of the right panel.

    The sign is below the chip keys on the left panel. If there is too little room, it is at the foot of the right
    panel, whose rectangle is ``right_panel``. ``small_print_height`` is the height of the small print on the panels. In
    portrait and on a telephone there is no sign.
    """
    rows = list_limit_rows(context)
    if not rows or context.layout.is_portrait:
        return right_panel
    x, y, w, h = context.layout.left_panel
    keys = lay_out_table_keys(context.view, context.layout)
    more_text = context.texts.translate("felt.limits_more", info=format_info_key_label(context, keys))
    bottom = max((rect[1] + rect[3] for rect, _ in keys), default=y)
    below_keys: Rect = (
        x + 18,
        bottom + _SIGN_SPACE,
        w - 36,
        y + h - small_print_height - bottom - _SIGN_SPACE,
    )
    lines = _build_sign_lines(context, rows, w - 36)
    lines_max = int(below_keys[3] // _SIGN_LINE_HEIGHT)
    if lines_max >= min(len(lines), _LINES_BELOW_CHIP_KEYS_MIN):
        _draw_lines(context, _shorten_sign_lines(lines, lines_max, more_text), below_keys)
        return right_panel
    x, y, w, h = right_panel
    lines = _shorten_sign_lines(_build_sign_lines(context, rows, w - 36), _LINES_ON_RIGHT_MAX, more_text)
    height = len(lines) * _SIGN_LINE_HEIGHT
    _draw_lines(context, lines, (x + 18, y + h - small_print_height - height, w - 36, height))
    return (x, y, w, h - height)


def _shorten_sign_lines(
    lines: list[tuple[str, str]], lines_max: int, more_text: str
) -> list[tuple[str, str]]:
    """Return the first lines of the limits sign, at most ``lines_max``.

    If lines are left out, the last line is ``more_text``, which says where the other limits can be seen.
    """
    if len(lines) <= lines_max:
        return lines
    shown_lines = lines[: lines_max - 1]
    while not shown_lines[-1][1] and len(shown_lines) > 1:  # a name whose limits are left out
        shown_lines.pop()
    return [*shown_lines, (more_text, "")]


def _build_sign_lines(
    context: DrawingContext, rows: list[tuple[list[str], str]], width: float
) -> list[tuple[str, str]]:
    """Return the lines of the limits sign, each as a name and limits; the heading is the first.

    A name that is too wide to stand beside its limits has its own line.
    """
    painter, lines = context.painter, [(context.texts.translate("felt.limits_sign"), "")]
    for names, limits_text in rows:
        name_width = width - painter.measure_text(limits_text, LIMITS_TEXT_STYLE) - _SIGN_SPACE
        text = _join_names(context, names, name_width)
        if painter.measure_text(text, LIMITS_TEXT_STYLE) <= name_width:
            lines.append((text, limits_text))
        else:
            lines += [(_join_names(context, names, width), ""), ("", limits_text)]
    return lines


def _draw_lines(context: DrawingContext, lines: list[tuple[str, str]], rect: Rect) -> None:
    """Draw the lines of the limits sign in a rectangle."""
    painter, (x, y, w, _) = context.painter, rect
    for i, (text, limits_text) in enumerate(lines):
        middle = y + (i + 0.5) * _SIGN_LINE_HEIGHT
        painter.draw_text(
            text,
            (x, middle),
            LIMITS_TEXT_STYLE if i else LIMITS_TEXT_STYLE._replace(paint=context.look.accent_colour),
            align="left",
            width_max=w,
        )
        if limits_text:
            painter.draw_text(
                limits_text,
                (x + w, middle),
                LIMITS_TEXT_STYLE._replace(paint="meter"),
                align="right",
                width_max=w,
            )
