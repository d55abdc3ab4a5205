"""The screen process of a position never holds a card that its player may not see, for the length of a game.

A real screen process is connected to the real server of its position. The search runs inside the process, as an
intruder would: over all objects of the interpreter, over its memory, and over its open and given files.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from test_nothing_of_other_hands import BOARD, TO_THE_LAST_CHECK, answer, deal
from test_void_rounds import ROUNDS

from egm.app.view import build_game_view, build_snapshot
from egm.config.cabinet_file import GameTable, StateFolder
from egm.kernel.messages import Hello
from egm.links.screen.private_sockets import write_new_token
from egm.links.screen.server import ScreenServer
from egm.play.installed_games import admit_games
from egm.profiles import load_profile

GAME = "quebec-texas-holdem-room"
ROOT = Path(__file__).parents[3]
DEAL = f"As 7h Kd Ah 2c Kh {BOARD}"
#: What the screen of position 1 is searched for: its own hand, the hands of the others, and cards not yet dealt.
HANDS = {"own": ("Kd", "Kh"), "second": ("As", "Ah"), "third": ("7h", "2c"), "turn and river": ("3h", "Qc")}
#: Starts the screen as the product does. On a signal it searches itself for the hands that a file names.
ADVERSARY = """
import ctypes, gc, json, re, signal, sys
from itertools import chain
from pathlib import Path

from egm.kernel.messages import Snapshot
from egm.screen.__main__ import main

ASKED, ANSWER = map(Path, sys.argv[1:3])
LONGEST = 9  # a longer row of cards is a pack, not a hand

def find_rows(things, hands):
    # the cards of interest in every short row of the interpreter
    cards, own = {card for hand in hands.values() for card in hand}, {id(hand) for hand in hands.values()}
    for one in things:
        if type(one) in (list, tuple, dict) and 2 <= len(one) <= LONGEST and id(one) not in own:
            held = {each for each in (one.values() if type(one) is dict else one) if type(each) is str} & cards
            if len(held) > 1:
                yield held

def iter_memory():
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: a process may allow access to its own memory again
    with open("/proc/self/mem", "rb", 0) as memory:
        for line in Path("/proc/self/maps").read_text().splitlines():
            span, rights, *_ = line.split()
            start, end = (int(each, 16) for each in span.split("-"))
            if rights.startswith("rw") and start < 1 << 63:
                memory.seek(start)
                try:
                    yield memory.read(end - start)
                except OSError:
                    pass  # a mapping of a device

def iter_files():
    folder = Path(sys.argv[sys.argv.index("--state") + 1])
    for each in (*Path("/proc/self/fd").iterdir(), *(folder / "run").iterdir()):
        if each.is_file():
            yield each.read_bytes()

# two cards beside each other, as a message writes a hand; the search itself writes none so
WRITTEN = re.compile(rb'"([2-9TJQKA][shdc])"(?=,"([2-9TJQKA][shdc])")')

def search(*_):
    hands = json.loads(ASKED.read_text())
    things = gc.get_objects()
    rows = [*find_rows(things, hands)]
    parts = chain(iter_memory(), iter_files())
    pairs = {frozenset(map(bytes.decode, pair)) for part in parts for pair in WRITTEN.findall(part)}
    found = {
        "sequence": max((one.journal_sequence for one in things if isinstance(one, Snapshot)), default=0),
        "held": [name for name, hand in hands.items() if set(hand) in pairs or any(row >= set(hand) for row in rows)],
    }
    written = ANSWER.with_suffix(".new")
    written.write_text(json.dumps(found))
    written.rename(ANSWER)

signal.signal(signal.SIGUSR1, search)
main(sys.argv[3:])
"""


class Adversary:
    """The screen process of position 1, with its server and the search."""

    def __init__(self, rig, folder):
        self.rig, self.folder, self.sent = rig, folder, 0
        (folder / "run").mkdir(parents=True)
        state = StateFolder(folder)
        games, _ = admit_games((GameTable(game=GAME),), load_profile("generic"))
        views = tuple(build_game_view(game, includes_advice=True) for game in games.values())
        self.server = ScreenServer(
            state.get_screen_socket_path(1),
            write_new_token(state.get_screen_token_path(1)),
            build_greeting=lambda: (Hello(games=views), self.snapshot()),
            on_intent=lambda intent: None,
            on_peer_error=pytest.fail,
        )

    def snapshot(self):
        return build_snapshot(self.rig.engine)

    def send_news(self):
        """Send the messages that the machine has since made for this position, as the machine process does."""
        for message in self.rig.hands.messages[self.sent :]:
            self.server.send(message)
        self.sent = len(self.rig.hands.messages)
        self.server.send(self.snapshot())

    @asynccontextmanager
    async def started(self):
        request_file, self.found = self.folder / "asked.json", self.folder / "found.json"
        request_file.write_text(json.dumps(HANDS))
        await self.server.start()
        arguments = ("--state", self.folder, "--mode", "web", "--silent", "--position", "1")
        self.process = subprocess.Popen(  # noqa: ASYNC220 (it is ended below)
            [sys.executable, "-c", ADVERSARY, request_file, self.found, *arguments],
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "SDL_VIDEODRIVER": "dummy",
                "SDL_AUDIODRIVER": "dummy",
            },
            stdout=subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(60):
                while not self.server.player_screen_count:
                    assert self.process.poll() is None
                    await asyncio.sleep(0.05)
            yield self
        finally:
            self.process.terminate()
            self.process.wait(30)
            await self.server.close()

    async def search(self):
        """Return what the process holds after it has read every message sent to it."""
        due = self.rig.machine.journal.sequence
        async with asyncio.timeout(60):
            while True:
                self.found.unlink(missing_ok=True)
                self.process.send_signal(signal.SIGUSR1)
                while not self.found.exists():
                    assert self.process.poll() is None
                    await asyncio.sleep(0.02)
                data = json.loads(self.found.read_text())
                if data["sequence"] >= due:
                    return data


async def play(rooms, adversary, answers, searched):
    """Deal and give the answers; yield the findings after each number of answers in ``searched``."""
    deal(rooms, GAME, 1, DEAL)
    for given, option in enumerate((None, *answers)):
        if option is not None:
            answer(rooms, option)
        adversary.send_news()
        if given in searched:
            yield given, await adversary.search()


@pytest.mark.requirement("S-33")
@pytest.mark.parametrize(
    ("answers", "searched"),
    [
        (TO_THE_LAST_CHECK, {0: "", 8: "", 11: "turn and river"}),
        (("raise", "call", "fold", "bet", "fold"), {0: "", 5: ""}),
    ],
    ids=["to the river", "the others fold"],
)
def test_a_screen_process_holds_no_card_that_its_player_may_not_see(seats, tmp_path, answers, searched):
    async def run():
        rooms = seats(GAME, count=len(ROUNDS[GAME]))
        async with Adversary(rooms[0], tmp_path / "screen").started() as adversary:
            async for given, found in play(rooms, adversary, answers, searched):
                assert {*found["held"]} == {"own", *filter(None, [searched[given]])}

    asyncio.run(run())


def test_the_search_finds_a_hand_that_a_machine_leaks(seats, tmp_path):
    async def run():
        rooms = seats(GAME, count=len(ROUNDS[GAME]))
        async with Adversary(rooms[0], tmp_path / "screen").started() as adversary:
            async for _, found in play(rooms, adversary, (), {0}):
                assert "second" not in found["held"]
            for message in rooms[1].hands.messages:
                adversary.server.send(message)
            adversary.server.send(adversary.snapshot().model_copy(update={"journal_sequence": 10**6}))
            while (found := await adversary.search())["sequence"] < 10**6:
                pass
        assert "second" in found["held"]

    asyncio.run(run())
