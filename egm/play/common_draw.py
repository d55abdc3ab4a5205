"""The numbers of a round that several seats play: drawn once, and the same for each."""

from dataclasses import dataclass, field

from egm.errors import InvariantError
from egm.kernel.machine import Machine
from egm.records.game_record import DrawRecord
from paytables import Draw


@dataclass(slots=True)
class CommonDraw:
    """What a round has drawn so far. Whichever seat comes first draws a number; the others read it."""

    round_id: str
    records: list[DrawRecord] = field(default_factory=list)

    def of_seat(self, source: Draw) -> "SeatDraw":
        """The numbers as one seat's game draws them, from the first."""
        return SeatDraw(self, source)


@dataclass(slots=True)
class SeatDraw:
    """One seat's reading of the numbers in common; ``drawn`` are those its game has asked for."""

    common: CommonDraw
    source: Draw
    drawn: list[DrawRecord] = field(default_factory=list)

    def below(self, bound: int, purpose: str) -> int:
        """The next number in common. Raises InvariantError where this game asks another than the others."""
        known = self.common.records
        at = len(self.drawn)
        if at == len(known):
            known.append((bound, self.source.below(bound, purpose), purpose))
        recorded, value, for_what = known[at]
        if (recorded, for_what) != (bound, purpose):
            raise InvariantError(
                f"{self.common.round_id}: a seat asks below({bound}) for {purpose}, "
                f"and the round drew below({recorded}) for {for_what}"
            )
        self.drawn.append(known[at])
        return value


@dataclass(slots=True)
class RoundInCommon:
    """The round this position plays with others, while it begins; None: it plays by itself."""

    draw: CommonDraw | None = None


def round_id(machine: Machine) -> str:
    """Which round in common the game that begins belongs to; empty where the position plays by itself."""
    draw = machine.state(RoundInCommon).draw
    return "" if draw is None else draw.round_id
