"""The status line below the game field, the clock, the machine's identity, and the permanent notes."""

from decimal import Decimal
from typing import Final, TypeAlias

from egm.kernel.messages import GameView, Notice, Snapshot, TournamentView
from egm.screen.keno_slip import is_keno_game, is_valid_slip, list_permitted_spot_counts
from egm.screen.layout import Layout
from egm.screen.painter import FACT_SEPARATOR, TextStyle
from egm.screen.presentation import (
    OutcomePresentation,
    PresentationTimeline,
    compute_free_game_number_and_total,
    find_feature_steps,
)
from egm.screen.reel_data import WinOnReels
from egm.screen.scenes.decision_text import (
    describe_decision_before_play,
    describe_offered_options,
    format_option_name,
    format_question_with_time_left,
)
from egm.screen.scenes.drawing_context import (
    COLOUR_BY_SEVERITY,
    DrawingContext,
    format_message,
    format_prizes_won,
    format_stage_name,
)
from egm.screen.scenes.feature import sum_credits_of_ended_steps
from egm.screen.scenes.keno import describe_purchase
from egm.screen.scenes.reel_wins import find_highlighted_win
from egm.screen.scenes.side_panels import find_base_reel_data, format_prize_name
from egm.screen.scenes.table_side_panels import (
    describe_bets_on_felt,
    describe_needed_credit,
    describe_outcome,
    find_round_result,
)
from egm.screen.steps import KenoStep
from egm.screen.table import CHIP_CHANGING_ACTIONS, is_table_game
from egm.screen.text import Texts, format_fault
from egm.screen.view import (
    Scene,
    View,
    build_view_timeline,
    has_touched_bets_since_game,
    has_unsent_bet,
    is_decision_due,
)
from egm.screen.wheel_stakes import is_wheel_game, read_area_stakes

#: A text of the status line, and the name of its colour.
TextAndColour: TypeAlias = tuple[str, str]
#: Seconds for which an ordinary notice is shown.
_NOTICE_SECONDS: Final = 5.0
#: Seconds for which the notice of a payment is shown.
_PAYOUT_NOTICE_SECONDS: Final = 30.0
#: Notices that the player has been paid, and how.
_PAYOUT_NOTICE_CODES: Final = frozenset(
    {"ticket_printed", "coins_paid", "handpay_paid", "prize_delivered", "transfer_out"}
)
#: Seconds after which the status line changes between two texts.
_STATUS_TEXT_TURN_SECONDS: Final = 3.0
#: From this number of draws on, a Keno ticket is summed up at its end.
_KENO_DRAWS_FOR_SUMMARY_MIN: Final = 2
#: Refusals of PLAY because the credit does not cover the bet, or the bet and what its round may add.
_REFUSALS_FOR_MISSING_CREDIT: Final = frozenset({"refused.bet_is_covered", "refused.raises_are_covered"})
#: Refusals whose text names the choices of the pending decision.
_DESCRIPTION_BY_REFUSAL: Final = {
    "refused.playing": describe_decision_before_play,
    "refused.choice_is_offered": describe_offered_options,
}


def _compute_notice_seconds(snapshot: Snapshot, notice: Notice) -> float:
    """Return how many seconds a notice is shown.

    If the machine has no credit, the notice of a payment to the player is shown longer than others.
    """
    if notice.code in _PAYOUT_NOTICE_CODES and not snapshot.credit_cents:
        return _PAYOUT_NOTICE_SECONDS
    return _NOTICE_SECONDS


def format_notice(context: DrawingContext, notice: Notice) -> str:
    """Return the text of one of the machine's notices to the player."""
    texts, notice_code = context.texts, notice.code
    snapshot = context.view.snapshot
    credit_cents = 0 if snapshot is None else snapshot.credit_cents
    values = {"amount": "", "credit_cents": credit_cents, **notice.values}
    if "fault" in values:
        values["fault"] = format_fault(texts, str(values["fault"]))
    game = context.view.game_by_id.get(str(notice.values.get("game")))
    if game is not None:
        values["game"] = texts.choose_translation(game.title, game.id)
    describe_refusal = _DESCRIPTION_BY_REFUSAL.get(notice_code)
    if describe_refusal is not None and context.view.decision is not None:
        return describe_refusal(context, context.view.decision)
    if notice_code in _REFUSALS_FOR_MISSING_CREDIT and snapshot is not None and credit_cents:
        bet_cents = snapshot.bet_credits * snapshot.denomination_cents
        needed_credit_text = describe_needed_credit(context, snapshot.bet_credit_needed_cents, bet_cents)
        if needed_credit_text:
            return needed_credit_text
    key_suffixes = ("_credit", "") if credit_cents else ("",)
    for text_key in (
        f"{group}.{notice_code}{suffix}" for group in ("notice", "status") for suffix in key_suffixes
    ):
        if texts.has_text(text_key):
            return format_message(context, text_key, values)
    if notice_code.startswith("refused"):
        return texts.translate("notice.refused_other")
    text = _format_fault_for_player(texts, notice_code.removeprefix("fault."))
    held_cents = notice.values.get("amount_cents")
    if isinstance(held_cents, int):
        return texts.translate("notice.held", fault=text, amount=context.format_money(held_cents))
    return texts.translate("notice.held_bill", fault=text) if "held" in notice.values else text


def _format_fault_for_player(texts: Texts, code: str) -> str:
    """Return the text of a fault for players; a general text if the fault does not concern players (G-06)."""
    neutral_key = f"tilt.neutral.{code}"
    return texts.translate(neutral_key) if texts.has_text(neutral_key) else format_fault(texts, code)


def choose_status_text_and_colour(context: DrawingContext) -> TextAndColour:
    """Return the text of the status line and its colour.

    It is a new notice, or else the question of a pending decision, or else what happens in the game. Between games it
    is the notice of a lasting condition, or what the player can do next.
    """
    view = context.view
    snapshot = view.snapshot
    if snapshot is None:
        return context.texts.translate("boot.link"), "text"
    if view.latest_notice is not None and view.now - view.notice_received_at < _compute_notice_seconds(
        snapshot, view.latest_notice
    ):
        return _format_notice_status(context, view.latest_notice)
    if view.decision is not None and is_decision_due(view, context.theme):
        text = format_question_with_time_left(context, view.decision)
        advised_option = view.decision.display.get("advice")
        if isinstance(advised_option, str) and advised_option in view.decision.options:
            option_name = format_option_name(context, advised_option)
            text = f"{text}  \u00b7  {context.texts.translate('felt.advice', option=option_name)}"
        return text, "amber"
    timeline = build_view_timeline(view, context.theme)
    if snapshot.state == "playing" and view.presentation is not None and timeline is not None:
        return _choose_game_status(context, view.presentation, timeline)
    lasting_notice = _find_lasting_notice(context, snapshot)
    return (
        _choose_idle_status(context, snapshot)
        if lasting_notice is None
        else _format_notice_status(context, lasting_notice)
    )


def _find_lasting_notice(context: DrawingContext, snapshot: Snapshot) -> Notice | None:
    """Return the notice of a lasting condition that the status line shows now, or None.

    The status line alternates every few seconds between such notices and what the player can do next. While a device
    holds the player's money, only the notice about it is shown. While the bill acceptor has a fault and there is no
    credit, nobody is asked to insert a bill.
    """
    turn_number = int(context.view.now / _STATUS_TEXT_TURN_SECONDS)
    lasting_notices = [notice for notice in snapshot.notices if notice.is_lasting]
    money_faults = [
        notice for notice in lasting_notices if notice.code.startswith("fault.") and notice.values
    ]
    accepts_bills = not any(notice.code.startswith("fault.bill_acceptor.") for notice in lasting_notices)
    if money_faults or not (accepts_bills or snapshot.credit_cents):
        shown_notices = money_faults or lasting_notices
        return shown_notices[turn_number % len(shown_notices)]
    return (
        lasting_notices[turn_number // 2 % len(lasting_notices)]
        if lasting_notices and turn_number % 2
        else None
    )


def _format_notice_status(context: DrawingContext, notice: Notice) -> TextAndColour:
    """Return a notice's text and its colour for the status line."""
    return format_notice(context, notice), COLOUR_BY_SEVERITY[notice.severity]


def _choose_idle_status(context: DrawingContext, snapshot: Snapshot) -> TextAndColour:
    """Return the text and colour of the status line between games.

    It says what PLAY would buy, what was won, or what the player can do next. In a tournament, it says how the round
    stands, alternately with these texts while the player can play.
    """
    translate, win = context.texts.translate, find_highlighted_win(context)
    tournament = snapshot.current_tournament
    if tournament is not None:
        is_playing = tournament.entry and not tournament.is_round_over and not tournament.starts_utc
        if not is_playing or int(context.view.now / _STATUS_TEXT_TURN_SECONDS) % 2:
            return _describe_tournament(context, tournament), "info"
    purchase_text = (
        (_describe_missing_credit(context) or _describe_purchase_for_play(context, snapshot))
        if snapshot.credit_cents
        else ""
    )
    if purchase_text and (_has_bet_changed(context.view) or context.view.chips.refusal_key):
        return purchase_text, "text"
    if snapshot.paid_cents and win is not None:
        return _format_win(context, win), "win"
    if snapshot.paid_cents:
        return _add_round_ending(context, _describe_total_win(context, snapshot.paid_cents))
    game = context.view.game
    slip = context.view.marked_keno_slip
    if game is not None and is_keno_game(game) and slip.has_marks and not is_valid_slip(game, slip):
        return translate(
            "keno.mark",
            least=min(list_permitted_spot_counts(game)),
            most=max(list_permitted_spot_counts(game)),
        ), "amber"
    next_step_text = purchase_text or translate("status.choose" if snapshot.credit_cents else "status.insert")
    return FACT_SEPARATOR.join(
        text for text in (_describe_lost_round(context), next_step_text) if text
    ), "text"


def _describe_tournament(context: DrawingContext, tournament: TournamentView) -> str:
    """Return the text of the status line in a tournament, between two games.

    Without an entry, it says where to buy one. Otherwise it says when the round starts, how many games or minutes are
    left, or the points won.
    """
    translate = context.texts.translate
    values = {"entry": tournament.entry, "round": tournament.round}
    if not tournament.entry:
        return translate("tournament.waits")
    if tournament.is_round_over:
        return translate(
            "tournament.over", points=context.texts.format_number(tournament.won_points), **values
        )
    if tournament.starts_utc:
        return translate(
            "tournament.starts", time=context.texts.format_time_of_day(tournament.starts_utc), **values
        )
    if tournament.games_left is not None:
        return translate(
            "tournament.round_games", left=context.texts.format_number(tournament.games_left), **values
        )
    return translate("tournament.round_minutes", left=tournament.minutes_left or 0, **values)


def _has_bet_changed(view: View) -> bool:
    """Return whether the player has changed the bet since the presented game began.

    If no game is presented, return whether the last key or touch was one that changes the bet. Otherwise it must also
    be later than the start of the presentation: a round that several positions play together starts without a press of
    PLAY.
    """
    began_at = view.presentation.began_at if view.presentation is not None else view.pressed_at - 1
    return view.last_action_name in _BET_CHANGING_ACTIONS and view.pressed_at > began_at


#: Actions that change the bet. The status line then shows the bet instead of the last win.
_BET_CHANGING_ACTIONS: Final = CHIP_CHANGING_ACTIONS | {
    "bet_less",
    "bet_more",
    "bet_max",
    "area",
    "form",
    "mark",
    "quick_pick",
    "draws",
    "bonus",
    "new_card",
}


def _describe_lost_round(context: DrawingContext) -> str:
    """Return a text that says how the last table round ended and what it cost; "" if the round returned anything.

    For a finished Keno ticket of several draws, the text has the ticket's cost and total win, whether it won or not.
    Return "" after the player has changed the bet.
    """
    if has_touched_bets_since_game(context.view):
        return ""
    keno_text_and_colour, round_result = _describe_finished_keno_ticket(context), find_round_result(context)
    if keno_text_and_colour is not None:
        keno_text, _ = keno_text_and_colour
        return keno_text
    if round_result is None or round_result.is_pay_table_game or round_result.returned_cents:
        return ""
    text = (
        context.texts.translate("status.lost", staked=context.format_money(round_result.staked_cents))
        if round_result.is_loss
        else ""
    )
    text_with_ending, _ = _add_round_ending(context, (text, ""))
    return text_with_ending


def _describe_finished_keno_ticket(context: DrawingContext) -> TextAndColour | None:
    """Return a text about a finished Keno ticket of several draws, its cost and total win, and the text's colour.

    Return None for any other game.
    """
    presentation = context.view.selected_game_presentation
    if presentation is None or not presentation.is_last_section:
        return None
    draw_count = sum(isinstance(step, KenoStep) for step in presentation.steps)
    if draw_count < _KENO_DRAWS_FOR_SUMMARY_MIN:
        return None
    won_cents = presentation.outcome.paid_cents
    staked_cents = presentation.outcome.bet_credits * context.view.denomination_cents
    staked_text = context.format_money(staked_cents)
    if not won_cents:
        return context.texts.translate("keno.ticket_lost", draws=draw_count, staked=staked_text), "text_dim"
    text = context.texts.translate(
        "keno.ticket_won", draws=draw_count, amount=context.format_money(won_cents), staked=staked_text
    )
    return text, "win" if won_cents > staked_cents else "text"


def _add_round_ending(context: DrawingContext, text_and_colour: TextAndColour) -> TextAndColour:
    """Add to a text about a round's money how the round ended and the amount of the bets that stay on the table.

    ``text_and_colour`` is the text and its colour. It is returned unchanged if no table round has just ended, or if the
    player has changed the bet since. If the next round is the last one from the shoe, the returned text says so.
    """
    round_result, snapshot = find_round_result(context), context.view.snapshot
    if (
        round_result is None
        or snapshot is None
        or (has_touched_bets_since_game(context.view) and snapshot.state != "playing")
    ):
        return text_and_colour
    standing_credits_by_bet = snapshot.standing_credits_by_spot  # The bet meter includes only new bets.
    if snapshot.state == "playing":  # The machine's standing bets are still those before the round.
        standing_credits_by_bet = {
            str(bet_index): int(bet["credits"])
            for bet_index, bet in enumerate(round_result.display.get("standing", ()))
        }
    standing_cents = sum(standing_credits_by_bet.values()) * context.view.denomination_cents
    standing_text = (
        context.texts.translate("status.on_the_table", amount=context.format_money(standing_cents))
        if standing_cents
        else ""
    )
    last_of_shoe_text = (
        context.texts.translate("felt.last_of_shoe") if round_result.display.get("last_of_shoe") else ""
    )
    money_text, colour = text_and_colour
    texts = (describe_outcome(context, round_result), money_text, standing_text, last_of_shoe_text)
    return FACT_SEPARATOR.join(text for text in texts if text), colour


def _describe_missing_credit(context: DrawingContext) -> str:
    """Return a text about the credit that the current bet needs.

    Empty if the credit is enough, or while the player is changing the bet.
    """
    view, snapshot = context.view, context.view.snapshot
    if snapshot is None or has_unsent_bet(view) or view.chips.refusal_key:
        return ""
    return describe_needed_credit(
        context, snapshot.bet_credit_needed_cents, snapshot.bet_credits * snapshot.denomination_cents
    )


def _describe_purchase_for_play(context: DrawingContext, snapshot: Snapshot) -> str:
    """Return a text about what PLAY buys and its price.

    It is for bets that the BET meter cannot describe: Keno tickets, bets on a table, and stakes on the areas of a
    wheel. Otherwise it is empty.
    """
    game, translate = context.view.game, context.texts.translate
    if is_keno_game(game):
        text, cents = describe_purchase(context)
        return translate("keno.buys", what=text, price=context.format_money(cents)) if text else ""
    if context.view.table is not None:
        return describe_bets_on_felt(context)
    if game is None or not is_wheel_game(game):
        return ""
    area_count = len(read_area_stakes(game, snapshot))
    price = context.format_money(snapshot.bet_credits * snapshot.denomination_cents)
    return context.texts.format_count("wheel.buys", area_count, price=price)


def _choose_game_status(
    context: DrawingContext, presentation: OutcomePresentation, timeline: PresentationTimeline
) -> TextAndColour:
    """Return the text and colour of the status line while a game is presented. They depend on the step shown."""
    translate, elapsed_seconds = context.texts.translate, context.view.now - presentation.began_at
    if elapsed_seconds < timeline.last_stop_seconds:
        step_index = timeline.find_step_index(elapsed_seconds)
        step = presentation.steps[step_index]
        if isinstance(step, KenoStep):
            ball_number = sum(
                1 for stop in timeline.steps[step_index].stop_seconds if elapsed_seconds >= stop
            )
            return translate("keno.ball", index=ball_number, count=len(step.balls)), "amber"
        name = format_stage_name(context, step.stage)
        if name:
            feature_steps = find_feature_steps(presentation, step_index)
            game_number, game_count = compute_free_game_number_and_total(
                presentation,
                step_index,
                has_stopped=elapsed_seconds >= timeline.steps[step_index].last_stop_seconds,
            )
            progress_text = translate("feature.free_left", left=game_number, total=game_count)
            won_cents = (
                sum_credits_of_ended_steps(presentation, timeline, elapsed_seconds, feature_steps.start)
                * context.view.denomination_cents
            )
            total_texts = (
                [translate("feature.so_far", amount=context.format_money(won_cents))] if won_cents else []
            )
            return FACT_SEPARATOR.join(
                [name, *([progress_text] if game_count > 1 else []), *total_texts]
            ), "amber"
        return translate("status.resumed" if presentation.outcome.is_resumed else "status.spinning"), "text"
    if any(progressive_win.amount_cents is None for progressive_win in presentation.outcome.progressives):
        return translate("progressive.confirming"), "amber"
    if not presentation.outcome.prizes and not presentation.outcome.paid_cents:
        return _describe_lost_round(context) or translate("status.no_win"), "text_dim"
    win_status = _add_round_ending(context, _describe_total_win(context, presentation.outcome.paid_cents))
    return (
        (format_prizes_won(context, presentation.outcome.prizes), "win")
        if presentation.outcome.prizes
        else win_status
    )


def _describe_total_win(context: DrawingContext, cents: int) -> TextAndColour:
    """Return a text about what a game has paid in total, and the text's colour.

    At a table, the amount paid includes stakes, so the text says which amount was received and for which stake. If the
    amount is less than the stake, or if every bet returned exactly its stake, the text says instead that the amount was
    returned. For video poker, the text is the same as for reels: the amount won.
    """
    keno_text_and_colour = _describe_finished_keno_ticket(context)
    if keno_text_and_colour is not None:
        return keno_text_and_colour
    translate, amount = context.texts.translate, context.format_money(cents)
    round_result = find_round_result(context)
    staked_cents = 0 if round_result is None else round_result.staked_cents
    if round_result is not None and round_result.is_push:
        return translate("status.bet_returned", amount=amount), "text"
    if cents < staked_cents:
        return translate(
            "status.part_returned", amount=amount, staked=context.format_money(staked_cents)
        ), "text"
    if not is_table_game(context.view.game) or context.game_data.get("hold"):
        return translate("status.win_total", amount=amount), "win"
    if not staked_cents:
        return translate("status.received", amount=amount), "win"
    return translate("status.received_for", amount=amount, staked=context.format_money(staked_cents)), "win"


def _format_win(context: DrawingContext, win: WinOnReels) -> str:
    """Return the text of one win: its pay line, the name of its combination and its amount."""
    reel_data = find_base_reel_data(context)
    amount = context.format_money(win.credits * context.view.denomination_cents)
    name = (
        format_prize_name(context.texts, reel_data, win.symbol_count, win.symbol, win.name)
        if reel_data
        else win.name
    )
    if win.line_number is None:
        return context.texts.translate("win.named", name=name, amount=amount)
    return context.texts.translate("win.line_named", line=win.line_number, name=name, amount=amount)


def draw_status(context: DrawingContext) -> None:
    """Draw the status line, the clock, the machine's identity and the permanent notes."""
    painter, layout, view = context.painter, context.layout, context.view
    x, y, w, h = layout.status_line
    if view.scene in {Scene.GAME, Scene.ATTRACT}:  # In other scenes a plate or page covers it.
        text, colour = choose_status_text_and_colour(context)
        painter.draw_label(text, (x + 24, y, w - 48, h), TextStyle("strong", "body", colour))
    snapshot = view.snapshot
    if snapshot is None:
        return
    clock = context.texts.format_time_of_day(view.time_utc)
    clock_anchor = (
        (layout.size[0] - 30, 52)
        if not layout.is_portrait
        else (layout.size[0] - 24, layout.meter_bar[1] - 22)
    )
    painter.draw_text(
        clock,
        clock_anchor,
        TextStyle("strong", "lead" if not layout.is_portrait else "caption", "text", 2, (0, 0, 0, 140)),
        align="right",
        width_max=310,
    )
    identity = context.texts.translate("status.machine", serial=snapshot.serial, site=snapshot.site)
    identity_anchor = (30, 40) if not layout.is_portrait else (24, layout.meter_bar[1] - 22)
    painter.draw_text(
        identity,
        identity_anchor,
        TextStyle("text", "caption", "text_dim", 1.5, (0, 0, 0, 140)),
        align="left",
        width_max=318
        if not layout.is_portrait
        else layout.size[0] * (0.36 if not layout.is_telephone else 0.48),
    )
    _draw_permanent_notes(context)


def _draw_permanent_notes(context: DrawingContext) -> None:
    """Draw the theoretical return and, if the jurisdiction requires one, the help line. Both are always visible."""
    painter, layout, game = context.painter, context.layout, context.view.game
    help_line = format_help_line(context)
    if help_line:
        anchor = (
            (30, 104)
            if not layout.is_portrait
            else (layout.size[0] * (0.4 if not layout.is_telephone else 0.53), layout.meter_bar[1] - 22)
        )
        style = TextStyle("strong", "caption", "text", 1.5, (0, 0, 0, 140))
        painter.draw_text(
            help_line,
            anchor,
            style,
            align="left",
            width_max=_compute_title_left_width(layout)
            if not layout.is_portrait
            else layout.size[0] * (0.4 if not layout.is_telephone else 0.3),
        )
    if game is not None:
        text = format_theoretical_return(context, game)
        style = TextStyle("text", "caption", "text", 1.5, (0, 0, 0, 140))
        if layout.is_portrait:
            middle = layout.left_panel[1] + layout.left_panel[3] + 16
            painter.draw_text(text, (layout.size[0] / 2, middle), style, width_max=layout.size[0] - 80)
        else:
            width = _compute_title_left_width(layout)
            if painter.measure_text(text, style) <= width:
                painter.draw_label(text, (30, 54, width, 37), style, align="left")
            else:  # The text for a table has two percentages.
                painter.draw_paragraph(
                    text, (30, 50, width, 46), style._replace(size_name="tiny"), leading=1.4
                )


def _compute_title_left_width(layout: Layout) -> float:
    """Return the width to the left of the game's title.

    It is smaller if the game has progressive levels.
    """
    return min(330.0, layout.title_sign[0] - 30)


def format_help_line(context: DrawingContext) -> str:
    """Return the text of the jurisdiction's help line for players, or "" if it has none."""
    snapshot = context.view.snapshot
    lines = snapshot.protection.help_line if snapshot is not None else {}
    return context.texts.choose_translation(lines) if lines else ""


def format_theoretical_return(context: DrawingContext, game: GameView) -> str:
    """Return a text with the theoretical return of a game.

    If the bets of a table have different returns, the text has the return of the main bet and the lowest return. If
    players play against each other, it has the commission that the venue takes from the pot instead.
    """
    if game.commission_percent:
        return context.texts.translate(
            "panel.levy", percent=context.texts.format_decimal(game.commission_percent)
        )
    lowest_return_group = min(game.returns, key=lambda group: Decimal(game.returns[group]), default="")
    if game.returns.get(game.main_bet, "") in {"", game.returns.get(lowest_return_group)}:
        text_key = "panel.return" if len(game.returns) < 2 else "panel.return_least"
        return context.texts.translate(text_key, percent=context.texts.format_decimal(game.return_percent))
    names_by_group = {spot["group"]: spot["names"] for spot in reversed(game.presentation["spots"])}
    main_name, lowest_return_name = (
        context.texts.choose_translation(names_by_group[group])
        for group in (game.main_bet, lowest_return_group)
    )
    return context.texts.translate(
        "panel.return_named",
        main=main_name,
        percent=context.texts.format_decimal(game.returns[game.main_bet]),
        worst=lowest_return_name,
        least=context.texts.format_decimal(game.returns[lowest_return_group]),
    )
