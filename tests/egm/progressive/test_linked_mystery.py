"""A mystery level of a controller on a complete machine: recognised as won, added to the game, and paid once.

Engine, journal and link are real, and so is the controller, which is connected in memory. Only the draws are
scripted.
"""

import contextlib
import json
import shutil
from dataclasses import replace

import pytest
from rigs.floor_controller import RealController
from rigs.three_levels import GAME, LINKED_MYSTERY, MYSTERY_TERMS, NO_LUCK, STAKE, B, define_mystery_level
from rigs.voids import NOT_PAID, void_as_earlier_version
from test_progressive_link import KEY, Rig, run

from egm.kernel.events import EventType, State
from egm.kernel.messages import GameOutcome
from egm.money.keys import MoneyKey
from egm.progressive.keys import ProgressiveKey
from egm.progressive.messages import PaymentReport
from egm.testing.clearing import build_paid_decision, clear_with_decisions
from meters import open_view
from meters.entry import encode_canonical_json
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.dev.lies import adopt_entries, compute_journal_tag, rewrite_chain


@pytest.fixture
def controller(tmp_path):
    """A controller whose second wager wins the first prize; later prizes are won at the ceiling."""
    opened = RealController(tmp_path, define_mystery_level(), drawn=(1, 88, 88))
    yield opened
    opened.close()


def build_rig(folder, controller, *numbers, **options):
    return Rig(folder / "state", controller, *numbers, levels=LINKED_MYSTERY, watched="LUCKY", **options)


def numbers(games):
    return (B, NO_LUCK) * games


async def insert_bill_and_play_two_games(rig):
    rig.room.insert(2000)
    for _ in range(2):
        await rig.one_game()
        await rig.until(lambda: rig.room.state is State.IDLE)


def list_outcomes(rig):
    return [message for message in rig.room.hands.messages if isinstance(message, GameOutcome)]


def check_audit(folder, due=()):
    with open_view(folder / "state") as view:
        bodies = list(view.iter_bodies())
    report = Auditor(GameFiles([GAME.parent])).audit_entries(bodies)
    assert [finding.text for finding in report.findings] == list(due)
    return bodies


def wait_until_counted(rig, controller, games):
    return rig.until(lambda: rig.link.find_last_decided_number("LUCKY") == games)


@pytest.mark.requirement("I-04", "I-09", "I-17")
def test_the_wager_that_reaches_the_secret_wins_while_its_game_is_shown(tmp_path, controller):
    async def life():
        async with build_rig(tmp_path, controller, *numbers(3)) as rig:
            await rig.up()
            rig.room.insert(2000)
            await rig.one_game()
            await rig.until(lambda: rig.room.state is State.IDLE)
            before = rig.room.credit_cents
            rig.room.play()
            await rig.until(lambda: rig.room.records("progressive.won"))
            assert rig.room.state is State.PLAYING
            (win,) = list_outcomes(rig)[-1].progressives
            assert (win.id, win.level, win.amount_cents) == ("LUCKY", "mystery", 501)
            rig.room.report_shown()
            assert rig.room.state is State.IDLE
            assert rig.room.credit_cents == before - STAKE + 15 + 501
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))
            await rig.until(lambda: rig.view().amount_cents == 500)
            await rig.one_game()
            await wait_until_counted(rig, controller, 3)

    run(life())
    (hit,) = controller.hits
    assert (hit.machine, hit.contribution_number, hit.amount_cents, hit.paid_cents, hit.payment_method) == (
        "TEST-1", 2, 501, 501, "credit",
    )  # fmt: skip
    bodies = [json.loads(body) for body in check_audit(tmp_path)]
    found = {body["kind"]: body for body in bodies}
    sealed, won = (next(b for b in bodies if b["kind"] == "progressive.sealed"), found["progressive.won"])
    assert sealed["record"]["commitment"] == won["record"]["commitment"]
    assert won["record"]["proved"] is True
    (registered,) = (b["record"] for b in bodies if b["kind"] == "progressive.hit")
    assert (registered["pool"], registered["amount_cents"], registered["way"]) == ("LUCKY", 501, "credit")


@pytest.mark.requirement("I-07", "I-09", "A-08")
def test_a_game_waits_for_the_mystery_result_even_over_a_restart(tmp_path, controller):
    async def first():
        async with build_rig(tmp_path, controller, *numbers(2)) as rig:
            await rig.up()
            rig.room.insert(2000)
            await rig.one_game()
            await wait_until_counted(rig, controller, 1)
            rig.wire.mute = True  # the machine's messages are lost
            await rig.one_game()
            assert rig.room.state is State.AWAITING_AWARD

    async def second():
        async with build_rig(tmp_path, controller) as rig:
            await rig.until(lambda: rig.room.state is State.IDLE)
            assert [win.amount_cents for win in list_outcomes(rig)[-1].progressives] == [501]
            assert rig.room.credit_cents == 2000 - 2 * STAKE + 2 * 15 + 501
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))

    run(first())
    run(second())
    check_audit(tmp_path)
    assert [hit.paid_cents for hit in controller.hits] == [501]


@pytest.mark.requirement("A-08", "I-09")
def test_a_power_cut_before_the_payment_pays_a_prize_once(tmp_path, controller):
    async def first():
        async with build_rig(tmp_path, controller, *numbers(2)) as rig:
            await rig.up()
            rig.room.insert(2000)
            await rig.one_game()
            await rig.until(lambda: rig.room.state is State.IDLE)
            rig.room.play()
            await rig.until(lambda: rig.room.records("progressive.won"))

    async def second():
        async with build_rig(tmp_path, controller) as rig:
            await rig.until(lambda: list_outcomes(rig))
            (win,) = list_outcomes(rig)[-1].progressives
            assert win.amount_cents == 501
            await wait_until_counted(rig, controller, 2)
            rig.room.report_shown()
            await rig.until(lambda: rig.room.state is State.IDLE)
            assert rig.room.credit_cents == 2000 - 2 * STAKE + 2 * 15 + 501
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))
            assert len(rig.room.records("progressive.won")) == 1

    run(first())
    run(second())
    check_audit(tmp_path)


@pytest.mark.requirement("I-07", "I-09")
def test_prize_reported_after_an_attendant_ended_the_game_is_paid_by_hand(tmp_path, controller):
    async def life():
        async with build_rig(tmp_path, controller, *numbers(2)) as rig:
            await rig.up()
            rig.room.insert(2000)
            await rig.one_game()
            await wait_until_counted(rig, controller, 1)
            rig.wire.mute = True
            await rig.one_game()
            rig.room.engine.handle(EventType.KEY_TURNED, key="attendant")
            assert rig.room.state is State.IDLE
            assert rig.room.notice == "progressive_undecided"
            rig.wire.mute = False
            await rig.until(lambda: rig.room.state is State.HANDPAY)
            assert rig.room.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"] == 501
            rig.room.engine.handle(EventType.KEY_TURNED, key="attendant")
            assert rig.room.state is State.IDLE
            assert rig.room.credit_cents == 2000 - 2 * STAKE + 2 * 15
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))

    run(life())
    (hit,) = controller.hits
    assert (hit.paid_cents, hit.payment_method) == (501, "hand")
    check_audit(tmp_path)


def test_a_late_prize_waits_until_the_machine_is_idle(tmp_path, controller):
    async def life():
        async with build_rig(tmp_path, controller, *numbers(3)) as rig:
            await rig.up()
            rig.room.insert(2000)
            await rig.one_game()
            await wait_until_counted(rig, controller, 1)
            rig.wire.mute = True
            await rig.one_game()
            rig.room.engine.handle(EventType.KEY_TURNED, key="attendant")
            rig.room.play()
            rig.wire.mute = False
            await wait_until_counted(rig, controller, 3)
            assert not rig.room.records("progressive.won")
            rig.room.report_shown()
            await rig.until(lambda: rig.room.state is State.HANDPAY)
            rig.room.engine.handle(EventType.KEY_TURNED, key="attendant")
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))

    run(life())
    assert [hit.payment_method for hit in controller.hits] == ["hand"]
    check_audit(tmp_path)


@pytest.mark.requirement("I-07", "I-09")
@pytest.mark.parametrize("decisions", [{"game_1": build_paid_decision(15)}, {}], ids=["paid", "carried"])
def test_prize_of_the_game_open_at_a_memory_clear_is_paid(tmp_path, controller, decisions):
    async def first():
        async with build_rig(tmp_path, controller, *numbers(2)) as rig:
            await rig.up()
            rig.room.insert(2000)
            await rig.one_game()
            await wait_until_counted(rig, controller, 1)
            rig.wire.mute = True  # the machine's messages are lost
            await rig.one_game()
            assert rig.room.state is State.AWAITING_AWARD

    async def second():
        async with build_rig(tmp_path, controller) as rig:
            if not decisions:
                rig.wire.mute = True
                rig.room.report_shown()
                rig.room.engine.handle(EventType.KEY_TURNED, key="attendant")
                rig.wire.mute = False
            await rig.until(lambda: rig.room.state is State.HANDPAY)
            assert rig.room.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"] == 501
            rig.room.engine.handle(EventType.KEY_TURNED, key="attendant")
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))

    run(first())
    clear_with_decisions(tmp_path / "state", **decisions)
    run(second())
    assert [(hit.payment_method, hit.paid_cents) for hit in controller.hits] == [("hand", 501)]
    check_audit(tmp_path)


def win_prize_and_cut_power(folder, controller):
    async def first():
        async with build_rig(folder, controller, *numbers(2)) as rig:
            await rig.up()
            rig.room.insert(2000)
            await rig.one_game()
            await rig.until(lambda: rig.room.state is State.IDLE)
            rig.room.play()
            await rig.until(lambda: rig.room.records("progressive.won"))

    run(first())


def restart_until_claim_is_closed(folder, controller):
    async def last():
        async with build_rig(folder, controller) as rig:
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))

    run(last())
    return [(hit.payment_method, hit.paid_cents) for hit in controller.hits]


@pytest.mark.not_audited
@pytest.mark.requirement("I-11")
def test_the_prize_of_a_void_game_returns_to_its_level(tmp_path, controller):
    win_prize_and_cut_power(tmp_path, controller)

    async def second():
        async with build_rig(tmp_path, controller) as rig:
            void_as_earlier_version(rig.room)
            assert rig.room.credit_cents == 2000 - STAKE + 15

    run(second())
    assert restart_until_claim_is_closed(tmp_path, controller) == [("void", 501)]
    check_audit(tmp_path, [NOT_PAID])


@pytest.mark.requirement("I-11", "F-14")
def test_a_prize_of_a_removed_level_is_paid(tmp_path, controller):
    win_prize_and_cut_power(tmp_path, controller)

    async def second():
        without = replace_slot(level_id_by_stake={"100": "OTHER"})
        async with Rig(tmp_path / "state", controller, levels=without, watched="LUCKY") as rig:
            before = rig.room.credit_cents
            assert rig.room.state is State.PLAYING
            rig.room.report_shown()
            assert rig.room.credit_cents >= before + 501

    run(second())
    assert restart_until_claim_is_closed(tmp_path, controller) == [("credit", 501)]
    check_audit(tmp_path)


def replace_slot(**changes):
    return (*LINKED_MYSTERY[:2], LINKED_MYSTERY[2].model_copy(update=changes))


def build_lying_controller(**changes):
    """Return a controller that reports a false secret or a false prize."""

    def other(answer):
        altered = []
        for won in getattr(answer, "won_prizes", ()):
            of_secret = {k: v for k, v in changes.items() if hasattr(won.trigger, k)}
            of_prize = {k: v for k, v in changes.items() if k not in of_secret}
            trigger = replace(won.trigger, **of_secret)
            altered.append(won.model_copy(update={"trigger": trigger, **of_prize}))
        return answer.model_copy(update={"won_prizes": tuple(altered)}) if altered else answer

    return other


def rule_on_prize(rig, decision, persons=("2", "5")):
    engine = rig.room.engine
    engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    engine.handle(
        EventType.RULE_ON_HELD_PRIZE,
        form="prize_ruling",
        person=persons[0],
        persons=persons,
        decision=decision,
        reason="asked",
    )
    notice = rig.room.notice
    engine.handle(EventType.SERVICE_MENU_CLOSED, why="key")
    return notice


#: False reports of a controller, with the machine's finding about each.
LIES = [
    ({"salt": "e" * 64}, "not the one that was committed to"),
    ({"prize_number": 77}, "no commitment to prize 77"),
    ({"prize_number": 77, "ceiling_cents": 99999900, "amount_cents": 99999900}, "no commitment to prize 77"),
    ({"ceiling_cents": 99999900, "amount_cents": 99999900}, "not the one that was committed to"),
    ({"amount_cents": 99999900}, "was not won at"),
    ({"amount_cents": 1}, "was not won at"),
]


@pytest.mark.requirement("I-15", "I-07")
@pytest.mark.parametrize(("lie", "reason"), LIES)
def test_an_unproved_prize_is_held_and_not_paid_automatically(tmp_path, controller, lie, reason):
    async def life():
        async with build_rig(tmp_path, controller, *numbers(2)) as rig:
            await rig.up()
            controller.spoil = build_lying_controller(**lie)
            rig.room.insert(2000)
            await rig.one_game()
            await rig.until(lambda: rig.room.state is State.IDLE)
            rig.room.play()
            await rig.until(lambda: rig.room.records("progressive.held"))
            assert (rig.room.state, list(rig.room.machine.active_faults)) == (
                State.TILT,
                ["progressive_unproved"],
            )
            (held_prize,) = rig.room.records("progressive.held")
            assert reason in held_prize["why"]
            rig.room.engine.handle(EventType.KEY_TURNED, key="attendant")
            assert rig.room.state is State.TILT
            assert rule_on_prize(rig, "decline", ("2",)) == "refused.authorised"
            rule_on_prize(rig, "decline")
            assert rig.room.state is State.PLAYING
            rig.room.report_shown()
            await rig.until(lambda: rig.room.state is State.IDLE)
            assert rig.room.credit_cents == 2000 - 2 * STAKE + 2 * 15
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))

    run(life())
    assert [(hit.payment_method, hit.amount_cents) for hit in controller.hits] == [("void", 501)]
    check_audit(tmp_path)


@pytest.mark.requirement("I-15", "F-05")
def test_two_persons_may_release_a_held_prize_even_over_a_power_cut(tmp_path, controller):
    async def first():
        async with build_rig(tmp_path, controller, *numbers(2)) as rig:
            await rig.up()
            controller.spoil = build_lying_controller(prize_number=77)
            rig.room.insert(2000)
            await rig.one_game()
            await rig.until(lambda: rig.room.state is State.IDLE)
            rig.room.play()
            await rig.until(lambda: rig.room.records("progressive.held"))
            rule_on_prize(rig, "pay")

    async def second():
        async with build_rig(tmp_path, controller) as rig:
            assert rig.room.state is State.PLAYING
            rig.room.report_shown()
            await rig.until(lambda: rig.room.state is State.HANDPAY)
            assert rig.room.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"] == 501
            rig.room.engine.handle(EventType.KEY_TURNED, key="attendant")
            assert not rig.room.journal.states(ProgressiveKey.HELD_PRIZE)
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))
            assert rig.room.credit_cents == 2000 - 2 * STAKE + 2 * 15

    run(first())
    run(second())
    (ruling,) = [json.loads(b) for b in check_audit(tmp_path) if json.loads(b)["kind"] == "progressive.ruled"]
    assert ruling["record"]["persons"] == ["2", "5"]
    assert (ruling["record"]["decision"], ruling["record"]["amount_cents"]) == ("pay", 501)
    assert [(hit.payment_method, hit.paid_cents) for hit in controller.hits] == [("hand", 501)]


@pytest.mark.requirement("I-07", "I-09", "I-15")
def test_another_prize_of_a_number_paid_before_the_controller_was_restored_is_held(tmp_path):
    """Regression: the machine took it for the prize that it had paid, and paid nothing."""

    async def play(controller, games):
        async with build_rig(tmp_path, controller, *numbers(games)) as rig:
            await rig.up()
            if not rig.room.credit_cents:
                rig.room.insert(2000)
            for _ in range(games):
                # without the commitment to the next prize, the machine would hold that prize
                await rig.until(lambda: len(rig.room.records("progressive.sealed")) > len(controller.hits))
                await rig.one_game()
                await rig.until(lambda: rig.room.state is State.IDLE)
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))
            assert len(rig.room.records("progressive.won")) == len(controller.hits)

    async def play_with_older_copy(controller):
        async with build_rig(tmp_path, controller, *numbers(2)) as rig:
            await rig.up()
            await wait_until_counted(rig, controller, 4)  # they win the first prize again, which was paid
            await rig.one_game()
            await rig.until(lambda: rig.room.state is State.IDLE)
            rig.room.play()
            await rig.until(lambda: rig.room.records("progressive.held"))
            rule_on_prize(rig, "pay")
            rig.room.report_shown()
            await rig.until(lambda: rig.room.state is State.HANDPAY)
            assert (
                rig.room.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"]
                == controller.hits[1].amount_cents
            )
            rig.room.engine.handle(EventType.KEY_TURNED, key="attendant")
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))

    copy = tmp_path / "copy"
    copy.mkdir()
    with contextlib.closing(RealController(tmp_path, define_mystery_level(), drawn=(1,))) as controller:
        run(play(controller, 1))
    shutil.copy(tmp_path / "controller.db", copy)
    with contextlib.closing(RealController(tmp_path, drawn=(1, 88))) as controller:
        run(play(controller, 3))
        assert [hit.contribution_number for hit in controller.hits] == [2, 3]
    with contextlib.closing(RealController(copy, drawn=(17, 88))) as older:
        run(play_with_older_copy(older))
        assert [(hit.contribution_number, hit.payment_method) for hit in older.hits] == [
            (2, "credit"),
            (6, "hand"),
        ]
    check_audit(tmp_path)


@pytest.mark.requirement("I-07", "I-09", "I-14")
def test_a_payment_is_reported_again_once_to_a_controller_restored_from_a_copy_without_it(tmp_path):
    """Regression: the prize stayed unpaid in the controller's register."""

    async def win_without_reporting_the_payment(controller):
        async with build_rig(tmp_path, controller, *numbers(2)) as rig:
            send = rig.wire.send
            rig.wire.send = lambda message: None if isinstance(message, PaymentReport) else send(message)
            await rig.up()
            await insert_bill_and_play_two_games(rig)

    async def report_the_payment(controller):
        async with build_rig(tmp_path, controller) as rig:
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))

    async def play_with_older_copy(controller):
        async with build_rig(tmp_path, controller, *numbers(2)) as rig:
            await rig.up()
            for _ in range(2):
                await rig.one_game()
                await rig.until(lambda: rig.room.state is State.IDLE)
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))
            assert len(rig.room.records("progressive.payment_lost")) == 1

    copy = tmp_path / "copy"
    copy.mkdir()
    with contextlib.closing(RealController(tmp_path, define_mystery_level(), drawn=(1, 88))) as controller:
        run(win_without_reporting_the_payment(controller))
    shutil.copy(tmp_path / "controller.db", copy)
    with contextlib.closing(RealController(tmp_path)) as controller:
        run(report_the_payment(controller))
    with contextlib.closing(RealController(copy, drawn=(88,))) as older:
        assert [(hit.contribution_number, hit.payment_method) for hit in older.hits] == [(2, "")]
        run(play_with_older_copy(older))
        assert [(hit.paid_cents, hit.payment_method) for hit in older.hits] == [(501, "credit")]
    bodies = check_audit(tmp_path)
    entries = adopt_entries(bodies, KEY)
    [lost] = [entry for entry in entries if entry["kind"] == "progressive.payment_lost"]
    [(key, claim_state)] = lost["state"].items()
    for lie in ({key: claim_state | {"amount_cents": 1}}, {key: None}, {}):
        lied = [entry | {"state": lie} if entry is lost else entry for entry in entries]
        rewritten = rewrite_chain(lied, KEY, compute_journal_tag(entries[0]))
        assert Auditor(GameFiles([GAME.parent])).audit_entries(rewritten).findings


@pytest.mark.requirement("I-15")
def test_the_audit_names_an_unproved_prize_paid_without_a_ruling(tmp_path, controller):
    async def life():
        async with build_rig(tmp_path, controller, *numbers(2)) as rig:
            await rig.up()
            await insert_bill_and_play_two_games(rig)

    run(life())
    bodies = check_audit(tmp_path)
    without = [body for body in bodies if json.loads(body)["kind"] != "progressive.sealed"]
    report = Auditor(GameFiles([GAME.parent])).audit_entries(without)
    assert any("no commitment" in finding.text for finding in report.findings), report.findings


def report_another_wager(answer):
    """Return the controller's answer with every prize attributed to a wager that this machine never made."""
    won = tuple(
        prize.model_copy(update={"contribution_number": 77}) for prize in getattr(answer, "won_prizes", ())
    )
    return answer.model_copy(update={"won_prizes": won}) if won else answer


@pytest.mark.requirement("I-15")
def test_a_prize_for_no_wager_of_this_machine_is_recorded_and_not_paid(tmp_path, controller):
    async def life():
        async with build_rig(tmp_path, controller, *numbers(2)) as rig:
            await rig.up()
            controller.spoil = report_another_wager
            await insert_bill_and_play_two_games(rig)
            assert rig.room.credit_cents == 2000 - 2 * STAKE + 2 * 15
            assert [record["sequence"] for record in rig.room.records("progressive.not_ours")] == [77]
            assert not rig.room.records("progressive.won")

    run(life())


@pytest.mark.requirement("I-15")
def test_a_prize_first_reported_for_no_wager_is_paid_once_the_controller_names_its_wager(
    tmp_path, controller
):
    async def life():
        async with build_rig(tmp_path, controller, *numbers(3)) as rig:
            await rig.up()
            controller.spoil = report_another_wager
            await insert_bill_and_play_two_games(rig)
            assert rig.room.records("progressive.not_ours")
            controller.spoil = lambda answer: answer
            await rig.one_game()
            await rig.until(lambda: rig.room.state is State.HANDPAY)
            assert len(rig.room.records("progressive.not_ours")) == 1
            rig.room.engine.handle(EventType.KEY_TURNED, key="attendant")
            await rig.until(lambda: not rig.room.journal.states(ProgressiveKey.CLAIM))

    run(life())
    assert [hit.payment_method for hit in controller.hits] == ["hand"]
    check_audit(tmp_path)


@pytest.mark.requirement("I-03")
@pytest.mark.parametrize(
    ("terms", "code"),
    [
        ({"base_cents": 400, "ceiling_cents": 450}, "refused.other_terms"),
        ({"base_cents": 600, "ceiling_cents": 650}, "refused.other_terms"),
        ({"ceiling_cents": 560}, "refused.other_odds"),
    ],
)
def test_a_controller_with_other_terms_receives_no_contributions(tmp_path, terms, code):
    controller = RealController(tmp_path, define_mystery_level(replace(MYSTERY_TERMS, **terms)), drawn=(1,))

    async def life():
        async with build_rig(tmp_path, controller) as rig:
            await rig.until(lambda: rig.room.records("progressive.refused"))
            assert rig.room.records("progressive.refused")[0]["code"] == code
            assert rig.view().status == "down"

    run(life())
    controller.close()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda raw: raw["record"].update(amount_cents=500), "record.amount_cents: level"),
        (lambda raw: raw["record"]["trigger"].update(salt="0" * 64), "gives the commitment"),
        (lambda raw: raw["record"].update(sequence=1), "record.play_id: contribution"),
        (lambda raw: raw["record"].update(late="hand"), "transfers: expected"),
        (lambda raw: raw["record"].pop("trigger"), "cannot be read"),
        (lambda raw: raw["record"]["trigger"].pop("salt"), "the secret of a mystery prize cannot be read"),
    ],
)
def test_the_audit_names_a_prize_that_its_wager_did_not_win(tmp_path, controller, change, reason):
    async def life():
        async with build_rig(tmp_path, controller, *numbers(2)) as rig:
            await rig.up()
            await insert_bill_and_play_two_games(rig)

    run(life())
    bodies = check_audit(tmp_path)
    index = next(n for n, body in enumerate(bodies) if json.loads(body)["kind"] == "progressive.won")
    raw = json.loads(bodies[index])
    change(raw)
    report = Auditor(GameFiles([GAME.parent])).audit_entries(
        [*bodies[:index], encode_canonical_json(raw), *bodies[index + 1 :]]
    )
    assert any(reason in finding.text for finding in report.findings), report.findings
