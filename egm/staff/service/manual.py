"""The operator's and the service manual: chapters of tables, generated from the data that the machine itself uses.

Most rows come from the declared faults and journal entries, the meters, the menu, the forms, the state-table rules, the
roles and the device protocols, with the texts of the screen's catalogue. Only the codes of device faults and the number
of steps of each procedure are listed here. The service menu shows the chapters
(:mod:`egm.staff.service.manual_page`); ``egm manual`` prints them (:mod:`tools.lab.manual`).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from egm.devices.ioboard.codec import HARD_METER_COUNT, INPUTS, TOWER_LIGHTS
from egm.devices.protocols import PROTOCOLS
from egm.kernel.events import EventName, State
from egm.kernel.faults import SIGNIFICANCE_BY_FAULT, get_fault_definition
from egm.kernel.rules import get_refusal_code
from egm.kernel.service_pages import PageRow, PageTable, PageText
from egm.kernel.significance import ClearCondition, EventEffect
from egm.kernel.states import STATE_SET_NAMES, STATES_BY_URGENCY
from egm.people import Permission
from egm.people.roles import Role, find_permissions
from egm.staff.form import Form
from egm.staff.interventions import COVERED_DOORS_BY_WORK_KIND
from egm.staff.page_texts import build_code_text, build_plain_text, build_text
from egm.staff.service.menu import MENU_SECTIONS, ServiceMenu
from meters.table import METERS, OCCURRENCE_METERS

#: Kind of device -> the codes of its faults that SIGNIFICANCE_BY_FAULT covers only by a pattern.
_FAULT_CODES_BY_DEVICE_KIND: Final = {
    "bill_acceptor": ("communication", "failure", "power", "jam", "stacker_jam", "wrong_values"),
    "ticket_printer": ("failure", "head_up", "chassis_open"),
    "hopper": ("communication", "failure", "power", "cheat", "sensor_stuck"),
    "coin_acceptor": ("communication", "failure", "power"),
    "io_board": ("communication", "power", "hard_meter"),
    "wheel": ("communication", "failure"),
}
#: Effect of an event -> the last part of the key of its catalogue text.
_TEXT_KEY_BY_EFFECT: Final = {
    EventEffect.LOG: "log",
    EventEffect.STOP: "stop",
    EventEffect.HARD_STOP: "stop",
    EventEffect.ACCEPTOR_OFF: "hampers",
    EventEffect.PAYOUT_OFF: "hampers",
    EventEffect.LAMP: "lamp",
    EventEffect.OUT_OF_SERVICE: "closes",
    EventEffect.LOCK: "lock",
}
#: Who clears an event -> the last part of the key of its catalogue text.
_TEXT_KEY_BY_CLEAR_CONDITION: Final = {
    ClearCondition.NOTHING: "nothing",
    ClearCondition.ITSELF: "self",
    ClearCondition.ATTENDANT: "attendant",
    ClearCondition.TECHNICIAN: "technician",
    ClearCondition.RULING: "ruling",
    ClearCondition.MEMORY_CLEAR: "memory_clear",
}
#: Number of steps of each procedure: ``manual.steps.<procedure>.s<number>``.
STEP_COUNT_BY_PROCEDURE: Final = {
    "denomination": 5,
    "memory": 4,
    "first_start": 5,
    "link": 5,
    "board": 4,
    "backup": 3,
}


@dataclass(frozen=True, slots=True)
class ManualChapter:
    """One chapter of a manual: a table whose rows have one cell for each of the ``columns``.

    The first cell of a row is what a reader looks up, such as a fault. The chapter's texts are ``manual.chapter.<id>``,
    ``manual.about.<id>`` and ``manual.column.<column>``.
    """

    id: str
    columns: tuple[str, ...]
    build_rows: Callable[[ServiceMenu], Iterable[tuple[PageText, ...]]]
    is_for_operator: bool = True
    """Whether the chapter is also in the operator's manual; the service manual has all chapters."""

    @property
    def title(self) -> PageText:
        """Return the chapter's title."""
        return build_text(f"manual.chapter.{self.id}")

    def build_table(self, menu: ServiceMenu) -> PageTable:
        """Return the whole chapter of the manual as a table."""
        column_titles = tuple(build_text(f"manual.column.{name}") for name in self.columns)
        return PageTable(
            columns=column_titles, rows=tuple(PageRow(cells=cells) for cells in self.build_rows(menu))
        )


def join_texts(keys: Iterable[str], separator: str = "") -> PageText:
    """Return one text that lists several catalogue texts, separated by ``separator``."""
    return PageText(kind="list", value=separator, values={str(index): key for index, key in enumerate(keys)})


def list_fault_codes() -> list[str]:
    """Return the codes of all faults of the machine, sorted: ``device.code``, or the code alone."""
    device_codes = (
        f"{device}.{code}" for device, codes in _FAULT_CODES_BY_DEVICE_KIND.items() for code in codes
    )
    return sorted(
        {*device_codes, "monitoring.port_taken", *(code for code in SIGNIFICANCE_BY_FAULT if "*" not in code)}
    )


def _iter_fault_rows(_: ServiceMenu) -> Iterator[tuple[PageText, ...]]:
    """Yield the manual's row of each fault: text, remedy, effect, who clears it, and code."""
    for code in list_fault_codes():
        fault = get_fault_definition(code)
        effect = (
            "stop"
            if fault.stops_play
            else "closes"
            if fault.puts_out_of_service
            else "hampers"
            if fault.has_effect
            else "log"
        )
        yield (
            build_code_text("tilt.text", code),
            build_text(f"manual.remedy.{code}"),
            build_text(f"manual.effect.{effect}"),
            build_text(f"manual.clears.{fault.cleared_by}"),
            build_plain_text(code),
        )


def _iter_state_rows(_: ServiceMenu) -> Iterator[tuple[PageText, ...]]:
    """Yield the manual's row of each machine state, the most urgent state first: its name and its meaning."""
    for state in (*STATES_BY_URGENCY, *(state for state in State if state not in STATES_BY_URGENCY)):
        yield build_text(f"manual.state.{state}"), build_text(f"manual.state_means.{state}")


def _list_permitted_roles(permission: Permission | None) -> PageText:
    """Return the roles that have a permission, in one cell; every role if no permission is required."""
    return join_texts(
        f"manual.role.{role}" for role in Role if permission is None or permission in find_permissions(role)
    )


def _iter_permission_rows(_: ServiceMenu) -> Iterator[tuple[PageText, ...]]:
    """Yield the manual's row of each permission: name and permitted roles."""
    for permission in Permission:
        yield build_text(f"manual.permission.{permission}"), _list_permitted_roles(permission)


def _iter_menu_rows(menu: ServiceMenu) -> Iterator[tuple[PageText, ...]]:
    """Yield the manual's row of each page of the service menu: name, section and permitted roles."""
    for section in MENU_SECTIONS:
        for menu_item in menu.list_section_pages(section):
            yield (
                build_text(f"service.menu.{menu_item.id}"),
                build_text(f"service.section.{section}"),
                _list_permitted_roles(menu_item.permission),
            )


def _iter_form_rows(menu: ServiceMenu) -> Iterator[tuple[PageText, ...]]:
    """Yield the manual's row of each staff form: title, fields, conditions, machine states, persons and roles."""
    for form in menu.forms:
        yield (
            build_text(f"form.{form.id}.title"),
            join_texts(f"form.{form.id}.{form_field.name}" for form_field in form.fields),
            join_texts(f"service.needs.{get_refusal_code(guard)}" for guard in form.submission_guards),
            join_texts(
                dict.fromkeys(f"manual.set.{name}" for name in iter_state_set_names(menu, form.event))
            ),
            build_plain_text(form.person_count),
            _list_permitted_roles(form.permission),
        )


def iter_state_set_names(menu: ServiceMenu, event: EventName) -> Iterator[str]:
    """Yield the catalogue names of the sets of machine states in which an event is accepted."""
    for rule in menu.rules:
        if event in rule.events:
            yield STATE_SET_NAMES[rule.states].replace(" ", "_")


def _build_step_rows(procedure: str) -> Callable[[ServiceMenu], Iterator[tuple[PageText, ...]]]:
    """Return a function that yields the numbered steps of the catalogue's ``procedure`` as rows of the manual."""

    def iter_step_rows(_: ServiceMenu) -> Iterator[tuple[PageText, ...]]:
        """Yield the numbered steps of the procedure as rows."""
        for number in range(1, STEP_COUNT_BY_PROCEDURE[procedure] + 1):
            yield build_plain_text(number), build_text(f"manual.steps.{procedure}.s{number}")

    return iter_step_rows


def _iter_denomination_rows(menu: ServiceMenu) -> Iterator[tuple[PageText, ...]]:
    """Yield the manual's rows about changing denominations: who may do it, and the steps."""
    form = next((form for form in menu.forms if form.id == "options_denomination"), None)
    yield from _iter_form_details(form)
    yield from _build_step_rows("denomination")(menu)


def _iter_memory_clear_rows(menu: ServiceMenu) -> Iterator[tuple[PageText, ...]]:
    """Yield the manual's rows about a memory clear: who may do it, and the steps."""
    yield build_text("manual.column.roles"), _list_permitted_roles(Permission.CLEAR_MEMORY)
    yield from _build_step_rows("memory")(menu)


def _iter_form_details(form: Form | None) -> Iterator[tuple[PageText, ...]]:
    """Yield the manual's rows about a form: the roles that may use it, and its conditions."""
    if form is not None:
        yield build_text("manual.column.roles"), _list_permitted_roles(form.permission)
        yield (
            build_text("manual.column.needs"),
            join_texts(f"service.needs.{get_refusal_code(guard)}" for guard in form.submission_guards),
        )


def _iter_meter_rows(_: ServiceMenu) -> Iterator[tuple[PageText, ...]]:
    """Yield the manual's row of each meter: name, unit, whether it is a running total or a present amount, and code."""
    for meter in METERS:
        reading_kind = "level" if meter.can_decrease else "total"
        yield (
            build_code_text("meter_name", meter.name),
            build_text(f"manual.unit.{meter.unit}"),
            build_text(f"manual.reads.{reading_kind}"),
            build_plain_text(meter.name),
        )
    for name in OCCURRENCE_METERS:
        yield (
            build_code_text("meter_name", name),
            build_text("manual.unit.times"),
            build_text("manual.reads.total"),
            build_plain_text(name),
        )


def _iter_intervention_kind_rows(_: ServiceMenu) -> Iterator[tuple[PageText, ...]]:
    """Yield the manual's row of each kind of intervention: name, and the doors that it covers."""
    for kind, doors in COVERED_DOORS_BY_WORK_KIND.items():
        yield (
            build_text(f"form.intervention.kind_{kind}"),
            join_texts(f"door.{door}" for door in sorted(doors)),
        )


def _iter_serial_line_rows(_: ServiceMenu) -> Iterator[tuple[PageText, ...]]:
    """Yield the manual's row of each device protocol: device, protocol, line settings and wiring."""
    for protocol, definition in PROTOCOLS.items():
        line_settings = definition.line_settings
        yield (
            build_code_text("device", definition.device_kind),
            build_plain_text(protocol),
            build_plain_text(
                f"{line_settings.baud_rate} {line_settings.data_bits}{line_settings.parity}{line_settings.stop_bits}"
            ),
            build_text(f"manual.wiring.{protocol}"),
        )


#: Group of an input of the I/O board -> the catalogue section that names its members.
_TEXT_KEY_BY_INPUT_KIND: Final = {
    "door": "door",
    "key": "input.key",
    "button": "input.button",
    "sensor": "manual.sensor",
}


def _iter_input_rows(_: ServiceMenu) -> Iterator[tuple[PageText, ...]]:
    """Yield the manual's row of each input, tower light and mechanical counter of the I/O board."""
    for number, (group, name) in enumerate(INPUTS):
        yield (
            build_text(f"{_TEXT_KEY_BY_INPUT_KIND[group]}.{name}"),
            build_text(f"manual.input.{group}"),
            build_plain_text(number),
        )
    for number, name in enumerate(TOWER_LIGHTS):
        yield build_text(f"manual.tower.{name}"), build_text("manual.input.tower"), build_plain_text(number)
    for number in range(HARD_METER_COUNT):
        yield build_text("manual.input.counter"), build_text("manual.input.counter"), build_plain_text(number)


def _iter_event_rows(menu: ServiceMenu) -> Iterator[tuple[PageText, ...]]:
    """Yield the manual's row of each significant event: text, effect, who clears it, SAS code and code."""
    for event_pattern, event in menu.entry_declarations.iter_significant_kinds():
        yield (
            build_event_text(event_pattern),
            build_text(f"manual.effect.{_TEXT_KEY_BY_EFFECT[event.effect]}"),
            build_text(f"manual.clears.{_TEXT_KEY_BY_CLEAR_CONDITION[event.cleared_by]}"),
            build_plain_text("-" if event.sas_exception_code is None else f"{event.sas_exception_code:02X}"),
            build_plain_text(event_pattern),
        )


def build_event_text(event_pattern: str) -> PageText:
    """Return the text of a significant event; ``event_pattern`` is its ``kind`` or ``kind:subject``, as declared."""
    kind, _, subject = event_pattern.partition(":")
    if kind == "event":
        return build_text(f"manual.event.{subject.replace('.', '_')}")
    if subject.isdigit():  # the value of a bill, in minor units
        return build_text(f"manual.event.{kind.replace('.', '_')}", amount_cents=int(subject))
    entry_text_key = f"entry.{kind.replace('.', '_')}"
    return join_texts(filter(None, (entry_text_key, _find_subject_text_key(kind, subject))), "  ·  ")


def _find_subject_text_key(event_kind: str, subject_pattern: str) -> str:
    """Return the catalogue key of the text for the subject of an event: a fault, door, menu or service call.

    Empty if the event has no subject. Examples of faults: ``hopper.*`` -> ``device.hopper``, ``bill_acceptor.*jam`` ->
    ``tilt.text.bill_acceptor.jam``, ``hopper.jam`` -> ``tilt.text.hopper.jam``.
    """
    if not subject_pattern:
        return ""
    if event_kind.startswith("fault."):
        device, _, code = subject_pattern.partition(".*")
        device_text_key = f"device.{device}" if device in _FAULT_CODES_BY_DEVICE_KIND else "manual.any"
        pattern_text_key = f"tilt.text.{device}.{code}" if code else device_text_key
        return pattern_text_key if "*" in subject_pattern else f"tilt.text.{subject_pattern}"
    sections = {"menu": "manual.event.menu_", "service": "manual.event.", "door": "door."}
    return (
        "manual.any"
        if subject_pattern == "*"
        else f"{sections[event_kind.partition('.')[0]]}{subject_pattern}"
    )


MANUAL_CHAPTERS: Final = (
    ManualChapter("faults", ("shown", "remedy", "effect", "clears", "code"), _iter_fault_rows),
    ManualChapter("states", ("state", "means"), _iter_state_rows),
    ManualChapter("roles", ("permission", "roles"), _iter_permission_rows),
    ManualChapter("menu", ("entry", "section", "roles"), _iter_menu_rows),
    ManualChapter("forms", ("form", "fields", "needs", "when", "persons", "roles"), _iter_form_rows),
    ManualChapter("denomination", ("step", "what"), _iter_denomination_rows),
    ManualChapter("memory", ("step", "what"), _iter_memory_clear_rows),
    ManualChapter("meters", ("meter", "unit", "reads", "code"), _iter_meter_rows),
    *(
        ManualChapter(name, ("step", "what"), _build_step_rows(name), is_for_operator=False)
        for name in ("first_start", "link", "board", "backup")
    ),
    ManualChapter("doors", ("kind", "doors"), _iter_intervention_kind_rows, is_for_operator=False),
    ManualChapter(
        "lines", ("device", "protocol", "line", "wiring"), _iter_serial_line_rows, is_for_operator=False
    ),
    ManualChapter("inputs", ("input", "group", "number"), _iter_input_rows, is_for_operator=False),
    ManualChapter(
        "events", ("event", "effect", "clears", "sas", "code"), _iter_event_rows, is_for_operator=False
    ),
)


def list_chapters(audience: str) -> tuple[ManualChapter, ...]:
    """Return the chapters of the ``operator``'s or the ``service`` manual."""
    return tuple(chapter for chapter in MANUAL_CHAPTERS if chapter.is_for_operator or audience == "service")
