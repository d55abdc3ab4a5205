"""A reel game as plain JSON for the screen; no rules of the game are here."""

from collections.abc import Mapping, Sequence
from itertools import chain, islice, product
from typing import Final

from paytables.contract import Json
from paytables.reels.bonus import BonusItem, HoldBonus, PickBonus, WheelBonus
from paytables.reels.build import ModeStages
from paytables.reels.enumerated import CascadingReels, HeldReels
from paytables.reels.run import Stage
from paytables.reels.schema import HoldStage, ReelsDefinition, ReelsStage
from paytables.reels.spin import ReelSpinStage
from paytables.reels.stage import ReelSet

#: How many windows are tried to find one that wins nothing. It limits the loading time of a game that always wins.
_IDLE_WINDOWS_TRIED_MAX: Final = 10_000


def build_presentation(definition: ReelsDefinition, stages: Mapping[str, ModeStages]) -> dict[str, Json]:
    """Return the data that a screen needs to draw a reel game: plain JSON without rules.

    ``stages`` has the stages of each mode, by its id. In the result, the first mode's first stage is at the top
    level, and all stages are under the key ``stages``.
    """
    ids = [s.id for s in definition.symbols]
    first_mode_stages = next(iter(stages.values()))
    stage_descriptions = {}
    for name, table in definition.stages.items():
        label = table.name.model_dump() if table.name else None
        stage_descriptions[name] = {
            "kind": table.kind,
            "name": label,
            **_describe_stage(first_mode_stages.get_stage(name), ids),
        }
        if "strips" in stage_descriptions[name]:
            stage_descriptions[name]["rest"] = list(_find_idle_stops(name, stages))
    bets = []
    for mode_stages in stages.values():
        mode = mode_stages.mode
        bets.append(
            {
                "mode": mode.id,
                "cost": mode.cost_credits,
                "lines": mode.line_count,
                "stage": mode.first_stage,
                "name": mode.name.model_dump() if mode.name else None,
                "pays": _list_pay_table_rows(mode_stages.get_stage(mode.first_stage)),
            }
        )
    return {
        **stage_descriptions[first_mode_stages.mode.first_stage],
        "symbols": {
            s.id: {"name": s.name.model_dump(), "multiplier": s.multiplier} for s in definition.symbols
        },
        "groups": {name: list(members) for name, members in definition.groups.items()},
        "names": _list_display_names(definition),
        "anywhere": _list_scatter_symbols(definition),
        "stages": stage_descriptions,
        "bets": bets,
        "levels": list(definition.bets.bet_levels),
        "progressives": [
            {"id": p.id, "name": p.name.model_dump(), "reset_credits": p.reset_credits, "linked": p.is_linked}
            for p in definition.progressive_levels
        ],
        "merchandise": [
            {
                "id": m.id,
                "name": m.name.model_dump(),
                "description": m.description.model_dump(),
                "value_cents": m.value_cents,
            }
            for m in definition.merchandise
        ],
        "double_up": definition.double_up.model_dump(by_alias=True) if definition.double_up else None,
    }


def _find_idle_stops(stage_name: str, stages: Mapping[str, ModeStages]) -> tuple[int, ...]:
    """Return the stops of a stage's reels before any game: the first stops where no bet wins.

    If every window that is tried wins, all stops are 0.
    """
    starting_modes = [
        mode_stages for mode_stages in stages.values() if mode_stages.mode.first_stage == stage_name
    ] or [next(iter(stages.values()))]
    reel_sets = [
        stage.reels
        for mode_stages in starting_modes
        if isinstance(stage := mode_stages.get_stage(stage_name), ReelSpinStage | CascadingReels | HeldReels)
    ]
    stops_by_reel = [[stop for stop, weight in enumerate(w) if weight] for w in reel_sets[0].stop_weights]
    # First try turning each reel x by x times the turn of reel 1: nearly every reel then changes from one try to the
    # next, so a window without a win soon turns up. Then try all windows.
    turned_stops = (
        tuple([stops[turn * x % len(stops)] for x, stops in enumerate(stops_by_reel, 1)])
        for turn in range(max(map(len, stops_by_reel)))
    )
    for stops in islice(chain(turned_stops, product(*stops_by_reel)), _IDLE_WINDOWS_TRIED_MAX):
        if all(not wins for _, wins in (reels.evaluate_stops(stops) for reels in reel_sets)):
            return stops
    return (0,) * len(stops_by_reel)


def _list_display_names(definition: ReelsDefinition) -> dict[str, Json]:
    """Return the display names of a reel game's prizes and items, by the id that an outcome uses for them."""
    name_by_id: dict[str, Json] = {}
    for table in definition.stages.values():
        if isinstance(table, ReelsStage):
            for pay in table.pay_rows:
                prize_id = pay.id or pay.symbol_or_group or " ".join(pay.pattern or ())
                if pay.name is not None:
                    name_by_id[prize_id] = pay.name.model_dump()
            continue
        items = [*table.items, table.full_board_prize] if isinstance(table, HoldStage) else table.items
        for item in items:
            if item is not None and item.name is not None:
                name_by_id[item.id or item.name.en] = item.name.model_dump()
    return name_by_id


def _list_scatter_symbols(definition: ReelsDefinition) -> list[str]:
    """Return the ids of the symbols or groups that some prize counts anywhere in the window."""
    tables = [table for table in definition.stages.values() if isinstance(table, ReelsStage)]
    return sorted(
        {
            str(pay.symbol_or_group)
            for table in tables
            for pay in table.pay_rows
            if pay.kind == "scatter" and pay.symbol_or_group
        }
    )


def _describe_stage(stage: Stage, ids: Sequence[str]) -> dict[str, Json]:
    """Return what a screen needs to draw one stage: its reels and pays, boxes, wheel segments or coins."""
    if isinstance(stage, ReelSpinStage | CascadingReels | HeldReels):
        return {**_describe_reels(stage.reels, ids), "pays": _list_pay_table_rows(stage)}
    if isinstance(stage, PickBonus):
        return {"boxes": stage.box_count, "picks": stage.pick_count, "items": _describe_items(stage.items)}
    if isinstance(stage, WheelBonus):
        return {"parts": _describe_items(stage.segments)}
    assert isinstance(stage, HoldBonus)  # the only remaining kind
    return {"cells": stage.cell_count, "respins": stage.respin_count, "coins": _describe_items(stage.items)}


def _describe_reels(reels: ReelSet, ids: Sequence[str]) -> dict[str, Json]:
    """Return what a screen needs to draw the reels: strips, heights, weights and lines."""
    lines: dict[int, list[Json]] = {}
    for component in reels.components:
        if component.kind == "line" and component.number not in lines:
            lines[component.number] = [list(cell) for cell in component.cells]
    has_one_cell_per_reel = all(
        [x for x, _ in cells] == list(range(len(reels.heights))) for cells in lines.values()
    )
    return {
        "strips": [[ids[s] for s in strip] for strip in reels.strips],
        "heights": list(reels.heights),
        "weights": [list(w) if set(w) != {1} else None for w in reels.stop_weights],
        "lines": [[row for _, row in cells] for cells in lines.values()] if has_one_cell_per_reel else [],
        "line_cells": list(lines.values()),
        "multiplier": reels.multiplier,
    }


def _describe_items(items: Sequence[BonusItem]) -> list[dict[str, Json]]:
    """Return a bonus stage's boxes, wheel segments or coins as JSON objects."""
    return [
        {
            "item": p.name,
            "credits": p.credits,
            "count": p.count,
            "end": p.ends_picking,
            "gives": [a.to_json() for a in p.awards],
        }
        for p in items
    ]


def _list_pay_table_rows(stage: Stage) -> list[dict[str, Json]]:
    """Return the prizes of a reel stage as JSON objects, the highest first; empty for other kinds of stage."""
    if not isinstance(stage, ReelSpinStage | CascadingReels | HeldReels):
        return []
    pay_by_name: dict[str, dict[str, Json]] = {}
    for end in stage.reels.graph.ends:
        if end.prize is not None and end.prize.name and end.prize.name not in pay_by_name:
            pay_by_name[end.prize.name] = {
                "name": end.prize.name,
                "credits": end.prize.credits,
                "gives": [a.to_json() for a in end.prize.awards],
            }
    return sorted(pay_by_name.values(), key=lambda pay: (-pay["credits"], pay["name"]))
