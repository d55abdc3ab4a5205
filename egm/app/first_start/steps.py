"""Steps of the first start: each shows a service page built from the draft, and stores answers in the draft.

Catalogue keys of the texts: ``first.<id>.title``, ``first.<id>.about``, and for a field
``first.<id>.<field>``.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from typing import Final
from zoneinfo import available_timezones

from egm.app.first_start.draft import SIMULATED_PROTOCOLS, CabinetFileDraft
from egm.app.first_start.probing import FoundDevice, probe_serial_ports
from egm.devices.protocols import PROTOCOLS
from egm.errors import OperatorError
from egm.kernel.service_pages import PageAction, PageRow, PageTable, PageText, Prompt, ServicePage
from egm.medium_errors import find_medium_failure_code
from egm.people import Permission, Person, PinRefusedError, Role, Roster, check_pin_is_permitted
from egm.people.pins import PinDigest
from egm.profiles import list_profile_ids, load_profile
from egm.progressive.enrolment_data import EnrolmentError
from egm.staff.form import FieldError, FieldKind, FormField
from egm.staff.page_texts import (
    BACK_ACTION,
    build_code_text,
    build_money_text,
    build_multilingual_text,
    build_plain_text,
    build_text,
)

#: How many persons must sign a cabinet file: the highest number that a jurisdiction requires.
REQUIRED_SIGNER_COUNT: Final = 2
#: The action that goes to the next step.
_NEXT_ACTION: Final = PageAction(id="next", label=build_text("first.next"), style="confirm")


class NextStep(Enum):
    """Which step of the first start is shown after an input: the current one, the next one or the previous one."""

    STAY = auto()
    REOPEN = auto()
    """The current step is shown as if it had just been reached."""
    FORWARD = auto()
    BACK = auto()


#: The result of an input on a step's page: which step to show next, or the text of a refusal.
NextStepOrRefusal = NextStep | PageText


def build_refusal_text(reason: str) -> PageText:
    """Return the text of a refusal in the first start; ``reason`` is a code of the catalogue's ``service.refused``."""
    return build_text(f"service.refused.{reason}")


def build_failure_text(error: Exception) -> PageText:
    """Return an error as text for the person at the screen; an OSError is shown as a fault of the machine's memory."""
    if isinstance(error, OSError):
        return build_text(f"notice.refused.{find_medium_failure_code(error)}", why=str(error))
    if isinstance(error, EnrolmentError):
        return build_text(f"notice.refused.{error.code}", **error.values)
    return build_text("first.refused.not_done", why=str(error))


class SetupStep:
    """One step of the first start.

    When the step is reached, ``open_step`` is called, and then ``gather_page_data`` runs in the background.
    """

    id: str

    def open_step(self) -> None:
        """Reset the step when it is reached, before its background task starts; do nothing by default."""

    async def gather_page_data(self, draft: CabinetFileDraft, on_change: Callable[[], None]) -> None:
        """Gather the data for the step's page, and call ``on_change`` whenever it changes. By default, do nothing."""

    def build_page(self, draft: CabinetFileDraft) -> ServicePage:
        """Return the service page of the step in its current state."""
        raise NotImplementedError

    def handle_input(self, draft: CabinetFileDraft, action: str, text: str) -> NextStepOrRefusal:
        """Process a touched action or an entered text; return the step to show next, or the text of a refusal."""
        raise NotImplementedError

    def _build_page(
        self, *tables: PageTable, prompt: Prompt | None = None, actions: tuple[PageAction, ...] = ()
    ) -> ServicePage:
        """Return the step's service page with its title and its explanation from the catalogue."""
        return ServicePage(
            id="",
            title=build_text(f"first.{self.id}.title"),
            tables=tables,
            prompt=prompt,
            actions=(BACK_ACTION, *actions),
        )


@dataclass(slots=True)
class WelcomeStep(SetupStep):
    """The first step of the first start: a list of the questions to come."""

    following_step_ids: tuple[str, ...]
    """The ids of the steps that follow this one, in order; the page lists them."""
    id: str = "welcome"

    def build_page(self, draft: CabinetFileDraft) -> ServicePage:  # noqa: ARG002 (signature of a step)
        """Return the service page that lists the steps of the first start."""
        rows = tuple(
            PageRow(
                cells=(
                    build_plain_text(number),
                    build_text(f"first.{step_id}.title"),
                    build_text(f"first.{step_id}.about"),
                )
            )
            for number, step_id in enumerate(self.following_step_ids, 1)
        )
        return ServicePage(
            id="",
            title=build_text("first.welcome.title"),
            tables=(PageTable(rows=rows),),
            actions=(_NEXT_ACTION,),
        )

    def handle_input(self, draft: CabinetFileDraft, action: str, text: str) -> NextStepOrRefusal:  # noqa: ARG002 (signature of a step)
        """Continue with the next step if "next" was touched; refuse any other action."""
        return NextStep.FORWARD if action == "next" else build_refusal_text("not_offered")


@dataclass(slots=True)
class FieldsStep(SetupStep):
    """A step in which several fields are filled in, one after the other."""

    id: str
    list_fields: Callable[[CabinetFileDraft], tuple[FormField, ...]]
    """A function that returns the fields to fill in, which may depend on earlier answers."""
    store_values: Callable[[CabinetFileDraft, dict[str, str]], None]
    """A function that stores the entered values in the draft, once all fields are filled in."""
    entered_values: dict[str, str] = field(default_factory=dict)
    """The values entered so far, by the field's name."""

    def build_page(self, draft: CabinetFileDraft) -> ServicePage:
        """Return the service page with the fields entered so far and the next field to enter."""
        next_field = self._find_next_field(draft)
        rows = tuple(
            PageRow(cells=(build_text(f"first.{self.id}.{name}"), build_plain_text(value)))
            for name, value in self.entered_values.items()
        )
        prompt = None
        if next_field is not None:
            text_kind = "serial" if next_field.name in _UPPERCASE_FIELD_NAMES else "text"
            kind = "digits" if next_field.kind is FieldKind.DIGITS else text_kind
            prompt = Prompt.model_validate(
                {
                    "label": build_text(f"first.{self.id}.{next_field.name}"),
                    "kind": kind,
                    "length_max": next_field.length_max,
                    "value": draft.machine_answers.get(next_field.name, ""),
                }
            )
        actions = () if next_field is not None else (_NEXT_ACTION,)
        return self._build_page(*([PageTable(rows=rows)] if rows else []), prompt=prompt, actions=actions)

    def handle_input(self, draft: CabinetFileDraft, action: str, text: str) -> NextStepOrRefusal:  # noqa: PLR0911 (one return for each reason of refusal)
        """Process an input: the value of the next field, "back" or "next"; return the step to show or a refusal.

        "back" removes the value entered last. "next" stores all values in the draft, once all fields are filled in.
        """
        next_field = self._find_next_field(draft)
        if action == "back":
            if not self.entered_values:
                return NextStep.BACK
            self.entered_values.popitem()
            return NextStep.STAY
        if action == "enter" and next_field is not None:
            try:
                stored_value = next_field.parse_text(
                    text.upper() if next_field.name in _UPPERCASE_FIELD_NAMES else text
                )
            except FieldError as error:
                return build_refusal_text(error.code)
            value = str(stored_value or "")
            if next_field.name in _UPPERCASE_FIELD_NAMES and not all(
                c.isascii() and (c.isalnum() or c == "-") for c in value
            ):
                return build_text("first.refused.name")
            self.entered_values[next_field.name] = value
            return NextStep.STAY
        if action == "next" and next_field is None:
            self.store_values(draft, self.entered_values)
            return NextStep.FORWARD
        return build_refusal_text("not_offered")

    def _find_next_field(self, draft: CabinetFileDraft) -> FormField | None:
        """Return the first field that has no value yet, or None if all are filled in."""
        return next(
            (field for field in self.list_fields(draft) if field.name not in self.entered_values), None
        )


#: The number of lines of a page that fit on every screen; a longer list gets a search.
_VISIBLE_OPTIONS_MAX: Final = 8
#: Fields in which only capital letters, digits and hyphens can be typed.
_UPPERCASE_FIELD_NAMES: Final = frozenset({"serial", "operator_number"})


@dataclass(slots=True)
class PickOneStep(SetupStep):
    """A step in which one option of a list is chosen; a list longer than the screen can be searched."""

    id: str
    list_options: Callable[[], list[tuple[str, PageText]]]
    """A function that returns the options to choose from, each with its text."""
    store_choice: Callable[[CabinetFileDraft, str], None]
    """A function that stores the chosen option in the draft."""

    def build_page(self, draft: CabinetFileDraft) -> ServicePage:  # noqa: ARG002 (signature of a step)
        """Return the service page with one line per option to choose from."""
        rows = tuple(
            PageRow(cells=(text,), action=f"pick:{index}")
            for index, (_, text) in enumerate(self.list_options())
        )
        prompt = (
            Prompt(label=build_text("service.search"), kind="search")
            if len(rows) > _VISIBLE_OPTIONS_MAX
            else None
        )
        return self._build_page(PageTable(rows=rows), prompt=prompt)

    def handle_input(self, draft: CabinetFileDraft, action: str, text: str) -> NextStepOrRefusal:  # noqa: ARG002 (signature of a step)
        """Store the touched option in the drafted cabinet file, and continue with the next step."""
        _, _, index_text = action.partition("pick:")
        options = self.list_options()
        if action == "back":
            return NextStep.BACK
        if not index_text.isdecimal() or int(index_text) >= len(options):
            return build_refusal_text("not_offered")
        self.store_choice(draft, options[int(index_text)][0])
        return NextStep.FORWARD


@dataclass(slots=True)
class ProbeDevicesStep(SetupStep):
    """The step that probes the serial ports and shows which devices replied; probing can be repeated."""

    list_serial_ports: Callable[[], list[str]]
    """A function that returns the serial ports to probe."""
    id: str = "devices"
    probed_port_and_protocol: tuple[str, str] | None = None
    """The serial port that is being probed, and with which protocol; None if the probing has not begun or has ended.

    Both texts are empty until the first port is probed.
    """

    def open_step(self) -> None:
        """Reset the step when it is reached: show that probing for devices is in progress."""
        self.probed_port_and_protocol = ("", "")

    async def gather_page_data(self, draft: CabinetFileDraft, on_change: Callable[[], None]) -> None:
        """Probe the serial ports, and store the devices that replied in the draft."""

        def on_progress(port: str, protocol: str) -> None:
            """Show on the service page which serial port is probed now, and for which protocol."""
            self.probed_port_and_protocol = (port, protocol)
            on_change()

        try:
            draft.devices = tuple(await probe_serial_ports(self.list_serial_ports(), on_progress))
        finally:
            self.probed_port_and_protocol = None

    def build_page(self, draft: CabinetFileDraft) -> ServicePage:
        """Return the service page of the devices that replied, and of the serial ports probed."""
        if self.probed_port_and_protocol is not None:
            port, protocol = self.probed_port_and_protocol
            progress_row = PageRow(
                cells=(build_text("first.devices.asking"), build_plain_text(f"{port}  {protocol}"))
            )
            return ServicePage(
                id="", title=build_text("first.devices.title"), tables=(PageTable(rows=(progress_row,)),)
            )
        rows = tuple(
            PageRow(
                cells=(
                    build_code_text("device", PROTOCOLS[device.protocol].device_kind),
                    build_text("first.devices.is_simulated")
                    if device.port == "bench"
                    else build_plain_text(_format_identification(device)),
                ),
                icon="warning" if device.port == "bench" else "good",
            )
            for device in draft.devices
        )
        ports_without_reply = [
            port for port in self.list_serial_ports() if port not in {device.port for device in draft.devices}
        ]
        rows += tuple(
            PageRow(cells=(build_text("first.devices.silent"), build_plain_text(port)), icon="warning")
            for port in ports_without_reply
        )
        retry_action = PageAction(id="again", label=build_text("first.devices.again"))
        simulated_action = PageAction(
            id="simulated",
            label=build_text("first.devices.simulated"),
            enabled=not self._has_real_devices(draft),
        )
        return self._build_page(PageTable(rows=rows), actions=(retry_action, simulated_action, _NEXT_ACTION))

    def handle_input(self, draft: CabinetFileDraft, action: str, text: str) -> NextStepOrRefusal:  # noqa: ARG002 (signature of a step)
        """Process a touched action: leave the step, probe again or, if no real device replied, choose simulated ones.

        Every action is refused while ports are being probed.
        """
        if self.probed_port_and_protocol is not None:
            return build_refusal_text("not_offered")
        if action == "simulated" and not self._has_real_devices(draft):
            draft.devices = tuple(FoundDevice(protocol, "bench") for protocol in SIMULATED_PROTOCOLS)
            return NextStep.STAY
        next_steps = {"back": NextStep.BACK, "next": NextStep.FORWARD, "again": NextStep.REOPEN}
        return next_steps.get(action) or build_refusal_text("not_offered")

    def _has_real_devices(self, draft: CabinetFileDraft) -> bool:
        """Return whether a real device replied to the probing."""
        return any(device.port != "bench" for device in draft.devices)


def _format_identification(device: FoundDevice) -> str:
    """Return a device's protocol, the identity that it gave, if any, and its port."""
    return "  ".join(part for part in (device.protocol, device.identity, device.port) if part)


@dataclass(slots=True)
class PickSeveralStep(SetupStep):
    """A step in which one or more options of a list are chosen."""

    id: str
    list_options: Callable[[CabinetFileDraft], list[tuple[str, PageText]]]
    """A function that returns the options to choose from, each with its text."""
    list_chosen_ids: Callable[[CabinetFileDraft], list[str]]
    """A function that returns the ids of the options chosen in the draft."""
    store_choices: Callable[[CabinetFileDraft, list[str]], None]
    """A function that stores the chosen options in the draft."""
    examine_options: Callable[[CabinetFileDraft, Callable[[str], None]], None] = lambda _draft, _report: None
    """A function that examines the options in a separate thread; it reports each option's name before examining it."""
    examined_option: str | None = None
    """The name of the option being examined; empty before the first, None once all have been examined."""

    def open_step(self) -> None:
        """Reset the step when it is reached: show that the options to choose from are being examined."""
        self.examined_option = ""

    async def gather_page_data(self, draft: CabinetFileDraft, on_change: Callable[[], None]) -> None:
        """Examine in a thread the options to choose from; then choose all of them if none has been chosen before."""
        loop = asyncio.get_running_loop()

        def on_progress(name: str) -> None:
            """Show on the service page which option is examined now."""
            self.examined_option = name
            loop.call_soon_threadsafe(on_change)

        try:
            await asyncio.to_thread(self.examine_options, draft, on_progress)
            if not self.list_chosen_ids(draft):
                self.store_choices(draft, [name for name, _ in self.list_options(draft)])
        finally:
            self.examined_option = None

    def build_page(self, draft: CabinetFileDraft) -> ServicePage:
        """Return the service page with one line per option, marked if the option is chosen."""
        if self.examined_option is not None:
            row = PageRow(
                cells=(build_text(f"first.{self.id}.examining"), build_plain_text(self.examined_option))
            )
            return ServicePage(
                id="", title=build_text(f"first.{self.id}.title"), tables=(PageTable(rows=(row,)),)
            )
        chosen_ids = set(self.list_chosen_ids(draft))
        rows = tuple(
            PageRow(cells=(text,), action=f"toggle:{index}", icon="good" if name in chosen_ids else "")
            for index, (name, text) in enumerate(self.list_options(draft))
        )
        if not chosen_ids:
            rows = (PageRow(cells=(build_text("first.one_at_least"),), icon="warning"), *rows)
        return self._build_page(
            PageTable(rows=rows), actions=(_NEXT_ACTION.model_copy(update={"enabled": bool(chosen_ids)}),)
        )

    def handle_input(self, draft: CabinetFileDraft, action: str, text: str) -> NextStepOrRefusal:  # noqa: ARG002 (signature of a step)
        """Choose the touched option, or undo its choice; go to the next step once the person confirms the list."""
        _, _, index_text = action.partition("toggle:")
        options, chosen_ids = self.list_options(draft), self.list_chosen_ids(draft)
        if action == "back":
            return NextStep.BACK
        if self.examined_option is None and index_text.isdecimal() and int(index_text) < len(options):
            name = options[int(index_text)][0]
            new_chosen_ids = set(chosen_ids) ^ {name}
            self.store_choices(draft, [option for option, _ in options if option in new_chosen_ids])
            return NextStep.STAY
        return NextStep.FORWARD if action == "next" and chosen_ids else build_refusal_text("not_offered")


@dataclass(slots=True)
class EnrolStaffStep(SetupStep):
    """The step that enrols the first staff, including those who sign the cabinet file, each with a PIN."""

    get_time: Callable[[], datetime]
    compute_pin_digest: Callable[[str], PinDigest] = PinDigest.from_pin
    id: str = "staff"
    new_person_values: list[str] | None = None
    """The values entered so far for a new person: number, name, role, PIN; None if nobody is being added."""
    earlier_rosters: list[Roster] = field(default_factory=list)
    """The roster before each person was added, oldest first; used to remove the last person again."""

    def build_page(self, draft: CabinetFileDraft) -> ServicePage:
        """Return the service page of the persons enrolled, or the prompt for the next field of a new person."""
        if self.new_person_values is not None:
            return self._build_field_page(self.new_person_values)
        people = draft.roster.person_by_staff_number.values()
        rows = tuple(
            PageRow(
                cells=(
                    build_plain_text(person.id),
                    build_plain_text(person.name),
                    build_text(f"manual.role.{person.role}"),
                )
            )
            for person in people
        )
        columns = tuple(build_text(f"first.staff.{name}") for name in ("number", "name", "role"))
        add_action = PageAction(id="add", label=build_text("first.staff.add"))
        next_action = _NEXT_ACTION.model_copy(update={"enabled": self._has_enough_signers(draft)})
        drop_action = PageAction(id="drop", label=build_text("first.staff.drop"), style="danger")
        enrolled_table = PageTable(columns=columns, rows=rows)
        more_actions = (drop_action,) if self.earlier_rosters else ()
        return self._build_page(
            enrolled_table, *self._list_missing_staff(draft), actions=(add_action, *more_actions, next_action)
        )

    def _list_missing_staff(self, draft: CabinetFileDraft) -> tuple[PageTable, ...]:
        """Return a table with the number of signers still to be enrolled, and the roles that they may have.

        Return an empty tuple if enough signers are enrolled.
        """
        missing_count = REQUIRED_SIGNER_COUNT - self._count_signers(draft)
        if missing_count <= 0:
            return ()
        row = PageRow(
            cells=(
                build_text("first.staff.short", count=missing_count),
                _build_permitted_roles_text(Permission.CONFIGURE),
            ),
            icon="warning",
        )
        return (PageTable(rows=(row,)),)

    def _build_field_page(self, entered_values: list[str]) -> ServicePage:
        """Return the service page with the prompt for the next field of a new person, after ``entered_values``."""
        field_name = ("number", "name", "role", "pin", "again")[len(entered_values)]
        prompt_kind_by_field = {"number": "digits", "role": "choice", "pin": "pin", "again": "pin"}
        choices = tuple(PageAction(id=role.value, label=build_text(f"manual.role.{role}")) for role in Role)
        prompt = Prompt.model_validate(
            {
                "label": build_text(f"first.staff.{field_name}"),
                "kind": prompt_kind_by_field.get(field_name, "text"),
                "length_max": {"number": 8, "name": 60}.get(field_name, 12),
                "choices": choices if field_name == "role" else (),
            }
        )
        shown_values = zip(("number", "name"), entered_values[:2], strict=False)
        rows = tuple(
            PageRow(cells=(build_text(f"first.staff.{label}"), build_plain_text(value)))
            for label, value in shown_values
        )
        return self._build_page(*([PageTable(rows=rows)] if rows else []), prompt=prompt)

    def handle_input(self, draft: CabinetFileDraft, action: str, text: str) -> NextStepOrRefusal:
        """Process a field's value for a new person, or an action on the list of staff if nobody is being added.

        The value of the last field enrols the person. "back" removes the value entered last. Return the step to show
        next, or the text of a refusal.
        """
        if action == "back":
            if self.new_person_values is None:
                return NextStep.BACK
            self.new_person_values = self.new_person_values[:-1] or None
            return NextStep.STAY
        if self.new_person_values is None:
            return self._handle_list_action(draft, action)
        return (
            self._process_field_value(draft, self.new_person_values, text.strip())
            if action == "enter"
            else build_refusal_text("not_offered")
        )

    def _handle_list_action(self, draft: CabinetFileDraft, action: str) -> NextStepOrRefusal:
        """Process an action on the list of staff: add a person, remove the last one, or continue."""
        if action == "add":
            self.new_person_values = []
        elif action == "drop" and self.earlier_rosters:
            draft.roster = self.earlier_rosters.pop()
        else:
            return (
                NextStep.FORWARD
                if action == "next" and self._has_enough_signers(draft)
                else build_refusal_text("not_offered")
            )
        return NextStep.STAY

    def _process_field_value(
        self, draft: CabinetFileDraft, entered_values: list[str], text: str
    ) -> NextStepOrRefusal:
        """Check and store the next field of a new person; after the repeated PIN, enrol the person.

        If the two PINs differ, ask for both again.
        """
        if len(entered_values) < 4:
            refusal_text = _find_field_refusal(draft.roster, len(entered_values), text)
            if refusal_text is None:
                entered_values.append(text)
            return refusal_text or NextStep.STAY
        staff_number, name, role, pin = entered_values
        if text != pin:
            del entered_values[3:]
            return build_refusal_text("not_the_same")
        self.new_person_values = None
        roster_before = draft.roster
        person = Person(staff_number, name, Role(role))
        try:
            draft.roster = roster_before.enrol_person(
                person, self.compute_pin_digest(pin), changed_by="", changed_at=self.get_time()
            )
        except OperatorError as error:
            return build_text("first.refused.staff", why=str(error))
        self.earlier_rosters.append(roster_before)
        return NextStep.STAY

    def _count_signers(self, draft: CabinetFileDraft) -> int:
        """Return how many of the enrolled persons may sign the cabinet file."""
        return sum(
            person.has_permission(Permission.CONFIGURE)
            for person in draft.roster.person_by_staff_number.values()
        )

    def _has_enough_signers(self, draft: CabinetFileDraft) -> bool:
        """Return whether enough of the enrolled persons may sign the cabinet file."""
        return self._count_signers(draft) >= REQUIRED_SIGNER_COUNT


def _find_field_refusal(roster: Roster, field_index: int, text: str) -> PageText | None:  # noqa: PLR0911 (one return for each reason of refusal)
    """Return why ``text`` is not valid for a field of a new person, or None if it is valid.

    ``field_index``: 0 the number, 1 the name, 2 the role, 3 the PIN.
    """
    if not text:
        return build_refusal_text("missing")
    if field_index == 0 and not (text.isascii() and text.isdigit() and len(text) <= 8):
        return build_refusal_text("not_digits")
    if field_index == 0 and text in roster.person_by_staff_number:
        return build_text(
            "first.refused.number_taken", number=text, name=roster.person_by_staff_number[text].name
        )
    if field_index == 1 and not (text.isprintable() and len(text) <= 60):
        return build_refusal_text("too_long")
    if field_index == 2 and text not in set(Role):
        return build_refusal_text("not_offered")
    if (
        field_index == 2
        and not roster.person_by_staff_number
        and not Person("0", "-", Role(text)).has_permission(Permission.ENROL_STAFF)
    ):
        return PageText(kind="text", value="first.refused.first_one")
    if field_index == 3:
        try:
            check_pin_is_permitted(text)
        except PinRefusedError:
            return build_refusal_text("weak_pin")
    return None


def _build_permitted_roles_text(permission: Permission) -> PageText:
    """Return the names of the roles that have this permission, as a text with commas."""
    permitted_roles = [role for role in Role if Person("0", "-", role).has_permission(permission)]
    return PageText(
        kind="list",
        value=", ",
        values={str(i): f"manual.role.{role}" for i, role in enumerate(permitted_roles)},
    )


def list_profiles() -> list[tuple[str, PageText]]:
    """Return the jurisdictions that have a profile, with their names as text."""
    return [(name, build_multilingual_text(load_profile(name).title)) for name in list_profile_ids()]


def list_time_zones() -> list[tuple[str, PageText]]:
    """Return the time zones by their IANA names: UTC, and those named after a region and place."""
    return [
        (name, build_plain_text(name))
        for name in sorted(available_timezones())
        if "/" in name or name == "UTC"
    ]


def list_admitted_games(draft: CabinetFileDraft) -> list[tuple[str, PageText]]:
    """Return the games that the jurisdiction admits, with their names as text."""
    return [(name, build_multilingual_text(game.title)) for name, game in draft.admitted_games.items()]


def list_denominations(draft: CabinetFileDraft) -> list[tuple[str, PageText]]:
    """Return the denominations of the chosen games, with their values as text."""
    return [(str(cents), build_money_text(cents)) for cents in draft.available_denominations_cents]
