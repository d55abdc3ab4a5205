"""A complete machine on its link: wagers counted, hits awarded and paid, through outages and restarts.

Engine, journal and link are real; the controller is the small one of the link's own tests, connected in memory.
"""

import asyncio
import copy
import json
import re
from fractions import Fraction

import pytest
from click.testing import CliRunner
from rigs.three_levels import (
    GAME,
    LINKED,
    NO_LUCK,
    A,
    B,
    FixedDisplays,
    await_linked_award,
    make_levels_machine,
    write_profile,
)
from rigs.voids import NOT_PAID, void_as_earlier_version

from egm.app.view import build_snapshot
from egm.clock import SystemClock
from egm.config.levels import LevelScope, ProgressiveLevelTable
from egm.kernel.events import EventType, State
from egm.kernel.services import MachineContext
from egm.money.keys import MoneyKey
from egm.play.void_rule import VoidReason
from egm.progressive import messages as m
from egm.progressive.display import LevelAmountSources
from egm.progressive.keys import ProgressiveKey
from egm.progressive.level import Level, LevelTerms
from egm.progressive.link_service import ProgressiveLinkService
from egm.progressive.pools import ProgressivePools, list_available_bets
from egm.testing.clearing import DECISION_ENDED, ClaimDecision, clear_with_decisions
from egm.testing.controller import SmallController
from meters import open_view
from meters.machine_key import MachineKey
from paytables import load_game
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli import main
from tools.dev.lies import adopt_entries, compute_journal_tag, rewrite_chain

LEVELS = (
    ProgressiveLevelTable(game="three-levels", level="top", kind=LevelScope.LINKED, stakes={"50": "TOP"}),
    ProgressiveLevelTable(game="three-levels", level="luck"),
    ProgressiveLevelTable(game="three-levels", level="mystery"),
)
MISS = 49
KEY = MachineKey(bytes(range(32)))


class Wire:
    """A carrier in memory. While ``up`` is false, everything that is sent is lost."""

    def __init__(self, controller):
        self.controller = controller
        self.up = True
        self.mute = False
        self.ears = None

    async def run(self, ears):
        self.ears = ears
        connected = False
        while True:
            if self.up and not connected:
                ears.handle_connected()
            elif connected and not self.up:
                ears.handle_disconnected("the wire was cut")
            connected = self.up
            for value in self.controller.update_values() if self.up else ():
                ears.process_message(value)
            await asyncio.sleep(0.01)

    def send(self, message):
        if self.up and not self.mute:
            for answer in self.controller.process_message(message):
                self.ears.process_message(answer)


class Rig:
    """A machine on its link, from one start to the next."""

    def __init__(self, folder, controller, *numbers, levels=LEVELS, watched="TOP", **options):
        self.room = make_levels_machine(folder, *numbers, levels=levels, **options)
        self.watched = watched
        self.room.machine.component(LevelAmountSources).link = None
        self.wire = Wire(controller)
        self.link = None

    async def __aenter__(self):
        engine = self.room.engine
        context = MachineContext(engine, None, None, SystemClock(), engine.submit)
        self.link = ProgressiveLinkService(context, self.wire)
        self.changed, engine._on_change = engine._on_change, lambda: self.link.process_change(None)
        self.room.boot()
        self.task = asyncio.create_task(self.link.run())
        return self

    async def __aexit__(self, *_):
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        self.room.close()

    async def until(self, condition):
        async with asyncio.timeout(60):
            while not condition():
                if self.task.done():
                    await self.task
                await asyncio.sleep(0.01)

    async def up(self):
        await self.until(lambda: self.link.find_displayed_amount(self.watched).status == "up")
        return self

    def view(self):
        levels = build_snapshot(self.room.engine).progressives
        return next(level for level in levels if level.id == self.watched)

    async def one_game(self):
        await self.until(lambda: self.room.state is State.IDLE)
        self.room.play()
        assert self.room.state is State.PLAYING, self.room.notice
        self.room.report_shown()


@pytest.fixture
def controller(monkeypatch):
    monkeypatch.setattr("egm.testing.controller.HIT_PROBABILITY", Fraction(3, 8))
    terms = LevelTerms(base_cents=1500, increment=Fraction(1, 70), hidden_increment=Fraction(1, 1000))
    return SmallController("TOP", terms=terms)


def run(test):
    asyncio.run(test)


@pytest.mark.requirement("I-02", "I-07", "I-14")
def test_wagers_are_counted_and_the_level_becomes_available_and_unavailable(tmp_path, controller):
    async def life():
        async with Rig(tmp_path, controller, *(B, NO_LUCK, MISS) * 12) as rig:
            assert rig.view().status == "down"
            await rig.up()
            rig.room.insert(2000)
            for _ in range(6):
                await rig.one_game()
            await rig.until(lambda: controller.contribution_count_by_machine_and_level["TEST-1", "TOP"] == 6)
            await rig.until(lambda: rig.view().amount_cents == 1500 + 300 // 70)
            rig.wire.up = False
            await rig.until(lambda: rig.view().status == "down")
            rig.room.play()
            assert rig.room.notice == "refused.levels_are_up"
            rig.wire.up = True
            await rig.up()
            await rig.one_game()
            await rig.until(lambda: controller.contribution_count_by_machine_and_level["TEST-1", "TOP"] == 7)

    run(life())
    stored_level = controller.levels["TOP"]
    assert stored_level.contributed_amount == 350 * (Fraction(1, 70) + Fraction(1, 1000))


@pytest.mark.requirement("I-15", "A-08")
def test_games_played_while_offline_are_sent_by_the_next_run(tmp_path, controller):
    async def first():
        async with Rig(tmp_path, controller, *(B, NO_LUCK, MISS) * 5) as rig:
            await rig.up()
            rig.room.insert(2000)
            await rig.one_game()
            await rig.until(
                lambda: controller.contribution_count_by_machine_and_level.get(("TEST-1", "TOP")) == 1
            )
            rig.wire.mute = True  # the machine's messages are lost
            for _ in range(3):
                await rig.one_game()

    async def second():
        async with Rig(tmp_path, controller, B, NO_LUCK, MISS) as rig:
            await rig.up()
            await rig.until(lambda: controller.contribution_count_by_machine_and_level["TEST-1", "TOP"] == 4)
            await rig.one_game()
            await rig.until(lambda: controller.contribution_count_by_machine_and_level["TEST-1", "TOP"] == 5)
            mark = rig.room.journal.state(f"{ProgressiveKey.LINK_PROGRESS}TOP")
            assert (mark["sequence"], mark["counted"]) == (5, 4)

    run(first())
    run(second())
    assert controller.levels["TOP"].contributed_amount == 250 * (Fraction(1, 70) + Fraction(1, 1000))


@pytest.mark.requirement("I-09")
def test_a_hit_is_claimed_awarded_paid_and_closed(tmp_path, controller):
    async def life():
        async with Rig(tmp_path, controller, A, NO_LUCK, MISS) as rig:
            await rig.up()
            rig.room.insert(2000)
            await rig.one_game()
            await rig.until(lambda: rig.room.state is State.IDLE)
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))
            (award,) = controller.award_by_claim.values()
            assert rig.room.credit_cents == 2000 - 50 + 100 + award.amount_cents
            (commit,) = controller.payment_report_by_claim.values()
            assert (commit.amount_cents, commit.payment_method) == (award.amount_cents, "credit")
            await rig.until(lambda: rig.view().amount_cents == controller.levels["TOP"].shown_cents)

    run(life())


@pytest.mark.requirement("I-07", "I-09", "A-08")
def test_a_claim_survives_an_outage_and_a_restart_and_is_paid_once(tmp_path, controller):
    async def first():
        async with Rig(tmp_path, controller, A, NO_LUCK, MISS) as rig:
            await rig.up()
            rig.room.insert(2000)
            rig.wire.mute = True
            await rig.one_game()
            assert rig.room.state is State.AWAITING_AWARD

    async def second():
        async with Rig(tmp_path, controller) as rig:
            await rig.until(lambda: rig.room.state is State.IDLE)
            (award,) = controller.award_by_claim.values()
            assert rig.room.credit_cents == 2000 - 50 + 100 + award.amount_cents
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))

    run(first())
    run(second())
    assert controller.levels["TOP"].hit_count == 1


def test_an_award_an_attendant_settled_is_committed_at_what_he_paid(tmp_path, controller):
    async def life():
        async with Rig(tmp_path, controller, A, NO_LUCK, MISS) as rig:
            await rig.up()
            rig.room.insert(2000)
            rig.wire.mute = True
            await rig.one_game()
            rig.room.engine.handle(EventType.KEY_TURNED, key="attendant")
            assert rig.room.state is State.HANDPAY
            rig.wire.mute = False
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))
            (commit,) = controller.payment_report_by_claim.values()
            assert (commit.amount_cents, commit.payment_method) == (1500, "hand")
            assert controller.levels["TOP"].hit_count == 1  # the earlier hit was reported to it

    run(life())


def rule_on_award(rig, decision, persons=("2", "5")):
    engine = rig.room.engine
    engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    values = {"form": "prize_ruling", "person": persons[0], "persons": persons}
    engine.handle(EventType.RULE_ON_HELD_PRIZE, **values, decision=decision, reason="asked")
    notice = rig.room.notice
    engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    return notice


@pytest.mark.requirement("I-09", "I-15")
@pytest.mark.parametrize("decision", ["pay", "decline"])
@pytest.mark.parametrize("amount_cents", [99_999_900, 1499, 2 * 1500 + 1])
def test_an_impossible_award_is_held_for_two_persons(tmp_path, controller, amount_cents, decision):
    process_message = controller.process_message

    def lie(message):
        return [
            answer.model_copy(update={"amount_cents": amount_cents})
            if isinstance(answer, m.Award)
            else answer
            for answer in process_message(message)
        ]

    controller.process_message = lie

    async def life():
        async with Rig(tmp_path, controller, A, NO_LUCK, MISS) as rig:
            await rig.up()
            rig.room.insert(2000)
            rig.room.play()
            await rig.until(lambda: rig.room.records("progressive.held"))
            (held_award,) = rig.room.records("progressive.held")
            shown_cents = next(iter(rig.room.journal.states(ProgressiveKey.CLAIM).values()))["shown_cents"]
            assert held_award["amount_cents"] == amount_cents
            assert list(rig.room.machine.active_faults) == ["progressive_unproved"]
            rig.room.engine.handle(EventType.KEY_TURNED, key="attendant")
            assert rig.room.records("progressive.award") == []
            assert rule_on_award(rig, decision, ("2",)) == "refused.authorised"
            rule_on_award(rig, decision)
            rig.room.report_shown()
            await rig.until(lambda: rig.room.state is State.HANDPAY)
            due = amount_cents if decision == "pay" else shown_cents
            assert rig.room.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"] == due + 100
            rig.room.engine.handle(EventType.KEY_TURNED, key="attendant")
            (ruling,) = rig.room.records("progressive.ruled")
            assert (ruling["persons"], ruling["awarded_cents"], ruling["decision"]) == (
                ["2", "5"],
                due,
                decision,
            )
            assert not rig.room.journal.states(ProgressiveKey.HELD_PRIZE)

    run(life())


@pytest.mark.requirement("I-07", "I-09")
def test_without_an_answer_two_persons_settle_where_an_attendant_may_not(tmp_path, controller):
    path = write_profile(tmp_path, "[tickets]", '[progressives]\nunanswered = "wait"\n[tickets]')

    async def life():
        async with Rig(tmp_path / "state", controller, A, NO_LUCK, MISS, profile=path) as rig:
            await rig.up()
            rig.room.insert(2000)
            rig.wire.mute = True
            await rig.one_game()
            assert rig.room.state is State.AWAITING_AWARD
            rig.room.engine.handle(EventType.KEY_TURNED, key="attendant")
            assert rig.room.state is State.AWAITING_AWARD
            assert rule_on_award(rig, "pay") == "refused.stated_amount_is_payable"
            rule_on_award(rig, "decline")
            assert rig.room.state is State.HANDPAY
            assert rig.room.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"] == 1500 + 100

    run(life())


@pytest.mark.not_audited
@pytest.mark.requirement("I-09", "I-07")
@pytest.mark.parametrize("late", [False, True], ids=["held first", "void first"])
@pytest.mark.parametrize("decision", ["pay", "decline"])
def test_an_impossible_award_of_a_void_hit_ends_with_its_ruling(tmp_path, decision, late):
    """Regression: it was treated as a mystery prize, and no event could be handled any more."""
    room = await_linked_award(tmp_path)
    [key] = room.journal.states(ProgressiveKey.CLAIM)
    award = {"claim": key.removeprefix(ProgressiveKey.CLAIM), "amount_cents": 1}
    persons = {"person": "2", "persons": ("2", "5")}
    if not late:
        room.engine.handle(EventType.AWARD_LOCKED, **award)
    void_as_earlier_version(room, VoidReason.DISRUPTED)
    assert room.records("game.void")
    if late:
        room.engine.handle(EventType.AWARD_LOCKED, **award)
    assert [record["amount_cents"] for record in room.records("progressive.award_differs")] == [1] * late
    ruling = {"decision": decision, "reason": "asked"}
    room.engine.handle(EventType.RULE_ON_HELD_PRIZE, form="prize_ruling", **persons, **ruling)
    room.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (room.state, room.credit_cents) == (State.IDLE, 450)
    assert not room.journal.states(ProgressiveKey.HELD_PRIZE)
    findings = Auditor(GameFiles((GAME.parent,))).audit_entries(room.journal.iter_bodies()).findings
    assert [finding.text for finding in findings] == [NOT_PAID]
    room.close()


@pytest.mark.requirement("I-09", "I-07")
@pytest.mark.parametrize(("decision", "due"), [("pay", 90_000), ("decline", 1700)])
@pytest.mark.parametrize("then", [1700, 90_000])
def test_controller_message_after_an_impossible_award_changes_nothing(tmp_path, decision, due, then):
    """Regression: the second amount was locked and the first one's ruling paid, or the first after a level update."""
    room = await_linked_award(tmp_path)
    claim = next(iter(room.journal.states(ProgressiveKey.CLAIM))).removeprefix(ProgressiveKey.CLAIM)
    room.engine.handle(EventType.AWARD_LOCKED, claim=claim, amount_cents=90_000)
    room.machine.component(LevelAmountSources).link = FixedDisplays(then)
    for _ in range(2):
        room.engine.handle(EventType.AWARD_LOCKED, claim=claim, amount_cents=then)
    assert room.records("progressive.award") == []
    ruling = {"person": "2", "persons": ("2", "5"), "decision": decision, "reason": "asked"}
    room.engine.handle(EventType.RULE_ON_HELD_PRIZE, form="prize_ruling", **ruling)
    assert room.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"] == due + 100
    room.engine.handle(EventType.AWARD_LOCKED, claim=claim, amount_cents=then)
    assert Auditor(GameFiles((GAME.parent,))).audit_entries(room.journal.iter_bodies()).findings == []
    room.close()


@pytest.mark.requirement("I-07")
def test_the_profile_may_stop_the_whole_machine_without_the_controller(tmp_path, controller):
    path = write_profile(tmp_path, "[tickets]", '[progressives]\nlink_down = "machine"\n[tickets]')

    async def life():
        async with Rig(tmp_path / "state", controller, profile=path) as rig:
            await rig.until(lambda: rig.room.state is State.IDLE and rig.view().status == "up")
            rig.wire.up = False
            await rig.until(lambda: rig.room.state is State.OUT_OF_SERVICE)
            rig.wire.up = True
            await rig.until(lambda: rig.room.state is State.IDLE)
            assert rig.room.records("progressive.link_lost")

    run(life())


@pytest.mark.requirement("I-03")
def test_a_controller_with_other_odds_is_recorded_and_the_level_stays_down(tmp_path):
    async def life():
        async with Rig(tmp_path, SmallController("TOP")) as rig:
            await rig.until(lambda: rig.room.records("progressive.refused"))
            assert rig.room.records("progressive.refused")[0]["code"] == "refused.other_odds"
            assert rig.view().status == "down"

    run(life())


@pytest.mark.requirement("I-07", "I-14")
def test_a_controller_restored_from_an_older_copy_gets_every_contribution_again(tmp_path, controller):
    async def life():
        async with Rig(tmp_path, controller, *(B, NO_LUCK, MISS) * 4) as rig:
            await rig.up()
            rig.room.insert(2000)
            for n in range(1, 4):
                await rig.one_game()
                await rig.until(
                    lambda expected_count=n: (
                        controller.contribution_count_by_machine_and_level["TEST-1", "TOP"] == expected_count
                    )
                )
            rig.wire.up = False
            await rig.until(lambda: rig.view().status == "down")
            controller.contribution_count_by_machine_and_level["TEST-1", "TOP"] = 1
            controller.levels["TOP"] = Level.open(controller.levels["TOP"].terms).add_contribution(50)
            rig.wire.up = True
            await rig.until(lambda: controller.contribution_count_by_machine_and_level["TEST-1", "TOP"] == 3)
            assert rig.room.records("progressive.behind") == [{"pool": "TOP", "counted": 1}]
            controller.hit_count_by_level["TOP"] += 1  # its operator corrects the displayed amount
            await rig.up()
            await rig.one_game()
            await rig.until(lambda: controller.contribution_count_by_machine_and_level["TEST-1", "TOP"] == 4)

    run(life())
    assert controller.levels["TOP"].contributed_amount == 200 * (Fraction(1, 70) + Fraction(1, 1000))


@pytest.mark.requirement("I-07", "I-09", "I-14")
def test_hit_is_sent_again_to_a_controller_restored_from_an_older_copy(tmp_path, controller):
    """Regression: the paid amount was still shown, and was paid again to the next winner."""
    older = copy.deepcopy(controller)

    async def life():
        async with Rig(tmp_path, controller, *(B, NO_LUCK, MISS), *(A, NO_LUCK, MISS)) as rig:
            await rig.up()
            rig.room.insert(2000)
            for _ in range(2):
                await rig.one_game()
            await rig.until(lambda: rig.room.records("progressive.closed"))
            rig.wire.up = False
            await rig.until(lambda: rig.view().status == "down")
            rig.wire.controller = older
            rig.wire.up = True
            await rig.until(lambda: len(rig.room.records("progressive.closed")) == 2)
            assert rig.room.records("progressive.behind") == [{"pool": "TOP", "counted": 0}]
            assert not rig.room.journal.states(ProgressiveKey.CLAIM)
            return list(rig.room.journal.iter_bodies())

    bodies = asyncio.run(life())
    assert (older.levels["TOP"].hit_count, older.payment_report_by_claim) == (
        1,
        controller.payment_report_by_claim,
    )
    assert older.levels["TOP"].shown_cents == controller.levels["TOP"].shown_cents
    game_files = GameFiles((GAME.parent,))
    assert Auditor(game_files).audit_entries(bodies).findings == []
    entries = adopt_entries(bodies, KEY)
    [behind] = [entry for entry in entries if entry["kind"] == "progressive.behind"]
    [(_, claim_state)] = behind["state"].items()
    for lie in (
        {},
        {"claim:other": claim_state},
        {claim: claim_state | {"amount_cents": 1} for claim in behind["state"]},
    ):
        lied = [entry | {"state": lie} if entry is behind else entry for entry in entries]
        assert (
            Auditor(game_files)
            .audit_entries(rewrite_chain(lied, KEY, compute_journal_tag(entries[0])))
            .findings
        )


def test_after_a_memory_clear_contributions_continue_the_controllers_numbers(tmp_path, controller):
    controller.contribution_count_by_machine_and_level["TEST-1", "TOP"] = 7

    async def life():
        async with Rig(tmp_path, controller, B, NO_LUCK, MISS) as rig:
            await rig.until(lambda: rig.room.records("progressive.ahead"))
            await rig.up()
            rig.room.insert(2000)
            await rig.one_game()
            await rig.until(lambda: controller.contribution_count_by_machine_and_level["TEST-1", "TOP"] == 8)

    run(life())


@pytest.mark.requirement("A-05", "I-07")
def test_contributions_carried_over_by_a_memory_clear_are_all_sent_after_a_restart(tmp_path, controller):
    """Regression: the contribution of the game open at the clear was lost, and no later one was counted."""

    def lose_contributions(rig):
        send = rig.wire.send
        rig.wire.send = lambda message: None if isinstance(message, m.Contribution) else send(message)

    async def play(*, games, is_last_open=False):
        async with Rig(tmp_path, controller, *(B, NO_LUCK, MISS) * games) as rig:
            lose_contributions(rig)
            if is_last_open:
                rig.room.insert(2000)
            else:
                rig.room.report_shown()
            await rig.up()
            for number in range(games):
                await rig.until(lambda: rig.room.state is State.IDLE)
                rig.room.play()
                if number < games - 1 or not is_last_open:
                    rig.room.report_shown()

    async def send_all():
        async with Rig(tmp_path, controller) as rig:
            await rig.up()
            await rig.until(lambda: controller.contribution_count_by_machine_and_level["TEST-1", "TOP"] == 4)

    run(play(games=3, is_last_open=True))
    clear_with_decisions(tmp_path)
    run(play(games=1))
    run(send_all())


def test_the_stakes_of_a_linked_level_are_the_only_ones_offered(tmp_path):
    room = make_levels_machine(tmp_path, levels=LINKED[:1] + LEVELS[1:])
    pools, game = room.machine.component(ProgressivePools), load_game(str(GAME))
    own_pools = {pool.id for pool in pools.pool_by_id.values() if pool.is_own}
    assert {
        "three-levels.luck.50",
        "three-levels.luck.1000",
    } <= own_pools  # each stake of the game, offered or not
    offered = {
        bet * cents for cents in game.denominations_cents for bet in list_available_bets(pools, game, cents)
    }
    assert offered == {50, 100}
    room.close()


@pytest.mark.requirement("I-05")
def test_a_linked_level_is_read_out_before_its_first_wager(tmp_path, controller):
    async def life():
        async with Rig(tmp_path, controller) as rig:
            assert rig.room.records("progressive.linked") == [{"pool": "TOP"}]
        async with Rig(tmp_path, controller) as rig:  # once, however often it restarts
            assert len(rig.room.records("progressive.linked")) == 1

    run(life())
    shown = CliRunner().invoke(main, ["levels", "--state", str(tmp_path), "--json"])
    assert json.loads(shown.output)["linked"]["TOP"]["contributions"]["sequence"] == 0
    shown = CliRunner().invoke(main, ["levels", "--state", str(tmp_path)])
    assert re.search(r"^TOP +0 +0 +0 +0$", shown.output, re.MULTILINE), shown.output


@pytest.mark.requirement("I-15")
def test_invalid_messages_move_nothing_and_do_not_fill_the_journal(tmp_path, controller):
    async def life():
        async with Rig(tmp_path, controller) as rig:
            await rig.up()
            shown = rig.view().amount_cents
            for n in range(500):
                rig.wire.ears.handle_invalid_message(f"nonsense {n}")
            assert rig.view().amount_cents == shown
            refusals = rig.room.records("progressive.refused")
            assert len(refusals) == 50
            assert refusals[-1]["last"]

    run(life())


@pytest.mark.requirement("A-05", "I-07")
def test_contribution_of_a_game_ended_at_a_memory_clear_is_still_sent(tmp_path, controller):
    """The people who clear the memory decide that nothing is owed for the game; its wager still fed the level."""

    async def play():
        async with Rig(tmp_path, controller, *(B, NO_LUCK, MISS) * 3) as rig:
            send = rig.wire.send
            rig.wire.send = lambda message: None if isinstance(message, m.Contribution) else send(message)
            rig.room.insert(2000)
            await rig.up()
            for _ in range(2):
                await rig.one_game()
                await rig.until(lambda: rig.room.state is State.IDLE)
            rig.room.play()
            log = next((tmp_path / "second").glob("*.log"))
            end = len(log.read_bytes().rstrip(b"\0"))
            rig.room.report_shown()
            return log, end

    async def send_all():
        async with Rig(tmp_path, controller, B, NO_LUCK, MISS) as rig:
            await rig.up()
            await rig.one_game()
            await rig.until(lambda: controller.contribution_count_by_machine_and_level["TEST-1", "TOP"] == 4)

    log, end = asyncio.run(play())
    (tmp_path / "journal.sqlite").write_bytes(b"nothing of it")
    content = bytearray(log.read_bytes())
    content[end + 40] ^= 1  # in the entry that ends the game
    log.write_bytes(content)
    clear_with_decisions(tmp_path, game_1=ClaimDecision(decision=DECISION_ENDED))
    run(send_all())
    with open_view(tmp_path) as view:
        report = Auditor(GameFiles([GAME.parent])).audit_entries(view.iter_bodies())
    assert report.findings == []
