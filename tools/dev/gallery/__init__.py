"""Build every scene of every game as a view, for pictures, review and tests, with outcomes of real games."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from egm.kernel.messages import (
    DecisionRequest,
    GameOutcome,
    GameView,
    PrizeInKind,
    ProgressiveWin,
)
from egm.screen.input_reducer import apply_action
from egm.screen.keno_slip import is_keno_game, list_permitted_spot_counts
from egm.screen.layout import Layout
from egm.screen.message_reducer import apply_message
from egm.screen.painter import Painter
from egm.screen.presentation import has_feature_title_card
from egm.screen.scenes.drawing_context import DrawingContext
from egm.screen.scenes.help import list_help_pages
from egm.screen.text import Texts
from egm.screen.theme import Theme
from egm.screen.view import Action, PlayerPage, View, build_view_timeline
from paytables import Choice, Decision, Game, Outcome, Wager, play_with_answers
from tools.dev.gallery.pages import build_recall_page, iter_page_scenes
from tools.lab.views import UNIT_CENTS, build_idle_view, build_level_views, build_snapshot


@dataclass(slots=True)
class FixedDraws:
    """Deterministic substitute for random draws, derived from a name; for pictures only."""

    name: str
    count: int = 0

    def below(self, bound: int, purpose: str = "") -> int:  # noqa: ARG002 (signature of the contract)
        """Return a number below ``bound``, from a hash of the name and the number of draws so far."""
        self.count += 1
        digest = hashlib.sha256(f"{self.name}/{self.count}".encode()).digest()
        return int.from_bytes(digest, "big") % bound


def play_game(game: Game, name: str, bet: int) -> Outcome:
    """Play a complete game with a bet of ``bet`` credits, choosing the first option of every decision.

    ``name`` determines the draws.
    """
    return _play_wager(game, name, game.build_wager(bet))


def _play_wager(game: Game, name: str, wager: Wager) -> Outcome:
    """Play a complete game with this wager, choosing the first option of every decision.

    ``name`` determines the draws.
    """
    return play_with_answers(
        game.play(wager, FixedDraws(name)), wager, lambda decision: Choice(decision.options[0])
    )


@dataclass(frozen=True, slots=True)
class SampleOutcomes:
    """Outcomes of real games for the pictures: a loss, a small win, a big win, and one with several steps."""

    loss: Outcome | None
    small_win: Outcome | None
    big_win: Outcome | None
    feature: Outcome | None
    decisions: tuple[Decision, ...] = ()
    doubled: Outcome | None = None
    """An outcome whose win was doubled once by the double-up feature."""


def find_decisions(game: Game, tries: int = 400) -> tuple[Decision, ...]:
    """Return the first decision of each kind that the game asks for, and the second if it is asked again.

    ``tries`` games are played.
    """
    decision_by_name: dict[str, Decision] = {}
    wager = game.build_wager(max(game.bet_options))
    for number in range(tries):
        counts_by_kind: Counter[str] = Counter()

        def choose_last_option(decision: Decision, counts_by_kind: Counter[str] = counts_by_kind) -> Choice:
            counts_by_kind[decision.kind] += 1
            decision_by_name.setdefault(
                f"{decision.kind}{'-later' if counts_by_kind[decision.kind] > 2 else ''}", decision
            )
            return Choice(decision.options[-1])

        play_with_answers(game.play(wager, FixedDraws(f"{game.id}/{number}")), wager, choose_last_option)
    return tuple(decision_by_name.values())


def find_sample_outcomes(game: Game, theme: Theme, tries: int = 4000) -> SampleOutcomes:
    """Return outcomes for the pictures, found among the first ``tries`` games."""
    bet = max(game.bet_options)
    wager = game.build_wager(bet)
    outcome_by_kind: dict[str, Outcome] = {}
    sought_kind_count = 3 if game.header.family == "keno" else 4  # a draw of Keno has no step after its first
    for number in range(tries):
        outcome = _play_wager(game, f"{game.id}/{number}", wager)
        level = theme.find_celebration_level(outcome.returned_credits, bet)
        kind = (
            "big_win"
            if level >= 3
            else "small_win"
            if level
            else "loss"
            if not outcome.returned_credits
            else ""
        )
        steps = outcome.display.get("steps") or ()
        if len(steps) > 1:
            outcome_by_kind.setdefault("feature", outcome)
        elif kind:
            outcome_by_kind.setdefault(kind, outcome)
        if len(outcome_by_kind) == sought_kind_count:
            break
    return SampleOutcomes(
        outcome_by_kind.get("loss"),
        outcome_by_kind.get("small_win"),
        outcome_by_kind.get("big_win"),
        outcome_by_kind.get("feature"),
        find_decisions(game),
        find_doubled_outcome(game),
    )


def find_doubled_outcome(game: Game, tries: int = 400) -> Outcome | None:
    """Return the outcome of a game whose win was doubled once and then collected, or None if there is none."""
    if game.find_highest_win_after_double_up(1) == 1:
        return None
    wager = game.build_wager(max(game.bet_options))
    for number in range(tries):
        called_colours = list[str]()

        def double_once(decision: Decision, called_colours: list[str] = called_colours) -> Choice:
            doubles_up = decision.kind == "double_up" and not called_colours
            called_colours += ["red"] if doubles_up else []
            return Choice("red" if doubles_up else decision.options[0])

        outcome = play_with_answers(game.play(wager, FixedDraws(f"{game.id}/{number}")), wager, double_once)
        if called_colours and outcome.returned_credits:
            return outcome
    return None


def show_outcome(view: View, game: GameView, outcome: Outcome) -> View:
    """Return the screen at the start of a game with this outcome."""
    assert view.snapshot is not None
    bet_credits = max(game.bet_options)
    playing_snapshot = view.snapshot.model_copy(
        update={"state": "playing", "accepted_inputs": ("language", "service")}
    )
    outcome_message = GameOutcome(
        play_id=game.id,
        game_id=game.id,
        bet_credits=bet_credits,
        returned_credits=outcome.returned_credits,
        paid_cents=outcome.returned_credits * UNIT_CENTS,
        display=outcome.to_json()["display"],
    )
    return apply_message(apply_message(view, playing_snapshot), outcome_message)


def show_decision(idle_view: View, game: GameView, decision: Decision) -> View:
    """Return the screen at the moment when the game asks for this decision."""
    message = DecisionRequest(
        play_id=game.id, kind=decision.kind, options=decision.options, display=dict(decision.prompt)
    )
    language = idle_view.snapshot.language if idle_view.snapshot else "en"
    playing_snapshot = build_snapshot(
        game, language, state="playing", accepted_inputs=("language", "service")
    )
    return apply_message(apply_message(idle_view, playing_snapshot), message)


def iter_game_scenes(
    games: tuple[GameView, ...],
    game: GameView,
    sample_outcomes: SampleOutcomes,
    language: str,
    theme: Theme,
    layout: Layout,
) -> Iterator[tuple[str, View]]:
    """Yield (name, view) for each scene of one game in a layout; ``sample_outcomes`` are the outcomes to show."""
    idle_view = build_idle_view(games, game, language)
    yield "idle", idle_view
    yield (
        "attract",
        replace(
            build_idle_view(games, game, language, credit_cents=0, accepted_inputs=("language",)), now=160.0
        ),
    )
    for name, outcome in (
        ("loss", sample_outcomes.loss),
        ("win", sample_outcomes.small_win),
        ("big-win", sample_outcomes.big_win),
    ):
        if outcome is not None:
            yield from _iter_outcome_scenes(idle_view, game, outcome, name, theme)
    yield from _iter_feature_scenes(idle_view, game, sample_outcomes, theme)
    for number, decision in enumerate(sample_outcomes.decisions):
        view = show_decision(idle_view, game, decision)
        timeline = build_view_timeline(view, theme)
        assert timeline is not None
        yield (
            f"asks-{decision.kind}-{number + 1}",
            replace(view, now=100.0 + timeline.roll_up_end_seconds + 0.1),
        )
    if sample_outcomes.doubled is not None:
        view = show_outcome(idle_view, game, sample_outcomes.doubled)
        timeline = build_view_timeline(view, theme)
        assert timeline is not None
        last_step = timeline.steps[-1]
        for part, share in (("turning", 0.3), ("turned", 1.02)):
            yield (
                f"double-up-{part}",
                replace(
                    view,
                    now=100.0
                    + last_step.start_seconds
                    + (last_step.last_stop_seconds - last_step.start_seconds) * share,
                ),
            )
    yield from _iter_level_scenes(idle_view, game, sample_outcomes, theme)
    yield from _iter_prize_scenes(idle_view, game, sample_outcomes, theme)
    if is_keno_game(game):
        yield "marking", _mark_keno_cards(idle_view, game, theme)
        if layout.is_telephone:
            for number in (1, 2):
                yield (
                    f"slip-{number}",
                    replace(
                        _mark_keno_cards(idle_view, game, theme),
                        player_page=PlayerPage.KENO_SLIP,
                        sheet_index=number - 1,
                    ),
                )
    recall_pages = [
        (f"recall-{i + 1}", build_recall_page(game, decision, i + 1))
        for i, decision in enumerate(sample_outcomes.decisions[:1])
    ]
    ended_outcome = sample_outcomes.doubled or sample_outcomes.feature or sample_outcomes.small_win
    recall_pages += (
        [("recall-outcome", build_recall_page(game, ended_outcome, 3))] if ended_outcome is not None else []
    )
    yield from iter_page_scenes(idle_view, iter(recall_pages), theme)
    for sheet in range(
        len(list_help_pages(DrawingContext(Painter(theme), Texts(language), layout, idle_view)))
    ):
        view, _ = apply_action(idle_view, Action("help"), theme)
        yield f"help-{sheet + 1}", replace(view, sheet_index=sheet)


def _iter_feature_scenes(
    idle_view: View, game: GameView, sample_outcomes: SampleOutcomes, theme: Theme
) -> Iterator[tuple[str, View]]:
    """Yield the first steps of a game with a feature, the cards that announce features, and the last step."""
    if sample_outcomes.feature is None:
        return
    view = show_outcome(idle_view, game, sample_outcomes.feature)
    timeline, presentation = build_view_timeline(view, theme), view.presentation
    assert timeline is not None
    assert presentation is not None
    for i, step in enumerate(timeline.steps[:4]):
        yield f"feature-{i + 1}", replace(view, now=100.0 + step.last_stop_seconds + 0.3)
    title_seconds = [
        step.title_card_start_seconds
        for i, step in enumerate(timeline.steps)
        if has_feature_title_card(presentation, i)
    ]
    for i, start_seconds in enumerate(title_seconds[:2]):
        yield f"feature-title-{i + 1}", replace(view, now=100.0 + start_seconds + 1.0)
    yield "feature-closing", replace(view, now=100.0 + timeline.last_stop_seconds + 0.6)


def _mark_keno_cards(idle_view: View, game: GameView, theme: Theme) -> View:
    """Return a view of two marked keno cards, the second in pairs."""
    view = idle_view
    sizes = list_permitted_spot_counts(game)
    touches: list[tuple[str, int | None]] = [("mark", 7 * i + 3) for i in range(min(sizes))]
    touches.append(("new_card", None))
    for pair in ((10, 20), (30, 40), (50, 60)):
        touches += [("mark", number) for number in pair] + [("new_group", None)]
    for name, value in touches[:-1]:
        view, _ = apply_action(replace(view, now=view.now + 0.1), Action(name, value), theme)
    return view


def _iter_level_scenes(
    idle_view: View, game: GameView, sample_outcomes: SampleOutcomes, theme: Theme
) -> Iterator[tuple[str, View]]:
    """Yield the scenes of progressive levels: with values that are not up to date, and of a level being won."""
    level_views = build_level_views(game)
    if not level_views or idle_view.snapshot is None:
        return
    for status in ("stale", "down"):
        yield (
            f"levels-{status}",
            apply_message(
                idle_view,
                idle_view.snapshot.model_copy(update={"progressives": build_level_views(game, status)}),
            ),
        )
    outcome = sample_outcomes.feature or sample_outcomes.big_win or sample_outcomes.small_win
    if outcome is None:
        return
    view = show_outcome(idle_view, game, outcome)
    assert view.presentation is not None
    for name, cents in (("won", level_views[0].amount_cents), ("confirming", None)):
        level_win = ProgressiveWin(
            id=level_views[0].id, level=level_views[0].level, names=level_views[0].names, amount_cents=cents
        )
        win_cents = view.presentation.outcome.paid_cents + (cents or 0)
        outcome_message = view.presentation.outcome.model_copy(
            update={"progressives": (level_win,), "paid_cents": win_cents}
        )
        won_view = replace(view, presentation=replace(view.presentation, outcome=outcome_message))
        timeline = build_view_timeline(won_view, theme)
        assert timeline is not None
        yield (
            f"levels-{name}",
            replace(won_view, now=100.0 + (timeline.last_stop_seconds + timeline.roll_up_end_seconds) / 2),
        )


def _iter_prize_scenes(
    idle_view: View, game: GameView, sample_outcomes: SampleOutcomes, theme: Theme
) -> Iterator[tuple[str, View]]:
    """Yield the scene of a prize in kind being won."""
    stated_prizes = game.presentation.get("merchandise") or ()
    if not stated_prizes or sample_outcomes.small_win is None:
        return
    view = show_outcome(idle_view, game, sample_outcomes.small_win)
    assert view.presentation is not None
    first_prize = stated_prizes[0]
    prize = PrizeInKind(
        id=first_prize["id"], names=first_prize["name"], value_cents=first_prize["value_cents"]
    )
    outcome_message = view.presentation.outcome.model_copy(update={"prizes": (prize,)})
    for name, cents in (("beside-a-win", outcome_message.paid_cents), ("alone", 0)):
        shown_outcome = outcome_message.model_copy(update={"paid_cents": cents})
        won_view = replace(view, presentation=replace(view.presentation, outcome=shown_outcome))
        timeline = build_view_timeline(won_view, theme)
        assert timeline is not None
        yield (
            f"prize-{name}",
            replace(won_view, now=100.0 + (timeline.last_stop_seconds + timeline.roll_up_end_seconds) / 2),
        )


def _iter_outcome_scenes(
    idle_view: View, game: GameView, outcome: Outcome, name: str, theme: Theme
) -> Iterator[tuple[str, View]]:
    view = show_outcome(idle_view, game, outcome)
    timeline = build_view_timeline(view, theme)
    assert timeline is not None
    if name == "loss":
        yield "spin", replace(view, now=100.9)
        return
    yield (
        f"{name}-rolling",
        replace(view, now=100.0 + (timeline.last_stop_seconds + timeline.roll_up_end_seconds) / 2),
    )
    settled_view = replace(view, now=100.0 + timeline.end_seconds)
    win_cents = outcome.returned_credits * UNIT_CENTS
    settled_view = apply_message(
        settled_view,
        build_snapshot(
            game, idle_view.snapshot.language if idle_view.snapshot else "en", paid_cents=win_cents
        ),
    )
    yield f"{name}-after", replace(settled_view, now=100.0 + timeline.end_seconds + 3.2)
