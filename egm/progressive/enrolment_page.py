"""Enrolment of the machine in the progressive link by staff: a page of the service menu with three forms.

First form: the machine's certificate request is written to a USB stick that the controller's staff have
prepared. Second form: their answer is read from the stick and checked against this machine. Third form: two
people who have compared the certificate digests put the certificate into use. The journal states which
certificate is in use. If the power fails before the entry about the new certificate is written, nothing has changed;
if it fails afterwards, the next start completes the change.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from egm.config.levels import ProgressiveLinkTable
from egm.errors import OperatorError
from egm.integrity.keys import IntegrityKey
from egm.kernel.events import Event, EventType
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Notice
from egm.kernel.rules import refusal_code
from egm.kernel.service_pages import PageAction, PageRow, PageTable, ServicePage
from egm.people import Permission
from egm.progressive.connection import check_certificates
from egm.progressive.enrolment_data import (
    STICK_PATH,
    CertificateDetails,
    EnrolmentAnswer,
    EnrolmentError,
    EnrolmentStick,
    compute_key_digest,
    create_request,
)
from egm.progressive.entries import (
    ENROLMENT_ANSWERED,
    ENROLMENT_REFUSED,
    ENROLMENT_REQUESTED,
    LINK_CERTIFICATE_FOUND,
    LINK_ENROLLED,
    CertificateInUse,
    EnrolmentRefused,
    EnrolmentRequested,
    LinkCertificate,
    LinkCertificateWithPersons,
)
from egm.progressive.events import EnrolmentForm
from egm.progressive.keys import ProgressiveKey
from egm.progressive.link_folder import LinkCertificateFolder
from egm.staff.desk import MenuItem, MenuPage, OpenPage, PageResult, build_refusal
from egm.staff.form import Form, list_event_persons
from egm.staff.page_texts import (
    BACK_ACTION,
    build_plain_text,
    build_text,
    build_time_text,
    build_two_column_table,
)
from egm.staff.service.form_filling import FormFillingPage

#: Persons required to put a certificate into use.
REQUIRED_PERSON_COUNT: Final = 2


@dataclass(slots=True)
class EnrolmentState:
    """State of the enrolment in the progressive link: its folder, the USB stick, and an answer not yet in use."""

    certificate_folder: LinkCertificateFolder = field(
        default_factory=lambda: LinkCertificateFolder(Path("link"))
    )
    enrolment_stick: EnrolmentStick = field(default_factory=lambda: EnrolmentStick(STICK_PATH))
    progressive_link_table: ProgressiveLinkTable | None = None
    pending_answer: EnrolmentAnswer | None = None


def reconcile_certificate_at_start(
    machine: PositionMachine,
    folder: LinkCertificateFolder,
    stick: EnrolmentStick,
    link_table: ProgressiveLinkTable | None,
) -> None:
    """At start-up, make the certificate in use and the journal agree on the link certificate.

    If the journal names another stored certificate than the one in use, put that one into use. If the journal does not
    name the certificate in use, record it. Files that are not in use are removed.
    """
    machine.install(EnrolmentState(folder, stick, link_table))
    if link_table is None or link_table.key != folder.key_path:
        return
    recorded_certificate = machine.memory.read(CertificateInUse, ProgressiveKey.LINK_CERTIFICATE)
    recorded_digest = "" if recorded_certificate is None else recorded_certificate.certificate_digest
    try:
        if (
            recorded_digest
            and recorded_digest != folder.current_certificate_digest
            and folder.has_complete_certificate(recorded_digest)
        ):
            folder.activate_certificate(recorded_digest)
        details = folder.read_certificate_details()
        if details is not None and recorded_digest != folder.current_certificate_digest:
            # At a first start, the people who signed the cabinet file have compared the certificate.
            signed_cabinet_file = machine.memory.get(IntegrityKey.SIGNED_CABINET_FILE)
            _record_certificate(
                machine,
                details,
                signed_cabinet_file["persons"]
                if not recorded_digest and signed_cabinet_file is not None
                else (),
            )
        folder.remove_unused_files()
    except EnrolmentError as error:
        machine.post(
            ENROLMENT_REFUSED,
            EnrolmentRefused(step="start", reason=error.code, values=error.values, persons=()),
        )


def _record_certificate(
    machine: PositionMachine, details: CertificateDetails, persons: Sequence[str]
) -> None:
    """Record that a link certificate is in use, and which persons put it into use.

    Without persons, the certificate was found in use at start-up.
    """
    state: dict[str, object] = {
        ProgressiveKey.LINK_CERTIFICATE: CertificateInUse(certificate_digest=details.certificate_digest)
    }
    if len(persons) >= REQUIRED_PERSON_COUNT:
        certificate = LinkCertificateWithPersons(**details.to_entry_fields(), persons=tuple(persons))
        machine.post(LINK_ENROLLED, certificate, state=state)
    else:
        machine.post(LINK_CERTIFICATE_FOUND, LinkCertificate(**details.to_entry_fields()), state=state)


# ---------------------------------------------------------------------------------------------- forms of staff
@refusal_code("link_folder_is_own")
def link_files_are_in_machine_folder(machine: PositionMachine, _: Event) -> bool:
    """Return whether the cabinet file names the progressive link's files in the machine's own folder."""
    enrolment = machine.component(EnrolmentState)
    return (
        enrolment.progressive_link_table is not None
        and enrolment.progressive_link_table.key == enrolment.certificate_folder.key_path
    )


#: The three forms of the enrolment steps: write the request, read the answer, put it into use.
ENROLMENT_FORMS: Final = tuple(
    Form(
        id=f"link_{step}",
        event=EventType.ENROL_LINK,
        permission=Permission.CONFIGURE,
        person_count=person_count,
        submission_guards=(link_files_are_in_machine_folder,),
        preset_values={"step": step},
    )
    for step, person_count in (("request", 1), ("answer", 1), ("enrol", REQUIRED_PERSON_COUNT))
)


def perform_enrolment_step(machine: PositionMachine, event: Event) -> None:
    """Perform the step of the enrolment in the progressive link that the form requests; record its result or error."""
    persons, step = list_event_persons(machine, event), event.read_payload(EnrolmentForm).step
    try:
        if step == "request":
            _write_request(machine, persons)
        elif step == "answer":
            _read_controller_answer(machine, persons)
        else:
            _put_certificate_into_use(machine, persons)
    except EnrolmentError as error:
        _record_refusal(machine, event, error.code, error.values)
    except OperatorError as error:
        _record_refusal(machine, event, "link_not_written", {"why": str(error)})


def _record_refusal(machine: PositionMachine, event: Event, code: str, values: dict[str, int | str]) -> None:
    """Record why a step of the enrolment failed, and show the reason.

    ``code`` is the error code; ``values`` fill in its text.
    """
    machine.post(
        ENROLMENT_REFUSED,
        EnrolmentRefused(
            step=event.read_payload(EnrolmentForm).step,
            reason=code,
            values=values,
            persons=tuple(list_event_persons(machine, event)),
        ),
    )
    machine.notice = Notice(code=f"refused.{code}", values=values)


def _write_request(machine: PositionMachine, persons: list[str]) -> None:
    """Write the machine's certificate request to the USB stick and record it; discard an answer read earlier."""
    enrolment = machine.component(EnrolmentState)
    key = enrolment.certificate_folder.get_or_create_request_key()
    enrolment.pending_answer = None
    enrolment.enrolment_stick.write_request(create_request(key, machine.identity.serial))
    machine.post(
        ENROLMENT_REQUESTED,
        EnrolmentRequested(key_digest=compute_key_digest(key.public_key()), persons=tuple(persons)),
    )


def _read_controller_answer(machine: PositionMachine, persons: list[str]) -> None:
    """Read the controller's answer to the certificate request from the USB stick, check it and record it.

    It is not put into use yet.
    """
    enrolment = machine.component(EnrolmentState)
    enrolment.pending_answer = None
    answer = enrolment.enrolment_stick.read_answer()
    details = answer.read_certificate_details()
    _check_answer(machine, details)
    enrolment.pending_answer = answer
    machine.post(
        ENROLMENT_ANSWERED, LinkCertificateWithPersons(**details.to_entry_fields(), persons=tuple(persons))
    )


def _check_answer(machine: PositionMachine, details: CertificateDetails) -> None:
    """Raise EnrolmentError unless the controller's answer is valid now and for this machine.

    It must name the machine's serial number, the key of its pending request, and the broker in the cabinet
    file.
    """
    key = machine.component(EnrolmentState).certificate_folder.read_request_key()
    link_table = machine.component(EnrolmentState).progressive_link_table
    details.check_holder_and_validity(
        machine.identity.serial,
        "" if key is None else compute_key_digest(key.public_key()),
        machine.clock.now(),
    )
    if link_table is not None and details.broker != f"{link_table.host}:{link_table.port}":
        raise EnrolmentError(
            "link_other_broker", broker=details.broker, file=f"{link_table.host}:{link_table.port}"
        )


def _put_certificate_into_use(machine: PositionMachine, persons: list[str]) -> None:
    """Put the certificate of the controller's answer into use for the link; record it and ``persons``."""
    enrolment = machine.component(EnrolmentState)
    if enrolment.pending_answer is None:
        raise EnrolmentError("link_no_answer")
    details = enrolment.pending_answer.read_certificate_details()
    _check_answer(machine, details)
    certificate_digest = enrolment.certificate_folder.store_answer(enrolment.pending_answer)
    enrolment.pending_answer = None
    _record_certificate(machine, details, persons)
    enrolment.certificate_folder.activate_certificate(certificate_digest)
    enrolment.certificate_folder.remove_unused_files()


# ---------------------------------------------------------------------------------------------- the page
def build_certificate_table(
    details: CertificateDetails, title: str, *, is_authority_changed: bool = False
) -> PageTable:
    """Return the details of a link certificate as a table, which staff compare with the controller's display.

    With ``is_authority_changed``, the table warns that the certificate's authority differs from that in use.
    """
    table = build_two_column_table(
        (
            ("link.serial", build_plain_text(details.serial)),
            ("link.key", build_plain_text(details.key_digest)),
            ("link.authority", build_plain_text(f"{details.authority_digest}  {details.issuer}")),
            ("link.since", build_time_text(details.valid_from.isoformat())),
            ("link.until", build_time_text(details.valid_until.isoformat())),
            ("link.broker", build_plain_text(details.broker)),
        ),
        build_text(f"service.link.{title}"),
    )
    if not is_authority_changed:
        return table
    warning_row = PageRow(
        cells=(build_text("service.link.other_authority"), build_plain_text("")), icon="alarm"
    )
    return table.model_copy(update={"rows": (*table.rows, warning_row)})


class LinkPage(MenuPage):
    """The service page for the enrolment in the progressive link.

    It shows the certificate in use, the pending request, the answer, and the next step.
    """

    def build_page(self, machine: PositionMachine) -> ServicePage:
        """Return the service page of the progressive link's enrolment in its current state."""
        form_actions = (
            PageAction(id=form_id, label=build_text(f"service.link.{form_id}"))
            for form_id in _list_open_forms(machine)
        )
        return ServicePage(
            id="",
            title=build_text("service.menu.link"),
            tables=tuple(_iter_tables(machine)),
            actions=(BACK_ACTION, *form_actions),
        )

    def handle_input(self, machine: PositionMachine, action: str, text: str) -> PageResult:  # noqa: ARG002 (signature of a menu page)
        """Open the form of the enrolment step ``action``; refuse a step that is not possible now."""
        forms = _list_open_forms(machine)
        return OpenPage(FormFillingPage(forms[action])) if action in forms else build_refusal("not_offered")


def _list_open_forms(machine: PositionMachine) -> dict[str, Form]:
    """Return the forms of the enrolment steps that are possible now, by the id of the form."""
    if not link_files_are_in_machine_folder(machine, Event(EventType.ENROL_LINK, EnrolmentForm())):
        return {}
    is_answered = machine.component(EnrolmentState).pending_answer is not None
    return {form.id: form for form in ENROLMENT_FORMS if is_answered or form.id != "link_enrol"}


def _iter_tables(machine: PositionMachine) -> Iterator[PageTable]:
    """Yield the tables of the link page: the certificate in use, the pending certificate request, and the answer."""
    enrolment = machine.component(EnrolmentState)
    yield from _iter_current_certificate_tables(machine)
    if not link_files_are_in_machine_folder(machine, Event(EventType.ENROL_LINK, EnrolmentForm())):
        return
    try:
        key = enrolment.certificate_folder.read_request_key()
        if key is not None:
            yield build_two_column_table(
                (("link.key", build_plain_text(compute_key_digest(key.public_key()))),),
                build_text("service.link.asks"),
            )
        if enrolment.pending_answer is not None:
            details = enrolment.pending_answer.read_certificate_details()
            current_details = None
            with suppress(EnrolmentError):  # reported with the certificate in use
                current_details = enrolment.certificate_folder.read_certificate_details()
            is_authority_changed = (
                current_details is not None and current_details.authority_digest != details.authority_digest
            )
            yield build_certificate_table(details, "answer", is_authority_changed=is_authority_changed)
    except OperatorError as error:
        yield build_error_table(error)


def _iter_current_certificate_tables(machine: PositionMachine) -> Iterator[PageTable]:
    """Yield a table with the certificate in use and one with its error, or a table that says why none is in use."""
    enrolment = machine.component(EnrolmentState)
    link_table = enrolment.progressive_link_table
    if link_table is None:
        yield PageTable(rows=(PageRow(cells=(build_text("service.link.none"),)),))
        return
    try:
        if not link_files_are_in_machine_folder(machine, Event(EventType.ENROL_LINK, EnrolmentForm())):
            yield PageTable(
                rows=(
                    PageRow(
                        cells=(build_text("service.link.elsewhere"), build_plain_text(link_table.certificate))
                    ),
                )
            )
        elif (details := enrolment.certificate_folder.read_certificate_details()) is None:
            yield PageTable(rows=(PageRow(cells=(build_text("service.link.not_yet"),), icon="warning"),))
            return
        else:
            yield build_certificate_table(details, "in_use")
            details.check_holder_and_validity(
                machine.identity.serial, details.key_digest, machine.clock.now()
            )
        check_certificates(link_table, machine.identity.serial)
    except OperatorError as error:
        yield build_error_table(error)


def build_error_table(error: OperatorError) -> PageTable:
    """Return an error of the link's enrolment as a table, in the reader's language if the error has a text."""
    text = build_plain_text(error)
    if isinstance(error, EnrolmentError):
        text = build_text(f"notice.refused.{error.code}", **error.values)
    return PageTable(rows=(PageRow(cells=(text,), icon="alarm"),))


MENU_ITEMS: Final = (MenuItem("link", "machine", Permission.CONFIGURE, LinkPage),)
