"""Power cuts while a computer is set up: at a first start, on another board, during the restoration of a backup.

The product's own steps and commands run in a child process that ends at a given write or instant. Another child
process then starts the machine, which shows the result.
"""

import asyncio
import os
import shutil
import signal
import sys
import time
import traceback
from enum import StrEnum
from functools import partial
from itertools import count

from click.testing import CliRunner
from rigs.moments import get_real_now

from egm.app.first_start.draft import CabinetFileDraft
from egm.app.first_start.link import LinkEnrolmentStep
from egm.app.first_start.probing import FoundDevice
from egm.app.first_start.signing import SignCabinetFileStep, create_restore_step
from egm.app.first_start.steps import NextStep
from egm.app.process import MachineProcess
from egm.clock import SystemClock
from egm.config.cabinet_file import StateFolder, load_cabinet
from egm.errors import OperatorError
from egm.integrity.signed_file import compute_cabinet_file_digest
from egm.kernel.events import State
from egm.people import Permission, Person, Role, Roster
from egm.progressive.connection import check_certificates
from egm.progressive.enrolment_data import EnrolmentStick, compute_key_digest, read_request
from egm.progressive.link_folder import LinkCertificateFolder
from egm.testing.service_menu import build_pin
from meters import open_view
from paytables import load_game
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli import main
from tools.floor.progressive.certificates import answer_request, make_authority, revoke_certificate

GAME, SERIAL = "maple-classic", "CUT-1"
_WRITES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink"}
#: Exit statuses of a child: done, failed (with a printed reason), without power.
DONE, FAILED, CUT = 0, 1, 9


class Setting:
    """The folders of one computer, of the floor and of a stick; every method runs in a child process."""

    def __init__(self, root, state_path):
        self.root = root
        self.state = StateFolder(state_path)
        self.file = state_path / "cabinet.toml"
        self.floor, self.stick, self.backup = root / "floor", root / "stick", root / "backup.json"

    def now(self):
        return SystemClock().now()

    # ------------------------------------------------------------------ the acts
    def first_start(self):
        """Enrol with the floor, and sign the cabinet file as two persons."""
        self.state.create_private_folders()
        draft = self._draft()
        EnrolmentStick(self.stick).write()
        link = LinkEnrolmentStep(
            LinkCertificateFolder.for_state_folder(self.state.root), EnrolmentStick(self.stick), self.now
        )
        assert link.handle_input(draft, "request", "") is NextStep.STAY
        self._floor_answers()
        assert link.handle_input(draft, "answer", "") is NextStep.STAY
        assert link.handle_input(draft, "next", "") is NextStep.FORWARD
        self._sign(
            SignCabinetFileStep(
                id="signing",
                wrong_pins_folder=self.state.root,
                get_time=self.now,
                required_permission=Permission.CONFIGURE,
                state_folder=self.state,
                cabinet_file_path=self.file,
                cabinet_file_mistakes=(),
            ),
            draft,
        )

    def another_board(self):
        """Let two enrolled persons restore the lost cabinet file of an existing memory."""
        self.state.create_private_folders()
        self._sign(create_restore_step(self.state, self.file, self.now), CabinetFileDraft())

    def restore_backup(self):
        """Restore the backup."""
        words = ["--person", "1", "--second", "2", "--reason", "the disk was lost"]
        where = ["--state", str(self.state.root), "--cabinet", str(self.file)]
        pins = "".join(f"{build_pin(number)}\n" for number in "12")
        result = CliRunner().invoke(main, ["backup", "restore", str(self.backup), *words, *where], input=pins)
        assert result.exit_code == 0, result.output

    def run(self):
        """Start the machine with its file and stop it once it is running."""
        self.state.create_private_folders()
        process = MachineProcess(self.state, load_cabinet(self.file), SystemClock())

        async def life():
            task = asyncio.ensure_future(process.run())
            while not process._positions or process._first_engine.state is State.SELF_TEST:
                await asyncio.wait({task}, timeout=0.02)
                assert not task.done(), task.exception()
            faults = {
                code for code in process._first_machine.active_faults if not code.endswith("communication")
            }
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return faults

        faults = asyncio.run(life())
        assert not faults, faults

    def write_backup(self):
        """Write a backup."""
        words = ["backup", "create", str(self.backup), "--person", "1", "--state", str(self.state.root)]
        result = CliRunner().invoke(main, [*words, "--cabinet", str(self.file)], input=f"{build_pin('1')}\n")
        assert result.exit_code == 0, result.output

    def check_machine(self, *, linked=True):
        """Check that the machine runs and that nothing in or beside its memory is incomplete."""
        self.run()
        text = self.file.read_text()
        if linked:
            check_certificates(load_cabinet(self.file).progressive_link, SERIAL)
        with open_view(self.state.root) as view:
            last = next(view.entries("cabinet.signed", limit=1, newest_first=True)).record
            assert (last["digest"], last["text"], last["persons"]) == (
                compute_cabinet_file_digest(text),
                text,
                ["1", "2"],
            )
            enrolled = [entry.record["certificate"] for entry in view.entries("link.enrolled")]
            assert enrolled == (
                [LinkCertificateFolder.for_state_folder(self.state.root).current_certificate_digest]
                if linked
                else []
            )
            assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []

    # ------------------------------------------------------------------ by whom
    def _draft(self):
        game, roster = load_game(GAME), Roster()
        for number, role in (("1", Role.MANAGER), ("2", Role.TECHNICIAN)):
            roster = roster.enrol_person(
                Person(number, role.value, role), build_pin(number), changed_by="", changed_at=self.now()
            )
        return CabinetFileDraft(
            preset_tables={"metrics": {"port": 0}},
            machine_answers={
                "serial": SERIAL,
                "operator_number": "1",
                "site": "Chez Lise",
                "time_zone": "UTC",
            },
            devices=(FoundDevice("id003", "bench"),),
            admitted_games={GAME: game},
            chosen_game_names=[GAME],
            denominations_cents=[*game.denominations_cents],
            roster=roster,
        )

    def _floor_answers(self):
        stick = EnrolmentStick(self.stick)
        request, now = stick.read()["request"], get_real_now()
        key = compute_key_digest(read_request(request)[1])
        try:
            answer = answer_request(self.floor, request, key, now, ("127.0.0.1", 8883))
        except OperatorError:  # the key it answered before was lost with the power
            revoke_certificate(self.floor, SERIAL, now)
            answer = answer_request(self.floor, request, key, now, ("127.0.0.1", 8883))
        stick.write(request, answer)

    def _sign(self, step, draft):
        assert step.handle_input(draft, "sign", "") is NextStep.STAY
        for number in "12":
            step.handle_input(draft, "enter", number)
            move = step.handle_input(draft, "enter", build_pin(number))
        assert move is NextStep.FORWARD, move


def run_in_child(acts, *, under=None, writes=None, seconds=None):
    """Run the acts in a child process; end it before its ``writes``-th write ``under`` a folder or after a time."""
    pid = os.fork()
    if pid:
        return _ended(pid, seconds)
    writes_left = iter(range(writes)) if writes is not None else count()

    def hook(event, details):
        wrote = event in _WRITES or (
            event == "open" and details[2] and details[2] & (os.O_WRONLY | os.O_RDWR)
        )
        if wrote and str(under) in str(details[0]) and next(writes_left, None) is None:
            os._exit(CUT)

    if writes is not None:
        sys.addaudithook(hook)
    try:
        for act in acts:
            act()
        os._exit(DONE)
    except BaseException:  # noqa: BLE001 (a child says what it failed with, and ends)
        traceback.print_exc()
    finally:
        os._exit(FAILED)


def _ended(pid, seconds):
    if seconds is not None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                break
            time.sleep(0.002)
        else:
            os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    return CUT if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)


class Kind(StrEnum):
    """The act that is in progress when the power is cut."""

    FIRST_START_MARKER_FILE_NAME = "first_start"
    ANOTHER_BOARD = "another_board"
    GIVE_BACK = "give_back"
    """A backup's return to the memory it is of."""
    NEW_MEMORY = "new_memory"
    """A backup's return to a memory that is empty."""

    @property
    def begins_with_memory(self):
        return self in {Kind.ANOTHER_BOARD, Kind.GIVE_BACK}


class Campaign:
    """Repeated runs on one state folder, each started from the same state, cut and checked."""

    def __init__(self, root, state_path):
        self.setting, self.made_folder = Setting(root, state_path), root / "made"
        make_authority(self.setting.floor, get_real_now())
        self.setting.stick.write_bytes(bytes(1 << 15))
        assert (
            run_in_child((self.setting.first_start, self.setting.check_machine, self.setting.write_backup))
            == DONE
        )
        shutil.copytree(
            state_path, self.made_folder, symlinks=True, ignore=shutil.ignore_patterns("run", "lost+found")
        )
        shutil.copytree(self.setting.floor, root / "floor.made")
        self.delete_state()

    def delete_state(self):
        """Delete the content of the state folder."""
        for path in self.setting.state.root.iterdir():
            if path.name == "lost+found":
                continue
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def prepare(self, kind):
        """Prepare the initial state."""
        setting = self.setting
        self.delete_state()
        shutil.rmtree(setting.floor)
        if kind is Kind.FIRST_START_MARKER_FILE_NAME:
            make_authority(setting.floor, get_real_now())
        else:
            shutil.copytree(setting.root / "floor.made", setting.floor)
        EnrolmentStick(setting.stick).write()
        if kind.begins_with_memory:
            shutil.copytree(self.made_folder, setting.state.root, symlinks=True, dirs_exist_ok=True)
        if kind is Kind.ANOTHER_BOARD:
            setting.file.unlink()
        os.sync()

    def list_acts(self, kind):
        """Return the act, and the run of the machine with the files that the act wrote."""
        setting = self.setting
        steps = {
            Kind.FIRST_START_MARKER_FILE_NAME: setting.first_start,
            Kind.ANOTHER_BOARD: setting.another_board,
            Kind.GIVE_BACK: setting.restore_backup,
            Kind.NEW_MEMORY: setting.restore_backup,
        }
        return steps[kind], setting.run

    def check_result(self, kind):
        """Return ``asks`` if the act had to be repeated after a cut, or ``runs``; fail with the reason."""
        step, _ = self.list_acts(kind)
        setting = self.setting
        is_unset = not setting.file.exists()
        if is_unset and not kind.begins_with_memory:
            assert create_restore_step(setting.state, setting.file, setting.now) is None, (
                "half a memory, and no file"
            )
        linked = kind is not Kind.NEW_MEMORY
        work = (*((step,) if is_unset else ()), partial(setting.check_machine, linked=linked))
        assert run_in_child(work) == DONE
        return "asks" if is_unset else "runs"
