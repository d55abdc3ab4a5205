"""The power is cut at every storage operation of a side bet that wins a share of its level, then the whole.

The machine is the real one on a simulated disk, playing Caribbean Stud for its jackpot. Whatever was not
durable when the power went is done again by the same hands; no share is fed twice, and nothing is won twice.
"""

import pytest
from powercut_life import Life, cut_everywhere, every_nth
from rigs.jackpot import BANK, QUADS, ROYAL, STRAIGHT_FLUSH, list_draws, make_jackpot_machine, read_level

from egm.kernel.events import State
from egm.money.keys import MoneyKey

HANDS = (STRAIGHT_FLUSH, QUADS, ROYAL)
CREDIT = 50_00
#: Of 10,000.50 a tenth, and the base is put up again; two hands later all of it.
SHARE, WHOLE = 1000_05, 10_001_00


class Jackpot(Life):
    """The three hands."""

    def machine(self):
        rig = make_jackpot_machine(self.folder, storage=self.storage)
        rig.machine.random_service = self
        return rig

    def numbers(self):
        """Six cards, then the bank's other four."""
        is_playing = self.room.state is State.PLAYING
        return list_draws(HANDS[self.ended()], BANK)[6 if is_playing else 0 :]

    def ready(self):
        return self.room.credit_cents == CREDIT

    def over(self):
        return self.ended() == len(HANDS)

    def act(self):
        match self.room.state:
            case State.IDLE if self.ended() == 0 and self.room.credit_cents < CREDIT:
                self.room.insert(CREDIT)
            case State.IDLE:
                self.play({"ante": 1, "progressive": 1})
            case _:
                super().act()

    def judge(self):
        """Check that three stakes contributed once each, and a share and the whole were won once each."""
        rig = self.room
        assert rig.state is State.HANDPAY  # the whole is paid by hand
        found = read_level(rig)
        assert (found.contributed_amount, found.paid_cents, found.hit_count) == (150, SHARE + WHOLE, 2)
        assert (found.seeded_cents, found.current_amount) == (10_000_00 + 999_55 + 10_000_00, 10_000_00)
        meters = rig.journal.meters().values
        assert (meters["coin_in"], meters["games_played"]) == (3 * 400, 3)
        owed = rig.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"]
        assert rig.credit_cents + owed == CREDIT + 500_00 + SHARE + WHOLE  # each ante pays for the side bet


@pytest.mark.requirement("A-08", "I-09", "I-14")
@every_nth(107)
def test_a_power_cut_in_a_side_bet_feeds_and_pays_the_level_once(tmp_path, capsys, every):
    assert cut_everywhere(lambda disk: Jackpot(tmp_path / "state", disk), capsys, every) > 60
