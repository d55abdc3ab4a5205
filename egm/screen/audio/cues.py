"""The sound cues to play when one view follows another: sounds of events, and loops that last as long as a state.

Sounds are requested by the names of their cues only (:data:`egm.screen.audio.scores.SOUND_CUE_BY_NAME`). Loops are not
started and stopped by events. Each view determines which of them play, so a feature's music cannot outlast the feature.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from egm.screen.audio.mixer import SoundOutput
from egm.screen.audio.scores import ALARM_CUES, REEL_STOP_SOUND_COUNT, SOUND_CUE_BY_NAME, TEST_TONES_HZ
from egm.screen.audio.sound_store import SoundStore, build_game_family_name
from egm.screen.presentation import (
    PresentationTimeline,
    find_anticipated_reel,
    has_feature_title_card,
    is_feature_step,
)
from egm.screen.steps import DoubleUpStep, KenoStep, PickStep, WheelStep
from egm.screen.theme import Theme
from egm.screen.view import ATTRACT_DELAY_SECONDS, Scene, View, build_view_timeline

#: Loudness of each volume step, as a share of full loudness.
LOUDNESS_BY_VOLUME_STEP: Final = (0.0, 0.25, 0.55, 1.0)
#: The minimum loudness of an alarm, at whatever volume step (J-17).
ALARM_LOUDNESS_MIN: Final = 0.5
#: Seconds for which no other sound but an alarm replaces an alarm.
ALARM_PROTECTED_SECONDS: Final = 2.0
#: Seconds between the attract tunes of an idle machine.
ATTRACT_INTERVAL_SECONDS: Final = 90.0
#: Changes of a loop's loudness that are smaller than this are not applied.
_LOOP_LOUDNESS_CHANGE_MIN: Final = 1e-3


def compute_loudness(cue: str, volume_step: int, maximum_percent: int = 100) -> float:
    """Return the loudness (0 to 1) of a sound cue at a volume step.

    The loudness of the step is multiplied by ``maximum_percent``, the venue's maximum. Alarms and test tones
    have a minimum loudness that applies at every volume step and every maximum.
    """
    loudness = LOUDNESS_BY_VOLUME_STEP[volume_step] * maximum_percent / 100
    return max(loudness, ALARM_LOUDNESS_MIN) if cue in ALARM_CUES or cue in TEST_TONES_HZ else loudness


def is_cue_allowed(cue: str, view: View) -> bool:
    """Return whether a sound cue may be played.

    A host can forbid all sounds, or only those of game play. Alarms (J-17) and test tones are always allowed.
    """
    allowed_sounds = "on" if view.snapshot is None else view.snapshot.allowed_sound
    is_of_game_play = cue not in SOUND_CUE_BY_NAME or SOUND_CUE_BY_NAME[cue].is_of_game_play
    return (
        cue in ALARM_CUES
        or cue in TEST_TONES_HZ
        or allowed_sounds == "on"
        or (allowed_sounds == "no_play" and not is_of_game_play)
    )


class _PlayingLoop(NamedTuple):
    """A looped sound that is playing on a channel."""

    cue: str
    sound_family: str
    loudness: float


class SoundPlayer:
    """The control of the sound output: plays the sounds that a change of the view causes; silent without speakers."""

    def __init__(
        self, theme: Theme, speakers: SoundOutput | None = None, sound_store: SoundStore | None = None
    ) -> None:
        self._theme = theme
        self._speakers = speakers
        self._sound_store = sound_store
        self._loop_by_channel: dict[str, _PlayingLoop] = {}
        self._alarm_until = 0.0
        self._touch_sound_count = 0

    def play_changes(self, previous_view: View, current_view: View) -> None:
        """Play the sounds of what has happened between two successive views, and start or stop looped sounds."""
        if self._speakers is None:
            return
        sound_family = find_sound_family(current_view, self._theme)
        if self._sound_store is not None and (
            current_view.game_by_id is not previous_view.game_by_id
            or current_view.game is not previous_view.game
        ):
            self._request_sounds(self._sound_store, sound_family, current_view)
        self._update_loops(current_view, sound_family, self._speakers)
        for cue in list_cues_between(previous_view, current_view, self._theme):
            self._play_once(
                cue, self._choose_sound_family(cue, sound_family, current_view), current_view, self._speakers
            )

    def _request_sounds(self, sound_store: SoundStore, sound_family: str, view: View) -> None:
        """Request the synthesis of the sounds of all games, and store the sounds that the games supply.

        The sounds of ``sound_family``, the family of the game on the screen, come first.
        """
        looks = (
            self._theme.find_look(game.id, game.family, game.art.look) for game in view.game_by_id.values()
        )
        sound_store.request_families(sound_family, *(look.name for look in looks))
        for game in view.game_by_id.values():
            sound_store.store_game_sounds(game)

    def _compute_present_loudness(self, cue: str, view: View) -> float:
        """Return the loudness, 0 to 1, at which a sound cue is played now; 0 while it is silent."""
        maximum_percent = 100 if view.snapshot is None else view.snapshot.loudness_percent
        return compute_loudness(cue, view.volume_step, maximum_percent) if is_cue_allowed(cue, view) else 0.0

    def _choose_sound_family(self, cue: str, sound_family: str, view: View) -> str:
        """Return the family whose sound is played for a cue.

        It is the game's own family if the game supplies a usable sound for the cue; otherwise ``sound_family``, the
        family of the game's look.
        """
        game = view.game
        own_family = "" if game is None or cue not in game.art.sounds else build_game_family_name(game)
        return (
            own_family
            if own_family
            and self._sound_store is not None
            and self._sound_store.find_sound(cue, own_family) is not None
            else sound_family
        )

    def _is_synthesised(self, cue: str, sound_family: str) -> bool:
        """Return whether the sound of a cue in a family has been synthesised. Without a sound store, return True."""
        return self._sound_store is None or self._sound_store.find_sound(cue, sound_family) is not None

    def _update_loops(self, view: View, sound_family: str, speakers: SoundOutput) -> None:
        """Stop looped sounds that no longer apply, start new ones, and set the loudness of those that continue."""
        loops_to_play = list_loops_to_play(view, self._theme)
        for channel, (cue, chosen_family, loudness) in list(self._loop_by_channel.items()):
            if loops_to_play.get(channel) != cue or chosen_family != self._choose_sound_family(
                cue, sound_family, view
            ):
                del self._loop_by_channel[channel]
                speakers.stop(channel)
            elif abs(loudness - self._compute_present_loudness(cue, view)) > _LOOP_LOUDNESS_CHANGE_MIN:
                self._loop_by_channel[channel] = _PlayingLoop(
                    cue, chosen_family, self._compute_present_loudness(cue, view)
                )
                speakers.set_loudness(channel, self._loop_by_channel[channel].loudness)
        for channel, cue in loops_to_play.items():
            loudness = self._compute_present_loudness(cue, view)
            chosen_family = self._choose_sound_family(cue, sound_family, view)
            if (
                channel in self._loop_by_channel
                or loudness <= 0
                or not self._is_synthesised(cue, chosen_family)
            ):
                continue
            if channel == "lead" and view.now < self._alarm_until:
                continue
            if cue == "turn" and "lead" not in self._loop_by_channel and view.now >= self._alarm_until:
                speakers.stop("lead")  # Stop the sound of the last win.
            self._loop_by_channel[channel] = _PlayingLoop(cue, chosen_family, loudness)
            speakers.play(cue, chosen_family, channel, loudness)

    def _play_once(self, cue: str, sound_family: str, view: View, speakers: SoundOutput) -> None:
        """Play a sound cue, unless it is silent now or an alarm sounds on its channel."""
        loudness, channel = self._compute_present_loudness(cue, view), SOUND_CUE_BY_NAME[cue].channel
        if loudness <= 0:
            return
        if cue in ALARM_CUES:
            self._alarm_until = view.now + ALARM_PROTECTED_SECONDS
        elif channel == "lead" and view.now < self._alarm_until:
            return
        if channel == "touch":  # Two touch sounds may overlap.
            self._touch_sound_count += 1
            channel = ("touch", "touch_2")[self._touch_sound_count % 2]
        speakers.play(cue, sound_family, channel, loudness)


def find_sound_family(view: View, theme: Theme) -> str:
    """Return the name of the sound family of the game on the screen, which is the name of the game's look.

    If no game is selected, return the look of the first game or, before any game is known, the first look.
    """
    game = view.game or next(iter(view.game_by_id.values()), None)
    return (
        next(iter(theme.look_by_name))
        if game is None
        else theme.find_look(game.id, game.family, game.art.look).name
    )


# ---------------------------------------------------------------------- loops
def list_loops_to_play(view: View, theme: Theme) -> Mapping[str, str]:
    """Return the cues of the looped sounds to play now, by the channel on which each is played."""
    presentation, timeline = view.presentation, build_view_timeline(view, theme)
    if view.scene is not Scene.GAME or presentation is None or timeline is None:
        return {}
    elapsed_seconds = view.now - presentation.began_at
    cue_by_channel: dict[str, str] = {}
    if is_feature_shown(view, timeline, elapsed_seconds):
        cue_by_channel["music"] = "feature"
    step_index = _find_step_index_at(timeline, elapsed_seconds)
    step, step_times = presentation.steps[step_index], timeline.steps[step_index]
    has_turning_parts = not isinstance(step, DoubleUpStep | PickStep | KenoStep)
    if (
        has_turning_parts
        and step_times.stop_seconds
        and step_times.start_seconds <= elapsed_seconds < max(step_times.stop_seconds)
    ):
        cue_by_channel["turn"] = "turn"
        if find_anticipated_reel(step, step_times, elapsed_seconds) is not None:
            cue_by_channel["lead"] = "anticipation"
    elif (
        timeline.celebration_level > 0
        and timeline.last_stop_seconds <= elapsed_seconds < timeline.roll_up_end_seconds
    ):
        cue_by_channel["turn"] = "count"
    return cue_by_channel


def is_feature_shown(view: View, timeline: PresentationTimeline, elapsed_seconds: float) -> bool:
    """Return whether a feature of the game is on the screen ``elapsed_seconds`` after its presentation began.

    ``timeline`` has the presentation's times. After the roll-up of the win, the feature counts as shown only while the
    player has a decision to make.
    """
    presentation = view.presentation
    if presentation is None or not is_feature_step(
        presentation, _find_step_index_at(timeline, elapsed_seconds)
    ):
        return False
    return elapsed_seconds < timeline.roll_up_end_seconds or view.decision is not None


def _find_step_index_at(timeline: PresentationTimeline, elapsed_seconds: float) -> int:
    """Return the index of the display step that is on the screen ``elapsed_seconds`` after the presentation began."""
    return max(
        (
            i
            for i, step_times in enumerate(timeline.steps)
            if step_times.title_card_start_seconds <= elapsed_seconds
        ),
        default=0,
    )


# ---------------------------------------------------------------------- events
def list_cues_between(previous_view: View, current_view: View, theme: Theme) -> list[str]:
    """Return the sound cues of what has happened between two successive views, in order."""
    cues: list[str] = []
    old_snapshot, new_snapshot = previous_view.snapshot, current_view.snapshot
    if current_view.volume_step != previous_view.volume_step:
        cues.append("coin")  # Plays at the new volume.
    elif current_view.pressed_at > previous_view.pressed_at and current_view.last_action_name:
        cues.append("key")
    if (
        current_view.notice_received_at > previous_view.notice_received_at
        and new_snapshot
        and any(n.severity != "info" for n in new_snapshot.notices)
    ):
        cues.append("refused")
    if current_view.page_input.tone_played_at > previous_view.page_input.tone_played_at:
        cues = [current_view.page_input.last_tone]  # Only the tone: a key's click could be mistaken for it.
    cues += _list_money_cues(previous_view, current_view)
    if (
        new_snapshot
        and new_snapshot.reminder
        and (old_snapshot is None or old_snapshot.reminder != new_snapshot.reminder)
    ):
        cues.append("reminder")
    if current_view.scene is not previous_view.scene and old_snapshot is not None:
        if current_view.scene in {Scene.DOOR, Scene.TILT}:
            cues.append("alarm")
        elif current_view.scene is Scene.HANDPAY:
            cues.append("jackpot")
    if current_view.scene is Scene.ATTRACT and _count_attract_tunes_since_activity(
        previous_view
    ) < _count_attract_tunes_since_activity(current_view):
        cues.append("attract")
    return cues + _list_game_cues(previous_view, current_view, theme)


def _count_attract_tunes_since_activity(view: View) -> int:
    """Return how many times an idle machine should have played its attract tune since the last activity."""
    attract_seconds = view.now - view.last_activity_at - ATTRACT_DELAY_SECONDS
    if view.scene is not Scene.ATTRACT or attract_seconds < 0:
        return 0
    return 1 + int(attract_seconds // ATTRACT_INTERVAL_SECONDS)


def _list_money_cues(previous_view: View, current_view: View) -> list[str]:
    """Return the sound cues for credit added between games, for a payout that begins, and for a printed ticket."""
    old_snapshot, new_snapshot = previous_view.snapshot, current_view.snapshot
    if old_snapshot is None or new_snapshot is None or new_snapshot is old_snapshot:
        return []
    notice_code = (
        new_snapshot.notices[0].code
        if new_snapshot.notices and current_view.notice_received_at > previous_view.notice_received_at
        else ""
    )
    if notice_code == "ticket_printed" or (new_snapshot.payout is not None and old_snapshot.payout is None):
        return ["paper" if new_snapshot.payout is None or new_snapshot.payout.method == "ticket" else "coin"]
    if (
        new_snapshot.state == old_snapshot.state == "idle"
        and new_snapshot.credit_cents > old_snapshot.credit_cents
    ):
        return ["coin" if notice_code == "coins_accepted" else "credit"]
    return []


def _list_game_cues(previous_view: View, current_view: View, theme: Theme) -> list[str]:
    """Return the sound cues of a game's events: stops of parts, beginnings and ends of features, and wins.

    A win below the stake has no sound (N-10).
    """
    presentation, timeline = current_view.presentation, build_view_timeline(current_view, theme)
    if presentation is None or timeline is None or current_view.scene is not Scene.GAME:
        return []
    previous_time, current_time = (
        previous_view.now - presentation.began_at,
        current_view.now - presentation.began_at,
    )
    cues: list[str] = []
    for step_index, (step, step_times) in enumerate(zip(presentation.steps, timeline.steps, strict=True)):
        has_title_card = has_feature_title_card(presentation, step_index)
        if previous_time <= step_times.title_card_start_seconds < current_time and has_title_card:
            cues.append("title")
        for part_index, stop in enumerate(step_times.stop_seconds):
            if previous_time < stop <= current_time:
                cues.append(_choose_stop_cue(step, part_index))
    if timeline.celebration_level > 0 and previous_time < timeline.last_stop_seconds <= current_time:
        cues.append(f"win_{timeline.celebration_level}")
    if (
        timeline.celebration_level > 0
        and timeline.roll_up_end_seconds > timeline.last_stop_seconds
        and previous_time < timeline.roll_up_end_seconds <= current_time
    ):
        cues.append(
            "closing"
            if presentation.is_last_section and is_feature_step(presentation, len(presentation.steps) - 1)
            else "count_end"
        )
    return cues


def _choose_stop_cue(step: object, part_index: int) -> str:
    """Return the sound cue for the moment at which part number ``part_index`` of a step stops.

    A part is a reel, a ball, a card, a box, a wheel or another moving part.
    """
    if isinstance(step, DoubleUpStep | PickStep):
        return "card"
    if isinstance(step, KenoStep):
        return "ball"
    stop_number = REEL_STOP_SOUND_COUNT if isinstance(step, WheelStep) else part_index + 1
    return f"stop_{min(stop_number, REEL_STOP_SOUND_COUNT)}"
