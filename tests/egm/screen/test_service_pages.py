"""The attendant's pages: every page is drawn from its data, and answered by touch or by the deck alike."""

import array
import re
import string
from dataclasses import replace
from itertools import pairwise

import pygame
import pytest
from test_alignment import list_written_texts

from egm.kernel.messages import BenchCommand, BenchReply, Intent, Notice
from egm.kernel.service_pages import PageAction, PageRow, PageTable, PageText, Prompt, ServicePage
from egm.screen.audio.cues import (
    ALARM_LOUDNESS_MIN,
    TEST_TONES_HZ,
    compute_loudness,
    is_cue_allowed,
    list_cues_between,
)
from egm.screen.audio.scores import SOUND_CUE_BY_NAME, synthesise_cue
from egm.screen.audio.synthesis import SAMPLES_PER_SECOND
from egm.screen.controls import find_action_by_key_name
from egm.screen.input_reducer import apply_action
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT
from egm.screen.message_reducer import apply_message
from egm.screen.picture import Picture
from egm.screen.presentation import SPEED_UP_ABOVE_SECONDS
from egm.screen.view import Action, Scene, build_view_timeline
from tools.dev.gallery import pages
from tools.lab.views import build_idle_view


@pytest.fixture
def idle_view(published):
    return build_idle_view(published, published[0], "en")


def open_page(idle_view, page):
    return apply_message(idle_view, idle_view.snapshot.model_copy(update={"service_page": page}))


def touch(picture, view, theme, name, value=None):
    """Touch the middle of the area that has this action; check that there is one."""
    touch = next(t for t in picture.list_touch_targets(view) if t.action == Action(name, value))
    x, y, w, h = touch.rect
    action = picture.find_touched_action(view, x + w / 2, y + h / 2)
    assert action == touch.action, "nothing covers it"
    return apply_action(view, action, theme, picture.list_selectable_actions(view))


@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT], ids=["landscape", "portrait"])
def test_a_pin_is_shown_as_dots_sent_once_and_stored_nowhere(idle_view, theme, layout):
    picture = Picture(theme, layout=layout)
    view = open_page(
        idle_view,
        pages.build_sign_in_page().model_copy(update={"prompt": Prompt(label=PageText(), kind="pin")}),
    )
    assert view.scene is Scene.SERVICE
    for digit in "2468":
        view, requests = touch(picture, view, theme, "type", digit)
        assert requests == ()
    view, (request,) = touch(picture, view, theme, "enter")
    assert request == Intent(name="answer", value="enter", options={"page": "sign-in", "input": "2468"})
    assert view.page_input.typed_text == ""


def test_only_enabled_actions_have_an_effect(idle_view, theme):
    picture = Picture(theme)
    page = pages.build_menu_page()
    view = open_page(idle_view, page)
    offered = {t.action.value for t in picture.list_touch_targets(view) if t.action.name == "answer"}
    assert offered == {action.id for action in page.actions if action.enabled}
    _, (request,) = touch(picture, view, theme, "answer", page.actions[0].id)
    assert request == Intent(name="answer", value=page.actions[0].id, options={"page": "menu"})


def test_any_target_can_be_chosen_with_the_deck_alone(idle_view, theme):
    """The BET keys move and MAX BET chooses; no touch is needed, and the player's other keys have no effect."""
    picture = Picture(theme)
    view = open_page(idle_view, pages.build_menu_page())
    places = picture.list_selectable_actions(view)
    for number in range(len(places)):
        focused = view
        for _ in range(number + 1):
            focused, requests = apply_action(focused, Action("bet_more"), theme, places)
            assert requests == ()
        _, (request,) = apply_action(focused, Action("bet_max"), theme, places)
        assert request.value == places[number].value
    for name in ("cash_out", "help", "games", "play"):
        after, requests = apply_action(view, Action(name), theme, places)
        assert requests == ()
        assert after.scene is Scene.SERVICE


@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT], ids=["landscape", "portrait"])
def test_every_row_of_a_long_table_is_on_some_sheet(idle_view, theme, layout):
    picture = Picture(theme, layout=layout)
    page = pages.build_meters_page()
    view = open_page(idle_view, page)
    seen = set()
    for _ in range(6):
        seen |= set(read_page_texts(picture, view))
        view, _ = touch(picture, view, theme, "turn_sheet", 1)
    texts = picture.find_texts(view)
    for row in page.tables[0].rows:
        assert texts.choose_translation(row.cells[0].values) in seen
    for row in page.tables[1].rows:
        assert row.cells[2].value in seen


def test_an_amount_field_takes_only_digits_of_minor_units(idle_view, theme):
    view = open_page(
        idle_view,
        pages.build_amount_page().model_copy(update={"prompt": Prompt(label=PageText(), kind="amount")}),
    )
    for char in ("0", "1", "x", "2", "."):
        view, _ = apply_action(view, Action("type", char), theme)
    assert view.page_input.typed_text == "12"
    view, _ = apply_action(view, Action("erase"), theme)
    _, (request,) = apply_action(view, Action("enter"), theme)
    assert request.options == {"page": "amount", "input": "1"}


@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT], ids=["landscape", "portrait"])
def test_enter_confirms_the_last_page_of_a_form(idle_view, theme, layout):
    """The page has no field; beside BACK it only has CONFIRM."""
    actions = (
        PageAction(id="back", label=PageText(kind="text", value="service.back"), style="back"),
        PageAction(id="confirm", label=PageText(kind="text", value="service.confirm"), style="confirm"),
    )
    filled = (PageTable(rows=(PageRow(cells=(PageText(kind="plain", value="paid"),)),)),)
    page = ServicePage(id="last", title=PageText(), tables=filled, actions=actions)
    view = open_page(idle_view, page)
    _, (request,) = apply_action(view, Action("play"), theme)
    assert request == Intent(name="answer", value="confirm", options={"page": "last"})
    places = {t.action.value: t.rect for t in Picture(theme, layout=layout).list_touch_targets(view)}
    (x, y, w, _), (back_x, back_y, back_w, _) = places["confirm"], places["back"]
    assert (y, x > back_x + back_w) == (back_y, True)
    assert w > back_w or layout is PORTRAIT_LAYOUT
    locked = page.model_copy(
        update={"actions": (actions[0], actions[1].model_copy(update={"enabled": False}))}
    )
    assert apply_action(open_page(idle_view, locked), Action("play"), theme)[1] == ()


def test_a_text_field_has_the_letters_of_both_languages_and_a_maximum_length(idle_view, theme):
    picture = Picture(theme)
    ask = Prompt(label=PageText(), kind="text", length_max=4)
    view = open_page(idle_view, pages.build_text_page().model_copy(update={"prompt": ask}))
    for char in "écùA!":
        if not any(t.action == Action("type", char) for t in picture.list_touch_targets(view)):
            view, _ = touch(picture, view, theme, "shift")
        view, _ = touch(picture, view, theme, "type", char)
    assert view.page_input.typed_text == "écùA"


def test_a_choice_is_answered_with_its_id(idle_view, theme):
    picture = Picture(theme)
    view = open_page(idle_view, pages.build_choice_page())
    _, (request,) = touch(picture, view, theme, "enter", "1")
    assert (request.value, request.options["input"]) == ("enter", "1")


def test_typed_text_remains_until_the_page_closes(idle_view, theme):
    view = open_page(idle_view, pages.build_text_page())
    view, _ = apply_action(view, Action("type", "x"), theme)
    reopened = open_page(
        view, pages.build_text_page().model_copy(update={"notice": PageText(kind="plain", value="live")})
    )
    assert reopened.page_input.typed_text.endswith("x")
    other = open_page(reopened, pages.build_text_page().model_copy(update={"id": "another"}))
    assert not other.page_input.typed_text.endswith("x")
    assert apply_message(reopened, idle_view.snapshot).page_input.typed_text == ""


def test_touched_targets_of_the_touch_test_light_up(idle_view, theme):
    picture = Picture(theme)
    view = open_page(idle_view, pages.build_pattern_page("touch"))
    view, requests = touch(picture, view, theme, "target", 5)
    assert (view.page_input.touched_targets, requests) == ({5}, ())


def test_each_tone_of_the_sound_test_is_audible_at_every_volume(idle_view, theme):
    picture = Picture(theme)
    view = open_page(idle_view, pages.build_pattern_page("sound"))
    keys = [t.action.value for t in picture.list_touch_targets(view) if t.action.name == "tone"]
    assert keys == [*TEST_TONES_HZ, "alarm"]
    assert set(keys) <= set(SOUND_CUE_BY_NAME)
    for volume in range(4):
        view = replace(view, volume_step=volume, now=view.now + 5)
        for tone in keys:
            before = replace(view, now=view.now + 2)
            view, requests = touch(picture, before, theme, "tone", tone)
            assert (list_cues_between(before, view, theme), requests) == ([tone], ())
            assert compute_loudness(tone, volume) >= ALARM_LOUDNESS_MIN
    silent = apply_message(view, view.snapshot.model_copy(update={"allowed_sound": "off"}))
    assert is_cue_allowed("tone_low", silent)


@pytest.mark.parametrize(("name", "hertz"), TEST_TONES_HZ.items())
def test_a_test_tone_has_the_pitch_named_on_its_key(name, hertz):
    """The pitch is counted in the samples: two zero crossings per period."""
    data = array.array("h", synthesise_cue(name, ""))[: SAMPLES_PER_SECOND // 2]
    crossings = sum(1 for a, b in pairwise(data) if (a < 0) != (b < 0))
    assert abs(crossings - hertz) <= 0.01 * hertz + 2


@pytest.mark.requirement("J-10")
@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT], ids=["landscape", "portrait"])
@pytest.mark.parametrize(("language", "mark"), [("en", "TEST"), ("fr", "ESSAI")])
def test_only_test_pages_are_marked_as_tests(published, theme, language, mark, layout):
    view = build_idle_view(published, published[0], language)
    picture = Picture(theme, layout=layout)
    for name, page in pages.iter_sample_pages():
        marks = [words for words, *_ in list_written_texts(picture, open_page(view, page)) if words == mark]
        assert marks == [mark] * page.test, name


@pytest.mark.requirement("E-01")
def test_a_recalled_game_is_shown_as_recorded_and_marked_as_recall(published, outcomes, theme):
    """Steps, wins and figures come from the record; the displayed credit stays the machine's own."""
    picture = Picture(theme, scale=0.4)
    surface = pygame.Surface(picture.size_pixels)
    for game in published:
        outcome = outcomes[game.id].small_win or outcomes[game.id].feature
        view = open_page(
            build_idle_view(published, published[0], "en"), pages.build_recall_page(game, outcome, 1)
        )
        then = view.recalled_view
        assert then.presentation.outcome.display == outcome.to_json()["display"]
        assert then.snapshot.credit_cents == 123_450
        assert then.game.id == game.id
        line = build_view_timeline(then, theme)
        picture.draw_view(
            surface, replace(view, now=100 + min(line.last_stop_seconds, SPEED_UP_ABOVE_SECONDS))
        )
        assert not [
            t for t in picture.list_touch_targets(view) if t.action.name in {"mark", "choose", "area"}
        ]


def test_a_recalled_game_that_is_not_installed_is_described_in_words(published, outcomes, theme):
    game = published[0]
    page = pages.build_recall_page(game, outcomes[game.id].small_win, 1)
    gone = page.model_copy(update={"replay": page.replay.model_copy(update={"game_id": "gone"})})
    view = open_page(build_idle_view(published, game, "en"), gone)
    assert view.recalled_view is None
    picture = Picture(theme, scale=0.4)
    picture.draw_view(pygame.Surface(picture.size_pixels), view)


@pytest.mark.parametrize("arrows_on", ["the page before", "this page", "the visit before"])
def test_typed_characters_are_entered_even_after_arrow_keys(idle_view, theme, arrows_on):
    """Regression: Enter chose BACK and closed the menu, and the next Enter staked the player's credit."""
    picture = Picture(theme)

    def press(view, name, char=""):
        return apply_action(
            view, find_action_by_key_name(name, char), theme, picture.list_selectable_actions(view)
        )

    view = idle_view
    if arrows_on != "this page":
        view, _ = press(open_page(view, pages.build_menu_page()), "ArrowDown")
        assert view.is_focus_shown
    if arrows_on == "the visit before":
        view = open_page(view, None)
        assert not view.is_focus_shown
    view = open_page(view, pages.build_sign_in_page())
    if arrows_on == "this page":
        view, _ = press(view, "ArrowDown")
    for digit in "4711":
        view, _ = press(view, f"Digit{digit}", digit)
    _, (request,) = press(view, "Enter")
    assert (request.value, request.options["input"]) == ("enter", view.page_input.typed_text)


def test_arrow_keys_move_from_one_list_to_the_next(idle_view, theme):
    picture = Picture(theme)
    view = open_page(idle_view, pages.build_menu_page())
    view, _ = apply_action(
        view, find_action_by_key_name("ArrowDown"), theme, picture.list_selectable_actions(view)
    )
    view = open_page(view, pages.build_meters_page())
    assert view.is_focus_shown


def test_a_page_with_only_a_title_is_drawn(idle_view, theme):
    picture = Picture(theme, scale=0.4)
    leave = PageAction(id="back", label=PageText(kind="plain", value="Back"), style="back")
    view = open_page(
        idle_view, ServicePage(id="x", title=PageText(kind="plain", value="Empty"), actions=(leave,))
    )
    picture.draw_view(pygame.Surface(picture.size_pixels), view)
    assert next(t.action for t in picture.list_touch_targets(view)) == Action("answer", "back")


def test_a_screen_reader_gets_the_lists_of_a_page_and_never_typed_text(idle_view, theme):
    picture = Picture(theme)
    words = picture.build_screen_reader_text(open_page(idle_view, pages.build_meters_page()))
    texts = picture.find_texts(idle_view)
    for table in pages.build_meters_page().tables:
        for row in table.rows:
            assert all(
                texts.format_page_text(cell, lambda cents: texts.format_money(cents, "CAD")) in words
                for cell in row.cells
            )
    view = before = open_page(idle_view, pages.build_sign_in_page())
    for digit in "4711":
        view, _ = apply_action(view, Action("type", digit), theme)
    assert view.page_input.typed_text.endswith("4711")
    assert picture.build_screen_reader_text(view) == picture.build_screen_reader_text(before)


def test_a_screen_reader_gets_one_full_stop_after_each_sentence(idle_view, theme):
    title, notice = (
        PageText(kind="plain", value="Sign in"),
        PageText(kind="plain", value="Not known. Try again."),
    )
    page = ServicePage(id="x", title=title, notice=notice, tables=(PageTable(title=title, rows=()),))
    assert (
        Picture(theme).build_screen_reader_text(open_page(idle_view, page))
        == "Sign in. Not known. Try again. Sign in"
    )


def test_a_screen_reader_gets_the_focused_target_first(idle_view, theme):
    picture = Picture(theme)
    leave = PageAction(id="back", label=PageText(kind="plain", value="Back"), style="back")
    row = PageRow(
        cells=(PageText(kind="plain", value="Drop"), PageText(kind="plain", value="12")), action="drop"
    )
    page = ServicePage(
        id="x",
        title=PageText(kind="plain", value="Meters"),
        tables=(PageTable(rows=(row,)),),
        actions=(leave,),
    )
    view = open_page(idle_view, page)
    assert picture.build_screen_reader_text(view) == "Meters. Drop 12. Back"
    heads = set()
    for _ in picture.list_selectable_actions(view):
        view, _ = apply_action(
            view, find_action_by_key_name("ArrowDown"), theme, picture.list_selectable_actions(view)
        )
        heads.add(picture.build_screen_reader_text(view).removesuffix(". Meters. Drop 12. Back"))
    assert heads == {"Back", "Drop 12"}


def test_escape_steps_back_and_f10_leaves_the_menu(idle_view, theme):
    view = open_page(idle_view, pages.build_sign_in_page())
    for key, answer in (("Escape", "back"), ("F10", "leave")):
        _, (request,) = apply_action(view, find_action_by_key_name(key), theme)
        assert (request.value, request.options["page"]) == (answer, "sign-in")


def test_f10_on_an_unconfirmed_form_requests_the_warning_first(idle_view, theme):
    """Regression: the simulated key was turned back at once, and the form's entries were lost."""
    bench = {"io": {"doors_open": [], "keys_on": ["operator"]}}
    for linked in (False, True):
        cabinet = replace(idle_view, has_device_drawer=True, state_by_device=bench, is_bench_connected=linked)
        form = open_page(cabinet, pages.build_text_page().model_copy(update={"unconfirmed": True}))
        _, (sent,) = apply_action(form, find_action_by_key_name("F10"), theme)
        assert isinstance(sent, Intent)
        assert (sent.value, sent.options["page"]) == ("leave", form.snapshot.service_page.id)
        warned = open_page(cabinet, pages.build_text_page())
        _, (sent,) = apply_action(warned, find_action_by_key_name("F10"), theme)
        assert isinstance(sent, BenchCommand)


def test_f10_turns_the_operators_key_of_a_simulated_cabinet(idle_view, theme):
    """On opens the menu and off leaves it; a key left in its lock is turned off and on again."""

    def turns(view, *keys_on):
        bench = {"io": {"doors_open": [], "keys_on": list(keys_on)}}
        _, sent = apply_action(
            replace(view, has_device_drawer=True, state_by_device=bench),
            find_action_by_key_name("F10"),
            theme,
        )
        return [(command.device, command.values) for command in sent if isinstance(command, BenchCommand)]

    on, off = (("io", {"name": "operator", "on": way}) for way in (True, False))
    assert turns(idle_view) == [on]
    assert turns(idle_view, "operator") == [off, on]
    assert turns(open_page(idle_view, pages.build_sign_in_page()), "operator") == [off]
    assert turns(open_page(idle_view, pages.build_sign_in_page())) == []


def build_rows_page(depth, name, count=60):
    """Return a page with ``count`` rows at this depth of the menu."""
    words = (PageText(kind="plain", value=f"{name} {i}") for i in range(count))
    rows = tuple(PageRow(cells=(cell,), action=str(cell.value)) for cell in words)
    back = PageAction(id="back", label=PageText(value="service.back"), style="back")
    title = PageText(kind="plain", value=name)
    return ServicePage(
        id=f"{name}-{depth}", title=title, depth=depth, tables=(PageTable(rows=rows),), actions=(back,)
    )


def read_page_texts(picture, view):
    """Return every text in the picture of a view."""
    return [words for words, _ in list_written_texts(picture, view)]


def test_returning_to_a_page_restores_its_scroll_position(idle_view, theme):
    view = open_page(idle_view, build_rows_page(2, "list"))
    for _ in range(2):
        view, _ = apply_action(view, Action("turn_sheet", 1), theme)
    deeper = open_page(view, build_rows_page(3, "one"))
    assert (view.page_input.sheet_index, deeper.page_input.sheet_index) == (2, 0)
    other_list = build_rows_page(2, "list").model_copy(update={"id": "list-again"})
    assert open_page(deeper, other_list).page_input.sheet_index == 2


@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT], ids=["landscape", "portrait"])
def test_the_back_key_never_moves_and_long_tables_state_their_page(idle_view, theme, layout):
    picture, places = Picture(theme, layout=layout), set()
    few, many = build_rows_page(2, "few", 3), build_rows_page(2, "many")
    added_actions = tuple(
        PageAction(id=f"a{i}", label=PageText(kind="plain", value=f"a{i}")) for i in range(7)
    )
    for page in (few, many, few.model_copy(update={"actions": (*few.actions, *added_actions)})):
        offered = picture.list_touch_targets(open_page(idle_view, page))
        places |= {touch.rect for touch in offered if touch.action == Action("answer", "back")}
    assert len(places) == 1
    view = open_page(idle_view, many)
    view, _ = apply_action(view, Action("turn_sheet", 1), theme)
    page_numbers = [words for words in read_page_texts(picture, view) if re.fullmatch(r"\d of \d+", words)]
    assert [words[:4] for words in page_numbers] == ["2 of"]
    assert not any(" of " in words for words in read_page_texts(picture, open_page(idle_view, few)))


def test_a_search_filters_rows_and_sends_only_the_chosen_row(idle_view, theme):
    picture = Picture(theme)
    names = ("Événements", "Compteurs", "Réserve de pièces")
    rows = tuple(PageRow(cells=(PageText(kind="plain", value=name),), action=name) for name in names)
    ask = Prompt(label=PageText(), kind="search")
    page = build_rows_page(2, "search").model_copy(update={"tables": (PageTable(rows=rows),), "prompt": ask})
    view = open_page(idle_view, page)
    for char in "re":
        view, requests = touch(picture, view, theme, "type", char)
        assert requests == ()
    found = {t.action.value for t in picture.list_touch_targets(view) if t.action.name == "answer"}
    assert found == {"Réserve de pièces", "back"}
    assert apply_action(view, Action("play"), theme)[1] == ()
    _, (request,) = touch(picture, view, theme, "answer", "Réserve de pièces")
    assert request.options == {"page": page.id}


@pytest.mark.requirement("J-02")
@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT], ids=["landscape", "portrait"])
def test_open_doors_and_faults_are_visible_on_every_page_and_in_recall(published, outcomes, theme, layout):
    game = published[0]
    picture, idle_view = Picture(theme, layout=layout), build_idle_view(published, game, "en")
    recalled = pages.build_recall_page(game, outcomes[game.id].small_win, 1)
    fault = Notice(code="fault.ticket_printer.paper_low", severity="warning", is_lasting=True)
    for page in (pages.build_sign_in_page(), build_rows_page(2, "many"), recalled):
        changes = {"service_page": page, "open_doors": ("main", "top"), "notices": (fault,)}
        view = apply_message(idle_view, idle_view.snapshot.model_copy(update=changes))
        assert "Doors open: Main door, Top box door  ·  Printer: paper low" in read_page_texts(picture, view)


@pytest.mark.requirement("E-03")
@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT], ids=["landscape", "portrait"])
def test_the_recall_label_covers_no_part_of_the_game(published, outcomes, theme, layout):
    game = published[0]
    picture = Picture(theme, layout=layout)
    view = open_page(
        build_idle_view(published, game, "en"), pages.build_recall_page(game, outcomes[game.id].small_win, 1)
    )
    rects = [rect for words, rect in list_written_texts(picture, view) if words == "PAST GAME"]
    _, y, _, h = layout.game_field
    assert [y <= rect.centery <= y + h for rect in rects] == [False]


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_drawer_describes_its_last_action(published, theme, language):
    picture = Picture(theme)
    view = replace(
        build_idle_view(published, published[0], language),
        has_device_drawer=True,
        is_bench_connected=True,
        drawer_opening_began_at=-10.0,
    )
    view = replace(
        view, state_by_device={"io": {"doors_open": [], "keys_on": []}, "bill": {"inside_cents": 0}}
    )
    orders = (
        (
            "insert",
            {"amount_cents": 2000},
            {"en": "Done: $20.00 inserted", "fr": "Fait : 20,00 $ insérés"},
        ),
        (
            "door",
            {"name": "main", "open": True},
            {"en": "Done: Main door opened", "fr": "Fait : Porte principale ouverte"},
        ),
        (
            "key",
            {"name": "operator", "on": True},
            {"en": "Done: Operator key turned", "fr": "Fait : Clé d’exploitant tournée"},
        ),
        ("jam", {}, {"en": "Done: Jam the acceptor", "fr": "Fait : Bloquer l’accepteur"}),
    )
    for action, values, texts_by_language in orders:
        command = BenchCommand(device="bill", action=action, values=values)
        commanded, _ = apply_action(view, Action("bench", (command,)), theme)
        reply = BenchReply(ok=True, text="something in the bench's own words")
        answered = replace(commanded, bench_reply=reply, bench_reply_at=commanded.now)
        words = [text.replace("\u00a0", " ") for text in read_page_texts(picture, answered)]
        assert texts_by_language[language] in words


def type_keys(idle_view, theme, kind, *keys):
    """Type (name, character) keys; return the text of the field and the messages sent."""
    form_page = ServicePage(id="x", title=PageText(), prompt=Prompt(label=PageText(), kind=kind))
    view, sent = open_page(idle_view, form_page), []
    for name, char in keys:
        view, requests = apply_action(view, find_action_by_key_name(name, char), theme)
        sent += requests
    return view.page_input.typed_text, [request.name for request in sent]


def test_letters_of_a_keyboard_go_into_the_text_field_that_is_open(idle_view, theme):
    """Regression: `l` changed the language, the space bar sent the field, and other letters had no effect."""
    keys = [("KeyL", "L"), ("KeyQ", "é"), ("Space", " "), ("KeyC", "c"), ("Digit1", "1"), ("Quote", "'")]
    for kind in ("text", "search"):
        assert type_keys(idle_view, theme, kind, *keys) == ("Lé c1'", [])
    assert type_keys(idle_view, theme, "text", *keys, ("Backspace", "Backspace"), ("Enter", "Enter"))[1] == [
        "answer"
    ]
    assert type_keys(idle_view, theme, "pin", *keys)[0] == "1"
    _, requests = apply_action(
        idle_view, find_action_by_key_name("KeyC", "c"), theme
    )  # no field is open: a key is the deck's
    assert [request.name for request in requests] == ["cash_out"]


def test_the_field_of_a_serial_number_takes_only_its_characters(idle_view, theme):
    """Regression: the keyboard on the screen offered characters that were refused after the entry."""
    keys = [("KeyE", "e"), ("Minus", "-"), ("Digit7", "7"), ("Digit7", "&"), ("KeyQ", "é"), ("Space", " ")]
    assert type_keys(idle_view, theme, "serial", *keys) == ("E-7", [])
    prompt = Prompt(label=PageText(), kind="serial")
    view = open_page(idle_view, ServicePage(id="x", title=PageText(), prompt=prompt))
    touches = Picture(theme, scale=0.4).list_touch_targets(view)
    offered = {touch.action.value for touch in touches if touch.action.name == "type"}
    assert offered == {*string.ascii_uppercase, *string.digits, "-"}
