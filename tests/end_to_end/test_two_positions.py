"""Two players at one machine: ``egm run`` with two positions, both playing, killed during both games."""

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import pytest
from run_rig import Visit, cabinet, until

from egm.config.cabinet_file import StateFolder
from egm.kernel.messages import DecisionRequest as Question
from egm.kernel.messages import GameOutcome, Snapshot
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

SECOND = """
[devices.bill2]
protocol = "id003"
position = 2
[devices.printer2]
protocol = "tcl"
position = 2
"""


def the_machine(supervisor: int) -> int:
    """Return the machine's process among those of ``egm run``."""
    for pid in Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split():
        if b"egm.app" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
            return int(pid)
    raise AssertionError("egm run has no machine")


def is_idle_with(credit_cents: int):
    return lambda m: (
        isinstance(m, Snapshot) and m.state == "idle" and m.credit_cents == credit_cents and not m.notices
    )


@pytest.mark.requirement("O-01", "O-06", "A-08", "D-01")
def test_two_players_games_survive_a_kill_of_their_machine(tmp_path):
    folder = StateFolder(tmp_path / "state")

    async def session():
        async with contextlib.AsyncExitStack() as stack:
            running = await stack.enter_async_context(
                cabinet(
                    folder,
                    tables=SECOND,
                    change=lambda text: text.replace("[machine]", "[machine]\npositions = 2"),
                )
            )
            async with Visit.connect(folder) as visit_1, Visit.connect(folder, position=2) as visit_2:
                await until(visit_1.screen, is_idle_with(0))
                await until(visit_2.screen, is_idle_with(0))
                await visit_1.operate_until_accepted("bill", "insert", amount_cents=500)
                await visit_2.operate_until_accepted("bill2", "insert", amount_cents=1000)
                await visit_1.wait_until_shown(state="idle", credit_cents=500)
                await visit_2.wait_until_shown(state="idle", credit_cents=1000)
                visit_1.send_intent("play")
                visit_2.send_intent("play")
                first = await until(visit_1.screen, lambda m: isinstance(m, GameOutcome))
                second = await until(visit_2.screen, lambda m: isinstance(m, GameOutcome))
                os.kill(the_machine(running.pid), signal.SIGKILL)
                for socket in (folder.get_screen_socket_path(1), folder.get_screen_socket_path(2)):
                    socket.unlink(missing_ok=True)
            async with Visit.connect(folder) as visit_1, Visit.connect(folder, position=2) as visit_2:
                for visit, shown, before_cents in ((visit_1, first, 500), (visit_2, second, 1000)):
                    repeated_outcome = await until(visit.screen, lambda m: isinstance(m, GameOutcome))
                    assert (
                        repeated_outcome.play_id,
                        repeated_outcome.display,
                        repeated_outcome.is_resumed,
                    ) == (
                        shown.play_id,
                        shown.display,
                        True,
                    )
                    visit.send_intent("shown", repeated_outcome.play_id)
                    await visit.wait_until_shown(
                        state="idle", credit_cents=before_cents - 5 + shown.paid_cents
                    )
                await visit_1.operate("io", "door", name="main", open=True)
                await visit_1.wait_until_shown(state="door_open")
                await visit_2.wait_until_shown(state="door_open")
                await visit_1.operate("io", "door", name="main", open=False)
                await visit_2.wait_until_shown(state="idle")
                visit_2.send_intent("cash_out")
                await visit_2.wait_until_shown(state="idle", credit_cents=0)
                printed = (await visit_2.operate("printer2", "state")).state["printed"]
                assert len(printed) == 1

    asyncio.run(session())
    with open_view(folder.root) as view:
        view.self_audit()
        reading = view.meters()
        parts = [reading.select(position=number).values for number in (1, 2)]
        assert [part["bill_in.value"] for part in parts] == [500, 1000]
        assert [part["games_played"] for part in parts] == [1, 1]
        for meter in ("coin_in", "coin_out", "credits", "money_in", "ticket_out.cashable.value"):
            assert reading.values[meter] == sum(part[meter] for part in parts)


THREE = """
[devices.bill2]
protocol = "id003"
position = 2
[devices.bill3]
protocol = "id003"
position = 3
"""


@pytest.mark.requirement("F-09", "O-01", "J-09")
def test_a_hand_pay_at_the_second_position_is_paid_with_the_machines_one_key(tmp_path):
    """One board, as on the wiring page: light and bell signal, the menu opens there, and the key pays."""
    folder = StateFolder(tmp_path / "state")

    async def session():
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(
                cabinet(
                    folder,
                    tables=THREE,
                    change=lambda text: text.replace("[machine]", "[machine]\npositions = 3"),
                )
            )
            async with Visit.connect(folder) as first, Visit.connect(folder, position=2) as second:
                await until(second.screen, is_idle_with(0))
                await second.operate_until_accepted("bill2", "insert", amount_cents=2000)
                await second.wait_until_shown(state="idle", credit_cents=2000)
                second.send_intent("cash_out")
                await second.wait_until_shown(state="handpay")
                async with asyncio.timeout(60):
                    while not (board := (await first.operate("io", "state")).state)["bell"]:  # noqa: ASYNC110
                        await asyncio.sleep(0.05)  # for the command to reach the board over its line
                assert "jackpot" in board["tower"]
                await first.operate("io", "key", name="attendant", on=True)
                await second.wait_until_shown(state="idle", credit_cents=0)
                await first.operate("io", "key", name="attendant", on=False)
                second.send_intent("service")
                await until(second.screen, lambda m: isinstance(m, Snapshot) and _called(m))
                await first.operate("io", "key", name="attendant", on=True)
                await until(second.screen, lambda m: isinstance(m, Snapshot) and not _called(m))

    asyncio.run(session())
    with open_view(folder.root) as view:
        view.self_audit()
        assert view.balance_cents("out:handpay_cancelled_credit") == 2000


def _called(shown: Snapshot) -> bool:
    return any(notice.code == "service_called" for notice in shown.notices)


ROULETTE = SECOND + '\n[[games]]\ngame = "quebec-roulette-french"\n'


@pytest.mark.requirement("O-01", "B-01")
def test_two_players_at_one_roulette_bet_together_and_see_one_number(tmp_path):
    folder = StateFolder(tmp_path / "state")

    async def session():
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(
                cabinet(
                    folder,
                    tables=ROULETTE,
                    change=lambda text: text.replace("[machine]", "[machine]\npositions = 2"),
                )
            )
            async with Visit.connect(folder) as visit_1, Visit.connect(folder, position=2) as visit_2:
                await until(visit_1.screen, is_idle_with(0))
                await until(visit_2.screen, is_idle_with(0))
                await visit_1.operate_until_accepted("bill", "insert", amount_cents=2000)
                await visit_2.operate_until_accepted("bill2", "insert", amount_cents=1000)
                for visit, credit_cents, bets in (
                    (visit_1, 2000, {"red": 5, "black": 5}),
                    (visit_2, 1000, {"straight-17": 2}),
                ):
                    await visit.wait_until_shown(state="idle", credit_cents=credit_cents)
                    visit.send_intent("game", "quebec-roulette-french")
                    await visit.wait_until_shown(game_id="quebec-roulette-french")
                    visit.send_intent("bet", sum(bets.values()), {"bets": bets})
                    await visit.wait_until_shown(bet_credits=sum(bets.values()))
                visit_1.send_intent("play")
                waiting = await visit_1.wait_until_shown(state="betting", credit_cents=2000)
                assert [notice.code for notice in waiting.notices] == ["bets_placed"]
                visit_2.send_intent("play")
                first = await until(visit_1.screen, lambda m: isinstance(m, GameOutcome))
                second = await until(visit_2.screen, lambda m: isinstance(m, GameOutcome))
                assert first.display["pocket"] == second.display["pocket"]
                for visit, shown in ((visit_1, first), (visit_2, second)):
                    visit.send_intent("shown", shown.play_id)
                await visit_1.wait_until_shown(state="idle", credit_cents=2000 - 1000 + first.paid_cents)
                await visit_2.wait_until_shown(state="idle", credit_cents=1000 - 200 + second.paid_cents)

    asyncio.run(session())
    with open_view(folder.root) as view:
        view.self_audit()
        rounds = [entry.transaction.record["round_id"] for entry in view.entries("game.start")]
        assert len(rounds) == 2
        assert len(set(rounds)) == 1


BLACKJACK = SECOND + '\n[[games]]\ngame = "quebec-blackjack"\n'


@pytest.mark.slow
@pytest.mark.requirement("O-01", "B-01", "A-08")
def test_a_blackjack_round_of_two_players_survives_a_kill_of_the_machine(tmp_path):
    folder = StateFolder(tmp_path / "state")

    def machine():
        def several(text):
            return text.replace("[machine]", "[machine]\npositions = 2")

        return cabinet(folder, tables=BLACKJACK, change=several)

    async def play_on(visits):
        """Stand at every decision until both positions have their outcome."""
        over = {}
        while len(over) < len(visits):
            for visit in visits:
                if visit in over:
                    continue
                message = await until(visit.screen, lambda m: isinstance(m, GameOutcome | Question))
                if isinstance(message, GameOutcome):
                    over[visit] = message
                elif message.options:
                    visit.send_intent("choose", message.options[0])
        return [over[visit] for visit in visits]

    async def session():
        async with contextlib.AsyncExitStack() as stack:
            running = await stack.enter_async_context(machine())
            async with Visit.connect(folder) as first, Visit.connect(folder, position=2) as second:
                for visit, bill in ((first, "bill"), (second, "bill2")):
                    await until(visit.screen, is_idle_with(0))
                    await visit.operate_until_accepted(bill, "insert", amount_cents=2000)
                    await visit.wait_until_shown(state="idle", credit_cents=2000)
                    visit.send_intent("game", "quebec-blackjack")
                    await visit.wait_until_shown(game_id="quebec-blackjack")
                    visit.send_intent("bet", 4, {"bets": {"main": 4}})
                    await visit.wait_until_shown(bet_credits=4)
                first.send_intent("play")
                second.send_intent("play")
                await until(first.screen, lambda m: isinstance(m, GameOutcome | Question))
                await until(second.screen, lambda m: isinstance(m, GameOutcome | Question))
                os.kill(the_machine(running.pid), signal.SIGKILL)
                for socket in (folder.get_screen_socket_path(1), folder.get_screen_socket_path(2)):
                    socket.unlink(missing_ok=True)
            async with Visit.connect(folder) as first, Visit.connect(folder, position=2) as second:
                outcomes = await play_on((first, second))
                hands = [
                    {hand["id"]: hand["cards"] for hand in outcome.display["hands"]} for outcome in outcomes
                ]
                assert hands[0] == hands[1]
                assert hands[0].keys() == {"bank", "box-1", "box-2"}
                for visit, shown in zip((first, second), outcomes, strict=True):
                    visit.send_intent("shown", shown.play_id)
                    await visit.wait_until_shown(state="idle", credit_cents=2000 - 100 + shown.paid_cents)

    asyncio.run(session())
    with open_view(folder.root) as view:
        view.self_audit()
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []
