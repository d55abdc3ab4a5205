"""The power is cut at every storage operation of one round of blackjack, and of all that it stakes and wins.

A pair of red fours is insured, split into four hands, two of them doubled; its first four cards win a tenth of a
level; the dealer has a blackjack, which takes the first bet alone. One round, one settlement, right to the
cent, whatever was not durable when the power went; and recalled question by question as it was.
"""

import pytest
from powercut_life import Life, cut_everywhere, every_nth
from rigs.blackjack import rebind_proved_figures
from rigs.cards import remove_cards

from egm.config.levels import ProgressiveLevelTable
from egm.kernel.events import State
from egm.people import Role
from egm.progressive.keys import ProgressiveKey
from egm.progressive.level import Level
from egm.testing.machine import MachineRig
from egm.testing.service_menu import MenuUser
from paytables.cards import Shoe, parse_cards
from paytables.definition import LIBRARY_FOLDER

GAME, CREDIT = "fours", 100_00
BETS = {"main": 10, "twelve-sixteen": 5, "progressive": 1}
#: The cards that each answer brings, the deal first.
STEPS = (
    ("", "4h Ah 4d"),
    ("insurance", ""),
    ("split", "4h"),
    ("split", "4d"),
    ("split", "7c"),
    ("double", "Th 6c"),
    ("double", "9s Ts"),
    ("stand", "5c"),
    ("hit", "8c"),
    ("stand", "Kd"),
)
HANDS = {
    "bank": ["Ah", "Kd"],
    "box-1": ["4h", "7c", "Th"],
    "box-1-4": ["4d", "6c", "9s"],
    "box-1-3": ["4h", "Ts"],
    "box-1-2": ["4d", "5c", "8c"],
}
#: Main, 12 to 16, level, insurance, three splits, two doubles; back: insurance 2 to 1, and all that was added.
STAKED, BACK, SHARE = 10 + 5 + 1 + 5 + 30 + 20, 15 + 50, 1000_05
SIDE = """
[[side]]
id = "progressive"
name = { en = "Progressive", fr = "Mise progressive" }
limits = { least = 1, most = 1, worth_cents = 100 }
[[side.row]]
id = "low-straight-flush"
name = { en = "Ace to five of one suit", fr = "As à cinq de même couleur" }
cards = 5
ranks = ["A2345"]
suits = "same"
pays = "100%"
[[side.row]]
id = "red-fours"
name = { en = "Four red fours", fr = "Quatre quatre rouges" }
cards = 4
ranks = ["4444"]
suits = "red"
pays = "10%"
[[progressive]]
id = "jackpot"
name = { en = "Jackpot", fr = "Lot progressif" }
spot = "progressive"
reset_credits = 10000
increment = "1/2"
"""


def numbers():
    """Return the numbers drawn from a full shoe at each step to deal these cards."""
    shoe, found = Shoe.from_decks(8), []
    for _, cards in STEPS:
        found.append([])
        for card in parse_cards(cards):
            found[-1].append(sum(shoe.counts[:card]))
            remove_cards(shoe, card)
    return found


def definition(folder):
    """The table with every option of the by-law, and a level."""
    text = (LIBRARY_FOLDER / "tables" / "quebec-blackjack-options.toml").read_text()
    text = text.replace('id = "quebec-blackjack-options"', f'id = "{GAME}"').replace("hands = 5", "hands = 4")
    rules, proved, figures = text.partition("\n[proved")
    folder.mkdir(exist_ok=True)
    path = folder / f"{GAME}.toml"
    path.write_text(rebind_proved_figures(rules + SIDE + proved + figures))
    return path


class Fours(Life):
    """The round, on a table of 1 $."""

    @property
    def shelf(self):
        return (self.folder.parent / "games",)

    def machine(self):
        return MachineRig(
            self.folder,
            games=(str(definition(*self.shelf)),),
            levels=(ProgressiveLevelTable(game=GAME, level="jackpot"),),
            denominations_cents=(100,),
            generator=self,
            storage=self.storage,
        )

    def boot(self):
        super().boot()
        assert self.room.refused_games == ()

    def answers(self):
        return sum(1 for _ in self.room.journal.entries("game.choice"))

    def numbers(self):
        return numbers()[self.answers() + 1 if self.room.state is State.PLAYING else 0]

    def ready(self):
        return self.room.credit_cents == CREDIT

    def over(self):
        return self.ended() > 0 and self.room.state is State.IDLE

    def answer(self):
        return STEPS[self.answers() + 1][0]

    def act(self):
        match self.room.state:
            case State.IDLE if self.room.credit_cents < CREDIT:
                self.room.insert(CREDIT)
            case State.IDLE:
                self.play(BETS)
            case _:
                super().act()

    def judge(self):
        """Check that every stake, returned stake and share is booked once and the round is unchanged."""
        rig = self.room
        meters = rig.journal.meters().values
        assert (meters["coin_in"], meters["games_played"]) == (STAKED * 100, 1)
        assert rig.credit_cents == CREDIT - STAKED * 100 + BACK * 100 + SHARE
        level = Level.from_json(rig.journal.state(f"{ProgressiveKey.OWN_LEVEL}{GAME}.jackpot.100"))
        assert (level.contributed_amount, level.paid_cents, level.hit_count) == (50, SHARE, 1)
        check_recall(rig)


def check_recall(rig):
    """Check that recall shows each decision with its cards and its answer, and the end."""
    menu = MenuUser(rig).sign_in(Role.ATTENDANT).touch("recall")
    menu.touch(menu.page.tables[0].rows[0].action).touch("show")
    seen = []
    for number in range(len(STEPS)):
        replay = menu.page.replay
        seen.append(sum(len(hand["cards"]) for hand in replay.display["hands"]))
        assert replay.step == number + 1
        assert replay.steps == len(STEPS)
        assert replay.answer == (STEPS[number + 1][0] if number + 1 < len(STEPS) else None)
        if number + 1 < len(STEPS):
            menu.touch("later")
    assert seen == [3, 3, 4, 5, 6, 8, 10, 11, 12, 13]
    assert {hand["id"]: hand["cards"] for hand in replay.display["hands"]} == HANDS


@pytest.mark.requirement("A-08", "D-15", "I-09", "E-03")
@every_nth(199)
def test_a_power_cut_with_four_hands_doubled_and_insured_settles_them_once(tmp_path, capsys, every):
    assert cut_everywhere(lambda disk: Fours(tmp_path / "state", disk), capsys, every) > 60
