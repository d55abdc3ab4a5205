"""``egm backup``: a machine's file, staff and certificates are restored; journals and foreign backups are refused."""

import asyncio
import json
import shutil

import pytest
from click.testing import CliRunner
from rigs.moments import NOW

from egm.app.process import MachineProcess
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.people import Person, Role, Roster
from egm.testing.machine import StoppedClock
from egm.testing.service_menu import build_pin
from meters import open_view
from tools.cli import main

TEXT = """
[machine]
serial = "{serial}"
operator_number = "7"
profile = "generic"
site = "Chez Lise"

[[games]]
game = "maple-classic"

[progressive_link]
authority = "link/authority.pem"
certificate = "link/machine.crt"
key = "link/machine.key"
"""


class Cabinet:
    """The folders of a machine; ``start`` runs the machine once."""

    def __init__(self, folder, monkeypatch, serial="B-1"):
        self.folder, self.file = StateFolder(folder / "state"), folder / "etc" / "cabinet.toml"
        self.folder.create_private_folders()
        (folder / "etc" / "link").mkdir(parents=True)
        self.file.write_text(TEXT.format(serial=serial))
        for name in ("authority.pem", "machine.crt", "machine.key"):
            (folder / "etc" / "link" / name).write_text(f"{name} of {serial}")
        roster = Roster.load(self.folder.roster_file)
        for number, role in (("1", Role.MANAGER), ("2", Role.TECHNICIAN), ("3", Role.ATTENDANT)):
            roster = roster.enrol_person(
                Person(number, role.value, role), build_pin(number), changed_by="", changed_at=NOW
            )
        self._monkeypatch = monkeypatch

    def start(self):
        found = {}

        async def work(process):
            found.update(process._first_machine.active_faults)

        self._monkeypatch.setattr(MachineProcess, "_run_until_stopped", work)
        self._monkeypatch.setattr(MachineProcess, "_create_machines_and_positions", _without_link)
        asyncio.run(MachineProcess(self.folder, load_cabinet(self.file), StoppedClock()).run())
        return set(found)

    def egm(self, *arguments, pins=(), code=0):
        where = ("--state", str(self.folder.root), "--cabinet", str(self.file))
        typed = "".join(f"{build_pin(number)}\n" for number in pins)
        result = CliRunner().invoke(main, ["backup", *map(str, arguments), *where], input=typed)
        assert result.exit_code == code, (result.output, result.exception)
        return result.output

    def create(self, backup_file):
        return self.egm("create", backup_file, "--person", "1", pins=("1",))

    def restore(self, file, *, code=0, pins=("1", "2")):
        arguments = ("restore", file, "--person", "1", "--second", "2", "--reason", "the disk was lost")
        return self.egm(*arguments, pins=pins, code=code)

    def signed(self):
        with open_view(self.folder.root) as view:
            return [
                (entry.record["persons"], entry.record["reason"]) for entry in view.entries("cabinet.signed")
            ]


_assemble = MachineProcess._create_machines_and_positions


def _without_link(process, *arguments):
    """Remove the progressive link, which needs a broker and is tested elsewhere."""
    process._cabinet_file = process._cabinet_file.model_copy(update={"progressive_link": None})
    _assemble(process, *arguments)


@pytest.fixture
def cabinet(tmp_path, monkeypatch):
    started = Cabinet(tmp_path / "first", monkeypatch)
    started.start()
    return started


@pytest.mark.requirement("A-22")
def test_two_persons_restore_a_machines_file_staff_and_certificates(cabinet, tmp_path):
    backup_file = tmp_path / "b.json"
    assert "cabinet.toml, people.json, authority, certificate, key of machine B-1" in cabinet.create(
        backup_file
    )
    assert backup_file.stat().st_mode & 0o077 == 0
    text = cabinet.file.read_text()
    cabinet.file.unlink()
    (cabinet.file.parent / "link/machine.key").unlink()
    output = cabinet.restore(backup_file)
    assert "signed by 1 and 2" in output
    assert "staff: restored" in output
    assert cabinet.file.read_text() == text
    assert (cabinet.file.parent / "link/machine.key").read_text() == "machine.key of B-1"
    assert cabinet.start() == set()
    assert cabinet.signed() == [(["1", "2"], "the disk was lost")]


@pytest.mark.requirement("A-22")
@pytest.mark.parametrize("damage", [None, b"{"])
def test_a_backup_contains_the_second_copy_of_the_staff_if_the_first_is_lost_or_damaged(
    cabinet, tmp_path, monkeypatch, damage
):
    backup_file = tmp_path / "b.json"
    if damage is None:
        cabinet.folder.roster_file.unlink()
    else:
        cabinet.folder.roster_file.write_bytes(damage)
    cabinet.create(backup_file)
    board = Cabinet(tmp_path / "second", monkeypatch)
    board.folder.roster_file.unlink()
    assert "staff: restored" in board.restore(backup_file)
    assert Roster.load(board.folder.roster_file).authenticate("2", build_pin("2")) is not None


def test_a_backup_is_restored_into_a_new_folder_by_the_persons_it_contains(cabinet, tmp_path, monkeypatch):
    backup_file = tmp_path / "b.json"
    cabinet.create(backup_file)
    board = Cabinet(tmp_path / "second", monkeypatch)
    board.folder.roster_file.unlink()
    board.restore(backup_file)
    assert board.start() == set()
    assert board.signed() == [(["1", "2"], "the disk was lost")]
    assert Roster.load(board.folder.roster_file).authenticate("2", build_pin("2")) is not None


@pytest.mark.requirement("A-23")
def test_a_journal_another_machines_backup_and_an_older_memory_are_refused(cabinet, tmp_path, monkeypatch):
    backup_file = tmp_path / "b.json"
    older = shutil.copytree(cabinet.folder.root, tmp_path / "older")
    cabinet.create(backup_file)
    other = Cabinet(tmp_path / "other", monkeypatch, serial="B-2")
    other.start()
    assert "the backup belongs to machine B-1, this memory to B-2" in other.restore(backup_file, code=1)
    journal = cabinet.folder.root / "journal.sqlite"
    assert "a journal, its export or its archive is never restored" in cabinet.restore(journal, code=1)
    export = tmp_path / "audit.jsonl"
    result = CliRunner().invoke(main, ["audit", "export", str(export), "--state", str(cabinet.folder.root)])
    assert result.exit_code == 0
    assert "never restored" in cabinet.restore(export, code=1)
    report = json.loads(backup_file.read_text())
    for change in ({"machine": "B-2"}, {"files": {**report["files"], "journal.sqlite": ""}}):
        (tmp_path / "forged.json").write_text(json.dumps({**report, **change}))
        assert "signature does not match its content, so the backup was changed" in cabinet.restore(
            tmp_path / "forged.json", code=1
        )
    # the memory of an earlier day in the place of the one that played on
    cabinet.start()
    cabinet.create(backup_file)
    shutil.rmtree(cabinet.folder.root)
    shutil.copytree(older, cabinet.folder.root)
    assert "an older memory has replaced the one that went on playing" in cabinet.restore(backup_file, code=1)


def test_wrong_pins_are_refused_and_a_newer_roster_is_not_replaced(cabinet, tmp_path):
    backup_file = tmp_path / "b.json"
    cabinet.create(backup_file)
    assert "number or PIN is wrong" in cabinet.restore(backup_file, code=1, pins=("1", "1"))
    roster = Roster.load(cabinet.folder.roster_file)
    roster.enrol_person(Person("4", "new", Role.MANAGER), build_pin("4"), changed_by="1", changed_at=NOW)
    cabinet.start()
    assert "staff: left as it is" in cabinet.restore(backup_file)
    assert Roster.load(cabinet.folder.roster_file).find_enabled_person("4") is not None
    assert cabinet.start() == set()
