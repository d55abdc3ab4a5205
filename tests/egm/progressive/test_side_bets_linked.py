"""A shared jackpot that side bets win in part: fed stake by stake, paid by share, or refused."""

import json
from fractions import Fraction

import pytest
from rigs.floor_controller import RealController
from rigs.jackpot import BANK, GAME, PAIR, ROYAL, STRAIGHT_FLUSH, choose_bets, decide, list_draws
from test_progressive_link import Rig, run

from egm.config.levels import LevelScope, ProgressiveLevelTable
from egm.kernel.events import EventType, State
from egm.progressive.definition import LevelFileError, create_levels
from egm.progressive.held_prizes import find_reason_to_doubt_award
from egm.progressive.keys import ProgressiveKey
from egm.progressive.messages import (
    Claim,
    EnrolmentAccepted,
    decode_controller_message,
    decode_machine_message,
    encode,
)
from egm.progressive.records import ClaimRecord
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

SLOT = (ProgressiveLevelTable(game=GAME, level="jackpot", kind=LevelScope.LINKED, stakes={"100": "POT"}),)
BASE = 10_000_00
OF_GAME = {"game": GAME, "game_level": "jackpot"}
WRITTEN = {"odds": "1/649740", "shares": {"1/10": "3/216580"}}


def level(**changes):
    entry = {
        "id": "POT",
        "name": {"en": "Jackpot", "fr": "Lot"},
        "stake_cents": 100,
        "base_cents": BASE,
        "increment": "1/2",
    }
    return create_levels({"level": [{**entry, **(changes or OF_GAME)}]}, "levels.toml")


def build_rig(folder, controller, *hands):
    script = [number for hand in hands for number in list_draws(hand, BANK)]
    return Rig(folder / "state", controller, *script, levels=SLOT, games=(GAME,), watched="POT")


def begin(rig):
    rig.room.engine.handle(EventType.SELECT_DENOMINATION, value=100)
    rig.room.insert(100_00)
    choose_bets(rig.room, ante=1, progressive=1)
    rig.room.play()
    decide(rig.room)


@pytest.mark.requirement("I-01", "I-03", "I-09")
@pytest.mark.parametrize("chance", [OF_GAME, WRITTEN])
def test_a_share_of_a_linked_jackpot_is_locked_by_its_controller_and_the_remainder_stays(tmp_path, chance):
    controller = RealController(tmp_path, *level(**chance))

    async def life():
        async with build_rig(tmp_path, controller, STRAIGHT_FLUSH, PAIR) as rig:
            await rig.up()
            begin(rig)
            await rig.until(lambda: rig.room.records("progressive.award"))
            rig.room.report_shown()
            assert rig.room.state is State.IDLE
            assert rig.room.credit_cents == 100_00 - 100 + 100 + 1000_05
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))

    run(life())
    (hit,) = controller.hits
    assert (hit.amount_cents, hit.paid_cents, hit.won_share, hit.shown_cents) == (
        1000_05,
        1000_05,
        "1/10",
        1000_00,
    )
    (record,) = controller.real.list_level_records()
    assert (record.level.current_amount, record.level.contributed_amount) == (BASE, 50)
    assert record.level.seeded_cents == BASE + 999_55
    controller.close()
    with open_view(tmp_path / "state") as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []


@pytest.mark.requirement("I-09", "I-07")
def test_a_whole_jackpot_is_claimed_whole(tmp_path):
    controller = RealController(tmp_path, *level())

    async def life():
        async with build_rig(tmp_path, controller, ROYAL) as rig:
            await rig.up()
            begin(rig)
            await rig.until(lambda: rig.room.records("progressive.award"))

    run(life())
    (hit,) = controller.hits
    assert (hit.amount_cents, hit.won_share) == (BASE + 50, "")
    controller.close()


@pytest.mark.requirement("I-07", "I-09")
def test_without_an_answer_the_attendant_pays_the_share_of_what_was_shown(tmp_path):
    controller = RealController(tmp_path, *level())
    controller.spoil = lambda answer: None if answer.type == "award" else answer

    async def life():
        async with build_rig(tmp_path, controller, STRAIGHT_FLUSH) as rig:
            await rig.up()
            process_message = controller.process_message
            controller.process_message = lambda message: [
                reply for reply in process_message(message) if reply is not None
            ]
            begin(rig)
            rig.room.report_shown()
            assert rig.room.state is State.AWAITING_AWARD
            rig.room.engine.handle(EventType.KEY_TURNED, key="attendant")
            assert rig.room.records("progressive.unanswered")[0]["amount_cents"] == 1000_00

    run(life())
    controller.close()


@pytest.mark.requirement("I-03")
@pytest.mark.parametrize(
    "chance",
    [
        {"odds": "1/649740"},
        {"odds": "1/649740", "shares": {"1/5": "3/216580"}},
        {"odds": "1/649740", "shares": {"1/10": "1/216580"}},
    ],
)
def test_a_linked_jackpot_of_other_shares_is_not_fed(tmp_path, chance):
    """An earlier controller states no shares, and is refused with as clear a reason."""
    controller = RealController(tmp_path, *level(**chance))

    async def life():
        async with build_rig(tmp_path, controller) as rig:
            await rig.until(lambda: rig.room.records("progressive.refused"))
            refusal = rig.room.records("progressive.refused")[0]
            assert refusal["code"] == "refused.other_odds"
            assert "expected 1/10 at 3/216580 hits a wager, as in this machine's game" in refusal["text"]
            assert rig.link.find_displayed_amount("POT").status == "down"

    run(life())
    controller.close()


@pytest.mark.requirement("I-09")
def test_a_claim_of_an_impossible_share_is_refused(tmp_path):
    controller = RealController(tmp_path, *level())
    claim = {"machine": "TEST-1", "level": "POT", "after": 1, "shown_cents": 0}

    async def life():
        async with build_rig(tmp_path, controller, PAIR) as rig:
            await rig.up()
            begin(rig)
            await rig.until(lambda: controller.real.list_level_records()[0].level.contributed_amount)
            forged = Claim(**claim, claim="X", share=Fraction(1, 2))
            (answer,) = controller.process_message(forged)
            assert (answer.type, answer.reason) == ("refused", "other_odds")
            assert "no wager wins that part" in answer.detail
            (paid,) = controller.process_message(Claim(**claim, claim="Y", share=Fraction(1, 10)))
            (other,) = controller.process_message(Claim(**claim, claim="Y"))
            assert (paid.amount_cents, other.reason) == (1000_05, "claim_differs")
            claim_record = ClaimRecord(
                pool_id="POT", level_name="jackpot", contribution_number=1, won_share=Fraction(1, 10), shown_cents=1000_00, play_id="p",
                game_id=GAME, at_utc="", amount_cents=None, payment_method=None, is_settled_by_staff=False,
            )  # fmt: skip
            doubts_by_cents = {
                cents: find_reason_to_doubt_award(rig.room.machine, claim_record, cents)
                for cents in (999_99, 1000_05, 2500_00)
            }
            assert doubts_by_cents[1000_05] == ""
            assert "less than 1/10 of the base" in doubts_by_cents[999_99]
            assert "more than the level can have reached" in doubts_by_cents[2500_00]

    run(life())
    controller.close()


def test_a_level_without_shares_is_reported_as_before():
    joined = EnrolmentAccepted(
        machine="A", nonce="n", level="L", increment=Fraction(1, 2), base_cents=1, counted=0
    )
    assert "shares" not in json.loads(encode(joined))
    parts = joined.model_copy(update={"hit_rate_by_share": {"1/10": Fraction(1, 7)}})
    assert decode_controller_message(encode(parts)) == parts
    claim = Claim(machine="A", level="L", claim="c", after=1, shown_cents=1)
    assert "share" not in json.loads(encode(claim))
    assert decode_machine_message(
        encode(claim.model_copy(update={"share": Fraction(1, 10)}))
    ).share == Fraction(1, 10)


@pytest.mark.parametrize(
    ("chance", "reason"),
    [
        ({"odds": "1/9", "shares": {"3/2": "1/7"}}, "expected parts below 1 with odds above 0"),
        ({"odds": "1/9", "shares": {"1/2": "0"}}, "expected parts below 1 with odds above 0"),
        ({**OF_GAME, "shares": {"1/2": "1/7"}}, "the game defines them"),
    ],
)
def test_impossible_shares_are_refused(chance, reason):
    with pytest.raises(LevelFileError, match=reason):
        level(**chance)
