"""``egm people``, and the staff of a demonstration cabinet."""

import json
import stat
import subprocess
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from egm.config.cabinet_file import DEFAULT_CABINET, StateFolder, load_cabinet
from egm.errors import OperatorError
from egm.isolated import build_python_command
from egm.people import Role, Roster, wrong_pins
from egm.people.demonstration import DEMONSTRATION_FILE_NAME
from egm.staff.service.sign_in import reload_staff_roster
from egm.testing.machine import MachineRig
from meters import Journal, open_view
from meters.clear import inspect_journal
from tools.cli import main
from tools.cli.demonstration import load_demonstration_badges

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def people(tmp_path):
    def run(*words, typed=(), status=0):
        state = () if words[0] == "roles" else ("--state", str(tmp_path))
        result = CliRunner().invoke(main, ["people", *words, *state], input="".join(f"{t}\n" for t in typed))
        assert result.exit_code == status, result.output
        return result.output

    run("add", "1", "Morgan", "--role", "manager", typed=("135790", "135790"))
    return run


def roster(tmp_path):
    return Roster.load(StateFolder(tmp_path).roster_file)


def test_staff_are_enrolled_listed_and_disabled_and_pins_are_changed(people, tmp_path):
    people("add", "2", "Max", "--role", "mechanic", "--by", "1", typed=("135790", "246801", "246801"))
    assert roster(tmp_path).authenticate("2", "246801").role is Role.MECHANIC
    people("pin", "2", typed=("246801", "864200", "864200"))
    people("pin", "2", "--by", "1", typed=("135790", "975310", "975310"))
    assert roster(tmp_path).authenticate("2", "975310") is not None
    people("disable", "2", "--by", "1", typed=("135790",))
    listed = json.loads(people("list", "--json"))
    assert [(entry["id"], entry["disabled"]) for entry in listed] == [("1", False), ("2", True)]
    people("enable", "2", "--by", "1", typed=("135790",))
    assert roster(tmp_path).authenticate("2", "975310").role is Role.MECHANIC
    report = json.loads(people("list", "--changes", "--json"))
    assert [(entry["what"], entry["by"]) for entry in report] == [
        ("added", ""),
        ("added", "1"),
        ("pin", "2"),
        ("pin", "1"),
        ("disabled", "1"),
        ("enabled", "1"),
    ]
    assert "Max" in people("list")
    assert "enrol" in people("roles")


@pytest.mark.parametrize(
    ("words", "typed", "reason"),
    [
        (
            ("add", "3", "Eve", "--role", "mechanic"),
            (),
            "give --by NUMBER, the staff number of a person who may enrol others",
        ),
        (("add", "3", "Eve", "--role", "mechanic", "--by", "1"), ("999999",), "number or PIN is wrong"),
        (
            ("add", "1", "Eve", "--role", "mechanic", "--by", "1"),
            ("135790", "246801", "246801"),
            "staff number 1 already belongs to Morgan",
        ),
        (("add", "3", "Eve", "--role", "mechanic", "--by", "1"), ("135790", "1234", "1234"), "consecutive"),
        (("disable", "9", "--by", "1"), (), "nobody has the staff number"),
        (("enable", "9", "--by", "1"), (), "nobody has the staff number"),
        (("enable", "1"), (), "give --by NUMBER"),
        (("pin", "9", "--by", "1"), (), "nobody has the staff number"),
        (("pin", "1"), ("000000",), "number or PIN is wrong"),
    ],
)
def test_a_refused_change_of_staff_states_the_reason(people, words, typed, reason):
    assert reason in people(*words, typed=typed, status=1)


def test_a_person_without_the_permission_cannot_enrol(people):
    people("add", "2", "Max", "--role", "mechanic", "--by", "1", typed=("135790", "246801", "246801"))
    output = people("add", "3", "Eve", "--role", "manager", "--by", "2", typed=("246801",), status=1)
    assert "2 is mechanic and may not enrol" in output


def test_a_demonstration_has_one_person_per_role_with_generated_pins(tmp_path):
    folder = StateFolder(tmp_path)
    badges = load_demonstration_badges(load_cabinet(), folder, NOW)
    assert {badge.role for badge in badges} == set(Role)
    assert len({badge.pin for badge in badges}) > 1
    known = Roster.load(folder.roster_file)
    assert all(known.authenticate(badge.number, badge.pin) for badge in badges)
    assert stat.S_IMODE((tmp_path / DEMONSTRATION_FILE_NAME).stat().st_mode) == 0o600
    assert load_demonstration_badges(load_cabinet(), folder, NOW) == badges
    (tmp_path / DEMONSTRATION_FILE_NAME).write_text("[{}]")
    with pytest.raises(OperatorError, match=DEMONSTRATION_FILE_NAME):
        load_demonstration_badges(load_cabinet(), folder, NOW)


def test_a_real_cabinet_has_no_staff_until_somebody_is_enrolled(tmp_path):
    cabinet = load_cabinet()
    device = cabinet.devices["bill"].model_copy(update={"port": "/dev/ttyS0"})
    real = cabinet.model_copy(update={"devices": {**cabinet.devices, "bill": device}})
    assert load_demonstration_badges(real, StateFolder(tmp_path), NOW) == ()
    assert list(tmp_path.iterdir()) == []


def real_cabinet(tmp_path):
    """The file of a cabinet with real ports and the demonstration cabinet's serial number."""
    file = tmp_path / "real.toml"
    text = DEFAULT_CABINET.read_text()
    device = 'protocol = "id003"\n'
    assert text.count(device) == 1
    file.write_text(text.replace(device, f'{device}port = "{tmp_path}/ttyS0"\n'))
    assert load_cabinet(file).hardware_port_descriptions == (f"devices.bill: {tmp_path}/ttyS0",)
    return file


@pytest.mark.parametrize("remains", ["all", "roster", "badges"])
def test_a_cabinet_with_a_real_device_refuses_a_demonstrations_staff(tmp_path, remains):
    """The machine refuses the state folder of a demonstration before it opens anything."""
    folder = StateFolder(tmp_path / "state")
    folder.create_private_folders()
    load_demonstration_badges(load_cabinet(), folder, NOW)
    if remains == "roster":
        (folder.root / DEMONSTRATION_FILE_NAME).unlink()
    if remains == "badges":
        folder.roster_file.unlink()
    file = real_cabinet(tmp_path)
    where = ("--state", str(folder.root), "--cabinet", str(file))
    result = subprocess.run(
        build_python_command("egm.app", *where), capture_output=True, text=True, check=False
    )
    assert result.returncode == 2, result.stderr
    assert "its staff is a demonstration's" in result.stderr
    assert not (folder.root / "journal.sqlite").exists()


def test_no_demonstration_staff_are_created_in_a_real_machines_folder(tmp_path):
    folder = StateFolder(tmp_path)
    folder.create_private_folders()
    Journal.open(folder.root, now=lambda: NOW).close()
    assert load_demonstration_badges(load_cabinet(), folder, NOW) == ()
    assert not folder.roster_file.exists()


@pytest.mark.requirement("A-20", "A-05")
def test_a_memory_clear_requires_two_authorised_persons_with_their_pins(people, tmp_path):
    people("add", "2", "Toni", "--role", "technician", "--by", "1", typed=("135790", "246801", "246801"))
    people("add", "3", "Max", "--role", "mechanic", "--by", "1", typed=("135790", "975310", "975310"))
    Journal.open(tmp_path, now=lambda: NOW).close()
    challenge = inspect_journal(tmp_path).challenge

    def clears(first, second, *pins):
        words = ["--person", first, "--second-person", second, "--reason", "test", "--challenge", challenge]
        run = CliRunner().invoke(
            main, ["audit", "clear", "--state", str(tmp_path), *words], input="".join(f"{p}\n" for p in pins)
        )
        return run.exit_code, run.output

    for first, second, pins, reason in (
        ("1", "2", ("135790", "000000"), "number or PIN is wrong"),
        ("1", "3", ("135790", "975310"), "may not clear memory"),
        ("1", "1", ("135790", "135790"), "two different people"),
        ("A", "2", ("135790",), "number or PIN is wrong"),
    ):
        status, output = clears(first, second, *pins)
        assert (status, reason in output) == (1, True), output
    assert inspect_journal(tmp_path).challenge == challenge
    status, output = clears("1", "2", "135790", "246801")
    assert status == 0, output
    with open_view(tmp_path) as view:
        cleared = next(view.entries()).record["cleared"]
    assert (cleared["person"], cleared["second_person"]) == ("1", "2")


@pytest.mark.requirement("J-16")
def test_wrong_pins_at_a_terminal_lock_the_number_and_are_recorded_in_the_journal(
    people, tmp_path, monkeypatch
):
    """Wrong PINs lock the number even if the clock is changed; the machine records each attempt."""
    words = ("add", "3", "Eve", "--role", "mechanic", "--by")
    for _ in range(3):
        assert "number or PIN is wrong" in people(*words, "1", typed=("999999",), status=1)
    assert "locked" in people(*words, "1", typed=("135790",), status=1)
    assert "locked" in people("pin", "1", typed=("135790", "246801", "246801"), status=1)
    for expected in ("number or PIN is wrong", "number or PIN is wrong", "number or PIN is wrong", "locked"):
        assert expected in people(
            *words, "9", typed=("999999",), status=1
        )  # an unknown number gets the same reply
    rig = MachineRig(tmp_path)
    rig.machine.install(Roster(tmp_path / "people.json"))
    rig.boot()
    refusals = [entry for entry in rig.records("sign_in.refused") if entry["why"] == "terminal"]
    assert [entry["person"] for entry in refusals] == ["1"] * 3 + ["9"] * 3
    assert rig.journal.meters().values["sign_in_refused"] == 6
    reload_staff_roster(rig.machine)
    assert len(rig.records("sign_in.refused")) == 6
    assert "locked" in people(*words, "1", typed=("135790",), status=1)  # recorded, and still locked
    monkeypatch.setattr(wrong_pins, "_read_uptime_seconds", lambda: 10**9)
    people(*words, "1", typed=("135790", "864200", "864200"))
    rig.close()


def test_two_terminals_cannot_check_pins_at_the_same_time(people, tmp_path):
    with (
        wrong_pins.edit_wrong_pins(tmp_path, must_wait=True),
        pytest.raises(BlockingIOError),
        wrong_pins.edit_wrong_pins(tmp_path, must_wait=False),
    ):
        pass
