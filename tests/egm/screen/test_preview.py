"""The animated preview shows a real game, ends with the recorded outcome, and is small enough for a page."""

import pytest
from PIL import Image

from egm.screen.view import build_view_timeline
from paytables import load_game
from tools.dev.gallery import FixedDraws
from tools.lab.preview import (
    PreviewError,
    PreviewSettings,
    find_game_worth_showing,
    iter_frames,
    write_preview,
)
from tools.lab.views import UNIT_CENTS, build_game_view


def test_a_preview_is_animated_and_small(tmp_path):
    path = tmp_path / "preview.webp"
    size = write_preview(
        load_game("maple-classic"),
        FixedDraws("preview"),
        path,
        PreviewSettings(scale=0.12, frames_per_second=6),
    )
    assert 10_000 < size < 3_000_000
    with Image.open(path) as film:
        assert film.size == (230, 130)
        assert film.n_frames > 20
        assert film.info["loop"] == 0


def test_the_last_frame_of_a_preview_is_the_outcome(theme):
    game = load_game("maple-classic")
    film = PreviewSettings()
    outcome = find_game_worth_showing(game, FixedDraws("end"), theme, film)
    *_, last = iter_frames(build_game_view(game), outcome, theme, film)
    assert last.snapshot.paid_cents == outcome.returned_credits * UNIT_CENTS
    assert build_view_timeline(last, theme).end_seconds < film.seconds_max
    assert [list(column) for column in last.presentation.steps[-1].window] == outcome.display["window"]


def test_a_preview_uses_a_denomination_of_the_game(theme):
    game, film = load_game("comet-respin"), PreviewSettings(seconds_max=60)
    assert 25 not in game.denominations_cents
    outcome = find_game_worth_showing(game, FixedDraws("unit"), theme, film)
    views = list(iter_frames(build_game_view(game), outcome, theme, film))
    assert {view.snapshot.denomination_cents for view in views} == {min(game.denominations_cents)}
    assert views[-1].snapshot.paid_cents == outcome.returned_credits * min(game.denominations_cents)


def test_no_preview_is_made_of_a_game_that_never_wins_enough(theme):
    class Same(FixedDraws):
        def below(self, bound, purpose=""):
            return 0

    game = load_game("icebreak")
    with pytest.raises(PreviewError, match="icebreak"):
        find_game_worth_showing(game, Same("x"), theme, PreviewSettings(seconds_max=0.1))
