"""Message reducer: compute the next view from a message of the machine or bench, or from time."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from egm.kernel.messages import (
    BenchReply,
    DecisionRequest,
    FeltState,
    GameOutcome,
    Hello,
    Intent,
    Message,
    Snapshot,
)
from egm.kernel.service_pages import Replay
from egm.links.screen.start_up_activity import StartUpActivity
from egm.screen import keno_slip
from egm.screen.input_reducer import OutgoingMessages, request_next_game
from egm.screen.presentation import OutcomePresentation
from egm.screen.reel_data import GameDataError, list_reel_stages, read_reel_data
from egm.screen.round_result import build_round_result
from egm.screen.service_input import update_input_for_page
from egm.screen.steps import DisplayStep, PickStep, TableStep, read_steps
from egm.screen.table import (
    ChipsOnTable,
    apply_machine_reply,
    is_table_game,
    read_registered_bets,
    read_table,
    request_bet,
)
from egm.screen.theme import Theme
from egm.screen.view import PlayerPage, View, build_view_timeline, find_last_reel_spin

#: The longest wait, in seconds, for the machine's reply to a touch. A refusal within this time of a touch is shown as
#: the reply to it, even if its text is unchanged. A bet request without a reply by then counts as lost.
MACHINE_REPLY_SECONDS_MAX: Final = 1.0


def apply_message(view: View, message: Message) -> View:
    """Return the view after a message from the machine.

    Raises :class:`GameDataError` if the data of a game or of a game's outcome are invalid.
    """
    if isinstance(message, Hello):
        reel_data_by_game = {
            game.id: {stage: read_reel_data(game, stage) for stage in list_reel_stages(game)}
            for game in message.games
        }
        games = {game.id: game for game in message.games}
        table_by_game = {game.id: read_table(game) for game in message.games if is_table_game(game)}
        return replace(
            view,
            game_by_id=games,
            reel_data_by_game=reel_data_by_game,
            table_by_game=table_by_game,
            is_machine_connected=True,
            machine_texts_by_language=message.feature_texts,
            start_up_activity=None,
        )
    if isinstance(message, GameOutcome):
        return _start_presentation(view, message)
    if isinstance(message, DecisionRequest):
        return _show_decision(view, message)
    if isinstance(message, Snapshot):
        return _apply_snapshot(view, message)
    return view


def apply_bench_reply(view: View, reply: BenchReply, devices: frozenset[str] = frozenset()) -> View:
    """Return the view after a reply of the bench: the states of all devices, or a command's result.

    ``devices`` are the devices that the drawer operates; empty for all devices.
    """
    if reply.state and all(isinstance(device, Mapping) for device in reply.state.values()):
        return replace(
            view,
            state_by_device={
                name: state for name, state in reply.state.items() if not devices or name in devices
            },
        )
    return replace(view, bench_reply=reply, bench_reply_at=view.now)


# ---------------------------------------------------------------------- a game
def _start_presentation(view: View, outcome: GameOutcome) -> View:
    """Start the presentation of a game's outcome.

    If the presentation of this outcome has begun already, it continues. When it is over, this is then reported to the
    machine, even if it was reported before.
    """
    old_presentation = view.presentation
    if (
        old_presentation is not None
        and old_presentation.is_last_section
        and old_presentation.outcome.play_id == outcome.play_id
    ):
        return replace(view, presentation=replace(old_presentation, is_end_reported=False, outcome=outcome))
    steps = read_steps(
        view.reel_data_by_game.get(outcome.game_id, {}),
        outcome.display,
        outcome.cues,
        outcome.settlements,
        is_continued=_was_presented_up_to_decision(view, outcome.play_id),
    )
    result = build_round_result(outcome, view.game_by_id.get(outcome.game_id), view.snapshot)
    presentation = replace(_build_continued_presentation(view, outcome, steps), round_result=result)
    view = _prepare_chips_after_round(view, outcome)
    return replace(
        view, presentation=presentation, decision=None, player_page=PlayerPage.NONE, last_activity_at=view.now
    )


def _prepare_chips_after_round(view: View, outcome: GameOutcome) -> View:
    """Prepare the chips on the selected game's table after a round.

    The bets of the round are stored, so that the player can repeat them. At tables where bets may stay for the next
    round, all new bets are removed from the chips: the machine reports those that stay as standing bets.
    """
    table = view.table_by_game.get(outcome.game_id)
    if table is None or (view.game is not None and view.game.id != outcome.game_id):
        return view
    chips = view.chips
    last_round_bets = {
        spot_id: credits_ for spot_id, credits_ in chips.bets.items() if credits_ > 0
    } or chips.last_round_bets
    chips = replace(chips, last_round_bets=last_round_bets, undo_bets=(), refusal_key="")
    if table.can_bets_stay_after_round:
        chips = replace(chips, bets={}, is_on_by_spot={}, must_report_clearing=True)
    return replace(view, chips=chips)


def _show_decision(view: View, decision: DecisionRequest) -> View:
    """Show a pending player decision, after the steps of the game that lead to it.

    The machine repeats its message after a reconnection; a decision that is already shown does not change.
    """
    if view.decision == decision or view.snapshot is None:
        return view
    display = decision.display
    advised_marks = int(display.get("advice", 0)) if decision.kind in {"hold", "set"} else 0
    changed_view = replace(
        view,
        decision=decision,
        marked_items_mask=advised_marks,
        focused_target_index=0,
        is_focus_shown=False,
        player_page=PlayerPage.NONE,
        last_activity_at=view.now,
    )
    game_id = view.snapshot.game_id or ""
    steps = _list_steps_before_decision(view, game_id, decision)
    if not steps:
        return replace(changed_view, presentation=None)
    won_credits = (
        int(display["credits"]) if decision.kind == "double_up" else sum(step.credits for step in steps)
    )
    outcome_so_far = GameOutcome(
        play_id=decision.play_id,
        game_id=game_id,
        bet_credits=view.snapshot.bet_credits,
        returned_credits=won_credits,
        paid_cents=won_credits * view.snapshot.denomination_cents,
        display=display,
    )
    return replace(
        changed_view,
        presentation=replace(
            _build_continued_presentation(view, outcome_so_far, steps), is_last_section=False
        ),
    )


def _list_steps_before_decision(
    view: View, game_id: str, decision: DecisionRequest
) -> tuple[DisplayStep, ...]:
    """Return the steps of the game up to a decision, with the step in which the player decides as the last.

    In a game that is not a table game, the result is empty if the decision comes before the first step.
    """
    decision_data: Mapping[str, Any] = decision.display
    if game_id in view.table_by_game:
        is_continued = _was_presented_up_to_decision(view, decision.play_id)
        display = {"kind": "table", **decision_data}
        return read_steps({}, display, decision.cues, decision.settlements, is_continued=is_continued)
    steps = list(decision_data.get("steps", ()))
    if decision.kind == "hold":
        steps.append(decision_data)
    elif decision.kind == "pick":
        box_count = len(decision.options) + len(decision_data.get("opened", ()))
        steps.append({**decision_data, "boxes": box_count})
    display = {"steps": steps, "double_up": decision_data.get("rounds", ())}
    return read_steps(view.reel_data_by_game.get(game_id, {}), display) if steps else ()


def _was_presented_up_to_decision(view: View, play_id: str) -> bool:
    """Return whether the screen shows a decision, and has presented the steps of game ``play_id`` that lead to it."""
    return (
        view.presentation is not None
        and view.decision is not None
        and view.presentation.outcome.play_id == play_id
    )


def _build_continued_presentation(
    view: View, outcome: GameOutcome, steps: tuple[DisplayStep, ...]
) -> OutcomePresentation:
    """Return the presentation of a game's steps.

    Steps that were already presented, before an earlier decision of the same game, are not presented again.
    """
    old_presentation, decision = view.presentation, view.decision
    if (
        old_presentation is None
        or decision is None
        or not _was_presented_up_to_decision(view, outcome.play_id)
        or view.game is None
    ):
        return OutcomePresentation(outcome, view.now, steps, find_last_reel_spin(view))
    last_step = old_presentation.steps[-1]
    if isinstance(last_step, TableStep):
        return OutcomePresentation(
            outcome,
            view.now,
            (*old_presentation.steps, *steps),
            presented_step_count=len(old_presentation.steps),
            presented_credits=old_presentation.outcome.returned_credits,
            presented_cents=old_presentation.outcome.paid_cents,
        )
    presented_box_count = (
        len(last_step.opened_boxes) if isinstance(last_step, PickStep) and decision.kind == "pick" else 0
    )
    presented_step_count = len(old_presentation.steps) - (1 if decision.kind in {"pick", "hold"} else 0)
    return OutcomePresentation(
        outcome,
        view.now,
        steps,
        old_presentation.reels_before,
        presented_step_count=presented_step_count,
        presented_box_count=presented_box_count,
        presented_credits=old_presentation.outcome.returned_credits,
        presented_cents=old_presentation.outcome.paid_cents,
    )


def _read_last_display_step(view: View, snapshot: Snapshot) -> DisplayStep | None:
    """Return the last step of the outcome that the machine reported most recently.

    None if there is no such outcome, if the machine no longer offers its game, or if another version of the game has
    written data that cannot be read.
    """
    if not snapshot.last_display or snapshot.game_id not in view.game_by_id:
        return None
    try:
        return read_steps(view.reel_data_by_game.get(snapshot.game_id or "", {}), snapshot.last_display)[-1]
    except GameDataError:
        return None  # The data are of another version of the game: the reels start at their first stops.


# ---------------------------------------------------------------------- the machine
def _apply_snapshot(view: View, snapshot: Snapshot) -> View:
    """Return the view with a new snapshot of the machine applied.

    This updates the bet, the service page and the notice, and removes a decision or game that is over.
    """
    old_snapshot = view.snapshot
    changed_view = replace(view, snapshot=snapshot, is_machine_connected=True, snapshot_received_at=view.now)
    if (
        old_snapshot is None
        or old_snapshot.last_display != snapshot.last_display
        or old_snapshot.game_id != snapshot.game_id
    ):
        changed_view = replace(changed_view, last_display_step=_read_last_display_step(view, snapshot))
    changed_view = _update_credit_bet_and_levels(changed_view, old_snapshot, snapshot)
    if old_snapshot is None or old_snapshot.service_page != snapshot.service_page:
        changed_view = _update_page(changed_view, snapshot)
    if old_snapshot is None or old_snapshot.state != snapshot.state:
        changed_view = replace(changed_view, scene_began_at=view.now)
    changed_view = _update_notice(changed_view, old_snapshot, snapshot)
    if (
        old_snapshot is not None
        and snapshot.state != "playing"
        and _should_remove_shown_game(view, old_snapshot, snapshot)
    ):
        changed_view = replace(changed_view, presentation=None)
    if snapshot.state != "playing" and view.decision is not None:
        changed_view = replace(changed_view, decision=None)
    if snapshot.state in {"handpay", "door_open", "tilt", "out_of_service", "locked"}:
        changed_view = replace(changed_view, player_page=PlayerPage.NONE)
    return changed_view


def _update_notice(view: View, old_snapshot: Snapshot | None, snapshot: Snapshot) -> View:
    """Show the first notice of a snapshot that the previous snapshot did not have.

    If a touch is refused again for the same reason, show the refusal again. Remove a notice that the snapshot no longer
    has, and a refusal when the machine's state changes.
    """
    new_notices = [
        notice for notice in snapshot.notices if old_snapshot is None or notice not in old_snapshot.notices
    ]
    may_reply_to_touch = view.now - view.pressed_at < MACHINE_REPLY_SECONDS_MAX
    refusals = [notice for notice in snapshot.notices[:1] if notice.code.startswith("refused")]
    notices = new_notices or (refusals if may_reply_to_touch else [])
    if notices:
        return replace(view, latest_notice=notices[0], notice_received_at=view.now)
    has_state_changed = old_snapshot is not None and old_snapshot.state != snapshot.state
    if view.latest_notice not in snapshot.notices or (has_state_changed and view.latest_notice in refusals):
        return replace(view, latest_notice=None)
    return view


def _should_remove_shown_game(view: View, old_snapshot: Snapshot, snapshot: Snapshot) -> bool:
    """Return whether the last game must disappear from the screen.

    It disappears if another game was selected, or if its win or the credit was paid out or collected. It stays if the
    win amount becomes 0 because a new game was lost.
    """
    if old_snapshot.game_id != snapshot.game_id:
        return True
    shown_cents = 0 if view.presentation is None else view.presentation.outcome.paid_cents
    was_win_taken = old_snapshot.paid_cents > 0 and not snapshot.paid_cents and shown_cents > 0
    was_credit_taken = (
        old_snapshot.credit_cents > 0 and not snapshot.credit_cents and old_snapshot.state != "playing"
    )
    return was_win_taken or was_credit_taken


def _update_credit_bet_and_levels(view: View, old_snapshot: Snapshot | None, snapshot: Snapshot) -> View:
    """Update the credit, the marks or chips of the bet, and the progressive levels from a new snapshot."""
    view = _update_chips(view, old_snapshot, snapshot)
    slip = keno_slip.build_slip_from_wager(snapshot.bet_wager)
    were_marks_removed = (
        old_snapshot is not None
        and not slip.has_marks
        and keno_slip.build_slip_from_wager(old_snapshot.bet_wager).has_marks
    )
    if old_snapshot is None or old_snapshot.game_id != snapshot.game_id or were_marks_removed:
        view = replace(view, marked_keno_slip=slip, bet_touched_at=-10.0)
    if old_snapshot is not None and old_snapshot.credit_cents != snapshot.credit_cents:
        view = replace(
            view,
            previous_credit_cents=old_snapshot.credit_cents,
            credit_changed_at=view.now,
            last_activity_at=view.now,
        )
    if old_snapshot is not None and old_snapshot.progressives != snapshot.progressives:
        cents_before_by_level = {level.id: level.amount_cents for level in old_snapshot.progressives}
        view = replace(view, previous_cents_by_level=cents_before_by_level, levels_changed_at=view.now)
    return replace(
        view, cents_before_win_by_level=_find_level_amounts_before_win(view, old_snapshot, snapshot)
    )


def _find_level_amounts_before_win(
    view: View, old_snapshot: Snapshot | None, snapshot: Snapshot
) -> Mapping[str, int]:
    """Return the amount that each progressive level had before it was won in the current game, by level id.

    A level counts as won if its amount fell; other levels are not in the result. Amounts are in minor units. Without a
    game in play, the result is empty.
    """
    if old_snapshot is None or snapshot.state != "playing":
        return {}
    cents_by_level = {level.id: level.amount_cents for level in snapshot.progressives}
    cents_before_fall_by_level = {
        level.id: level.amount_cents
        for level in old_snapshot.progressives
        if cents_by_level.get(level.id, level.amount_cents) < level.amount_cents
    }
    return {**cents_before_fall_by_level, **view.cents_before_win_by_level}


def _update_chips(view: View, old_snapshot: Snapshot | None, snapshot: Snapshot) -> View:
    """Update the chips on the table from the machine's bet.

    After a bet request of the player, the chips keep the requested bets for some time, because a snapshot may be older
    than the request (:func:`egm.screen.table.apply_machine_reply`).
    """
    table = view.table_by_game.get(snapshot.game_id or "")
    if table is None:
        return view
    if old_snapshot is None or old_snapshot.game_id != snapshot.game_id:
        return replace(view, chips=ChipsOnTable(bets=read_registered_bets(table, snapshot)))
    is_pending = view.now - view.chips.requested_at <= MACHINE_REPLY_SECONDS_MAX
    return replace(
        view, chips=apply_machine_reply(table, view.chips, snapshot, is_request_in_transit=is_pending)
    )


def _update_page(view: View, snapshot: Snapshot) -> View:
    """Update the view after a service page was opened, changed or closed.

    A page with a prompt opens without a focused target, so that Enter confirms the typed text.
    """
    replay = snapshot.service_page.replay if snapshot.service_page is not None else None
    page_input = update_input_for_page(view.page_input, snapshot.service_page)
    recalled_view = None if replay is None else build_recall_view(view, snapshot, replay)
    if page_input.page_id == view.page_input.page_id:
        return replace(view, page_input=page_input, recalled_view=recalled_view)
    has_no_prompt = snapshot.service_page is not None and snapshot.service_page.prompt is None
    return replace(
        view,
        page_input=page_input,
        recalled_view=recalled_view,
        focused_target_index=0,
        is_focus_shown=view.is_focus_shown and has_no_prompt,
    )


def build_recall_view(view: View, current_snapshot: Snapshot, replay: Replay) -> View | None:
    """Return a view that shows a past game, or a decision in it, as the player saw it, for the recall page.

    Return None if this machine does not offer the game, or cannot read the data of the recalled outcome.
    """
    recalled_snapshot = current_snapshot.model_copy(
        update={
            "game_id": replay.game_id,
            "denomination_cents": replay.denomination_cents,
            "bet_credits": replay.bet_credits,
            "bet_wager": replay.bet_wager,
            "credit_cents": replay.credit_before_cents,
            "paid_cents": 0,
            "last_display": None,
            "standing_credits_by_spot": {},
            "closed_spots": (),
            "felt_state": FeltState(point=replay.display.get("point")),
            "state": "playing",
            "service_page": None,
            "accepted_inputs": (),
            "notices": (),
            "time_utc": replay.time_utc,
        }
    )
    if replay.game_id not in view.game_by_id:
        return None
    empty_view = View(
        now=view.now,
        is_machine_connected=True,
        game_by_id=view.game_by_id,
        reel_data_by_game=view.reel_data_by_game,
        table_by_game=view.table_by_game,
    )
    message: DecisionRequest | GameOutcome
    if replay.decision_kind:
        message = DecisionRequest(
            play_id=replay.play_id, kind=replay.decision_kind, options=replay.options, display=replay.display
        )
    else:
        message = GameOutcome(
            play_id=replay.play_id,
            game_id=replay.game_id,
            bet_credits=replay.bet_credits,
            returned_credits=replay.returned_credits or 0,
            paid_cents=replay.paid_cents or 0,
            display=replay.display,
        )
    try:
        recall_view = apply_message(
            replace(apply_message(empty_view, recalled_snapshot), is_motion_reduced=view.is_motion_reduced),
            message,
        )
        return (
            replace(recall_view, marked_items_mask=replay.answer)
            if isinstance(replay.answer, int)
            else recall_view
        )
    except GameDataError:
        return None  # The data are of another version of the game: the page describes the game as text.


def mark_machine_connection_lost(view: View) -> View:
    """Return the view after the connection to the machine was lost; the same view if it already shows this."""
    return (
        replace(view, is_machine_connected=False, disconnected_at=view.now, scene_began_at=view.now)
        if view.is_machine_connected
        else view
    )


def show_start_up_activity(view: View, activity: StartUpActivity | None) -> View:
    """Return the view of a machine that is not connected, after its start-up activity was read.

    ``activity``: None for a machine that is not starting. When a start has ended, the machine should soon connect.
    The seconds after which the screen asks for an attendant are then counted from this moment.
    """
    has_stopped_starting = activity is None and view.start_up_activity is not None
    return replace(
        view,
        start_up_activity=activity,
        scene_began_at=view.now if has_stopped_starting else view.scene_began_at,
    )


def advance_time(view: View, now: float, theme: Theme) -> tuple[View, OutgoingMessages]:
    """Return the view at the time ``now``, and the messages to send.

    One message reports, once, that the presentation of a game has ended. Others request the next game, if PLAY was
    pressed for it, and the removal of chips.
    """
    view, chip_requests = _advance_chips(replace(view, now=now))
    if chip_requests:
        return view, chip_requests
    timeline = build_view_timeline(view, theme)
    presentation = view.presentation
    if (
        presentation is None
        or timeline is None
        or presentation.is_end_reported
        or not presentation.is_last_section
        or now - presentation.began_at < timeline.end_seconds
    ):
        return request_next_game(view)
    if view.snapshot is None or view.snapshot.state != "playing":
        return request_next_game(view)
    return replace(view, presentation=replace(presentation, is_end_reported=True)), (
        Intent(name="shown", value=presentation.outcome.play_id),
    )


def _advance_chips(view: View) -> tuple[View, OutgoingMessages]:
    """Update the chips of a table after time has passed, and return the messages that this causes.

    Request the removal of the last round's chips. If a bet request got no reply in time, show the chips of the
    machine's bet again.
    """
    snapshot, chips, table = view.snapshot, view.chips, view.table
    if snapshot is None or table is None:
        return view, ()
    is_waiting = (
        chips.is_clearing_reply_pending and view.now - chips.requested_at <= MACHINE_REPLY_SECONDS_MAX
    )
    if (
        chips.must_report_clearing
        and not is_waiting
        and snapshot.is_between_games
        and view.is_request_accepted("bet")
    ):
        chips, chip_requests = request_bet(chips, snapshot, view.now)
        return replace(view, chips=chips), chip_requests
    if chips.requested_bets is not None and view.now - chips.requested_at > MACHINE_REPLY_SECONDS_MAX:
        return replace(
            view, chips=apply_machine_reply(table, chips, snapshot, is_request_in_transit=False)
        ), ()
    return view, ()
