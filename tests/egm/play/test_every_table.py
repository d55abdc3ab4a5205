"""Every table of the library on the machine with random bets, answers, departures and restarts, and an audit."""

import random

import pytest

from egm.config.levels import ProgressiveLevelTable
from egm.kernel.events import EventType, State
from egm.kernel.messages import DecisionRequest
from egm.people import Role
from egm.play.records.tables import list_tables_with_standing_bets, read_table
from egm.testing.machine import MachineRig
from egm.testing.service_menu import MenuUser, translate_text
from paytables import list_table_games, load_game
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

QUICK, SLOW = 4, 300
PLAYED_ALONE = [name for name in list_table_games() if load_game(name).rules.seats_min == 1]
#: Internal names of a wager's options and settlements, which no page may show.
CODES = {"bets", "credits", "hands", "lost", "push", "seats", "won"}


class Player:
    """A player who bets, answers, cashes out and returns at random."""

    def __init__(self, folder, game, seed):
        self.folder, self.game, self.rng = folder, game, random.Random(seed)
        self.levels = tuple(
            ProgressiveLevelTable(game=game, level=level_stake.level)
            for level_stake in load_game(game).list_every_level()
        )
        self.room = MachineRig(folder, games=(game,), levels=self.levels).boot()
        assert self.room.refused_games == ()

    def play(self, rounds):
        ended = 0
        while ended < rounds:
            rig = self.room
            if rig.state is State.HANDPAY:
                rig.engine.handle(EventType.KEY_TURNED, key="attendant")
            elif rig.state is State.PLAYING and isinstance(rig.hands.messages[-1], DecisionRequest):
                rig.engine.handle(EventType.CHOOSE, value=self.rng.choice(rig.hands.messages[-1].options))
            elif rig.state is State.PLAYING:
                rig.report_shown()
                ended += 1
            else:
                assert rig.state is State.IDLE, rig.machine.active_faults
                self._between()
            if self.rng.random() < 0.02:
                self.room.close()
                self.room = MachineRig(self.folder, games=(self.game,), levels=self.levels).boot()

    def _between(self):
        rig = self.room
        while rig.credit_cents < 10000:
            rig.insert(10000)
        if self.rng.random() < 0.1:
            rig.engine.handle(EventType.CASH_OUT)
            return
        bets = self._find_bets_after()
        cost = sum(credits_ for credits_ in bets.values() if credits_ > 0)
        rig.engine.handle(EventType.SELECT_BET, value=cost, options={"bets": bets})
        if rig.notice:  # it may not be laid so: throw for nothing, or the least the game offers
            least = (
                0
                if list_tables_with_standing_bets(rig.machine)
                else rig.machine.games[self.game].bet_options[0]
            )
            rig.engine.handle(EventType.SELECT_BET, value=least)
        rig.play()

    def _find_bets_after(self):
        game = self.room.machine.games[self.game]
        table_record = read_table(self.room.machine, game.digest)
        game_at_table = game if table_record is None else game.with_table_state(table_record.table_state)
        open_ = [spot for spot in game_at_table.rules.list_spots() if spot.accepts_bets]
        chosen = self.rng.sample(open_, min(len(open_), self.rng.randrange(4)))
        bets = {spot.id: spot.bet_min for spot in chosen}
        return bets | {
            bet.spot: -bet.credits
            for bet in game_at_table.rules.list_standing_bets()
            if self.rng.random() < 0.2
        }


def play_rounds(folder, game, rounds, seed):
    player = Player(folder, game, seed)
    player.play(rounds)
    rig = player.room
    rig.journal.self_audit()
    report = Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies())
    assert report.findings == []
    assert report.game_count == rounds
    values = rig.journal.meters().values
    assert values["games_played"] == values["games_won"] + values["games_pushed"] + values["games_lost"]
    texts = recall_texts(rig)
    rig.close()
    assert not {words for words in texts if "_" in words or words in CODES}
    return values


def recall_texts(rig):
    """Return every text of the recall of every play, in each language."""
    if rig.state is State.HANDPAY:
        rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    menu, texts = MenuUser(rig).sign_in(Role.ATTENDANT).touch("recall"), set()
    for row in menu.page.tables[0].rows:
        figures = menu.touch(row.action).page.tables[1:]  # the first text identifies the play
        cells = [cell for table in figures for line in table.rows for cell in line.cells]
        became = [line.cells[1] for line in figures[-1].rows if len(line.cells) == 3]
        assert [words for words in became if words.kind == "plain"] == []
        texts |= {translate_text(cell, language) for cell in cells for language in ("en", "fr")}
        menu.touch("back")
    return texts


@pytest.mark.requirement("D-15", "C-17", "E-01")
@pytest.mark.parametrize("game", PLAYED_ALONE)
def test_every_stake_at_a_table_is_decided_returned_or_stands(tmp_path, game):
    assert play_rounds(tmp_path, game, QUICK, seed=7)["coin_in"] > 0


@pytest.mark.slow
@pytest.mark.requirement("D-15", "C-17")
@pytest.mark.parametrize("game", PLAYED_ALONE)
def test_every_stake_of_long_sessions_is_decided_returned_or_stands(tmp_path, game):
    assert play_rounds(tmp_path, game, SLOW, seed=11)["coin_in"] > 0
