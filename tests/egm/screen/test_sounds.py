"""Sounds: the samples, the mix on a device, and the start and end of each sound."""

import array
import asyncio
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pygame
import pytest

from egm.kernel.messages import Notice
from egm.screen.app import ScreenApp
from egm.screen.audio import synthesis
from egm.screen.audio.cues import (
    ALARM_LOUDNESS_MIN,
    ATTRACT_INTERVAL_SECONDS,
    LOUDNESS_BY_VOLUME_STEP,
    SoundPlayer,
    compute_loudness,
    find_sound_family,
    list_cues_between,
    list_loops_to_play,
)
from egm.screen.audio.mixer import SoundMixer
from egm.screen.audio.scores import (
    PEAK_SHARE_BY_CHANNEL,
    SOUND_CUE_BY_NAME,
    build_cue_notes,
    list_common_cues,
    list_family_cues,
    read_sound_table,
    synthesise_cue,
)
from egm.screen.audio.sound_store import COMMON_FAMILY, SoundStore, read_family_sounds
from egm.screen.audio.synthesis import SAMPLES_PER_SECOND
from egm.screen.message_reducer import apply_message
from egm.screen.view import ATTRACT_DELAY_SECONDS, Scene, build_view_timeline
from tools.dev.gallery import show_outcome
from tools.lab.views import build_idle_view, build_snapshot


@pytest.fixture
def game(published):
    return next(game for game in published if game.id == "maple-classic")


@pytest.fixture
def idle_view(published, game):
    return build_idle_view(published, game, "en")


class Ears:
    """A mixer that records the played sounds; its channels hold the sounds that would be audible now."""

    def __init__(self):
        self.names = []
        self.on = {}

    def play(self, cue, _family, channel, loudness):
        self.names.append(cue)
        self.on[channel] = (cue, loudness)

    def stop(self, channel):
        self.on.pop(channel, None)

    def set_loudness(self, channel, loudness):
        self.on[channel] = (self.on[channel][0], loudness)


def play_and_list_sounds(view, theme, seconds, step=0.02):
    """Let a view's time pass; return every cue that started, and the sounds on the channels at each moment."""
    ears = Ears()
    sounds = SoundPlayer(theme, ears)
    moments = []
    before = view
    for i in range(1, int(seconds / step)):
        after = replace(view, now=view.now + i * step)
        sounds.play_changes(before, after)
        moments.append((after.now - view.now, {channel: cue for channel, (cue, _) in ears.on.items()}))
        before = after
    return ears.names, moments


@pytest.fixture(scope="module", autouse=True)
def _notes_forgotten():
    """Release the cached notes after the tests: several hundred megabytes."""
    yield
    synthesis._synthesise_note.cache_clear()


# ---------------------------------------------------------------------- the samples
def find_peak_level(data):
    return max(map(abs, array.array("h", data)))


@pytest.mark.parametrize(
    "families",
    [("classic", "aurora"), pytest.param(tuple(read_sound_table().family_by_name), marks=pytest.mark.slow)],
    ids=len,
)
def test_no_mix_of_sounds_can_be_clipped(families):
    """Even if the loudest samples of every channel coincide, their sum is within the range."""
    most = dict.fromkeys(PEAK_SHARE_BY_CHANNEL, 0)
    for family in families:
        few = ("turn", "stop_3", "win_1", "count")
        others = {"aurora": list_family_cues()} if len(families) > 2 else {}  # in the slow tier
        for cue in ({"classic": tuple(SOUND_CUE_BY_NAME)} | others).get(family, few):
            data = synthesise_cue(cue, family)
            peak = find_peak_level(data)
            assert peak > 1000, (family, cue)
            assert len(data) / 2 / SAMPLES_PER_SECOND < 14, (family, cue)
            most[SOUND_CUE_BY_NAME[cue].channel] = max(most[SOUND_CUE_BY_NAME[cue].channel], peak)
    most["touch_2"] = most["touch"]
    assert sum(most.values()) < 32767
    assert most["lead"] > 3 * most["music"]  # music is quieter than sounds about money


def test_every_look_has_its_own_distinct_family_of_sounds(theme):
    assert set(read_sound_table().family_by_name) == set(theme.look_by_name)
    themes = {name: tuple(build_cue_notes("feature", name)[0]) for name in theme.look_by_name}
    assert len(set(themes.values())) == len(themes)
    assert synthesise_cue("stop_2", "aurora") == synthesise_cue("stop_2", "aurora")
    assert synthesise_cue("stop_2", "aurora") != synthesise_cue("stop_2", "comet")


def test_a_greater_win_is_louder_and_longer():
    for family in ("classic", "aurora"):
        wins = [synthesise_cue(f"win_{grade}", family) for grade in range(1, 5)]
        assert [find_peak_level(data) for data in wins] == sorted({find_peak_level(data) for data in wins})
        assert [len(data) for data in wins] == sorted({len(data) for data in wins})


def test_the_pitch_of_reel_stops_rises_from_reel_to_reel():
    for family in read_sound_table().family_by_name:
        pitches = [build_cue_notes(f"stop_{n}", family)[0][1].pitch_hz for n in range(1, 7)]
        assert pitches == sorted(set(pitches))


@pytest.mark.parametrize(
    "cue", [name for name, definition in SOUND_CUE_BY_NAME.items() if definition.is_loop]
)
def test_a_loop_repeats_without_a_click(cue):
    """From the end to the beginning, the samples change no more than elsewhere."""
    data = array.array("h", synthesise_cue(cue, "aurora"))
    inside = max(abs(b - a) for a, b in pairwise(data))
    assert abs(data[0] - data[-1]) <= inside


def test_the_sound_process_returns_complete_sounds_and_refuses_unknown_families():
    sound_store = SoundStore()
    sound_store.request_families("keno")
    until = time.monotonic() + 60
    while (
        None in {sound_store.find_sound(cue, "keno") for cue in ("credit", "key")}
        and time.monotonic() < until
    ):
        time.sleep(0.05)
    sound_store.close()
    assert sound_store.find_sound("credit", "keno") == synthesise_cue("credit", "keno")
    assert sound_store.find_sound("key", "keno") == synthesise_cue("key", "")
    assert sound_store.find_sound("credit", "aurora") is None
    assert sound_store.find_sound("../credit", "keno") is None
    command = [sys.executable, "-I", "-m", "egm.screen.audio", "waltz"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "expected one family: common, classic" in result.stderr


def test_the_sound_process_ends_quietly_when_its_reader_ends():
    command = [sys.executable, "-I", "-m", "egm.screen.audio", "classic"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline().startswith(b"credit ")
        process.stdout.close()
        assert process.wait(60) == -signal.SIGPIPE
        assert process.stderr.read() == b""


def read_sounds(data):
    """Return what is read from a stream that ends after these bytes."""

    async def reading():
        stream = asyncio.StreamReader()
        stream.feed_data(data)
        stream.feed_eof()
        return [sound async for sound in read_family_sounds(stream)]

    return asyncio.run(reading())


def test_an_invalid_stream_of_sounds_is_refused():
    assert read_sounds(b"key 4\nabcd" + b"key 9\nab") == [("key", b"abcd")]  # cut off: the maker died
    for broken in (b"none 4\nabcd", b"key 99999999\n", b"key\n"):
        with pytest.raises(ValueError, match=r"no sound|unpack"):
            read_sounds(broken)


_ALL_AT_ONCE = """
import time, sys
from egm.screen.audio.mixer import SoundMixer
from egm.screen.audio.scores import synthesise_cue
class Studio:
    def find_sound(self, cue, family): return synthesise_cue(cue, family)
mixer = SoundMixer(Studio())
assert mixer.has_device
for channel, cue in (("music", "feature"), ("turn", "turn"), ("lead", "anticipation")):
    mixer.play(cue, "comet", channel, 1.0)
until = time.monotonic() + 1.0
while time.monotonic() < until:
    for channel, cue in (("touch", "stop_3"), ("touch_2", "stop_4")):
        mixer.play(cue, "comet", channel, 1.0)
    time.sleep(0.1)
"""


def test_all_channels_at_once_reach_the_device_unclipped(tmp_path):
    """SDL's own mix for a sound card, written to a file."""
    output_file = tmp_path / "heard.raw"
    env = os.environ | {
        "SDL_AUDIODRIVER": "disk",
        "SDL_DISKAUDIOFILE": str(output_file),
        "SDL_VIDEODRIVER": "dummy",
    }
    subprocess.run([sys.executable, "-c", _ALL_AT_ONCE], env=env, check=True, timeout=120)
    data = array.array("h", output_file.read_bytes()[: 2 * 20 * SAMPLES_PER_SECOND])
    assert 8000 < find_peak_level(data) < 32767


# ---------------------------------------------------------------------- levels
@pytest.mark.requirement("J-17")
def test_no_volume_setting_makes_an_alarm_inaudible():
    for volume in range(len(LOUDNESS_BY_VOLUME_STEP)):
        for percent in (0, 30, 100):
            assert compute_loudness("alarm", volume, percent) >= ALARM_LOUDNESS_MIN
            assert (
                compute_loudness("win_1", volume, percent) == LOUDNESS_BY_VOLUME_STEP[volume] * percent / 100
            )


def test_the_venues_volume_limit_is_applied(idle_view, game, theme):
    for percent in (100, 40, 0):
        ears = Ears()
        updated = apply_message(idle_view, build_snapshot(game, "en", loudness_percent=percent))
        updated = replace(updated, volume_step=3)
        SoundPlayer(theme, ears).play_changes(
            updated, replace(updated, last_action_name="help", pressed_at=updated.now + 1)
        )
        assert [level for _, level in ears.on.values()] == ([percent / 100] if percent else [])


@pytest.mark.requirement("J-17")
def test_an_alarm_keeps_its_volume_when_all_other_sound_is_off(idle_view, game, theme):
    ears = Ears()
    quiet = replace(apply_message(idle_view, build_snapshot(game, "en", loudness_percent=0)), volume_step=0)
    door = apply_message(quiet, build_snapshot(game, "en", state="door_open", loudness_percent=0))
    SoundPlayer(theme, ears).play_changes(quiet, door)
    assert list(ears.on.values()) == [("alarm", ALARM_LOUDNESS_MIN)]


@pytest.mark.requirement("J-17")
def test_a_host_can_mute_all_sounds_but_alarms(idle_view, game, theme, outcomes):
    """SAS poll 03 turns all sounds off, and poll 05 game sounds."""
    for level, expected in (("on", ["key", "alarm"]), ("no_play", ["key", "alarm"]), ("off", ["alarm"])):
        ears = Ears()
        updated = apply_message(idle_view, build_snapshot(game, "en", allowed_sound=level))
        last_action_name = replace(
            updated, last_action_name="help", pressed_at=updated.now + 1, now=updated.now + 1
        )
        door = apply_message(
            last_action_name, build_snapshot(game, "en", state="door_open", allowed_sound=level)
        )
        SoundPlayer(theme, ears).play_changes(updated, door)
        assert ears.names == expected
        view = show_outcome(updated, game, outcomes[game.id].big_win)
        names, moments = play_and_list_sounds(view, theme, 8)
        assert bool(names) is (level == "on")
        assert any(on for _, on in moments) is (level == "on")


def test_the_volume_of_loops_follows_the_volume_key(idle_view, game, theme, outcomes):
    ears = Ears()
    sounds = SoundPlayer(theme, ears)
    view = replace(show_outcome(idle_view, game, outcomes[game.id].loss), volume_step=3)
    turning = replace(view, now=view.now + 0.3)
    sounds.play_changes(view, turning)
    assert ears.on["turn"] == ("turn", 1.0)
    quiet = replace(turning, volume_step=0, now=turning.now + 0.1)
    sounds.play_changes(turning, quiet)
    assert ears.on["turn"] == ("turn", 0.0)


# ---------------------------------------------------------------------- when
def test_sounds_follow_the_game(idle_view, game, outcomes, theme):
    view = show_outcome(idle_view, game, outcomes[game.id].small_win)
    line = build_view_timeline(view, theme)
    names, moments = play_and_list_sounds(view, theme, 12)
    stops = ["stop_1", "stop_2", "stop_3"]
    assert names == ["turn", *stops, "count", f"win_{line.celebration_level}", "count_end"]
    for now, on in moments:
        if 0.1 < now < line.steps[0].stop_seconds[-1] - 0.05:
            assert on.get("turn") == "turn", now
        if line.last_stop_seconds + 0.05 < now < line.roll_up_end_seconds - 0.05:
            assert on.get("turn") == "count", now
        if now > line.roll_up_end_seconds + 0.05:
            assert "turn" not in on, now
    door = apply_message(idle_view, build_snapshot(game, "en", state="door_open"))
    assert "alarm" in list_cues_between(idle_view, door, theme)


@pytest.mark.requirement("N-10")
def test_a_win_below_the_stake_counts_up_in_silence(idle_view, game, outcomes, theme):
    view = show_outcome(idle_view, game, outcomes[game.id].small_win)
    show = view.presentation
    less = replace(
        view, presentation=replace(show, outcome=show.outcome.model_copy(update={"bet_credits": 10**6}))
    )
    assert build_view_timeline(less, theme).celebration_level == 0
    assert play_and_list_sounds(less, theme, 12)[0] == ["turn", "stop_1", "stop_2", "stop_3"]


def test_a_features_music_begins_and_ends_with_the_feature(published, outcomes, theme):
    """For every library game with music; an open door ends the music at once."""
    seen = set()
    for game in published:
        outcome = outcomes[game.id].feature
        if outcome is None or game.family != "reels":
            continue
        view = show_outcome(build_idle_view(published, game, "en"), game, outcome)
        line, steps = build_view_timeline(view, theme), view.presentation.steps
        stages = [step.stage for step in steps if hasattr(step, "stage")]
        if len(set(stages) - {"double_up"}) < 2 or stages[-1] in {stages[0], "double_up"}:
            continue
        names, moments = play_and_list_sounds(view, theme, line.end_seconds + 2)
        begins = line.steps[next(i for i, s in enumerate(stages) if s != stages[0])].title_card_start_seconds
        for now, on in moments:
            within = begins + 0.05 < now < line.roll_up_end_seconds - 0.05
            without = now < begins - 0.05 or now > line.roll_up_end_seconds + 0.05
            assert not within or on.get("music") == "feature", (game.id, now)
            assert not without or "music" not in on, (game.id, now)
        assert names.count("title") == 1
        assert line.celebration_level == 0 or names.count("closing") == 1
        inside = replace(view, now=view.now + (begins + line.roll_up_end_seconds) / 2)
        assert list_loops_to_play(inside, theme)["music"] == "feature"
        door = apply_message(inside, inside.snapshot.model_copy(update={"state": "door_open"}))
        assert door.scene is Scene.DOOR
        assert list_loops_to_play(door, theme) == {}
        seen.add(game.id)
    assert len(seen) >= 3


@pytest.mark.requirement("J-02")
def test_a_door_alarm_continues_and_no_other_sound_interrupts_it(idle_view, game, theme):
    assert len(synthesise_cue("alarm", "classic")) / 2 >= 1.5 * SAMPLES_PER_SECOND
    ears = Ears()
    sounds = SoundPlayer(theme, ears)
    door = apply_message(idle_view, build_snapshot(game, "en", state="door_open"))
    sounds.play_changes(idle_view, door)
    shut = apply_message(replace(door, now=door.now + 0.5), build_snapshot(game, "en"))
    bill = apply_message(
        replace(shut, now=shut.now + 0.1),
        build_snapshot(game, "en", credit_cents=125450, notices=(Notice(code="bill_accepted"),)),
    )
    assert "credit" in list_cues_between(shut, bill, theme)
    sounds.play_changes(shut, bill)
    assert ears.on["lead"][0] == "alarm"


def test_an_idle_machine_plays_its_attract_tune_at_intervals(idle_view, theme, game):
    empty = apply_message(idle_view, build_snapshot(game, "en", credit_cents=0))
    names, _ = play_and_list_sounds(empty, theme, ATTRACT_DELAY_SECONDS + 2.5 * ATTRACT_INTERVAL_SECONDS, 0.1)
    assert names == ["attract"] * 3


def test_each_game_has_the_sounds_of_its_look(published, theme):
    families = {
        game.id: find_sound_family(build_idle_view(published, game, "en"), theme) for game in published
    }
    assert families["aurora-twenty"] == "aurora"
    assert families["maple-classic-92"] == "maple-classic"
    assert len(set(families.values())) >= 10


def test_without_an_audio_device_the_machine_is_silent_and_nothing_else(
    monkeypatch, theme, idle_view, game, outcomes
):
    """With a device, a sound that is not ready yet is omitted; the screen does not wait for it."""
    monkeypatch.setenv("SDL_AUDIODRIVER", "none-such")
    pygame.mixer.quit()
    sound_store = SoundStore()
    deaf = SoundMixer(sound_store)
    assert not deaf.has_device
    sounds = SoundPlayer(theme, deaf)
    view = show_outcome(idle_view, game, outcomes[game.id].small_win)
    sounds.play_changes(view, replace(view, now=view.now + 1))
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    hearing = SoundMixer(sound_store)
    assert hearing.has_device
    hearing.play("win_4", "comet", "lead", 1.0)
    assert not pygame.mixer.get_busy()
    sound_store._samples_by_cue_and_family["key", COMMON_FAMILY] = synthesise_cue("key", "")
    hearing.play("key", "comet", "touch", 1.0)
    assert pygame.mixer.get_busy()
    pygame.mixer.quit()


def test_money_and_tickets_have_sounds_of_their_own(idle_view, game, theme):
    paid = apply_message(
        replace(idle_view, now=110), build_snapshot(game, "en", notices=(Notice(code="ticket_printed"),))
    )
    assert list_cues_between(idle_view, paid, theme) == ["paper"]
    coins = apply_message(
        replace(idle_view, now=110),
        build_snapshot(game, "en", credit_cents=123475, notices=(Notice(code="coins_accepted"),)),
    )
    assert list_cues_between(idle_view, coins, theme) == ["coin"]
    bill = apply_message(
        replace(idle_view, now=110),
        build_snapshot(game, "en", credit_cents=125450, notices=(Notice(code="bill_accepted"),)),
    )
    assert list_cues_between(idle_view, bill, theme) == ["credit"]


def test_every_common_sound_is_made_and_every_cue_has_its_sound():
    assert set(list_common_cues()) == set(read_sound_table().notes_by_common_cue)
    for cue in list_common_cues():
        assert build_cue_notes(cue, "")[0]


@pytest.mark.requirement("J-02", "J-17")
def test_the_screens_program_sounds_the_alarm_of_a_door_that_opens(idle_view, theme):
    ears, clock = Ears(), iter([100.0, 100.1])
    opened = idle_view.snapshot.model_copy(update={"state": "door_open", "open_doors": ("main",)})

    class Still:
        """A surface that nobody touches and on which nothing is drawn."""

        can_be_closed = False

        def take_inputs(self):
            return []

        def get_drawing_surface(self):
            return None

    machine = SimpleNamespace(
        poll=lambda _now: SimpleNamespace(has_link_been_lost=False, messages=[opened]),
        send=lambda _message: True,
    )
    app = ScreenApp(
        theme=theme,
        surface=Still(),
        machine_client=machine,
        bench_client=None,
        sound_player=SoundPlayer(theme, ears),
        clock=lambda: next(clock),
    )
    app.view = replace(idle_view, is_machine_connected=True)
    assert app.run_frame()
    assert "alarm" in ears.names
