"""A shared Keno level is fed and won by one ticket of one price, with the same code as a level of reels."""

from fractions import Fraction

import pytest
from rigs.floor_controller import RealController
from test_progressive_link import Rig, run

from egm.app.view import build_snapshot
from egm.config.levels import LevelScope, ProgressiveLevelTable
from egm.kernel.events import EventType, State
from egm.progressive.definition import create_levels
from egm.progressive.keys import ProgressiveKey
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

GAME = "summit-keno"
SLOT = (ProgressiveLevelTable(game=GAME, level="summit", kind=LevelScope.LINKED, stakes={"25": "SUMMIT"}),)
TEN = {"selections": [{"groups": [[*range(1, 11)]], "stakes": {"10": 5}}]}
TWO = {"selections": [*TEN["selections"], {"groups": [[*range(1, 11)]], "stakes": {"10": 5}}]}
#: The next number left, twenty times: 1 to 20, and so ten of ten.
ALL = (0,) * 20
NONE = (10,) * 20
BASE_CENTS = 250_000 * 5


def level(**changes):
    entry = {
        "id": "SUMMIT",
        "name": {"en": "Summit", "fr": "Sommet"},
        "game": GAME,
        "game_level": "summit",
        "stake_cents": 25,
        "base_cents": BASE_CENTS,
        "increment": "1/50",
    }
    return create_levels({"level": [{**entry, **changes}]}, "levels.toml")


def build_rig(folder, controller, *numbers):
    return Rig(folder / "state", controller, *numbers, levels=SLOT, games=(GAME,), watched="SUMMIT")


@pytest.mark.requirement("I-01", "I-03", "I-09")
def test_ten_of_ten_wins_the_shared_level_with_the_one_ticket_that_plays_for_it(tmp_path):
    controller = RealController(tmp_path, *level())

    async def life():
        async with build_rig(tmp_path, controller, *NONE, *ALL) as rig:
            await rig.up()
            rig.room.insert(10000)
            rig.room.engine.handle(EventType.SELECT_BET, value=10, options=TWO)
            assert build_snapshot(rig.room.engine).progressives == ()
            rig.room.play()  # two cards of ten, and not one of them drawn
            assert rig.room.hands.messages[-1].progressives == ()
            rig.room.report_shown()
            rig.room.engine.handle(EventType.SELECT_BET, value=5, options=TEN)
            rig.room.play()
            assert [win.id for win in rig.room.hands.messages[-1].progressives] == ["SUMMIT"]
            await rig.until(lambda: rig.room.records("progressive.award"))
            rig.room.report_shown()
            assert rig.room.state is State.HANDPAY  # it is large
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))

    run(life())
    (hit,) = controller.hits
    assert (hit.amount_cents, hit.paid_cents, hit.payment_method) == (BASE_CENTS, BASE_CENTS, "hand")
    assert hit.combination == "summit-keno summit"
    (record,) = controller.real.list_level_records()
    assert record.level.contributed_amount == Fraction(25, 50)
    controller.close()
    with open_view(tmp_path / "state") as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []


@pytest.mark.requirement("I-03")
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"game": None, "game_level": None, "odds": "1/8911712"}, "refused.other_odds"),
        ({"stake_cents": 50, "game": None, "game_level": None, "odds": "1/8911711"}, "refused.other_stake"),
        ({"base_cents": BASE_CENTS - 1}, "refused.other_terms"),
    ],
)
def test_a_shared_keno_level_of_another_stake_or_chance_is_not_fed(tmp_path, changes, code):
    controller = RealController(tmp_path, *level(**changes))

    async def life():
        async with build_rig(tmp_path, controller) as rig:
            await rig.until(lambda: rig.room.records("progressive.refused"))
            assert rig.room.records("progressive.refused")[0]["code"] == code
            assert rig.link.find_displayed_amount("SUMMIT").status == "down"

    run(life())
    controller.close()
