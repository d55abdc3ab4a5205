"""Time from start to attract mode, as on a cabinet: no laboratory package, every profile, new and existing memory.

The machine's process is measured until a screen has its first picture, and the screen's process until its
first frame, which shows what the machine is doing.
"""

import contextlib
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from egm.config.cabinet_file import DEFAULT_CABINET, StateFolder
from egm.isolated import build_python_command
from egm.kernel.messages import LINE_BYTES_MAX, Hello, Snapshot, decode, encode
from egm.profiles import list_profile_ids
from egm.unix_sockets import open_socket_address
from tools.dev.bench import Figure

#: What a laboratory has and a cabinet has not.
_LABORATORY: Final = ("jinja2", "matplotlib", "numba", "numpy", "scipy")
_CODE: Final = (
    "import runpy, sys\n"
    f"for name in {_LABORATORY!r}: sys.modules[name] = None\n"
    "sys.argv[0] = 'egm.app'\n"
    "runpy.run_module('egm.app', run_name='__main__')\n"
)
_PATIENCE_SECONDS: Final = 120.0


def _cabinet(folder: Path, profile: str) -> Path:
    """Write the demonstration's cabinet file for a jurisdiction."""
    text = DEFAULT_CABINET.read_text(encoding="utf-8")
    house = f'profile = "{profile}"\nlicence_holder = "bench"\naddress = "bench"'
    file = folder / f"{profile}.toml"
    file.write_text(text.replace('profile = "generic"', house) + "\n[metrics]\nport = 0\n", encoding="utf-8")
    return file


def _processor_seconds(process: int) -> float:
    """Return the processor seconds that a living process has used."""
    words = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _machine(state: StateFolder, cabinet: Path) -> tuple[float, float]:
    """Return the seconds from a cold process to the first picture of a machine, and its processor seconds."""
    where = ("--state", str(state.root), "--cabinet", str(cabinet))
    began = time.perf_counter()
    process = subprocess.Popen((sys.executable, "-I", "-c", _CODE, *where), stderr=subprocess.DEVNULL)
    try:
        while time.perf_counter() - began < _PATIENCE_SECONDS:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
                with open_socket_address(state.screen_socket) as address:
                    line.connect(address)
                line.settimeout(_PATIENCE_SECONDS)
                line.sendall(encode(Hello(token=state.screen_token.read_text(encoding="ascii").strip())))
                with line.makefile("rb") as heard:
                    while not isinstance(decode(heard.readline(LINE_BYTES_MAX)), Snapshot):
                        pass
                return time.perf_counter() - began, _processor_seconds(process.pid)
            time.sleep(0.01)
        raise TimeoutError(f"{cabinet.stem}: no picture within {_PATIENCE_SECONDS:.0f} s")
    finally:
        process.terminate()
        process.wait()


def _imports() -> float:
    """Return the processor seconds of importing what a machine's process runs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run((sys.executable, "-I", "-c", "import egm.app.process"), check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _screen(folder: Path) -> float:
    """Seconds from a cold process to a screen that can be opened, with no machine there yet."""
    (folder / "run").mkdir()
    arguments = build_python_command("egm.screen", "--state", str(folder), "--mode", "web", "--silent")
    began = time.perf_counter()
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    seconds = time.perf_counter() - began
    process.terminate()
    process.wait()
    process.stdout.close()
    return seconds


def figures() -> Iterator[Figure]:
    """Each profile's machine, the first time and again; then the screen that says what it does."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        imports = _imports()
        for profile in list_profile_ids():
            state = StateFolder(folder / profile)
            for when in ("first start", "start again"):
                seconds, processor = _machine(state, _cabinet(folder, profile))
                what = f"{profile}: {when}, to the first picture of the machine"
                yield Figure(what, seconds, "s", better="lower", aim="value <= 4 s")
                yield Figure(
                    f"{what}, processor",
                    processor,
                    "s",
                    "its imports alone",
                    imports,
                    better="lower",
                    aim="value <= 2.5 s",
                )
        (folder / "screen").mkdir()
        yield Figure(
            "screen that says what a starting machine does",
            _screen(folder / "screen"),
            "s",
            better="lower",
            aim="value <= 1 s",
        )
