"""``egm run`` as a separate process for a test, with a screen's connection and control of its bench."""

import asyncio
import contextlib
import re
import signal
import subprocess

import pytest
from click.testing import CliRunner

from egm.config.cabinet_file import DEFAULT_CABINET, StateFolder
from egm.isolated import build_python_command
from egm.kernel.messages import (
    LINE_BYTES_MAX,
    BenchCommand,
    GameOutcome,
    Hello,
    Intent,
    Snapshot,
    decode_message,
    encode_message,
)
from egm.unix_sockets import open_socket_address
from tools.cli import main

#: A limit that only a machine that hangs reaches, however loaded the computer is.
PATIENCE_SECONDS = 120
EGM = build_python_command("tools.cli")


def egm(*arguments: object, status: int = 0) -> str:
    """Run a command beside a machine, in this process; check its exit status and return its output."""
    result = CliRunner().invoke(main, [*map(str, arguments)], prog_name="egm")
    assert result.exit_code == status, result.output
    return result.stdout


#: Of the demonstration's games, the one that is installed where a test names no others: each costs its analysis.
ONE_GAME = ("maple-classic",)
_OF_A_GAME = re.compile(r'^\[\[(?:games|progressives)\]\]\ngame = "(.*)"\n(?:(?!\[).*\n)*', re.MULTILINE)


def build_demonstration_file(games=ONE_GAME) -> str:
    """Return the demonstration cabinet's file with only these games, or with all if None."""
    return _OF_A_GAME.sub(
        lambda table: table[0] if games is None or table[1] in games else "", DEFAULT_CABINET.read_text()
    )


@contextlib.asynccontextmanager
async def cabinet(folder: StateFolder, tables: str = "", change=str, games=ONE_GAME):
    """Run ``egm run`` on a state folder with the demonstration cabinet, these games, a change and added ``tables``."""
    # Two of these may run at once, so that neither may use the other's port.
    file = folder.root.with_suffix(".toml")
    file.write_text(f"{change(build_demonstration_file(games))}\n[metrics]\nport = 0\n{tables}")
    where = ("--state", str(folder.root), "--cabinet", str(file))
    process = await asyncio.create_subprocess_exec(
        *EGM, "run", *where, "--screen", "none", stderr=subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        _, process.error_output = await process.communicate()


async def connect(socket, token):
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            with contextlib.suppress(OSError), open_socket_address(socket) as address:
                reader, writer = await asyncio.open_unix_connection(address, limit=LINE_BYTES_MAX)
                writer.write(encode_message(Hello(token=token.read_text().strip())))
                return reader, writer
            await asyncio.sleep(0.05)  # a process is starting; no event announces that it is ready


async def until(reader, condition):
    """Read messages until one satisfies the condition; fail with the last one if none comes."""
    message = None
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                message = decode_message(await reader.readline())
                if condition(message):
                    return message
    except TimeoutError:
        pytest.fail(
            f"no message satisfies the condition within {PATIENCE_SECONDS} s; the last one is {message}"
        )


def snapshot(**facts):
    return lambda m: isinstance(m, Snapshot) and all(getattr(m, key) == value for key, value in facts.items())


class Visit:
    """A person at a running cabinet, who sees its screen, presses keys and operates its devices."""

    def __init__(self, screen, writer, bench, hands) -> None:
        self.screen, self._writer, self._bench, self._bench_writer = screen, writer, bench, hands

    @classmethod
    @contextlib.asynccontextmanager
    async def connect(cls, folder: StateFolder, position: int = 1):
        screen, writer = await connect(
            folder.get_screen_socket_path(position), folder.get_screen_token_path(position)
        )
        bench, hands = await connect(folder.bench_socket, folder.bench_token)
        await bench.readline()
        try:
            yield cls(screen, writer, bench, hands)
        finally:
            writer.close()
            hands.close()

    def send_intent(self, name: str, value=None, options=None) -> None:
        self._writer.write(encode_message(Intent(name=name, value=value, options=options)))

    async def wait_until_shown(self, **facts) -> Snapshot:
        """Return the next snapshot with these values."""
        return await until(self.screen, snapshot(**facts))

    async def operate(self, device: str, action: str, **values):
        self._bench_writer.write(encode_message(BenchCommand(device=device, action=action, values=values)))
        return decode_message(await self._bench.readline())

    async def operate_until_accepted(self, device: str, action: str, **values) -> None:
        """Repeat an action until the device accepts it; the machine enables devices in another process."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (await self.operate(device, action, **values)).ok:  # noqa: ASYNC110 (another process)
                await asyncio.sleep(0.1)

    async def play_game(self) -> GameOutcome:
        """Play one game, from the button to the end of its display; return its outcome."""
        self.send_intent("play")
        played = await until(self.screen, lambda m: isinstance(m, GameOutcome))
        self.send_intent("shown", played.play_id)
        return played
