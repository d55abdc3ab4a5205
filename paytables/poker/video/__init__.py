"""The video poker family: five cards are dealt, some are held, and the rest are drawn, in one or many hands."""

from paytables.game import GameFamily
from paytables.poker.video.rules import VideoPokerRules
from paytables.poker.video.schema import VideoPokerDefinition


def build_rules(definition: VideoPokerDefinition, file: str) -> VideoPokerRules:  # noqa: ARG001 (the definition has been checked)
    """Build the rules of a video poker game from its definition."""
    return VideoPokerRules(definition)


FAMILY = GameFamily(
    VideoPokerDefinition,
    build_rules,
    help_figures=frozenset({52, 53}),
    counted_cases="over all deals, with the results of every hold",
)
