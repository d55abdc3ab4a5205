"""The power is cut at every storage operation of a throw that three seats play, two with nothing but standing bets.

A game started before the cut is decided by the dice of the throw. A seat without one keeps bets and
point, has staked nothing new, and throws for them later: with the others, or apart where they have gone on.
"""

import pytest
from powercut_life import LifeOfSeats, cut_everywhere, every_nth

from egm.kernel.events import EventType, State
from egm.play.records.games import find_open_game
from egm.play.records.tables import can_join_shared_round, list_tables_with_standing_bets
from egm.play.standing_bets import read_table_view
from egm.testing.machine import MachineRig, ScriptedStep
from paytables.definition import LIBRARY_FOLDER

GAME, CENTS = "three-seats", 100
#: Of the cloth, the bets and forms that are played here: its figures are worked out at every start.
KEPT = ("pass", "dontpass", "come", "right", "pass-5")
SIX, SEVEN = (3, 1), (2, 3)
#: What stands before the throw, what is laid for it, and what it brings back; what a six brings back later.
STOOD = ({"pass": 10}, {"dontpass": 10}, {})
LAID = {"come": 5, "right-8": 6}
BACK, LATER = (0, 20, 10), (20, 0, 0)


def definition(folder):
    """Québec's table, with a few of its bets."""
    text = (
        (LIBRARY_FOLDER / "tables" / "quebec-craps.toml").read_text().replace('"quebec-craps"', f'"{GAME}"')
    )
    head, *blocks = text.split("\n[[")
    named = [block for block in blocks if 'id = "' in block]
    blocks_used = [
        block for block in named if block.split('id = "')[1].split('"')[0] in KEPT and "keep" not in block
    ]
    blocks_used.insert(0, next(block for block in blocks if "[table]" in block))
    folder.mkdir(exist_ok=True)
    game_file = folder / f"{GAME}.toml"
    game_file.write_text("\n[[".join((head, *blocks_used)))
    return str(game_file)


class Craps(LifeOfSeats):
    """Six is the point; then only the third position bets, and seven is thrown."""

    SEATS, CREDIT_CENTS = 3, 10_000

    def __init__(self, folder, disk, started_counts):
        super().__init__(folder / "state", disk, started_counts)
        self.shelf, self.dice = (folder / "games",), SIX

    def rig(self, **options):
        game = definition(self.shelf[0])
        return MachineRig(self.folder, games=(game,), generator=self, denominations_cents=(CENTS,), **options)

    def step(self):
        return ScriptedStep(list(self.dice))

    @property
    def digest(self):
        return self.room.machine.games[GAME].digest

    def counted(self, name):
        meters = self.room.journal.meters()
        return [meters.select(position=n).values[name] for n in range(1, self.SEATS + 1)]

    def ready(self):
        return self.counted("games_played") == [1, 1, 0] and self.rooms[1].state is State.IDLE

    def act(self):
        if self.rooms[-1].credit_cents and self.counted("games_played") == [0, 0, 0]:
            for room, bets in zip(self.rooms, STOOD[:2], strict=False):
                self.lay(room, bets)
            self.throw()
        else:
            super().act()

    def bet(self):
        self.dice = SEVEN
        self.lay(self.rooms[2], LAID)

    def throw(self):
        self.table.close_betting(self.digest)
        self.show()

    def show(self):
        for room in self.rooms:
            if room.state is State.PLAYING:
                assert find_open_game(room.machine).outcome is not None
                room.report_shown()
            assert room.state is State.IDLE

    def end(self):
        """Show the started games; then the remaining positions throw for their standing bets."""
        self.show()
        self.played = [
            now - before for now, before in zip(self.counted("games_played"), (1, 1, 0), strict=True)
        ]
        assert set(self.played) <= {0, 1}
        if not self.is_played:
            self.started_counts.add(sum(self.played))
        self.check(
            [0 if played else sum(bets.values()) for played, bets in zip(self.played, STOOD, strict=True)]
        )
        self.dice = SIX
        idle_rooms = [room for room, played in zip(self.rooms[:2], self.played, strict=False) if not played]
        for room in idle_rooms:
            assert read_table_view(room.machine)[2].point == 6
            along = can_join_shared_round(room.machine, self.digest)
            assert along == (not any(self.played))
            room.engine.handle(EventType.SELECT_BET, value=0, options={"bets": {}})
            room.engine.handle(EventType.PLAY)
            assert room.state is (State.BETTING if along else State.PLAYING)
        self.throw()
        self.check([0, 0, 0])

    def check(self, stands):
        """Check that each position has its credits less its stakes, and the standing bets."""
        staked, won = self.counted("coin_in"), self.counted("coin_out")
        for number, room in enumerate(self.rooms):
            assert room.credit_cents == self.CREDIT_CENTS - staked[number] + won[number]
            assert [table.standing_bets_cents for table in list_tables_with_standing_bets(room.machine)] == (
                [stands[number] * CENTS] if stands[number] else []
            )

    def judge(self):
        """Check that each bet was settled once, by this throw or by the next if its game had not started."""
        due = [BACK[n] if played else LATER[n] for n, played in enumerate(self.played)]
        assert self.counted("coin_out") == [credits_ * CENTS for credits_ in due]
        assert self.counted("coin_in") == [10 * CENTS, 10 * CENTS, 11 * CENTS * self.played[2]]
        draws = {}
        for entry in self.room.journal.entries("game.start"):
            record = entry.record
            draws.setdefault(record.get("round_id") or record["play_id"], set()).add(str(record["steps"]))
        assert {len(draw) for draw in draws.values()} == {1}
        assert self.room.journal.list_pending() == []


@pytest.mark.timeout(1_800)
@pytest.mark.requirement("A-08", "D-15", "O-01", "F-06")
@every_nth(97, slow=3)
def test_a_power_cut_in_a_throw_of_three_seats_settles_each_bet_once(tmp_path, capsys, every):
    started_seat_counts = set()
    cut_everywhere(lambda disk: Craps(tmp_path, disk, started_seat_counts), capsys, every)
    assert started_seat_counts == set(range(Craps.SEATS + 1)) if every == 3 else len(started_seat_counts) > 1
