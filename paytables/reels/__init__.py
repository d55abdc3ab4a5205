"""The reel family: lines, ways, scatters, wilds, and stages that start one another."""

from collections.abc import Mapping
from typing import Any

from paytables.definition import Definition
from paytables.errors import DefinitionError
from paytables.reels.build import Builder, inherit
from paytables.reels.figures import stage_runs
from paytables.reels.rules import ReelRules
from paytables.reels.schema import ReelsDefinition
from paytables.reels.symbols import Symbols


class ReelFamily:
    """Builds reel games; see :class:`paytables.game.Family`."""

    @property
    def model(self) -> type[Definition]:
        """The model of a reel definition."""
        return ReelsDefinition

    def prepare(self, data: Mapping[str, Any], file: str) -> Mapping[str, Any]:
        """Expand ``like``."""
        return inherit(data, file)

    def build(self, data: ReelsDefinition, file: str) -> ReelRules:
        """Make every stage for every mode. Raises :class:`DefinitionError`."""
        builder = Builder(data, Symbols.of(data.symbol, data.groups, file), file)
        modes = {mode.id: mode for mode in data.bets.mode}
        if len(modes) != len(data.bets.mode):
            raise DefinitionError(file, "bets.mode", "two modes have the same id")
        stages = {}
        for mode in modes.values():
            if mode.stage not in data.stage:
                raise DefinitionError(file, f"bets.mode.{mode.id}.stage", f"no stage {mode.stage!r}")
            stages[mode.id] = {name: builder.reels(name, table, mode) for name, table in data.stage.items()}
            endless = stage_runs(stages[mode.id])
            if isinstance(endless, str):
                raise DefinitionError(
                    file,
                    f"stage.{endless}",
                    f"never ends in expectation: bet {mode.id!r} gives itself a run or more a run",
                )
        return ReelRules(definition=data, modes=modes, stages=stages, builder=builder)


FAMILY = ReelFamily()
