"""The preview of a game: an animation of real draws from the RNG, with the frames a player sees."""

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path
from typing import Final

import pygame
from PIL import Image

from egm.kernel.messages import GameOutcome, GameView
from egm.screen.input_reducer import apply_action
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.message_reducer import apply_message
from egm.screen.picture import Picture
from egm.screen.theme import Theme, load_theme
from egm.screen.view import Action, View, build_view_timeline
from paytables import Choice, DrawSource, Game, Outcome, play_with_answers
from tools.lab.views import UNIT_CENTS, build_game_view, build_idle_view, build_snapshot

#: The most games played to find one worth showing.
_GAMES_TRIED_MAX: Final = 4000
#: Seconds for which the idle game is shown before and after the round.
_IDLE_SECONDS: Final = 1.0


class PreviewError(Exception):
    """Raised if the animated preview of a game could not be made; the text says why."""


@dataclass(frozen=True, slots=True)
class PreviewSettings:
    """The settings of a game's animated preview: scale (1 is 1920 x 1080), frame rate, maximum length, and quality."""

    scale: float = 0.42
    frames_per_second: int = 15
    seconds_max: float = 18.0
    """Maximum length of the preview, in seconds."""
    quality: int = 62
    """The quality of the WebP pictures, from 0 to 100."""


def find_game_worth_showing(game: Game, draw: DrawSource, theme: Theme, settings: PreviewSettings) -> Outcome:
    """Play games at the largest bet; return the outcome of the first that wins enough for a short preview.

    The preview may not exceed the length that ``settings`` allows. Raises :class:`PreviewError` if no such game
    occurs.
    """
    bet_credits = max(game.bet_options)
    game_view = build_game_view(game)
    denomination_cents = choose_denomination_cents(game_view)
    idle_view = build_idle_view((game_view,), game_view, "en", denomination_cents=denomination_cents)
    for _ in range(_GAMES_TRIED_MAX):
        wager = game.build_wager(bet_credits)
        outcome = play_with_answers(
            game.play(wager, draw), wager, lambda decision: Choice(decision.options[0])
        )
        if theme.find_celebration_level(outcome.returned_credits, bet_credits) < 2:
            continue
        timeline = build_view_timeline(build_view_after_outcome(idle_view, game_view, outcome), theme)
        if timeline is not None and timeline.end_seconds < settings.seconds_max - 2 * _IDLE_SECONDS:
            return outcome
    raise PreviewError(f"{game.id}: none of {_GAMES_TRIED_MAX} games was suitable for a preview")


def build_view_after_outcome(view: View, game_view: GameView, outcome: Outcome) -> View:
    """Return the view after ``view``, when the screen has received the outcome of a game played at its largest bet."""
    bet = max(game_view.bet_options)
    denomination_cents = choose_denomination_cents(game_view)
    playing_snapshot = build_snapshot(
        game_view,
        "en",
        state="playing",
        accepted_inputs=("language",),
        credit_cents=_compute_credit_after_wager_cents(game_view),
        denomination_cents=denomination_cents,
    )
    outcome_message = GameOutcome(
        play_id="preview",
        game_id=game_view.id,
        bet_credits=bet,
        returned_credits=outcome.returned_credits,
        paid_cents=outcome.returned_credits * denomination_cents,
        display=outcome.to_json()["display"],
    )
    return apply_message(apply_message(view, playing_snapshot), outcome_message)


def choose_denomination_cents(game_view: GameView) -> int:
    """Return the value of a credit in a preview, in minor units.

    It is the usual denomination if the game offers it, else the game's lowest one.
    """
    offered_cents = game_view.denominations_cents
    return UNIT_CENTS if UNIT_CENTS in offered_cents else min(offered_cents)


def _compute_start_credit_cents(game_view: GameView) -> int:
    """Return the credit before the game, in minor units: $20.00, or four of the largest bets if that is more."""
    return max(20_00, 4 * max(game_view.bet_options) * choose_denomination_cents(game_view))


def _compute_credit_after_wager_cents(game_view: GameView) -> int:
    """Return the credit that a preview displays after the largest bet is wagered, in minor units."""
    return _compute_start_credit_cents(game_view) - max(game_view.bet_options) * choose_denomination_cents(
        game_view
    )


def iter_frames(
    game_view: GameView, outcome: Outcome, theme: Theme, settings: PreviewSettings
) -> Iterator[View]:
    """Yield the screen view of each frame of the preview: idle, PLAY pressed, the game, its win, and idle again.

    The last frames show the win as credit.
    """
    frame_seconds = 1 / settings.frames_per_second
    denomination_fields = {"denomination_cents": choose_denomination_cents(game_view)}
    idle_view = build_idle_view(
        (game_view,),
        game_view,
        "en",
        credit_cents=_compute_start_credit_cents(game_view),
        **denomination_fields,
    )
    now = idle_view.now
    while now < idle_view.now + _IDLE_SECONDS:
        yield replace(idle_view, now=now)
        now += frame_seconds
    view, _ = apply_action(replace(idle_view, now=now), Action("play"), theme)
    view = build_view_after_outcome(view, game_view, outcome)
    timeline = build_view_timeline(view, theme)
    assert timeline is not None
    end_seconds = now + timeline.end_seconds
    while now < end_seconds:
        yield replace(view, now=now)
        now += frame_seconds
    paid_cents = outcome.returned_credits * choose_denomination_cents(game_view)
    view_after_game = apply_message(
        replace(view, now=now),
        build_snapshot(
            game_view,
            "en",
            credit_cents=_compute_credit_after_wager_cents(game_view) + paid_cents,
            paid_cents=paid_cents,
            **denomination_fields,
        ),
    )
    end_seconds = now + 2 * _IDLE_SECONDS
    while now < end_seconds:
        yield replace(view_after_game, now=now)
        now += frame_seconds


def write_preview(game: Game, draw: DrawSource, path: Path, settings: PreviewSettings) -> int:
    """Play one game and write it as an animated WebP; return the file's size in bytes.

    Raises :class:`PreviewError`.
    """
    pygame.display.init()
    pygame.font.init()
    pygame.display.set_mode((8, 8))
    theme = load_theme()
    outcome = find_game_worth_showing(game, draw, theme, settings)
    picture = Picture(theme, scale=settings.scale, layout=LANDSCAPE_LAYOUT, timezone=UTC)
    surface = pygame.Surface(picture.size_pixels)
    frames: list[Image.Image] = []
    for view in iter_frames(build_game_view(game), outcome, theme, settings):
        picture.draw_view(surface, view)
        frames.append(Image.frombytes("RGB", picture.size_pixels, pygame.image.tobytes(surface, "RGB")))
    data = io.BytesIO()
    frame_milliseconds = round(1000 / settings.frames_per_second)
    options = {"duration": frame_milliseconds, "loop": 0, "quality": settings.quality, "method": 4}
    frames[0].save(data, "WEBP", save_all=True, append_images=frames[1:], **options)
    path.write_bytes(data.getvalue())
    return len(data.getvalue())
