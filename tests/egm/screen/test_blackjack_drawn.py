"""Hands on the screen: linked bets, split hands with their numbers, stakes and results."""

from dataclasses import replace
from datetime import UTC

import pygame
import pytest
from rigs.cards import remove_cards
from rigs.layouts import PHONE

from egm.kernel.messages import DecisionRequest, Notice
from egm.screen.input_reducer import apply_action
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT
from egm.screen.painter import Painter
from egm.screen.picture import Picture
from egm.screen.scenes.cards import append_split_number, format_hand_name
from egm.screen.scenes.dealt_hands import build_current_hands
from egm.screen.scenes.decision_text import format_question_with_time_left
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.help import list_help_pages
from egm.screen.steps import TableStep
from egm.screen.text import Texts
from egm.screen.view import Action, build_view_timeline
from paytables import Choice, Round, load_game
from paytables.cards import Shoe, parse_cards
from tools.dev.gallery.felts import iter_felt_scenes, load_table_game
from tools.lab.views import build_game_view, build_idle_view

MULTI, OPTIONS = "quebec-multi-action-blackjack", "quebec-blackjack-options"


class Player:
    """A player who touches one target after another; the game validates each bet."""

    def __init__(self, name, theme):
        self.game, game_view = load_table_game(name)
        self.theme, self.view = theme, build_idle_view((game_view,), game_view, "en")
        self.touch("clear")

    def touch(self, name, value=None):
        view = replace(self.view, now=self.view.now + 0.2)
        self.view, requests = apply_action(view, Action(name, value), self.theme)
        for request in requests:
            if request.name == "bet" and request.value:
                self.game.build_wager(request.value, **request.options)
        return {spot: credits_ for spot, credits_ in self.view.chips.bets.items() if credits_}


def test_a_chip_also_places_the_minimum_of_required_bets_and_is_removed_with_them(theme):
    player = Player(MULTI, theme)
    player.touch("chip", 10)
    assert player.touch("spot", "second") == {"main": 2, "second": 10}
    assert player.touch("spot", "main") == {"main": 12, "second": 10}
    assert player.touch("spot", "third") == {"main": 12, "second": 10, "third": 10}
    player.touch("tool", "take")
    assert player.touch("spot", "third") == {"main": 12, "second": 10}
    assert player.touch("spot", "second") == {}
    player.touch("tool", "take")
    assert player.touch("spot", "third") == {}
    assert player.view.chips.refusal_key == "needs"


def test_the_three_bets_of_a_round_are_placed_and_removed_together(theme, monkeypatch):
    data = load_game(MULTI)
    three = data.rules.definition.model_copy(
        update={"main_bet": data.rules.definition.main_bet.model_copy(update={"dealer_hands_min": 3})}
    )
    game = replace(data, rules=replace(data.rules, definition=three))
    monkeypatch.setattr(f"{__name__}.load_table_game", lambda _: (game, build_game_view(game)))
    player = Player(MULTI, theme)
    player.touch("chip", 10)
    assert player.touch("spot", "third") == {"main": 2, "second": 2, "third": 10}
    for spot in ("main", "second", "third"):
        player.touch("tool", "take")
        assert player.touch("spot", spot) == {}
        player.touch("chip", 10)
        assert set(player.touch("spot", spot)) == {"main", "second", "third"}


def test_a_side_bet_cannot_exceed_the_main_bet(theme):
    player = Player(OPTIONS, theme)
    player.touch("chip", 5)
    assert player.touch("spot", "main") == {"main": 6}
    player.touch("spot", "twelve-sixteen")
    assert player.touch("spot", "twelve-sixteen") == {"main": 6, "twelve-sixteen": 6}
    player.touch("spot", "twelve-sixteen")
    assert player.view.chips.refusal_key == "most"


def numbers(cards):
    shoe = Shoe.from_decks(8)
    for card in parse_cards(cards):
        yield sum(shoe.counts[:card])
        remove_cards(shoe, card)


class Drawn:
    def __init__(self, cards):
        self.numbers = numbers(cards)

    def below(self, bound, purpose):
        del bound, purpose
        return next(self.numbers)


@pytest.fixture
def split():
    """Eights are split twice; the first hand has its second card."""
    game = load_game(OPTIONS)
    wager = game.build_wager(2)
    played = Round(game.play(wager, Drawn("8s 6h 8d 8c 3h")), wager)
    played.advance()
    played.advance(Choice("split"))
    played.advance(Choice("split"))
    return played


@pytest.mark.parametrize(
    ("language", "names"), [("en", ["Hand 1", "Hand 3", "Hand 2"]), ("fr", ["Main 1", "Main 3", "Main 2"])]
)
def test_split_hands_keep_their_numbers(split, theme, language, names):
    _, game_view = load_table_game(OPTIONS)
    view = build_idle_view((game_view,), game_view, language)
    context = DrawingContext(Painter(theme), Texts(language), LANDSCAPE_LAYOUT, view)
    step = TableStep(split.decision.prompt, tuple(cue.to_json() for cue in split.cues), (), 0)
    hands = [hand.id for hand in build_current_hands(step, None, None, 0.0)]
    assert hands == ["bank", "box-1", "box-1-3", "box-1-2"]
    assert [format_hand_name(context, hand, hands) for hand in hands[1:]] == names
    assert format_hand_name(context, "box-1", ["bank", "box-1"]) == {"en": "Player", "fr": "Joueur"}[language]
    bet = {"en": "Bet, hand 2", "fr": "Mise, main 2"}[language]
    assert append_split_number(context, bet.partition(",")[0], step, "box-1-2") == bet
    assert append_split_number(context, "Insurance", step, "") == "Insurance"


@pytest.mark.parametrize(
    ("language", "own_text", "other_text"),
    [
        ("en", "Your choice", "Player 1 is deciding: 9 s left"),
        ("fr", "Votre choix", "Le joueur 1 décide\N{NO-BREAK SPACE}: il reste 9 s"),
    ],
)
def test_a_shared_table_names_the_owner_of_each_hand_and_whose_turn_it_is(
    theme, language, own_text, other_text
):
    game, game_view = load_table_game(OPTIONS)
    wager = game.build_wager(10, bets={"main": 10})
    turn_texts = []
    for seat, code in ((0, "answer_within"), (1, "seat_answers")):
        seated = game.rules.combine_seat_wagers(wager, seat, {0: wager, 1: wager})
        played = Round(game.play(seated, Drawn("8s 6h Th 8d 5h 8c")), seated)
        played.advance()
        played.advance(Choice("split"))
        hands = build_current_hands(TableStep(played.decision.prompt, (), (), 0), None, None, 0.0)
        assert [(hand.id, hand.seat, hand.is_own) for hand in hands] == [
            ("bank", None, False),
            ("box-1", 0, seat == 0),
            ("box-1-2", 0, seat == 0),
            ("box-2", 1, seat == 1),
        ]
        assert [bool(hand.staked_credits) for hand in hands] == [hand.is_own for hand in hands]
        view = build_idle_view((game_view,), game_view, language)
        turn = Notice(code=code, values={"seat": 1, "seconds": 9})
        view = replace(view, snapshot=view.snapshot.model_copy(update={"notices": (turn,)}))
        options = played.decision.options if seat == 0 else ()
        question = DecisionRequest(
            play_id="p", kind="blackjack", options=options, display=dict(played.decision.prompt)
        )
        turn_texts.append(
            format_question_with_time_left(
                DrawingContext(Painter(theme), Texts(language), LANDSCAPE_LAYOUT, view), question
            )
        )
    assert turn_texts[0].startswith(own_text)
    assert "9 s" in turn_texts[0]
    assert turn_texts[1] == other_text


def test_the_animation_of_a_split_joins_the_deals_before_and_after_it(split):
    """Card by card, the animation ends where the following display begins."""
    question = DecisionRequest(
        play_id="p", kind="blackjack", options=("stand",), display=dict(split.decision.prompt), cues=()
    )
    step = TableStep(question.display, tuple(cue.to_json() for cue in split.cues), (), 0)
    assert [cue["cue"] for cue in step.cues] == ["split", "deal"]
    before = {"hands": [{"id": "bank", "cards": ["6h"]}, {"id": "box-1", "cards": ["8s", "8c"]}]}
    before["hands"].append({"id": "box-1-2", "cards": ["8d"]})

    class Over:
        start_seconds = 0.0
        stop_seconds = (1.0, 2.0)

    moved = build_current_hands(step, TableStep(before, (), (), 0), Over, 1.5)
    assert {hand.id: hand.cards for hand in moved} == {
        "bank": ("6h",),
        "box-1": ("8s",),
        "box-1-2": ("8d",),
        "box-1-3": ("8c",),
    }
    ended = build_current_hands(step, TableStep(before, (), (), 0), Over, 2.5)
    assert {hand.id: list(hand.cards) for hand in ended} == {
        hand["id"]: hand["cards"] for hand in question.display["hands"]
    }


@pytest.mark.requirement("C-10:a")
@pytest.mark.parametrize(
    ("layout", "language"), [(LANDSCAPE_LAYOUT, "en"), (PORTRAIT_LAYOUT, "fr"), (PHONE, "fr")]
)
def test_the_chart_of_best_play_is_a_page_of_the_help(theme, layout, language):
    _, game_view = load_table_game(OPTIONS)
    view, _ = apply_action(build_idle_view((game_view,), game_view, language), Action("help"), theme)
    texts = Texts(language)
    pages = list_help_pages(DrawingContext(Painter(theme), texts, layout, view))
    page_index = [page.heading for page in pages].index({"en": "Best play", "fr": "Meilleur jeu"}[language])
    picture = Picture(theme, scale=0.5, layout=layout, timezone=UTC)
    surface = pygame.Surface(picture.size_pixels).convert()
    drawn = []
    for sheet in (page_index, page_index + 1):
        picture.draw_view(surface, replace(view, sheet_index=sheet))
        drawn.append(pygame.image.tobytes(surface, "RGB"))
    assert drawn[0] != drawn[1]
    without = game_view.model_copy(
        update={"presentation": {k: v for k, v in game_view.presentation.items() if k != "chart"}}
    )
    plain = build_idle_view((without,), without, language)
    assert texts.translate("chart.title") not in [
        page.heading for page in list_help_pages(DrawingContext(Painter(theme), texts, layout, plain))
    ]


def test_a_strategy_chart_has_a_row_for_every_hand_and_only_drawable_signs():
    for name in (MULTI, OPTIONS, "quebec-blackjack", "monaco-blackjack"):
        chart = load_game(name).build_presentation()["chart"]
        assert chart["columns"] == ["2", "3", "4", "5", "6", "7", "8", "9", "10", "A"]
        cells = "".join(row["cells"] for row in chart["rows"])
        assert {len(row["cells"]) for row in chart["rows"]} == {10}
        assert set(cells) <= set("HSDEP.")
    rows = {row["names"]["en"]: (row["names"]["fr"], row["cells"]) for row in chart["rows"]}
    assert rows["Hard 17 to 20"] == ("17 à 20 difficile", "SSSSSSSSSS")
    assert rows["Pair, 8"] == ("Paire, 8", "PPPPPPPP..")


def test_a_burned_card_belongs_to_no_hand(theme):
    view = dict(iter_felt_scenes(*load_table_game("quebec-war"), "en", theme, LANDSCAPE_LAYOUT))["moving"]
    (time,), (step,) = build_view_timeline(view, theme).steps, view.presentation.steps
    assert any(not cue.get("hand") for cue in step.cues)
    for since in (*time.stop_seconds, time.last_stop_seconds + 1):
        assert [hand.id for hand in build_current_hands(step, None, time, since)] == ["player", "bank"]
