"""Enrolment of the machine with the link: a permanent key, request and answer on a stick, and two people.

The floor's authority and command are real. Each refusal is shown in words and recorded in the journal.
"""

import os
import shutil
import stat
import sys
import threading
import time
from base64 import b64decode, encodebytes
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from egm.config.levels import ProgressiveLinkTable
from egm.errors import OperatorError
from egm.kernel.events import Event, EventType
from egm.people import Role
from egm.progressive.connection import check_certificates
from egm.progressive.enrolment_data import EnrolmentError, EnrolmentStick, create_request
from egm.progressive.enrolment_page import perform_enrolment_step, reconcile_certificate_at_start
from egm.progressive.events import EnrolmentForm
from egm.progressive.keys import ProgressiveKey
from egm.progressive.link_folder import LinkCertificateFolder
from egm.testing.machine import MachineRig
from egm.testing.service_menu import MenuUser, list_enabled_actions, translate_text
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli import main
from tools.floor.progressive.certificates import (
    answer_request,
    make_authority,
    make_certificate,
    revoke_certificate,
)

SERIAL, BROKER = "TEST-1", ("10.0.0.2", 8883)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def floor(*arguments, code=0):
    """Run the floor's command."""
    result = CliRunner().invoke(main, ["progressive", "enrol", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.output


class Hall:
    """A machine, a stick and the floor's folder; the machine's clock shows 2026, as the authority's does."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.authority = folder, folder / "floor"
        make_authority(self.authority, NOW)
        monkeypatch.setattr("tools.cli.commands.progressive.datetime", Stopped)
        self.stick = folder / "stick"
        self.stick.write_bytes(bytes(1 << 16))
        self.link = LinkCertificateFolder.for_state_folder(folder / "state")
        (folder / "state").mkdir()
        self.slot = ProgressiveLinkTable(**self.link.build_cabinet_table(*BROKER))
        self.room = self.wall = None

    def start(self):
        """Switch the machine on for the first time or again."""
        if self.room is not None:
            self.room.close()
        self.room = MachineRig(self.folder / "state", wall_time=self.wall).boot()
        self.hands = MenuUser(self.room)
        reconcile_certificate_at_start(self.room.machine, self.link, EnrolmentStick(self.stick), self.slot)
        return self

    def signer(self):
        """Return the authority's key."""
        return load_pem_private_key((self.authority / "authority.key").read_bytes(), None)

    def menu(self):
        if not self.hands.is_open:
            self.hands.sign_in(Role.TECHNICIAN)
        return self.hands.home().touch("link")

    def step(self, name, second=None):
        """Execute a step from its page; return the resulting notice and the page that follows."""
        menu = self.menu()
        menu.touch(f"link_{name}").fill_open_form(second=second)
        notice = menu.notice
        assert notice == "service.done" or (
            translate_text(menu.page.notice, "en") and translate_text(menu.page.notice, "fr")
        )
        return notice.removeprefix("notice.refused."), menu

    def key(self):
        return self.menu().read_rows()["Key digest"]

    def answers(self, *arguments, code=0):
        return floor(
            self.authority, self.stick, "--key", self.key(), "--host", BROKER[0], *arguments, code=code
        )

    def read(self):
        """Execute all steps up to the reading of an answer."""
        floor(self.authority, self.stick, "--prepare")
        assert self.step("request")[0] == "service.done"
        self.answers()
        assert self.step("answer")[0] == "service.done"
        return self

    def records(self, kind):
        return self.room.records(kind)


class Stopped(datetime):
    """The floor's clock, which does not run."""

    fixed_time = NOW

    @classmethod
    def now(cls, tz=None):
        return cls.fixed_time


@pytest.fixture
def hall(tmp_path, monkeypatch):
    started_hall = Hall(tmp_path, monkeypatch).start()
    yield started_hall
    started_hall.room.close()


@pytest.mark.requirement("I-15")
def test_enrolment_by_request_reply_and_two_persons(hall):
    menu = hall.menu()
    assert "This machine is not enrolled with the progressive controller yet" in menu.read_rows()
    assert "link_enrol" not in list_enabled_actions(menu.page)
    floor(hall.authority, hall.stick, "--prepare")
    assert hall.step("request")[0] == "service.done"
    secret = (hall.link.root_folder / "request.key").read_bytes()
    assert stat.S_IMODE((hall.link.root_folder / "request.key").stat().st_mode) == 0o600
    printed = hall.answers()
    notice, menu = hall.step("answer")
    assert notice == "service.done"
    lines = menu.read_rows()
    assert lines["Progressive controller"] == "10.0.0.2:8883"
    assert lines["Certificate authority digest"].split()[0] in printed
    assert lines["Key digest"] in printed
    assert hall.link.current_certificate_digest == ""  # read, not in use
    assert hall.step("enrol", second=Role.TECHNICIAN)[0] != "service.done"  # the same person twice
    assert hall.link.current_certificate_digest == ""
    assert hall.step("enrol", second=Role.MANAGER)[0] == "service.done"
    check_certificates(hall.slot, SERIAL)
    assert secret == hall.slot.key.read_bytes()
    assert not (hall.link.root_folder / "request.key").exists()
    others = [*hall.authority.iterdir(), hall.stick]
    assert not any(secret.splitlines()[1] in path.read_bytes() for path in others)  # it never left
    (record,) = hall.records("link.enrolled")
    assert record["persons"] == ["4", "5"]
    assert record["certificate"] == hall.link.current_certificate_digest
    assert [len(hall.records(f"link.{kind}")) for kind in ("requested", "answered", "refused")] == [1, 1, 0]
    hall.start()
    assert len(hall.records("link.enrolled")) == 1
    assert "Valid until" in hall.menu().read_rows()
    hall.room.close()
    with open_view(hall.folder / "state") as view:
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []


def spoil(hall, **changes):
    """Change the stick's reply without the authority's key."""
    stick = EnrolmentStick(hall.stick)
    content = stick.read()
    stick.write(content["request"], replace(stick.read_answer(), **changes))


def test_a_problem_with_a_memory_stick_is_shown_and_recorded(hall):
    assert hall.step("request")[0] == "link_other_stick"
    assert not any(hall.stick.read_bytes())  # somebody's own stick: not a byte of it is changed
    hall.stick.unlink()
    assert hall.step("request")[0] == "link_no_stick"
    hall.stick.write_bytes(bytes(1 << 16))
    floor(hall.authority, hall.stick, "--prepare")
    assert hall.step("answer")[0] == "link_no_answer"
    torn = hall.stick.read_bytes()
    hall.stick.write_bytes(torn[:30] + bytes(1 << 16))  # pulled out while it was written
    assert hall.step("answer")[0] == "link_not_whole"
    assert hall.step("request")[0] == "service.done"  # the machine writes it anew
    hall.stick.write_bytes(torn[:30])
    assert "incomplete" in floor(hall.authority, hall.stick, "--key", "0", code=1)
    wrong = ["link_other_stick", "link_no_stick", "link_no_answer", "link_not_whole"]
    assert [record["why"] for record in hall.records("link.refused")] == wrong
    assert all(record["persons"] == ["4"] for record in hall.records("link.refused"))


DEEP = b"[" * 16000


def der(pem, old, new):
    """Return a certificate or request with some of its bytes replaced."""
    kind = pem.split("-----")[1].removeprefix("BEGIN ")
    body = b64decode("".join(pem.split("-----")[2].split()))
    assert old in body
    return f"-----BEGIN {kind}-----\n{encodebytes(body.replace(old, new, 1)).decode()}-----END {kind}-----\n"


VERSION_4 = (b"\xa0\x03\x02\x01\x02", b"\xa0\x03\x02\x01\x03")
UNKNOWN_KEY = (b"\x30\x05\x06\x03\x2b\x65\x70\x03\x21", b"\x30\x05\x06\x03\x2b\x65\x7f\x03\x21")


def test_no_content_of_a_memory_stick_stops_the_machine(hall):
    hall.read()
    key, request, good = (
        hall.key(),
        EnrolmentStick(hall.stick).read()["request"],
        EnrolmentStick(hall.stick).read_answer(),
    )
    for change in (VERSION_4, UNKNOWN_KEY):
        EnrolmentStick(hall.stick).write(request, replace(good, certificate=der(good.certificate, *change)))
        assert hall.step("answer")[0] == "link_not_whole"
    other = hall.folder / "second"
    make_authority(other, NOW)
    behind = (other / "authority.crt").read_text()
    seconds = [
        {name: text} for name in ("certificate", "authority")
        for text in (getattr(good, name) + behind, behind + getattr(good, name), getattr(good, name) + " ")
    ]  # fmt: skip
    for changes in seconds:  # signed as one answer, so that one of its certificates would not be compared
        EnrolmentStick(hall.stick).write(request, replace(good, **changes).with_signature(hall.signer()))
        assert hall.step("answer")[0] == "link_not_whole", changes
    mark = hall.stick.read_bytes().partition(b"{")[0]
    hall.stick.write_bytes(mark + DEEP)
    assert hall.step("answer")[0] == "link_not_whole"
    assert [record["why"] for record in hall.records("link.refused")] == ["link_not_whole"] * (
        3 + len(seconds)
    )
    assert "incomplete" in floor(hall.authority, hall.stick, "--key", key, code=1)
    assert hall.step("request")[0] == "service.done"  # the machine writes it anew
    EnrolmentStick(hall.stick).write(der(request, *UNKNOWN_KEY))
    assert "the request of the machine on the stick cannot be read" in floor(
        hall.authority, hall.stick, "--key", key, code=1
    )


@pytest.mark.parametrize(
    "host", ["a\x7fb", 'a"b', "a b", "", "-a", "a\n", "\ud800", "fe80::1%a\x7f", "x" * 64]
)
def test_only_a_host_name_or_an_address_is_accepted(hall, host):
    hall.read()
    with pytest.raises(OperatorError, match="neither a host name nor an address"):
        answer_request(
            hall.authority,
            create_request(hall.link.read_request_key(), SERIAL),
            hall.key(),
            NOW,
            (host, 8883),
        )
    spoil(hall, host=host)
    notice, menu = hall.step("answer")
    assert notice == "link_no_host"
    assert translate_text(menu.page.notice, "en").isprintable()
    with pytest.raises(ValueError, match="neither a host name nor an address"):
        ProgressiveLinkTable(**hall.link.build_cabinet_table(host, 8883))


@pytest.mark.parametrize("host", ["h", "10.0.0.2", "broker.floor.example", "::1", "fe80::1%eth0", "b_1"])
def test_names_and_addresses_are_hosts(tmp_path, host):
    assert (
        ProgressiveLinkTable(
            **LinkCertificateFolder.for_state_folder(tmp_path).build_cabinet_table(host, 8883)
        ).host
        == host
    )


def test_damaged_answer_does_not_prevent_the_start_and_is_reported_with_its_file(hall):
    hall.read()
    assert hall.step("enrol", second=Role.MANAGER)[0] == "service.done"
    path = hall.link.root_folder / hall.link.current_certificate_digest / "answer.json"
    reply_bytes = path.read_bytes()
    for offset, bit in (
        (30, 0x80),
        (0, 0x01),
        (reply_bytes.index(b"10.0"), 0x01),
    ):  # no text, no JSON, another answer
        path.write_bytes(
            reply_bytes[:offset] + bytes([reply_bytes[offset] ^ bit]) + reply_bytes[offset + 1 :]
        )
        hall.start()
        refusal = hall.records("link.refused")[-1]
        assert (refusal["step"], refusal["why"]) == ("start", "link_file_damaged")
        assert refusal["values"] == {"file": str(path)}
        assert any(str(path) in line and "damaged" in line for line in hall.menu().read_rows())
    assert len(hall.records("link.enrolled")) == 1
    revoke_certificate(hall.authority, SERIAL, NOW)
    hall.read()
    assert hall.key()  # the key of the request is shown beside the fault
    assert hall.step("enrol", second=Role.MANAGER)[0] == "service.done"
    hall.start()
    assert len(hall.records("link.refused")) == 3
    check_certificates(hall.slot, SERIAL)


def test_a_damaged_copy_of_the_reply_is_rewritten(hall):
    hall.read()
    answer = EnrolmentStick(hall.stick).read_answer()
    path = hall.link.root_folder / hall.link.store_answer(answer) / "answer.json"
    path.write_bytes(b"\xff")
    hall.link.activate_certificate(hall.link.store_answer(answer))
    assert hall.link.read_certificate_details() == answer.read_certificate_details()


@pytest.mark.parametrize("change", [VERSION_4, UNKNOWN_KEY])
def test_local_certificates_of_no_known_kind_are_an_operators_fault(hall, change):
    hall.read()
    hall.link.activate_certificate(hall.link.store_answer(EnrolmentStick(hall.stick).read_answer()))
    hall.slot.authority.write_text(der(hall.slot.authority.read_text(), *change))
    with pytest.raises(OperatorError, match=r"authority\.crt"):
        check_certificates(hall.slot, SERIAL)


def test_a_failing_memory_stick_is_reported_with_a_remedy(tmp_path):
    def fails(stick, doing):
        with pytest.raises(EnrolmentError) as failed:
            doing(stick)
        return failed.value.code

    small = tmp_path / "small"
    small.write_bytes(bytes(100))
    assert (
        fails(EnrolmentStick(Path("/proc/self/mem")), EnrolmentStick.read) == "link_stick_lost"
    )  # EIO, as of one pulled out
    assert (
        fails(EnrolmentStick(Path("/sys/kernel/uevent_seqnum")), EnrolmentStick.write) == "link_stick_locked"
    )
    assert fails(EnrolmentStick(Path("/dev/full")), EnrolmentStick.write) == "link_stick_full"
    assert fails(EnrolmentStick(small / "below"), EnrolmentStick.read) == "link_no_stick"
    assert fails(EnrolmentStick(tmp_path), EnrolmentStick.read) == "link_stick_lost"


def test_a_stalled_memory_stick_is_reported_as_lost_and_blocks_nothing(tmp_path, monkeypatch):
    """The device never replies; each step is refused within the limit, and none is started while another hangs."""
    monkeypatch.setattr("egm.progressive.enrolment_data._STICK_SECONDS_MAX", 0.2)
    silent = tmp_path / "silent"
    os.mkfifo(silent)
    stick = EnrolmentStick(silent)
    for _ in range(3):
        began = time.monotonic()
        with pytest.raises(EnrolmentError, match="link_stick_lost"):
            stick.read_answer()
        assert time.monotonic() - began < 60
    assert sum(thread.name == f"stick {silent}" for thread in threading.enumerate()) == 1
    os.close(os.open(silent, os.O_WRONLY))  # it was pulled out, so that the read ends
    for thread in threading.enumerate():
        if thread.name == f"stick {silent}":
            thread.join()
    monkeypatch.setattr(
        "egm.progressive.enrolment_data._STICK_SECONDS_MAX", 60
    )  # a busy disk is no stalled stick
    silent.unlink()
    silent.write_bytes(b"")
    EnrolmentStick(silent).write("")
    assert EnrolmentStick(silent).read() == {"request": "", "answer": None}


@pytest.mark.requirement("I-15")
def test_only_a_reply_to_this_machines_key_is_accepted(hall):
    other = hall.folder / "other"
    make_authority(other, NOW)
    make_certificate(other, SERIAL, NOW)
    floor(hall.authority, hall.stick, "--prepare")
    hall.step("request")
    output = floor(hall.authority, hall.stick, "--key", "0123-4567", code=1)
    assert "not 0123-4567" in output  # another machine's stick in between
    hall.answers()
    stick_bytes = hall.stick.read_bytes()
    spoil(hall, host="10.6.6.6")
    assert hall.step("answer")[0] == "link_not_signed"
    spoil(hall, authority=(other / "authority.crt").read_text())
    assert hall.step("answer")[0] == "link_not_signed"
    hall.stick.write_bytes(stick_bytes)
    (hall.link.root_folder / "request.key").write_bytes(b"torn")
    assert hall.step("answer")[0] == "link_other_key"
    assert hall.step("request")[0] == "service.done"
    hall.answers(code=1)  # one certificate for each machine: the first is revoked before the next is issued
    assert hall.link.current_certificate_digest == ""


def test_a_certificate_of_another_machine_or_controller_is_refused(hall):
    floor(hall.authority, hall.stick, "--prepare")
    stick, link = EnrolmentStick(hall.stick), hall.link
    stick.write_request(create_request(link.get_or_create_request_key(), "OTHER-9"))
    hall.answers()
    assert hall.step("answer")[0] == "link_other_machine"
    hall.step("request")
    floor(hall.authority, hall.stick, "--key", hall.key(), "--host", "10.9.9.9")
    assert hall.step("answer")[0] == "link_other_broker"
    (_, last) = hall.records("link.refused")
    assert last["values"] == {"broker": "10.9.9.9:8883", "file": "10.0.0.2:8883"}


@pytest.mark.parametrize(("year", "code"), [(1970, "link_not_yet"), (2031, "link_expired")])
def test_a_clock_that_is_wrong_is_named_as_the_reason(tmp_path, monkeypatch, year, code):
    hall = Hall(tmp_path, monkeypatch)
    hall.wall = datetime(year, 1, 1, tzinfo=UTC)
    hall.start()
    floor(hall.authority, hall.stick, "--prepare")
    hall.step("request")
    hall.answers()
    assert hall.step("answer")[0] == code
    words = hall.hands.page.notice
    for language in ("en", "fr"):
        assert f"{year}-01-01" in translate_text(words, language)
    hall.room.close()


def test_a_different_certificate_authority_is_marked(hall):
    hall.read().step("enrol", second=Role.MANAGER)
    hall.authority = hall.folder / "moved"
    make_authority(hall.authority, NOW)
    menu = hall.read().menu()
    assert any(line.startswith("This authority is not the one in use") for line in menu.read_rows())
    first = hall.link.current_certificate_digest
    assert hall.step("enrol", second=Role.MANAGER)[0] == "service.done"
    assert hall.link.current_certificate_digest != first
    check_certificates(hall.slot, SERIAL)


# ---------------------------------------------------------------------------------------------- power cuts
_WRITES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink"}


def enrol_until(state, stick, write):
    """Enrol in a process with the stick's answer; cut the power before this write, or never if it is None."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    writes_left = iter(range(write))

    def hook(event, details):
        writes = event in _WRITES or (event == "open" and details[2] & (os.O_WRONLY | os.O_RDWR))
        if writes and "/link/" in str(details[0]) and next(writes_left, None) is None:
            os._exit(9)

    try:
        rig, _ = on(state, stick)
        sys.addaudithook(hook)
        for step in ("answer", "enrol"):
            perform_enrolment_step(
                rig.machine, Event(EventType.ENROL_LINK, EnrolmentForm(step=step, persons=("4", "5")))
            )
        os._exit(0)
    finally:
        os._exit(1)


def on(state, stick):
    link = LinkCertificateFolder.for_state_folder(state)
    rig = MachineRig(state).boot()
    reconcile_certificate_at_start(
        rig.machine, link, EnrolmentStick(stick), ProgressiveLinkTable(**link.build_cabinet_table(*BROKER))
    )
    return rig, link


@pytest.mark.not_audited
@pytest.mark.parametrize("stride", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_a_power_cut_before_any_write_leaves_the_old_certificate_or_the_new(hall, stride):
    hall.read().step("enrol", second=Role.MANAGER)
    old, secret = hall.link.current_certificate_digest, hall.slot.key.read_bytes()
    revoke_certificate(hall.authority, SERIAL, NOW)
    hall.read()
    key = (hall.link.root_folder / "request.key").read_bytes()
    assert key != secret
    hall.room.close()
    found = []
    for write in count(step=stride):
        state = hall.folder / f"cut-{write}"
        shutil.copytree(hall.folder / "state", state, symlinks=True)
        ended = enrol_until(state, hall.stick, write)
        assert ended in {0, 9}
        rig, link = on(state, hall.stick)
        slot = ProgressiveLinkTable(**link.build_cabinet_table(*BROKER))
        check_certificates(slot, SERIAL)  # key, certificate and authority match
        assert slot.key.read_bytes() == (secret if link.current_certificate_digest == old else key)
        assert rig.machine.memory.get(ProgressiveKey.LINK_CERTIFICATE) == {
            "certificate": link.current_certificate_digest
        }
        assert (
            link.current_certificate_digest != old or (link.root_folder / "request.key").read_bytes() == key
        )  # still answered
        rig.close()
        found.append(link.current_certificate_digest == old)
        if ended == 0:
            break
    assert len(found) >= 11 // stride
    assert (found[0], found[-1]) == (True, False)
    assert found == sorted(found, reverse=True)  # the new one remains in use


def test_a_reply_accepted_before_the_first_start_is_recorded_by_it(hall):
    hall.read()
    hall.link.activate_certificate(hall.link.store_answer(EnrolmentStick(hall.stick).read_answer()))
    hall.start()
    assert [record["certificate"] for record in hall.records("link.found")] == [
        hall.link.current_certificate_digest
    ]
    hall.start()
    assert len(hall.records("link.found")) == 1


def test_the_machine_does_not_change_files_supplied_by_the_builder(hall):
    hall.slot = hall.slot.model_copy(update={"key": hall.folder / "elsewhere.key"})
    hall.start()
    assert list_enabled_actions(hall.menu().page) == ["back"]
    hall.slot = None
    hall.start()
    assert "The cabinet file configures no link to a progressive controller" in hall.menu().read_rows()
