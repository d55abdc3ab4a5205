"""A cabinet file that persons have signed: no other is played under before persons sign that, and the journal says who."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from egm.app.features import FEATURES
from egm.app.first_start.draft import CabinetFileDraft
from egm.app.first_start.signing import create_restore_step
from egm.app.process import MachineProcess
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.integrity.signed_file import SIGNATURE_FILE_NAME, CabinetFileSignature, compute_digest
from egm.kernel.events import EventType, State
from egm.kernel.logs import Log
from egm.people import Person, Role, Roster
from egm.testing.clearing import clear_with_decisions
from egm.testing.machine import StoppedClock
from egm.testing.service_menu import Menu, list_enabled_actions, pin_of
from meters import Journal, Transaction, Transfer
from tools.cli import main

CLOCK = StoppedClock()
TEXT = """
[machine]
serial = "SIGNED-1"
operator_number = "7"
profile = "generic"
site = "Chez Lise"

[[games]]
game = "maple-classic"
"""


class Cabinet:
    """A machine's state folder and its cabinet file, started as often as a test likes."""

    def __init__(self, folder: Path, monkeypatch) -> None:
        self.folder, self.file = StateFolder(folder / "state"), folder / "cabinet.toml"
        self.folder.prepare()
        self.file.write_text(TEXT)
        self._monkeypatch = monkeypatch
        roster = Roster.load(self.folder.staff)
        for number, role in (("1", Role.MANAGER), ("2", Role.SUPERVISOR), ("3", Role.ATTENDANT)):
            roster = roster.enrol_person(
                Person(number, role.value, role), pin_of(number), by="", at=CLOCK.now()
            )

    def start(self, doing=lambda process: None):
        """Start the machine, let ``doing`` happen once it is up, and stop it: its faults and its state."""
        found = {}

        async def work(process):
            doing(process)
            found.update(faults=set(process._machine.active_faults), state=process._engine.state)

        self._monkeypatch.setattr(MachineProcess, "_run_until_stopped", work)
        asyncio.run(MachineProcess(self.folder, load_cabinet(self.file), CLOCK).run())
        return found

    def change(self) -> str:
        """Change the file by an editor."""
        self.file.write_text(self.file.read_text().replace("Chez Lise", "Chez Luc"))
        return compute_digest(self.file.read_text())

    def sign(self, *numbers, code=0):
        """Sign it at a terminal."""
        arguments = [
            "cabinet",
            "sign",
            str(self.file),
            "--state",
            str(self.folder.root),
            "--reason",
            "the site",
        ]
        for number in numbers:
            arguments += ["--person", number]
        said = CliRunner().invoke(main, arguments, input="".join(f"{pin_of(n)}\n" for n in numbers))
        assert said.exit_code == code, said.output
        return said.output

    def signed(self):
        """What the journal says of the files signed; the log of the software shows the same entries."""
        with Journal.open(self.folder.root, now=CLOCK.now) as journal:
            entries = list(journal.entries("cabinet.signed"))
            log = FEATURES.entry_declarations.read_log(journal, Log.SOFTWARE, len(entries))
            assert [entry.sequence for entry in log] == [entry.sequence for entry in reversed(entries)]
            return [(dict(entry.record), entry.state) for entry in entries]

    def audited(self):
        """What the audit says of an export."""
        out = self.folder.root.parent / "audit.jsonl"
        for arguments in (["export", out, "--state", self.folder.root], ["verify", out]):
            said = CliRunner().invoke(main, ["audit", *map(str, arguments)])
            assert said.exit_code == 0, said.output


@pytest.fixture
def cabinet(tmp_path, monkeypatch):
    return Cabinet(tmp_path, monkeypatch)


def test_a_machine_nobody_ever_signed_for_is_held_to_no_file(cabinet):
    assert cabinet.start()["faults"] == set()
    cabinet.change()
    assert cabinet.start()["faults"] == set()
    assert cabinet.signed() == []


@pytest.mark.requirement("A-22", "E-11")
def test_a_changed_file_stops_the_machine_until_it_is_put_back_or_signed(cabinet):
    cabinet.sign("1")
    assert cabinet.start()["faults"] == set()
    before = compute_digest(TEXT)
    after = cabinet.change()
    found = cabinet.start()
    assert (found["faults"], found["state"]) == ({"cabinet_file_changed"}, State.TILT)
    cabinet.file.write_text(TEXT)
    assert cabinet.start()["faults"] == set()
    cabinet.change()
    cabinet.sign("2")
    assert cabinet.start()["faults"] == set()
    assert [(told["persons"], told["before"], told["digest"]) for told, _ in cabinet.signed()] == [
        (["1"], "", before),
        (["2"], before, after),
    ]
    assert cabinet.signed()[0][0]["text"] == TEXT
    assert not (cabinet.folder.root / SIGNATURE_FILE_NAME).exists()
    cabinet.audited()
    said = CliRunner().invoke(main, ["cabinet", "signed", "--file", "--state", str(cabinet.folder.root)])
    assert said.exit_code == 0, said.exception
    assert compute_digest(said.output) == after


@pytest.mark.requirement("A-22", "E-11")
def test_persons_sign_the_changed_file_at_the_machine(cabinet):
    cabinet.sign("1")
    cabinet.start()
    cabinet.change()

    def accept(process):
        machine = process._machine
        roster = machine.component(Roster)
        menu = Menu(SimpleNamespace(machine=machine, engine=process._engine))
        machine.install(roster)
        process._engine.handle(EventType.MENU, key="operator")
        menu.enter("3").enter(pin_of("3"))
        assert "form:file_signed" not in menu.collect_all_actions()  # an attendant may not
        menu.home().touch("leave").open().enter("2").enter(pin_of("2"))
        menu.touch("form:file_signed")
        assert [row.icon for row in menu.page.tables[-1].rows] == ["good", "good"]
        menu.complete("the site has a new name")
        assert "cabinet_file_changed" not in machine.active_faults
        assert "back" in list_enabled_actions(menu.page)

    assert cabinet.start(accept)["faults"] == set()
    assert cabinet.signed()[-1][0]["persons"] == ["2"]
    assert cabinet.start()["faults"] == set()
    cabinet.audited()


def insert_bill(cabinet):
    """Five dollars of credit, recorded while the machine is off."""
    with Journal.open(cabinet.folder.root, now=CLOCK.now) as journal:
        journal.append(
            Transaction(
                id="bill-1",
                kind="bill.in",
                transfers=(Transfer("world:bill", "credit:1:cashable", 500, {"bill_cents": "500"}),),
            )
        )


@pytest.mark.requirement("A-22")
def test_a_changed_file_is_not_signed_at_the_machine_while_it_has_credits(cabinet):
    cabinet.sign("1")
    cabinet.start()
    insert_bill(cabinet)
    cabinet.change()

    def refuse(process):
        machine = process._machine
        machine.install(machine.component(Roster))
        menu = Menu(SimpleNamespace(machine=machine, engine=process._engine))
        process._engine.handle(EventType.MENU, key="operator")
        menu.enter("2").enter(pin_of("2"))
        process._engine.handle(EventType.FILE_SIGNED, person="2", persons=("2",), reason="a new name")
        assert "cabinet_file_changed" in machine.active_faults

    assert cabinet.start(refuse)["faults"] == {"cabinet_file_changed"}
    assert len(cabinet.signed()) == 1


@pytest.mark.requirement("A-22")
def test_no_other_file_is_taken_with_credits_on_the_meter(cabinet):
    cabinet.sign("1")
    cabinet.start()
    insert_bill(cabinet)
    cabinet.change()
    cabinet.sign("2")
    assert cabinet.start()["faults"] == {"cabinet_file_changed"}
    assert len(cabinet.signed()) == 1
    cabinet.file.write_text(TEXT)
    assert cabinet.start()["faults"] == set()


@pytest.mark.requirement("A-22", "E-11")
def test_a_signature_that_is_forged_or_of_somebody_who_may_not_counts_for_nothing(cabinet):
    cabinet.sign("1")
    cabinet.start()
    digest = cabinet.change()
    assert "may not configure" in cabinet.sign("3", code=1)
    path = cabinet.folder.root / SIGNATURE_FILE_NAME
    at = "2026-01-01T00:00:00+00:00"
    forged = {"digest": digest, "persons": ["1"], "reason": "mine", "at": at, "seal": "0" * 64}
    path.write_text(json.dumps(forged))
    assert cabinet.start()["faults"] == {"cabinet_file_changed"}
    CabinetFileSignature(digest, ("3",), "mine", at).write(path)
    assert cabinet.start()["faults"] == {"cabinet_file_changed"}
    for reason, when in ((" ", at), ("mine", "today")):
        CabinetFileSignature(digest, ("1",), reason, when).write(path)
        assert cabinet.start()["faults"] == {"cabinet_file_changed"}
    path.write_text("{")
    assert cabinet.start()["faults"] == {"cabinet_file_changed"}
    assert len(cabinet.signed()) == 1


@pytest.mark.requirement("A-22")
def test_one_person_does_not_sign_where_two_are_required(cabinet):
    """The signature is authentic, and the person may sign: only the second person is missing."""
    cabinet.file.write_text(TEXT.replace("generic", "quebec-casino"))
    cabinet.sign("1", "2")
    assert cabinet.start()["faults"] == set()
    digest, at = cabinet.change(), "2026-01-01T00:00:00+00:00"
    for persons, faults in ((("1",), {"cabinet_file_changed"}), (("1", "2"), set())):
        CabinetFileSignature(digest, persons, "the site", at).write(cabinet.folder.root / SIGNATURE_FILE_NAME)
        assert cabinet.start()["faults"] == faults
    assert [told["persons"] for told, _ in cabinet.signed()] == [["1", "2"], ["1", "2"]]


@pytest.mark.requirement("A-22", "E-11")
def test_a_signed_file_can_be_put_back_after_an_authorised_clear(cabinet):
    """The new journal has no entry of the signature: the clear carries the text over, also over a second one."""
    cabinet.sign("1")
    cabinet.start()
    for _ in range(2):
        clear_with_decisions(cabinet.folder.root)
        assert cabinet.start()["faults"] == set()
        cabinet.audited()
        printed = CliRunner().invoke(
            main, ["cabinet", "signed", "--file", "--state", str(cabinet.folder.root)]
        )
        assert (printed.exit_code, printed.output) == (0, TEXT)
    cabinet.file.unlink()
    step = create_restore_step(cabinet.folder, cabinet.file, CLOCK.now)
    assert step is not None
    assert step.may_sign(CabinetFileDraft(builder_tables={}))
    assert step.signed_text == TEXT
