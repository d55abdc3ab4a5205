"""The power is cut in every entry of a round of blackjack that three seats play from a shoe that lasts.

The first splits and doubles one of his hands, the second doubles, the third stands. Whatever was not durable
when the power went: no card is drawn twice, each seat has one settlement of his own, right to the cent, or
has wagered nothing; recall shows each his own result, and the next round is dealt from the shoe that is left.
"""

import pytest
from powercut_life import LifeOfSeats, cut_everywhere, every_nth
from rigs.blackjack import rebind_proved_figures
from rigs.cards import script_cards

from egm.kernel.events import EventType, State
from egm.people import Role
from egm.play.keys import PlayKey
from egm.play.records.games import find_open_game
from egm.play.records.tables import read_table
from egm.seats.decisions import apply_recorded_steps, decide_overdue_turns
from egm.testing.machine import MachineRig, ScriptedStep
from egm.testing.service_menu import MenuUser
from paytables.cards import Shoe
from paytables.definition import LIBRARY_FOLDER

GAME, DECKS = "three-seats", 8
#: Each box and the dealer, twice each box; the split eights' cards; eleven doubled; the dealer's second card.
CARDS = "8s 6h Th Ks 8d 5h 9c 2h Td 9d Tc Qs"
CHOICES = (["split", "double", "stand"], ["double"], ["stand"])
#: Whose answers they are, in order; what each has staked, and what came back, minor units.
WHOSE = (0, 0, 0, 1, 2)
STAKED, BACK = (3000, 2000, 1000), (2000, 4000, 0)


def definition(folder):
    """The table with every option of the by-law, dealt from a shoe with a stop card."""
    text = (LIBRARY_FOLDER / "tables" / "quebec-blackjack-options.toml").read_text()
    text = text.replace('id = "quebec-blackjack-options"', f'id = "{GAME}"')
    folder.mkdir(exist_ok=True)
    path = folder / f"{GAME}.toml"
    path.write_text(rebind_proved_figures(text.replace("decks = 8\n", "decks = 8\nstop = 260\n")))
    return path


class Blackjack(LifeOfSeats):
    """The round, with each decision answered."""

    SEATS, CREDIT_CENTS = 3, 10000

    def __init__(self, folder, disk, started_counts):
        super().__init__(folder / "state", disk, started_counts)
        self.shelf = (folder / "games",)

    def rig(self, **options):
        game = str(definition(self.shelf[0]))
        return MachineRig(self.folder, games=(game,), generator=self, denominations_cents=(100,), **options)

    def step(self):
        """Return the cards in order, starting after the last one that any game of the round has recorded."""
        drawn = {}
        for entry in self.room.journal.entries(("game.start", "game.choice")):
            record = entry.record
            draws = record["draws"] if entry.kind == "game.choice" else record["steps"][0]["draws"]
            drawn[record["play_id"]] = drawn.get(record["play_id"], 0) + len(draws)
        return ScriptedStep(script_cards(CARDS, DECKS).values[max(drawn.values(), default=0) :])

    def bet(self):
        for room in self.rooms:
            self.lay(room, {"main": 10})

    def end(self):
        for _ in range(2 * len(WHOSE)):
            apply_recorded_steps(self.table)
            decide_overdue_turns(self.table)
            for number, room in enumerate(self.rooms):
                game = find_open_game(room.machine)
                if game is not None and game.outcome is None:
                    self.give_answer(room, number, len(game.steps) - 1)
        for room in self.rooms:
            if room.state is State.PLAYING:
                room.report_shown()
            assert room.state is State.IDLE

    def give_answer(self, room, number, answered):
        """Answer the decision of this seat, considering the ``answered`` earlier answers of the round."""
        message = room.hands.messages[-1]
        if message.options and message.seat == number:
            own_answer_count = WHOSE[:answered].count(number)
            room.engine.handle(EventType.CHOOSE, value=CHOICES[number][own_answer_count])

    def judge(self):
        """Check that each seat has the result of its game, or no game and its credits, and the shoe fits."""
        journal = self.room.journal
        started = self.count_started_games()
        for number, played in enumerate(started):
            own_meters = journal.meters().select(position=number + 1).values
            staked, back = (STAKED[number], BACK[number]) if played else (0, 0)
            assert (own_meters["coin_in"], own_meters["coin_out"]) == (staked, back)
            assert self.rooms[number].credit_cents == self.CREDIT_CENTS - staked + back
            if played:
                self.recalled(self.rooms[number], number)
        if any(started):
            shoe_left = read_table(self.rooms[-1].machine, self.room.machine.games[GAME].digest).table_state[
                "shoe"
            ]
            dealt = len(CARDS.split()) - (not started[1])  # where nobody doubles
            assert Shoe.from_json(shoe_left).cards_left == DECKS * 52 - dealt
        assert journal.list_pending() == []

    def recalled(self, room, number):
        """Check that recall shows the whole round with this position's own result."""
        menu = MenuUser(room).sign_in(Role.ATTENDANT).touch("recall")
        menu.touch(room.machine.memory.get(PlayKey.LAST_GAME)["play_id"]).touch("show")
        for _ in WHOSE:
            menu.touch("later")
        replay = menu.page.replay
        hands = {hand["id"]: hand["cards"] for hand in replay.display["hands"]}
        assert [hands["box-1"], hands["box-1-2"]] == [["8s", "2h", "Td"], ["8d", "9d"]]
        own_hands = {hand["id"] for hand in replay.display["hands"] if "own" in hand}
        assert own_hands == ({"box-1", "box-1-2"} if number == 0 else {f"box-{number + 1}"})
        assert replay.returned_credits * 100 == BACK[number]


@pytest.mark.timeout(1_800)
@pytest.mark.requirement("A-08", "D-15", "O-01", "E-03")
@every_nth(193, slow=5)
def test_a_power_cut_in_a_round_of_three_seats_settles_each_once(tmp_path, capsys, every):
    started_seat_counts = set()
    cut_everywhere(lambda disk: Blackjack(tmp_path, disk, started_seat_counts), capsys, every)
    assert (
        started_seat_counts == set(range(Blackjack.SEATS + 1))
        if every == 5
        else Blackjack.SEATS in started_seat_counts
    )
