"""The scenes of tables: chips being laid, what moves, what is asked, and the cloth when all is settled."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Final

from egm.kernel.messages import Decision, Felt, GameView, Play
from egm.play.showing import list_answer_costs
from egm.screen.cloth import list_felt_parts, list_street_sheets
from egm.screen.input_reducer import apply_action
from egm.screen.layout import Layout
from egm.screen.message_reducer import apply_message
from egm.screen.painter import Painter
from egm.screen.scenes.felt_glass import list_prize_pages
from egm.screen.scenes.stage import Stage
from egm.screen.table import Table
from egm.screen.text import Texts
from egm.screen.theme import Theme
from egm.screen.view import Action, View, build_view_timeline
from paytables import Choice, Game, Wager, load_game
from paytables import Decision as Question
from paytables.contract import Round
from paytables.seating import SeatedRules
from tools.dev.gallery import Walk
from tools.lab.views import UNIT_CENTS, build_game_view, build_idle_view

#: One table of each picture: how chips are laid and bets are asked for is tried at these.
FELTS: Final = (
    "quebec-roulette-american",
    "monaco-boule",
    "quebec-sic-bo",
    "quebec-craps",
    "quebec-baccarat",
    "quebec-red-dog",
    "quebec-pai-gow",
    "quebec-pai-gow-poker",
)
#: Tables whose words take most room: every table's are checked, these each time.
WORDY: Final = (
    "double-double-bonus-9-6",
    "deuces-wild-full-pay",
    "monaco-roulette-european",
    "monaco-punto-banco",
    "quebec-blackjack-progressive-3",
    "quebec-boston-poker",
)
#: Number of betting spots with chips.
_LAID: Final = 12


def every_felt(
    names: Iterable[str], language: str, theme: Theme, layout: Layout
) -> Iterator[tuple[str, View]]:
    """Yield the scenes of several tables, each named by its table."""
    for table in names:
        for name, view in felt_scenes(*felt(table), language, theme, layout):
            yield f"{table}/{name}", view


@cache
def felt(name: str) -> tuple[Game, GameView]:
    """Return a table game and its published view; cached."""
    game = load_game(name)
    return game, build_game_view(game)


def felt_scenes(
    game: Game, told: GameView, language: str, theme: Theme, layout: Layout
) -> Iterator[tuple[str, View]]:
    """Yield the scenes of one table in a layout."""
    rest = build_idle_view((told,), told, language, felt=game.rules.build_current_view())
    assert rest.snapshot is not None
    layout = layout.for_table_game(levels=bool(rest.snapshot.progressives))
    yield "idle", rest
    table = rest.table
    assert table is not None
    laid = _laid(rest, theme)
    if table.spots:
        yield "laid", laid
        past = rest.snapshot.model_copy(update={"results": _past(table, Walk(game.id))})
        yield "past", apply_message(rest, past)
        for part in list_felt_parts(table, layout):
            yield f"part-{part}", _act(laid, "cloth", part, theme)
        for sheet in range(
            len(list_street_sheets(table, layout)) + 1 if list_street_sheets(table, layout) else 0
        ):
            yield f"sheet-{sheet}", _act(laid, "sheet", sheet, theme)
    wager = wager_of(laid, game)
    seated = _seat_wager(game, wager)
    yield from _round(laid, game, told, theme, seated if game.rules.seats_min > 1 else wager)
    if isinstance(game.rules, SeatedRules):
        scenes = dict(_round(laid, game, told, theme, seated))
        yield from ((f"shared-{name}", scenes[name]) for name in (*list(scenes)[:1], "settled"))
    help_, _ = apply_action(rest, Action("help"), theme)
    for sheet in range(len(list_prize_pages(Stage(Painter(theme), Texts(language), layout, rest)))):
        yield f"help-{sheet + 2}", replace(help_, sheet=sheet + 1)


def _seat_wager(game: Game, wager: Wager) -> Wager:
    """Return the wager as that of the second seat of a round in which every seat bets the same."""
    if not isinstance(game.rules, SeatedRules):
        return wager
    seats = game.rules.cloth.table.seats
    return game.rules.combine_seat_wagers(wager, 1, dict.fromkeys(range(seats), wager))


def _past(table: Table, walk: Walk) -> tuple[str, ...]:
    """Sixty rounds as they may have ended."""
    ends = (*table.roads * 9, "tie") if table.roads else table.wheel
    if table.felt == "dice":
        return tuple("-".join(str(1 + walk.below(6)) for _ in range(3)) for _ in range(60))
    return tuple(ends[walk.below(len(ends))] for _ in range(60)) if ends else ()


def _act(view: View, name: str, value: object, theme: Theme) -> View:
    return apply_action(replace(view, now=view.now + 0.1), Action(name, value), theme)[0]


def _laid(view: View, theme: Theme) -> View:
    """Chips of every value on spots of every group."""
    table = view.table
    assert table is not None
    spots = list(table.spots)
    view = _act(view, "clear", None, theme)
    for number, spot in enumerate(spots[:: max(1, len(spots) // _LAID)]):
        view = _act(view, "chip", table.chips[number % len(table.chips)], theme)
        view = _act(view, "spot", spot, theme)
    return view


def wager_of(view: View, game: Game) -> Wager:
    """Return the wager that the chips make, by the game's own rules."""
    if view.table is not None and view.table.spots:
        return game.wager(view.chips.credits, bets=dict(view.chips.bets))
    return game.wager(max(game.bet_options))


def _choose_answer(decision: Question) -> Choice:
    """Return the answer that is drawn: of a poker room's bets to call or check, of cards to hold all but the last."""
    first = decision.options[-2 if decision.kind == "hold" else 0]
    return Choice(decision.prompt.get("reference", first))


def _round(view: View, game: Game, told: GameView, theme: Theme, wager: Wager) -> Iterator[tuple[str, View]]:
    """Yield a round of this wager: its animation, the decisions of its seat and its settlement."""
    assert view.snapshot is not None
    bet = {"bet_wager": dict(wager.options), "bet_credits": wager.credits}
    rest = view.snapshot.model_copy(update=bet)
    playing = {
        "state": "playing",
        "accepts": ("language", "service"),
        "staked_cents": wager.credits * UNIT_CENTS,
    }
    view = apply_message(view, rest.model_copy(update=playing))
    played = Round(game.play(wager, Walk(game.id)), wager)
    played.advance()
    asked = 0
    while played.decision is not None:
        if played.decision.seat != (wager.seat or 0):
            played.advance(_choose_answer(played.decision))
            continue
        asked += 1
        question = Decision(
            play_id=told.id,
            kind=played.decision.kind,
            options=played.decision.options,
            display={"kind": "table", **played.decision.prompt},
            costs=list_answer_costs(played.decision),
            cues=tuple(cue.to_json() for cue in played.cues),
            settlements=tuple(each.to_json() for each in played.settlements),
        )
        view = apply_message(view, question)
        line = build_view_timeline(view, theme)
        assert line is not None
        began = view.show.began if view.show is not None else view.now
        view = replace(view, now=began + line.rolled + 0.1)
        yield f"asks-{question.kind}-{asked}", view
        played.advance(_choose_answer(played.decision))
    outcome = played.outcome
    assert outcome is not None
    cents = outcome.win_credits * UNIT_CENTS
    view = apply_message(
        view,
        Play(
            play_id=told.id,
            game_id=told.id,
            bet_credits=wager.credits,
            win_credits=outcome.win_credits,
            win_cents=cents,
            display=dict(outcome.display),
            cues=tuple(cue.to_json() for cue in played.cues),
            settlements=tuple(each.to_json() for each in played.settlements),
        ),
    )
    line = build_view_timeline(view, theme)
    assert line is not None
    assert view.show is not None
    last = line.steps[-1]
    for name, share in (("moving", 0.35), ("landed", 0.93)):
        yield name, replace(view, now=view.show.began + last.begin + (last.spun - last.begin) * share)
    over = replace(view, now=view.show.began + line.done)
    after = game.for_table(outcome.table).rules
    standing = {bet.spot: bet.credits for bet in after.list_standing_bets()}
    shut = tuple(spot.id for spot in after.layout() if not spot.open)
    told_ = {"win_cents": cents, "last_display": dict(outcome.display), "standing": standing, "shut": shut}
    told_["results"] = tuple(str(outcome.display[key]) for key in ("result",) if key in outcome.display)
    told_["felt"] = Felt.model_validate(after.build_current_view())
    over = apply_message(over, rest.model_copy(update=told_))
    yield "settled", replace(over, now=over.now + 3.2)
