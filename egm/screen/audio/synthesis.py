"""Notes of struck, plucked and blown instruments as samples: a few damped vibrations each, added up.

A vibration is a two-pole resonator, one multiplication and one subtraction a sample; the same score always
gives the same samples. Nothing here is chance: the noise of a drum is a fixed shift register's.
"""

import array
import io
import math
import wave
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from operator import add, mul
from typing import Final

#: Samples a second, one channel, 16 bits.
RATE: Final = 22050
_FULL: Final = 32767
#: A vibration above this share of the rate would fold back as another pitch.
_HIGHEST: Final = 0.45
#: What is cut off ends within this, seconds: no click.
_FADE: Final = 0.012


@dataclass(frozen=True, slots=True)
class Instrument:
    """What vibrates: each mode's pitch as a multiple of the note's, its strength, and its decay a second.

    ``attack`` seconds to full strength. ``ring``: how long a struck note sounds at most, seconds; 0: it is
    held for the length of the note, and let go within ``release``. ``noise``: strength and decay a second of
    the breath, stick or shaker in it; ``dull``: how many times the noise is smoothed.
    """

    modes: tuple[tuple[float, float, float], ...]
    attack: float = 0.002
    ring: float = 1.2
    release: float = 0.08
    noise: tuple[float, float] = (0.0, 1.0)
    dull: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """One note: the instrument, when it begins and how long it is held (seconds), its pitch (Hz)."""

    instrument: Instrument
    start: float
    pitch: float
    seconds: float = 0.2
    strength: float = 1.0


def hertz(number: float) -> float:
    """The pitch of a MIDI note number: 69 is 440 Hz, twelve an octave."""
    return float(440.0 * 2.0 ** ((number - 69) / 12))


def _vibration(pitch: float, strength: float, decay: float, count: int) -> list[float]:
    turn = math.tau * pitch / RATE
    shrink = math.exp(-decay / RATE)
    c, d = 2 * shrink * math.cos(turn), shrink * shrink
    out = [0.0] * count
    here, after = 0.0, strength * shrink * math.sin(turn)
    for i in range(count):
        out[i] = here
        here, after = after, c * after - d * here
    return out


@lru_cache(maxsize=64)
def _hiss(count: int, dull: int) -> "array.array[float]":
    """Noise from a shift register of 23 bits: the same each time."""
    register, out = 0x2F5A17, []
    for _ in range(count):
        for _ in range(3):
            register = (register >> 1) ^ (0x420000 if register & 1 else 0)
        out.append((register & 0xFFFF) / 32768 - 1)
    for _ in range(dull):
        out = [(a + b) / 2 for a, b in zip(out, [0.0, *out[:-1]], strict=True)]
    return array.array("d", out)


@lru_cache(maxsize=512)
def _sounded(instrument: Instrument, pitch: float, seconds: float) -> "array.array[float]":
    """A note at full strength; 8 bytes a sample, for hundreds of notes are stored."""
    count = max(1, round(RATE * (instrument.ring or seconds + instrument.release)))
    total = [0.0] * count
    whole = sum(strength for _, strength, _ in instrument.modes) + instrument.noise[0]
    for ratio, strength, decay in instrument.modes:
        if pitch * ratio < RATE * _HIGHEST:
            # what has died away is not worked out
            heard = count if decay <= 0 else min(count, round(RATE * 9.2 / decay))
            part = _vibration(pitch * ratio, strength / whole, decay, heard)
            total[:heard] = map(add, total, part)
    if instrument.noise[0]:
        strength, decay = instrument.noise
        heard = min(count, round(RATE * 7 / decay))
        fall = math.exp(-decay / RATE)
        level, levels = strength / whole, []
        for _ in range(heard):
            levels.append(level)
            level *= fall
        total[:heard] = map(add, total, map(mul, _hiss(heard, instrument.dull), levels))
    _ramp(total, instrument.attack, _FADE if instrument.ring else instrument.release)
    return array.array("d", total)


def _ramp(samples: list[float], attack: float, release: float) -> None:
    """Let samples begin and end at nothing, over so many seconds."""
    rise = min(len(samples), round(attack * RATE))
    for i in range(rise):
        samples[i] *= i / rise
    fall = min(len(samples), round(release * RATE))
    for i in range(fall):
        samples[-1 - i] *= i / fall


def samples(notes: Iterable[Note], peak: float, *, loop: float = 0.0, drive: float = 1.0) -> bytes:
    """Notes added up as 16-bit samples whose greatest is ``peak`` of full scale.

    ``loop``: seconds after which it begins again; what still rings then rings into the beginning, so that
    nothing is heard where the ends meet. ``drive``: how much the loudest is rounded off, which makes the
    whole louder at the same peak.
    """
    placed = [(round(note.start * RATE), note) for note in notes]
    rung = [(at, _sounded(note.instrument, note.pitch, note.seconds), note.strength) for at, note in placed]
    length = round(loop * RATE) or max(at + len(data) for at, data, _ in rung)
    total = [0.0] * length
    for at, data, strength in rung:
        _lay(total, at % length if loop else at, data, strength)
    most = max(map(abs, total)) or 1.0
    if drive > 1:
        level = drive / most
        total = list(map(math.tanh, map(mul, total, repeat(level))))
        most = math.tanh(drive)
    scale = peak * _FULL / most
    return array.array("h", map(int, map(mul, total, repeat(scale)))).tobytes()


def _lay(total: list[float], at: int, data: Sequence[float], strength: float) -> None:
    """Add a note at a place; what is beyond the end goes to the beginning."""
    done = 0
    while done < len(data):
        room = min(len(data) - done, len(total) - at)
        part = map(mul, data[done : done + room], repeat(strength))
        total[at : at + room] = map(add, total[at : at + room], part)
        done, at = done + room, 0


def softened(data: bytes, peak: float) -> bytes:
    """Samples whose greatest is not above ``peak`` of full scale; softer ones as they are."""
    given = array.array("h", data)
    most = max(map(abs, given), default=0)
    if most <= peak * _FULL:
        return data
    return array.array("h", (int(sample * peak * _FULL / most) for sample in given)).tobytes()


def wave_file(data: bytes) -> bytes:
    """Samples as a WAV file."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(data)
    return file.getvalue()
