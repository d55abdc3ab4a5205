"""Drawing of the hands on a table: the cards as they are dealt, held and shown, and the texts of each hand."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from egm.kernel.messages import DecisionRequest
from egm.screen.layout import Layout, grow_rect
from egm.screen.motion import ease_out
from egm.screen.painter import Rect, TextStyle
from egm.screen.presentation import StepTimes
from egm.screen.scenes.card_faces import FACE_DOWN_CARD_CODE, draw_card
from egm.screen.scenes.dealt_hands import (
    DealtHand,
    FlyingCard,
    build_current_hands,
    find_flying_card,
    read_final_hands,
)
from egm.screen.scenes.drawing_context import DrawingContext, draw_button
from egm.screen.scenes.hand_layout import (
    CARD_HEIGHT_MAX,
    CARD_TEXT_GAP,
    HAND_TEXT_HEIGHT,
    NARROW_HAND_TEXT_HEIGHT,
    HandLayout,
    HandRoomNeeds,
    compute_held_hand_height_min,
    lay_out_hand,
    place_hands_in_rows,
    place_small_hand_cards,
    place_small_hands,
    place_split_hands,
)
from egm.screen.scenes.pai_gow_tiles import FACE_DOWN_TILE, compute_tile_rect, is_tile
from egm.screen.scenes.pay_table import draw_pay_columns, lay_out_pay_columns, list_pay_table_rows
from egm.screen.spot_layout import compute_felt_rect, compute_height_above_spots
from egm.screen.steps import TableStep
from egm.screen.table import TableGameData, read_registered_bets
from egm.screen.view import find_last_step, is_decision_by_marking, is_decision_due

#: The colour of the shade on the felt under a hand.
_HAND_SHADE_COLOUR: Final = (0, 24, 12, 70)
#: Height of a hold key, in units.
_HOLD_KEY_HEIGHT: Final = 70.0
#: The minimum width of a hold key, for its text, if several hands are played from one deal.
_HOLD_KEY_WIDTH_MIN: Final = 90.0
#: The width of the key for four-colour suits, in units.
_SUITS_KEY_WIDTH: Final = 124.0
#: The minimum width of a hand in a row, in cards, so that its value fits below it.
_HAND_WIDTH_MIN_IN_CARDS: Final = 2.5
#: The maximum number of hands of the players in one row.
_HANDS_PER_ROW_MAX: Final = 4
#: Two hands of more cards than this are stacked, not side by side.
_CARDS_SIDE_BY_SIDE_MAX: Final = 5
#: The number of cards of a hand if several hands are played from one deal.
_MULTI_HAND_CARD_COUNT: Final = 5
#: Room, in cards, for a hand that may draw any number of cards: at a table with few hands (at most
#: :data:`_FEW_HANDS_MAX`), and at one with more.
_CARD_ROOM_OF_UNLIMITED_HAND: Final = (6, 5)
#: The maximum number of hands that count as few.
_FEW_HANDS_MAX: Final = 3
#: The minimum height at which a small hand is drawn, in units.
_SMALL_HAND_HEIGHT_MIN: Final = 22.0
#: With more hands than this from one deal, the small hands take :data:`_SMALL_HANDS_HEIGHT_SHARE` of the field.
_HANDS_ON_HALF_FIELD_MAX: Final = 30
#: The share of the field's height for many small hands.
_SMALL_HANDS_HEIGHT_SHARE: Final = 0.58


# ---------------------------------------------------------------------- layout
def compute_cards_rect(context: DrawingContext, table: TableGameData) -> Rect:
    """Return the part of the game field in which cards lie."""
    x, y, w, h = compute_felt_rect(context.layout)
    if not table.spots:
        hold_keys_height = _HOLD_KEY_HEIGHT + 12 if _can_hold_cards(context) else 0.0
        suits_key = compute_suits_key_rect(context.layout)
        top_offset = suits_key[1] + suits_key[3] - y
        if context.layout.is_telephone and list_pay_table_rows(context):
            top_offset = max(
                column_y + column_height - y
                for (_, column_y, _, column_height), _ in lay_out_pay_columns(
                    context, (x, y, w, h), suits_key
                )
            )
        full_height = h + (2 * context.layout.touch_size_min if context.layout.is_telephone else 0)
        return (x, y + top_offset, w, full_height - hold_keys_height - top_offset)
    decision = context.view.decision
    is_setting_hands = (
        decision is not None and decision.kind == "set" and is_decision_due(context.view, context.theme)
    )
    # No bets are shown, and each card is a touch target.
    if context.layout.is_telephone and is_setting_hands:
        return (x, y, w, h - 8)
    return (x, y, w, compute_height_above_spots(table, context.layout) - 8)


def compute_suits_key_rect(layout: Layout) -> Rect:
    """Return the rectangle of the key that switches the suits between two and four colours.

    It is for tables without betting spots; at others, this key is among the keys of the table. On a telephone it is at
    the upper right, next to the pay table.
    """
    x, y, w, _ = compute_felt_rect(layout)
    return (
        x + w - _SUITS_KEY_WIDTH if layout.is_telephone else x,
        y,
        _SUITS_KEY_WIDTH,
        max(layout.touch_size_min, 52.0),
    )


def _can_hold_cards(context: DrawingContext) -> bool:
    """Return whether the player of this game holds cards and draws others, as in video poker."""
    return bool(context.game_data.get("hold"))


def _read_hand_quantity(context: DrawingContext, hand_id: str, data_key: str) -> int:
    """Return a number from the game's data about a hand, by its key; 0 if the hand or the number is absent.

    ``cards``, for example, is the largest number of cards that the hand can have.
    """
    hands = context.game_data.get("hands", ())
    return next((int(hand_data.get(data_key, 0)) for hand_data in hands if hand_data["id"] == hand_id), 0)


def _list_hands_with_area(context: DrawingContext, hands: Sequence[DealtHand]) -> list[DealtHand]:
    """Return the hands that have an area on the table, in the game's order; a hand that is not dealt yet has one, too.

    Left out are undealt hands whose bet was not made and, on a telephone, hands of other seats.
    """
    ids_in_order = ["", *_read_hand_names(context)]
    excluded_ids = {hand.id for hand in hands} | _find_hand_ids_without_bets(context, is_dealt=bool(hands))
    if context.layout.is_telephone:
        hands = [hand for hand in hands if hand.seat is None or hand.is_own]
    possible_ids = [*ids_in_order[1:], *_list_additional_hand_ids(context, is_dealt=bool(hands))]
    hands_on_table = [
        *hands,
        *(DealtHand(hand_id, (), {}) for hand_id in possible_ids if hand_id not in excluded_ids),
    ]
    return sorted(
        hands_on_table,
        key=lambda hand: (
            ids_in_order.index(base_id := _find_base_hand_id(context, hand.id)),
            _parse_split_number(hand.id, base_id),
        ),
    )


def _list_additional_hand_ids(context: DrawingContext, *, is_dealt: bool) -> list[str]:
    """Return the ids of all hands of a multi-hand bet but the first; such a bet plays several hands from one deal.

    Return an empty list while the cards of an ended round are on the table, or if the hands would be too small to see.
    """
    snapshot = context.view.snapshot
    table = context.view.table
    if (
        table is None
        or snapshot is None
        or not _can_hold_cards(context)
        or (is_dealt and snapshot.state != "playing")
    ):
        return []
    hand_count = int(snapshot.bet_wager.get("hands", 1))
    return [
        f"player-{n + 1}"
        for n in range(1, hand_count if _compute_small_hands_height(context, table, hand_count) else 1)
    ]


def _compute_small_hands_share(hand_count: int) -> float:
    """Return which fraction of the field's height ``hand_count`` small hands of a multi-hand bet take."""
    return _SMALL_HANDS_HEIGHT_SHARE if hand_count > _HANDS_ON_HALF_FIELD_MAX else 0.5


def _compute_small_hands_height(context: DrawingContext, table: TableGameData, hand_count: int) -> float:
    """Return the height for the small hands of a multi-hand bet; 0 if they would be too small to see.

    It leaves enough room for the first hand, whose cards the player can hold.
    """
    x, y, w, h = compute_cards_rect(context, table)
    height = min(
        h * _compute_small_hands_share(hand_count),
        h - compute_held_hand_height_min(max(context.layout.touch_size_min, _HOLD_KEY_WIDTH_MIN)),
    )
    return (
        height
        if hand_count > 1
        and place_small_hands((x, y, w, height), hand_count - 1)[0][3] >= _SMALL_HAND_HEIGHT_MIN
        else 0.0
    )


def _parse_split_number(hand_id: str, base_id: str) -> int:
    """Return the number of a hand among those that were split from the hand ``base_id``.

    It is the number at the end of the hand's id, or 1 if the id has none. It stays the same when another hand is split.
    """
    number = hand_id.removeprefix(base_id).lstrip("-")
    return int(number) if number.isdecimal() else 1


def _find_hand_ids_without_bets(context: DrawingContext, *, is_dealt: bool) -> set[str]:
    """Return the ids of the hands that are dealt only if a certain bet is made, and whose bet is not made.

    While the cards of an ended round are on the table (``is_dealt``), return all hands that need a bet: the registered
    bets are then already for the next round.
    """
    table, snapshot = context.view.table, context.view.snapshot
    if table is None or snapshot is None:
        return set()
    bets = {} if is_dealt and snapshot.state != "playing" else read_registered_bets(table, snapshot)
    return {
        hand_id
        for hand_id, spots in _read_required_spots_by_hand(context).items()
        if not any(bets.get(spot) for spot in spots)
    }


def _read_required_spots_by_hand(context: DrawingContext) -> dict[str, list[str]]:
    """Return, for each hand that is dealt only if a certain bet is made, the ids of the spots of this bet."""
    return {str(hand["id"]): hand["with"] for hand in context.game_data.get("hands", ()) if "with" in hand}


def _read_hand_names(context: DrawingContext) -> dict[str, Mapping[str, str]]:
    """Return the names of the game's hands, by id."""
    return {str(hand["id"]): hand.get("names", {}) for hand in context.game_data.get("hands", ())}


def _find_base_hand_id(context: DrawingContext, hand_id: str) -> str:
    """Return the id of the hand from which a hand was split; if it was not split, return the hand's own id.

    If the game's data name neither hand, return an empty text.
    """
    return max(
        (named_id for named_id in _read_hand_names(context) if hand_id.startswith(named_id)),
        key=len,
        default="",
    )


def _find_split_number(context: DrawingContext, hand_id: str, hand_ids: Sequence[str]) -> int:
    """Return the number of a hand among those that were split from the same hand; 0 if it was not split."""
    base_id, names_by_hand = _find_base_hand_id(context, hand_id), _read_hand_names(context)
    split_ids = [
        other_id
        for other_id in hand_ids
        if other_id == base_id or (other_id.startswith(f"{base_id}-") and other_id not in names_by_hand)
    ]
    return _parse_split_number(hand_id, base_id) if len(split_ids) > 1 and hand_id in split_ids else 0


def format_hand_name(context: DrawingContext, hand_id: str, hand_ids: Sequence[str]) -> str:
    """Return the name of a hand on the table.

    If all hands but the bank's were split from one hand, the name is only the number of the hand.
    """
    base_id, names_by_hand = _find_base_hand_id(context, hand_id), _read_hand_names(context)
    name = context.texts.choose_translation(names_by_hand[base_id]) if base_id else ""
    split_number = _find_split_number(context, hand_id, hand_ids)
    if not split_number:
        return name
    is_one_base_hand = (
        len(
            {
                _find_base_hand_id(context, other_id)
                for other_id in hand_ids
                if not other_id.startswith("bank")
            }
        )
        == 1
    )
    return context.texts.translate(
        "felt.hand" if is_one_base_hand else "felt.hand_of", name=name, number=split_number
    )


def append_split_number(context: DrawingContext, bet_name: str, step: TableStep, hand_id: str) -> str:
    """Return the name of a bet and, if its hand was split, the number of the hand."""
    split_number = (
        _find_split_number(context, hand_id, [hand.id for hand in read_final_hands(step.display)])
        if hand_id
        else 0
    )
    return (
        context.texts.translate("felt.hand_of", name=bet_name, number=split_number)
        if split_number
        else bet_name
    )


def _count_hands_in_rows(hand_ids: Sequence[str], upper_hand_ids: Collection[str]) -> list[int]:
    """Return the number of hands in each row of the table, from the top.

    The bank's hands and those in ``upper_hand_ids`` are in the first row, the players' hands in one or two more rows.
    """
    upper_hand_count = max(
        1, sum(hand_id.startswith("bank") or hand_id in upper_hand_ids for hand_id in hand_ids)
    )
    player_hand_count = len(hand_ids) - upper_hand_count
    return (
        [upper_hand_count, player_hand_count]
        if player_hand_count <= _HANDS_PER_ROW_MAX
        else [upper_hand_count, -(-player_hand_count // 2), player_hand_count // 2]
    )


def _lay_out_hand_areas(
    context: DrawingContext, rect: Rect, hand_ids: Sequence[str], own_hand_ids: Collection[str]
) -> list[Rect]:
    """Return the area of each hand: the bank's above, the players' in rows below.

    Two hands with few cards lie side by side if the rectangle is wide enough. If the game publishes the number of cards
    of every hand, the areas are as wide as their cards need. At a shared table, ``own_hand_ids`` are the hands of this
    machine's player: the community cards then lie next to the bank's hand and, if there are many hands, the own hands
    have a row below the others, with areas of equal width.
    """
    x, y, w, h = rect
    if len(hand_ids) <= 1:
        return [rect] * len(hand_ids)
    card_counts = [_read_hand_quantity(context, hand_id, "cards") for hand_id in hand_ids]
    if len(hand_ids) == 2 and w > 1.6 * h and max(card_counts) <= _CARDS_SIDE_BY_SIDE_MAX:
        # The first hand, on the left, is the bank's.
        return [(x, y, w / 2, h), (x + w / 2, y, w / 2, h)]
    width_shares = (
        [max(card_count, _HAND_WIDTH_MIN_IN_CARDS) for card_count in card_counts]
        if all(card_counts)
        else [1.0] * len(card_counts)
    )
    hand_ids_with_bets = {
        hand_id for hand_id, spots in _read_required_spots_by_hand(context).items() if spots
    }
    hands_per_row = _count_hands_in_rows(
        hand_ids, hand_ids_with_bets | {"board"} if own_hand_ids else hand_ids_with_bets
    )
    if not own_hand_ids or len(hand_ids) - hands_per_row[0] < _HANDS_PER_ROW_MAX:
        return place_hands_in_rows(rect, hands_per_row, width_shares)
    hand_ids_own_last = sorted(hand_ids, key=lambda hand_id: hand_id in own_hand_ids)
    areas = place_hands_in_rows(
        rect,
        [hands_per_row[0], len(hand_ids) - hands_per_row[0] - len(own_hand_ids), len(own_hand_ids)],
        [1.0] * len(hand_ids),
    )
    return [areas[hand_ids_own_last.index(hand_id)] for hand_id in hand_ids]


def _is_multi_hand_deal(hands: Sequence[DealtHand]) -> bool:
    """Return whether more than two hands are played from one deal. All but the first are then drawn small."""
    return (
        len(hands) > 2 and hands[0].id == "player" and not any(hand.id.startswith("bank") for hand in hands)
    )


def _place_hands(
    context: DrawingContext, table: TableGameData, hands: Sequence[DealtHand]
) -> list[HandLayout]:
    """Return the layout of each hand's cards. Hands that were split from one hand share its area."""
    x, y, w, h = compute_cards_rect(context, table)
    if _is_multi_hand_deal(hands):  # Draw the first hand large, the others small above it.
        small_height = _compute_small_hands_height(context, table, len(hands))
        # Small hands that are drawn only after the decision get the room of the hold keys too.
        full_height = h if small_height else h + _HOLD_KEY_HEIGHT
        upper_height = small_height or full_height * _compute_small_hands_share(len(hands))
        small_areas = place_small_hands((x, y, w, upper_height), len(hands) - 1)
        first_hand_layout = lay_out_hand(
            (x, y + upper_height, w, full_height - upper_height),
            HandRoomNeeds(_MULTI_HAND_CARD_COUNT, has_hold_keys=True),
        )
        return [
            first_hand_layout,
            *(place_small_hand_cards(area, _MULTI_HAND_CARD_COUNT) for area in small_areas),
        ]
    hand_base_ids = [_find_base_hand_id(context, hand.id) for hand in hands]
    base_ids = list(dict.fromkeys(hand_base_ids))
    room_needs = [_find_hand_room_needs(context, base_id, len(base_ids)) for base_id in base_ids]
    own_base_ids = {base_id for hand, base_id in zip(hands, hand_base_ids, strict=True) if hand.is_own}
    areas = _lay_out_hand_areas(context, (x, y, w, h), base_ids, own_base_ids)
    card_heights = [
        CARD_HEIGHT_MAX
        if room_needs_of_hand.low_hand_card_count or own_base_ids
        else room_needs_of_hand.choose_column_count_and_card_height(area)[1]
        for room_needs_of_hand, area in zip(room_needs, areas, strict=True)
    ]
    # Use one card size. Cards of a hand that is divided in two, and all cards at a shared table, are as large as fits.
    card_height_max = min(card_heights)
    hand_layouts: list[HandLayout] = []
    for base_id, area, room_needs_of_hand in zip(base_ids, areas, room_needs, strict=True):
        split_hands = [
            hand for hand, hand_base_id in zip(hands, hand_base_ids, strict=True) if hand_base_id == base_id
        ]
        split_areas = (
            place_split_hands(area, len(split_hands), room_needs_of_hand) if len(split_hands) > 1 else [area]
        )
        hand_layouts += [
            lay_out_hand(
                hand_area,
                room_needs_of_hand,
                len(hand.cards),
                CARD_HEIGHT_MAX if room_needs_of_hand.low_hand_card_count else card_height_max,
            )
            for hand, hand_area in zip(split_hands, split_areas, strict=True)
        ]
    return hand_layouts


def _find_hand_room_needs(context: DrawingContext, hand_id: str, hand_count: int) -> HandRoomNeeds:
    """Return how much room the cards of a hand need, at a table with ``hand_count`` hands."""
    card_count = _read_hand_quantity(context, hand_id, "cards")
    card_room = card_count or _CARD_ROOM_OF_UNLIMITED_HAND[hand_count > _FEW_HANDS_MAX]
    return HandRoomNeeds(
        card_room,
        _read_hand_quantity(context, hand_id, "low"),
        can_stack_rows=not card_count,
        has_hold_keys=_can_hold_cards(context),
    )


def lay_out_card_touch_targets(context: DrawingContext) -> list[Rect]:
    """Return the touch target of each card in the hand about which the player decides.

    A target covers the card and the hold key below it. If the player divides a hand in two (as at pai gow), there are
    no hold keys, and a target covers the card only.
    """
    table, step = context.view.table, find_last_step(context.view)
    if table is None or not isinstance(step, TableStep):
        return []
    hands = _list_hands_with_area(context, read_final_hands(step.display))
    if not hands:
        return []
    card_rects = [hand_layout.card_rects for hand_layout in _place_hands(context, table, hands)]
    decision = context.view.decision
    if decision is not None and decision.kind == "set":
        decision_rects = card_rects[_find_decision_hand_index(hands, decision)]
        # The gaps between cards belong to the targets.
        card_gap = max(0.0, decision_rects[1][0] - decision_rects[0][0] - decision_rects[0][2])
        return [(x - card_gap / 2, y, w + card_gap, h) for x, y, w, h in decision_rects]
    return [(x, y, w, h + _HOLD_KEY_HEIGHT + 8) for x, y, w, h in card_rects[0]]


def _find_decision_hand_index(hands: Sequence[DealtHand], decision: DecisionRequest) -> int:
    """Return the index in ``hands`` of the hand that a decision is about; 0 if the decision names no hand."""
    return next((n for n, hand in enumerate(hands) if hand.id == decision.display.get("hand")), 0)


# ---------------------------------------------------------------------- drawing
def draw_cards(
    context: DrawingContext,
    step: TableStep | None,
    previous_step: TableStep | None,
    step_times: StepTimes | None,
    elapsed_seconds: float,
) -> None:
    """Draw the hands of a table, with the hold keys while the player holds cards.

    On a telephone, also draw the pay table above them if the game has no betting spots.
    """
    table = context.view.table
    assert table is not None
    if context.layout.is_telephone and not table.spots and list_pay_table_rows(context):
        draw_pay_columns(context, compute_felt_rect(context.layout), compute_suits_key_rect(context.layout))
    if step is None:
        _draw_waiting_hands(context, table)
        return
    hands = _list_hands_with_area(
        context, build_current_hands(step, previous_step, step_times, elapsed_seconds)
    )
    decision = context.view.decision
    is_holding = (
        decision is not None and decision.kind == "hold" and is_decision_due(context.view, context.theme)
    )
    marked_hand_index = (
        -1
        if decision is None or not is_decision_by_marking(context.view) or step_times is not None
        else _find_decision_hand_index(hands, decision)
    )
    flying_card = find_flying_card(step, step_times, elapsed_seconds)
    hand_layouts = _place_hands(context, table, hands)
    are_other_hands_small = _is_multi_hand_deal(hands)
    for hand_index, (hand, hand_layout) in enumerate(zip(hands, hand_layouts, strict=True)):
        if hand_index and are_other_hands_small:
            _draw_small_hand(context, hand_layout, hand)
            continue
        if not _can_hold_cards(context):
            _draw_hand_outline(context, hand_layout)
        _draw_hand_cards(
            context,
            hand,
            hand_layout.card_rects,
            context.view.marked_items_mask if hand_index == marked_hand_index else 0,
            is_holding=is_holding,
        )
        text = "  ·  ".join(_format_hand_texts(context, hand, hands, is_deal_finished=step_times is None))
        if text:
            is_decision_hand = (
                step_times is None and decision is not None and hand.id == decision.display.get("hand")
            )
            _draw_hand_text(context, hand_layout, text, is_lit=is_decision_hand)
        if flying_card is not None and flying_card.hand_id == hand.id:
            _draw_flying_card(context, hand_layout.card_rects, flying_card, len(hand.cards))
    if is_holding:
        for i, (x, y, w, h) in enumerate(hand_layouts[0].card_rects):
            is_card_held = bool(context.view.marked_items_mask >> i & 1)
            text = context.texts.translate("feature.held" if is_card_held else "feature.hold")
            draw_button(context, (x, y + h + 8, w, _HOLD_KEY_HEIGHT), text, is_active=is_card_held)


def _draw_hand_cards(
    context: DrawingContext,
    hand: DealtHand,
    rects: Sequence[Rect],
    marked_cards_mask: int,
    *,
    is_holding: bool,
) -> None:
    """Draw the cards of a hand at the given rectangles.

    If ``is_holding``, the marked cards are raised, because they are held; otherwise a frame is drawn around them.
    """
    for i, (card, rect) in enumerate(zip(hand.cards, rects, strict=False)):
        x, y, w, h = rect
        if marked_cards_mask >> i & 1 and is_holding:
            y -= 10
        elif marked_cards_mask >> i & 1:
            tile_x, tile_y, tile_width, tile_height = compute_tile_rect(rect) if is_tile(card) else rect
            frame = (tile_x - 6, tile_y - 6, tile_width + 12, tile_height + 12)
            context.painter.draw_panel(frame, radius=14, fill=(255, 176, 48, 255), edge_paint="amber")
        draw_card(context, (x, y, w, h), card)


def _draw_small_hand(context: DrawingContext, hand_layout: HandLayout, hand: DealtHand) -> None:
    """Draw one of the small hands of a multi-hand bet: its cards, or backs before they are dealt.

    A hand that wins has a lit background and, if there is room, the name of its pay.
    """
    x, y, w, h = hand_layout.area
    if hand.won_pay_id:
        context.painter.draw_panel(
            (x + 1, y + 1, w - 2, h - 2), radius=5, fill=(122, 66, 8, 255), edge_paint="meter"
        )
    for card, rect in zip(
        hand.cards or (FACE_DOWN_CARD_CODE,) * len(hand_layout.card_rects),
        hand_layout.card_rects,
        strict=False,
    ):
        draw_card(context, rect, card, is_small=True)
    height_below_cards = y + h - hand_layout.outline[1] - hand_layout.outline[3]
    if hand.won_pay_id and height_below_cards > 0.8 * HAND_TEXT_HEIGHT:
        style = TextStyle("strong", "small", "text")
        context.painter.draw_text(
            context.texts.choose_translation(hand.value_text_by_language),
            (x + w / 2, y + h - height_below_cards / 2),
            style,
            width_max=w - 16,
        )


def _format_hand_label(context: DrawingContext, hand: DealtHand, hands: Sequence[DealtHand]) -> str:
    """Return the label of a hand, with its number if it was split.

    At a shared table, it is "You" or the player who has the hand. If several players bet on one hand, such as the
    bank's, it is the hand's name with the player who has it in parentheses: "Bank (Player 3)".
    """
    ids = [hand.id for hand in hands]
    if hand.seat is None:
        return format_hand_name(context, hand.id, ids)
    name, split_number = context.texts.translate("felt.own"), _find_split_number(context, hand.id, ids)
    if not hand.is_own:
        name = context.texts.translate("felt.seat", number=hand.seat + 1)
    if _read_hand_quantity(context, hand.id, "held"):
        return context.texts.translate(
            "felt.held_by", name=format_hand_name(context, hand.id, ids), player=name
        )
    return context.texts.translate("felt.hand_of", name=name, number=split_number) if split_number else name


def _format_hand_texts(
    context: DrawingContext, hand: DealtHand, hands: Sequence[DealtHand], *, is_deal_finished: bool
) -> list[str]:
    """Return the texts about a hand: its label if there are several hands and, once it is dealt, value and money.

    The money texts state the hand's stake, its player's remaining and received credits, and the result of its bet.
    """
    texts = [_format_hand_label(context, hand, hands)] if len(hands) > 1 else []
    if is_deal_finished and hand.value_text_by_language:
        texts.append(context.texts.choose_translation(hand.value_text_by_language))
    decision = context.view.decision
    if (
        is_deal_finished
        and decision is not None
        and decision.kind == "set"
        and hand.id == decision.display.get("hand")
    ):
        texts.append(_format_set_hands(context, decision))
    unit_cents = (
        context.view.snapshot.denomination_cents
        if is_deal_finished and context.view.snapshot is not None
        else 0
    )
    if hand.staked_credits and unit_cents:
        texts.append(
            " + ".join(
                context.format_money(pot_credits * unit_cents)
                for pot_credits in hand.pots or (hand.staked_credits,)
            )
        )
    if hand.remaining_credits is not None and unit_cents:
        texts.append(
            context.texts.translate(
                "felt.left", amount=context.format_money(hand.remaining_credits * unit_cents)
            )
        )
    if hand.received_credits and unit_cents:
        texts.append(
            context.texts.translate(
                "felt.received", amount=context.format_money(hand.received_credits * unit_cents)
            )
        )
    if is_deal_finished and hand.settlements:
        texts.append(" / ".join(format_settlement(context, settlement) for settlement in hand.settlements))
    return [text for text in texts if text]


def format_settlement(context: DrawingContext, settlement_name: str) -> str:
    """Return the text for the result of a bet: won, lost, push, or the game's own text for a pay."""
    key = f"felt.as_{settlement_name.replace(' ', '_')}"
    if context.texts.has_text(key):
        return context.texts.translate(key)
    pay_names = next((pay.names for pay in list_pay_table_rows(context) if pay.id == settlement_name), None)
    return context.texts.choose_translation(pay_names) if pay_names else settlement_name


def _format_set_hands(context: DrawingContext, decision: DecisionRequest) -> str:
    """Return the values of the two pai gow hands that the marked cards would make; "" if the rules forbid them."""
    translations_by_cards_mask: Mapping[str, Mapping[str, str]] = decision.display.get("ways", {})
    translations = translations_by_cards_mask.get(str(context.view.marked_items_mask))
    return "" if translations is None else context.texts.choose_translation(translations)


def _draw_waiting_hands(context: DrawingContext, table: TableGameData) -> None:
    """Draw the empty outlines of the hands before the deal; in video poker, the backs of the cards."""
    hands = _list_hands_with_area(context, ())
    for hand, hand_layout in zip(hands, _place_hands(context, table, hands), strict=True):
        if _can_hold_cards(context):
            for rect in hand_layout.card_rects:
                draw_card(context, rect, FACE_DOWN_CARD_CODE)
            continue
        _draw_hand_outline(context, hand_layout)
        text = format_hand_name(context, hand.id, [other.id for other in hands]) if len(hands) > 1 else ""
        if text:
            _draw_hand_text(context, hand_layout, text, is_lit=False)


def _draw_hand_outline(context: DrawingContext, hand_layout: HandLayout) -> None:
    """Draw the shade on the felt where a hand lies, as wide as its cards need."""
    context.painter.fill_rounded_rect(grow_rect(hand_layout.outline, 5), _HAND_SHADE_COLOUR, 12)


def _draw_flying_card(
    context: DrawingContext, rects: Sequence[Rect], flying_card: FlyingCard, next_card_index: int
) -> None:
    """Draw a card on its way from the shoe at the upper right to its position in the hand."""
    _, card_index, card, travelled_share = flying_card
    card_index = next_card_index if card_index < 0 else card_index
    if card_index >= len(rects):
        return
    x, y, w, h = rects[card_index]
    field_x, field_y, field_width, _ = context.layout.game_field
    progress = 1.0 if context.view.is_motion_reduced else ease_out(travelled_share)
    start = (field_x + field_width - w - 20, field_y + 10)
    top_left = (start[0] + (x - start[0]) * progress, start[1] + (y - start[1]) * progress)
    back_code = FACE_DOWN_TILE if is_tile(card) else FACE_DOWN_CARD_CODE
    draw_card(context, (*top_left, w, h), back_code if travelled_share < 0.7 else card)


def _draw_hand_text(context: DrawingContext, hand_layout: HandLayout, text: str, *, is_lit: bool) -> None:
    """Draw the texts of a hand: below its cards or, in a game with hold keys below the cards, above them.

    If ``is_lit``, the texts are on a lit plate. Otherwise they are on a dark plate if the cards reach below the hand's
    outline, and without a plate if they do not.
    """
    (x, _, w, _), (_, y, _, h) = hand_layout.area, hand_layout.outline
    top = y - CARD_TEXT_GAP - HAND_TEXT_HEIGHT if _can_hold_cards(context) else y + h + CARD_TEXT_GAP
    # A long text takes several lines if there is room.
    free_height = hand_layout.area[1] + hand_layout.area[3] - top
    style = TextStyle("strong", "small", "text", 1)
    height = (
        HAND_TEXT_HEIGHT
        if context.painter.measure_text(text, style) <= w - 16
        else min(free_height, NARROW_HAND_TEXT_HEIGHT)
    )
    plate, last_card_rect = (x + 4, top, w - 8, height), hand_layout.card_rects[-1]
    if is_lit:
        context.painter.draw_panel(plate, radius=8, fill=(122, 66, 8, 255), edge_paint="meter")
    elif last_card_rect[1] + last_card_rect[3] > y + h + 1:
        context.painter.draw_panel(plate, radius=8, fill=(0, 24, 12, 255), edge_paint=(0, 24, 12, 255))
    context.painter.draw_label(text, (x + 8, top + 2, w - 16, height - 4), style)
