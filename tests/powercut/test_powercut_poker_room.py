"""The power is cut at storage operations of a game of poker that three seats play for one pot.

At hold'em the button is all in with less than the others, who bet a side pot. At stud the first seat folds on the
fifth street. Whatever was not durable when the power went: no card is drawn twice; if every seat had begun its
game, each has what the pots come to, and otherwise every table stake comes back and no card is drawn. The button
goes on only after a game that was played.
"""

import pytest
from powercut_life import LifeOfSeats, cut_everywhere, every_nth
from rigs.cards import script_cards

from egm.kernel.events import EventType, State
from egm.play.records.games import find_open_game
from egm.play.records.tables import read_shared_state
from egm.seats.decisions import apply_recorded_steps, decide_overdue_turns
from egm.testing.machine import MachineRig, ScriptedStep

CENTS = 25


class Poker(LifeOfSeats):
    """A game of hold'em, answered as it is asked."""

    SEATS, CREDIT_CENTS = 3, 10_000
    GAME = "quebec-texas-holdem-room"
    #: The hands of seats 1, 2 and 0 (the button), a card each and again; then the board.
    NUMBERS = script_cards("7h Kd As 2c Kh Ah Ac 9s 8d 3h Qc", decks=1).values
    STACKS = (160, 200, 300)
    #: What is answered, each option by the seat that is asked, after the table has answered that all have staked.
    ANSWERS = ("all-in", "call", "call", "bet", "call", "check", "check", "check", "check")
    #: The main pot of 480, of which 20 are taken, is the button's; the side pot of twice 8 the kings'.
    WON = (460 - 160, -168, -168 + 16)

    def rig(self, **options):
        return MachineRig(self.folder, games=(self.GAME,), generator=self, **options)

    def step(self):
        """Return the cards in order, starting after the last one that any game of the round has recorded."""
        drawn = {}
        for entry in self.room.journal.entries(("game.start", "game.choice")):
            record = entry.record
            draws = record["draws"] if entry.kind == "game.choice" else record["steps"][0]["draws"]
            drawn[record["play_id"]] = drawn.get(record["play_id"], 0) + len(draws)
        return ScriptedStep(self.NUMBERS[max(drawn.values(), default=0) :])

    def bet(self):
        for room, stack in zip(self.rooms, self.STACKS, strict=True):
            self.lay(room, {"stack": stack})

    def end(self):
        for _ in range(2 * len(self.ANSWERS)):
            apply_recorded_steps(self.table)
            decide_overdue_turns(self.table)
            for room in self.rooms:
                game = find_open_game(room.machine)
                if game is not None and game.outcome is None and room.hands.messages[-1].options:
                    room.engine.handle(EventType.CHOOSE, value=self.ANSWERS[len(game.steps) - 2])
        for room in self.rooms:
            if room.state is State.PLAYING:
                room.report_shown()
            assert room.state is State.IDLE

    def judge(self):
        """Check that all seats have played, or that none has won or lost anything."""
        meters, started = self.room.journal.meters(), self.count_started_games()
        won = self.WON if all(started) else (0, 0, 0)
        for number, room in enumerate(self.rooms):
            own_meters = meters.select(position=number + 1).values
            assert own_meters["coin_in"] == started[number] * self.STACKS[number] * CENTS
            assert own_meters["coin_out"] - own_meters["coin_in"] == won[number] * CENTS
            assert room.credit_cents == self.CREDIT_CENTS + won[number] * CENTS
        button = read_shared_state(self.room.machine, self.room.machine.games[self.GAME].digest)
        assert button == (({"button": 1} if all(started) else {"button": 0}) if any(started) else None)
        assert self.room.journal.list_pending() == []


class Stud(Poker):
    """A game of stud to the seventh street: the aces of the button win against kings."""

    GAME = "quebec-seven-card-stud-room"
    #: Each row is dealt to seats 1, 2 and 0: two cards face down, four face up, one face down.
    NUMBERS = script_cards("7h Kd As  2c Kh Ah  2d Ks Ad  9c 8c Th  Jc 5d 6s  4c 7d  Qs Jh", decks=1).values
    STACKS = (240, 300, 320)
    #: The deuce brings in; the button's cards are the highest from the fourth street on.
    ANSWERS = (
        *("raise", "call", "call", "bet", "call", "call"),
        *("bet", "fold", "call", "check", "check", "bet", "call"),
    )
    #: Antes of 4, then 12, 12, 24 and 24: of a pot of 180 the house takes 18.
    WON = (162 - 76, -28, -76)


@pytest.mark.timeout(1_800)
@pytest.mark.requirement("S-32", "S-34", "A-08", "D-15", "O-01")
@every_nth(127, slow=5)
def test_a_power_cut_in_a_game_of_poker_settles_each_pot_once(tmp_path, capsys, every):
    started_seat_counts = set()
    cut_everywhere(lambda disk: Poker(tmp_path, disk, started_seat_counts), capsys, every)
    assert (
        started_seat_counts == set(range(Poker.SEATS + 1))
        if every == 5
        else Poker.SEATS in started_seat_counts
    )


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.requirement("S-32", "S-34", "A-08", "D-15", "O-01")
def test_a_power_cut_on_any_street_of_stud_settles_the_pot_once(tmp_path, capsys):
    started_seat_counts = set()
    cut_everywhere(lambda disk: Stud(tmp_path, disk, started_seat_counts), capsys, every=11)
    assert {0, Stud.SEATS} <= started_seat_counts
