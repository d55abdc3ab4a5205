"""Sound synthesis in a separate process, so that no frame waits for a sound."""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncIterator
from typing import IO, Final

from egm.isolated import build_python_command
from egm.kernel.messages import GameView
from egm.screen.art.files import read_unchanged_file
from egm.screen.audio.scores import (
    PEAK_SHARE_BY_CHANNEL,
    SOUND_CUE_BY_NAME,
    list_common_cues,
    list_family_cues,
    synthesise_cue,
)
from egm.screen.audio.synthesis import limit_peak
from egm.terminal import echo
from paytables.assets import read_samples

#: The family name of the sounds that all games share.
COMMON_FAMILY: Final = "common"
#: The maximum number of bytes of one sound.
_SOUND_BYTES_MAX: Final = 4_000_000
#: Seconds until the next attempt if no process could be started.
_PROCESS_RETRY_SECONDS: Final = 5.0


def write_family_sounds(sound_family: str, output: IO[bytes]) -> None:
    """Write every sound of a family to ``output``.

    The family :data:`COMMON_FAMILY` has the sounds that all games share. Each sound is a line with its cue and its
    length in bytes, followed by its samples.
    """
    for cue in list_common_cues() if sound_family == COMMON_FAMILY else list_family_cues():
        data = synthesise_cue(cue, sound_family)
        output.write(f"{cue} {len(data)}\n".encode() + data)
        output.flush()


async def read_family_sounds(stream: asyncio.StreamReader) -> AsyncIterator[tuple[str, bytes]]:
    """Yield the cue and the samples of each sound that :func:`write_family_sounds` wrote.

    An incomplete sound at the end of the stream is left out. Raises ValueError for invalid data.
    """
    while line := await stream.readline():
        cue, length = line.decode("ascii").split()
        if cue not in SOUND_CUE_BY_NAME or not 0 <= int(length) <= _SOUND_BYTES_MAX:
            raise ValueError(f"no sound: {line!r}")
        try:
            yield cue, await stream.readexactly(int(length))
        except asyncio.IncompleteReadError:
            return


def build_game_family_name(game: GameView) -> str:
    """Return the name of the sound family under which the sounds that a game supplies are stored."""
    return f"own:{game.digest}"


class SoundStore:
    """A store of sounds, by cue and family.

    On request, a thread lets a child process synthesise the sounds of a family. Games can add sounds of their own.
    Until a sound is synthesised, nothing is played for it.
    """

    def __init__(self) -> None:
        self._samples_by_cue_and_family: dict[tuple[str, str], bytes] = {}
        self._requested_families: set[str] = set()
        self._attempted_game_sounds: set[tuple[str, str]] = set()
        self._waiting_families: deque[str] = deque()
        self._condition = threading.Condition()
        self._process: asyncio.subprocess.Process | None = None
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def request_families(self, *families: str) -> None:
        """Request the synthesis of the sound families named in the arguments, in this order.

        The sounds that all games share come first. A new request goes before older ones that are still waiting. A
        family that was requested before is ignored.
        """
        new_families = [
            sound_family
            for sound_family in dict.fromkeys((COMMON_FAMILY, *families))
            if sound_family not in self._requested_families
        ]
        if not new_families:
            return
        with self._condition:
            self._requested_families.update(new_families)
            self._waiting_families.extendleft(reversed(new_families))
            self._condition.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._synthesise_requested, name="sounds", daemon=True)
            self._thread.start()

    def store_game_sounds(self, game: GameView) -> None:
        """Store the sounds that a game supplies, unless this was done or attempted before.

        A sound whose peak is higher than its channel's peak level is made softer.
        """
        for cue, file in game.art.sounds.items():
            key = (cue, build_game_family_name(game))
            if key in self._attempted_game_sounds or cue not in SOUND_CUE_BY_NAME:
                continue
            self._attempted_game_sounds.add(key)
            if (data := read_unchanged_file(file)) is not None:
                self._samples_by_cue_and_family[key] = limit_peak(
                    read_samples(data), PEAK_SHARE_BY_CHANNEL[SOUND_CUE_BY_NAME[cue].channel]
                )

    def find_sound(self, cue: str, sound_family: str) -> bytes | None:
        """Return the samples of a cue in a family, or None if they are not synthesised yet or do not exist."""
        sound_cue = SOUND_CUE_BY_NAME.get(cue)
        return (
            None
            if sound_cue is None
            else self._samples_by_cue_and_family.get(
                (cue, sound_family if sound_cue.is_per_sound_family else COMMON_FAMILY)
            )
        )

    def close(self) -> None:
        """Stop the thread that synthesises sounds, and the process that it waits for."""
        with self._condition:
            self._is_closed = True
            self._condition.notify()
            if self._process is not None:
                with contextlib.suppress(ProcessLookupError):
                    self._process.kill()

    def _synthesise_requested(self) -> None:
        """Synthesise the requested families one after another until the store is closed (runs in a thread).

        A sound family for which no process can be started is tried again later.
        """
        while True:
            with self._condition:
                while not self._waiting_families and not self._is_closed:
                    self._condition.wait()
                if self._is_closed:
                    return
                sound_family = self._waiting_families.popleft()
            try:
                asyncio.run(self._synthesise_family(sound_family))
            except OSError as error:  # No descriptor or memory for a process: try again later.
                echo(
                    f"screen: the sounds of {sound_family}: {error.strerror}; they are tried again", err=True
                )
                with self._condition:
                    self._waiting_families.append(sound_family)
                    self._condition.wait_for(lambda: self._is_closed, timeout=_PROCESS_RETRY_SECONDS)

    async def _synthesise_family(self, sound_family: str) -> None:
        """Synthesise the sounds of a family in a child process and store them; report if the process fails."""
        process = await asyncio.create_subprocess_exec(
            *build_python_command("egm.screen.audio", sound_family),
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # The screen handles a Ctrl-C at the terminal.
        )
        with self._condition:
            self._process = process
            if self._is_closed:
                process.kill()
        stream = process.stdout
        try:
            if stream is not None:
                async for cue, data in read_family_sounds(stream):
                    self._samples_by_cue_and_family[cue, sound_family] = data
        except ValueError:  # Not a sound; the exit status shows the error.
            process.kill()
        if await process.wait() and not self._is_closed:
            echo(f"screen: the sounds of {sound_family} could not be made", err=True)
