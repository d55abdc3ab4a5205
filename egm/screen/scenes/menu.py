"""The game menu: the games by kind, each on a tile in its own look, and the selected game's denominations.

The menu opens at the page with the game on the screen. ``view.sheet_index`` counts pages from that page.
"""

from functools import partial
from typing import Final, NamedTuple

import pygame

from egm.kernel.messages import GameView
from egm.screen.art.paths import build_rounded_box
from egm.screen.art.symbols import render_symbol_art
from egm.screen.art.vector_canvas import LinearGradient, RadialGradient, VectorCanvas
from egm.screen.layout import Layout
from egm.screen.painter import Rect, TextStyle, build_gold_gradient
from egm.screen.reel_data import ReelData, compute_prize_at_bet
from egm.screen.scenes.card_faces import draw_card
from egm.screen.scenes.chips import CHIP_COLOURS, draw_chip
from egm.screen.scenes.drawing_context import (
    BLACK,
    DrawingContext,
    build_metal_gradient,
    draw_button,
    render_rim_panel,
)
from egm.screen.scenes.help import lay_out_page_keys
from egm.screen.scenes.keno import draw_ball
from egm.screen.scenes.status import format_theoretical_return
from egm.screen.table import is_table_game
from egm.screen.theme import fade_colour, mix_colours
from egm.screen.view import Action, View

#: A tile higher than this, in units, has a large title.
_TILE_HEIGHT_FOR_LARGE_TITLE_MIN: Final = 160.0
#: Height below which a tile has no picture, in units.
_PICTURE_HEIGHT_MIN: Final = 24.0
#: Gap between a tile's texts and its picture, in units.
_TEXT_PICTURE_GAP: Final = 4.0
#: The style of a tile's facts.
_TILE_FACTS_STYLE: Final = TextStyle("strong", "caption", "text")
#: The numbers of the balls in a Keno game's picture.
_PICTURED_KENO_BALLS: Final = (7, 18, 33, 52, 80)


def _count_columns(layout: Layout) -> int:
    """Return the number of columns of game tiles on a page of the menu."""
    return 2 if layout.is_portrait else 3


def _count_rows(layout: Layout) -> int:
    """Return the number of rows of game tiles on a page of the menu."""
    return 2 if not layout.is_portrait else 4 if not layout.is_telephone else 3


def find_game_kind(game: GameView) -> str:
    """Return the kind under which the menu lists a game, as a key of the catalogue's ``menu`` texts."""
    data = game.presentation
    if is_table_game(game):
        return "poker" if data.get("hold") else "tables"
    return "tables" if "areas" in data else "keno" if "marks" in data else "reels"


def _list_pages(view: View, layout: Layout) -> list[list[GameView]]:
    """Return the games on each page of the menu: those on offer, sorted by kind. Each kind starts a new page."""
    games_by_kind: dict[str, list[GameView]] = {}
    for game in view.game_by_id.values():
        if game.is_offered:
            games_by_kind.setdefault(find_game_kind(game), []).append(game)
    games_per_page = _count_columns(layout) * _count_rows(layout)
    return [
        games[i : i + games_per_page]
        for games in games_by_kind.values()
        for i in range(0, len(games), games_per_page)
    ] or [[]]


class _PageIndices(NamedTuple):
    """The indices of the page that the menu shows, and of the page with the game on the screen."""

    shown_page: int
    current_game_page: int


def _find_page_indices(view: View, layout: Layout) -> _PageIndices:
    """Return the indices of the page that the menu shows, and of the page with the game on the screen."""
    pages = _list_pages(view, layout)
    current_game_page = next((page_index for page_index, games in enumerate(pages) if view.game in games), 0)
    return _PageIndices((current_game_page + view.sheet_index) % len(pages), current_game_page)


def lay_out_kind_tabs(view: View, layout: Layout) -> list[tuple[Rect, str, Action]]:
    """Return a tab for each kind of game: its rectangle, the kind, and the action that opens its first page.

    Empty if there is only one kind.
    """
    pages, (_, current_game_page) = _list_pages(view, layout), _find_page_indices(view, layout)
    first_page_by_kind: dict[str, int] = {}
    for page_index, games in enumerate(pages):
        for game in games[:1]:
            first_page_by_kind.setdefault(find_game_kind(game), page_index)
    if len(first_page_by_kind) < 2:
        return []
    x, y, w, _ = layout.player_page
    width = (w - 96 + 16) / len(first_page_by_kind)
    return [
        (
            (x + 48 + i * width, y + 20, width - 16, layout.touch_size_min),
            kind,
            Action("page_sheet", page_index - current_game_page),
        )
        for i, (kind, page_index) in enumerate(first_page_by_kind.items())
    ]


def lay_out_game_tiles(view: View, layout: Layout) -> list[tuple[Rect, GameView]]:
    """Return the tiles on the page that the menu shows: the rectangle and the game of each."""
    x, y, w, h = layout.player_page
    pages = _list_pages(view, layout)
    games = pages[_find_page_indices(view, layout).shown_page]
    column_count = _count_columns(layout)
    row_count = max(1, min(_count_rows(layout), -(-len(games) // column_count)))
    width = (w - 96 - 24 * (column_count - 1)) / column_count
    head_height = max(108.0, layout.touch_size_min + 56)
    foot_height = h - (
        lay_out_page_keys(layout.player_page)["next"][1] - max(62.0, layout.touch_size_min) - 68 - y
    )
    height = min(300.0, (h - head_height - foot_height - 24 * (row_count - 1)) / row_count)
    return [
        (
            (
                x + 48 + (i % column_count) * (width + 24),
                y + head_height + (i // column_count) * (height + 24),
                width,
                height,
            ),
            game,
        )
        for i, game in enumerate(games)
    ]


def list_menu_touch_targets(view: View, layout: Layout) -> list[tuple[Rect, Action]]:
    """Return all touch targets of the menu: games, kinds of game, denominations, and the keys that turn and close."""
    x, _, w, _ = layout.player_page
    touch_targets = [(rect, Action("game", game.id)) for rect, game in lay_out_game_tiles(view, layout)]
    denominations = view.game.denominations_cents if view.game else ()
    width = min(180.0, (w - 96) / max(1, len(denominations)) - 16)
    left, height = x + (w - len(denominations) * (width + 16) + 16) / 2, max(62.0, layout.touch_size_min)
    touch_targets += [
        (
            (
                left + i * (width + 16),
                lay_out_page_keys(layout.player_page)["next"][1] - height - 22,
                width,
                height,
            ),
            Action("denomination", cents),
        )
        for i, cents in enumerate(denominations)
    ]
    has_several_pages = len(_list_pages(view, layout)) > 1
    keys = lay_out_page_keys(layout.player_page)
    touch_targets += [
        (keys[name], Action(name)) for name in ("close", *(("back", "next") if has_several_pages else ()))
    ]
    return touch_targets + [(rect, action) for rect, _, action in lay_out_kind_tabs(view, layout)]


def format_menu_lines(context: DrawingContext) -> list[str]:
    """Return the text of the menu for screen readers: every choice on the page that it shows."""
    return [
        format_menu_item(context, action)
        for _, action in list_menu_touch_targets(context.view, context.layout)
    ]


def format_menu_item(context: DrawingContext, action: Action) -> str:
    """Return the text of one choice in the game menu, such as a game or a denomination."""
    translate = context.texts.translate
    match action.name:
        case "game":
            game = context.view.game_by_id[str(action.value)]
            return f"{context.texts.choose_translation(game.title, game.id)}, {format_bet_range(context, game)[0]}"
        case "denomination":
            return translate("meter.denomination", amount=context.format_money(int(action.value)))
        case "page_sheet":
            tabs = lay_out_kind_tabs(context.view, context.layout)
            return next(translate(f"menu.{kind}") for _, kind, tab_action in tabs if tab_action == action)
        case _:
            return translate(f"key.{action.name}")


def draw_menu(context: DrawingContext) -> None:
    """Draw the game menu over the current scene."""
    painter, rect, view = context.painter, context.layout.player_page, context.view
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
    tabs = lay_out_kind_tabs(view, context.layout)
    if not tabs:
        title_style = TextStyle("heavy", "lead", context.look.accent_colour)
        painter.draw_text(
            context.texts.translate("menu.title"), (x + w / 2, y + 54), title_style, width_max=w - 100
        )
    shown_kinds = {find_game_kind(game) for _, game in lay_out_game_tiles(view, context.layout)}
    for key_rect, kind, _ in tabs:
        draw_button(context, key_rect, context.texts.translate(f"menu.{kind}"), is_active=kind in shown_kinds)
    for tile, game in lay_out_game_tiles(view, context.layout):
        _draw_tile(context, tile, game)
    painter.draw_text(
        context.texts.translate("menu.denomination", game=context.texts.choose_translation(view.game.title))
        if view.game
        else "",
        (x + w / 2, lay_out_page_keys(rect)["next"][1] - max(62.0, context.layout.touch_size_min) - 46),
        TextStyle("strong", "caption", "text_dim"),
        width_max=w - 100,
    )
    for key_rect, action in list_menu_touch_targets(view, context.layout):
        if action.name == "denomination":
            is_current = view.snapshot is not None and view.snapshot.denomination_cents == action.value
            draw_button(
                context,
                key_rect,
                context.format_money(int(action.value)),
                is_enabled=view.is_request_accepted("denomination"),
                is_active=is_current,
            )
        elif action.name not in {"game", "page_sheet"}:
            draw_button(context, key_rect, context.texts.translate(f"key.{action.name}"))


def _draw_tile(context: DrawingContext, rect: Rect, game: GameView) -> None:
    """Draw a game's tile in the menu, in the look of the game: its title, facts about it, and a picture."""
    painter, (x, y, w, h) = context.painter, rect
    look = context.theme.find_look(game.id, game.family, game.art.look)
    is_current_game = context.view.game is game
    title = context.texts.choose_translation(game.title, game.id)

    def render_tile(size: tuple[int, int]) -> pygame.Surface:
        canvas = VectorCanvas(size, (w, h), 2)
        canvas.fill_path(build_rounded_box(0, 0, w, h, 26), BLACK)
        canvas.fill_path(
            build_rounded_box(3, 3, w - 6, h - 6, 24), build_metal_gradient(context.theme, look.rim_metal)
        )
        canvas.fill_path(
            build_rounded_box(9, 9, w - 18, h - 18, 19),
            LinearGradient(
                (
                    (0, look.background_colours[0]),
                    (0.5, look.background_colours[1]),
                    (1, look.background_colours[2]),
                )
            ),
        )
        canvas.fill_inside(
            build_rounded_box(9, 9, w - 18, h - 18, 19),
            build_rounded_box(0, 0, w, h),
            RadialGradient(
                ((0, fade_colour(look.light_colour, 0.55)), (1, fade_colour(look.light_colour, 0))),
                (0.5, 0.6),
                0.6,
            ),
        )
        return canvas.finish_surface()

    painter.draw_cached_picture(("tile", game.id), rect, render_tile)
    title_size = "title" if h > _TILE_HEIGHT_FOR_LARGE_TITLE_MIN else "lead"
    title_height = context.theme.size_by_name[title_size] * 1.3
    painter.draw_text(
        title,
        (x + w / 2, y + 12 + title_height / 2),
        TextStyle(
            "display",
            title_size,
            build_gold_gradient(context.theme),
            2,
            mix_colours(look.background_colours[2], BLACK, 0.4),
        ),
        width_max=w - 50,
    )
    free_height = h - 12 - title_height - 12 - 2 * _TEXT_PICTURE_GAP
    fact_texts = _format_game_facts(context, game, w - 32, free_height)
    fact_top = y + h - 12 - sum(fact_height for _, fact_height in fact_texts)
    for fact, fact_height in fact_texts:
        painter.draw_label(fact, (x + 16, fact_top, w - 32, fact_height), _TILE_FACTS_STYLE)
        fact_top += fact_height
    free_height -= sum(fact_height for _, fact_height in fact_texts)
    if free_height >= _PICTURE_HEIGHT_MIN:
        height = min(free_height, h * 0.4)
        _draw_prize_symbols(
            context,
            (x + 30, y + 12 + title_height + _TEXT_PICTURE_GAP + (free_height - height) / 2, w - 60, height),
            game,
        )
    if is_current_game:
        painter.draw_panel(
            (x + w / 2 - 84, y - 22, 168, 34), radius=16, fill=look.accent_colour, edge_paint=(0, 0, 0, 255)
        )
        painter.draw_text(
            context.texts.translate("menu.chosen"),
            (x + w / 2, y - 5),
            TextStyle("heavy", "caption", mix_colours(look.background_colours[2], BLACK, 0.6)),
            width_max=136,
        )


def _format_game_facts(
    context: DrawingContext, game: GameView, width: float, height_max: float
) -> list[tuple[str, float]]:
    """Return the facts on a game's menu tile, each as a text and its height.

    If the tile has too little room for them and a picture, they omit the value of a credit. If that is not enough, they
    leave no room for the picture. The last remedy is to omit the bets too.
    """
    painter, line_height = context.painter, context.theme.size_by_name["caption"] * 1.2
    fact_selections = [
        [
            (text, line_height * len(painter.wrap_text(text, width, _TILE_FACTS_STYLE)))
            for text in (bets_text, format_theoretical_return(context, game))
        ]
        for bets_text in format_bet_range(context, game)
    ]
    for picture_height in (_PICTURE_HEIGHT_MIN, 0.0):
        for facts in fact_selections:
            if sum(height for _, height in facts) + picture_height <= height_max:
                return facts
    return fact_selections[-1][1:]


def format_bet_range(context: DrawingContext, game: GameView) -> tuple[str, str]:
    """Return two texts about the bets of a game, a long one and a short one.

    Both state the lowest and the highest bet; the long one also states the value of a credit.
    """
    snapshot = context.view.snapshot
    table = context.view.table_by_game.get(game.id)
    denominations = game.denominations_cents
    lowest_bet, highest_bet = min(game.bet_options), max(game.bet_options)
    if table is not None and table.spots:
        lowest_bet = table.lowest_round_credits
        highest_bet = table.total_bet_max or max(spot.bet_max for spot in table.spots.values())
    bet_min_cents, bet_max_cents = lowest_bet * min(denominations), highest_bet * max(denominations)
    if snapshot is not None:
        bet_min_cents = max(bet_min_cents, snapshot.bet_min_cents)
        bet_max_cents = min(bet_max_cents, snapshot.bet_max_cents or bet_max_cents)
    bets_text = context.texts.translate(
        "menu.stakes", least=context.format_money(bet_min_cents), most=context.format_money(bet_max_cents)
    )
    lowest_unit_text = context.format_money(min(denominations))
    highest_unit_text = context.format_money(max(denominations))
    text_key = "menu.unit" if lowest_unit_text == highest_unit_text else "menu.units"
    return (
        f"{context.texts.translate(text_key, unit=lowest_unit_text, last=highest_unit_text)}  \u00b7  {bets_text}",
        bets_text,
    )


def _draw_prize_symbols(context: DrawingContext, rect: Rect, game: GameView) -> None:
    """Draw a picture of the game: the symbols of its four highest prizes, or else Keno balls, chips or cards.

    For a wheel game, they are the symbols of the last four betting areas.
    """
    x, y, w, h = rect
    reel_data_by_stage = context.view.reel_data_by_game.get(game.id, {})
    reel_data: ReelData | None = next(iter(reel_data_by_stage.values()), None)
    if reel_data is None:
        if "areas" in game.presentation:
            symbols = [next(iter(area["pays"])) for area in game.presentation["areas"]]
            _draw_symbol_row(context, rect, game, symbols[-4:])
            return
        if is_table_game(game):
            _draw_table_picture(context, rect, game)
            return
        side = min(h, w / len(_PICTURED_KENO_BALLS) - 8)
        left = x + (w - len(_PICTURED_KENO_BALLS) * (side + 8) + 8) / 2
        for i, number in enumerate(_PICTURED_KENO_BALLS):
            ball_rect = (left + i * (side + 8), y + (h - side) / 2, side, side)
            draw_ball(context, ball_rect, number, is_caught=i % 2 == 1)
        return
    prizes = sorted(
        reel_data.prizes,
        key=lambda prize: -compute_prize_at_bet(game, prize.name, prize.credits, max(game.bet_options)),
    )
    _draw_symbol_row(
        context, rect, game, list(dict.fromkeys(prize.symbol for prize in prizes if prize.symbol))[:4]
    )


def _draw_table_picture(context: DrawingContext, rect: Rect, game: GameView) -> None:
    """Draw a picture of a table game: cards if it is a card game, otherwise chips."""
    x, y, w, h = rect
    side = min(h, w / 4 - 10)
    left = x + (w - 4 * (side + 10) + 10) / 2
    for i, (card, chip) in enumerate(zip(("As", "Kh", "Qd", "Jc"), (1, 5, 10, 50), strict=True)):
        picture_rect = (left + i * (side + 10), y + (h - side) / 2, side, side)
        if game.presentation.get("felt") == "cards":
            draw_card(context, (picture_rect[0] + side * 0.15, picture_rect[1], side * 0.7, side), card)
        else:
            draw_chip(context, (picture_rect[0] + side / 2, y + h / 2), chip, CHIP_COLOURS[i], side)


def _draw_symbol_row(context: DrawingContext, rect: Rect, game: GameView, symbols: list[str]) -> None:
    """Draw the given symbols of a game in a row on the game's tile."""
    painter, (x, y, w, h) = context.painter, rect
    side = min(h, w / max(1, len(symbols)) - 10)
    left = x + (w - len(symbols) * (side + 10) + 10) / 2
    for i, symbol in enumerate(symbols):
        symbol_rect = (left + i * (side + 10), y + (h - side) / 2, side, side)
        render_symbol = partial(render_symbol_art, symbol, symbol, pictures=game.art.pictures)
        painter.draw_cached_picture(("symbol", symbol, game.digest), symbol_rect, render_symbol)
