"""The reel family: lines, ways, scatters, wilds, and stages that start one another."""

from paytables.errors import AnalysisError, BeyondExactAnalysisError, DefinitionError
from paytables.game import GameFamily
from paytables.reels.build import ModeStages, check_references, expand_inherited_stages
from paytables.reels.figures import build_chain
from paytables.reels.rules import ReelRules
from paytables.reels.schema import ReelsDefinition
from paytables.reels.symbols import Symbols


def build_rules(definition: ReelsDefinition, file: str) -> ReelRules:
    """Build the rules of a reel game: every stage for every mode. Raises :class:`DefinitionError`."""
    check_references(definition, file)
    symbols = Symbols.from_definition(definition.symbols, definition.groups, file)
    modes = {mode.id: mode for mode in definition.bets.modes}
    stages = {mode.id: ModeStages(definition, symbols, mode, file) for mode in modes.values()}
    for mode in modes.values():
        for name in definition.stages:
            stages[mode.id].get_stage(name)
        try:
            build_chain(stages[mode.id], with_second_moment=False).count_expected_runs(mode.first_stage)
        except BeyondExactAnalysisError:
            continue  # playable and open to simulation; analyse() reports that its return is beyond reach
        except AnalysisError as error:
            raise DefinitionError(file, f"bets.mode.{mode.id}", str(error)) from None
    return ReelRules(definition=definition, modes=modes, stages=stages)


FAMILY = GameFamily(
    ReelsDefinition,
    build_rules,
    expand_inherited_stages,
    counted_cases=(
        "over the full cycle, by dynamic programming over the reels, and by enumeration of their windows where "
        "symbols fall or reels are held"
    ),
)
