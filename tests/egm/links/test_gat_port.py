"""The machine's GAT port over a real pseudo-terminal, queried by the bench's independently written verifier."""

import asyncio
import contextlib
import random
import time
from dataclasses import replace

import pytest
import serial

from egm.config.cabinet_file import GatTable, StateFolder, load_cabinet
from egm.kernel.events import State
from egm.kernel.services import MachineContext
from egm.links.gat.functions import GET_SPECIAL_FUNCTIONS
from egm.links.gat.port import compute_signatures_in_child_process, create_gat_port
from egm.links.keys import LinksKey
from egm.testing.machine import MachineRig
from egm.verify.digest import SignatureAlgorithm, compute_signatures
from egm.verify.software_files import SoftwareScope, list_software_files
from tools.audit.gat_verifier import GatError, GatVerifier

#: A limit that only a machine that hangs reaches, however loaded the computer is.
PATIENCE_SECONDS = 60
SEED = "0102030405060708090a0b0c0d0e0f1011121314"


class Inspection:
    """A machine with a GAT port, always on the same state folder."""

    def __init__(self, folder) -> None:
        self.folder = StateFolder(folder)
        self.room = MachineRig(folder).boot()
        file = load_cabinet().model_copy(update={"gat": GatTable()})
        handle = self.room.engine.submit
        self.context = MachineContext(self.room.engine, file, self.folder, self.room.clock, handle)
        self.alter = lambda port: None

    async def ask(self, *questions):
        """Run the verifier's queries in a thread while the machine's loop runs."""
        [port] = create_gat_port(self.context)
        self.alter(port)
        work = asyncio.create_task(port.run())
        path = self.folder.gat_port
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not path.exists():  # noqa: ASYNC110 (a port that is being made)
                await asyncio.sleep(0.01)

        def in_turn():
            with serial.Serial(str(path), timeout=PATIENCE_SECONDS) as line:
                verifier = GatVerifier(line, reply_timeout_seconds=PATIENCE_SECONDS)
                return [question(verifier) for question in questions]

        try:
            return await asyncio.to_thread(in_turn)
        finally:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work


@pytest.fixture
def inspection(tmp_path):
    opened = Inspection(tmp_path / "state")
    yield opened
    opened.room.close()


def run(inspection, *questions):
    return asyncio.run(inspection.ask(*questions))


def sign(*parameters, form="text"):
    return lambda verifier: (
        verifier.start_special_function(*parameters),
        verifier.wait_for_calculation(60, 0.02),
        verifier.read_results(form),
    )[2]


@pytest.mark.requirement("A-18")
def test_a_verifier_gets_the_hmac_of_a_component_under_its_seed(inspection):
    text, xml, status, last = run(
        inspection,
        sign("Component", "chance", SEED),
        lambda v: v.read_results("xml"),
        lambda v: v.read_status(),
        lambda v: v.read_last_authentication(),
    )
    expected = compute_signatures(
        list_software_files(SoftwareScope()), SignatureAlgorithm.SHA1_HMAC, bytes.fromhex(SEED), ["chance"]
    )["chance"]
    assert f"chance: {expected.upper()}" in text.decode()
    assert f">{expected.upper()}<" in xml.decode()
    assert (status.version, status.state, status.has_results) == ("3.50", "finished", True)
    assert status.formats == ("text", "xml")
    assert last[0] == 0xBA
    [request] = inspection.room.records("gat.request")
    assert request == {"level": 0xBA, "parameters": ["Component", "chance", SEED]}
    assert inspection.room.records("gat.result")[0]["values"] == {"chance": expected}


@pytest.mark.requirement("A-18")
def test_results_of_every_kind_span_frames_and_outlive_a_restart(inspection, tmp_path):
    everything = "AuthenticationResponse-SHA256.xml"
    listed, identity, signed = run(
        inspection,
        sign(GET_SPECIAL_FUNCTIONS, form="xml"),
        sign("Get File", "ProgramID.xml"),
        sign("Get File", everything, SEED),
    )
    assert len(listed) > 248
    assert b"<Feature>Component</Feature>" in listed
    assert b"Signed by: nobody" in identity
    expected = compute_signatures(
        list_software_files(SoftwareScope()), SignatureAlgorithm.SHA256_HMAC, bytes.fromhex(SEED)
    )
    assert [line for line in signed.decode().split("\r\n") if ": " in line][3:] == [
        f"{name}: {value.upper()}" for name, value in expected.items()
    ]
    inspection.room.close()
    restarted = Inspection(tmp_path / "state")
    restarted.room.clock.pass_seconds(90)
    results, last = run(restarted, lambda v: v.read_results("text"), lambda v: v.read_last_authentication())
    restarted.room.close()
    assert results == signed
    assert last == (0xBA, 90)


def test_before_the_first_request_there_are_no_results(inspection):
    status, last = run(inspection, lambda v: v.read_status(), lambda v: v.read_last_authentication())
    assert (status.state, status.has_results, status.is_calculating) == ("requested", False, False)
    assert last == (0, 0xFFFFFFFF)
    with pytest.raises(GatError, match="not available"):
        run(inspection, lambda v: v.read_results("text"))


@pytest.mark.parametrize("parameters", [("Component", "nothing"), ("Component", "chance", "zz"), ("Other",)])
def test_an_impossible_request_is_refused_without_an_earlier_result(inspection, parameters):
    def wait_for_refusal(verifier):
        with pytest.raises(GatError, match="refused"):
            verifier.start_special_function(*parameters)
        with pytest.raises(GatError, match="not available"):
            verifier.read_results("text")
        return verifier.read_status(), verifier.read_last_authentication()

    _, (status, last) = run(inspection, sign("Component", "chance"), wait_for_refusal)
    assert (status.state, status.has_results, status.is_calculating) == ("error", False, False)
    assert last == (0, 0xFFFFFFFF)
    assert inspection.room.records("gat.request")[1]["refused"]


class OutsideHost:
    """A verifier that polls like the one public GAT host; it knows the packet layout and four status values."""

    FINISHED, CALCULATING, ERROR = 1, 2, 3

    def __init__(self, line) -> None:
        self.line = line

    def packet(self, command, payload=b""):
        register = 0xFFFF
        body = bytes((command, len(payload) + 4)) + payload
        for byte in body:
            register ^= byte
            for _ in range(8):
                register = register >> 1 ^ (0xA001 if register & 1 else 0)
        return body + bytes((register >> 8, register & 0xFF))

    def ask(self, command, payload=b""):
        self.line.write(self.packet(command, payload))
        head = self.line.read(2)
        answer = head + self.line.read(head[1] - 2)
        assert head[0] == command | 0x80
        assert self.packet(answer[0], answer[2:-2]) == answer
        return answer[2:-2]

    def initiate(self, *words):
        """Order a function and ignore the content of the reply."""
        self.ask(0x04, b"\xba\x00" + "\t".join(words).encode())

    def wait(self, polls=2000):
        for _ in range(polls):
            state = self.ask(0x01)[2] >> 2 & 3
            if state in {self.FINISHED, self.ERROR}:
                return state
            time.sleep(0.01)
        raise AssertionError("polled for ever")

    def read(self):
        text, frame, last = b"", 1, False
        while not last:
            answer = self.ask(0x03, b"\x01" + frame.to_bytes(2, "big"))
            assert not answer[0] & 1
            last, text, frame = bool(answer[0] & 2), text + answer[3:], frame + 1
        return text.decode()


def with_outside_host(inspection, conversation):
    return run(inspection, lambda verifier: conversation(OutsideHost(verifier._port)))[0]


@pytest.mark.requirement("A-18")
def test_a_host_that_waits_for_the_public_status_values_reads_its_results(inspection):
    def conversation(host):
        host.initiate("Component", "chance", SEED)
        assert host.wait() == host.FINISHED
        return host.read()

    expected = compute_signatures(
        list_software_files(SoftwareScope()), SignatureAlgorithm.SHA1_HMAC, bytes.fromhex(SEED), ["chance"]
    )["chance"]
    assert f"chance: {expected.upper()}" in with_outside_host(inspection, conversation)


@pytest.mark.requirement("A-18")
def test_a_refused_request_never_returns_another_requests_result(inspection):
    """After a known component, an unknown one must not be answered with the known component's signature."""

    def conversation(host):
        host.initiate("Component", "games")
        assert host.wait() == host.FINISHED
        host.initiate("Component", "nosuch")
        return host.wait(), host.ask(0x01)[2] & 3, host.ask(0x03, b"\x01\x00\x01")[0] & 1

    assert with_outside_host(inspection, conversation) == (OutsideHost.ERROR, 0, 1)


@pytest.mark.requirement("A-18")
def test_a_new_command_cancels_and_supersedes_the_one_in_progress(inspection, monkeypatch):
    async def first_never_ends(scope, algorithm, seed, expected):
        found = compute_signatures_in_child_process(scope, algorithm, seed, expected)
        if seed:
            found, _ = await asyncio.gather(found, asyncio.Event().wait())  # until it is cancelled
            return found
        return await found

    monkeypatch.setattr("egm.links.gat.port.compute_signatures_in_child_process", first_never_ends)

    def conversation(host):
        host.initiate("Get File", "AuthenticationResponse-SHA256.xml", SEED)
        assert host.ask(0x01)[2] >> 2 & 3 == host.CALCULATING
        host.initiate("Component", "chance")
        assert host.wait() == host.FINISHED
        return host.read()

    expected = compute_signatures(
        list_software_files(SoftwareScope()), SignatureAlgorithm.SHA1_HMAC, b"", ["chance"]
    )["chance"]
    text = with_outside_host(inspection, conversation)
    assert f"chance: {expected.upper()}" in text
    assert text.count(": ") == text.split("chance: ")[0].count(": ") + 1  # and nothing except the reply
    assert len(inspection.room.records("gat.request")) == 2
    [record] = inspection.room.records("gat.result")  # the first request's reply never came
    assert record["parameters"] == ["Component", "chance"]


def test_missing_results_are_refused(inspection):
    def nothing(verifier):
        for payload in (b"\x01\x00\x63", b"\x01\x00\x00", b"\x07\x00\x01"):  # frame 99, frame 0, format 7
            assert verifier._query(0x03, payload)[0] & 1
        return True

    assert run(inspection, sign("Component", "chance"), nothing)[1]


def test_noise_and_unknown_requests_get_no_reply_and_the_next_request_gets_one(inspection):
    def question(verifier):
        verifier._port.timeout = 0.3
        for noise in (b"\xff" * 40, bytes.fromhex("01 04 E3 02"), random.Random(7).randbytes(64)):
            verifier._port.write(noise)
            assert verifier._port.read(1) == b""
        with pytest.raises(GatError, match="the machine did not reply"):
            GatVerifier(verifier._port, reply_timeout_seconds=0.3)._query(0x07, b"")
        verifier._port.timeout = PATIENCE_SECONDS
        return verifier.read_status()

    assert run(inspection, question)[0].version == "3.50"


@pytest.mark.requirement("A-18", "K-14")
def test_play_continues_while_signatures_are_calculated(inspection):
    rig = inspection.room
    rig.insert(500)

    async def both():
        inquiry = asyncio.create_task(inspection.ask(sign("Get File", "AuthenticationResponse.xml", SEED)))
        games = 0
        while not inquiry.done():
            session = rig.machine.memory.get(LinksKey.LAST_GAT_CALCULATION)
            rig.play()
            assert rig.state is State.PLAYING
            rig.report_shown()
            rig.engine.handle("cash_out") if rig.state is State.HANDPAY else None
            games += session is not None and not session["finished"]
            if rig.state is not State.IDLE or rig.credit_cents < 50:
                break
            await asyncio.sleep(0.01)
        return await inquiry, games

    _, games = asyncio.run(both())
    assert games, "no game was played during the calculation"


@pytest.mark.requirement("A-18")
def test_a_calculation_that_a_power_cut_interrupted_is_done_after_it(inspection, tmp_path):
    orders = []

    def endless(port):  # the power is cut before the end of the calculation
        port._service._start_signing = orders.append

    def asks(verifier):
        verifier.start_special_function("Component", "chance", "aa")
        assert verifier.read_status().is_calculating
        with pytest.raises(GatError, match="not available"):
            verifier.read_results("text")

    inspection.alter = endless
    run(inspection, asks)
    assert [order.components for order in orders] == [("chance",)]
    inspection.room.close()
    restarted = Inspection(tmp_path / "state")
    _, text = run(restarted, lambda v: v.wait_for_calculation(60, 0.02), lambda v: v.read_results("text"))
    restarted.room.close()
    expected = compute_signatures(
        list_software_files(SoftwareScope()), SignatureAlgorithm.SHA1_HMAC, b"\xaa", ["chance"]
    )["chance"]
    assert expected.upper() in text.decode()


@pytest.mark.parametrize("parameters", [("Get File", "ProgramID.xml"), (GET_SPECIAL_FUNCTIONS,)])
def test_a_list_that_a_power_cut_interrupted_contains_no_signatures(inspection, tmp_path, parameters):
    def asks(verifier):
        verifier.start_special_function(*parameters)
        assert verifier.read_status().is_calculating

    def lose_result(port):  # the power is cut between the request and its result
        port._service.store_result = lambda _: None

    inspection.alter = lose_result
    run(inspection, asks)
    inspection.room.close()
    restarted = Inspection(tmp_path / "state")
    run(restarted, lambda v: v.wait_for_calculation(60, 0.02))
    [result] = restarted.room.records("gat.result")
    restarted.room.close()
    assert result["values"] == {}, "signatures were stored in place of the list"


def test_a_calculation_that_fails_is_an_error_and_not_a_result(inspection):
    def lose_a_file(port):
        port._software_scope = SoftwareScope(cabinet_definitions=(("own/gone.toml", "/nowhere/gone.toml"),))

    inspection.alter = lose_a_file

    def question(verifier):
        verifier.start_special_function("Get File", "AuthenticationResponse.xml")
        with pytest.raises(GatError, match="ended in state error"):
            verifier.wait_for_calculation(60, 0.02)
        with pytest.raises(GatError, match="not available"):
            verifier.read_results("xml")
        return True

    assert run(inspection, question)[0]
    assert "own/gone.toml: cannot be read" in inspection.room.records("gat.result")[0]["trouble"]


def test_no_gat_is_port_opened_without_one_in_the_cabinet_file(inspection):
    context = replace(
        inspection.context, cabinet_file=inspection.context.cabinet_file.model_copy(update={"gat": None})
    )
    assert list(create_gat_port(context)) == []
