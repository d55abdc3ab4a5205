"""The complete picture of a view, and the list of all touch targets in it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Final
from zoneinfo import ZoneInfo

import pygame

from egm.screen.keno_slip import is_keno_game
from egm.screen.layout import DECK_KEYS, LANDSCAPE_LAYOUT, Layout, is_inside
from egm.screen.painter import Painter, Rect
from egm.screen.scenes.attract import draw_attract, draw_celebration
from egm.screen.scenes.background import render_background
from egm.screen.scenes.chip_keys import lay_out_table_keys, list_table_touch_targets
from egm.screen.scenes.decision import lay_out_decision_options
from egm.screen.scenes.deck import (
    choose_win_meter_label_key,
    draw_deck,
    draw_meters,
    draw_residual_key,
    draw_staff_key,
)
from egm.screen.scenes.drawer import compute_drawer_tab_rect, draw_drawer, lay_out_controls
from egm.screen.scenes.drawing_context import DrawingContext, draw_focus_frame, draw_frame_lamps
from egm.screen.scenes.feature import apply_feature_colours
from egm.screen.scenes.game_field import draw_game_field
from egm.screen.scenes.help import draw_help, lay_out_page_keys, list_help_page_touch_targets
from egm.screen.scenes.keno import count_tray_rows, list_keno_touch_targets
from egm.screen.scenes.keno_slip_page import draw_slip, list_slip_touch_targets
from egm.screen.scenes.limits_sign import lay_out_small_print
from egm.screen.scenes.lockup import describe_lockup, draw_lockup
from egm.screen.scenes.menu import draw_menu, format_menu_item, format_menu_lines, list_menu_touch_targets
from egm.screen.scenes.moving_money import compute_moving_money_rect, draw_moving_money
from egm.screen.scenes.recall import draw_page, list_page_touch_targets
from egm.screen.scenes.reminder import draw_reminder, find_due_reminder, lay_out_reminder_keys
from egm.screen.scenes.service import format_action, format_page_lines
from egm.screen.scenes.side_panels import draw_side_panels
from egm.screen.scenes.status import choose_status_text_and_colour, draw_status
from egm.screen.scenes.wheel_game import list_area_touch_targets
from egm.screen.text import Texts
from egm.screen.theme import Theme
from egm.screen.view import (
    NO_ACTION,
    Action,
    PlayerPage,
    Scene,
    View,
    build_view_timeline,
    compute_bet_credits,
    compute_drawer_share,
    have_moving_parts_stopped,
    is_presentation_running,
    is_selecting_targets,
)
from egm.screen.wheel_stakes import is_wheel_game

#: Seconds without input after which a late frame would not be noticed.
_SECONDS_WITHOUT_INPUT_MIN: Final = 1.0
#: Endings of a complete sentence.
_SENTENCE_ENDINGS: Final = (".", "!", "?", ":")


@dataclass(frozen=True, slots=True)
class TouchTarget:
    """A touch target: its rectangle and the action it causes."""

    rect: Rect
    action: Action


class Picture:
    """The picture on one screen: it draws views in one theme and at one size. It stores nothing but caches."""

    def __init__(
        self,
        theme: Theme,
        *,
        scale: float = 1.0,
        layout: Layout = LANDSCAPE_LAYOUT,
        timezone: tzinfo | None = None,
    ) -> None:
        self.theme = theme
        self.layout = layout
        self.painter = Painter(theme, scale)
        self._timezone = timezone
        self._texts: dict[tuple[str, str], Texts] = {}
        self._machine_texts: Mapping[str, Mapping[str, str]] = {}

    @property
    def size_pixels(self) -> tuple[int, int]:
        """Return the picture's size in pixels."""
        return (
            self.painter.scale_length(self.layout.size[0]),
            self.painter.scale_length(self.layout.size[1]),
        )

    def find_texts(self, view: View) -> Texts:
        """Return the texts of the view's language."""
        code = view.snapshot.language if view.snapshot else "en"
        time_zone = view.snapshot.time_zone if view.snapshot else ""
        if self._machine_texts is not view.machine_texts_by_language:
            self._machine_texts, self._texts = view.machine_texts_by_language, {}
        if (code, time_zone) not in self._texts:
            local_zone = self._timezone or (ZoneInfo(time_zone) if time_zone else None)
            self._texts[code, time_zone] = Texts(
                code, local_zone, additional_texts=view.machine_texts_by_language
            )
        return self._texts[code, time_zone]

    def draw_view(self, surface: pygame.Surface, view: View) -> None:
        """Draw the view on ``surface``. The view is not changed."""
        self.painter.surface = surface
        context = apply_feature_colours(self._build_context(view))
        surface.blit(render_background(context), (0, 0))
        if view.scene is Scene.SERVICE:
            draw_page(context)
        else:
            _draw_player_area(context, view.scene)
        if view.is_request_accepted("menu"):
            draw_staff_key(context, self.layout.staff_key)
        if _can_give_up_residual_credit(view):
            draw_residual_key(context)
        if view.is_focus_shown and is_selecting_targets(view, self.theme):
            touch_targets = self._list_content_touch_targets(context)
            if touch_targets:
                draw_focus_frame(context, touch_targets[view.focused_target_index % len(touch_targets)].rect)
        draw_meters(context)
        draw_deck(context)
        draw_drawer(context)
        if _can_delay_frame(view):
            # Draw slow backgrounds (a fifth of a second) in advance, not when a feature begins.
            render_background(replace(context, has_feature_colours=True))

    def build_screen_reader_text(self, view: View) -> str:
        """Return the text that screen readers read for the picture.

        On a service page or the game menu it is the focused target and the page's list. Otherwise it is the reason why
        play has stopped, or else the status line, followed by the meters. While the machine starts, it is only what the
        machine waits for; without a connection, it is empty.
        """
        context, snapshot = self._build_context(view), view.snapshot
        if snapshot is None or view.scene in {Scene.STARTING, Scene.CONNECTION_LOST}:
            reason = describe_lockup(context, Scene.STARTING)
            return _join_sentences([reason.title, *reason.lines]) if view.scene is Scene.STARTING else ""
        focused_action = self._find_focused_action(context)
        if view.scene is Scene.SERVICE:
            page = snapshot.service_page
            lines = [] if page is None else format_page_lines(page, context)
            focus_text = (
                "" if page is None or focused_action is None else format_action(page, focused_action, context)
            )
            return _join_sentences((focus_text, *lines))
        if view.player_page is PlayerPage.GAME_MENU:
            focus_text = "" if focused_action is None else format_menu_item(context, focused_action)
            return _join_sentences((focus_text, *format_menu_lines(context)))
        if view.scene in {Scene.GAME, Scene.ATTRACT}:
            lines = [choose_status_text_and_colour(context)[0]]
        else:
            reason = describe_lockup(context, view.scene)
            lines = [reason.title, reason.headline, *reason.lines]
        tournament = snapshot.current_tournament
        credit_label_key = "meter.credit" if tournament is None else "tournament.points"
        lines.append(
            f"{context.texts.translate(credit_label_key)} {context.format_money(snapshot.credit_cents)}"
        )
        if tournament is not None:
            won_text = context.format_money(tournament.won_points * snapshot.denomination_cents)
            lines[:0] = [context.title]
            lines.append(f"{context.texts.translate('tournament.won')} {won_text}")
        bet_cents = compute_bet_credits(view) * snapshot.denomination_cents
        lines.append(f"{context.texts.translate('meter.bet')} {context.format_money(bet_cents)}")
        if snapshot.paid_cents and snapshot.is_between_games:
            win_label = context.texts.translate(choose_win_meter_label_key(context))
            lines.append(f"{win_label} {context.format_money(snapshot.paid_cents)}")
        return _join_sentences(lines)

    def _find_focused_action(self, context: DrawingContext) -> Action | None:
        """Return the action of the focused target, or None if no target has the focus."""
        touch_targets = (
            self._list_content_touch_targets(context)
            if context.view.is_focus_shown and is_selecting_targets(context.view, self.theme)
            else []
        )
        return (
            touch_targets[context.view.focused_target_index % len(touch_targets)].action
            if touch_targets
            else None
        )

    def list_selectable_actions(self, view: View) -> tuple[Action, ...]:
        """Return the actions of the touch targets among which the deck's keys can select, in order.

        They are the targets of the open page, the reminder, the pending decision or the game field. The keys select
        among them while :func:`egm.screen.view.is_selecting_targets` is true.
        """
        return tuple(touch.action for touch in self._list_content_touch_targets(self._build_context(view)))

    def _build_context(self, view: View) -> DrawingContext:
        """Return the drawing context for the scenes: the view, and the layout that suits its game."""
        self.painter.set_game_pictures(view.game)
        has_levels = view.snapshot is not None and bool(view.snapshot.progressives)
        layout = self.layout.with_level_displays() if has_levels else self.layout
        layout = layout.with_open_drawer() if view.is_drawer_open else layout
        if view.game is not None and is_keno_game(view.game):
            layout = layout.with_keno_tray(count_tray_rows(view.game))
        elif is_wheel_game(view.game):
            layout = layout.with_betting_areas()
        elif view.table is not None:
            fact_line_count = 1
            if layout.is_telephone:
                context = DrawingContext(self.painter, self.find_texts(view), layout, view)
                fact_line_count = max(1, len(lay_out_small_print(context, layout.telephone_strip_width)))
            layout = layout.for_table_game(has_levels=has_levels, fact_line_count=fact_line_count)
        return DrawingContext(self.painter, self.find_texts(view), layout, self._remove_hidden_drawer(view))

    def _remove_hidden_drawer(self, view: View) -> View:
        """Return the view, without the drawer of simulated devices if an open player's page hides it in portrait.

        A portrait picture has no room for both.
        """
        is_page_shown_alone = (
            self.layout.is_portrait
            and view.player_page is not PlayerPage.NONE
            and view.scene is not Scene.SERVICE
        )
        return replace(view, has_device_drawer=False) if is_page_shown_alone else view

    def _list_content_touch_targets(self, context: DrawingContext) -> list[TouchTarget]:
        """Return the touch targets of the open page, the reminder, the pending decision, or the game field."""
        view, layout = context.view, context.layout
        targets: list[tuple[Rect, Action]] = []
        if view.scene is Scene.SERVICE:
            targets = list_page_touch_targets(context)
        elif view.player_page is PlayerPage.HELP:
            targets = list_help_page_touch_targets(context)
            targets += [(rect, Action(name)) for name, rect in lay_out_page_keys(layout.player_page).items()]
        elif view.player_page is PlayerPage.GAME_MENU:
            targets = list_menu_touch_targets(view, layout)
        elif view.player_page is PlayerPage.KENO_SLIP:
            targets = list_slip_touch_targets(view, layout)
        elif view.scene is Scene.GAME:
            targets = lay_out_reminder_keys(context) or lay_out_decision_options(context)
            if (
                not targets
                and find_due_reminder(context) is None
                and not is_presentation_running(view, self.theme)
            ):
                targets = [
                    *list_keno_touch_targets(view, layout),
                    *list_area_touch_targets(view, layout),
                    *list_table_touch_targets(view, layout),
                ]
        return [TouchTarget(rect, action) for rect, action in targets]

    def list_touch_targets(self, view: View) -> list[TouchTarget]:
        """Return all touch targets, the topmost first."""
        touch_targets: list[TouchTarget] = []
        if self._remove_hidden_drawer(view).has_device_drawer:
            share = compute_drawer_share(view, self.theme.motion)
            touch_targets.append(
                TouchTarget(
                    compute_drawer_tab_rect(
                        self.layout.drawer_tab, self.layout.drawer, 1.0 if view.is_drawer_open else share
                    ),
                    Action("drawer"),
                )
            )
            if view.is_drawer_open:
                touch_targets += [
                    TouchTarget(c.rect, Action("bench", c.commands))
                    for c in lay_out_controls(self.layout, view, self.find_texts(view))
                ]
                touch_targets.append(TouchTarget(self.layout.drawer, NO_ACTION))
        context = self._build_context(view)
        plate = compute_moving_money_rect(context) if _is_game_visible(view) else None
        if plate is not None and find_due_reminder(context) is None:
            touch_targets.append(TouchTarget(plate, NO_ACTION))
        touch_targets += self._list_content_touch_targets(context)
        if view.table is not None and not view.table.spots and _is_game_visible(view):
            touch_targets += [
                TouchTarget(rect, action) for rect, action in lay_out_table_keys(view, context.layout)
            ]
        if (
            view.table is not None
            and _is_game_visible(view)
            and not have_moving_parts_stopped(view, self.theme)
            and find_due_reminder(context) is None
        ):
            touch_targets.append(TouchTarget(context.layout.game_field, Action("skip")))
        if view.is_request_accepted("menu"):
            touch_targets.append(TouchTarget(self.layout.staff_key, Action("menu")))
        if _can_give_up_residual_credit(view):
            touch_targets.append(TouchTarget(self.layout.status_line, Action("residual")))
        touch_targets += [TouchTarget(self.layout.key_rect_by_name[name], Action(name)) for name in DECK_KEYS]
        return touch_targets

    def find_touched_action(self, view: View, x: float, y: float) -> Action | None:
        """Return the action of a touch at a position in units, or None if there is no target."""
        for touch in self.list_touch_targets(view):
            if is_inside(touch.rect, x, y):
                return None if touch.action == NO_ACTION else touch.action
        return None


def _can_delay_frame(view: View) -> bool:
    """Return whether the next frame may be drawn late, because nobody would notice the delay.

    Nobody notices it if the selected game has several stages, no game is in progress, and nobody has used the machine
    for some time.
    """
    is_unused = (
        view.scene in {Scene.GAME, Scene.ATTRACT}
        and view.now - view.last_activity_at > _SECONDS_WITHOUT_INPUT_MIN
    )
    is_idle = view.snapshot is not None and view.snapshot.is_between_games
    return (
        is_unused and is_idle and view.game is not None and len(view.game.presentation.get("stages", ())) > 1
    )


def _is_game_visible(view: View) -> bool:
    """Return whether the game is visible, with no page in front of it."""
    return view.scene is Scene.GAME and view.player_page is PlayerPage.NONE


def _can_give_up_residual_credit(view: View) -> bool:
    """Return whether the player can now touch the status line to give up or gamble the residual credit.

    Residual credit is credit that is too small for a game and for a coin. False while a page is open.
    """
    can_request = (
        view.snapshot is not None
        and view.snapshot.residual_credit is not None
        and view.is_request_accepted("residual")
    )
    return (
        can_request
        and view.player_page is PlayerPage.NONE
        and view.scene in {Scene.GAME, Scene.OUT_OF_SERVICE}
    )


def _draw_player_area(context: DrawingContext, scene: Scene) -> None:
    """Draw everything above the meters: the game, then overlays such as celebrations, then the open page."""
    view = context.view
    if view.snapshot is not None and scene is not Scene.STARTING:
        draw_game_field(context)
        draw_side_panels(context)
        draw_status(context)
        draw_frame_lamps(context, context.layout.game_field, _choose_lamp_pattern(context, scene))
    if scene is Scene.ATTRACT:
        draw_attract(context)
    elif scene is Scene.GAME:
        draw_celebration(context)
        draw_moving_money(context)
        draw_reminder(context)
    else:
        draw_lockup(context, scene)
    if view.player_page is PlayerPage.HELP:
        draw_help(context)
    elif view.player_page is PlayerPage.GAME_MENU:
        draw_menu(context)
    elif view.player_page is PlayerPage.KENO_SLIP:
        draw_slip(context)


def _choose_lamp_pattern(context: DrawingContext, scene: Scene) -> str:
    """Return the name of the pattern in which the lamps around the game field light up."""
    if scene is Scene.ATTRACT:
        return "chase"
    timeline, presentation = build_view_timeline(context.view, context.theme), context.view.presentation
    if (
        presentation is not None
        and timeline is not None
        and timeline.celebration_level >= 1
        and scene is Scene.GAME
    ):
        elapsed_seconds = context.view.now - presentation.began_at
        if timeline.last_stop_seconds <= elapsed_seconds < timeline.roll_up_end_seconds + 1.5:
            return "win"
    return "chase" if is_presentation_running(context.view, context.theme) else "idle"


def _join_sentences(texts: Iterable[str]) -> str:
    """Join texts to one. Every text but the last gets a full stop, unless it ends in an end mark."""
    *other_texts, last_text = [text for text in texts if text] or [""]
    return (
        "".join(f"{text} " if text.endswith(_SENTENCE_ENDINGS) else f"{text}. " for text in other_texts)
        + last_text
    )
