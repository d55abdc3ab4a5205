"""A table with a wheel: each round draws one of its segments, all equally likely, or asks a real wheel for it."""

from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from paytables.contract import WHEEL_DECISION_KIND, Choice, Cue, Decision, DrawSource
from paytables.onedraw.table import DrawnResult, OneDrawTable
from paytables.roulette.bet_areas import list_call_bets


@dataclass(frozen=True)
class WheelTable(OneDrawTable):
    """The rules of a playable table with a wheel, which is drawn at random or is a real wheel with a reader."""

    segments: tuple[str, ...] = ()
    """The segments of the wheel clockwise, each named by its result."""
    revolutions_min: int | None = None
    """The fewest revolutions of a valid spin; None: no minimum."""
    is_decided_by_wheel: bool = False
    """Whether a real wheel with a reader decides, not the random number generator."""
    screen_data: Mapping[str, object] = field(default_factory=dict)
    """Additional data for the screen: colours of segments, names of signs."""

    @cached_property
    def case_count_by_result(self) -> Mapping[str, int]:
        """Return, for each result, the number of segments of the wheel that give it."""
        return Counter(self.segments)

    def obtain_result(self, draw: DrawSource) -> Generator[Decision, Choice | None, DrawnResult]:
        """Return the round's result: draw it, or ask the real wheel where its ball landed."""
        if not self.is_decided_by_wheel:
            return self.draw_result(draw)
        decision = Decision(WHEEL_DECISION_KIND, self.segments, {"kind": "table", "felt": self.felt_kind})
        pocket = decision.get_chosen_option((yield decision))
        return self._build_result(self.segments.index(str(pocket)))

    def draw_result(self, draw: DrawSource) -> DrawnResult:
        """Draw the segment at which the ball or the pin stops."""
        return self._build_result(draw.below(len(self.segments), "spin"))

    def _build_result(self, segment_index: int) -> DrawnResult:
        """Return the result of a draw that stopped at this segment of the wheel."""
        result = self.segments[segment_index]
        ball_position = {"pocket": result, "part": segment_index}
        display = {"result": result, **ball_position}
        if self.revolutions_min is not None and not self.is_decided_by_wheel:
            display["revolutions"] = self.revolutions_min
        return DrawnResult(
            result, Cue("ball" if self.felt_kind == "roulette" else "wheel", ball_position), display
        )

    def build_display_data(self) -> dict[str, object]:
        """Return the wheel for the screen: its segments clockwise, and each number with its neighbours.

        On a roulette cylinder, a number has two neighbours on either side.
        """
        segment_count, is_cylinder = len(self.segments), self.felt_kind == "roulette"
        neighbours_by_segment = {
            segment: [self.segments[(n + distance) % segment_count] for distance in (-2, -1, 0, 1, 2)]
            for n, segment in enumerate(self.segments)
        }
        return {
            "wheel": list(self.segments),
            "revolutions": self.revolutions_min,
            **(
                {
                    "neighbours": neighbours_by_segment,
                    "calls": list_call_bets(self.list_spots(), self.segments),
                }
                if is_cylinder
                else {}
            ),
            **self.screen_data,
        }
