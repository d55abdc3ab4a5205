"""First start on the screen: step by step, until a cabinet file is signed and written.

No journal is open and no device is in use; the screen shows service pages as usual, and its replies are the
usual requests (:class:`~egm.kernel.messages.Intent`). Answers are only held in memory: after a power loss,
everything is asked again, except what the enrolment with a progressive controller has stored.
"""

import asyncio
import tomllib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from egm.app.first_start.draft import CabinetFileDraft
from egm.app.first_start.link import LinkEnrolmentStep
from egm.app.first_start.probing import find_serial_ports
from egm.app.first_start.signing import SignCabinetFileStep, create_restore_step
from egm.app.first_start.steps import (
    EnrolStaffStep,
    FieldsStep,
    NextStep,
    PickOneStep,
    PickSeveralStep,
    ProbeDevicesStep,
    SetupStep,
    WelcomeStep,
    list_admitted_games,
    list_denominations,
    list_profiles,
    list_time_zones,
)
from egm.app.tilt_screen import build_snapshot_without_memory
from egm.app.watchdog import send_watchdog_heartbeats
from egm.clock import Clock
from egm.config.cabinet_file import MachineTable, StateFolder
from egm.errors import OperatorError
from egm.kernel.events import State
from egm.kernel.feature import LANGUAGES
from egm.kernel.messages import Hello, Intent, Snapshot
from egm.kernel.service_pages import PageText, ServicePage
from egm.links.screen.private_sockets import write_new_token
from egm.links.screen.server import ScreenServer
from egm.people import Permission
from egm.people.pins import PinDigest
from egm.profiles import load_profile
from egm.progressive.enrolment_data import STICK_PATH, EnrolmentStick
from egm.progressive.link_folder import LinkCertificateFolder
from egm.staff.form import FormField
from paytables.source import parse_toml, read_contents

#: Name of the file with the tables preset by the machine's builder, in the folder of the future cabinet file. The
#: first start does not ask for these values.
CABINET_PRESET_FILE_NAME: Final = "cabinet.seed.toml"


class FirstStartWizard:
    """The first start on the screen: its steps, the current step, and that step's service page.

    ``finished_event`` is set when the cabinet file is written.
    """

    def __init__(
        self, steps: Sequence[SetupStep], draft: CabinetFileDraft, on_change: Callable[[], None]
    ) -> None:
        """Create the wizard. ``on_change`` is called whenever the page changes."""
        self._steps = tuple(steps)
        self._draft = draft
        self._on_change = on_change
        self._step_index = 0
        self._page_revision = 0
        self._notice: PageText | None = None
        self._step_task: asyncio.Task[None] | None = None
        self.finished_event = asyncio.Event()

    @property
    def page(self) -> ServicePage:
        """Return the service page of the current step."""
        page = self._steps[self._step_index].build_page(self._draft)
        return page.model_copy(
            update={
                "id": f"first-{self._page_revision}",
                "depth": self._step_index + 1,
                "notice": self._notice,
                "notice_severity": "warning",
            }
        )

    def process_answer(self, intent: Intent) -> None:
        """Process a person's input on the current service page; ignore an input on an earlier page."""
        options = intent.options or {}
        if (
            intent.name != "answer"
            or options.get("page") != f"first-{self._page_revision}"
            or self.finished_event.is_set()
        ):
            return
        result = self._steps[self._step_index].handle_input(
            self._draft, str(intent.value), str(options.get("input") or "")[:400]
        )
        self._notice = result if isinstance(result, PageText) else None
        if result is NextStep.FORWARD and self._step_index + 1 == len(self._steps):
            self.finished_event.set()
        elif result is NextStep.FORWARD:
            self._go_to_step(self._step_index + 1)
        elif result is NextStep.BACK:
            self._go_to_step(max(0, self._step_index - 1))
        elif result is NextStep.REOPEN:
            self._go_to_step(self._step_index)
        self._notify_change()

    def close(self) -> None:
        """Cancel the background task of the current step."""
        if self._step_task is not None:
            self._step_task.cancel()

    def _go_to_step(self, step_index: int) -> None:
        """Show the step with index ``step_index``, and start its background task if it has one."""
        self.close()
        self._step_index = step_index
        step = self._steps[step_index]
        step.open_step()
        if type(step).gather_page_data is not SetupStep.gather_page_data:  # the step has a background task
            self._step_task = asyncio.ensure_future(self._run_background_task(step))

    async def _run_background_task(self, step: SetupStep) -> None:
        """Run the background task of a step; if it fails, show the reason on the page."""
        try:
            await step.gather_page_data(self._draft, self._notify_change)
        except (OperatorError, OSError, ValueError) as error:
            self._notice = PageText(value="first.refused.not_done", values={"why": str(error)})
        self._notify_change()

    def _notify_change(self) -> None:
        """Give the service page a new id, so that input on the old one is ignored, and call ``on_change``."""
        self._page_revision += 1
        self._on_change()


def build_steps(
    state_folder: StateFolder,
    cabinet_path: Path,
    clock: Clock,
    list_serial_ports: Callable[[], list[str]],
    link_steps: Sequence[SetupStep] = (),
    compute_pin_digest: Callable[[str], PinDigest] = PinDigest.from_pin,
) -> tuple[SetupStep, ...]:
    """Return the steps of the first start, in order.

    ``link_steps`` are the steps that enrol the machine with a progressive controller, if any.
    ``compute_pin_digest`` creates the stored digest of a new PIN.
    """
    create_field = partial(FormField, length_max=24)
    machine_fields = (create_field(name="serial"), create_field(name="operator_number"))

    def add_machine_values(draft: CabinetFileDraft, values: dict[str, str]) -> None:
        """Add values to the machine table of the drafted cabinet file."""
        draft.machine_answers |= values

    def select_jurisdiction(draft: CabinetFileDraft, profile_id: str) -> None:
        """Set the jurisdiction of the drafted cabinet file, and remove the venue data entered for the previous one."""
        draft.profile, draft.is_jurisdiction_chosen = load_profile(profile_id), True
        draft.machine_answers = {
            key: draft.machine_answers[key] for key in draft.machine_answers if key not in _VENUE_FIELD_NAMES
        }

    steps: tuple[SetupStep, ...] = (
        FieldsStep("machine", lambda _: machine_fields, add_machine_values),
        PickOneStep("profile", list_profiles, select_jurisdiction),
        FieldsStep(
            "house",
            lambda draft: tuple(FormField(name=field_name) for field_name in draft.required_venue_fields),
            add_machine_values,
        ),
        PickOneStep(
            "time_zone",
            list_time_zones,
            lambda draft, time_zone: add_machine_values(draft, {"time_zone": time_zone}),
        ),
        ProbeDevicesStep(list_serial_ports),
        PickSeveralStep(
            "games",
            list_admitted_games,
            lambda draft: draft.chosen_game_names,
            lambda draft, selected: setattr(draft, "chosen_game_names", selected),
            _examine_draft,
        ),
        PickSeveralStep(
            "denominations",
            list_denominations,
            lambda draft: [
                str(cents)
                for cents in draft.denominations_cents
                if cents in draft.available_denominations_cents
            ],
            lambda draft, selected: setattr(draft, "denominations_cents", [int(cents) for cents in selected]),
        ),
        *link_steps,
        EnrolStaffStep(clock.now, compute_pin_digest),
        SignCabinetFileStep(
            id="signing",
            wrong_pins_folder=state_folder.root,
            get_time=clock.now,
            required_permission=Permission.CONFIGURE,
            state_folder=state_folder,
            cabinet_file_path=cabinet_path,
        ),
    )
    return (WelcomeStep(tuple(step.id for step in steps)), *steps)


#: The venue data that tickets may print, by their keys in the cabinet file.
_VENUE_FIELD_NAMES: Final = frozenset({"site", "address", "licence_holder"})


def _examine_draft(draft: CabinetFileDraft, on_progress: Callable[[str], None]) -> None:
    """Load and check the draft's games; ``on_progress`` receives each game's name before it is examined."""
    for name in draft.examine_games():
        on_progress(name)


async def run_first_start(
    state_folder: StateFolder,
    cabinet_path: Path,
    preset_file: Path,
    clock: Clock,
    list_serial_ports: Callable[[], list[str]] = find_serial_ports,
    usb_stick_path: Path = STICK_PATH,
    compute_pin_digest: Callable[[str], PinDigest] = PinDigest.from_pin,
) -> None:
    """Ask for a cabinet file on the screen; return once ``cabinet_path`` is written and signed.

    ``preset_file`` is the file with the tables decided by the machine's builder, if it exists.
    ``usb_stick_path`` is the device path of the enrolment stick. If the state folder already
    has a memory, two persons on its staff roster restore the last signed file instead. Raises OperatorError if
    ``preset_file`` is invalid, and JournalError if the memory cannot be read.
    """
    draft = CabinetFileDraft(preset_tables=_read_preset_tables(preset_file))
    restore_step = create_restore_step(state_folder, cabinet_path, clock.now)
    is_link_preset = "certificate" in dict(draft.preset_tables.get("progressive_link", {}))
    link_steps = (
        ()
        if is_link_preset
        else (
            LinkEnrolmentStep(
                LinkCertificateFolder.for_state_folder(state_folder.root),
                EnrolmentStick(usb_stick_path),
                clock.now,
            ),
        )
    )
    language = LANGUAGES[0]
    machine_table = MachineTable.model_construct(serial="-", operator_number="-", profile="generic", site="")

    def build_snapshot() -> Snapshot:
        """Return the machine snapshot for the screen: no money, no games, only the wizard's page."""
        now = clock.now().isoformat(timespec="seconds")
        bare_snapshot = build_snapshot_without_memory(machine_table, load_profile("generic"), now)
        return bare_snapshot.model_copy(
            update={
                "state": State.SERVICE_MENU.value,
                "language": language,
                "languages": LANGUAGES,
                "accepted_inputs": ("language",),
                "currency": draft.currency,
                "service_page": wizard.page,
            }
        )

    def handle_intent(intent: Intent) -> None:
        """Change the screen's language if a person requests that; give any other request to the wizard."""
        nonlocal language
        if intent.name == "language" and intent.value in LANGUAGES:
            language = str(intent.value)
            server.send(build_snapshot())
        else:
            wizard.process_answer(intent)

    server = ScreenServer(
        state_folder.screen_socket,
        write_new_token(state_folder.screen_token),
        build_greeting=lambda: (Hello(), build_snapshot()),
        on_intent=handle_intent,
        on_peer_error=lambda _: None,
    )
    wizard = FirstStartWizard(
        (restore_step,)
        if restore_step is not None
        else build_steps(
            state_folder, cabinet_path, clock, list_serial_ports, link_steps, compute_pin_digest
        ),
        draft,
        lambda: server.send(build_snapshot()),
    )
    await server.start()
    heartbeat_task = asyncio.ensure_future(send_watchdog_heartbeats())
    try:
        await wizard.finished_event.wait()
    finally:
        wizard.close()
        heartbeat_task.cancel()
        with suppress(asyncio.CancelledError):
            await heartbeat_task
        await server.close()


def _read_preset_tables(path: Path) -> dict[str, object]:
    """Return the tables that the machine's builder has decided; empty without such a file. Raises OperatorError."""
    try:
        return parse_toml(read_contents(path).decode())
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise OperatorError(f"{path}: {error}") from None
