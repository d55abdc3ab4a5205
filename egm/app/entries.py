"""The journal entries of the process: refused games and screens, restored ticket files, the generator's events."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from egm.kernel.entries import AnyEntryDeclaration, EntryDeclaration
from egm.kernel.machine import PositionMachine
from egm.kernel.significance import EventEffect, Significance
from egm.record_codec import from_json, stored_as
from egm.record_fields import Count
from rng import MechanismName


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRefused:
    """A game that the cabinet file names is not offered; ``reason`` says why."""

    game_id_or_path: str = field(metadata=stored_as("game"))
    """The game's id, or the path of its definition, as the cabinet file names it."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenRefused:
    """The connection of a screen was refused, or a screen sent an invalid message."""

    text: str
    """The reason of the refusal, or what is wrong with the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketLedgerRepaired:
    """One of the two copies of the ticket ledger was damaged or lost, and was restored from the other."""

    repair: str = field(metadata=stored_as("what"))
    """Text that names the restored copy and the reason."""


GAME_REFUSED: Final = EntryDeclaration(kind="game.refused", record=GameRefused)
SCREEN_REFUSED: Final = EntryDeclaration(kind="screen.refused", record=ScreenRefused)
TICKET_LEDGER_REPAIRED: Final = EntryDeclaration(
    kind="tickets.mended",
    record=TicketLedgerRepaired,
    significance=Significance(EventEffect.LOG),
)


# ---------------------------------------------------------------------------------------------- the generator
@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorStarted:
    """The random number generator started and passed its self-tests."""

    mechanism: MechanismName
    """The name of the deterministic random bit generator's mechanism (NIST SP 800-90A)."""
    sources: tuple[str, ...]
    """The names of the entropy sources of the seed."""
    self_test_count: Count = field(metadata=stored_as("self_tests"))
    """The number of self-tests that the generator passed."""
    instance_number: Count = field(metadata=stored_as("instance"))
    """The number of the generator, if the machine has several; otherwise 1."""
    boot_number: Count = field(metadata=stored_as("boot_counter"))
    """The number of this start (boot) of the machine; it makes the generator's seed unique."""
    used_carry_over: bool = field(metadata=stored_as("carry_over"))
    """Whether random output that the previous run stored was used as additional seed input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorReseeded:
    """The random number generator was seeded again with fresh entropy."""

    reason: str
    reseed_count: Count = field(metadata=stored_as("reseeds"))
    """The number of reseeds since the generator started."""
    request_count: Count = field(metadata=stored_as("generates"))
    """The number of requests for random bytes that were served since the previous seeding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorTested:
    """The random number generator passed its periodic self-tests."""

    self_test_count: Count = field(metadata=stored_as("self_tests"))
    """The number of self-tests that the generator passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorStopped:
    """The random number generator is out of service."""

    reason: str
    error: str
    """The class name of the error that stopped the generator, such as ``EntropyFailed``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryOverDamaged:
    """The random output that the last run stored as seed input for this start is damaged, and was not used."""

    reason: str


RNG_STARTED: Final = EntryDeclaration(kind="chance.rng_started", record=GeneratorStarted)
RNG_RESEEDED: Final = EntryDeclaration(kind="chance.rng_reseeded", record=GeneratorReseeded)
RNG_SELF_TESTED: Final = EntryDeclaration(kind="chance.rng_self_tested", record=GeneratorTested)
RNG_OUT_OF_SERVICE: Final = EntryDeclaration(kind="chance.rng_out_of_service", record=GeneratorStopped)
CARRY_OVER_DAMAGED: Final = EntryDeclaration(kind="chance.carry_over_damaged", record=CarryOverDamaged)

#: The journal entry of each event of the generator, by the event's code.
ENTRY_BY_GENERATOR_EVENT: Final[Mapping[str, AnyEntryDeclaration]] = {
    "rng_started": RNG_STARTED,
    "rng_reseeded": RNG_RESEEDED,
    "rng_self_tested": RNG_SELF_TESTED,
    "rng_out_of_service": RNG_OUT_OF_SERVICE,
    "carry_over_damaged": CARRY_OVER_DAMAGED,
}


def record_generator_event(machine: PositionMachine, code: str, values: Mapping[str, object]) -> None:
    """Record in the journal an event that the random number generator reports, such as a start or a reseeding.

    ``code`` is the generator's name of the event; ``values`` are the fields of the entry.
    """
    declaration = ENTRY_BY_GENERATOR_EVENT[code]
    machine.post(declaration, from_json(declaration.record, values, declaration.kind))
