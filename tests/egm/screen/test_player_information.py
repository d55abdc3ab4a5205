"""Information for the player before, during and after a game, read from the drawn texts and figures."""

import re
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from functools import cache
from itertools import pairwise, starmap
from pathlib import Path

import pygame
import pytest
from rigs.layouts import LAYOUTS, PHONE
from rigs.painters import WordPainter
from test_picture import Watcher

from egm.app.view import build_snapshot as build_machine_snapshot
from egm.devices.ioboard.codec import INPUTS
from egm.kernel.events import EventType
from egm.kernel.messages import HandpayView, PlayerProtectionView, ProgressiveWin, Reminder, Tilt
from egm.screen.audio.cues import list_cues_between
from egm.screen.controls import ACTION_BY_KEY_NAME
from egm.screen.input_reducer import apply_action
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.message_reducer import apply_message
from egm.screen.picture import Picture
from egm.screen.reel_data import compute_prize_at_bet, list_reel_stages, read_reel_data
from egm.screen.scenes import background, keno, progressive, reel_wins
from egm.screen.scenes.deck import compute_meter_amounts
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.help import list_help_pages
from egm.screen.scenes.pay_table import format_pay, list_pay_table_rows
from egm.screen.scenes.reels import ReelGrid
from egm.screen.scenes.status import choose_status_text_and_colour
from egm.screen.scenes.wheel_game import draw_wheel_prizes
from egm.screen.steps import HoldStep, KenoStep
from egm.screen.text import Texts, apply_typography, format_fault, read_catalogue
from egm.screen.theme import load_theme
from egm.screen.view import Action, PlayerPage, build_view_timeline, list_offered_costs
from egm.testing.machine import MachineRig
from paytables import list_table_games, load_game
from paytables.odds import list_awards
from tools.dev.gallery import iter_game_scenes, play_game, show_outcome
from tools.lab.views import build_game_view, build_idle_view, build_snapshot

LONG_ODDS = Path(__file__).parents[2] / "vectors" / "long-odds.toml"


LEVEL_GAMES = ["lantern-harbour", "summit-keno"]


class Writer(WordPainter):
    """A painter that records every text and every piece of art, visible or not."""

    def __init__(self, theme):
        super().__init__(theme)
        self.art_keys = []

    def draw_cached_picture(self, key, rect, make, **kwargs):
        self.art_keys.append((key, rect))
        return super().draw_cached_picture(key, rect, make, **kwargs)


EVERY_LAYOUT = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


@cache
def get_writing_picture(layout_name):
    """Return a picture that records its texts, and a surface for it; both are shared by all tests."""
    theme = load_theme()
    picture = Picture(theme, layout=LAYOUTS[layout_name])
    picture.painter = Writer(theme)
    return picture, pygame.Surface(picture.size_pixels)


def find_layout_name(layout):
    return next(name for name, known_layout in LAYOUTS.items() if known_layout is layout)


def read_words(view, layout=LANDSCAPE_LAYOUT):
    """Return every text in the picture of a view."""
    picture, surface = get_writing_picture(find_layout_name(layout))
    picture.painter.words, picture.painter.art_keys = [], []
    picture.draw_view(surface, view)
    return picture.painter.words


def read_help_words(view, layout=LANDSCAPE_LAYOUT):
    """Return every text of every help page."""
    painter = get_writing_picture(find_layout_name(layout))[0].painter
    view, _ = apply_action(view, Action("help"), painter.theme)
    count = len(list_help_pages(DrawingContext(painter, Texts(view.snapshot.language), layout, view)))
    return [words for sheet in range(count) for words in read_words(replace(view, sheet_index=sheet), layout)]


DEPARTING = [name for name in list_table_games() if load_game(name).departures]


@pytest.mark.requirement("P-02:a", "C-12")
@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("name", DEPARTING)
def test_every_departure_from_the_usual_rules_is_on_the_help_pages(name, language):
    game = load_game(name)
    view = build_game_view(game)
    text = " ".join(" ".join(read_help_words(build_idle_view((view,), view, language))).split())
    assert read_catalogue(language)["help.departures"] in text
    words = [word for text in game.departures for word in apply_typography(text[language], language).split()]
    missing = [word for word in words if word not in text]
    assert not missing


@pytest.mark.requirement("C-18")
@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("name", ["jacks-or-better-9-6", "quebec-let-it-ride", "quebec-three-card-poker"])
def test_the_pay_table_names_the_winning_combinations_in_the_players_language(name, language):
    game = build_game_view(load_game(name))
    view = build_idle_view((game,), game, language)
    shown = " ".join(" ".join(read_words(view)).split())
    differing = [
        pay["names"] for pay in game.presentation["pays"] if pay["names"]["en"] != pay["names"]["fr"]
    ]
    assert len(differing) > 3
    assert [
        names[language] for names in differing if apply_typography(names[language], language) not in shown
    ] == []


@pytest.mark.requirement("C-01", "C-02", "C-12", "C-18", "C-25", "C-26", "M-01", "C-11")
@pytest.mark.parametrize(
    ("language", "named"),
    [
        ("en", None),
        ("fr", {"maple-classic", "archipelago-keno"}),
        pytest.param("fr", None, marks=pytest.mark.slow),
    ],
)
def test_before_any_money_is_in_everything_about_a_game_can_be_read(published, language, named):
    """Name, price of a credit, rules, prizes, return, malfunction clause and version of the game are shown."""
    texts = Texts(language)
    for game in (game for game in published if named is None or game.id in named):
        view = build_idle_view(published, game, language, credit_cents=0)
        text = " ".join(read_help_words(view))
        flat = " ".join(text.split())
        rules = " ".join(texts.choose_translation(game.help).split())
        assert texts.choose_translation(game.title) in flat
        missing = [word for word in rules.split() if word not in flat]
        assert not missing, f"{game.id}: {missing}"
        assert ("malfunction" if language == "en" else "défectuosité") not in rules.lower()
        assert " ".join(texts.translate("defect.rule_refund").split()) in flat
        least, most = (texts.format_number(bet(game.bet_options)) for bet in (min, max))
        unit = texts.translate("help.unit", amount=texts.format_money(25, "CAD"), least=least, most=most)
        assert " ".join(unit.split()) in flat
        for spots, pays in game.presentation.get("tables", {}).items():
            numbers = [" ".join(texts.format_number(pay).split()) for pay in pays.values()]
            assert not [words for words in numbers if f" {words} " not in flat], f"{game.id}: {spots} spots"
        for prize in read_reel_data(game).prizes if list_reel_stages(game) else ():
            prize_credits = compute_prize_at_bet(game, prize.name, prize.credits, min(game.bet_options))
            words = " ".join(texts.format_number(prize_credits).split())
            assert not prize_credits or f" {words} " in f" {flat} ", f"{game.id}: {prize.name}"
        if list_reel_stages(game) and read_reel_data(game).pay_lines:
            assert " ".join(texts.translate("help.lines").split()) in flat, f"{game.id}: where are its lines?"
        figure = game.return_percent if language == "en" else game.return_percent.replace(".", ",")
        assert figure in flat
        assert game.version in flat
        assert game.digest[:16] in flat
        credits_said = texts.translate("help.prize_bet" if list_reel_stages(game) else "keno.table")
        assert " ".join(credits_said.split()) in flat, f"{game.id}: are its prizes credits or money?"


@pytest.mark.requirement("C-01")
@EVERY_LAYOUT
def test_the_name_of_the_game_is_on_the_sign_before_it_starts(published, layout, theme, monkeypatch):
    game, signs = next(game for game in published if game.id == "river-wheel"), []
    monkeypatch.setattr(background, "draw_title_sign", lambda *arguments: signs.append(arguments[-1]))
    picture = Picture(theme, layout=layout, scale=0.25)
    picture.draw_view(
        pygame.Surface(picture.size_pixels), build_idle_view(published, game, "fr", credit_cents=0)
    )
    assert signs == [game.title["fr"]]


def words_of_prize_pages(view):
    """Return every text of the help's pages of prizes, without the texts behind the help."""
    read_words(view)
    painter = get_writing_picture("landscape")[0].painter
    context = DrawingContext(painter, Texts(view.snapshot.language), LANDSCAPE_LAYOUT, view)
    painter.words = []
    for page in list_help_pages(context):
        if page.heading == context.texts.translate("help.prizes"):
            page.draw(context, (100, 100, 1400, 800))
    return " ".join(" ".join(painter.words).split())


@pytest.mark.requirement("C-01", "C-18")
@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("name", ["jacks-or-better-9-6", "quebec-three-card-poker"])
def test_a_page_of_the_help_has_what_each_hand_pays(name, language):
    game = build_game_view(load_game(name))
    view = build_idle_view((game,), game, language, credit_cents=0)
    text = words_of_prize_pages(view)
    context = DrawingContext(
        get_writing_picture("landscape")[0].painter, Texts(language), LANDSCAPE_LAYOUT, view
    )
    assert len(list_pay_table_rows(context)) > 3
    for pay in list_pay_table_rows(context):
        assert apply_typography(pay.names[language], language) in text
        assert " ".join(format_pay(context, pay).split()) in text


@pytest.mark.requirement("C-01", "C-18")
@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_page_of_the_help_has_what_each_area_of_a_wheel_pays(published, language):
    game = next(game for game in published if game.id == "river-wheel")
    text = words_of_prize_pages(build_idle_view(published, game, language, credit_cents=0))
    areas = game.presentation["areas"]
    assert len(areas) > 3
    for area in areas:
        assert apply_typography(area["name"][language], language) in text
        for pay in area["pays"].values():
            assert " ".join(Texts(language).format_number(int(pay)).split()) in text


@pytest.mark.requirement("C-12")
@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize(
    ("name", "awards"),
    [
        (
            "aurora-twenty",
            {
                "3 star": {"en": "10 × Free games", "fr": "10 × Parties gratuites"},
                "4 star": {"en": "15 × Free games", "fr": "15 × Parties gratuites"},
                "5 star": {"en": "20 × Free games", "fr": "20 × Parties gratuites"},
            },
        ),
        (
            "orchard-picnic",
            {
                "3 basket": {"en": "Picnic", "fr": "Pique-nique"},
                "4 basket": {"en": "Picnic", "fr": "Pique-nique"},
                "5 basket": {"en": "Picnic", "fr": "Pique-nique"},
            },
        ),
    ],
)
def test_the_help_names_the_feature_that_a_combination_awards(name, awards, language):
    """The name is on the page of the rules, beside the pictures, and in the table of the prizes."""
    game = build_game_view(load_game(name))
    view = build_idle_view((game,), game, language, credit_cents=0)
    texts, reel_data = Texts(language), read_reel_data(game)
    texts_shown = read_help_words(view)
    opened, _ = apply_action(view, Action("help"), get_writing_picture("landscape")[0].painter.theme)
    rules_page = read_words(opened)
    for combination, award in awards.items():
        count, symbol = combination.split()
        prize = texts.translate(
            "help.kind", count=count, name=texts.choose_translation(reel_data.symbol_names[symbol], symbol)
        )
        assert award[language] in rules_page
        assert f"{prize} + {award[language]}" in texts_shown


@pytest.mark.requirement("C-25", "C-26")
@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_page_of_the_help_states_the_return(published, language):
    """It is also printed below the game, on every page."""
    game = next(game for game in published if game.id == "maple-classic")
    view = build_idle_view(published, game, language)
    figure = game.return_percent if language == "en" else game.return_percent.replace(".", ",")
    context = DrawingContext(
        get_writing_picture("landscape")[0].painter, Texts(language), LANDSCAPE_LAYOUT, view
    )
    texts_shown, printed = read_help_words(view), sum(figure in words for words in read_words(view))
    assert sum(figure in words for words in texts_shown) > printed * len(list_help_pages(context)) > 0


@pytest.mark.requirement("C-02")
@pytest.mark.parametrize("name", ["maple-classic", "quebec-roulette-french", "quebec-blackjack"])
@pytest.mark.parametrize("language", ["en", "fr"])
@EVERY_LAYOUT
def test_the_rules_of_a_game_can_be_read_in_each_language_without_credit(name, language, layout):
    source = load_game(name)
    game = build_game_view(source)
    text = " ".join(
        " ".join(read_help_words(build_idle_view((game,), game, language, credit_cents=0), layout)).split()
    )
    rules = " ".join(Texts(language).choose_translation(source.help).split())
    assert source.help["en"] != source.help["fr"]
    assert [word for word in rules.split() if word not in text] == []
    (other,) = {"en", "fr"} - {language}
    assert [word for word in source.help[other].split() if word not in text], "both languages at once"


@pytest.mark.requirement("C-23")
@pytest.mark.parametrize("language", ["en", "fr"])
def test_very_long_odds_have_their_own_help_page(language):
    game = build_game_view(load_game(LONG_ODDS))
    view = build_idle_view((game,), game, language)
    texts = Texts(language)
    texts_shown = read_help_words(view)
    assert any(texts.translate("odds.title") in words for words in texts_shown)
    star = texts.translate("help.kind", count=3, name={"en": "Star", "fr": "Étoile"}[language])
    comet = texts.translate("help.kind", count=3, name={"en": "Comet", "fr": "Comète"}[language])
    assert f"{star} · {texts.translate('help.bet', bet='2')}" in texts_shown
    assert f"{comet} · {texts.translate('help.bet', bet='1')}" in texts_shown
    assert {"en": "The sky", "fr": "Le ciel"}[language] in texts_shown
    odds = [
        words
        for words in texts_shown
        if words
        in {texts.translate("odds.one_in", games=texts.format_number(n)) for n in (27_000_000, 40_000_000)}
    ]
    assert len(odds) >= 3
    usual = build_game_view(load_game("maple-classic"))
    assert not any(
        texts.translate("odds.title") in words
        for words in read_help_words(build_idle_view((usual,), usual, language))
    )


@pytest.mark.requirement("C-11", "C-22", "N-07")
def test_the_odds_of_each_prize_and_bet_are_those_of_the_exact_analysis(games, analyses, published):
    """This includes games in which a higher bet buys more of the pay table than a multiple of it."""
    compared, seen = 0, set()
    for source, game in zip(games, published, strict=True):
        if not list_reel_stages(game):
            continue
        reel_data = read_reel_data(game)
        exact = analyses[source.id]
        seen.add(game.id)
        for bet in exact.bets:
            stage = next(b["stage"] for b in game.presentation["bets"] if bet.cost_credits % b["cost"] == 0)
            truth = {p.name: p.credits for p in bet.prizes if p.stage_or_spot == stage}
            for prize in reel_data.prizes:
                if prize.name not in truth:
                    continue
                prize_credits = compute_prize_at_bet(game, prize.name, prize.credits, bet.cost_credits)
                assert prize_credits == truth[prize.name], f"{game.id}, bet {bet.cost_credits}: {prize.name}"
                compared += 1
    assert compared > 90
    assert seen == {source.id for source in games if source.family == "reels"}


@pytest.mark.requirement("C-11", "C-22", "C-01")
@pytest.mark.parametrize("name", ["maple-classic", "seven-rivers", "orchard-picnic", "northern-ways"])
@EVERY_LAYOUT
def test_the_pay_table_writes_each_prize_in_credits_under_each_bet(published, name, layout):
    """The amounts in a prize's row are those that the bets in the heading pay, in the same order."""
    game = next(game for game in published if game.id == name)
    view = build_idle_view(published, game, "en", credit_cents=100_000)
    texts = Texts("en")
    texts_shown = read_help_words(view, layout)
    options = list_offered_costs(view)
    options = options if len(options) <= 8 else (*options[:4], *options[-4:])
    assert len(options) > 1
    bets = [texts.format_number(bet) for bet in options]
    heads = [texts.translate("help.bet", bet=bet) for bet in bets]
    if find_layout_name(layout) not in {"landscape", "portrait"}:
        assert "for each bet" in texts_shown  # a telephone has these words once, above all the bets
        heads = bets
    assert any(texts_shown[n : n + len(heads)] == heads for n in range(len(texts_shown)))
    rows = 0
    for prize in read_reel_data(game).prizes:
        pays = [compute_prize_at_bet(game, prize.name, prize.credits, bet) for bet in options]
        if not all(pays):
            continue
        assert len(set(pays)) > 1, "a prize that is the same at each bet shows nothing"
        words = [texts.format_number(pay) for pay in pays]
        assert any(texts_shown[n : n + len(words)] == words for n in range(len(texts_shown))), prize.name
        rows += 1
    assert rows >= 3


@pytest.mark.requirement("C-22")
@pytest.mark.parametrize("bet", range(1, 6))
def test_the_table_of_pays_names_every_prize_at_each_number_of_credits(bet):
    """Published video poker 9-6: a royal flush is worth more at five credits."""
    game = build_game_view(load_game("jacks-or-better-9-6"))
    view = build_idle_view((game,), game, "en", bet_credits=bet, credit_cents=100_000)
    pays = (4000 if bet == 5 else 250 * bet, *(bet * pay for pay in (50, 25, 9, 6, 4, 3, 2, 1)))
    rows = list_pay_table_rows(
        DrawingContext(get_writing_picture("landscape")[0].painter, Texts("en"), LANDSCAPE_LAYOUT, view)
    )
    texts_shown = read_help_words(view)
    assert len(rows) == len(pays)
    for row, pay in zip(rows, pays, strict=True):
        assert row.names["en"] in texts_shown
        assert Texts("en").format_number(pay) in texts_shown, f"{row.names['en']} at {bet} credits"


@pytest.mark.requirement("C-22", "M-01")
@pytest.mark.parametrize("name", ["aurora-keno", "archipelago-keno"])
@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PHONE], ids=["landscape", "phone"])
def test_the_keno_table_lists_the_pay_of_each_catch_for_each_number_of_spots(name, layout):
    source = load_game(name)
    game = build_game_view(source)
    texts_shown = read_help_words(build_idle_view((game,), game, "en"), layout)
    prizes = {
        (spots, catch): [f"{pay:,}"]
        for spots, table in source.rules.keno_pays.pays_by_spot_count.items()
        for catch, pay in table.items()
    }
    for level in source.build_presentation().get("progressives", ()):
        prizes.setdefault((level["spots"], level["catch"]), []).append(level["name"]["en"])
    for catch in {catch for _, catch in prizes}:
        pays = (
            prizes.get((spots, catch), ["–"]) for spots in sorted(source.rules.keno_pays.pays_by_spot_count)
        )
        row = [Texts("en").translate("keno.catch", count=catch), *map(" + ".join, pays)]
        assert any(texts_shown[n : n + len(row)] == row for n in range(len(texts_shown))), row


@pytest.mark.requirement("C-22")
@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PHONE], ids=["landscape", "phone"])
def test_the_prizes_of_a_wheel_name_each_area_and_what_it_pays(language, layout):
    game = build_game_view(load_game("river-wheel"))
    texts_shown = read_help_words(build_idle_view((game,), game, language), layout)
    for area in game.presentation["areas"]:
        for pay in area["pays"].values():
            row = [area["name"][language], Texts(language).format_number(int(pay))]
            assert any(texts_shown[n : n + 2] == row for n in range(len(texts_shown))), row


@pytest.mark.requirement("C-22")
def test_each_prize_of_a_wheel_area_is_pictured_by_its_own_symbol(monkeypatch):
    """A wheel game of an operator may have several symbols in one betting area, each with its own pay."""
    published = build_game_view(load_game("river-wheel"))
    first, *others = published.presentation["areas"]
    areas = [{**first, "pays": {"otter": 2, "star": 45}}, *others]
    game = published.model_copy(update={"presentation": {**published.presentation, "areas": areas}})
    context = DrawingContext(
        WordPainter(load_theme()), Texts("en"), LANDSCAPE_LAYOUT, build_idle_view((game,), game, "en")
    )
    symbols = []
    monkeypatch.setattr(
        context.painter,
        "draw_cached_picture",
        lambda key, *_, **__: symbols.append(key) or pygame.Rect(0, 0, 0, 0),
    )
    draw_wheel_prizes(context, context.layout.player_page)
    assert symbols[:2] == [("symbol", "otter"), ("symbol", "star")]


@pytest.mark.requirement("I-04")
@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("lantern-harbour", {"Harbour", "Grand Harbour"}),
        ("quebec-caribbean-stud", {"Progressive jackpot"}),
    ],
)
@EVERY_LAYOUT
def test_the_levels_of_a_game_are_shown_for_the_smallest_bet(name, names, layout, monkeypatch):
    game = build_game_view(load_game(name))
    view = build_idle_view((game,), game, "en", bet_credits=min(game.bet_options))
    amounts = []
    monkeypatch.setattr(progressive, "draw_odometer", lambda _p, text, *_, **__: amounts.append(text))
    text = " ".join(read_words(view, layout))
    levels = view.snapshot.progressives
    assert amounts == [Texts("en").format_money(level.amount_cents, "CAD") for level in levels]
    assert {level.names["en"] for level in levels} == names
    assert all(level.names["en"] in text for level in levels)


@pytest.mark.requirement("C-13")
def test_nothing_reveals_a_win_before_the_reels_have_stopped(games, published, theme):
    """Won and lost games take the same time and have the same sounds and texts while the reels turn."""
    game = next(game for game in published if game.id == "maple-classic")
    source = next(candidate for candidate in games if candidate.id == game.id)
    seen, picture, won = set(), Picture(theme), 0
    for number in range(60):
        outcome = play_game(source, f"same/{number}", 3)
        view = show_outcome(build_idle_view(published, game, "en"), game, outcome)
        line = build_view_timeline(view, theme)
        until = [replace(view, now=100 + line.last_stop_seconds * i / 40) for i in range(40)]
        sounds = tuple(name for a, b in pairwise(until) for name in list_cues_between(a, b, theme))
        status = tuple(dict.fromkeys(read_words(until[20], LANDSCAPE_LAYOUT)[-40:])) if number < 2 else ()
        seen.add((line.steps[0].stop_seconds, line.last_stop_seconds, sounds))
        won += outcome.returned_credits > 0
        assert {compute_meter_amounts(picture._build_context(moment)).win_cents for moment in until} == {0}
        assert not [words for words in status if "win" in words.lower() and words != "WIN"]
    assert len(seen) == 1
    assert won
    promises = re.compile(
        r"\b(due|ready to|almost|so close|next spin|hot|bientôt|presque|prêt à)\b", re.IGNORECASE
    )
    for language in ("en", "fr"):
        for key, text in read_catalogue(language).items():
            if not key.startswith(("service", "drawer", "help", "tilt", "notice", "form", "manual")):
                assert not promises.search(text), (key, text)


@pytest.mark.requirement("C-13", "B-17")
@pytest.mark.parametrize("name", LEVEL_GAMES)
def test_picture_and_sound_are_the_same_with_and_without_a_progressive_win_until_the_game_has_stopped(
    published, outcomes, theme, name
):
    """The machine resets a level as soon as its win is drawn; the screen shows that only after the reels."""
    game, found = next(game for game in published if game.id == name), outcomes[name]
    idle = build_idle_view(published, game, "en")
    without = show_outcome(idle, game, found.feature or found.small_win)
    level, *others = idle.snapshot.progressives
    hit = ProgressiveWin(id=level.id, level=level.level, names=level.names, amount_cents=level.amount_cents)
    reset = (level.model_copy(update={"amount_cents": 1000}), *others)
    won = apply_message(idle, without.snapshot.model_copy(update={"progressives": reset}))
    won = apply_message(won, without.presentation.outcome.model_copy(update={"progressives": (hit,)}))
    picture = Picture(theme, scale=0.25)
    surface, stopped = pygame.Surface(picture.size_pixels), build_view_timeline(won, theme).last_stop_seconds

    def draw(view, since):
        picture.draw_view(surface, replace(view, now=view.presentation.began_at + since))
        return surface.get_view("2").raw

    def list_cues(view):
        views = [replace(view, now=view.presentation.began_at + (stopped - 0.05) * i / 20) for i in range(21)]
        return [list(list_cues_between(first, second, theme)) for first, second in pairwise(views)]

    assert list_cues(won) == list_cues(without)
    for since in (0.1, stopped - 0.05):
        assert draw(won, since) == draw(without, since), since
    assert draw(won, stopped + 0.05) != draw(without, stopped + 0.05)
    assert apply_message(won, idle.snapshot).cents_before_win_by_level == {}


@pytest.mark.requirement("C-14:a")
@EVERY_LAYOUT
def test_free_games_are_counted_down(published, outcomes, theme, layout):
    game = next(game for game in published if game.id == "aurora-twenty")
    view = show_outcome(build_idle_view(published, game, "en"), game, outcomes[game.id].feature)
    line = build_view_timeline(view, theme)
    series = [
        i for i, step in enumerate(view.presentation.steps) if step.stage != view.presentation.steps[0].stage
    ]
    assert len(series) > 1
    for position_in_series, index in enumerate(series):
        spinning = replace(view, now=100 + line.steps[index].start_seconds + 0.3)
        expected = f"{position_in_series + 1} of {len(series)}"
        assert any(expected in words for words in read_words(spinning, layout)), expected


@pytest.mark.requirement("C-14:a")
def test_the_spins_left_in_a_hold_and_spin_feature_are_counted(published, outcomes, theme):
    game = next(game for game in published if game.id == "lantern-harbour")
    view = show_outcome(build_idle_view(published, game, "en"), game, outcomes[game.id].feature)
    line = build_view_timeline(view, theme)
    index, step = next(
        (n, step) for n, step in enumerate(view.presentation.steps) if isinstance(step, HoldStep)
    )
    assert len(set(step.spins_left)) > 1
    for stop, spins_left in zip(line.steps[index].stop_seconds[:-1], step.spins_left, strict=False):
        words = Texts("en").translate("feature.spins_left", count=spins_left)
        assert words in read_words(replace(view, now=100 + stop + 0.001)), (spins_left, stop)


@pytest.mark.requirement("C-13", "C-14")
def test_free_games_still_to_be_awarded_are_not_counted(games, published, theme):
    """A retrigger raises the shown number when its reels have stopped; earlier, it would reveal the result."""
    source, game = (
        next(game for game in collection if game.id == "northern-ways") for collection in (games, published)
    )
    outcomes_ = (
        play_game(source, f"northern-ways/{number}", max(game.bet_options)) for number in range(1500)
    )
    outcome = next(
        outcome for outcome in outcomes_ if any(step["awards"] for step in outcome.display["steps"][1:])
    )
    view, picture = show_outcome(build_idle_view(published, game, "en"), game, outcome), Picture(theme)
    line, is_each_counted, awarded = build_view_timeline(view, theme), [], 0
    for number, step in enumerate(outcome.display["steps"]):
        for elapsed_s in (
            (line.steps[number].start_seconds + 0.05, line.steps[number].last_stop_seconds + 0.05)
            if number
            else ()
        ):
            status = choose_status_text_and_colour(
                picture._build_context(replace(view, now=100 + elapsed_s))
            )[0]
            is_each_counted.append(
                f"{number} of {awarded}" in status
                or (elapsed_s >= line.last_stop_seconds and "of" not in status)
            )
            awarded = number + step["left"]
        awarded = awarded or step["awards"][0]["times"]
    assert awarded > 8
    assert all(is_each_counted), is_each_counted
    title = read_words(replace(view, now=100 + line.steps[1].title_card_start_seconds + 1.0))
    assert "8" in title


@pytest.mark.requirement("C-15:a")
@EVERY_LAYOUT
def test_each_line_in_play_has_its_number_on_both_sides_of_the_reels(published, outcomes, layout):
    game = next(game for game in published if game.id == "aurora-twenty")
    idle_view = build_idle_view(published, game, "en")
    for view in (idle_view, show_outcome(idle_view, game, outcomes[game.id].small_win)):
        texts_shown = read_words(view, layout)
        assert all(texts_shown.count(str(number)) >= 2 for number in range(1, 21)), texts_shown


@pytest.mark.requirement("C-15:b")
@pytest.mark.parametrize("name", ["icebreak", "aurora-twenty"])
def test_the_named_win_is_the_lit_one(games, published, theme, name, monkeypatch):
    """This includes games whose windows fall one after another, each with its own wins."""
    source, game = (next(game for game in collection if game.id == name) for collection in (games, published))
    lit = []
    draw = reel_wins._draw_line_badge
    monkeypatch.setattr(
        reel_wins,
        "_draw_line_badge",
        lambda *a, **k: (lit.append((a[2].line_number, a[2].credits)), draw(*a, **k))[1],
    )
    named = 0
    for number in range(300):
        outcome = play_game(source, f"named/{number}", max(game.bet_options))
        if not outcome.returned_credits or len(outcome.display["steps"]) > 1 or named > 12:
            continue
        view = show_outcome(build_idle_view(published, game, "en"), game, outcome)
        line = build_view_timeline(view, theme)
        snapshot = build_snapshot(game, "en", paid_cents=outcome.returned_credits * 25)
        after = apply_message(replace(view, now=100 + line.end_seconds), snapshot)
        back = build_idle_view(
            published, game, "en", paid_cents=snapshot.paid_cents, last_display=outcome.to_json()["display"]
        )
        for idle_view in (after, back):
            for i in range(6):
                lit.clear()
                texts_shown = read_words(replace(idle_view, now=100 + line.end_seconds + 0.37 * i))
                for words in (
                    words for words in texts_shown if re.match(r"(Line \d+, )?.*: win of \$", words)
                ):
                    sums = {
                        Texts("en").format_money(credits_ * 25, "CAD"): line_number
                        for line_number, credits_ in lit
                    }
                    assert any(words.endswith(f"win of {total}") for total in sums), (words, lit)
                    number_said = re.match(r"Line (\d+)", words)
                    assert number_said is None or int(number_said[1]) in {
                        line_number for line_number, _ in lit
                    }
                    named += 1
    assert named > 5


@pytest.mark.requirement("C-15:b", "C-24")
@EVERY_LAYOUT
def test_each_winning_line_is_lit_numbered_and_named_in_its_turn(games, published, theme, layout):
    game = next(game for game in published if game.id == "aurora-twenty")
    source = next(candidate for candidate in games if candidate.id == game.id)
    shown_lines = 0
    for number in range(200):
        outcome = play_game(source, f"lines/{number}", max(game.bet_options))
        lines = [win["number"] for win in outcome.display["wins"] if win.get("on", "line") == "line"]
        if len(outcome.display["steps"]) > 1 or len(lines) < 2:
            continue
        view = show_outcome(build_idle_view(published, game, "en"), game, outcome)
        line = build_view_timeline(view, theme)
        after = apply_message(
            replace(view, now=100 + line.end_seconds),
            build_snapshot(game, "en", paid_cents=outcome.returned_credits * 25),
        )
        line_texts = set()
        reel_data = read_reel_data(game)
        grid = ReelGrid(layout.game_field, reel_data.reel_heights)
        for i in range(4 * (len(lines) + 2)):
            later = replace(after, now=after.now + i * theme.motion.winning_line_seconds / 2)
            line_texts |= (
                named := {words for words in read_words(later, layout) if words.startswith("Line ")}
            )
            drawn = get_writing_picture(find_layout_name(layout))[0].painter.art_keys
            for win in (win for win in outcome.display["wins"] if win.get("on", "line") == "line"):
                if any(words.startswith(f"Line {win['number']},") for words in named):
                    cells = {grid.compute_cell_rect(reel, row) for reel, row in win["positions"]}
                    assert {rect for key, rect in drawn if key[0] == "win frame"} == cells
                    (path,) = (key[1] for key, _ in drawn if key[0] == "line")
                    assert path[1:-1] == tuple(
                        (x + w / 2, y + h / 2)
                        for x, y, w, h in starmap(
                            grid.compute_cell_rect, enumerate(reel_data.pay_lines[win["number"] - 1])
                        )
                    )
        for line_number in lines:
            assert any(words.startswith(f"Line {line_number},") for words in line_texts), (
                line_number,
                line_texts,
            )
        shown_lines += len(lines)
        if shown_lines > 6:
            break
    assert shown_lines > 6


@pytest.mark.requirement("C-21", "N-07")
def test_a_game_is_started_by_a_button_a_key_or_a_touch_and_by_no_lever():
    inputs = {name for _, name in INPUTS}
    assert "play" in inputs
    assert not {
        name for name in inputs | set(ACTION_BY_KEY_NAME.values()) if "lever" in name or "handle" in name
    }


@pytest.mark.requirement("N-01:a", "N-01:c")
@EVERY_LAYOUT
def test_the_clock_is_visible_during_a_game(published, outcomes, layout):
    game = published[0]
    idle_view = build_idle_view(published, game, "en")
    for view in (idle_view, show_outcome(idle_view, game, outcomes[game.id].small_win)):
        for minutes in (0, 4, 64):  # without another message of the machine
            later = replace(view, now=view.now + 60 * minutes)
            time = datetime.fromisoformat(view.time_utc) + timedelta(minutes=minutes)
            assert Texts("en").format_time_of_day(time.isoformat()) in read_words(later, layout)


@pytest.mark.requirement("N-01:a")
@EVERY_LAYOUT
def test_the_clock_is_in_sight_while_play_is_stopped_and_on_every_page_of_the_player(published, layout):
    idle_view = build_idle_view(published, published[0], "en")
    states = {
        "out_of_service": {},
        "door_open": {"open_doors": ("main",)},
        "tilt": {"tilts": (Tilt(code="bill_acceptor.cheat", since=SINCE, cleared_by="attendant"),)},
        "handpay": {"handpay": HandpayView(kind="cancelled_credit", amount_cents=4200)},
        "paying": {},
        "locked": {},
    }
    views = [
        apply_message(idle_view, idle_view.snapshot.model_copy(update={"state": state, **changes}))
        for state, changes in states.items()
    ]
    views += [replace(idle_view, player_page=page) for page in (PlayerPage.HELP, PlayerPage.GAME_MENU)]
    assert len({view.scene for view in views}) == len(states) + 1
    for view in views:
        assert Texts("en").format_time_of_day(view.time_utc) in read_words(view, layout), (
            view.scene,
            view.player_page,
        )


@pytest.mark.requirement("C-20")
@pytest.mark.parametrize("language", ["en", "fr"])
@EVERY_LAYOUT
def test_the_offer_to_double_says_what_is_at_stake_what_may_be_won_and_how_likely(
    published, outcomes, theme, layout, language
):
    game, texts = next(game for game in published if game.id == "orchard-picnic"), Texts(language)
    scenes = iter_game_scenes(published, game, outcomes[game.id], language, theme, layout)
    view = next(
        view for name, view in scenes if name.startswith("asks") and view.decision.kind == "double_up"
    )
    seen = read_words(view, layout)
    for key, amount in (("gamble.at_stake", "credits"), ("gamble.to_win", "to_win")):
        index = seen.index(texts.translate(key))
        assert seen[index + 1] == texts.format_number(view.decision.display[amount])
    assert view.decision.display["to_win"] == 2 * view.decision.display["credits"]
    assert set(texts.translate("gamble.fair").split()) <= set(" ".join(seen).split())


@pytest.mark.requirement("C-14:b")
@pytest.mark.parametrize(("language", "label"), [("en", "Decks: {}"), ("fr", "Paquets de cartes : {}")])
def test_every_game_dealt_from_a_shoe_says_how_many_decks_are_in_use(language, label):
    definitions = {
        game.id: (game, getattr(game.rules, "definition", None))
        for game in map(load_game, list_table_games())
    }
    shoes = {
        name: (game, definition.shoe)
        for name, (game, definition) in definitions.items()
        if hasattr(definition, "shoe")
    }
    assert {shoe.deck_count for _, shoe in shoes.values()} == {6, 8}
    assert len(shoes) == 17
    in_words = {"quebec-super-pan-9": {"en": "Eight decks", "fr": "Huit jeux"}}
    for name, (game, shoe) in shoes.items():
        decks_text = in_words[name][language] if name in in_words else label.format(shoe.deck_count)
        assert re.search(rf"\b{decks_text}\b", game.help[language]), name


@pytest.mark.requirement("F-07:b")
@pytest.mark.parametrize(("language", "amount"), [("en", "$42.00"), ("fr", "42,00 $")])
@EVERY_LAYOUT
def test_a_cancelled_credit_is_shown_in_currency(published, language, amount, layout):
    view = build_idle_view(published, published[0], language)
    handpay = HandpayView(kind="cancelled_credit", amount_cents=4200)
    owed = view.snapshot.model_copy(update={"state": "handpay", "handpay": handpay})
    texts_shown = [words.replace("\u00a0", " ") for words in read_words(apply_message(view, owed), layout)]
    assert any(amount in words for words in texts_shown), texts_shown


SINCE = "2026-11-21T17:05:00+00:00"
STOPPED = [
    pytest.param(
        *("out_of_service", {}),
        {
            "en": ("Out of service", "Press CASH OUT to take your credits."),
            "fr": ("Hors service", "Appuyez sur ENCAISSER pour retirer vos crédits."),
        },
        marks=pytest.mark.requirement("Q-21", "F-20"),
        id="out of service",
    ),
    pytest.param(
        *("door_open", {"open_doors": ("main",)}),
        {
            "en": ("Door open", "Main door", "Close the door to continue."),
            "fr": ("Porte ouverte", "Porte principale", "Fermez la porte pour continuer."),
        },
        marks=pytest.mark.requirement("J-02"),
        id="door",
    ),
    pytest.param(
        *("tilt", {"tilts": (Tilt(code="bill_acceptor.cheat", since=SINCE, cleared_by="attendant"),)}),
        {
            "en": ("Bill acceptor: fraud suspected", "An attendant can clear this fault"),
            "fr": ("Accepteur de billets : fraude soupçonnée", "Un préposé peut lever la panne"),
        },
        marks=pytest.mark.requirement("G-12:a"),
        id="fault",
    ),
]


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize(
    "code",
    [
        "bill_acceptor.stacker_jam",
        *(
            pytest.param(f"{device}.communication", marks=pytest.mark.requirement("G-15"))
            for device in ("bill_acceptor", "coin_acceptor", "hopper", "ticket_printer")
        ),
    ],
)
def test_a_fault_that_stops_no_game_is_shown_in_the_status_line(tmp_path, published, language, code):
    machine = MachineRig(tmp_path).boot()
    machine.engine.handle(EventType.FAULT_RAISED, code=code, detail="")
    (notice,) = build_machine_snapshot(machine.engine).notices
    machine.close()
    assert (notice.code, notice.severity) == (f"fault.{code}", "warning")
    view = build_idle_view(published, published[0], language)
    with_notice = apply_message(view, view.snapshot.model_copy(update={"notices": (notice,)}))
    for layout in LAYOUTS.values():
        assert format_fault(Texts(language), code) in " ".join(read_words(with_notice, layout))


@pytest.mark.requirement("G-06")
@pytest.mark.parametrize("code", ["stacker_full", "stacker_removed"])
@pytest.mark.parametrize(
    ("language", "neutral", "box"),
    [
        ("en", "Bills are not accepted right now", "box"),
        ("fr", "Les billets ne sont pas acceptés pour le moment", "boîte"),
    ],
)
def test_players_do_not_read_that_the_bill_box_is_full_or_removed(
    tmp_path, published, code, language, neutral, box
):
    machine = MachineRig(tmp_path).boot()
    machine.engine.handle(EventType.FAULT_RAISED, code=f"bill_acceptor.{code}", detail="")
    (notice,) = build_machine_snapshot(machine.engine).notices
    machine.close()
    view = build_idle_view(published, published[0], language)
    with_notice = apply_message(view, view.snapshot.model_copy(update={"notices": (notice,)}))
    for layout in LAYOUTS.values():
        words = " ".join(read_words(with_notice, layout))
        assert neutral in words
        assert box not in words.lower()


@pytest.mark.parametrize("language", ["en", "fr"])
@EVERY_LAYOUT
@pytest.mark.parametrize(("state", "changes", "expected"), STOPPED)
def test_a_machine_that_is_stopped_says_why_and_what_to_do(
    published, language, layout, state, changes, expected
):
    view = build_idle_view(published, published[0], language, credit_cents=2000)
    stopped = apply_message(view, view.snapshot.model_copy(update={"state": state, **changes}))
    text = " ".join(" ".join(read_words(stopped, layout)).split())
    assert [words for words in expected[language] if words not in text] == []


@pytest.mark.requirement("J-15:a", "I-09")
@pytest.mark.parametrize("kind", ["cancelled_credit", "jackpot", "progressive"])
@pytest.mark.parametrize("language", ["en", "fr"])
@EVERY_LAYOUT
def test_the_machines_numbers_are_on_the_screen(published, language, layout, kind):
    view = build_idle_view(published, published[0], language)
    handpay = HandpayView(kind=kind, amount_cents=4200)
    numbered = view.snapshot.model_copy(update={"serial": "SN-4711", "operator_number": "OP-0815"})
    owed = numbered.model_copy(update={"state": "handpay", "handpay": handpay})
    assert any("SN-4711" in words for words in read_words(apply_message(view, numbered), layout))
    assert any("OP-0815" in words for words in read_words(apply_message(view, owed), layout))


@pytest.mark.requirement("J-15:a")
def test_the_machine_sends_its_numbers_to_its_screen(tmp_path):
    rig = MachineRig(tmp_path)
    sent = build_machine_snapshot(rig.engine)
    assert (sent.serial, sent.operator_number) == ("TEST-1", "7")
    rig.close()


REMINDERS = [
    ("time", {}, {"en": "Time reminder", "fr": "Rappel du temps de jeu"}, "N-02"),
    ("spend", {}, {"en": "Spending reminder", "fr": "Rappel de vos dépenses"}, "N-02"),
    (
        *("time_limit", {"until_utc": "2026-11-21T17:35:00+00:00"}),
        {"en": "Play is paused until 5:35", "fr": "Le jeu est en pause jusqu’à 17 h 35"},
        "N-03",
    ),
    (
        *("spend_limit", {}),
        {"en": "Your spending limit is reached", "fr": "Votre limite de dépense est atteinte"},
        "N-03",
    ),
]


@pytest.mark.parametrize("language", ["en", "fr"])
@EVERY_LAYOUT
@pytest.mark.parametrize(
    ("kind", "changes", "expected"),
    [pytest.param(*values, marks=pytest.mark.requirement(row), id=values[0]) for *values, row in REMINDERS],
)
def test_a_reminder_says_the_time_played_and_what_was_spent(
    published, language, layout, kind, changes, expected
):
    reminder = Reminder.model_validate({"kind": kind, "minutes": 60, "spent_cents": 1200, **changes})
    view = build_idle_view(
        published, published[0], language, reminder=reminder, accepted_inputs=("acknowledge", "cash_out")
    )
    texts_shown = read_words(view, layout)
    assert {"1 h 00 min", Texts(language).format_money(1200, "CAD")} <= set(texts_shown)
    assert expected[language] in " ".join(" ".join(texts_shown).split())


@pytest.mark.requirement("N-05", "F-03")
@EVERY_LAYOUT
@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", {"$1,234.50", "4,938 credits", "$0.75", "3 credits"}),
        ("fr", {"1\u00a0234,50\u00a0$", "4\u00a0938 crédits", "0,75\u00a0$", "3 crédits"}),
    ],
)
def test_credit_and_bet_are_shown_in_money_and_in_credits(published, language, words, layout):
    game = next(game for game in published if game.id == "maple-classic")
    assert words <= set(read_words(build_idle_view(published, game, language), layout))


@pytest.mark.requirement("F-03")
@pytest.mark.parametrize("state", ["idle", "playing", "handpay", "tilt", "out_of_service", "locked"])
def test_the_credit_meter_is_shown_in_every_state(published, state):
    game = next(game for game in published if game.id == "maple-classic")
    view = build_idle_view(published, game, "en", state=state, credit_cents=765_432)
    assert "$7,654.32" in read_words(view)


@pytest.mark.requirement("N-08")
@pytest.mark.parametrize("language", ["en", "fr"])
@EVERY_LAYOUT
def test_help_about_chance_and_where_help_is_found_can_be_read(published, language, layout):
    line = {"en": "Help: 1 800 461-0140", "fr": "Aide : 1 800 461-0140"}
    view = build_idle_view(
        published, published[0], language, protection=PlayerProtectionView(help_line=line), credit_cents=0
    )
    text = " ".join(" ".join(read_help_words(view, layout)).split())
    page = text[text.index(Texts(language).translate("help.chance")[:40]) :]
    assert line[language] in page, "beside the line that is always in sight"
    assert line[language] in " ".join(" ".join(read_words(view, layout)).split())


@pytest.mark.requirement("C-16", "C-17", "M-17")
def test_the_last_frame_of_every_game_is_its_outcome(games, published):
    """Compares windows, boxes, coins, parts, balls and sums, over random games of the whole library."""
    for source, game in zip(games, published, strict=True):
        for number in range(25):
            bet = max(game.bet_options)
            outcome = play_game(source, f"end/{game.id}/{number}", bet)
            view = show_outcome(build_idle_view(published, game, "en"), game, outcome)
            display = outcome.to_json()["display"]
            recorded_steps = display.get("draws") or [*display["steps"], *display.get("double_up", ())]
            assert len(view.presentation.steps) == len(recorded_steps), game.id
            for step, recorded in zip(view.presentation.steps, recorded_steps, strict=True):
                assert step.credits == recorded["credits"], game.id
                if isinstance(step, KenoStep):
                    assert list(step.balls) == recorded["balls"]
                    assert [list(card.caught_numbers) for card in step.way_results] == [
                        way["hits"] for way in recorded["ways"]
                    ]
                elif "falls" in recorded:
                    assert [list(map(list, fall.window)) for fall in step.cascade_windows] == [
                        fall["window"] for fall in recorded["falls"]
                    ]
                elif "window" in recorded:
                    assert [list(column) for column in step.window] == recorded["window"]
                elif "part" in recorded:
                    assert step.winning_index == recorded["part"]
                elif "opened" in recorded:
                    assert [box for box, _ in step.opened_boxes] == [box["box"] for box in recorded["opened"]]
                elif "spins" in recorded:
                    assert [list(cells) for cells in step.cells_after_spins] == [
                        s["cells"] for s in recorded["spins"]
                    ]
            assert view.presentation.outcome.returned_credits == outcome.returned_credits


@pytest.mark.requirement("M-19:b", "M-19:c", "M-17")
@EVERY_LAYOUT
def test_keno_shows_each_ball_in_the_order_drawn_and_the_end_of_the_draw(
    games, published, theme, monkeypatch, layout
):
    game = next(game for game in published if game.id == "aurora-keno")
    source = next(candidate for candidate in games if candidate.id == game.id)
    outcome = play_game(source, "order", max(game.bet_options))
    drawn = outcome.to_json()["display"]["draws"][0]["balls"]
    assert drawn != sorted(drawn)
    in_the_tray = []
    monkeypatch.setattr(
        keno,
        "draw_ball",
        lambda _, tray_position, ball, *, is_caught: in_the_tray.append((tray_position, ball)),
    )
    view = show_outcome(build_idle_view(published, game, "en"), game, outcome)
    for count, stop in enumerate(build_view_timeline(view, theme).steps[0].stop_seconds, 1):
        in_the_tray.clear()
        words = read_words(replace(view, now=100 + stop + 0.001), layout)
        by_place = sorted(in_the_tray, key=lambda placed_ball: (round(placed_ball[0][1]), placed_ball[0][0]))
        assert [ball for _, ball in by_place] == drawn[:count]
        assert any(words.startswith(f"Numbers drawn {count}/{len(drawn)} ") for words in words)
    assert count == len(drawn) == 20
    board = [
        key[1]
        for key, _ in get_writing_picture(find_layout_name(layout))[0].painter.art_keys
        if key[0] == "keno cell"
    ]
    marked = outcome.to_json()["display"]["draws"][0]["ways"][0]["numbers"]
    assert len(board) == 80
    assert {number: state for number, state in enumerate(board, 1) if state} == {
        number: "marked" if number not in drawn else "caught" if number in marked else "drawn"
        for number in {*drawn, *marked}
    }


@pytest.mark.requirement("M-17")
@EVERY_LAYOUT
def test_the_board_says_how_many_numbers_hit_and_what_a_keno_draw_pays_once_it_is_complete(
    games, published, theme, layout
):
    game = next(game for game in published if game.id == "aurora-keno")
    source = next(candidate for candidate in games if candidate.id == game.id)
    outcomes_ = (play_game(source, f"award/{number}", min(game.bet_options)) for number in range(50))
    outcome = next(outcome for outcome in outcomes_ if outcome.returned_credits > 2)
    (draw,) = outcome.to_json()["display"]["draws"]
    assert draw["ways"][0]["hits"]
    view, texts = show_outcome(build_idle_view(published, game, "en"), game, outcome), Texts("en")
    paid = texts.format_count("keno.pays", outcome.returned_credits)
    hits = texts.translate("keno.count", drawn=20, total=20, hits=len(draw["ways"][0]["hits"]))
    stops = build_view_timeline(view, theme).steps[0].stop_seconds
    moments = [replace(view, now=view.presentation.began_at + stop + 0.001) for stop in stops[-2:]]
    moments.append(replace(view, presentation=None, last_display_step=view.presentation.steps[-1]))
    on_board = [" ".join(read_words(moment, layout)) for moment in moments]
    assert [paid in words for words in on_board] == [False, True, True]
    assert [hits in words for words in on_board] == [False, True, True]


@pytest.mark.requirement("C-25")
@pytest.mark.parametrize("language", ["en", pytest.param("fr", marks=pytest.mark.slow)])
def test_help_states_the_hit_frequency_of_the_exact_analysis(analyses, published, language):
    """Hit frequency, features and the highest prize are exact, and rounded only for display."""
    texts = Texts(language)
    for game in published:
        seen = read_help_words(build_idle_view(published, game, language))
        assert game.chances
        bets = [bet for bet in analyses[game.id].bets if any(award.is_top for award in list_awards(bet))]
        ways = {bet.bet.partition(" at ")[0]: bet for bet in reversed(bets)}
        assert {bet_chance.bet for bet_chance in game.chances} == set(ways)
        for bet_chance in game.chances:
            bet = ways[bet_chance.bet]
            share = 100 * (bet.hit_probability or sum(p.rate for p in bet.prizes if p.credits))
            figure = bet_chance.hit_percent or bet_chance.prizes_in_100
            assert abs(Fraction(figure) - share) <= Fraction(1, 20)
            show_outcome = figure.replace(".", ",") if language == "fr" else figure
            assert any(words.startswith(show_outcome) for words in seen), (game.id, bet_chance.bet)
            rates = [
                award.rate for award in list_awards(bet) if award.name == bet_chance.top and award.is_top
            ]
            assert bet_chance.top_one_in == round(1 / sum(rates))
            odds = [bet_chance.top_one_in, *(one_in for _, one_in in bet_chance.features)]
            assert all(texts.translate("odds.one_in", games=texts.format_number(n)) in seen for n in odds)
            assert {name for name, _ in bet_chance.features} == {f.feature for f in bet.features if f.rate}
        hits = (texts.translate("odds.hit"), texts.translate("odds.prizes_in_100"))
        ways = [words for words in seen if len(game.chances) > 1 and words.endswith(hits)]
        assert len(set(ways)) == len(ways) == (len(game.chances) if ways else 0), (game.id, ways)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_no_panel_is_partly_covered_by_the_welcome(published, theme, language):
    """Texts beside a wheel or in a Keno board's tray have a panel only if nothing is drawn over them."""
    for game in published:
        watcher, panels = Picture(theme), []
        watcher.painter = Watcher(theme)
        watcher.painter.draw_panel = lambda rect, panels=panels, **_: panels.append(rect)
        view = build_idle_view(published, game, language, credit_cents=0, accepted_inputs=("language",))
        x, y, w, h = LANDSCAPE_LAYOUT.game_field
        middle = y + h / 2
        for now, is_welcome_shown in ((160.0, False), (101.0, game.family != "reels")):
            panels.clear()
            watcher.draw_view(pygame.Surface(watcher.size_pixels), replace(view, now=now))
            inside = [
                panel
                for panel in panels
                if x < panel[0] + panel[2] / 2 < x + w and panel[1] < middle < panel[1] + panel[3]
            ]
            assert bool(inside) == is_welcome_shown, (game.id, now, inside)


def test_numbers_in_the_rules_are_not_broken_across_lines(published, theme):
    """However the rules are broken into lines, no line ends within a number."""
    numbers = 0
    for game in published:
        view = apply_action(build_idle_view(published, game, "fr"), Action("help"), theme)[0]
        lines = read_words(view)
        for number in re.findall(r"\d+(?:\u00a0\d{3})+", Texts("fr").choose_translation(game.help)):
            assert any(number in words for words in lines), (game.id, number)
            numbers += 1
    assert numbers > 3


@pytest.mark.requirement("Q-14")
@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("jurisdiction", ["quebec-casino", "quebec-vlt"])
@EVERY_LAYOUT
def test_the_notice_beside_the_game_and_the_rules_promise_the_refund_of_the_profile(
    tmp_path, published, jurisdiction, language, layout
):
    """Québec, ss. 94-95: the drawn text is the refund; no blanket "malfunction voids all" is on the screen."""
    game = next(game for game in published if game.id == "maple-classic")
    view = build_idle_view(published, game, language)
    machine = MachineRig(tmp_path, profile=jurisdiction).boot()
    sent = build_machine_snapshot(machine.engine)
    machine.close()
    view = replace(view, snapshot=view.snapshot.model_copy(update={"defect_rule": sent.defect_rule}))
    texts = Texts(language)
    beside = " ".join(" ".join(read_words(view, layout)).split())
    helped = " ".join(" ".join(read_help_words(view, layout)).split())
    for key, written in (("refund", beside), ("rule_refund", helped)):
        assert " ".join(texts.translate(f"defect.{key}").split()) in written
    for key in ("keep", "rule_keep"):
        assert " ".join(texts.translate(f"defect.{key}").split()) not in f"{beside} {helped}"
