"""Types that journal entries and events of staff work share: boxes, kinds of work, rulings, operator options."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from egm.kernel.machine import PositionMachine
from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import Cents, CentsOrZero, MachineSerialNumber, NonBlankText, StaffNumbers
from egm.staff.keys import StaffKey

#: A box that is collected and counted.
CollectedBox: TypeAlias = Literal["coin_box", "bill_box"]
#: A kind of work at the open machine.
WorkKind: TypeAlias = Literal["repair", "collection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingDetails:
    """Base class of the entries about staff rulings: at which machine, where, why, and by whom."""

    machine: MachineSerialNumber
    location: str = field(metadata=stored_as("place"))
    """The machine's number on the floor, or the location stated in the form."""
    reason: NonBlankText
    persons: StaffNumbers


#: The options that the operator may change, each with a field of :class:`OptionValues`.
OptionName: TypeAlias = Literal["bet_limit", "bet_minimum", "game", "denomination"]


@dataclass(frozen=True, kw_only=True)
class OptionValues:
    """Base class of the form that changes an operator option, and of the entry that records the change.

    Only the fields of the changed option have values: its amount in minor units for a limit of the bet; ``game`` and
    ``on`` for a game; ``game``, ``denomination_cents`` and ``on`` for a denomination. All others stay None.
    """

    __slots__ = ()  # a class with two bases has the slots itself

    bet_limit_cents: Cents | None = omit_if_default(None)
    """The highest bet that is offered, in minor units."""
    bet_minimum_cents: CentsOrZero | None = omit_if_default(None)
    game: str | None = omit_if_default(None)
    """The id of the game that is switched on or off, or whose denomination is switched on or off."""
    denomination_cents: str | None = omit_if_default(None)
    """The denomination that is switched on or off, in minor units; None for another option."""
    on: Literal["yes", "no"] | None = omit_if_default(None)
    """Whether the game or denomination is offered after the change."""


@dataclass(frozen=True, slots=True)
class OperatorOptions:
    """The operator's restrictions of the games, denominations and bets that are offered."""

    games_not_offered: tuple[str, ...] = field(default=(), metadata=stored_as("off"))
    """The ids of the games that are not offered."""
    denominations_cents: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The offered denominations by game id; a game that is not listed offers all of its denominations."""
    bet_limit_cents: int | None = None
    bet_minimum_cents: int | None = omit_if_default(None)

    @classmethod
    def read_stored(cls, machine: PositionMachine) -> "OperatorOptions":
        """Return the operator's options as the journal stores them."""
        return machine.memory.read(cls, StaffKey.OPERATOR_OPTIONS) or cls()

    def list_denominations(self, game_id: str, admitted_denominations: tuple[int, ...]) -> tuple[int, ...]:
        """Return which of the denominations ``admitted_denominations`` the operator offers for a game.

        Empty if the game is off. All of them if the operator's choice would leave none.
        """
        if game_id in self.games_not_offered:
            return ()
        offered_denominations = self.denominations_cents.get(game_id, admitted_denominations)
        return (
            tuple(cents for cents in admitted_denominations if cents in offered_denominations)
            or admitted_denominations
        )
