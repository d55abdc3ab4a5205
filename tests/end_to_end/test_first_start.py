"""A machine without a cabinet file asks for one on its screen, finds its devices, and runs with the signed file.

The processes are real, and so are the (pseudo-)serial lines with simulated devices; answers are sent as the screen
sends them.
"""

import asyncio
import contextlib
import json
import subprocess
import sys
import tomllib

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from rigs.moments import get_real_now
from run_rig import EGM, PATIENCE_SECONDS, connect, snapshot, until

from egm.app.first_start.draft import CabinetFileDraft
from egm.app.first_start.probing import FoundDevice
from egm.app.first_start.wizard import CABINET_PRESET_FILE_NAME
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.devices.protocols import PROTOCOLS
from egm.devices.twin import SimulatedPort
from egm.integrity.signed_file import compute_cabinet_file_digest
from egm.kernel.messages import Intent, MessageError, Snapshot, encode_message
from egm.people import Role, Roster
from egm.progressive.connection import check_certificates
from egm.progressive.enrolment_data import EnrolmentStick, compute_key_digest, create_request, read_request
from egm.testing.service_menu import iter_page_texts, translate_text
from meters import Journal, Transaction, open_view
from tools.cli import main
from tools.floor.progressive.certificates import make_authority

#: The command of the machine's process without the serial ports of this computer: probing a port takes 18 s, and a
#: user's device may be connected to it.
MACHINE = (
    sys.executable,
    "-I",
    "-c",
    "from egm.app.first_start import probing; probing.comports = list; from egm.app.__main__ import main; main()",
)
#: Too long to occur in a digest by chance: a test searches the stored files for them.
PINS = {"11": "482615937048", "12": "905173264815"}


class Hand:
    """A person at the screen of a first start, who reads pages, touches and types."""

    def __init__(self, reader, writer):
        self._reader, self._writer = reader, writer
        self.page = None
        self.seen = []

    @contextlib.asynccontextmanager
    @staticmethod
    async def connect(folder):
        reader, writer = await connect(folder.screen_socket, folder.screen_token)
        hand = Hand(reader, writer)
        await hand.read(lambda page: True)
        try:
            yield hand
        finally:
            writer.close()

    async def read(self, condition):
        """Read messages until a page satisfies the condition; check its texts in both languages."""
        while self.page is None or not condition(self.page):
            shown = await until(
                self._reader, lambda m: isinstance(m, Snapshot) and m.service_page is not None
            )
            self.page = shown.service_page
            self.seen.append(shown.service_page)
            for words in iter_page_texts(shown.service_page):
                assert translate_text(words, "en") or words.value == ""
                assert translate_text(words, "fr") or words.value == ""
        return self.page

    async def touch(self, action, text=""):
        before = self.page.id
        options = {"page": before, "input": text}
        self._writer.write(encode_message(Intent(name="answer", value=action, options=options)))
        return await self.read(lambda page: page.id != before)

    def last(self, text):
        """Send the last input of the first start, after which no page follows."""
        options = {"page": self.page.id, "input": text}
        self._writer.write(encode_message(Intent(name="answer", value="enter", options=options)))

    async def type(self, *texts):
        for text in texts:
            await self.touch("enter", text)
        return self.page

    async def pick(self, words):
        row = next(row for row in self.page.tables[0].rows if translate_text(row.cells[0], "en") == words)
        return await self.touch(row.action)

    async def come_to(self, step, *, ready=lambda page: True):
        return await self.read(lambda page: page.title.value == f"first.{step}.title" and ready(page))

    @property
    def notice(self):
        return "" if self.page.notice is None else self.page.notice.value

    def offers(self, action):
        return any(page_action.id == action and page_action.enabled for page_action in self.page.actions)


@contextlib.asynccontextmanager
async def run_first_start(folder, file, *ports, options=()):
    """Run the machine's process at a first start that tries these ports."""
    where = ("--state", str(folder.root), "--cabinet", str(file), "--first-start")
    named = [word for port in ports for word in ("--port", str(port))]
    process = await asyncio.create_subprocess_exec(*MACHINE, *where, *named, *options, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        _, process.error_output = await process.communicate()


def plug_twins(folder, *protocols):
    """Start simulated devices, each on its own pseudo-terminal."""
    twins = []
    for protocol in protocols:
        port = SimulatedPort(folder / protocol, PROTOCOLS[protocol].line_settings.character_seconds)
        twins.append(PROTOCOLS[protocol].create_twin(protocol, port))
        port.plug()
    return twins


async def answer_site_pages(hand, *, site="Chez Lise"):
    """Answer all pages before that of the devices."""
    await hand.touch("next")
    await hand.type("first-1", "7")
    await hand.touch("next")
    await hand.pick("Generic")
    await hand.type(site)
    await hand.touch("next")
    await hand.pick("America/Toronto")


async def choose_devices_and_games(hand):
    """Choose simulated devices, and the proposed games and denominations."""
    await hand.come_to("devices", ready=lambda page: hand.offers("simulated"))
    await hand.touch("simulated")
    for step in ("games", "denominations"):
        await hand.touch("next")
        await hand.come_to(step, ready=lambda page: hand.offers("next"))
    await hand.touch("next")


def floor(*arguments):
    """Run the floor's commands for the stick."""
    result = CliRunner().invoke(main, ["progressive", "enrol", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


async def enrol_with_floor(hand, stick, authority):
    """Enrol by stick, after an invalid one, one without an answer and another machine's."""
    await hand.come_to("link")
    await hand.touch("request")
    assert hand.notice == "notice.refused.link_other_stick"
    floor(authority, stick, "--prepare")
    await hand.touch("answer")
    assert hand.notice == "notice.refused.link_no_answer"
    await hand.touch("request")
    lines = [row.cells for table in hand.page.tables for row in table.rows]
    (key,) = [cells[-1].value for cells in lines if cells[0].value == "service.link.key"]
    request = EnrolmentStick(stick).read()["request"]
    EnrolmentStick(stick).write(create_request(Ed25519PrivateKey.generate(), "FIRST-2"))
    request_key = read_request(EnrolmentStick(stick).read()["request"])[1]
    floor(authority, stick, "--key", compute_key_digest(request_key))
    await hand.touch("answer")
    assert hand.notice == "notice.refused.link_other_machine"
    assert not hand.offers("next")
    EnrolmentStick(stick).write(request)
    printed = floor(authority, stick, "--key", key, "--host", "10.0.0.2")
    await hand.touch("answer")
    shown = {translate_text(row.cells[0], "en"): row.cells[-1].value for row in hand.page.tables[-1].rows}
    assert shown["Certificate authority digest"].split()[0] in printed
    await hand.touch("next")


async def enrol_persons(hand):
    """Enrol two persons who may sign; check the refusals on the way."""
    await hand.come_to("staff")
    assert not hand.offers("next")
    await hand.touch("add")
    await hand.type("12", "Max", "attendant")
    assert hand.notice == "first.refused.first_one"  # who must be able to enrol others
    for _ in range(2):
        await hand.touch("back")
    await hand.touch("add")
    await hand.type("11", "Morgan", "manager", "1234")
    assert hand.notice == "service.refused.weak_pin"
    await hand.type(PINS["11"], "482615937049")
    assert hand.notice == "service.refused.not_the_same"
    await hand.type(PINS["11"], PINS["11"])
    assert not hand.offers("next")  # one alone cannot sign
    await hand.touch("add")
    await hand.type("11")
    assert hand.notice == "first.refused.number_taken"
    await hand.type("12", "Tony", "technician", PINS["12"], PINS["12"])
    await hand.touch("drop")  # the name has another spelling
    assert not hand.offers("next")
    await hand.touch("add")
    await hand.type("12", "Toni", "technician", PINS["12"], PINS["12"])
    await hand.touch("next")


async def sign_cabinet_file(hand):
    """Sign as the two persons, after a wrong PIN and an attempt to sign twice."""
    await hand.come_to("signing", ready=lambda page: hand.offers("sign"))
    await hand.touch("sign")
    await hand.type("11", "9999")
    assert hand.notice == "service.refused.wrong_pin"
    await hand.type(PINS["11"], "11", PINS["11"])
    assert hand.notice == "service.refused.same_person"
    await hand.type("12")
    hand.last(PINS["12"])


def entries(folder, kind):
    with open_view(folder.root) as view:
        return [entry.record for entry in view.entries(kind)]


async def wait_for_machine(folder):
    """Wait until the machine runs with its file; return what its screen shows."""
    while True:
        reader, writer = await connect(folder.screen_socket, folder.screen_token)
        try:
            return await until(
                reader, lambda m: isinstance(m, Snapshot) and m.service_page is None and m.state == "idle"
            )
        except MessageError:  # the first start has just let its screens go
            await asyncio.sleep(0.05)
        finally:
            writer.close()


@contextlib.asynccontextmanager
async def run(folder, file):
    """Run ``egm run`` as a person starts it."""
    where = ("--state", str(folder.root), "--cabinet", str(file), "--screen", "none", "--first-start")
    process = await asyncio.create_subprocess_exec(*EGM, "run", *where, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        _, process.error_output = await process.communicate()


@pytest.mark.requirement("A-22", "E-11")
def test_first_start_reads_the_devices_two_persons_sign_and_the_machine_runs(tmp_path):
    folder, file = StateFolder(tmp_path / "state"), tmp_path / "cabinet.toml"
    (tmp_path / CABINET_PRESET_FILE_NAME).write_text("[metrics]\nport = 0\n")

    stick = tmp_path / "stick"
    stick.write_bytes(bytes(1 << 15))
    make_authority(tmp_path / "floor", get_real_now())

    async def session():
        twins = plug_twins(tmp_path, "id003", "ioboard", "tcl")
        ports = [twin.port.link for twin in twins]
        async with (
            run_first_start(folder, file, *ports, options=("--stick", stick)) as process,
            Hand.connect(folder) as hand,
        ):
            await answer_site_pages(hand)
            await hand.come_to("devices", ready=lambda page: page.prompt is None and hand.offers("next"))
            found = {
                translate_text(row.cells[1], "en").partition(" ")[0]: row.icon
                for row in hand.page.tables[0].rows
            }
            assert {name: found[name] for name in ("id003", "ioboard", "tcl")} == dict.fromkeys(
                ("id003", "ioboard", "tcl"), "good"
            )
            await hand.touch("next")
            await hand.come_to("games", ready=lambda page: hand.offers("next"))
            rows = hand.page.tables[0].rows
            assert len(rows) > 10
            for row in rows[1:]:
                await hand.touch(row.action)
            await hand.touch("next")
            await hand.come_to("denominations", ready=lambda page: hand.offers("next"))
            await hand.touch(hand.page.tables[0].rows[0].action)
            await hand.touch("next")
            await enrol_with_floor(hand, stick, tmp_path / "floor")
            await enrol_persons(hand)
            await sign_cabinet_file(hand)
            async with asyncio.timeout(PATIENCE_SECONDS):
                assert await process.wait() == 4  # start again with a file
        async with run_first_start(folder, file):
            shown = await wait_for_machine(folder)
        for twin in twins:
            twin.port.unplug()
        return shown, {page.title.value for page in hand.seen}

    shown, titles = asyncio.run(session())
    assert len(titles) == 11
    assert (shown.serial, shown.operator_number, shown.site) == ("FIRST-1", "7", "Chez Lise")
    assert not shown.tilts
    cabinet = load_cabinet(file)
    assert {device.protocol for device in cabinet.devices.values()} == {"id003", "ioboard", "tcl"}
    assert len(cabinet.hardware_port_descriptions) == 3
    (slot,) = cabinet.games
    assert slot.denominations_cents
    check_certificates(cabinet.progressive_link, "FIRST-1")
    assert cabinet.progressive_link.host == "10.0.0.2"
    (record,) = entries(folder, "link.enrolled")
    assert (record["persons"], record["broker"]) == (["11", "12"], "10.0.0.2:8883")
    assert cabinet.machine.time_zone == "America/Toronto"
    roster = Roster.load(folder.roster_file)
    assert [(person.id, person.role) for person in roster.person_by_staff_number.values()] == [
        ("11", Role.MANAGER),
        ("12", Role.TECHNICIAN),
    ]
    assert roster.authenticate("12", PINS["12"]) is not None
    (record,) = entries(folder, "cabinet.signed")
    assert record["persons"] == ["11", "12"]
    assert record["digest"] == compute_cabinet_file_digest(file.read_text())
    assert record["text"] == file.read_text()
    assert not any(
        pin in path.read_text(errors="replace")
        for pin in PINS.values()
        for path in [file, folder.roster_file]
    )
    checked = CliRunner().invoke(main, ["cabinet", "check", str(file), "--state", str(folder.root), "--json"])
    assert all(not fault["stops"] for fault in json.loads(checked.output)), checked.output


@pytest.mark.requirement("A-22")
def test_two_enrolled_persons_restore_a_lost_cabinet_file_from_the_journal(tmp_path):
    """After an exchange of the board, the journal provides the file and records who restored it."""
    folder, file = StateFolder(tmp_path / "state"), tmp_path / "cabinet.toml"
    # No port of this computer is tried; only one game, so that no others are examined.
    (tmp_path / CABINET_PRESET_FILE_NAME).write_text(
        '[metrics]\nport = 0\n[[games]]\ngame = "maple-classic"\n'
    )

    async def first():
        async with run_first_start(folder, file) as process, Hand.connect(folder) as hand:
            await answer_site_pages(hand)
            await choose_devices_and_games(hand)
            await hand.touch("without")
            await enrol_persons(hand)
            await sign_cabinet_file(hand)
            async with asyncio.timeout(PATIENCE_SECONDS):
                assert await process.wait() == 4  # start again with a file
        async with run(folder, file):
            return await wait_for_machine(folder)

    async def set_up_again():
        async with run(folder, file), Hand.connect(folder) as hand:
            assert hand.page.title.value == "first.memory.title"
            assert "FIRST-1" in {translate_text(row.cells[-1], "en") for row in hand.page.tables[0].rows}
            await hand.touch("sign")
            await hand.type("11", PINS["11"], "12")
            hand.last(PINS["12"])
            return await wait_for_machine(folder)

    assert not asyncio.run(first()).tilts
    text = file.read_text()
    file.unlink()
    shown = asyncio.run(set_up_again())
    assert file.read_text() == text
    assert not shown.tilts
    assert [(record["reason"], record["persons"]) for record in entries(folder, "cabinet.signed")] == [
        ("first start", ["11", "12"]),
        ("put back from the memory", ["11", "12"]),
    ]
    export_file = tmp_path / "audit.jsonl"
    for arguments in (
        ["export", str(export_file), "--state", str(folder.root)],
        ["verify", str(export_file)],
    ):
        audited = CliRunner().invoke(main, ["audit", *arguments])
        assert audited.exit_code == 0, audited.output


def test_an_unreadable_memory_is_shown_at_first_start_and_nothing_is_asked(tmp_path):
    folder, file = StateFolder(tmp_path / "state"), tmp_path / "cabinet.toml"
    with Journal.open(folder.root, now=get_real_now) as journal:
        for n in range(50):
            journal.append(Transaction(id=f"e{n}", kind="event", record={"n": n}))
    for copy in [folder.root / "journal.sqlite", *sorted(folder.root.rglob("*.log"))]:
        copy.write_bytes(b"no journal" * 1000)

    async def session():
        async with run_first_start(folder, file) as process:
            reader, writer = await connect(folder.screen_socket, folder.screen_token)
            shown = await until(reader, snapshot(state="tilt"))
            writer.close()
        return shown, process.error_output

    shown, printed = asyncio.run(session())
    assert [tilt.code for tilt in shown.tilts] == ["memory_damaged"]
    assert shown.service_page is None
    assert b"Traceback" not in printed


def test_values_of_the_seed_file_are_not_asked_and_are_in_the_cabinet_file(tmp_path):
    """The seed file's tables are copied, and only its games are offered."""
    seed = tomllib.loads(
        "[machine]\ncertifier = ''\n[[games]]\ngame = 'maple-classic'\n[memory]\nreserve_mib = 16\n"
        "[metrics]\nport = 0\nhosts = ['a']\n[sas.main]\nport = 'pty'\naddress = 1\n[inventory]\nmade = 2026-05-01\n"
    )
    draft = CabinetFileDraft(preset_tables=seed)
    draft.machine_answers |= {"serial": "S-1", "operator_number": "1", "site": 'L"ise', "time_zone": "UTC"}
    assert [*draft.examine_games()] == ["maple-classic"]
    draft.chosen_game_names = [*draft.admitted_games]
    draft.denominations_cents = draft.available_denominations_cents
    draft.devices = (FoundDevice("id003", "/dev/serial/by-id/a"),)
    cabinet, faults = draft.parse_cabinet_file()
    assert not faults
    assert cabinet.machine.site == 'L"ise'
    assert cabinet.memory.reserve_mib == 16
    assert cabinet.sas["main"].address == 1
    assert str(cabinet.inventory.manufacture_date) == "2026-05-01"
    assert cabinet.metrics.proxy_host_names == ("a",)
    assert [slot.game for slot in cabinet.games] == ["maple-classic"]
    assert cabinet.devices["bill"].port == "/dev/serial/by-id/a"


def test_first_start_states_are_shown_as_pages_and_other_messages_are_ignored(tmp_path):
    folder, file = StateFolder(tmp_path / "state"), tmp_path / "cabinet.toml"

    async def session():
        async with run_first_start(folder, file) as process, Hand.connect(folder) as hand:
            for intent in (Intent(name="play"), Intent(name="menu"), Intent(name="answer", value="next")):
                hand._writer.write(encode_message(intent))
            hand._writer.write(encode_message(Intent(name="language", value="fr")))
            shown = await until(hand._reader, snapshot(language="fr"))
            assert shown.service_page.id == hand.page.id
            await hand.touch("next")
            await hand.type("no spaces")
            assert hand.notice == "first.refused.name"
            assert process.returncode is None
        return process

    process = asyncio.run(session())
    assert b"Traceback" not in process.error_output
    assert not file.exists()
    assert not folder.roster_file.exists()
