"""Chance: entropy, health tests, a NIST SP 800-90A generator, and unbiased draws.

The one room of the house that may reach a source of randomness. It knows nothing of games or money.

A cabinet starts a :class:`RandomService` and draws inside its steps::

    service = RandomService.start(personalization=Personalization(...), policy=ReseedPolicy(...))
    with service.step() as draws:
        stops = [draws.below(22, f"reel {i}") for i in range(3)]
    record(draws.draws)

and a game plays again from what was recorded (:class:`paytables.ReplayDraw`). What only laboratories use is
in ``tools.lab.rng``.
"""

from rng.draws import Draw
from rng.errors import (
    CarryOverDamaged,
    EntropyFailed,
    HealthTestFailed,
    InvalidPolicy,
    InvalidRange,
    OutOfService,
    RejectionLimit,
    RequestTooLarge,
    ReseedNotAllowed,
    ReseedRequired,
    RngError,
    SeedRepeated,
    SelfTestFailed,
    StepClosed,
    Uninstantiated,
)
from rng.mechanism import MechanismName
from rng.policy import Personalization, ReseedPolicy
from rng.service import RandomService, Step
from rng.sources import (
    EntropySource,
    HardwareSource,
    JitterSource,
    KernelSource,
    available_sources,
)

__all__ = [
    "CarryOverDamaged",
    "Draw",
    "EntropyFailed",
    "EntropySource",
    "HardwareSource",
    "HealthTestFailed",
    "InvalidPolicy",
    "InvalidRange",
    "JitterSource",
    "KernelSource",
    "MechanismName",
    "OutOfService",
    "Personalization",
    "RandomService",
    "RejectionLimit",
    "RequestTooLarge",
    "ReseedNotAllowed",
    "ReseedPolicy",
    "ReseedRequired",
    "RngError",
    "SeedRepeated",
    "SelfTestFailed",
    "Step",
    "StepClosed",
    "Uninstantiated",
    "available_sources",
]
