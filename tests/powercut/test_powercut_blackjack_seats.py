"""The power is cut at every storage operation of a round of blackjack that three seats play from a shoe that lasts.

The first splits and doubles one of his hands, the second doubles, the third stands. Whatever was not durable
when the power went: no card is drawn twice, each seat has one settlement of his own, right to the cent, or
has wagered nothing; recall shows each his own result, and the next round is dealt from the shoe that is left.
"""

import copy
import random

import pytest
from powercut_disk import Disk, PowerCut
from powercut_session import leave
from powercut_storage import SimStorage
from rigs.cards import dealing

from egm.kernel.events import EventType, State
from egm.kernel.positions import Position
from egm.people import Role
from egm.records.games import open_game
from egm.records.keys import PlayKey
from egm.records.tables import table_of
from egm.seats.answers import answers_due, follow
from egm.seats.table import SharedTable
from egm.testing.machine import MachineRig, ScriptedStep
from egm.testing.service_menu import Menu
from paytables.cards import Shoe
from paytables.definition import LIBRARY
from tools.audit.games import Shelf
from tools.audit.verify import Auditor

GAME, DECKS, SEATS = "three-seats", 8, 3
STAKE, STAKE_CENTS, CREDIT_CENTS = 10, 1000, 10000
#: Each box and the dealer, twice each box; the split eights' cards; eleven doubled; the dealer's second card.
CARDS = "8s 6h Th Ks 8d 5h 9c 2h Td 9d Tc Qs"
CHOICES = (["split", "double", "stand"], ["double"], ["stand"])
#: What each has staked and what came back.
STAKED, BACK = (3000, 2000, 1000), (2000, 4000, 0)


def definition(folder):
    """The table with every option of the by-law, dealt from a shoe with a stop card."""
    text = (LIBRARY / "tables" / "quebec-blackjack-options.toml").read_text()
    text = text.replace('id = "quebec-blackjack-options"', f'id = "{GAME}"')
    folder.mkdir(exist_ok=True)
    place = folder / f"{GAME}.toml"
    place.write_text(text.replace("decks = 8\n", "decks = 8\nstop = 260\n"))
    return place


class Fate:
    """The cards in their order: those of a step begun anew are the same."""

    journal = None

    def step(self):
        """A step that goes on where the furthest game of the round has recorded its last card."""
        drawn = {}
        for entry in self.journal.entries(("game.start", "game.choice")):
            record = entry.record
            draws = record["draws"] if entry.kind == "game.choice" else record["steps"][0]["draws"]
            drawn[record["play_id"]] = drawn.get(record["play_id"], 0) + len(draws)
        return ScriptedStep(dealing(CARDS, DECKS).values[max(drawn.values(), default=0) :])


class Life:
    """One life of the machine, from power up to a cut or the end."""

    def __init__(self, folder, disk):
        self.folder, self.storage = folder, SimStorage(disk)
        self.rooms = []

    def run(self, *steps):
        """Do the steps one after another; say whether the power stayed on."""
        try:
            self._open()
            for step in steps:
                step()
            self.rooms[0].close()
        except PowerCut:
            leave(self.storage, self.folder, self.folder / "second")
            if self.rooms:
                self.rooms[0].lose()
            return False
        return True

    def _open(self):
        self.table, fate = SharedTable(), Fate()
        self.games = self.folder.parent / "games"
        for number in range(1, SEATS + 1):
            beside = self.rooms[0] if self.rooms else None
            room = MachineRig(
                self.folder,
                games=(str(definition(self.games)),),
                chance=fate,
                position=Position(number, SEATS),
                beside=beside,
                storage=None if beside else self.storage,
                denominations_cents=(100,),
            )
            fate.journal = room.journal
            self.rooms.append(room)
            room.machine.install(self.table)
            self.table.sit(
                room.machine, lambda event, room=room: room.engine.handle(event.type, **event.data)
            )
            room.boot()

    def credits(self):
        for room in self.rooms:
            room.insert(CREDIT_CENTS)

    def bet(self):
        """Everybody bets, and no more bets."""
        for room in self.rooms:
            room.engine.handle(EventType.BET, value=STAKE, options={"bets": {"main": STAKE}})
            room.engine.handle(EventType.PLAY)
            assert room.state is State.BETTING, room.notice
        self.table.close(self.rooms[0].machine.games[GAME].digest)

    def play(self):
        """Each that is asked answers, as often as it takes; then what was begun is shown and ended."""
        for _ in range(9):
            follow(self.table)
            answers_due(self.table)
            for number, room in enumerate(self.rooms):
                game = open_game(room.machine)
                if game is not None and game.outcome is None:
                    self._answer(room, number, len(game.steps) - 1)
        for room in self.rooms:
            if room.state is State.PLAYING:
                room.shown()
            assert room.state is State.IDLE

    def _answer(self, room, number, answered):
        """Answer where this seat is asked; of the first ``answered`` answers of the round some were his."""
        told, whose = room.hands.told[-1], (0, 0, 0, 1, 2)
        if told.options and told.seat == number:
            own = whose[:answered].count(number)
            room.engine.handle(EventType.CHOOSE, value=CHOICES[number][own])

    def judge(self):
        """Each has what his own game comes to, or no game and his credits; and the shoe lacks what was dealt."""
        journal = self.rooms[0].journal
        self.begun = 0
        for number, room in enumerate(self.rooms):
            own = journal.meters().where(position=number + 1).values
            self.begun += own["games_played"]
            assert own["games_played"] in {0, 1}
            staked, back = (STAKED[number], BACK[number]) if own["games_played"] else (0, 0)
            assert (own["coin_in"], own["coin_out"]) == (staked, back)
            assert room.credit_cents == CREDIT_CENTS - staked + back
        if self.begun:
            left = table_of(self.rooms[-1].machine, self.rooms[0].machine.games[GAME].digest).table["shoe"]
            assert Shoe.from_json(left).left == DECKS * 52 - len(CARDS.split()) + (self.begun < 2)
        assert journal.pending() == []
        assert Auditor(Shelf([self.games])).run(journal.bodies()).findings == []

    def recall(self):
        """The staff see at each position the whole round with its own result."""
        for number, room in enumerate(self.rooms):
            menu = Menu(room).sign_in(Role.ATTENDANT).touch("recall")
            ended = room.machine.memory.get(PlayKey.LAST)["play_id"]
            menu.touch(ended).touch("show")
            for _ in range(5):
                menu.touch("later")
            replay = menu.page.replay
            hands = {hand["id"]: hand["cards"] for hand in replay.display["hands"]}
            assert hands["bank"] == ["Ks", "Qs"]
            assert [hands["box-1"], hands["box-1-2"]] == [["8s", "2h", "Td"], ["8d", "9d"]]
            own = {hand["id"] for hand in replay.display["hands"] if "own" in hand}
            assert own == ({"box-1", "box-1-2"} if number == 0 else {f"box-{number + 1}"})
            assert replay.win_credits * 100 == BACK[number]


def cuts_of(tmp_path, step):
    """Cut at each ``step``-th operation of the round; how many there were, and how many seats had begun."""
    state, ready = tmp_path / "state", Disk()
    first = Life(state, ready)
    assert first.run(first.credits)
    begun, cuts = set(), 0
    while True:
        disk = copy.deepcopy(ready)
        disk.operations, disk.cut_at = 0, cuts + 1
        life = Life(state, disk)
        if life.run(life.bet, life.play, life.judge, life.recall):
            return cuts // step, begun
        again = Life(state, disk.reboot(random.Random(cuts), (0.0, 0.5, 1.0)[cuts % 3]))
        assert again.run(again.play, again.judge)
        begun.add(again.begun)
        cuts += step


@pytest.mark.requirement("A-08", "D-15", "O-01")
def test_a_cut_in_a_round_of_three_seats_settles_each_once(tmp_path):
    cuts, begun = cuts_of(tmp_path, step=97)
    assert cuts > 2
    assert SEATS in begun


@pytest.mark.slow
@pytest.mark.requirement("A-08", "D-15", "O-01", "E-03")
def test_a_cut_at_every_operation_of_three_seats_settles_each_once(tmp_path, capsys):
    cuts, begun = cuts_of(tmp_path, step=1)
    assert begun == set(range(SEATS + 1))
    with capsys.disabled():
        print(f" [{cuts} cuts]", end="")
