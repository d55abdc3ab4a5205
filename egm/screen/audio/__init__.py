"""The sound of the machine: when sounds are played, how they are synthesised, and how they are mixed without clipping.

:mod:`egm.screen.audio.scores` reads ``sounds.toml`` (instruments, and one family of sounds for each look).
:mod:`egm.screen.audio.synthesis` computes the samples, and :mod:`egm.screen.audio.sound_store` runs it in a separate
process. :mod:`egm.screen.audio.cues` derives the sounds to play from two successive views, and
:mod:`egm.screen.audio.mixer` plays them. No other code, except the browser's sound output, depends on how a sound is
made.
"""
