"""Sounds, made by arithmetic; a machine without an audio device is silent and nothing else."""

import array
import contextlib
import math
from typing import Final

import pygame

from egm.screen.view import Scene, View

RATE: Final = 22050
#: Loudness of each volume step; an alarm is never quieter than :data:`ALARM_FLOOR` (J-17).
LEVELS: Final = (0.0, 0.25, 0.55, 1.0)
ALARM_FLOOR: Final = 0.5
ALARMS: Final = frozenset({"alarm", "jackpot"})


def _note(frequency: float, seconds: float, *, decay: float = 6.0, strength: float = 0.4, bright: float = 0.35) -> list[float]:
    """A struck bar: a tone with two partials that die away."""
    count = int(RATE * seconds)
    out = []
    for i in range(count):
        t = i / RATE
        attack = min(1.0, t * 200)
        tone = math.sin(math.tau * frequency * t) + bright * math.sin(math.tau * frequency * 2.76 * t) * math.exp(-t * 9)
        out.append(strength * attack * math.exp(-t * decay) * tone)
    return out


def _mix(parts: list[tuple[float, list[float]]]) -> bytes:
    """Parts laid over each other from their starts, as 16-bit samples."""
    length = max(int(start * RATE) + len(part) for start, part in parts)
    total = [0.0] * length
    for start, part in parts:
        offset = int(start * RATE)
        for i, value in enumerate(part):
            total[offset + i] += value
    return array.array("h", (round(max(-1.0, min(1.0, value)) * 32000) for value in total)).tobytes()


def _click() -> bytes:
    return _mix([(0, _note(1900, 0.04, decay=90, strength=0.3)), (0, _note(240, 0.06, decay=60, strength=0.3))])


def _stop() -> bytes:
    return _mix([(0, _note(92, 0.22, decay=22, strength=0.7, bright=0.2)), (0, _note(1300, 0.03, decay=120, strength=0.2))])


def _arpeggio(notes: list[float], step: float, strength: float = 0.3) -> bytes:
    return _mix([(i * step, _note(f, 0.7, strength=strength)) for i, f in enumerate(notes)])


_C: Final = 523.25
_MAJOR: Final = [_C, _C * 1.2599, _C * 1.4983, _C * 2]


def samples(name: str) -> bytes:
    """The sound of a name as 16-bit mono samples at :data:`RATE`."""
    if name == "key":
        return _click()
    if name == "stop":
        return _stop()
    if name == "credit":
        return _arpeggio([_C * 1.4983, _C * 2], 0.09)
    if name == "win_1":
        return _arpeggio(_MAJOR, 0.09)
    if name == "win_2":
        return _arpeggio([*_MAJOR, _C * 2.5198, _C * 2.9966], 0.1)
    if name == "win_3":
        return _arpeggio([*_MAJOR, *[f * 2 for f in _MAJOR], _C * 2.9966, _C * 4] * 2, 0.1)
    if name == "refused":
        return _mix([(0, _note(196, 0.18, decay=14, strength=0.5)), (0.12, _note(147, 0.3, decay=10, strength=0.5))])
    if name == "jackpot":
        return _arpeggio([_C * 2, _C * 2.5198] * 8, 0.14, 0.4)
    if name == "alarm":
        return _mix([(i * 0.32, _note(880 if i % 2 else 660, 0.3, decay=3, strength=0.6)) for i in range(6)])
    raise ValueError(f"no sound {name!r}; there are: {', '.join(NAMES)}")


NAMES: Final = ("key", "stop", "credit", "win_1", "win_2", "win_3", "refused", "jackpot", "alarm")


class Sounds:
    """Plays sounds that follow what changed between two views."""

    def __init__(self, *, wanted: bool = True) -> None:
        self._made: dict[str, pygame.mixer.Sound] = {}
        self._on = False
        if wanted:
            with contextlib.suppress(pygame.error):
                pygame.mixer.init(RATE, -16, 1, 512)
                self._on = True

    def play(self, name: str, volume: int) -> None:
        """Play a sound at a volume step; silent without a device."""
        level = LEVELS[volume]
        if name in ALARMS:
            level = max(level, ALARM_FLOOR)
        if not self._on or level <= 0:
            return
        if name not in self._made:
            self._made[name] = pygame.mixer.Sound(buffer=samples(name))
        sound = self._made[name]
        sound.set_volume(level)
        sound.play()

    def follow(self, before: View, after: View) -> None:
        """Sound what happened between two views."""
        for name in heard_between(before, after):
            self.play(name, after.volume)


def heard_between(before: View, after: View) -> list[str]:
    """The sounds of what happened between two views; a win below the stake has none of a win's (N-10)."""
    names: list[str] = []
    if after.pressed_at > before.pressed_at and after.pressed:
        names.append("key")
    if after.notices_at > before.notices_at and after.snapshot and any(n.severity != "info" for n in after.snapshot.notices):
        names.append("refused")
    if before.snapshot and after.snapshot and after.snapshot.credit_cents > before.snapshot.credit_cents and after.snapshot.state == "idle" and after.show is before.show:
        names.append("credit")
    if after.scene is not before.scene and before.snapshot is not None:
        if after.scene in {Scene.DOOR, Scene.TILT}:
            names.append("alarm")
        elif after.scene is Scene.HANDPAY:
            names.append("jackpot")
    return names
