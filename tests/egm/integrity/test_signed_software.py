"""Verification of signed software at the start, after each door closing, and on request."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

import egm.profiles
from egm.app.features import FEATURES
from egm.app.process import MachineProcess
from egm.app.view import build_snapshot
from egm.config.cabinet_file import SoftwareTable, StateFolder, load_cabinet
from egm.integrity.keys import IntegrityKey
from egm.integrity.software import (
    SoftwareReverification,
    SoftwareVerifier,
    create_reverification,
)
from egm.integrity.technician import SOFTWARE_CHECK_FAULT, SOFTWARE_DIFFERS_FAULT
from egm.kernel.events import EventType, State
from egm.kernel.logs import Log
from egm.kernel.services import MachineContext
from egm.people import Role
from egm.play.keys import PlayKey
from egm.testing.machine import MachineRig, StoppedClock
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, TEXTS_BY_LANGUAGE, MenuUser, create_roster
from egm.verify.digest import compute_digests
from egm.verify.manifest import (
    SoftwareManifest,
    create_signing_key,
    encode_signed_manifest,
    encode_unsigned_manifest,
    format_public_key,
    read_signing_key,
)
from egm.verify.own_files import find_software_scope
from egm.verify.software_files import list_software_files
from tools.cli.sheets import format_as_text

LIBRARY = Path(__file__).parents[3] / "paytables" / "library"


class Maker:
    """A manufacturer, and a cabinet with a custom game file that a test can alter."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.game = folder / "own.toml"
        self.game.write_bytes((LIBRARY / "maple-classic.toml").read_bytes())
        self.key = read_signing_key(create_signing_key(), "maker")
        default = load_cabinet()
        slot = default.games[0].model_copy(update={"game": str(self.game)})
        self.manifest = folder / "software.manifest"
        self.file = default.model_copy(update={"games": (slot,)})
        self.pin()
        self.release("1.0", "first")

    @property
    def name(self) -> str:
        return f"own{self.game}"

    def pin(self) -> None:
        software = SoftwareTable(manifest=self.manifest, key=format_public_key(self.key))
        self.file = self.file.model_copy(update={"software": software})

    def release(self, version: str, reason: str) -> None:
        manifest = SoftwareManifest(
            version=version, made_utc="2026-01-01T00:00:00+00:00", reason=reason, includes_libraries=False, includes_bytecode=False,
            files=compute_digests(list_software_files(replace(find_software_scope(self.file), includes_libraries=False, includes_bytecode=False))),
        )  # fmt: skip
        self.manifest.write_bytes(
            encode_signed_manifest(encode_unsigned_manifest(manifest), self.key, "maker")
        )

    def tamper(self) -> bytes:
        data = self.game.read_bytes()
        self.game.write_bytes(data + b"\n")
        return data


@pytest.fixture
def maker(tmp_path):
    return Maker(tmp_path)


@pytest.fixture
def start(tmp_path, maker):
    """Return a function that starts the machine as its process does; a further call restarts the machine."""
    rigs = []

    def start_machine(after_load=lambda: None, **options):
        if rigs:
            rigs[-1].close()
        rig = MachineRig(tmp_path / "state", **options)
        rigs.append(rig)
        after_load()
        handle = rig.engine.submit
        context = MachineContext(rig.engine, maker.file, StateFolder(tmp_path / "state"), rig.clock, handle)
        rig.engine.handle(EventType.MEMORY_READY)
        rig.verifier = SoftwareVerifier(context)
        rig.verifier.verify_at_start()
        rig.engine.handle(EventType.SELF_TEST_PASSED)
        rig.context = context
        return rig

    yield start_machine
    for rig in rigs:
        rig.close()


@pytest.mark.requirement("A-12")
@pytest.mark.parametrize("tampered", [True, False])
def test_the_machine_process_verifies_its_software_before_the_self_test_passes(
    tmp_path, maker, monkeypatch, tampered
):
    if tampered:
        maker.tamper()
    state = StateFolder(tmp_path / "state")
    state.create_private_folders()
    process = MachineProcess(state, maker.file.model_copy(update={"progressives": ()}), StoppedClock())
    shown = []

    async def look(_):
        player_position = process._positions[0]
        shown.append((player_position.engine.state, set(player_position.machine.active_faults)))

    monkeypatch.setattr(MachineProcess, "_run_until_stopped", look)
    asyncio.run(process.run())
    assert shown == [
        (State.TILT, {SOFTWARE_CHECK_FAULT, SOFTWARE_DIFFERS_FAULT}) if tampered else (State.IDLE, set())
    ]
    kinds = [entry.kind for entry in MachineRig(state.root).journal.entries()]
    at_start = "software.differs" if tampered else "software.verified"
    assert kinds.index(at_start) < kinds.index("self_test.passed")


def settle_faults(rig, role):
    """Record the finding of a person of this role."""
    number = STAFF_NUMBER_BY_ROLE[role]
    rig.machine.install(create_roster())
    rig.engine.handle(
        EventType.CLEAR_FAULTS_AS_TECHNICIAN,
        form="settle_faults",
        person=number,
        persons=(number,),
        finding="a wrong disk",
    )


def tilts(rig):
    return {tilt.code: (tilt.cleared_by, tilt.detail) for tilt in build_snapshot(rig.engine).tilts}


@pytest.mark.requirement("A-12", "A-14")
def test_software_as_signed_is_admitted_and_its_verification_is_recorded(start):
    rig = start()
    assert rig.state is State.IDLE
    assert rig.records("software.verified") == [{"version": "1.0", "when": "start"}]


@pytest.mark.requirement("A-09:a", "A-09:b", "A-12", "A-14")
def test_an_altered_file_is_a_tilt_that_only_a_technician_clears_after_the_file_is_restored(start, maker):
    right = maker.tamper()
    for _ in range(2):
        rig = start()
        assert rig.state is State.TILT
        assert tilts(rig) == {
            SOFTWARE_DIFFERS_FAULT: ("self", maker.name),
            SOFTWARE_CHECK_FAULT: ("technician", maker.name),
        }
        rig.engine.handle(EventType.KEY_TURNED, key="attendant")
        assert rig.state is State.TILT, "an attendant may not clear it"
    assert rig.journal.meters().get_value("verify_fail") == 2
    assert rig.records("software.differs")[-1] == {"trouble": [f"{maker.name}: altered"], "when": "start"}
    maker.game.write_bytes(right)
    rig = start()
    assert rig.state is State.TILT, "the file is restored, but no technician has settled the fault"
    assert tilts(rig) == {SOFTWARE_CHECK_FAULT: ("technician", maker.name)}
    settle_faults(rig, Role.SUPERVISOR)
    assert rig.state is State.TILT, "a supervisor may not settle it"
    settle_faults(rig, Role.TECHNICIAN)
    assert rig.state is State.IDLE
    [settled] = rig.records("fault.settled")
    assert settled["codes"] == [SOFTWARE_CHECK_FAULT]
    assert settled["person"] == STAFF_NUMBER_BY_ROLE[Role.TECHNICIAN]


@pytest.mark.requirement("G-14:b")
def test_a_missing_software_file_stops_the_machine_and_is_named(start, maker):
    maker.game.unlink()
    rig = start()
    assert rig.state is State.TILT
    assert tilts(rig) == {
        SOFTWARE_DIFFERS_FAULT: ("self", maker.name),
        SOFTWARE_CHECK_FAULT: ("technician", maker.name),
    }
    assert rig.records("software.differs") == [{"trouble": [f"{maker.name}: missing"], "when": "start"}]


@pytest.mark.requirement("A-12", "A-14")
@pytest.mark.parametrize("changed", ["own.toml", "maple.svg", "place.toml"])
def test_the_files_as_loaded_are_verified_even_if_the_signed_ones_were_put_back(start, maker, changed):
    profile_file, picture = maker.folder / "place.toml", maker.folder / "maple.svg"
    profile_file.write_bytes(Path(egm.profiles.__file__).with_name("generic.toml").read_bytes())
    picture.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>'
    )
    maker.game.write_text(maker.game.read_text() + '\n[art]\npictures = { maple = "maple.svg" }\n')
    machine = maker.file.machine.model_copy(update={"profile": str(profile_file)})
    maker.file = maker.file.model_copy(update={"machine": machine})
    maker.release("1.1", "a picture and a profile")
    file = maker.folder / changed
    signed = file.read_bytes()
    file.write_bytes(signed + b"\n")
    rig = start(lambda: file.write_bytes(signed), games=(str(maker.game),), profile=profile_file)
    assert tilts(rig)[SOFTWARE_DIFFERS_FAULT] == ("self", f"own{file}")


@pytest.mark.requirement("A-15")
def test_a_foreign_file_stops_the_machine_and_is_named(start, maker, monkeypatch):
    """The test simulates a file that was added to the program after the release was made."""
    listed = list_software_files(find_software_scope(maker.file))
    monkeypatch.setattr(
        "egm.verify.examine.list_software_files", lambda _: listed | {"egm/extra.py": maker.game}
    )
    rig = start()
    assert rig.state is State.TILT
    assert not rig.engine.accepts_event_type(EventType.PLAY)
    assert tilts(rig) == {
        SOFTWARE_DIFFERS_FAULT: ("self", "egm/extra.py"),
        SOFTWARE_CHECK_FAULT: ("technician", "egm/extra.py"),
    }
    assert rig.records("software.differs")[-1]["trouble"] == ["egm/extra.py: foreign"]


@pytest.mark.requirement("A-12", "G-11")
def test_a_technician_cannot_clear_the_fault_while_the_software_differs(start, maker):
    maker.tamper()
    rig = start()
    settle_faults(rig, Role.TECHNICIAN)
    assert set(tilts(rig)) == {SOFTWARE_DIFFERS_FAULT, SOFTWARE_CHECK_FAULT}
    assert rig.notice == "refused.technician_is_needed"


def test_an_inspector_may_request_a_software_verification(start, maker):
    rig = start()
    verification = SoftwareReverification(rig.context)
    rig.machine.install(create_roster())
    number = STAFF_NUMBER_BY_ROLE[Role.INSPECTOR]

    async def request_verification():
        work = asyncio.create_task(verification.run())
        rig.engine.handle(EventType.VERIFY_SOFTWARE, form="verify", person=number, persons=(number,))
        async with asyncio.timeout(120):
            while not rig.records("software.differs"):  # noqa: ASYNC110 (another process reads the files)
                await asyncio.sleep(0.01)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)

    maker.tamper()
    asyncio.run(request_verification())
    assert rig.records("software.check") == [{"person": number}]
    assert rig.records("software.differs")[0]["when"] == "asked"
    assert rig.state is State.TILT


@pytest.mark.requirement("J-12")
def test_the_software_page_shows_the_signer_and_the_component_digests(start):
    rig = start()
    menu = MenuUser(rig).sign_in(Role.INSPECTOR).touch("software")
    shown = format_as_text(menu.page.title.value, menu.page.tables, TEXTS_BY_LANGUAGE["en"], "USD")
    installed = rig.machine.memory.get(IntegrityKey.INSTALLED_SOFTWARE)
    assert installed["signer"] in shown
    assert installed["components"]["chance"][:32] in shown


@pytest.mark.requirement("A-14")
def test_a_file_changed_during_operation_is_found_when_a_door_closes(start, maker):
    rig = start()
    rig.insert(500)
    verification = SoftwareReverification(rig.context)

    async def door_and_check():
        work = asyncio.create_task(verification.run())
        for event in (EventType.DOOR_OPENED, EventType.DOOR_CLOSED):
            rig.engine.handle(event, door="main")
            verification.process_change(build_snapshot(rig.engine))
        assert rig.state is State.IDLE, "the verification runs in the background and does not stop play"
        async with asyncio.timeout(120):
            while not rig.records("software.differs"):  # noqa: ASYNC110 (another process reads the files)
                await asyncio.sleep(0.01)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)

    maker.tamper()
    asyncio.run(door_and_check())
    assert rig.state is State.TILT
    assert tilts(rig)[SOFTWARE_DIFFERS_FAULT] == ("self", maker.name)
    assert rig.credit_cents == 500
    [difference] = rig.records("software.differs")
    assert difference["when"] == "door_closed"


@pytest.mark.requirement("A-14")
def test_every_door_closing_starts_a_software_verification(start, monkeypatch):
    """This includes a door that closes while another one is still open."""
    rig, occasions = start(), []
    verification = SoftwareReverification(rig.context)

    async def note_occasion(_, reason):
        occasions.append(reason)

    async def close_one_after_the_other():
        work = asyncio.create_task(verification.run())
        for event, door in (
            (EventType.DOOR_OPENED, "main"),
            (EventType.DOOR_OPENED, "cash_box"),
            (EventType.DOOR_CLOSED, "main"),
            (EventType.DOOR_CLOSED, "cash_box"),
        ):
            rig.engine.handle(event, door=door)
            verification.process_change(build_snapshot(rig.engine))
            await asyncio.sleep(0.01)
            counts.append(len(occasions))
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)

    counts: list[int] = []
    monkeypatch.setattr(SoftwareVerifier, "reverify", note_occasion)
    asyncio.run(close_one_after_the_other())
    assert (counts, set(occasions)) == ([0, 0, 1, 2], {"door_closed"})


def test_a_later_difference_replaces_the_earlier_one_in_the_tilt_and_is_recorded(start, maker):
    maker.tamper()
    rig = start()
    maker.manifest.write_text("{}")
    asyncio.run(rig.verifier.reverify("command"))
    assert tilts(rig)[SOFTWARE_DIFFERS_FAULT] == ("self", "software.manifest")
    assert "must be a JSON object with the key manifest" in rig.records("software.differs")[-1]["trouble"][0]


def read_changes_in_log(rig):
    """Return the reasons of the changes in the software log, newest first."""
    log = FEATURES.entry_declarations.read_log(rig.journal, Log.SOFTWARE)
    return [entry.record["reason"] for entry in log if entry.kind == "software.changed"]


@pytest.mark.requirement("A-16")
def test_every_change_of_a_component_is_recorded_with_its_reason(start, maker):
    rig = start()
    [first] = rig.records("software.changed")
    assert first["reason"] == "first"
    assert first["version"] == ["", "1.0"]
    assert all(before == "" for before, _ in first["components"].values())
    for number in range(12):
        maker.tamper()
        maker.release(f"1.{number + 1}", f"reason {number}")
        rig = start()
        assert rig.state is State.IDLE
    changes = rig.records("software.changed")
    assert [change["reason"] for change in changes[1:]] == [f"reason {number}" for number in range(12)]
    assert [change["version"] for change in changes[1:3]] == [["1.0", "1.1"], ["1.1", "1.2"]]
    assert read_changes_in_log(rig) == [*(f"reason {number}" for number in range(11, -1, -1)), "first"]
    own_files = [change["components"]["own"] for change in changes]
    assert [before for before, _ in own_files[1:]] == [now for _, now in own_files[:-1]]
    assert set(changes[1]["components"]) == {"own"}
    entry = next(rig.journal.entries("software.changed"))
    assert entry.time_utc
    assert FEATURES.entry_declarations.find_significance(entry).sas_exception_code == 0x8E


@pytest.mark.requirement("A-16")
def test_a_component_that_is_removed_or_added_is_recorded_with_its_digest(start, maker):
    """The only file of a component, the custom game, is removed and later added again."""
    [first] = start().records("software.changed")
    before, own_files = first["components"]["own"]
    assert before == ""
    assert own_files
    own_game = maker.file.games
    for games, version, change in (
        (load_cabinet().games[:1], "2.0", [own_files, ""]),
        (own_game, "3.0", ["", own_files]),
    ):
        maker.file = maker.file.model_copy(update={"games": games})
        maker.release(version, f"release {version}")
        rig = start()
        last = rig.records("software.changed")[-1]
        assert last["components"] == {"own": change}
        assert (last["version"][1], last["reason"]) == (version, f"release {version}")
    assert read_changes_in_log(rig) == ["release 3.0", "release 2.0", "first"]


@pytest.mark.requirement("A-13", "A-16", "A-22")
def test_a_changed_or_removed_signer_is_a_fault_for_the_technician(start, maker):
    start()
    maker.key = read_signing_key(create_signing_key(), "other maker")
    maker.pin()
    maker.release("2.0", "sold")
    assert set(tilts(start())) == {SOFTWARE_CHECK_FAULT}
    maker.file = maker.file.model_copy(update={"software": None})
    rig = start()
    assert set(tilts(rig)) == {SOFTWARE_CHECK_FAULT}
    assert rig.machine.memory.get(IntegrityKey.INSTALLED_SOFTWARE) is None
    assert list(create_reverification(rig.context)) == []
    (no_signer, first), other, none = [change["signer"] for change in rig.records("software.changed")]
    assert (no_signer, other[0], none) == ("", first, [other[1], ""])
    assert "" != other[1] != first
    versions = [change["version"] for change in rig.records("software.changed")]
    assert versions == [["", "1.0"], ["1.0", "2.0"], ["2.0", ""]]


def test_without_signed_software_the_machine_plays_and_records_no_verification(start, maker):
    maker.file = maker.file.model_copy(update={"software": None})
    rig = start()
    assert rig.state is State.IDLE
    assert not [entry for entry in rig.journal.entries() if entry.kind.startswith("software.")]


@pytest.mark.requirement("A-17")
def test_an_open_game_ends_under_a_new_release_with_its_decided_outcome(start, maker):
    rig = start()
    rig.insert(500)
    rig.play()
    decided = rig.machine.memory.get(PlayKey.GAME)
    maker.tamper()
    maker.release("1.1", "between two halves of a game")
    rig = start()
    assert rig.state is State.PLAYING
    rig.report_shown()
    assert rig.state is State.IDLE
    kinds = [entry.kind for entry in rig.journal.entries(("game.start", "software.changed", "game.end"))]
    assert kinds == ["software.changed", "game.start", "software.changed", "game.end"]
    assert rig.records("game.end")[-1]["play_id"] == decided["play_id"]
