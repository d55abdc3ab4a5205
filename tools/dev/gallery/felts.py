"""Build the scenes of table games: chips, animations, decisions and the settled table."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Final

from egm.kernel.messages import DecisionRequest, FeltState, GameOutcome, GameView
from egm.play.game_messages import list_answer_costs
from egm.screen.felt_layout import list_felt_parts, list_street_sheets
from egm.screen.input_reducer import apply_action
from egm.screen.layout import Layout
from egm.screen.message_reducer import apply_message
from egm.screen.painter import Painter
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.table_side_panels import list_prize_pages
from egm.screen.table import TableGameData
from egm.screen.text import Texts
from egm.screen.theme import Theme
from egm.screen.view import Action, View, build_view_timeline
from paytables import SEATS_DECISION_KIND, Choice, Game, Wager, load_game
from paytables import Decision as Question
from paytables.contract import Round
from paytables.seating import SeatedRules
from tools.dev.gallery import FixedDraws
from tools.lab.views import UNIT_CENTS, build_game_view, build_idle_view

#: One table game of each layout.
TABLE_GAMES: Final = (
    "quebec-roulette-american",
    "monaco-boule",
    "quebec-sic-bo",
    "quebec-craps",
    "quebec-baccarat",
    "quebec-red-dog",
    "quebec-pai-gow",
    "quebec-pai-gow-poker",
)
#: Table games with the longest texts.
GAMES_WITH_LONGEST_TEXTS: Final = (
    "double-double-bonus-9-6",
    "deuces-wild-full-pay",
    "monaco-roulette-european",
    "monaco-punto-banco",
    "quebec-blackjack-progressive-3",
    "quebec-boston-poker",
)
#: Number of betting spots with chips.
_SPOTS_WITH_CHIPS: Final = 12


def iter_table_game_scenes(
    names: Iterable[str], language: str, theme: Theme, layout: Layout
) -> Iterator[tuple[str, View]]:
    """Yield the scenes of several tables, each named by its table."""
    for table in names:
        for name, view in iter_felt_scenes(*load_table_game(table), language, theme, layout):
            yield f"{table}/{name}", view


@cache
def load_table_game(name: str) -> tuple[Game, GameView]:
    """Return a table game and the view of it that the machine publishes; cached."""
    game = load_game(name)
    return game, build_game_view(game)


def iter_felt_scenes(
    game: Game, game_view: GameView, language: str, theme: Theme, layout: Layout
) -> Iterator[tuple[str, View]]:
    """Yield the scenes of one table in a layout."""
    idle_view = build_idle_view((game_view,), game_view, language, felt_state=game.rules.build_current_view())
    assert idle_view.snapshot is not None
    layout = layout.for_table_game(has_levels=bool(idle_view.snapshot.progressives))
    yield "idle", idle_view
    table = idle_view.table
    assert table is not None
    laid = lay_chips(idle_view, theme)
    if table.spots:
        yield "laid", laid
        past = idle_view.snapshot.model_copy(
            update={"last_results": _list_past_results(table, FixedDraws(game.id))}
        )
        yield "past", apply_message(idle_view, past)
        for part in list_felt_parts(table, layout):
            yield f"part-{part}", _apply_screen_action(laid, "felt_part", part, theme)
        for sheet in range(
            len(list_street_sheets(table, layout)) + 1 if list_street_sheets(table, layout) else 0
        ):
            yield f"sheet-{sheet}", _apply_screen_action(laid, "sheet", sheet, theme)
    wager = build_wager_from_chips(laid, game)
    seated = _build_second_seat_wager(game, wager)
    yield from _iter_round_scenes(laid, game, game_view, theme, seated if game.rules.seats_min > 1 else wager)
    if isinstance(game.rules, SeatedRules):
        scenes = dict(iter_shared_round_scenes(game, game_view, idle_view, theme))
        waits = [name for name in scenes if name.startswith("waits")]
        first = next(name for name in scenes if name not in waits)
        yield from ((f"shared-{name}", scenes[name]) for name in (first, *waits, "settled"))
    help_, _ = apply_action(idle_view, Action("help"), theme)
    for sheet in range(
        len(list_prize_pages(DrawingContext(Painter(theme), Texts(language), layout, idle_view)))
    ):
        yield f"help-{sheet + 2}", replace(help_, sheet_index=sheet + 1)


def iter_shared_round_scenes(
    game: Game, game_view: GameView, idle_view: View, theme: Theme
) -> Iterator[tuple[str, View]]:
    """Yield the scenes of a round in which every seat of the table makes the same bets, seen by the second seat."""
    laid = lay_chips(idle_view, theme)
    yield from _iter_round_scenes(
        laid, game, game_view, theme, _build_second_seat_wager(game, build_wager_from_chips(laid, game))
    )


def _build_second_seat_wager(game: Game, wager: Wager) -> Wager:
    """Return the wager of the second seat for a round in which every seat makes the bets of ``wager``."""
    if not isinstance(game.rules, SeatedRules):
        return wager
    seats = game.rules.table_layout.table.seat_count
    return game.rules.combine_seat_wagers(wager, 1, dict.fromkeys(range(seats), wager))


def _list_past_results(table: TableGameData, walk: FixedDraws) -> tuple[str, ...]:
    """Return sixty possible past results of a table, for its display of past results."""
    ends = (*table.scoreboard_sides * 9, "tie") if table.scoreboard_sides else table.wheel_pockets
    if table.felt_kind == "dice":
        return tuple("-".join(str(1 + walk.below(6)) for _ in range(3)) for _ in range(60))
    return tuple(ends[walk.below(len(ends))] for _ in range(60)) if ends else ()


def _apply_screen_action(view: View, name: str, value: object, theme: Theme) -> View:
    return apply_action(replace(view, now=view.now + 0.1), Action(name, value), theme)[0]


def lay_chips(view: View, theme: Theme) -> View:
    """Return the view with chips of every value on spots of every group, except where one spot excludes another."""
    table = view.table
    assert table is not None
    spots = list(table.spots)
    view = _apply_screen_action(view, "clear", None, theme)
    for number, spot in enumerate(spots[:: max(1, len(spots) // _SPOTS_WITH_CHIPS)]):
        if not any(other in view.chips.bets for other in table.spots[spot].excluded_spots):
            view = _apply_screen_action(
                view, "chip", table.chip_values[number % len(table.chip_values)], theme
            )
            view = _apply_screen_action(view, "spot", spot, theme)
    return view


def build_wager_from_chips(view: View, game: Game) -> Wager:
    """Return the wager that the chips on the table make, according to the game's rules."""
    if view.table is not None and view.table.spots:
        return game.build_wager(view.chips.credits, bets=dict(view.chips.bets))
    return game.build_wager(max(game.bet_options))


def choose_answer(decision: Question) -> Choice:
    """Return the option to choose for the pictures: call or check for poker bets, hold all cards but the last."""
    first = decision.options[-2 if decision.kind == "hold" else 0]
    return Choice(decision.prompt.get("reference", first))


def build_decision_request(played: Round, game_view: GameView, seat: int) -> DecisionRequest:
    """Return the decision that a round waits for, as the message to this seat.

    Raises ValueError if it waits for none.
    """
    decision = played.decision
    if decision is None:
        raise ValueError(f"{game_view.id}: the round waits for no decision")
    return DecisionRequest(
        play_id=game_view.id,
        kind=decision.kind,
        options=decision.options if decision.seat == seat else (),
        seat=decision.seat,
        display={"kind": "table", **decision.prompt},
        costs=list_answer_costs(decision),
        cues=tuple(cue.to_json() for cue in played.cues),
        settlements=tuple(each.to_json() for each in played.settlements),
    )


def _iter_round_scenes(
    view: View, game: Game, game_view: GameView, theme: Theme, wager: Wager
) -> Iterator[tuple[str, View]]:
    """Yield the scenes of a round with this wager: its animation, the decisions of its seat, its settlement.

    Of the decisions of other seats, which this seat waits for, only the first of each kind is shown.
    """
    assert view.snapshot is not None
    bet = {"bet_wager": dict(wager.options), "bet_credits": wager.credits}
    idle_view = view.snapshot.model_copy(update=bet)
    playing = {
        "state": "playing",
        "accepted_inputs": ("language", "service"),
        "staked_cents": wager.credits * UNIT_CENTS,
    }
    view = apply_message(view, idle_view.model_copy(update=playing))
    played = Round(game.play(wager, FixedDraws(game.id)), wager)
    played.advance()
    question_count, waited = 0, {SEATS_DECISION_KIND}
    while played.decision is not None:
        is_own = played.decision.seat == (wager.seat or 0)
        if not is_own and played.decision.kind in waited:
            played.advance(choose_answer(played.decision))
            continue
        question_count += is_own
        question = build_decision_request(played, game_view, wager.seat or 0)
        view = apply_message(view, question)
        timeline = build_view_timeline(view, theme)
        assert timeline is not None
        began = view.presentation.began_at if view.presentation is not None else view.now
        view = replace(view, now=began + timeline.roll_up_end_seconds + 0.1)
        if not is_own:
            waited.add(question.kind)
        yield f"asks-{question.kind}-{question_count}" if is_own else f"waits-{question.kind}", view
        played.advance(choose_answer(played.decision))
    outcome = played.outcome
    assert outcome is not None
    cents = outcome.returned_credits * UNIT_CENTS
    view = apply_message(
        view,
        GameOutcome(
            play_id=game_view.id,
            game_id=game_view.id,
            bet_credits=wager.credits,
            returned_credits=outcome.returned_credits,
            paid_cents=cents,
            display=dict(outcome.display),
            cues=tuple(cue.to_json() for cue in played.cues),
            settlements=tuple(settlement.to_json() for settlement in played.settlements),
        ),
    )
    timeline = build_view_timeline(view, theme)
    assert timeline is not None
    assert view.presentation is not None
    last_step = timeline.steps[-1]
    for name, share in (("moving", 0.35), ("landed", 0.93)):
        yield (
            name,
            replace(
                view,
                now=view.presentation.began_at
                + last_step.start_seconds
                + (last_step.last_stop_seconds - last_step.start_seconds) * share,
            ),
        )
    settled_view = replace(view, now=view.presentation.began_at + timeline.end_seconds)
    next_rules = game.with_table_state(outcome.table_state).rules
    standing_credits_by_spot = {bet.spot: bet.credits for bet in next_rules.list_standing_bets()}
    closed_spots = tuple(spot.id for spot in next_rules.list_spots() if not spot.accepts_bets)
    snapshot_values = {
        "paid_cents": cents,
        "last_display": dict(outcome.display),
        "standing_credits_by_spot": standing_credits_by_spot,
        "closed_spots": closed_spots,
    }
    snapshot_values["last_results"] = tuple(
        str(outcome.display[key]) for key in ("result",) if key in outcome.display
    )
    snapshot_values["felt_state"] = FeltState.model_validate(next_rules.build_current_view())
    settled_view = apply_message(settled_view, idle_view.model_copy(update=snapshot_values))
    yield "settled", replace(settled_view, now=settled_view.now + 3.2)
