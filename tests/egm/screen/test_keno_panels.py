"""The panels of a Keno game on the smallest telephone show every kind of ticket, and prizes apart from numbers."""

import pygame
import pytest
from test_alignment import list_written_texts

from egm.screen.layout import build_telephone_layout
from egm.screen.picture import Picture
from egm.screen.text import LOCALE_BY_LANGUAGE
from paytables import load_game
from tools.lab.views import build_game_view, build_idle_view

SMALLEST = build_telephone_layout(360, 640)


@pytest.mark.parametrize("language", LOCALE_BY_LANGUAGE)
def test_the_smallest_telephone_lists_every_kind_of_ticket_and_no_texts_touch(theme, language):
    view = build_game_view(load_game("aurora-keno"))
    found = list_written_texts(Picture(theme, layout=SMALLEST), build_idle_view((view,), view, language))
    panels = [pygame.Rect(SMALLEST.left_panel), pygame.Rect(SMALLEST.right_panel)]
    texts = [(words, text_rect) for words, text_rect in found if text_rect.collidelist(panels) >= 0]
    kinds = [form["name"][language] for form in view.presentation["forms"]]
    assert [words for words, _ in texts if words in kinds] == kinds
    for i, (words, text_rect) in enumerate(texts):
        for other, beside in texts[i + 1 :]:
            assert not text_rect.inflate(4, -12).colliderect(beside.inflate(4, -12)), f"{words} and {other}"
