"""Software verification against the signed manifest: at start, after a door closes, on request, at an interval.

Requirements A-12 to A-16.

A verification that finds differences raises two faults. ``software_differs`` names the files that are not as
signed; it ends when all files are. ``software_check`` stays until a technician clears it. So the machine plays again
only when the files are right and an authorised person has confirmed that. The installed software is stored in
the journal under :attr:`IntegrityKey.INSTALLED_SOFTWARE`; any difference at a start is recorded component by component.
If the cabinet file names a different public key than before, or none any more, a technician is needed as well.
"""

import asyncio
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final

from egm.config.cabinet_file import CabinetFile
from egm.errors import LocalError
from egm.integrity.entries import (
    SOFTWARE_CHANGED,
    SOFTWARE_DIFFERS,
    SOFTWARE_VERIFIED,
    SoftwareChanged,
    SoftwareDiffers,
    SoftwareVerified,
)
from egm.integrity.keys import IntegrityKey
from egm.integrity.records import InstalledSoftware
from egm.integrity.technician import SOFTWARE_CHECK_FAULT, SOFTWARE_DIFFERS_FAULT, SoftwareCheckRequester
from egm.kernel.events import Event, EventType, FaultChange
from egm.kernel.machine import PositionMachine
from egm.kernel.messages import Snapshot
from egm.kernel.services import BackgroundService, MachineContext
from egm.verify.examine import VerificationFindings, examine_in_child_process, verify_software_files
from egm.verify.own_files import list_own_definition_files

#: The maximum number of differing files that the screen names.
_FILE_NAMES_SHOWN_MAX: Final = 3


class SoftwareVerifier:
    """The verifier of one machine's software against its manifest, which raises and clears the software faults."""

    def __init__(self, context: MachineContext) -> None:
        self._machine: PositionMachine = context.engine.machine
        self._submit_event = context.submit_event
        self._cabinet_file: CabinetFile = context.cabinet_file

    def verify_at_start(self) -> None:
        """Verify all software before play is possible, and raise the faults of files that differ.

        If the software is as signed, record what has changed since the last start. If the cabinet file names no
        signed manifest any more, nothing is verified, and that change is recorded.
        """
        software_table = self._cabinet_file.software
        installed_software = self._machine.memory.read(InstalledSoftware, IntegrityKey.INSTALLED_SOFTWARE)
        if software_table is None:
            if installed_software is not None:
                self._record_installed_changes(installed_software, None)
            return
        machine = self._machine
        games = machine.games.values()
        sources = (machine.profile.file, *(game.source for game in games))
        files_read = [source for source in sources if source is not None]
        files_read += [source for game in games for source in game.assets.values()]
        findings = verify_software_files(
            software_table.manifest,
            software_table.manufacturer_key_hex,
            list_own_definition_files(self._cabinet_file),
            files_read,
        )
        if findings.matches_manifest:
            self._record_installed_changes(installed_software, findings)
        self._record_findings(findings, "start")

    async def reverify(self, occasion: str) -> None:
        """Verify the software again, in a separate process.

        ``occasion`` names the occasion, such as a closed door.
        """
        software_table = self._cabinet_file.software
        if software_table is None:
            return
        try:
            findings = await examine_in_child_process(
                software_table.manifest,
                software_table.manufacturer_key_hex,
                list_own_definition_files(self._cabinet_file),
            )
        except LocalError as error:
            findings = VerificationFindings((str(error),), (software_table.manifest.name,))
        self._record_findings(findings, occasion)

    def _record_findings(self, findings: VerificationFindings, occasion: str) -> None:
        """Record the result of a verification of the software, and raise or clear its faults.

        ``occasion`` names the occasion of the verification.
        """
        active_fault = self._machine.active_faults.get(SOFTWARE_DIFFERS_FAULT)
        detail = _format_file_names(findings.differing_file_names)
        if findings.matches_manifest:
            self._machine.post(
                SOFTWARE_VERIFIED, SoftwareVerified(version=findings.version, occasion=occasion)
            )
        else:
            self._machine.post(
                SOFTWARE_DIFFERS, SoftwareDiffers(differences=findings.differences, occasion=occasion)
            )
        if active_fault is not None and active_fault["detail"] != detail:
            self._submit_event(Event(EventType.FAULT_CLEARED, FaultChange(code=SOFTWARE_DIFFERS_FAULT)))
        if not findings.matches_manifest:
            self._raise_fault(SOFTWARE_CHECK_FAULT, detail)
            self._raise_fault(SOFTWARE_DIFFERS_FAULT, detail)

    def _raise_fault(self, code: str, detail: str) -> None:
        """Submit the event that raises a fault about the software."""
        self._submit_event(Event(EventType.FAULT_RAISED, FaultChange(code=code, detail=detail)))

    # ------------------------------------------------------------------ installed software
    def _record_installed_changes(
        self, last_installed: InstalledSoftware | None, findings: VerificationFindings | None
    ) -> None:
        """Record how the installed software has changed since the last start (A-16).

        If the signer has changed, a technician must confirm it.
        """
        installed_software = InstalledSoftware(
            version="" if findings is None else findings.version,
            signer="" if findings is None else findings.signer,
            components={} if findings is None else dict(findings.components or {}),
        )
        if last_installed == installed_software:
            return
        last_known_software = last_installed or InstalledSoftware(version="", signer="", components={})
        self._machine.post(
            SOFTWARE_CHANGED,
            SoftwareChanged(
                version=(last_known_software.version, installed_software.version),
                signer=(last_known_software.signer, installed_software.signer),
                reason="" if findings is None else findings.reason,
                components=compare_digests(last_known_software.components, installed_software.components),
            ),
            state={IntegrityKey.INSTALLED_SOFTWARE: None if findings is None else installed_software},
        )
        if last_installed is not None and last_known_software.signer != installed_software.signer:
            self._raise_fault(
                SOFTWARE_CHECK_FAULT, f"{last_known_software.signer} → {installed_software.signer or '-'}"
            )


def _format_file_names(names: tuple[str, ...]) -> str:
    """Return the names of the differing files as one line for the screen; the journal has the full list."""
    omitted_count = len(names) - _FILE_NAMES_SHOWN_MAX
    return ", ".join(names[:_FILE_NAMES_SHOWN_MAX]) + (f" + {omitted_count}" if omitted_count > 0 else "")


def compare_digests(
    old_digests: Mapping[str, str], new_digests: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """Return (old digest, new digest) of each software component that was added, removed or changed, by name.

    The digest of an absent component is empty.
    """
    return {
        name: (old_digests.get(name, ""), new_digests.get(name, ""))
        for name in sorted(old_digests.keys() | new_digests.keys())
        if old_digests.get(name) != new_digests.get(name)
    }


class SoftwareReverification:
    """Service that verifies the software again after a door closes, on request and at a set interval."""

    name = "software"

    def __init__(self, context: MachineContext) -> None:
        self._verifier = SoftwareVerifier(context)
        self._interval_hours = (
            context.cabinet_file.software.recheck_hours if context.cabinet_file.software else 0
        )
        self._last_open_doors: tuple[str, ...] = ()
        self._verification_requested = asyncio.Event()
        self._requested_occasion = ""
        context.engine.machine.component(SoftwareCheckRequester).request = partial(
            self._request_verification, "asked"
        )

    async def run(self) -> None:
        """Run the verifications of the software until cancelled."""
        while True:
            try:
                async with asyncio.timeout(self._interval_hours * 3600):
                    await self._verification_requested.wait()
            except TimeoutError:
                self._requested_occasion = "periodic"
            self._verification_requested.clear()
            await self._verifier.reverify(self._requested_occasion)

    def process_change(self, snapshot: Snapshot) -> None:
        """Request a verification of the software if a door has closed."""
        if set(self._last_open_doors) - set(snapshot.open_doors):
            self._request_verification("door_closed")
        self._last_open_doors = snapshot.open_doors

    def _request_verification(self, occasion: str) -> None:
        """Request a verification of the software; ``occasion`` names the occasion, such as a closed door."""
        self._requested_occasion = occasion
        self._verification_requested.set()


def create_reverification(context: MachineContext) -> Iterable[BackgroundService]:
    """Return the reverification service if the cabinet file names a signed manifest."""
    return () if context.cabinet_file.software is None else (SoftwareReverification(context),)
