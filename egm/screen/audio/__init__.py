"""The sound of the machine: what is heard when, made by our own arithmetic, mixed so that it cannot clip.

:mod:`egm.screen.audio.scores` reads ``sounds.toml`` (instruments, and one family of sounds a look),
:mod:`egm.screen.audio.synthesis` makes samples of it, :mod:`egm.screen.audio.making` does so in a process
of its own, :mod:`egm.screen.audio.cues` knows what is to be heard from one view to the next, and
:mod:`egm.screen.audio.mixer` sounds it. Nothing but the speakers of a browser knows how a sound is made.
"""
