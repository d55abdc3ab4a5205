"""The device bench over real pseudo-terminals and its socket, in this process and as a separate process."""

import asyncio
import json
import signal
import stat
import subprocess
import sys

import pytest
from click.testing import CliRunner

from egm.app.bench import Bench, BenchError, read_protocol_by_simulated_device
from egm.config.cabinet_file import DEFAULT_CABINET, load_cabinet
from egm.devices.id003.driver import Id003Driver
from egm.devices.interface import (
    AcceptorReadiness,
    Banknote,
    InputsReported,
    LineLost,
    LineRestored,
    PaperInEscrow,
    PaperStacked,
)
from egm.devices.ioboard.driver import IoBoardDriver
from egm.devices.line import LineLostError, SerialLine
from egm.devices.protocols import PROTOCOLS
from egm.devices.transient import TransientEscrowLedger
from egm.errors import OperatorError
from egm.kernel.messages import BenchCommand, BenchReply, Hello, decode_message, encode_message
from egm.links.bench_client import BenchClient, BenchUnreachableError
from egm.unix_sockets import open_socket_address
from tools.cli.commands.device import command as device_command
from tools.cli.commands.device import iter_device_facts

PAIR = {"bill": "id003", "io": "ioboard"}


async def until(condition, seconds: float = 20.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 (it looks at devices, which have no event to wait for)
            await asyncio.sleep(0.005)


def run(scene) -> None:
    asyncio.run(scene)


def act(bench: Bench, device: str, action: str, **values) -> BenchReply:
    return bench.execute_command(BenchCommand(device=device, action=action, values=values))


# ------------------------------------------------------------------ real pseudo-terminals
@pytest.mark.requirement("G-02")
def test_a_bill_is_credited_over_a_pseudo_terminal(tmp_path):
    async def scene():
        bench = Bench(tmp_path, PAIR, speed=30)
        await bench.start()
        ledger = TransientEscrowLedger()
        events = []

        def sink(event):
            events.append(event)
            if isinstance(event, PaperInEscrow):
                driver.stack(event.escrow_number)

        line = SerialLine(str(tmp_path / "run/dev/bill"), PROTOCOLS["id003"].line_settings)
        driver = Id003Driver("bill", line, sink, ledger)
        driver.enable(frozenset({20_00}))
        task = asyncio.create_task(driver.run())
        await until(lambda: any(isinstance(e, AcceptorReadiness) and e.is_accepting for e in events))
        assert act(bench, "bill", "insert", amount_cents=20_00).ok
        await until(lambda: any(isinstance(e, PaperStacked) for e in events))
        await until(lambda: bench.simulated_devices["bill"].describe()["stacked"] == [20_00])
        assert ledger.credited_papers == [Banknote(20_00)]

        act(bench, "bill", "unplug")
        await until(lambda: any(isinstance(e, LineLost) for e in events))
        assert not (tmp_path / "run/dev/bill").exists()
        act(bench, "bill", "plug")
        await until(lambda: sum(isinstance(e, LineRestored) for e in events) == 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await bench.stop()

    run(scene())


def test_every_protocol_connects_over_a_pseudo_terminal(tmp_path):
    from tools.cli.device_listener import DeviceListener

    async def scene():
        bench = Bench(tmp_path, {name: name for name in PROTOCOLS}, speed=30)
        await bench.start()
        up: set[str] = set()

        def build_listener(name):
            return lambda event: up.add(name) if isinstance(event, LineRestored) else None

        tasks = [
            asyncio.create_task(DeviceListener(name, tmp_path / "run/dev" / name, build_listener(name)).run())
            for name in PROTOCOLS
        ]
        await until(lambda: up == set(PROTOCOLS))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await bench.stop()

    run(scene())


def test_the_bench_keeps_its_door_states_between_two_runs_of_a_machine(tmp_path):
    """In the machine's second run, the driver reads the doors that were opened between the runs."""

    async def scene():
        bench = Bench(tmp_path, PAIR)
        await bench.start()
        for doors in (frozenset(), frozenset({"main"})):
            events = []
            line = SerialLine(str(tmp_path / "run/dev/io"), PROTOCOLS["ioboard"].line_settings)
            task = asyncio.create_task(IoBoardDriver("io", line, events.append).run())
            await until(lambda seen=events: any(isinstance(e, InputsReported) for e in seen))
            assert next(e for e in events if isinstance(e, InputsReported)).doors_open == doors
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            act(bench, "io", "door", name="main", open=True)
        await bench.stop()

    run(scene())


@pytest.mark.requirement("G-05")
@pytest.mark.parametrize("moment", ["accepting", "escrow", "stacking", "vend_valid"])
def test_a_restart_of_the_bench_credits_or_returns_a_bill_once(tmp_path, moment):
    """A bill keeps its place when the bench restarts, and is credited or returned once."""

    async def scene():
        bench = Bench(tmp_path, PAIR, speed=10)
        await bench.start()
        ledger = TransientEscrowLedger()
        events = []

        def sink(event):
            events.append(event)
            if isinstance(event, PaperInEscrow):
                driver.stack(event.escrow_number)

        line = SerialLine(str(tmp_path / "run/dev/bill"), PROTOCOLS["id003"].line_settings)
        driver = Id003Driver("bill", line, sink, ledger)
        driver.enable(frozenset({20_00}))
        task = asyncio.create_task(driver.run())
        await until(lambda: any(isinstance(e, AcceptorReadiness) and e.is_accepting for e in events))
        act(bench, "bill", "insert", amount_cents=20_00)
        await until(lambda: bench.simulated_devices["bill"].describe()["status"] == moment)
        await bench.stop()
        await until(lambda: any(isinstance(e, LineLost) for e in events))

        restarted = Bench(tmp_path, PAIR, speed=10)
        await restarted.start()
        state = restarted.simulated_devices["bill"].describe
        await until(lambda: sum(isinstance(e, LineRestored) for e in events) == 2)
        await until(lambda: state()["status"] == "idle" and ledger.find_open() is None)
        assert state()["inserted_cents"] == 20_00 == state()["stacked_cents"] + state()["returned_cents"]
        assert sum(note.amount_cents for note in ledger.credited_papers) == state()["stacked_cents"]
        if moment == "vend_valid":
            assert ledger.credited_papers == [Banknote(20_00)]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await restarted.stop()

    run(scene())


def test_every_twin_restores_its_memory(tmp_path):
    async def scene():
        still = [name for name in PROTOCOLS if name != "wheel"]  # which continues by itself
        first = Bench(tmp_path, {name: name for name in still}, speed=100)
        await first.start()
        act(first, "ioboard", "door", name="main", open=True)
        act(first, "cctalk_coin", "insert", amount_cents=25)
        act(first, "cctalk_hopper", "fill", coins=7)
        act(first, "tcl", "paper", tickets=3)
        act(first, "ithaca", "paper", tickets=4)
        for name in ("id003", "ebds", "cctalk_bill"):
            act(first, name, "box", present=False)
        before = {name: twin.export_retained_state() for name, twin in first.simulated_devices.items()}
        await first.stop()
        second = Bench(tmp_path, {name: name for name in still}, speed=100)
        await second.start()
        assert {
            name: twin.export_retained_state() for name, twin in second.simulated_devices.items()
        } == before
        await second.stop()

    run(scene())


def test_a_damaged_bench_memory_file_is_named(tmp_path):
    async def scene(text: str):
        (tmp_path / "bench").mkdir(exist_ok=True)
        (tmp_path / "bench" / "io.json").write_text(text)
        bench = Bench(tmp_path, PAIR)
        with pytest.raises(BenchError, match=r"io\.json: not the retained state of a input and output board"):
            await bench.start()
        await bench.stop()

    for text in ("", "{", "[]", '{"kind": "input and output board"}'):
        run(scene(text))


def test_two_lines_cannot_open_one_port(tmp_path):
    async def scene():
        bench = Bench(tmp_path, PAIR)
        await bench.start()
        first, second = (
            SerialLine(str(tmp_path / "run/dev/io"), PROTOCOLS["ioboard"].line_settings) for _ in "12"
        )
        first.open()
        with pytest.raises(LineLostError, match="cannot be opened"):
            second.open()
        first.close()
        second.open()
        second.close()
        await bench.stop()

    run(scene())


def test_a_missing_port_is_named(tmp_path):
    async def scene():
        line = SerialLine(str(tmp_path / "nowhere"), PROTOCOLS["ioboard"].line_settings)
        with pytest.raises(LineLostError, match="nowhere"):
            line.open()
        (tmp_path / "file").write_text("not a port")
        with pytest.raises(LineLostError, match="cannot be opened"):
            SerialLine(str(tmp_path / "file"), PROTOCOLS["ioboard"].line_settings).open()
        with pytest.raises(LineLostError, match="not open"):
            line.write(b"x")
        line.close()

    run(scene())


# ------------------------------------------------------------------ the socket
def test_invalid_bench_commands_are_refused_with_what_is_expected(tmp_path):
    async def scene():
        bench = Bench(tmp_path, PAIR)
        await bench.start()
        assert "no simulated device 'till'" in act(bench, "till", "state").text
        assert "there is no action 'fly'; expected one of " in act(bench, "bill", "fly").text
        assert "whole number" in act(bench, "bill", "insert", amount_cents="20").text
        assert "0 to 4,294,967,295" in act(bench, "bill", "late", milliseconds=-4).text
        assert "0 to 4,294,967,295" in act(bench, "bill", "late", milliseconds=10**400).text
        assert (
            "no note is worth 300 cents; expected one of 100, 500"
            in act(bench, "bill", "insert", amount_cents=3_00).text
        )
        assert (
            "second: not a value of this action; expected milliseconds"
            in act(bench, "bill", "late", milliseconds=0, second=1).text
        )
        assert "no door 'cat'" in act(bench, "io", "door", name="cat", open=True).text
        assert "true or false" in act(bench, "io", "door", name="main", open=1).text
        assert set(act(bench, "bench", "state").state) == {"bill", "io"}
        assert "bench commands" in bench.execute_command(Hello()).text
        await bench.stop()

    run(scene())


@pytest.mark.parametrize(
    "lines",
    [
        [encode_message(Hello(token="guess"))],
        [encode_message(BenchCommand(device="io", action="state"))],
        [b"not json\n"],
        [b"x" * 200_000],
        [b"\n"],
    ],
)
def test_a_bench_client_without_the_token_changes_nothing(tmp_path, lines):
    async def scene():
        bench = Bench(tmp_path, PAIR)
        await bench.start()
        with open_socket_address(bench.socket_path) as address:
            reader, writer = await asyncio.open_unix_connection(address)
        for line in [
            *lines,
            encode_message(BenchCommand(device="io", action="door", values={"name": "main"})),
        ]:
            writer.write(line)
        try:
            answers = (await reader.read()).splitlines()
        except ConnectionError:
            answers = []
        assert all(not decode_message(answer).ok for answer in answers)
        assert len(answers) <= 1
        assert bench.simulated_devices["io"].describe()["doors_open"] == []
        writer.close()
        await bench.stop()

    run(scene())


def test_an_unknown_protocol_is_refused(tmp_path):
    text = DEFAULT_CABINET.read_text().replace('"ioboard"', '"telepathy"')
    path = tmp_path / "cabinet.toml"
    path.write_text(text)
    with pytest.raises(
        OperatorError, match=r"devices\.io\.protocol: 'telepathy' is not a known device protocol"
    ):
        load_cabinet(path)


def test_a_device_on_a_real_port_has_no_twin(tmp_path):
    text = DEFAULT_CABINET.read_text()
    path = tmp_path / "cabinet.toml"
    path.write_text(text.replace('protocol = "id003"', 'protocol = "id003"\nport = "/dev/ttyS9"'))
    assert "bill" not in read_protocol_by_simulated_device(load_cabinet(path))
    assert "io" in read_protocol_by_simulated_device(load_cabinet(path))


# ------------------------------------------------------------------ its own process
@pytest.fixture
def process(tmp_path):
    arguments = [sys.executable, "-m", "egm.app.bench", "--state", str(tmp_path), "--speed", "30"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "READY\n"
        yield child
        child.terminate()


def test_the_bench_process_serves_and_removes_its_files_at_the_end(tmp_path, process):
    run_folder = tmp_path / "run"
    assert (run_folder / "bench.ready").read_text().strip() == str(process.pid)
    for name in ("bench.sock", "bench.token"):
        assert stat.S_IMODE((run_folder / name).stat().st_mode) == 0o600
    assert str((run_folder / "dev/io").readlink()).startswith("/dev/pts/")

    with BenchClient(run_folder) as hand:
        reply = hand.execute_action("io", "door", name="main", open=True)
        assert reply.ok
        assert reply.state["doors_open"] == ["main"]
        assert not hand.execute_action("io", "fly").ok

    second = subprocess.run(
        [sys.executable, "-m", "egm.app.bench", "--state", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert second.returncode == 2
    assert "another bench is running" in second.stderr
    with BenchClient(run_folder) as hand:  # the first one has lost nothing over it
        assert hand.execute_action("io").ok

    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=120) == 0
    assert not any((run_folder / name).exists() for name in ("bench.sock", "bench.token", "bench.ready"))
    with pytest.raises(BenchUnreachableError, match="no simulated device replies"):
        BenchClient(run_folder)


def test_a_killed_bench_is_replaced_with_its_memory(tmp_path, process):
    with BenchClient(tmp_path / "run") as hand:
        assert hand.execute_action("io", "door", name="main", open=True).ok
    process.kill()
    process.wait(timeout=120)
    assert (tmp_path / "run/bench.sock").exists()

    async def scene():
        bench = Bench(tmp_path, PAIR)
        await bench.start()
        assert bench.simulated_devices["io"].describe()["doors_open"] == ["main"]
        await bench.stop()

    run(scene())


def test_egm_device_operates_the_bench(tmp_path, process):
    def egm(*words: str):
        return CliRunner().invoke(device_command, [*words, "--state", str(tmp_path)])

    assert "input and output board" in egm().output
    opened = egm("io", "door", "name=top", "open=true")
    assert opened.exit_code == 0
    assert "top door open" in opened.output
    assert "hand  door {'name': 'top', 'open': True}: top door open" in egm("io", "log").output
    assert json.loads(egm("io", "--json").output)["doors_open"] == ["top"]
    result = egm("io", "door", "name=cat", "open=true")
    assert result.exit_code == 1
    assert "no door 'cat'" in result.output
    assert "key=value" in egm("io", "door", "top").output
    nobody = CliRunner().invoke(device_command, ["--state", str(tmp_path / "empty")])
    assert nobody.exit_code == 1
    assert "no simulated device replies" in nobody.output


def test_each_printed_ticket_has_a_row_that_begins_with_its_number():
    ticket = {"lines": ["$19.95", "TICKET # 0001"], "barcode": "916860582693694693", "barcode_complete": True}
    rows = dict(iter_device_facts({"paper_tickets": 199, "printed": [ticket, ticket], "doors_open": ["top"]}))
    assert [*rows] == ["paper_tickets", "printed 1", "printed 2", "doors_open"]
    assert [*rows["printed 2"]] == ["barcode", "barcode_complete", "lines"]
    assert rows["printed 2"] == ticket


def test_egm_device_listens_to_a_port(tmp_path, process):
    def egm(*words: str):
        return CliRunner().invoke(device_command, list(words))

    def listen_until_printed(texts: list[str], *words: str):
        """Listen for twice as long each time, on a computer of any speed, until all texts are printed."""
        for seconds in (1, 2, 4, 8, 16, 32):
            output = egm(*words, "--seconds", str(seconds))
            assert output.exit_code == 0, output.output
            if all(text in output.output for text in texts):
                return
        pytest.fail(f"{texts} not in {output.output}")

    port = str(tmp_path / "run/dev/bill")
    line = ("--protocol", "id003", "--port", port)
    listen_until_printed(
        ["LineRestored()", "AcceptorReadiness(is_accepting=True)"], *line, "--accept", "500,2000"
    )
    listen_until_printed(["> fc 05 11 27 56", "< fc 05 "], *line, "--bytes")
    assert "no note or coin of" in egm("--protocol", "id003", "--port", port, "--accept", "3").output
    assert "accepts no money" in egm("--protocol", "ioboard", "--port", port, "--accept", "500").output
    assert "needs --port" in egm("--protocol", "id003").output
    assert "whole cents" in egm("--protocol", "id003", "--port", port, "--accept", "x").output
