"""The files of a first start are complete, or are written again, after a power cut at any moment."""

import asyncio
import errno
from datetime import UTC, datetime

import pytest

from egm.app.first_start import signing
from egm.app.first_start.draft import CabinetFileDraft
from egm.app.first_start.probing import FoundDevice
from egm.app.first_start.signing import SignCabinetFileStep, create_restore_step
from egm.app.first_start.steps import REQUIRED_SIGNER_COUNT, NextStep, build_failure_text
from egm.app.first_start.wizard import build_steps
from egm.app.process import MachineProcess
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.config.mistakes import ConfigMistake
from egm.people import Permission, Person, Role, Roster
from egm.profiles import load_profile
from egm.testing.machine import StoppedClock
from egm.testing.service_menu import build_pin
from egm.testing.service_menu import translate_text as say_in
from meters import Journal
from paytables import load_game

CLOCK = StoppedClock()
GAME = "maple-classic"


class PowerCutError(Exception):
    """Raised where the power is cut."""


def build_draft():
    game = load_game(GAME)
    roster = Roster()
    for number, role in (("1", Role.MANAGER), ("2", Role.TECHNICIAN), ("3", Role.ATTENDANT)):
        roster = roster.enrol_person(
            Person(number, role.value, role), build_pin(number), changed_by="", changed_at=CLOCK.now()
        )
    return CabinetFileDraft(
        machine_answers={"serial": "W-1", "operator_number": "1", "site": "Chez Lise", "time_zone": "UTC"},
        devices=(FoundDevice("id003", "bench"),),
        admitted_games={GAME: game},
        chosen_game_names=[GAME],
        denominations_cents=[*game.denominations_cents],
        roster=roster,
    )


def step(folder, file):
    return SignCabinetFileStep(
        id="signing",
        wrong_pins_folder=folder.root,
        get_time=CLOCK.now,
        required_permission=Permission.CONFIGURE,
        state_folder=folder,
        cabinet_file_path=file,
        cabinet_file_mistakes=(),
    )


def sign(signing_step, draft, *numbers):
    """Sign as these persons; return the result of the last answer."""
    assert signing_step.handle_input(draft, "sign", "") is NextStep.STAY
    move = None
    for number in numbers:
        signing_step.handle_input(draft, "enter", number)
        move = signing_step.handle_input(draft, "enter", build_pin(number))
    return move


def start_and_read_faults(folder, file, monkeypatch):
    """Start the machine once with the written files and return its faults."""
    found = {}

    async def work(process):
        found["faults"] = set(process._first_machine.active_faults)

    monkeypatch.setattr(MachineProcess, "_run_until_stopped", work)
    asyncio.run(MachineProcess(folder, load_cabinet(file), CLOCK).run())
    return found["faults"]


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_power_cut_at_any_write_of_a_first_start_repeats_or_completes_it(tmp_path, monkeypatch, cut):
    folder, file = StateFolder(tmp_path / "state"), tmp_path / "cabinet.toml"
    folder.create_private_folders()
    writes = 0

    def cutting(write):
        def written(self, path, *arguments):
            nonlocal writes
            writes += 1
            if writes == cut:
                raise PowerCutError
            return write(self, path, *arguments)

        return written

    with monkeypatch.context() as patch:
        patch.setattr(Roster, "write_to", cutting(Roster.write_to))
        patch.setattr(signing.CabinetFileSignature, "write", cutting(signing.CabinetFileSignature.write))
        patch.setattr(signing, "replace_private_file", cutting(signing.replace_private_file))
        with pytest.raises(PowerCutError):
            sign(step(folder, file), build_draft(), "1", "2")
    assert not file.exists()
    assert (
        create_restore_step(folder, file, CLOCK.now) is None
    )  # nothing has been played: everything is asked again
    assert sign(step(folder, file), build_draft(), "2", "1") is NextStep.FORWARD
    assert start_and_read_faults(folder, file, monkeypatch) == set()
    assert start_and_read_faults(folder, file, monkeypatch) == set()
    with Journal.open(folder.root, now=CLOCK.now) as journal:
        (entry,) = journal.entries("cabinet.signed")
        assert [entry.kind for entry in journal.entries() if entry.kind.startswith("staff.")] == [
            "staff.added"
        ] * 3
    assert entry.record["persons"] == ["2", "1"]


def test_signing_needs_two_permitted_persons_and_disk_errors_are_reported(tmp_path):
    folder = StateFolder(tmp_path / "state")
    folder.create_private_folders()
    missing = step(folder, tmp_path / "nowhere" / "cabinet.toml")
    assert sign(missing, build_draft(), "3").value == "service.refused.not_permitted"
    missing.handle_input(build_draft(), "back", "")
    missing.handle_input(build_draft(), "back", "")
    assert sign(missing, build_draft(), "1", "1").value == "service.refused.same_person"
    missing.open_step()
    missing.cabinet_file_mistakes = ()
    move = sign(missing, build_draft(), "1", "2")
    assert move.value == "notice.refused.medium_other"
    assert "nowhere" in move.values["why"]
    assert len(missing.authenticated_signers) == 0 < REQUIRED_SIGNER_COUNT


def test_wrong_pins_lock_a_number_also_at_a_first_start(tmp_path):
    folder = StateFolder(tmp_path / "state")
    folder.create_private_folders()
    signing_step = step(folder, tmp_path / "cabinet.toml")
    draft = build_draft()
    signing_step.handle_input(draft, "sign", "")
    assert signing_step.handle_input(draft, "enter", "").value == "service.refused.missing"
    assert signing_step.handle_input(draft, "enter", "1st").value == "service.refused.not_digits"
    signing_step.handle_input(draft, "enter", "1")
    replies = [signing_step.handle_input(draft, "enter", "0000").value for _ in range(4)]
    assert replies == ["service.refused.wrong_pin"] * 3 + ["service.refused.locked"]
    assert signing_step.handle_input(draft, "enter", build_pin("1")).value == "service.refused.locked"


@pytest.mark.parametrize(
    ("jurisdiction", "required_fields"),
    [("generic", ("site",)), ("quebec-vlt", ("site", "licence_holder"))],
)
def test_the_operator_is_asked_for_what_the_jurisdictions_tickets_require(jurisdiction, required_fields):
    assert CabinetFileDraft(profile=load_profile(jurisdiction)).required_venue_fields == required_fields


@pytest.mark.parametrize(("year", "expected_text"), [(1970, "first.clock_wrong"), (2026, "first.now")])
def test_the_signing_page_shows_the_date_or_that_it_is_implausible(tmp_path, year, expected_text):
    signing_step = step(StateFolder(tmp_path / "state"), tmp_path / "cabinet.toml")
    signing_step.get_time = lambda: datetime(year, 1, 2, tzinfo=UTC)
    lines = {
        row.cells[0].value: row.cells[1].value
        for row in signing_step.build_page(build_draft()).tables[0].rows
    }
    assert lines[expected_text] == f"{year}-01-02T00:00:00+00:00"


def test_a_disabled_key_has_its_reason_beside_it(tmp_path):
    draft, step_list = build_draft(), build_steps(StateFolder(tmp_path), tmp_path / "c.toml", CLOCK, list)
    steps = {step.id: step for step in step_list}
    draft.roster = Roster()
    for name, reason in (("staff", "first.staff.short"), ("games", "first.one_at_least")):
        draft.chosen_game_names = []
        page = steps[name].build_page(draft)
        assert not next(action for action in page.actions if action.id == "next").enabled
        assert reason in {row.cells[0].value for table in page.tables for row in table.rows}
    signing_step = steps["signing"]
    signing_step.cabinet_file_mistakes = (ConfigMistake("games", "none of the listed games can be offered"),)
    assert "first.not_yet" in {row.cells[0].value for row in signing_step.build_page(draft).tables[0].rows}


@pytest.mark.parametrize(
    ("error_number", "expected_text"),
    [
        (errno.ENOSPC, "medium_full"),
        (errno.EROFS, "medium_locked"),
        (errno.EIO, "medium_fails"),
        (1, "medium_other"),
    ],
)
def test_a_failed_write_is_explained_by_what_to_do(error_number, expected_text):
    words = build_failure_text(OSError(error_number, "words of the system", "/var/lib/open-egm/people.json"))
    assert words.value == f"notice.refused.{expected_text}"
    for language in ("en", "fr"):
        assert say_in(words, language)
