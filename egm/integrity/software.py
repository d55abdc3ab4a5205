"""Software verification against the signed manifest: at start, after a door closes, now and then (A-12..16).

Two faults speak of it. ``software_differs`` names what is not as signed, and ends by itself with its cause.
``software_check`` comes with it and stays until a technician has looked: so the machine plays again only when
the files are right *and* an authorised person has said so.

What is installed is kept in the journal under :attr:`IntegrityKey.SOFTWARE`; whatever differs
from it at a start is recorded component by component. A cabinet file that pins another key than before, or
none any more, takes the same technician.
"""

import asyncio
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from egm.config.cabinet_file import CabinetFile
from egm.errors import LocalError
from egm.integrity.technician import SOFTWARE_CHECK as CHECK
from egm.integrity.technician import SOFTWARE_DIFFERS as DIFFERS
from egm.integrity.technician import SoftwareCheck
from egm.kernel.events import Event, EventType
from egm.kernel.machine import Machine
from egm.kernel.messages import Snapshot
from egm.kernel.services import Attachment, MachineContext
from egm.records.keys import IntegrityKey
from egm.verify.examine import Findings, examine, examine_beside
from egm.verify.tree import own_files

_SHOWN_MAX: Final = 3


class Verifier:
    """Holds one machine's software against its manifest and tells the state table what it finds."""

    def __init__(self, context: MachineContext) -> None:
        self._machine: Machine = context.engine.machine
        self._handle = context.handle
        self._file: CabinetFile = context.file

    def at_start(self) -> None:
        """Examine everything before anything may be played, and record what has changed since last time."""
        pinned = self._file.software
        stored = self._machine.memory.get(IntegrityKey.SOFTWARE)
        if pinned is None:
            if stored is not None:
                self._installed(stored, None)
            return
        machine = self._machine
        games = machine.games.values()
        read = (machine.profile.file, *(game.source for game in games))
        opened = [source for source in read if source is not None]
        opened += [source for game in games for source in game.assets.values()]
        findings = examine(pinned.manifest, pinned.key, own_files(self._file), opened)
        if findings.right:
            self._installed(stored, findings)
        self._conclude(findings, "start")

    async def again(self, why: str) -> None:
        """Examine once more, beside the machine."""
        pinned = self._file.software
        if pinned is None:
            return
        try:
            findings = await examine_beside(pinned.manifest, pinned.key, own_files(self._file))
        except LocalError as error:
            findings = Findings((str(error),), (pinned.manifest.name,))
        self._conclude(findings, why)

    def _conclude(self, findings: Findings, why: str) -> None:
        standing = self._machine.faults.get(DIFFERS)
        detail = _shown(findings.names)
        if findings.right:
            self._machine.log("software.verified", {"version": findings.version, "when": why})
        else:
            self._machine.record(
                "software.differs",
                counts={"verify_fail": 1},
                details={"trouble": list(findings.trouble), "when": why},
            )
        if standing is not None and standing["detail"] != detail:
            self._handle(Event(EventType.FAULT_CLEARED, {"code": DIFFERS}))
        if not findings.right:
            self._lock(CHECK, detail)
            self._lock(DIFFERS, detail)

    def _lock(self, code: str, detail: str) -> None:
        self._handle(Event(EventType.FAULT_RAISED, {"code": code, "detail": detail}))

    # ------------------------------------------------------------------ what is installed
    def _installed(self, kept: Any, found: Findings | None) -> None:
        """Record what is another than at the last start (A-16); another signer needs a technician's word."""
        now: dict[str, Any] = {
            "version": "" if found is None else found.version,
            "signer": "" if found is None else found.signer,
            "components": {} if found is None else dict(found.components or {}),
        }
        if kept == now:
            return
        before: Mapping[str, Any] = kept or {"version": "", "signer": "", "components": {}}
        self._machine.record(
            "software.changed",
            state={IntegrityKey.SOFTWARE: None if found is None else now},
            details={
                "version": [before["version"], now["version"]],
                "signer": [before["signer"], now["signer"]],
                "reason": "" if found is None else found.reason,
                "components": changes(before["components"], now["components"]),
            },
        )
        if kept is not None and before["signer"] != now["signer"]:
            self._lock(CHECK, f"{before['signer']} → {now['signer'] or '-'}")


def _shown(names: tuple[str, ...]) -> str:
    """The files in trouble as one line for the screen; the journal has more."""
    rest = len(names) - _SHOWN_MAX
    return ", ".join(names[:_SHOWN_MAX]) + (f" + {rest}" if rest > 0 else "")


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, list[str]]:
    """Each component that was added, removed or altered: its digest before and now; empty where none."""
    return {
        name: [before.get(name, ""), now.get(name, "")]
        for name in sorted(before.keys() | now.keys())
        if before.get(name) != now.get(name)
    }


class Reverification:
    """Examines again after a door has closed, when somebody asks, and after so many hours."""

    name = "software"

    def __init__(self, context: MachineContext) -> None:
        self._verifier = Verifier(context)
        self._hours = context.file.software.recheck_hours if context.file.software else 0
        self._doors: tuple[str, ...] = ()
        self._wanted = asyncio.Event()
        self._why = ""
        context.engine.machine.state(SoftwareCheck).ask = partial(self._want, "asked")

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            try:
                async with asyncio.timeout(self._hours * 3600):
                    await self._wanted.wait()
            except TimeoutError:
                self._why = "periodic"
            self._wanted.clear()
            await self._verifier.again(self._why)

    def changed(self, now: Snapshot) -> None:
        """Notice a door that was open and is not."""
        if set(self._doors) - set(now.doors_open):
            self._want("door_closed")
        self._doors = now.doors_open

    def _want(self, why: str) -> None:
        self._why = why
        self._wanted.set()


def reverification(context: MachineContext) -> Iterable[Attachment]:
    """Where a manifest is pinned."""
    return () if context.file.software is None else (Reverification(context),)
