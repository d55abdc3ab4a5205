"""The summary card at the end of a feature, for a win of every size, including one below the stake."""

from dataclasses import replace

import pygame
import pytest
from test_player_information import read_words

from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.picture import Picture
from egm.screen.presentation import is_feature_step
from egm.screen.text import LOCALE_BY_LANGUAGE, Texts
from egm.screen.view import build_view_timeline
from paytables import list_non_table_games
from tools.dev.gallery import iter_game_scenes, show_outcome
from tools.lab.views import build_idle_view

BET = 100


@pytest.mark.parametrize("name", list_non_table_games())
@pytest.mark.parametrize("language", LOCALE_BY_LANGUAGE)
def test_a_feature_ends_with_its_summary_whatever_it_won(name, language, published, outcomes, theme):
    game = next(candidate for candidate in published if candidate.id == name)
    feature = outcomes[name].feature
    if feature is None:
        pytest.skip("this game has no step after its first")
    view = show_outcome(build_idle_view(published, game, language), game, feature)
    if not is_feature_step(view.presentation, len(view.presentation.steps) - 1):
        pytest.skip("this game does not end in another stage than it begins in")
    picture = Picture(theme, scale=0.3, layout=LANDSCAPE_LAYOUT)
    surface = pygame.Surface(picture.size_pixels)
    for level, least in enumerate(theme.celebration_levels):
        won = max(least * BET, BET // 2)
        changes = {"bet_credits": BET, "returned_credits": won, "paid_cents": won}
        closing = replace(
            view,
            presentation=replace(
                view.presentation, outcome=view.presentation.outcome.model_copy(update=changes)
            ),
        )
        line = build_view_timeline(closing, theme)
        assert line.celebration_level == level
        seen = []
        for play in (
            closing,
            replace(closing, presentation=replace(closing.presentation, is_last_section=False)),
        ):
            picture.draw_view(
                surface, replace(play, now=play.presentation.began_at + line.last_stop_seconds + 0.6)
            )
            seen.append(surface.get_view("2").raw)
        assert seen[0] != seen[1], "the card is there"


@pytest.mark.parametrize("language", LOCALE_BY_LANGUAGE)
def test_a_level_won_in_a_feature_is_named_in_its_summary(language, published, outcomes, theme):
    """The summary shows the level's own name, not only the name of its feature."""
    game = next(candidate for candidate in published if candidate.id == "lantern-harbour")
    found = outcomes[game.id]
    view = dict(iter_game_scenes(published, game, found, language, theme, LANDSCAPE_LAYOUT))["levels-won"]
    (level,) = view.presentation.outcome.progressives
    assert is_feature_step(view.presentation, len(view.presentation.steps) - 1)
    texts = Texts(language)
    expected = texts.translate("progressive.won", name=texts.choose_translation(level.names))
    assert expected in read_words(view)
