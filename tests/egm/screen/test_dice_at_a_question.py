"""A decision about thrown dice shows the dice; their sum is shown only if the game counts it."""

from dataclasses import replace

import pygame
import pytest
from rigs.layouts import LAYOUTS
from rigs.painters import WordPainter

from egm.kernel.messages import DecisionRequest, GameOutcome
from egm.screen.layout import is_inside
from egm.screen.message_reducer import apply_message
from egm.screen.picture import Picture
from egm.screen.scenes.felt import lay_out_felt_options
from egm.screen.view import build_view_timeline
from tools.dev.gallery.felts import lay_chips, load_table_game
from tools.lab.views import build_idle_view

#: A total that no spot of the cloth has.
THROWN, TOTAL = (6, 6, 6), 18


class Watched(WordPainter):
    """A painter that stores the drawn dice with their positions, and every text."""

    def __init__(self, theme):
        super().__init__(theme)
        self.dice = []

    def draw_cached_picture(self, key, rect, make, **options):
        self.dice += [(key[1], rect)] if key[0] == "die" else []
        return super().draw_cached_picture(key, rect, make, **options)


@pytest.fixture
def round_view(theme):
    """A view of a dice table in the middle of a round, with chips on the cloth."""
    game, game_view = load_table_game("quebec-sic-bo")
    view = lay_chips(
        build_idle_view((game_view,), game_view, "en", felt_state=game.rules.build_current_view()), theme
    )
    return apply_message(view, view.snapshot.model_copy(update={"state": "playing", "accepted_inputs": ()}))


def draw_view(view, theme, layout):
    painter, picture = Watched(theme), Picture(theme, layout=layout)
    picture.painter = painter
    picture.draw_view(pygame.Surface(picture.size_pixels), view)
    return painter, picture._build_context(view)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_thrown_dice_are_drawn_above_the_decision_keys(round_view, theme, layout):
    question = DecisionRequest(
        play_id=round_view.game.id,
        kind="double",
        options=("stand", "double"),
        seat=0,
        display={"kind": "table", "felt": "dice", "dice": list(THROWN)},
        costs={"double": 5},
        cues=({"cue": "dice", "dice": list(THROWN)},),
    )
    view = apply_message(round_view, question)
    view = replace(view, now=view.now + build_view_timeline(view, theme).roll_up_end_seconds + 0.1)
    painter, context = draw_view(view, theme, layout)
    assert [face for face, _ in painter.dice] == [*THROWN]
    answers = [rect for rect, _ in lay_out_felt_options(context, view.decision)]
    for _, (x, y, w, h) in painter.dice:
        assert is_inside(context.layout.game_field, x, y)
        assert y + h <= min(top for _, top, _, _ in answers)
        assert w == h >= 40


@pytest.mark.parametrize("total", [None, TOTAL])
def test_the_sum_of_a_throw_is_shown_where_the_game_counts_it(round_view, theme, total):
    display = {"kind": "table", "felt": "dice", "dice": list(THROWN), "result": "6-6-6"}
    play = GameOutcome(
        play_id=round_view.game.id,
        game_id=round_view.game.id,
        bet_credits=5,
        returned_credits=0,
        paid_cents=0,
        display=display if total is None else {**display, "total": total},
        cues=({"cue": "dice", "dice": list(THROWN)},),
    )
    view = apply_message(round_view, play)
    step = build_view_timeline(view, theme).steps[-1]
    view = replace(
        view,
        now=view.presentation.began_at
        + step.start_seconds
        + (step.last_stop_seconds - step.start_seconds) * 0.93,
    )
    painter, _ = draw_view(view, theme, LAYOUTS["landscape"])
    assert [face for face, _ in painter.dice] == [*THROWN]
    assert (str(TOTAL) in painter.words) is (total is not None)
