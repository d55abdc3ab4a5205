"""What a screen is told of a reel game: plain JSON data, never a rule."""

from collections.abc import Mapping, Sequence

from paytables.contract import Json
from paytables.reels.schema import Mode, ReelsDefinition
from paytables.reels.stage import Hit, Reels


def presentation(
    definition: ReelsDefinition,
    modes: Mapping[str, Mode],
    stages: Mapping[str, Mapping[str, Reels]],
    ids: Sequence[str],
) -> dict[str, Json]:
    """Return the game's data for drawing: the first mode's base stage on top, all under ``stages``."""
    drawn = {}
    for mode in modes.values():
        for name, reels in stages[mode.id].items():
            if name not in drawn:
                drawn[name] = _stage(reels, ids)
    first = next(iter(modes.values()))
    bets = [
        {
            "mode": mode.id,
            "cost": mode.cost,
            "lines": mode.lines,
            "stage": mode.stage,
            "name": mode.name.model_dump() if mode.name else None,
            "pays": _pays(stages[mode.id][mode.stage]),
        }
        for mode in modes.values()
    ]
    return {
        **drawn[first.stage],
        "symbols": {
            s.id: {"name": s.name.model_dump(), "multiplier": s.multiplier} for s in definition.symbol
        },
        "stages": drawn,
        "bets": bets,
        "levels": list(definition.bets.levels),
        "pays": _pays(stages[first.id][first.stage]),
    }


def _stage(reels: Reels, ids: Sequence[str]) -> dict[str, Json]:
    lines: dict[int, list[Json]] = {}
    for component in reels.components:
        if component.kind == "line" and component.number not in lines:
            lines[component.number] = [list(cell) for cell in component.cells]
    plain = all([x for x, _ in cells] == list(range(len(reels.heights))) for cells in lines.values())
    return {
        "strips": [[ids[s] for s in strip] for strip in reels.strips],
        "heights": list(reels.heights),
        "lines": [[row for _, row in cells] for cells in lines.values()] if plain else [],
        "line_cells": list(lines.values()),
        "multiplier": reels.multiplier,
    }


def _pays(reels: Reels) -> list[dict[str, Json]]:
    found: dict[str, dict[str, Json]] = {}
    for end in reels.graph.ends:
        if end.prize is not None and end.prize.name not in found:
            found[end.prize.name] = {
                "name": end.prize.name,
                "credits": end.prize.credits,
                "gives": [{"kind": a.kind, "name": a.name, "times": a.times} for a in end.prize.awards],
            }
    return sorted(found.values(), key=lambda pay: (-pay["credits"], pay["name"]))


def positions(reels: Reels, stops: Sequence[int], hit: Hit) -> list[list[int]]:
    """Return the cells, ``[reel, row]``, that show a prize that was won."""
    part = hit.end.part
    if hit.component.kind == "line":
        return [list(cell) for cell, used in zip(hit.component.cells, part, strict=True) if used]
    return [
        [x, row]
        for x, column in enumerate(reels.window(stops))
        for row, symbol in enumerate(column)
        if part[x] and hit.component.shows[symbol]
    ]
