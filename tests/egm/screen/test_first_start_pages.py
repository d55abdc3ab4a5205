"""Every page of a first start is drawn completely, in both languages and every shape of screen."""

import asyncio
from pathlib import Path

import pygame
from rigs.layouts import PHONE
from test_picture import LETTERS_MIN, Watcher

from egm.app.first_start.draft import CabinetFileDraft
from egm.app.first_start.link import LinkEnrolmentStep
from egm.app.first_start.probing import FoundDevice
from egm.app.first_start.steps import list_profiles
from egm.app.first_start.wizard import FirstStartWizard, build_steps
from egm.config.cabinet_file import StateFolder
from egm.kernel.messages import Intent
from egm.progressive.enrolment_data import EnrolmentStick, compute_key_digest, read_request
from egm.progressive.link_folder import LinkCertificateFolder
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT
from egm.screen.message_reducer import apply_message
from egm.screen.picture import Picture
from egm.screen.scenes.recall import list_page_touch_targets
from egm.screen.text import Texts
from egm.testing.machine import StoppedClock
from tools.floor.progressive.certificates import answer_request, make_authority
from tools.lab.views import build_idle_view

BY_ID = "/dev/serial/by-id/usb-FTDI_FT232R_USB_UART_A1B2C3D4-if00-port0"
FOUND = (
    FoundDevice("id003", BY_ID, "JCM UBA-10-SS"),
    FoundDevice("tcl", BY_ID, "FL-PSA66"),
    FoundDevice("ioboard", BY_ID),
)
PEOPLE = (("11", "Morgan", "manager", "4826"), ("12", "Inès Tremblay-Bouchard", "technician", "905173"))


async def walk_first_start(folder):
    """Return every page of a first start, from the first to the second person's PIN."""
    state = StateFolder(folder / "state")
    state.create_private_folders()
    draft = CabinetFileDraft(preset_tables={"games": [{"game": "maple-classic"}, {"game": "aurora-keno"}]})
    stick, authority = EnrolmentStick(folder / "stick"), folder / "floor"
    stick.path.write_bytes(bytes(1 << 15))
    make_authority(authority, StoppedClock().now())
    link = LinkEnrolmentStep(LinkCertificateFolder.for_state_folder(state.root), stick, StoppedClock().now)
    steps = build_steps(state, folder / "c.toml", StoppedClock(), list, (link,))
    wizard = FirstStartWizard(steps, draft, lambda: None)
    pages = [wizard.page]

    async def touch(action, text=""):
        wizard.process_answer(
            Intent(name="answer", value=action, options={"page": wizard.page.id, "input": text})
        )
        pages.append(wizard.page)
        if wizard._step_task is not None:
            await asyncio.gather(wizard._step_task, return_exceptions=True)
        pages.append(wizard.page)

    await touch("next")
    for text in ("first 1", "FIRST-1", "7"):
        await touch("enter", text)
    await touch("next")
    await touch("pick:3")
    for text in ("Chez Lise", "Lise Tremblay"):
        await touch("enter", text)
    await touch("next")
    await touch("pick:100")
    await touch("pick:\N{SUPERSCRIPT TWO}")
    draft.devices = FOUND
    for _ in range(3):
        await touch("next")
    await touch("request")  # somebody's own stick
    stick.write()
    await touch("request")
    request = stick.read()["request"]
    key = compute_key_digest(read_request(request)[1])
    stick.write(
        request, answer_request(authority, request, key, StoppedClock().now(), ("floor.example", 8883))
    )
    await touch("answer")
    await touch("next")
    for person in PEOPLE:
        await touch("add")
        for text in (*person, person[-1]):
            await touch("enter", text)
    await touch("next")
    await touch("sign")
    for text in ("11", "4826", "12"):
        await touch("enter", text)
    wizard.close()
    return pages


def test_every_page_of_a_first_start_is_drawn_completely(tmp_path, monkeypatch, published, theme):
    monkeypatch.chdir(tmp_path)  # pages name files, whose paths have one length wherever the tests run
    pages = list(
        {
            page.model_dump_json(exclude={"id"}): page for page in asyncio.run(walk_first_start(Path()))
        }.values()
    )
    assert len({page.title.value for page in pages}) == 11
    assert sum(page.notice is not None for page in pages) >= 1
    faults, lines = [], set()
    for layout in (LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT, PHONE):
        picture = Picture(theme, layout=layout)
        watcher = picture.painter = Watcher(theme)
        surface = pygame.Surface(picture.size_pixels)
        for language in ("en", "fr"):
            idle_view = build_idle_view(published, published[0], language, accepted_inputs=("language",))
            for page in pages:
                view = apply_message(idle_view, idle_view.snapshot.model_copy(update={"service_page": page}))
                watcher.begin()
                picture.draw_view(surface, view)
                name = (language, layout.size, page.title.value)
                lines |= {words for words, _, _ in watcher.written}
                faults += [(*name, *spoilt) for spoilt in watcher.spoilt]
                for i, (words, box, size) in enumerate(watcher.written):
                    if not surface.get_rect().contains(box) or size < LETTERS_MIN[layout.is_telephone]:
                        faults.append((*name, words, tuple(box), size))
                    others = watcher.written[:i]
                    faults += [
                        (*name, words, "overlaps", other)
                        for other, other_rect, _ in others
                        if box.colliderect(other_rect)
                    ]
                touched = {
                    act.value
                    for _, act in list_page_touch_targets(picture._build_context(view))
                    if act.name == "answer"
                }
                assert {action.id for action in page.actions if action.enabled} <= touched, name
    # One is one where it is drawn, too, and not only where it is worded.
    assert {
        "One more person must be able to sign the cabinet file",
        "Il manque une personne qui peut signer le fichier de configuration",
    } <= lines
    assert not faults, "\n".join(map(str, faults[:40]))


def test_no_amount_has_a_currency_before_the_jurisdiction_is_chosen(tmp_path):
    state = StateFolder(tmp_path / "state")
    state.create_private_folders()
    draft = CabinetFileDraft(preset_tables={"games": [{"game": "maple-classic"}]})
    wizard = FirstStartWizard(
        build_steps(state, tmp_path / "c.toml", StoppedClock(), list), draft, lambda: None
    )
    shown = []

    def answer(action, text=""):
        shown.append(Texts("en").format_money(0, draft.currency))
        wizard.process_answer(
            Intent(name="answer", value=action, options={"page": wizard.page.id, "input": text})
        )

    choice = f"pick:{[name for name, _ in list_profiles()].index('monaco')}"
    for action, text in (("next", ""), ("enter", "X 1"), ("enter", "X-1"), ("enter", "7"), ("next", "")):
        answer(action, text)
    answer(choice)
    wizard.close()
    assert set(shown) == {"0.00"}
    assert Texts("en").format_money(0, draft.currency) == "\u20ac0.00"
