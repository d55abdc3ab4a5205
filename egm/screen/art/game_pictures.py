"""Pictures supplied by a game, drawn in a separate process, so that no picture file can stop the screen.

The format of the files is limited when the game is loaded (:mod:`paytables.assets`), but a decoder can still crash or
hang on a file. Each picture is therefore drawn by a separate process with limited processor time and memory, once while
it is cached. The screen receives its pixels, or the reason why it cannot be drawn. ``egm game check`` does the same.
"""

import asyncio
import contextlib
import io
import json
from collections.abc import Iterable, Sequence
from typing import IO, Final

import pygame
from PIL import Image

from egm.isolated import build_python_command
from egm.kernel.messages import ArtFile
from egm.screen.art.files import read_unchanged_file
from egm.terminal import echo

#: Width and height of a drawn picture, in pixels: more than a symbol needs on the largest screen.
PICTURE_SIDE_PIXELS: Final = 384
#: Size of a drawn picture in bytes: four for each pixel.
PICTURE_SIZE_BYTES: Final = PICTURE_SIDE_PIXELS * PICTURE_SIDE_PIXELS * 4
#: The maximum processor time for drawing one picture, in seconds.
DRAW_SECONDS_MAX: Final = 1
#: Processor seconds after which no further picture of one request is drawn.
_game_drawing_seconds_max = 5.0
#: Bytes of memory for drawing one picture, in addition to those that the process uses already.
DRAW_MEMORY_BYTES_MAX: Final = 256 * 1024 * 1024
#: The longest wait for the drawing process, in seconds, even if the computer is busy.
_PROCESS_SECONDS_MAX: Final = 25.0
#: Maximum number of cached pictures.
_CACHED_PICTURES_MAX: Final = 128

#: The drawn pictures; None for one that cannot be used. The one that was drawn first comes first.
_picture_cache: dict[ArtFile, Image.Image | None] = {}


def draw_in_child_process(pictures: Sequence[tuple[str, bytes]]) -> list[bytes | str]:
    """Draw pictures in separate processes; return the pixels of each, or the reason why it cannot be drawn.

    ``pictures`` are pairs of a file's name and its bytes. The pixels are premultiplied RGBA: ``PICTURE_SIDE_PIXELS``
    rows of as many pixels.
    """
    header = json.dumps([(name, len(data)) for name, data in pictures]).encode() + b"\n"
    try:
        output = io.BytesIO(
            asyncio.run(_run_drawing_process(header + b"".join(data for _, data in pictures)))
        )
    except OSError as error:
        return [f"could not be drawn: {error.strerror}"] * len(pictures)
    return [_read_drawn_picture(output) for _ in pictures]


async def _run_drawing_process(request: bytes) -> bytes:
    """Run the drawing process with the input ``request``, and return its output.

    If it takes too long, return the output so far. Raises OSError.
    """
    process = await asyncio.create_subprocess_exec(
        *build_python_command("egm.screen.art", f"{_game_drawing_seconds_max:g}"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # The screen handles a Ctrl-C at the terminal.
    )
    output = bytearray()
    if process.stdin is not None and process.stdout is not None:
        process.stdin.write(request)
        process.stdin.write_eof()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PROCESS_SECONDS_MAX):
                while piece := await process.stdout.read(1 << 16):
                    output += piece
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()
    return bytes(output)


def _read_drawn_picture(output: IO[bytes]) -> bytes | str:
    """Read one picture from the drawing process's output: its pixels, or the reason why it could not be drawn."""
    reason = output.readline().decode("utf-8", "replace").strip()
    if reason:
        return reason
    pixels = output.read(PICTURE_SIZE_BYTES)
    return pixels if len(pixels) == PICTURE_SIZE_BYTES else "could not be drawn"


def get_game_picture(
    requested_file: ArtFile, side_pixels: int, other_files: Iterable[ArtFile] = ()
) -> pygame.Surface | None:
    """Return a game's own picture as a premultiplied square of ``side_pixels`` pixels, or None if its file is unusable.

    The reason for None is reported when the picture is drawn. If the picture is not cached yet, ``other_files`` (the
    game's other pictures) are drawn and cached with it, because they will soon be needed.
    """
    if requested_file not in _picture_cache:
        _draw_into_cache(requested_file, other_files)
    picture = _picture_cache[requested_file]
    if picture is None:
        return None
    # The display's own scaling changes colours slightly; this keeps a plain colour exact.
    scaled_picture = picture.resize((side_pixels, side_pixels), Image.Resampling.BILINEAR)
    return pygame.image.frombytes(scaled_picture.tobytes(), (side_pixels, side_pixels), "RGBA")


def _draw_into_cache(requested_file: ArtFile, other_files: Iterable[ArtFile]) -> None:
    """Draw the given pictures that are not cached yet, and cache them; report those that cannot be used.

    If the cache is full, remove the oldest pictures.
    """
    uncached_files = [
        file for file in dict.fromkeys((*other_files, requested_file)) if file not in _picture_cache
    ]
    data_by_file = {file: data for file in uncached_files if (data := read_unchanged_file(file)) is not None}
    _picture_cache.update(dict.fromkeys(uncached_files))
    pixels_or_reasons = (
        draw_in_child_process([(file.path, data) for file, data in data_by_file.items()])
        if data_by_file
        else []
    )
    for file, pixels_or_reason in zip(data_by_file, pixels_or_reasons, strict=True):
        if isinstance(pixels_or_reason, str):
            echo(f"screen: {file.path}: {pixels_or_reason}; it is not used", err=True)
        else:
            _picture_cache[file] = Image.frombytes(
                "RGBa", (PICTURE_SIDE_PIXELS, PICTURE_SIDE_PIXELS), pixels_or_reason
            )
    while len(_picture_cache) > _CACHED_PICTURES_MAX:
        del _picture_cache[next(iter(_picture_cache))]
