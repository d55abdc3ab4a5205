"""The view: everything that is drawn, as one immutable value.

:mod:`egm.screen.message_reducer` computes the next view from a message or from time, :mod:`egm.screen.input_reducer`
from a person's input. The scenes draw it. This module reads no clock and draws nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from egm.kernel.messages import BenchCommand, BenchReply, DecisionRequest, GameView, Notice, Snapshot
from egm.kernel.service_pages import ServicePage
from egm.links.screen.start_up_activity import StartUpActivity
from egm.screen import keno_slip
from egm.screen.motion import clamp_to_unit_interval
from egm.screen.presentation import OutcomePresentation, PresentationTimeline, build_timeline
from egm.screen.reel_data import ReelData, ReelSpin
from egm.screen.service_input import KEYBOARD_PROMPT_KINDS, ServicePageInput
from egm.screen.steps import DisplayStep
from egm.screen.table import ChipsOnTable, TableGameData, read_registered_bets
from egm.screen.theme import MotionSettings, Theme


class PlayerPage(StrEnum):
    """The page that a player has opened over the game: none, help, the game menu, or a telephone's Keno slip."""

    NONE = "none"
    HELP = "help"
    GAME_MENU = "games"
    KENO_SLIP = "slip"


class Scene(StrEnum):
    """The subject of the whole picture, such as the game, a hand-pay or an open door.

    If several apply, the most urgent is drawn.
    """

    STARTING = "boot"
    CONNECTION_LOST = "lost"
    OUT_OF_SERVICE = "out"
    DOOR = "door"
    TILT = "tilt"
    HANDPAY = "handpay"
    PAYING = "paying"
    LOCKED_BY_HOST = "locked"
    SERVICE = "service"
    GAME = "game"
    ATTRACT = "attract"


@dataclass(frozen=True, slots=True)
class Action:
    """The meaning of a touch, a key or a button: the name of an action, and its value."""

    name: str
    value: Any = None
    typed_character: str = ""
    """The character that the key types, or empty.

    While a text field is open, the key types this character and has no other effect.
    """


#: The action of a touch target that does nothing, but covers the targets below it.
NO_ACTION: Final = Action("")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Everything that the screen shows at one moment, as one immutable value.

    Fields whose names end in ``at`` are monotonic times in seconds, as ``now`` is.
    """

    now: float = 0.0
    is_machine_connected: bool = False
    """Whether the screen is connected to the machine."""
    disconnected_at: float = 0.0
    """When the connection to the machine was lost, or when the screen began without one."""
    snapshot: Snapshot | None = None
    """The machine's latest snapshot; None until the first arrives."""
    start_up_activity: StartUpActivity | None = None
    """The start-up progress of a machine that is starting, for the first time or again; None otherwise."""
    game_by_id: Mapping[str, GameView] = field(default_factory=dict)
    """The games that the machine has published, by id: those on offer, and a withdrawn game of an open round."""
    reel_data_by_game: Mapping[str, Mapping[str, ReelData]] = field(default_factory=dict)
    """The reel data of each game stage played on reels, by game id and then by stage."""
    machine_texts_by_language: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Texts that the machine adds to the catalogues, by language and then by key."""
    table_by_game: Mapping[str, TableGameData] = field(default_factory=dict)
    """The table data of each table game, by the game's id."""
    last_display_step: DisplayStep | None = None
    """The last step of the outcome in the latest snapshot, or None. It is drawn while no game is presented."""
    marked_items_mask: int = 0
    """The reels or cards that are marked in a decision, as a bit mask.

    When the decision appears, those that the game advises are marked.
    """
    focused_target_index: int = 0
    """The index of the touch target that the keys have selected."""
    is_focus_shown: bool = False
    """Whether the player is selecting targets with the keys. Only then is the selected target highlighted."""
    presentation: OutcomePresentation | None = None
    """The presentation of the current or last game, or None if no presentation is to be shown.

    No presentation is shown before the first game, after another game was selected, and after the win or the credit
    was paid out.
    """
    next_play_pressed_at: float | None = None
    """When PLAY was pressed during the presentation to start the next game after it; None if it was not."""
    decision: DecisionRequest | None = None
    """The player's pending decision, or None."""
    player_page: PlayerPage = PlayerPage.NONE
    sheet_index: int = 0
    """Which sheet of the open page is shown, counted from 0."""
    has_device_drawer: bool = False
    """Whether the screen was started with the drawer of simulated devices."""
    drawer_opening_began_at: float | None = None
    """When the drawer of simulated devices began to open; None while it is closed or closing."""
    drawer_closing_began_at: float = -10.0
    """When the drawer of simulated devices last began to close."""
    state_by_device: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The state of each simulated device (door, bill acceptor ...), by its name."""
    bench_commands: tuple[BenchCommand, ...] = ()
    """The commands that the drawer last sent to the bench."""
    bench_reply: BenchReply | None = None
    """The bench's reply to ``bench_commands``, or None."""
    bench_reply_at: float = -10.0
    is_bench_connected: bool = False
    """Whether the screen is connected to the bench, the process that simulates the machine's devices."""
    is_key_turn_pending: bool = False
    """Whether the simulated operator's key is to be turned, as soon as the bench has reported its position."""
    last_action_name: str = ""
    """The name of a person's last action, such as the action of the key pressed last."""
    pressed_at: float = -10.0
    """When a person last touched, pressed or typed something, which set ``last_action_name``."""
    last_activity_at: float = 0.0
    """When a person last used the machine, or a game or the credit changed."""
    scene_began_at: float = 0.0
    """When the scene that is drawn now appeared."""
    latest_notice: Notice | None = None
    """The latest notice of the machine to the player that still applies, or None."""
    notice_received_at: float = -10.0
    """When ``latest_notice`` arrived."""
    snapshot_received_at: float = 0.0
    """When ``snapshot`` arrived."""
    previous_cents_by_level: Mapping[str, int] = field(default_factory=dict)
    """The amount of each progressive level before its last change, in minor units, by level id."""
    levels_changed_at: float = -10.0
    """When the progressive levels last changed."""
    cents_before_win_by_level: Mapping[str, int] = field(default_factory=dict)
    """The amount that each progressive level had before it was won in the current game, in minor units, by id."""
    previous_credit_cents: int = 0
    """The credit before its last change, in minor units."""
    credit_changed_at: float = -10.0
    """When the credit last changed."""
    volume_step: int = 2
    """The volume step, from 0 (silent) to 3."""
    is_motion_reduced: bool = False
    """Whether less movement is shown, as the player's browser or the start of the screen requested."""
    marked_keno_slip: keno_slip.KenoSlip = field(default_factory=keno_slip.KenoSlip)
    """The player's marks in a Keno game."""
    bet_touched_at: float = -10.0
    """When the player last touched the Keno board, or a spot or bet key of a table."""
    chips: ChipsOnTable = field(default_factory=ChipsOnTable)
    """The player's chips at a table game: new bets, undo history and selected tool."""
    is_scoreboard_wanted: bool = True
    """Whether the player wants to see a table's scoreboard."""
    scoreboard_chosen_at: float = -10.0
    """When the player last opened or closed the scoreboard."""
    has_four_suit_colours: bool = False
    """Whether each suit of the cards is drawn in its own colour, as the player chose."""
    page_input: ServicePageInput = field(default_factory=ServicePageInput)
    """The unfinished input on the open service page."""
    recalled_view: "View | None" = None
    """A view of the past game that the open service page recalls, as the player saw it; None on other pages."""

    @property
    def game(self) -> GameView | None:
        """Return the game that is selected on the machine, or None."""
        if self.snapshot is None or self.snapshot.game_id is None:
            return None
        return self.game_by_id.get(self.snapshot.game_id)

    @property
    def table(self) -> TableGameData | None:
        """Return the table data of the selected game, or None if it is not a table game."""
        return None if self.game is None else self.table_by_game.get(self.game.id)

    @property
    def service_page(self) -> ServicePage | None:
        """Return the open service page, or None."""
        return None if self.snapshot is None else self.snapshot.service_page

    @property
    def denomination_cents(self) -> int:
        """Return the value of one credit, in minor units; 1 before the machine's first snapshot."""
        return 1 if self.snapshot is None else self.snapshot.denomination_cents

    @property
    def selected_game_presentation(self) -> OutcomePresentation | None:
        """Return ``presentation`` if it is of the game that is selected now, otherwise None."""
        presentation, game = self.presentation, self.game
        if presentation is None or game is None or presentation.outcome.game_id != game.id:
            return None
        return presentation

    @property
    def scene(self) -> Scene:
        """Return the scene to draw now.

        It is the service page if one is open, or else the reason why play has stopped, or else the game. If nobody has
        used a machine without credit for some time, it is the attract scene.
        """
        snapshot = self.snapshot
        if snapshot is None or (not self.is_machine_connected and self.start_up_activity is not None):
            return Scene.STARTING
        if not self.is_machine_connected:
            return Scene.CONNECTION_LOST
        if snapshot.service_page is not None:
            return Scene.SERVICE
        scene_by_state = {
            "boot": Scene.STARTING,
            "self_test": Scene.STARTING,
            "door_open": Scene.DOOR,
            "tilt": Scene.TILT,
            "handpay": Scene.HANDPAY,
            "paying": Scene.PAYING,
            "locked": Scene.LOCKED_BY_HOST,
            "out_of_service": Scene.OUT_OF_SERVICE,
        }
        if snapshot.state in scene_by_state:
            return scene_by_state[snapshot.state]
        has_no_money = snapshot.credit_cents == 0 and not snapshot.standing_credits_by_spot
        is_unused = snapshot.state == "idle" and has_no_money and self.player_page is PlayerPage.NONE
        return (
            Scene.ATTRACT
            if is_unused and self.now - self.last_activity_at > ATTRACT_DELAY_SECONDS
            else Scene.GAME
        )

    @property
    def time_utc(self) -> str:
        """Return the present time (UTC, ISO 8601): the last snapshot's time plus the time since it arrived."""
        if self.snapshot is None:
            return "1970-01-01T00:00:00+00:00"
        reported_time = datetime.fromisoformat(self.snapshot.time_utc)
        return (reported_time + timedelta(seconds=self.now - self.snapshot_received_at)).isoformat()

    @property
    def is_drawer_open(self) -> bool:
        """Return whether the drawer of simulated devices is open."""
        return self.drawer_opening_began_at is not None

    def is_request_accepted(self, request_name: str) -> bool:
        """Return whether the machine would accept the named request now. If so, the key of the request is lit."""
        return (
            self.is_machine_connected
            and self.snapshot is not None
            and request_name in self.snapshot.accepted_inputs
        )


#: The attract scene appears when nobody has used the machine, and neither game nor credit changed, for this time.
ATTRACT_DELAY_SECONDS: Final = 20.0


def build_view_timeline(view: View, theme: Theme) -> PresentationTimeline | None:
    """Return the times of the presentation of a game's outcome, or None if there is no presentation."""
    if view.presentation is None:
        return None
    outcome = view.presentation.outcome
    new_win_credits = outcome.returned_credits - view.presentation.presented_credits
    celebration_level = theme.find_celebration_level(new_win_credits, outcome.bet_credits)
    if outcome.progressives or outcome.prizes:
        celebration_level = len(theme.celebration_levels) - 1
    return build_timeline(
        view.presentation, theme.motion, celebration_level, is_motion_reduced=view.is_motion_reduced
    )


def is_presentation_running(view: View, theme: Theme) -> bool:
    """Return whether the steps of a game's outcome, or the roll-up of its win, are still being presented."""
    timeline = build_view_timeline(view, theme)
    return (
        timeline is not None
        and view.presentation is not None
        and view.now - view.presentation.began_at < timeline.roll_up_end_seconds
    )


def have_moving_parts_stopped(view: View, theme: Theme) -> bool:
    """Return whether all moving parts of the presented game have stopped; True if no game is presented."""
    timeline = build_view_timeline(view, theme)
    return (
        timeline is None
        or view.presentation is None
        or view.now - view.presentation.began_at >= timeline.last_stop_seconds
    )


def is_decision_due(view: View, theme: Theme) -> bool:
    """Return whether a player decision is pending and the steps that lead to it have been presented."""
    timeline = build_view_timeline(view, theme)
    if view.decision is None or view.presentation is None or timeline is None:
        return view.decision is not None
    due_seconds = (
        timeline.roll_up_end_seconds if view.decision.kind == "double_up" else timeline.last_stop_seconds
    )
    return view.now - view.presentation.began_at >= due_seconds


def is_decision_by_marking(view: View) -> bool:
    """Return whether the player makes the pending decision by marking reels or cards and confirming with PLAY."""
    return view.decision is not None and bool(view.decision.options) and view.decision.kind in {"hold", "set"}


def is_text_field_open(view: View) -> bool:
    """Return whether a text field is open. Characters typed on a keyboard then go into it."""
    page = view.service_page if view.scene is Scene.SERVICE else None
    return page is not None and page.prompt is not None and page.prompt.kind in KEYBOARD_PROMPT_KINDS


def is_marked_option_permitted(view: View) -> bool:
    """Return whether the marked reels or cards are a permitted option of the pending decision.

    Only a decision of the kind ``set`` limits what may be marked; for any other, the result is True.
    """
    decision = view.decision
    return decision is not None and (decision.kind != "set" or view.marked_items_mask in decision.options)


def is_selecting_targets(view: View, theme: Theme) -> bool:
    """Return whether the deck's keys now select touch targets: of an open page, a decision or a felt."""
    if view.scene is Scene.SERVICE:
        return True
    if can_place_chips(view, theme):
        return True
    return view.player_page is not PlayerPage.NONE or (
        view.decision is not None and is_decision_due(view, theme)
    )


def can_place_chips(view: View, theme: Theme) -> bool:
    """Return whether chips can be placed on a table's spots now.

    The deck's keys then move the focus among the spots, and PLAY starts the round.
    """
    table = view.table
    if (
        table is None
        or not table.spots
        or not view.is_request_accepted("bet")
        or view.scene is not Scene.GAME
    ):
        return False
    return (
        view.player_page is PlayerPage.NONE
        and not is_presentation_running(view, theme)
        and not is_dismissible_reminder_shown(view)
    )


def is_dismissible_reminder_shown(view: View) -> bool:
    """Return whether a reminder is shown that the player may dismiss."""
    return (
        view.snapshot is not None
        and view.snapshot.reminder is not None
        and view.is_request_accepted("acknowledge")
    )


def compute_seconds_since(view: View, time_utc: str) -> float:
    """Return the seconds from ``time_utc`` (ISO 8601, UTC) to the present time of the view; negative if it is later."""
    return (datetime.fromisoformat(view.time_utc) - datetime.fromisoformat(time_utc)).total_seconds()


def find_last_step(view: View) -> DisplayStep | None:
    """Return the last step of the presentation of the selected game, even before that step is shown.

    Without a presentation, return the last step of the outcome that the machine reported most recently.
    """
    presentation = view.selected_game_presentation
    return view.last_display_step if presentation is None else presentation.steps[-1]


def has_touched_bets_since_game(view: View) -> bool:
    """Return whether the player has touched the Keno board, or a spot or bet key of a table, since the last game.

    If so, the Keno board shows the marks instead of the last draw.
    """
    # Before the first game, any touch counts. The default of ``bet_touched_at`` (-10.0, no touch) is less than -9.0.
    return view.bet_touched_at > (view.presentation.began_at if view.presentation is not None else -9.0)


def should_show_scoreboard(view: View) -> bool:
    """Return whether to show a table's scoreboard.

    After a round, the cards of the round are shown instead, until the next bet or until the player opens the
    scoreboard.
    """
    are_cards_shown = (
        view.presentation is not None
        and not has_touched_bets_since_game(view)
        and view.scoreboard_chosen_at <= view.presentation.began_at
    )
    return view.is_scoreboard_wanted and not are_cards_shown


def find_last_reel_spin(view: View) -> ReelSpin | None:
    """Return the last reel spin of the presentation of the selected game, even before it is shown, or None.

    Without a presentation, return the one that the machine reported last.
    """
    steps: tuple[DisplayStep, ...] = (view.last_display_step,) if view.last_display_step is not None else ()
    if view.selected_game_presentation is not None:
        steps = view.selected_game_presentation.steps
    return next((step for step in reversed(steps) if isinstance(step, ReelSpin)), None)


def list_available_bets(view: View) -> tuple[int, ...]:
    """Return the bets that the player can choose in the game, in credits.

    If a Keno card is marked, these are its possible stakes; for a preset ticket, its possible prices.
    """
    game, snapshot = view.game, view.snapshot
    if game is None or snapshot is None:
        return ()
    if not keno_slip.is_keno_game(game):
        return list_offered_costs(view)
    if not view.marked_keno_slip.has_marks:
        prices = keno_slip.list_preset_ticket_prices(
            game, keno_slip.find_current_preset_ticket(game, snapshot)
        )
        return tuple(price for price in prices if is_cost_within_limits(snapshot, price))
    default_stake = keno_slip.find_current_stake(snapshot, game)
    return tuple(
        stake
        for stake in keno_slip.list_permitted_stakes(game)
        if is_cost_within_limits(
            snapshot,
            keno_slip.compute_slip_price(game, view.marked_keno_slip.with_stake(stake, default_stake), stake),
        )
    )


def list_offered_costs(view: View) -> tuple[int, ...]:
    """Return the costs of the bets on offer, in credits, without those outside the venue's limits."""
    if view.game is None or view.snapshot is None:
        return ()
    return tuple(bet for bet in view.game.bet_options if is_cost_within_limits(view.snapshot, bet))


def is_cost_within_limits(snapshot: Snapshot, cost_credits: int) -> bool:
    """Return whether a bet that costs ``cost_credits`` credits is within the venue's limits."""
    cost_cents = cost_credits * snapshot.denomination_cents
    bet_max_cents = snapshot.bet_max_cents
    return snapshot.bet_min_cents <= cost_cents and (bet_max_cents is None or cost_cents <= bet_max_cents)


def has_unsent_bet(view: View) -> bool:
    """Return whether the marks or chips on the screen differ from the bet that the machine has registered."""
    table = view.table
    if table is not None and table.spots and view.snapshot is not None:
        return dict(view.chips.bets) != dict(read_registered_bets(table, view.snapshot))
    if view.snapshot is None or not keno_slip.is_keno_game(view.game) or not view.marked_keno_slip.has_marks:
        return False
    return (
        view.marked_keno_slip.with_first_card_current
        != keno_slip.build_slip_from_wager(view.snapshot.bet_wager).with_first_card_current
    )


def compute_bet_credits(view: View) -> int:
    """Return how many credits a press of PLAY would stake.

    It is the machine's bet, or the price of the player's marks or chips while the machine has not registered them yet.
    It is 0 if the marks make no valid ticket; PLAY then does nothing. While a game is open, it is the stake of this
    game so far.
    """
    if view.snapshot is None:
        return 0
    if view.snapshot.staked_cents:
        return view.snapshot.staked_cents // max(1, view.snapshot.denomination_cents)
    if view.game is None or not has_unsent_bet(view):
        return view.snapshot.bet_credits
    if view.table is not None:
        return view.chips.credits
    if not keno_slip.is_valid_slip(view.game, view.marked_keno_slip):
        return 0
    return keno_slip.compute_slip_price(
        view.game, view.marked_keno_slip, keno_slip.find_current_stake(view.snapshot, view.game)
    )


def compute_drawer_share(view: View, motion: MotionSettings) -> float:
    """Return how far the drawer of simulated devices is open, 0 to 1."""
    if view.drawer_opening_began_at is not None:
        return clamp_to_unit_interval((view.now - view.drawer_opening_began_at) / motion.drawer_slide_seconds)
    return 1 - clamp_to_unit_interval((view.now - view.drawer_closing_began_at) / motion.drawer_slide_seconds)
