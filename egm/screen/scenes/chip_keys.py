"""The keys of a table game: chips and tools, actions on all chips, and the parts of the felt."""

import re
from typing import Final

from egm.screen.felt_layout import (
    RACETRACK_PART_NAME,
    find_open_felt_part,
    lay_out_felt,
    lay_out_part_tabs,
    list_felt_parts,
)
from egm.screen.layout import Layout
from egm.screen.painter import Rect, TextStyle
from egm.screen.scenes.card_faces import draw_suits
from egm.screen.scenes.cards import compute_suits_key_rect
from egm.screen.scenes.chips import draw_chip, find_chip_colour
from egm.screen.scenes.drawing_context import DrawingContext, draw_button
from egm.screen.spot_layout import list_page_spots, split_common_words
from egm.screen.table import (
    BetSpot,
    ChipsOnTable,
    TableGameData,
    build_bet_limits,
    find_chip_value,
    list_chip_values,
)
from egm.screen.view import (
    Action,
    PlayerPage,
    View,
    should_show_scoreboard,
)

#: A tool key must be wider than this to have its text; a narrower one has a sign.
_KEY_WIDTH_FOR_TEXT_MIN: Final = 92.0
#: Width of a key without a bet kind's name, in letters.
_KEY_WIDTH_WITHOUT_BET_KIND_IN_LETTERS: Final = 13
#: Width of a key's margins, in letters.
_KEY_MARGINS_IN_LETTERS: Final = 3
#: Height above and below the keys for the small print of the panel, in units.
_SMALL_PRINT_HEIGHT: Final = 72.0
#: The sign of each tool on a key too narrow for its name.
_KEY_SIGN_BY_CHIP_TOOL: Final = {"take": "\u2212", "ask": "?"}
#: If the names of a group's spots have nothing in common, at most this many of them name the group.
_NAMED_SPOTS_MAX: Final = 6


def _list_key_rows(view: View, table: TableGameData, layout: Layout) -> list[list[Action]]:
    """Return the actions of a table game's keys, row by row.

    The rows have chips and tools; actions on all chips, such as undo; and options, such as the scoreboard. At roulette,
    the last rows have the parts of the felt, except on a telephone, which has tabs for them.
    """
    values = (
        table.chip_values
        if view.snapshot is None
        else list_chip_values(table, build_bet_limits(view.snapshot))
    )
    chip_keys = [Action("chip", value) for value in values]
    chip_keys += [Action("tool", "take"), Action("tool", "ask")]
    change_keys = [Action(name) for name in ("undo", "clear", "repeat", "double")]
    option_keys = [Action("tool", "plays")] if table.switchable_spot_ids else []
    option_keys += [Action("board")] if table.scoreboard_sides else []
    option_keys += [Action("suits")] if table.has_suits else []
    if layout.is_telephone:
        return [chip_keys, [*change_keys, *option_keys]]
    part_keys = (
        [Action("felt_part", part) for part in list_felt_parts(table, layout)]
        if table.felt_kind == "roulette"
        else []
    )
    rows = (
        [chip_keys, change_keys]
        if layout.is_portrait
        else [chip_keys[:4], chip_keys[4:], change_keys[:2], change_keys[2:]]
    )
    rows += [option_keys] if option_keys else []
    free_row_count = int((layout.left_panel[3] - _SMALL_PRINT_HEIGHT) // layout.touch_size_min) - len(rows)
    parts_per_row = max(4 if layout.is_portrait else 2, -(-len(part_keys) // max(1, free_row_count)))
    return [*rows, *(part_keys[i : i + parts_per_row] for i in range(0, len(part_keys), parts_per_row))]


def lay_out_table_keys(view: View, layout: Layout) -> list[tuple[Rect, Action]]:
    """Return the keys of a table game with their rectangles.

    They are on the left panel, or on a telephone below the felt. A game without betting spots has only the
    key for the colours of the suits, in the game field, and none if its cards have no suits.
    """
    table = view.table
    if table is None:
        return []
    if not table.spots:
        return [(compute_suits_key_rect(layout), Action("suits"))] if table.has_suits else []
    rows = _list_key_rows(view, table, layout)
    if layout.is_telephone:
        x, y, w, h = layout.game_field
        height, top, left, width = layout.touch_size_min, y + h - len(rows) * layout.touch_size_min, x, w
    else:
        x, y, w, h = layout.left_panel
        height = min(70.0, (h - _SMALL_PRINT_HEIGHT) / len(rows))
        top, left, width = y + 10, x + 10, w - 20
    keys: list[tuple[Rect, Action]] = []
    for row_index, row in enumerate(rows):
        key_left, width_shares = left, [_compute_key_width_in_letters(table, action) for action in row]
        for action, width_share in zip(row, width_shares, strict=True):
            keys.append(
                (
                    (key_left, top + row_index * height, width * width_share / sum(width_shares), height),
                    action,
                )
            )
            key_left += keys[-1][0][2]
    return keys


def _compute_key_width_in_letters(table: TableGameData, action: Action) -> int:
    """Return how wide a key must be for its label, in letters.

    A label that is the name of a kind of bet is written on two lines: the key must hold half of it, and its longest
    word.
    """
    spots = table.groups.get(str(action.value), ()) if action.name == "felt_part" else ()
    names = [name for spot in spots[:1] for name in spot.names.values()]
    word_lengths = [len(word) for name in names for word in name.split()]
    return _KEY_MARGINS_IN_LETTERS + max(
        (*word_lengths, *(len(name) // 2 + 1 for name in names)),
        default=_KEY_WIDTH_WITHOUT_BET_KIND_IN_LETTERS,
    )


def list_table_touch_targets(view: View, layout: Layout) -> list[tuple[Rect, Action]]:
    """Return the touch targets of a table: bet spots and keys.

    Return an empty list while the machine takes no bets, or while the player has a page open.
    """
    table = view.table
    if (
        table is None
        or not table.spots
        or not view.is_request_accepted("bet")
        or view.player_page is not PlayerPage.NONE
    ):
        return []
    touch_targets = lay_out_felt(table, view.chips, layout).touch_targets
    return [*lay_out_table_keys(view, layout), *lay_out_part_tabs(table, view.chips, layout), *touch_targets]


def draw_table_key(context: DrawingContext, table: TableGameData, rect: Rect, action: Action) -> None:
    """Draw one key of a table game, such as a chip, a tool or undo."""
    x, y, w, h = rect
    key_rect: Rect = (x + 3, y + 3, w - 6, h - 6)
    chips, translate, snapshot = context.view.chips, context.texts.translate, context.view.snapshot
    if action.name == "chip" and snapshot is not None:
        is_active = (
            chips.selected_tool == "chip"
            and find_chip_value(table, chips, build_bet_limits(snapshot)) == action.value
        )
        draw_button(context, key_rect, "", is_active=is_active)
        side = min(w, h) - 12
        credits_ = int(action.value)
        draw_chip(context, (x + w / 2, y + h / 2 + 1), credits_, find_chip_colour(table, credits_), side)
    elif action.name == "felt_part":
        is_active = find_open_felt_part(table, chips, context.layout) == action.value
        draw_felt_part_key(context, table, key_rect, str(action.value), is_active=is_active)
    elif action.name == "tool":
        text = _format_tool_label(context, rect, action.value)
        size = "caption" if w > _KEY_WIDTH_FOR_TEXT_MIN else "lead"
        draw_button(
            context, key_rect, text, is_active=chips.selected_tool == action.value, text_size_name=size
        )
    elif action.name == "suits":
        draw_button(context, key_rect, "", is_active=context.view.has_four_suit_colours)
        draw_suits(context, key_rect)
    elif action.name == "board":
        draw_table_text_key(
            context, key_rect, translate("felt.board"), is_active=should_show_scoreboard(context.view)
        )
    else:
        is_enabled = context.view.is_request_accepted("bet") and _can_change_chips(chips, action.name)
        draw_table_text_key(context, key_rect, translate(f"felt.{action.name}"), is_enabled=is_enabled)


def _format_tool_label(context: DrawingContext, rect: Rect, tool: str) -> str:
    """Return the text on a tool's key, or its sign if the key is too narrow for the text."""
    return (
        context.texts.translate(f"felt.{tool}")
        if rect[2] > _KEY_WIDTH_FOR_TEXT_MIN
        else _KEY_SIGN_BY_CHIP_TOOL[tool]
    )


def format_info_key_label(context: DrawingContext, keys: list[tuple[Rect, Action]]) -> str:
    """Return the label of the key that explains a spot, for texts that mention this key.

    ``keys`` are all keys of the table with their rectangles.
    """
    rect = next(rect for rect, action in keys if action == Action("tool", "ask"))
    return _format_tool_label(context, rect, "ask")


def _can_change_chips(chips: ChipsOnTable, key_name: str) -> bool:
    """Return whether the key ``key_name`` (undo, clear, repeat, double) would change the chips now."""
    can_change_by_key: dict[str, bool] = {
        "undo": bool(chips.undo_bets),
        "clear": bool(chips.bets),
        "repeat": bool(chips.last_round_bets),
        "double": bool(chips.credits),
    }
    return can_change_by_key[key_name]


def draw_table_text_key(
    context: DrawingContext, rect: Rect, text: str, *, is_active: bool = False, is_enabled: bool = True
) -> None:
    """Draw a key of a table game that has a text. The text may be as wide as the key, because the keys are narrow."""
    x, y, w, h = rect
    draw_button(context, rect, "", is_active=is_active, is_enabled=is_enabled)
    style = TextStyle("strong", "caption", "text" if is_enabled else "text_dim")
    context.painter.draw_label(text, (x + 3, y, w - 6, h), style)


def draw_felt_part_key(
    context: DrawingContext, table: TableGameData, rect: Rect, part: str, *, is_active: bool
) -> None:
    """Draw a key that opens a part of the felt, with the part's name (on a telephone, a short sign)."""
    draw_table_text_key(context, rect, format_felt_part_name(context, table, part), is_active=is_active)


def format_felt_part_name(context: DrawingContext, table: TableGameData, part: str) -> str:
    """Return the name of a part of the felt; on a telephone, a short sign."""
    if part == RACETRACK_PART_NAME:
        return context.texts.translate("felt.race") if not context.layout.is_telephone else "\u25cb"
    if table.felt_kind != "roulette" and context.layout.is_telephone:
        return str(int(part) + 1)
    if table.felt_kind != "roulette":
        page_spots = list_page_spots(table, context.layout, int(part))
        names = [
            format_group_name(context, table.groups[spot.group]) for spot in (page_spots[0], page_spots[-1])
        ]
        return " \u2013 ".join(dict.fromkeys(names))
    spots = table.groups[part]
    if context.layout.is_telephone:
        number_count = len(spots[0].covered_pockets)
        groups_of_size = [
            group for group in table.groups.values() if len(group[0].covered_pockets) == number_count
        ]
        return f"\u00d7{number_count}" + "\u2032" * groups_of_size.index(spots)
    return format_group_name(context, spots)


def list_group_names(context: DrawingContext, spots: tuple[BetSpot, ...]) -> list[str]:
    """Return the names to print on the key of a group of bets.

    It is one name: the words with which the names of all its bets begin. If they share no words, return the names of
    the first bets.
    """
    names = [context.texts.choose_translation(spot.names) for spot in spots]
    if len(names) == 1:
        return names
    name = re.sub(r"[\s\d\u2013-]+$", "", split_common_words(names)[0])
    return [name] if name else names[:_NAMED_SPOTS_MAX]


def format_group_name(context: DrawingContext, spots: tuple[BetSpot, ...]) -> str:
    """Return the name of a group of bets as one text; see :func:`list_group_names`."""
    return ", ".join(list_group_names(context, spots))
