"""The sound of the machine: when sounds are played, their synthesis, and mixing that cannot clip.

:mod:`egm.screen.audio.scores` reads ``sounds.toml`` (instruments, and one family of sounds for each look),
:mod:`egm.screen.audio.synthesis` computes the samples, :mod:`egm.screen.audio.making` does so in a separate
process, :mod:`egm.screen.audio.cues` derives the sounds from two successive views, and
:mod:`egm.screen.audio.mixer` plays them. No other code depends on how a sound is made, except the browser's
sound output.
"""
