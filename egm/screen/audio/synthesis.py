"""Sounds of struck, plucked and blown instruments as samples: each note is a sum of a few damped vibrations and noise.

A vibration is a two-pole resonator: two multiplications and one subtraction for each sample. The same notes always give
the same samples; even the noise of a drum comes from a fixed shift register.
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
from typing import Final, NamedTuple

#: Samples per second, one channel, 16 bits.
SAMPLES_PER_SECOND: Final = 22050
#: The largest value of a 16-bit sample.
_SAMPLE_MAX: Final = 32767
#: The highest frequency of a vibration, as a share of the sample rate. A higher one would alias to another pitch.
_PITCH_MAX_SHARE_OF_SAMPLE_RATE: Final = 0.45
#: Neper after which a vibration is inaudible: it has decayed to a ten-thousandth (-80 dB).
_INAUDIBLE_VIBRATION_NEPERS: Final = 9.2
#: The same for noise, which other sounds cover sooner (-61 dB).
_INAUDIBLE_NOISE_NEPERS: Final = 7
#: Fade-out of a note that is cut off, in seconds, to prevent a click.
_CUT_FADE_SECONDS: Final = 0.012


class Vibration(NamedTuple):
    """One of the damped sine vibrations whose sum is a note."""

    pitch_multiple: float
    """The pitch, as a multiple of the note's pitch."""
    strength: float
    decay_per_second: float


class Noise(NamedTuple):
    """The part of a note that has no pitch, such as the player's breath, the blow of a stick, or a shaker."""

    strength: float
    decay_per_second: float


#: The noise of an instrument without noise.
NO_NOISE: Final = Noise(strength=0.0, decay_per_second=1.0)


@dataclass(frozen=True, slots=True)
class Instrument:
    """An instrument, described by how it vibrates."""

    vibrations: tuple[Vibration, ...]
    """The vibrations of a note."""
    attack_seconds: float = 0.002
    """The time until a note has full strength, in seconds."""
    ring_seconds: float = 1.2
    """How long a struck note sounds, in seconds, whatever its length; 0: the note is held for its length."""
    release_seconds: float = 0.08
    """The time in which a held note fades out at its end, in seconds."""
    noise: Noise = NO_NOISE
    """The noise of a note; none if its strength is 0."""
    noise_smoothing_count: int = 0
    """How many times the noise is smoothed."""


@dataclass(frozen=True, slots=True)
class Note:
    """One note of a sound: the instrument, and the note's start and length in seconds, pitch in Hz and loudness."""

    instrument: Instrument
    start_seconds: float
    pitch_hz: float
    seconds: float = 0.2
    loudness: float = 1.0
    """The loudness of the note, as a fraction of full loudness."""


def compute_hertz_of_midi_note(midi_note: float) -> float:
    """Return the pitch of a MIDI note number: 69 is 440 Hz, twelve numbers are an octave."""
    return float(440.0 * 2.0 ** ((midi_note - 69) / 12))


def _compute_decaying_sine(
    pitch_hz: float, amplitude: float, decay_per_second: float, sample_count: int
) -> list[float]:
    """Return ``sample_count`` samples of a sine of ``pitch_hz`` Hz that gets softer.

    After 1 / ``decay_per_second`` seconds, its amplitude is 1/e of the first.
    """
    radians_per_sample = math.tau * pitch_hz / SAMPLES_PER_SECOND
    decay_per_sample = math.exp(-decay_per_second / SAMPLES_PER_SECOND)
    sample_factor, previous_factor = (
        2 * decay_per_sample * math.cos(radians_per_sample),
        decay_per_sample * decay_per_sample,
    )
    samples = [0.0] * sample_count
    sample, next_sample = 0.0, amplitude * decay_per_sample * math.sin(radians_per_sample)
    for i in range(sample_count):
        samples[i] = sample
        sample, next_sample = next_sample, sample_factor * next_sample - previous_factor * sample
    return samples


@lru_cache(maxsize=64)
def _generate_noise(sample_count: int, smoothing_count: int) -> "array.array[float]":
    """Return ``sample_count`` samples of noise, always the same.

    They come from a 23-bit shift register and are smoothed ``smoothing_count`` times.
    """
    register, samples = 0x2F5A17, []
    for _ in range(sample_count):
        for _ in range(3):
            register = (register >> 1) ^ (0x420000 if register & 1 else 0)
        samples.append((register & 0xFFFF) / 32768 - 1)
    for _ in range(smoothing_count):
        samples = [(a + b) / 2 for a, b in zip(samples, [0.0, *samples[:-1]], strict=True)]
    return array.array("d", samples)


@lru_cache(maxsize=512)
def _synthesise_note(instrument: Instrument, pitch_hz: float, seconds: float) -> "array.array[float]":
    """Return the samples of a note at full loudness. ``seconds`` is the length of a note that is held.

    They are packed in arrays of 8-byte numbers, because hundreds of notes are cached.
    """
    sample_count = max(
        1, round(SAMPLES_PER_SECOND * (instrument.ring_seconds or seconds + instrument.release_seconds))
    )
    note_samples = [0.0] * sample_count
    full_strength = sum(strength for _, strength, _ in instrument.vibrations) + instrument.noise.strength
    for ratio, strength, decay in instrument.vibrations:
        if pitch_hz * ratio < SAMPLES_PER_SECOND * _PITCH_MAX_SHARE_OF_SAMPLE_RATE:
            # Inaudible samples at the end are not computed.
            audible_sample_count = (
                sample_count
                if decay <= 0
                else min(sample_count, round(SAMPLES_PER_SECOND * _INAUDIBLE_VIBRATION_NEPERS / decay))
            )
            vibration_samples = _compute_decaying_sine(
                pitch_hz * ratio, strength / full_strength, decay, audible_sample_count
            )
            note_samples[:audible_sample_count] = map(add, note_samples, vibration_samples)
    if instrument.noise.strength:
        strength, decay = instrument.noise
        audible_sample_count = min(sample_count, round(SAMPLES_PER_SECOND * _INAUDIBLE_NOISE_NEPERS / decay))
        decay_factor = math.exp(-decay / SAMPLES_PER_SECOND)
        noise_strength, noise_strengths = strength / full_strength, []
        for _ in range(audible_sample_count):
            noise_strengths.append(noise_strength)
            noise_strength *= decay_factor
        note_samples[:audible_sample_count] = map(
            add,
            note_samples,
            map(
                mul, _generate_noise(audible_sample_count, instrument.noise_smoothing_count), noise_strengths
            ),
        )
    _fade_in_and_out(
        note_samples,
        instrument.attack_seconds,
        _CUT_FADE_SECONDS if instrument.ring_seconds else instrument.release_seconds,
    )
    return array.array("d", note_samples)


def _fade_in_and_out(samples: list[float], attack_seconds: float, release_seconds: float) -> None:
    """Fade samples in and out, in place; ``attack_seconds`` and ``release_seconds`` are the fade times in seconds."""
    fade_in_count = min(len(samples), round(attack_seconds * SAMPLES_PER_SECOND))
    for i in range(fade_in_count):
        samples[i] *= i / fade_in_count
    fade_out_count = min(len(samples), round(release_seconds * SAMPLES_PER_SECOND))
    for i in range(fade_out_count):
        samples[-1 - i] *= i / fade_out_count


def mix_notes_to_samples(
    notes: Iterable[Note], peak_share: float, *, loop_seconds: float = 0.0, compression: float = 1.0
) -> bytes:
    """Return the sum of the notes as 16-bit samples whose maximum is ``peak_share`` of full scale (0 to 1).

    ``loop_seconds`` is the length in seconds of a sound that is played as a loop: the part that still sounds at its end
    is added to its start, so that no gap is heard. ``compression`` is how strongly loud parts are compressed, which
    makes the sound louder at the same peak; 1.0 is no compression.
    """
    note_samples = [
        (
            round(note.start_seconds * SAMPLES_PER_SECOND),
            _synthesise_note(note.instrument, note.pitch_hz, note.seconds),
            note.loudness,
        )
        for note in notes
    ]
    sample_count = round(loop_seconds * SAMPLES_PER_SECOND) or max(
        start_index + len(samples) for start_index, samples, _ in note_samples
    )
    mixed_samples = [0.0] * sample_count
    for start_index, samples, loudness in note_samples:
        _add_note_samples(
            mixed_samples, start_index % sample_count if loop_seconds else start_index, samples, loudness
        )
    sample_max = max(map(abs, mixed_samples)) or 1.0
    if compression > 1:
        gain = compression / sample_max
        mixed_samples = list(map(math.tanh, map(mul, mixed_samples, repeat(gain))))
        sample_max = math.tanh(compression)
    scale = peak_share * _SAMPLE_MAX / sample_max
    return array.array("h", map(int, map(mul, mixed_samples, repeat(scale)))).tobytes()


def _add_note_samples(
    mixed_samples: list[float], start_index: int, note_samples: Sequence[float], loudness: float
) -> None:
    """Add the samples of a note, multiplied by ``loudness``, to ``mixed_samples`` from the index ``start_index`` on.

    Samples that go beyond the end are added at the beginning.
    """
    added_count = 0
    while added_count < len(note_samples):
        part_length = min(len(note_samples) - added_count, len(mixed_samples) - start_index)
        part = map(mul, note_samples[added_count : added_count + part_length], repeat(loudness))
        mixed_samples[start_index : start_index + part_length] = map(
            add, mixed_samples[start_index : start_index + part_length], part
        )
        added_count, start_index = added_count + part_length, 0


def limit_peak(wave_samples: bytes, peak_share: float) -> bytes:
    """Return samples whose maximum is at most ``peak_share`` of full scale; softer samples are returned unchanged."""
    samples = array.array("h", wave_samples)
    sample_max = max(map(abs, samples), default=0)
    if sample_max <= peak_share * _SAMPLE_MAX:
        return wave_samples
    return array.array(
        "h", (int(sample * peak_share * _SAMPLE_MAX / sample_max) for sample in samples)
    ).tobytes()


def encode_wave_file(samples: bytes) -> bytes:
    """Return 16-bit mono samples as the bytes of a WAV file."""
    file = io.BytesIO()
    with wave.open(file, "wb") as wave_file:
        wave_file.setnchannels(1)
        wave_file.setsampwidth(2)
        wave_file.setframerate(SAMPLES_PER_SECOND)
        wave_file.writeframes(samples)
    return file.getvalue()
