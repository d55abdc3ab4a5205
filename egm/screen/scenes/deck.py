"""Drawing of the meters (CREDIT, BET, WIN) and of the keys below them, which are visible in every scene."""

from dataclasses import dataclass
from functools import partial
from typing import Final

import pygame

from egm.kernel.service_pages import Prompt
from egm.screen.art.files import render_own_picture
from egm.screen.art.paths import build_ellipse, build_rounded_box
from egm.screen.art.vector_canvas import LinearGradient, Paint, VectorCanvas
from egm.screen.layout import DECK_KEYS
from egm.screen.motion import clamp_to_unit_interval, compute_pulse, compute_roll_up_amount
from egm.screen.painter import Rect, TextStyle
from egm.screen.scenes.drawing_context import WHITE, DrawingContext, draw_button
from egm.screen.scenes.feature import sum_credits_of_ended_steps
from egm.screen.scenes.table_side_panels import find_round_result
from egm.screen.table import is_table_game
from egm.screen.theme import Colour, mix_colours
from egm.screen.view import (
    PlayerPage,
    Scene,
    View,
    build_view_timeline,
    can_place_chips,
    compute_bet_credits,
    is_decision_by_marking,
    is_dismissible_reminder_shown,
    is_marked_option_permitted,
    is_presentation_running,
    is_selecting_targets,
)

#: Seconds in which the credit rolls to its new value.
_CREDIT_ROLL_SECONDS: Final = 0.45
#: A meter no higher than this has less room below its amount.
_LOW_METER_HEIGHT_MAX: Final = 96.0
#: While the steps are presented, the WIN meter shows the sum of the wins at most this many seconds before the end of
#: the last step. The last win is then not in the sum, and is rolled up afterwards.
_SECONDS_BEFORE_LAST_STEP_END: Final = 1e-6

#: The bright and the deep colour of each key.
_COLOUR_NAMES_BY_DECK_KEY: Final[dict[str, tuple[str, str]]] = {
    "service": ("amber", "gold_dark"),
    "help": ("steel", "steel_deep"),
    "games": ("steel", "steel_deep"),
    "language": ("steel", "steel_deep"),
    "volume": ("steel", "steel_deep"),
    "cash_out": ("ruby", "ruby_deep"),
    "bet_less": ("sapphire", "sapphire_deep"),
    "bet_more": ("sapphire", "sapphire_deep"),
    "bet_max": ("sapphire", "sapphire_deep"),
    "play": ("emerald", "emerald_deep"),
}


@dataclass(frozen=True, slots=True)
class MeterAmounts:
    """The amounts that the meters CREDIT, BET and WIN show now.

    While a meter counts up to a new amount, the amount here is the one that it has reached.
    """

    credit_cents: int
    bet_credits: int
    win_cents: int


def compute_meter_amounts(context: DrawingContext) -> MeterAmounts:
    """Return the amounts to show on the meters.

    CREDIT counts up to a higher value; a lower value is shown at once. WIN counts up while the outcome is presented.
    """
    view, snapshot = context.view, context.view.snapshot
    if snapshot is None:
        return MeterAmounts(0, 0, 0)
    share = clamp_to_unit_interval((view.now - view.credit_changed_at) / _CREDIT_ROLL_SECONDS)
    rolled_permille = int(share * 1000)
    credit_cents = snapshot.credit_cents
    if rolled_permille < 1000 and credit_cents > view.previous_credit_cents:
        credit_cents = (
            view.previous_credit_cents + (credit_cents - view.previous_credit_cents) * rolled_permille // 1000
        )
    win_cents = snapshot.paid_cents
    timeline = build_view_timeline(view, context.theme)
    if view.presentation is not None and timeline is not None and snapshot.state == "playing":
        elapsed_seconds, presentation = view.now - view.presentation.began_at, view.presentation
        counted_credits = sum_credits_of_ended_steps(
            presentation,
            timeline,
            min(elapsed_seconds, timeline.last_stop_seconds - _SECONDS_BEFORE_LAST_STEP_END),
        )
        counted_cents = min(
            presentation.outcome.paid_cents,
            presentation.presented_cents + counted_credits * snapshot.denomination_cents,
        )
        rolled_cents = compute_roll_up_amount(
            presentation.outcome.paid_cents - counted_cents,
            elapsed_seconds - timeline.last_stop_seconds,
            timeline.roll_up_end_seconds - timeline.last_stop_seconds,
        )
        win_cents = (
            counted_cents if elapsed_seconds < timeline.last_stop_seconds else counted_cents + rolled_cents
        )
    return MeterAmounts(credit_cents, compute_bet_credits(view), win_cents)


def draw_meters(context: DrawingContext) -> None:
    """Draw the meters CREDIT, BET and WIN, each in currency and in credits. In a tournament, they show points."""
    snapshot = context.view.snapshot
    meter_amounts = compute_meter_amounts(context)
    unit_cents = snapshot.denomination_cents if snapshot else 1
    translate = context.texts.translate
    credits_ = meter_amounts.credit_cents // max(1, unit_cents)
    tournament = None if snapshot is None else snapshot.current_tournament
    _draw_meter(
        context,
        "credit",
        translate("meter.credit" if tournament is None else "tournament.points"),
        meter_amounts.credit_cents,
        credits_,
        "meter",
        format_promotional_credit(context),
    )
    _draw_meter(
        context,
        "bet",
        translate("meter.bet"),
        meter_amounts.bet_credits * unit_cents,
        meter_amounts.bet_credits,
        "meter",
    )
    if tournament is not None:
        _draw_meter(
            context,
            "win",
            translate("tournament.won"),
            tournament.won_points * unit_cents,
            tournament.won_points,
            "win",
        )
        return
    win_label_key = choose_win_meter_label_key(context)
    colour = "win" if meter_amounts.win_cents and _has_profit(context) else "steel"
    _draw_meter(
        context,
        "win",
        translate(win_label_key),
        meter_amounts.win_cents,
        meter_amounts.win_cents // max(1, unit_cents),
        colour,
    )


def choose_win_meter_label_key(context: DrawingContext) -> str:
    """Return the catalogue key of the WIN meter's label.

    At a table game the label of an amount above 0 says that it was returned, because the amount includes stakes.
    """
    if not is_table_game(context.view.game) or context.game_data.get("hold"):
        return "meter.win"
    return "meter.returned" if compute_meter_amounts(context).win_cents else "meter.win"


def _has_profit(context: DrawingContext) -> bool:
    """Return whether the amount on the WIN meter is a win. At a table it must be more than was staked."""
    result = find_round_result(context)
    if result is None or result.is_pay_table_game:
        return choose_win_meter_label_key(context) == "meter.win"
    return result.returned_cents > result.staked_cents


def format_promotional_credit(context: DrawingContext) -> str:
    """Return a text with the amount of promotional credit of each kind (restricted, non-restricted); "" without any.

    Without this text, a player could believe that promotional credit is money, although it can only be played.
    """
    snapshot, translate = context.view.snapshot, context.texts.translate
    if snapshot is None:
        return ""
    text_keys_and_cents = (
        ("meter.restricted", snapshot.restricted_cents),
        ("meter.nonrestricted", snapshot.nonrestricted_cents),
    )
    return "  ·  ".join(
        translate(key, amount=context.format_money(cents)) for key, cents in text_keys_and_cents if cents
    )


def _draw_meter(
    context: DrawingContext,
    meter_name: str,
    label: str,
    cents: int,
    credits_: int,
    colour: str,
    note_text: str = "",
) -> None:
    """Draw one meter. ``note_text`` is written below the amount.

    In a tournament the amount is a number of points, not money.
    """
    shows_points = context.view.snapshot is not None and context.view.snapshot.current_tournament is not None
    painter, (x, y, w, h) = context.painter, context.layout.meter_rect_by_name[meter_name]
    label_y, credits_y, amount_y = (27.0, h - 28, h / 2 + 4) if not note_text else (20.0, 52.0, 34.0)
    painter.draw_text(label, (x + 24, y + label_y), TextStyle("strong", "caption", "text_dim"), align="left")
    credits_rect = painter.draw_text(
        "" if shows_points else context.texts.format_count("meter.credits", credits_),
        (x + 24, y + credits_y),
        TextStyle("strong", "small", "text"),
        align="left",
        width_max=w * 0.38,
    )
    credits_end = 36 + credits_rect.width / painter.scale
    if note_text:
        painter.draw_text(
            note_text,
            (x + w - 24, y + h - 20),
            TextStyle("strong", "small", "amber"),
            align="right",
            width_max=w - 48,
        )
    meter_colour = context.theme.get_colour(colour)
    paint = LinearGradient(
        (
            (0, mix_colours(meter_colour, (255, 255, 255, 255), 0.55)),
            (0.6, meter_colour),
            (1, mix_colours(meter_colour, (0, 0, 0, 255), 0.15)),
        )
    )
    painter.draw_text(
        context.texts.format_number(credits_) if shows_points else context.format_money(cents),
        (x + w - 24, y + amount_y),
        TextStyle(
            "numbers", "meter" if not note_text else "title" if h > _LOW_METER_HEIGHT_MAX else "lead", paint
        ),
        align="right",
        width_max=min(w * 0.58, w - 24 - credits_end),
    )


def is_key_lit(context: DrawingContext, key_name: str) -> bool:
    """Return whether the lamp of a key is on. It is on if the key has an effect now."""
    view = context.view
    if key_name in {"help", "games", "volume"}:
        is_disabled = view.scene is Scene.SERVICE and key_name != "volume"
        return (
            view.snapshot is not None and not is_disabled and not is_presentation_running(view, context.theme)
        )
    if key_name == "language":
        return (
            view.is_request_accepted("language")
            and view.snapshot is not None
            and len(view.snapshot.languages) > 1
        )
    if key_name == "play":
        return _is_play_lit(context)
    if key_name.startswith("bet_"):
        is_selecting = view.is_machine_connected and is_selecting_targets(view, context.theme)
        return is_selecting or (
            view.is_request_accepted("bet") and not is_presentation_running(view, context.theme)
        )
    return view.is_request_accepted(key_name)


def _is_play_lit(context: DrawingContext) -> bool:
    """Return whether PLAY has an effect now.

    It may make a decision, activate the focused target, close a page, dismiss a reminder, end a roll-up, or start a
    game.
    """
    view = context.view
    if is_selecting_targets(view, context.theme) and not can_place_chips(view, context.theme):
        can_answer = (
            (is_decision_by_marking(view) and is_marked_option_permitted(view))
            or view.is_focus_shown
            or _find_open_prompt(view) is not None
        )
        can_close_page = view.scene is not Scene.SERVICE and view.decision is None
        return view.is_machine_connected and (can_answer or can_close_page)
    if view.snapshot is not None and view.snapshot.state == "playing":
        return view.is_machine_connected and view.presentation is not None
    return is_dismissible_reminder_shown(view) or (view.is_request_accepted("play") and view.decision is None)


def format_key_label(context: DrawingContext, key_name: str) -> str:
    """Return the label of a key, which depends on what the key does now."""
    translate, view = context.texts.translate, context.view
    if key_name == "language":
        return translate("language.other")
    if key_name == "play":
        return translate(_choose_play_label(context))
    if key_name in {"bet_less", "bet_more", "bet_max"} and is_selecting_targets(view, context.theme):
        return translate(f"key.choose_{key_name.removeprefix('bet_')}")
    return translate(f"key.{key_name}")


def _choose_play_label(context: DrawingContext) -> str:
    """Return the catalogue key of the PLAY key's label, which depends on what PLAY does now."""
    view = context.view
    if view.scene is Scene.GAME and view.player_page is not PlayerPage.NONE and not view.is_focus_shown:
        return "key.close"
    if _should_play_activate_focus(context) and (view.is_focus_shown or _find_open_prompt(view)):
        return "key.choose_max" if view.is_focus_shown else "service.confirm"
    if is_dismissible_reminder_shown(view):
        return "reminder.go_on"
    timeline, presentation = build_view_timeline(view, context.theme), view.presentation
    if (
        presentation is None
        or timeline is None
        or not is_presentation_running(view, context.theme)
        or not is_key_lit(context, "play")
    ):
        return "key.play"
    elapsed_seconds = view.now - presentation.began_at
    if elapsed_seconds >= timeline.last_stop_seconds:
        return "key.skip" if timeline.celebration_level > 1 else "key.play"
    return (
        "key.skip"
        if elapsed_seconds < timeline.steps[timeline.find_step_index(elapsed_seconds)].start_seconds
        else "key.stop"
    )


def _find_open_prompt(view: View) -> Prompt | None:
    """Return the input prompt of the open service page, or None if there is no page or it has no prompt."""
    page = view.service_page
    return page.prompt if page is not None else None


def _should_play_activate_focus(context: DrawingContext) -> bool:
    """Return whether PLAY activates the focused target.

    While the player marks reels or cards, PLAY confirms the marks instead.
    """
    if can_place_chips(context.view, context.theme):
        return False
    return is_selecting_targets(context.view, context.theme) and not is_decision_by_marking(context.view)


def draw_deck(context: DrawingContext) -> None:
    """Draw the row of keys, each with its lamp."""
    for name in DECK_KEYS:
        _draw_deck_key(context, name, context.layout.key_rect_by_name[name])


def _draw_deck_key(context: DrawingContext, key_name: str, rect: Rect) -> None:
    """Draw one key of the deck with its lamp and label."""
    view, painter = context.view, context.painter
    is_lit = is_key_lit(context, key_name)
    is_pressed = view.last_action_name == key_name and view.now - view.pressed_at < 0.14
    x, y, w, h = rect
    light_colour, dark_colour = (
        context.theme.get_colour(name) for name in _COLOUR_NAMES_BY_DECK_KEY[key_name]
    )
    painter.draw_cached_picture(
        ("key", key_name, is_lit, is_pressed),
        rect,
        lambda size: _render_key_cap(
            size, (w, h), light_colour, dark_colour, is_lit=is_lit, is_pressed=is_pressed
        ),
    )
    if is_lit and key_name == "play" and view.is_request_accepted("play") and not view.is_motion_reduced:
        painter.draw_cached_picture(
            ("key glow", key_name),
            rect,
            lambda size: _render_key_glow(size, (w, h)),
            alpha=0.55 * compute_pulse(view.now, 0.8),
        )
    offset = 3 if is_pressed else 0
    paint: Paint | str = "text" if is_lit else (150, 143, 176, 255)
    has_icon = key_name in {"service", "help", "games", "language", "volume"}
    text = format_key_label(context, key_name)
    if key_name == "play":
        painter.draw_text(
            text,
            (x + w / 2, y + h / 2 + offset),
            TextStyle("heavy", "title", paint, 2, (0, 40, 16, 200)),
            width_max=w - 60,
        )
    elif has_icon:
        picture_name = f"volume_{view.volume_step}" if key_name == "volume" else key_name
        colour = WHITE if is_lit else (150, 143, 176, 255)
        icon_rect = (x + w / 2 - 22, y + h * 0.37 - 24 + offset, 44, 44)
        painter.draw_cached_picture(
            ("icon", picture_name, is_lit),
            icon_rect,
            partial(render_own_picture, picture_name, colour=colour),
        )
        painter.draw_text(
            text, (x + w / 2, y + h - 29 + offset), TextStyle("strong", "caption", paint), width_max=w - 18
        )
    else:
        style = TextStyle("heavy", "title" if len(text) == 1 else "body", paint, 1.5, (0, 0, 0, 150))
        painter.draw_label(text, (x + 11, y + offset, w - 22, h), style)


def draw_residual_key(context: DrawingContext) -> None:
    """Draw the key that gives up or stakes residual credit, which is too small for any game on this machine.

    It is drawn in place of the status line.
    """
    draw_button(context, context.layout.status_line, describe_residual_credit(context), is_active=True)


def describe_residual_credit(context: DrawingContext) -> str:
    """Return a text that says what happens to residual credit.

    If it is staked, the text states the chance and the prize before the bet (C-12).
    """
    snapshot, translate = context.view.snapshot, context.texts.translate
    residual = snapshot.residual_credit if snapshot is not None else None
    if residual is None:
        return ""
    amount, prize = context.format_money(residual.amount_cents), context.format_money(residual.prize_cents)
    if not residual.prize_cents:
        return translate("key.residual", amount=amount)
    return translate(
        "key.residual_play",
        amount=amount,
        chances=residual.amount_cents,
        of=residual.prize_cents,
        prize=prize,
    )


def draw_staff_key(context: DrawingContext, rect: Rect) -> None:
    """Draw the small key that opens the service menu for staff: a person's head and shoulders."""
    x, y, w, h = rect
    context.painter.draw_panel(
        rect, radius=14, fill=(30, 38, 56, 245), edge_paint=(150, 170, 220, 255), edge_width=2
    )

    render_icon = partial(render_own_picture, "staff", colour=(230, 238, 255, 255))
    context.painter.draw_cached_picture(("icon", "staff"), (x + 10, y + 8, w - 20, h - 16), render_icon)


def _render_key_cap(
    size: tuple[int, int],
    size_units: tuple[float, float],
    light_colour: Colour,
    dark_colour: Colour,
    *,
    is_lit: bool,
    is_pressed: bool,
) -> pygame.Surface:
    """Return the drawing of a key cap: a dark recess, a coloured rim with the lamp, a domed face."""
    w, h = size_units
    canvas = VectorCanvas(size, size_units)
    black = (0, 0, 0, 255)
    if not is_lit:
        light_colour = mix_colours(mix_colours(light_colour, (70, 66, 88, 255), 0.72), black, 0.5)
        dark_colour = mix_colours(dark_colour, black, 0.55)
    canvas.fill_path(build_rounded_box(0, 0, w, h, 22), (4, 3, 9, 255))
    canvas.fill_path(
        build_rounded_box(2, 2, w - 4, h - 3, 21),
        LinearGradient(((0, (92, 86, 116, 255)), (0.2, (34, 30, 50, 255)), (1, (70, 64, 92, 255)))),
    )
    lift = 4.0 if is_pressed else 0.0
    face = build_rounded_box(7, 7 + lift, w - 14, h - 16, 17)
    canvas.fill_path(build_rounded_box(6, 8 + lift, w - 12, h - 14, 18), mix_colours(dark_colour, black, 0.5))
    canvas.fill_path(
        face,
        LinearGradient(
            (
                (0, mix_colours(light_colour, (255, 255, 255, 255), 0.3 if is_lit else 0.06)),
                (0.16, light_colour),
                (0.62, mix_colours(light_colour, dark_colour, 0.6)),
                (1, dark_colour),
            )
        ),
    )
    canvas.fill_inside(
        face, build_ellipse(w / 2, 2 + lift, w * 0.62, h * 0.42), (255, 255, 255, 52 if is_lit else 16)
    )
    if is_lit:
        canvas.stroke_path(face, 2.2, mix_colours(light_colour, (255, 255, 255, 255), 0.45))
    return canvas.finish_surface()


def _render_key_glow(size: tuple[int, int], size_units: tuple[float, float]) -> pygame.Surface:
    """Return the drawing of the light that pulses on the face of a lit key."""
    canvas = VectorCanvas(size, size_units)
    w, h = size_units
    canvas.fill_path(build_rounded_box(7, 7, w - 14, h - 16, 17), (190, 255, 214, 110))
    return canvas.finish_surface()
