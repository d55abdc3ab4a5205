"""A first start at the display of an emulated computer: each page is awaited and touched as it is drawn there.

The same first start runs in this process with the same answers; it gives the next page and the positions of its keys.
"""

import asyncio
import tomllib

from rigs.emulated_cabinet import OVERLAY
from rigs.screen_words import draw_snapshot, is_page_shown, page_snapshot

from egm.app.first_start.draft import CabinetFileDraft
from egm.app.first_start.link import LinkEnrolmentStep
from egm.app.first_start.probing import FoundDevice
from egm.app.first_start.wizard import CABINET_PRESET_FILE_NAME, FirstStartWizard, build_steps
from egm.clock import SystemClock
from egm.config.cabinet_file import StateFolder
from egm.kernel.messages import Intent
from egm.kernel.service_pages import ServicePage
from egm.progressive.enrolment_data import EnrolmentStick, compute_key_digest, read_request
from egm.progressive.link_folder import LinkCertificateFolder
from egm.screen.layout import LANDSCAPE_LAYOUT
from tools.floor.progressive.certificates import answer_request, make_authority

#: The persons who sign: number, name, role, PIN.
STAFF = (("11", "morgan", "manager", "482613"), ("12", "toni", "technician", "905173"))
SERIAL = "A1"
BROKER = ("10.0.2.2", 8883)
#: The devices that reply at the emulated computer's ports. In this process, any file stands for a port.
_ANSWERING = {
    "id003": "null",
    "tcl": "zero",
    "cctalk_coin": "full",
    "cctalk_hopper": "random",
    "ioboard": "urandom",
}


def locate_keys(page, size):
    """Return the positions of a page's keys, as shares of a display of this size."""
    width, height = size
    touches, _ = draw_snapshot(page_snapshot(page), width)
    scale = width / LANDSCAPE_LAYOUT.size[0]
    top = (height - LANDSCAPE_LAYOUT.size[1] * scale) / 2
    return {
        (action.name, action.value): ((x + w / 2) * scale / width, (top + (y + h / 2) * scale) / height)
        for (x, y, w, h), action in touches
    }


class FirstStart:
    """Answers the first start of a computer by touch."""

    def __init__(self, computer, folder, stick=None, floor=None, last=lambda: None):
        """``stick`` is a stick file that the floor has marked; ``floor(stick, key digest)`` answers its request.

        Without them, the machine is not enrolled. ``last`` is called before the last PIN.
        """
        self.computer, self.floor, self.last = computer, floor, last
        self.stick = None if stick is None else EnrolmentStick(stick)
        state = StateFolder(folder / "beside")
        state.create_private_folders()
        self._own = EnrolmentStick(folder / "own-stick")
        self._own.path.write_bytes(bytes(1 << 15))
        self._own.write()
        self._authority = folder / "own-authority"
        make_authority(self._authority, SystemClock().now())
        self._draft = CabinetFileDraft(
            preset_tables=tomllib.loads((OVERLAY / "etc/open-egm" / CABINET_PRESET_FILE_NAME).read_text())
        )
        link = LinkEnrolmentStep(
            LinkCertificateFolder.for_state_folder(state.root), self._own, SystemClock().now
        )
        steps = build_steps(state, folder / "beside.toml", SystemClock(), list, (link,))
        self._wizard = FirstStartWizard(steps, self._draft, lambda: None)

    def run(self):
        """Answer all pages until both persons have signed."""
        asyncio.run(self._enter_all())

    def wait_for_first_page(self):
        """Wait until the display shows the first page."""
        asyncio.run(self._wait_for_page())

    async def _enter_all(self):
        await self._do("next")
        await self._type(SERIAL, "1")
        await self._do("next")
        await self._do("pick:0")
        await self._type("hall")
        await self._do("next")
        await self._do("pick:0", body=False)  # (this computer has other time zones)
        await self._wait_for_step()
        self._draft.devices = tuple(FoundDevice(name, f"/dev/{port}") for name, port in _ANSWERING.items())
        await self._do("next", body=False)  # (this process has other ports)
        await self._do("next")
        await self._do("next")
        await (self._do("without") if self.stick is None else self._enrol())
        for person in STAFF:
            await self._do("add")
            await self._person(*person)
        await self._do("next")
        await self._do("sign", body=False)
        (first, _, _, first_pin), (second, _, _, second_pin) = STAFF
        await self._type(first, first_pin, second)
        self.last()
        await self._type(second_pin)

    async def _enrol(self):
        """Write the request to the stick and read the floor's answer; check the digests of both on the page."""
        await self._wait_for_page()
        self.computer.plug_stick(self.stick.path)
        await self._do("request")
        own_request = read_request(self._own.read()["request"])[1]
        self.computer.until(lambda: self.stick.read().get("request"), "the request on the stick")
        stick_request = read_request(self.stick.read()["request"])[1]
        keys = {compute_key_digest(own_request): compute_key_digest(stick_request)}
        await self._wait_for_page(keys)
        self.computer.save_picture("request")
        self.computer.unplug_stick()
        now, request = SystemClock().now(), self._own.read()["request"]
        self._own.write(
            request, answer_request(self._authority, request, compute_key_digest(own_request), now, BROKER)
        )
        self.floor(self.stick.path, compute_key_digest(stick_request))
        self.computer.plug_stick(self.stick.path)
        await self._do("answer", instead=keys)
        facts = [
            stick.read_answer().read_certificate_details().to_entry_fields()
            for stick in (self._own, self.stick)
        ]
        reply = dict(zip(facts[0].values(), facts[1].values(), strict=True))
        await self._wait_for_page(reply)
        self.computer.save_picture("answer")
        self.computer.unplug_stick()
        await self._do("next", instead=reply)

    async def _person(self, number, name, role, pin):
        await self._type(number, name)
        await self._wait_for_page()
        self._touch(("enter", role))
        self._apply_answer("enter", role)
        await self._type(pin, pin)

    async def _wait_for_step(self):
        if self._wizard._step_task is not None:
            await self._wizard._step_task

    async def _wait_for_page(self, instead=None, *, body=True):
        """Wait until the display shows the current page; ``instead`` has texts to be replaced in it."""
        await self._wait_for_step()
        text = self._wizard.page.model_dump_json()
        for own_text, other_text in (instead or {}).items():
            text = text.replace(own_text, other_text)
        page = ServicePage.model_validate_json(text)
        title = page.title.value
        self.computer.until(lambda: is_page_shown(self.computer.picture(), page, body=body), title, every_s=1)

    async def _do(self, action, instead=None, *, body=True):
        await self._wait_for_page(instead, body=body)
        self._touch(("answer", action))
        self._apply_answer(action)

    async def _type(self, *texts):
        for text in texts:
            await self._wait_for_page()
            self._touch(*(("type", letter) for letter in text), ("enter", None))
            self._apply_answer("enter", text)

    def _touch(self, *keys):
        places = locate_keys(self._wizard.page, self.computer.picture().size)
        for key in keys:
            self.computer.computer.touch(*places[key])

    def _apply_answer(self, action, text=""):
        options = {"page": self._wizard.page.id, "input": text}
        self._wizard.process_answer(Intent(name="answer", value=action, options=options))
        assert self._wizard._notice is None, self._wizard._notice
