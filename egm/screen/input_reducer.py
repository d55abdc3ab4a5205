"""Input reducer: compute the next view, and the messages to send, from a touch, a key or the button deck.

While a decision is pending, a page is open or chips can be placed, the touch targets can also be selected with the keys
of the deck: the bet keys move the focus, and MAX BET activates the focused target. PLAY activates it too, except
while PLAY confirms the player's marks or starts the round.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from egm.kernel.messages import BenchCommand, Intent
from egm.screen import keno_slip, wheel_stakes
from egm.screen.service_input import apply_page_action
from egm.screen.steps import KenoStep
from egm.screen.table import (
    CHIP_CHANGING_ACTIONS,
    NEIGHBOUR_COUNTS,
    TABLE_ACTIONS,
    build_bet_limits,
    clear_chips,
    list_neighbour_spots,
    place_chips,
    replace_bets,
    request_bet,
    undo_chips,
)
from egm.screen.theme import Theme
from egm.screen.view import (
    Action,
    PlayerPage,
    Scene,
    View,
    build_view_timeline,
    can_place_chips,
    find_last_step,
    has_touched_bets_since_game,
    has_unsent_bet,
    is_decision_by_marking,
    is_decision_due,
    is_dismissible_reminder_shown,
    is_marked_option_permitted,
    is_presentation_running,
    is_selecting_targets,
    is_text_field_open,
    list_available_bets,
    should_show_scoreboard,
)

#: Requests for the machine, and commands for the bench.
OutgoingMessages = tuple[Intent | BenchCommand, ...]
#: Keys that keep their meaning while a service page is open.
_KEYS_ACTIVE_ON_SERVICE_PAGE: Final = frozenset({"language", "volume", "drawer", "bench"})
#: The action of the staff's menu key.
MENU_KEY_ACTION: Final = Action("menu")
#: The action repeated for the menu key once the bench has reported the position of its key switch.
REPEATED_MENU_KEY_ACTION: Final = Action("menu", "known")
#: From this level of celebration on, PLAY skips the roll-up without starting another game.
_SKIPPABLE_CELEBRATION_LEVEL: Final = 3
#: How long a requested game waits for the previous one to end, in seconds.
_REQUESTED_GAME_WAIT_SECONDS: Final = 4.0
#: Keys that leave a service page, with the reply that each sends: one page back, or out of the menu.
_REPLY_BY_LEAVING_KEY: Final = {"close": "back", "menu": "leave"}
#: The two keys of the deck for which a keyboard's arrow stands: the first changes the bet, the second moves the focus.
_DECK_KEYS_BY_ARROW: Final = {"down": ("bet_less", "bet_more"), "up": ("bet_more", "bet_less")}


def apply_action(
    view: View, action: Action, theme: Theme, selectable_actions: Sequence[Action] = ()
) -> tuple[View, OutgoingMessages]:
    """Return the view after a player's or attendant's action, and the messages that it causes.

    The messages are requests to the machine and commands to the bench. ``selectable_actions`` are the
    actions of the touch targets among which the deck's keys select, if they do now
    (:func:`egm.screen.view.is_selecting_targets`).
    """
    if action.typed_character:
        action = (
            Action("type", action.typed_character)
            if is_text_field_open(view)
            else replace(action, typed_character="")
        )
        if action.name == "type" and view.scene is Scene.SERVICE:
            # The next Enter confirms the typed text, not the focused target.
            view = replace(view, is_focus_shown=False)
    if action.name in _DECK_KEYS_BY_ARROW:
        action = Action(
            _DECK_KEYS_BY_ARROW[action.name][bool(selectable_actions) and is_selecting_targets(view, theme)]
        )
    # A key that only types a character does not cancel the requested game.
    next_play_pressed_at = None if action.name else view.next_play_pressed_at
    view = replace(
        view,
        last_action_name=action.name,
        pressed_at=view.now,
        last_activity_at=view.now,
        next_play_pressed_at=next_play_pressed_at,
    )
    if action.name == "play" and view.scene is Scene.GAME and not is_decision_due(view, theme):
        if view.player_page is not PlayerPage.NONE and not view.is_focus_shown:
            # PLAY stakes nothing on a game that is covered by a page.
            return replace(view, player_page=PlayerPage.NONE), ()
        if view.snapshot is not None and view.snapshot.state == "playing":
            return _shorten_presentation(view, theme), ()
    should_turn_key = action.name == "menu" and not _has_unconfirmed_page_input(view)
    # Query the key's position first, because it may also have been turned with the bench's own commands.
    should_query_first = should_turn_key and action == MENU_KEY_ACTION and view.is_bench_connected
    key_commands = _list_operator_key_commands(view) if should_turn_key and not should_query_first else ()
    if should_query_first or key_commands:
        return replace(view, is_key_turn_pending=should_query_first), key_commands or (
            BenchCommand(device="bench", action="state"),
        )
    view_or_action = _move_focus(view, action, theme, selectable_actions)
    if isinstance(view_or_action, View):
        return view_or_action, ()
    action = view_or_action
    if view.scene is Scene.SERVICE and action.name not in _KEYS_ACTIVE_ON_SERVICE_PAGE:
        return _apply_action_on_page(view, action)
    return _apply_player_action(view, action, theme)


def _has_unconfirmed_page_input(view: View) -> bool:
    """Return whether the open service page has input that would be lost if the page were closed.

    If so, the first turn of the operator's key makes the machine show a warning, and the second closes the page.
    """
    page = view.service_page
    return page is not None and page.unconfirmed


def _shorten_presentation(view: View, theme: Theme) -> View:
    """Shorten the presentation of a game after a press of PLAY.

    While reels or other parts move, stop them. During the roll-up of a win, end it and store that the next game is to
    be requested; for a win of celebration level 3 or higher, only end the roll-up. While a wheel has not completed the
    turns that a valid spin needs, change nothing.
    """
    presentation, timeline = view.presentation, build_view_timeline(view, theme)
    if presentation is None or timeline is None:
        return view
    elapsed_seconds = view.now - presentation.began_at
    if wheel_stakes.find_wheel_turns_min(view.game) and elapsed_seconds < timeline.last_stop_seconds:
        return view  # A wheel must complete its turns (Québec by-law, ss. 74 and 121).
    should_request_next_game = (
        presentation.is_last_section
        and elapsed_seconds >= timeline.last_stop_seconds
        and (
            timeline.celebration_level < _SKIPPABLE_CELEBRATION_LEVEL
            or elapsed_seconds >= timeline.roll_up_end_seconds
        )
    )
    return replace(
        view,
        presentation=replace(presentation, press_times=(*presentation.press_times, elapsed_seconds)),
        next_play_pressed_at=view.now if should_request_next_game else None,
    )


def request_next_game(view: View) -> tuple[View, OutgoingMessages]:
    """Request the next game if PLAY was pressed for it during the last presentation.

    If the machine does not accept a game yet, wait up to :data:`_REQUESTED_GAME_WAIT_SECONDS`. If a page or
    lock-up covers the game, or a decision or reminder is shown, ignore the press. Ignore it too if the player's bet was
    not sent to the machine yet.
    """
    if view.next_play_pressed_at is None or view.snapshot is None:
        return view, ()
    is_play_blocked = (
        view.scene is not Scene.GAME or view.player_page is not PlayerPage.NONE or view.decision is not None
    )
    if (
        is_play_blocked
        or is_dismissible_reminder_shown(view)
        or view.now - view.next_play_pressed_at > _REQUESTED_GAME_WAIT_SECONDS
    ):
        return replace(view, next_play_pressed_at=None), ()
    if not view.snapshot.is_between_games or not view.is_request_accepted("play"):
        return view, ()
    return replace(view, next_play_pressed_at=None), () if has_unsent_bet(view) else (Intent(name="play"),)


def _apply_player_action(view: View, action: Action, theme: Theme) -> tuple[View, OutgoingMessages]:
    """Apply a player's action while no service page is open."""
    if action.name == "play" and is_dismissible_reminder_shown(view):
        action = Action("acknowledge")  # The player has seen the reminder; the next PLAY starts a game.
    if action.name == "skip":
        return replace(_shorten_presentation(view, theme), next_play_pressed_at=None), ()
    field_result = _apply_field_action(view, action, theme)
    if field_result is not None:
        return field_result
    requests = _list_action_requests(view, action)
    if requests is None:
        would_cover_game = action.name in {"help", "games"} and is_presentation_running(view, theme)
        return view if would_cover_game else _apply_screen_action(view, action.name), ()
    should_keep_page_open = action.name in {"language", "denomination", "limit"}
    return view if should_keep_page_open else replace(view, player_page=PlayerPage.NONE), requests


def _move_focus(
    view: View, action: Action, theme: Theme, selectable_actions: Sequence[Action]
) -> View | Action:
    """Handle a key that moves the focus or activates the focused target.

    If it moves the focus, return the new view; if it activates the target, return the target's action. Return any other
    key's ``action`` unchanged.
    """
    if not selectable_actions or not is_selecting_targets(view, theme):
        return action
    is_marking = is_decision_by_marking(view)
    if action.name in {"bet_less", "bet_more"}:
        step = 1 if action.name == "bet_more" else -1
        target_index = view.focused_target_index + step if view.is_focus_shown else 0
        return replace(view, focused_target_index=target_index % len(selectable_actions), is_focus_shown=True)
    has_play_own_effect = is_marking or can_place_chips(view, theme)
    is_activation_key = action.name == "bet_max" or (action.name == "play" and not has_play_own_effect)
    if is_activation_key and view.is_focus_shown:
        return selectable_actions[view.focused_target_index % len(selectable_actions)]
    return replace(view, is_focus_shown=True) if action.name == "bet_max" and not is_marking else action


def _list_operator_key_commands(view: View) -> tuple[BenchCommand, ...]:
    """Return the commands that turn the operator's key switch of a simulated cabinet.

    If the key is off, they turn it on. If it is on and the service menu is open, they turn it off. If it is on although
    the menu is closed, they turn it off and on again.
    """
    turns_by_key_and_menu: dict[tuple[bool, bool], tuple[bool, ...]] = {
        (True, True): (False,),
        (True, False): (False, True),
        (False, False): (True,),
    }
    return tuple(
        BenchCommand(device=board, action="key", values={"name": "operator", "on": is_on})
        for board, state in view.state_by_device.items()
        if "keys_on" in state
        for is_on in turns_by_key_and_menu.get(
            ("operator" in state["keys_on"], view.scene is Scene.SERVICE), ()
        )
    )


def _apply_action_on_page(view: View, action: Action) -> tuple[View, OutgoingMessages]:
    """Apply a touch or a key while a service page is open. The player's keys have no effect then."""
    page = view.service_page
    if page is None:
        return view, ()
    name, value = action.name, action.value
    if name == "play" and page.prompt is not None:
        name = "enter"
    elif name == "play" and (confirm := page.only_confirmation) is not None:
        name, value = "answer", confirm.id
    elif name == "next" or (name == "back" and value is None):
        name, value = "turn_sheet", 1 if name == "next" else -1
    elif name in _REPLY_BY_LEAVING_KEY:
        name, value = "answer", _REPLY_BY_LEAVING_KEY[name]
    page_input, requests = apply_page_action(view.page_input, page, name, value, view.now)
    return replace(view, page_input=page_input), requests


def _apply_field_action(view: View, action: Action, theme: Theme) -> tuple[View, OutgoingMessages] | None:
    """Apply a touch of the game field, of a decision or of the simulated devices' drawer.

    Return None for any other action, which this function does not handle. It handles PLAY only while a decision is
    pending, or while the player's bet is not sent yet; in the second case PLAY has no effect.
    """
    name, value = action.name, action.value
    if name == "bench":
        return replace(view, bench_commands=tuple(value)), tuple(value)
    if name in {"mark", "quick_pick", "new_group", "new_card", "card", "draws", "bonus", "form"}:
        return _apply_keno_action(view, name, value)
    if name in TABLE_ACTIONS:
        return _apply_action_on_table(view, name, value)
    if name in {"area", "page_sheet"}:
        return (
            _apply_area_touch(view, str(value))
            if name == "area"
            else (replace(view, sheet_index=int(value)), ())
        )
    if view.decision is not None and name in {"hold", "set_as", "play", "choose"}:
        return _apply_decision_action(view, action) if is_decision_due(view, theme) else (view, ())
    # PLAY has no effect then: the status line says what still has to be marked.
    return (view, ()) if name == "play" and has_unsent_bet(view) else None


def _apply_decision_action(view: View, action: Action) -> tuple[View, OutgoingMessages]:
    """Apply a touch on a pending decision: mark a reel or card, or send the player's choice to the machine."""
    if action.name == "hold":
        return replace(view, marked_items_mask=view.marked_items_mask ^ (1 << int(action.value))), ()
    if action.name == "set_as":
        return replace(view, marked_items_mask=int(action.value)), ()
    if action.name == "choose":
        return view, _build_choice_request(view, action.value)
    is_choice_complete = is_decision_by_marking(view) and is_marked_option_permitted(view)
    return view, _build_choice_request(view, view.marked_items_mask) if is_choice_complete else ()


def _build_choice_request(view: View, option: int | str) -> tuple[Intent, ...]:
    """Return the request with the player's choice in the decision that the screen shows."""
    decision = view.decision
    decision_id = None if decision is None else {"play_id": decision.play_id, "step": decision.step}
    return (Intent(name="choose", value=option, options=decision_id),)


# ---------------------------------------------------------------------- bets
def _apply_keno_action(view: View, action_name: str, action_value: Any) -> tuple[View, OutgoingMessages]:
    """Apply a touch of a Keno game: mark a number, or change cards, groups, draws, bonuses or the preset ticket."""
    game, snapshot = view.game, view.snapshot
    if (
        game is None
        or snapshot is None
        or not keno_slip.is_keno_game(game)
        or not view.is_request_accepted("bet")
    ):
        return view, ()
    if action_name == "form":
        request = keno_slip.build_preset_ticket_choice_requests(
            game, snapshot, None if action_value is None else str(action_value)
        )
        return replace(view, marked_keno_slip=keno_slip.KenoSlip(), bet_touched_at=view.now), request
    if action_name == "draws":
        slip = keno_slip.choose_next_draw_count(game, view.marked_keno_slip)
    elif action_name == "bonus":
        slip = keno_slip.toggle_bonus(game, view.marked_keno_slip, str(action_value))
    elif action_name == "mark":
        slip = keno_slip.toggle_number(
            game, _build_quick_pick_slip(view) or view.marked_keno_slip, int(action_value)
        )
    elif action_name == "quick_pick":
        slip = keno_slip.KenoSlip()
    elif action_name == "card":
        slip = replace(
            view.marked_keno_slip, current_card_index=int(action_value) % len(view.marked_keno_slip.cards)
        )
    else:
        slip = (keno_slip.add_group if action_name == "new_group" else keno_slip.add_card)(
            game, view.marked_keno_slip
        )
    changed_view = replace(view, marked_keno_slip=slip, bet_touched_at=view.now)
    if (
        slip.with_first_card_current == view.marked_keno_slip.with_first_card_current
        and action_name != "quick_pick"
    ):
        return changed_view, ()
    return changed_view, keno_slip.build_slip_bet_requests(
        game, slip, keno_slip.find_current_stake(snapshot, game)
    )


def _build_quick_pick_slip(view: View) -> keno_slip.KenoSlip | None:
    """Return a slip with the numbers of the last quick-pick ticket, so that the player can change them.

    Return None if numbers are marked, if the player has touched the board since that draw, or if the ticket had several
    cards or groups.
    """
    last_step = find_last_step(view)
    if (
        view.marked_keno_slip.has_marks
        or not isinstance(last_step, KenoStep)
        or has_touched_bets_since_game(view)
        or len(last_step.way_results) != 1
    ):
        return None
    return keno_slip.KenoSlip(((frozenset(last_step.way_results[0].numbers),),))


def _apply_action_on_table(view: View, action_name: str, action_value: Any) -> tuple[View, OutgoingMessages]:
    """Apply a touch at a table game: place or remove chips, select a tool, or open another part of the felt."""
    table, snapshot, chips = view.table, view.snapshot, view.chips
    if table is None or snapshot is None:
        return view, ()
    if action_name not in CHIP_CHANGING_ACTIONS:
        return _change_table_display(view, action_name, action_value), ()
    if not view.is_request_accepted("bet"):
        return view, ()
    limits = build_bet_limits(snapshot)
    changed_chips = {
        "spot": lambda: place_chips(table, chips, (str(action_value),), limits),
        "pocket": lambda: place_chips(
            table, chips, list_neighbour_spots(table, str(action_value), chips.neighbour_count), limits
        ),
        "announced_bet": lambda: place_chips(
            table,
            chips,
            tuple(table.announced_bets[action_value].chips_by_spot),
            limits,
            table.announced_bets[action_value].chips_by_spot,
        ),
        "undo": lambda: undo_chips(chips),
        "clear": lambda: clear_chips(chips),
        "repeat": lambda: replace_bets(table, chips, chips.last_round_bets, limits),
        "double": lambda: replace_bets(
            table,
            chips,
            {spot_id: 2 * credits_ for spot_id, credits_ in chips.bets.items() if credits_ > 0},
            limits,
        ),
    }[action_name]()
    requests: OutgoingMessages = ()
    if changed_chips.bets != chips.bets or changed_chips.is_on_by_spot != chips.is_on_by_spot:
        changed_chips, requests = request_bet(changed_chips, snapshot, view.now)
    return replace(view, chips=changed_chips, bet_touched_at=view.now), requests


def _change_table_display(view: View, action_name: str, action_value: Any) -> View:
    """Apply a touch at a table game that changes no bet, such as the choice of a tool or of a part of the felt."""
    chips = view.chips
    if action_name == "suits":
        return replace(view, has_four_suit_colours=not view.has_four_suit_colours)
    if action_name == "board":
        return replace(
            view, is_scoreboard_wanted=not should_show_scoreboard(view), scoreboard_chosen_at=view.now
        )
    if action_name == "neighbours":
        index = NEIGHBOUR_COUNTS.index(chips.neighbour_count)
        changed_chips = replace(chips, neighbour_count=NEIGHBOUR_COUNTS[(index + 1) % len(NEIGHBOUR_COUNTS)])
    elif action_name == "chip":
        changed_chips = replace(chips, chip_value=int(action_value), selected_tool="chip")
    elif action_name == "tool":
        changed_chips = replace(
            chips, selected_tool="chip" if chips.selected_tool == action_value else action_value
        )
    else:
        changed_chips = (
            replace(chips, open_part=str(action_value))
            if action_name == "felt_part"
            else replace(chips, sheet_index=int(action_value))
        )
    return replace(view, chips=changed_chips)


def _apply_area_touch(view: View, area_id: str) -> tuple[View, OutgoingMessages]:
    """Request the next higher stake on a betting area of the wheel."""
    game, snapshot = view.game, view.snapshot
    if (
        game is None
        or snapshot is None
        or not wheel_stakes.is_wheel_game(game)
        or not view.is_request_accepted("bet")
    ):
        return view, ()
    return view, wheel_stakes.build_next_area_stake_requests(game, snapshot, area_id)


def _build_bet_change_requests(view: View, index_change: int) -> tuple[Intent, ...]:
    """Return the request for another bet: ``index_change`` places higher in the list of available bets.

    A negative ``index_change`` requests a lower bet, and 0 the highest one. While Keno cards are marked, only the stake
    of the current card changes. At a table whose bets are chips on spots, return an empty tuple.
    """
    available_bets = list_available_bets(view)
    if view.snapshot is None or not available_bets or (view.table is not None and view.table.spots):
        return ()  # At a table with spots, bets are chips, and these keys move from spot to spot.
    keno_game = view.game if keno_slip.is_keno_game(view.game) else None
    has_marks = keno_game is not None and view.marked_keno_slip.has_marks
    default_stake = (
        keno_slip.find_current_stake(view.snapshot, keno_game)
        if has_marks and keno_game
        else view.snapshot.bet_credits
    )
    current_bet = (
        view.marked_keno_slip.list_card_stakes(default_stake)[view.marked_keno_slip.current_card_index]
        if has_marks
        else default_stake
    )
    index = available_bets.index(current_bet) if current_bet in available_bets else 0
    index = (
        len(available_bets) - 1
        if index_change == 0
        else max(0, min(len(available_bets) - 1, index + index_change))
    )
    if has_marks and keno_game is not None:
        return keno_slip.build_slip_bet_requests(
            keno_game,
            view.marked_keno_slip.with_stake(available_bets[index], default_stake),
            available_bets[index],
        )
    if keno_game is not None:
        return (
            keno_slip.build_preset_ticket_request(
                keno_slip.find_current_preset_ticket(keno_game, view.snapshot), available_bets[index]
            ),
        )
    return (Intent(name="bet", value=available_bets[index]),)


def _list_action_requests(view: View, action: Action) -> tuple[Intent, ...] | None:
    """Return the requests that an action sends to the machine, or None if the screen handles the action itself."""
    return {
        "play": (Intent(name="play"),),
        "game": (Intent(name="game", value=action.value if isinstance(action.value, str) else None),),
        "denomination": (
            Intent(name="denomination", value=action.value if isinstance(action.value, int) else None),
        ),
        "cash_out": (Intent(name="cash_out"),),
        "service": (Intent(name="service"),),
        "menu": (Intent(name="menu"),),
        "acknowledge": (Intent(name="acknowledge"),),
        "residual": (Intent(name="residual"),),
        "limit": _build_player_limit_requests(action.value),
        "bet_less": _build_bet_change_requests(view, -1),
        "bet_more": _build_bet_change_requests(view, 1),
        "bet_max": _build_bet_change_requests(view, 0),
        "language": _build_next_language_requests(view),
    }.get(action.name)


def _build_player_limit_requests(chosen_limit: object) -> tuple[Intent, ...]:
    """Return the request to set a limit that the player chose for themselves.

    ``chosen_limit`` is a pair: the kind of limit and its value. Return an empty tuple for any other value.
    """
    if not isinstance(chosen_limit, tuple):
        return ()
    kind, value = chosen_limit
    return (Intent(name="limit", value=int(value), options={"of": str(kind)}),)


def _build_next_language_requests(view: View) -> tuple[Intent, ...]:
    """Return the request for the jurisdiction's next language; an empty tuple if there is only one language."""
    if view.snapshot is None or len(view.snapshot.languages) < 2:
        return ()
    languages = view.snapshot.languages
    index = languages.index(view.snapshot.language) if view.snapshot.language in languages else -1
    return (Intent(name="language", value=languages[(index + 1) % len(languages)]),)


def _apply_screen_action(view: View, action_name: str) -> View:
    """Apply an action that concerns only the screen: pages, volume, the drawer of simulated devices."""
    return {
        "help": lambda: _toggle_page(view, PlayerPage.HELP),
        "games": lambda: _toggle_page(view, PlayerPage.GAME_MENU),
        "slip": lambda: _toggle_page(view, PlayerPage.KENO_SLIP),
        "close": lambda: replace(view, player_page=PlayerPage.NONE),
        "next": lambda: replace(view, sheet_index=view.sheet_index + 1),
        "back": lambda: replace(view, sheet_index=view.sheet_index - 1),
        "volume": lambda: replace(view, volume_step=(view.volume_step + 1) % 4),
        "drawer": lambda: _toggle_drawer(view),
    }.get(action_name, lambda: view)()


def _toggle_page(view: View, page: PlayerPage) -> View:
    """Open the given page at its first sheet; if it is open already, close it."""
    new_page = PlayerPage.NONE if view.player_page is page else page
    return replace(view, player_page=new_page, sheet_index=0, focused_target_index=0, is_focus_shown=False)


def _toggle_drawer(view: View) -> View:
    """Return the view in which the drawer of simulated devices starts to open or, if it is open, to close."""
    if not view.has_device_drawer:
        return view
    if view.is_drawer_open:
        return replace(view, drawer_opening_began_at=None, drawer_closing_began_at=view.now)
    return replace(view, drawer_opening_began_at=view.now)
