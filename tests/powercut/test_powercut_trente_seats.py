"""The power is cut at every storage operation of a refait that two seats play of one shoe of trente et quarante.

The first leaves the stake in prison, the second takes half. A game that had started has the coup that was dealt
and its own answer; a seat without one has staked nothing. Then both play on, of the shoe that is left.
"""

import pytest
from powercut_life import LifeOfSeats, cut_everywhere, every_nth
from rigs.cards import script_cards

from egm.kernel.events import EventType, State
from egm.play.records.games import find_open_game
from egm.play.records.tables import list_tables_with_standing_bets, read_shared_state
from egm.testing.machine import MachineRig, ScriptedStep
from paytables.cards import Shoe

GAME, CENTS, DECKS = "monaco-trente-et-quarante", 25, 6
#: 31 and 31; then black has 31 and red 40, and the first card is red.
REFAIT = "Th Td Ts As Kh Kd Ks Ac"
BLACK = "9h Td Ts 2s 4h Kd 6s Qc Qd"
NUMBERS = script_cards(f"{REFAIT} {BLACK}", DECKS).values
BETS, ANSWERS, LATER = ({"red": 20}, {"black": 20}), ("prison", "half"), "inverse"


class Trente(LifeOfSeats):
    """The refait with its decisions, and the coup after it."""

    SEATS, CREDIT_CENTS = 2, 10_000

    def rig(self, **options):
        return MachineRig(self.folder, games=(GAME,), generator=self, denominations_cents=(CENTS,), **options)

    @property
    def count_cards_left(self):
        """Return the number of cards left in the shoe, which must be equal at each position."""
        digest, found = self.room.machine.games[GAME].digest, set()
        for room in self.rooms:
            shared_state = read_shared_state(room.machine, digest)
            found.add(DECKS * 52 if shared_state is None else Shoe.from_json(shared_state["shoe"]).cards_left)
        (cards_left,) = found
        return cards_left

    def step(self):
        """Return the cards in order, starting after the last one that the last coup recorded."""
        drawn = {}
        for entry in self.room.journal.entries("game.start"):
            record = entry.record
            drawn[record.get("round_id") or record["play_id"]] = len(record["steps"][0]["draws"])
        return ScriptedStep(list(NUMBERS[sum(drawn.values()) :]))

    def bet(self):
        for room, bets in zip(self.rooms, BETS, strict=True):
            self.lay(room, bets)

    def end(self):
        for room, answer in zip(self.rooms, ANSWERS, strict=True):
            if room.state is State.PLAYING and find_open_game(room.machine).outcome is None:
                room.engine.handle(EventType.CHOOSE, value=answer)
            if room.state is State.PLAYING:
                room.report_shown()
            assert room.state is State.IDLE

    def counted(self, name):
        meters = self.room.journal.meters()
        return [meters.select(position=n).values[name] // CENTS for n in range(1, self.SEATS + 1)]

    def stands(self):
        return [
            sum(table.standing_bets_cents for table in list_tables_with_standing_bets(room.machine))
            for room in self.rooms
        ]

    def check(self, staked, back, stands, dealt):
        """What each has staked, got back and has in prison, in credits; how many cards the shoe lacks."""
        assert [self.counted("coin_in"), self.counted("coin_out")] == [staked, back]
        assert self.stands() == [credits_ * CENTS for credits_ in stands]
        assert self.count_cards_left == DECKS * 52 - dealt
        credits_left = [
            self.CREDIT_CENTS - CENTS * (lost - won) for lost, won in zip(staked, back, strict=True)
        ]
        assert [room.credit_cents for room in self.rooms] == credits_left

    def judge(self):
        first, second = self.count_started_games()
        assert first >= second
        self.check([20 * first, 20 * second], [0, 10 * second], [20 * first, 0], 8 * first)
        self.disk.cut_at = None  # what follows goes on from where the power came back
        self.lay(self.rooms[0], {} if first else BETS[0])
        self.lay(self.rooms[1], {LATER: 20})
        self.table.close_betting(self.room.machine.games[GAME].digest)
        self.end()
        if first:
            self.check([20, 20 + 20 * second], [0, 40 + 10 * second], [0, 0], 8 + 9)
        else:
            self.check([20, 20], [0, 10], [20, 0], 8)
        assert self.room.journal.list_pending() == []


@pytest.mark.timeout(1_800)
@pytest.mark.requirement("A-08", "D-15", "O-01", "P-07")
@every_nth(83, slow=2)
def test_a_power_cut_in_a_refait_settles_both_seats_from_one_shoe(tmp_path, capsys, every):
    started_seat_counts = set()
    cut_everywhere(lambda disk: Trente(tmp_path, disk, started_seat_counts), capsys, every)
    assert started_seat_counts == set(range(Trente.SEATS + 1)) if every == 2 else len(started_seat_counts) > 1
