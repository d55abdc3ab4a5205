"""The video poker family: five cards, a hold, a draw, for one hand or for many of the same deal."""

from collections.abc import Mapping

from paytables.definition import Definition
from paytables.poker.video.rules import VideoPokerRules
from paytables.poker.video.schema import VideoPokerDefinition


class VideoPokerFamily:
    """Builds video poker games; see :class:`paytables.game.Family`."""

    @property
    def model(self) -> type[Definition]:
        """The model of a video poker definition."""
        return VideoPokerDefinition

    def prepare(self, data: Mapping[str, object], file: str) -> Mapping[str, object]:  # noqa: ARG002 (the contract's)
        """Return the data as it is: there is no shorthand."""
        return data

    def build(self, data: VideoPokerDefinition, file: str) -> VideoPokerRules:  # noqa: ARG002 (checked)
        """Make the rules."""
        return VideoPokerRules(data)


FAMILY = VideoPokerFamily()
