"""Audio output on this computer's device, and :class:`SoundOutput`, the interface that the browser's has too."""

import contextlib
from typing import Final, Protocol

import pygame

from egm.screen.audio.scores import PEAK_SHARE_BY_CHANNEL, SOUND_CUE_BY_NAME
from egm.screen.audio.sound_store import SoundStore
from egm.screen.audio.synthesis import SAMPLES_PER_SECOND

#: Samples in the device's buffer (46 ms). SDL mixes in its own thread, independently of the screen's frame rate.
BUFFER_SAMPLE_COUNT: Final = 1024
#: Length of a fade-out, in milliseconds.
_FADE_MS: Final = 120


class SoundOutput(Protocol):
    """A sound output that plays sound cues (:mod:`egm.screen.audio.scores`) on channels, one sound at a time on each.

    Its methods never block, and do nothing if there is no audio device.
    """

    def play(self, cue: str, sound_family: str, channel: str, loudness: float) -> None:
        """Play a sound cue of a sound family, replacing the sound on its channel, at a loudness from 0 to 1."""
        ...

    def stop(self, channel: str) -> None:
        """Fade out the sound on the channel."""
        ...

    def set_loudness(self, channel: str, loudness: float) -> None:
        """Set the loudness (0 to 1) of the sound on the channel."""
        ...


class SoundMixer:
    """A sound output that uses this computer's audio device through SDL. Without a device it is silent."""

    def __init__(self, sound_store: SoundStore) -> None:
        self._sound_store = sound_store
        self._sounds: dict[bytes, pygame.mixer.Sound] = {}
        self._channel_numbers = {name: number for number, name in enumerate(PEAK_SHARE_BY_CHANNEL)}
        self.has_device = False
        """Whether there is an audio device."""
        with contextlib.suppress(pygame.error):
            pygame.mixer.init(SAMPLES_PER_SECOND, -16, 1, BUFFER_SAMPLE_COUNT)
            pygame.mixer.set_num_channels(len(PEAK_SHARE_BY_CHANNEL))
            self.has_device = True

    def play(self, cue: str, sound_family: str, channel: str, loudness: float) -> None:
        """Play a sound cue, replacing the sound on its channel, at a loudness from 0 to 1.

        If the sound has not been synthesised yet, play nothing.
        """
        data = self._sound_store.find_sound(cue, sound_family)
        if data is None or not self.has_device:
            return
        with contextlib.suppress(pygame.error):  # The device may have been removed.
            if data not in self._sounds:
                self._sounds[data] = pygame.mixer.Sound(buffer=data)
            mixer_channel = pygame.mixer.Channel(self._channel_numbers[channel])
            mixer_channel.set_volume(loudness)
            mixer_channel.play(self._sounds[data], loops=-1 if SOUND_CUE_BY_NAME[cue].is_loop else 0)

    def stop(self, channel: str) -> None:
        """Fade out the sound on the channel."""
        if self.has_device:
            with contextlib.suppress(pygame.error):
                pygame.mixer.Channel(self._channel_numbers[channel]).fadeout(_FADE_MS)

    def set_loudness(self, channel: str, loudness: float) -> None:
        """Set the loudness (0 to 1) of the sound on the channel."""
        if self.has_device:
            with contextlib.suppress(pygame.error):
                pygame.mixer.Channel(self._channel_numbers[channel]).set_volume(loudness)
