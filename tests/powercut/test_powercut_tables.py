"""The power is cut at every storage operation of a raise, a push and bets that stand: each stake counts once.

The machine is the real one on a simulated disk, with two games of a test. Whatever was not durable when the
power went is done again by the same hands, from where the memory says it is; what was drawn and durable is
never drawn again.
"""

import pytest
from powercut_life import Life, cut_everywhere, every_nth
from rigs.table_games import register_families, write_definition

from egm.kernel.events import EventType, State
from egm.play.records.tables import list_tables_with_standing_bets
from egm.testing.machine import MachineRig

CREDIT = 500
#: The rounds in order: the game, the bets, and what is thrown; the duel's two cards are the same.
ROUNDS = (
    ("duel", {"ante": 10}, 3),
    ("point", {"line": 10, "place": 4}, 2),
    ("point", {"place": -4}, 4),
    ("point", {}, 2),
    ("point", {"place": 4}, 1),
)


class Evening(Life):
    """The rounds, and the credits cashed out."""

    @property
    def shelf(self):
        return (self.folder.parent / "games",)

    def machine(self):
        games = tuple(write_definition(*self.shelf, name) for name in ("duel", "point"))
        return MachineRig(self.folder, games=games, generator=self, storage=self.storage)

    def numbers(self):
        return [ROUNDS[self.ended()][2]]

    def ready(self):
        return self.room.credit_cents == CREDIT

    def over(self):
        played = self.ended() == len(ROUNDS)
        return played and self.room.state is State.IDLE and not self.room.credit_cents

    def act(self):
        ended = self.ended()
        match self.room.state:
            case State.IDLE if ended == 0 and self.room.credit_cents < CREDIT:
                self.room.insert(CREDIT)
            case State.IDLE if ended < len(ROUNDS):
                game, bets, _ = ROUNDS[ended]
                self.room.engine.handle(EventType.SELECT_GAME, value=game)
                self.play(bets)
            case State.IDLE:
                self.room.engine.handle(EventType.CASH_OUT)
            case _:
                super().act()

    def judge(self):
        """Check that every stake and returned stake is booked once, and one win."""
        rig = self.room
        meters = rig.journal.meters().values
        assert (meters["coin_in"], meters["coin_out"], meters["push"]) == (190, 240, 140)
        assert (meters["games_played"], meters["games_pushed"]) == (5, 2)
        assert rig.journal.balance_cents("out:handpay_cancelled_credit") == 550
        assert (
            rig.credit_cents,
            list_tables_with_standing_bets(rig.machine),
            rig.journal.list_pending(),
        ) == (
            0,
            (),
            [],
        )
        numbers = [
            draw
            for kind in ("game.start", "game.choice")
            for record in rig.records(kind)
            for draw in _drawn(record)
        ]
        assert sorted(value for _, value, _ in numbers) == sorted([3, 3, 2, 4, 2, 1])


def _drawn(record):
    return record["draws"] if "draws" in record else record["steps"][0]["draws"]


@pytest.mark.requirement("A-08", "D-15", "B-08")
@every_nth(89)
def test_a_power_cut_in_a_raise_push_or_standing_bet_counts_each_stake_once(
    tmp_path, monkeypatch, capsys, every
):
    register_families(monkeypatch)
    assert cut_everywhere(lambda disk: Evening(tmp_path / "state", disk), capsys, every) > 100
