"""The status line states the result of a settled table as the cloth does: a win, the return, a push."""

from dataclasses import replace

import pytest
from rigs.painters import WordPainter

from egm.kernel.messages import FeltState, GameOutcome
from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.message_reducer import apply_message
from egm.screen.painter import Painter
from egm.screen.picture import Picture
from egm.screen.scenes.deck import choose_win_meter_label_key, draw_meters
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.status import choose_status_text_and_colour
from egm.screen.text import Texts
from egm.screen.view import build_view_timeline
from paytables import load_game
from paytables.contract import Round
from tools.dev.gallery import FixedDraws
from tools.dev.gallery.felts import load_table_game
from tools.lab.views import UNIT_CENTS, build_game_view, build_idle_view

HELD, LAID = "jacks-or-better-9-6", "quebec-roulette-french"


def read_status(theme, name, rows, language="en", state="idle"):
    """Return the status line of a round with these settlements, given as (credits, stake) per bet."""
    return choose_status_text_and_colour(build_settled_context(theme, name, rows, language, state))


def build_settled_context(theme, name, rows, language="en", state="idle", stays=None):
    _, game = load_table_game(name)
    view = build_idle_view((game,), game, language)
    settlements = [{"name": "any", "credits": back, "staked": staked} for back, staked in rows]
    felt_ = game.presentation["felt"]
    back = sum(settlement["credits"] for settlement in settlements)
    play = GameOutcome(
        play_id="1",
        game_id=game.id,
        bet_credits=sum(staked for _, staked in rows),
        returned_credits=back,
        paid_cents=back * UNIT_CENTS,
        display={"kind": "table", "felt": felt_},
        settlements=tuple(settlements),
    )
    update = {"state": state, "paid_cents": play.paid_cents, "standing_credits_by_spot": stays or {}}
    after = view.snapshot.model_copy(update=update)
    view = replace(apply_message(view, play), snapshot=after)
    view = replace(view, now=view.presentation.began_at + build_view_timeline(view, theme).end_seconds)
    return DrawingContext(Painter(theme), Texts(language), LANDSCAPE_LAYOUT, view)


@pytest.mark.requirement("N-10")
@pytest.mark.parametrize(
    ("name", "rows", "words", "colour"),
    [
        (HELD, [(30, 20)], "You win $7.50", "win"),
        (HELD, [(20, 20)], "Push. Bet returned: $5.00", "text"),
        (HELD, [(20, 20), (0, 20)], "Returned: $5.00 of $10.00 staked", "text"),
        (HELD, [(40, 20), (0, 20)], "You win $10.00", "win"),
        (LAID, [(40, 20)], "You receive $10.00 for $5.00 staked", "win"),
        (LAID, [(40, 20), (0, 20)], "You receive $10.00 for $10.00 staked", "win"),
        (LAID, [(20, 20), (4, 4)], "Push. Bet returned: $6.00", "text"),
        (LAID, [(10, 20)], "Returned: $2.50 of $5.00 staked", "text"),
        (LAID, [(40, 0)], "You receive $10.00, stake included", "win"),
    ],
)
def test_a_round_is_reported_as_a_win_a_payment_or_a_push(theme, name, rows, words, colour):
    assert read_status(theme, name, rows) == (words, colour)
    assert read_status(theme, name, rows, state="playing") == (words, colour)


def test_in_french_a_push_is_a_returned_stake(theme):
    assert (
        read_status(theme, HELD, [(20, 20)], "fr")[0]
        == "Égalité. Mise rendue\N{NO-BREAK SPACE}: 5,00\N{NO-BREAK SPACE}$"
    )


def test_a_lost_round_states_its_cost_and_the_standing_bets(theme):
    """Regression: the bar showed "PLAY stakes ..." again, as if nothing had been played."""
    rows = [(0, 20), (0, 4)]
    assert read_status(theme, LAID, rows, state="playing") == ("No win. Lost: $6.00", "text_dim")
    assert read_status(theme, LAID, rows)[0].startswith("No win. Lost: $6.00  ·  ")
    spot = next(iter(build_settled_context(theme, LAID, rows).view.table.spots))
    stays = build_settled_context(theme, LAID, rows, stays={spot: 8})
    assert choose_status_text_and_colour(stays)[0].startswith(
        "No win. Lost: $6.00  ·  Bets on the table: $2.00"
    )
    assert read_status(theme, LAID, rows, "fr")[0].startswith("Aucun gain. Perdu\N{NO-BREAK SPACE}: 6,00")
    touched = replace(stays, view=replace(stays.view, bet_touched_at=stays.view.now))
    assert "Lost" not in choose_status_text_and_colour(touched)[0]


@pytest.mark.parametrize(
    ("name", "rows", "label"),
    [
        (LAID, [(40, 20)], "meter.returned"),
        (LAID, [(40, 20), (0, 20)], "meter.returned"),
        (LAID, [(20, 20)], "meter.returned"),
        (LAID, [(10, 20)], "meter.returned"),
        (LAID, [(0, 20)], "meter.win"),
        (HELD, [(20, 20)], "meter.win"),
    ],
)
def test_returned_stakes_are_not_on_the_win_meter(theme, name, rows, label):
    """Regression: a stake of $5 with a return of $10 was shown as WIN $10.00, although the player had won $5."""
    assert choose_win_meter_label_key(build_settled_context(theme, name, rows)) == label


@pytest.mark.requirement("N-10")
@pytest.mark.parametrize(
    ("rows", "colour"), [([(40, 20)], "win"), ([(20, 20)], "steel"), ([(10, 20)], "steel")]
)
def test_a_return_of_the_stake_or_less_is_not_coloured_as_a_win(theme, rows, colour):
    context, styles = build_settled_context(theme, LAID, rows), {}

    class RecordingPainter(WordPainter):
        def draw_text(self, text, at, style, **options):
            styles[text] = style
            return super().draw_text(text, at, style, **options)

    draw_meters(replace(context, painter=RecordingPainter(theme)))
    amount = styles[context.format_money(rows[0][0] * UNIT_CENTS)]
    assert amount.paint.stops[1] == (0.6, theme.get_colour(colour))


def build_ended_context(
    theme, name, *, display=None, rows=((0, 20),), before_cents=0, language="en", point=None, **after
):
    """Return the drawing context after a round as the machine reports it: played, shown, then ended by an idle snapshot."""
    _, game = load_table_game(name)
    view = build_idle_view((game,), game, language)
    idle_snapshot = view.snapshot.model_copy(
        update={
            "paid_cents": before_cents,
            "standing_credits_by_spot": {},
            "felt_state": FeltState(point=point),
        }
    )
    view = replace(apply_message(view, idle_snapshot), now=view.now + 9)
    play = GameOutcome(
        play_id="2",
        game_id=game.id,
        bet_credits=sum(staked for _, staked in rows),
        returned_credits=0,
        paid_cents=0,
        display={"kind": "table", "felt": game.presentation["felt"], **(display or {})},
        settlements=tuple({"name": "any", "credits": back, "staked": staked} for back, staked in rows),
    )
    view = apply_message(apply_message(view, idle_snapshot.model_copy(update={"state": "playing"})), play)
    view = replace(view, now=view.presentation.began_at + build_view_timeline(view, theme).end_seconds)
    shown = DrawingContext(Painter(theme), Texts(language), LANDSCAPE_LAYOUT, view)
    view = apply_message(view, idle_snapshot.model_copy(update={"paid_cents": 0, "state": "idle", **after}))
    return shown, DrawingContext(Painter(theme), Texts(language), LANDSCAPE_LAYOUT, view)


@pytest.mark.requirement("C-16", "C-24")
@pytest.mark.parametrize("before_cents", [0, 1000])
@pytest.mark.parametrize(
    "name",
    ["quebec-roulette-french", "quebec-baccarat", "quebec-blackjack", "quebec-craps", "quebec-sic-bo"],
)
def test_a_round_lost_after_a_won_one_is_reported(theme, name, before_cents):
    """Regression: the win meter's fall to 0 after the lost round was mistaken for a win that the player took."""
    _, context = build_ended_context(theme, name, before_cents=before_cents)
    assert choose_status_text_and_colour(context)[0].startswith("No win. Lost: $5.00")


def test_a_round_is_no_longer_reported_once_its_player_has_taken_the_credit(theme):
    """The next player does not see the previous player's loss."""
    _, context = build_ended_context(theme, LAID)
    gone = apply_message(context.view, context.view.snapshot.model_copy(update={"credit_cents": 0}))
    assert gone.presentation is None
    assert "Lost" not in choose_status_text_and_colour(replace(context, view=gone))[0]


@pytest.mark.requirement("C-16")
def test_a_round_that_began_without_play_is_reported_though_chips_were_touched_last(theme):
    """When the betting time of a shared round ends, the last touch was on the cloth."""
    _, context = build_ended_context(theme, LAID)
    chips = replace(context.view.chips, bets={next(iter(context.view.table.spots)): 20})
    began = context.view.presentation.began_at
    for pressed_at, is_loss_shown in ((began - 1, True), (began + 1, False)):
        view = replace(context.view, last_action_name="spot", pressed_at=pressed_at, chips=chips)
        assert ("Lost" in choose_status_text_and_colour(replace(context, view=view))[0]) is is_loss_shown


HANDS = {
    "result": "bank",
    "hands": [{"id": "player", "cards": [], "says": "4"}, {"id": "bank", "cards": [], "says": "7"}],
}
DICE = {"dice": [3, 4], "total": 7, "result": "3-4"}


@pytest.mark.parametrize(
    ("name", "display", "point", "en", "fr"),
    [
        ("quebec-baccarat", HANDS, None, "Bank wins, 7 to 4", "Gagnant : Banque, 7 à 4"),
        ("quebec-baccarat", {**HANDS, "result": "tie"}, None, "Tie, 4 each", "Égalité, 4 partout"),
        (LAID, {"result": "26", "pocket": "26"}, None, "Result: 26 black", "Résultat : 26 noir"),
        (
            "quebec-sic-bo",
            {"dice": [3, 2, 6], "total": 11, "result": "3-2-6"},
            None,
            "Dice: 3-2-6, total 11",
            "Dés : 3-2-6, total 11",
        ),
        ("quebec-sic-bo", {"dice": [6, 5], "result": "6-5"}, None, "Result: 6-5", "Résultat : 6-5"),
        (
            "quebec-craps",
            {**DICE, "come_out": False, "point": None},
            6,
            "Throw: 7. Seven-out, the point was 6",
            "Lancer : 7. Le sept est sorti avant le point 6",
        ),
        ("quebec-craps", {**DICE, "come_out": True, "point": None}, None, "Throw: 7", "Lancer : 7"),
        (
            "quebec-craps",
            {**DICE, "total": 9, "come_out": True, "point": 9},
            None,
            "Throw: 9. The point is 9",
            "Lancer : 9. Le point est 9",
        ),
        (
            "quebec-craps",
            {**DICE, "total": 9, "come_out": False, "point": 6},
            6,
            "Throw: 9. The point is still 6",
            "Lancer : 9. Le point reste 6",
        ),
        (
            "quebec-craps",
            {**DICE, "total": 6, "come_out": False, "point": None},
            6,
            "Throw: 6. The point is made",
            "Lancer : 6. Le point est sorti",
        ),
    ],
)
def test_the_result_of_a_round_is_named_before_its_money(theme, name, display, point, en, fr):
    """Winner, number, sum and point come first; the text for screen readers begins with the same words."""
    for language, words in (("en", en), ("fr", fr)):
        for context in build_ended_context(theme, name, display=display, point=point, language=language):
            status = choose_status_text_and_colour(context)[0].replace("\N{NO-BREAK SPACE}", " ")
            assert status.startswith(words + "  ·  ")
    read = Picture(theme).build_screen_reader_text(
        build_ended_context(theme, name, display=display, point=point)[1].view
    )
    assert read.startswith(en)


@pytest.mark.requirement("S-52")
@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "The next round is the last of this shoe"),
        ("fr", "Le prochain coup est le dernier de ce sabot"),
    ],
)
def test_the_last_round_of_a_shoe_is_announced_after_the_round_before(theme, language, words):
    for display, announced in (({"last_of_shoe": True}, True), ({}, False)):
        for context in build_ended_context(
            theme, "monaco-banque-a-tout-va", display=display, language=language
        ):
            assert (words in choose_status_text_and_colour(context)[0]) == announced


@pytest.mark.requirement("S-51")
@pytest.mark.parametrize(
    ("felt_now", "en", "fr"),
    [
        (
            {"bank": 2, "banco": 0},
            "The bank is offered to player 3 first",
            "La banque est offerte d’abord au joueur 3",
        ),
        (
            {"bank": 0, "banco": 78},
            "Player 1 keeps the bank by betting $19.50 or more on the bank",
            "Le joueur 1 garde la banque s’il mise 19,50 $ ou plus sur la banque",
        ),
    ],
)
def test_the_status_line_names_the_banker_and_the_next_step(theme, felt_now, en, fr):
    _, game = load_table_game("monaco-chemin-de-fer")
    for language, words in (("en", en), ("fr", fr)):
        view = build_idle_view((game,), game, language, felt_state=felt_now)
        status = choose_status_text_and_colour(
            DrawingContext(Painter(theme), Texts(language), LANDSCAPE_LAYOUT, view)
        )[0]
        assert words in status.replace("\N{NO-BREAK SPACE}", " ")


def test_a_throw_without_a_decision_names_the_standing_bets(theme):
    """Regression: the bar showed "Game over" after every throw."""
    spot = load_table_game("quebec-craps")[1].presentation["spots"][0]["id"]
    display = {**DICE, "total": 9, "come_out": True, "point": 9, "standing": [{"spot": spot, "credits": 20}]}
    shown, after = build_ended_context(
        theme, "quebec-craps", display=display, rows=(), standing_credits_by_spot={spot: 20}
    )
    assert choose_status_text_and_colour(shown)[0] == "Throw: 9. The point is 9  ·  Bets on the table: $5.00"
    assert choose_status_text_and_colour(after)[0].startswith(
        "Throw: 9. The point is 9  ·  Bets on the table: $5.00  ·  "
    )


@pytest.mark.parametrize(
    ("won", "summary", "colour"),
    [
        (12, "2 draws: won $3.00 for $0.50 staked", "win"),
        (0, "2 draws: no win. Lost: $0.50", "text_dim"),
    ],
)
def test_a_keno_ticket_of_several_draws_is_summed_up(theme, won, summary, colour):
    """Regression: only single draws were reported, and a lost ticket only as "Game over"."""
    source = load_game("aurora-keno")
    game = build_game_view(source)
    view = build_idle_view((game,), game, "en")
    wager = source.build_wager(2, selections=[{"groups": [[7, 18, 33]], "stakes": {"3": 1}}], draws=2)
    played = Round(source.play(wager, FixedDraws("ticket")), wager)
    played.advance()
    play = GameOutcome(
        play_id="3",
        game_id=game.id,
        bet_credits=wager.credits,
        returned_credits=won,
        paid_cents=won * UNIT_CENTS,
        display=dict(played.outcome.display),
    )
    view = apply_message(apply_message(view, view.snapshot.model_copy(update={"state": "playing"})), play)
    view = replace(view, now=view.presentation.began_at + build_view_timeline(view, theme).end_seconds)
    context = DrawingContext(Painter(theme), Texts("en"), LANDSCAPE_LAYOUT, view)
    assert choose_status_text_and_colour(context) == (summary, colour)
    after = view.snapshot.model_copy(update={"state": "idle", "paid_cents": play.paid_cents})
    assert summary in choose_status_text_and_colour(replace(context, view=apply_message(view, after)))[0]
