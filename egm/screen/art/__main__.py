"""Draw a game's pictures in a separate process: ``python -m egm.screen.art SECONDS``.

The first line of the standard input is JSON: the name and length of each picture. The bytes of the pictures follow. The
output is the pixels of each picture, or the reason why it cannot be drawn. Each picture is drawn by a child process
with resource limits, so a picture that crashes the decoder does not affect the others. After SECONDS of processor time,
the rest is not drawn.
"""

import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import IO, Final

os.environ["SDL_VIDEODRIVER"] = "dummy"
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import pygame

from egm.private_process import make_process_private
from egm.screen.art.files import PictureError, rasterise_picture
from egm.screen.art.game_pictures import (
    DRAW_MEMORY_BYTES_MAX,
    DRAW_SECONDS_MAX,
    PICTURE_SIDE_PIXELS,
    PICTURE_SIZE_BYTES,
)

#: Exit status of a child process that cannot draw its picture.
_EXIT_CODE_CANNOT_DRAW: Final = 1
#: The reason for a picture that was not drawn within its time.
_DRAWING_TOO_SLOW_TEXT: Final = f"takes longer than {DRAW_SECONDS_MAX} s to draw"


def main() -> None:
    """Read pictures from the standard input and write the pixels of each, or the reason why it cannot be drawn.

    For each picture the output is an empty line followed by the pixels, or one line with the reason.
    """
    make_process_private()
    os.nice(5)
    pygame.display.init()
    pygame.display.set_mode((8, 8))  # Surfaces need a display's pixel format.
    total_seconds_max = float(sys.argv[1])
    for name, length in json.loads(sys.stdin.buffer.readline()):
        drawing_reply = _draw_in_child_process(name, sys.stdin.buffer.read(length), total_seconds_max)
        sys.stdout.buffer.write(
            drawing_reply if len(drawing_reply) == PICTURE_SIZE_BYTES + 1 else drawing_reply + b"\n"
        )
        sys.stdout.buffer.flush()


def _draw_in_child_process(picture_name: str, picture_file_bytes: bytes, total_seconds_max: float) -> bytes:
    """Draw one picture in a child process.

    Return a line feed and the pixels, or a line with the reason why it cannot be drawn. If drawing the earlier pictures
    took more than ``total_seconds_max`` of processor time, do not draw this one, and return a line that says so.
    """
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    if usage.ru_utime + usage.ru_stime > total_seconds_max:
        return f"the pictures before it took {total_seconds_max:g} s to draw".encode()
    read_descriptor, write_descriptor = os.pipe()
    child_pid = os.fork()
    if not child_pid:
        os.close(read_descriptor)
        with os.fdopen(write_descriptor, "wb") as pipe:
            exit_code = _draw(picture_name, picture_file_bytes, pipe)
        os._exit(exit_code)
    os.close(write_descriptor)
    with os.fdopen(read_descriptor, "rb") as output:
        drawing_reply = output.read(PICTURE_SIZE_BYTES + 1)
    _, wait_status = os.waitpid(child_pid, 0)
    if not os.WIFEXITED(wait_status):
        was_too_slow = os.WTERMSIG(wait_status) in {signal.SIGXCPU, signal.SIGKILL}
        return (
            _DRAWING_TOO_SLOW_TEXT
            if was_too_slow
            else f"crashes its decoder (signal {os.WTERMSIG(wait_status)})"
        ).encode()
    return (
        b"\n" + drawing_reply if not os.WEXITSTATUS(wait_status) else drawing_reply or b"crashes its decoder"
    )


def _draw(picture_name: str, picture_file_bytes: bytes, output: IO[bytes]) -> int:
    """Draw one picture with limited memory and time.

    Write its pixels, or the reason for a failure, to ``output``. Return the exit status for the child process: 0 if the
    picture was drawn.
    """
    used_page_count = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    memory_bytes_max = used_page_count * resource.getpagesize() + DRAW_MEMORY_BYTES_MAX
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes_max, memory_bytes_max))
    resource.setrlimit(resource.RLIMIT_CPU, (DRAW_SECONDS_MAX, DRAW_SECONDS_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        surface = rasterise_picture(
            picture_file_bytes, picture_name, (PICTURE_SIDE_PIXELS, PICTURE_SIDE_PIXELS)
        )
        pixels = pygame.image.tobytes(surface, "RGBA")
        reason = "" if surface.get_bounding_rect().size != (0, 0) else "shows nothing"
    except PictureError as error:
        reason = str(error).removeprefix(f"{picture_name}: ")
    except (MemoryError, ArithmeticError, ValueError) as error:
        reason = f"cannot be drawn: {type(error).__name__}"
    output.write(" ".join(reason.split()).encode() or pixels)
    return _EXIT_CODE_CANNOT_DRAW if reason else 0


if __name__ == "__main__":
    main()
