"""The feature sheets of a game: Keno, wheel, pick, hold-and-spin, free games, double-up, levels.

Every sheet is data of one shape, ``{"sheet", "facts", "columns", "rows"}``, so that every printed form
handles all of them alike. Cells are texts, whole numbers, or an exact figure as :func:`exact` makes it.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from paytables import Analysis, BetAnalysis, Game
from paytables.blackjack.rules import BlackjackRules
from paytables.keno.figures import count_catches
from paytables.keno.rules import KenoRules
from paytables.keno.schema import BallBonus, KenoDefinition
from paytables.reels.build import ModeStages
from paytables.reels.enumerated import Holds
from paytables.reels.rules import ReelRules
from paytables.reels.schema import DoubleUp, HoldStage, Item, PickStage, ReelsStage
from paytables.reels.schema import Progressive as ReelLevel
from paytables.wheel.rules import WheelRules
from paytables.wheel.schema import WheelDefinition
from paytables.wording import format_count
from tools.lab.parsheet.chart import build_chart_sheet
from tools.lab.parsheet.figures import to_exact_data

#: One sheet as JSON data.
Sheet = dict[str, Any]
#: Labels with their values.
Facts = list[tuple[str, Any]]


def build_feature_sheets(game: Game, analysis: Analysis) -> list[Sheet]:
    """Return one sheet per feature of the game, in the usual reading order."""
    rules = game.rules
    if isinstance(rules, KenoRules):
        return [
            *_iter_keno_sheets(rules.definition),
            *_build_level_sheets(_list_keno_levels(rules.definition), analysis),
        ]
    if isinstance(rules, WheelRules):
        return [_build_wheel_sheet(rules.definition)]
    if isinstance(rules, BlackjackRules):
        return [build_chart_sheet(rules.definition)]
    if not isinstance(rules, ReelRules):
        return []
    first = next(iter(rules.stages.values()))
    sheets = [
        _build_stage_sheet(first, name, table)
        for name, table in rules.definition.stage.items()
        if name != first.mode.stage
    ]
    sheets += [
        _build_holding_sheet(f"{made.mode.id}, {name}", stage)
        for made in rules.stages.values()
        for name in rules.definition.stage
        if isinstance(stage := made.stage(name), Holds)
    ]
    sheets += _build_level_sheets(
        [_describe_reel_level(level) for level in rules.definition.progressive], analysis
    )
    if rules.definition.double_up is not None:
        sheets.append(_build_double_up_sheet(rules.definition.double_up, analysis))
    return sheets


def _build_sheet(
    name: str, facts: Facts, columns: Sequence[str] = (), rows: Sequence[Sequence[Any]] = ()
) -> Sheet:
    """Return one sheet of a PAR sheet as JSON data, without facts that have no value."""
    shown_facts = [[label, value] for label, value in facts if value not in (None, "", ())]
    return {
        "sheet": name,
        "facts": shown_facts,
        "columns": list(columns),
        "rows": [list(row) for row in rows],
    }


# ---------------------------------------------------------------- Keno
def _iter_keno_sheets(definition: KenoDefinition) -> Iterator[Sheet]:
    """Yield the sheets of a keno game's pay tables and features."""
    field, marks = definition.field, definition.marks
    facts: Facts = [
        ("field", f"{field.drawn} of {field.numbers} numbers, without replacement"),
        ("draws that differ", definition.cycle),
        ("stakes, credits a way", ", ".join(map(str, marks.stakes))),
        ("most selections a ticket", marks.selections),
        ("most groups a way selection", marks.groups),
        ("most draws a ticket", marks.draws),
        ("most a ticket may cost a draw, credits", marks.cost),
        ("most a ticket is paid a draw, credits", definition.paid_max),
    ]
    for bonus in definition.bonus:
        fee = (
            f"bought for {format_count(bonus.fee, 'credit')} a credit staked"
            if bonus.fee
            else "part of every bet"
        )
        how = (
            f"ball {bonus.ball} on the way multiplies its win by {bonus.factor}"
            if isinstance(bonus, BallBonus)
            else "every win times "
            + ", ".join(f"{f} ({w} in {sum(bonus.weights.values())})" for f, w in bonus.weights.items())
        )
        facts.append((f"bonus {bonus.id}", f"{how}; {fee}"))
    yield _build_sheet("Keno", facts)
    for table in sorted(definition.table, key=lambda one: one.spots):
        rows = []
        back = Fraction(0)
        for catch in reversed(definition.possible(table.spots)):
            draws = count_catches(definition, table.spots, catch, 0, 0)
            odds, pay = Fraction(draws, definition.cycle), table.pays.get(catch, 0)
            back += odds * pay
            rows.append([catch, pay, draws, to_exact_data(odds), to_exact_data(odds * pay)])
        yield _build_sheet(
            f"Keno, {format_count(table.spots, 'spot')}",
            [("return of one credit, before bonuses and levels", to_exact_data(back))],
            ("catch", "pays a credit", "draws", "probability", "return"),
            rows,
        )


def _list_keno_levels(definition: KenoDefinition) -> list[tuple[str, Facts]]:
    """Return the facts of each Keno progressive level for the PAR sheet: id, then labels and values."""
    return [
        (
            level.id,
            [
                ("name", f"{level.name.en} / {level.name.fr}"),
                ("won by", f"a way of {format_count(level.spots, 'spot')} that catches {level.catch}"),
                ("stake of the way, credits", f"{level.stake}{' exactly' if level.linked else ' or more'}"),
                ("reset, credits", level.reset_credits),
                ("increment, share of each eligible wager", level.increment),
                ("kept by", "a controller, for linked machines" if level.linked else "the machine"),
            ],
        )
        for level in definition.progressive
    ]


# ---------------------------------------------------------------- wheels
def _build_wheel_sheet(definition: WheelDefinition) -> Sheet:
    """Return the PAR sheet's part about a wheel: segments, turns, stakes, and the odds of each symbol."""
    parts = definition.wheel.parts
    facts: Facts = [
        ("equal parts", len(parts)),
        ("in order", " ".join(parts)),
        ("fewest turns of a valid spin", definition.wheel.revolutions),
        ("spinning again multiplies by at most", definition.wheel.most_factor),
        ("stakes, credits an area", ", ".join(map(str, definition.layout.stakes))),
    ]
    rows = [
        [
            symbol.id,
            parts.count(symbol.id),
            to_exact_data(Fraction(parts.count(symbol.id), len(parts))),
            f"again, prizes times {symbol.again}" if symbol.again else "",
            ", ".join(
                f"{area.id} {area.pays[symbol.id]}" for area in definition.area if symbol.id in area.pays
            ),
        ]
        for symbol in definition.symbol
    ]
    return _build_sheet(
        "Wheel", facts, ("symbol", "parts", "probability", "spun", "pays a credit, by area"), rows
    )


# ---------------------------------------------------------------- stages of a reel game
def _build_stage_sheet(stages: ModeStages, name: str, table: Any) -> Sheet:
    """Return the PAR sheet's part about one bonus stage of a reel game."""
    memory = stages.memory[name]
    if isinstance(table, ReelsStage):
        facts: Facts = [
            ("kind", "reels"),
            ("multiplier of every prize", table.multiplier),
            (
                "multipliers of a series",
                ", ".join(map(str, memory.multipliers)) if len(memory.multipliers) > 1 else "",
            ),
            ("moved on by", table.advance if len(memory.multipliers) > 1 else ""),
            ("most runs of a series", memory.most_runs),
            ("symbols that fill their reel", ", ".join(table.expand)),
            ("symbol that sticks", table.sticky),
            ("multipliers of the falls", ", ".join(map(str, table.cascade))),
            ("reels may be held", "yes" if table.player_holds else ""),
        ]
        return _build_sheet(_format_title(name, table), facts)
    facts = [("kind", {"pick": "pick", "wheel": "wheel", "hold": "hold-and-spin"}[table.kind])]
    if isinstance(table, PickStage):
        boxes = table.boxes or sum(item.count for item in table.items)
        ends = any(item.end for item in table.items)
        facts += [
            ("boxes", boxes),
            ("most picks", table.picks or boxes),
            ("what a box holds", "a draw of its own" if table.boxes else "drawn from what is left"),
            ("ends", "with the item that ends it, or the picks" if ends else "with the picks"),
        ]
    if isinstance(table, HoldStage):
        facts += [
            ("cells", table.cells),
            ("respins, and again after a new coin", table.respins),
            ("an empty cell lands a coin", to_exact_data(Fraction(*table.coin))),
            (
                "a full board",
                "" if table.full is None else _format_item_worth(stages, table.full, table.unit),
            ),
        ]
    total = sum(item.count for item in table.items)
    rows = [
        [item.id or (item.name.en if item.name else ""), _format_item_worth(stages, item, table.unit), item.count,
         to_exact_data(Fraction(item.count, total))]
        for item in table.items
    ]  # fmt: skip
    return _build_sheet(_format_title(name, table), facts, ("item", "worth", "count", "share"), rows)


def _build_holding_sheet(name: str, stage: Holds) -> Sheet:
    """Return the PAR sheet's part about a stage in which reels or cards are held.

    It states what the best strategy holds, and the returns of the best and the worst strategy.
    """
    strategies = stage.count_holds()
    best = sum((paid for _, paid in strategies.values()), Fraction(0))
    facts: Facts = [
        ("who decides", "the player, after the first spin; the screen shows what is best"),
        ("chance decides", "the first spin, and the second of every reel not held"),
        ("mean credits of the best strategy", to_exact_data(best)),
        ("mean credits of the worst", to_exact_data(stage.worst)),
    ]
    rows = [
        [
            " ".join(str(x + 1) for x in range(len(stage.reels.heights)) if mask >> x & 1) or "none",
            to_exact_data(odds),
            to_exact_data(paid / odds),
        ]
        for mask, (odds, paid) in strategies.items()
    ]
    return _build_sheet(
        f"Reels held at bet {name}", facts, ("reels held", "how often", "mean credits then"), rows
    )


def _format_title(name: str, table: Any) -> str:
    """Return the title of a stage's sheet: the stage's id, and its name if it has one."""
    return f"Feature {name}" + (f", {table.name.en}" if table.name is not None else "")


def _format_item_worth(stages: ModeStages, item: Item, unit: str) -> str:
    """Return the value of an item of a bonus stage at level 1 of the smallest bet, as text."""
    words = []
    if item.credits:
        words.append(format_count(item.credits * (stages.mode.cost if unit == "bet" else 1), "credit"))
    for award in item.gives:
        kind, name = (
            next((k, n) for k, n in award.list_references() if n is not None)
            if award.step is None
            else ("step", "")
        )
        words.append(f"{kind} {name}".strip() + (f" x {award.times}" if award.times != 1 else ""))
    return ", ".join([*words, *(["the end"] if item.end else [])])


# ---------------------------------------------------------------- progressive levels
def _describe_reel_level(level: ReelLevel) -> tuple[str, Facts]:
    """Return the facts of a reel game's progressive level for the PAR sheet: id, then labels and values."""
    won = "a prize that gives it"
    if level.one_in is not None:
        won = f"chance of its own, 1 in {format_count(level.one_in, 'game')}"
    if level.ceiling_credits is not None:
        won = "its meter reaching a secret amount, uniform from reset to ceiling"
    return (
        level.id,
        [
            ("name", f"{level.name.en} / {level.name.fr}"),
            ("won by", won),
            ("reset, credits at bet level 1", level.reset_credits),
            ("ceiling, credits at bet level 1", level.ceiling_credits),
            ("increment, share of each wager", level.increment),
            ("kept by", "a controller, for linked machines" if level.linked else "the machine"),
        ],
    )


def _build_level_sheets(levels: Sequence[tuple[str, Facts]], analysis: Analysis) -> list[Sheet]:
    """Return the sheets of the progressive levels, with their shares of each bet's return."""
    columns = (
        "bet",
        "stake, credits",
        "probability",
        "return at reset",
        "increment",
        "return of both",
        "break-even, credits",
    )
    sheets = []
    for name, facts in levels:
        rows = [
            [
                bet.bet,
                bet.cost_credits,
                to_exact_data(share.rate),
                to_exact_data(share.rtp_at_reset),
                to_exact_data(share.increment),
                to_exact_data(share.rtp_at_reset + share.increment),
                to_exact_data(share.break_even_credits),
            ]
            for bet in analysis.bets
            for share in bet.progressives
            if share.level == name and share.rate
        ]
        sheets.append(_build_sheet(f"Progressive level {name}", facts, columns, rows))
    return sheets


# ---------------------------------------------------------------- double-up
def _build_double_up_sheet(table: DoubleUp, analysis: Analysis) -> Sheet:
    """Return the PAR sheet's part about the double-up: rules, limits, and the effect on highest win and variance."""
    half = Fraction(1, 2)
    facts: Facts = [
        ("each round", "red or black called, one card shown: right doubles the win, wrong loses it"),
        ("return of a round", to_exact_data(Fraction(1))),
        ("best strategy", "every way to play returns the same; the win may be kept before any round"),
        ("most rounds", table.most_rounds),
        ("most a round may come to, credits", table.most_credits),
    ]
    for bet in analysis.bets:
        if bet.doubled is not None:
            facts.append((f"bet {bet.bet}, level 1: most a game can come to, credits", bet.win_max_credits))
            facts.append(
                (f"bet {bet.bet}, level 1: variance, always doubled", to_exact_data(bet.doubled.variance))
            )
            if bet.doubled.distribution is not None:
                wins = bet.doubled.distribution.compute_chance_of_at_least(1)
                facts.append((f"bet {bet.bet}, level 1: hit frequency, always doubled", to_exact_data(wins)))
    facts += [
        (
            f"bet {bet.bet}, level 1: games whose win may be doubled",
            to_exact_data(_compute_double_up_chance(bet, table.most_credits)),
        )
        for bet in analysis.bets
        if bet.distribution is not None
    ]
    rows = [
        [n, to_exact_data(half), to_exact_data(half**n), 2**n, to_exact_data(half**n * 2**n)]
        for n in range(1, table.most_rounds + 1)
    ]
    columns = ("round", "probability of it", "of all so far", "the win times", "return of the win")
    return _build_sheet("Double-up", facts, columns, rows)


def _compute_double_up_chance(bet: BetAnalysis, highest_credits: int) -> Fraction:
    """Return the chance of a win of at least one credit that, when doubled, is at most ``highest_credits``."""
    assert bet.distribution is not None  # checked by the caller
    counts = bet.distribution.counts
    return Fraction(
        sum(n for win, n in counts.items() if win and 2 * win <= highest_credits), bet.distribution.total
    )
