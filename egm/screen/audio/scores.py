"""The sounds as data: the contents of ``sounds.toml``, and the notes of every sound of a family.

A **cue** is the name of something that can be heard; scenes and :mod:`egm.screen.audio.cues` use only that name. Each
cue has a **channel**; a new sound on a channel replaces the previous one. The peaks of all channels add up to less than
full scale, so no mix of sounds can clip.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from egm.screen.audio.synthesis import (
    NO_NOISE,
    Instrument,
    Noise,
    Note,
    Vibration,
    compute_hertz_of_midi_note,
    mix_notes_to_samples,
)

#: The file of the scores.
_SOUNDS_FILE: Final = Path(__file__).with_name("sounds.toml")

#: The peak of each channel, as a share of full scale. ``touch`` and ``touch_2`` take turns.
PEAK_SHARE_BY_CHANNEL: Final[Mapping[str, float]] = {
    "music": 0.12,
    "turn": 0.13,
    "lead": 0.4,
    "touch": 0.16,
    "touch_2": 0.16,
}
#: How many reels have their own stop sound; further ones use the last.
REEL_STOP_SOUND_COUNT: Final = 6
#: The tones of the speaker test, in Hz.
TEST_TONES_HZ: Final = {"tone_low": 110.0, "tone_middle": 440.0, "tone_high": 1760.0, "tone_highest": 7040.0}
#: The cues that are alarms.
ALARM_CUES: Final = frozenset({"alarm", "jackpot"})


class SoundError(Exception):
    """Raised if ``sounds.toml`` is unusable; the message says where and why."""


@dataclass(frozen=True, slots=True)
class SoundCue:
    """The properties of a sound cue, such as its channel, its loudness, and whether its sound repeats."""

    channel: str
    is_loop: bool = False
    """Whether the cue's sound repeats until it is stopped."""
    is_of_game_play: bool = False
    """Whether the sound belongs to game play: a host that silences only game play silences this sound."""
    is_per_sound_family: bool = False
    """Whether each sound family has its own sound for this cue, and a game may supply one.

    If not, all games share one sound.
    """
    compression: float = 1.0
    """How strongly the sound's loud parts are made softer, which raises its average loudness; 1.0: not at all."""
    peak_share: float = 1.0
    """The peak level of the cue's sound, as a fraction of its channel's peak level."""


#: The peak of the sound of a win at each celebration level, from 1, as a share of the lead channel's peak.
_WIN_PEAK_SHARES: Final = (0.55, 0.7, 0.85, 1.0)
#: Every cue by name.
SOUND_CUE_BY_NAME: Final[Mapping[str, SoundCue]] = {
    "key": SoundCue("touch"),
    "coin": SoundCue("touch"),
    "paper": SoundCue("touch"),
    "card": SoundCue("touch"),
    "ball": SoundCue("touch", is_of_game_play=True),
    "refused": SoundCue("touch"),
    "reminder": SoundCue("lead", peak_share=0.5),
    "alarm": SoundCue("lead", compression=2.0),
    "jackpot": SoundCue("lead", compression=1.6),
    **dict.fromkeys(TEST_TONES_HZ, SoundCue("lead")),
    "credit": SoundCue("lead", is_per_sound_family=True, peak_share=0.5),
    "attract": SoundCue("music", is_per_sound_family=True, compression=1.6),
    "turn": SoundCue("turn", is_loop=True, is_of_game_play=True, is_per_sound_family=True, compression=1.4),
    **{
        f"stop_{n}": SoundCue("touch", is_of_game_play=True, is_per_sound_family=True, compression=1.4)
        for n in range(1, REEL_STOP_SOUND_COUNT + 1)
    },
    "anticipation": SoundCue(
        "lead",
        is_loop=True,
        is_of_game_play=True,
        is_per_sound_family=True,
        compression=1.4,
        peak_share=0.55,
    ),
    "count": SoundCue("turn", is_loop=True, is_of_game_play=True, is_per_sound_family=True, compression=1.4),
    "count_end": SoundCue(
        "lead", is_of_game_play=True, is_per_sound_family=True, compression=1.4, peak_share=0.55
    ),
    **{
        f"win_{n}": SoundCue(
            "lead", is_of_game_play=True, is_per_sound_family=True, compression=1.6, peak_share=share
        )
        for n, share in enumerate(_WIN_PEAK_SHARES, 1)
    },
    "title": SoundCue("lead", is_of_game_play=True, is_per_sound_family=True, compression=1.6),
    "feature": SoundCue(
        "music", is_loop=True, is_of_game_play=True, is_per_sound_family=True, compression=1.6
    ),
    "closing": SoundCue("lead", is_of_game_play=True, is_per_sound_family=True, compression=1.6),
}


@dataclass(frozen=True, slots=True)
class SoundFamily:
    """A sound family, as in ``sounds.toml``: the music of the games with one look.

    Its chords, melody and accompaniment are given as degrees of its scale.
    """

    root_midi_note: int
    """The MIDI note number of the scale's first degree."""
    scale_semitones: tuple[int, ...]
    """How many semitones each degree of the scale is above the first."""
    eighth_seconds: float
    """The duration of an eighth note in the family's music, in seconds."""
    melody_instrument: Instrument
    """The instrument of the melody."""
    accompaniment_instrument: Instrument
    """The instrument of the pattern of notes that accompanies the melody."""
    chord_instrument: Instrument
    """The instrument of the chords."""
    chords: tuple[int, ...]
    """The scale degree of the chord in each bar."""
    melody: tuple[str, ...]
    """The melody of four bars, a token for each eighth note (:func:`_build_melody`)."""
    accompaniment_figure: tuple[str, ...]
    """The short pattern of notes that accompanies each bar.

    It has an item for each eighth note: the degrees above the chord, or ``.`` for a rest.
    """
    percussion_pattern_by_instrument: Mapping[str, str]
    """The rhythm of each percussion instrument: one character for each eighth note."""
    instrument_names: tuple[str, str]
    """The names of the instruments of the melody and of the accompaniment."""

    def compute_pitch(self, degree: int) -> float:
        """Return the pitch of a degree of the scale, in Hz."""
        octave, degree_in_octave = divmod(degree, len(self.scale_semitones))
        return compute_hertz_of_midi_note(
            self.root_midi_note + 12 * octave + self.scale_semitones[degree_in_octave]
        )

    def list_triad_pitches(self, degree: int) -> tuple[float, ...]:
        """Return the pitches in Hz of the triad on a scale degree.

        The triad takes every second degree; in a scale of five degrees it is therefore wider than a third and a fifth.
        """
        return tuple(self.compute_pitch(degree + degrees_above) for degrees_above in (0, 2, 4))

    @property
    def octave_degree(self) -> int:
        """Return the scale degree that is one octave above the first."""
        return len(self.scale_semitones)


@dataclass(frozen=True, slots=True)
class SoundTable:
    """The sound table: the complete contents of ``sounds.toml``."""

    instrument_by_name: Mapping[str, Instrument]
    notes_by_common_cue: Mapping[str, tuple[Note, ...]]
    """The notes of each sound that all games share, by cue."""
    family_by_name: Mapping[str, SoundFamily]


@cache
def read_sound_table() -> SoundTable:
    """Read ``sounds.toml``. Raises :class:`SoundError` naming the file and the key."""
    location = ""
    try:
        sound_data = tomllib.loads(_SOUNDS_FILE.read_text("utf-8"))
        instrument_by_name = {}
        for name, instrument_data in sound_data["instruments"].items():
            location = f"instruments.{name}"
            instrument_by_name[name] = _parse_instrument(instrument_data)
        notes_by_common_cue = {}
        for name, notes in sound_data["common"].items():
            location = f"common.{name}"
            notes_by_common_cue[name] = tuple(
                Note(
                    instrument_by_name[instrument],
                    start_seconds,
                    compute_hertz_of_midi_note(midi_note),
                    seconds,
                    loudness,
                )
                for instrument, start_seconds, midi_note, seconds, loudness in notes
            )
        family_by_name = {}
        for name, family_data in sound_data["families"].items():
            location = f"families.{name}"
            family_by_name[name] = _parse_family(family_data, instrument_by_name)
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise SoundError(f"{_SOUNDS_FILE}: {location}: {error!r}") from error
    return SoundTable(instrument_by_name, notes_by_common_cue, family_by_name)


def _parse_instrument(instrument_data: Mapping[str, Any]) -> Instrument:
    """Return an instrument from its table in ``sounds.toml``."""
    noise = instrument_data.get("noise", NO_NOISE)
    return Instrument(
        tuple(Vibration(*map(float, mode)) for mode in instrument_data["modes"]),
        **{
            parameter: float(instrument_data[key])
            for key, parameter in (
                ("attack", "attack_seconds"),
                ("ring", "ring_seconds"),
                ("release", "release_seconds"),
            )
            if key in instrument_data
        },
        noise=Noise(*map(float, noise)),
        noise_smoothing_count=int(instrument_data.get("dull", 0)),
    )


def _parse_family(
    family_data: Mapping[str, Any], instrument_by_name: Mapping[str, Instrument]
) -> SoundFamily:
    """Return a sound family from its table in ``sounds.toml``.

    Raises ValueError if a pattern has the wrong length.
    """
    family = SoundFamily(
        int(family_data["root"]),
        tuple(map(int, family_data["scale"])),
        30 / float(family_data["tempo"]),
        instrument_by_name[family_data["lead"]],
        instrument_by_name[family_data["second"]],
        instrument_by_name[family_data["pad"]],
        tuple(map(int, family_data["chords"])),
        tuple(family_data["melody"].split()),
        tuple(family_data["figure"].split()),
        {str(instrument): str(pattern) for instrument, pattern in family_data["beats"].items()},
        (str(family_data["lead"]), str(family_data["second"])),
    )
    pattern_lengths = (
        len(family.chords),
        len(family.melody),
        len(family.accompaniment_figure),
        *map(len, family.percussion_pattern_by_instrument.values()),
    )
    if pattern_lengths[:3] != (4, 32, 8) or set(pattern_lengths[3:]) != {8}:
        raise ValueError(
            f"expected 4 chords, 32 tokens of melody, 8 of figure and of each beat; found {pattern_lengths}"
        )
    return family


#: The notes of a sound.
Notes = list[Note]


def _build_melody(
    family: SoundFamily, tokens: tuple[str, ...], instrument: Instrument, loudness: float
) -> Notes:
    """Return the notes of a melody.

    Each of ``tokens`` lasts an eighth: a number is a note with this scale degree, ``-`` extends the note before it, and
    ``.`` is a rest.
    """
    notes: Notes = []
    for index, token in enumerate(tokens):
        if token not in {".", "-"}:
            eighth_count = 1
            while index + eighth_count < len(tokens) and tokens[index + eighth_count] == "-":
                eighth_count += 1
            notes.append(
                Note(
                    instrument,
                    index * family.eighth_seconds,
                    family.compute_pitch(int(token)),
                    eighth_count * family.eighth_seconds * 0.9,
                    loudness,
                )
            )
    return notes


def _build_accompaniment(family: SoundFamily, bar_count: int) -> Notes:
    """Return the notes of an accompaniment for the given number of bars: bass, chords, figure and percussion."""
    instrument_by_name = read_sound_table().instrument_by_name
    notes: Notes = []
    for bar_index in range(bar_count):
        bar_start_seconds, chord = (
            bar_index * 8 * family.eighth_seconds,
            family.chords[bar_index % len(family.chords)],
        )
        notes += [
            Note(family.chord_instrument, bar_start_seconds, pitch, 7.6 * family.eighth_seconds, 0.16)
            for pitch in family.list_triad_pitches(chord)
        ]
        bass_pitch = family.compute_pitch(chord) / 2
        notes += [
            Note(
                instrument_by_name["bass"],
                bar_start_seconds + eighth_index * family.eighth_seconds,
                bass_pitch,
                0.3,
                0.6,
            )
            for eighth_index in (0, 4)
        ]
        notes += [
            Note(
                family.accompaniment_instrument,
                bar_start_seconds + eighth_index * family.eighth_seconds,
                family.compute_pitch(chord + int(degrees_above)),
                0.12,
                0.3,
            )
            for eighth_index, degrees_above in enumerate(family.accompaniment_figure)
            if degrees_above != "."
        ]
        notes += [
            Note(
                instrument_by_name[name],
                bar_start_seconds + eighth_index * family.eighth_seconds,
                90.0,
                0.1,
                0.3,
            )
            for name, pattern in family.percussion_pattern_by_instrument.items()
            for eighth_index, mark in enumerate(pattern)
            if mark == "x"
        ]
    return notes


def _build_note_run(
    family: SoundFamily, degrees: tuple[int, ...], seconds_between_notes: float, start_seconds: float = 0.0
) -> Notes:
    """Return the notes of ``degrees`` played one after another on the melody instrument.

    The first note starts at ``start_seconds``; the notes are ``seconds_between_notes`` apart.
    """
    return [
        Note(
            family.melody_instrument,
            start_seconds + i * seconds_between_notes,
            family.compute_pitch(d),
            seconds_between_notes * 1.6,
            0.8,
        )
        for i, d in enumerate(degrees)
    ]


def _build_chord(family: SoundFamily, degree: int, start_seconds: float, seconds: float) -> Notes:
    """Return the notes of a chord on a scale degree with a drum beat, starting at ``start_seconds``."""
    instrument_by_name = read_sound_table().instrument_by_name
    pitches = (*family.list_triad_pitches(degree), family.compute_pitch(degree + family.octave_degree))
    return [
        *(
            Note(instrument, start_seconds, p, seconds, 0.4)
            for p in pitches
            for instrument in (family.melody_instrument, family.chord_instrument)
        ),
        Note(instrument_by_name["bass"], start_seconds, family.compute_pitch(degree) / 2, seconds, 0.8),
        Note(instrument_by_name["drum"], start_seconds, 82.0, 0.3, 0.8),
    ]


def _build_spin_loop(family: SoundFamily) -> tuple[Notes, float]:
    """Return the notes of the sound of spinning reels, a whirr with a short melody, and its length in seconds.

    It is played as a loop.
    """
    instrument_by_name, step_seconds = read_sound_table().instrument_by_name, family.eighth_seconds / 2
    notes: Notes = [Note(instrument_by_name["whirr"], 0, 98, 16 * step_seconds - 0.02, 0.5)]
    for index in range(16):
        chord = family.chords[0] if index < 8 else family.chords[2]
        degrees_above = family.accompaniment_figure[index % 8]
        if degrees_above != ".":
            notes.append(
                Note(
                    family.accompaniment_instrument,
                    index * step_seconds,
                    family.compute_pitch(chord + int(degrees_above)),
                    0.06,
                    0.5,
                )
            )
        if index % 2 == 0:
            notes.append(Note(instrument_by_name["shaker"], index * step_seconds, 90, 0.05, 0.25))
        if index % 8 == 0:
            notes.append(
                Note(
                    instrument_by_name["bass"],
                    index * step_seconds,
                    family.compute_pitch(chord) / 2,
                    0.2,
                    0.6,
                )
            )
    return notes, 16 * step_seconds


def _build_anticipation(family: SoundFamily) -> tuple[Notes, float]:
    """Return the notes of the sound of anticipation, a trill over a drum roll, and its length in seconds.

    It is played as a loop until the reel stops.
    """
    instrument_by_name, step_seconds = read_sound_table().instrument_by_name, 0.085
    octave_degree = family.octave_degree
    notes = [
        Note(
            family.melody_instrument,
            i * step_seconds,
            family.compute_pitch(octave_degree + (4 if i % 2 else 5)),
            step_seconds,
            0.6,
        )
        for i in range(12)
    ]
    notes += [
        Note(instrument_by_name["drum"], i * step_seconds, 70.0, 0.1, 0.3 + 0.03 * (i % 4)) for i in range(12)
    ]
    return notes, 12 * step_seconds


def _build_count_up_loop(family: SoundFamily) -> tuple[Notes, float]:
    """Return the notes of the sound of a win being counted up, a run of short notes, and its length in seconds.

    It is played as a loop.
    """
    instrument_by_name, step_seconds, octave_degree = (
        read_sound_table().instrument_by_name,
        0.07,
        family.octave_degree,
    )
    degrees = (0, 2, 4, 2, 0, 4, 2, 4)
    notes = [Note(instrument_by_name["tick"], i * step_seconds, 2400.0, 0.03, 0.5) for i in range(8)]
    notes += [
        Note(
            family.accompaniment_instrument,
            i * step_seconds,
            family.compute_pitch(octave_degree + d),
            0.05,
            0.7,
        )
        for i, d in enumerate(degrees)
    ]
    return notes, 8 * step_seconds


def _build_win_music(family: SoundFamily, celebration_level: int) -> Notes:
    """Return the notes of the music for a win of celebration level 1 to 4.

    Level 1 has three notes, level 2 is a fanfare, level 3 has one bar of melody, level 4 has two bars, and bells.
    """
    octave_degree, eighth_seconds = family.octave_degree, min(family.eighth_seconds, 0.2)
    if celebration_level == 1:
        return _build_note_run(family, (octave_degree, octave_degree + 2, octave_degree + 4), 0.1)
    if celebration_level == 2:
        return [*_build_note_run(family, (0, 2, 4, octave_degree), 0.1), *_build_chord(family, 0, 0.42, 0.7)]
    bar_count = 1 if celebration_level == 3 else 2
    theme_start_seconds = 5 * 0.09
    opening = _build_note_run(family, (0, 2, 4, octave_degree, octave_degree + 2), 0.09)
    theme = [
        *_build_accompaniment(family, bar_count),
        *_build_melody(family, family.melody[: bar_count * 8], family.melody_instrument, 1.0),
    ]
    delayed_theme = [replace(note, start_seconds=note.start_seconds + theme_start_seconds) for note in theme]
    theme_end_seconds = theme_start_seconds + bar_count * 8 * family.eighth_seconds
    notes = [*opening, *delayed_theme, *_build_chord(family, 0, theme_end_seconds, 1.4)]
    if celebration_level == 4:
        bell = read_sound_table().instrument_by_name["bell"]
        notes += [
            Note(
                bell,
                theme_end_seconds + i * eighth_seconds,
                family.compute_pitch(octave_degree + d),
                0.3,
                0.4,
            )
            for i, d in enumerate((4, 2, 4, octave_degree))
        ]
    return notes


def _build_reel_stop(family: SoundFamily, reel_number: int) -> Notes:
    """Return the notes of the sound of a stopping reel: a knock, and a note that is higher for each reel, from 1."""
    degree = (0, 2, 4, family.octave_degree, family.octave_degree + 2, family.octave_degree + 4)[
        reel_number - 1
    ]
    knock = read_sound_table().instrument_by_name["knock"]
    return [
        Note(knock, 0, 92.0, 0.2, 1.0),
        Note(family.melody_instrument, 0.01, family.compute_pitch(degree), 0.16, 0.7),
    ]


def _build_title_fanfare(family: SoundFamily) -> Notes:
    """Return the notes of the fanfare that announces a feature."""
    octave_degree, drum = family.octave_degree, read_sound_table().instrument_by_name["drum"]
    roll = [Note(drum, i * 0.07, 74.0, 0.1, 0.2 + 0.05 * i) for i in range(10)]
    rising_notes = _build_note_run(
        family, (0, 2, 4, octave_degree, octave_degree + 2, octave_degree + 4, 2 * octave_degree), 0.1
    )
    return [*roll, *rising_notes, *_build_chord(family, 0, 0.78, 1.1), *_build_chord(family, 4, 0.74, 0.1)]


def _build_closing_tune(family: SoundFamily) -> Notes:
    """Return the notes of the tune that ends a feature."""
    return [
        *_build_chord(family, 3, 0, 0.28),
        *_build_chord(family, 4, 0.32, 0.28),
        *_build_chord(family, 0, 0.64, 1.2),
        *_build_note_run(
            family,
            (
                family.octave_degree,
                family.octave_degree + 2,
                family.octave_degree + 4,
                2 * family.octave_degree,
            ),
            0.1,
            0.7,
        ),
    ]


def _build_attract_tune(family: SoundFamily) -> Notes:
    """Return the notes of the tune that an idle machine plays to attract players."""
    tune_seconds = 16 * family.eighth_seconds
    return [
        *_build_accompaniment(family, 2),
        *_build_melody(family, family.melody[:16], family.melody_instrument, 0.9),
        *_build_chord(family, 0, tune_seconds, 1.6),
    ]


#: Functions that return the notes of the cues that sound once.
_NOTES_FUNCTION_BY_CUE: Final[Mapping[str, Callable[[SoundFamily], Notes]]] = {
    "credit": lambda f: _build_note_run(f, (f.octave_degree, f.octave_degree + 4), 0.1),
    "attract": _build_attract_tune,
    "count_end": lambda f: _build_chord(f, 0, 0, 0.8),
    "title": _build_title_fanfare,
    "closing": _build_closing_tune,
}
#: Functions that return the notes of the looped cues, and the seconds after which they repeat.
_LOOP_FUNCTION_BY_CUE: Final[Mapping[str, Callable[[SoundFamily], tuple[Notes, float]]]] = {
    "turn": _build_spin_loop,
    "anticipation": _build_anticipation,
    "count": _build_count_up_loop,
    "feature": lambda f: (
        [*_build_accompaniment(f, 4), *_build_melody(f, f.melody, f.melody_instrument, 0.9)],
        32 * f.eighth_seconds,
    ),
}


def build_cue_notes(cue: str, family_name: str) -> tuple[list[Note], float]:
    """Return the notes of a sound cue in a family, and the loop's length in seconds (0: the sound is not a loop).

    For a cue with one sound for all games, the family does not matter.
    """
    if not SOUND_CUE_BY_NAME[cue].is_per_sound_family:
        return list(read_sound_table().notes_by_common_cue[cue]), 0.0
    sound_family = read_sound_table().family_by_name[family_name]
    if cue in _LOOP_FUNCTION_BY_CUE:
        return _LOOP_FUNCTION_BY_CUE[cue](sound_family)
    name, _, number = cue.rpartition("_")
    if name in {"stop", "win"}:
        return (_build_reel_stop if name == "stop" else _build_win_music)(sound_family, int(number)), 0.0
    return _NOTES_FUNCTION_BY_CUE[cue](sound_family), 0.0


def synthesise_cue(cue: str, sound_family: str) -> bytes:
    """Return the samples (16 bits, mono) of a cue in a family, at the cue's share of its channel's peak level."""
    sound_cue = SOUND_CUE_BY_NAME[cue]
    notes, loop_seconds = build_cue_notes(cue, sound_family)
    return mix_notes_to_samples(
        notes,
        PEAK_SHARE_BY_CHANNEL[sound_cue.channel] * sound_cue.peak_share,
        loop_seconds=loop_seconds,
        compression=sound_cue.compression,
    )


def list_family_cues() -> tuple[str, ...]:
    """Return the cues for which each sound family has its own sound."""
    return tuple(name for name, cue in SOUND_CUE_BY_NAME.items() if cue.is_per_sound_family)


def list_common_cues() -> tuple[str, ...]:
    """Return the cues whose sounds all games share."""
    return tuple(name for name, cue in SOUND_CUE_BY_NAME.items() if not cue.is_per_sound_family)
