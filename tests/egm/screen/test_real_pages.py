"""The service menu of a real machine, walked page by page: each is drawn whole in both languages and ways up."""

import pygame
import pytest
from test_picture import LEAST_LETTERS, Watcher

from egm.kernel.events import EventType
from egm.people import Role
from egm.screen.hearing import heard
from egm.screen.layout import LANDSCAPE, PHONE, PORTRAIT
from egm.screen.picture import Picture
from egm.screen.scenes.recall import page_touches
from egm.testing.machine import MachineRig
from egm.testing.service_menu import Menu
from tools.lab.views import at_rest

#: Pages enough for every section and its first steps; the walk stops there.
PAGES_MOST = 110


def leads_on(page):
    """What of a page leads further without acting: its plain actions and its rows that can be touched."""
    found = [one.id for one in page.actions if one.enabled and one.style == "go"]
    found += [row.action for table in page.tables for row in table.rows[:30] if row.action]
    if page.prompt is not None and page.prompt.kind == "choice":
        return found
    return found


def walk(menu, seen):
    """Every page within two steps of the main menu, each shape once, and the first prompt of each form."""
    yield menu.page
    everything = sorted(menu.everything())
    for first in [*leads_on(menu.home().page), *everything]:
        menu.home().touch(first)
        if not menu.is_open:
            menu.open().prove(Role.MANAGER)
            continue
        page = menu.page
        key = (page.title.value, len(page.tables), page.prompt is None)
        if key in seen:
            continue
        seen.add(key)
        yield page
        for second in leads_on(page)[:4]:
            if not menu.is_open or menu.page.title != page.title or second not in leads_on(menu.page):
                menu.home().touch(first)
            menu.touch(second)
            if not menu.is_open:
                menu.open().prove(Role.MANAGER)
                continue
            yield menu.page


@pytest.fixture
def real_pages(tmp_path):
    room = MachineRig(tmp_path).boot().insert(2000)
    for _ in range(3):
        room.engine.handle(EventType.PLAY)
        room.shown()
    menu = Menu(room)
    found = [menu.open().page]
    menu.prove(Role.MANAGER)
    found.append(menu.home().touch("recall").page)
    found.append(menu.touch(next(row.action for row in menu.page.tables[0].rows)).page)
    found.append(menu.touch("show").page)
    menu.home()
    for page in walk(menu, set()):
        found.append(page)
        if len(found) >= PAGES_MOST:
            break
    room.close()
    return found


def test_every_page_of_the_menu_is_drawn_whole(real_pages, published, theme):
    assert len({page.title.value for page in real_pages}) > 30
    assert any(page.replay is not None for page in real_pages)
    faults = []
    for layout in (LANDSCAPE, PORTRAIT, PHONE):
        picture = Picture(theme, layout=layout)
        watcher = picture.painter = Watcher(theme)
        surface = pygame.Surface(picture.pixels)
        for language in ("en", "fr"):
            rest = at_rest(published, published[0], language, accepts=("language", "service"))
            for page in real_pages:
                view = heard(rest, rest.snapshot.model_copy(update={"page": page}))
                watcher.written = []
                picture.draw(surface, view)
                name = (language, layout.size, page.title.value)
                for i, (words, box, size) in enumerate(watcher.written):
                    if not surface.get_rect().contains(box) or size < LEAST_LETTERS[layout.slim]:
                        faults.append((*name, words, tuple(box), size))
                    faults += [
                        (*name, words, "overlaps", other)
                        for other, at, _ in watcher.written[:i]
                        if box.colliderect(at)
                    ]
                offered = {one.id for one in page.actions if one.enabled}
                stage = picture._stage(view)
                touched = {act.value for _, act in page_touches(stage) if act.name == "answer"}
                assert offered <= touched, f"{name}: cannot be reached: {offered - touched}"
    assert not faults, "\n".join(map(str, faults[:40]))
