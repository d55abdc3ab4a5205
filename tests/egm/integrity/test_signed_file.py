"""Signed cabinet files: a changed file stops the machine until it is signed, and the journal records who signed."""

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
from egm.integrity.signed_file import SIGNATURE_FILE_NAME, CabinetFileSignature, compute_cabinet_file_digest
from egm.kernel.events import EventType, State
from egm.kernel.logs import Log
from egm.people import Person, Role, Roster
from egm.testing.clearing import clear_with_decisions
from egm.testing.machine import StoppedClock
from egm.testing.service_menu import MenuUser, build_pin, list_enabled_actions
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
    """The state folder and cabinet file of a machine that a test can start repeatedly."""

    def __init__(self, folder: Path, monkeypatch) -> None:
        self.folder, self.file = StateFolder(folder / "state"), folder / "cabinet.toml"
        self.folder.create_private_folders()
        self.file.write_text(TEXT)
        self._monkeypatch = monkeypatch
        roster = Roster.load(self.folder.roster_file)
        for number, role in (("1", Role.MANAGER), ("2", Role.SUPERVISOR), ("3", Role.ATTENDANT)):
            roster = roster.enrol_person(
                Person(number, role.value, role), build_pin(number), changed_by="", changed_at=CLOCK.now()
            )

    def start(self, action=lambda process: None):
        """Start the machine, run ``action`` on it and stop it; return its active faults and its state."""
        result = {}

        async def work(process):
            action(process)
            result.update(faults=set(process._first_machine.active_faults), state=process._first_engine.state)

        self._monkeypatch.setattr(MachineProcess, "_run_until_stopped", work)
        asyncio.run(MachineProcess(self.folder, load_cabinet(self.file), CLOCK).run())
        return result

    def change(self) -> str:
        """Change the file as an editor does; return its new digest."""
        self.file.write_text(self.file.read_text().replace("Chez Lise", "Chez Luc"))
        return compute_cabinet_file_digest(self.file.read_text())

    def sign(self, *numbers, code=0):
        """Sign the file at a terminal; return the output."""
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
        result = CliRunner().invoke(main, arguments, input="".join(f"{build_pin(n)}\n" for n in numbers))
        assert result.exit_code == code, result.output
        return result.output

    def read_signatures(self):
        """Return the signatures in the journal; the software log must show the same entries."""
        with Journal.open(self.folder.root, now=CLOCK.now) as journal:
            entries = list(journal.entries("cabinet.signed"))
            log = FEATURES.entry_declarations.read_log(journal, Log.SOFTWARE, len(entries))
            assert [entry.sequence for entry in log] == [entry.sequence for entry in reversed(entries)]
            return [(dict(entry.record), entry.state) for entry in entries]

    def audit(self):
        """Export the journal and verify it."""
        export_file = self.folder.root.parent / "audit.jsonl"
        for arguments in (["export", export_file, "--state", self.folder.root], ["verify", export_file]):
            result = CliRunner().invoke(main, ["audit", *map(str, arguments)])
            assert result.exit_code == 0, result.output


@pytest.fixture
def cabinet(tmp_path, monkeypatch):
    return Cabinet(tmp_path, monkeypatch)


def test_a_cabinet_file_may_change_while_none_was_ever_signed(cabinet):
    assert cabinet.start()["faults"] == set()
    cabinet.change()
    assert cabinet.start()["faults"] == set()
    assert cabinet.read_signatures() == []


@pytest.mark.requirement("A-22", "E-11")
def test_a_changed_cabinet_file_stops_the_machine_until_it_is_restored_or_signed(cabinet):
    cabinet.sign("1")
    assert cabinet.start()["faults"] == set()
    before = compute_cabinet_file_digest(TEXT)
    after = cabinet.change()
    result = cabinet.start()
    assert (result["faults"], result["state"]) == ({"cabinet_file_changed"}, State.TILT)
    cabinet.file.write_text(TEXT)
    assert cabinet.start()["faults"] == set()
    cabinet.change()
    cabinet.sign("2")
    assert cabinet.start()["faults"] == set()
    assert [
        (record["persons"], record["before"], record["digest"]) for record, _ in cabinet.read_signatures()
    ] == [
        (["1"], "", before),
        (["2"], before, after),
    ]
    assert cabinet.read_signatures()[0][0]["text"] == TEXT
    assert not (cabinet.folder.root / SIGNATURE_FILE_NAME).exists()
    cabinet.audit()
    result = CliRunner().invoke(main, ["cabinet", "signed", "--file", "--state", str(cabinet.folder.root)])
    assert result.exit_code == 0, result.exception
    assert compute_cabinet_file_digest(result.output) == after


@pytest.mark.requirement("A-22", "E-11")
def test_a_changed_cabinet_file_is_signed_at_the_service_menu_but_not_by_an_attendant(cabinet):
    cabinet.sign("1")
    cabinet.start()
    cabinet.change()

    def accept(process):
        machine = process._first_machine
        roster = machine.component(Roster)
        menu = MenuUser(SimpleNamespace(machine=machine, engine=process._first_engine))
        machine.install(roster)
        process._first_engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
        menu.enter("3").enter(build_pin("3"))
        assert "form:file_signed" not in menu.collect_all_actions()  # an attendant may not sign
        menu.home().touch("leave").open().enter("2").enter(build_pin("2"))
        menu.touch("form:file_signed")
        assert [row.icon for row in menu.page.tables[-1].rows] == ["good", "good"]
        menu.fill_open_form("the site has a new name")
        assert "cabinet_file_changed" not in machine.active_faults
        assert "back" in list_enabled_actions(menu.page)

    assert cabinet.start(accept)["faults"] == set()
    assert cabinet.read_signatures()[-1][0]["persons"] == ["2"]
    assert cabinet.start()["faults"] == set()
    cabinet.audit()


def insert_bill(cabinet):
    """Record five dollars of credit while the machine is off."""
    with Journal.open(cabinet.folder.root, now=CLOCK.now) as journal:
        journal.append(
            Transaction(
                id="bill-1",
                kind="bill.in",
                transfers=(Transfer("world:bill", "credit:1:cashable", 500, {"bill_cents": "500"}),),
            )
        )


@pytest.mark.requirement("A-22")
def test_a_changed_cabinet_file_cannot_be_signed_at_the_machine_while_it_has_credits(cabinet):
    cabinet.sign("1")
    cabinet.start()
    insert_bill(cabinet)
    cabinet.change()

    def refuse(process):
        machine = process._first_machine
        machine.install(machine.component(Roster))
        menu = MenuUser(SimpleNamespace(machine=machine, engine=process._first_engine))
        process._first_engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
        menu.enter("2").enter(build_pin("2"))
        process._first_engine.handle(
            EventType.CABINET_FILE_SIGNED, person="2", persons=("2",), reason="a new name"
        )
        assert "cabinet_file_changed" in machine.active_faults

    assert cabinet.start(refuse)["faults"] == {"cabinet_file_changed"}
    assert len(cabinet.read_signatures()) == 1


@pytest.mark.requirement("A-22")
def test_a_signature_given_at_a_terminal_takes_no_effect_while_the_machine_has_credits(cabinet):
    cabinet.sign("1")
    cabinet.start()
    insert_bill(cabinet)
    cabinet.change()
    cabinet.sign("2")
    assert cabinet.start()["faults"] == {"cabinet_file_changed"}
    assert len(cabinet.read_signatures()) == 1
    cabinet.file.write_text(TEXT)
    assert cabinet.start()["faults"] == set()


@pytest.mark.requirement("A-22", "E-11")
def test_forged_unauthorised_and_malformed_signatures_are_ignored(cabinet):
    cabinet.sign("1")
    cabinet.start()
    digest = cabinet.change()
    assert "may not configure" in cabinet.sign("3", code=1)
    path = cabinet.folder.root / SIGNATURE_FILE_NAME
    signed_at = "2026-01-01T00:00:00+00:00"
    forged = {"digest": digest, "persons": ["1"], "reason": "mine", "at": signed_at, "seal": "0" * 64}
    path.write_text(json.dumps(forged))
    assert cabinet.start()["faults"] == {"cabinet_file_changed"}
    CabinetFileSignature(digest, ("3",), "mine", signed_at).write(path)
    assert cabinet.start()["faults"] == {"cabinet_file_changed"}
    for reason, when in ((" ", signed_at), ("mine", "today")):
        CabinetFileSignature(digest, ("1",), reason, when).write(path)
        assert cabinet.start()["faults"] == {"cabinet_file_changed"}
    path.write_text("{")
    assert cabinet.start()["faults"] == {"cabinet_file_changed"}
    assert len(cabinet.read_signatures()) == 1


@pytest.mark.requirement("A-22")
def test_one_signature_is_not_enough_where_the_profile_requires_two(cabinet):
    """The signature is authentic and the person may sign; only the second person is missing."""
    cabinet.file.write_text(TEXT.replace("generic", "quebec-casino"))
    cabinet.sign("1", "2")
    assert cabinet.start()["faults"] == set()
    digest, signed_at = cabinet.change(), "2026-01-01T00:00:00+00:00"
    for persons, faults in ((("1",), {"cabinet_file_changed"}), (("1", "2"), set())):
        CabinetFileSignature(digest, persons, "the site", signed_at).write(
            cabinet.folder.root / SIGNATURE_FILE_NAME
        )
        assert cabinet.start()["faults"] == faults
    assert [record["persons"] for record, _ in cabinet.read_signatures()] == [["1", "2"], ["1", "2"]]


@pytest.mark.requirement("A-22", "E-11")
def test_a_signed_cabinet_file_can_be_restored_after_an_authorised_memory_clear(cabinet):
    """The new journal has no signature entry, so each clear carries the signed text over."""
    cabinet.sign("1")
    cabinet.start()
    for _ in range(2):
        clear_with_decisions(cabinet.folder.root)
        assert cabinet.start()["faults"] == set()
        cabinet.audit()
        printed = CliRunner().invoke(
            main, ["cabinet", "signed", "--file", "--state", str(cabinet.folder.root)]
        )
        assert (printed.exit_code, printed.output) == (0, TEXT)
    cabinet.file.unlink()
    step = create_restore_step(cabinet.folder, cabinet.file, CLOCK.now)
    assert step is not None
    assert step.can_be_signed(CabinetFileDraft(preset_tables={}))
    assert step.last_signed_text == TEXT
