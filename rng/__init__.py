"""Randomness: entropy, health tests, NIST SP 800-90A generators, and unbiased draws.

This is the only package that may access a source of randomness. It knows nothing of games or money.

A cabinet starts a :class:`RandomService` and draws inside its steps::

    service = RandomService.start(personalization=Personalization(...), policy=ReseedPolicy(...))
    with service.step() as draws:
        stops = [draws.below(22, f"reel {i}") for i in range(3)]
    record(draws.draws)

A game is replayed from the recorded draws (:class:`paytables.ReplayDrawSource`). Statistical tests for laboratories
are in ``tools.lab.rng``.
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
    StepMisused,
    Uninstantiated,
)
from rng.mechanism import MechanismName
from rng.policy import Personalization, ReseedPolicy
from rng.service import DrawStep, RandomService
from rng.sources import (
    EntropySource,
    HardwareSource,
    JitterSource,
    KernelSource,
    list_available_sources,
)

__all__ = [
    "CarryOverDamaged",
    "Draw",
    "DrawStep",
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
    "StepMisused",
    "Uninstantiated",
    "list_available_sources",
]
