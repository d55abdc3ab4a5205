"""The feature sheets of a reel game: bonus stages, held reels, progressive levels, double-up."""

from collections import Counter
from fractions import Fraction
from typing import Any

from paytables import Analysis, BetAnalysis
from paytables.reels.build import ModeStages
from paytables.reels.enumerated import CascadingReels, HeldReels
from paytables.reels.rules import ReelRules
from paytables.reels.schema import (
    BonusItemDefinition,
    DoubleUp,
    HoldStage,
    PickStage,
    ReelProgressiveLevel,
    ReelsStage,
)
from paytables.reels.spin import ReelSpinStage
from paytables.wording import format_count
from tools.lab.parsheet.figures import to_exact_data
from tools.lab.parsheet.sheet_data import LabelledValues, SheetData, build_level_sheets, build_sheet_data


def build_sheets(rules: ReelRules, analysis: Analysis) -> list[SheetData]:
    """Return the sheets of the stages, held reels, progressive levels and double-up, in this order."""
    first_mode_stages = next(iter(rules.stages.values()))
    sheets = [
        _build_stage_sheet(first_mode_stages, name, definition)
        for name, definition in rules.definition.stages.items()
        if name != first_mode_stages.mode.first_stage
    ]
    sheets += [
        _build_held_reels_sheet(f"{mode_stages.mode.id}, {name}", stage)
        for mode_stages in rules.stages.values()
        for name in rules.definition.stages
        if isinstance(stage := mode_stages.get_stage(name), HeldReels)
    ]
    sheets += build_level_sheets(
        [_describe_reel_level(level) for level in rules.definition.progressive_levels], analysis
    )
    if rules.definition.double_up is not None:
        sheets.append(_build_double_up_sheet(rules.definition.double_up, analysis))
    return sheets


def build_strip_sheets(rules: ReelRules) -> list[dict[str, Any]]:
    """Return every reel of every stage: its stops in order, its window size and its symbol counts."""
    ids = [symbol.id for symbol in rules.definition.symbols]
    sheets = []
    for name, stage in rules.list_shown_stages().items():
        if not isinstance(stage, ReelSpinStage | CascadingReels | HeldReels):
            continue
        reels = stage.reels
        for x, (stops, weights) in enumerate(zip(reels.strips, reels.stop_weights, strict=True)):
            strip = [ids[symbol] for symbol in stops]
            sheets.append(
                {
                    "stage": name,
                    "reel": x + 1,
                    "stops": len(strip),
                    "window": reels.heights[x],
                    "strip": strip,
                    "weights": None if set(weights) == {1} else list(weights),
                    "counts": dict(sorted(Counter(strip).items())),
                }
            )
    return sheets


def describe_double_up(rules: ReelRules) -> dict[str, Any] | None:
    """Return the rules of a game's double-up as JSON data, or None if it has none."""
    double_up = rules.definition.double_up
    return None if double_up is None else double_up.model_dump(by_alias=True)


def _build_stage_sheet(stages: ModeStages, name: str, definition: Any) -> SheetData:
    """Return the PAR sheet's part about one bonus stage of a reel game; ``definition`` is that stage's definition."""
    series_rules = stages.series_rules[name]
    if isinstance(definition, ReelsStage):
        labelled_values: LabelledValues = [
            ("kind", "reels"),
            ("multiplier of every prize", definition.multiplier),
            (
                "multipliers of a series",
                ", ".join(map(str, series_rules.multipliers)) if len(series_rules.multipliers) > 1 else "",
            ),
            (
                "what advances the multiplier",
                definition.multiplier_trigger if len(series_rules.multipliers) > 1 else "",
            ),
            ("most runs of a series", series_rules.runs_max),
            ("symbols that fill their reel", ", ".join(definition.expanding_symbols)),
            ("sticky symbol", definition.sticky_symbol),
            ("multipliers of successive cascades", ", ".join(map(str, definition.window_multipliers))),
            ("reels may be held", "yes" if definition.can_player_hold else ""),
        ]
        return build_sheet_data(_format_title(name, definition), labelled_values)
    labelled_values = [("kind", {"pick": "pick", "wheel": "wheel", "hold": "hold-and-spin"}[definition.kind])]
    if isinstance(definition, PickStage):
        boxes = definition.box_count or sum(item.count for item in definition.items)
        has_ending_item = any(item.ends_picking for item in definition.items)
        labelled_values += [
            ("boxes", boxes),
            ("most picks", definition.picks_max or boxes),
            (
                "contents of a box",
                "drawn independently" if definition.box_count else "drawn without replacement",
            ),
            (
                "picking ends",
                "at an ending item or after the last pick" if has_ending_item else "after the last pick",
            ),
        ]
    if isinstance(definition, HoldStage):
        labelled_values += [
            ("cells", definition.cell_count),
            ("respins (reset by each new coin)", definition.respin_count),
            ("probability that an empty cell gets a coin", to_exact_data(Fraction(*definition.coin_chance))),
            (
                "prize of a full board",
                ""
                if definition.full_board_prize is None
                else _format_item_worth(stages, definition.full_board_prize, definition.pay_unit),
            ),
        ]
    total = sum(item.count for item in definition.items)
    rows = [
        [item.id or (item.name.en if item.name else ""), _format_item_worth(stages, item, definition.pay_unit),
         item.count, to_exact_data(Fraction(item.count, total))]
        for item in definition.items
    ]  # fmt: skip
    return build_sheet_data(
        _format_title(name, definition), labelled_values, ("item", "worth", "count", "share"), rows
    )


def _build_held_reels_sheet(name: str, stage: HeldReels) -> SheetData:
    """Return the PAR sheet's part about a stage in which the player may hold reels.

    It states what the best strategy holds, and the returns of the best and the worst strategy.
    """
    rates_by_held_mask = stage.compute_hold_rates()
    best_mean = sum((mean_contribution for _, mean_contribution in rates_by_held_mask.values()), Fraction(0))
    labelled_values: LabelledValues = [
        ("who decides", "the player, after the first spin; the screen shows what is best"),
        ("what chance decides", "the first spin, and the second of every reel not held"),
        ("mean credits of the best strategy", to_exact_data(best_mean)),
        ("mean credits of the worst strategy", to_exact_data(stage.worst_mean)),
    ]
    rows = [
        [
            " ".join(str(x + 1) for x in range(len(stage.reels.heights)) if mask >> x & 1) or "none",
            to_exact_data(chance),
            to_exact_data(mean_contribution / chance),
        ]
        for mask, (chance, mean_contribution) in rates_by_held_mask.items()
    ]
    return build_sheet_data(
        f"Reels held at bet {name}",
        labelled_values,
        ("reels held", "probability", "mean credits if held"),
        rows,
    )


def _format_title(name: str, definition: Any) -> str:
    """Return the title of a stage's sheet: the stage's id, and its name if it has one."""
    return f"Feature {name}" + (f", {definition.name.en}" if definition.name is not None else "")


def _format_item_worth(stages: ModeStages, item: BonusItemDefinition, unit: str) -> str:
    """Return as text what an item of a bonus stage is worth for the smallest bet at bet level 1."""
    parts = []
    if item.credits:
        parts.append(
            format_count(item.credits * (stages.mode.cost_credits if unit == "bet" else 1), "credit")
        )
    for award in item.awards:
        kind, name = (
            next((k, n) for k, n in award.list_references() if n is not None)
            if award.multiplier_steps is None
            else ("step", "")
        )
        parts.append(f"{kind} {name}".strip() + (f" x {award.run_count}" if award.run_count != 1 else ""))
    return ", ".join([*parts, *(["the end"] if item.ends_picking else [])])


def _describe_reel_level(level: ReelProgressiveLevel) -> tuple[str, LabelledValues]:
    """Return the facts of a reel game's progressive level for the PAR sheet: id, then labels and values."""
    won_by = "a prize that gives it"
    if level.one_in is not None:
        won_by = f"chance of its own, 1 in {format_count(level.one_in, 'game')}"
    if level.ceiling_credits is not None:
        won_by = "its amount reaching a secret amount, uniform from reset to ceiling"
    return (
        level.id,
        [
            ("name", f"{level.name.en} / {level.name.fr}"),
            ("won by", won_by),
            ("reset, credits at bet level 1", level.reset_credits),
            ("ceiling, credits at bet level 1", level.ceiling_credits),
            ("increment, share of each wager", level.increment),
            ("stored by", "a controller, for linked machines" if level.is_linked else "the machine"),
        ],
    )


def _build_double_up_sheet(double_up: DoubleUp, analysis: Analysis) -> SheetData:
    """Return the PAR sheet's part about the double-up: rules, limits, and the effect on highest win and variance."""
    half = Fraction(1, 2)
    labelled_values: LabelledValues = [
        ("each round", "red or black called, one card shown: right doubles the win, wrong loses it"),
        ("return of a round", to_exact_data(Fraction(1))),
        ("best strategy", "every way to play returns the same; the win may be kept before any round"),
        ("most rounds", double_up.rounds_max),
        ("highest doubled win, credits", double_up.win_max_credits),
    ]
    for bet in analysis.bets:
        if bet.double_up is not None:
            labelled_values.append(
                (
                    f"bet {bet.bet}, bet level 1: highest win of a game, credits",
                    bet.max_win_credits_with_double_up,
                )
            )
            labelled_values.append(
                (
                    f"bet {bet.bet}, bet level 1: variance, always doubled",
                    to_exact_data(bet.double_up.variance),
                )
            )
            if bet.double_up.distribution is not None:
                wins = bet.double_up.distribution.compute_chance_of_at_least(1)
                labelled_values.append(
                    (f"bet {bet.bet}, bet level 1: hit frequency, always doubled", to_exact_data(wins))
                )
    labelled_values += [
        (
            f"bet {bet.bet}, bet level 1: games whose win may be doubled",
            to_exact_data(_compute_double_up_chance(bet, double_up.win_max_credits)),
        )
        for bet in analysis.bets
        if bet.distribution is not None
    ]
    rows = [
        [n, to_exact_data(half), to_exact_data(half**n), 2**n, to_exact_data(half**n * 2**n)]
        for n in range(1, double_up.rounds_max + 1)
    ]
    columns = (
        "round",
        "probability of winning it",
        "probability of winning every round so far",
        "win multiplied by",
        "return of the win",
    )
    return build_sheet_data("Double-up", labelled_values, columns, rows)


def _compute_double_up_chance(bet: BetAnalysis, win_max_credits: int) -> Fraction:
    """Return the probability that a game wins an amount that may be doubled.

    This is a win of at least one credit whose double is at most ``win_max_credits``.
    """
    assert bet.distribution is not None  # checked by the caller
    counts = bet.distribution.case_count_by_win
    return Fraction(
        sum(n for win, n in counts.items() if win and 2 * win <= win_max_credits), bet.distribution.case_count
    )
