"""The whole picture: no text is clipped, crushed or overlapping, and every touch point is drawn."""

import re
from dataclasses import replace
from itertools import pairwise

import pygame
import pytest
from rigs.layouts import LAYOUTS, PHONE
from rigs.painters import TextPainter

from egm.screen.input_reducer import apply_action
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT, build_telephone_layout, is_inside
from egm.screen.painter import Painter, TextStyle
from egm.screen.picture import Picture
from egm.screen.view import Action, PlayerPage
from paytables import list_table_games
from tools.dev.gallery import iter_game_scenes
from tools.dev.gallery.felts import (
    GAMES_WITH_LONGEST_TEXTS,
    TABLE_GAMES,
    iter_felt_scenes,
    iter_table_game_scenes,
    load_table_game,
)
from tools.dev.gallery.machine import iter_machine_scenes
from tools.dev.gallery.pages import iter_real_page_scenes, list_real_pages
from tools.lab.views import build_idle_view

#: Two sizes, each in one language, in the quick tier (French has the longest texts, a telephone the least room); every
#: size in both languages in the slow tier.
DRAWN = [
    pytest.param(layout, language, id=f"{name}-{language}")
    for name, layout in LAYOUTS.items()
    for language in ("en", "fr")
]
SOME = [
    pytest.param(layout, id=name, marks=() if name == "phone" else pytest.mark.slow)
    for name, layout in LAYOUTS.items()
]
LETTERS_MIN = {True: 18, False: 16}
"""Letters smaller than this, in units, cannot be read: 10 of a telephone's pixels, 16 of a cabinet's."""
LEGAL = ("defect.refund",)
"""Legal notices, that may be smaller."""


class Watcher(TextPainter):
    """A painter that records the visible texts, their ink rects and their letter sizes.

    It also records faults: texts partly under a plate, or beyond the edge of their own plate.
    """

    def __init__(self, theme):
        super().__init__(theme)
        self.begin()

    def begin(self):
        """Begin a new picture."""
        self.written, self.spoilt, self.plates = [], [], []

    def draw_text(self, words, at, style, *, align="centre", width_max=None, alpha=1.0):
        rect = super().draw_text(words, at, style, align=align, width_max=width_max, alpha=alpha)
        canvas = self.render_text(words, style, width_max).get_bounding_rect().move(rect.topleft)
        if words.strip():
            self.written.append(
                (
                    words,
                    canvas,
                    self.find_font(
                        style.font_face, self._fit_font_pixels(words, style, width_max)
                    ).point_size,
                )
            )
            self._stands(words, canvas)
        return rect

    def _stands(self, words, canvas):
        """Check that words whose middle is on a plate are completely on it, clear of its edge."""
        on = [plate for plate in self.plates if plate.collidepoint(canvas.center)]
        if on and not on[-1].inflate(-2 * self.scale_length(EDGE), -2 * self.scale_length(EDGE)).contains(
            canvas
        ):
            self.spoilt.append((words, "leaves its plate", tuple(canvas), tuple(on[-1])))

    def _cover(self, rect, *, plate=False):
        box = self.scale_rect(rect)
        under = [entry for entry in self.written if box.colliderect(entry[1])]
        if plate:
            self.spoilt += [
                (words, "is half covered", tuple(canvas), tuple(box))
                for words, canvas, _ in under
                if not box.contains(canvas)
            ]
            self.plates.append(box)
        self.written = [entry for entry in self.written if entry not in under]
        if not plate and rect[2] * rect[3] > 300 * 130:
            self.plates = [plate for plate in self.plates if not box.colliderect(plate)]

    def draw_cached_picture(self, key, rect, make, *, alpha=1.0):
        if key[0] in CHIPS:
            self._cover(rect)
            self.plates.append(self.scale_rect(rect))
        if key[0] in COVERS:
            self._cover(rect, plate=key[0] in PLATES)

    def fill_rounded_rect(self, rect, paint, radius=0):
        if rect[2] * rect[3] > 300 * 130:
            self._cover(rect)

    def draw_panel(self, rect, *, radius=18, fill="panel", edge_paint="panel_edge", edge_width=2):
        self._cover(rect, plate=True)


#: Words keep so far from the edge of their plate, in units.
EDGE = 2
#: Art that hides texts drawn before it.
PLATES = {"plate", "sheet", "tile", "key", "cell"}
"""Those that words stand on; coins and badges pass over what they pass over."""
CHIPS = {"chip", "won"}
"""What lies on a cloth as chips do, over whatever is printed there; its own figure stands on it whole."""
COVERS = {"plate", "sheet", "tile", "key", "cell", "coin", "ball", "badge", "hold coin"}


def all_scenes(published, outcomes, language, theme, layout):
    yield from iter_machine_scenes(published, language, theme)
    for game in published:
        for name, view in iter_game_scenes(published, game, outcomes[game.id], language, theme, layout):
            yield f"{game.id}/{name}", view
    yield from iter_table_game_scenes((*TABLE_GAMES, *GAMES_WITH_LONGEST_TEXTS), language, theme, layout)


def list_drawing_faults(scenes, theme, layout):
    """Return the faults of these scenes: words that are cut off, half covered, overlapping or too small."""
    picture = Picture(theme, layout=layout)
    watcher = picture.painter = Watcher(theme)
    surface = pygame.Surface(picture.size_pixels)
    surface_rect = surface.get_rect()
    faults = []
    for name, view in scenes:
        watcher.begin()
        picture.draw_view(surface, view)
        notices = [picture.find_texts(view).translate(key) for key in LEGAL]
        if name != "drawer":  # it slides over the art behind it
            faults += [(name, *spoilt) for spoilt in watcher.spoilt]
        for i, (words, box, size) in enumerate(watcher.written):
            if not surface_rect.contains(box):
                faults.append((name, words, "leaves the picture", tuple(box)))
            is_legal = any(words in notice for notice in notices)  # a line of a notice of two lines
            if size < LETTERS_MIN[layout.is_telephone] and not is_legal and not words.isdecimal():
                faults.append((name, words, "too small", size))
            if re.search(r"(?<!\.)\.\.(?!\.)", words):
                faults.append((name, words, "ends with two full stops"))
            faults += [
                (name, words, "overlaps", other)
                for other, other_rect, _ in watcher.written[:i]
                if box.colliderect(other_rect)
            ]
    return faults


@pytest.mark.requirement("N-01:d")
@pytest.mark.parametrize(("layout", "language"), DRAWN)
def test_no_text_is_clipped_crushed_or_overlapping(published, outcomes, theme, language, layout):
    faults = list_drawing_faults(all_scenes(published, outcomes, language, theme, layout), theme, layout)
    assert not faults, "\n".join(map(str, faults))


@pytest.mark.requirement("N-01:d")
@pytest.mark.parametrize(
    "name", ["quebec-texas-holdem-room", "quebec-blackjack-progressive-3", "quebec-red-dog"]
)
def test_no_text_of_the_fullest_tables_is_clipped_crushed_or_overlapping(theme, name):
    """Tested with the narrowest hands and the longest texts, in French and in portrait."""
    faults = list_drawing_faults(
        iter_table_game_scenes([name], "fr", theme, PORTRAIT_LAYOUT), theme, PORTRAIT_LAYOUT
    )
    assert not faults, "\n".join(map(str, faults))


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_no_text_of_any_table_is_clipped_crushed_or_overlapping(theme, language, layout):
    other_games = [
        name for name in list_table_games() if name not in {*TABLE_GAMES, *GAMES_WITH_LONGEST_TEXTS}
    ]
    assert len(other_games) > 30
    faults = list_drawing_faults(iter_table_game_scenes(other_games, language, theme, layout), theme, layout)
    assert not faults, "\n".join(map(str, faults))


HOLDS = [
    name
    for name in list_table_games()
    if name.startswith(("all-", "bonus", "deuces", "double", "jacks", "joker"))
]


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in GAMES_WITH_LONGEST_TEXTS else pytest.mark.slow)
        for name in HOLDS
    ],
)
def test_cards_to_hold_are_as_wide_as_a_finger_and_the_pay_table_is_visible(theme, layout, name):
    """In every layout, five cards as wide as a finger are side by side below the complete pay table."""
    scenes = dict(iter_felt_scenes(*load_table_game(name), "fr", theme, layout))
    picture = Picture(theme, layout=layout)
    watcher = picture.painter = Watcher(theme)
    watcher.begin()
    picture.draw_view(pygame.Surface(picture.size_pixels), scenes["asks-hold-1"])
    card_rects = [
        touch.rect
        for touch in picture.list_touch_targets(scenes["asks-hold-1"])
        if touch.action.name == "hold"
    ]
    assert len(card_rects) == 5
    assert min(length for _, _, *size in card_rects for length in size) >= layout.touch_size_min
    assert all(left[0] + left[2] <= right[0] for left, right in pairwise(card_rects))
    words = " ".join(words for words, _, _ in watcher.written)
    for pay in load_table_game(name)[1].presentation["pays"]:
        assert all(word in words for word in pay["names"]["fr"].replace("'", "\u2019").split(" ")), pay


def find_word_boxes(surface, count):
    """Return the boxes of ``count`` words, split at the line's widest gaps, and the margin over other gaps."""
    letters = []
    for box in sorted(pygame.mask.from_surface(surface, 100).get_bounding_rects(), key=lambda box: box.left):
        if letters and box.left <= letters[-1].right:
            letters[-1] = letters[-1].union(box)
        else:
            letters.append(box)
    gaps = [after.left - before.right for before, after in pairwise(letters)]
    widest = sorted(range(len(gaps)), key=lambda i: -gaps[i])[: count - 1]
    cuts = [0, *(i + 1 for i in sorted(widest)), len(letters)]
    others = [gap for i, gap in enumerate(gaps) if i not in widest]
    found = [letters[a].unionall(letters[a:b]) for a, b in pairwise(cuts)]
    return found, min(gaps[i] for i in widest) - max(others, default=0)


@pytest.mark.parametrize("scale", [2 / 3, 1.0])
def test_words_have_spaces_and_one_baseline_at_every_size(theme, scale):
    """A small font rounds its word spaces to zero, and places a word with an accent on top lower."""
    painter = Painter(theme, scale)
    compared = 0
    for face in set(theme.font_path_by_role) - {"display"}:  # whose letters join and hang below the line
        for size in ("caption", "small", "body", "lead", "title"):
            _, wider = find_word_boxes(painter.render_text("JOUER ACHÈTE", TextStyle(face, size)), 2)
            assert wider > 0, (face, size, "the words run together")
            found, _ = find_word_boxes(painter.render_text("EH ÉH HÉ", TextStyle(face, size)), 3)
            low = [box.bottom for box in found]
            assert max(low) - min(low) <= 1, (face, size, low)
            compared += 1
    assert compared >= 15


@pytest.mark.requirement("C-19")
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_nothing_can_be_touched_that_is_not_drawn(published, theme, layout):
    """Without the key of a touch point, the picture differs there. Between touch points, no touch is accepted."""
    picture = Picture(theme, layout=layout)
    game = published[0]
    idle_view = build_idle_view(published, game, "en")
    for name in ("", "help", "games"):
        view = apply_action(idle_view, Action(name), theme)[0] if name else idle_view
        touches = picture.list_touch_targets(view)
        for touch in touches:
            x, y, w, h = touch.rect
            assert x >= 0
            assert x + w <= layout.size[0]
            assert y >= 0
            assert y + h <= layout.size[1]
            assert picture.find_touched_action(view, x + w / 2, y + h / 2) == touch.action, (
                "nothing covers it"
            )
        for x in range(5, layout.size[0], 41):
            for y in range(5, layout.size[1], 41):
                if picture.find_touched_action(view, x, y) is not None:
                    assert any(is_inside(touch.rect, x, y) for touch in touches)
    surface = pygame.Surface(picture.size_pixels)
    picture.draw_view(surface, idle_view)
    for touch in picture.list_touch_targets(idle_view):
        box = pygame.Rect(*map(round, touch.rect))
        seen = {
            tuple(surface.get_at((x, y)))[:3]
            for x in range(box.left, box.right, 4)
            for y in range(box.top, box.bottom, 4)
        }
        assert len(seen) > 12, f"{touch.action.name}: nothing is drawn there"


@pytest.mark.requirement("C-19")
@pytest.mark.parametrize("game_id", ["maple-classic", "hold-fast", "river-wheel", "aurora-keno"])
def test_every_touch_point_has_its_own_text_or_drawing(published, theme, game_id, monkeypatch):
    """Each touch point contains something that is not part of a larger drawing behind it."""
    picture = Picture(theme)
    picture.painter = TextPainter(theme)
    surface, drawn, put = pygame.Surface(picture.size_pixels), [], picture.painter.draw_surface

    def note_and_put(image, corner, *arguments):
        drawn.append(image.get_rect(topleft=corner))
        put(image, corner, *arguments)

    monkeypatch.setattr(picture.painter, "draw_surface", note_and_put)
    idle_view = build_idle_view(published, next(game for game in published if game.id == game_id), "en")
    marked, _ = apply_action(idle_view, Action("mark", 7), theme)
    for view in (
        idle_view,
        marked,
        *(apply_action(idle_view, Action(name), theme)[0] for name in ("help", "games")),
    ):
        drawn.clear()
        picture.draw_view(surface, view)
        for touch in picture.list_touch_targets(view):
            key = pygame.Rect(*map(round, touch.rect)).inflate(4, 4)
            assert not touch.action.name or any(map(key.contains, drawn)), f"{touch.action}: nothing is drawn"


@pytest.mark.requirement("C-19")
@pytest.mark.parametrize("layout", SOME)
def test_no_scene_hides_or_covers_a_touch_target(published, outcomes, theme, layout):
    """In every scene, each touch point is drawn and acts as it says."""
    picture = Picture(theme, layout=layout, scale=0.5)
    surface = pygame.Surface(picture.size_pixels)
    scenes = list(iter_machine_scenes(published, "en", theme))
    for game in published:
        if game.id in {"orchard-picnic", "hold-fast", "river-wheel", "archipelago-keno"}:
            scenes += [
                (name, view)
                for name, view in iter_game_scenes(published, game, outcomes[game.id], "en", theme, layout)
                if name == "idle" or name.startswith(("asks", "marking", "recall", "help"))
            ]
    for name, view in scenes:
        picture.draw_view(surface, view)
        places = [
            pygame.Rect(*map(round, rect))
            for rect in [
                touch.rect for touch in picture._list_content_touch_targets(picture._build_context(view))
            ]
        ]
        for i, rect in enumerate(places):
            assert rect.collidelist(places[:i]) < 0, f"{name}: {rect} covers part of another"
        seen_at = []
        for touch in picture.list_touch_targets(view):
            x, y, w, h = touch.rect
            covered = any(is_inside(over, x + w / 2, y + h / 2) for over in seen_at)
            seen_at.append(touch.rect)
            if covered or not touch.action.name:
                continue
            assert picture.find_touched_action(view, x + w / 2, y + h / 2) == touch.action, (name, touch)
            box = pygame.Rect(*(round(length / 2) for length in touch.rect)).clip(surface.get_rect())
            seen = {
                tuple(surface.get_at((px, py)))[:3]
                for px in range(box.left, box.right, 3)
                for py in range(box.top, box.bottom, 3)
            }
            assert len(seen) >= 6, f"{name}: {touch.action}: nothing is drawn there"


def test_in_portrait_the_drawer_covers_no_players_page(published, theme):
    """In portrait there is no room beside a page; the drawer is hidden and inactive until the page is closed."""
    idle_view = replace(
        build_idle_view(published, published[0], "en"), has_device_drawer=True, drawer_opening_began_at=90.0
    )
    picture = Picture(theme, layout=PORTRAIT_LAYOUT, scale=0.5)
    assert "drawer" in {touch.action.name for touch in picture.list_touch_targets(idle_view)}
    for name in ("help", "games"):
        page = apply_action(idle_view, Action(name), theme)[0]
        assert "drawer" not in {touch.action.name for touch in picture.list_touch_targets(page)}
        seen = []
        for view in (page, replace(page, has_device_drawer=False)):
            surface = pygame.Surface(picture.size_pixels)
            picture.draw_view(surface, view)
            seen.append(surface.get_buffer().raw)
        assert seen[0] == seen[1]
        closed = apply_action(page, Action(name), theme)[0]
        assert "drawer" in {touch.action.name for touch in picture.list_touch_targets(closed)}


def test_touch_targets_are_large_enough_for_a_finger(published, theme):
    """With 1920 units for 480 mm (a 22 inch display), 60 units are 15 mm."""
    picture = Picture(theme)
    idle_view = build_idle_view(published, published[0], "en")
    for name in ("help", "games"):
        for touch in picture.list_touch_targets(apply_action(idle_view, Action(name), theme)[0]):
            assert touch.rect[2] >= 60
            assert touch.rect[3] >= 60


#: A telephone's page between the bars of its browser.
SHORT_PHONE = build_telephone_layout(390, 700)
#: Touch targets smaller than 44 x 44 pixels on a telephone, with their size there.
SMALLER = {
    "letter": (34, 43),  # ten in a row, as on the keyboard of every telephone
    "search": (34, 33),  # the search page has its results above the letters
    "drawer": (
        30,
        80,
    ),  # the handle of the simulated cabinet's drawer: narrower, but higher, beside the reels
}


#: Touch targets lower than that on a page between a browser's bars: the keys of forms, and boxes in three rows.
LOWER_ON_A_SHORT_PAGE = {"type", "enter", "shift", "clear", "erase", "choose"}


@pytest.mark.parametrize(
    ("layout", "language"),
    [
        pytest.param(PHONE, "en", marks=pytest.mark.slow),
        (PHONE, "fr"),
        pytest.param(SHORT_PHONE, "fr", marks=pytest.mark.slow),
    ],
    ids=["en", "fr", "short-fr"],
)
def test_touch_targets_on_a_telephone_are_44_pixels_wide(
    published, outcomes, theme, layout, language, tmp_path
):
    picture, pixels = Picture(theme, layout=layout), 390 / layout.size[0]
    closed = build_idle_view(published, published[0], language, accepted_inputs=("language", "service"))
    scenes = [*all_scenes(published, outcomes, language, theme, layout)]
    scenes += iter_real_page_scenes(closed, list_real_pages(tmp_path), theme)
    names, faults = set(), set()
    for name, view in scenes:
        page = view.snapshot.service_page if view.snapshot is not None else None
        asks = page.prompt.kind if page is not None and page.prompt is not None else ""
        for touch in picture.list_touch_targets(view):
            kind = touch.action.name
            kind = "search" if asks == "search" and kind not in {"drawer", "turn_sheet"} else kind
            kind = "letter" if asks == "text" and kind == "type" else kind
            width, height = touch.rect[2] * pixels, touch.rect[3] * pixels
            least = SMALLER.get(kind, (44, 44))
            if layout is SHORT_PHONE and kind in LOWER_ON_A_SHORT_PAGE | {"letter"}:
                least = (least[0], min(least[1], 35))
            names.add(touch.action.name)
            if touch.action.name and (width < least[0] or height < least[1]):
                faults.add((name, touch.action.name, round(width), round(height)))
    assert {"mark", "quick_pick", "card", "draws", "bonus", "page_sheet", "type", "bench", "answer"} <= names
    assert not faults, "\n".join(map(str, sorted(faults)))


def test_on_a_telephone_numbers_are_marked_on_a_slip_that_play_closes(published, theme):
    """From the board to the slip, its other part, a mark; PLAY under the slip stakes nothing."""
    picture = Picture(theme, layout=PHONE)
    game = next(game for game in published if game.id == "aurora-keno")
    view = build_idle_view(published, game, "en")
    x, y, w, h = next(t.rect for t in picture.list_touch_targets(view) if t.action == Action("slip"))
    view, sent = apply_action(view, picture.find_touched_action(view, x + w / 2, y + h / 2), theme)
    assert not sent
    assert {t.action.value for t in picture.list_touch_targets(view) if t.action.name == "mark"} == set(
        range(1, 41)
    )
    view, _ = apply_action(view, Action("page_sheet", 1), theme)
    assert {t.action.value for t in picture.list_touch_targets(view) if t.action.name == "mark"} == set(
        range(41, 81)
    )
    view, _ = apply_action(view, Action("mark", 77), theme)
    assert view.marked_keno_slip.current_card_numbers == {77}
    closed, sent = apply_action(view, Action("play"), theme)
    assert closed.player_page is PlayerPage.NONE
    assert not sent
    assert closed.marked_keno_slip.current_card_numbers == {77}


def test_drawing_changes_no_state_and_is_reproducible(published, outcomes, theme):
    game = published[0]
    view = dict(iter_game_scenes(published, game, outcomes[game.id], "fr", theme, LANDSCAPE_LAYOUT))["spin"]
    first_picture, second_picture = Picture(theme, scale=0.5), Picture(theme, scale=0.5)
    first, second = pygame.Surface(first_picture.size_pixels), pygame.Surface(first_picture.size_pixels)
    first_picture.draw_view(first, view)
    first_picture.draw_view(first, build_idle_view(published, game, "en"))
    first_picture.draw_view(first, view)
    second_picture.draw_view(second, view)
    assert first.get_buffer().raw == second.get_buffer().raw


def test_nothing_flashes_faster_than_three_times_a_second(theme):
    assert theme.motion.flash_hz <= 3


def test_reduced_motion_has_no_animation(published, outcomes, theme):
    """Nothing moves at rest, during a payout, when value is inserted, or when a level grows."""
    game = next(game for game in published if game.id == "lantern-harbour")
    scenes = dict(iter_game_scenes(published, game, outcomes[game.id], "en", theme, LANDSCAPE_LAYOUT))
    scenes |= dict(iter_machine_scenes(published, "en", theme))
    picture = Picture(theme, scale=0.5)
    surface = pygame.Surface(picture.size_pixels)
    names = (
        "idle",
        "paying-ticket",
        "paying-coins",
        "value-ticket_printed",
        "door",
        "tilt-self",
        "reminder-time",
    )
    for name in names:
        view = scenes[name]
        frames = set()
        for i in range(4):
            picture.draw_view(surface, replace(view, is_motion_reduced=True, now=view.now + 0.5 + i * 0.13))
            frames.add(surface.get_buffer().raw)
        assert len(frames) == 1, name
