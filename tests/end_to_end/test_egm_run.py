"""``egm run`` as a person starts it: the processes start, a bill becomes credit, a game is played and paid.

Processes, pseudo-terminals and the command are real; there is no screen process, so that nothing is drawn.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
import urllib.request

import pytest
from rigs.moments import get_real_now
from run_rig import EGM, PATIENCE_SECONDS, Visit, build_demonstration_file, cabinet, connect, snapshot, until

from egm.config.cabinet_file import DEFAULT_CABINET, StateFolder
from egm.isolated import build_python_command
from egm.kernel.messages import GameOutcome, Hello, Intent, Snapshot, encode_message
from egm.unix_sockets import can_be_socket_address
from meters import Journal, Transaction


def _scrape(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        return answer.read()


@pytest.mark.requirement("F-03")
def test_a_person_plays_and_is_paid(tmp_path):
    """The path of the state folder is longer than a socket address may be."""
    folder = StateFolder(tmp_path / ("a-long-name-" * 10) / "state")
    assert not can_be_socket_address(folder.root)
    folder.root.parent.mkdir()

    async def session():
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(cabinet(folder))
            visit = await stack.enter_async_context(Visit.connect(folder))
            screen, operate, operate_until_accepted = (
                visit.screen,
                visit.operate,
                visit.operate_until_accepted,
            )

            hello = await until(screen, lambda m: isinstance(m, Hello))
            assert hello.games[0].return_percent == "87.37"
            await until(screen, lambda m: snapshot(state="idle")(m) and not m.notices)
            await operate_until_accepted("bill", "insert", amount_cents=500)
            await until(screen, snapshot(credit_cents=500))
            credit_cents = 500
            while (
                credit_cents % 100 == 0
            ):  # the draws are random, but the end needs a remainder smaller than a coin
                visit.send_intent("play")
                played = await until(screen, lambda m: isinstance(m, GameOutcome))
                visit.send_intent("shown", played.play_id)
                after = await until(screen, snapshot(state="idle"))
                assert after.credit_cents == credit_cents - 5 + played.paid_cents
                credit_cents = after.credit_cents

            visit.send_intent("cash_out")
            await until(screen, snapshot(state="paying"))
            await until(screen, snapshot(state="idle", credit_cents=0))
            ticket = (await operate("printer", "state")).state["printed"][-1]
            await operate_until_accepted("bill", "insert_ticket", barcode=ticket["barcode"])
            await until(screen, snapshot(state="idle", credit_cents=credit_cents))

            await operate("printer", "paper", tickets=0)
            await until(
                screen,
                lambda m: any(n.code == "fault.ticket_printer.paper_out" for n in getattr(m, "notices", ())),
            )
            visit.send_intent("cash_out")  # no paper: coins, as far as they go
            await until(screen, snapshot(state="paying"))
            due = await until(
                screen, snapshot(state="handpay")
            )  # the remainder continues by itself, to a hand-pay
            assert (await operate("hopper", "state")).state["tray_coins"] == credit_cents // 100
            assert due.handpay.amount_cents == credit_cents % 100
            port = (folder.run_folder / "metrics.port").read_text()
            assert b'egm_state{state="idle"}' in await asyncio.to_thread(_scrape, port)
            assert (await operate("io", "key", name="attendant", on=True)).ok
            await until(screen, snapshot(state="idle", credit_cents=0))

    asyncio.run(session())


def test_a_second_machine_on_the_same_state_is_refused_and_the_first_continues(tmp_path):
    folder = StateFolder(tmp_path / "state")

    async def session():
        async with cabinet(folder):
            screen, writer = await connect(folder.screen_socket, folder.screen_token)
            for second, status in (
                (build_python_command("egm.app"), 2),
                ((*EGM, "run", "--screen", "none"), 1),
            ):
                other = await asyncio.create_subprocess_exec(
                    *second, "--state", str(folder.root), stderr=subprocess.PIPE
                )
                _, output = await other.communicate()
                assert other.returncode == status
                (line,) = output.decode().splitlines()
                assert f"state folder {folder.root} is in use by the machine of process" in line
            assert (folder.run_folder / "bench.ready").exists()
            assert folder.screen_socket.exists()
            writer.write(encode_message(Intent(name="service")))
            await until(screen, lambda m: isinstance(m, Snapshot) and "service" in m.accepted_inputs)
            writer.close()

    asyncio.run(session())


def test_a_running_machine_refuses_its_state_folder_to_another_cabinet(tmp_path):
    folder = StateFolder(tmp_path / "state")
    with Journal.open(folder.root, now=get_real_now):
        result = _run(folder.root)
    assert result.returncode == 1
    assert (
        result.stderr
        == f"Error: state folder {folder.root} is in use by the machine of process {os.getpid()}\n"
    )


def test_a_refused_game_is_named_where_the_cabinet_was_started(tmp_path):
    folder = StateFolder(tmp_path / "state")
    broken = tmp_path / "broken.toml"
    broken.write_text('[game]\nid = "broken"\n')

    async def session():
        async with cabinet(folder, f'[[games]]\ngame = "{broken}"\n') as process:
            reader, writer = await connect(folder.screen_socket, folder.screen_token)
            await until(reader, snapshot(state="idle"))
            writer.close()
        return process

    process = asyncio.run(session())
    assert process.error_output.decode().startswith(f"egm: game refused: {broken}: game.")


def test_an_unusable_cabinet_file_ends_the_run_at_once(tmp_path):
    for protocol in ('"id03"', '"id003"\nposition = 2'):
        file = tmp_path / "cabinet.toml"
        file.write_text(DEFAULT_CABINET.read_text().replace('"id003"', protocol, 1))
        result = _run(tmp_path / "state", "--cabinet", str(file))
        assert (result.returncode, result.stdout) == (1, "")
        (line,) = result.stderr.splitlines()
        assert line.startswith(f"Error: cabinet file {file}: line ")
        bench = build_python_command(
            "egm.app.bench", "--state", str(tmp_path / "state"), "--cabinet", str(file)
        )
        alone = subprocess.run(bench, check=False, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert (
            alone.returncode == 2
        )  # `egm run` takes that as already reported and does not restart the machine


@pytest.mark.parametrize("wrong", ['sitee = "Demonstration"', 'profile = "nowhere"\nsite = "Demonstration"'])
def test_without_a_terminal_the_screen_shows_the_file_error_until_the_file_changes(tmp_path, wrong):
    folder, file = StateFolder(tmp_path / "state"), tmp_path / "cabinet.toml"
    good = DEFAULT_CABINET.read_text().replace('profile = "generic"\n', "") + "\n[metrics]\nport = 0\n"
    file.write_text(good.replace('site = "Demonstration"', wrong))

    async def session():
        where = ("--state", str(folder.root), "--cabinet", str(file))
        process = await asyncio.create_subprocess_exec(*build_python_command("egm.app", *where, "--stay"))
        try:
            reader, writer = await connect(folder.screen_socket, folder.screen_token)
            shown = await until(reader, snapshot(state="tilt"))
            writer.close()
            file.write_text(good.replace('site = "Demonstration"', 'profile = "generic"\nsite = "D"'))
            async with asyncio.timeout(PATIENCE_SECONDS):
                return shown, await process.wait()
        finally:
            if process.returncode is None:
                process.kill()

    shown, status = asyncio.run(session())
    (tilt,) = shown.tilts
    assert (tilt.code, tilt.cleared_by) == ("cabinet_file_unusable", "technician")
    assert ("machine.sitee" in tilt.detail) or ("nowhere" in tilt.detail)
    assert shown.serial == "EGM-0000001"
    assert status == 4  # begin again: the file is another


@pytest.mark.parametrize("code", ["software_differs", "first_memory_missing"])
def test_computer_check_failures_are_shown_and_no_device_is_opened(tmp_path, code):
    folder, trouble = StateFolder(tmp_path / "state"), tmp_path / "trouble"
    trouble.write_text(f"{code} /dev/egm-root-b: is not what was released\n")

    async def session():
        process = await asyncio.create_subprocess_exec(
            *build_python_command("egm.app", "--state", str(folder.root), "--trouble", str(trouble))
        )
        try:
            reader, writer = await connect(folder.screen_socket, folder.screen_token)
            shown = await until(reader, snapshot(state="tilt"))
            writer.close()
            trouble.write_text("")
            async with asyncio.timeout(PATIENCE_SECONDS):
                return shown, await process.wait()
        finally:
            if process.returncode is None:
                process.kill()

    shown, status = asyncio.run(session())
    (tilt,) = shown.tilts
    assert (tilt.code, tilt.cleared_by, shown.accepted_inputs) == (code, "self", ())
    assert tilt.detail == "/dev/egm-root-b: is not what was released"
    assert not (folder.root / "journal.sqlite").exists()
    assert status == 3  # start again, because the fault is another one now


async def alone(folder):
    """Run only the machine's process, with a cabinet of one game."""
    file = folder.root.with_suffix(".toml")
    file.write_text(f"{build_demonstration_file()}\n[metrics]\nport = 0\n")
    where = ("--state", str(folder.root), "--cabinet", str(file))
    return await asyncio.create_subprocess_exec(
        *build_python_command("egm.app", *where), stderr=subprocess.PIPE
    )


@pytest.mark.requirement("A-05", "A-09")
def test_damage_to_both_copies_is_a_hard_tilt_that_survives_restarts(tmp_path):
    folder = StateFolder(tmp_path / "state")
    with Journal.open(folder.root, now=get_real_now) as journal:
        for n in range(50):
            journal.append(Transaction(id=f"e{n}", kind="event", record={"n": n}))
    for copy in [folder.root / "journal.sqlite", *sorted(folder.root.rglob("*.log"))]:
        data = bytearray(copy.read_bytes())
        written = len(data.rstrip(b"\0"))  # a segment of the log is extended beyond its data
        data[written // 5 : written] = bytes(written - written // 5)  # the same entries in both copies
        copy.write_bytes(data)

    async def session():
        for _ in range(2):
            machine = await alone(folder)
            screen, writer = await connect(folder.screen_socket, folder.screen_token)
            shown = await until(screen, snapshot(state="tilt"))
            assert [(tilt.code, tilt.cleared_by) for tilt in shown.tilts] == [
                ("memory_damaged", "memory_clear")
            ]
            assert shown.accepted_inputs == ()
            writer.close()
            machine.terminate()
            _, output = await machine.communicate()
            assert "Traceback" not in output.decode()

    asyncio.run(session())


@pytest.mark.requirement("A-05")
@pytest.mark.parametrize(
    ("state", "expected_text"),
    [
        ({"handpay": {"id": "h1", "kind": "win"}}, "the memory's 'handpay'"),
        ({"paper": {"id": "c1", "amount_cents": 500, "ticket": "", "phase": "nonsense", "mark": 0}}, "phase"),
    ],
    ids=["handpay", "paper"],
)
def test_an_unreadable_record_is_shown_on_the_screen_and_nothing_restarts(tmp_path, state, expected_text):
    folder = StateFolder(tmp_path / "state")
    with Journal.open(folder.root, now=get_real_now, machine_id="EGM-0000001") as journal:
        journal.append(Transaction(id="e1", kind="event", record={}, state=state))

    async def session():
        machine = await alone(folder)
        screen, writer = await connect(folder.screen_socket, folder.screen_token)
        shown = await until(screen, snapshot(state="tilt"))
        writer.close()
        machine.terminate()
        _, printed = await machine.communicate()
        return shown, printed.decode()

    shown, printed = asyncio.run(session())
    (tilt,) = shown.tilts
    assert (tilt.code, tilt.cleared_by) == ("memory_damaged", "memory_clear")
    assert expected_text in tilt.detail
    assert "Traceback" not in printed


@pytest.mark.parametrize(
    ("options", "expected_text"),
    [
        (("--cabinet", "nowhere.toml"), "nowhere.toml"),
        (("--state", "/dev/null/state"), "cannot write"),
    ],
)
def test_invalid_options_end_the_run_with_one_sentence(tmp_path, options, expected_text):
    result = _run(tmp_path / "s", *options)
    assert result.returncode == 1
    assert expected_text in result.stderr
    assert "Traceback" not in result.stderr


def test_a_display_that_does_not_answer_is_an_error(tmp_path):
    """Without the check, SDL would draw into nothing without an error."""
    blind = {name: value for name, value in os.environ.items() if not name.startswith(("SDL_", "WAYLAND_"))}
    state = str(tmp_path / "s")
    screen = [sys.executable, "-m", "egm.screen", "--state", state, "--silent"]
    result = subprocess.run(
        screen, env={**blind, "DISPLAY": ":4711"}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert "no display answers; --screen web" in result.stderr


def _run(state, *options):
    run = [*EGM, "run", "--screen", "none", "--state", str(state), *options]
    return subprocess.run(run, capture_output=True, text=True, check=False)
