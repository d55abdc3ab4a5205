"""Marking Keno numbers: what the player touches becomes the bet that the machine accepts."""

from dataclasses import replace

import pygame
import pytest

from egm.screen import keno_slip, wheel_stakes
from egm.screen.input_reducer import apply_action
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT
from egm.screen.message_reducer import apply_message
from egm.screen.painter import Painter
from egm.screen.picture import Picture
from egm.screen.scenes.deck import compute_meter_amounts
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.keno import describe_purchase, format_slip_legal_text
from egm.screen.text import Texts
from egm.screen.view import Action, build_view_timeline, has_touched_bets_since_game
from paytables.keno.printed_ticket import build_slip
from tools.dev.gallery import show_outcome
from tools.lab.views import build_idle_view, build_snapshot


@pytest.fixture
def keno(published):
    return next(game for game in published if game.id == "archipelago-keno")


@pytest.fixture
def source(games):
    return next(game for game in games if game.id == "archipelago-keno")


def mark_numbers(view, theme, *numbers):
    requests = ()
    for number in numbers:
        view, requests = apply_action(view, Action("mark", number), theme)
    return view, requests


@pytest.mark.requirement("M-03", "M-05")
def test_marks_become_a_bet_the_game_accepts(published, keno, source, theme):
    view, requests = mark_numbers(build_idle_view(published, keno, "en", bet_credits=2), theme, 7, 18, 33)
    (request,) = requests
    assert (request.name, request.value) == ("bet", 2)
    wager = source.build_wager(request.value, **request.options)
    assert wager.credits == 2
    assert keno_slip.build_slip_from_wager(wager.options) == view.marked_keno_slip
    assert view.marked_keno_slip.current_card_numbers == {7, 18, 33}


@pytest.mark.requirement("M-03")
def test_too_few_marks_are_no_bet_and_play_has_no_effect(published, keno, theme):
    view, requests = mark_numbers(build_idle_view(published, keno, "en"), theme, 7)
    assert requests == ()
    assert apply_action(view, Action("play"), theme)[1] == ()


def test_after_every_mark_the_bet_shown_is_the_price_of_play(published, theme):
    """The screen shows the price of the current marks, and nothing while they are no ticket; never an earlier price."""
    bet_count = 0
    for game in (game for game in published if keno_slip.is_keno_game(game)):
        view = build_idle_view(published, game, "en", bet_credits=max(game.bet_options))
        context = DrawingContext(Painter(theme), Texts("en"), LANDSCAPE_LAYOUT, view)
        assert compute_meter_amounts(context).bet_credits == max(game.bet_options)
        for number in range(1, max(keno_slip.list_permitted_spot_counts(game)) + 1):
            view, requests = mark_numbers(view, theme, number)
            bought = requests[0].value if requests else 0
            assert compute_meter_amounts(replace(context, view=view)).bet_credits == bought, (game.id, number)
            price_text = f"BET {context.format_money(bought * view.snapshot.denomination_cents)}"
            assert price_text in Picture(theme).build_screen_reader_text(view)
            bet_count += bool(bought)
    assert bet_count > 10


@pytest.mark.requirement("M-03")
def test_no_more_numbers_can_be_marked_than_the_largest_card_has(published, keno, theme):
    view, _ = mark_numbers(build_idle_view(published, keno, "en"), theme, *range(1, 30))
    assert len(view.marked_keno_slip.current_card_numbers) == max(keno_slip.list_permitted_spot_counts(keno))
    view, _ = mark_numbers(view, theme, 1)
    assert 1 not in view.marked_keno_slip.current_card_numbers, "a second touch takes the mark away"


@pytest.mark.requirement("M-05")
def test_the_stake_of_a_card_steps_through_the_permitted_stakes(published, keno, theme):
    view, _ = mark_numbers(build_idle_view(published, keno, "en", bet_credits=1), theme, 1, 2, 3)
    request = apply_action(view, Action("bet_more"), theme)[1][0]
    assert (request.value, request.options["selections"][0]["stakes"]) == (2, {"3": 2})
    assert apply_action(view, Action("bet_max"), theme)[1][0].value == max(
        keno_slip.list_permitted_stakes(keno)
    )


@pytest.mark.requirement("M-18")
def test_a_quick_pick_sends_no_numbers(published, keno, source, theme):
    view, _ = mark_numbers(build_idle_view(published, keno, "en"), theme, 1, 2, 3)
    view, (request,) = apply_action(view, Action("quick_pick"), theme)
    assert not view.marked_keno_slip.has_marks
    assert source.build_wager(request.value, **request.options).credits == request.value


def test_nothing_can_be_marked_while_a_game_runs_or_in_another_game(published, keno, theme):
    busy = build_idle_view(published, keno, "en", state="playing", accepted_inputs=())
    assert not mark_numbers(busy, theme, 1)[0].marked_keno_slip.has_marks
    reels = next(game for game in published if game.id == "maple-classic")
    assert not mark_numbers(build_idle_view(published, reels, "en"), theme, 1)[0].marked_keno_slip.has_marks


def test_a_restarted_screen_shows_the_current_card(published, keno, source):
    options = source.build_wager(1, selections=[{"groups": [[4, 5, 6]], "stakes": {"3": 1}}]).options
    view = build_idle_view(published, keno, "en", bet_credits=1, bet_wager=dict(options))
    assert view.marked_keno_slip.current_card_numbers == {4, 5, 6}
    assert not keno_slip.build_slip_from_wager(dict(source.build_wager(1).options)).has_marks, (
        "a quick pick has no marks yet"
    )


@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT], ids=["landscape", "portrait"])
def test_every_number_can_be_touched_where_it_is_drawn(published, keno, theme, layout):
    picture = Picture(theme, layout=layout)
    view = build_idle_view(published, keno, "en")
    numbers = [touch for touch in picture.list_touch_targets(view) if touch.action.name == "mark"]
    assert [touch.action.value for touch in numbers] == list(range(1, 81))
    for touch in numbers:
        x, y, w, h = touch.rect
        assert picture.find_touched_action(view, x + w / 2, y + h / 2) == touch.action
    other = replace(view, snapshot=build_snapshot(keno, "en", accepted_inputs=("language",)))
    assert not [touch for touch in picture.list_touch_targets(other) if touch.action.name == "mark"]


def test_a_draw_stays_visible_until_the_first_new_mark(published, keno, source, theme, outcomes):
    """The quick-pick key is drawn wherever it can be touched."""
    picture = Picture(theme, scale=0.5)
    surface = pygame.Surface(picture.size_pixels)
    idle_view = build_idle_view(published, keno, "en")
    view = show_outcome(idle_view, keno, outcomes[keno.id].small_win)
    line = build_view_timeline(view, theme)
    over = apply_message(replace(view, now=100 + line.end_seconds), build_snapshot(keno, "en"))
    assert not has_touched_bets_since_game(over)
    key = next(touch.rect for touch in picture.list_touch_targets(over) if touch.action.name == "quick_pick")
    key_rect = pygame.Rect(*(round(length / 2) for length in key))
    picture.draw_view(surface, over)
    with_key = surface.subsurface(key_rect).copy()
    picture.draw_view(surface, replace(over, snapshot=build_snapshot(keno, "en", accepted_inputs=())))
    assert pygame.image.tobytes(with_key, "RGB") != pygame.image.tobytes(surface.subsurface(key_rect), "RGB")
    marked_view, _ = apply_action(over, Action("mark", 5), theme)
    assert has_touched_bets_since_game(marked_view)
    assert marked_view.marked_keno_slip.current_card_numbers == {5}


def test_play_waits_until_the_machine_confirms_the_marked_bet(published, keno, theme):
    """A bet that was refused, or dropped at a change of denomination, is never played in place of the marks."""
    view, (*_, request) = mark_numbers(build_idle_view(published, keno, "en"), theme, 7, 18, 33)
    assert apply_action(view, Action("play"), theme)[1] == ()
    taken = view.snapshot.model_copy(update={"bet_credits": request.value, "bet_wager": request.options})
    view = apply_message(view, taken)
    assert [w.name for w in apply_action(view, Action("play"), theme)[1]] == ["play"]
    let_go = apply_message(view, view.snapshot.model_copy(update={"bet_wager": {}}))
    assert not let_go.marked_keno_slip.has_marks
    assert [w.name for w in apply_action(let_go, Action("play"), theme)[1]] == ["play"]


def touch_and_apply_reply(view, theme, source, name, value=None):
    """Touch once, and apply the machine's reply: the real game accepts the request, or refuses it by raising."""
    view, requests = apply_action(replace(view, now=view.now + 0.1), Action(name, value), theme)
    for request in requests:
        wager = source.build_wager(request.value, **(request.options or {}))
        assert wager.credits == request.value
        changes = {"bet_credits": wager.credits, "bet_wager": dict(request.options or {})}
        view = apply_message(view, view.snapshot.model_copy(update=changes))
    return view


@pytest.mark.requirement("M-03", "M-05", "M-04")
def test_several_cards_and_groups_are_the_bet_the_real_game_takes(published, keno, source, theme):
    """Of three cards, the last has three pairs; its ways are the groups of two and three pairs that pay."""
    view = build_idle_view(published, keno, "en", bet_credits=1)
    for number in (7, 18, 33):
        view = touch_and_apply_reply(view, theme, source, "mark", number)
    view = touch_and_apply_reply(view, theme, source, "new_card")
    for number in (1, 2, 3, 4):
        view = touch_and_apply_reply(view, theme, source, "mark", number)
    view = touch_and_apply_reply(view, theme, source, "new_card")
    for pair in ((10, 20), (30, 40), (50, 60)):
        for number in pair:
            view = touch_and_apply_reply(view, theme, source, "mark", number)
        view = touch_and_apply_reply(view, theme, source, "new_group")
    assert len(view.marked_keno_slip.cards) == 3
    view = touch_and_apply_reply(
        view, theme, source, "mark", 60
    )  # the last group loses a number, and is empty then refilled
    view = touch_and_apply_reply(view, theme, source, "mark", 60)
    assert keno_slip.compute_slip_price(keno, view.marked_keno_slip, 1) >= 5
    view = touch_and_apply_reply(view, theme, source, "card", 0)
    assert view.marked_keno_slip.current_card_numbers == {7, 18, 33}
    view = touch_and_apply_reply(view, theme, source, "bet_more")
    assert keno_slip.find_current_stake(view.snapshot, keno) == keno_slip.list_permitted_stakes(keno)[1]


@pytest.mark.requirement("M-03", "M-04")
def test_a_card_is_added_only_to_playable_cards_up_to_the_games_maximum(published, keno, source, theme):
    view = touch_and_apply_reply(build_idle_view(published, keno, "en"), theme, source, "mark", 1)
    assert touch_and_apply_reply(view, theme, source, "new_card").marked_keno_slip == view.marked_keno_slip
    for _ in range(30):
        for number in (1, 2, 3):
            view = (
                touch_and_apply_reply(view, theme, source, "mark", number)
                if number not in view.marked_keno_slip.current_card_numbers
                else view
            )
        view = touch_and_apply_reply(view, theme, source, "new_card")
    assert len(view.marked_keno_slip.cards) == keno_slip.find_count_limit(keno, "selections")


@pytest.mark.requirement("P-07")
def test_stakes_on_a_wheel_rise_by_area_up_to_the_limit_of_a_spin(published, games, theme):
    wheel = next(game for game in published if game.id == "river-wheel")
    source = next(game for game in games if game.id == "river-wheel")
    view = build_idle_view(published, wheel, "en", bet_credits=6)
    assert wheel_stakes.read_area_stakes(wheel, view.snapshot) == dict.fromkeys(
        ("otter", "heron", "trout", "loon", "bear", "star"), 1
    )
    view = touch_and_apply_reply(view, theme, source, "area", "bear")
    assert wheel_stakes.read_area_stakes(wheel, view.snapshot)["bear"] == 2
    for _ in range(4):
        view = touch_and_apply_reply(view, theme, source, "area", "bear")
    assert "bear" not in wheel_stakes.read_area_stakes(wheel, view.snapshot), (
        "after the highest stake comes none"
    )
    for area in ("otter", "heron", "trout", "loon", "bear", "star"):
        for _ in range(9):
            view = touch_and_apply_reply(view, theme, source, "area", area)
            assert 0 < sum(wheel_stakes.read_area_stakes(wheel, view.snapshot).values()) <= 150
    picture = Picture(theme)
    areas = [touch.action.value for touch in picture.list_touch_targets(view) if touch.action.name == "area"]
    assert areas == ["otter", "heron", "trout", "loon", "bear", "star"]
    busy = replace(view, snapshot=build_snapshot(wheel, "en", accepted_inputs=()))
    assert not [touch for touch in picture.list_touch_targets(busy) if touch.action.name == "area"]


@pytest.mark.requirement("M-05")
def test_draws_a_paid_bonus_and_a_stake_for_each_card_are_chosen_on_the_screen(published, games, theme):
    game = next(game for game in published if game.id == "aurora-keno")
    source = next(game for game in games if game.id == "aurora-keno")
    view = build_idle_view(published, game, "en", bet_credits=1)
    for number in (7, 18, 33):
        view = touch_and_apply_reply(view, theme, source, "mark", number)
    view = touch_and_apply_reply(view, theme, source, "draws")
    view = touch_and_apply_reply(view, theme, source, "bonus", "northern-lights")
    wager = view.snapshot.bet_wager
    assert (wager["draws"], wager["bonuses"]) == (2, ["northern-lights"])
    assert (
        view.snapshot.bet_credits == keno_slip.compute_slip_price(game, view.marked_keno_slip, 1) == 4
    )  # the bonus doubles it, twice
    assert (
        keno_slip.build_slip_from_wager(wager).with_first_card_current
        == view.marked_keno_slip.with_first_card_current
    )
    assert apply_action(view, Action("play"), theme)[1][0].name == "play"
    for _ in keno_slip.list_draw_counts_on_offer(game)[1:]:
        view = touch_and_apply_reply(view, theme, source, "draws")
    assert view.marked_keno_slip.draw_count == 1, "after the most, one again"
    view = touch_and_apply_reply(view, theme, source, "bonus", "northern-lights")
    assert view.marked_keno_slip.bonus_ids == ()
    view = touch_and_apply_reply(view, theme, source, "bet_more")
    if keno_slip.find_count_limit(game, "selections") > 1:
        view = touch_and_apply_reply(view, theme, source, "new_card")
        for number in (1, 2, 3):
            view = touch_and_apply_reply(view, theme, source, "mark", number)
        view = touch_and_apply_reply(
            replace(view, marked_keno_slip=keno_slip.build_slip_from_wager(view.snapshot.bet_wager)),
            theme,
            source,
            "bet_less",
        )
        stakes = [s["stakes"]["3"] for s in view.snapshot.bet_wager["selections"]]
        assert stakes == [1, 2], "the stake of the card the finger is on, and of no other"


@pytest.mark.requirement("M-05", "M-02")
@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_key_of_a_named_ticket_states_its_name_and_price(published, games, theme, language):
    game = next(game for game in published if game.id == "aurora-keno")
    source = next(game for game in games if game.id == "aurora-keno")
    view = build_idle_view(published, game, language, bet_credits=1)
    picture = Picture(theme, scale=0.5)
    seen = set()
    for form in (*game.presentation["forms"][1:], game.presentation["forms"][0]):
        assert Action("form", form["id"]) in [touch.action for touch in picture.list_touch_targets(view)]
        view = touch_and_apply_reply(view, theme, source, "form")
        assert view.snapshot.bet_wager == {"form": form["id"]}
        title, cents = describe_purchase(
            DrawingContext(picture.painter, Texts(language), LANDSCAPE_LAYOUT, view)
        )
        assert form["name"][language] in title
        assert cents == view.snapshot.bet_credits * view.snapshot.denomination_cents
        seen.add(title)
        for cost in keno_slip.list_preset_ticket_prices(
            game, form
        ):  # the bet keys walk this ticket's prices, and no other's
            while view.snapshot.bet_credits < cost:
                view = touch_and_apply_reply(view, theme, source, "bet_more")
            ticket = source.build_wager(cost, form=form["id"]).options
            assert view.snapshot.bet_wager == {"form": form["id"]}
            assert (ticket["draws"], ticket["bonuses"]) == (form["draws"], form["bonuses"])
            assert keno_slip.find_current_preset_ticket(game, view.snapshot)["id"] == form["id"]
    assert len(seen) == len(game.presentation["forms"])


@pytest.mark.requirement("M-02")
@pytest.mark.parametrize("name", ["aurora-keno", "archipelago-keno", "summit-keno"])
@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_keno_slip_states_its_numbers_its_highest_prize_and_where_the_rules_are(
    published, games, theme, name, language, monkeypatch
):
    game = next(game for game in published if game.id == name)
    paper = build_slip(next(game for game in games if game.id == name).rules.definition)
    view, texts = build_idle_view(published, game, language), Texts(language)
    legal_text = format_slip_legal_text(view, texts)
    assert texts.translate("keno.mark", least=paper["fewest_spots"], most=paper["most_spots"]) in legal_text
    if paper["most_paid_a_draw_credits"] is not None:
        assert texts.format_number(paper["most_paid_a_draw_credits"]) in legal_text
    assert paper["rules_at"] is None or texts.choose_translation(paper["rules_at"]) in legal_text
    drawn = []
    paragraph = Painter.draw_paragraph
    monkeypatch.setattr(
        Painter,
        "draw_paragraph",
        lambda self, words, *arguments, **options: (
            drawn.append(words) or paragraph(self, words, *arguments, **options)
        ),
    )
    picture = Picture(theme, scale=0.5)
    picture.draw_view(pygame.Surface(picture.size_pixels), view)
    assert legal_text in drawn


@pytest.mark.requirement("M-18")
@pytest.mark.parametrize("stake", [1, 2])
def test_the_price_of_a_named_ticket_depends_on_no_other_choice(published, games, theme, stake):
    """Regression: its price was the one nearest to the bet, and changed when another ticket was chosen."""
    request_count = 0
    for game in published:
        if not keno_slip.is_keno_game(game):
            continue
        view = build_idle_view(published, game, "en")
        played_game = next(candidate for candidate in games if candidate.id == game.id)
        forms = keno_slip.list_preset_tickets_on_offer(game)
        show_outcome = {
            form["id"]: keno_slip.compute_preset_ticket_price(game, form, stake) for form in forms
        }
        view = replace(
            view,
            snapshot=build_snapshot_after_bet(
                view,
                keno_slip.build_preset_ticket_request(forms[0], show_outcome[forms[0]["id"]]),
                played_game,
            ),
        )
        for form in (*forms[1:], *forms):
            (request,) = keno_slip.build_preset_ticket_choice_requests(game, view.snapshot, form["id"])
            assert (request.value, request.options) == (show_outcome[form["id"]], {"form": form["id"]})
            view = replace(view, snapshot=build_snapshot_after_bet(view, request, played_game))
            assert {
                form["id"]: keno_slip.compute_current_preset_ticket_price(game, form, view.snapshot)
                for form in forms
            } == show_outcome
            request_count += 1
    assert request_count > 10


def build_snapshot_after_bet(view, request, played_game):
    """Return the machine's next snapshot after it has accepted a bet for the game."""
    played_game.build_wager(request.value, **request.options)  # the game accepts it
    return view.snapshot.model_copy(update={"bet_credits": request.value, "bet_wager": dict(request.options)})
