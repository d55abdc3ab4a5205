"""Every page of a real machine's service menu is drawn completely, in both languages and both orientations."""

import pygame
from rigs.layouts import PHONE
from test_picture import LETTERS_MIN, Watcher

from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT
from egm.screen.message_reducer import apply_message
from egm.screen.picture import Picture
from egm.screen.scenes.recall import list_page_touch_targets
from tools.dev.gallery.pages import list_real_pages
from tools.lab.views import build_idle_view


def test_every_page_of_the_menu_is_drawn_completely(tmp_path, published, theme):
    pages = list_real_pages(tmp_path)
    assert len({page.title.value for page in pages}) > 30
    assert any(page.replay is not None for page in pages)
    faults, empty = [], 0
    for layout in (LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT, PHONE):
        picture = Picture(theme, layout=layout)
        watcher = picture.painter = Watcher(theme)
        surface = pygame.Surface(picture.size_pixels)
        for language in ("en", "fr"):
            idle_view = build_idle_view(
                published, published[0], language, accepted_inputs=("language", "service")
            )
            for page in pages:
                view = apply_message(idle_view, idle_view.snapshot.model_copy(update={"service_page": page}))
                watcher.begin()
                picture.draw_view(surface, view)
                name = (language, layout.size, page.title.value)
                faults += [(*name, *spoilt) for spoilt in watcher.spoilt]
                for i, (words, box, size) in enumerate(watcher.written):
                    if "kind='" in words:
                        faults.append((*name, words, "is no words but a value of the program"))
                    if not surface.get_rect().contains(box) or size < LETTERS_MIN[layout.is_telephone]:
                        faults.append((*name, words, tuple(box), size))
                    faults += [
                        (*name, words, "overlaps", other)
                        for other, other_rect, _ in watcher.written[:i]
                        if box.colliderect(other_rect)
                    ]
                if any(not table.rows for table in page.tables) and page.prompt is None:
                    empty += 1
                    if picture.find_texts(view).translate("page.none") not in [
                        words for words, _, _ in watcher.written
                    ]:
                        faults.append((*name, "does not say that there is nothing to show"))
                offered = {action.id for action in page.actions if action.enabled}
                context = picture._build_context(view)
                touched = {act.value for _, act in list_page_touch_targets(context) if act.name == "answer"}
                assert offered <= touched, f"{name}: cannot be reached: {offered - touched}"
    assert empty
    assert not faults, "\n".join(map(str, faults[:40]))
