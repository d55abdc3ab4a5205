"""First-start step that enrols the machine with a progressive controller, by files on an enrolment stick (USB).

The machine writes a certificate request to the stick, and the controller's staff bring the answer back on it.
The link takes effect only when two people have signed the cabinet file that names it. The key of the request
survives a power loss, so the controller's answer remains valid.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from egm.app.first_start.draft import CabinetFileDraft
from egm.app.first_start.steps import (
    NextStep,
    NextStepOrRefusal,
    SetupStep,
    build_failure_text,
    build_refusal_text,
)
from egm.errors import OperatorError
from egm.kernel.service_pages import PageAction, PageRow, PageTable, PageText, ServicePage
from egm.progressive.enrolment_data import (
    CertificateDetails,
    EnrolmentStick,
    compute_key_digest,
    create_request,
)
from egm.progressive.enrolment_page import build_certificate_table, build_error_table
from egm.progressive.link_folder import LinkCertificateFolder
from egm.staff.page_texts import build_plain_text, build_text, build_two_column_table


@dataclass(slots=True)
class LinkEnrolmentStep(SetupStep):
    """The step that enrols the machine with a progressive controller: certificate request and answer.

    Both are optional, because a machine without linked levels needs no link.
    """

    certificate_folder: LinkCertificateFolder
    """The folder of the machine's certificate for the progressive link, and of its key."""
    enrolment_stick: EnrolmentStick
    """The enrolment stick of the controller's staff."""
    get_time: Callable[[], datetime]
    id: str = "link"
    stick_result: PageText | None = None
    """Text on the last action with the enrolment stick, shown on the page; None before the first action."""

    def open_step(self) -> None:
        """Reset the step when it is reached: clear the result of the last stick action from the page."""
        self.stick_result = None

    def build_page(self, draft: CabinetFileDraft) -> ServicePage:
        """Return the service page on which the machine is enrolled with a progressive controller.

        It shows instructions, the digest of the requested certificate's key, the certificate once it is installed,
        and the actions that are possible.
        """
        instruction_rows = (
            PageRow(cells=(build_plain_text(n), build_text(f"first.link.step_{n}"))) for n in (1, 2, 3)
        )
        tables: list[PageTable] = [PageTable(rows=tuple(instruction_rows))]
        link_certificate: CertificateDetails | None = None
        try:
            key = self.certificate_folder.read_request_key()
            if key is not None:
                digest = build_plain_text(compute_key_digest(key.public_key()))
                tables.append(
                    build_two_column_table((("link.key", digest),), build_text("service.link.asks"))
                )
            link_certificate = self._read_enrolment_of_this_machine(draft)
            if link_certificate is not None:
                tables.append(build_certificate_table(link_certificate, "answer"))
        except OperatorError as error:
            tables.append(build_error_table(error))
        if self.stick_result is not None:
            tables.append(PageTable(rows=(PageRow(cells=(self.stick_result,), icon="good"),)))
        actions = (
            PageAction(id="request", label=build_text("service.link.link_request")),
            PageAction(id="answer", label=build_text("service.link.link_answer")),
            PageAction(id="next", label=build_text("first.next"), style="confirm")
            if link_certificate is not None
            else PageAction(id="without", label=build_text("first.link.without"), style="confirm"),
        )
        return self._build_page(*tables, actions=actions)

    def handle_input(self, draft: CabinetFileDraft, action: str, text: str) -> NextStepOrRefusal:  # noqa: ARG002 (signature of a step)
        """Process a touched action: write the certificate request, read the controller's answer, or continue.

        Continuing is possible with or without a progressive link. Return the step to show next, or the text
        of a refusal.
        """
        handler_by_action = {
            "request": self._write_enrolment_request,
            "answer": self._install_controller_answer,
            "next": self._adopt_enrolment,
            "without": self._skip_enrolment,
        }
        if action == "back":
            return NextStep.BACK
        if action not in handler_by_action:
            return build_refusal_text("not_offered")
        self.stick_result = None
        try:
            return handler_by_action[action](draft)
        except (OperatorError, OSError) as error:
            return build_failure_text(error)

    def _write_enrolment_request(self, draft: CabinetFileDraft) -> NextStepOrRefusal:
        """Write the machine's certificate request to the enrolment stick; stay on this step."""
        key = self.certificate_folder.get_or_create_request_key()
        self.enrolment_stick.write_request(create_request(key, draft.machine_answers["serial"]))
        self.stick_result = build_text("first.link.asked")
        return NextStep.STAY

    def _install_controller_answer(self, draft: CabinetFileDraft) -> NextStepOrRefusal:
        """Read the controller's answer from the enrolment stick, check it, and use its certificate.

        The current step stays on the screen.
        """
        answer, key = self.enrolment_stick.read_answer(), self.certificate_folder.read_request_key()
        digest = "" if key is None else compute_key_digest(key.public_key())
        answer.read_certificate_details().check_holder_and_validity(
            draft.machine_answers["serial"], digest, self.get_time()
        )
        self.certificate_folder.activate_certificate(self.certificate_folder.store_answer(answer))
        return NextStep.STAY

    def _adopt_enrolment(self, draft: CabinetFileDraft) -> NextStepOrRefusal:
        """Add the progressive link, with the certificate in use, to the drafted cabinet file, and go to the next step.

        Refuse if no link certificate is in use.
        """
        link_certificate = self._read_enrolment_of_this_machine(draft)
        if link_certificate is None:
            return build_refusal_text("not_offered")
        draft.progressive_link_table = self.certificate_folder.build_cabinet_table(
            *_parse_broker_address(link_certificate)
        )
        draft.link_certificate = link_certificate
        return NextStep.FORWARD

    def _skip_enrolment(self, draft: CabinetFileDraft) -> NextStepOrRefusal:
        """Remove the progressive link from the drafted cabinet file, and go to the next step."""
        draft.link_certificate, draft.progressive_link_table = None, {}
        return NextStep.FORWARD

    def _read_enrolment_of_this_machine(self, draft: CabinetFileDraft) -> CertificateDetails | None:
        """Return the details of the link certificate in use, or None without one for this machine's serial number.

        Raises EnrolmentError if the certificate has expired or is not valid yet.
        """
        certificate_details = self.certificate_folder.read_certificate_details()
        if certificate_details is None or certificate_details.serial != draft.machine_answers.get("serial"):
            return None
        certificate_details.check_holder_and_validity(
            certificate_details.serial, certificate_details.key_digest, self.get_time()
        )
        return certificate_details


def _parse_broker_address(certificate_details: CertificateDetails) -> tuple[str, int]:
    """Return the host and port of the controller's broker that the certificate states."""
    host, _, port = certificate_details.broker.rpartition(":")
    return host, int(port)
