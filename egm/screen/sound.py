"""Sounds, made by arithmetic; a machine without an audio device is silent and nothing else."""

import array
import contextlib
import io
import math
import threading
import wave
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Protocol

import pygame

from egm.screen.steps import GambleStep, PickStep
from egm.screen.theme import Theme
from egm.screen.view import Scene, View, times

RATE: Final = 22050
#: Loudness of each volume step; an alarm is never quieter than :data:`ALARM_FLOOR` (J-17).
LEVELS: Final = (0.0, 0.25, 0.55, 1.0)
ALARM_FLOOR: Final = 0.5
ALARMS: Final = frozenset({"alarm", "jackpot"})
#: What a test of the speakers sounds: steady tones across their range. A test is never silent.
TONES: Final = {"tone_low": 110.0, "tone_middle": 440.0, "tone_high": 1760.0, "tone_highest": 7040.0}
OF_PLAY: Final = frozenset({"spin", "stop", "win_1", "win_2", "win_3", "win_4"})


@dataclass(frozen=True, slots=True)
class Note:
    """A struck bar: when it sounds, its pitch (Hz), its length (s), how fast it dies away, how loud."""

    start: float
    pitch: float
    seconds: float = 0.7
    decay: float = 6.0
    strength: float = 0.3
    bright: float = 0.35


_C: Final = 523.25
_MAJOR: Final = (_C, _C * 1.2599, _C * 1.4983, _C * 2)


def _run(pitches: tuple[float, ...], step: float, strength: float = 0.3) -> tuple[Note, ...]:
    return tuple(Note(i * step, pitch, strength=strength) for i, pitch in enumerate(pitches))


#: Every sound by name.
SCORES: Final[Mapping[str, tuple[Note, ...]]] = {
    "key": (Note(0, 1900, 0.04, 90), Note(0, 240, 0.06, 60)),
    "spin": (Note(0, 98, 0.3, 9, 0.35), Note(0.05, 147, 0.3, 9, 0.25), Note(0.1, 196, 0.3, 9, 0.2)),
    "stop": (Note(0, 92, 0.22, 22, 0.7, 0.2), Note(0, 1300, 0.03, 120, 0.2)),
    "credit": _run((_C * 1.4983, _C * 2), 0.09),
    "win_1": _run(_MAJOR, 0.09),
    "win_2": _run((*_MAJOR, _C * 2.5198, _C * 2.9966), 0.1),
    "win_3": _run((*_MAJOR, *(p * 2 for p in _MAJOR), _C * 2.9966, _C * 4) * 2, 0.1),
    "win_4": _run((*_MAJOR, *(p * 2 for p in _MAJOR), _C * 2.9966, _C * 4) * 4, 0.1),
    "coin": (Note(0, 2637, 0.12, 24, 0.35), Note(0.05, 3136, 0.2, 18, 0.3)),
    "paper": tuple(Note(i * 0.05, 120 + 18 * i, 0.06, 30, 0.3, 0.6) for i in range(8)),
    "card": (Note(0, 900, 0.05, 60, 0.3, 0.8), Note(0.04, 380, 0.08, 40, 0.3)),
    "reminder": _run((_C, _C * 1.4983), 0.22, 0.22),
    "refused": (Note(0, 196, 0.18, 14, 0.5), Note(0.12, 147, 0.3, 10, 0.5)),
    "jackpot": _run((_C * 2, _C * 2.5198) * 8, 0.14, 0.4),
    **{name: (Note(0, pitch, 1.5, 0.4, 0.5, 0.0),) for name, pitch in TONES.items()},
    "alarm": tuple(Note(i * 0.32, 880 if i % 2 else 660, 0.3, 3, 0.6) for i in range(6)),
}


def samples(score: tuple[Note, ...]) -> bytes:
    """A score as 16-bit mono samples at :data:`RATE`."""
    total = [0.0] * int(RATE * max(note.start + note.seconds for note in score) + 1)
    for note in score:
        offset = int(note.start * RATE)
        for i in range(int(note.seconds * RATE)):
            t = i / RATE
            tone = math.sin(math.tau * note.pitch * t)
            tone += note.bright * math.sin(math.tau * note.pitch * 2.76 * t) * math.exp(-t * 9)
            total[offset + i] += note.strength * min(1.0, t * 200) * math.exp(-t * note.decay) * tone
    return array.array("h", (round(max(-1.0, min(1.0, value)) * 32000) for value in total)).tobytes()


def loudness(name: str, volume: int) -> float:
    """How loud a sound is at a volume step; an alarm has a floor, and so has a tone of a test."""
    return max(LEVELS[volume], ALARM_FLOOR) if name in ALARMS or name in TONES else LEVELS[volume]


def is_allowed(name: str, view: View) -> bool:
    """Whether a host lets a sound be heard; an alarm always is (J-17), and what staff test at the machine."""
    level = "on" if view.snapshot is None else view.snapshot.sound
    return name in ALARMS or name in TONES or level == "on" or (level == "no_play" and name not in OF_PLAY)


@cache
def wave_file(name: str) -> bytes:
    """A sound as a WAV file."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(samples(SCORES[name]))
    return file.getvalue()


class Speakers(Protocol):
    """Where sounds are heard: this computer's mixer, or the browser that shows the picture."""

    def play(self, name: str, level: float) -> None:
        """Sound it now, at a loudness from 0 to 1. Never blocks, never fails for want of a device."""
        ...


class Mixer:
    """This computer's audio device. The sounds are made beside the frame loop; until then it is silent."""

    def __init__(self) -> None:
        self._made: dict[str, pygame.mixer.Sound] = {}
        self.on = False
        """Whether there is a device to sound on."""
        with contextlib.suppress(pygame.error):
            pygame.mixer.init(RATE, -16, 1, 512)
            self.on = True
        if self.on:
            threading.Thread(target=self._make, name="sounds", daemon=True).start()

    def _make(self) -> None:
        for name in SCORES:
            data = samples(SCORES[name])
            with contextlib.suppress(pygame.error):  # the device may be closed meanwhile
                self._made[name] = pygame.mixer.Sound(buffer=data)

    def play(self, name: str, level: float) -> None:
        """See :class:`Speakers`."""
        sound = self._made.get(name)
        if sound is not None and self.on:
            sound.set_volume(level)
            sound.play()


class Sounds:
    """Sounds what changed between two views; without speakers, nothing."""

    def __init__(self, theme: Theme, speakers: Speakers | None = None) -> None:
        self._theme = theme
        self._speakers = speakers

    def follow(self, before: View, after: View) -> None:
        """Sound what happened between two views."""
        if self._speakers is None:
            return
        for name in sounds_between(before, after, self._theme):
            level = loudness(name, after.volume)
            if level > 0 and is_allowed(name, after):
                self._speakers.play(name, level)


def sounds_between(before: View, after: View, theme: Theme) -> list[str]:
    """The sounds of what happened between two views."""
    names: list[str] = []
    old, new = before.snapshot, after.snapshot
    if after.pressed_at > before.pressed_at and after.pressed:
        names.append("key")
    if after.notices_at > before.notices_at and new and any(n.severity != "info" for n in new.notices):
        names.append("refused")
    if after.desk.toned_at > before.desk.toned_at:
        names = [after.desk.tone]  # alone: a key's click would be heard for it
    names += _of_value(before, after)
    if new and new.reminder and (old is None or old.reminder != new.reminder):
        names.append("reminder")
    if after.scene is not before.scene and old is not None:
        if after.scene in {Scene.DOOR, Scene.TILT}:
            names.append("alarm")
        elif after.scene is Scene.HANDPAY:
            names.append("jackpot")
    return names + _of_the_game(before, after, theme)


def _of_value(before: View, after: View) -> list[str]:
    """Credits that came in, and tickets and coins that go out."""
    old, new = before.snapshot, after.snapshot
    if old is None or new is None or new is old:
        return []
    told = new.notices[0].code if new.notices and after.notices_at > before.notices_at else ""
    if told == "ticket_printed" or (new.paying is not None and old.paying is None):
        return ["paper" if new.paying is None or new.paying.way == "ticket" else "coin"]
    if new.state == old.state == "idle" and new.credit_cents > old.credit_cents:
        return ["coin" if told == "coins_accepted" else "credit"]
    return []


def _of_the_game(before: View, after: View, theme: Theme) -> list[str]:
    """Reels starting and stopping, and a win in proportion; one below the stake has no sound (N-10)."""
    show, line = after.show, times(after, theme)
    if show is None or line is None or after.scene is not Scene.GAME:
        return []
    was, now = before.now - show.began, after.now - show.began
    names = ["spin" for step in line.steps if was <= step.begin < now]
    for step, time in zip(show.steps, line.steps, strict=True):
        sound = "card" if isinstance(step, GambleStep | PickStep) else "stop"
        names += [sound for stop in time.stops if was < stop <= now]
    if line.level > 0 and was < line.spun <= now:
        names.append(f"win_{line.level}")
    return names
