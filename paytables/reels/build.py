"""Conversion of a reel game's checked definition to playable stages, with checks that the model alone cannot do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paytables.errors import DefinitionError
from paytables.reels.bonus import BonusItem, HoldBonus, PickBonus, WheelBonus
from paytables.reels.chain import SeriesRules
from paytables.reels.enumerated import CascadingReels, HeldReels
from paytables.reels.reelbuild import ReelBuilder, build_awards
from paytables.reels.run import Stage, select_given_awards
from paytables.reels.schema import (
    AwardDefinition,
    BetMode,
    BonusItemDefinition,
    HoldStage,
    PickStage,
    ReelsDefinition,
    ReelsStage,
    WheelStage,
)
from paytables.reels.spin import ReelSpinStage
from paytables.reels.symbols import Symbols
from paytables.wording import format_count


def expand_inherited_stages(data: Mapping[str, Any], file: str) -> Mapping[str, Any]:
    """Return the definition with every stage that has ``like = "other"`` completed from that other stage.

    Missing keys are copied. A stage that names no kind is a reel stage. If the pays are inherited, ``like`` stays as a
    mark, so that pays which this stage cannot win are dropped later and named in the game's remarks. Raises
    :class:`DefinitionError` for a ``like`` that names no other stage, or leads back to its own stage.
    """
    stages = data.get("stage")
    if not isinstance(stages, Mapping):
        return data

    def expand_stage(name: str, descendants: tuple[str, ...]) -> dict[str, Any]:
        """Return the table of a stage with its inherited keys; ``descendants`` are the stages that inherit from it."""
        table = stages[name]
        if not isinstance(table, Mapping):
            raise DefinitionError(file, f"stage.{name}", "is not a table")
        parent = table.get("like")
        if parent is None:
            return dict(table)
        key = f"stage.{name}.like"
        if not isinstance(parent, str) or parent not in stages or parent == name:
            raise DefinitionError(file, key, f"{parent!r} is not the name of another stage")
        if parent in descendants:
            circle_text = " is like ".join([*descendants[descendants.index(parent) :], name, parent])
            raise DefinitionError(file, key, f"inherits from itself: {circle_text}")
        return {**expand_stage(parent, (*descendants, name)), **table}

    def get_stage_table(name: str) -> dict[str, Any]:
        """Return a stage's table with its kind and inherited keys; ``like`` stays only if its pays are inherited."""
        table = {"kind": "reels", **expand_stage(name, ())}
        if "pay" in stages[name] or table["kind"] != "reels":
            table.pop("like", None)
        return table

    return {**data, "stage": {name: get_stage_table(name) for name in stages}}


#: Maximum number of cells on which a sticky symbol may show: each set of stuck cells is a separate stage. There is no
#: limit for a stage with symbols that expand.
STICKY_CELLS_MAX = 12


@dataclass(slots=True)
class ModeStages:
    """The playable stages (reels, picks, wheels, hold-and-spin) of a reel game in one mode; a mode is a way to bet.

    A stage is built on first use, once for each start condition that occurs: the number of coins already
    locked, or the bit mask of the stuck cells.
    """

    definition: ReelsDefinition
    symbols: Symbols
    mode: BetMode
    """The way to bet for which the stages are built."""
    file: str
    series_rules: dict[str, SeriesRules] = field(default_factory=dict)
    """The rules of each stage's series, by the stage's id."""
    _built_stages: dict[tuple[str, int], Stage] = field(default_factory=dict)
    """The stages built so far, by id and start condition."""

    def __post_init__(self) -> None:
        for name, table in self.definition.stages.items():
            self.series_rules[name] = self._build_series_rules(name, table)

    def build_error(self, definition_key: str, reason: str) -> DefinitionError:
        """Return the error for a key of the definition; the caller raises it."""
        return DefinitionError(self.file, definition_key, reason)

    def get_stage(self, stage_name: str, start_condition: int = 0) -> Stage:
        """Return the playable stage for runs with this start condition; it is built on first use."""
        if (stage_name, start_condition) not in self._built_stages:
            self._built_stages[stage_name, start_condition] = self._build_stage(stage_name, start_condition)
        return self._built_stages[stage_name, start_condition]

    def _build_series_rules(self, stage_name: str, stage_definition: object) -> SeriesRules:
        """Return the rules of a stage's series, such as its multipliers.

        Raises :class:`DefinitionError`.
        """
        if not isinstance(stage_definition, ReelsStage):
            return SeriesRules()
        key = f"stage.{stage_name}"
        starts_itself = any(a.stage_id == stage_name for pay in stage_definition.pay_rows for a in pay.awards)
        series_rules = SeriesRules(
            multipliers=stage_definition.run_multipliers,
            advances_every_run=stage_definition.multiplier_trigger == "run",
            runs_max=stage_definition.runs_max,
            has_sticky_symbol=stage_definition.sticky_symbol is not None
            and stage_definition.stage_after_stick in {None, stage_name},
        )
        if starts_itself and not series_rules.is_memoryless and stage_definition.runs_max is None:
            raise self.build_error(
                key, "starts itself again and keeps state during its series: it needs `most_runs`"
            )
        if stage_definition.stage_after_stick is not None and stage_definition.sticky_symbol is None:
            raise self.build_error(f"{key}.then", "`then` needs `sticky`, because otherwise no symbol sticks")
        return series_rules

    def _build_stage(self, stage_name: str, start_condition: int) -> Stage:
        """Build one stage of the game, of any kind, from its table in the definition."""
        table = self.definition.stages[stage_name]
        if isinstance(table, ReelsStage):
            return self._build_reels_stage(stage_name, table, start_condition)
        items = tuple(
            self._build_item(f"stage.{stage_name}.items.{n}", item, table.pay_unit)
            for n, item in enumerate(table.items)
        )
        if isinstance(table, PickStage):
            return self._build_pick_stage(stage_name, table, items)
        if isinstance(table, WheelStage):
            return WheelBonus(stage_name, tuple(item for item in items for _ in range(item.count)))
        return self._build_hold_stage(stage_name, table, items, start_condition)

    def _build_reels_stage(
        self, stage_name: str, stage_definition: ReelsStage, start_condition: int
    ) -> Stage:
        """Build a reel stage: a plain spin, a cascade, or reels that the player may hold."""
        key = f"stage.{stage_name}"
        reels = ReelBuilder(
            stage_name, stage_definition, self.mode, self.symbols, start_condition, self.file
        ).build_reels()
        if stage_definition.sticky_symbol is not None:
            symbol = self.symbols.find_number(stage_definition.sticky_symbol, f"{key}.sticky")
            cells = sum(
                sum(any(c[row] == symbol for c in columns) for row in range(height))
                for columns, height in zip(reels.columns, reels.heights, strict=True)
            )
            if cells > STICKY_CELLS_MAX and not stage_definition.expanding_symbols:
                raise self.build_error(
                    f"{key}.sticky", f"can stick on {cells} cells, at most {STICKY_CELLS_MAX}"
                )
        if stage_definition.window_multipliers and stage_definition.can_player_hold:
            raise self.build_error(key, "a cascade and reels held by the player cannot be combined")
        if stage_definition.window_multipliers:
            if stage_definition.expanding_symbols or stage_definition.sticky_symbol:
                raise self.build_error(
                    f"{key}.cascade", "`cascade` cannot be combined with `expand` or `sticky`"
                )
            return CascadingReels(reels, self.symbols.symbol_ids, stage_definition.window_multipliers)
        if stage_definition.can_player_hold:
            if any(a.stage_id for pay in stage_definition.pay_rows for a in pay.awards):
                raise self.build_error(
                    f"{key}.player_holds",
                    "no prize may start a stage: the best holds must depend on the window alone",
                )
            return HeldReels(reels, self.symbols.symbol_ids)
        return ReelSpinStage(reels, self.symbols.symbol_ids)

    def _build_pick_stage(
        self, stage_name: str, stage_definition: PickStage, items: tuple[BonusItem, ...]
    ) -> PickBonus:
        """Build a pick stage. By default, the counts of the items add up to the boxes, and all boxes may be opened."""
        box_count = stage_definition.box_count or sum(item.count for item in items)
        pick_count = stage_definition.picks_max or box_count
        if pick_count > box_count:
            reason = f"{format_count(pick_count, 'pick')} from {format_count(box_count, 'box', 'boxes')}"
            raise self.build_error(f"stage.{stage_name}.picks", reason)
        if stage_definition.picks_max is None and not any(item.ends_picking for item in items):
            raise self.build_error(f"stage.{stage_name}", "must have `picks`, or an item with `end`")
        return PickBonus(
            stage_name, items, pick_count, box_count, with_replacement=stage_definition.box_count is not None
        )

    def _build_item(
        self, definition_key: str, item_definition: BonusItemDefinition, pay_unit: str
    ) -> BonusItem:
        """Convert an item of a bonus table to a playable box, segment or coin; ``definition_key`` is its key."""
        awards = build_awards(item_definition.awards, self.mode, None)
        if not item_definition.credits and not awards and not item_definition.ends_picking:
            raise self.build_error(definition_key, "must have credits, something it gives, or `end`")
        label = item_definition.id or (
            item_definition.name.en
            if item_definition.name
            else "+".join(a.name for a in awards) or str(item_definition.credits)
        )
        credits_ = item_definition.credits * (self.mode.cost_credits if pay_unit == "bet" else 1)
        return BonusItem(label, credits_, awards, item_definition.count, item_definition.ends_picking)

    def _build_hold_stage(
        self, stage_name: str, stage_definition: HoldStage, items: tuple[BonusItem, ...], start_condition: int
    ) -> HoldBonus:
        """Build a hold-and-spin stage. Raises :class:`DefinitionError`."""
        key = f"stage.{stage_name}"
        for n, item in enumerate(items):
            if select_given_awards(item.awards):
                raise self.build_error(
                    f"{key}.items.{n}", "a coin may give credits, a level or merchandise, but not a stage"
                )
        if start_condition > stage_definition.cell_count:
            raise self.build_error(
                key,
                f"starts with {format_count(start_condition, 'coin')}"
                f" on {format_count(stage_definition.cell_count, 'cell')}",
            )
        full_board_prize = (
            self._build_item(f"{key}.full", stage_definition.full_board_prize, stage_definition.pay_unit)
            if stage_definition.full_board_prize
            else None
        )
        return HoldBonus(
            stage_name,
            stage_definition.cell_count,
            stage_definition.respin_count,
            *stage_definition.coin_chance,
            items,
            full_board_prize,
            start_condition,
        )


def check_references(definition: ReelsDefinition, file: str) -> None:
    """Refuse references to what the definition does not define, and what it defines twice or never awards.

    This concerns stages, progressive levels, merchandise and modes. Raises :class:`DefinitionError`.
    """
    known_names = {
        "stage": list(definition.stages),
        "progressive": [level.id for level in definition.progressive_levels],
        "merchandise": [prize.id for prize in definition.merchandise],
        "bets.mode": [mode.id for mode in definition.bets.modes],
    }
    for key, ids in known_names.items():
        if len(set(ids)) != len(ids):
            raise DefinitionError(file, key, "two have the same id")

    def check_reference(key: str, kind: str, name: str | None) -> None:
        """Refuse the definition's entry at ``key`` if the game has nothing of this ``kind`` called ``name``.

        ``kind`` is a stage, a progressive level, merchandise or a mode.
        """
        if name is not None and name not in known_names[kind]:
            raise DefinitionError(file, key, f"no {kind} {name!r}")

    awards = _list_all_awards(definition)
    for key, award in awards:
        for kind, name in award.list_references():
            check_reference(key, kind, name)
    for mode in definition.bets.modes:
        check_reference(f"bets.mode.{mode.id}.stage", "stage", mode.first_stage)
    for name, table in definition.stages.items():
        check_reference(f"stage.{name}.then", "stage", getattr(table, "stage_after_stick", None))
    _check_merchandise_and_levels(
        definition, {n for _, award in awards for _, n in award.list_references()}, file
    )


def _check_merchandise_and_levels(
    definition: ReelsDefinition, given_names: set[str | None], file: str
) -> None:
    """Refuse merchandise that no prize awards, and progressive levels that are not hit in exactly one way.

    Refuse also a mystery level whose ceiling is not above its reset value, or to which no wager adds anything.
    """
    for prize in definition.merchandise:
        if prize.id not in given_names:
            raise DefinitionError(file, f"merchandise.{prize.id}", "no prize gives this merchandise")
    for level in definition.progressive_levels:
        key = f"progressive.{level.id}"
        hit_way_count = (
            (level.id in given_names) + (level.one_in is not None) + (level.ceiling_credits is not None)
        )
        if hit_way_count != 1:
            raise DefinitionError(
                file, key, "must be won in exactly one way: by a prize, `one_in` or `ceiling_credits`"
            )
        if level.ceiling_credits is not None:
            if level.ceiling_credits <= level.reset_credits:
                raise DefinitionError(file, f"{key}.ceiling_credits", "must be above reset_credits")
            if level.increment.startswith("0"):
                raise DefinitionError(
                    file,
                    f"{key}.increment",
                    "must be above 0 for a level with `ceiling_credits`, which is otherwise never won",
                )


def _list_all_awards(definition: ReelsDefinition) -> list[tuple[str, AwardDefinition]]:
    """Return (definition key, award) for every award in the reel game's definition."""
    awards: list[tuple[str, AwardDefinition]] = []
    for name, table in definition.stages.items():
        rows: Sequence[tuple[str, Any]]
        if isinstance(table, ReelsStage):
            rows = [(f"stage.{name}.pay.{n}", pay) for n, pay in enumerate(table.pay_rows)]
        else:
            rows = [(f"stage.{name}.items.{n}", item) for n, item in enumerate(table.items)]
            if isinstance(table, HoldStage) and table.full_board_prize is not None:
                rows = [*rows, (f"stage.{name}.full", table.full_board_prize)]
        awards += [(f"{key}.gives", award) for key, row in rows for award in row.awards]
    return awards
