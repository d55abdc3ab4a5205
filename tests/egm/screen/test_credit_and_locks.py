"""The display of the credit, of merchandise prizes, and of the reason for a lock-up."""

from dataclasses import replace

import pygame
import pytest

from egm.kernel.messages import HandpayView, HostLock, Intent, PrizeInKind, ResidualCreditView
from egm.screen.controls import find_action_by_key_name
from egm.screen.input_reducer import apply_action
from egm.screen.layout import LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT
from egm.screen.message_reducer import apply_message, mark_machine_connection_lost
from egm.screen.painter import Painter
from egm.screen.picture import Picture
from egm.screen.scenes.deck import describe_residual_credit, format_promotional_credit
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.help import list_help_pages
from egm.screen.scenes.lockup import CONNECTION_LOST_SECONDS_UNTIL_CALL, describe_lockup
from egm.screen.scenes.status import choose_status_text_and_colour
from egm.screen.text import Texts
from egm.screen.view import Action, PlayerPage, Scene, build_view_timeline
from tools.dev.gallery import show_outcome
from tools.lab.views import PICTURE_TIME_UTC, build_idle_view, build_snapshot

HAMPER = PrizeInKind(id="hamper", names={"en": "Orchard hamper", "fr": "Panier du verger"}, value_cents=12000)


@pytest.fixture
def game(published):
    return next(game for game in published if game.id == "orchard-picnic")


@pytest.fixture
def idle_view(published, game):
    return build_idle_view(published, game, "en")


def build_context(view, theme, language="en", layout=LANDSCAPE_LAYOUT):
    return DrawingContext(Painter(theme), Texts(language), layout, view)


def draw_view(view, theme, layout=LANDSCAPE_LAYOUT):
    picture = Picture(theme, scale=0.4, layout=layout)
    surface = pygame.Surface(picture.size_pixels)
    picture.draw_view(surface, view)
    return surface.get_view("2").raw


# ---------------------------------------------------------------------------------------------- credit
@pytest.mark.requirement("F-03", "D-12")
@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT], ids=["landscape", "portrait"])
def test_promotional_credit_is_never_shown_as_money(published, game, theme, layout):
    plain = build_idle_view(published, game, "en", credit_cents=2000)
    assert format_promotional_credit(build_context(plain, theme)) == ""
    kinds = {"credit_cents": 2000, "restricted_cents": 500, "nonrestricted_cents": 300}
    view = build_idle_view(published, game, "en", **kinds)
    assert format_promotional_credit(build_context(view, theme)) == "Play only: $5.00  ·  Promotional: $3.00"
    assert "5,00" in format_promotional_credit(build_context(view, theme, "fr"))
    assert draw_view(view, theme, layout) != draw_view(plain, theme, layout)


@pytest.mark.requirement("F-10")
@pytest.mark.parametrize("layout", [LANDSCAPE_LAYOUT, PORTRAIT_LAYOUT], ids=["landscape", "portrait"])
def test_residual_credit_can_be_given_up_only_where_the_machine_accepts_it(published, game, theme, layout):
    picture = Picture(theme, layout=layout)
    middle = (
        layout.status_line[0] + layout.status_line[2] / 2,
        layout.status_line[1] + layout.status_line[3] / 2,
    )
    residual = ResidualCreditView(amount_cents=3)
    for state in ("idle", "out_of_service"):
        view = build_idle_view(
            published,
            game,
            "en",
            state=state,
            credit_cents=3,
            residual_credit=residual,
            accepted_inputs=("residual",),
        )
        touched = picture.find_touched_action(view, *middle)
        assert touched == Action("residual")
        assert apply_action(view, touched, theme)[1] == (Intent(name="residual"),)
        assert draw_view(view, theme, layout) != draw_view(
            build_idle_view(published, game, "en", state=state, credit_cents=3, accepted_inputs=()),
            theme,
            layout,
        )
    not_accepting = build_idle_view(published, game, "en", credit_cents=3, accepted_inputs=("cash_out",))
    assert picture.find_touched_action(not_accepting, *middle) is None
    covered = replace(view, player_page=PlayerPage.HELP)
    assert picture.find_touched_action(covered, *middle) != Action("residual")
    assert find_action_by_key_name("KeyR") == Action("residual")


@pytest.mark.requirement("C-12", "F-10")
def test_residual_credit_is_staked_only_after_its_odds_and_prize_are_shown(published, game, theme):
    view = build_idle_view(
        published, game, "en", residual_credit=ResidualCreditView(amount_cents=3, prize_cents=5)
    )
    assert "3 chances in 5 to win $0.05" in describe_residual_credit(build_context(view, theme))
    view = build_idle_view(
        published, game, "fr", residual_credit=ResidualCreditView(amount_cents=3, prize_cents=5)
    )
    assert "3 chances sur 5" in describe_residual_credit(build_context(view, theme, "fr"))


# ---------------------------------------------------------------------------------------------- locks
@pytest.mark.parametrize(("cash_out", "headline"), [(False, "account"), (True, "cash-out")])
def test_a_locked_machine_says_why_by_whom_and_until_when(idle_view, game, theme, cash_out, headline):
    lock = HostLock(host="floor", is_cash_out=cash_out, until_utc="2026-11-21T17:05:10+00:00")
    view = apply_message(
        replace(idle_view, player_page=PlayerPage.HELP),
        build_snapshot(game, "en", state="locked", host_lock=lock, accepted_inputs=()),
    )
    assert (view.scene, view.player_page, view.snapshot.time_utc) == (
        Scene.LOCKED_BY_HOST,
        PlayerPage.NONE,
        PICTURE_TIME_UTC,
    )
    words = describe_lockup(build_context(view, theme), Scene.LOCKED_BY_HOST)
    assert headline in words.headline
    assert "floor" in words.lines[0]
    assert "in 10 s" in words.lines[1]
    later = replace(view, now=view.now + 4)
    assert "in 6 s" in describe_lockup(build_context(later, theme), Scene.LOCKED_BY_HOST).lines[1]
    over = replace(view, now=view.now + 60)
    assert "in 0 s" in describe_lockup(build_context(over, theme), Scene.LOCKED_BY_HOST).lines[1]
    assert describe_lockup(build_context(view, theme, "fr"), Scene.LOCKED_BY_HOST).title == "Un instant"
    assert draw_view(view, theme) != draw_view(idle_view, theme)


def test_a_lock_without_details_is_shown_as_a_lock(idle_view, game, theme):
    view = apply_message(idle_view, build_snapshot(game, "en", state="locked", accepted_inputs=()))
    assert describe_lockup(build_context(view, theme), Scene.LOCKED_BY_HOST).lines == (
        "Your credits are safe.",
    )


# ---------------------------------------------------------------------------------------------- prizes in kind
@pytest.mark.requirement("C-03")
@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_prize_in_kind_is_described_before_a_bet(published, game, theme, language):
    view = build_idle_view(published, game, language)
    pages = list_help_pages(build_context(view, theme, language))
    texts = Texts(language)
    [page] = [page for page in pages if page.heading == texts.translate("help.in_kind")]
    heard_words = []
    on = build_context(view, theme, language)
    on.painter.surface = pygame.Surface((1920, 1080))
    paragraph = on.painter.draw_paragraph
    on.painter.draw_paragraph = lambda words, *rest_, **options: (
        heard_words.append(words) or paragraph(words, *rest_, **options)
    )
    page.draw(on, LANDSCAPE_LAYOUT.player_page)
    del (
        on.painter.draw_paragraph
    )  # it would hold the painter, and all it has drawn, until the next collection
    prize = game.presentation["merchandise"][0]
    assert heard_words[:2] == [
        texts.choose_translation(prize["name"]),
        texts.choose_translation(prize["description"]),
    ]
    assert "120" in heard_words[2]


def test_a_prize_in_kind_is_announced_by_name_although_no_money_is_won(idle_view, game, outcomes, theme):
    view = show_outcome(idle_view, game, outcomes[game.id].loss)
    play = view.presentation.outcome.model_copy(
        update={"prizes": (HAMPER, HAMPER), "paid_cents": 0, "returned_credits": 0}
    )
    won = replace(view, presentation=replace(view.presentation, outcome=play))
    line = build_view_timeline(won, theme)
    assert line.celebration_level == len(theme.celebration_levels) - 1
    assert line.roll_up_end_seconds > line.last_stop_seconds, "it is celebrated as long as a win of money"
    after = replace(won, now=100.0 + (line.last_stop_seconds + line.roll_up_end_seconds) / 2)
    assert choose_status_text_and_colour(build_context(after, theme)) == (
        "You win: 2 × Orchard hamper",
        "win",
    )
    assert draw_view(after, theme) != draw_view(replace(view, now=after.now), theme)


@pytest.mark.requirement("F-06", "C-03")
@pytest.mark.parametrize(
    ("language", "name", "choice"),
    [("en", "Orchard hamper", "in money instead"), ("fr", "Panier du verger", "en argent")],
)
def test_the_handpay_lockup_names_the_prize_its_value_and_the_choice(
    published, game, theme, language, name, choice
):
    for cash, amount_cents in ((False, 0), (True, 1850)):
        owed = HandpayView(
            kind="merchandise", amount_cents=amount_cents, prizes=(HAMPER,), can_take_cash=cash
        )
        view = build_idle_view(published, game, language, state="handpay", handpay=owed)
        words = describe_lockup(build_context(view, theme, language), Scene.HANDPAY)
        lockup_text = " ".join(words.lines)
        assert (words.headline, words.is_about_money) == (name, False)
        assert "120" in lockup_text
        assert (choice in lockup_text) is cash
        assert ("18" in lockup_text) is bool(amount_cents)


def test_the_handpay_lockup_says_what_was_owed_paid_in_coins_and_left(published, game, theme):
    """Regression: $19.45 was cashed out, and the page showed only 45 cents."""
    coins_text = "Cashed out: $19.45. Paid in coins: $19.00. An attendant will pay: $0.45."
    for coins_cents in (1900, 0):
        owed = HandpayView(
            kind="cancelled_credit", amount_cents=45, owed_cents=1945, paid_in_coins_cents=coins_cents
        )
        view = build_idle_view(published, game, "en", state="handpay", handpay=owed)
        lockup_lines = describe_lockup(build_context(view, theme, "en"), Scene.HANDPAY).lines
        assert (coins_text in lockup_lines) is bool(coins_cents)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_after_a_long_loss_of_connection_the_screen_suggests_an_attendant(idle_view, theme, language):
    gone = mark_machine_connection_lost(idle_view)
    assert describe_lockup(build_context(gone, theme, language), Scene.CONNECTION_LOST).remedy == ""
    still = mark_machine_connection_lost(
        replace(gone, now=gone.now + CONNECTION_LOST_SECONDS_UNTIL_CALL)
    )  # heard of again and again
    lockup = describe_lockup(build_context(still, theme, language), Scene.CONNECTION_LOST)
    assert ("attendant" if language == "en" else "préposé") in lockup.remedy
    assert draw_view(still, theme) != draw_view(gone, theme)
