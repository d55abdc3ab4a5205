"""All that is drawn, as one frozen value, and how messages, touches and time turn it into the next.

The functions here are the screen's whole behaviour: each takes a view and gives the next one, with the wishes
to send. They read no clock and draw nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from egm.link.messages import (
    BenchCommand,
    BenchReply,
    Decision,
    GameView,
    Hello,
    Intent,
    Message,
    Play,
    Snapshot,
)
from egm.screen import marks
from egm.screen.motion import clamp
from egm.screen.outcome import Field, OutcomeError, Result, read_field, stages_of
from egm.screen.show import Show, Timeline, timeline
from egm.screen.steps import Step, read_steps
from egm.screen.theme import Motion, Theme


class Page(StrEnum):
    """What covers the field: nothing, the help pages, or the game menu."""

    NONE = "none"
    HELP = "help"
    GAMES = "games"


class Scene(StrEnum):
    """What the picture is about; the most pressing one wins."""

    BOOT = "boot"
    LOST = "lost"
    OUT = "out"
    DOOR = "door"
    TILT = "tilt"
    HANDPAY = "handpay"
    PAYING = "paying"
    GAME = "game"
    ATTRACT = "attract"


@dataclass(frozen=True, slots=True)
class Action:
    """What a touch, a key or a button means."""

    name: str
    value: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The screen at one moment. ``now`` is monotonic seconds."""

    now: float = 0.0
    linked: bool = False
    snapshot: Snapshot | None = None
    games: Mapping[str, GameView] = field(default_factory=dict)
    fields: Mapping[str, Mapping[str, Field]] = field(default_factory=dict)
    rest: Step | None = None
    asked_at: float = 0.0
    held: int = 0
    show: Show | None = None
    decision: Decision | None = None
    page: Page = Page.NONE
    sheet: int = 0
    with_bench: bool = False
    drawer_since: float | None = None
    drawer_until: float = -10.0
    bench: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    bench_said: BenchReply | None = None
    bench_linked: bool = False
    pressed: str = ""
    pressed_at: float = -10.0
    active_at: float = 0.0
    scene_at: float = 0.0
    notices_at: float = -10.0
    heard_at: float = 0.0
    credit_before: int = 0
    credit_at: float = -10.0
    volume: int = 2
    reduced_motion: bool = False
    picks: frozenset[int] = frozenset()
    marked_at: float = -10.0

    @property
    def game(self) -> GameView | None:
        """The game on the screen."""
        if self.snapshot is None or self.snapshot.game_id is None:
            return None
        return self.games.get(self.snapshot.game_id)

    @property
    def scene(self) -> Scene:
        """The scene to draw."""
        snapshot = self.snapshot
        if snapshot is None:
            return Scene.BOOT
        if not self.linked:
            return Scene.LOST
        named = {
            "boot": Scene.BOOT,
            "self_test": Scene.BOOT,
            "door_open": Scene.DOOR,
            "tilt": Scene.TILT,
            "handpay": Scene.HANDPAY,
            "paying": Scene.PAYING,
            "out_of_service": Scene.OUT,
        }
        if snapshot.state in named:
            return named[snapshot.state]
        quiet = snapshot.state == "idle" and snapshot.credit_cents == 0 and self.page is Page.NONE
        return Scene.ATTRACT if quiet and self.now - self.active_at > ATTRACT_AFTER else Scene.GAME

    @property
    def time_utc(self) -> str:
        """The time of day, UTC, ISO 8601: the machine's last word and what has passed since."""
        if self.snapshot is None:
            return "1970-01-01T00:00:00+00:00"
        said = datetime.fromisoformat(self.snapshot.time_utc)
        return (said + timedelta(seconds=self.now - self.heard_at)).isoformat()

    @property
    def drawer(self) -> bool:
        """Whether the drawer of simulated peripherals is open."""
        return self.drawer_since is not None

    def accepts(self, name: str) -> bool:
        """Whether the machine would hear this wish now: the lamp of its key."""
        return self.linked and self.snapshot is not None and name in self.snapshot.accepts


#: A notice that comes this soon after a touch answers it, even if it says what the last one said.
ANSWER_SECONDS = 1.0
#: Seconds without a touch, a credit or a game before the attract scene.
ATTRACT_AFTER = 20.0


def times(view: View, theme: Theme) -> Timeline | None:
    """The timeline of the view's show."""
    if view.show is None:
        return None
    play = view.show.play
    return timeline(view.show, theme.motion, theme.celebration(play.win_credits, play.bet_credits))


def playing(view: View, theme: Theme) -> bool:
    """Whether a show is still running."""
    line = times(view, theme)
    return line is not None and view.show is not None and view.now - view.show.began < line.rolled


# ---------------------------------------------------------------------- what happened
def heard(view: View, message: Message) -> View:
    """The view after a machine's message. Raises :class:`OutcomeError` for a display that fits no game."""
    if isinstance(message, Hello):
        fields = {
            game.id: {stage: read_field(game, stage) for stage in stages_of(game)} for game in message.games
        }
        return replace(view, linked=True, games={game.id: game for game in message.games}, fields=fields)
    if isinstance(message, Play):
        return _play(view, message)
    if isinstance(message, Decision):
        held = int(message.display.get("advice", 0)) if message.kind == "hold" else 0
        return replace(
            view, decision=message, asked_at=view.now, held=held, page=Page.NONE, active_at=view.now
        )
    if isinstance(message, Snapshot):
        return _snapshot(view, message)
    return view


def heard_bench(view: View, reply: BenchReply) -> View:
    """The view after the bench answered: the state of every device, or what one hand did."""
    if reply.state and all(isinstance(device, Mapping) for device in reply.state.values()):
        return replace(view, bench=reply.state)
    return replace(view, bench_said=reply)


def _play(view: View, play: Play) -> View:
    if view.show is not None and view.show.play.play_id == play.play_id:
        return replace(view, show=replace(view.show, told=False, play=play))
    fields = view.fields.get(play.game_id, {})
    show = Show(play, view.now, read_steps(fields, play.display), standing(view))
    return replace(view, show=show, decision=None, page=Page.NONE, active_at=view.now)


def last_step(view: View) -> Step | None:
    """What the game on the screen ended with: the last step shown, else the machine's last display."""
    if view.show is not None and view.game is not None and view.show.play.game_id == view.game.id:
        return view.show.steps[-1]
    return view.rest


def standing(view: View) -> Result | None:
    """What the reels stand at."""
    steps: tuple[Step, ...] = (view.rest,) if view.rest is not None else ()
    if view.show is not None and view.game is not None and view.show.play.game_id == view.game.id:
        steps = view.show.steps
    return next((step for step in reversed(steps) if isinstance(step, Result)), None)


def _rest(view: View, snapshot: Snapshot) -> Step | None:
    """The last step of the machine's last display; None where there is none or it fits no game here."""
    if not snapshot.last_display or snapshot.game_id not in view.games:
        return None
    try:
        return read_steps(view.fields.get(snapshot.game_id or "", {}), snapshot.last_display)[-1]
    except OutcomeError:
        return None  # another version's: the reels stand at their first stops


def _snapshot(view: View, snapshot: Snapshot) -> View:
    old = view.snapshot
    changed = replace(view, snapshot=snapshot, linked=True, heard_at=view.now)
    if old is None or old.last_display != snapshot.last_display or old.game_id != snapshot.game_id:
        changed = replace(changed, rest=_rest(view, snapshot))
    bet = marks.marks_of(snapshot.bet_wager)
    let_go = old is not None and not bet and marks.marks_of(old.bet_wager)
    if old is None or old.game_id != snapshot.game_id or let_go:
        changed = replace(changed, picks=bet, marked_at=-10.0)
    if old is None or old.state != snapshot.state:
        changed = replace(changed, scene_at=view.now)
    if old is not None and old.credit_cents != snapshot.credit_cents:
        changed = replace(changed, credit_before=old.credit_cents, credit_at=view.now, active_at=view.now)
    news = old is None or old.notices != snapshot.notices
    answered = view.now - view.pressed_at < ANSWER_SECONDS and snapshot.notices[:1]
    if snapshot.notices and (news or (answered and answered[0].code.startswith("refused"))):
        changed = replace(changed, notices_at=view.now)
    if snapshot.state != "playing" and view.decision is not None:
        changed = replace(changed, decision=None)
    if snapshot.state in {"handpay", "door_open", "tilt", "out_of_service"}:
        changed = replace(changed, page=Page.NONE)
    return changed


def lost(view: View) -> View:
    """The view after the machine's end closed."""
    return replace(view, linked=False, scene_at=view.now)


def ticked(view: View, now: float, theme: Theme) -> tuple[View, tuple[Intent, ...]]:
    """The view at a later moment; tells the machine, once, that a game has been shown."""
    view = replace(view, now=now)
    line = times(view, theme)
    show = view.show
    if show is None or line is None or show.told or now - show.began < line.done:
        return view, ()
    if view.snapshot is None or view.snapshot.state != "playing":
        return view, ()
    return replace(view, show=replace(show, told=True)), (Intent(name="shown", value=show.play.play_id),)


# ---------------------------------------------------------------------- what a person did
def bets(view: View) -> tuple[int, ...]:
    """The bets the game offers, in credits: for a marked Keno card its stakes."""
    if view.game is None:
        return ()
    return marks.stakes(view.game) if view.picks and marks.is_keno(view.game) else view.game.bet_options


def _bet(view: View, step: int) -> tuple[Intent, ...]:
    options = bets(view)
    if view.snapshot is None or not options:
        return ()
    current = view.snapshot.bet_credits
    index = options.index(current) if current in options else 0
    index = len(options) - 1 if step == 0 else max(0, min(len(options) - 1, index + step))
    if view.game is not None and view.picks:
        return marks.bet(view.game, view.picks, options[index])
    return (Intent(name="bet", value=options[index]),)


def pressed(view: View, action: Action, theme: Theme) -> tuple[View, tuple[Intent | BenchCommand, ...]]:
    """The view after an action, with what is to be sent: wishes to the machine, commands to the bench."""
    view = replace(view, pressed=action.name, pressed_at=view.now, active_at=view.now)
    name = action.name
    if name == "play" and view.show is not None and view.show.skipped is None and playing(view, theme):
        line = times(view, theme)
        if line is not None and view.now - view.show.began >= line.spun:
            return replace(view, show=replace(view.show, skipped=view.now)), ()
    own = _answered(view, action)
    if own is not None:
        return own
    wishes = _wishes(view, action)
    if wishes is None:
        return _local(view, name), ()
    stays = name in {"language", "denomination"}
    return view if stays else replace(view, page=Page.NONE), wishes


def _answered(view: View, action: Action) -> tuple[View, tuple[Intent | BenchCommand, ...]] | None:
    """What touches of the field and the drawer do; None for everything else."""
    name, value = action.name, action.value
    held = marks.marks_of(view.snapshot.bet_wager) if view.snapshot is not None else frozenset()
    unfinished = view.picks and view.picks != held  # the machine's bet is not what the player sees marked
    if name == "bench":
        return view, tuple(value)
    if name in {"mark", "quick_pick"}:
        return _mark(view, value if name == "mark" else None)
    if name == "hold" and isinstance(value, int):
        return replace(view, held=view.held ^ (1 << value)), ()
    if name == "play" and view.decision is not None and view.decision.kind == "hold":
        return view, (Intent(name="choose", value=view.held),)
    if name == "play" and unfinished:
        return view, ()  # the status line says how many numbers a card has
    return None


def _mark(view: View, number: Any) -> tuple[View, tuple[Intent, ...]]:
    """Mark a number, or without one leave the numbers to the machine again (a quick pick)."""
    game, snapshot = view.game, view.snapshot
    if game is None or snapshot is None or not marks.is_keno(game) or not view.accepts("bet"):
        return view, ()
    picks = frozenset() if number is None else marks.toggled(game, view.picks, int(number))
    wishes = marks.bet(game, picks, marks.stake_of(snapshot, game))
    return replace(view, picks=picks, marked_at=view.now), wishes


def _wishes(view: View, action: Action) -> tuple[Intent, ...] | None:
    """What an action asks of the machine; None for what is the screen's own business."""
    return {
        "play": (Intent(name="play"),),
        "choose": (
            Intent(name="choose", value=action.value if isinstance(action.value, int | str) else None),
        ),
        "game": (Intent(name="game", value=action.value if isinstance(action.value, str) else None),),
        "denomination": (
            Intent(name="denomination", value=action.value if isinstance(action.value, int) else None),
        ),
        "cash_out": (Intent(name="cash_out"),),
        "service": (Intent(name="service"),),
        "bet_less": _bet(view, -1),
        "bet_more": _bet(view, 1),
        "bet_max": _bet(view, 0),
        "language": _next_language(view),
    }.get(action.name)


def _next_language(view: View) -> tuple[Intent, ...]:
    if view.snapshot is None or len(view.snapshot.languages) < 2:
        return ()
    codes = view.snapshot.languages
    current = codes.index(view.snapshot.language) if view.snapshot.language in codes else -1
    return (Intent(name="language", value=codes[(current + 1) % len(codes)]),)


def _local(view: View, name: str) -> View:
    """What the screen does by itself: pages, volume, the drawer."""
    return {
        "help": lambda: _toggle(view, Page.HELP),
        "games": lambda: _toggle(view, Page.GAMES),
        "close": lambda: replace(view, page=Page.NONE),
        "next": lambda: replace(view, sheet=view.sheet + 1),
        "back": lambda: replace(view, sheet=view.sheet - 1),
        "volume": lambda: replace(view, volume=(view.volume + 1) % 4),
        "drawer": lambda: _slide_drawer(view),
    }.get(name, lambda: view)()


def _toggle(view: View, page: Page) -> View:
    return replace(view, page=Page.NONE if view.page is page else page, sheet=0)


def _slide_drawer(view: View) -> View:
    if not view.with_bench:
        return view
    if view.drawer:
        return replace(view, drawer_since=None, drawer_until=view.now)
    return replace(view, drawer_since=view.now)


def drawer_share(view: View, motion: Motion) -> float:
    """How far the drawer is out, 0 to 1."""
    if view.drawer_since is not None:
        return clamp((view.now - view.drawer_since) / motion.drawer)
    return 1 - clamp((view.now - view.drawer_until) / motion.drawer)
