"""The table explains why a bet is impossible before the machine would have to refuse it."""

from dataclasses import replace

import numpy as np
import pygame
import pytest
from rigs.layouts import PHONE
from rigs.painters import WordPainter
from test_visit import Visit

from egm.kernel.events import EventType
from egm.screen.input_reducer import apply_action
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT
from egm.screen.picture import Picture
from egm.screen.scenes import dice
from egm.screen.scenes.felt import draw_felt
from egm.screen.scenes.roulette_wheel import find_pocket_index
from egm.screen.scenes.table_side_panels import format_spot_lines
from egm.screen.text import Texts
from egm.screen.view import Action
from paytables.contract import Round
from tools.dev.gallery.felts import iter_felt_scenes, load_table_game
from tools.lab.views import build_idle_view


@pytest.fixture
def visit(tmp_path, theme):
    visits = []

    def make(game, *draws, cents=10000):
        visits.append(Visit(tmp_path / str(len(visits)), theme, *draws, games=(game,)))
        return visits[-1].do(visits[-1].room.insert, cents)

    yield make
    for opened_visit in visits:
        opened_visit.room.close()


def words(language, key, **values):
    return Texts(language).translate(key, **values)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_play_with_no_chip_on_the_felt_stakes_nothing_and_says_so(visit, language):
    """Cleared chips are not staked, even by the cabinet's own button, which bypasses the screen."""
    player_visit = visit("quebec-roulette-french")
    player_visit.submit_event(EventType.SELECT_LANGUAGE, value=language)
    before = player_visit.view.snapshot.credit_cents
    assert player_visit.view.chips.bets == {}  # there is no bet yet
    assert "play" not in player_visit.view.snapshot.accepted_inputs
    player_visit.press("play")
    assert player_visit.bar == words(language, "notice.refused.bet_is_laid")
    player_visit.press("spot", "red")
    assert player_visit.bar != words(language, "notice.refused.bet_is_laid")
    player_visit.press("clear")
    player_visit.submit_event(EventType.PLAY)
    assert player_visit.bar == words(language, "notice.refused.bet_is_laid")
    assert (player_visit.view.snapshot.state, player_visit.view.snapshot.credit_cents) == ("idle", before)
    player_visit.press("undo")
    player_visit.play_out()


@pytest.mark.parametrize("language", ["en", "fr"])
def test_no_bet_a_refused_bet_and_too_little_credit_have_different_messages(visit, language):
    player_visit = visit(
        "quebec-craps", 0, 0, cents=500
    )  # two ones: the pass line is lost, and nothing is left to play on
    player_visit.submit_event(EventType.SELECT_LANGUAGE, value=language)
    player_visit.press("clear")
    player_visit.press("spot", "pass")
    player_visit.play_out()
    assert player_visit.view.snapshot.bet_credits == 0
    player_visit.submit_event(EventType.PLAY)
    assert player_visit.bar == words(language, "notice.refused.bet_is_laid")
    player_visit.submit_event(EventType.SELECT_BET, value=200, options={"bets": {"pass": 200}})
    player_visit.submit_event(EventType.PLAY)
    needs, credit = (
        player_visit.context.format_money(cents) for cents in (5000, player_visit.view.snapshot.credit_cents)
    )
    assert player_visit.bar == words(language, "status.needs_costs", needs=needs, credit=credit)


@pytest.mark.parametrize(
    ("language", "bar_text"),
    [
        ("en", "This bet needs $24.00 of credit, because it may be doubled. You have $20.00."),
        ("fr", "Cette mise exige 24,00 $ de crédit, car elle peut être doublée. Vous avez 20,00 $."),
    ],
)
def test_a_bet_that_may_be_doubled_states_the_credit_needed(visit, language, bar_text):
    """Regression: PLAY was dark while the bar said "PLAY stakes $12.00", and the refusal stated no amount."""
    player_visit = visit("quebec-blackjack", cents=2000)
    player_visit.submit_event(EventType.SELECT_LANGUAGE, value=language)
    spot = next(iter(player_visit.view.table.spots))
    credits_ = 1200 // player_visit.view.snapshot.denomination_cents
    player_visit.submit_event(EventType.SELECT_BET, value=credits_, options={"bets": {spot: credits_}})
    assert player_visit.view.snapshot.bet_credit_needed_cents == 2400
    assert "play" not in player_visit.view.snapshot.accepted_inputs
    assert player_visit.bar.replace("\N{NO-BREAK SPACE}", " ") == bar_text
    player_visit.submit_event(EventType.PLAY)
    assert player_visit.room.machine.notice.code == "refused.raises_are_covered"
    assert player_visit.bar.replace("\N{NO-BREAK SPACE}", " ") == bar_text
    player_visit.do(player_visit.room.insert, 2000)
    player_visit.wait(6.0)
    assert player_visit.bar == player_visit.context.texts.format_count(
        "felt.buys", 1, price=player_visit.context.format_money(1200)
    )
    assert "play" in player_visit.view.snapshot.accepted_inputs


def test_a_lost_round_after_a_won_one_is_reported_by_the_real_machine(visit):
    """Red wins on 32, then loses on 0: the bar states number and cost, and the meter shows no earlier win."""
    player_visit = visit("quebec-roulette-french", 1, 0)
    player_visit.press("spot", "red")
    player_visit.play_out()
    assert player_visit.view.snapshot.paid_cents
    assert player_visit.bar.startswith("Result: 32 red  ·  You receive ")
    player_visit.press("repeat")
    player_visit.play_out()
    assert not player_visit.view.snapshot.paid_cents
    assert player_visit.bar.startswith("Result: 0 green  ·  No win. Lost: ")


def test_craps_names_the_point_that_a_seven_lost(visit):
    """The table has no point any more; the text uses the table state during the round."""
    player_visit = visit("quebec-craps", 2, 2, 2, 3)
    player_visit.press("clear")
    player_visit.press("spot", "pass")
    player_visit.play_out()
    assert player_visit.bar.startswith("Throw: 6. The point is 6  ·  Bets on the table: ")
    player_visit.play_out()
    assert player_visit.bar.startswith("Throw: 7. Seven-out, the point was 6  ·  No win. Lost: ")


@pytest.mark.parametrize(
    ("game", "draws", "texts_by_option"),
    [
        ("quebec-red-dog", (0, 60, *[7] * 9), {"en": ("RAISE", "STAND"), "fr": ("RELANCER", "ARRÊTER")}),
        ("quebec-war", (0, 0, *[7] * 9), {"en": ("SURRENDER", "GO TO WAR"), "fr": ("ABANDONNER", "GUERRE")}),
    ],
)
@pytest.mark.parametrize("language", ["en", "fr"])
def test_during_a_decision_the_play_key_names_the_choice(visit, language, game, draws, texts_by_option):
    player_visit = visit(game, *draws)
    player_visit.submit_event(EventType.SELECT_LANGUAGE, value=language)
    player_visit.press("spot", next(iter(player_visit.view.table.spots)))
    assert player_visit.press("play") == ["play"]
    player_visit.wait(10)
    assert player_visit.view.decision is not None
    bar_text = player_visit.bar
    player_visit.submit_event(EventType.PLAY)
    first = player_visit.bar
    assert first != bar_text
    assert first.startswith(words(language, "decide.first", options=""))
    for option in texts_by_option[language]:
        assert option in bar_text
        assert option in first
    chosen = player_visit.view.decision.options[0]
    assert player_visit.press("choose", chosen) == ["choose"]


# ---------------------------------------------------------------------- closed, needed, limited: before it is refused
def spot_words(player_visit, spot):
    player_visit.press("tool", "ask")
    player_visit.press("spot", spot)
    player_visit.press("tool", "ask")
    table = player_visit.view.table
    return [
        words
        for words, _ in format_spot_lines(
            player_visit.context, table.spots[spot], player_visit.view.snapshot.denomination_cents
        )
    ]


def test_on_a_come_out_other_bets_require_a_line_bet(visit):
    player_visit = visit("quebec-craps", 1, 1)  # two twos: the point is 4
    player_visit.wait(10)
    bar_text = "Bet on Pass / Don\u2019t pass first"
    assert bar_text in spot_words(player_visit, "hard-4")
    assert player_visit.press("spot", "hard-4") == []  # the machine has nothing to refuse
    assert player_visit.bar == bar_text
    assert player_visit.press("spot", "pass") == ["bet"]
    assert bar_text not in spot_words(player_visit, "hard-4")
    assert player_visit.press("spot", "hard-4") == ["bet"]
    player_visit.press("tool", "take")
    assert player_visit.press("spot", "pass") == []
    assert player_visit.bar == words("en", "felt.refused_needed")


def test_spots_open_close_and_change_limits_with_the_tables_state(visit):
    """Odds and come bets open with the point, with the steps and limits of that point."""
    player_visit = visit("quebec-craps", 1, 1)
    player_visit.press("clear")
    assert "This bet first needs a bet on Pass" in spot_words(player_visit, "odds-pass")
    assert words("en", "felt.refused_shut") in spot_words(player_visit, "come")
    for _ in range(5):
        player_visit.press("spot", "pass")
    player_visit.play_out()
    assert player_visit.view.snapshot.felt_state.point == 4
    assert words("en", "felt.refused_shut") in spot_words(player_visit, "pass")
    assert player_visit.press("spot", "come") == ["bet"]
    # 4 pays 2:1: any sum is whole; 3 times the 5 credits that stand, at 0.25 each
    assert {"Pays 2:1", "Bets of $0.25 to $3.75"} <= set(spot_words(player_visit, "odds-pass"))
    assert "Bets of $5.25 to $99.75, in steps of $5.25" in spot_words(player_visit, "buy-4")
    player_visit.press("chip", 10)
    assert player_visit.press("spot", "odds-pass") == ["bet"]
    assert player_visit.press("spot", "odds-pass") == ["bet"]
    assert player_visit.view.chips.bets["odds-pass"] == 15
    assert player_visit.press("spot", "odds-pass") == []
    assert player_visit.view.snapshot.bet_wager["bets"] == dict(player_visit.view.chips.bets)


def test_the_puck_marks_the_point_of_craps_also_while_the_dice_move(visit, monkeypatch):
    pucks = []
    monkeypatch.setattr(dice, "_draw_puck", lambda _, __, *, is_on: pucks.append(is_on))

    def list_pucks(player_visit):
        pucks.clear()
        draw_felt(player_visit.context)
        return list(pucks)

    player_visit = visit("quebec-craps", 1, 1, 0, 2)  # 2-2: the point is 4; then 1-3: the point is made
    player_visit.press("clear")
    player_visit.press("spot", "pass")
    assert list_pucks(player_visit) == [False]
    player_visit.press("play")
    player_visit.wait(0.5)
    assert list_pucks(player_visit) == [False]  # nothing reveals the throw
    player_visit.wait(11.5)
    assert list_pucks(player_visit) == [True]
    player_visit.press("play")
    player_visit.wait(0.5)
    assert list_pucks(player_visit) == [True]
    player_visit.wait(11.5)
    assert list_pucks(player_visit) == []  # the last dice lie where the puck was


def test_a_bet_stays_on_or_off_as_the_player_set_it_while_it_stands(visit):
    player_visit = visit(
        "quebec-craps", 1, 1, 0, 2
    )  # the point 4 is made (2-2), then a come-out of 1-3: a hard 4 missed
    player_visit.press("clear")
    player_visit.press("spot", "pass")
    player_visit.press("spot", "hard-4")
    assert "This bet is off: it waits" in spot_words(player_visit, "hard-4")
    player_visit.press("tool", "plays")
    assert player_visit.press("spot", "pass") == []
    assert player_visit.bar == words("en", "felt.refused_always")
    assert player_visit.press("spot", "hard-4") == ["bet"]
    assert player_visit.view.snapshot.bet_wager["working"] == {"hard-4": True}
    player_visit.press("tool", "plays")
    assert "This bet also plays on a come-out" in spot_words(player_visit, "hard-4")
    player_visit.play_out()  # it played: a four thrown hard wins it on the come-out
    assert player_visit.view.snapshot.last_results[0] == "2-2"
    won = {
        settlement["spot"]: settlement["credits"]
        for settlement in player_visit.view.presentation.outcome.settlements
    }
    assert won["hard-4"] > 0


def spot_on(picture, view):
    return [
        touch.rect for touch in picture.list_touch_targets(view) if touch.action == Action("spot", "hard-4")
    ]


@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PHONE], ids=["wide", "phone"])
def test_a_closed_spot_is_drawn_dark_and_an_open_one_is_not(theme, layout):
    game, game_view = load_table_game("quebec-craps")
    view = build_idle_view((game_view,), game_view, "en", felt_state=game.rules.build_current_view())
    view, _ = apply_action(view, Action("clear"), theme)
    laid = replace(view, chips=view.chips.with_bets({"pass": 1}))
    picture = Picture(theme, layout=layout, scale=0.5)
    page = next(
        part
        for part in range(9)
        if spot_on(picture, replace(view, chips=replace(view.chips, open_part=str(part))))
    )
    view, laid = (
        replace(felt_view, chips=replace(felt_view.chips, open_part=str(page))) for felt_view in (view, laid)
    )
    surface = pygame.Surface(picture.size_pixels)
    bright = []
    for felt_view in (view, laid):
        picture.draw_view(surface, felt_view)
        x, y, w, h = (value * 0.5 for value in spot_on(picture, felt_view)[0])
        part = surface.subsurface((round(x), round(y), round(w), round(h)))
        bright.append(float(np.mean(pygame.surfarray.array3d(part))))
    assert bright[0] < 0.75 * bright[1]


# ---------------------------------------------------------------------- the place's own time
@pytest.mark.requirement("N-01:c")
@pytest.mark.parametrize(
    ("zone", "clock_text"), [("America/Toronto", "12 h 05"), ("Europe/Monaco", "18 h 05")]
)
def test_the_clock_shows_the_venues_time_wherever_the_screen_is(theme, zone, clock_text):
    """The machine's computer draws a browser's page; the time zone of that computer is irrelevant."""
    _, game_view = load_table_game("quebec-baccarat")
    view = build_idle_view((game_view,), game_view, "fr", time_zone=zone)
    assert (
        Picture(theme)
        .find_texts(view)
        .format_time_of_day(view.time_utc)
        .replace("\u202f", " ")
        .replace("\xa0", " ")
        == clock_text
    )


# ---------------------------------------------------------------------- while the wheel turns
class Drawn(WordPainter):
    """A painter that records the number of chips and the texts."""

    def __init__(self, theme, scale):
        super().__init__(theme, scale)
        self.chips = 0

    def draw_cached_picture(self, key, rect, make, **options):
        self.chips += key[0] == "chip"
        return super().draw_cached_picture(key, rect, make, **options)


@pytest.mark.parametrize("name", ["monaco-roulette-european", "monaco-boule", "quebec-sic-bo"])
@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT], ids=["wide", "upright"])
def test_the_layout_and_its_chips_stay_visible_while_wheel_or_dice_move(theme, name, layout):
    scenes = dict(iter_felt_scenes(*load_table_game(name), "en", theme, layout))
    picture = Picture(theme, layout=layout, scale=0.25)
    surface, seen = pygame.Surface(picture.size_pixels), {}
    for scene in ("laid", "moving", "landed"):
        painter = picture.painter = Drawn(theme, 0.25)
        picture.draw_view(surface, scenes[scene])
        seen[scene] = painter.chips
    assert seen["moving"] == seen["landed"] == seen["laid"] > 8


def test_a_wheel_with_repeated_signs_stops_on_the_drawn_section():
    class At:
        def __init__(self, part):
            self.part = part

        def below(self, bound, purpose=""):
            return self.part % bound

    game, game_view = load_table_game("quebec-wheel-of-fortune")
    table = build_idle_view((game_view,), game_view, "en").table
    for part, sign in enumerate(table.wheel_pockets):
        played = Round(
            game.play(game.build_wager(game.bet_options[0]), At(part)), game.build_wager(game.bet_options[0])
        )
        played.advance()
        (cue,) = (cue.to_json() for cue in played.cues)
        assert (cue["pocket"], find_pocket_index(table, cue["pocket"], cue["part"])) == (sign, part)
    assert len(set(table.wheel_pockets)) < len(table.wheel_pockets)


# ---------------------------------------------------------------------- what comes back
@pytest.mark.requirement("C-22")
@pytest.mark.parametrize(
    ("language", "least", "own_text"),
    [
        (
            "en",
            "Return: 98.58% (Pass), 83.33% (Any 7)",
            "Return: 98.58%  \u00b7  Bets of $0.25 to $250.00",
        ),
        (
            "fr",
            "Taux de retour\xa0: 98,58\xa0% (Pass), 83,33\xa0% (Any 7)",
            "Taux de retour\xa0: 98,58\xa0%  \u00b7  Mises de 0,25\xa0$ à 250,00\xa0$",
        ),
    ],
)
@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PHONE], ids=["wide", "phone"])
def test_the_shown_return_is_named_as_that_of_the_worst_bet_and_help_lists_all(
    theme, language, least, own_text, layout
):
    """The pass line of craps returns 488/495 (games.md): 98.58 %, not the 83.33 % of any 7."""
    _, game_view = load_table_game("quebec-craps")
    view = build_idle_view((game_view,), game_view, language)
    picture = Picture(theme, layout=layout, scale=0.5)
    painter = picture.painter = Drawn(theme, 0.5)
    surface = pygame.Surface(picture.size_pixels)
    picture.draw_view(surface, view)
    assert least in " ".join(painter.words)  # it may stand in two lines
    help_, _ = apply_action(view, Action("help"), theme)
    for sheet in range(1, 6):
        picture.draw_view(surface, replace(help_, sheet_index=sheet))
    assert own_text in painter.words
    assert set(game_view.returns) <= {spot.group for spot in view.table.spots.values()}
    assert len(game_view.returns) > 20


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize(
    ("layout", "label_by_language"),
    [(LANDSCAPE_LAYOUT, {"en": "INFO", "fr": "INFOS"}), (PORTRAIT_LAYOUT, {"en": "?", "fr": "?"})],
    ids=["wide", "upright"],
)
def test_the_hint_names_the_key_by_what_the_key_shows(theme, layout, label_by_language, language):
    """In portrait, keys are too narrow for a text and show a sign, which the hint must name."""
    _, game_view = load_table_game("quebec-roulette-french")
    view = build_idle_view((game_view,), game_view, language)
    picture = Picture(theme, layout=layout, scale=0.25)
    painter = picture.painter = WordPainter(theme, 0.25)
    picture.draw_view(pygame.Surface(picture.size_pixels), view)
    label = label_by_language[language]
    assert label in painter.words
    hint = words(language, "felt.how", info=label)
    assert label in hint
    assert hint in " ".join(painter.words)
