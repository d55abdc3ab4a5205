"""The steps of a first start that two people sign.

In the last step they sign the drafted cabinet file, whose mistakes are shown. If the memory already has a signed file
(a board was exchanged, or the file was lost), they restore that file in the first step instead, and the journal records
who did it.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from egm.app.first_start.draft import CabinetFileDraft
from egm.app.first_start.steps import (
    REQUIRED_SIGNER_COUNT,
    NextStep,
    NextStepOrRefusal,
    SetupStep,
    build_failure_text,
    build_refusal_text,
)
from egm.app.preflight import iter_preflight_mistakes
from egm.config.cabinet_file import StateFolder
from egm.config.mistakes import ConfigMistake, Consequence
from egm.devices.protocols import PROTOCOLS
from egm.integrity.signed_file import (
    SIGNATURE_FILE_NAME,
    CabinetFileSignature,
    compute_cabinet_file_digest,
    find_last_signed_cabinet_file,
)
from egm.kernel.service_pages import PageAction, PageRow, PageTable, PageText, Prompt, ServicePage
from egm.kernel.timekeeping import ClockEvidence, find_clock_doubt
from egm.people import Permission, Person, Roster, RosterError, load_recorded_roster, read_recorded_roster
from egm.people.wrong_pins import WrongPin, edit_wrong_pins, is_locked_at_terminals
from egm.private_files import replace_private_file
from egm.staff.page_texts import (
    BACK_ACTION,
    build_money_text,
    build_multilingual_text,
    build_name_list_text,
    build_plain_text,
    build_text,
    build_time_text,
    build_two_column_table,
)
from meters import JournalError, open_view
from meters.copies import SECOND_FOLDER, JournalLocation
from meters.recall import read_details
from meters.storage import DiskStorage

#: The reason recorded for the signature of a first start, for which nobody types one.
FIRST_START_SIGNATURE_REASON: Final = "first start"
#: The reason recorded for the signature of a cabinet file restored from the memory.
RESTORATION_SIGNATURE_REASON: Final = "put back from the memory"


@dataclass(slots=True)
class SignedStep(SetupStep):
    """A first-start step in which the required number of persons enter their staff numbers and PINs.

    :meth:`read_roster` returns the persons who may sign. After the last of them, :meth:`execute_signed_action` is
    called. Too many wrong PINs lock a staff number, as at any terminal.
    """

    id: str
    wrong_pins_folder: Path
    """The state folder; its file of wrong PINs is shared by all terminals of the machine."""
    get_time: Callable[[], datetime]
    required_permission: Permission
    """The permission that each signer must have."""
    authenticated_signers: list[Person] = field(default_factory=list)
    """The persons who have entered the right PIN."""
    entered_staff_number: str | None = None
    """The staff number entered by the next signer, whose PIN is still missing."""
    is_asking_for_signers: bool = False
    """Whether the page asks for staff numbers and PINs; if False, it shows what is to be signed."""

    def read_roster(self, draft: CabinetFileDraft) -> Roster:
        """Return the roster of the persons who may sign.

        Raises OperatorError if no roster can be trusted.
        """
        return draft.roster

    def execute_signed_action(self, draft: CabinetFileDraft) -> None:
        """Execute what the persons have signed, such as writing the cabinet file. Raises OperatorError, OSError."""
        raise NotImplementedError

    def build_confirmation_tables(self, draft: CabinetFileDraft) -> tuple[PageTable, ...]:
        """Return tables of what the persons confirm with their signatures."""
        raise NotImplementedError

    def can_be_signed(self, draft: CabinetFileDraft) -> bool:
        """Return whether the persons may sign now what the page shows; each step has its own condition."""
        raise NotImplementedError

    def build_page(self, draft: CabinetFileDraft) -> ServicePage:
        """Return the page of what is to be signed.

        While persons are signing, return the page that asks the next signer for the staff number or PIN instead.
        """
        if not self.is_asking_for_signers:
            sign_action = PageAction(
                id="sign", label=build_text("first.sign"), style="confirm", enabled=self.can_be_signed(draft)
            )
            return self._build_page(*self.build_confirmation_tables(draft), actions=(sign_action,))
        if self.entered_staff_number is None:
            prompt = Prompt(label=build_text("service.staff_number"), kind="digits", length_max=8)
        else:
            prompt = Prompt(
                label=build_text("service.pin", number=self.entered_staff_number), kind="pin", length_max=12
            )
        rows = tuple(
            PageRow(cells=(build_plain_text(f"{person.id}  {person.name}"),), icon="good")
            for person in self.authenticated_signers
        )
        missing_row = PageRow(
            cells=(
                build_text("first.signers", count=REQUIRED_SIGNER_COUNT - len(self.authenticated_signers)),
            )
        )
        return self._build_page(PageTable(rows=(missing_row, *rows)), prompt=prompt)

    def handle_input(self, draft: CabinetFileDraft, action: str, text: str) -> NextStepOrRefusal:  # noqa: PLR0911 (one return for each reason of refusal)
        """Process a signer's staff number or PIN; after the last required signer, execute what was signed.

        Return the step to show next, or the text of a refusal.
        """
        if action == "back":
            return self._go_back()
        if not self.is_asking_for_signers:
            if action != "sign" or not self.can_be_signed(draft):
                return build_refusal_text("not_offered")
            self.is_asking_for_signers = True
            return NextStep.STAY
        if action != "enter":
            return build_refusal_text("not_offered")
        if self.entered_staff_number is None:
            if not text:
                return build_refusal_text("missing")
            if not (text.isascii() and text.isdigit() and len(text) <= 8):
                return build_refusal_text("not_digits")
            self.entered_staff_number = text
            return NextStep.STAY
        return self._check_signer_pin(draft, self.entered_staff_number, text)

    def _go_back(self) -> NextStep:
        """Undo the last input of the signers; without one, go to the previous step.

        If a staff number is entered, clear it. Otherwise discard the signers whose PINs were accepted.
        """
        if self.entered_staff_number is not None:
            self.entered_staff_number = None
        elif self.is_asking_for_signers:
            self.is_asking_for_signers, self.authenticated_signers = False, []
        else:
            return NextStep.BACK
        return NextStep.STAY

    def _check_signer_pin(self, draft: CabinetFileDraft, staff_number: str, pin: str) -> NextStepOrRefusal:  # noqa: PLR0911 (one return for each reason of refusal)
        """Check the PIN of one signer; after the last required signer, execute the signed action.

        A wrong PIN is recorded. Refuse a locked staff number, a person without permission, and a person who
        has signed already.
        """
        try:
            with edit_wrong_pins(self.wrong_pins_folder, must_wait=True) as wrong_pins:
                if is_locked_at_terminals(wrong_pins, staff_number):
                    return build_refusal_text("locked")
                person = self.read_roster(draft).authenticate(staff_number, pin)
                if person is None:
                    wrong_pins.append(
                        WrongPin.create_now(staff_number, self.get_time().isoformat(timespec="seconds"))
                    )
                    return build_refusal_text("wrong_pin")
            self.entered_staff_number = None
            if any(person.id == signer.id for signer in self.authenticated_signers):
                return build_refusal_text("same_person")
            if not person.has_permission(self.required_permission):
                return build_refusal_text("not_permitted")
            self.authenticated_signers.append(person)
            if len(self.authenticated_signers) < REQUIRED_SIGNER_COUNT:
                return NextStep.STAY
            self.execute_signed_action(draft)
        except (RosterError, OSError, JournalError) as error:
            self.authenticated_signers, self.entered_staff_number = [], None
            return build_failure_text(error)
        return NextStep.FORWARD

    def build_signature(self, file_text: str, reason: str) -> CabinetFileSignature:
        """Return the record of who approves this text of the cabinet file, why and when.

        The record has the text's SHA-256 and the persons who entered their PINs. "Signature" means their approval: the
        record is not signed with the machine's key.
        """
        persons = tuple(person.id for person in self.authenticated_signers)
        return CabinetFileSignature(
            compute_cabinet_file_digest(file_text),
            persons,
            reason,
            self.get_time().isoformat(timespec="seconds"),
        )


@dataclass(slots=True, kw_only=True)
class SignCabinetFileStep(SignedStep):
    """The last step, in which two people sign the whole cabinet file; it also shows the file's mistakes."""

    state_folder: StateFolder
    cabinet_file_path: Path
    cabinet_file_mistakes: tuple[ConfigMistake, ...] | None = None
    """The mistakes of the drafted cabinet file; None until it is checked."""

    def open_step(self) -> None:
        """Reset the step when it is reached: discard the check of the cabinet file, and all signers."""
        self.cabinet_file_mistakes = None
        self.is_asking_for_signers = False
        self.authenticated_signers = []
        self.entered_staff_number = None

    async def gather_page_data(self, draft: CabinetFileDraft, on_change: Callable[[], None]) -> None:  # noqa: ARG002 (signature of a step)
        """Check the drafted cabinet file in the same way as the machine does when it starts.

        The check covers this computer, the games and the jurisdiction's rules.
        """
        cabinet, mistakes = draft.parse_cabinet_file()
        if cabinet is None:
            self.cabinet_file_mistakes = tuple(mistakes)
        else:
            resolved_cabinet = cabinet.with_resolved_paths(self.cabinet_file_path.absolute().parent)
            self.cabinet_file_mistakes = tuple(
                await asyncio.to_thread(lambda: [*iter_preflight_mistakes(resolved_cabinet)])
            )

    def can_be_signed(self, draft: CabinetFileDraft) -> bool:  # noqa: ARG002 (signature of a step)
        """Return whether the cabinet file has no mistake that keeps the machine from starting."""
        return self.cabinet_file_mistakes is not None and not any(
            mistake.consequence is Consequence.START_IS_REFUSED for mistake in self.cabinet_file_mistakes
        )

    def build_confirmation_tables(self, draft: CabinetFileDraft) -> tuple[PageTable, ...]:
        """Return tables of what was chosen in the first start, and of the cabinet file's mistakes."""
        machine_answers, people = draft.machine_answers, draft.roster.person_by_staff_number.values()
        rows = (
            (build_text("first.machine.serial"), build_plain_text(machine_answers.get("serial", ""))),
            (
                build_text("first.machine.operator_number"),
                build_plain_text(machine_answers.get("operator_number", "")),
            ),
            (build_text("first.profile.title"), build_multilingual_text(draft.profile.title)),
            (build_text("first.house.site"), build_plain_text(machine_answers.get("site", ""))),
            (build_text("first.time_zone.title"), build_plain_text(machine_answers.get("time_zone", ""))),
            (build_text("first.devices.title"), _format_device_kinds(draft)),
            (
                build_text("first.games.title"),
                build_name_list_text(
                    {"names": draft.admitted_games[name].title} for name in draft.chosen_game_names
                ),
            ),
            (build_text("first.denominations.title"), build_money_text(*draft.denominations_cents or (0,))),
            (
                build_text("first.staff.title"),
                build_plain_text(", ".join(f"{person.name} ({person.id})" for person in people)),
            ),
            *(
                ()
                if draft.link_certificate is None
                else (
                    (
                        build_text("first.link.title"),
                        build_plain_text(draft.link_certificate.authority_digest),
                    ),
                )
            ),
            (
                build_text("first.file"),
                build_plain_text(compute_cabinet_file_digest(draft.format_cabinet_file())[:16]),
            ),
        )
        now = self.get_time()
        is_clock_plausible = (
            find_clock_doubt(
                ClockEvidence(shown_time=now, last_trusted_time=None, elapsed_since_trusted=None)
            )
            is None
        )
        rows = (
            *rows,
            (
                build_text("first.now" if is_clock_plausible else "first.clock_wrong"),
                build_time_text(now.isoformat()),
            ),
        )
        if self.cabinet_file_mistakes is None:
            return (
                build_two_column_table(rows),
                PageTable(rows=(PageRow(cells=(build_text("first.checking"),)),)),
            )
        if not self.can_be_signed(draft):
            rows = (*rows, (build_text("first.not_yet"), build_plain_text("")))
        mistake_rows = tuple(
            PageRow(
                cells=(build_plain_text(mistake),),
                icon="alarm" if mistake.consequence is Consequence.START_IS_REFUSED else "warning",
            )
            for mistake in self.cabinet_file_mistakes
        )
        return (
            build_two_column_table(rows),
            *([PageTable(title=build_text("first.faults"), rows=mistake_rows)] if mistake_rows else []),
        )

    def execute_signed_action(self, draft: CabinetFileDraft) -> None:
        """Write the roster, then the signature, then the cabinet file.

        After a power loss before the last write, the first start begins again.
        """
        text = draft.format_cabinet_file()
        # A roster of an earlier attempt could have more changes, and would then be preferred to the new one.
        for path in (
            self.state_folder.roster_file,
            self.state_folder.root / SECOND_FOLDER / self.state_folder.roster_file.name,
        ):
            path.unlink(missing_ok=True)
        replace(draft.roster, path=self.state_folder.roster_file).write_to(self.state_folder.roster_file)
        self.build_signature(text, FIRST_START_SIGNATURE_REASON).write(
            self.state_folder.root / SIGNATURE_FILE_NAME
        )
        replace_private_file(self.cabinet_file_path, text)


def _format_device_kinds(draft: CabinetFileDraft) -> PageText:
    """Return the kinds of the devices in the draft, such as the hopper, as a text with commas."""
    code_by_index = {
        str(i): f"device.{PROTOCOLS[found_device.protocol].device_kind}"
        for i, found_device in enumerate(draft.devices)
    }
    return PageText(kind="list", value=", ", values={**code_by_index})


@dataclass(slots=True, kw_only=True)
class RestoreCabinetFileStep(SignedStep):
    """The first step if the memory has a signed cabinet file: two people restore the file that was signed last.

    They must be on the staff roster that the machine's existing memory records.
    """

    state_folder: StateFolder
    cabinet_file_path: Path
    last_signed_text: str
    """The text of the cabinet file that was signed last; empty if none was signed."""
    shown_values: tuple[tuple[str, str], ...]
    """What the page shows about the machine and the file to restore, as (name, value) pairs."""

    def read_roster(self, draft: CabinetFileDraft) -> Roster:  # noqa: ARG002 (signature of a step)
        """Return the roster of staff that the journal of the existing memory records."""
        second_roster_file = self.state_folder.root / SECOND_FOLDER / self.state_folder.roster_file.name
        return load_recorded_roster(
            self.state_folder.roster_file, second_roster_file, read_recorded_roster(self.state_folder.root)
        )[0]

    def can_be_signed(self, draft: CabinetFileDraft) -> bool:  # noqa: ARG002 (signature of a step)
        """Return whether the memory has a signed cabinet file to restore."""
        return bool(self.last_signed_text)

    def build_confirmation_tables(self, draft: CabinetFileDraft) -> tuple[PageTable, ...]:  # noqa: ARG002 (signature of a step)
        """Return tables of the machine that the memory belongs to, and of the cabinet file to restore."""
        rows = [(build_text(f"first.{name}"), build_plain_text(value)) for name, value in self.shown_values]
        return (
            build_two_column_table(rows),
            PageTable(rows=(PageRow(cells=(build_text("first.memory.about"),)),)),
        )

    def build_page(self, draft: CabinetFileDraft) -> ServicePage:
        """Return the service page to restore the cabinet file; it has no back button, because it is the first page."""
        # super() without arguments fails in a dataclass with slots.
        page = SignedStep.build_page(self, draft)
        actions = (
            page.actions
            if self.is_asking_for_signers
            else tuple(action for action in page.actions if action != BACK_ACTION)
        )
        return page.model_copy(update={"actions": actions})

    def execute_signed_action(self, draft: CabinetFileDraft) -> None:  # noqa: ARG002 (signature of a step)
        """Store the record of the persons who restore the file, then write the restored cabinet file."""
        self.build_signature(self.last_signed_text, RESTORATION_SIGNATURE_REASON).write(
            self.state_folder.root / SIGNATURE_FILE_NAME
        )
        replace_private_file(self.cabinet_file_path, self.last_signed_text)


def create_restore_step(
    state_folder: StateFolder, cabinet_path: Path, get_time: Callable[[], datetime]
) -> RestoreCabinetFileStep | None:
    """Return the first-start step that restores the cabinet file of an existing memory; None for a new state folder.

    Raises JournalError for a memory that cannot be read.
    """
    if not JournalLocation(DiskStorage(), state_folder.root, state_folder.root / SECOND_FOLDER).has_journal:
        return None
    signed_text, shown_values = "", [("machine.serial", "")]
    with suppress(StopIteration), open_view(state_folder.root) as view:
        shown_values = [
            ("machine.serial", str(read_details(next(view.entries(limit=1))).get("machine_id", "")))
        ]
        signature = find_last_signed_cabinet_file(view)
        if signature is not None:
            signed_text = signature.text
            shown_values += [("file", signature.digest[:16]), ("signed_by", ", ".join(signature.persons))]
    return RestoreCabinetFileStep(
        id="memory",
        wrong_pins_folder=state_folder.root,
        get_time=get_time,
        required_permission=Permission.CONFIGURE,
        state_folder=state_folder,
        cabinet_file_path=cabinet_path,
        last_signed_text=signed_text,
        shown_values=tuple(shown_values),
    )
