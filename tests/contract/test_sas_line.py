"""A complete machine on a SAS line: bytes on a pseudo-terminal, the thread, the event loop and the journal."""

import asyncio
import os
import random
import socket
import tty
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sas_rig import Rig, Wire, with_machine

from egm.devices.crc import compute_crc_kermit
from egm.integrity.lockups import list_disabling_sources
from egm.kernel.events import State
from egm.links.sas.crc import append_crc, has_valid_crc
from egm.testing.sas import SAS_CABINET_TABLES
from egm.verify.digest import SignatureAlgorithm, compute_signatures
from egm.verify.own_files import list_own_definition_files
from egm.verify.software_files import SoftwareScope, list_components, list_software_files
from meters import Journal
from paytables.definition import LIBRARY_FOLDER


@pytest.mark.parametrize("framing", ["strict", "lenient"])
def test_a_host_reads_and_disables_and_enables_the_machine(tmp_path: Path, framing: str) -> None:
    async def scenario(rig: Rig) -> None:
        wire = rig.wire("main")
        for exception in (0x7A, 0x17, 0x00):
            assert await asyncio.to_thread(wire.general) == exception
            wire.sync()
        data = await asyncio.to_thread(wire.read_poll, 0x54, 5 + 3 + 6)
        assert data == b"\x09602TEST-1"
        assert await asyncio.to_thread(wire.long, 0x01, b"", 1) == b"\x01"
        assert rig.room.state is State.OUT_OF_SERVICE
        assert list_disabling_sources(rig.room.machine)["host:main"]["reason"] == "host"
        assert await asyncio.to_thread(wire.long, 0x02, b"", 1) == b"\x01"
        assert rig.room.state is State.IDLE
        wire.close()

    with_machine(tmp_path, scenario, {"main": {"chirp": False, "framing": framing}})


async def _signature(wire: Wire, seed: str) -> str:
    """Request the ROM signature and send general polls until it is returned instead of an exception."""
    assert await asyncio.to_thread(wire.long, 0x21, bytes.fromhex(seed), 1) == b"\x01"
    while True:
        wire.sync()
        wire.write(b"\x81")
        answer = await asyncio.to_thread(wire.read, 1)
        if answer == b"\x01":
            frame = answer + await asyncio.to_thread(wire.read, 5)
            assert has_valid_crc(frame)
            return frame[2:-2].hex()


@pytest.mark.requirement("K-02")
@pytest.mark.sas(polls="21")
def test_the_rom_signature_is_reported_later_and_depends_on_the_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signature also covers custom games of the cabinet."""
    own_game = tmp_path / "own-game.toml"
    own_game.write_bytes((LIBRARY_FOLDER / "maple-classic.toml").read_bytes())
    monkeypatch.setitem(SAS_CABINET_TABLES, "games", [{"game": str(own_game)}])

    async def scenario(rig: Rig) -> None:
        wire = rig.wire("main")
        scope = SoftwareScope(cabinet_definitions=list_own_definition_files(rig.file))
        components = sorted(list_components(scope))
        assert "own" in components
        for seed in ("3412", "0000"):
            signed = compute_signatures(
                list_software_files(scope), SignatureAlgorithm.SHA1_HMAC, bytes.fromhex(seed), components
            )
            expected = compute_crc_kermit("".join(signed[name] for name in components).encode())
            assert await _signature(wire, seed) == expected.to_bytes(2, "little").hex()
        wire.close()

    with_machine(tmp_path, scenario, {"main": {"chirp": False}})


def test_a_sas_line_works_over_a_network_serial_server(tmp_path: Path) -> None:
    server = socket.create_server(("127.0.0.1", 0))
    port = f"socket://127.0.0.1:{server.getsockname()[1]}"

    async def scenario(_: Rig) -> None:
        connection, _address = await asyncio.to_thread(server.accept)
        with connection:
            connection.settimeout(60)
            connection.sendall(b"\x80\x01\x1a")
            answer = b""
            while len(answer) < 8:
                answer += await asyncio.to_thread(connection.recv, 8 - len(answer))
            assert answer == append_crc(bytes.fromhex("01 1A 00000000"))

    with server:
        with_machine(tmp_path, scenario, {"main": {"chirp": False, "framing": "lenient", "port": port}})


def test_two_lines_reply_at_once_and_a_host_may_reconnect(tmp_path: Path) -> None:
    async def scenario(rig: Rig) -> None:
        first, second = rig.wire("first"), rig.wire("second")
        for _ in range(20):
            first.write(b"\x01\x1a")
            second.write(b"\x05\x1a")
            assert await asyncio.to_thread(first.read, 8) == append_crc(bytes.fromhex("01 1A 00000000"))
            assert await asyncio.to_thread(second.read, 8) == append_crc(bytes.fromhex("05 1A 00000000"))
        first.close()
        reopened = rig.wire("first")
        reopened.write(b"\x01\x1a")
        assert await asyncio.to_thread(reopened.read, 8) == append_crc(bytes.fromhex("01 1A 00000000"))
        reopened.close()
        second.close()

    with_machine(tmp_path, scenario, {"first": {"chirp": False}, "second": {"chirp": False, "address": 5}})


@pytest.mark.requirement("A-05", "K-01")
def test_after_a_memory_clear_the_host_receives_events_of_the_new_journal(tmp_path: Path) -> None:
    (tmp_path / "sas-main.told").write_text("50000", encoding="ascii")  # left by the journal before the clear
    Journal.open(tmp_path, now=lambda: datetime(2026, 1, 1, tzinfo=UTC)).close()

    async def scenario(rig: Rig) -> None:
        wire = rig.wire("main")
        rig.room.insert(500)
        answer = await asyncio.to_thread(wire.read_poll, 0x1A, 8)
        assert answer == bytes.fromhex("00000500")
        exceptions = []
        for _ in range(20):
            exceptions.append(await asyncio.to_thread(wire.general))
            wire.sync()
        assert 0x48 in exceptions, "the bill was not reported"
        wire.close()

    with_machine(tmp_path, scenario, {"main": {"chirp": False}})


@pytest.mark.requirement("A-05")
def test_an_exception_is_reported_after_a_restart_although_a_power_loss_emptied_the_file_of_delivered_ones(
    tmp_path: Path,
) -> None:
    async def insert_a_bill(rig: Rig) -> None:
        rig.room.insert(500)

    async def read_exceptions(rig: Rig) -> None:
        wire = rig.wire("main")
        exceptions = []
        for _ in range(20):
            exceptions.append(await asyncio.to_thread(wire.general))
            wire.sync()
        assert 0x48 in exceptions, "the bill was not reported"
        wire.close()

    with_machine(tmp_path, insert_a_bill, {"main": {"chirp": False}})
    (delivered_file,) = tmp_path.rglob("sas-main.told")
    delivered_file.write_bytes(b"")
    with_machine(tmp_path, read_exceptions, {"main": {"chirp": False}})


@pytest.mark.requirement("K-06")
def test_noise_on_a_line_moves_nothing_and_hides_no_poll(tmp_path: Path) -> None:
    noise = random.Random(7)

    async def scenario(rig: Rig) -> None:
        wire = rig.wire("main")
        rig.room.insert(500)
        before = (rig.room.journal.sequence, rig.room.credit_cents)
        for _ in range(200):
            wire.raw(noise.randbytes(noise.randrange(1, 40)))
            wire.write(b"\x01\x1a")
            answer = await asyncio.to_thread(wire.read_until, append_crc(bytes.fromhex("01 1A 00000500")))
            assert answer, "a poll after noise was not answered"
        moved = [e.kind for e in rig.room.journal.entries(after_sequence=before[0]) if e.transfers]
        assert (moved, rig.room.credit_cents) == ([], before[1])
        wire.close()

    with_machine(tmp_path, scenario, {"main": {"chirp": False}})


@pytest.mark.parametrize("framing", ["strict", "lenient"])
def test_a_named_is_port_opened_lost_and_opened_again(
    tmp_path: Path, framing: str, capfd: pytest.CaptureFixture[str]
) -> None:
    link = tmp_path / "port"

    def plug_in() -> tuple[int, int]:
        host, slave = os.openpty()
        tty.setraw(slave)
        link.unlink(missing_ok=True)
        link.symlink_to(os.ttyname(slave))
        return host, slave

    first = plug_in()

    async def scenario(rig: Rig) -> None:
        wire = Wire.on(first[0], strict=framing == "strict")
        assert await asyncio.to_thread(wire.read_poll, 0x1A, 8) == bytes(4)
        second = plug_in()
        for fileno in first:
            os.close(fileno)
        wire = Wire.on(second[0], strict=framing == "strict")
        answer = b""
        while not answer:  # the machine tries the port once a second
            wire.write(b"\x01\x1a")
            answer = await asyncio.to_thread(wire.read, 8, 0.2)
        assert answer == append_crc(bytes.fromhex("01 1A 00000000"))
        printed = capfd.readouterr().err.splitlines()
        assert [line for line in printed if str(link) in line and "the port is tried every 1 s" in line], (
            printed
        )
        assert len(printed) == len(set(printed)), "a reason is printed once"
        os.close(second[0])
        os.close(second[1])

    with_machine(tmp_path, scenario, {"main": {"chirp": False, "framing": framing, "port": str(link)}})
